//! Boxes that were proved before the crate was generated, each by a certificate that is judged again here.

use super::question::floats;
use crate::certificate::{Certificate, Judgement};
use crate::error::Error;
use crate::net::Net;
use pg_property::{Property, Source, files};
use std::path::{Path, PathBuf};

/// A box all of whose float32 inputs satisfy a property, by the network in real numbers or by the float32 program.
#[derive(Debug)]
pub struct Region {
    pub sides: Vec<(f32, f32)>,
    /// The property's file as the list names it, and SHA-256 of it and of its certificate.
    pub name: String,
    pub property: String,
    pub certificate: String,
    /// What the proof is about: `real` or `float32`.
    pub arithmetic: String,
    /// These two files.
    pub files: [PathBuf; 2],
}

/// Reads a list with a property and its certificate in each line, as paths relative to the list, and has each judged.
pub fn read(net: &Net, model: &Path, list: &Path) -> Result<Vec<Region>, Error> {
    let bytes = files::read(list).map_err(|e| Error::file("read", list, e))?;
    let text = String::from_utf8(bytes).map_err(|_| Error::file("read", list, "it is no text"))?;
    let folder = list.parent().unwrap_or(Path::new("."));
    let mut regions = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |what: &str| Error::File(format!("{}, line {number}: {what}", list.display()));
        let (property, certificate) =
            line.split_once(',').ok_or_else(|| wrong("a line is a property, a comma and its certificate"))?;
        let (property, certificate) = (property.trim(), certificate.trim());
        let region = region(net, model, (property, folder.join(property)), &folder.join(certificate));
        regions.push(region.map_err(|e| wrong(&e.to_string()))?);
    }
    match regions.is_empty() {
        true => Err(Error::File(format!("{}: it lists no region", list.display()))),
        false => Ok(regions),
    }
}

fn region(net: &Net, model: &Path, (name, path): (&str, PathBuf), certificate: &Path) -> Result<Region, Error> {
    let source = Source::read(&path).map_err(|e| Error::File(e.to_string()))?;
    let property = Property::parse(&source.text, &source.origin).map_err(|e| Error::File(e.to_string()))?;
    property.check_shape(net.inputs, net.outputs()).map_err(|e| Error::File(e.to_string()))?;
    let boxes = || property.disjuncts.iter().map(|disjunct| &disjunct.region);
    let first = boxes().next().ok_or_else(|| Error::File(format!("{name}: its box is empty")))?;
    if boxes().any(|region| region != first) || property.disjuncts.iter().any(|disjunct| !disjunct.is_box()) {
        return Err(Error::File(format!("{name}: a region is one box")));
    }
    let sides = floats(first).ok_or_else(|| Error::File(format!("{name}: some input has no float32 number")))?;
    let arithmetic = match Certificate::judge(certificate, model, &path) {
        Certificate { judgement: Judgement::Accepted, arithmetic, .. } => arithmetic.unwrap_or_default(),
        Certificate { judgement, .. } => {
            return Err(Error::File(format!("{}: {judgement}", certificate.display())));
        }
    };
    let bytes = files::read(certificate).map_err(|e| Error::file("read", certificate, e))?;
    let (files, certificate) = ([path, certificate.to_path_buf()], files::sha256(&bytes));
    Ok(Region { sides, name: name.into(), property: source.sha256, certificate, arithmetic, files })
}
