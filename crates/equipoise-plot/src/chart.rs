//! Small charts inside pages, which readable text keeps narrow: the same numbers, the same bytes. Colours are classes of the
//! page's style sheet, and a table beside each chart says the same.

use crate::shape::escape;
use std::fmt::Write as _;

/// Room for the numbers of the vertical axis.
const LEFT: f64 = 54.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
/// Room for the numbers and the label of the horizontal axis.
const BOTTOM: f64 = 38.0;
/// Narrow, so that text stays readable when the picture shrinks to a phone.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 240.0;
/// A row of a chart of rows: its name, and its marks below.
const ROW: f64 = 36.0;
/// The part of a row that its name takes.
const NAME: f64 = 16.0;

/// From numbers to places on an axis.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    from: f64,
    to: f64,
    log: bool,
}

impl Axis {
    /// Even steps.
    pub fn linear(from: f64, to: f64) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Self { from, to, log: false }
    }

    /// Even factors.
    pub fn log(from: f64, to: f64) -> Self {
        let from = from.max(1e-6);
        Self { from, to: to.max(from * 1.5), log: true }
    }

    /// Where a value lies between the ends, from 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        let share = match self.log {
            true => (value.max(1e-12) / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        };
        share.clamp(0.0, 1.0)
    }

    /// Round values to mark.
    pub fn ticks(&self) -> Vec<f64> {
        if self.log {
            let decades = |steps: &[f64]| -> Vec<f64> {
                let (first, last) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
                let all = (first..=last).flat_map(|n| steps.iter().map(move |step| step * 10_f64.powi(n)));
                all.filter(|tick| (self.from * 0.999..=self.to * 1.001).contains(tick)).collect()
            };
            // Every digit where the axis is short, powers of ten where it is long.
            let every = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
            let all = [&every[..], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]].map(decades);
            let fits = |ticks: &&Vec<f64>| ticks.len() <= 7;
            return all.iter().find(fits).unwrap_or(&all[3]).clone();
        }
        let rough = (self.to - self.from) / 5.0;
        let unit = 10_f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|n| n * unit).into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let first = (self.from / step - 1e-9).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    }
}

/// A number beside an axis.
fn told(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // Ticks are round: two digits say all.
    let decimals = (1.0 - value.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A picture under construction.
#[derive(Debug, Clone)]
pub struct Chart {
    x: Axis,
    y: Axis,
    height: f64,
    left: f64,
    body: String,
    /// Names of rows, drawn last so that nothing covers them.
    names: Vec<String>,
}

impl Chart {
    /// Two axes with their names.
    pub fn new(x: Axis, y: Axis, x_label: &str, y_label: &str) -> Self {
        let mut chart = Self { x, y, height: HEIGHT, left: LEFT, body: String::new(), names: vec![] };
        for tick in y.ticks() {
            let at = chart.down(tick);
            chart.add(format_args!("<path class='grid' d='M{LEFT} {at:.1}H{:.1}'/>", WIDTH - RIGHT));
            chart.text(LEFT - 5.0, at + 4.0, "end", &told(tick));
        }
        chart.foot(x_label);
        chart.add(format_args!(
            "<text transform='translate(11 {:.1}) rotate(-90)' text-anchor='middle'>{}</text>",
            TOP + (HEIGHT - TOP - BOTTOM) / 2.0,
            escape(y_label)
        ));
        chart
    }

    /// One axis at the foot, and rows with names.
    pub fn rows(x: Axis, x_label: &str, names: &[String]) -> Self {
        let height = TOP + ROW * names.len() as f64 + BOTTOM;
        let (y, names) = (Axis::linear(0.0, 1.0), names.to_vec());
        let mut chart = Self { x, y, height, left: 10.0, body: String::new(), names };
        chart.foot(x_label);
        chart
    }

    fn foot(&mut self, label: &str) {
        let base = self.height - BOTTOM;
        for tick in self.x.ticks() {
            let at = self.along(tick);
            self.add(format_args!("<path class='grid' d='M{at:.1} {TOP}V{base:.1}'/>"));
            self.text(at, base + 15.0, "middle", &told(tick));
        }
        let (left, right) = (self.left, WIDTH - RIGHT);
        self.add(format_args!("<path class='axis' d='M{left:.1} {base:.1}H{right:.1}'/>"));
        self.text((self.left + WIDTH - RIGHT) / 2.0, base + 32.0, "middle", label);
    }

    fn add(&mut self, part: std::fmt::Arguments) {
        self.body.write_fmt(part).expect("a string takes everything");
    }

    fn along(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (WIDTH - RIGHT - self.left)
    }

    fn down(&self, value: f64) -> f64 {
        let base = self.height - BOTTOM;
        base - self.y.share(value) * (base - TOP)
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        self.add(format_args!("<text x='{x:.1}' y='{y:.1}' text-anchor='{anchor}'>{}</text>", escape(text)));
    }

    /// A line; `style` is one of `s0` to `s5`, with `dash` for a dashed one.
    pub fn line(mut self, points: &[[f64; 2]], style: &str) -> Self {
        let path = self.path(points);
        self.add(format_args!("<path class='line {style}' d='{path}'/>"));
        self
    }

    /// A line with the area down to the axis.
    pub fn area(mut self, points: &[[f64; 2]], style: &str) -> Self {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return self };
        let (path, base) = (self.path(points), self.height - BOTTOM);
        let (from, to) = (self.along(first[0]), self.along(last[0]));
        self.add(format_args!(
            "<path class='area {style}' d='{path}L{to:.1} {base:.1}L{from:.1} {base:.1}Z'/>"
        ));
        self.line(points, style)
    }

    fn path(&self, points: &[[f64; 2]]) -> String {
        let place = |p: &[f64; 2]| format!("{:.1} {:.1}", self.along(p[0]), self.down(p[1]));
        let places: Vec<String> = points.iter().map(place).collect();
        format!("M{}", places.join("L"))
    }

    /// A band across the picture.
    pub fn band(mut self, from: f64, to: f64, style: &str) -> Self {
        let (from, to, base) = (self.along(from), self.along(to), self.height - BOTTOM);
        let width = (to - from).max(1.0);
        let height = base - TOP;
        self.add(format_args!(
            "<rect class='area {style}' x='{from:.1}' y='{TOP}' width='{width:.1}' height='{height:.1}'/>"
        ));
        self
    }

    /// A line across the picture; in a chart of rows it leaves out their names.
    pub fn rule(mut self, at: f64, style: &str) -> Self {
        let (at, base) = (self.along(at), self.height - BOTTOM);
        let path: String = match self.names.len() {
            0 => format!("M{at:.1} {TOP}V{base:.1}"),
            rows => (0..rows)
                .map(|row| {
                    let top = TOP + ROW * row as f64;
                    format!("M{at:.1} {:.1}V{:.1}", top + NAME, top + ROW)
                })
                .collect(),
        };
        self.add(format_args!("<path class='line {style}' d='{path}'/>"));
        self
    }

    /// A dot.
    pub fn dot(mut self, x: f64, y: f64, style: &str) -> Self {
        let (x, y) = (self.along(x), self.down(y));
        self.add(format_args!("<circle class='dot {style}' cx='{x:.1}' cy='{y:.1}' r='3.5'/>"));
        self
    }

    /// A text beside a place.
    pub fn label(mut self, x: f64, y: f64, text: &str) -> Self {
        let (x, y) = (self.along(x) + 7.0, self.down(y) + 4.0);
        self.text(x, y, "start", text);
        self
    }

    /// A line along the picture.
    pub fn level(mut self, at: f64, style: &str) -> Self {
        let (at, left, right) = (self.down(at), self.left, WIDTH - RIGHT);
        self.add(format_args!("<path class='line {style}' d='M{left:.1} {at:.1}H{right:.1}'/>"));
        self
    }

    /// An upright interval.
    pub fn upright(mut self, x: f64, low: f64, high: f64, style: &str) -> Self {
        let (x, low, high) = (self.along(x), self.down(low), self.down(high));
        self.add(format_args!("<path class='line {style}' d='M{x:.1} {low:.1}V{high:.1}'/>"));
        self
    }

    /// The ellipse that holds 95 % of a normal distribution around a point. Both axes must be linear.
    pub fn ellipse(self, x: f64, y: f64, [xx, xy, yy]: [f64; 3], style: &str) -> Self {
        // Cholesky of two by two; the circle of radius 2.45 holds 95 % of a normal in the plane.
        let a = xx.max(0.0).sqrt();
        let b = if a > 0.0 { xy / a } else { 0.0 };
        let c = (yy - b * b).max(0.0).sqrt();
        let at = |step: u32| {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(step) / 36.0).sin_cos();
            [x + 2.45 * a * cos, y + 2.45 * (b * cos + c * sin)]
        };
        let points: Vec<[f64; 2]> = (0..=36).map(at).collect();
        self.line(&points, style)
    }

    /// In a chart of rows: an interval with a dot.
    pub fn interval(mut self, row: usize, estimate: f64, low: f64, high: f64, style: &str) -> Self {
        let y = TOP + ROW * row as f64 + 24.0;
        let [estimate, low, high] = [estimate, low, high].map(|value| self.along(value));
        self.add(format_args!("<path class='line {style}' d='M{low:.1} {y:.1}H{high:.1}'/>"));
        self.add(format_args!("<circle class='dot {style}' cx='{estimate:.1}' cy='{y:.1}' r='4'/>"));
        self
    }

    /// In a chart of rows: a bar from the left end.
    pub fn bar(mut self, row: usize, value: f64, style: &str) -> Self {
        let y = TOP + ROW * row as f64 + 17.0;
        let width = (self.along(value) - self.left).max(1.0);
        let left = self.left;
        self.add(format_args!(
            "<rect class='bar {style}' x='{left:.1}' y='{y:.1}' width='{width:.1}' height='13'/>"
        ));
        self
    }

    /// The finished picture. Readers of screens are given the table beside it.
    pub fn svg(mut self) -> String {
        for (n, name) in std::mem::take(&mut self.names).iter().enumerate() {
            self.text(self.left, TOP + ROW * n as f64 + 12.0, "start", name);
        }
        format!(
            "<svg class='chart' viewBox='0 0 {WIDTH} {:.0}' aria-hidden='true' focusable='false'>{}</svg>",
            self.height, self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(Axis::linear(0.0, 1.0).ticks(), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(Axis::log(1.0, 100.0).ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        for (from, to) in [(0.02, 180.0), (4.0, 9.0), (1.0, 1.2)] {
            assert!((1..=8).contains(&Axis::log(from, to).ticks().len()), "{from} to {to}");
        }
        assert_eq!(["0.2", "10", "-0.5", "0"], [0.2, 10.0, -0.5, 0.0].map(told));
    }

    #[test]
    fn a_rule_does_not_cross_the_names_of_rows() {
        let names = ["one", "two"].map(str::to_owned);
        let svg = Chart::rows(Axis::linear(0.0, 1.0), "x", &names).rule(0.5, "dash").svg();
        assert!(svg.contains("d='M179.0 26.0V46.0M179.0 62.0V82.0'"), "{svg}");
        // Where the names stand.
        assert!(svg.contains("y='22.0' text-anchor='start'>one<"), "{svg}");
    }

    #[test]
    fn nothing_leaves_the_picture() {
        let chart = Chart::new(Axis::linear(0.0, 1.0), Axis::log(1.0, 10.0), "x <", "y");
        let svg = chart.dot(5.0, 1000.0, "s0").svg();
        assert!(svg.contains("cx='348.0' cy='10.0'") && svg.contains("x &lt;"));
    }
}
