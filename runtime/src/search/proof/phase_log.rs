//! What a certificate needs of a goal's search over phases with linear programs: at each node from which stage on bounds were
//! computed anew by rules, which neuron was split, and at each leaf the multipliers that close it.

use crate::certificate::put;

#[derive(Debug, Default)]
pub struct PhaseLog {
    nodes: Vec<Logged>,
}

#[derive(Debug, Default)]
struct Logged {
    bounded_from: Option<usize>,
    /// The hidden neuron that was split, and the children with it off and on.
    split: Option<(usize, [u32; 2])>,
    leaf: Option<Box<[u8]>>,
}

impl PhaseLog {
    /// A tree of one node.
    pub fn new() -> PhaseLog {
        PhaseLog { nodes: vec![Logged::default()] }
    }

    pub fn bounded(&mut self, node: u32, from: usize) {
        self.nodes[node as usize].bounded_from = Some(from);
    }

    /// That a node is split: the numbers of its children, off and on.
    pub fn split(&mut self, node: u32, neuron: usize) -> [u32; 2] {
        let first = self.nodes.len() as u32;
        self.nodes.extend([Logged::default(), Logged::default()]);
        self.nodes[node as usize].split = Some((neuron, [first, first + 1]));
        [first, first + 1]
    }

    /// That a node is closed by a leaf; `None` if that cannot be written down.
    pub fn close(&mut self, node: u32, leaf: Option<Vec<u8>>) {
        self.nodes[node as usize].leaf = leaf.map(Vec::into_boxed_slice);
    }

    /// The nodes of the tree as a certificate has them; none if some leaf has no record.
    pub fn tree(&self) -> Option<Vec<u8>> {
        let (mut bytes, mut open) = (vec![], vec![0u32]);
        while let Some(number) = open.pop() {
            let node = &self.nodes[number as usize];
            if let Some(from) = node.bounded_from {
                bytes.push(3);
                put(&mut bytes, from);
            }
            match (&node.leaf, node.split) {
                (Some(leaf), _) => bytes.extend(leaf),
                (None, Some((neuron, [off, on]))) => {
                    bytes.push(1);
                    put(&mut bytes, neuron);
                    open.extend([on, off]);
                }
                (None, None) => return None,
            }
        }
        Some(bytes)
    }
}
