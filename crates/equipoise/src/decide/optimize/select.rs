//! Which bases to use: cross-validation inside the validation rows, leaning towards fewer.

use super::frank_wolfe::FrankWolfe;
use super::oracle::{Cause, Probing};
use super::problem::Problem;
use crate::error::{Error, Result, check};
use crate::metric::Metric;
use crate::population::{AskError, Basis, Rows, Training};
use crate::rates::Prevalence;

/// A set of bases and what it came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The bases.
    pub bases: Vec<Basis>,
    /// The mean value on rows left out.
    pub mean: f64,
    /// The standard error of that mean over the folds.
    pub standard_error: f64,
}

/// All candidates, fewest bases first, and the one to use.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// What was tried.
    pub candidates: Vec<Candidate>,
    /// Which one to use.
    pub chosen: usize,
}

/// The first unit, the first two, and so on: nested sets to choose from. Bases of one unit, such as the clusters of one
/// clustering, stay together.
pub fn nested(units: &[Vec<Basis>]) -> Vec<Vec<Basis>> {
    (1..=units.len()).map(|count| units[..count].concat()).collect()
}

/// Chooses a set of bases by cross-validation: the smallest whose mean is within one standard error of the best.
///
/// Small validation sets overfit rich bases; the rule costs little where they do not. `metric` is what the metric is for
/// rows with a prevalence, since every fold has its own. It is used as `plan` would use it, by its gradient if `known`.
pub fn select<R: Training>(
    training: &R,
    validation: &Rows,
    candidates: Vec<Vec<Basis>>,
    metric: &dyn Fn(&Prevalence) -> Result<Metric>,
    plan: &FrankWolfe,
    known: bool,
    folds: usize,
) -> Result<Selection, AskError<R::Err>> {
    check::number("folds", folds as f64, (2..=100).contains(&folds), "a whole number from 2 to 100")?;
    check::at_least("sets of bases", candidates.len(), 1, "at least 1")?;
    let fold_of = folds_of(validation, folds);
    let mut tried = Vec::with_capacity(candidates.len());
    for bases in candidates {
        let mut values = Vec::with_capacity(folds);
        for fold in 0..folds {
            // A fold may lack a class in a group; it then says nothing about this metric.
            match left_out(training, validation, &bases, metric, plan, known, (&fold_of, fold)) {
                Ok(value) => values.push(value),
                Err(AskError::Input(_)) => {}
                Err(unanswered) => return Err(unanswered),
            }
        }
        if values.len() > 1 {
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
            tried.push(Candidate { bases, mean, standard_error: (variance / count).sqrt() });
        }
    }
    tried.sort_by_key(|candidate| candidate.bases.len());
    let sign = metric(&prevalence(validation)?)?.sense().sign();
    let best = (0..tried.len()).max_by(|&a, &b| (sign * tried[a].mean).total_cmp(&(sign * tried[b].mean)));
    let Some(best) = best else {
        let what =
            format!("no fold of {folds} has every class in every group, expected more validation rows");
        return Err(Error::Mismatch(what).into());
    };
    let enough = sign * tried[best].mean - tried[best].standard_error;
    let chosen = tried.iter().position(|candidate| sign * candidate.mean >= enough).unwrap_or(best);
    Ok(Selection { candidates: tried, chosen })
}

fn prevalence(rows: &Rows) -> Result<Prevalence> {
    Ok(rows.confusions(rows.truth())?.prevalence())
}

/// The fold of every row: rows of a class within a group are dealt out in turn.
fn folds_of(rows: &Rows, folds: usize) -> Vec<usize> {
    let mut next = vec![0; rows.groups() * rows.classes()];
    let fold = |row: usize| {
        let next = &mut next[rows.group(row) * rows.classes() + usize::from(rows.truth()[row])];
        *next += 1;
        (*next - 1) % folds
    };
    (0..rows.len()).map(fold).collect()
}

/// Optimises on all folds but one and evaluates on that one.
fn left_out<R: Training>(
    training: &R,
    validation: &Rows,
    bases: &[Basis],
    metric: &dyn Fn(&Prevalence) -> Result<Metric>,
    plan: &FrankWolfe,
    known: bool,
    (fold_of, fold): (&[usize], usize),
) -> Result<f64, AskError<R::Err>> {
    let part = |inside: bool| {
        let weight = |row: usize| if (fold_of[row] == fold) == inside { validation.weight(row) } else { 0.0 };
        validation.clone().with_weights((0..validation.len()).map(weight).collect::<Vec<f64>>())
    };
    let (fitted, held) = (part(false)?, part(true)?);
    let problem = Problem::new(training, &fitted, bases.to_vec())?;
    plan.check(&problem)?;
    let mut fitting = metric(&prevalence(&fitted)?)?;
    let outcome = match known {
        true => plan.run(&problem, &mut fitting),
        false => plan.run(&problem, &mut Probing::new(fitting)),
    };
    let failed = |stopped: super::Stopped<Error, R::Err>| match stopped.failure.cause {
        Cause::Failed(error) => AskError::Input(error),
        Cause::Training(error) => AskError::Population(error),
        Cause::NoNumber(value) => {
            Error::Mismatch(format!("the metric is {value}, expected a finite number")).into()
        }
    };
    let classifier = outcome.map_err(failed)?.classifier;
    Ok(metric(&prevalence(&held)?)?.of(&held.confusions(&classifier.predict(held.scores())?)?)?)
}
