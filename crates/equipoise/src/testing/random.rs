//! Random metrics, for simulations, benchmarks and tests.
//!
//! Coefficients are standard normal (their absolute values where weights cannot be negative) before the normal form is
//! taken; trade-offs are uniform. The same generator state gives the same metric.

pub use crate::linalg::normals;
use crate::metric::{
    Attribute, Fair, Family, LinearFractional, Metric, Pair, Polynomial, Quadratic, Sense, pairs,
};
use crate::rates::GroupShares;
use crate::view::{Measure, View};
use rand::{Rng, RngExt};

/// The seed of tests that hold whatever is drawn: the same every time, or what the variable `EQUIPOISE_SEED` says.
pub fn seed() -> u64 {
    let named = std::env::var("EQUIPOISE_SEED").ok();
    named.map_or(17, |text| text.parse().expect("EQUIPOISE_SEED is a whole number"))
}

/// Absolute values of standard normal entries.
pub fn sizes(count: usize, random: &mut impl Rng) -> Vec<f64> {
    normals(count, random).iter().map(|x| x.abs()).collect()
}

/// A linear metric that dislikes every error and likes every correct prediction.
pub fn linear(view: View, random: &mut impl Rng) -> Metric {
    let weights = sizes(view.dimension(), random);
    made(Metric::linear(view, natural_sense(view), weights))
}

/// A metric over these attributes.
pub fn attributes(attributes: &[Attribute], random: &mut impl Rng) -> Metric {
    made(Metric::attributes(attributes.to_vec(), sizes(attributes.len(), random)))
}

/// A linear-fractional metric with weights of one sign over a denominator near 1.
pub fn linear_fractional(view: View, random: &mut impl Rng) -> Metric {
    let d = view.dimension();
    let denominator = normals(d, random).iter().map(|b| 0.1 * b).collect();
    let family = LinearFractional::new(sizes(d, random), denominator, 1.0).expect("finite, not zero");
    made(Metric::new(view, natural_sense(view), Family::LinearFractional(family)))
}

/// A quadratic cost with independent coefficients.
pub fn quadratic(view: View, random: &mut impl Rng) -> Metric {
    let d = view.dimension();
    let raw: Vec<Vec<f64>> = (0..d).map(|_| normals(d, random)).collect();
    let matrix = (0..d).map(|i| (0..d).map(|j| 0.5 * (raw[i][j] + raw[j][i])).collect()).collect();
    let family = Quadratic::new(normals(d, random), matrix).expect("finite and symmetric");
    made(Metric::new(view, Sense::Cost, Family::Quadratic(family)))
}

/// A polynomial cost with independent coefficients.
pub fn polynomial(view: View, degree: usize, random: &mut impl Rng) -> Metric {
    let q = view.dimension();
    let mut tensors = vec![];
    for order in 1..=degree {
        let raw = normals(q.pow(order as u32), random);
        let sorted = |n: usize| {
            let mut index: Vec<usize> = (0..order).map(|p| n / q.pow(p as u32) % q).collect();
            index.sort_unstable();
            index.iter().fold(0, |position, i| position * q + i)
        };
        tensors.push((0..raw.len()).map(|n| raw[sorted(n)]).collect());
    }
    let family = Polynomial::new(tensors).expect("finite and symmetric");
    made(Metric::new(view, Sense::Cost, Family::Polynomial(family)))
}

/// A group-fair metric: unit performance weights, violation weights that sum to 1 in length.
pub fn group_fair(shares: &GroupShares, trade_off: f64, random: &mut impl Rng) -> Metric {
    let q = rates(shares);
    let performance = sizes(q, random);
    let weights = |groups| Pair { groups, violation: sizes(q, random) };
    let fairness = pairs(shares.groups()).map(weights).collect();
    let fair = Fair::new(performance, fairness, 0.5, shares.clone()).expect("finite, not zero");
    made(Metric::new(fair_view(shares), Sense::Cost, Family::GroupFair(fair.with_trade_off(trade_off))))
}

/// A group-fair quadratic metric with positive semidefinite matrices.
pub fn group_fair_quadratic(shares: &GroupShares, trade_off: f64, random: &mut impl Rng) -> Metric {
    let q = rates(shares);
    let performance = sizes(q, random);
    let matrix = |groups| {
        let raw: Vec<Vec<f64>> = (0..q).map(|_| normals(q, random)).collect();
        let entry = |i: usize, j: usize| (0..q).map(|n| raw[i][n] * raw[j][n]).sum();
        let matrix = (0..q).map(|i| (0..q).map(|j| entry(i, j)).collect()).collect();
        Pair { groups, violation: matrix }
    };
    let fairness = pairs(shares.groups()).map(matrix).collect();
    let fair = Fair::new(performance, fairness, 0.5, shares.clone()).expect("finite and symmetric");
    made(Metric::new(
        fair_view(shares),
        Sense::Cost,
        Family::GroupFairQuadratic(fair.with_trade_off(trade_off)),
    ))
}

/// Group shares within every class, none below a tenth of the largest.
pub fn shares(classes: usize, groups: usize, random: &mut impl Rng) -> GroupShares {
    let raw: Vec<Vec<f64>> =
        (0..groups).map(|_| (0..classes).map(|_| random.random_range(0.1..1.0)).collect()).collect();
    let total = |i: usize| raw.iter().map(|row: &Vec<f64>| row[i]).sum::<f64>();
    let row = |row: &Vec<f64>| row.iter().enumerate().map(|(i, x)| x / total(i)).collect();
    GroupShares::new(raw.iter().map(row).collect()).expect("every class sums to 1")
}

fn natural_sense(view: View) -> Sense {
    if view.measure().lists_errors() { Sense::Cost } else { Sense::Utility }
}

fn rates(shares: &GroupShares) -> usize {
    shares.classes() * (shares.classes() - 1)
}

fn fair_view(shares: &GroupShares) -> View {
    View::new(Measure::GroupRates, shares.classes(), shares.groups()).expect("at least two groups")
}

fn made(metric: crate::Result<Metric>) -> Metric {
    metric.expect("coefficients fit the view").normal_form()
}
