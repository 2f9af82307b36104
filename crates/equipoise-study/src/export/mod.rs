//! A study for other programs (RS-13): two tables, each with one list of columns that every format is written from.
//!
//! [`answers`] are the comparisons, [`questionnaire`] all that people said about themselves, with the costs they stated. Both
//! are folds of the log: the same log gives the same bytes. [`person`] is all there is about one participant, for them.

mod answers;
mod csv;
mod parquet;
mod person;
mod psych_ds;
mod questionnaire;

pub use answers::answers;
pub use csv::quoted;
pub use person::{Happened, Person, person};
pub use psych_ds::psych_ds;
pub use questionnaire::questionnaire;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number from 0 on.
    Whole,
    /// Any number.
    Real,
    /// A text.
    Text,
    /// A list of whole numbers.
    Counts,
    /// Milliseconds since 1970 in universal time.
    Time,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name in every format.
    pub name: &'static str,
    /// What its cells are.
    pub kind: Kind,
    /// What it means.
    pub description: &'static str,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// There is nothing to say.
    Nothing,
    /// A whole number.
    Whole(u64),
    /// A number.
    Real(f64),
    /// A text, as it was sent.
    Text(String),
    /// A list of whole numbers.
    Counts(Vec<u64>),
    /// A time.
    Time(i64),
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn whole(number: Option<u64>) -> Self {
        number.map_or(Self::Nothing, Self::Whole)
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Nothing => to.serialize_none(),
            Cell::Whole(number) => to.serialize_u64(*number),
            Cell::Real(number) => to.serialize_f64(*number),
            Cell::Text(text) => to.serialize_str(text),
            Cell::Counts(counts) => counts.serialize(to),
            Cell::Time(time) => to.serialize_i64(*time),
        }
    }
}

/// A table: every row has a cell for every column.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What it is called in file names.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
    /// Its rows, in the order of the log.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// As comma-separated values with a header. No spreadsheet takes a text in it for a formula (CWE-1236).
    pub fn csv(&self) -> String {
        csv::write(self)
    }

    /// As one JSON object per line; texts are as they were sent.
    pub fn json_lines(&self) -> String {
        let line = |row: &Vec<Cell>| {
            serde_json::to_string(&Object(self.columns, row)).expect("cells are plain data") + "\n"
        };
        self.rows.iter().map(line).collect()
    }

    /// As a Parquet file.
    pub fn parquet(&self) -> crate::Result<Vec<u8>> {
        parquet::write(self)
    }
}

/// As a list of objects.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(self.rows.len()))?;
        for row in &self.rows {
            list.serialize_element(&Object(self.columns, row))?;
        }
        list.end()
    }
}

/// A row with its names.
struct Object<'a>(&'static [Column], &'a [Cell]);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_map(Some(self.0.len()))?;
        for (column, cell) in self.0.iter().zip(self.1) {
            object.serialize_entry(column.name, cell)?;
        }
        object.end()
    }
}

/// The word a value has in documents.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

const fn column(name: &'static str, kind: Kind, description: &'static str) -> Column {
    Column { name, kind, description }
}
