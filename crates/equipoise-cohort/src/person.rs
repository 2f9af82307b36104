//! Who is simulated: an opinion, noise, and a guess at the opinion.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// The radius of the ball that evaluation questions of the thesis are drawn from (Section 8.2).
const BALL: f64 = 0.1;

/// How people put their cost into a number when asked: what they hold, times a factor that is lognormal with this median
/// and this spread of the logarithm, rounded to what one says (1, 2, 5, 10, 20, ...).
///
/// The thesis found that none of its ten subjects could say the number with confidence (Section 8.4.2, Q2) and measured no
/// more than that. That guesses overshoot by a half and scatter by a factor of 2.5 is our assumption; the fidelity of
/// stated costs in a simulation says what follows from it, nothing about people.
pub const STATED: [f64; 2] = [1.5, 0.9];

/// One in so many cannot say at all.
const SPEECHLESS: u64 = 10;

/// Somebody with an opinion.
#[derive(Debug, Clone)]
pub struct Person {
    /// How many false alarms a missed case is worth to them.
    pub ratio: f64,
    /// How sharply they tell: the slope of the logistic curve, in units of the query ball. Infinite never errs.
    pub slope: f64,
    /// How long they look at a comparison, on average.
    pub think: Duration,
    ball: f64,
    tries: usize,
    rounds: Option<(tokio::time::Instant, Duration)>,
    random: Xoshiro256PlusPlus,
    /// What they say before is not what decides where noise strikes.
    speech: Xoshiro256PlusPlus,
}

impl Person {
    /// Somebody; `seed` decides where noise strikes.
    pub fn new(ratio: f64, slope: f64, think: Duration, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let speech = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5EED_0F5B_EEC4);
        Self { ratio, slope, think, ball: BALL, tries: 1, rounds: None, random, speech }
    }

    /// The radius of the query ball, which the slope is in units of; without it, that of the thesis.
    pub fn ball(self, radius: f64) -> Self {
        Self { ball: radius, ..self }
    }

    /// How often whatever fails on the way is sent.
    pub fn trying(self, tries: usize) -> Self {
        Self { tries, ..self }
    }

    /// Answers when everybody else does: within a second from the beginning of a round, of which there is one every so often
    /// from `first` on.
    pub fn together(self, first: tokio::time::Instant, every: Duration) -> Self {
        Self { rounds: Some((first, every)), ..self }
    }

    pub(super) fn tries(&self) -> usize {
        self.tries
    }

    /// A or B, from the mistakes on the screen: (missed cases, false alarms) out of so many people.
    pub(super) fn choose(&mut self, [a, b]: [[u64; 2]; 2], people: u64) -> &'static str {
        let length = self.ratio.hypot(1.0);
        let cost = |[missed, alarms]: [u64; 2]| {
            (self.ratio * missed as f64 + alarms as f64) / length / people as f64
        };
        let better = (cost(b) - cost(a)) / self.ball;
        let share =
            if self.slope.is_finite() { 1.0 / (1.0 + (-self.slope * better).exp()) } else { better.signum() };
        if self.random.random::<f64>() < share { "a" } else { "b" }
    }

    /// What they say their cost is, see [`STATED`]; nothing for "I can't say".
    pub(super) fn states(&mut self) -> Option<f64> {
        if self.speech.random_range(0..SPEECHLESS) == 0 {
            return None;
        }
        let [median, spread] = STATED;
        // Box and Muller's normal number.
        let (radius, angle): (f64, f64) = (self.speech.random(), self.speech.random());
        let normal = (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
        Some(said(self.ratio * median * (spread * normal).exp()))
    }

    /// A or B, where the page is not one that these people can read: its picture has more than two kinds of mistakes.
    pub(super) fn guess(&mut self) -> &'static str {
        if self.random.random() { "a" } else { "b" }
    }

    /// How long until somebody comes who takes a place that has become free. Where all answer together, that is between two
    /// rounds: nobody enters a class in the second in which it answers.
    pub(super) fn coming(&mut self) -> Duration {
        let Some((first, every)) = self.rounds else { return Duration::ZERO };
        let into = tokio::time::Instant::now().saturating_duration_since(first).as_secs_f64();
        let into = into.rem_euclid(every.as_secs_f64());
        let quiet = (every.as_secs_f64() - 2.0).max(0.0);
        Duration::from_secs_f64((1.5 + quiet * self.speech.random::<f64>() - into).max(0.0))
    }

    /// A time to think: exponential around the mean, and never endless.
    pub(super) fn thinking(&mut self) -> Duration {
        let draw: f64 = self.random.random();
        if let Some((first, every)) = self.rounds {
            let now = tokio::time::Instant::now();
            // Whoever is there before the first round waits for that one.
            let round = match now.checked_duration_since(first) {
                Some(since) => since.div_duration_f64(every).floor() as u32 + 1,
                None => 0,
            };
            return (first + every * round).saturating_duration_since(now)
                + Duration::from_secs(1).mul_f64(draw);
        }
        self.think.mul_f64((-(1.0 - draw).ln()).min(5.0))
    }
}

/// The number one says: the nearest of 1, 2 and 5 times a power of ten.
fn said(exact: f64) -> f64 {
    let decade = 10_f64.powf(exact.log10().floor());
    let off = |candidate: &f64| (candidate / exact).ln().abs();
    let near = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
    near.into_iter().min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_without_noise_prefers_what_costs_less() {
        let mut person = Person::new(6.0, f64::INFINITY, Duration::ZERO, 1);
        assert_eq!(person.choose([[10, 20], [9, 25]], 1_000), "b");
        assert_eq!(person.choose([[10, 20], [9, 27]], 1_000), "a");
    }

    #[test]
    fn noise_is_worst_where_the_systems_are_alike() {
        let mut person = Person::new(6.0, 20.0, Duration::ZERO, 1);
        let mut chosen = |pair| (0..2_000).filter(|_| person.choose(pair, 1_000) == "a").count();
        assert!((900..1_100).contains(&chosen([[10, 20], [9, 26]])));
        assert!(chosen([[10, 20], [60, 20]]) > 1_980);
    }

    #[test]
    fn what_is_said_is_round_and_some_way_off() {
        assert_eq!([0.9, 6.1, 8.0, 33.0, 90.0].map(said), [1.0, 5.0, 10.0, 50.0, 100.0]);
        let mut off: Vec<f64> = (0..2_000)
            .filter_map(|seed| Person::new(6.0, 20.0, Duration::ZERO, seed).states())
            .map(|said| said / 6.0)
            .collect();
        assert!((1_700..1_900).contains(&off.len()), "one in ten cannot say");
        off.sort_by(f64::total_cmp);
        assert!((1.3..1.8).contains(&off[off.len() / 2]), "{}", off[off.len() / 2]);
    }
}
