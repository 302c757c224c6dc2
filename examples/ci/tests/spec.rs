//! The specification: what is proved of the network, or this fails with a counterexample.

use cart_pole::{Network, force};
use pg_runtime::options::{Options, Semantics};
use pg_runtime::testing::{assert_holds, assert_holds_with};

#[test]
fn no_state_asks_for_more_force_than_the_motor_has() {
    assert_holds(&Network, "spec/limits.vnnlib");
}

/// Of the float32 program that is deployed, and within ten seconds.
#[test]
fn a_pole_that_leans_is_pushed_back() {
    let options = Options { timeout: Some(10.0), semantics: Some(Semantics::Float32), ..Options::default() };
    assert_holds_with(&Network, "spec/leaning.vnnlib", options);
}

#[test]
fn units_are_newtons() {
    let leaning = force([0.4, 0.5, 0.4, 0.25]);
    assert!((5.0..=11.25).contains(&leaning), "{leaning}");
}
