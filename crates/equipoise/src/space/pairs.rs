//! Pairs around an operating point for whoever chooses questions without a belief: trades at a given rate, and pairs of which
//! one is better.

use super::{OperatingPoint, Space as _};
use crate::linalg::{plus, scaled};
use crate::view::Point;

/// The logarithms of rates at which one kind is given away for hardly any of the other.
const STEEPEST: f64 = 3.6;

impl OperatingPoint {
    /// How many pairs of kinds can be traded for each other.
    pub fn trades(&self) -> usize {
        self.trade_offs().len()
    }

    /// The two ends of a trade at the logarithm of a rate (so many of the second kind for one of the first), as far apart as
    /// there is room; `None` without room. Exactly two kinds differ, and both ends are achievable.
    ///
    /// ```
    /// use equipoise::{Measure, population::Softmax, space::{Achievable, OperatingPoint, Space}};
    /// let law = Softmax::new(vec![1.0, 3.0, 5.0])?;
    /// let set = Achievable::new(&law, Measure::OffDiagonalRates)?;
    /// let space = OperatingPoint::around(&set, &set.extreme(&[-1.0; 6], 0)?.1)?;
    /// let [one, other] = space.traded(0, 0.0).unwrap();
    /// assert_eq!(one.iter().zip(&other).filter(|(a, b)| a != b).count(), 2);
    /// let [better, worse] = space.better_and_worse(0, 1.0).unwrap();
    /// assert!(better.iter().zip(&worse).all(|(a, b)| a <= b) && set.contains(&better, 1e-9));
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn traded(&self, trade: usize, log_rate: f64) -> Option<[Point; 2]> {
        let (one, other) = self.ends(self.trade_offs().get(trade)?, log_rate, [1.0; 2])?;
        Some([one, other])
    }

    /// Two classifiers of which the first makes fewer errors of both kinds of a trade, all else being equal, as far apart as
    /// `share` of the room; `None` without room.
    pub fn better_and_worse(&self, trade: usize, share: f64) -> Option<[Point; 2]> {
        let trade = self.trade_offs().get(trade)?;
        let [flat, steep] = [-STEEPEST, STEEPEST].map(|rate| self.ends(trade, rate, [1.0; 2]));
        let ((more_first, less_first), (less_second, more_second)) = (flat?, steep?);
        // Halfway between what has more of the one kind and what has more of the other there is more of both.
        let half = |one: &Point, other: &Point| {
            let away = plus(&scaled(&plus(one, 1.0, other), 0.5), -1.0, &self.centre());
            plus(&self.centre(), share, &away)
        };
        let (better, worse) = (half(&less_first, &less_second), half(&more_first, &more_second));
        let [fewer, more] = [&better, &worse].map(|point| self.kinds_of(point));
        trade.kinds.iter().all(|&kind| more[kind] > fewer[kind]).then_some([better, worse])
    }
}
