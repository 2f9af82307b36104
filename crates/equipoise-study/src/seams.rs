//! What a study takes from the world outside: the time, and numbers nobody can guess.
//!
//! Both are traits, so that tests run with a clock that jumps and with draws that repeat.

use crate::error::{Error, Result};
use rand::{Rng, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time. Nothing is ordered by it: the log has its own order.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now(&self) -> i64;
}

/// Draws bytes.
pub trait Random: Send + Sync {
    /// Fills all of `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<()>;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        // A clock before 1970 is wrong in a way that changes nothing here.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
    }
}

/// The operating system's random numbers: links and salts come from here.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<()> {
        getrandom::fill(bytes).map_err(|e| Error::storage(format!("no random numbers: {e}")))
    }
}

/// A clock for tests: starts at 0 and moves by a second at every look.
#[derive(Debug, Default)]
pub struct TestClock(Mutex<i64>);

impl Clock for TestClock {
    fn now(&self) -> i64 {
        let mut now = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *now += 1000;
        *now
    }
}

/// Draws for tests: the same for the same seed. Never for links of real people.
#[derive(Debug)]
pub struct TestRandom(Mutex<Xoshiro256PlusPlus>);

impl TestRandom {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(Xoshiro256PlusPlus::seed_from_u64(seed)))
    }
}

impl Random for TestRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<()> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).fill_bytes(bytes);
        Ok(())
    }
}
