//! What only guides a search: points to try, steps to take, neurons to split. Nothing here needs to be sound: points are
//! replayed, and any multipliers give a valid bound.

pub mod ascent;
pub mod attack;
pub mod body;
pub mod branch;
pub mod cuts;
pub mod descend;
mod pseudo_costs;
pub mod random;
pub mod sample;
pub mod smear;
pub mod steps;
pub mod trend;
mod walk;
mod weights;
