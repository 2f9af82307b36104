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
        let tenths = Self::tenths(part, whole);
        format!("{}{}{}{}", tenths / 10, self.decimal, tenths % 10, self.percent)
    }

    /// A share of a whole in tenths of a per cent, as [`percent`](Self::percent) rounds it.
    fn tenths(part: u64, whole: u64) -> u64 {
        // In integers, so that half a tenth rounds the same everywhere.
        if whole == 0 { 0 } else { (part * 2_000 + whole) / (2 * whole) }
    }

    /// How many more or fewer the second is than the first: +12, −3; nothing if they are the same.
    pub fn change(&self, first: u64, second: u64) -> Option<String> {
        (first != second).then(|| format!("{}{}", sign(first, second), self.count(first.abs_diff(second))))
    }

    /// The same of two shares of a whole, as they are written.
    pub fn change_of_shares(&self, first: u64, second: u64, whole: u64) -> Option<String> {
        let [first, second] = [first, second].map(|part| Self::tenths(part, whole));
        let by = first.abs_diff(second);
        (by > 0)
            .then(|| format!("{}{}{}{}{}", sign(first, second), by / 10, self.decimal, by % 10, self.percent))
    }

    /// A number as English writes it, as the language does.
    pub fn localized(&self, number: &str) -> String {
        let marked = |mark: char| match mark {
            ',' => self.thousands.to_owned(),
            '.' => self.decimal.to_owned(),
            digit => digit.to_string(),
        };
        number.chars().map(marked).collect()
    }

    /// A number to two significant digits: 6.1, 0.16, 5,600. More would promise a precision answers do not have.
    pub fn two_digits(&self, value: f64) -> String {
        if !value.is_finite() {
            return "∞".to_owned();
        }
        self.localized(&numbers::two_digits(value))
    }
}

/// A sign that is as wide as a plus.
pub fn sign(first: u64, second: u64) -> char {
    if second > first { '+' } else { '−' }
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
    fn changes_are_of_what_is_written() {
        let numbers = Language::English.numbers();
        assert_eq!(numbers.change(26, 108).unwrap(), "+82");
        assert_eq!(numbers.change(1_150, 21).unwrap(), "−1,129");
        assert_eq!(numbers.change(9, 9), None);
        // 33.3 and 66.7 are written, so they differ by 33.4.
        assert_eq!(numbers.change_of_shares(1, 2, 3).unwrap(), "+33.4\u{a0}%");
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
