//! The arguments of `equipoise plan`.

use crate::tables::TableColumns;
use clap::Args;
use std::path::PathBuf;

/// Simulate experts before any human is asked: questions, error, coverage
#[derive(Debug, Args)]
#[command(after_help = "\
FILE is a space, a plan or a simulation as a JSON document, or a table of predictions (CSV, JSON Lines, Parquet, Arrow): two \
classes are asked about their thresholds, more about a ball of error rates; or the directory of a study, all of which is then \
taken by simulated people. Experts are drawn from a population of \
people unless --noise says otherwise. The exit code is 1 if the 95 % interval holds the truth in fewer than 93 % of the \
sessions, or that of a cost ratio in more than 97 %, by more than chance; or if more than 20 % of them are asked as many \
questions as allowed.

Examples:
  equipoise plan examples/simulations/logistic_linear_adaptive.json
  equipoise plan cancer --experts 500              a study, before it is locked
  equipoise plan predictions.csv --noise logistic:20,lapse:0.02 --experts 200")]
pub struct PlanAhead {
    /// A document, a table, or the directory of a study
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How they err: logistic:SLOPE,lapse:SHARE in units of the space, flip:SHARE, or none
    #[arg(long, value_name = "NOISE")]
    pub noise: Option<String>,
    /// How many experts
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub experts: u32,
    #[command(flatten)]
    pub columns: TableColumns,
}
