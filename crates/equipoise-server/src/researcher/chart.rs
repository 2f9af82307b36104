//! What the pages draw. Charts are hidden from screen readers; a table with the same numbers stands beside each.
//!
//! Ratios are drawn on a logarithmic scale: a missed case worth three false alarms is as far from 1 as one worth a third.

use equipoise_plot::{Axis, Chart};

/// Ratios from the smallest to the largest of some, and at least a factor of 30 wide.
fn ratios(all: impl Iterator<Item = f64>) -> Axis {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for ratio in all.filter(|ratio| ratio.is_finite() && *ratio > 0.0) {
        (low, high) = (low.min(ratio), high.max(ratio));
    }
    if low > high {
        (low, high) = (1.0, 1.0);
    }
    let wider = (30.0 / (high / low)).max(1.0).sqrt();
    Axis::log(low / wider, high * wider)
}

/// Questions from the first to the last.
fn questions(all: impl Iterator<Item = usize>) -> Axis {
    Axis::linear(0.0, all.max().unwrap_or(1) as f64 + 1.0)
}

/// The posterior of a ratio: densities over logarithms, with the middle and the ends of the 95 % interval.
pub fn density(curve: &[(f64, f64)], [middle, low, high]: [f64; 3]) -> String {
    let most = curve.iter().fold(1e-12_f64, |most, (_, density)| most.max(*density));
    let seen: Vec<[f64; 2]> = curve
        .iter()
        .filter(|(_, density)| *density > 0.005 * most)
        .map(|(log, density)| [log.exp(), density / most])
        .collect();
    let x = ratios(seen.iter().map(|[ratio, _]| *ratio).chain([low, high]));
    let chart = Chart::new(x, Axis::linear(0.0, 1.0), "cost ratio", "plausibility");
    chart.band(low, high, "s5").area(&seen, "s0").rule(middle, "s0 dash").svg()
}

/// How an interval of a ratio narrowed: number of the question, then middle, low and high.
pub fn narrowing(known: &[(usize, [f64; 3])]) -> String {
    let y = ratios(known.iter().flat_map(|(_, [_, low, high])| [*low, *high]));
    let x = questions(known.iter().map(|(question, _)| *question));
    let mut chart = Chart::new(x, y, "question", "cost ratio");
    for (question, [middle, low, high]) in known {
        let at = *question as f64;
        chart = chart.upright(at, *low, *high, "s0").dot(at, *middle, "s0");
    }
    chart.svg()
}

/// How wide what is known was: number of the question, and a width that shrinks towards `goal`, if there is one.
pub fn widths(known: &[(usize, f64)], goal: Option<f64>) -> String {
    let all = || known.iter().map(|(_, width)| *width).filter(|width| width.is_finite());
    let about = goal.or_else(|| all().next()).unwrap_or(1.0);
    let (least, most) = (all().fold(about, f64::min), all().fold(1.6 * about, f64::max));
    let x = questions(known.iter().map(|(question, _)| *question));
    let mut chart = Chart::new(x, Axis::log(0.9 * least, 1.1 * most), "question", "how unsure");
    if let Some(goal) = goal {
        chart = chart.level(goal, "s5 dash");
    }
    for (question, width) in known {
        chart = chart.dot(*question as f64, *width, "s0");
    }
    chart.svg()
}

/// People on a scale of ratios: a name, and middle, low and high of each.
pub fn people(people: &[(String, [f64; 3])]) -> String {
    let x = ratios(people.iter().flat_map(|(_, [_, low, high])| [*low, *high]));
    let names: Vec<String> = people.iter().map(|(name, _)| name.clone()).collect();
    let mut chart = Chart::rows(x, "cost ratio", &names);
    for (row, (_, [middle, low, high])) in people.iter().enumerate() {
        chart = chart.interval(row, *middle, *low, *high, "s0");
    }
    chart.svg()
}

/// People on the plane in which they differ most: a name, a place, and variances and covariance of it, drawn as the
/// ellipse that holds the place with 95 % certainty. Both directions have the same scale.
pub fn plane(people: &[(String, [f64; 2], [f64; 3])]) -> String {
    let reach = people.iter().flat_map(|(_, [x, y], [xx, _, yy])| {
        [x.abs() + 2.5 * xx.max(0.0).sqrt(), y.abs() + 2.5 * yy.max(0.0).sqrt()]
    });
    let most = reach.filter(|reach| reach.is_finite()).fold(0.05, f64::max);
    let axis = Axis::linear(-most, most);
    let mut chart = Chart::new(axis, axis, "first direction", "second direction");
    for (name, [x, y], covariance) in people {
        chart = chart.ellipse(*x, *y, *covariance, "s0 thin").dot(*x, *y, "s0").label(*x, *y, name);
    }
    chart.svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_of_nothing_are_charts() {
        let plane = plane(&[("7".to_owned(), [0.0, 0.0], [0.0, 0.0, 0.0])]);
        for chart in
            [density(&[], [1.0, 1.0, 1.0]), narrowing(&[]), widths(&[], Some(1.6)), people(&[]), plane]
        {
            assert!(chart.starts_with("<svg") && !chart.contains("NaN") && !chart.contains("inf"), "{chart}");
        }
    }

    #[test]
    fn names_are_text() {
        assert!(people(&[("<b>".to_owned(), [1.0, 0.5, 2.0])]).contains("&lt;b&gt;"));
    }
}
