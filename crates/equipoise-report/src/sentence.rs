//! The answer in words (RP-01 to RP-04), and what a reader must know first.

use crate::Report;
use crate::person::{Ratio, Weight};
use crate::rates::{ExchangeRate, GapPrice, names, worth};
use equipoise::Metric;
use equipoise::metric::Family;
use equipoise_study::exchange::{Amount, Exchange};
use equipoise_study::numbers::two_digits;
use equipoise_study::{Participant, Study};

/// The language of reports.
pub(crate) const LANGUAGE: &str = "en";

/// Whose answer a sentence tells: never the reader's, who is a researcher.
#[derive(Debug, Clone)]
pub(crate) struct Voice {
    /// "Participant 3 accepts", "8 people typically accept".
    pub accept: String,
    /// "To participant 3", "To these people, typically".
    pub(crate) to: String,
    /// "the answers", "their answers".
    answers: &'static str,
    /// What is said where nothing is settled.
    unsettled: String,
}

impl Voice {
    /// One is told about.
    pub fn of_participant(number: u64) -> Self {
        Self {
            accept: format!("Participant {number} accepts"),
            to: format!("To participant {number}"),
            answers: "the answers",
            unsettled: format!(
                "The answers of participant {number} do not settle which mistake is considered worse."
            ),
        }
    }

    /// Several are told about.
    pub fn of_people(people: usize) -> Self {
        Self {
            accept: format!("{people} people typically accept"),
            to: "To these people, typically".to_owned(),
            answers: "their answers",
            unsettled: "The answers do not settle which mistake people typically consider worse.".to_owned(),
        }
    }
}

/// "Participant 3 accepts about 6.1 extra false alarms to avoid one missed cancer (95 % interval 4.8-7.9)."
pub(crate) fn binary(study: &Study, voice: &Voice, ratio: Ratio) -> String {
    let Voice { accept: who, answers, .. } = voice;
    let (Some(miss), Some(alarm)) = (study.mistake(1, 0), study.mistake(0, 1)) else { return String::new() };
    let exchange =
        Exchange::within(ratio.estimate, [ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::INFINITY)]);
    let [dear, cheap] = exchange.dearer_first(miss, alarm);
    let (dear, cheap) = (dear.one.r#in(LANGUAGE), cheap.many.r#in(LANGUAGE));
    match exchange.amount {
        Amount::About(about, range) => {
            let range = range.map(|ends| ends.map(two_digits));
            let range = range.map_or(String::new(), |[low, high]| format!(" (95 % interval {low}-{high})"));
            format!("{who} about {} extra {cheap} to avoid one {dear}{range}.", two_digits(about))
        }
        Amount::AtLeast(low) => {
            let low = two_digits(low);
            format!(
                "{who} at least {low} extra {cheap} to avoid one {dear}; {answers} do not set an upper limit."
            )
        }
        Amount::Unsettled => voice.unsettled.clone(),
    }
}

/// The answer for more than one number: the rates, and the dearest gap first.
pub(crate) fn weights(voice: &Voice, rates: &[ExchangeRate], gaps: &[GapPrice]) -> String {
    let Some(first) = rates.first() else {
        return "The answers do not settle how bad the mistakes are.".to_owned();
    };
    let told = |rate: &ExchangeRate| {
        let range = rate
            .interval
            .map_or(String::new(), |[low, high]| format!(" (95 % interval {}-{})", worth(low), worth(high)));
        format!("one {} is as bad as {}{range}", rate.mistake, worth(rate.rate))
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
pub(crate) fn raw_weights(participant: &Participant, metric: &Metric) -> Vec<Weight> {
    let design = participant.design();
    if design.is_choice() {
        return vec![];
    }
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
pub(crate) fn trade_off(metric: &Metric) -> Option<f64> {
    match metric.family() {
        Family::GroupFair(fair) => Some(fair.trade_off()),
        Family::GroupFairQuadratic(fair) => Some(fair.trade_off()),
        _ => None,
    }
}

/// What a reader must know first: the answer, and whatever makes it doubtful.
pub(crate) fn first(report: &Report) -> Vec<String> {
    let mut first = vec![];
    let counts = report.counts;
    match (&report.group, report.people.as_slice()) {
        (Some(group), _) => {
            first.push(group.sentence.clone());
            if group.experts.clusters.len() > 1 {
                first.push(format!(
                    "They are not of one mind: their answers fall into {} camps.",
                    group.experts.clusters.len()
                ));
            }
            if let Some(together) = group.experts.models.as_ref().filter(|together| together.rules_differ) {
                first.push(together.sentence.clone());
            }
        }
        (None, [only]) => first.push(only.sentence.clone()),
        (None, _) if counts.answered == 0 && report.other_versions > 0 => first.push(
            "Nobody has answered a comparison of this version of the study yet; people were invited to another one.".to_owned(),
        ),
        (None, _) if counts.answered == 0 => first.push("Nobody has answered a comparison yet.".to_owned()),
        (None, _) if counts.with_metric == 0 => {
            first.push(format!("{} people answered, and none of them has a metric.", counts.answered));
        }
        (None, people) => first.push(match people.iter().find(|person| person.refusal.is_none()) {
            Some(only) => {
                format!("One person has a metric. {}", only.sentence)
            }
            None => "One person has a metric.".to_owned(),
        }),
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
        let study = Study::parse(equipoise_study::template::find("binary-cancer").unwrap().text).unwrap();
        binary(&study, &Voice::of_participant(3), Ratio { estimate, low, high })
    }

    #[test]
    fn the_same_two_digits_stand_everywhere() {
        let narrow = said(6.13, Some(4.81), Some(7.9));
        assert_eq!(
            narrow,
            "Participant 3 accepts about 6.1 extra false alarms to avoid one missed cancer (95 % interval 4.8-7.9)."
        );
        let wide = said(6.13, Some(3.2), Some(11.8));
        assert_eq!(
            wide,
            "Participant 3 accepts about 6.1 extra false alarms to avoid one missed cancer (95 % interval 3.2-12)."
        );
    }

    #[test]
    fn the_dearer_mistake_comes_last() {
        let turned = said(0.2, Some(0.15), Some(0.25));
        assert_eq!(
            turned,
            "Participant 3 accepts about 5.0 extra missed cancers to avoid one false alarm (95 % interval 4.0-6.7)."
        );
    }

    #[test]
    fn an_end_that_is_not_set_is_not_given() {
        let open = said(60.0, Some(20.0), None);
        assert_eq!(
            open,
            "Participant 3 accepts at least 20 extra false alarms to avoid one missed cancer; the answers do not set an upper limit."
        );
        let turned = said(0.01, None, Some(0.05));
        assert_eq!(
            turned,
            "Participant 3 accepts at least 20 extra missed cancers to avoid one false alarm; the answers do not set an upper limit."
        );
    }

    #[test]
    fn an_interval_around_1_settles_nothing() {
        let open = "The answers of participant 3 do not settle which mistake is considered worse.";
        assert_eq!(said(1.2, Some(0.8), Some(1.7)), open);
        assert_eq!(said(3.0, Some(0.9), None), open);
        assert_eq!(said(1.0, None, None), open);
    }
}
