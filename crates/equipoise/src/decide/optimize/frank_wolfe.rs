//! Algorithm 7.3, FW-EG: Frank-Wolfe with elicited gradients.

use super::oracle::{Failure, Guide};
use super::probe::Probes;
use super::problem::Problem;
use super::weights::Elicitation;
use crate::error::{Error, Result as Checked, check};
use crate::linalg::{direction, dot, norm, plus, scaled};
use crate::population::{AskError, Basis, Classifier, Form, Moments, PlugIn};
use std::convert::Infallible;
use std::fmt;

/// Steps from the mean rule to the model when the validation rows ask for one in between.
const LINE: i32 = 40;

/// Repeats: elicit weights around the current classifier, plug them in, step towards the result.
///
/// # Departures
/// The step is $2/(t+2)$ for t = 0, 1, ...; the printed $2/(t+1)$ begins with 2. The start is the model itself, never a trivial
/// classifier. The result is deterministic, and on the validation rows never worse than the model itself.
#[derive(Debug, Clone, PartialEq)]
pub struct FrankWolfe {
    iterations: usize,
    form: Option<Form>,
    probes: Probes,
    /// The class that is predicted for everybody at first; the model's most likely ones without it.
    start: Option<usize>,
}

impl Default for FrankWolfe {
    fn default() -> Self {
        Self { iterations: 20, form: None, probes: Probes::Fixed, start: None }
    }
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The classifier.
    pub classifier: Classifier,
    /// How many iterations were made.
    pub iterations: usize,
    /// The numerical rank of the last system.
    pub rank: usize,
    /// How many weights it had.
    pub unknowns: usize,
    /// How often the guide asked somebody.
    pub queries: usize,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A question was not answered; what was found until then is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Stopped<E, T = Infallible> {
    /// Which question, and why.
    pub failure: Failure<E, T>,
    /// In which iteration, counted from 1.
    pub iteration: usize,
    /// The classifier so far.
    pub partial: Box<Outcome>,
}

impl<E: fmt::Display, T: fmt::Display> fmt::Display for Stopped<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "iteration {}, {}", self.iteration, self.failure)
    }
}

impl<E: fmt::Display + fmt::Debug, T: fmt::Display + fmt::Debug> std::error::Error for Stopped<E, T> {}

impl FrankWolfe {
    /// How many iterations; 20 come within .0005 of 100.
    pub fn iterations(self, iterations: usize) -> Checked<Self> {
        let ok = (1..=10_000).contains(&iterations);
        check::number("iterations", iterations as f64, ok, "a whole number from 1 to 10000")?;
        Ok(Self { iterations, ..self })
    }

    /// Whether to weigh all entries of a confusion matrix, or those of its diagonal; without a word from the caller, all for more
    /// than two classes.
    pub fn general(self, general: bool) -> Self {
        Self { form: Some(Form::new(general)), ..self }
    }

    /// Probes by classifiers that satisfy constraints, for bases that do not overlap, instead of fixed ones.
    pub fn constraint_probes(self) -> Self {
        Self { probes: Probes::Constraints, ..self }
    }

    /// Starts at one class for everybody, the worst place there is: every system is singular there.
    pub fn constant_start(self, class: usize) -> Self {
        Self { start: Some(class), ..self }
    }

    fn form_for(&self, classes: usize) -> Form {
        self.form.unwrap_or(Form::new(classes > 2))
    }

    /// Says what does not fit a problem, before anybody is asked.
    pub fn check<T>(&self, problem: &Problem<T>) -> Result<(), AskError<T>> {
        if let Some(class) = self.start.filter(|&class| class >= problem.classes()) {
            let what = format!("start is class {class}, expected one of {} classes", problem.classes());
            return Err(Error::Mismatch(what).into());
        }
        Elicitation::new(problem, self.form_for(problem.classes()), self.probes).map(drop)
    }

    /// Runs it.
    ///
    /// # Panics
    /// If [`FrankWolfe::check`] would have complained.
    pub fn run<G: Guide, T>(
        &self,
        problem: &Problem<T>,
        guide: &mut G,
    ) -> Result<Outcome, Stopped<G::Err, T>> {
        let (bases, k) = (problem.bases().len(), problem.classes());
        let start = self
            .start
            .map_or_else(|| PlugIn::most_likely(k, bases), |class| PlugIn::constant(k, bases, class));
        let mut outcome = Outcome {
            classifier: Classifier::new(problem.bases().to_vec(), vec![(1.0, start)]),
            iterations: 0,
            rank: 0,
            unknowns: bases * self.form_for(k).weights(k),
            queries: 0,
            notes: problem.notes().to_vec(),
        };
        let ended = self.iterate(problem, guide, &mut outcome);
        outcome.queries = guide.queries();
        let iteration = (outcome.iterations + 1).min(self.iterations);
        match ended {
            Ok(()) => Ok(outcome),
            Err(failure) => Err(Stopped { failure, iteration, partial: Box::new(outcome) }),
        }
    }

    fn iterate<G: Guide, T>(
        &self,
        problem: &Problem<T>,
        guide: &mut G,
        outcome: &mut Outcome,
    ) -> Result<(), Failure<G::Err, T>> {
        let elicitation = match Elicitation::new(problem, self.form_for(problem.classes()), self.probes) {
            Err(AskError::Population(error)) => return Err(Failure::training(0, error)),
            made => made.map_err(drop).expect("checked by the caller"),
        };
        let position = |rule: &PlugIn, guide: &G| {
            problem.position(rule).map_err(|error| Failure::training(guide.queries(), error))
        };
        let mut rules = outcome.classifier.rules().to_vec();
        let mut at = position(&rules[0].1, guide)?;
        for t in 0..self.iterations {
            let weights = elicitation.run(problem, &at, guide).map_err(Failure::of_guide)?;
            let step = 2.0 / (t as f64 + 2.0);
            at.mix(step, &position(&weights.rule, guide)?);
            rules.iter_mut().for_each(|(share, _)| *share *= 1.0 - step);
            rules.retain(|(share, _)| *share > 0.0);
            rules.push((step, weights.rule));
            (outcome.rank, outcome.iterations) = (weights.rank, t + 1);
            outcome.classifier = Classifier::new(problem.bases().to_vec(), rules.clone());
        }
        self.settle(problem, guide, outcome)
    }

    /// Makes the mixture deterministic, and sees to it that the validation rows do not speak against it.
    ///
    /// Few validation rows may by chance like the model itself better than the vote. Of the rules on the line through the mean
    /// rule and the model, the one that does best by the elicited weights of the training rows, of which there are many, is then
    /// taken as long as the validation rows do not speak against it. The model itself is on that line.
    fn settle<G: Guide, T>(
        &self,
        problem: &Problem<T>,
        guide: &mut G,
        outcome: &mut Outcome,
    ) -> Result<(), Failure<G::Err, T>> {
        let alone = |rule: PlugIn| Classifier::new(problem.bases().to_vec(), vec![(1.0, rule)]);
        let labels = |classifier: &Classifier| {
            classifier.predict(problem.validation().scores()).expect("the bases were evaluated before")
        };
        let model = alone(PlugIn::most_likely(problem.classes(), problem.bases().len()));
        let of_model = problem.predictions(&labels(&model));
        let vote = problem.predictions(&labels(&outcome.classifier));
        if !guide.prefers(&of_model, &vote).map_err(Failure::of_guide)? {
            return Ok(());
        }
        let mean = outcome.classifier.mean_weights();
        let line = self.line(problem, &mean).map_err(|error| Failure::training(guide.queries(), error))?;
        for rule in line {
            let candidate = alone(rule);
            let found = problem.predictions(&labels(&candidate));
            if !guide.prefers(&of_model, &found).map_err(Failure::of_guide)? {
                let sentence = "by chance or not, the validation rows speak against the vote of all iterations; the best rule by \
                                the training rows that they do not speak against was taken";
                outcome.notes.push(sentence.to_owned());
                outcome.classifier = candidate;
                return Ok(());
            }
        }
        let sentence = "the model's own predictions are better on the validation rows and were kept";
        outcome.notes.push(sentence.to_owned());
        outcome.classifier = model;
        Ok(())
    }

    /// Rules on the line through the mean rule and the model, best by the training rows first: those weighted with the mean rule's
    /// weights, which is the objective (7.17) that the iterations have maximised.
    fn line<T>(&self, problem: &Problem<T>, mean: &[f64]) -> Result<Vec<PlugIn>, T> {
        let form = self.form_for(problem.classes());
        let objective = |moments: &Moments| {
            let of_basis =
                |(basis, weights): (usize, &[f64])| dot(weights, &form.weighed(moments.first(basis)));
            mean.chunks(form.weights(problem.classes())).enumerate().map(of_basis).sum::<f64>()
        };
        let shares = (-LINE..=LINE).map(|n| n as f64 / LINE as f64);
        let rules: Vec<PlugIn> = shares.filter_map(|share| self.on_line(problem, mean, share)).collect();
        let moments = (problem.training)(&rules)?;
        let mut rated: Vec<(f64, PlugIn)> = moments.iter().map(objective).zip(rules).collect();
        rated.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        Ok(rated.into_iter().map(|(_, rule)| rule).collect())
    }

    /// The mean rule with a share of the model mixed into its weights; a negative share leads away from the model.
    fn on_line<T>(&self, problem: &Problem<T>, mean: &[f64], share: f64) -> Option<PlugIn> {
        let (bases, k) = (problem.bases().len(), problem.classes());
        let form = self.form_for(k);
        let width = form.weights(k);
        // The model weighs all rows alike, through the basis of all rows or else through every basis.
        let all = problem.bases().iter().position(|basis| *basis == Basis::All);
        let model: Vec<f64> = (0..bases * width)
            .map(|n| match form {
                _ if all.is_some_and(|all| n / width != all) => 0.0,
                Form::General if !(n % width).is_multiple_of(k + 1) => 0.0,
                _ => 1.0,
            })
            .collect();
        let mean = scaled(&direction(mean)?, (1.0 - share) * norm(&model));
        PlugIn::new(k, form, plus(&mean, share, &model)).ok()
    }
}
