//! The adaptive engine on fractions and polynomials, in pools, with few rows that differ, and its stopping rules.

use equipoise::ask::Finding;
use equipoise::ask::{Counting, NoiseModel, Simulated};
use equipoise::engine::{Adaptive, Pencil, Stop};
use equipoise::population::Softmax;
use equipoise::space::{Achievable, GroupSphere, Pool, Space, Sphere};
use equipoise::testing::random;
use equipoise::{Answer, Measure, Metric, Oracle, Outcome, Plan, Preference, Query, Sense};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::convert::Infallible;

/// Shares and medians of a few runs vary with the seed, so the seed does not.
fn fixed() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(17)
}

fn median(mut counts: Vec<usize>) -> usize {
    counts.sort_unstable();
    counts[counts.len() / 2]
}

fn rule(outcome: &Outcome) -> (String, usize) {
    let stopped = |finding: &Finding| match finding {
        Finding::Stopped { rule, questions, .. } => Some((rule.clone(), *questions)),
        _ => None,
    };
    outcome.findings.iter().find_map(stopped).expect("adaptive plans say why they stopped")
}

#[test]
fn fractions_are_found_up_to_their_pencil() {
    let mut random = fixed();
    let ball = Sphere::new(Measure::DiagonalRates, 3, 0.15).unwrap();
    let (mut counts, mut within) = (vec![], 0);
    for seed in 0..8 {
        let truth = Pencil::draw(3, &mut random);
        let mut oracle = Counting::new(Simulated::new(truth.metric(&ball)));
        let plan = Adaptive::fractional(ball.clone(), 0.01).unwrap().seed(seed);
        let Ok(outcome) = plan.run(&mut oracle);
        within += usize::from(Pencil::of(&outcome.metric, &ball).unwrap().angle(&truth) <= 0.01);
        counts.push(oracle.asked());
        // The posterior is of the same coefficients and survives the document.
        let posterior = outcome.metric.posterior().expect("a cloud has a spread");
        assert_eq!(posterior.mean(), outcome.metric.coefficients());
        assert_eq!(Metric::from_json(&outcome.metric.to_json()).unwrap(), outcome.metric);
    }
    // The floor is 28.2 bits; the printed search asks 160.
    assert!(median(counts.clone()) <= 36 && within >= 6, "{counts:?}, {within} within");
}

#[test]
fn a_fraction_orders_classifiers_like_the_hidden_one_in_spite_of_wrong_answers() {
    let mut random = fixed();
    let ball = Sphere::new(Measure::OffDiagonalRates, 2, 0.3).unwrap();
    let (mut agree, mut all) = (0, 0);
    for seed in 0..5 {
        let metric = random::linear_fractional(ball.view(), &mut random);
        let plan = Adaptive::fractional(ball.clone(), 0.05).unwrap();
        let plan = plan.answers(NoiseModel::Flip { probability: 0.05 }).unwrap();
        let noise = NoiseModel::Flip { probability: 0.05 };
        let Ok(outcome) = plan.run(&mut Simulated::with_noise(metric.clone(), noise, seed).unwrap());
        assert_eq!(rule(&outcome).0, "radius");
        for _ in 0..200 {
            let [a, b] = [0, 1].map(|_| ball.best(&random::normals(2, &mut random)));
            let first = |m: &Metric| m.liking(&a) > m.liking(&b);
            agree += usize::from(first(&metric) == first(&outcome.metric));
            all += 1;
        }
    }
    assert!(agree * 100 >= all * 96, "{agree} of {all}");
}

#[test]
fn hidden_polynomials_are_found() {
    let mut random = fixed();
    let ball = Sphere::new(Measure::OffDiagonalRates, 2, 0.3).unwrap();
    let (mut counts, mut within) = (vec![], 0);
    for _ in 0..5 {
        let plan = Adaptive::polynomial(ball.clone(), 3, 0.02).unwrap();
        let features = plan.features().unwrap();
        let metric = features.metric(&random::normals(features.dimension(), &mut random));
        let mut oracle = Counting::new(Simulated::new(metric.clone()));
        let Ok(outcome) = plan.run(&mut oracle);
        let [found, truth] = [&outcome.metric, &metric].map(|m| features.weights(m).unwrap());
        let gap = found.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        within += usize::from(gap <= 0.02);
        counts.push(oracle.asked());
    }
    // Nine weights, 48 bits: curved features are asked about less cleverly than quadratic ones.
    assert!(median(counts.clone()) <= 130 && within >= 4, "{counts:?}, {within} within");
}

#[test]
fn hidden_group_fair_quadratic_metrics_are_found() {
    let mut random = fixed();
    let shares = random::shares(2, 2, &mut random);
    let space = GroupSphere::new(0.3, shares).unwrap();
    let (mut counts, mut within) = (vec![], 0);
    for _ in 0..5 {
        let plan = Adaptive::group_fair_quadratic(space.clone(), 0.02).unwrap();
        let features = plan.features().unwrap();
        let metric = features.metric(&random::normals(features.dimension(), &mut random));
        let mut oracle = Counting::new(Simulated::new(metric.clone()));
        let Ok(outcome) = plan.run(&mut oracle);
        let [found, truth] = [&outcome.metric, &metric].map(|m| features.weights(m).unwrap());
        let gap = found.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        within += usize::from(gap <= 0.02);
        counts.push(oracle.asked());
    }
    assert!(median(counts.clone()) <= 45 && within >= 4, "{counts:?}, {within} within");
}

/// Answers from a metric, and remembers what was asked.
struct Recorder {
    metric: Metric,
    asked: Vec<Query>,
    /// Points are shown rounded to whole people out of so many.
    out_of: Option<f64>,
}

impl Oracle for Recorder {
    type Err = Infallible;

    fn prefer(&mut self, query: &Query) -> Result<Answer, Infallible> {
        self.asked.push(query.clone());
        let rounded = |point: &Vec<f64>| match self.out_of {
            Some(n) => point.iter().map(|x| (x * n).round() / n).collect(),
            None => point.clone(),
        };
        let shown = Query::new(rounded(&query.first), rounded(&query.second));
        let difference = self.metric.liking(&shown.first) - self.metric.liking(&shown.second);
        let preference = match difference.partial_cmp(&0.0) {
            Some(std::cmp::Ordering::Greater) => Preference::First,
            Some(std::cmp::Ordering::Less) => Preference::Second,
            _ => Preference::CannotTell,
        };
        Ok(Answer { preference, shown: self.out_of.map(|_| shown) })
    }
}

#[test]
fn few_rows_differ_where_few_may_and_rounded_numbers_are_taken_as_shown() {
    let mut random = fixed();
    let ball = Sphere::new(Measure::OffDiagonalRates, 3, 0.2).unwrap();
    for (rows, out_of, bound) in [(2, None, 75), (3, None, 55), (3, Some(1000.0), 60)] {
        let metric = random::linear(ball.view(), &mut random);
        let plan = Adaptive::linear(ball.clone(), 0.02).unwrap().rows_that_differ(rows).unwrap();
        let mut oracle = Recorder { metric: metric.clone(), asked: vec![], out_of };
        let Ok(outcome) = plan.run(&mut oracle);
        let differ = |query: &Query| {
            query.first.iter().zip(&query.second).filter(|(a, b)| (*a - *b).abs() > 1e-9).count()
        };
        assert!(oracle.asked.iter().all(|query| differ(query) <= rows));
        let inside = |query: &Query| ball.contains(&query.first, 1e-9) && ball.contains(&query.second, 1e-9);
        assert!(oracle.asked.iter().all(inside));
        let angle = outcome.metric.difference(&metric).unwrap().angle;
        assert!(angle < 0.04 && oracle.asked.len() <= bound, "{rows}: {angle} after {}", oracle.asked.len());
    }
}

/// Twelve boundary classifiers of three classes.
fn pool() -> Pool {
    let law = Softmax::new(vec![1.0, 3.0, 6.0]).unwrap();
    let set = Achievable::new(&law, Measure::OffDiagonalRates).unwrap();
    Pool::boundary(&set, 12, 5).unwrap()
}

#[test]
fn the_best_of_a_pool_is_named() {
    let mut random = fixed();
    let pool = pool();
    let (mut counts, mut right) = (vec![], 0);
    for _ in 0..30 {
        let metric = random::linear(pool.view(), &mut random);
        let plan = Adaptive::pool(pool.clone(), 0.01).unwrap();
        let Ok(outcome) = plan.run(&mut Simulated::new(metric.clone()));
        let (rule, asked) = rule(&outcome);
        assert!(["decision", "radius", "nothing left to ask"].contains(&rule.as_str()), "{rule}");
        let likings = pool.members().iter().map(|member| metric.liking(&member.point));
        let best = likings.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).expect("twelve").0;
        let named = outcome.findings.iter().find_map(|finding| match finding {
            Finding::BestOfPool { name, .. } => Some(name.clone()),
            _ => None,
        });
        right += usize::from(named.as_deref() == Some(&pool.members()[best].name));
        counts.push(asked);
    }
    assert!(median(counts.clone()) <= 10 && right >= 25, "{counts:?}, {right} of 30 right");
}

#[test]
fn a_pool_never_repeats_a_pair_nor_asks_what_is_plain() {
    let pool = pool();
    let metric = Metric::linear(pool.view(), Sense::Cost, vec![1.0, 2.0, 3.0, 1.0, 1.0, 5.0]).unwrap();
    for signs in ["monotone", "unknown"] {
        // Without a rule to end it, it goes on until every pair that tells something has been asked.
        let text = format!(
            r#"{{"kind":"linear","method":"adaptive","signs":"{signs}","stop":[],"tolerance":0.000001,
                 "answers":{{"kind":"flip","probability":0.1}},"space":{}}}"#,
            serde_json::to_string(&pool).unwrap()
        );
        let plan: equipoise::AnyPlan = serde_json::from_str(&text).unwrap();
        let mut oracle = Recorder { metric: metric.clone(), asked: vec![], out_of: None };
        let Ok(outcome) = plan.run(&mut oracle);
        assert_eq!(rule(&outcome).0, "nothing left to ask");
        for (n, query) in oracle.asked.iter().enumerate() {
            assert!(pool.contains(&query.first, 1e-12) && pool.contains(&query.second, 1e-12));
            let turned = Query::new(query.second.clone(), query.first.clone());
            assert!(!oracle.asked[..n].iter().any(|other| other == query || *other == turned));
            let worse = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a >= b);
            let plain = worse(&query.first, &query.second) || worse(&query.second, &query.first);
            assert!(signs == "unknown" || !plain);
        }
    }
}

#[test]
fn a_small_pool_with_noise_runs_out_of_pairs_and_says_so() {
    let mut random = fixed();
    let models = [[0.30, 0.02], [0.20, 0.05], [0.16, 0.08], [0.12, 0.12], [0.08, 0.2], [0.05, 0.30]];
    let named = models.iter().enumerate().map(|(n, point)| (n.to_string(), point.to_vec())).collect();
    let pool = Pool::new(Measure::OffDiagonalRates, 2, named).unwrap();
    let answers = NoiseModel::Flip { probability: 0.1 };
    let plan = Adaptive::pool(pool.clone(), 0.01).unwrap().answers(answers).unwrap();
    let (mut ran_out, mut believed, mut right) = (0, 0.0, 0.0);
    for seed in 0..60 {
        let metric = random::linear(pool.view(), &mut random);
        let flips = NoiseModel::Flip { probability: 0.1 };
        let mut oracle = Simulated::with_noise(metric.clone(), flips, seed).unwrap();
        let mut asked: Vec<Query> = vec![];
        let Ok(outcome) = plan.run(&mut |query: &Query| {
            let turned = Query::new(query.second.clone(), query.first.clone());
            assert!(!asked.contains(query) && !asked.contains(&turned), "{query:?} was asked before");
            asked.push(query.clone());
            let Ok(answer) = oracle.prefer(query);
            answer.preference
        });
        let used_up = outcome.findings.iter().any(
            |finding| matches!(finding, Finding::PairsUsedUp { pairs, level } if *pairs == asked.len() && *level == 0.95),
        );
        assert_eq!(used_up, rule(&outcome).0 == "nothing left to ask");
        ran_out += usize::from(used_up);
        for finding in &outcome.findings {
            if let Finding::BestOfPool { name, probability } = finding {
                assert!(!used_up || *probability < 0.95);
                let best = pool.members().iter().map(|member| metric.liking(&member.point));
                let best = best.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).expect("six models").0;
                believed += probability / 60.0;
                right += f64::from(u8::from(*name == best.to_string())) / 60.0;
            }
        }
    }
    println!("{ran_out} of 60 ran out; believed {believed:.2}, right {right:.2}");
    assert!(ran_out > 0);
    // Careful about wrong answers, so right at least as often as it says, give or take three standard deviations.
    assert!(right >= believed - 0.16, "{believed} {right}");
}

#[test]
fn the_rule_that_ended_it_is_named() {
    let ball = Sphere::new(Measure::OffDiagonalRates, 2, 0.2).unwrap();
    let metric = Metric::linear(ball.view(), Sense::Cost, vec![1.0, 3.0]).unwrap();
    let noise = NoiseModel::Absolute { slope: 5.0, lapse: 0.0 };
    let run = |plan: Adaptive| {
        let Ok(outcome) = plan.run(&mut Simulated::with_noise(metric.clone(), noise, 1).unwrap());
        rule(&outcome)
    };
    let plan = || {
        Adaptive::linear(ball.clone(), 0.001)
            .unwrap()
            .answers(NoiseModel::Absolute { slope: 5.0, lapse: 0.0 })
            .unwrap()
    };
    let idle = plan().stop(vec![Stop::Information { floor: 0.05 }]).unwrap();
    let (rule, asked) = run(idle.clone());
    assert_eq!(rule, "information");
    assert_eq!(run(idle.budget(asked - 1).unwrap()), ("budget".to_owned(), asked - 1));
    assert_eq!(run(plan().answers(NoiseModel::Exact).unwrap()).0, "radius");
    let wrong = plan().stop(vec![Stop::SETTLED]).unwrap_err().to_string();
    assert!(wrong.contains("needs a pool"), "{wrong}");
}

#[test]
fn every_question_is_feasible_and_new_whatever_is_answered() {
    let ball = Sphere::new(Measure::OffDiagonalRates, 2, 0.2).unwrap();
    let members = pool();
    let fractional = Adaptive::fractional(ball.clone(), 0.01).unwrap().budget(20).unwrap();
    let polynomial = Adaptive::polynomial(ball.clone(), 3, 0.01).unwrap().budget(20).unwrap();
    let chooses = Adaptive::pool(members.clone(), 0.01).unwrap().budget(40).unwrap();
    // Always the first, by turns, and always against a metric.
    let metric = random::linear(ball.view(), &mut fixed());
    let against = |query: &Query| {
        metric.view().dimension() == query.first.len()
            && metric.liking(&query.first) > metric.liking(&query.second)
    };
    type Says<'a> = Box<dyn FnMut(&Query) -> bool + 'a>;
    type Answerer<'a> = dyn FnMut(&Query) -> Preference + 'a;
    for kind in 0..3 {
        let mut turn = 0;
        let mut says: Says = match kind {
            0 => Box::new(|_: &Query| true),
            1 => Box::new(move |_: &Query| {
                turn += 1;
                turn % 2 == 0
            }),
            _ => Box::new(|query: &Query| !against(query)),
        };
        let mut check = |space: &dyn Space, run: &mut dyn FnMut(&mut Answerer)| {
            let mut asked: Vec<Query> = vec![];
            run(&mut |query: &Query| {
                assert!(
                    space.contains(&query.first, 1e-9) && space.contains(&query.second, 1e-9),
                    "{query:?}"
                );
                let again = asked.iter().any(|other| other.is_close(query, 1e-9));
                assert!(!again, "{query:?} was asked before");
                asked.push(query.clone());
                if says(query) { Preference::First } else { Preference::Second }
            });
        };
        check(&ball, &mut |mut oracle| {
            let Ok(_) = fractional.run(&mut oracle);
        });
        check(&ball, &mut |mut oracle| {
            let Ok(_) = polynomial.run(&mut oracle);
        });
        check(&members, &mut |mut oracle| {
            let Ok(_) = chooses.run(&mut oracle);
        });
    }
}
