//! Numbers as people read them.

/// A count with commas between thousands.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Two significant digits: more would promise a precision that comparisons do not have.
pub fn two_digits(value: f64) -> String {
    significant(value, 2)
}

/// A number with so many significant digits, commas between thousands.
pub fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() || value == 0.0 {
        return format!("{value}");
    }
    let magnitude = |x: f64| x.abs().log10().floor() as i32;
    let unit = |decimals: i32| 10_f64.powi(-decimals);
    let mut decimals = digits - 1 - magnitude(value);
    let rounded = (value / unit(decimals)).round() * unit(decimals);
    // Rounding up may have added a digit: 9.96 is 10, not 10.0.
    if rounded != 0.0 && magnitude(rounded) > magnitude(value) {
        decimals -= 1;
    }
    if value >= 999.5 {
        return grouped(rounded as u64);
    }
    format!("{rounded:.*}", decimals.max(0) as usize)
}

/// A share with its 95 % interval (Wilson's).
pub fn wilson(hits: usize, of: usize) -> Option<[f64; 3]> {
    if of == 0 {
        return None;
    }
    let (n, z) = (of as f64, 1.959_963_984_540_054);
    let share = hits as f64 / n;
    let scale = 1.0 + z * z / n;
    let middle = (share + z * z / (2.0 * n)) / scale;
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / scale;
    Some([share, (middle - half).max(0.0), (middle + half).min(1.0)])
}

/// The probability of a split at least as uneven as `a` against `b` under a fair coin: the exact paired test.
pub fn sign_test(a: usize, b: usize) -> f64 {
    let n = a + b;
    let mut tail = 0.0;
    let mut ways = 1.0;
    for k in 0..=a.min(b) {
        tail += ways;
        ways *= (n - k) as f64 / (k + 1) as f64;
    }
    (2.0 * tail / 2_f64.powi(n as i32)).min(1.0)
}

/// A time of the log, to the second, in UTC.
pub fn when(ms: i64) -> String {
    let seconds = ms.div_euclid(1000);
    let (days, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let [year, month, day] = date(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", time / 3600, time / 60 % 60, time % 60)
}

/// The date so many days after 1 January 1970.
fn date(days: i64) -> [i64; 3] {
    // Years are counted from March, so that the odd day comes last.
    let from_march = days + 719_468;
    let (era, of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    [year + era * 400 + i64::from(month <= 2), month, day]
}

/// A time as RFC 3339 writes it, `2026-11-20T09:00:00Z` or with `+01:00`, in milliseconds since 1970; seconds may be left out.
pub fn moment(text: &str) -> Option<i64> {
    let (date_text, rest) = text.split_once(['T', ' '])?;
    let (time, offset) = match rest.strip_suffix('Z') {
        Some(time) => (time, 0),
        None => {
            let at = rest.rfind(['+', '-'])?;
            let (time, offset) = (rest.get(..at)?, rest.get(at..)?);
            let sign = if offset.starts_with('-') { -1 } else { 1 };
            let [hours, minutes] = parts(offset.get(1..)?, ':')?;
            (hours <= 23 && minutes <= 59).then_some((time, sign * (hours * 60 + minutes)))?
        }
    };
    let [year, month, day] = parts(date_text, '-')?;
    let [hours, minutes, seconds] = match parts(time, ':') {
        Some(three) => three,
        None => parts::<2>(time, ':').map(|[hours, minutes]| [hours, minutes, 0])?,
    };
    if !(1970..=9999).contains(&year) || hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let days = days_until(year, month, day);
    // A day that the calendar has not is another one's number.
    if date(days) != [year, month, day] {
        return None;
    }
    Some(((days * 24 + hours) * 60 + minutes - offset).checked_mul(60)?.checked_add(seconds)? * 1000)
}

/// How many days after 1 January 1970 a date is: [`date`] the other way round.
fn days_until(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Whole numbers with a mark between them, so many.
fn parts<const N: usize>(text: &str, mark: char) -> Option<[i64; N]> {
    let plain = |part: &str| !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
    let found: Option<Vec<i64>> =
        text.split(mark).map(|part| part.parse().ok().filter(|_| plain(part))).collect();
    found?.try_into().ok()
}

/// A number in a sentence: with its digits while they can be read, with a power of ten beyond.
pub fn short(value: f64) -> String {
    if value != 0.0 && value.is_finite() && !(1e-6..1e12).contains(&value.abs()) {
        return format!("{value:e}");
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn digits_are_significant() {
        let cases =
            [(6.13, 2, "6.1"), (9.96, 2, "10"), (99.6, 2, "100"), (0.0999, 2, "0.10"), (5554.0, 2, "5,600")];
        for (value, digits, expected) in cases {
            assert_eq!(significant(value, digits), expected);
        }
        assert_eq!([significant(6.13, 1), significant(23.0, 1)], ["6", "20"]);
    }

    #[test]
    fn intervals_and_tests_agree_with_tables() {
        let [share, low, high] = wilson(12, 15).unwrap();
        assert!((share - 0.8).abs() < 1e-12 && (low - 0.5481).abs() < 1e-3 && (high - 0.9295).abs() < 1e-3);
        assert!((sign_test(1, 7) - 0.0703125).abs() < 1e-12);
        assert_eq!(sign_test(0, 0), 1.0);
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(when(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(when(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(when(1_794_800_712_345), "2026-11-16 03:45:12 UTC");
        assert_eq!(when(-1_000), "1969-12-31 23:59:59 UTC");
    }

    #[test]
    fn times_that_are_written_are_read() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", "1970-01-01 00:00:00 UTC"),
            ("2000-02-29T00:00Z", "2000-02-29 00:00:00 UTC"),
            ("2026-11-20T09:30:05+01:00", "2026-11-20 08:30:05 UTC"),
            ("2026-12-31 23:59:59-05:30", "2027-01-01 05:29:59 UTC"),
            ("9999-12-31T23:59:59Z", "9999-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(moment(text).map(when).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "tomorrow",
            "2026-11-20",
            "2026-02-30T00:00Z",
            "2026-13-01T00:00Z",
            "2026-11-20T24:00Z",
            "2026-11-20T09:00",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
