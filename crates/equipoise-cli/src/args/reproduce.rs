//! The arguments of `equipoise reproduce`.

use clap::Args;
use std::path::PathBuf;

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
