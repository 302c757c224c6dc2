//! Refinement: bounds of hidden neurons proved by branch and bound, layer by layer.
//!
//! Plain bounds leave nearly every deep neuron undecided, but an attack reaches both signs for few: the rest is an artefact
//! of the relaxation. For each neuron seen with one sign only that sign is proved, over the phases of the layers before it;
//! for one that takes both, its bounds are brought near the values seen. Each layer then starts from tight bounds before it,
//! and what was thousands of undecided neurons becomes dozens.

use super::attack::{Found, attack};
use super::planes::pairs;
use super::prove::{Claim, Effort, prove};
use super::{End, Search};
use crate::bounds::{Ascent, Domain, Emptiness, Front, Node, Row, Steps, Work};
use crate::report::Stage;

/// A box of inputs and what is known of every neuron on it.
pub struct Refined {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub domain: Domain,
}

/// Lower and upper ends of a box of inputs.
pub type Input<'b> = (&'b [f64], &'b [f64]);

impl Refined {
    pub fn input(&self) -> Input<'_> {
        (&self.lower, &self.upper)
    }
}

/// Bounds of a box of inputs do not contradict each other.
const NOT_EMPTY: &str = "a box of inputs is not empty";

/// How hard a round of refinement tries.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Nodes to prove one sign, at most.
    pub sign_nodes: u64,
    /// Nodes to tighten one end of the bounds of a neuron that takes both signs.
    pub bound_nodes: u64,
    /// Pieces of a sweep of the tail.
    pub pieces: u64,
}

/// What a refinement of a layer leaves.
pub struct Refinement {
    /// Whether what is left undecided is not far from what truly takes both signs: else the layers after it are not worth
    /// this effort yet.
    pub is_near: bool,
    /// Where neurons were seen at their lowest and highest.
    pub reached: Vec<Found>,
}

/// One face of a neuron's bounds: the least value of `sign·z`.
#[derive(Clone, Copy)]
pub struct Face {
    pub neuron: usize,
    pub sign: f32,
}

/// A claim about a face, and the lowest value seen there.
struct Open {
    face: Face,
    claim: Claim,
    seen: f32,
}

/// The optimisation of a row at the root.
pub const AT_ROOT: Steps = Steps { count: 20, rate: 0.3, decay: 0.87 };
/// And at a node of a hidden neuron's tree: more steps gain less than more nodes, but for deep layers with many slopes.
const AT_NODE: Steps = Steps { count: 1, rate: 0.2, decay: 0.85 };
const AT_DEEP_NODE: Steps = Steps { count: 2, ..AT_NODE };
const DEEP: usize = 3;
pub const NO_STEPS: Steps = Steps { count: 0, rate: 0.0, decay: 1.0 };

/// Nodes to prove a sign before a harder attack on it.
const FIRST_NODES: u64 = 50;
/// The trees of a layer may take as many nodes as all before them, and at least so many.
const LEAST_NODES: u64 = 50_000;
/// Steps of the attack on every neuron, and on those that resist a proof.
const ATTACK_STEPS: usize = 8;
pub const HARD_ATTACK_STEPS: usize = 30;
/// A bound this near the value seen is near enough: a share of it, and a bit.
const NEAR: (f32, f32) = (0.02, 1e-3);
/// More undecided neurons than so many times those that take both signs, and some, are far above them.
const FAR: (usize, usize) = (2, 8);

impl Search<'_> {
    /// The front before a layer.
    pub fn front(&self, input: Input, domain: &Domain, end: usize) -> Front {
        Front::new(self.network, self.layers, 0..end, domain, input)
    }

    /// Tightens the neurons of a hidden layer, then what follows from them in the layers after it.
    pub fn refine_layer(&mut self, refined: &mut Refined, layer: usize, round: Round) -> Result<Refinement, End> {
        self.control.enter(Stage::Refine);
        let front = self.front(refined.input(), &refined.domain, layer);
        let mut faces = faces(&refined.domain, layer);
        let rows: Vec<Row> = self.rows(&front, &refined.domain, layer, &faces);
        let mut roots = self.raise(&front, &rows, AT_ROOT);
        self.tighten(refined, layer, faces.iter().zip(&roots).map(|(&face, root)| (face, root.bound)));
        let reached = attack(&front, &rows.iter().collect::<Vec<_>>(), ATTACK_STEPS, None);
        let seen: Vec<f32> = reached.iter().map(|found| found.value).collect();
        let mut claims: Vec<Open> = Vec::new();
        for (((face, row), root), seen) in faces.drain(..).zip(rows).zip(roots.drain(..)).zip(seen) {
            if refined.domain.is_undecided(layer, face.neuron) {
                claims.push(Open { face, claim: Claim { row, target: 0.0, root }, seen });
            }
        }
        let (signs, mut both): (Vec<_>, Vec<_>) = claims.into_iter().partition(|open| open.seen > 0.0);
        both.extend(self.prove_signs(refined, layer, &front, signs, round.sign_nodes)?);
        both.retain(|open| refined.domain.is_undecided(layer, open.face.neuron));
        let undecided = refined.domain.undecided(layer).count();
        let takes_both = both.len() - undecided.min(both.len());
        both.iter_mut().for_each(|open| open.claim.target = near(open.seen));
        self.prove_faces(refined, layer, &front, both, round.bound_nodes, false)?;
        self.raise_after(refined, layer)?;
        Ok(Refinement { is_near: undecided <= FAR.0 * takes_both + FAR.1, reached })
    }

    /// Proves what signs it can; returns the claims that a harder attack shows to be wrong.
    fn prove_signs(
        &mut self,
        refined: &mut Refined,
        layer: usize,
        front: &Front,
        signs: Vec<Open>,
        nodes: u64,
    ) -> Result<Vec<Open>, End> {
        let mut signs = self.prove_faces(refined, layer, front, signs, FIRST_NODES, true)?;
        let rows: Vec<&Row> = signs.iter().map(|open| &open.claim.row).collect();
        let found = attack(front, &rows, HARD_ATTACK_STEPS, None);
        signs.iter_mut().zip(found).for_each(|(open, found)| open.seen = open.seen.min(found.value));
        let (mut still, wrong): (Vec<Open>, _) = signs.into_iter().partition(|open| open.seen > 0.0);
        still.sort_by(|a, b| b.claim.root.bound.total_cmp(&a.claim.root.bound));
        self.prove_faces(refined, layer, front, still, nodes, true)?;
        Ok(wrong)
    }

    /// Brings both bounds of every live neuron of a narrow layer near the values seen, also of one that is on: what is behind
    /// the layer is a function of these neurons, and is swept over their bounds. Returns where they, and sums of them, were
    /// seen at their extremes.
    pub fn enclose(&mut self, refined: &mut Refined, layer: usize, nodes: u64) -> Result<Vec<Found>, End> {
        self.control.enter(Stage::Refine);
        let front = self.front(refined.input(), &refined.domain, layer);
        let faces: Vec<Face> = refined.domain.live(layer).flat_map(both_faces).collect();
        let rows = self.rows(&front, &refined.domain, layer, &faces);
        let roots = self.raise(&front, &rows, AT_ROOT);
        let mut found = attack(&front, &rows.iter().collect::<Vec<_>>(), HARD_ATTACK_STEPS, None);
        let sums: Vec<Row> = pairs(&front, &refined.domain, &rows, &found).into_iter().map(|pair| pair.row).collect();
        let claim = |(((face, row), root), found): (((Face, Row), Node), &Found)| {
            let claim = Claim { row, target: near(found.value), root };
            Open { face, claim, seen: found.value }
        };
        let claims = faces.into_iter().zip(rows).zip(roots).zip(&found).map(claim).collect();
        self.prove_faces(refined, layer, &front, claims, nodes, false)?;
        self.raise_after(refined, layer)?;
        found.extend(attack(&front, &sums.iter().collect::<Vec<_>>(), HARD_ATTACK_STEPS, None));
        Ok(found)
    }

    /// What follows from a layer in those after it.
    fn raise_after(&mut self, refined: &mut Refined, layer: usize) -> Result<(), End> {
        for later in layer + 1..self.layers.hidden() {
            self.go_on()?;
            self.raise_box_layer(refined, later, NO_STEPS);
        }
        Ok(())
    }

    /// Tightens every hidden layer by the best slopes.
    pub fn raise_layers(&mut self, refined: &mut Refined) -> Result<(), End> {
        for layer in 1..self.layers.hidden() {
            self.go_on()?;
            self.raise_box_layer(refined, layer, AT_ROOT);
        }
        Ok(())
    }

    fn raise_box_layer(&mut self, refined: &mut Refined, layer: usize, steps: Steps) {
        let Refined { lower, upper, domain } = refined;
        self.raise_layer((lower, upper), domain, layer, steps).expect(NOT_EMPTY);
    }

    /// Tightens the undecided neurons of a layer by raised bounds.
    pub fn raise_layer(
        &mut self,
        input: Input,
        domain: &mut Domain,
        layer: usize,
        steps: Steps,
    ) -> Result<(), Emptiness> {
        let front = self.front(input, domain, layer);
        self.raise_behind(&front, domain, layer, steps)
    }

    /// The same behind any front that ends at the layer.
    pub fn raise_behind(
        &mut self,
        front: &Front,
        domain: &mut Domain,
        layer: usize,
        steps: Steps,
    ) -> Result<(), Emptiness> {
        let faces = faces(domain, layer);
        let rows = self.rows(front, domain, layer, &faces);
        let roots = self.raise(front, &rows, steps);
        faces.iter().zip(&roots).try_for_each(|(face, root)| face.tighten(domain, layer, root.bound))
    }

    /// Tries to prove the claims and tightens what they bound; returns those that are still of use.
    fn prove_faces(
        &mut self,
        refined: &mut Refined,
        layer: usize,
        front: &Front,
        claims: Vec<Open>,
        nodes: u64,
        all_or_nothing: bool,
    ) -> Result<Vec<Open>, End> {
        let effort = self.effort(layer, nodes, all_or_nothing);
        let answers = prove(front, claims.iter().map(|open| &open.claim).collect(), effort, self.control);
        self.counters.neuron_nodes += answers.iter().map(|answer| answer.nodes).sum::<u64>();
        self.tighten(refined, layer, claims.iter().zip(&answers).map(|(open, answer)| (open.face, answer.bound)));
        self.go_on()?;
        let is_open = |open: &Open| refined.domain.is_undecided(layer, open.face.neuron);
        let left = claims.into_iter().zip(answers).filter(|(open, answer)| !answer.proved && is_open(open));
        Ok(left.map(|(open, _)| open).collect())
    }

    /// For claims about a layer.
    pub fn effort(&self, layer: usize, nodes: u64, all_or_nothing: bool) -> Effort {
        let steps = if layer < DEEP { AT_NODE } else { AT_DEEP_NODE };
        let total = self.counters.neuron_nodes.max(LEAST_NODES);
        Effort { nodes, total, all_or_nothing, steps, threads: self.threads() }
    }

    pub fn rows(&self, front: &Front, domain: &Domain, layer: usize, faces: &[Face]) -> Vec<Row> {
        let weights = &self.layers.0[layer];
        faces.iter().map(|face| front.neuron_row(weights, face.neuron, face.sign, domain)).collect()
    }

    /// The root of each row's tree, its bound raised.
    pub fn raise(&mut self, front: &Front, rows: &[Row], steps: Steps) -> Vec<Node> {
        let mut ascent = Ascent::new(front);
        let mut works: Vec<Work> = rows.iter().map(|row| Work { row, node: Node::root(front), target: 0.0 }).collect();
        ascent.raise(&mut works, steps);
        self.counters.bound_rows += ascent.passes;
        works.into_iter().map(|work| work.node).collect()
    }

    fn tighten(&self, refined: &mut Refined, layer: usize, bounds: impl Iterator<Item = (Face, f32)>) {
        for (face, bound) in bounds {
            face.tighten(&mut refined.domain, layer, bound).expect(NOT_EMPTY);
        }
    }
}

impl Face {
    /// What `sign·z ≥ bound` says of the neuron.
    fn tighten(self, domain: &mut Domain, layer: usize, bound: f32) -> Result<(), Emptiness> {
        let bound = f64::from(bound);
        let (lower, upper) = if self.sign > 0.0 { (bound, f64::INFINITY) } else { (f64::NEG_INFINITY, -bound) };
        domain.tighten(layer, self.neuron, lower, upper)
    }
}

fn faces(domain: &Domain, layer: usize) -> Vec<Face> {
    domain.undecided(layer).flat_map(both_faces).collect()
}

pub fn both_faces(neuron: usize) -> [Face; 2] {
    [1.0, -1.0].map(|sign| Face { neuron, sign })
}

/// Near enough to the lowest value seen.
pub fn near(seen: f32) -> f32 {
    seen - NEAR.0 * seen.abs() - NEAR.1
}
