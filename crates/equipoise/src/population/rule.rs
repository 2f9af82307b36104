//! Rules that predict a class, and how a class is picked.

use super::classifier::Classifier;
use crate::error::{Result, check};

/// The place of the largest score; of several, the first.
///
/// Every prediction goes through here: ties go to the smaller class. A threshold is the one exception, since whoever
/// says "from 0.3 on" means 0.3 too ([`accepts`]).
#[inline]
pub fn largest(scores: impl IntoIterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (place, score) in scores.into_iter().enumerate() {
        if score > best.1 {
            best = (place, score);
        }
    }
    best.0
}

/// Whether a score is accepted from a threshold on: the threshold itself is.
#[inline]
pub fn accepts(score: f64, threshold: f64) -> bool {
    score >= threshold
}

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
        largest((0..self.classes).map(score))
    }
}

/// What rows may be decided by.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// The class with the largest reward.
    PostShift(PostShift),
    /// Of two classes the second from a probability on: one threshold for everybody, or one per group.
    Threshold(Vec<f64>),
    /// What a model says of every row, which the data have under its name.
    Labels(String),
    /// What a classifier says.
    Classifier(Box<Classifier>),
}

impl From<PostShift> for Rule {
    fn from(rule: PostShift) -> Self {
        Rule::PostShift(rule)
    }
}

impl Rule {
    /// The most likely class.
    pub fn most_likely(classes: usize) -> Result<Self> {
        PostShift::diagonal(&vec![1.0; classes]).map(Rule::PostShift)
    }

    /// The post-shift rule, if it is one.
    pub fn as_post_shift(&self) -> Option<&PostShift> {
        match self {
            Rule::PostShift(rule) => Some(rule),
            _ => None,
        }
    }

    /// Says what keeps the rule from being used on so many classes and groups, if anything does.
    pub fn check(&self, classes: usize, groups: usize) -> Result<()> {
        let parts = match self {
            Rule::PostShift(rule) => {
                check::length("classes of a rule", rule.classes(), classes)?;
                if rule.is_per_group() { rule.rewards.len() } else { groups }
            }
            Rule::Threshold(at) => {
                check::number("classes of a threshold", classes as f64, classes == 2, "2")?;
                if at.len() == 1 { groups } else { at.len() }
            }
            Rule::Labels(_) => groups,
            Rule::Classifier(classifier) => {
                check::length("classes of a classifier", classifier.classes(), classes)?;
                groups
            }
        };
        check::length("groups of a rule", parts, groups)
    }
}
