//! Predictions as commands ask them: rows in memory, or files that are read piece by piece and only counted.

use crate::args::Global;
use crate::fault::Fault;
use crate::files;
use crate::progress::Progress;
use crate::tables::{Streaming, TableColumns, few_groups, with_option};
use anyhow::{Result, bail};
use equipoise::population::{Ask, AskError, Basis, Confusions, Population, Profile, Rule, Score, Totals};
use equipoise::rates::{GroupConfusions, Prevalence};
use equipoise_data::read::{self, Streamed};
use equipoise_data::{Error, Groups, Reading, Sample, Table};
use std::path::Path;

/// Bytes of Parquet from which a table is streamed where nothing is said: about a gigabyte in memory.
const LARGE: u64 = 256 << 20;

/// A table of predictions, wherever its rows are.
pub enum Rows {
    Memory(Box<Sample<Table>>),
    Streamed(Box<Streamed>),
}

impl Rows {
    /// Streams a table that is large, or if that is asked for, and reads others into memory.
    pub fn read(
        path: &Path,
        columns: &TableColumns,
        streaming: &Streaming,
        global: &Global,
    ) -> Result<Reading<Self>> {
        let elsewhere = streaming.elsewhere()?;
        let remote = elsewhere.is_some();
        if remote || streaming.stream || is_large(path) {
            let progress =
                Progress::spinner(&format!("counting {}", files::name(path)), global.shows_progress());
            let streamed = match elsewhere {
                Some(place) => read::elsewhere(path, &columns.columns(), place),
                None => read::stream(path, &columns.columns()),
            };
            let streamed = streamed.map_err(|error| columns.blame(error))?;
            drop(progress);
            if let Some(Reading { data, notes }) = streamed {
                few_groups(data.group_names().len(), path)?;
                let notes = notes.into_iter().map(with_option).collect();
                return Ok(Reading { data: Rows::Streamed(Box::new(data)), notes });
            }
        }
        if remote {
            let what = format!(
                "{}: found a table that has to be read as a whole, expected Parquet with a column of probabilities for a \
                 cluster; leave --cluster out",
                path.display()
            );
            return Err(Fault::usage(what).into());
        }
        let Reading { data, notes } = columns.read_quietly(path, global)?;
        Ok(Reading { data: data.into(), notes })
    }

    /// The same, where commands for more than two classes would go over the files too often: these are read into memory.
    pub fn read_two(
        path: &Path,
        columns: &TableColumns,
        streaming: &Streaming,
        global: &Global,
    ) -> Result<Reading<Self>> {
        let reading = Self::read(path, columns, streaming, global)?;
        match (&reading.data, reading.data.class_names().len()) {
            (Rows::Streamed(rows), 3..) if rows.is_elsewhere() => {
                let what = format!(
                    "{}: found {} classes, expected 2 for a cluster, since this command needs all rows of more; leave --cluster out",
                    path.display(),
                    reading.data.class_names().len()
                );
                Err(Fault::usage(what).into())
            }
            (Rows::Streamed(_), 3..) => {
                let Reading { data, notes } = columns.read_quietly(path, global)?;
                Ok(Reading { data: data.into(), notes })
            }
            _ => Ok(reading),
        }
    }

    /// The rows, where they are in memory.
    pub fn in_memory(&self) -> Result<&Sample<Table>> {
        match self {
            Rows::Memory(rows) => Ok(rows),
            Rows::Streamed(_) => bail!("the table is streamed, and this needs its rows in memory"),
        }
    }

    /// The class names, in order.
    pub fn class_names(&self) -> &[String] {
        match self {
            Rows::Memory(rows) => rows.table().classes(),
            Rows::Streamed(rows) => rows.class_names(),
        }
    }

    /// Whether every probability is 0 or 1: predicted classes rather than probabilities.
    pub fn is_hard(&self) -> bool {
        let sure = |table: &Table, class: usize| {
            table.probabilities(class).iter().all(|&probability| probability == 0.0 || probability == 1.0)
        };
        match self {
            Rows::Memory(rows) => (0..rows.classes()).all(|class| sure(rows.table(), class)),
            Rows::Streamed(rows) => rows.is_hard(),
        }
    }

    /// Whether both have the same true classes, groups and weights, row by row.
    pub fn has_rows_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Rows::Memory(a), Rows::Memory(b)) => {
                let (a, b) = (a.table(), b.table());
                a.truth() == b.truth() && a.groups() == b.groups() && a.weights() == b.weights()
            }
            _ => self.fingerprint() == other.fingerprint(),
        }
    }

    /// A number that tells rows from others, by their true classes, groups and weights.
    fn fingerprint(&self) -> u64 {
        match self {
            Rows::Memory(rows) => rows.table().fingerprint(0),
            Rows::Streamed(rows) => rows.fingerprint(),
        }
    }

    /// The group names; none without groups.
    pub fn group_names(&self) -> &[String] {
        match self {
            Rows::Memory(rows) => rows.table().groups().map_or(&[], Groups::names),
            Rows::Streamed(rows) => rows.group_names(),
        }
    }
}

impl From<Sample<Table>> for Rows {
    fn from(rows: Sample<Table>) -> Self {
        Rows::Memory(Box::new(rows))
    }
}

/// Whether files are Parquet and so many bytes that their rows might not fit in memory.
fn is_large(path: &Path) -> bool {
    let Ok(files) = read::files(path) else { return false };
    let parquet = |file: &Path| file.extension().is_some_and(|end| end == "parquet" || end == "pq");
    let size = |file: &std::path::PathBuf| std::fs::metadata(file).map_or(0, |it| it.len());
    files.iter().all(|file| parquet(file)) && files.iter().map(size).sum::<u64>() > LARGE
}

impl Confusions for Rows {
    type Err = Error;
    type Rule = Rule;

    fn prevalence(&self) -> &Prevalence {
        match self {
            Rows::Memory(rows) => rows.prevalence(),
            Rows::Streamed(rows) => rows.prevalence(),
        }
    }

    fn confusions(&self, rules: &[Rule]) -> Result<Vec<GroupConfusions>, Error> {
        match self {
            Rows::Memory(rows) => rows.confusions(rules).map_err(|never| match never {}),
            Rows::Streamed(rows) => rows.confusions(rules),
        }
    }
}

impl Population for Rows {
    type Part = Sample<Table>;

    fn totals(&self) -> Result<Totals, Error> {
        match self {
            Rows::Memory(rows) => rows.totals().map_err(|never| match never {}),
            Rows::Streamed(rows) => rows.totals(),
        }
    }

    fn score_profile(&self, score: Score) -> Result<Profile, Error> {
        match self {
            Rows::Memory(rows) => rows.score_profile(score).map_err(|never| match never {}),
            Rows::Streamed(rows) => rows.score_profile(score),
        }
    }

    fn resampled(&self, rules: &[Rule], seed: u64, draws: usize) -> Result<Vec<Vec<GroupConfusions>>, Error> {
        match self {
            Rows::Memory(rows) => rows.resampled(rules, seed, draws).map_err(|never| match never {}),
            Rows::Streamed(rows) => rows.resampled(rules, seed, draws),
        }
    }

    fn moments(&self, bases: &[Basis]) -> Result<Ask<'_, Error>, AskError<Error>> {
        match self {
            Rows::Memory(rows) => {
                let ask = rows.moments(bases).map_err(equipoise::Error::from)?;
                Ok(Box::new(move |rules| ask(rules).map_err(|never| match never {})))
            }
            Rows::Streamed(rows) => rows.moments(bases),
        }
    }

    fn sample(&self, rows: usize, seed: u64) -> Result<Sample<Table>, Error> {
        match self {
            Rows::Memory(all) => all.sample(rows, seed).map_err(|never| match never {}),
            Rows::Streamed(all) => all.sample(rows, seed),
        }
    }
}
