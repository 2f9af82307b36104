//! The arguments of `equipoise inspect`.

use super::Form;
use crate::tables::{Streaming, TableColumns};
use clap::Args;
use std::path::PathBuf;

/// See what a table of predictions has and what classifiers it allows
#[derive(Debug, Args)]
#[command(after_help = "\
TABLE is CSV (also .gz), JSON Lines or Parquet with the true class and the predicted probabilities of every row, maybe \
groups and weights. Printed are the classes and groups, how well the probabilities are calibrated, how well each pair of \
classes can be told apart, and how large a ball of error rates is certainly achievable. The exit code is 1 if there are \
warnings.

Examples:
  equipoise inspect examples/tables/screening.csv
  equipoise inspect --truth outcome --scores risk --positive died --group sex,site val.parquet")]
pub struct Inspect {
    /// The table of predictions
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub columns: TableColumns,
    #[command(flatten)]
    pub streaming: Streaming,
    /// Where to write the picture of what is achievable and of the calibration, as SVG, or as PNG if the name ends so
    #[arg(long, value_name = "FILE", default_value = "equipoise-inspect.svg")]
    pub svg: PathBuf,
    /// Write no picture
    #[arg(long, conflicts_with = "svg")]
    pub no_svg: bool,
}
