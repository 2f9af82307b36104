//! From values to pixels, with round ticks.

use crate::shape::px;
use std::fmt::Write as _;

/// Both axes together.
pub(crate) struct Frame {
    pub(crate) x: Scale,
    pub(crate) y: Scale,
}

impl Frame {
    pub(crate) fn shows(&self, x: f64, y: f64) -> bool {
        x.is_finite() && y.is_finite() && !(self.x.log && x <= 0.0) && !(self.y.log && y <= 0.0)
    }

    /// Whether all points, in pixels, lie on the far side of the same edge.
    pub(crate) fn beyond_one_side(&self, points: &[(f64, f64)]) -> bool {
        let all = |beyond: &dyn Fn(f64, f64) -> bool| points.iter().all(|&(x, y)| beyond(x, y));
        all(&|x, _| x < self.x.low_px)
            || all(&|x, _| x > self.x.high_px)
            || all(&|_, y| y > self.y.low_px)
            || all(&|_, y| y < self.y.high_px)
    }

    /// Whether a dot would be seen.
    pub(crate) fn contains(&self, x: f64, y: f64) -> bool {
        self.shows(x, y) && self.x.contains(x) && self.y.contains(y)
    }

    pub(crate) fn path(&self, points: &[(f64, f64)]) -> String {
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
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) low_px: f64,
    pub(crate) high_px: f64,
    pub(crate) log: bool,
}

impl Scale {
    /// Wide enough for all values, up to the next tick; `exact` leaves no room at the ends.
    pub(crate) fn across(values: &[f64], left: f64, right: f64, log: bool, exact: bool) -> Self {
        let (low, high) = match (log, exact) {
            (true, _) => {
                let (low, high) = limits(&logs(values));
                (below(low), -below(-high))
            }
            (false, true) => limits(values),
            (false, false) => rounded_limits(values),
        };
        Self { low, high, low_px: left, high_px: right, log }
    }

    pub(crate) fn up(values: &[f64], top: f64, bottom: f64, log: bool) -> Self {
        let (low, high) = if log {
            let (low, high) = limits(&logs(values));
            let (low, high) = (low.floor(), high.ceil());
            if low < high { (low, high) } else { (low - 1.0, high + 1.0) }
        } else {
            rounded_limits(values)
        };
        Self { low, high, low_px: bottom, high_px: top, log }
    }

    /// From one value to another.
    pub(crate) fn between(from: f64, to: f64, low_px: f64, high_px: f64, log: bool) -> Self {
        let [low, high] = [from, to].map(|value| if log { value.log10() } else { value });
        Self { low, high, low_px, high_px, log }
    }

    pub(crate) fn contains(&self, value: f64) -> bool {
        let place = (self.at(value) - self.low_px) / (self.high_px - self.low_px);
        (-1e-9..=1.0 + 1e-9).contains(&place)
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        self.low_px + (value - self.low) / (self.high - self.low) * (self.high_px - self.low_px)
    }

    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
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

fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().filter(|value| **value > 0.0).map(|value| value.log10()).collect()
}

/// The next lower logarithm of 1, 2 or 5 times a power of ten, and of their inverses' for a negative sign.
fn below(log: f64) -> f64 {
    let decade = log.floor();
    let marks = [0.0, 2_f64.log10(), 5_f64.log10()];
    decade + marks.into_iter().rfind(|mark| decade + mark <= log + 1e-9).unwrap_or(0.0)
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
pub(crate) fn rounded_limits(values: &[f64]) -> (f64, f64) {
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

pub(crate) fn ticks(low: f64, high: f64) -> Vec<(f64, String)> {
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
}
