//! Figures 6.3 to 6.6: quadratic metrics on a ball of radius .2, and group-fair quadratic ones.

use super::{Report, Settings, Table, five_numbers, mean, quantile};
use equipoise::ask::{Counting, Simulated};
use equipoise::search::{GroupFairQuadratic, Halving, Quadratic, SlopeSearch};
use equipoise::space::{GroupSphere, Space, Sphere};
use equipoise::testing::random;
use equipoise::{GroupShares, Measure, Metric, Oracle, Outcome, Plan, Preference, Query, Sense};
use equipoise_plot::Plot;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

const RADIUS: f64 = 0.2;
const INNER: f64 = 0.02;

fn ball(classes: usize) -> Sphere {
    Sphere::new(Measure::OffDiagonalRates, classes, RADIUS).expect("a fair radius")
}

/// The search of the UAI paper: three cycles, at most three questions per halving, tolerance .01.
fn published() -> SlopeSearch {
    SlopeSearch::paper(3, Halving::Three, 1e-2).expect("a fair tolerance")
}

fn antipodal() -> SlopeSearch {
    SlopeSearch::antipodal(1e-3).expect("a fair tolerance")
}

fn plan(classes: usize, search: SlopeSearch, by_formula: bool) -> Quadratic {
    let plan = Quadratic::new(ball(classes), 1e-2).expect("a fair tolerance");
    let plan = plan.inner_radius(INNER).expect("smaller than the ball").search(search);
    if by_formula { plan.by_formula() } else { plan }
}

/// (error of a, error of B, questions) of one run.
fn errors<P: Plan<Output = Outcome>>(plan: &P, metric: &Metric) -> [f64; 3] {
    let mut oracle = Counting::new(Simulated::new(metric.clone()));
    let Ok(outcome) = plan.run(&mut oracle);
    let d = outcome.metric.difference(metric).expect("the same family");
    let part = |p: Option<f64>| p.expect("quadratic metrics list their parts");
    [part(d.linear), part(d.quadratic_or_fairness), oracle.asked() as f64]
}

pub fn figure_6_3(settings: &Settings) -> Report {
    let mut report = Report::default();
    let header = ["k", "q", "reconstruction", "a mean", "B mean", "B median", "B worst", "questions"];
    let title = format!("Quadratic metrics: errors over {} random metrics (a-b)", settings.metrics);
    let mut table = Table::new(&title, &header);
    let mut plot = Plot::new("Figure 6.3 (b): error of B", "coefficients q", "Frobenius error").log_y();
    let variants = [
        ("formula (6.18), corrected", published(), true),
        ("scales", published(), false),
        ("scales, antipodal 1e-3", antipodal(), false),
    ];
    let mut boxes: Vec<Vec<(String, [f64; 5])>> = vec![vec![]; 3];
    for k in 2..=5 {
        let view = ball(k).view();
        for (n, (name, search, by_formula)) in variants.iter().enumerate() {
            let plan = plan(k, *search, *by_formula);
            let results = settings.each(&format!("quadratic, k = {k}, {name}"), settings.metrics, |rng| {
                errors(&plan, &random::quadratic(view, rng))
            });
            let column = |part: usize| -> Vec<f64> { results.iter().map(|r| r[part]).collect() };
            let matrix = column(1);
            table.row(&[
                if n == 0 { format!("{k}") } else { String::new() },
                if n == 0 { format!("{}", k * k - k) } else { String::new() },
                (*name).to_owned(),
                format!("{:.4}", mean(&column(0))),
                format!("{:.4}", mean(&matrix)),
                format!("{:.4}", quantile(&matrix, 0.5)),
                format!("{:.4}", quantile(&matrix, 1.0)),
                format!("{:.0}", mean(&column(2))),
            ]);
            boxes[n].push((format!("{}", k * k - k), five_numbers(&matrix)));
            if k == 3 && n > 0 && settings.metrics >= 100 {
                let bound = if n == 1 { 0.08 } else { 0.01 };
                let found = mean(&matrix);
                let claim = format!("q = 6, {name}: mean B error at most {bound}");
                report.check(claim, format!("{found:.4}"), found <= bound);
            }
        }
    }
    for ((name, ..), boxes) in variants.iter().zip(&boxes) {
        plot = plot.boxes(*name, boxes);
    }
    report.tables.push(table);
    report.plots.push(("6.3.svg".to_owned(), plot.to_svg()));
    fair_part(settings, &mut report);
    report
}

/// Panels (c) to (e): group-fair quadratic metrics.
fn fair_part(settings: &Settings, report: &mut Report) {
    let count = settings.metrics.div_ceil(5);
    let header = ["k", "m", "a error", "B error", "lambda error", "questions"];
    let title = format!(
        "Group-fair quadratic metrics: mean errors over {count} random metrics, antipodal 1e-3 (c-e)"
    );
    let mut table = Table::new(&title, &header);
    for k in 2..=5 {
        for m in 2..=5 {
            let space = GroupSphere::new(RADIUS, GroupShares::equal(m, k)).expect("a fair radius");
            let plan = GroupFairQuadratic::new(space, 1e-2).expect("a fair tolerance").search(antipodal());
            let plan = plan.inner_radius(INNER).expect("smaller than the ball");
            let results = settings.each(&format!("fair quadratic, k = {k}, m = {m}"), count, |rng| {
                let metric =
                    random::group_fair_quadratic(&GroupShares::equal(m, k), rng.random_range(0.3..0.9), rng);
                let mut oracle = Counting::new(Simulated::new(metric.clone()));
                let Ok(outcome) = plan.run(&mut oracle);
                let d = outcome.metric.difference(&metric).expect("the same family");
                let part = |p: Option<f64>| p.expect("group metrics list their parts");
                [part(d.linear), part(d.quadratic_or_fairness), part(d.trade_off), oracle.asked() as f64]
            });
            let column = |part: usize| mean(&results.iter().map(|r| r[part]).collect::<Vec<_>>());
            table.row(&[
                format!("{k}"),
                format!("{m}"),
                format!("{:.4}", column(0)),
                format!("{:.4}", column(1)),
                format!("{:.4}", column(2)),
                format!("{:.0}", column(3)),
            ]);
        }
    }
    report.tables.push(table);
    report.remarks.push(
        "Random metrics have independent normal coefficients before normalisation; the paper does not print its own \
         choice, nor numbers for its box plots."
            .to_owned(),
    );
}

pub fn figure_6_4(settings: &Settings) -> Report {
    let header = ["k", "q", "elicited a", "elicited B", "equal a", "equal B"];
    let title =
        format!("Mean errors over {} random metrics: elicited against equal coefficients", settings.metrics);
    let mut table = Table::new(&title, &header);
    let mut report = Report::default();
    let mut far = true;
    let (mut elicited_line, mut equal_line) = (vec![], vec![]);
    for k in 2..=5 {
        let view = ball(k).view();
        let q = k * k - k;
        let equal = Metric::quadratic(view, Sense::Cost, vec![1.0; q], vec![vec![1.0; q]; q]);
        let equal = equal.expect("one per rate");
        let plan = plan(k, published(), false);
        let results = settings.each(&format!("baseline, k = {k}"), settings.metrics, |rng| {
            let metric = random::quadratic(view, rng);
            let [a, b, _] = errors(&plan, &metric);
            let d = equal.difference(&metric).expect("both quadratic");
            [a, b, d.linear.expect("a part"), d.quadratic_or_fairness.expect("a part")]
        });
        let column = |part: usize| mean(&results.iter().map(|r| r[part]).collect::<Vec<_>>());
        far &= column(3) > 5.0 * column(1);
        elicited_line.push((q as f64, column(1)));
        equal_line.push((q as f64, column(3)));
        let cells = [0, 1, 2, 3].map(|part| format!("{:.4}", column(part)));
        table.row(&[vec![format!("{k}"), format!("{q}")], cells.to_vec()].concat());
    }
    report.tables.push(table);
    report.check(
        "equal coefficients are several times as far off for every k",
        if far { "yes" } else { "no" },
        far,
    );
    let plot = Plot::new("Figure 6.4: error of B", "coefficients q", "mean Frobenius error")
        .log_y()
        .line("elicited", &elicited_line)
        .dashed("equal coefficients", &equal_line);
    report.plots.push(("6.4.svg".to_owned(), plot.to_svg()));
    report
}

/// A random quadratic metric; if `regular`, one whose slopes at all centres have a first coordinate of at least .01 in
/// size, so that the ratios of (6.18) are well defined.
fn metric_with(classes: usize, regular: bool, rng: &mut Xoshiro256PlusPlus) -> Metric {
    loop {
        let metric = random::quadratic(ball(classes).view(), rng);
        if !regular || smallest_pivot(&metric) >= 1e-2 {
            return metric;
        }
    }
}

/// The smallest first coordinate among unit slopes at the centres of Algorithm 6.1.
fn smallest_pivot(metric: &Metric) -> f64 {
    let centre = vec![1.0 / metric.view().classes() as f64; metric.view().dimension()];
    centres(&centre)
        .iter()
        .map(|z| {
            let slope = metric.gradient(z);
            (slope[0] / slope.iter().map(|s| s * s).sum::<f64>().sqrt()).abs()
        })
        .fold(f64::MAX, f64::min)
}

/// o, o + h e_j, and o - h e_1.
fn centres(o: &[f64]) -> Vec<Vec<f64>> {
    let step = RADIUS - INNER;
    let moved = |j: usize, by: f64| {
        let mut z = o.to_vec();
        z[j] += by;
        z
    };
    let mut centres = vec![o.to_vec()];
    centres.extend((0..o.len()).map(|j| moved(j, step)));
    centres.push(moved(0, -step));
    centres
}

pub fn figure_6_5(settings: &Settings) -> Report {
    let header = ["k", "q", "regular: formula", "scales", "any: formula", "scales"];
    let title = format!(
        "Mean B error over {} metrics with (regular) and without (any) Assumption 6.4",
        settings.metrics
    );
    let mut table = Table::new(&title, &header);
    let mut report = Report::default();
    let mut better = 0;
    let mut lines = vec![vec![]; 4];
    for k in 2..=5 {
        let mut cells = vec![format!("{k}"), format!("{}", k * k - k)];
        let mut means = vec![];
        for regular in [true, false] {
            let results = settings.each(&format!("regularity, k = {k}"), settings.metrics, |rng| {
                let metric = metric_with(k, regular, rng);
                [true, false].map(|by_formula| errors(&plan(k, published(), by_formula), &metric)[1])
            });
            for variant in 0..2 {
                means.push(mean(&results.iter().map(|r| r[variant]).collect::<Vec<_>>()));
            }
        }
        for (line, found) in lines.iter_mut().zip(&means) {
            line.push(((k * k - k) as f64, *found));
        }
        better += usize::from(means[0] < means[2]);
        cells.extend(means.iter().map(|m| format!("{m:.4}")));
        table.row(&cells);
    }
    report.tables.push(table);
    let found = format!("for {better} of 4 values of k");
    if settings.metrics >= 100 {
        report.check("the formula errs less on regular metrics", found, better >= 3);
    }
    let names = ["formula, regular", "scales, regular", "formula, any", "scales, any"];
    let mut plot = Plot::new("Figure 6.5: error of B", "coefficients q", "mean Frobenius error").log_y();
    for (name, line) in names.iter().zip(&lines) {
        plot = plot.line(*name, line);
    }
    report.plots.push(("6.5.svg".to_owned(), plot.to_svg()));
    report
}

pub fn figure_6_6(settings: &Settings) -> Report {
    let runs = settings.metrics * 10;
    let header = ["k", "metrics", "1 %", "25 %", "median", "75 %", "99 %", "off by more than half"];
    let title = format!("Ratio of estimated to true slope fractions f_2 / f_1 over {runs} runs");
    let mut table = Table::new(&title, &header);
    let mut report = Report::default();
    let mut steadier = true;
    let mut boxes = vec![vec![]; 2];
    for k in [2, 3] {
        let mut off = vec![];
        for (n, regular) in [true, false].into_iter().enumerate() {
            let results = settings.each(&format!("slope ratios, k = {k}"), runs, |rng| {
                let metric = metric_with(k, regular, rng);
                slope_ratio(&metric, rng)
            });
            let far = results.iter().filter(|r| (**r - 1.0).abs() > 0.5).count() as f64 / runs as f64;
            off.push(far);
            let quantiles = [0.01, 0.25, 0.5, 0.75, 0.99].map(|share| quantile(&results, share));
            boxes[n].push((format!("k = {k}"), quantiles));
            let mut cells = vec![format!("{k}"), if regular { "regular" } else { "any" }.to_owned()];
            cells.extend(quantiles.iter().map(|x| format!("{x:.3}")));
            cells.push(format!("{:.1} %", 100.0 * far));
            table.row(&cells);
        }
        steadier &= off[0] <= off[1];
    }
    report.tables.push(table);
    let found = if steadier { "yes" } else { "no" };
    report.check("ratios are steadier under Assumption 6.4", found, steadier);
    let plot = Plot::new("Figure 6.6: estimated over true slope ratios", "classes", "ratio")
        .boxes("regular", &boxes[0])
        .boxes("any", &boxes[1]);
    report.plots.push(("6.6.svg".to_owned(), plot.to_svg()));
    report
}

/// The ratio F_2 = f_2 / f_1 found by the published search at a random centre, over the true one.
fn slope_ratio(metric: &Metric, rng: &mut Xoshiro256PlusPlus) -> f64 {
    let o = vec![1.0 / metric.view().classes() as f64; metric.view().dimension()];
    let all = centres(&o);
    let centre = &all[rng.random_range(0..all.len())];
    let mut oracle = Simulated::new(metric.clone());
    let mut answer = |query: &Query| -> Preference {
        let Ok(answer) = oracle.prefer(query);
        answer.preference
    };
    let Ok(found) = published().slope(centre, INNER, &mut answer);
    let truth = metric.gradient(centre);
    (found[1] / found[0]) / (truth[1] / truth[0])
}
