//! The pictures of `inspect`: what is achievable, and whether probabilities mean what they say.

use super::survey::{Common, Pair, Survey};
use crate::counts::grouped;
use equipoise_plot::{Plot, stack};

type Point = (f64, f64);

/// More curves than this in one picture cannot be told apart.
const MOST_CURVES: usize = 6;

/// The region of two classes in full, or those of pairs of classes in small, above the reliability curves.
pub fn of(survey: &Survey) -> String {
    let mut plots: Vec<Plot> = match &survey.pairs[..] {
        [pair] => vec![whole(pair, survey)],
        pairs => pairs.iter().map(small).collect(),
    };
    plots.push(reliability(survey));
    stack(
        &format!("What {} rows of predictions allow", grouped(survey.rows as u64)),
        &described(survey),
        &plots,
    )
}

/// The same in words.
pub fn described(survey: &Survey) -> String {
    let regions = match &survey.pairs[..] {
        [pair] => format!(
            "The region of all pairs of recalls of {} and {} that some classifier reaches: it covers {:.0} % of the \
             square. A circle of radius {:.3} around the coin toss is certainly inside.",
            pair.classes[1],
            pair.classes[0],
            100.0 * pair.separation,
            survey.ball.radius
        ),
        pairs => {
            let one = |pair: &Pair| {
                format!("{} and {}: {:.0} %", pair.classes[0], pair.classes[1], 100.0 * pair.separation)
            };
            let all: Vec<String> = pairs.iter().map(one).collect();
            format!(
                "For each of {} pairs of classes, the region of recalls that thresholds between the two reach, with the \
                 share of the square it covers: {}.",
                pairs.len(),
                all.join("; ")
            )
        }
    };
    let errors: Vec<String> =
        survey.classes.iter().map(|class| format!("{} {:.3}", class.name, class.calibration.error)).collect();
    format!(
        "{regions} Below, the share of each class among rows with like predicted probabilities, which would be on the \
         diagonal if the probabilities were right; expected calibration error: {}.",
        errors.join(", ")
    )
}

fn whole(pair: &Pair, survey: &Survey) -> Plot {
    let [negative, positive] = &pair.classes;
    let mut plot = region(pair, format!("What is achievable: {positive} against {negative}"))
        .line("best classifiers", &points(&pair.upper()))
        .line("worst classifiers", &points(&opposite(&pair.upper())))
        .dashed(
            format!("certainly achievable, radius {:.3}", survey.ball.radius),
            &circle(survey.ball.radius),
        );
    if let Some(smooth) = &survey.smooth {
        plot = plot.dashed("smooth boundary", &points(&smooth.boundary));
    }
    if let Some(Common::Ball(common)) = &survey.common_ball {
        let label = format!("in every group, radius {:.3}", common.radius);
        plot = plot.dashed(label, &circle(common.radius));
    }
    plot.labelled_dots("", &extremes(pair)).view((0.0, 0.0), (1.04, 1.04))
}

fn small(pair: &Pair) -> Plot {
    let [negative, positive] = &pair.classes;
    region(pair, format!("{negative} or {positive}"))
        .line("", &points(&pair.upper()))
        .line("", &points(&opposite(&pair.upper())))
        .labelled_dots("", &extremes(pair))
        .view((0.0, 0.0), (1.04, 1.04))
        .half()
}

fn region(pair: &Pair, title: String) -> Plot {
    let [negative, positive] = &pair.classes;
    Plot::new(title, format!("share of {positive} found"), format!("share of {negative} found"))
        .area("", &points(&pair.corners))
}

/// "Never", "always", and the best classifier if both recalls count the same.
fn extremes(pair: &Pair) -> Vec<(f64, f64, String)> {
    let positive = &pair.classes[1];
    let upper = pair.upper();
    let sum = |point: &&[f64; 2]| point[0] + point[1];
    let best = upper.iter().max_by(|a, b| sum(a).total_cmp(&sum(b)));
    let mut extremes =
        vec![(0.0, 1.0, format!("never {positive}")), (1.0, 0.0, format!("always {positive}"))];
    extremes.extend(best.map(|[x, y]| (*x, *y, format!("{:.0} % and {:.0} %", 100.0 * x, 100.0 * y))));
    extremes
}

/// A classifier with all its predictions swapped.
fn opposite(corners: &[[f64; 2]]) -> Vec<[f64; 2]> {
    corners.iter().map(|[x, y]| [1.0 - x, 1.0 - y]).collect()
}

fn points(corners: &[[f64; 2]]) -> Vec<Point> {
    corners.iter().map(|&[x, y]| (x, y)).collect()
}

fn circle(radius: f64) -> Vec<Point> {
    let at = |n: u32| (std::f64::consts::TAU * f64::from(n) / 96.0).sin_cos();
    (0..=96).map(at).map(|(sin, cos)| (0.5 + radius * cos, 0.5 + radius * sin)).collect()
}

fn reliability(survey: &Survey) -> Plot {
    let mut plot = Plot::new(
        "Do the probabilities mean what they say?",
        "predicted probability of a class",
        "share of the class among such rows",
    )
    .dashed("as it should be", &[(0.0, 0.0), (1.0, 1.0)]);
    // Two classes mirror each other: the positive one says it all.
    let first = if survey.classes.len() == 2 { 1 } else { 0 };
    for class in survey.classes.iter().skip(first).take(MOST_CURVES - 1) {
        let bins: Vec<Point> =
            class.calibration.bins.iter().map(|bin| (bin.predicted, bin.observed)).collect();
        plot = plot.line(format!("{} (off by {:.3})", class.name, class.calibration.error), &bins);
    }
    plot.view((0.0, 0.0), (1.0, 1.0))
}
