//! The arguments of `equipoise rank`.

use super::Judged;
use clap::Args;
use std::path::PathBuf;

/// Put models in the order of a metric and say how sure that order is
#[derive(Debug, Args)]
#[command(after_help = "\
MODELS are tables of predictions, one per model and named after the file (a folder or a pattern is all its files), or files of confusion matrices as long records \
{model, group, truth, estimate, count}. Models with predictions for the same rows are compared on the same resampled rows. \
Models are used as the metric wants them, see `equipoise score --help`. The exit code is 1 if the best model cannot be told \
from the next ones.

With a metric of attributes, as `equipoise choose` writes it, MODELS is a table of candidates of any kind, a row each, with \
the columns that the metric weighs.

Examples:
  equipoise rank forest.csv boosting.csv --metric metric.json
  equipoise rank val.csv --models forest,boosting --metric 7:1
  equipoise rank 'models/*.parquet' --metric f1 --threshold best
  equipoise rank pool.csv --metric metric.json --against f1 --svg ranking.svg
  equipoise rank front.csv --metric choice.json

--against takes a metric, the JSON of another `rank --json`, or a text file with a model per line, best first. This \
ranking is then judged by that one: NDCG with exponential gain, and Kendall's tau.")]
pub struct Rank {
    /// The models
    #[arg(value_name = "MODELS", required = true)]
    pub models: Vec<PathBuf>,
    /// Compare with the order of another metric, or with another ranking
    #[arg(long, value_name = "METRIC|FILE")]
    pub against: Option<String>,
    /// Latency, price, size of the models by name: JSON, or a table; for metrics that judge by them see `equipoise gate --help`
    #[arg(long, value_name = "FILE")]
    pub attributes: Option<PathBuf>,
    /// Where to write a picture of the intervals, as SVG, or as PNG if the name ends so
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub judged: Judged,
}
