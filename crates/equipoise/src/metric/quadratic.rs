//! $\phi(r) = \langle a, r \rangle + \tfrac12 r^T B r + c$.

use super::{Coordinates, Form};
use crate::document::{Object, make};
use crate::error::{Result, check};
use crate::linalg::{Matrix, dot, norm, scaled, zeros};
use crate::view::Measure;
use serde::Serialize;

/// A quadratic function (Definition 6.3), such as the Q-mean or squared distribution mismatch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quadratic {
    linear: Vec<f64>,
    quadratic: Matrix,
    #[serde(skip_serializing_if = "is_zero")]
    constant: f64,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

impl Quadratic {
    /// Finite coefficients, a symmetric matrix, not everything zero.
    pub fn new(linear: Vec<f64>, quadratic: Matrix) -> Result<Self> {
        check::all_finite("linear", &linear)?;
        check_symmetric("quadratic", &quadratic, linear.len())?;
        let all = [linear.clone(), quadratic.concat()].concat();
        check::weights("linear and quadratic together", &all, all.len())?;
        Ok(Self { linear, quadratic, constant: 0.0 })
    }

    /// Adds a constant, which no comparison can see.
    pub fn plus_constant(self, constant: f64) -> Result<Self> {
        check::finite("constant", constant)?;
        Ok(Self { constant, ..self })
    }

    /// $a$.
    pub fn linear(&self) -> &[f64] {
        &self.linear
    }

    /// $B$.
    pub fn quadratic(&self) -> &Matrix {
        &self.quadratic
    }

    /// $c$.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    pub(super) fn negated(&self) -> Self {
        self.times(-1.0)
    }

    fn times(&self, factor: f64) -> Self {
        Self {
            linear: scaled(&self.linear, factor),
            quadratic: self.quadratic.iter().map(|row| scaled(row, factor)).collect(),
            constant: self.constant * factor,
        }
    }
}

impl Form for Quadratic {
    fn read(object: Object, _: Option<usize>) -> Result<Self> {
        make!(object, { linear: Vec<f64>, quadratic: Matrix, constant: Option<f64> } => {
            Self::new(linear, quadratic)?.plus_constant(constant.unwrap_or(0.0))
        })
    }

    fn coordinates(&self) -> Result<Coordinates> {
        Ok(Coordinates::As("linear", self.linear.len()))
    }

    fn value(&self, point: &[f64]) -> f64 {
        dot(&self.linear, point) + 0.5 * form(&self.quadratic, point) + self.constant
    }

    fn gradient(&self, point: &[f64]) -> Vec<f64> {
        self.linear.iter().zip(&self.quadratic).map(|(a, row)| a + dot(row, point)).collect()
    }

    /// $\|a\|^2 + \|B\|_F^2 = 1$, no constant.
    fn normal_form(&self, _: Measure) -> Self {
        let size = norm(&[norm(&self.linear), norm(&self.quadratic.concat())]);
        Self { constant: 0.0, ..self.times(1.0 / size) }
    }

    fn coefficients(&self) -> Vec<f64> {
        [self.linear.clone(), upper_triangle(&self.quadratic)].concat()
    }

    fn with_coefficients(&self, coefficients: &[f64]) -> Result<Self> {
        let (linear, entries) = coefficients.split_at(self.linear.len());
        Self::new(linear.to_vec(), from_upper_triangle(entries, linear.len()))?.plus_constant(self.constant)
    }
}

/// The entries of a symmetric matrix, each once, row by row.
pub(super) fn upper_triangle(matrix: &Matrix) -> Vec<f64> {
    matrix.iter().enumerate().flat_map(|(i, row)| row[i..].to_vec()).collect()
}

pub(super) fn from_upper_triangle(entries: &[f64], size: usize) -> Matrix {
    let mut matrix = zeros(size);
    let places = (0..size).flat_map(|i| (i..size).map(move |j| (i, j)));
    for ((i, j), entry) in places.zip(entries) {
        matrix[i][j] = *entry;
        matrix[j][i] = *entry;
    }
    matrix
}

/// $x^T B x$.
pub(super) fn form(matrix: &Matrix, x: &[f64]) -> f64 {
    matrix.iter().zip(x).map(|(row, xi)| xi * dot(row, x)).sum()
}

/// Checks that a matrix is square of the given size, finite and symmetric.
pub(super) fn check_symmetric(field: &str, matrix: &Matrix, size: usize) -> Result<()> {
    check::length(field, matrix.len(), size)?;
    for (i, row) in matrix.iter().enumerate() {
        check::length(&format!("{field}[{i}]"), row.len(), size)?;
        check::all_finite(&format!("{field}[{i}]"), row)?;
    }
    let scale = norm(&matrix.concat());
    for i in 0..size {
        for j in 0..i {
            let equal = (matrix[i][j] - matrix[j][i]).abs() <= 1e-9 * scale;
            let name = format!("{field}[{i}][{j}]");
            check::number(&name, matrix[i][j], equal, "the value of its mirror entry (a symmetric matrix)")?;
        }
    }
    Ok(())
}
