//! How many rows there are, and what they weigh.

use crate::error::Result;
use crate::rates::{GroupShares, Prevalence};

/// Rows of one class in one group.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Total {
    /// How many.
    pub rows: u64,
    /// What they weigh together; as many as there are, without weights.
    pub weight: f64,
    /// The sum of their squared weights.
    pub squares: f64,
}

impl Total {
    /// Counts one more row.
    pub fn add(&mut self, weight: f64) {
        self.rows += 1;
        self.weight += weight;
        self.squares += weight * weight;
    }

    /// The rows of both.
    pub fn and(self, other: Self) -> Self {
        let squares = self.squares + other.squares;
        Self { rows: self.rows + other.rows, weight: self.weight + other.weight, squares }
    }

    /// How many unweighted rows say as much: $(\sum w)^2 / \sum w^2$ (Kish 1965).
    pub fn effective_rows(&self) -> f64 {
        if self.squares > 0.0 { self.weight * self.weight / self.squares } else { 0.0 }
    }
}

/// Rows of every class in every group.
#[derive(Debug, Clone, PartialEq)]
pub struct Totals {
    /// By group and class; one group where there are none.
    pub cells: Vec<Vec<Total>>,
    /// Whether rows have weights.
    pub weighted: bool,
}

impl Totals {
    /// No rows yet.
    pub fn new(classes: usize, groups: usize, weighted: bool) -> Self {
        Self { cells: vec![vec![Total::default(); classes]; groups], weighted }
    }

    /// All rows of a class.
    pub fn of_class(&self, class: usize) -> Total {
        self.cells.iter().fold(Total::default(), |sum, group| sum.and(group[class]))
    }

    /// All rows of a group.
    pub fn of_group(&self, group: usize) -> Total {
        self.cells[group].iter().fold(Total::default(), |sum, cell| sum.and(*cell))
    }

    /// All rows.
    pub fn overall(&self) -> Total {
        (0..self.cells[0].len()).fold(Total::default(), |sum, class| sum.and(self.of_class(class)))
    }

    /// Class priors and group shares; every class needs some weight.
    pub fn prevalence(&self) -> Result<Prevalence> {
        let classes: Vec<f64> = (0..self.cells[0].len()).map(|class| self.of_class(class).weight).collect();
        let share = |group: &Vec<Total>| {
            group.iter().zip(&classes).map(|(part, whole)| part.weight / whole).collect()
        };
        let shares = GroupShares::new(self.cells.iter().map(share).collect())?;
        let total: f64 = classes.iter().sum();
        Prevalence::with_groups(classes.iter().map(|class| class / total).collect(), shares)
    }
}
