//! Which classifier of a question stands on the left: by chance, and the same whenever the question is shown again.

use equipoise::{Preference, Query, stream};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The sides of an interview's questions.
///
/// A plan often asks with the same kind of classifier first, and whoever leans to one side would be read as if they had a
/// reason. The number is kept with the answers, so that going on and taking back show every question as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sides(Option<u64>);

impl Sides {
    /// By chance, the same for the same seed.
    pub fn seeded(seed: u64) -> Self {
        Self(Some(seed))
    }

    /// As the plan asks: interviews from before sides were kept.
    pub fn as_asked() -> Self {
        Self(None)
    }

    /// The number to keep.
    pub fn seed(self) -> Option<u64> {
        self.0
    }

    /// How a question is turned; questions are counted from 1.
    pub fn of(self, question: usize) -> Turn {
        let by_chance =
            |seed: u64| Xoshiro256PlusPlus::seed_from_u64(stream(seed, question as u64)).random_bool(0.5);
        Turn(self.0.is_some_and(by_chance))
    }
}

/// Whether a question is shown with its sides changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn(bool);

impl Turn {
    /// With its sides changed, or not.
    pub fn new(changed: bool) -> Self {
        Self(changed)
    }

    /// A pair of the plan as it is shown, or a pair that was shown as the plan has it.
    pub fn pair(self, query: &Query) -> Query {
        match self.0 {
            true => Query::new(query.second.clone(), query.first.clone()),
            false => query.clone(),
        }
    }

    /// A choice between the sides as one between the plan's two, or the other way round.
    pub fn preference(self, preference: Preference) -> Preference {
        if self.0 { preference.reversed() } else { preference }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_even_and_stay_as_they_are() {
        let turned = |seed: u64, question: usize| Sides::seeded(seed).of(question) == Turn(true);
        let count = (1..=1000).filter(|question| turned(3, *question)).count();
        assert!((440..=560).contains(&count), "{count}");
        assert!((1..=50).any(|question| turned(3, question) != turned(4, question)));
        assert!((1..=50).all(|question| Sides::as_asked().of(question) == Turn(false)));
    }

    #[test]
    fn what_is_turned_twice_is_as_it_was() {
        let (turn, query) = (Turn(true), Query::new(vec![0.1], vec![0.2]));
        assert_eq!(turn.pair(&query), Query::new(vec![0.2], vec![0.1]));
        assert_eq!(turn.pair(&turn.pair(&query)), query);
        assert_eq!(turn.preference(Preference::First), Preference::Second);
        assert_eq!(turn.preference(Preference::CannotTell), Preference::CannotTell);
    }
}
