//! Two classes, one number: the cost ratio, with its exact posterior on a grid.
//!
//! A linear two-class metric is its cost ratio: how many false alarms one missed case is worth. One number is few
//! enough for a grid, and so are the two numbers that describe how a person errs: how steeply the chance of the better
//! answer rises with the difference, and how often an answer has nothing to do with the question. The posterior of all
//! three together is exact (to the grid), so that the interval of the ratio allows for not knowing the noise.

use crate::oracle::{Answer, Preference, Query};
use crate::space::Binary;

/// Ratios from 1/200 to 200, evenly in the logarithm.
const LOG_RANGE: f64 = 5.298_317_366_548_036;
const RATIOS: usize = 801;

/// A log ratio beyond which every boundary has ended.
const FAR: f64 = 60.0;

/// How answers come about: right with probability $\epsilon + (1-2\epsilon)/(1+e^{-\beta t})$, where t is the difference
/// of the metric in units of the largest disc inside the achievable set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// $\beta$; infinite for answers that are always right.
    pub slope: f64,
    /// $\epsilon$.
    pub lapse: f64,
}

/// A joint posterior of the cost ratio and the noise.
#[derive(Debug, Clone)]
pub struct RatioPosterior {
    space: Binary,
    unit: f64,
    noises: Vec<Noise>,
    /// Logarithm of the posterior, noise by noise, ratio by ratio.
    logs: Vec<Vec<f64>>,
}

impl RatioPosterior {
    /// Every ratio on the grid equally likely, every noise as likely as it is listed.
    pub fn new(space: Binary, noises: &[(Noise, f64)]) -> Self {
        let unit = crate::elicit::inscribed_radius(&space);
        let logs = noises.iter().map(|(_, weight)| vec![weight.ln(); RATIOS]).collect();
        Self { space, unit, noises: noises.iter().map(|(noise, _)| *noise).collect(), logs }
    }

    /// What people's answers look like when nothing is known of the person.
    pub fn person(space: Binary) -> Self {
        let slopes = [(3.0, 0.1), (6.0, 0.2), (12.0, 0.25), (25.0, 0.25), (50.0, 0.2)];
        let lapses = [(0.01, 0.5), (0.04, 0.35), (0.1, 0.15)];
        let both =
            |(slope, likely): (f64, f64)| lapses.map(|(lapse, rare)| (Noise { slope, lapse }, likely * rare));
        Self::new(space, &slopes.into_iter().flat_map(both).collect::<Vec<_>>())
    }

    /// The logarithm of the ratio at a grid place.
    fn log_ratio(place: usize) -> f64 {
        LOG_RANGE * (2.0 * place as f64 / (RATIOS - 1) as f64 - 1.0)
    }

    /// The difference of two points in the disc's units, under the ratio at a grid place.
    fn difference(&self, query: &Query, place: usize) -> f64 {
        let (sin, cos) = (-Self::log_ratio(place)).exp().atan().sin_cos();
        (cos * (query.first[0] - query.second[0]) + sin * (query.first[1] - query.second[1])) / self.unit
    }

    /// Takes an answer in, about the pair as it was shown.
    pub fn take(&mut self, query: &Query, answer: &Answer) {
        let shown = answer.shown.as_ref().unwrap_or(query);
        let differences: Vec<f64> = (0..RATIOS).map(|place| self.difference(shown, place)).collect();
        for (noise, logs) in self.noises.iter().zip(&mut self.logs) {
            for (log, t) in logs.iter_mut().zip(&differences) {
                let first = chance_of_first(*t, *noise);
                *log += match answer.preference {
                    Preference::First => first,
                    Preference::Second => 1.0 - first,
                    // As likely as the choice was close; the factor common to all ratios does not matter.
                    Preference::CannotTell => noise.lapse + (1.0 - noise.lapse) * 4.0 * first * (1.0 - first),
                }
                .max(1e-12)
                .ln();
            }
        }
        let top = self.logs.iter().flatten().fold(f64::MIN, |m, x| m.max(*x));
        self.logs.iter_mut().flatten().for_each(|log| *log -= top);
    }

    /// The posterior of the ratio alone.
    fn marginal(&self) -> Vec<f64> {
        let mut masses = vec![0.0; RATIOS];
        for logs in &self.logs {
            masses.iter_mut().zip(logs).for_each(|(mass, log)| *mass += log.exp());
        }
        let total: f64 = masses.iter().sum();
        masses.iter_mut().for_each(|mass| *mass /= total);
        masses
    }

    /// The ratio below which a share of the posterior lies.
    pub fn quantile(&self, share: f64) -> f64 {
        quantile(&self.marginal(), share).exp()
    }

    /// The posterior of each noise.
    pub fn noise(&self) -> Vec<(Noise, f64)> {
        let masses: Vec<f64> = self.logs.iter().map(|logs| logs.iter().map(|log| log.exp()).sum()).collect();
        let total: f64 = masses.iter().sum();
        self.noises.iter().copied().zip(masses.iter().map(|mass| mass / total)).collect()
    }

    /// The most telling pair of boundary classifiers and the information it is expected to give, in bits.
    pub fn question(&self) -> Option<(f64, Query)> {
        let marginal = self.marginal();
        let mut best: Option<(f64, Query)> = None;
        for share in [0.3, 0.5, 0.7] {
            let ratio = quantile(&marginal, share).exp();
            for reach in [0.1, 0.3, 0.6, 0.95] {
                let Some(query) = self.chord(ratio, reach) else { continue };
                let gain = self.information(&query, &marginal);
                if best.as_ref().is_none_or(|(top, _)| gain > *top) {
                    best = Some((gain, query));
                }
            }
        }
        best
    }

    /// Two boundary classifiers that are equally good under a ratio, one on either side of its best one.
    ///
    /// One of them is `reach` of the way from the best classifier to the end of the boundary (everybody accepted, or
    /// nobody), measured in what it gives up; the other is its counterpart.
    fn chord(&self, ratio: f64, reach: f64) -> Option<Query> {
        let (sin, cos) = (1.0 / ratio).atan().sin_cos();
        let value = |p: [f64; 2]| cos * p[0] + sin * p[1];
        let at = |log_ratio: f64| self.space.at_angle((-log_ratio).exp().atan());
        let best = value(at(ratio.ln()));
        let ends = [FAR, -FAR];
        let loss = ends.map(|end| best - value(at(end)));
        // The end that is less bad limits how much both can give up.
        let level = best - reach * loss[0].min(loss[1]);
        let [first, second] = ends.map(|end| {
            let (mut near, mut far) = (ratio.ln(), end);
            for _ in 0..50 {
                let half = 0.5 * (near + far);
                if value(at(half)) >= level { near = half } else { far = half }
            }
            at(near)
        });
        let apart = (first[0] - second[0]).abs() + (first[1] - second[1]).abs() > 1e-9;
        apart.then(|| Query::new(first.to_vec(), second.to_vec()))
    }

    /// Expected information about the ratio, in bits, noise averaged out.
    fn information(&self, query: &Query, marginal: &[f64]) -> f64 {
        let total: f64 = self.logs.iter().flatten().map(|log| log.exp()).sum();
        let (mut first, mut uncertainty) = (0.0, 0.0);
        // Every fourth place of the grid is plenty for a choice.
        for (place, mass) in marginal.iter().enumerate().step_by(4) {
            if *mass < 1e-7 {
                continue;
            }
            let t = self.difference(query, place);
            let joint = self
                .noises
                .iter()
                .zip(&self.logs)
                .map(|(noise, logs)| (logs[place].exp() / total) * chance_of_first(t, *noise));
            let chance = (joint.sum::<f64>() / mass).clamp(0.0, 1.0);
            first += 4.0 * mass * chance;
            uncertainty += 4.0 * mass * entropy(chance);
        }
        entropy(first.clamp(0.0, 1.0)) - uncertainty
    }
}

fn chance_of_first(t: f64, noise: Noise) -> f64 {
    let better = if noise.slope.is_finite() {
        1.0 / (1.0 + (-noise.slope * t).exp())
    } else {
        f64::from(u8::from(t > 0.0))
    };
    noise.lapse + (1.0 - 2.0 * noise.lapse) * better
}

fn entropy(p: f64) -> f64 {
    let part = |x: f64| if x > 0.0 { -x * x.log2() } else { 0.0 };
    part(p) + part(1.0 - p)
}

/// The log ratio below which a share of the masses lies, linear within a grid cell.
fn quantile(masses: &[f64], share: f64) -> f64 {
    let mut below = 0.0;
    for (place, mass) in masses.iter().enumerate() {
        if below + mass >= share && *mass > 0.0 {
            let within = (share - below) / mass - 0.5;
            return RatioPosterior::log_ratio(place) + within * 2.0 * LOG_RANGE / (RATIOS - 1) as f64;
        }
        below += mass;
    }
    LOG_RANGE
}
