//! JUnit XML: a suite for each network, a test for each case. What is allowed is skipped, with its reason.

use super::{Case, Counts, Sheet, Standing, is_error};
use std::collections::BTreeSet;
use std::fmt::Write;

const TOOL: &str = concat!("pg-codegen ", env!("CARGO_PKG_VERSION"));

pub fn junit(sheet: &Sheet) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&Case> = sheet.cases.iter().collect();
    let _ = writeln!(xml, "<testsuites {}>", attributes(&sheet.title, &all));
    for (network, cases) in sheet.networks() {
        let _ = writeln!(xml, "  <testsuite {}>", attributes(network, &cases));
        properties(&mut xml, sheet, &cases);
        cases.iter().for_each(|case| test(&mut xml, case));
        xml += "  </testsuite>\n";
    }
    xml += "</testsuites>\n";
    xml
}

fn attributes(name: &str, cases: &[&Case]) -> String {
    let Counts { all, failed, errors, allowed, .. } = Counts::of(cases.iter().copied());
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    let failures = failed - errors;
    let name = escape(name);
    format!(
        "name=\"{name}\" tests=\"{all}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{allowed}\" \
         time=\"{seconds:.3}\""
    )
}

/// What is true of all cases, and the digests of the model and of its properties.
fn properties(xml: &mut String, sheet: &Sheet, cases: &[&Case]) {
    let models = cases.iter().filter_map(|case| Some(("model.sha256".to_string(), case.model.clone()?)));
    let asked =
        cases.iter().filter_map(|case| Some((format!("property.sha256 {}", case.name), case.property.clone()?)));
    let digests: BTreeSet<(String, String)> = models.chain(asked).collect();
    let tool = ("tool".to_string(), TOOL.to_string());
    *xml += "    <properties>\n";
    for (name, value) in [&tool].into_iter().chain(&sheet.facts).chain(&digests) {
        let _ = writeln!(xml, "      <property name=\"{}\" value=\"{}\"/>", escape(name), escape(value));
    }
    *xml += "    </properties>\n";
}

fn test(xml: &mut String, case: &Case) {
    let (network, name, seconds) = (escape(&case.network), escape(&case.name), case.seconds);
    let _ = write!(xml, "    <testcase classname=\"{network}\" name=\"{name}\" time=\"{seconds:.3}\">");
    match &case.standing {
        Standing::Passed => {}
        Standing::Allowed(fault, why) => {
            let _ = write!(xml, "\n      <skipped message=\"{fault} is allowed: {}\"/>", escape(why));
        }
        Standing::Failed(fault, why) => {
            let element = if is_error(*fault) { "error" } else { "failure" };
            let why = escape(why);
            let text = case.witness.as_deref().map_or(why.clone(), escape);
            let _ = write!(xml, "\n      <{element} type=\"{fault}\" message=\"{why}\">{text}</{element}>");
        }
    }
    if case.is_cached {
        *xml += "\n      <system-out>the verdict came from the cache</system-out>";
    }
    *xml += "\n    </testcase>\n";
}

/// A text as it stands in an element or in an attribute. Characters that XML cannot hold are dropped; line ends of attributes
/// would become blanks, so they are written by number.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars().filter(|&c| is_allowed(c)) {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&apos;",
            '\n' | '\r' | '\t' => drop(write!(escaped, "&#{};", c as u32)),
            c => escaped.push(c),
        }
    }
    escaped
}

/// XML 1.0, production 2: no control characters but three, and neither of the last two of the basic plane.
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..) && !('\u{7f}'..='\u{84}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::super::{Fault, tests::record};
    use super::*;
    use crate::cases::Allowed;
    use crate::suite::Word;

    fn sheet(cases: Vec<Case>) -> Sheet {
        Sheet { title: "gate".into(), facts: vec![("seed".into(), "0".into())], cases }
    }

    #[test]
    fn what_came_out_is_one_of_five() {
        let case = |word, allowed: &[Allowed]| Case::of(&record(word, None), false, allowed, Some("((X_0 1))".into()));
        let mut cases = vec![case(Word::Unsat, &[]), case(Word::Sat, &[]), case(Word::Error, &[])];
        cases.extend([case(Word::Timeout, &[Allowed::Timeout]), case(Word::Unknown, &[])]);
        cases.push(Case::not_run("b.onnx", "q"));
        cases[0].is_cached = true;
        let xml = junit(&sheet(cases));
        let holds = |part: &str| assert!(xml.contains(part), "{part} in\n{xml}");
        holds("<testsuites name=\"gate\" tests=\"6\" failures=\"2\" errors=\"2\" skipped=\"1\" time=\"2.500\">");
        holds("<testsuite name=\"a.onnx\" tests=\"5\" failures=\"2\" errors=\"1\" skipped=\"1\" time=\"2.500\">");
        holds("<property name=\"seed\" value=\"0\"/>\n      <property name=\"model.sha256\" value=\"m\"/>");
        holds("<property name=\"property.sha256 p\" value=\"p\"/>");
        holds("<system-out>the verdict came from the cache</system-out>");
        holds("<failure type=\"sat\" message=\"the property is violated by the witness\">((X_0 1))</failure>");
        holds("<failure type=\"unknown\" message=\"too hard\">too hard</failure>");
        holds("<skipped message=\"timeout is allowed: too hard\"/>");
        holds("<error type=\"error\" message=\"too hard\">");
        holds("<error type=\"not run\" message=\"the run ended before it\">");
    }

    #[test]
    fn names_cannot_break_it() {
        assert_eq!(escape("a<b>&\"c'\n\u{0}\u{1b}\u{7f}\u{fffe}\u{ffff}é𝄞"), "a&lt;b&gt;&amp;&quot;c&apos;&#10;é𝄞");
        let hostile = "]]><x a=\"|\u{8}";
        let xml = junit(&sheet(vec![Case::new(hostile, hostile, Standing::Failed(Fault::Stale, hostile.into()), 0.0)]));
        assert!(xml.contains("type=\"stale\" message=\"]]&gt;&lt;x a=&quot;|\""), "{xml}");
        assert!(!xml.contains("<x"));
    }
}
