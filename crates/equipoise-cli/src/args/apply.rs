//! The arguments of `equipoise apply`.

use crate::tables::SCALES;
use clap::Args;
use std::path::PathBuf;

/// Predict the rows of a table with a classifier that was optimised
#[derive(Debug, Args)]
#[command(after_help = "\
TABLE needs the columns of probabilities and bases the classifier was made with; a truth column is not needed. The \
predictions are CSV, one line per row under the heading `prediction`, after the columns that --keep names.

Examples:
  equipoise apply new.csv --classifier classifier.json
  equipoise apply new.csv --classifier classifier.json --keep patient,visit --output predictions.csv")]
pub struct Apply {
    /// The rows to predict
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    /// The classifier that `optimize` wrote
    #[arg(long, value_name = "FILE", default_value = "classifier.json")]
    pub classifier: PathBuf,
    /// The probability columns, one per class in the classifier's order, if they have other names now
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub scores: Option<Vec<String>>,
    /// What the numbers in the probability columns are [default: what they were for `optimize`]
    #[arg(long, value_name = "SCALE", value_parser = SCALES)]
    pub scores_are: Option<String>,
    /// Columns to write beside the predictions, such as ids [guessed: id, row_id, uuid, index, Unnamed: 0]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub keep: Option<Vec<String>>,
    /// Where to write the predictions [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
