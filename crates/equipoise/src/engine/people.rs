//! The population of people the engine allows for when nothing is known of the person who answers.
//!
//! It is stated once and used twice: as the prior of the noise ([`prior`]), and as the experts that benches and `equipoise
//! plan` simulate (`testing::people`). A posterior whose prior is the population covers as often as it says,
//! averaged over that population, whatever rule ends the questions.
//!
//! Slopes are in units of the largest disc (or ball) of possible classifiers: at slope 5 a difference of half the disc is
//! told apart with 92 % certainty, at slope 80 one of a thirtieth. They are spread evenly in the logarithm. Lapses,
//! answers that have nothing to do with the question, are spread evenly up to one in twenty. This is an assumption about
//! attentive adults, not a measurement; whoever knows better states the noise in the plan.

use super::ratio::Noise;

/// The least and the most discerning person.
pub const SLOPES: [f64; 2] = [5.0, 80.0];

/// The most careless person's share of lapses.
pub const MOST_LAPSES: f64 = 0.05;

/// Ratios from 1/200 to 200.
pub const LARGEST_RATIO: f64 = 200.0;

/// How fine the prior is: steps of the slope, steps of the lapse rate.
const STEPS: [usize; 2] = [7, 3];

/// The population as a list of equally likely noises.
pub fn prior() -> Vec<(Noise, f64)> {
    let [slopes, lapses] = STEPS;
    let middle = |n: usize, steps: usize| (n as f64 + 0.5) / steps as f64;
    let both = |n: usize| (at(middle(n / lapses, slopes), middle(n % lapses, lapses)), 1.0);
    (0..slopes * lapses).map(both).collect()
}

/// The person at these shares of the population.
pub(crate) fn at(slope: f64, lapse: f64) -> Noise {
    Noise { slope: SLOPES[0] * (SLOPES[1] / SLOPES[0]).powf(slope), lapse: MOST_LAPSES * lapse }
}
