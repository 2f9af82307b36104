//! What is uncertain about a threshold, and what that comes to.

use super::bayes::bayes;
use super::groups::GroupBest;
use super::requirement::Requirement;
use super::sweep::Judge;
use super::tally::Tally;
use crate::decide::{Spread, check_level};
use crate::error::{Result, check};
use crate::metric::Metric;
use crate::population::{Cell, Profile, Resampling, accepts};
use serde::Serialize;

/// A tiny sample may lose a class when it is drawn again; so often it is tried anew.
const TRIES: u64 = 100;

/// What is uncertain: the metric, the sample, or both.
#[derive(Debug, Clone, Copy)]
pub struct Doubt<'a> {
    /// Draws of the metric, from its posterior.
    pub metric_draws: &'a [Metric],
    /// How often the rows are drawn again, each time in the memory of the time before.
    pub resamples: usize,
    /// The same seed gives the same resamplings.
    pub seed: u64,
    /// The probability intervals have.
    pub level: f64,
}

impl Default for Doubt<'_> {
    fn default() -> Self {
        Self { metric_draws: &[], resamples: 0, seed: 0, level: crate::decide::rank::LEVEL }
    }
}

/// The interval of a measured threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Uncertain {
    /// Where the thresholds of the draws lie.
    pub interval: Spread,
    /// Draws with a threshold.
    pub draws: usize,
    /// Draws without one: no threshold met the requirements, or the metric had no value.
    pub without: usize,
}

impl Uncertain {
    fn of(thresholds: &[f64], draws: usize, level: f64) -> Option<Self> {
        let interval = Spread::of(thresholds, level)?;
        Some(Self { interval, draws: thresholds.len(), without: draws - thresholds.len() })
    }
}

/// How much better a measured threshold does than that for calibrated scores, on rows it was not chosen on.
///
/// In every resampling the threshold is chosen on the rows that were drawn and judged on those that were not, about
/// three in eight: a threshold that fits the noise of its rows gains nothing there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gain {
    /// Where the gains of the draws lie, in units of the metric; above 0 is better, for a cost too.
    pub interval: Spread,
    /// The share of the draws with a gain above 0.
    pub better: f64,
}

impl Gain {
    fn of(gains: &[f64], level: f64) -> Option<Self> {
        let better = gains.iter().filter(|&&gain| gain > 0.0).count() as f64 / gains.len() as f64;
        Spread::of(gains, level).map(|interval| Self { interval, better })
    }
}

/// One table that might have been, and one metric that might be meant.
struct Draw<'a> {
    /// What the rows of each cell weigh that were drawn.
    drawn: &'a [f64],
    /// What those weigh that were not; empty without resamplings.
    left: &'a [f64],
    judge: Judge<'a>,
}

impl Profile {
    /// The interval of the best threshold over draws of the metric and resamplings of the rows; `None` without either.
    ///
    /// Draw n of the metric meets resampling n; the shorter list is repeated.
    pub fn uncertain(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        doubt: Doubt,
    ) -> Result<Option<Uncertain>> {
        Ok(self.uncertain_and_gain(metric, requirements, doubt)?.0)
    }

    /// The interval of the best threshold, and its gain over that of theory where rows are left to judge it.
    pub(super) fn uncertain_and_gain(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        doubt: Doubt,
    ) -> Result<(Option<Uncertain>, Option<Gain>)> {
        let (mut thresholds, mut gains) = (Vec::new(), Vec::new());
        let prior = self.positive_prior();
        let draws = self.each_draw(metric, requirements, doubt, |mut draw| {
            let met = self.sweep(draw.drawn, &mut draw.judge).filter(|(_, rating)| rating.violation == 0.0);
            let Some((accepted, _)) = met else { return };
            let threshold = self.cut(accepted).threshold;
            thresholds.push(threshold);
            gains.extend(self.gain(&mut draw, |_| threshold, prior));
        })?;
        Ok((Uncertain::of(&thresholds, draws, doubt.level), Gain::of(&gains, doubt.level)))
    }

    /// The intervals of the thresholds of all groups, as [`Profile::uncertain`] has them for a common one.
    ///
    /// In every draw the search starts from `best` and moves one group at a time.
    pub fn uncertain_per_group(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        best: &GroupBest,
        doubt: Doubt,
    ) -> Result<Option<Vec<Uncertain>>> {
        Ok(self.uncertain_and_gain_per_group(metric, requirements, best, doubt)?.0)
    }

    /// The intervals of the thresholds of all groups, and their gain over that of theory.
    pub(super) fn uncertain_and_gain_per_group(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        best: &GroupBest,
        doubt: Doubt,
    ) -> Result<(Option<Vec<Uncertain>>, Option<Gain>)> {
        check::length("cuts", best.cuts.len(), self.groups())?;
        let (mut thresholds, mut gains) = (vec![Vec::new(); self.groups()], Vec::new());
        let prior = self.positive_prior();
        let draws = self.each_draw(metric, requirements, doubt, |mut draw| {
            let Some(cuts) = self.improve(best, draw.drawn, &mut draw.judge) else { return };
            cuts.iter().zip(&mut thresholds).for_each(|(cut, found)| found.push(cut.threshold));
            let own = |cell: &Cell| cuts[usize::from(cell.group)].threshold;
            gains.extend(self.gain(&mut draw, own, prior));
        })?;
        let uncertain = thresholds.iter().map(|found| Uncertain::of(found, draws, doubt.level)).collect();
        Ok((uncertain, Gain::of(&gains, doubt.level)))
    }

    /// How much better a rule is than the Bayes threshold of the metric drawn, on the rows the draw left out; `None`
    /// where either has no value.
    fn gain(&self, draw: &mut Draw, threshold: impl Fn(&Cell) -> f64, prior: f64) -> Option<f64> {
        if draw.left.is_empty() {
            return None;
        }
        let other = bayes(draw.judge.metric, prior, &[], crate::decide::rank::LEVEL).ok()?.threshold;
        let sign = draw.judge.metric.sense().sign();
        let mut value =
            |threshold: &dyn Fn(&Cell) -> f64| sign * draw.judge.value(&self.left_out(draw.left, threshold));
        let gain = value(&threshold) - value(&|_| other);
        gain.is_finite().then_some(gain)
    }

    /// The tally of a rule over the rows that were not drawn.
    fn left_out(&self, left: &[f64], threshold: &dyn Fn(&Cell) -> f64) -> Tally {
        let mut tally = self.tally(left);
        for (cell, mass) in self.cells().iter().zip(left) {
            if accepts(cell.score, threshold(cell)) {
                tally.accept(cell, *mass);
            }
        }
        tally
    }

    /// Hands over every draw; returns how many there were.
    fn each_draw(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        doubt: Doubt,
        mut act: impl FnMut(Draw),
    ) -> Result<usize> {
        check_level(doubt.level)?;
        self.check(metric, requirements)?;
        let (wanted, resamples) = (doubt.metric_draws, doubt.resamples);
        wanted.iter().try_for_each(|draw| metric.view().expect("the metric", draw.view(), "a draw of it"))?;
        let draws = wanted.len().max(resamples);
        let (mut drawn, mut left) = (self.masses(), vec![]);
        for n in 0..draws {
            let metric = if wanted.is_empty() { metric } else { &wanted[n % wanted.len()] };
            if resamples > 0 {
                self.draw_again(doubt.seed, (n % resamples) as u64, &mut drawn, &mut left);
            }
            act(Draw { drawn: &drawn, left: &left, judge: Judge::new(metric, requirements) });
        }
        Ok(draws)
    }

    /// Draws the rows again, which are numbered by falling score: the same wherever the profile was counted.
    fn draw_again(&self, seed: u64, number: u64, drawn: &mut Vec<f64>, left: &mut Vec<f64>) {
        for attempt in 0..TRIES {
            let again = Resampling::new(seed, number, attempt);
            let mut key = 0;
            drawn.clear();
            left.clear();
            for cell in self.cells() {
                let (mut taken, mut none) = (0.0, 0.0);
                for _ in 0..cell.rows {
                    let times = again.times(key);
                    taken += times;
                    none += f64::from(u8::from(times == 0.0));
                    key += 1;
                }
                drawn.push(cell.weight * taken);
                left.push(cell.weight * none);
            }
            if self.tally(drawn).overall_totals().iter().all(|&total| total > 0.0) {
                return;
            }
        }
    }
}
