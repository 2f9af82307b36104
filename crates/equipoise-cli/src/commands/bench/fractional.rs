//! The cells of `equipoise bench queries` on linear-fractional metrics.

use super::floor::pencil_floor_bits;
use super::queries::{Row, TARGETS, Trial, backward, printed, race, summary};
use super::{Settings, each};
use equipoise::Plan;
use equipoise::ask::{Counting, Simulated};
use equipoise::engine::{Adaptive, Belief, Pencil};
use equipoise::search::{LinearFractional, SlopeSearch};
use equipoise::space::{Space, Sphere};
use equipoise::testing::random;

/// Coordinates, and how many questions may be asked in the median to .01.
const CELLS: [(usize, f64); 3] = [(2, f64::INFINITY), (3, 35.0), (6, 85.0)];

/// How often the error is within the target when the engine says so.
const COVERAGE: f64 = 0.93;

/// All cells with at most so many identifiable numbers.
pub fn rows(settings: &Settings, largest: usize, ball: impl Fn(usize) -> Sphere + Sync) -> Vec<Row> {
    let mut rows = vec![];
    for (q, most) in CELLS.into_iter().filter(|(q, _)| 2 * (q - 1) <= largest) {
        let (name, space) = (format!("fractional q={q}"), ball(q));
        if !settings.wants(&name) {
            continue;
        }
        let trials = each(settings, &name, |n, rng| trial(&space, &Pencil::draw(q, rng), n));
        let searches = [printed(), backward()].map(|with| search(&space, with, settings));
        for (n, target) in TARGETS.into_iter().enumerate() {
            let floor = pencil_floor_bits(q, target);
            let mut row = summary(&name, 2 * (q - 1), target, floor, &trials, n);
            (row.holds, row.goal) = (row.coverage >= COVERAGE, "covers .93".to_owned());
            if target == 0.01 {
                if most.is_finite() {
                    row.holds &= row.median <= most;
                    row.goal.push_str(&format!(", {most} asked"));
                }
                let [paper, backward] = searches;
                (row.paper, row.backward) = (Some(paper), Some(backward));
            }
            rows.push(row);
        }
    }
    rows
}

/// Runs the engine until all targets are hit and certified.
fn trial(space: &Sphere, truth: &Pencil, seed: u64) -> Trial {
    let plan = Adaptive::fractional(space.clone(), 0.01).expect("a fair tolerance").seed(seed);
    let mut oracle = Simulated::new(truth.metric(space));
    let error = |belief: &dyn Belief| {
        Pencil::of(&belief.metric(), space).expect("a fraction on the same ball").angle(truth)
    };
    race(plan.start(), &TARGETS, 2000, seed, 1.0, error, &mut oracle)
}

/// Questions and mean error of a search at tolerance .01, on metrics of the kind it assumes: a numerator of one sign.
fn search(ball: &Sphere, with: SlopeSearch, settings: &Settings) -> (usize, f64) {
    let plan = LinearFractional::new(ball.clone(), 0.01).expect("a fair tolerance");
    let plan = plan.search(with);
    let runs = each(settings, "searches", |_, rng| {
        let metric = random::linear_fractional(ball.view(), rng);
        let mut oracle = Counting::new(Simulated::new(metric.clone()));
        let Ok(outcome) = plan.run(&mut oracle);
        let [found, truth] = [&outcome.metric, &metric].map(|metric| Pencil::of(metric, ball));
        let angle = found.zip(truth).map_or(f64::NAN, |(found, truth)| found.angle(&truth));
        (oracle.asked(), angle)
    });
    let mean = runs.iter().map(|(_, angle)| angle).sum::<f64>() / runs.len() as f64;
    let asked = runs.iter().map(|(asked, _)| asked).sum::<usize>() / runs.len();
    (asked, mean)
}
