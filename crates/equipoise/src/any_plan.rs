//! A plan of any kind, as documents name it.

use crate::ask::{Oracle, Outcome, Plan};
use crate::document::Object;
use crate::engine::Adaptive;
use crate::error::{Error, Result};
use crate::search::{
    BinaryFractional, BinaryLinear, DiagonalFractional, DiagonalLinear, GroupFair, GroupFairQuadratic,
    Linear, LinearFractional, MonotoneDiagonal, Polynomial, Quadratic, QuadraticTradeOff, TradeOff,
};
use crate::space::{AnySpace, Space};
use crate::view::View;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line per plan: its variant, its word in documents and the space it works on.
macro_rules! plans {
    ($($(#[$doc:meta])* $plan:ident = $kind:literal on $space:ident,)*) => {
        /// Any of the procedures, with the space it asks about: the serialisable form of a plan.
        ///
        /// ```
        /// use equipoise::AnyPlan;
        /// let plan: AnyPlan = serde_json::from_str(
        ///     r#"{"kind":"linear","method":"antipodal","tolerance":0.001,
        ///         "space":{"kind":"sphere","measure":"off_diagonal_rates","classes":3,"radius":0.2}}"#)?;
        /// assert_eq!(plan.kind(), "linear");
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum AnyPlan {
            $($(#[$doc])* $plan($plan),)*
            /// Any of them, by the adaptive engine.
            Adaptive(Adaptive),
        }

        impl AnyPlan {
            /// The word for this kind of plan in documents.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$plan(_) => $kind,)*
                    Self::Adaptive(plan) => plan.kind(),
                }
            }

            /// The view of the metric it finds.
            pub fn view(&self) -> View {
                match self {
                    $(Self::$plan(plan) => plan.space.view(),)*
                    Self::Adaptive(plan) => plan.view(),
                }
            }

            /// Reads a plan for a space, found at `at` inside another document.
            pub(crate) fn from_parts(space: AnySpace, plan: Value, at: &str) -> Result<Self> {
                let mut object = Object::new(plan, at)?;
                object.allow_format()?;
                if object.is("method", "adaptive") {
                    return Adaptive::read(object, space).map(Self::Adaptive);
                }
                let kind = object.kind("kind", &Self::KINDS)?;
                match (kind.as_str(), space) {
                    $(($kind, AnySpace::$space(space)) => $plan::read(object, space).map(Self::$plan),)*
                    (kind, space) => Err(Error::Document(format!(
                        "{} is \"{kind}\", which does not work on a {} space; it needs {}",
                        object.path("kind"),
                        space.kind(),
                        spaces_for(kind)
                    ))),
                }
            }
        }

        impl Plan for AnyPlan {
            type Output = Outcome;

            fn run<O: Oracle>(&self, oracle: &mut O) -> Result<Outcome, O::Err> {
                match self {
                    $(Self::$plan(plan) => plan.run(oracle),)*
                    Self::Adaptive(plan) => plan.run(oracle),
                }
            }
        }

        impl Serialize for AnyPlan {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[derive(Serialize)]
                struct Tagged<'a, P> {
                    kind: &'static str,
                    #[serde(flatten)]
                    plan: &'a P,
                }
                let kind = self.kind();
                match self {
                    $(Self::$plan(plan) => Tagged { kind, plan }.serialize(serializer),)*
                    Self::Adaptive(plan) => Tagged { kind, plan }.serialize(serializer),
                }
            }
        }
    };
}

plans! {
    /// Two classes, linear.
    BinaryLinear = "linear" on Binary,
    /// Two classes, linear-fractional.
    BinaryFractional = "linear_fractional" on Binary,
    /// Diagonal, linear.
    DiagonalLinear = "diagonal_linear" on Diagonal,
    /// Diagonal, linear-fractional.
    DiagonalFractional = "diagonal_linear_fractional" on Diagonal,
    /// Diagonal, any monotone metric.
    MonotoneDiagonal = "diagonal_monotone" on Diagonal,
    /// Ball, linear.
    Linear = "linear" on Sphere,
    /// Ball, linear-fractional.
    LinearFractional = "linear_fractional" on Sphere,
    /// Groups, absolute differences.
    GroupFair = "group_fair" on GroupSphere,
    /// Groups, trade-off alone.
    TradeOff = "trade_off" on GroupSphere,
    /// Ball, quadratic.
    Quadratic = "quadratic" on Sphere,
    /// Groups, squared differences.
    GroupFairQuadratic = "group_fair_quadratic" on GroupSphere,
    /// Groups, trade-off of squared differences alone.
    QuadraticTradeOff = "quadratic_trade_off" on GroupSphere,
    /// Ball, any degree.
    Polynomial = "polynomial" on Sphere,
}

impl AnyPlan {
    /// The kinds a document can name; some need a particular space.
    pub const KINDS: [&str; 11] = [
        "linear",
        "linear_fractional",
        "diagonal_linear",
        "diagonal_linear_fractional",
        "diagonal_monotone",
        "group_fair",
        "trade_off",
        "quadratic",
        "group_fair_quadratic",
        "quadratic_trade_off",
        "polynomial",
    ];
}

/// Which spaces a kind of plan works on, in words.
fn spaces_for(kind: &str) -> &'static str {
    match kind {
        "linear" => "a logistic, hull or sphere space (a pool takes the method \"adaptive\")",
        "linear_fractional" => "a logistic, hull or sphere space",
        "diagonal_linear" | "diagonal_linear_fractional" | "diagonal_monotone" => "a softmax or faces space",
        "quadratic" | "polynomial" => "a sphere space",
        _ => "a group_sphere space",
    }
}

impl<'de> Deserialize<'de> for AnyPlan {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |value: Value| -> Result<Self> {
            let mut object = Object::new(value, "plan")?;
            let space = AnySpace::from_part(object.part("space")?, "plan.space")?;
            Self::from_parts(space, object.into_value(), "plan")
        };
        read(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
