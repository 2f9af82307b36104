//! Questions about candidates, in words and as a line for a program.

use crate::commands::elicit::length::Length;
use equipoise::Query;
use equipoise::metric::Attribute;
use equipoise::space::Candidates;
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::Write;

/// Words in names of shares, which people read as so many of 1,000.
const SHARES: [&str; 19] = [
    "recall",
    "accuracy",
    "acc",
    "precision",
    "rate",
    "share",
    "missed",
    "misses",
    "error",
    "errors",
    "false",
    "fpr",
    "fnr",
    "tpr",
    "tnr",
    "sensitivity",
    "specificity",
    "coverage",
    "gap",
];

/// How an attribute is said.
pub struct Said {
    /// Its name, without the unit.
    pub label: String,
    unit: Option<String>,
    /// So many of this many.
    of: Option<f64>,
}

impl Said {
    /// As its name and its range allow.
    pub fn new(attribute: &Attribute) -> Self {
        let mut words: Vec<&str> = attribute.name.split(['_', ' ']).filter(|word| !word.is_empty()).collect();
        let unit = attribute.unit.clone();
        if let (Some(unit), Some(last)) = (&unit, words.last())
            && words.len() > 1
            && last.eq_ignore_ascii_case(unit)
        {
            words.pop();
        }
        let [low, high] = attribute.range;
        let lower = attribute.name.to_lowercase();
        let share = lower.split(|c: char| !c.is_alphanumeric()).any(|word| SHARES.contains(&word));
        let is_share = share && unit.is_none() && low >= 0.0 && high <= 1.0;
        // The least that tells a hundredth of the range.
        let of = [1e2, 1e3, 1e4, 1e5].into_iter().find(|of| (high - low) * of >= 100.0).unwrap_or(1e5);
        Self { label: words.join(" "), unit, of: is_share.then_some(of) }
    }

    /// A number without its unit.
    fn digits(&self, x: f64) -> String {
        match self.of {
            Some(of) => rounded(x * of),
            None => rounded(x),
        }
    }

    /// A number with its unit.
    pub fn number(&self, x: f64) -> String {
        match (&self.unit, self.of) {
            (Some(unit), _) => format!("{} {unit}", self.digits(x)),
            (None, Some(of)) => format!("{} of {}", self.digits(x), grouped(&of.to_string())),
            _ => self.digits(x),
        }
    }

    /// Two numbers, with their unit once.
    fn either(&self, [a, b]: [f64; 2]) -> String {
        match (&self.unit, self.of) {
            (None, Some(of)) => {
                format!(
                    "{} {} or {} of {}",
                    self.label,
                    self.digits(a),
                    self.digits(b),
                    grouped(&of.to_string())
                )
            }
            _ => format!("{} {} or {}", self.label, self.number(a), self.number(b)),
        }
    }
}

/// At most five digits that matter, thousands apart.
fn rounded(x: f64) -> String {
    let size = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    let decimals = usize::try_from(4 - size).unwrap_or(0).min(12);
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    grouped(text)
}

fn grouped(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, rest) = number.split_once('.').map_or((number, None), |(whole, rest)| (whole, Some(rest)));
    let mut text = String::from(sign);
    for (n, digit) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n) % 3 == 0 && whole.len() > 4 {
            text.push(',');
        }
        text.push(digit);
    }
    rest.map_or(text.clone(), |rest| format!("{text}.{rest}"))
}

/// The words for the questions about some candidates.
pub struct Words<'a> {
    candidates: &'a Candidates,
    /// In the order of the attributes.
    pub said: Vec<Said>,
}

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

impl<'a> Words<'a> {
    /// For these candidates.
    pub fn new(candidates: &'a Candidates) -> Self {
        Self { candidates, said: candidates.attributes().iter().map(Said::new).collect() }
    }

    fn name(&self, point: &[f64]) -> Option<&'a str> {
        let member = self.candidates.members().iter().find(|member| member.point == point);
        member.map(|member| member.name.as_str())
    }

    /// Both are candidates.
    fn is_real(&self, query: &Query) -> bool {
        self.name(&query.first).is_some() && self.name(&query.second).is_some()
    }

    /// What differs, in one line.
    pub fn difference(&self, query: &Query) -> String {
        let pairs = query.first.iter().zip(&query.second).zip(&self.said);
        let differ = pairs.filter(|((a, b), _)| a != b).map(|((a, b), said)| said.either([*a, *b]));
        differ.collect::<Vec<_>>().join("; ")
    }

    /// A question for a program; names are those of candidates, where both are real.
    pub fn line(&self, question: usize, length: Option<Length>, query: &Query) -> Line<'a> {
        let real = self.is_real(query);
        let side = |point: &[f64]| Side {
            name: self.name(point).filter(|_| real),
            attributes: {
                let named = self.candidates.attributes().iter().zip(point);
                named.map(|(attribute, x)| (attribute.name.clone(), Value::from(*x))).collect()
            },
        };
        Line {
            format: equipoise::FORMAT,
            question,
            of_about: length.map(|length| length.at_least(question).questions()),
            first: side(&query.first),
            second: side(&query.second),
            difference: self.difference(query),
        }
    }

    /// Writes a question for a person: what differs, side by side.
    pub fn write(
        &self,
        question: usize,
        length: Option<Length>,
        query: &Query,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let length = length.map_or(String::new(), |length| format!(" {}", length.at_least(question)));
        writeln!(out, "Question {question}{length}")?;
        let differ: Vec<usize> =
            (0..self.said.len()).filter(|&n| query.first[n] != query.second[n]).collect();
        let rows: Vec<[String; 3]> = differ
            .iter()
            .map(|&n| {
                let said = &self.said[n];
                [said.label.clone(), said.number(query.first[n]), said.number(query.second[n])]
            })
            .collect();
        let width = |column: usize, least: usize| {
            rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(least)
        };
        let (names, first) = (width(0, 4), width(1, 6));
        writeln!(out, "  {:names$}  {:first$}  B", "", "A")?;
        for [label, a, b] in &rows {
            writeln!(out, "  {label:names$}  {a:first$}  {b}")?;
        }
        match (self.is_real(query), differ.len() == self.said.len()) {
            (true, true) => writeln!(out, "  Both are candidates."),
            (true, false) => writeln!(out, "  Both are candidates; all else is equal."),
            (false, true) => writeln!(out, "  Imagine two such candidates."),
            (false, false) => writeln!(out, "  Imagine two such candidates; all else is equal."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::metric::Direction;

    #[test]
    fn questions_read_as_people_say_them() {
        let of = |name: &str, unit: Option<&str>, values: &[f64]| {
            let attribute = Attribute::guessed(name, Direction::Minimize, values).unwrap();
            Attribute { unit: unit.map(str::to_owned), ..attribute }
        };
        let attributes = vec![
            of("latency_ms", Some("ms"), &[40.0, 120.0]),
            of("missed fraud", None, &[0.022, 0.131]),
            of("params", None, &[1_500_000.0, 12_000_000.0]),
        ];
        let points = [vec![40.0, 0.031, 12e6], vec![120.0, 0.022, 12e6]];
        let named = points.iter().enumerate().map(|(n, point)| (format!("m{n}"), point.clone())).collect();
        let set = Candidates::new(attributes, named).unwrap();
        let query = Query::new(points[0].clone(), points[1].clone());
        let words = Words::new(&set);
        assert_eq!(words.difference(&query), "latency 40 ms or 120 ms; missed fraud 31 or 22 of 1000");
        assert_eq!(words.said[2].number(1_500_000.0), "1,500,000");
        assert_eq!(rounded(0.123_456_7), "0.12346");
        let line = serde_json::to_value(words.line(1, None, &query)).unwrap();
        assert_eq!(line["first"]["name"], "m0");
        assert_eq!(line["second"]["attributes"]["latency_ms"], 120.0);
    }
}
