//! A node's attributes by name and kind.

use crate::read::onnx::proto::{AttributeProto, AttributeType, NodeProto};

pub struct Attributes<'a>(pub &'a NodeProto);

impl<'a> Attributes<'a> {
    pub fn find(&self, name: &str) -> Option<&'a AttributeProto> {
        self.0.attribute.iter().find(|attribute| attribute.name == name)
    }

    pub fn float(&self, name: &str, default: f32) -> Result<f32, String> {
        let value = self.find(name).map_or(Some(default), |a| a.f.or_else(|| omitted(a, AttributeType::Float)));
        value.filter(|v| v.is_finite()).ok_or_else(|| format!("its attribute '{name}' is not a finite number"))
    }

    pub fn int(&self, name: &str, default: i64) -> Result<i64, String> {
        let value = self.find(name).map_or(Some(default), |a| a.i.or_else(|| omitted(a, AttributeType::Int)));
        value.ok_or_else(|| format!("its attribute '{name}' is not an integer"))
    }

    pub fn required_int(&self, name: &str) -> Result<i64, String> {
        self.find(name).ok_or_else(|| format!("it has no attribute '{name}'"))?;
        self.int(name, 0)
    }

    pub fn flag(&self, name: &str) -> Result<bool, String> {
        self.int(name, 0).map(|i| i != 0)
    }

    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.find(name).map(|a| a.ints.clone())
    }

    pub fn string(&self, name: &str, default: &'a str) -> Result<&'a str, String> {
        let text = |a: &'a AttributeProto| std::str::from_utf8(a.s.as_deref().unwrap_or_default()).ok();
        self.find(name).map_or(Some(default), text).ok_or_else(|| format!("its attribute '{name}' is not text"))
    }

    /// The one of the choices that the attribute names; the first where there is none.
    pub fn choice<T: Copy>(&self, name: &str, choices: &[(&'static str, T)]) -> Result<T, String> {
        let word = self.string(name, choices[0].0)?;
        let found = choices.iter().find(|choice| choice.0 == word).map(|choice| choice.1);
        found.ok_or_else(|| format!("its {name} '{word}' is not supported"))
    }
}

/// Protobuf may leave out a value of 0: then only the attribute's type tells that it is there.
fn omitted<T: Default>(attribute: &AttributeProto, kind: AttributeType) -> Option<T> {
    (attribute.r#type() == kind).then(T::default)
}
