//! Labels as codes, numbered in the order they are met.

use super::super::label::{self, Spelling};
use super::{Cell, Fault, Faults, Part, spelled};
use crate::error::{Kind, quoted};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// A label and where it was met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Met {
    pub(crate) name: String,
    pub(crate) first_row: u64,
    pub(crate) rows: u64,
}

/// Turns cells into codes of labels, numbered in the order they are met.
///
/// The look-ups by written form are shortcuts in front of the one by name: `1`, `1.0` and the integer 1 have
/// different shortcuts and one name.
#[derive(Debug, Clone)]
pub(crate) struct LabelCoder {
    pub(super) part: Part,
    pub(crate) met: Vec<Met>,
    pub(crate) faults: Faults,
    by_name: HashMap<String, u16>,
    short_texts: Vec<(Box<[u8]>, u16)>,
    texts: HashMap<Box<[u8]>, u16>,
    small_integers: [u16; 256],
    integers: HashMap<i64, u16>,
    booleans: [u16; 2],
}

impl LabelCoder {
    /// The code of a cell without a good label. It is never the code of a label.
    pub(crate) const NONE: u16 = u16::MAX;
    /// Texts are looked up one by one until there are more than this many.
    const FEW: usize = 16;

    pub(crate) fn new(part: Part) -> Self {
        Self {
            part,
            met: Vec::new(),
            faults: Faults::default(),
            by_name: HashMap::new(),
            short_texts: Vec::new(),
            texts: HashMap::new(),
            small_integers: [Self::NONE; 256],
            integers: HashMap::new(),
            booleans: [Self::NONE; 2],
        }
    }

    /// The code of the label in a cell; `NONE`, and a fault, for a cell without a good one.
    #[inline]
    pub(crate) fn code(&mut self, row: u64, cell: Cell<'_>) -> u16 {
        let known = match cell {
            Cell::Field(text) | Cell::Text(text) => self.known_text(text),
            Cell::Integer(value) => self.known_integer(value),
            Cell::Float(value) => label::whole(value).map_or(Self::NONE, |value| self.known_integer(value)),
            Cell::Boolean(value) => self.booleans[usize::from(value)],
            Cell::Missing | Cell::Other(_) => Self::NONE,
        };
        let code = if known == Self::NONE { self.meet(row, cell) } else { known };
        if code != Self::NONE {
            self.met[usize::from(code)].rows += 1;
        }
        code
    }

    #[inline]
    fn known_text(&self, text: &[u8]) -> u16 {
        match self.short_texts.iter().find(|(known, _)| **known == *text) {
            Some(&(_, code)) => code,
            None if self.texts.is_empty() => Self::NONE,
            None => self.texts.get(text).copied().unwrap_or(Self::NONE),
        }
    }

    #[inline]
    fn known_integer(&self, value: i64) -> u16 {
        match u8::try_from(value) {
            Ok(small) => self.small_integers[usize::from(small)],
            Err(_) => self.integers.get(&value).copied().unwrap_or(Self::NONE),
        }
    }

    /// A written form met for the first time, or a bad cell.
    #[cold]
    fn meet(&mut self, row: u64, cell: Cell<'_>) -> u16 {
        let name = match self.name(cell) {
            Ok(name) => name,
            Err(kind) => {
                self.faults.add(kind, row, || spelled(cell));
                return Self::NONE;
            }
        };
        let Some(code) = self.intern(&name, row) else {
            self.faults.absorb(Faults(vec![one_too_many(&name, row, 1)]));
            return Self::NONE;
        };
        self.remember(cell, code);
        code
    }

    /// The canonical name of the label in a cell.
    pub(crate) fn name<'a>(&self, cell: Cell<'a>) -> Result<Cow<'a, str>, Kind> {
        match cell {
            Cell::Field(text) | Cell::Text(text) => {
                let text = std::str::from_utf8(text).map_err(|_| Kind::Encoding)?;
                match label::canonical(text) {
                    Spelling::Missing => Err(Kind::Missing),
                    Spelling::Fraction(_) if self.part == Part::Class => Err(Kind::NotALabel),
                    _ if self.part == Part::Model => Ok(Cow::Borrowed(text.trim())),
                    Spelling::Fraction(text) => Ok(Cow::Borrowed(text)),
                    Spelling::Label(label) => Ok(label),
                }
            }
            Cell::Integer(value) => Ok(Cow::Owned(value.to_string())),
            Cell::Float(value) => match label::whole(value) {
                Some(value) => Ok(Cow::Owned(value.to_string())),
                None if value.is_nan() => Err(Kind::Missing),
                None if self.part == Part::Class || value.is_infinite() => Err(Kind::NotALabel),
                None => Ok(Cow::Owned(value.to_string())),
            },
            Cell::Boolean(value) => Ok(Cow::Borrowed(if value { "true" } else { "false" })),
            Cell::Missing => Err(Kind::Missing),
            Cell::Other(_) => Err(Kind::NotALabel),
        }
    }

    pub(super) fn intern(&mut self, name: &str, row: u64) -> Option<u16> {
        if let Some(&code) = self.by_name.get(name) {
            return Some(code);
        }
        let code = u16::try_from(self.met.len()).ok().filter(|&code| code != Self::NONE)?;
        self.by_name.insert(name.to_owned(), code);
        self.met.push(Met { name: name.to_owned(), first_row: row, rows: 0 });
        Some(code)
    }

    fn remember(&mut self, cell: Cell<'_>, code: u16) {
        match cell {
            Cell::Field(text) | Cell::Text(text) if self.short_texts.len() < Self::FEW => {
                self.short_texts.push((text.into(), code));
            }
            Cell::Field(text) | Cell::Text(text) => {
                self.texts.insert(text.into(), code);
            }
            Cell::Boolean(value) => self.booleans[usize::from(value)] = code,
            Cell::Integer(value) => self.remember_integer(value, code),
            Cell::Float(value) => {
                if let Some(value) = label::whole(value) {
                    self.remember_integer(value, code);
                }
            }
            Cell::Missing | Cell::Other(_) => {}
        }
    }

    fn remember_integer(&mut self, value: i64, code: u16) {
        match u8::try_from(value) {
            Ok(small) => self.small_integers[usize::from(small)] = code,
            Err(_) => {
                self.integers.insert(value, code);
            }
        }
    }

    /// Adds the labels met in later rows; returns what each of their codes has become.
    pub(crate) fn absorb(&mut self, later: Self) -> Vec<u16> {
        self.faults.absorb(later.faults);
        self.absorb_met(later.met)
    }

    /// Adds labels met in other rows, wherever they are.
    pub(crate) fn absorb_met(&mut self, others: Vec<Met>) -> Vec<u16> {
        let mut codes = Vec::with_capacity(others.len());
        for met in others {
            let code = self.intern(&met.name, met.first_row);
            match code {
                Some(code) => {
                    let mine = &mut self.met[usize::from(code)];
                    mine.first_row = mine.first_row.min(met.first_row);
                    mine.rows += met.rows;
                }
                None => self.faults.absorb(Faults(vec![one_too_many(&met.name, met.first_row, met.rows)])),
            }
            codes.push(code.unwrap_or(Self::NONE));
        }
        codes
    }
}

fn one_too_many(name: &str, row: u64, rows: u64) -> Fault {
    let found = format!("{} after {} other values", quoted(name), LabelCoder::NONE);
    Fault { kind: Kind::Count, row, found, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_written_form_of_a_label_has_one_code() {
        let mut coder = LabelCoder::new(Part::Class);
        let cells = [Cell::Field(b"1"), Cell::Text(b" 1.0"), Cell::Integer(1), Cell::Float(1.0)];
        for (row, cell) in cells.into_iter().enumerate() {
            assert_eq!(coder.code(row as u64, cell), 0);
        }
        assert_eq!(coder.code(4, Cell::Boolean(true)), 1);
        assert_eq!(coder.code(5, Cell::Field(b"TRUE")), 1);
        assert_eq!(coder.met[0], Met { name: "1".into(), first_row: 0, rows: 4 });
        assert!(coder.faults.first().is_none());
    }

    #[test]
    fn many_labels_are_found_again() {
        let mut coder = LabelCoder::new(Part::Group);
        for round in 0..2 {
            for n in 0..1000_u16 {
                let text = format!("group {n}");
                assert_eq!(coder.code(u64::from(n), Cell::Field(text.as_bytes())), n, "round {round}");
            }
        }
        assert_eq!(coder.code(0, Cell::Integer(-5)), 1000);
        assert_eq!(coder.code(0, Cell::Integer(-5)), 1000);
    }

    #[test]
    fn a_model_keeps_the_name_it_was_given() {
        let mut coder = LabelCoder::new(Part::Model);
        coder.code(0, Cell::Field(b" 2.0 "));
        coder.code(1, Cell::Field(b"2"));
        assert_eq!(coder.met.iter().map(|met| met.name.as_str()).collect::<Vec<_>>(), ["2.0", "2"]);
    }

    #[test]
    fn too_many_labels_are_a_fault_of_the_first_row_beyond() {
        let mut coder = LabelCoder::new(Part::Class);
        for n in 0..70_000_i64 {
            coder.code(n as u64, Cell::Integer(n));
        }
        let fault = coder.faults.first().unwrap();
        assert_eq!((fault.kind, fault.row, fault.rows), (Kind::Count, 65_535, 4465));
    }

    #[test]
    fn later_rows_join_under_the_same_codes() {
        let mut first = LabelCoder::new(Part::Class);
        first.code(0, Cell::Text(b"b"));
        let mut second = LabelCoder::new(Part::Class);
        second.code(1, Cell::Text(b"a"));
        second.code(2, Cell::Text(b"b"));
        second.code(3, Cell::Missing);
        second.code(4, Cell::Missing);
        assert_eq!(first.absorb(second), [1, 0]);
        assert_eq!(first.met[0].rows, 2);
        assert_eq!(first.met[1], Met { name: "a".into(), first_row: 1, rows: 1 });
        assert_eq!(first.faults.first().map(|fault| (fault.row, fault.rows)), Some((3, 2)));
    }
}
