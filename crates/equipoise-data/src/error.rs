//! What can be wrong with a table, said in one sentence a person can act on.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that is wrong with a table: where, what was found, and what was expected.
///
/// ```
/// use equipoise_data::{Error, Kind};
/// let error = Error::new(Kind::OutOfRange, "1.2", "a probability in [0, 1]")
///     .file("val.csv")
///     .row(3)
///     .line(4)
///     .column("p_1")
///     .more(2);
/// assert_eq!(
///     error.to_string(),
///     "val.csv, row 3 (line 4), column p_1: found 1.2, expected a probability in [0, 1]; \
///      2 more rows have the same problem"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{place}: found {found}, expected {expected}{}", Others(*more))]
pub struct Error {
    /// What sort of problem it is, for programs.
    pub kind: Kind,
    /// Where it is.
    pub place: Box<Place>,
    /// What was found there.
    pub found: Box<str>,
    /// What would have been accepted.
    pub expected: Box<str>,
    /// How many further rows are known to have the same problem.
    pub more: u64,
}

/// Shorthand used throughout the crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The sorts of problems a table can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// The file cannot be opened or read.
    Unreadable,
    /// The bytes are not of the format: binary data in a text file, a truncated archive, broken JSON.
    Format,
    /// There is no header or there are no rows.
    Empty,
    /// A column is absent, there twice, ambiguous, or of a type that cannot play its part.
    Column,
    /// A row has more or fewer fields than the header.
    Ragged,
    /// A value is missing.
    Missing,
    /// A value is not a number where one is needed.
    NotANumber,
    /// A number is not finite.
    NotFinite,
    /// A number lies outside its range.
    OutOfRange,
    /// The probabilities of a row do not sum to 1.
    Sum,
    /// A value cannot be a label.
    NotALabel,
    /// Text is not UTF-8.
    Encoding,
    /// A class has no probability column.
    UnknownClass,
    /// A class has no rows.
    ClassWithoutRows,
    /// There are too few or too many classes, groups or models.
    Count,
    /// Something that must be there once is there twice.
    Duplicate,
    /// Parts that must agree do not.
    Mismatch,
}

/// Where in a file something is; only what is known and helps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file as the caller named it; absent for a table made in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The data row, counted from 1 the way a person counts: the header is not a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// The line of a text file, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
}

impl Error {
    /// A problem whose place is not known yet.
    pub fn new(kind: Kind, found: impl Into<String>, expected: impl Into<String>) -> Self {
        let (found, expected) = (found.into().into(), expected.into().into());
        Self { kind, place: Box::default(), found, expected, more: 0 }
    }

    /// Names the file.
    pub fn file(mut self, file: impl Into<String>) -> Self {
        self.place.file = Some(file.into());
        self
    }

    /// Names the row, counted from 1.
    pub fn row(mut self, row: u64) -> Self {
        self.place.row = Some(row);
        self
    }

    /// Names the line, counted from 1.
    pub fn line(mut self, line: u64) -> Self {
        self.place.line = Some(line);
        self
    }

    /// Names the column.
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.place.column = Some(column.into());
        self
    }

    /// Says how many further rows have the same problem.
    pub fn more(mut self, more: u64) -> Self {
        self.more = more;
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or("table"))?;
        match (self.row, self.line) {
            (Some(row), Some(line)) => write!(f, ", row {row} (line {line})")?,
            (Some(row), None) => write!(f, ", row {row}")?,
            (None, Some(line)) => write!(f, ", line {line}")?,
            (None, None) => {}
        }
        match &self.column {
            Some(column) => write!(f, ", column {}", name(column)),
            None => Ok(()),
        }
    }
}

/// How many more rows, as the tail of a sentence.
struct Others(u64);

impl fmt::Display for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            1 => f.write_str("; 1 more row has the same problem"),
            n => write!(f, "; {n} more rows have the same problem"),
        }
    }
}

/// A column or class name inside a sentence: bare when it reads as one word, quoted otherwise.
pub(crate) fn name(text: &str) -> String {
    let bare = |c: char| c.is_alphanumeric() || "_-.+/%$#@&".contains(c);
    if !text.is_empty() && text.chars().all(bare) { text.to_owned() } else { quoted(text) }
}

/// A value inside a sentence: quoted, control characters escaped, long text cut.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(LONGEST).collect();
    let ellipsis = if characters.next().is_some() { "..." } else { "" };
    format!("{:?}", start + ellipsis)
}

/// Several names inside a sentence: at most eight, then how many more.
pub(crate) fn list<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    const MOST: usize = 8;
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(MOST).map(|n| name(n.as_ref())).collect();
    match names.count() {
        0 => shown.join(", "),
        rest => format!("{} and {rest} more", shown.join(", ")),
    }
}

/// A count with its noun: "1 row", "2 rows".
pub(crate) fn plural(count: u64, noun: &str) -> String {
    let ending = match (count, noun) {
        (1, _) => "",
        (_, noun) if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_only_what_is_known() {
        let error = Error::new(Kind::Empty, "no rows", "at least 1");
        assert_eq!(error.to_string(), "table: found no rows, expected at least 1");
        assert_eq!(
            error.clone().file("a.csv").row(2).to_string(),
            "a.csv, row 2: found no rows, expected at least 1"
        );
        assert_eq!(
            error.more(1).column("the group").to_string(),
            "table, column \"the group\": found no rows, expected at least 1; 1 more row has the same problem"
        );
    }

    #[test]
    fn errors_are_small_enough_to_return_by_value() {
        assert!(size_of::<Error>() <= 64);
    }

    #[test]
    fn long_text_is_cut_and_control_characters_are_escaped() {
        assert_eq!(quoted("a\nb"), r#""a\nb""#);
        assert_eq!(quoted(&"x".repeat(50)), format!("\"{}...\"", "x".repeat(40)));
        assert_eq!(list(["a", "b c"]), "a, \"b c\"");
        assert_eq!(list(["a"; 10]), "a, a, a, a, a, a, a, a and 2 more");
        assert_eq!(plural(1, "class") + &plural(2, "class"), "1 class2 classes");
    }
}
