//! Tables and rules made up for measuring, and what memory allows.

use equipoise::population::PostShift;
use equipoise_data::{Groups, Table};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

pub type Anything = Box<dyn std::error::Error>;

/// What memory allows: every column read once, on all cores.
pub fn sum_columns(table: &Table) -> f64 {
    // Enough sums side by side that no addition waits for another: only memory is waited for.
    let many = |part: &[f64]| {
        let mut sums = [0.0; 32];
        let parts = part.chunks_exact(32);
        let rest: f64 = parts.remainder().iter().sum();
        parts.for_each(|part| (0..32).for_each(|n| sums[n] += part[n]));
        sums.iter().sum::<f64>() + rest
    };
    let column = |column: &[f64]| column.par_chunks(1 << 16).map(many).sum::<f64>();
    let codes = |part: &[u8]| part.iter().map(|&code| u64::from(code)).sum::<u64>();
    let truth: u64 = table.truth().par_chunks(1 << 16).map(codes).sum();
    (0..table.classes().len()).map(|class| column(table.probabilities(class))).sum::<f64>()
        + table.weights().map_or(0.0, column)
        + truth as f64
}

/// Labels drawn from the probabilities, which are uniform over the simplex.
pub fn generate(rows: usize, classes: usize, groups: bool, weights: bool) -> Result<Table, Anything> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut columns = vec![Vec::with_capacity(rows); classes];
    let mut truth = Vec::with_capacity(rows);
    for _ in 0..rows {
        let parts: Vec<f64> = (0..classes).map(|_| -random.random::<f64>().max(1e-12).ln()).collect();
        let total: f64 = parts.iter().sum();
        let mut left = random.random::<f64>() * total;
        let drawn = parts.iter().position(|part| {
            left -= part;
            left <= 0.0
        });
        truth.push(drawn.unwrap_or(classes - 1) as u8);
        columns.iter_mut().zip(&parts).for_each(|(column, part)| column.push(part / total));
    }
    let names = (0..classes).map(|class| class.to_string()).collect();
    let mut table = Table::new(names, truth, columns)?.data;
    if groups {
        let codes = (0..rows).map(|row| (row % 2) as u16).collect();
        table = table.with_groups(Groups::new(vec!["x".into(), "y".into()], codes)?)?;
    }
    if weights {
        table = table.with_weights((0..rows).map(|row| 1.0 + (row % 3) as f64).collect())?;
    }
    Ok(table)
}

/// Rules with rewards drawn from [0, 1].
pub fn random_rules(count: usize, classes: usize) -> Result<Vec<PostShift>, Anything> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut rule =
        || PostShift::new(classes, (0..classes * classes).map(|_| random.random::<f64>()).collect());
    Ok((0..count).map(|_| rule()).collect::<Result<_, _>>()?)
}
