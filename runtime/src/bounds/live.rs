//! What a compact network is made of: the live neurons of the stages between its base and its target, and what is left of
//! the maps between them.
//!
//! Everything here takes time in proportion to the coefficients that are not 0.

use super::cone::{Cone, Targets};
use super::packed::Listed;
use super::table::Bounds;
use pg_core::kernel::sparse::Entry;
use pg_core::rounding::{at_most, underflow_error_32};
use pg_core::{Edge, Shape, Source};

pub struct Live<'s> {
    pub shape: &'s Shape<'s>,
    pub base: Source,
    /// The live ones of the base.
    pub before: Activations,
    /// The box of these.
    pub input: (Vec<f64>, Vec<f64>),
    /// By stage of the network; empty for those left out.
    pub neurons: Vec<Activations>,
    /// The stages that are not left out, in order.
    pub numbers: Vec<usize>,
    /// By stage of the network: the maps of its edges, a column for each live neuron and a row for each live activation.
    pub maps: Vec<Vec<Listed>>,
}

/// The live activations of a source.
#[derive(Clone, Default)]
pub struct Activations {
    /// Their numbers in the source, ascending.
    pub all: Vec<usize>,
    /// The largest magnitude of each.
    pub largest: Vec<f64>,
    /// How many terms the stages that read them add to a coefficient on the way back: the most of all.
    pub terms: usize,
    /// For each number of the source its place among them, if it is there.
    places: Vec<u32>,
}

/// The place of an activation that is not live.
const NOWHERE: u32 = u32::MAX;

impl Activations {
    fn new(width: usize, all: Vec<usize>, largest: Vec<f64>) -> Activations {
        let mut places = vec![NOWHERE; width];
        all.iter().enumerate().for_each(|(place, &i)| places[i] = place as u32);
        Activations { all, largest, terms: 0, places }
    }

    /// What is live of some numbered coefficients, by their places.
    fn pick(&self, row: impl Iterator<Item = (usize, f32)>) -> impl Iterator<Item = Entry> {
        row.map(|(i, value)| Entry { row: self.places[i], value }).filter(|entry| entry.row != NOWHERE)
    }
}

impl<'s> Live<'s> {
    /// Of what some neurons of the target depend on, over a box of the base's live activations.
    pub fn new(
        shape: &'s Shape,
        bounds: &Bounds,
        base: Source,
        target: usize,
        targets: &Targets,
        (lower, upper): (&[f64], &[f64]),
    ) -> Live<'s> {
        let mut marks = vec![false; shape.stages.len()];
        shape.mark_cone(target, &mut marks);
        let cone = match targets {
            Targets::All => None,
            Targets::Some(neurons) => Some(Cone::new(shape, bounds, base, target, neurons)),
        };
        let (first, before): (usize, Vec<usize>) = match base {
            Source::Input => (0, (0..shape.inputs).collect()),
            Source::Stage(s) => (s + 1, bounds.live(s).collect()),
        };
        assert_eq!((before.len(), before.len()), (lower.len(), upper.len()));
        let sides = before.into_iter().zip(lower.iter().zip(upper));
        let sides = sides.filter(|&(i, _)| cone.as_ref().is_none_or(|cone| cone.before[i]));
        let (before, input): (Vec<usize>, (Vec<f64>, Vec<f64>)) = sides.unzip();
        let size = input.0.iter().zip(&input.1).map(|(l, u)| l.abs().max(u.abs())).collect();
        let mut live = Live {
            shape,
            base,
            before: Activations::new(shape.width(base), before, size),
            input,
            neurons: vec![Activations::default(); shape.stages.len()],
            numbers: (first..target).filter(|&k| marks[k]).collect(),
            maps: vec![vec![]; shape.stages.len()],
        };
        for &k in &live.numbers {
            let is_in = |&j: &usize| cone.as_ref().is_none_or(|cone| cone.stages[k][j]);
            let neurons: Vec<usize> = bounds.live(k).filter(is_in).collect();
            let largest = neurons.iter().map(|&j| bounds.upper(k)[j]).collect();
            live.neurons[k] = Activations::new(shape.stages[k].width(), neurons, largest);
        }
        for &k in &live.numbers {
            live.maps[k] = shape.stages[k].edges.iter().map(|edge| live.map(edge, k)).collect();
        }
        live.before.terms = live.count_terms(base);
        for k in live.numbers.clone() {
            live.neurons[k].terms = live.count_terms(Source::Stage(k));
        }
        live
    }

    /// What is live of the map of an edge to a stage.
    fn map(&self, edge: &Edge, stage: usize) -> Listed {
        let from = self.of(edge.from);
        let mut map = Listed::new(from.all.len());
        for &j in &self.neurons[stage].all {
            map.push(from.pick(edge.map.row(j)));
        }
        map
    }

    pub fn of(&self, source: Source) -> &Activations {
        match source {
            _ if source == self.base => &self.before,
            Source::Stage(s) => &self.neurons[s],
            Source::Input => panic!("a stage behind a cut reads the inputs"),
        }
    }

    /// A source's place among the stages; none for the base.
    pub fn index(&self, source: Source) -> Option<usize> {
        match source {
            Source::Stage(s) if source != self.base => self.numbers.iter().position(|&number| number == s),
            _ => None,
        }
    }

    /// The most coefficients that are not 0 of an activation, in all maps that read the source. A coefficient of 0 adds no
    /// term: its product is exactly 0, whether it is computed or left out, and so is a sum of such products.
    fn count_terms(&self, source: Source) -> usize {
        let mut counts = vec![0; self.of(source).all.len()];
        for &k in &self.numbers {
            let edges = self.shape.stages[k].edges.iter().zip(&self.maps[k]);
            for (_, map) in edges.filter(|(edge, _)| edge.from == source) {
                map.entries().iter().for_each(|entry| counts[entry.row as usize] += 1);
            }
        }
        counts.into_iter().max().unwrap_or(0)
    }

    /// What underflow of the coefficients of a source's activations may cost.
    pub fn underflow(&self, source: Source) -> f64 {
        let Activations { largest, terms, .. } = self.of(source);
        at_most(underflow_error_32(terms + 1, largest.iter().sum()), largest.len() + 4)
    }
}
