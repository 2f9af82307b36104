//! Plots as SVG text: lines, dots and boxes on axes with round ticks, and a legend.
//!
//! Written here rather than taken from a plotting crate so that the text alternative, the colours in light and
//! dark, and the bytes for a given input stay in our hands.
//!
//! ```text
//! Plot::new("Error against tolerance", "tolerance", "error").line("paper", &points).log_y().to_svg()
//! ```

use crate::terminal::wrap;
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
/// Room for the tick numbers and the axis label on the left.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 28.0;
const LINE_HEIGHT: f64 = 19.0;
/// A rough width of one character of the 14 px text, for wrapping and for spacing the legend.
const CHARACTER: f64 = 7.2;
/// How many different colours and dot shapes there are.
const STYLES: usize = 6;

/// Classes rather than attributes, so that one media query recolours the whole picture. Plain colours rather than
/// custom properties, which several converters do not know.
const STYLE: &str = "\
.back{fill:#fff}.text{fill:#1b1f24;font:14px system-ui,sans-serif}.title{font-size:17px;font-weight:600}\
.small{font-size:12px}.axis{stroke:#57606a;fill:none}.grid{stroke:#e4e7eb;fill:none}\
.line{fill:none;stroke-width:2.2;stroke-linejoin:round}.dash{stroke-dasharray:7 5}.area{stroke:none;opacity:.13}\
.dot{stroke:#fff;stroke-width:1}.box{fill-opacity:.25;stroke-width:1.6}.lead{stroke:#57606a;stroke-width:.7}\
.s0{stroke:#0969b4}.f0{fill:#0969b4}.s1{stroke:#c2410c}.f1{fill:#c2410c}.s2{stroke:#0f7b5f}.f2{fill:#0f7b5f}\
.s3{stroke:#8a3fa0}.f3{fill:#8a3fa0}.s4{stroke:#7a6200}.f4{fill:#7a6200}.s5{stroke:#50575f}.f5{fill:#50575f}\
@media (prefers-color-scheme:dark){.back{fill:#15191e}.text{fill:#e6e9ed}.axis,.lead{stroke:#98a2ad}\
.grid{stroke:#2b323a}.area{opacity:.2}.dot{stroke:#15191e}\
.s0{stroke:#5fb3f5}.f0{fill:#5fb3f5}.s1{stroke:#ff9057}.f1{fill:#ff9057}.s2{stroke:#45d1a3}.f2{fill:#45d1a3}\
.s3{stroke:#d8a0ea}.f3{fill:#d8a0ea}.s4{stroke:#e3c447}.f4{fill:#e3c447}.s5{stroke:#b9c1ca}.f5{fill:#b9c1ca}}";

/// A picture with two axes. Points that are not finite (or not positive on a logarithmic axis) are left out.
#[derive(Debug, Clone)]
pub struct Plot {
    title: String,
    x_label: String,
    y_label: String,
    description: Option<String>,
    series: Vec<Series>,
    log_y: bool,
    view: Option<[(f64, f64); 2]>,
    width: f64,
    height: f64,
}

#[derive(Debug, Clone)]
struct Series {
    label: String,
    marks: Marks,
}

#[derive(Debug, Clone)]
enum Marks {
    Line { points: Vec<(f64, f64)>, dashed: bool },
    Area(Vec<(f64, f64)>),
    Dots(Vec<(f64, f64, String)>),
    Boxes(Vec<(String, [f64; 5])>),
}

impl Plot {
    /// An empty picture.
    pub fn new(title: impl Into<String>, x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            x_label: x_label.into(),
            y_label: y_label.into(),
            description: None,
            series: vec![],
            log_y: false,
            view: None,
            width: WIDTH,
            height: HEIGHT,
        }
    }

    /// A line through the points in their order. An empty label keeps a series out of the legend.
    pub fn line(self, label: impl Into<String>, points: &[(f64, f64)]) -> Self {
        self.with(label, Marks::Line { points: points.to_vec(), dashed: false })
    }

    /// The same, dashed.
    pub fn dashed(self, label: impl Into<String>, points: &[(f64, f64)]) -> Self {
        self.with(label, Marks::Line { points: points.to_vec(), dashed: true })
    }

    /// The inside of a closed outline.
    pub fn area(self, label: impl Into<String>, outline: &[(f64, f64)]) -> Self {
        self.with(label, Marks::Area(outline.to_vec()))
    }

    /// Single points.
    pub fn dots(self, label: impl Into<String>, points: &[(f64, f64)]) -> Self {
        let points = points.iter().map(|&(x, y)| (x, y, String::new())).collect();
        self.with(label, Marks::Dots(points))
    }

    /// Single points with a short text beside each.
    pub fn labelled_dots(self, label: impl Into<String>, points: &[(f64, f64, String)]) -> Self {
        self.with(label, Marks::Dots(points.to_vec()))
    }

    /// A box for each category: minimum, lower quartile, median, upper quartile, maximum.
    ///
    /// The horizontal axis then shows the categories, in the order they first appear; the n-th category, counted
    /// from 0, is at x = n for lines and dots drawn over the boxes. Several series stand side by side.
    pub fn boxes(self, label: impl Into<String>, boxes: &[(impl AsRef<str>, [f64; 5])]) -> Self {
        let boxes = boxes.iter().map(|(category, five)| (category.as_ref().to_owned(), *five)).collect();
        self.with(label, Marks::Boxes(boxes))
    }

    /// Counts the vertical axis in powers of ten.
    pub fn log_y(mut self) -> Self {
        self.log_y = true;
        self
    }

    /// Shows this part only, from the lower left to the upper right corner, in the units of the data.
    pub fn view(mut self, from: (f64, f64), to: (f64, f64)) -> Self {
        self.view = Some([from, to]);
        self
    }

    /// Half as wide, so that two stand side by side in a [`stack`]; the text stays as large.
    pub fn half(mut self) -> Self {
        (self.width, self.height) = (0.5 * WIDTH, 0.5 * WIDTH + 20.0);
        self
    }

    /// What the picture shows, for those who cannot see it; without one, the series are listed.
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    fn with(mut self, label: impl Into<String>, marks: Marks) -> Self {
        self.series.push(Series { label: label.into(), marks });
        self
    }

    /// The picture as a standalone SVG document.
    pub fn to_svg(&self) -> String {
        stack(&self.title, &self.description(), std::slice::from_ref(self))
    }

    /// The picture without the document around it, and its height. `number` tells it from others in the document.
    fn body(&self, number: usize) -> (String, f64) {
        let title_lines = wrap(&self.title, ((self.width - LEFT - RIGHT) / (CHARACTER * 1.25)) as usize);
        let legend = self.legend();
        let top = 24.0 + title_lines.len() as f64 * 22.0;
        let bottom = top + self.height - 120.0;
        let categories = self.categories();
        let legend_top = bottom + if categories.is_empty() { 66.0 } else { 78.0 };
        let height = legend_top + legend.last().map_or(-10.0, |entry| entry.1 * LINE_HEIGHT) + 22.0;
        let frame = self.frame(&categories, top, bottom);

        let mut svg = String::new();
        for (n, line) in title_lines.iter().enumerate() {
            text(&mut svg, "text title", LEFT, 30.0 + 22.0 * n as f64, "start", line);
        }
        self.axes(&mut svg, &frame, &categories, top, bottom);
        let _ = writeln!(
            svg,
            "<clipPath id=\"frame{number}\"><rect x=\"{LEFT}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
            px(top),
            px(self.width - LEFT - RIGHT),
            px(bottom - top)
        );
        self.marks(&mut svg, &frame, &categories, &format!("clip-path=\"url(#frame{number})\""));
        for (x, row, n) in legend {
            self.legend_entry(&mut svg, x, legend_top + row * LINE_HEIGHT, n);
        }
        (svg, height)
    }

    fn frame(&self, categories: &[String], top: f64, bottom: f64) -> Frame {
        match self.view {
            Some([from, to]) => Frame {
                x: Scale { low: from.0, high: to.0, low_px: LEFT, high_px: self.width - RIGHT, log: false },
                y: Scale {
                    low: if self.log_y { from.1.log10() } else { from.1 },
                    high: if self.log_y { to.1.log10() } else { to.1 },
                    low_px: bottom,
                    high_px: top,
                    log: self.log_y,
                },
            },
            None => Frame {
                x: Scale::across(&self.xs(categories), LEFT, self.width - RIGHT, !categories.is_empty()),
                y: Scale::up(&self.ys(), top, bottom, self.log_y),
            },
        }
    }

    fn axes(&self, svg: &mut String, frame: &Frame, categories: &[String], top: f64, bottom: f64) {
        for (value, label) in frame.y.ticks() {
            let y = px(frame.y.at(value));
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M{LEFT} {y}H{}\"/>", self.width - RIGHT);
            text(svg, "text small", LEFT - 8.0, frame.y.at(value) + 4.0, "end", &label);
        }
        if categories.is_empty() {
            for (value, label) in frame.x.ticks() {
                let x = px(frame.x.at(value));
                let _ = writeln!(svg, "<path class=\"grid\" d=\"M{x} {}V{}\"/>", px(top), px(bottom));
                text(svg, "text small", frame.x.at(value), bottom + 18.0, "middle", &label);
            }
        } else {
            let room = ((frame.x.at(1.0) - frame.x.at(0.0)) / CHARACTER) as usize;
            for (n, category) in categories.iter().enumerate() {
                for (row, line) in wrap(category, room).iter().take(2).enumerate() {
                    let y = bottom + 18.0 + 14.0 * row as f64;
                    text(svg, "text small", frame.x.at(n as f64), y, "middle", line);
                }
            }
        }
        let (top, bottom, right) = (px(top), px(bottom), self.width - RIGHT);
        let _ = writeln!(svg, "<path class=\"axis\" d=\"M{LEFT} {top}V{bottom}H{right}\"/>");
        let middle = 0.5 * (frame.y.low_px + frame.y.high_px);
        let offset = if categories.is_empty() { 40.0 } else { 50.0 };
        let below = frame.y.low_px + offset;
        text(svg, "text", 0.5 * (LEFT + self.width - RIGHT), below, "middle", &self.x_label);
        let _ = writeln!(
            svg,
            "<text class=\"text\" text-anchor=\"middle\" transform=\"translate(22 {}) rotate(-90)\">{}</text>",
            px(middle),
            escape(&self.y_label)
        );
    }

    /// `clip` keeps what has no extent of its own, lines and areas, inside the frame.
    fn marks(&self, svg: &mut String, frame: &Frame, categories: &[String], clip: &str) {
        let mut taken = Taken::within(self.width, frame.y.low_px);
        for series in &self.series {
            match &series.marks {
                Marks::Dots(points) => {
                    for (x, y, _) in points {
                        taken.keep(Rectangle::around(frame.x.at(*x), frame.y.at(*y), 4.0, 4.0));
                    }
                }
                Marks::Line { points, .. } => {
                    for ends in points.windows(2) {
                        taken.keep_segment([ends[0], ends[1]].map(|(x, y)| (frame.x.at(x), frame.y.at(y))));
                    }
                }
                Marks::Area(_) | Marks::Boxes(_) => {}
            }
        }
        let box_series: Vec<usize> =
            (0..self.series.len()).filter(|&n| matches!(self.series[n].marks, Marks::Boxes(_))).collect();
        for (n, series) in self.series.iter().enumerate() {
            let style = n % STYLES;
            match &series.marks {
                Marks::Line { points, dashed } => {
                    let dash = if *dashed { " dash" } else { "" };
                    let path = frame.path(points);
                    let _ = writeln!(svg, "<path {clip} class=\"line{dash} s{style}\" d=\"{path}\"/>");
                }
                Marks::Area(points) => {
                    let path = frame.path(points);
                    let _ = writeln!(svg, "<path {clip} class=\"area f{style}\" d=\"{path}Z\"/>");
                }
                Marks::Dots(points) => {
                    for (x, y, label) in points.iter().filter(|(x, y, _)| frame.contains(*x, *y)) {
                        let (x, y) = (frame.x.at(*x), frame.y.at(*y));
                        dot(svg, x, y, style);
                        if !label.is_empty() {
                            taken.label(svg, x, y, label);
                        }
                    }
                }
                Marks::Boxes(boxes) => {
                    let place = box_series.iter().position(|&m| m == n).expect("it is one of them") as f64;
                    let count = box_series.len() as f64;
                    let width = 0.7 * (frame.x.at(1.0) - frame.x.at(0.0)) / count;
                    let shift = (place - 0.5 * (count - 1.0)) * width;
                    for (category, five) in boxes {
                        if five.iter().all(|&value| frame.shows(0.0, value)) {
                            let at = categories.iter().position(|c| c == category).expect("collected") as f64;
                            let shape = Box { centre: frame.x.at(at) + shift, width: width.min(64.0) * 0.8 };
                            shape.draw(svg, five.map(|value| frame.y.at(value)), style);
                        }
                    }
                }
            }
        }
    }

    /// Where each entry of the legend goes: left edge, row, series.
    fn legend(&self) -> Vec<(f64, f64, usize)> {
        let (mut x, mut row) = (LEFT, 0.0);
        let mut entries = vec![];
        for (n, series) in self.series.iter().enumerate().filter(|(_, s)| !s.label.is_empty()) {
            let width = 34.0 + CHARACTER * series.label.chars().count() as f64 + 22.0;
            if x > LEFT && x + width > self.width - RIGHT {
                (x, row) = (LEFT, row + 1.0);
            }
            entries.push((x, row, n));
            x += width;
        }
        entries
    }

    fn legend_entry(&self, svg: &mut String, x: f64, y: f64, n: usize) {
        let style = n % STYLES;
        let (left, right, middle) = (px(x), px(x + 24.0), px(y - 4.5));
        match &self.series[n].marks {
            Marks::Line { dashed, .. } => {
                let dash = if *dashed { " dash" } else { "" };
                let path = format!("M{left} {middle}H{right}");
                let _ = writeln!(svg, "<path class=\"line{dash} s{style}\" d=\"{path}\"/>");
            }
            Marks::Area(_) => {
                let top = px(y - 11.0);
                let _ = writeln!(
                    svg,
                    "<rect class=\"area f{style}\" x=\"{left}\" y=\"{top}\" width=\"24\" height=\"13\"/>"
                );
            }
            Marks::Dots(_) => dot(svg, x + 12.0, y - 4.5, style),
            Marks::Boxes(_) => {
                let top = px(y - 11.0);
                let _ = writeln!(
                    svg,
                    "<rect class=\"box s{style} f{style}\" x=\"{left}\" y=\"{top}\" width=\"24\" height=\"13\"/>"
                );
            }
        }
        text(svg, "text", x + 32.0, y, "start", &self.series[n].label);
    }

    fn categories(&self) -> Vec<String> {
        let mut categories: Vec<String> = vec![];
        for series in &self.series {
            if let Marks::Boxes(boxes) = &series.marks {
                for (category, _) in boxes {
                    if !categories.contains(category) {
                        categories.push(category.clone());
                    }
                }
            }
        }
        categories
    }

    fn xs(&self, categories: &[String]) -> Vec<f64> {
        let mut xs: Vec<f64> = self.points().map(|(x, _)| x).collect();
        if !categories.is_empty() {
            xs.extend([-0.5, categories.len() as f64 - 0.5]);
        }
        xs
    }

    fn ys(&self) -> Vec<f64> {
        let mut ys: Vec<f64> = self.points().map(|(_, y)| y).collect();
        for series in &self.series {
            if let Marks::Boxes(boxes) = &series.marks {
                ys.extend(boxes.iter().flat_map(|(_, five)| *five));
            }
        }
        ys
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.series.iter().flat_map(|series| match &series.marks {
            Marks::Line { points, .. } | Marks::Area(points) => points.clone(),
            Marks::Dots(points) => points.iter().map(|&(x, y, _)| (x, y)).collect(),
            Marks::Boxes(_) => vec![],
        })
    }

    fn description(&self) -> String {
        self.description.clone().unwrap_or_else(|| {
            let named = self.series.iter().filter(|s| !s.label.is_empty());
            let labels: Vec<&str> = named.map(|s| s.label.as_str()).collect();
            format!("{} against {}: {}.", self.y_label, self.x_label, labels.join(", "))
        })
    }
}

/// Several pictures below each other, those of half the width in pairs, as one SVG document.
pub fn stack(title: &str, description: &str, plots: &[Plot]) -> String {
    let mut inside = String::new();
    let (mut left, mut top, mut row_height) = (0.0, 0.0, 0.0_f64);
    for (number, plot) in plots.iter().enumerate() {
        let (body, own_height) = plot.body(number);
        if left + plot.width > WIDTH {
            (left, top, row_height) = (0.0, top + row_height, 0.0);
        }
        let _ = writeln!(inside, "<g transform=\"translate({} {})\">\n{body}</g>", px(left), px(top));
        left += plot.width;
        row_height = row_height.max(own_height);
    }
    let height = top + row_height;
    let height = px(height);
    let (title, description) = (escape(title), escape(description));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>\n\
         <style>{STYLE}</style>\n<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n{inside}</svg>\n"
    )
}

/// Both axes together.
struct Frame {
    x: Scale,
    y: Scale,
}

impl Frame {
    fn shows(&self, x: f64, y: f64) -> bool {
        x.is_finite() && y.is_finite() && !(self.y.log && y <= 0.0)
    }

    /// Whether all points, in pixels, lie on the far side of the same edge.
    fn beyond_one_side(&self, points: &[(f64, f64)]) -> bool {
        let all = |beyond: &dyn Fn(f64, f64) -> bool| points.iter().all(|&(x, y)| beyond(x, y));
        all(&|x, _| x < self.x.low_px)
            || all(&|x, _| x > self.x.high_px)
            || all(&|_, y| y > self.y.low_px)
            || all(&|_, y| y < self.y.high_px)
    }

    /// Whether a dot would be seen.
    fn contains(&self, x: f64, y: f64) -> bool {
        self.shows(x, y) && self.x.contains(x) && self.y.contains(y)
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let shown: Vec<(f64, f64)> = points
            .iter()
            .filter(|(x, y)| self.shows(*x, *y))
            .map(|(x, y)| (self.x.at(*x), self.y.at(*y)))
            .collect();
        let mut path = String::new();
        let mut last: Option<(f64, f64)> = None;
        for (n, &(x, y)) in shown.iter().enumerate() {
            // Nobody sees a step of less than a pixel, or what happens beyond one side of the frame, but everybody
            // loads it. The ends are kept.
            let tiny = last.is_some_and(|(a, b)| (x - a).hypot(y - b) < 0.8);
            let unseen = match (last, shown.get(n + 1)) {
                // The line from the last point kept to the next one must stay beyond the same side.
                (Some(last), Some(&next)) => tiny || self.beyond_one_side(&[last, (x, y), next]),
                _ => false,
            };
            if unseen {
                continue;
            }
            let command = if last.is_none() { "M" } else { "L" };
            let _ = write!(path, "{command}{} {}", px(x), px(y));
            last = Some((x, y));
        }
        path
    }
}

/// From values to pixels.
struct Scale {
    low: f64,
    high: f64,
    low_px: f64,
    high_px: f64,
    log: bool,
}

impl Scale {
    fn across(values: &[f64], left: f64, right: f64, exact: bool) -> Self {
        let (low, high) = if exact { limits(values) } else { rounded_limits(values) };
        Self { low, high, low_px: left, high_px: right, log: false }
    }

    fn up(values: &[f64], top: f64, bottom: f64, log: bool) -> Self {
        let (low, high) = if log {
            let logs: Vec<f64> = values.iter().filter(|v| **v > 0.0).map(|v| v.log10()).collect();
            let (low, high) = limits(&logs);
            let (low, high) = (low.floor(), high.ceil());
            if low < high { (low, high) } else { (low - 1.0, high + 1.0) }
        } else {
            rounded_limits(values)
        };
        Self { low, high, low_px: bottom, high_px: top, log }
    }

    fn contains(&self, value: f64) -> bool {
        let place = (self.at(value) - self.low_px) / (self.high_px - self.low_px);
        (-1e-9..=1.0 + 1e-9).contains(&place)
    }

    fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        self.low_px + (value - self.low) / (self.high - self.low) * (self.high_px - self.low_px)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        if self.log {
            let (low, high) = (self.low.floor() as i32, self.high.ceil() as i32);
            let every = ((high - low) / 8 + 1) as usize;
            // Few decades leave room for numbers in between.
            let times: &[i32] = if high - low <= 2 { &[1, 2, 5] } else { &[1] };
            let marks = (low..=high).step_by(every).flat_map(|n| times.iter().map(move |&t| (t, n)));
            return marks
                .map(|(t, n)| (f64::from(t) * 10_f64.powi(n), decimal(t, n)))
                .filter(|(value, _)| self.contains(*value))
                .collect();
        }
        ticks(self.low, self.high)
    }
}

/// Smallest and largest finite value, widened if they are the same.
fn limits(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        (0.0, 1.0)
    } else if high - low <= 1e-12 * high.abs().max(low.abs()) {
        let around = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        (low - around, high + around)
    } else {
        (low, high)
    }
}

/// Limits moved out to the next tick.
fn rounded_limits(values: &[f64]) -> (f64, f64) {
    let (low, high) = limits(values);
    let step = step(high - low);
    // A value on a tick, up to rounding, needs no further one.
    ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step)
}

/// The spacing of about six ticks: 1, 2 or 5 times a power of ten.
fn step(range: f64) -> f64 {
    let rough = range / 6.0;
    let power = 10_f64.powf(rough.log10().floor());
    let times = rough / power;
    let nice = if times < 1.5 {
        1.0
    } else if times < 3.5 {
        2.0
    } else if times < 7.5 {
        5.0
    } else {
        10.0
    };
    nice * power
}

fn ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let step = step(high - low);
    let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
    let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
    let label = |value: f64| {
        if step < 1e-4 { format!("{value:.1e}") } else { format!("{:.decimals$}", value + 0.0) }
    };
    (first..=last).map(|n| (n as f64 * step, label(n as f64 * step))).collect()
}

/// times · 10^n, written out where that is short.
fn decimal(times: i32, n: i32) -> String {
    match n {
        -4..=0 => format!("{:.*}", n.unsigned_abs() as usize, f64::from(times) * 10_f64.powi(n)),
        1..=5 => format!("{}", i64::from(times) * 10_i64.pow(n as u32)),
        _ => format!("{times}e{n}"),
    }
}

/// One box of a box plot, in pixels.
struct Box {
    centre: f64,
    width: f64,
}

impl Box {
    fn draw(&self, svg: &mut String, five: [f64; 5], style: usize) {
        let [min, q1, median, q3, max] = five.map(px);
        let height = px((five[1] - five[3]).abs().max(0.5));
        let (left, right) = (px(self.centre - 0.5 * self.width), px(self.centre + 0.5 * self.width));
        let (cap_left, cap_right) = (px(self.centre - 0.2 * self.width), px(self.centre + 0.2 * self.width));
        let centre = px(self.centre);
        let _ = writeln!(
            svg,
            "<path class=\"line s{style}\" d=\"M{centre} {min}V{q1}M{centre} {q3}V{max}\
             M{cap_left} {min}H{cap_right}M{cap_left} {max}H{cap_right}M{left} {median}H{right}\"/>\
             <rect class=\"box s{style} f{style}\" x=\"{left}\" y=\"{q3}\" width=\"{}\" height=\"{height}\"/>",
            px(self.width)
        );
    }
}

/// A mark whose shape, not only its colour, tells the series.
fn dot(svg: &mut String, x: f64, y: f64, style: usize) {
    let at = |dx: f64, dy: f64| format!("{} {}", px(x + dx), px(y + dy));
    let path = match style % 4 {
        0 => {
            let _ =
                writeln!(svg, "<circle class=\"dot f{style}\" cx=\"{}\" cy=\"{}\" r=\"4.6\"/>", px(x), px(y));
            return;
        }
        1 => format!("M{}L{}L{}L{}Z", at(-4.0, -4.0), at(4.0, -4.0), at(4.0, 4.0), at(-4.0, 4.0)),
        2 => format!("M{}L{}L{}Z", at(0.0, -5.4), at(5.0, 3.8), at(-5.0, 3.8)),
        _ => format!("M{}L{}L{}L{}Z", at(0.0, -5.6), at(5.6, 0.0), at(0.0, 5.6), at(-5.6, 0.0)),
    };
    let _ = writeln!(svg, "<path class=\"dot f{style}\" d=\"{path}\"/>");
}

/// What labels must not cover, and how far they may reach to the right and down.
struct Taken {
    places: Vec<Rectangle>,
    width: f64,
    bottom: f64,
}

#[derive(Clone, Copy)]
struct Rectangle {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rectangle {
    fn around(x: f64, y: f64, half_width: f64, half_height: f64) -> Self {
        Self { left: x - half_width, top: y - half_height, right: x + half_width, bottom: y + half_height }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

impl Taken {
    fn within(width: f64, bottom: f64) -> Self {
        Self { places: vec![], width, bottom }
    }

    fn keep(&mut self, rectangle: Rectangle) {
        self.places.push(rectangle);
    }

    /// A line, as the small squares along it.
    fn keep_segment(&mut self, [(ax, ay), (bx, by)]: [(f64, f64); 2]) {
        let length = (bx - ax).hypot(by - ay);
        if !length.is_finite() {
            return;
        }
        let steps = (length / 4.0).ceil().clamp(1.0, 500.0);
        for n in 0..=steps as usize {
            let t = n as f64 / steps;
            self.keep(Rectangle::around(ax + t * (bx - ax), ay + t * (by - ay), 1.5, 1.5));
        }
    }

    /// Writes a label at the nearest free place around its dot, joined by a thin line when that is far.
    fn label(&mut self, svg: &mut String, x: f64, y: f64, label: &str) {
        let half_width = 0.5 * CHARACTER * label.chars().count() as f64;
        let inside = Rectangle { left: LEFT, top: 20.0, right: self.width - 2.0, bottom: self.bottom };
        for distance in (0..14).map(|n| 11.0 + 7.0 * f64::from(n)) {
            for direction in 0..16 {
                // Up and to the right first, then around.
                let turn = f64::from((direction + 1) / 2) * if direction % 2 == 0 { 1.0 } else { -1.0 };
                let (sin, cos) =
                    (std::f64::consts::FRAC_PI_4 + turn * std::f64::consts::TAU / 16.0).sin_cos();
                let (cx, cy) = (x + cos * (distance + half_width - 3.0), y - sin * distance);
                let place = Rectangle::around(cx, cy, half_width, 6.5);
                let off = place.left < inside.left
                    || place.right > inside.right
                    || place.top < inside.top
                    || place.bottom > inside.bottom;
                if off || self.places.iter().any(|other| other.meets(&place)) {
                    continue;
                }
                if distance > 12.0 {
                    let (fx, fy) = (x + cos * 6.0, y - sin * 6.0);
                    let (tx, ty) = (cx - cos * half_width, cy + sin * 5.0);
                    let _ = writeln!(
                        svg,
                        "<path class=\"lead\" d=\"M{} {}L{} {}\"/>",
                        px(fx),
                        px(fy),
                        px(tx),
                        px(ty)
                    );
                }
                text(svg, "text small", cx, cy + 4.0, "middle", label);
                self.keep(place);
                return;
            }
        }
    }
}

fn text(svg: &mut String, class: &str, x: f64, y: f64, anchor: &str, content: &str) {
    let (x, y, content) = (px(x), px(y), escape(content));
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{content}</text>"
    );
}

/// A tenth of a pixel is plenty, and keeps files small and equal across machines.
fn px(value: f64) -> String {
    let text = format!("{:.1}", value);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no way to write the other control characters.
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_one_two_or_five_times_a_power_of_ten() {
        let labels = |low, high| ticks(low, high).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(0.0, 0.35), ["0.00", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30", "0.35"]);
        assert_eq!(labels(-20.0, 100.0), ["-20", "0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(0.0, 3000.0), ["0", "500", "1000", "1500", "2000", "2500", "3000"]);
    }

    #[test]
    fn limits_reach_the_next_tick_and_no_further() {
        assert_eq!(rounded_limits(&[0.0, 1.0]), (0.0, 1.0));
        assert_eq!(rounded_limits(&[3.0, 97.0]), (0.0, 100.0));
        assert_eq!(rounded_limits(&[]), (0.0, 1.0));
        assert_eq!(rounded_limits(&[f64::NAN, 2.0, f64::INFINITY]), (1.8, 2.2));
    }

    #[test]
    fn text_from_outside_is_escaped_everywhere() {
        let hostile = "<script>\"&\u{1}";
        let svg = Plot::new(hostile, hostile, hostile)
            .labelled_dots(hostile, &[(0.0, 1.0, hostile.to_owned())])
            .boxes(hostile, &[(hostile, [1.0, 2.0, 3.0, 4.0, 5.0])])
            .describe(hostile)
            .to_svg();
        assert!(!svg.contains("<script") && !svg.contains('\u{1}') && svg.contains("&lt;script&gt;"));
    }

    #[test]
    fn points_that_cannot_be_drawn_are_left_out() {
        let points =
            [(0.0, 0.0), (1.0, f64::NAN), (2.0, f64::INFINITY), (3.0, -1.0), (4.0, 0.01), (5.0, 1.0)];
        let svg = Plot::new("t", "x", "y").line("l", &points).dots("d", &points).log_y().to_svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg.matches("class=\"dot").count(), 3, "two dots and the legend");
    }

    #[test]
    fn a_small_part_of_a_long_line_is_a_small_file() {
        let points: Vec<(f64, f64)> = (0..10_000).map(|n| (f64::from(n), f64::from(n).sin())).collect();
        let svg = Plot::new("t", "x", "y").line("l", &points).view((500.0, -1.0), (510.0, 1.0)).to_svg();
        assert!(svg.len() < 6_000, "{} bytes", svg.len());
    }

    #[test]
    fn an_empty_picture_still_has_axes() {
        let svg = Plot::new("Nothing", "x", "y").to_svg();
        assert!(
            svg.contains("class=\"axis\"") && svg.contains("<title>Nothing</title>") && !svg.contains("NaN")
        );
    }

    #[test]
    fn one_value_on_a_logarithmic_axis_has_a_decade_on_either_side() {
        let svg = Plot::new("t", "x", "y").dots("d", &[(1.0, 0.01)]).log_y().to_svg();
        for label in ["0.001", "0.005", "0.01", "0.1"] {
            assert!(svg.contains(&format!(">{label}<")), "{label}");
        }
    }

    #[test]
    fn boxes_of_several_series_stand_side_by_side() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        let svg = Plot::new("t", "x", "y").boxes("a", &[("one", five)]).boxes("b", &[("one", five)]).to_svg();
        let lefts: Vec<&str> =
            svg.match_indices("<rect class=\"box").map(|(at, _)| &svg[at..at + 40]).collect();
        assert_eq!(lefts.len(), 4);
        assert_ne!(lefts[0], lefts[1]);
    }

    #[test]
    fn half_pictures_stand_in_pairs() {
        let half = || Plot::new("t", "x", "y").line("l", &[(0.0, 0.0), (1.0, 1.0)]).half();
        let whole = Plot::new("t", "x", "y");
        let svg = stack("t", "d", &[half(), half(), half(), whole]);
        let places: Vec<&str> = (svg.match_indices("<g transform=\"translate("))
            .map(|(at, start)| svg[at + start.len()..].split(')').next().unwrap())
            .collect();
        let (first, second, third) = (places[0], places[1], places[2]);
        assert!(first == "0 0" && second == "380 0" && third.starts_with("0 "), "{places:?}");
        assert!(places[3].starts_with("0 ") && places[3] != third, "{places:?}");
    }

    #[test]
    fn labels_of_neighbouring_dots_do_not_cover_each_other() {
        let mut taken = Taken::within(WIDTH, HEIGHT);
        let mut svg = String::new();
        for n in 0..12 {
            taken.label(&mut svg, 300.0 + f64::from(n), 300.0, "10");
        }
        assert_eq!(taken.places.len(), 12);
        for (n, place) in taken.places.iter().enumerate() {
            assert!(taken.places[..n].iter().all(|other| !other.meets(place)));
        }
    }
}
