//! Algorithm 7.2, PI-EW: elicit weights once and plug them in. All a linear metric needs.

use super::oracle::{Failure, Guide};
use super::problem::Problem;
use super::weights::{Weights, elicit_weights};
use crate::population::{Classifier, Form, PlugIn};

/// The classifier with the weights elicited around the most likely classes, and those weights: of all entries of a confusion
/// matrix, or of its diagonal.
pub fn plug_in<G: Guide, T>(
    problem: &Problem<T>,
    general: bool,
    guide: &mut G,
) -> Result<(Classifier, Weights), Failure<G::Err, T>> {
    let most_likely = PlugIn::most_likely(problem.classes(), problem.bases().len());
    let weights = elicit_weights(problem, &most_likely, Form::new(general), guide)?;
    Ok((Classifier::new(problem.bases().to_vec(), vec![(1.0, weights.rule.clone())]), weights))
}
