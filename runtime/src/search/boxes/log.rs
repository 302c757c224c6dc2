//! What a certificate needs of the cells of a root: which were cut and where, and which disjuncts were closed on each.

use crate::certificate::put;

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

    /// The tree as a certificate has it, of some disjuncts, ascending.
    pub fn tree(&self, disjuncts: &[usize]) -> Vec<u8> {
        let (mut bytes, mut open) = (vec![], vec![0u32]);
        while let Some(node) = open.pop() {
            let Logged { closed, cut } = &self.nodes[node as usize];
            for disjunct in closed.iter().filter(|disjunct| disjuncts.binary_search(disjunct).is_ok()) {
                bytes.push(2);
                put(&mut bytes, *disjunct);
            }
            match cut {
                None => bytes.push(0),
                Some(Cut { input, at, below, above }) => {
                    bytes.push(1);
                    put(&mut bytes, *input);
                    bytes.extend(at.to_le_bytes());
                    open.extend([*above, *below]);
                }
            }
        }
        bytes
    }
}
