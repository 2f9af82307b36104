//! A metric as one list of numbers, and back.
//!
//! A posterior is a distribution over such lists, so their order is part of the document format;
//! [`Metric::coefficients`] lists it.

use super::{
    Fair, Family, Linear, LinearFractional, Matrix, Metric, Pair, Polynomial, Quadratic, Squared, Violation,
    Weights,
};
use crate::error::{Error, Result, check};
use crate::linalg::{norm, scaled};

impl Metric {
    /// The coefficients in the order of the document format; empty for metrics without any.
    ///
    /// | kind | coefficients |
    /// |---|---|
    /// | `linear` | the weights |
    /// | `linear_fractional` | numerator, denominator, offset of the denominator |
    /// | `quadratic` | linear part, then the upper triangle of the matrix, row by row |
    /// | `polynomial` | order after order, the entries whose indices do not decrease, row-major |
    /// | `group_fair` | $(1-\lambda) a$, then $\lambda b^{uv}$ pair after pair |
    /// | `group_fair_quadratic` | $(1-\lambda) a$, then the upper triangle of $\lambda B^{uv}$ pair after pair |
    /// | `macro_f`, `g_mean`, `demographic_parity` | none |
    ///
    /// ```
    /// use equipoise::Metric;
    /// let text = r#"{"format":1,"kind":"quadratic","measure":"off_diagonal_rates","sense":"cost",
    ///                "linear":[1,6],"quadratic":[[2,3],[3,4]]}"#;
    /// assert_eq!(Metric::from_json(text)?.coefficients(), [1.0, 6.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn coefficients(&self) -> Vec<f64> {
        match &self.family {
            Family::Linear(f) => f.weights().to_vec(),
            Family::LinearFractional(f) => {
                [f.numerator(), f.denominator(), &[f.denominator_offset()]].concat()
            }
            Family::Quadratic(f) => [f.linear().to_vec(), upper_triangle(f.quadratic())].concat(),
            Family::Polynomial(f) => {
                let (q, orders) = (f.dimension(), f.tensors().iter().enumerate());
                let sorted = |(t, tensor): (usize, &Vec<f64>)| -> Vec<f64> {
                    (0..tensor.len()).filter(|&n| n == sorted_entry(n, q, t + 1)).map(|n| tensor[n]).collect()
                };
                orders.flat_map(sorted).collect()
            }
            Family::GroupFair(f) => fair_coefficients(f, |v| v.weights.clone()),
            Family::GroupFairQuadratic(f) => fair_coefficients(f, |v| upper_triangle(&v.matrix)),
            Family::MacroF(_) | Family::GeometricMean(_) | Family::DemographicParity(_) => Vec::new(),
        }
    }

    /// The metric of the same family, view and sense with other coefficients, in the order of
    /// [`Metric::coefficients`].
    ///
    /// For group metrics the trade-off is the share of the fairness part in the size of both,
    /// $\lambda = S/(\|a'\| + S)$, which leaves every value as the coefficients give it.
    pub fn with_coefficients(&self, coefficients: &[f64]) -> Result<Self> {
        check::length("coefficients", coefficients.len(), self.coefficients().len())?;
        check::all_finite("coefficients", coefficients)?;
        let mut rest = coefficients;
        let mut take = |count: usize| {
            let (part, after) = rest.split_at(count);
            rest = after;
            part.to_vec()
        };
        let family = match &self.family {
            Family::Linear(_) => Family::Linear(Linear::new(coefficients.to_vec())?),
            Family::LinearFractional(f) => {
                let d = f.numerator().len();
                let made = LinearFractional::new(take(d), take(d), coefficients[2 * d])?;
                Family::LinearFractional(made)
            }
            Family::Quadratic(f) => {
                let d = f.linear().len();
                let made = Quadratic::new(take(d), from_upper_triangle(&take(d * (d + 1) / 2), d))?;
                Family::Quadratic(made.plus_constant(f.constant())?)
            }
            Family::Polynomial(f) => {
                let q = f.dimension();
                let mut tensors = Vec::new();
                for (t, old) in f.tensors().iter().enumerate() {
                    let mut tensor = vec![0.0; old.len()];
                    for n in 0..tensor.len() {
                        let sorted = sorted_entry(n, q, t + 1);
                        // The sorted entry of a position comes no later than the position.
                        tensor[n] = if sorted == n { take(1)[0] } else { tensor[sorted] };
                    }
                    tensors.push(tensor);
                }
                Family::Polynomial(Polynomial::new(tensors)?)
            }
            Family::GroupFair(f) => {
                let q = f.performance().len();
                let performance = take(q);
                let fairness = f.fairness().iter().map(|_| Weights { weights: take(q) }).collect();
                Family::GroupFair(fair_from(f, performance, fairness)?)
            }
            Family::GroupFairQuadratic(f) => {
                let q = f.performance().len();
                let performance = take(q);
                let matrix =
                    |_: &Pair<Squared>| Squared { matrix: from_upper_triangle(&take(q * (q + 1) / 2), q) };
                let fairness = f.fairness().iter().map(matrix).collect();
                Family::GroupFairQuadratic(fair_from(f, performance, fairness)?)
            }
            other => other.clone(),
        };
        Ok(Self { family, belief: Default::default(), ..self.clone() })
    }

    /// Which coefficients the family keeps from being negative: the costs of errors, and of differences
    /// between groups, in a group-fair metric.
    pub(super) fn never_negative(&self) -> Vec<bool> {
        let count = self.coefficients().len();
        let first = match &self.family {
            Family::GroupFair(_) => count,
            Family::GroupFairQuadratic(f) => f.performance().len(),
            _ => 0,
        };
        (0..count).map(|n| n < first).collect()
    }
}

/// The position of the entry with the same indices in increasing order.
fn sorted_entry(n: usize, q: usize, order: usize) -> usize {
    let mut index: Vec<usize> = (0..order).map(|p| n / q.pow(p as u32) % q).collect();
    index.sort_unstable();
    index.iter().fold(0, |position, i| position * q + i)
}

fn upper_triangle(matrix: &Matrix) -> Vec<f64> {
    matrix.iter().enumerate().flat_map(|(i, row)| row[i..].to_vec()).collect()
}

fn from_upper_triangle(entries: &[f64], size: usize) -> Matrix {
    let mut matrix = vec![vec![0.0; size]; size];
    let places = (0..size).flat_map(|i| (i..size).map(move |j| (i, j)));
    for ((i, j), entry) in places.zip(entries) {
        matrix[i][j] = *entry;
        matrix[j][i] = *entry;
    }
    matrix
}

fn fair_coefficients<V: Violation>(fair: &Fair<V>, entries: impl Fn(&V) -> Vec<f64>) -> Vec<f64> {
    let violations = fair.fairness().iter().flat_map(|pair| entries(&pair.violation));
    let violations: Vec<f64> = violations.map(|b| b * fair.trade_off()).collect();
    [scaled(fair.performance(), 1.0 - fair.trade_off()), violations].concat()
}

fn fair_from<V: Violation>(old: &Fair<V>, performance: Vec<f64>, violations: Vec<V>) -> Result<Fair<V>> {
    let cost = norm(&performance);
    let unfair: f64 = violations.iter().map(Violation::size).sum();
    let total = cost + unfair;
    if total == 0.0 {
        return Err(Error::AllZero { field: "coefficients".to_owned() });
    }
    // With no care for performance its weights are never used, but must point somewhere.
    let performance =
        if cost > 0.0 { scaled(&performance, total / cost) } else { vec![1.0; performance.len()] };
    let factor = if unfair > 0.0 { total / unfair } else { 0.0 };
    let pairs = old.fairness().iter().zip(violations);
    let pairs = pairs.map(|(pair, v)| Pair { groups: pair.groups, violation: v.times(factor) });
    Fair::new(performance, pairs.collect(), unfair / total, old.prevalence().clone())
}
