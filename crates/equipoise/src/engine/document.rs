//! Adaptive plans as documents.

use super::belief::Width;
use super::plan::{Adaptive, Subject};
use super::stop::Stop;
use crate::ask::NoiseModel;
use crate::document::{self, Object};
use crate::error::{Error, Result, check};
use crate::space::AnySpace;
use serde::{Deserialize, Serialize};

/// When the threshold a ratio leads to counts as settled, as documents say it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settled {
    tolerance: f64,
    certainty: f64,
}

impl Adaptive {
    /// A plan document and the space it is about.
    pub(crate) fn read(mut object: Object, space: AnySpace) -> Result<Self> {
        let place = object.place();
        let fractional = matches!(space, AnySpace::Sphere(_)) && object.is("kind", "linear_fractional");
        let kinds: &[&str] = match space {
            AnySpace::Binary(_) => &["linear"],
            AnySpace::Candidates(_) => &["attributes"],
            _ if fractional => &["linear_fractional"],
            _ => &["linear", "quadratic", "polynomial", "group_fair", "group_fair_quadratic"],
        };
        let kind = object.kind("kind", kinds)?;
        object.kind("method", &["adaptive"])?;
        let tolerance = match space {
            AnySpace::Binary(_) => 0.0,
            // A person's weights are never known that closely: the decision ends it.
            AnySpace::OperatingPoint(_) | AnySpace::Candidates(_) => object.or("tolerance", 1e-6)?,
            _ => object.or("tolerance", 0.01)?,
        };
        let made = match (kind.as_str(), space) {
            ("linear", AnySpace::Binary(space)) => Ok(Self::ratio(space)),
            ("linear", AnySpace::Sphere(space)) => Self::linear(space, tolerance),
            ("linear" | "group_fair", AnySpace::OperatingPoint(space)) => {
                Self::around(space).map(|plan| Self { narrow: Width::Angle(tolerance), ..plan })
            }
            ("attributes", AnySpace::Candidates(space)) => {
                Ok(Self { narrow: Width::Angle(tolerance), ..Self::choice(space) })
            }
            ("linear", AnySpace::Pool(space)) => Self::pool(space, tolerance),
            ("linear_fractional", AnySpace::Sphere(space)) => Self::fractional(space, tolerance),
            ("quadratic", AnySpace::Sphere(space)) => Self::quadratic(space, tolerance),
            ("polynomial", AnySpace::Sphere(space)) => {
                Self::polynomial(space, object.or("degree", 3)?, tolerance)
            }
            ("group_fair", AnySpace::GroupSphere(space)) => Self::group_fair(space, tolerance),
            ("group_fair_quadratic", AnySpace::GroupSphere(space)) => {
                Self::group_fair_quadratic(space, tolerance)
            }
            (kind, space) => Err(Error::Mismatch(format!(
                "kind is \"{kind}\", which the adaptive method cannot elicit on a {} space",
                space.kind()
            ))),
        };
        let mut plan = document::at(&place, made)?;
        if let Some(answers) = NoiseModel::read_answers(&mut object)? {
            plan = document::at(&place, plan.answers(answers))?;
        }
        if plan.is_ratio() {
            plan = document::at(&place, plan.read_of_ratio(&mut object))?;
        }
        if plan.features().is_some() {
            plan.signs = object.or("signs", plan.signs)?;
        }
        plan = object.change("budget", plan, Self::budget)?;
        if (plan.features().is_some() || plan.candidates().is_some())
            && let Some(stops) = Stop::read(&mut object)?
        {
            plan = document::at(&place, plan.stop(stops))?;
        }
        if plan.features().is_some() {
            plan = object.change("rows_that_differ", plan, Self::rows_that_differ)?;
        }
        plan = object.change("probes", plan, Self::probes)?;
        plan.seed = object.or("seed", plan.seed)?;
        object.finish()?;
        Ok(plan)
    }

    /// The rules of a ratio, which have fields of their own.
    fn read_of_ratio(mut self, object: &mut Object) -> Result<Self> {
        self = object.change("width", self, Self::width)?;
        self = object.change("risks", self, Self::about_cases)?;
        let mut stops = vec![];
        let (regret, floor) = (object.optional("regret")?, object.optional("floor")?);
        if let Some(at_most) = regret {
            stops.push(Stop::Regret { at_most });
        }
        if let Some(Settled { tolerance, certainty }) = object.optional("decision")? {
            stops.push(Stop::Threshold { tolerance, certainty });
        }
        // A document that names no rule at all has the usual ones.
        match floor {
            Some(floor) => {
                check::number("floor", floor, (0.0..=1.0).contains(&floor), "a number of bits in [0, 1]")?;
                stops.push(Stop::Information { floor });
            }
            None if regret.is_some() => {
                stops.extend(self.stops.iter().filter(|stop| !matches!(stop, Stop::Regret { .. })));
            }
            None => stops.append(&mut self.stops),
        }
        self.stop(stops)
    }
}

impl Serialize for Adaptive {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let space = match &self.subject {
            Subject::Ratio(space) => AnySpace::Binary(space.clone()),
            Subject::Fraction(space) => AnySpace::Sphere(space.clone()),
            Subject::Weights(space, _) => space.clone(),
            Subject::Choice(space) => AnySpace::Candidates(space.clone()),
        };
        let (width, tolerance) = match self.narrow {
            Width::Factor(width) => (Some(width), None),
            Width::Angle(tolerance) => (None, Some(tolerance)),
        };
        let settled = |stop: &Stop| match *stop {
            Stop::Threshold { tolerance, certainty } => Some(Settled { tolerance, certainty }),
            _ => None,
        };
        let features = self.features();
        // A pool without rules is not the same as a pool with the usual one.
        let named =
            matches!(space, AnySpace::Pool(_) | AnySpace::OperatingPoint(_) | AnySpace::Candidates(_))
                || !self.stops.is_empty();
        let mut document = serde_json::json!({
            "space": space,
            "method": "adaptive",
            "degree": features.and_then(|features| features.degree()),
            "tolerance": tolerance,
            "answers": self.answers.map(NoiseModel::to_answers),
            "signs": features.map(|_| self.signs),
            "width": width,
            "decision": self.stops.iter().find_map(settled),
            "regret": self.regret_at_most().filter(|_| self.is_ratio()),
            "floor": self.is_ratio().then_some(self.floor().unwrap_or(0.0)),
            "budget": self.budget,
            "stop": ((features.is_some() || self.candidates().is_some()) && named).then_some(&self.stops),
            "rows_that_differ": self.rows_that_differ,
            "risks": self.risks,
            // None is not the same as the usual ones.
            "probes": (self.probes > 0 || self.asks_people()).then_some(self.probes),
            // Of a ratio it decides about sides alone, and documents from before have none.
            "seed": (!self.is_ratio() || self.seed != 0).then_some(self.seed),
        });
        // What a kind of plan does not have is left out.
        document.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
        document.serialize(serializer)
    }
}
