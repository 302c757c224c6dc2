//! Counting outcomes, and finding those that contradict each other.

use super::run::{Outcome, Run};
use crate::suite::{Judgement, Word};

/// What a run did with some of its instances.
#[derive(Debug, Default, PartialEq)]
pub struct Tally {
    pub instances: usize,
    pub unsat: usize,
    pub sat: usize,
    /// Over instances that were decided, where known.
    pub mean_seconds: Option<f64>,
    pub mean_lp_calls: Option<f64>,
    pub certificates: usize,
    /// Of these, those that `pg-check` accepted.
    pub accepted: usize,
    /// Over the certificates.
    pub mean_bytes: Option<f64>,
    pub mean_judging: Option<f64>,
}

impl Tally {
    pub fn of<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> Tally {
        let count = |word: Word| outcomes.clone().filter(|outcome| outcome.verdict == word).count();
        let certificates = outcomes.clone().filter_map(|outcome| outcome.certificate.as_ref());
        let decided = outcomes.clone().filter(|outcome| outcome.verdict.is_decided());
        Tally {
            instances: outcomes.clone().count(),
            unsat: count(Word::Unsat),
            sat: count(Word::Sat),
            mean_seconds: mean(decided.clone().filter_map(|outcome| outcome.seconds)),
            mean_lp_calls: mean(decided.filter_map(|outcome| outcome.lp_calls).map(|calls| calls as f64)),
            certificates: certificates.clone().count(),
            accepted: certificates.clone().filter(|judged| judged.judgement == Judgement::Accepted).count(),
            mean_bytes: mean(certificates.clone().map(|judged| judged.bytes as f64)),
            mean_judging: mean(certificates.map(|judged| judged.seconds)),
        }
    }

    pub fn undecided(&self) -> usize {
        self.instances - self.unsat - self.sat
    }
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let count = values.clone().count();
    (count > 0).then(|| values.sum::<f64>() / count as f64)
}

/// The instances of one network and one radius.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub network: String,
    pub eps: Option<String>,
}

impl Group {
    /// Whether the instance of this key belongs to the group; the first run tells the radius.
    fn holds(&self, outcome: &Outcome, first: &Run) -> bool {
        let eps = || first.find(outcome.key()).and_then(|known| known.eps.clone());
        outcome.network == self.network && (self.eps.is_none() || eps() == self.eps)
    }

    pub fn tally(&self, run: &Run, first: &Run) -> Tally {
        let held: Vec<&Outcome> = run.outcomes.iter().filter(|outcome| self.holds(outcome, first)).collect();
        Tally::of(held.into_iter())
    }
}

/// In the order in which they appear.
pub fn groups(run: &Run) -> Vec<Group> {
    let mut groups = Vec::new();
    for outcome in &run.outcomes {
        let group = Group { network: outcome.network.clone(), eps: outcome.eps.clone() };
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

/// An instance that one run calls sat and another unsat.
#[derive(Debug, PartialEq)]
pub struct Disagreement<'a> {
    pub network: &'a str,
    pub property: &'a str,
    /// Of each run, if it has one.
    pub verdicts: Vec<Option<Word>>,
}

pub fn disagreements(runs: &[Run]) -> Vec<Disagreement<'_>> {
    let keys = runs.first().into_iter().flat_map(|run| run.outcomes.iter().map(Outcome::key));
    let all = keys.map(|(network, property)| {
        let verdict = |run: &Run| run.find((network, property)).map(|outcome| outcome.verdict);
        Disagreement { network, property, verdicts: runs.iter().map(verdict).collect() }
    });
    all.filter(|row| [Word::Sat, Word::Unsat].iter().all(|word| row.verdicts.contains(&Some(*word)))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::sample;
    use super::*;
    use crate::suite::Certificate;

    #[test]
    fn outcomes_are_counted() {
        let run = sample("a", &[(Word::Unsat, 1.0), (Word::Sat, 3.0), (Word::Timeout, 60.0), (Word::Error, 0.1)]);
        let tally = Tally::of(run.outcomes.iter());
        let (mean_seconds, mean_lp_calls) = (Some(2.0), Some(0.5));
        let expected = Tally { instances: 4, unsat: 1, sat: 1, mean_seconds, mean_lp_calls, ..Tally::default() };
        assert_eq!((tally.undecided(), tally), (2, expected));
        assert_eq!(Tally::of([].iter()), Tally::default());
    }

    #[test]
    fn certificates_are_counted() {
        let mut run = sample("a", &[(Word::Unsat, 1.0); 3]);
        let judged = |bytes, seconds, judgement| Some(Certificate { bytes, seconds, judgement, arithmetic: None });
        run.outcomes[0].certificate = judged(1000, 0.5, Judgement::Accepted);
        run.outcomes[2].certificate = judged(3000, 1.5, Judgement::Rejected("record 1".into()));
        let Tally { certificates, accepted, mean_bytes, mean_judging, .. } = Tally::of(run.outcomes.iter());
        assert_eq!((certificates, accepted, mean_bytes, mean_judging), (2, 1, Some(2000.0), Some(1.0)));
    }

    #[test]
    fn groups_are_networks_and_radii() {
        let mut run = sample("a", &[(Word::Unsat, 1.0); 4]);
        for (k, outcome) in run.outcomes.iter_mut().enumerate() {
            outcome.network = "n".into();
            outcome.property = k.to_string();
            outcome.eps = Some(["0.1", "0.2"][k % 2].into());
        }
        let groups = groups(&run);
        assert_eq!(groups.iter().map(|group| group.eps.as_deref().unwrap()).collect::<Vec<_>>(), ["0.1", "0.2"]);
        assert_eq!(groups[0].tally(&run, &run).instances, 2);
    }

    #[test]
    fn contradictions_are_found() {
        let first = sample("a", &[(Word::Unsat, 1.0), (Word::Sat, 1.0), (Word::Timeout, 60.0)]);
        let second = sample("b", &[(Word::Unsat, 1.0), (Word::Unsat, 1.0), (Word::Sat, 60.0)]);
        let verdicts = vec![Some(Word::Sat), Some(Word::Unsat)];
        assert_eq!(disagreements(&[first, second]), [Disagreement { network: "n1", property: "p", verdicts }]);
    }
}
