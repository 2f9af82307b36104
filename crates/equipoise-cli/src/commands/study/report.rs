//! `equipoise study report`: what a study found.

use super::Place;
use crate::args::Global;
use crate::fault::{FINDING, Fault};
use crate::json;
use crate::terminal::Terminal;
use anyhow::{Context as _, Result};
use clap::Args;
use equipoise_report::{self as report, Agreement, Group, Options, PersonReport, Shares};
use equipoise_study::event::Action;
use equipoise_study::numbers::two_digits;
use equipoise_study::{Everybody, verify};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Say what the metric is, how sure that is, and how well it predicts
#[derive(Debug, Args)]
#[command(after_help = "\
The same answers give the same bytes. The log is verified first; the exit code is 4 if it does not agree with itself, and 1 \
if there is no metric to report. Looking is written down in the log.

Examples:
  equipoise study report cancer
  equipoise study report cancer --participant 3 --why
  equipoise study report cancer --html report.html
  equipoise study report cancer --html report.html --appendix
  equipoise study report cancer --why --json")]
pub struct Report {
    #[command(flatten)]
    place: Place,
    /// Also say which answers mattered most
    #[arg(long)]
    why: bool,
    /// Write the report as one page that needs nothing else; it says which answers mattered most
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Unfold people one by one, weights and rows in that page, so that they are printed
    #[arg(long, requires = "html")]
    appendix: bool,
    /// Report one participant only, by number
    #[arg(long, value_name = "N")]
    participant: Option<u64>,
    /// Leave out people one by one where they are fewer than 5: for a report that is passed on
    #[arg(long)]
    shared: bool,
    /// Also report people who were invited to another version of the study
    #[arg(long)]
    mix_versions: bool,
    /// Show results of a study that is blinded; that is written to the audit log
    #[arg(long)]
    unblinded: bool,
}

/// Where texts begin.
const INDENT: usize = 14;

/// Runs the command.
pub fn run(args: &Report, global: &Global) -> Result<ExitCode> {
    let file = args.html.as_deref().map(|path| args.place.output(path)).transpose()?;
    let design = args.place.design()?;
    if let Some(what) = args.place.changed_after_lock(&design)? {
        // What was answered belongs to the study that was locked, and this is read by the one that is there.
        eprintln!("note: {what}");
    }
    let looked = |how: &str| Action::Looked { page: format!("report{how}"), participant: args.participant };
    let store = args.place.results(args.unblinded, looked)?;
    let verified = verify(&*store)?;
    let people = Everybody::of(&design, store.opener(), verified.rows)?;
    let options = Options {
        why: args.why || args.html.is_some(),
        shared: args.shared,
        mix_versions: args.mix_versions,
        participant: args.participant,
    };
    let made = report::report_while(&design, &people, &verified.data_head, &options, &|_| true)?;
    let report = made.context("the report was stopped")?;
    if let (Some(number), 0) = (args.participant, report.counts.answered) {
        let what = format!("participant {number} has answered no comparison of this version of the study");
        return Err(Fault::usage(what).into());
    }
    if let Some(file) = file {
        let page = if args.appendix { report::html_with_appendix } else { report::html };
        file.write(page(&design, &report).as_bytes())?;
    }
    // Answers that single out no metric need attention, as everywhere.
    let code = if report.counts.with_metric == 0 { ExitCode::from(FINDING) } else { ExitCode::SUCCESS };
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&report, &mut out)?;
        return Ok(code);
    }
    match &args.html {
        Some(path) if !global.quiet => writeln!(out, "Report: {}", path.display())?,
        Some(_) => {}
        None => text(&report, Terminal::detect(), &mut out)?,
    }
    Ok(code)
}

fn text(report: &report::Report, terminal: Terminal, out: &mut impl Write) -> Result<()> {
    for sentence in &report.first {
        writeln!(out, "{}", terminal.paragraph(sentence))?;
    }
    writeln!(out)?;
    for person in &report.people {
        one(person, report.people.len() > 1, terminal, out)?;
    }
    if report.hidden {
        writeln!(out, "{}\n", terminal.paragraph("People are not shown one by one: they are fewer than 5."))?;
    }
    together(&report.group, "All", terminal, out)?;
    if report.counts.excluded > 0 {
        together(&report.group_without_excluded, "Not excluded", terminal, out)?;
    }
    if let Some(threshold) = &report.threshold {
        write!(out, "{}", terminal.entry(INDENT, "Threshold", &threshold.sentence))?;
    }
    if let Some(models) = &report.models {
        for standing in &models.ranking.standings {
            let text = format!(
                "best with probability {:.2}, expected place {:.1}",
                standing.probability_best, standing.expected_rank
            );
            write!(out, "{}", terminal.entry(INDENT, &standing.name, &text))?;
        }
    }
    if report.other_versions > 0 && !report.mixed_versions {
        let text = format!(
            "{} people were invited to another version of the study and are not in this report; --mix-versions has them too",
            report.other_versions
        );
        write!(out, "{}", terminal.entry(INDENT, "Left out", &text))?;
    }
    writeln!(out, "Study {} version {}, hash {}", report.study, report.version, report.hash)?;
    writeln!(out, "Head of the log {}", report.head)?;
    Ok(())
}

fn one(person: &PersonReport, many: bool, terminal: Terminal, out: &mut impl Write) -> Result<()> {
    let name = format!("Participant {}", person.participant);
    writeln!(out, "{}", terminal.bold(&name))?;
    if many {
        writeln!(out, "{}", terminal.paragraph(&person.sentence))?;
    }
    write!(out, "{}", terminal.entry(INDENT, "Predicts", &predicts(&person.fidelity.shares)))?;
    let conduct = &person.conduct;
    let consistency = format!(
        "{} repeats alike, {} checks passed, {} of {} answers against the estimate",
        conduct.repeats,
        conduct.dominated,
        person.consistency.against.len(),
        person.consistency.answers
    );
    write!(out, "{}", terminal.entry(INDENT, "Consistency", &consistency))?;
    if let Some(both) = &person.stated_against_elicited {
        write!(out, "{}", terminal.entry(INDENT, "Stated", &both.sentence))?;
    }
    for flag in &conduct.flags {
        write!(out, "{}", terminal.entry(INDENT, "Look at", flag))?;
    }
    for influence in &person.why {
        write!(out, "{}", terminal.entry(INDENT, "Why", &influence.sentence))?;
    }
    writeln!(out)?;
    Ok(())
}

fn predicts(shares: &Shares) -> String {
    let of = |name: &str, agreement: Option<Agreement>| {
        agreement.map(|a| format!("{} of {} {name}", a.agree, a.of))
    };
    let parts = [
        of("evaluation answers", shares.elicited),
        of("by the stated cost", shares.stated),
        of("by fewest missed", shares.fewest_missed),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "no evaluation answers yet".to_owned() } else { parts.join(", ") }
}

fn together(group: &Option<Group>, name: &str, terminal: Terminal, out: &mut impl Write) -> Result<()> {
    let Some(Group { experts, .. }) = group else { return Ok(()) };
    let mut text = format!("{} people with a metric", experts.people);
    if let (Some(ratio), Some(spread)) = (experts.ratio, experts.spread) {
        text += &format!(
            "; the typical cost ratio is {} (95 % interval {}-{}), and two thirds of people lie within a factor of {} of it",
            two_digits(ratio.estimate),
            two_digits(ratio.low),
            two_digits(ratio.high),
            two_digits(spread.estimate.exp())
        );
    }
    write!(out, "{}", terminal.entry(INDENT, name, &text))?;
    if let Some(models) = &experts.models {
        let disagree = format!(
            "two of them, picked at random, prefer different {}s with probability {:.2}",
            models.one, models.disagreement.estimate
        );
        write!(out, "{}", terminal.entry(INDENT, "", &disagree))?;
        write!(out, "{}", terminal.entry(INDENT, "", &models.sentence))?;
    }
    Ok(())
}
