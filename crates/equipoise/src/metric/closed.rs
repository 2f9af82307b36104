//! Named metrics that are not members of the six families but still have a closed form.

use super::{Coordinates, Form};
use crate::document::{Object, make};
use crate::error::{Error, Result, check, refuse};
use crate::rates::{GroupShares, Prevalence, off_diagonal_pairs};
use crate::view::{Measure, View};
use serde::Serialize;

/// A recall of zero makes the slope of a geometric mean infinite; below this it stops growing.
const LEAST_RECALL: f64 = 1e-9;

/// The geometric mean of recalls, of all rows or of every group: zero as soon as one class is never found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GeometricMean {
    #[serde(skip)]
    classes: usize,
    /// 1 for the recalls of all rows; with more, the recalls within each group count (eqs. 7.23, 7.24).
    #[serde(skip_serializing_if = "is_one")]
    groups: usize,
}

fn is_one(groups: &usize) -> bool {
    *groups == 1
}

impl GeometricMean {
    pub(super) fn new(classes: usize, groups: usize) -> Self {
        Self { classes, groups }
    }

    /// Recalls for all rows, error rates for groups: what is listed where there are groups.
    pub(super) fn view(&self) -> Result<View> {
        let measure = if self.groups == 1 { Measure::DiagonalRates } else { Measure::GroupRates };
        View::new(measure, self.classes, self.groups)
    }

    fn recalls(&self, point: &[f64]) -> Vec<f64> {
        match self.groups {
            1 => point.to_vec(),
            _ => point.chunks(self.classes - 1).map(|errors| 1.0 - errors.iter().sum::<f64>()).collect(),
        }
    }
}

impl Form for GeometricMean {
    fn read(object: Object, classes: Option<usize>) -> Result<Self> {
        make!(object, { groups: Option<usize> } => match classes {
            Some(classes) => Ok(Self::new(classes, groups.unwrap_or(1))),
            None => {
                let what = "classes is missing, expected the number or names of the classes";
                Err(Error::Mismatch(what.to_owned()))
            }
        })
    }

    fn coordinates(&self) -> Result<Coordinates> {
        self.view().map(Coordinates::Of)
    }

    fn value(&self, point: &[f64]) -> f64 {
        let recalls = self.recalls(point);
        recalls.iter().map(|r| r.max(0.0)).product::<f64>().powf(1.0 / recalls.len() as f64)
    }

    fn gradient(&self, point: &[f64]) -> Vec<f64> {
        let recalls: Vec<f64> = self.recalls(point).iter().map(|r| r.max(LEAST_RECALL)).collect();
        let mean = (recalls.iter().map(|r| r.ln()).sum::<f64>() / recalls.len() as f64).exp();
        let slopes = recalls.iter().map(|r| mean / (recalls.len() as f64 * r));
        match self.groups {
            1 => slopes.collect(),
            _ => slopes.flat_map(|slope| vec![-slope; self.classes - 1]).collect(),
        }
    }
}

/// The mean over the classes of $F_1$, each class against the rest: $\frac1k \sum_i 2C_{ii}/(\sum_j C_{ij} + \sum_j C_{ji})$.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MacroF {
    class_priors: Vec<f64>,
}

impl MacroF {
    pub(super) fn new(class_priors: Vec<f64>) -> Result<Self> {
        let prevalence = Prevalence::new(class_priors)?;
        Ok(Self { class_priors: prevalence.class_priors().to_vec() })
    }

    /// The same for other class priors.
    pub(super) fn with_priors(&self, class_priors: &[f64]) -> Self {
        Self { class_priors: class_priors.to_vec() }
    }

    fn classes(&self) -> usize {
        self.class_priors.len()
    }

    /// $F_1$ of every class and its denominator; 0 where a class neither occurs nor is predicted.
    fn by_class(&self, errors: &[f64]) -> Vec<(f64, f64)> {
        let k = self.classes();
        let (mut hits, mut predicted) = (self.class_priors.clone(), vec![0.0; k]);
        for ((i, j), error) in off_diagonal_pairs(k).zip(errors) {
            hits[i] -= error;
            predicted[j] += error;
        }
        let of = |i: usize| {
            let below = self.class_priors[i] + predicted[i] + hits[i];
            (if below > 0.0 { 2.0 * hits[i] / below } else { 0.0 }, below)
        };
        (0..k).map(of).collect()
    }
}

impl Form for MacroF {
    fn read(object: Object, _: Option<usize>) -> Result<Self> {
        make!(object, { class_priors: Vec<f64> } => Self::new(class_priors))
    }

    fn coordinates(&self) -> Result<Coordinates> {
        View::new(Measure::OffDiagonal, self.classes(), 1).map(Coordinates::Of)
    }

    fn value(&self, errors: &[f64]) -> f64 {
        self.by_class(errors).iter().map(|(f, _)| f).sum::<f64>() / self.classes() as f64
    }

    fn gradient(&self, errors: &[f64]) -> Vec<f64> {
        let by_class = self.by_class(errors);
        // One more error takes a hit from its true class and adds a prediction of the other.
        let part = |class: usize, lost: f64| {
            let (f, below) = by_class[class];
            if below > 0.0 { (f - lost) / below } else { 0.0 }
        };
        let slope = |(i, j): (usize, usize)| (part(i, 2.0) - part(j, 0.0)) / self.classes() as f64;
        off_diagonal_pairs(self.classes()).map(slope).collect()
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
        refuse!(
            estimate >= shares.classes(),
            "estimate is class {estimate}, expected one of {} classes",
            shares.classes()
        );
        let class_priors = prevalence.class_priors().to_vec();
        for g in 0..shares.groups() {
            let mass: f64 = class_priors.iter().enumerate().map(|(i, z)| z * shares.get(g, i)).sum();
            check::positive(&format!("the share of group {g}"), mass)?;
        }
        Ok(Self { estimate, class_priors, prevalence: shares })
    }

    /// The same for another population.
    pub(super) fn with_prevalence(&self, prevalence: &Prevalence) -> Result<Self> {
        Self::new(self.estimate, prevalence)
    }

    fn groups(&self) -> usize {
        self.prevalence.groups()
    }

    fn classes(&self) -> usize {
        self.class_priors.len()
    }

    /// $P(h=j \mid G=g)$ and its gradient in the group's error rates.
    fn coverage(&self, rates: &[f64], group: usize) -> (f64, Vec<f64>) {
        let k = self.classes();
        let joint = |i: usize| self.class_priors[i] * self.prevalence.get(group, i);
        let mass: f64 = (0..k).map(joint).sum();
        let mut coverage = joint(self.estimate) / mass;
        let mut gradient = vec![0.0; rates.len()];
        for (n, (i, j)) in off_diagonal_pairs(k).enumerate() {
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
}

impl Form for DemographicParity {
    fn read(object: Object, _: Option<usize>) -> Result<Self> {
        make!(object, { estimate: usize, class_priors: Vec<f64>, prevalence: GroupShares } => {
            Self::new(estimate, &Prevalence::with_groups(class_priors, prevalence)?)
        })
    }

    fn coordinates(&self) -> Result<Coordinates> {
        View::new(Measure::GroupRates, self.classes(), self.groups()).map(Coordinates::Of)
    }

    fn value(&self, point: &[f64]) -> f64 {
        let q = point.len() / self.groups();
        let (high, low) = self.extremes(point);
        self.coverage(&point[high * q..][..q], high).0 - self.coverage(&point[low * q..][..q], low).0
    }

    fn gradient(&self, point: &[f64]) -> Vec<f64> {
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
