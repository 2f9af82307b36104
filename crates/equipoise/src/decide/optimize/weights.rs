//! Algorithm 7.1, ElicitWeights: the example weights that make a training objective move like the metric does.

use super::constraints::Constraints;
use super::oracle::{Failure, Guide, Neighbourhood};
use super::probe::{Move, Probes};
use super::problem::{Position, Problem};
use crate::linalg::Singular;
use crate::population::{AskError, Form, PlugIn};

/// Singular values below this times the largest count as zero. Overlapping bases make some exactly zero.
const CUT_OFF: f64 = 1e-6;

/// The recalls of a trivial classifier sum to 1 in every cluster; this close to it the system is as good as singular.
const NEAR_TRIVIAL: f64 = 0.05;

/// A class that is predicted for less than this share of an even part of a basis is as good as never predicted.
const NEARLY_NEVER: f64 = 0.05;

/// How much of a classifier that predicts all classes is mixed in where the current one leaves some out.
const BLEND: f64 = 0.1;

/// Elicited weights, and how much of them the probes determine.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The plug-in rule with these weights.
    pub rule: PlugIn,
    /// The numerical rank of the system.
    pub rank: usize,
    /// How many weights it has.
    pub unknowns: usize,
}

/// What stays the same from one elicitation to the next. The anchors are the model itself and a balanced classifier.
#[derive(Debug)]
pub(super) struct Elicitation {
    form: Form,
    /// Classifiers that are not trivial, to move towards when the current one nearly is.
    anchors: Vec<Position>,
    constraints: Option<Constraints>,
}

impl Elicitation {
    pub fn new<T>(problem: &Problem<T>, form: Form, probes: Probes) -> Result<Self, AskError<T>> {
        let (bases, k) = (problem.bases().len(), problem.classes());
        let position = |rule: &PlugIn| problem.position(rule).map_err(AskError::Population);
        let most_likely = position(&PlugIn::most_likely(k, bases))?;
        // The most likely class may be the same everywhere; dividing by class frequencies keeps all classes in play.
        let frequency =
            |n: usize| most_likely.training.second(n / k, n / k)[n % k * k..][..k].iter().sum::<f64>();
        let balanced = PlugIn::new(k, Form::Diagonal, (0..bases * k).map(|n| 1.0 / frequency(n)).collect())?;
        let constraints = match probes {
            Probes::Fixed => None,
            Probes::Constraints => Some(Constraints::new(problem)?),
        };
        Ok(Self { form, anchors: vec![most_likely, position(&balanced)?], constraints })
    }

    /// The weights that explain the slopes around a classifier.
    pub fn run<G: Guide, T>(
        &self,
        problem: &Problem<T>,
        at: &Position,
        guide: &mut G,
    ) -> Result<Weights, Failure<G::Err>> {
        let (bases, k) = (problem.bases().len(), problem.classes());
        // Nothing can be moved away from a class that is never predicted. A little of a classifier that predicts all of
        // them makes every transfer possible; for a linear metric the slopes stay what they are.
        let mut blended;
        let at = match self.form {
            Form::General if (0..bases).any(|basis| leaves_a_class_out(at, basis, k)) => {
                blended = at.clone();
                blended.mix(BLEND, &self.anchors[1]);
                &blended
            }
            _ => at,
        };
        let mut moves = match &self.constraints {
            None => Move::fixed(self.form, bases, k),
            Some(constraints) => constraints.rules().map(|rule| Move::Towards { rule }).collect(),
        };
        for basis in (0..bases).filter(|&basis| is_nearly_trivial(at, basis, k)) {
            moves.extend(self.anchors.iter().map(|rule| Move::Within { basis, rule }));
        }
        let around = Neighbourhood::new(&problem.validation, at, moves);
        let slopes = guide.slopes(&around)?;
        let unknowns = bases * self.form.weights(k);
        let weighed =
            |row: Vec<f64>| row.chunks(k * k).flat_map(|matrix| self.form.weighed(matrix)).collect();
        let rows: Vec<Vec<f64>> = around.rows_of().map(weighed).collect();
        let system = Singular::of(&rows, unknowns);
        let weights = system.solve(&slopes, CUT_OFF);
        let rule = PlugIn::new(k, self.form, weights).unwrap_or_else(|_| PlugIn::most_likely(k, bases));
        Ok(Weights { rule, rank: system.rank(CUT_OFF), unknowns })
    }
}

fn leaves_a_class_out(at: &Position, basis: usize, classes: usize) -> bool {
    let matrix = at.training.second(basis, basis);
    let mass: f64 = matrix.iter().sum();
    let predicted = |class: usize| matrix.iter().skip(class).step_by(classes).sum::<f64>();
    (0..classes).any(|class| predicted(class) < NEARLY_NEVER * mass / classes as f64)
}

fn is_nearly_trivial(at: &Position, basis: usize, classes: usize) -> bool {
    let matrix = at.training.second(basis, basis);
    let recall = |(i, row): (usize, &[f64])| row[i] / row.iter().sum::<f64>();
    let sum: f64 = matrix.chunks(classes).enumerate().map(recall).sum();
    (sum - 1.0).abs() < NEAR_TRIVIAL
}

/// Elicits weights around a rule.
///
/// Solves $\Delta\alpha = \text{slopes}$ for minimum norm, where a row of $\Delta$ is what a probe adds to the
/// $\phi$-confusions of the training rows. Only differences count, the whole system follows from moments that are kept,
/// and bases may overlap: the rank says how much is determined.
///
/// # Departures
/// The print inverts the matrix of values (7.13). It is singular for overlapping bases and at every trivial classifier, and
/// biased for metrics that are not homogeneous of degree 1.
pub fn elicit_weights<G: Guide, T>(
    problem: &Problem<T>,
    around: &PlugIn,
    form: Form,
    guide: &mut G,
) -> Result<Weights, Failure<G::Err, T>> {
    let unanswered = |calls| move |error| Failure::training(calls, error);
    let elicitation = match Elicitation::new(problem, form, Probes::Fixed) {
        Err(AskError::Population(error)) => return Err(unanswered(0)(error)),
        made => made.map_err(drop).expect("fixed probes fit every problem"),
    };
    let at = problem.position(around).map_err(unanswered(0))?;
    elicitation.run(problem, &at, guide).map_err(Failure::of_guide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::optimize::oracle::Probing;
    use crate::error::Result as Checked;
    use crate::metric::Metric;
    use crate::population::{Basis, Column, Rows, Scores};

    const POSITIVE: [f64; 12] = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.15, 0.35, 0.65, 0.85];
    const TRUTH: [u8; 12] = [0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1];

    /// In a hard partition: $\alpha_i = (e_i + \sum_j TPR_j e_j/(1 - \sum_j TPR_j))/\pi_i$ inside every cluster.
    #[test]
    fn a_partition_has_the_closed_form() -> Checked<()> {
        let flags = [true, true, true, true, true, true, true, true, false, false, false, false];
        let others = flags.map(|flag| !flag);
        let scores = Scores::new(vec![&POSITIVE])?;
        let scores =
            scores.with_column("a", Column::Flags(&flags))?.with_column("b", Column::Flags(&others))?;
        let rows = Rows::new(scores, &TRUTH)?;
        let problem = Problem::new(&rows, &rows, vec![Basis::column("a"), Basis::column("b")])?;
        let rule = PlugIn::most_likely(2, 2);
        let Ok(at) = problem.position(&rule);
        struct Fixed(Vec<f64>);
        impl Guide for Fixed {
            type Err = std::convert::Infallible;
            fn slopes(&mut self, _: &Neighbourhood<'_>) -> Result<Vec<f64>, Failure<Self::Err>> {
                Ok(self.0.clone())
            }
            fn prefers(
                &mut self,
                _: &super::super::Predictions<'_>,
                _: &super::super::Predictions<'_>,
            ) -> Result<bool, Failure<Self::Err>> {
                Ok(false)
            }
            fn queries(&self) -> usize {
                0
            }
        }
        let slopes = vec![0.3, -0.2, 0.7, 0.1];
        let found = elicit_weights(&problem, &rule, Form::Diagonal, &mut Fixed(slopes.clone())).unwrap();
        assert_eq!((found.rank, found.unknowns), (4, 4));
        for basis in 0..2 {
            let matrix = at.training.second(basis, basis);
            let prior = [matrix[0] + matrix[1], matrix[2] + matrix[3]];
            let recall = [matrix[0] / prior[0], matrix[3] / prior[1]];
            let e = &slopes[basis * 2..][..2];
            let common = (recall[0] * e[0] + recall[1] * e[1]) / (1.0 - recall[0] - recall[1]);
            for class in 0..2 {
                let expected = (e[class] + common) / prior[class];
                assert!((found.rule.of_basis(basis)[class] - expected).abs() < 1e-9);
            }
        }
        Ok(())
    }

    #[test]
    fn overlapping_bases_are_solved_at_their_rank() -> Checked<()> {
        let flags = [true, false, true, false, true, false, true, false, true, true, false, true];
        let others = flags.map(|flag| !flag);
        let scores = Scores::new(vec![&POSITIVE])?;
        let scores =
            scores.with_column("a", Column::Flags(&flags))?.with_column("b", Column::Flags(&others))?;
        let rows = Rows::new(scores, &TRUTH)?;
        let bases = vec![Basis::All, Basis::column("a"), Basis::column("b")];
        let problem = Problem::new(&rows, &rows, bases)?;
        let mut metric = Metric::f_beta(1.0, 7.0 / 12.0)?;
        let start = PlugIn::most_likely(2, 3);
        let found = elicit_weights(&problem, &start, Form::Diagonal, &mut metric.clone()).unwrap();
        assert_eq!((found.rank, found.unknowns), (4, 6));
        let probed =
            elicit_weights(&problem, &start, Form::Diagonal, &mut Probing::new(metric.clone())).unwrap();
        for (known, unknown) in found.rule.weights().iter().zip(probed.rule.weights()) {
            assert!((known - unknown).abs() < 0.02 * known.abs().max(1.0), "{known} {unknown}");
        }
        let general = elicit_weights(&problem, &start, Form::General, &mut metric).unwrap();
        assert!(general.rank <= 3 * 2, "row sums are fixed");
        Ok(())
    }
}
