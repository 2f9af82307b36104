//! A comparison as a Gaussian reads it: the noise model's curve as a normal distribution, on the safe side.

use super::normal::{between, density, distribution, hazard};
use crate::ask::NoiseModel;

/// What one answer may say about $t = \langle w, \theta\rangle$, half the difference of two points.
///
/// "The first" has the chance $\epsilon + (1-2\epsilon)\,\Phi((t-h)/s)$, "the second" the same of $-t$, and "can't tell" the
/// rest; with h > 0 the lapses are spread over all three.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probit {
    /// $s^2$: how fuzzy the comparison is.
    pub variance: f64,
    /// $\epsilon$: how often an answer is the wrong way round whatever the question.
    pub lapse: f64,
    /// h: below it somebody who hesitates says "can't tell"; 0 for whoever never does.
    pub half_width: f64,
}

/// What was said of t.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// It is positive.
    Positive,
    /// It is too small to tell.
    Within,
}

/// Understating how often answers are wrong is much worse than overstating it, the more so the larger it is.
pub(super) fn careful(lapse: f64) -> f64 {
    (0.07 + 1.2 * lapse).min(0.4)
}

impl Probit {
    /// Nothing but the sign counts, and it is never wrong.
    pub const CERTAIN: Self = Self { variance: 0.0, lapse: 0.0, half_width: 0.0 };

    /// Of a noise model; `resolution` is the angle that a search goes down to where answers have no slope of their own.
    pub fn of(model: NoiseModel, resolution: f64) -> Self {
        let lapse = match model {
            // Whoever states a slope and no lapse is taken at their word.
            NoiseModel::Exact | NoiseModel::Absolute { lapse: 0.0, .. } => 0.0,
            model => careful(model.lapse()),
        };
        let slope = model.slope();
        if !slope.is_finite() {
            return Self { variance: (resolution / 20.0).powi(2), lapse, half_width: resolution };
        }
        // A scale of 1/(.6267 slope) comes closest to the logistic curve; .8 keeps on the safe side. t is half the difference.
        let scale = 0.5 / (0.6267 * 0.8 * slope);
        Self { variance: scale * scale, lapse, half_width: 0.5 / slope }
    }

    /// The same of somebody who never says "can't tell".
    pub fn decided(self) -> Self {
        Self { half_width: 0.0, ..self }
    }

    /// The share of lapses that each answer has, and the share of answers that are none.
    fn shares(&self) -> (f64, f64) {
        (self.lapse * if self.half_width > 0.0 { 2.0 / 3.0 } else { 1.0 }, 1.0 - 2.0 * self.lapse)
    }

    /// How likely it is that this is said when t is N(mean, variance).
    pub(super) fn chance(&self, said: Said, mean: f64, variance: f64) -> f64 {
        let s = (variance + self.variance).max(1e-300).sqrt();
        let beyond = |mean: f64| distribution((mean - self.half_width) / s);
        let (any, rest) = self.shares();
        match said {
            Said::Positive => any + rest * beyond(mean),
            Said::Within => any + rest * (1.0 - beyond(mean) - beyond(-mean)).max(0.0),
        }
    }

    /// First and minus second derivative, in the mean, of the logarithm of how likely it is when t is N(mean, variance).
    pub(super) fn moments(&self, said: Said, mean: f64, cavity_variance: f64) -> (f64, f64) {
        let s = (self.variance + cavity_variance).sqrt();
        let (any, rest) = self.shares();
        match said {
            Said::Positive => {
                let z = (mean - self.half_width) / s;
                let rise =
                    if any == 0.0 { hazard(z) } else { rest * density(z) / (any + rest * distribution(z)) };
                let first = rise / s;
                (first, first * (first + z / s))
            }
            Said::Within => {
                let (low, width) = ((mean.abs() - self.half_width) / s, 2.0 * self.half_width / s);
                let (inside, place, spread) = between(low, width);
                // Even to the last digit: answers that favour no side must not add up to a direction.
                let side = if mean == 0.0 { 0.0 } else { mean.signum() };
                let (first, second) = (-side * place / s, (1.0 - spread) / (s * s));
                // With lapses, the answer was meant with probability `meant`.
                let meant = if any == 0.0 { 1.0 } else { rest * inside / (any + rest * inside) };
                (meant * first, meant * (second - (1.0 - meant) * first * first))
            }
        }
    }

    /// The logarithm of how likely it is for a given t.
    pub(super) fn log_chance(&self, said: Said, t: f64) -> f64 {
        let s = self.variance.sqrt().max(1e-12);
        let (any, rest) = self.shares();
        match said {
            Said::Positive => {
                let z = (t - self.half_width) / s;
                if z > 7.0 {
                    (1.0 - any * if self.half_width > 0.0 { 2.0 } else { 1.0 }).ln()
                } else if any > 0.0 || z > -30.0 {
                    (any + rest * distribution(z)).ln()
                } else {
                    // Far in the tail, where the distribution itself underflows.
                    -0.5 * z * z - (-z).ln() - 0.919
                }
            }
            Said::Within => {
                let h = self.half_width;
                let inside = distribution((h - t) / s) - distribution((-h - t) / s);
                // A floor that still slopes towards the band, so that members outside it find the way back.
                let outside = ((t.abs() - h) / s).max(0.0);
                (any + rest * inside).max(1e-300).ln() - 1e-6 * outside.min(1e6)
            }
        }
    }

    /// Whether the answer cannot have been a lapse.
    pub(super) fn is_certain(&self, said: Said) -> bool {
        said == Said::Positive && self.lapse == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_answers_are_one_distribution_and_their_logarithms_agree(
            (scale, lapse, half_width, t) in (0.01..2.0_f64, 0.0..0.4_f64, 0.001..1.0_f64, -2.0..2.0_f64),
            hesitates: bool,
        ) {
            let probit = Probit { variance: scale * scale, lapse, half_width };
            let probit = if hesitates { probit } else { probit.decided() };
            let all = [(Said::Positive, t), (Said::Within, t), (Said::Positive, -t)];
            let chances = all.map(|(said, t)| probit.chance(said, t, 0.0));
            // Nobody who always decides says "can't tell".
            let sum = chances[0] + chances[2] + if hesitates { chances[1] } else { 0.0 };
            prop_assert!((sum - 1.0).abs() < 1e-12, "{chances:?}");
            for ((said, t), chance) in all.into_iter().zip(chances).filter(|(_, chance)| *chance > 1e-9) {
                prop_assert!((probit.log_chance(said, t) - chance.ln()).abs() < 1e-3);
            }
        }
    }
}
