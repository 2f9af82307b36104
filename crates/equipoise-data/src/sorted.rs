//! Rows sorted by a score in [0, 1], with running sums of their weights.
//!
//! A hundred million rows without weights take 1.2 GB: score and label share eight bytes, the running count takes
//! four.

use rayon::prelude::*;

/// Rows at a time when sums are carried along.
const CHUNK: usize = 1 << 20;

/// Rows of two kinds, label `false` and `true`, by rising score.
#[derive(Debug, Clone)]
pub(crate) struct Sorted {
    /// The bits of the score, then the label: for numbers in [0, 1] the order of the bits is that of the
    /// numbers, and the highest bit is free.
    keys: Vec<u64>,
    running: Running,
}

/// What the rows up to and including each come to.
#[derive(Debug, Clone)]
enum Running {
    /// How many have the label `true`.
    Counts(Vec<u32>),
    /// The weight of either label.
    Weights(Vec<[f64; 2]>),
}

fn key(score: f64, label: bool) -> u64 {
    // Adding zero turns -0 into 0.
    (score + 0.0).to_bits() << 1 | u64::from(label)
}

fn score_of(key: u64) -> f64 {
    f64::from_bits(key >> 1)
}

impl Sorted {
    /// Sorts scores in [0, 1] with their labels.
    pub fn new(rows: impl ParallelIterator<Item = (f64, bool)>) -> Self {
        let mut keys: Vec<u64> = rows.map(|(score, label)| key(score, label)).collect();
        keys.par_sort_unstable();
        if u32::try_from(keys.len()).is_err() {
            let running = Running::Weights(run(&keys, |row| at_label(keys[row], 1.0)));
            return Self { keys, running };
        }
        let running = Running::Counts(count(&keys));
        Self { keys, running }
    }

    /// Sorts scores with their labels and weights.
    pub fn weighted(rows: impl ParallelIterator<Item = (f64, bool, f64)>) -> Self {
        let mut pairs: Vec<(u64, f64)> =
            rows.map(|(score, label, weight)| (key(score, label), weight)).collect();
        // Equal rows by weight, so that sums come out the same in every run.
        pairs.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let running = run(&pairs, |row| at_label(pairs[row].0, pairs[row].1));
        let keys = pairs.into_par_iter().map(|(key, _)| key).collect();
        Self { keys, running: Running::Weights(running) }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// The score of a row.
    pub fn score(&self, row: usize) -> f64 {
        score_of(self.keys[row])
    }

    /// The weight of the first `rows` rows, by label.
    pub fn first(&self, rows: usize) -> [f64; 2] {
        let Some(last) = rows.checked_sub(1) else { return [0.0; 2] };
        match &self.running {
            Running::Counts(counts) => {
                [(rows as u64 - u64::from(counts[last])) as f64, f64::from(counts[last])]
            }
            Running::Weights(weights) => weights[last],
        }
    }

    /// The weight of all rows, by label.
    pub fn total(&self) -> [f64; 2] {
        self.first(self.len())
    }

    /// How many rows come before the first whose score does not satisfy a condition that low scores do.
    pub fn while_score(&self, condition: impl Fn(f64) -> bool) -> usize {
        self.keys.partition_point(|&key| condition(score_of(key)))
    }

    /// Whether a score ends here: the next row, if any, has a higher one.
    pub fn ends_at(&self, rows: usize) -> bool {
        rows == 0 || rows == self.len() || self.keys[rows - 1] >> 1 != self.keys[rows] >> 1
    }
}

fn at_label(key: u64, weight: f64) -> [f64; 2] {
    if key & 1 == 1 { [0.0, weight] } else { [weight, 0.0] }
}

/// Running counts of the label `true`.
fn count(keys: &[u64]) -> Vec<u32> {
    let of_chunk = |chunk: &[u64]| chunk.iter().map(|key| (key & 1) as u32).sum::<u32>();
    let sums: Vec<u32> = keys.par_chunks(CHUNK).map(of_chunk).collect();
    let mut starts = vec![0];
    sums.iter().for_each(|sum| starts.push(starts[starts.len() - 1] + sum));
    let mut running = vec![0; keys.len()];
    let chunks = running.par_chunks_mut(CHUNK).zip(keys.par_chunks(CHUNK)).zip(starts);
    chunks.for_each(|((running, keys), mut sum)| {
        for (running, key) in running.iter_mut().zip(keys) {
            sum += (key & 1) as u32;
            *running = sum;
        }
    });
    running
}

/// Running weights, in the order of the rows.
fn run<T>(rows: &[T], weight: impl Fn(usize) -> [f64; 2]) -> Vec<[f64; 2]> {
    let mut sum = [0.0; 2];
    let mut add = |row: usize| {
        let weight = weight(row);
        sum = [sum[0] + weight[0], sum[1] + weight[1]];
        sum
    };
    (0..rows.len()).map(&mut add).collect()
}
