//! The papers' procedures: each asks and returns a metric.
//!
//! A [`Plan`](crate::Plan) is straight-line code over an [`Oracle`](crate::Oracle): it asks, passes the oracle's error along with `?`, and
//! returns an [`Outcome`](crate::Outcome). The same `run` serves simulations, prompts and, through
//! [`Interview`](crate::Interview), pages and Python. Each file holds one procedure, in the order of its paper;
//! where we depart from the print, the item's documentation says so.

mod binary;
mod binary_fractional;
mod cuts;
mod diagonal;
mod diagonal_fractional;
mod group_fair;
mod group_fair_quadratic;
mod interval;
mod linear;
mod linear_fractional;
mod monotone;
mod polynomial;
mod quadratic;
mod slope;
mod trade_off;

pub use binary::BinaryLinear;
pub(crate) use binary::inscribed_radius;
pub use binary_fractional::{BinaryFractional, Solve};
pub use diagonal::DiagonalLinear;
pub use diagonal_fractional::DiagonalFractional;
pub use group_fair::GroupFair;
pub use group_fair_quadratic::GroupFairQuadratic;
pub use interval::{Halving, Interval};
pub use linear::Linear;
pub(crate) use linear::SignKnowledge;
pub use linear_fractional::LinearFractional;
pub use monotone::MonotoneDiagonal;
pub(crate) use polynomial::Monomials;
pub use polynomial::Polynomial;
pub use quadratic::Quadratic;
pub use slope::SlopeSearch;
pub use trade_off::{QuadraticTradeOff, TradeOff};
