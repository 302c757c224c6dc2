//! `verify PROP.vnnlib` and `robust IMAGE.csv`: what is asked about a network.

use super::run::{Run, RunArgs};
use super::split::decide_part;
use crate::ending;
use crate::property::{Decimal, Property, Side, Source, Tensors, parse_image};
use clap::Args;
use pg_core::{Network, Tensor};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub struct Verify {
    /// The counterexamples to look for: VNN-LIB 1.0 or 2.0, plain or .gz
    #[arg(value_name = "PROP.vnnlib")]
    property: PathBuf,
    /// Solve only this part of the question, which `split` has written
    #[arg(long, value_name = "DIR/K")]
    pub(super) sub: Option<PathBuf>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Args, Debug)]
pub struct Robust {
    /// The image: a number for each input, separated by commas or white space, plain or .gz
    #[arg(value_name = "IMAGE.csv")]
    image: PathBuf,
    /// How far an input may be from the scaled image in each coordinate
    #[arg(long, value_name = "E", value_parser = decimal, allow_negative_numbers = true)]
    eps: Decimal,
    /// The class that has to score highest, counted from 0 [default: the network's own at the image]
    #[arg(long, value_name = "T")]
    label: Option<usize>,
    /// Divide the image's numbers by this first
    #[arg(long, value_name = "S", value_parser = decimal, default_value = "1", allow_negative_numbers = true)]
    scale: Decimal,
    /// Keep every input between these two, such as 0,1 [default: no limits]
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true)]
    clip: Option<(Decimal, Decimal)>,
    #[command(flatten)]
    pub run: RunArgs,
}

/// A property that fits its network, and where it comes from.
#[derive(Debug)]
pub struct Question {
    pub property: Property,
    /// The property's file, or the image's.
    pub file: String,
    /// Of that file, after decompression.
    pub sha256: String,
    pub robustness: Option<Robustness>,
    /// The part that is asked about, if it is not the whole property.
    pub part: Option<String>,
    /// The property as a text of its own, if it did not come as one.
    pub text: Option<String>,
    /// What the person should know before the search.
    pub notes: Vec<String>,
}

/// How a robustness property was made; the decimals as exact texts.
#[derive(Debug, Serialize)]
pub struct Robustness {
    pub eps: String,
    pub label: usize,
    pub scale: String,
    pub clip: Option<(String, String)>,
}

impl Verify {
    /// Answers for this network and returns the exit code.
    pub fn decide(&self, network: &dyn Network, run: &Run) -> Result<u8, String> {
        let mut question = self.question(network)?;
        question.part = self.sub.as_ref().map(|part| part.display().to_string());
        match &self.sub {
            Some(part) => decide_part(network, run, &question, part),
            None => run.answer(network, &question),
        }
    }

    pub fn question(&self, network: &dyn Network) -> Result<Question, String> {
        Question::read(network, &self.property)
    }
}

impl Robust {
    /// Answers for this network and returns the exit code.
    pub fn decide(&self, network: &dyn Network, run: &Run) -> Result<u8, String> {
        run.answer(network, &self.question(network)?)
    }

    pub fn question(&self, network: &dyn Network) -> Result<Question, String> {
        let source = Source::read(&self.image).map_err(|e| e.to_string())?;
        let image = parse_image(&source.text, &source.origin, &self.scale).map_err(|e| e.to_string())?;
        if image.len() != network.inputs() {
            let (found, inputs) = (image.len(), network.inputs());
            return Err(format!("{}: {found} numbers, but the network has {inputs} inputs", source.origin));
        }
        let (label, note) = match self.label {
            Some(label) => (label, None),
            None => own_label(network, &image).map(|(label, note)| (label, Some(note)))?,
        };
        let property = Property::robust(&image, &self.eps, self.clip.clone(), label, network.outputs());
        let mut question = Question::new(network, property.map_err(|e| e.to_string())?, source)?;
        question.notes.extend(note);
        question.text = question.property.to_vnnlib();
        question.robustness = Some(Robustness {
            eps: self.eps.to_string(),
            label,
            scale: self.scale.to_string(),
            clip: self.clip.as_ref().map(|(low, high)| (low.to_string(), high.to_string())),
        });
        Ok(question)
    }
}

impl Question {
    /// What a file asks about this network.
    pub fn read(network: &dyn Network, file: &Path) -> Result<Question, String> {
        ending::admit_property(network.model().ending)?;
        let source = Source::read(file).map_err(|e| e.to_string())?;
        let property =
            Property::parse_for(&source.text, &source.origin, &tensors(network)).map_err(|e| e.to_string())?;
        Question::new(network, property, source)
    }

    fn new(network: &dyn Network, property: Property, source: Source) -> Result<Question, String> {
        property.check_shape(network.inputs(), network.outputs()).map_err(|e| e.to_string())?;
        let model = network.model();
        let about = |e: String| format!("{}: {e}", source.origin);
        check_domain(model.domain, &property).map_err(about)?;
        ending::admit(model.ending, &property).map_err(about)?;
        let notes = ending::note(model.ending).into_iter().collect();
        Ok(Question {
            property,
            file: source.origin,
            sha256: source.sha256,
            robustness: None,
            part: None,
            text: None,
            notes,
        })
    }
}

/// What the property may call the network's inputs and outputs.
fn tensors(network: &dyn Network) -> Tensors {
    let sized = |tensor: Tensor| (tensor.name.to_string(), tensor.shape.iter().product());
    Tensors {
        inputs: (0..).map_while(|k| network.input_tensor(k)).map(sized).collect(),
        outputs: (0..).map_while(|k| network.output_tensor(k)).map(sized).collect(),
    }
}

/// The class that the network gives the image in float32, the first of those that score the same; and that in words.
fn own_label(network: &dyn Network, image: &[Decimal]) -> Result<(usize, String), String> {
    let x: Vec<f32> = image.iter().map(Decimal::to_f32_down).collect();
    let mut y = vec![0.0; network.outputs()];
    network.forward(&x, &mut y);
    if !y.iter().all(|score| score.is_finite()) {
        return Err("the network's outputs at the image are beyond float32; give --label".into());
    }
    let highest = y.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let best: Vec<usize> = (0..y.len()).filter(|&class| y[class] == highest).collect();
    let note = match best.len() {
        1 => format!("the label is {}, the network's own at the image", best[0]),
        _ => format!("the classes {best:?} score the same at the image; {} is taken as the label", best[0]),
    };
    Ok((best[0], note))
}

/// The program of a model that declares a box clips whatever lies outside; the network that is verified does not. So a
/// property has to stay inside. Ends are compared as floats inside the property's box: a float that the box holds is
/// never outside of the declared one, whatever decimals both were written in.
fn check_domain(domain: &[(f64, f64)], property: &Property) -> Result<(), String> {
    let leaves = |side: &Side, (low, high): (f64, f64)| {
        side.lower().value.to_f64_up() < low || side.upper().value.to_f64_down() > high
    };
    for disjunct in &property.disjuncts {
        for (input, (side, &declared)) in disjunct.region.sides().zip(domain).enumerate() {
            if leaves(side, declared) {
                return Err(format!(
                    "input {input} ranges from {} to {}, but the model declares {} to {} for it and its own program \
                     clips there; keep the property inside the declared box",
                    side.lower().value,
                    side.upper().value,
                    declared.0,
                    declared.1
                ));
            }
        }
    }
    Ok(())
}

fn decimal(text: &str) -> Result<Decimal, String> {
    text.trim().parse().map_err(|bad| format!("'{}' {bad}", text.trim()))
}

fn range(text: &str) -> Result<(Decimal, Decimal), String> {
    let (low, high) = text.split_once(',').ok_or("give two numbers with a comma between them, such as 0,1")?;
    Ok((decimal(low)?, decimal(high)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tests::Toy;
    use pg_core::Ending;

    fn property(low: &str, high: &str) -> Property {
        let text = format!(
            "(declare-const X_0 Real)(declare-const Y_0 Real)(declare-const Y_1 Real)\
             (assert (>= X_0 {low}))(assert (<= X_0 {high}))(assert (<= Y_0 0))"
        );
        Property::parse(&text, "p.vnnlib").unwrap()
    }

    #[test]
    fn the_declared_box_is_compared_as_written() {
        let declared = [(-0.1, 0.6)];
        assert_eq!(check_domain(&declared, &property("-0.1", "0.6")), Ok(()));
        assert_eq!(check_domain(&[], &property("-9", "9")), Ok(()));
        let error = check_domain(&declared, &property("-0.1", "0.61")).unwrap_err();
        assert!(error.starts_with("input 0 ranges from -0.1 to 0.61, but the model declares -0.1 to 0.6"), "{error}");
        assert!(check_domain(&declared, &property("-0.1000001", "0")).is_err());
    }

    #[test]
    fn the_lowest_of_equal_classes_is_taken_and_said() {
        let image = [Decimal::one()];
        assert_eq!(own_label(&Toy([2.0, 3.0], Ending::None), &image).unwrap().0, 1);
        let (label, note) = own_label(&Toy([3.0, 3.0], Ending::None), &image).unwrap();
        assert_eq!(label, 0);
        assert!(note.contains("[0, 1] score the same"), "{note}");
        assert!(own_label(&Toy([f32::NAN, 1.0], Ending::None), &image).unwrap_err().contains("--label"));
        assert!(own_label(&Toy([f32::INFINITY, 1.0], Ending::None), &image).is_err());
    }

    #[test]
    fn ranges_are_two_decimals() {
        let parsed = range("-0.5, 1").unwrap();
        assert_eq!((parsed.0.to_string(), parsed.1.to_string()), ("-0.5".into(), "1".into()));
        assert!(range("1").unwrap_err().contains("two numbers"));
        assert!(range("0,nan").unwrap_err().contains("'nan' is not a decimal number"));
    }
}
