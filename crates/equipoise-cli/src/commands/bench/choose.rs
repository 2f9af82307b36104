//! `equipoise bench choose`: simulated people choose from fronts of models, as `choose` asks them.

use super::{Settings, conclude, each, quantile};
use crate::args::{Bench, Global};
use crate::commands::choose::read;
use crate::fault::Fault;
use crate::files;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::ask::{Counting, Finding, NoiseModel, Simulated};
use equipoise::engine::Adaptive;
use equipoise::space::Candidates;
use equipoise::testing::random;
use equipoise::{Outcome, Plan as _};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// The fronts of the repository, which `experiments/fronts.py` makes.
const FRONTS: [&str; 5] = ["screening", "default", "adult", "covtype", "crime"];

/// Up to so many attributes: questions in the median, mean regret.
const GOALS: [(usize, f64, f64); 2] = [(5, 18.0, 0.02), (usize::MAX, 25.0, 0.03)];

/// How often the 95 % bound of the regret is to hold.
const COVERAGE: [f64; 2] = [0.93, 0.99];

const PEOPLE: [(&str, NoiseModel); 2] = [
    ("standard", NoiseModel::Relative { slope: 3.0, lapse: 0.015 }),
    ("blunt", NoiseModel::Relative { slope: 2.0, lapse: 0.025 }),
];

/// One front and one kind of person.
#[derive(Debug, Serialize)]
struct Row {
    front: String,
    person: &'static str,
    candidates: usize,
    attributes: usize,
    people: usize,
    /// All that were asked, probes too.
    questions: f64,
    questions_p90: f64,
    /// As a share of what lies between the best and the worst candidate.
    regret: f64,
    regret_p90: f64,
    expected_regret: f64,
    /// How often the named candidate is the best, and how likely that was said to be.
    right: f64,
    said: f64,
    bound_holds: f64,
    /// How many were told that their answers look like chance, or that weights do not explain them.
    refused: f64,
    milliseconds: f64,
    holds: bool,
}

/// What came out for one person.
struct Trial {
    questions: f64,
    regret: f64,
    expected: f64,
    bound: f64,
    probability: f64,
    refused: bool,
    milliseconds: f64,
}

/// Runs the bench.
pub fn run(args: &Bench, settings: &Settings, global: &Global) -> Result<ExitCode> {
    let mut rows = vec![];
    let named: Vec<PathBuf> = match args.tables.is_empty() {
        true => FRONTS.iter().map(|name| PathBuf::from(format!("experiments/fronts/{name}.csv"))).collect(),
        false => args.tables.iter().map(PathBuf::from).collect(),
    };
    for path in &named {
        let task = files::name(path);
        if !settings.wants(&task) {
            continue;
        }
        let front = read::front(&read::plainly(path))?;
        let Ok(candidates) = front.candidates else {
            return Err(Fault::usage(format!("{task} leaves nothing to choose")).into());
        };
        for (person, noise) in PEOPLE {
            rows.push(row(path, &candidates, person, noise, settings));
        }
    }
    let holds = rows.iter().all(|row| row.holds);
    let mut out = std::io::stdout().lock();
    conclude(&rows, holds, &[("people", settings.metrics)], settings, global, &mut out, print)
}

fn row(
    path: &Path,
    candidates: &Candidates,
    person: &'static str,
    noise: NoiseModel,
    settings: &Settings,
) -> Row {
    let front = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    let trials = each(settings, &format!("{front}, {person}"), |n, rng| {
        let hidden = random::attributes(candidates.attributes(), rng);
        let plan = Adaptive::choice(candidates.clone()).seed(n);
        let simulated =
            Simulated::with_noise(hidden.clone(), noise, equipoise::stream(settings.seed, 7000 + n));
        let mut oracle = Counting::new(simulated.expect("a fair noise"));
        let began = Instant::now();
        let Ok(outcome) = plan.run(&mut oracle);
        let (questions, milliseconds) = (oracle.asked() as f64, began.elapsed().as_secs_f64() * 1e3);
        let values: Vec<f64> =
            candidates.members().iter().map(|member| hidden.value(&member.point)).collect();
        let (low, high) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let name = named(&outcome);
        let place = candidates.members().iter().position(|member| member.name == name).expect("one of them");
        let (probability, expected, bound) = numbers(&outcome);
        let regret = (high - values[place]) / (high - low);
        let refused = !outcome.identifiable();
        Trial {
            questions,
            regret,
            expected,
            bound,
            probability,
            refused,
            milliseconds: milliseconds / questions,
        }
    });
    let people = trials.len() as f64;
    let mean = |of: fn(&Trial) -> f64| trials.iter().map(of).sum::<f64>() / people;
    let share = |of: fn(&Trial) -> bool| trials.iter().filter(|trial| of(trial)).count() as f64 / people;
    let at = |share: f64, of: fn(&Trial) -> f64| quantile(&trials.iter().map(of).collect::<Vec<_>>(), share);
    let (questions, regret) = (at(0.5, |t| t.questions), mean(|t| t.regret));
    let bound_holds = share(|t| t.regret <= t.bound + 1e-12);
    let attributes = candidates.attributes().len();
    let fits = GOALS.iter().find(|(most, ..)| attributes <= *most).is_some_and(|(_, most, regrets)| {
        questions <= *most && regret <= *regrets && (COVERAGE[0]..=COVERAGE[1]).contains(&bound_holds)
    });
    Row {
        front,
        person,
        candidates: candidates.members().len(),
        attributes,
        people: trials.len(),
        questions,
        questions_p90: at(0.9, |t| t.questions),
        regret,
        regret_p90: at(0.9, |t| t.regret),
        expected_regret: mean(|t| t.expected),
        right: share(|t| t.regret < 1e-12),
        said: mean(|t| t.probability),
        bound_holds,
        refused: share(|t| t.refused),
        milliseconds: mean(|t| t.milliseconds),
        // Goals are for the standard person.
        holds: person != "standard" || fits,
    }
}

fn named(outcome: &Outcome) -> String {
    let name = |finding: &Finding| match finding {
        Finding::BestOfPool { name, .. } => Some(name.clone()),
        _ => None,
    };
    outcome.findings.iter().find_map(name).unwrap_or_default()
}

fn numbers(outcome: &Outcome) -> (f64, f64, f64) {
    let mut found = (0.0, 0.0, 0.0);
    for finding in &outcome.findings {
        match finding {
            Finding::BestOfPool { probability, .. } => found.0 = *probability,
            Finding::ChoiceRegret { expected, bound } => (found.1, found.2) = (*expected, *bound),
            _ => {}
        }
    }
    found
}

fn print(rows: &[Row], settings: &Settings, out: &mut impl Write) -> Result<()> {
    let mut table = Table::new(
        Terminal::detect(),
        [
            "front",
            "person",
            "candidates",
            "attributes",
            "questions",
            "p90",
            "regret",
            "p90",
            "expected",
            "right",
            "said",
            "bound holds",
            "refused",
            "ms",
            "goal",
        ],
    );
    for row in rows {
        table.row([
            row.front.clone(),
            row.person.to_owned(),
            row.candidates.to_string(),
            row.attributes.to_string(),
            format!("{:.0}", row.questions),
            format!("{:.0}", row.questions_p90),
            format!("{:.4}", row.regret),
            format!("{:.4}", row.regret_p90),
            format!("{:.4}", row.expected_regret),
            format!("{:.2}", row.right),
            format!("{:.2}", row.said),
            format!("{:.3}", row.bound_holds),
            format!("{:.2}", row.refused),
            format!("{:.0}", row.milliseconds),
            match (row.person, row.holds) {
                ("standard", true) => "holds".to_owned(),
                ("standard", false) => "missed".to_owned(),
                _ => String::new(),
            },
        ]);
    }
    writeln!(out, "seed {}, {} people per front", settings.seed, settings.metrics)?;
    write!(out, "{table}")?;
    writeln!(
        out,
        "Regrets are shares of what lies between a person's best and worst candidate; questions include probes."
    )?;
    Ok(())
}
