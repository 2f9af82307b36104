//! The arguments of `equipoise metrics`.

use super::Form;
use clap::Args;

/// List the metrics that have a name, with their formulas
#[derive(Debug, Args)]
#[command(after_help = "\
Printed are the words --metric takes, the formula, whether larger or smaller is better, and what the data need: two classes, \
groups. Besides names --metric takes a cost ratio (7:1), a cost matrix and the document of an elicited metric.

A cost matrix is a CSV file whose first line has the predicted and whose first column the true classes, with what each mistake \
costs and 0 on the diagonal, or the same numbers in the order of the classes, rows parted by semicolons.

Examples:
  equipoise metrics
  equipoise metrics --format markdown
  equipoise score val.csv --metric costs.csv
  equipoise score val.csv --metric '0 1 4; 2 0 1; 10 5 0'")]
pub struct Metrics {
    #[command(flatten)]
    pub form: Form,
}
