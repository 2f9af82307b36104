//! The cost ratio behind decisions that were made: cases with a risk each, and whether somebody acted.
//!
//! Acting on a case of risk $s$ finds it with probability $s$ and is a false alarm otherwise, so whoever holds the ratio $r$ acts
//! from $r s = 1 - s$ on. People waver near that threshold, by its odds, and slip anywhere: the chance of acting is
//! $\epsilon + (1-2\epsilon)/(1+(r s/(1-s))^{-\beta})$, the relative noise of comparisons. How surely they tell risks apart and how
//! often they slip is not known; the posterior of ratio and noise together is on the grid of ratios that comparisons have.

use super::belief::scale::Scale;
use crate::ask::NoiseModel;
use crate::error::{Result, check, refuse};
use crate::metric::{Metric, RatioInterval, Sense};
use crate::population::accepts;
use crate::view::{Measure, View};
use std::sync::OnceLock;

/// How surely people tell odds apart: the slopes of those who compare, each this much steeper than the one before. Decisions may
/// follow a written rule as well, which nobody wavers about: that is as likely as one of the slopes.
const VAGUEST: f64 = crate::ask::RATIO_SLOPES[0];
const STEEPER: f64 = std::f64::consts::SQRT_2;
const SLOPES: usize = 9;
/// How often people slip: rarely for most, one in five at most, as among those who compare.
const LAPSES: usize = 6;

/// Log odds beyond this are as good as certain; within, they are told apart this many times as finely as ratios are.
const CERTAIN: f64 = 12.0;
const FINER: usize = 4;

/// The grid of the posterior is this many times as fine as that of comparisons: a written rule leaves little between two cases.
const CELLS: usize = 8;

/// Nobody is told to be surer than this: a written rule is.
const STEEPEST: f64 = 1000.0;

/// Decisions follow the risk where that explains them this much better than one chance for all does, and run against it where that
/// explains them so much better than following.
const FOLLOWS: f64 = 3.0;
const REVERSED: f64 = 10.0;

/// How decisions and risks belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tendency {
    /// The larger the risk, the rather somebody acts.
    Follows,
    /// The smaller the risk, the rather somebody acts.
    Reversed,
    /// Nothing in the decisions says that they have to do with the risk.
    None,
}

/// What decisions say of the cost ratio.
///
/// ```
/// use equipoise::engine::{Decisions, Tendency};
/// // Somebody who acts from 14 % on and once does not.
/// let cases: Vec<(f64, bool)> = (1..100).map(|n| (f64::from(n) / 100.0, n >= 14 && n != 40)).collect();
/// let found = Decisions::new(&cases)?;
/// let [low, high] = found.interval();
/// assert!(low.unwrap() < 6.2 && high.unwrap() > 6.2 && high.unwrap() < 9.0); // 86 : 14 is 6.1 : 1
/// assert_eq!((found.tendency(), found.agreeing()), (Tendency::Follows, 98));
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Decisions {
    /// The posterior of the ratio, place by place.
    marginal: Vec<f64>,
    noise: NoiseModel,
    tendency: Tendency,
    evidence: f64,
    agreeing: usize,
}

impl Decisions {
    /// Cases by their risk, and whether somebody acted; every ratio from 1/200 to 200 was equally likely before.
    pub fn new(cases: &[(f64, bool)]) -> Result<Self> {
        check::at_least("the number of decisions", cases.len(), 1, "at least 1")?;
        for (n, (risk, _)) in cases.iter().enumerate() {
            let ok = (0.0..=1.0).contains(risk);
            refuse!(!ok, "the risk of decision {} is {risk}, expected a number in [0, 1]", n + 1);
        }
        let tally = Tally::of(cases);
        let (logs, turned) = (tally.logs(false), tally.logs(true));
        let [evidence, against] = [&logs, &turned].map(|logs| evidence(logs));
        let chance = tally.by_chance();
        let tendency = match () {
            () if evidence - chance >= FOLLOWS.ln() && against - evidence < REVERSED.ln() => {
                Tendency::Follows
            }
            () if against - chance >= FOLLOWS.ln() && against - evidence >= REVERSED.ln() => {
                Tendency::Reversed
            }
            () => Tendency::None,
        };
        let top = logs.iter().flatten().copied().fold(f64::MIN, f64::max);
        let (mut marginal, mut all) = (vec![0.0; places()], 0.0);
        let (mut vague, mut lapse) = (0.0, 0.0);
        for (noise, row) in noises().iter().zip(&logs) {
            let mut sum = 0.0;
            for (mass, log) in marginal.iter_mut().zip(row) {
                let own = (log - top).exp();
                *mass += own;
                sum += own;
            }
            all += sum;
            vague += sum / noise[0];
            lapse += sum * noise[1];
        }
        marginal.iter_mut().for_each(|mass| *mass /= all);
        let noise =
            NoiseModel::Relative { slope: 1.0 / (vague / all).max(1.0 / STEEPEST), lapse: lapse / all };
        let mut found = Self { marginal, noise, tendency, evidence, agreeing: 0 };
        let threshold = found.threshold();
        found.agreeing = cases.iter().filter(|(risk, acted)| accepts(*risk, threshold) == *acted).count();
        Ok(found)
    }

    /// The middle of the posterior.
    pub fn ratio(&self) -> f64 {
        scale().quantile(&self.marginal, 0.5).exp()
    }

    /// The ends of the 95 % interval; one that the decisions do not set is none.
    pub fn interval(&self) -> [Option<f64>; 2] {
        scale().ends(&self.marginal).map(|end| end.map(f64::exp))
    }

    /// The risk from which on the middle ratio acts.
    pub fn threshold(&self) -> f64 {
        1.0 / (1.0 + self.ratio())
    }

    /// The metric with the middle ratio and its interval.
    pub fn metric(&self) -> Result<Metric> {
        let view = View::new(Measure::Binary, 2, 1)?;
        let metric = Metric::linear(view, Sense::Utility, vec![self.ratio(), 1.0])?.normal_form();
        let [low, high] = self.interval();
        metric.with_interval(RatioInterval::new(low.unwrap_or(0.0), high, 0.95)?)
    }

    /// How surely risks were told apart, and how often somebody slipped: the middle of the posterior.
    pub fn noise(&self) -> NoiseModel {
        self.noise
    }

    /// Whether decisions and risks have to do with each other.
    pub fn tendency(&self) -> Tendency {
        self.tendency
    }

    /// How many decisions are those of the threshold.
    pub fn agreeing(&self) -> usize {
        self.agreeing
    }

    /// The logarithm of how likely the decisions are to whoever knows neither ratio nor noise. The sum over parts of the decisions
    /// over that of all is how much better several ratios explain them than one.
    pub fn evidence(&self) -> f64 {
        self.evidence
    }
}

/// The ratios of the posterior: those of comparisons, and more between each two.
fn scale() -> Scale {
    let full = Scale::full();
    Scale { step: full.step / CELLS as f64, ..full }
}

fn places() -> usize {
    CELLS * (Scale::full().places() - 1) + 1
}

/// Slopes and lapses that are thought possible, all equally likely; those of a written rule come last.
fn noises() -> Vec<[f64; 2]> {
    let slope = |n: usize| if n < SLOPES { VAGUEST * STEEPER.powi(n as i32) } else { f64::INFINITY };
    let lapse = |n: usize| crate::ask::MOST_LAPSES * ((n as f64 + 0.5) / LAPSES as f64).powi(2);
    (0..(SLOPES + 1) * LAPSES).map(|n| [slope(n / LAPSES), lapse(n % LAPSES)]).collect()
}

/// How far from the middle of a table its ends are.
fn reach() -> usize {
    let scale = Scale::full();
    FINER * (scale.places() / 2) + (CERTAIN * FINER as f64 / scale.step).ceil() as usize
}

/// The logarithm of the chance to act of whoever wavers, noise by noise, by the sum of log ratio and log odds in steps of the finer grid.
///
/// All cases and ratios share it: on the grid only their sum counts.
fn tables() -> &'static [Vec<f64>] {
    static TABLES: OnceLock<Vec<Vec<f64>>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let (reach, step) = (reach() as isize, Scale::full().step / FINER as f64);
        let table = |[slope, lapse]: [f64; 2]| {
            let chance = |n: isize| lapse + (1.0 - 2.0 * lapse) / (1.0 + (-slope * step * n as f64).exp());
            (-reach..=reach).map(|n| chance(n).ln()).collect()
        };
        noises().into_iter().filter(|noise| noise[0].is_finite()).map(table).collect()
    })
}

/// Decisions counted by the odds of their risk.
struct Tally {
    /// Places in steps of the finer grid, and how many acted and did not.
    counts: Vec<(isize, [f64; 2])>,
    /// The logarithms of the ratios from which on each case is acted upon, in order, and whether it was.
    thresholds: Vec<(f64, bool)>,
}

impl Tally {
    fn of(cases: &[(f64, bool)]) -> Self {
        let step = Scale::full().step / FINER as f64;
        let mut counts = std::collections::BTreeMap::<isize, [f64; 2]>::new();
        let mut thresholds = vec![];
        for (risk, acted) in cases {
            let odds = (risk / (1.0 - risk)).ln().clamp(-CERTAIN, CERTAIN);
            thresholds.push((-odds, *acted));
            counts.entry((odds / step).round() as isize).or_default()[usize::from(!acted)] += 1.0;
        }
        thresholds.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { counts: counts.into_iter().collect(), thresholds }
    }

    /// The logarithm of the likelihood, noise by noise, ratio by ratio; turned round, acting is left to small risks.
    fn logs(&self, turned: bool) -> Vec<Vec<f64>> {
        let (places, reach) = (Scale::full().places() as isize, reach() as isize);
        let of_noise = |table: &Vec<f64>| -> Vec<f64> {
            let mut logs = vec![0.0; places as usize];
            for (odds, [acted, not]) in &self.counts {
                let [acted, not] = if turned { [not, acted] } else { [acted, not] };
                for (place, log) in (0..places).zip(&mut logs) {
                    let sum = odds + FINER as isize * (place - places / 2);
                    *log += acted * table[(reach + sum) as usize] + not * table[(reach - sum) as usize];
                }
            }
            // Whoever wavers has a likelihood that is smooth from one ratio to the next.
            let between = |n: usize| {
                let (place, part) = (n / CELLS, (n % CELLS) as f64 / CELLS as f64);
                logs[place] + part * (logs.get(place + 1).unwrap_or(&logs[place]) - logs[place])
            };
            (0..self::places()).map(between).collect()
        };
        let rules = noises().into_iter().filter(|noise| noise[0].is_infinite());
        tables().iter().map(of_noise).chain(rules.map(|[_, lapse]| self.by_rule(lapse, turned))).collect()
    }

    /// The same for a written rule and slips. Its likelihood jumps at every case, so it is averaged over each cell of the grid.
    fn by_rule(&self, lapse: f64, turned: bool) -> Vec<f64> {
        let (scale, all) = (scale(), self.thresholds.len() as f64);
        let likely = |agreeing: f64| agreeing * (1.0 - lapse).ln() + (all - agreeing) * lapse.ln();
        // Below all thresholds nobody is acted upon.
        let mut agreeing = self.thresholds.iter().filter(|(_, acted)| *acted == turned).count() as f64;
        let mut cases = self.thresholds.iter().peekable();
        let mut of_cell = |place: usize| {
            let [mut from, to] = [-0.5, 0.5].map(|half| scale.at(place as f64 + half));
            let mut parts = vec![];
            while let Some((at, acted)) = cases.next_if(|(at, _)| *at < to) {
                if *at > from {
                    parts.push((at - from, likely(agreeing)));
                    from = *at;
                }
                agreeing += if *acted == turned { -1.0 } else { 1.0 };
            }
            parts.push((to - from, likely(agreeing)));
            let top = parts.iter().map(|(_, log)| *log).fold(f64::MIN, f64::max);
            top + parts.iter().map(|(long, log)| long / scale.step * (log - top).exp()).sum::<f64>().ln()
        };
        (0..places()).map(&mut of_cell).collect()
    }

    /// The logarithm of how likely the decisions are where everybody is acted upon with the same chance, whatever the risk, and any
    /// chance is as likely: $k!\,(n-k)!/(n+1)!$.
    fn by_chance(&self) -> f64 {
        let [acted, not] =
            self.counts.iter().fold([0.0, 0.0], |[a, b], (_, [acted, not])| [a + acted, b + not]);
        libm::lgamma(acted + 1.0) + libm::lgamma(not + 1.0) - libm::lgamma(acted + not + 2.0)
    }
}

/// The logarithm of the mean likelihood.
fn evidence(logs: &[Vec<f64>]) -> f64 {
    let top = logs.iter().flatten().copied().fold(f64::MIN, f64::max);
    let sum: f64 = logs.iter().flatten().map(|log| (log - top).exp()).sum();
    top + (sum / logs.iter().map(Vec::len).sum::<usize>() as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Gap;

    /// Against the likelihood written plainly, case by case.
    #[test]
    fn the_tables_hold_the_noise_of_comparisons() {
        let cases = [(0.03, false), (0.2, true), (0.21, false), (0.6, true), (0.99, true), (0.01, false)];
        let logs = Tally::of(&cases).logs(false);
        for (n, [slope, lapse]) in noises().into_iter().enumerate().take(SLOPES * LAPSES) {
            let noise = NoiseModel::Relative { slope, lapse };
            for place in [0, 250, 400, 533, 800] {
                let ratio = Scale::full().at(place as f64).exp();
                let plain: f64 = (cases.iter())
                    .map(|(risk, acted)| {
                        // Acting gains what is found, and loses what was well.
                        let parts = [ratio * risk, risk - 1.0];
                        let act = noise.chance_of_first(Gap::new(parts.iter().sum(), parts.into_iter()));
                        if *acted { act } else { 1.0 - act }.ln()
                    })
                    .sum();
                // Risks are rounded to an eighth of a step of the grid.
                let rounding = 1e-6 + cases.len() as f64 * slope * Scale::full().step / 8.0;
                assert!((logs[n][CELLS * place] - plain).abs() < rounding, "{slope} {lapse} {place}");
            }
        }
    }

    /// Against the likelihood at many ratios of a cell, and turned round against cases that are.
    #[test]
    fn a_written_rule_is_averaged_over_each_cell() {
        let cases: Vec<(f64, bool)> = (1..40).map(|n| (f64::from(n) / 41.0, n % 5 > 1)).collect();
        let (found, scale) = (Tally::of(&cases).by_rule(0.1, false), scale());
        for place in [0, 2400, 2968, 3200, 3683, 6400] {
            let at = |n: usize| scale.at(place as f64 + (n as f64 + 0.5) / 5000.0 - 0.5).exp();
            let likely = |ratio: f64| -> f64 {
                let right = |(risk, acted): &(f64, bool)| (ratio * risk >= 1.0 - risk) == *acted;
                cases.iter().map(|case| if right(case) { 0.9 } else { 0.1 }).product()
            };
            let mean = (0..5000).map(|n| likely(at(n))).sum::<f64>() / 5000.0;
            assert!((found[place] - mean.ln()).abs() < 1e-2, "{place}: {} {}", found[place], mean.ln());
        }
        let turned: Vec<(f64, bool)> = cases.iter().map(|(risk, acted)| (*risk, !acted)).collect();
        assert_eq!(Tally::of(&turned).by_rule(0.1, true), found);
    }

    #[test]
    fn decisions_that_have_nothing_to_do_with_the_risk_are_said_to() {
        let risk = |n: usize| (n as f64 * 0.618).fract();
        let cases = |acts: fn(usize, f64) -> bool| -> Vec<(f64, bool)> {
            (0..120).map(|n| (risk(n), acts(n, risk(n)))).collect()
        };
        let tendency = |cases: &[(f64, bool)]| Decisions::new(cases).unwrap().tendency();
        assert_eq!(tendency(&cases(|n, _| n % 3 == 0)), Tendency::None);
        assert_eq!(tendency(&cases(|_, risk| risk > 0.3)), Tendency::Follows);
        assert_eq!(tendency(&cases(|_, risk| risk < 0.3)), Tendency::Reversed);
        // Two decisions tell nothing of that.
        assert_eq!(tendency(&[(0.2, false), (0.6, true)]), Tendency::None);
    }

    /// Where all risks lie to one side of the threshold, it is bounded on that side alone.
    #[test]
    fn risks_away_from_the_threshold_bound_the_ratio_on_one_side() {
        let cases: Vec<(f64, bool)> = (0..60).map(|n| (0.3 + 0.01 * f64::from(n), true)).collect();
        let found = Decisions::new(&cases).unwrap();
        let [low, high] = found.interval();
        // All acted upon from 30 % on: a ratio of 7/3 or more, give or take how people waver; one in forty of those that are left,
        // even in the logarithm up to the largest, is below 7/3 (200 / (7/3))^(1/40) = 2.6.
        assert!(low.is_some_and(|low| (0.8..3.0).contains(&low)) && high.is_none(), "{low:?} {high:?}");
        let metric = found.metric().unwrap();
        assert_eq!(metric.interval().unwrap().high(), None);
        assert!(
            Decisions::new(&[(1.2, true)]).unwrap_err().to_string().contains("the risk of decision 1 is 1.2")
        );
        assert!(Decisions::new(&[]).is_err());
    }
}
