//! What a data set or a known law can answer about rules that predict classes.
//!
//! A law in closed form and a pool of models answer one question, [`Confusions::confusions`]; geometry, optimisation and
//! ranking ask no other of them. Data answer a few more ([`Population`]), each of which is one pass over rows in memory and
//! one aggregate query elsewhere. Nobody else looks at rows.

mod atoms;
mod basis;
mod classifier;
mod logistic;
mod moments;
mod plug_in;
mod profile;
mod randomised;
mod resample;
mod rows;
mod rule;
mod softmax;
mod totals;

pub use basis::Basis;
pub(crate) use basis::{Values, evaluate, nearest};
pub use classifier::Classifier;
pub use logistic::Logistic;
pub use moments::Moments;
pub(crate) use moments::blend;
pub(crate) use plug_in::Form;
pub(crate) use plug_in::PlugIn;
pub(crate) use profile::Coarse;
pub use profile::{Cell, Profile, Score};
pub(crate) use randomised::Randomised;
pub use resample::resampling;
pub use rows::{Column, Rows, Scores};
pub use rule::{PostShift, Rule, accepts, largest};
pub use softmax::Softmax;
pub use totals::{Total, Totals};

use crate::error::Error;
use crate::rates::{GroupConfusions, Prevalence};
use std::convert::Infallible;

/// Something whose confusion matrices can be asked for: a law, a pool of models, data.
pub trait Confusions {
    /// Why an answer may be missing: [`Infallible`] for a law or rows in memory, an I/O error for a cluster.
    type Err;

    /// What can be asked about: post-shift rules, or more.
    type Rule: From<PostShift>;

    /// Class priors and group shares.
    fn prevalence(&self) -> &Prevalence;

    /// The confusion matrices of a whole batch of rules.
    fn confusions(&self, rules: &[Self::Rule]) -> Result<Vec<GroupConfusions>, Self::Err>;

    /// The confusion matrices of post-shift rules, which everybody knows.
    fn shifted(&self, rules: &[PostShift]) -> Result<Vec<GroupConfusions>, Self::Err> {
        self.confusions(&rules.iter().cloned().map(Into::into).collect::<Vec<_>>())
    }

    /// Number of classes.
    fn classes(&self) -> usize {
        self.prevalence().class_priors().len()
    }

    /// Number of groups.
    fn groups(&self) -> usize {
        self.prevalence().group_shares().groups()
    }
}

/// Data behind a seam: rows in memory, or somewhere else.
///
/// What commands need to know of rows is asked here and nowhere else. Each question is one pass over rows in memory, and one
/// aggregate query elsewhere, so batches are the rule.
pub trait Population: Confusions<Rule = Rule> {
    /// Some of the rows, in memory: for searches that ask too often to ask them all.
    type Part: Population<Err = Infallible>;

    /// How many rows of each class there are in each group, and what they weigh.
    fn totals(&self) -> Result<Totals, Self::Err>;

    /// Rows by group, class and score: every distinct score in memory, 65,536 buckets elsewhere.
    fn score_profile(&self, score: Score) -> Result<Profile, Self::Err>;

    /// The confusion matrices of rules over rows drawn again, `resampled(..)[draw][rule]`.
    ///
    /// A row is taken as often as [`resampling`] says for its key, so that rows split over machines are drawn as those of one
    /// are. All rules of a draw see the same rows, and can be compared within it.
    fn resampled(
        &self,
        rules: &[Rule],
        seed: u64,
        draws: usize,
    ) -> Result<Vec<Vec<GroupConfusions>>, Self::Err>;

    /// What optimisation needs: the moments of plug-in rules over some bases, asked for batch by batch.
    fn moments(&self, bases: &[Basis]) -> Result<Ask<'_, Self::Err>, AskError<Self::Err>>;

    /// About so many of the rows, the same ones for the same seed; every class of every group stays among them.
    fn sample(&self, rows: usize, seed: u64) -> Result<Self::Part, Self::Err>;
}

/// Answers with the moments of a batch of rules.
pub type Ask<'a, E> = Box<dyn Fn(&[PlugIn]) -> Result<Vec<Moments>, E> + 'a>;

/// Training rows of an optimisation: a population, or rows in memory.
pub trait Training {
    /// Why an answer may be missing.
    type Err;

    /// Number of classes.
    fn classes(&self) -> usize;

    /// As [`Population::moments`].
    fn moments(&self, bases: &[Basis]) -> Result<Ask<'_, Self::Err>, AskError<Self::Err>>;
}

impl<P: Population> Training for P {
    type Err = P::Err;

    fn classes(&self) -> usize {
        Confusions::classes(self)
    }

    fn moments(&self, bases: &[Basis]) -> Result<Ask<'_, P::Err>, AskError<P::Err>> {
        Population::moments(self, bases)
    }
}

impl Training for Rows<'_> {
    type Err = Infallible;

    fn classes(&self) -> usize {
        self.classes()
    }

    fn moments(&self, bases: &[Basis]) -> Result<Ask<'_, Infallible>, AskError<Infallible>> {
        Ok(self.lent().moments(bases)?)
    }
}

/// Why a search over a population came to nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskError<E> {
    /// What was asked does not fit.
    #[error(transparent)]
    Input(#[from] Error),
    /// The population did not answer.
    #[error(transparent)]
    Population(E),
}

impl From<AskError<Infallible>> for Error {
    fn from(error: AskError<Infallible>) -> Self {
        match error {
            AskError::Input(error) => error,
            AskError::Population(never) => match never {},
        }
    }
}
