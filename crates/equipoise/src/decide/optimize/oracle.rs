//! Who knows the metric: a judge who evaluates classifiers, and a guide that makes slopes of it.
//!
//! A [`Judge`] puts one number on the predictions for the validation rows. Whether it takes probabilities or labels must
//! be said, because it decides how far probes go: a closure takes probabilities, and so does a
//! [`Metric`](crate::Metric). A [`Guide`] says how the metric changes along moves of the current
//! classifier; [`Probing`] finds out by asking a judge.

use super::probe::Move;
use super::problem::{Position, Standing, Validation};
use crate::error::{Result as Checked, check};
use crate::population::largest;
use crate::rates::GroupConfusions;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;

/// A classifier's predictions for the validation rows.
#[derive(Debug)]
pub struct Predictions<'a> {
    validation: &'a Validation<'a>,
    at: Cow<'a, Standing>,
    moves: &'a [(f64, Move<'a>)],
}

impl<'a> Predictions<'a> {
    pub(super) fn new(
        validation: &'a Validation<'a>,
        at: Cow<'a, Standing>,
        moves: &'a [(f64, Move<'a>)],
    ) -> Self {
        Self { validation, at, moves }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.validation.rows.classes()
    }

    /// The true class of every row.
    pub fn truth(&self) -> &[u8] {
        self.validation.rows.truth()
    }

    /// The predicted distribution of every row, row after row.
    pub fn soft(&self) -> Vec<f64> {
        let mut soft = self.at.soft.clone();
        for (step, towards) in self.moves {
            towards.on_rows(*step, self.validation, &self.at.soft, &mut soft);
        }
        // Sums of moves may pass 0 or 1 by a rounding error.
        soft.iter_mut().for_each(|p| *p = p.clamp(0.0, 1.0));
        soft
    }

    /// The most likely label of every row; ties go to the smaller class.
    pub fn labels(&self) -> Vec<u8> {
        self.soft().chunks(self.classes()).map(|row| largest(row.iter().copied()) as u8).collect()
    }

    /// The confusion matrices on the validation rows.
    pub fn confusions(&self) -> Checked<GroupConfusions> {
        let k = self.classes();
        let mut entries = self.at.confusions.clone();
        for (step, towards) in self.moves {
            let change = towards.on_validation(&self.at, k);
            entries.iter_mut().zip(change).for_each(|(entry, change)| *entry += step * change);
        }
        GroupConfusions::new(k, entries.chunks(k * k).map(<[f64]>::to_vec).collect())
    }
}

/// What a judge takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// A distribution over the classes for every row.
    Soft,
    /// One class for every row. Probes are drawn that many times and their values averaged.
    Hard {
        /// How many times.
        draws: usize,
    },
}

impl Labels {
    /// How far probes move: soft predictions can be moved by very little, labels must be moved by much to be drawn
    /// differently at all.
    pub fn step(self) -> f64 {
        match self {
            Labels::Soft => 1e-3,
            Labels::Hard { .. } => 0.4,
        }
    }
}

/// Whoever can put a number on a classifier. Larger is better.
pub trait Judge {
    /// Why there may be no number: [`Infallible`] for a closure, an I/O error for another process.
    type Err;

    /// What it takes.
    fn labels(&self) -> Labels;

    /// The number.
    fn value(&mut self, predictions: &Predictions<'_>) -> Result<f64, Self::Err>;
}

/// A closure is a judge that takes probabilities.
impl<F: FnMut(&Predictions<'_>) -> f64> Judge for F {
    type Err = Infallible;

    fn labels(&self) -> Labels {
        Labels::Soft
    }

    fn value(&mut self, predictions: &Predictions<'_>) -> Result<f64, Infallible> {
        Ok(self(predictions))
    }
}

/// The current classifier and the moves a guide is asked about.
#[derive(Debug)]
pub struct Neighbourhood<'a> {
    validation: &'a Validation<'a>,
    at: &'a Position,
    moves: Vec<Move<'a>>,
}

impl<'a> Neighbourhood<'a> {
    pub(super) fn new(validation: &'a Validation<'a>, at: &'a Position, moves: Vec<Move<'a>>) -> Self {
        Self { validation, at, moves }
    }

    /// How many moves there are.
    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// The current classifier.
    pub fn here(&self) -> Predictions<'a> {
        Predictions::new(self.validation, Cow::Borrowed(&self.at.standing), &[])
    }

    /// The classifier after several moves at once, each by its step.
    pub fn moved<T>(&self, steps: &[f64], use_it: impl FnOnce(&Predictions<'_>) -> T) -> T {
        let moves: Vec<(f64, Move)> =
            steps.iter().copied().zip(self.moves.iter().copied()).filter(|(step, _)| *step != 0.0).collect();
        use_it(&Predictions::new(self.validation, Cow::Borrowed(&self.at.standing), &moves))
    }

    /// What a step of size 1 along a move adds to the confusion matrices, group by group.
    pub fn displacement(&self, n: usize) -> Vec<f64> {
        self.moves[n].on_validation(&self.at.standing, self.validation.rows.classes())
    }

    /// A move in words.
    pub fn in_words(&self, n: usize) -> String {
        self.moves[n].in_words(self.validation)
    }

    pub(super) fn rows_of(&self) -> impl Iterator<Item = Vec<f64>> {
        let (bases, k) = (self.validation.bases.len(), self.validation.rows.classes());
        self.moves.iter().map(move |towards| towards.on_training(&self.at.training, bases, k))
    }
}

/// Says how the metric changes near a classifier, and which of two classifiers it likes better.
pub trait Guide {
    /// Why there may be no answer.
    type Err;

    /// The change of the metric per unit step along every move, all up to one positive factor.
    fn slopes(&mut self, around: &Neighbourhood<'_>) -> Result<Vec<f64>, Failure<Self::Err>>;

    /// Whether the first is strictly better.
    fn prefers(
        &mut self,
        first: &Predictions<'_>,
        second: &Predictions<'_>,
    ) -> Result<bool, Failure<Self::Err>>;

    /// How often somebody was asked so far.
    fn queries(&self) -> usize;
}

/// A question that was not answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure<E, T = Infallible> {
    /// Which question, counted from 1.
    pub call: usize,
    /// What it was about.
    pub about: String,
    /// What went wrong.
    pub cause: Cause<E, T>,
}

/// Why a question was not answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause<E, T = Infallible> {
    /// The answer is not a finite number.
    NoNumber(f64),
    /// Whoever knows the metric failed.
    Failed(E),
    /// The training rows were asked in vain.
    Training(T),
}

impl<E, T> Failure<E, T> {
    /// The training rows did not answer; the guide was asked so often before.
    pub(super) fn training(call: usize, error: T) -> Self {
        Self { call, about: "the training rows".to_owned(), cause: Cause::Training(error) }
    }

    /// The same failure where training rows may fail too.
    pub(super) fn of_guide(failure: Failure<E>) -> Self {
        let cause = match failure.cause {
            Cause::NoNumber(value) => Cause::NoNumber(value),
            Cause::Failed(error) => Cause::Failed(error),
        };
        Self { call: failure.call, about: failure.about, cause }
    }
}

impl<E: fmt::Display, T: fmt::Display> fmt::Display for Failure<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} ({}): ", self.call, self.about)?;
        match &self.cause {
            Cause::NoNumber(value) => write!(f, "the metric is {value}, expected a finite number"),
            Cause::Failed(error) => error.fmt(f),
            Cause::Training(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Display + fmt::Debug, T: fmt::Display + fmt::Debug> std::error::Error for Failure<E, T> {}

/// Finds slopes by evaluating the metric a small step away: differences, never values (eq. 7.12 in its delta form).
///
/// # Departures
/// The printed system equates values, $\sum \alpha\Phi[h^{\ell,i}] = \mathcal E[h^{\ell,i}]$. That is right only for
/// metrics that are linear without a constant; differences to the current classifier are right to first order for all.
#[derive(Debug, Clone)]
pub struct Probing<J> {
    judge: J,
    step: f64,
    random: Xoshiro256PlusPlus,
    calls: usize,
}

impl<J: Judge> Probing<J> {
    /// Asks a judge, with the step its sort of labels needs.
    pub fn new(judge: J) -> Self {
        let step = judge.labels().step();
        Self { judge, step, random: Xoshiro256PlusPlus::seed_from_u64(0), calls: 0 }
    }

    /// How far probes move.
    pub fn step(self, step: f64) -> Checked<Self> {
        let ok = step > 0.0 && step <= 1.0;
        check::number("the step of probes", step, ok, "a number greater than 0 and at most 1")?;
        Ok(Self { step, ..self })
    }

    /// The seed of drawn labels.
    pub fn seed(self, seed: u64) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed), ..self }
    }

    /// The judge.
    pub fn judge(&mut self) -> &mut J {
        &mut self.judge
    }

    /// One number for a classifier.
    pub fn value(&mut self, predictions: &Predictions<'_>, about: &str) -> Result<f64, Failure<J::Err>> {
        let Labels::Hard { draws } = self.judge.labels() else { return self.once(predictions, about) };
        let soft = predictions.soft();
        if soft.iter().all(|&p| p == 0.0 || p == 1.0) {
            return self.once(predictions, about);
        }
        let mut sum = 0.0;
        for _ in 0..draws {
            let labels: Vec<u8> =
                soft.chunks(predictions.classes()).map(|row| draw(row, &mut self.random)).collect();
            sum += self.once(&predictions.validation.predictions(&labels), about)?;
        }
        Ok(sum / draws as f64)
    }

    fn once(&mut self, predictions: &Predictions<'_>, about: &str) -> Result<f64, Failure<J::Err>> {
        self.calls += 1;
        let (call, about) = (self.calls, || about.to_owned());
        match self.judge.value(predictions) {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(value) => Err(Failure { call, about: about(), cause: Cause::NoNumber(value) }),
            Err(error) => Err(Failure { call, about: about(), cause: Cause::Failed(error) }),
        }
    }
}

fn draw(distribution: &[f64], random: &mut Xoshiro256PlusPlus) -> u8 {
    let mut left: f64 = random.random_range(0.0..1.0);
    let chosen = distribution.iter().position(|p| {
        left -= p;
        left < 0.0
    });
    chosen.unwrap_or(distribution.len() - 1) as u8
}

impl<J: Judge> Guide for Probing<J> {
    type Err = J::Err;

    fn slopes(&mut self, around: &Neighbourhood<'_>) -> Result<Vec<f64>, Failure<J::Err>> {
        let here = self.value(&around.here(), "the current classifier")?;
        let mut steps = vec![0.0; around.moves()];
        let mut slopes = Vec::with_capacity(steps.len());
        for n in 0..steps.len() {
            steps[n] = self.step;
            let value = around.moved(&steps, |moved| self.value(moved, &around.in_words(n)))?;
            slopes.push((value - here) / self.step);
            steps[n] = 0.0;
        }
        Ok(slopes)
    }

    fn prefers(
        &mut self,
        first: &Predictions<'_>,
        second: &Predictions<'_>,
    ) -> Result<bool, Failure<J::Err>> {
        Ok(self.value(first, "the most likely classes")? > self.value(second, "the result")?)
    }

    fn queries(&self) -> usize {
        self.calls
    }
}
