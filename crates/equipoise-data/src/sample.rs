//! A table as a population: what its rows say about any rule.

use crate::kernel;
use crate::table::Table;
use equipoise::population::{Population, PostShift};
use equipoise::rates::{GroupConfusions, GroupShares, Prevalence};
use std::borrow::Borrow;

/// The rows of a table, taken for the whole population. Holds a table, or anything that lends one.
///
/// ```
/// use equipoise::population::{Population, PostShift};
/// use equipoise_data::{Sample, Table};
/// let classes = vec!["benign".to_owned(), "malignant".to_owned()];
/// let table = Table::new(classes, vec![0, 1, 1], vec![vec![0.9, 0.2, 0.6], vec![0.1, 0.8, 0.4]])?.data;
/// let sample = Sample::new(&table)?;
/// let most_likely = PostShift::diagonal(&[1.0, 1.0])?;
/// let confusions = &sample.confusions(&[most_likely])[0];
/// assert_eq!(confusions.get(0, 1, 1), 1.0 / 3.0); // one of two malignant cases is found
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sample<T: Borrow<Table>> {
    table: T,
    prevalence: Prevalence,
    total: f64,
}

impl<T: Borrow<Table>> Sample<T> {
    /// Counts classes and groups.
    pub fn new(table: T) -> equipoise::Result<Self> {
        let totals = table.borrow().totals();
        let of_class = |class: usize| totals.iter().map(|group| group[class]).sum::<f64>();
        let classes: Vec<f64> = (0..table.borrow().classes().len()).map(of_class).collect();
        let total = classes.iter().sum();
        let share = |group: &Vec<f64>| group.iter().zip(&classes).map(|(part, whole)| part / whole).collect();
        let shares = GroupShares::new(totals.iter().map(share).collect())?;
        let priors = classes.iter().map(|class| class / total).collect();
        Ok(Self { table, prevalence: Prevalence::with_groups(priors, shares)?, total })
    }

    /// The table.
    pub fn table(&self) -> &Table {
        self.table.borrow()
    }

    /// The number of rows, or their total weight.
    pub fn total(&self) -> f64 {
        self.total
    }
}

impl<T: Borrow<Table>> Population for Sample<T> {
    fn prevalence(&self) -> &Prevalence {
        &self.prevalence
    }

    /// One pass over the rows for all rules.
    ///
    /// # Panics
    /// If a rule is for another number of classes, or of groups, than the table has.
    fn confusions(&self, rules: &[PostShift]) -> Vec<GroupConfusions> {
        let (k, groups) = (self.classes(), self.groups());
        for rule in rules {
            assert_eq!(rule.classes(), k, "a rule for {} classes on a table of {k}", rule.classes());
            assert!(rule.serves(groups), "a rule per group, but not for {groups} groups");
        }
        let share = |counts: &[f64]| counts.iter().map(|count| count / self.total).collect();
        let confusions = |counts: Vec<f64>| {
            GroupConfusions::new(k, counts.chunks(k * k).map(share).collect()).expect("shares of the total")
        };
        kernel::counts(self.table(), rules).into_iter().map(confusions).collect()
    }
}
