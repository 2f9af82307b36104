//! What is uncertain about a threshold, and what that comes to.

use super::bayes::bayes;
use super::corners::Corners;
use super::groups::{BUCKETS, GroupBest};
use super::requirement::Requirement;
use super::sweep::Judge;
use super::tally::Tally;
use crate::decide::{Spread, check_level};
use crate::error::{Result, check};
use crate::metric::Metric;
use crate::population::{Cell, Coarse, Profile, accepts, resampling};
use serde::Serialize;
use std::sync::OnceLock;

/// Buckets of large profiles in draws of a threshold per group: every draw is a search through all of them.
const GROUP_BUCKETS: usize = 1 << 12;
/// A tiny sample may lose a class when it is drawn again; so often it is tried anew.
const TRIES: u64 = 100;

/// What is uncertain: the metric, the sample, or both.
#[derive(Debug, Clone, Copy)]
pub struct Bootstrap<'a> {
    /// Draws of the metric, from its posterior.
    pub metric_draws: &'a [Metric],
    /// How often the rows are drawn again.
    pub resamples: usize,
    /// The same seed gives the same resamplings.
    pub seed: u64,
    /// The probability intervals have.
    pub level: f64,
    /// Tables that were drawn before; then `resamples` and `seed` are theirs. What a linear metric gains on rows left out is not
    /// told with them, and metrics that are not linear, or with requirements, have tables drawn for them.
    pub redrawn: Option<&'a Redrawn>,
    /// Who makes the draws. Each is made by its number alone, so that threads come to what one comes to.
    pub run: Run,
}

/// Does a number of jobs, each once and in any order.
pub type Run = fn(usize, &(dyn Fn(usize) + Sync));

/// One job after the other.
pub fn in_turn(jobs: usize, job: &(dyn Fn(usize) + Sync)) {
    (0..jobs).for_each(job);
}

impl Default for Bootstrap<'_> {
    fn default() -> Self {
        let level = crate::decide::rank::LEVEL;
        Self { metric_draws: &[], resamples: 0, seed: 0, level, redrawn: None, run: in_turn }
    }
}

impl<'a> Bootstrap<'a> {
    /// The metrics that may be meant: the draws, or where there are none the metric itself.
    fn metrics(&self, metric: &'a Metric) -> impl Iterator<Item = &'a Metric> {
        let alone = self.metric_draws.is_empty().then_some(metric);
        alone.into_iter().chain(self.metric_draws)
    }
}

/// Whether a metric is linear in two classes and dislikes both errors.
fn is_linear(metric: &Metric) -> bool {
    metric.error_costs().is_some_and(|costs| costs.iter().all(|cost| *cost >= 0.0))
}

/// Tables that might have been: the rows drawn again, kept for whoever asks about the same table with another metric.
#[derive(Debug, Clone)]
pub struct Redrawn {
    seed: u64,
    tables: Vec<Corners>,
}

impl Profile {
    /// Draws the rows again so many times, for metrics to come.
    ///
    /// ```
    /// use equipoise::{Metric, decide::threshold::Bootstrap, population::Profile};
    /// let profile = Profile::from_rows(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1], None, None)?;
    /// let redrawn = profile.redrawn(50, 1);
    /// let doubt = Bootstrap { redrawn: Some(&redrawn), ..Bootstrap::default() };
    /// let advice = profile.advise(&Metric::accuracy(2)?, &[], doubt)?;
    /// assert_eq!(advice.uncertain.unwrap().draws, 50);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn redrawn(&self, resamples: usize, seed: u64) -> Redrawn {
        let rows = Drawn { fine: self, coarse: None };
        let table = |n: usize| Corners::of(self, &rows.draw_again(seed, n as u64).0);
        Redrawn { seed, tables: (0..resamples).map(table).collect() }
    }
}

/// The interval of a measured threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Uncertain {
    /// Where the thresholds of the draws lie.
    pub interval: Spread,
    /// Draws with a threshold.
    pub draws: usize,
    /// Draws without one: no threshold met the requirements, or the metric had no value.
    pub without: usize,
}

impl Uncertain {
    fn of(thresholds: &[f64], draws: usize, level: f64) -> Option<Self> {
        let interval = Spread::of(thresholds, level)?;
        Some(Self { interval, draws: thresholds.len(), without: draws - thresholds.len() })
    }
}

/// How much better a measured threshold does than that for calibrated scores, on rows it was not chosen on.
///
/// In every resampling the threshold is chosen on the rows that were drawn and judged on those that were not, about
/// three in eight: a threshold that fits the noise of its rows gains nothing there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gain {
    /// Where the gains of the draws lie, in units of the metric; above 0 is better, for a cost too.
    pub interval: Spread,
    /// The share of the draws with a gain above 0.
    pub better: f64,
}

impl Gain {
    fn of(gains: &[f64], level: f64) -> Option<Self> {
        let better = gains.iter().filter(|&&gain| gain > 0.0).count() as f64 / gains.len() as f64;
        Spread::of(gains, level).map(|interval| Self { interval, better })
    }
}

/// One table that might have been, and one metric that might be meant.
struct Draw<'a> {
    /// What the rows of each cell weigh that were drawn.
    drawn: &'a [f64],
    /// What those weigh that were not; empty without resamplings.
    left: &'a [f64],
    judge: Judge<'a>,
}

/// What the draws are made of: the profile itself, or buckets of its scores where it has very many cells.
struct Drawn<'a> {
    fine: &'a Profile,
    coarse: Option<Coarse>,
}

impl Profile {
    /// The interval of the best threshold, and its gain over that of theory where rows are left to judge it.
    pub(super) fn uncertain_and_gain(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        doubt: Bootstrap,
    ) -> Result<(Option<Uncertain>, Option<Gain>)> {
        let linear = requirements.is_empty() && doubt.metrics(metric).all(is_linear);
        if let (Some(redrawn), true) = (doubt.redrawn, linear) {
            return Ok((self.uncertain_by(redrawn, metric, doubt)?, None));
        }
        let doubt = match doubt.redrawn {
            Some(Redrawn { seed, tables }) => Bootstrap { resamples: tables.len(), seed: *seed, ..doubt },
            None => doubt,
        };
        let prior = self.positive_prior();
        let rows = Drawn::of(self, metric, doubt, prior, BUCKETS);
        let draws = rows.each(metric, requirements, doubt, |mut draw| {
            let (accepted, rating) = rows.profile().sweep(draw.drawn, &mut draw.judge)?;
            if rating.violation > 0.0 {
                return None;
            }
            let threshold = self.cut_after(rows.fine_cells(accepted)).threshold;
            Some((threshold, rows.gain(&mut draw, |_| threshold, prior)))
        })?;
        let thresholds: Vec<f64> = draws.iter().flatten().map(|&(threshold, _)| threshold).collect();
        let gains: Vec<f64> = draws.iter().flatten().filter_map(|&(_, gain)| gain).collect();
        Ok((Uncertain::of(&thresholds, draws.len(), doubt.level), Gain::of(&gains, doubt.level)))
    }

    /// The interval of the best threshold on tables that were drawn before.
    fn uncertain_by(
        &self,
        redrawn: &Redrawn,
        metric: &Metric,
        doubt: Bootstrap,
    ) -> Result<Option<Uncertain>> {
        Drawn { fine: self, coarse: None }.check(metric, &[], doubt)?;
        let metrics: Vec<&Metric> = doubt.metrics(metric).collect();
        let (tables, count) = (&redrawn.tables, doubt.metric_draws.len().max(redrawn.tables.len()));
        let of = |n: usize| {
            let accepted = tables.get(n % tables.len().max(1))?.best(metrics[n % metrics.len()])?;
            Some(self.cut_after(accepted).threshold)
        };
        let thresholds: Vec<f64> = (0..count).filter_map(of).collect();
        Ok(Uncertain::of(&thresholds, count, doubt.level))
    }

    /// The intervals of the thresholds of all groups, and their gain over that of theory.
    ///
    /// In every draw the search starts from `best` and moves one group at a time.
    pub(super) fn uncertain_and_gain_per_group(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        best: &GroupBest,
        doubt: Bootstrap,
    ) -> Result<(Option<Vec<Uncertain>>, Option<Gain>)> {
        check::length("cuts", best.cuts.len(), self.groups())?;
        let prior = self.positive_prior();
        let rows = Drawn::of(self, metric, doubt, prior, GROUP_BUCKETS);
        let draws = rows.each(metric, requirements, doubt, |mut draw| {
            let cuts = rows.profile().improve(best, draw.drawn, &mut draw.judge)?;
            let own = |cell: &Cell| cuts[usize::from(cell.group)].threshold;
            let gain = rows.gain(&mut draw, own, prior);
            Some((cuts, gain))
        })?;
        let uncertain = (0..self.groups()).map(|group| {
            let found: Vec<f64> = draws.iter().flatten().map(|(cuts, _)| cuts[group].threshold).collect();
            Uncertain::of(&found, draws.len(), doubt.level)
        });
        let gains: Vec<f64> = draws.iter().flatten().filter_map(|&(_, gain)| gain).collect();
        Ok((uncertain.collect(), Gain::of(&gains, doubt.level)))
    }
}

impl<'a> Drawn<'a> {
    /// Buckets end at the Bayes thresholds of all metrics that might be meant, so that rules there are judged exactly.
    fn of(fine: &'a Profile, metric: &Metric, doubt: Bootstrap, prior: f64, buckets: usize) -> Self {
        let at = |metric: &Metric| bayes(metric, prior, &[], crate::decide::rank::LEVEL).ok();
        let coarse = (fine.cells().len() > BUCKETS).then(|| {
            let thresholds = std::iter::once(metric).chain(doubt.metric_draws).filter_map(at);
            fine.coarse(buckets, &thresholds.map(|bayes| bayes.threshold).collect::<Vec<_>>())
        });
        Self { fine, coarse }
    }

    fn profile(&self) -> &Profile {
        self.coarse.as_ref().map_or(self.fine, |coarse| &coarse.profile)
    }

    /// How many cells of the fine profile so many cells of this one are.
    fn fine_cells(&self, accepted: usize) -> usize {
        match (&self.coarse, accepted.checked_sub(1)) {
            (Some(coarse), Some(last)) => coarse.ends[last],
            _ => accepted,
        }
    }

    /// How much better a rule is than the Bayes threshold of the metric drawn, on the rows the draw left out; `None`
    /// where either has no value.
    fn gain(&self, draw: &mut Draw, threshold: impl Fn(&Cell) -> f64, prior: f64) -> Option<f64> {
        if draw.left.is_empty() {
            return None;
        }
        let other = bayes(draw.judge.metric, prior, &[], crate::decide::rank::LEVEL).ok()?.threshold;
        let sign = draw.judge.metric.sense().sign();
        let mut value =
            |threshold: &dyn Fn(&Cell) -> f64| sign * draw.judge.value(&self.left_out(draw.left, threshold));
        let gain = value(&threshold) - value(&|_| other);
        gain.is_finite().then_some(gain)
    }

    /// The tally of a rule over the rows that were not drawn.
    fn left_out(&self, left: &[f64], threshold: &dyn Fn(&Cell) -> f64) -> Tally {
        let mut tally = self.profile().tally(left);
        for (cell, mass) in self.profile().cells().iter().zip(left) {
            if accepts(cell.score, threshold(cell)) {
                tally.accept(cell, *mass);
            }
        }
        tally
    }

    fn check(&self, metric: &Metric, requirements: &[Requirement], doubt: Bootstrap) -> Result<()> {
        check_level(doubt.level)?;
        self.fine.check(metric, requirements)?;
        let alike = |draw: &Metric| metric.view().expect("the metric", draw.view(), "a draw of it").map(drop);
        doubt.metric_draws.iter().try_for_each(alike)
    }

    /// What is made of every draw, in their order whoever makes them when.
    fn each<T: Send + Sync>(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
        doubt: Bootstrap,
        act: impl Fn(Draw) -> T + Sync,
    ) -> Result<Vec<T>> {
        self.check(metric, requirements, doubt)?;
        let (wanted, resamples) = (doubt.metric_draws, doubt.resamples);
        let all = self.profile().masses();
        let made: Vec<OnceLock<T>> = (0..wanted.len().max(resamples)).map(|_| OnceLock::new()).collect();
        (doubt.run)(made.len(), &|n| {
            let judge =
                Judge::new(if wanted.is_empty() { metric } else { &wanted[n % wanted.len()] }, requirements);
            made[n].get_or_init(|| match resamples {
                0 => act(Draw { drawn: &all, left: &[], judge }),
                _ => {
                    let (drawn, left) = self.draw_again(doubt.seed, (n % resamples) as u64);
                    act(Draw { drawn: &drawn, left: &left, judge })
                }
            });
        });
        Ok(made.into_iter().map(|cell| cell.into_inner().expect("every job is done")).collect())
    }

    /// What the rows of each cell weigh that are drawn, and those that are not. Rows are numbered by falling score: the same
    /// wherever the profile was counted.
    fn draw_again(&self, seed: u64, number: u64) -> (Vec<f64>, Vec<f64>) {
        let cells = self.profile().cells().len();
        let (mut drawn, mut left) = (vec![0.0; cells], vec![0.0; cells]);
        for attempt in 0..TRIES {
            let times = resampling(seed, number, attempt);
            let mut key = 0;
            drawn.fill(0.0);
            left.fill(0.0);
            for (n, cell) in self.fine.cells().iter().enumerate() {
                let (mut taken, mut none) = (0.0, 0.0);
                for _ in 0..cell.rows {
                    let copies = times(key);
                    taken += copies;
                    none += f64::from(u8::from(copies == 0.0));
                    key += 1;
                }
                let at = self.coarse.as_ref().map_or(n, |coarse| coarse.of[n] as usize);
                drawn[at] += cell.weight * taken;
                left[at] += cell.weight * none;
            }
            if self.profile().tally(&drawn).overall_totals().iter().all(|&total| total > 0.0) {
                break;
            }
        }
        (drawn, left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores that all differ, in two groups.
    fn rows(count: usize) -> Profile {
        let score = |n: usize| ((n * 7919) % count) as f64 / count as f64;
        let scores: Vec<f64> = (0..count).map(score).collect();
        let truth: Vec<u8> =
            scores.iter().enumerate().map(|(n, s)| u8::from(s * s > ((n * 31) % 97) as f64 / 97.0)).collect();
        let groups: Vec<u16> = (0..count).map(|n| (n % 5 == 0).into()).collect();
        Profile::from_rows(&scores, &truth, None, Some((&groups, 2))).unwrap()
    }

    #[test]
    fn buckets_hold_every_row_once_and_end_where_they_must() {
        let fine = rows(9_973);
        let coarse = fine.coarse(100, &[0.125, 0.5]);
        assert!((100..=104).contains(&coarse.profile.cells().chunk_by(|a, b| a.score == b.score).count()));
        assert_eq!(coarse.profile.rows(), fine.rows());
        for at in [0.125, 0.5] {
            assert_eq!(coarse.profile.confusions_at(at).unwrap(), fine.confusions_at(at).unwrap());
        }
        for (n, &end) in coarse.ends.iter().enumerate() {
            let lowest = fine.cells()[end - 1].score;
            assert_eq!(coarse.profile.cells()[n].score, lowest);
            assert!(fine.cells().get(end).is_none_or(|next| next.score < lowest));
        }
    }

    #[test]
    fn draws_of_buckets_are_those_of_the_rows() {
        let fine = rows(9_973);
        let (metric, doubt) =
            (Metric::from_cost_ratio(4.0).unwrap(), Bootstrap { resamples: 30, ..Bootstrap::default() });
        let of = |coarse: Option<Coarse>| {
            let rows = Drawn { fine: &fine, coarse };
            let act = |mut draw: Draw| {
                let (accepted, _) = rows.profile().sweep(draw.drawn, &mut draw.judge).unwrap();
                let cut = fine.cut_after(rows.fine_cells(accepted)).threshold;
                (cut, rows.gain(&mut draw, |_| cut, fine.positive_prior()).unwrap())
            };
            rows.each(&metric, &[], doubt, act).unwrap().into_iter().unzip::<f64, f64, Vec<_>, Vec<_>>()
        };
        let (exact, rough) = (of(None), of(Some(fine.coarse(1_000, &[0.2]))));
        let off: Vec<f64> = exact.1.iter().zip(&rough.1).map(|(a, b)| (a - b).abs()).collect();
        // A bucket is a thousandth of the rows; what a rule gains hardly changes with so few. In a draw where two cuts are as
        // good as each other, buckets may decide for the other one, which gains otherwise on the rows left out.
        let mean = off.iter().sum::<f64>() / off.len() as f64;
        assert!(mean < 2e-3 && off.iter().all(|off| *off < 1e-2), "{mean} {off:?}");
        let middle = |cuts: &[f64]| crate::Spread::of(cuts, 0.5).unwrap();
        assert!((middle(&exact.0).low - middle(&rough.0).low).abs() < 0.03);
    }

    /// Against trying every threshold for every draw.
    #[test]
    fn tables_that_are_kept_give_the_interval_of_every_threshold_tried() {
        let fine = rows(997);
        let metrics: Vec<Metric> =
            (1..70).map(|n| Metric::from_cost_ratio(f64::from(n) / 5.0).unwrap()).collect();
        for (metric_draws, resamples) in [(&metrics[..], 30), (&metrics[..20], 30), (&[], 30)] {
            let doubt = Bootstrap { metric_draws, resamples, seed: 3, ..Bootstrap::default() };
            let (tried, gain) = fine.uncertain_and_gain(&metrics[9], &[], doubt).unwrap();
            assert!(gain.is_some());
            let redrawn = fine.redrawn(resamples, 3);
            let kept = Bootstrap { metric_draws, redrawn: Some(&redrawn), ..Bootstrap::default() };
            let (found, gain) = fine.uncertain_and_gain(&metrics[9], &[], kept).unwrap();
            assert!(gain.is_none());
            let (found, tried) = (found.unwrap(), tried.unwrap());
            let ends = |u: Uncertain| [u.interval.low, u.interval.high];
            for (one, other) in ends(found).into_iter().zip(ends(tried)) {
                assert!((one - other).abs() < 1e-12, "{found:?} {tried:?}");
            }
            assert_eq!((found.draws, found.without), (tried.draws, tried.without));
        }
        // What is not linear has its tables drawn as before, by the same seed.
        let jaccard = Metric::jaccard().unwrap();
        let (redrawn, drawn) =
            (fine.redrawn(30, 3), Bootstrap { resamples: 30, seed: 3, ..Bootstrap::default() });
        let kept = Bootstrap { redrawn: Some(&redrawn), ..Bootstrap::default() };
        let found = |doubt| fine.uncertain_and_gain(&jaccard, &[], doubt).unwrap();
        assert_eq!(found(kept), found(drawn));
    }

    /// Buckets of two groups have up to four cells each, more than a profile may have before it is cut into buckets: the search
    /// went on cutting without an end.
    #[test]
    fn groups_of_a_large_profile_get_the_thresholds_each_would_get_alone() {
        let all = rows(70_001);
        let metric = Metric::from_cost_ratio(4.0).unwrap();
        let best = all.best_per_group(&metric, &[]).unwrap().found().unwrap();
        // A utility that is a sum over rows: each group is best by itself.
        for (group, cut) in best.cuts.iter().enumerate() {
            let own: Vec<Cell> =
                all.cells().iter().filter(|cell| usize::from(cell.group) == group).copied().collect();
            let alone =
                Profile::new(own.into_iter().map(|cell| Cell { group: 0, ..cell }).collect(), 1, all.total());
            let expected = alone.best(&metric, &[]).unwrap().found().unwrap();
            assert_eq!(cut.accepted, expected.cut.accepted, "group {group}");
        }
        let doubt = Bootstrap { resamples: 10, ..Bootstrap::default() };
        let advice = all.advise_per_group(&metric, &[], doubt).unwrap();
        assert!(advice.uncertain.is_some_and(|groups| groups.iter().all(|group| group.draws == 10)));
    }
}
