//! `equipoise study new`: a study to begin from.

use super::shown;
use crate::args::Global;
use crate::fault::Fault;
use crate::{files, json};
use anyhow::Result;
use clap::Args;
use equipoise_study::template::{self, TEMPLATES};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make a study from a template
#[derive(Debug, Args)]
#[command(after_help = "\
Templates:
  binary-cancer      two classes: missed cancers against false alarms, as in chapter 8 of the thesis
  multiclass-triage  three classes: an emergency department's triage
  group-fair-hiring  two classes and two groups: mistakes of a hiring filter, and gaps between women and men
  choose-program     candidates with attributes: which program, by what it misses, how long it takes, what it costs

Examples:
  equipoise study new cancer
  equipoise study new triage --template multiclass-triage")]
pub struct New {
    /// The directory to make
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// What to begin from
    #[arg(long, value_name = "NAME", default_value = "binary-cancer")]
    template: String,
}

/// Runs the command.
pub fn run(args: &New, global: &Global) -> Result<ExitCode> {
    let Some(template) = template::find(&args.template) else {
        let names: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
        let what = format!("there is no template \"{}\"; there are {}", args.template, names.join(", "));
        return Err(Fault::usage(what).into());
    };
    let path = args.directory.join("study.toml");
    let table = args.directory.join(template.table.0);
    if let Some(there) = [&path, &table].into_iter().find(|path| path.exists()) {
        return Err(Fault::usage(format!("{} is there already", shown(there))).into());
    }
    std::fs::create_dir_all(&args.directory)
        .map_err(|e| Fault::input_output(format!("cannot make {}: {e}", shown(&args.directory))))?;
    files::write(&path, &named(template.text, &args.directory))?;
    files::write(&table, template.table.1)?;
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(
            &json!({"format": 1, "study": path, "table": table, "template": template.name}),
            &mut out,
        )?;
    } else {
        writeln!(out, "Wrote {}: {}.", shown(&path), template.about)?;
        writeln!(out, "Wrote {}: {}.", shown(&table), template.table_about)?;
        if !global.quiet {
            let directory = files::word(&args.directory);
            writeln!(out, "\nNext: read it, make it yours, and then")?;
            writeln!(out, "  equipoise study check {directory}")?;
            writeln!(out, "  equipoise study lock {directory}")?;
            writeln!(out, "  equipoise study invite {directory} --count 20")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The template with the directory's name for the study's, as far as a study can be called that.
fn named(text: &str, directory: &Path) -> String {
    let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let found = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain: String = found.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name = plain.trim_matches('-');
    if name.is_empty() {
        return text.to_owned();
    }
    let line = |line: &str| match line.strip_prefix("name = \"").and_then(|rest| rest.split_once('"')) {
        Some((_, rest)) => format!("name = \"{name}\"{rest}\n"),
        None => format!("{line}\n"),
    };
    // The study's own name is the first; everything below the first table has names of its own.
    let (mut head, mut tail) = (String::new(), String::new());
    for text in text.lines() {
        match tail.is_empty() && !text.starts_with('[') {
            true => head += &line(text),
            false => tail += &format!("{text}\n"),
        }
    }
    head + &tail
}
