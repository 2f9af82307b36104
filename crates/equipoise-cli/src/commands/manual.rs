//! `equipoise completions` and `equipoise man`: what shells and `man` want to know of the commands.

use crate::args::{CommandLine, Completions, Global, Man};
use crate::fault::Fault;
use crate::files;
use anyhow::Result;
use clap::{Command, CommandFactory as _};
use std::io::Write as _;
use std::process::ExitCode;

/// Prints the completions of a shell.
pub fn completions(args: &Completions) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut CommandLine::command(), "equipoise", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for the program and one for every command.
pub fn man(args: &Man, global: &Global) -> Result<ExitCode> {
    let directory = &args.directory;
    std::fs::create_dir_all(directory)
        .map_err(|error| Fault::input_output(format!("cannot make {}: {error}", files::name(directory))))?;
    let mut program = CommandLine::command();
    program.build();
    let mut pages = vec![];
    collect(&program, "equipoise", &mut pages);
    for (name, page) in &pages {
        files::write_bytes(&directory.join(format!("{name}.1")), page)?;
    }
    if !global.quiet {
        writeln!(std::io::stdout().lock(), "{} pages in {}", pages.len(), files::name(directory))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of a command and those of the commands under it.
fn collect(command: &Command, name: &str, pages: &mut Vec<(String, Vec<u8>)>) {
    let mut page = Vec::new();
    // Writing into memory does not fail.
    let _ = clap_mangen::Man::new(command.clone()).title(name).render(&mut page);
    pages.push((name.to_owned(), page));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        collect(below, &format!("{name}-{}", below.get_name()), pages);
    }
}
