//! Boxes of inputs, cut again and again: what is proved on each cell by a fixed rule, without any numbers of the file.
//!
//! On a cell a hidden neuron is decided if it was on a cell that this one was cut from. The others are bounded by intervals and,
//! where these leave them undecided, by both sides of the one bound with the adaptive rule. Then rows are bounded: by the adaptive
//! rule, with the slopes of the phases at the corner where that is least, and by the parallel rule; or by means of these. A cell
//! that this leaves open is halved along the input that moves its triangles most, a few times at most: the search's bounds may be
//! a little tighter.

use crate::bound::{Given, Node, Phase, Rule, Start};
use crate::fixed::shift_down;
use crate::form::some_mean_is_positive;
use crate::goal::combined;
use crate::hull::Hull;
use crate::judge::Judge;
use crate::region::{Cube, Region, Table};
use crate::{Refused, refused};
use std::cell::OnceCell;
use std::rc::Rc;

/// How often a cell is halved beyond what the file says.
const HALVINGS: u32 = 12;
/// How often a cell may be cut.
const DEEPEST: u32 = 2_000;

pub struct Cells<'c, 'j> {
    judge: &'c mut Judge<'j>,
    hull: Hull,
    node: Node,
}

/// A cell that is to be looked at, and the disjuncts that are open there.
struct Cell {
    place: Rc<Place>,
    open: Vec<usize>,
}

/// A box, the box that it was cut from, and the bounds of hidden neurons on it, once they were asked for.
struct Place {
    cube: Cube,
    around: Option<Rc<Place>>,
    depth: u32,
    table: OnceCell<Table>,
}

impl<'c, 'j> Cells<'c, 'j> {
    pub fn new(judge: &'c mut Judge<'j>) -> Result<Cells<'c, 'j>, Refused> {
        let (hull, node) = (Hull::none(judge.net.last()), Node::new(judge.net.hidden()));
        Ok(Cells { judge, hull, node })
    }

    /// Reads the tree of cells in preorder. A node is any number of disjuncts closed there, then nothing or a cut.
    pub fn run(&mut self, cube: Cube, open: Vec<usize>) -> Result<(), Refused> {
        let mut cells = vec![Cell { place: Place::within(cube, None), open }];
        while let Some(mut cell) = cells.pop() {
            loop {
                match self.judge.file.byte()? {
                    0 => {
                        self.judge.say(|| format!("  cell closed for disjuncts {:?}", cell.open));
                        if self.judge.is_mine() {
                            self.close_all(&cell, HALVINGS)?;
                        }
                        break;
                    }
                    1 => {
                        let input = self.judge.file.below(self.judge.net.inputs, "input")?;
                        let Given { mantissa, exponent } = self.judge.file.double()?;
                        self.judge.say(|| format!("  cut input {input} at {mantissa}·2^{exponent}"));
                        cells.extend(cell.cut(input, mantissa, exponent)?);
                        break;
                    }
                    2 => {
                        let disjunct = self.judge.file.number()?;
                        let place = cell.open.iter().position(|&d| d == disjunct);
                        cell.open.remove(place.ok_or_else(|| refused(format!("disjunct {disjunct} is not open")))?);
                        self.judge.say(|| format!("  disjunct {disjunct} closed"));
                        if self.judge.is_mine() {
                            let cell = Cell { place: cell.place.clone(), open: vec![disjunct] };
                            self.close_all(&cell, HALVINGS)?;
                        }
                    }
                    kind => return Err(refused(format!("a cell of kind {kind} is not known"))),
                }
            }
        }
        Ok(())
    }

    /// Closes every disjunct that is open on a cell, or halves it.
    fn close_all(&mut self, cell: &Cell, halvings: u32) -> Result<(), Refused> {
        if cell.open.is_empty() {
            return Ok(());
        }
        let region = self.bounded(&cell.place)?;
        let mut left = Cell { place: cell.place.clone(), open: vec![] };
        for &disjunct in &cell.open {
            if !self.excludes(&region, disjunct)? {
                left.open.push(disjunct);
            }
        }
        if left.open.is_empty() {
            return Ok(());
        }
        if halvings == 0 {
            return Err(refused(format!("disjunct {} is not closed on a cell", left.open[0])));
        }
        let scores = self.smear(&region)?;
        let input = (0..scores.len()).max_by_key(|&i| scores[i]).unwrap_or(0);
        let cube = &left.place.cube;
        let (l, u) = (cube.lower[input], cube.upper[input]);
        for half in left.cut(input, l + (u - l) / 2, -cube.grid)? {
            self.close_all(&half, halvings - 1)?;
        }
        Ok(())
    }

    /// The region of a cell, with every hidden neuron bounded. What is decided on a box around it is decided there too.
    fn bounded(&mut self, place: &Rc<Place>) -> Result<Region<'j>, Refused> {
        let mut open = vec![place];
        while let Some(around) = open[open.len() - 1].around.as_ref().filter(|around| around.table.get().is_none()) {
            open.push(around);
        }
        while let Some(next) = open.pop() {
            if next.table.get().is_none() {
                let known = next.around.as_ref().and_then(|around| around.table.get());
                let table = self.bound_hidden(next.cube.clone(), known)?;
                let _ = next.table.set(table);
            }
        }
        let table = place.table.get().cloned().ok_or_else(|| refused("no bounds"))?;
        Ok(Region { net: self.judge.net, cube: place.cube.clone(), table })
    }

    /// Bounds every hidden neuron on a box, with bounds that are known on a box around it.
    fn bound_hidden(&mut self, cube: Cube, known: Option<&Table>) -> Result<Table, Refused> {
        let net = self.judge.net;
        let mut region = Region::new(net, cube)?;
        for stage in 0..net.last() {
            let first = net.starts[stage] - net.inputs;
            for j in 0..net.layers[stage].width() {
                let (low, high) = region.interval(stage, j)?;
                region.tighten(stage, j, false, low)?;
                region.tighten(stage, j, true, -high)?;
                region.inherit(first + j, known);
                let (l, u) = region.of(first + j);
                if stage > 0 && l < 0 && u > 0 {
                    for (sign, is_upper) in [(1, false), (-1, true)] {
                        let start = Start::side(stage, j, sign);
                        let bound =
                            self.judge.bounder.bound(&region, &start, Rule::Adaptive, &self.node, &self.hull)?;
                        region.tighten(stage, j, is_upper, bound)?;
                    }
                }
            }
        }
        Ok(region.table)
    }

    /// Whether a row of a disjunct, or a mean of their forms, is positive on the region.
    fn excludes(&mut self, region: &Region, disjunct: usize) -> Result<bool, Refused> {
        let property = self.judge.property;
        let rows = &property.disjuncts[disjunct];
        let one = Given { mantissa: 1, exponent: 0 };
        let mut forms = Vec::with_capacity(3 * rows.rows.len());
        for row in 0..rows.rows.len() {
            let start = combined(rows, &[(row, one)], self.judge.net.last())?;
            for rule in [Rule::Adaptive, Rule::Node, Rule::Parallel] {
                if self.judge.bounder.bound(region, &start, rule, &self.node, &self.hull)? > 0 {
                    return Ok(true);
                }
                forms.push(self.judge.bounder.form.clone());
                if rule == Rule::Adaptive {
                    self.set_slopes(region)?;
                }
            }
        }
        some_mean_is_positive(&forms, &region.cube)
    }

    /// Adds how much each input moves the triangles of undecided neurons, as the parallel rule sees them.
    fn smear(&mut self, region: &Region) -> Result<Vec<i128>, Refused> {
        let net = self.judge.net;
        let mut scores = vec![0i128; net.inputs];
        for stage in 0..net.last() {
            for j in 0..net.layers[stage].width() {
                let neuron = net.starts[stage] - net.inputs + j;
                let (l, u) = region.of(neuron);
                if l >= 0 || u <= 0 {
                    continue;
                }
                self.judge.bounder.bound(region, &Start::side(stage, j, 1), Rule::Parallel, &self.node, &self.hull)?;
                let slopes = &self.judge.bounder.form.slopes;
                let moves =
                    |i: usize| i128::from(slopes[i].abs()) * i128::from(region.cube.upper[i] - region.cube.lower[i]);
                let all: i128 = (0..net.inputs).map(moves).sum::<i128>().max(1);
                let size = shift_down(i128::from(u.min(-l)), 20 - region.table.grid[stage]).unwrap_or(0).max(1);
                for (i, score) in scores.iter_mut().enumerate() {
                    *score += ((moves(i) >> 40) * size) / ((all >> 40) + 1);
                }
            }
        }
        Ok(scores)
    }

    /// Sets the part of each neuron to all or nothing: what it is at the corner where the last row was least. Any is sound.
    fn set_slopes(&mut self, region: &Region) -> Result<(), Refused> {
        let net = self.judge.net;
        let corner = |i: usize| {
            let is_low = self.judge.bounder.form.slopes[i] >= 0;
            if is_low { region.cube.lower[i] } else { region.cube.upper[i] }
        };
        // Values with 40 bits behind the point.
        let value = |value: i64, grid: i32| shift_down(value.into(), 40 - grid).ok_or_else(|| refused("too large"));
        let mut values: Vec<i128> =
            (0..net.inputs).map(|i| value(corner(i), region.cube.grid)).collect::<Result<_, _>>()?;
        for stage in 0..net.last() {
            let layer = &net.layers[stage];
            for j in 0..layer.width() {
                let (columns, weights) = layer.row(j);
                let mut sum = 0i128;
                for (&column, &weight) in columns.iter().zip(weights) {
                    let term = values[column as usize].checked_mul(weight.into());
                    sum = term.and_then(|term| sum.checked_add(term)).ok_or_else(|| refused("too large"))?;
                }
                let z = (sum >> layer.scale.clamp(0, 127)) + value(layer.bias[j].0, layer.bias_scale)?;
                let neuron = net.starts[stage] - net.inputs + j;
                self.node.alpha[neuron] = if z > 0 { 255 } else { 0 };
                self.node.phase[neuron] = Phase::Open;
                values.push(z.max(0));
            }
        }
        Ok(())
    }
}

impl Cell {
    /// Both sides of a cut at mantissa·2^exponent, the upper one first. Where that is between two ends, both sides hold it.
    fn cut(&self, input: usize, mantissa: i64, exponent: i32) -> Result<[Cell; 2], Refused> {
        let cube = &self.place.cube;
        let by = exponent.saturating_add(cube.grid);
        let end = |value: Option<i128>| {
            value.and_then(|value| i64::try_from(value).ok()).ok_or_else(|| refused("a cut is too far away"))
        };
        let (low, high) = (end(shift_down(mantissa.into(), by))?, -end(shift_down(-i128::from(mantissa), by))?);
        let (mut below, mut above) = (cube.clone(), cube.clone());
        if self.place.depth == DEEPEST {
            return Err(refused("cells are cut too often"));
        }
        if low < below.lower[input] || high > above.upper[input] {
            return Err(refused("a cut is outside of its cell"));
        }
        (below.upper[input], above.lower[input]) = (high, low);
        let half = |cube: Cube| Cell { place: Place::within(cube, Some(self.place.clone())), open: self.open.clone() };
        Ok([half(above), half(below)])
    }
}

impl Place {
    fn within(cube: Cube, around: Option<Rc<Place>>) -> Rc<Place> {
        let depth = around.as_ref().map_or(0, |around| around.depth + 1);
        Rc::new(Place { cube, around, depth, table: OnceCell::new() })
    }
}

impl Region<'_> {
    /// What is decided on a box around it is decided here.
    fn inherit(&mut self, neuron: usize, known: Option<&Table>) {
        let Some(known) = known else { return };
        if known.lower[neuron] >= 0 {
            self.table.lower[neuron] = self.table.lower[neuron].max(0);
        }
        if known.upper[neuron] <= 0 {
            self.table.upper[neuron] = self.table.upper[neuron].min(0);
        }
    }
}
