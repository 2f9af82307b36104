//! Two classes, $x \sim U[-1,1]$, $P(Y=1 \mid x) = 1/(1+e^{ax+b})$.

use super::{Confusions, PostShift};
use crate::error::{Result, check};
use crate::rates::{GroupConfusions, Prevalence};
use serde::Serialize;
use std::convert::Infallible;

/// The two-class law of the papers (Section 3.6.1; with an offset, Section 8.1.1), integrals in closed form.
///
/// ```
/// use equipoise::population::Logistic;
/// let law = Logistic::new(5.0)?;
/// let [tp, tn] = law.extreme([1.0, 1.0]); // what accuracy likes best
/// assert!((tp - 0.431356816793).abs() < 1e-12 && (tn - tp).abs() < 1e-15);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Logistic {
    slope: f64,
    offset: f64,
    #[serde(skip)]
    prevalence: Prevalence,
}

impl Logistic {
    /// $b = 0$: both classes equally common.
    pub fn new(slope: f64) -> Result<Self> {
        Self::with_offset(slope, 0.0)
    }

    /// Any offset; the larger, the rarer the positive class.
    pub fn with_offset(slope: f64, offset: f64) -> Result<Self> {
        check::number("slope", slope, slope > 0.0 && slope <= 1e6, "a number in (0, 1e6]")?;
        check::number("offset", offset, offset.abs() <= 1e6, "a number in [-1e6, 1e6]")?;
        let positive = 0.5 * positive_mass(slope, offset, 1.0);
        let ok = positive > 1e-9 && positive < 1.0 - 1e-9;
        check::number("the share of the positive class", positive, ok, "a number strictly between 0 and 1")?;
        let prevalence = Prevalence::new(vec![1.0 - positive, positive])?;
        Ok(Self { slope, offset, prevalence })
    }

    /// $a$.
    pub fn slope(&self) -> f64 {
        self.slope
    }

    /// $b$.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// (true positive, true negative) of the rule that accepts where $x \le$ `cut`.
    pub fn at_cut(&self, cut: f64) -> [f64; 2] {
        let cut = cut.clamp(-1.0, 1.0);
        let tp = 0.5 * positive_mass(self.slope, self.offset, cut);
        let z = |x: f64| self.slope * x + self.offset;
        let negatives_above = (softplus(z(1.0)) - softplus(z(cut))) / self.slope;
        [tp, 0.5 * negatives_above]
    }

    /// The achievable (true positive, true negative) that maximises $m_{11} TP + m_{00} TN$.
    ///
    /// Proposition 3.1: accept where $m_{11}\,\eta(x) \ge m_{00}(1-\eta(x))$.
    pub fn extreme(&self, weights: [f64; 2]) -> [f64; 2] {
        let [m11, m00] = weights;
        let [negative, positive] = [0, 1].map(|class| self.prevalence.class_priors()[class]);
        match (m11 > 0.0, m00 > 0.0) {
            // Nothing speaks for accepting, or nothing against it; ties go to the smaller class.
            (false, _) if m00 >= 0.0 => [0.0, negative],
            (_, false) if m11 >= 0.0 => [positive, 0.0],
            (accept_below, _) => {
                let [tp, tn] = self.at_cut(((m11 / m00).ln() - self.offset) / self.slope);
                if accept_below { [tp, tn] } else { [positive - tp, negative - tn] }
            }
        }
    }
}

/// $\int_{-1}^{x} 1/(1+e^{at+b})\,dt$.
fn positive_mass(slope: f64, offset: f64, x: f64) -> f64 {
    (softplus(slope - offset) - softplus(-slope * x - offset)) / slope
}

/// $\ln(1+e^z)$ without overflow.
fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

impl Confusions for Logistic {
    type Err = Infallible;
    type Rule = PostShift;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    fn confusions(&self, rules: &[PostShift]) -> Result<Vec<GroupConfusions>, Infallible> {
        let priors = self.prevalence.class_priors();
        let confusion = |rule: &PostShift| {
            let w = rule.rewards(0);
            let [tp, tn] = self.extreme([w[3] - w[2], w[0] - w[1]]);
            let matrix = vec![tn, (priors[0] - tn).max(0.0), (priors[1] - tp).max(0.0), tp];
            GroupConfusions::new(2, vec![matrix]).expect("integrals of a law lie in [0, 1]")
        };
        Ok(rules.iter().map(confusion).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Midpoint rule, slow and independent.
    fn referee(slope: f64, offset: f64, accept: impl Fn(f64) -> bool) -> [f64; 2] {
        let n = 400_000;
        let mut sums = [0.0; 2];
        for i in 0..n {
            let x = -1.0 + 2.0 * (f64::from(i) + 0.5) / f64::from(n);
            let eta = 1.0 / (1.0 + (slope * x + offset).exp());
            if accept(eta) { sums[0] += eta } else { sums[1] += 1.0 - eta }
        }
        sums.map(|s| s / f64::from(n))
    }

    #[test]
    fn extremes_match_numerical_integration_in_every_quadrant() {
        for (slope, offset) in [(5.0, 0.0), (2.0, 0.7), (11.0, -3.0)] {
            let law = Logistic::with_offset(slope, offset).unwrap();
            for step in 0..48 {
                let angle = std::f64::consts::TAU * (f64::from(step) + 0.31) / 48.0;
                let (m11, m00) = (angle.cos(), angle.sin());
                let expected = referee(slope, offset, |eta| m11 * eta >= m00 * (1.0 - eta));
                let found = law.extreme([m11, m00]);
                for c in 0..2 {
                    assert!((found[c] - expected[c]).abs() < 1e-5, "{angle}: {found:?} {expected:?}");
                }
            }
        }
    }

    #[test]
    fn weights_of_zero_accept_all_or_nothing() {
        let law = Logistic::new(5.0).unwrap();
        assert_eq!(law.extreme([1.0, 0.0]), [0.5, 0.0]);
        assert_eq!(law.extreme([0.0, 1.0]), [0.0, 0.5]);
        assert_eq!(law.extreme([-1.0, 0.0]), [0.0, 0.5]);
        assert_eq!(law.extreme([0.0, -1.0]), [0.5, 0.0]);
        let indifferent = PostShift::new(2, vec![0.0; 4]).unwrap();
        assert_eq!(indifferent.predict(&[0.5, 0.5], 0), 0);
        assert_eq!(law.extreme([0.0, 0.0]), [0.0, 0.5]);
        let Ok(found) = law.confusions(&[indifferent]);
        assert_eq!(found[0].get(0, 1, 0), 0.5);
    }
}
