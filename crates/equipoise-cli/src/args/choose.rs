//! The arguments of `equipoise choose`.

use super::asking::{Worded, worded};
use super::positive;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Which candidates are asked about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Among {
    // No help of their own: long and short help would differ.
    #[default]
    Pareto,
    All,
}

/// Choose among candidates by what they have: which point of a Pareto front is yours
#[derive(Debug, Default, Args)]
#[command(after_help = "\
TABLE has a row per candidate and a column per attribute: latency, price, recall. You are asked to trade two attributes at a \
time, all else equal, and later to compare candidates that are still likely the best, until the best one is known with a \
probability of .9 or is expected to fall short by at most 2 % of what lies between the best and the worst. Columns that say \
by their name which way is better need no option. Money and time count by their ratio, shares near 0 or 1 by their odds, \
unless --scale says otherwise. The exit code is 1 if less is known at the end than was wanted.

Examples:
  equipoise choose front.csv --minimize latency_ms,price --maximize recall
  equipoise choose trials.csv --name trial --ignore seed --among all
  equipoise choose front.csv --oracle latency_ms=2,recall=1 --noise relative:3
  equipoise choose front.csv --oracle-command ./ask.sh --json

An oracle command is started once. It reads one question per line, {\"format\":1,\"question\":1,\"first\":{\"name\":\"m3\",\
\"attributes\":{\"recall\":0.91,\"latency_ms\":40}},\"second\":{...}}, without a name where a candidate is imagined, and prints one \
line per answer: first, second or tie.")]
pub struct Choose {
    /// The candidates: CSV, JSON Lines or Parquet
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    /// The column of names [default: the first column of text, or the number of the row]
    #[arg(long, value_name = "COL")]
    pub name: Option<String>,
    /// Columns of which less is better
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub minimize: Vec<String>,
    /// Columns of which more is better
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub maximize: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// The scale on which differences of a column count alike: COL=linear, COL=log or COL=logit
    #[arg(long, value_name = "COL=SCALE", value_delimiter = ',')]
    pub scale: Vec<String>,
    /// Only candidates that no other is better than in everything, or all
    #[arg(long, value_name = "WHICH", default_value = "pareto")]
    pub among: Among,
    /// Ask about candidates that exist only, nothing imagined
    #[arg(long)]
    pub only_real: bool,
    /// At most so many questions, and up to 5 more where they leave doubt about the answers [default: 40]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub budget: Option<u32>,
    /// End when the choice is expected to fall short of the best by at most this share of what lies between best and worst
    /// [default: .02]
    #[arg(long, value_name = "SHARE", value_parser = super::inner_share)]
    pub regret: Option<f64>,
    /// Let a program answer, one JSON line per question in, one line per answer out
    #[arg(long, value_name = "CMD")]
    pub oracle_command: Option<String>,
    /// Seconds the program has for each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive, requires = "oracle_command")]
    pub answer_within: f64,
    /// Let a simulated person answer: weights of the columns over their ranges, as COL=2,COL=1, or a metric document
    #[arg(long, value_name = "WEIGHTS|FILE", conflicts_with = "oracle_command")]
    pub oracle: Option<String>,
    /// How the simulated person errs: none, flip:P, logistic:S or relative:S
    #[arg(long, value_name = "NOISE", value_parser = worded, requires = "oracle")]
    pub noise: Option<Worded>,
    /// Where to write the metric [default: metric.json; TABLE's name with .metric.json where that holds another table's]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Where to keep the answers [default: TABLE's name with .choice.json]
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Go on with saved answers
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}
