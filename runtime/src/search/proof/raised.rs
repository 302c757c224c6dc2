//! What is known of a goal from the root: the raised bound of each of its rows, and of a combination of several.

use super::claim::Claim;
use super::reason::{Positive, Reason};
use super::region::Region;
use crate::bounds::{Compact, Conjunction, Node, Objective32};
use crate::search::Search;
use crate::search::guide::ascent::Ascent;

/// A goal's rows with their roots.
pub struct RaisedGoal {
    rows: Conjunction,
    roots: Vec<Node>,
    /// Of a combination of the rows, where there are several.
    combined: Option<Node>,
}

impl RaisedGoal {
    /// The row that is nearest to excluding the goal.
    fn nearest(&self) -> usize {
        let by_bound = |&a: &usize, &b: &usize| self.roots[a].bound.total_cmp(&self.roots[b].bound);
        (0..self.roots.len()).max_by(by_bound).expect("a goal has rows")
    }

    pub fn bound(&self) -> f32 {
        let combined = self.combined.as_ref().map_or(f32::NEG_INFINITY, |node| node.bound);
        self.roots[self.nearest()].bound.max(combined)
    }

    /// The reason, if a row or the combination is positive.
    pub fn reason(mut self) -> Option<Reason> {
        let nearest = self.nearest();
        if self.roots[nearest].bound > 0.0 {
            let node = self.roots.swap_remove(nearest);
            return Some(Reason::Raised { what: Positive::Row(nearest), node });
        }
        let node = self.combined.filter(|node| node.bound > 0.0)?;
        Some(Reason::Raised { what: Positive::Combination, node })
    }

    /// Its rows, and the root of a combination of them: the raised one, or else the nearest row alone.
    pub fn combination(&self) -> (&Conjunction, Node) {
        let nearest = self.nearest();
        let alone = || (0..self.roots.len()).map(|row| if row == nearest { 1.0 } else { 0.0 }).collect();
        let root = self.combined.clone().unwrap_or_else(|| self.roots[nearest].clone().weighted(alone()));
        (&self.rows, root)
    }

    /// That its combination is positive, or else the nearest of its rows; and which of them it is.
    pub fn claim(&self) -> (Positive, Claim<'_>) {
        let nearest = self.nearest();
        let (what, row, root) = match &self.combined {
            Some(root) => (Positive::Combination, (&self.rows).into(), root),
            None => (Positive::Row(nearest), (&self.rows.rows()[nearest]).into(), &self.roots[nearest]),
        };
        (what, Claim { row, target: 0.0, root: root.clone(), part_of: None })
    }
}

impl<'a> Search<'a> {
    /// Raises the rows of every goal of a region, each by itself and, of a conjunction, together.
    pub fn raise_goals(&mut self, region: &Region<'a>, compact: &Compact) -> Vec<RaisedGoal> {
        let steps = self.tuning.refine.at_root;
        let rows = region.rows(compact);
        let roots = self.raise(compact, &rows.iter().map(|(_, row)| row).collect::<Vec<_>>(), steps);
        let mut goals: Vec<(Vec<Objective32>, Vec<Node>)> = region.goals.iter().map(|_| (vec![], vec![])).collect();
        for (((goal, _), row), root) in rows.into_iter().zip(roots) {
            goals[goal].0.push(row);
            goals[goal].1.push(root);
        }
        let mut ascent = None;
        let raised = goals.into_iter().map(|(rows, roots)| {
            let rows = Conjunction::new(compact, rows, &region.bounds);
            let is_worth = (2..=self.tuning.phases.most_combined).contains(&roots.len())
                && roots.iter().all(|root| root.bound <= 0.0);
            let combined = is_worth.then(|| {
                let ascent = ascent.get_or_insert_with(|| Ascent::new(compact, self.tuning));
                ascent.combined_root(&rows, &roots, steps)
            });
            RaisedGoal { rows, roots, combined }
        });
        raised.collect()
    }
}
