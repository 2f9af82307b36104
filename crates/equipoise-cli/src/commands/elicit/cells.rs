//! A question about any entries of the confusion matrix, in whole numbers.

use crate::counts::SIZES;
use equipoise::{Measure, Query, View};

/// Rounding may change the difference between two classifiers by this share of its length.
const FAITHFUL: f64 = 0.1;

/// Counts of both classifiers, cell by cell.
pub struct Cells {
    /// What they are out of.
    pub out_of: u64,
    /// Every cell, class by class.
    pub cells: Vec<Cell>,
    view: View,
}

/// One cell of both confusion matrices.
#[derive(Clone, Copy)]
pub struct Cell {
    pub group: usize,
    pub truth: usize,
    pub estimate: usize,
    /// In the first and in the second classifier.
    pub counts: [u64; 2],
}

impl Cell {
    /// How many more the second has.
    pub fn more(&self) -> i64 {
        self.counts[1] as i64 - self.counts[0] as i64
    }
}

impl Cells {
    /// The smallest size at which rounding hardly changes the difference.
    pub fn size(query: &Query, view: View) -> u64 {
        let truth: Vec<f64> = query.second.iter().zip(&query.first).map(|(b, a)| b - a).collect();
        let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let is_faithful = |out_of: &u64| {
            let shown = Self::rounded(query, view, *out_of);
            let [first, second] = [0, 1].map(|side| shown.point(side));
            let missed: Vec<f64> =
                first.iter().zip(&second).zip(&truth).map(|((a, b), truth)| b - a - truth).collect();
            length(&missed) <= FAITHFUL * length(&truth)
        };
        SIZES[1..].iter().copied().find(is_faithful).unwrap_or(SIZES[SIZES.len() - 1])
    }

    /// Every cell in whole numbers. Where the entries are error rates, what is left of a class is predicted correctly,
    /// and the counts of a class add up.
    pub fn rounded(query: &Query, view: View, out_of: u64) -> Self {
        let entries = view.entries();
        let whole = matches!(view.measure(), Measure::OffDiagonalRates | Measure::GroupRates);
        let mut cells: Vec<Cell> = vec![];
        if whole {
            let k = view.classes();
            for (block, row) in entries.chunks(k - 1).enumerate() {
                let (group, truth, _) = row[0];
                let at = block * (k - 1)..(block + 1) * (k - 1);
                let [first, second] =
                    [&query.first, &query.second].map(|point| shares_of(&point[at.clone()], out_of));
                let estimates = row.iter().map(|entry| entry.2).chain([truth]);
                for (n, estimate) in estimates.enumerate() {
                    cells.push(Cell { group, truth, estimate, counts: [first[n], second[n]] });
                }
            }
        } else {
            let count = |x: f64| (x.max(0.0) * out_of as f64).round() as u64;
            for (n, &(group, truth, estimate)) in entries.iter().enumerate() {
                let counts = [count(query.first[n]), count(query.second[n])];
                cells.push(Cell { group, truth, estimate, counts });
            }
        }
        Self { out_of, cells, view }
    }

    /// One classifier as it is shown.
    pub fn point(&self, side: usize) -> Vec<f64> {
        let entry = |(group, truth, estimate): (usize, usize, usize)| {
            let found =
                self.cells.iter().find(|c| (c.group, c.truth, c.estimate) == (group, truth, estimate));
            found.map_or(0.0, |cell| cell.counts[side] as f64 / self.out_of as f64)
        };
        self.view.entries().into_iter().map(entry).collect()
    }

    /// What may differ between classifiers, always in the same order; of many the `most` that differ most.
    pub fn rows(&self, most: usize) -> Vec<Cell> {
        let errors = self.view.measure().lists_errors();
        let mut rows: Vec<Cell> =
            self.cells.iter().copied().filter(|cell| !errors || cell.truth != cell.estimate).collect();
        if rows.len() > most {
            let mut sizes: Vec<u64> = rows.iter().map(|cell| cell.more().unsigned_abs()).collect();
            sizes.sort_unstable_by(|a, b| b.cmp(a));
            rows.retain(|cell| cell.more().unsigned_abs() >= sizes[most - 1]);
            rows.truncate(most);
        }
        rows
    }

    /// How many rows there are in all.
    pub fn all_rows(&self) -> usize {
        self.rows(usize::MAX).len()
    }

    /// How far groups are apart in a kind of mistake, with each classifier; the largest changes first.
    pub fn gaps(&self) -> Vec<(Cell, Cell, [u64; 2])> {
        let cells = self.rows(usize::MAX);
        let mut gaps = vec![];
        for (n, a) in cells.iter().enumerate() {
            for b in &cells[n + 1..] {
                if (a.truth, a.estimate) == (b.truth, b.estimate) {
                    let apart = [0, 1].map(|side| a.counts[side].abs_diff(b.counts[side]));
                    let (a, b) = if a.group < b.group { (*a, *b) } else { (*b, *a) };
                    gaps.push((a, b, apart));
                }
            }
        }
        gaps.retain(|(_, _, apart)| apart[0] != apart[1]);
        gaps.sort_by_key(|(_, _, apart)| std::cmp::Reverse(apart[0].abs_diff(apart[1])));
        gaps
    }
}

/// Shares of one class, and what is left of it, as whole numbers that add up: the largest remainders are rounded up.
fn shares_of(errors: &[f64], out_of: u64) -> Vec<u64> {
    let rest = (1.0 - errors.iter().sum::<f64>()).max(0.0);
    let exact: Vec<f64> = errors.iter().copied().chain([rest]).map(|x| x.max(0.0) * out_of as f64).collect();
    // A hair below a whole number is that number.
    let mut counts: Vec<u64> = exact.iter().map(|x| (x + 1e-9).floor() as u64).collect();
    let mut order: Vec<usize> = (0..exact.len()).collect();
    order.sort_by(|&a, &b| (exact[b] - counts[b] as f64).total_cmp(&(exact[a] - counts[a] as f64)));
    let missing = out_of.saturating_sub(counts.iter().sum());
    order.into_iter().cycle().take(missing as usize).for_each(|n| counts[n] += 1);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_class_add_up_however_they_round() {
        for step in 0..1000 {
            let a = f64::from(step) / 1000.0 * 0.6;
            for b in [0.0, 0.123_45, 1.0 / 3.0, 0.4] {
                let counts = shares_of(&[a, b], 1000);
                assert_eq!(counts.iter().sum::<u64>(), 1000);
                assert!(
                    (counts[0] as f64 - 1000.0 * a).abs() < 1.0
                        && (counts[1] as f64 - 1000.0 * b).abs() < 1.0
                );
            }
        }
    }

    #[test]
    fn rows_keep_their_order_and_the_smallest_differences_are_left_out() {
        let view = View::new(Measure::OffDiagonalRates, 3, 1).unwrap();
        let first = vec![0.3; 6];
        let query = Query::new(first.clone(), vec![0.31, 0.38, 0.3, 0.2, 0.3, 0.45]);
        let rows = Cells::rounded(&query, view, 1000).rows(3);
        assert_eq!(rows.iter().map(Cell::more).collect::<Vec<_>>(), [80, -100, 150]);
    }
}
