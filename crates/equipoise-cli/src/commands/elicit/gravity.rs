//! How bad each mistake is: "one X is as bad as n Y", the gravest first.

use super::question::Words;
use super::task::Task;
use crate::ratio::two_digits;
use crate::table::Table;
use crate::terminal::Terminal;
use equipoise::metric::Family;
use equipoise::population::Confusions as _;
use equipoise::{Measure, Metric, Sense, Spread};
use serde::Serialize;
use std::io::Write;

/// The probability of the intervals.
const LEVEL: f64 = 0.95;

/// Of two weights that nothing is known of, one is more than so many times the other in a fortieth of the cases: an interval
/// that reaches this far has no end that the answers set.
const NO_END: f64 = 25.0;

/// Single cases are compared.
const CASE: &str = "case";

/// The gravest mistake, and how many of each other one weigh as much.
#[derive(Debug, Serialize)]
pub struct Gravity {
    /// The gravest.
    pub gravest: String,
    /// What is compared: single cases, or points of rates and gaps.
    pub unit: &'static str,
    /// That in a sentence, where it is not what the questions counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// The others, the gravest first.
    pub others: Vec<Times>,
}

/// How many of a mistake are as bad as one of the gravest.
#[derive(Debug, Serialize)]
pub struct Times {
    /// The mistake.
    pub name: String,
    /// So many.
    pub times: f64,
    /// So many in the questions, which have as many cases of every class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_asked: Option<f64>,
    /// At least so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// At most so many; missing where the answers set no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Gravity {
    /// The order of the mistakes of a linear or group-fair cost; `None` for other metrics.
    /// `open` says of which ratio, of a kind to another, the answers set no end.
    pub fn of(
        metric: &Metric,
        draws: &[Metric],
        open: impl Fn(usize, usize) -> bool,
        task: &Task,
        words: &Words,
    ) -> Option<Self> {
        let (units, unit) = units(metric, task)?;
        let costs = |metric: &Metric| -> Vec<f64> {
            metric.coefficients().iter().zip(&units).map(|(weight, unit)| weight / unit).collect()
        };
        let (found, drawn) = (costs(metric), draws.iter().map(costs).collect::<Vec<_>>());
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| found[b].total_cmp(&found[a]));
        let gravest = *order.first().filter(|&&kind| found[kind] > 0.0)?;
        let weights = metric.coefficients();
        let times = |kind: usize| {
            let ratio = |costs: &Vec<f64>| costs[gravest] / costs[kind].max(f64::MIN_POSITIVE);
            let spread = Spread::of(&drawn.iter().map(ratio).collect::<Vec<_>>(), LEVEL);
            let no_end = NO_END * units[kind] / units[gravest];
            Times {
                name: words.kind_of(kind),
                times: ratio(&found),
                as_asked: (unit == CASE).then(|| weights[gravest] / weights[kind].max(f64::MIN_POSITIVE)),
                low: spread.map(|spread| spread.low),
                high: spread
                    .map(|spread| spread.high)
                    .filter(|high| *high < no_end.max(NO_END) && !open(gravest, kind)),
            }
        };
        let others = order[1..].iter().map(|&kind| times(kind)).collect();
        let counted = (unit == CASE).then(|| {
            format!(
                "These are single cases, as common as each class is in {}. The questions counted as many cases of every class; \
                 counted like that, one is as bad as what stands under \"as asked\".",
                task.table
            )
        });
        Some(Self { gravest: words.kind_of(gravest), unit, counted, others })
    }

    /// Writes it for a person.
    pub fn write(&self, terminal: Terminal, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{}\n", terminal.bold(&terminal.paragraph(&self.heading())))?;
        writeln!(out, "{}", self.table(terminal))?;
        match &self.counted {
            Some(counted) => writeln!(out, "{}\n", terminal.paragraph(counted)),
            None => Ok(()),
        }
    }

    /// What the table is about.
    pub fn heading(&self) -> String {
        match self.unit {
            CASE => format!("One {} is as bad to you as", self.gravest),
            _ => format!("One point of {} is as bad to you as so many points of", self.gravest),
        }
    }

    /// How many of each other mistake.
    pub fn table(&self, terminal: Terminal) -> Table {
        let headings = [Some("so many"), Some("95 % interval"), self.counted.as_ref().map(|_| "as asked")];
        let headings = headings.into_iter().flatten().chain(["of these"]);
        let mut table = Table::new(terminal, headings);
        for Times { name, times, as_asked, low, high } in &self.others {
            let (times, interval) = match (low, high) {
                (Some(low), Some(high)) => {
                    (two_digits(*times), format!("{} to {}", two_digits(*low), two_digits(*high)))
                }
                (Some(low), None) => (format!("at least {}", two_digits(*low)), "no upper end".to_owned()),
                _ => (two_digits(*times), "-".to_owned()),
            };
            let as_asked = as_asked.map(two_digits);
            table.row([times, interval].into_iter().chain(as_asked).chain([name.clone()]));
        }
        table
    }
}

/// What a weight is divided by to compare mistakes: the share of the true class, so that single cases are compared; nothing
/// where gaps between groups are among them.
fn units(metric: &Metric, task: &Task) -> Option<(Vec<f64>, &'static str)> {
    let priors = task.sample.prevalence().class_priors();
    let view = metric.view();
    match (metric.family(), view.measure(), metric.sense()) {
        (Family::Linear(_), Measure::OffDiagonalRates, Sense::Cost) => {
            Some((view.entries().iter().map(|entry| priors[entry.1]).collect(), CASE))
        }
        (Family::GroupFair(_), _, Sense::Cost) if view.groups() == 2 => {
            Some((vec![1.0; metric.coefficients().len()], "point"))
        }
        _ => None,
    }
}
