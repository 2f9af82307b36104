//! Table A.3 and Figure 4.2: linear metrics from the scores of real rows.
//!
//! The papers ask about thresholds of the estimated probabilities. On a few hundred rows many thresholds are the same
//! classifier, and the best one need not lie where the probabilities say. The hull of all thresholds and the smooth
//! boundary of Section 8.1.1 are asked about as well.

use super::{Report, Settings, Table};
use anyhow::Result;
use equipoise::ask::Simulated;
use equipoise::metric::Family;
use equipoise::search::{BinaryLinear, DiagonalLinear, Halving, Interval};
use equipoise::space::{Binary, Space};
use equipoise::testing::random;
use equipoise::{Metric, Outcome, Plan, Sense};
use equipoise_data::{Boundary, Smooth, binary_space, diagonal_space};
use equipoise_plot::Plot;
use std::convert::Infallible;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Tolerances of Table A.3.
const TOLERANCES: [f64; 4] = [0.02, 0.05, 0.08, 0.11];

pub fn table_a3(settings: &Settings) -> Result<Report> {
    // Shares of metrics missed, by tolerance.
    let columns = [
        ("MAGIC", "magic_10", 10, [0.57, 0.14, 0.07, 0.00]),
        ("WDBC", "wdbc_10", 10, [0.79, 0.43, 0.21, 0.07]),
        ("MAGIC", "magic_1", 1, [0.54, 0.36, 0.14, 0.07]),
        ("WDBC", "wdbc_1", 1, [0.79, 0.64, 0.57, 0.43]),
    ];
    let header = ["data", "penalty", "tolerance", "paper", "thresholds", "hull", "smooth"];
    let mut table = Table::new(
        "Share of 28 metrics not found within the tolerance (rad), by what is asked about",
        &header,
    );
    let mut report = Report::default();
    let mut missed = vec![];
    for (data, file, penalty, printed) in columns {
        let sample = settings.data.predictions(file)?;
        let Ok(thresholds) = Boundary::of(&sample, 0, 1);
        let smooth = Smooth::fit(&sample)?;
        let spaces = [binary_space(&sample)?, smooth.pulled()?];
        let shares: Vec<[f64; 3]> = TOLERANCES
            .iter()
            .map(|&tolerance| {
                [
                    share_missed(tolerance, |angle| by_thresholds(&thresholds, angle, tolerance)),
                    share_missed(tolerance, |angle| by_plan(&spaces[0], angle, tolerance)),
                    share_missed(tolerance, |angle| by_plan(&spaces[1], angle, tolerance)),
                ]
            })
            .collect();
        for (n, (tolerance, [first, second, third])) in TOLERANCES.iter().zip(&shares).enumerate() {
            let once = |text: String| if n == 0 { text } else { String::new() };
            table.row(&[
                once(data.to_owned()),
                once(penalty.to_string()),
                format!("{tolerance:.2}"),
                format!("{:.2}", printed[n]),
                format!("{first:.2}"),
                format!("{second:.2}"),
                format!("{third:.2}"),
            ]);
        }
        report.remarks.push(format!(
            "{data}, penalty {penalty}: {} rows; the best threshold for a slope lies up to {:.2} rad from where the \
             probabilities put it; the hull has {} corners; the smooth boundary leaves it by at most {:.4}, where it is cut.",
            sample.table().rows(),
            furthest_threshold(&thresholds),
            spaces[0].hull().map_or(0, |hull| hull.vertices().len()),
            smooth.outside(),
        ));
        missed.push(shares);
    }
    report.tables.push(table);
    checks_of_a3(&missed, &mut report);
    report.remarks.push(
        "The split and the solver of the paper are not printed, so single cells need not agree. Its penalty multiplies the \
         squared weights: scikit-learn's C is one over it. Thresholds are the paper's way of asking; a threshold that \
         answers two slopes alike ends the search there, or sends it the wrong way."
            .to_owned(),
    );
    Ok(report)
}

/// The observations of Section A.3.2, and what the smooth boundary changes.
fn checks_of_a3(missed: &[Vec<[f64; 3]>], report: &mut Report) {
    let sum = |column: usize, way: usize| missed[column].iter().map(|row| row[way]).sum::<f64>();
    for (penalty, magic, wdbc) in [(10, 0, 1), (1, 2, 3)] {
        let [large, small] = [magic, wdbc].map(|column| sum(column, 0) / TOLERANCES.len() as f64);
        report.check(
            format!("penalty {penalty}, thresholds: more rows help, MAGIC misses fewer than WDBC"),
            format!("{large:.2} against {small:.2} on average"),
            large < small,
        );
    }
    let tight = missed.iter().map(|rows| rows[0][0]).fold(f64::INFINITY, f64::min);
    report.check(
        "thresholds: .02 is too tight for both data sets, half the metrics or more are missed",
        format!("at least {tight:.2}"),
        tight >= 0.5,
    );
    let loose = [0, 2].map(|column| missed[column][TOLERANCES.len() - 1]);
    report.check(
        "MAGIC, hull: every metric is found within .11, as the paper has it for penalty 10",
        format!("{:.2} and {:.2} missed", loose[0][1], loose[1][1]),
        loose.iter().all(|row| row[1] == 0.0),
    );
    if loose[0][0] > 0.0 {
        report.remarks.push(format!(
            "Asked by thresholds we miss {:.2} of the MAGIC metrics at .11 (penalty 10), where the paper misses none: that \
             cell does not reproduce. A search over thresholds finds the best one at most, and how far off that may lie is \
             said above.",
            loose[0][0]
        ));
    }
    let never_worse = missed.iter().flatten().all(|row| row[1] <= row[0] && row[2] <= row[1]);
    report.check(
        "in every cell the hull misses no more than thresholds, and the smooth boundary no more than the hull",
        if never_worse { "yes" } else { "no" },
        never_worse,
    );
}

/// Slopes of the first quadrant in Table A.3, from 10 degrees in steps of 5.
fn slopes() -> impl Iterator<Item = f64> + Clone {
    (0..14).map(|n| PI / 18.0 + f64::from(n) * PI / 36.0)
}

/// The share of the slopes and their opposites that is missed.
fn share_missed(tolerance: f64, find: impl Fn(f64) -> f64) -> f64 {
    let angles: Vec<f64> = slopes().chain(slopes().map(|angle| angle + PI)).collect();
    let missed = angles.iter().filter(|&&angle| (find(angle) - angle).abs() > tolerance).count();
    missed as f64 / angles.len() as f64
}

/// Over all slopes, how far the best of many thresholds is from the one that the probabilities say.
fn furthest_threshold(thresholds: &Boundary) -> f64 {
    const STEPS: u32 = 10_000;
    let at = |n: u32| FRAC_PI_2 * f64::from(n) / f64::from(STEPS);
    let points: Vec<[f64; 2]> = (0..=STEPS).map(|n| thresholds.at([at(n).sin(), at(n).cos()])).collect();
    let distance = |angle: f64| {
        let value = |n: &u32| {
            let [negatives, positives] = points[*n as usize];
            angle.cos() * positives + angle.sin() * negatives
        };
        let best = (0..=STEPS).max_by(|a, b| value(a).total_cmp(&value(b))).expect("many thresholds");
        (at(best) - angle).abs()
    };
    slopes().map(distance).fold(0.0, f64::max)
}

/// Algorithm 3.1 over thresholds of the probabilities, on the upper or the lower boundary as the metric grows or falls.
fn by_thresholds(thresholds: &Boundary, angle: f64, tolerance: f64) -> f64 {
    let value = |at: f64| {
        let [negatives, positives] = thresholds.at([at.sin(), at.cos()]);
        angle.cos() * positives + angle.sin() * negatives
    };
    let start = if angle < PI { 0.0 } else { PI };
    let quadrant = Interval::new(start, start + FRAC_PI_2);
    let better = |x: f64, y: f64| Ok::<_, Infallible>(value(x) > value(y));
    let Ok(found) = quadrant.search(tolerance, Halving::Four, better);
    found.middle()
}

/// The same search over a space.
fn by_plan(space: &Binary, angle: f64, tolerance: f64) -> f64 {
    let weights = vec![angle.cos(), angle.sin()];
    let hidden = Metric::linear(space.view(), Sense::Utility, weights).expect("a unit vector");
    let plan = BinaryLinear::new(space.clone(), tolerance).expect("a tolerance of the table");
    let Ok(outcome) = plan.of_unknown_direction().run(&mut Simulated::new(hidden));
    let found = weights_of(&outcome);
    found[1].atan2(found[0]).rem_euclid(TAU)
}

fn weights_of(outcome: &Outcome) -> &[f64] {
    let Family::Linear(found) = outcome.metric.family() else { unreachable!("a linear plan") };
    found.weights()
}

pub fn figure_4_2(settings: &Settings) -> Result<Report> {
    const TOLERANCE: f64 = 0.01;
    let mut report = Report::default();
    let title = format!(
        "Share of {} random weighted accuracies found within omega (tolerance {TOLERANCE}, 84 questions)",
        settings.metrics
    );
    let header = ["omega", "50 %, thresholds", "75 %", "100 %", "50 %, hull", "75 %", "100 %"];
    let mut table = Table::new(&title, &header);
    let mut errors: Vec<Vec<f64>> = vec![vec![]; 6];
    for (n, percent) in [50, 75, 100].into_iter().enumerate() {
        let sample = settings.data.predictions(&format!("vehicle_{percent}"))?;
        let space = diagonal_space(&sample)?;
        let face = |class: usize| Boundary::of(&sample, 0, class);
        let Ok(faces) = (1..space.classes()).map(face).collect::<Result<Vec<_>, _>>();
        let plan = DiagonalLinear::new(space.clone(), TOLERANCE)?;
        let found = settings.each(&format!("vehicle, {percent} %"), settings.metrics, |rng| {
            let sizes = random::sizes(space.classes(), rng);
            let total: f64 = sizes.iter().sum();
            let hidden: Vec<f64> = sizes.iter().map(|size| size / total).collect();
            let metric = Metric::weighted_accuracy(hidden.clone()).expect("positive weights");
            let Ok(outcome) = plan.run(&mut Simulated::new(metric));
            [
                furthest(&shares_by_thresholds(&faces, &hidden, TOLERANCE), &hidden),
                furthest(weights_of(&outcome), &hidden),
            ]
        });
        errors[n] = found.iter().map(|pair| pair[0]).collect();
        errors[3 + n] = found.iter().map(|pair| pair[1]).collect();
        report.remarks.push(format!("{percent} % of the vehicles: {} test rows.", sample.table().rows()));
    }
    let within = |column: usize, omega: f64| {
        errors[column].iter().filter(|&&error| error <= omega).count() as f64 / errors[column].len() as f64
    };
    let omegas: Vec<f64> = (1..=10).map(|n| 0.02 * f64::from(n)).collect();
    for &omega in &omegas {
        let cells = (0..6).map(|column| format!("{:.2}", within(column, omega)));
        table.row(&std::iter::once(format!("{omega:.2}")).chain(cells).collect::<Vec<_>>());
    }
    let mut plot = Plot::new(
        "Figure 4.2: weighted accuracy on vehicle silhouettes",
        "omega",
        "share found within omega",
    );
    let line = |column: usize| omegas.iter().map(|&omega| (omega, within(column, omega))).collect::<Vec<_>>();
    for (column, label) in [(3, "50 %, hull"), (4, "75 %, hull"), (5, "100 %, hull")] {
        plot = plot.line(label, &line(column));
    }
    plot = plot.dashed("100 %, thresholds", &line(2));
    report.plots.push(("4.2.svg".to_owned(), plot.to_svg()));
    report.tables.push(table);
    report.remarks.push(
        "The paper prints the figure only, and says that all metrics are found within .12 on the full SensIT data, which \
         we do not have, and that .04 to .08 is too tight for both data sets."
            .to_owned(),
    );
    // Means over few metrics scatter too much to be held to anything.
    if settings.metrics < 100 {
        return Ok(report);
    }
    let [coarse, fine] = [0, 3].map(|first| super::mean(&errors[first..first + 3].concat()));
    report.check(
        "the hull of the thresholds is closer than the thresholds themselves",
        format!("mean error {fine:.3} against {coarse:.3}"),
        fine < coarse,
    );
    let [small, large] = [3, 5].map(|column| super::mean(&errors[column]));
    report.check(
        "more rows help: the mean error with all vehicles is below that with half of them (hull)",
        format!("{large:.3} against {small:.3}"),
        large < small,
    );
    Ok(report)
}

/// Algorithm 4.1 over thresholds of the probability ratio of class 0 and each other class.
fn shares_by_thresholds(faces: &[Boundary], hidden: &[f64], tolerance: f64) -> Vec<f64> {
    let ratio = |(n, face): (usize, &Boundary)| {
        let value = |m: f64| {
            let [first, other] = face.at([m, 1.0 - m]);
            hidden[0] * first + hidden[n + 1] * other
        };
        let better = |x: f64, y: f64| Ok::<_, Infallible>(value(x) > value(y));
        let Ok(found) = Interval::new(0.0, 1.0).search(tolerance, Halving::Four, better);
        (1.0 - found.middle()) / found.middle()
    };
    let ratios: Vec<f64> = std::iter::once(1.0).chain(faces.iter().enumerate().map(ratio)).collect();
    let total: f64 = ratios.iter().sum();
    ratios.iter().map(|ratio| ratio / total).collect()
}

fn furthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}
