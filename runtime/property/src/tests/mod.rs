//! Tests of the module as a whole; tests of one file stand in that file.

mod decimals;
mod faults;
mod hostile;
mod meaning;
mod vnnlib;
