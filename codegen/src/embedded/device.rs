//! Every decision about an embedded crate, before any text.

use super::Options;
use super::question::{Question, read};
use super::regions::{self, Region};
use crate::error::Error;
use crate::lower::checked_name;
use crate::net::{Map, Net, Stage};
use pg_core::Source;

/// A sum of more terms than this would be off by too much for the error terms of the crate.
const MOST_TERMS: usize = 1 << 15;

#[derive(Debug)]
pub struct Device {
    pub name: String,
    pub net: Net,
    /// The domain, and the property to certify on it.
    pub question: Question,
    pub regions: Vec<Region>,
}

/// Multiply-adds, for one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    pub eval: usize,
    /// At most: neurons that are decided are passed over.
    pub certify: usize,
}

impl Device {
    pub fn new(net: Net, options: &Options) -> Result<Device, Error> {
        let name = match &options.name {
            Some(name) => checked_name(name)?,
            None => default_name(&net.source.stem),
        };
        let question = read(&net, options.domain.as_deref())?;
        let regions = match &options.regions {
            Some(path) => regions::read(&net, &options.model, path)?,
            None => vec![],
        };
        let device = Device { name, net, question, regions };
        if device.terms() > MOST_TERMS {
            let what = format!(
                "{} inputs and neurons are too many to certify in float32 on a device: {} terms of a sum, at most {MOST_TERMS}",
                device.net.inputs + device.net.stages.iter().map(Stage::width).sum::<usize>(),
                device.terms()
            );
            return Err(Error::Model(what));
        }
        Ok(device)
    }

    /// The hidden stages.
    pub fn hidden(&self) -> &[Stage] {
        &self.net.stages[..self.net.stages.len() - 1]
    }

    /// The most terms of the last sum of a bound: two for each neuron and input, and those it begins with.
    pub fn terms(&self) -> usize {
        let neurons: usize = self.net.stages.iter().map(Stage::width).sum();
        2 * (neurons + self.net.inputs) + 8
    }

    /// The most terms of a coefficient of a source's activations: a neuron of each stage that reads it, and one.
    pub fn terms_back(&self, source: Source) -> usize {
        let reads = |stage: &&Stage| stage.edges.iter().any(|edge| edge.from == source);
        1 + self.net.stages.iter().filter(reads).map(Stage::width).sum::<usize>()
    }

    /// The most terms of any sum that a stage's error has to cover, forward or backward.
    pub fn stage_terms(&self, stage: usize) -> usize {
        let edges = &self.net.stages[stage].edges;
        let forward = 1 + edges.iter().map(|edge| edge.map.cols()).sum::<usize>();
        edges.iter().map(|edge| self.terms_back(edge.from)).fold(forward, usize::max)
    }

    /// Whether a stage's neurons are bounded by rows of their own: those that read inputs alone have exact ranges already.
    pub fn is_refined(&self, stage: usize) -> bool {
        stage + 1 < self.net.stages.len() && self.net.stages[stage].edges.iter().any(|edge| edge.from != Source::Input)
    }

    /// Rows that `certify` takes back from the outputs.
    pub fn classes(&self) -> usize {
        self.net.outputs().saturating_sub(1)
    }

    pub fn work(&self) -> Work {
        let entries: Vec<usize> =
            self.net.stages.iter().map(|stage| stage.edges.iter().map(|edge| products(&edge.map)).sum()).collect();
        let eval: usize = entries.iter().sum();
        let before = |stage: usize| entries[..stage].iter().sum::<usize>();
        let refined = (0..entries.len()).filter(|&k| self.is_refined(k));
        let refined: usize = refined.map(|k| self.net.stages[k].width() * before(k) + entries[k]).sum();
        let last = entries.len() - 1;
        let rows = self.classes() * before(last) + 2 * self.classes() * entries[last] / self.net.outputs();
        Work { eval, certify: eval + 3 * eval + refined + rows }
    }
}

/// Products of an evaluation of the map.
pub fn products(map: &Map) -> usize {
    match map {
        Map::Dense(matrix) => matrix.len(),
        Map::Sparse(rows) => rows.values.len(),
        Map::Conv { geometry, .. } => (0..geometry.outputs()).map(|neuron| geometry.window(neuron).count()).sum(),
    }
}

fn default_name(stem: &str) -> String {
    crate::lower::default_name(stem).replacen("verifier_", "embedded_", 1)
}
