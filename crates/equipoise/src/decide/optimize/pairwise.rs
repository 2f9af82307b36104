//! Section 7.7.6: the same optimisation for somebody who can only compare classifiers.
//!
//! A question is about two classifiers near the current one. For a direction u of unit length, one follows the moves with
//! positive entries and the other those with negative ones, so the answer is the sign of $\langle u, s\rangle$, s being the
//! slopes along the moves. The adaptive engine keeps a posterior over the direction of s and chooses u. Both classifiers
//! exist whatever the bases, overlapping or soft: no sphere of confusion matrices has to be fitted in.

use super::oracle::{Cause, Failure, Guide, Neighbourhood, Predictions};
use crate::ask::{NoiseModel, Oracle, Preference, Query};
use crate::engine::{Direction, Probit, Said, Sites};
use crate::error::{Error, Result as Checked, check};
use crate::linalg::scaled;
use crate::view::View;

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

/// Finds slopes by comparisons: an [`Oracle`] is shown the entries of the confusion matrices that a view lists.
#[derive(Debug, Clone)]
pub struct Comparing<O> {
    oracle: O,
    view: View,
    step: f64,
    tolerance: f64,
    most: usize,
    questions: usize,
}

impl<O: Oracle> Comparing<O> {
    /// Asks until the direction of the slopes is known to .1 rad, at most 200 times an iteration.
    pub fn new(oracle: O, view: View) -> Self {
        Self { oracle, view, step: 0.05, tolerance: 0.1, most: 200, questions: 0 }
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
        first: &Predictions<'_>,
        second: &Predictions<'_>,
    ) -> Result<Preference, Failure<Unanswered<O::Err>>> {
        self.questions += 1;
        let point = |it: &Predictions<'_>| it.confusions().and_then(|it| self.view.of(&it));
        let points = point(first).and_then(|first| Ok(Query::new(first, point(second)?)));
        let answer = points
            .map_err(Unanswered::View)
            .and_then(|query| self.oracle.prefer(&query).map_err(Unanswered::Oracle));
        let failure =
            |error| Failure { call: self.questions, about: about.to_owned(), cause: Cause::Failed(error) };
        answer.map(|answer| answer.preference).map_err(failure)
    }
}

impl<O: Oracle> Guide for Comparing<O> {
    type Err = Unanswered<O::Err>;

    fn slopes(&mut self, around: &Neighbourhood<'_>) -> Result<Vec<f64>, Failure<Self::Err>> {
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
            let about = "two classifiers near the current one";
            let answer = around
                .moved(&first, |first| around.moved(&second, |second| self.ask(about, first, second)))?;
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
    ) -> Result<bool, Failure<Self::Err>> {
        let answer = self.ask("the model and the result", first, second)?;
        Ok(answer == Preference::First)
    }

    fn queries(&self) -> usize {
        self.questions
    }
}
