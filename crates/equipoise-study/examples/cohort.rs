//! Simulated participants answer the study in a directory, so that there is something to watch, export and report:
//! `cargo run -p equipoise-study --example cohort -- DIR COUNT [SEED]`. With a seed everything is the same every time, times
//! included: for pictures.

#[path = "../tests/common/mod.rs"]
mod common;

use equipoise_log::{SqliteStore, Writer};
use equipoise_study::seams::{Clock, SystemClock, SystemRandom, TestRandom};
use equipoise_study::{Design, Service, Study};
use rand::{RngExt as _, SeedableRng as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// 2 November 2026, 9:00 UTC, in milliseconds.
const MORNING: i64 = 1_793_610_000_000;

/// Nine seconds pass whenever somebody looks.
#[derive(Debug)]
struct Steady(AtomicI64);

impl Clock for Steady {
    fn now(&self) -> i64 {
        self.0.fetch_add(9_000, Ordering::Relaxed)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| ".".to_owned());
    let count = arguments.next().map_or(Ok(5), |count| count.parse())?;
    let directory = Path::new(&directory);
    let study = Study::parse(&std::fs::read_to_string(directory.join("study.toml"))?)?;
    let design = Arc::new(Design::new(study, directory)?);
    let writer = Writer::start(SqliteStore::open(directory.join("log.sqlite"))?);
    let seed: Option<u64> = arguments.next().map(|seed| seed.parse()).transpose()?;
    let service = match seed {
        Some(seed) => Service::new(design, writer, Steady(AtomicI64::new(MORNING)), TestRandom::new(seed)),
        None => Service::new(design, writer, SystemClock, SystemRandom),
    };
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed.unwrap_or(1));
    for invitation in service.invite(count)? {
        let ratio = random.random_range(0.5_f64..3.0).exp();
        let mut simulant = common::Simulant::new(ratio, 20.0, random.random());
        common::walk(&service, &invitation.session, &mut simulant, usize::MAX);
        println!("participant {} holds {ratio:.1}", invitation.number);
    }
    Ok(())
}
