//! `equipoise study processing`: the record of processing activities (GDPR, article 30), as far as the study file and the
//! program know it.

use super::{Place, shown};
use crate::args::Global;
use crate::json;
use anyhow::Result;
use clap::Args;
use equipoise_study::Design;
use equipoise_study::study::Position;
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the record of processing activities that data protection officers ask for
#[derive(Debug, Args)]
#[command(after_help = "\
Article 30 of the GDPR: which data, what for, who sees them, how long, how they are protected. It is made from the study \
file, as Markdown; what only you can know is marked.

Example:
  equipoise study processing cancer --out processing.md")]
pub struct Processing {
    #[command(flatten)]
    place: Place,
    /// The file; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Processing, global: &Global) -> Result<ExitCode> {
    let file = args.out.as_deref().map(|path| args.place.output(path)).transpose()?;
    let text = record(&*args.place.design()?);
    let mut out = std::io::stdout().lock();
    if let Some(file) = file {
        file.write(text.as_bytes())?;
    }
    match (&args.out, global.json) {
        (_, true) => json::write(&json!({"format": equipoise::FORMAT, "record": text}), &mut out)?,
        (Some(path), false) => writeln!(out, "Wrote the record of processing to {}.", shown(path))?,
        (None, false) => write!(out, "{text}")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What the program cannot know.
const OPEN: &str = "*to be filled in by the controller*";

/// The record as Markdown. Where only the controller can answer, it says so.
fn record(design: &Design) -> String {
    let study = design.study();
    let language = &study.languages[0];
    let mut text = format!("# Record of processing: {}\n\n", study.title.r#in(language));
    text += &format!(
        "Study `{}`, version {}, hash `{}`. Made by `equipoise study processing` from the study file; whatever is marked has to be \
         filled in.\n",
        study.name,
        study.version,
        design.hash()
    );
    let mut section = |title: &str, lines: &[String]| {
        text += &format!("\n## {title}\n\n");
        for line in lines {
            text += &format!("- {line}\n");
        }
    };
    section(
        "Who is responsible",
        &[
            format!("Controller, representative and data protection officer: {OPEN}"),
            format!("Whom participants write to: {}", study.consent.contact),
        ],
    );
    section(
        "What for",
        &[
            match design.is_choice() {
                true => "To find out, by comparisons, what people weigh in candidates and which they would rather have.",
                false => "To find out, by comparisons, what each kind of mistake of a classifier costs people.",
            }
            .to_owned(),
            format!(
                "Legal basis: {OPEN}; the study asks for consent before anything but the language is stored."
            ),
        ],
    );
    let mut data = vec![
        "language, and which text was agreed to and when".to_owned(),
        "comparisons shown, answers, response times, how long the page was hidden, answers taken back"
            .to_owned(),
        "a random name for each device, to keep two of them apart; no IP address and no user agent"
            .to_owned(),
    ];
    if study.stated_cost.is_some() {
        data.push("the costs people state themselves".to_owned());
    }
    for position in [Position::Before, Position::Task, Position::After] {
        for item in study.items(position) {
            data.push(format!("answer to \"{}\" (`{}`)", item.question.r#in(language), item.id));
        }
    }
    section("Which data, of participants", &data);
    let mut contact = vec!["what `invite --for` was given, if it was used".to_owned()];
    let panel = study.panel.iter().flat_map(|panel| panel.parameters());
    contact.extend(
        study
            .completion
            .parameters
            .iter()
            .chain(panel)
            .map(|name| format!("`{name}`, as the panel passes it along")),
    );
    section("Which data tell who somebody is (kept apart from answers, sealed)", &contact);
    section(
        "Which data, of researchers",
        &["names of accounts, and what each did or looked at, in the log".to_owned()],
    );
    let back = study.panel.as_ref().map_or(&study.completion.url, |panel| &panel.done.url);
    let panel = back.as_ref().map_or_else(
        || "No panel is told when somebody has finished.".to_owned(),
        |url| format!("At the end participants are sent to {url}."),
    );
    section(
        "Who receives them",
        &[
            "Accounts of the study: viewers see aggregates, analysts see people by number, owners see who they are.".to_owned(),
            panel,
            format!("Anybody else, and transfers to other countries: {OPEN}; the program sends nothing anywhere."),
        ],
    );
    let kept = |what: &str, days: Option<u32>| match days {
        Some(days) => format!("{what}: deleted {days} days after somebody was last heard of"),
        None => format!("{what}: {OPEN}; the study file has no limit"),
    };
    section(
        "How long",
        &[
            kept("Who somebody is", study.retention.contact_days),
            kept("Everything else of theirs", study.retention.answers_days),
            "Participants can withdraw and delete on every page; `equipoise study erase` does the same."
                .to_owned(),
        ],
    );
    section(
        "How they are protected",
        &[
            "Links of 128 random bits, kept as hashes; passwords as Argon2id; sessions of an hour idle and a day in all.".to_owned(),
            "Participants and researchers on separate ports; every route with its role in one table.".to_owned(),
            "Contact data sealed with XChaCha20-Poly1305 under a key of their own, in files for their owner alone.".to_owned(),
            "A log that shows every change, and from which erased data are gone; looking at results is written to it.".to_owned(),
            format!("Encryption on the way (a proxy with TLS), of disks and of backups: {OPEN}"),
        ],
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_study::{Study, template};
    use std::path::Path;

    #[test]
    fn the_record_of_processing_names_all_that_is_asked_and_what_is_still_open() {
        let mut study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
        study.completion.parameters = vec!["PROLIFIC_PID".to_owned()];
        study.retention.contact_days = Some(30);
        let design = Design::new(study, Path::new("../equipoise-study/src/templates")).unwrap();
        let record = record(&design);
        for item in &design.study().questionnaire {
            assert!(record.contains(&format!("(`{}`)", item.id)), "{} is missing", item.id);
        }
        for part in
            ["`PROLIFIC_PID`", "deleted 30 days after", design.hash(), &design.study().consent.contact]
        {
            assert!(record.contains(part), "{part} is missing in {record}");
        }
        assert!(record.matches("to be filled in by the controller").count() >= 4, "{record}");
    }
}
