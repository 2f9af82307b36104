//! How a plan believes answers to come about, as its document says it.

use crate::ask::NoiseModel;
use crate::document::{self, Object};
use crate::error::{Error, Result, check};
use serde_json::Value;

impl NoiseModel {
    /// Checks that a plan can believe in it.
    pub(super) fn believable(self) -> Result<Self> {
        match self {
            NoiseModel::Exact | NoiseModel::Unknown => {}
            NoiseModel::Flip { probability } => {
                let ok = (0.0..=0.3).contains(&probability);
                check::number("answers.probability", probability, ok, "a number in [0, 0.3]")?;
            }
            NoiseModel::Absolute { slope, .. } => {
                check::positive("answers.slope", slope)?;
            }
            NoiseModel::Relative { .. } | NoiseModel::Band { .. } | NoiseModel::AdversarialBand { .. } => {
                let what = "answers is a model that simulated experts follow and no plan believes in, expected exact, \
                            flip, logistic or unknown";
                return Err(Error::Mismatch(what.to_owned()));
            }
        }
        Ok(self)
    }

    /// What to multiply an angle by before believing it: with answers that may be wrong, the Gaussian's tails are a little
    /// short.
    pub(super) fn caution(self) -> f64 {
        if self == NoiseModel::Exact { 1.0 } else { 1.08 }
    }

    /// The `answers` of a plan document, if it has any.
    pub(crate) fn read_answers(object: &mut Object) -> Result<Option<Self>> {
        let place = object.path("answers");
        let Some(value) = object.optional("answers")? else { return Ok(None) };
        let model = Self::read(value, &place, &["exact", "flip", "logistic", "unknown"])?;
        document::at("", model.believable()).map(Some)
    }

    /// The same as a document.
    pub(super) fn to_answers(self) -> Value {
        match self {
            NoiseModel::Exact => serde_json::json!({"kind": "exact"}),
            other => serde_json::to_value(other).expect("numbers and words"),
        }
    }
}
