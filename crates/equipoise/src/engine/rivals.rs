//! Would something else than weights explain how somebody chose among candidates?
//!
//! Two rivals of the family are held against the same answers. A floor: below some number of an attribute nothing makes up for
//! it. Diminishing returns: the first steps from the worse end of an attribute are worth more than the last ones to the better
//! end. Each is the same crowd of people with another measure of one attribute, and hears the same answers; how likely it finds
//! them, one after the other, is its evidence.

use super::belief::Belief;
use super::belief::choice::Choice;
use super::belief::log_weights::{LogWeights, Person};
use super::belief::setting::Setting;
use crate::ask::{Answer, Answered, Finding, NoiseModel, Query};
use crate::metric::{Direction, Metric};
use crate::space::Candidates;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;

/// Floors that are thought possible, as shares of an attribute's range.
const FLOORS: [f64; 4] = [0.2, 0.35, 0.5, 0.65];
/// What lies below a floor is as bad as so many ranges of the attribute.
const BELOW: f64 = 300.0;
/// Where returns diminish, an attribute is worth this power of its share of the range.
const POWER: f64 = 0.4;
/// A rival is named if one of as many as there are explains the answers so much better.
const CLEARLY: f64 = 3.0;
/// Fewer answers tell nothing of it.
const FEWEST: usize = 8;

/// Something else than a weight.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rival {
    /// Nothing makes up for being below.
    Floor(f64),
    /// The first steps are worth most.
    Diminishing,
}

/// Candidates of which one attribute is measured otherwise.
#[derive(Debug)]
struct Otherwise {
    choice: Choice,
    attribute: usize,
    rival: Rival,
}

impl Setting for Otherwise {
    fn dimension(&self) -> usize {
        self.choice.dimension()
    }

    fn unit(&self) -> f64 {
        self.choice.unit()
    }

    fn kinds_of(&self, point: &[f64]) -> Vec<f64> {
        let mut kinds = self.choice.kinds_of(point);
        let kind = &mut kinds[self.attribute];
        let worth = 1.0 - *kind;
        *kind = match self.rival {
            Rival::Floor(floor) if worth < floor => *kind + BELOW,
            Rival::Floor(_) => *kind,
            Rival::Diminishing => 1.0 - worth.max(0.0).powf(POWER),
        };
        kinds
    }

    fn rules(&self) -> &[Vec<f64>] {
        self.choice.rules()
    }

    // Nothing is decided by it.
    fn in_play(&self, _people: &[Person]) -> Vec<usize> {
        vec![0]
    }

    fn stake(&self, least: f64, most: f64) -> [f64; 2] {
        self.choice.stake(least, most)
    }

    fn questions(&self, _people: &[Person], _heard: usize, _random: &mut Xoshiro256PlusPlus) -> Vec<Query> {
        vec![]
    }

    fn foreseen(&self, _people: &[Person], _random: &mut Xoshiro256PlusPlus) -> Option<Query> {
        None
    }

    fn metric(&self, weights: &[f64]) -> Metric {
        self.choice.metric(weights)
    }
}

fn answer(answered: &Answered) -> Answer {
    Answer { preference: answered.preference, shown: answered.shown.clone() }
}

/// The rival that explains the answers clearly better than weights do, if one does.
pub(super) fn rival(
    candidates: &Candidates,
    noise: NoiseModel,
    answers: &[Answered],
    seed: u64,
) -> Option<Finding> {
    if answers.len() < FEWEST {
        return None;
    }
    let attributes = candidates.attributes();
    let evidence = |setting: Arc<dyn Setting>| {
        let mut crowd = LogWeights::new(setting, noise, seed);
        answers.iter().for_each(|answered| crowd.take(&answered.query, &answer(answered)));
        crowd.evidence()
    };
    let weights = evidence(Arc::new(Choice::new(candidates.clone())));
    let factor = |attribute: usize, rival: Rival| {
        let choice = Choice::new(candidates.clone());
        (evidence(Arc::new(Otherwise { choice, attribute, rival })) - weights).exp()
    };
    let mut found: Vec<(f64, Finding)> = vec![];
    for (n, attribute) in attributes.iter().enumerate() {
        let floors = FLOORS.map(|floor| (factor(n, Rival::Floor(floor)), floor));
        let best = floors.iter().fold((0.0, 0.0), |best, floor| if floor.0 > best.0 { *floor } else { best });
        let likely = floors.iter().map(|(factor, _)| factor).sum::<f64>() / FLOORS.len() as f64;
        let name = attribute.name.clone();
        let at = candidates.imagined(&vec![best.1; attributes.len()])[n];
        let above = attribute.direction == Direction::Minimize;
        found.push((likely, Finding::Limit { attribute: name.clone(), at, above, factor: likely }));
        let factor = factor(n, Rival::Diminishing);
        found.push((factor, Finding::Diminishing { attribute: name, factor }));
    }
    let needed = CLEARLY * found.len() as f64;
    found
        .into_iter()
        .filter(|(factor, _)| *factor > needed)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, f)| f)
}
