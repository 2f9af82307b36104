//! The arguments of `equipoise score` and of judging models in `equipoise rank`.

use super::{Form, inner_share};
use crate::metrics;
use crate::tables::{Streaming, TableColumns};
use clap::Args;
use std::path::PathBuf;

/// Say what a model is worth under a metric, with intervals
#[derive(Debug, Args)]
#[command(after_help = "\
FILE is a table of predictions, or confusion matrices as long records {model, group, truth, estimate, count}; for a metric of \
attributes, as `equipoise choose` writes it, a table of candidates with the columns that it weighs. The interval \
allows for the sample and, if the metric came from answers, for what they left open. Also printed are the confusion matrix, what \
happens in 1,000 cases, and the value in every group.

A model is used as the metric wants it: with two classes from the threshold that is best if its probabilities are right \
(--threshold bayes), with more by the rule that is. --threshold best tunes the threshold on these very rows, which flatters; a \
number is that threshold; most-likely is the most likely class.

Examples:
  equipoise score val.csv --metric metric.json
  equipoise score val.csv --metric f2 --threshold 0.3
  equipoise score val.csv --metric mcc --models forest,boosting
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
    #[arg(long, value_name = "METRIC", allow_hyphen_values = true, help = format!("By what to judge: {}", metrics::HELP))]
    pub metric: String,
    /// How probabilities decide: bayes, best, most-likely, or the positive class from this probability on [default: bayes]
    #[arg(long, value_name = "RULE|T", value_parser = rule_at, allow_negative_numbers = true)]
    pub threshold: Option<RuleAt>,
    /// Models that are columns of one file: NAME is the positive class's probability, or NAME_CLASS are those of the classes
    #[arg(long = "models", value_name = "NAME,...", value_delimiter = ',', conflicts_with = "scores")]
    pub model_columns: Option<Vec<String>>,
    /// How many resamples of the rows [default: 1000, fewer for large tables]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub draws: Option<u32>,
    /// The probability of intervals and of the best model
    #[arg(long, value_name = "P", default_value_t = equipoise::decide::rank::LEVEL, value_parser = inner_share)]
    pub level: f64,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub columns: TableColumns,
    #[command(flatten)]
    pub streaming: Streaming,
}

/// How a model's probabilities decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RuleAt {
    /// As the metric wants it if the probabilities are right.
    Bayes,
    /// As is best on the rows themselves.
    Best,
    /// The most likely class.
    MostLikely,
    /// The positive class from this probability on.
    At(f64),
}

fn rule_at(text: &str) -> Result<RuleAt, String> {
    match text {
        "bayes" => Ok(RuleAt::Bayes),
        "best" => Ok(RuleAt::Best),
        "most-likely" => Ok(RuleAt::MostLikely),
        _ => match text.parse::<f64>() {
            Ok(value) if (0.0..=1.0).contains(&value) => Ok(RuleAt::At(value)),
            _ => Err("expected bayes, best, most-likely, or a number in [0, 1]".to_owned()),
        },
    }
}
