//! The arguments of `equipoise elicit`.

use super::asking::{Asking, Worded, worded};
use super::positive;
use crate::tables::{Streaming, TableColumns};
use clap::Args;
use std::path::PathBuf;

/// Find your metric by comparing classifiers that your own predictions allow
#[derive(Debug, Args)]
#[command(after_help = "\
TABLE has a row per case: its true class and the probabilities a model gives to the classes. Two classes and a linear \
metric: you compare thresholds, and the answer is a cost ratio with its interval. More classes, or two groups: you compare \
classifiers near the model as it is, which differ in two kinds of error and in nothing else, until the rule that follows \
is good enough for you. Other families, and simulated experts: classifiers within a ball of error rates around the toss of a \
coin. You are told about how many questions there are; sides are by chance; nothing is said of what your answers come to until \
the end. The answers are saved after each one, and the report says which contradict the rest. The exit code is 1 if they do \
not single out a metric, or if the questions ended before as much was known as was wanted.

Examples:
  equipoise elicit val.csv                                you answer; q saves
  equipoise elicit val.csv --resume val.interview.json    you go on
  equipoise elicit val.csv --resume val.interview.json --budget 45
  equipoise elicit val.csv --around balanced --regret 0.05
  equipoise elicit val.csv --oracle 6:1 --noise logistic:200
  equipoise elicit val.csv --family group_fair --group sex --oracle-command ./ask.sh
  equipoise elicit val.csv --ask cases                    a case with a risk of 30 %: act or not?
  equipoise elicit --from-decisions past.csv --scores risk --decision treated --by doctor

An oracle command is started once. It reads one question per line, a JSON object with the classifiers `first` and \
`second` as lists of {truth, estimate, group, count, share_of_class}, and prints one line per answer: first, second or tie, or \
{\"answer\": \"first\"}. With --ask cases the question has a `risk`; first is to act, second is not to.")]
pub struct Elicit {
    /// The predictions: CSV, JSON Lines or Parquet
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    #[command(flatten)]
    pub asking: Asking,
    /// Ask nothing: TABLE has decisions that were made, a row per case with a score and what was decided; the cost ratio at which
    /// they make sense. --scores is guessed as risk too, --positive is what acting is called. The exit code is 1 if they do not follow the score, or bound the ratio
    /// on one side only
    #[arg(long, conflicts_with_all = [
        "family", "method", "around", "ask", "regret", "width", "tolerance", "budget", "answers", "probes", "watch", "oracle_command",
        "oracle", "save", "resume", "truth", "group", "no_group", "weight", "no_weight",
    ])]
    pub from_decisions: bool,
    /// The column of decisions, two values [guessed: decision, decided, action, acted, treated]
    #[arg(long, value_name = "COLUMN", requires = "from_decisions")]
    pub decision: Option<String>,
    /// The column of who decided: a ratio for each besides that of all
    #[arg(long, value_name = "COLUMN", requires = "from_decisions")]
    pub by: Option<String>,
    /// Show what is known after every answer, which may sway the next
    #[arg(long)]
    pub watch: bool,
    /// Let a program answer, one JSON line per question in, one line per answer out
    #[arg(long, value_name = "CMD")]
    pub oracle_command: Option<String>,
    /// Seconds the program has for each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive, requires = "oracle_command")]
    pub answer_within: f64,
    /// Let a simulated expert answer who holds this metric: a document, a name, or a ratio such as 6:1
    #[arg(long, value_name = "METRIC", conflicts_with = "oracle_command", allow_hyphen_values = true)]
    pub oracle: Option<String>,
    /// How the simulated expert errs: none, flip:P, band:W, logistic:S in the metric's own units, or relative:S
    #[arg(long, value_name = "NOISE", value_parser = worded, requires = "oracle")]
    pub noise: Option<Worded>,
    /// Where to write the metric [default: metric.json; TABLE's name with .metric.json where that holds another table's]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Where to keep the answers [default: TABLE's name with .interview.json]
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Go on with saved answers, also where they had come to their end; they stay in FILE unless --save names another. Another
    /// --budget, --regret, --width or --tolerance may end them later or sooner
    #[arg(long, value_name = "FILE", conflicts_with_all = ["family", "method", "answers", "probes", "around", "ask"])]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub columns: TableColumns,
    #[command(flatten)]
    pub streaming: Streaming,
}
