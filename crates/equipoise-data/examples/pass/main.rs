//! Times the confusion pass on a generated table.
//!
//! `cargo run --release -p equipoise-data --example pass -- [ROWS] [CLASSES] [groups] [weights]`
//!
//! Prints the milliseconds, best of seven, of a pass for 1, 16 and 64 rules and of a plain parallel sum over the
//! same columns: on the clock, and, where the system tells, spent by all cores together. On a busy machine the
//! second is the one to compare.

mod generate;

use equipoise::population::Confusions;
use equipoise_data::Sample;
use generate::{Anything, generate, random_rules, sum_columns};
use std::time::Instant;

fn main() -> Result<(), Anything> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |n: usize, otherwise: usize| match arguments.get(n) {
        Some(text) => text.parse(),
        None => Ok(otherwise),
    };
    let (rows, classes) = (number(0, 10_000_000)?, number(1, 3)?);
    let asked = |word: &str| arguments.iter().any(|argument| argument == word);
    let sample = Sample::new(generate(rows, classes, asked("groups"), asked("weights"))?)?;
    let bytes = (rows
        * (8 * classes + 1 + 2 * usize::from(asked("groups")) + 8 * usize::from(asked("weights"))))
        as f64;
    println!("rows {rows}, classes {classes}, {:.0} MB", bytes / 1e6);
    let sum = best_of_seven(|| sum_columns(sample.table()));
    println!("sum      {:8.2} ms  {:8.2} cpu ms  {:6.2} GB/s", sum.clock, sum.cores, bytes / sum.clock / 1e6);
    let mut one = None;
    for rules in [1, 16, 64] {
        let batch = random_rules(rules, classes)?;
        let time = best_of_seven(|| sample.shifted(&batch));
        let one = *one.get_or_insert(time);
        println!(
            "{rules:2} rules {:8.2} ms  {:8.2} cpu ms  {:6.2} GB/s  bandwidth {:.2} (cpu {:.2}) of the sum  \
             {:.2} (cpu {:.2}) x one rule",
            time.clock,
            time.cores,
            bytes / time.clock / 1e6,
            sum.clock / time.clock,
            sum.cores / time.cores,
            time.clock / one.clock,
            time.cores / one.cores
        );
    }
    Ok(())
}

/// Milliseconds.
#[derive(Clone, Copy)]
struct Time {
    clock: f64,
    cores: f64,
}

fn best_of_seven<T>(work: impl Fn() -> T) -> Time {
    let mut best = Time { clock: f64::INFINITY, cores: f64::INFINITY };
    for _ in 0..7 {
        let (start, cores) = (Instant::now(), spent());
        std::hint::black_box(work());
        best.clock = best.clock.min(start.elapsed().as_secs_f64() * 1e3);
        best.cores = best.cores.min(spent() - cores);
    }
    best
}

/// Milliseconds that the threads of this process have run, as Linux counts them; 0 elsewhere.
fn spent() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let times = threads.flatten().filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    times.sum::<f64>() / 1e6
}
