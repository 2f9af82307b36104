//! The arguments of `equipoise account`.

use clap::{Args, Subcommand};
use equipoise_server::researcher::accounts::Role;
use std::path::PathBuf;

/// Say who may look at a study: the accounts of its researchers
#[derive(Debug, Args)]
#[command(after_help = "\
Owners do everything; analysts see participants by number, export and audit; viewers see aggregates. Accounts are in \
accounts.sqlite beside the log, which only its owner may read. Passwords are asked for, or read from standard input; \
they are never arguments. Names stay in the audit log.

Examples:
  equipoise account add cancer ana --role owner
  equipoise account list cancer
  pass show study | equipoise account password cancer ana")]
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
        /// The directory of the study
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Change what an account may do; it is signed out everywhere
    Role {
        #[command(flatten)]
        of: Of,
        /// What it may do from now on: owner, analyst or viewer
        #[arg(value_parser = role)]
        role: Role,
    },
    /// Give an account another password; it is signed out everywhere
    Password {
        #[command(flatten)]
        of: Of,
    },
    /// Take an account away; it is signed out everywhere
    Remove {
        #[command(flatten)]
        of: Of,
    },
}

/// Which account.
#[derive(Debug, Args)]
pub struct Of {
    /// The directory of the study
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The name of the account
    #[arg(value_name = "NAME")]
    pub name: String,
}

fn role(text: &str) -> Result<Role, String> {
    Role::from_word(text).ok_or_else(|| "expected owner, analyst or viewer".to_owned())
}
