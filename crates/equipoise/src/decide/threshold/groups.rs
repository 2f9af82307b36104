//! A threshold for every group.

use super::requirement::Requirement;
use super::sweep::{Cut, Infeasible, Judge, Optimum, Rating, Reach, as_matrices, cut_between, no_value};
use super::tally::Tally;
use crate::error::Result;
use crate::metric::Metric;
use crate::population::Profile;
use crate::rates::GroupConfusions;
use serde::Serialize;

/// Up to this many combinations of thresholds are all tried.
const EXHAUSTIVE: usize = 1_000_000;
/// Combinations tried in every grid where there are more.
const GRID: usize = 200_000;
/// The same in every draw of an interval.
const DRAWN_GRID: usize = 20_000;
/// Profiles with more cells are searched in so many buckets first.
pub(super) const BUCKETS: usize = 1 << 16;
/// Common thresholds tried as a start, besides the best one.
const STARTS: usize = 9;
/// Rounds of single steps; each round improves the rule, so this is a guard, not a setting.
const ROUNDS: usize = 1000;

/// The best thresholds found, one per group, and what they do together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupBest {
    /// Where to cut in each group.
    pub cuts: Vec<Cut>,
    /// The metric of the whole rule.
    pub value: f64,
    /// The confusion matrices of the groups.
    #[serde(serialize_with = "as_matrices")]
    pub confusions: GroupConfusions,
    /// Whether every combination was tried, so that none does better on the table.
    pub exact: bool,
}

/// The accepted weight of each class in one group, threshold after threshold.
struct Ladder {
    accepted: Vec<[f64; 2]>,
    /// How many rows of the group each step accepts.
    rows: Vec<usize>,
    /// The lowest score each step but the first accepts.
    scores: Vec<f64>,
    /// The highest score of all, if scores stand for buckets of them: then a cut is at a bucket's end.
    top: Option<f64>,
}

impl Profile {
    /// The thresholds, one per group, with the best metric on these rows, among those that meet every requirement.
    ///
    /// Every combination is tried where there are at most a million of them. Otherwise the search starts from the best
    /// common threshold, from other common ones and from a grid of combinations that narrows around its best, moves one
    /// group at a time to the best of all its thresholds, and several groups together within a window, until nothing
    /// improves: never worse than the best common threshold, and no change in a single group does better. Of more than 65,536
    /// thresholds a part is searched like this first, and all of them around what it finds.
    ///
    /// ```
    /// use equipoise::{Metric, population::Profile};
    /// let groups = Some((&[0, 0, 1, 1][..], 2));
    /// let profile = Profile::from_rows(&[0.2, 0.4, 0.6, 0.8], &[0, 1, 0, 1], None, groups)?;
    /// let accuracy = Metric::accuracy(2)?;
    /// let best = profile.best_per_group(&accuracy, &[])?.found().unwrap();
    /// assert!(best.exact && best.value == 1.0); // any single threshold reaches 0.75 at most
    /// assert!((best.cuts[0].threshold - 0.3).abs() < 1e-12 && (best.cuts[1].threshold - 0.7).abs() < 1e-12);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn best_per_group(
        &self,
        metric: &Metric,
        requirements: &[Requirement],
    ) -> Result<Optimum<GroupBest>> {
        self.check(metric, requirements)?;
        let ladders = self.ladders(&self.masses());
        let mut judge = Judge::new(metric, requirements);
        let Some(found) = self.search(&ladders, &mut judge) else { return Err(no_value()) };
        if found.rating.violation > 0.0 {
            let reach = |requirement: &Requirement| self.reach(metric, requirement, &ladders);
            return Ok(Optimum::Infeasible(Infeasible {
                requirements: requirements.iter().map(reach).collect(),
            }));
        }
        let tally = self.at(&ladders, &found.steps);
        let cuts = ladders.iter().zip(&found.steps).map(|(ladder, &step)| ladder.cut(step));
        Ok(Optimum::Found(GroupBest {
            cuts: cuts.collect(),
            value: judge.value(&tally),
            confusions: tally.confusions()?,
            exact: found.exact,
        }))
    }

    fn ladders(&self, masses: &[f64]) -> Vec<Ladder> {
        let top = self.top_of_buckets();
        let start = || Ladder { accepted: vec![[0.0; 2]], rows: vec![0], scores: vec![], top };
        let mut ladders: Vec<Ladder> = (0..self.groups()).map(|_| start()).collect();
        for (cell, mass) in self.cells().iter().zip(masses) {
            let ladder = &mut ladders[usize::from(cell.group)];
            let last = ladder.scores.len();
            let mut accepted = ladder.accepted[last];
            accepted[usize::from(cell.positive)] += mass;
            let rows = ladder.rows[last] + cell.rows as usize;
            if ladder.scores.last() == Some(&cell.score) {
                (ladder.accepted[last], ladder.rows[last]) = (accepted, rows);
            } else {
                ladder.accepted.push(accepted);
                ladder.rows.push(rows);
                ladder.scores.push(cell.score);
            }
        }
        ladders
    }

    fn at(&self, ladders: &[Ladder], steps: &[usize]) -> Tally {
        let mut tally = self.tally(&self.masses());
        for (group, (ladder, &step)) in ladders.iter().zip(steps).enumerate() {
            tally.accepted[group] = ladder.accepted[step];
        }
        tally
    }

    fn search(&self, ladders: &[Ladder], judge: &mut Judge) -> Option<Found> {
        let lengths: Vec<usize> = ladders.iter().map(|ladder| ladder.accepted.len()).collect();
        let combinations = lengths.iter().try_fold(1_usize, |product, &length| product.checked_mul(length));
        let mut tally = self.tally(&self.masses());
        if combinations.is_some_and(|count| count <= EXHAUSTIVE) {
            let all: Vec<Vec<usize>> = lengths.iter().map(|&length| (0..length).collect()).collect();
            let (steps, rating) = every(&all, ladders, &mut tally, judge)?;
            return Some(Found { steps, rating, exact: true });
        }
        let mut starts: Vec<Vec<usize>> = Vec::new();
        // Buckets are searched as they are: several groups have several cells in each.
        let large = self.cells().len() > BUCKETS && self.top_of_buckets().is_none();
        let common = |accepted: usize| {
            let mut rows = vec![0; self.groups()];
            let first = self.cells()[..accepted].iter();
            first.for_each(|cell| rows[usize::from(cell.group)] += cell.rows as usize);
            // Within a run of equal scores this falls back to the run's start.
            let step = |(ladder, rows): (&Ladder, usize)| ladder.rows.partition_point(|&r| r <= rows) - 1;
            ladders.iter().zip(rows).map(step).collect::<Vec<usize>>()
        };
        starts.extend(self.sweep(&self.masses(), judge).map(|(accepted, _)| common(accepted)));
        if large {
            // Few of very many thresholds are worth a closer look: those around the best rule for buckets of scores.
            let coarse = self.coarse(BUCKETS, &[]).profile;
            let rough = coarse.ladders(&coarse.masses());
            let found = coarse.search(&rough, judge);
            let rows = |found: Found| -> Vec<usize> {
                rough.iter().zip(found.steps).map(|(ladder, step)| ladder.rows[step]).collect()
            };
            let step = |(ladder, rows): (&Ladder, usize)| ladder.rows.partition_point(|&r| r <= rows) - 1;
            starts.extend(found.map(|found| ladders.iter().zip(rows(found)).map(step).collect()));
        } else {
            starts.extend((0..=STARTS).map(|n| common(n * self.cells().len() / STARTS)));
            starts.extend(narrowing(&lengths, ladders, &mut tally, judge));
        }
        let mut best: Option<Found> = None;
        for start in starts {
            let Some((steps, rating)) = one_by_one(start, ladders, &mut tally, judge) else { continue };
            if rating.beats(best.as_ref().map(|found| &found.rating)) {
                best = Some(Found { steps, rating, exact: false });
            }
        }
        let (steps, rating) = together(best?.steps, GRID, ladders, &mut tally, judge)?;
        Some(Found { steps, rating, exact: false })
    }

    /// The thresholds that steps from a known rule lead to under other weights; `None` if they meet no requirements.
    pub(super) fn improve(&self, best: &GroupBest, masses: &[f64], judge: &mut Judge) -> Option<Vec<Cut>> {
        let ladders = self.ladders(masses);
        let step = |(ladder, cut): (&Ladder, &Cut)| ladder.rows.partition_point(|&r| r <= cut.accepted) - 1;
        let start = ladders.iter().zip(&best.cuts).map(step).collect();
        let found = together(start, DRAWN_GRID, &ladders, &mut self.tally(masses), judge);
        let (steps, _) = found.filter(|(_, rating)| rating.violation == 0.0)?;
        Some(ladders.iter().zip(&steps).map(|(ladder, &step)| ladder.cut(step)).collect())
    }

    /// What a requirement can reach alone: one that can be met is, others come as near as the search finds.
    fn reach(&self, metric: &Metric, requirement: &Requirement, ladders: &[Ladder]) -> Reach {
        let alone = std::slice::from_ref(requirement);
        let found = self.search(ladders, &mut Judge::new(metric, alone));
        let best = found.and_then(|found| requirement.value(&self.at(ladders, &found.steps)));
        let enough = best.is_some_and(|best| requirement.is_met(best));
        Reach { requirement: requirement.to_string(), best, enough }
    }
}

struct Found {
    steps: Vec<usize>,
    rating: Rating,
    exact: bool,
}

impl Ladder {
    fn cut(&self, step: usize) -> Cut {
        let up_to = step.checked_sub(1).map(|last| self.scores[last]);
        match (self.top, up_to) {
            (Some(_), Some(up_to)) => cut_between(None, Some(up_to), self.rows[step]),
            (Some(top), None) => cut_between(Some(top), None, 0),
            (None, _) => cut_between(self.scores.get(step).copied(), up_to, self.rows[step]),
        }
    }
}

/// The best of all combinations of the given steps.
fn every(
    choices: &[Vec<usize>],
    ladders: &[Ladder],
    tally: &mut Tally,
    judge: &mut Judge,
) -> Option<(Vec<usize>, Rating)> {
    let mut at = vec![0; choices.len()];
    for (group, ladder) in ladders.iter().enumerate() {
        tally.accepted[group] = ladder.accepted[choices[group][0]];
    }
    let mut best: Option<(Vec<usize>, Rating)> = None;
    loop {
        if let Some(rating) = judge.rate(tally)
            && rating.beats(best.as_ref().map(|(_, rating)| rating))
        {
            best = Some((at.clone(), rating));
        }
        // Counts like an odometer.
        let Some(group) = (0..at.len()).find(|&g| at[g] + 1 < choices[g].len()) else { break };
        at[group] += 1;
        at[..group].fill(0);
        for g in 0..=group {
            tally.accepted[g] = ladders[g].accepted[choices[g][at[g]]];
        }
    }
    best.map(|(at, rating)| (at.iter().zip(choices).map(|(&n, choices)| choices[n]).collect(), rating))
}

/// How many steps of each group a grid of this many combinations can hold.
fn width(combinations: usize, groups: usize) -> usize {
    (combinations as f64).powf(1.0 / groups as f64).floor() as usize
}

/// At most `count` steps from `low` to `high`, both included.
fn spaced(low: usize, high: usize, count: usize) -> Vec<usize> {
    let count = count.min(high - low + 1);
    (0..count).map(|n| low + n * (high - low) / (count - 1).max(1)).collect()
}

/// The best of a grid of combinations, then of a finer one around it, down to single steps.
fn narrowing(
    lengths: &[usize],
    ladders: &[Ladder],
    tally: &mut Tally,
    judge: &mut Judge,
) -> Option<Vec<usize>> {
    let wide = width(GRID, lengths.len());
    if wide < 4 {
        return None;
    }
    let all: Vec<Vec<usize>> = lengths.iter().map(|&length| spaced(0, length - 1, wide)).collect();
    let (mut steps, _) = every(&all, ladders, tally, judge)?;
    let mut gap = lengths.iter().max()?.div_ceil(wide - 1);
    while gap > 1 {
        let near = |(&step, &length): (&usize, &usize)| {
            spaced(step.saturating_sub(gap), (step + gap).min(length - 1), wide)
        };
        let choices: Vec<Vec<usize>> = steps.iter().zip(lengths).map(near).collect();
        (steps, _) = every(&choices, ladders, tally, judge)?;
        gap = (2 * gap).div_ceil(wide - 1).min(gap - 1);
    }
    Some(steps)
}

/// Moves one group at a time, then all within a window, until neither improves.
///
/// Where differences between groups cost, groups must often move together: each alone would open a gap.
fn together(
    steps: Vec<usize>,
    combinations: usize,
    ladders: &[Ladder],
    tally: &mut Tally,
    judge: &mut Judge,
) -> Option<(Vec<usize>, Rating)> {
    let half = width(combinations, ladders.len()).saturating_sub(1) / 2;
    let (mut steps, mut rating) = one_by_one(steps, ladders, tally, judge)?;
    if half == 0 || ladders.len() == 1 {
        return Some((steps, rating));
    }
    for _ in 0..ROUNDS {
        let near = |(&step, ladder): (&usize, &Ladder)| {
            (step.saturating_sub(half)..=(step + half).min(ladder.accepted.len() - 1)).collect()
        };
        let window: Vec<Vec<usize>> = steps.iter().zip(ladders).map(near).collect();
        let (moved, better) = every(&window, ladders, tally, judge)?;
        if !better.beats(Some(&rating)) {
            break;
        }
        (steps, rating) = one_by_one(moved, ladders, tally, judge)?;
    }
    Some((steps, rating))
}

/// Moves one group at a time to the best of all its thresholds until nothing improves.
fn one_by_one(
    mut steps: Vec<usize>,
    ladders: &[Ladder],
    tally: &mut Tally,
    judge: &mut Judge,
) -> Option<(Vec<usize>, Rating)> {
    for (group, ladder) in ladders.iter().enumerate() {
        tally.accepted[group] = ladder.accepted[steps[group]];
    }
    let mut best = judge.rate(tally);
    for _ in 0..ROUNDS {
        let mut improved = false;
        for (group, ladder) in ladders.iter().enumerate() {
            for (step, &accepted) in ladder.accepted.iter().enumerate() {
                tally.accepted[group] = accepted;
                let Some(rating) = judge.rate(tally) else { continue };
                if rating.beats(best.as_ref()) {
                    (best, steps[group], improved) = (Some(rating), step, true);
                }
            }
            tally.accepted[group] = ladder.accepted[steps[group]];
        }
        if !improved {
            break;
        }
    }
    best.map(|rating| (steps, rating))
}
