//! What the answers of one participant say about the metric.

use equipoise::{Measure, Metric, Sense, View};

/// A participant's belief, as the study's plan keeps it.
pub type Belief = Box<dyn equipoise::engine::Belief>;

/// The two-class metric with a cost ratio, its weights of length 1.
pub fn ratio_metric(ratio: f64) -> Metric {
    let view = View::new(Measure::Binary, 2, 1).expect("two classes");
    Metric::linear(view, Sense::Utility, vec![ratio, 1.0]).expect("positive weights").normal_form()
}
