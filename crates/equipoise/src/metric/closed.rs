//! Named metrics that are not members of the six families but still have a closed form.

use crate::error::{Error, Result, check};
use crate::rates::{GroupShares, Prevalence};
use serde::Serialize;

/// The geometric mean of the recalls: zero as soon as one class is never found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GeometricMean {}

impl GeometricMean {
    pub(super) fn value(&self, recalls: &[f64]) -> f64 {
        recalls.iter().map(|r| r.max(0.0)).product::<f64>().powf(1.0 / recalls.len() as f64)
    }

    pub(super) fn gradient(&self, recalls: &[f64]) -> Vec<f64> {
        let value = self.value(recalls);
        recalls.iter().map(|r| value / (recalls.len() as f64 * r)).collect()
    }
}

/// The largest difference between two groups in how often they receive the prediction `estimate`.
///
/// $\max_{u,v} |P(h=j \mid G=u) - P(h=j \mid G=v)|$ with
/// $P(h=j \mid G=g) = \sum_i P(Y=i \mid G=g) R^g_{ij}$: unlike the group-fair family it depends on the
/// base rates of the groups, not on differences of error rates alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DemographicParity {
    estimate: usize,
    class_priors: Vec<f64>,
    prevalence: GroupShares,
}

impl DemographicParity {
    /// The gap for predicting class `estimate` in a population of at least two groups.
    pub fn new(estimate: usize, prevalence: &Prevalence) -> Result<Self> {
        let shares = prevalence.group_shares();
        check::at_least("groups in prevalence", shares.groups(), 2, "at least 2")?;
        if estimate >= shares.classes() {
            let found = format!("estimate is class {estimate}, expected one of {} classes", shares.classes());
            return Err(Error::Mismatch(found));
        }
        let class_priors = prevalence.class_priors().to_vec();
        for g in 0..shares.groups() {
            let mass: f64 = class_priors.iter().enumerate().map(|(i, z)| z * shares.get(g, i)).sum();
            check::positive(&format!("the share of group {g}"), mass)?;
        }
        Ok(Self { estimate, class_priors, prevalence: shares })
    }

    pub(super) fn groups(&self) -> usize {
        self.prevalence.groups()
    }

    pub(super) fn classes(&self) -> usize {
        self.class_priors.len()
    }

    /// $P(h=j \mid G=g)$ and its gradient in the group's error rates.
    fn coverage(&self, rates: &[f64], group: usize) -> (f64, Vec<f64>) {
        let k = self.classes();
        let joint = |i: usize| self.class_priors[i] * self.prevalence.get(group, i);
        let mass: f64 = (0..k).map(joint).sum();
        let mut coverage = joint(self.estimate) / mass;
        let mut gradient = vec![0.0; rates.len()];
        for (n, (i, j)) in crate::rates::off_diagonal_pairs(k).enumerate() {
            if i == self.estimate {
                gradient[n] = -joint(i) / mass;
            } else if j == self.estimate {
                gradient[n] = joint(i) / mass;
            }
            coverage += gradient[n] * rates[n];
        }
        (coverage, gradient)
    }

    /// The groups with the highest and the lowest coverage.
    fn extremes(&self, point: &[f64]) -> (usize, usize) {
        let q = point.len() / self.groups();
        let of = |g: usize| self.coverage(&point[g * q..][..q], g).0;
        let all = 0..self.groups();
        let high = all.clone().fold(0, |best, g| if of(g) > of(best) { g } else { best });
        let low = all.fold(0, |best, g| if of(g) < of(best) { g } else { best });
        (high, low)
    }

    pub(super) fn value(&self, point: &[f64]) -> f64 {
        let q = point.len() / self.groups();
        let (high, low) = self.extremes(point);
        self.coverage(&point[high * q..][..q], high).0 - self.coverage(&point[low * q..][..q], low).0
    }

    pub(super) fn gradient(&self, point: &[f64]) -> Vec<f64> {
        let q = point.len() / self.groups();
        let (high, low) = self.extremes(point);
        let mut gradient = vec![0.0; point.len()];
        for (group, sign) in [(high, 1.0), (low, -1.0)] {
            let slopes = self.coverage(&point[group * q..][..q], group).1;
            for (n, slope) in slopes.into_iter().enumerate() {
                gradient[group * q + n] += sign * slope;
            }
        }
        gradient
    }
}
