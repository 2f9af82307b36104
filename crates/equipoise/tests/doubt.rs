//! Whoever does not look at the questions gets no metric, nor does whoever has no linear one; whoever does gets one.

use equipoise::ask::{Finding, NoiseModel, Simulated};
use equipoise::engine::Adaptive;
use equipoise::population::{Logistic, Softmax};
use equipoise::space::{Achievable, Binary, OperatingPoint, Polygon, Space as _};
use equipoise::testing::people;
use equipoise::{Measure, Metric, Oracle as _, Outcome, Plan as _, Preference, Query, Sense};
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const BLUNT: NoiseModel = NoiseModel::Relative { slope: 2.0, lapse: 0.025 };
const STANDARD: NoiseModel = NoiseModel::Relative { slope: 3.0, lapse: 0.015 };

fn two_classes() -> Adaptive {
    Adaptive::ratio(Binary::from_law(Logistic::with_offset(21.0, 6.3).unwrap()))
}

fn three_classes() -> Adaptive {
    let law = Softmax::new(vec![1.0, 3.0, 5.0]).unwrap();
    let set = Achievable::new(&law, Measure::OffDiagonalRates).unwrap();
    let (_, errors) = set.extreme(&[-1.0; 6], 0).unwrap();
    Adaptive::around(OperatingPoint::around(&set, &errors).unwrap()).unwrap()
}

fn costs(plan: &Adaptive, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let count = plan.operating_point().map_or(2, OperatingPoint::dimension);
    StandardNormal.sample_iter(random).take(count).map(|x: f64| x.abs()).collect()
}

fn metric(plan: &Adaptive, costs: &[f64]) -> Metric {
    match plan.operating_point() {
        Some(_) => people::metric_of(plan, costs).unwrap(),
        None => Metric::linear(plan.view(), Sense::Utility, vec![costs[1], costs[0]]).unwrap(),
    }
}

fn doubted(outcome: &Outcome) -> bool {
    let doubts =
        |finding: &Finding| matches!(finding, Finding::LikeChance { .. } | Finding::ProbesObject { .. });
    assert!(!outcome.findings.iter().any(doubts) || !outcome.identifiable());
    outcome.findings.iter().any(doubts)
}

/// The share of people of one kind who are doubted.
fn share_doubted(plan: &Adaptive, noise: NoiseModel, people: u64) -> f64 {
    let doubted = (0..people).filter(|seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(100 + seed);
        let hidden = metric(plan, &costs(plan, &mut random));
        let Ok(outcome) = plan.run(&mut Simulated::with_noise(hidden, noise, *seed).unwrap());
        doubted(&outcome)
    });
    doubted.count() as f64 / people as f64
}

#[test]
fn habits_get_no_metric() {
    for plan in [two_classes(), three_classes()] {
        for seed in 0..2 {
            let plan = plan.clone().seed(seed);
            let mut number = 0_usize;
            let mut alternating = |_: &Query| {
                number += 1;
                if number.is_multiple_of(2) { Preference::First } else { Preference::Second }
            };
            let Ok(outcome) = plan.run(&mut alternating);
            assert!(!outcome.identifiable(), "in turns: {:?}", outcome.findings);
            for always in [Preference::First, Preference::Second] {
                let Ok(outcome) = plan.run(&mut |_: &Query| always);
                assert!(!outcome.identifiable(), "always {always:?}: {:?}", outcome.findings);
            }
        }
    }
}

#[test]
fn coins_are_told_from_blunt_people() {
    // About four coins of five are: of 40 at least 26 are in 99 draws of 100. How many it is on tables is told by `bench people`.
    for (name, plan, people) in [("two classes", two_classes(), 30), ("three classes", three_classes(), 40)] {
        let coin = share_doubted(&plan, NoiseModel::Flip { probability: 0.5 }, people);
        let [blunt, standard] = [BLUNT, STANDARD].map(|noise| share_doubted(&plan, noise, people));
        println!("{name}: doubted {coin:.3} of coins, {blunt:.3} of blunt, {standard:.3} of standard people");
        assert!(coin >= 0.65 && blunt <= 0.15 && standard <= 0.1, "{name}: {coin} {blunt} {standard}");
    }
}

#[test]
#[ignore = "not reached: three probes among plausible pairs do not notice F1"]
fn whoever_goes_by_f1_is_noticed() {
    // F1 of (true positive, true negative) shares is 2 TP / (TP + 1 - TN): slopes differ from place to place. Among what somebody
    // would build they differ by 1.9 to 3.2 where the class is rare; the ratio must be known better than that to tell.
    let corner = |n: i32| {
        let alarms = (f64::from(n) / 40.0).powi(3);
        [0.05 * alarms.powf(0.1), 0.95 * (1.0 - alarms)]
    };
    let space = Binary::from_hull(0.05, Polygon::hull((0..=40).map(corner).collect()).unwrap()).unwrap();
    let plan = Adaptive::ratio(space).stop(vec![]).unwrap().width(1.15).unwrap();
    let f1 = |p: &[f64]| 2.0 * p[0] / (p[0] + 1.0 - p[1]);
    let Ok(outcome) = plan.run(&mut |query: &Query| match f1(&query.first) > f1(&query.second) {
        true => Preference::First,
        false => Preference::Second,
    });
    assert!(doubted(&outcome), "{:?}", outcome.findings);
}

#[test]
fn a_ratio_beyond_what_the_data_tell_is_bounded_on_one_side() {
    for (ratio, noise) in
        [(1000.0, NoiseModel::Unknown), (1000.0, NoiseModel::Exact), (0.001, NoiseModel::Unknown)]
    {
        let plan = two_classes().answers(noise).unwrap();
        let hidden = Metric::linear(plan.view(), Sense::Utility, vec![ratio, 1.0]).unwrap();
        let Ok(outcome) = plan.run(&mut Simulated::new(hidden));
        assert!(!outcome.identifiable(), "{:?}", outcome.findings);
        let beyond = outcome.findings.iter().find_map(|finding| match finding {
            Finding::RatioBeyond { at_least, at_most, .. } => Some((*at_least, *at_most)),
            Finding::RatioInterval { .. } => panic!("a closed interval: {finding}"),
            _ => None,
        });
        match beyond {
            Some((Some(low), None)) if ratio > 1.0 => assert!(low > 5.0 && low < ratio, "{low}"),
            Some((None, Some(high))) if ratio < 1.0 => assert!(high < 0.2 && high > ratio, "{high}"),
            other => panic!("{ratio}: {other:?}"),
        }
        let interval = outcome.metric.interval().unwrap();
        assert!(interval.high().is_none() || interval.low() == 0.0);
    }
}

/// One kind against all others, 1000 : 1, and all alike: how many of the ratios to the gravest kind have no end, and how many people
/// are told that theirs is beyond what can be told.
fn open_ends(costs: &[f64], people: u64) -> (usize, usize) {
    let (mut open, mut beyond) = (0, 0);
    for seed in 0..people {
        let plan = three_classes().seed(seed);
        let mut person = Simulated::with_noise(metric(&plan, costs), STANDARD, seed).unwrap();
        let mut belief = plan.start();
        while let Ok(query) = plan.next(belief.as_ref()) {
            let Ok(answer) = person.prefer(&query);
            belief.take(&query, &answer);
        }
        let found = belief.metric().coefficients();
        let gravest = (0..6).max_by(|&a, &b| found[a].total_cmp(&found[b])).unwrap();
        open += (0..6).filter(|&kind| kind != gravest && belief.leaves_open(gravest, kind)).count();
        beyond += usize::from(belief.beyond().is_some());
    }
    (open, beyond)
}

#[test]
fn weights_beyond_what_the_data_tell_have_no_upper_end() {
    let (far, beyond) = open_ends(&[1.0, 1.0, 1000.0, 1.0, 1.0, 1.0], 8);
    let (near, none) = open_ends(&[1.0; 6], 8);
    println!("open of 40: {far} at 1000 : 1, {near} at 1 : 1; beyond: {beyond} and {none} of 8");
    assert!(far >= 30 && near <= 24 && none == 0, "{far} {near} {none}");
    assert!(equipoise::ask::Finding::WeightBeyond { kind: 2 }.is_ambiguity());
}

/// The most questions that are allowed are the most there are, probes and all.
#[test]
fn probes_stay_within_the_budget() {
    for (plan, budget) in [(two_classes(), 8), (two_classes(), 30), (three_classes(), 10)] {
        let plan = plan.budget(budget).unwrap();
        let mut most = 0;
        for seed in 0..12 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut asked = 0;
            let Ok(_) = plan.run(&mut |_: &Query| {
                asked += 1;
                if random.random_bool(0.5) { Preference::First } else { Preference::Second }
            });
            most = most.max(asked);
        }
        assert!(most <= budget && most > budget / 2, "{most} of {budget}");
    }
}

#[test]
fn questions_that_end_too_early_are_a_finding() {
    let plan = two_classes().stop(vec![equipoise::engine::Stop::Information { floor: 0.9 }]).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let Ok(outcome) = plan.run(&mut |_: &Query| match random.random_bool(0.5) {
        true => Preference::First,
        false => Preference::Second,
    });
    let missed = |finding: &Finding| matches!(finding, Finding::GoalMissed { .. });
    assert!(outcome.findings.iter().any(missed) && !outcome.identifiable(), "{:?}", outcome.findings);
}

#[test]
fn probes_differ_in_three_rows_and_can_be_built() {
    let plan = three_classes();
    let law = Softmax::new(vec![1.0, 3.0, 5.0]).unwrap();
    let set = Achievable::new(&law, Measure::OffDiagonalRates).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut person = Simulated::with_noise(metric(&plan, &costs(&plan, &mut random)), BLUNT, 1).unwrap();
    let mut belief = plan.start();
    while let Ok(query) = plan.next(belief.as_ref()) {
        let Ok(answer) = person.prefer(&query);
        belief.take(&query, &answer);
    }
    let mut probes = 0;
    plan.doubts(belief.as_ref(), |query| {
        let differ = query.first.iter().zip(&query.second).filter(|(a, b)| (*a - *b).abs() > 1e-9);
        assert_eq!(differ.count(), 3);
        for point in [&query.first, &query.second] {
            assert!(set.contains(point, 1e-9), "{point:?}");
        }
        probes += 1;
        let Ok(answer) = person.prefer(query);
        answer
    });
    assert!(probes >= 3, "{probes}");
}

#[test]
fn people_are_shown_what_somebody_would_build() {
    let plan = two_classes();
    let space = Binary::from_law(Logistic::with_offset(21.0, 6.3).unwrap());
    let prior = space.positive_prior();
    let youden = |p: &[f64]| p[0] / prior + p[1] / (1.0 - prior) - 1.0;
    let half = 0.5 * youden(&space.best(&[1.0 / prior, 1.0 / (1.0 - prior)]));
    for seed in 0..6 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut person =
            Simulated::with_noise(metric(&plan, &costs(&plan, &mut random)), STANDARD, seed).unwrap();
        let mut asked = 0;
        let Ok(_) = plan.run(&mut |query: &Query| {
            asked += 1;
            for point in [&query.first, &query.second] {
                assert!(space.contains(point, 1e-9) && youden(point) >= half - 1e-9, "{point:?}");
            }
            let Ok(answer) = person.prefer(query);
            answer.preference
        });
        assert!((3..=30).contains(&asked), "{asked}");
    }
}
