//! The arguments of `equipoise completions` and `equipoise man`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print what a shell needs to complete commands and options
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise completions bash > ~/.local/share/bash-completion/completions/equipoise
  equipoise completions zsh > ~/.zfunc/_equipoise
  equipoise completions fish > ~/.config/fish/completions/equipoise.fish")]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Write the manual pages, one per command
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  equipoise man ~/.local/share/man/man1
  man equipoise-threshold")]
pub struct Man {
    /// The directory for the pages; it is made if it is not there
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}
