//! "About a to b questions left": how often that was true.

use equipoise::engine::people::{self, Expert};
use equipoise::engine::{AdaptiveRatio, Left};
use equipoise::population::Logistic;
use equipoise::space::{Binary, Space};
use equipoise::{Metric, Oracle, Sense};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

fn space() -> Binary {
    Binary::from_law(Logistic::with_offset(21.0, 6.3).unwrap())
}

/// What was shown to people, and what was true.
#[derive(Default, Debug)]
struct Tally {
    steps: usize,
    /// Steps with fewer questions left than shown, and with more.
    fewer: usize,
    more: usize,
    /// By how much the upper end rose at most.
    rise: i64,
}

impl Tally {
    fn right(&self) -> f64 {
        1.0 - (self.fewer + self.more) as f64 / self.steps as f64
    }
}

/// Asks people of the population and counts over all steps.
fn tally(people: u64, seed: u64) -> Tally {
    let plan = AdaptiveRatio::new(space()).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut tally = Tally::default();
    for n in 0..people {
        let (sin, cos) = (-people::log_ratio(&mut random)).exp().atan().sin_cos();
        let metric = Metric::linear(space().view(), Sense::Utility, vec![cos, sin]).unwrap();
        let mut posterior = plan.start();
        let mut expert = Expert::new(metric, posterior.unit(), people::noise(&mut random), seed ^ n);
        let mut shown: Vec<Left> = vec![];
        while let Ok(query) = plan.next(&posterior) {
            let left = plan.questions_left(&posterior, n);
            let left = shown.last().map_or(left, |before| left.after(*before));
            let before = shown.last().map_or(left.high, |before| before.high);
            tally.rise = tally.rise.max(left.high as i64 - before as i64);
            shown.push(left);
            let Ok(answer) = expert.prefer(&query);
            posterior.take(&query, &answer);
        }
        for (step, Left { low, high }) in shown.iter().enumerate() {
            let left = shown.len() - step;
            tally.steps += 1;
            tally.fewer += usize::from(left < *low);
            tally.more += usize::from(left > *high);
        }
    }
    println!("{people} people, seed {seed}: {tally:?}, right {:.3}", tally.right());
    tally
}

#[test]
fn the_range_of_questions_left_is_mostly_right() {
    let found = tally(12, 5);
    assert!(found.rise <= 2);
    assert!(found.right() >= 0.8);
}

#[test]
fn the_same_seed_gives_the_same_range_and_the_end_is_zero() {
    let plan = AdaptiveRatio::new(space()).unwrap();
    let mut posterior = plan.start();
    assert_eq!(plan.questions_left(&posterior, 3), plan.questions_left(&posterior, 3));
    while let Ok(query) = plan.next(&posterior) {
        assert!(plan.questions_left(&posterior, 1).low >= 1);
        posterior.take(&query, &equipoise::Preference::First.into());
    }
    assert_eq!(plan.questions_left(&posterior, 1), Left { low: 0, high: 0 });
}
