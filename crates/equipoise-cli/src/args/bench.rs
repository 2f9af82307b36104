//! The arguments of `equipoise bench`.

use super::positive;
use clap::Args;
use clap::builder::PossibleValuesParser;
use equipoise_study::template::TEMPLATES;
use std::path::PathBuf;

fn templates() -> PossibleValuesParser {
    PossibleValuesParser::new(TEMPLATES.map(|template| template.name))
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
  equipoise bench queries --task fractional    only the cells of that name
  equipoise bench people                       what people are asked about real tables, and what they would regret
  equipoise bench people --table val.csv --table adult.csv:sex --participants 100
  equipoise bench choose                       which model of a front is whose: questions, regret, its bound
  equipoise bench human --data DIR             recorded choices of real people: some predict the others
  equipoise bench decisions                    whether intervals from past decisions hold what experts of 6 : 1 held
  equipoise bench sessions --count 100000      respondents that try to break the adaptive plans
  equipoise bench server                       500 simulated participants of a web study: how long they wait
  equipoise bench cohort                       200 simulated participants of a web study: what comes out for them
  equipoise bench server --watchers 5          the same while five researchers watch, by turns
  equipoise bench server --hostile             the same beside one who holds a link and wants to hurt the others, by turns
  equipoise bench server --together            all of them answer within one second, again and again
  equipoise bench server --rate 1000           so many answers a second whether or not the server keeps up, then twice as many
  equipoise bench scale --participants 10000   a study that many have taken: start, watch, report, backup, memory")]
pub struct Bench {
    /// What to measure
    #[arg(value_name = "WHAT", value_parser = ["queries", "people", "choose", "human", "decisions", "sessions", "server", "cohort", "scale"])]
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
    /// people: a table, and after a colon the column of its groups; choose: a front [default: those of the repository]
    #[arg(long = "table", value_name = "FILE[:GROUP]")]
    pub tables: Vec<String>,
    /// people: end the questions at this expected regret instead of where they end for people
    #[arg(long, value_name = "SHARE", value_parser = positive)]
    pub regret: Option<f64>,
    /// human: the directory of train_choices.csv.gz and electricity_choices.csv.gz
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// How many adversarial sessions
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub count: u32,
    /// Only cells of at most this many weights
    #[arg(long, value_name = "D", default_value_t = 45)]
    pub largest: usize,
    /// Only tasks with this in their name, such as "fractional" or "q=6, slope"
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    /// people, choose, decisions, server, cohort, scale: simulated participants [default: 200, decisions and server: 500, scale:
    /// 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub participants: Option<u32>,
    /// server, scale: the study
    #[arg(long, value_name = "TEMPLATE", default_value = "binary-cancer", value_parser = templates())]
    pub template: String,
    /// server: all answer within a second, once in as long as they think
    #[arg(long, conflicts_with = "rate")]
    pub together: bool,
    /// server: answers a second that are sent whether or not the server keeps up: a quarter, a half, all and twice of it
    #[arg(long, value_name = "N", value_parser = positive)]
    pub rate: Option<f64>,
    /// server: researchers who watch the live page meanwhile
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub watchers: u32,
    /// server: beside them, by turns, somebody who holds a link and sends whatever costs most
    #[arg(long, conflicts_with_all = ["watchers", "rate"])]
    pub hostile: bool,
    /// server: seconds they think about a comparison, on average
    #[arg(long, value_name = "S", default_value_t = 6.0, value_parser = positive)]
    pub think: f64,
    /// server: seconds over which answers are counted, after all have arrived
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = positive)]
    pub seconds: f64,
    /// server: an empty PostgreSQL database for the log, such as postgres://equipoise@127.0.0.1/bench [default: a file]
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// server: be the server that is measured, which the bench starts in a process of its own
    #[arg(long, hide = true)]
    pub serving: bool,
}

impl Bench {
    /// How many answer at once.
    pub fn people_at_once(&self) -> u32 {
        self.participants.unwrap_or(500)
    }

    /// How many have taken a study.
    pub fn people_of_crowd(&self) -> u32 {
        self.participants.unwrap_or(1000)
    }

    /// How many take a whole study.
    pub fn people_of_cohort(&self) -> usize {
        self.participants.unwrap_or(200) as usize
    }
}
