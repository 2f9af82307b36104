//! What can be typed on the command line, with the help that explains it.

use clap::{Args, Parser, Subcommand};
use std::io::IsTerminal as _;
use std::path::PathBuf;

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
    #[arg(long, global = true, value_name = "N")]
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
    Serve(Serve),
    #[command(flatten)]
    Study(crate::commands::study::Command),
}

/// Watch a metric being recovered from comparisons, or answer them yourself
#[derive(Debug, Args)]
#[command(after_help = "\
A screening test for cancer can be set to miss fewer cancers at the price of more false alarms. An expert, \
simulated or you, is shown pairs of settings and says which is better. From the answers alone Equipoise finds how \
many false alarms one missed cancer is worth.

Examples:
  equipoise demo                      a simulated expert to whom a miss is 6 false alarms
  equipoise demo --ratio 20 --all     another expert, every question in full
  equipoise demo --ask                you answer; q saves
  equipoise demo --web                you answer in a browser, as a participant of a study
  equipoise demo --ask --resume equipoise-demo.interview.json")]
pub struct Demo {
    /// How many false alarms a missed cancer is worth to the simulated expert
    #[arg(long, value_name = "R", default_value_t = 6.0, value_parser = positive, allow_negative_numbers = true)]
    pub ratio: f64,
    /// Show every question in full, not only the first three
    #[arg(long)]
    pub all: bool,
    /// Let the person at the keyboard answer
    #[arg(long, conflicts_with_all = ["ratio", "all"])]
    pub ask: bool,
    /// Put the questions into a browser: a whole study, from consent to receipt
    #[arg(long, conflicts_with_all = ["ratio", "all", "ask"])]
    pub web: bool,
    /// The port of --web; any free one if left out
    #[arg(long, value_name = "PORT", requires = "web", default_value_t = 0)]
    pub port: u16,
    /// Where --ask keeps the answers [default: equipoise-demo.interview.json]
    #[arg(long, value_name = "FILE", requires = "ask")]
    pub save: Option<PathBuf>,
    /// Go on with saved answers; they stay in FILE unless --save names another
    #[arg(long, value_name = "FILE", requires = "ask")]
    pub resume: Option<PathBuf>,
    /// Where to write the picture of what is achievable and what was asked
    #[arg(long, value_name = "FILE", default_value = "equipoise-demo.svg")]
    pub svg: PathBuf,
    /// Write no picture
    #[arg(long, conflicts_with = "svg")]
    pub no_svg: bool,
}

/// Elicit a hidden metric from a simulated oracle and see how close the result is
#[derive(Debug, Args)]
#[command(after_help = "\
FILE is a JSON document that names what is achievable (space), who answers (oracle: a hidden metric, perhaps with \
noise) and how to ask (plan). The exit code is 1 if the answers do not single out a metric.

Examples:
  equipoise simulate examples/simulations/logistic_linear.json
  equipoise simulate --repeat 100 --svg errors.svg examples/simulations/sphere_linear_noisy.json

A file looks like this:
  {\"format\": 1,
   \"space\": {\"kind\": \"logistic\", \"slope\": 5},
   \"oracle\": {
     \"metric\": {\"kind\": \"linear\", \"measure\": \"binary\", \"sense\": \"utility\", \"weights\": [6, 1]},
     \"noise\": {\"kind\": \"none\"}},
   \"plan\": {\"kind\": \"linear\", \"method\": \"paper\", \"tolerance\": 0.01},
   \"seed\": 7}")]
pub struct Simulate {
    /// The simulation; - reads it from standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Run with this many seeds in a row and summarise the errors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: Option<u32>,
    /// Where to write a picture of the errors of --repeat
    #[arg(long, value_name = "FILE", requires = "repeat")]
    pub svg: Option<PathBuf>,
}

/// Repeat a table or figure of the papers and print it beside the original
#[derive(Debug, Args)]
#[command(after_help = "\
Each experiment prints the paper's numbers, ours, how many questions were asked, and whether what should hold does. The \
exit code is 1 if something does not. Without an ID the experiments are listed.

Examples:
  equipoise reproduce a1               Table A.1
  equipoise reproduce 5.3 --metrics 20 Figure 5.3 with 20 random metrics per cell
  equipoise reproduce --all            everything, a minute or two")]
pub struct Reproduce {
    /// Which: a1 a2 b1 b2 b3 b4 b5 5.3 6.3 6.4 6.5 6.6 8.4
    #[arg(value_name = "ID", conflicts_with = "all")]
    pub ids: Vec<String>,
    /// Every experiment
    #[arg(long)]
    pub all: bool,
    /// Random metrics per cell, where an experiment draws them
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub metrics: u32,
    /// The directory for plots; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "equipoise-reproduce")]
    pub svg: PathBuf,
    /// Write no plots
    #[arg(long, conflicts_with = "svg")]
    pub no_svg: bool,
}

/// Measure how many questions the searches and the adaptive engine need
#[derive(Debug, Args)]
#[command(after_help = "\
Prints, side by side, the information floor in bits, the adaptive engine, and the papers' searches, for hidden metrics \
drawn at random. A ratio is questions over the floor (over the channel's capacity, with wrong answers).

Examples:
  equipoise bench queries                      clean answers
  equipoise bench queries --noise --metrics 200  wrong and uncertain answers: cost and coverage of the certified stop
  equipoise bench server                       500 simulated participants of a web study: how long they wait")]
pub struct Bench {
    /// What to measure
    #[arg(value_name = "WHAT", value_parser = ["queries", "server"])]
    pub what: String,
    /// Hidden metrics per cell
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub metrics: u32,
    /// With wrong and uncertain answers instead of clean ones
    #[arg(long)]
    pub noise: bool,
    /// Only cells of at most this many weights
    #[arg(long, value_name = "D", default_value_t = 45)]
    pub largest: usize,
    /// server: simulated participants at once
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub participants: u32,
    /// server: seconds they think about a comparison, on average
    #[arg(long, value_name = "S", default_value_t = 6.0, value_parser = positive)]
    pub think: f64,
    /// server: seconds over which answers are counted, after all have arrived
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = positive)]
    pub seconds: f64,
}

/// Serve a study to its participants over the web
#[derive(Debug, Args)]
#[command(after_help = "\
DIR holds a study that is locked; its log is begun if it is not there. Only this computer can reach the pages \
unless --listen says otherwise; put a proxy with TLS before them and name its address with --origin. Ctrl-C stops when all \
that has begun is finished. Everything acknowledged is on disk before.

Examples:
  equipoise serve cancer --invite 1                         try it: prints a link
  equipoise serve cancer --listen 127.0.0.1:8080 --origin https://study.example.org")]
pub struct Serve {
    /// The directory of the study
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// The address to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: std::net::SocketAddr,
    /// What people type before the path of a link, if not the address itself
    #[arg(long, value_name = "URL")]
    pub origin: Option<String>,
    /// Make so many new places and print their links
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub invite: usize,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("expected a number greater than 0".to_owned()),
    }
}
