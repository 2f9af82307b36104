//! Which numbers of a confusion matrix a point lists.
//!
//! Metrics and searches work on plain vectors. A [`View`] says what the entries of such a vector mean, so
//! that a point can be read off a confusion matrix and shown to a person in words.

use crate::error::{Error, Result, check, refuse};
use crate::rates::{GroupConfusions, off_diagonal_pairs};
use serde::{Deserialize, Serialize};

/// Points have up to the square of this many coordinates; beyond it a document is more likely wrong than large.
const MOST_CLASSES: usize = 1000;

/// A point of a query space: the entries a [`View`] lists.
pub type Point = Vec<f64>;

/// Which entries of a confusion matrix are listed, in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// (true positive, true negative) as joint probabilities; class 1 is the positive one.
    Binary,
    /// The diagonal of the confusion matrix, joint probabilities.
    Diagonal,
    /// The off-diagonal of the confusion matrix, row-major, joint probabilities.
    OffDiagonal,
    /// Recall per class.
    DiagonalRates,
    /// Error rates $P(h=j \mid Y=i)$, row-major.
    OffDiagonalRates,
    /// Error rates within each group, group after group.
    GroupRates,
    /// Attributes of anything, as a metric of attributes lists them: nothing that is read off a confusion matrix.
    Attributes,
}

impl Measure {
    /// All measures of confusion matrices, in the order of the documentation.
    pub const ALL: [Measure; 6] = [
        Measure::Binary,
        Measure::Diagonal,
        Measure::OffDiagonal,
        Measure::DiagonalRates,
        Measure::OffDiagonalRates,
        Measure::GroupRates,
    ];

    /// The name used in documents.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Binary => "binary",
            Measure::Diagonal => "diagonal",
            Measure::OffDiagonal => "off_diagonal",
            Measure::DiagonalRates => "diagonal_rates",
            Measure::OffDiagonalRates => "off_diagonal_rates",
            Measure::GroupRates => "group_rates",
            Measure::Attributes => "attributes",
        }
    }

    /// Whether a larger entry is an error rather than a success.
    pub fn lists_errors(self) -> bool {
        matches!(self, Measure::OffDiagonal | Measure::OffDiagonalRates | Measure::GroupRates)
    }
}

/// A measure for a given number of classes and groups: what the entries of a [`Point`] mean.
///
/// ```
/// use equipoise::{Measure, View};
/// let view = View::new(Measure::OffDiagonalRates, 3, 1)?;
/// assert_eq!(view.dimension(), 6);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    measure: Measure,
    classes: usize,
    groups: usize,
}

impl View {
    /// A view; `groups` is 1 except for [`Measure::GroupRates`].
    pub fn new(measure: Measure, classes: usize, groups: usize) -> Result<Self> {
        let ok = (2..=MOST_CLASSES).contains(&classes);
        check::number("classes", classes as f64, ok, "a whole number from 2 to 1000")?;
        match measure {
            Measure::Binary if classes != 2 => {
                let what = format!("measure \"binary\" has 2 classes, found {classes}");
                return Err(Error::Mismatch(what));
            }
            Measure::GroupRates => check::at_least("groups", groups, 2, "at least 2")?,
            _ => check::number("groups", groups as f64, groups == 1, "1 for this measure")? as usize,
        };
        Ok(Self { measure, classes, groups })
    }

    /// What is listed.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Number of classes; of attributes, how many there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Length of a point.
    pub fn dimension(&self) -> usize {
        let k = self.classes;
        match self.measure {
            Measure::Binary => 2,
            Measure::Diagonal | Measure::DiagonalRates | Measure::Attributes => k,
            Measure::OffDiagonal | Measure::OffDiagonalRates => k * k - k,
            Measure::GroupRates => self.groups * (k * k - k),
        }
    }

    /// The (group, truth, estimate) each coordinate of a point stands for.
    pub fn entries(&self) -> Vec<(usize, usize, usize)> {
        let k = self.classes;
        match self.measure {
            Measure::Binary => vec![(0, 1, 1), (0, 0, 0)],
            // Attributes have no place in a confusion matrix.
            Measure::Attributes => vec![],
            Measure::Diagonal | Measure::DiagonalRates => (0..k).map(|i| (0, i, i)).collect(),
            _ => (0..self.groups).flat_map(|g| off_diagonal_pairs(k).map(move |(i, j)| (g, i, j))).collect(),
        }
    }

    /// Reads the point off a confusion matrix.
    pub fn of(&self, confusions: &GroupConfusions) -> Result<Point> {
        refuse!(
            self.measure == Measure::Attributes,
            "a metric of attributes is not read off predictions or counts, expected one of classification errors"
        );
        if confusions.classes() != self.classes {
            let (found, expected) = (confusions.classes(), self.classes);
            let what = format!("the confusion matrix has {found} classes, the view has {expected}");
            return Err(Error::Mismatch(what));
        }
        match self.measure {
            Measure::Binary => Ok(confusions.overall().binary().to_vec()),
            Measure::Diagonal => Ok(confusions.overall().diagonal()),
            Measure::OffDiagonal => Ok(confusions.overall().off_diagonal()),
            Measure::DiagonalRates => Ok(confusions.overall().rates()?.diagonal()),
            Measure::OffDiagonalRates => Ok(confusions.overall().rates()?.off_diagonal()),
            Measure::GroupRates => {
                check::length("groups of the confusion matrix", confusions.groups(), self.groups)?;
                let groups = (0..self.groups).map(|g| Ok(confusions.rates(g)?.off_diagonal()));
                Ok(groups.collect::<Result<Vec<_>>>()?.concat())
            }
            Measure::Attributes => Ok(vec![]),
        }
    }

    /// How the point moves when predictions change the confusion matrices by this much, group by group, row-major.
    ///
    /// Truths stay, so every class keeps its prior in every group.
    pub(crate) fn change(&self, confusions: &GroupConfusions, change: &[f64]) -> Point {
        let k = self.classes;
        let grouped = self.measure == Measure::GroupRates;
        let joint = matches!(self.measure, Measure::Binary | Measure::Diagonal | Measure::OffDiagonal);
        let of = |(g, i, j): (usize, usize, usize)| {
            let groups = if grouped { g..g + 1 } else { 0..confusions.groups() };
            let moved: f64 = groups.clone().map(|g| change[(g * k + i) * k + j]).sum();
            let prior = || groups.flat_map(|g| (0..k).map(move |l| confusions.get(g, i, l))).sum::<f64>();
            if joint { moved } else { moved / prior() }
        };
        self.entries().into_iter().map(of).collect()
    }

    /// Says that two views differ, in one sentence, unless they agree.
    pub fn expect(&self, what: &str, other: &View, other_what: &str) -> Result<()> {
        if self == other {
            return Ok(());
        }
        Err(Error::Mismatch(format!("{what} has {self}, but {other_what} has {other}")))
    }
}

impl std::fmt::Display for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.measure == Measure::Attributes {
            return write!(f, "{} attributes", self.classes);
        }
        write!(f, "measure \"{}\" with {} classes", self.measure.name(), self.classes)?;
        if self.groups > 1 { write!(f, " and {} groups", self.groups) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_predictions_moves_every_view_as_far() -> Result<()> {
        let entries = [
            0.10, 0.02, 0.03, 0.04, 0.08, 0.05, 0.01, 0.06, 0.11, 0.09, 0.05, 0.06, 0.07, 0.08, 0.02, 0.03,
            0.04, 0.06,
        ];
        let at = |entries: &[f64]| GroupConfusions::new(3, entries.chunks(9).map(<[f64]>::to_vec).collect());
        // Within a true class of a group, from one prediction to another.
        let mut change = vec![0.0; 18];
        for (from, to, step) in [(0, 1, 0.01), (4, 3, 0.02), (11, 9, 0.03), (15, 17, 0.005)] {
            change[from] -= step;
            change[to] += step;
        }
        let after: Vec<f64> = entries.iter().zip(&change).map(|(entry, change)| entry + change).collect();
        for measure in Measure::ALL.into_iter().filter(|&measure| measure != Measure::Binary) {
            let view = View::new(measure, 3, if measure == Measure::GroupRates { 2 } else { 1 })?;
            let (before, after) = (view.of(&at(&entries)?)?, view.of(&at(&after)?)?);
            let moved = view.change(&at(&entries)?, &change);
            for n in 0..view.dimension() {
                assert!((after[n] - before[n] - moved[n]).abs() < 1e-15, "{view}: {n}");
            }
        }
        Ok(())
    }

    #[test]
    fn every_view_reads_the_entries_it_names() -> Result<()> {
        let groups = vec![vec![0.2, 0.1, 0.1, 0.1], vec![0.3, 0.05, 0.05, 0.1]];
        let confusions = GroupConfusions::new(2, groups)?;
        for measure in Measure::ALL {
            let groups = if measure == Measure::GroupRates { 2 } else { 1 };
            let view = View::new(measure, 2, groups)?;
            let point = view.of(&confusions)?;
            assert_eq!(point.len(), view.dimension());
            assert_eq!(view.entries().len(), view.dimension());
            for (value, (g, i, j)) in point.iter().zip(view.entries()) {
                let expected = match measure {
                    Measure::Binary | Measure::Diagonal | Measure::OffDiagonal => {
                        confusions.overall().get(i, j)
                    }
                    Measure::GroupRates => confusions.rates(g)?.get(i, j),
                    _ => confusions.overall().rates()?.get(i, j),
                };
                assert_eq!(*value, expected);
            }
        }
        Ok(())
    }
}
