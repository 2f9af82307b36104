//! Reading versioned JSON documents with one clear sentence for whatever is wrong.
//!
//! A document is an object whose `kind` decides which other fields it has. The readers here keep the path
//! of the field they are at, so that an error names it: `plan.tolerance is 0, expected ...`.

use crate::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The version every document of this release carries.
pub const FORMAT: u64 = 1;

/// Makes a value of an object that has these fields and no others; what is wrong is said with its place.
macro_rules! make {
    ($object:expr, { $($field:ident: $type:ty),* } => $made:expr) => {{
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            $($field: $type,)*
        }
        $object.make(|Fields { $($field),* }: Fields| $made)
    }};
}
pub(crate) use make;

/// An object being read: its fields, and where it stands in the whole document.
pub(crate) struct Object {
    fields: Map<String, Value>,
    at: String,
}

impl Object {
    /// The object `value` found at `at` (empty for the whole document).
    pub fn new(value: Value, at: &str) -> Result<Self> {
        match value {
            Value::Object(fields) => Ok(Self { fields, at: at.to_owned() }),
            other => {
                let place = if at.is_empty() { "the document" } else { at };
                Err(Error::Document(format!("{place} is {}, expected an object", brief(&other))))
            }
        }
    }

    /// Takes `format` and checks that this release can read it.
    pub fn check_format(&mut self) -> Result<()> {
        let found = match self.fields.remove("format") {
            Some(Value::Number(n)) if n.as_u64() == Some(FORMAT) => return Ok(()),
            Some(other) => brief(&other),
            None => "missing".to_owned(),
        };
        Err(Error::Format { field: self.path("format"), found, expected: FORMAT })
    }

    /// Takes `format` if it is there; parts of a larger document may leave it out.
    pub fn allow_format(&mut self) -> Result<()> {
        if self.fields.contains_key("format") { self.check_format() } else { Ok(()) }
    }

    /// Takes the word that decides what the rest means.
    pub fn kind(&mut self, field: &str, known: &[&str]) -> Result<String> {
        let expected = || format!("one of {}", known.join(", "));
        match self.fields.remove(field) {
            Some(Value::String(word)) if known.contains(&word.as_str()) => Ok(word),
            Some(other) => Err(self.error(field, &format!("is {}, expected {}", brief(&other), expected()))),
            None => Err(self.error(field, &format!("is missing, expected {}", expected()))),
        }
    }

    /// Takes a part that is a document of its own.
    pub fn part(&mut self, field: &str) -> Result<Value> {
        self.fields.remove(field).ok_or_else(|| self.error(field, "is missing, expected an object"))
    }

    /// Takes a field that may be absent.
    pub fn optional<T: DeserializeOwned>(&mut self, field: &str) -> Result<Option<T>> {
        match self.fields.remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value, &self.path(field)).map(Some),
        }
    }

    /// Takes a field that may be absent, `usual` then.
    pub fn or<T: DeserializeOwned>(&mut self, field: &str, usual: T) -> Result<T> {
        Ok(self.optional(field)?.unwrap_or(usual))
    }

    /// Takes a word that may be absent, `usual` then.
    pub fn word(&mut self, field: &str, known: &[&str], usual: &str) -> Result<String> {
        if self.fields.get(field).is_none_or(Value::is_null) {
            self.fields.remove(field);
            return Ok(usual.to_owned());
        }
        self.kind(field, known)
    }

    /// Changes `made` by a field that may be absent.
    pub fn change<M, T: DeserializeOwned>(
        &mut self,
        field: &str,
        made: M,
        change: impl FnOnce(M, T) -> Result<M>,
    ) -> Result<M> {
        match self.optional(field)? {
            Some(value) => at(&self.at, change(made, value)),
            None => Ok(made),
        }
    }

    /// Reads all remaining fields as `T`, which must know every one of them.
    pub fn rest<T: DeserializeOwned>(self) -> Result<T> {
        read(Value::Object(self.fields), &self.at)
    }

    /// Makes a value of all remaining fields; what is wrong with it is said with the place.
    pub fn make<T: DeserializeOwned, M>(self, make: impl FnOnce(T) -> Result<M>) -> Result<M> {
        let place = self.place();
        at(&place, self.rest().and_then(make))
    }

    /// Says that fields are left over, if any are.
    pub fn finish(self) -> Result<()> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(field) => Err(self.error(field, "is not a field here")),
        }
    }

    /// Whether a field is there.
    pub fn has(&self, field: &str) -> bool {
        self.fields.contains_key(field)
    }

    /// Whether a field is there with this word.
    pub fn is(&self, field: &str, word: &str) -> bool {
        self.fields.get(field).and_then(Value::as_str) == Some(word)
    }

    /// What is left, as a value again.
    pub fn into_value(self) -> Value {
        Value::Object(self.fields)
    }

    /// Puts a field in, as if the document had said it.
    pub fn insert(&mut self, field: &str, value: Value) {
        self.fields.insert(field.to_owned(), value);
    }

    /// Where this object stands in the whole document.
    pub fn place(&self) -> String {
        self.at.clone()
    }

    /// The path of a field of this object.
    pub fn path(&self, field: &str) -> String {
        if self.at.is_empty() { field.to_owned() } else { format!("{}.{field}", self.at) }
    }

    fn error(&self, field: &str, what: &str) -> Error {
        Error::Document(format!("{} {what}", self.path(field)))
    }
}

fn read<T: DeserializeOwned>(value: Value, at: &str) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|e| {
        let path = e.path().to_string();
        let place = match (at, path.as_str()) {
            ("", ".") => "the document".to_owned(),
            (at, ".") => at.to_owned(),
            ("", path) => path.to_owned(),
            (at, path) if path.starts_with('[') => format!("{at}{path}"),
            (at, path) => format!("{at}.{path}"),
        };
        Error::Document(sentence(&place, &e.into_inner().to_string()))
    })
}

/// What serde says about the value at `place`, in the words of our other messages.
fn sentence(place: &str, said: &str) -> String {
    let said = said.replace('`', "");
    if let Some(field) = said.strip_prefix("missing field ") {
        let place = if place == "the document" { String::new() } else { format!("{place}.") };
        return format!("{place}{field} is missing");
    }
    let Some((found, expected)) = said.split_once(", expected ") else { return format!("{place}: {said}") };
    let expected = match expected {
        "f64" => "a number",
        "usize" | "u64" | "u32" | "u8" => "a whole number of at least 0",
        "a sequence" => "a list",
        other => other,
    };
    if found.starts_with("unknown field ") {
        return format!("{place} is not a field here, expected {expected}");
    }
    let found = ["invalid type: ", "invalid value: ", "unknown variant "]
        .into_iter()
        .find_map(|kind| found.strip_prefix(kind).map(|found| (kind, found)));
    let found = match found {
        None => return format!("{place}: {said}"),
        Some(("unknown variant ", word)) => format!("\"{word}\""),
        Some((_, "sequence")) => "a list".to_owned(),
        Some((_, "map")) => "an object".to_owned(),
        Some((_, found)) => ["string ", "integer ", "floating point ", "boolean "]
            .into_iter()
            .find_map(|kind| found.strip_prefix(kind))
            .unwrap_or(found)
            .to_owned(),
    };
    format!("{place} is {found}, expected {expected}")
}

/// Parses text; a syntax error names line and column.
pub(crate) fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|e| {
        let (line, column) = (e.line(), e.column());
        Error::Syntax(match e.is_eof() {
            true => format!("the text ends too early, at line {line} column {column}"),
            false => e.to_string(),
        })
    })
}

/// Adds the place of a part to an error raised while checking it: `radius is -1` at `space` is `space.radius is -1`.
pub(crate) fn at<T>(place: &str, result: Result<T>) -> Result<T> {
    result.map_err(|e| match &e {
        Error::Document(_) | Error::Syntax(_) | Error::Format { .. } => e,
        _ if place.is_empty() => Error::Document(e.to_string()),
        Error::Number { field, .. } | Error::Length { field, .. } | Error::AllZero { field }
            if !field.contains(' ') =>
        {
            Error::Document(format!("{place}.{e}"))
        }
        _ => Error::Document(format!("{place}: {e}")),
    })
}

/// A value as a sentence can quote it.
fn brief(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        Value::String(word) => format!("\"{word}\""),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only the errors are looked at")]
    struct Example {
        weights: Vec<f64>,
        count: usize,
        order: Option<Order>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Order {
        Forward,
        Backward,
    }

    #[test]
    fn whatever_is_wrong_has_its_field_and_what_was_expected() {
        let cases = [
            (r#"{"weights":[1,"six"],"count":1}"#, "a.weights[1] is \"six\", expected a number"),
            (r#"{"weights":[1,null],"count":1}"#, "a.weights[1] is null, expected a number"),
            (r#"{"weights":6,"count":1}"#, "a.weights is 6, expected a list"),
            (r#"{"weights":{},"count":1}"#, "a.weights is an object, expected a list"),
            (r#"{"weights":[],"count":-1}"#, "a.count is -1, expected a whole number of at least 0"),
            (r#"{"weights":[],"count":2.5}"#, "a.count is 2.5, expected a whole number of at least 0"),
            (r#"{"weights":[]}"#, "a.count is missing"),
            (
                r#"{"weights":[],"cuont":1}"#,
                "a.cuont is not a field here, expected one of weights, count, order",
            ),
            (r#"{"weights":[],"count":1,"order":"up"}"#, "a.order is \"up\", expected forward or backward"),
        ];
        for (text, expected) in cases {
            let wrong = read::<Example>(parse(text).unwrap(), "a").unwrap_err();
            assert_eq!(wrong.to_string(), expected);
        }
    }

    #[test]
    fn text_that_ends_too_early_says_where() {
        let wrong = parse("{\"format\": 1,").unwrap_err();
        assert_eq!(wrong.to_string(), "not valid JSON: the text ends too early, at line 1 column 13");
    }

    #[test]
    fn a_place_is_joined_to_the_field() {
        let wrong = |field: &str| Error::AllZero { field: field.to_owned() };
        let text = |field: &str| at::<()>("oracle.metric", Err(wrong(field))).unwrap_err().to_string();
        assert!(text("weights").starts_with("oracle.metric.weights is all zero"));
        assert!(text("the sum of all").starts_with("oracle.metric: the sum of all is all zero"));
    }
}
