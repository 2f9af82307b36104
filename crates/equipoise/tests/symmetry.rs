//! What must not matter does not: which side something is on, in which order answers came, in which unit costs are.

use equipoise::engine::Adaptive;
use equipoise::testing::random;
use equipoise::{Answer, AnyPlan, Metric, Preference, Query};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;

mod common;

/// Plans over beliefs that take one answer at a time.
fn plans() -> Vec<Adaptive> {
    let adaptive = |plan: AnyPlan| match plan {
        AnyPlan::Adaptive(plan) => Some(plan),
        _ => None,
    };
    common::all_plans(0.2).into_iter().filter_map(adaptive).collect()
}

/// Questions as the plan asks them, with the answers of somebody.
fn asked(plan: &Adaptive, seed: u64, most: usize) -> Vec<(Query, Preference)> {
    let mut belief = plan.start();
    let mut record = vec![];
    for n in 0..most {
        let Ok(query) = plan.next(&*belief) else { break };
        let preference = match (seed + n as u64) % 7 {
            0 => Preference::CannotTell,
            n if n % 2 == 0 => Preference::First,
            _ => Preference::Second,
        };
        belief.take(&query, &Answer::from(preference));
        record.push((query, preference));
    }
    record
}

fn believed(plan: &Adaptive, record: &[(Query, Preference)]) -> Vec<f64> {
    let mut belief = plan.start();
    for (query, preference) in record {
        belief.take(query, &Answer::from(*preference));
    }
    let mut numbers: Vec<f64> = belief.metric().coefficients();
    numbers.extend(belief.quantile(0.5));
    numbers.extend(belief.quantile(0.975));
    numbers
}

#[track_caller]
fn same(found: &[f64], expected: &[f64], tolerance: f64, told: &str) {
    assert_eq!(found.len(), expected.len(), "{told}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= tolerance * expected.abs().max(1.0),
            "{told}: {found} and {expected}"
        );
    }
}

#[test]
fn sides_do_not_matter() {
    let plans = plans();
    for (n, plan) in plans.iter().enumerate() {
        let record = asked(plan, n as u64, 6);
        let turned: Vec<_> = record
            .iter()
            .map(|(query, preference)| {
                (Query::new(query.second.clone(), query.first.clone()), preference.reversed())
            })
            .collect();
        same(&believed(plan, &turned), &believed(plan, &record), 1e-9, plan.kind());
    }
    println!("{} plans: the same belief with sides swapped", plans.len());
}

#[test]
fn the_order_of_answers_does_not_matter_to_an_exact_belief() {
    let plan = plans().into_iter().find(Adaptive::is_ratio).expect("a plan for a cost ratio");
    let mut record = asked(&plan, 1, 10);
    let before = believed(&plan, &record);
    record.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(3));
    same(&believed(&plan, &record), &before, 1e-9, "ratio");
}

#[test]
fn the_unit_of_costs_does_not_matter() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let plan = plans().into_iter().find(|plan| !plan.is_ratio()).expect("a plan for weights");
    for _ in 0..20 {
        let metric = random::linear(plan.view(), &mut random);
        let scaled: Vec<f64> = metric.coefficients().iter().map(|weight| weight * 1e6).collect();
        let scaled = Metric::linear(plan.view(), metric.sense(), scaled).unwrap();
        same(
            &scaled.normal_form().coefficients(),
            &metric.normal_form().coefficients(),
            1e-12,
            "a linear metric",
        );
        for (query, _) in asked(&plan, 2, 3) {
            let prefers =
                |metric: &Metric| metric.value(&query.first).total_cmp(&metric.value(&query.second));
            assert_eq!(prefers(&scaled), prefers(&metric));
        }
    }
}
