//! Where a model comes from: the rows of a table and how it decides them, or counts.

use crate::args::{Global, Judged};
use crate::fault::Fault;
use crate::files;
use crate::rows::Rows;
use crate::tables::{Streaming, TableColumns};
use anyhow::Result;
use equipoise::GroupConfusions;
use equipoise::population::{Confusions as _, Population as _, Rule};
use equipoise::rates::Prevalence;
use equipoise_data::{Kind, ModelConfusions, Note, read};
use std::path::{Path, PathBuf};

/// What is known of one model.
pub(super) enum Source {
    /// Its rows, and how it decides: the most likely class, or the positive one from a threshold on.
    Table(Box<Rows>, Rule),
    Counts(ModelConfusions),
}

pub(super) struct Named {
    pub(super) name: String,
    pub(super) source: Source,
}

impl Named {
    pub(super) fn prevalence(&self) -> Result<Prevalence> {
        Ok(match &self.source {
            Source::Table(rows, _) => rows.prevalence().clone(),
            Source::Counts(model) => model.confusions()?.prevalence(),
        })
    }

    /// What the rows weigh together.
    pub(super) fn size(&self) -> Result<f64> {
        Ok(match &self.source {
            Source::Table(rows, _) => rows.totals()?.overall().weight,
            Source::Counts(model) => model.total(),
        })
    }

    pub(super) fn classes(&self) -> &[String] {
        match &self.source {
            Source::Table(rows, _) => rows.class_names(),
            Source::Counts(model) => model.classes(),
        }
    }

    pub(super) fn groups(&self) -> &[String] {
        match &self.source {
            Source::Table(rows, _) => rows.group_names(),
            Source::Counts(model) => model.groups(),
        }
    }

    pub(super) fn confusions(&self) -> Result<GroupConfusions> {
        Ok(match &self.source {
            Source::Table(rows, rule) => rows.confusions(std::slice::from_ref(rule))?.remove(0),
            Source::Counts(model) => model.confusions()?,
        })
    }

    pub(super) fn draws(&self, draws: usize, seed: u64) -> Result<Vec<GroupConfusions>> {
        Ok(match &self.source {
            Source::Table(rows, rule) => {
                let drawn = rows.resampled(std::slice::from_ref(rule), seed, draws)?;
                drawn.into_iter().flatten().collect()
            }
            Source::Counts(model) => model.bootstrap(draws, seed)?,
        })
    }

    /// Whether both were measured on the same rows, as far as tables show.
    pub(super) fn has_rows_of(&self, other: &Self) -> bool {
        match (&self.source, &other.source) {
            (Source::Table(a, _), Source::Table(b, _)) => a.has_rows_of(b),
            (Source::Counts(a), Source::Counts(b)) => std::ptr::eq(a, b),
            _ => false,
        }
    }
}

pub(super) fn read_file(
    path: &Path,
    judged: &Judged,
    global: &Global,
    models: &mut Vec<Named>,
    notes: &mut Vec<Note>,
) -> Result<()> {
    if judged.streaming.adbc.is_some() {
        let name = path.display().to_string();
        return read_table(path, &judged.columns, &judged.streaming, name, global, models, notes);
    }
    match read::confusions(path) {
        Ok(reading) => {
            if judged.threshold.is_some() {
                let what = format!(
                    "--threshold is for predictions, but {} has confusion matrices",
                    files::name(path)
                );
                return Err(Fault::usage(what).into());
            }
            notes.extend(reading.notes);
            let named = |model: ModelConfusions| Named {
                name: model.name().to_owned(),
                source: Source::Counts(model),
            };
            models.extend(reading.data.into_iter().map(named));
        }
        // A table of predictions has no columns `model` and `estimate`.
        Err(error) if error.kind == Kind::Column && !error.found.contains("\"count\"") => {
            read_table(path, &judged.columns, &judged.streaming, stem(path), global, models, notes)?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn read_table(
    path: &Path,
    columns: &TableColumns,
    from: &Streaming,
    name: String,
    global: &Global,
    models: &mut Vec<Named>,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let reading = Rows::read(path, columns, from, global)?;
    notes.extend(reading.notes);
    let rule = Rule::most_likely(reading.data.classes())?;
    models.push(Named { name, source: Source::Table(Box::new(reading.data), rule) });
    Ok(())
}

/// Models that are columns of one file.
pub(super) fn read_columns(
    paths: &[PathBuf],
    names: &[String],
    judged: &Judged,
    global: &Global,
    models: &mut Vec<Named>,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let [path] = paths else {
        let sentence = format!("--models names columns of one file, but there are {} files", paths.len());
        return Err(Fault::usage(sentence).into());
    };
    let header = match judged.streaming.database()? {
        Some(database) => read::columns_in_database(&*database, &path.display().to_string())?,
        None => read::header(path)?,
    };
    for name in names {
        if models.iter().any(|model| model.name == *name) {
            return Err(Fault::usage(format!("--models names {name} twice")).into());
        }
        let belongs = |column: &&String| {
            column.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(['_', '-', '.', ':', ' ']))
        };
        let mut own: Vec<String> = header.iter().filter(|column| *column == name).cloned().collect();
        if own.is_empty() {
            own = header.iter().filter(belongs).cloned().collect();
        }
        if own.is_empty() {
            let sentence = format!(
                "{}: no column is called {name} or begins with {name}_, expected some of {} for --models",
                files::name(path),
                header.join(", ")
            );
            return Err(Fault::usage(sentence).into());
        }
        let columns = TableColumns { scores: Some(own), ..judged.columns.clone() };
        read_table(path, &columns, &judged.streaming, name.clone(), global, models, notes)?;
    }
    Ok(())
}

/// The name of a file without what says how it is stored.
pub fn stem(path: &Path) -> String {
    let name = path.file_name().map_or_else(|| files::name(path), |name| name.to_string_lossy().into_owned());
    let bare = name.strip_suffix(".gz").unwrap_or(&name);
    match bare.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => bare.to_owned(),
    }
}

/// Models of the same name are told apart by the file they come from, or failing that by a number.
pub(super) fn rename_twins(models: &mut [Named], paths: &[PathBuf]) {
    let twice = |models: &[Named], n: usize| {
        models.iter().enumerate().any(|(m, other)| m != n && other.name == models[n].name)
    };
    if models.len() == paths.len() {
        let twins: Vec<usize> = (0..models.len()).filter(|&n| twice(models, n)).collect();
        twins.into_iter().for_each(|n| models[n].name = files::name(&paths[n]));
    }
    for n in 1..models.len() {
        if models[..n].iter().any(|other| other.name == models[n].name) {
            models[n].name = format!("{} ({})", models[n].name, n + 1);
        }
    }
}

pub(super) fn same_classes_and_groups(models: &[Named]) -> Result<()> {
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    for model in &models[1..] {
        for (what, found, expected) in [
            ("classes", model.classes(), models[0].classes()),
            ("groups", model.groups(), models[0].groups()),
        ] {
            if found != expected {
                let (name, first) = (&model.name, &models[0].name);
                let what = format!(
                    "model {name} has the {what} {}, but model {first} has {}",
                    list(found),
                    list(expected)
                );
                return Err(Fault::usage(what).into());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_after_their_files() {
        let names = ["a/forest.csv", "forest.csv.gz", "x.parquet", ".hidden", "v1.2.jsonl", "plain"];
        let stems = names.map(|name| stem(Path::new(name)));
        assert_eq!(stems, ["forest", "forest", "x", ".hidden", "v1.2", "plain"]);
    }
}
