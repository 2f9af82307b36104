//! How far predicted probabilities are from the frequencies they stand for.

use crate::error::{Error, Kind, Result};
use crate::sorted::Sorted;
use crate::table::Table;
use rayon::prelude::*;
use serde::Serialize;

/// Rows whose predicted probabilities of a class are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// The lowest and the highest probability among them.
    pub range: [f64; 2],
    /// Their mean.
    pub predicted: f64,
    /// The share of them that is of the class.
    pub observed: f64,
    /// Their share of all rows.
    pub share: f64,
}

/// The reliability curve of one class: what was predicted against what was seen, in bins of about equal mass.
///
/// ```
/// use equipoise_data::{Reliability, Table};
/// let classes = vec!["no".to_owned(), "yes".to_owned()];
/// let yes = vec![0.1, 0.1, 0.7, 0.7];
/// let no = yes.iter().map(|p| 1.0 - p).collect();
/// let table = Table::new(classes, vec![0, 0, 1, 1], vec![no, yes])?.data;
/// let curve = Reliability::new(&table, 1, 2)?;
/// assert_eq!(curve.bins.len(), 2);
/// assert!((curve.error() - 0.2).abs() < 1e-12); // 0.1 too many, 0.3 too few, half of the rows each
/// # Ok::<(), equipoise_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reliability {
    /// From low probabilities to high.
    pub bins: Vec<Bin>,
}

impl Reliability {
    /// At most `bins` bins; rows with equal probabilities stay together.
    pub fn new(table: &Table, class: usize, bins: usize) -> Result<Self> {
        if class >= table.classes().len() || bins == 0 {
            let found = format!("class {class} and {bins} bins");
            return Err(Error::new(Kind::Count, found, "a class of the table and at least 1 bin"));
        }
        let (p, truth) = (table.probabilities(class), table.truth());
        let label = |row: usize| usize::from(truth[row]) == class;
        let rows = (0..table.rows()).into_par_iter();
        let sorted = match table.weights() {
            None => Sorted::new(rows.map(|row| (p[row], label(row)))),
            Some(weights) => Sorted::weighted(rows.map(|row| (p[row], label(row), weights[row]))),
        };
        Ok(Self { bins: equal_mass(&sorted, bins) })
    }

    /// The expected calibration error: the mean distance between predicted and observed.
    pub fn error(&self) -> f64 {
        self.bins.iter().map(|bin| bin.share * (bin.predicted - bin.observed).abs()).sum()
    }
}

fn mass(sums: [f64; 2]) -> f64 {
    sums[0] + sums[1]
}

fn equal_mass(sorted: &Sorted, bins: usize) -> Vec<Bin> {
    let total = mass(sorted.total());
    let mut edges = vec![0];
    for bin in 1..=bins {
        let wanted = total * bin as f64 / bins as f64;
        let enough = first_with(sorted, wanted);
        let end = (enough..sorted.len()).find(|&rows| sorted.ends_at(rows)).unwrap_or(sorted.len());
        if end > edges[edges.len() - 1]
            && mass(sorted.first(end)) > mass(sorted.first(edges[edges.len() - 1]))
        {
            edges.push(end);
        }
    }
    edges.windows(2).map(|ends| bin(sorted, ends[0], ends[1], total)).collect()
}

/// The fewest rows that weigh as much, allowing for rounding.
fn first_with(sorted: &Sorted, wanted: f64) -> usize {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = (low + high) / 2;
        if mass(sorted.first(middle)) < wanted * (1.0 - 1e-12) { low = middle + 1 } else { high = middle }
    }
    low
}

fn bin(sorted: &Sorted, from: usize, to: usize, total: f64) -> Bin {
    let (before, after) = (sorted.first(from), sorted.first(to));
    let inside = mass(after) - mass(before);
    let weight = |row: usize| mass(sorted.first(row + 1)) - mass(sorted.first(row));
    // Chunks of fixed size, added in order: the same sum on any number of cores.
    let starts: Vec<usize> = (from..to).step_by(1 << 16).collect();
    let part = |&start: &usize| -> f64 {
        (start..to.min(start + (1 << 16))).map(|row| weight(row) * sorted.score(row)).sum()
    };
    let parts: Vec<f64> = starts.par_iter().map(part).collect();
    Bin {
        range: [sorted.score(from), sorted.score(to - 1)],
        predicted: parts.iter().sum::<f64>() / inside,
        observed: (after[1] - before[1]) / inside,
        share: inside / total,
    }
}
