//! The predictions and pools of classifiers that experiments on real data use.

use anyhow::Result;
use equipoise_data::{Columns, ModelConfusions, Sample, Table, read};
use std::path::{Path, PathBuf};

/// Where the repository keeps what `experiments/train.py` makes.
const FOLDER: &str = "experiments";

/// A folder with `predictions` and `pools`.
#[derive(Debug)]
pub struct Data {
    folder: PathBuf,
    named: bool,
}

impl Data {
    /// The folder that was named, or the one of the repository.
    pub fn new(named: Option<&Path>) -> Self {
        Self { folder: named.unwrap_or(Path::new(FOLDER)).to_owned(), named: named.is_some() }
    }

    /// Whether somebody asked for this folder.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// A pool: the confusion matrices of its models.
    pub fn pool(&self, name: &str) -> Result<Vec<ModelConfusions>> {
        Ok(read::confusions(self.find(&format!("pools/{name}.csv"))?)?.data)
    }

    /// Scored rows.
    pub fn predictions(&self, name: &str) -> Result<Sample<Table>> {
        let path = self.find(&format!("predictions/{name}.csv"))?;
        Ok(Sample::new(read::table(path, &Columns::guess())?.data)?)
    }

    /// A file, plain or compressed.
    fn find(&self, name: &str) -> Result<PathBuf> {
        let plain = self.folder.join(name);
        let compressed = self.folder.join(format!("{name}.gz"));
        match [plain, compressed].into_iter().find(|path| path.is_file()) {
            Some(path) => Ok(path),
            None => Err(NoData(self.how_to_make(name)).into()),
        }
    }

    fn how_to_make(&self, name: &str) -> String {
        let folder = self.folder.display();
        let raw = if self.holds_raw_data() { folder.to_string() } else { "RAW".to_owned() };
        let instead = if self.named { "" } else { "run this in the repository, or " };
        format!(
            "{folder} has no {name}: {instead}train it from the raw data with `python3 experiments/train.py --data {raw} \
             --out DIR` and add `--data DIR`"
        )
    }

    /// Whether the folder looks like one of data sets to train on: compressed tables and nothing trained.
    fn holds_raw_data(&self) -> bool {
        let compressed = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(".csv.gz"))
        };
        std::fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.any(compressed))
    }
}

/// What an experiment needs is not there: the sentence says what, and how to make it.
#[derive(Debug)]
pub struct NoData(String);

impl std::fmt::Display for NoData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoData {}
