//! $\phi(r) = \langle a, r \rangle / (\langle b, r \rangle + b_0)$.

use super::{Coordinates, Form};
use crate::document::{Object, make};
use crate::error::{Result, check};
use crate::linalg::{dot, plus, scaled};
use crate::view::Measure;
use serde::Serialize;

/// A ratio of weighted sums (eq. 3.7, Definitions 4.9 and 4.10), such as F-beta.
///
/// Comparisons cannot tell $\phi$ from $\phi / (c\phi + 1 - c)$: only the pencil of hyperplanes
/// $\langle a, r\rangle = \tau(\langle b, r\rangle + b_0)$ is identifiable. $F_1$ and Jaccard share theirs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearFractional {
    numerator: Vec<f64>,
    denominator: Vec<f64>,
    denominator_offset: f64,
}

impl LinearFractional {
    /// Finite coefficients; neither the numerator nor the denominator is all zero.
    pub fn new(numerator: Vec<f64>, denominator: Vec<f64>, denominator_offset: f64) -> Result<Self> {
        check::weights("numerator", &numerator, numerator.len())?;
        check::length("denominator", denominator.len(), numerator.len())?;
        check::all_finite("denominator", &denominator)?;
        if check::finite("denominator_offset", denominator_offset)? == 0.0 {
            check::weights("denominator", &denominator, numerator.len())?;
        }
        Ok(Self { numerator, denominator, denominator_offset })
    }

    /// $a$.
    pub fn numerator(&self) -> &[f64] {
        &self.numerator
    }

    /// $b$.
    pub fn denominator(&self) -> &[f64] {
        &self.denominator
    }

    /// $b_0$.
    pub fn denominator_offset(&self) -> f64 {
        self.denominator_offset
    }

    /// An F-measure of two classes, $(n\thinspace TP) / (d\thinspace TP - d\thinspace TN + b_0)$, for another share of the positive class.
    ///
    /// $b_0 = (n - d)\zeta + d(1 - \zeta)$ is what it has of the prevalence $\zeta$; `None` for fractions of another form and for
    /// $F_1$, where it cancels.
    pub(super) fn with_prior(&self, prior: f64) -> Option<Self> {
        match (&self.numerator[..], &self.denominator[..]) {
            (&[n, 0.0], &[d, e]) if d > 0.0 && e == -d && n > d && n - d != d => {
                Some(Self { denominator_offset: (n - d) * prior + d * (1.0 - prior), ..self.clone() })
            }
            _ => None,
        }
    }

    fn below(&self, point: &[f64]) -> f64 {
        dot(&self.denominator, point) + self.denominator_offset
    }

    pub(super) fn negated(&self) -> Self {
        Self { numerator: scaled(&self.numerator, -1.0), ..self.clone() }
    }

    /// The identifiable part: an orthonormal basis of span{(a, 0), (b, b0)}.
    pub(super) fn pencil(&self) -> Vec<Vec<f64>> {
        let extended = |v: &[f64], last: f64| v.iter().copied().chain([last]).collect::<Vec<_>>();
        let first = crate::linalg::direction(&extended(&self.numerator, 0.0));
        let mut basis: Vec<Vec<f64>> = first.into_iter().collect();
        let second = extended(&self.denominator, self.denominator_offset);
        let rest = basis.iter().fold(second, |v, b| plus(&v, -dot(&v, b), b));
        basis.extend(crate::linalg::direction(&rest));
        basis
    }
}

impl Form for LinearFractional {
    fn read(object: Object, _: Option<usize>) -> Result<Self> {
        make!(object, { numerator: Vec<f64>, denominator: Vec<f64>, denominator_offset: f64 } => {
            Self::new(numerator, denominator, denominator_offset)
        })
    }

    fn coordinates(&self) -> Result<Coordinates> {
        Ok(Coordinates::As("numerator", self.numerator.len()))
    }

    fn value(&self, point: &[f64]) -> f64 {
        dot(&self.numerator, point) / self.below(point)
    }

    fn gradient(&self, point: &[f64]) -> Vec<f64> {
        let below = self.below(point);
        scaled(&plus(&self.numerator, -self.value(point), &self.denominator), 1.0 / below)
    }

    /// Numerator weights of total size 1; a common factor of the whole fraction changes nothing.
    fn normal_form(&self, _: Measure) -> Self {
        let factor = 1.0 / self.numerator.iter().map(|a| a.abs()).sum::<f64>();
        Self {
            numerator: scaled(&self.numerator, factor),
            denominator: scaled(&self.denominator, factor),
            denominator_offset: self.denominator_offset * factor,
        }
    }

    fn coefficients(&self) -> Vec<f64> {
        [&self.numerator[..], &self.denominator, &[self.denominator_offset]].concat()
    }

    fn with_coefficients(&self, coefficients: &[f64]) -> Result<Self> {
        let d = self.numerator.len();
        Self::new(coefficients[..d].to_vec(), coefficients[d..2 * d].to_vec(), coefficients[2 * d])
    }
}
