//! What a data set or a known law can answer: the confusion matrix of any post-shift rule.
//!
//! Geometry, optimisation and ranking ask data exactly one question, [`Population::confusions`]. The laws
//! here answer it in closed form; tables answer it in one pass.

mod logistic;
mod randomised;
mod softmax;

pub use logistic::Logistic;
pub use randomised::Randomised;
pub use softmax::Softmax;

use crate::error::{Result, check};
use crate::rates::{GroupConfusions, Prevalence};

/// The rule $\arg\max_j \sum_i W_{ij}\,\eta_i(x)$, with a reward matrix $W$ for each group.
///
/// Every boundary point of the achievable set belongs to such a rule; ties go to the smaller class.
#[derive(Debug, Clone, PartialEq)]
pub struct PostShift {
    classes: usize,
    rewards: Vec<Vec<f64>>,
}

impl PostShift {
    /// One row-major reward matrix for everybody.
    pub fn new(classes: usize, rewards: Vec<f64>) -> Result<Self> {
        Self::per_group(classes, vec![rewards])
    }

    /// One row-major reward matrix per group.
    pub fn per_group(classes: usize, rewards: Vec<Vec<f64>>) -> Result<Self> {
        check::at_least("classes", classes, 2, "at least 2")?;
        check::at_least("groups", rewards.len(), 1, "at least 1")?;
        for matrix in &rewards {
            check::length("rewards", matrix.len(), classes * classes)?;
            check::all_finite("rewards", matrix)?;
        }
        Ok(Self { classes, rewards })
    }

    /// Rewards for correct predictions only: $\arg\max_i a_i \eta_i(x)$.
    pub fn diagonal(weights: &[f64]) -> Result<Self> {
        let k = weights.len();
        let entry = |n: usize| if n / k == n % k { weights[n / k] } else { 0.0 };
        Self::new(k, (0..k * k).map(entry).collect())
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The reward matrix used for a group; a single matrix serves every group.
    pub fn rewards(&self, group: usize) -> &[f64] {
        &self.rewards[if self.rewards.len() == 1 { 0 } else { group }]
    }

    /// Whether groups have a reward matrix of their own.
    pub fn is_per_group(&self) -> bool {
        self.rewards.len() > 1
    }

    /// Whether there is a reward matrix for each of so many groups.
    pub fn serves(&self, groups: usize) -> bool {
        !self.is_per_group() || self.rewards.len() == groups
    }

    /// What the rule predicts where the class probabilities are `posterior` (up to a common factor).
    pub fn predict(&self, posterior: &[f64], group: usize) -> usize {
        let rewards = self.rewards(group);
        let score = |j: usize| -> f64 {
            posterior.iter().enumerate().map(|(i, p)| rewards[i * self.classes + j] * p).sum()
        };
        let mut best = (0, score(0));
        for j in 1..self.classes {
            let s = score(j);
            if s > best.1 {
                best = (j, s);
            }
        }
        best.0
    }
}

/// A population whose confusion matrices can be asked for.
pub trait Population {
    /// Class priors and group shares.
    fn prevalence(&self) -> &Prevalence;

    /// The confusion matrices of a whole batch of rules.
    fn confusions(&self, rules: &[PostShift]) -> Vec<GroupConfusions>;

    /// Number of classes.
    fn classes(&self) -> usize {
        self.prevalence().class_priors().len()
    }

    /// Number of groups.
    fn groups(&self) -> usize {
        self.prevalence().group_shares().groups()
    }
}
