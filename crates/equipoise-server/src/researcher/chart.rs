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

/// The styles of lines that can be told apart.
pub const STYLES: [&str; 6] = ["s0", "s1", "s2", "s3", "s4", "s5"];

/// How many had come, and were done, over the time from the first to the last: hours, or days of a long study.
pub fn arrivals(came: &[i64], done: &[i64], first: i64, last: i64) -> String {
    let hours = last.saturating_sub(first) as f64 / 3_600_000.0;
    let (unit, label) = if hours > 72.0 { (86_400_000.0, "days") } else { (3_600_000.0, "hours") };
    let along = |at: i64| at.saturating_sub(first) as f64 / unit;
    let end = along(last).max(0.1);
    let stairs = |times: &[i64]| -> Vec<[f64; 2]> {
        let mut points = vec![[0.0, 0.0]];
        for (before, at) in times.iter().enumerate() {
            points.extend([[along(*at), before as f64], [along(*at), before as f64 + 1.0]]);
        }
        points.push([end, times.len() as f64]);
        points
    };
    let y = Axis::linear(0.0, (came.len().max(done.len()) as f64).max(1.0) * 1.05);
    let chart = Chart::new(Axis::linear(0.0, end), y, &format!("{label} since the first came"), "people");
    chart.line(&stairs(came), "s0").line(&stairs(done), "s1 dash").svg()
}

/// Which share was done within so many minutes: sorted, one a person.
pub fn durations(minutes: &[f64]) -> String {
    let long = |minutes: f64| minutes.clamp(0.5, 100_000.0);
    let (low, high) = (minutes.first().map_or(1.0, |m| long(*m)), minutes.last().map_or(10.0, |m| long(*m)));
    let x = Axis::log(0.8 * low, (1.25 * high).max(2.0 * low));
    let all = minutes.len().max(1) as f64;
    let mut chart = Chart::new(x, Axis::linear(0.0, 1.0), "minutes", "share done");
    for (n, minutes) in minutes.iter().enumerate() {
        chart = chart.dot(long(*minutes), (n as f64 + 0.5) / all, "s0");
    }
    chart.svg()
}

/// What models cost at each ratio, with people's ratios as dots beneath, and the ratio somebody asks about.
pub fn costs(lines: &[Vec<[f64; 2]>], people: &[f64], asked: Option<f64>, [low, high]: [f64; 2]) -> String {
    let most =
        lines.iter().flatten().map(|[_, cost]| *cost).filter(|cost| cost.is_finite()).fold(1.0, f64::max);
    let below = -0.12 * most;
    let mut chart = Chart::new(
        Axis::log(low, high),
        Axis::linear(2.0 * below, 1.05 * most),
        "cost ratio",
        "more than the cheapest",
    );
    for (points, style) in lines.iter().zip(STYLES) {
        chart = chart.line(points, style);
    }
    for ratio in people {
        chart = chart.dot(*ratio, below, "s5");
    }
    if let Some(asked) = asked {
        chart = chart.rule(asked, "s0 dash");
    }
    chart.svg()
}

/// Everybody from low to high, as wide as the page: a name, and middle, low and high of each. Whoever points at a dot is told
/// whose it is.
pub fn crowd(people: &[(String, [f64; 3])]) -> String {
    const WIDTH: f64 = 960.0;
    let row = (480.0 / people.len().max(1) as f64).clamp(8.0, 30.0);
    let height = 20.0 + row * people.len() as f64;
    let x = ratios(people.iter().flat_map(|(_, [_, low, high])| [*low, *high]));
    let along = |ratio: f64| 40.0 + x.share(ratio).clamp(0.0, 1.0) * (WIDTH - 60.0);
    let mut svg = format!(
        "<svg class='chart wide' viewBox='0 0 {WIDTH} {:.0}' aria-hidden='true' focusable='false'>",
        height + 68.0
    );
    for tick in x.ticks() {
        let at = along(tick);
        let told = equipoise_study::numbers::significant(tick, 2);
        svg.push_str(&format!(
            "<path class='grid' d='M{at:.1} 8V{height:.1}'/><text x='{at:.1}' y='{:.1}' text-anchor='middle'>{told}</text>",
            height + 28.0
        ));
    }
    svg.push_str(&format!("<path class='axis' d='M40 {height:.1}H{:.1}'/>", WIDTH - 20.0));
    svg.push_str(&format!(
        "<text x='{:.1}' y='{:.1}' text-anchor='middle'>cost ratio</text>",
        WIDTH / 2.0,
        height + 62.0
    ));
    for (n, (name, [middle, low, high])) in people.iter().enumerate() {
        let y = 14.0 + row * (n as f64 + 0.5);
        let [middle_at, low_at, high_at] = [*middle, *low, *high].map(along);
        let name = equipoise_plot::escape(name);
        let told = super::pages::interval([*middle, *low, *high]);
        svg.push_str(&format!(
            "<g><title>Participant {name}: {told}</title><path class='line thin s0' d='M{low_at:.1} {y:.1}H{high_at:.1}'/><circle class='dot s0' cx='{middle_at:.1}' cy='{y:.1}' r='{:.1}'/></g>",
            (0.4 * row).clamp(2.5, 5.0)
        ));
    }
    svg + "</svg>"
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
        for chart in [
            density(&[], [1.0, 1.0, 1.0]),
            narrowing(&[]),
            widths(&[], Some(1.6)),
            plane,
            arrivals(&[5], &[], 5, 5),
            durations(&[0.0]),
            costs(&[], &[], None, [0.5, 50.0]),
            crowd(&[]),
        ] {
            assert!(chart.starts_with("<svg") && !chart.contains("NaN") && !chart.contains("inf"), "{chart}");
        }
    }

    #[test]
    fn names_are_text() {
        let odd = [("<b>".to_owned(), [1.0, 0.5, 2.0])];
        assert!(crowd(&odd).contains("&lt;b&gt;"));
    }
}
