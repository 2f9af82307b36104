//! `equipoise threshold`: the rule that a metric wants on a table of predictions.

mod many;
mod picture;
mod two;

use crate::args::{Global, Threshold};
use crate::fault::Fault;
use crate::rows::Rows;
use crate::{files, metrics, tables};
use anyhow::Result;
use equipoise::Metric;
use equipoise::decide::threshold::Requirement;
use equipoise::population::{Confusions as _, Population as _, Profile, Score};
use equipoise_data::Note;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;
use std::process::ExitCode;

/// Width of the column of names.
const INDENT: usize = 14;
/// Draws where nothing is said.
const DRAWS: usize = 200;
/// Rows drawn again in all, about, before fewer draws have to do.
const DRAWN_ROWS: usize = 50_000_000;
const FEWEST_DRAWS: usize = 50;
/// The probability of intervals where nothing is said.
const LEVEL: f64 = 0.95;

/// What was asked for, with everything read.
struct Task<'a> {
    table: String,
    classes: &'a [String],
    groups: &'a [String],
    data: Data<'a>,
    notes: Vec<Note>,
    metric_text: &'a str,
    metric: Metric,
    requirements: Vec<Requirement>,
    per_group: bool,
    metric_draws: Vec<Metric>,
    draws: usize,
    level: f64,
    seed: u64,
    svg: Option<&'a Path>,
}

/// What rules are tried on.
enum Data<'a> {
    /// Of two classes the scores say everything.
    Two(Profile),
    Many(&'a Rows),
}

impl<'a> Data<'a> {
    fn of(rows: &'a Rows) -> Result<Self> {
        Ok(match rows.classes() {
            2 => Data::Two(rows.score_profile(Score::Class(1))?),
            _ => Data::Many(rows),
        })
    }
}

pub fn run(args: &Threshold, global: &Global) -> Result<ExitCode> {
    let mut reading = Rows::read_often(&args.table, &args.columns, &args.streaming, global)?;
    reading.notes.extend(reading.data.how_drawn(false));
    tables::say(&reading.notes, global);
    let sample = reading.data;
    let (classes, groups) = (sample.class_names(), sample.group_names());
    if args.per_group && classes.len() > 2 {
        let found = format!("--per-group needs 2 classes, but the table has {}", classes.len());
        return Err(Fault::usage(found).into());
    }
    if args.per_group && groups.len() < 2 {
        let sentence = "--per-group needs at least 2 groups; --group names their column";
        return Err(Fault::usage(sentence).into());
    }
    let metric = metrics::metric(&args.metric, classes, sample.prevalence())?;
    let rows = sample.totals()?.overall().rows as usize;
    let parse = |text: &String| Requirement::parse(text, classes, groups);
    let requirements = args.require.iter().map(parse).collect::<equipoise::Result<Vec<_>>>()?;
    let draws = args.draws.map_or_else(|| affordable(rows), |draws| draws as usize);
    let seed = global.seed.unwrap_or(1);
    let metric_draws = metric.draws(draws, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let task = Task {
        table: files::name(&args.table),
        classes,
        groups,
        data: Data::of(&sample)?,
        notes: reading.notes,
        metric_text: &args.metric,
        metric,
        requirements,
        per_group: args.per_group,
        metric_draws,
        draws,
        level: args.level,
        seed,
        svg: (!args.no_svg).then_some(args.svg.as_path()),
    };
    match &task.data {
        Data::Two(profile) => two::run(&task, profile, global),
        Data::Many(sample) => many::run(&task, sample, global),
    }
}

/// What is printed about a metric that somebody holds, as a part of a page, and the decision curve where there is one.
pub fn on_page(rows: &Rows, metric: &Metric, seed: u64) -> Result<(String, Option<String>)> {
    let draws = affordable(rows.totals()?.overall().rows as usize);
    let task = Task {
        table: String::new(),
        classes: rows.class_names(),
        groups: rows.group_names(),
        data: Data::of(rows)?,
        notes: vec![],
        metric_text: "your metric",
        metric: metric.clone(),
        requirements: vec![],
        per_group: false,
        metric_draws: metric.draws(draws, &mut Xoshiro256PlusPlus::seed_from_u64(seed)),
        draws,
        level: LEVEL,
        seed,
        svg: None,
    };
    match &task.data {
        Data::Two(profile) => two::on_page(&task, profile),
        Data::Many(sample) => many::on_page(&task, sample),
    }
}

/// As many draws as a table allows in little time.
fn affordable(rows: usize) -> usize {
    (DRAWN_ROWS / rows).clamp(FEWEST_DRAWS, DRAWS)
}

impl Task<'_> {
    /// The metric in words: as it was named, and as a cost ratio where it is one.
    fn metric_in_words(&self) -> String {
        match (self.metric.cost_ratio(), self.classes) {
            (Some(ratio), [_, positive]) => {
                let ratio = crate::ratio::two_digits(ratio);
                let better = metrics::better(&self.metric);
                format!("{}: one missed {positive} is worth {ratio} false alarms; {better}", self.metric_text)
            }
            _ => {
                let sense = format!("{:?}", self.metric.sense()).to_lowercase();
                format!("{} (a {sense}: {})", self.metric_text, metrics::better(&self.metric))
            }
        }
    }

    fn title(&self) -> String {
        format!("{} by {}", self.table, self.metric_text)
    }

    fn level_in_words(&self) -> String {
        format!("{} % interval", crate::ratio::two_digits(100.0 * self.level))
    }
}

/// A share as people say it.
fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
