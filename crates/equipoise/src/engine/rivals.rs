//! Would something else than weights explain how somebody chose among candidates?
//!
//! Two rivals of the family are held against the same answers. A floor: below some number of an attribute nothing makes up for
//! it. Diminishing returns: the first steps from the worse end of an attribute are worth more than the last ones to the better
//! end. Each is the same crowd of people with another measure of one attribute, and hears the same answers; how likely it finds
//! them, one after the other, is its evidence.

use super::belief::Belief;
use super::belief::choice::Choice;
use super::belief::log_weights::{LogWeights, Person, Said};
use super::belief::prior::Prior;
use super::belief::setting::Setting;
use crate::ask::{Answer, Answered, Finding, NoiseModel, Query};
use crate::metric::{Direction, Metric};
use crate::space::Candidates;
use rand::SeedableRng as _;
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
/// So many people are drawn to find out which rivals may be worth a crowd, and so many rivals are given one.
const DRAWN: usize = 2000;
const HEARD: usize = 2;

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

impl Otherwise {
    fn new(candidates: &Candidates, attribute: usize, rival: Rival) -> Self {
        Self { choice: Choice::new(candidates.clone()), attribute, rival }
    }
}

/// What somebody said, in another measure of the attributes.
fn said(setting: &dyn Setting, answers: &[Answered]) -> Vec<Said> {
    let of = |answered: &Answered| {
        let query = answered.shown.as_ref().unwrap_or(&answered.query);
        Said::about(setting, query, answered.preference)
    };
    answers.iter().map(of).collect()
}

/// The logarithm of how likely people who are drawn give all the answers, on average.
fn on_average(setting: &dyn Setting, drawn: &[Person], answers: &[Answered]) -> f64 {
    let said = said(setting, answers);
    let fits: Vec<f64> = drawn
        .iter()
        .map(|person| said.iter().map(|said| said.fit(person, setting.unit(), false)).sum())
        .collect();
    let top = fits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + (fits.iter().map(|fit: &f64| (fit - top).exp()).sum::<f64>() / fits.len() as f64).ln()
}

/// The rival that explains the answers clearly better than weights do, if one does.
pub(super) fn rival(
    candidates: &Candidates,
    noise: NoiseModel,
    answers: &[Answered],
    seed: u64,
) -> Option<Finding> {
    if answers.len() < FEWEST || noise != NoiseModel::Unknown {
        return None;
    }
    let attributes = candidates.attributes();
    let every = FLOORS.map(Rival::Floor).into_iter().chain([Rival::Diminishing]);
    let mut all: Vec<(f64, usize, Rival)> =
        (0..attributes.len()).flat_map(|n| every.clone().map(move |rival| (0.0, n, rival))).collect();
    // A crowd takes its time to hear all answers: those first that people who are drawn find likely.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let drawn: Vec<Person> =
        (0..DRAWN).map(|_| Person::draw(&Prior::people(), attributes.len(), &mut random)).collect();
    for (likely, attribute, rival) in &mut all {
        *likely = on_average(&Otherwise::new(candidates, *attribute, *rival), &drawn, answers);
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let evidence = |setting: Arc<dyn Setting>| {
        let mut crowd = LogWeights::new(setting, noise, seed);
        for Answered { query, preference, shown } in answers {
            crowd.take(query, &Answer { preference: *preference, shown: shown.clone() });
        }
        crowd.evidence()
    };
    let weights = evidence(Arc::new(Choice::new(candidates.clone())));
    let factor = |attribute: usize, rival: Rival| {
        let factor = (evidence(Arc::new(Otherwise::new(candidates, attribute, rival))) - weights).exp();
        // A floor is one of several.
        if matches!(rival, Rival::Floor(_)) { factor / FLOORS.len() as f64 } else { factor }
    };
    let heard =
        all.iter().take(HEARD).map(|(_, attribute, rival)| (factor(*attribute, *rival), *attribute, *rival));
    let (factor, attribute, rival) = heard.max_by(|a, b| a.0.total_cmp(&b.0))?;
    // Two for every attribute.
    let needed = CLEARLY * 2.0 * attributes.len() as f64;
    let name = attributes[attribute].name.clone();
    (factor > needed).then(|| match rival {
        Rival::Floor(floor) => Finding::Limit {
            attribute: name,
            at: candidates.number(attribute, floor),
            above: attributes[attribute].direction == Direction::Minimize,
            factor,
        },
        Rival::Diminishing => Finding::Diminishing { attribute: name, factor },
    })
}
