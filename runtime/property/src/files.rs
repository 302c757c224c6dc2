//! Files: read within limits, packed or not; written whole or not at all.

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The most that is taken from a file, unpacked.
pub const MAX_BYTES: u64 = 1 << 30;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A file's bytes, unpacked if they begin as gzip files do. One that holds too much is an error, before it takes the
/// memory of the machine. Of a file that is there only with `.gz` added to its name, that one is read.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_limited(File::open(find(path))?, MAX_BYTES)
}

/// The file of this name; where there is none, the same with `.gz` added.
pub fn find(path: &Path) -> PathBuf {
    let mut packed = path.as_os_str().to_owned();
    packed.push(".gz");
    let packed = PathBuf::from(packed);
    if !path.exists() && packed.is_file() { packed } else { path.to_path_buf() }
}

/// The bytes of an open file as they come, unpacked if it is packed. More than a file may hold is an error at the end.
pub fn stream(file: File, is_packed: bool) -> Box<dyn Read> {
    let file = BufReader::new(file);
    let bytes: Box<dyn Read> = if is_packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    Box::new(Limited { bytes, left: MAX_BYTES })
}

/// Bytes that may not be more than so many.
struct Limited<R> {
    bytes: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| too_long(MAX_BYTES))?;
        Ok(count)
    }
}

fn read_limited(file: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut file = BufReader::new(file);
    let mut magic = Vec::new();
    file.by_ref().take(2).read_to_end(&mut magic)?;
    let is_packed = magic == GZIP_MAGIC;
    let whole = io::Cursor::new(magic).chain(file);
    let mut bytes = Vec::new();
    if is_packed {
        MultiGzDecoder::new(whole).take(limit + 1).read_to_end(&mut bytes)?;
    } else {
        whole.take(limit + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > limit {
        return Err(too_long(limit));
    }
    Ok(bytes)
}

/// That a file holds too much.
pub fn too_long(limit: u64) -> io::Error {
    io::Error::other(format!("it holds more than {limit} bytes"))
}

/// To a temporary file beside the target, then renamed over it: a reader sees the old file or the new one. Missing
/// folders are made and a link is followed. What is no regular file (a device, a pipe) cannot be replaced: it is
/// written to as it is.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::new(path)?;
    draft.write_all(bytes)?;
    draft.keep()
}

/// As [`write_atomically`], but only where there is no such file yet: of several processes that try it at the same moment one
/// succeeds. Whether this one did.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    if path.exists() {
        return Ok(false);
    }
    let mut draft = Draft::new(path)?;
    draft.write_all(bytes)?;
    draft.file.sync_all()?;
    match fs::hard_link(&draft.temporary, &draft.target) {
        Ok(()) => Ok(true),
        Err(_) if path.exists() => Ok(false),
        // A file system without links: the last one wins.
        Err(_) => draft.keep().map(|()| true),
    }
}

/// A part of a name that no other process has, on this machine or on another one that shares the folder.
pub fn unique() -> String {
    format!("{}-{:016x}", std::process::id(), RandomState::new().hash_one(0))
}

/// A file that is written in parts to a temporary place beside its own, and is there when it is kept; else it is gone.
#[derive(Debug)]
pub struct Draft {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
}

impl Draft {
    /// What is no regular file is written to as it is.
    pub fn new(path: &Path) -> io::Result<Draft> {
        let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        if is_special(path) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Draft { file, temporary: target.clone(), target });
        }
        fs::create_dir_all(folder(&target))?;
        let temporary = temporary(&target);
        Ok(Draft { file: File::create(&temporary)?, temporary, target })
    }

    /// Before the file is there, so that nobody meets it without.
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.file.set_permissions(permissions)
    }

    pub fn keep(mut self) -> io::Result<()> {
        if self.temporary != self.target {
            self.file.sync_all()?;
            fs::rename(&self.temporary, &self.target)?;
        }
        self.temporary = self.target.clone();
        Ok(())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.temporary != self.target {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// A file for numbers on the way, in the folder of a path or, if that is no regular file, in that of temporary files. It has no name
/// where the system allows that, so that nothing is left of it.
pub fn scratch(path: &Path) -> io::Result<File> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let folder = if is_special(path) { std::env::temp_dir() } else { folder(&target).to_path_buf() };
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let place = folder.join(format!(".{name}.{}.scratch", unique()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&place)?;
    let _ = fs::remove_file(place);
    Ok(file)
}

/// Whether [`write_atomically`] may succeed later, found out with an empty file beside the target; the folder must
/// exist. The target itself stays as it is.
pub fn check_writable(path: &Path) -> io::Result<()> {
    if path.is_dir() || path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if is_special(path) {
        return Ok(());
    }
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if !folder(path).is_dir() {
        let what = format!("there is no folder {}", folder(path).display());
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    let temporary = temporary(path);
    File::create(&temporary)?;
    fs::remove_file(temporary)
}

/// Removes a regular file; that there is none is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    if is_special(path) {
        return Ok(());
    }
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let mut hash = Hash::default();
    hash.add(bytes);
    hash.digits()
}

/// SHA-256 of bytes that come in parts.
#[derive(Clone, Debug, Default)]
pub struct Hash(Sha256);

impl Hash {
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// In hexadecimal.
    pub fn digits(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|what| !what.is_file())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    folder(path).join(format!(".{name}.{}.tmp", unique()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("results.txt");
        check_writable(&path).unwrap();
        assert!(names(dir.path()).is_empty());
        write_atomically(&path, b"unknown\n").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"unknown\n");
        write_atomically(&path, b"unsat\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"unsat\n");
        assert_eq!(names(dir.path()), ["results.txt"]);
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn of_those_who_write_a_new_file_one_succeeds() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        let attempt = |k: usize| (k, write_new(&path, format!("{k}").as_bytes()).unwrap());
        let attempts: Vec<(usize, bool)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|k| scope.spawn(move || attempt(k))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let successes: Vec<usize> = attempts.iter().filter(|(_, done)| *done).map(|(k, _)| *k).collect();
        assert_eq!(successes.len(), 1);
        assert_eq!(fs::read_to_string(&path).unwrap(), successes[0].to_string());
        assert_eq!(names(dir.path()), ["settings.json"]);
    }

    #[test]
    fn a_link_keeps_pointing() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("target"), dir.path().join("link"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn devices_are_written_to_and_stay() {
        let null = Path::new("/dev/null");
        check_writable(null).unwrap();
        write_atomically(null, b"unsat\n").unwrap();
        remove(null).unwrap();
        assert!(is_special(null));
    }

    #[test]
    fn a_folder_in_the_way_or_missing_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(check_writable(dir.path()).unwrap_err().to_string(), "it is a folder");
        assert!(write_atomically(dir.path(), b"x").is_err());
        let missing = dir.path().join("none").join("results.txt");
        assert!(check_writable(&missing).unwrap_err().to_string().starts_with("there is no folder"));
        assert!(check_writable(Path::new("")).is_err());
        assert!(check_writable(&dir.path().join("new/")).is_err());
    }

    pub fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn plain_and_packed_files_read_alike() {
        for text in [&b"some text"[..], b"x", b"", &GZIP_MAGIC[..1]] {
            assert_eq!(read_limited(text, 100).unwrap(), text);
            assert_eq!(read_limited(&gzip(text)[..], 100).unwrap(), text);
        }
        let parts = [gzip(b"two "), gzip(b"parts")].concat();
        assert_eq!(read_limited(&parts[..], 100).unwrap(), b"two parts");
    }

    #[test]
    fn a_named_file_may_be_packed_beside_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let named = dir.path().join("p.vnnlib");
        assert_eq!(read(&named).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::write(dir.path().join("p.vnnlib.gz"), gzip(b"packed")).unwrap();
        assert_eq!(read(&named).unwrap(), b"packed");
        fs::write(&named, b"plain").unwrap();
        assert_eq!(read(&named).unwrap(), b"plain", "the named one, where both are");
    }

    #[test]
    fn the_limit_is_on_the_unpacked_bytes() {
        let packed = gzip(&vec![b' '; 1 << 20]);
        assert_eq!(read_limited(&packed[..], 1 << 20).unwrap().len(), 1 << 20);
        let error = read_limited(&packed[..], (1 << 20) - 1).unwrap_err();
        assert_eq!(error.to_string(), "it holds more than 1048575 bytes");
        assert!(read_limited(&[0; 11][..], 10).is_err());
    }

    #[test]
    fn packed_files_that_are_cut_are_errors() {
        let packed = gzip(&b"some text".repeat(100));
        assert!((2..packed.len()).all(|len| read_limited(&packed[..len], 1 << 20).is_err()));
    }

    #[test]
    fn hashes_are_the_known_ones() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
