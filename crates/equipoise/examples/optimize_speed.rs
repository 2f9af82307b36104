//! Measures the optimiser.
//!
//! `cargo run --release -p equipoise --example optimize_speed` prepares ten million rows of two classes and six atoms and
//! prints the time, the time per iteration, and the most memory that was in use (Linux).
//!
//! `... --example optimize_speed -- TRAIN.csv VALIDATION.csv` runs 100 iterations on tables with the columns y, p1 and
//! then bases of 0 and 1, and prints one JSON document; `experiments/optimize/bench.py` compares it with NumPy.

use equipoise::Metric;
use equipoise::decide::optimize::{FrankWolfe, Probing, Problem};
use equipoise::population::{Basis, Column, Rows, Scores};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::error::Error;
use std::time::Instant;

const ROWS: usize = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    match &files[..] {
        [train, validation] => tables(train, validation),
        _ => large(),
    }
}

fn large() -> Result<(), Box<dyn Error>> {
    let (train, validation) = (Columns::random(ROWS, 1), Columns::random(2000, 2));
    println!("{ROWS} rows, {} in use", memory());
    let bases = vec![Basis::All, Basis::column("0"), Basis::column("1"), Basis::column("2")];
    let started = Instant::now();
    let (train, validation) = (train.rows()?, validation.rows()?);
    let problem = Problem::new(&train, &validation, bases)?;
    println!("prepared in {:.3} s", started.elapsed().as_secs_f64());
    let mut probing = Probing::new(Metric::g_mean(2)?);
    let iterations = 100;
    let started = Instant::now();
    FrankWolfe::default().iterations(iterations)?.run(&problem, &mut probing)?;
    let each = started.elapsed().as_secs_f64() / iterations as f64;
    println!("{:.3} ms per iteration, at most {} in use", 1e3 * each, memory());
    Ok(())
}

fn tables(train: &str, validation: &str) -> Result<(), Box<dyn Error>> {
    let (train, validation) = (Columns::read(train)?, Columns::read(validation)?);
    let names: Vec<String> = (0..train.flags.len()).map(|n| n.to_string()).collect();
    let bases = std::iter::once(Basis::All).chain(names.iter().map(Basis::column)).collect();
    let (train, validation) = (train.rows()?, validation.rows()?);
    let metric = Metric::g_mean(2)?;
    let started = Instant::now();
    let problem = Problem::new(&train, &validation, bases)?;
    let prepared = started.elapsed().as_secs_f64();
    let outcome = FrankWolfe::default().iterations(100)?.run(&problem, &mut Probing::new(metric.clone()))?;
    let total = started.elapsed().as_secs_f64();
    let labels = outcome.classifier.predict(validation.scores())?;
    let value = metric.of(&validation.confusions(&labels)?)?;
    println!(
        "{{\"prepared\": {prepared}, \"total\": {total}, \"value\": {value}, \"rank\": {}}}",
        outcome.rank
    );
    Ok(())
}

/// The most memory this process has had, from the kernel.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.map_or_else(|| "an unknown amount".to_owned(), |kb| format!("{:.0} MB", kb / 1000.0))
}

struct Columns {
    positive: Vec<f64>,
    truth: Vec<u8>,
    flags: Vec<Vec<bool>>,
}

impl Columns {
    /// Two flags that exclude each other and one that cuts across: six atoms.
    fn random(rows: usize, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut made = Self { positive: vec![], truth: vec![], flags: vec![vec![]; 3] };
        made.positive.reserve_exact(rows);
        made.truth.reserve_exact(rows);
        made.flags.iter_mut().for_each(|flags| flags.reserve_exact(rows));
        for _ in 0..rows {
            let positive: f64 = random.random_range(0.0_f64..1.0).powi(2);
            let part: f64 = random.random_range(0.0..3.0);
            made.positive.push(positive);
            made.truth.push(u8::from(random.random_range(0.0..1.0) < positive));
            made.flags[0].push(part < 1.0);
            made.flags[1].push(part > 2.0);
            made.flags[2].push(random.random_range(0.0..1.0) < 0.3);
        }
        made
    }

    fn read(path: &str) -> Result<Self, Box<dyn Error>> {
        let text = std::fs::read_to_string(path)?;
        let bases = text.lines().next().ok_or("an empty file")?.split(',').count() - 2;
        let mut made = Self { positive: vec![], truth: vec![], flags: vec![vec![]; bases] };
        for line in text.lines().skip(1) {
            let mut fields = line.split(',').map(str::parse::<f64>);
            let mut next = || fields.next().unwrap_or(Ok(f64::NAN));
            made.truth.push(next()? as u8);
            made.positive.push(next()?);
            for flags in &mut made.flags {
                flags.push(next()? == 1.0);
            }
        }
        Ok(made)
    }

    fn rows(&self) -> equipoise::Result<Rows<'_>> {
        const NAMES: [&str; 4] = ["0", "1", "2", "3"];
        let mut scores = Scores::new(vec![&self.positive])?;
        for (name, flags) in NAMES.into_iter().zip(&self.flags) {
            scores = scores.with_column(name, Column::Flags(flags))?;
        }
        Rows::new(scores, &self.truth)
    }
}
