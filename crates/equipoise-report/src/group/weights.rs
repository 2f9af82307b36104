//! People with several weights each: a common mean, how far people differ, and each person in the light of the others.
//!
//! Everything is normal: person i has weights $w_i \sim N(\mu, \Sigma)$, and their answers say $m_i \sim N(w_i, S_i)$.
//! $\mu$ and $\Sigma$ are estimated by expectation and maximisation. Weights are of length 1, since comparisons do not tell
//! their length.

use equipoise::metric::Posterior;

/// Rounds of expectation and maximisation.
const ROUNDS: usize = 100;

type Matrix = Vec<Vec<f64>>;

/// What one person's answers say.
#[derive(Debug, Clone, PartialEq)]
pub struct Normal {
    /// Where.
    pub mean: Vec<f64>,
    /// How sure.
    pub covariance: Matrix,
}

/// What people have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Common {
    /// The typical weights, and how sure they are.
    pub typical: Normal,
    /// The covariance between people.
    pub between: Matrix,
    /// Each person, given everybody's answers.
    pub shrunk: Vec<Normal>,
    /// The two directions in which people's own answers differ most, of length 1.
    pub directions: [Vec<f64>; 2],
}

/// Estimates what people have in common; `None` for fewer than two.
pub fn common(people: &[Normal]) -> Option<Common> {
    let d = people.first().filter(|_| people.len() > 1)?.mean.len();
    let n = people.len() as f64;
    let mut mean = average(people.iter().map(|person| &person.mean), d);
    let mut between = zeros(d);
    for person in people {
        add_square(&mut between, &minus(&person.mean, &mean), 1.0 / n);
    }
    let ridge = 1e-9 + 1e-6 * (0..d).map(|i| between[i][i]).sum::<f64>();
    let mut shrunk = vec![];
    for _ in 0..ROUNDS {
        shrunk =
            people.iter().map(|person| shrink(person, &mean, &between, ridge)).collect::<Option<Vec<_>>>()?;
        mean = average(shrunk.iter().map(|person: &Normal| &person.mean), d);
        between = zeros(d);
        for person in &shrunk {
            add_square(&mut between, &minus(&person.mean, &mean), 1.0 / n);
            for i in 0..d {
                for j in 0..d {
                    between[i][j] += person.covariance[i][j] / n;
                }
            }
        }
    }
    // The precision of the mean is the sum of what each person says of it.
    let mut precision = zeros(d);
    for person in people {
        let inverse = inverse(&plus(&between, &person.covariance), ridge)?;
        precision = plus(&precision, &inverse);
    }
    let typical = Normal { mean, covariance: symmetric(inverse(&precision, 0.0)?) };
    // As people answered, not as they are believed to be: the map is to show all there is, noise and all.
    let average = average(people.iter().map(|person| &person.mean), d);
    let mut apart = zeros(d);
    people.iter().for_each(|person| add_square(&mut apart, &minus(&person.mean, &average), 1.0 / n));
    let axes = Posterior::new(average, symmetric(apart)).ok()?.axes();
    let direction = |back: usize| {
        let axis = axes.len().checked_sub(back).map_or_else(|| vec![0.0; d], |n| axes[n].clone());
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut axis: Vec<f64> = axis.iter().map(|x| if length > 0.0 { x / length } else { 0.0 }).collect();
        // An axis has no sign; the largest entry is made positive, so that the map is always the same way round.
        let largest = axis.iter().copied().fold(0.0_f64, |top, x| if x.abs() > top.abs() { x } else { top });
        if largest < 0.0 {
            axis.iter_mut().for_each(|x| *x = -*x);
        }
        axis
    };
    Some(Common { typical, between, shrunk, directions: [direction(1), direction(2)] })
}

/// A person in the light of the others: $K = \Sigma(\Sigma + S)^{-1}$.
fn shrink(person: &Normal, mean: &[f64], between: &Matrix, ridge: f64) -> Option<Normal> {
    let inverse = inverse(&plus(between, &person.covariance), ridge)?;
    let gain = product(between, &inverse);
    let step = times(&gain, &minus(&person.mean, mean));
    let moved = mean.iter().zip(step).map(|(m, s)| m + s).collect();
    let less = product(&gain, between);
    let left = between.iter().zip(&less).map(|(a, b)| minus(a, b)).collect();
    Some(Normal { mean: moved, covariance: symmetric(left) })
}

/// $\langle u, Cv\rangle$.
pub fn across(covariance: &Matrix, u: &[f64], v: &[f64]) -> f64 {
    dot(u, &times(covariance, v))
}

/// The inner product.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn zeros(d: usize) -> Matrix {
    vec![vec![0.0; d]; d]
}

fn average<'a>(vectors: impl Iterator<Item = &'a Vec<f64>> + Clone, d: usize) -> Vec<f64> {
    let n = vectors.clone().count() as f64;
    let mut mean = vec![0.0; d];
    vectors.for_each(|vector| mean.iter_mut().zip(vector).for_each(|(m, x)| *m += x / n));
    mean
}

pub(super) fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn plus(a: &Matrix, b: &Matrix) -> Matrix {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

fn times(a: &Matrix, x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| dot(row, x)).collect()
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let column = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, other)| x * other[j]).sum();
    a.iter().map(|row| (0..b.len()).map(|j| column(row, j)).collect()).collect()
}

fn add_square(to: &mut Matrix, x: &[f64], factor: f64) {
    for (row, a) in to.iter_mut().zip(x) {
        row.iter_mut().zip(x).for_each(|(cell, b)| *cell += factor * a * b);
    }
}

/// Rounding leaves the two triangles a digit apart, and a variance of nothing a little below it.
fn symmetric(mut matrix: Matrix) -> Matrix {
    for i in 0..matrix.len() {
        for j in 0..i {
            let both = 0.5 * (matrix[i][j] + matrix[j][i]);
            (matrix[i][j], matrix[j][i]) = (both, both);
        }
        matrix[i][i] = matrix[i][i].max(0.0) + 1e-12;
    }
    matrix
}

/// The inverse of a symmetric positive matrix with `ridge` added to its diagonal, by elimination.
fn inverse(matrix: &Matrix, ridge: f64) -> Option<Matrix> {
    let d = matrix.len();
    let mut rows: Matrix = matrix
        .iter()
        .enumerate()
        .map(|(i, row)| {
            let mut row = row.clone();
            row[i] += ridge;
            row.extend((0..d).map(|j| f64::from(u8::from(i == j))));
            row
        })
        .collect();
    for column in 0..d {
        let pivot = (column..d).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let head = rows[column][column];
        if !(head.abs() > 1e-300 && head.is_finite()) {
            return None;
        }
        rows[column].iter_mut().for_each(|x| *x /= head);
        let pivot_row = rows[column].clone();
        for (n, row) in rows.iter_mut().enumerate() {
            if n != column {
                let factor = row[column];
                row.iter_mut().zip(&pivot_row).for_each(|(x, p)| *x -= factor * p);
            }
        }
    }
    Some(rows.into_iter().map(|row| row[d..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(x: f64, y: f64, variance: f64) -> Normal {
        Normal { mean: vec![x, y], covariance: vec![vec![variance, 0.0], vec![0.0, variance]] }
    }

    #[test]
    fn people_who_differ_along_one_axis_are_mapped_along_it() {
        let people: Vec<Normal> = [-0.3, -0.1, 0.1, 0.3].iter().map(|x| person(0.8 + x, 0.6, 1e-4)).collect();
        let found = common(&people).unwrap();
        assert!((found.typical.mean[0] - 0.8).abs() < 1e-6 && (found.typical.mean[1] - 0.6).abs() < 1e-6);
        assert!(found.directions[0][0] > 0.99);
        assert!((found.between[0][0] - 0.05).abs() < 1e-3, "{:?}", found.between);
    }

    #[test]
    fn whoever_said_little_is_moved_to_the_others() {
        let mut people: Vec<Normal> = [0.79, 0.8, 0.81, 0.8].iter().map(|x| person(*x, 0.6, 1e-4)).collect();
        people.push(person(0.2, 0.9, 0.5));
        let found = common(&people).unwrap();
        assert!((found.shrunk[4].mean[0] - 0.8).abs() < 0.1, "{:?}", found.shrunk[4]);
        let inverse = inverse(&vec![vec![2.0, 1.0], vec![1.0, 3.0]], 0.0).unwrap();
        assert!((inverse[0][0] - 0.6).abs() < 1e-12 && (inverse[0][1] + 0.2).abs() < 1e-12);
    }
}
