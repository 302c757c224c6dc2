//! The parts of a certificate's bytes, as docs/certificate.md has them: a third reader, which judges nothing.

use pg_check::Property;
use std::ops::Range;

/// Where everything is.
#[derive(Default)]
pub struct Anatomy {
    /// Numbers, bytes that tell a kind, floats, digests and texts.
    pub fields: Vec<Range<usize>>,
    /// Of each node with two children, these.
    pub children: Vec<[Range<usize>; 2]>,
    /// The records of each region, without its beginning and its end.
    pub regions: Vec<Vec<Range<usize>>>,
}

struct Reader<'r> {
    bytes: &'r [u8],
    at: usize,
    /// The rows of each disjunct.
    rows: Vec<usize>,
    found: Anatomy,
}

impl Anatomy {
    pub fn of(bytes: &[u8], property: &str) -> Anatomy {
        let property = Property::read(property).unwrap();
        let rows = property.disjuncts.iter().map(|disjunct| disjunct.rows.len()).collect();
        let mut reader = Reader { bytes, at: 0, rows, found: Anatomy::default() };
        reader.file();
        assert_eq!(reader.at, bytes.len());
        reader.found
    }
}

impl Reader<'_> {
    fn field(&mut self, length: usize) -> Range<usize> {
        let field = self.at..self.at + length;
        self.at = field.end;
        if length > 0 {
            self.found.fields.push(field.clone());
        }
        field
    }

    fn byte(&mut self) -> u8 {
        let field = self.field(1);
        self.bytes[field.start]
    }

    fn number(&mut self) -> usize {
        let length = 1 + self.bytes[self.at..].iter().take_while(|byte| **byte >= 128).count();
        let field = self.field(length);
        self.bytes[field].iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 127))
    }

    /// A count, and so many numbers with what follows each.
    fn list(&mut self, behind: usize) {
        for _ in 0..self.number() {
            self.number();
            self.field(behind);
        }
    }

    fn floats(&mut self, count: usize) {
        for _ in 0..count {
            self.field(4);
        }
    }

    fn file(&mut self) {
        for length in [4, 32, 32] {
            self.field(length);
        }
        let name = self.number();
        self.field(name);
        self.byte();
        for _ in 0..self.number() {
            self.number();
        }
        while self.byte() == 1 {
            self.list(0);
            let records = self.records();
            self.found.regions.push(records);
        }
        self.number();
        self.field(32);
    }

    fn records(&mut self) -> Vec<Range<usize>> {
        let mut records = vec![];
        loop {
            let start = self.at;
            match self.byte() {
                kind @ (2 | 6) => {
                    self.number();
                    for _ in 0..if kind == 2 { 1 } else { 2 } {
                        self.number();
                    }
                    self.field(if kind == 2 { 0 } else { 4 });
                    self.field(4);
                    self.proof(0);
                }
                3 => {
                    let (disjunct, what) = (self.number(), self.number());
                    self.proof(if what == 0 { self.rows[disjunct] } else { 0 });
                }
                4 => {
                    self.list(0);
                    self.cell();
                }
                _ => return records,
            }
            records.push(start..self.at);
        }
    }

    fn proof(&mut self, rows: usize) {
        if self.byte() == 1 {
            self.list(1);
            self.node(rows, 0);
        }
    }

    fn node(&mut self, rows: usize, phases: usize) -> Range<usize> {
        let start = self.at;
        match self.byte() {
            0 => {
                self.floats(rows);
                self.list(1);
                self.floats(phases);
            }
            2 => {
                self.floats(rows);
                self.list(8);
            }
            kind @ (1 | 4) => {
                self.number();
                self.field(if kind == 1 { 0 } else { 8 });
                let phases = phases + usize::from(kind == 1);
                let children = [self.node(rows, phases), self.node(rows, phases)];
                self.found.children.push(children);
            }
            kind => {
                if kind != 6 {
                    self.number();
                }
                self.node(rows, phases);
            }
        }
        start..self.at
    }

    fn cell(&mut self) -> Range<usize> {
        let start = self.at;
        match self.byte() {
            0 => {}
            1 => {
                self.number();
                self.field(8);
                let children = [self.cell(), self.cell()];
                self.found.children.push(children);
            }
            2 => {
                self.number();
                self.cell();
            }
            _ => {
                self.records();
            }
        }
        start..self.at
    }
}
