//! The interval search the papers build on: shrink an interval to half by comparing points inside it.

use crate::error::{Result, check};
use serde::{Deserialize, Serialize};

/// How many comparisons one halving may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Halving {
    /// Always four (Algorithm 3.1, ShrinkInterval-1 and -2).
    Four,
    /// At most three, asked one after the other (Section 8.2.2 and the UAI 2022 appendix).
    ///
    /// # Departures
    /// The printed subroutine's last branch starts the interval a quarter too low; it must start at the middle.
    Three,
}

impl TryFrom<u8> for Halving {
    type Error = String;
    fn try_from(queries: u8) -> Result<Self, String> {
        match queries {
            4 => Ok(Halving::Four),
            3 => Ok(Halving::Three),
            other => Err(format!("invalid value: {other}, expected 3 or 4")),
        }
    }
}

impl From<Halving> for u8 {
    fn from(halving: Halving) -> u8 {
        match halving {
            Halving::Four => 4,
            Halving::Three => 3,
        }
    }
}

/// A piece of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// From `low` to `high`.
    pub fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// The point half way.
    pub fn middle(&self) -> f64 {
        0.5 * (self.low + self.high)
    }

    /// How many halvings bring the width to `tolerance` or below.
    pub fn halvings(&self, tolerance: f64) -> usize {
        ((self.high - self.low) / tolerance).log2().ceil().max(0.0) as usize
    }

    /// Searches for the best point of a function with one peak.
    ///
    /// `better(x, y)` says whether x is strictly better than y. The result is the last interval; the papers'
    /// estimate is its [`middle`](Self::middle).
    pub fn search<E>(
        self,
        tolerance: f64,
        halving: Halving,
        mut better: impl FnMut(f64, f64) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let mut interval = self;
        for _ in 0..self.halvings(tolerance) {
            interval = match halving {
                Halving::Four => interval.shrink_by_four(&mut better)?,
                Halving::Three => interval.shrink_by_three(&mut better)?,
            };
        }
        Ok(interval)
    }

    /// Halves with one question each: whether the answer lies above the middle.
    pub fn bisect<E>(self, tolerance: f64, mut above: impl FnMut(f64) -> Result<bool, E>) -> Result<Self, E> {
        let mut interval = self;
        for _ in 0..self.halvings(tolerance) {
            let middle = interval.middle();
            interval = match above(middle)? {
                true => Self::new(middle, interval.high),
                false => Self::new(interval.low, middle),
            };
        }
        Ok(interval)
    }

    /// Lines 4 to 12 of Algorithm 3.1.
    fn shrink_by_four<E>(self, better: &mut impl FnMut(f64, f64) -> Result<bool, E>) -> Result<Self, E> {
        let [a, c, d, e, b] = self.quarters();
        let mut rises = [better(c, a)?, better(d, c)?, better(e, d)?, better(b, e)?];
        // A fall before a rise is out of order for one peak: assume a rise, left to right, once.
        for n in 0..3 {
            if !rises[n] && rises[n + 1] {
                rises[n] = true;
            }
        }
        Ok(match rises {
            [false, ..] | [true, false, ..] => Self::new(a, d),
            [true, true, false, _] => Self::new(c, e),
            [true, true, true, _] => Self::new(d, b),
        })
    }

    fn shrink_by_three<E>(self, better: &mut impl FnMut(f64, f64) -> Result<bool, E>) -> Result<Self, E> {
        let [a, c, d, e, b] = self.quarters();
        if better(a, c)? || better(c, d)? {
            Ok(Self::new(a, d))
        } else if better(d, e)? {
            Ok(Self::new(c, e))
        } else {
            Ok(Self::new(d, b))
        }
    }

    /// Widens the found interval to all values that lead to the same point, if it touches an end of `self` where many
    /// do: `None` if the search ended where the point still moves.
    pub fn flat_end<P: PartialEq>(self, found: Self, point: impl Fn(f64) -> P) -> Option<Self> {
        if point(found.low) == point(self.low) {
            let edge = self.edge(&point, self.low, self.high);
            Some(Self::new(self.low, edge.max(found.high)))
        } else if point(found.high) == point(self.high) {
            let edge = self.edge(&point, self.high, self.low);
            Some(Self::new(edge.min(found.low), self.high))
        } else {
            None
        }
    }

    /// Where the point stops being the one at `flat`, on the way to `other`, by bisection.
    fn edge<P: PartialEq>(&self, point: &impl Fn(f64) -> P, flat: f64, other: f64) -> f64 {
        let (mut inside, mut outside) = (flat, other);
        for _ in 0..60 {
            let middle = 0.5 * (inside + outside);
            if point(middle) == point(flat) { inside = middle } else { outside = middle }
        }
        inside
    }

    fn quarters(&self) -> [f64; 5] {
        let (a, b) = (self.low, self.high);
        [a, 0.25 * (3.0 * a + b), 0.5 * (a + b), 0.25 * (a + 3.0 * b), b]
    }
}

pub(crate) fn checked_tolerance(tolerance: f64) -> Result<f64> {
    check::tolerance("tolerance", tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn search(halving: Halving, peak: f64, tolerance: f64) -> (Interval, usize) {
        let mut asked = 0;
        let height = |x: f64| -(x - peak).abs();
        let Ok(found) = Interval::new(0.0, 1.0).search(tolerance, halving, |x, y| {
            asked += 1;
            Ok::<_, Infallible>(height(x) > height(y))
        });
        (found, asked)
    }

    #[test]
    fn both_searches_keep_the_peak() {
        for step in 0..=1000 {
            let peak = f64::from(step) / 1000.0;
            for halving in [Halving::Four, Halving::Three] {
                let (found, asked) = search(halving, peak, 0.01);
                assert!(found.low <= peak && peak <= found.high, "{peak} {found:?}");
                assert!((found.high - found.low - 1.0 / 128.0).abs() < 1e-12);
                assert!(asked <= 7 * usize::from(u8::from(halving)));
            }
        }
        assert_eq!(search(Halving::Four, 0.3, 0.01).1, 28);
    }

    #[test]
    fn out_of_order_answers_are_taken_as_a_rise() {
        // Falls, then rises: the default order makes it a rise throughout.
        let answers = [false, true, true, true];
        let mut next = answers.into_iter();
        let Ok(found) = Interval::new(0.0, 1.0)
            .search(0.5, Halving::Four, |_, _| Ok::<_, Infallible>(next.next().expect("four questions")));
        assert_eq!(found, Interval::new(0.5, 1.0));
    }
}
