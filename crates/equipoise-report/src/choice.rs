//! Candidates with attributes: what each attribute weighs, and which candidate that makes the best.

use crate::models::ModelReport;
use crate::sentence::{LANGUAGE, Voice};
use equipoise::Metric;
use equipoise::metric::{Direction, Transform};
use equipoise_study::Design;
use serde::Serialize;

/// What is named in a sentence at most.
const NAMED: usize = 3;

/// What an attribute weighs over the range that was shown, as a share of all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// The attribute.
    pub attribute: String,
    /// From the worse end to the better one: "120 ms to 40 ms".
    pub range: String,
    /// The share of all weights.
    pub share: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
}

impl Share {
    /// A share in per cent.
    pub(crate) fn percent(share: f64) -> String {
        format!("{:.0} %", 100.0 * share)
    }
}

/// Weights that sum to 1.
pub(crate) fn of_all(metric: &Metric) -> Vec<f64> {
    let weights: Vec<f64> = metric.coefficients().iter().map(|weight| weight.max(0.0)).collect();
    let sum: f64 = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    weights.iter().map(|weight| weight / sum).collect()
}

/// What attributes are called.
pub(crate) fn names(design: &Design) -> Vec<String> {
    design.study().task.attributes.iter().map(|has| has.name.r#in(LANGUAGE).to_owned()).collect()
}

/// What each attribute weighs, in the order of the study; nothing where candidates have none.
pub fn shares(design: &Design, metric: &Metric) -> Vec<Share> {
    let (Some(words), Some(candidates)) = (design.words(LANGUAGE), design.frame().candidates()) else {
        return vec![];
    };
    let found = of_all(metric);
    let ranges = metric.credible(0.95, of_all);
    let attributes = candidates.attributes().iter().zip(&words.said).enumerate();
    attributes
        .map(|(n, (attribute, said))| {
            let [low, high] = attribute.range;
            let [from, to] =
                if attribute.direction == Direction::Minimize { [high, low] } else { [low, high] };
            let scale = match attribute.transform {
                Transform::Linear => "",
                Transform::Log => ", by ratio",
                Transform::Logit => ", by odds",
            };
            Share {
                attribute: said.label.clone(),
                range: format!("{} to {}{scale}", said.number(from), said.number(to)),
                share: found[n],
                interval: ranges.as_ref().map(|ranges| ranges[n].map(|end| end.clamp(0.0, 1.0))),
            }
        })
        .collect()
}

/// "To you, price weighs most (41 % of all, 95 % interval 30-52 %), then …. Your best candidate is m3 …."
pub(crate) fn sentence(voice: &Voice, shares: &[Share], ranked: Option<&ModelReport>) -> String {
    let mut order: Vec<&Share> = shares.iter().collect();
    order.sort_by(|a, b| b.share.total_cmp(&a.share));
    let told = |share: &&Share| {
        let range = share.interval.map_or(String::new(), |[low, high]| {
            format!(", 95 % interval {:.0}-{:.0} %", 100.0 * low, 100.0 * high)
        });
        format!("{} ({}{range})", share.attribute, Share::percent(share.share))
    };
    let list: Vec<String> = order.iter().take(NAMED).map(told).collect();
    let weighs = format!("{}, what weighs most is {}.", voice.to, list.join(", then "));
    match ranked.and_then(ModelReport::likeliest) {
        Some(best) => format!(
            "The best candidate is {} with probability {:.2}. {weighs}",
            best.name, best.probability_best
        ),
        None => weighs,
    }
}
