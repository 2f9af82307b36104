//! Recorded choices of people: what the engine expects of somebody after some of their answers.

use crate::ask::{Answer, NoiseModel, Preference, Query};
pub use crate::engine::Prior;
use crate::engine::{Belief as _, Choice, LogWeights};
use crate::space::Candidates;
use std::sync::Arc;

/// A choice: two points, and whether it was the first.
pub type Chosen = (Query, bool);

/// What is believed of somebody who chooses among candidates, nothing being known of how they err.
#[derive(Debug, Clone)]
pub struct Believed(LogWeights);

impl Believed {
    /// Before their first answer, of somebody who is one of these people.
    pub fn new(space: &Candidates, prior: &Prior, seed: u64) -> Self {
        let setting = Arc::new(Choice::new(space.clone()));
        Self(LogWeights::among(prior.clone(), setting, NoiseModel::Unknown, seed))
    }

    /// Takes an answer in.
    pub fn hear(&mut self, (query, first): &Chosen) {
        self.0.take(query, &Answer { preference: preference(*first), shown: None });
    }

    /// How likely they choose the first.
    pub fn chance_of_first(&self, query: &Query) -> f64 {
        self.0.chance_of_first(query)
    }
}

/// What people are like whose choices were recorded, and the logarithm of how likely that makes their choices.
pub fn learn(space: &Candidates, prior: Prior, others: &[Vec<Chosen>], seed: u64) -> (Prior, f64) {
    let nobody = Believed::new(space, &prior, seed).0;
    let said = |(query, first): &Chosen| nobody.said(query, preference(*first));
    let others: Vec<Vec<_>> = others.iter().map(|choices| choices.iter().map(said).collect()).collect();
    prior.learned(&others, &nobody, seed)
}

fn preference(first: bool) -> Preference {
    if first { Preference::First } else { Preference::Second }
}
