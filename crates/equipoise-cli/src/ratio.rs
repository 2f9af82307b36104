//! The cost ratio of a two-class metric: how many false alarms one missed case is worth.

use equipoise::{Answered, Metric, Preference, metric::Family};
pub use equipoise_study::numbers::two_digits;

/// The ratio a linear two-class metric stands for; `None` for other metrics.
///
/// Expected cost = R · missed + false alarms, and missed = prior − true positives, so the weights on
/// (true positive, true negative) are in the ratio R : 1.
pub fn of(metric: &Metric) -> Option<f64> {
    match metric.family() {
        Family::Linear(linear) => match linear.weights() {
            [true_positive, true_negative] => Some(true_positive / true_negative),
            _ => None,
        },
        _ => None,
    }
}

/// The cost ratios that agree with every answer so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreeing {
    /// Smallest ratio.
    pub low: f64,
    /// Largest; infinite as long as nothing limits it.
    pub high: f64,
}

impl Agreeing {
    /// `None` if no ratio agrees with all answers. "Can't tell" excludes nothing.
    pub fn with(transcript: &[Answered]) -> Option<Self> {
        let mut agreeing = Self { low: 0.0, high: f64::INFINITY };
        for answered in transcript {
            let (better, worse) = match answered.preference {
                Preference::First => (&answered.query.first, &answered.query.second),
                Preference::Second => (&answered.query.second, &answered.query.first),
                Preference::CannotTell => continue,
            };
            // R · found + cleared ≥ 0, where both count what the better one has more of.
            let (found, cleared) = (better[0] - worse[0], better[1] - worse[1]);
            if found > 0.0 {
                agreeing.low = agreeing.low.max(-cleared / found);
            } else if found < 0.0 {
                agreeing.high = agreeing.high.min(-cleared / found);
            } else if cleared < 0.0 {
                return None;
            }
        }
        (agreeing.low <= agreeing.high).then_some(agreeing)
    }
}

impl std::fmt::Display for Agreeing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (low, high) = (two_digits(self.low), two_digits(self.high));
        match (self.low > 0.0, self.high.is_finite()) {
            (false, false) => write!(f, "anything"),
            (false, true) => write!(f, "at most {high}"),
            (true, false) => write!(f, "at least {low}"),
            (true, true) => write!(f, "{low} to {high}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::Query;

    fn answered(first: [f64; 2], second: [f64; 2], preference: Preference) -> Answered {
        Answered { query: Query::new(first.to_vec(), second.to_vec()), preference, shown: None }
    }

    #[test]
    fn each_answer_cuts_at_the_ratio_where_both_are_worth_the_same() {
        // The first finds 0.01 more and clears 0.05 less: worth the same at 5.
        let (first, second) = ([0.34, 0.55], [0.33, 0.60]);
        let text = |preferences: &[Preference]| {
            let transcript: Vec<_> = preferences.iter().map(|&p| answered(first, second, p)).collect();
            Agreeing::with(&transcript).map(|agreeing| agreeing.to_string())
        };
        assert_eq!(text(&[]).unwrap(), "anything");
        assert_eq!(text(&[Preference::CannotTell]).unwrap(), "anything");
        assert_eq!(text(&[Preference::First]).unwrap(), "at least 5.0");
        assert_eq!(text(&[Preference::Second]).unwrap(), "at most 5.0");
    }

    #[test]
    fn answers_that_contradict_each_other_leave_no_ratio() {
        let pair = |preference| answered([0.34, 0.55], [0.33, 0.60], preference);
        let steeper = answered([0.34, 0.55], [0.33, 0.57], Preference::Second);
        assert_eq!(Agreeing::with(&[pair(Preference::First), steeper]), None);
        // Liking the system that is worse in both ways agrees with no ratio either.
        assert_eq!(Agreeing::with(&[answered([0.3, 0.5], [0.3, 0.6], Preference::First)]), None);
        assert_eq!(Agreeing::with(&[answered([0.2, 0.5], [0.3, 0.6], Preference::First)]), None);
    }

    #[test]
    fn two_digits_are_two() {
        let cases = [
            (6.123, "6.1"),
            (0.1649, "0.16"),
            (9.96, "10"),
            (99.6, "100"),
            (127.4, "130"),
            (0.0999, "0.10"),
            (5554.0, "5,600"),
        ];
        for (value, expected) in cases {
            assert_eq!(two_digits(value), expected);
        }
    }
}
