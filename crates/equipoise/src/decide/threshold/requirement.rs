//! Conditions beside the metric, such as `recall:malignant>=0.9`.

use super::tally::Tally;
use crate::error::{Error, Result, check};
use crate::rates::GroupConfusions;

/// A bound may be missed by this much, the rounding of a rate.
const ROUNDING: f64 = 1e-12;

/// A number of a confusion matrix that a requirement bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// $P(h=c \mid Y=c)$.
    Recall {
        /// The class.
        class: usize,
    },
    /// $P(Y=c \mid h=c)$.
    Precision {
        /// The class.
        class: usize,
    },
    /// $P(h=c \mid Y \ne c)$, the false positive rate.
    FalsePositiveRate {
        /// The class.
        class: usize,
    },
    /// $P(h \ne c \mid Y=c)$, the false negative rate.
    FalseNegativeRate {
        /// The class.
        class: usize,
    },
    /// $P(h=c)$: how often the class is predicted.
    Coverage {
        /// The class.
        class: usize,
    },
    /// $P(h=b \mid Y=a)$.
    Rate {
        /// The true class.
        truth: usize,
        /// The predicted class.
        estimate: usize,
    },
    /// $P(h=Y)$.
    Accuracy,
}

/// A bound on a number of the confusion matrix, overall or within a group.
///
/// Written `quantity:class>=bound` or `<=`, where the quantity is `recall`, `precision`, `fpr`, `fnr` or `coverage`;
/// `rate:truth->estimate<=bound`; or `accuracy>=bound`. `@group` before the sign asks it of one group; `gap:` in front, as in
/// `gap:recall:malignant<=0.05`, bounds how far the groups are apart in it. A precision where nothing is predicted has no
/// value, and a requirement on it counts as not met.
///
/// ```
/// use equipoise::decide::threshold::Requirement;
/// let classes = ["benign", "malignant"].map(str::to_owned);
/// let groups = ["F", "M"].map(str::to_owned);
/// let parsed = Requirement::parse("recall:malignant@F>=0.9", &classes, &groups)?;
/// assert_eq!(parsed.group, Some(0));
/// let wrong = Requirement::parse("recall:malign>=0.9", &classes, &groups).unwrap_err();
/// assert_eq!(
///     wrong.to_string(),
///     "requirement \"recall:malign>=0.9\": class is \"malign\", expected one of benign, malignant"
/// );
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    text: String,
    /// What is bounded.
    pub quantity: Quantity,
    /// Within which group; `None` for all rows.
    pub group: Option<usize>,
    /// Whether the difference between the largest and the smallest of the groups is bounded.
    pub between_groups: bool,
    /// Whether the bound is the least value rather than the most.
    pub at_least: bool,
    /// The bound.
    pub bound: f64,
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Requirement {
    /// Reads a requirement; classes and groups are meant by name.
    pub fn parse(text: &str, classes: &[String], groups: &[String]) -> Result<Self> {
        let wrong = |what: String| Error::Document(format!("requirement \"{text}\": {what}"));
        // The last sign counts, so that names may hold one.
        let sign = text.rfind(">=").max(text.rfind("<=")).ok_or_else(|| {
            wrong("there is no >= or <=, expected something like recall:malignant>=0.9".to_owned())
        })?;
        let (left, right) = (text[..sign].trim(), text[sign + 2..].trim());
        let at_least = text[sign..].starts_with('>');
        if left.starts_with("gap:") && at_least {
            return Err(wrong("a gap is bounded by <=".to_owned()));
        }
        let bound = right.parse::<f64>().ok().filter(|bound| (0.0..=1.0).contains(bound));
        let bound =
            bound.ok_or_else(|| wrong(format!("the bound is \"{right}\", expected a number in [0, 1]")))?;
        Ok(Self { at_least, bound, ..Self::named(left, classes, groups, &wrong)?.called(text) })
    }

    /// Reads what a requirement is about, without its bound: `recall:malignant@F`, `gap:fpr:malignant`. Everything meets it; it is
    /// for its value.
    pub fn unbounded(text: &str, classes: &[String], groups: &[String]) -> Result<Self> {
        Self::named(text.trim(), classes, groups, &|what: String| {
            Error::Document(format!("\"{text}\": {what}"))
        })
    }

    fn called(self, text: &str) -> Self {
        Self { text: text.trim().to_owned(), ..self }
    }

    /// What is bounded; `wrong` makes a sentence of what is wrong with it.
    fn named(
        left: &str,
        classes: &[String],
        groups: &[String],
        wrong: &dyn Fn(String) -> Error,
    ) -> Result<Self> {
        let apart = left.strip_prefix("gap:").map(str::trim_start);
        if apart.is_some() && groups.len() < 2 {
            return Err(wrong("a gap needs at least 2 groups".to_owned()));
        }
        let text = left;
        let left = apart.unwrap_or(left);
        let (word, rest) =
            left.split_once(':').map_or((left, None), |(word, rest)| (word.trim(), Some(rest.trim())));

        // A name may hold an @ itself: a group is meant only if what follows the last @ is one.
        let split = |all: &str| -> (String, Option<usize>) {
            match all.rsplit_once('@') {
                Some((name, group)) => match groups.iter().position(|known| known == group.trim()) {
                    Some(group) => (name.trim().to_owned(), Some(group)),
                    None => (all.to_owned(), None),
                },
                None => (all.to_owned(), None),
            }
        };
        let one_of = |names: &[String]| names.join(", ");
        let no_group = |name: &str| -> Option<Error> {
            let (_, group) = name.rsplit_once('@')?;
            let expected = if groups.is_empty() {
                "no group: the table has none".to_owned()
            } else {
                format!("one of {}", one_of(groups))
            };
            Some(wrong(format!("group is \"{group}\", expected {expected}")))
        };
        let (quantity, group) = match (word, rest) {
            ("rate", Some(rest)) => {
                let (name, group) = split(rest);
                let pairs = (0..classes.len()).flat_map(|a| (0..classes.len()).map(move |b| (a, b)));
                let same = |&(a, b): &(usize, usize)| {
                    let ends = name
                        .strip_prefix(classes[a].as_str())
                        .and_then(|rest| rest.strip_suffix(classes[b].as_str()));
                    ends.is_some_and(|between| between.trim() == "->")
                };
                let Some((truth, estimate)) = pairs.clone().find(same) else {
                    let expected = format!("truth->estimate with classes {}", one_of(classes));
                    return Err(no_group(&name).unwrap_or_else(|| {
                        wrong(format!("the rate is of \"{name}\", expected {expected}"))
                    }));
                };
                (Quantity::Rate { truth, estimate }, group)
            }
            (word, rest) if word == "accuracy" || word.starts_with("accuracy@") => {
                let (name, group) = split(word);
                if let Some(rest) = rest {
                    return Err(wrong(format!("accuracy has no class, but \"{rest}\" follows it")));
                }
                if name != "accuracy" {
                    return Err(no_group(&name).unwrap_or_else(|| wrong("accuracy has no class".to_owned())));
                }
                (Quantity::Accuracy, group)
            }
            ("recall" | "precision" | "fpr" | "fnr" | "coverage", Some(rest)) => {
                let (name, group) = split(rest);
                let Some(class) = classes.iter().position(|class| *class == name) else {
                    let expected = format!("one of {}", one_of(classes));
                    return Err(no_group(&name)
                        .unwrap_or_else(|| wrong(format!("class is \"{name}\", expected {expected}"))));
                };
                let quantity = match word {
                    "recall" => Quantity::Recall { class },
                    "precision" => Quantity::Precision { class },
                    "fpr" => Quantity::FalsePositiveRate { class },
                    "fnr" => Quantity::FalseNegativeRate { class },
                    _ => Quantity::Coverage { class },
                };
                (quantity, group)
            }
            ("recall" | "precision" | "fpr" | "fnr" | "coverage" | "rate", None) => {
                return Err(wrong(format!(
                    "{word} needs a class, as in {word}:{}",
                    classes.last().map_or("", |c| c)
                )));
            }
            _ => {
                let known =
                    "recall, precision, fpr, fnr, coverage, rate, accuracy, or gap: before one of these";
                return Err(wrong(format!("\"{word}\" is not a quantity, expected one of {known}")));
            }
        };
        let between_groups = apart.is_some();
        if between_groups && group.is_some() {
            return Err(wrong("a gap is between all groups, but one is named".to_owned()));
        }
        Ok(Self { text: text.to_owned(), quantity, group, between_groups, at_least: false, bound: 1.0 })
    }

    /// The number of a confusion matrix that is bounded; `None` where it has no value.
    pub fn value_of(&self, confusions: &GroupConfusions) -> Result<Option<f64>> {
        self.check(confusions.classes(), confusions.groups())?;
        Ok(self.measure(confusions.classes(), confusions.groups(), |g, i, j| confusions.get(g, i, j)))
    }

    /// Whether a value is good enough.
    pub fn is_met(&self, value: f64) -> bool {
        if self.at_least { value >= self.bound - ROUNDING } else { value <= self.bound + ROUNDING }
    }

    /// Says that a class or a group does not exist, if so.
    pub(super) fn check(&self, classes: usize, groups: usize) -> Result<()> {
        let largest = match self.quantity {
            Quantity::Rate { truth, estimate } => truth.max(estimate),
            Quantity::Recall { class }
            | Quantity::Precision { class }
            | Quantity::FalsePositiveRate { class }
            | Quantity::FalseNegativeRate { class }
            | Quantity::Coverage { class } => class,
            Quantity::Accuracy => 0,
        };
        let field = |what: &str| format!("the {what} of requirement \"{}\"", self.text);
        check::number(&field("class"), largest as f64, largest < classes, "a class of the table")?;
        let group = self.group.unwrap_or(0);
        check::number(&field("group"), group as f64, group < groups, "a group of the table")?;
        Ok(())
    }

    pub(super) fn value(&self, tally: &Tally) -> Option<f64> {
        self.measure(2, tally.totals.len(), |g, i, j| tally.cell(g, i, j))
    }

    /// By how much a rule misses the bound; 0 if it does not.
    pub(super) fn violation(&self, tally: &Tally) -> f64 {
        self.missed_by(self.value(tally))
    }

    /// By how much a value misses the bound; one that does not exist misses it most.
    pub(super) fn missed_by(&self, value: Option<f64>) -> f64 {
        match value {
            Some(value) if self.is_met(value) => 0.0,
            Some(value) => (value - self.bound).abs(),
            None => 1.0,
        }
    }

    /// The value that is easier on the bound.
    pub(super) fn better(&self, a: Option<f64>, b: Option<f64>) -> Option<f64> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if self.at_least { a.max(b) } else { a.min(b) }),
            (a, b) => a.or(b),
        }
    }

    fn measure(
        &self,
        classes: usize,
        groups: usize,
        cell: impl Fn(usize, usize, usize) -> f64,
    ) -> Option<f64> {
        if !self.between_groups {
            return self.measure_within(
                self.group.map_or(0..groups, |group| group..group + 1),
                classes,
                &cell,
            );
        }
        let each = (0..groups).map(|group| self.measure_within(group..group + 1, classes, &cell));
        let (low, high) = each
            .collect::<Option<Vec<f64>>>()?
            .into_iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        Some(high - low)
    }

    fn measure_within(
        &self,
        within: std::ops::Range<usize>,
        classes: usize,
        cell: impl Fn(usize, usize, usize) -> f64,
    ) -> Option<f64> {
        let sum = |pick: &dyn Fn(usize, usize) -> bool| -> f64 {
            let cells =
                (0..classes).flat_map(|i| (0..classes).map(move |j| (i, j))).filter(|&(i, j)| pick(i, j));
            cells.map(|(i, j)| within.clone().map(|g| cell(g, i, j)).sum::<f64>()).sum()
        };
        let (part, whole) = match self.quantity {
            Quantity::Recall { class: c } => (sum(&|i, j| i == c && j == c), sum(&|i, _| i == c)),
            Quantity::Precision { class: c } => (sum(&|i, j| i == c && j == c), sum(&|_, j| j == c)),
            Quantity::FalsePositiveRate { class: c } => (sum(&|i, j| i != c && j == c), sum(&|i, _| i != c)),
            Quantity::FalseNegativeRate { class: c } => (sum(&|i, j| i == c && j != c), sum(&|i, _| i == c)),
            Quantity::Coverage { class: c } => (sum(&|_, j| j == c), sum(&|_, _| true)),
            Quantity::Rate { truth, estimate } => {
                (sum(&|i, j| i == truth && j == estimate), sum(&|i, _| i == truth))
            }
            Quantity::Accuracy => (sum(&|i, j| i == j), sum(&|_, _| true)),
        };
        (whole > 0.0).then(|| part / whole)
    }
}
