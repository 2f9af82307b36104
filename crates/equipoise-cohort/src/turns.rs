//! Something that is done for so long and then not, by turns: what it costs is told from the same people on the same machine.

use std::time::{Duration, Instant};

const TURN: Duration = Duration::from_secs(5);

/// When it is done.
#[derive(Debug, Clone, Copy)]
pub struct Turns(Instant);

impl Turns {
    /// From now on; not in the first turn.
    pub(crate) fn begin() -> Self {
        Self(Instant::now())
    }

    /// Whether it was done at that time.
    pub fn on(&self, at: Instant) -> bool {
        at.saturating_duration_since(self.0).as_secs() / TURN.as_secs() % 2 == 1
    }
}
