//! What a verdict rests on: regions with their bounds and goals, trees whose every leaf is closed with a reason, and the ways
//! to close one. Nothing here trusts a guess: points, multipliers and directions come from [`super::guide`] and are judged.

pub mod claim;
pub mod contract;
pub mod exact;
pub mod forms;
pub mod parts;
pub mod planes;
mod raised;
mod reason;
pub mod record;
mod region;
pub mod sweep;
mod tree;
mod tree_log;

pub use raised::RaisedGoal;
pub use reason::{ClosedBy, Lemma, Positive, Reason};
pub use region::{Goal, LeafOf, Region};
pub use tree::{Proof, Proved, Settled, Ticket, Tree};
pub use tree_log::{Begins, Split, TreeLog};
