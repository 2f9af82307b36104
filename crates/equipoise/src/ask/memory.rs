//! What an interview may keep of the plan's state, so that a step costs one question and not all of them.
//!
//! A state belongs to the answers that led to it. It is used only when the transcript begins with exactly those
//! answers, so nothing can go stale: an undone, changed or foreign answer finds an earlier state, or none.

use super::{Answered, Oracle};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

/// The state of a plan after some answers. Cheap to clone.
#[derive(Clone)]
pub struct Snapshot(Arc<dyn Any + Send + Sync>);

impl Snapshot {
    /// Wraps a state.
    pub fn of(state: impl Any + Send + Sync) -> Self {
        Self(Arc::new(state))
    }

    /// The state, if it is of this kind.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Snapshot")
    }
}

/// The state an oracle has kept for a plan, if it has.
pub(crate) fn recall<T: Any + Clone>(oracle: &mut impl Oracle) -> Option<T> {
    oracle.recall()?.get::<T>().cloned()
}

/// Offers a state to the oracle; it is copied only if the oracle wants it.
pub(crate) fn keep<T: Any + Clone + Send + Sync>(oracle: &mut impl Oracle, state: &T) {
    oracle.keep(&mut || Snapshot::of(state.clone()));
}

/// The newest states of an interview, and the answers they come from.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    taken: Vec<Answered>,
    /// How many answers each has taken in, rising.
    kept: VecDeque<(usize, Snapshot)>,
}

impl Memory {
    /// How many states are kept: as many undone answers cost nothing.
    pub(crate) const DEPTH: usize = 4;

    /// The newest state whose answers the transcript begins with, and how many they are.
    pub(crate) fn recall(&mut self, transcript: &[Answered]) -> Option<(usize, Snapshot)> {
        let same = self.taken.iter().zip(transcript).take_while(|(a, b)| a == b).count();
        self.taken.truncate(same);
        while self.kept.back().is_some_and(|(taken, _)| *taken > same) {
            self.kept.pop_back();
        }
        self.kept.back().cloned()
    }

    /// Keeps the state after these answers.
    pub(crate) fn keep(&mut self, answers: &[Answered], state: Snapshot) {
        while self.kept.back().is_some_and(|(taken, _)| *taken >= answers.len()) {
            self.kept.pop_back();
        }
        self.taken = answers.to_vec();
        self.kept.push_back((answers.len(), state));
        if self.kept.len() > Self::DEPTH {
            self.kept.pop_front();
        }
    }
}
