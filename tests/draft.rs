//! Random tiny ONNX models: convolutions, pools, piecewise linear operators and joins of branches, to one output.
//!
//! Every weight is a small multiple of 1/8 and every window that is averaged has 1, 2 or 4 entries, so that no pass of the
//! compiler rounds.

use crate::Random;
use crate::model::*;
use pg_codegen::read::onnx::proto::{AttributeProto, NodeProto, TensorProto};

/// Planes have at most so many entries together: the oracle pays for each ReLU.
const MOST_ENTRIES: i64 = 12;
/// How often a window is drawn until one fits.
const TRIES: usize = 4;

/// Channels, height and width.
type Planes = [i64; 3];

/// A model of which the last value may still be read.
struct Draft<'a> {
    random: &'a mut Random,
    nodes: Vec<NodeProto>,
    constants: Vec<TensorProto>,
    /// All values of planes, the input first.
    values: Vec<(String, Planes)>,
}

/// A model of an input with at most four entries and one to three steps.
pub fn draft(random: &mut Random) -> ModelProto {
    let input = random.pick(&[[1, 2, 2], [1, 1, 3], [1, 1, 4], [1, 3, 1], [1, 4, 1], [2, 1, 2], [2, 2, 1]]);
    let mut draft = Draft { random, nodes: vec![], constants: vec![], values: vec![("x".into(), input)] };
    // Most begin with a convolution whose window is more than a place: others have little left to slide over.
    if draft.random.below(4) > 0 {
        draft.conv();
        draft.piecewise("Relu");
    }
    for _ in 0..1 + draft.random.below(2) {
        draft.step();
    }
    let (last, planes) = draft.last();
    draft.nodes.push(node("Flatten", &[&last], "flat"));
    let (weight, bias) = (draft.constant(&[planes.iter().product(), 1]), draft.constant(&[1]));
    draft.nodes.push(node("Gemm", &["flat", &weight, &bias], "y"));
    let [channels, height, width] = input;
    model(13, value("x", &[1, channels, height, width]), draft.constants, draft.nodes)
}

impl Draft<'_> {
    fn last(&self) -> (String, Planes) {
        self.values.last().expect("the input").clone()
    }

    fn coin(&mut self) -> bool {
        self.random.below(2) == 0
    }

    /// A multiple of 1/8 in [−1, 1].
    fn eighths(&mut self) -> f32 {
        self.random.below(17) as f32 / 8.0 - 1.0
    }

    /// A new constant, by its name.
    fn constant(&mut self, dims: &[i64]) -> String {
        let data: Vec<f32> = (0..dims.iter().product()).map(|_| self.eighths()).collect();
        self.given(dims, &data)
    }

    fn given(&mut self, dims: &[i64], data: &[f32]) -> String {
        let name = format!("c{}", self.constants.len());
        self.constants.push(floats(&name, dims, data));
        name
    }

    fn push(&mut self, op: &str, inputs: &[&str], attributes: Vec<AttributeProto>, planes: Planes) {
        let name = format!("v{}", self.values.len());
        self.nodes.push(with(op, inputs, &name, attributes));
        self.values.push((name, planes));
    }

    fn step(&mut self) {
        match self.random.below(9) {
            0..=2 => {
                self.conv();
                if self.coin() {
                    self.piecewise("Relu");
                }
            }
            3 => self.pool("MaxPool"),
            4 => self.pool("AveragePool"),
            5 => {
                let op = self.random.pick(&["Relu", "LeakyRelu", "Abs", "Clip"]);
                self.piecewise(op);
            }
            6 => self.join("Max"),
            7 => self.join("Add"),
            _ => self.join("Concat"),
        }
    }

    /// A window, and the planes that come out of it; `None` if it does not fit, or makes too much. Padding is less than the
    /// kernel, so that no window is empty.
    fn window(&mut self, [_, height, width]: Planes, channels: i64) -> Option<(Vec<i64>, Vec<AttributeProto>, Planes)> {
        let kernel = self.random.pick(&[[1, 2], [2, 1], [2, 2]]);
        let strides = [0; 2].map(|_| self.random.pick(&[1, 1, 2]));
        let mut pad = |axis: usize| self.random.below(kernel[axis] as usize) as i64;
        let pads = [pad(0), pad(1), pad(0), pad(1)];
        let along =
            |axis: usize, size: i64| (size + pads[axis] + pads[axis + 2] - kernel[axis]).div_euclid(strides[axis]);
        let planes = [channels, 1 + along(0, height), 1 + along(1, width)];
        let fits = planes.iter().all(|&size| size > 0) && planes.iter().product::<i64>() <= MOST_ENTRIES;
        let attributes = vec![ints("kernel_shape", &kernel), ints("strides", &strides), ints("pads", &pads)];
        fits.then_some((kernel.to_vec(), attributes, planes))
    }

    fn conv(&mut self) {
        let (from, planes) = self.last();
        let outputs = 1 + self.random.below(2) as i64;
        let window = (0..TRIES).find_map(|_| self.window(planes, outputs));
        let Some((kernel, mut attributes, out)) = window else { return };
        let groups = if planes[0] == outputs && self.coin() { outputs } else { 1 };
        attributes.push(int("group", groups));
        let (weight, bias) =
            (self.constant(&[&[outputs, planes[0] / groups], &kernel[..]].concat()), self.constant(&[outputs]));
        self.push("Conv", &[&from, &weight, &bias], attributes, out);
    }

    fn pool(&mut self, op: &str) {
        let (from, planes) = self.last();
        let window = (0..TRIES).find_map(|_| self.window(planes, planes[0]));
        let Some((_, mut attributes, out)) = window else { return };
        if op == "AveragePool" {
            attributes.push(int("count_include_pad", self.random.below(2) as i64));
        }
        self.push(op, &[&from], attributes, out);
    }

    fn piecewise(&mut self, op: &str) {
        let (from, planes) = self.last();
        match op {
            "LeakyRelu" => self.push(op, &[&from], vec![float("alpha", 0.125)], planes),
            "Clip" => {
                let (low, high) = (self.given(&[], &[-0.25]), self.given(&[], &[0.5]));
                self.push(op, &[&from, &low, &high], vec![], planes);
            }
            _ => self.push(op, &[&from], vec![], planes),
        }
    }

    /// Joins the last value with an earlier one, as it is or by a convolution at each place.
    fn join(&mut self, op: &str) {
        let (last, planes) = self.last();
        let fits = |of: &Planes| of[1..] == planes[1..] && (of[0] == planes[0] || op == "Concat");
        let mut earlier = self.values.clone();
        earlier.retain(|(_, of)| fits(of));
        let (mut other, mut of) = self.random.pick(&earlier);
        if other == last || self.coin() {
            let weight = self.constant(&[planes[0], of[0], 1, 1]);
            self.push("Conv", &[&other, &weight], vec![], planes);
            (other, of) = self.last();
        }
        match op {
            "Concat" => {
                self.push(op, &[&last, &other], vec![int("axis", 1)], [planes[0] + of[0], planes[1], planes[2]])
            }
            _ => self.push(op, &[&last, &other], vec![], planes),
        }
    }
}
