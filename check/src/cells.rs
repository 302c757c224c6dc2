//! Boxes of inputs, cut again and again: what is proved on each cell by a fixed rule, without any numbers of the file.
//!
//! On a cell a hidden neuron is decided if it was on a cell that this one was cut from. The others are bounded by intervals and,
//! where these leave them undecided, by both sides of the one bound with the adaptive rule. Then rows are bounded: by the adaptive
//! rule, with the slopes of the phases at the corner where that is least, and by the parallel rule; or by means of these. A cell
//! that this leaves open is halved along the input that moves its triangles most, a few times at most: the search's bounds may be
//! a little tighter.

use crate::bound::{Phase, Rule};
use crate::fixed::small;
use crate::form::{Form, greatest, some_mean_is_positive};
use crate::goal::combined;
use crate::judge::{Judge, position, unknown};
use crate::number::Dyadic;
use crate::region::{Cube, Region};
use crate::{Refused, refused, require};
use std::cell::OnceCell;
use std::rc::Rc;

/// How often a cell is halved beyond what the file says.
const HALVINGS: u32 = 20;
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

    /// Closes every disjunct that is open on a cell, or halves it along the input that moves the forms most.
    fn close_all(&mut self, cell: &Rc<Cell<'j>>, open: &[usize], halvings: u32) -> Result<(), Refused> {
        if open.is_empty() {
            return Ok(());
        }
        let region = self.bounded(cell)?;
        let (mut left, mut moves) = (vec![], vec![0i128; self.net.inputs]);
        for &disjunct in open {
            let forms = self.forms(region, disjunct)?;
            if !some_mean_is_positive(&forms, &region.cube)? {
                left.push(disjunct);
                forms.iter().for_each(|form| form.add_moves(&region.cube, &mut moves));
            }
        }
        let Some(first) = left.first() else { return Ok(()) };
        require(halvings > 0, format!("disjunct {first} is not closed on a cell"))?;
        let input = (0..moves.len()).max_by_key(|&i| moves[i]).unwrap_or(0);
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
        Region::new(cube, &mut self.bounder, |region, stage, bounder| {
            for j in 0..region.net.layers[stage].rows.len() {
                let neuron = region.net.first(stage) + j;
                for side in [0, 1] {
                    if known.is_some_and(|known| known.sides[neuron][side] >= 0) {
                        region.raise(stage, neuron, side, Some(0))?;
                    }
                }
                if stage > 0 {
                    region.bound(bounder, stage, j, Rule::Adaptive)?;
                }
            }
            Ok(())
        })
    }

    /// Functions of the inputs that are nowhere above a row of a disjunct: by three rules, or those up to the first that is
    /// positive on the region.
    fn forms(&mut self, region: &Region, disjunct: usize) -> Result<Vec<Form>, Refused> {
        let rows = &self.property.disjuncts[disjunct];
        let (count, mut forms) = (rows.rows.len(), vec![]);
        for turn in 0..3 * count {
            if turn == count {
                let (_, best) = greatest(&forms, |form| form.least(&region.cube))?.ok_or_else(Refused::overflow)?;
                self.set_slopes(&region.cube, &best.clone())?;
            }
            let start = combined(rows, &[(turn % count, Dyadic::ONE)], self.net.last())?;
            let rule = [Rule::Adaptive, Rule::Node(&self.node), Rule::Parallel][turn / count];
            let bound = self.bounder.bound(region, &start, rule)?;
            forms.push(self.bounder.form.clone());
            if bound > 0 {
                break;
            }
        }
        Ok(forms)
    }

    /// Sets the part of each neuron to all or nothing: what it is at the corner where a form is least. Any is sound.
    fn set_slopes(&mut self, cube: &Cube, form: &Form) -> Result<(), Refused> {
        let corner: Vec<i64> = (0..self.net.inputs).map(|i| form.end(i, cube)).collect();
        let point = Cube { grid: cube.grid, lower: corner.clone(), upper: corner };
        let there = Region::new(point, &mut self.bounder, |_, _, _| Ok(()))?;
        self.node.phase.fill(Phase::Open);
        for (neuron, part) in self.node.alpha.iter_mut().enumerate() {
            *part = if there.of(neuron).1 > 0 { 255 } else { 0 };
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
