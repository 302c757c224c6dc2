//! What has to be known of a linked program: the sizes of its sections, its functions, and the stack that each takes.
//!
//! Reads ELF files of 32 and 64 bits, little-endian. A file that is anything else, or cut off, has no answer.

/// A section that is loaded, or one of the others by name.
#[derive(Debug)]
pub struct Section {
    pub name: String,
    flags: u64,
    kind: u32,
    offset: usize,
    pub size: usize,
    link: usize,
}

/// A function or an object with a name.
#[derive(Debug, PartialEq)]
pub struct Symbol {
    pub name: String,
    pub value: u64,
    pub size: u64,
    pub is_function: bool,
    pub is_undefined: bool,
}

pub struct Elf<'a> {
    bytes: &'a [u8],
    wide: bool,
    pub sections: Vec<Section>,
}

const WRITE: u64 = 1;
const ALLOC: u64 = 2;
const EXECUTE: u64 = 4;
/// Kinds of sections: one without bytes in the file, and a table of symbols.
const NO_BITS: u32 = 8;
const SYMBOLS: u32 = 2;

impl<'a> Elf<'a> {
    pub fn read(bytes: &'a [u8]) -> Option<Elf<'a>> {
        let wide = match bytes.get(..6)? {
            [0x7f, b'E', b'L', b'F', class @ 1..=2, 1] => *class == 2,
            _ => return None,
        };
        let mut elf = Elf { bytes, wide, sections: vec![] };
        let table = elf.word(if wide { 0x28 } else { 0x20 })? as usize;
        let at = if wide { 0x3a } else { 0x2e };
        let [size, count, names] = [at, at + 2, at + 4].map(|at| elf.number(at, 2));
        let headers = (0..count?).map(|k| elf.section(table + (k * size?) as usize)).collect::<Option<Vec<_>>>()?;
        let strings = headers.get(names? as usize)?.1.offset;
        let named = |(name, mut section): (u64, Section)| {
            section.name = elf.text(strings + name as usize)?;
            Some(section)
        };
        elf.sections = headers.into_iter().map(named).collect::<Option<Vec<_>>>()?;
        Some(elf)
    }

    fn number(&self, at: usize, bytes: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(bytes)?)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// A number as wide as an address.
    fn word(&self, at: usize) -> Option<u64> {
        self.number(at, if self.wide { 8 } else { 4 })
    }

    fn text(&self, at: usize) -> Option<String> {
        let rest = self.bytes.get(at..)?;
        Some(String::from_utf8_lossy(&rest[..rest.iter().position(|&byte| byte == 0)?]).into_owned())
    }

    fn section(&self, at: usize) -> Option<(u64, Section)> {
        let width = if self.wide { 8 } else { 4 };
        let field = |k: usize| self.word(at + 8 + k * width);
        let link = self.number(at + 8 + 4 * width, 4)? as usize;
        let kind = self.number(at + 4, 4)? as u32;
        let (flags, offset, size) = (field(0)?, field(2)? as usize, field(3)? as usize);
        Some((self.number(at, 4)?, Section { name: String::new(), flags, kind, offset, size, link }))
    }

    /// Bytes of machine code, of constants, and of memory that is written: the first two and what memory begins with lie in flash.
    pub fn sizes(&self) -> (usize, usize, usize) {
        let (mut code, mut constants, mut memory) = (0, 0, 0);
        for section in self.sections.iter().filter(|section| section.flags & ALLOC != 0) {
            match section.flags {
                flags if flags & EXECUTE != 0 => code += section.size,
                flags if flags & WRITE != 0 => memory += section.size,
                _ => constants += section.size,
            }
            if section.flags & WRITE != 0 && section.kind != NO_BITS {
                constants += section.size;
            }
        }
        (code, constants, memory)
    }

    pub fn symbols(&self) -> Option<Vec<Symbol>> {
        let Some(table) = self.sections.iter().find(|section| section.kind == SYMBOLS) else { return Some(vec![]) };
        let strings = self.sections.get(table.link)?.offset;
        let size = if self.wide { 24 } else { 16 };
        (0..table.size / size).map(|k| self.symbol(table.offset + k * size, strings)).collect()
    }

    fn symbol(&self, at: usize, strings: usize) -> Option<Symbol> {
        let (value, size, info, section) = match self.wide {
            true => (self.word(at + 8)?, self.word(at + 16)?, self.number(at + 4, 1)?, self.number(at + 6, 2)?),
            false => (self.word(at + 4)?, self.word(at + 8)?, self.number(at + 12, 1)?, self.number(at + 14, 2)?),
        };
        let name = self.text(strings + self.number(at, 4)? as usize)?;
        Some(Symbol { name, value, size, is_function: info & 15 == 2, is_undefined: section == 0 })
    }

    /// The stack of each function, by its address: as the compiler emitted it.
    pub fn stacks(&self) -> Option<Vec<(u64, u64)>> {
        let mut stacks = Vec::new();
        for section in self.sections.iter().filter(|section| section.name == ".stack_sizes") {
            let (mut at, end) = (section.offset, section.offset + section.size);
            while at < end {
                let address = self.word(at)?;
                at += if self.wide { 8 } else { 4 };
                let (mut size, mut shift) = (0u64, 0);
                loop {
                    let byte = *self.bytes.get(at)?;
                    at += 1;
                    size |= u64::from(byte & 127) << shift;
                    shift += 7;
                    if byte < 128 || shift > 56 {
                        break;
                    }
                }
                stacks.push((address, size));
            }
        }
        Some(stacks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_code_and_functions_and_a_piece_of_it_is_none() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let Some(elf) = Elf::read(&bytes) else { return };
        let (code, constants, _) = elf.sizes();
        assert!(code > 10_000 && constants > 1_000);
        assert!(elf.symbols().unwrap().iter().any(|symbol| symbol.name == "main" && symbol.is_function));
        for length in [0, 3, 6, 40, 63] {
            assert!(Elf::read(&bytes[..length]).is_none());
        }
        assert!(Elf::read(b"not a program, but long enough to be asked for everything that one would have").is_none());
    }
}
