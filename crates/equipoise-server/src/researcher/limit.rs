//! How often a password may be tried, so that guessing is slow and nobody can keep the owner out.
//!
//! Whoever comes with a browser that has signed in to this account before waits for nobody else's guesses. Neither does
//! a network that has not failed within the last hour, for its first two tries. All others share a budget for each
//! account and one for the server, and whoever fails repeatedly from one network waits longer each time. So a hundred
//! networks that guess have 200 tries, and then 10 a minute. Networks are kept in memory, cut short, and never written
//! anywhere (S-12).

use crate::budget::{Budget, Budgets};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Failures from one place before it has to wait.
const FREE: u32 = 4;
/// Failures of a network after which it shares with all others who failed.
const CLEAN: u32 = 2;
/// After this long a network's failures are forgotten.
const FORGIVEN: Duration = Duration::from_secs(3600);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(60);
/// Guesses by networks that have failed: at most so many a minute for an account.
const PER_ACCOUNT: f64 = 10.0;
/// Tries of one network a minute, for all accounts.
const PER_NETWORK: f64 = 60.0;
/// And so many a minute altogether of networks that have failed: each costs the processor a tenth of a second.
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

/// Who has tried what.
#[derive(Debug)]
pub struct Limit {
    failures: HashMap<(String, From), Failures>,
    /// The same by network alone.
    networks: HashMap<From, Failures>,
    of_accounts: Budgets<String>,
    of_networks: Budgets<From>,
    altogether: Budget,
}

impl Limit {
    /// Nobody has tried anything.
    pub fn new(now: Instant) -> Self {
        Self {
            failures: HashMap::new(),
            networks: HashMap::new(),
            of_accounts: Budgets::new(PER_ACCOUNT, REMEMBERED, now),
            of_networks: Budgets::new(PER_NETWORK, REMEMBERED, now),
            altogether: Budget::new(ALTOGETHER, now),
        }
    }

    /// Whether a password may be tried now; otherwise how long to wait.
    pub fn allow(&mut self, account: &str, from: &From, now: Instant) -> Result<(), Duration> {
        self.allow_of(account, from, now, |_, _| None)
    }

    /// The same where several servers have one budget for each account, and one for all: `common` takes from them, given how
    /// many there are a minute, if there are such.
    pub fn allow_of(
        &mut self,
        account: &str,
        from: &From,
        now: Instant,
        common: impl FnOnce(f64, f64) -> Option<Result<(), Duration>>,
    ) -> Result<(), Duration> {
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
        self.of_networks.take(from.clone(), now)?;
        let failed = self.networks.get(from).filter(|failed| now.duration_since(failed.last) < FORGIVEN);
        if *from != From::Nowhere && failed.is_none_or(|failed| failed.count < CLEAN) {
            return Ok(());
        }
        if let Some(taken) = common(PER_ACCOUNT, ALTOGETHER) {
            return taken;
        }
        self.of_accounts.take(account.to_owned(), now)?;
        self.altogether.take(ALTOGETHER, now)
    }

    /// A password was wrong.
    pub fn failed(&mut self, account: &str, from: &From, now: Instant) {
        count(&mut self.failures, (account.to_owned(), from.clone()), now);
        count(&mut self.networks, from.clone(), now);
    }

    /// A password was right.
    pub fn succeeded(&mut self, account: &str, from: &From) {
        self.failures.remove(&(account.to_owned(), from.clone()));
    }
}

fn count<K: Clone + Eq + std::hash::Hash>(of: &mut HashMap<K, Failures>, who: K, now: Instant) {
    trim(of, |failed| failed.last);
    let failed = of.entry(who).or_insert(Failures { count: 0, last: now });
    let before = if now.duration_since(failed.last) < FORGIVEN { failed.count } else { 0 };
    *failed = Failures { count: before.saturating_add(1), last: now };
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
            // And so does a new one, from a network that does not guess.
            if second % 60 == 0 {
                assert!(limit.allow("ana", &address(200), now).is_ok(), "kept out after {second} s");
                limit.succeeded("ana", &address(200));
            }
        }
        assert!(guesses <= 100 * CLEAN + 10 * 11, "{guesses} guesses in ten minutes");
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
    fn invented_names_give_nobody_more_tries_and_keep_nobody_out() {
        let now = Instant::now();
        let mut limit = Limit::new(now);
        let tried = (0..50_000).filter(|n| {
            let name = format!("invented-{n}");
            let tried = limit.allow(&name, &address(1), now).is_ok();
            if tried {
                limit.failed(&name, &address(1), now);
            }
            tried
        });
        assert!(tried.count() <= PER_NETWORK as usize);
        assert!(limit.allow("ana", &address(2), now).is_ok(), "the owner comes from elsewhere");
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
