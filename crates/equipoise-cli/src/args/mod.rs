//! What can be typed on the command line, with the help that explains it: one file for each command.

mod account;
mod apply;
mod asking;
mod bench;
mod choose;
mod demo;
mod elicit;
mod inspect;
mod manual;
mod metrics;
mod open;
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
pub use asking::{Asking, Worded};
pub use bench::Bench;
pub use choose::{Among, Choose};
pub use demo::Demo;
pub use elicit::Elicit;
pub use inspect::Inspect;
pub use manual::{Completions, Man};
pub use metrics::Metrics;
pub use open::Open;
pub use optimize::Optimize;
pub use plan::PlanAhead;
pub use rank::Rank;
pub use reproduce::Reproduce;
pub use score::{Judged, RuleAt, Score};
pub use scorer::Scorer;
pub use serve::Serve;
pub use simulate::Simulate;
pub use threshold::Threshold;

use crate::page::Format;
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
    /// The form of what is printed, as a command that prints tables was told.
    #[arg(skip)]
    pub format: Option<Format>,
    /// Seed for everything random; the same seed gives the same result
    #[arg(long, global = true, value_name = "N", allow_hyphen_values = true, value_parser = whole)]
    pub seed: Option<u64>,
    /// Print results only: no explanations, no progress
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// The form of what is printed, for commands that print tables.
#[derive(Debug, Clone, Default, Args)]
pub struct Form {
    /// The form of what is printed
    #[arg(long, value_name = "FORM")]
    pub format: Option<Format>,
}

impl Global {
    /// The form of what is printed.
    pub fn form(&self) -> Format {
        self.format.unwrap_or(if self.json { Format::Json } else { Format::Text })
    }

    /// Whether somebody is there to watch a progress bar.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && !self.json && std::io::stderr().is_terminal()
    }
}

impl Command {
    /// The form a command that prints tables was told to print in.
    pub fn format(&self) -> Option<Format> {
        match self {
            Command::Inspect(args) => args.form.format,
            Command::Threshold(args) => args.form.format,
            Command::Score(args) => args.judged.form.format,
            Command::Rank(args) => args.judged.form.format,
            Command::Optimize(args) => args.printed.format,
            Command::Metrics(args) => args.form.format,
            _ => None,
        }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(Demo),
    Simulate(Simulate),
    Reproduce(Reproduce),
    Bench(Bench),
    Metrics(Metrics),
    Open(Open),
    Inspect(Inspect),
    Threshold(Threshold),
    Elicit(Box<Elicit>),
    Choose(Box<Choose>),
    Score(Score),
    Scorer(Scorer),
    Rank(Rank),
    Plan(PlanAhead),
    Optimize(Box<Optimize>),
    Apply(Apply),
    Completions(Completions),
    Man(Man),
    Serve(Serve),
    Account(Account),
    #[command(flatten)]
    Study(crate::commands::study::Command),
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
    use super::{CommandLine, web_address};
    use clap::Parser as _;
    use equipoise_harness::fuzz::{Corpus, run};
    use equipoise_harness::{seed, times};

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

    /// Lines people type, a word on each line.
    const LINES: [&str; 13] = [
        "choose\nfront.csv\n--minimize\nprice,latency_ms\n--oracle\nprice=2\n--among\nall",
        "simulate\n--repeat\n100\nfile.json",
        "threshold\nval.csv\n--metric\n7:1\n--require\nrecall:ill>=0.9",
        "elicit\nval.csv\n--around\n--regret\n0.01\n--seed\n7",
        "rank\na.csv\nb.csv\n--metric\nf1\n--json",
        "serve\nstudy\n--listen\n127.0.0.1:8080\n--researchers\n127.0.0.1:8081\n--invite\n3",
        "account\ntoken\nadd\nstudy\nana\n--name\nnightly\n--scope\nexport\n--days\n90",
        "invite\n--count\n5\n--study\ns",
        "erase\n3\n--yes",
        "verify\n--repair\n--study\ns",
        "bench\nserver\n--participants\n500\n--think\n6",
        "inspect\nval.csv\n--group\nsex\n--weight\nw",
        "plan\nval.csv\n--experts\n20",
    ];

    #[test]
    fn no_line_makes_the_command_line_panic() {
        let corpus = Corpus::new(LINES.iter().map(|line| line.as_bytes().to_vec()).collect());
        let tried = run("command lines", &corpus, seed(), times("EQUIPOISE_FUZZ", 10_000), |input| {
            let text = String::from_utf8_lossy(input).into_owned();
            CommandLine::try_parse_from(std::iter::once("equipoise").chain(text.split('\n'))).is_ok()
        });
        println!("command lines: {} inputs, {} taken, 0 panics", tried.inputs, tried.taken);
        assert!(tried.taken > 0);
    }
}
