//! Metrics: functions of a classifier's confusion matrix, as a utility or a cost.
//!
//! A [`Metric`] is a [`Family`] member over a [`View`]: the view says which entries of the confusion
//! matrix the coefficients belong to, the [`Sense`] whether more is better. Documents are JSON with
//! `"format": 1`; see [`Metric::from_json`]. A document may also say how sure it is of its coefficients, by a
//! [`Posterior`] or a [`RatioInterval`], and where they come from.

mod belief;
mod closed;
mod coefficients;
mod compare;
mod credible;
mod group_fair;
mod linear;
mod linear_fractional;
mod named;
mod polynomial;
mod quadratic;
mod scorer;

pub use belief::{Posterior, RatioInterval, Signs};
pub use closed::{DemographicParity, GeometricMean, MacroF};
pub use compare::Difference;
pub use group_fair::{Fair, GroupFair, GroupFairQuadratic, Pair, Squared, Violation, Weights, pairs};
pub use linear::Linear;
pub use linear_fractional::LinearFractional;
pub use named::Named;
pub(crate) use named::rounded;
pub use polynomial::Polynomial;
pub(crate) use polynomial::factorial;
pub use quadratic::{Matrix, Quadratic};

use crate::document::{self, FORMAT, Object};
use crate::error::{Error, Result, check};
use crate::linalg::norm;
use crate::rates::{GroupConfusions, GroupShares, Prevalence};
use crate::view::{Measure, View};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use belief::Belief;

/// Whether a larger value is liked or disliked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sense {
    /// Larger is better.
    Utility,
    /// Smaller is better.
    Cost,
}

impl Sense {
    /// +1 for a utility, -1 for a cost: value times sign is what the oracle likes.
    pub fn sign(self) -> f64 {
        match self {
            Sense::Utility => 1.0,
            Sense::Cost => -1.0,
        }
    }
}

/// The parametric form of a metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Family {
    /// A weighted sum.
    Linear(Linear),
    /// A ratio of weighted sums.
    LinearFractional(LinearFractional),
    /// Weighted sum plus a quadratic form.
    Quadratic(Quadratic),
    /// Any degree.
    Polynomial(Polynomial),
    /// Errors plus weighted absolute differences between groups.
    GroupFair(GroupFair),
    /// Errors plus squared differences between groups.
    GroupFairQuadratic(GroupFairQuadratic),
    /// The mean F-measure of the classes.
    MacroF(MacroF),
    /// The geometric mean of recalls.
    #[serde(rename = "g_mean")]
    GeometricMean(GeometricMean),
    /// The largest coverage difference between groups.
    DemographicParity(DemographicParity),
}

impl Family {
    const KINDS: [&str; 9] = [
        "linear",
        "linear_fractional",
        "quadratic",
        "polynomial",
        "group_fair",
        "group_fair_quadratic",
        "macro_f",
        "g_mean",
        "demographic_parity",
    ];

    /// The word for this family in documents.
    pub fn kind(&self) -> &'static str {
        match self {
            Family::Linear(_) => "linear",
            Family::LinearFractional(_) => "linear_fractional",
            Family::Quadratic(_) => "quadratic",
            Family::Polynomial(_) => "polynomial",
            Family::GroupFair(_) => "group_fair",
            Family::GroupFairQuadratic(_) => "group_fair_quadratic",
            Family::MacroF(_) => "macro_f",
            Family::GeometricMean(_) => "g_mean",
            Family::DemographicParity(_) => "demographic_parity",
        }
    }
}

/// A metric: what a classifier is worth, or costs.
///
/// ```
/// use equipoise::{Confusion, Metric};
/// let f1 = Metric::f_beta(1.0, 0.35)?;
/// let value = f1.value(&[0.30, 0.60]); // true positives, true negatives
/// assert!((value - 2.0 * 0.30 / (2.0 * 0.30 + 0.05 + 0.05)).abs() < 1e-15);
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    view: View,
    sense: Sense,
    family: Family,
    class_names: Option<Vec<String>>,
    belief: Belief,
}

impl Metric {
    /// A metric; the family's coefficients must fit the view.
    pub fn new(view: View, sense: Sense, family: Family) -> Result<Self> {
        let d = view.dimension();
        let grouped = view.measure() == Measure::GroupRates;
        let fair = |classes: usize, groups: usize| {
            let needed = View::new(Measure::GroupRates, classes, groups)?;
            needed.expect("the metric", &view, "its measure")
        };
        match &family {
            Family::GroupFair(f) => fair(f.prevalence().classes(), f.prevalence().groups())?,
            Family::GroupFairQuadratic(f) => fair(f.prevalence().classes(), f.prevalence().groups())?,
            Family::DemographicParity(f) => fair(f.classes(), f.groups())?,
            Family::GeometricMean(f) => f.view()?.expect("the metric", &view, "its measure")?,
            other if grouped => {
                let kind = other.kind();
                let what = format!("kind is \"{kind}\", expected a group family for measure \"group_rates\"");
                return Err(Error::Mismatch(what));
            }
            Family::Linear(f) => check::length("weights", f.weights().len(), d)?,
            Family::LinearFractional(f) => check::length("numerator", f.numerator().len(), d)?,
            Family::Quadratic(f) => check::length("linear", f.linear().len(), d)?,
            Family::Polynomial(f) => check::length("tensors[0]", f.dimension(), d)?,
            Family::MacroF(f) => {
                View::new(Measure::OffDiagonal, f.classes(), 1)?.expect("the metric", &view, "its measure")?
            }
        }
        Ok(Self { view, sense, family, class_names: None, belief: Belief::default() })
    }

    /// A linear metric.
    pub fn linear(view: View, sense: Sense, weights: Vec<f64>) -> Result<Self> {
        Self::new(view, sense, Family::Linear(Linear::new(weights)?))
    }

    /// Gives the classes names, in domain words.
    pub fn with_class_names(mut self, names: Vec<String>) -> Result<Self> {
        check::length("classes", names.len(), self.view.classes())?;
        self.class_names = Some(names);
        Ok(self)
    }

    /// What the coordinates are.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Utility or cost.
    pub fn sense(&self) -> Sense {
        self.sense
    }

    /// The parametric form.
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// The classes' names, if they have any.
    pub fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    /// $\phi$ at a point.
    ///
    /// # Panics
    /// If the point has fewer coordinates than the view.
    pub fn value(&self, point: &[f64]) -> f64 {
        match &self.family {
            Family::Linear(f) => f.value(point),
            Family::LinearFractional(f) => f.value(point),
            Family::Quadratic(f) => f.value(point),
            Family::Polynomial(f) => f.value(point),
            Family::GroupFair(f) => f.value(point),
            Family::GroupFairQuadratic(f) => f.value(point),
            Family::MacroF(f) => f.value(point),
            Family::GeometricMean(f) => f.value(point),
            Family::DemographicParity(f) => f.value(point),
        }
    }

    /// $\nabla\phi$ at a point.
    pub fn gradient(&self, point: &[f64]) -> Vec<f64> {
        match &self.family {
            Family::Linear(f) => f.gradient(),
            Family::LinearFractional(f) => f.gradient(point),
            Family::Quadratic(f) => f.gradient(point),
            Family::Polynomial(f) => f.gradient(point),
            Family::GroupFair(f) => f.gradient(point),
            Family::GroupFairQuadratic(f) => f.gradient(point),
            Family::MacroF(f) => f.gradient(point),
            Family::GeometricMean(f) => f.gradient(point),
            Family::DemographicParity(f) => f.gradient(point),
        }
    }

    /// How much the holder of this metric likes a point: the value of a utility, minus that of a cost.
    pub fn liking(&self, point: &[f64]) -> f64 {
        self.sense.sign() * self.value(point)
    }

    /// $\phi$ of a confusion matrix.
    pub fn of(&self, confusions: &GroupConfusions) -> Result<f64> {
        Ok(self.value(&self.view.of(confusions)?))
    }

    /// The representative of all metrics that order points alike by a positive factor (and, for groups, by
    /// moving size between weights and trade-off).
    pub fn normal_form(&self) -> Self {
        let family = match &self.family {
            Family::Linear(f) => Family::Linear(f.normal_form(self.view.measure())),
            Family::LinearFractional(f) => Family::LinearFractional(f.normal_form()),
            Family::Quadratic(f) => Family::Quadratic(f.normal_form()),
            Family::Polynomial(f) => Family::Polynomial(f.normal_form()),
            Family::GroupFair(f) => Family::GroupFair(f.normal_form()),
            Family::GroupFairQuadratic(f) => Family::GroupFairQuadratic(f.normal_form()),
            other => other.clone(),
        };
        let normal = Self { family, belief: Belief::default(), ..self.clone() };
        let (size, normal_size) = (norm(&self.coefficients()), norm(&normal.coefficients()));
        let belief = self.belief.times(if size > 0.0 { normal_size / size } else { 1.0 });
        Self { belief, ..normal }
    }

    /// How many false alarms one missed case costs, for a linear two-class metric; class 1 is the case.
    ///
    /// `None` for other metrics and for weights that are not both costs of errors.
    pub fn cost_ratio(&self) -> Option<f64> {
        let joint = matches!(self.view.measure(), Measure::Binary | Measure::Diagonal | Measure::OffDiagonal);
        self.weight_ratio().filter(|_| joint)
    }

    /// Reads a metric document.
    ///
    /// ```
    /// use equipoise::Metric;
    /// let text = r#"{"format":1,"kind":"linear","measure":"off_diagonal_rates","sense":"cost",
    ///                "classes":["benign","malignant"],"weights":[1,6]}"#;
    /// assert_eq!(Metric::from_json(text)?.value(&[0.1, 0.05]), 0.4);
    /// let wrong = Metric::from_json(&text.replace("6", "\"six\"")).unwrap_err();
    /// assert_eq!(wrong.to_string(), "weights[1] is \"six\", expected a number");
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self> {
        let mut object = Object::new(document::parse(text)?, "")?;
        object.check_format()?;
        Self::read(object, None)
    }

    /// Reads a metric found at `at` inside another document; `shares` stands in for a missing prevalence.
    pub(crate) fn from_part(value: Value, at: &str, shares: Option<&GroupShares>) -> Result<Self> {
        let mut object = Object::new(value, at)?;
        object.allow_format()?;
        Self::read(object, shares)
    }

    fn read(mut object: Object, shares: Option<&GroupShares>) -> Result<Self> {
        let place = object.place();
        let kind = object.kind("kind", &Family::KINDS)?;
        let measures = Measure::ALL.map(Measure::name);
        let measure_name = object.kind("measure", &measures)?;
        let measure = Measure::ALL.into_iter().find(|m| m.name() == measure_name).expect("checked by kind");
        let sense = match object.kind("sense", &["utility", "cost"])?.as_str() {
            "utility" => Sense::Utility,
            _ => Sense::Cost,
        };
        let classes: Option<Classes> = object.optional("classes")?;
        let belief = Belief::take(&mut object)?;
        if let Some(shares) = shares
            && kind.starts_with("group_fair")
            && !object.has("prevalence")
        {
            object.insert("prevalence", serde_json::to_value(shares).expect("numbers"));
        }
        let (family, dimension, groups) = Self::read_family(&kind, object, classes.as_ref(), &place)?;
        let check = || {
            let count = match &classes {
                Some(classes) => classes.count(),
                None => classes_from_dimension(measure, dimension)?,
            };
            let view = View::new(measure, count, groups)?;
            let metric = Self::new(view, sense, family)?.with_belief(belief)?;
            match classes {
                Some(Classes::Names(names)) => metric.with_class_names(names),
                _ => Ok(metric),
            }
        };
        document::at(&place, check())
    }

    /// The family, how many coordinates it has per group, and how many groups.
    fn read_family(
        kind: &str,
        object: Object,
        classes: Option<&Classes>,
        place: &str,
    ) -> Result<(Family, usize, usize)> {
        Ok(match kind {
            "linear" => {
                let raw: raw::Linear = object.rest()?;
                let d = raw.weights.len();
                (Family::Linear(document::at(place, Linear::new(raw.weights))?), d, 1)
            }
            "linear_fractional" => {
                let raw: raw::LinearFractional = object.rest()?;
                let d = raw.numerator.len();
                let made = LinearFractional::new(raw.numerator, raw.denominator, raw.denominator_offset);
                (Family::LinearFractional(document::at(place, made)?), d, 1)
            }
            "quadratic" => {
                let raw: raw::Quadratic = object.rest()?;
                let d = raw.linear.len();
                let made = Quadratic::new(raw.linear, raw.quadratic);
                let made = made.and_then(|made| made.plus_constant(raw.constant));
                (Family::Quadratic(document::at(place, made)?), d, 1)
            }
            "polynomial" => {
                let raw: raw::Polynomial = object.rest()?;
                let found = raw.tensors.len();
                document::at(place, check::length("tensors", found, raw.degree))?;
                let made = document::at(place, Polynomial::new(raw.tensors))?;
                let d = made.dimension();
                (Family::Polynomial(made), d, 1)
            }
            "group_fair" => {
                let raw: raw::Fair<raw::Weights> = object.rest()?;
                let (d, m) = (raw.performance.len(), raw.prevalence.groups());
                let pairs = raw.fairness.into_iter();
                let pairs =
                    pairs.map(|p| Pair { groups: p.groups, violation: Weights { weights: p.weights } });
                let made = Fair::new(raw.performance, pairs.collect(), raw.trade_off, raw.prevalence);
                (Family::GroupFair(document::at(place, made)?), d, m)
            }
            "group_fair_quadratic" => {
                let raw: raw::Fair<raw::Squared> = object.rest()?;
                let (d, m) = (raw.performance.len(), raw.prevalence.groups());
                let pairs = raw.fairness.into_iter();
                let pairs = pairs.map(|p| Pair { groups: p.groups, violation: Squared { matrix: p.matrix } });
                let made = Fair::new(raw.performance, pairs.collect(), raw.trade_off, raw.prevalence);
                (Family::GroupFairQuadratic(document::at(place, made)?), d, m)
            }
            "macro_f" => {
                let raw: raw::MacroF = object.rest()?;
                let made = document::at(place, MacroF::new(raw.class_priors))?;
                let k = made.classes();
                (Family::MacroF(made), k * k - k, 1)
            }
            "g_mean" => {
                let raw: raw::GeometricMean = object.rest()?;
                let Some(classes) = classes else {
                    let what = "classes is missing, expected the number or names of the classes".to_owned();
                    return document::at(place, Err(Error::Mismatch(what)));
                };
                let mean = GeometricMean::new(classes.count(), raw.groups);
                (Family::GeometricMean(mean), classes.count(), raw.groups)
            }
            _ => {
                let raw: raw::DemographicParity = object.rest()?;
                let m = raw.prevalence.groups();
                let prevalence = Prevalence::with_groups(raw.class_priors, raw.prevalence);
                let made = prevalence.and_then(|p| DemographicParity::new(raw.estimate, &p));
                let made = document::at(place, made)?;
                let k = made.classes();
                (Family::DemographicParity(made), k * k - k, m)
            }
        })
    }

    /// The document of this metric, on one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a metric is plain numbers and words")
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            format: u64,
            measure: Measure,
            sense: Sense,
            classes: Classes,
            #[serde(flatten)]
            family: &'a Family,
            #[serde(flatten)]
            belief: &'a Belief,
        }
        let classes = match &self.class_names {
            Some(names) => Classes::Names(names.clone()),
            None => Classes::Count(self.view.classes()),
        };
        let (measure, sense) = (self.view.measure(), self.sense);
        let (family, belief) = (&self.family, &self.belief);
        Document { format: FORMAT, measure, sense, classes, family, belief }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_part(value, "", None).map_err(serde::de::Error::custom)
    }
}

/// Classes in a document: how many, or their names.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected how many classes, or a list of their names")]
enum Classes {
    Count(usize),
    Names(Vec<String>),
}

impl Classes {
    fn count(&self) -> usize {
        match self {
            Classes::Count(count) => *count,
            Classes::Names(names) => names.len(),
        }
    }
}

/// How many classes a coefficient vector of this length belongs to.
fn classes_from_dimension(measure: Measure, dimension: usize) -> Result<usize> {
    if !measure.lists_errors() {
        return Ok(dimension);
    }
    (2..=dimension + 1).find(|k| k * k - k == dimension).ok_or(Error::Number {
        field: "the number of weights".to_owned(),
        value: dimension as f64,
        expected: "k * k - k for k classes: 2, 6, 12, 20 and so on",
    })
}

/// The fields of each kind as they stand in a document, unchecked.
mod raw {
    use crate::rates::GroupShares;
    use serde::Deserialize;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Linear {
        pub weights: Vec<f64>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct LinearFractional {
        pub numerator: Vec<f64>,
        pub denominator: Vec<f64>,
        pub denominator_offset: f64,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Quadratic {
        pub linear: Vec<f64>,
        pub quadratic: Vec<Vec<f64>>,
        #[serde(default)]
        pub constant: f64,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Polynomial {
        pub degree: usize,
        pub tensors: Vec<Vec<f64>>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Fair<P> {
        pub performance: Vec<f64>,
        pub fairness: Vec<P>,
        pub trade_off: f64,
        pub prevalence: GroupShares,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Weights {
        pub groups: [usize; 2],
        pub weights: Vec<f64>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Squared {
        pub groups: [usize; 2],
        pub matrix: Vec<Vec<f64>>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct MacroF {
        pub class_priors: Vec<f64>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct GeometricMean {
        #[serde(default = "one")]
        pub groups: usize,
    }

    fn one() -> usize {
        1
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct DemographicParity {
        pub estimate: usize,
        pub class_priors: Vec<f64>,
        pub prevalence: GroupShares,
    }
}
