//! Evidence that a property holds.

/// A search tree whose every leaf was closed by a rigorous bound, for every disjunct of a property. Only the search makes
/// one, at its end.
#[derive(Debug)]
pub struct ClosedTree {
    leaves: u64,
}

impl ClosedTree {
    pub(super) fn new(leaves: u64) -> ClosedTree {
        ClosedTree { leaves }
    }

    pub fn leaves(&self) -> u64 {
        self.leaves
    }
}
