//! Candidates from a table: which columns are attributes, which way each is better, and who is whom.

use crate::args::{Among, Choose};
use crate::fault::Fault;
use crate::files;
use anyhow::{Context as _, Result};
use equipoise::metric::{Attribute, Direction, Transform};
use equipoise::space::Candidates;
use equipoise_data::read;
use std::collections::HashMap;
use std::path::Path;

/// What a table has to choose from.
pub struct Front {
    /// Those that are asked about; none where there is nothing to ask.
    pub candidates: Result<Candidates, String>,
    /// Who is dominated, and by whom.
    pub dominated: Vec<(String, String)>,
    /// How many rows the table has.
    pub rows: usize,
    /// What was guessed or left out.
    pub notes: Vec<String>,
}

/// Words in the names of columns of which less, or more, is better.
const LESS: [&str; 39] = [
    "price",
    "cost",
    "costs",
    "usd",
    "eur",
    "gbp",
    "latency",
    "time",
    "duration",
    "delay",
    "seconds",
    "sec",
    "ms",
    "minutes",
    "hours",
    "size",
    "bytes",
    "kb",
    "mb",
    "gb",
    "params",
    "parameters",
    "memory",
    "tokens",
    "error",
    "errors",
    "loss",
    "gap",
    "missed",
    "misses",
    "false",
    "fpr",
    "fnr",
    "mae",
    "mse",
    "rmse",
    "disparity",
    "energy",
    "perplexity",
];
const MORE: [&str; 22] = [
    "accuracy",
    "acc",
    "recall",
    "precision",
    "auc",
    "auroc",
    "f1",
    "score",
    "r2",
    "tpr",
    "tnr",
    "sensitivity",
    "specificity",
    "throughput",
    "coverage",
    "bleu",
    "rouge",
    "map",
    "ndcg",
    "reward",
    "kappa",
    "mcc",
];

/// Words at the end of a column's name that are units.
const UNITS: [&str; 18] = [
    "ms", "us", "s", "sec", "seconds", "minutes", "hours", "usd", "eur", "gbp", "cents", "kb", "mb", "gb",
    "bytes", "km", "kg", "pct",
];

fn words(name: &str) -> Vec<String> {
    let split = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    split.map(str::to_lowercase).collect()
}

/// Which way a column is better, as its name says it; an error rate is an error though accuracy is in its name.
fn direction_of(name: &str) -> Option<Direction> {
    let words = words(name);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    match (any(&LESS), any(&MORE)) {
        (true, _) => Some(Direction::Minimize),
        (_, true) => Some(Direction::Maximize),
        _ => None,
    }
}

fn number(cell: &str) -> Option<f64> {
    cell.trim().parse::<f64>().ok().filter(|x| x.is_finite())
}

fn is_missing(cell: &str) -> bool {
    let cell = cell.trim().to_lowercase();
    matches!(cell.as_str(), "" | "nan" | "na" | "n/a" | "null" | "none" | "inf" | "-inf")
}

/// Columns that were named on the command line must be there.
fn check_names(args: &Choose, header: &[String]) -> Result<()> {
    let scaled = args.scale.iter().filter_map(|part| part.split('=').next());
    let named = args.name.iter().chain(&args.minimize).chain(&args.maximize).chain(&args.ignore);
    for column in named.map(String::as_str).chain(scaled) {
        if !header.iter().any(|name| name == column) {
            let what = format!("there is no column \"{column}\", expected one of {}", header.join(", "));
            return Err(Fault::usage(what).into());
        }
    }
    if let Some(both) = args.minimize.iter().find(|name| args.maximize.contains(name)) {
        return Err(Fault::usage(format!(
            "column \"{both}\" is to be minimized and maximized, expected one of them"
        ))
        .into());
    }
    Ok(())
}

fn scales(args: &Choose) -> Result<HashMap<&str, Transform>> {
    let scale = |part: &'static str| {
        Fault::usage(format!("--scale {part}, expected COL=linear, COL=log or COL=logit"))
    };
    let mut found = HashMap::new();
    for part in &args.scale {
        let (name, word) = part.split_once('=').ok_or_else(|| scale("names no scale"))?;
        let transform = match word {
            "linear" => Transform::Linear,
            "log" => Transform::Log,
            "logit" => Transform::Logit,
            _ => return Err(scale("names a scale that there is not").into()),
        };
        found.insert(name, transform);
    }
    Ok(found)
}

/// What `equipoise choose TABLE` is told, and nothing else.
pub fn plainly(table: &Path) -> Choose {
    Choose { table: table.to_owned(), ..Choose::default() }
}

/// Reads the table.
pub fn front(args: &Choose) -> Result<Front> {
    let file = files::name(&args.table);
    let header = read::header(&args.table)?;
    check_names(args, &header).with_context(|| file.clone())?;
    let wanted: Vec<&String> = header.iter().filter(|name| !args.ignore.contains(name)).collect();
    let columns: HashMap<&str, Vec<String>> = {
        let texts = read::texts(&args.table, &wanted)?;
        wanted.iter().map(|name| name.as_str()).zip(texts).collect()
    };
    let rows = columns.values().next().map_or(0, Vec::len);
    let is_text = |name: &str| {
        let cells = &columns[name];
        cells.iter().any(|cell| number(cell).is_none() && !is_missing(cell))
    };
    let asked_for = |name: &String| args.minimize.contains(name) || args.maximize.contains(name);
    let mut notes = vec![];
    let of_names = match &args.name {
        Some(name) => Some(name.clone()),
        None => wanted.iter().find(|name| is_text(name) && !asked_for(name)).map(|name| (*name).clone()),
    };
    let names: Vec<String> = match &of_names {
        Some(column) if columns.contains_key(column.as_str()) => columns[column.as_str()].clone(),
        _ => (1..=rows).map(|n| format!("row {n}")).collect(),
    };
    let scales = scales(args)?;
    let mut attributes: Vec<(Attribute, Vec<f64>)> = vec![];
    for name in wanted.iter().filter(|name| Some(**name) != of_names.as_ref()) {
        let cells = &columns[name.as_str()];
        if is_text(name) {
            if asked_for(name) {
                let row =
                    cells.iter().position(|cell| number(cell).is_none() && !is_missing(cell)).unwrap_or(0);
                let what = format!(
                    "{file}: column \"{name}\" is \"{}\" in row {}, expected numbers",
                    cells[row],
                    row + 1
                );
                return Err(Fault::input_output(what).into());
            }
            notes.push(format!("column \"{name}\" is text and left out"));
            continue;
        }
        if let Some(row) = cells.iter().position(|cell| is_missing(cell)) {
            let what = format!(
                "{file}: column \"{name}\" has no number in row {}: fill it in, leave the row out, or --ignore {name}",
                row + 1
            );
            return Err(Fault::input_output(what).into());
        }
        let values: Vec<f64> = cells.iter().filter_map(|cell| number(cell)).collect();
        let told = [(&args.minimize, Direction::Minimize), (&args.maximize, Direction::Maximize)];
        let told = told.into_iter().find(|(list, _)| list.contains(name)).map(|(_, direction)| direction);
        if values.iter().all(|x| *x == values[0]) {
            notes.push(format!("\"{name}\" is {} everywhere and left out", values[0]));
            continue;
        }
        let Some(direction) = told.or_else(|| direction_of(name)) else {
            let what = format!(
                "{file}: nothing says whether more of \"{name}\" is better: --maximize {name}, --minimize {name} or --ignore {name}"
            );
            return Err(Fault::usage(what).into());
        };
        if told.is_none() {
            let way = if direction == Direction::Minimize { "less" } else { "more" };
            notes.push(format!("{way} of \"{name}\" is taken to be better, as its name says"));
        }
        let mut attribute = Attribute::guessed(name, direction, &values)?;
        if let Some(transform) = scales.get(name.as_str()) {
            attribute.transform = *transform;
            values.iter().try_for_each(|x| attribute.check(*x)).with_context(|| file.clone())?;
        }
        attribute.unit =
            words(name).pop().filter(|last| UNITS.contains(&last.as_str()) && words(name).len() > 1);
        attributes.push((attribute, values));
    }
    chosen(args, &file, names, attributes, notes)
}

fn chosen(
    args: &Choose,
    file: &str,
    names: Vec<String>,
    attributes: Vec<(Attribute, Vec<f64>)>,
    notes: Vec<String>,
) -> Result<Front> {
    let rows = names.len();
    if rows < 2 {
        let what = format!("{file}: the table has {rows} candidates, expected at least 2 to choose from");
        return Err(Fault::input_output(what).into());
    }
    if attributes.is_empty() {
        let what = format!("{file}: there is no column of numbers that differ, so nothing to choose by");
        return Err(Fault::input_output(what).into());
    }
    if let [(attribute, values)] = &attributes[..] {
        // One attribute needs no questions.
        let worth = |n: &usize| attribute.worth(values[*n]);
        let best = (0..rows).rev().max_by(|a, b| worth(a).total_cmp(&worth(b))).unwrap_or(0);
        let dominated =
            (0..rows).filter(|n| *n != best).map(|n| (names[n].clone(), names[best].clone())).collect();
        return Ok(Front { candidates: Err(names[best].clone()), dominated, rows, notes });
    }
    let named = names
        .iter()
        .enumerate()
        .map(|(n, name)| (name.clone(), attributes.iter().map(|(_, values)| values[n]).collect()));
    let list = attributes.iter().map(|(attribute, _)| attribute.clone()).collect();
    let all = Candidates::new(list, named.collect()).with_context(|| file.to_owned())?;
    let found = all.dominated();
    let dominated = found.iter().map(|(n, by)| (names[*n].clone(), names[*by].clone())).collect();
    let places: Vec<usize> = found.iter().map(|(n, _)| *n).collect();
    let candidates = match () {
        () if rows - places.len() == 1 => {
            let left = (0..rows).find(|n| places.binary_search(n).is_err()).unwrap_or(0);
            Err(names[left].clone())
        }
        () if args.among == Among::All => Ok(all),
        () => Ok(all.without(&places)?),
    };
    let candidates = candidates.map(|set| if args.only_real { set.only_real() } else { set });
    Ok(Front { candidates, dominated, rows, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_way_is_better() {
        assert_eq!(direction_of("latency_ms"), Some(Direction::Minimize));
        assert_eq!(direction_of("Missed fraud"), Some(Direction::Minimize));
        assert_eq!(direction_of("test-recall"), Some(Direction::Maximize));
        assert_eq!(direction_of("score loss"), Some(Direction::Minimize));
        assert_eq!(direction_of("depth"), None);
    }
}
