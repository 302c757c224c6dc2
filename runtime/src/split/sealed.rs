//! Files that carry a digest of their contents: a line with the kind and the digest, then JSON. What was changed is refused.
//!
//! Floats stand as their bits, so that they are read back exactly.

use crate::files;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;

/// The first word of each file; another number is another form.
const FORM: &str = "pg-split-1";

/// A file that is yet to be written, and the digest that others name it by.
pub struct Sealed {
    text: String,
    pub digest: String,
}

impl Sealed {
    pub fn new(kind: &str, value: &impl Serialize) -> Sealed {
        let text = serde_json::to_string(value).expect("plain data") + "\n";
        let digest = digest(kind, &text);
        Sealed { text: format!("{FORM} {kind} {digest}\n{text}"), digest }
    }

    pub fn write(&self, path: &Path) -> Result<(), String> {
        let written = files::write_atomically(path, self.text.as_bytes());
        written.map_err(|e| format!("cannot write {}: {e}", path.display()))
    }
}

/// The value and its digest; `None` if there is no such file.
pub fn read<T: DeserializeOwned>(path: &Path, kind: &str) -> Result<Option<(T, String)>, String> {
    let about = |what: String| format!("{}: {what}", path.display());
    let bytes = match files::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(|e| about(e.to_string()))?,
    };
    let damaged = || about(format!("damaged, or not a file '{kind}' that split wrote"));
    let text = std::str::from_utf8(&bytes).map_err(|_| damaged())?;
    let (first, text) = text.split_once('\n').ok_or_else(damaged)?;
    let digest = digest(kind, text);
    if first != format!("{FORM} {kind} {digest}") {
        return Err(damaged());
    }
    let value = serde_json::from_str(text).map_err(|e| about(format!("not in the form of a file '{kind}': {e}")))?;
    Ok(Some((value, digest)))
}

fn digest(kind: &str, text: &str) -> String {
    files::sha256(format!("{kind}\n{text}").as_bytes())
}

/// Floats by their bits.
pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

pub fn floats(bits: &[u64]) -> Vec<f64> {
    bits.iter().map(|&bits| f64::from_bits(bits)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("part");
        assert_eq!(read::<Vec<u32>>(&path, "part"), Ok(None));
        let sealed = Sealed::new("part", &[1u32, 2, 300]);
        sealed.write(&path).unwrap();
        assert_eq!(read(&path, "part"), Ok(Some((vec![1u32, 2, 300], sealed.digest))));
        assert!(read::<Vec<u32>>(&path, "root").unwrap_err().contains("damaged, or not a file 'root'"));
        assert!(read::<Vec<u8>>(&path, "part").unwrap_err().contains("not in the form"));
        let good = std::fs::read(&path).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            std::fs::write(&path, &bad).unwrap();
            assert!(read::<Vec<u32>>(&path, "part").is_err(), "byte {at}");
            std::fs::write(&path, &good[..at]).unwrap();
            assert!(read::<Vec<u32>>(&path, "part").is_err(), "cut at {at}");
        }
    }

    #[test]
    fn floats_are_kept_to_the_bit() {
        let values = [0.1, -0.0, f64::INFINITY, 5e-324, -1.0 / 3.0];
        assert_eq!(bits(&floats(&bits(&values))), bits(&values));
        assert_eq!(floats(&bits(&values)), values);
    }
}
