//! Tables in CSV files, whose columns have names: lists of instances, expected verdicts, results of other tools.

use crate::error::Error;
use csv::{ReaderBuilder, Trim};
use std::path::Path;

/// Every table has this column, so a first line that holds the word is a header.
const ALWAYS: &str = "network";

#[derive(Debug)]
pub struct Table {
    /// The file, for messages.
    origin: String,
    columns: Vec<String>,
    pub rows: Vec<Row>,
}

#[derive(Debug)]
pub struct Row {
    line: usize,
    fields: Vec<String>,
}

impl Table {
    /// Reads a file with a header, or with the given columns if it may lack one. Line ends may be of any kind.
    pub fn read(path: &Path, without_header: &[&str]) -> Result<Table, Error> {
        let bytes = std::fs::read(path).map_err(|e| Error::file("read", path, e))?;
        Table::parse(&bytes, &path.display().to_string(), without_header)
    }

    fn parse(bytes: &[u8], origin: &str, without_header: &[&str]) -> Result<Table, Error> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(bytes);
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|e| Error::File(format!("{origin}: {e}")))?;
            let line = line_at(bytes, record.position().map_or(0, csv::Position::byte) as usize);
            rows.push(Row { line, fields: record.iter().map(String::from).collect() });
        }
        let has_header = rows.first().is_some_and(|row| row.fields.iter().any(|name| name == ALWAYS));
        if !has_header && without_header.is_empty() {
            return Err(Error::File(format!("{origin}: its first line names no columns, such as {ALWAYS}")));
        }
        let columns = match has_header {
            true => rows.remove(0).fields,
            false => without_header.iter().map(|name| name.to_string()).collect(),
        };
        let table = Table { origin: origin.into(), columns, rows };
        match table.rows.iter().find(|row| row.fields.len() > table.columns.len()) {
            Some(row) => {
                let what = format!("{} fields, but there are {} columns", row.fields.len(), table.columns.len());
                Err(table.error(row, what))
            }
            None => Ok(table),
        }
    }

    /// The columns that the table must have, and those that it may have; with none of either it may have any.
    pub fn check_columns(&self, required: &[&str], optional: Option<&[&str]>) -> Result<(), Error> {
        if let Some(missing) = required.iter().find(|name| !self.has(name)) {
            return Err(Error::File(format!("{}: there is no column '{missing}' in its header", self.origin)));
        }
        let Some(optional) = optional else { return Ok(()) };
        let is_known = |name: &&String| required.contains(&name.as_str()) || optional.contains(&name.as_str());
        match self.columns.iter().find(|name| !is_known(name)) {
            Some(stranger) => {
                let known = [required, optional].concat().join(", ");
                Err(Error::File(format!(
                    "{}: the column '{stranger}' means nothing here; known are {known}",
                    self.origin
                )))
            }
            None => Ok(()),
        }
    }

    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|name| name == column)
    }

    /// The field, which is empty if the column is absent or the line ends before it.
    pub fn field<'a>(&self, row: &'a Row, column: &str) -> &'a str {
        let index = self.columns.iter().position(|name| name == column);
        index.and_then(|index| row.fields.get(index)).map_or("", String::as_str)
    }

    /// The field, which must not be empty.
    pub fn required<'a>(&self, row: &'a Row, column: &str) -> Result<&'a str, Error> {
        match self.field(row, column) {
            "" => Err(self.error(row, format!("the {column} is missing"))),
            field => Ok(field),
        }
    }

    /// The field as a time, if it holds one.
    pub fn seconds(&self, row: &Row, column: &str) -> Result<Option<f64>, Error> {
        match self.field(row, column) {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(Some(seconds)),
                _ => Err(self.error(row, format!("the {column} '{text}' is not a number of seconds"))),
            },
        }
    }

    /// What is wrong with a row, and where that is.
    pub fn error(&self, row: &Row, what: impl std::fmt::Display) -> Error {
        Error::File(format!("{}, line {}: {what}", self.origin, row.line))
    }
}

/// The line in which a record begins. The reader's own count is taken before line ends that it has yet to skip.
fn line_at(bytes: &[u8], position: usize) -> usize {
    let (before, after) = bytes.split_at(position.min(bytes.len()));
    let skipped = after.iter().take_while(|byte| b"\r\n".contains(byte));
    1 + before.iter().chain(skipped).filter(|byte| **byte == b'\n').count()
}

/// A file's name as one list writes it and as another does: without `./` before and `.gz` behind.
pub fn plain_name(name: &str) -> String {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name.trim_start_matches("./").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [&str; 3] = ["network", "property", "timeout"];

    fn parse(text: &str) -> Result<Table, String> {
        Table::parse(text.as_bytes(), "t.csv", &COLUMNS).map_err(|e| e.to_string())
    }

    #[test]
    fn a_header_is_optional_and_line_ends_do_not_matter() {
        for text in
            ["a,b,1.5\r\n\r\nc,d,2\r\n", "\u{feff}timeout,network,property\n1.5,a,b\n 2 , c ,\"d\"", "a,b,1.5\nc,d,2"]
        {
            let table = parse(text).unwrap();
            let read: Vec<_> = table.rows.iter().map(|row| COLUMNS.map(|name| table.field(row, name))).collect();
            assert_eq!(read, [["a", "b", "1.5"], ["c", "d", "2"]], "{text:?}");
            assert_eq!(table.seconds(&table.rows[0], "timeout").unwrap(), Some(1.5));
        }
    }

    #[test]
    fn what_is_wrong_is_located() {
        assert_eq!(parse("a,b,1\na,b,1,9\n").unwrap_err(), "t.csv, line 2: 4 fields, but there are 3 columns");
        let table = parse("a,b,soon\r\n\r\na,,-1\r\na").unwrap();
        let seconds = |k: usize| table.seconds(&table.rows[k], "timeout").map_err(|e| e.to_string());
        assert_eq!(seconds(0).unwrap_err(), "t.csv, line 1: the timeout 'soon' is not a number of seconds");
        assert_eq!(seconds(1).unwrap_err(), "t.csv, line 3: the timeout '-1' is not a number of seconds");
        assert_eq!(seconds(2), Ok(None));
        let missing = table.required(&table.rows[1], "property").unwrap_err();
        assert_eq!(missing.to_string(), "t.csv, line 3: the property is missing");
        assert!(Table::parse(b"a,\xff,1", "t.csv", &COLUMNS).is_err(), "not UTF-8");
    }

    #[test]
    fn columns_are_checked() {
        let table = parse("network,verdict,colour\n").unwrap();
        let check = |required: &[&str], optional| table.check_columns(required, optional).map_err(|e| e.to_string());
        assert_eq!(check(&["network"], None), Ok(()));
        assert_eq!(check(&["property"], None).unwrap_err(), "t.csv: there is no column 'property' in its header");
        let stranger = check(&["network"], Some(&["verdict"])).unwrap_err();
        assert_eq!(stranger, "t.csv: the column 'colour' means nothing here; known are network, verdict");
    }

    #[test]
    fn names_are_compared_plain() {
        assert_eq!(plain_name("./onnx/a.onnx.gz"), "onnx/a.onnx");
        assert_eq!(plain_name("../a.onnx"), "../a.onnx");
    }
}
