//! A property as VNN-LIB 1.0, exact: so that one that came from elsewhere is on file.

use std::fmt::{self, Write};

use crate::affine::{Affine, Term};
use crate::region::InputBox;
use crate::{Disjunct, Property};

impl Property {
    /// The property as VNN-LIB 1.0, which reads back to the same one; none if it has quadratic constraints or strict ends.
    pub fn to_vnnlib(&self) -> Option<String> {
        let is_plain = |disjunct: &Disjunct| {
            let ends = disjunct.region.sides().flat_map(|side| [side.lower(), side.upper()]);
            disjunct.quadratics.is_empty()
                && ends.into_iter().all(|end| !end.strict)
                && disjunct.rows.iter().all(|row| !row.strict && !row.affine.y.is_empty())
        };
        if !self.disjuncts.iter().all(is_plain) || self.disjuncts.is_empty() {
            return None;
        }
        let mut text = String::new();
        self.write(&mut text).ok()?;
        Some(text)
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        (0..self.inputs).try_for_each(|i| writeln!(text, "(declare-const X_{i} Real)"))?;
        (0..self.outputs).try_for_each(|j| writeln!(text, "(declare-const Y_{j} Real)"))?;
        let first = &self.disjuncts[0].region;
        let is_common = self.disjuncts.iter().all(|disjunct| disjunct.region == *first);
        if is_common {
            ends(first).try_for_each(|end| writeln!(text, "(assert {end})"))?;
        }
        writeln!(text, "(assert (or")?;
        for disjunct in &self.disjuncts {
            let own: Vec<String> = if is_common { vec![] } else { ends(&disjunct.region).collect() };
            let rows = disjunct.rows.iter().map(|row| format!("(<= {} 0)", sum(&row.affine)));
            let atoms: Vec<String> = own.into_iter().chain(rows).collect();
            writeln!(text, "  (and {})", atoms.join(" "))?;
        }
        writeln!(text, "))")
    }
}

fn ends(region: &InputBox) -> impl Iterator<Item = String> {
    let sides = region.sides().enumerate();
    sides.flat_map(|(i, side)| {
        [format!("(>= X_{i} {})", side.lower().value), format!("(<= X_{i} {})", side.upper().value)]
    })
}

fn sum(affine: &Affine) -> String {
    let term = |name: &str, term: &Term| format!("(* {} {name}_{})", term.coefficient.exact, term.index);
    let x = affine.x.iter().map(|of| term("X", of));
    let y = affine.y.iter().map(|of| term("Y", of));
    let terms: Vec<String> = x.chain(y).chain([affine.constant.exact.to_string()]).collect();
    format!("(+ {})", terms.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let text = "(declare-const X_0 Real)(declare-const X_1 Real)(declare-const Y_0 Real)(declare-const Y_1 Real)
            (assert (>= X_0 -1.25)) (assert (<= X_0 0.1)) (assert (>= X_1 0)) (assert (<= X_1 1e-3))
            (assert (or (and (<= Y_0 Y_1)) (and (>= (* 2.5 Y_1) (+ Y_0 (* -3 X_1) 7)) (<= Y_0 1))))";
        let property = Property::parse(text, "a test").unwrap();
        let again = Property::parse(&property.to_vnnlib().unwrap(), "a test").unwrap();
        assert_eq!(again, property);
        let two = text.replace("(<= Y_0 Y_1)", "(<= X_0 0.05) (<= Y_0 Y_1)");
        let property = Property::parse(&two, "a test").unwrap();
        assert_eq!(Property::parse(&property.to_vnnlib().unwrap(), "a test").unwrap(), property);
        let strict = Property::parse(&text.replace("(<= Y_0 Y_1)", "(< Y_0 Y_1)"), "a test").unwrap();
        assert_eq!(strict.to_vnnlib(), None);
    }
}
