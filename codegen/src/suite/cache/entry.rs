//! One file of the cache: a line with the digest of all that follows, a line with the key and the record, and then the bytes of a
//! witness or of a certificate. A file that is cut or changed is none.

use crate::suite::record::Record;
use pg_property::files::sha256;
use serde::{Deserialize, Serialize};
use std::path::Path;

#[derive(Debug)]
pub struct Entry {
    pub record: Record,
    /// A certificate as it is on file, or a witness in VNN-COMP's form; nothing of a proof without a certificate.
    pub kept: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Line<R> {
    key: String,
    record: R,
}

impl Entry {
    pub fn read(path: &Path, key: &str) -> Option<Entry> {
        let bytes = std::fs::read(path).ok()?;
        let (digest, rest) = split_line(&bytes)?;
        if digest != sha256(rest).as_bytes() {
            return None;
        }
        let (line, kept) = split_line(rest)?;
        let line: Line<Record> = serde_json::from_slice(line).ok()?;
        (line.key == key).then(|| Entry { record: line.record, kept: kept.to_vec() })
    }

    pub fn bytes(&self, key: &str) -> Vec<u8> {
        let line = Line { key: key.to_string(), record: &self.record };
        let mut rest = serde_json::to_vec(&line).expect("plain data");
        rest.push(b'\n');
        rest.extend(&self.kept);
        let mut bytes = sha256(&rest).into_bytes();
        bytes.push(b'\n');
        bytes.extend(rest);
        bytes
    }
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::tests::record;
    use crate::suite::Word;

    #[test]
    fn a_damaged_entry_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("entry");
        let bytes = Entry { record: record(Word::Unsat, None), kept: b"PGC\n\0\n".to_vec() }.bytes("key");
        std::fs::write(&path, &bytes).unwrap();
        let entry = Entry::read(&path, "key").unwrap();
        assert_eq!((entry.record.verdict, &entry.kept[..]), (Word::Unsat, &b"PGC\n\0\n"[..]));
        assert!(Entry::read(&path, "other").is_none());
        assert!(Entry::read(&dir.path().join("none"), "key").is_none());
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            assert!(Entry::read(&path, "key").is_none(), "byte {at}");
            std::fs::write(&path, &bytes[..at]).unwrap();
            assert!(Entry::read(&path, "key").is_none(), "cut at {at}");
        }
    }
}
