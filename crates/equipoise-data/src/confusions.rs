//! Confusion matrices of a model that were computed elsewhere.

use crate::error::name;
use equipoise::rates::GroupConfusions;
use serde::{Deserialize, Serialize};

/// Counts of one model: how often each class was taken for each class, within each group.
///
/// Counts may be fractions, as weighted rows give them. A model without groups has one, without a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelConfusions {
    pub(crate) name: String,
    pub(crate) classes: Vec<String>,
    pub(crate) groups: Vec<String>,
    /// `counts[(group * k + truth) * k + estimate]`.
    pub(crate) counts: Vec<f64>,
}

impl ModelConfusions {
    /// The name of the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The class names, in order.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The group names, in order; empty if the counts are of one population.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// How many rows of a group and a class were predicted to be of a class.
    pub fn count(&self, group: usize, truth: usize, estimate: usize) -> f64 {
        let k = self.classes.len();
        self.counts[(group * k + truth) * k + estimate]
    }

    /// The total over all groups and classes.
    pub fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// How many rows of a group are of a class.
    pub fn of_class(&self, group: usize, truth: usize) -> f64 {
        (0..self.classes.len()).map(|estimate| self.count(group, truth, estimate)).sum()
    }

    /// The counts of all groups together.
    pub fn overall(&self) -> Self {
        let mut counts = vec![0.0; self.classes.len().pow(2)];
        for group in self.counts.chunks(counts.len()) {
            counts.iter_mut().zip(group).for_each(|(sum, count)| *sum += count);
        }
        Self { name: self.name.clone(), classes: self.classes.clone(), groups: vec![], counts }
    }

    /// The counts as joint probabilities.
    pub fn confusions(&self) -> equipoise::Result<GroupConfusions> {
        let (k, total) = (self.classes.len(), self.total());
        if !(total > 0.0 && total.is_finite()) {
            let what = format!("the total count of model {} is {total}", name(&self.name));
            return Err(equipoise::Error::Mismatch(what + ", expected a number above 0"));
        }
        let share = |counts: &[f64]| counts.iter().map(|count| count / total).collect();
        GroupConfusions::new(k, self.counts.chunks(k * k).map(share).collect())
    }
}
