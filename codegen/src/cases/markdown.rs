//! A summary in Markdown, shorter than code hosts take: a table by network, what failed, what is allowed, what passed. Rows that
//! have no place are counted.

use super::{Case, Counts, Sheet, Standing};
use std::fmt::Write;

/// Bytes that a summary may have: hosts drop one of 1,024 kB or more as a whole.
const MOST: usize = 1_000_000;
/// Bytes that are kept for the lines which tell what was left out.
const SPARE: usize = 2_000;
/// The lines of a witness that are shown, and the characters of a name and of a reason.
const WITNESS_LINES: usize = 16;
const NAME: usize = 200;
const REASON: usize = 1_000;

pub fn markdown(sheet: &Sheet) -> String {
    within(sheet, MOST)
}

fn within(sheet: &Sheet, most: usize) -> String {
    let mut page = Page { text: String::new(), most: most.saturating_sub(SPARE) };
    page.text += &head(sheet);
    let networks = sheet.networks();
    let rows = networks.iter().map(|(network, cases)| network_row(network, cases));
    let title = "| network | cases | passed | failed | allowed | seconds |\n|---|--:|--:|--:|--:|--:|\n";
    page.section("", title, rows, "networks");
    let those = |which: fn(&Standing) -> bool| sheet.cases.iter().filter(move |case| which(&case.standing));
    page.section("What failed", "", those(|s| matches!(s, Standing::Failed(..))).map(failure), "that failed");
    let title = "| network | property | result | seconds |\n|---|---|---|--:|\n";
    page.section("What is allowed", title, those(|s| matches!(s, Standing::Allowed(..))).map(row), "that are allowed");
    page.section("What passed", title, those(|s| matches!(s, Standing::Passed)).map(row), "that passed");
    page.text
}

struct Page {
    text: String,
    most: usize,
}

impl Page {
    /// As many parts as there is room for, and how many there are more.
    fn section(&mut self, title: &str, head: &str, parts: impl Iterator<Item = String>, what: &str) {
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return;
        }
        let before = self.text.len();
        if !title.is_empty() {
            let _ = write!(self.text, "\n## {title}\n\n");
        }
        self.text += head;
        let (mut left_out, mut shown) = (0, 0);
        for part in parts {
            if left_out == 0 && self.text.len() + part.len() <= self.most {
                self.text += &part;
                shown += 1;
            } else {
                left_out += 1;
            }
        }
        if shown == 0 {
            self.text.truncate(before);
        }
        if left_out > 0 {
            let _ = write!(self.text, "\n{left_out} {what} are left out here.\n");
        }
    }
}

fn head(sheet: &Sheet) -> String {
    let Counts { all, passed, failed, allowed, cached, .. } = sheet.counts();
    let word = if failed == 0 { "pass" } else { "fail" };
    let mut head = format!("# {}: {word}\n\n{passed} of {all} cases passed", cell(&sheet.title, NAME));
    for (count, what) in [(failed, "failed"), (allowed, "are open, which is allowed"), (cached, "came from the cache")]
    {
        if count > 0 {
            let _ = write!(head, ", {count} {what}");
        }
    }
    head + ".\n\n"
}

fn network_row(network: &str, cases: &[&Case]) -> String {
    let Counts { all, passed, failed, allowed, .. } = Counts::of(cases.iter().copied());
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    format!("| {} | {all} | {passed} | {failed} | {allowed} | {seconds:.1} |\n", cell(network, NAME))
}

fn failure(case: &Case) -> String {
    let Standing::Failed(fault, why) = &case.standing else { return String::new() };
    let (network, name) = (cell(&case.network, NAME), cell(&case.name, NAME));
    let mut text = format!("- **{fault}**: {network}: {name}: {}\n", cell(why, REASON));
    if let Some(witness) = &case.witness {
        text += "\n  ```\n";
        for line in witness.lines().take(WITNESS_LINES) {
            let _ = writeln!(text, "  {}", shortened(line, NAME));
        }
        if let more @ 1.. = witness.lines().count().saturating_sub(WITNESS_LINES) {
            let _ = writeln!(text, "  … and {more} lines more");
        }
        text += "  ```\n";
    }
    text
}

fn row(case: &Case) -> String {
    let result = match &case.standing {
        Standing::Passed if case.is_cached => "passed, from the cache".into(),
        Standing::Passed => "passed".into(),
        Standing::Allowed(fault, why) | Standing::Failed(fault, why) => format!("{fault}: {}", cell(why, NAME)),
    };
    let (network, name) = (cell(&case.network, NAME), cell(&case.name, NAME));
    format!("| {network} | {name} | {result} | {:.2} |\n", case.seconds)
}

/// A text in which nothing is markup, on one line and of at most so many characters. What might be markup is written by number,
/// which is never structure; what controls is a blank.
fn cell(text: &str, most: usize) -> String {
    let text = shortened(text, most);
    let is_plain = |c: char| c.is_alphanumeric() || " .-/:,;=()+%…".contains(c);
    let mut cell = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().map(|c| if c.is_control() { ' ' } else { c }).peekable();
    while let Some(c) = rest.next() {
        let is_inside = before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        match c {
            '_' if is_inside => cell.push(c),
            c if is_plain(c) => cell.push(c),
            c => drop(write!(cell, "&#{};", c as u32)),
        }
        before = c;
    }
    cell
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;
    use crate::cases::{Allowed, Fault};
    use crate::suite::Word;

    fn sheet(cases: Vec<Case>) -> Sheet {
        Sheet { title: "gate".into(), facts: vec![], cases }
    }

    #[test]
    fn what_failed_comes_before_what_passed() {
        let witness: String = (0..50).map(|k| format!("(X_{k} 0.5)\n")).collect();
        let case = |word| Case::of(&record(word, None), false, &[Allowed::Timeout], Some(witness.clone()));
        let page = markdown(&sheet(vec![case(Word::Unsat), case(Word::Sat), case(Word::Timeout)]));
        let places = ["# gate: fail", "1 of 3 cases passed, 1 failed, 1 are open", "| a.onnx | 3 | 1 | 1 | 1 | 1.5 |"];
        let places =
            places.into_iter().chain(["**sat**: a.onnx: p: ", "(X_15 0.5)", "… and 34 lines more", "too hard"]);
        let found: Vec<usize> =
            places.map(|part| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"))).collect();
        assert!(found.is_sorted(), "{page}");
        assert!(!page.contains("(X_16 "));
    }

    #[test]
    fn names_cannot_break_it() {
        let shown = cell("a_b|<c>&`*_d_\u{1b}\n[x](y)", 200);
        assert_eq!(shown, "a_b&#124;&#60;c&#62;&#38;&#96;&#42;&#95;d&#95;  &#91;x&#93;(y)");
        assert_eq!(cell(&"é".repeat(9), 3), "ééé…");
    }

    #[test]
    fn what_passed_is_dropped_first_and_counted() {
        let mut cases: Vec<Case> =
            (0..40_000).map(|k| Case::new("n.onnx", &format!("{k}"), Standing::Passed, 1.0)).collect();
        cases.push(Case::new("n.onnx", "the one", Standing::Failed(Fault::Sat, "violated".into()), 1.0));
        let page = markdown(&sheet(cases.clone()));
        assert!(page.len() < MOST && page.contains("the one") && page.contains(" that passed are left out here."));
        let none = within(&sheet(cases), SPARE + 400);
        assert!(none.len() < SPARE + 400 && none.contains("the one") && none.contains(" that passed are left out"));
        let failed =
            |k| Case::new("n.onnx", "p", Standing::Failed(Fault::Sat, format!("{k} {}", "x".repeat(900))), 1.0);
        let page = markdown(&sheet((0..2_000).map(failed).collect()));
        assert!(page.len() < MOST && page.contains(" that failed are left out here."));
    }
}
