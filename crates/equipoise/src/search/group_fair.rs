//! Group-fair metrics: $(1-\lambda)\langle a, r\rangle + \lambda\sum_{u<v}\langle b^{uv}, |r^u - r^v|\rangle$ (Algorithm 5.1).
//!
//! The metric is piecewise linear; each part asks where it is linear. With all groups at the same rates the
//! violation vanishes and the slope is a. With some groups at the rates of a constant classifier, entries 0 or 1, the
//! signs of all differences are known, and two constant classifiers give two slopes whose unknown lengths follow from
//! a by least squares.

use super::cuts::Cuts;
use super::interval::Halving;
use super::linear::beyond_reach;
use super::slope::{Ball, Signs, SlopeSearch};
use super::trade_off::{Known, TradeOff};
use crate::ask::{Finding, Oracle, Outcome, Plan};
use crate::document::Object;
use crate::error::Result;
use crate::linalg::{Singular, direction, norm, plus, scaled, times};
use crate::metric::{self, Fair, Family, Metric, Pair, Sense, pairs};
use crate::rates::Rates;
use crate::space::{GroupSphere, Space};
use serde::{Deserialize, Serialize};

/// How the lengths of the two slopes of a cut are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Equations {
    /// Ours: all coordinates, by least squares.
    LeastSquares,
    /// Two coordinates, eq. (C.18) with $\tau^\sigma$ and class k.
    TwoCoordinates,
}

/// How the trade-off is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TradeOffBy {
    /// Ours: the scaled violation weights already contain it, $\lambda = S/(1+S)$. No question asked.
    ClosedForm,
    /// Algorithm 5.2, a search of its own.
    Search,
}

/// Elicits a group-fair metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupFair {
    pub(crate) space: GroupSphere,
    #[serde(flatten)]
    search: SlopeSearch,
    equations: Equations,
    trade_off: TradeOffBy,
}

impl GroupFair {
    /// The papers' slope search (four cycles, four questions per halving) with our equations.
    pub fn new(space: GroupSphere, tolerance: f64) -> Result<Self> {
        let search = SlopeSearch::paper(4, Halving::Four, tolerance)?;
        Ok(Self { space, search, equations: Equations::LeastSquares, trade_off: TradeOffBy::ClosedForm })
    }

    /// Another slope search.
    pub fn search(self, search: SlopeSearch) -> Self {
        Self { search, ..self }
    }

    /// Slope lengths from two coordinates, eq. (C.18), instead of least squares over all.
    pub fn two_coordinates(self) -> Self {
        Self { equations: Equations::TwoCoordinates, ..self }
    }

    /// The trade-off by Algorithm 5.2, a search of its own, instead of the closed form.
    pub fn searching_the_trade_off(self) -> Self {
        Self { trade_off: TradeOffBy::Search, ..self }
    }

    pub(crate) fn read(mut object: Object, space: GroupSphere) -> Result<Self> {
        let mut plan = Self::new(space, 1e-3)?;
        plan.search = SlopeSearch::read(&mut object, plan.search)?;
        plan.equations = object.or("equations", plan.equations)?;
        plan.trade_off = object.or("trade_off", plan.trade_off)?;
        object.finish()?;
        Ok(plan)
    }

    /// The direction in which the cost grows when the groups outside `apart` move together through the ball and
    /// those in it stay at the rates of "always `class`".
    fn slope<O: Oracle>(&self, apart: &[usize], class: usize, oracle: &mut O) -> Result<Vec<f64>, O::Err> {
        let constant = Rates::constant(self.space.prevalence().classes(), class).off_diagonal();
        let groups = self.space.prevalence().groups();
        let profile = |s: &[f64]| -> Vec<f64> {
            (0..groups).flat_map(|g| if apart.contains(&g) { &constant } else { s }).copied().collect()
        };
        let ball = self.space.of_one_group();
        let centre = ball.centre();
        let ball = Ball { centre: &centre, radius: ball.radius() };
        let liked = self.search.run(ball, Signs::Unknown, &mut oracle.reparametrised(profile))?;
        Ok(scaled(&liked, -1.0))
    }

    /// $\gamma^\sigma$: the violations of all pairs the cut separates, in units of $(1-\lambda)\|a\|$.
    fn violation<O: Oracle>(
        &self,
        performance: &[f64],
        apart: &[usize],
        oracle: &mut O,
    ) -> Result<Vec<f64>, O::Err> {
        let (k, shares) = (self.space.prevalence().classes(), self.space.prevalence());
        let slopes = [self.slope(apart, 0, oracle)?, self.slope(apart, k - 1, oracle)?];
        // w_i = 1 - 2 e_i: the sign of each difference to the constant classifier.
        let signs = [0, k - 1].map(|class| {
            let constant = Rates::constant(k, class).off_diagonal();
            constant.iter().map(|e| 1.0 - 2.0 * e).collect::<Vec<_>>()
        });
        // A = a (1 - tau^sigma).
        let mut rest = performance.to_vec();
        for &g in apart {
            rest = plus(&rest, -1.0, &times(performance, &shares.off_diagonal(g)));
        }
        Ok(solve_violation(&rest, &slopes, &signs, self.equations, k))
    }
}

/// Solves the two slopes of a cut for its violation.
///
/// $\alpha f^1 = A + w_1 \gamma$ and $\beta f^k = A + w_k \gamma$: adding where the signs differ and subtracting where
/// they agree removes $\gamma$ and leaves linear equations for the lengths $\alpha, \beta$.
pub(super) fn solve_violation(
    rest: &[f64],
    slopes: &[Vec<f64>; 2],
    signs: &[Vec<f64>; 2],
    equations: Equations,
    classes: usize,
) -> Vec<f64> {
    let [f1, fk] = slopes;
    let lengths = match equations {
        Equations::LeastSquares => {
            let (mut rows, mut right) = (vec![], vec![]);
            for i in 0..rest.len() {
                let differ = signs[0][i] != signs[1][i];
                rows.push(vec![f1[i], if differ { fk[i] } else { -fk[i] }]);
                right.push(if differ { 2.0 * rest[i] } else { 0.0 });
            }
            let solution = Singular::of(&rows, 2).solve(&right, 1e-12);
            [solution[0], solution[1]]
        }
        Equations::TwoCoordinates => {
            let (x, y) = (classes - 2, (classes - 1) * (classes - 1));
            let delta =
                2.0 * rest[x] / f1[x] * (rest[y] / rest[x] - fk[y] / fk[x]) / (f1[y] / f1[x] - fk[y] / fk[x]);
            [delta, f64::NAN]
        }
    };
    // Both slopes estimate the violation; with two coordinates only the first has a length.
    let estimate = |n: usize| times(&signs[n], &plus(&scaled(&slopes[n], lengths[n]), -1.0, rest));
    let (first, second) = (estimate(0), estimate(1));
    let mean = |(a, b): (&f64, &f64)| if b.is_finite() { 0.5 * (a + b) } else { *a };
    first.iter().zip(&second).map(mean).collect()
}

impl Plan for GroupFair {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let mut findings = beyond_reach(&self.space.of_one_group());
        // Line 2: all groups together. Weights are known not to be negative.
        let slope = self.slope(&[], 0, oracle)?;
        let clipped: Vec<f64> = slope.iter().map(|a| a.max(0.0)).collect();
        let performance = direction(&clipped).unwrap_or_else(|| {
            let what = "every error was preferred; performance weights set equal".to_owned();
            findings.push(Finding::Inconsistent { what });
            direction(&vec![1.0; slope.len()]).expect("not zero")
        });
        // Lines 3 to 15: one violation per cut, then one per pair.
        let cuts = Cuts::new(self.space.prevalence().groups());
        let mut sums = vec![];
        for apart in cuts.apart() {
            sums.push(self.violation(&performance, apart, oracle)?);
        }
        let per_pair = cuts.solve(&sums);
        let fairness = fairness_of(&per_pair, &mut findings);
        // Section 5.3.3, in closed form or by Algorithm 5.2.
        let size: f64 = fairness.iter().map(|b| norm(b)).sum();
        let shares = self.space.prevalence();
        let pair = |(groups, weights): ([usize; 2], &Vec<f64>)| {
            let weights = scaled(weights, if size > 0.0 { 1.0 / size } else { 0.0 });
            Pair { groups, violation: weights }
        };
        let fairness: Vec<_> = pairs(shares.groups()).zip(&fairness).map(pair).collect();
        let trade_off = match self.trade_off {
            TradeOffBy::ClosedForm => size / (1.0 + size),
            TradeOffBy::Search if size > 0.0 => {
                let known = Known { performance: performance.clone(), fairness: fairness.clone() };
                let plan = TradeOff::of(self.space.clone(), known, self.search.tolerance());
                let found = plan.run(oracle)?;
                findings.extend(found.findings.into_iter().filter(Finding::is_ambiguity));
                let Family::GroupFair(fair) = found.metric.family() else {
                    unreachable!("a group-fair plan")
                };
                fair.trade_off()
            }
            TradeOffBy::Search => 0.0,
        };
        let fair: metric::GroupFair =
            Fair::new(performance, fairness, trade_off, shares.clone()).expect("finite, not negative");
        let metric = Metric::new(self.space.view(), Sense::Cost, Family::GroupFair(fair));
        Ok(Outcome { metric: metric.expect("shares fit the space"), findings })
    }
}

/// Violation weights are not negative; anything else is noise, or a contradiction.
fn fairness_of(per_pair: &[Vec<f64>], findings: &mut Vec<Finding>) -> Vec<Vec<f64>> {
    let usable = |b: &f64| if b.is_finite() { b.max(0.0) } else { 0.0 };
    if per_pair.iter().flatten().any(|b| !b.is_finite()) {
        let what = "some fairness weights have no finite value; set to 0".to_owned();
        findings.push(Finding::Inconsistent { what });
    }
    per_pair.iter().map(|weights| weights.iter().map(usable).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn exact_slopes_give_the_exact_weights() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(21);
        for (k, m) in [(2, 2), (3, 3), (3, 4), (2, 5), (4, 2)] {
            let shares = random::shares(k, m, &mut rng);
            let metric = random::group_fair(&shares, 0.45, &mut rng);
            let Family::GroupFair(truth) = metric.family() else { panic!("a group-fair metric") };
            let q = k * (k - 1);
            let o = vec![1.0 / k as f64; q];
            let signs = [0, k - 1].map(|class| {
                Rates::constant(k, class).off_diagonal().iter().map(|e| 1.0 - 2.0 * e).collect::<Vec<f64>>()
            });
            for equations in [Equations::LeastSquares, Equations::TwoCoordinates] {
                let sums: Vec<Vec<f64>> = Cuts::new(m)
                    .apart()
                    .iter()
                    .map(|apart| {
                        let slopes = [0, k - 1].map(|class| {
                            let constant = Rates::constant(k, class).off_diagonal();
                            let profile: Vec<f64> = (0..m)
                                .flat_map(|g| if apart.contains(&g) { &constant } else { &o }.clone())
                                .collect();
                            let gradient = metric.gradient(&profile);
                            let moving =
                                (0..m).filter(|g| !apart.contains(g)).map(|g| &gradient[g * q..][..q]);
                            direction(&moving.fold(vec![0.0; q], |sum, part| plus(&sum, 1.0, part))).unwrap()
                        });
                        let rest = apart.iter().fold(truth.performance().to_vec(), |rest, &g| {
                            plus(&rest, -1.0, &times(truth.performance(), &shares.off_diagonal(g)))
                        });
                        solve_violation(&rest, &slopes, &signs, equations, k)
                    })
                    .collect();
                // In units of (1 - lambda): lambda b / (1 - lambda).
                let factor = truth.trade_off() / (1.0 - truth.trade_off());
                for (found, pair) in Cuts::new(m).solve(&sums).iter().zip(truth.fairness()) {
                    let expected = scaled(&pair.violation, factor);
                    assert!(norm(&plus(found, -1.0, &expected)) < 1e-9, "({k},{m}) {equations:?}");
                }
            }
        }
    }
}
