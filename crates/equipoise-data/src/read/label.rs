//! Labels: the same class must have the same name whatever type or format wrote it.
//!
//! pandas writes a whole-number column with a gap in it as `0.0, 1.0`, Python writes `True`, Parquet has
//! booleans. [`canonical`] brings these to one spelling, so that the class `1` of a CSV file is the class
//! `1` of a Parquet file and matches the column `p_1`.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "codes and positions are of columns made here, and counts of rows that were read fit in 64 bits"
)]

use std::borrow::Cow;
use std::cmp::Ordering;

/// What a text says when it stands where a label belongs.
#[derive(Debug, PartialEq)]
pub(crate) enum Spelling<'a> {
    /// Nothing.
    Missing,
    /// A label, in its canonical spelling.
    Label(Cow<'a, str>),
    /// A number with a fractional part: fine as a name, not as a class.
    Fraction(&'a str),
}

/// Reads a label: surrounding space is not part of it, `True` is `true`, `1.0` and `+1` are `1`.
///
/// Leading zeros and exponents stay as written, they occur in codes that are not numbers.
pub(crate) fn canonical(text: &str) -> Spelling<'_> {
    let text = text.trim();
    if text.is_empty() {
        return Spelling::Missing;
    }
    for word in ["true", "false"] {
        if text.eq_ignore_ascii_case(word) {
            return Spelling::Label(Cow::Borrowed(word));
        }
    }
    decimal(text).unwrap_or(Spelling::Label(Cow::Borrowed(text)))
}

/// A text of the form `[+-]digits[.digits]`, as a label; `None` for any other text.
fn decimal(text: &str) -> Option<Spelling<'_>> {
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if !all_digits(whole) || !all_digits(fraction) || whole.len() + fraction.len() == 0 {
        return None;
    }
    if fraction.bytes().any(|b| b != b'0') {
        return Some(Spelling::Fraction(text));
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    let negative = text.starts_with('-') && whole.bytes().any(|b| b != b'0');
    let label = if negative { Cow::Owned(format!("-{whole}")) } else { Cow::Borrowed(whole) };
    Some(Spelling::Label(label))
}

/// The whole number a float stands for, if `f64` can tell it from its neighbours.
pub(crate) fn whole(value: f64) -> Option<i64> {
    const LARGEST: f64 = 9_007_199_254_740_992.0; // 2^53
    (value.fract() == 0.0 && value.abs() <= LARGEST).then_some(value as i64)
}

/// Words that usually stand for a missing label. `None` and `none` are absent: they are good class names.
pub(crate) fn means_missing(label: &str) -> bool {
    ["NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"].contains(&label)
}

/// The order of classes and groups: by value when all are whole numbers, by spelling otherwise.
///
/// In either case `false` comes before `true` and `0` before `1`, so the positive class comes last.
pub(crate) fn order(names: &[String]) -> impl Fn(&String, &String) -> Ordering + use<> {
    let numeric = names.iter().all(|name| name.parse::<i128>().is_ok());
    move |a, b| {
        let by_value = match (a.parse::<i128>(), b.parse::<i128>()) {
            (Ok(a), Ok(b)) if numeric => a.cmp(&b),
            _ => Ordering::Equal,
        };
        by_value.then_with(|| a.cmp(b))
    }
}

/// The candidate closest in spelling, when it is close enough to be meant.
pub(crate) fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    let wanted = name.to_lowercase();
    let length = name.chars().count();
    let reach = length / 3;
    candidates
        .into_iter()
        .filter(|candidate| length <= LONGEST && candidate.chars().count().abs_diff(length) <= reach)
        .map(|candidate| (edits(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|&(edits, _)| edits <= reach)
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

/// Damerau's distance: insertions, deletions, replacements and swaps of neighbours between two texts.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                rows[i][j] = i + j;
                continue;
            }
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            rows[i][j] = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                rows[i][j] = rows[i][j].min(rows[i - 2][j - 2] + 1);
            }
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn label(text: &str, expected: &str) {
        assert_eq!(canonical(text), Spelling::Label(expected.into()));
    }

    #[test]
    fn one_class_has_one_spelling() {
        label(" benign ", "benign");
        label("True", "true");
        label("FALSE", "false");
        label("1.0", "1");
        label("1.", "1");
        label("+1", "1");
        label("-1.00", "-1");
        label("-0", "0");
        label(".0", "0");
        label("007", "007");
        label("1e5", "1e5");
        label("1.2.3", "1.2.3");
        label("-", "-");
        label("none", "none");
        assert_eq!(canonical("  "), Spelling::Missing);
        assert_eq!(canonical("0.5"), Spelling::Fraction("0.5"));
    }

    #[test]
    fn floats_are_labels_when_they_are_whole() {
        assert_eq!(whole(-3.0), Some(-3));
        assert_eq!(whole(0.5), None);
        assert_eq!(whole(1e300), None);
        assert_eq!(whole(f64::NAN), None);
        assert_eq!(whole(f64::INFINITY), None);
    }

    #[test]
    fn whole_numbers_are_ordered_by_value() {
        let sorted = |names: &[&str]| {
            let mut names: Vec<String> = names.iter().map(|&n| n.to_owned()).collect();
            let order = order(&names);
            names.sort_by(|a, b| order(a, b));
            names.join(" ")
        };
        assert_eq!(sorted(&["10", "9", "-1"]), "-1 9 10");
        assert_eq!(sorted(&["10", "9", "a"]), "10 9 a");
        assert_eq!(sorted(&["true", "false"]), "false true");
    }

    #[test]
    fn the_closest_name_is_close() {
        assert_eq!(closest("lable", ["label", "p_0"]), Some("label"));
        assert_eq!(closest("Y", ["x", "y"]), Some("y"));
        assert_eq!(closest("group", ["weight"]), None);
        assert_eq!(closest("y", ["x"]), None);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("lable", "label"), 1);
    }
}
