//! The `equipoise` command: elicits metrics, simulates elicitations, repeats the papers' tables.
//!
//! Commands return an exit code or an error; this file alone turns an error into a sentence on standard error.

mod args;
mod coefficients;
mod commands;
mod counts;
mod fault;
mod files;
mod fingerprint;
mod json;
mod metric_command;
mod metrics;
mod progress;
mod prompt;
mod ratio;
mod render;
mod table;
mod tables;
mod terminal;

use args::{Command, CommandLine};
use clap::{CommandFactory as _, Parser as _};
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&CommandLine::parse()) {
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

fn run(line: &CommandLine) -> anyhow::Result<ExitCode> {
    match &line.command {
        Some(Command::Demo(args)) => commands::demo::run(args, &line.global),
        Some(Command::Simulate(args)) => commands::simulate::run(args, &line.global),
        Some(Command::Plan(args)) => commands::plan::run(args, &line.global),
        Some(Command::Bench(args)) => commands::bench::run(args, &line.global),
        Some(Command::Reproduce(args)) => commands::reproduce::run(args, &line.global),
        Some(Command::Inspect(args)) => commands::inspect::run(args, &line.global),
        Some(Command::Threshold(args)) => commands::threshold::run(args, &line.global),
        Some(Command::Elicit(args)) => commands::elicit::run(args, &line.global),
        Some(Command::Score(args)) => commands::score::run(args, &line.global),
        Some(Command::Scorer(args)) => commands::scorer::run(args, &line.global),
        Some(Command::Rank(args)) => commands::rank::run(args, &line.global),
        Some(Command::Optimize(args)) => commands::optimize::run(args, &line.global),
        Some(Command::Apply(args)) => commands::apply::run(args, &line.global),
        Some(Command::Serve(args)) => commands::serve::run(args, &line.global),
        Some(Command::Account(args)) => commands::account::run(args, &line.global),
        Some(Command::Study(command)) => commands::study::run(command, &line.global),
        None => {
            CommandLine::command().print_help()?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
