//! How long a simulated elicitation and a replay take: `cargo bench -p equipoise`.
//!
//! The bounds we hold ourselves to: a linear elicitation at q = 12 (704 questions) under 1 ms, and a step of an
//! interview with 700 answers (a full replay) under 5 ms.

use criterion::{Criterion, criterion_group, criterion_main};
use equipoise::ask::Simulated;
use equipoise::search::{GroupFair, Linear, Quadratic, SlopeSearch};
use equipoise::space::{GroupSphere, Space, Sphere};
use equipoise::{GroupShares, Interview, Measure, Metric, Oracle, Plan, Sense, Step};
use std::hint::black_box;

fn weights(q: usize) -> Vec<f64> {
    (0..q).map(|i| 1.0 + (i as f64 * 1.7).sin()).collect()
}

fn linear(criterion: &mut Criterion) {
    for classes in [3, 4] {
        let ball = Sphere::new(Measure::OffDiagonalRates, classes, 0.1).unwrap();
        let metric = Metric::linear(ball.view(), Sense::Cost, weights(ball.centre().len())).unwrap();
        let paper = Linear::new(ball, 0.01).unwrap();
        let antipodal = paper.clone().search(SlopeSearch::antipodal(0.01).unwrap());
        for (name, plan) in [("paper", paper), ("antipodal", antipodal)] {
            let q = classes * (classes - 1);
            criterion.bench_function(&format!("linear q={q} {name}"), |bench| {
                bench.iter(|| black_box(plan.run(&mut Simulated::new(metric.clone()))));
            });
        }
    }
}

fn replay(criterion: &mut Criterion) {
    let ball = Sphere::new(Measure::OffDiagonalRates, 4, 0.1).unwrap();
    let metric = Metric::linear(ball.view(), Sense::Cost, weights(12)).unwrap();
    let mut expert = Simulated::new(metric);
    let mut interview = Interview::new(Linear::new(ball, 0.01).unwrap());
    for _ in 0..700 {
        let Ok(Step::Ask(query)) = interview.step() else { panic!("704 questions") };
        let Ok(answer) = expert.prefer(&query);
        interview.answer(answer).unwrap();
    }
    criterion.bench_function("replay of 700 answers", |bench| bench.iter(|| black_box(interview.step())));
}

fn families(criterion: &mut Criterion) {
    let space = GroupSphere::new(0.2, GroupShares::equal(3, 3)).unwrap();
    let plan = GroupFair::new(space, 1e-3).unwrap().search(SlopeSearch::antipodal(1e-3).unwrap());
    let likes_less = |query: &equipoise::Query| match query.first < query.second {
        true => equipoise::Preference::First,
        false => equipoise::Preference::Second,
    };
    criterion.bench_function("group fair k=3 m=3 antipodal", |bench| {
        bench.iter(|| black_box(plan.run(&mut { likes_less })));
    });
    let ball = Sphere::new(Measure::OffDiagonalRates, 3, 0.2).unwrap();
    let plan = Quadratic::new(ball, 0.01).unwrap();
    criterion
        .bench_function("quadratic q=6", |bench| bench.iter(|| black_box(plan.run(&mut { likes_less }))));
}

criterion_group!(benches, linear, replay, families);
criterion_main!(benches);
