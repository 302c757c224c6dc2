//! What a certificate needs of a tree over phases: which neurons were split, and at each node the multipliers that gave its own
//! bound.
//!
//! The best bound of a node may be its parent's, by other multipliers. So multipliers of inner nodes are kept too where a bound
//! less than the target may be of use, and the tree is cut off at the first node on each way whose own bound is enough. Elsewhere
//! what is closed below a node is at once put together, so that a tree takes the room of its open nodes and of its bytes.

use crate::bounds::{Compact, Node};
use crate::certificate::{node as kind, put};
use crate::split;

#[derive(Debug)]
pub struct Record {
    /// The multipliers that those of all nodes are told from.
    root: Node,
    /// Whether inner nodes are kept.
    keeps_all: bool,
    nodes: Vec<Recorded>,
    /// Places of two children each that were put together with their parent.
    free: Vec<u32>,
}

#[derive(Debug, Default)]
struct Recorded {
    /// The hidden neuron that was split, and the children with it off and on.
    split: Option<(u32, [u32; 2])>,
    /// That of the root is itself.
    parent: u32,
    /// The least of its own bounds at the leaves of what is closed.
    bound: f32,
    /// What is closed, as a certificate has it: a leaf with the multipliers of its own bound, or all that is below the node.
    closed: Option<Box<[u8]>>,
}

impl Record {
    pub fn new(root: Node, keeps_all: bool) -> Record {
        Record { root, keeps_all, nodes: vec![Recorded::default()], free: vec![] }
    }

    /// Of a part of another tree: multipliers are told from the same ones.
    pub fn of_part(&self) -> Record {
        Record::new(self.root.clone(), self.keeps_all)
    }

    /// That a node is split: the numbers of its children, off and on.
    pub fn split(&mut self, compact: &Compact, node: &Node, neuron: usize) -> [u32; 2] {
        if self.keeps_all {
            self.keep(compact, node);
        }
        let first = self.free.pop().unwrap_or_else(|| {
            self.nodes.extend([Recorded::default(), Recorded::default()]);
            self.nodes.len() as u32 - 2
        });
        for child in [first, first + 1] {
            self.nodes[child as usize] = Recorded { parent: node.number, ..Recorded::default() };
        }
        self.nodes[node.number as usize].split = Some((neuron as u32, [first, first + 1]));
        [first, first + 1]
    }

    /// Keeps the multipliers of a node.
    pub fn keep(&mut self, compact: &Compact, node: &Node) {
        let leaf = [&[kind::LEAF][..], &node.multipliers(compact, &self.root)].concat();
        let kept = &mut self.nodes[node.number as usize];
        (kept.bound, kept.closed) = (node.own, Some(leaf.into()));
        if !self.keeps_all {
            self.join(node.number);
        }
    }

    /// Puts a closed node together with the other child of its parent, if that is closed too, and so on upward.
    fn join(&mut self, mut number: u32) {
        while number != 0 {
            number = self.nodes[number as usize].parent;
            let (neuron, [off, on]) = self.nodes[number as usize].split.expect("a parent was split");
            if [off, on].iter().any(|child| self.nodes[*child as usize].closed.is_none()) {
                return;
            }
            let [off, on] = [off, on].map(|child| (child, std::mem::take(&mut self.nodes[child as usize])));
            let mut bytes = vec![kind::PHASE];
            put(&mut bytes, neuron as usize);
            [&off, &on].into_iter().for_each(|(_, child)| bytes.extend(child.closed.iter().flatten()));
            let joined = &mut self.nodes[number as usize];
            (joined.bound, joined.closed, joined.split) = (off.1.bound.min(on.1.bound), Some(bytes.into()), None);
            self.free.push(off.0);
        }
    }

    /// Keeps an open node of a tree that is given up.
    pub fn keep_open(&mut self, compact: &Compact, node: &Node) {
        if self.keeps_all {
            self.keep(compact, node);
        }
    }

    /// Puts the tree of a part in the place of its root.
    pub fn graft(&mut self, number: u32, part: Record) {
        let shift = self.nodes.len() as u32 - 1;
        let place = |number: u32| number + shift;
        let mut nodes = part.nodes.into_iter().map(|mut node| {
            node.split = node.split.map(|(neuron, children)| (neuron, children.map(place)));
            node.parent = if node.parent == 0 { number } else { place(node.parent) };
            node
        });
        let root = nodes.next().expect("a root");
        self.nodes[number as usize] = Recorded { parent: self.nodes[number as usize].parent, ..root };
        self.nodes.extend(nodes);
        if !self.keeps_all && self.nodes[number as usize].closed.is_some() {
            self.join(number);
        }
    }

    /// The tree as a certificate has it, in which every leaf's own bound is at least a value, or more than a target; none if
    /// some way down has no such node.
    pub fn tree(&self, compact: &Compact, is_enough: impl Fn(f32) -> bool) -> Option<Vec<u8>> {
        Some([self.root.parts(compact), self.subtree(is_enough)?].concat())
    }

    /// The same without what multipliers are told from: the place of a leaf of the tree that it is a part of.
    pub fn subtree(&self, is_enough: impl Fn(f32) -> bool) -> Option<Vec<u8>> {
        let (mut bytes, mut open) = (vec![], vec![0u32]);
        while let Some(number) = open.pop() {
            let node = &self.nodes[number as usize];
            match (&node.closed, node.split) {
                (Some(closed), _) if is_enough(node.bound) => bytes.extend(closed),
                (_, Some((neuron, [off, on]))) => {
                    bytes.push(kind::PHASE);
                    put(&mut bytes, neuron as usize);
                    open.extend([on, off]);
                }
                _ => return None,
            }
        }
        Some(bytes)
    }

    /// The tree with its open leaves, and the numbers of these in its order. What is neither closed nor has children is open.
    pub fn frontier(&self) -> (split::Tree, Vec<u32>) {
        let (mut nodes, mut leaves, mut open) = (vec![], vec![], vec![0u32]);
        while let Some(number) = open.pop() {
            let node = &self.nodes[number as usize];
            nodes.push(match (&node.closed, node.split) {
                (_, Some((neuron, [off, on]))) => {
                    open.extend([on, off]);
                    split::Node::phase(neuron as usize)
                }
                (Some(closed), None) => split::Node::closed(closed.to_vec()),
                (None, None) => {
                    leaves.push(number);
                    split::Node::open()
                }
            });
        }
        (split::Tree(nodes), leaves)
    }
}
