//! What models have beside their predictions: latency, price, size, from a file, and rates that a metric of attributes weighs.

use crate::fault::Fault;
use crate::files;
use anyhow::{Context as _, Result};
use equipoise::Metric;
use equipoise::decide::rank::Attributed;
use equipoise::decide::threshold::Requirement;
use equipoise::metric::{Attribute, Family, Named};
use equipoise::rates::Prevalence;
use equipoise_data::{Note, read};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

/// Words that begin the name of a rate.
const RATES: [&str; 8] = ["recall", "precision", "fpr", "fnr", "coverage", "rate", "accuracy", "gap"];
/// Those that mean the positive class where there are two and none is named.
const OF_POSITIVE: [&str; 5] = ["recall", "precision", "fpr", "fnr", "coverage"];

/// Whether models may have attributes, where they stand, and by which other names the file may call the models.
#[derive(Clone, Copy)]
pub struct Carrying<'a> {
    /// Whether a metric may be about attributes.
    pub allowed: bool,
    /// The file.
    pub file: Option<&'a Path>,
    /// What models are besides their names, in their order.
    pub roles: &'a [&'a str],
}

impl Carrying<'_> {
    /// Predictions alone are judged.
    pub const NONE: Self = Self { allowed: false, file: None, roles: &[] };
}

/// An attribute of every model, for tables and `--json`.
#[derive(Debug, Clone, Serialize)]
pub struct Column {
    pub name: String,
    /// In the order of the models; nothing where the file says nothing.
    pub values: Vec<Option<f64>>,
}

impl Column {
    /// What model number n has, in words.
    pub fn of(&self, n: usize) -> String {
        let digits = |value: f64| match value.abs() {
            size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
            size if size >= 1.0 => format!("{value:.2}"),
            _ => format!("{value:.4}"),
        };
        self.values[n].map_or("-".to_owned(), digits)
    }
}

/// Models by name, each with its fields as they stand in a file.
type Listed = Vec<(String, Map<String, Value>)>;

/// What a file says of models.
struct Carried {
    file: String,
    models: Listed,
}

impl Carried {
    fn read(path: &Path) -> Result<Self> {
        let file = files::name(path);
        let json =
            path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")) || path == Path::new("-");
        let models = if json { from_json(&files::read(path)?) } else { from_table(path)? };
        let models = models.map_err(|what| Fault::input_output(format!("{file}: {what}")))?;
        Ok(Self { file, models })
    }

    /// What it says of a model with one of these names.
    fn of(&self, names: &[&str]) -> Result<&Map<String, Value>> {
        let found = names.iter().find_map(|name| self.models.iter().find(|(own, _)| own == name));
        found.map(|(_, fields)| fields).ok_or_else(|| {
            let known: Vec<&str> = self.models.iter().map(|(name, _)| name.as_str()).collect();
            let what = format!(
                "{} says nothing of {}, found {}",
                self.file,
                names.join(" or "),
                if known.is_empty() { "no models".to_owned() } else { known.join(", ") }
            );
            Fault::usage(what).into()
        })
    }

    fn number(&self, model: &str, name: &str, value: &Value) -> Result<f64> {
        value.as_f64().filter(|x| x.is_finite()).ok_or_else(|| {
            let what = format!("{}: {name} of {model} is {value}, expected a finite number", self.file);
            Fault::input_output(what).into()
        })
    }
}

fn from_json(text: &str) -> Result<Listed, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
    let expected = "expected an object of models such as {\"champion\": {\"latency_ms\": 40}}";
    let Value::Object(models) = document else { return Err(format!("found no object, {expected}")) };
    let model = |(name, fields)| match fields {
        Value::Object(fields) => Ok((name, fields)),
        other => Err(format!("found {other} for {name}, {expected}")),
    };
    models.into_iter().map(model).collect()
}

/// A row per model; names stand in the column `model` or `name`, or in the first.
fn from_table(path: &Path) -> Result<Result<Listed, String>> {
    let header = read::header(path)?;
    let of_names =
        header.iter().position(|name| ["model", "name"].contains(&name.to_lowercase().as_str())).unwrap_or(0);
    let texts = read::texts(path, &header)?;
    let cell = |text: &String| match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Value::from(number),
        _ => Value::from(text.clone()),
    };
    let row = |(n, name): (usize, &String)| {
        let others = header.iter().zip(&texts).enumerate().filter(|(column, _)| *column != of_names);
        (name.clone(), others.map(|(_, (column, cells))| (column.clone(), cell(&cells[n]))).collect())
    };
    let models: Listed = texts[of_names].iter().enumerate().map(row).collect();
    let twice = (0..models.len()).find(|&n| models[..n].iter().any(|(name, _)| *name == models[n].0));
    Ok(match twice {
        Some(n) => Err(format!("found {} in two rows, expected a row per model", models[n].0)),
        None => Ok(models),
    })
}

/// What the attributes of some models are measured on.
pub struct Data<'a> {
    pub models: Vec<&'a str>,
    pub classes: &'a [String],
    pub groups: &'a [String],
    pub prevalence: &'a Prevalence,
}

/// The attributes of models.
#[derive(Default)]
pub struct Attributes {
    /// Those that count, model by model in the order of the metric; nothing where it is about errors.
    pub counted: Vec<Vec<Attributed>>,
    /// Those of the file that do not count, for whoever reads the table.
    pub shown: Vec<Column>,
    /// What is to be said about them.
    pub notes: Vec<Note>,
}

/// Finds what a metric weighs, or what a file has to show beside a metric of errors.
pub fn find(metric: &Metric, carrying: Carrying, data: &Data) -> Result<Attributes> {
    let carried = carrying.file.map(Carried::read).transpose()?;
    let names = |n: usize| -> Vec<&str> {
        carrying.roles.get(n).copied().into_iter().chain([data.models[n]]).collect()
    };
    let count = data.models.len();
    // Whatever the metric, a model that the file forgot is worth a word.
    let found = match &carried {
        Some(carried) => (0..count).map(|n| carried.of(&names(n))).collect::<Result<Vec<_>>>()?,
        None => vec![],
    };
    let Family::Attributes(family) = metric.family() else {
        let Some(carried) = &carried else { return Ok(Attributes::default()) };
        let mut shown: Vec<Column> = vec![];
        for name in found.iter().flat_map(|fields| fields.keys()) {
            if shown.iter().all(|column| column.name != *name) {
                let value =
                    |n: usize| found[n].get(name).map(|value| carried.number(data.models[n], name, value));
                let values = (0..count).map(|n| value(n).transpose()).collect::<Result<_>>()?;
                shown.push(Column { name: name.clone(), values });
            }
        }
        let what =
            "attributes are shown and do not count: the metric is about classification errors".to_owned();
        return Ok(Attributes { shown, notes: vec![Note::Choice(what)], ..Attributes::default() });
    };
    let (mut counted, mut notes) = (vec![vec![]; count], vec![]);
    for attribute in family.attributes() {
        let name = &attribute.name;
        match &carried {
            Some(carried) if found.iter().any(|fields| fields.contains_key(name)) => {
                for (n, fields) in found.iter().enumerate() {
                    let model = data.models[n];
                    let value = fields.get(name).ok_or_else(|| {
                        Fault::usage(format!(
                            "{} has no {name} of {model}, but of another model",
                            carried.file
                        ))
                    })?;
                    let value = carried.number(model, name, value)?;
                    attribute.check(value).with_context(|| format!("{}: {model}", carried.file))?;
                    notes.extend(beyond(attribute, value, model));
                    counted[n].push(Attributed::Given(value));
                }
            }
            _ => {
                let measured = measured(name, data)?.ok_or_else(|| missing(name, carried.as_ref()))?;
                counted.iter_mut().for_each(|own| own.push(measured.clone()));
            }
        }
    }
    Ok(Attributes { counted, notes, ..Attributes::default() })
}

/// Weights are those of the range that people saw; beyond it they are a guess.
pub fn beyond(attribute: &Attribute, value: f64, model: &str) -> Option<Note> {
    let ([low, high], name) = (attribute.range, &attribute.name);
    (value < low || value > high).then(|| {
        Note::Finding(format!(
            "{name} of {model} is {value}, beyond the range from {low} to {high} that the weights were asked for"
        ))
    })
}

/// How an attribute is read off predictions, if its name says so.
fn measured(name: &str, data: &Data) -> Result<Option<Attributed>> {
    let word = name.split([':', '@']).next().unwrap_or_default().trim();
    if RATES.contains(&word) {
        let text = match data.classes {
            [_, positive] if OF_POSITIVE.contains(&name) => format!("{name}:{positive}"),
            _ => name.to_owned(),
        };
        let rate = Requirement::unbounded(&text, data.classes, data.groups)
            .context("the attribute of the metric")?;
        return Ok(Some(Attributed::Rate(rate)));
    }
    let Some(named) = Named::parse(name) else { return Ok(None) };
    let metric =
        named.metric(data.prevalence).with_context(|| format!("the attribute \"{name}\" of the metric"))?;
    Ok(Some(Attributed::Value(Box::new(metric))))
}

fn missing(name: &str, carried: Option<&Carried>) -> anyhow::Error {
    let rest = "and it is no rate such as recall:CLASS and no metric's name that predictions would give";
    Fault::usage(match carried {
        Some(carried) => {
            format!(
                "the metric weighs {name}, but {} does not have it for any of the models, {rest}",
                carried.file
            )
        }
        None => format!("the metric weighs {name}, but --attributes names no file that has it, {rest}"),
    })
    .into()
}
