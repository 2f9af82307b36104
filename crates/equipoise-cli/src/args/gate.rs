//! The arguments of `equipoise gate`.

use super::Judged;
use clap::Args;
use std::path::PathBuf;

/// Decide whether a new model may take the place of the one in use
#[derive(Debug, Args)]
#[command(
    // Both models are files of their own.
    mut_arg("model_columns", |arg| arg.hide(true)),
    mut_arg("level", |arg| arg.help("The probability that a verdict needs, at least .5, and that intervals have")),
    after_help = "\
The challenger passes if it is better than the champion with the probability --level, fails if it is worse with that \
probability, and is undecided otherwise: exit codes 0, 1 and 4. What is uncertain are the rows, which are drawn again, together for \
both models where both tables have the same true classes in the same order, and the metric, if it came from answers. Each model is \
used as the metric wants it, see `equipoise score --help`.

A metric that `equipoise choose` wrote judges by attributes. Those that --attributes gives are taken from there: a JSON object such as \
{\"champion\": {\"latency_ms\": 40}, \"challenger\": {\"latency_ms\": 25}}, or a table with a row per model; models go by champion and \
challenger, or by the names of their files. The others are measured on the predictions, if their names say how: recall:CLASS, \
precision, fpr, fnr or coverage of a class, rate:TRUTH->ESTIMATE, accuracy, each with @GROUP for one group or gap: in front for the \
distance between groups, or the name of a metric (`equipoise metrics`).

Examples:
  equipoise gate --champion old.parquet --challenger new.parquet --metric metric.json
  equipoise gate --champion old.csv --challenger new.csv --metric 7:1 --margin 0.005
  equipoise gate --champion old.csv --challenger new.csv --metric choice.json --attributes models.json
  equipoise gate --champion old.csv --challenger new.csv --metric f1 --format markdown >> \"$GITHUB_STEP_SUMMARY\"")]
pub struct Gate {
    /// The predictions of the model in use, or its confusion matrix
    #[arg(long, value_name = "FILE")]
    pub champion: PathBuf,
    /// Those of the model that is to replace it
    #[arg(long, value_name = "FILE")]
    pub challenger: PathBuf,
    /// How much worse is still fine, in units of the metric
    #[arg(long, value_name = "M", default_value_t = 0.0, value_parser = margin, allow_negative_numbers = true)]
    pub margin: f64,
    /// Latency, price, size of the models: JSON by name, or a table
    #[arg(long, value_name = "FILE")]
    pub attributes: Option<PathBuf>,
    #[command(flatten)]
    pub judged: Judged,
}

fn margin(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("expected a number of at least 0".to_owned()),
    }
}
