//! Questions around an operating point: what is shown, what is believed, and that both are the same every time.

use equipoise::ask::{NoiseModel, Simulated};
use equipoise::engine::{Adaptive, Stop};
use equipoise::population::{Confusions as _, Softmax};
use equipoise::space::{Achievable, AnySpace, OperatingPoint, Space as _};
use equipoise::testing::people;
use equipoise::{
    AnyPlan, Interview, Measure, Metric, Oracle as _, Plan as _, Preference, Query, Sense, Step,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

fn law() -> Softmax {
    Softmax::new(vec![1.0, 3.0, 5.0]).unwrap()
}

fn around(law: &Softmax) -> OperatingPoint {
    let set = Achievable::new(law, Measure::OffDiagonalRates).unwrap();
    let (_, errors) = set.extreme(&[-1.0; 6], 0).unwrap();
    OperatingPoint::around(&set, &errors).unwrap()
}

fn person(plan: &Adaptive, seed: u64) -> (Vec<f64>, Simulated) {
    let random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let costs: Vec<f64> = StandardNormal.sample_iter(random).take(6).map(|x: f64| x.abs()).collect();
    let hidden = people::metric_of(plan, &costs).unwrap();
    (costs, Simulated::with_noise(hidden, NoiseModel::Relative { slope: 3.0, lapse: 0.015 }, seed).unwrap())
}

#[test]
fn every_system_shown_can_be_built_and_two_numbers_differ() {
    let law = law();
    let (space, set) = (around(&law), Achievable::new(&law, Measure::OffDiagonalRates).unwrap());
    let plan = Adaptive::around(space).unwrap();
    let priors = law.prevalence().class_priors();
    let worst = 1.0 - priors.iter().copied().fold(0.0, f64::max);
    for seed in 0..3 {
        let (mut belief, (_, mut person)) = (plan.start(), person(&plan, seed));
        while let Ok(query) = plan.next(belief.as_ref()) {
            let differ = query.first.iter().zip(&query.second).filter(|(a, b)| (*a - *b).abs() > 1e-9);
            assert_eq!(differ.count(), 2);
            let better = query.first.iter().zip(&query.second).filter(|(a, b)| *a < *b).count();
            assert!(
                better == 1 || query.first.iter().zip(&query.second).filter(|(a, b)| *a > *b).count() == 1
            );
            for point in [&query.first, &query.second] {
                assert!(set.contains(point, 1e-9), "{point:?}");
                let error: f64 = point.iter().enumerate().map(|(n, x)| priors[n / 2] * x).sum();
                assert!(error <= worst + 1e-9, "{error} of all cases wrong, a constant has {worst}");
            }
            let Ok(answer) = person.prefer(&query);
            belief.take(&query, &answer);
        }
        assert!(belief.answered().len() <= 30);
    }
}

#[test]
fn a_document_reads_back_and_an_interview_asks_the_same_again() {
    let space = around(&law());
    let text = serde_json::to_string(&space).unwrap();
    let read: AnySpace = serde_json::from_str(&text).unwrap();
    assert_eq!(read, AnySpace::OperatingPoint(space.clone()));
    let plan = Adaptive::around(space).unwrap().stop(vec![Stop::Regret { at_most: 0.2 }]).unwrap();
    let written = serde_json::to_string(&AnyPlan::Adaptive(plan.clone())).unwrap();
    assert_eq!(serde_json::from_str::<AnyPlan>(&written).unwrap(), AnyPlan::Adaptive(plan.clone()));
    let (_, mut expert) = person(&plan, 5);
    let Ok(direct) = plan.run(&mut expert.clone());
    let mut interview = Interview::new(plan);
    let outcome = loop {
        match interview.step().unwrap() {
            Step::Done(outcome) => break outcome,
            Step::Ask(query) => {
                let Ok(answer) = expert.prefer(&query);
                interview.answer(answer).unwrap();
                // Nothing that is remembered makes a difference.
                interview.forget();
            }
        }
    };
    assert_eq!(outcome, direct);
}

#[test]
fn a_damaged_document_is_one_sentence() {
    let whole = serde_json::to_value(around(&law())).unwrap();
    let says = |change: fn(&mut serde_json::Value)| {
        let mut document = whole.clone();
        change(&mut document);
        serde_json::from_value::<AnySpace>(document).unwrap_err().to_string()
    };
    assert!(says(|d| d["point"][0] = 2.into()).contains("point[0] is 2"));
    assert!(says(|d| d["trade_offs"] = serde_json::json!([])).contains("no kind of error can be traded"));
    assert!(says(|d| d["trade_offs"][0]["kinds"][1] = 9.into()).contains("expected two kinds below 6"));
    assert!(says(|d| d["rules"] = serde_json::json!([[0.1]])).contains("rules"));
}

#[test]
fn predictions_that_tell_nothing_leave_nothing_to_trade() {
    let law = Softmax::new(vec![0.0, 0.01, 0.02]).unwrap();
    let set = Achievable::new(&law, Measure::OffDiagonalRates).unwrap();
    let (_, errors) = set.extreme(&[-1.0; 6], 0).unwrap();
    let wrong = OperatingPoint::around(&set, &errors).unwrap_err().to_string();
    assert!(wrong.contains("too few or too alike to ask about"), "{wrong}");
}

/// The crowd against draws from the prior, weighed by how likely they give the answers: slow, and right for few answers.
#[test]
fn the_crowd_has_the_moments_of_a_weighed_prior() {
    let plan = Adaptive::around(around(&law())).unwrap();
    let plan = plan.answers(NoiseModel::Absolute { slope: 6.0, lapse: 0.05 }).unwrap();
    let unit = plan.unit();
    let (mut belief, (_, mut expert)) = (plan.start(), person(&plan, 9));
    let mut said: Vec<(Query, Preference)> = vec![];
    for _ in 0..6 {
        let query = plan.next(belief.as_ref()).unwrap();
        let Ok(answer) = expert.prefer(&query);
        said.push((query.clone(), answer.preference));
        belief.take(&query, &answer);
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let (mut total, mut sums) = (0.0, [0.0; 6]);
    for _ in 0..200_000 {
        let w: Vec<f64> = (0..6).map(|_| StandardNormal.sample(&mut random)).map(|x: f64| x.abs()).collect();
        let length = w.iter().map(|x| x * x).sum::<f64>().sqrt();
        let likely: f64 = (said.iter())
            .map(|(query, preference)| {
                let better: f64 =
                    (0..6).map(|n| w[n] * (query.second[n] - query.first[n])).sum::<f64>() / length / unit;
                let sign = if preference.is_first() { 1.0 } else { -1.0 };
                0.05 + 0.9 / (1.0 + (-6.0 * sign * better).exp())
            })
            .product();
        total += likely;
        let sum: f64 = w.iter().sum();
        (0..6).for_each(|n| sums[n] += likely * w[n] / sum);
    }
    let expected = sums.map(|sum| sum / total);
    let drawn = belief.draws(1000);
    for n in 0..6 {
        let share = |metric: &Metric| metric.coefficients()[n] / metric.coefficients().iter().sum::<f64>();
        let found = drawn.iter().map(share).sum::<f64>() / drawn.len() as f64;
        // A thousand people, each share spread by at most .15: .0047 is one deviation, and neighbours are alike.
        assert!((found - expected[n]).abs() < 0.03, "{n}: {found} {expected:?}");
    }
}

#[test]
fn a_standard_person_would_regret_little() {
    let plan = Adaptive::around(around(&law())).unwrap();
    let space = plan.operating_point().unwrap().clone();
    let regrets: Vec<f64> = (0..12)
        .map(|seed| {
            let (costs, mut expert) = person(&plan, 40 + seed);
            let Ok(outcome) = plan.run(&mut expert);
            space.regret(&outcome.metric.coefficients(), &costs, &[])
        })
        .collect();
    let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
    assert!(mean < 0.08, "{mean}: {regrets:?}");
}

#[test]
fn cannot_tell_and_checks_are_heard() {
    let plan = Adaptive::around(around(&law())).unwrap();
    let mut belief = plan.start();
    for _ in 0..3 {
        let query = plan.next(belief.as_ref()).unwrap();
        belief.take(&query, &Preference::CannotTell.into());
    }
    let careful = belief.noise().unwrap().lapse();
    let centre = plan.operating_point().unwrap().centre();
    let worse: Vec<f64> = centre.iter().map(|x| x + 0.05).collect();
    for _ in 0..3 {
        belief.take_check(&Query::new(centre.clone(), worse.clone()), &Preference::Second.into());
    }
    assert!(belief.noise().unwrap().lapse() > careful, "whoever prefers what is worse throughout slips");
    assert_eq!(belief.answered().len(), 3);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let metric = Metric::linear(plan.view(), Sense::Cost, (0..6).map(|_| random.random()).collect()).unwrap();
    assert!(metric.difference(&belief.metric()).is_some());
}
