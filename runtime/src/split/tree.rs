//! Trees of cells and of phases with open leaves.
//!
//! A tree is the list of its nodes, each before those below it, so that it covers everything by its form: a cut has what is below
//! and above, a phase off and on, and both children of every node are there or the list is not a tree.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree(pub Vec<Node>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Of a cell, the disjuncts that were closed on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<usize>,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// What is left is to be closed by a part.
    Open,
    /// Nothing is left. Of phases, the leaf as a certificate has it.
    Closed(Vec<u8>),
    /// A cell is cut at a number, which stands as its bits: what is below and what is above follow.
    Cut { input: usize, at: u64 },
    /// A hidden neuron is split: off and on follow.
    Phase(usize),
}

impl Node {
    fn of(kind: Kind) -> Node {
        Node { lost: vec![], kind }
    }

    pub fn open() -> Node {
        Node::of(Kind::Open)
    }

    pub fn closed(leaf: Vec<u8>) -> Node {
        Node::of(Kind::Closed(leaf))
    }

    pub fn phase(neuron: usize) -> Node {
        Node::of(Kind::Phase(neuron))
    }
}

impl Tree {
    /// How many leaves are open.
    pub fn leaves(&self) -> usize {
        self.0.iter().filter(|node| node.kind == Kind::Open).count()
    }

    /// Walks through the tree with a value for each node: what `visit` makes of a node with children is theirs. Of a list that
    /// is no tree it is an error.
    pub fn walk<T>(
        &self,
        root: T,
        mut visit: impl FnMut(T, &Node) -> Result<Option<[T; 2]>, String>,
    ) -> Result<(), String> {
        let mut open = vec![root];
        for node in &self.0 {
            let value = open.pop().ok_or("a tree has more nodes than places")?;
            match (visit(value, node)?, &node.kind) {
                (Some([first, second]), Kind::Cut { .. } | Kind::Phase(_)) => open.extend([second, first]),
                (None, Kind::Open | Kind::Closed(_)) => {}
                _ => return Err("a tree is of another kind than its root".into()),
            }
        }
        if open.is_empty() { Ok(()) } else { Err("a tree lacks nodes".into()) }
    }
}

/// A box of inputs with the disjuncts that are open there, ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub depth: u32,
    pub open: Vec<usize>,
}

impl Cell {
    /// What is left of it at a node, after the disjuncts that were closed there.
    pub fn less(mut self, lost: &[usize]) -> Result<Cell, String> {
        for disjunct in lost {
            let at =
                self.open.binary_search(disjunct).map_err(|_| "a cell closes a disjunct that is not open there")?;
            self.open.remove(at);
        }
        Ok(self)
    }

    /// Its halves: they share the cut, and cover it.
    pub fn halves(&self, input: usize, at: f64) -> Result<[Cell; 2], String> {
        let is_inside = input < self.lower.len() && self.lower[input] < at && at < self.upper[input];
        if !is_inside {
            return Err("a cell is cut outside of itself".into());
        }
        let depth = self.depth.saturating_add(1);
        let (mut below, mut above) = (Cell { depth, ..self.clone() }, Cell { depth, ..self.clone() });
        (below.upper[input], above.lower[input]) = (at, at);
        Ok([below, above])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(nodes: Vec<Node>) -> Result<usize, String> {
        let mut leaves = 0;
        Tree(nodes).walk((), |(), node| {
            leaves += usize::from(node.kind == Kind::Open);
            Ok(matches!(node.kind, Kind::Phase(_)).then_some([(), ()]))
        })?;
        Ok(leaves)
    }

    #[test]
    fn only_whole_trees_are_walked_through() {
        let (phase, open) = (|n| Node::phase(n), Node::open);
        assert_eq!(leaves(vec![phase(1), open(), phase(2), Node::closed(vec![]), open()]), Ok(2));
        assert_eq!(leaves(vec![open()]), Ok(1));
        assert!(leaves(vec![]).unwrap_err().contains("lacks nodes"));
        assert!(leaves(vec![phase(1), open()]).unwrap_err().contains("lacks nodes"));
        assert!(leaves(vec![open(), open()]).unwrap_err().contains("more nodes"));
        assert!(leaves(vec![Node::of(Kind::Cut { input: 0, at: 0 }), open(), open()]).is_err(), "of another kind");
    }

    #[test]
    fn cuts_meet_inside_of_the_cell() {
        let cell = Cell { lower: vec![0.0], upper: vec![1.0], depth: 0, open: vec![0, 2] };
        let [below, above] = cell.halves(0, 0.25).unwrap();
        assert_eq!((below.upper[0], above.lower[0], above.depth), (0.25, 0.25, 1));
        for at in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(cell.halves(0, at).is_err(), "{at}");
        }
        assert!(cell.halves(1, 0.5).is_err());
        assert_eq!(cell.clone().less(&[2]).unwrap().open, [0]);
        assert!(cell.less(&[1]).is_err());
    }
}
