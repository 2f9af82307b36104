//! Pairs that check rather than elicit, and which pairs may be shown at all.
//!
//! Evaluation pairs and dominated ones look like the questions that elicit. Around an operating point they differ in two rows;
//! of two classes every system keeps at least half of the best Youden index; on a ball they differ in a few kinds of mistake.

use super::Design;
use crate::belief::Belief;
use crate::groups::{Differs, Shares};
use crate::shown::{Dominance, Shown, TOTALS};
use equipoise::space::{Binary, OperatingPoint, Space as _};
use equipoise::{Point, Query};
use rand::seq::SliceRandom as _;
use rand::{Rng, RngExt as _};

/// Evaluation questions around an operating point are even to somebody with one of these log ratios of two weights: most of
/// what people hold.
const LOG_RATES: std::ops::Range<f64> = -2.0..2.0;

/// Attributes: by how much of their range two candidates differ in a trade, and where one is worse in both.
const TRADED: std::ops::Range<f64> = 0.15..0.8;
const WORSE: std::ops::Range<f64> = 0.25..0.6;

/// Several classes: a question on a ball differs in at most so many kinds of mistake (UX-09).
pub(super) const READABLE: usize = 3;

/// Tries before a kind of question is given up on.
const TRIES: usize = 200;

/// Pairs that are looked at to find out of how many people all of them can be shown.
const LOOKED_AT: usize = 60;

/// The logarithm of a cost ratio beyond which every boundary has ended.
const FAR: f64 = 60.0;

/// Every system of two classes keeps this share of the best Youden index there is.
pub(crate) const PLAUSIBLE: f64 = 0.5;

/// The two systems of an evaluation question are this share of what is plausible apart: far enough to be told apart, near enough
/// that some trades are plainly good or bad to most people.
const APART: std::ops::Range<f64> = 0.25..0.6;

/// Where questions come from.
#[derive(Debug, Clone)]
pub(super) enum Engine {
    Ratio {
        space: Binary,
        /// The only systems that may be asked about, where nothing is smoothed.
        corners: Option<Vec<[f64; 2]>>,
    },
    Weights {
        centre: Point,
        radius: f64,
    },
    /// The plan has the operating point.
    Around,
    /// The frame has the candidates.
    Choice,
}

/// The part of a two-class boundary that keeps half of the best Youden index.
struct Plausible<'a> {
    space: &'a Binary,
    /// The logarithms of the cost ratios at its ends.
    ends: [f64; 2],
    best: f64,
}

impl<'a> Plausible<'a> {
    fn of(space: &'a Binary) -> Self {
        let prior = space.positive_prior();
        let middle = ((1.0 - prior) / prior).ln();
        let made = Self { space, ends: [middle; 2], best: 0.0 };
        let best = made.youden(&made.at(middle));
        let end = |far: f64| {
            let (mut near, mut far) = (middle, far);
            for _ in 0..60 {
                let half = 0.5 * (near + far);
                if made.youden(&made.at(half)) >= PLAUSIBLE * best { near = half } else { far = half }
            }
            near
        };
        Self { ends: [end(-FAR), end(FAR)], best, ..made }
    }

    /// The best classifier for the logarithm of a cost ratio.
    fn at(&self, log_ratio: f64) -> Point {
        self.space.at_angle((-log_ratio).exp().atan()).to_vec()
    }

    /// How much more often it is right about each class than chance, summed.
    fn youden(&self, point: &[f64]) -> f64 {
        let prior = self.space.positive_prior();
        point[0] / prior + point[1] / (1.0 - prior) - 1.0
    }

    /// Two systems of the boundary, neither better throughout.
    fn pair(&self, random: &mut impl Rng) -> Query {
        let [low, high] = self.ends;
        let apart = random.random_range(APART);
        let first = low + (1.0 - apart) * (high - low) * random.random::<f64>();
        Query::new(self.at(first + apart * (high - low)), self.at(first))
    }

    /// Two systems of which the first is better in both respects.
    fn better_and_worse(&self, random: &mut impl Rng) -> Query {
        let [low, high] = self.ends;
        // Nearer to the middle, so that there is room to be worse.
        let better = self.at(low + (high - low) * random.random_range(0.25..0.75));
        let room = 1.0 - PLAUSIBLE * self.best / self.youden(&better);
        let back = room * random.random_range(0.6..0.95);
        let worse = better.iter().zip(self.space.centre()).map(|(x, c)| x + back * (c - x)).collect();
        Query::new(better, worse)
    }
}

impl Design {
    /// Out of how many people nine of ten pairs can be read: both rows differ by a few, and neither is better throughout
    /// unless it is.
    pub(super) fn one_total(&self) -> u64 {
        if self.is_choice() {
            return 0;
        }
        let mut random = crate::schedule::draws(self.study.seed, "total", 0);
        let first: Vec<Query> = self.belief().questions(self.study.seed).take(LOOKED_AT).collect();
        let drawn = (0..LOOKED_AT).filter_map(|number| self.pair(number, &mut random));
        let pairs: Vec<Query> = first.into_iter().chain(drawn.collect::<Vec<_>>()).collect();
        let readable = |total: &u64| {
            let reads = |query: &&Query| {
                let shown = self.frame.show_out_of(query, *total);
                // One ratio is asked about again and again, and told apart by ever smaller differences.
                let alike = self.binary().is_none() || self.frame.trades_alike(query, &shown);
                alike && self.frame.is_readable(query, &shown)
            };
            10 * pairs.iter().filter(reads).count() >= 9 * pairs.len()
        };
        let usual = &TOTALS[..3];
        let enough = usual.iter().copied().filter(|total| self.frame.serves(*total)).find(readable);
        enough.unwrap_or(usual[usual.len() - 1])
    }

    /// Two classes: pairs around the ratios that are thought possible, for when those that tell most have been asked or cannot
    /// be read out of so few people: far apart first.
    pub(crate) fn further(&self, belief: &Belief) -> Vec<Query> {
        let Engine::Ratio { space, .. } = &self.engine else { return vec![] };
        let plausible = Plausible::of(space);
        let [low, high] = plausible.ends;
        let at = |log_ratio: f64| plausible.at(log_ratio.clamp(low, high));
        let middles =
            [0.5, 0.3, 0.7, 0.1, 0.9].into_iter().filter_map(|share| Some(belief.quantile(share)?.ln()));
        let middles: Vec<f64> = middles.collect();
        let pair =
            |half: f64| middles.iter().map(move |middle| (middle + half, middle - half)).collect::<Vec<_>>();
        let halves = [0.5, 0.4, 0.3, 0.2, 0.15, 0.1].map(|share| share * (high - low));
        let ends = halves.into_iter().flat_map(pair);
        ends.map(|(one, other)| Query::new(at(one), at(other))).collect()
    }

    /// The least plausible Youden index of a system, of two classes; `None` of others.
    pub fn least_youden(&self) -> Option<f64> {
        match &self.engine {
            Engine::Ratio { space, .. } => Some(PLAUSIBLE * Plausible::of(space).best),
            _ => None,
        }
    }

    /// The pair as it may be asked: of systems that are there, where nothing is smoothed. `None` if it is one system twice.
    pub(crate) fn permitted(&self, query: Query) -> Option<Query> {
        let Engine::Ratio { corners: Some(corners), .. } = &self.engine else { return Some(query) };
        let nearest = |point: &[f64]| {
            let off = |corner: &&[f64; 2]| (corner[0] - point[0]).hypot(corner[1] - point[1]);
            corners.iter().min_by(|a, b| off(a).total_cmp(&off(b))).map(|corner| corner.to_vec())
        };
        let (first, second) = (nearest(&query.first)?, nearest(&query.second)?);
        (first != second).then(|| Query::new(first, second))
    }

    /// A pair that neither system of is better throughout, before it is known how it reads.
    fn pair(&self, number: usize, random: &mut impl Rng) -> Option<Query> {
        match &self.engine {
            Engine::Ratio { space, .. } => self.permitted(Plausible::of(space).pair(random)),
            Engine::Weights { centre, radius } => Some(self.pair_of_weights(centre, *radius, number, random)),
            Engine::Around => {
                let space = self.plan.operating_point()?;
                let trade = random.random_range(0..space.trades());
                let [one, other] = space.traded(trade, random.random_range(LOG_RATES))?;
                Some(if random.random() { Query::new(one, other) } else { Query::new(other, one) })
            }
            // Candidates themselves are what is decided between; trades of two attributes can be read at a glance.
            Engine::Choice if number.is_multiple_of(2) => self.two_candidates(random),
            Engine::Choice => self.trade_of_attributes(random),
        }
    }

    /// Two candidates that are there.
    fn two_candidates(&self, random: &mut impl Rng) -> Option<Query> {
        let members = self.frame.candidates()?.members();
        let first = random.random_range(0..members.len());
        let second = (first + random.random_range(1..members.len())) % members.len();
        Some(Query::new(members[first].point.clone(), members[second].point.clone()))
    }

    /// Two imagined candidates that are alike but for two attributes, each better in one.
    fn trade_of_attributes(&self, random: &mut impl Rng) -> Option<Query> {
        let (first, places) = self.somebody(random)?;
        let mut both = [first.clone(), first];
        for (better, place) in places.into_iter().enumerate() {
            let by = random.random_range(TRADED);
            let low = random.random_range(0.0..1.0 - by);
            both[better][place] = low + by;
            both[1 - better][place] = low;
        }
        self.imagined(both)
    }

    /// A candidate's worths, attribute by attribute, and two attributes.
    fn somebody(&self, random: &mut impl Rng) -> Option<(Vec<f64>, [usize; 2])> {
        let candidates = self.frame.candidates()?;
        let member = &candidates.members()[random.random_range(0..candidates.members().len())];
        let worths: Vec<f64> =
            candidates.attributes().iter().zip(&member.point).map(|(a, x)| a.worth(*x)).collect();
        let i = random.random_range(0..worths.len());
        let j = (i + random.random_range(1..worths.len())) % worths.len();
        Some((worths, [i, j]))
    }

    /// The candidates with these worths; what is worth the same is the same number.
    fn imagined(&self, worths: [Vec<f64>; 2]) -> Option<Query> {
        let candidates = self.frame.candidates()?;
        let [first, second] = candidates.imagined(worths.each_ref().map(Vec::as_slice));
        Some(Query::new(first, second))
    }

    /// A pair to evaluate the metric on: neither better throughout.
    pub(crate) fn evaluation(&self, number: usize, random: &mut impl Rng) -> Option<(Query, Shown)> {
        let wanted = |shown: &Shown| match (&self.engine, Shares::of(&self.study)) {
            // Rounding must not turn a question about gaps into one about both.
            (Engine::Weights { .. }, Some(shares)) => match number % 3 {
                0 => shares.differs(shown) == Differs::Performance,
                1 => shares.differs(shown) == Differs::Gaps,
                _ => true,
            },
            _ => true,
        };
        self.draw(
            random,
            |query, shown| {
                wanted(shown)
                    && self.dominance(shown) == Dominance::Neither
                    && (!self.is_strict() || self.frame.is_readable(query, shown))
            },
            |random| self.pair(number, random),
        )
    }

    /// A pair of which the first is better in every way that differs.
    pub(crate) fn dominated(&self, random: &mut impl Rng) -> Option<(Query, Shown)> {
        // Of rare classes some mistakes may round to the same number; most must not. It must look like any other question:
        // two rows, or on a ball of several classes a few.
        let plain = |query: &Query, shown: &Shown| {
            let (differing, kinds) = (shown.differing(), shown.mistakes().count());
            let enough = match &self.engine {
                Engine::Around | Engine::Ratio { .. } | Engine::Choice => {
                    self.frame.is_readable(query, shown)
                }
                Engine::Weights { .. } if self.few_rows() => (2..=READABLE + 1).contains(&differing),
                Engine::Weights { .. } => 2 * differing > kinds,
            };
            self.dominance(shown) == Dominance::A && enough
        };
        self.draw(random, plain, |random| match &self.engine {
            Engine::Ratio { space, .. } => Some(Plausible::of(space).better_and_worse(random)),
            Engine::Around => {
                let space: &OperatingPoint = self.plan.operating_point()?;
                let trade = random.random_range(0..space.trades());
                let [better, worse] = space.better_and_worse(trade, random.random_range(0.5..1.0))?;
                Some(Query::new(better, worse))
            }
            Engine::Choice => {
                let (mut better, places) = self.somebody(random)?;
                let mut worse = better.clone();
                for place in places {
                    let by = random.random_range(WORSE);
                    better[place] = better[place].max(by);
                    worse[place] = better[place] - by;
                }
                self.imagined([better, worse])
            }
            Engine::Weights { centre, radius } => {
                let better = around(centre, *radius, true, random);
                let back = random.random_range(0.3..0.8);
                let mut worse = better.clone();
                let mut kinds: Vec<usize> = (0..better.len()).collect();
                kinds.shuffle(random);
                kinds.truncate(if self.few_rows() { READABLE } else { better.len() });
                for kind in kinds {
                    worse[kind] += back * (centre[kind] - better[kind]);
                }
                Some(Query::new(better, worse))
            }
        })
    }

    /// Whether every pair has to read well at the one total; on a ball that cannot be had.
    pub(crate) fn is_strict(&self) -> bool {
        !matches!(self.engine, Engine::Weights { .. })
    }

    /// Whether questions are about several classes, and so about a few kinds of mistake at a time.
    fn few_rows(&self) -> bool {
        self.study.task.classes.len() > 2 && self.study.task.groups.is_empty()
    }

    /// Two points of the ball. Of several classes they differ in a few kinds of mistake only, so that they can be read
    /// (UX-09); with groups, in turn, in performance, in gaps, or in both (UX-11).
    fn pair_of_weights(&self, centre: &[f64], radius: f64, number: usize, random: &mut impl Rng) -> Query {
        let (mut first, mut second) =
            (around(centre, radius, false, random), around(centre, radius, false, random));
        match Shares::of(&self.study) {
            None => {
                let mut kinds: Vec<usize> = (0..first.len()).collect();
                kinds.shuffle(random);
                for &kind in kinds.iter().skip(READABLE) {
                    second[kind] = first[kind];
                }
            }
            Some(shares) => {
                let groups = self.study.task.groups.len();
                let kinds = first.len() / groups;
                // Equal rates for all groups: no gap at all.
                let even = |point: &mut Vec<f64>| {
                    for place in kinds..point.len() {
                        point[place] = point[place % kinds];
                    }
                };
                match number % 3 {
                    0 => {
                        even(&mut first);
                        even(&mut second);
                    }
                    1 => {
                        even(&mut first);
                        second = apart(&first, centre, kinds, groups, shares, random);
                    }
                    _ => {}
                }
            }
        }
        Query::new(first, second)
    }

    fn draw<R: Rng>(
        &self,
        random: &mut R,
        fits: impl Fn(&Query, &Shown) -> bool,
        make: impl Fn(&mut R) -> Option<Query>,
    ) -> Option<(Query, Shown)> {
        (0..TRIES).find_map(|_| {
            let query = make(random)?;
            let shown = self.show(&query);
            fits(&query, &shown).then_some((query, shown))
        })
    }
}

/// A point on the ball; `better` keeps to fewer mistakes of every kind.
fn around(centre: &[f64], radius: f64, better: bool, random: &mut impl Rng) -> Point {
    let steps: Vec<f64> = centre
        .iter()
        .map(|_| if better { -random.random_range(0.3..1.0) } else { random.random_range(-1.0..1.0) })
        .collect();
    let length = steps.iter().map(|step: &f64| step * step).sum::<f64>().sqrt().max(1e-9);
    centre.iter().zip(&steps).map(|(c, step)| c + radius * step / length).collect()
}

/// A point with as many mistakes overall, but not for every group: one kind moves from one group to another.
fn apart(
    even: &[f64],
    centre: &[f64],
    kinds: usize,
    groups: usize,
    shares: Shares<'_>,
    random: &mut impl Rng,
) -> Point {
    let mut point = even.to_vec();
    let (kind, from) = (random.random_range(0..kinds), random.random_range(0..groups));
    let to = (from + random.random_range(1..groups.max(2))) % groups;
    // Of each truth the wrong predictions are listed together: k - 1 of them.
    let classes = (1..).find(|k| k * (k - 1) >= kinds).unwrap_or(2);
    let truth = kind / (classes - 1);
    let step = random.random_range(0.1..0.6) * even[kind].min(centre[kind]);
    let [gives, takes] = [from, to].map(|group| shares.of_class(group, truth).max(1e-9));
    point[from * kinds + kind] -= step * (takes / gives).min(1.0);
    point[to * kinds + kind] += step * (gives / takes).min(1.0);
    point
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Study;
    use crate::template::TEMPLATES;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::path::Path;

    #[test]
    fn only_checks_are_better_throughout() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        let mut pairs = 0;
        for template in TEMPLATES {
            let design =
                Design::new(Study::parse(template.text).unwrap(), Path::new("src/templates")).unwrap();
            for number in 0..2_000 {
                let (_, shown) = design.evaluation(number, &mut random).expect("a pair to evaluate on");
                assert_eq!(design.dominance(&shown), Dominance::Neither, "{}", template.name);
                let (_, shown) = design.dominated(&mut random).expect("a dominated pair");
                assert_eq!(design.dominance(&shown), Dominance::A, "{}", template.name);
                pairs += 2;
            }
        }
        println!("{pairs} pairs");
    }
}
