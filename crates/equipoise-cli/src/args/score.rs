//! The arguments of `equipoise score` and of judging models in `equipoise rank`.

use super::{inner_share, share};
use crate::metrics;
use crate::tables::TableColumns;
use clap::Args;
use std::path::PathBuf;

/// Say what a model is worth under a metric, with intervals
#[derive(Debug, Args)]
#[command(after_help = "\
FILE is a table of predictions, or confusion matrices as long records {model, group, truth, estimate, count}. The interval \
allows for the sample and, if the metric came from answers, for what they left open.

Examples:
  equipoise score val.csv --metric metric.json
  equipoise score val.csv --metric f2 --threshold 0.3
  equipoise score pool.csv --metric balanced_accuracy --json")]
pub struct Score {
    /// The predictions or the confusion matrices
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub judged: Judged,
}

/// By what models are judged, and how their uncertainty is found.
#[derive(Debug, Args)]
pub struct Judged {
    #[arg(long, value_name = "METRIC", help = format!("By what to judge: {}", metrics::HELP))]
    pub metric: String,
    /// Predict the positive one of two classes from this probability on [default: the most likely class]
    #[arg(long, value_name = "T", value_parser = share)]
    pub threshold: Option<f64>,
    /// How many resamples of the rows [default: 1000, fewer for large tables]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub draws: Option<u32>,
    /// The probability of intervals and of the best model
    #[arg(long, value_name = "P", default_value_t = equipoise::decide::rank::LEVEL, value_parser = inner_share)]
    pub level: f64,
    #[command(flatten)]
    pub columns: TableColumns,
}
