//! When enough is known, besides a small angle: the choice is settled, or the next question would tell too little.

use super::normal::{density, distribution};
use super::posterior::Posterior;
use super::probit::Probit;
use crate::document::{self, Object};
use crate::error::{Result, check};
use crate::linalg::dot;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A rule that ends an elicitation. Several may be given; the first that applies ends it. The angular tolerance and the
/// budget of a plan always apply too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stop {
    /// The best model of a pool is the best one with at least this probability.
    Decision {
        /// The probability.
        level: f64,
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
            Stop::Decision { .. } => "decision",
            Stop::Information { .. } => "information",
        }
    }

    pub(super) fn checked(self) -> Result<Self> {
        match self {
            Stop::Decision { level } => {
                let ok = (0.5..1.0).contains(&level);
                check::number("stop.level", level, ok, "a number from 0.5 to below 1")?;
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
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Decision {
            #[serde(default = "usual")]
            level: f64,
        }
        fn usual() -> f64 {
            0.95
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Information {
            floor: f64,
        }
        let mut object = Object::new(value, place)?;
        let stop = match object.kind("kind", &["decision", "information"])?.as_str() {
            "decision" => Stop::Decision { level: object.rest::<Decision>()?.level },
            _ => Stop::Information { floor: object.rest::<Information>()?.floor },
        };
        document::at("", stop.checked())
    }
}

/// What the answer to a pair is expected to tell about the weights, in bits: the entropy of the answer less what noise
/// puts into it.
pub fn expected_bits(w: &[f64], posterior: &Posterior, probit: Probit) -> f64 {
    let mean = dot(w, posterior.mean());
    let variance = dot(w, &posterior.spread(w)).max(0.0);
    let slack = 1.0 - 2.0 * probit.lapse;
    let odds = probit.lapse + slack * distribution(mean / (variance + probit.variance).sqrt().max(1e-300));
    // The midpoint rule over ten standard deviations.
    let (nodes, deviation, scale) = (200, variance.sqrt(), probit.variance.sqrt().max(1e-300));
    let step = 10.0 / f64::from(nodes);
    let noise: f64 = (0..nodes)
        .map(|n| {
            let x = -5.0 + (f64::from(n) + 0.5) * step;
            step * density(x) * entropy(probit.lapse + slack * distribution((mean + deviation * x) / scale))
        })
        .sum();
    (entropy(odds) - noise).max(0.0)
}

/// The entropy of a coin, in bits.
pub fn entropy(chance: f64) -> f64 {
    let part = |x: f64| if x > 0.0 { -x * x.log2() } else { 0.0 };
    part(chance) + part(1.0 - chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_question_tells_a_bit_and_noise_takes_from_it() {
        let posterior = Posterior::new(2, 1.0);
        let bits = |variance: f64, lapse: f64| {
            expected_bits(&[1.0, 0.0], &posterior, Probit { variance, lapse, half_width: 0.0 })
        };
        assert!((bits(1e-12, 0.0) - 1.0).abs() < 1e-3);
        // A channel that flips one answer in ten carries 1 - H(.1) bits.
        assert!((bits(1e-12, 0.1) - (1.0 - entropy(0.1))).abs() < 1e-3);
        assert!(bits(1.0, 0.0) < 0.5 && bits(100.0, 0.0) < 0.01);
    }

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
