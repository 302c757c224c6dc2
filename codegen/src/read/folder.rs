//! The files that a model is read from: its own, and those beside it that it names.
//!
//! A model's hash is that of its own bytes, followed by the bytes of each file it has data in.

use pg_property::files::{Hash, MAX_BYTES, stream, too_long};
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub struct Folder<'a> {
    /// `None` for a model that is not read from a file: it has nothing beside it.
    path: Option<&'a Path>,
    names: Vec<String>,
    hash: Hash,
    buffer: Vec<u8>,
}

impl<'a> Folder<'a> {
    /// The folder of a model of which no more than its own file has been read.
    pub fn new(path: Option<&'a Path>, name: &str, bytes: &[u8]) -> Folder<'a> {
        let mut hash = Hash::default();
        hash.add(bytes);
        Folder { path, names: vec![name.into()], hash, buffer: vec![0; 1 << 16] }
    }

    /// The names of all files read, the model's own first, and the hash over all of them.
    pub fn finish(self) -> (Vec<String>, String) {
        (self.names, self.hash.digits())
    }

    /// Reads ranges of one file, which ascend and do not overlap. The whole file enters the hash, but only what the ranges
    /// hold is kept in memory. An error is that of the range with the given number.
    pub fn read(&mut self, name: &str, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, (usize, String)> {
        let mut file = self.open(name).map_err(|why| (0, why))?;
        let unreadable = |cause: io::Error| format!("cannot read '{name}': {cause}");
        let (mut place, mut parts) = (0, Vec::with_capacity(ranges.len()));
        for (k, range) in ranges.iter().enumerate() {
            let before = file.by_ref().take(range.start - place);
            place += self.pass(before, None).map_err(|e| (k, unreadable(e)))?;
            let mut part = Vec::new();
            let inside = file.by_ref().take(range.end - range.start);
            place += self.pass(inside, Some(&mut part)).map_err(|e| (k, unreadable(e)))?;
            if place < range.end {
                let what = format!("'{name}' ends at byte {place}, and its data at byte {}", range.end);
                return Err((k, what));
            }
            parts.push(part);
        }
        let last = ranges.len().saturating_sub(1);
        self.pass(file, None).map_err(|e| (last, unreadable(e)))?;
        Ok(parts)
    }

    /// Hashes what comes, and keeps it if asked to; how much it was.
    fn pass(&mut self, mut bytes: impl Read, mut keep: Option<&mut Vec<u8>>) -> io::Result<u64> {
        let mut count = 0;
        loop {
            let read = match bytes.read(&mut self.buffer) {
                Ok(0) => return Ok(count),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                result => result?,
            };
            self.hash.add(&self.buffer[..read]);
            keep.iter_mut().for_each(|kept| kept.extend_from_slice(&self.buffer[..read]));
            count += read as u64;
        }
    }

    /// Opens a file by its plain name, or the same with `.gz` if there is only that.
    fn open(&mut self, name: &str) -> Result<Box<dyn Read>, String> {
        let Some(folder) = self.path else {
            return Err(format!("its data lies in '{name}', and the model was not read from a folder"));
        };
        let packed = format!("{name}.gz");
        let is_packed = !folder.join(name).exists() && folder.join(&packed).exists();
        let found = if is_packed { packed } else { name.to_string() };
        let unreadable =
            |cause: &dyn std::fmt::Display| format!("its data lies in '{found}', which cannot be read: {cause}");
        let path = inside(folder, &found).map_err(|e| unreadable(&e))?;
        match fs::metadata(&path) {
            Ok(what) if !what.is_file() => return Err(unreadable(&"it is not a file")),
            Ok(what) if what.len() > MAX_BYTES => return Err(unreadable(&too_long(MAX_BYTES))),
            _ => {}
        }
        let file = File::open(path).map_err(|e| unreadable(&e))?;
        self.names.push(found);
        Ok(stream(file, is_packed))
    }
}

/// The real path of a file in a folder. Links may not lead out of it: a model could make us read any file of the machine.
fn inside(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (folder, path) = (folder.canonicalize()?, folder.join(name).canonicalize()?);
    if path.starts_with(&folder) { Ok(path) } else { Err(io::Error::other("a link leads out of the model's folder")) }
}

/// The plain name of a file that a model names: parts with `/` between them, none of which leads out of the folder.
pub fn plain_name(location: &str) -> Result<String, String> {
    let parts: Vec<&str> = location.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let has_drive = location.as_bytes().get(1) == Some(&b':');
    let is_outside = location.starts_with('/') || has_drive || location.contains('\\') || parts.contains(&"..");
    match (is_outside, parts.is_empty()) {
        (true, _) => Err(format!("its data lies in '{location}', which may be outside of the model's folder")),
        (_, true) => Err("its data lies in a file without a name".into()),
        _ => Ok(parts.join("/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pg_property::files::sha256;

    fn range(start: u64, end: u64) -> Range<u64> {
        start..end
    }

    #[test]
    fn names_stay_in_the_folder() {
        assert_eq!(plain_name("net.onnx.data").unwrap(), "net.onnx.data");
        assert_eq!(plain_name("./weights//a:0").unwrap(), "weights/a:0");
        for bad in ["", ".", "/etc/passwd", "../x", "a/../../x", "a/..", "C:x", "c:\\x", "..\\x", "\\\\host\\x"] {
            assert!(plain_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ranges_are_read_and_whole_files_hashed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("w"), b"0123456789").unwrap();
        let mut folder = Folder::new(Some(dir.path()), "net.onnx", b"model");
        assert_eq!(folder.read("w", &[1..3, 3..3, 7..9]).unwrap(), [&b"12"[..], b"", b"78"]);
        let (names, hash) = folder.finish();
        assert_eq!(names, ["net.onnx", "w"]);
        assert_eq!(hash, sha256(b"model0123456789"));
    }

    #[test]
    fn what_is_not_there_is_an_error_of_its_range() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("w"), b"0123456789").unwrap();
        fs::create_dir(dir.path().join("d")).unwrap();
        let error = |name: &str, ranges: &[Range<u64>]| {
            Folder::new(Some(dir.path()), "net.onnx", b"").read(name, ranges).unwrap_err()
        };
        assert_eq!(error("w", &[0..2, 5..11]), (1, "'w' ends at byte 10, and its data at byte 11".into()));
        assert_eq!(error("w", &[0..2, 50..51]), (1, "'w' ends at byte 10, and its data at byte 51".into()));
        assert!(error("missing", &[range(0, 1)]).1.contains("'missing', which cannot be read"));
        assert!(error("d", &[range(0, 1)]).1.contains("not a file"));
        let alone = Folder::new(None, "net.onnx", b"").read("w", &[range(0, 1)]).unwrap_err();
        assert!(alone.1.contains("not read from a folder"));
    }

    #[cfg(unix)]
    #[test]
    fn links_may_lead_inside_only() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("model");
        fs::create_dir(&model).unwrap();
        fs::write(dir.path().join("secret"), b"secret").unwrap();
        fs::write(model.join("w"), b"weights").unwrap();
        symlink("../secret", model.join("out")).unwrap();
        symlink("..", model.join("up")).unwrap();
        symlink("w", model.join("in")).unwrap();
        let mut folder = Folder::new(Some(&model), "net.onnx", b"");
        assert_eq!(folder.read("in", &[range(0, 7)]).unwrap(), [b"weights"]);
        for name in ["out", "up/secret"] {
            assert!(folder.read(name, &[range(0, 1)]).unwrap_err().1.contains("out of the model's folder"), "{name}");
        }
    }
}
