//! What is left of the stages before a target, compacted and in float32: where the search over phases bounds its rows.
//!
//! A row is a linear function of the activations that the target stage reads. Neurons that the bounds show off are left out;
//! the others keep the numbers that the one bound needs, rounded so that what is computed from them in float32, less its
//! stated error, is a lower bound:
//!
//! - `slope` ĝ ≈ u/(u−l) is any number in [0, 1]; the multiplier of an undecided neuron with μ < 0 is ν = fl(μĝ);
//! - `cost` t is at least max(−ĝl, (1−ĝ)u) and what the rounding of ν adds relative to it, so that its term is at least μt;
//! - `slop` r is what a unit of |ν| may cost by the rounding of the products with the stage's maps, at the largest
//!   activations that it reads, and by the neuron's own error.
//!
//! Undecided neurons with μ ≥ 0 have ν = fl(αμ) ≤ μ, neurons fixed on ν = fl(μ−β) ≤ μ, neurons fixed off ν = β ≥ 0: their
//! terms are at least 0 exactly, since rounding is monotone, underflow included. Where ν = fl(μĝ) underflows it is off by up
//! to η, which costs η·max(u, −l) whatever μ is; so does a μ that underflows, times the largest activation. Both are summed
//! up in `underflow`.
//!
//! In stages that read nothing but the box, undecided neurons with μ < 0 have no chord: they are spread over the inputs, see
//! [`super::hull`].

use super::buffer::Buffer;
use super::cone::Targets;
use super::hull::Hull;
use super::live::{Activations, Live};
use super::packed::{Listed, Packed};
use super::table::Bounds;
use pg_core::kernel::padded;
use pg_core::kernel::relax::CentredBox;
use pg_core::rounding::{EPSILON_32, TINY_32, above, at_most, below, sum_error_32};
use pg_core::{Shape, Source};

pub struct Compact {
    /// The neurons of the target that it has rows of.
    pub targets: Targets,
    /// What the box is of: the network's inputs, or the live activations of a stage that is a cut.
    pub(super) base: Source,
    /// The live ones of the base.
    pub(super) before: Activations,
    pub stages: Vec<CompactStage>,
    /// The compact stages that the target reads, as it lists them.
    pub reads: Vec<usize>,
    pub(super) hull: Hull,
    /// The box, rounded outward, its centre and radius; padded with zeros.
    pub input_lower: Buffer,
    pub input_upper: Buffer,
    pub(super) centre: Buffer,
    pub(super) radius: Buffer,
    /// The padded widths of all stages together: the length of a node's slopes.
    pub width: usize,
    /// All that underflow may cost a row, whatever its multipliers.
    pub(super) underflow: f64,
}

/// A neuron of a compact network: its stage, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub stage: u32,
    pub index: u32,
}

/// One stage: an entry for each live neuron, padded with zeros.
pub struct CompactStage {
    /// The stage's number in the network, the number of its first neuron among all of them, and its neurons'.
    pub number: usize,
    pub start: usize,
    pub neurons: Vec<usize>,
    pub width: usize,
    pub bias: Vec<f32>,
    /// For on neurons 1, 0 and 0.
    pub slope: Vec<f32>,
    pub cost: Vec<f32>,
    /// −ĝl: where the chord meets z = 0.
    pub lift: Vec<f32>,
    pub slop: Vec<f32>,
    /// The part of μ ≥ 0 to start from: all or nothing, whichever leaves the smaller triangle.
    pub alpha: Vec<f32>,
    /// min(u, −l), by which branching ranks neurons with μ ≥ 0.
    pub triangle: Vec<f32>,
    pub edges: Vec<CompactEdge>,
    /// Whether it reads nothing but the box, so that its neurons are spread over the inputs.
    pub is_spread: bool,
    /// How many terms the stages that read it add to a coefficient on the way back, at most.
    pub(super) terms: usize,
}

/// What a stage reads: another, or the box.
pub struct CompactEdge {
    pub from: Option<usize>,
    /// From the neurons to the activations that they read, and the other way.
    pub back: Packed,
    pub forward: Packed,
    /// Whether nothing else has reached what it reads before it, on the way back and on the way forward: then it sets, and
    /// else it adds.
    pub sets_back: bool,
    pub sets_forward: bool,
}

impl Compact {
    /// What the neurons of a target stage depend on. The box is of the base: the inputs, or the live activations of a cut.
    pub fn new(shape: &Shape, bounds: &Bounds, base: Source, target: usize, input: (&[f64], &[f64])) -> Compact {
        Compact::of(shape, bounds, base, target, Targets::All, input)
    }

    /// What some of them depend on: the others have no rows then.
    pub fn of(
        shape: &Shape,
        bounds: &Bounds,
        base: Source,
        target: usize,
        targets: Targets,
        input: (&[f64], &[f64]),
    ) -> Compact {
        let live = Live::new(shape, bounds, base, target, &targets, input);
        let mut underflow = live.underflow(base);
        let mut stages: Vec<CompactStage> = Vec::with_capacity(live.numbers.len());
        for &k in &live.numbers {
            let mut stage = CompactStage::new(&live, k);
            for (slot, &j) in live.neurons[k].all.iter().enumerate() {
                let (l, u) = bounds.of(k, j);
                underflow += stage.relax(slot, l, u);
            }
            underflow += live.underflow(Source::Stage(k));
            stages.push(stage);
        }
        let rounded =
            |ends: &[f64], round: fn(f64) -> f32| Buffer::row(&ends.iter().map(|&end| round(end)).collect::<Vec<_>>());
        let (input_lower, input_upper) = (rounded(&live.input.0, below), rounded(&live.input.1, above));
        let (centre, radius) = super::hull::middle(&input_lower, &input_upper);
        let mut compact = Compact {
            base,
            targets,
            reads: shape.stages[target].edges.iter().filter_map(|edge| live.index(edge.from)).collect(),
            hull: Hull::default(),
            input_lower,
            input_upper,
            centre,
            radius,
            width: stages.iter().map(|stage| stage.width).sum(),
            underflow: at_most(underflow, 2 * shape.neurons()),
            before: live.before.clone(),
            stages,
        };
        compact.hull = Hull::new(&live, &compact);
        compact.mark_first();
        compact
    }

    /// Marks the edges that are the first to reach a stage or the box, on the way back after the rows themselves.
    fn mark_first(&mut self) {
        let mut reached = vec![false; self.stages.len()];
        self.reads.iter().for_each(|&read| reached[read] = true);
        let mut reached_box = false;
        for edge in self.stages.iter_mut().rev().flat_map(|stage| &mut stage.edges) {
            let reached = edge.from.map_or(&mut reached_box, |from| &mut reached[from]);
            edge.sets_back = !*reached;
            *reached = true;
        }
        for stage in &mut self.stages {
            stage.edges[0].sets_forward = true;
        }
    }

    pub(super) fn input(&self) -> CentredBox<'_> {
        CentredBox { lower: &self.input_lower, upper: &self.input_upper, centre: &self.centre, radius: &self.radius }
    }

    /// The multiply-adds of a pass of one row, about.
    pub fn work(&self) -> u64 {
        self.stages.iter().flat_map(|stage| &stage.edges).map(|edge| edge.back.work()).sum::<u64>() + 1
    }

    /// The number of a neuron among all of the network.
    pub fn hidden(&self, slot: Slot) -> usize {
        let stage = &self.stages[slot.stage as usize];
        stage.start + stage.neurons[slot.index as usize]
    }

    /// The place of a neuron that is undecided here, by its number among all of the network.
    pub fn slot(&self, neuron: usize) -> Option<Slot> {
        let stage = self.stages.iter().rposition(|stage| stage.start <= neuron)?;
        let index = self.stages[stage].neurons.binary_search(&(neuron - self.stages[stage].start)).ok()?;
        (self.stages[stage].cost[index] > 0.0).then_some(Slot { stage: stage as u32, index: index as u32 })
    }

    /// The length of a row of inputs.
    pub fn inputs(&self) -> usize {
        self.input_lower.len()
    }

    /// A point of the box as one of all activations of the base, the others of which are as in the given one, padded.
    pub fn place(&self, x: &[f32], into: &mut [f32]) {
        self.before.all.iter().zip(x).for_each(|(&i, &x)| into[i] = x);
    }

    /// The undecided neurons.
    pub fn undecided(&self) -> impl Iterator<Item = Slot> + '_ {
        let slots = |(k, stage): (usize, &'_ CompactStage)| {
            let open: Vec<usize> = (0..stage.neurons.len()).filter(|&index| stage.cost[index] > 0.0).collect();
            open.into_iter().map(move |index| Slot { stage: k as u32, index: index as u32 })
        };
        self.stages.iter().enumerate().flat_map(slots)
    }
}

impl CompactEdge {
    fn new(from: Option<usize>, map: &Listed) -> CompactEdge {
        let (forward, back) = Packed::both(map);
        CompactEdge { from, back, forward, sets_back: false, sets_forward: false }
    }
}

impl CompactStage {
    fn new(live: &Live, number: usize) -> CompactStage {
        let data = &live.shape.stages[number];
        let neurons = &live.neurons[number];
        let width = padded(neurons.all.len());
        let room = || vec![0.0; width];
        let edges = data.edges.iter().zip(&live.maps[number]);
        let mut stage = CompactStage {
            number,
            start: live.shape.start(number),
            neurons: neurons.all.clone(),
            width,
            bias: room(),
            slope: room(),
            cost: room(),
            lift: room(),
            slop: room(),
            alpha: room(),
            triangle: room(),
            edges: edges.map(|(edge, map)| CompactEdge::new(live.index(edge.from), map)).collect(),
            is_spread: live.base == Source::Input && data.edges.iter().all(|edge| edge.from == Source::Input),
            terms: neurons.terms,
        };
        for (slot, &j) in neurons.all.iter().enumerate() {
            stage.bias[slot] = data.bias[j];
            stage.slop[slot] = slop(live, number, slot);
        }
        stage
    }

    /// The triangle of a neuron with these bounds. Returns what an underflow of its multiplier may cost.
    ///
    /// With an infinite lower bound the flat line is left, at height u; an infinite upper bound leaves nothing, at infinite
    /// cost.
    fn relax(&mut self, slot: usize, l: f64, u: f64) -> f64 {
        if l >= 0.0 {
            (self.slope[slot], self.alpha[slot]) = (1.0, 1.0);
            return 0.0;
        }
        let slope = if u - l < f64::INFINITY { ((u / (u - l)) as f32).clamp(0.0, 1.0) } else { 0.0 };
        let g = f64::from(slope);
        let range = u.max(-l);
        let (lift, rounding) = if slope > 0.0 { (-g * l, g * EPSILON_32 * range) } else { (0.0, 0.0) };
        let piece = lift.max((1.0 - g) * u) + rounding;
        self.slope[slot] = if self.is_spread { 0.0 } else { slope };
        self.cost[slot] = above(at_most(piece, 4));
        self.lift[slot] = lift as f32;
        self.alpha[slot] = if u > -l { 1.0 } else { 0.0 };
        self.triangle[slot] = u.min(-l) as f32;
        if slope > 0.0 && !self.is_spread { TINY_32 * range } else { 0.0 }
    }
}

/// What a unit of a live neuron's multiplier may cost, by the rounding of the products with the stage's maps and by the
/// neuron's own error, which is one of the coefficients that are not 0.
fn slop(live: &Live, stage: usize, slot: usize) -> f32 {
    let data = &live.shape.stages[stage];
    let error = data.error_of(live.neurons[stage].all[slot]);
    let (mut cost, mut terms) = (error.constant, 16);
    for (edge, map) in data.edges.iter().zip(&live.maps[stage]) {
        let (from, column) = (live.of(edge.from), map.column(slot));
        let (mut size, mut total) = (0.0, 0.0);
        for entry in column {
            let largest = from.largest[entry.row as usize];
            size += f64::from(entry.value).abs() * largest;
            total += largest;
        }
        cost += sum_error_32(from.terms + 1, size) + error.of_reads(size, total);
        terms += 2 * column.len() + 2;
    }
    above(at_most(cost, terms))
}
