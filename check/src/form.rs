//! Affine functions of the inputs that are nowhere above a row of a property, and means of them.
//!
//! Where a counterexample is, every row is at most 0, and so is every such form. A mean of forms with weights that are not
//! negative is at most 0 there too, so that a mean which is positive on all of a box leaves no counterexample in it.

use crate::Refused;
use crate::number::shift_down;
use crate::region::{Cube, Total};

/// A constant in units of 2^−80, and slopes in units of 2^−exponent.
#[derive(Clone, Debug, Default)]
pub struct Form {
    pub constant: i128,
    pub slopes: Vec<i64>,
    pub exponent: i32,
}

/// A mean of two forms has weights in these parts, and there are so many means of means.
const PARTS: i128 = 1 << 16;
const ROUNDS: usize = 20;

impl Form {
    /// The end of an input where the form is least.
    pub fn end(&self, input: usize, cube: &Cube) -> i64 {
        if self.slopes[input] >= 0 { cube.lower[input] } else { cube.upper[input] }
    }

    /// Its value at a point.
    fn at(&self, cube: &Cube, point: impl Fn(usize) -> i64) -> Result<i128, Refused> {
        let term = |(i, &a): (usize, &i64)| i128::from(a) * i128::from(point(i));
        let mut total = Total(self.constant);
        total.add(self.slopes.iter().enumerate().map(term).sum(), self.exponent + cube.grid)?;
        Ok(total.0)
    }

    /// Its least value on a box.
    pub fn least(&self, cube: &Cube) -> Result<i128, Refused> {
        self.at(cube, |i| self.end(i, cube))
    }

    /// Adds how much each input of a box moves it, in units of 2^−40.
    pub fn add_moves(&self, cube: &Cube, moves: &mut [i128]) {
        for (i, moves) in moves.iter_mut().enumerate() {
            let own = i128::from(self.slopes[i].abs()) * i128::from(cube.upper[i] - cube.lower[i]);
            *moves = moves.saturating_add(shift_down(own, 40 - self.exponent - cube.grid).unwrap_or(i128::MAX));
        }
    }

    /// The mean with another form, that one with so many parts. Slopes are rounded by less than three units, which the constant
    /// pays for at the largest inputs.
    fn mean(&self, other: &Form, part: i128, cube: &Cube) -> Result<Form, Refused> {
        let exponent = self.exponent.min(other.exponent);
        let coarse = |form: &Form, i: usize| i128::from(form.slopes[i] >> (form.exponent - exponent).min(63));
        let slope = |i: usize| (((PARTS - part) * coarse(self, i) + part * coarse(other, i)) / PARTS) as i64;
        let slopes: Vec<i64> = (0..self.slopes.len()).map(slope).collect();
        let parts = self.constant.checked_mul(PARTS - part).zip(other.constant.checked_mul(part));
        let sum = parts.and_then(|(a, b)| a.checked_add(b)).ok_or_else(Refused::overflow)?;
        let mut constant = Total(sum.div_euclid(PARTS));
        constant.add(-3 * cube.sizes(), exponent + cube.grid)?;
        Ok(Form { constant: constant.0, slopes, exponent })
    }

    /// The mean with another form that has the greatest least value. That is concave in the part, up to rounding: thirds of what
    /// is left are compared.
    fn towards(&self, other: &Form, cube: &Cube) -> Result<Form, Refused> {
        let (mut low, mut high) = (0, PARTS);
        while high - low > 2 {
            let third = (high - low) / 3;
            let [a, b] = [low + third, high - third].map(|part| self.mean(other, part, cube));
            if a?.least(cube)? < b?.least(cube)? {
                low += third;
            } else {
                high -= third;
            }
        }
        self.mean(other, (low + high) / 2, cube)
    }
}

/// The form with the greatest of these values, the first of several.
pub fn greatest(
    forms: &[Form],
    value: impl Fn(&Form) -> Result<i128, Refused>,
) -> Result<Option<(i128, &Form)>, Refused> {
    let mut best: Option<(i128, &Form)> = None;
    for form in forms {
        let value = value(form)?;
        if best.is_none_or(|(known, _)| value > known) {
            best = Some((value, form));
        }
    }
    Ok(best)
}

/// Whether some mean of forms is positive on a box: from the best of them towards the one that is highest where that is least,
/// as far as it gains, and again. Which means are looked at is a choice.
pub fn some_mean_is_positive(forms: &[Form], cube: &Cube) -> Result<bool, Refused> {
    let Some((mut least, best)) = greatest(forms, |form| form.least(cube))? else { return Ok(false) };
    let mut best = best.clone();
    for _ in 0..ROUNDS {
        let highest = greatest(forms, |form| form.at(cube, |i| best.end(i, cube)))?;
        let Some((_, other)) = highest.filter(|_| least <= 0) else { break };
        let mean = best.towards(other, cube)?;
        let value = mean.least(cube)?;
        if value <= least {
            break;
        }
        (least, best) = (value, mean);
    }
    Ok(least > 0)
}
