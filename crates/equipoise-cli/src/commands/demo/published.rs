//! What the published searches would have asked the same expert.

use super::recovered;
use crate::ratio::two_digits;
use equipoise::ask::{Counting, Simulated};
use equipoise::search::{BinaryLinear, Halving};
use equipoise::space::Binary;
use equipoise::{Metric, Plan as _};
use serde::Serialize;

/// The weight of a false alarm, when both weights sum to 1, is found to within this. Around 6 : 1 it leaves about
/// 0.2 either way in the ratio.
const TOLERANCE: f64 = 0.01;

/// What both searches ask and find.
#[derive(Serialize)]
pub struct Published {
    /// As in the user study of chapter 8: three questions per halving of the weight.
    three_per_halving: Search,
    /// One question per halving.
    antipodal: Search,
}

/// A search that takes every answer for right.
#[derive(Serialize)]
struct Search {
    queries: usize,
    ratio: f64,
}

impl Published {
    /// Asks an expert who holds a metric.
    pub fn of(space: &Binary, hidden: &Metric) -> Self {
        let plan = BinaryLinear::new(space.clone(), TOLERANCE)
            .expect("a proper tolerance")
            .queries_per_halving(Halving::Three)
            .halving_the_weight();
        let ask = |plan: BinaryLinear| {
            let mut expert = Counting::new(Simulated::new(hidden.clone()));
            let Ok(outcome) = plan.run(&mut expert);
            Search { queries: expert.asked(), ratio: recovered(&outcome.metric) }
        };
        Self { three_per_halving: ask(plan.clone()), antipodal: ask(plan.antipodal()) }
    }
}

impl std::fmt::Display for Published {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { three_per_halving: three, antipodal } = self;
        write!(
            f,
            "the search of the papers asks {} and finds {}, its antipodal form {} and {}; both take every answer for right \
             and give no interval",
            three.queries,
            two_digits(three.ratio),
            antipodal.queries,
            two_digits(antipodal.ratio)
        )
    }
}
