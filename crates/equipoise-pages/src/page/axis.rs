//! A logarithmic axis: on a page as rows that are as wide as the page, and in a file of its own to keep.

use crate::language::Language;
use equipoise_plot::escape;

/// Where the axis begins and ends, of the width: the numbers at its ends have room.
const INSET: f64 = 0.06;

/// At most this many numbers stand along the axis.
const TICKS: usize = 7;

/// Something on the axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// What it is.
    pub label: String,
    /// Where it is, in words.
    pub value: String,
    /// Its interval in words.
    pub range: Option<String>,
    /// Where it is.
    pub at: Option<f64>,
    /// Where its interval begins and ends; an end that is not known is left out.
    pub ends: Option<[Option<f64>; 2]>,
    /// Whether it was found rather than guessed.
    pub found: bool,
}

/// Marks on one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What the numbers along the axis are.
    pub title: String,
    /// The marks, from the top.
    pub marks: Vec<Mark>,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

/// Numbers are this small or large at most: beyond, nothing can be told apart.
const SMALLEST: f64 = 0.01;
const LARGEST: f64 = 1e6;

impl Axis {
    /// The axis that holds all marks, and 1.
    pub fn new(title: String, marks: Vec<Mark>) -> Self {
        let ends = marks.iter().flat_map(|mark| mark.ends.into_iter().flatten().flatten().chain(mark.at));
        let ends = ends.map(|end| end.clamp(SMALLEST, LARGEST));
        let (low, high) = ends.fold((0.5_f64, 2.0_f64), |(low, high), end| (low.min(end), high.max(end)));
        let (low, high) = (low / 1.15, high * 1.15);
        let ticks = ticks(low, high);
        Self { title, marks, low, high, ticks }
    }

    /// Where a value is, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let along = (value / self.low).ln() / (self.high / self.low).ln();
        INSET + (1.0 - 2.0 * INSET) * along.clamp(0.0, 1.0)
    }

    /// The drawn part of a mark, as wide as its place.
    pub fn row(&self, mark: &Mark) -> String {
        let drawn = self.drawn(mark, 14.0, [0.0, 28.0], &|share| format!("{:.2}%", 100.0 * share));
        format!("<svg class=\"track\" aria-hidden=\"true\">{drawn}</svg>")
    }

    /// The numbers along the axis, as wide as their place.
    pub fn numbers(&self, language: Language) -> String {
        let numbers: String = (self.ticks.iter())
            .map(|tick| {
                let (at, text) = (100.0 * self.share(*tick), written(*tick, language));
                format!("<text x=\"{at:.2}%\" y=\"14\" text-anchor=\"middle\">{text}</text>")
            })
            .collect();
        format!("<svg class=\"ticks\" aria-hidden=\"true\">{numbers}</svg>")
    }

    fn drawn(&self, mark: &Mark, y: f64, [top, bottom]: [f64; 2], x: &dyn Fn(f64) -> String) -> String {
        let line = |class: &str, from: f64, to: f64| {
            format!("<line class=\"{class}\" x1=\"{}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\"/>", x(from), x(to))
        };
        let mut drawn: String = (self.ticks.iter())
            .map(|tick| {
                let (class, at) = (if *tick == 1.0 { "even" } else { "grid" }, x(self.share(*tick)));
                format!("<line class=\"{class}\" x1=\"{at}\" y1=\"{top}\" x2=\"{at}\" y2=\"{bottom}\"/>")
            })
            .collect();
        let kind = if mark.found { "found" } else { "guess" };
        if let Some([low, high]) = mark.ends {
            // An end that nothing sets goes on to the edge.
            let [from, to] =
                [low.map_or(0.0, |low| self.share(low)), high.map_or(1.0, |high| self.share(high))];
            drawn += &line(&format!("span {kind}"), from, to);
        }
        if let Some(at) = mark.at {
            let at = x(self.share(at));
            drawn += &format!("<circle class=\"dot {kind}\" cx=\"{at}\" cy=\"{y}\" r=\"7\"/>");
        }
        drawn
    }

    /// The marks with their words at fixed places, `width` wide from `top` on, for a file; and where they end.
    pub fn fixed(&self, width: f64, top: f64, language: Language) -> (String, f64) {
        let mut y = top;
        let mut drawn = String::new();
        let x = |share: f64| format!("{:.1}", 24.0 + (width - 48.0) * share);
        for mark in &self.marks {
            let range = mark.range.as_ref().map_or(String::new(), |range| format!(" ({range})"));
            drawn += &format!(
                "<text x=\"24\" y=\"{}\"><tspan class=\"soft\">{}</tspan> <tspan class=\"value\">{}</tspan><tspan class=\"soft\">{}</tspan></text>",
                y + 14.0,
                escape(&mark.label),
                escape(&mark.value),
                escape(&range)
            );
            drawn += &self.drawn(mark, y + 36.0, [y + 22.0, y + 50.0], &x);
            y += 56.0;
        }
        for tick in &self.ticks {
            let (at, text) = (x(self.share(*tick)), written(*tick, language));
            drawn += &format!(
                "<text class=\"soft\" x=\"{at}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
                y + 12.0
            );
        }
        drawn += &format!("<text class=\"soft\" x=\"24\" y=\"{}\">{}</text>", y + 36.0, escape(&self.title));
        (drawn, y + 44.0)
    }
}

/// Round numbers on an axis: 1, 2, 5, 10, … of a short one, powers of ten of a long one.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    for (steps, every) in [(&[1.0, 2.0, 5.0][..], 1), (&[1.0], 1), (&[1.0], 2)] {
        let powers = (first..=last).filter(|power| power % every == 0);
        let all = powers.flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
        let found: Vec<f64> = all.filter(|tick| (low..=high).contains(tick)).collect();
        if found.len() <= TICKS {
            return found;
        }
    }
    vec![1.0]
}

/// A round number as the language writes it.
fn written(tick: f64, language: Language) -> String {
    let numbers = language.numbers();
    match tick >= 1.0 {
        true => numbers.count(tick.round() as u64),
        false => format!("{}", (tick * 1e6).round() / 1e6).replace('.', numbers.decimal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(at: f64, ends: [Option<f64>; 2]) -> Mark {
        let (label, value) = ("Yours".to_owned(), "6".to_owned());
        Mark { label, value, range: None, at: Some(at), ends: Some(ends), found: true }
    }

    #[test]
    fn ticks_are_few_and_round() {
        assert_eq!(ticks(0.4, 15.0), [0.5, 1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks(0.05, 300.0), [0.1, 1.0, 10.0, 100.0]);
        assert_eq!(ticks(1e-7, 1e7).len(), 7);
        assert_eq!(written(0.1, Language::German), "0,1");
        assert_eq!(written(1000.0, Language::English), "1,000");
    }

    #[test]
    fn equal_steps_are_equal_factors_and_an_open_end_reaches_the_edge() {
        let axis = Axis::new(String::new(), vec![mark(6.0, [Some(3.0), None])]);
        let step = axis.share(4.0) - axis.share(2.0);
        assert!((axis.share(2.0) - axis.share(1.0) - step).abs() < 1e-9);
        let row = axis.row(&axis.marks[0]);
        assert!(row.contains("x2=\"100.00%\"") && row.contains("class=\"dot found\""), "{row}");
        // What is nothing, or without bounds, is still somewhere on the axis.
        let extreme = Axis::new(String::new(), vec![mark(0.0, [Some(0.0), Some(f64::INFINITY)])]);
        let row = extreme.row(&extreme.marks[0]);
        assert!(!row.contains("NaN") && !row.contains("inf"), "{row}");
    }
}
