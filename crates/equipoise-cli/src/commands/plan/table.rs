//! Simulated people are asked what `elicit` would ask about a table, and decide by what comes out.

use super::{Spread, noise_of, percent};
use crate::args::{Global, PlanAhead};
use crate::commands::bench::quantile;
use crate::commands::elicit::length::minutes;
use crate::commands::elicit::reference;
use crate::commands::elicit::task::{Task, Who};
use crate::commands::elicit::words_of;
use crate::commands::regret::{regret, weights_held};
use crate::fault::{FINDING, Fault};
use crate::json;
use crate::progress::Progress;
use crate::table::Table;
use crate::tables::Streaming;
use crate::terminal::Terminal;
use anyhow::{Context as _, Result};
use equipoise::ask::{NoiseModel, Simulated};
use equipoise::engine::{Adaptive, Width};
use equipoise::testing::people;
use equipoise::{Answered, AnyPlan, Metric, Oracle as _, Sense, stream};
use equipoise_data::Reading;
use equipoise_study::numbers::wilson;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::process::ExitCode;

/// People of each kind, unless told otherwise.
const EXPERTS: u32 = 100;

/// A 95 % bound or interval that holds less often is a finding.
const LEAST: f64 = 0.93;

/// How often it should.
const NOMINAL: f64 = 0.95;

/// The largest share of sessions that may end before as much is known as was wanted.
const CAPPED: f64 = 0.2;

/// Somebody who errs by the ratio of what is gained to what is lost.
const STANDARD: NoiseModel = NoiseModel::Relative { slope: 3.0, lapse: 0.015 };

/// The same, less discerning.
const BLUNT: NoiseModel = NoiseModel::Relative { slope: 2.0, lapse: 0.025 };

/// A kind of people: its name, and how they err; nothing for anybody of the population that errs by differences.
type Kind = (String, Option<NoiseModel>);

/// Who is asked.
fn kinds(noise: Option<&str>) -> Result<Vec<Kind>> {
    let named = |name: &str, noise: Option<NoiseModel>| (name.to_owned(), noise);
    Ok(match noise {
        None => {
            vec![named("standard", Some(STANDARD)), named("blunt", Some(BLUNT)), named("absolute", None)]
        }
        Some("standard") => vec![named("standard", Some(STANDARD))],
        Some("blunt") => vec![named("blunt", Some(BLUNT))],
        Some("absolute") => vec![named("absolute", None)],
        Some(text) => vec![named(text, Some(noise_of(text)?))],
    })
}

/// Runs the command for a table.
pub fn run(args: &PlanAhead, global: &Global) -> Result<ExitCode> {
    let kinds = kinds(args.noise.as_deref())?;
    let Reading { data: sample, .. } =
        reference::read(&args.columns, &args.file, &Streaming::default(), global)?;
    let seed = global.seed.unwrap_or_else(crate::commands::bench::fresh_seed);
    let task = Task::new(&args.asking, (&args.file, &args.columns), sample, Who::Real, global.seed)?;
    let Some(plan) = task.adaptive() else {
        let what = "this family has no adaptive plan for such a table, and only those have an interval to check; \
                    `equipoise elicit --oracle METRIC` shows what a search asks";
        return Err(Fault::usage(what).into());
    };
    let experts = args.experts.unwrap_or(EXPERTS) as usize;
    let progress = Progress::new("simulating", experts * kinds.len(), global.shows_progress());
    let words = words_of(&task);
    let one = |kind: &Kind, n: usize| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(stream(seed, n as u64));
        let person = Person::of(plan, kind.1, &mut random).context(
            "fractions are not simulated ahead; `equipoise bench queries --task fractional` measures them",
        );
        let session = person.map(|person| session(&task, plan, &words, person));
        progress.step();
        session.map_err(|error| Fault::usage(error.to_string()).into())
    };
    let mut people = vec![];
    for kind in &kinds {
        let sessions = (0..experts).into_par_iter().map(|n| one(kind, n)).collect::<Result<Vec<_>>>()?;
        people.push(Row::new(kind.0.clone(), &sessions));
    }
    drop(progress);
    let report = Report::new(&task, seed, people);
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&report, &mut out)?;
    } else {
        report.print(global, &mut out)?;
    }
    Ok(if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

/// A simulated person: what they hold, by kind of error where that is all, and who answers for them.
struct Person {
    costs: Option<Vec<f64>>,
    hidden: Metric,
    simulated: Simulated,
}

impl Person {
    /// Somebody whose metric a plan could find; nobody for fractions.
    fn of(plan: &Adaptive, noise: Option<NoiseModel>, random: &mut Xoshiro256PlusPlus) -> Option<Self> {
        let kinds = match plan.operating_point() {
            Some(space) => Some(space.dimension()),
            None => plan.is_ratio().then_some(2),
        };
        let costs: Option<Vec<f64>> =
            kinds.map(|kinds| StandardNormal.sample_iter(&mut *random).take(kinds).map(f64::abs).collect());
        let length = |metric: &Metric| metric.coefficients().iter().map(|c| c * c).sum::<f64>().sqrt();
        let (hidden, unit) = match &costs {
            Some(costs) if plan.is_ratio() => {
                let hidden = Metric::linear(plan.view(), Sense::Utility, vec![costs[1], costs[0]]).ok()?;
                let unit = length(&hidden) * plan.unit();
                (hidden, unit)
            }
            Some(costs) => {
                let hidden = people::metric_of(plan, costs)?;
                let unit = length(&hidden) * plan.unit();
                (hidden, unit)
            }
            None => people::metric(&AnyPlan::Adaptive(plan.clone()), random)?,
        };
        let noise = noise.unwrap_or_else(|| people::noise_by_difference(random)).in_units_of(unit);
        let simulated = Simulated::with_noise(hidden.clone(), noise, random.random()).ok()?;
        Some(Self { costs, hidden, simulated })
    }
}

/// What one person came to.
struct Session {
    asked: usize,
    rule: &'static str,
    /// Whether they were told that their answers look like chance, or that weights do not explain them.
    refused: bool,
    regret: Option<f64>,
    bound_held: Option<bool>,
    intervals_held: f64,
    /// The angle between found and true weights, where no rule follows.
    angle: Option<f64>,
}

/// Asks what `elicit` asks, in the numbers that it shows.
fn session(
    task: &Task,
    plan: &Adaptive,
    words: &crate::commands::elicit::question::Words,
    mut person: Person,
) -> Session {
    let mut belief = plan.start();
    let mut asked: Vec<Answered> = vec![];
    let rule = loop {
        let query = match plan.next(belief.as_ref()) {
            Ok(query) => query,
            Err(rule) => break rule,
        };
        let (_, presented) = words.present(task.sides, &asked, &query);
        let shown = presented.shown.unwrap_or_else(|| query.clone());
        let Ok(answer) = person.simulated.prefer(&shown);
        let preference = answer.preference;
        let answer = equipoise::Answer { preference, shown: Some(shown.clone()) };
        belief.take(&query, &answer);
        asked.push(Answered { query, preference, shown: Some(shown) });
    };
    let doubts = plan.doubts(belief.as_ref(), |query| {
        let (_, presented) = words.present(task.sides, &asked, query);
        let shown = presented.shown.unwrap_or_else(|| query.clone());
        let Ok(answer) = person.simulated.prefer(&shown);
        let preference = answer.preference;
        asked.push(Answered { query: query.clone(), preference, shown: Some(shown.clone()) });
        equipoise::Answer { preference, shown: Some(shown) }
    });
    let metric = belief.metric();
    let regret = person.costs.as_ref().and_then(|costs| regret(&task.sample, plan, &metric, costs));
    let bound = belief.regret().map(|regret| regret.bound);
    let angle = match &person.costs {
        Some(_) => None,
        None => plan.features().and_then(|features| {
            let (found, truth) = features.weights(&metric).zip(features.weights(&person.hidden))?;
            let gap = found.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            Some(2.0 * (0.5 * gap).min(1.0).asin())
        }),
    };
    let within = |angle: f64| match belief.width() {
        Width::Angle(radius) => f64::from(u8::from(angle <= radius)),
        Width::Factor(_) => 0.0,
    };
    let intervals_held = match &person.costs {
        Some(costs) => weights_held(belief.as_ref(), costs),
        None => angle.map_or(0.0, within),
    };
    Session {
        asked: asked.len(),
        refused: !doubts.is_empty(),
        rule,
        regret,
        bound_held: regret.zip(bound).map(|(regret, bound)| regret <= bound + 1e-12),
        intervals_held,
        angle,
    }
}

/// What people of one kind came to.
#[derive(Serialize)]
struct Row {
    person: String,
    people: usize,
    questions: Spread,
    minutes: Spread,
    /// How much more the rule that follows costs than the best one, as a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    regret: Option<Regret>,
    /// Between found and true weights, in radians, where no rule follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    angle: Option<Spread>,
    /// How often the 95 % bound of the regret holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_holds: Option<f64>,
    /// How often 95 % intervals of weights, or the certified angle, hold.
    intervals_hold: f64,
    /// The share who were asked to the end of the budget.
    capped: f64,
    /// The share who were told that their answers look like chance, or that weights do not explain them.
    refused: f64,
    stopped_by: Vec<(String, usize)>,
}

#[derive(Serialize)]
struct Regret {
    mean: f64,
    p90: f64,
}

impl Row {
    fn new(person: String, sessions: &[Session]) -> Self {
        let count = sessions.len() as f64;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let questions: Vec<f64> = sessions.iter().map(|session| session.asked as f64).collect();
        let regrets: Vec<f64> = sessions.iter().filter_map(|session| session.regret).collect();
        let angles: Vec<f64> = sessions.iter().filter_map(|session| session.angle).collect();
        let bounds: Vec<f64> = sessions
            .iter()
            .filter_map(|session| session.bound_held)
            .map(|held| f64::from(u8::from(held)))
            .collect();
        let mut stopped_by: Vec<(String, usize)> = vec![];
        for session in sessions {
            match stopped_by.iter_mut().find(|(rule, _)| rule == session.rule) {
                Some((_, count)) => *count += 1,
                None => stopped_by.push((session.rule.to_owned(), 1)),
            }
        }
        stopped_by.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Self {
            person,
            people: sessions.len(),
            minutes: Spread::of(&questions.iter().map(|questions| minutes(*questions)).collect::<Vec<_>>()),
            questions: Spread::of(&questions),
            regret: (!regrets.is_empty())
                .then(|| Regret { mean: mean(&regrets), p90: quantile(&regrets, 0.9) }),
            angle: (!angles.is_empty()).then(|| Spread::of(&angles)),
            bound_holds: (!bounds.is_empty()).then(|| mean(&bounds)),
            intervals_hold: mean(&sessions.iter().map(|session| session.intervals_held).collect::<Vec<_>>()),
            capped: sessions.iter().filter(|session| session.rule == "budget").count() as f64 / count,
            refused: sessions.iter().filter(|session| session.refused).count() as f64 / count,
            stopped_by,
        }
    }

    /// What is not as it should be.
    fn findings(&self) -> Vec<String> {
        let mut findings = vec![];
        let holds = [("bound of the regret", self.bound_holds), ("intervals", Some(self.intervals_hold))];
        for (what, share) in holds.into_iter().filter_map(|(what, share)| Some((what, share?))) {
            // Few people can be outside by chance.
            let held = (share * self.people as f64).round() as usize;
            let [_, _, high] = wilson(held, self.people).unwrap_or([0.0, 0.0, 1.0]);
            if share < LEAST && high < NOMINAL {
                let share = percent(share);
                findings.push(format!("{}: the 95 % {what} hold in {share} only", self.person));
            }
        }
        if self.capped > CAPPED {
            findings.push(format!(
                "{}: {} are asked as many questions as allowed and less is known than wanted. Allow more (--budget), or settle \
                 for less (--regret, --width, --tolerance)",
                self.person,
                percent(self.capped)
            ));
        }
        findings
    }
}

/// What all of them came to.
#[derive(Serialize)]
struct Report {
    format: u64,
    table: String,
    plan: Value,
    seed: u64,
    people: Vec<Row>,
    findings: Vec<String>,
}

impl Report {
    fn new(task: &Task, seed: u64, people: Vec<Row>) -> Self {
        let findings = people.iter().flat_map(Row::findings).collect();
        let mut plan = task.plan_document();
        // Who needs the numbers of the space has the table.
        plan.as_object_mut().map(|fields| fields.remove("space"));
        Self { format: equipoise::FORMAT, table: task.table.clone(), plan, seed, people, findings }
    }

    fn print(&self, global: &Global, out: &mut impl Write) -> Result<()> {
        let terminal = Terminal::detect();
        let people = self.people.first().map_or(0, |row| row.people);
        if !global.quiet {
            let title = format!(
                "Simulated people are asked what `equipoise elicit {}` asks: {people} of each kind (seed {})",
                self.table, self.seed
            );
            writeln!(out, "{}\n", terminal.bold(&terminal.paragraph(&title)))?;
        }
        let angles = self.people.iter().any(|row| row.angle.is_some());
        let [error, p90] =
            if angles { ["angle, median", "angle, p90"] } else { ["regret, mean", "regret, p90"] };
        let headings = [
            "person",
            "questions",
            "p90",
            "minutes",
            error,
            p90,
            "bound holds",
            "intervals hold",
            "at the cap",
            "refused",
        ];
        let mut table = Table::new(terminal, headings);
        for row in &self.people {
            let number = |n: f64| format!("{n:.0}");
            let dash = || "-".to_owned();
            let [error, p90] = match (&row.regret, &row.angle) {
                (Some(regret), _) => [percent(regret.mean), percent(regret.p90)],
                (None, Some(angle)) => [angle.median, angle.p90].map(|angle| format!("{angle:.2}")),
                (None, None) => [dash(), dash()],
            };
            table.row([
                row.person.clone(),
                number(row.questions.median),
                number(row.questions.p90),
                number(row.minutes.median),
                error,
                p90,
                row.bound_holds.map_or_else(dash, percent),
                percent(row.intervals_hold),
                percent(row.capped),
                percent(row.refused),
            ]);
        }
        writeln!(out, "{table}")?;
        if !global.quiet {
            let note = "standard and blunt people err by the ratio of what is gained to what is lost (slopes 3 and 2, 3 and 5 % \
                        of answers random), absolute ones by the difference. regret: how much more the rule that follows costs \
                        them than the best one for them. bound, intervals: how often what is said with 95 % certainty holds. refused: who \
                        are told that their answers look like chance, or that weights do not explain them.";
            writeln!(out, "{}", terminal.paragraph(note))?;
        }
        for finding in &self.findings {
            write!(out, "{}", terminal.entry(12, "Finding", finding))?;
        }
        Ok(())
    }
}
