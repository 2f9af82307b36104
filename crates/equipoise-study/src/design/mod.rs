//! A study that can be run: its file, its query space, and the engine that picks the questions.

mod pairs;
mod prepare;

use crate::belief::Belief;
use crate::candidates::Models;
use crate::error::Result;
use crate::groups::Sizes;
use crate::length::Length;
use crate::schedule::FEWEST;
use crate::shown::{Dominance, Frame, Shown};
use crate::study::{Family, Has, Study};
use crate::tables::{Here, Tables};
use equipoise::ask::NoiseModel;
use equipoise::decide::threshold::Redrawn;
use equipoise::engine::Adaptive;
use equipoise::population::Profile;
use equipoise::space::Binary;
use equipoise::{AnyPlan, Metric, Query};
use equipoise_choice::{Front, Said, Words};
use pairs::Engine;
use prepare::{Prepared, prepare};
use serde::Serialize;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// How much longer or shorter than expected it takes people, around an operating point: nine of ten are within.
const SPREAD: [f64; 9] = [0.3, 0.5, 0.65, 0.8, 1.0, 1.2, 1.45, 1.8, 2.4];

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
    length: OnceLock<Length>,
    models: Option<Models>,
    scores: Option<Scores>,
    people: u64,
    regret: Option<f64>,
    front: Option<Arc<Front>>,
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
    redrawn: OnceLock<Redrawn>,
}

impl Scores {
    /// Resamplings of the rows for the intervals of thresholds.
    const DRAWS: usize = 200;

    pub(crate) fn new(profile: Profile, reliability: equipoise_data::Reliability) -> Self {
        Self { profile, reliability, redrawn: OnceLock::new() }
    }

    /// The rows drawn again, once for everybody whose threshold they are asked for.
    pub fn redrawn(&self) -> &Redrawn {
        self.redrawn.get_or_init(|| self.profile.redrawn(Self::DRAWS, 0))
    }
}

impl Design {
    /// Reads the data files, which are beside the study file in `directory`, and prepares the engine.
    pub fn new(study: Study, directory: &Path) -> Result<Self> {
        Self::read_by(&Here, study, directory)
    }

    /// The same, with files that somebody else reads: a study of strangers.
    pub fn read_by(tables: &dyn Tables, mut study: Study, directory: &Path) -> Result<Self> {
        let mut files = vec![];
        for file in study.data_files() {
            files.push(crate::inside::read(directory, file)?);
        }
        let hash = study.hash(&files);
        let Prepared { engine, plan, frame, fit, scores, regret, front } =
            prepare(&study, directory, tables)?;
        if let (Some(groups), Some(space)) = (frame.group_shares(), plan.operating_point()) {
            let classes = frame.class_shares().to_vec();
            let of_group = |group| (0..classes.len()).map(|class| groups.get(group, class)).collect();
            let rows = (0..space.prevalence().map_or(1, |shares| shares.groups())).map(of_group).collect();
            study.sizes = Some(Sizes { classes, groups: rows });
        }
        if let Some(candidates) = frame.candidates() {
            study.ranges = candidates.attributes().iter().map(|attribute| attribute.range).collect();
        }
        let models = match frame.candidates() {
            Some(candidates) => Some(Models::by_attributes(candidates, frame.view())),
            None => Models::read(&study, frame.view(), directory, tables)?,
        };
        let (at_first, length) = (OnceLock::new(), OnceLock::new());
        let mut made = Self {
            study,
            hash,
            frame,
            engine,
            plan,
            fit,
            at_first,
            length,
            models,
            scores,
            people: 0,
            regret,
            front: front.map(Arc::new),
        };
        made.people = made.one_total();
        Ok(made)
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
        // Lapses are no part of the Gaussian's model for several weights.
        let lapse = if self.tells_chances() { lapse } else { 0.0 };
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

    /// Out of how many every comparison is shown: the same from the first to the last, for everybody.
    pub fn people(&self) -> u64 {
        self.people
    }

    /// A pair as it is shown.
    pub fn show(&self, query: &Query) -> Shown {
        self.frame.show_out_of(query, self.people)
    }

    /// How the two systems of a comparison compare, row by row of what is shown.
    pub fn dominance(&self, shown: &Shown) -> Dominance {
        match self.is_around() || self.is_choice() {
            true => self.frame.dominance(shown),
            false => shown.dominance(),
        }
    }

    /// How well a logistic law describes the table, if the space is a table of two classes.
    pub fn fit(&self) -> Option<Fit> {
        self.fit
    }

    /// The two-class space, if there are two classes without groups.
    pub fn binary(&self) -> Option<&Binary> {
        match &self.engine {
            Engine::Ratio { space, .. } => Some(space),
            _ => None,
        }
    }

    /// Whether questions are asked around a classifier that somebody has, two rows at a time.
    pub fn is_around(&self) -> bool {
        self.plan.operating_point().is_some()
    }

    /// Whether candidates with attributes are chosen from.
    pub fn is_choice(&self) -> bool {
        self.frame.candidates().is_some()
    }

    /// What is to be said of the candidates' table: what was left out, who is nowhere better than another.
    pub fn front(&self) -> Option<&Front> {
        self.front.as_deref()
    }

    /// The words for questions about candidates with attributes, in a language.
    pub fn words(&self, language: &str) -> Option<Words<'_>> {
        let said = |has: &Has| {
            let unit = has.unit.as_ref().map(|unit| unit.r#in(language));
            Said::as_named(has.name.r#in(language), unit, has.out_of)
        };
        let candidates = self.frame.candidates()?;
        Some(Words::as_said(candidates, self.study.task.attributes.iter().map(said).collect()))
    }

    /// Whether the belief tells how likely an answer is; a Gaussian of weights on a ball does not.
    pub(crate) fn tells_chances(&self) -> bool {
        self.binary().is_some() || self.is_around() || self.is_choice()
    }

    /// How often the best system for a metric makes each kind of mistake, in the order of the metric's weights; with groups also
    /// how far they are apart in each. Nothing where questions are not asked around a classifier that somebody has.
    pub fn best_kinds(&self, metric: &Metric) -> Option<Vec<f64>> {
        let sign = -metric.sense().sign();
        let weights: Vec<f64> = metric.coefficients().iter().map(|weight| sign * weight).collect();
        let space = self.plan.operating_point().filter(|space| space.dimension() == weights.len())?;
        space.best_kinds(&weights).map(<[f64]>::to_vec)
    }

    /// The plan behind the questions, without the checks.
    pub fn plan(&self) -> AnyPlan {
        AnyPlan::Adaptive(self.plan.clone())
    }

    pub(crate) fn adaptive(&self) -> &Adaptive {
        &self.plan
    }

    /// How much more than the best one the rule that follows may be expected to cost at the end, if that ends the questions.
    pub(crate) fn regret_at_most(&self) -> Option<f64> {
        self.regret
    }

    /// What is believed before the first answer.
    pub fn belief(&self) -> Belief {
        self.plan.start()
    }

    /// The radius of the query ball: of two classes, of the largest disc of possible systems. Noise is told in its units.
    pub fn ball(&self) -> f64 {
        self.plan.unit()
    }

    /// How long the study takes people: a few are simulated, the same ones every time. Takes seconds the first time.
    pub fn length(&self) -> &Length {
        self.length.get_or_init(|| Length::rehearsed(self))
    }

    /// The same, if it is known already.
    pub fn known_length(&self) -> Option<&Length> {
        self.length.get()
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
        let lengths = if self.is_around() || self.is_choice() {
            // Nobody is imagined: that would take seconds. How much is left to regret tells about how many are left.
            let left = self.plan.about(belief.as_ref())?.saturating_sub(belief.answered().len());
            SPREAD.map(|factor| (factor * left as f64).round() as usize).to_vec()
        } else {
            let imagine = |seed| self.plan.lengths_left(belief.as_ref(), seed);
            match asked {
                // Before the first answer it is the same for everybody, and everybody arrives at once.
                0 => self.at_first.get_or_init(|| imagine(self.study.seed)).clone(),
                _ => imagine(seed),
            }
        };
        // The engine may think that it is through where the study asks on.
        let lengths = if lengths.is_empty() { vec![least] } else { lengths };
        Some(lengths.into_iter().map(|length| length.clamp(least, most)).collect())
    }
}
