//! Any number of classes, $x \sim U[-1,1]$, $\eta_i(x) = e^{-p_i x} / \sum_j e^{-p_j x}$.
//!
//! The printed law $\eta_i = 1/(1+e^{p_i x})$ is not a distribution; the softmax law reproduces the tables.

use super::{Confusions, PostShift};
use crate::error::{Error, Result, check};
use crate::quadrature::nodes;
use crate::rates::{GroupConfusions, Prevalence};
use serde::Serialize;
use std::convert::Infallible;

/// The multiclass law of the papers (Section 4.6.1, corrected).
///
/// Regions where a rule predicts one class are found exactly, as roots of sums of exponentials; the masses in
/// them come from Gauss-Legendre panels so narrow that the analytic integrand is exact to rounding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Softmax {
    slopes: Vec<f64>,
    #[serde(skip)]
    prevalence: Prevalence,
    /// Cumulative masses $\tfrac12\int_{-1}^{x} \eta_i$ at the panel edges.
    #[serde(skip)]
    cumulative: Vec<Vec<f64>>,
}

impl Softmax {
    /// One slope $p_i$ per class; at least two must differ, or there is nothing to classify by.
    pub fn new(slopes: Vec<f64>) -> Result<Self> {
        check::at_least("the number of slopes", slopes.len(), 2, "at least 2")?;
        check::all_finite("slopes", &slopes)?;
        let (low, high) = slopes.iter().fold((f64::MAX, f64::MIN), |(l, h), &p| (l.min(p), h.max(p)));
        let spread = high - low;
        check::number(
            "the spread of slopes",
            spread,
            spread > 0.0 && spread <= 300.0,
            "a number in (0, 300]",
        )?;
        let mut law = Self { slopes, prevalence: Prevalence::new(vec![0.5, 0.5])?, cumulative: vec![] };
        // Poles of the integrand lie at distance pi / spread or more from the real line.
        let panels = (2.0 * (1.0 + spread)).ceil() as usize;
        let mut sum = vec![0.0; law.slopes.len()];
        law.cumulative = vec![sum.clone()];
        for panel in 0..panels {
            let edge = |n: usize| -1.0 + 2.0 * n as f64 / panels as f64;
            law.add_panel(edge(panel), edge(panel + 1), &mut sum);
            law.cumulative.push(sum.clone());
        }
        let total: f64 = sum.iter().sum();
        law.prevalence = Prevalence::new(sum.iter().map(|s| s / total).collect())
            .map_err(|e| Error::Mismatch(format!("slopes: {e}")))?;
        Ok(law)
    }

    /// $p$.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// Class probabilities at x.
    pub fn posterior(&self, x: f64) -> Vec<f64> {
        let largest = self.slopes.iter().fold(f64::MIN, |m, p| m.max(-p * x));
        let terms: Vec<f64> = self.slopes.iter().map(|p| (-p * x - largest).exp()).collect();
        let sum: f64 = terms.iter().sum();
        terms.iter().map(|t| t / sum).collect()
    }

    /// Adds $\tfrac12 \int_a^b \eta$ to `sum`.
    fn add_panel(&self, a: f64, b: f64, sum: &mut [f64]) {
        for (x, weight) in nodes(a, b) {
            sum.iter_mut().zip(self.posterior(x)).for_each(|(s, eta)| *s += 0.5 * weight * eta);
        }
    }

    /// $P(Y=i, X \le x)$ for every class.
    pub fn mass_below(&self, x: f64) -> Vec<f64> {
        let panels = self.cumulative.len() - 1;
        let place = (0.5 * (x.clamp(-1.0, 1.0) + 1.0) * panels as f64).floor() as usize;
        let panel = place.min(panels - 1);
        let mut sum = self.cumulative[panel].clone();
        self.add_panel(-1.0 + 2.0 * panel as f64 / panels as f64, x.clamp(-1.0, 1.0), &mut sum);
        sum
    }

    /// The best (correct for `a`, correct for `b`) among classifiers that predict only these two classes:
    /// predict `a` where $w_a \eta_a \ge w_b \eta_b$ (Proposition 4.2).
    pub fn restricted_extreme(&self, a: usize, b: usize, weights: [f64; 2]) -> [f64; 2] {
        let [wa, wb] = weights;
        let slope = self.slopes[b] - self.slopes[a];
        let priors = self.prevalence.class_priors();
        if wa <= 0.0 && wb >= 0.0 && wa < wb {
            return [0.0, priors[b]];
        }
        if wa >= 0.0 && wb <= 0.0 && wa > wb {
            return [priors[a], 0.0];
        }
        // ln(eta_a / eta_b) = slope * x, compared with ln(wb / wa).
        let level = (wb / wa).ln();
        let a_above = (slope > 0.0) == (wa > 0.0);
        let cut =
            if slope == 0.0 { if (level <= 0.0) == (wa > 0.0) { -1.0 } else { 1.0 } } else { level / slope };
        let below = self.mass_below(cut);
        if slope == 0.0 || a_above {
            [priors[a] - below[a], below[b]]
        } else {
            [below[a], priors[b] - below[b]]
        }
    }

    /// Where the prediction of a rule may change, with the end points of the support.
    fn breakpoints(&self, rewards: &[f64]) -> Vec<f64> {
        let k = self.slopes.len();
        let mut points = vec![-1.0, 1.0];
        for a in 0..k {
            for b in 0..a {
                let terms = (0..k).map(|i| (-self.slopes[i], rewards[i * k + a] - rewards[i * k + b]));
                points.extend(exponential_roots(&terms.collect::<Vec<_>>(), -1.0, 1.0));
            }
        }
        points.sort_by(f64::total_cmp);
        points
    }
}

impl Confusions for Softmax {
    type Err = Infallible;
    type Rule = PostShift;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    fn confusions(&self, rules: &[PostShift]) -> Result<Vec<GroupConfusions>, Infallible> {
        let k = self.slopes.len();
        let confusion = |rule: &PostShift| {
            let points = self.breakpoints(rule.rewards(0));
            let mut matrix = vec![0.0; k * k];
            let mut below = self.mass_below(-1.0);
            for ends in points.windows(2) {
                let next = self.mass_below(ends[1]);
                let winner = rule.predict(&self.posterior(0.5 * (ends[0] + ends[1])), 0);
                for i in 0..k {
                    matrix[i * k + winner] += (next[i] - below[i]).max(0.0);
                }
                below = next;
            }
            GroupConfusions::new(k, vec![matrix]).expect("integrals of a law lie in [0, 1]")
        };
        Ok(rules.iter().map(confusion).collect())
    }
}

/// All roots of $\sum_i c_i e^{r_i x}$ in (low, high), given as pairs (rate, coefficient).
///
/// Dividing by one exponential and differentiating removes a term, and the roots of the derivative separate
/// those of the function: n terms have at most n - 1 roots, found one by one by bisection.
fn exponential_roots(terms: &[(f64, f64)], low: f64, high: f64) -> Vec<f64> {
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for &(rate, c) in terms {
        match merged.iter_mut().find(|(r, _)| *r == rate) {
            Some((_, sum)) => *sum += c,
            None => merged.push((rate, c)),
        }
    }
    merged.retain(|&(_, c)| c != 0.0);
    let Some(&(base, _)) = merged.first() else { return vec![] };
    if merged.len() == 1 {
        return vec![];
    }
    let derivative: Vec<(f64, f64)> = merged[1..].iter().map(|&(r, c)| (r - base, c * (r - base))).collect();
    let value = |x: f64| -> f64 { merged.iter().map(|&(r, c)| c * ((r - base) * x).exp()).sum() };
    let mut edges = vec![low];
    edges.extend(exponential_roots(&derivative, low, high));
    edges.push(high);
    edges.sort_by(f64::total_cmp);
    let mut roots = vec![];
    for piece in edges.windows(2) {
        let (mut a, mut b) = (piece[0], piece[1]);
        let rising = value(b) > 0.0;
        if (value(a) > 0.0) == rising {
            continue;
        }
        for _ in 0..200 {
            let middle = 0.5 * (a + b);
            if middle <= a || middle >= b {
                break;
            }
            if (value(middle) > 0.0) == rising { b = middle } else { a = middle }
        }
        roots.push(0.5 * (a + b));
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Logistic;

    #[test]
    fn two_classes_are_the_logistic_law() {
        let (softmax, logistic) = (Softmax::new(vec![5.0, 0.0]).unwrap(), Logistic::new(5.0).unwrap());
        for step in 0..40 {
            let x = -1.0 + f64::from(step) / 19.5;
            let [tp, _] = logistic.at_cut(x);
            assert!((softmax.mass_below(x)[0] - tp).abs() < 1e-14);
        }
    }

    #[test]
    fn class_priors_of_the_papers_laws() {
        let law = Softmax::new(vec![1.0, 3.0, 5.0]).unwrap();
        let expected = [0.3804, 0.2392, 0.3804];
        for (found, expected) in law.prevalence().class_priors().iter().zip(expected) {
            assert!((found - expected).abs() < 5e-5);
        }
    }

    #[test]
    fn masses_of_a_rule_match_the_midpoint_rule() {
        let law = Softmax::new(vec![1.0, 3.0, 6.0, 10.0]).unwrap();
        let rewards: Vec<f64> = (0..16).map(|n| f64::from((n * 7 + 3) % 11) - 4.0).collect();
        let rule = PostShift::new(4, rewards).unwrap();
        let Ok(found) = law.confusions(std::slice::from_ref(&rule)).map(|mut found| found.remove(0));
        let mut expected = [0.0; 16];
        let n = 200_000;
        for step in 0..n {
            let eta = law.posterior(-1.0 + 2.0 * (f64::from(step) + 0.5) / f64::from(n));
            let winner = rule.predict(&eta, 0);
            for i in 0..4 {
                expected[i * 4 + winner] += eta[i] / f64::from(n);
            }
        }
        for i in 0..4 {
            for j in 0..4 {
                assert!((found.get(0, i, j) - expected[i * 4 + j]).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn restricted_extremes_beat_every_other_threshold() {
        let law = Softmax::new(vec![1.0, 3.0, 5.0]).unwrap();
        let priors = law.prevalence().class_priors().to_vec();
        for step in 0..36 {
            let angle = std::f64::consts::TAU * (f64::from(step) + 0.2) / 36.0;
            let w = [angle.cos(), angle.sin()];
            let value = |d: [f64; 2]| w[0] * d[0] + w[1] * d[1];
            let best = value(law.restricted_extreme(0, 2, w));
            for cut in 0..=100 {
                let below = law.mass_below(-1.0 + f64::from(cut) / 50.0);
                let down = [below[0], priors[2] - below[2]];
                let up = [priors[0] - below[0], below[2]];
                assert!(value(down) <= best + 1e-12 && value(up) <= best + 1e-12);
            }
        }
    }

    #[test]
    fn exponential_sums_have_all_their_roots() {
        // (e^x - e^.2)(e^x - e^-.5)(e^x - 1) expanded.
        let (a, b) = (0.2_f64.exp(), (-0.5_f64).exp());
        let terms = [(3.0, 1.0), (2.0, -(a + b + 1.0)), (1.0, a * b + a + b), (0.0, -a * b)];
        let roots = exponential_roots(&terms, -1.0, 1.0);
        assert_eq!(roots.len(), 3);
        for (found, expected) in roots.iter().zip([-0.5, 0.0, 0.2]) {
            assert!((found - expected).abs() < 1e-12);
        }
    }
}
