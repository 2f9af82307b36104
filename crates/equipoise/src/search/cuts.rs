//! Which groups to set apart, so that the violations of all pairs can be told from their sums over cuts.
//!
//! Setting a subset of the groups apart reveals the sum of the violations of all pairs it separates. A family of
//! subsets whose sums determine every pair is needed.

use crate::linalg::Singular;
use crate::metric::pairs;

/// Subsets of the groups, one cut each.
#[derive(Debug, Clone, PartialEq)]
pub struct Cuts {
    groups: usize,
    apart: Vec<Vec<usize>>,
}

impl Cuts {
    /// All pairs of groups, as the papers suggest.
    ///
    /// # Departures
    /// For four groups all pairs are singular (their matrix has eigenvalues 2(m-2), m-4 and -2): we take the four
    /// single groups and two pairs. For two groups the second is set apart.
    pub fn new(groups: usize) -> Self {
        let apart = match groups {
            2 => vec![vec![1]],
            4 => vec![vec![0], vec![1], vec![2], vec![3], vec![0, 1], vec![0, 2]],
            m => pairs(m).map(|pair| pair.to_vec()).collect(),
        };
        Self { groups, apart }
    }

    /// The subsets.
    pub fn apart(&self) -> &[Vec<usize>] {
        &self.apart
    }

    /// Whether each pair of groups is separated by each cut, as numbers.
    fn matrix(&self) -> Vec<Vec<f64>> {
        let separated = |cut: &Vec<usize>, [u, v]: [usize; 2]| cut.contains(&u) != cut.contains(&v);
        let row = |cut| pairs(self.groups).map(|pair| f64::from(u8::from(separated(cut, pair)))).collect();
        self.apart.iter().map(row).collect()
    }

    /// The value of every pair, from the sums over every cut (eq. C.19, D.14), coordinate by coordinate.
    pub fn solve(&self, sums: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let count = pairs(self.groups).count();
        let system = Singular::of(&self.matrix(), count);
        let coordinates = sums[0].len();
        let mut values = vec![vec![0.0; coordinates]; count];
        for i in 0..coordinates {
            let right: Vec<f64> = sums.iter().map(|sum| sum[i]).collect();
            for (pair, value) in system.solve(&right, 1e-12).into_iter().enumerate() {
                values[pair][i] = value;
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_determine_every_pair_for_any_number_of_groups() {
        for m in 2..=9 {
            let cuts = Cuts::new(m);
            let count = m * (m - 1) / 2;
            assert_eq!(Singular::of(&cuts.matrix(), count).rank(1e-9), count, "{m} groups");
            let truth: Vec<f64> = (0..count).map(|n| (n as f64 * 1.7).sin()).collect();
            let sums: Vec<Vec<f64>> =
                cuts.matrix().iter().map(|row| vec![crate::linalg::dot(row, &truth)]).collect();
            for (found, expected) in cuts.solve(&sums).iter().zip(&truth) {
                assert!((found[0] - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn all_pairs_of_four_groups_would_be_singular() {
        let cuts = Cuts { groups: 4, apart: pairs(4).map(|p| p.to_vec()).collect() };
        assert!(Singular::of(&cuts.matrix(), 6).rank(1e-9) < 6);
        let values = Singular::of(&Cuts::new(4).matrix(), 6).values;
        assert!((values[0] / values[5] - 5.83).abs() < 0.01);
    }
}
