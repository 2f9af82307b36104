//! How many questions are left when there are more than two weights: sessions played to their end with imagined people.
//!
//! A person is a model of answers drawn by how likely it is, and weights drawn from its posterior. Their session goes on
//! from where the real one is, by the plan's own questions and rules.

use super::plan::Adaptive;
use super::progress::Left;
use super::session::Session;
use crate::ask::{Answer, Preference};
use crate::linalg::{dot, norm};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How many people are imagined. The next one falls among them with a chance of 23/25.
const PEOPLE: usize = 24;

impl Adaptive {
    /// How many questions are left after what a session has taken in; the same for the same seed.
    pub fn questions_left(&self, session: &Session, seed: u64) -> Left {
        Left::holding(&self.lengths_left(session, seed))
    }

    /// How many more questions each of some imagined people takes, in order; none if the questions are over. The same for
    /// the same seed.
    pub fn lengths_left(&self, session: &Session, seed: u64) -> Vec<usize> {
        if self.next(session).is_err() {
            return vec![];
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let start = session.thinned();
        let lengths = (0..PEOPLE).map(|_| {
            let (weights, noise) = session.person(self.believed_answers(), &mut random);
            let mut imagined = start.clone();
            while let Ok(query) = self.next(&imagined) {
                let w = imagined.difference(&query);
                // w is half the difference.
                let ahead = 2.0 * dot(&w, &weights) / norm(&weights).max(1e-300);
                let is_first = random.random::<f64>() < noise.chance_of_first(ahead);
                let answer: Answer = if is_first { Preference::First } else { Preference::Second }.into();
                imagined.take(&query, &answer);
            }
            imagined.asked() - session.asked()
        });
        let mut lengths: Vec<usize> = lengths.collect();
        lengths.sort_unstable();
        lengths
    }
}
