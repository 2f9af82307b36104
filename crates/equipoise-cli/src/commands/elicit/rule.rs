//! The rule that follows from a metric, what it does on the table, and what would change it.

use super::question::Words;
use super::task::Task;
use crate::counts::grouped;
use crate::ratio::two_digits;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::decide::threshold::rewards;
use equipoise::metric::Family;
use equipoise::population::{Confusions as _, Population as _, Rule, Score};
use equipoise::rates::Confusion;
use equipoise::{Metric, Spread};
use serde::Serialize;
use std::io::Write;

/// Cases are told in so many.
const CASES: f64 = 1_000.0;

/// Where the threshold that follows from calibrated probabilities costs this many times as much on the table as the best one there,
/// the probabilities are not, and that one is told.
const MUCH_DEARER: f64 = 1.25;

/// The probability of the intervals.
const LEVEL: f64 = 0.95;

/// What follows from a linear metric.
#[derive(Debug, Serialize)]
pub struct Follows {
    /// The rule in a sentence.
    pub sentence: String,
    /// What would change it, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// Of 1,000 cases of each true class (a row), how many are predicted as each class; more than two classes only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub per_1000: Vec<Vec<u64>>,
    #[serde(skip)]
    classes: Vec<String>,
}

impl Follows {
    /// The rule of a metric; `None` for metrics that no rule of thresholds is the best for.
    pub fn of(metric: &Metric, draws: &[Metric], task: &Task, words: &Words) -> Result<Option<Self>> {
        if !matches!(metric.family(), Family::Linear(_)) || metric.view().groups() > 1 {
            return Ok(None);
        }
        match (metric.cost_ratio(), metric.view().classes()) {
            (Some(ratio), 2) => Self::threshold(metric, ratio, task, words).map(Some),
            (_, 2) => Ok(None),
            _ => Self::of_many(metric, draws, task, words).map(Some),
        }
    }

    fn threshold(metric: &Metric, ratio: f64, task: &Task, words: &Words) -> Result<Self> {
        let priors = task.sample.prevalence().class_priors();
        let found = task.sample.confusions(&[rewards(metric, priors)?.into()])?;
        let overall = found[0].overall();
        let from = |ratio: f64| format!("{} %", two_digits(100.0 / (1.0 + ratio)));
        let rule = |threshold: &str, overall: &Confusion| {
            let [missed, alarms] = [(1, 0), (0, 1)].map(|(i, j)| (CASES * overall.get(i, j)).round() as u64);
            let (positive, alarm) = (words.class(1), words.two().false_alarm);
            let alarm = if alarms == 1 { alarm.one } else { alarm.many };
            let (missed, alarms) = (grouped(missed), grouped(alarms));
            format!(
                "predict {positive} from a probability of {threshold} on: of 1,000 cases {missed} missed, {alarms} {alarm}"
            )
        };
        let cost = |overall: &Confusion| ratio * overall.get(1, 0) + overall.get(0, 1);
        let best = task.sample.score_profile(Score::Class(1))?.best(metric, &[])?.found();
        if let Some(best) =
            best.filter(|best| cost(&overall) > MUCH_DEARER * cost(&best.confusions.overall()))
        {
            let (threshold, times) =
                (two_digits(100.0 * best.cut.threshold), cost(&overall) / cost(&best.confusions.overall()));
            let dearer = match times.is_finite() {
                true => format!("is {} times as dear here", two_digits(times)),
                false => "makes mistakes here".to_owned(),
            };
            let sentence = format!(
                "{}; the probabilities are not calibrated: the threshold that would follow from them, {}, {dearer}",
                rule(&format!("{threshold} %"), &best.confusions.overall()),
                from(ratio)
            );
            return Ok(Self { sentence, changes: None, per_1000: vec![], classes: vec![] });
        }
        let sentence = rule(&from(ratio), &overall);
        let ends = metric.interval().and_then(|interval| Some([interval.low(), interval.high()?]));
        let changes = ends.map(|[low, high]| {
            let ([low, high], [first, last]) = ([low, high].map(two_digits), [low, high].map(from));
            format!("at a ratio of {low} the rule would begin at {first}, at {high} at {last}")
        });
        Ok(Self { sentence, changes, per_1000: vec![], classes: vec![] })
    }

    fn of_many(metric: &Metric, draws: &[Metric], task: &Task, words: &Words) -> Result<Self> {
        let priors = task.sample.prevalence().class_priors();
        let k = priors.len();
        let weights = metric.coefficients();
        let rule_of = |weights: &[f64]| -> Result<Rule> {
            Ok(rewards(&metric.with_coefficients(weights)?, priors)?.into())
        };
        // Each weight at either end of its interval, the others as they are.
        let mut others = vec![];
        for kind in 0..weights.len() {
            let drawn: Vec<f64> = draws.iter().map(|draw| draw.coefficients()[kind]).collect();
            let Some(Spread { low, high, .. }) = Spread::of(&drawn, LEVEL) else { continue };
            for end in [low, high] {
                let mut moved = weights.clone();
                moved[kind] = end.max(0.0);
                if end > 0.0 || moved.iter().any(|weight| *weight > 0.0) {
                    others.push((kind, end, moved));
                }
            }
        }
        let mut rules = vec![rule_of(&weights)?, Rule::most_likely(k)?];
        for (.., moved) in &others {
            rules.push(rule_of(moved)?);
        }
        let found = task.sample.confusions(&rules)?;
        let found: Vec<Confusion> = found.iter().map(|matrix| matrix.overall()).collect();
        let apart = |a: &Confusion, b: &Confusion| -> f64 {
            let cells = (0..k * k).map(|n| (a.get(n / k, n % k) - b.get(n / k, n % k)).abs());
            0.5 * CASES * cells.sum::<f64>()
        };
        let sentence = format!(
            "predict the class whose mistakes cost least; at least {} of 1,000 cases are decided otherwise than by the most \
             likely class",
            grouped(apart(&found[0], &found[1]).round() as u64)
        );
        let moved = others.iter().zip(&found[2..]).map(|(other, matrix)| (apart(&found[0], matrix), other));
        let most = moved.max_by(|a, b| a.0.total_cmp(&b.0));
        let changes = most.filter(|(cases, _)| *cases >= 0.5).map(|(cases, (kind, end, _))| {
            let (name, times) = (words.kind_of(*kind), end / weights[*kind]);
            let times = match times {
                times if times >= 1.0 => format!("{} times as bad as found", two_digits(times)),
                times if times > 0.0 => format!("{} times less bad than found", two_digits(1.0 / times)),
                _ => "not bad at all".to_owned(),
            };
            format!(
                "most, if {name} were {times}, which the answers leave open: {} of 1,000 cases would be decided otherwise",
                grouped(cases.round() as u64)
            )
        });
        let of_class = |i: usize| {
            (0..k).map(|j| (CASES * found[0].get(i, j) / priors[i]).round() as u64).collect::<Vec<_>>()
        };
        let classes = task.sample.class_names().to_vec();
        Ok(Self { sentence, changes, per_1000: (0..k).map(of_class).collect(), classes })
    }

    /// Writes what the rule does on the table, where a sentence would not do.
    pub fn write(&self, terminal: Terminal, out: &mut dyn Write) -> std::io::Result<()> {
        self.table(terminal).map_or(Ok(()), |table| writeln!(out, "{table}"))
    }

    /// What the rule does on the table; nothing for two classes, where the sentence says it.
    pub fn table(&self, terminal: Terminal) -> Option<Table> {
        if self.per_1000.is_empty() {
            return None;
        }
        let headings = std::iter::once("your rule, of 1,000 each".to_owned())
            .chain(self.classes.iter().map(|class| format!("as {class}")));
        let mut table = Table::new(terminal, headings);
        for (class, row) in self.classes.iter().zip(&self.per_1000) {
            table.row(std::iter::once(class.clone()).chain(row.iter().map(|count| grouped(*count))));
        }
        Some(table)
    }
}
