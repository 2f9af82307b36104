//! What is prepared once: bases on both tables, training rows for moments, and where a classifier stands.

use super::basis::{Basis, Values, evaluate};
use super::moments::{Moments, Training, blend};
use super::oracle::Predictions;
use super::rows::Rows;
use super::rule::Rule;
use crate::error::{Error, Result};
use std::borrow::Cow;

/// So many validation rows per basis and class, or the weights follow the noise of the validation rows.
pub const ROWS_PER_WEIGHT: usize = 50;

/// Training rows, validation rows and bases, ready to be optimised over.
///
/// A basis on which a class never occurs, in one of the tables, says nothing about it and is dropped;
/// [`Problem::notes`] names it.
#[derive(Debug)]
pub struct Problem<'a> {
    bases: Vec<Basis>,
    pub(super) training: Training<'a>,
    pub(super) validation: Validation<'a>,
    notes: Vec<String>,
}

impl<'a> Problem<'a> {
    /// Evaluates the bases on both tables, which must have the same classes.
    pub fn new(training: &'a Rows<'a>, validation: &'a Rows<'a>, bases: Vec<Basis>) -> Result<Self> {
        let k = training.classes();
        if validation.classes() != k {
            let found = validation.classes();
            return Err(Error::Mismatch(format!(
                "{found} classes in the validation rows, but {k} in the training rows"
            )));
        }
        let mut notes = Vec::new();
        let (mut kept, mut on_training, mut on_validation) = (Vec::new(), Vec::new(), Vec::new());
        let values =
            evaluate(&bases, training.scores())?.into_iter().zip(evaluate(&bases, validation.scores())?);
        for (basis, (there, here)) in bases.into_iter().zip(values) {
            let empty = empty_class(validation, &here).map(|class| ("validation", class));
            let empty = empty.or_else(|| empty_class(training, &there).map(|class| ("training", class)));
            match empty {
                Some((table, class)) => notes.push(format!(
                    "basis {} was dropped: no {table} row of class {class} belongs to it",
                    basis.name(&[])
                )),
                None => {
                    kept.push(basis);
                    on_training.push(there);
                    on_validation.push(here);
                }
            }
        }
        if kept.is_empty() {
            let what = "no basis is left, expected one on which every class occurs in both tables";
            return Err(Error::Mismatch(what.to_owned()));
        }
        let needed = ROWS_PER_WEIGHT * kept.len() * k;
        if validation.len() < needed {
            notes.push(format!(
                "{} validation rows are few for {} and {k} classes: about {needed} keep the weights from following noise",
                validation.len(),
                if kept.len() == 1 { "1 basis".to_owned() } else { format!("{} bases", kept.len()) },
            ));
        }
        let validation = Validation { rows: validation, values: on_validation };
        Ok(Self { bases: kept, training: Training::new(training, on_training), validation, notes })
    }

    /// The bases that are left.
    pub fn bases(&self) -> &[Basis] {
        &self.bases
    }

    /// What was dropped, and what is doubtful.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.validation.rows.classes()
    }

    /// The validation rows.
    pub fn validation(&self) -> &'a Rows<'a> {
        self.validation.rows
    }

    /// Whether training rows are counted by presorted atoms rather than one by one.
    pub fn is_presorted(&self) -> bool {
        matches!(self.training, Training::Atoms(_))
    }

    /// Predicted labels of the validation rows, as a judge sees them.
    pub fn predictions(&self, labels: &[u8]) -> Predictions<'_> {
        Predictions::new(self, Cow::Owned(self.validation.standing(labels)), &[])
    }

    /// Where a rule stands on both tables.
    pub(super) fn position(&self, rule: &Rule) -> Position {
        let labels = rule.predict(self.validation.rows.scores(), &self.validation.values);
        Position { training: self.training.moments(rule), standing: self.validation.standing(&labels) }
    }
}

/// What counts for less than this on a basis does not belong to it: its square would underflow.
const NOTHING: f64 = 1e-100;

/// The first class without a row on a basis.
fn empty_class(rows: &Rows, values: &Values) -> Option<usize> {
    let mut found = vec![false; rows.classes()];
    let mut missing = found.len();
    for row in 0..rows.len() {
        let class = usize::from(rows.truth()[row]);
        if !found[class] && values.at(row) * rows.weight(row) > NOTHING {
            found[class] = true;
            missing -= 1;
            // Classes turn up within a few rows; there is no need to read on.
            if missing == 0 {
                return None;
            }
        }
    }
    found.iter().position(|found| !found)
}

/// The validation rows and the bases on them.
#[derive(Debug)]
pub(super) struct Validation<'a> {
    pub rows: &'a Rows<'a>,
    pub values: Vec<Values<'a>>,
}

impl Validation<'_> {
    /// Where predicted labels stand.
    pub fn standing(&self, labels: &[u8]) -> Standing {
        let (k, groups) = (self.rows.classes(), self.rows.groups());
        let mut standing = Standing {
            soft: vec![0.0; labels.len() * k],
            confusions: vec![0.0; groups * k * k],
            weighted: vec![0.0; self.values.len() * groups * k * k],
        };
        for (row, &label) in labels.iter().enumerate() {
            standing.soft[row * k + usize::from(label)] = 1.0;
            let truth = usize::from(self.rows.truth()[row]);
            let entry = (self.rows.group(row) * k + truth) * k + usize::from(label);
            let mass = self.rows.weight(row);
            standing.confusions[entry] += mass;
            for (basis, values) in self.values.iter().enumerate() {
                standing.weighted[basis * groups * k * k + entry] += mass * values.at(row);
            }
        }
        // Divided last, as `Rows::confusions` does: the same labels have the same values to the last bit.
        let total = self.rows.total();
        standing.confusions.iter_mut().chain(&mut standing.weighted).for_each(|sum| *sum /= total);
        standing
    }
}

/// A classifier on the validation rows.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    /// Predicted distribution of every row, row after row.
    pub soft: Vec<f64>,
    /// Joint probabilities by group, truth and estimate.
    pub confusions: Vec<f64>,
    /// The same weighted by each basis.
    pub weighted: Vec<f64>,
}

/// A classifier on both tables.
#[derive(Debug, Clone)]
pub(super) struct Position {
    pub training: Moments,
    pub standing: Standing,
}

impl Position {
    /// The classifier that follows `other` with probability `share`.
    pub fn mix(&mut self, share: f64, other: &Self) {
        self.training.mix(share, &other.training);
        blend(&mut self.standing.soft, share, &other.standing.soft);
        blend(&mut self.standing.confusions, share, &other.standing.confusions);
        blend(&mut self.standing.weighted, share, &other.standing.weighted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::optimize::rows::{Column, Scores};

    #[test]
    fn a_basis_without_a_class_is_dropped_by_name() -> Result<()> {
        let positive = [0.1, 0.2, 0.7, 0.9];
        let (flag, other) = ([true, true, false, false], [true, false, true, false]);
        let scores = Scores::new(vec![&positive])?;
        let scores =
            scores.with_column("old", Column::Flags(&flag))?.with_column("new", Column::Flags(&other))?;
        let rows = Rows::new(scores, &[0, 0, 1, 1])?;
        let bases = ["old", "new"].map(Basis::column).to_vec();
        let problem = Problem::new(&rows, &rows, bases)?;
        assert_eq!(problem.bases(), [Basis::column("new")]);
        assert_eq!(problem.notes()[0], "basis old was dropped: no validation row of class 1 belongs to it");
        assert!(
            problem.notes()[1].starts_with("4 validation rows are few for 1 basis and 2 classes: about 100")
        );
        assert!(Problem::new(&rows, &rows, vec![Basis::column("old")]).is_err());
        // Nowhere quite zero, but the squares of its values are.
        let far = Basis::Radial { features: vec![], centres: vec![vec![0.0, 500.0]], width: 1.0 };
        assert_eq!(Problem::new(&rows, &rows, vec![Basis::All, far])?.bases(), [Basis::All]);
        Ok(())
    }
}
