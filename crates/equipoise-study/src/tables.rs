//! Who reads the files a study names: this process, or one that has nothing to lose ([`crate::apart`]).

use crate::error::Result;
use equipoise_data::{Columns, ModelConfusions, Reading, Table, read};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Which columns of a table a study means; what is not named is guessed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// The column of true classes.
    pub truth: Option<String>,
    /// The column of scores.
    pub score: Option<String>,
    /// The column of groups.
    pub group: Option<String>,
    /// The class that scores are of.
    pub positive: Option<String>,
}

impl Wanted {
    fn columns(&self) -> Columns {
        let mut columns = Columns::guess();
        if let Some(truth) = &self.truth {
            columns = columns.truth(truth);
        }
        if let Some(score) = &self.score {
            columns = columns.scores([score.as_str()]);
        }
        if let Some(group) = &self.group {
            columns = columns.groups([group.as_str()]);
        }
        if let Some(positive) = &self.positive {
            columns = columns.positive(positive);
        }
        columns
    }
}

/// A table somebody opened: what was read, or why it was not, and the names of its columns where it has any.
#[derive(Debug)]
pub struct Opened {
    /// The names of its columns.
    pub header: Vec<String>,
    /// Its rows, with what was guessed about them.
    pub reading: equipoise_data::Result<Reading<Table>>,
}

impl Opened {
    /// Reads it in this process: for files one has named oneself.
    pub fn here(file: &Path, columns: &Columns) -> Self {
        Self { header: read::header(file).unwrap_or_default(), reading: read::table(file, columns) }
    }
}

/// Reads the files of a study.
pub trait Tables {
    /// A table of predictions.
    fn table(&self, file: &Path, wanted: &Wanted) -> Result<Table>;

    /// Models that are known by their counts.
    fn models(&self, file: &Path) -> Result<Vec<ModelConfusions>>;

    /// The columns of any table, cell by cell as they stand in it.
    fn texts(&self, file: &Path) -> Result<Vec<(String, Vec<String>)>>;
}

/// Reads them in this process: for files one has written oneself.
#[derive(Debug, Clone, Copy)]
pub struct Here;

impl Tables for Here {
    fn table(&self, file: &Path, wanted: &Wanted) -> Result<Table> {
        Ok(read::table(file, &wanted.columns())?.data)
    }

    fn models(&self, file: &Path) -> Result<Vec<ModelConfusions>> {
        Ok(read::confusions(file)?.data)
    }

    fn texts(&self, file: &Path) -> Result<Vec<(String, Vec<String>)>> {
        let header = read::header(file)?;
        let cells = read::texts(file, &header)?;
        Ok(header.into_iter().zip(cells).collect())
    }
}
