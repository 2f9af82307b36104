//! `equipoise.toml`: options that need not be typed again.
//!
//! A key is the long name of an option; keys in a table named after a command are for that command alone. What is typed goes
//! before what is written here.

use crate::args::CommandLine;
use crate::fault::Fault;
use crate::files;
use anyhow::Result;
use clap::{ArgAction, Command, CommandFactory as _};
use std::ffi::OsString;
use std::path::Path;
use toml::{Table, Value};

/// The file, in the directory one works in.
const FILE: &str = "equipoise.toml";

/// What was typed, with the settings that apply to its command added.
pub fn with_settings(typed: Vec<OsString>) -> Result<Vec<OsString>> {
    let path = Path::new(FILE);
    if !path.is_file() {
        return Ok(typed);
    }
    let text = files::read_text(path, "settings")?;
    let program = CommandLine::command();
    let settings: Table = text
        .parse()
        .map_err(|error: toml::de::Error| Fault::usage(format!("{FILE}: {}", error.message())))?;
    check(&settings, &program)?;
    Ok(added(typed, &settings, &program))
}

/// Refuses names that no option or command has: a setting that does nothing would go unnoticed.
fn check(settings: &Table, program: &Command) -> Result<()> {
    for (key, value) in settings {
        match (value, program.find_subcommand(key)) {
            (Value::Table(own), Some(command)) => check_of(command, own, key, program)?,
            (Value::Table(_), None) => {
                let what = format!("{FILE}: there is no command `equipoise {key}` for the table [{key}]");
                return Err(Fault::usage(what).into());
            }
            _ if !anywhere(program, program, key) => {
                return Err(Fault::usage(format!("{FILE}: no command has an option --{key}")).into());
            }
            _ => {}
        }
    }
    Ok(())
}

/// The same for the table of a command, which has tables for the commands under it.
fn check_of(command: &Command, own: &Table, name: &str, program: &Command) -> Result<()> {
    for (key, value) in own {
        match (value, command.find_subcommand(key)) {
            (Value::Table(own), Some(below)) => check_of(below, own, &format!("{name} {key}"), program)?,
            _ if option(command, program, key).is_none() => {
                return Err(Fault::usage(format!("{FILE}: `equipoise {name}` has no option --{key}")).into());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a command, or one under it, has an option.
fn anywhere(command: &Command, program: &Command, key: &str) -> bool {
    option(command, program, key).is_some()
        || command.get_subcommands().any(|below| anywhere(below, program, key))
}

/// The option of a command, or of all, with a long name.
fn option<'a>(command: &'a Command, program: &'a Command, key: &str) -> Option<&'a clap::Arg> {
    let has = |argument: &&clap::Arg| argument.get_long() == Some(key);
    command.get_arguments().find(has).or_else(|| program.get_arguments().find(has))
}

fn added(typed: Vec<OsString>, settings: &Table, program: &Command) -> Vec<OsString> {
    let words: Vec<String> = typed.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut path = words.iter().skip(1).filter(|word| !word.starts_with('-'));
    let Some(mut command) = path.find_map(|word| program.find_subcommand(word)) else { return typed };
    let mut own = settings.get(command.get_name()).and_then(Value::as_table);
    // `equipoise study serve` has the settings of [study.serve].
    while let Some(below) = path.next().and_then(|word| command.find_subcommand(word)) {
        own = own.and_then(|table| table.get(below.get_name())).and_then(Value::as_table);
        command = below;
    }
    let given = |key: &str| {
        let (long, not) = (format!("--{key}"), format!("--no-{key}"));
        words.iter().any(|word| *word == long || word.starts_with(&format!("{long}=")) || *word == not)
    };
    let mut all: Table =
        settings.iter().filter(|(_, value)| !value.is_table()).map(|(k, v)| (k.clone(), v.clone())).collect();
    own.into_iter().flatten().for_each(|(key, value)| drop(all.insert(key.clone(), value.clone())));
    let mut line = typed;
    // What follows "--" is no option.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let mut options = vec![];
    for (key, value) in &all {
        let Some(option) = option(command, program, key).filter(|_| !given(key)) else { continue };
        // `--json` and `--format` are two names for one wish.
        if (key == "format" && given("json")) || (key == "json" && given("format")) {
            continue;
        }
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts
                .iter()
                .map(|part| part.as_str().map_or(part.to_string(), str::to_owned))
                .collect::<Vec<_>>()
                .join(","),
            other => other.to_string(),
        };
        match (option.get_action(), value) {
            (ArgAction::SetTrue, Value::Boolean(true)) => options.push(OsString::from(format!("--{key}"))),
            (ArgAction::SetTrue, Value::Boolean(false)) => {}
            _ => options.push(OsString::from(format!("--{key}={text}"))),
        }
    }
    line.splice(end..end, options);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(settings: &str, typed: &str) -> Result<String> {
        let (settings, program) = (settings.parse::<Table>().unwrap(), CommandLine::command());
        check(&settings, &program)?;
        let words = typed.split(' ').map(OsString::from).collect();
        let words = added(words, &settings, &program);
        Ok(words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn what_is_typed_goes_before_what_is_set() {
        let settings = "truth = \"outcome\"\nscores = [\"a\", \"b\"]\nseed = 7\n[rank]\ndraws = 50\n";
        let expected = "equipoise rank x.csv --draws=50 --scores=a,b --seed=7 --truth=outcome";
        assert_eq!(line(settings, "equipoise rank x.csv").unwrap(), expected);
        assert_eq!(
            line(settings, "equipoise inspect x.csv --truth y").unwrap(),
            "equipoise inspect x.csv --truth y --scores=a,b --seed=7"
        );
        assert_eq!(line(settings, "equipoise metrics").unwrap(), "equipoise metrics --seed=7");
        assert_eq!(
            line("[study.serve]\ninvite = 2\n", "equipoise study serve s").unwrap(),
            "equipoise study serve s --invite=2"
        );
        assert_eq!(
            line("group = \"sex\"", "equipoise inspect x --no-group").unwrap(),
            "equipoise inspect x --no-group"
        );
    }

    #[test]
    fn settings_that_no_option_has_are_refused() {
        for (settings, sentence) in [
            ("trth = 1", "equipoise.toml: no command has an option --trth"),
            ("[rank]\ntables = 1", "equipoise.toml: `equipoise rank` has no option --tables"),
            ("[study.serve]\nlistn = 1", "equipoise.toml: `equipoise study serve` has no option --listn"),
            ("[rnk]\ndraws = 1", "equipoise.toml: there is no command `equipoise rnk` for the table [rnk]"),
        ] {
            assert_eq!(line(settings, "equipoise rank x").unwrap_err().to_string(), sentence);
        }
    }
}
