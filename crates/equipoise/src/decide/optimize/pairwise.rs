//! Section 7.7.6: the same optimisation for somebody who can only compare classifiers.
//!
//! A question is about two classifiers near the current one. For a direction u of unit length, one follows the moves with
//! positive entries and the other those with negative ones, so the answer is the sign of $\langle u, s\rangle$, s being the
//! slopes along the moves. The adaptive engine keeps a posterior over the direction of s and chooses u. Both classifiers
//! exist whatever the bases, overlapping or soft: no sphere of confusion matrices has to be fitted in.

use super::oracle::{Failure, Guide, Neighbourhood, Predictions};
use crate::ask::{NoiseModel, Oracle, Preference, Query};
use crate::engine::{Direction, Probit, Said, Sites};
use crate::error::{Error, Result as Checked, check};
use crate::linalg::scaled;
use crate::view::View;

/// Whoever can say which of two classifiers is better.
pub trait Comparer {
    /// Why there may be no answer.
    type Err;

    /// Which one.
    fn prefer(&mut self, first: &Predictions<'_>, second: &Predictions<'_>) -> Result<Preference, Self::Err>;
}

/// An [`Oracle`] who is shown the entries of the confusion matrices that a view lists.
#[derive(Debug, Clone)]
pub struct ThroughView<O> {
    oracle: O,
    view: View,
}

impl<O: Oracle> ThroughView<O> {
    /// Asks an oracle about points of a view.
    pub fn new(oracle: O, view: View) -> Self {
        Self { oracle, view }
    }
}

/// Why an oracle behind a view did not answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unanswered<E> {
    /// The view cannot be read off the confusion matrices.
    #[error(transparent)]
    View(Error),
    /// The oracle failed.
    #[error("no answer")]
    Oracle(E),
}

impl<O: Oracle> Comparer for ThroughView<O> {
    type Err = Unanswered<O::Err>;

    fn prefer(&mut self, first: &Predictions<'_>, second: &Predictions<'_>) -> Result<Preference, Self::Err> {
        let point =
            |it: &Predictions<'_>| it.confusions().and_then(|it| self.view.of(&it)).map_err(Unanswered::View);
        let query = Query::new(point(first)?, point(second)?);
        Ok(self.oracle.prefer(&query).map_err(Unanswered::Oracle)?.preference)
    }
}

/// Finds slopes by comparisons.
#[derive(Debug, Clone)]
pub struct Comparing<C> {
    comparer: C,
    step: f64,
    tolerance: f64,
    most: usize,
    questions: usize,
}

impl<C: Comparer> Comparing<C> {
    /// Asks until the direction of the slopes is known to .1 rad, at most 200 times an iteration.
    pub fn new(comparer: C) -> Self {
        Self { comparer, step: 0.05, tolerance: 0.1, most: 200, questions: 0 }
    }

    /// To what angle, in rad, the direction of the slopes is to be known.
    pub fn tolerance(self, tolerance: f64) -> Checked<Self> {
        let ok = (1e-4..=1.0).contains(&tolerance);
        check::number("tolerance", tolerance, ok, "a number in [0.0001, 1]")?;
        Ok(Self { tolerance, ..self })
    }

    /// How far the two classifiers are moved: far enough to see a difference, near enough for the metric to be straight.
    pub fn step(self, step: f64) -> Checked<Self> {
        let ok = step > 0.0 && step <= 0.2;
        check::number("step", step, ok, "a number greater than 0 and at most 0.2")?;
        Ok(Self { step, ..self })
    }

    /// How many questions an iteration may ask.
    pub fn most(self, questions: usize) -> Checked<Self> {
        Ok(Self { most: check::at_least("questions", questions, 1, "at least 1")?, ..self })
    }

    fn ask(
        &mut self,
        about: &str,
        ask: impl FnOnce(&mut C) -> Result<Preference, C::Err>,
    ) -> Result<Preference, Failure<C::Err>> {
        self.questions += 1;
        let call = self.questions;
        ask(&mut self.comparer).map_err(|error| Failure { call, about: about.to_owned(), cause: Err(error) })
    }
}

impl<C: Comparer> Guide for Comparing<C> {
    type Err = C::Err;

    fn slopes(&mut self, around: &Neighbourhood<'_>) -> Result<Vec<f64>, Failure<C::Err>> {
        // Moves that change no confusion matrix cannot be asked about; their slope is 0.
        let moves: Vec<usize> = (0..around.moves())
            .filter(|&n| around.displacement(n).iter().any(|change| change.abs() > 1e-12))
            .collect();
        let mut slopes = vec![0.0; around.moves()];
        if moves.is_empty() {
            return Ok(slopes);
        }
        let probit = Probit::of(NoiseModel::Exact, self.tolerance);
        let mut hesitates = false;
        let mut posterior = Sites::new(moves.len(), 1.0);
        for _ in 0..self.most {
            let known = Direction::of(&posterior);
            if posterior.mean().iter().any(|&m| m != 0.0) && known.radius() <= self.tolerance {
                break;
            }
            let towards = known.widest().to_vec();
            let part = |sign: f64| {
                let mut steps = vec![0.0; around.moves()];
                moves.iter().zip(&towards).for_each(|(&n, u)| steps[n] = self.step * (sign * u).max(0.0));
                steps
            };
            let (first, second) = (part(1.0), part(-1.0));
            let answer = self.ask("two classifiers near the current one", |comparer| {
                around.moved(&first, |first| around.moved(&second, |second| comparer.prefer(first, second)))
            })?;
            hesitates |= answer == Preference::CannotTell;
            let (towards, said) = match answer {
                Preference::First => (towards, Said::Positive),
                Preference::Second => (scaled(&towards, -1.0), Said::Positive),
                Preference::CannotTell => (towards, Said::Within),
            };
            posterior.add(towards, if hesitates { probit } else { probit.decided() }, said);
            posterior.settle(3, 1e-6);
        }
        moves.iter().zip(posterior.mean()).for_each(|(&n, slope)| slopes[n] = *slope);
        Ok(slopes)
    }

    fn prefers(
        &mut self,
        first: &Predictions<'_>,
        second: &Predictions<'_>,
    ) -> Result<bool, Failure<C::Err>> {
        let answer = self.ask("the model and the result", |comparer| comparer.prefer(first, second))?;
        Ok(answer == Preference::First)
    }

    fn queries(&self) -> usize {
        self.questions
    }
}
