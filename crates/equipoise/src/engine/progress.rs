//! How many questions are left: a range, from imagined answers.
//!
//! People are drawn from the belief, each answers until the plan's rules end it, and the shortest range that holds nearly all
//! of how long they take is the range.

use super::belief::Belief;
use super::plan::Adaptive;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// The share of imagined people that the range holds. More than is promised: who is imagined is asked in haste, by somewhat worse
/// questions than the plan's, and takes a little longer than people do.
const HELD: f64 = 0.96;

/// Of fewer people the range holds all.
const FEW: usize = 30;

/// By how much the upper end may rise after an answer.
const MOST_RISE: usize = 2;

/// People who go on from a belief, one after the other.
pub trait Imagined {
    /// How many there are.
    fn people(&self) -> usize;

    /// The n-th begins.
    fn begin(&mut self, n: usize, random: &mut Xoshiro256PlusPlus);

    /// Asks them one question after `asked` others; `false` if the plan asks no more.
    fn step(&mut self, asked: usize, plan: &Adaptive, random: &mut Xoshiro256PlusPlus) -> bool;
}

/// A range of how many questions are left: it holds the true number eight to nine times in ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Left {
    /// At least so many.
    pub low: usize,
    /// At most so many.
    pub high: usize,
}

impl Left {
    /// The shortest range that holds nearly all imagined lengths, which are in order; nothing is left where there are none.
    ///
    /// Equal tails would not do: many people are asked as many questions as allowed, and no tail lies beyond those. The
    /// shortest of few ranges would be too short by chance, so few people are held all.
    pub fn holding(lengths: &[usize]) -> Self {
        let most = lengths.len();
        let held = if most < FEW { most } else { (HELD * most as f64).ceil() as usize };
        let ranges =
            lengths.windows(held.max(1)).map(|held| Left { low: held[0], high: held[held.len() - 1] });
        ranges.min_by_key(|range| range.high - range.low).unwrap_or(Left { low: 0, high: 0 })
    }

    /// As it is shown after an answer, if `before` was shown before it: the upper end rises by 2 at most, because a count
    /// that jumps up is worse than one that is late. Not for "can't tell" or undo, after which more may well be left.
    pub fn after(self, before: Left) -> Self {
        let high = self.high.min(before.high + MOST_RISE);
        Self { low: self.low.min(high), high }
    }
}

/// The regret shrinks by about this much with every question, in its logarithm.
const PACE: f64 = 0.13;

/// Around a classifier a question is about two of the weights: by about this much in as many questions as there are weights.
const PACE_OF_WEIGHTS: f64 = 0.95;

/// That of a threshold, which hangs on one number, faster.
const PACE_OF_A_RATIO: f64 = 0.3;

impl Adaptive {
    /// About how many questions there are in all, if a belief goes on as they usually do; `None` where nobody can tell.
    pub fn about(&self, belief: &dyn Belief) -> Option<usize> {
        let asked = belief.answered().len();
        let goal = self.regret_at_most();
        let left = match (goal, belief.regret()) {
            (Some(goal), Some(regret)) => {
                let pace = match self.operating_point() {
                    Some(space) => PACE_OF_WEIGHTS / space.dimension() as f64,
                    None if self.is_ratio() => PACE_OF_A_RATIO,
                    None => PACE,
                };
                (regret.expected.max(goal) / goal).ln() / pace
            }
            _ => {
                let lengths = self.lengths_left(belief, 0);
                *lengths.get(lengths.len() / 2)? as f64
            }
        };
        Some((asked + (left.ceil() as usize).max(1)).min(self.questions_at_most()))
    }

    /// How many questions are left after what a belief has taken in; the same for the same seed.
    pub fn questions_left(&self, belief: &dyn Belief, seed: u64) -> Left {
        Left::holding(&self.lengths_left(belief, seed))
    }

    /// How many more questions each of some imagined people takes, in order; none if the questions are over, or if nobody can
    /// be imagined. The same for the same seed.
    pub fn lengths_left(&self, belief: &dyn Belief, seed: u64) -> Vec<usize> {
        if self.next(belief).is_err() {
            return vec![];
        }
        let Some(mut imagined) = belief.imagined() else { return vec![] };
        let most = self.questions_at_most().saturating_sub(belief.answered().len()).max(1);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let people = imagined.people();
        let length = |n: usize| {
            imagined.begin(n, &mut random);
            (0..most).take_while(|asked| imagined.step(*asked, self, &mut random)).count()
        };
        let mut lengths: Vec<usize> = (0..people).map(length).collect();
        lengths.sort_unstable();
        lengths
    }
}
