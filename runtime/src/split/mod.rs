//! One question for many machines: the files of a folder by which parts of a search know each other, and what merging them takes.
//!
//! | file | holds |
//! |---|---|
//! | `root` | the bounds that the root's work has left, and trees whose open leaves are what is left to do |
//! | `root.proof` | the root's records of a certificate |
//! | `3` | the numbers of the leaves that part 3 is to close |
//! | `3.result`, `3.proof` | what came of it, and the sub-trees of its leaves |
//! | `3.split`, `3.1`, … | trees in the place of part 3's leaves, and their parts |
//!
//! All that a verdict rests on is in the trees and bounds of `root` and the `split` files: boxes and phases of a leaf follow from the
//! way to it. What a part holds besides only guides. Every file names the digest of the one that it belongs to, up to the root,
//! which names the model and the property.

pub mod answer;
pub mod deal;
pub mod files;
pub mod gather;
pub mod merge;
pub(crate) mod sealed;
mod tree;
pub mod work;

pub use files::{About, Folder, Leaf, Of, OpenGoal, OpenRegion, Part, Place, Root, Split, Start};
pub use tree::{Cell, Kind, Node, Tree};
