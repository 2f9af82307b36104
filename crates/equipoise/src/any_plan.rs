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
    /// Two classes, linear.
    BinaryLinear(BinaryLinear),
    /// Two classes, linear-fractional.
    BinaryFractional(BinaryFractional),
    /// Diagonal, linear.
    DiagonalLinear(DiagonalLinear),
    /// Diagonal, linear-fractional.
    DiagonalFractional(DiagonalFractional),
    /// Diagonal, any monotone metric.
    MonotoneDiagonal(MonotoneDiagonal),
    /// Ball, linear.
    Linear(Linear),
    /// Ball, linear-fractional.
    LinearFractional(LinearFractional),
    /// Groups, absolute differences.
    GroupFair(GroupFair),
    /// Groups, trade-off alone.
    TradeOff(TradeOff),
    /// Ball, quadratic.
    Quadratic(Quadratic),
    /// Groups, squared differences.
    GroupFairQuadratic(GroupFairQuadratic),
    /// Groups, trade-off of squared differences alone.
    QuadraticTradeOff(QuadraticTradeOff),
    /// Ball, any degree.
    Polynomial(Polynomial),
    /// Any of them, by the adaptive engine.
    Adaptive(Adaptive),
}

/// Runs the same expression on the plan inside, whichever it is.
macro_rules! inner {
    ($any:expr, $plan:ident => $body:expr) => {
        match $any {
            AnyPlan::BinaryLinear($plan) => $body,
            AnyPlan::BinaryFractional($plan) => $body,
            AnyPlan::DiagonalLinear($plan) => $body,
            AnyPlan::DiagonalFractional($plan) => $body,
            AnyPlan::MonotoneDiagonal($plan) => $body,
            AnyPlan::Linear($plan) => $body,
            AnyPlan::LinearFractional($plan) => $body,
            AnyPlan::GroupFair($plan) => $body,
            AnyPlan::TradeOff($plan) => $body,
            AnyPlan::Quadratic($plan) => $body,
            AnyPlan::GroupFairQuadratic($plan) => $body,
            AnyPlan::QuadraticTradeOff($plan) => $body,
            AnyPlan::Polynomial($plan) => $body,
            AnyPlan::Adaptive($plan) => $body,
        }
    };
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

    /// The word for this kind in documents.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::BinaryLinear(_) | Self::Linear(_) => "linear",
            Self::BinaryFractional(_) | Self::LinearFractional(_) => "linear_fractional",
            Self::DiagonalLinear(_) => "diagonal_linear",
            Self::DiagonalFractional(_) => "diagonal_linear_fractional",
            Self::MonotoneDiagonal(_) => "diagonal_monotone",
            Self::GroupFair(_) => "group_fair",
            Self::TradeOff(_) => "trade_off",
            Self::Quadratic(_) => "quadratic",
            Self::GroupFairQuadratic(_) => "group_fair_quadratic",
            Self::QuadraticTradeOff(_) => "quadratic_trade_off",
            Self::Polynomial(_) => "polynomial",
            Self::Adaptive(plan) => plan.kind(),
        }
    }

    /// What the points of its questions are.
    pub fn view(&self) -> View {
        inner!(self, plan => plan.view())
    }

    /// A plan document and the space it is about, from parts of a larger document.
    pub(crate) fn from_parts(space: AnySpace, plan: Value, at: &str) -> Result<Self> {
        let mut object = Object::new(plan, at)?;
        object.allow_format()?;
        if object.is("method", "adaptive") {
            return Ok(Self::Adaptive(Adaptive::read(object, space)?));
        }
        let kind = object.kind("kind", &Self::KINDS)?;
        Ok(match (kind.as_str(), space) {
            ("linear", AnySpace::Binary(space)) => Self::BinaryLinear(BinaryLinear::read(object, space)?),
            ("linear", AnySpace::Sphere(space)) => Self::Linear(Linear::read(object, space)?),
            ("linear_fractional", AnySpace::Binary(space)) => {
                Self::BinaryFractional(BinaryFractional::read(object, space)?)
            }
            ("linear_fractional", AnySpace::Sphere(space)) => {
                Self::LinearFractional(LinearFractional::read(object, space)?)
            }
            ("diagonal_linear", AnySpace::Diagonal(space)) => {
                Self::DiagonalLinear(DiagonalLinear::read(object, space)?)
            }
            ("diagonal_linear_fractional", AnySpace::Diagonal(space)) => {
                Self::DiagonalFractional(DiagonalFractional::read(object, space)?)
            }
            ("diagonal_monotone", AnySpace::Diagonal(space)) => {
                Self::MonotoneDiagonal(MonotoneDiagonal::read(object, space)?)
            }
            ("group_fair", AnySpace::GroupSphere(space)) => Self::GroupFair(GroupFair::read(object, space)?),
            ("trade_off", AnySpace::GroupSphere(space)) => Self::TradeOff(TradeOff::read(object, space)?),
            ("quadratic", AnySpace::Sphere(space)) => Self::Quadratic(Quadratic::read(object, space)?),
            ("group_fair_quadratic", AnySpace::GroupSphere(space)) => {
                Self::GroupFairQuadratic(GroupFairQuadratic::read(object, space)?)
            }
            ("quadratic_trade_off", AnySpace::GroupSphere(space)) => {
                Self::QuadraticTradeOff(QuadraticTradeOff::read(object, space)?)
            }
            ("polynomial", AnySpace::Sphere(space)) => Self::Polynomial(Polynomial::read(object, space)?),
            (kind, space) => {
                let what = format!(
                    "{} is \"{kind}\", which does not work on a {} space; it needs {}",
                    object.path("kind"),
                    space.kind(),
                    spaces_for(kind)
                );
                return Err(Error::Document(what));
            }
        })
    }
}

/// The view of a plan's space.
trait Viewed {
    fn view(&self) -> View;
}

/// Plans that ask about one space.
macro_rules! viewed {
    ($($plan:ident),*) => { $(impl Viewed for $plan {
        fn view(&self) -> View {
            self.space.view()
        }
    })* };
}

viewed!(
    BinaryLinear,
    BinaryFractional,
    DiagonalLinear,
    DiagonalFractional,
    MonotoneDiagonal,
    Linear,
    LinearFractional,
    GroupFair,
    TradeOff,
    Quadratic,
    GroupFairQuadratic,
    QuadraticTradeOff,
    Polynomial
);

fn spaces_for(kind: &str) -> &'static str {
    match kind {
        "linear" => "a logistic, hull or sphere space (a pool takes the method \"adaptive\")",
        "linear_fractional" => "a logistic, hull or sphere space",
        "diagonal_linear" | "diagonal_linear_fractional" | "diagonal_monotone" => "a softmax or faces space",
        "quadratic" | "polynomial" => "a sphere space",
        _ => "a group_sphere space",
    }
}

impl Plan for AnyPlan {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> std::result::Result<Outcome, O::Err> {
        inner!(self, plan => plan.run(oracle))
    }
}

impl Serialize for AnyPlan {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Tagged<'a, P> {
            kind: &'static str,
            #[serde(flatten)]
            plan: &'a P,
        }
        inner!(self, plan => Tagged { kind: self.kind(), plan }.serialize(serializer))
    }
}

impl<'de> Deserialize<'de> for AnyPlan {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let read = |value: Value| -> Result<Self> {
            let mut object = Object::new(value, "plan")?;
            let space = AnySpace::from_part(object.part("space")?, "plan.space")?;
            Self::from_parts(space, object.into_value(), "plan")
        };
        read(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
