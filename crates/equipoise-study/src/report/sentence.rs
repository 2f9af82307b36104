//! The answer in words (RP-01 to RP-04), and what a reader must know first.

use super::person::{Ratio, Weight};
use super::{Report, Rows};
use crate::design::Design;
use crate::numbers::significant;
use crate::participant::Participant;
use crate::study::Study;
use equipoise::Metric;
use equipoise::metric::Family;
use equipoise::rates::off_diagonal_pairs;
use serde::Serialize;

/// A weight below this share of the largest does not count.
const COUNTS: f64 = 0.02;

/// A kind of mistake can be the unit of the others if the ends of its interval differ by no more than this factor.
const STEADY: f64 = 3.0;

/// The language of reports.
const LANGUAGE: &str = "en";

/// What one mistake is worth in units of another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExchangeRate {
    /// One of it.
    pub mistake: String,
    /// The unit, several of it.
    pub unit: String,
    /// How many of the unit it is worth.
    pub rate: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// The answers behind it.
    pub rows: Rows,
}

/// What closing a gap between two groups is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GapPrice {
    /// The kind of mistake whose rates differ, several of it.
    pub mistakes: String,
    /// The two groups.
    pub groups: [String; 2],
    /// So many more of these mistakes per 1,000 people are accepted to shrink the gap by one point.
    pub more_per_thousand: f64,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// In words.
    pub sentence: String,
    /// The answers behind it.
    pub rows: Rows,
}

/// Whose answer a sentence tells.
#[derive(Debug, Clone)]
pub(super) struct Voice {
    /// "You accept", "8 people typically accept".
    accept: String,
    /// "To you", "To them, typically".
    to: &'static str,
    /// "your answers", "their answers".
    answers: &'static str,
    /// What is said where nothing is settled.
    unsettled: &'static str,
}

impl Voice {
    /// A participant is addressed.
    pub fn of_you() -> Self {
        Self {
            accept: "You accept".to_owned(),
            to: "To you",
            answers: "your answers",
            unsettled: "Your answers do not settle which mistake you consider worse.",
        }
    }

    /// Several are told about.
    pub fn of_people(people: usize) -> Self {
        Self {
            accept: format!("{people} people typically accept"),
            to: "To these people, typically",
            answers: "their answers",
            unsettled: "The answers do not settle which mistake people typically consider worse.",
        }
    }
}

/// "You accept about 6.1 extra false alarms to avoid one missed cancer (95 % interval 4.8-7.9)."
pub(super) fn binary(study: &Study, voice: &Voice, ratio: Ratio) -> String {
    let Voice { accept: who, answers, .. } = voice;
    let (Some(miss), Some(alarm)) = (study.mistake(1, 0), study.mistake(0, 1)) else { return String::new() };
    let (low, high) = (ratio.low, ratio.high);
    let unsettled = || voice.unsettled.to_owned();
    if low.is_none_or(|low| low <= 1.0) && high.is_none_or(|high| high >= 1.0) {
        return unsettled();
    }
    // Told from the dearer mistake, so that the number is above 1.
    let turned = |x: Option<f64>| x.map(|x| 1.0 / x);
    let (estimate, low, high, dear, cheap) = match ratio.estimate >= 1.0 {
        true => (ratio.estimate, low, high, miss, alarm),
        false => (1.0 / ratio.estimate, turned(high), turned(low), alarm, miss),
    };
    let (dear, cheap) = (dear.one.r#in(LANGUAGE), cheap.many.r#in(LANGUAGE));
    match (low, high) {
        (Some(low), Some(high)) => {
            let digits = if high / low > 2.0 { 1 } else { 2 };
            let [estimate, low, high] = [estimate, low, high].map(|x| significant(x, digits));
            format!("{who} about {estimate} extra {cheap} to avoid one {dear} (95 % interval {low}-{high}).")
        }
        (Some(low), None) => {
            let low = significant(low, 1);
            format!(
                "{who} at least {low} extra {cheap} to avoid one {dear}; {answers} do not set an upper limit."
            )
        }
        _ => unsettled(),
    }
}

/// What one mistake of each kind costs: weights are of rates within a class, so those of a rare class weigh more each.
fn costs(design: &Design, metric: &Metric) -> Vec<f64> {
    let frame = design.frame();
    let k = frame.view().classes();
    let shares = frame.class_shares();
    let weights = match metric.family() {
        // A quadratic metric has no one weight; this is what it charges where rates are those of chance.
        Family::Quadratic(_) => {
            let chance = vec![1.0 / k as f64; k * k - k];
            metric.gradient(&chance).iter().map(|slope| -metric.sense().sign() * slope).collect()
        }
        _ => {
            let sign = -metric.sense().sign();
            metric.coefficients().iter().take(k * k - k).map(|weight| sign * weight).collect::<Vec<f64>>()
        }
    };
    off_diagonal_pairs(k).zip(weights).map(|((truth, _), weight)| weight / shares[truth]).collect()
}

/// Names of all kinds of mistake: one, and several.
fn names(study: &Study, k: usize) -> Vec<[String; 2]> {
    let name = |(truth, predicted): (usize, usize)| match study.mistake(truth, predicted) {
        Some(mistake) => [&mistake.one, &mistake.many].map(|text| text.r#in(LANGUAGE).to_owned()),
        None => {
            let [truth, predicted] = [truth, predicted].map(|class| study.task.classes[class].id.clone());
            ["", "cases of "].map(|start| format!("{start}{truth} predicted as {predicted}"))
        }
    };
    off_diagonal_pairs(k).map(name).collect()
}

/// Every kind of mistake in units of the lightest one that is known well enough, dearest first.
pub(super) fn exchange_rates(design: &Design, metric: &Metric, rows: &Rows) -> Vec<ExchangeRate> {
    let names = names(design.study(), design.frame().view().classes());
    let found = costs(design, metric);
    let ranges = metric.credible(0.95, |metric| costs(design, metric));
    let largest = found.iter().copied().fold(0.0, f64::max);
    let width = |n: usize| match &ranges {
        Some(ranges) if ranges[n][0] > 0.0 => ranges[n][1] / ranges[n][0],
        Some(_) => f64::INFINITY,
        None => 1.0,
    };
    let counting: Vec<usize> = (0..found.len()).filter(|n| found[*n] > COUNTS * largest).collect();
    let steady = counting.iter().copied().filter(|n| width(*n) <= STEADY);
    let lightest = steady.min_by(|a, b| found[*a].total_cmp(&found[*b]));
    let best_known = || counting.iter().copied().min_by(|a, b| width(*a).total_cmp(&width(*b)));
    let Some(unit) = lightest.or_else(best_known) else { return vec![] };
    let rates = |metric: &Metric| -> Vec<f64> {
        let costs = costs(design, metric);
        costs.iter().map(|cost| cost / costs[unit].max(1e-300)).collect()
    };
    let ranges = metric.credible(0.95, rates);
    let mut all: Vec<ExchangeRate> = (0..found.len())
        .filter(|n| *n != unit)
        .map(|n| ExchangeRate {
            mistake: names[n][0].clone(),
            unit: names[unit][1].clone(),
            rate: (found[n] / found[unit]).max(0.0),
            interval: ranges.as_ref().map(|ranges| ranges[n].map(|end| end.max(0.0))),
            rows: rows.clone(),
        })
        .collect();
    all.sort_by(|a, b| b.rate.total_cmp(&a.rate));
    all
}

/// What closing each gap by a point is worth, in mistakes of the same kind per 1,000 people.
pub(super) fn gap_prices(design: &Design, metric: &Metric, voice: &Voice, rows: &Rows) -> Vec<GapPrice> {
    let Family::GroupFair(fair) = metric.family() else { return vec![] };
    let (study, k) = (design.study(), design.frame().view().classes());
    let q = k * k - k;
    let names = names(study, k);
    let pairs: Vec<[usize; 2]> = fair.fairness().iter().map(|pair| pair.groups).collect();
    let prices = |metric: &Metric| -> Vec<f64> {
        let coefficients = metric.coefficients();
        let costs = costs(design, metric);
        let (_, gaps) = coefficients.split_at(q);
        // A point of the gap is 0.01 of a rate; one mistake in 1,000 people costs 0.001 of its cost.
        gaps.iter().enumerate().map(|(n, gap)| (0.01 * gap) / (0.001 * costs[n % q]).max(1e-300)).collect()
    };
    let found = prices(metric);
    let ranges = metric.credible(0.95, prices);
    (0..found.len())
        .map(|n| {
            let groups = pairs[n / q].map(|group| study.task.groups[group].name.r#in(LANGUAGE).to_owned());
            let mistakes = names[n % q][1].clone();
            let interval = ranges.as_ref().map(|ranges| ranges[n]);
            let digits = |[low, high]: [f64; 2]| if high > 2.0 * low { 1 } else { 2 };
            let told = |x: f64| significant(x, interval.map_or(2, digits));
            let range = interval.map_or(String::new(), |[low, high]| {
                format!(" (95 % interval {}-{})", told(low), told(high))
            });
            let sentence = format!(
                "{} up to {} more {mistakes} per 1,000 {} to shrink the gap in {mistakes} between {} and {} by 1 point{range}.",
                voice.accept,
                told(found[n]),
                study.task.people.r#in(LANGUAGE),
                groups[0],
                groups[1]
            );
            let more_per_thousand = found[n];
            GapPrice { mistakes, groups, more_per_thousand, interval, sentence, rows: rows.clone() }
        })
        .collect()
}

/// The answer for more than one number: the rates, and the dearest gap first.
pub(super) fn weights(voice: &Voice, rates: &[ExchangeRate], gaps: &[GapPrice]) -> String {
    let Some(first) = rates.first() else {
        return "The answers do not settle how bad the mistakes are.".to_owned();
    };
    let told = |rate: &ExchangeRate| {
        let digits = match rate.interval {
            Some([low, high]) if high > 2.0 * low => 1,
            _ => 2,
        };
        let number = |x: f64| if x < 0.01 { "0".to_owned() } else { significant(x, digits) };
        let range = rate.interval.map_or(String::new(), |[low, high]| {
            format!(" (95 % interval {}-{})", number(low), number(high))
        });
        format!("one {} is as bad as {}{range}", rate.mistake, number(rate.rate))
    };
    let list: Vec<String> = rates.iter().take(3).map(told).collect();
    let rest = match rates.len().saturating_sub(3) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let mistakes = format!("{}, in units of {}: {}{rest}.", voice.to, first.unit, list.join("; "));
    let dearest = gaps.iter().max_by(|a, b| a.more_per_thousand.total_cmp(&b.more_per_thousand));
    match dearest {
        Some(gap) => format!("{} {mistakes}", gap.sentence),
        None => mistakes,
    }
}

/// The weights of a metric by name, of length 1, for an appendix.
pub(super) fn raw_weights(participant: &Participant, metric: &Metric) -> Vec<Weight> {
    let design = participant.design();
    let (study, view) = (design.study(), design.frame().view());
    let names: Vec<String> = names(study, view.classes()).into_iter().map(|[_, many]| many).collect();
    let q = names.len();
    let length = |weights: &[f64]| weights.iter().map(|w| w * w).sum::<f64>().sqrt().max(1e-300);
    let unit = |metric: &Metric| -> Vec<f64> {
        let weights = metric.coefficients();
        let length = length(&weights);
        weights.iter().map(|w| w / length).collect()
    };
    let ranges = metric.credible(0.95, unit);
    let group = |n: usize| study.task.groups.get(n).map_or("", |group| group.name.r#in(LANGUAGE));
    let name = |n: usize| match metric.family() {
        _ if n < q => format!("rate of {}", names[n]),
        Family::GroupFair(fair) => {
            let [u, v] = fair.fairness()[n / q - 1].groups;
            format!("gap in {} between {} and {}", names[n % q], group(u), group(v))
        }
        _ => {
            // The upper triangle, row by row.
            let (mut row, mut left) = (0, n - q);
            while left >= q - row {
                left -= q - row;
                row += 1;
            }
            format!("{} times {}", names[row], names[row + left])
        }
    };
    let weights = unit(metric);
    weights
        .into_iter()
        .enumerate()
        .map(|(n, weight)| Weight {
            name: name(n),
            weight,
            interval: ranges.as_ref().map(|ranges| ranges[n]),
        })
        .collect()
}

/// The share of fairness in a group metric.
pub(super) fn trade_off(metric: &Metric) -> Option<f64> {
    match metric.family() {
        Family::GroupFair(fair) => Some(fair.trade_off()),
        Family::GroupFairQuadratic(fair) => Some(fair.trade_off()),
        _ => None,
    }
}

/// What a reader must know first: the answer, and whatever makes it doubtful.
pub(super) fn first(report: &Report) -> Vec<String> {
    let mut first = vec![];
    let counts = report.counts;
    match (&report.group, report.people.as_slice()) {
        (Some(group), _) => {
            first.push(group.sentence.clone());
            if group.experts.camps.len() > 1 {
                first.push(format!(
                    "They are not of one mind: their answers fall into {} camps.",
                    group.experts.camps.len()
                ));
            }
            if let Some(together) = group.experts.models.as_ref().filter(|together| together.rules_differ) {
                first.push(together.sentence.clone());
            }
        }
        (None, [only]) => first.push(only.sentence.clone()),
        (None, _) if counts.answered == 0 => first.push("Nobody has answered a comparison yet.".to_owned()),
        (None, _) if counts.with_metric == 0 => {
            first.push(format!("{} people answered, and none of them has a metric.", counts.answered));
        }
        (None, _) => first.push("One person has a metric.".to_owned()),
    }
    first.extend(report.models.as_ref().map(|models| models.headline.clone()));
    if let Some(sensitivity) = report.sensitivity.as_ref().filter(|sensitivity| sensitivity.top_model_changes)
    {
        first.extend(sensitivity.sentence.clone());
    }
    if counts.refused > 0 && counts.answered > 1 {
        first.push(format!(
            "{} of {} people have no metric; the reasons are with them.",
            counts.refused, counts.answered
        ));
    }
    if report.mixed_versions {
        first.push("People of several versions of the study are mixed here.".to_owned());
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(estimate: f64, low: Option<f64>, high: Option<f64>) -> String {
        let study = Study::parse(crate::template::find("binary-cancer").unwrap().text).unwrap();
        binary(&study, &Voice::of_you(), Ratio { estimate, low, high })
    }

    #[test]
    fn digits_follow_the_interval() {
        let narrow = said(6.13, Some(4.81), Some(7.9));
        assert_eq!(
            narrow,
            "You accept about 6.1 extra false alarms to avoid one missed cancer (95 % interval 4.8-7.9)."
        );
        let wide = said(6.13, Some(3.2), Some(11.8));
        assert_eq!(
            wide,
            "You accept about 6 extra false alarms to avoid one missed cancer (95 % interval 3-10)."
        );
    }

    #[test]
    fn the_dearer_mistake_comes_last() {
        let turned = said(0.2, Some(0.15), Some(0.25));
        assert_eq!(
            turned,
            "You accept about 5.0 extra missed cancers to avoid one false alarm (95 % interval 4.0-6.7)."
        );
    }

    #[test]
    fn an_end_that_is_not_set_is_not_given() {
        let open = said(60.0, Some(20.0), None);
        assert_eq!(
            open,
            "You accept at least 20 extra false alarms to avoid one missed cancer; your answers do not set an upper limit."
        );
        let turned = said(0.01, None, Some(0.05));
        assert_eq!(
            turned,
            "You accept at least 20 extra missed cancers to avoid one false alarm; your answers do not set an upper limit."
        );
    }

    #[test]
    fn an_interval_around_1_settles_nothing() {
        let open = "Your answers do not settle which mistake you consider worse.";
        assert_eq!(said(1.2, Some(0.8), Some(1.7)), open);
        assert_eq!(said(3.0, Some(0.9), None), open);
        assert_eq!(said(1.0, None, None), open);
    }
}
