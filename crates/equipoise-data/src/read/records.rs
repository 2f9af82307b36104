//! Confusion matrices as long records: `{model, group, truth, estimate, count}`, one per cell.
//!
//! It is what a database or a data frame gives after "count by model, group, truth, estimate". Such counts
//! leave out cells that are zero, so an absent cell counts 0; a cell that is there twice is an error.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of columns made here, and counts of rows that were read fit in 64 bits"
)]

use super::assemble::{renumber, sorted};
use super::column::{Column, Met, Part};
use super::columns::{Header, Want};
use super::{Source, check};
use crate::confusions::ModelConfusions;
use crate::error::{Error, Kind, Result, list, name, plural};
use crate::note::{Note, Reading};
use crate::table::MOST_CLASSES;

/// More cells than this are a mistake: one model of 256 classes has 65 536.
const MOST_CELLS: usize = 1 << 26;

/// Reads the records of a file.
pub(crate) fn read(source: &dyn Source) -> Result<Reading<Vec<ModelConfusions>>> {
    let wants = wants(source.header())?;
    let columns = source.read(&wants, &|name| name == "group")?;
    check(&wants, &columns)?;
    Records::new(&wants, columns).models()
}

fn wants(header: &Header) -> Result<Vec<Want>> {
    let want = |name: &str, part| Ok(Want { position: header.find(name)?, name: name.to_owned(), part });
    let mut wants = vec![
        want("model", Part::Model)?,
        want("truth", Part::Class)?,
        want("estimate", Part::Class)?,
        want("count", Part::Count)?,
    ];
    if header.0.iter().any(|name| name == "group") {
        wants.push(want("group", Part::Group)?);
    }
    Ok(wants)
}

/// A label column with its names in the order they get in the end.
struct Labels {
    codes: Vec<u16>,
    names: Vec<String>,
}

/// The columns of the records; classes have one numbering for truth and estimate.
struct Records {
    models: Labels,
    groups: Labels,
    truth: Vec<u16>,
    estimate: Vec<u16>,
    classes: Vec<String>,
    counts: Vec<f64>,
}

impl Records {
    fn new(wants: &[Want], columns: Vec<Column>) -> Self {
        let (mut labels, mut counts) = (Vec::new(), Vec::new());
        for column in columns {
            match column {
                Column::Labels { codes, coder } => labels.push((codes, coder.met)),
                Column::Numbers { values, .. } => counts = values,
            }
        }
        debug_assert_eq!(labels.len() + 1, wants.len());
        let rows = counts.len();
        let mut labels = labels.into_iter();
        let mut next = || labels.next().unwrap_or_default();
        let names = |met: Vec<Met>| met.into_iter().map(|met| met.name).collect::<Vec<_>>();

        let (codes, met) = next();
        let models = Labels { codes, names: names(met) };
        let ((truth, truth_met), (estimate, estimate_met)) = (next(), next());
        let (truth_names, estimate_names) = (names(truth_met), names(estimate_met));
        let mut classes = truth_names.clone();
        classes.extend(estimate_names.iter().filter(|class| !truth_names.contains(class)).cloned());
        let classes = sorted(classes);
        let among = |names: &[String]| -> Vec<u16> {
            names
                .iter()
                .map(|name| classes.iter().position(|class| class == name).unwrap_or(0) as u16)
                .collect()
        };
        let recode =
            |codes: Vec<u16>, to: Vec<u16>| codes.into_iter().map(|code| to[usize::from(code)]).collect();
        let truth = recode(truth, among(&truth_names));
        let estimate = recode(estimate, among(&estimate_names));

        let (codes, met) = next();
        let groups = if codes.is_empty() {
            Labels { codes: vec![0; rows], names: Vec::new() }
        } else {
            let (names, renumbered) = renumber(names(met));
            Labels { codes: recode(codes, renumbered), names }
        };
        Self { models, groups, truth, estimate, classes, counts }
    }

    fn models(self) -> Result<Reading<Vec<ModelConfusions>>> {
        let cells = self.check_size()?;
        let counts = self.place(cells)?;
        self.check_shared("class", &self.classes, &[&self.truth, &self.estimate])?;
        self.check_shared("group", &self.groups.names, &[&self.groups.codes])?;
        let absent = counts.iter().filter(|count| count.is_nan()).count();
        let mut notes = Vec::new();
        if absent > 0 {
            let of = counts.len();
            notes.push(Note::Choice(format!("{absent} of {of} cells are not in the file and count 0")));
        }
        let model = |(name, counts): (&String, &[f64])| ModelConfusions {
            name: name.clone(),
            classes: self.classes.clone(),
            groups: self.groups.names.clone(),
            counts: counts.iter().map(|&count| if count.is_nan() { 0.0 } else { count }).collect(),
        };
        let models: Vec<ModelConfusions> =
            self.models.names.iter().zip(counts.chunks(cells)).map(model).collect();
        for model in &models {
            check_total(model)?;
        }
        notes.extend(findings(&models));
        Ok(Reading { data: models, notes })
    }

    /// The number of cells of one model.
    fn check_size(&self) -> Result<usize> {
        let k = self.classes.len();
        if !(2..=MOST_CLASSES).contains(&k) {
            let found = if k == 1 {
                format!("only class {}", name(&self.classes[0]))
            } else {
                plural(k as u64, "class")
            };
            let expected = format!("at least 2 and at most {MOST_CLASSES} classes");
            return Err(Error::new(Kind::Count, found, expected).column("truth"));
        }
        let cells = self.groups.names.len().max(1) * k * k;
        match cells.checked_mul(self.models.names.len()) {
            Some(all) if all <= MOST_CELLS => Ok(cells),
            _ => {
                let found = format!("{} models of {cells} cells", self.models.names.len());
                Err(Error::new(Kind::Count, found, format!("at most {MOST_CELLS} cells in all")))
            }
        }
    }

    /// The count of every cell, all models in a row; NaN where no record says it.
    fn place(&self, cells: usize) -> Result<Vec<f64>> {
        let k = self.classes.len();
        let mut counts = vec![f64::NAN; cells * self.models.names.len()];
        for (row, &count) in self.counts.iter().enumerate() {
            let (model, group) = (usize::from(self.models.codes[row]), usize::from(self.groups.codes[row]));
            let (truth, estimate) = (usize::from(self.truth[row]), usize::from(self.estimate[row]));
            let cell = &mut counts[model * cells + (group * k + truth) * k + estimate];
            if !cell.is_nan() {
                let found = format!("a second count for {}", self.cell(model, group, truth, estimate));
                let error = Error::new(Kind::Duplicate, found, "one record for each cell");
                return Err(error.row(row as u64 + 1).column("count"));
            }
            *cell = count;
        }
        Ok(counts)
    }

    fn cell(&self, model: usize, group: usize, truth: usize, estimate: usize) -> String {
        let group =
            self.groups.names.get(group).map(|group| format!(", group {}", name(group))).unwrap_or_default();
        let (truth, estimate) = (name(&self.classes[truth]), name(&self.classes[estimate]));
        format!("model {}{group}, truth {truth}, estimate {estimate}", name(&self.models.names[model]))
    }

    /// Every model must have every class and every group, as truth or as estimate.
    fn check_shared(&self, what: &str, names: &[String], columns: &[&[u16]]) -> Result<()> {
        let mut present = vec![false; self.models.names.len() * names.len()];
        for codes in columns.iter().filter(|_| !names.is_empty()) {
            for (&model, &code) in self.models.codes.iter().zip(*codes) {
                present[usize::from(model) * names.len() + usize::from(code)] = true;
            }
        }
        match present.iter().position(|&present| !present) {
            Some(absent) => {
                let model = name(&self.models.names[absent / names.len()]);
                let found =
                    format!("no record of {what} {} for model {model}", name(&names[absent % names.len()]));
                let plural = if what == "class" { "classes" } else { "groups" };
                Err(Error::new(
                    Kind::Mismatch,
                    found,
                    format!("the {plural} {} for every model", list(names)),
                ))
            }
            None => Ok(()),
        }
    }
}

fn check_total(model: &ModelConfusions) -> Result<()> {
    let total = model.total();
    if total > 0.0 && total.is_finite() {
        return Ok(());
    }
    let found = format!("a total of {total} for model {}", name(model.name()));
    Err(Error::new(Kind::OutOfRange, found, "a finite total above 0").column("count"))
}

/// Classes without counts, and models that were not counted on the same rows.
fn findings(models: &[ModelConfusions]) -> Vec<Note> {
    let mut findings = Vec::new();
    let Some(first) = models.first() else { return findings };
    let groups = first.groups().len().max(1);
    let cells = || (0..groups).flat_map(|group| (0..first.classes().len()).map(move |class| (group, class)));
    let place = |group: usize, class: usize| {
        let group =
            first.groups().get(group).map(|group| format!(" in group {}", name(group))).unwrap_or_default();
        format!("class {}{group}", name(&first.classes()[class]))
    };
    for (group, class) in cells() {
        if let Some(model) = models.iter().find(|model| model.of_class(group, class) == 0.0) {
            let (model, place) = (name(model.name()), place(group, class));
            findings.push(Note::Finding(format!(
                "model {model} has no count for {place}, so its rates there are undefined"
            )));
        }
    }
    for model in &models[1..] {
        let differs = |&(group, class): &(usize, usize)| {
            let (a, b) = (first.of_class(group, class), model.of_class(group, class));
            (a - b).abs() > 1e-9 * a.max(b)
        };
        if let Some((group, class)) = cells().find(differs) {
            findings.push(Note::Finding(format!(
                "models {} and {} have counts of {} and {} for {}, so they were not counted on the same rows",
                name(first.name()),
                name(model.name()),
                first.of_class(group, class),
                model.of_class(group, class),
                place(group, class)
            )));
            break;
        }
    }
    findings
}
