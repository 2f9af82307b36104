//! How often a password may be tried, so that guessing is slow and nobody can keep the owner out.
//!
//! Two lanes. Whoever comes with a browser that has signed in to this account before waits for nobody else's guesses.
//! All others share a budget for each account and one for the server, and whoever fails repeatedly from one network
//! waits longer each time. Networks are kept in memory, cut short, and never written anywhere (S-12).

use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Failures from one place before it has to wait.
const FREE: u32 = 4;
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(60);
/// Guesses by visitors: at most so many a minute for an account.
const PER_ACCOUNT: f64 = 10.0;
/// And so many a minute altogether: each costs the processor a tenth of a second.
const ALTOGETHER: f64 = 60.0;
/// Places that are remembered; the longest unused go first.
const REMEMBERED: usize = 10_000;

/// Where somebody comes from: a browser that is known, or a network.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum From {
    /// A browser that has signed in to the account before, by a hash of its token.
    Known([u8; 32]),
    /// The first 24 bits of an address, or 64 of the longer kind.
    Network([u8; 8]),
    /// Nothing is known.
    Nowhere,
}

impl From {
    /// A browser, by what it carries.
    pub fn known(token: &str) -> Self {
        Self::Known(Sha256::digest(token.as_bytes()).into())
    }

    /// The network of an address.
    pub fn network(address: Option<IpAddr>) -> Self {
        let mut bytes = [0; 8];
        match address.map(|address| address.to_canonical()) {
            Some(IpAddr::V4(address)) => bytes[..3].copy_from_slice(&address.octets()[..3]),
            Some(IpAddr::V6(address)) => bytes.copy_from_slice(&address.octets()[..8]),
            None => return Self::Nowhere,
        }
        Self::Network(bytes)
    }
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

/// Refills evenly, up to a minute's worth.
#[derive(Debug, Clone, Copy)]
struct Budget {
    left: f64,
    at: Instant,
}

impl Budget {
    fn new(a_minute: f64, now: Instant) -> Self {
        Self { left: a_minute, at: now }
    }

    /// Takes one; otherwise says how long until there is one.
    fn take(&mut self, a_minute: f64, now: Instant) -> Result<(), Duration> {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = (self.left + passed * a_minute / 60.0).min(a_minute);
        self.at = now;
        if self.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - self.left) * 60.0 / a_minute));
        }
        self.left -= 1.0;
        Ok(())
    }
}

/// Who has tried what.
#[derive(Debug)]
pub struct Limit {
    failures: HashMap<(String, From), Failures>,
    accounts: HashMap<String, Budget>,
    altogether: Budget,
}

impl Limit {
    /// Nobody has tried anything.
    pub fn new(now: Instant) -> Self {
        Self { failures: HashMap::new(), accounts: HashMap::new(), altogether: Budget::new(ALTOGETHER, now) }
    }

    /// Whether a password may be tried now; otherwise how long to wait.
    pub fn allow(&mut self, account: &str, from: &From, now: Instant) -> Result<(), Duration> {
        if let Some(failed) = self.failures.get(&(account.to_owned(), from.clone())) {
            let since = now.saturating_duration_since(failed.last);
            let wait = wait(failed.count);
            if since < wait {
                return Err(wait - since);
            }
        }
        if matches!(from, From::Known(_)) {
            return Ok(());
        }
        trim(&mut self.accounts, |budget| budget.at);
        let budget = self.accounts.entry(account.to_owned()).or_insert_with(|| Budget::new(PER_ACCOUNT, now));
        budget.take(PER_ACCOUNT, now)?;
        self.altogether.take(ALTOGETHER, now)
    }

    /// A password was wrong.
    pub fn failed(&mut self, account: &str, from: &From, now: Instant) {
        trim(&mut self.failures, |failed| failed.last);
        let place = (account.to_owned(), from.clone());
        let failed = self.failures.entry(place).or_insert(Failures { count: 0, last: now });
        *failed = Failures { count: failed.count.saturating_add(1), last: now };
    }

    /// A password was right.
    pub fn succeeded(&mut self, account: &str, from: &From) {
        self.failures.remove(&(account.to_owned(), from.clone()));
    }
}

/// How long to wait after so many failures: nothing at first, then 1, 2, 4 seconds and so on.
fn wait(failures: u32) -> Duration {
    match failures.checked_sub(FREE) {
        None => Duration::ZERO,
        Some(more) => LONGEST.min(Duration::from_secs(1_u64 << more.min(10))),
    }
}

fn trim<K: Clone + Eq + std::hash::Hash, V>(map: &mut HashMap<K, V>, at: impl Fn(&V) -> Instant) {
    if map.len() < REMEMBERED {
        return;
    }
    let mut ages: Vec<Instant> = map.values().map(&at).collect();
    ages.sort_unstable();
    let middle = ages[ages.len() / 2];
    map.retain(|_, value| at(value) > middle);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u8) -> From {
        From::network(Some(IpAddr::from([10, 0, n, 1])))
    }

    #[test]
    fn guessing_from_many_networks_is_slow_and_the_owner_is_not_kept_out() {
        let start = Instant::now();
        let mut limit = Limit::new(start);
        let mut guesses = 0;
        // A hundred networks try without pause for ten minutes.
        for second in 0..600 {
            let now = start + Duration::from_secs(second);
            for n in 0..100 {
                if limit.allow("ana", &address(n), now).is_ok() {
                    limit.failed("ana", &address(n), now);
                    guesses += 1;
                }
            }
            // The owner's browser has signed in before.
            assert!(limit.allow("ana", &From::Known([7; 32]), now).is_ok(), "kept out after {second} s");
        }
        assert!(guesses <= 10 * 11, "{guesses} guesses in ten minutes");
    }

    #[test]
    fn one_place_waits_longer_each_time_and_others_do_not() {
        let now = Instant::now();
        let mut limit = Limit::new(now);
        for _ in 0..FREE {
            assert!(limit.allow("ana", &address(1), now).is_ok());
            limit.failed("ana", &address(1), now);
        }
        let wait = limit.allow("ana", &address(1), now).unwrap_err();
        assert_eq!(wait, Duration::from_secs(1));
        assert!(limit.allow("ana", &address(2), now).is_ok());
        assert!(limit.allow("ben", &address(1), now).is_ok(), "people behind one address hold each other up");
        limit.failed("ana", &address(1), now);
        assert_eq!(limit.allow("ana", &address(1), now).unwrap_err(), Duration::from_secs(2));
        assert!(limit.allow("ana", &address(1), now + Duration::from_secs(2)).is_ok());
        limit.succeeded("ana", &address(1));
        assert!(limit.allow("ana", &address(1), now).is_ok());
    }

    #[test]
    fn fifty_people_behind_one_address_sign_in_within_a_minute() {
        let start = Instant::now();
        let mut limit = Limit::new(start);
        let mut done = 0;
        for person in 0..50 {
            let (name, now) = (format!("person-{person}"), start + Duration::from_millis(person * 1_200));
            done += u32::from(limit.allow(&name, &address(1), now).is_ok());
            limit.succeeded(&name, &address(1));
        }
        assert_eq!(done, 50);
    }

    #[test]
    fn addresses_are_cut_short() {
        let of = |address: &str| From::network(Some(address.parse().unwrap()));
        assert_eq!(of("192.0.2.7"), of("192.0.2.200"));
        assert_eq!(of("192.0.2.7"), of("::ffff:192.0.2.9"));
        assert_ne!(of("192.0.2.7"), of("192.0.3.7"));
        assert_eq!(of("2001:db8:1:2:3::1"), of("2001:db8:1:2:4::1"));
        assert_eq!(From::network(None), From::Nowhere);
    }

    #[test]
    fn what_is_remembered_does_not_grow_without_end() {
        let now = Instant::now();
        let mut limit = Limit::new(now);
        for n in 0..3 * REMEMBERED {
            limit.failed(&format!("account-{n}"), &From::Nowhere, now + Duration::from_millis(n as u64));
        }
        assert!(limit.failures.len() <= REMEMBERED);
    }
}
