//! The few vector and matrix operations the procedures need, in words.

use faer::Mat;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub(crate) fn norm(a: &[f64]) -> f64 {
    // `hypot` style scaling keeps tiny and huge vectors representable.
    let largest = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * a.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt()
}

pub(crate) fn scaled(a: &[f64], factor: f64) -> Vec<f64> {
    a.iter().map(|x| x * factor).collect()
}

/// The unit vector along `a`, or `None` for a vector without direction.
pub(crate) fn direction(a: &[f64]) -> Option<Vec<f64>> {
    let length = norm(a);
    (length > 0.0 && length.is_finite()).then(|| scaled(a, 1.0 / length))
}

/// `a + factor * b`.
pub(crate) fn plus(a: &[f64], factor: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x + factor * y).collect()
}

/// Elementwise product.
pub(crate) fn times(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x * y).collect()
}

/// Angle between two directions; accurate for small angles, unlike `acos` of the cosine.
pub(crate) fn angle(a: &[f64], b: &[f64]) -> f64 {
    match (direction(a), direction(b)) {
        (Some(a), Some(b)) => 2.0 * norm(&plus(&a, -1.0, &b)).atan2(norm(&plus(&a, 1.0, &b))),
        _ => f64::NAN,
    }
}

/// The combination of `columns` nearest to `right`: its coefficients, and what is missing to `right`.
///
/// Gram-Schmidt, each vector swept twice so that even a small remainder is orthogonal to its last digits.
/// Columns that add no new direction get no weight.
pub(crate) fn least_squares(columns: &[Vec<f64>], right: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
    let mut triangle: Vec<Vec<f64>> = Vec::with_capacity(columns.len());
    for column in columns {
        let (mut along, rest) = split(column, &basis);
        let length = norm(&rest);
        // An infinite length makes both the basis vector and the coefficient zero.
        let length = if length > 1e-14 * norm(column) { length } else { f64::INFINITY };
        along.push(length);
        basis.push(scaled(&rest, 1.0 / length));
        triangle.push(along);
    }
    let (mut coefficients, missing) = split(right, &basis);
    for n in (0..columns.len()).rev() {
        coefficients[n] /= triangle[n][n];
        for m in 0..n {
            coefficients[m] -= triangle[n][m] * coefficients[n];
        }
    }
    (coefficients, missing)
}

/// The components of `vector` along orthonormal vectors, and the rest.
fn split(vector: &[f64], basis: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let mut along = vec![0.0; basis.len()];
    let mut rest = vector.to_vec();
    for _ in 0..2 {
        for (total, unit) in along.iter_mut().zip(basis) {
            let part = dot(unit, &rest);
            *total += part;
            rest = plus(&rest, -part, unit);
        }
    }
    (along, rest)
}

/// Right singular vectors of a matrix given by its rows.
pub(crate) struct Singular {
    /// Singular values, largest first, one per column.
    pub values: Vec<f64>,
    /// The right singular vector of each value.
    pub vectors: Vec<Vec<f64>>,
    /// `left[n]` dotted with the right-hand side is its component along value n.
    left: Vec<Vec<f64>>,
}

impl Singular {
    /// Decomposes; rows may be fewer than columns.
    pub fn of(rows: &[Vec<f64>], columns: usize) -> Self {
        // Zero rows change nothing and make the thin decomposition list every right vector.
        let height = rows.len().max(columns);
        let entry = |i: usize, j: usize| rows.get(i).map_or(0.0, |row| row[j]);
        let matrix = Mat::<f64>::from_fn(height, columns, entry);
        let Ok(svd) = matrix.thin_svd() else {
            // Only for entries that are not finite: no direction is known.
            let zero = vec![0.0; columns];
            return Self {
                values: zero.clone(),
                vectors: vec![zero; columns],
                left: vec![vec![0.0; height]; columns],
            };
        };
        let (u, s, v) = (svd.U(), svd.S().column_vector(), svd.V());
        Self {
            values: (0..columns).map(|n| s[n]).collect(),
            vectors: (0..columns).map(|n| (0..columns).map(|i| v[(i, n)]).collect()).collect(),
            left: (0..columns).map(|n| (0..height).map(|i| u[(i, n)]).collect()).collect(),
        }
    }

    /// How many singular values exceed `relative` times the largest.
    pub fn rank(&self, relative: f64) -> usize {
        let cut = relative * self.values.first().copied().unwrap_or(0.0);
        self.values.iter().filter(|&&s| s > cut).count()
    }

    /// Minimum-norm least-squares solution, ignoring values below `relative` times the largest.
    pub fn solve(&self, right: &[f64], relative: f64) -> Vec<f64> {
        let mut solution = vec![0.0; self.values.len()];
        for n in 0..self.rank(relative) {
            let component = dot(&self.left[n][..right.len()], right) / self.values[n];
            solution = plus(&solution, component, &self.vectors[n]);
        }
        solution
    }
}

/// A small matrix, as a list of rows.
pub type Matrix = Vec<Vec<f64>>;

/// A square matrix of zeros.
pub(crate) fn zeros(size: usize) -> Matrix {
    vec![vec![0.0; size]; size]
}

/// A matrix times a vector.
pub(crate) fn applied(matrix: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, x)).collect()
}

/// The inner products of two lists of vectors.
pub(crate) fn products(a: &[Vec<f64>], b: &[Vec<f64>]) -> Matrix {
    a.iter().map(|x| applied(b, x)).collect()
}

/// Rows as columns, of a square matrix.
pub(crate) fn transposed(matrix: &[Vec<f64>]) -> Matrix {
    (0..matrix.len()).map(|j| matrix.iter().map(|row| row[j]).collect()).collect()
}

/// The mean of a square matrix and its transpose.
pub(crate) fn symmetric(matrix: &[Vec<f64>]) -> Matrix {
    let mean =
        |(row, column): (&Vec<f64>, &Vec<f64>)| row.iter().zip(column).map(|(x, y)| 0.5 * (x + y)).collect();
    matrix.iter().zip(&transposed(matrix)).map(mean).collect()
}

/// Eigenvalues (smallest first) and eigenvectors of a symmetric matrix.
pub(crate) fn eigen(matrix: &[Vec<f64>]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = matrix.len();
    let matrix = Mat::<f64>::from_fn(size, size, |i, j| matrix[i][j]);
    match matrix.self_adjoint_eigen(faer::Side::Lower) {
        Ok(found) => {
            let (s, u) = (found.S().column_vector(), found.U());
            let vector = |n: usize| (0..size).map(|i| u[(i, n)]).collect();
            ((0..size).map(|n| s[n]).collect(), (0..size).map(vector).collect())
        }
        // Only for entries that are not finite.
        Err(_) => (vec![0.0; size], zeros(size)),
    }
}

/// L with $LL^T$ = a symmetric positive definite matrix, from its lower triangle; `None` if it is not one.
pub(crate) fn cholesky(matrix: &[Vec<f64>]) -> Option<Matrix> {
    let mut l = matrix.to_vec();
    for j in 0..l.len() {
        for i in j..l.len() {
            let value = l[i][j] - dot(&l[i][..j], &l[j][..j]);
            l[i][j] = match i == j {
                true if value > 0.0 && value.is_finite() => value.sqrt(),
                true => return None,
                false => value / l[j][j],
            };
        }
        l[j][j + 1..].fill(0.0);
    }
    Some(l)
}

/// $L^{-T}$: row j holds column j of $L^{-1}$.
pub(crate) fn inverse_transposed(l: &[Vec<f64>]) -> Matrix {
    let mut inverse = zeros(l.len());
    for (j, row) in inverse.iter_mut().enumerate() {
        row[j] = 1.0 / l[j][j];
        for i in j + 1..l.len() {
            row[i] = -dot(&l[i][j..i], &row[j..i]) / l[i][i];
        }
    }
    inverse
}

/// The inverse of a symmetric positive definite matrix.
pub(crate) fn inverse_of_positive(matrix: &[Vec<f64>]) -> Option<Matrix> {
    let columns = inverse_transposed(&cholesky(matrix)?);
    let mut inverse = zeros(matrix.len());
    for i in 0..matrix.len() {
        for j in 0..=i {
            inverse[i][j] = dot(&columns[i][i..], &columns[j][i..]);
            inverse[j][i] = inverse[i][j];
        }
    }
    Some(inverse)
}

/// Standard normal entries.
pub fn normals(count: usize, random: &mut impl Rng) -> Vec<f64> {
    (0..count).map(|_| StandardNormal.sample(random)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_squares_solves_and_takes_the_shortest_solution() {
        let rows = vec![vec![1.0, 1.0, 0.0], vec![0.0, 0.0, 2.0]];
        let x = Singular::of(&rows, 3).solve(&[2.0, 4.0], 1e-9);
        for (found, expected) in x.iter().zip([1.0, 1.0, 2.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
        assert_eq!(Singular::of(&rows, 3).rank(1e-9), 2);
    }

    #[test]
    fn least_squares_skips_columns_that_add_nothing() {
        let columns = vec![vec![1.0, 0.0, 0.0], vec![3.0, 0.0, 0.0], vec![1.0, 1e-9, 0.0]];
        let (found, missing) = least_squares(&columns, &[2.0, 1e-9, 5.0]);
        for (found, expected) in found.iter().zip([1.0, 0.0, 1.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
        assert!(norm(&plus(&missing, -1.0, &[0.0, 0.0, 5.0])) < 1e-20);
    }

    #[test]
    fn a_positive_matrix_times_its_inverse_is_one() {
        let size = 6;
        let entry = |i: usize, j: usize| if i == j { 3.0 + i as f64 } else { 0.5 / (1.0 + (i + j) as f64) };
        let full: Matrix = (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect();
        let inverse = inverse_of_positive(&full).unwrap();
        for i in 0..size {
            for j in 0..size {
                let sum: f64 = (0..size).map(|n| full[i][n] * inverse[n][j]).sum();
                assert!((sum - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        assert!(inverse_of_positive(&[vec![1.0, 2.0], vec![2.0, 1.0]]).is_none());
    }

    #[test]
    fn small_angles_keep_their_digits() {
        assert!((angle(&[1.0, 0.0], &[1.0, 1e-9]) - 1e-9).abs() < 1e-20);
        assert!((norm(&[3e-200, 4e-200]) - 5e-200).abs() < 1e-214);
    }
}
