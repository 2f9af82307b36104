//! What a cost ratio says in words: one rule for prompts, pages and reports, each of which has its own sentence.

/// Ratios beyond this are where those that are thought possible end: the answers have not set such an end.
const LARGEST: f64 = 0.95 * equipoise::engine::LARGEST_RATIO;

/// How many of the cheaper mistake are accepted to avoid one of the dearer one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exchange {
    /// Whether a missed case is the dearer one, rather than a false alarm.
    pub missed_is_dearer: bool,
    /// How many.
    pub amount: Amount,
}

/// How much of an exchange is known. Numbers are above 1, since the dearer mistake is what is avoided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// Either mistake may be the dearer one.
    Unsettled,
    /// At least so many; nothing sets an upper limit.
    AtLeast(f64),
    /// About so many, within a range where one is known.
    About(f64, Option<[f64; 2]>),
}

impl Exchange {
    /// What a ratio says that is known without an interval.
    pub fn at(ratio: f64) -> Self {
        let missed_is_dearer = ratio >= 1.0;
        let amount = if missed_is_dearer { ratio } else { 1.0 / ratio };
        Self { missed_is_dearer, amount: Amount::About(amount, None) }
    }

    /// What a ratio and the ends of its interval say; an end that is infinite, 0, or beyond what is thought possible is none.
    pub fn within(ratio: f64, [low, high]: [f64; 2]) -> Self {
        let missed_is_dearer = ratio >= 1.0;
        let [ratio, low, high] =
            if missed_is_dearer { [ratio, low, high] } else { [1.0 / ratio, 1.0 / high, 1.0 / low] };
        let amount = match high < LARGEST {
            _ if low <= 1.0 => Amount::Unsettled,
            true => Amount::About(ratio, Some([low, high])),
            false => Amount::AtLeast(low),
        };
        Self { missed_is_dearer, amount }
    }

    /// The dearer of the two mistakes, then the cheaper one.
    pub fn dearer_first<T>(&self, missed: T, alarm: T) -> [T; 2] {
        if self.missed_is_dearer { [missed, alarm] } else { [alarm, missed] }
    }
}

/// An end of an interval, if the answers set it.
pub fn set(end: f64) -> Option<f64> {
    (end > 1.0 / LARGEST && end < LARGEST).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn says(ratio: f64, ends: [f64; 2], expected: Amount, missed_is_dearer: bool) {
        assert_eq!(Exchange::within(ratio, ends), Exchange { missed_is_dearer, amount: expected });
    }

    #[test]
    fn the_number_is_told_from_the_dearer_mistake() {
        says(6.0, [5.0, 8.0], Amount::About(6.0, Some([5.0, 8.0])), true);
        says(0.25, [0.125, 0.5], Amount::About(4.0, Some([2.0, 8.0])), false);
        assert_eq!(Exchange::at(0.25).amount, Amount::About(4.0, None));
        assert_eq!(Exchange::at(0.25).dearer_first("miss", "alarm"), ["alarm", "miss"]);
    }

    #[test]
    fn an_interval_around_1_settles_nothing() {
        says(1.5, [0.8, 2.0], Amount::Unsettled, true);
        says(0.9, [0.5, 1.0], Amount::Unsettled, false);
        says(3.0, [0.9, f64::INFINITY], Amount::Unsettled, true);
        says(1.0, [0.0, f64::INFINITY], Amount::Unsettled, true);
    }

    #[test]
    fn an_end_that_is_not_set_is_not_told() {
        says(60.0, [20.0, f64::INFINITY], Amount::AtLeast(20.0), true);
        says(90.0, [20.0, 4000.0], Amount::AtLeast(20.0), true);
        says(0.01, [0.0, 0.05], Amount::AtLeast(20.0), false);
        assert_eq!([set(0.001), set(6.0), set(199.0)], [None, Some(6.0), None]);
    }
}
