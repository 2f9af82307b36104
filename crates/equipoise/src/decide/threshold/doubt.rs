//! What is uncertain about a threshold, and what that comes to.

use super::bayes::bayes;
use super::groups::GroupBest;
use super::requirement::Requirement;
use super::sample::{Row, Sample, Tally, weight};
use super::sweep::Judge;
use crate::decide::resample::poisson;
use crate::decide::{Spread, check_level};
use crate::error::{Result, check};
use crate::metric::Metric;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// A tiny sample may lose a class when it is drawn again; so often it is tried anew.
const TRIES: usize = 100;

/// What is uncertain: the metric, the sample, or both.
#[derive(Debug, Clone, Copy)]
pub struct Doubt<'a> {
    /// Draws of the metric, from its posterior.
    pub metric_draws: &'a [Metric],
    /// How the rows are drawn again.
    pub resamples: Resamples<'a>,
    /// The probability intervals have.
    pub level: f64,
}

impl Default for Doubt<'_> {
    fn default() -> Self {
        Self { metric_draws: &[], resamples: Resamples::None, level: crate::decide::rank::LEVEL }
    }
}

/// Tables that might have been seen instead of this one.
#[derive(Debug, Clone, Copy)]
pub enum Resamples<'a> {
    /// The rows are taken for the whole population.
    None,
    /// How often each row is drawn (or how much it weighs) in each resampling, in the order of the rows.
    Given(&'a [Vec<f64>]),
    /// So many resamplings, each made when it is needed and then forgotten: the memory of one, however many.
    Poisson {
        /// How many.
        draws: usize,
        /// The same seed gives the same resamplings.
        seed: u64,
    },
}

impl Resamples<'_> {
    fn count(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Given(list) => list.len(),
            Self::Poisson { draws, .. } => *draws,
        }
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
    /// What the rows weigh.
    weights: Option<&'a [f64]>,
    /// How often they were drawn.
    resample: Option<&'a [f64]>,
    judge: Judge<'a>,
}

impl Sample {
    /// The interval of the best threshold over draws of the metric and resamplings of the rows; `None` without either.
    ///
    /// Draw n of the metric meets resampling n; the shorter list is repeated. Row weights multiply the resampling's.
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
            let met = self.sweep(draw.weights, &mut draw.judge).filter(|(_, rating)| rating.violation == 0.0);
            let Some((accepted, _)) = met else { return };
            let threshold = self.cut(accepted).threshold;
            thresholds.push(threshold);
            gains.extend(self.gain(&mut draw, |_| threshold, prior));
        })?;
        Ok((Uncertain::of(&thresholds, draws, doubt.level), Gain::of(&gains, doubt.level)))
    }

    /// The intervals of the thresholds of all groups, as [`Sample::uncertain`] has them for a common one.
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
        check::length("cuts", best.cuts.len(), self.groups)?;
        let (mut thresholds, mut gains) = (vec![Vec::new(); self.groups], Vec::new());
        let prior = self.positive_prior();
        let draws = self.each_draw(metric, requirements, doubt, |mut draw| {
            let Some(cuts) = self.improve(best, draw.weights, &mut draw.judge) else { return };
            cuts.iter().zip(&mut thresholds).for_each(|(cut, found)| found.push(cut.threshold));
            let own = |row: &Row| cuts[usize::from(row.group)].threshold;
            gains.extend(self.gain(&mut draw, own, prior));
        })?;
        let uncertain = thresholds.iter().map(|found| Uncertain::of(found, draws, doubt.level)).collect();
        Ok((uncertain, Gain::of(&gains, doubt.level)))
    }

    /// How much better a rule is than the Bayes threshold of the metric drawn, on the rows the draw left out; `None`
    /// where either has no value.
    fn gain(&self, draw: &mut Draw, threshold: impl Fn(&Row) -> f64, prior: f64) -> Option<f64> {
        let resample = draw.resample?;
        let other = bayes(draw.judge.metric, prior, &[], crate::decide::rank::LEVEL).ok()?.threshold;
        let sign = draw.judge.metric.sense().sign();
        let mut value =
            |accepts: &dyn Fn(&Row) -> bool| sign * draw.judge.value(&self.left_out(resample, accepts));
        let gain = value(&|row| row.score >= threshold(row)) - value(&|row| row.score >= other);
        gain.is_finite().then_some(gain)
    }

    /// The tally of a rule over the rows that were not drawn.
    fn left_out(&self, resample: &[f64], accepts: &dyn Fn(&Row) -> bool) -> Tally {
        let mut tally = Tally { totals: vec![[0.0; 2]; self.groups], accepted: vec![[0.0; 2]; self.groups] };
        for row in self.rows.iter().filter(|row| resample[row.row] == 0.0) {
            let weight = weight(self.weights.as_deref(), row);
            tally.totals[usize::from(row.group)][usize::from(row.class)] += weight;
            if accepts(row) {
                tally.accept(row, weight);
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
        if let Resamples::Given(list) = resamples {
            for (n, resample) in list.iter().enumerate() {
                check::length(&format!("resamples[{n}]"), resample.len(), self.rows.len())?;
                check::nonnegative(&format!("resamples[{n}]"), resample)?;
            }
        }
        let draws = wanted.len().max(resamples.count());
        // One resampling at a time, in the same memory.
        let (mut drawn, mut product) = (Vec::new(), Vec::new());
        for n in 0..draws {
            let metric = if wanted.is_empty() { metric } else { &wanted[n % wanted.len()] };
            let resample = match resamples {
                Resamples::Given(list) if !list.is_empty() => Some(&list[n % list.len()][..]),
                Resamples::Poisson { draws: count, seed } if count > 0 => {
                    self.draw_again(seed, n % count, &mut drawn);
                    Some(&drawn[..])
                }
                _ => None,
            };
            let weights = match (resample, self.weights.as_deref()) {
                (Some(resample), Some(weights)) => {
                    product.clear();
                    product.extend(weights.iter().zip(resample).map(|(w, r)| w * r));
                    Some(&product[..])
                }
                (resample, weights) => resample.or(weights),
            };
            act(Draw { weights, resample, judge: Judge::new(metric, requirements) });
        }
        Ok(draws)
    }

    /// Draws the rows again: numbers depend on the seed and the number of the draw alone.
    fn draw_again(&self, seed: u64, number: usize, drawn: &mut Vec<f64>) {
        let start =
            Xoshiro256PlusPlus::seed_from_u64(seed ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut random = start;
        for _ in 0..TRIES {
            drawn.clear();
            drawn.extend((0..self.rows.len()).map(|_| poisson(&mut random)));
            let totals = self.tally(Some(drawn)).overall_totals();
            if totals.iter().all(|&total| total > 0.0) {
                return;
            }
        }
    }
}
