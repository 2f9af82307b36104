//! Adversaries against every adaptive plan; `equipoise bench sessions` runs many more.

use equipoise::AnyPlan;
use equipoise::testing::adversary::Adversary;

mod common;

#[test]
fn adaptive_plans_endure_every_adversary() {
    let adaptive = |plan: &AnyPlan| matches!(plan, AnyPlan::Adaptive(_));
    let plans: Vec<AnyPlan> = common::all_plans(0.2).into_iter().filter(adaptive).collect();
    let mut sessions = 0;
    for plan in &plans {
        for adversary in Adversary::ALL {
            for seed in 0..2 {
                let end = adversary.endure(plan, seed);
                assert!(end.is_ok(), "{adversary:?}, seed {seed}, {}: {end:?}", plan.kind());
                sessions += 1;
            }
        }
    }
    println!("{sessions} sessions over {} plans", plans.len());
    assert!(plans.len() >= 15);
}
