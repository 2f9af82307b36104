//! More than two classes: the matrix of weights, and how far tuning it on the table helps.

use super::{Data, INDENT, Task, percent};
use crate::args::Global;
use crate::fault::{FINDING, Fault};
use crate::page::Page;
use crate::progress::Progress;
use crate::rows::Rows;
use crate::table::Table as Printed;
use crate::{json, metrics};
use anyhow::Result;
use equipoise::decide::threshold::{Optimum, Requirement, Tuned, decision_text, rewards, tune};
use equipoise::metric::Family;
use equipoise::population::{Confusions as _, Population, PostShift, Rule};
use equipoise::{GroupConfusions, Spread};
use equipoise_data::{Note, Sample};
use serde::Serialize;
use std::process::ExitCode;

/// Folds that the advice is tried on, and rows that are enough for that.
const FOLDS: usize = 5;
const HELD_ROWS: usize = 100_000;

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
    tuned: &'a Optimum<Tuned>,
    /// What a tuned rule gains over the Bayes rule on rows it was not tuned on.
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

/// What was found out about the rule.
struct Found {
    bayes: PostShift,
    decision: String,
    judged: Vec<Judged>,
    tuned: Optimum<Tuned>,
    gain: Option<Spread>,
}

/// What is printed as a part of a page; there is no curve.
pub fn on_page(task: &Task, rows: &Rows) -> Result<(String, Option<String>)> {
    let found = find(task, rows)?;
    Ok((Page::part("Rules", |page| write_text(task, &found, page))?, None))
}

fn find(task: &Task, rows: &Rows) -> Result<Found> {
    let classes = task.classes;
    let bayes =
        rewards(&task.metric, rows.prevalence().class_priors()).map_err(|error| no_rewards(task, error))?;
    let tuned = tune(rows, &bayes, &task.metric, &task.requirements)?;
    let mut rules = vec![("most likely", PostShift::diagonal(&vec![1.0; classes.len()])?)];
    rules.push(("Bayes", bayes.clone()));
    if let Optimum::Found(tuned) = &tuned {
        rules.push(("tuned", tuned.rule.clone()));
    }
    let asked: Vec<Rule> = rules.iter().map(|(_, rule)| rule.clone().into()).collect();
    let values = drawn_values(task, rows, &asked)?;
    let confusions = rows.confusions(&asked)?;
    let mut judged = Vec::new();
    for (n, ((name, _), matrix)) in rules.iter().zip(&confusions).enumerate() {
        let drawn: Vec<f64> = values.iter().flatten().map(|draw| draw[n]).collect();
        judged.push(Judged {
            name,
            value: task.metric.of(matrix)?,
            interval: Spread::of(&drawn, task.level),
            recalls: matrix.overall().rates()?.diagonal(),
            requirements: task.requirements.iter().map(|r| kept(r, matrix)).collect::<Result<_>>()?,
        });
    }
    let gain = Spread::of(&held_out_gains(task, rows, &bayes)?, task.level);
    let decision = decision_text(&bayes, classes)?;
    Ok(Found { bayes, decision, judged, tuned, gain })
}

pub fn run(task: &Task, rows: &Rows, global: &Global) -> Result<ExitCode> {
    let classes = task.classes;
    let progress = Progress::spinner("searching rules", global.shows_progress());
    let found = find(task, rows)?;
    drop(progress);
    let Found { bayes, decision, judged, tuned, gain } = &found;
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
            decision,
            rules: judged,
            tuned,
            gain: *gain,
            notes: &task.notes,
        };
        json::write(&document, &mut out)?;
    } else {
        let mut page = Page::new(global.form(), &task.title(), &mut out)?;
        write_text(task, &found, &mut page)?;
        page.end()?;
    }
    Ok(if matches!(tuned, Optimum::Found(_)) { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

/// What to do about a metric that no matrix of rewards stands for.
fn no_rewards(task: &Task, error: equipoise::Error) -> anyhow::Error {
    match task.metric.family() {
        Family::Linear(_) => error.into(),
        _ => Fault::usage(format!(
            "{} has no reward matrix for {} classes; `equipoise optimize` maximises it, and `score --threshold best` searches a rule",
            task.metric_text,
            task.metric.view().classes()
        ))
        .into(),
    }
}

/// The metric of every rule in every draw of some rows; none in draws where it has no value.
fn drawn_values<P: Population>(
    task: &Task,
    rows: &P,
    rules: &[Rule],
) -> Result<Vec<Option<Vec<f64>>>, P::Err> {
    let drawn = rows.resampled(rules, task.seed, task.draws)?;
    let values = |(n, draw): (usize, &Vec<GroupConfusions>)| {
        let metric = match &task.metric_draws[..] {
            [] => &task.metric,
            drawn => &drawn[n % drawn.len()],
        };
        let value = |matrix| metric.of(matrix).ok().filter(|value| value.is_finite());
        draw.iter().map(value).collect()
    };
    Ok(drawn.iter().enumerate().map(values).collect())
}

/// What tuning gains over the Bayes rule on rows left out, draw by draw: a rule is tuned on all folds but one and judged on that
/// one, and what it gains there is averaged over the folds. Nothing where that cannot be tried: on few rows, or in a database.
fn held_out_gains(task: &Task, rows: &Rows, bayes: &PostShift) -> Result<Vec<f64>> {
    if matches!(rows, Rows::Database(_)) {
        return Ok(vec![]);
    }
    let part = rows.sample(HELD_ROWS, task.seed)?;
    let sign = task.metric.sense().sign();
    let mut gains = vec![Some(0.0); task.draws];
    let folds = part.table().folds(FOLDS);
    if folds.is_empty() {
        return Ok(vec![]);
    }
    for (fitted, held) in folds {
        let tuned = tune(&Sample::new(fitted)?, bayes, &task.metric, &task.requirements);
        // Requirements that cannot be met on fewer rows, or a metric that has no value there.
        let Ok(Optimum::Found(tuned)) = tuned else { return Ok(vec![]) };
        let Ok(values) = drawn_values(task, &Sample::new(held)?, &[bayes.clone().into(), tuned.rule.into()]);
        for (gain, values) in gains.iter_mut().zip(values) {
            *gain = gain.zip(values).map(|(sum, values)| sum + sign * (values[1] - values[0]) / FOLDS as f64);
        }
    }
    Ok(gains.into_iter().flatten().collect())
}

fn kept(requirement: &Requirement, matrix: &GroupConfusions) -> Result<Kept> {
    let value = requirement.value_of(matrix)?;
    let met = value.is_some_and(|value| requirement.is_met(value));
    Ok(Kept { requirement: requirement.to_string(), value, met })
}

fn write_text(task: &Task, found: &Found, out: &mut Page) -> Result<()> {
    let Found { bayes, decision, judged: rules, tuned, gain } = found;
    let terminal = out.terminal;
    let classes = task.classes;
    out.entry(INDENT, "Metric", &task.metric_in_words())?;
    out.gap()?;
    let mut headings = vec!["weight of truth".to_owned()];
    headings.extend(classes.iter().map(|class| format!("predicting {class}")));
    let mut table = Printed::new(terminal, headings);
    for (class, weights) in classes.iter().zip(bayes.rewards(0).chunks(classes.len())) {
        let mut row = vec![class.clone()];
        row.extend(weights.iter().map(|weight| format!("{weight:.3}")));
        table.row(row);
    }
    out.table(&table)?;
    out.gap()?;
    out.paragraph(decision)?;
    out.gap()?;

    let value = format!("metric, {}", metrics::better(&task.metric));
    let mut headings = vec!["rule".to_owned(), value, task.level_in_words()];
    headings.extend(classes.iter().map(|class| format!("{class} found")));
    let mut table = Printed::new(terminal, headings);
    for rule in rules {
        let interval = rule.interval.map_or("-".to_owned(), |s| format!("{:.4} to {:.4}", s.low, s.high));
        let mut row = vec![rule.name.to_owned(), format!("{:.4}", rule.value), interval];
        row.extend(rule.recalls.iter().map(|&recall| percent(recall)));
        table.row(row);
    }
    out.table(&table)?;
    if !task.requirements.is_empty() {
        let headings = std::iter::once("requirement").chain(rules.iter().map(|rule| rule.name));
        let mut table = Printed::new(terminal, headings);
        for (n, requirement) in task.requirements.iter().enumerate() {
            let cell = |rule: &Judged| match &rule.requirements[n] {
                Kept { value: Some(value), met: true, .. } => format!("{value:.3}"),
                Kept { value: Some(value), .. } => format!("{value:.3} (missed)"),
                Kept { value: None, .. } => "-".to_owned(),
            };
            table.row(std::iter::once(requirement.to_string()).chain(rules.iter().map(cell)));
        }
        out.gap()?;
        out.table(&table)?;
    }
    out.gap()?;
    match tuned {
        Optimum::Infeasible(why) => {
            let text = why.to_string().replace("no threshold meets", "no rule found meets");
            out.entry(INDENT, "Infeasible", &text)?;
        }
        Optimum::Found(tuned) => {
            let factors: Vec<String> = (classes.iter().zip(&tuned.factors))
                .map(|(class, factor)| format!("{factor:.2} p({class})"))
                .collect();
            let text = format!("the Bayes rule with {} for the probabilities", factors.join(", "));
            out.entry(INDENT, "Tuned", &text)?;
            let missed = rules[1].requirements.iter().any(|kept| !kept.met);
            let searched = match tuned.confirmed_by {
                0 => format!("{} rules, without an end to better ones", tuned.tried),
                last => format!(
                    "{} rules, with factors from 1/60 to 60; the last {last}, laid out anew, have none that is better",
                    tuned.tried
                ),
            };
            out.entry(INDENT, "Searched", &searched)?;
            let advice = match *gain {
                _ if missed => {
                    "the tuned rule: the Bayes rule does not meet the requirements on this table".to_owned()
                }
                Some(gain) if gain.low > 0.0 => format!(
                    "the tuned rule: tried on rows it was not tuned on, it gains {:.4} to {:.4}",
                    gain.low, gain.high
                ),
                Some(gain) => format!(
                    "the Bayes rule: tried on rows it was not tuned on, the tuned one is not clearly better (it gains {:.4} to \
                     {:.4})",
                    gain.low, gain.high
                ),
                None if matches!(task.data, Data::Many(Rows::Database(_))) => {
                    "the Bayes rule: rows stay in the database, so the tuned one was not tried on rows it was not tuned on"
                        .to_owned()
                }
                None => {
                    "the Bayes rule: there are too few rows to try the tuned one on rows it was not tuned on"
                        .to_owned()
                }
            };
            out.entry(INDENT, "Use", &advice)?;
        }
    }
    Ok(())
}
