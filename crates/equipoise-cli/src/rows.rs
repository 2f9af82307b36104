//! Predictions as commands ask them: rows in memory, or files and tables of databases that are only counted.

use crate::args::Global;
use crate::fault::Fault;
use crate::files;
use crate::progress::Progress;
use crate::tables::{Streaming, TableColumns, few_groups, with_option};
use anyhow::{Result, bail};
use equipoise::population::{
    Ask, AskError, Basis, Classifier, Confusions, Population, Profile, Rule, Score, Totals,
};
use equipoise::rates::{GroupConfusions, Prevalence};
use equipoise_data::read::{self, Database, Streamed};
use equipoise_data::{Error, Groups, Note, Reading, Sample, Table};
use std::path::Path;

/// Bytes of Parquet from which a table is streamed where nothing is said: about a gigabyte in memory.
const LARGE: u64 = 256 << 20;

/// A table of predictions, wherever its rows are.
pub enum Rows {
    Memory(Box<Sample<Table>>),
    Streamed(Box<Streamed>),
    Database(Box<Database>),
}

impl Rows {
    /// Streams a table that is large or in an object store, or if that is asked for, and reads others into memory.
    pub fn read(
        path: &Path,
        columns: &TableColumns,
        from: &Streaming,
        global: &Global,
    ) -> Result<Reading<Self>> {
        if let Some(database) = from.database()? {
            let _progress =
                Progress::spinner(&format!("counting {}", path.display()), global.shows_progress());
            let counted = read::Database::count(database, &path.display().to_string(), &columns.columns());
            let Reading { data, notes } = counted.map_err(|error| columns.blame(error))?;
            few_groups(data.group_names().len(), path)?;
            let notes = notes.into_iter().map(with_option).collect();
            return Ok(Reading { data: Rows::Database(Box::new(data)), notes });
        }
        let elsewhere = from.elsewhere(global)?;
        let remote = elsewhere.is_some();
        if remote && read::is_address(path) {
            let what = format!(
                "{}: found an object store, expected files that the machines of the cluster see under the same paths; leave \
                 --cluster out",
                path.display()
            );
            return Err(Fault::usage(what).into());
        }
        if remote || from.stream || read::is_address(path) || is_large(path) {
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
            // What is wrong with the table may be why.
            columns.read_quietly(path, global)?;
            let what = format!(
                "{}: found a table that has to be read as a whole, expected Parquet with columns of probabilities, and no \
                 --drop-missing, for a cluster; leave --cluster out",
                path.display()
            );
            return Err(Fault::usage(what).into());
        }
        let Reading { data, notes } = columns.read_quietly(path, global)?;
        Ok(Reading { data: data.into(), notes })
    }

    /// The same, where a command for more than two classes goes over the files many times: unless somebody asks for that, these are read
    /// into memory.
    pub fn read_often(
        path: &Path,
        columns: &TableColumns,
        from: &Streaming,
        global: &Global,
    ) -> Result<Reading<Self>> {
        let reading = Self::read(path, columns, from, global)?;
        match (&reading.data, reading.data.class_names().len()) {
            (Rows::Streamed(_), 3..) if !from.is_asked_for() => {
                let Reading { data, notes } = columns.read_quietly(path, global)?;
                Ok(Reading { data: data.into(), notes })
            }
            _ => Ok(reading),
        }
    }

    /// Whether the rows stay in a database.
    pub fn is_in_database(&self) -> bool {
        matches!(self, Rows::Database(_))
    }

    /// What to say of intervals where rows cannot be drawn one by one: they have no numbers in a database, nor a key to hash.
    pub fn how_drawn(&self, together: bool) -> Option<Note> {
        let alike = match (self.is_in_database(), together) {
            (false, _) => return None,
            (true, true) => {
                "rows are drawn again for all models together, by how many of them the models decide alike (Poisson)"
            }
            (true, false) => "rows are drawn again by how many of them are counted alike (Poisson)",
        };
        Some(Note::Choice(format!("intervals: {alike}")))
    }

    /// The rows, where they are in memory.
    pub fn in_memory(&self) -> Result<&Sample<Table>> {
        match self {
            Rows::Memory(rows) => Ok(rows),
            Rows::Streamed(_) => bail!("the table is streamed, and this needs its rows in memory"),
            Rows::Database(_) => bail!("the table is in a database, and this needs its rows in memory"),
        }
    }

    /// A classifier as a rule that these rows can be asked about; none if they lack what it looks at.
    pub fn rule_of(&self, classifier: &Classifier) -> Option<Rule> {
        let counted = || {
            let groups = classifier.group_columns().is_none() || !self.group_names().is_empty();
            classifier.columns().is_empty() && groups
        };
        let known = match self {
            Rows::Memory(rows) => rows.rows().is_ok_and(|rows| classifier.check(rows.scores()).is_ok()),
            // A statement has a matrix for each rule, where scores alone do not decide.
            Rows::Database(rows) if rows.classes() > 2 => return classifier.post_shift().map(Rule::from),
            Rows::Streamed(_) | Rows::Database(_) => counted(),
        };
        known.then(|| Rule::Classifier(Box::new(classifier.clone())))
    }

    /// The class names, in order.
    pub fn class_names(&self) -> &[String] {
        match self {
            Rows::Memory(rows) => rows.table().classes(),
            Rows::Streamed(rows) => rows.class_names(),
            Rows::Database(rows) => rows.class_names(),
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
            Rows::Database(rows) => rows.is_hard(),
        }
    }

    /// Whether both have the same true classes, groups and weights, row by row.
    pub fn has_rows_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Rows::Memory(a), Rows::Memory(b)) => {
                let (a, b) = (a.table(), b.table());
                a.truth() == b.truth() && a.groups() == b.groups() && a.weights() == b.weights()
            }
            // Rows in a database have no numbers, so that nobody knows which of two tables are the same.
            (Rows::Database(_), _) | (_, Rows::Database(_)) => std::ptr::eq(self, other),
            _ => self.fingerprint() == other.fingerprint(),
        }
    }

    /// A number that tells rows from others, by their true classes, groups and weights.
    fn fingerprint(&self) -> u64 {
        match self {
            Rows::Memory(rows) => rows.table().fingerprint(0),
            Rows::Streamed(rows) => rows.fingerprint(),
            Rows::Database(_) => 0,
        }
    }

    /// The group names; none without groups.
    pub fn group_names(&self) -> &[String] {
        match self {
            Rows::Memory(rows) => rows.table().groups().map_or(&[], Groups::names),
            Rows::Streamed(rows) => rows.group_names(),
            Rows::Database(rows) => rows.group_names(),
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
            Rows::Database(rows) => rows.prevalence(),
        }
    }

    fn confusions(&self, rules: &[Rule]) -> Result<Vec<GroupConfusions>, Error> {
        match self {
            Rows::Memory(rows) => rows.confusions(rules).map_err(|never| match never {}),
            Rows::Streamed(rows) => rows.confusions(rules),
            Rows::Database(rows) => rows.confusions(rules),
        }
    }
}

impl Population for Rows {
    type Part = Sample<Table>;

    fn totals(&self) -> Result<Totals, Error> {
        match self {
            Rows::Memory(rows) => rows.totals().map_err(|never| match never {}),
            Rows::Streamed(rows) => rows.totals(),
            Rows::Database(rows) => rows.totals(),
        }
    }

    fn score_profile(&self, score: Score) -> Result<Profile, Error> {
        match self {
            Rows::Memory(rows) => rows.score_profile(score).map_err(|never| match never {}),
            Rows::Streamed(rows) => rows.score_profile(score),
            Rows::Database(rows) => rows.score_profile(score),
        }
    }

    fn resampled(&self, rules: &[Rule], seed: u64, draws: usize) -> Result<Vec<Vec<GroupConfusions>>, Error> {
        match self {
            Rows::Memory(rows) => rows.resampled(rules, seed, draws).map_err(|never| match never {}),
            Rows::Streamed(rows) => rows.resampled(rules, seed, draws),
            Rows::Database(rows) => rows.resampled(rules, seed, draws),
        }
    }

    fn moments(&self, bases: &[Basis]) -> Result<Ask<'_, Error>, AskError<Error>> {
        match self {
            Rows::Memory(rows) => {
                let ask = rows.moments(bases).map_err(equipoise::Error::from)?;
                Ok(Box::new(move |rules| ask(rules).map_err(|never| match never {})))
            }
            Rows::Streamed(rows) => rows.moments(bases),
            Rows::Database(rows) => rows.moments(bases),
        }
    }

    fn sample(&self, rows: usize, seed: u64) -> Result<Sample<Table>, Error> {
        match self {
            Rows::Memory(all) => all.sample(rows, seed).map_err(|never| match never {}),
            Rows::Streamed(all) => all.sample(rows, seed),
            Rows::Database(all) => all.sample(rows, seed),
        }
    }
}
