//! From the bytes of an ONNX model to a network of affine stages with ReLUs between them.
//!
//! The nodes are run in the order of the file on symbolic tensors, whose elements are affine forms of the variables; a
//! Relu ends a stage and its outputs are new variables. So the rows of a stage say of the real-valued network exactly
//! what the model says, whatever operators the model spends on it.

mod model;
mod ops;
mod row;
mod tensor;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::number::Dyadic;
use crate::{Refused, refuse};
use model::{Model, Node};
use ops::Call;
pub use row::Row;
use tensor::{Data, MAX_TERMS, Tensor, count};

/// The stages of a network. Every stage but the last is followed by a ReLU; the last one is the output.
///
/// Variables are numbered through: the inputs first, in row-major order, then the ReLU outputs of stage 0, of stage 1,
/// and so on.
#[derive(Clone, Debug)]
pub struct Network {
    pub inputs: usize,
    pub stages: Vec<Stage>,
}

/// The elements of one Relu's input, or of the output, in row-major order.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The name of the Relu node, or of what it gives if it has none; that of the output for the last stage.
    pub name: String,
    pub rows: Vec<Row>,
}

impl Network {
    /// The network of a model given by its bytes, which must not be compressed.
    pub fn read(bytes: &[u8]) -> Result<Self, Refused> {
        let model = Model::read(bytes)?;
        ops::check(&model)?;
        let (name, shape) = model.input()?;
        let inputs = count(&shape)?;
        let mut run = Run { network: Self { inputs, stages: Vec::new() }, ..Run::new(&model) };
        run.define(name, Tensor::collect(shape, (0..inputs).map(variable))?)?;
        for (initialiser, tensor) in model.initialisers {
            run.define(initialiser, tensor)?;
        }
        for node in &model.nodes {
            run.node(node).map_err(|fault| fault.at(node))?;
        }
        run.finish(model.output)
    }

    /// The number of the variable that is the first ReLU output of a stage.
    pub fn first_variable(&self, stage: usize) -> usize {
        self.inputs + self.stages.iter().take(stage).map(|stage| stage.rows.len()).sum::<usize>()
    }

    /// The neurons of a stage, ascending, that a later stage reads: with a coefficient that is not zero.
    pub fn read_neurons(&self, stage: usize) -> Vec<usize> {
        let first = self.first_variable(stage);
        let mut is_read = vec![false; self.stages.get(stage).map_or(0, |stage| stage.rows.len())];
        for (variable, _) in self.stages.iter().skip(stage + 1).flat_map(|stage| &stage.rows).flat_map(|row| &row.terms)
        {
            let neuron = usize::try_from(*variable).ok().and_then(|variable| variable.checked_sub(first));
            if let Some(flag) = neuron.and_then(|neuron| is_read.get_mut(neuron)) {
                *flag = true;
            }
        }
        (0..is_read.len()).filter(|&neuron| is_read[neuron]).collect()
    }
}

fn variable(number: usize) -> Result<Row, Refused> {
    u32::try_from(number).map(Row::variable).map_err(|_| Refused("the network has too many variables".into()))
}

/// The state of a run over the nodes.
struct Run<'a> {
    network: Network,
    values: HashMap<&'a str, Rc<Tensor>>,
    /// How often each value is still to be read. What will not be read again is let go.
    uses: HashMap<&'a str, usize>,
    defined: HashSet<&'a str>,
    /// The terms of all stages and of all tensors computed so far.
    terms: usize,
}

impl<'a> Run<'a> {
    fn new(model: &Model<'a>) -> Self {
        let mut uses = HashMap::from([(model.output, 1)]);
        for name in model.nodes.iter().flat_map(|node| &node.inputs) {
            *uses.entry(*name).or_default() += 1;
        }
        let network = Network { inputs: 0, stages: Vec::new() };
        Self { network, values: HashMap::new(), uses, defined: HashSet::new(), terms: 0 }
    }

    /// Gives a name its value, once.
    fn define(&mut self, name: &'a str, tensor: Tensor) -> Result<(), Refused> {
        if name.is_empty() || !self.defined.insert(name) {
            return refuse(format!("the value `{name}` has no name or is defined twice"));
        }
        self.terms = self.terms.saturating_add(tensor.terms());
        if self.terms > MAX_TERMS {
            return refuse(format!("the network has more than {MAX_TERMS} coefficients"));
        }
        if self.uses.contains_key(name) {
            self.values.insert(name, Rc::new(tensor));
        }
        Ok(())
    }

    /// The value of a name that is about to be read.
    fn value(&mut self, name: &str) -> Result<Rc<Tensor>, Refused> {
        let left = self.uses.get_mut(name).map(|uses| {
            *uses = uses.saturating_sub(1);
            *uses
        });
        let value = if left == Some(0) { self.values.remove(name) } else { self.values.get(name).cloned() };
        value.ok_or_else(|| Refused(format!("the value `{name}` is read before any node gives it")))
    }

    fn node(&mut self, node: &'a Node<'a>) -> Result<(), Refused> {
        let [output] = node.outputs[..] else { return refuse("a node with one output was expected") };
        let optional = |name: &&str| if name.is_empty() { Ok(None) } else { self.value(name).map(Some) };
        let inputs = node.inputs.iter().map(optional).collect::<Result<Vec<_>, _>>()?;
        let call = Call { node, inputs };
        let result = if node.operator == "Relu" { self.relu(call, output)? } else { ops::run(&call)? };
        self.define(output, result)
    }

    /// Ends a stage: its rows are the elements of the input, and its outputs new variables. Elements that depend on no
    /// variable make no stage if all of them are such: the ReLU keeps or clears each, and moves it no further from the
    /// model's than it was.
    fn relu(&mut self, mut call: Call<'a>, output: &str) -> Result<Tensor, Refused> {
        let Some(Some(input)) = call.inputs.pop() else { return refuse("the input is missing") };
        let Tensor { shape, data } = Rc::unwrap_or_clone(input);
        let zero = Dyadic::ZERO;
        let rows = match data {
            Data::Constants(values) => {
                return Ok(Tensor::numbers(shape, values.iter().map(|value| value.max(zero)).collect()));
            }
            Data::Rows(rows) => rows,
        };
        if rows.iter().all(|row| row.terms.is_empty()) {
            let rows = rows.into_iter().map(|row| Row { bias: row.bias.max(zero), ..row }).collect();
            return Ok(Tensor { shape, data: Data::Rows(rows) });
        }
        let first = self.network.first_variable(self.network.stages.len());
        let name = if call.node.name.is_empty() { output } else { call.node.name };
        let outputs = (first..first.saturating_add(rows.len())).map(variable).collect::<Result<_, _>>()?;
        self.network.stages.push(Stage { name: name.into(), rows });
        Ok(Tensor { shape, data: Data::Rows(outputs) })
    }

    fn finish(mut self, output: &str) -> Result<Network, Refused> {
        let tensor = self.value(output).map_err(|fault| fault.at("the graph's output"))?;
        self.network.stages.push(Stage { name: output.into(), rows: tensor.rows()?.into_owned() });
        Ok(self.network)
    }
}
