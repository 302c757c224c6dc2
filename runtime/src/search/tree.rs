//! A search tree whose every leaf is closed.

/// Evidence that a property holds: made only by a search that closed every leaf with a rigorous bound.
#[derive(Debug)]
pub struct ClosedTree {
    leaves: u64,
}

impl ClosedTree {
    pub fn leaves(&self) -> u64 {
        self.leaves
    }
}
