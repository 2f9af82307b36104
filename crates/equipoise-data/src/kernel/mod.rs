//! One pass over a table for a whole batch of rules.
//!
//! Few rules are tried on every row, block by block so that a row is fetched from memory once
//! ([`direct`]). Many rules over two or three classes share their work: rows fall into the cells of a grid
//! over the probabilities, most cells lie on one side of every rule's boundaries, and only rows in the other
//! cells are tried ([`grid`]). Both give what [`PostShift::predict`] gives, row by row.
//!
//! Rows are split into chunks whose number depends on the number of rows only, and the sums of the chunks are
//! added in their order: the result is the same on any number of cores. Without weights the sums are whole
//! numbers and exact.

mod direct;
mod grid;

use crate::table::Table;
use equipoise::population::{PostShift, Rule, accepts, largest};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::{AddAssign, Range};

/// Rows in a block: their probabilities, three classes, stay in the nearest caches.
const BLOCK: usize = 1024;

/// From this many rules, and rows, setting up a grid pays off.
const GRID_RULES: usize = 4;
const GRID_ROWS: usize = 100_000;

/// How often, or with what weight, each rule takes each class for each class within each group:
/// `counts[rule][(group * k + truth) * k + estimate]`. Rows without weights count once each. `labels` has what rules that know
/// the rows say of each.
pub(crate) fn counts(
    table: &Table,
    weights: Option<&[f64]>,
    rules: &[Rule],
    labels: &[Cow<'_, [u8]>],
) -> Vec<Vec<f64>> {
    match weights {
        None => with_weights(table, Ones, rules, labels),
        Some(weights) => with_weights(table, weights, rules, labels),
    }
}

fn with_weights<W: RowWeights>(
    table: &Table,
    weights: W,
    rules: &[Rule],
    labels: &[Cow<'_, [u8]>],
) -> Vec<Vec<f64>> {
    let columns = Columns::new(table, weights);
    let shifts: Vec<PostShift> = rules.iter().filter_map(Rule::as_post_shift).cloned().collect();
    let mut shifted = pass(&columns, &shifts).into_iter();
    let counts = rules.iter().zip(labels).map(|(rule, labels)| match rule {
        Rule::PostShift(_) => shifted.next().expect("counts of every post-shift rule"),
        Rule::Threshold(at) => columns.tally(|part, row| part.by_threshold(at, row)),
        Rule::Labels(_) | Rule::Classifier(_) => {
            let columns = Columns { labels, ..columns.part(0..columns.rows()) };
            columns.tally(|part, row| usize::from(part.labels[row]))
        }
    });
    counts.collect()
}

/// For every rule the entry of its matrices that each row adds to: `(group * k + truth) * k + estimate`.
pub(crate) fn slots(table: &Table, rules: &[Rule], labels: &[Cow<'_, [u8]>]) -> Vec<Vec<u32>> {
    let columns = Columns::new(table, Ones);
    let of_rule = |(rule, labels): (&Rule, &Cow<'_, [u8]>)| {
        let slot = |row: usize| {
            let estimate = match rule {
                Rule::PostShift(rule) => {
                    predict(rule.rewards(columns.group(row)), &columns.probabilities, row)
                }
                Rule::Threshold(at) => columns.by_threshold(at, row),
                Rule::Labels(_) | Rule::Classifier(_) => usize::from(labels[row]),
            };
            (columns.slot(row) * columns.classes() + estimate) as u32
        };
        (0..columns.rows()).into_par_iter().map(slot).collect()
    };
    rules.iter().zip(labels).map(of_rule).collect()
}

fn pass<W: RowWeights>(columns: &Columns<W>, rules: &[PostShift]) -> Vec<Vec<f64>> {
    let grid = grid::Grid::for_table(columns);
    match grid {
        Some(grid) if rules.len() >= GRID_RULES && columns.rows() >= GRID_ROWS => {
            grid::pass(columns, &grid, rules)
        }
        _ => direct::pass(columns, rules),
    }
}

/// What rows weigh. Whole rows are counted in integers.
pub(crate) trait RowWeights: Copy + Send + Sync {
    /// What a chunk's weights add up to.
    type Sum: Copy + Default + AddAssign + Into<f64> + Send + Sync;

    /// The weight of a row.
    fn at(&self, row: usize) -> Self::Sum;

    /// The weights of some rows.
    fn part(self, rows: Range<usize>) -> Self;
}

/// Every row counts as one. A chunk has fewer than 2^32 rows.
#[derive(Clone, Copy)]
struct Ones;

impl RowWeights for Ones {
    type Sum = u32;

    fn at(&self, _: usize) -> u32 {
        1
    }

    fn part(self, _: Range<usize>) -> Self {
        self
    }
}

impl RowWeights for &[f64] {
    type Sum = f64;

    fn at(&self, row: usize) -> f64 {
        self[row]
    }

    fn part(self, rows: Range<usize>) -> Self {
        &self[rows]
    }
}

/// The columns of a table, or of some of its rows.
struct Columns<'a, W> {
    truth: &'a [u8],
    probabilities: Vec<&'a [f64]>,
    /// Codes and number of groups.
    groups: Option<&'a [u16]>,
    group_count: usize,
    weights: W,
    /// What a rule says, where it has been looked up.
    labels: &'a [u8],
}

impl<'a, W: RowWeights> Columns<'a, W> {
    fn new(table: &'a Table, weights: W) -> Self {
        Self {
            truth: table.truth(),
            probabilities: (0..table.classes().len()).map(|class| table.probabilities(class)).collect(),
            groups: table.groups().filter(|groups| groups.names().len() > 1).map(|groups| groups.codes()),
            group_count: table.groups().map_or(1, |groups| groups.names().len()),
            weights,
            labels: &[],
        }
    }

    fn rows(&self) -> usize {
        self.truth.len()
    }

    fn classes(&self) -> usize {
        self.probabilities.len()
    }

    /// Entries of the confusion matrices of all groups.
    fn entries(&self) -> usize {
        self.group_count * self.classes() * self.classes()
    }

    fn part(&self, rows: Range<usize>) -> Self {
        Self {
            truth: &self.truth[rows.clone()],
            probabilities: self.probabilities.iter().map(|column| &column[rows.clone()]).collect(),
            groups: self.groups.map(|codes| &codes[rows.clone()]),
            group_count: self.group_count,
            labels: self.labels.get(rows.clone()).unwrap_or(&[]),
            weights: self.weights.part(rows),
        }
    }

    fn group(&self, row: usize) -> usize {
        self.groups.map_or(0, |codes| usize::from(codes[row]))
    }

    /// What thresholds say of a row, one for everybody or one per group.
    fn by_threshold(&self, at: &[f64], row: usize) -> usize {
        let at = at[if at.len() == 1 { 0 } else { self.group(row) }];
        usize::from(accepts(self.probabilities[1][row], at))
    }

    /// The class within the group, as one number.
    fn slot(&self, row: usize) -> usize {
        self.group(row) * self.classes() + usize::from(self.truth[row])
    }

    /// Works on chunks of rows in parallel; the results are in the order of the chunks.
    fn by_chunks<R: Send>(&self, chunk: usize, work: impl Fn(Self) -> R + Sync) -> Vec<R> {
        let chunks = self.rows().div_ceil(chunk);
        let rows = |n: usize| n * chunk..((n + 1) * chunk).min(self.rows());
        (0..chunks).into_par_iter().map(|n| work(self.part(rows(n)))).collect()
    }

    /// Rows by what is said of them, one at a time.
    fn tally(&self, estimate: impl Fn(&Self, usize) -> usize + Sync) -> Vec<f64> {
        let partial = self.by_chunks(self.rows().div_ceil(256).max(1 << 16), |part| {
            let mut sums = vec![W::Sum::default(); part.entries()];
            for row in 0..part.rows() {
                sums[part.slot(row) * part.classes() + estimate(&part, row)] += part.weights.at(row);
            }
            sums
        });
        add_up(&partial, self.entries())
    }

    /// The blocks of a chunk, one after the other.
    fn blocks(&self) -> impl Iterator<Item = Self> {
        (0..self.rows()).step_by(BLOCK).map(|start| self.part(start..(start + BLOCK).min(self.rows())))
    }
}

/// What a rule predicts for one row: [`PostShift::predict`] on columns, with the same sums in the same order.
#[inline]
fn predict(rewards: &[f64], columns: &[&[f64]], row: usize) -> usize {
    let k = columns.len();
    let score = |j: usize| -> f64 { (0..k).map(|i| rewards[i * k + j] * columns[i][row]).sum() };
    largest((0..k).map(score))
}

/// Adds the sums of chunks, in their order.
fn add_up<S: Copy + Into<f64> + Sync>(partial: &[Vec<S>], size: usize) -> Vec<f64> {
    const PART: usize = 1 << 14;
    let mut totals = vec![0.0; size];
    totals.par_chunks_mut(PART).enumerate().for_each(|(n, totals)| {
        for sums in partial {
            totals.iter_mut().zip(&sums[n * PART..]).for_each(|(total, &sum)| *total += sum.into());
        }
    });
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Groups;
    use proptest::prelude::*;

    /// A table whose probabilities are multiples of 1/8 (ties abound) or arbitrary.
    fn table(k: usize, groups: usize, weighted: bool) -> impl Strategy<Value = Table> {
        let part = prop_oneof![(0..=8_u32).prop_map(f64::from), 0.0..8.0];
        let row = (prop::collection::vec(part, k), any::<u16>(), 0..=1000_u32);
        prop::collection::vec(row, groups.max(k)..60).prop_map(move |rows| {
            let n = rows.len();
            let truth = (0..n).map(|r| (if r < k { r } else { usize::from(rows[r].1) % k }) as u8).collect();
            let share = |row: &Vec<f64>, i: usize| {
                let sum: f64 = row.iter().sum();
                if sum > 0.0 { row[i] / sum } else { f64::from(i == 0) }
            };
            let columns = (0..k).map(|i| rows.iter().map(|row| share(&row.0, i)).collect()).collect();
            let names = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
            let mut table = Table::new(names(k), truth, columns).unwrap().data;
            if groups > 1 {
                let code =
                    |r: usize| (if r < groups { r } else { usize::from(rows[r].1) / 7 % groups }) as u16;
                table = table
                    .with_groups(Groups::new(names(groups), (0..n).map(code).collect()).unwrap())
                    .unwrap();
            }
            if weighted {
                // At least 1 for the rows that keep every class alive.
                table = table
                    .with_weights(rows.iter().map(|row| 1.0 + f64::from(row.2) / 7.0).collect())
                    .unwrap();
            }
            table
        })
    }

    fn rules(k: usize, groups: usize) -> impl Strategy<Value = Vec<PostShift>> {
        let reward = prop_oneof![(-4..=4_i32).prop_map(f64::from), -1.0..1.0, Just(0.0)];
        let matrices = prop_oneof![Just(1), Just(groups)];
        let matrix = prop::collection::vec(reward, k * k);
        let rule = matrices.prop_flat_map(move |m| prop::collection::vec(matrix.clone(), m));
        prop::collection::vec(rule.prop_map(move |w| PostShift::per_group(k, w).unwrap()), 1..70)
    }

    /// A plain double loop over rules and rows.
    fn referee(table: &Table, rules: &[PostShift]) -> Vec<Vec<f64>> {
        let (k, groups) = (table.classes().len(), table.groups().map_or(1, |g| g.names().len()));
        let mut counts = vec![vec![0.0; groups * k * k]; rules.len()];
        for (rule, counts) in rules.iter().zip(&mut counts) {
            for row in 0..table.rows() {
                let posterior: Vec<f64> = (0..k).map(|class| table.probabilities(class)[row]).collect();
                let group = table.groups().map_or(0, |g| usize::from(g.codes()[row]));
                let estimate = rule.predict(&posterior, group);
                let truth = usize::from(table.truth()[row]);
                counts[(group * k + truth) * k + estimate] += table.weights().map_or(1.0, |w| w[row]);
            }
        }
        counts
    }

    #[track_caller]
    fn same(found: &[Vec<f64>], expected: &[Vec<f64>], exact: bool) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            let near = (found - expected).abs() <= 1e-12 * expected.abs().max(1.0);
            assert!(if exact { found == expected } else { near }, "{found} {expected}");
        }
    }

    fn check(table: &Table, rules: &[PostShift]) {
        let expected = referee(table, rules);
        fn both<W: RowWeights>(
            table: &Table,
            weights: W,
            rules: &[PostShift],
            expected: &[Vec<f64>],
            exact: bool,
        ) {
            let columns = Columns::new(table, weights);
            same(&direct::pass(&columns, rules), expected, exact);
            if let Some(grid) = grid::Grid::for_table(&columns) {
                same(&grid::pass(&columns, &grid, rules), expected, exact);
            }
        }
        match table.weights() {
            None => both(table, Ones, rules, &expected, true),
            Some(weights) => both(table, weights, rules, &expected, false),
        }
        let asked: Vec<Rule> = rules.iter().cloned().map(Rule::PostShift).collect();
        let labels = vec![Cow::default(); asked.len()];
        same(&counts(table, table.weights(), &asked, &labels), &expected, table.weights().is_none());
    }

    fn tables_and_rules() -> impl Strategy<Value = (Table, Vec<PostShift>)> {
        let shape = (2..=5_usize, 1..=4_usize, any::<bool>());
        shape.prop_flat_map(|(k, groups, weighted)| (table(k, groups, weighted), rules(k, groups)))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_row_is_counted_where_the_rule_puts_it((table, rules) in tables_and_rules()) {
            check(&table, &rules);
        }
    }

    #[test]
    fn chunks_and_blocks_join_without_a_seam() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
        let rows = (1 << 17) + 2 * BLOCK + 3;
        let truth: Vec<u8> = (0..rows).map(|row| (row % 3) as u8).collect();
        let mut columns = vec![vec![], vec![], vec![]];
        for _ in 0..rows {
            let parts: [f64; 3] = std::array::from_fn(|_| -random.random::<f64>().ln());
            let sum: f64 = parts.iter().sum();
            (0..3).for_each(|i| columns[i].push(parts[i] / sum));
        }
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let table = Table::new(names, truth, columns).unwrap().data;
        let rule =
            |n: u32| PostShift::new(3, (0..9).map(|i| f64::from((i * n + 3) % 7) - 2.0).collect()).unwrap();
        check(&table, &(1..10).map(rule).collect::<Vec<_>>());
    }
}
