//! Linear metrics on a ball: $\phi = \langle a, r\rangle$ (Algorithm 4.2 and its antipodal replacement).

use super::interval::Halving;
use super::slope::{Ball, Signs, SlopeSearch};
use crate::ask::{Finding, Oracle, Outcome, Plan};
use crate::document::Object;
use crate::error::Result;
use crate::linalg::scaled;
use crate::metric::{Metric, Sense};
use crate::space::{Space, Sphere};
use crate::view::Measure;
use serde::{Deserialize, Serialize};

/// What is known of the signs of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignKnowledge {
    /// Errors are bad and correct predictions good.
    Monotone,
    /// Nothing; the search finds the signs first.
    Unknown,
}

/// Elicits a linear metric from a ball of achievable points.
///
/// The outcome is a cost when the measure lists errors, a utility when it lists correct predictions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Linear {
    pub(crate) space: Sphere,
    #[serde(flatten)]
    search: SlopeSearch,
    signs: SignKnowledge,
}

impl Linear {
    /// The printed search: forward order, two cycles, four questions per halving, signs known.
    pub fn new(space: Sphere, tolerance: f64) -> Result<Self> {
        let search = SlopeSearch::paper(2, Halving::Four, tolerance)?;
        Ok(Self { space, search, signs: SignKnowledge::Monotone })
    }

    /// Another search.
    pub fn search(self, search: SlopeSearch) -> Self {
        Self { search, ..self }
    }

    /// Errors may be liked: nothing is known of the signs, and the search finds them first.
    pub fn of_unknown_signs(self) -> Self {
        Self { signs: SignKnowledge::Unknown, ..self }
    }

    pub(crate) fn read(mut object: Object, space: Sphere) -> Result<Self> {
        let mut plan = Self::new(space, 0.01)?;
        plan.search = SlopeSearch::read(&mut object, plan.search)?;
        plan.signs = object.or("signs", plan.signs)?;
        object.finish()?;
        Ok(plan)
    }
}

impl Plan for Linear {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
        let (centre, sign) = (self.space.centre(), liked_sign(self.space.view().measure()));
        let liked = vec![sign; centre.len()];
        let signs = match self.signs {
            SignKnowledge::Monotone => Signs::Known(&liked),
            SignKnowledge::Unknown => Signs::Unknown,
        };
        let ball = Ball { centre: &centre, radius: self.space.radius() };
        let slope = self.search.run(ball, signs, oracle)?;
        let sense = if sign < 0.0 { Sense::Cost } else { Sense::Utility };
        let metric = Metric::linear(self.space.view(), sense, scaled(&slope, sign)).expect("a unit vector");
        Ok(Outcome { metric, findings: beyond_reach(&self.space) })
    }
}

/// +1 where more is better, -1 where the entries are errors.
pub(super) fn liked_sign(measure: Measure) -> f64 {
    if measure.lists_errors() { -1.0 } else { 1.0 }
}

/// The remark about a ball that is too large to be true, if it is.
pub(super) fn beyond_reach(space: &Sphere) -> Vec<Finding> {
    space.caveat().map(|what| Finding::BeyondReach { what }).into_iter().collect()
}
