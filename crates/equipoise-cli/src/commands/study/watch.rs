//! `equipoise study watch`: a study at a glance.

use super::{Place, UNFINISHED};
use crate::args::Global;
use crate::json;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use equipoise_log::is_unfinished;
use equipoise_report::refused;
use equipoise_study::event::Action;
use equipoise_study::numbers::two_digits;
use equipoise_study::{Participant, Step, audit, people};
use std::io::Write as _;
use std::process::ExitCode;

/// See how far a study is
#[derive(Debug, Args)]
#[command(
    after_help = "Looking is written down in the log. Results of a study that is blinded are not shown.\n\nExample:\n  equipoise study watch cancer"
)]
pub struct Watch {
    #[command(flatten)]
    place: Place,
    /// List everybody, not only the 50 who were heard of last
    #[arg(long)]
    all: bool,
}

/// So many people are listed.
const MOST: usize = 50;

/// Runs the command.
pub fn run(args: &Watch, global: &Global) -> Result<ExitCode> {
    let design = args.place.design()?;
    let mut store = args.place.look(Action::Looked { page: "watch".to_owned(), participant: None })?;
    let everybody = people::participants(&design, &*store)?;
    // For programs everything; people look at those who were heard of last.
    let shown = if global.json || args.all { everybody.len() } else { MOST };
    let from = heard_of(&everybody, shown);
    let mut summary = people::summary(&design, &everybody, |person| last(person) >= from);
    let blinded = audit::blinded(&*store)?;
    // Who is done and has no metric in the report has none here.
    let has_none =
        |person: &Participant| last(person) >= from && is_done(person) && refused(person).is_some();
    let refused: Vec<bool> = everybody.iter().map(has_none).collect();
    for (person, refused) in summary.people.iter_mut().zip(&refused) {
        if blinded || *refused {
            (person.ratio, person.angle, person.best) = (None, None, None);
        }
    }
    let unfinished = is_unfinished(&mut *store);
    let mut out = std::io::stdout().lock();
    if global.json {
        let mut document = serde_json::to_value(&summary)?;
        if unfinished {
            document["unfinished_erasure"] = true.into();
        }
        json::write(&document, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(
        out,
        "{} invited, {} took part, {} done, {} withdrew, {} erased; {} answers.",
        summary.invited,
        summary.consented,
        summary.completed,
        summary.withdrawn,
        summary.erased,
        summary.answers
    )?;
    if unfinished {
        writeln!(out, "{UNFINISHED}")?;
    }
    if summary.people.is_empty() || global.quiet {
        return Ok(ExitCode::SUCCESS);
    }
    let known = match design.is_choice() {
        true => "best candidate",
        false if design.binary().is_some() => "cost ratio",
        false => "weights within, radians",
    };
    let mut table = Table::new(Terminal::detect(), ["participant", "step", "answers", known, "flags"]);
    let listed = summary.people.iter().zip(&everybody).zip(&refused);
    let mut left_out = summary.people.len();
    for ((person, _), refused) in listed.filter(|((_, person), _)| last(person) >= from) {
        left_out -= 1;
        let known = match (person.ratio, person.angle) {
            _ if *refused => "no metric".to_owned(),
            (None, _) if person.best.is_some() => person
                .best
                .as_ref()
                .map_or(String::new(), |best| format!("{} ({:.2})", best.name, best.probability)),
            (Some(ratio), _) => {
                let [middle, low, high] = ratio.map(two_digits);
                format!("{middle} ({low} to {high})")
            }
            (None, _) if blinded => "hidden".to_owned(),
            (None, angle) => angle.map_or(String::new(), two_digits),
        };
        table.row([
            person.number.map_or_else(|| "-".to_owned(), |number| number.to_string()),
            person.step.clone(),
            person.answers.to_string(),
            known,
            person.flags.join("; "),
        ]);
    }
    write!(out, "\n{table}")?;
    if left_out > 0 {
        writeln!(out, "{left_out} more were heard of before these; --all lists them.")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn is_done(person: &Participant) -> bool {
    matches!(person.step(), Step::Finish | Step::Result)
}

/// When somebody was last asked something or answered.
fn last(person: &Participant) -> i64 {
    person.questions().last().map_or(i64::MIN, |question| question.answered_at.unwrap_or(question.asked_at))
}

/// From when on so many people were heard of.
fn heard_of(everybody: &[Participant], most: usize) -> i64 {
    let mut times: Vec<i64> = everybody.iter().map(last).collect();
    times.sort_unstable_by(|a, b| b.cmp(a));
    if times.len() <= most { i64::MIN } else { times[most].saturating_add(1) }
}
