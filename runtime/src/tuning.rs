//! Every number that steers the search, in one table.
//!
//! None of them matters for soundness. Each says its unit and, where it was measured, on what: `testbench` are the 300
//! robustness questions of the paper (images of one test set, networks of two to six hidden layers of 256 neurons), `control`
//! the collision avoidance and control networks of few inputs. Numbers without a name were set by judgement.

mod defaults;

use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct Tuning {
    pub ascent: AscentTuning,
    pub pseudo_costs: PseudoCostTuning,
    pub attack: AttackTuning,
    pub sampling: SamplingTuning,
    pub descent: DescentTuning,
    pub body: BodyTuning,
    pub refine: RefineTuning,
    pub prove: ProveTuning,
    pub phases: PhasesTuning,
    pub propagation: PropagationTuning,
    pub tail: TailTuning,
    pub boxes: BoxTuning,
    pub wander: WanderTuning,
    pub peregrinn: PeregrinnTuning,
    pub cuts: CutTuning,
    pub exact: ExactTuning,
}

/// How far to raise a bound: steps, the length of the first, and what each next is shorter by.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Steps {
    pub count: usize,
    pub rate: f32,
    pub decay: f32,
}

impl Steps {
    /// Passes back and forward.
    pub fn passes(&self) -> u64 {
        2 * self.count as u64 + 1
    }

    pub const NONE: Steps = Steps { count: 0, rate: 0.0, decay: 1.0 };
}

/// Supergradient steps on the multipliers of the bound. Chosen on part of the testbench.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AscentTuning {
    /// Of Adam's averages, a factor a step.
    pub memory: f32,
    /// A step below the root that gains makes the next ones so many times as long, one that does not so many times.
    pub longer: f32,
    pub shorter: f32,
    /// The least and the most that a node's steps are scaled by.
    pub strides: (f32, f32),
    /// The least |μ| that the step of a β is scaled by.
    pub least_scale: f32,
    /// The step of the weights of a conjunction's rows, as a part of the others'.
    pub weights: f32,
    /// The weight that the other rows start with where one is preferred.
    pub others: f32,
}

/// What splits have gained before. Chosen on part of the testbench and on convolutional networks.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PseudoCostTuning {
    /// A neuron starts as if split so often with the mean gain of its stage.
    pub prior: f32,
    /// No side of a split counts as more than so many times the loss it was to save.
    pub most: f32,
}

/// Gradient attacks on rows.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AttackTuning {
    /// From the centre: the first steps go all the way to the corner, the others this part of it.
    pub whole_steps: usize,
    pub part: f32,
    /// The first step against the signs, from a random point and from a given one, as a part of each side of the box, and
    /// what each is shorter than the one before.
    pub first_step: f32,
    pub short_step: f32,
    pub shrink: f32,
    /// At the first step neurons this little below zero count as on.
    pub nearly_on: f32,
}

/// Random inputs, before anything else.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SamplingTuning {
    /// Inputs tried in each set of inputs, and evaluated together.
    pub samples: usize,
    pub batch: usize,
    /// Descents tried for each of the first disjuncts whose inputs are not a box.
    pub descents: usize,
    pub most_disjuncts: usize,
    /// By how much, absolute and relative to its constant, a constraint may fail in float64 and still be worth a replay.
    pub looks: f64,
}

/// From a point towards a counterexample, by the network's own gradient.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DescentTuning {
    pub steps: usize,
    /// The first step, as a part of each side of the box, and what each is shorter than the one before.
    pub first_step: f64,
    pub shrink: f64,
}

/// Deepest points of input sets that are no boxes, and walks through them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BodyTuning {
    /// Tangents added at most, for each quadratic.
    pub rounds: usize,
    /// Points tried on the way between two.
    pub stops: usize,
    /// Steps on the way to a point inside a quadratic.
    pub descent: usize,
    /// A point as deep as this part of the program's depth is deep enough.
    pub deep_enough: f64,
    /// Points that are pulled in stay this part of the way off the border, for the rounding to float32.
    pub off_the_border: f64,
    /// Of the linear program.
    pub tolerance: f64,
    /// Input sets kept; those of further disjuncts are taken for their boxes.
    pub most_bodies: usize,
    /// Steps from the centre to a point that has little to do with it.
    pub far: usize,
}

/// Bounds of hidden neurons. Chosen on part of the testbench.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RefineTuning {
    /// Beyond so many multiply-adds, first bounds are computed in float32.
    pub most_work: u64,
    /// The optimisation of a row at the root, at a node of a neuron's tree, and there from a stage on.
    pub at_root: Steps,
    pub at_node: Steps,
    pub at_deep_node: Steps,
    pub deep: usize,
    /// Nodes to prove a sign before a harder attack on it.
    pub first_nodes: u64,
    /// The trees of a stage may take as many nodes as all before them, and at least so many.
    pub least_nodes: u64,
    /// Steps of the attack on every neuron, and on those that resist a proof.
    pub attack_steps: usize,
    pub hard_attack_steps: usize,
    /// A bound this near the value seen is near enough: a part of it, and a bit.
    pub near: (f32, f32),
    /// More undecided neurons than so many times those that take both signs, and some, are far above them.
    pub far: (usize, usize),
}

/// Trees over phases. Chosen on part of the testbench.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ProveTuning {
    /// Nodes before the first look at a trend, which the first splits do not show, and before a claim is given up by it.
    pub first_look: u64,
    pub sure: u64,
    /// A bound that gains less than this part of itself with a doubling of nodes is as good as it gets.
    pub stalled: f32,
    /// Doublings that a trend may be wrong by: the end of a proof goes faster than its middle.
    pub doubt: f32,
    /// The steps at a node where no neuron is left to split, and how many such nodes of a claim are given them.
    pub polish: Steps,
    pub most_polished: u64,
    /// Bytes that the open nodes of all claims may take; beyond that the search goes depth first.
    pub memory: usize,
    /// Bytes of an open node beside its slopes: mostly its splits, of which a deep one has many.
    pub node: usize,
    /// What a bound may lack of its target: above 0 only where a test wants proofs that are none.
    pub unsound: f32,
}

/// How hard a round of refinement tries.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Round {
    /// Nodes to prove one sign, at most.
    pub sign_nodes: u64,
    /// Nodes to tighten one side of the bounds of a neuron that takes both signs.
    pub bound_nodes: u64,
    /// Pieces of a sweep of the tail.
    pub pieces: u64,
    /// Nodes that may then be spent on each row of the property.
    pub property_nodes: u64,
}

/// The engine over phases. Chosen on part of the testbench.
#[derive(Clone, Debug, Serialize)]
pub struct PhasesTuning {
    pub rounds: Vec<Round>,
    /// After the first round so many stages are tried as hard as in the next one: all that follows is the cheaper for it.
    pub ahead: usize,
    /// The property's trees may take one part in so many of the work that has gone into hidden neurons, and are tried again
    /// whenever that is so many times as much.
    pub share: u64,
    pub again: u64,
    /// The optimisation of a node of the property's tree.
    pub at_node: Steps,
    /// Attacks on each row the first time: from the centre, then from random points; and their steps.
    pub attacks: usize,
    pub attack_steps: usize,
    /// Points that each row is attacked from, of those where hidden neurons are at their extremes.
    pub starts: usize,
    /// From a point with a row this low, a descent may violate it.
    pub nearly_violated: f32,
    /// Of more rows than this no combination is tried.
    pub most_combined: usize,
    /// With so few undecided neurons a linear program takes little time.
    pub small_program: usize,
}

/// Conjunctions by propagation. Chosen on part of the testbench.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PropagationTuning {
    /// Networks with more coefficients than this are not propagated through.
    pub most_terms: usize,
    /// Turns through all conditions at a node, at most, and the part of a range that makes another one worth it.
    pub turns: usize,
    pub worth: f64,
    /// A limit cuts a sum if it takes this part of the range: less is rounding.
    pub least_cut: f64,
    /// The rows have told something if they leave at most this part of the root's open phases, by the size of their triangles.
    pub told: f64,
    /// Nodes before the first look at what is closed, and how many the whole tree may take by what it has taken so far.
    pub first_look: u64,
    pub most_nodes: f64,
}

/// Sweeps behind narrow stages. Chosen on part of the testbench.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TailTuning {
    /// At most this many live neurons are swept, and of at most so many every two together are bounded too.
    pub narrow: u64,
    pub few: u64,
    /// Bounds of their neurons are worth so many times the nodes of others, and then so many times as many again.
    pub effort: u64,
    pub growth: u64,
    /// A piece that was halved so often for each side is at a border of the property.
    pub halvings: usize,
    /// Steps of the attack on a piece, and of its rows.
    pub attack_steps: usize,
    pub at_rows: Steps,
}

/// Boxes of few inputs. Chosen on part of the control networks.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BoxTuning {
    /// Up to this many inputs, boxes are split and not phases; up to this many it is tried.
    pub few_inputs: usize,
    pub most_inputs: usize,
    /// A trial has so many boxes, and may have twice as many whenever these have closed this part of what was open.
    pub trial: u64,
    pub gets_on: f64,
    /// No trial where the way forward of a batch takes more multiply-adds of vectors, and no boxes where a batch needs more
    /// vectors of memory.
    pub trial_work: usize,
    pub most_memory: usize,
    /// Where a certificate is written, an end of a box moves inward only by at least this part of a side.
    pub least_clip: f64,
    /// A box is too small when every side is below this part of the property's, or when it has been halved so often.
    pub smallest: f64,
    pub deepest: u32,
    /// Undecided neurons of a stage are bounded one by one if that takes at most so many times the work of all forms before.
    pub refined: f64,
    /// At most so many hidden neurons are remembered as decided on a box around.
    pub most_known: usize,
    /// Steps towards the best combination of rows.
    pub combinations: usize,
    /// A point whose rows are all below this is replayed.
    pub near: f64,
    /// Finer numbers are asked where the relaxation explains less than this part of a bound's distance to the truth, and where
    /// the rows of a box that was halved so often vary by less than this part of it.
    pub rounding: f64,
    pub deep: u32,
    pub small: f64,
    /// A box with at most so many undecided neurons is for phases if the rows at its best point are below this part of what they
    /// vary by, or of their distance to the bound.
    pub few_phases: usize,
    pub touch: f64,
    /// Batches for each thread that are under way at a time, if there are several threads.
    pub batches: usize,
}

/// Random descents over boxes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WanderTuning {
    /// Points that move together, and how often.
    pub walkers: usize,
    pub steps: usize,
    /// How far a point moves at first and at most, as part of a side, and what success and failure make of that.
    pub first_stride: f64,
    pub longer: f64,
    pub shorter: f64,
    /// Rounds after the first.
    pub rounds: usize,
}

/// The paper's engine.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PeregrinnTuning {
    /// Nodes a disjunct may visit before the next one has its turn; doubled with each round.
    pub first_turn: u64,
    /// A descent costs as much as a node: one in so many.
    pub descend_every: u64,
    /// Descents from random points before a turn, as many as a part of its nodes allows.
    pub most_descents: u64,
    /// More open disjuncts than this are searched one after the other, to keep memory bounded.
    pub most_in_turn: usize,
    /// The optimisation of hidden neurons' bounds at a node, and of the property's rows.
    pub at_hidden: Steps,
    pub at_rows: Steps,
    /// A neuron is at a valid point if its activation or its slack is this small.
    pub valid: f64,
    /// A chord is moved when it would gain this part of its old length.
    pub chord_gain: f64,
    /// What the penalties of neighbouring stages differ by, and the largest.
    pub penalty_factor: f64,
    pub most_penalty: f64,
}

/// Tangents of quadratic constraints in the linear program.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CutTuning {
    /// Programs solved for one node while tangents are added.
    pub rounds: usize,
    /// Tangents kept for a goal; when there are more, the older half goes.
    pub most: usize,
    /// A quadratic is violated if the way to its border is about this long, somewhat more than the program's tolerance.
    pub violated: f64,
    /// Sweeps over the coordinates in search of the least value of a quadratic.
    pub sweeps: usize,
}

/// Rational arithmetic at the end.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ExactTuning {
    /// The most coefficients of the affine forms: beyond, rational arithmetic takes too long.
    pub most_coefficients: usize,
    /// Polyhedra tried for one node, each with tangents where the last one's point violates a quadratic.
    pub rounds: usize,
}

impl Tuning {
    /// A short name of these numbers, for reports: the first digits of the hash of their text.
    pub fn hash(&self) -> String {
        let text = serde_json::to_string(self).expect("a table of plain data");
        pg_property::files::sha256(text.as_bytes())[..16].to_string()
    }
}
