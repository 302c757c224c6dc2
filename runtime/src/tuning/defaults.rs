//! The numbers of the table: what each means is said where it is declared.

use super::*;

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            ascent: AscentTuning {
                memory: 0.9,
                longer: 1.5,
                shorter: 0.7,
                strides: (0.02, 2.0),
                least_scale: 1e-3,
                weights: 1.0,
                others: 0.1,
            },
            pseudo_costs: PseudoCostTuning { prior: 4.0, most: 8.0 },
            attack: AttackTuning {
                whole_steps: 3,
                part: 0.25,
                first_step: 0.5,
                short_step: 0.1,
                shrink: 0.8,
                nearly_on: -0.3,
            },
            sampling: SamplingTuning { samples: 2000, batch: 200, descents: 5, most_disjuncts: 100, looks: 1e-7 },
            descent: DescentTuning { steps: 14, first_step: 0.5, shrink: 0.7 },
            body: BodyTuning {
                rounds: 400,
                stops: 8,
                descent: 20,
                deep_enough: 0.2,
                off_the_border: 1e-5,
                tolerance: 1e-9,
                most_bodies: 256,
                far: 16,
            },
            refine: refine(),
            prove: ProveTuning {
                first_look: 64,
                sure: 256,
                stalled: 0.005,
                doubt: 1.0,
                polish: Steps { count: 100, rate: 0.2, decay: 0.96 },
                most_polished: 16,
                memory: 300 << 20,
                node: 1200,
                unsound: 0.0,
            },
            phases: phases(),
            propagation: PropagationTuning {
                most_terms: 1 << 18,
                turns: 50,
                worth: 0.02,
                least_cut: 1e-6,
                told: 0.9,
                first_look: 32,
                most_nodes: 20_000.0,
            },
            tail: TailTuning {
                narrow: 10,
                few: 6,
                effort: 20,
                growth: 4,
                halvings: 12,
                attack_steps: 2,
                at_rows: Steps { count: 4, rate: 0.3, decay: 0.8 },
            },
            boxes: BoxTuning {
                few_inputs: 16,
                most_inputs: 64,
                trial: 256,
                gets_on: 0.1,
                trial_work: 1 << 24,
                most_memory: 1 << 22,
                least_clip: 0.25,
                smallest: 1e-7,
                deepest: 200,
                refined: 16.0,
                most_known: 4096,
                combinations: 12,
                near: 1e-5,
                rounding: 0.25,
                small: 0.5,
                deep: 20,
                few_phases: 16,
                touch: 0.02,
                batches: 4,
            },
            wander: WanderTuning { walkers: 16, steps: 100, first_stride: 0.5, longer: 1.5, shorter: 0.9, rounds: 2 },
            peregrinn: peregrinn(),
            cuts: CutTuning { rounds: 20, most: 200, violated: 3e-7, sweeps: 20 },
            exact: ExactTuning { most_coefficients: 1 << 16, rounds: 40 },
        }
    }
}

fn refine() -> RefineTuning {
    let at_node = Steps { count: 1, rate: 0.2, decay: 0.85 };
    RefineTuning {
        most_work: 1 << 30,
        at_root: Steps { count: 20, rate: 0.3, decay: 0.87 },
        at_node,
        at_deep_node: Steps { count: 2, ..at_node },
        deep: 3,
        first_nodes: 50,
        least_nodes: 50_000,
        attack_steps: 8,
        hard_attack_steps: 30,
        near: (0.02, 1e-3),
        far: (2, 8),
    }
}

fn phases() -> PhasesTuning {
    let round =
        |sign_nodes, bound_nodes, pieces, property_nodes| Round { sign_nodes, bound_nodes, pieces, property_nodes };
    PhasesTuning {
        rounds: vec![
            round(400, 20, 4_000, 250),
            round(3_200, 100, 16_000, 2_000),
            round(25_600, 500, 64_000, 16_000),
            round(204_800, 2_500, 256_000, 1_024_000),
            round(1_638_400, 12_500, 256_000, u64::MAX),
            round(13_107_200, 62_500, 256_000, u64::MAX),
        ],
        ahead: 2,
        share: 2,
        again: 2,
        at_node: Steps { count: 2, rate: 0.1, decay: 0.9 },
        attacks: 24,
        attack_steps: 20,
        starts: 3,
        nearly_violated: 1e-3,
        most_combined: 64,
        small_program: 500,
    }
}

fn peregrinn() -> PeregrinnTuning {
    PeregrinnTuning {
        first_turn: 16,
        descend_every: 32,
        most_descents: 64,
        most_in_turn: 32,
        at_hidden: Steps { count: 3, rate: 0.3, decay: 0.8 },
        at_rows: Steps { count: 10, rate: 0.3, decay: 0.87 },
        valid: 1e-7,
        chord_gain: 0.02,
        penalty_factor: 1.5,
        most_penalty: 1e3,
    }
}
