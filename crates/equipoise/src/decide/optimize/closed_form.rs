//! A metric in closed form as a judge, which tells its values only, and as a guide, which tells its slopes too.

use super::oracle::{Cause, Failure, Guide, Judge, Labels, Neighbourhood, Predictions};
use crate::error::{Error, Result};
use crate::linalg::dot;
use crate::metric::Metric;

fn liking(metric: &Metric, predictions: &Predictions<'_>) -> Result<f64> {
    Ok(metric.sense().sign() * metric.of(&predictions.confusions()?)?)
}

/// Evaluates without telling its form: the metric as a black box.
impl Judge for Metric {
    type Err = Error;

    fn labels(&self) -> Labels {
        Labels::Soft
    }

    fn value(&mut self, predictions: &Predictions<'_>) -> Result<f64> {
        liking(self, predictions)
    }
}

/// $\psi$ is known: slopes are the gradient along the moves, and nobody is asked.
impl Guide for Metric {
    type Err = Error;

    fn slopes(&mut self, around: &Neighbourhood<'_>) -> std::result::Result<Vec<f64>, Failure<Error>> {
        let slopes = || -> Result<Vec<f64>> {
            let confusions = around.here().confusions()?;
            let (view, sign) = (self.view(), self.sense().sign());
            let gradient = self.gradient(&view.of(&confusions)?);
            let slope = |n| sign * dot(&gradient, &view.change(&confusions, &around.displacement(n)));
            Ok((0..around.moves()).map(slope).collect())
        };
        slopes().map_err(|error| failure("the gradient", error))
    }

    fn prefers(
        &mut self,
        first: &Predictions<'_>,
        second: &Predictions<'_>,
    ) -> std::result::Result<bool, Failure<Error>> {
        let liking = |it| liking(self, it).map_err(|error| failure("the result", error));
        Ok(liking(first)? > liking(second)?)
    }

    fn queries(&self) -> usize {
        0
    }
}

fn failure(about: &str, error: Error) -> Failure<Error> {
    Failure { call: 1, about: about.to_owned(), cause: Cause::Failed(error) }
}
