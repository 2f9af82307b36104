//! The arguments of `equipoise demo`.

use super::positive;
use clap::Args;
use std::path::PathBuf;

/// Watch a metric being recovered from comparisons, or answer them yourself
#[derive(Debug, Args)]
#[command(after_help = "\
A screening test for cancer can be set to miss fewer cancers at the price of more false alarms. An expert, \
simulated or you, is shown pairs of settings and says which is better. From about ten answers Equipoise finds how many \
false alarms one missed cancer is worth, how sure that is, and the setting that follows; what the published search would \
have asked stands beside it.

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
    /// Show what is known after every answer, which may sway the next
    #[arg(long, requires = "ask")]
    pub watch: bool,
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
