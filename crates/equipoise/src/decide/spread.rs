//! The range that most of a set of draws lies in.

use crate::error::{Result, check};
use serde::Serialize;

/// A range of a number that is not known exactly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Spread {
    /// The middle part of the draws, leaving out $(1 - \text{level})/2$ of them at each end; `None` without draws.
    ///
    /// Ends between two draws are interpolated, as the usual sample quantiles are.
    ///
    /// ```
    /// use equipoise::Spread;
    /// let draws: Vec<f64> = (0..=100).map(f64::from).collect();
    /// assert_eq!(Spread::of(&draws, 0.9), Some(Spread { low: 5.0, high: 95.0 }));
    /// ```
    pub fn of(draws: &[f64], level: f64) -> Option<Self> {
        let mut sorted = draws.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let tail = 0.5 * (1.0 - level);
        Some(Self { low: quantile(&sorted, tail)?, high: quantile(&sorted, 1.0 - tail)? })
    }

    /// Whether a number is in the range, ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// The value below which a share of the sorted draws lies, interpolated.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    // Rounding of the share must not move an end past its draw.
    let position = (share.clamp(0.0, 1.0) * last as f64 * (1.0 + f64::EPSILON)).min(last as f64);
    let (below, part) = (position.floor() as usize, position.fract());
    let part = if part < 1e-9 { 0.0 } else { part };
    let above = sorted[(below + 1).min(last)];
    // Equal ends may be infinite; their difference would not be a number.
    Some(if part == 0.0 || sorted[below] == above {
        sorted[below]
    } else {
        sorted[below] + part * (above - sorted[below])
    })
}

/// Checks the probability an interval or a statement is to have.
pub(crate) fn check_level(level: f64) -> Result<f64> {
    check::number("level", level, level > 0.0 && level < 1.0, "a number strictly between 0 and 1")
}
