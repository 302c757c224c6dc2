//! What a person sees of a gate: a line for each network, what did not pass, and the sum.

use crate::cases::{Counts, Sheet, Standing};
use std::fmt::Write;
use std::path::Path;

pub fn told(sheet: &Sheet, out: &Path) -> String {
    let networks = sheet.networks();
    let width = networks.iter().map(|(network, _)| network.chars().count()).max().unwrap_or(0).max(7);
    let mut text = format!("\n{:width$}  cases  passed  failed  allowed  seconds\n", "network");
    for (network, cases) in &networks {
        let Counts { all, passed, failed, allowed, .. } = Counts::of(cases.iter().copied());
        let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
        let _ = writeln!(text, "{network:width$}  {all:5}  {passed:6}  {failed:6}  {allowed:7}  {seconds:7.1}");
    }
    text += "\n";
    for case in &sheet.cases {
        let (word, why) = match &case.standing {
            Standing::Passed => continue,
            Standing::Failed(fault, why) => (fault.to_string(), why),
            Standing::Allowed(fault, why) => (format!("{fault} (allowed)"), why),
        };
        let _ = writeln!(text, "{word}: {} {}: {}", case.network, case.name, why.replace('\n', " "));
    }
    let Counts { all, passed, failed, allowed, cached, .. } = sheet.counts();
    let _ = write!(text, "{passed} of {all} passed, {failed} failed, {allowed} allowed");
    let _ = if cached > 0 { writeln!(text, ", {cached} from the cache") } else { writeln!(text) };
    let _ = writeln!(text, "summary.md, junit.xml, report and results in {}", out.display());
    text
}
