//! Two classes, linear metrics: $\phi = m_{11} TP + m_{00} TN$ (Algorithms 3.1 and 3.2, Section 3.4.1).

use super::interval::{Halving, Interval, checked_tolerance};
use super::slope::{Ball, METHODS, Signs, SlopeSearch};
use crate::ask::{Finding, Oracle, Outcome, Plan, Query};
use crate::document::Object;
use crate::error::Result;
use crate::metric::{Metric, Sense};
use crate::space::{Binary, Space};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

/// Whether the metric grows or falls with true positives and true negatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// More correct predictions are better.
    Increasing,
    /// Fewer are better.
    Decreasing,
    /// One more question tells (Appendix A.4).
    Unknown,
}

/// What is halved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// The angle of the weights, as in chapter 3.
    Angle,
    /// The weight of the true negatives when the two weights sum to 1, as in the user study of chapter 8.
    Weight,
}

/// Elicits a two-class linear metric by questions about boundary classifiers.
///
/// ```
/// use equipoise::{Metric, Plan, search, ask::Simulated, population::Logistic, space::Binary};
/// let hidden = Metric::from_json(
///     r#"{"format":1,"kind":"linear","measure":"binary","sense":"utility","weights":[6,1]}"#)?;
/// let plan = search::BinaryLinear::new(Binary::from_law(Logistic::new(5.0)?), 0.01)?;
/// let Ok(outcome) = plan.run(&mut Simulated::new(hidden.clone()));
/// assert!(outcome.metric.difference(&hidden).unwrap().angle < 0.01);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BinaryLinear {
    pub(crate) space: Binary,
    #[serde(flatten)]
    how: How,
    tolerance: f64,
    direction: Direction,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "snake_case")]
enum How {
    Paper { queries_per_halving: Halving, parameter: Parameter },
    Antipodal,
}

impl BinaryLinear {
    /// The papers' search: four questions per halving of the angle, the metric known to be increasing.
    pub fn new(space: Binary, tolerance: f64) -> Result<Self> {
        let how = How::Paper { queries_per_halving: Halving::Four, parameter: Parameter::Angle };
        Ok(Self { space, how, tolerance: checked_tolerance(tolerance)?, direction: Direction::Increasing })
    }

    /// Three or four questions per halving.
    pub fn queries_per_halving(mut self, halving: Halving) -> Self {
        if let How::Paper { queries_per_halving, .. } = &mut self.how {
            *queries_per_halving = halving;
        }
        self
    }

    /// Halves the weight of the true negatives, as in the user study of chapter 8, instead of the angle.
    pub fn halving_the_weight(mut self) -> Self {
        if let How::Paper { parameter, .. } = &mut self.how {
            *parameter = Parameter::Weight;
        }
        self
    }

    /// One question per halving, about antipodal points of a disc inside the achievable set.
    pub fn antipodal(self) -> Self {
        Self { how: How::Antipodal, ..self }
    }

    /// Whether the metric grows or falls is not known: one more question tells (Appendix A.4).
    pub fn of_unknown_direction(self) -> Self {
        Self { direction: Direction::Unknown, ..self }
    }

    pub(crate) fn read(mut object: Object, space: Binary) -> Result<Self> {
        let tolerance = object.or("tolerance", 0.02)?;
        let mut plan = crate::document::at(&object.place(), Self::new(space, tolerance))?;
        match object.word("method", &METHODS, "paper")?.as_str() {
            "antipodal" => plan = plan.antipodal(),
            _ => {
                let queries_per_halving = object.or("queries_per_halving", Halving::Four)?;
                plan.how =
                    How::Paper { queries_per_halving, parameter: object.or("parameter", Parameter::Angle)? };
            }
        }
        plan.direction = object.or("direction", plan.direction)?;
        object.finish()?;
        Ok(plan)
    }

    fn is_increasing<O: Oracle>(&self, oracle: &mut O) -> Result<bool, O::Err> {
        match self.direction {
            Direction::Increasing => Ok(true),
            Direction::Decreasing => Ok(false),
            Direction::Unknown => {
                let [up, down] = [FRAC_PI_4, PI + FRAC_PI_4].map(|a| self.space.at_angle(a).to_vec());
                Ok(oracle.prefer(&Query::new(up, down))?.preference.is_first())
            }
        }
    }
}

impl Plan for BinaryLinear {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let increasing = self.is_increasing(oracle)?;
        let sign = if increasing { 1.0 } else { -1.0 };
        let (weights, findings) = match self.how {
            How::Paper { queries_per_halving, parameter } => {
                let tangent = Tangent { halving: queries_per_halving, parameter, tolerance: self.tolerance };
                let found = tangent.at_best(&self.space, increasing, oracle)?;
                (found.weights, found.findings)
            }
            How::Antipodal => {
                let search = SlopeSearch::antipodal(self.tolerance).expect("checked when made");
                let centre = self.space.centre();
                let ball = Ball { centre: &centre, radius: inscribed_radius(&self.space) };
                let slope = search.run(ball, Signs::Known(&[sign, sign]), oracle)?;
                ([slope[0], slope[1]], vec![])
            }
        };
        let metric = Metric::linear(self.space.view(), Sense::Utility, weights.to_vec());
        Ok(Outcome { metric: metric.expect("a unit vector"), findings })
    }
}

/// The search for a supporting line of a planar set, shared by two-class metrics and faces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tangent {
    pub halving: Halving,
    pub parameter: Parameter,
    pub tolerance: f64,
}

/// A supporting line: $\langle\text{weights}, x\rangle = \text{level}$, touching the set at `point`.
#[derive(Debug, Clone)]
pub(super) struct Support {
    pub weights: [f64; 2],
    pub point: [f64; 2],
    pub findings: Vec<Finding>,
}

impl Support {
    pub fn level(&self) -> f64 {
        self.weights[0] * self.point[0] + self.weights[1] * self.point[1]
    }
}

impl Tangent {
    /// Algorithm 3.1 on the upper boundary; on the lower one for a decreasing metric.
    pub fn at_best<O: Oracle>(&self, space: &Binary, upper: bool, oracle: &mut O) -> Result<Support, O::Err> {
        self.search(space, upper, |x, y| Ok(oracle.prefer(&Query::new(x, y))?.preference.is_first()))
    }

    /// Algorithm 3.2: the same on the lower boundary with answers inverted.
    pub fn at_worst<O: Oracle>(&self, space: &Binary, oracle: &mut O) -> Result<Support, O::Err> {
        self.search(space, false, |x, y| Ok(oracle.prefer(&Query::new(y, x))?.preference.is_first()))
    }

    fn search<E>(
        &self,
        space: &Binary,
        upper: bool,
        mut better: impl FnMut(Vec<f64>, Vec<f64>) -> Result<bool, E>,
    ) -> Result<Support, E> {
        let (start, turn) = match self.parameter {
            Parameter::Angle => (Interval::new(0.0, FRAC_PI_2), if upper { 0.0 } else { PI }),
            Parameter::Weight => (Interval::new(0.0, 1.0), if upper { 0.0 } else { PI }),
        };
        let angle = |x: f64| turn + self.angle(x);
        let point = |x: f64| space.at_angle(angle(x));
        let found = start
            .search(self.tolerance, self.halving, |x, y| better(point(x).to_vec(), point(y).to_vec()))?;
        let (sin, cos) = angle(found.middle()).sin_cos();
        // At either end of the boundary a range of slopes touches the same corner.
        let flat = |i: Interval| Finding::FlatBoundary { low: angle(i.low), high: angle(i.high) };
        let flat_end = || start.flat_end(found, point).map(flat);
        let ends = [start.low, start.high].map(angle);
        let corner = corner(space, angle(found.middle()), ends, self.tolerance);
        let findings = corner.or_else(flat_end).into_iter().collect();
        Ok(Support { weights: [cos, sin], point: space.extreme([cos, sin]), findings })
    }

    /// The angle of the weights at a value of the parameter.
    fn angle(&self, x: f64) -> f64 {
        match self.parameter {
            Parameter::Angle => x,
            Parameter::Weight => x.atan2(1.0 - x),
        }
    }
}

/// On a hull, the angles between the ends that lead to the same corner, if the search would tell them apart.
fn corner(space: &Binary, angle: f64, ends: [f64; 2], tolerance: f64) -> Option<Finding> {
    let [low, high] = space.corner(angle)?;
    let (low, high) = (low.max(ends[0]), high.min(ends[1]));
    (high - low > tolerance).then_some(Finding::FlatBoundary { low, high })
}

/// A radius that fits around the centre: the smallest support over a fine grid of directions, less what the
/// support can change between two of them.
pub(crate) fn inscribed_radius(space: &Binary) -> f64 {
    let steps = 4096;
    let centre = space.centre();
    let support = |n: usize| {
        let (sin, cos) = (TAU * n as f64 / steps as f64).sin_cos();
        let [tp, tn] = space.extreme([cos, sin]);
        cos * (tp - centre[0]) + sin * (tn - centre[1])
    };
    let smallest = (0..steps).map(support).fold(f64::MAX, f64::min);
    // The support's slope is at most the distance of a corner from the centre.
    let reach = (centre[0].powi(2) + centre[1].powi(2)).sqrt();
    (smallest - reach * 0.5 * TAU / steps as f64).max(0.5 * smallest)
}
