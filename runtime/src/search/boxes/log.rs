//! What a certificate needs of the cells of a root: which were cut and where, and which disjuncts were closed on each.

use crate::certificate::{RegionId, put};
use crate::split::{Kind, Node, Tree};

/// The cells of a root, as a tree.
#[derive(Debug)]
pub struct CellLog {
    nodes: Vec<Logged>,
}

#[derive(Debug, Default)]
struct Logged {
    /// Disjuncts that were closed there.
    closed: Vec<usize>,
    cut: Option<Cut>,
    /// Its records, if boxes cannot close it.
    region: Option<RegionId>,
}

#[derive(Debug)]
struct Cut {
    input: usize,
    at: f64,
    below: u32,
    above: u32,
}

impl CellLog {
    pub fn new() -> CellLog {
        CellLog { nodes: vec![Logged::default()] }
    }

    pub fn close(&mut self, node: u32, disjunct: usize) {
        self.nodes[node as usize].closed.push(disjunct);
    }

    /// That a cell is cut: the numbers of what is below and above.
    pub fn cut(&mut self, node: u32, input: usize, at: f64) -> [u32; 2] {
        let below = self.nodes.len() as u32;
        self.nodes.extend([Logged::default(), Logged::default()]);
        self.nodes[node as usize].cut = Some(Cut { input, at, below, above: below + 1 });
        [below, below + 1]
    }

    /// That a cell has records of its own.
    pub fn hand_on(&mut self, node: u32, region: RegionId) {
        self.nodes[node as usize].region = Some(region);
    }

    /// The tree with its open leaves: where of the root's disjuncts some were closed neither there nor on the way.
    pub fn frontier(&self, disjuncts: Vec<usize>) -> Tree {
        let (mut nodes, mut open) = (vec![], vec![(0u32, disjuncts)]);
        while let Some((number, mut left)) = open.pop() {
            let Logged { closed, cut, .. } = &self.nodes[number as usize];
            left.retain(|disjunct| !closed.contains(disjunct));
            let kind = match cut {
                Some(Cut { input, at, below, above }) => {
                    open.extend([(*above, left.clone()), (*below, left)]);
                    Kind::Cut { input: *input, at: at.to_bits() }
                }
                None if left.is_empty() => Kind::Closed(vec![0]),
                None => Kind::Open,
            };
            nodes.push(Node { lost: closed.clone(), kind });
        }
        Tree(nodes)
    }

    /// The tree as a certificate has it, of some disjuncts, ascending, and where the records of cells belong.
    pub fn tree(&self, disjuncts: &[usize]) -> (Vec<u8>, Vec<(usize, RegionId)>) {
        let (mut bytes, mut open, mut places) = (vec![], vec![0u32], vec![]);
        while let Some(node) = open.pop() {
            let Logged { closed, cut, region } = &self.nodes[node as usize];
            for disjunct in closed.iter().filter(|disjunct| disjuncts.binary_search(disjunct).is_ok()) {
                bytes.push(2);
                put(&mut bytes, *disjunct);
            }
            match (cut, region) {
                (None, None) => bytes.push(0),
                (None, Some(region)) => {
                    bytes.push(3);
                    places.push((bytes.len(), *region));
                }
                (Some(Cut { input, at, below, above }), _) => {
                    bytes.push(1);
                    put(&mut bytes, *input);
                    bytes.extend(at.to_le_bytes());
                    open.extend([*above, *below]);
                }
            }
        }
        (bytes, places)
    }
}
