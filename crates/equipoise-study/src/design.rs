//! A study that can be run: its file, its query space, and the engine that picks the questions.

use crate::belief::Belief;
use crate::candidates::Models;
use crate::error::{Error, Result};
use crate::groups::{Differs, Shares};
use crate::schedule::FEWEST;
use crate::shown::{Dominance, Frame, Shown};
use crate::study::{Family, QuerySpace, Smooth, Study};
use equipoise::AnyPlan;
use equipoise::ask::NoiseModel;
use equipoise::engine::{Adaptive, Stop};
use equipoise::population::{Confusions as _, Logistic, Population as _, Profile, Score};
use equipoise::space::{Binary, GroupSphere, Polygon, Space as _, Sphere};
use equipoise::{GroupShares, Measure, Point, Query};
use equipoise_data::{Columns, ModelConfusions, Sample, binary_space, read};
use rand::seq::SliceRandom as _;
use rand::{Rng, RngExt as _};
use serde::Serialize;
use std::path::Path;
use std::sync::OnceLock;

/// The cost ratios evaluation questions are about: most of what people hold.
const RATIOS: [f64; 2] = [1.0 / 8.0, 40.0];

/// How far the two systems of an evaluation question lie from the ratio that separates them, as factors: hard, middling
/// and easy ones (RP-06).
const BANDS: [f64; 3] = [1.6, 2.5, 5.0];

/// Several classes: a question differs in at most so many kinds of mistake (UX-09).
const READABLE: usize = 3;

/// Tries before a kind of question is given up on.
const TRIES: usize = 200;

/// A study with all that its file refers to.
#[derive(Debug, Clone)]
pub struct Design {
    study: Study,
    hash: String,
    frame: Frame,
    engine: Engine,
    plan: Adaptive,
    fit: Option<Fit>,
    at_first: OnceLock<Vec<usize>>,
    models: Option<Models>,
    scores: Option<Scores>,
}

/// How well a logistic law describes the boundary of a two-class table (G1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fit {
    /// The root of the mean squared distance between table and law at equal thresholds.
    pub distance: f64,
    /// The largest distance by which the law's boundary leaves what the table allows; questions are pulled inside.
    pub outside: f64,
    /// How many corners the hull of the table has: systems that need no draw between others.
    pub corners: usize,
}

/// A table of scores that questions come from: what thresholds do on it.
#[derive(Debug, Clone)]
pub struct Scores {
    /// Rows by the score of the positive class.
    pub profile: Profile,
    /// What was predicted against what was seen, in ten bins.
    pub reliability: equipoise_data::Reliability,
}

#[derive(Debug, Clone)]
enum Engine {
    Ratio {
        space: Binary,
        /// The only systems that may be asked about, where nothing is smoothed.
        corners: Option<Vec<[f64; 2]>>,
    },
    Weights {
        centre: Point,
        radius: f64,
    },
}

impl Design {
    /// Reads the data files, which are beside the study file in `directory`, and prepares the engine.
    pub fn new(study: Study, directory: &Path) -> Result<Self> {
        let mut files = vec![];
        for file in study.data_files() {
            let path = directory.join(file);
            let bytes = std::fs::read(&path)
                .map_err(|e| Error::Missing(format!("cannot read {}: {e}", path.display())))?;
            files.push(bytes);
        }
        let hash = study.hash(&files);
        let Prepared { engine, plan, frame, fit, scores } = prepare(&study, directory)?;
        let models = Models::read(&study, frame.view(), directory)?;
        Ok(Self { study, hash, frame, engine, plan, fit, at_first: OnceLock::new(), models, scores })
    }

    /// The models to choose from, if the study names any.
    pub fn models(&self) -> Option<&Models> {
        self.models.as_ref()
    }

    /// The scores that questions come from; only of a two-class table.
    pub fn scores(&self) -> Option<&Scores> {
        self.scores.as_ref()
    }

    /// What is believed before the first answer if people err in another way: the slope of the logistic curve, and the share
    /// of answers that have nothing to do with the question.
    pub fn belief_with_noise(&self, slope: f64, lapse: f64) -> Option<Belief> {
        // Lapses are no part of the model for several weights.
        let lapse = if self.plan.is_ratio() { lapse } else { 0.0 };
        let plan = self.plan.clone().answers(NoiseModel::Absolute { slope, lapse }).ok()?;
        Some(plan.start())
    }

    /// The study file.
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// The hash of the study and its data.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// How points are shown.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// How well a logistic law describes the table, if the space is a table of two classes.
    pub fn fit(&self) -> Option<Fit> {
        self.fit
    }

    /// The two-class space, if there are two classes without groups.
    pub fn binary(&self) -> Option<&Binary> {
        match &self.engine {
            Engine::Ratio { space, .. } => Some(space),
            Engine::Weights { .. } => None,
        }
    }

    /// The plan behind the questions, without the checks.
    pub fn plan(&self) -> AnyPlan {
        AnyPlan::Adaptive(self.plan.clone())
    }

    pub(crate) fn adaptive(&self) -> &Adaptive {
        &self.plan
    }

    /// What is believed before the first answer.
    pub fn belief(&self) -> Belief {
        self.plan.start()
    }

    /// The radius of the query ball: of two classes, of the largest disc of possible systems. Noise is told in its units.
    pub fn ball(&self) -> f64 {
        self.plan.unit()
    }

    /// How many more questions would elicit after `asked` of them, for each of some imagined people, in order; `None` where
    /// that cannot be imagined (UX-17).
    pub(crate) fn lengths_left(&self, belief: &Belief, asked: usize, seed: u64) -> Option<Vec<usize>> {
        // A step of a quadratic metric takes too long to imagine hundreds.
        if self.study.family == Family::Quadratic {
            return None;
        }
        let most = self.study.stop.cap.saturating_sub(asked).max(1);
        let least = FEWEST.saturating_sub(asked).clamp(1, most);
        let imagine = |seed| self.plan.lengths_left(belief.as_ref(), seed);
        let lengths = match asked {
            // Before the first answer it is the same for everybody, and everybody arrives at once.
            0 => self.at_first.get_or_init(|| imagine(self.study.seed)).clone(),
            _ => imagine(seed),
        };
        // The engine may think that it is through where the study asks on.
        let lengths = if lengths.is_empty() { vec![least] } else { lengths };
        Some(lengths.into_iter().map(|length| length.clamp(least, most)).collect())
    }

    /// How many questions elicitation takes most people: tells beforehand how long a study is, decides nothing.
    pub(crate) fn expected(&self) -> usize {
        match &self.engine {
            // A little more than half of those need who hold a ratio between 1.6 and 20; beyond, it takes longer.
            Engine::Ratio { .. } => 14.min(self.study.stop.cap),
            Engine::Weights { .. } => self.study.stop.cap,
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

    /// A pair to evaluate the metric on: neither better throughout. `number` picks the band of difficulty.
    pub(crate) fn evaluation(&self, number: usize, random: &mut impl Rng) -> Option<(Query, Shown)> {
        self.draw(
            random,
            |shown| {
                // Rounding must not turn a question about gaps into one about both.
                let family = Shares::of(&self.study).map(|shares| shares.differs(shown));
                let wanted = match (family, number % 3) {
                    (Some(family), 0) => family == Differs::Performance,
                    (Some(family), 1) => family == Differs::Gaps,
                    _ => true,
                };
                wanted && shown.dominance() == Dominance::Neither && shown.people <= 10_000
            },
            |random| match &self.engine {
                Engine::Ratio { space, .. } => {
                    let log = random.random_range(RATIOS[0].ln()..RATIOS[1].ln());
                    let band = BANDS[number % BANDS.len()].ln();
                    let at = |log: f64| space.at_angle((-log).exp().atan()).to_vec();
                    self.permitted(Query::new(at(log + band), at(log - band)))
                }
                Engine::Weights { centre, radius } => {
                    Some(self.pair_of_weights(centre, *radius, number, random))
                }
            },
        )
    }

    /// A pair of which the first is better in every way.
    pub(crate) fn dominated(&self, random: &mut impl Rng) -> Option<(Query, Shown)> {
        // Of rare classes some mistakes may round to the same number; most must not. Of several classes it must look like
        // any other question: a few rows.
        let plain = |shown: &Shown| {
            let (differing, kinds) = (shown.differing(), shown.mistakes().count());
            let enough = match self.few_rows() {
                true => (2..=READABLE + 1).contains(&differing),
                false => 2 * differing > kinds,
            };
            shown.dominance() == Dominance::A && enough && shown.people <= 1_000
        };
        self.draw(random, plain, |random| match &self.engine {
            Engine::Ratio { space, .. } => {
                let log = random.random_range(-1.5_f64..1.5);
                let better = space.at_angle((-log).exp().atan()).to_vec();
                let back = random.random_range(0.15..0.5);
                let worse = better.iter().zip(space.centre()).map(|(x, c)| x + back * (c - x)).collect();
                Some(Query::new(better, worse))
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
        fits: impl Fn(&Shown) -> bool,
        make: impl Fn(&mut R) -> Option<Query>,
    ) -> Option<(Query, Shown)> {
        (0..TRIES).find_map(|_| {
            let query = make(random)?;
            let shown = self.frame.show(&query);
            fits(&shown).then_some((query, shown))
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

/// An engine with all that goes with it.
struct Prepared {
    engine: Engine,
    plan: Adaptive,
    frame: Frame,
    fit: Option<Fit>,
    scores: Option<Scores>,
}

fn prepare(study: &Study, directory: &Path) -> Result<Prepared> {
    let law = |(engine, plan, frame): (Engine, Adaptive, Frame)| Prepared {
        engine,
        plan,
        frame,
        fit: None,
        scores: None,
    };
    match &study.space {
        QuerySpace::Logistic { slope, offset } => {
            two_classes(study, Binary::from_law(Logistic::with_offset(*slope, *offset)?)).map(law)
        }
        QuerySpace::Pool { file } => {
            let pool = read::confusions(directory.join(file))?.data;
            two_classes(study, pool_space(study, &pool)?).map(law)
        }
        QuerySpace::Table { file, truth, score, group, smooth } => {
            let mut columns = Columns::guess();
            if let Some(truth) = truth {
                columns = columns.truth(truth);
            }
            if let Some(score) = score {
                columns = columns.scores([score.as_str()]);
            }
            if let Some(group) = group {
                columns = columns.groups([group.as_str()]);
            }
            let path = directory.join(file);
            let mut table = read::table(&path, &columns)?.data;
            let places = class_places(study, table.classes())?;
            if places == [1, 0] {
                // Of two classes the second of the study is the positive one, whatever the table was guessed to mean.
                table = read::table(&path, &columns.positive(&study.task.classes[1].id))?.data;
            }
            let sample = Sample::new(table)?;
            if sample.classes() == 2 {
                let hull = binary_space(&sample).map_err(equipoise::Error::from)?;
                let fitted = equipoise_data::Smooth::fit(&sample).map_err(equipoise::Error::from)?;
                let vertices = hull.hull().map(|hull| hull.vertices().to_vec()).unwrap_or_default();
                let fit =
                    Fit { distance: fitted.distance(), outside: fitted.outside(), corners: vertices.len() };
                let space = match smooth {
                    Smooth::Hull | Smooth::None => hull,
                    Smooth::Logistic => fitted.pulled()?,
                };
                let (mut engine, plan, frame) = two_classes(study, space)?;
                if let (Smooth::None, Engine::Ratio { corners, .. }) = (smooth, &mut engine) {
                    *corners = Some(vertices);
                }
                let Ok(profile) = sample.score_profile(Score::Class(1));
                let reliability = equipoise_data::Reliability::new(&profile, 10);
                let scores = Some(Scores { profile, reliability });
                return Ok(Prepared { engine, plan, frame, fit: Some(fit), scores });
            }
            let priors = sample.prevalence().class_priors().to_vec();
            let shares: Vec<f64> = places.iter().map(|place| priors[*place]).collect();
            let achievable = equipoise::space::Achievable::new(&sample, Measure::OffDiagonalRates)?;
            let Ok(radius) = achievable.radius();
            ball(study, radius, &shares).map(law)
        }
        QuerySpace::Ball { radius, class_shares } => ball(study, *radius, class_shares).map(law),
        QuerySpace::GroupBall { radius, class_shares, group_shares } => {
            let space = GroupSphere::new(*radius, GroupShares::new(group_shares.clone())?)?;
            if let Some(caveat) = space.of_one_group().caveat() {
                return Err(Error::Missing(format!("space.{caveat}")));
            }
            let (view, centre) = (space.view(), space.centre());
            let plan = Adaptive::group_fair(space, study.stop.angle)?;
            weights(study, plan, Frame::new(view, class_shares.clone()), centre, *radius).map(law)
        }
    }
}

/// Where a table has each class of the study. Two classes may also be called 0 and 1, or false and true.
fn class_places(study: &Study, classes: &[String]) -> Result<Vec<usize>> {
    let ids: Vec<&str> = study.task.classes.iter().map(|class| class.id.as_str()).collect();
    let places: Option<Vec<usize>> =
        ids.iter().map(|id| classes.iter().position(|class| class == id)).collect();
    match places {
        Some(places) if classes.len() == ids.len() => Ok(places),
        _ if ids.len() == 2 && [["0", "1"], ["false", "true"]].iter().any(|plain| classes == plain) => {
            Ok(vec![0, 1])
        }
        _ => {
            let plain = if ids.len() == 2 { ", or 0 and 1" } else { "" };
            let (found, expected) = (classes.join(", "), ids.join(", "));
            let what = format!(
                "the table has the classes {found}, expected those of task.classes: {expected}{plain}"
            );
            Err(Error::Missing(what))
        }
    }
}

fn two_classes(study: &Study, space: Binary) -> Result<(Engine, Adaptive, Frame)> {
    let plan = Adaptive::ratio(space.clone())
        .width(study.stop.width)?
        .stop(vec![Stop::Information { floor: study.stop.information }])?
        .budget(study.stop.cap)?;
    let positive = space.positive_prior();
    let frame = Frame::new(space.view(), vec![1.0 - positive, positive]);
    Ok((Engine::Ratio { space, corners: None }, plan, frame))
}

fn ball(study: &Study, radius: f64, class_shares: &[f64]) -> Result<(Engine, Adaptive, Frame)> {
    let space = Sphere::new(Measure::OffDiagonalRates, class_shares.len(), radius)?;
    if let Some(caveat) = space.caveat() {
        return Err(Error::Missing(format!("space.{caveat}")));
    }
    let (view, centre) = (space.view(), space.centre());
    let plan = match study.family {
        Family::Quadratic => Adaptive::quadratic(space, study.stop.angle)?,
        _ => Adaptive::linear(space, study.stop.angle)?,
    };
    // A question that differs in many kinds of mistake cannot be read (UX-09).
    let plan = plan.rows_that_differ(READABLE)?;
    weights(study, plan, Frame::new(view, class_shares.to_vec()), centre, radius)
}

fn weights(
    study: &Study,
    plan: Adaptive,
    frame: Frame,
    centre: Point,
    radius: f64,
) -> Result<(Engine, Adaptive, Frame)> {
    let plan = plan.answers(NoiseModel::Unknown)?.budget(study.stop.cap)?.seed(study.seed);
    Ok((Engine::Weights { centre, radius }, plan, frame))
}

/// What the models of a pool, the constant answers, and draws between them reach.
fn pool_space(study: &Study, pool: &[ModelConfusions]) -> Result<Binary> {
    let Some(first) = pool.first() else {
        return Err(Error::Missing("the pool has no model, expected at least one".to_owned()));
    };
    let place = |class: usize| {
        let id = &study.task.classes[class].id;
        first.classes().iter().position(|name| name == id).ok_or_else(|| {
            Error::Missing(format!("the pool has no class \"{id}\"; it has {}", first.classes().join(", ")))
        })
    };
    let (negative, positive) = (place(0)?, place(1)?);
    let prior = first.confusions()?.overall().class_priors()[positive];
    let mut corners = vec![[0.0, 1.0 - prior], [prior, 0.0]];
    for model in pool {
        let overall = model.confusions()?.overall();
        let found = overall.class_priors()[positive];
        if (found - prior).abs() > 1e-6 {
            let what = format!(
                "model {} was counted on other people than {}: {found} of them are positive, not {prior}",
                model.name(),
                first.name()
            );
            return Err(Error::Missing(what));
        }
        corners.push([overall.get(positive, positive), overall.get(negative, negative)]);
    }
    // A classifier turned around is one too.
    let turned: Vec<[f64; 2]> = corners.iter().map(|[p, n]| [prior - p, 1.0 - prior - n]).collect();
    corners.extend(turned);
    Ok(Binary::from_hull(prior, Polygon::hull(corners)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::TEMPLATES;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn only_checks_are_better_throughout() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        let mut pairs = 0;
        for template in TEMPLATES {
            let design = Design::new(Study::parse(template.text).unwrap(), Path::new(".")).unwrap();
            for number in 0..2_000 {
                let (_, shown) = design.evaluation(number, &mut random).expect("a pair to evaluate on");
                assert_eq!(shown.dominance(), Dominance::Neither, "{}", template.name);
                let (_, shown) = design.dominated(&mut random).expect("a dominated pair");
                assert_eq!(shown.dominance(), Dominance::A, "{}", template.name);
                pairs += 2;
            }
        }
        println!("{pairs} pairs");
    }
}
