//! Certificates, as `pg-check` judges them: of a suite's proofs as soon as they are written, of regions before they become code.

use pg_check::{Question, Slice};
use pg_property::files;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::panic::{UnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

/// A certificate that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    pub bytes: u64,
    /// What judging took, from the reading of the files on.
    pub seconds: f64,
    pub judgement: Judgement,
    /// What an accepted one is about: `real` or `float32`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    Accepted,
    /// In which record, and why.
    Rejected(String),
    /// Why the judge cannot read the model or the property. Of the certificate nothing is known then.
    Unusable(String),
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Judgement::Accepted => f.write_str("accepted"),
            Judgement::Rejected(why) => write!(f, "rejected: {why}"),
            Judgement::Unusable(why) => write!(f, "unusable: {why}"),
        }
    }
}

impl Certificate {
    /// Judges a file. Model and property may be packed: digests are of what is in them.
    pub fn judge(file: &Path, model: &Path, property: &Path) -> Certificate {
        let start = Instant::now();
        let (bytes, judged) = match std::fs::read(file) {
            Ok(bytes) => (bytes.len() as u64, guarded(|| judge(&bytes, model, property))),
            Err(e) => (0, Err(Judgement::Rejected(format!("cannot read {}: {e}", file.display())))),
        };
        let (judgement, arithmetic) = match judged {
            Ok(arithmetic) => (Judgement::Accepted, Some(arithmetic.to_string())),
            Err(other) => (other, None),
        };
        Certificate { bytes, seconds: start.elapsed().as_secs_f64(), judgement, arithmetic }
    }

    /// One that is about another arithmetic than the question does not answer it.
    pub fn about(self, arithmetic: &str) -> Certificate {
        match &self.arithmetic {
            Some(other) if other != arithmetic => {
                let why = format!("it is about {other} arithmetic, and the question about {arithmetic}");
                Certificate { judgement: Judgement::Rejected(why), arithmetic: None, ..self }
            }
            _ => self,
        }
    }
}

/// What an accepted certificate is about. The error within tells why it is rejected, the outer one why there is nothing to judge by.
fn judge(certificate: &[u8], model: &Path, property: &Path) -> Result<Result<&'static str, String>, String> {
    let read = |path: &Path| files::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()));
    let (model_bytes, property_bytes) = (read(model)?, read(property)?);
    let [model, property] = [model, property].map(Path::to_string_lossy);
    let question = Question::read((&model, &model_bytes), (&property, &property_bytes)).map_err(|e| e.to_string())?;
    let judged = question.judge(certificate, Slice::ALL, 1, false);
    Ok(judged.map(|found| found.arithmetic).map_err(|rejected| rejected.to_string()))
}

/// A number that overflows ends the judgement and nothing else: what is not shown is rejected.
fn guarded<T>(judge: impl FnOnce() -> Result<Result<T, String>, String> + UnwindSafe) -> Result<T, Judgement> {
    let panicked = |panic: Box<dyn std::any::Any + Send>| {
        let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Ok(Err(text.unwrap_or_else(|| "the judge failed".into())))
    };
    let judged = catch_unwind(judge).unwrap_or_else(panicked).map_err(Judgement::Unusable)?;
    judged.map_err(Judgement::Rejected)
}

/// A number of bytes, to two digits where it has more.
pub fn size(bytes: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let (unit, name) = units.into_iter().find(|(unit, _)| bytes >= *unit).unwrap_or((1.0, "bytes"));
    let digits = usize::from(unit > 1.0 && bytes < 10.0 * unit);
    format!("{:.digits$} {name}", bytes / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judge_that_fails_has_not_accepted() {
        let failed = guarded::<()>(|| panic!("attempt to add with overflow"));
        assert_eq!(failed.unwrap_err().to_string(), "rejected: attempt to add with overflow");
        assert_eq!(guarded::<()>(|| Err("no model".into())), Err(Judgement::Unusable("no model".into())));
    }

    #[test]
    fn what_is_not_there_is_not_accepted() {
        let (missing, model) = (Path::new("/nowhere/x"), Path::new(file!()));
        let judged = Certificate::judge(missing, model, model);
        assert_eq!(judged.bytes, 0);
        assert!(judged.judgement.to_string().starts_with("rejected: cannot read /nowhere/x: "), "{judged:?}");
    }

    #[test]
    fn sizes_are_short() {
        let sizes = [0.0, 999.0, 1035.0, 27_062.0, 5_480_000.0, 2e8, 3e9].map(size);
        assert_eq!(sizes, ["0 bytes", "999 bytes", "1.0 kB", "27 kB", "5.5 MB", "200 MB", "3.0 GB"]);
    }

    #[test]
    fn judgements_read_back() {
        for judgement in [Judgement::Accepted, Judgement::Rejected("a".into()), Judgement::Unusable("b".into())] {
            let text = serde_json::to_string(&judgement).unwrap();
            assert_eq!(serde_json::from_str::<Judgement>(&text).unwrap(), judgement);
        }
        assert_eq!(serde_json::to_value(Judgement::Accepted).unwrap(), "accepted");
    }

    #[test]
    fn a_certificate_about_another_arithmetic_does_not_count() {
        let arithmetic = Some("real".to_string());
        let found = Certificate { bytes: 9, seconds: 0.1, judgement: Judgement::Accepted, arithmetic };
        assert_eq!(found.clone().about("real"), found);
        let why = found.about("float32").judgement.to_string();
        assert_eq!(why, "rejected: it is about real arithmetic, and the question about float32");
    }
}
