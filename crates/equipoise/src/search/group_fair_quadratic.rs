//! Group-fair quadratic metrics: $(1-\lambda)\langle a, r\rangle + \tfrac\lambda2\sum_{u<v}(r^u-r^v)^TB^{uv}(r^u-r^v)$
//! (Algorithm D.2).
//!
//! With the groups of a cut at s and the others at o the metric is quadratic in s:
//! $d = (1-\lambda)\,a \odot \tau^\sigma$ and $W^\sigma = \lambda\sum B^{uv}$ over the separated pairs.
//!
//! # Departures
//! $a_i \propto d_i/\tau^\sigma_i$ (the print omits the shares), any number of groups, and $\lambda$ in closed form.

use super::cuts::Cuts;
use super::linear::beyond_reach;
use super::quadratic::{FromSlopes, Round, Shape};
use crate::ask::{Finding, Oracle, Outcome, Plan};
use crate::linalg::{Matrix, direction, norm, plus, scaled};
use crate::metric::{self, Fair, Family, Metric, Pair, Sense, Violation, pairs};
use crate::rates::GroupShares;
use crate::space::{GroupSphere, Space, Sphere};

/// Elicits a group-fair quadratic metric.
pub type GroupFairQuadratic = FromSlopes<GroupSphere>;

impl Round for GroupSphere {
    fn of_one_group(&self) -> Sphere {
        self.of_one_group()
    }
}

impl Plan for GroupFairQuadratic {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let mut findings = beyond_reach(&self.space.of_one_group());
        let mut shapes = vec![];
        let (o, groups) = (self.space.of_one_group().centre(), self.space.prevalence().groups());
        for moving in Cuts::new(groups).apart() {
            let profile = |s: &[f64]| -> Vec<f64> {
                (0..groups).flat_map(|g| if moving.contains(&g) { s } else { &o }).copied().collect()
            };
            shapes.push(self.shape(&mut findings, &mut oracle.reparametrised(profile))?);
        }
        let fair = put_together(&shapes, self.space.prevalence(), &mut findings);
        let metric = Metric::new(self.space.view(), Sense::Cost, Family::GroupFairQuadratic(fair));
        Ok(Outcome { metric: metric.expect("shares fit the space").normal_form(), findings })
    }
}

/// The metric whose cuts have these shapes, each known up to a factor.
fn put_together(
    shapes: &[Shape],
    shares: &GroupShares,
    findings: &mut Vec<Finding>,
) -> metric::GroupFairQuadratic {
    let cuts = Cuts::new(shares.groups());
    let q = shapes[0].linear.len();
    let mut performance = vec![0.0; q];
    let mut sums = vec![];
    for (moving, shape) in cuts.apart().iter().zip(shapes) {
        let mut share = vec![0.0; q];
        for &g in moving {
            share = plus(&share, 1.0, &shares.off_diagonal(g));
        }
        // (1 - lambda) a, clipped because weights are known not to be negative.
        let weight = |(d, t): (&f64, &f64)| if *t > 0.0 { (d / t).max(0.0) } else { 0.0 };
        let weights: Vec<f64> = shape.linear.iter().zip(&share).map(weight).collect();
        let size = norm(&weights);
        if size > 0.0 {
            performance = plus(&performance, 1.0 / size, &weights);
            sums.push(scaled(&shape.matrix.concat(), 1.0 / size));
        } else {
            let what = "every error was preferred in one cut; it was left out".to_owned();
            findings.push(Finding::Inconsistent { what });
            sums.push(vec![0.0; q * q]);
        }
    }
    let performance = direction(&performance).unwrap_or_else(|| {
        let what = "performance weights set equal".to_owned();
        findings.push(Finding::Inconsistent { what });
        direction(&vec![1.0; q]).expect("not zero")
    });
    let matrices = cuts.solve(&sums);
    let pair = |(groups, flat): ([usize; 2], &Vec<f64>)| {
        let matrix: Matrix = flat.chunks(q).map(<[f64]>::to_vec).collect();
        Pair { groups, violation: matrix }
    };
    let fairness: Vec<_> = pairs(shares.groups()).zip(&matrices).map(pair).collect();
    // In units of (1 - lambda) a, so equal parts of both; the normal form moves the balance into lambda = S / (1 + S).
    let unfair = fairness.iter().any(|pair| pair.violation.size() > 0.0);
    Fair::new(performance, fairness, if unfair { 0.5 } else { 0.0 }, shares.clone())
        .expect("finite and symmetric")
}

#[cfg(test)]
mod tests {
    use super::super::quadratic::{LocalSlopes, Reconstruction};
    use super::*;
    use crate::testing::random;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn exact_slopes_give_the_exact_metric() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(12);
        for (k, m) in [(2, 2), (3, 2), (2, 3), (3, 4), (2, 5)] {
            let shares = random::shares(k, m, &mut rng);
            let metric = random::group_fair_quadratic(&shares, 0.6, &mut rng);
            let (q, step) = (k * (k - 1), 0.18);
            let o = vec![1.0 / k as f64; q];
            let mut shapes = vec![];
            for moving in Cuts::new(m).apart() {
                // The gradient with respect to the rates the moving groups share, as a unit vector.
                let slope = |offset: &[f64]| {
                    let moved = plus(&o, 1.0, offset);
                    let profile: Vec<f64> =
                        (0..m).flat_map(|g| if moving.contains(&g) { &moved } else { &o }.clone()).collect();
                    let gradient = metric.gradient(&profile);
                    let parts = moving.iter().map(|g| &gradient[g * q..][..q]);
                    direction(&parts.fold(vec![0.0; q], |sum, part| plus(&sum, 1.0, part))).unwrap()
                };
                let along = |j: usize, by: f64| {
                    let mut offset = vec![0.0; q];
                    offset[j] = by;
                    slope(&offset)
                };
                let slopes = LocalSlopes {
                    step,
                    middle: slope(&vec![0.0; q]),
                    plus: (0..q).map(|j| along(j, step)).collect(),
                    minus: (0..q).map(|j| along(j, -step)).collect(),
                };
                shapes.push(slopes.reconstruct(Reconstruction::Scales, 1e-12, &mut vec![]));
            }
            let fair = put_together(&shapes, &shares, &mut vec![]);
            let found = Metric::new(*metric.view(), Sense::Cost, Family::GroupFairQuadratic(fair)).unwrap();
            let error = found.difference(&metric).unwrap().l2;
            assert!(error < 1e-9, "({k},{m}): {error}");
        }
    }
}
