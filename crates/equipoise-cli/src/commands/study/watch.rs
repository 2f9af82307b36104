//! `equipoise watch`: a study at a glance.

use super::Place;
use crate::args::Global;
use crate::json;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use equipoise_study::event::Action;
use equipoise_study::numbers::two_digits;
use equipoise_study::people;
use std::io::Write as _;
use std::process::ExitCode;

/// See how far a study is
#[derive(Debug, Args)]
#[command(after_help = "Looking is written down in the log.\n\nExample:\n  equipoise watch --study cancer")]
pub struct Watch {
    #[command(flatten)]
    place: Place,
}

/// Runs the command.
pub fn run(args: &Watch, global: &Global) -> Result<ExitCode> {
    let design = args.place.design()?;
    let store = args.place.look(Action::Looked { page: "watch".to_owned(), participant: None })?;
    let summary = people::summary(&design, &people::participants(&design, &store)?);
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&summary, &mut out)?;
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
    if summary.people.is_empty() || global.quiet {
        return Ok(ExitCode::SUCCESS);
    }
    let known = if design.binary().is_some() { "cost ratio" } else { "weights within, radians" };
    let mut table = Table::new(Terminal::detect(), ["participant", "step", "answers", known, "flags"]);
    for person in &summary.people {
        let known = match (person.ratio, person.angle) {
            (Some(ratio), _) => {
                let [middle, low, high] = ratio.map(two_digits);
                format!("{middle} ({low} to {high})")
            }
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
    Ok(ExitCode::SUCCESS)
}
