//! Linear-fractional metrics on a ball: $\phi = \langle a, r\rangle / (\langle b, r\rangle + b_0)$ (Section 4.4.2).
//!
//! The level set of $\phi$ through a point is a hyperplane whose normal is the slope there. Two such hyperplanes
//! $\langle s, r\rangle = C$ span the pencil, and the numerator is its member through the origin:
//! $a \propto C_2 s_1 - C_1 s_2$. The papers take the hyperplanes at the best and the worst point of the ball
//! (Algorithms 4.2 and 4.5); the antipodal search reads slopes at any two points of different value.

use super::interval::Halving;
use super::linear::{beyond_reach, liked_sign};
use super::slope::{Ball, Method, Signs, SlopeSearch};
use crate::ask::{Fallible, Finding, Oracle, Outcome, Plan, Query};
use crate::document::Object;
use crate::error::Result;
use crate::linalg::{dot, norm, plus, scaled};
use crate::metric::{Metric, Sense};
use crate::space::{Space, Sphere};
use serde::Serialize;

/// Elicits a linear-fractional metric from a ball.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearFractional {
    pub(crate) space: Sphere,
    #[serde(flatten)]
    search: SlopeSearch,
}

/// A level set of the metric, with the normal pointing to where the metric grows.
struct Hyperplane {
    normal: Vec<f64>,
    level: f64,
}

impl Hyperplane {
    fn through(point: &[f64], normal: Vec<f64>) -> Self {
        Self { level: dot(&normal, point), normal }
    }
}

impl LinearFractional {
    /// The printed searches: forward order, two cycles, four questions per halving.
    pub fn new(space: Sphere, tolerance: f64) -> Result<Self> {
        Ok(Self { space, search: SlopeSearch::paper(2, Halving::Four, tolerance)? })
    }

    /// Another search.
    pub fn search(self, search: SlopeSearch) -> Self {
        Self { search, ..self }
    }

    pub(crate) fn read(mut object: Object, space: Sphere) -> Result<Self> {
        let mut plan = Self::new(space, 0.01)?;
        plan.search = SlopeSearch::read(&mut object, plan.search)?;
        object.finish()?;
        Ok(plan)
    }

    /// Algorithms 4.2 and 4.5: tangents at the best and the worst point.
    fn tangents<O: Oracle>(&self, oracle: &mut O) -> Result<[Hyperplane; 2], O::Err> {
        let centre = self.space.centre();
        let ball = Ball { centre: &centre, radius: self.space.radius() };
        let sign = liked_sign(self.space.view().measure());
        let best = self.search.run(ball, Signs::Known(&vec![sign; centre.len()]), oracle)?;
        let mut inverted =
            Fallible(|query: &Query| oracle.prefer(&Query::new(query.second.clone(), query.first.clone())));
        let worst = self.search.run(ball, Signs::Known(&vec![-sign; centre.len()]), &mut inverted)?;
        let at_best = plus(&centre, self.space.radius(), &best);
        let at_worst = plus(&centre, self.space.radius(), &worst);
        // The metric grows away from the worst point.
        Ok([Hyperplane::through(&at_best, best), Hyperplane::through(&at_worst, scaled(&worst, -1.0))])
    }

    /// Slopes at two points on either side of the centre, along the slope found at the centre.
    fn level_sets<O: Oracle>(&self, oracle: &mut O) -> Result<[Hyperplane; 2], O::Err> {
        let (centre, radius) = (self.space.centre(), 0.5 * self.space.radius());
        let along = self.search.run(Ball { centre: &centre, radius }, Signs::Unknown, oracle)?;
        let mut at = |step: f64| {
            let centre = plus(&centre, step, &along);
            let normal = self.search.run(Ball { centre: &centre, radius }, Signs::Unknown, oracle)?;
            Ok(Hyperplane::through(&centre, normal))
        };
        Ok([at(radius)?, at(-radius)?])
    }

    /// The flattest denominator of the pencil, scaled to 1 at the centre: positive on the ball if any is.
    fn denominator(&self, numerator: &[f64], line: &Hyperplane) -> Option<(Vec<f64>, f64)> {
        let centre = self.space.centre();
        // Any other member of the pencil serves as a start: (b, b0) = (s, -C) + c (a, 0).
        let (b, d0) = (&line.normal, dot(&line.normal, &centre) - line.level);
        let (aa, ab, bb) = (dot(numerator, numerator), dot(numerator, b), dot(b, b));
        let a0 = dot(numerator, &centre);
        let c = (a0 * bb - ab * d0) / (aa * d0 - ab * a0);
        let c = if c.is_finite() { c } else { -ab / aa };
        let at_centre = d0 + c * a0;
        let denominator = scaled(&plus(b, c, numerator), 1.0 / at_centre);
        let offset = -line.level / at_centre;
        let finite = offset.is_finite() && denominator.iter().all(|x| x.is_finite());
        finite.then_some((denominator, offset))
    }
}

impl Plan for LinearFractional {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let [up, low] = match self.search.method() {
            Method::Paper { .. } => self.tangents(oracle)?,
            Method::Antipodal => self.level_sets(oracle)?,
        };
        let mut findings = beyond_reach(&self.space);
        let sign = liked_sign(self.space.view().measure());
        let mut numerator = plus(&scaled(&up.normal, low.level), -up.level, &low.normal);
        if norm(&numerator) < 1e-9 {
            findings.push(Finding::DegeneratePencil);
            numerator = up.normal.clone();
        }
        let size: f64 = numerator.iter().map(|a| a.abs()).sum();
        let mut numerator = scaled(&numerator, 1.0 / size);
        let (denominator, offset) = self.denominator(&numerator, &up).unwrap_or_else(|| {
            let what = "no denominator fits the slopes; set to 1".to_owned();
            findings.push(Finding::Inconsistent { what });
            (vec![0.0; numerator.len()], 1.0)
        });
        // With a denominator of 1 at the centre, this is the gradient there: it must point to where the metric grows.
        let value = dot(&numerator, &self.space.centre());
        let gradient = plus(&numerator, -value, &denominator);
        if dot(&gradient, &plus(&up.normal, 1.0, &low.normal)) < 0.0 {
            numerator = scaled(&numerator, -1.0);
        }
        let numerator = scaled(&numerator, sign);
        findings.push(Finding::FractionalGauge {
            gauge: "the flattest denominator over the ball, 1 at its centre".to_owned(),
        });
        let sense = if sign < 0.0 { Sense::Cost } else { Sense::Utility };
        let parts = [numerator, denominator];
        let metric = Metric::linear_fractional(self.space.view(), sense, parts, offset);
        Ok(Outcome { metric: metric.expect("one weight per coordinate"), findings })
    }
}
