//! How sure a metric document is of its coefficients, and where it comes from.
//!
//! Three optional fields stand beside the coefficients:
//!
//! * `"posterior": {"mean": [...], "covariance": [[...]], "signs": "known"}`: a normal distribution of the
//!   coefficients, listed in the order of [`Metric::coefficients`];
//! * `"interval": {"low": 4.8, "high": 7.9, "level": 0.95}`: for a linear metric of two classes, the range of the
//!   ratio of the weight of class 1 to that of class 0 ([`Metric::weight_ratio`]);
//! * `"provenance": {...}`: anything, kept word for word.

use super::quadratic::check_symmetric;
use super::{Family, Matrix, Metric};
use crate::document::{self, Object};
use crate::error::{Error, Result, check};
use crate::linalg::{eigen, norm, plus, scaled};
use crate::view::Measure;
use rand::Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Eigenvalues of a covariance may be this far below zero, relative to the largest.
const ROUNDING: f64 = 1e-9;

/// How often a draw with a wrong sign is thrown away before its wrong signs are reflected.
const TRIES: usize = 64;

/// A normal distribution of the coefficients of a metric.
///
/// ```
/// use equipoise::metric::Posterior;
/// let posterior = Posterior::new(vec![1.0, 6.0], vec![vec![0.01, 0.0], vec![0.0, 0.3]])?;
/// assert_eq!(posterior.mean(), [1.0, 6.0]);
/// let wrong = Posterior::new(vec![1.0, 6.0], vec![vec![0.01, 1.0], vec![1.0, 0.3]]).unwrap_err();
/// assert!(wrong.to_string().ends_with("expected at least 0 (a positive semidefinite matrix)"));
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Posterior {
    mean: Vec<f64>,
    covariance: Matrix,
    #[serde(skip_serializing_if = "Signs::are_unknown")]
    signs: Signs,
}

/// Whether the signs of the coefficients are certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signs {
    /// The distribution alone decides.
    #[default]
    Unknown,
    /// Every draw has the signs of the metric itself; where the metric has 0, draws are not negative.
    Known,
}

impl Signs {
    fn are_unknown(&self) -> bool {
        *self == Signs::Unknown
    }
}

impl Posterior {
    /// A mean, and a covariance that is symmetric and positive semidefinite to rounding.
    pub fn new(mean: Vec<f64>, covariance: Matrix) -> Result<Self> {
        check::at_least("posterior.mean", mean.len(), 1, "at least 1 entry")?;
        check::all_finite("posterior.mean", &mean)?;
        check_symmetric("posterior.covariance", &covariance, mean.len())?;
        let (values, _) = eigen(&covariance);
        let largest = values.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        check::number(
            "the smallest eigenvalue of posterior.covariance",
            smallest,
            smallest >= -ROUNDING * largest,
            "at least 0 (a positive semidefinite matrix)",
        )?;
        Ok(Self { mean, covariance, signs: Signs::Unknown })
    }

    /// The same distribution, restricted to the signs of the metric it belongs to.
    pub fn with_known_signs(self) -> Self {
        Self { signs: Signs::Known, ..self }
    }

    /// The expected coefficients.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Their covariance.
    pub fn covariance(&self) -> &Matrix {
        &self.covariance
    }

    /// Whether the signs are certain.
    pub fn signs(&self) -> Signs {
        self.signs
    }

    /// Coefficients drawn from the normal distribution, signs disregarded.
    pub fn draws(&self, count: usize, random: &mut impl Rng) -> Vec<Vec<f64>> {
        let axes = self.axes();
        (0..count).map(|_| self.draw(&axes, random)).collect()
    }

    /// The principal axes, each as long as its standard deviation, the longest last.
    pub fn axes(&self) -> Vec<Vec<f64>> {
        let (values, vectors) = eigen(&self.covariance);
        values.iter().zip(&vectors).map(|(value, axis)| scaled(axis, value.max(0.0).sqrt())).collect()
    }

    fn draw(&self, axes: &[Vec<f64>], random: &mut impl Rng) -> Vec<f64> {
        let steps = crate::linalg::normals(axes.len(), random);
        axes.iter().zip(steps).fold(self.mean.clone(), |point, (axis, step)| plus(&point, step, axis))
    }

    /// The distribution of a multiple.
    fn times(&self, factor: f64) -> Self {
        let covariance = self.covariance.iter().map(|row| scaled(row, factor * factor)).collect();
        Self { mean: scaled(&self.mean, factor), covariance, signs: self.signs }
    }
}

/// A range of the weight ratio of a linear metric of two classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioInterval {
    low: f64,
    high: Option<f64>,
    level: f64,
}

impl RatioInterval {
    /// From `low` to `high` (`None` for no upper limit), holding the ratio with probability `level`.
    pub fn new(low: f64, high: Option<f64>, level: f64) -> Result<Self> {
        check::number("interval.low", low, low.is_finite() && low >= 0.0, "a number of at least 0")?;
        if let Some(high) = high {
            let expected = "a finite number of at least interval.low";
            check::number("interval.high", high, high.is_finite() && high >= low, expected)?;
        }
        let ok = level > 0.0 && level < 1.0;
        check::number("interval.level", level, ok, "a number strictly between 0 and 1")?;
        Ok(Self { low, high, level })
    }

    /// The smallest ratio.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The largest ratio; `None` if there is no limit.
    pub fn high(&self) -> Option<f64> {
        self.high
    }

    /// The probability that the ratio is inside.
    pub fn level(&self) -> f64 {
        self.level
    }
}

/// The optional fields of a metric document.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(super) struct Belief {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posterior: Option<Posterior>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<RatioInterval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Map<String, Value>>,
}

impl Belief {
    /// Takes the optional fields out of a document.
    pub fn take(object: &mut Object) -> Result<Self> {
        let place = object.place();
        let posterior = match object.optional::<raw::Posterior>("posterior")? {
            Some(raw) => {
                let made = document::at(&place, Posterior::new(raw.mean, raw.covariance))?;
                Some(Posterior { signs: raw.signs, ..made })
            }
            None => None,
        };
        let interval = match object.optional::<raw::Interval>("interval")? {
            Some(raw) => Some(document::at(&place, RatioInterval::new(raw.low, raw.high, raw.level))?),
            None => None,
        };
        let provenance = object.optional("provenance")?;
        Ok(Self { posterior, interval, provenance })
    }

    /// What is believed of a metric whose coefficients are multiplied by a factor.
    pub fn times(&self, factor: f64) -> Self {
        Self { posterior: self.posterior.as_ref().map(|p| p.times(factor)), ..self.clone() }
    }
}

impl Metric {
    /// The distribution of the coefficients, if the document has one.
    pub fn posterior(&self) -> Option<&Posterior> {
        self.belief.posterior.as_ref()
    }

    /// The same metric with a distribution of its coefficients.
    pub fn with_posterior(mut self, posterior: Posterior) -> Result<Self> {
        let expected = self.coefficients().len();
        if expected == 0 {
            let kind = self.family.kind();
            let what = format!("posterior is given, but a metric of kind {kind} has no coefficients");
            return Err(Error::Mismatch(what));
        }
        check::length("posterior.mean", posterior.mean.len(), expected)?;
        self.belief.posterior = Some(posterior);
        Ok(self)
    }

    /// The range of the weight ratio, if the document has one.
    pub fn interval(&self) -> Option<&RatioInterval> {
        self.belief.interval.as_ref()
    }

    /// The same metric with a range of its weight ratio; for linear metrics of two classes.
    pub(crate) fn with_interval(mut self, interval: RatioInterval) -> Result<Self> {
        if self.error_costs().is_none() {
            let found = format!("a {} metric of {} classes", self.family.kind(), self.view.classes());
            let what = format!("interval is given for {found}, expected a linear one of 2 classes");
            return Err(Error::Mismatch(what));
        }
        self.belief.interval = Some(interval);
        Ok(self)
    }

    /// Where the metric comes from, as the document says.
    pub fn provenance(&self) -> Option<&Map<String, Value>> {
        self.belief.provenance.as_ref()
    }

    /// The same metric with a note of where it comes from.
    pub fn with_provenance(mut self, provenance: Map<String, Value>) -> Self {
        self.belief.provenance = Some(provenance);
        self
    }

    pub(super) fn with_belief(mut self, belief: Belief) -> Result<Self> {
        self.belief.provenance = belief.provenance;
        let metric = match belief.posterior {
            Some(posterior) => self.with_posterior(posterior)?,
            None => self,
        };
        match belief.interval {
            Some(interval) => metric.with_interval(interval),
            None => Ok(metric),
        }
    }

    /// What an error in truth class 0 and one in truth class 1 cost in a linear metric of two classes, per unit of
    /// the measure (joint probability, or rate within the class).
    pub(crate) fn error_costs(&self) -> Option<[f64; 2]> {
        let Family::Linear(linear) = &self.family else { return None };
        let sign = self.sense.sign();
        match (self.view.measure(), linear.weights()) {
            // Weights on what is right are costs of what is wrong.
            (Measure::Binary, &[tp, tn]) => Some([tn * sign, tp * sign]),
            (Measure::Diagonal | Measure::DiagonalRates, &[tn, tp]) => Some([tn * sign, tp * sign]),
            (Measure::OffDiagonal | Measure::OffDiagonalRates, &[fp, fn_]) => Some([-fp * sign, -fn_ * sign]),
            _ => None,
        }
    }

    /// The weight of class 1 over that of class 0 in a linear metric of two classes, in the metric's own measure.
    ///
    /// For joint probabilities this is [`Metric::cost_ratio`]; for rates it compares a whole class missed with a
    /// whole class of false alarms. `None` for other metrics and for weights that are not both costs of errors.
    pub fn weight_ratio(&self) -> Option<f64> {
        let [negative, positive] = self.error_costs()?;
        (positive >= 0.0 && negative > 0.0).then(|| positive / negative)
    }

    /// Metrics drawn from the posterior or, failing that, from the interval; none if the document has neither.
    ///
    /// Comparisons say nothing about the size of a metric, so every draw is rescaled to the length of this metric's
    /// own coefficients; values of different draws are then in the same units. Draws keep the signs that are
    /// known: those of this metric if the posterior says so, and the costs of a group-fair metric are never
    /// negative. Draws from an interval are normal in the logarithm of the weight ratio, each side with the deviation
    /// that puts the end of the interval where its level says; an interval that starts at 0 or has no upper end
    /// gives no draws. A draw with a wrong sign is drawn again, up to 64 times, and after that its wrong signs are reflected.
    ///
    /// ```
    /// use equipoise::Metric;
    /// use rand::SeedableRng;
    /// let text = r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,6],
    ///                "posterior":{"mean":[1,6],"covariance":[[0.01,0],[0,0.5]],"signs":"known"}}"#;
    /// let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    /// let draws = Metric::from_json(text)?.draws(500, &mut random);
    /// let above = draws.iter().filter(|m| m.cost_ratio().unwrap() > 6.0).count();
    /// assert!((200..300).contains(&above));
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn draws(&self, count: usize, random: &mut impl Rng) -> Vec<Metric> {
        let own = self.coefficients();
        let size = norm(&own);
        let Some(posterior) = &self.belief.posterior else { return self.ratio_draws(count, random) };
        let never_negative = self.family.never_negative();
        let signs: Vec<Option<f64>> = (own.iter().enumerate())
            .map(|(n, own)| match posterior.signs {
                _ if n < never_negative => Some(1.0),
                Signs::Known => Some(if *own < 0.0 { -1.0 } else { 1.0 }),
                Signs::Unknown => None,
            })
            .collect();
        let axes = posterior.axes();
        let mut draw = || {
            let mut drawn = posterior.draw(&axes, random);
            for _ in 1..TRIES {
                if fits(&drawn, &signs) {
                    break;
                }
                drawn = posterior.draw(&axes, random);
            }
            for (x, sign) in drawn.iter_mut().zip(&signs) {
                if let Some(sign) = sign {
                    *x = sign * x.abs();
                }
            }
            let length = norm(&drawn);
            let drawn = if length > 0.0 { scaled(&drawn, size / length) } else { own.clone() };
            // A draw can miss the family only where it has no direction (a numerator of zeros): keep the metric.
            self.with_coefficients(&drawn)
                .unwrap_or_else(|_| Self { belief: Belief::default(), ..self.clone() })
        };
        (0..count).map(|_| draw()).collect()
    }
}

impl Metric {
    /// Metrics with weight ratios drawn from the interval.
    fn ratio_draws(&self, count: usize, random: &mut impl Rng) -> Vec<Metric> {
        let (own, size) = (self.coefficients(), norm(&self.coefficients()));
        let ends = self.belief.interval.and_then(|i| Some((i.low, i.high?, i.level)));
        let Some(((low, high, level), ratio)) = ends.zip(self.weight_ratio()) else { return Vec::new() };
        if !(low > 0.0 && ratio > 0.0) {
            return Vec::new();
        }
        let reach = normal_reach(level);
        // An end on the wrong side of the ratio leaves no room on that side.
        let [below, above] = [(ratio / low).ln(), (high / ratio).ln()].map(|room| room.max(0.0) / reach);
        let [positive, negative] = if self.view.measure() == Measure::Binary { [0, 1] } else { [1, 0] };
        let draw = |step: f64| {
            let factor = (step * if step < 0.0 { below } else { above }).exp();
            let mut drawn = own.clone();
            drawn[positive] = own[negative] * ratio * factor;
            self.with_coefficients(&scaled(&drawn, size / norm(&drawn)))
        };
        crate::linalg::normals(count, random).into_iter().filter_map(|step| draw(step).ok()).collect()
    }
}

/// How many deviations around the mean of a normal distribution hold this much of it.
fn normal_reach(level: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    while high - low > 1e-12 {
        let middle = 0.5 * (low + high);
        let held = libm::erf(middle / std::f64::consts::SQRT_2);
        (low, high) = if held < level { (middle, high) } else { (low, middle) };
    }
    high
}

fn fits(drawn: &[f64], signs: &[Option<f64>]) -> bool {
    drawn.iter().zip(signs).all(|(x, sign)| sign.is_none_or(|sign| sign * x >= 0.0))
}

/// The fields as they stand in a document, unchecked.
mod raw {
    use super::Signs;
    use serde::Deserialize;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Posterior {
        pub mean: Vec<f64>,
        pub covariance: Vec<Vec<f64>>,
        #[serde(default)]
        pub signs: Signs,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Interval {
        pub low: f64,
        pub high: Option<f64>,
        pub level: f64,
    }
}
