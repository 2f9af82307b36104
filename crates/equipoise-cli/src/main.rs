//! The `equipoise` command: elicits metrics, simulates elicitations, repeats the papers' tables.
//!
//! Commands return an exit code or an error; this file alone turns an error into a sentence on standard error.

mod arenas;
mod args;
mod coefficients;
mod commands;
mod costs;
mod counts;
mod fault;
mod files;
mod fingerprint;
mod json;
mod metric_command;
mod metrics;
mod page;
mod picture;
mod program;
mod progress;
mod prompt;
mod ratio;
mod render;
mod rows;
mod settings;
mod sides;
mod table;
mod tables;
mod terminal;

use args::{Command, CommandLine};
use fault::Fault;
use page::Format;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else is done, so that nothing is there to be misused.
    if let Some(code) = equipoise_study::apart::asked(std::env::args_os().skip(1)) {
        return code;
    }
    match read_line().and_then(|line| run(&line)) {
        Ok(code) => code,
        Err(error) => match fault::exit_code(&error) {
            Some(code) => {
                // Without a standard error to write to, the exit code has to do.
                let _ = writeln!(std::io::stderr(), "error: {error:#}");
                code
            }
            None => ExitCode::SUCCESS,
        },
    }
}

/// What was typed, and what the settings of the directory add to it.
fn read_line() -> anyhow::Result<CommandLine> {
    let typed: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let mut line = args::read(settings::with_settings(typed)?)?;
    line.global.format = line.command.as_ref().and_then(Command::format);
    if line.global.json && line.global.format.is_some_and(|format| format != Format::Json) {
        return Err(Fault::usage("--json and --format ask for two forms, expected one of them").into());
    }
    line.global.json |= line.global.form() == Format::Json;
    Ok(line)
}

fn run(line: &CommandLine) -> anyhow::Result<ExitCode> {
    match &line.command {
        Some(Command::Demo(args)) => commands::demo::run(args, &line.global),
        Some(Command::Simulate(args)) => commands::simulate::run(args, &line.global),
        Some(Command::Plan(args)) => commands::plan::run(args, &line.global),
        Some(Command::Bench(args)) => commands::bench::run(args, &line.global),
        Some(Command::Reproduce(args)) => commands::reproduce::run(args, &line.global),
        Some(Command::Metrics(_)) => commands::metrics::run(&line.global),
        Some(Command::Completions(args)) => commands::manual::completions(args),
        Some(Command::Man(args)) => commands::manual::man(args, &line.global),
        Some(Command::Open(args)) => commands::open::run(args, &line.global),
        Some(Command::Inspect(args)) => commands::inspect::run(args, &line.global),
        Some(Command::Threshold(args)) => commands::threshold::run(args, &line.global),
        Some(Command::Elicit(args)) => commands::elicit::run(args, &line.global),
        Some(Command::Choose(args)) => commands::choose::run(args, &line.global),
        Some(Command::Score(args)) => commands::score::run(args, &line.global),
        Some(Command::Scorer(args)) => commands::scorer::run(args, &line.global),
        Some(Command::Rank(args)) => commands::rank::run(args, &line.global),
        Some(Command::Gate(args)) => commands::gate::run(args, &line.global),
        Some(Command::Optimize(args)) => commands::optimize::run(args, &line.global),
        Some(Command::Apply(args)) => commands::apply::run(args, &line.global),
        Some(Command::Study(study)) => commands::study::run(&study.command, &line.global),
        #[cfg(feature = "cluster")]
        Some(Command::Cluster(group)) => commands::cluster::run(&group.command),
        #[cfg(not(feature = "cluster"))]
        Some(Command::Cluster { .. }) => Err(fault::Fault::usage(tables::NO_CLUSTER).into()),
        None => {
            args::program().print_help()?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory as _, FromArgMatches as _};
    use equipoise_harness::fuzz::{Corpus, run};
    use equipoise_harness::{seed, times};

    /// Whatever is typed is a command or a sentence about it; nothing is run.
    #[test]
    fn fuzz_command_lines() {
        let good = include_str!("../../equipoise-harness/corpus/lines.txt").lines();
        let corpus = Corpus::new(good.map(|line| line.as_bytes().to_vec()).collect());
        let command = CommandLine::command();
        let tried = run("command lines", &corpus, seed(), times("EQUIPOISE_FUZZ", 10_000), |input| {
            let line = String::from_utf8_lossy(input);
            let words = std::iter::once("equipoise").chain(line.split(' '));
            let matches = command.clone().try_get_matches_from(words);
            matches.and_then(|matches| CommandLine::from_arg_matches(&matches)).is_ok()
        });
        println!("command lines: {} inputs, {} taken, 0 panics; seed {}", tried.inputs, tried.taken, seed());
        assert!(tried.taken > 0);
    }
}
