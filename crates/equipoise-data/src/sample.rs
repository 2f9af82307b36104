//! A table as a population: what its rows say about any rule.

use crate::kernel;
use crate::table::Table;
use equipoise::population::{
    Ask, AskError, Basis, Cell, Column, Confusions, Moments, Population, Profile, Rows, Rule, Score, Scores,
    Totals, resampling,
};
use equipoise::rates::{GroupConfusions, Prevalence};
use rayon::prelude::*;
use std::borrow::{Borrow, Cow};
use std::convert::Infallible;

/// How many decisions of rules are held at a time, four bytes each.
const MOST_DECISIONS: usize = 1 << 26;

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

    /// The table, given back.
    pub fn into_table(self) -> T {
        self.table
    }

    /// The table.
    pub fn table(&self) -> &Table {
        self.table.borrow()
    }

    /// The rows as searches over predictions see them; group number n is the column `group n`.
    pub fn rows(&self) -> equipoise::Result<Rows<'_>> {
        rows_of(self.table())
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
    /// If a rule is for other classes or groups than the table has, or names a model or a column that it has not.
    fn confusions(&self, rules: &[Rule]) -> Result<Vec<GroupConfusions>, Infallible> {
        self.check(rules);
        let counts = kernel::counts(self.table(), self.table().weights(), rules, &self.labels(rules));
        Ok(counts.iter().map(|counts| shares(counts, self.classes(), self.totals.overall().weight)).collect())
    }
}

impl<T: Borrow<Table>> Population for Sample<T> {
    type Part = Sample<Table>;

    fn sample(&self, rows: usize, seed: u64) -> Result<Self::Part, Infallible> {
        Ok(Sample::new(self.table().subsample(rows, seed)).expect("every class keeps a row that weighs"))
    }

    fn moments(&self, bases: &[Basis]) -> Result<Ask<'_, Infallible>, AskError<Infallible>> {
        Ok(self.rows()?.moments(bases)?)
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

    /// Every row is decided once; a draw only counts the decisions.
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
        let mut drawn = vec![Vec::with_capacity(rules.len()); draws];
        // As many rules at a time as their decisions fit in a modest part of the memory.
        for some in rules.chunks((MOST_DECISIONS / self.table().rows()).max(1)) {
            let slots = kernel::slots(self.table(), some, &self.labels(some));
            let (table, k, groups) = (self.table(), self.classes(), self.groups());
            let draw = |(number, drawn): (usize, &mut Vec<GroupConfusions>)| {
                let counts = draw_again(table, &slots, groups * k * k, (seed, number as u64));
                drawn.extend(counts.iter().map(|counts| shares(counts, k, counts.iter().sum())));
            };
            drawn.par_iter_mut().enumerate().for_each(draw);
        }
        Ok(drawn)
    }
}

impl<T: Borrow<Table>> Sample<T> {
    /// What rules that say so themselves predict for every row; nothing for the others.
    pub(crate) fn labels(&self, rules: &[Rule]) -> Vec<Cow<'_, [u8]>> {
        let of_rule = |rule: &Rule| match rule {
            Rule::Labels(model) => {
                let found = self.table().labels().iter().find(|(name, _)| name == model);
                Cow::Borrowed(&found.expect("a model whose labels the table has").1[..])
            }
            Rule::Classifier(classifier) => {
                let labels = self.rows().and_then(|rows| classifier.predict(rows.scores()));
                Cow::Owned(labels.expect("a classifier of columns that the table has"))
            }
            Rule::PostShift(_) | Rule::Threshold(_) => Cow::default(),
        };
        rules.iter().map(of_rule).collect()
    }
}

/// The rows of a table as searches over predictions see them; group number n is the column `group n`.
pub(crate) fn rows_of(table: &Table) -> equipoise::Result<Rows<'_>> {
    let mut scores =
        Scores::new((0..table.classes().len()).map(|class| table.probabilities(class)).collect())?;
    for (name, values) in table.columns() {
        scores = scores.with_column(name, Column::Reals(values))?;
    }
    for (code, name) in table.groups().iter().flat_map(|groups| groups.names()).enumerate() {
        let codes = table.groups().map_or(&[][..], |groups| groups.codes());
        scores = scores.with_column(format!("group {name}"), Column::Code(codes, code as u16))?;
    }
    let mut rows = Rows::new(scores, table.truth())?;
    if let Some(groups) = table.groups() {
        rows = rows.with_groups(groups.codes(), groups.names().len())?;
    }
    match table.weights() {
        Some(weights) => rows.with_weights(weights),
        None => Ok(rows),
    }
}

/// The counts of every rule in one draw of the rows, from the entry of its matrices that each row adds to.
fn draw_again(table: &Table, slots: &[Vec<u32>], entries: usize, (seed, draw): (u64, u64)) -> Vec<Vec<f64>> {
    for attempt in 0.. {
        let times = resampling(seed, draw, attempt);
        let mut counts = vec![vec![0.0; entries]; slots.len()];
        let mut total = 0.0;
        for row in 0..table.rows() {
            let weight = times(row as u64) * table.weight(row);
            total += weight;
            for (counts, slots) in counts.iter_mut().zip(slots) {
                counts[slots[row] as usize] += weight;
            }
        }
        if total > 0.0 {
            return counts;
        }
    }
    unreachable!("a table has rows that weigh something")
}

/// The moments of a rule over all rows, from its counts by group.
pub(crate) fn moments_of_all(counts: &[f64], k: usize, total: f64) -> Moments {
    let mut moments = Moments::new(1, k);
    for counts in counts.chunks(k * k) {
        let entries = counts.iter().enumerate();
        entries.for_each(|(entry, &count)| moments.add(&[(0, 1.0)], entry, count));
    }
    moments.finish(total);
    moments
}

/// Counts as joint probabilities.
pub(crate) fn shares(counts: &[f64], k: usize, total: f64) -> GroupConfusions {
    let share = |counts: &[f64]| counts.iter().map(|count| count / total).collect();
    GroupConfusions::new(k, counts.chunks(k * k).map(share).collect()).expect("shares of a positive total")
}
