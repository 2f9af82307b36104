//! `equipoise bench queries --pools`: questions until the best of twenty candidate models is known.

use super::{Settings, each, quantile};
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::ask::Finding;
use equipoise::ask::{Counting, Simulated};
use equipoise::engine::Adaptive;
use equipoise::population::{Confusions, Logistic, PostShift, Softmax};
use equipoise::space::{Achievable, Pool, Space};
use equipoise::testing::random;
use equipoise::{Measure, Plan};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::convert::Infallible;
use std::io::Write;

/// Models per pool.
const MODELS: usize = 20;
/// Questions in the median to find the best of them.
const GOAL: f64 = 12.0;

/// One kind of pool.
#[derive(Debug, Serialize)]
pub struct PoolRow {
    task: String,
    models: usize,
    median: f64,
    p90: f64,
    /// How often the model that was named really is the best.
    right: f64,
    /// How much worse than the best the named model is on average, in percent of the best one's cost.
    regret_percent: f64,
    pub holds: bool,
}

/// All cells.
pub fn rows(settings: &Settings) -> Vec<PoolRow> {
    [2, 3].map(|classes| row(classes, settings)).into_iter().collect()
}

fn row(classes: usize, settings: &Settings) -> PoolRow {
    let task = format!("pool of {MODELS}, q={}", classes * (classes - 1));
    let trials = each(settings, &task, |_, rng| {
        let pool = undominated(classes, rng);
        let hidden = random::linear(pool.view(), rng);
        let plan = Adaptive::pool(pool.clone(), 0.01).expect("a fair tolerance");
        let mut oracle = Counting::new(Simulated::new(hidden.clone()));
        let Ok(outcome) = plan.run(&mut oracle);
        let best_of = |finding: &Finding| match finding {
            Finding::BestOfPool { name, .. } => Some(name.clone()),
            _ => None,
        };
        let named = outcome.findings.iter().find_map(best_of).expect("pools always name one");
        let costs = pool.members().iter().map(|member| (hidden.value(&member.point), &member.name));
        let (least, _) = costs.clone().min_by(|a, b| a.0.total_cmp(&b.0)).expect("twenty models");
        let (cost, _) = costs.clone().find(|(_, name)| **name == named).expect("a name of the pool");
        (oracle.asked() as f64, cost / least - 1.0)
    });
    let asked: Vec<f64> = trials.iter().map(|(asked, _)| *asked).collect();
    let count = trials.len() as f64;
    let median = quantile(&asked, 0.5);
    PoolRow {
        task,
        models: MODELS,
        median,
        p90: quantile(&asked, 0.9),
        right: trials.iter().filter(|(_, regret)| *regret <= 1e-12).count() as f64 / count,
        regret_percent: 100.0 * trials.iter().map(|(_, regret)| regret).sum::<f64>() / count,
        holds: median <= GOAL,
    }
}

/// Models trained on one population for different purposes and with different luck: best rules for random costs, errors up
/// to 15 % larger than theirs, none of them worse than another in every respect.
fn undominated(classes: usize, rng: &mut Xoshiro256PlusPlus) -> Pool {
    let steepness = rng.random_range(3.0..8.0);
    let (two, more);
    let population: &dyn Confusions<Err = Infallible, Rule = PostShift> = if classes == 2 {
        two = Logistic::with_offset(steepness, rng.random_range(-1.0..1.0)).expect("a fair slope");
        &two
    } else {
        more = Softmax::new((0..classes).map(|i| 1.0 + steepness * i as f64).collect()).expect("fair slopes");
        &more
    };
    let set = Achievable::new(population, Measure::OffDiagonalRates).expect("every class occurs");
    let mut models: Vec<Vec<f64>> = vec![];
    while models.len() < MODELS {
        let pool = Pool::boundary(&set, 2 * MODELS, rng.random()).expect("rules that differ");
        for member in pool.members() {
            let model: Vec<f64> =
                member.point.iter().map(|x| (x * rng.random_range(1.0..1.15)).min(1.0)).collect();
            let worse = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a >= b);
            if models.len() < MODELS
                && !models.iter().any(|other| worse(&model, other) || worse(other, &model))
            {
                models.push(model);
            }
        }
    }
    let named = models.into_iter().enumerate().map(|(n, point)| (format!("model {}", n + 1), point));
    Pool::new(Measure::OffDiagonalRates, classes, named.collect()).expect("checked models")
}

/// The table.
pub fn print(rows: &[PoolRow], settings: &Settings, out: &mut impl Write) -> Result<()> {
    let terminal = Terminal::detect();
    let title = format!(
        "Questions until the best of {MODELS} models is known, over {} pools per cell (seed {})",
        settings.metrics, settings.seed
    );
    writeln!(out, "{}\n", terminal.bold(&title))?;
    let mut table = Table::new(terminal, ["task", "median", "p90", "right", "regret", "goal", ""]);
    for row in rows {
        table.row([
            row.task.clone(),
            format!("{:.0}", row.median),
            format!("{:.0}", row.p90),
            format!("{:.2}", row.right),
            format!("{:.2} %", row.regret_percent),
            format!("{GOAL:.0}"),
            (if row.holds { "ok" } else { "MISSED" }).to_owned(),
        ]);
    }
    write!(out, "{table}")?;
    let note = "right: how often the model named is the best one. regret: how much more the model named costs than the best \
                one, on average.";
    writeln!(out, "\n{}", terminal.paragraph(note))?;
    Ok(())
}
