//! `equipoise study account`: who may look at a study.

mod token;

use crate::args::{Account, AccountCommand, Global, Of};
use crate::commands::study::Place;
use crate::fault::Fault;
use crate::json;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::{Context as _, Result};
use equipoise_server::researcher::accounts::{Accounts, Role};
use equipoise_server::researcher::password;
use equipoise_study::event::Action;
use equipoise_study::seams::{Clock as _, SystemClock};
use serde_json::json;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &Account, global: &Global) -> Result<ExitCode> {
    match &args.command {
        AccountCommand::Add { of, role } => add(of, *role, global),
        AccountCommand::List { place } => list(place, global),
        AccountCommand::Role { of, role } => {
            accounts(of)?.set_role(&of.name, *role)?;
            let action = Action::RoleChanged { name: of.name.clone(), role: role.word().to_owned() };
            done(
                of,
                action,
                &format!("{} is {} now, and signed out everywhere.", of.name, article(*role)),
                global,
            )
        }
        AccountCommand::Password { of } => {
            let accounts = accounts(of)?;
            known(&accounts, of)?;
            accounts.set_password(&of.name, &ask(&of.name)?)?;
            let action = Action::PasswordChanged { name: of.name.clone() };
            done(
                of,
                action,
                &format!("{} has a new password, and is signed out everywhere.", of.name),
                global,
            )
        }
        AccountCommand::Code { of } => {
            let code = accounts(of)?.make_code(&of.name, SystemClock.now())?;
            let mut out = std::io::stdout().lock();
            match global.json {
                true => json::write(&json!({"format": 1, "account": of.name, "code": code}), &mut out)?,
                false => writeln!(out, "{code}")?,
            }
            Ok(ExitCode::SUCCESS)
        }
        AccountCommand::Remove { of } => {
            accounts(of)?.remove(&of.name)?;
            let action = Action::AccountRemoved { name: of.name.clone() };
            done(of, action, &format!("{} has no account any more.", of.name), global)
        }
        AccountCommand::Token(command) => token::run(command, global),
    }
}

fn add(of: &Of, role: Role, global: &Global) -> Result<ExitCode> {
    let accounts = accounts(of)?;
    if role != Role::Owner && accounts.list()?.is_empty() {
        return Err(Fault::usage("the first account has to be an owner: --role owner").into());
    }
    // Before anybody types a password.
    if accounts.account(&of.name)?.is_some() {
        return Err(Fault::usage(format!("there is an account \"{}\" already", of.name)).into());
    }
    accounts.add(&of.name, role, &ask(&of.name)?, SystemClock.now())?;
    let action = Action::AccountAdded { name: of.name.clone(), role: role.word().to_owned() };
    let sentence = format!("{} can sign in, as {}.", of.name, article(role));
    done(of, action, &sentence, global)
}

fn article(role: Role) -> String {
    let article = if role == Role::Viewer { "a" } else { "an" };
    format!("{article} {}", role.word())
}

fn accounts(of: &Of) -> Result<Accounts> {
    of.place.accounts()
}

fn known(accounts: &Accounts, of: &Of) -> Result<()> {
    match accounts.account(&of.name)? {
        Some(_) => Ok(()),
        None => Err(Fault::usage(format!("there is no account \"{}\"", of.name)).into()),
    }
}

/// A password: typed twice at a terminal, or a line of standard input.
fn ask(name: &str) -> Result<String> {
    if !std::io::stdin().is_terminal() {
        let mut line = String::new();
        std::io::stdin()
            .lock()
            .read_line(&mut line)
            .context("cannot read the password from standard input")?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    }
    let prompt = |words: &str| rpassword::prompt_password(words).context("cannot read the password");
    let first = prompt(&format!("Password for {name}, at least {} characters: ", password::SHORTEST))?;
    password::check(name, &first)?;
    match prompt("Again: ")? == first {
        true => Ok(first),
        false => Err(Fault::usage("the two passwords differ; nothing was changed").into()),
    }
}

/// Writes the action down if the study has a log.
fn note(place: &Place, action: Action) -> Result<()> {
    if place.has_log()? {
        place.note(&mut *place.store()?, action)?;
    }
    Ok(())
}

/// Writes the action down if the study has a log, and says what was done.
fn done(of: &Of, action: Action, sentence: &str, global: &Global) -> Result<ExitCode> {
    note(&of.place, action)?;
    let mut out = std::io::stdout().lock();
    match global.json {
        true => json::write(
            &json!({"format": equipoise::FORMAT, "account": of.name, "done": sentence}),
            &mut out,
        )?,
        false => writeln!(out, "{sentence}")?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(place: &Place, global: &Global) -> Result<ExitCode> {
    let accounts = place.accounts()?.list()?;
    let mut out = std::io::stdout().lock();
    if global.json {
        let all: Vec<_> = accounts
            .iter()
            .map(|listed| {
                json!({
                    "name": listed.account.name,
                    "role": listed.account.role.word(),
                    "sessions": listed.sessions,
                })
            })
            .collect();
        json::write(&json!({"format": equipoise::FORMAT, "accounts": all}), &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if accounts.is_empty() {
        let place = place.word();
        writeln!(
            out,
            "No accounts yet; make one with: equipoise study account add {place} NAME --role owner"
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(Terminal::detect(), ["name", "role", "signed in"]);
    for listed in &accounts {
        let browsers = if listed.sessions == 1 { "browser" } else { "browsers" };
        table.row([
            listed.account.name.clone(),
            listed.account.role.word().to_owned(),
            format!("{} {browsers}", listed.sessions),
        ]);
    }
    write!(out, "{table}")?;
    Ok(ExitCode::SUCCESS)
}
