//! The best threshold on a table: every one is tried.

use super::requirement::Requirement;
use super::tally::Tally;
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::population::{Cell, Profile};
use crate::rates::GroupConfusions;
use serde::{Serialize, Serializer};

/// A threshold, and the others that decide every row alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cut {
    /// Accept scores of at least this: half way between the lowest accepted and the highest rejected score.
    ///
    /// The lowest score if every row is accepted; just above the highest if none is.
    pub threshold: f64,
    /// The highest rejected score, which a threshold must exceed; `None` if every row is accepted.
    pub above: Option<f64>,
    /// The lowest accepted score, which a threshold may reach; `None` if no row is accepted.
    pub up_to: Option<f64>,
    /// How many rows are accepted.
    pub accepted: usize,
}

/// The best rule found, and what it does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// Where to cut.
    pub cut: Cut,
    /// The metric there.
    pub value: f64,
    /// The confusion matrix there.
    #[serde(serialize_with = "as_matrices")]
    pub confusions: GroupConfusions,
}

/// A best rule, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Optimum<B> {
    /// The best rule among those that meet every requirement.
    Found(B),
    /// No rule meets every requirement.
    Infeasible(Infeasible),
}

impl<B> Optimum<B> {
    /// The rule, if there is one.
    pub fn found(self) -> Option<B> {
        match self {
            Optimum::Found(best) => Some(best),
            Optimum::Infeasible(_) => None,
        }
    }
}

/// Requirements that no rule meets together, and how far each can be met alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Infeasible {
    /// One entry per requirement.
    pub requirements: Vec<Reach>,
}

/// How far a requirement can be met by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reach {
    /// The requirement.
    pub requirement: String,
    /// The best value any rule reaches; `None` if the quantity has no value.
    pub best: Option<f64>,
    /// Whether that is enough.
    pub enough: bool,
}

impl std::fmt::Display for Infeasible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let alone: Vec<&Reach> = self.requirements.iter().filter(|reach| !reach.enough).collect();
        if alone.is_empty() {
            let all: Vec<&str> = self.requirements.iter().map(|reach| reach.requirement.as_str()).collect();
            return write!(f, "each of {} can be met, but no threshold meets them together", all.join(", "));
        }
        for (n, reach) in alone.iter().enumerate() {
            let start = if n == 0 { "no threshold meets " } else { ", nor " };
            write!(f, "{start}{}", reach.requirement)?;
            match reach.best {
                Some(best) => write!(f, " (the best that can be reached is {best:.4})")?,
                None => write!(f, " (it has no value on this table)")?,
            }
        }
        Ok(())
    }
}

/// How good a rule is: first by how far it misses the requirements, then by the metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rating {
    pub violation: f64,
    pub liking: f64,
}

impl Rating {
    pub fn beats(&self, other: Option<&Rating>) -> bool {
        other.is_none_or(|other| {
            self.violation < other.violation
                || (self.violation == other.violation && self.liking > other.liking)
        })
    }
}

/// Rates tallies by a metric and requirements.
pub(super) struct Judge<'a> {
    pub metric: &'a Metric,
    pub requirements: &'a [Requirement],
    point: Vec<f64>,
}

impl<'a> Judge<'a> {
    pub fn new(metric: &'a Metric, requirements: &'a [Requirement]) -> Self {
        Self { metric, requirements, point: Vec::new() }
    }

    /// `None` where the metric has no value.
    pub fn rate(&mut self, tally: &Tally) -> Option<Rating> {
        let liking = self.metric.sense().sign() * self.value(tally);
        let violation = self.requirements.iter().map(|r| r.violation(tally)).sum();
        liking.is_finite().then_some(Rating { violation, liking })
    }

    pub fn value(&mut self, tally: &Tally) -> f64 {
        tally.point(self.metric.view(), &mut self.point);
        self.metric.value(&self.point)
    }
}

impl Profile {
    /// The threshold with the best metric on these rows, among those that meet every requirement.
    ///
    /// Exact: all thresholds that differ are tried, so no single threshold does better on the table. Of equally good
    /// ones, the one that accepts fewest rows is returned. One threshold serves every group; see
    /// [`Profile::best_per_group`]. Thresholds where the metric has no value are passed over.
    pub fn best(&self, metric: &Metric, requirements: &[Requirement]) -> Result<Optimum<Best>> {
        self.check(metric, requirements)?;
        let masses = self.masses();
        let mut judge = Judge::new(metric, requirements);
        let Some((accepted, rating)) = self.sweep(&masses, &mut judge) else { return Err(no_value()) };
        if rating.violation > 0.0 {
            return Ok(Optimum::Infeasible(self.infeasible(requirements)));
        }
        let mut tally = self.tally(&masses);
        self.cells()[..accepted].iter().zip(&masses).for_each(|(cell, mass)| tally.accept(cell, *mass));
        Ok(Optimum::Found(Best {
            cut: self.cut(accepted),
            value: judge.value(&tally),
            confusions: tally.confusions()?,
        }))
    }

    pub(super) fn check(&self, metric: &Metric, requirements: &[Requirement]) -> Result<()> {
        self.check_metric(metric)?;
        requirements.iter().try_for_each(|requirement| requirement.check(2, self.groups()))
    }

    /// How many cells the best threshold accepts, and how good it is; `None` if the metric never has a value.
    pub(super) fn sweep(&self, masses: &[f64], judge: &mut Judge) -> Option<(usize, Rating)> {
        let mut tally = self.tally(masses);
        let mut best = judge.rate(&tally).map(|rating| (0, rating));
        let mut accepted = 0;
        for run in self.cells().chunk_by(|a, b| a.score == b.score) {
            run.iter().zip(&masses[accepted..]).for_each(|(cell, mass)| tally.accept(cell, *mass));
            accepted += run.len();
            let Some(rating) = judge.rate(&tally) else { continue };
            if rating.beats(best.as_ref().map(|(_, rating)| rating)) {
                best = Some((accepted, rating));
            }
        }
        best
    }

    /// The threshold that accepts the first cells.
    pub(super) fn cut(&self, accepted: usize) -> Cut {
        let rows = self.cells()[..accepted].iter().map(|cell| cell.rows as usize).sum();
        Cut { accepted: rows, ..self.cut_after(accepted) }
    }

    /// The same without counting the rows.
    pub(super) fn cut_after(&self, accepted: usize) -> Cut {
        let (first, rest) = self.cells().split_at(accepted);
        let score = |cell: &Cell| cell.score;
        let (above, up_to) = (rest.first().map(score), first.last().map(score));
        match (self.top_of_buckets(), up_to) {
            // A range of scores ends where the next one begins: what lies between is of the lower one.
            (Some(_), Some(threshold)) => Cut { threshold, above, up_to, accepted: 0 },
            (Some(top), None) => cut_between(Some(top), None, 0),
            (None, _) => cut_between(above, up_to, 0),
        }
    }

    /// What each requirement can reach alone.
    fn infeasible(&self, requirements: &[Requirement]) -> Infeasible {
        let reach = |requirement: &Requirement| {
            let mut tally = self.tally(&self.masses());
            let mut best = requirement.value(&tally);
            for run in self.cells().chunk_by(|a, b| a.score == b.score) {
                run.iter().for_each(|cell| tally.accept(cell, cell.mass()));
                best = requirement.better(best, requirement.value(&tally));
            }
            let enough = best.is_some_and(|best| requirement.is_met(best));
            Reach { requirement: requirement.to_string(), best, enough }
        };
        Infeasible { requirements: requirements.iter().map(reach).collect() }
    }
}

/// The threshold between the highest rejected and the lowest accepted score.
pub(super) fn cut_between(above: Option<f64>, up_to: Option<f64>, accepted: usize) -> Cut {
    let threshold = match (above, up_to) {
        (Some(above), Some(up_to)) => {
            let middle = above + 0.5 * (up_to - above);
            // Neighbouring numbers have nothing between them, and huge ones a distance that overflows.
            if middle > above && middle <= up_to { middle } else { up_to }
        }
        (None, Some(up_to)) => up_to,
        (Some(above), None) => above.next_up(),
        (None, None) => 0.0,
    };
    Cut { threshold, above, up_to, accepted }
}

/// Joint probabilities as one row-major matrix per group.
pub(super) fn as_matrices<S: Serializer>(
    confusions: &GroupConfusions,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let k = confusions.classes();
    let row = |g: usize, i: usize| (0..k).map(|j| confusions.get(g, i, j)).collect::<Vec<f64>>();
    let matrix = |g: usize| (0..k).map(|i| row(g, i)).collect::<Vec<_>>();
    (0..confusions.groups()).map(matrix).collect::<Vec<_>>().serialize(serializer)
}

pub(super) fn no_value() -> Error {
    Error::Mismatch("the metric has no value at any threshold of this table".to_owned())
}
