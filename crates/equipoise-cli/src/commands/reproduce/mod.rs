//! `equipoise reproduce`: the papers' tables and figures, printed beside ours.
//!
//! Every experiment returns a [`Report`]: tables (paper, ours, questions, difference), checks that say in one sentence
//! what should hold and what was found, remarks about rows that cannot be reproduced and why, and plots.

mod ball;
mod binary;
mod data;
mod diagonal;
mod fair;
mod quadratic;
mod ranking;
mod samples;
mod study;

use crate::args::{Global, Reproduce};
use crate::fault::{FINDING, Fault};
use crate::progress::Progress;
use crate::terminal::Terminal;
use crate::{files, json, table};
use anyhow::Result;
use data::{Data, NoData};
use equipoise::stream;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &Reproduce, global: &Global) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    if args.ids.is_empty() && !args.all {
        list(global, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let chosen: Vec<&Experiment> = if args.all {
        EXPERIMENTS.iter().collect()
    } else {
        args.ids.iter().map(|id| Experiment::find(id)).collect::<Result<_>>()?
    };
    let settings = Settings {
        seed: global.seed.unwrap_or(1),
        metrics: args.metrics as usize,
        progress: global.shows_progress(),
        data: Data::new(args.data.as_deref()),
    };
    let (mut finished, mut skipped) = (vec![], vec![]);
    for experiment in chosen {
        let report = match experiment.run(&settings) {
            // Among many, an experiment without its data is left out; asked for by name, it is an error.
            Err(error) if args.all && error.is::<NoData>() => {
                let (id, title, why) = (experiment.id, experiment.title, error.to_string());
                if !global.json {
                    let terminal = Terminal::detect();
                    let said = terminal.paragraph(&format!("skipped: no data ({why})"));
                    writeln!(out, "{}\n\n{said}\n", terminal.bold(title))?;
                }
                skipped.push(Skipped { id, title, skipped: "no data", why });
                continue;
            }
            report => report?,
        };
        let mut plots = vec![];
        if !args.no_svg && !report.plots.is_empty() {
            std::fs::create_dir_all(&args.svg)
                .map_err(|e| Fault::input_output(format!("cannot make {}: {e}", args.svg.display())))?;
            for (name, svg) in &report.plots {
                let path = args.svg.join(name);
                files::write(&path, svg)?;
                plots.push(path);
            }
        }
        if !global.json {
            print(experiment, &report, &plots, global, &mut out)?;
        }
        finished.push(Finished {
            id: experiment.id,
            title: experiment.title,
            seed: settings.seed,
            report,
            plots,
        });
    }
    let holds = finished.iter().flat_map(|done| &done.report.checks).all(|check| check.holds);
    if global.json {
        #[derive(Serialize)]
        struct Document<'a> {
            format: u64,
            holds: bool,
            experiments: &'a [Finished],
            #[serde(skip_serializing_if = "<[Skipped]>::is_empty")]
            skipped: &'a [Skipped],
        }
        let document =
            Document { format: equipoise::FORMAT, holds, experiments: &finished, skipped: &skipped };
        json::write(&document, &mut out)?;
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

/// An experiment and what came of it.
#[derive(Serialize)]
struct Finished {
    id: &'static str,
    title: &'static str,
    seed: u64,
    #[serde(flatten)]
    report: Report,
    plots: Vec<PathBuf>,
}

/// An experiment that was left out.
#[derive(Serialize)]
struct Skipped {
    id: &'static str,
    title: &'static str,
    skipped: &'static str,
    why: String,
}

fn list(global: &Global, out: &mut impl Write) -> Result<()> {
    if global.json {
        #[derive(Serialize)]
        struct Entry {
            id: &'static str,
            title: &'static str,
        }
        let entries: Vec<Entry> = EXPERIMENTS.iter().map(|e| Entry { id: e.id, title: e.title }).collect();
        return Ok(json::write(&entries, out)?);
    }
    for experiment in &EXPERIMENTS {
        writeln!(out, "{:<4} {}", experiment.id, experiment.title)?;
    }
    writeln!(out, "\nRun one with:  equipoise reproduce a1")?;
    Ok(())
}

fn print(
    experiment: &Experiment,
    report: &Report,
    plots: &[PathBuf],
    global: &Global,
    out: &mut impl Write,
) -> Result<()> {
    let terminal = Terminal::detect();
    writeln!(out, "{}", terminal.bold(experiment.title))?;
    for part in &report.tables {
        writeln!(out, "\n{}\n", terminal.paragraph(&part.title))?;
        let mut shown = table::Table::new(terminal, part.header.clone());
        for row in &part.rows {
            shown.row(row.clone());
        }
        write!(out, "{shown}")?;
    }
    writeln!(out)?;
    for check in &report.checks {
        let mark = if check.holds { "holds" } else { "DOES NOT HOLD" };
        writeln!(
            out,
            "{}",
            terminal.paragraph(&format!("{mark}: {} (found: {})", check.claim, check.found))
        )?;
    }
    if !global.quiet {
        for remark in &report.remarks {
            writeln!(out, "\n{}", terminal.paragraph(remark))?;
        }
        for plot in plots {
            writeln!(out, "\nPlot: {}", plot.display())?;
        }
    }
    writeln!(out)?;
    Ok(())
}

/// One table or figure of the papers.
pub struct Experiment {
    /// What it is called on the command line.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    how: How,
}

/// What an experiment needs.
enum How {
    /// A seed.
    Simulated(fn(&Settings) -> Report),
    /// Predictions or pools, which may be missing.
    OnData(fn(&Settings) -> Result<Report>),
}

/// All experiments, in the order of the thesis.
pub const EXPERIMENTS: [Experiment; 18] = [
    Experiment {
        id: "a1",
        title: "Table A.1: two-class linear metrics",
        how: How::Simulated(binary::table_a1),
    },
    Experiment {
        id: "a2",
        title: "Table A.2: two-class linear-fractional metrics",
        how: How::OnData(binary::table_a2),
    },
    Experiment {
        id: "a3",
        title: "Table A.3: two-class linear metrics on real data",
        how: How::OnData(samples::table_a3),
    },
    Experiment {
        id: "b1",
        title: "Table B.1: weighted accuracy, 3 and 4 classes",
        how: How::Simulated(diagonal::table_b1),
    },
    Experiment {
        id: "b2",
        title: "Table B.2: linear metrics on a sphere",
        how: How::Simulated(ball::table_b2),
    },
    Experiment {
        id: "b3",
        title: "Table B.3: spheres as small as rounding errors",
        how: How::Simulated(ball::table_b3),
    },
    Experiment {
        id: "b4",
        title: "Table B.4: diagonal fractions, 3 classes",
        how: How::Simulated(diagonal::table_b4),
    },
    Experiment {
        id: "b5",
        title: "Table B.5: diagonal fractions, 4 classes",
        how: How::Simulated(diagonal::table_b5),
    },
    Experiment {
        id: "4.2",
        title: "Figure 4.2: weighted accuracy on real data",
        how: How::OnData(samples::figure_4_2),
    },
    Experiment { id: "5.3", title: "Figure 5.3: group-fair metrics", how: How::Simulated(fair::figure_5_3) },
    Experiment {
        id: "5.4",
        title: "Figure 5.4: real classifiers ranked by group-fair metrics",
        how: How::OnData(ranking::figure_5_4),
    },
    Experiment {
        id: "6.3",
        title: "Figure 6.3: quadratic and group-fair quadratic metrics",
        how: How::Simulated(quadratic::figure_6_3),
    },
    Experiment {
        id: "6.4",
        title: "Figure 6.4: quadratic elicitation against equal coefficients",
        how: How::Simulated(quadratic::figure_6_4),
    },
    Experiment {
        id: "6.5",
        title: "Figure 6.5: with and without Assumption 6.4",
        how: How::Simulated(quadratic::figure_6_5),
    },
    Experiment {
        id: "6.6",
        title: "Figure 6.6: slope ratios over 1000 runs",
        how: How::Simulated(quadratic::figure_6_6),
    },
    Experiment {
        id: "6.7",
        title: "Figure 6.7: real classifiers ranked by quadratic metrics",
        how: How::OnData(ranking::figure_6_7),
    },
    Experiment {
        id: "6.8",
        title: "Figure 6.8: real classifiers ranked by group-fair quadratic metrics",
        how: How::OnData(ranking::figure_6_8),
    },
    Experiment {
        id: "8.4",
        title: "Table 8.4: ten simulated subjects at the printed weights",
        how: How::Simulated(study::table_8_4),
    },
];

/// What every experiment is told.
pub struct Settings {
    /// Seed of random metrics.
    pub seed: u64,
    /// How many random metrics per cell.
    pub metrics: usize,
    /// Whether to show progress.
    pub progress: bool,
    /// Where predictions and pools are.
    pub data: Data,
}

impl Settings {
    /// Runs a job for each number below `count`, on all cores, with a generator of its own; results in order.
    fn each<T: Send>(
        &self,
        label: &str,
        count: usize,
        job: impl Fn(&mut Xoshiro256PlusPlus) -> T + Sync,
    ) -> Vec<T> {
        let progress = Progress::new(label, count, self.progress);
        let one = |n: usize| {
            let result = job(&mut Xoshiro256PlusPlus::seed_from_u64(stream(self.seed, n as u64)));
            progress.step();
            result
        };
        (0..count).into_par_iter().map(one).collect()
    }
}

/// A table of text.
#[derive(Debug, Serialize)]
pub struct Table {
    /// What it lists.
    pub title: String,
    /// Column names.
    pub header: Vec<String>,
    /// Cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    fn new(title: &str, header: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            header: header.iter().map(|h| (*h).to_owned()).collect(),
            rows: vec![],
        }
    }

    fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }
}

/// Something that should hold, and what was found.
#[derive(Debug, Serialize)]
pub struct Check {
    /// What should hold.
    pub claim: String,
    /// What was found.
    pub found: String,
    /// Whether it holds.
    pub holds: bool,
}

/// What an experiment found.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Tables to print.
    pub tables: Vec<Table>,
    /// Claims and findings.
    pub checks: Vec<Check>,
    /// Sentences about rows that do not reproduce, and other things a reader should know.
    pub remarks: Vec<String>,
    /// Plots: file name and SVG text.
    #[serde(skip)]
    pub plots: Vec<(String, String)>,
}

impl Report {
    fn check(&mut self, claim: impl Into<String>, found: impl Into<String>, holds: bool) {
        self.checks.push(Check { claim: claim.into(), found: found.into(), holds });
    }
}

impl Experiment {
    fn run(&self, settings: &Settings) -> Result<Report> {
        match self.how {
            How::Simulated(run) => Ok(run(settings)),
            How::OnData(run) => run(settings),
        }
    }

    /// Finds an experiment by the name people use: `a1`, `A.1`, `5.3`, `fig5.3`.
    fn find(name: &str) -> Result<&'static Experiment> {
        let plain = |text: &str| -> String {
            let text = text.to_lowercase();
            let text =
                text.trim_start_matches("table").trim_start_matches("figure").trim_start_matches("fig");
            text.chars().filter(char::is_ascii_alphanumeric).collect()
        };
        EXPERIMENTS.iter().find(|experiment| plain(experiment.id) == plain(name)).ok_or_else(|| {
            let known: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
            Fault::usage(format!("\"{name}\" is not an experiment, expected one of {}", known.join(", ")))
                .into()
        })
    }
}

/// `(0.21, 0.59, 0.20)`.
fn vector(values: &[f64], digits: usize) -> String {
    // Adding zero turns -0.0 into 0.0, so no entry prints as -0.00.
    let one = |x: &f64| {
        format!("{:.digits$}", if x.abs() < 0.5 * 10_f64.powi(-(digits as i32)) { 0.0 } else { *x })
    };
    format!("({})", values.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation of the values themselves.
fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    (values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

/// The value below which a share of the values lies, by linear interpolation.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    let (low, rest) = (place.floor() as usize, place.fract());
    sorted[low] + rest * (sorted[(low + 1).min(sorted.len() - 1)] - sorted[low])
}

/// Smallest, quartiles, largest.
fn five_numbers(values: &[f64]) -> [f64; 5] {
    [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(values, share))
}
