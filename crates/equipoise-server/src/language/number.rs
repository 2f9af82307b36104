//! Numbers as a language writes them.

use equipoise_study::numbers;

/// The marks a language puts into numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// Between groups of three digits.
    pub thousands: &'static str,
    /// Before the decimals.
    pub decimal: &'static str,
    /// After a percentage.
    pub percent: &'static str,
}

impl Numbers {
    /// A count: 12,345.
    pub fn count(&self, count: u64) -> String {
        numbers::grouped(count).replace(',', self.thousands)
    }

    /// A share of a whole as a percentage with one decimal: 5.4%.
    pub fn percent(&self, part: u64, whole: u64) -> String {
        // In integers, so that half a tenth rounds the same everywhere.
        let tenths = if whole == 0 { 0 } else { (part * 2_000 + whole) / (2 * whole) };
        format!("{}{}{}{}", tenths / 10, self.decimal, tenths % 10, self.percent)
    }

    /// A number to two significant digits: 6.1, 0.16, 5,600. More would promise a precision answers do not have.
    pub fn two_digits(&self, value: f64) -> String {
        if !value.is_finite() {
            return "∞".to_owned();
        }
        let marked = |mark: char| match mark {
            ',' => self.thousands.to_owned(),
            '.' => self.decimal.to_owned(),
            digit => digit.to_string(),
        };
        numbers::two_digits(value).chars().map(marked).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::language::Language;

    #[test]
    fn thousands_and_decimals_follow_the_language() {
        let written = |language: Language| {
            let numbers = language.numbers();
            [numbers.count(1_234_567), numbers.percent(54, 1_000), numbers.two_digits(6.123)]
        };
        assert_eq!(written(Language::English), ["1,234,567", "5.4\u{a0}%", "6.1"]);
        assert_eq!(written(Language::German), ["1.234.567", "5,4\u{a0}%", "6,1"]);
        assert_eq!(written(Language::French), ["1\u{202f}234\u{202f}567", "5,4\u{202f}%", "6,1"]);
    }

    #[test]
    fn percentages_round_to_the_nearest_tenth() {
        let numbers = Language::English.numbers();
        let cases = [
            (0, 10, "0.0\u{a0}%"),
            (1, 3, "33.3\u{a0}%"),
            (2, 3, "66.7\u{a0}%"),
            (10, 10, "100.0\u{a0}%"),
            (0, 0, "0.0\u{a0}%"),
        ];
        for (part, whole, expected) in cases {
            assert_eq!(numbers.percent(part, whole), expected);
        }
        // A tie goes up: 1 of 2,000 is 0.05 %.
        assert_eq!(numbers.percent(1, 2_000), "0.1\u{a0}%");
    }

    #[test]
    fn two_digits_are_two() {
        let numbers = Language::English.numbers();
        let cases = [
            (6.123, "6.1"),
            (0.1649, "0.16"),
            (9.96, "10"),
            (99.6, "100"),
            (127.4, "130"),
            (0.0996, "0.10"),
            (5554.0, "5,600"),
            (12.4, "12"),
            (1.0, "1.0"),
            (f64::INFINITY, "∞"),
        ];
        for (value, expected) in cases {
            assert_eq!(numbers.two_digits(value), expected, "{value}");
        }
    }
}
