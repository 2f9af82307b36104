//! How far predicted probabilities are from the frequencies they stand for.

use crate::steps::Steps;
use equipoise::population::Profile;
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
/// use equipoise::population::{Population, Score};
/// use equipoise_data::{Reliability, Sample, Table};
/// let classes = vec!["no".to_owned(), "yes".to_owned()];
/// let yes = vec![0.1, 0.1, 0.7, 0.7];
/// let no = yes.iter().map(|p| 1.0 - p).collect();
/// let sample = Sample::new(Table::new(classes, vec![0, 0, 1, 1], vec![no, yes])?.data)?;
/// let Ok(profile) = sample.score_profile(Score::Class(1));
/// let curve = Reliability::new(&profile, 2);
/// assert_eq!(curve.bins.len(), 2);
/// assert!((curve.error() - 0.2).abs() < 1e-12); // 0.1 too many, 0.3 too few, half of the rows each
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reliability {
    /// From low probabilities to high.
    pub bins: Vec<Bin>,
}

impl Reliability {
    /// At most `bins` bins, at least one; rows with equal probabilities stay together.
    pub fn new(profile: &Profile, bins: usize) -> Self {
        Self { bins: equal_mass(&Steps::new(profile), bins.max(1)) }
    }

    /// The expected calibration error: the mean distance between predicted and observed.
    pub fn error(&self) -> f64 {
        self.bins.iter().map(|bin| bin.share * (bin.predicted - bin.observed).abs()).sum()
    }
}

fn mass(sums: [f64; 2]) -> f64 {
    sums[0] + sums[1]
}

fn equal_mass(steps: &Steps, bins: usize) -> Vec<Bin> {
    let total = mass(steps.total());
    let mut edges = vec![0];
    for bin in 1..=bins {
        let end = first_with(steps, total * bin as f64 / bins as f64);
        if mass(steps.first(end)) > mass(steps.first(edges[edges.len() - 1])) {
            edges.push(end);
        }
    }
    edges.windows(2).map(|ends| bin(steps, ends[0], ends[1], total)).collect()
}

/// The fewest scores whose rows weigh as much, allowing for rounding.
fn first_with(steps: &Steps, wanted: f64) -> usize {
    let (mut low, mut high) = (0, steps.len());
    while low < high {
        let middle = (low + high) / 2;
        if mass(steps.first(middle)) < wanted * (1.0 - 1e-12) { low = middle + 1 } else { high = middle }
    }
    low
}

fn bin(steps: &Steps, from: usize, to: usize, total: f64) -> Bin {
    let (before, after) = (steps.first(from), steps.first(to));
    let inside = mass(after) - mass(before);
    let weight = |step: usize| mass(steps.first(step + 1)) - mass(steps.first(step));
    Bin {
        range: [steps.score(from), steps.score(to - 1)],
        predicted: (from..to).map(|step| weight(step) * steps.score(step)).sum::<f64>() / inside,
        observed: (after[1] - before[1]) / inside,
        share: inside / total,
    }
}
