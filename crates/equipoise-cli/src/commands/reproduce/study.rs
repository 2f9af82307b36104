//! Table 8.4: ten simulated subjects who hold the printed metrics.

use super::{Report, Settings, Table};
use equipoise::ask::{Counting, Simulated};
use equipoise::metric::Family;
use equipoise::population::Logistic;
use equipoise::search::{BinaryLinear, Halving};
use equipoise::space::{Binary, Space};
use equipoise::{Metric, Oracle, Plan, Query, Sense};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::f64::consts::TAU;

pub fn table_8_4(settings: &Settings) -> Report {
    // Weight of the true negatives in 64ths (the printed weights are .125, .141, .328, .031, .359), and printed M.
    let subjects =
        [(8, 87), (9, 100), (8, 93), (9, 100), (21, 73), (2, 87), (2, 100), (23, 87), (8, 93), (9, 87)];
    // A smoothed boundary with 35 % positives, like that of the study's breast cancer data.
    let space = Binary::from_law(Logistic::with_offset(21.0, 6.3).expect("a fair law"));
    let plan = BinaryLinear::new(space.clone(), 0.05)
        .expect("the study's tolerance")
        .halving_the_weight()
        .queries_per_halving(Halving::Three);
    let header = [
        "subject",
        "printed TN, TP",
        "elicited TN, TP",
        "cost ratio",
        "its interval",
        "M paper",
        "M ours",
        "questions",
    ];
    let mut table =
        Table::new("Linear metrics of ten subjects: search on the weight, tolerance 0.05", &header);
    let (mut inside, mut agreement, mut most) = (0, 0.0, 0);
    for (n, (weight, printed_m)) in subjects.into_iter().enumerate() {
        let truth = f64::from(weight) / 64.0;
        let metric = Metric::linear(space.view(), Sense::Utility, vec![1.0 - truth, truth]).expect("weights");
        let mut oracle = Counting::new(Simulated::new(metric.clone()));
        let Ok(outcome) = plan.run(&mut oracle);
        let Family::Linear(found) = outcome.metric.family() else { unreachable!("a linear plan") };
        let sum = found.weights()[0] + found.weights()[1];
        let share = found.weights()[1] / sum;
        // Five halvings of [0, 1]: the interval is 1/64 to either side.
        let (low, high) = (share - 1.0 / 64.0, share + 1.0 / 64.0);
        inside += usize::from(low - 1e-9 <= truth && truth <= high + 1e-9);
        let ratio = |share: f64| (1.0 - share) / share;
        let top = if low < 1e-9 { "no limit".to_owned() } else { format!("{:.1}", ratio(low)) };
        // Fifteen evaluation questions from a disc of radius .1 around half the prevalences (Section 8.2.3).
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed.wrapping_add(n as u64));
        let mut point = || {
            let (angle, radius) = (rng.random_range(0.0..TAU), 0.1 * rng.random::<f64>().sqrt());
            vec![0.175 + radius * angle.cos(), 0.325 + radius * angle.sin()]
        };
        let same = (0..15)
            .filter(|_| {
                let query = Query::new(point(), point());
                let Ok(answer) = Simulated::new(metric.clone()).prefer(&query);
                let likes = outcome.metric.liking(&query.first) > outcome.metric.liking(&query.second);
                likes == answer.preference.is_first()
            })
            .count();
        let fidelity = 100.0 * same as f64 / 15.0;
        agreement += fidelity / subjects.len() as f64;
        most = most.max(oracle.asked());
        table.row(&[
            format!("S{}", n + 1),
            format!("{truth:.3}, {:.3}", 1.0 - truth),
            format!("{share:.3}, {:.3}", 1.0 - share),
            format!("{:.1}", ratio(share)),
            format!("{:.1} to {top}", ratio(high)),
            format!("{printed_m}"),
            format!("{fidelity:.0}"),
            format!("{}", oracle.asked()),
        ]);
    }
    let mut report = Report { tables: vec![table], ..Report::default() };
    let found = format!("{inside} of 10");
    report.check("every subject's weight lies in the interval found", found, inside == 10);
    let found = format!("{agreement:.0} % on average");
    report.check(
        "the elicited metric agrees with its subject on at least 95 % of evaluation questions",
        found,
        agreement >= 95.0,
    );
    report.check("at most 15 questions (five halvings of three)", format!("{most}"), most <= 15);
    report.remarks.push(
        "These subjects answer without mistakes, so M shows what the search alone loses; the printed M includes the \
         people's own inconsistency. The printed weights are multiples of 1/64, and stopping on the weight leaves large \
         cost ratios wide open: S6 and S7 could be anywhere from about 20 to 63."
            .to_owned(),
    );
    report
}
