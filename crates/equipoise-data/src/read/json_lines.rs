//! JSON Lines: one JSON object per line, its keys the columns.
//!
//! Values go from the line straight into the columns, without a tree in between. The first object names the
//! columns; a later object that lacks one has a missing value, and one that brings a column which would have
//! been guessed is refused, because ignoring it would change the table silently.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "keys have the number of a wanted column, and rows that were read fit in 64 bits"
)]

use super::column::{Cell, Column};
use super::columns::{Header, Want};
use super::format::Input;
use super::{Source, first_fault};
use crate::error::{Error, Kind, Result, quoted};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

const ONE_PER_LINE: &str = "one whole JSON object per line";

/// A JSON Lines file whose first object has been read.
pub(crate) struct JsonLines {
    input: Input,
    header: Header,
}

impl JsonLines {
    pub(crate) fn open(input: Input) -> Result<Self> {
        if input.text_head().trim_ascii_start().starts_with(b"[") {
            let expected = format!("{ONE_PER_LINE} (in pandas to_json with orient=\"records\", lines=True)");
            return Err(Error::new(Kind::Format, "a JSON array", expected).line(1));
        }
        let mut lines = Lines::new(&input)?;
        let Some(line) = lines.next(0)? else {
            return Err(Error::new(Kind::Empty, "only blank lines", "at least one JSON object"));
        };
        let first = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line);
        let first = first.map_err(|error| wrong_line(line, &error).row(1));
        let keys = first.map_err(|error| error.line(lines.number))?;
        let header = Header(keys.into_iter().map(|(key, _)| key).collect());
        Ok(Self { input, header })
    }
}

impl Source for JsonLines {
    fn format(&self) -> String {
        self.input.said("")
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn read(&self, wants: &[Want], matters: &dyn Fn(&str) -> bool) -> Result<Vec<Column>> {
        let mut lines = Lines::new(&self.input)?;
        let mut rows = Rows::new(&self.header, wants, matters);
        while let Some(line) = lines.next(rows.row)? {
            if let Err(error) = rows.read(line) {
                // An earlier bad cell is reported first; its column carries it.
                return match first_fault(wants, &rows.columns) {
                    Some(_) => Ok(rows.columns),
                    None => Err(error),
                };
            }
        }
        Ok(rows.columns)
    }

    fn line(&self, row: u64) -> Option<u64> {
        let mut lines = Lines::new(&self.input).ok()?;
        for row in 0..=row {
            lines.next(row).ok()??;
        }
        Some(lines.number)
    }
}

/// The lines of a file that are not blank.
struct Lines<'a> {
    input: &'a Input,
    text: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    number: u64,
}

impl<'a> Lines<'a> {
    fn new(input: &'a Input) -> Result<Self> {
        let text = BufReader::with_capacity(1 << 18, input.text()?);
        Ok(Self { input, text, line: Vec::new(), number: 0 })
    }

    /// The next line, after so many rows.
    fn next(&mut self, rows: u64) -> Result<Option<&[u8]>> {
        loop {
            self.line.clear();
            let read = self.text.read_until(b'\n', &mut self.line);
            if read.map_err(|error| self.input.broken(&error, rows))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(self.line.trim_ascii_end()));
            }
        }
    }
}

/// What a key is to the reader.
#[derive(Clone, Copy, PartialEq)]
enum Slot {
    Want(usize),
    Ignored,
    Late,
}

/// The rows read so far.
struct Rows<'a> {
    matters: &'a dyn Fn(&str) -> bool,
    slots: HashMap<String, Slot>,
    columns: Vec<Column>,
    row: u64,
    /// For each column, the last row it was seen in, counted from 1.
    seen: Vec<u64>,
    /// The column whose value is being read.
    current: Option<usize>,
    /// A key that came too late.
    late: Option<String>,
}

impl<'a> Rows<'a> {
    /// Unknown keys are remembered up to this many; a file may have a new one in every row.
    const REMEMBERED: usize = 10_000;

    fn new(header: &Header, wants: &[Want], matters: &'a dyn Fn(&str) -> bool) -> Self {
        let mut slots: HashMap<String, Slot> =
            header.0.iter().map(|name| (name.clone(), Slot::Ignored)).collect();
        for (n, want) in wants.iter().enumerate() {
            slots.insert(want.name.clone(), Slot::Want(n));
        }
        let columns = wants.iter().map(|want| Column::new(want.part)).collect();
        Self { matters, slots, columns, row: 0, seen: vec![0; wants.len()], current: None, late: None }
    }

    /// Reads one object. The error has its row.
    fn read(&mut self, line: &[u8]) -> Result<()> {
        self.current = None;
        let mut json = serde_json::Deserializer::from_slice(line);
        let result = Object(self).deserialize(&mut json).and_then(|()| json.end());
        if let Err(error) = result {
            self.refuse(line, &error)?;
        } else {
            for (column, &seen) in self.columns.iter_mut().zip(&self.seen) {
                if seen != self.row + 1 {
                    column.push(self.row, Cell::Missing);
                }
            }
        }
        self.row += 1;
        Ok(())
    }

    /// Says what is wrong with a line; NaN as a value is a bad cell like any other.
    fn refuse(&mut self, line: &[u8], error: &serde_json::Error) -> Result<()> {
        let row = self.row + 1;
        if let Some(key) = self.late.take() {
            let found = "a column that the first row lacks";
            return Err(Error::new(Kind::Column, found, "the same columns in every row")
                .row(row)
                .column(key));
        }
        match (not_finite(line, error), self.current) {
            (Some(word), Some(n)) => {
                self.columns[n].faults_mut().add(Kind::NotFinite, self.row, || word.to_owned());
                Ok(())
            }
            _ => Err(wrong_line(line, error).row(row)),
        }
    }

    fn slot(&mut self, key: &str) -> Slot {
        if let Some(&slot) = self.slots.get(key) {
            return slot;
        }
        if (self.matters)(key) {
            self.late = Some(key.to_owned());
            return Slot::Late;
        }
        if self.slots.len() < Self::REMEMBERED {
            self.slots.insert(key.to_owned(), Slot::Ignored);
        }
        Slot::Ignored
    }
}

/// NaN or an infinity, which Python writes and JSON does not know, at the place of the error.
fn not_finite(line: &[u8], error: &serde_json::Error) -> Option<&'static str> {
    let near = error.column().saturating_sub(2)..=error.column();
    let at = |word: &&str| {
        near.clone().any(|start| line.get(start..).is_some_and(|rest| rest.starts_with(word.as_bytes())))
    };
    ["NaN", "-Infinity", "Infinity"].into_iter().find(at)
}

/// What is wrong with a line that is not a JSON object.
fn wrong_line(line: &[u8], error: &serde_json::Error) -> Error {
    let Ok(text) = std::str::from_utf8(line) else {
        return Error::new(Kind::Encoding, "text that is not UTF-8", ONE_PER_LINE);
    };
    let wrong = |found: String| Error::new(Kind::Format, found, ONE_PER_LINE);
    if error.is_eof() {
        return wrong(format!("a line that breaks off after {}", quoted(&tail(text))));
    }
    if error.is_data() {
        return wrong(quoted(text));
    }
    if let Some(word) = not_finite(line, error) {
        let wrong = wrong(format!("{word}, which JSON does not have"));
        return match key_before(text, error.column()) {
            Some(key) => wrong.column(key),
            None => wrong,
        };
    }
    let rest: String = text.chars().skip(error.column().saturating_sub(1)).take(20).collect();
    wrong(format!("{} at character {}", quoted(&rest), error.column()))
}

/// The key whose value stands at a column of the line.
fn key_before(text: &str, column: usize) -> Option<&str> {
    let (before, _) = text.get(..column)?.rsplit_once(':')?;
    Some(before.trim_end().strip_suffix('"')?.rsplit_once('"')?.1)
}

fn tail(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(20);
    text.chars().skip(skip).collect()
}

struct Object<'r, 'a>(&'r mut Rows<'a>);

impl<'de> DeserializeSeed<'de> for Object<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let rows = self.0;
        while let Some(slot) = map.next_key_seed(Key(rows))? {
            rows.current = None;
            match slot {
                Slot::Late => return Err(de::Error::custom("late key")),
                Slot::Want(n) if rows.seen[n] != rows.row + 1 => {
                    rows.seen[n] = rows.row + 1;
                    rows.current = Some(n);
                    map.next_value_seed(Value { column: &mut rows.columns[n], row: rows.row })?;
                }
                Slot::Want(n) => {
                    let found = || "the key twice in one object".to_owned();
                    rows.columns[n].faults_mut().add(Kind::Duplicate, rows.row, found);
                    map.next_value::<IgnoredAny>()?;
                }
                Slot::Ignored => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct Key<'r, 'a>(&'r mut Rows<'a>);

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = Slot;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Slot, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_, '_> {
    type Value = Slot;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> std::result::Result<Slot, E> {
        Ok(self.0.slot(key))
    }
}

struct Value<'c> {
    column: &'c mut Column,
    row: u64,
}

impl Value<'_> {
    fn push<E>(self, cell: Cell<'_>) -> std::result::Result<(), E> {
        self.column.push(self.row, cell);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> std::result::Result<(), E> {
        self.push(Cell::Missing)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<(), E> {
        self.push(Cell::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<(), E> {
        self.push(Cell::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<(), E> {
        self.push(i64::try_from(value).map_or(Cell::Float(value as f64), Cell::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<(), E> {
        self.push(Cell::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<(), E> {
        self.push(Cell::Text(value.as_bytes()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        self.push(Cell::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> std::result::Result<(), A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.push(Cell::Other("an object"))
    }
}
