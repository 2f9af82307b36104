//! The arguments of `equipoise scorer`.

use clap::Args;
use std::path::PathBuf;

/// Write a metric as one Python file that scores predictions and needs nothing else
#[derive(Debug, Args)]
#[command(after_help = "\
METRIC is a document that `elicit` or `report` wrote. The file works with Python 3.9 or later: score(y_true, y_pred) gives the \
value with a 95 % interval, and scorer is what scikit-learn's searches and cross-validation take.

Examples:
  equipoise scorer metric.json --output scorer.py
  equipoise scorer metric.json --draws 200 > scorer.py")]
pub struct Scorer {
    /// The metric document
    #[arg(value_name = "METRIC")]
    pub metric: PathBuf,
    /// Where to write the file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How many draws of an uncertain metric to write into it, for the interval
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub draws: u32,
}
