//! What can be typed on the command line, with the help that explains it.

use crate::metrics;
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
    Inspect(Inspect),
    Threshold(Threshold),
    Elicit(Box<Elicit>),
    Score(Score),
    Rank(Rank),
    Plan(PlanAhead),
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
  equipoise reproduce 5.4              Figure 5.4: pools of classifiers on real data, ranked
  equipoise reproduce --all            everything, some minutes

a3, 4.2, 5.4, 6.7 and 6.8 use real data, and a2 if it is there: what experiments/train.py makes. The repository has it \
in the directory experiments.")]
pub struct Reproduce {
    /// Which: a1 a2 a3 b1 b2 b3 b4 b5 4.2 5.3 5.4 6.3 6.4 6.5 6.6 6.7 6.8 8.4
    #[arg(value_name = "ID", conflicts_with = "all")]
    pub ids: Vec<String>,
    /// Every experiment
    #[arg(long)]
    pub all: bool,
    /// Random metrics per cell, where an experiment draws them
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub metrics: u32,
    /// The directory of predictions and pools, as experiments/train.py makes it [default: experiments]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
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
  equipoise bench queries --pools --metrics 100  questions until the best of twenty models is known
  equipoise bench queries --people             2,000 people whose noise is unknown
  equipoise bench queries --people --largest 1 the same, cost ratios only
  equipoise bench sessions --count 100000      respondents that try to break the adaptive plans")]
pub struct Bench {
    /// What to measure
    #[arg(value_name = "WHAT", value_parser = ["queries", "sessions"])]
    pub what: String,
    /// Hidden metrics per cell
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub metrics: u32,
    /// With wrong and uncertain answers instead of clean ones
    #[arg(long)]
    pub noise: bool,
    /// Find the best of twenty candidate models instead of the weights
    #[arg(long, conflicts_with_all = ["noise", "largest"])]
    pub pools: bool,
    /// Answers of a population of people whose noise is unknown: coverage of the cost ratio's interval, of the certified
    /// angle for more than two weights, and of the range of questions left
    #[arg(long, conflicts_with = "noise")]
    pub people: bool,
    /// How many adversarial sessions
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub count: u32,
    /// Only cells of at most this many weights
    #[arg(long, value_name = "D", default_value_t = 45)]
    pub largest: usize,
}

/// See what a table of predictions has and what classifiers it allows
#[derive(Debug, Args)]
#[command(after_help = "\
TABLE is CSV (also .gz), JSON Lines or Parquet with the true class and the predicted probabilities of every row, maybe \
groups and weights. Printed are the classes and groups, how well the probabilities are calibrated, how well each pair of \
classes can be told apart, and how large a ball of error rates is certainly achievable. The exit code is 1 if there are \
warnings.

Examples:
  equipoise inspect examples/tables/screening.csv
  equipoise inspect --truth outcome --scores risk --positive died --group sex,site val.parquet")]
pub struct Inspect {
    /// The table of predictions
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    #[command(flatten)]
    pub columns: TableColumns,
    /// Where to write the picture of what is achievable and of the calibration
    #[arg(long, value_name = "FILE", default_value = "equipoise-inspect.svg")]
    pub svg: PathBuf,
    /// Write no picture
    #[arg(long, conflicts_with = "svg")]
    pub no_svg: bool,
}

/// Set the threshold, or the rule for many classes, that a metric wants
#[derive(Debug, Args)]
#[command(after_help = "\
Two thresholds are put side by side: the one that theory gives if the probabilities are calibrated (Bayes), and the \
best one on the table. The second is advised only where it is clearly better on rows it was not chosen on. With more \
than two classes the rule is a matrix of weights. The exit code is 1 if no rule meets the requirements.

A requirement is recall, precision, fpr, fnr or coverage of a class, rate:TRUTH->ESTIMATE, or accuracy, with @GROUP for \
one group only.

Examples:
  equipoise threshold examples/tables/screening.csv --metric 7:1
  equipoise threshold examples/tables/screening.csv --metric f2 --per-group
  equipoise threshold examples/tables/screening.csv --metric 7:1 --require 'recall:malignant>=0.9'
  equipoise threshold examples/tables/triage.csv --metric balanced_accuracy")]
pub struct Threshold {
    /// The table of predictions
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    #[command(flatten)]
    pub columns: TableColumns,
    /// The metric: a document, a name (accuracy, f1, f2, jaccard, g_mean, equalised_odds, ...), or a cost ratio such as 7:1
    #[arg(long, value_name = "METRIC")]
    pub metric: String,
    /// What the rule must keep to, such as recall:malignant>=0.9 or fpr:malignant@north<=0.1; may be repeated
    #[arg(long, value_name = "REQUIREMENT")]
    pub require: Vec<String>,
    /// A threshold for every group
    #[arg(long)]
    pub per_group: bool,
    /// Draws of the metric and of the rows behind the intervals [default: 200, fewer for large tables]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub draws: Option<u32>,
    /// The probability that intervals have
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = inner_share)]
    pub level: f64,
    /// Where to write the decision curve
    #[arg(long, value_name = "FILE", default_value = "equipoise-threshold.svg")]
    pub svg: PathBuf,
    /// Write no picture
    #[arg(long, conflicts_with = "svg")]
    pub no_svg: bool,
}

/// Find your metric by comparing classifiers that your own predictions allow
#[derive(Debug, Args)]
#[command(after_help = "\
TABLE has a row per case: its true class and the probabilities a model gives to the classes. Two classes and a linear \
metric: you compare thresholds, and the answer is a cost ratio with its interval. More classes, or other families: you \
compare classifiers within a ball of error rates that this table certainly allows; group families do so within each \
group. The answers are saved after each one. The exit code is 1 if they do not single out a metric.

Examples:
  equipoise elicit val.csv                                you answer; q saves
  equipoise elicit val.csv --resume val.interview.json    you go on
  equipoise elicit val.csv --oracle 6:1 --noise logistic:200
  equipoise elicit val.csv --family group_fair --group sex --oracle-command ./ask.sh

An oracle command is started once. It reads one question per line, a JSON object with the classifiers `first` and \
`second` as lists of {truth, estimate, group, count, rate}, and prints one line per answer: first, second or tie, or \
{\"answer\": \"first\"}.")]
pub struct Elicit {
    /// The predictions: CSV, JSON Lines or Parquet
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    /// What kind of metric to look for
    #[arg(long, value_name = "FAMILY", default_value = "linear", value_parser = [
        "linear", "linear_fractional", "quadratic", "polynomial", "group_fair", "group_fair_quadratic",
    ])]
    pub family: String,
    /// How to ask: adaptive, antipodal or paper [default: the first of these the family has]
    #[arg(long, value_name = "METHOD", value_parser = ["adaptive", "antipodal", "paper"])]
    pub method: Option<String>,
    /// Ask until the weights are known to this angle, in radians [default: 0.05]
    #[arg(long, value_name = "T", value_parser = positive)]
    pub tolerance: Option<f64>,
    /// Ask until the ends of a cost ratio's interval differ by this factor [default: 1.6]
    #[arg(long, value_name = "FACTOR", value_parser = positive, conflicts_with = "tolerance")]
    pub width: Option<f64>,
    /// At most this many questions, where the method can stop early
    #[arg(long, value_name = "N")]
    pub budget: Option<usize>,
    /// How answers are believed to come about: exact, flip:P or logistic:S [default: the method's own]
    #[arg(long, value_name = "MODEL", value_parser = worded)]
    pub answers: Option<Worded>,
    /// Let a program answer, one JSON line per question in, one line per answer out
    #[arg(long, value_name = "CMD")]
    pub oracle_command: Option<String>,
    /// Seconds the program has for each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive, requires = "oracle_command")]
    pub answer_within: f64,
    /// Let a simulated expert answer who holds this metric: a document, a name, or a ratio such as 6:1
    #[arg(long, value_name = "METRIC", conflicts_with = "oracle_command")]
    pub oracle: Option<String>,
    /// How the simulated expert errs: none, flip:P, band:W, or logistic:S, in the metric's own units
    #[arg(long, value_name = "NOISE", value_parser = worded, requires = "oracle")]
    pub noise: Option<Worded>,
    /// Where to write the metric
    #[arg(long, value_name = "FILE", default_value = "metric.json")]
    pub out: PathBuf,
    /// Where to keep the answers [default: TABLE's name with .interview.json]
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Go on with saved answers; they stay in FILE unless --save names another
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "family", "method", "tolerance", "width", "budget", "answers",
    ])]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub columns: TableColumns,
}

/// Say what a model is worth under a metric, with intervals
#[derive(Debug, Args)]
#[command(after_help = "\
FILE is a table of predictions, or confusion matrices as long records {model, group, truth, estimate, count}. The interval \
allows for the sample and, if the metric came from answers, for what they left open.

Examples:
  equipoise score val.csv --metric metric.json
  equipoise score val.csv --metric f2 --threshold 0.3
  equipoise score pool.csv --metric balanced_accuracy --json")]
pub struct Score {
    /// The predictions or the confusion matrices
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub judged: Judged,
}

/// Put models in the order of a metric and say how sure that order is
#[derive(Debug, Args)]
#[command(after_help = "\
MODELS are tables of predictions, one per model and named after the file, or files of confusion matrices as long records \
{model, group, truth, estimate, count}. Models with predictions for the same rows are compared on the same resampled rows. \
The exit code is 1 if the best model cannot be told from the next ones.

Examples:
  equipoise rank forest.csv boosting.csv --metric metric.json
  equipoise rank pool.csv --metric metric.json --against f1 --svg ranking.svg

--against takes a metric, the JSON of another `rank --json`, or a text file with a model per line, best first. This \
ranking is then judged by that one: NDCG with exponential gain, and Kendall's tau.")]
pub struct Rank {
    /// The models
    #[arg(value_name = "MODELS", required = true)]
    pub models: Vec<PathBuf>,
    /// Compare with the order of another metric, or with another ranking
    #[arg(long, value_name = "METRIC|FILE")]
    pub against: Option<String>,
    /// Where to write a picture of the intervals
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub judged: Judged,
}

/// By what models are judged, and how their uncertainty is found.
#[derive(Debug, Args)]
pub struct Judged {
    #[arg(long, value_name = "METRIC", help = format!("By what to judge: {}", metrics::HELP))]
    pub metric: String,
    /// Predict the positive one of two classes from this probability on [default: the most likely class]
    #[arg(long, value_name = "T", value_parser = share)]
    pub threshold: Option<f64>,
    /// How many resamples of the rows [default: 1000, fewer for large tables]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub draws: Option<u32>,
    /// The probability of intervals and of the best model
    #[arg(long, value_name = "P", default_value_t = equipoise::rank::LEVEL, value_parser = inner_share)]
    pub level: f64,
    #[command(flatten)]
    pub columns: TableColumns,
}

/// A word with a number, as in `logistic:20`.
#[derive(Debug, Clone, PartialEq)]
pub struct Worded {
    /// The word.
    pub kind: String,
    /// What stands after the colon.
    pub number: Option<f64>,
}

fn worded(text: &str) -> Result<Worded, String> {
    let (kind, number) = match text.split_once(':') {
        None => (text, None),
        Some((kind, number)) => {
            let parsed = number.parse::<f64>().ok().filter(|number| number.is_finite());
            let parsed =
                parsed.ok_or_else(|| format!("found \"{number}\" after the colon, expected a number"))?;
            (kind, Some(parsed))
        }
    };
    Ok(Worded { kind: kind.to_owned(), number })
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

/// Simulate experts before any human is asked: questions, error, coverage
#[derive(Debug, Args)]
#[command(after_help = "\
FILE is a space, a plan or a simulation as a JSON document, or a table of predictions (CSV, JSON Lines, Parquet, Arrow): two \
classes are asked about their thresholds, more about a ball of error rates. Experts are drawn from a population of \
people unless --noise says otherwise. The exit code is 1 if the 95 % interval holds the truth in fewer than 93 % or more than \
97 % of the sessions, or if more than 20 % of them are asked as many questions as allowed.

Examples:
  equipoise plan examples/simulations/logistic_linear_adaptive.json
  equipoise plan predictions.csv --noise logistic:20,lapse:0.02 --experts 200")]
pub struct PlanAhead {
    /// A document or a table
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How they err: logistic:SLOPE,lapse:SHARE in units of the space, flip:SHARE, or none
    #[arg(long, value_name = "NOISE")]
    pub noise: Option<String>,
    /// How many experts
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub experts: u32,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("expected a number greater than 0".to_owned()),
    }
}
