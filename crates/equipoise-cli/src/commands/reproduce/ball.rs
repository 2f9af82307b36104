//! Tables B.2 and B.3: linear metrics on a sphere of off-diagonal confusions.

use super::{Report, Settings, Table, vector};
use equipoise::ask::{Counting, Simulated};
use equipoise::search::{Halving, Linear, SlopeSearch};
use equipoise::space::{Space, Sphere};
use equipoise::testing::random;
use equipoise::{Measure, Metric, Plan, Sense};
use equipoise_plot::Plot;

/// A sphere of joint probabilities; the metric is linear, so any radius answers alike.
fn sphere(classes: usize, radius: f64) -> Sphere {
    Sphere::new(Measure::OffDiagonal, classes, radius).expect("a small radius")
}

pub fn table_b2(_: &Settings) -> Report {
    let rows: [&[f64]; 10] = [
        &[0.37, 0.89, 0.09, 0.23, 0.04, 0.03],
        &[0.80, 0.55, 0.18, 0.08, 0.14, 0.05],
        &[0.19, 0.88, 0.28, 0.10, 0.08, 0.30],
        &[0.44, 0.55, 0.33, 0.51, 0.23, 0.28],
        &[0.79, 0.27, 0.25, 0.21, 0.38, 0.23],
        &[0.90, 0.28, 0.10, 0.31, 0.04, 0.05, 0.03, 0.04, 0.02, 0.01, 0.01, 0.01],
        &[0.54, 0.10, 0.62, 0.52, 0.03, 0.07, 0.11, 0.07, 0.14, 0.03, 0.03, 0.04],
        // The print leaves out one entry of this row's true metric; it is the one of the estimate.
        &[0.56, 0.07, 0.79, 0.05, 0.16, 0.17, 0.04, 0.02, 0.03, 0.00, 0.01, 0.01],
        &[0.60, 0.79, 0.09, 0.01, 0.01, 0.02, 0.02, 0.01, 0.01, 0.01, 0.00, 0.00],
        &[0.45, 0.38, 0.42, 0.19, 0.21, 0.63, 0.09, 0.00, 0.00, 0.00, 0.01, 0.01],
    ];
    let header = [
        "k",
        "true costs (paper prints them with a minus)",
        "printed search",
        "questions",
        "backward",
        "antipodal",
    ];
    let mut table = Table::new("LPM elicitation at tolerance 0.01: largest error, by search", &header);
    let (mut close, mut counts_hold) = (0, true);
    for truth in rows {
        let k = if truth.len() == 6 { 3 } else { 4 };
        let metric =
            Metric::linear(sphere(k, 0.01).view(), Sense::Cost, truth.to_vec()).expect("printed numbers");
        let printed = Linear::new(sphere(k, 0.01), 0.01).expect("a fair tolerance");
        let backward = SlopeSearch::backward(1, Halving::Four, 0.01);
        let run = |plan: &Linear| {
            let mut oracle = Counting::new(Simulated::new(metric.clone()));
            let Ok(outcome) = plan.run(&mut oracle);
            (outcome.metric.difference(&metric).expect("both linear").max_abs, oracle.asked())
        };
        let with = |search: equipoise::Result<SlopeSearch>| {
            run(&printed.clone().search(search.expect("a fair tolerance")))
        };
        let (gap, asked) = run(&printed);
        let ((back, back_asked), (anti, anti_asked)) = (with(backward), with(SlopeSearch::antipodal(0.01)));
        close += usize::from(gap <= 0.01);
        counts_hold &= asked == if k == 3 { 320 } else { 704 };
        table.row(&[
            format!("{k}"),
            vector(truth, 2),
            format!("{gap:.4}"),
            format!("{asked}"),
            format!("{back:.4} in {back_asked}"),
            format!("{anti:.4} in {anti_asked}"),
        ]);
    }
    let mut report = Report { tables: vec![table], ..Report::default() };
    report.check("10 of 10 rows within .01 of the true metric", format!("{close} of 10"), close == 10);
    report.check(
        "320 questions for 3 classes, 704 for 4",
        if counts_hold { "yes" } else { "no" },
        counts_hold,
    );
    report
}

pub fn table_b3(settings: &Settings) -> Report {
    let limits = [0.02, 0.04, 0.06, 0.08, 0.10];
    let printed = [
        (1e-15, [f64::NAN; 5]),
        (1e-14, [f64::NAN; 5]),
        (1.250e-12, [0.03, 0.38, 0.74, 0.92, 0.94]),
        (1.875e-12, [0.09, 0.49, 0.77, 0.94, 0.98]),
        (2.500e-12, [0.12, 0.73, 0.93, 0.97, 0.99]),
        (1e-9, [f64::NAN; 5]),
    ];
    let header = ["radius", "", "w = 0.02", "0.04", "0.06", "0.08", "0.10"];
    let title = "Share of random metrics (k = 4) recovered within w, by search";
    let mut table = Table::new(title, &header);
    let mut plot =
        Plot::new("Table B.3: recovery on tiny spheres", "largest error allowed", "share recovered");
    let mut shares_at_best = vec![];
    let mut monotone = true;
    let mut last: Option<[f64; 5]> = None;
    for (radius, printed_shares) in printed {
        let plan = Linear::new(sphere(4, radius), 0.01).expect("a fair tolerance");
        let antipodal = plan.clone().search(SlopeSearch::antipodal(0.01).expect("a fair tolerance"));
        let both = settings.each("tiny spheres", settings.metrics, |rng| {
            let metric = random::linear(sphere(4, radius).view(), rng);
            [&plan, &antipodal].map(|plan| {
                let Ok(outcome) = plan.run(&mut Simulated::new(metric.clone()));
                outcome.metric.difference(&metric).expect("both linear").max_abs
            })
        });
        let share = |which: usize, limit: f64| {
            both.iter().filter(|errors| errors[which] <= limit).count() as f64 / both.len() as f64
        };
        let line = |name: &str, shares: &[f64]| -> Vec<String> {
            let cell = |s: &f64| if s.is_nan() { "-".to_owned() } else { format!("{s:.2}") };
            let name = name.to_owned();
            [vec![format!("{radius:.3e}"), name], shares.iter().map(cell).collect()].concat()
        };
        let ours = limits.map(|limit| share(0, limit));
        let anti = limits.map(|limit| share(1, limit));
        table.row(&line("paper", &printed_shares));
        table.row(&line("printed search", &ours));
        table.row(&line("antipodal", &anti));
        let points: Vec<(f64, f64)> = limits.iter().copied().zip(ours).collect();
        plot = plot.line(format!("radius {radius:.2e}"), &points);
        if let Some(last) = last {
            monotone &= ours.iter().sum::<f64>() >= last.iter().sum::<f64>() - 0.15;
        }
        last = Some(ours);
        shares_at_best = ours.to_vec();
    }
    let mut report = Report { tables: vec![table], ..Report::default() };
    report.check("larger spheres recover more", if monotone { "yes" } else { "no" }, monotone);
    let found = format!("{:.2} within 0.10 at radius 1e-9", shares_at_best[4]);
    report.check("a little above rounding error nearly all are recovered", found, shares_at_best[4] >= 0.95);
    report.remarks.push(
        "What limits these spheres is the rounding of sums, which differs between programs: ours feels it near 1e-15, the \
         paper's near 1e-12, so the shares are not expected to agree. The forward order needs more than two cycles at \
         q = 12, which is why the printed search misses w = 0.02 even on large spheres."
            .to_owned(),
    );
    report.plots.push(("b3.svg".to_owned(), plot.to_svg()));
    report
}
