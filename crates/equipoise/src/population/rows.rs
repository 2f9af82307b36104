//! Rows in memory as the optimiser sees them: borrowed columns, nothing copied.

use super::rule::largest;
use crate::error::{Error, Result, check};
use crate::rates::GroupConfusions;
use std::borrow::Cow;

/// A column of numbers that bases may use.
#[derive(Debug, Clone, Copy)]
pub enum Column<'a> {
    /// Zeros and ones.
    Flags(&'a [bool]),
    /// Any numbers.
    Reals(&'a [f64]),
    /// Which rows have this code.
    Code(&'a [u16], u16),
}

impl Column<'_> {
    fn len(&self) -> usize {
        match self {
            Column::Flags(values) => values.len(),
            Column::Reals(values) => values.len(),
            Column::Code(codes, _) => codes.len(),
        }
    }

    /// The number of a row.
    pub(crate) fn at(&self, row: usize) -> f64 {
        match self {
            Column::Flags(flags) => f64::from(u8::from(flags[row])),
            Column::Reals(values) => values[row],
            Column::Code(codes, code) => f64::from(u8::from(codes[row] == *code)),
        }
    }
}

/// What a classifier can see of some rows: the model's class probabilities, and named columns.
#[derive(Debug, Clone)]
pub struct Scores<'a> {
    classes: usize,
    probabilities: Vec<&'a [f64]>,
    columns: Vec<(Cow<'a, str>, Column<'a>)>,
}

impl<'a> Scores<'a> {
    /// One column of probabilities per class, or that of the positive one of two.
    ///
    /// Of two classes only the positive one's column is used; the other probability is what it leaves.
    pub fn new(probabilities: Vec<&'a [f64]>) -> Result<Self> {
        let classes =
            check::at_least("columns of probabilities", probabilities.len(), 1, "at least 1")?.max(2);
        let number = (2..=256).contains(&classes);
        check::number("classes", classes as f64, number, "a whole number from 2 to 256")?;
        let rows = check::at_least("rows", probabilities[0].len(), 1, "at least 1")?;
        for (class, column) in probabilities.iter().enumerate() {
            let field = format!("probabilities[{class}]");
            check::length(&field, column.len(), rows)?;
            if let Some(row) = column.iter().position(|p| !(0.0..=1.0).contains(p)) {
                check::unit(&format!("{field}[{row}]"), column[row])?;
            }
        }
        let keep = if classes == 2 { probabilities.len() - 1 } else { 0 };
        Ok(Self { classes, probabilities: probabilities[keep..].to_vec(), columns: Vec::new() })
    }

    /// The same rows with one more named column.
    pub fn with_column(mut self, name: impl Into<Cow<'a, str>>, column: Column<'a>) -> Result<Self> {
        let name = name.into();
        check::length(&format!("column {name}"), column.len(), self.rows())?;
        if let Column::Reals(values) = column {
            check::all_finite(&name, values)?;
        }
        self.columns.push((name, column));
        Ok(self)
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.probabilities[0].len()
    }

    /// $\eta_i(x)$.
    #[inline]
    pub fn probability(&self, class: usize, row: usize) -> f64 {
        match (self.classes, class) {
            (2, 0) => 1.0 - self.probabilities[0][row],
            (2, _) => self.probabilities[0][row],
            _ => self.probabilities[class][row],
        }
    }

    /// The class of the largest probability; ties go to the smaller class.
    pub fn most_likely(&self, row: usize) -> usize {
        largest((0..self.classes).map(|class| self.probability(class, row)))
    }

    /// The positive class's probabilities, of two classes.
    pub(crate) fn positive(&self) -> &'a [f64] {
        self.probabilities[0]
    }

    /// The names of its columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| &**name)
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Result<Column<'a>> {
        let found = self.columns.iter().find(|(known, _)| known == name).map(|(_, column)| *column);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.columns().collect();
            Error::Unknown {
                field: "the column of a basis".to_owned(),
                found: name.to_owned(),
                expected: known.join(", "),
            }
        })
    }
}

/// Rows whose true classes are known, perhaps in groups, perhaps with weights.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    scores: Scores<'a>,
    truth: &'a [u8],
    weights: Option<Cow<'a, [f64]>>,
    groups: Option<(&'a [u16], usize)>,
    total: f64,
}

impl<'a> Rows<'a> {
    /// Rows without groups that count once each. Every class must occur.
    pub fn new(scores: Scores<'a>, truth: &'a [u8]) -> Result<Self> {
        check::length("truth", truth.len(), scores.rows())?;
        let classes = scores.classes();
        if let Some(row) = truth.iter().position(|&class| usize::from(class) >= classes) {
            let what = format!("truth[{row}] is class {}, expected one of {classes} classes", truth[row]);
            return Err(Error::Mismatch(what));
        }
        let total = truth.len() as f64;
        let rows = Self { scores, truth, weights: None, groups: None, total };
        rows.every_class_occurs()?;
        Ok(rows)
    }

    /// The same rows in groups.
    pub fn with_groups(mut self, codes: &'a [u16], groups: usize) -> Result<Self> {
        check::length("group codes", codes.len(), self.truth.len())?;
        check::at_least("groups", groups, 1, "at least 1")?;
        if let Some(row) = codes.iter().position(|&code| usize::from(code) >= groups) {
            let what = format!("group code {} of row {row}, expected one of {groups} groups", codes[row]);
            return Err(Error::Mismatch(what));
        }
        self.groups = Some((codes, groups));
        Ok(self)
    }

    /// The same rows with weights; rows of weight 0 count for nothing. Every class needs some weight.
    pub fn with_weights(mut self, weights: impl Into<Cow<'a, [f64]>>) -> Result<Self> {
        let weights = weights.into();
        check::length("weights", weights.len(), self.truth.len())?;
        check::nonnegative("weights", &weights)?;
        self.total = check::positive("the total weight", weights.iter().sum())?;
        self.weights = Some(weights);
        self.every_class_occurs()?;
        Ok(self)
    }

    /// The same rows with borrowed weights.
    pub(crate) fn lent(&self) -> Rows<'_> {
        let weights = self.weights.as_deref().map(Cow::Borrowed);
        Rows { scores: self.scores.clone(), weights, ..*self }
    }

    fn every_class_occurs(&self) -> Result<()> {
        let mut mass = vec![0.0; self.classes()];
        (0..self.len()).for_each(|row| mass[usize::from(self.truth[row])] += self.weight(row));
        match mass.iter().position(|&mass| mass <= 0.0) {
            Some(class) => {
                Err(Error::Mismatch(format!("no row of class {class}, expected rows of every class")))
            }
            None => Ok(()),
        }
    }

    /// What a classifier can see of them.
    pub fn scores(&self) -> &Scores<'a> {
        &self.scores
    }

    /// The true class of every row.
    pub fn truth(&self) -> &'a [u8] {
        self.truth
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.truth.len()
    }

    /// Whether there are none; there always are some.
    pub fn is_empty(&self) -> bool {
        self.truth.is_empty()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.scores.classes
    }

    /// Number of groups, 1 without any.
    pub fn groups(&self) -> usize {
        self.groups.map_or(1, |(_, groups)| groups)
    }

    /// The group of a row.
    #[inline]
    pub fn group(&self, row: usize) -> usize {
        self.groups.map_or(0, |(codes, _)| usize::from(codes[row]))
    }

    /// What a row weighs.
    #[inline]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// What every row weighs, where rows have weights.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The sum of the weights.
    pub fn total(&self) -> f64 {
        self.total
    }

    pub(crate) fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// The confusion matrices of predicted labels.
    pub fn confusions(&self, labels: &[u8]) -> Result<GroupConfusions> {
        check::length("predictions", labels.len(), self.len())?;
        let k = self.classes();
        let mut entries = vec![vec![0.0; k * k]; self.groups()];
        for (row, &label) in labels.iter().enumerate() {
            let entry = usize::from(self.truth[row]) * k + usize::from(label);
            entries[self.group(row)][entry] += self.weight(row);
        }
        entries.iter_mut().flatten().for_each(|entry| *entry /= self.total);
        GroupConfusions::new(k, entries)
    }
}
