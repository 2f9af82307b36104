//! The two sorts of columns a table is read into, and what is wrong with their cells.
//!
//! Every format hands its values over as a [`Cell`]; here a cell becomes a number or the code of a label.
//! The good path allocates nothing. A bad cell is noted as a [`Fault`] with its row, and reading goes on, so
//! that the message can say how many more rows have the same problem.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of columns made here, and counts of rows that were read fit in 64 bits"
)]

mod coder;

pub(crate) use coder::{LabelCoder, Met};

use super::label;
use crate::error::{Error, Kind, quoted};
use serde::{Deserialize, Serialize};

/// A value as its format has it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    /// Null, or no such key.
    Missing,
    /// A field of a text format without types: it may mean a number.
    Field(&'a [u8]),
    /// Text in a format with types: it means text.
    Text(&'a [u8]),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// A value that is neither number nor label, in words: "a list".
    Other(&'static str),
}

/// The part a column plays, which decides what its cells may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    Class,
    Group,
    Model,
    Probability,
    Weight,
    Count,
    /// Any number: a feature, or a basis of the optimiser.
    Number,
    /// A number that may have a sign for percent.
    Percent,
}

impl Part {
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Probability | Self::Weight | Self::Count | Self::Number | Self::Percent)
    }

    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Class => "a class label (text, a whole number, true or false)",
            Self::Group => "a group name",
            Self::Model => "a model name",
            Self::Probability => "a probability in [0, 1]",
            Self::Weight => "a finite weight of at least 0",
            Self::Count => "a finite count of at least 0",
            Self::Number => "a finite number",
            Self::Percent => "a percentage",
        }
    }

    fn largest(self) -> f64 {
        if self == Self::Probability { 1.0 } else { f64::MAX }
    }

    fn smallest(self) -> f64 {
        if matches!(self, Self::Number | Self::Percent) { f64::MIN } else { 0.0 }
    }
}

/// A sort of bad cell in one column: the first of its kind, and how many there are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// Counted from 0.
    pub(crate) row: u64,
    pub(crate) found: String,
    pub(crate) rows: u64,
}

impl Fault {
    pub(crate) fn error(&self, expected: impl Into<String>) -> Error {
        Error::new(self.kind, self.found.as_str(), expected).row(self.row + 1).more(self.rows - 1)
    }
}

/// The faults of one column, one entry for each kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, kind: Kind, row: u64, found: impl FnOnce() -> String) {
        match self.0.iter_mut().find(|fault| fault.kind == kind) {
            Some(fault) => fault.rows += 1,
            None => self.0.push(Fault { kind, row, found: found(), rows: 1 }),
        }
    }

    /// Adds the faults of later rows.
    pub(crate) fn absorb(&mut self, later: Self) {
        for fault in later.0 {
            match self.0.iter_mut().find(|mine| mine.kind == fault.kind) {
                Some(mine) => mine.rows += fault.rows,
                None => self.0.push(fault),
            }
        }
    }

    /// Whether nothing is wrong but that values are missing.
    pub(crate) fn only_missing(&self) -> bool {
        self.0.iter().all(|fault| fault.kind == Kind::Missing)
    }

    pub(crate) fn first(&self) -> Option<&Fault> {
        self.0.iter().min_by_key(|fault| fault.row)
    }
}

/// Probabilities that lay outside [0, 1] by rounding only and were moved to the bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moved {
    pub(crate) cells: u64,
    pub(crate) furthest: f64,
}

impl Moved {
    pub(crate) fn absorb(&mut self, other: Self) {
        self.cells += other.cells;
        self.furthest = self.furthest.max(other.furthest);
    }
}

/// Turns cells into numbers in the range of their part.
#[derive(Debug, Clone)]
pub(crate) struct NumberCheck {
    part: Part,
    smallest: f64,
    largest: f64,
    pub(crate) faults: Faults,
    pub(crate) moved: Moved,
    /// The least and the largest of the numbers that were out of range.
    outside: [f64; 2],
}

impl NumberCheck {
    /// A softmax in single precision may say 1.0000001; anything further out is a mistake.
    const ROUNDING: f64 = 1e-6;

    pub(crate) fn new(part: Part) -> Self {
        let (smallest, largest) = (part.smallest(), part.largest());
        let outside = [f64::INFINITY, f64::NEG_INFINITY];
        Self { part, smallest, largest, faults: Faults::default(), moved: Moved::default(), outside }
    }

    /// The number in a cell; NaN, and a fault, for a cell without a good one.
    #[inline]
    pub(crate) fn value(&mut self, row: u64, cell: Cell<'_>) -> f64 {
        let value = match cell {
            Cell::Float(value) => Some(value),
            Cell::Integer(value) => Some(value as f64),
            Cell::Field(text) | Cell::Text(text) if self.part == Part::Percent => {
                let text = text.trim_ascii();
                parse(text.strip_suffix(b"%").unwrap_or(text))
            }
            Cell::Field(text) => parse(text),
            Cell::Boolean(value) if self.part == Part::Number => Some(f64::from(u8::from(value))),
            _ => None,
        };
        match value {
            Some(value) if value >= self.smallest && value <= self.largest => value,
            Some(value) => self.out_of_range(row, cell, value),
            None => self.not_a_number(row, cell),
        }
    }

    #[cold]
    fn out_of_range(&mut self, row: u64, cell: Cell<'_>, value: f64) -> f64 {
        let nearest = value.clamp(self.smallest, self.largest);
        let distance = (value - nearest).abs();
        if self.part == Part::Probability && distance <= Self::ROUNDING {
            self.moved.absorb(Moved { cells: 1, furthest: distance });
            return nearest;
        }
        let kind = match () {
            () if value.is_nan() => Kind::Missing,
            () if value.is_finite() => Kind::OutOfRange,
            () => Kind::NotFinite,
        };
        self.outside = [self.outside[0].min(value), self.outside[1].max(value)];
        // A number is quoted as it was written, without quotes.
        let found = || match cell {
            Cell::Field(text) if text.len() < 40 => String::from_utf8_lossy(text.trim_ascii()).into_owned(),
            _ => spelled(cell),
        };
        self.faults.add(kind, row, found);
        f64::NAN
    }

    #[cold]
    fn not_a_number(&mut self, row: u64, cell: Cell<'_>) -> f64 {
        let found = || match cell {
            Cell::Text(_) => format!("the text {}", spelled(cell)),
            _ => spelled(cell),
        };
        self.faults.add(number_fault(cell), row, found);
        f64::NAN
    }

    /// Adds what was found in later rows.
    pub(crate) fn absorb(&mut self, later: Self) {
        self.faults.absorb(later.faults);
        self.moved.absorb(later.moved);
        self.outside = [self.outside[0].min(later.outside[0]), self.outside[1].max(later.outside[1])];
    }

    /// What numbers that cannot be probabilities are likely to be.
    pub(crate) fn looks_like(&self) -> Option<&'static str> {
        let [least, most] = self.outside;
        match () {
            () if self.part != Part::Probability || most < least => None,
            () if least >= 0.0 && (5.0..=100.0).contains(&most) => Some("percentages"),
            () if (-100.0..=-1.0).contains(&least) && most <= 100.0 => Some("logits"),
            () => None,
        }
    }
}

/// The number a field spells, with a decimal point and without thousands separators.
#[inline]
fn parse(field: &[u8]) -> Option<f64> {
    std::str::from_utf8(field.trim_ascii()).ok()?.parse().ok()
}

fn number_fault(cell: Cell<'_>) -> Kind {
    let missing = |text: &[u8]| {
        let text = text.trim_ascii();
        ["", "NA", "N/A", "#N/A", "null", "NULL", "None", "?", "."].iter().any(|w| w.as_bytes() == text)
    };
    match cell {
        Cell::Missing => Kind::Missing,
        Cell::Field(text) if missing(text) => Kind::Missing,
        Cell::Field(text) if std::str::from_utf8(text).is_err() => Kind::Encoding,
        _ => Kind::NotANumber,
    }
}

/// A cell in the words of a message.
pub(crate) fn spelled(cell: Cell<'_>) -> String {
    match cell {
        Cell::Missing => "no value".into(),
        Cell::Field(text) | Cell::Text(text) => match std::str::from_utf8(text) {
            Ok(text) if text.trim().is_empty() => "no value".into(),
            Ok(text) => quoted(text),
            Err(_) => format!("text that is not UTF-8 ({})", quoted(&String::from_utf8_lossy(text))),
        },
        Cell::Integer(value) => value.to_string(),
        Cell::Float(value) => value.to_string(),
        Cell::Boolean(value) => value.to_string(),
        Cell::Other(what) => what.into(),
    }
}

/// A column in memory, with what was noticed while it was read.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    Labels { codes: Vec<u16>, coder: Box<LabelCoder> },
    Numbers { values: Vec<f64>, check: NumberCheck },
}

impl Column {
    pub(crate) fn new(part: Part) -> Self {
        if part.is_number() {
            Self::Numbers { values: Vec::new(), check: NumberCheck::new(part) }
        } else {
            Self::Labels { codes: Vec::new(), coder: Box::new(LabelCoder::new(part)) }
        }
    }

    /// Appends a cell. The row is told, not counted: rows that could not be read at all are not here.
    #[inline]
    pub(crate) fn push(&mut self, row: u64, cell: Cell<'_>) {
        match self {
            Self::Labels { codes, coder } => codes.push(coder.code(row, cell)),
            Self::Numbers { values, check } => values.push(check.value(row, cell)),
        }
    }

    pub(crate) fn faults(&self) -> &Faults {
        match self {
            Self::Labels { coder, .. } => &coder.faults,
            Self::Numbers { check, .. } => &check.faults,
        }
    }

    pub(crate) fn faults_mut(&mut self) -> &mut Faults {
        match self {
            Self::Labels { coder, .. } => &mut coder.faults,
            Self::Numbers { check, .. } => &mut check.faults,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Labels { codes, .. } => codes.len(),
            Self::Numbers { values, .. } => values.len(),
        }
    }

    /// The same column where so many rows come before.
    pub(crate) fn after(mut self, before: u64) -> Self {
        if let Self::Labels { coder, .. } = &mut self {
            coder.met.iter_mut().for_each(|met| met.first_row += before);
        }
        self
    }

    /// Adds the rows of another file, of a column for the same part.
    pub(crate) fn append(&mut self, later: Self) {
        let before = self.len() as u64;
        match (self, later) {
            (Self::Labels { codes, coder }, Self::Labels { codes: more, coder: mut later }) => {
                later.met.iter_mut().for_each(|met| met.first_row += before);
                let renamed = coder.absorb(*later);
                let code = |code: u16| renamed.get(usize::from(code)).copied().unwrap_or(LabelCoder::NONE);
                codes.extend(more.into_iter().map(code));
            }
            (Self::Numbers { values, check }, Self::Numbers { values: more, check: later }) => {
                values.extend(more);
                check.absorb(later);
            }
            _ => {}
        }
    }

    /// Whether a row has no value; a label that stands for none counts as one if it is to.
    pub(crate) fn is_missing(&self, row: usize, words: bool) -> bool {
        match self {
            Self::Labels { codes, coder } => match coder.met.get(usize::from(codes[row])) {
                Some(met) => words && label::means_missing(&met.name),
                None => true,
            },
            Self::Numbers { values, .. } => values[row].is_nan(),
        }
    }

    /// The same column with some rows only, and nothing missing in it.
    pub(crate) fn keep(self, rows: &[bool]) -> Self {
        let kept = |row: usize| rows.get(row).copied().unwrap_or(false);
        match self {
            Self::Labels { codes, coder } => {
                let mut again = LabelCoder::new(coder.part);
                let codes = codes.into_iter().enumerate().filter(|&(row, _)| kept(row)).map(|(row, code)| {
                    let name = &coder.met[usize::from(code)].name;
                    let code = again.intern(name, row as u64).unwrap_or(LabelCoder::NONE);
                    again.met[usize::from(code)].rows += 1;
                    code
                });
                Self::Labels { codes: codes.collect(), coder: Box::new(again) }
            }
            Self::Numbers { values, mut check } => {
                check.faults = Faults::default();
                let values = values.into_iter().enumerate().filter(|&(row, _)| kept(row));
                Self::Numbers { values: values.map(|(_, value)| value).collect(), check }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked_against_their_part() {
        let mut check = NumberCheck::new(Part::Probability);
        assert_eq!(check.value(0, Cell::Field(b" 0.25 ")), 0.25);
        assert_eq!(check.value(1, Cell::Field(b"1e-3")), 1e-3);
        assert_eq!(check.value(2, Cell::Float(1.0000001)), 1.0);
        assert_eq!(check.value(3, Cell::Integer(1)), 1.0);
        assert!(check.faults.first().is_none());
        assert_eq!(check.moved.cells, 1);
        for (row, cell) in [Cell::Float(1.1), Cell::Boolean(true), Cell::Field(b"NA"), Cell::Text(b"0.5")]
            .into_iter()
            .enumerate()
        {
            assert!(check.value(row as u64, cell).is_nan());
        }
        let kinds: Vec<Kind> = check.faults.0.iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, [Kind::OutOfRange, Kind::NotANumber, Kind::Missing]);
        assert_eq!(NumberCheck::new(Part::Weight).value(0, Cell::Float(7.5)), 7.5);
        assert!(NumberCheck::new(Part::Weight).value(0, Cell::Float(f64::INFINITY)).is_nan());
    }
}
