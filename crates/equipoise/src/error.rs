//! What can be wrong with an input.

/// One thing that is wrong with an input: what was found, where, and what was expected.
///
/// Inputs are checked where values are made, so a running procedure fails only when its oracle does.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number outside the range its field allows.
    #[error("{field} is {value}, expected {expected}")]
    Number {
        /// The field or argument, by the name a caller knows.
        field: String,
        /// What was found.
        value: f64,
        /// The range that would have been accepted.
        expected: &'static str,
    },
    /// A list of the wrong length.
    #[error("{field} has {found} {}, expected {expected}", if *found == 1 { "entry" } else { "entries" })]
    Length {
        /// The field or argument.
        field: String,
        /// How many entries it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A list that must point somewhere is all zeros.
    #[error("{field} is all zero, expected at least one non-zero entry")]
    AllZero {
        /// The field or argument.
        field: String,
    },
    /// A word that names nothing we know.
    #[error("{field} is \"{found}\", expected one of {expected}")]
    Unknown {
        /// The field.
        field: String,
        /// What was found.
        found: String,
        /// The words that would have been accepted.
        expected: String,
    },
    /// Two inputs that do not fit each other.
    #[error("{0}")]
    Mismatch(String),
    /// A document that is not what it says it is.
    #[error("{0}")]
    Document(String),
    /// Text that is not JSON at all.
    #[error("not valid JSON: {0}")]
    Syntax(String),
    /// A document of a release we do not know.
    #[error("{field} is {found}, expected {expected}")]
    Format {
        /// The field.
        field: String,
        /// What was found.
        found: String,
        /// The one version this release reads.
        expected: u64,
    },
}

/// Shorthand used by every constructor in the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Leaves with a sentence if something holds that must not.
macro_rules! refuse {
    ($wrong:expr, $($sentence:tt)+) => {
        if $wrong {
            return Err($crate::Error::Mismatch(format!($($sentence)+)));
        }
    };
}
pub(crate) use refuse;

/// Checks for constructors: each returns the value it was given, or says what is wrong with it.
pub(crate) mod check {
    use super::{Error, Result};

    pub fn finite(field: &str, value: f64) -> Result<f64> {
        number(field, value, value.is_finite(), "a finite number")
    }

    pub fn number(field: &str, value: f64, ok: bool, expected: &'static str) -> Result<f64> {
        if ok { Ok(value) } else { Err(Error::Number { field: field.to_owned(), value, expected }) }
    }

    pub fn positive(field: &str, value: f64) -> Result<f64> {
        number(field, value, value.is_finite() && value > 0.0, "a number greater than 0")
    }

    pub fn unit(field: &str, value: f64) -> Result<f64> {
        number(field, value, (0.0..=1.0).contains(&value), "a number in [0, 1]")
    }

    /// A search tolerance: small enough to mean something, large enough for `f64` to reach.
    pub fn tolerance(field: &str, value: f64) -> Result<f64> {
        number(field, value, (1e-12..=1.0).contains(&value), "a number in [1e-12, 1]")
    }

    pub fn length(field: &str, found: usize, expected: usize) -> Result<()> {
        if found == expected {
            Ok(())
        } else {
            Err(Error::Length { field: field.to_owned(), found, expected })
        }
    }

    pub fn at_least(field: &str, found: usize, least: usize, expected: &'static str) -> Result<usize> {
        number(field, found as f64, found >= least, expected).map(|_| found)
    }

    pub fn all_finite(field: &str, values: &[f64]) -> Result<()> {
        // Names are made only for what is wrong: the lists may have millions of entries.
        match values.iter().position(|v| !v.is_finite()) {
            Some(i) => finite(&format!("{field}[{i}]"), values[i]).map(drop),
            None => Ok(()),
        }
    }

    /// Weights: the right number of finite entries, not all zero.
    pub fn weights(field: &str, values: &[f64], expected: usize) -> Result<()> {
        length(field, values.len(), expected)?;
        all_finite(field, values)?;
        if values.iter().all(|&v| v == 0.0) {
            return Err(Error::AllZero { field: field.to_owned() });
        }
        Ok(())
    }

    /// Weights that are also not negative.
    pub fn nonnegative(field: &str, values: &[f64]) -> Result<()> {
        match values.iter().position(|v| !(v.is_finite() && *v >= 0.0)) {
            Some(i) => number(&format!("{field}[{i}]"), values[i], false, "a number of at least 0").map(drop),
            None => Ok(()),
        }
    }
}
