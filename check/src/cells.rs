//! Boxes of inputs, cut again and again: what is proved on each cell by a fixed rule, without any numbers of the file.
//!
//! On a cell a hidden neuron is decided if it was on a cell that this one was cut from. The others are bounded by intervals and,
//! where these leave them undecided, by both sides of the one bound with the adaptive rule. Then the rows are: by the adaptive rule, with the slopes of the phases at the corner where that is least, and by
//! the parallel rule. All these functions of the inputs are at most 0 at a counterexample, and so cut off what is not. What they
//! leave of a cell is halved along the input that moves them most, a few times at most.

use crate::{
    Conditions, Cube, Inequality, Judge, Phase, Refused, Region, Rule, Term, position, require, shift_down, small,
};
use std::cell::OnceCell;
use std::rc::Rc;

/// How often a cell is halved beyond what the file says.
const HALVINGS: u32 = 20;
/// How many cells may be around one.
const DEEPEST: u32 = 2_000;

const CELLS: [&str; 4] = ["closed", "cut", "closed for one", "records"];

/// A box, the cell that it was cut from, and the bounds of hidden neurons on it, once they were asked for.
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
            match self.file.kind("cell", &CELLS)? {
                "closed" => self.close_all(&cell, &open, HALVINGS)?,
                "cut" => {
                    let input = self.file.below(self.net.inputs, "input")?;
                    let at = self.file.double()?;
                    // Where that is between two ends, both sides hold it.
                    let [low, high] = [at.floor_scaled(cell.cube.grid), at.ceil_scaled(cell.cube.grid)];
                    cells.extend(
                        cell.cut(&cell.cube, input, small(low)?, small(high)?)?.map(|half| (half, open.clone())),
                    );
                }
                "closed for one" => {
                    let disjunct = self.file.number()?;
                    open.remove(position(&open, disjunct)?);
                    self.close_all(&cell, &[disjunct], HALVINGS)?;
                    cells.push((cell, open));
                }
                _ => self.records(cell.cube.clone(), open, true)?,
            }
        }
        Ok(())
    }

    /// Closes every disjunct that is open on a cell, if it is one to look at.
    fn close_all(&mut self, cell: &Rc<Cell<'j>>, open: &[usize], halvings: u32) -> Result<(), Refused> {
        if halvings == HALVINGS && !self.is_mine() || open.is_empty() {
            return Ok(());
        }
        let whole = self.bounded(cell)?;
        for &disjunct in open {
            let Some(mut all) = self.forms(whole, disjunct)? else { continue };
            let moved = |form: &Inequality, input: usize| {
                let (Term { weight, scale, .. }, (l, u)) = (&form.terms[input], whole.range(input));
                let by = i128::from(weight.abs()) * i128::from(u - l);
                shift_down(by, 40 - scale - whole.cube.grid).unwrap_or(i128::MAX)
            };
            let moves = |input: &usize| all.iter().map(|form| moved(form, *input)).fold(0, i128::saturating_add);
            let input = (0..self.net.inputs).max_by_key(moves).unwrap_or(0);
            for (i, j) in (0..all.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let means = (0..self.net.inputs).filter_map(|input| all[i].without(input, &all[j], &whole.cube));
                all.extend(means.collect::<Vec<_>>());
            }
            let mut region = whole.clone();
            region.conditions = Some(Rc::new(Conditions { all, rows: vec![] }));
            region.contract(&mut self.bounder)?;
            if !region.is_empty() {
                require(halvings > 0, format!("disjunct {disjunct} is not closed on a cell"))?;
                let (l, u) = region.range(input);
                let middle = l + (u - l) / 2;
                for half in cell.cut(&region.cube, input, middle, middle)? {
                    self.close_all(&half, &[disjunct], halvings - 1)?;
                }
            }
        }
        Ok(())
    }

    /// The region of a cell, with every hidden neuron bounded. What is decided on a cell around it is decided there too.
    fn bounded<'c>(&mut self, cell: &'c Cell<'j>) -> Result<&'c Region<'j>, Refused> {
        if cell.region.get().is_none() {
            let known = cell.around.as_ref().map(|around| self.bounded(around)).transpose()?;
            let region = Region::new(cell.cube.clone(), &mut self.bounder, |region, stage, bounder| {
                let first = region.net.first(stage);
                for j in 0..region.net.layers[stage].rows.len() {
                    let decided = |side: &usize| known.is_some_and(|known| known.sides[first + j][*side] >= 0);
                    let mut sides = [0, 1].into_iter().filter(decided);
                    sides.try_for_each(|side| region.raise(stage, first + j, side, Some(0)))?;
                    if stage > 0 {
                        region.bound(bounder, stage, j, Rule::Adaptive)?;
                    }
                }
                Ok(())
            })?;
            let _ = cell.region.set(region);
        }
        cell.region.get().ok_or_else(Refused::overflow)
    }

    /// What functions of the inputs say that are nowhere above a row of a disjunct: by three rules, the second of which has the
    /// slopes at the corner where the best of the first is least. Any slopes are sound. `None` if one is positive on the region.
    fn forms(&mut self, region: &Region, disjunct: usize) -> Result<Option<Vec<Inequality>>, Refused> {
        let rows = &self.question.property.disjuncts[disjunct];
        let (count, mut forms, mut best) = (rows.rows.len(), vec![], (i128::MIN, 0));
        for turn in 0..3 * count {
            let start = self.row(rows, turn % count)?;
            let rule = [Rule::Adaptive, Rule::Node(&self.node), Rule::Parallel][turn / count];
            let least = self.bounder.bound(region, &start, rule)?;
            forms.push(self.bounder.form(0));
            if least > 0 {
                return Ok(None);
            }
            if turn < count && least > best.0 {
                best = (least, turn);
            }
            if turn + 1 == count {
                let Cube { grid, lower, upper } = &region.cube;
                let end = |term: &Term| if term.weight < 0 { upper } else { lower }[term.variable];
                let ends: Vec<i64> = forms[best.1].terms.iter().map(end).collect();
                let corner = Cube { grid: *grid, lower: ends.clone(), upper: ends };
                let there = Region::new(corner, &mut self.bounder, |_, _, _| Ok(()))?;
                self.node.phase.fill(Phase::Open);
                for (neuron, part) in self.node.alpha.iter_mut().enumerate() {
                    *part = if there.of(neuron).1 > 0 { 255 } else { 0 };
                }
            }
        }
        Ok(Some(forms))
    }
}

impl<'n> Cell<'n> {
    /// Both sides of a cut, between two ends, of a box in this one, the upper side first.
    fn cut(self: &Rc<Self>, cube: &Cube, input: usize, low: i64, high: i64) -> Result<[Rc<Cell<'n>>; 2], Refused> {
        let (mut below, mut above) = (cube.clone(), cube.clone());
        require(self.depth < DEEPEST, "cells are cut too often")?;
        require(below.lower[input] <= low && high <= above.upper[input], "a cut is outside of its cell")?;
        (below.upper[input], above.lower[input]) = (high, low);
        let half = |cube| Cell { cube, around: Some(self.clone()), depth: self.depth + 1, region: OnceCell::new() };
        Ok([above, below].map(|cube| Rc::new(half(cube))))
    }
}
