//! Times boundary points of a large two-class table.
//!
//! `cargo run --release -p equipoise-data --example boundary -- [ROWS]`
//!
//! A hundred million rows need about 6 GB: the table, the sorted copy and the running counts.

use equipoise_data::{Boundary, Sample, Table};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = std::env::args().nth(1).map_or(Ok(100_000_000), |text| text.parse())?;
    let start = Instant::now();
    let sample = Sample::new(generate(rows)?)?;
    println!("{rows} rows generated in {:.1} s", start.elapsed().as_secs_f64());

    let start = Instant::now();
    let Ok(boundary) = Boundary::of(&sample, 0, 1);
    println!("sorted in {:.1} s", start.elapsed().as_secs_f64());

    let points = 1_000_000;
    let angle = |n: usize| std::f64::consts::TAU * (n as f64 * 0.618_033_988_749_895).fract();
    let start = Instant::now();
    let sum: f64 = (0..points).map(|n| boundary.at([angle(n).cos(), angle(n).sin()])[0]).sum();
    let each = start.elapsed().as_secs_f64() / points as f64;
    println!(
        "{:.2} microseconds for each of {points} boundary points (mean {:.4})",
        each * 1e6,
        sum / points as f64
    );

    let start = Instant::now();
    let hull = boundary.hull()?;
    println!("hull of {} corners in {:.1} s", hull.vertices().len(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let sum: f64 = (0..points).map(|n| hull.extreme([angle(n).cos(), angle(n).sin()])[0]).sum();
    let each = start.elapsed().as_secs_f64() / points as f64;
    println!("{:.2} microseconds for each of {points} corners (mean {:.4})", each * 1e6, sum / points as f64);
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    }
    Ok(())
}

/// Scores uniform on [0, 1], labels drawn from them.
fn generate(rows: usize) -> Result<Table, equipoise_data::Error> {
    const CHUNK: usize = 1 << 16;
    let (mut truth, mut yes, mut no) = (vec![0; rows], vec![0.0; rows], vec![0.0; rows]);
    let columns = truth.par_chunks_mut(CHUNK).zip(yes.par_chunks_mut(CHUNK)).zip(no.par_chunks_mut(CHUNK));
    columns.enumerate().for_each(|(chunk, ((truth, yes), no))| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(chunk as u64);
        for ((truth, yes), no) in truth.iter_mut().zip(yes).zip(no) {
            *yes = random.random::<f64>();
            *no = 1.0 - *yes;
            *truth = u8::from(random.random::<f64>() < *yes);
        }
    });
    Ok(Table::new(vec!["no".to_owned(), "yes".to_owned()], truth, vec![no, yes])?.data)
}
