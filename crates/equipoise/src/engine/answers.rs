//! How answers are believed to come about, as a plan's document says it.

use super::ratio::Noise;
use super::rivals;
use super::session::AnswerModel;
use crate::document::{self, Object};
use crate::error::{Result, check};
use serde::{Deserialize, Serialize};

/// How answers are believed to come about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answers {
    /// Every answer is right.
    Exact,
    /// A share is wrong, whatever the question.
    Flip {
        /// The share; the engine allows for a fifth and .07 more, because understating it is much worse than overstating it.
        probability: f64,
    },
    /// Right with probability $1/(1+e^{-\beta t})$, t the difference in units of the space's radius.
    Logistic {
        /// $\beta$.
        slope: f64,
    },
    /// Nothing is known: slope and lapses are estimated while asking.
    Unknown,
}

impl Answers {
    pub(super) fn checked(self) -> Result<Self> {
        match self {
            Answers::Exact | Answers::Unknown => {}
            Answers::Flip { probability } => {
                let ok = (0.0..=0.3).contains(&probability);
                check::number("answers.probability", probability, ok, "a number in [0, 0.3]")?;
            }
            Answers::Logistic { slope } => {
                check::positive("answers.slope", slope)?;
            }
        }
        Ok(self)
    }

    /// How people err who answer like this, in units of the space; `None` if that is not known.
    pub(super) fn noise(self) -> Option<Noise> {
        let exact = Noise { slope: f64::INFINITY, lapse: 0.0 };
        match self {
            Answers::Exact => Some(exact),
            Answers::Flip { probability } => Some(Noise { lapse: probability, ..exact }),
            Answers::Logistic { slope } => Some(Noise { slope, ..exact }),
            Answers::Unknown => None,
        }
    }

    pub(super) fn model(self, tolerance: f64, dimension: usize) -> AnswerModel {
        match self {
            Answers::Exact => AnswerModel::exact(tolerance),
            Answers::Flip { probability } => AnswerModel::flips(probability, tolerance),
            Answers::Logistic { slope } => AnswerModel::logistic(slope, dimension),
            // What the rivals start from; they take over with the first answer.
            Answers::Unknown => rivals::models(tolerance, dimension)[0].0,
        }
    }

    /// What to multiply the radius by before believing it: with answers that may be wrong, the Gaussian's tails are a
    /// little short.
    pub(super) fn caution(self) -> f64 {
        match self {
            Answers::Exact => 1.0,
            Answers::Flip { .. } | Answers::Logistic { .. } | Answers::Unknown => 1.08,
        }
    }

    pub(crate) fn read(object: &mut Object) -> Result<Self> {
        let place = object.path("answers");
        let Some(value) = object.optional("answers")? else { return Ok(Answers::Exact) };
        let mut object = Object::new(value, &place)?;
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Flip {
            probability: f64,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Logistic {
            slope: f64,
        }
        let answers = match object.kind("kind", &["exact", "flip", "logistic", "unknown"])?.as_str() {
            "flip" => Answers::Flip { probability: object.rest::<Flip>()?.probability },
            "logistic" => Answers::Logistic { slope: object.rest::<Logistic>()?.slope },
            "unknown" => {
                object.finish()?;
                Answers::Unknown
            }
            _ => {
                object.finish()?;
                Answers::Exact
            }
        };
        document::at("", answers.checked())
    }
}
