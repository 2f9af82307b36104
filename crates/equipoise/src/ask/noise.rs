//! How answers err: one type for simulated experts, for what beliefs allow for, and for documents.

use crate::document::{self, Object, make};
use crate::error::{Result, check};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A model of how somebody's answers err.
///
/// Units, here and everywhere: a difference t is how much better the first point is, to weights of length 1, with the radius
/// of the space as 1. Slopes are per unit of t, widths are in units of t. A simulated expert's document counts in the values
/// of its own metric instead; [`NoiseModel::in_units_of`] leads from the one to the other. A lapse is the share of answers
/// that come out the wrong way round whatever the question: half of those that have nothing to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NoiseModel {
    /// Every answer is right.
    #[serde(rename = "none")]
    Exact,
    /// A share is wrong, whatever the question.
    Flip {
        /// The share.
        probability: f64,
    },
    /// The better the first point, the likelier it is chosen: $\epsilon + (1-2\epsilon)/(1+e^{-\beta t})$.
    #[serde(rename = "logistic")]
    Absolute {
        /// $\beta$.
        slope: f64,
        /// $\epsilon$.
        #[serde(skip_serializing_if = "is_zero")]
        lapse: f64,
    },
    /// The same with $\ln(G/L)$ in place of t: what counts is the ratio of what is gained to what is lost.
    Relative {
        /// s.
        slope: f64,
        /// $\epsilon$; the papers' $l$ is twice as much.
        lapse: f64,
    },
    /// Tosses a coin when the difference is below `width` (Definition 2.4).
    Band {
        /// $\epsilon_\Omega$.
        width: f64,
    },
    /// Always wrong when the difference is below `width`.
    AdversarialBand {
        /// $\epsilon_\Omega$.
        width: f64,
    },
    /// Any of the models that [`NoiseModel::population`] lists with their weights: the answers tell which.
    Unknown,
}

/// How much better the first of two points is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// By how much: t.
    pub ahead: f64,
    /// $\ln(G/L)$: G is the weighted sum of what is better about it, L of what is worse.
    pub log_ratio: f64,
}

impl From<f64> for Gap {
    /// Better or worse throughout.
    fn from(ahead: f64) -> Self {
        let log_ratio = if ahead == 0.0 { 0.0 } else { f64::INFINITY.copysign(ahead) };
        Self { ahead, log_ratio }
    }
}

impl Gap {
    /// A difference and the parts it is the sum of.
    pub fn new(ahead: f64, parts: impl Iterator<Item = f64>) -> Self {
        let (gain, loss) = parts.fold((0.0, 0.0), |(g, l), part| (g + part.max(0.0), l + (-part).max(0.0)));
        Self { ahead, log_ratio: if gain == loss { 0.0 } else { (gain / loss).ln() } }
    }
}

/// How likely each answer is: together 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chances {
    /// The first.
    pub first: f64,
    /// The second.
    pub second: f64,
    /// Neither.
    pub cannot_tell: f64,
}

/// The logistic curve.
fn rise(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Somebody who says "can't tell" says it where the odds of the better point are below e to 1.
const MARGIN: f64 = 1.0;

/// The slopes of the least and the most discerning person who goes by differences: at slope 5 a difference of half the radius
/// is told apart with 92 % certainty, at slope 80 one of a thirtieth.
pub const SLOPES: [f64; 2] = [5.0, 80.0];

/// The same of those who go by ratios: at slope .75 a gain of four times the loss is seen in 74 of 100 cases, at slope 12 one
/// of a quarter more in 94.
pub const RATIO_SLOPES: [f64; 2] = [0.75, 12.0];

/// The most careless person's lapses.
pub const MOST_LAPSES: f64 = 0.2;

impl NoiseModel {
    /// How likely each answer is.
    ///
    /// Whoever does not hesitate never says "can't tell". Whoever does says it where the difference is small to them, and
    /// chooses only beyond (Glenn and David's ties); lapses are then spread over all three answers.
    ///
    /// ```
    /// use equipoise::ask::NoiseModel;
    /// let model = NoiseModel::Absolute { slope: 20.0, lapse: 0.02 };
    /// let (sure, close) = (model.chances(0.3.into(), true), model.chances(0.01.into(), true));
    /// assert!(sure.first > 0.95 && close.cannot_tell > 0.4);
    /// assert!((close.first + close.second + close.cannot_tell - 1.0).abs() < 1e-12);
    /// ```
    pub fn chances(&self, gap: Gap, hesitates: bool) -> Chances {
        if *self == NoiseModel::Unknown {
            let models = Self::population();
            let all: f64 = models.iter().map(|(_, weight)| weight).sum();
            let average = |of: fn(Chances) -> f64| -> f64 {
                models.iter().map(|(model, weight)| weight / all * of(model.chances(gap, hesitates))).sum()
            };
            let (first, second) = (average(|of| of.first), average(|of| of.second));
            return Chances { first, second, cannot_tell: average(|of| of.cannot_tell) };
        }
        self.with_lapses(self.without_lapses(gap, hesitates), hesitates)
    }

    /// How likely each answer is, lapses aside.
    pub(crate) fn without_lapses(&self, gap: Gap, hesitates: bool) -> Chances {
        let odds = self.log_odds(gap);
        if !hesitates {
            let first = rise(odds);
            return Chances { first, second: 1.0 - first, cannot_tell: 0.0 };
        }
        // Equal to somebody who always sees a difference is equal.
        let odds = if gap.ahead == 0.0 && odds.is_infinite() { 0.0 } else { odds };
        let [first, second] = [odds, -odds].map(|odds| rise(odds - MARGIN));
        Chances { first, second, cannot_tell: (1.0 - first - second).max(0.0) }
    }

    /// The same with lapses, after which any answer is as likely.
    #[inline]
    pub(crate) fn with_lapses(&self, chances: Chances, hesitates: bool) -> Chances {
        let lapse = self.lapse();
        let rest = 1.0 - 2.0 * lapse;
        if !hesitates {
            let first = lapse + rest * chances.first;
            return Chances { first, second: 1.0 - first, cannot_tell: 0.0 };
        }
        let any = 2.0 * lapse / 3.0;
        let [first, second] = [chances.first, chances.second].map(|chance| any + rest * chance);
        Chances { first, second, cannot_tell: (1.0 - first - second).max(0.0) }
    }

    /// Whether two people differ in their lapses alone.
    pub(crate) fn is_as_steep(&self, other: &Self) -> bool {
        match (self, other) {
            (NoiseModel::Absolute { slope: one, .. }, NoiseModel::Absolute { slope: other, .. })
            | (NoiseModel::Relative { slope: one, .. }, NoiseModel::Relative { slope: other, .. }) => {
                one == other
            }
            _ => false,
        }
    }

    /// How likely the first point is chosen by somebody who never says "can't tell".
    pub fn chance_of_first(&self, gap: impl Into<Gap>) -> f64 {
        self.chances(gap.into(), false).first
    }

    /// Whether an answer is drawn by its chance; of the other models only an even one is.
    pub(crate) fn is_drawn(&self) -> bool {
        matches!(self, NoiseModel::Absolute { .. } | NoiseModel::Relative { .. } | NoiseModel::Unknown)
    }

    /// The logarithm of the odds of "first", lapses aside.
    fn log_odds(&self, Gap { ahead, log_ratio }: Gap) -> f64 {
        let right = if ahead > 0.0 { f64::INFINITY } else { f64::NEG_INFINITY };
        match *self {
            NoiseModel::Absolute { slope, .. } if slope.is_finite() => slope * ahead,
            NoiseModel::Relative { slope, .. } => slope * log_ratio,
            NoiseModel::Band { width } if ahead.abs() < width => 0.0,
            NoiseModel::AdversarialBand { width } if ahead.abs() < width => -right,
            _ => right,
        }
    }

    /// $\beta$ of an absolute model; infinite where answers do not depend on the size of a difference.
    pub fn slope(&self) -> f64 {
        match self {
            NoiseModel::Absolute { slope, .. } => *slope,
            _ => f64::INFINITY,
        }
    }

    /// $\epsilon$.
    pub fn lapse(&self) -> f64 {
        match self {
            NoiseModel::Flip { probability } => *probability,
            NoiseModel::Absolute { lapse, .. } | NoiseModel::Relative { lapse, .. } => *lapse,
            _ => 0.0,
        }
    }

    /// The same model of somebody whose differences are `unit` times as large.
    pub fn in_units_of(self, unit: f64) -> Self {
        match self {
            NoiseModel::Absolute { slope, lapse } => NoiseModel::Absolute { slope: slope / unit, lapse },
            NoiseModel::Band { width } => NoiseModel::Band { width: width * unit },
            NoiseModel::AdversarialBand { width } => NoiseModel::AdversarialBand { width: width * unit },
            other => other,
        }
    }

    /// What [`NoiseModel::Unknown`] stands for: the population of people, as a list of models with their weights.
    ///
    /// Stated once and used twice: as what beliefs start from, and as the experts that benches and `equipoise plan`
    /// simulate. A posterior whose prior is the population covers as often as it says, averaged over that population,
    /// whatever rule ends the questions. Half of the people go by ratios of what is gained to what is lost, half by
    /// differences; slopes are spread evenly in the logarithm; lapses are rare for most and reach one answer in five. This is
    /// an assumption about attentive adults, not a measurement; whoever knows better states the noise.
    pub fn population() -> Vec<(Self, f64)> {
        let [slopes, lapses] = [5, 4];
        let middle = |n: usize, steps: usize| (n as f64 + 0.5) / steps as f64;
        let of = |by_ratio: bool, n: usize| {
            Self::of_person(by_ratio, middle(n / lapses, slopes), middle(n % lapses, lapses))
        };
        [true, false].iter().flat_map(|kind| (0..slopes * lapses).map(move |n| (of(*kind, n), 1.0))).collect()
    }

    /// The person at these shares of the population.
    pub(crate) fn of_person(by_ratio: bool, slope: f64, lapse: f64) -> Self {
        let [least, most] = if by_ratio { RATIO_SLOPES } else { SLOPES };
        let (slope, lapse) = (least * (most / least).powf(slope), MOST_LAPSES * lapse * lapse);
        match by_ratio {
            true => NoiseModel::Relative { slope, lapse },
            false => NoiseModel::Absolute { slope, lapse },
        }
    }

    /// Checks the parameters.
    pub fn checked(self) -> Result<Self> {
        let share = |name: &str, share: f64| {
            check::number(name, share, (0.0..=0.5).contains(&share), "a number in [0, 0.5]")
        };
        match self {
            NoiseModel::Exact | NoiseModel::Unknown => {}
            NoiseModel::Band { width } | NoiseModel::AdversarialBand { width } => {
                let ok = width.is_finite() && width >= 0.0;
                check::number("width", width, ok, "a number of at least 0")?;
            }
            NoiseModel::Absolute { slope, lapse } | NoiseModel::Relative { slope, lapse } => {
                check::positive("slope", slope)?;
                share("lapse", lapse)?;
            }
            NoiseModel::Flip { probability } => {
                share("probability", probability)?;
            }
        }
        Ok(self)
    }

    /// A simulated expert's document.
    pub(crate) fn from_part(value: Value, at: &str) -> Result<Self> {
        let known = ["none", "band", "adversarial_band", "logistic", "flip", "relative"];
        document::at(at, Self::read(value, at, &known)?.checked())
    }

    /// One of the kinds that are `known`.
    pub(crate) fn read(value: Value, at: &str, known: &[&str]) -> Result<Self> {
        let mut object = Object::new(value, at)?;
        Ok(match object.kind("kind", known)?.as_str() {
            "band" => make!(object, { width: f64 } => Ok(NoiseModel::Band { width }))?,
            "adversarial_band" => make!(object, { width: f64 } => Ok(NoiseModel::AdversarialBand { width }))?,
            "logistic" => make!(object, { slope: f64 } => Ok(NoiseModel::Absolute { slope, lapse: 0.0 }))?,
            "flip" => make!(object, { probability: f64 } => Ok(NoiseModel::Flip { probability }))?,
            "relative" => make!(object, { slope: f64, lapse: Option<f64> } => {
                Ok(NoiseModel::Relative { slope, lapse: lapse.unwrap_or(0.0) })
            })?,
            word => {
                object.finish()?;
                if word == "unknown" { NoiseModel::Unknown } else { NoiseModel::Exact }
            }
        })
    }
}

fn is_zero(lapse: &f64) -> bool {
    *lapse == 0.0
}

impl<'de> Deserialize<'de> for NoiseModel {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_part(Value::deserialize(deserializer)?, "noise").map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_model() -> impl Strategy<Value = NoiseModel> {
        let (slope, share) = (0.01..1e4_f64, 0.0..=0.5_f64);
        prop_oneof![
            Just(NoiseModel::Exact),
            Just(NoiseModel::Unknown),
            share.clone().prop_map(|probability| NoiseModel::Flip { probability }),
            (slope.clone(), share.clone()).prop_map(|(slope, lapse)| NoiseModel::Absolute { slope, lapse }),
            (slope, share).prop_map(|(slope, lapse)| NoiseModel::Relative { slope, lapse }),
            (0.0..2.0).prop_map(|width| NoiseModel::Band { width }),
            (0.0..2.0).prop_map(|width| NoiseModel::AdversarialBand { width }),
        ]
    }

    proptest! {
        #[test]
        fn first_second_and_cannot_tell_are_one_distribution(
            model in any_model(),
            parts in prop::collection::vec(-2.0..2.0_f64, 0..4),
            hesitates: bool,
        ) {
            let gap = Gap::new(parts.iter().sum(), parts.iter().copied());
            let Chances { first, second, cannot_tell } = model.chances(gap, hesitates);
            prop_assert!([first, second, cannot_tell].iter().all(|chance| (0.0..=1.0).contains(chance)));
            prop_assert!((first + second + cannot_tell - 1.0).abs() < 1e-12);
            prop_assert!(hesitates || cannot_tell == 0.0);
        }

        #[test]
        fn swapping_the_points_swaps_the_chances(
            model in any_model(),
            parts in prop::collection::vec(-2.0..2.0_f64, 1..4),
            hesitates: bool,
        ) {
            let gap = |sign: f64| Gap::new(sign * parts.iter().sum::<f64>(), parts.iter().map(|part| sign * part));
            let (one, other) = (model.chances(gap(1.0), hesitates), model.chances(gap(-1.0), hesitates));
            prop_assert!((one.first - other.second).abs() < 1e-9);
            prop_assert!((one.cannot_tell - other.cannot_tell).abs() < 1e-9);
        }
    }

    #[test]
    fn relative_noise_is_that_of_the_formula() {
        let (slope, lapse) = (3.0, 0.015);
        let gap = Gap::new(0.1, [0.3, -0.2].into_iter());
        let expected = lapse + (1.0 - 2.0 * lapse) / (1.0 + (-3.0 * 1.5_f64.ln()).exp());
        let found = NoiseModel::Relative { slope, lapse }.chance_of_first(gap);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        // Only the ratio counts: twice as much of both is as hard to tell.
        let double = Gap::new(0.2, [0.6, -0.4].into_iter());
        assert!((NoiseModel::Relative { slope, lapse }.chance_of_first(double) - expected).abs() < 1e-12);
    }

    #[test]
    fn documents_are_read_as_they_are_written() {
        for text in [
            r#"{"kind":"none"}"#,
            r#"{"kind":"flip","probability":0.1}"#,
            r#"{"kind":"logistic","slope":20.0}"#,
            r#"{"kind":"relative","slope":3.0,"lapse":0.015}"#,
            r#"{"kind":"band","width":0.01}"#,
            r#"{"kind":"adversarial_band","width":0.01}"#,
        ] {
            let model: NoiseModel = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&model).unwrap(), text);
        }
        let refused = serde_json::from_str::<NoiseModel>(r#"{"kind":"relative","slope":3,"lapse":0.7}"#);
        assert!(refused.unwrap_err().to_string().contains("lapse is 0.7"));
    }
}
