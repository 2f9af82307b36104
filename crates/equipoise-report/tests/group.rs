//! Groups of experts, from simulated interviews with the real engine.

#[path = "../../equipoise-study/tests/common/mod.rs"]
mod common;

use common::{SEED, setting};
use equipoise::ask::NoiseModel;
use equipoise::ask::Oracle as _;
use equipoise::engine::{Adaptive, Belief};
use equipoise::population::Logistic;
use equipoise::space::Binary;
use equipoise::testing::people::Expert;
use equipoise::testing::random;
use equipoise::{Measure, Metric, Sense, View};
use equipoise_report::group::Line;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One interview: questions until the interval is narrow, answers of somebody with a ratio and logistic noise.
fn interview(plan: &Adaptive, ratio: f64, seed: u64) -> Box<dyn Belief> {
    let mut belief = plan.start();
    let view = View::new(Measure::Binary, 2, 1).unwrap();
    let metric = Metric::linear(view, Sense::Utility, vec![ratio, 1.0]).unwrap().normal_form();
    let noise = NoiseModel::Absolute { slope: 20.0, lapse: 0.0 };
    let mut expert = Expert::new(metric, plan.unit(), noise, seed);
    for _ in 0..25 {
        if belief.width().value() <= 1.6 {
            break;
        }
        let Some(query) = belief.questions(0).next() else { break };
        let Ok(answer) = expert.prefer(&query);
        belief.take(&query, &answer);
    }
    belief
}

fn clusters(plan: &Adaptive, ratios: &[f64], random: &mut Xoshiro256PlusPlus) -> usize {
    let densities: Vec<Vec<(f64, f64)>> =
        ratios.iter().map(|ratio| interview(plan, *ratio, random.random()).density().unwrap()).collect();
    Line::of_densities(&densities).unwrap().clusters().clusters.len()
}

/// In how many of `runs` two clusters (ratios 3 and 30, ten people each) are found, and in how many one cluster of twenty is
/// split.
fn rates(runs: usize, seed: u64) -> [usize; 2] {
    let plan = Adaptive::ratio(Binary::from_law(Logistic::new(5.0).unwrap()));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let two: Vec<f64> = [[3.0; 10], [30.0; 10]].concat();
    let mut found = [0, 0];
    for _ in 0..runs {
        found[0] += usize::from(clusters(&plan, &two, &mut random) >= 2);
        let one = [(random.random_range(0.5_f64..3.0)).exp(); 20];
        found[1] += usize::from(clusters(&plan, &one, &mut random) >= 2);
    }
    found
}

#[test]
fn two_clusters_are_found_and_one_is_not_split() {
    let runs = 30;
    let [two, split] = rates(runs, SEED);
    println!("two camps found in {two} of {runs}, one split in {split} of {runs}");
    assert!(two >= 27 && split <= 5);
}

#[test]
#[ignore = "prints the figures of 500 runs, or as many as RUNS says; takes minutes"]
fn clusters_in_many_runs() {
    let (runs, seed) = (setting("RUNS", 500), random::seed());
    let [two, split] = rates(runs as usize, seed);
    println!("seed {seed}: two camps found in {two} of {runs}, one split in {split} of {runs}");
    assert!(two as u64 * 10 >= runs * 9 && split as u64 * 20 <= runs);
}
