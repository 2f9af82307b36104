//! How a person is asked: which classifier stands on which side, and in how many cases numbers are told. The command line has
//! the same rules.

use equipoise::ask::{Oracle as _, Simulated};
use equipoise::engine::Adaptive;
use equipoise::{Metric, Query, Sense, stream};
use pyo3::prelude::*;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The sizes a question may be told in.
const SIZES: [u64; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// An interview begins with one of so many.
const FIRST: usize = 3;

/// Two numbers are told apart easily if they differ by at least so many cases.
const TOLD_APART: u64 = 3;

/// An interview keeps its size as long as they differ at all: who asks conditions on what was shown.
pub const DIFFERENT: u64 = 1;

/// Experts who are asked ahead to see how small the numbers of an interview become, and by how much these are to differ: to
/// rare people, of whom there are some, at all.
const AHEAD: [(f64, u64); 7] = [
    (0.1, TOLD_APART),
    (1.0 / 3.0, TOLD_APART),
    (1.0, TOLD_APART),
    (3.0, TOLD_APART),
    (10.0, TOLD_APART),
    (1.0 / 30.0, DIFFERENT),
    (30.0, DIFFERENT),
];

/// Whether a question, counted from 1, is shown with its sides changed: by chance, the same for the same seed.
#[pyfunction]
pub fn is_turned(seed: u64, question: u64) -> bool {
    Xoshiro256PlusPlus::seed_from_u64(stream(seed, question)).random_bool(0.5)
}

/// The smallest size in which everything that differs by more than rounding does so by so many.
pub fn fewest(told: impl Fn(f64) -> Vec<[u64; 2]>, differs: &[bool], apart: u64) -> u64 {
    let is_seen = |size: &u64| {
        let counts = told(*size as f64);
        counts.iter().zip(differs).all(|([a, b], differs)| !differs || a.abs_diff(*b) >= apart)
    };
    SIZES.into_iter().find(is_seen).unwrap_or(SIZES[SIZES.len() - 1])
}

/// The same for kinds of error, each rounded by itself.
pub fn fewest_of_kinds(first: &[f64], second: &[f64]) -> u64 {
    let differs: Vec<bool> = first.iter().zip(second).map(|(a, b)| (a - b).abs() > 1e-9).collect();
    let count = |rate: f64, size: f64| (rate.max(0.0) * size).round() as u64;
    let told =
        |size: f64| first.iter().zip(second).map(|(a, b)| [count(*a, size), count(*b, size)]).collect();
    fewest(told, &differs, DIFFERENT)
}

/// The same for (true positive, true negative) among all: class sizes are rounded first.
pub fn fewest_of_two(query: &Query, positive_prior: f64, apart: u64) -> u64 {
    let differs = [0, 1].map(|n| (query.first[n] - query.second[n]).abs() > 1e-9);
    let share = |part: f64, whole: f64| (part / whole).clamp(0.0, 1.0);
    let told = |size: f64| {
        let positives = (positive_prior * size).round();
        let sizes = [(positives, positive_prior), (size - positives, 1.0 - positive_prior)];
        let of = |n: usize| {
            let (whole, prior) = sizes[n];
            [&query.first, &query.second].map(|point| (share(point[n], prior) * whole).round() as u64)
        };
        vec![of(0), of(1)]
    };
    fewest(told, &differs, apart)
}

/// In how many cases an interview around a classifier begins.
pub fn first_of_trades(smallest_difference: f64) -> u64 {
    let enough = |size: &u64| smallest_difference * *size as f64 >= TOLD_APART as f64;
    SIZES[..FIRST].iter().copied().find(enough).unwrap_or(SIZES[FIRST - 1])
}

/// In how many cases an interview about a cost ratio begins: the fewest in which the systems of every question that some
/// experts would be asked can be told apart.
pub fn first_of_ratio(plan: &Adaptive, positive_prior: f64) -> equipoise::Result<u64> {
    let mut size = SIZES[0];
    for (ratio, apart) in AHEAD {
        let mut expert = Simulated::new(Metric::linear(plan.view(), Sense::Utility, vec![ratio, 1.0])?);
        let mut belief = plan.start();
        while let Ok(query) = plan.next(belief.as_ref()) {
            size = size.max(fewest_of_two(&query, positive_prior, apart));
            if size >= SIZES[FIRST - 1] {
                return Ok(SIZES[FIRST - 1]);
            }
            let Ok(answer) = expert.prefer(&query);
            belief.take(&query, &answer);
        }
    }
    Ok(size)
}
