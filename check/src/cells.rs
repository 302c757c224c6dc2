//! Boxes of inputs, cut again and again: what is proved on each cell by a fixed rule, without any numbers of the file.
//!
//! On a cell a hidden neuron is decided if it was on a cell that this one was cut from. The others are bounded by intervals and,
//! where these leave them undecided, by both sides of the one bound with the adaptive rule. Then rows are bounded: by the adaptive
//! rule, with the slopes of the phases at the corner where that is least, and by the parallel rule; or by means of these. A cell
//! that this leaves open is halved along the input that moves its triangles most, a few times at most: the search's bounds may be
//! a little tighter.

use crate::bound::{Phase, Rule, Start};
use crate::fixed::small;
use crate::form::{Form, greatest, some_mean_is_positive};
use crate::goal::combined;
use crate::judge::{Judge, position, unknown};
use crate::number::{Dyadic, shift_down};
use crate::region::{Cube, Region};
use crate::{Refused, refused, require};
use std::cell::OnceCell;
use std::rc::Rc;

/// How often a cell is halved beyond what the file says.
const HALVINGS: u32 = 12;
/// How often a cell may be cut.
const DEEPEST: u32 = 2_000;

/// A box, the box that it was cut from, and the bounds of hidden neurons on it, once they were asked for.
struct Cell<'n> {
    cube: Cube,
    around: Option<Rc<Cell<'n>>>,
    depth: u32,
    region: OnceCell<Region<'n>>,
}

impl<'j> Judge<'j> {
    /// Reads a tree of cells in preorder. A node is any number of disjuncts closed there, then nothing or a cut.
    pub fn cells(&mut self, cube: Cube, open: Vec<usize>) -> Result<(), Refused> {
        let whole = Cell { cube, around: None, depth: 0, region: OnceCell::new() };
        let mut cells = vec![(Rc::new(whole), open)];
        while let Some((cell, mut open)) = cells.pop() {
            match self.file.byte()? {
                0 => {
                    self.say(|| format!("  cell closed for disjuncts {open:?}"));
                    if self.is_mine() {
                        self.close_all(&cell, &open, HALVINGS)?;
                    }
                }
                1 => {
                    let input = self.file.below(self.net.inputs, "input")?;
                    let at = self.file.double()?;
                    self.say(|| format!("  cut input {input} at {}·2^{}", at.mantissa, at.exponent));
                    // Where that is between two ends, both sides hold it.
                    let [low, high] = [at.floor_scaled(cell.cube.grid), at.ceil_scaled(cell.cube.grid)];
                    cells.extend(cell.cut(input, small(low)?, small(high)?)?.map(|half| (half, open.clone())));
                }
                2 => {
                    let disjunct = self.file.number()?;
                    open.remove(position(&open, disjunct)?);
                    self.say(|| format!("  disjunct {disjunct} closed"));
                    if self.is_mine() {
                        self.close_all(&cell, &[disjunct], HALVINGS)?;
                    }
                    cells.push((cell, open));
                }
                3 => {
                    self.say(|| "  cell with records of its own".into());
                    self.records(cell.cube.clone(), open, true)?;
                }
                kind => return unknown("cell", kind),
            }
        }
        Ok(())
    }

    /// Closes every disjunct that is open on a cell, or halves it.
    fn close_all(&mut self, cell: &Rc<Cell<'j>>, open: &[usize], halvings: u32) -> Result<(), Refused> {
        if open.is_empty() {
            return Ok(());
        }
        let region = self.bounded(cell)?;
        let mut left = Vec::new();
        for &disjunct in open {
            if !self.excludes(region, disjunct)? {
                left.push(disjunct);
            }
        }
        let Some(first) = left.first() else { return Ok(()) };
        require(halvings > 0, format!("disjunct {first} is not closed on a cell"))?;
        let scores = self.smear(region)?;
        let input = (0..scores.len()).max_by_key(|&i| scores[i]).unwrap_or(0);
        let (l, u) = region.range(input);
        let middle = l + (u - l) / 2;
        for half in cell.cut(input, middle, middle)? {
            self.close_all(&half, &left, halvings - 1)?;
        }
        Ok(())
    }

    /// The region of a cell, with every hidden neuron bounded. What is decided on a box around it is decided there too.
    fn bounded<'c>(&mut self, cell: &'c Cell<'j>) -> Result<&'c Region<'j>, Refused> {
        let outward = std::iter::successors(Some(cell), |cell| cell.around.as_deref());
        let open: Vec<&Cell> = outward.take_while(|cell| cell.region.get().is_none()).collect();
        for cell in open.into_iter().rev() {
            let known = cell.around.as_ref().and_then(|around| around.region.get());
            let _ = cell.region.set(self.bound_hidden(cell.cube.clone(), known)?);
        }
        cell.region.get().ok_or_else(|| refused("no bounds"))
    }

    /// Bounds every hidden neuron on a box, with bounds that are known on a box around it.
    fn bound_hidden(&mut self, cube: Cube, known: Option<&Region>) -> Result<Region<'j>, Refused> {
        let mut region = Region::new(self.net, cube)?;
        for (stage, j, neuron) in self.net.hidden() {
            region.refresh(stage)?;
            let range = region.interval(stage, j)?;
            for side in [0, 1] {
                region.tighten(stage, j, side, range[side])?;
                let own = &mut region.sides[neuron][side];
                *own = if known.is_some_and(|known| known.sides[neuron][side] >= 0) { (*own).max(0) } else { *own };
            }
            if stage > 0 {
                self.bound_sides(&mut region, (stage, j, neuron), Rule::Adaptive)?;
            }
        }
        region.refresh(self.net.last())?;
        Ok(region)
    }

    /// Whether a row of a disjunct, or a mean of their forms, is positive on the region.
    fn excludes(&mut self, region: &Region, disjunct: usize) -> Result<bool, Refused> {
        let rows = &self.property.disjuncts[disjunct];
        let count = rows.rows.len();
        let mut forms = Vec::with_capacity(3 * count);
        for turn in 0..3 * count {
            if turn == count {
                let (_, best) = greatest(&forms, |form| form.least(&region.cube))?.ok_or_else(Refused::overflow)?;
                self.set_slopes(region, &best.clone())?;
            }
            let start = combined(rows, &[(turn % count, Dyadic::ONE)], self.net.last())?;
            let rule = [Rule::Adaptive, Rule::Node(&self.node), Rule::Parallel][turn / count];
            if self.bounder.bound(region, &start, rule)? > 0 {
                return Ok(true);
            }
            forms.push(self.bounder.form.clone());
        }
        some_mean_is_positive(&forms, &region.cube)
    }

    /// Adds how much each input moves the triangles of undecided neurons, as the parallel rule sees them.
    fn smear(&mut self, region: &Region) -> Result<Vec<i128>, Refused> {
        let (net, cube) = (self.net, &region.cube);
        let mut scores = vec![0i128; net.inputs];
        for (stage, j, neuron) in net.hidden().filter(|&(.., neuron)| region.is_undecided(neuron)) {
            self.bounder.bound(region, &Start::side(stage, j, 0), Rule::Parallel)?;
            let slopes = &self.bounder.form.slopes;
            let moves = |i: usize| i128::from(slopes[i].abs()) * i128::from(cube.upper[i] - cube.lower[i]);
            let all: i128 = (0..net.inputs).map(moves).sum::<i128>().max(1);
            let (l, u) = region.of(neuron);
            let size = shift_down(u.min(-l).into(), 20 - region.grids[stage + 1]).unwrap_or(0).max(1);
            for (i, score) in scores.iter_mut().enumerate() {
                *score += ((moves(i) >> 40) * size) / ((all >> 40) + 1);
            }
        }
        Ok(scores)
    }

    /// Sets the part of each neuron to all or nothing: what it is at the corner where a form is least. Any is sound.
    fn set_slopes(&mut self, region: &Region, form: &Form) -> Result<(), Refused> {
        let cube = &region.cube;
        // Values with 40 bits behind the point.
        let value = |value: i64, grid: i32| shift_down(value.into(), 40 - grid).ok_or_else(Refused::overflow);
        let corner = (0..self.net.inputs).map(|i| value(form.end(i, cube), cube.grid));
        let mut values = corner.collect::<Result<Vec<i128>, _>>()?;
        for (stage, j, neuron) in self.net.hidden() {
            let layer = &self.net.layers[stage];
            let mut sum = 0i128;
            for &(column, weight) in layer.rows[j].terms() {
                let term = values[column as usize].checked_mul(weight.into());
                sum = term.and_then(|term| sum.checked_add(term)).ok_or_else(Refused::overflow)?;
            }
            let z = (sum >> layer.scale.clamp(0, 127)) + value(layer.rows[j].bias.0, layer.bias_scale)?;
            self.node.alpha[neuron] = if z > 0 { 255 } else { 0 };
            self.node.phase[neuron] = Phase::Open;
            values.push(z.max(0));
        }
        Ok(())
    }
}

impl<'n> Cell<'n> {
    /// Both sides of a cut between two ends, the upper one first.
    fn cut(self: &Rc<Self>, input: usize, low: i64, high: i64) -> Result<[Rc<Cell<'n>>; 2], Refused> {
        let (mut below, mut above) = (self.cube.clone(), self.cube.clone());
        require(self.depth < DEEPEST, "cells are cut too often")?;
        require(below.lower[input] <= low && high <= above.upper[input], "a cut is outside of its cell")?;
        (below.upper[input], above.lower[input]) = (high, low);
        let depth = self.depth + 1;
        let half = |cube: Cube| Cell { cube, around: Some(self.clone()), depth, region: OnceCell::new() };
        Ok([above, below].map(|cube| Rc::new(half(cube))))
    }
}
