//! What a suite has come to, for programs and for people.

use super::certificate::{Judgement, size};
use super::expected::Comparison;
use super::list::List;
use super::record::{Record, Word};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    tool: &'static str,
    list: String,
    category: &'a str,
    settings: &'a Value,
    instances: usize,
    finished: usize,
    /// Verdicts of earlier runs.
    cached: usize,
    verdicts: BTreeMap<Word, usize>,
    /// Of all processes together.
    run_seconds: f64,
    prepare_seconds: f64,
    overhead: Option<Overhead>,
    certificates: Option<Certificates>,
    expected: Option<Comparison>,
}

/// What became of the certificates that were asked for.
#[derive(Debug, Serialize)]
struct Certificates {
    accepted: usize,
    rejected: Vec<Rejection>,
    unusable: usize,
    median_bytes: u64,
    max_bytes: u64,
    /// To judge all of them.
    seconds: f64,
}

#[derive(Debug, Serialize)]
pub struct Rejection {
    network: String,
    property: String,
    why: String,
}

/// The time of a row that its verifier did not account for, in milliseconds.
#[derive(Debug, Serialize)]
struct Overhead {
    mean_ms: f64,
    max_ms: f64,
}

impl<'a> Summary<'a> {
    pub fn new(
        path: &Path,
        list: &'a List,
        settings: &'a Value,
        rows: &[Option<Record>],
        expected: Option<Comparison>,
    ) -> Summary<'a> {
        let done: Vec<&Record> = rows.iter().flatten().collect();
        let count = |word: Word| done.iter().filter(|record| record.verdict == word).count();
        Summary {
            tool: concat!("pg-codegen ", env!("CARGO_PKG_VERSION")),
            list: path.display().to_string(),
            category: &list.category,
            settings,
            instances: list.instances.len(),
            finished: done.len(),
            cached: done.iter().filter(|record| record.cached).count(),
            verdicts: Word::ALL.into_iter().map(|word| (word, count(word))).collect(),
            run_seconds: done.iter().map(|record| record.seconds).sum(),
            prepare_seconds: done.iter().map(|record| record.prepare_seconds).sum(),
            overhead: Overhead::of(&done),
            certificates: Certificates::of(&done),
            expected,
        }
    }

    pub fn disagrees(&self) -> bool {
        self.expected.as_ref().is_some_and(|comparison| !comparison.disagreements.is_empty())
    }

    pub fn rejections(&self) -> &[Rejection] {
        self.certificates.as_ref().map_or(&[], |certificates| &certificates.rejected)
    }
}

impl Certificates {
    fn of(records: &[&Record]) -> Option<Certificates> {
        let (mut accepted, mut rejected, mut unusable) = (0, vec![], 0);
        let (mut sizes, mut seconds) = (vec![], 0.0);
        for record in records {
            let Some(certificate) = &record.certificate else { continue };
            sizes.push(certificate.bytes);
            seconds += certificate.seconds;
            match &certificate.judgement {
                Judgement::Accepted => accepted += 1,
                Judgement::Unusable(_) => unusable += 1,
                Judgement::Rejected(why) => {
                    let [network, property, why] = [&record.network, &record.property, why].map(String::clone);
                    rejected.push(Rejection { network, property, why });
                }
            }
        }
        sizes.sort_unstable();
        let (median_bytes, max_bytes) = (*sizes.get(sizes.len() / 2)?, *sizes.last()?);
        Some(Certificates { accepted, rejected, unusable, median_bytes, max_bytes, seconds })
    }
}

impl fmt::Display for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Certificates { accepted, rejected, unusable, median_bytes, max_bytes, seconds } = self;
        let [median, most] = [*median_bytes, *max_bytes].map(|bytes| size(bytes as f64));
        write!(f, "certificates: {accepted} accepted, {} rejected, {unusable} unusable; ", rejected.len())?;
        write!(f, "{median} in the median, {most} at most; judged in {seconds:.1} s")
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "REJECTED: the certificate of {} {}: {}", self.network, self.property, self.why)
    }
}

impl Overhead {
    fn of(records: &[&Record]) -> Option<Overhead> {
        let all: Vec<f64> = records.iter().filter_map(|record| record.overhead()).map(|s| 1e3 * s).collect();
        let max_ms = all.iter().copied().reduce(f64::max)?;
        Some(Overhead { mean_ms: all.iter().sum::<f64>() / all.len() as f64, max_ms })
    }
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let counts: Vec<String> = self.verdicts.iter().map(|(word, count)| format!("{count} {word}")).collect();
        let (finished, instances) = (self.finished, self.instances);
        writeln!(f, "{finished} of {instances} instances in {:.1} s: {}", self.run_seconds, counts.join(", "))?;
        if self.cached > 0 {
            writeln!(f, "{} of them from the cache", self.cached)?;
        }
        if self.prepare_seconds > 0.0 {
            writeln!(f, "verifiers generated and built in {:.1} s", self.prepare_seconds)?;
        }
        if let Some(Overhead { mean_ms, max_ms }) = self.overhead {
            writeln!(f, "overhead {mean_ms:.1} ms an instance beyond the verifier's own time, {max_ms:.1} ms at most")?;
        }
        if let Some(certificates) = &self.certificates {
            writeln!(f, "{certificates}")?;
        }
        if let Some(Comparison { file, agree, undecided, not_listed, disagreements }) = &self.expected {
            let counts = format!("{agree} agree, {} disagree, {undecided} undecided", disagreements.len());
            writeln!(f, "against {file}: {counts}, {not_listed} not listed")?;
            for row in disagreements {
                writeln!(f, "DISAGREES: {} {}: {}, expected {}", row.network, row.property, row.verdict, row.expected)?;
            }
        }
        Ok(())
    }
}
