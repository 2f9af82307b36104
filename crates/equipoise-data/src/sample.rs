//! A table as a population: what its rows say about any rule.

use crate::kernel;
use crate::table::Table;
use equipoise::population::{Cell, Confusions, Population, Profile, Resampling, Rule, Score, Totals};
use equipoise::rates::{GroupConfusions, Prevalence};
use rayon::prelude::*;
use std::borrow::Borrow;
use std::convert::Infallible;

/// The rows of a table, taken for the whole population. Holds a table, or anything that lends one.
///
/// ```
/// use equipoise::population::{Confusions, Rule};
/// use equipoise_data::{Sample, Table};
/// let classes = vec!["benign".to_owned(), "malignant".to_owned()];
/// let table = Table::new(classes, vec![0, 1, 1], vec![vec![0.9, 0.2, 0.6], vec![0.1, 0.8, 0.4]])?.data;
/// let sample = Sample::new(&table)?;
/// let Ok(confusions) = sample.confusions(&[Rule::most_likely(2)?, Rule::Threshold(vec![0.3])]);
/// assert_eq!(confusions[0].get(0, 1, 1), 1.0 / 3.0); // one of two malignant cases is found
/// assert_eq!(confusions[1].get(0, 1, 1), 2.0 / 3.0); // from 0.3 on both are
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sample<T: Borrow<Table>> {
    table: T,
    totals: Totals,
    prevalence: Prevalence,
}

impl<T: Borrow<Table>> Sample<T> {
    /// Counts classes and groups.
    pub fn new(table: T) -> equipoise::Result<Self> {
        let totals = table.borrow().totals();
        Ok(Self { table, prevalence: totals.prevalence()?, totals })
    }

    /// The table.
    pub fn table(&self) -> &Table {
        self.table.borrow()
    }

    /// # Panics
    /// If a rule is for another number of classes, or of groups, than the table has.
    fn check(&self, rules: &[Rule]) {
        for rule in rules {
            rule.check(self.classes(), self.groups())
                .expect("a rule for other classes or groups than the table has");
        }
    }
}

impl<T: Borrow<Table>> Confusions for Sample<T> {
    type Err = Infallible;
    type Rule = Rule;

    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    /// One pass over the rows for all rules.
    ///
    /// # Panics
    /// If a rule is for another number of classes, or of groups, than the table has.
    fn confusions(&self, rules: &[Rule]) -> Result<Vec<GroupConfusions>, Infallible> {
        self.check(rules);
        let counts = kernel::counts(self.table(), self.table().weights(), rules);
        Ok(counts.iter().map(|counts| shares(counts, self.classes(), self.totals.overall().weight)).collect())
    }
}

impl<T: Borrow<Table>> Population for Sample<T> {
    type Part = Sample<Table>;

    fn sample(&self, rows: usize, seed: u64) -> Result<Self::Part, Infallible> {
        Ok(Sample::new(self.table().subsample(rows, seed)).expect("every class keeps a row that weighs"))
    }

    fn totals(&self) -> Result<Totals, Infallible> {
        Ok(self.totals.clone())
    }

    fn score_profile(&self, score: Score) -> Result<Profile, Infallible> {
        let table = self.table();
        let cell = |row: usize| {
            let truth = usize::from(table.truth()[row]);
            let (score, positive) = score.of(truth, |class| table.probabilities(class)[row])?;
            Some(Cell { score, weight: table.weight(row), rows: 1, group: table.group(row) as u16, positive })
        };
        let mut cells: Vec<Cell> = (0..table.rows()).into_par_iter().filter_map(cell).collect();
        cells.par_sort_unstable_by(Cell::order);
        Ok(Profile::new(cells, self.groups(), self.totals.overall().weight))
    }

    /// One pass per draw.
    ///
    /// # Panics
    /// As [`Sample::confusions`].
    fn resampled(
        &self,
        rules: &[Rule],
        seed: u64,
        draws: usize,
    ) -> Result<Vec<Vec<GroupConfusions>>, Infallible> {
        self.check(rules);
        let mut weights = vec![0.0; self.table().rows()];
        let mut draw = |number: u64| {
            self.draw_again(seed, number, &mut weights);
            let counts = kernel::counts(self.table(), Some(&weights), rules);
            counts.iter().map(|counts| shares(counts, self.classes(), counts.iter().sum())).collect()
        };
        Ok((0..draws as u64).map(&mut draw).collect())
    }
}

impl<T: Borrow<Table>> Sample<T> {
    /// What the rows weigh in one draw of them.
    fn draw_again(&self, seed: u64, draw: u64, weights: &mut [f64]) {
        for attempt in 0.. {
            let again = Resampling::new(seed, draw, attempt);
            weights.par_iter_mut().enumerate().for_each(|(row, weight)| *weight = again.times(row as u64));
            if let Some(given) = self.table().weights() {
                weights.par_iter_mut().zip(given).for_each(|(weight, given)| *weight *= given);
            }
            if weights.par_iter().any(|&weight| weight > 0.0) {
                return;
            }
        }
    }
}

/// Counts as joint probabilities.
pub(crate) fn shares(counts: &[f64], k: usize, total: f64) -> GroupConfusions {
    let share = |counts: &[f64]| counts.iter().map(|count| count / total).collect();
    GroupConfusions::new(k, counts.chunks(k * k).map(share).collect()).expect("shares of a positive total")
}
