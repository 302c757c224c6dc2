//! The errors that layers state, against exact arithmetic: random models are folded here in rationals, from what ONNX says
//! of their operators, and every coefficient of the real layers lies within the stated error of the stored ones.

use num_rational::BigRational;
use num_traits::Zero;
use pg_codegen::net::Net;
use pg_codegen::read::onnx::proto::{DataType, ModelProto, NodeProto, TensorProto};
use pg_tests::Random;
use pg_tests::model::{compile, doubles, float, floats, int, model, node, typed_value, with};
use pg_tests::real::Real;
use proptest::collection::vec;
use proptest::prelude::*;

/// Operators between ReLUs, by what they do to a row of values.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// To this many values.
    MatMul(usize),
    Gemm(usize),
    /// By a matrix that is itself the result of an operator on constants.
    FoldedMatMul(usize, &'static str),
    Add,
    Sub,
    SubFrom,
    Mul,
    Div,
    BatchNormalization,
    Relu,
}

fn step() -> impl Strategy<Value = Step> {
    let constant = prop::sample::select(vec!["Add", "Sub", "Mul", "Div"]);
    prop_oneof![
        2 => (1usize..5).prop_map(Step::MatMul),
        2 => (1usize..5).prop_map(Step::Gemm),
        1 => (1usize..5, constant).prop_map(|(width, op)| Step::FoldedMatMul(width, op)),
        4 => prop::sample::select(vec![Step::Add, Step::Sub, Step::SubFrom, Step::Mul, Step::Div]),
        2 => Just(Step::BatchNormalization),
        2 => Just(Step::Relu),
    ]
}

/// What the constants of a model look like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Constants {
    Double,
    Float,
    /// Small dyadic floats, with which no operator rounds.
    Dyadic,
}

/// One value as an affine form of the layer's inputs: coefficients and constant.
#[derive(Clone)]
struct Form {
    weight: Vec<Real>,
    bias: Real,
}

impl Form {
    fn sum<'a>(width: usize, terms: impl Iterator<Item = (Real, &'a Form)>) -> Form {
        let zero = Form { weight: vec![Real::zero(); width], bias: Real::zero() };
        terms.fold(zero, |sum, (factor, form)| Form {
            weight: sum.weight.iter().zip(&form.weight).map(|(s, w)| s + &(&factor * w)).collect(),
            bias: &sum.bias + &(&factor * &form.bias),
        })
    }

    fn scaled(&self, factor: &Real) -> Form {
        Form { weight: self.weight.iter().map(|w| w * factor).collect(), bias: &self.bias * factor }
    }

    fn shifted(&self, by: &Real) -> Form {
        Form { weight: self.weight.clone(), bias: &self.bias + by }
    }
}

fn identity(width: usize) -> Vec<Form> {
    let unit = |i: usize| (0..width).map(|j| if i == j { Real::one() } else { Real::zero() }).collect();
    (0..width).map(|i| Form { weight: unit(i), bias: Real::zero() }).collect()
}

/// A model in the making and, beside it, its layers in exact arithmetic.
struct Made {
    constants: Constants,
    random: Random,
    nodes: Vec<NodeProto>,
    tensors: Vec<TensorProto>,
    /// The layers before the last ReLU.
    layers: Vec<Vec<Form>>,
    /// The values at hand, and how many inputs their layer has.
    forms: Vec<Form>,
    width: usize,
}

impl Made {
    fn new(inputs: usize, constants: Constants, seed: u64) -> Made {
        let random = Random::new(seed);
        let forms = identity(inputs);
        Made { constants, random, nodes: vec![], tensors: vec![], layers: vec![], forms, width: inputs }
    }

    /// Not 0, so that no neuron is dropped.
    fn number(&mut self) -> f64 {
        let bits = self.random.bits();
        let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
        let unit = (self.random.bits() >> 11) as f64 / (1u64 << 53) as f64 + 1e-3;
        let scale = if bits & 0x70 == 0 { 2f64.powi((bits >> 8) as i32 % 40 - 20) } else { 1.0 };
        match self.constants {
            Constants::Double => sign * unit * scale,
            Constants::Float => sign * f64::from((unit * scale) as f32),
            Constants::Dyadic => sign * [0.5, 1.0, 2.0, 0.25][(bits >> 8) as usize % 4],
        }
    }

    fn positive(&mut self) -> f64 {
        self.number().abs()
    }

    /// A fresh constant of the graph with the given entries.
    fn constant(&mut self, dims: &[usize], data: &[f64]) -> String {
        let name = format!("c{}", self.tensors.len());
        let dims: Vec<i64> = dims.iter().map(|&d| d as i64).collect();
        self.tensors.push(match self.constants {
            Constants::Double => doubles(&name, &dims, data),
            _ => floats(&name, &dims, &data.iter().map(|&v| v as f32).collect::<Vec<_>>()),
        });
        name
    }

    fn numbers(&mut self, dims: &[usize]) -> (String, Vec<Real>) {
        let data: Vec<f64> = (0..dims.iter().product()).map(|_| self.number()).collect();
        (self.constant(dims, &data), data.into_iter().map(Real::from).collect())
    }

    fn value(&self) -> String {
        self.nodes.last().map_or("x".into(), |node| node.output[0].clone())
    }

    fn next(&self) -> String {
        format!("v{}", self.nodes.len())
    }

    fn apply(&mut self, op: &str, inputs: &[&str]) {
        self.nodes.push(node(op, inputs, &self.next()));
    }

    /// The values times a matrix of `columns` columns, given row by row.
    fn multiply(&mut self, matrix: &[Real], columns: usize) {
        let column = |j: usize| matrix.iter().skip(j).step_by(columns).cloned();
        self.forms = (0..columns).map(|j| Form::sum(self.width, column(j).zip(&self.forms))).collect();
    }

    fn step(&mut self, step: Step) {
        let (value, rows) = (self.value(), self.forms.len());
        match step {
            Step::MatMul(columns) => {
                let (name, matrix) = self.numbers(&[rows, columns]);
                self.apply("MatMul", &[&value, &name]);
                self.multiply(&matrix, columns);
            }
            Step::FoldedMatMul(columns, op) => {
                let ((a, left), (b, right)) = (self.numbers(&[rows, columns]), self.numbers(&[rows, columns]));
                let matrix: Vec<Real> = left.iter().zip(&right).map(|(a, b)| binary(op, a, b)).collect();
                let folded = format!("folded{}", self.nodes.len());
                self.nodes.push(node(op, &[&a, &b], &folded));
                self.apply("MatMul", &[&value, &folded]);
                self.multiply(&matrix, columns);
            }
            Step::Gemm(columns) => self.gemm(columns),
            Step::BatchNormalization => self.batch_normalization(),
            Step::Relu => {
                if matches!(self.nodes.last(), Some(node) if node.op_type == "Relu") {
                    return;
                }
                self.apply("Relu", &[&value]);
                self.width = rows;
                self.layers.push(std::mem::replace(&mut self.forms, identity(rows)));
            }
            elementwise => self.elementwise(elementwise),
        }
    }

    /// With a vector, or a scalar that is broadcast.
    fn elementwise(&mut self, step: Step) {
        let value = self.value();
        let width = if self.random.below(2) == 0 { 1 } else { self.forms.len() };
        let (name, numbers) = self.numbers(&[width]);
        match step {
            Step::SubFrom => self.apply("Sub", &[&name, &value]),
            _ => self.apply(&format!("{step:?}"), &[&value, &name]),
        }
        let minus_one = &Real::zero() - &Real::one();
        for (form, c) in self.forms.iter_mut().zip(numbers.iter().cycle()) {
            *form = match step {
                Step::Add => form.shifted(c),
                Step::Sub => form.shifted(&(c * &minus_one)),
                Step::SubFrom => form.scaled(&minus_one).shifted(c),
                Step::Mul => form.scaled(c),
                Step::Div => form.scaled(&(&Real::one() / c)),
                _ => unreachable!("not elementwise"),
            };
        }
    }

    /// `alpha·x·Bᵀ + beta·c`, sometimes without the transposition, sometimes without c.
    fn gemm(&mut self, columns: usize) {
        let (value, rows) = (self.value(), self.forms.len());
        let (alpha, beta) = (self.number() as f32, self.number() as f32);
        let transposed = self.random.below(2) == 0;
        let (b, mut matrix) = self.numbers(&if transposed { [columns, rows] } else { [rows, columns] });
        if transposed {
            matrix = (0..rows * columns).map(|i| matrix[i % columns * rows + i / columns].clone()).collect();
        }
        let alpha_real = Real::from(f64::from(alpha));
        self.multiply(&matrix.iter().map(|v| v * &alpha_real).collect::<Vec<_>>(), columns);
        let mut inputs = vec![value, b];
        if self.random.below(4) != 0 {
            let (c, shift) = self.numbers(&[columns]);
            inputs.push(c);
            let beta = Real::from(f64::from(beta));
            self.forms.iter_mut().zip(&shift).for_each(|(form, c)| *form = form.shifted(&(c * &beta)));
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let attributes = vec![float("alpha", alpha), float("beta", beta), int("transB", transposed.into())];
        self.nodes.push(with("Gemm", &inputs, &self.next(), attributes));
    }

    /// `scale·(x − mean)/√(variance + ε) + bias`; with dyadic constants the root is rational.
    fn batch_normalization(&mut self) {
        let (value, width) = (self.value(), self.forms.len());
        let dyadic = self.constants == Constants::Dyadic;
        let epsilon = if dyadic { 0.0 } else { self.positive() as f32 * 1e-3 };
        let variance: Vec<f64> = (0..width).map(|_| if dyadic { 0.25 } else { self.positive() }).collect();
        let ((a, scale), (b, bias), (c, mean)) =
            (self.numbers(&[width]), self.numbers(&[width]), self.numbers(&[width]));
        let d = self.constant(&[width], &variance);
        let inputs = [value.as_str(), &a, &b, &c, &d];
        self.nodes.push(with("BatchNormalization", &inputs, &self.next(), vec![float("epsilon", epsilon)]));
        for (i, form) in self.forms.iter_mut().enumerate() {
            let root = (&Real::from(variance[i]) + &Real::from(f64::from(epsilon))).sqrt();
            let centred = form.shifted(&(&Real::zero() - &mean[i]));
            *form = centred.scaled(&(&scale[i] / &root)).shifted(&bias[i]);
        }
    }

    fn finish(mut self, opset: i64, inputs: usize) -> (ModelProto, Vec<Vec<Form>>) {
        self.layers.push(self.forms);
        let element = if self.constants == Constants::Double { DataType::Double } else { DataType::Float };
        let input = typed_value("x", &[1, inputs as i64], element);
        (model(opset, input, self.tensors, self.nodes), self.layers)
    }
}

fn binary(op: &str, a: &Real, b: &Real) -> Real {
    match op {
        "Add" => a + b,
        "Sub" => a - b,
        "Mul" => a * b,
        _ => a / b,
    }
}

fn make(inputs: usize, constants: Constants, seed: u64, steps: &[Step]) -> (Net, Vec<Vec<Form>>) {
    let mut made = Made::new(inputs, constants, seed);
    made.step(Step::MatMul(3));
    steps.iter().for_each(|&step| made.step(step));
    let opset = [9, 13, 15, 21][seed as usize % 4];
    let (model, layers) = made.finish(opset, inputs);
    (compile(&model).expect("a model"), layers)
}

/// Whether a ReLU is dropped, or folding has a column of zeros, whose neuron is.
fn drops(net: &Net, layers: &[Vec<Form>]) -> bool {
    let drops_a_relu = net.notes.iter().any(|note| note.contains("never negative"));
    drops_a_relu
        || layers
            .iter()
            .any(|layer| (0..layer[0].weight.len()).any(|j| layer.iter().all(|form| form.weight[j].is_zero())))
}

fn check(net: &Net, layers: &[Vec<Form>]) -> Result<(), TestCaseError> {
    prop_assert_eq!(net.stages.len(), layers.len());
    for (k, (stage, forms)) in net.stages.iter().zip(layers).enumerate() {
        let weight = stage.edges[0].map.dense();
        prop_assert_eq!((stage.edges.len(), weight.dim()), (1, (forms.len(), forms[0].weight.len())));
        for (i, form) in forms.iter().enumerate() {
            for (j, real) in form.weight.iter().enumerate() {
                let (stored, error) =
                    (f64::from(weight[[i, j]]), if weight[[i, j]] == 0.0 { 0.0 } else { stage.error.weight[i] });
                prop_assert!(real.is_within(error, stored), "layer {k}, weight {i}, {j}: {stored:e} ± {error:e}");
            }
            let (stored, error) = (f64::from(stage.bias[i]), stage.error.bias[i]);
            prop_assert!(form.bias.is_within(error, stored), "layer {k}, bias {i}: {stored:e} ± {error:e}");
        }
    }
    Ok(())
}

/// Rounding to float32 takes half a unit of the largest coefficient; folding in f64 must not add much to that.
fn is_tight(net: &Net, layers: &[Vec<Form>]) -> bool {
    let size = |real: &Real| real.high.clone().max(-real.low.clone());
    net.stages.iter().zip(layers).all(|(stage, forms)| {
        let all = forms.iter().flat_map(|form| form.weight.iter().chain([&form.bias]));
        let largest = all.map(size).fold(BigRational::zero(), BigRational::max);
        let (weight, bias) = stage.error.largest();
        Real::from(weight.max(bias)).high <= largest * Real::from(1e-7).high
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stored_layers_are_within_their_error(
        inputs in 1usize..4,
        constants in prop::sample::select(vec![Constants::Double, Constants::Float]),
        seed: u64,
        steps in vec(step(), 0..9),
    ) {
        let (net, layers) = make(inputs, constants, seed, &steps);
        if !drops(&net, &layers) {
            check(&net, &layers)?;
            prop_assert!(is_tight(&net, &layers), "{net}");
        }
    }

    /// Without rounding there is no error to state.
    #[test]
    fn exact_folding_states_no_error(inputs in 1usize..4, seed: u64, steps in vec(step(), 0..5)) {
        let exact = |step: &Step| !matches!(step, Step::FoldedMatMul(..));
        let steps: Vec<Step> = steps.into_iter().filter(exact).collect();
        let (net, layers) = make(inputs, Constants::Dyadic, seed, &steps);
        if !drops(&net, &layers) {
            check(&net, &layers)?;
            prop_assert!(net.stages.iter().all(|stage| stage.error.is_zero()), "{net}");
        }
    }
}
