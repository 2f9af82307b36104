//! The arguments of `equipoise open`.

use crate::tables::TableColumns;
use clap::Args;
use std::path::PathBuf;

/// Open a table in the browser: your metric, its threshold, your models in order
#[derive(Debug, Args)]
#[command(after_help = "\
A page for this computer alone is opened in the browser; its link, with a key in it, is printed too. Drop a table there or give \
its path, correct the columns that were guessed, answer about a dozen questions, or let the expert beside you answer them, and \
take the metric, the threshold, the Python scorer and the report with you. The questions and what is saved are those of \
`equipoise elicit`: beside a table that was given by its path. Nothing leaves the computer. Ctrl-C ends it.

Examples:
  equipoise open
  equipoise open examples/tables/screening.csv
  equipoise open --truth outcome --scores risk --no-browser val.parquet")]
pub struct Open {
    /// The table of predictions: CSV, JSON Lines or Parquet; without it the page asks for one
    #[arg(value_name = "TABLE")]
    pub table: Option<PathBuf>,
    /// Print the link and open no browser
    #[arg(long)]
    pub no_browser: bool,
    /// The port to listen on; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// At most this many questions before the result is shown; it can be gone on from there [default: 12 for two classes, 30 for
    /// more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(4..=1_000))]
    pub budget: Option<u16>,
    #[command(flatten)]
    pub columns: TableColumns,
}
