//! What can be typed on the command line, with the help that explains it: one file for each command.

mod account;
mod apply;
mod bench;
mod demo;
mod elicit;
mod inspect;
mod optimize;
mod plan;
mod rank;
mod reproduce;
mod score;
mod scorer;
mod serve;
mod simulate;
mod threshold;

pub use account::{Account, AccountCommand, Of, TokenCommand};
pub use apply::Apply;
pub use bench::Bench;
pub use demo::Demo;
pub use elicit::{Elicit, Worded};
pub use inspect::Inspect;
pub use optimize::Optimize;
pub use plan::PlanAhead;
pub use rank::Rank;
pub use reproduce::Reproduce;
pub use score::{Judged, Score};
pub use scorer::Scorer;
pub use serve::Serve;
pub use simulate::Simulate;
pub use threshold::Threshold;

use clap::{Args, Parser, Subcommand};
use std::io::IsTerminal as _;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "equipoise",
    version,
    about = "Finds the metric a person has in mind by asking which of two classifiers they prefer",
    after_help = "Start with:  equipoise demo",
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub struct CommandLine {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options every command has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Seed for everything random; the same seed gives the same result
    #[arg(long, global = true, value_name = "N", allow_hyphen_values = true, value_parser = whole)]
    pub seed: Option<u64>,
    /// Print results only: no explanations, no progress
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

impl Global {
    /// Whether somebody is there to watch a progress bar.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && !self.json && std::io::stderr().is_terminal()
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(Demo),
    Simulate(Simulate),
    Reproduce(Reproduce),
    Bench(Bench),
    Inspect(Inspect),
    Threshold(Threshold),
    Elicit(Box<Elicit>),
    Score(Score),
    Scorer(Scorer),
    Rank(Rank),
    Plan(PlanAhead),
    Optimize(Box<Optimize>),
    Apply(Apply),
    Serve(Serve),
    Account(Account),
    #[command(flatten)]
    Study(crate::commands::study::Command),
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a number in [0, 1]".to_owned()),
    }
}

fn inner_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("expected a number strictly between 0 and 1".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("expected a number greater than 0".to_owned()),
    }
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse::<u64>().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// What people type into a browser before the path of a link.
pub fn web_address(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or_default();
    let plain = |c: char| c.is_ascii_graphic() && !"\"<>\\^`{}|@?#".contains(c);
    let named = host.split(['/', ':']).next().is_some_and(|name| !name.is_empty());
    match named && host.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("expected http:// or https:// and a host, such as https://study.example.org".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::web_address;

    #[test]
    fn links_are_for_browsers_only() {
        for good in [
            "http://127.0.0.1:8080",
            "https://study.example.org",
            "https://example.org/study/",
            "http://[::1]:80",
        ] {
            assert_eq!(web_address(good).as_deref(), Ok(good));
        }
        for wrong in [
            "nonsense",
            "javascript:alert1",
            "http://",
            "https:///path",
            "ftp://example.org",
            "http://a b",
            "",
        ] {
            assert!(web_address(wrong).is_err(), "{wrong}");
        }
    }
}
