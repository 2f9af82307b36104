//! `equipoise study account token`: what scripts read results with.

use super::note;
use crate::args::{Global, Of, TokenCommand};
use crate::commands::study::Place;
use crate::json;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise_server::researcher::tokens::{Scope, Wanted, words};
use equipoise_study::event::Action;
use equipoise_study::numbers::when;
use equipoise_study::seams::{Clock as _, SystemClock};
use serde_json::json;
use std::io::Write as _;
use std::process::ExitCode;

/// Runs the command.
pub fn run(command: &TokenCommand, global: &Global) -> Result<ExitCode> {
    match command {
        TokenCommand::Add { of, token, scopes, days } => add(of, token, scopes, *days, global),
        TokenCommand::List { place } => list(place, global),
        TokenCommand::Revoke { place, token } => revoke(place, token, global),
    }
}

fn add(of: &Of, name: &str, scopes: &[Scope], days: u32, global: &Global) -> Result<ExitCode> {
    let accounts = of.place.accounts()?;
    let wanted = Wanted { name, account: &of.name, scopes, days };
    let token = accounts.add_token(&wanted, SystemClock.now())?;
    let scopes = words(scopes);
    let action =
        Action::TokenMade { name: name.to_owned(), holder: of.name.clone(), scopes: scopes.clone(), days };
    // A token nobody could see in the audit log is not given out.
    if let Err(error) = note(&of.place, action) {
        accounts.revoke_token(name)?;
        return Err(error);
    }
    let mut out = std::io::stdout().lock();
    if global.json {
        let document = json!({
            "format": equipoise::FORMAT, "name": name, "account": of.name, "scopes": scopes, "days": days, "token": token,
        });
        json::write(&document, &mut out)?;
    } else if global.quiet {
        writeln!(out, "{token}")?;
    } else {
        let lasts = if days == 1 { "a day".to_owned() } else { format!("{days} days") };
        writeln!(out, "{token}")?;
        writeln!(out, "It may read {} for {lasts}.", scopes.replace(' ', ", "))?;
        writeln!(out, "Keep it now: it is printed once and kept nowhere.")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn revoke(place: &Place, name: &str, global: &Global) -> Result<ExitCode> {
    place.accounts()?.revoke_token(name)?;
    note(place, Action::TokenRevoked { name: name.to_owned() })?;
    let mut out = std::io::stdout().lock();
    match global.json {
        true => json::write(&json!({"format": equipoise::FORMAT, "revoked": name}), &mut out)?,
        false => writeln!(out, "The token {name} is revoked; it opens nothing any more.")?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(place: &Place, global: &Global) -> Result<ExitCode> {
    let tokens = place.accounts()?.tokens()?;
    let now = SystemClock.now();
    let mut out = std::io::stdout().lock();
    if global.json {
        let all: Vec<_> = tokens
            .iter()
            .map(|token| {
                json!({
                    "name": token.name,
                    "account": token.account.name,
                    "scopes": words(&token.scopes),
                    "made_at": token.made_at,
                    "expires_at": token.expires_at,
                    "expired": token.expires_at <= now,
                    "used_at": token.used_at,
                })
            })
            .collect();
        json::write(&json!({"format": equipoise::FORMAT, "tokens": all}), &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    if tokens.is_empty() {
        writeln!(out, "No tokens; see: equipoise study account token add --help")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(Terminal::detect(), ["token", "of", "may read", "until", "last used"]);
    for token in &tokens {
        let expired = if token.expires_at <= now { " (expired)" } else { "" };
        table.row([
            token.name.clone(),
            token.account.name.clone(),
            words(&token.scopes),
            format!("{}{expired}", when(token.expires_at)),
            token.used_at.map_or("never".to_owned(), when),
        ]);
    }
    write!(out, "{table}")?;
    Ok(ExitCode::SUCCESS)
}
