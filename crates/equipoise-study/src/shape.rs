//! Tables whose fields depend on their `kind`: checked by hand, since serde forgets the lines of what is inside them.

use crate::error::{Error, Result};
use crate::lines::Lines;
use toml::de::DeValue;

/// What a field may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Holds {
    Number,
    Whole,
    Flag,
    String,
    Text,
    Texts,
    Numbers,
    Rows,
}

impl Holds {
    fn word(self) -> &'static str {
        match self {
            Holds::Number => "a number",
            Holds::Whole => "a whole number",
            Holds::Flag => "true or false",
            Holds::String => "a string",
            Holds::Text => "a string, or a table with a string per language",
            Holds::Texts => "a list of texts",
            Holds::Numbers => "a list of numbers",
            Holds::Rows => "a list of lists of numbers",
        }
    }

    fn fits(self, value: &DeValue<'_>) -> bool {
        let each = |of: Holds| match value {
            DeValue::Array(entries) => entries.iter().all(|entry| of.fits(entry.get_ref())),
            _ => false,
        };
        match self {
            Holds::Number => matches!(value, DeValue::Integer(_) | DeValue::Float(_)),
            Holds::Whole => matches!(value, DeValue::Integer(_)),
            Holds::Flag => matches!(value, DeValue::Boolean(_)),
            Holds::String => matches!(value, DeValue::String(_)),
            Holds::Text => match value {
                DeValue::Table(texts) => {
                    texts.iter().all(|(_, text)| matches!(text.get_ref(), DeValue::String(_)))
                }
                value => matches!(value, DeValue::String(_)),
            },
            Holds::Texts => each(Holds::Text),
            Holds::Numbers => each(Holds::Number),
            Holds::Rows => each(Holds::Numbers),
        }
    }
}

/// A field: its name, what it holds, whether it must be there.
type Field = (&'static str, Holds, bool);
/// The kinds of a table, each with its fields.
type Kinds = &'static [(&'static str, &'static [Field])];

const SPACE: Kinds = &[
    ("logistic", &[("slope", Holds::Number, true), ("offset", Holds::Number, false)]),
    (
        "table",
        &[
            ("file", Holds::String, true),
            ("truth", Holds::String, false),
            ("score", Holds::String, false),
            ("group", Holds::String, false),
            ("smooth", Holds::String, false),
            ("around", Holds::String, false),
        ],
    ),
    ("pool", &[("file", Holds::String, true)]),
    ("attributes", &[("file", Holds::String, true), ("name", Holds::String, false)]),
    ("ball", &[("radius", Holds::Number, true), ("class_shares", Holds::Numbers, true)]),
    (
        "group_ball",
        &[
            ("radius", Holds::Number, true),
            ("class_shares", Holds::Numbers, true),
            ("group_shares", Holds::Rows, true),
        ],
    ),
];

const ITEM: &[Field] = &[
    ("id", Holds::String, true),
    ("position", Holds::String, true),
    ("question", Holds::Text, true),
    ("sensitive", Holds::Flag, false),
];

const ITEMS: Kinds = &[
    ("number", &[("least", Holds::Number, true), ("most", Holds::Number, true)]),
    ("single", &[("options", Holds::Texts, true)]),
    ("multiple", &[("options", Holds::Texts, true)]),
    ("text", &[("most", Holds::Whole, false)]),
    ("scale", &[("steps", Holds::Whole, true), ("low", Holds::Text, true), ("high", Holds::Text, true)]),
];

/// Looks at all tables that have a kind.
pub fn check(lines: &Lines<'_>) -> Result<()> {
    one(lines, "space", SPACE, &[])?;
    for n in 0..lines.entries("questionnaire") {
        one(lines, &format!("questionnaire.{n}"), ITEMS, ITEM)?;
    }
    Ok(())
}

fn one(lines: &Lines<'_>, path: &str, kinds: Kinds, common: &[Field]) -> Result<()> {
    // What is not a table at all is found when the file is read.
    let Some(DeValue::Table(table)) = lines.value(path) else { return Ok(()) };
    let wrong = |path: &str, what: String| Error::study(lines.line(path), what);
    let known = || kinds.iter().map(|(kind, _)| *kind).collect::<Vec<_>>().join(", ");
    let place = format!("{path}.kind");
    let fields = match table.get("kind").map(|kind| kind.get_ref()) {
        Some(DeValue::String(kind)) => match kinds.iter().find(|(name, _)| *name == &**kind) {
            Some((_, fields)) => fields,
            None => return Err(wrong(&place, format!("{place} is \"{kind}\", expected one of {}", known()))),
        },
        Some(_) => {
            return Err(wrong(&place, format!("{place} is not a string, expected one of {}", known())));
        }
        None => return Err(wrong(path, format!("{path} has no kind, expected one of {}", known()))),
    };
    let all = || common.iter().chain(*fields);
    let mut entries: Vec<_> = table.iter().collect();
    // The first in the file is said first.
    entries.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in entries {
        let place = format!("{path}.{}", key.get_ref());
        match all().find(|(name, ..)| *name == &**key.get_ref()) {
            Some((_, holds, _)) if !holds.fits(value.get_ref()) => {
                return Err(wrong(&place, format!("{place} is of another kind, expected {}", holds.word())));
            }
            None if &**key.get_ref() != "kind" => {
                let names: Vec<&str> = all().map(|(name, ..)| *name).collect();
                let what = format!("unknown field {}, expected one of {}", key.get_ref(), names.join(", "));
                return Err(wrong(&place, what));
            }
            _ => {}
        }
    }
    match all().find(|(name, _, needed)| *needed && !table.contains_key(*name)) {
        Some((name, holds, _)) => {
            Err(wrong(path, format!("{path}.{name} is missing, expected {}", holds.word())))
        }
        None => Ok(()),
    }
}
