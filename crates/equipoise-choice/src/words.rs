//! Questions about candidates in the words of their attributes: latency 40 ms or 120 ms; missed fraud 31 or 22 of 1,000.

use equipoise::Query;
use equipoise::metric::Attribute;
use equipoise::space::Candidates;

/// Words in names of shares, which people read as so many of 1,000.
const SHARES: [&str; 19] = [
    "recall",
    "accuracy",
    "acc",
    "precision",
    "rate",
    "share",
    "missed",
    "misses",
    "error",
    "errors",
    "false",
    "fpr",
    "fnr",
    "tpr",
    "tnr",
    "sensitivity",
    "specificity",
    "coverage",
    "gap",
];

/// How an attribute is said.
#[derive(Debug, Clone)]
pub struct Said {
    /// Its name, without the unit.
    pub label: String,
    unit: Option<String>,
    /// So many of this many.
    of: Option<f64>,
}

impl Said {
    /// As its name and its range allow.
    pub fn new(attribute: &Attribute) -> Self {
        let mut words: Vec<&str> = attribute.name.split(['_', ' ']).filter(|word| !word.is_empty()).collect();
        let unit = attribute.unit.clone();
        if let (Some(unit), Some(last)) = (&unit, words.last())
            && words.len() > 1
            && last.eq_ignore_ascii_case(unit)
        {
            words.pop();
        }
        let [low, high] = attribute.range;
        let lower = attribute.name.to_lowercase();
        let share = lower.split(|c: char| !c.is_alphanumeric()).any(|word| SHARES.contains(&word));
        let is_share = share && unit.is_none() && low >= 0.0 && high <= 1.0;
        // The least that tells a hundredth of the range.
        let of = [1e2, 1e3, 1e4, 1e5].into_iter().find(|of| (high - low) * of >= 100.0).unwrap_or(1e5);
        Self { label: words.join(" "), unit, of: is_share.then_some(of) }
    }

    /// In somebody's own words; a share may be said as so many out of some number.
    pub fn as_named(label: &str, unit: Option<&str>, out_of: Option<u64>) -> Self {
        Self { label: label.to_owned(), unit: unit.map(str::to_owned), of: out_of.map(|of| of as f64) }
    }

    /// A number without its unit.
    fn digits(&self, x: f64) -> String {
        match self.of {
            Some(of) => rounded(x * of),
            None => rounded(x),
        }
    }

    /// A number with its unit.
    pub fn number(&self, x: f64) -> String {
        match (&self.unit, self.of) {
            (Some(unit), _) => format!("{} {unit}", self.digits(x)),
            (None, Some(of)) => format!("{} of {}", self.digits(x), grouped(&of.to_string())),
            _ => self.digits(x),
        }
    }

    /// Two numbers, with their unit once.
    fn either(&self, [a, b]: [f64; 2]) -> String {
        match (&self.unit, self.of) {
            (None, Some(of)) => {
                format!(
                    "{} {} or {} of {}",
                    self.label,
                    self.digits(a),
                    self.digits(b),
                    grouped(&of.to_string())
                )
            }
            _ => format!("{} {} or {}", self.label, self.number(a), self.number(b)),
        }
    }
}

/// At most five digits that matter, thousands apart.
fn rounded(x: f64) -> String {
    let size = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    let decimals = usize::try_from(4 - size).unwrap_or(0).min(12);
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    grouped(text)
}

fn grouped(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, rest) = number.split_once('.').map_or((number, None), |(whole, rest)| (whole, Some(rest)));
    let mut text = String::from(sign);
    for (n, digit) in whole.chars().enumerate() {
        if n > 0 && (whole.len() - n) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    rest.map_or(text.clone(), |rest| format!("{text}.{rest}"))
}

/// The words for the questions about some candidates.
pub struct Words<'a> {
    candidates: &'a Candidates,
    /// In the order of the attributes.
    pub said: Vec<Said>,
}

impl<'a> Words<'a> {
    /// For these candidates.
    pub fn new(candidates: &'a Candidates) -> Self {
        Self { candidates, said: candidates.attributes().iter().map(Said::new).collect() }
    }

    /// For these candidates, in somebody's own words.
    pub fn as_said(candidates: &'a Candidates, said: Vec<Said>) -> Self {
        Self { candidates, said }
    }

    /// The names of both candidates, if both are real; otherwise the question is to be imagined.
    pub fn names(&self, query: &Query) -> Option<[&'a str; 2]> {
        let name = |point: &[f64]| {
            let member = self.candidates.members().iter().find(|member| member.point == point);
            member.map(|member| member.name.as_str())
        };
        Some([name(&query.first)?, name(&query.second)?])
    }

    /// What differs, in one line.
    pub fn difference(&self, query: &Query) -> String {
        let pairs = query.first.iter().zip(&query.second).zip(&self.said);
        let differ = pairs.filter(|((a, b), _)| a != b).map(|((a, b), said)| said.either([*a, *b]));
        differ.collect::<Vec<_>>().join("; ")
    }

    /// What differs, a row per attribute: its label, and the number of either.
    pub fn rows(&self, query: &Query) -> Vec<[String; 3]> {
        let pairs = query.first.iter().zip(&query.second).zip(&self.said);
        let differ = pairs.filter(|((a, b), _)| a != b);
        differ.map(|((a, b), said)| [said.label.clone(), said.number(*a), said.number(*b)]).collect()
    }

    /// Whether both exist, and what of all else.
    pub fn remark(&self, query: &Query) -> &'static str {
        let all_differ = query.first.iter().zip(&query.second).all(|(a, b)| a != b);
        match (self.names(query).is_some(), all_differ) {
            (true, true) => "Both are candidates.",
            (true, false) => "Both are candidates; all else is equal.",
            (false, true) => "Imagine two such candidates.",
            (false, false) => "Imagine two such candidates; all else is equal.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise::metric::Direction;

    #[test]
    fn questions_read_as_people_say_them() {
        let of = |name: &str, unit: Option<&str>, values: &[f64]| {
            let attribute = Attribute::guessed(name, Direction::Minimize, values).unwrap();
            Attribute { unit: unit.map(str::to_owned), ..attribute }
        };
        let attributes = vec![
            of("latency_ms", Some("ms"), &[40.0, 120.0]),
            of("missed fraud", None, &[0.022, 0.131]),
            of("params", None, &[1_500_000.0, 12_000_000.0]),
        ];
        let points = [vec![40.0, 0.031, 12e6], vec![120.0, 0.022, 12e6]];
        let named = points.iter().enumerate().map(|(n, point)| (format!("m{n}"), point.clone())).collect();
        let set = Candidates::new(attributes, named).unwrap();
        let query = Query::new(points[0].clone(), points[1].clone());
        let words = Words::new(&set);
        assert_eq!(words.difference(&query), "latency 40 ms or 120 ms; missed fraud 31 or 22 of 1,000");
        assert_eq!(words.said[2].number(1_500_000.0), "1,500,000");
        assert_eq!(rounded(0.123_456_7), "0.12346");
        assert_eq!(words.names(&query), Some(["m0", "m1"]));
        assert_eq!(words.rows(&query)[0], ["latency", "40 ms", "120 ms"]);
        assert_eq!(words.remark(&query), "Both are candidates; all else is equal.");
        let imagined = Query::new(points[0].clone(), vec![90.0, 0.02, 2e6]);
        assert_eq!(words.names(&imagined), None);
        assert_eq!(words.remark(&imagined), "Imagine two such candidates.");
    }
}
