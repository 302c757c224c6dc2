//! Text from files, compressed or not.

use std::path::Path;

use super::error::PropertyError;
use crate::files::{self, sha256};

/// A text and the file it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file as it was named.
    pub origin: String,
    /// Bytes that are not UTF-8, as old comments have them, are replaced: no part of a property needs them.
    pub text: String,
    /// Of the file's bytes, after decompression.
    pub sha256: String,
}

impl Source {
    /// Reads a file, which is unpacked if it begins as gzip files do.
    pub fn read(path: &Path) -> Result<Self, PropertyError> {
        let origin = path.display().to_string();
        let bytes = files::read(path).map_err(|error| {
            let advice = "check the path and that the file is complete";
            PropertyError::new(&origin, format!("the file cannot be read: {error}"), advice)
        })?;
        let sha256 = sha256(&bytes);
        let text = String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        Ok(Self { origin, text, sha256 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::gzip;

    /// A file that goes when the test ends.
    struct Temporary(std::path::PathBuf);

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn file(name: &str, bytes: &[u8]) -> Temporary {
        let path = std::env::temp_dir().join(format!("pg-source-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Temporary(path)
    }

    #[test]
    fn plain_and_packed_files_read_alike() {
        let plain = file("plain", b"; caf\xe9\n(exit)");
        let packed = file("packed", &gzip(b"; caf\xe9\n(exit)"));
        let (plain, packed) = (Source::read(&plain.0).unwrap(), Source::read(&packed.0).unwrap());
        assert_eq!(plain.text, "; caf\u{fffd}\n(exit)");
        assert_eq!((packed.text, packed.sha256), (plain.text, plain.sha256));
        assert_eq!(Source::read(&file("one", b"x").0).unwrap().text, "x");
        assert_eq!(Source::read(&file("none", b"").0).unwrap().text, "");
    }

    #[test]
    fn broken_and_missing_files_are_errors() {
        let mut cut = gzip(&b"(assert (<= X_0 1))".repeat(100));
        cut.truncate(cut.len() / 2);
        assert!(Source::read(&file("cut", &cut).0).is_err());
        let missing = Source::read(Path::new("/nowhere/p.vnnlib")).unwrap_err();
        assert!(missing.to_string().starts_with("/nowhere/p.vnnlib: the file cannot be read: "));
    }
}
