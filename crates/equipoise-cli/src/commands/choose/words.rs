//! Questions about candidates, for a person at a terminal and as a line for a program.

use crate::commands::elicit::length::Length;
use equipoise::Query;
use equipoise::space::Candidates;
use equipoise_choice::Words;
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::Write;

/// One side of a question, for a program.
#[derive(Serialize)]
struct Side<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    attributes: Map<String, Value>,
}

/// A question, for a program.
#[derive(Serialize)]
pub struct Line<'a> {
    format: u64,
    question: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    of_about: Option<usize>,
    first: Side<'a>,
    second: Side<'a>,
    difference: String,
}

/// A question for a program; names are those of candidates, where both are real.
pub fn line<'a>(
    candidates: &'a Candidates,
    words: &Words<'a>,
    question: usize,
    length: Option<Length>,
    query: &Query,
) -> Line<'a> {
    let names = words.names(query);
    let side = |name: Option<&'a str>, point: &[f64]| Side {
        name,
        attributes: {
            let named = candidates.attributes().iter().zip(point);
            named.map(|(attribute, x)| (attribute.name.clone(), Value::from(*x))).collect()
        },
    };
    Line {
        format: equipoise::FORMAT,
        question,
        of_about: length.map(|length| length.at_least(question).questions()),
        first: side(names.map(|[first, _]| first), &query.first),
        second: side(names.map(|[_, second]| second), &query.second),
        difference: words.difference(query),
    }
}

/// Writes a question for a person: what differs, side by side.
pub fn write(
    words: &Words,
    question: usize,
    length: Option<Length>,
    query: &Query,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let length = length.map_or(String::new(), |length| format!(" {}", length.at_least(question)));
    writeln!(out, "Question {question}{length}")?;
    let rows = words.rows(query);
    let width = |column: usize, least: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(least)
    };
    let (names, first) = (width(0, 4), width(1, 6));
    writeln!(out, "  {:names$}  {:first$}  B", "", "A")?;
    for [label, a, b] in &rows {
        writeln!(out, "  {label:names$}  {a:first$}  {b}")?;
    }
    writeln!(out, "  {}", words.remark(query))
}
