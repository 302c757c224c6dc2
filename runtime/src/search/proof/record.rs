//! What a certificate needs of a tree over phases: which neurons were split, and at each node the multipliers that gave its own
//! bound.
//!
//! The best bound of a node may be its parent's, by other multipliers. So multipliers of inner nodes are kept too where a bound
//! less than the target may be of use, and the tree is cut off at the first node on each way whose own bound is enough.

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
}

#[derive(Debug, Default)]
struct Recorded {
    /// The hidden neuron that was split, and the children with it off and on.
    split: Option<(u32, [u32; 2])>,
    /// Its own bound, by these multipliers.
    bound: f32,
    multipliers: Option<Box<[u8]>>,
}

impl Record {
    pub fn new(root: Node, keeps_all: bool) -> Record {
        Record { root, keeps_all, nodes: vec![Recorded::default()] }
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
        let first = self.nodes.len() as u32;
        self.nodes.extend([Recorded::default(), Recorded::default()]);
        self.nodes[node.number as usize].split = Some((neuron as u32, [first, first + 1]));
        [first, first + 1]
    }

    /// Keeps the multipliers of a node.
    pub fn keep(&mut self, compact: &Compact, node: &Node) {
        let kept = &mut self.nodes[node.number as usize];
        kept.bound = node.own;
        kept.multipliers = Some(node.multipliers(compact, &self.root).into());
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
            node
        });
        self.nodes[number as usize] = nodes.next().expect("a root");
        self.nodes.extend(nodes);
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
            match (&node.multipliers, node.split) {
                (Some(multipliers), _) if is_enough(node.bound) => {
                    bytes.push(kind::LEAF);
                    bytes.extend(multipliers);
                }
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

    /// The tree with its open leaves, and the numbers of these in its order. What has neither multipliers nor children is open.
    pub fn frontier(&self) -> (split::Tree, Vec<u32>) {
        let (mut nodes, mut leaves, mut open) = (vec![], vec![], vec![0u32]);
        while let Some(number) = open.pop() {
            let node = &self.nodes[number as usize];
            nodes.push(match (&node.multipliers, node.split) {
                (_, Some((neuron, [off, on]))) => {
                    open.extend([on, off]);
                    split::Node::phase(neuron as usize)
                }
                (Some(multipliers), None) => split::Node::closed([&[kind::LEAF][..], multipliers].concat()),
                (None, None) => {
                    leaves.push(number);
                    split::Node::open()
                }
            });
        }
        (split::Tree(nodes), leaves)
    }
}
