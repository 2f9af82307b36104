//! Whether as much is known as was wanted, and what was taken for granted: in words, for the end of a report.

use super::task::{NO_REGRET, Task};
use crate::ratio::two_digits;
use equipoise::Outcome;
use equipoise::ask::{Finding, NoiseModel};
use serde::Serialize;
use serde_json::Value;

/// So many more questions are offered where the questions ended too soon.
const MORE: usize = 15;

/// What was wanted, and whether it was reached.
#[derive(Debug, Serialize)]
pub struct Goal {
    /// Why there are no more questions.
    pub ended: String,
    /// Whether that is because enough is known.
    pub met: bool,
    /// Otherwise what is missing, and what helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// What is missing alone, for whoever has another remedy than the command line.
    #[serde(skip)]
    pub short_of: Option<String>,
}

impl Goal {
    /// The goal of a task, after its questions; `file` has the answers.
    pub fn of(outcome: &Outcome, task: &Task, file: &str) -> Self {
        let stopped = outcome.findings.iter().find_map(|finding| match finding {
            Finding::Stopped { rule, radius, .. } => Some((rule.as_str(), *radius)),
            _ => None,
        });
        let Some((rule, radius)) = stopped else {
            let ended = "the search has come to its end".to_owned();
            return Self { ended, met: true, missing: None, short_of: None };
        };
        let (ended, met) = match rule {
            "width" => ("the interval is narrow enough", true),
            "radius" => ("the weights are known closely enough", true),
            "regret" => ("the rule that follows is good enough", true),
            "decision" => ("what was to be decided is settled", true),
            "budget" => ("no more were allowed", false),
            _ => ("no question is left that would tell much", false),
        };
        let missing = (!met).then(|| missing(outcome, task, radius, (rule == "budget").then_some(file)));
        let (short_of, missing) = missing.unzip();
        Self { ended: ended.to_owned(), met, missing, short_of }
    }
}

/// What is missing, and the same with what helps; `file` is given where more questions would help.
fn missing(outcome: &Outcome, task: &Task, radius: f64, file: Option<&str>) -> (String, String) {
    let percent = |share: f64| format!("{} %", two_digits(100.0 * share));
    let regret = outcome.findings.iter().find_map(|finding| match finding {
        Finding::Regret { expected, .. } => Some(*expected),
        _ => None,
    });
    let wanted_regret = regret_wanted(&task.plan_document()).filter(|wanted| *wanted > NO_REGRET);
    let up = |x: f64, step: f64| ((x / step).ceil() * step * 1e6).round() / 1e6;
    let (what, settle) = match (regret.zip(wanted_regret), task.number("width")) {
        // That much would do, but it was not what ended the questions.
        (Some((reached, wanted)), _) if reached <= wanted => {
            let what =
                "the answers leave one end of the interval open, so that what follows from it is not known";
            let asks_on = |file| format!("{what}: `--resume {file} --budget {}` asks on", more_of(task));
            return (
                what.to_owned(),
                file.map_or_else(|| format!("{what}; a table with more rows tells more"), asks_on),
            );
        }
        (Some((reached, wanted)), _) => (
            format!(
                "the rule that follows is expected to cost {} more than the best one for you, and {} was wanted",
                percent(reached),
                percent(wanted)
            ),
            format!("--regret {}", up(reached, 0.01)),
        ),
        (None, Some(wanted)) => (
            format!(
                "the ends of the interval differ by a factor of {}, and {wanted} was wanted",
                two_digits(radius.exp())
            ),
            format!("--width {}", up(radius.exp(), 0.1)),
        ),
        (None, None) => {
            let [reached, wanted] = [radius, task.number("tolerance").unwrap_or(0.0)].map(f64::to_degrees);
            (
                format!(
                    "the weights are known to within {} degrees, and {} were wanted",
                    two_digits(reached.min(180.0)),
                    two_digits(wanted)
                ),
                match radius < 1.0 {
                    true => format!("--tolerance {}", up(radius, 0.05).min(1.0)),
                    false => "--family linear, which needs fewer,".to_owned(),
                },
            )
        }
    };
    let helped = match file {
        Some(file) => {
            let more = more_of(task);
            format!("{what}: `--resume {file} --budget {more}` asks on, and {settle} settles for less")
        }
        None => format!("{what}: {settle} settles for less; a table with more rows tells more"),
    };
    (what, helped)
}

/// The budget with which it goes on.
fn more_of(task: &Task) -> usize {
    task.number("budget").unwrap_or(0.0) as usize + MORE
}

/// The regret at which a plan's document ends the questions.
fn regret_wanted(plan: &Value) -> Option<f64> {
    if let Some(at_most) = plan["regret"].as_f64() {
        return Some(at_most);
    }
    let stops = match &plan["stop"] {
        Value::Array(stops) => stops.iter().collect(),
        Value::Null => vec![],
        one => vec![one],
    };
    stops.into_iter().find_map(|stop| stop["at_most"].as_f64())
}

/// "Your rule is within 5 % of the best possible for you (95 %: within 11 %)."
pub fn regret_in_words(expected: f64, bound: f64) -> String {
    // Never less than it is; with a digit more where there is little.
    let percent = |share: f64| match 100.0 * share {
        little if little < 4.95 => format!("{:.1} %", (10.0 * little).ceil() / 10.0),
        much => format!("{:.0} %", much.ceil()),
    };
    format!(
        "your rule is within {} of the best possible for you (95 %: within {})",
        percent(expected),
        // A few who would regret it much can make the average larger than what 95 % stay below.
        percent(bound.max(expected))
    )
}

/// What was assumed of how answers come about.
pub fn assumed(task: &Task) -> (NoiseModel, String) {
    let Some(plan) = task.adaptive() else {
        return (NoiseModel::Exact, "every answer is right: a search follows its answers".to_owned());
    };
    let noise = plan.noise();
    let sentence = match noise {
        NoiseModel::Exact => "every answer is right".to_owned(),
        NoiseModel::Unknown if plan.risks().is_some() => {
            "nothing: how surely you tell risks apart, and how often you slip, is read off your answers"
                .to_owned()
        }
        NoiseModel::Unknown => {
            "nothing: how surely you tell classifiers apart, and how often you slip, is read off your answers"
                .to_owned()
        }
        NoiseModel::Flip { probability } => {
            format!("{} % of the answers are slips", two_digits(100.0 * probability))
        }
        NoiseModel::Absolute { slope, .. } => {
            format!("answers err by the size of the difference, with slope {}", two_digits(slope))
        }
        NoiseModel::Relative { slope, .. } => {
            format!(
                "answers err by the ratio of what is gained to what is lost, with slope {}",
                two_digits(slope)
            )
        }
        NoiseModel::Band { .. } | NoiseModel::AdversarialBand { .. } => {
            "answers about small differences are wrong".to_owned()
        }
    };
    (noise, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regret_reads_as_a_promise() {
        assert_eq!(
            regret_in_words(0.0496, 0.11),
            "your rule is within 5 % of the best possible for you (95 %: within 11 %)"
        );
        assert_eq!(
            regret_in_words(0.0121, 0.0431),
            "your rule is within 1.3 % of the best possible for you (95 %: within 4.4 %)"
        );
    }

    #[test]
    fn the_regret_that_was_wanted_is_found_among_other_rules() {
        let plan = serde_json::json!({"stop": [{"kind": "information", "floor": 0.1}, {"kind": "regret", "at_most": 0.05}]});
        assert_eq!(regret_wanted(&plan), Some(0.05));
        assert_eq!(
            regret_wanted(&serde_json::json!({"stop": {"kind": "regret", "at_most": 0.2}})),
            Some(0.2)
        );
        assert_eq!(regret_wanted(&serde_json::json!({"regret": 0.02})), Some(0.02));
        assert_eq!(regret_wanted(&serde_json::json!({})), None);
    }
}
