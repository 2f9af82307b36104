//! A hidden metric that answers, faithfully or with seeded mistakes.

use super::{Answer, Oracle, Preference, Query};
use crate::document::{self, Object};
use crate::error::{Result, check};
use crate::metric::Metric;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

/// How a simulated oracle errs. Differences are of metric values, in the metric's own scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Noise {
    /// Never.
    None,
    /// Tosses a coin when the values differ by less than `width` (Definition 2.4).
    Band {
        /// $\epsilon_\Omega$.
        width: f64,
    },
    /// Always wrong when the values differ by less than `width`.
    AdversarialBand {
        /// $\epsilon_\Omega$.
        width: f64,
    },
    /// Right with probability $1/(1+e^{-\beta \cdot \text{difference}})$.
    Logistic {
        /// $\beta$.
        slope: f64,
    },
    /// Wrong with a fixed probability, whatever the pair.
    Flip {
        /// At most one half.
        probability: f64,
    },
}

impl Noise {
    /// Checks the parameter.
    pub fn checked(self) -> Result<Self> {
        match self {
            Noise::None => {}
            Noise::Band { width } | Noise::AdversarialBand { width } => {
                let ok = width.is_finite() && width >= 0.0;
                check::number("width", width, ok, "a number of at least 0")?;
            }
            Noise::Logistic { slope } => {
                check::positive("slope", slope)?;
            }
            Noise::Flip { probability } => {
                check::number(
                    "probability",
                    probability,
                    (0.0..=0.5).contains(&probability),
                    "a number in [0, 0.5]",
                )?;
            }
        }
        Ok(self)
    }

    pub(crate) fn from_part(value: serde_json::Value, at: &str) -> Result<Self> {
        let mut object = Object::new(value, at)?;
        let kind = object.kind("kind", &["none", "band", "adversarial_band", "logistic", "flip"])?;
        let noise = match kind.as_str() {
            "none" => {
                object.finish()?;
                Noise::None
            }
            "band" => Noise::Band { width: object.rest::<Width>()?.width },
            "adversarial_band" => Noise::AdversarialBand { width: object.rest::<Width>()?.width },
            "logistic" => Noise::Logistic { slope: object.rest::<Slope>()?.slope },
            _ => Noise::Flip { probability: object.rest::<Probability>()?.probability },
        };
        document::at(at, noise.checked())
    }
}

impl<'de> Deserialize<'de> for Noise {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Self::from_part(value, "noise").map_err(serde::de::Error::custom)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Width {
    width: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slope {
    slope: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Probability {
    probability: f64,
}

/// An oracle that knows a metric and answers by it.
///
/// ```
/// use equipoise::{Metric, Oracle, Preference, Query};
/// use equipoise::ask::Simulated;
/// let mut expert = Simulated::new(Metric::accuracy(2)?);
/// let Ok(answer) = expert.prefer(&Query::new(vec![0.6, 0.3], vec![0.5, 0.3]));
/// assert_eq!(answer.preference, Preference::First);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Simulated {
    metric: Metric,
    noise: Noise,
    random: Xoshiro256PlusPlus,
}

impl Simulated {
    /// Without noise. Equal values are answered "second", the papers' strict comparison.
    pub fn new(metric: Metric) -> Self {
        Self { metric, noise: Noise::None, random: Xoshiro256PlusPlus::seed_from_u64(0) }
    }

    /// With noise from a seeded generator.
    pub fn with_noise(metric: Metric, noise: Noise, seed: u64) -> Result<Self> {
        Ok(Self { metric, noise: noise.checked()?, random: Xoshiro256PlusPlus::seed_from_u64(seed) })
    }

    /// The hidden metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }
}

impl Oracle for Simulated {
    type Err = Infallible;

    fn prefer(&mut self, query: &Query) -> std::result::Result<Answer, Infallible> {
        let difference = self.metric.liking(&query.first) - self.metric.liking(&query.second);
        let truth = difference > 0.0;
        let first = match self.noise {
            Noise::None => truth,
            Noise::Band { width } if difference.abs() < width => self.random.random_bool(0.5),
            Noise::AdversarialBand { width } if difference.abs() < width => !truth,
            Noise::Band { .. } | Noise::AdversarialBand { .. } => truth,
            Noise::Logistic { slope } => self.random.random_bool(1.0 / (1.0 + (-slope * difference).exp())),
            Noise::Flip { probability } => truth ^ self.random.random_bool(probability),
        };
        Ok(if first { Preference::First } else { Preference::Second }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_of_first(noise: Noise, first: f64, second: f64) -> f64 {
        let metric = Metric::accuracy(2).unwrap();
        let mut oracle = Simulated::with_noise(metric, noise, 11).unwrap();
        let query = Query::new(vec![first, 0.0], vec![second, 0.0]);
        let asked = 20_000;
        let firsts = (0..asked).filter(|_| {
            let Ok(answer) = oracle.prefer(&query);
            answer.preference.is_first()
        });
        firsts.count() as f64 / f64::from(asked)
    }

    #[test]
    fn noise_errs_as_often_as_it_says() {
        // Three standard deviations of a share of 20,000 coin tosses are about 0.011.
        let near =
            |found: f64, expected: f64| assert!((found - expected).abs() < 0.011, "{found} {expected}");
        near(share_of_first(Noise::None, 0.6, 0.5), 1.0);
        near(share_of_first(Noise::Flip { probability: 0.2 }, 0.6, 0.5), 0.8);
        near(share_of_first(Noise::Band { width: 0.2 }, 0.6, 0.5), 0.5);
        near(share_of_first(Noise::Band { width: 0.05 }, 0.6, 0.5), 1.0);
        near(share_of_first(Noise::AdversarialBand { width: 0.2 }, 0.6, 0.5), 0.0);
        near(share_of_first(Noise::Logistic { slope: 10.0 }, 0.6, 0.5), 1.0 / (1.0 + (-1.0_f64).exp()));
    }
}
