//! The arguments of `equipoise optimize`.

use super::{Form, positive};
use crate::tables::{Streaming, TableColumns};
use clap::Args;
use std::path::PathBuf;

/// Adjust a trained model's predictions so that they maximise a metric, without retraining
#[derive(Debug, Args)]
#[command(after_help = "\
The training table may have noisy labels or come from elsewhere; the validation table is small and clean. Both have the \
model's class probabilities. The result weighs those probabilities, class by class and basis by basis. Name --truth and --scores: \
the classifier keeps the names. A group column is for metrics about groups; the training table may do without it.

A basis is a column of numbers from 0 to 1 (say 0 and 1 for two kinds of rows), or one of the words argmax (one per class: \
rows the model finds it most likely for), kmeans:N (N clusters) and rbf:N (N soft clusters). Clusters are of the class \
probabilities, or of --features. All rows together are always a basis.

With --metric-command the metric is a program: it gets one line per validation row, a JSON list with the probability of each \
class, and prints one number, larger for better.

With --preference-command the program can only compare: it gets one line per validation row, a JSON list of two lists, what the \
first and what the second classifier predict (zeros and a one for the predicted class), and prints first, second or equal. One \
weight per class is searched, or one per class and group with --per-group.

Examples:
  equipoise optimize --train train.csv --validation val.csv --test test.csv --truth y --scores p0,p1 --metric g_mean
  equipoise optimize --train train.csv --validation val.csv --truth y --scores p0,p1 --basis private,income --metric f1 --known
  equipoise optimize --train train.csv --validation val.csv --truth y --scores p0,p1 --metric-command 'python score.py'")]
pub struct Optimize {
    /// The table the model's probabilities are weighed on
    #[arg(long, value_name = "TABLE")]
    pub train: PathBuf,
    /// The small clean table the metric is evaluated on
    #[arg(long, value_name = "TABLE")]
    pub validation: PathBuf,
    /// A table to report on that plays no part in optimising
    #[arg(long, value_name = "TABLE")]
    pub test: Option<PathBuf>,
    /// What weights may depend on: columns, argmax, kmeans:N, rbf:N
    #[arg(long, value_name = "BASIS,...", value_delimiter = ',')]
    pub basis: Vec<String>,
    /// The coordinates of kmeans and rbf [default: the class probabilities]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub features: Vec<String>,
    /// The width of rbf
    #[arg(long, value_name = "W", default_value_t = 1.0, value_parser = positive, allow_negative_numbers = true)]
    pub width: f64,
    /// What to optimise: a name (g_mean, macro_f, mcc, f1, ...; see `equipoise metrics`), a cost ratio such as 7:1, a cost
    /// matrix, or a metric document
    #[arg(long, value_name = "NAME|FILE", allow_hyphen_values = true, required_unless_present_any = ["metric_command", "preference_command"])]
    pub metric: Option<String>,
    /// What to maximise: a command that is given predictions and prints one number
    #[arg(long, value_name = "CMD", conflicts_with_all = ["metric", "known"])]
    pub metric_command: Option<String>,
    /// What to maximise: a command that is given two sets of predictions and prints which is better
    #[arg(long, value_name = "CMD", conflicts_with_all = ["metric", "metric_command", "known", "step", "probes", "form"])]
    pub preference_command: Option<String>,
    /// What the command takes: probabilities, or labels as zeros and a one
    #[arg(long, value_name = "SORT", default_value = "soft", value_parser = ["soft", "hard"], requires = "metric_command")]
    pub labels: String,
    /// How many seconds the command may take
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = positive, conflicts_with = "metric", allow_negative_numbers = true)]
    pub time_limit: f64,
    /// Use the gradient of the metric instead of probing it
    #[arg(long)]
    pub known: bool,
    /// How many steps Frank-Wolfe makes; 1 is the plug-in with elicited weights
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub iterations: u32,
    /// How far probes move predictions [default: 0.001, or 0.4 for labels]
    #[arg(long, value_name = "EPS", value_parser = positive, allow_negative_numbers = true)]
    pub step: Option<f64>,
    /// What is weighed: correct predictions, or every entry of the confusion matrix [default: general from 3 classes]
    #[arg(long, value_name = "FORM", value_parser = ["diagonal", "general"])]
    pub form: Option<String>,
    /// How the metric is probed: fixed moves, or classifiers that satisfy constraints (the bases must be a partition)
    #[arg(long, value_name = "PROBES", default_value = "fixed", value_parser = ["fixed", "constraints"])]
    pub probes: String,
    /// Whether cross-validation may leave bases out; auto does so where validation rows are few
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "always", "never"])]
    pub select: String,
    /// Groups may have rules of their own; the classifier then needs the group columns too
    #[arg(long)]
    pub per_group: bool,
    /// Leave the comparison with simpler methods out; what does best on the validation rows is written otherwise
    #[arg(long)]
    pub no_baselines: bool,
    /// Where to write the classifier
    #[arg(long, value_name = "FILE", default_value = "classifier.json")]
    pub classifier: PathBuf,
    #[command(flatten)]
    pub printed: Form,
    #[command(flatten)]
    pub columns: TableColumns,
    #[command(flatten)]
    pub streaming: Streaming,
}
