//! How long the adaptive engine thinks about a question: `cargo bench -p equipoise --bench engine`.
//!
//! The bounds we hold ourselves to, per question: 1 ms at q = 12, 5 ms at q = 30, with the belief of a finished
//! elicitation; and a step of an interview costs one question, not all.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use equipoise::ask::Simulated;
use equipoise::engine::{Adaptive, Belief};
use equipoise::population::{Logistic, Softmax};
use equipoise::space::{Achievable, Binary, OperatingPoint, Space, Sphere};
use equipoise::{Interview, Measure, Metric, Oracle, Sense, Step};
use std::hint::black_box;

fn question(criterion: &mut Criterion) {
    // As many answers as an elicitation to .01 radians takes.
    for (q, answers) in [(6, 30), (12, 65), (30, 177)] {
        let ball = Sphere::new(Measure::DiagonalRates, q, 0.5 / q as f64).unwrap();
        let weights = (0..q).map(|i| 1.0 + (i as f64 * 1.7).sin()).collect();
        let mut expert = Simulated::new(Metric::linear(ball.view(), Sense::Utility, weights).unwrap());
        let mut belief = Adaptive::linear(ball, 0.01).unwrap().start();
        for _ in 0..answers {
            let query = belief.questions(0).next().unwrap();
            let Ok(answer) = expert.prefer(&query);
            belief.take(&query, &answer);
        }
        let query = belief.questions(0).next().unwrap();
        let Ok(answer) = expert.prefer(&query);
        criterion.bench_function(&format!("question q={q} after {answers}"), |bench| {
            let step = |mut belief: Box<dyn Belief>| {
                belief.take(&query, &answer);
                black_box(belief.questions(0).next())
            };
            bench.iter_batched(|| belief.clone(), step, BatchSize::SmallInput);
        });
    }
}

fn ratio(criterion: &mut Criterion) {
    let plan = Adaptive::ratio(Binary::from_law(Logistic::new(5.0).unwrap()));
    let mut belief = plan.start();
    for n in 0..6 {
        let query = belief.questions(0).next().unwrap();
        let answer = if n % 2 == 0 { equipoise::Preference::First } else { equipoise::Preference::Second };
        belief.take(&query, &answer.into());
    }
    criterion.bench_function("question of a cost ratio", |bench| {
        bench.iter(|| black_box(belief.questions(0).next()))
    });
    criterion
        .bench_function("questions left", |bench| bench.iter(|| black_box(plan.questions_left(&*belief, 7))));
}

/// What a person waits for around a classifier of four classes, twelve kinds of error: taking an answer in and choosing the next
/// question; below 50 ms.
fn around(criterion: &mut Criterion) {
    let law = Softmax::new(vec![1.0, 3.0, 5.0, 8.0]).unwrap();
    let set = Achievable::new(&law, Measure::OffDiagonalRates).unwrap();
    let (_, errors) = set.extreme(&[-1.0; 12], 0).unwrap();
    let plan = Adaptive::around(OperatingPoint::around(&set, &errors).unwrap()).unwrap();
    let mut belief = plan.start();
    for n in 0..12 {
        let query = belief.questions(0).next().unwrap();
        let answer = if n % 3 == 0 { equipoise::Preference::First } else { equipoise::Preference::Second };
        belief.take(&query, &answer.into());
    }
    let query = belief.questions(0).next().unwrap();
    criterion.bench_function("question around a classifier, q=12 after 12", |bench| {
        let step = |mut belief: Box<dyn Belief>| {
            belief.take(&query, &equipoise::Preference::First.into());
            black_box(belief.questions(0).next())
        };
        bench.iter_batched(|| belief.clone(), step, BatchSize::SmallInput);
    });
    criterion.bench_function("probe around a classifier, q=12", |bench| {
        bench.iter(|| black_box(belief.probe(0, 0)))
    });
}

fn interview(criterion: &mut Criterion) {
    let ball = Sphere::new(Measure::DiagonalRates, 12, 0.04).unwrap();
    let mut interview = Interview::new(Adaptive::linear(ball, 0.01).unwrap());
    for n in 0..40 {
        let Ok(Step::Ask(query)) = interview.step() else { panic!("more than 40 questions") };
        let first = query.first[n % 12] > query.second[n % 12];
        let answer = if first { equipoise::Preference::First } else { equipoise::Preference::Second };
        interview.answer(answer).unwrap();
    }
    criterion.bench_function("step of an interview, remembered", |bench| {
        bench.iter(|| black_box(interview.step()));
    });
    criterion.bench_function("step of an interview, replayed", |bench| {
        bench.iter(|| {
            interview.forget();
            black_box(interview.step())
        });
    });
}

criterion_group!(benches, question, ratio, around, interview);
criterion_main!(benches);
