//! The list of a suite: which network is asked what, and for how long, one instance a line.

use crate::error::Error;
use crate::table::{Row, Table, plain_name};
use clap::Parser;
use pg_property::files::sha256;
use pg_runtime::cli::Robust;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const PROPERTY_COLUMNS: [&str; 2] = ["network", "property"];
const IMAGE_COLUMNS: [&str; 3] = ["network", "image", "eps"];
/// Of a list of images, each an option of `robust`.
const ROBUST_OPTIONS: [&str; 3] = ["scale", "clip", "label"];

#[derive(Debug)]
pub struct List {
    /// What the competition calls the benchmark: the name of the list's folder, or of the list if it has one of its own.
    pub category: String,
    pub sha256: String,
    pub instances: Vec<Instance>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Its place in the list, from 1.
    pub number: usize,
    /// As the list names it, plainly.
    pub network: String,
    pub network_file: PathBuf,
    /// The property as the list names it, plainly; or the image, and how far from it.
    pub property: String,
    /// The radius around an image.
    pub eps: Option<String>,
    /// A verifier's arguments that ask it.
    pub question: Vec<String>,
    /// In seconds.
    pub limit: f64,
    /// Whether it is the first of its network in the list.
    pub is_first: bool,
}

impl Instance {
    /// The files' names without folders and endings.
    pub fn stems(&self) -> [&str; 2] {
        let last = |path| str::rsplit(path, '/').next().unwrap_or_default();
        [last(&self.network).trim_end_matches(".onnx"), last(&self.property).trim_end_matches(".vnnlib")]
    }

    /// The property's text. What is asked about an image is a text only beside the certificate that was written of it.
    pub fn property_file(&self, certificate: &Path) -> PathBuf {
        match self.eps {
            None => PathBuf::from(&self.question[1]),
            Some(_) => PathBuf::from(format!("{}.vnnlib", certificate.display())),
        }
    }

    /// What the instance's files are called: unique, and in the list's order.
    pub fn file_name(&self) -> String {
        let stems = self.stems().join("_");
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        format!("{:04}_{}", self.number, stems.chars().map(plain).take(120).collect::<String>())
    }
}

/// Reads a list; `cap` is the most time that any instance gets.
pub fn read(path: &Path, cap: Option<f64>) -> Result<List, Error> {
    let table = Table::read(path, &["network", "property", "timeout"])?;
    let of_images = table.has("image");
    match of_images {
        true => table.check_columns(&IMAGE_COLUMNS, Some(&[&ROBUST_OPTIONS[..], &["timeout"]].concat())),
        false => table.check_columns(&PROPERTY_COLUMNS, Some(&["timeout"])),
    }?;
    if table.rows.is_empty() {
        return Err(Error::File(format!("{}: there is no instance in it", path.display())));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let reader = Reader { table: &table, folder, cap };
    let instances = table.rows.iter().enumerate().map(|(k, row)| reader.instance(k + 1, row, of_images));
    let mut instances = instances.collect::<Result<Vec<Instance>, _>>()?;
    let mut seen = HashSet::new();
    instances.iter_mut().for_each(|instance| instance.is_first = seen.insert(instance.network_file.clone()));
    let bytes = std::fs::read(path).map_err(|e| Error::file("read", path, e))?;
    Ok(List { category: category(path), sha256: sha256(&bytes), instances })
}

fn category(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match path.parent().and_then(Path::file_name) {
        Some(folder) if stem == "instances" => folder.to_string_lossy().into_owned(),
        _ => stem,
    }
}

struct Reader<'a> {
    table: &'a Table,
    folder: &'a Path,
    cap: Option<f64>,
}

impl Reader<'_> {
    fn instance(&self, number: usize, row: &Row, of_image: bool) -> Result<Instance, Error> {
        let table = self.table;
        let (network, network_file) = self.file(row, "network")?;
        let (property, eps, question) = if of_image { self.image(row)? } else { self.property(row)? };
        let limit = match (table.seconds(row, "timeout")?, self.cap) {
            (Some(own), cap) => cap.map_or(own, |cap| own.min(cap)),
            (None, Some(cap)) => cap,
            (None, None) => return Err(table.error(row, "the timeout is missing; write it, or give --timeout")),
        };
        Ok(Instance { number, network, network_file, property, eps, question, limit, is_first: false })
    }

    fn property(&self, row: &Row) -> Result<(String, Option<String>, Vec<String>), Error> {
        let (name, file) = self.file(row, "property")?;
        Ok((name, None, vec!["verify".into(), self.argument(row, &file)?]))
    }

    fn image(&self, row: &Row) -> Result<(String, Option<String>, Vec<String>), Error> {
        let (image, file) = self.file(row, "image")?;
        let eps = self.table.required(row, "eps")?.to_string();
        let mut question = vec!["robust".into(), self.argument(row, &file)?, format!("--eps={eps}")];
        let given = ROBUST_OPTIONS.map(|name| (name, self.table.field(row, name)));
        question.extend(given.iter().filter(|(_, value)| !value.is_empty()).map(|(k, v)| format!("--{k}={v}")));
        check(&question).map_err(|what| self.table.error(row, what))?;
        let label = match self.table.field(row, "label") {
            "" => String::new(),
            label => format!(" label {label}"),
        };
        Ok((format!("{image} eps {eps}{label}"), Some(eps), question))
    }

    /// The plain name in a column, and the file that it means, which may be compressed where the name is not.
    fn file(&self, row: &Row, column: &str) -> Result<(String, PathBuf), Error> {
        let name = self.table.required(row, column)?;
        find(self.folder, name).map_err(|what| self.table.error(row, what))
    }

    fn argument(&self, row: &Row, file: &Path) -> Result<String, Error> {
        let text = file.to_str().ok_or_else(|| self.table.error(row, "the path is not UTF-8"))?;
        Ok(text.to_string())
    }
}

/// A file's plain name and its path, from its name in a folder: it may be compressed where the name is not.
pub fn find(folder: &Path, name: &str) -> Result<(String, PathBuf), String> {
    let plain = plain_name(name);
    let candidates = [name.to_string(), format!("{name}.gz"), plain.clone()];
    let file = candidates.iter().map(|name| folder.join(name)).find(|path| path.exists() && !path.is_dir());
    Ok((plain, file.ok_or_else(|| format!("there is no {}", folder.join(name).display()))?))
}

/// Whether the command line of `robust` would take the arguments; if not, its words.
pub fn check(question: &[String]) -> Result<(), String> {
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        _robust: Robust,
    }
    let first_line = |error: clap::Error| {
        let text = error.to_string();
        text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_string()
    };
    Line::try_parse_from(question).map(|_| ()).map_err(first_line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn list(text: &str, cap: Option<f64>) -> Result<List, String> {
        let dir = tempfile::tempdir().unwrap();
        let bench = dir.path().join("bench");
        fs::create_dir_all(bench.join("onnx")).unwrap();
        for file in ["onnx/a.onnx.gz", "onnx/b.onnx", "p.vnnlib", "image1"] {
            fs::write(bench.join(file), "").unwrap();
        }
        fs::write(bench.join("instances.csv"), text).unwrap();
        read(&bench.join("instances.csv"), cap).map_err(|e| e.to_string().replace(&format!("{}/", bench.display()), ""))
    }

    #[test]
    fn the_competitions_list_is_read() {
        let list = list("./onnx/a.onnx,./p.vnnlib,30\r\nonnx/b.onnx, p.vnnlib, 1.5\r\n", None).unwrap();
        assert_eq!(list.category, "bench");
        let [first, second] = &list.instances[..] else { panic!("{list:?}") };
        assert_eq!((first.network.as_str(), first.property.as_str()), ("onnx/a.onnx", "p.vnnlib"));
        assert!(first.network_file.ends_with("onnx/a.onnx.gz"), "compressed beside the named file");
        assert_eq!((first.limit, second.limit), (30.0, 1.5));
        assert_eq!((second.number, second.file_name().as_str()), (2, "0002_b_p"));
        assert_eq!(second.question[0], "verify");
        assert!(second.question[1].ends_with("p.vnnlib"));
    }

    #[test]
    fn images_are_read_with_their_options() {
        let text = "network,image,eps,scale,clip,label,timeout\nonnx/b.onnx,image1,0.02,255,\"0,1\",,9\nonnx/b.onnx,image1,1e-2,,,7,\n";
        let list = list(text, Some(5.0)).unwrap();
        let [first, second] = &list.instances[..] else { panic!("{list:?}") };
        assert_eq!((first.property.as_str(), first.eps.as_deref()), ("image1 eps 0.02", Some("0.02")));
        assert_eq!(
            (first.question[0].as_str(), &first.question[2..]),
            ("robust", &["--eps=0.02", "--scale=255", "--clip=0,1"].map(String::from)[..])
        );
        assert_eq!(first.file_name(), "0001_b_image1_eps_0.02");
        assert_eq!(second.property, "image1 eps 1e-2 label 7");
        assert_eq!((first.limit, second.limit), (5.0, 5.0), "capped, and filled in");
    }

    #[test]
    fn mistakes_are_located() {
        let cases = [
            ("", "instances.csv: there is no instance in it"),
            ("onnx/b.onnx,p.vnnlib,9\nonnx/c.onnx,p.vnnlib,9\n", "instances.csv, line 2: there is no onnx/c.onnx"),
            ("onnx/b.onnx,q.vnnlib,9\n", "instances.csv, line 1: there is no q.vnnlib"),
            ("onnx/b.onnx,p.vnnlib\n", "instances.csv, line 1: the timeout is missing; write it, or give --timeout"),
            ("onnx/b.onnx,p.vnnlib,x\n", "instances.csv, line 1: the timeout 'x' is not a number of seconds"),
            ("onnx/b.onnx,,1\n", "instances.csv, line 1: the property is missing"),
            ("onnx/b.onnx,p.vnnlib,1,2\n", "instances.csv, line 1: 4 fields, but there are 3 columns"),
            ("network,image,timeout\n", "instances.csv: there is no column 'eps' in its header"),
            (
                "network,image,eps,lable\n",
                "instances.csv: the column 'lable' means nothing here; known are network, image, eps, scale, clip, label, timeout",
            ),
            (
                "network,image,eps,timeout\nonnx/b.onnx,image1,wide,1\n",
                "instances.csv, line 2: invalid value 'wide' for '--eps <E>': 'wide' is not a decimal number",
            ),
            (
                "network,image,eps,label,timeout\nonnx/b.onnx,image1,1,six,1\n",
                "instances.csv, line 2: invalid value 'six' for '--label <T>': invalid digit found in string",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(list(text, None).unwrap_err(), expected);
        }
    }
}
