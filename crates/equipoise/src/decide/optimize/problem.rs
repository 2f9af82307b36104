//! What is prepared once: bases on both tables, training rows for moments, and where a classifier stands.

use super::oracle::Predictions;
use crate::error::Error;
use crate::population::{Ask, AskError, Basis, Moments, PlugIn, Rows, Training, Values, blend, evaluate};
use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;

/// So many validation rows per basis and class, or the weights follow the noise of the validation rows.
pub const ROWS_PER_WEIGHT: usize = 50;

/// Training rows, validation rows and bases, ready to be optimised over.
///
/// A basis on which a class never occurs, in one of the tables, says nothing about it and is dropped;
/// [`Problem::notes`] names it.
pub struct Problem<'a, T = Infallible> {
    pub(super) training: Ask<'a, T>,
    pub(super) validation: Validation<'a>,
    notes: Vec<String>,
}

impl<T> fmt::Debug for Problem<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problem")
            .field("bases", &self.bases())
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}

impl<'a, T> Problem<'a, T> {
    /// Evaluates the bases on both tables, which must have the same classes. The training rows may be a
    /// [`Population`](crate::population::Population) that is elsewhere.
    pub fn new<R: Training<Err = T>>(
        training: &'a R,
        validation: &'a Rows<'a>,
        bases: Vec<Basis>,
    ) -> Result<Self, AskError<T>> {
        let k = training.classes();
        if validation.classes() != k {
            let found = validation.classes();
            let what = format!("{found} classes in the validation rows, but {k} in the training rows");
            return Err(Error::Mismatch(what).into());
        }
        let mut notes = Vec::new();
        let mut ask = training.moments(&bases)?;
        let there = &ask(&[PlugIn::most_likely(k, bases.len())]).map_err(AskError::Population)?[0];
        let (asked, mut kept, mut on_validation) = (bases.len(), Vec::new(), Vec::new());
        let values = evaluate(&bases, validation.scores())?;
        for (n, (basis, here)) in bases.into_iter().zip(values).enumerate() {
            let mass = |row: &[f64]| row.iter().sum::<f64>();
            let missing = there.first(n).chunks(k).position(|row| mass(row) <= NOTHING);
            let empty = empty_class(validation, &here).map(|class| ("validation", class));
            let empty = empty.or_else(|| missing.map(|class| ("training", class)));
            match empty {
                Some((table, class)) => notes.push(format!(
                    "basis {} was dropped: no {table} row of class {class} belongs to it",
                    basis.name(&[])
                )),
                None => {
                    kept.push(basis);
                    on_validation.push(here);
                }
            }
        }
        if kept.is_empty() {
            let what = "no basis is left, expected one on which every class occurs in both tables";
            return Err(Error::Mismatch(what.to_owned()).into());
        }
        if kept.len() < asked {
            ask = training.moments(&kept)?;
        }
        let needed = ROWS_PER_WEIGHT * kept.len() * k;
        if validation.len() < needed {
            notes.push(format!(
                "{} validation rows are few for {} and {k} classes: about {needed} keep the weights from following noise",
                validation.len(),
                if kept.len() == 1 { "1 basis".to_owned() } else { format!("{} bases", kept.len()) },
            ));
        }
        let validation = Validation { rows: validation, bases: kept, values: on_validation };
        Ok(Self { training: ask, validation, notes })
    }

    /// The bases that are left.
    pub fn bases(&self) -> &[Basis] {
        &self.validation.bases
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

    /// Predicted labels of the validation rows, as a judge sees them.
    pub fn predictions(&self, labels: &[u8]) -> Predictions<'_> {
        self.validation.predictions(labels)
    }

    /// Where a rule stands on both tables.
    pub(super) fn position(&self, rule: &PlugIn) -> Result<Position, T> {
        Ok(self.positions(std::slice::from_ref(rule))?.remove(0))
    }

    /// Where rules stand on both tables.
    pub(super) fn positions(&self, rules: &[PlugIn]) -> Result<Vec<Position>, T> {
        let position = |(rule, training): (&PlugIn, Moments)| {
            let labels = rule.predict(self.validation.rows.scores(), &self.validation.values);
            Position { training, standing: self.validation.standing(&labels) }
        };
        Ok(rules.iter().zip((self.training)(rules)?).map(position).collect())
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
    pub bases: Vec<Basis>,
    pub values: Vec<Values<'a>>,
}

impl Validation<'_> {
    /// Predicted labels, as a judge sees them.
    pub fn predictions(&self, labels: &[u8]) -> Predictions<'_> {
        Predictions::new(self, Cow::Owned(self.standing(labels)), &[])
    }

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
    use crate::error::Result;
    use crate::population::{Column, Scores};

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
