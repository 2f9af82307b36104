//! Charts as SVG inside the page. They are hidden from screen readers; a table with the same numbers stands beside each.
//!
//! Ratios are drawn on a logarithmic scale: a missed case worth three false alarms is as far from 1 as one worth a third.

use crate::markdown::escape;
use equipoise_study::numbers::two_digits;

const WIDTH: f64 = 420.0;
const LEFT: f64 = 8.0;

/// Ratios that get a tick, where they are on the scale.
const TICKS: [(f64, &str); 11] = [
    (0.001, "1/1000"),
    (0.01, "1/100"),
    (1.0 / 30.0, "1/30"),
    (0.1, "1/10"),
    (1.0 / 3.0, "1/3"),
    (1.0, "1"),
    (3.0, "3"),
    (10.0, "10"),
    (30.0, "30"),
    (100.0, "100"),
    (1000.0, "1,000"),
];

/// A logarithmic scale of ratios.
#[derive(Debug, Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// From the smallest to the largest of some logarithms, and at least a factor of 30 wide, drawn between two places.
    fn over(logs: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for log in logs.filter(|log| log.is_finite()) {
            (low, high) = (low.min(log), high.max(log));
        }
        if low > high {
            (low, high) = (0.0, 0.0);
        }
        let missing = (30_f64.ln() - (high - low)).max(0.0) / 2.0;
        Self { low: low - missing - 0.2, high: high + missing + 0.2, from, to }
    }

    fn at(&self, log: f64) -> f64 {
        let share = ((log - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    fn ticks(&self) -> impl Iterator<Item = (f64, &'static str)> {
        TICKS
            .into_iter()
            .map(|(ratio, label)| (ratio.ln(), label))
            .filter(|(log, _)| (self.low..=self.high).contains(log))
            .map(|(log, label)| (self.at(log), label))
    }
}

fn svg(height: f64, body: &str) -> String {
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" aria-hidden=\"true\" focusable=\"false\">{body}</svg>"
    )
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escape(words))
}

fn line(class: &str, [x1, y1, x2, y2]: [f64; 4]) -> String {
    format!("<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>")
}

fn dot(class: &str, x: f64, y: f64) -> String {
    format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>")
}

/// An axis of ratios below a chart, with faint lines upwards.
fn ratios_below(scale: &Scale, top: f64, bottom: f64) -> String {
    let mut body = line("axis", [LEFT, bottom, WIDTH - LEFT, bottom]);
    for (x, label) in scale.ticks() {
        body += &line("grid", [x, top, x, bottom]);
        body += &text(x, bottom + 18.0, "middle", label);
    }
    body
}

/// The posterior of a ratio: densities over logarithms, with the middle and the ends of the 95 % interval.
pub fn density(curve: &[(f64, f64)], [middle, low, high]: [f64; 3]) -> String {
    const TOP: f64 = 10.0;
    const BOTTOM: f64 = 150.0;
    let most = curve.iter().fold(0.0_f64, |most, (_, density)| most.max(*density));
    let seen = curve.iter().filter(|(_, density)| *density > 0.005 * most).map(|(log, _)| *log);
    let scale = Scale::over(seen.chain([low.ln(), high.ln()]), LEFT + 12.0, WIDTH - LEFT - 12.0);
    let y = |density: f64| BOTTOM - density / most.max(1e-12) * (BOTTOM - TOP);
    let inside = curve.iter().filter(|(log, _)| (scale.low..=scale.high).contains(log));
    let points: Vec<String> =
        inside.map(|(log, density)| format!("{:.1} {:.1}", scale.at(*log), y(*density))).collect();
    let mut body = ratios_below(&scale, TOP, BOTTOM);
    if let (Some(first), Some(last)) = (points.first(), points.last()) {
        let ends = [first, last].map(|point| point.split(' ').next().unwrap_or("0"));
        body += &format!(
            "<path class=\"area\" d=\"M{} {BOTTOM} L{} L{} {BOTTOM} Z\"/>",
            ends[0],
            points.join(" L"),
            ends[1]
        );
        body += &format!("<path class=\"curve\" d=\"M{}\"/>", points.join(" L"));
    }
    let [x, from, to] = [middle, low, high].map(|ratio| scale.at(ratio.ln()));
    body += &line("range", [from, BOTTOM, to, BOTTOM]);
    body += &dot("mark", x, BOTTOM);
    svg(BOTTOM + 26.0, &body)
}

/// How an interval of a ratio narrowed: number of the question, then middle, low and high.
pub fn narrowing(known: &[(usize, [f64; 3])]) -> String {
    const TOP: f64 = 10.0;
    const BOTTOM: f64 = 180.0;
    const START: f64 = 52.0;
    let ends = known.iter().flat_map(|(_, [_, low, high])| [low.ln(), high.ln()]);
    let scale = Scale::over(ends, BOTTOM, TOP);
    let across = across(known.iter().map(|(question, _)| *question), START);
    let mut body = line("axis", [START, BOTTOM, WIDTH - LEFT, BOTTOM]);
    for (y, label) in scale.ticks() {
        body += &line("grid", [START, y, WIDTH - LEFT, y]);
        body += &text(START - 6.0, y + 4.0, "end", label);
    }
    for (question, [middle, low, high]) in known {
        let x = across.at(*question);
        body += &line("range", [x, scale.at(low.ln()), x, scale.at(high.ln())]);
        body += &dot("mark", x, scale.at(middle.ln()));
    }
    body += &across.labels(BOTTOM);
    svg(BOTTOM + 26.0, &body)
}

/// How wide what is known was: number of the question, and a width that shrinks towards `goal`.
pub fn widths(known: &[(usize, f64)], goal: f64) -> String {
    const TOP: f64 = 10.0;
    const BOTTOM: f64 = 180.0;
    const START: f64 = 52.0;
    let values = known.iter().map(|(_, width)| width.ln());
    let (mut low, mut high) = (goal.ln(), goal.ln() + 0.5);
    for value in values.filter(|value| value.is_finite()) {
        (low, high) = (low.min(value), high.max(value));
    }
    let y = |width: f64| {
        BOTTOM - ((width.ln() - low) / (high - low).max(1e-9)).clamp(0.0, 1.0) * (BOTTOM - TOP - 10.0) - 6.0
    };
    let across = across(known.iter().map(|(question, _)| *question), START);
    let mut body = line("axis", [START, BOTTOM, WIDTH - LEFT, BOTTOM]);
    body += &line("grid", [START, y(goal), WIDTH - LEFT, y(goal)]);
    body += &text(START - 6.0, y(goal) + 4.0, "end", &two_digits(goal));
    if let Some((_, widest)) = known.iter().max_by(|a, b| a.1.total_cmp(&b.1))
        && (y(*widest) - y(goal)).abs() > 14.0
    {
        body += &line("grid", [START, y(*widest), WIDTH - LEFT, y(*widest)]);
        body += &text(START - 6.0, y(*widest) + 4.0, "end", &two_digits(*widest));
    }
    for (question, width) in known {
        body += &dot("mark", across.at(*question), y(*width));
    }
    body += &across.labels(BOTTOM);
    svg(BOTTOM + 26.0, &body)
}

/// People on a scale of ratios: a name, and middle, low and high of each.
pub fn people(people: &[(String, [f64; 3])]) -> String {
    const ROW: f64 = 22.0;
    const START: f64 = 52.0;
    let ends = people.iter().flat_map(|(_, [_, low, high])| [low.ln(), high.ln()]);
    let scale = Scale::over(ends, START + 8.0, WIDTH - LEFT - 12.0);
    let bottom = 10.0 + ROW * people.len() as f64;
    let mut body = ratios_below(&scale, 4.0, bottom);
    for (place, (name, [middle, low, high])) in people.iter().enumerate() {
        let y = 14.0 + ROW * place as f64;
        body += &text(START - 6.0, y + 5.0, "end", name);
        body += &line("range", [scale.at(low.ln()), y, scale.at(high.ln()), y]);
        body += &dot("mark", scale.at(middle.ln()), y);
    }
    svg(bottom + 26.0, &body)
}

/// People on the plane in which they differ most: a name, a place, and variances and covariance of it, drawn as the
/// ellipse that holds the place with 95 % certainty. Both directions have the same scale.
pub fn plane(people: &[(String, [f64; 2], [f64; 3])]) -> String {
    const SIDE: f64 = WIDTH - 2.0 * LEFT;
    /// The square of the radius that holds 95 % of a normal distribution of the plane.
    const RADIUS: f64 = 5.991;
    let reach = people.iter().flat_map(|(_, [x, y], [xx, _, yy])| {
        [x.abs() + (RADIUS * xx.max(0.0)).sqrt(), y.abs() + (RADIUS * yy.max(0.0)).sqrt()]
    });
    let most = reach.filter(|reach| reach.is_finite()).fold(1e-9, f64::max);
    let at = |x: f64| LEFT + SIDE / 2.0 + x / most * (SIDE / 2.0 - 14.0);
    let middle = at(0.0);
    let mut body = line("grid", [LEFT, middle, LEFT + SIDE, middle]);
    body += &line("grid", [middle, LEFT, middle, LEFT + SIDE]);
    for (_, [x, y], [xx, xy, yy]) in people {
        // The axes of the ellipse are those of its matrix of variances.
        let (mean, half) = ((xx + yy) / 2.0, ((xx - yy) / 2.0).hypot(*xy));
        let scale = |variance: f64| (RADIUS * variance.max(0.0)).sqrt() / most * (SIDE / 2.0 - 14.0);
        let turn = -(2.0 * xy).atan2(xx - yy).to_degrees() / 2.0;
        let (cx, cy) = (at(*x), at(-*y));
        body += &format!(
            "<ellipse class=\"ellipse\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" rx=\"{:.1}\" ry=\"{:.1}\" transform=\"rotate({turn:.1} {cx:.1} {cy:.1})\"/>",
            scale(mean + half),
            scale(mean - half)
        );
    }
    for (name, [x, y], _) in people {
        body += &dot("mark", at(*x), at(-*y));
        body += &text(at(*x) + 8.0, at(-*y) + 5.0, "start", name);
    }
    svg(WIDTH, &body)
}

/// Questions from left to right.
struct Across {
    from: f64,
    step: f64,
    first: usize,
    last: usize,
}

fn across(questions: impl Iterator<Item = usize> + Clone, start: f64) -> Across {
    let (first, last) = (questions.clone().min().unwrap_or(1), questions.max().unwrap_or(1));
    let step = (WIDTH - LEFT - start - 24.0) / (last - first).max(1) as f64;
    Across { from: start + 12.0, step, first, last }
}

impl Across {
    fn at(&self, question: usize) -> f64 {
        self.from + self.step * (question - self.first) as f64
    }

    fn labels(&self, bottom: f64) -> String {
        let mut body = text(self.at(self.first), bottom + 18.0, "middle", &self.first.to_string());
        if self.last > self.first {
            body += &text(self.at(self.last), bottom + 18.0, "middle", &self.last.to_string());
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_has_ticks_and_keeps_what_is_outside_at_its_ends() {
        let scale = Scale::over([2_f64.ln(), 8_f64.ln()].into_iter(), 0.0, 100.0);
        let labels: Vec<&str> = scale.ticks().map(|(_, label)| label).collect();
        assert_eq!(labels, ["1", "3", "10"]);
        assert_eq!([scale.at(-100.0), scale.at(100.0)], [0.0, 100.0]);
        assert!(scale.at(2_f64.ln()) < scale.at(8_f64.ln()));
    }

    #[test]
    fn charts_of_nothing_are_charts() {
        let plane = plane(&[("7".to_owned(), [0.0, 0.0], [0.0, 0.0, 0.0])]);
        for chart in [density(&[], [1.0, 1.0, 1.0]), narrowing(&[]), widths(&[], 1.6), people(&[]), plane] {
            assert!(chart.starts_with("<svg") && !chart.contains("NaN") && !chart.contains("inf"), "{chart}");
        }
    }

    #[test]
    fn names_are_text() {
        assert!(people(&[("<b>".to_owned(), [1.0, 0.5, 2.0])]).contains("&lt;b&gt;"));
    }
}
