//! More than two classes: the matrix of weights, and how far tuning it on the table helps.

use super::{INDENT, Task, percent};
use crate::args::Global;
use crate::fault::FINDING;
use crate::json;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::decide::threshold::{Outcome, Requirement, Tuned, decision_text, rewards, tune};
use equipoise::population::{Confusions as _, Population as _, PostShift, Rule};
use equipoise::{GroupConfusions, Spread};
use equipoise_data::Note;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// The whole document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    format: u64,
    table: &'a str,
    metric: &'a equipoise::Metric,
    classes: &'a [String],
    level: f64,
    draws: usize,
    /// `weights[truth][estimate]` of the rule that is best for calibrated probabilities.
    weights: Vec<&'a [f64]>,
    decision: &'a str,
    rules: &'a [Judged],
    tuned: &'a Outcome<Tuned>,
    /// What the tuned rule gains over the Bayes rule on the rows it was tuned on.
    gain: Option<Spread>,
    notes: &'a [Note],
}

/// A rule at work on the table.
#[derive(Serialize)]
struct Judged {
    name: &'static str,
    value: f64,
    /// From draws of the rows and of the metric.
    interval: Option<Spread>,
    recalls: Vec<f64>,
    requirements: Vec<Kept>,
}

#[derive(Serialize)]
struct Kept {
    requirement: String,
    value: Option<f64>,
    met: bool,
}

pub fn run(task: &Task, global: &Global) -> Result<ExitCode> {
    let classes = task.sample.table().classes();
    let bayes = rewards(&task.metric, task.sample.prevalence().class_priors())?;
    let tuned = tune(&task.sample, &bayes, &task.metric, &task.requirements)?;
    let mut rules = vec![("most likely", PostShift::diagonal(&vec![1.0; classes.len()])?)];
    rules.push(("Bayes", bayes.clone()));
    if let Outcome::Found(tuned) = &tuned {
        rules.push(("tuned", tuned.rule.clone()));
    }
    let asked: Vec<Rule> = rules.iter().map(|(_, rule)| rule.clone().into()).collect();
    let values = drawn_values(task, &asked);
    let Ok(confusions) = task.sample.confusions(&asked);
    let mut judged = Vec::new();
    for (n, ((name, _), matrix)) in rules.iter().zip(&confusions).enumerate() {
        let drawn: Vec<f64> = values.iter().map(|draw| draw[n]).collect();
        judged.push(Judged {
            name,
            value: task.metric.of(matrix)?,
            interval: Spread::of(&drawn, task.level),
            recalls: matrix.overall().rates()?.diagonal(),
            requirements: task.requirements.iter().map(|r| kept(r, matrix)).collect::<Result<_>>()?,
        });
    }
    let sign = task.metric.sense().sign();
    let gains: Vec<f64> =
        values.iter().filter(|draw| draw.len() == 3).map(|draw| sign * (draw[2] - draw[1])).collect();
    let gain = Spread::of(&gains, task.level);
    let decision = decision_text(&bayes, classes)?;
    let mut out = std::io::stdout().lock();
    if global.json {
        let document = Document {
            format: 1,
            table: &task.table,
            metric: &task.metric,
            classes,
            level: task.level,
            draws: task.draws,
            weights: bayes.rewards(0).chunks(classes.len()).collect(),
            decision: &decision,
            rules: &judged,
            tuned: &tuned,
            gain,
            notes: &task.notes,
        };
        json::write(&document, &mut out)?;
    } else {
        write_text(task, &bayes, &decision, &judged, &tuned, gain, &mut out)?;
    }
    Ok(if matches!(tuned, Outcome::Found(_)) { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

/// The metric of every rule in every draw; draws where it has no value are left out.
fn drawn_values(task: &Task, rules: &[Rule]) -> Vec<Vec<f64>> {
    let mut values = Vec::new();
    let Ok(drawn) = task.sample.resampled(rules, task.seed, task.draws);
    for (n, draw) in drawn.iter().enumerate() {
        let metric = match &task.metric_draws[..] {
            [] => &task.metric,
            drawn => &drawn[n % drawn.len()],
        };
        let of_draw: Vec<f64> = draw
            .iter()
            .filter_map(|matrix| metric.of(matrix).ok())
            .filter(|value| value.is_finite())
            .collect();
        if of_draw.len() == rules.len() {
            values.push(of_draw);
        }
    }
    values
}

fn kept(requirement: &Requirement, matrix: &GroupConfusions) -> Result<Kept> {
    let value = requirement.value_of(matrix)?;
    let met = value.is_some_and(|value| requirement.is_met(value));
    Ok(Kept { requirement: requirement.to_string(), value, met })
}

fn write_text(
    task: &Task,
    bayes: &PostShift,
    decision: &str,
    rules: &[Judged],
    tuned: &Outcome<Tuned>,
    gain: Option<Spread>,
    out: &mut impl Write,
) -> Result<()> {
    let terminal = Terminal::detect();
    let classes = task.sample.table().classes();
    let entry = |name: &str, text: &str| terminal.entry(INDENT, name, text);
    writeln!(out, "{}", entry("Metric", &task.metric_in_words()))?;
    let mut headings = vec!["weight of truth".to_owned()];
    headings.extend(classes.iter().map(|class| format!("predicting {class}")));
    let mut table = Table::new(terminal, headings);
    for (class, weights) in classes.iter().zip(bayes.rewards(0).chunks(classes.len())) {
        let mut row = vec![class.clone()];
        row.extend(weights.iter().map(|weight| format!("{weight:.3}")));
        table.row(row);
    }
    writeln!(out, "{table}\n{decision}\n")?;

    let mut headings = vec!["rule".to_owned(), "metric".to_owned(), task.level_in_words()];
    headings.extend(classes.iter().map(|class| format!("{class} found")));
    let mut table = Table::new(terminal, headings);
    for rule in rules {
        let interval = rule.interval.map_or("-".to_owned(), |s| format!("{:.4} to {:.4}", s.low, s.high));
        let mut row = vec![rule.name.to_owned(), format!("{:.4}", rule.value), interval];
        row.extend(rule.recalls.iter().map(|&recall| percent(recall)));
        table.row(row);
    }
    write!(out, "{table}")?;
    if !task.requirements.is_empty() {
        let headings = std::iter::once("requirement").chain(rules.iter().map(|rule| rule.name));
        let mut table = Table::new(terminal, headings);
        for (n, requirement) in task.requirements.iter().enumerate() {
            let cell = |rule: &Judged| match &rule.requirements[n] {
                Kept { value: Some(value), met: true, .. } => format!("{value:.3}"),
                Kept { value: Some(value), .. } => format!("{value:.3} (missed)"),
                Kept { value: None, .. } => "-".to_owned(),
            };
            table.row(std::iter::once(requirement.to_string()).chain(rules.iter().map(cell)));
        }
        write!(out, "\n{table}")?;
    }
    writeln!(out)?;
    match tuned {
        Outcome::Infeasible(why) => {
            let text = why.to_string().replace("no threshold meets", "no rule found meets");
            write!(out, "{}", entry("Infeasible", &text))?;
        }
        Outcome::Found(tuned) => {
            let factors: Vec<String> = (classes.iter().zip(&tuned.factors))
                .map(|(class, factor)| format!("{factor:.2} p({class})"))
                .collect();
            let text = format!("the Bayes rule with {} for the probabilities", factors.join(", "));
            write!(out, "{}", entry("Tuned", &text))?;
            let missed = rules[1].requirements.iter().any(|kept| !kept.met);
            let advice = match gain {
                _ if missed => "the tuned rule: the Bayes rule does not meet the requirements on this table",
                Some(gain) if gain.low > 0.0 => {
                    "the tuned rule if these rows are like those to come: it is better in nearly every draw of them, \
                     though it was tuned on them"
                }
                _ => "the Bayes rule: the tuned one cannot be told from it, even on the rows it was tuned on",
            };
            write!(out, "{}", entry("Use", advice))?;
        }
    }
    Ok(())
}
