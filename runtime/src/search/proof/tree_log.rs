//! What a certificate needs of a goal's own tree: what its bounds are about, at each node from which stage on they were computed
//! anew by rules and what was split, and at each leaf the multipliers that close it.

use crate::certificate::{node, put};

#[derive(Debug)]
pub struct TreeLog {
    begins: Begins,
    nodes: Vec<Logged>,
}

/// What the bounds of a tree are about.
#[derive(Clone, Copy, Debug)]
pub enum Begins {
    /// The region.
    Whole,
    /// What is behind a stage, a function of the box of its neurons.
    Behind(usize),
    /// The counterexamples of the region.
    Counterexamples,
}

/// What is split: a hidden neuron by its phase, or at a value.
#[derive(Clone, Copy, Debug)]
pub enum Split {
    Phase(usize),
    At(usize, f64),
}

#[derive(Debug, Default)]
struct Logged {
    bounded_from: Option<usize>,
    /// What was split, and the children: off and on, or below and above.
    split: Option<(Split, [u32; 2])>,
    leaf: Option<Box<[u8]>>,
}

impl TreeLog {
    /// A tree of one node.
    pub fn new(begins: Begins) -> TreeLog {
        TreeLog { begins, nodes: vec![Logged::default()] }
    }

    pub fn bounded(&mut self, node: u32, from: usize) {
        self.nodes[node as usize].bounded_from = Some(from);
    }

    /// That a node is split: the numbers of its children.
    pub fn split(&mut self, node: u32, split: Split) -> [u32; 2] {
        let first = self.nodes.len() as u32;
        self.nodes.extend([Logged::default(), Logged::default()]);
        self.nodes[node as usize].split = Some((split, [first, first + 1]));
        [first, first + 1]
    }

    /// That a node is closed by a leaf; `None` if that cannot be written down.
    pub fn close(&mut self, node: u32, leaf: Option<Vec<u8>>) {
        self.nodes[node as usize].leaf = leaf.map(Vec::into_boxed_slice);
    }

    /// The nodes of the tree as a certificate has them; none if some leaf has no record.
    pub fn tree(&self) -> Option<Vec<u8>> {
        let (mut bytes, mut open) = (vec![], vec![0u32]);
        match self.begins {
            Begins::Whole => {}
            Begins::Behind(stage) => {
                bytes.push(node::BEHIND);
                put(&mut bytes, stage);
            }
            Begins::Counterexamples => bytes.push(node::COUNTEREXAMPLES),
        }
        while let Some(number) = open.pop() {
            let logged = &self.nodes[number as usize];
            if let Some(from) = logged.bounded_from {
                bytes.push(node::RULES);
                put(&mut bytes, from);
            }
            match (&logged.leaf, logged.split) {
                (Some(leaf), _) => bytes.extend(leaf),
                (None, Some((split, [first, second]))) => {
                    split.put(&mut bytes);
                    open.extend([second, first]);
                }
                (None, None) => return None,
            }
        }
        Some(bytes)
    }
}

impl Split {
    fn put(self, bytes: &mut Vec<u8>) {
        match self {
            Split::Phase(neuron) => {
                bytes.push(node::PHASE);
                put(bytes, neuron);
            }
            Split::At(neuron, at) => {
                bytes.push(node::CUT);
                put(bytes, neuron);
                bytes.extend(at.to_le_bytes());
            }
        }
    }
}
