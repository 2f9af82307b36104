//! How often something may be done: so many times a minute, evenly refilled.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Refills evenly, up to a minute's worth.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    left: f64,
    at: Instant,
}

impl Budget {
    /// A minute's worth.
    pub fn new(a_minute: f64, now: Instant) -> Self {
        Self { left: a_minute, at: now }
    }

    fn refill(&mut self, a_minute: f64, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = (self.left + passed * a_minute / 60.0).min(a_minute);
        self.at = now;
    }

    /// Takes one; otherwise says how long until there is one.
    pub fn take(&mut self, a_minute: f64, now: Instant) -> Result<(), Duration> {
        self.refill(a_minute, now);
        if self.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - self.left) * 60.0 / a_minute));
        }
        self.left -= 1.0;
        Ok(())
    }
}

/// A budget for each of many. What is remembered is bounded, and one that is not full is never forgotten: inventing others
/// gives nobody a new one. Where there is no room for another, all who have none share one.
#[derive(Debug)]
pub struct Budgets<K> {
    a_minute: f64,
    most: usize,
    of: HashMap<K, Budget>,
    rest: Budget,
}

impl<K: Eq + Hash> Budgets<K> {
    /// Nobody has done anything.
    pub fn new(a_minute: f64, most: usize, now: Instant) -> Self {
        Self { a_minute, most, of: HashMap::new(), rest: Budget::new(a_minute, now) }
    }

    /// Takes one of somebody's; otherwise says how long until there is one.
    pub fn take(&mut self, who: K, now: Instant) -> Result<(), Duration> {
        if self.of.len() >= self.most && !self.of.contains_key(&who) {
            let a_minute = self.a_minute;
            self.of.retain(|_, budget| {
                budget.refill(a_minute, now);
                budget.left < a_minute
            });
            if self.of.len() >= self.most {
                return self.rest.take(self.a_minute, now);
            }
        }
        self.of.entry(who).or_insert_with(|| Budget::new(self.a_minute, now)).take(self.a_minute, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inventing_others_gives_nobody_a_new_budget() {
        let now = Instant::now();
        let mut budgets = Budgets::new(10.0, 100, now);
        assert_eq!((0..50).filter(|_| budgets.take(0, now).is_ok()).count(), 10);
        let others = (1..1_000).filter(|n| budgets.take(*n, now).is_ok()).count();
        assert_eq!(others, 99 + 10, "all for whom there is no room share one");
        assert!(budgets.take(0, now).is_err() && budgets.of.len() <= 100);
        let later = now + Duration::from_secs(60);
        assert!(budgets.take(5_000, later).is_ok() && budgets.take(0, later).is_ok());
    }
}
