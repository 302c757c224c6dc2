//! The file of a certificate, from its heading to its digest.

use super::{CELLS, CLOSE, CLOSED, END, Heading, MAGIC, REGION, TREE, Written, put, put_list};
use crate::files::{Draft, Hash};
use crate::options::Semantics;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A certificate under way.
pub struct Certificate {
    path: PathBuf,
    pub(super) out: Hashed,
    pub(super) records: u64,
}

impl Certificate {
    pub fn new(path: &Path, heading: &Heading) -> io::Result<Certificate> {
        let mut out = Hashed::new(path)?;
        out.put(&heading.bytes()?)?;
        Ok(Certificate { path: path.to_path_buf(), out, records: 0 })
    }

    pub fn begin_region(&mut self, disjuncts: &[usize]) -> io::Result<()> {
        let mut head = vec![REGION];
        put_list(&mut head, disjuncts);
        self.add(&head, 1)
    }

    /// The head of a record that cells close disjuncts; its tree is to follow.
    pub fn begin_cells(&mut self, disjuncts: &[usize]) -> io::Result<()> {
        let mut head = vec![CELLS];
        put_list(&mut head, disjuncts);
        self.add(&head, 1)
    }

    /// The head of a record that a tree of combinations closes a disjunct; the tree is to follow.
    pub fn begin_tree(&mut self, disjunct: usize) -> io::Result<()> {
        let mut head = vec![CLOSE];
        put(&mut head, disjunct);
        put(&mut head, 0);
        head.push(TREE);
        self.add(&head, 1)
    }

    pub fn end_region(&mut self) -> io::Result<()> {
        self.add(&[CLOSED], 1)
    }

    /// Bytes that hold so many records.
    pub fn add(&mut self, bytes: &[u8], records: u64) -> io::Result<()> {
        self.records = self.records.saturating_add(records);
        self.out.put(bytes)
    }

    /// Puts it in its place.
    pub fn finish(mut self) -> io::Result<Written> {
        let mut tail = vec![END];
        put(&mut tail, self.records as usize);
        self.out.put(&tail)?;
        let digest = from_hex(&self.out.hash.clone().digits())?;
        self.out.put(&digest)?;
        let (bytes, sha256) = self.out.finish()?;
        Ok(Written { file: self.path.display().to_string(), bytes, records: self.records, sha256 })
    }
}

impl Heading<'_> {
    fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut head = MAGIC.to_vec();
        head.extend(from_hex(self.model)?);
        head.extend(from_hex(&self.property)?);
        put(&mut head, self.generator.len());
        head.extend(self.generator.as_bytes());
        head.push(match self.semantics {
            Semantics::Real => 0,
            Semantics::Float32 => 1,
        });
        put(&mut head, self.widths.len());
        self.widths.iter().for_each(|&width| put(&mut head, width));
        Ok(head)
    }
}

/// A file with the digest of what is written to it.
pub struct Hashed {
    file: BufWriter<Draft>,
    hash: Hash,
    pub bytes: u64,
}

impl Hashed {
    pub fn new(path: &Path) -> io::Result<Hashed> {
        Ok(Hashed { file: BufWriter::new(Draft::new(path)?), hash: Hash::default(), bytes: 0 })
    }

    /// Keeps the file: how long it is, and its digest.
    pub fn finish(self) -> io::Result<(u64, String)> {
        self.file.into_inner().map_err(|e| e.into_error())?.keep()?;
        Ok((self.bytes, self.hash.digits()))
    }

    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.add(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }
}

fn from_hex(text: &str) -> io::Result<Vec<u8>> {
    let byte = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
    bytes.filter(|bytes| bytes.len() == 32).ok_or_else(|| io::Error::other(format!("'{text}' is no SHA-256")))
}
