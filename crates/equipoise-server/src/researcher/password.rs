//! Passwords: what may be one, and how it is kept.
//!
//! Kept as Argon2id of a random salt. One hash takes 16 to 128 MiB and a good part of a tenth of a second, so they are
//! computed one at a time: signing in must not take the processors from people who answer.

use super::accounts::{Error, Result};
use crate::text::same;
use argon2::{Algorithm, Argon2, Params, Version};
use std::time::Duration;

/// The fewest characters of a password.
pub const SHORTEST: usize = 12;
/// The most; longer ones would only cost time.
pub const LONGEST: usize = 200;

/// One hash takes at least this long, where memory allows.
const AT_LEAST: Duration = Duration::from_millis(50);
/// Memory is raised up to here, passes after that.
const MOST_MEMORY: u32 = 128 * 1024;

/// How much work a hash is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strength {
    /// KiB of memory.
    pub memory: u32,
    /// Passes over it.
    pub passes: u32,
}

impl Strength {
    /// The least that is acceptable.
    pub const LEAST: Self = Self { memory: 19_456, passes: 2 };

    /// As much as makes one hash take 50 to 250 ms on this machine, and never less than [`Strength::LEAST`].
    pub fn tuned() -> Self {
        Self::raised(|strength| {
            let begun = worked();
            strength.hash(b"a password to measure with", &[0; 16]);
            worked().saturating_sub(begun)
        })
    }

    fn raised(measure: impl Fn(Self) -> Duration) -> Self {
        let mut strength = Self::LEAST;
        // Every step at most doubles the time, so the first that takes long enough does not take too long.
        while measure(strength) < AT_LEAST && strength.passes < 16 {
            match strength.memory * 2 <= MOST_MEMORY {
                true => strength.memory *= 2,
                false => strength.passes += 1,
            }
        }
        strength
    }

    fn hash(self, password: &[u8], salt: &[u8]) -> [u8; 32] {
        let params = Params::new(self.memory.max(Self::LEAST.memory), self.passes.max(1), 1, Some(32))
            .expect("memory and passes are within Argon2's limits");
        let mut hash = [0; 32];
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(password, salt, &mut hash)
            .expect("the salt has 16 bytes");
        hash
    }
}

/// How long this thread has worked: others who use the processor at the same moment must not make a hash look slow.
#[cfg(unix)]
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

#[cfg(not(unix))]
fn worked() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGUN.elapsed()
}

/// A password as it is kept.
#[derive(Debug, Clone)]
pub struct Kept {
    /// How much work it was.
    pub strength: Strength,
    /// What makes equal passwords look different.
    pub salt: [u8; 16],
    /// The hash.
    pub hash: [u8; 32],
}

impl Kept {
    /// A password, hashed.
    pub fn new(password: &str, strength: Strength) -> Result<Self> {
        let mut salt = [0; 16];
        getrandom::fill(&mut salt).map_err(|e| Error::Storage(format!("no random numbers: {e}")))?;
        Ok(Self { strength, salt, hash: strength.hash(password.as_bytes(), &salt) })
    }

    /// Whether this is the password.
    pub fn is(&self, password: &str) -> bool {
        same(&self.strength.hash(password.as_bytes(), &self.salt), &self.hash)
    }
}

/// Refuses what is too easy to guess.
pub fn check(name: &str, password: &str) -> Result<()> {
    let count = password.chars().count();
    if count < SHORTEST {
        return Err(Error::Refused(format!(
            "the password has {count} characters, expected at least {SHORTEST}; a few words in a row are fine"
        )));
    }
    if count > LONGEST {
        return Err(Error::Refused(format!(
            "the password has {count} characters, expected at most {LONGEST}"
        )));
    }
    let mut different: Vec<char> = password.to_lowercase().chars().collect();
    different.sort_unstable();
    different.dedup();
    if different.len() < 5 || password.to_lowercase().replace(&name.to_lowercase(), "").chars().count() < 6 {
        return Err(Error::Refused(
            "the password is mostly one thing repeated, expected something harder to guess".to_owned(),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strength_is_raised_until_a_hash_takes_long_enough() {
        // A machine on which a hash of the least strength takes 10 ms.
        let machine = |strength: Strength| {
            Duration::from_micros(u64::from(strength.memory) * u64::from(strength.passes) * 10_000 / 38_912)
        };
        let raised = Strength::raised(machine);
        assert!((50..=250).contains(&machine(raised).as_millis()), "{raised:?}");
        assert_eq!(Strength::raised(|_| Duration::from_millis(300)), Strength::LEAST);
        let fastest = Strength::raised(|_| Duration::ZERO);
        assert!(fastest.memory <= MOST_MEMORY && fastest.passes == 16);
    }

    #[cfg(unix)]
    #[test]
    fn waiting_is_not_work() {
        let begun = worked();
        std::thread::sleep(Duration::from_millis(300));
        let waited = worked().saturating_sub(begun);
        assert!(waited < Duration::from_millis(150), "{waited:?} of waiting would count as hashing");
        Strength::LEAST.hash(b"some work", &[0; 16]);
        assert!(worked().saturating_sub(begun) > waited);
    }

    #[test]
    fn a_password_is_recognised_and_nothing_else_is() {
        let kept = Kept::new("a horse and a stapler", Strength::LEAST).unwrap();
        assert!(kept.is("a horse and a stapler"));
        assert!(!kept.is("a horse and a staples") && !kept.is(""));
        let again = Kept::new("a horse and a stapler", Strength::LEAST).unwrap();
        assert_ne!(again.hash, kept.hash, "equal passwords are kept alike");
    }

    #[test]
    fn what_is_easy_to_guess_is_refused_in_a_sentence() {
        let sentence = |password: &str| check("marie", password).unwrap_err().to_string();
        assert_eq!(
            sentence("short"),
            "the password has 5 characters, expected at least 12; a few words in a row are fine"
        );
        assert!(sentence("aaaaaaaaaaaaaaa").contains("one thing repeated"));
        assert!(sentence("mariemarie123").contains("one thing repeated"));
        assert!(sentence(&"long ".repeat(60)).contains("at most 200"));
        check("marie", "correct horse battery").unwrap();
    }
}
