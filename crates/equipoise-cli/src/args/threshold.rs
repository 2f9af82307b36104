//! The arguments of `equipoise threshold`.

use super::{Form, inner_share};
use crate::metrics;
use crate::tables::{Streaming, TableColumns};
use clap::Args;
use std::path::PathBuf;

/// Set the threshold, or the rule for many classes, that a metric wants
#[derive(Debug, Args)]
#[command(after_help = "\
Two thresholds are put side by side: the one that theory gives if the probabilities are calibrated (Bayes), and the \
best one on the table. The second is advised only where it is clearly better on rows it was not chosen on. With more \
than two classes the rule is a matrix of weights. The exit code is 1 if no rule meets the requirements.

A requirement is recall, precision, fpr, fnr or coverage of a class, rate:TRUTH->ESTIMATE, or accuracy, with @GROUP for \
one group only.

Examples:
  equipoise threshold examples/tables/screening.csv --metric 7:1
  equipoise threshold examples/tables/screening.csv --metric f2 --per-group
  equipoise threshold examples/tables/screening.csv --metric 7:1 --require 'recall:malignant>=0.9'
  equipoise threshold examples/tables/triage.csv --metric balanced_accuracy")]
pub struct Threshold {
    /// The table of predictions
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub columns: TableColumns,
    #[command(flatten)]
    pub streaming: Streaming,
    #[arg(long, value_name = "METRIC", allow_hyphen_values = true, help = format!("What to decide by: {}", metrics::HELP))]
    pub metric: String,
    /// What the rule must keep to, such as recall:malignant>=0.9 or fpr:malignant@north<=0.1; may be repeated
    #[arg(long, value_name = "REQUIREMENT")]
    pub require: Vec<String>,
    /// A threshold for every group
    #[arg(long)]
    pub per_group: bool,
    /// Draws of the metric and of the rows behind the intervals [default: 200, fewer for large tables]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub draws: Option<u32>,
    /// The probability that intervals have
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = inner_share)]
    pub level: f64,
    /// Where to write the decision curve, as SVG, or as PNG if the name ends so
    #[arg(long, value_name = "FILE", default_value = "equipoise-threshold.svg")]
    pub svg: PathBuf,
    /// Write no picture
    #[arg(long, conflicts_with = "svg")]
    pub no_svg: bool,
}
