//! Where in a TOML file a value stands, so that a sentence about it can begin with the line.

use crate::error::{Error, Result};
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A TOML file with the places of its values.
pub struct Lines<'a> {
    text: &'a str,
    table: Spanned<DeTable<'a>>,
}

impl<'a> Lines<'a> {
    /// Parses; a syntax error has its line.
    pub fn of(text: &'a str) -> Result<Self> {
        let table = DeTable::parse(text).map_err(|e| located(text, &e))?;
        Ok(Self { text, table })
    }

    /// The file as a value of its type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        toml::from_str(self.text).map_err(|e| located(self.text, &e))
    }

    /// A value by its path.
    pub fn value(&self, path: &str) -> Option<&DeValue<'a>> {
        self.spanned(path).map(Spanned::get_ref)
    }

    fn spanned(&self, path: &str) -> Option<&Spanned<DeValue<'a>>> {
        let mut parts = path.split('.');
        let mut value = self.table.get_ref().get(parts.next()?)?;
        for part in parts {
            value = match value.get_ref() {
                DeValue::Table(table) => table.get(part)?,
                DeValue::Array(entries) => entries.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// From where to where a value is written.
    pub fn span(&self, path: &str) -> Option<std::ops::Range<usize>> {
        self.spanned(path).map(Spanned::span)
    }

    /// A text or a whole number as somebody would type it.
    pub fn plain(&self, path: &str) -> Option<String> {
        match self.value(path)? {
            DeValue::String(text) => Some(text.clone().into_owned()),
            DeValue::Integer(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Whether there is a text.
    pub fn is_text(&self, path: &str) -> bool {
        matches!(self.value(path), Some(DeValue::String(_)))
    }

    /// What a table at a path has, in order.
    pub fn keys(&self, path: &str) -> Vec<String> {
        match self.value(path) {
            Some(DeValue::Table(table)) => {
                table.keys().map(|key| key.get_ref().clone().into_owned()).collect()
            }
            _ => vec![],
        }
    }

    /// How many entries the list at a path has; 0 if there is none.
    pub fn entries(&self, path: &str) -> usize {
        match self.value(path) {
            Some(DeValue::Array(entries)) => entries.len(),
            _ => 0,
        }
    }

    /// The line of a value, of its key if it has one; of its nearest parent if it is not there at all.
    ///
    /// Parts of a path are separated by points; entries of lists are counted from 0.
    pub fn line(&self, path: &str) -> usize {
        let mut at = self.table.span().start;
        let mut parts = path.split('.');
        let Some(first) = parts.next() else { return self.line_at(at) };
        let Some((key, mut value)) = self.table.get_ref().get_key_value(first) else { return 1 };
        at = key.span().start;
        for part in parts {
            match value.get_ref() {
                DeValue::Table(table) => match table.get_key_value(part) {
                    Some((key, inner)) => (at, value) = (key.span().start, inner),
                    None => break,
                },
                DeValue::Array(entries) => match part.parse::<usize>().ok().and_then(|n| entries.get(n)) {
                    Some(inner) => (at, value) = (inner.span().start, inner),
                    None => break,
                },
                _ => break,
            }
        }
        self.line_at(at)
    }

    fn line_at(&self, place: usize) -> usize {
        line(self.text, place)
    }
}

fn line(text: &str, place: usize) -> usize {
    1 + text.as_bytes().iter().take(place).filter(|byte| **byte == b'\n').count()
}

fn located(text: &str, error: &toml::de::Error) -> Error {
    let at = error.span().map_or(1, |span| line(text, span.start));
    let what = plain(&error.message().replace('`', "").replace('\n', ", "));
    Error::study(at, what)
}

/// The sentence without words of the programming language.
fn plain(sentence: &str) -> String {
    let mut sentence = sentence.to_owned();
    for (word, plain) in [
        ("expected usize", "expected a whole number from 0 on"),
        ("expected u64", "expected a whole number from 0 on"),
        ("expected u32", "expected a whole number from 0 on"),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected a table"),
        ("expected a boolean", "expected true or false"),
        ("unknown variant ", "found "),
        ("invalid value: integer ", "found "),
        ("invalid value: ", "found "),
        ("invalid type: floating point ", "found "),
        ("invalid type: integer ", "found "),
        ("invalid type: ", "found "),
        ("found sequence", "found a list"),
        ("found map", "found a table"),
        ("found boolean ", "found "),
        ("found string ", "found "),
    ] {
        sentence = sentence.replace(word, plain);
    }
    sentence
}
