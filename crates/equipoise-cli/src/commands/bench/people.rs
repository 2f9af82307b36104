//! `equipoise bench queries --people`: people whose noise nobody knows, and whether intervals hold for them.

use super::queries::ball;
use super::{Settings, conclude, each, quantile};
use crate::args::Global;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::ask::NoiseModel;
use equipoise::engine::{Adaptive, Left};
use equipoise::population::Logistic;
use equipoise::space::{Binary, Space};
use equipoise::testing::people::{self, Expert};
use equipoise::testing::random;
use equipoise::{Metric, Oracle, Sense};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// The interval of the ratio must hold this often, averaged over the population.
const COVERAGE: [f64; 2] = [0.93, 0.97];
/// And the range of questions left, averaged over all steps.
const PROGRESS: [f64; 2] = [0.87, 0.93];
/// By how much the upper end of that range may rise after an answer.
const MOST_RISE: usize = 2;
/// The certified angle, for every kind of noise.
const CERTIFIED: f64 = 0.93;

/// One cell.
#[derive(Debug, Serialize)]
struct Row {
    task: String,
    people: usize,
    median: f64,
    p90: f64,
    coverage: f64,
    /// How often the number of questions left was in the range shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<f64>,
    /// How often fewer were left than shown, and more.
    #[serde(skip_serializing_if = "Option::is_none")]
    missed: Option<[f64; 2]>,
    /// By how much the upper end of the range rose at most after an answer.
    rise: usize,
    /// Share of people who were still asked at the last allowed question.
    capped: f64,
    goal: String,
    holds: bool,
}

/// Runs the cells and prints them.
pub(super) fn run(
    settings: &Settings,
    largest: usize,
    global: &Global,
    out: &mut impl Write,
) -> Result<ExitCode> {
    let mut rows = ratios(settings);
    rows.extend(angles(settings, largest));
    let holds = rows.iter().all(|row| row.holds);
    conclude(&rows, holds, &[], settings, global, out, print)
}

/// Who is asked: somebody of the population, or always somebody with the same noise.
#[derive(Clone, Copy)]
enum Who {
    Anybody,
    /// Who goes by differences, as plans on a ball assume.
    ByDifference,
    With(NoiseModel),
}

impl Who {
    fn noise(self, rng: &mut Xoshiro256PlusPlus) -> NoiseModel {
        match self {
            Who::Anybody => people::noise(rng),
            Who::ByDifference => people::noise_by_difference(rng),
            Who::With(noise) => noise,
        }
    }
}

fn ratios(settings: &Settings) -> Vec<Row> {
    let anybody = settings.with_metrics(40 * settings.metrics);
    let alike = settings.with_metrics(4 * settings.metrics);
    let mut rows = vec![];
    let population = "cost ratio, the population".to_owned();
    if settings.wants(&population) {
        let mut row = ratio_row(population, Who::Anybody, &anybody);
        let within = |range: [f64; 2], value: f64| (range[0]..=range[1]).contains(&value);
        let left = row.progress.is_some_and(|share| within(PROGRESS, share)) && row.rise <= MOST_RISE;
        row.holds = within(COVERAGE, row.coverage) && left;
        row.goal = "covers .93-.97, left .87-.93".to_owned();
        rows.push(row);
    }
    for slope in [5.0, 20.0, 80.0] {
        for lapse in [0.0, 0.02, 0.05] {
            let name = format!("  slope {slope}, {:.0} % lapses", 100.0 * lapse);
            if settings.wants(&name) {
                rows.push(ratio_row(name, Who::With(NoiseModel::Absolute { slope, lapse }), &alike));
            }
        }
    }
    rows
}

/// How one person's questions went.
struct Session {
    asked: usize,
    inside: bool,
    capped: bool,
    /// Steps, and steps with fewer questions left than the range says, and with more.
    steps: [usize; 3],
    /// By how much the upper end of the range rose at most.
    rise: usize,
}

fn ratio_row(task: String, who: Who, settings: &Settings) -> Row {
    let space = Binary::from_law(Logistic::with_offset(21.0, 6.3).expect("a law"));
    let plan = Adaptive::ratio(space.clone());
    let sessions = each(settings, &task, |n, rng| {
        let noise = who.noise(rng);
        let seed = settings.seed.wrapping_add(n);
        // The range of questions left takes longer than all the rest.
        let watched = matches!(who, Who::Anybody);
        ratio_session(&plan, &space, (people::log_ratio(rng), noise), seed, watched)
    });
    let steps = |n: usize| sessions.iter().map(|session| session.steps[n]).sum::<usize>() as f64;
    let mut row = summary(task, &sessions);
    row.progress = (steps(0) > 0.0).then(|| 1.0 - (steps(1) + steps(2)) / steps(0));
    row.missed = row.progress.map(|_| [1, 2].map(|n| steps(n) / steps(0)));
    row.rise = sessions.iter().map(|session| session.rise).max().unwrap_or(0);
    row
}

fn ratio_session(
    plan: &Adaptive,
    space: &Binary,
    (log_ratio, noise): (f64, NoiseModel),
    seed: u64,
    watched: bool,
) -> Session {
    let (sin, cos) = (-log_ratio).exp().atan().sin_cos();
    let metric = Metric::linear(space.view(), Sense::Utility, vec![cos, sin]).expect("positive weights");
    let mut belief = plan.start();
    let mut expert = Expert::new(metric, plan.unit(), noise, seed);
    let mut shown: Vec<Left> = vec![];
    let mut rise = 0;
    let rule = loop {
        match plan.next(&*belief) {
            Ok(query) => {
                if watched {
                    let left = plan.questions_left(&*belief, seed);
                    let left = shown.last().map_or(left, |before| left.after(*before));
                    rise = rise.max(shown.last().map_or(0, |before| left.high.saturating_sub(before.high)));
                    shown.push(left);
                }
                let Ok(answer) = expert.prefer(&query);
                belief.take(&query, &answer);
            }
            Err(rule) => break rule,
        }
    };
    let asked = belief.answered().len();
    let count = |miss: fn(usize, &Left) -> bool| {
        shown.iter().enumerate().filter(|(n, left)| miss(asked - n, left)).count()
    };
    let ends = [0.025, 0.975].map(|share| belief.quantile(share).map_or(f64::NAN, f64::ln));
    Session {
        asked,
        inside: (ends[0]..=ends[1]).contains(&log_ratio),
        capped: rule == "budget",
        steps: [
            shown.len(),
            count(|true_left, left| true_left < left.low),
            count(|true_left, left| true_left > left.high),
        ],
        rise,
    }
}

/// More than two weights, noise unknown: is the estimate within the angle the engine certifies?
fn angles(settings: &Settings, largest: usize) -> Vec<Row> {
    let settings = settings.with_metrics(4 * settings.metrics);
    let target = 0.1;
    let mut rows = vec![];
    for q in [2, 4, 6].into_iter().filter(|q| *q <= largest) {
        let flips = [0.0, 0.05, 0.1].map(|lapse| {
            (format!("q={q}, {:.0} % wrong", 100.0 * lapse), NoiseModel::Flip { probability: lapse })
        });
        let slopes = [5.0, 20.0]
            .map(|slope| (format!("q={q}, slope {slope}"), NoiseModel::Absolute { slope, lapse: 0.0 }));
        let alike = flips.into_iter().chain(slopes).map(|(name, noise)| (name, Who::With(noise)));
        let anybody = [(format!("q={q}, the population"), Who::ByDifference)];
        for (name, who) in anybody.into_iter().chain(alike).filter(|(name, _)| settings.wants(name)) {
            let plan = Adaptive::linear(ball(q), target).and_then(|plan| plan.answers(NoiseModel::Unknown));
            let plan = plan.and_then(|plan| plan.budget(2_000)).expect("a plan");
            let sessions = each(&settings, &name, |n, rng| {
                let noise = who.noise(rng);
                angle_session(&plan, q, noise, rng, settings.seed.wrapping_add(n))
            });
            let mut row = summary(format!("{name}, to {target} rad"), &sessions);
            row.holds = row.coverage >= CERTIFIED;
            row.goal = "covers .93".to_owned();
            rows.push(row);
        }
    }
    rows
}

fn angle_session(
    plan: &Adaptive,
    q: usize,
    noise: NoiseModel,
    rng: &mut Xoshiro256PlusPlus,
    seed: u64,
) -> Session {
    let sizes = random::sizes(q, rng);
    let length = sizes.iter().map(|w| w * w).sum::<f64>().sqrt();
    let truth: Vec<f64> = sizes.iter().map(|w| w / length).collect();
    let metric = Metric::linear(ball(q).view(), Sense::Utility, truth).expect("positive weights");
    let mut expert = Expert::new(metric.clone(), ball(q).radius(), noise, seed);
    let Ok(outcome) = equipoise::Plan::run(plan, &mut expert);
    let error = outcome.metric.difference(&metric).expect("both linear").angle;
    let stopped = outcome.findings.iter().find_map(|finding| match finding {
        equipoise::ask::Finding::Stopped { questions, rule, .. } => Some((*questions, rule == "budget")),
        _ => None,
    });
    let (asked, capped) = stopped.expect("an adaptive plan says why it stopped");
    Session { asked, inside: error <= 0.1, capped, steps: [0, 0, 0], rise: 0 }
}

fn summary(task: String, sessions: &[Session]) -> Row {
    let counts: Vec<f64> = sessions.iter().map(|session| session.asked as f64).collect();
    let share = |of: fn(&Session) -> bool| {
        sessions.iter().filter(|session| of(session)).count() as f64 / sessions.len() as f64
    };
    Row {
        task,
        people: sessions.len(),
        median: quantile(&counts, 0.5),
        p90: quantile(&counts, 0.9),
        coverage: share(|session| session.inside),
        progress: None,
        missed: None,
        rise: 0,
        capped: share(|session| session.capped),
        goal: String::new(),
        holds: true,
    }
}

fn print(rows: &[Row], settings: &Settings, out: &mut impl Write) -> Result<()> {
    let terminal = Terminal::detect();
    let title = format!("People whose noise is unknown (seed {})", settings.seed);
    writeln!(out, "{}\n", terminal.bold(&title))?;
    let headings = ["who", "people", "median", "p90", "capped", "covers", "left", "goal", ""];
    let mut table = Table::new(terminal, headings);
    for row in rows {
        let verdict = match (row.goal.is_empty(), row.holds) {
            (true, _) => "",
            (false, true) => "ok",
            (false, false) => "MISSED",
        };
        table.row([
            row.task.clone(),
            row.people.to_string(),
            format!("{:.0}", row.median),
            format!("{:.0}", row.p90),
            format!("{:.2}", row.capped),
            format!("{:.3}", row.coverage),
            row.progress.map_or(String::new(), |share| format!("{share:.3}")),
            row.goal.clone(),
            verdict.to_owned(),
        ]);
    }
    writeln!(out, "{table}")?;
    for row in rows {
        if let Some([fewer, more]) = row.missed {
            let text = format!(
                "Questions left, {}: fewer than shown in {:.1} % of the steps, more in {:.1} %; the upper end rose by {} at \
                 most.\n",
                row.task,
                100.0 * fewer,
                100.0 * more,
                row.rise
            );
            writeln!(out, "{}", terminal.paragraph(&text))?;
        }
    }
    let [least, most] = people::SLOPES;
    let note = format!(
        "The population: cost ratios from 1/{0} to {0} and slopes from {least} to {most} in units of the space, both even \
         in the logarithm; up to {1:.0} % of lapses. Rows below it are people of one kind: an interval that holds on \
         average over the population holds less often for the least discerning and more often for the others. median, p90: \
         questions asked; capped: share of people asked as many as allowed; covers: how often the 95 % interval, or the \
         certified angle, holds the truth; left: how often the true number of questions left was in the range shown.",
        people::LARGEST_RATIO,
        100.0 * people::MOST_LAPSES
    );
    writeln!(out, "{}", terminal.paragraph(&note))?;
    Ok(())
}
