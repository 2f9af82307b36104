//! The arguments of `equipoise study account`.

use crate::commands::study::Place;
use clap::{Args, Subcommand};
use equipoise_server::researcher::accounts::Role;
use equipoise_server::researcher::tokens::{LONGEST_DAYS, Scope};

/// Say who may look at a study: the accounts of its researchers
#[derive(Debug, Args)]
#[command(after_help = "\
Owners do everything; analysts see participants by number, export and audit; viewers see aggregates. Accounts are in \
accounts.sqlite beside the log, which only its owner may read, or in the database the log is in. Passwords are asked for, or read from standard input; \
they are never arguments. Names stay in the audit log.

Examples:
  equipoise study account add cancer ana --role owner
  equipoise study account list cancer
  equipoise study account code cancer ana
  pass show study | equipoise study account password cancer ana
  equipoise study account token add cancer ana --name nightly --scope export --days 90")]
pub struct Account {
    #[command(subcommand)]
    pub command: AccountCommand,
}

/// What can be done with accounts.
#[derive(Debug, Subcommand)]
pub enum AccountCommand {
    /// Make an account
    Add {
        #[command(flatten)]
        of: Of,
        /// What it may do: owner, analyst or viewer
        #[arg(long, value_parser = role)]
        role: Role,
    },
    /// List the accounts
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Change what an account may do; it is signed out everywhere
    Role {
        #[command(flatten)]
        of: Of,
        /// What it may do from now on: owner, analyst or viewer
        #[arg(value_parser = role)]
        role: Role,
    },
    /// Give an account another password; it is signed out everywhere, and its tokens end
    Password {
        #[command(flatten)]
        of: Of,
    },
    /// Print a code to sign in with once, within 15 minutes, in the place of the password
    Code {
        #[command(flatten)]
        of: Of,
    },
    /// Take an account away; it is signed out everywhere, and its tokens end
    Remove {
        #[command(flatten)]
        of: Of,
    },
    /// Let scripts read results with a token
    #[command(subcommand)]
    Token(TokenCommand),
}

/// What can be done with tokens.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A script sends its token with every request: curl -H \"Authorization: Bearer $TOKEN\" https://service.example.org/api/live

  read:aggregate  /api/live: how far the study is, and what all hold together
  read:answers    /api/people: people by number, and what is known of each
  export          /export/report.json, /export/answers.csv and the other files of the export page

A token changes nothing and never tells who somebody is. It may do no more than the account it belongs to. Each use is in \
the audit log.

Examples:
  equipoise study account token add cancer ana --name nightly --scope export --days 90
  equipoise study account token list cancer
  equipoise study account token revoke cancer nightly")]
pub enum TokenCommand {
    /// Make a token; it is printed once and kept nowhere
    Add {
        #[command(flatten)]
        of: Of,
        /// What to call it; stays in the audit log
        #[arg(long = "name", value_name = "TOKEN")]
        token: String,
        /// What it may read: read:aggregate, read:answers or export; may be given more than once
        #[arg(long = "scope", value_name = "SCOPE", required = true, value_parser = scope)]
        scopes: Vec<Scope>,
        /// For how many days
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(LONGEST_DAYS)))]
        days: u32,
    },
    /// List the tokens
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Take a token away; it opens nothing from then on
    Revoke {
        #[command(flatten)]
        place: Place,
        /// What it is called
        #[arg(value_name = "TOKEN")]
        token: String,
    },
}

/// Which account.
#[derive(Debug, Args)]
pub struct Of {
    #[command(flatten)]
    pub place: Place,
    /// The name of the account
    #[arg(value_name = "NAME")]
    pub name: String,
}

fn role(text: &str) -> Result<Role, String> {
    Role::from_word(text).ok_or_else(|| "expected owner, analyst or viewer".to_owned())
}

fn scope(text: &str) -> Result<Scope, String> {
    Scope::from_word(text).ok_or_else(|| format!("expected {}", Scope::ALL.map(Scope::word).join(", ")))
}
