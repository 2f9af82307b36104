//! $\phi(x) = \sum_a w_a v_a(x_a)$ over attributes of anything: latency, price, recall.
//!
//! $v_a$ is 0 at the worse end of the attribute's range and 1 at the better one, and linear in between on the attribute's scale:
//! the number itself, its logarithm (of 10 and 20 ms the difference is that of 100 and 200), or its log odds (for shares).

use super::{Coordinates, Form};
use crate::document::{Object, make};
use crate::error::{Result, check, refuse};
use crate::linalg::{norm, scaled};
use crate::view::{Measure, View};
use serde::{Deserialize, Serialize};

/// More attributes than this are not read by anybody.
const MOST: usize = 40;

/// Which way an attribute is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Less is better.
    Minimize,
    /// More is better.
    Maximize,
}

/// The scale on which differences of an attribute count alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// The number.
    Linear,
    /// Its logarithm: ratios count. For money and time.
    Log,
    /// Its log odds. For shares.
    Logit,
}

impl Transform {
    fn of(self, x: f64) -> f64 {
        match self {
            Transform::Linear => x,
            Transform::Log => x.max(f64::MIN_POSITIVE).ln(),
            Transform::Logit => {
                let x = x.clamp(1e-12, 1.0 - 1e-12);
                (x / (1.0 - x)).ln()
            }
        }
    }

    fn back(self, t: f64) -> f64 {
        match self {
            Transform::Linear => t,
            Transform::Log => t.exp(),
            Transform::Logit => 1.0 / (1.0 + (-t).exp()),
        }
    }

    fn slope(self, x: f64) -> f64 {
        match self {
            Transform::Linear => 1.0,
            Transform::Log => 1.0 / x.max(f64::MIN_POSITIVE),
            Transform::Logit => {
                let x = x.clamp(1e-12, 1.0 - 1e-12);
                1.0 / (x * (1.0 - x))
            }
        }
    }
}

/// A number that candidates have: a name, maybe a unit, which way is better, and on which scale and range.
///
/// ```
/// use equipoise::metric::{Attribute, Direction};
/// let latency = Attribute::guessed("latency_ms", Direction::Minimize, &[10.0, 40.0, 160.0])?;
/// assert!((latency.worth(40.0) - 0.5).abs() < 1e-12); // times count by their ratio
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// What people call it.
    pub name: String,
    /// What it is counted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// On which scale differences count alike.
    pub transform: Transform,
    /// The smallest and the largest number that was shown: weights are those of the whole range.
    pub range: [f64; 2],
}

/// Words in names of attributes that are times, amounts of money or sizes, which people compare by their ratio.
const BY_RATIO: [&str; 27] = [
    "price",
    "cost",
    "usd",
    "eur",
    "gbp",
    "dollar",
    "cents",
    "latency",
    "time",
    "duration",
    "delay",
    "second",
    "seconds",
    "sec",
    "minutes",
    "hours",
    "ms",
    "us",
    "bytes",
    "kb",
    "mb",
    "gb",
    "size",
    "params",
    "parameters",
    "tokens",
    "memory",
];

/// Times and money are compared by ratio from this ratio on, and shares by their odds from this ratio of odds on: below, it makes
/// no difference that anybody could tell.
const APART_BY_RATIO: f64 = 3.0;
const APART_BY_ODDS: f64 = 20.0;

impl Attribute {
    /// An attribute with the range of some values, and a scale that fits its name and them: logarithms for what is named like a
    /// time, money or a size and differs by a factor of 3, log odds for shares whose odds differ by a factor of 20.
    pub fn guessed(name: &str, direction: Direction, values: &[f64]) -> Result<Self> {
        check::at_least("the number of values", values.len(), 1, "at least 1")?;
        check::all_finite(&format!("attribute \"{name}\""), values)?;
        let [low, high] = values
            .iter()
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(*x), high.max(*x)]);
        let lower = name.to_lowercase();
        let mut words = lower.split(|c: char| !c.is_ascii_alphabetic());
        let by_ratio = words.any(|word| BY_RATIO.contains(&word));
        let odds = |x: f64| x / (1.0 - x);
        let transform = match () {
            () if by_ratio && low > 0.0 && high >= APART_BY_RATIO * low => Transform::Log,
            () if !by_ratio && low > 0.0 && high < 1.0 && odds(high) >= APART_BY_ODDS * odds(low) => {
                Transform::Logit
            }
            () => Transform::Linear,
        };
        Ok(Self { name: name.to_owned(), unit: None, direction, transform, range: [low, high] })
    }

    /// 0 at the worse end of the range, 1 at the better one.
    pub fn worth(&self, x: f64) -> f64 {
        let [low, high] = self.range.map(|end| self.transform.of(end));
        let share = (self.transform.of(x) - low) / (high - low);
        match self.direction {
            Direction::Minimize => 1.0 - share,
            Direction::Maximize => share,
        }
    }

    /// The number that is worth so much.
    pub(crate) fn at(&self, worth: f64) -> f64 {
        let [low, high] = self.range.map(|end| self.transform.of(end));
        let share = match self.direction {
            Direction::Minimize => 1.0 - worth,
            Direction::Maximize => worth,
        };
        self.transform.back(low + share * (high - low)).clamp(self.range[0], self.range[1])
    }

    /// By how much the worth rises with the number.
    fn slope(&self, x: f64) -> f64 {
        let [low, high] = self.range.map(|end| self.transform.of(end));
        let slope = self.transform.slope(x) / (high - low);
        match self.direction {
            Direction::Minimize => -slope,
            Direction::Maximize => slope,
        }
    }

    /// Says what is wrong with a value, if anything.
    pub fn check(&self, x: f64) -> Result<()> {
        let name = &self.name;
        refuse!(!x.is_finite(), "attribute \"{name}\" is {x}, expected a finite number");
        let (fits, why) = match self.transform {
            Transform::Linear => (true, ""),
            Transform::Log => (x > 0.0, "above 0, since its logarithm counts"),
            Transform::Logit => (x > 0.0 && x < 1.0, "strictly between 0 and 1, since its odds count"),
        };
        refuse!(!fits, "attribute \"{name}\" is {x}, expected a number {why}");
        Ok(())
    }

    fn checked(&self) -> Result<()> {
        let (name, [low, high]) = (&self.name, self.range);
        refuse!(name.is_empty(), "an attribute has an empty name");
        self.check(low)?;
        self.check(high)?;
        refuse!(
            low == high,
            "attribute \"{name}\" is {low} everywhere, so there is nothing to weigh: leave it out"
        );
        refuse!(
            low > high,
            "attribute \"{name}\" has the range [{low}, {high}], expected the smaller number first"
        );
        let [a, b] = self.range.map(|end| self.transform.of(end));
        refuse!(
            !(b - a).is_normal(),
            "attribute \"{name}\" has the range [{low}, {high}], which is too narrow to weigh"
        );
        Ok(())
    }
}

/// Checks a list of attributes.
pub(crate) fn check_attributes(attributes: &[Attribute]) -> Result<()> {
    let count = attributes.len();
    check::number("the number of attributes", count as f64, (2..=MOST).contains(&count), "from 2 to 40")?;
    for (n, attribute) in attributes.iter().enumerate() {
        attribute.checked()?;
        let name = &attribute.name;
        refuse!(
            attributes[..n].iter().any(|other| other.name == *name),
            "two attributes have the name \"{name}\""
        );
    }
    Ok(())
}

/// A weighted sum of what attributes are worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attributes {
    attributes: Vec<Attribute>,
    weights: Vec<f64>,
}

impl Attributes {
    /// Weights that are not negative, not all zero: what is better is in the directions.
    pub fn new(attributes: Vec<Attribute>, weights: Vec<f64>) -> Result<Self> {
        check_attributes(&attributes)?;
        check::weights("weights", &weights, attributes.len())?;
        check::nonnegative("weights", &weights)?;
        Ok(Self { attributes, weights })
    }

    /// The attributes, in the order of points and weights.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// What each attribute adds to the value of a point.
    pub(crate) fn parts(&self, point: &[f64]) -> Vec<f64> {
        let each = self.attributes.iter().zip(&self.weights).zip(point);
        each.map(|((attribute, weight), x)| weight * attribute.worth(*x)).collect()
    }
}

impl Form for Attributes {
    fn read(object: Object, _: Option<usize>) -> Result<Self> {
        make!(object, { attributes: Vec<Attribute>, weights: Vec<f64> } => Self::new(attributes, weights))
    }

    fn coordinates(&self) -> Result<Coordinates> {
        View::new(Measure::Attributes, self.attributes.len(), 1).map(Coordinates::Of)
    }

    fn value(&self, point: &[f64]) -> f64 {
        self.parts(point).iter().sum()
    }

    fn gradient(&self, point: &[f64]) -> Vec<f64> {
        let each = self.attributes.iter().zip(&self.weights).zip(point);
        each.map(|((attribute, weight), x)| weight * attribute.slope(*x)).collect()
    }

    fn normal_form(&self, _: Measure) -> Self {
        let weights = scaled(&self.weights, 1.0 / norm(&self.weights));
        Self { weights, ..self.clone() }
    }

    fn coefficients(&self) -> Vec<f64> {
        self.weights.clone()
    }

    fn with_coefficients(&self, weights: &[f64]) -> Result<Self> {
        Self::new(self.attributes.clone(), weights.to_vec())
    }

    fn never_negative(&self) -> usize {
        self.weights.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn worth_and_back_are_inverse_on_every_scale() {
        for (transform, range) in [
            (Transform::Linear, [-3.0, 9.0]),
            (Transform::Log, [10.0, 4000.0]),
            (Transform::Logit, [0.02, 0.999]),
        ] {
            for direction in [Direction::Minimize, Direction::Maximize] {
                let attribute = Attribute { name: "a".into(), unit: None, direction, transform, range };
                for worth in [0.0, 0.2, 0.5, 0.9, 1.0] {
                    assert!((attribute.worth(attribute.at(worth)) - worth).abs() < 1e-9);
                }
                let better = if direction == Direction::Minimize { range[0] } else { range[1] };
                assert!((attribute.worth(better) - 1.0).abs() < 1e-12);
                // The slope against a difference.
                let (x, step) = (attribute.at(0.4), 1e-6 * attribute.at(0.4).abs());
                let found = (attribute.worth(x + step) - attribute.worth(x - step)) / (2.0 * step);
                assert!((found / attribute.slope(x) - 1.0).abs() < 1e-5, "{transform:?}");
            }
        }
    }

    #[test]
    fn scales_are_guessed_from_names_and_values() {
        let guess = |name: &str, values: &[f64]| {
            Attribute::guessed(name, Direction::Minimize, values).map(|attribute| attribute.transform)
        };
        assert_eq!(guess("latency_ms", &[20.0, 400.0]), Ok(Transform::Log));
        assert_eq!(guess("latency_ms", &[20.0, 40.0]), Ok(Transform::Linear));
        assert_eq!(guess("latency_ms", &[0.0, 40.0]), Ok(Transform::Linear));
        assert_eq!(guess("gap", &[0.001, 0.2]), Ok(Transform::Logit));
        assert_eq!(guess("recall", &[0.4, 0.8]), Ok(Transform::Linear));
        assert_eq!(guess("programs", &[1.0, 100.0]), Ok(Transform::Linear));
    }

    #[test]
    fn what_cannot_be_weighed_is_said() {
        let says = |attributes: Vec<Attribute>| {
            let count = attributes.len();
            Attributes::new(attributes, vec![1.0; count])
                .map_err(|error: Error| error.to_string())
                .unwrap_err()
        };
        let of = |name: &str, values: &[f64]| Attribute::guessed(name, Direction::Maximize, values).unwrap();
        let good = of("recall", &[0.4, 0.8]);
        assert!(says(vec![good.clone()]).contains("the number of attributes is 1"));
        assert!(says(vec![good.clone(), good.clone()]).contains("two attributes have the name \"recall\""));
        assert!(says(vec![good.clone(), of("b", &[2.0, 2.0])]).contains("\"b\" is 2 everywhere"));
        let negative = Attribute { transform: Transform::Log, range: [-1.0, 2.0], ..of("c", &[1.0, 2.0]) };
        assert!(says(vec![good, negative]).contains("above 0, since its logarithm counts"));
    }
}
