//! `equipoise simulate`: an elicitation against a simulated oracle, compared with what was hidden.

use crate::args::{Global, Simulate};
use crate::fault::FINDING;
use crate::progress::Progress;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{coefficients, files, json};
use anyhow::{Context as _, Result};
use equipoise::ask::NoiseModel;
use equipoise::metric::Difference;
use equipoise::testing::Report;
use equipoise::{Metric, testing::Simulation};
use equipoise_plot::Plot;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Metrics with more coefficients than this are cut short in text; JSON has them all.
const MOST_ROWS: usize = 40;

/// How certain the intervals of coefficients are.
const LEVEL: f64 = 0.95;

/// Where the text of "Questions", "Error" and the like begins.
const INDENT: usize = 14;

/// What stands in place of a distance when there is none.
const OTHER_FAMILY: &str = "none to give: the hidden metric is of another family";

/// Runs the command.
pub fn run(args: &Simulate, global: &Global) -> Result<ExitCode> {
    let simulation =
        Simulation::from_json(&files::read(&args.file)?).with_context(|| files::name(&args.file))?;
    let simulation = match global.seed {
        Some(seed) => simulation.with_seed(seed),
        None => simulation,
    };
    let mut out = std::io::stdout().lock();
    match args.repeat {
        None => once(&simulation, global, &mut out),
        Some(runs) => repeat(&simulation, runs, args.svg.as_deref(), global, &mut out),
    }
}

fn once(simulation: &Simulation, global: &Global, out: &mut impl Write) -> Result<ExitCode> {
    let report = simulation.run();
    if global.json {
        json::write(&report, out)?;
    } else {
        let terminal = Terminal::detect();
        if !global.quiet {
            write_setting(simulation, terminal, out)?;
        }
        write_metric(simulation.metric(), &report.metric, terminal, out)?;
        writeln!(out)?;
        writeln!(out, "Questions     {}", report.queries)?;
        let error = report.error.as_ref().map_or(OTHER_FAMILY.to_owned(), in_words);
        write!(out, "{}", terminal.entry(INDENT, "Error", &error))?;
        writeln!(out, "Identifiable  {}", if report.identifiable { "yes" } else { "no" })?;
        write_notes(&report.notes, terminal, out)?;
    }
    Ok(exit(report.identifiable))
}

/// What is asked of whom.
fn write_setting(simulation: &Simulation, terminal: Terminal, out: &mut impl Write) -> Result<()> {
    let mut plan = serde_json::to_value(simulation.plan())?;
    let space = plan.as_object_mut().and_then(|plan| plan.remove("space")).unwrap_or(Value::Null);
    let noise = serde_json::to_value(simulation.noise())?;
    let lines = [("Space", settings(&space)), ("Plan", settings(&plan)), ("Noise", settings(&noise))];
    for (name, text) in lines {
        write!(out, "{}", terminal.entry(INDENT, name, &text))?;
    }
    writeln!(out)?;
    Ok(())
}

/// The plain fields of a document as one line: "linear, method paper, tolerance 0.01".
fn settings(document: &Value) -> String {
    let Some(fields) = document.as_object() else { return document.to_string() };
    let plain = |value: &Value| match value {
        Value::String(word) => Some(word.replace('_', " ")),
        Value::Number(number) => Some(number.as_f64().map_or(number.to_string(), short)),
        _ => None,
    };
    let parts = fields.iter().filter_map(|(field, value)| {
        let value = plain(value)?;
        Some(if field == "kind" { value } else { format!("{} {value}", field.replace('_', " ")) })
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// A setting as it was meant: a tenth of 0.1 is 0.01, whatever the last bit says.
fn short(value: f64) -> String {
    format!("{value:.9e}").parse::<f64>().unwrap_or(value).to_string()
}

fn write_metric(hidden: &Metric, elicited: &Metric, terminal: Terminal, out: &mut impl Write) -> Result<()> {
    let sense = format!("{:?}", elicited.sense()).to_lowercase();
    let kind = elicited.family().kind().replace('_', " ");
    writeln!(out, "Elicited {kind} metric, a {sense} in normal form:\n")?;
    let (hidden, mut elicited) = (hidden.normal_form(), elicited.normal_form());
    if let Some(names) = hidden.class_names() {
        elicited = elicited.with_class_names(names.to_vec())?;
    }
    let comparable = hidden.family().kind() == elicited.family().kind() && hidden.sense() == elicited.sense();
    let truth = if comparable { coefficients::named(&hidden) } else { vec![] };
    let rows = coefficients::named(&elicited);
    let ranges = coefficients::ranges(&elicited, LEVEL);
    let mut headings = vec!["coefficient"];
    headings.extend(comparable.then_some("hidden"));
    headings.push("elicited");
    headings.extend(ranges.as_ref().map(|_| "95 % interval"));
    let mut table = Table::new(terminal, headings);
    for (n, (name, value)) in rows.iter().take(MOST_ROWS).enumerate() {
        let mut row = vec![name.clone()];
        row.extend(truth.get(n).map(|(_, truth)| number(*truth)));
        row.push(number(*value));
        row.extend(ranges.as_ref().map(|ranges| ranges[n].map(number).join(" to ")));
        table.row(row);
    }
    write!(out, "{table}")?;
    if rows.len() > MOST_ROWS {
        writeln!(out, " and {} more; --json prints all", rows.len() - MOST_ROWS)?;
    }
    Ok(())
}

/// Five decimals, and no minus before a zero.
fn number(value: f64) -> String {
    let text = format!("{value:.5}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() { "0.00000".to_owned() } else { text }
}

fn in_words(error: &Difference) -> String {
    format!(
        "angle {:.2e} rad, largest coefficient {:.2e}, Euclidean {:.2e}",
        error.angle, error.max_abs, error.l2
    )
}

fn write_notes(notes: &[String], terminal: Terminal, out: &mut impl Write) -> std::io::Result<()> {
    notes.iter().try_for_each(|note| write!(out, "{}", terminal.entry(INDENT, "Note", note)))
}

/// What many seeds come to, as `--json` prints it.
#[derive(Serialize)]
struct Summary {
    format: u64,
    runs: u32,
    first_seed: u64,
    queries: Spread,
    error: Option<Errors>,
    /// How many runs singled out a metric.
    identifiable: usize,
}

#[derive(Serialize)]
struct Errors {
    angle: Spread,
    max_abs: Spread,
    l2: Spread,
}

/// Where a number lies over many runs.
#[derive(Serialize)]
struct Spread {
    mean: f64,
    median: f64,
    max: f64,
    #[serde(skip)]
    five: [f64; 5],
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        // Linear interpolation between the two nearest values.
        let quantile = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
            low + (place - place.floor()) * (high - low)
        };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let five = [0.0, 0.25, 0.5, 0.75, 1.0].map(quantile);
        Self { mean, median: five[2], max: five[4], five }
    }
}

fn repeat(
    simulation: &Simulation,
    runs: u32,
    svg: Option<&Path>,
    global: &Global,
    out: &mut impl Write,
) -> Result<ExitCode> {
    let progress = Progress::new("simulating", runs as usize, global.shows_progress());
    let first_seed = simulation.seed();
    let reports: Vec<Report> = (0..u64::from(runs))
        .into_par_iter()
        .map(|n| {
            let report = simulation.clone().with_seed(first_seed.wrapping_add(n)).run();
            progress.step();
            report
        })
        .collect();
    drop(progress);
    let summary = summarise(&reports, runs, first_seed);
    if let (Some(path), Some(errors)) = (svg, &summary.error) {
        files::write(path, &picture(errors, runs, simulation).to_svg())?;
    }
    if global.json {
        json::write(&summary, out)?;
    } else {
        let terminal = Terminal::detect();
        if !global.quiet {
            write_setting(simulation, terminal, out)?;
        }
        write_summary(&summary, simulation, terminal, out)?;
        if let Some(path) = svg {
            writeln!(out, "Picture       {}", path.display())?;
        }
    }
    Ok(exit(summary.identifiable == reports.len()))
}

fn summarise(reports: &[Report], runs: u32, first_seed: u64) -> Summary {
    let errors: Vec<&Difference> = reports.iter().filter_map(|report| report.error.as_ref()).collect();
    let spread = |of: fn(&Difference) -> f64| Spread::of(errors.iter().map(|error| of(error)).collect());
    Summary {
        format: 1,
        runs,
        first_seed,
        queries: Spread::of(reports.iter().map(|report| report.queries as f64).collect()),
        error: (!errors.is_empty()).then(|| Errors {
            angle: spread(|error| error.angle),
            max_abs: spread(|error| error.max_abs),
            l2: spread(|error| error.l2),
        }),
        identifiable: reports.iter().filter(|report| report.identifiable).count(),
    }
}

fn write_summary(
    summary: &Summary,
    simulation: &Simulation,
    terminal: Terminal,
    out: &mut impl Write,
) -> Result<()> {
    let runs = summary.runs;
    let last_seed = summary.first_seed.wrapping_add(u64::from(runs) - 1);
    writeln!(out, "{runs} runs, seeds {} to {last_seed}\n", summary.first_seed)?;
    let mut table = Table::new(terminal, ["", "mean", "median", "max"]);
    let mut row = |name: &str, spread: &Spread, show: fn(f64) -> String| {
        table.row([name.to_owned(), show(spread.mean), show(spread.median), show(spread.max)]);
    };
    if let Some(errors) = &summary.error {
        let scientific = |value: f64| format!("{value:.2e}");
        row("error: angle, radians", &errors.angle, scientific);
        row("error: largest coefficient", &errors.max_abs, scientific);
        row("error: Euclidean", &errors.l2, scientific);
    }
    row("questions", &summary.queries, |value| format!("{value:.1}"));
    writeln!(out, "{table}")?;
    writeln!(out, "Identifiable  {} of {runs}", summary.identifiable)?;
    if simulation.noise() == NoiseModel::Exact && runs > 1 {
        writeln!(out, "Note          the oracle makes no mistakes, so every run is the same")?;
    }
    Ok(())
}

/// Boxes of the errors on a logarithmic axis.
fn picture(errors: &Errors, runs: u32, simulation: &Simulation) -> Plot {
    let kind = simulation.plan().kind().replace('_', " ");
    let boxes = [
        ("angle, radians", errors.angle.five),
        ("largest coefficient", errors.max_abs.five),
        ("Euclidean", errors.l2.five),
    ];
    Plot::new(
        format!("Errors of {runs} simulated {kind} elicitations"),
        "how far from the hidden metric",
        "error",
    )
    .describe(format!(
        "Box plots of three measures of error over {runs} runs; the medians are {}.",
        boxes.map(|(name, five)| format!("{:.1e} ({name})", five[2])).join(", ")
    ))
    .boxes("smallest, quartiles and largest error", &boxes)
    .log_y()
}

fn exit(identifiable: bool) -> ExitCode {
    if identifiable { ExitCode::SUCCESS } else { ExitCode::from(FINDING) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!(spread.five, [1.0, 1.75, 2.5, 3.25, 4.0]);
        assert_eq!(spread.mean, 2.5);
        assert_eq!(Spread::of(vec![7.0]).five, [7.0; 5]);
    }

    #[test]
    fn documents_read_as_one_line() {
        let plan =
            serde_json::json!({"kind": "linear", "method": "paper", "queries_per_halving": 4, "a": [1]});
        assert_eq!(settings(&plan), "linear, method paper, queries per halving 4");
    }

    #[test]
    fn settings_lose_their_last_bit() {
        assert_eq!([0.1 * 0.1, 5.0, 1e-4, 1.0 / 3.0].map(short), ["0.01", "5", "0.0001", "0.3333333333"]);
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!([-0.000001, 0.0, -0.12345].map(number), ["0.00000", "0.00000", "-0.12345"]);
    }
}
