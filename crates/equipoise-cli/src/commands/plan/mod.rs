//! `equipoise plan`: what to expect of an elicitation, from simulated experts, before any human is asked.

mod table;

use super::bench::{fresh_seed, quantile};
use crate::args::{Global, PlanAhead, PlanStudy};
use crate::fault::{FINDING, Fault};
use crate::progress::Progress;
use crate::ratio::two_digits;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{files, json};
use anyhow::{Context as _, Result};
use equipoise::AnyPlan;
use equipoise::ask::Finding;
use equipoise::ask::NoiseModel;
use equipoise::testing::people::{self, Expert};
use equipoise::{Metric, Plan as _, stream};
use equipoise_cohort::rehearsal::{self, Who};
use equipoise_study::numbers::wilson;
use equipoise_study::{Design, Stopped};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// How often a 95 % interval may hold before it counts as wrong.
const COVERAGE: [f64; 2] = [0.93, 0.97];
/// How often it should.
const NOMINAL: f64 = 0.95;
/// The largest share of sessions that may end without having settled anything.
const CAPPED: f64 = 0.2;
/// What may be done about too many sessions that do.
const WHAT_TO_DO: &str = "Allow more questions (`budget`), or settle for less certain weights (`tolerance`).";
const WHAT_TO_DO_STUDY: &str =
    "Allow more questions (`stop.cap`), or settle for less (`stop.width`, `stop.angle`).";
const WHAT_TO_DO_CHOICE: &str = "Allow more questions (`stop.cap`), or settle for less (`stop.regret`).";
const WHAT_TO_DO_RATIO: &str = "Allow more questions (`budget`) or a wider interval (`width`) in the plan, stop when the \
                                threshold is settled (`decision`), or take it that such ratios are known roughly.";
/// How many experts, unless told otherwise.
const EXPERTS: u32 = 1_000;
/// The angle asked for when a space comes without a plan.
const TOLERANCE: f64 = 0.1;
/// And the most questions.
const BUDGET: usize = 400;

/// Runs the command.
pub fn run(args: &PlanAhead, global: &Global) -> Result<ExitCode> {
    if is_table(&args.file) {
        return table::run(args, global);
    }
    if let Some(option) = args.asking.given().first() {
        let what = format!("{option} is for tables; {} says itself how it asks", files::name(&args.file));
        return Err(Fault::usage(what).into());
    }
    if args.file.is_dir() {
        let what = format!(
            "{} is a directory; a study is planned with: equipoise study plan {}",
            files::name(&args.file),
            files::word(&args.file)
        );
        return Err(Fault::usage(what).into());
    }
    let subject = Subject::Plan(Box::new(plan_of(&args.file)?));
    rehearse(&subject, args.noise.as_deref(), args.experts.unwrap_or(EXPERTS), global)
}

/// Runs `equipoise study plan`.
pub fn run_study(args: &PlanStudy, global: &Global) -> Result<ExitCode> {
    rehearse(&Subject::Study(args.place.design()?), args.noise.as_deref(), args.experts, global)
}

fn rehearse(subject: &Subject, noisy: Option<&str>, experts: u32, global: &Global) -> Result<ExitCode> {
    let noise = noisy.map(noise_of).transpose()?;
    let seed = global.seed.unwrap_or_else(fresh_seed);
    let experts = experts as usize;
    let progress = Progress::new("simulating", experts, global.shows_progress());
    let one = |n: usize| {
        let place = stream(seed, n as u64);
        let run = match subject {
            Subject::Plan(plan) => ask(plan, noise, place, seed.wrapping_add(n as u64)),
            Subject::Study(design) => take_part(design, noise, place),
        };
        progress.step();
        run
    };
    let runs: Vec<Run> = (0..experts).into_par_iter().map(one).collect::<Result<_>>()?;
    drop(progress);
    let report = Report::new(subject, noisy.map(str::to_owned), seed, &runs);
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&report, &mut out)?;
    } else {
        report.print(global, &mut out)?;
    }
    Ok(if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

/// Whose questions are rehearsed.
enum Subject {
    /// An engine's alone.
    Plan(Box<AnyPlan>),
    /// A whole study's, as its pages ask them.
    Study(Arc<Design>),
}

impl Subject {
    fn plan(&self) -> AnyPlan {
        match self {
            Self::Plan(plan) => plan.as_ref().clone(),
            Self::Study(design) => design.plan(),
        }
    }
}

/// Neither a document nor the directory of a study.
fn is_table(path: &Path) -> bool {
    let is_document = path.as_os_str() == "-" || path.extension().is_some_and(|end| end == "json");
    !is_document && !path.is_dir()
}

/// The plan of a document.
fn plan_of(path: &Path) -> Result<AnyPlan> {
    let text = files::read(path)?;
    let name = || files::name(path);
    let mut document: Value = serde_json::from_str(&text)
        .map_err(|e| Fault::input_output(format!("{} is not JSON: {e}", name())))?;
    let fields = document
        .as_object_mut()
        .ok_or_else(|| Fault::input_output(format!("{} is not a JSON object", name())))?;
    match fields.remove("format") {
        Some(format) if format != equipoise::FORMAT => {
            let what = format!("{}: format is {format}, expected {}", name(), equipoise::FORMAT);
            return Err(Fault::input_output(what).into());
        }
        _ => {}
    }
    let plan = match (fields.remove("plan"), fields.remove("space")) {
        // A simulation, whose hidden metric is not needed here.
        (Some(Value::Object(mut plan)), Some(space)) => {
            plan.insert("space".to_owned(), space);
            plan
        }
        // A plan with its space.
        (None, Some(space)) => {
            let mut plan = std::mem::take(fields);
            plan.insert("space".to_owned(), space);
            plan
        }
        // A space alone.
        _ => {
            let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
            let mut plan = serde_json::Map::new();
            plan.insert(
                "kind".to_owned(),
                if kind == "group_sphere" { "group_fair" } else { "linear" }.into(),
            );
            plan.insert("method".to_owned(), "adaptive".into());
            if kind.ends_with("sphere") {
                plan.insert("tolerance".to_owned(), TOLERANCE.into());
                plan.insert("budget".to_owned(), BUDGET.into());
                plan.insert("answers".to_owned(), serde_json::json!({"kind": "unknown"}));
            }
            plan.insert("space".to_owned(), Value::Object(std::mem::take(fields)));
            plan
        }
    };
    serde_json::from_value(Value::Object(plan)).map_err(|e| Fault::usage(format!("{}: {e}", name())).into())
}

/// `logistic:20,lapse:0.02`, `relative:3,lapse:0.015`, `flip:0.05` or `none`.
fn noise_of(text: &str) -> Result<NoiseModel> {
    let wrong = || {
        Fault::usage(format!(
            "--noise is \"{text}\", expected logistic:SLOPE,lapse:SHARE, relative:SLOPE,lapse:SHARE, flip:SHARE or none \
             (for tables also standard, blunt or absolute)"
        ))
    };
    if text == "none" {
        return Ok(NoiseModel::Exact);
    }
    let (mut slope, mut lapse, mut by_ratio) = (None, 0.0, false);
    for part in text.split(',') {
        let (name, value) = part.split_once(':').ok_or_else(wrong)?;
        let value: f64 = value.trim().parse().map_err(|_| wrong())?;
        match name.trim() {
            "logistic" if value > 0.0 => slope = Some(value),
            "relative" if value > 0.0 => (slope, by_ratio) = (Some(value), true),
            "lapse" | "flip" if (0.0..0.5).contains(&value) => lapse = value,
            _ => return Err(wrong().into()),
        }
    }
    Ok(match slope {
        Some(slope) if by_ratio => NoiseModel::Relative { slope, lapse },
        Some(slope) => NoiseModel::Absolute { slope, lapse },
        None => NoiseModel::Flip { probability: lapse },
    })
}

/// How one expert's questions went.
struct Run {
    /// Questions that elicit.
    asked: usize,
    /// All comparisons, checks included.
    shown: usize,
    error: f64,
    inside: bool,
    rule: String,
    /// The cost ratio the expert holds, where that is what is asked about.
    ratio: Option<f64>,
}

/// Somebody takes a study.
fn take_part(design: &Arc<Design>, noise: Option<NoiseModel>, seed: u64) -> Result<Run> {
    let found = rehearsal::rehearse(design, noise.map_or(Who::Anybody, Who::Erring), seed)?;
    let rule = match found.stopped {
        Some(Stopped::Narrow) => "width",
        Some(Stopped::Settled) => "regret",
        Some(Stopped::Cap) => "budget",
        Some(Stopped::NothingLeft) | None => "information",
    };
    let (asked, shown) = (found.elicited, found.comparisons);
    let (error, inside, ratio) = (found.error, found.inside, found.ratio);
    Ok(Run { asked, shown, error, inside, rule: rule.to_owned(), ratio })
}

/// Somebody answers the questions of a plan.
fn ask(plan: &AnyPlan, noise: Option<NoiseModel>, place: u64, seed: u64) -> Result<Run> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(place);
    let noise = noise.unwrap_or_else(|| people::noise(&mut random));
    let (metric, unit) = people::metric(plan, &mut random).ok_or_else(|| {
        Fault::usage(match plan {
            AnyPlan::Adaptive(_) => {
                "fractions are not simulated ahead; `equipoise bench queries --task fractional` measures them"
            }
            _ => "the plan's method is not \"adaptive\", the only one with an interval to check",
        })
    })?;
    let Ok(outcome) = plan.run(&mut Expert::new(metric.clone(), unit, noise, seed));
    let stopped = outcome.findings.iter().find_map(|finding| match finding {
        Finding::Stopped { rule, questions, radius } => Some((rule.clone(), *questions, *radius)),
        _ => None,
    });
    let (rule, asked, radius) = stopped.context("the plan does not say why it stopped")?;
    let features = match plan {
        AnyPlan::Adaptive(plan) => plan.features(),
        _ => None,
    };
    let (error, inside) = match features {
        Some(features) => {
            let weights = |metric: &Metric| features.weights(metric);
            let (found, truth) = weights(&outcome.metric).zip(weights(&metric)).context("one family")?;
            let gap = found.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            let error = 2.0 * (0.5 * gap).min(1.0).asin();
            (error, error <= radius)
        }
        None => {
            let [found, truth] =
                [&outcome.metric, &metric].map(|metric| metric.cost_ratio().unwrap_or(f64::NAN));
            let interval = outcome.metric.interval().context("a ratio has an interval")?;
            let inside = interval.low() <= truth && interval.high().is_none_or(|high| truth <= high);
            ((found / truth).ln().abs(), inside)
        }
    };
    let ratio = is_ratio(plan).then(|| metric.cost_ratio()).flatten();
    Ok(Run { asked, shown: asked, error, inside, rule, ratio })
}

fn is_ratio(plan: &AnyPlan) -> bool {
    matches!(plan, AnyPlan::Adaptive(plan) if plan.is_ratio())
}

/// Who is asked as many questions as allowed: ", nine in ten of them with a ratio beyond 12:1 or 1:12, ...".
fn extremes(runs: &[Run]) -> String {
    let capped = runs.iter().filter(|run| run.rule == "budget");
    let sizes: Vec<f64> = capped.filter_map(|run| run.ratio).map(|ratio| ratio.ln().abs()).collect();
    if sizes.is_empty() {
        return String::new();
    }
    let beyond = two_digits(quantile(&sizes, 0.1).exp());
    format!(
        ", nine in ten of them with a cost ratio beyond {beyond}:1 or 1:{beyond}, where the classifiers asked about \
         differ little"
    )
}

/// What the simulated experts came to.
#[derive(Serialize)]
struct Report {
    format: u64,
    plan: Value,
    /// Whose answers, if not the population's.
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<String>,
    experts: usize,
    seed: u64,
    questions: Spread,
    /// In a study, with all checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparisons: Option<Spread>,
    /// Factor between found and true ratio (its logarithm), or angle in radians.
    error: Spread,
    coverage: f64,
    capped: f64,
    /// How many sessions each rule ended.
    stopped_by: Vec<(String, usize)>,
    findings: Vec<String>,
    #[serde(skip)]
    is_ratio: bool,
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[derive(Serialize)]
struct Spread {
    median: f64,
    p90: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        Self { median: quantile(values, 0.5), p90: quantile(values, 0.9) }
    }
}

impl Report {
    fn new(subject: &Subject, noise: Option<String>, seed: u64, runs: &[Run]) -> Self {
        let share =
            |of: fn(&Run) -> bool| runs.iter().filter(|run| of(run)).count() as f64 / runs.len() as f64;
        let inside = runs.iter().filter(|run| run.inside).count();
        let [coverage, low, high] = wilson(inside, runs.len()).unwrap_or_default();
        let capped = share(|run| run.rule == "budget");
        let plan = subject.plan();
        let is_ratio = is_ratio(&plan);
        let mut stopped_by: Vec<(String, usize)> = vec![];
        for run in runs {
            match stopped_by.iter_mut().find(|(rule, _)| *rule == run.rule) {
                Some((_, count)) => *count += 1,
                None => stopped_by.push((run.rule.clone(), 1)),
            }
        }
        stopped_by.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut findings = vec![];
        let [least, most] = COVERAGE;
        // Few experts can be outside by chance.
        if coverage < least && high < NOMINAL {
            findings.push(format!("the 95 % interval holds the truth in {} only", percent(coverage)));
        }
        // A certified angle is made to be careful: only an interval can be too wide.
        if coverage > most && low > NOMINAL && is_ratio {
            findings.push(format!(
                "the 95 % interval holds the truth in {}: it is wider than it says",
                percent(coverage)
            ));
        }
        if capped > CAPPED {
            let who = if is_ratio { extremes(runs) } else { String::new() };
            let advice = match subject {
                Subject::Study(design) if design.is_choice() => WHAT_TO_DO_CHOICE,
                Subject::Study(_) => WHAT_TO_DO_STUDY,
                Subject::Plan(_) if is_ratio => WHAT_TO_DO_RATIO,
                Subject::Plan(_) => WHAT_TO_DO,
            };
            let what = format!("{who}. {advice}");
            let share = percent(capped);
            findings.push(format!("{share} of the experts are asked as many questions as allowed{what}"));
        }
        Self {
            format: equipoise::FORMAT,
            plan: serde_json::to_value(&plan).expect("plans are plain data"),
            noise,
            experts: runs.len(),
            seed,
            questions: Spread::of(&runs.iter().map(|run| run.asked as f64).collect::<Vec<_>>()),
            comparisons: match subject {
                Subject::Study(_) => {
                    Some(Spread::of(&runs.iter().map(|run| run.shown as f64).collect::<Vec<_>>()))
                }
                Subject::Plan(_) => None,
            },
            error: Spread::of(&runs.iter().map(|run| run.error).collect::<Vec<_>>()),
            coverage,
            capped,
            stopped_by,
            findings,
            is_ratio,
        }
    }

    fn print(&self, global: &Global, out: &mut impl Write) -> Result<()> {
        let terminal = Terminal::detect();
        if !global.quiet {
            let who = match &self.noise {
                Some(noise) => format!("who answer with noise {noise}"),
                None => "drawn from a population of people".to_owned(),
            };
            let title = format!("{} simulated experts, {who} (seed {})", self.experts, self.seed);
            writeln!(out, "{}\n", terminal.bold(&title))?;
        }
        let mut table = Table::new(terminal, ["", "median", "90 % stay below"]);
        let counts = [("questions", Some(&self.questions)), ("with all checks", self.comparisons.as_ref())];
        for (what, spread) in counts.into_iter().filter_map(|(what, spread)| Some((what, spread?))) {
            let [median, p90] = [spread.median, spread.p90].map(|n| format!("{n:.0}"));
            table.row([what.to_owned(), median, p90]);
        }
        let (what, errors) = match self.is_ratio {
            true => {
                let factor = |log: f64| format!("{:.2}", log.exp());
                ("factor between found and true cost ratio", [self.error.median, self.error.p90].map(factor))
            }
            false => {
                let angle = |angle: f64| format!("{angle:.3}");
                (
                    "angle between found and true weights, radians",
                    [self.error.median, self.error.p90].map(angle),
                )
            }
        };
        let [median, p90] = errors;
        table.row([what.to_owned(), median, p90]);
        writeln!(out, "{table}")?;
        let mut entry = |name: &str, text: &str| write!(out, "{}", terminal.entry(12, name, text));
        let certain = if self.is_ratio { "interval" } else { "radius" };
        entry(
            "Coverage",
            &format!("the 95 % {certain} holds the truth for {} of the experts", percent(self.coverage)),
        )?;
        entry("At the cap", &percent(self.capped))?;
        let rules: Vec<String> =
            self.stopped_by.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        entry("Ended by", &rules.join(", "))?;
        for finding in &self.findings {
            entry("Finding", finding)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_read_part_by_part() {
        assert_eq!(
            noise_of("logistic:20,lapse:0.02").unwrap(),
            NoiseModel::Absolute { slope: 20.0, lapse: 0.02 }
        );
        assert_eq!(noise_of("flip:0.05").unwrap(), NoiseModel::Flip { probability: 0.05 });
        assert_eq!(
            noise_of("relative:3,lapse:0.015").unwrap(),
            NoiseModel::Relative { slope: 3.0, lapse: 0.015 }
        );
        assert_eq!(noise_of("none").unwrap(), NoiseModel::Exact);
        for wrong in ["", "20", "logistic:x", "logistic:-1", "lapse:0.7", "probit:3"] {
            assert!(noise_of(wrong).unwrap_err().to_string().contains(&format!("is \"{wrong}\"")), "{wrong}");
        }
    }
}
