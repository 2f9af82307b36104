//! Candidates from columns: which of them are attributes, which way each is better, and who is whom.

use equipoise::metric::{Attribute, Direction, Transform};
use equipoise::space::Candidates;
use std::collections::{HashMap, HashSet};

/// What a table has to choose from.
#[derive(Debug, Clone)]
pub struct Front {
    /// Those that are asked about; where there is nothing to ask, who is best.
    pub candidates: Result<Candidates, String>,
    /// The rows of those that are asked about, or of the best.
    pub places: Vec<usize>,
    /// Who is dominated, and by whom.
    pub dominated: Vec<(String, String)>,
    /// How many rows the table has.
    pub rows: usize,
    /// What was guessed or left out.
    pub notes: Vec<String>,
}

/// What is to be made of the columns, as far as somebody says it.
pub struct Wanted<'a> {
    /// The column of names.
    pub name: Option<&'a str>,
    /// Columns of which less is better.
    pub minimize: &'a [String],
    /// Columns of which more is better.
    pub maximize: &'a [String],
    /// Columns to leave out.
    pub ignore: &'a [String],
    /// The scales of columns.
    pub scale: &'a [(String, Transform)],
    /// Whether dominated candidates are asked about, too.
    pub all: bool,
    /// Whether nothing is imagined.
    pub only_real: bool,
    /// How an option about a column is written: `--ignore seed`.
    pub option: fn(&str, &str) -> String,
}

/// Why a table leaves nothing to choose from.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// What was wanted of it cannot be done.
    #[error("{0}")]
    Wanted(String),
    /// What is in it.
    #[error("{0}")]
    Table(String),
    /// What candidates cannot be.
    #[error(transparent)]
    Candidates(#[from] equipoise::Error),
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

/// What to write instead of a number as people write it.
fn plainly(cell: &str) -> String {
    let cell = cell.trim();
    let hint = match cell.strip_suffix('%') {
        Some(percent) => number(percent).map(|x| (x / 100.0).to_string()),
        // Thousands, or a decimal comma.
        None => match cell.split(',').skip(1).all(|part| part.len() == 3) {
            true => number(&cell.replace(',', "")).map(|x| x.to_string()),
            false => number(&cell.replacen(',', ".", 1)).map(|x| x.to_string()),
        },
    };
    hint.map(|plain| format!(" such as {plain}")).unwrap_or_default()
}

fn number(cell: &str) -> Option<f64> {
    cell.trim().parse::<f64>().ok().filter(|x| x.is_finite())
}

fn is_missing(cell: &str) -> bool {
    let cell = cell.trim().to_lowercase();
    matches!(cell.as_str(), "" | "nan" | "na" | "n/a" | "null" | "none" | "inf" | "-inf")
}

/// The row of the first text in a column that is no number.
fn text_in(cells: &[String]) -> Option<usize> {
    cells.iter().position(|cell| number(cell).is_none() && !is_missing(cell))
}

impl Wanted<'_> {
    /// The columns of a table that are looked at; those that were named must be there.
    pub fn columns<'h>(&self, header: &'h [String]) -> Result<Vec<&'h String>, Refused> {
        let named = self.minimize.iter().chain(self.maximize).chain(self.ignore);
        let named = named.chain(self.scale.iter().map(|(column, _)| column)).map(String::as_str);
        for column in self.name.into_iter().chain(named) {
            if !header.iter().any(|name| name == column) {
                let known = header.join(", ");
                let what = format!("there is no column \"{column}\", expected one of {known}");
                return Err(Refused::Wanted(what));
            }
        }
        if let Some(both) = self.minimize.iter().find(|name| self.maximize.contains(name)) {
            let what = format!("column \"{both}\" is to be minimized and maximized, expected one of them");
            return Err(Refused::Wanted(what));
        }
        Ok(header.iter().filter(|name| !self.ignore.contains(name)).collect())
    }

    fn asks_for(&self, name: &str) -> Option<Direction> {
        let told = [(self.minimize, Direction::Minimize), (self.maximize, Direction::Maximize)];
        told.into_iter().find(|(list, _)| list.iter().any(|other| other == name)).map(|(_, way)| way)
    }

    /// A column as an attribute with its values; none if it is left out, which a note says.
    fn attribute(
        &self,
        name: &str,
        cells: &[String],
        notes: &mut Vec<String>,
    ) -> Result<Option<(Attribute, Vec<f64>)>, Refused> {
        let told = self.asks_for(name);
        if let Some(row) = text_in(cells) {
            // Whoever writes numbers like that does not mean them to be left out.
            let are_meant = cells.iter().all(|cell| number(cell).is_some() || !plainly(cell).is_empty());
            if told.is_some() || are_meant {
                let (found, row) = (&cells[row], row + 1);
                let plain = plainly(found);
                let what = format!("column \"{name}\" is \"{found}\" in row {row}, expected numbers{plain}");
                return Err(Refused::Table(what));
            }
            notes.push(format!("column \"{name}\" is text and left out"));
            return Ok(None);
        }
        if let Some(row) = cells.iter().position(|cell| is_missing(cell)) {
            let what = format!(
                "column \"{name}\" has no number in row {}: fill it in, leave the row out, or {}",
                row + 1,
                (self.option)("ignore", name)
            );
            return Err(Refused::Table(what));
        }
        let values: Vec<f64> = cells.iter().filter_map(|cell| number(cell)).collect();
        if values.iter().all(|x| *x == values[0]) {
            notes.push(format!("\"{name}\" is {} everywhere and left out", values[0]));
            return Ok(None);
        }
        let Some(direction) = told.or_else(|| direction_of(name)) else {
            let [more, less, out] =
                ["maximize", "minimize", "ignore"].map(|option| (self.option)(option, name));
            let what = format!("nothing says whether more of \"{name}\" is better: {more}, {less} or {out}");
            return Err(Refused::Wanted(what));
        };
        if told.is_none() {
            let way = if direction == Direction::Minimize { "less" } else { "more" };
            notes.push(format!("{way} of \"{name}\" is taken to be better, as its name says"));
        }
        let mut attribute = Attribute::guessed(name, direction, &values)?;
        if let Some((_, transform)) = self.scale.iter().rev().find(|(column, _)| column == name) {
            attribute.transform = *transform;
            values.iter().try_for_each(|x| attribute.check(*x))?;
        }
        let said = words(name);
        attribute.unit = (said.len() > 1)
            .then(|| said.last().cloned())
            .flatten()
            .filter(|last| UNITS.contains(&last.as_str()));
        Ok(Some((attribute, values)))
    }
}

/// The names and the points of candidates that a metric of attributes is to judge: a row each.
///
/// ```
/// use equipoise::metric::{Attribute, Direction};
/// let latency = Attribute::guessed("latency_ms", Direction::Minimize, &[40.0, 300.0])?;
/// let cells = |texts: [&str; 2]| texts.map(str::to_owned).to_vec();
/// let columns = [("model".to_owned(), cells(["a", "b"])), ("latency_ms".to_owned(), cells(["50", "fast"]))];
/// let wrong = equipoise_choice::points(&columns, &[latency]).unwrap_err();
/// assert_eq!(wrong, "column \"latency_ms\" is \"fast\" in row 2, expected a number");
/// # Ok::<(), equipoise::Error>(())
/// ```
pub fn points(
    columns: &[(String, Vec<String>)],
    attributes: &[Attribute],
) -> Result<(Vec<String>, Vec<Vec<f64>>), String> {
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    if rows == 0 {
        return Err("the table has no rows, expected a candidate in each".to_owned());
    }
    let mut points = vec![vec![]; rows];
    for Attribute { name, .. } in attributes {
        let (_, cells) = columns.iter().find(|(column, _)| column == name).ok_or_else(|| {
            let known: Vec<&str> = columns.iter().map(|(column, _)| column.as_str()).collect();
            format!(
                "there is no column \"{name}\", which the metric weighs; the table has {}",
                known.join(", ")
            )
        })?;
        for (row, (point, cell)) in points.iter_mut().zip(cells).enumerate() {
            let wrong = || {
                let plain = plainly(cell);
                format!("column \"{name}\" is \"{cell}\" in row {}, expected a number{plain}", row + 1)
            };
            point.push(number(cell).ok_or_else(wrong)?);
        }
    }
    let weighed = |name: &str| attributes.iter().any(|attribute| attribute.name == name);
    let others = || columns.iter().filter(|(name, _)| !weighed(name));
    let is_called = |name: &str| NAMES.contains(&name.to_lowercase().as_str());
    let of_names = others()
        .find(|(_, cells)| text_in(cells).is_some())
        .or_else(|| others().find(|(name, _)| is_called(name)));
    let mut names = of_names.map_or_else(|| numbered(rows), |(_, cells)| cells.clone());
    let mut seen = HashSet::new();
    for (row, name) in names.iter_mut().enumerate() {
        // Nobody could tell twins apart by their name.
        if !seen.insert(name.clone()) {
            *name = format!("{name} (row {})", row + 1);
        }
    }
    Ok((names, points))
}

/// What a column of names is called that has numbers in it.
const NAMES: [&str; 5] = ["name", "id", "model", "candidate", "trial"];

fn numbered(rows: usize) -> Vec<String> {
    (1..=rows).map(|n| format!("row {n}")).collect()
}

impl Front {
    /// Reads the columns, which have a cell per candidate.
    ///
    /// ```
    /// use equipoise_choice::{Front, Wanted};
    /// let wanted = Wanted {
    ///     name: None, minimize: &[], maximize: &[], ignore: &[], scale: &[], all: false, only_real: false,
    ///     option: |option, column| format!("--{option} {column}"),
    /// };
    /// let cells = |texts: [&str; 3]| texts.map(str::to_owned).to_vec();
    /// let columns = [
    ///     ("model".to_owned(), cells(["small", "large", "slow"])),
    ///     ("latency_ms".to_owned(), cells(["40", "300", "310"])),
    ///     ("recall".to_owned(), cells(["0.81", "0.93", "0.80"])),
    /// ];
    /// let front = Front::new(&columns, &wanted)?;
    /// assert_eq!(front.dominated, [("slow".to_owned(), "small".to_owned())]);
    /// assert_eq!(front.notes[0], "less of \"latency_ms\" is taken to be better, as its name says");
    /// # Ok::<(), equipoise_choice::Refused>(())
    /// ```
    pub fn new(columns: &[(String, Vec<String>)], wanted: &Wanted) -> Result<Self, Refused> {
        let rows = columns.first().map_or(0, |(_, cells)| cells.len());
        if rows < 2 {
            let what = format!("the table has {rows} candidates, expected at least 2 to choose from");
            return Err(Refused::Table(what));
        }
        let of_names = match wanted.name {
            Some(name) => Some(name),
            None => columns
                .iter()
                .find(|(name, cells)| text_in(cells).is_some() && wanted.asks_for(name).is_none())
                .map(|(name, _)| name.as_str()),
        };
        let by_name: HashMap<&str, &Vec<String>> =
            columns.iter().map(|(name, cells)| (name.as_str(), cells)).collect();
        let names = match of_names.and_then(|name| by_name.get(name)) {
            Some(cells) => (*cells).clone(),
            None => numbered(rows),
        };
        let mut seen = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
            let column = of_names.unwrap_or_default();
            let what = format!(
                "two candidates have the name \"{twice}\" in column \"{column}\"; {} takes another column",
                (wanted.option)("name", "COL")
            );
            return Err(Refused::Wanted(what));
        }
        let (mut notes, mut attributes) = (vec![], vec![]);
        for (name, cells) in columns.iter().filter(|(name, _)| Some(name.as_str()) != of_names) {
            attributes.extend(wanted.attribute(name, cells, &mut notes)?);
        }
        if attributes.is_empty() {
            let what = "there is no column of numbers that differ, so nothing to choose by";
            return Err(Refused::Table(what.to_owned()));
        }
        Self::of(wanted, names, &attributes, notes)
    }

    fn of(
        wanted: &Wanted,
        names: Vec<String>,
        attributes: &[(Attribute, Vec<f64>)],
        notes: Vec<String>,
    ) -> Result<Self, Refused> {
        let rows = names.len();
        if let [(attribute, values)] = attributes {
            // One attribute needs no questions.
            let worth = |n: &usize| attribute.worth(values[*n]);
            let best = (0..rows).rev().max_by(|a, b| worth(a).total_cmp(&worth(b))).unwrap_or(0);
            let others = (0..rows).filter(|n| *n != best);
            let dominated = others.map(|n| (names[n].clone(), names[best].clone())).collect();
            return Ok(Self {
                candidates: Err(names[best].clone()),
                places: vec![best],
                dominated,
                rows,
                notes,
            });
        }
        let point = |n: usize| attributes.iter().map(|(_, values)| values[n]).collect();
        let named = names.iter().enumerate().map(|(n, name)| (name.clone(), point(n))).collect();
        let list = attributes.iter().map(|(attribute, _)| attribute.clone()).collect();
        let all = Candidates::new(list, named)?;
        let found = all.dominated();
        let dominated = found.iter().map(|(n, by)| (names[*n].clone(), names[*by].clone())).collect();
        let worse: Vec<usize> = found.iter().map(|(n, _)| *n).collect();
        let left: Vec<usize> = (0..rows).filter(|n| worse.binary_search(n).is_err()).collect();
        let (candidates, places) = match &left[..] {
            [only] => (Err(names[*only].clone()), left),
            _ if wanted.all => (Ok(all), (0..rows).collect()),
            _ => (Ok(all.without(&worse)?), left),
        };
        let candidates = candidates.map(|set| if wanted.only_real { set.only_real() } else { set });
        Ok(Self { candidates, places, dominated, rows, notes })
    }
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
