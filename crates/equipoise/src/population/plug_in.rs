//! The plug-in rule: argmax of weighted class probabilities, with weights that are sums of bases.

use super::basis::Values;
use super::rows::Scores;
use super::rule::{PostShift, largest};
use crate::error::{Result, check};
use serde::{Deserialize, Serialize};

/// Which entries of a confusion matrix example weights reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Correct predictions: $\arg\max_i W_i(x)\eta_i(x)$, eq. (7.18). Enough for two classes.
    Diagonal,
    /// Every entry: $\arg\max_j \sum_i W_{ij}(x)\eta_i(x)$, eq. (E.1).
    General,
}

impl Form {
    pub(crate) fn new(general: bool) -> Self {
        if general { Form::General } else { Form::Diagonal }
    }

    /// How many weights a basis has.
    pub fn weights(self, classes: usize) -> usize {
        match self {
            Form::Diagonal => classes,
            Form::General => classes * classes,
        }
    }

    /// The entries of a confusion matrix, row-major, that have a weight.
    pub(crate) fn weighed(self, matrix: &[f64]) -> Vec<f64> {
        match self {
            Form::General => matrix.to_vec(),
            Form::Diagonal => matrix.iter().step_by(matrix.len().isqrt() + 1).copied().collect(),
        }
    }
}

/// A classifier that weighs class probabilities; ties go to the smaller class.
///
/// Negative weights stay negative: that is where the maximum is. Where all weights of a row are zero the most likely class
/// is predicted, so the rule of zero weights is the model itself.
#[derive(Debug, Clone, PartialEq)]
pub struct PlugIn {
    classes: usize,
    form: Form,
    weights: Vec<f64>,
}

impl PlugIn {
    /// Weights basis by basis: one per class, or one row per true class.
    pub fn new(classes: usize, form: Form, weights: Vec<f64>) -> Result<Self> {
        check::at_least("classes", classes, 2, "at least 2")?;
        let width = form.weights(classes);
        let bases = weights.len().div_ceil(width).max(1);
        check::length("weights of a rule", weights.len(), bases * width)?;
        check::all_finite("weights", &weights)?;
        Ok(Self { classes, form, weights })
    }

    /// The model itself.
    pub fn most_likely(classes: usize, bases: usize) -> Self {
        Self { classes, form: Form::Diagonal, weights: vec![0.0; bases * classes] }
    }

    /// The same class wherever a basis is not zero.
    pub fn constant(classes: usize, bases: usize, class: usize) -> Self {
        let entry = |n: usize| if n % classes == class { 1.0 } else { 0.0 };
        let weights = (0..bases * classes * classes).map(entry).collect();
        Self { classes, form: Form::General, weights }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Number of bases.
    pub fn bases(&self) -> usize {
        self.weights.len() / self.form.weights(self.classes)
    }

    /// Which entries are weighted.
    pub fn form(&self) -> Form {
        self.form
    }

    /// All weights, basis by basis.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The weights of one basis.
    pub fn of_basis(&self, basis: usize) -> &[f64] {
        let width = self.form.weights(self.classes);
        &self.weights[basis * width..][..width]
    }

    /// The post-shift rule that decides alike where the only basis is all rows.
    pub fn post_shift(&self) -> Result<PostShift> {
        match self.form {
            _ if self.weights.iter().all(|&w| w == 0.0) => PostShift::diagonal(&vec![1.0; self.classes]),
            Form::Diagonal => PostShift::diagonal(&self.weights),
            Form::General => PostShift::new(self.classes, self.weights.clone()),
        }
    }

    /// What each basis adds to the rewards of two classes for being right: class 1 is predicted where
    /// $a_1 \eta_1 > a_0 \eta_0$. Everything about two classes goes through these, so that every path decides alike.
    pub(crate) fn pairs(&self) -> Vec<[f64; 2]> {
        let pair = |basis: usize| match (self.form, self.of_basis(basis)) {
            (Form::Diagonal, w) => [w[0], w[1]],
            (Form::General, w) => [w[0] - w[1], w[3] - w[2]],
        };
        (0..self.bases()).map(pair).collect()
    }

    /// The prediction where the bases have the values `phi` and the class probabilities are `posterior`.
    pub fn at(&self, phi: &[f64], posterior: &[f64]) -> usize {
        if self.classes == 2 {
            return usize::from(is_positive(
                self.pairs().iter().zip(phi).fold([0.0; 2], added),
                posterior[1],
            ));
        }
        self.decide(phi, posterior, &mut vec![0.0; self.form.weights(self.classes)])
    }

    fn decide(&self, phi: &[f64], posterior: &[f64], weights: &mut [f64]) -> usize {
        weights.fill(0.0);
        for (basis, phi) in phi.iter().enumerate().filter(|(_, phi)| **phi != 0.0) {
            weights.iter_mut().zip(self.of_basis(basis)).for_each(|(sum, w)| *sum += phi * w);
        }
        if weights.iter().all(|&w| w == 0.0) {
            largest(posterior.iter().copied())
        } else {
            best(self.form, weights, posterior)
        }
    }

    /// The prediction for every row.
    pub(crate) fn predict(&self, scores: &Scores, values: &[Values]) -> Vec<u8> {
        let mut labels = Vec::with_capacity(scores.rows());
        self.for_each(scores, values, |_, label| labels.push(label as u8));
        labels
    }

    /// Calls with every row and its prediction, in order.
    pub(crate) fn for_each(&self, scores: &Scores, values: &[Values], mut take: impl FnMut(usize, usize)) {
        if self.classes == 2 {
            let pairs = self.pairs();
            for (row, &positive) in scores.positive().iter().enumerate() {
                let pair = pairs
                    .iter()
                    .zip(values)
                    .fold([0.0; 2], |sum, (pair, values)| added(sum, (pair, &values.at(row))));
                take(row, usize::from(is_positive(pair, positive)));
            }
            return;
        }
        let mut weights = vec![0.0; self.form.weights(self.classes)];
        let (mut phi, mut posterior) = (vec![0.0; values.len()], vec![0.0; self.classes]);
        for row in 0..scores.rows() {
            phi.iter_mut().zip(values).for_each(|(phi, values)| *phi = values.at(row));
            (0..self.classes).for_each(|class| posterior[class] = scores.probability(class, row));
            take(row, self.decide(&phi, &posterior, &mut weights));
        }
    }
}

/// The rewards of two classes with those of one more basis.
#[inline]
fn added([to_0, to_1]: [f64; 2], (pair, phi): (&[f64; 2], &f64)) -> [f64; 2] {
    [to_0 + phi * pair[0], to_1 + phi * pair[1]]
}

fn best(form: Form, weights: &[f64], probabilities: &[f64]) -> usize {
    let k = probabilities.len();
    let score = |j: usize| match form {
        Form::Diagonal => weights[j] * probabilities[j],
        Form::General => probabilities.iter().enumerate().map(|(i, p)| weights[i * k + j] * p).sum(),
    };
    largest((0..k).map(score))
}

/// Whether class 1 of two is predicted at a probability. For fixed weights this is monotone in the probability, in
/// floating point too: products and $1-p$ are.
#[inline]
pub(crate) fn is_positive([to_0, to_1]: [f64; 2], positive: f64) -> bool {
    match (to_0, to_1) {
        (0.0, 0.0) => positive > 1.0 - positive,
        _ => to_1 * positive > to_0 * (1.0 - positive),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_on_all_rows_is_a_post_shift() -> Result<()> {
        let columns = [[0.5, 0.2, 0.1, 0.34], [0.3, 0.3, 0.2, 0.33], [0.2, 0.5, 0.7, 0.33]];
        let scores = Scores::new(columns.iter().map(|column| &column[..]).collect())?;
        let rewards = vec![1.0, 0.2, -0.5, 0.0, 2.0, 0.3, 0.1, 0.9, 1.2];
        let rule = PlugIn::new(3, Form::General, rewards.clone())?;
        let post_shift = PostShift::new(3, rewards)?;
        let expected = |row: usize| post_shift.predict(&columns.map(|column| column[row]), 0) as u8;
        let found = rule.predict(&scores, &[Values::One]);
        assert_eq!(found, (0..4).map(expected).collect::<Vec<_>>());
        let diagonal = PlugIn::new(3, Form::Diagonal, vec![1.0, 2.0, 0.5])?;
        assert_eq!(diagonal.predict(&scores, &[Values::One]), [1; 4]);
        assert_eq!(PlugIn::most_likely(3, 1).predict(&scores, &[Values::One]), [0, 2, 2, 0]);
        assert_eq!(PlugIn::constant(3, 1, 2).predict(&scores, &[Values::One]), [2; 4]);
        for rule in [rule, diagonal, PlugIn::most_likely(3, 1), PlugIn::constant(3, 1, 2)] {
            let shifted = rule.post_shift()?;
            let expected = |row: usize| shifted.predict(&columns.map(|column| column[row]), 0) as u8;
            let found = rule.predict(&scores, &[Values::One]);
            assert_eq!(found, (0..4).map(expected).collect::<Vec<_>>());
        }
        Ok(())
    }

    #[test]
    fn two_classes_need_two_numbers() -> Result<()> {
        let positive = [0.0, 0.3, 0.5, 0.8, 1.0];
        let scores = Scores::new(vec![&positive])?;
        let general = PlugIn::new(2, Form::General, vec![3.0, 1.0, -1.0, 4.0])?;
        let diagonal = PlugIn::new(2, Form::Diagonal, vec![2.0, 5.0])?;
        assert_eq!(general.pairs(), diagonal.pairs());
        assert_eq!(general.predict(&scores, &[Values::One]), [0, 1, 1, 1, 1]);
        let both_negative = PlugIn::new(2, Form::Diagonal, vec![-2.0, -5.0])?;
        assert_eq!(both_negative.predict(&scores, &[Values::One]), [1, 0, 0, 0, 0]);
        Ok(())
    }
}
