//! `equipoise report`: what a study found.

use super::Place;
use crate::args::Global;
use crate::json;
use crate::terminal::Terminal;
use anyhow::Result;
use clap::Args;
use equipoise_study::numbers::two_digits;
use equipoise_study::report::{self, Agreement, Fidelity, Group};
use equipoise_study::{log, people};
use std::io::Write;
use std::process::ExitCode;

/// Say what the metric is, how sure that is, and how well it predicts
#[derive(Debug, Args)]
#[command(after_help = "\
The same log gives the same bytes. The log is verified first; the exit code is 4 if it does not agree with itself.

Examples:
  equipoise report --study cancer
  equipoise report --study cancer --why --json")]
pub struct Report {
    #[command(flatten)]
    place: Place,
    /// Also say which answers mattered most
    #[arg(long)]
    why: bool,
}

/// Where texts begin.
const INDENT: usize = 14;

/// Runs the command.
pub fn run(args: &Report, global: &Global) -> Result<ExitCode> {
    let design = args.place.design()?;
    let store = args.place.store()?;
    let verified = log::verify(&store)?;
    let people = people::participants(&design, &store)?;
    let report = report::report(&design, &people, &verified.head, args.why);
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&report, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let terminal = Terminal::detect();
    if report.people.is_empty() {
        writeln!(out, "Nobody has answered a comparison yet.")?;
    }
    for person in &report.people {
        let name = format!("Participant {}", person.participant);
        writeln!(out, "{}", terminal.bold(&name))?;
        writeln!(out, "{}", terminal.paragraph(&person.sentence))?;
        write!(out, "{}", terminal.entry(INDENT, "Predicts", &predicts(&person.fidelity)))?;
        let conduct = &person.conduct;
        let consistency = format!(
            "{} of {} repeats alike, {} of {} checks passed",
            conduct.repeats.count, conduct.repeats.of, conduct.dominated.count, conduct.dominated.of
        );
        write!(out, "{}", terminal.entry(INDENT, "Consistency", &consistency))?;
        for flag in &conduct.flags {
            write!(out, "{}", terminal.entry(INDENT, "Look at", flag))?;
        }
        for influence in &person.why {
            let other = influence
                .had_it_been_the_other
                .map_or(String::new(), |x| format!(", {} had you chosen the other", two_digits(x)));
            let text = format!(
                "without your answer to question {} the estimate would be {}{other}",
                influence.question,
                two_digits(influence.without)
            );
            write!(out, "{}", terminal.entry(INDENT, "Why", &text))?;
        }
        writeln!(out)?;
    }
    together(&report.group, "All", terminal, &mut out)?;
    if report.group != report.group_without_excluded {
        together(&report.group_without_excluded, "Not excluded", terminal, &mut out)?;
    }
    writeln!(out, "Study {} version {}, hash {}", report.study, report.version, report.hash)?;
    writeln!(out, "Head of the log {}", report.head)?;
    Ok(ExitCode::SUCCESS)
}

fn predicts(fidelity: &Fidelity) -> String {
    let of = |name: &str, agreement: Option<Agreement>| {
        agreement.map(|a| format!("{} of {} {name}", a.agree, a.of))
    };
    let parts = [
        of("evaluation answers", fidelity.elicited),
        of("by the stated cost", fidelity.stated),
        of("by fewest missed", fidelity.fewest_missed),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "no evaluation answers yet".to_owned() } else { parts.join(", ") }
}

fn together(group: &Option<Group>, name: &str, terminal: Terminal, out: &mut impl Write) -> Result<()> {
    let Some(group) = group else { return Ok(()) };
    let text = format!(
        "{} people with a metric: the middle cost ratio is {}, the mean {}, and two thirds lie within a factor of {}",
        group.people,
        two_digits(group.median_ratio),
        two_digits(group.mean_ratio),
        two_digits(group.spread.exp())
    );
    write!(out, "{}", terminal.entry(INDENT, name, &text))?;
    Ok(())
}
