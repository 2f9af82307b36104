//! What can be typed on the command line, with the help that explains it: one file for each command.

mod account;
mod apply;
mod asking;
mod bench;
mod choose;
#[cfg(feature = "cluster")]
mod cluster;
mod demo;
mod elicit;
mod gate;
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
#[cfg(feature = "cluster")]
pub use cluster::{ClusterCommand, ClusterGroup, ExecutorArgs, OnCluster, SchedulerArgs};
pub use demo::Demo;
pub use elicit::Elicit;
pub use gate::Gate;
pub use inspect::Inspect;
pub use manual::{Completions, Man};
pub use metrics::Metrics;
pub use open::Open;
pub use optimize::Optimize;
pub use plan::{PlanAhead, PlanStudy};
pub use rank::Rank;
pub use reproduce::Reproduce;
pub use score::{Judged, RuleAt, Score};
pub use scorer::Scorer;
pub use serve::Serve;
pub use simulate::Simulate;
pub use threshold::Threshold;

use crate::fault::Fault;
use crate::page::Format;
use crate::terminal::Terminal;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::ffi::OsString;
use std::io::IsTerminal as _;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "equipoise",
    version,
    about = "Finds the metric a person has in mind by asking which of two classifiers they prefer",
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
            Command::Gate(args) => args.judged.form.format,
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
    Gate(Box<Gate>),
    Plan(PlanAhead),
    Optimize(Box<Optimize>),
    Apply(Apply),
    Completions(Completions),
    Man(Man),
    Study(crate::commands::study::Group),
    #[cfg(feature = "cluster")]
    Cluster(ClusterGroup),
    /// A part of a cluster, in builds that have them
    #[cfg(not(feature = "cluster"))]
    #[command(hide = true)]
    Cluster {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
}

/// The commands by what they are for, as the first help lists them; the last ones are named only.
const GROUPS: [(&str, &[&str]); 5] = [
    ("See it work", &["demo", "open"]),
    ("Find what errors cost", &["elicit", "choose", "plan"]),
    (
        "Put it to work",
        &["inspect", "threshold", "score", "rank", "gate", "optimize", "apply", "scorer", "metrics"],
    ),
    ("Ask others over the web", &["study"]),
    #[cfg(feature = "cluster")]
    ("Also", &["cluster", "simulate", "reproduce", "bench", "completions", "man"]),
    #[cfg(not(feature = "cluster"))]
    ("Also", &["simulate", "reproduce", "bench", "completions", "man"]),
];

/// The whole command line, with commands in groups.
pub fn program() -> clap::Command {
    let program = CommandLine::command();
    let terminal = Terminal::detect();
    let about = |name: &str| {
        let command = program.find_subcommand(name);
        command.and_then(|command| command.get_about()).map(ToString::to_string).unwrap_or_default()
    };
    let groups: Vec<String> = GROUPS
        .iter()
        .map(|(title, names)| match *title {
            "Also" => format!("Also: {}\n", names.join(", ")),
            _ => {
                let lines = names.iter().map(|name| terminal.entry(13, &format!("  {name}"), &about(name)));
                format!("{title}:\n{}", lines.collect::<String>())
            }
        })
        .collect();
    let help = format!(
        "{{about}}\n\n{{usage-heading}} equipoise COMMAND\n\n{}\n\
         Every command has --help, which says more, and --json, --seed N and --quiet.\n\
         Start with:  equipoise demo\n",
        groups.join("\n")
    );
    program.help_template(help)
}

/// What was typed as a command line; whoever asks for help gets it, and what is wrong is said, and then all ends.
pub fn read(typed: Vec<OsString>) -> anyhow::Result<CommandLine> {
    let mut program = program();
    let first = typed.iter().skip(1).filter_map(|word| word.to_str()).find(|word| !word.starts_with('-'));
    if let Some(word) = first.filter(|word| program.find_subcommand(word).is_none())
        && program.find_subcommand("study").is_some_and(|study| study.find_subcommand(word).is_some())
    {
        let what =
            format!("there is no command `equipoise {word}`; studies have `equipoise study {word} DIR`");
        return Err(Fault::usage(what).into());
    }
    let matches = program.try_get_matches_from_mut(typed).unwrap_or_else(|error| error.exit());
    Ok(CommandLine::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut program).exit()))
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

    #[test]
    fn the_first_help_names_every_command_once() {
        let mut listed: Vec<&str> =
            super::GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let program = super::program();
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
        let mut all: Vec<&str> = shown.map(|command| command.get_name()).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
    }

    /// Lines people type, a word on each line.
    const LINES: [&str; 16] = [
        "elicit\nval.csv\n--ask\ncases\n--oracle\n6:1\n--budget\n12",
        "elicit\n--from-decisions\npast.csv\n--scores\nrisk\n--decision\ntreated\n--by\ndoctor\n--positive\nyes",
        "gate\n--champion\na.csv\n--challenger\nb.csv\n--metric\n7:1\n--margin\n0.01\n--attributes\nm.json",
        "choose\nfront.csv\n--minimize\nprice,latency_ms\n--oracle\nprice=2\n--among\nall",
        "simulate\n--repeat\n100\nfile.json",
        "threshold\nval.csv\n--metric\n7:1\n--require\nrecall:ill>=0.9",
        "elicit\nval.csv\n--around\n--regret\n0.01\n--seed\n7",
        "rank\na.csv\nb.csv\n--metric\nf1\n--json",
        "study\nserve\nstudy\n--listen\n127.0.0.1:8080\n--researchers\n127.0.0.1:8081\n--invite\n3",
        "study\naccount\ntoken\nadd\nstudy\nana\n--name\nnightly\n--scope\nexport\n--days\n90",
        "study\ninvite\ns\n--count\n5",
        "study\nerase\ns\n3\n--yes",
        "study\nverify\ns\n--repair",
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
