//! The models somebody has to choose from, and how sure it is what they do.
//!
//! A study may name them. They are part of its hash, so that nobody adds the model that happens to win.

use crate::error::{Error, Result};
use crate::study::{Candidates, Study};
use crate::tables::{Tables, Wanted};
use equipoise::decide::rank::Candidate;
use equipoise::population::{Confusions as _, Population as _, Rule};
use equipoise::{GroupConfusions, Metric, View};
use equipoise_data::{ModelConfusions, Sample, Table};
use std::path::Path;
use std::sync::OnceLock;

/// Draws of each confusion matrix.
pub const DRAWS: usize = 1000;

/// The models of a study, classes and groups in the study's order.
#[derive(Debug, Clone)]
pub struct Models {
    names: Vec<String>,
    measured: Vec<GroupConfusions>,
    sources: Vec<Source>,
    view: View,
    drawn: OnceLock<Vec<Candidate>>,
    bare: Vec<Candidate>,
    carried: Vec<Carried>,
}

/// What models have beside their predictions, which nothing in the metric weighs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// What the file calls it.
    pub name: String,
    /// In the order of the models, as it stands in the file.
    pub cells: Vec<String>,
}

#[derive(Debug, Clone)]
enum Source {
    Counts(ModelConfusions, Order),
    Predictions(Box<Sample<Table>>, Order),
}

/// Where the study's classes and groups are in the data.
#[derive(Debug, Clone)]
struct Order {
    classes: Vec<usize>,
    /// Empty where all groups are taken together.
    groups: Vec<usize>,
}

impl Models {
    /// Reads the models a study names, from files beside it; `None` if it names none.
    pub fn read(study: &Study, view: View, directory: &Path, tables: &dyn Tables) -> Result<Option<Self>> {
        let Some(Candidates { file, predictions, attributes }) = &study.candidates else { return Ok(None) };
        let mut found: Vec<(String, Source)> = vec![];
        if let Some(file) = file {
            for model in tables.models(&directory.join(file))? {
                let order = Order::of(study, model.name(), model.classes(), model.groups())?;
                found.push((model.name().to_owned(), Source::Counts(model, order)));
            }
        }
        for file in predictions {
            let name = file.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
            let table = tables.table(&directory.join(file), &Wanted::default())?;
            let groups = table.groups().map_or(vec![], |groups| groups.names().to_vec());
            let order = Order::of(study, &name, table.classes(), &groups)?;
            found.push((name, Source::Predictions(Box::new(Sample::new(table)?), order)));
        }
        if found.len() < 2 {
            let what = format!("candidates has {} models, expected at least 2 to choose from", found.len());
            return Err(Error::Missing(what));
        }
        let (mut names, mut measured, mut sources) = (vec![], vec![], vec![]);
        for (name, source) in found {
            if names.contains(&name) {
                let what = format!("candidates has two models called \"{name}\", expected different names");
                return Err(Error::Missing(what));
            }
            let matrix = source.measured()?;
            view.of(&matrix).map_err(|e| Error::Missing(format!("candidates: model {name}: {e}")))?;
            names.push(name);
            measured.push(matrix);
            sources.push(source);
        }
        let bare =
            names.iter().zip(&measured).map(|(name, matrix)| Candidate::new(name, matrix.clone())).collect();
        let carried = match attributes {
            Some(file) => carried(&names, &tables.texts(&directory.join(file))?)?,
            None => vec![],
        };
        Ok(Some(Self { names, measured, sources, view, drawn: OnceLock::new(), bare, carried }))
    }

    /// Candidates that are known by their attributes.
    pub(crate) fn by_attributes(candidates: &equipoise::space::Candidates, view: View) -> Self {
        let members = candidates.members();
        let bare: Vec<Candidate> =
            members.iter().map(|member| Candidate::by_attributes(&member.name, &member.point)).collect();
        Self {
            names: members.iter().map(|member| member.name.clone()).collect(),
            measured: bare.iter().map(|candidate| candidate.confusions().clone()).collect(),
            sources: vec![],
            view,
            drawn: OnceLock::from(bare.clone()),
            bare,
            carried: vec![],
        }
    }

    /// How much a metric likes each of them, as they were measured.
    pub fn likings(&self, metric: &Metric) -> Vec<f64> {
        let sign = metric.sense().sign();
        let of = |model: &Candidate| model.value(metric, model.confusions());
        self.bare.iter().map(|model| of(model).map_or(f64::NEG_INFINITY, |value| sign * value)).collect()
    }

    /// What they have beside their predictions, column by column.
    pub fn carried(&self) -> &[Carried] {
        &self.carried
    }

    /// The names, in the order of the file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What each model was seen to do.
    pub fn measured(&self) -> &[GroupConfusions] {
        &self.measured
    }

    /// The models with [`DRAWS`] draws of each matrix, always the same ones.
    ///
    /// Counts are drawn from their Dirichlet posteriors. Predictions are drawn again row by row, and models with the same
    /// rows see the same draws of them.
    pub fn candidates(&self) -> &[Candidate] {
        self.drawn.get_or_init(|| {
            let mut draws: Vec<Vec<GroupConfusions>> =
                self.sources.iter().enumerate().map(|(n, source)| source.draws(n as u64)).collect();
            // A draw in which some model has no rates, for want of a class, is left out for all of them.
            let count = draws.iter().map(Vec::len).min().unwrap_or(0);
            let fine = |n: usize| draws.iter().all(|draws| self.view.of(&draws[n]).is_ok());
            let keep: Vec<bool> = (0..count).map(fine).collect();
            for draws in &mut draws {
                let mut kept = keep.iter();
                draws.retain(|_| kept.next().copied().unwrap_or(false));
            }
            let models = self.names.iter().zip(&self.measured).zip(draws);
            models
                .map(|((name, matrix), draws)| Candidate::new(name, matrix.clone()).with_draws(draws))
                .collect()
        })
    }
}

/// The columns of a file that has a row for every model; names stand in the column `model` or `name`, or in the first.
fn carried(models: &[String], columns: &[(String, Vec<String>)]) -> Result<Vec<Carried>> {
    let is_name =
        |(column, _): &&(String, Vec<String>)| ["model", "name"].contains(&column.to_lowercase().as_str());
    let Some((of_names, names)) = columns.iter().find(is_name).or(columns.first()) else { return Ok(vec![]) };
    if let Some((n, twice)) = names.iter().enumerate().find(|(n, name)| names[..*n].contains(name)) {
        let what = format!(
            "candidates.attributes has model \"{twice}\" in row {} again, expected a row for each",
            n + 1
        );
        return Err(Error::Missing(what));
    }
    let row = |model: &String| {
        names.iter().position(|name| name == model).ok_or_else(|| {
            let what = format!(
                "candidates.attributes says nothing of model \"{model}\", found {}",
                names.join(", ")
            );
            Error::Missing(what)
        })
    };
    let rows = models.iter().map(row).collect::<Result<Vec<usize>>>()?;
    let others = columns.iter().filter(|(column, _)| column != of_names);
    let of = |(name, cells): &(String, Vec<String>)| Carried {
        name: name.clone(),
        cells: rows.iter().map(|row| said(cells.get(*row))).collect(),
    };
    Ok(others.map(of).collect())
}

/// A cell for people to read: where it says nothing, a dash does.
fn said(cell: Option<&String>) -> String {
    cell.map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).unwrap_or("–").to_owned()
}

impl Source {
    fn measured(&self) -> Result<GroupConfusions> {
        Ok(match self {
            Source::Counts(model, order) => order.arrange(&model.confusions()?),
            Source::Predictions(sample, order) => {
                let Ok(found) = sample.confusions(&[Rule::most_likely(sample.classes())?]);
                order.arrange(&found[0])
            }
        })
    }

    fn draws(&self, seed: u64) -> Vec<GroupConfusions> {
        let (drawn, order) = match self {
            Source::Counts(model, order) => (model.dirichlet(DRAWS, seed).unwrap_or_default(), order),
            // The same seed for all: the same rows.
            Source::Predictions(sample, order) => {
                let rule = Rule::most_likely(sample.classes()).expect("a table has classes");
                let Ok(drawn) = sample.resampled(&[rule], 0, DRAWS);
                (drawn.into_iter().flatten().collect(), order)
            }
        };
        drawn.iter().map(|matrix| order.arrange(matrix)).collect()
    }
}

impl Order {
    fn of(study: &Study, model: &str, classes: &[String], groups: &[String]) -> Result<Self> {
        let place = |what: &str, id: &str, names: &[String]| {
            names.iter().position(|name| name == id).ok_or_else(|| {
                let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                Error::Missing(format!("candidates: model {model} has no {what} \"{id}\"; it has {has}"))
            })
        };
        let extra = classes.iter().find(|name| study.class(name).is_none());
        if let Some(extra) = extra {
            let ids: Vec<&str> = study.task.classes.iter().map(|class| class.id.as_str()).collect();
            let what =
                format!("candidates: model {model} has the class \"{extra}\", expected {}", ids.join(", "));
            return Err(Error::Missing(what));
        }
        let classes = study.task.classes.iter().map(|class| place("class", &class.id, classes));
        let groups = study.task.groups.iter().map(|group| place("group", &group.id, groups));
        Ok(Self { classes: classes.collect::<Result<_>>()?, groups: groups.collect::<Result<_>>()? })
    }

    fn arrange(&self, matrix: &GroupConfusions) -> GroupConfusions {
        let k = self.classes.len();
        let taken: Vec<Vec<usize>> = match self.groups.is_empty() {
            true => vec![(0..matrix.groups()).collect()],
            false => self.groups.iter().map(|group| vec![*group]).collect(),
        };
        let cell = |groups: &[usize], n: usize| {
            groups.iter().map(|g| matrix.get(*g, self.classes[n / k], self.classes[n % k])).sum::<f64>()
        };
        let mut cells: Vec<Vec<f64>> =
            taken.iter().map(|groups| (0..k * k).map(|n| cell(groups, n)).collect()).collect();
        // Groups of the data that are not the study's are left out; the rest is everybody.
        let total: f64 = cells.iter().flatten().sum();
        cells.iter_mut().flatten().for_each(|cell| *cell /= total);
        GroupConfusions::new(k, cells).unwrap_or_else(|_| matrix.clone())
    }
}
