//! What is no proof: parts that are missing, given twice, foreign, damaged or hostile.

use super::Case;
use pg_property::files::sha256;
use pg_runtime::verdict::{StopReason, Verdict};
use std::fs;

#[test]
fn a_part_that_is_left_out_leaves_the_question_open() {
    let case = Case::boxes(0.1);
    let parts = case.split(4);
    case.solve_all(parts);
    for file in ["3.result", "3"] {
        fs::rename(case.path(file), case.dir.path().join("away")).unwrap();
        let (verdict, open) = case.merge().unwrap();
        assert!(matches!(verdict, Verdict::Unknown(StopReason::Split(1))), "{verdict:?}");
        assert_eq!(open[0].name, [3]);
        assert!(!case.certificate().exists());
        fs::rename(case.dir.path().join("away"), case.path(file)).unwrap();
    }
    assert_eq!(case.merge().unwrap().0.word(), "unsat");
    fs::remove_file(case.path("2.proof")).unwrap();
    assert_eq!(case.merge().unwrap().0.word(), "unknown", "there is no certificate of it");
}

#[test]
fn a_part_that_is_given_twice_is_refused() {
    let case = Case::boxes(0.1);
    let parts = case.split(4);
    case.solve_all(parts);
    fs::copy(case.path("1"), case.path("2")).unwrap();
    assert!(case.merge().err().unwrap().contains("a part is given twice"));
    assert!(case.solve(&[2], 20.0).err().unwrap().contains("a part is given twice"));
    let case = Case::boxes(0.1);
    let parts = case.split(4);
    case.solve_all(parts);
    fs::copy(case.path("1"), case.path("9")).unwrap();
    assert!(case.merge().err().unwrap().contains("none of them"));
    fs::remove_file(case.path("9")).unwrap();
    fs::copy(case.path("1.result"), case.path("2.result")).unwrap();
    assert!(case.merge().err().unwrap().contains("the result of another part"));
}

#[test]
fn parts_of_other_questions_are_refused() {
    let (case, looser, other) = (Case::phases(0.1), Case::phases(0.12), Case::boxes(0.1));
    for case in [&case, &looser, &other] {
        let parts = case.split(4);
        case.solve_all(parts);
    }
    for (foreign, why) in [(&looser, "another property"), (&other, "another model")] {
        let kept = fs::read(case.path("1")).unwrap();
        fs::copy(foreign.path("1"), case.path("1")).unwrap();
        assert!(case.merge().err().unwrap().contains(why));
        fs::write(case.path("1"), kept).unwrap();
        let kept = fs::read(case.path("root")).unwrap();
        fs::copy(foreign.path("root"), case.path("root")).unwrap();
        assert!(case.merge().err().unwrap().contains(why));
        assert!(case.solve(&[1], 20.0).err().unwrap().contains(why));
        fs::write(case.path("root"), kept).unwrap();
    }
    assert_eq!(case.merge().unwrap().0.word(), "unsat");
}

#[test]
fn every_damaged_byte_is_found() {
    let case = Case::phases(0.1);
    let parts = case.split(2);
    case.solve_all(parts);
    for file in ["root", "1", "2.result", "root.proof", "1.proof"] {
        let good = fs::read(case.path(file)).unwrap();
        let (step, is_proof) = (good.len() / 40 + 1, file.ends_with(".proof"));
        for at in (0..good.len()).step_by(step).chain([good.len() - 1]) {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 7);
            for bytes in [&bad[..], &good[..at]] {
                fs::write(case.path(file), bytes).unwrap();
                match case.merge() {
                    // Without a certificate the verdict is not what the parts' answers say.
                    Ok((verdict, _)) => assert!(is_proof && verdict.word() == "unknown", "{file} {at}: {verdict:?}"),
                    Err(why) => assert!(!is_proof && why.contains(file), "{file} {at}: {why}"),
                }
            }
        }
        fs::write(case.path(file), good).unwrap();
    }
    assert_eq!(case.merge().unwrap().0.word(), "unsat");
}

/// Files whose digests are right and whose numbers are not: an error or another answer, and no panic.
#[test]
fn hostile_numbers_do_no_harm() {
    for (case, kind) in [(Case::boxes(0.1), "boxes"), (Case::phases(0.1), "phases")] {
        let parts = case.split(2);
        case.solve_all(parts);
        for (file, form) in [("root", "root"), ("1", "part"), ("1.result", "result")] {
            let good = fs::read_to_string(case.path(file)).unwrap();
            let (_, json) = good.split_once('\n').unwrap();
            let numbers: Vec<(usize, &str)> = json.match_indices(|c: char| c.is_ascii_digit()).collect();
            let starts: Vec<usize> = numbers.iter().map(|(at, _)| *at).filter(|at| is_number(json, *at)).collect();
            for at in starts.iter().step_by(starts.len() / 25 + 1) {
                let end = json[*at..].find(|c: char| !c.is_ascii_digit()).map_or(json.len(), |length| at + length);
                for number in ["0", "7", "18446744073709551615", "4294967295"] {
                    let text = [&json[..*at], number, &json[end..]].concat();
                    let digest = sha256(format!("{form}\n{text}").as_bytes());
                    fs::write(case.path(file), format!("pg-split-1 {form} {digest}\n{text}")).unwrap();
                    let _ = (case.merge(), (form != "result").then(|| case.solve(&[1], 0.2)));
                }
            }
            fs::write(case.path(file), &good).unwrap();
            case.solve(&[1], 20.0).unwrap();
            assert_eq!(case.merge().unwrap().0.word(), "unsat", "{kind} {file}");
        }
    }
}

/// Whether a number begins here, and no digest or name.
fn is_number(json: &str, at: usize) -> bool {
    matches!(json.as_bytes()[at - 1], b'[' | b',' | b':')
}
