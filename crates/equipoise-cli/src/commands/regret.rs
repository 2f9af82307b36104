//! What simulated people would regret of what came out, and whether intervals hold what they hold.

use super::bench::quantile;
use equipoise::engine::{Adaptive, Belief};
use equipoise::population::Population;
use equipoise::space::{Achievable, Space as _};
use equipoise::{Measure, Metric};
use equipoise_data::binary_space;

/// Draws behind the intervals of weights.
const DRAWS: usize = 1000;

/// Nobody makes no errors that matter: regrets are shares of at least this much of what the dearest answer costs, as the engine has it.
const LEAST_COST: f64 = 1e-3;

/// How much more the rule that follows from a metric costs somebody with these costs of the kinds of error than the best rule
/// for them, as a share of what that costs; `None` for plans that lead to no rule. Two classes: the costs of a false alarm and
/// of a missed case.
pub fn regret<P: Population>(sample: &P, plan: &Adaptive, found: &Metric, costs: &[f64]) -> Option<f64> {
    if plan.is_ratio() {
        let space = binary_space(sample).ok()?;
        let prior = sample.prevalence().class_priors()[1];
        let cost = |p: &[f64]| costs[1] * (prior - p[0]) + costs[0] * (1.0 - prior - p[1]);
        let (least, chosen) =
            (cost(&space.best(&[costs[1], costs[0]])), cost(&space.best(&[found.cost_ratio()?, 1.0])));
        // Where the best rule costs nothing, so does the one that was chosen, or it is dearer by far.
        let dearest = (costs[1] * prior).max(costs[0] * (1.0 - prior));
        return Some((chosen - least).max(0.0) / least.max(LEAST_COST * dearest));
    }
    let (space, estimate) = (plan.operating_point()?, found.coefficients());
    // Without groups the best rule for any weights is known exactly; with them the listed ones stand for all.
    let more: Vec<Vec<f64>> = match space.prevalence() {
        None => {
            let set = Achievable::new(sample, Measure::OffDiagonalRates).ok()?;
            let best = |weights: &[f64]| {
                let against: Vec<f64> = weights.iter().map(|w| -w).collect();
                set.extreme(&against, 0).map(|(_, point)| point).ok()
            };
            [best(&estimate), best(costs)].into_iter().flatten().collect()
        }
        Some(_) => vec![],
    };
    Some(space.regret(&estimate, costs, &more))
}

/// The share of weights within their 95 % intervals: as shares of their sum, or the cost ratio.
pub fn weights_held(belief: &dyn Belief, costs: &[f64]) -> f64 {
    let inside = |low: f64, truth: f64, high: f64| f64::from(u8::from(low <= truth && truth <= high));
    if let Some(interval) = belief.metric().interval() {
        return inside(interval.low(), costs[1] / costs[0], interval.high().unwrap_or(f64::INFINITY));
    }
    let shares = |weights: &[f64]| {
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|w| w / sum).collect::<Vec<f64>>()
    };
    let drawn: Vec<Vec<f64>> =
        belief.draws(DRAWS).iter().map(|metric| shares(&metric.coefficients())).collect();
    let truth = shares(costs);
    let held = |n: usize| {
        let of: Vec<f64> = drawn.iter().map(|draw| draw[n]).collect();
        inside(quantile(&of, 0.025), truth[n], quantile(&of, 0.975))
    };
    (0..truth.len()).map(held).sum::<f64>() / truth.len() as f64
}
