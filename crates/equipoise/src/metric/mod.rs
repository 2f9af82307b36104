//! Metrics: functions of a classifier's confusion matrix, as a utility or a cost.
//!
//! A [`Metric`] is a [`Family`] member over a [`View`]: the view says which entries of the confusion
//! matrix the coefficients belong to, the [`Sense`] whether more is better. Documents are JSON with
//! `"format": 1`; see [`Metric::from_json`]. A document may also say how sure it is of its coefficients, by a
//! [`Posterior`] or the interval of a ratio, and where they come from.
//!
//! To add a family: a file with its type and its `Form`, a line in the list here, and its value in `scorer.py`.

mod attributes;
mod belief;
mod chance;
mod closed;
mod compare;
mod credible;
mod group_fair;
mod linear;
mod linear_fractional;
mod named;
mod polynomial;
mod quadratic;
mod scorer;

pub(crate) use attributes::Attributes;
pub(crate) use attributes::check_attributes;
pub use attributes::{Attribute, Direction, Transform};
pub use belief::Posterior;
pub(crate) use belief::RatioInterval;
use chance::{Kappa, Mcc};
use closed::{DemographicParity, GeometricMean, MacroF};
pub use compare::Difference;
pub(crate) use group_fair::Violation;
pub use group_fair::{Fair, GroupFair, GroupFairQuadratic, Pair, pairs};
pub(crate) use linear::Linear;
pub(crate) use linear_fractional::LinearFractional;
pub use named::Named;
pub(crate) use named::rounded;
pub(crate) use polynomial::{Polynomial, factorial};
pub(crate) use quadratic::Quadratic;

pub use crate::linalg::Matrix;

use crate::document::{self, FORMAT, Object};
use crate::error::{Error, Result, check};
use crate::linalg::norm;
use crate::rates::{GroupConfusions, GroupShares, Prevalence};
use crate::view::{Measure, View};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use belief::Belief;

/// What a family knows of itself: everything about one family is in its file.
trait Form: Sized + Clone {
    /// From the fields of a document that says it has so many classes, if it does.
    fn read(object: Object, classes: Option<usize>) -> Result<Self>;

    /// Which coordinates the coefficients belong to.
    fn coordinates(&self) -> Result<Coordinates>;

    /// $\phi$ at a point.
    fn value(&self, point: &[f64]) -> f64;

    /// $\nabla\phi$ at a point.
    fn gradient(&self, point: &[f64]) -> Vec<f64>;

    /// The representative of all members that order points alike by a positive factor.
    fn normal_form(&self, _: Measure) -> Self {
        self.clone()
    }

    /// The coefficients as one list, in the order of the document format.
    fn coefficients(&self) -> Vec<f64> {
        Vec::new()
    }

    /// The member with other coefficients, as many.
    fn with_coefficients(&self, _: &[f64]) -> Result<Self> {
        Ok(self.clone())
    }

    /// How many of the first coefficients are costs that cannot be negative.
    fn never_negative(&self) -> usize {
        0
    }
}

/// The coordinates a member of a family is about.
enum Coordinates {
    /// Those of any view without groups that has as many as this field has entries.
    As(&'static str, usize),
    /// Those of this view.
    Of(View),
}

macro_rules! families {
    ($($(#[$doc:meta])* $family:ident = $kind:literal,)*) => {
        /// The parametric form of a metric.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        #[non_exhaustive]
        pub enum Family {
            $($(#[$doc])* #[serde(rename = $kind)] $family($family),)*
        }

        impl Family {
            const KINDS: &[&str] = &[$($kind),*];

            /// The word for this family in documents.
            pub fn kind(&self) -> &'static str {
                match self { $(Family::$family(_) => $kind,)* }
            }

            fn read(kind: &str, object: Object, classes: Option<usize>) -> Result<Self> {
                match kind {
                    $($kind => $family::read(object, classes).map(Family::$family),)*
                    _ => unreachable!("a kind that was checked"),
                }
            }

            fn coordinates(&self) -> Result<Coordinates> {
                match self { $(Family::$family(f) => f.coordinates(),)* }
            }

            fn value(&self, point: &[f64]) -> f64 {
                match self { $(Family::$family(f) => f.value(point),)* }
            }

            fn gradient(&self, point: &[f64]) -> Vec<f64> {
                match self { $(Family::$family(f) => f.gradient(point),)* }
            }

            fn normal_form(&self, measure: Measure) -> Self {
                match self { $(Family::$family(f) => Family::$family(f.normal_form(measure)),)* }
            }

            fn coefficients(&self) -> Vec<f64> {
                match self { $(Family::$family(f) => f.coefficients(),)* }
            }

            fn with_coefficients(&self, coefficients: &[f64]) -> Result<Self> {
                match self { $(Family::$family(f) => f.with_coefficients(coefficients).map(Family::$family),)* }
            }

            fn never_negative(&self) -> usize {
                match self { $(Family::$family(f) => f.never_negative(),)* }
            }
        }
    };
}

families! {
    /// A weighted sum.
    Linear = "linear",
    /// A ratio of weighted sums.
    LinearFractional = "linear_fractional",
    /// Weighted sum plus a quadratic form.
    Quadratic = "quadratic",
    /// Any degree.
    Polynomial = "polynomial",
    /// Errors plus weighted absolute differences between groups.
    GroupFair = "group_fair",
    /// Errors plus squared differences between groups.
    GroupFairQuadratic = "group_fair_quadratic",
    /// The mean F-measure of the classes.
    MacroF = "macro_f",
    /// Cohen's kappa.
    Kappa = "kappa",
    /// Matthews' correlation.
    Mcc = "mcc",
    /// The geometric mean of recalls.
    GeometricMean = "g_mean",
    /// The largest coverage difference between groups.
    DemographicParity = "demographic_parity",
    /// A weighted sum over attributes of anything.
    Attributes = "attributes",
}

impl Family {
    /// The same for data of another prevalence; `None` where a family has nothing of the prevalence in it.
    fn for_prevalence(&self, measure: Measure, prevalence: &Prevalence) -> Result<Option<Self>> {
        let priors = prevalence.class_priors();
        Ok(match self {
            Family::LinearFractional(f) if measure == Measure::Binary => {
                f.with_prior(priors[1]).map(Family::LinearFractional)
            }
            Family::MacroF(f) => Some(Family::MacroF(f.with_priors(priors))),
            Family::Kappa(f) => Some(Family::Kappa(f.with_priors(priors))),
            Family::Mcc(f) => Some(Family::Mcc(f.with_priors(priors))),
            Family::DemographicParity(f) => Some(Family::DemographicParity(f.with_prevalence(prevalence)?)),
            _ => None,
        })
    }
}

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
    group_names: Option<Vec<String>>,
    belief: Belief,
}

impl Metric {
    /// A metric; the family's coefficients must fit the view.
    pub fn new(view: View, sense: Sense, family: Family) -> Result<Self> {
        match family.coordinates()? {
            Coordinates::Of(own) => own.expect("the metric", &view, "its measure")?,
            Coordinates::As(..) if view.measure() == Measure::GroupRates => {
                let kind = family.kind();
                let what = format!("kind is \"{kind}\", expected a group family for measure \"group_rates\"");
                return Err(Error::Mismatch(what));
            }
            Coordinates::As(field, count) => check::length(field, count, view.dimension())?,
        }
        Ok(Self { view, sense, family, class_names: None, group_names: None, belief: Belief::default() })
    }

    /// A linear metric.
    pub fn linear(view: View, sense: Sense, weights: Vec<f64>) -> Result<Self> {
        Self::new(view, sense, Family::Linear(Linear::new(weights)?))
    }

    /// A ratio of weighted sums: numerator, denominator, and what is added to the denominator.
    pub fn linear_fractional(
        view: View,
        sense: Sense,
        [numerator, denominator]: [Vec<f64>; 2],
        offset: f64,
    ) -> Result<Self> {
        let family = LinearFractional::new(numerator, denominator, offset)?;
        Self::new(view, sense, Family::LinearFractional(family))
    }

    /// A weighted sum plus half a quadratic form.
    pub fn quadratic(view: View, sense: Sense, linear: Vec<f64>, matrix: Matrix) -> Result<Self> {
        Self::new(view, sense, Family::Quadratic(Quadratic::new(linear, matrix)?))
    }

    /// A weighted sum of what attributes are worth, each from 0 to 1 over its range.
    pub fn attributes(attributes: Vec<Attribute>, weights: Vec<f64>) -> Result<Self> {
        let family = Attributes::new(attributes, weights)?;
        let Coordinates::Of(view) = family.coordinates()? else { unreachable!("attributes have a view") };
        Self::new(view, Sense::Utility, Family::Attributes(family))
    }

    /// Gives the classes names, in domain words.
    pub fn with_class_names(mut self, names: Vec<String>) -> Result<Self> {
        check::length("classes", names.len(), self.view.classes())?;
        self.class_names = Some(names);
        Ok(self)
    }

    /// Gives the groups names; a metric that compares none has none.
    pub fn with_group_names(mut self, names: Vec<String>) -> Result<Self> {
        check::length("group_names", names.len(), self.view.groups())?;
        self.group_names = Some(names);
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

    /// The groups' names, if they have any.
    pub fn group_names(&self) -> Option<&[String]> {
        self.group_names.as_deref()
    }

    /// $\phi$ at a point.
    ///
    /// # Panics
    /// If the point has fewer coordinates than the view.
    pub fn value(&self, point: &[f64]) -> f64 {
        self.family.value(point)
    }

    /// $\nabla\phi$ at a point.
    pub fn gradient(&self, point: &[f64]) -> Vec<f64> {
        self.family.gradient(point)
    }

    /// How much the holder of this metric likes a point: the value of a utility, minus that of a cost.
    pub fn liking(&self, point: &[f64]) -> f64 {
        self.sense.sign() * self.value(point)
    }

    /// $\phi$ of a confusion matrix.
    pub fn of(&self, confusions: &GroupConfusions) -> Result<f64> {
        Ok(self.value(&self.view.of(confusions)?))
    }

    /// The same metric for data in which classes and groups are as common as this: an F-measure stays that F-measure.
    ///
    /// F-measures, kappa, Matthews' correlation and demographic parity have the prevalence among their constants; others are returned as they are.
    pub fn for_prevalence(&self, prevalence: &Prevalence) -> Result<Self> {
        check::length("the class priors", prevalence.class_priors().len(), self.view.classes())?;
        let family = self.family.for_prevalence(self.view.measure(), prevalence)?;
        Ok(Self { family: family.unwrap_or_else(|| self.family.clone()), ..self.clone() })
    }

    /// The representative of all metrics that order points alike by a positive factor (and, for groups, by
    /// moving size between weights and trade-off).
    pub fn normal_form(&self) -> Self {
        let family = self.family.normal_form(self.view.measure());
        let normal = Self { family, belief: Belief::default(), ..self.clone() };
        let (size, normal_size) = (norm(&self.coefficients()), norm(&normal.coefficients()));
        let belief = self.belief.times(if size > 0.0 { normal_size / size } else { 1.0 });
        Self { belief, ..normal }
    }

    /// The coefficients in the order of the document format; empty for metrics without any.
    ///
    /// | kind | coefficients |
    /// |---|---|
    /// | `linear` | the weights |
    /// | `linear_fractional` | numerator, denominator, offset of the denominator |
    /// | `quadratic` | linear part, then the upper triangle of the matrix, row by row |
    /// | `polynomial` | order after order, the entries whose indices do not decrease, row-major |
    /// | `group_fair` | $(1-\lambda) a$, then $\lambda b^{uv}$ pair after pair |
    /// | `group_fair_quadratic` | $(1-\lambda) a$, then the upper triangle of $\lambda B^{uv}$ pair after pair |
    /// | `attributes` | the weights |
    /// | `macro_f`, `kappa`, `mcc`, `g_mean`, `demographic_parity` | none |
    ///
    /// ```
    /// use equipoise::Metric;
    /// let text = r#"{"format":1,"kind":"quadratic","measure":"off_diagonal_rates","sense":"cost",
    ///                "linear":[1,6],"quadratic":[[2,3],[3,4]]}"#;
    /// assert_eq!(Metric::from_json(text)?.coefficients(), [1.0, 6.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn coefficients(&self) -> Vec<f64> {
        self.family.coefficients()
    }

    /// The metric of the same family, view and sense with other coefficients, in the order of
    /// [`Metric::coefficients`].
    ///
    /// For group metrics the trade-off is the share of the fairness part in the size of both,
    /// $\lambda = S/(\|a'\| + S)$, which leaves every value as the coefficients give it.
    pub fn with_coefficients(&self, coefficients: &[f64]) -> Result<Self> {
        check::length("coefficients", coefficients.len(), self.coefficients().len())?;
        check::all_finite("coefficients", coefficients)?;
        let family = self.family.with_coefficients(coefficients)?;
        Ok(Self { family, belief: Belief::default(), ..self.clone() })
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
        let kind = object.kind("kind", Family::KINDS)?;
        if kind == "attributes" {
            // Points are no confusion matrices, so there is nothing to say of measure, sense and classes.
            let belief = Belief::take(&mut object)?;
            let family = Attributes::read(object, None)?;
            let made =
                || Self::attributes(family.attributes().to_vec(), family.coefficients())?.with_belief(belief);
            return document::at(&place, made());
        }
        let measures = Measure::ALL.map(Measure::name);
        let measure_name = object.kind("measure", &measures)?;
        let measure = Measure::ALL.into_iter().find(|m| m.name() == measure_name).expect("checked by kind");
        let sense = match object.kind("sense", &["utility", "cost"])?.as_str() {
            "utility" => Sense::Utility,
            _ => Sense::Cost,
        };
        let classes: Option<Classes> = object.optional("classes")?;
        let group_names: Option<Vec<String>> = object.optional("group_names")?;
        let belief = Belief::take(&mut object)?;
        if let Some(shares) = shares
            && kind.starts_with("group_fair")
            && !object.has("prevalence")
        {
            object.insert("prevalence", serde_json::to_value(shares).expect("numbers"));
        }
        let family = Family::read(&kind, object, classes.as_ref().map(Classes::count))?;
        let check = || {
            let (own, groups) = match family.coordinates()? {
                Coordinates::As(_, count) => (classes_from_dimension(measure, count), 1),
                Coordinates::Of(view) => (Ok(view.classes()), view.groups()),
            };
            let count = classes.as_ref().map_or(own, |classes| Ok(classes.count()))?;
            let view = View::new(measure, count, groups)?;
            let mut metric = Self::new(view, sense, family)?.with_belief(belief)?;
            if let Some(names) = group_names {
                metric = metric.with_group_names(names)?;
            }
            match classes {
                Some(Classes::Names(names)) => metric.with_class_names(names),
                _ => Ok(metric),
            }
        };
        document::at(&place, check())
    }

    /// The document of this metric, on one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a metric is plain numbers and words")
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            format: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            measure: Option<Measure>,
            #[serde(skip_serializing_if = "Option::is_none")]
            sense: Option<Sense>,
            #[serde(skip_serializing_if = "Option::is_none")]
            classes: Option<Classes>,
            #[serde(skip_serializing_if = "Option::is_none")]
            group_names: Option<&'a [String]>,
            #[serde(flatten)]
            family: &'a Family,
            #[serde(flatten)]
            belief: &'a Belief,
        }
        let classes = match &self.class_names {
            Some(names) => Classes::Names(names.clone()),
            None => Classes::Count(self.view.classes()),
        };
        let of_classes = self.view.measure() != Measure::Attributes;
        let classes = of_classes.then_some(classes);
        let measure = of_classes.then_some(self.view.measure());
        let sense = of_classes.then_some(self.sense);
        let (family, belief) = (&self.family, &self.belief);
        let group_names = self.group_names();
        Document { format: FORMAT, measure, sense, classes, group_names, family, belief }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
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
