//! The messages for faulty files: place and wording.

use crate::Property;

/// Texts with the start of the message that each must give, and a part of the rest.
const FAULTS: &[(&str, &str, &str)] = &[
    ("", "1:1: the property declares no input", "(declare-const X_0 Real)"),
    ("(declare-const X_0 Real)", "1:25: the property declares no output", "Y_0"),
    ("(declare-const X_0 Real)\n(declare-const X_0 Real)", "2:16: X_0 is declared twice", "remove"),
    ("(declare-const X_0 Real)(declare-const X_2 Real)", "1:40: X_2 is declared, but X_1 is not", "gap"),
    ("(declare-const X_0 Int)", "1:20: the type `Int` is not supported", "Real"),
    ("(declare-const Z Real)", "1:16: `Z` is neither an input nor an output", "X_0"),
    ("(declare-const X_01 Real)", "1:16: `X_01` is neither", "X_0"),
    ("(declare-fun X_0 (Real) Real)", "1:19: `()`, since", "not `Real`"),
    ("(define-fun f () Real 1)", "1:2: the command `define-fun` is not known", "assert"),
    ("(assert (<= X_3 1))", "1:13: the variable `X_3` is not declared", "(declare-const X_3 Real)"),
    ("(assert (<= foo 1))", "1:13: the variable `foo` is not declared", "Y_0"),
    ("(assert (<= 1 1.2.3))", "1:15: `1.2.3` is not a decimal number", "1.5e-3"),
    ("(assert (<= 1 1e999))", "1:15: `1e999` has an exponent outside", "write it"),
    ("(assert (=> (<= 0 1) (<= 0 1)))", "1:10: the operator `=>` is not known", "and, or"),
    ("(assert (<= 0 1 2))", "1:17: `<=` takes 2 operands", "chains"),
    ("(assert (<= 0))", "1:10: `<=` takes at least 2 operands", "add"),
    ("(assert (and))", "1:10: `and` takes at least 1 operand;", "add"),
    ("(assert (not (<= 0 1) (<= 0 1)))", "1:24: `not` takes 1 operand,", "check"),
    ("(assert (and (+ 0 1)))", "1:15: `and` takes conditions", "`+` begins a term"),
    ("(assert (+ (<= 0 1) 2))", "1:13: `+` takes numbers", "`<=` begins a condition"),
    ("(assert (+ 0 1))", "1:9: this is a term, not a condition", "compare"),
    ("(assert 1)", "1:9: a condition such as (<= X_0 1) was expected here, not `1`", ""),
    ("(assert ((<= 0 1)))", "1:10: an operator such as", "not `(`"),
    ("(assert (<= 0 1) (<= 0 1))", "1:18: `)` after the one condition", ""),
    ("(assert (<= 0 1)", "1:17: `)` after the one condition", "the end of the file"),
    ("(assert (and\n (<= 0 1)", "1:9: this parenthesis is never closed", "`)`"),
    ("(set-logic (QF_LRA)", "1:1: this parenthesis is never closed", "`)`"),
    ("(check-sat))", "1:12: this closing parenthesis has no opening one", ""),
    ("(check-sat) garbage", "1:13: `garbage` stands outside of any command", "comment"),
    ("(assert (<= X[0] 1))", "1:13: the variable `X` is not declared", "X_0"),
    ("(assert (<= [0] 1))", "1:13: `[` does not belong here", "2.0"),
    ("(echo \"never closed)", "1:7: this string is never closed", "quote"),
    ("(declare-const X_0 Real)(assert (<= (* X_0 X_0 X_0) 1))", "1:37: this product has three", "convex"),
    ("(declare-const X_0 Real)(assert (>= (* X_0 X_0) 1))", "1:33: this quadratic constraint", "convex"),
    ("(declare-const X_0 Real)(assert (= (* X_0 X_0) 1))", "1:33: this quadratic constraint", "convex"),
    ("(declare-const X_0 Real)(declare-const Y_0 Real)", ": the input X_0 has no lower bound", "(>= X_0"),
    (
        "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (or (= X_0 0) (>= X_0 0)))",
        ": the input X_0 has no upper bound in some case",
        "(<= X_0",
    ),
    ("(vnnlib-version <3.0>)", "1:17: VNN-LIB of version `<3.0>` is not supported", "<2.0>"),
    ("(vnnlib-version <2.0>)", "1:23: no network is declared", "declare-network"),
    ("(vnnlib-version <2.0>)(assert (<= 0 1))", "1:24: no network is declared", ""),
    ("(vnnlib-version <2.0>)(declare-const X_0 Real)", "1:24: the command `declare-const`", ""),
];

/// Declarations inside `(declare-network N …)` and what follows it, at the same places.
const NETWORK_FAULTS: &[(&str, &str, &str)] = &[
    ("(declare-hidden H real [1] \"h\"))", "2:2: `declare-hidden`: hidden tensors", "inputs and outputs"),
    ("(isomorphic-to M))", "2:2: `isomorphic-to`: relations between networks", "one network"),
    ("(declare-input X int8 [1]))", "2:18: the element type `int8`", "float32"),
    ("(declare-input X real [0]))", "2:24: a dimension is zero", "size"),
    ("(declare-input X real [1 2]))", "2:26: `2` does not belong here", ""),
    ("(declare-input X real [-1]))", "2:24: `-1` is not a whole number", ""),
    ("(declare-input X real [9999999,9999]))", "2:23: the tensor has more than", ""),
    ("(declare-input X real [1] initialized))", "2:27: `initialized` does not belong", ""),
    ("(declare-input X real [1]) (declare-input X real [1]))", "2:29: two tensors have the name `X`", "rename"),
    ("(declare-input X real [1]))", "1:1: the network lacks an input or an output", ""),
    ("(declare-input X real [1]) (declare-output X real [1]))", "2:29: two tensors have the name `X`", ""),
    ("(declare-input X real [1])", "1:1: this parenthesis is never closed", ""),
    (
        "(declare-input X real [1,2]) (declare-output Y real [1]))\n(assert (<= X[0,2] 1))",
        "3:17: the index `2` is out of range",
        "0 to 1",
    ),
    (
        "(declare-input X real [1,2]) (declare-output Y real [1]))\n(assert (<= X[1] 1))",
        "3:14: X has 2 dimensions, not 1",
        "write X[0,0]",
    ),
    (
        "(declare-input X real [1,2]) (declare-output Y real []))\n(assert (<= Z 1))",
        "3:13: the variable `Z` is not declared",
        "X[0,0] and Y",
    ),
    (
        "(declare-input X real [1,2]) (declare-output Y real []))\n(declare-network M)",
        "3:2: a second network is declared",
        "one network",
    ),
    (
        "(declare-input X real [1,2]) (declare-output Y real []))\n(assert (= X[0,0] 1))",
        ": the input X[0,1] has no lower bound",
        "X[0,1]",
    ),
];

fn check(text: &str, start: &str, rest: &str) {
    let message = Property::parse(text, "p").expect_err(text).to_string();
    let start = if start.starts_with(':') { format!("p{start}") } else { format!("p:{start}") };
    assert!(message.starts_with(&start) && message.contains(rest), "{text}\n{message}");
}

#[test]
fn every_fault_is_placed_and_explained() {
    for (text, start, rest) in FAULTS {
        check(text, start, rest);
    }
    for (text, start, rest) in NETWORK_FAULTS {
        check(&format!("(declare-network N\n{text}"), start, rest);
    }
}
