//! What can be typed on the command line, with the help that explains it.

use crate::tables::TableColumns;
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
    Optimize(Box<Optimize>),
    Apply(Apply),
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
  equipoise bench queries --noise --metrics 200  wrong and uncertain answers: cost and coverage of the certified stop")]
pub struct Bench {
    /// What to measure
    #[arg(value_name = "WHAT", value_parser = ["queries"])]
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
}

/// Adjust a trained model's predictions so that they maximise a metric, without retraining
#[derive(Debug, Args)]
#[command(after_help = "\
The training table may have noisy labels or come from elsewhere; the validation table is small and clean. Both have the \
model's class probabilities. The result weighs those probabilities, class by class and basis by basis. Name --truth and --scores: \
the classifier keeps the names. A group column is for metrics about groups; the training table may do without it.

A basis is a column of numbers from 0 to 1 (say 0 and 1 for two kinds of rows), or one of the words argmax (one per class: \
rows the model finds it most likely for), kmeans:N (N clusters) and rbf:N (N soft clusters). Clusters are of the class \
probabilities, or of --features. All rows together are always a basis.

With --metric-command the metric is a program: it gets one line per validation row, a JSON list with the probability of each \
class, and prints one number, larger for better.

Examples:
  equipoise optimize --train train.csv --validation val.csv --test test.csv --truth y --scores p0,p1 --metric g_mean
  equipoise optimize --train train.csv --validation val.csv --truth y --scores p0,p1 --basis private,income --metric f1 --known
  equipoise optimize --train train.csv --validation val.csv --truth y --scores p0,p1 --metric-command 'python score.py'")]
pub struct Optimize {
    /// The table the model's probabilities are weighed on
    #[arg(long, value_name = "TABLE")]
    pub train: PathBuf,
    /// The small clean table the metric is evaluated on
    #[arg(long, value_name = "TABLE")]
    pub validation: PathBuf,
    /// A table to report on that plays no part in optimising
    #[arg(long, value_name = "TABLE")]
    pub test: Option<PathBuf>,
    /// What weights may depend on: columns, argmax, kmeans:N, rbf:N
    #[arg(long, value_name = "BASIS,...", value_delimiter = ',')]
    pub basis: Vec<String>,
    /// The coordinates of kmeans and rbf [default: the class probabilities]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub features: Vec<String>,
    /// The width of rbf
    #[arg(long, value_name = "W", default_value_t = 1.0, value_parser = positive, allow_negative_numbers = true)]
    pub width: f64,
    /// What to maximise: a name (g_mean, macro_f, accuracy, f1, ...), a cost ratio such as 7:1, or a metric document
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "metric_command")]
    pub metric: Option<String>,
    /// What to maximise: a command that is given predictions and prints one number
    #[arg(long, value_name = "CMD", conflicts_with_all = ["metric", "known"])]
    pub metric_command: Option<String>,
    /// What the command takes: probabilities, or labels as zeros and a one
    #[arg(long, value_name = "SORT", default_value = "soft", value_parser = ["soft", "hard"], requires = "metric_command")]
    pub labels: String,
    /// How many seconds the command may take
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = positive, requires = "metric_command", allow_negative_numbers = true)]
    pub time_limit: f64,
    /// Use the gradient of the metric instead of probing it
    #[arg(long)]
    pub known: bool,
    /// How many steps Frank-Wolfe makes; 1 is the plug-in with elicited weights
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub iterations: u32,
    /// How far probes move predictions [default: 0.001, or 0.4 for labels]
    #[arg(long, value_name = "EPS", value_parser = positive, allow_negative_numbers = true)]
    pub step: Option<f64>,
    /// What is weighed: correct predictions, or every entry of the confusion matrix [default: general from 3 classes]
    #[arg(long, value_name = "FORM", value_parser = ["diagonal", "general"])]
    pub form: Option<String>,
    /// How the metric is probed: fixed moves, or classifiers that satisfy constraints (the bases must be a partition)
    #[arg(long, value_name = "PROBES", default_value = "fixed", value_parser = ["fixed", "constraints"])]
    pub probes: String,
    /// Whether cross-validation may leave bases out; auto does so where validation rows are few
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "always", "never"])]
    pub select: String,
    /// Leave the comparison with simpler methods out
    #[arg(long)]
    pub no_baselines: bool,
    /// Where to write the classifier
    #[arg(long, value_name = "FILE", default_value = "classifier.json")]
    pub classifier: PathBuf,
    #[command(flatten)]
    pub columns: TableColumns,
}

/// Predict the rows of a table with a classifier that was optimised
#[derive(Debug, Args)]
#[command(after_help = "\
TABLE needs the columns of probabilities and bases the classifier was made with; a truth column is not needed. The \
predictions are CSV, one line per row under the heading `prediction`.

Examples:
  equipoise apply new.csv --classifier classifier.json
  equipoise apply new.csv --classifier classifier.json --output predictions.csv")]
pub struct Apply {
    /// The rows to predict
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    /// The classifier that `optimize` wrote
    #[arg(long, value_name = "FILE", default_value = "classifier.json")]
    pub classifier: PathBuf,
    /// The probability columns, one per class in the classifier's order, if they have other names now
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub scores: Option<Vec<String>>,
    /// Where to write the predictions [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("expected a number greater than 0".to_owned()),
    }
}
