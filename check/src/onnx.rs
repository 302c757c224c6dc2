//! From the bytes of an ONNX model to a network of affine stages with ReLUs between them.
//!
//! The nodes are run in the order of the file on symbolic tensors, whose elements are affine forms of the variables; a
//! Relu ends a stage and its outputs are new variables. So the rows of a stage say of the real-valued network exactly
//! what the model says, whatever operators the model spends on it. Descriptions, and the shapes that a model claims for
//! its intermediate values, are not read.

use crate::{Dyadic, Message, Refused, refuse, refused, require};

mod ops;
mod row;
mod tensor;

use std::collections::HashMap;
use std::sync::Arc;

use ops::Attributes;
pub use row::Row;
use tensor::{MAX_TERMS, Tensor};

/// The versions of the operator set whose meaning is known here.
const OPSETS: std::ops::RangeInclusive<i64> = 7..=24;

/// The stages of a network. Every stage but the last is followed by a ReLU; the last one is the output.
///
/// Variables are numbered through: the inputs first, in row-major order, then the ReLU outputs of stage 0, of stage 1,
/// and so on.
#[derive(Clone, Debug)]
pub struct Network {
    pub inputs: usize,
    /// The elements of one Relu's input, or of the output, in row-major order.
    pub stages: Vec<Arc<Vec<Row>>>,
}

impl Network {
    /// The network of a model given by its bytes, which must not be compressed.
    pub fn read(bytes: &[u8]) -> Result<Self, Refused> {
        let model = Message::read(bytes, &[1, 2, 3, 4, 5, 6, 7, 8, 14]).map_err(|fault| fault.at("the model"))?;
        let mut versions = Vec::new();
        for opset in model.messages(8, &[1, 2])? {
            versions.extend(is_standard(opset.text(1)?).then_some(opset.int(2)?));
        }
        let are_known = !versions.is_empty() && versions.iter().all(|version| OPSETS.contains(version));
        require(are_known, format!("the model's operator set is {versions:?}, and versions {OPSETS:?} are known"))?;
        let graph = model.message(7, &[1, 2, 5, 10, 11, 12, 13, 16]).map_err(|fault| fault.at("the graph"))?;
        let mut run = Run { variables: 0, stages: Vec::new(), values: HashMap::new(), terms: 0 };
        for tensor in graph.messages(5, &Tensor::FIELDS).map_err(|fault| fault.at("an initialiser"))? {
            let name = tensor.text(8)?;
            run.define(name, Tensor::read(&tensor).map_err(|fault| fault.at(format!("tensor `{name}`")))?)?;
        }
        let inputs = run.input(&graph)?;
        for node in graph.messages(1, &[1, 2, 3, 4, 5, 6, 7, 9]).map_err(|fault| fault.at("a node"))? {
            let place = format!("node `{}` ({}) for {:?}", node.text(3)?, node.text(4)?, node.texts(2)?);
            run.node(&node).map_err(|fault| fault.at(place))?;
        }
        let outputs = graph.messages(12, VALUE_INFO)?;
        let [output] = &outputs[..] else { return refuse("the graph has not one output, as is supported") };
        let output = run.value(output.text(1)?).map_err(|fault| fault.at("the graph's output"))?;
        run.stages.push(output.rows());
        Ok(Self { inputs, stages: run.stages })
    }
}

/// The fields of a `ValueInfoProto`.
const VALUE_INFO: &[u64] = &[1, 2, 3, 4];

fn is_standard(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// The state of a run over the nodes.
struct Run<'a> {
    /// How many there are so far.
    variables: usize,
    stages: Vec<Arc<Vec<Row>>>,
    values: HashMap<&'a str, Tensor<'a>>,
    /// The terms of all values and stages so far.
    terms: usize,
}

impl<'a> Run<'a> {
    /// Gives a name its value, once.
    fn define(&mut self, name: &'a str, tensor: Tensor<'a>) -> Result<(), Refused> {
        self.charge(tensor.terms())?;
        let is_new = !name.is_empty() && self.values.insert(name, tensor).is_none();
        require(is_new, format!("the value `{name}` has no name or is defined twice"))
    }

    /// Counts terms that take memory, before they do.
    fn charge(&mut self, terms: usize) -> Result<(), Refused> {
        self.terms = self.terms.saturating_add(terms);
        require(self.terms <= MAX_TERMS, format!("there are more than {MAX_TERMS} coefficients"))
    }

    fn value(&self, name: &str) -> Result<Tensor<'a>, Refused> {
        let value = self.values.get(name).cloned();
        value.ok_or_else(|| refused(format!("the value `{name}` is read before any node gives it")))
    }

    /// Defines the one input that no initialiser gives a value. A leading dimension that is open is that of the batch
    /// and counts as 1.
    fn input(&mut self, graph: &Message<'a>) -> Result<usize, Refused> {
        let mut inputs = Vec::new();
        for input in graph.messages(11, VALUE_INFO)? {
            let name = input.text(1)?;
            inputs.extend((!self.values.contains_key(name)).then_some((name, input)));
        }
        let [(name, input)] = &inputs[..] else {
            return refuse(format!("the graph has {} inputs, and one is supported", inputs.len()));
        };
        let shape = input.message(2, &[1, 6])?.message(1, &[1, 2])?.message(2, &[1])?;
        let mut sizes = Vec::new();
        for (axis, dim) in shape.messages(1, &[1, 2, 3])?.iter().enumerate() {
            sizes.push(match usize::try_from(dim.int(1)?) {
                Ok(size @ 1..) => size,
                _ if axis == 0 => 1,
                _ => return refuse(format!("the input `{name}` has no fixed size along axis {axis}")),
            });
        }
        require(!sizes.is_empty(), format!("the input `{name}` has no shape"))?;
        let tensor = self.new_variables(sizes)?;
        self.define(name, tensor)?;
        Ok(self.variables)
    }

    fn new_variables(&mut self, shape: Vec<usize>) -> Result<Tensor<'a>, Refused> {
        let (first, number) = (self.variables, tensor::count(&shape)?);
        self.charge(4 * number)?;
        self.variables += number;
        let variable = |number: usize| u32::try_from(number).map(Row::variable).map_err(|_| Refused::overflow());
        let rows = (first..self.variables).map(variable).collect::<Result<Vec<_>, _>>()?;
        Ok(Tensor::new(shape, rows))
    }

    fn node(&mut self, node: &Message<'a>) -> Result<(), Refused> {
        let (operator, domain, outputs) = (node.text(4)?, node.text(7)?, node.texts(2)?);
        let ([output], true) = (&outputs[..], is_standard(domain)) else {
            return refuse(format!("several outputs, or operators of the domain `{domain}`, are not supported"));
        };
        let inputs = node.texts(1)?.into_iter().map(|name| self.value(name)).collect::<Result<Vec<_>, _>>()?;
        let mut attributes = Attributes::read(node)?;
        let value = match (operator, &inputs[..]) {
            ("Relu", [input]) => self.relu(input)?,
            ("MaxPool", [input]) => self.max_pool(input, &mut attributes)?,
            _ => ops::run(operator, &inputs, &mut attributes)?,
        };
        attributes.finish()?;
        self.define(output, value)
    }

    /// Ends a stage: its rows are the elements of the input, and its outputs new variables.
    fn relu(&mut self, input: &Tensor) -> Result<Tensor<'a>, Refused> {
        self.charge(input.terms())?;
        require(input.constants().is_err(), "the input is constant")?;
        self.stages.push(input.rows());
        self.new_variables(input.shape.clone())
    }

    /// The largest element of each window, by max(a, b) = b + max(a - b, 0) in rounds: of each window the first two are
    /// compared, then the next two, and one that is left over stays. What several windows compare is compared once.
    fn max_pool(&mut self, input: &Tensor, attributes: &mut Attributes<'a>) -> Result<Tensor<'a>, Refused> {
        let (shape, mut windows) = ops::pool(input, attributes)?;
        let mut x = input.rows();
        while windows.iter().any(|window| window.len() > 1) {
            let (mut pairs, mut numbers, known) = (Vec::new(), HashMap::new(), x.len());
            for window in &mut windows {
                let number = |two: &[usize]| match *two {
                    [a, b] => *numbers.entry((a, b)).or_insert_with(|| {
                        pairs.push((a, b));
                        known + pairs.len() - 1
                    }),
                    _ => two[0],
                };
                *window = window.chunks(2).map(number).collect();
            }
            let difference = |(a, b): (usize, usize)| [(Dyadic::ONE, &x[a]), (Dyadic::MINUS_ONE, &x[b])];
            let gains = Tensor::build(vec![pairs.len()], |place| Row::combination(difference(pairs[place])))?;
            let gains = self.relu(&gains)?.rows();
            let all = Tensor::build(vec![known + pairs.len()], |place| match place.checked_sub(known) {
                None => Ok(x[place].clone()),
                Some(n) => Row::combination([(Dyadic::ONE, &x[pairs[n].1]), (Dyadic::ONE, &gains[n])]),
            });
            x = all?.rows();
        }
        Tensor::build(shape, |place| Ok(x[windows[place][0]].clone()))
    }
}
