//! The families a metric may belong to, listed once, and what each must know of itself.
//!
//! To add a family: a file with its type and its [`Form`], a line in the list here, and its value in `scorer.py`.

use super::{
    DemographicParity, GeometricMean, GroupFair, GroupFairQuadratic, Linear, LinearFractional, MacroF,
    Polynomial, Quadratic,
};
use crate::document::Object;
use crate::error::Result;
use crate::view::{Measure, View};
use serde::Serialize;

/// What a family knows of itself: everything about one family is in its file.
pub(super) trait Form: Sized + Clone {
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
pub(super) enum Coordinates {
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
            pub(super) const KINDS: &[&str] = &[$($kind),*];

            /// The word for this family in documents.
            pub fn kind(&self) -> &'static str {
                match self { $(Family::$family(_) => $kind,)* }
            }

            pub(super) fn read(kind: &str, object: Object, classes: Option<usize>) -> Result<Self> {
                match kind {
                    $($kind => $family::read(object, classes).map(Family::$family),)*
                    _ => unreachable!("a kind that was checked"),
                }
            }

            pub(super) fn coordinates(&self) -> Result<Coordinates> {
                match self { $(Family::$family(f) => f.coordinates(),)* }
            }

            pub(super) fn value(&self, point: &[f64]) -> f64 {
                match self { $(Family::$family(f) => f.value(point),)* }
            }

            pub(super) fn gradient(&self, point: &[f64]) -> Vec<f64> {
                match self { $(Family::$family(f) => f.gradient(point),)* }
            }

            pub(super) fn normal_form(&self, measure: Measure) -> Self {
                match self { $(Family::$family(f) => Family::$family(f.normal_form(measure)),)* }
            }

            pub(super) fn coefficients(&self) -> Vec<f64> {
                match self { $(Family::$family(f) => f.coefficients(),)* }
            }

            pub(super) fn with_coefficients(&self, coefficients: &[f64]) -> Result<Self> {
                match self { $(Family::$family(f) => f.with_coefficients(coefficients).map(Family::$family),)* }
            }

            pub(super) fn never_negative(&self) -> usize {
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
    /// The geometric mean of recalls.
    GeometricMean = "g_mean",
    /// The largest coverage difference between groups.
    DemographicParity = "demographic_parity",
}
