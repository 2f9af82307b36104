//! The confusion pass against the speed of memory: `cargo bench -p equipoise-data --bench passes`.
//!
//! All three work on the same columns; the printed gigabytes per second are theirs, and the last lines are ratios of
//! one run.

#[path = "../examples/pass/generate.rs"]
mod generate;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use equipoise::population::Confusions;
use equipoise_data::Sample;
use generate::{generate, random_rules, sum_columns};
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 10_000_000;
const CLASSES: usize = 3;

fn passes(criterion: &mut Criterion) {
    let table = generate(ROWS, CLASSES, false, false).expect("a table");
    let sample = Sample::new(table).expect("every class has rows");
    let [one, many] = [1, 64].map(|rules| random_rules(rules, CLASSES).expect("finite rewards"));
    let mut group = criterion.benchmark_group("three classes, ten million rows");
    group.sample_size(10).throughput(Throughput::Bytes((ROWS * (8 * CLASSES + 1)) as u64));
    group.bench_function("sum of the columns", |b| b.iter(|| sum_columns(sample.table())));
    group.bench_function("1 rule", |b| b.iter(|| sample.shifted(&one)));
    group.bench_function("64 rules", |b| b.iter(|| sample.shifted(&many)));
    group.finish();
    let sum = best(|| sum_columns(sample.table()));
    let [one, many] = [&one, &many].map(|rules| best(|| sample.shifted(rules)));
    println!("1 rule reaches {:.0} % of the bandwidth of the sum", 100.0 * sum / one);
    println!("64 rules cost {:.2} times as much as 1", many / one);
}

/// The fewest seconds of ten.
fn best<T>(work: impl Fn() -> T) -> f64 {
    let time = || {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..10).map(|_| time()).fold(f64::INFINITY, f64::min)
}

criterion_group!(benches, passes);
criterion_main!(benches);
