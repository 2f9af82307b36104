//! The trade-off alone, when performance and fairness weights are given (Algorithms 5.2 and D.3).
//!
//! With the first group moving through a small ball above o and the others at o, the cost is linear in the first
//! group's rates, with slope $(1-\lambda)\,\tau^1 \odot a + \lambda\, b$. That slope turns from one given vector to the
//! other as $\lambda$ goes from 0 to 1; comparisons find how far.

use super::interval::{Halving, Interval, checked_tolerance};
use super::quadratic::checked_inner_radius;
use crate::ask::{Finding, Oracle, Outcome, Plan, Query};
use crate::document::Object;
use crate::error::{Error, Result};
use crate::linalg::{Matrix, angle, direction, dot, norm, plus, scaled, times};
use crate::metric::{Fair, Metric, Pair, Sense, Violation};
use crate::space::{GroupSphere, Space};
use serde::{Deserialize, Serialize};

/// The weights that are given.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(bound = "V: Violation")]
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
pub type TradeOff = TradeOffAlone<Vec<f64>>;

/// Elicits the trade-off of a group-fair quadratic metric whose weights are given (Algorithm D.3).
///
/// The metric is replaced by its linear approximation in a small ball around $z_1$; the bias this causes grows with the
/// ball's radius (`inner_radius`) and is estimated in the findings. The antipodal search has none.
pub type QuadraticTradeOff = TradeOffAlone<Matrix>;

/// [`TradeOff`] and [`QuadraticTradeOff`]: they differ in the ball the first group moves through.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(bound = "V: Violation")]
pub struct TradeOffAlone<V> {
    pub(crate) space: GroupSphere,
    #[serde(flatten)]
    known: Known<V>,
    #[serde(flatten)]
    how: How,
    tolerance: f64,
    /// Of a curved metric: where it is taken as linear.
    #[serde(skip_serializing_if = "Option::is_none")]
    inner_radius: Option<f64>,
}

impl QuadraticTradeOff {
    /// The radius of the ball in which the metric is taken as linear.
    pub fn inner_radius(self, inner_radius: f64) -> Result<Self> {
        let inner_radius = checked_inner_radius(inner_radius, self.space.radius())?;
        Ok(Self { inner_radius: Some(inner_radius), ..self })
    }
}

impl<V: Violation> TradeOffAlone<V> {
    /// The printed search, four questions per halving; in a ball a tenth of the common one if the metric is curved.
    pub fn new(
        space: GroupSphere,
        performance: Vec<f64>,
        fairness: Vec<Pair<V>>,
        tolerance: f64,
    ) -> Result<Self> {
        // The weights must make a metric with this space's groups.
        let fair = Fair::new(performance, fairness, 0.5, space.prevalence().clone())?;
        checked_tolerance(tolerance)?;
        let known = Known { performance: fair.performance().to_vec(), fairness: fair.fairness().to_vec() };
        Ok(Self::of(space, known, tolerance))
    }

    pub(super) fn of(space: GroupSphere, known: Known<V>, tolerance: f64) -> Self {
        let inner_radius = V::CURVED.then_some(0.1 * space.radius());
        Self { space, known, how: How::Paper { queries_per_halving: Halving::Four }, tolerance, inner_radius }
    }

    /// One question per halving, and no bias.
    pub fn antipodal(self) -> Self {
        Self { how: How::Antipodal, ..self }
    }

    pub(crate) fn read(mut object: Object, space: GroupSphere) -> Result<Self> {
        let how = match object.word("method", &["paper", "antipodal"], "paper")?.as_str() {
            "antipodal" => How::Antipodal,
            _ => How::Paper { queries_per_halving: object.or("queries_per_halving", Halving::Four)? },
        };
        let tolerance = object.or("tolerance", 1e-3)?;
        for field in ["performance", "fairness"] {
            if !object.has(field) {
                let what = format!("{} is missing, expected the known weights", object.path(field));
                return Err(Error::Document(what));
            }
        }
        let inner_radius: Option<f64> = if V::CURVED { object.optional("inner_radius")? } else { None };
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw<P> {
            performance: Vec<f64>,
            fairness: Vec<P>,
        }
        object.make(|raw: Raw<V::Fields>| {
            let fairness = raw.fairness.into_iter().map(Into::into).collect();
            let plan = Self::new(space, raw.performance, fairness, tolerance)?;
            let inner =
                inner_radius.map(|inner| checked_inner_radius(inner, plan.space.radius())).transpose()?;
            Ok(Self { how, inner_radius: inner.or(plan.inner_radius), ..plan })
        })
    }

    /// Where the first group moves. Of a curved metric a ball around $z_1$, o and $\rho - \varrho$ along the first rate;
    /// otherwise the largest inside the common one whose points all lie above o.
    fn ball(&self) -> (Vec<f64>, f64) {
        let mut centre = self.space.of_one_group().centre();
        match self.inner_radius {
            Some(radius) => {
                centre[0] += self.space.radius() - radius;
                (centre, radius)
            }
            None => {
                let radius = self.space.radius() / (1.0 + (centre.len() as f64).sqrt());
                (centre.iter().map(|x| x + radius).collect(), radius)
            }
        }
    }
}

impl<V: Violation> Plan for TradeOffAlone<V> {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let (shares, o) = (self.space.prevalence(), self.space.of_one_group().centre());
        let (centre, radius) = self.ball();
        let violations = || {
            let first_group = self.known.fairness.iter().filter(|pair| pair.groups[0] == 0);
            first_group.map(|pair| &pair.violation)
        };
        let zero = vec![0.0; o.len()];
        let to = violations().fold(zero, |sum, violation| plus(&sum, 1.0, &violation.gradient(&centre, &o)));
        let from = times(&shares.off_diagonal(0), &self.known.performance);
        let turn = Turn { space: &self.space, from, to, centre, radius };
        let (trade_off, mut findings) = turn.search(self.how, self.tolerance, oracle)?;
        if let (Some(radius), How::Paper { .. }) = (self.inner_radius, self.how) {
            let curvature: f64 = violations().map(|violation| 2.0 * violation.size()).sum();
            let scale = norm(&turn.from) + norm(&turn.to);
            findings.push(Finding::CurvatureBias { about: (radius * curvature / scale).min(1.0) });
        }
        let Known { performance, fairness } = self.known.clone();
        let fair = Fair::new(performance, fairness, trade_off, shares.clone()).expect("checked when made");
        let metric = Metric::new(self.space.view(), Sense::Cost, V::family(fair));
        Ok(Outcome { metric: metric.expect("shares fit the space"), findings })
    }
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
    ) -> Result<(f64, Vec<Finding>), O::Err> {
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
            How::Antipodal => start.bisect(tolerance, |guess| {
                let slope = self.slope(guess);
                // Across the guessed slope, towards the fairness weights.
                let across = plus(&self.to, -dot(&self.to, &slope) / dot(&slope, &slope), &slope);
                let towards = direction(&across).unwrap_or_else(|| vec![0.0; self.from.len()]);
                let [more, less] =
                    [1.0, -1.0].map(|s| self.profile(plus(&self.centre, s * self.radius, &towards)));
                // A larger trade-off makes the side of the fairness weights cost more.
                Ok(oracle.prefer(&Query::new(less, more))?.preference.is_first())
            })?,
        };
        Ok((found.middle(), vec![]))
    }
}
