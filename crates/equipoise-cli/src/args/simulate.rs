//! The arguments of `equipoise simulate`.

use clap::Args;
use std::path::PathBuf;

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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub repeat: Option<u32>,
    /// Where to write a picture of the errors of --repeat
    #[arg(long, value_name = "FILE", requires = "repeat")]
    pub svg: Option<PathBuf>,
}
