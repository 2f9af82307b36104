//! Who answers: a comparison goes in, a preference comes out.
//!
//! Procedures ask an [`Oracle`] and pass its error along with `?`, so one implementation serves the
//! simulation, the prompt, the web page and Python. Closures are oracles; [`Simulated`](super::Simulated) answers from a hidden
//! metric with noise; [`Counting`](super::Counting), [`Oracle::majority`] and [`Oracle::reparametrised`] wrap others.

use super::adaptors::{Majority, Reparametrised};
use super::memory::Snapshot;
use crate::view::Point;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// Two feasible points to compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// One classifier.
    pub first: Point,
    /// The other.
    pub second: Point,
}

impl Query {
    /// A question.
    pub fn new(first: Point, second: Point) -> Self {
        Self { first, second }
    }

    /// Whether both points have as many entries as `other`'s.
    pub(crate) fn is_like(&self, other: &Query) -> bool {
        self.first.len() == other.first.len() && self.second.len() == other.second.len()
    }

    /// Whether both points agree with `other`'s within `tolerance` in every coordinate.
    pub fn is_close(&self, other: &Query, tolerance: f64) -> bool {
        let close = |a: &Point, b: &Point| a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance);
        self.is_like(other) && close(&self.first, &other.first) && close(&self.second, &other.second)
    }

    /// Whether it is the same question, sides swapped or not, within `tolerance` in every coordinate.
    pub(crate) fn is_same_pair(&self, other: &Query, tolerance: f64) -> bool {
        let turned = Query::new(self.second.clone(), self.first.clone());
        self.is_close(other, tolerance) || turned.is_close(other, tolerance)
    }
}

/// Which of the two points is liked better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preference {
    /// The first.
    First,
    /// The second.
    Second,
    /// Neither is clearly better.
    CannotTell,
}

impl Preference {
    /// Whether the first point is strictly liked better: the papers' $\Omega = 1$.
    ///
    /// A search has two directions only. It takes "can't tell" like the papers take equal values: not
    /// strictly better, hence as if the second had been chosen.
    pub fn is_first(self) -> bool {
        self == Preference::First
    }

    /// The other preference; can't tell stays.
    pub fn reversed(self) -> Self {
        match self {
            Preference::First => Preference::Second,
            Preference::Second => Preference::First,
            Preference::CannotTell => Preference::CannotTell,
        }
    }
}

/// An answer: the preference, and the pair as it was shown if that differs from the pair that was asked.
///
/// People see rounded counts. The adaptive engine conditions on what was shown; searches ignore it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Which one.
    pub preference: Preference,
    /// The rounded pair the person saw.
    pub shown: Option<Query>,
}

impl From<Preference> for Answer {
    fn from(preference: Preference) -> Self {
        Self { preference, shown: None }
    }
}

/// Whoever answers comparisons.
pub trait Oracle {
    /// Why an answer may be missing: [`Infallible`] for a simulation, an I/O error for a prompt.
    type Err;

    /// Which of the two is liked better.
    fn prefer(&mut self, query: &Query) -> Result<Answer, Self::Err>;

    /// A state kept from an earlier run over the same answers, for a plan to go on from; the answers it has taken in
    /// are then not asked for again.
    fn recall(&mut self) -> Option<Snapshot> {
        None
    }

    /// Offers the state reached after the answers so far, for [`recall`](Self::recall) in a later run.
    fn keep(&mut self, _state: &mut dyn FnMut() -> Snapshot) {}

    /// Every question asked so many times, and what most answers say; a draw is "can't tell". An odd number, so that
    /// two-way answers cannot draw.
    fn majority(self, times: usize) -> crate::Result<Majority<Self>>
    where
        Self: Sized,
    {
        Majority::new(self, times)
    }

    /// The same oracle asked about `map(point)` in place of each point.
    fn reparametrised<F>(&mut self, map: F) -> Reparametrised<'_, Self, F>
    where
        F: Fn(&[f64]) -> Point,
        Self: Sized,
    {
        Reparametrised::new(self, map)
    }
}

/// A closure that always answers is an oracle.
impl<F: FnMut(&Query) -> Preference> Oracle for F {
    type Err = Infallible;
    fn prefer(&mut self, query: &Query) -> Result<Answer, Infallible> {
        Ok(self(query).into())
    }
}
