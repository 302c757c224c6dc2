//! Questions about tiny networks, with the oracle's answers.

pub mod border;
pub mod vnnlib;

use crate::model::{ModelProto, compile, floats, int, model, node, value, with};
use crate::oracle::{Layer, Linear, Region, Row, eval_exact, exact, satisfying_input};
use num_rational::BigRational;
use pg_codegen::interpret::Interpreter;
use pg_property::Decimal;
use pg_runtime::property::Property;

/// Whether some disjunct holds at some input of the network.
pub struct Case {
    pub net: Vec<Layer>,
    pub disjuncts: Vec<Conjunction>,
    /// The oracle's answer.
    pub satisfiable: bool,
}

/// The inputs of the region at which all rows hold.
#[derive(Clone, Debug)]
pub struct Conjunction {
    pub region: Region,
    pub rows: Vec<Row>,
}

pub const CLEARANCE: f64 = 1e-6;

impl Conjunction {
    fn is_satisfiable(&self, net: &[Layer]) -> bool {
        satisfying_input(net, &self.region, &self.rows).is_some()
    }

    pub fn holds(&self, x: &[BigRational], y: &[BigRational]) -> bool {
        self.region.contains(x) && self.rows.iter().all(|row| row.holds(x, y))
    }

    /// With every bound further out, or further in if `by` is negative.
    fn moved(&self, by: &BigRational) -> Conjunction {
        let moved = |form: &Linear| Linear { constant: &form.constant - by, ..form.clone() };
        let region = Region {
            lower: self.region.lower.iter().map(|lower| lower - by).collect(),
            upper: self.region.upper.iter().map(|upper| upper + by).collect(),
            rows: self.region.rows.iter().map(moved).collect(),
        };
        let rows = self.rows.iter().map(|row| Row { form: moved(&row.form), strict: row.strict }).collect();
        Conjunction { region, rows }
    }
}

impl Case {
    pub fn new(net: Vec<Layer>, disjuncts: Vec<Conjunction>) -> Case {
        let satisfiable = disjuncts.iter().any(|d| d.is_satisfiable(&net));
        Case { net, disjuncts, satisfiable }
    }

    /// Whether the answer stays the same when every bound moves by [`CLEARANCE`], so that there is room for a float32
    /// witness.
    pub fn is_clear(&self) -> bool {
        let clearance = BigRational::from_float(CLEARANCE).expect("a number");
        let by = if self.satisfiable { -clearance } else { clearance };
        self.disjuncts.iter().any(|d| d.moved(&by).is_satisfiable(&self.net)) == self.satisfiable
    }

    /// The network, or why the compiler refuses it.
    pub fn network(&self) -> Result<Interpreter, String> {
        interpreter(&self.net)
    }

    /// The property, or why the reader of VNN-LIB refuses it.
    pub fn property(&self) -> Result<Property, String> {
        Property::parse(&vnnlib::text(self), "a case").map_err(|error| error.to_string())
    }

    /// Whether the input satisfies the property in exact arithmetic.
    pub fn holds_at(&self, x: &[f32]) -> bool {
        self.holds_with_room_at(x, 0.0)
    }

    /// The same of an input that need not be of floats.
    pub fn holds_exactly_at(&self, x: &[Decimal]) -> bool {
        let x: Vec<_> = x.iter().map(Decimal::to_rational).collect();
        let y = eval_exact(&self.net, &x);
        self.disjuncts.iter().any(|d| d.holds(&x, &y))
    }

    /// Whether it still does when every bound is moved in.
    pub fn holds_with_room_at(&self, x: &[f32], room: f64) -> bool {
        let x: Vec<_> = x.iter().map(|&v| exact(v)).collect();
        let (y, by) = (eval_exact(&self.net, &x), BigRational::from_float(-room).expect("a number"));
        self.disjuncts.iter().any(|d| d.moved(&by).holds(&x, &y))
    }
}

/// The network by way of an ONNX model, or why the compiler refuses it.
pub fn interpreter(net: &[Layer]) -> Result<Interpreter, String> {
    let compiled = compile(&onnx(net)).map_err(|error| error.to_string())?;
    assert!(compiled.stages.iter().all(|stage| stage.error.is_zero()), "nothing is rounded");
    Ok(Interpreter::new(compiled))
}

/// The network as an ONNX model.
pub fn onnx(net: &[Layer]) -> ModelProto {
    let (mut tensors, mut nodes, mut last) = (vec![], vec![], "x".to_string());
    for (k, layer) in net.iter().enumerate() {
        let (rows, cols) = (layer.weights.len() as i64, layer.weights[0].len() as i64);
        let [w, b, z] = ["w", "b", "z"].map(|letter| format!("{letter}{k}"));
        tensors.push(floats(&w, &[rows, cols], &layer.weights.concat()));
        tensors.push(floats(&b, &[rows], &layer.bias));
        nodes.push(with("Gemm", &[&last, &w, &b], &z, vec![int("transB", 1)]));
        last = z;
        if k + 1 < net.len() {
            nodes.push(node("Relu", &[&last], &format!("h{k}")));
            last = format!("h{k}");
        }
    }
    let inputs = net[0].weights[0].len() as i64;
    model(13, value("x", &[1, inputs]), tensors, nodes)
}

/// Whether the compiler refuses the network because its outputs do not depend on its input.
pub fn ignores_its_input(net: &[Layer]) -> bool {
    interpreter(net).is_err_and(|error| error.contains("does not depend on the input"))
}
