//! Candidates with attributes: a row per attribute, in an order that stays; what differs is large, all else stands back.

use crate::language::{Language, Words, fill};
use crate::sentence;
use askama::Template;
use equipoise_study::Study;
use equipoise_study::shown::Shown;
use equipoise_study::study::{Better, Has};

#[derive(Template)]
#[template(path = "attributes.html")]
struct Attributes {
    words: &'static Words,
    names: [String; 2],
    rows: Vec<Row>,
}

struct Row {
    what: String,
    /// What it is counted in, and which way is better.
    hint: String,
    numbers: [String; 2],
    meters: [String; 2],
    /// By how much the second differs; nothing if it does not.
    change: Option<String>,
}

/// A number without its unit, as a language writes it.
pub fn number(has: &Has, x: f64, language: Language) -> String {
    language.numbers().localized(&has.number(x))
}

/// What an attribute is counted in.
pub fn unit(study: &Study, has: &Has, language: Language) -> Option<String> {
    let out_of = has.out_of.map(|of| {
        let values =
            [("count", &*language.numbers().count(of)), ("people", study.task.people.r#in(language.tag()))];
        fill(language.words().out_of, &values)
    });
    has.unit.as_ref().map(|unit| unit.r#in(language.tag()).to_owned()).or(out_of)
}

/// The table of attributes.
pub fn html(study: &Study, shown: &Shown, language: Language) -> String {
    let Some(values) = &shown.values else { return String::new() };
    let words = language.words();
    let row = |(n, has): (usize, &Has)| {
        let [a, b] = [values[0][n], values[1][n]];
        let better = match has.better {
            Better::Less => words.less_is_better,
            Better::More => words.more_is_better,
        };
        let range = study.ranges.get(n).copied().unwrap_or([a.min(b), a.max(b)]);
        Row {
            what: has.name.r#in(language.tag()).to_owned(),
            hint: unit(study, has, language).map_or(better.to_owned(), |unit| format!("{unit}, {better}")),
            numbers: [a, b].map(|x| number(has, x, language)),
            meters: [a, b].map(|x| if a == b { String::new() } else { meter(x, range) }),
            change: change(has, [a, b], language),
        }
    };
    let names = ["A", "B"].map(|letter| sentence::system(study, letter, language));
    let rows = study.task.attributes.iter().enumerate().map(row).collect();
    Attributes { words, names, rows }.render().expect("templates write to a string")
}

/// How much more or less the second has: +12, −3.
fn change(has: &Has, [a, b]: [f64; 2], language: Language) -> Option<String> {
    let sign = if b > a { '+' } else { '−' };
    (a != b).then(|| format!("{sign}{}", number(has, (b - a).abs(), language)))
}

/// The difference in words: "With B: Price 3 euros instead of 5 …". Every row that differs is named.
pub fn difference(study: &Study, shown: &Shown, language: Language) -> String {
    let Some(values) = &shown.values else { return String::new() };
    let words = language.words();
    let differ =
        study.task.attributes.iter().zip(values[0].iter().zip(&values[1])).filter(|(_, (a, b))| a != b);
    let told = |(has, (a, b)): (&Has, (&f64, &f64))| {
        let [first, second] = [a, b].map(|x| number(has, *x, language));
        let first = unit(study, has, language).map_or(first.clone(), |unit| format!("{first} {unit}"));
        let name = has.name.r#in(language.tag());
        fill(words.instead, &[("name", name), ("second", &second), ("first", &first)])
    };
    let parts: Vec<String> = differ.map(told).collect();
    match parts.is_empty() {
        true => words.difference_none.to_owned(),
        false => fill(words.difference, &[("system", "B"), ("list", &sentence::list(language, &parts))]),
    }
}

/// A bar on the row's own scale, which begins at nought where all numbers are above it.
fn meter(x: f64, [low, high]: [f64; 2]) -> String {
    let from = low.min(0.0);
    let width = 100.0 * ((x - from) / (high - from).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    super::meter(width)
}
