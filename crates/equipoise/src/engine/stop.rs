//! When enough is known, besides a narrow belief: something is settled, or the next question would tell too little.

use crate::document::{self, Object, make};
use crate::error::{Result, check};
use serde::Serialize;
use serde_json::Value;

/// A rule that ends an elicitation. Several may be given; the first that applies ends it. The width and the budget of a plan
/// always apply too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stop {
    /// The best model of a pool is the best one with at least this probability.
    Decision {
        /// The probability.
        level: f64,
    },
    /// Two classes: the threshold that the cost ratio leads to is settled.
    Threshold {
        /// How far it may be off: a difference of risks.
        tolerance: f64,
        /// How likely it must be within the tolerance.
        certainty: f64,
    },
    /// The rule that would be chosen is expected to cost at most this much more than the best one, as a share.
    Regret {
        /// The share.
        at_most: f64,
    },
    /// The most telling question left is expected to tell less than this.
    Information {
        /// Bits.
        floor: f64,
    },
}

impl Stop {
    /// The default for pools: 95 % certain of the best model.
    pub const SETTLED: Self = Stop::Decision { level: 0.95 };

    /// The word a finding gives as the reason.
    pub fn rule(&self) -> &'static str {
        match self {
            Stop::Decision { .. } | Stop::Threshold { .. } => "decision",
            Stop::Regret { .. } => "regret",
            Stop::Information { .. } => "information",
        }
    }

    pub(super) fn checked(self) -> Result<Self> {
        match self {
            Stop::Decision { level } => {
                let ok = (0.5..1.0).contains(&level);
                check::number("stop.level", level, ok, "a number from 0.5 to below 1")?;
            }
            Stop::Threshold { tolerance, certainty } => {
                let ok = tolerance > 0.0 && tolerance < 1.0;
                check::number("decision.tolerance", tolerance, ok, "a number strictly between 0 and 1")?;
                let ok = (0.5..1.0).contains(&certainty);
                check::number("decision.certainty", certainty, ok, "a number in [0.5, 1)")?;
            }
            Stop::Regret { at_most } => {
                let ok = at_most > 0.0 && at_most < 1.0;
                check::number("stop.at_most", at_most, ok, "a number strictly between 0 and 1")?;
            }
            Stop::Information { floor } => {
                let ok = (0.0..=1.0).contains(&floor);
                check::number("stop.floor", floor, ok, "a number of bits in [0, 1]")?;
            }
        }
        Ok(self)
    }

    /// The rules of a plan document: one object, or a list of them. `None` if it names none.
    pub(super) fn read(object: &mut Object) -> Result<Option<Vec<Self>>> {
        let place = object.path("stop");
        let Some(value) = object.optional::<Value>("stop")? else { return Ok(None) };
        let parts = match value {
            Value::Array(parts) => parts,
            one => vec![one],
        };
        parts.into_iter().map(|part| Self::read_one(part, &place)).collect::<Result<_>>().map(Some)
    }

    fn read_one(value: Value, place: &str) -> Result<Self> {
        let mut object = Object::new(value, place)?;
        let stop = match object.kind("kind", &["decision", "regret", "information"])?.as_str() {
            "decision" => make!(object, { level: Option<f64> } => {
                Ok(level.map_or(Stop::SETTLED, |level| Stop::Decision { level }))
            }),
            "regret" => make!(object, { at_most: f64 } => Ok(Stop::Regret { at_most })),
            _ => make!(object, { floor: f64 } => Ok(Stop::Information { floor })),
        };
        document::at("", stop?.checked())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_alone_or_as_a_list() {
        let read = |text: &str| {
            let mut object = Object::new(serde_json::from_str(text).unwrap(), "plan").unwrap();
            Stop::read(&mut object)
        };
        let both = r#"{"stop":[{"kind":"decision"},{"kind":"information","floor":0.01}]}"#;
        assert_eq!(read(both).unwrap(), Some(vec![Stop::SETTLED, Stop::Information { floor: 0.01 }]));
        let one = r#"{"stop":{"kind":"decision","level":0.8}}"#;
        assert_eq!(read(one).unwrap(), Some(vec![Stop::Decision { level: 0.8 }]));
        assert_eq!(read("{}").unwrap(), None);
        let wrong = read(r#"{"stop":{"kind":"decision","level":2}}"#).unwrap_err().to_string();
        assert!(wrong.contains("stop.level is 2"), "{wrong}");
    }
}
