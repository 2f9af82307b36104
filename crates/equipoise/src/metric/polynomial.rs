//! $\phi(r) = \sum_t \tfrac1{t!} T_t[r, \dots, r]$ with symmetric tensors $T_t$.

use super::{Coordinates, Form};
use crate::document::{Object, make};
use crate::error::{Error, Result, check};
use crate::linalg::{dot, norm, scaled};
use crate::view::Measure;
use serde::Serialize;

/// A polynomial of any degree (eq. 6.26).
///
/// Tensor t (counted from 1) is listed row-major with $q^t$ entries and must be symmetric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Polynomial {
    degree: usize,
    tensors: Vec<Vec<f64>>,
}

impl Polynomial {
    /// From tensors of order 1, 2, ..., degree.
    pub fn new(tensors: Vec<Vec<f64>>) -> Result<Self> {
        let degree = check::at_least("degree", tensors.len(), 1, "at least 1")?;
        let q = check::at_least("the length of tensors[0]", tensors[0].len(), 1, "at least 1")?;
        for (t, tensor) in tensors.iter().enumerate() {
            let field = format!("tensors[{t}]");
            check::length(&field, tensor.len(), q.saturating_pow(t as u32 + 1))?;
            check::all_finite(&field, tensor)?;
            check_symmetric(&field, tensor, q, t + 1)?;
        }
        let all = tensors.concat();
        check::weights("tensors", &all, all.len())?;
        Ok(Self { degree, tensors })
    }

    /// Highest order.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// The tensors, order 1 first.
    pub fn tensors(&self) -> &[Vec<f64>] {
        &self.tensors
    }

    pub(super) fn dimension(&self) -> usize {
        self.tensors[0].len()
    }

    pub(super) fn negated(&self) -> Self {
        self.times(-1.0)
    }

    fn times(&self, factor: f64) -> Self {
        Self { tensors: self.tensors.iter().map(|t| scaled(t, factor)).collect(), ..self.clone() }
    }
}

impl Form for Polynomial {
    fn read(object: Object, _: Option<usize>) -> Result<Self> {
        make!(object, { degree: usize, tensors: Vec<Vec<f64>> } => {
            check::length("tensors", tensors.len(), degree)?;
            Self::new(tensors)
        })
    }

    fn coordinates(&self) -> Result<Coordinates> {
        Ok(Coordinates::As("tensors[0]", self.dimension()))
    }

    fn value(&self, point: &[f64]) -> f64 {
        let orders = self.tensors.iter().enumerate();
        orders.map(|(t, tensor)| contract(tensor, point, 0)[0] / factorial(t + 1)).sum()
    }

    fn gradient(&self, point: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; point.len()];
        for (t, tensor) in self.tensors.iter().enumerate() {
            let part = contract(tensor, point, 1);
            gradient.iter_mut().zip(part).for_each(|(g, p)| *g += p / factorial(t));
        }
        gradient
    }

    /// All coefficients together have length 1.
    fn normal_form(&self, _: Measure) -> Self {
        self.times(1.0 / norm(&self.tensors.concat()))
    }

    fn coefficients(&self) -> Vec<f64> {
        let sorted = |(t, tensor): (usize, &Vec<f64>)| -> Vec<f64> {
            let places = 0..tensor.len();
            places.filter(|&n| n == sorted_entry(n, self.dimension(), t + 1)).map(|n| tensor[n]).collect()
        };
        self.tensors.iter().enumerate().flat_map(sorted).collect()
    }

    fn with_coefficients(&self, coefficients: &[f64]) -> Result<Self> {
        let mut rest = coefficients.iter();
        let mut tensors = self.tensors.clone();
        for (t, tensor) in tensors.iter_mut().enumerate() {
            for n in 0..tensor.len() {
                let sorted = sorted_entry(n, self.dimension(), t + 1);
                // The sorted entry of a position comes no later than the position.
                tensor[n] = if sorted == n { rest.next().copied().unwrap_or(0.0) } else { tensor[sorted] };
            }
        }
        Self::new(tensors)
    }
}

/// The position of the entry with the same indices in increasing order.
fn sorted_entry(n: usize, q: usize, order: usize) -> usize {
    let mut index: Vec<usize> = (0..order).map(|p| n / q.pow(p as u32) % q).collect();
    index.sort_unstable();
    index.iter().fold(0, |position, i| position * q + i)
}

pub(crate) fn factorial(n: usize) -> f64 {
    (1..=n).map(|i| i as f64).product()
}

/// Contracts the last indices of a tensor with `point` until `order` of them are left.
fn contract(tensor: &[f64], point: &[f64], order: u32) -> Vec<f64> {
    let mut current = tensor.to_vec();
    while current.len() > point.len().pow(order) {
        current = current.chunks(point.len()).map(|row| dot(row, point)).collect();
    }
    current
}

fn check_symmetric(field: &str, tensor: &[f64], q: usize, order: usize) -> Result<()> {
    let scale = norm(tensor);
    for (n, value) in tensor.iter().enumerate() {
        if (value - tensor[sorted_entry(n, q, order)]).abs() > 1e-9 * scale {
            let expected = "the value of its permuted entry (a symmetric tensor)";
            return Err(Error::Number { field: format!("{field}[{n}]"), value: *value, expected });
        }
    }
    Ok(())
}
