//! The arguments of `equipoise elicit`.

use super::positive;
use crate::tables::TableColumns;
use clap::Args;
use std::path::PathBuf;

/// Find your metric by comparing classifiers that your own predictions allow
#[derive(Debug, Args)]
#[command(after_help = "\
TABLE has a row per case: its true class and the probabilities a model gives to the classes. Two classes and a linear \
metric: you compare thresholds, and the answer is a cost ratio with its interval. More classes, or other families: you \
compare classifiers within a ball of error rates that this table certainly allows; group families do so within each \
group. The answers are saved after each one. Of more than two weights the last few questions, the probes, check whether \
weights are enough at all, and the report says which answers contradict the rest. The exit code is 1 if they do not single out a metric.

Examples:
  equipoise elicit val.csv                                you answer; q saves
  equipoise elicit val.csv --resume val.interview.json    you go on
  equipoise elicit val.csv --oracle 6:1 --noise logistic:200
  equipoise elicit val.csv --family group_fair --group sex --oracle-command ./ask.sh

An oracle command is started once. It reads one question per line, a JSON object with the classifiers `first` and \
`second` as lists of {truth, estimate, group, count, rate}, and prints one line per answer: first, second or tie, or \
{\"answer\": \"first\"}.")]
pub struct Elicit {
    /// The predictions: CSV, JSON Lines or Parquet
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    /// What kind of metric to look for
    #[arg(long, value_name = "FAMILY", default_value = "linear", value_parser = [
        "linear", "linear_fractional", "quadratic", "polynomial", "group_fair", "group_fair_quadratic",
    ])]
    pub family: String,
    /// How to ask: adaptive, antipodal or paper [default: the first of these the family has]
    #[arg(long, value_name = "METHOD", value_parser = ["adaptive", "antipodal", "paper"])]
    pub method: Option<String>,
    /// Ask until the weights are known to this angle, in radians [default: 0.05]
    #[arg(long, value_name = "T", value_parser = positive)]
    pub tolerance: Option<f64>,
    /// Ask until the ends of a cost ratio's interval differ by this factor [default: 1.6]
    #[arg(long, value_name = "FACTOR", value_parser = positive, conflicts_with = "tolerance")]
    pub width: Option<f64>,
    /// At most this many questions, where the method can stop early
    #[arg(long, value_name = "N")]
    pub budget: Option<usize>,
    /// How answers are believed to come about: exact, flip:P or logistic:S [default: the method's own]
    #[arg(long, value_name = "MODEL", value_parser = worded)]
    pub answers: Option<Worded>,
    /// After the questions ask this many more, which tell whether a linear metric explains the answers [default: 6 where a
    /// person or a program is asked about more than two weights, else 0]
    #[arg(long, value_name = "N")]
    pub probes: Option<usize>,
    /// Let a program answer, one JSON line per question in, one line per answer out
    #[arg(long, value_name = "CMD")]
    pub oracle_command: Option<String>,
    /// Seconds the program has for each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive, requires = "oracle_command")]
    pub answer_within: f64,
    /// Let a simulated expert answer who holds this metric: a document, a name, or a ratio such as 6:1
    #[arg(long, value_name = "METRIC", conflicts_with = "oracle_command", allow_hyphen_values = true)]
    pub oracle: Option<String>,
    /// How the simulated expert errs: none, flip:P, band:W, or logistic:S, in the metric's own units
    #[arg(long, value_name = "NOISE", value_parser = worded, requires = "oracle")]
    pub noise: Option<Worded>,
    /// Where to write the metric
    #[arg(long, value_name = "FILE", default_value = "metric.json")]
    pub out: PathBuf,
    /// Where to keep the answers [default: TABLE's name with .interview.json]
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Go on with saved answers; they stay in FILE unless --save names another
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "family", "method", "tolerance", "width", "budget", "answers", "probes",
    ])]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub columns: TableColumns,
}

/// A word with a number, as in `logistic:20`.
#[derive(Debug, Clone, PartialEq)]
pub struct Worded {
    /// The word.
    pub kind: String,
    /// What stands after the colon.
    pub number: Option<f64>,
}

fn worded(text: &str) -> Result<Worded, String> {
    let (kind, number) = match text.split_once(':') {
        None => (text, None),
        Some((kind, number)) => {
            let parsed = number.parse::<f64>().ok().filter(|number| number.is_finite());
            let parsed =
                parsed.ok_or_else(|| format!("found \"{number}\" after the colon, expected a number"))?;
            (kind, Some(parsed))
        }
    };
    Ok(Worded { kind: kind.to_owned(), number })
}
