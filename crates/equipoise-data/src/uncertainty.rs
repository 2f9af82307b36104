//! How far confusion matrices may be from those of the population the rows were drawn from.
//!
//! All draws are reproducible: a draw's random numbers depend on the seed and its number alone.

use crate::confusions::ModelConfusions;
use crate::error::{Error, Kind, Result};
use crate::kernel;
use crate::sample::{Sample, shares};
use crate::table::Table;
use equipoise::population::{Confusions as _, Rule, Total};
use equipoise::rates::GroupConfusions;
use rand::{Rng, SeedableRng};
use rand_distr::{Binomial, Distribution, Gamma};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use std::borrow::Borrow;

/// The prior of every cell of a matrix row (Jeffreys).
const JEFFREYS: f64 = 0.5;

/// Makes the draws of a threshold on all cores: [`equipoise::decide::threshold::Bootstrap::run`] of whoever has threads.
pub fn on_all_cores(jobs: usize, job: &(dyn Fn(usize) + Sync)) {
    (0..jobs).into_par_iter().for_each(job);
}

impl<T: Borrow<Table>> Sample<T> {
    /// Draws of the confusion matrices of rules given the rows: `dirichlet(..)[draw][rule]`.
    ///
    /// How often a class is taken for each class is, within each group, a draw from the Dirichlet distribution with the
    /// counts and Jeffreys' prior; how common the class is in the group stays as observed. Weighted rows count as many
    /// as carry the same information ([`Total::effective_rows`](equipoise::population::Total::effective_rows)). Rules are
    /// drawn independently.
    pub fn dirichlet(&self, rules: &[Rule], draws: usize, seed: u64) -> Vec<Vec<GroupConfusions>> {
        let k = self.classes();
        let effective: Vec<f64> =
            self.table().totals().cells.concat().iter().map(Total::effective_rows).collect();
        let counts = kernel::counts(self.table(), self.table().weights(), rules, &self.labels(rules));
        let matrix = |rule: usize, draw: u64| {
            let mut random = stream(seed, [draw, rule as u64, u64::MAX]);
            drawn(&posterior_draw(&counts[rule], Some(&effective), k, &mut random), k)
        };
        (0..draws as u64).map(|draw| (0..rules.len()).map(|rule| matrix(rule, draw)).collect()).collect()
    }
}

impl ModelConfusions {
    /// The matrix over as many rows drawn again: a multinomial draw over its cells, which for one model is the
    /// bootstrap of its rows. Counts that are fractions are drawn as their nearest whole total.
    pub fn bootstrap(&self, draws: usize, seed: u64) -> Result<Vec<GroupConfusions>> {
        let total = self.checked_total()?;
        let draw = |draw: u64| {
            let mut random = stream(seed, [draw, 0, 0]);
            drawn(&multinomial(&self.counts, total, &mut random), self.classes.len())
        };
        Ok((0..draws as u64).map(draw).collect())
    }

    /// Draws given the counts: as [`Sample::dirichlet`].
    pub fn dirichlet(&self, draws: usize, seed: u64) -> Result<Vec<GroupConfusions>> {
        self.checked_total()?;
        let k = self.classes.len();
        let draw = |draw: u64| {
            let mut random = stream(seed, [draw, 0, u64::MAX]);
            drawn(&posterior_draw(&self.counts, None, k, &mut random), k)
        };
        Ok((0..draws as u64).map(draw).collect())
    }

    fn checked_total(&self) -> Result<u64> {
        let total = self.total();
        if (0.5..9e15).contains(&total) && self.counts.iter().all(|count| *count >= 0.0) {
            return Ok(total.round() as u64);
        }
        let found = format!("counts with a total of {total}");
        Err(Error::new(Kind::OutOfRange, found, "counts of at least 0 with a total of at least 1"))
    }
}

/// The random numbers that belong to a seed and a place.
fn stream(seed: u64, place: [u64; 3]) -> Xoshiro256PlusPlus {
    let mix = |state: u64, part: u64| Xoshiro256PlusPlus::seed_from_u64(state ^ part).next_u64();
    // Without a first mix, neighbouring seeds would give the same draws in another order.
    let start = Xoshiro256PlusPlus::seed_from_u64(seed).next_u64();
    Xoshiro256PlusPlus::seed_from_u64(place.into_iter().fold(start, mix))
}

/// Counts of a total spread over cells, one binomial draw each.
fn multinomial(cells: &[f64], total: u64, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let (mut left, mut mass) = (total, cells.iter().sum::<f64>());
    let last = cells.iter().rposition(|cell| *cell > 0.0).unwrap_or(0);
    let mut draw = |(n, cell): (usize, &f64)| {
        let share = if n == last { 1.0 } else { (cell / mass).clamp(0.0, 1.0) };
        mass -= cell;
        let drawn = Binomial::new(left, share).map_or(0, |binomial| binomial.sample(random));
        left -= drawn;
        drawn as f64
    };
    cells.iter().enumerate().map(&mut draw).collect()
}

/// Matrix rows drawn from their Dirichlet posteriors, each keeping its total.
fn posterior_draw(
    counts: &[f64],
    effective: Option<&[f64]>,
    k: usize,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<f64> {
    let mut drawn = Vec::with_capacity(counts.len());
    for (slot, row) in counts.chunks(k).enumerate() {
        let total: f64 = row.iter().sum();
        let rows = effective.map_or(total, |effective| effective[slot]);
        let shape = |count: f64| if total > 0.0 { count / total * rows + JEFFREYS } else { JEFFREYS };
        let mut gamma =
            |count: &f64| Gamma::new(shape(*count), 1.0).map_or(0.0, |gamma| gamma.sample(random));
        let parts: Vec<f64> = row.iter().map(&mut gamma).collect();
        let sum: f64 = parts.iter().sum();
        // All parts of a draw may be too small for a number; it then says what was observed.
        let part = |n: usize| if sum > 0.0 { parts[n] / sum * total } else { row[n] };
        drawn.extend((0..k).map(part));
    }
    drawn
}

fn drawn(counts: &[f64], k: usize) -> GroupConfusions {
    shares(counts, k, counts.iter().sum())
}
