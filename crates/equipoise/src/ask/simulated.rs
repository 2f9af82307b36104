//! A hidden metric that answers, faithfully or with seeded mistakes.

use super::{Answer, Gap, NoiseModel, Oracle, Preference, Query};
use crate::error::Result;
use crate::metric::{Family, Metric};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::convert::Infallible;

/// An oracle that knows a metric and answers by it.
///
/// ```
/// use equipoise::{Metric, Oracle, Preference, Query};
/// use equipoise::ask::Simulated;
/// let mut expert = Simulated::new(Metric::accuracy(2)?);
/// let Ok(answer) = expert.prefer(&Query::new(vec![0.6, 0.3], vec![0.5, 0.3]));
/// assert_eq!(answer.preference, Preference::First);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Simulated {
    metric: Metric,
    noise: NoiseModel,
    random: Xoshiro256PlusPlus,
}

impl Simulated {
    /// Without noise. Equal values are answered "second", the papers' strict comparison.
    pub fn new(metric: Metric) -> Self {
        Self { metric, noise: NoiseModel::Exact, random: Xoshiro256PlusPlus::seed_from_u64(0) }
    }

    /// With noise from a seeded generator.
    pub fn with_noise(metric: Metric, noise: NoiseModel, seed: u64) -> Result<Self> {
        Ok(Self { metric, noise: noise.checked()?, random: Xoshiro256PlusPlus::seed_from_u64(seed) })
    }

    /// The hidden metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }
}

/// What each coordinate contributes to how much better the first point is: exactly for metrics up to degree 2, about for
/// others. Of a group-fair metric, what each overall rate and each gap between groups does: those are what a person compares.
pub(crate) fn parts(metric: &Metric, query: &Query) -> Vec<f64> {
    if let Family::GroupFair(fair) = metric.family() {
        let sides = [&query.second, &query.first].map(|point| fair.parts(point));
        return sides[0].iter().zip(&sides[1]).map(|(second, first)| second - first).collect();
    }
    if let Family::Attributes(family) = metric.family() {
        let sides = [&query.first, &query.second].map(|point| family.parts(point));
        return sides[0].iter().zip(&sides[1]).map(|(first, second)| first - second).collect();
    }
    let middle: Vec<f64> = query.first.iter().zip(&query.second).map(|(a, b)| 0.5 * (a + b)).collect();
    let (slopes, sign) = (metric.gradient(&middle), metric.sense().sign());
    let steps = query.first.iter().zip(&query.second).map(|(a, b)| a - b);
    slopes.into_iter().zip(steps).map(|(slope, step)| sign * slope * step).collect()
}

impl Oracle for Simulated {
    type Err = Infallible;

    fn prefer(&mut self, query: &Query) -> Result<Answer, Infallible> {
        let difference = self.metric.liking(&query.first) - self.metric.liking(&query.second);
        let first = match self.noise {
            // A slip is drawn, not an answer: the same slips whatever the metric.
            NoiseModel::Flip { probability } => (difference > 0.0) ^ self.random.random_bool(probability),
            noise if noise.is_drawn() => {
                let gap = Gap::new(difference, parts(&self.metric, query).into_iter());
                self.random.random_bool(noise.chance_of_first(gap))
            }
            noise => match noise.chance_of_first(difference) {
                0.5 => self.random.random_bool(0.5),
                chance => chance > 0.5,
            },
        };
        Ok(if first { Preference::First } else { Preference::Second }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_of_first(noise: NoiseModel, first: f64, second: f64) -> f64 {
        let metric = Metric::accuracy(2).unwrap();
        let mut oracle = Simulated::with_noise(metric, noise, 11).unwrap();
        let query = Query::new(vec![first, 0.0], vec![second, 0.0]);
        let asked = 20_000;
        let firsts = (0..asked).filter(|_| {
            let Ok(answer) = oracle.prefer(&query);
            answer.preference.is_first()
        });
        firsts.count() as f64 / f64::from(asked)
    }

    #[test]
    fn noise_errs_as_often_as_it_says() {
        // Three standard deviations of a share of 20,000 coin tosses are about 0.011.
        let near =
            |found: f64, expected: f64| assert!((found - expected).abs() < 0.011, "{found} {expected}");
        near(share_of_first(NoiseModel::Exact, 0.6, 0.5), 1.0);
        near(share_of_first(NoiseModel::Flip { probability: 0.2 }, 0.6, 0.5), 0.8);
        near(share_of_first(NoiseModel::Band { width: 0.2 }, 0.6, 0.5), 0.5);
        near(share_of_first(NoiseModel::Band { width: 0.05 }, 0.6, 0.5), 1.0);
        near(share_of_first(NoiseModel::AdversarialBand { width: 0.2 }, 0.6, 0.5), 0.0);
        // Nothing but gains: certain.
        near(share_of_first(NoiseModel::Relative { slope: 3.0, lapse: 0.1 }, 0.6, 0.5), 0.9);
        near(
            share_of_first(NoiseModel::Absolute { slope: 10.0, lapse: 0.0 }, 0.6, 0.5),
            1.0 / (1.0 + (-1.0_f64).exp()),
        );
    }
}
