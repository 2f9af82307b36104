//! The trade-off alone, when performance and fairness weights are given (Algorithms 5.2 and D.3).
//!
//! With the first group moving through a small ball above o and the others at o, the cost is linear in the first
//! group's rates, with slope $(1-\lambda)\,\tau^1 \odot a + \lambda\, b$. That slope turns from one given vector to the
//! other as $\lambda$ goes from 0 to 1; comparisons find how far.

use super::interval::{Halving, Interval, checked_tolerance};
use super::slope::unknown_method;
use crate::ask::{Finding, Outcome, Plan};
use crate::ask::{Oracle, Query};
use crate::document::Object;
use crate::error::{Error, Result};
use crate::linalg::{angle, direction, dot, norm, plus, scaled, times};
use crate::metric::{Fair, Family, Metric, Pair, Sense, Squared, Violation, Weights};
use crate::space::{GroupSphere, Space};
use serde::{Deserialize, Serialize};

/// The weights that are given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Known<V> {
    /// a.
    pub performance: Vec<f64>,
    /// B.
    pub fairness: Vec<Pair<V>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "snake_case")]
enum How {
    Paper { queries_per_halving: Halving },
    Antipodal,
}

/// Elicits the trade-off of a group-fair metric whose weights are given (Algorithm 5.2).
///
/// # Departures
/// The condition of Lemma 5.1 is that the two slopes are not parallel; if they are, the trade-off is reported as
/// not identifiable.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TradeOff {
    pub(crate) space: GroupSphere,
    #[serde(flatten)]
    known: Known<Weights>,
    #[serde(flatten)]
    how: How,
    tolerance: f64,
}

impl TradeOff {
    /// The printed search, four questions per halving.
    pub fn new(
        space: GroupSphere,
        performance: Vec<f64>,
        fairness: Vec<Pair<Weights>>,
        tolerance: f64,
    ) -> Result<Self> {
        let known = checked(&space, performance, fairness)?;
        checked_tolerance(tolerance)?;
        Ok(Self::of(space, known, tolerance))
    }

    pub(super) fn of(space: GroupSphere, known: Known<Weights>, tolerance: f64) -> Self {
        Self { space, known, how: How::Paper { queries_per_halving: Halving::Four }, tolerance }
    }

    /// One question per halving.
    pub fn antipodal(self) -> Self {
        Self { how: How::Antipodal, ..self }
    }

    pub(crate) fn read(mut object: Object, space: GroupSphere) -> Result<Self> {
        let (how, tolerance) = read_how(&mut object)?;
        let place = object.place();
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            performance: Vec<f64>,
            fairness: Vec<RawPair>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct RawPair {
            groups: [usize; 2],
            weights: Vec<f64>,
        }
        let raw: Raw = object.rest()?;
        let pair = |p: RawPair| Pair { groups: p.groups, violation: Weights { weights: p.weights } };
        let fairness = raw.fairness.into_iter().map(pair).collect();
        let plan = Self::new(space, raw.performance, fairness, tolerance);
        Ok(Self { how, ..crate::document::at(&place, plan)? })
    }

    /// The largest ball inside the common one whose points all lie above o: centre o + r 1, radius r.
    fn positive_ball(&self) -> (Vec<f64>, f64) {
        let o = self.space.of_one_group().centre();
        let radius = self.space.radius() / (1.0 + (o.len() as f64).sqrt());
        (o.iter().map(|x| x + radius).collect(), radius)
    }
}

impl Plan for TradeOff {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> std::result::Result<Outcome, O::Err> {
        let (centre, radius) = self.positive_ball();
        let zero = vec![0.0; centre.len()];
        let first_group = self.known.fairness.iter().filter(|pair| pair.groups[0] == 0);
        let unfair = first_group.fold(zero, |sum, pair| plus(&sum, 1.0, &pair.violation.weights));
        let turn = Turn {
            space: &self.space,
            from: times(&self.space.prevalence().off_diagonal(0), &self.known.performance),
            to: unfair,
            centre,
            radius,
        };
        let (trade_off, findings) = turn.search(self.how, self.tolerance, oracle)?;
        Ok(outcome(&self.space, &self.known, trade_off, findings, Family::GroupFair))
    }
}

/// Elicits the trade-off of a group-fair quadratic metric whose weights are given (Algorithm D.3).
///
/// The metric is replaced by its linear approximation in a small ball around $z_1$; the bias this causes grows with the
/// ball's radius (`inner_radius`) and is estimated in the findings. The antipodal search has none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuadraticTradeOff {
    pub(crate) space: GroupSphere,
    #[serde(flatten)]
    known: Known<Squared>,
    #[serde(flatten)]
    how: How,
    tolerance: f64,
    inner_radius: f64,
}

impl QuadraticTradeOff {
    /// The printed search with a ball a tenth of the common one.
    pub fn new(
        space: GroupSphere,
        performance: Vec<f64>,
        fairness: Vec<Pair<Squared>>,
        tolerance: f64,
    ) -> Result<Self> {
        let known = checked(&space, performance, fairness)?;
        checked_tolerance(tolerance)?;
        let inner_radius = 0.1 * space.radius();
        let how = How::Paper { queries_per_halving: Halving::Four };
        Ok(Self { space, known, how, tolerance, inner_radius })
    }

    /// The radius of the ball in which the metric is taken as linear.
    pub fn inner_radius(self, inner_radius: f64) -> Result<Self> {
        let inner_radius = super::quadratic::checked_inner_radius(inner_radius, self.space.radius())?;
        Ok(Self { inner_radius, ..self })
    }

    /// One question per halving, no bias.
    pub fn antipodal(self) -> Self {
        Self { how: How::Antipodal, ..self }
    }

    pub(crate) fn read(mut object: Object, space: GroupSphere) -> Result<Self> {
        let (how, tolerance) = read_how(&mut object)?;
        let inner_radius: Option<f64> = object.optional("inner_radius")?;
        let place = object.place();
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            performance: Vec<f64>,
            fairness: Vec<RawPair>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct RawPair {
            groups: [usize; 2],
            matrix: Vec<Vec<f64>>,
        }
        let raw: Raw = object.rest()?;
        let pair = |p: RawPair| Pair { groups: p.groups, violation: Squared { matrix: p.matrix } };
        let fairness = raw.fairness.into_iter().map(pair).collect();
        let plan = crate::document::at(&place, Self::new(space, raw.performance, fairness, tolerance))?;
        let plan = match inner_radius {
            Some(radius) => crate::document::at(&place, plan.inner_radius(radius))?,
            None => plan,
        };
        Ok(Self { how, ..plan })
    }
}

impl Plan for QuadraticTradeOff {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> std::result::Result<Outcome, O::Err> {
        // z_1 = o + (rho - varrho) along the first rate.
        let o = self.space.of_one_group().centre();
        let mut offset = vec![0.0; o.len()];
        offset[0] = self.space.radius() - self.inner_radius;
        let first_group = self.known.fairness.iter().filter(|pair| pair.groups[0] == 0);
        let here = plus(&o, 1.0, &offset);
        let zero = vec![0.0; o.len()];
        let unfair =
            first_group.clone().fold(zero, |sum, pair| plus(&sum, 1.0, &pair.violation.gradient(&here, &o)));
        let turn = Turn {
            space: &self.space,
            from: times(&self.space.prevalence().off_diagonal(0), &self.known.performance),
            to: unfair,
            centre: here,
            radius: self.inner_radius,
        };
        let (trade_off, mut findings) = turn.search(self.how, self.tolerance, oracle)?;
        if let How::Paper { .. } = self.how {
            let curvature: f64 = first_group.map(|pair| 2.0 * pair.violation.size()).sum();
            let scale = norm(&turn.from) + norm(&turn.to);
            let about = (self.inner_radius * curvature / scale).min(1.0);
            findings.push(Finding::CurvatureBias { about });
        }
        Ok(outcome(&self.space, &self.known, trade_off, findings, Family::GroupFairQuadratic))
    }
}

/// The weights must make a metric with this space's groups.
fn checked<V: Violation>(
    space: &GroupSphere,
    performance: Vec<f64>,
    fairness: Vec<Pair<V>>,
) -> Result<Known<V>> {
    let fair = Fair::new(performance, fairness, 0.5, space.prevalence().clone())?;
    Ok(Known { performance: fair.performance().to_vec(), fairness: fair.fairness().to_vec() })
}

fn read_how(object: &mut Object) -> Result<(How, f64)> {
    let how = match object.optional::<String>("method")?.as_deref() {
        None | Some("paper") => {
            let queries_per_halving = object.optional("queries_per_halving")?.unwrap_or(Halving::Four);
            How::Paper { queries_per_halving }
        }
        Some("antipodal") => How::Antipodal,
        Some(other) => return Err(unknown_method(object, other, "paper, antipodal")),
    };
    let tolerance = object.optional("tolerance")?.unwrap_or(1e-3);
    for field in ["performance", "fairness"] {
        if !object.has(field) {
            let what = format!("{} is missing, expected the known weights", object.path(field));
            return Err(Error::Document(what));
        }
    }
    Ok((how, tolerance))
}

fn outcome<V: Violation>(
    space: &GroupSphere,
    known: &Known<V>,
    trade_off: f64,
    findings: Vec<Finding>,
    family: impl Fn(Fair<V>) -> Family,
) -> Outcome {
    let (performance, fairness) = (known.performance.clone(), known.fairness.clone());
    let fair = Fair::new(performance, fairness, trade_off, space.prevalence().clone());
    let metric = Metric::new(space.view(), Sense::Cost, family(fair.expect("checked when made")));
    Outcome { metric: metric.expect("shares fit the space"), findings }
}

/// A slope that turns from one vector to another as the trade-off goes from 0 to 1.
struct Turn<'a> {
    space: &'a GroupSphere,
    from: Vec<f64>,
    to: Vec<f64>,
    centre: Vec<f64>,
    radius: f64,
}

impl Turn<'_> {
    fn slope(&self, trade_off: f64) -> Vec<f64> {
        plus(&scaled(&self.from, 1.0 - trade_off), trade_off, &self.to)
    }

    /// First group at `rates`, the others at o.
    fn profile(&self, rates: Vec<f64>) -> Vec<f64> {
        let o = self.space.of_one_group().centre();
        [rates, o.repeat(self.space.prevalence().groups() - 1)].concat()
    }

    fn search<O: Oracle>(
        &self,
        how: How,
        tolerance: f64,
        oracle: &mut O,
    ) -> std::result::Result<(f64, Vec<Finding>), O::Err> {
        let turn = angle(&self.from, &self.to);
        if turn.is_nan() || turn <= tolerance {
            return Ok((0.5, vec![Finding::ParallelTradeOff]));
        }
        let start = Interval::new(0.0, 1.0);
        let found = match how {
            How::Paper { queries_per_halving } => {
                // The costliest point of the ball under a guess of the trade-off (eq. 5.24): the right guess finds
                // the point that really costs most.
                let costliest = |guess: f64| {
                    let towards = direction(&self.slope(guess)).unwrap_or_else(|| vec![0.0; self.from.len()]);
                    self.profile(plus(&self.centre, self.radius, &towards))
                };
                start.search(tolerance, queries_per_halving, |x, y| {
                    // x costs strictly more if y is preferred.
                    Ok(oracle.prefer(&Query::new(costliest(y), costliest(x)))?.preference.is_first())
                })?
            }
            How::Antipodal => {
                let mut interval = start;
                for _ in 0..start.halvings(tolerance) {
                    let guess = interval.middle();
                    let slope = self.slope(guess);
                    // Across the guessed slope, towards the fairness weights.
                    let across = plus(&self.to, -dot(&self.to, &slope) / dot(&slope, &slope), &slope);
                    let towards = direction(&across).unwrap_or_else(|| vec![0.0; self.from.len()]);
                    let [more, less] =
                        [1.0, -1.0].map(|s| self.profile(plus(&self.centre, s * self.radius, &towards)));
                    // A larger trade-off makes the side of the fairness weights cost more.
                    let fairer = oracle.prefer(&Query::new(less, more))?.preference.is_first();
                    interval = if fairer {
                        Interval::new(guess, interval.high)
                    } else {
                        Interval::new(interval.low, guess)
                    };
                }
                interval
            }
        };
        Ok((found.middle(), vec![]))
    }
}
