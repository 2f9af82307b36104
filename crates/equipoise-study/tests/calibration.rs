//! Whether the report's probabilities are what they say (RP-12), over simulated people and the real engine.

mod common;

use equipoise::ask::NoiseModel;
use equipoise::ask::Oracle as _;
use equipoise::engine::{Adaptive, Belief};
use equipoise::population::Logistic;
use equipoise::space::Binary;
use equipoise::testing::people::{self, Expert};
use equipoise::{GroupConfusions, Measure, Metric, Sense, View, decide::rank};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How often statements about simulated people are right.
#[derive(Debug, Default)]
struct Right {
    /// The 95 % interval of the ratio holds it.
    ratio: usize,
    /// That of the threshold 1/(1 + ratio) holds it.
    threshold: usize,
    /// Some model was called the best with probability of at least .9, and rightly so.
    sure: usize,
    rightly: usize,
}

fn metric(ratio: f64) -> Metric {
    let view = View::new(Measure::Binary, 2, 1).unwrap();
    Metric::linear(view, Sense::Utility, vec![ratio, 1.0]).unwrap().normal_form()
}

fn interview(plan: &Adaptive, ratio: f64, noise: NoiseModel, seed: u64) -> Box<dyn Belief> {
    let mut belief = plan.start();
    let mut expert = Expert::new(metric(ratio), plan.unit(), noise, seed);
    for _ in 0..40 {
        if belief.width().value() <= 1.6 {
            break;
        }
        let Some(query) = belief.questions(0).next() else { break };
        let Ok(answer) = expert.prefer(&query);
        belief.take(&query, &answer);
    }
    belief
}

/// Four models somewhere on the boundary, known exactly.
fn models(space: &Binary, random: &mut Xoshiro256PlusPlus) -> Vec<rank::Candidate> {
    let prior = space.positive_prior();
    (0..4)
        .map(|n| {
            let log: f64 = random.random_range(-2.0..4.0);
            let [tp, tn] = space.at_angle((-log).exp().atan());
            let cells = vec![tn, 1.0 - prior - tn, prior - tp, tp];
            rank::Candidate::new(format!("model {n}"), GroupConfusions::new(2, vec![cells]).unwrap())
        })
        .collect()
}

fn simulate(people: usize, seed: u64, noise: impl Fn(&mut Xoshiro256PlusPlus) -> NoiseModel) -> Right {
    let space = Binary::from_law(Logistic::new(5.0).unwrap());
    let plan = Adaptive::ratio(space.clone());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut right = Right::default();
    for _ in 0..people {
        let ratio = people::log_ratio(&mut random).exp();
        let noise = noise(&mut random);
        let belief = interview(&plan, ratio, noise, random.random());
        let [low, high] = [0.025, 0.975].map(|share| belief.quantile(share).unwrap());
        right.ratio += usize::from((low..=high).contains(&ratio));
        let threshold = |ratio: f64| 1.0 / (1.0 + ratio);
        let estimate = metric(belief.quantile(0.5).unwrap());
        let draws = belief.draws(400);
        let cut =
            equipoise::decide::threshold::bayes(&estimate, space.positive_prior(), &draws, 0.95).unwrap();
        right.threshold += usize::from(cut.interval.unwrap().contains(threshold(ratio)));
        let models = models(&space, &mut random);
        let ranking = rank::rank(&models, &estimate, &draws, 0.95).unwrap();
        let likeliest =
            ranking.standings.iter().max_by(|a, b| a.probability_best.total_cmp(&b.probability_best));
        let likeliest = likeliest.unwrap();
        if likeliest.probability_best >= 0.9 {
            let truth = rank::rank(&models, &metric(ratio), &[], 0.95).unwrap();
            right.sure += 1;
            right.rightly += usize::from(truth.standings[0].index == likeliest.index);
        }
    }
    right
}

#[test]
fn statements_are_right_about_as_often_as_they_say() {
    let right = simulate(120, common::SEED, people::noise);
    // Of 120 at 95 %, 114 are expected.
    assert!(right.ratio >= 105 && right.threshold >= 105, "{right:?}");
    assert!(right.rightly as f64 >= 0.82 * right.sure as f64, "{right:?}");
}

#[test]
#[ignore = "prints the figures of 2,000 people; takes minutes"]
fn calibration_of_2000_people() {
    let right = simulate(2000, 20_261_117, people::noise);
    println!("people who err as the model says: {right:?}");
    let lapsing = simulate(2000, 20_261_118, |random| NoiseModel::Absolute {
        slope: people::noise(random).slope(),
        lapse: 0.1,
    });
    println!("with 10 % lapses: {lapsing:?}");
    let share = |count: usize| count as f64 / 2000.0;
    assert!((0.93..=0.97).contains(&share(right.ratio)) && (0.93..=0.97).contains(&share(right.threshold)));
    assert!(right.rightly as f64 >= 0.88 * right.sure as f64);
    assert!(share(lapsing.ratio) >= 0.85);
}
