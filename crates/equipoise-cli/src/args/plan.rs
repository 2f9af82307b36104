//! The arguments of `equipoise plan`.

use super::asking::Asking;
use crate::commands::study::Place;
use crate::tables::TableColumns;
use clap::Args;
use std::path::PathBuf;

/// Simulate experts before any human is asked: questions, error, coverage
#[derive(Debug, Args)]
#[command(after_help = "\
FILE is a table of predictions (CSV, JSON Lines, Parquet, Arrow): simulated people are then asked exactly what `equipoise \
elicit` asks about it with the same options, of three kinds unless --noise names one: standard and blunt people, who err by \
ratios, and people who err by differences; their questions, minutes, regret and how often intervals hold are printed. Or it is \
a space, a plan or a simulation as a JSON document, whose experts are drawn from a population of people. A study is planned with \
`equipoise study plan`. The exit code is 1 if what is said with 95 % certainty holds in fewer than 93 % of \
the sessions, or the interval of a cost ratio of a document in more than 97 %, by more than chance; or if more than 20 % of them \
are asked as many questions as allowed.

Examples:
  equipoise plan examples/simulations/logistic_linear_adaptive.json
  equipoise plan predictions.csv --regret 0.05     a table, before you are asked about it
  equipoise plan predictions.csv --family group_fair --group sex --noise standard --experts 200")]
pub struct PlanAhead {
    /// A table or a document
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How they err: logistic:SLOPE,lapse:SHARE in units of the space, relative:SLOPE,lapse:SHARE, flip:SHARE, or none; of a
    /// table also standard, blunt or absolute
    #[arg(long, value_name = "NOISE")]
    pub noise: Option<String>,
    /// How many experts [default: 1000; of a table 100 of each kind]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub experts: Option<u32>,
    #[command(flatten)]
    pub asking: Asking,
    #[command(flatten)]
    pub columns: TableColumns,
}

/// Let simulated people take a study before it is locked: questions, error, coverage
#[derive(Debug, Args)]
#[command(after_help = "\
All of the study is taken by simulated people, as its pages would ask it. The exit code is 1 if what is said with 95 % certainty \
holds in fewer than 93 % of the sessions by more than chance, or if more than 20 % of them are asked as many questions as allowed.

Example:
  equipoise study plan cancer --experts 500")]
pub struct PlanStudy {
    #[command(flatten)]
    pub place: Place,
    /// How they err: logistic:SLOPE,lapse:SHARE in units of the space, relative:SLOPE,lapse:SHARE, flip:SHARE, or none
    #[arg(long, value_name = "NOISE")]
    pub noise: Option<String>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub experts: u32,
}
