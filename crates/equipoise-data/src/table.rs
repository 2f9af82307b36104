//! A table of predictions in memory, column by column.
//!
//! Columns are plain vectors: class codes in a byte, probabilities in `f64`. Ten million rows of three
//! classes take 250 MB, and a pass over them runs at the speed of memory.

use crate::error::{Error, Kind, Result, name, plural, quoted};
use crate::note::{Note, Reading};
use equipoise::population::Totals;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The most classes a table may have; their codes fit in a byte.
pub const MOST_CLASSES: usize = 256;
/// The most groups a table may have.
pub const MOST_GROUPS: usize = 65_535;

/// The probabilities of a row may miss 1 by this much and are then rescaled; beyond it something is wrong.
const SUM_TOLERANCE: f64 = 1e-3;
/// Sums closer to 1 than this are left as they are: it is the rounding of the sum itself.
const SUM_ROUNDING: f64 = 1e-12;
/// Rows checked at a time, so that their sums stay in cache.
const BLOCK: usize = 8192;

/// True classes and predicted class probabilities, with optional groups and row weights.
///
/// Every row has probabilities in [0, 1] that sum to 1, and every class has rows. With two classes the
/// positive one is the last.
///
/// ```
/// use equipoise_data::Table;
/// let classes = vec!["benign".to_owned(), "malignant".to_owned()];
/// let table = Table::new(classes, vec![0, 1, 1], vec![vec![0.9, 0.2, 0.6], vec![0.1, 0.8, 0.4]])?.data;
/// assert_eq!(table.rows(), 3);
/// assert_eq!(table.probabilities(1), [0.1, 0.8, 0.4]);
/// # Ok::<(), equipoise_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    classes: Vec<String>,
    truth: Vec<u8>,
    probabilities: Vec<Vec<f64>>,
    groups: Option<Groups>,
    weights: Option<Vec<f64>>,
    columns: Vec<(String, Vec<f64>)>,
    labels: Vec<(String, Vec<u8>)>,
}

impl Table {
    /// A table without groups and weights: class codes, and one column of probabilities per class.
    ///
    /// Rows whose probabilities miss 1 by at most 0.001 are rescaled, and the notes say so.
    pub fn new(classes: Vec<String>, truth: Vec<u8>, probabilities: Vec<Vec<f64>>) -> Result<Reading<Self>> {
        let (columns, labels) = (vec![], vec![]);
        let mut table = Self { classes, truth, probabilities, groups: None, weights: None, columns, labels };
        table.check_shape()?;
        table.check_classes()?;
        let notes = table.rescale()?.note().into_iter().collect();
        Ok(Reading { data: table, notes })
    }

    /// Some rows of a larger table, which need not have every class; how many of them were rescaled, and what they missed 1 by.
    pub(crate) fn part(
        classes: Vec<String>,
        truth: Vec<u8>,
        probabilities: Vec<Vec<f64>>,
    ) -> Result<(Self, Rescaled)> {
        let (columns, labels) = (vec![], vec![]);
        let mut table = Self { classes, truth, probabilities, groups: None, weights: None, columns, labels };
        table.check_shape()?;
        let rescaled = table.rescale()?;
        Ok((table, rescaled))
    }

    /// Codes of groups and weights of some rows of a larger table, which need not have every one of them.
    pub(crate) fn with_part(
        mut self,
        groups: Option<(&[String], Vec<u16>)>,
        weights: Option<Vec<f64>>,
    ) -> Self {
        self.groups = groups.map(|(names, codes)| Groups { names: names.to_vec(), codes });
        self.weights = weights;
        self
    }

    /// The same table with every row in a group.
    pub fn with_groups(mut self, groups: Groups) -> Result<Self> {
        self.check_length("group codes", groups.codes.len())?;
        self.groups = Some(groups);
        Ok(self)
    }

    /// The same table with a weight for every row. Every class needs some weight.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        self.check_length("weights", weights.len())?;
        if let Some(row) = weights.iter().position(|&w| !(w.is_finite() && w >= 0.0)) {
            let error =
                Error::new(Kind::OutOfRange, weights[row].to_string(), "a finite weight of at least 0");
            return Err(error.row(row as u64 + 1));
        }
        self.weights = Some(weights);
        let totals = self.totals();
        for (class, label) in self.classes.iter().enumerate() {
            let total = totals.of_class(class).weight;
            if !(total > 0.0 && total.is_finite()) {
                let found = format!("a total weight of {total} for class {}", name(label));
                return Err(Error::new(Kind::OutOfRange, found, "a finite total above 0 for every class"));
            }
        }
        Ok(self)
    }

    /// The same table with one more column of numbers, which bases of the optimiser may use.
    pub fn with_column(mut self, name: impl Into<String>, values: Vec<f64>) -> Result<Self> {
        self.check_length("values", values.len())?;
        self.columns.push((name.into(), values));
        Ok(self)
    }

    /// The same table with the class codes that a model predicts.
    pub fn with_labels(mut self, model: impl Into<String>, codes: Vec<u8>) -> Result<Self> {
        self.check_length("labels", codes.len())?;
        if let Some(row) = codes.iter().position(|&code| usize::from(code) >= self.classes.len()) {
            let expected = format!("a code below {}", self.classes.len());
            let error = Error::new(Kind::OutOfRange, format!("class code {}", codes[row]), expected);
            return Err(error.row(row as u64 + 1));
        }
        self.labels.push((model.into(), codes));
        Ok(self)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.truth.len()
    }

    /// The class names, in the order of their codes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The class code of every row.
    pub fn truth(&self) -> &[u8] {
        &self.truth
    }

    /// The predicted probability of a class, for every row.
    pub fn probabilities(&self, class: usize) -> &[f64] {
        &self.probabilities[class]
    }

    /// The groups, if the table has any.
    pub fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }

    /// The row weights, if the table has any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The further columns of numbers, by name.
    pub fn columns(&self) -> &[(String, Vec<f64>)] {
        &self.columns
    }

    /// The labels of models, by name.
    pub fn labels(&self) -> &[(String, Vec<u8>)] {
        &self.labels
    }

    /// The group of a row; all are in one if there are none.
    #[inline]
    pub fn group(&self, row: usize) -> usize {
        self.groups.as_ref().map_or(0, |groups| usize::from(groups.codes[row]))
    }

    /// What a row weighs.
    #[inline]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// Rows and weight of each class within each group. A table without groups has one.
    pub fn totals(&self) -> Totals {
        let groups = self.groups.as_ref().map_or(1, |groups| groups.names.len());
        let none = Totals::new(self.classes.len(), groups, self.weights.is_some());
        let mut totals = none.clone();
        // Some rows at a time: added one after the other, ten million weights lose five digits.
        let together = BLOCK.max(groups * self.classes.len());
        for (part, truth) in self.truth.chunks(together).enumerate() {
            let mut some = none.clone();
            for (row, &class) in (part * together..).zip(truth) {
                some.cells[self.group(row)][usize::from(class)].add(self.weight(row));
            }
            for (sum, part) in totals.cells.iter_mut().flatten().zip(some.cells.into_iter().flatten()) {
                *sum = sum.and(part);
            }
        }
        totals
    }

    /// A number that tells rows from others, by their true classes, groups and weights, and by their places, of which `first` is that
    /// of the first row. The numbers of parts of a table add up to its own, so that parts can be looked at in any order.
    pub fn fingerprint(&self, first: u64) -> u64 {
        // The finalizer of SplitMix64, over everything of a row.
        let mix = |state: u64, part: u64| {
            let mixed = (state ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed ^ (mixed >> 27)
        };
        let of_row = |row: usize| {
            let labels = ((self.group(row) as u64) << 8) | u64::from(self.truth[row]);
            let state = mix(mix(first.wrapping_add(row as u64), 1), labels.wrapping_add(1));
            self.weights.as_ref().map_or(state, |weights| mix(state, weights[row].to_bits()))
        };
        (0..self.rows()).fold(0, |sum: u64, row| sum.wrapping_add(of_row(row)))
    }

    /// What the table lacks that a comparison of groups needs, one sentence each.
    pub fn findings(&self) -> Vec<Note> {
        match &self.groups {
            Some(groups) => findings(&self.classes, &groups.names, &self.totals()),
            None => Vec::new(),
        }
    }

    fn check_length(&self, what: &str, found: usize) -> Result<()> {
        if found == self.rows() {
            return Ok(());
        }
        let found = format!("{found} {what}");
        Err(Error::new(
            Kind::Mismatch,
            found,
            format!("one for each of {}", plural(self.rows() as u64, "row")),
        ))
    }

    fn check_shape(&self) -> Result<()> {
        if self.truth.is_empty() {
            return Err(Error::new(Kind::Empty, "no rows", "at least one row"));
        }
        if self.probabilities.len() != self.classes.len() {
            let found = plural(self.probabilities.len() as u64, "column") + " of probabilities";
            let expected = format!("one for each of {}", plural(self.classes.len() as u64, "class"));
            return Err(Error::new(Kind::Mismatch, found, expected));
        }
        self.probabilities.iter().try_for_each(|column| self.check_length("probabilities", column.len()))
    }

    fn check_classes(&self) -> Result<()> {
        let classes = self.classes.len();
        if !(2..=MOST_CLASSES).contains(&classes) {
            let expected = format!("at least 2 and at most {MOST_CLASSES}");
            return Err(Error::new(Kind::Count, plural(classes as u64, "class"), expected));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = self.classes.iter().find(|&class| !seen.insert(class)) {
            let found = format!("two classes called {}", quoted(twice));
            return Err(Error::new(Kind::Duplicate, found, "a different name for each"));
        }
        if let Some(row) = self.truth.iter().position(|&code| usize::from(code) >= classes) {
            let found = format!("class code {}", self.truth[row]);
            let error = Error::new(Kind::OutOfRange, found, format!("a code below {classes}"));
            return Err(error.row(row as u64 + 1));
        }
        let mut rows = [0_u64; MOST_CLASSES];
        self.truth.iter().for_each(|&class| rows[usize::from(class)] += 1);
        if let Some(empty) = (0..classes).find(|&class| rows[class] == 0) {
            let found = format!("no row of class {}", name(&self.classes[empty]));
            return Err(Error::new(Kind::ClassWithoutRows, found, "at least one row of every class"));
        }
        Ok(())
    }

    /// Checks every row and divides it by its sum where that differs from 1 by more than rounding.
    fn rescale(&mut self) -> Result<Rescaled> {
        let blocks = self.truth.len().div_ceil(BLOCK);
        let mut slices: Vec<Vec<&mut [f64]>> = vec![];
        slices.resize_with(blocks, Vec::new);
        for column in &mut self.probabilities {
            slices.iter_mut().zip(column.chunks_mut(BLOCK)).for_each(|(block, slice)| block.push(slice));
        }
        let checked: Vec<Block> = slices.par_iter_mut().map(|block| Block::check(block)).collect();
        let bad: u64 = checked.iter().map(|block| block.bad).sum();
        for (n, block) in checked.iter().enumerate() {
            if let Some((row, error)) = &block.first {
                return Err(error.clone().row((n * BLOCK + row) as u64 + 1).more(bad - 1));
            }
        }
        let rows: u64 = checked.iter().map(|block| block.rescaled).sum();
        let furthest = checked.iter().map(|block| block.furthest).fold(0.0, f64::max);
        Ok(Rescaled { rows, furthest })
    }
}

/// What a comparison of groups needs and is not there, one sentence each.
pub(crate) fn findings(classes: &[String], groups: &[String], totals: &Totals) -> Vec<Note> {
    let mut findings = Vec::new();
    if let [only] = groups {
        let sentence = format!("every row is in group {}, so there is nothing to compare", name(only));
        findings.push(Note::Finding(sentence));
    }
    let what = if totals.weighted { "weight in" } else { "row of" };
    for (group, totals) in groups.iter().zip(&totals.cells) {
        for (class, _) in classes.iter().zip(totals).filter(|(_, total)| total.weight == 0.0) {
            findings.push(Note::Finding(format!(
                "group {} has no {what} class {}, so its rates for that class are undefined",
                name(group),
                name(class)
            )));
        }
    }
    findings
}

/// Rows whose probabilities were divided by their sum, and the furthest that missed 1 by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rescaled {
    rows: u64,
    furthest: f64,
}

impl Rescaled {
    pub(crate) fn and(self, other: Self) -> Self {
        Self { rows: self.rows + other.rows, furthest: self.furthest.max(other.furthest) }
    }

    pub(crate) fn note(self) -> Option<Note> {
        let Self { rows, furthest } = self;
        let sentence = || {
            format!(
                "the probabilities of {} missed a sum of 1 by at most {furthest:.1e} and were rescaled",
                plural(rows, "row")
            )
        };
        (rows > 0).then(|| Note::Change(sentence()))
    }
}

/// What the check of one block of rows came to.
#[derive(Default)]
struct Block {
    first: Option<(usize, Error)>,
    bad: u64,
    rescaled: u64,
    furthest: f64,
}

impl Block {
    fn check(columns: &mut [&mut [f64]]) -> Self {
        let mut sums = [0.0; BLOCK];
        let sums = &mut sums[..columns[0].len()];
        for column in columns.iter() {
            for (sum, &p) in sums.iter_mut().zip(column.iter()) {
                // A NaN marks the row; it survives every addition.
                *sum += if (0.0..=1.0).contains(&p) { p } else { f64::NAN };
            }
        }
        let mut block = Self::default();
        for (row, &sum) in sums.iter().enumerate() {
            let distance = (sum - 1.0).abs();
            if distance <= SUM_ROUNDING {
                continue;
            }
            if distance <= SUM_TOLERANCE {
                columns.iter_mut().for_each(|column| column[row] /= sum);
                block.rescaled += 1;
                block.furthest = block.furthest.max(distance);
            } else {
                block.reject(row, columns, sum);
            }
        }
        block
    }

    #[cold]
    fn reject(&mut self, row: usize, columns: &[&mut [f64]], sum: f64) {
        self.bad += 1;
        if self.first.is_some() {
            return;
        }
        let outside = columns.iter().map(|column| column[row]).find(|p| !(0.0..=1.0).contains(p));
        let error = match outside {
            Some(p) => Error::new(Kind::OutOfRange, p.to_string(), "a probability in [0, 1]"),
            None => {
                let found = format!("probabilities that sum to {}", short(sum));
                Error::new(Kind::Sum, found, format!("a sum of 1 (within {SUM_TOLERANCE})"))
            }
        };
        self.first = Some((row, error));
    }
}

/// A sum with the digits that matter: 0.8, not 0.7999999999999999.
fn short(sum: f64) -> String {
    ((sum * 1e6).round() / 1e6).to_string()
}

/// The group of every row.
///
/// ```
/// use equipoise_data::Groups;
/// let sex = Groups::new(vec!["F".into(), "M".into()], vec![0, 1, 1])?;
/// let age = Groups::new(vec!["old".into(), "young".into()], vec![1, 0, 1])?;
/// let both = Groups::cross(vec![sex, age])?;
/// assert_eq!(both.names(), ["F & young", "M & old", "M & young"]);
/// # Ok::<(), equipoise_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    names: Vec<String>,
    codes: Vec<u16>,
}

impl Groups {
    /// From the names of the groups and the code of every row. Every group must have rows.
    pub fn new(names: Vec<String>, codes: Vec<u16>) -> Result<Self> {
        if names.is_empty() || names.len() > MOST_GROUPS {
            let expected = format!("at least 1 and at most {MOST_GROUPS}");
            return Err(Error::new(Kind::Count, plural(names.len() as u64, "group"), expected));
        }
        let mut present = vec![false; names.len()];
        for (row, &code) in codes.iter().enumerate() {
            let Some(present) = present.get_mut(usize::from(code)) else {
                let expected = format!("a code below {}", names.len());
                let error = Error::new(Kind::OutOfRange, format!("group code {code}"), expected);
                return Err(error.row(row as u64 + 1));
            };
            *present = true;
        }
        if let Some(empty) = present.iter().position(|&present| !present) {
            let found = format!("no row of group {}", name(&names[empty]));
            return Err(Error::new(Kind::Count, found, "at least one row of every group"));
        }
        Ok(Self { names, codes })
    }

    /// One group for every combination that occurs, named "first & second".
    pub fn cross(parts: Vec<Self>) -> Result<Self> {
        let mut parts = parts.into_iter();
        let first = parts.next().ok_or_else(|| Error::new(Kind::Count, "no group columns", "at least 1"))?;
        parts.try_fold(first, |crossed, part| crossed.with(&part))
    }

    fn with(mut self, other: &Self) -> Result<Self> {
        const MOST_PAIRS: usize = 1 << 24;
        if self.codes.len() != other.codes.len() {
            let found = format!("group columns of {} and {} rows", self.codes.len(), other.codes.len());
            return Err(Error::new(Kind::Mismatch, found, "as many rows in each"));
        }
        let width = other.names.len();
        let pairs = self.names.len() * width;
        let pair = |a: u16, b: u16| usize::from(a) * width + usize::from(b);
        let mut present = vec![false; if pairs <= MOST_PAIRS { pairs } else { 0 }];
        if !present.is_empty() {
            self.codes.iter().zip(&other.codes).for_each(|(&a, &b)| present[pair(a, b)] = true);
        }
        let groups = if present.is_empty() { pairs } else { present.iter().filter(|&&p| p).count() };
        if groups > MOST_GROUPS {
            let found = format!("{groups} combinations of groups");
            return Err(Error::new(Kind::Count, found, format!("at most {MOST_GROUPS}")));
        }
        let mut code_of_pair = vec![0; pairs];
        let mut names = Vec::with_capacity(groups);
        for both in (0..pairs).filter(|&both| present[both]) {
            code_of_pair[both] = names.len() as u16;
            names.push(format!("{} & {}", self.names[both / width], other.names[both % width]));
        }
        for (code, &b) in self.codes.iter_mut().zip(&other.codes) {
            *code = code_of_pair[pair(*code, b)];
        }
        Ok(Self { names, codes: self.codes })
    }

    /// The names, in the order of their codes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The group code of every row.
    pub fn codes(&self) -> &[u16] {
        &self.codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    fn table(truth: &[u8], positive: &[f64]) -> Result<Reading<Table>> {
        let negative = positive.iter().map(|p| 1.0 - p).collect();
        Table::new(names(&["a", "b"]), truth.to_vec(), vec![negative, positive.to_vec()])
    }

    #[track_caller]
    fn refused<T: std::fmt::Debug>(result: Result<T>, expected: &str) {
        assert_eq!(result.unwrap_err().to_string(), expected);
    }

    #[test]
    fn rows_are_rescaled_only_within_the_tolerance() -> Result<()> {
        let near = vec![vec![0.25, 0.5], vec![0.7505, 0.5]];
        let reading = Table::new(names(&["a", "b"]), vec![0, 1], near)?;
        let says = "the probabilities of 1 row missed a sum of 1 by at most 5.0e-4 and were rescaled";
        assert_eq!(reading.notes, [Note::Change(says.into())]);
        let table = reading.data;
        assert!((table.probabilities(0)[0] + table.probabilities(1)[0] - 1.0).abs() < 1e-15);
        assert_eq!(table.probabilities(1)[1], 0.5);
        let far = vec![vec![0.5, 0.3, 0.1], vec![0.5, 0.5, 0.2]];
        refused(
            Table::new(names(&["a", "b"]), vec![0, 1, 1], far),
            "table, row 2: found probabilities that sum to 0.8, expected a sum of 1 (within 0.001); \
             1 more row has the same problem",
        );
        Ok(())
    }

    #[test]
    fn rows_far_down_are_checked_too() {
        let rows = 3 * BLOCK + 5;
        let truth: Vec<u8> = (0..rows).map(|row| (row % 2) as u8).collect();
        let mut positive = vec![0.5; rows];
        let negative = positive.clone();
        positive[2 * BLOCK + 7] = 0.4;
        let result = Table::new(names(&["a", "b"]), truth, vec![negative, positive]);
        assert_eq!(result.unwrap_err().place.row, Some(2 * BLOCK as u64 + 8));
    }

    #[test]
    fn totals_of_many_weights_keep_their_digits() -> Result<()> {
        let rows = 2_000_000;
        let truth = (0..rows).map(|row| (row % 2) as u8).collect();
        let half = vec![0.5; rows];
        let table = Table::new(names(&["a", "b"]), truth, vec![half.clone(), half])?.data;
        let table = table.with_weights(vec![1.0 / 7.0; rows])?;
        let total = table.totals().overall();
        assert_eq!(total.rows, rows as u64);
        assert!((total.weight / (rows as f64 / 7.0) - 1.0).abs() < 1e-13, "{}", total.weight);
        assert!((total.squares / (rows as f64 / 49.0) - 1.0).abs() < 1e-13, "{}", total.squares);
        Ok(())
    }

    #[test]
    fn wrong_parts_are_named() -> Result<()> {
        refused(table(&[], &[]), "table: found no rows, expected at least one row");
        refused(
            table(&[0, 0], &[0.5, 0.5]),
            "table: found no row of class b, expected at least one row of every class",
        );
        refused(table(&[0, 2], &[0.5, 0.5]), "table, row 2: found class code 2, expected a code below 2");
        refused(table(&[0, 1], &[0.5]), "table: found 1 probabilities, expected one for each of 2 rows");
        refused(table(&[0, 1], &[0.5, 1.5]), "table, row 2: found -0.5, expected a probability in [0, 1]");
        refused(
            table(&[0, 1], &[f64::NAN, 0.5]),
            "table, row 1: found NaN, expected a probability in [0, 1]",
        );
        let good = table(&[0, 1], &[0.5, 0.5])?.data;
        refused(
            good.clone().with_weights(vec![1.0, -1.0]),
            "table, row 2: found -1, expected a finite weight of at least 0",
        );
        refused(
            good.clone().with_weights(vec![1.0, 0.0]),
            "table: found a total weight of 0 for class b, expected a finite total above 0 for every class",
        );
        let groups = Groups::new(names(&["x"]), vec![0])?;
        refused(good.with_groups(groups), "table: found 1 group codes, expected one for each of 2 rows");
        refused(
            Groups::new(names(&["x", "y"]), vec![0, 0]),
            "table: found no row of group y, expected at least one row of every group",
        );
        refused(
            Groups::new(names(&["x"]), vec![0, 1]),
            "table, row 2: found group code 1, expected a code below 1",
        );
        Ok(())
    }

    #[test]
    fn a_group_without_a_class_is_a_finding() -> Result<()> {
        let good = table(&[0, 1, 0], &[0.5; 3])?.data;
        let mixed = good.clone().with_groups(Groups::new(names(&["x", "y"]), vec![0, 0, 1])?)?;
        let says = "group y has no row of class b, so its rates for that class are undefined";
        assert_eq!(mixed.findings(), [Note::Finding(says.into())]);
        let rows = mixed.totals().cells.concat().iter().map(|cell| cell.rows).collect::<Vec<_>>();
        assert_eq!(rows, [1, 1, 1, 0]);
        let alone = good.with_groups(Groups::new(names(&["x"]), vec![0; 3])?)?;
        let says = "every row is in group x, so there is nothing to compare";
        assert_eq!(alone.findings(), [Note::Finding(says.into())]);
        Ok(())
    }
}
