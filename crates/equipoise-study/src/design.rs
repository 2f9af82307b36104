//! A study that can be run: its file, its query space, and the engine that picks the questions.

use crate::belief::Belief;
use crate::candidates::Models;
use crate::error::{Error, Result};
use crate::shown::{Dominance, Frame, Shown};
use crate::study::{Family, QuerySpace, Smooth, Study};
use equipoise::engine::{Adaptive, AdaptiveRatio, Answers};
use equipoise::population::{Logistic, Population as _};
use equipoise::space::{Binary, GroupSphere, Polygon, Space as _, Sphere};
use equipoise::{GroupShares, Measure, Point, Query};
use equipoise_data::{Columns, ModelConfusions, Sample, read};
use rand::{Rng, RngExt as _};
use std::path::Path;

/// How people's answers are believed to come about where the noise is not estimated: the slope of the logistic curve in
/// units of the query ball.
const SLOPE: f64 = 20.0;

/// The cost ratios evaluation questions are about: most of what people hold.
const RATIOS: [f64; 2] = [1.0 / 8.0, 40.0];

/// How far the two systems of an evaluation question lie from the ratio that separates them, as factors: hard, middling
/// and easy ones (RP-06).
const BANDS: [f64; 3] = [1.6, 2.5, 5.0];

/// Tries before a kind of question is given up on.
const TRIES: usize = 200;

/// A study with all that its file refers to.
#[derive(Debug, Clone)]
pub struct Design {
    study: Study,
    hash: String,
    frame: Frame,
    engine: Engine,
    models: Option<Models>,
    scores: Option<Scores>,
}

/// A table of scores that questions come from: what thresholds do on it.
#[derive(Debug, Clone)]
pub struct Scores {
    /// Scores of the positive class, with the truth.
    pub sample: equipoise::threshold::Sample,
    /// What was predicted against what was seen, in ten bins.
    pub reliability: equipoise_data::Reliability,
}

#[derive(Debug, Clone)]
enum Engine {
    Ratio { space: Binary, plan: Box<AdaptiveRatio> },
    Weights { centre: Point, radius: f64, plan: Box<Adaptive> },
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
        let (engine, frame, scores) = engine(&study, directory)?;
        let models = Models::read(&study, frame.view(), directory)?;
        Ok(Self { study, hash, frame, engine, models, scores })
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
        match &self.engine {
            Engine::Ratio { space, .. } => {
                let noise = equipoise::engine::Noise { slope, lapse };
                Some(Belief::of_ratio(equipoise::engine::RatioPosterior::new(space.clone(), &[(noise, 1.0)])))
            }
            // Lapses are not part of this model of answers.
            Engine::Weights { plan, .. } => {
                let plan = plan.as_ref().clone().answers(Answers::Logistic { slope }).ok()?;
                Some(Belief::weights(&plan, self.study.seed))
            }
        }
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

    /// The two-class space, if there are two classes without groups.
    pub fn binary(&self) -> Option<&Binary> {
        match &self.engine {
            Engine::Ratio { space, .. } => Some(space),
            Engine::Weights { .. } => None,
        }
    }

    /// What is believed before the first answer.
    pub fn belief(&self) -> Belief {
        match &self.engine {
            Engine::Ratio { plan, .. } => Belief::ratio(plan),
            Engine::Weights { plan, .. } => Belief::weights(plan, self.study.seed),
        }
    }

    /// How many questions elicitation is expected to take; decides how thinly checks are spread.
    pub(crate) fn expected(&self) -> usize {
        match &self.engine {
            Engine::Ratio { .. } => 14.min(self.study.stop.cap),
            Engine::Weights { .. } => self.study.stop.cap,
        }
    }

    /// A pair to evaluate the metric on: neither better throughout. `number` picks the band of difficulty.
    pub(crate) fn evaluation(&self, number: usize, random: &mut impl Rng) -> Option<(Query, Shown)> {
        self.draw(
            random,
            |shown| shown.dominance() == Dominance::Neither && shown.people <= 10_000,
            |random| match &self.engine {
                Engine::Ratio { space, .. } => {
                    let log = random.random_range(RATIOS[0].ln()..RATIOS[1].ln());
                    let band = BANDS[number % BANDS.len()].ln();
                    let at = |log: f64| space.at_angle((-log).exp().atan()).to_vec();
                    Query::new(at(log + band), at(log - band))
                }
                Engine::Weights { centre, radius, .. } => {
                    let mut point = || around(centre, *radius, false, random);
                    Query::new(point(), point())
                }
            },
        )
    }

    /// A pair of which the first is better in every way.
    pub(crate) fn dominated(&self, random: &mut impl Rng) -> Option<(Query, Shown)> {
        // Of rare classes some mistakes may round to the same number; most must not.
        let plain = |shown: &Shown| {
            shown.dominance() == Dominance::A
                && 2 * shown.differing() > shown.mistakes().count()
                && shown.people <= 1_000
        };
        self.draw(random, plain, |random| match &self.engine {
            Engine::Ratio { space, .. } => {
                let log = random.random_range(-1.5_f64..1.5);
                let better = space.at_angle((-log).exp().atan()).to_vec();
                let back = random.random_range(0.15..0.5);
                let worse = better.iter().zip(space.centre()).map(|(x, c)| x + back * (c - x)).collect();
                Query::new(better, worse)
            }
            Engine::Weights { centre, radius, .. } => {
                let better = around(centre, *radius, true, random);
                let back = random.random_range(0.3..0.8);
                let worse = better.iter().zip(centre).map(|(x, c)| x + back * (c - x)).collect();
                Query::new(better, worse)
            }
        })
    }

    fn draw<R: Rng>(
        &self,
        random: &mut R,
        fits: impl Fn(&Shown) -> bool,
        make: impl Fn(&mut R) -> Query,
    ) -> Option<(Query, Shown)> {
        (0..TRIES).find_map(|_| {
            let query = make(random);
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

type Prepared = (Engine, Frame, Option<Scores>);

fn engine(study: &Study, directory: &Path) -> Result<Prepared> {
    match &study.space {
        QuerySpace::Logistic { slope, offset } => {
            two_classes(study, Binary::from_law(Logistic::with_offset(*slope, *offset)?))
        }
        QuerySpace::Pool { file } => {
            let pool = read::confusions(directory.join(file))?.data;
            two_classes(study, pool_space(study, &pool)?)
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
            let table = read::table(directory.join(file), &columns)?.data;
            let sample = Sample::new(table)?;
            if sample.classes() == 2 {
                let space = match smooth {
                    Smooth::Hull => sample.binary_space()?,
                    Smooth::Logistic => equipoise_data::Smooth::fit(&sample)?.pulled()?,
                };
                let (engine, frame, _) = two_classes(study, space)?;
                let table = sample.table();
                let mut scored = equipoise::threshold::Sample::new(table.probabilities(1), table.truth())?;
                if let Some(weights) = table.weights() {
                    scored = scored.with_weights(weights)?;
                }
                let reliability = equipoise_data::Reliability::new(table, 1, 10)?;
                return Ok((engine, frame, Some(Scores { sample: scored, reliability })));
            }
            let shares = sample.prevalence().class_priors().to_vec();
            let achievable = equipoise::space::Achievable::new(&sample, Measure::OffDiagonalRates)?;
            ball(study, achievable.radius(), &shares)
        }
        QuerySpace::Ball { radius, class_shares } => ball(study, *radius, class_shares),
        QuerySpace::GroupBall { radius, class_shares, group_shares } => {
            let space = GroupSphere::new(*radius, GroupShares::new(group_shares.clone())?)?;
            if let Some(caveat) = space.of_one_group().caveat() {
                return Err(Error::Missing(format!("space.{caveat}")));
            }
            let (view, centre) = (space.view(), space.centre());
            let plan = Adaptive::group_fair(space, study.stop.angle)?;
            weights(study, plan, Frame::new(view, class_shares.clone()), centre, *radius)
        }
    }
}

fn two_classes(study: &Study, space: Binary) -> Result<Prepared> {
    let plan = AdaptiveRatio::new(space.clone())?.width(study.stop.width)?.budget(study.stop.cap)?;
    let positive = space.positive_prior();
    let frame = Frame::new(space.view(), vec![1.0 - positive, positive]);
    Ok((Engine::Ratio { space, plan: Box::new(plan) }, frame, None))
}

fn ball(study: &Study, radius: f64, class_shares: &[f64]) -> Result<Prepared> {
    let space = Sphere::new(Measure::OffDiagonalRates, class_shares.len(), radius)?;
    if let Some(caveat) = space.caveat() {
        return Err(Error::Missing(format!("space.{caveat}")));
    }
    let (view, centre) = (space.view(), space.centre());
    let plan = match study.family {
        Family::Quadratic => Adaptive::quadratic(space, study.stop.angle)?,
        _ => Adaptive::linear(space, study.stop.angle)?,
    };
    weights(study, plan, Frame::new(view, class_shares.to_vec()), centre, radius)
}

fn weights(study: &Study, plan: Adaptive, frame: Frame, centre: Point, radius: f64) -> Result<Prepared> {
    let plan = plan.answers(Answers::Logistic { slope: SLOPE })?.budget(study.stop.cap)?.seed(study.seed);
    Ok((Engine::Weights { centre, radius, plan: Box::new(plan) }, frame, None))
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
