//! A question in which two kinds of error are traded, all else being equal, in whole numbers.

use crate::counts::{DIFFERENT, SIZES, TOLD_APART};
use equipoise::Query;
use equipoise::space::OperatingPoint;

/// The kinds of both classifiers in whole numbers.
pub struct Trade {
    /// Cases of each class.
    pub out_of: u64,
    /// Of each kind, with the first classifier and with the second.
    pub counts: Vec<[u64; 2]>,
    /// As the person answers it: as it was shown where that says all, as it is where groups round differently.
    pub query: Query,
}

/// How many cases of each class an interview counts in: nearly all trades from the operating point can be told apart. A hundred
/// would be too few for the probes at its end, whose three kinds differ by less.
pub fn out_of(space: &OperatingPoint) -> u64 {
    let enough = |size: &u64| space.smallest_difference() * *size as f64 >= TOLD_APART as f64;
    SIZES[1..3].iter().copied().find(enough).unwrap_or(SIZES[2])
}

impl Trade {
    /// Rounds every kind by itself: what is equal stays equal.
    pub fn new(query: &Query, space: &OperatingPoint, out_of: u64) -> Self {
        let counts = counts(query, space, out_of);
        let query = match space.prevalence() {
            Some(_) => query.clone(),
            None => {
                let side = |n: usize| counts.iter().map(|both| both[n] as f64 / out_of as f64).collect();
                Query::new(side(0), side(1))
            }
        };
        Self { out_of, counts, query }
    }

    /// The smallest size at which everything that differs does so on the screen.
    pub fn size(query: &Query, space: &OperatingPoint) -> u64 {
        let [first, second] = [&query.first, &query.second].map(|point| space.kinds_of(point));
        let differs: Vec<bool> = first.iter().zip(&second).map(|(a, b)| (a - b).abs() > 1e-9).collect();
        let is_seen = |size: &u64| {
            let counts = counts(query, space, *size);
            counts.iter().zip(&differs).all(|([a, b], differs)| !differs || a.abs_diff(*b) >= DIFFERENT)
        };
        SIZES.into_iter().find(is_seen).unwrap_or(SIZES[SIZES.len() - 1])
    }

    /// The kinds that differ.
    pub fn differing(&self) -> impl Iterator<Item = usize> {
        (0..self.counts.len()).filter(|&kind| self.counts[kind][0] != self.counts[kind][1])
    }
}

fn counts(query: &Query, space: &OperatingPoint, out_of: u64) -> Vec<[u64; 2]> {
    let count = |rate: f64| (rate.max(0.0) * out_of as f64).round() as u64;
    let [first, second] = [&query.first, &query.second].map(|point| space.kinds_of(point));
    first.iter().zip(&second).map(|(a, b)| [count(*a), count(*b)]).collect()
}
