//! `report`: a page and its plots from the results of a suite and a table of another tool.

mod common;

use common::{assert_refused, run, shipped, stderr, stdout};
use std::fs;

#[test]
fn a_page_and_plots_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (net, image) = (shipped("digits_16.onnx"), shipped("digit_3.csv"));
    let row = |eps: &str| format!("{net},{image},{eps},16,\"0,1\",60\n");
    fs::write(path("list.csv"), format!("network,image,eps,scale,clip,timeout\n{}{}", row("0.01"), row("0.3")))
        .unwrap();
    let ours = run(&["suite", &path("list.csv"), "-o", &path("ours"), "--interpret", "--quiet"]);
    assert_eq!(ours.status.code(), Some(0), "{}", stderr(&ours));
    let theirs = format!(
        "tool,network,property,limit,verdict,seconds\nslow,{net},{image} eps 0.01,60,sat,59\nslow,{net},{image} eps 0.3,60,sat,1\n"
    );
    fs::write(path("theirs.csv"), theirs).unwrap();

    let output = run(&["report", &path("ours"), &path("theirs.csv")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = fs::read_to_string(stdout(&output).trim()).unwrap();
    for expected in
        ["ours: 2 of 2", "slow: 2 of 2", "they disagree", "<td>0.01</td>", "eps 0.01</td><td>unsat</td><td>sat</td>"]
    {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("src=") && !page.contains("href="), "it needs no other file");
    for plot in ["cactus.svg", "lp_calls.svg", "scatter_1.svg"] {
        let svg = fs::read_to_string(dir.path().join("ours/report").join(plot)).unwrap();
        assert!(svg.starts_with("<svg ") && page.contains(&svg), "{plot}");
    }
    let again = run(&["report", &path("theirs.csv"), "-o", &path("page")]);
    assert_eq!(again.status.code(), Some(0), "a table alone: {}", stderr(&again));

    fs::write(path("other.csv"), "network,property,verdict\na,b,sat\n").unwrap();
    fs::write(path("time.csv"), "network,property,verdict,seconds\na,b,sat,soon\n").unwrap();
    assert_refused(&[
        (&["report"], "RESULTS"),
        (&["report", &path("none")], "cannot read"),
        (&["report", dir.path().to_str().unwrap()], "summary.json"),
        (&["report", &path("theirs.csv")], "-o"),
        (&["report", &path("ours"), &path("other.csv")], "other.csv: it shares no instance with the first"),
        (&["report", &path("ours"), &path("ours")], "'ours' is also the name of another run"),
        (&["report", &path("time.csv"), "-o", &path("page")], "time.csv, line 2: the seconds 'soon'"),
        (&["report", &shipped("digits_inputs.csv"), "-o", &path("page")], "its first line names no columns"),
    ]);
}
