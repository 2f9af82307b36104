//! Simulated members of the population of people that the engine allows for.

use crate::any_plan::AnyPlan;
use crate::ask::parts;
use crate::ask::{Answer, Gap, NoiseModel, Oracle, Preference, Query};
pub use crate::ask::{MOST_LAPSES, RATIO_SLOPES, SLOPES};
pub use crate::engine::LARGEST_RATIO;
use crate::engine::{Adaptive, Features};
use crate::linalg::normals;
use crate::metric::{Metric, Sense};
use crate::search::SignKnowledge;
use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::convert::Infallible;

/// A person's noise, drawn from the population.
pub fn noise(random: &mut impl Rng) -> NoiseModel {
    NoiseModel::of_person(random.random_bool(0.5), random.random(), random.random())
}

/// The noise of somebody who goes by differences and seldom slips, which is what plans on a ball allow for.
pub fn noise_by_difference(random: &mut impl Rng) -> NoiseModel {
    let slope = NoiseModel::of_person(false, random.random(), 0.0).slope();
    NoiseModel::Absolute { slope, lapse: 0.05 * random.random::<f64>() }
}

/// The logarithm of a cost ratio, drawn from the population.
pub fn log_ratio(random: &mut impl Rng) -> f64 {
    LARGEST_RATIO.ln() * (2.0 * random.random::<f64>() - 1.0)
}

/// A metric that a plan could find, drawn from the population, and what a difference of one radius of the space is worth to
/// it. Nothing for plans that do not adapt, and for fractions.
pub fn metric(plan: &AnyPlan, random: &mut impl Rng) -> Option<(Metric, f64)> {
    let AnyPlan::Adaptive(plan) = plan else { return None };
    if plan.is_ratio() {
        let (sin, cos) = (-log_ratio(random)).exp().atan().sin_cos();
        let metric = Metric::linear(plan.view(), Sense::Utility, vec![cos, sin]).ok()?;
        return Some((metric, plan.unit()));
    }
    Some(weights(plan, plan.features()?, random))
}

/// Weights without a preferred direction, but of the signs that are known.
fn weights(plan: &Adaptive, features: &Features, random: &mut impl Rng) -> (Metric, f64) {
    let mut weights = normals(features.dimension(), random);
    if let (SignKnowledge::Monotone, Some(signs)) = (plan.known_signs(), features.known_signs()) {
        weights.iter_mut().zip(signs).for_each(|(w, sign)| *w = sign * w.abs());
    }
    let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    weights.iter_mut().for_each(|w| *w /= length);
    let metric = features.metric(&weights);
    // Metrics come normalised in their own way; the unit makes up for it.
    let x: Vec<f64> = normals(plan.view().dimension(), random).iter().map(|x| 0.1 * x).collect();
    let value = |z: Vec<f64>| z.iter().zip(&weights).map(|(z, w)| z * w).sum::<f64>();
    let middle = vec![0.0; x.len()];
    let liked = metric.liking(&features.absolute(&x)) - metric.liking(&features.absolute(&middle));
    let unit = liked / (value(features.at(&x)) - value(features.at(&middle)));
    (metric, unit)
}

/// The metric of whoever gives these costs to the features of a plan.
pub fn metric_of(plan: &Adaptive, costs: &[f64]) -> Option<Metric> {
    let liking: Vec<f64> = costs.iter().map(|cost| -cost).collect();
    Some(plan.features()?.metric(&liking))
}

/// A simulated member of the population: a metric and a noise in units of the space.
#[derive(Debug, Clone)]
pub struct Expert {
    metric: Metric,
    unit: f64,
    noise: NoiseModel,
    random: Xoshiro256PlusPlus,
}

impl Expert {
    /// Whoever holds this metric (its weights of length 1) and errs like this; `unit` is the radius of the space.
    pub fn new(metric: Metric, unit: f64, noise: NoiseModel, seed: u64) -> Self {
        Self { metric, unit, noise, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }
}

impl Expert {
    /// What they would rather have.
    pub fn choose(&mut self, query: &Query) -> Preference {
        let difference = self.metric.liking(&query.first) - self.metric.liking(&query.second);
        let gap = Gap::new(difference / self.unit, parts(&self.metric, query).into_iter());
        let first = self.random.random::<f64>() < self.noise.chance_of_first(gap);
        if first { Preference::First } else { Preference::Second }
    }
}

impl Oracle for Expert {
    type Err = Infallible;

    fn prefer(&mut self, query: &Query) -> Result<Answer, Infallible> {
        Ok(self.choose(query).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prior_has_the_moments_of_the_population() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let people: Vec<NoiseModel> = (0..20_000).map(|_| noise(&mut random)).collect();
        let listed: Vec<NoiseModel> = NoiseModel::population().into_iter().map(|(noise, _)| noise).collect();
        for by_ratio in [true, false] {
            let alike = |noise: &&NoiseModel| matches!(noise, NoiseModel::Relative { .. }) == by_ratio;
            let mean = |of: fn(&NoiseModel) -> f64, all: &[NoiseModel]| {
                let all: Vec<f64> = all.iter().filter(alike).map(of).collect();
                all.iter().sum::<f64>() / all.len() as f64
            };
            let gap = |of| (mean(of, &people) - mean(of, &listed)).abs();
            let log_slope = |noise: &NoiseModel| match noise {
                NoiseModel::Relative { slope, .. } => slope.ln(),
                other => other.slope().ln(),
            };
            assert!(gap(log_slope) < 0.03);
            assert!(gap(|noise| noise.lapse()) < 0.003);
        }
    }
}
