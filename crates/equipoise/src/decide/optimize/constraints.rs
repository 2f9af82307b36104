//! Probing classifiers that satisfy the constraints (7.14), for hard clusters: Appendix E.7.
//!
//! The probe for cluster $\ell$ and class i predicts i on the whole cluster, which makes $\Phi^\ell_i$ as large as it can
//! be, and is wrong on the other clusters as evenly as it can be, which makes every other entry small.

use super::problem::{Position, Problem};
use crate::error::Error;
use crate::population::{AskError, Form, PlugIn};

/// Values of a threshold, or of a ratio of two weights, that are tried.
const GRID: usize = 99;

/// One probing classifier for every cluster and class.
#[derive(Debug)]
pub(super) struct Constraints {
    rules: Vec<Position>,
}

impl Constraints {
    /// Builds the probes; the bases must cut the rows into clusters.
    pub fn new<T>(problem: &Problem<T>) -> Result<Self, AskError<T>> {
        let (bases, k) = (problem.bases().len(), problem.classes());
        check_partition(problem)?;
        let wrong = contrary_weights(problem)?;
        let mut rules = Vec::with_capacity(bases * k);
        for cluster in 0..bases {
            for class in 0..k {
                let mut weights = vec![0.0; bases * k * k];
                for (other, block) in weights.chunks_mut(k * k).enumerate() {
                    if other == cluster {
                        (0..k).for_each(|truth| block[truth * k + class] = 1.0);
                    } else {
                        (0..k).for_each(|j| block[j * k + j] = -wrong[other * k + j]);
                    }
                }
                rules.push(PlugIn::new(k, Form::General, weights)?);
            }
        }
        Ok(Self { rules: problem.positions(&rules).map_err(AskError::Population)? })
    }

    pub fn rules(&self) -> impl Iterator<Item = &Position> {
        self.rules.iter()
    }
}

fn check_partition<T>(problem: &Problem<T>) -> Result<(), AskError<T>> {
    let (bases, k) = (problem.bases().len(), problem.classes());
    let moments = &(problem.training)(&[PlugIn::most_likely(k, bases)]).map_err(AskError::Population)?[0];
    let mass = |block: &[f64]| block.iter().sum::<f64>();
    let hard = (0..bases).all(|l| (mass(moments.first(l)) - mass(moments.second(l, l))).abs() < 1e-9);
    let disjoint = (0..bases).all(|l| (0..l).all(|m| mass(moments.second(l, m)) < 1e-9));
    let covered = ((0..bases).map(|l| mass(moments.first(l))).sum::<f64>() - 1.0).abs() < 1e-9;
    if hard && disjoint && covered {
        return Ok(());
    }
    let what =
        "the bases overlap, are soft or leave rows out, expected hard clusters with every row in exactly one";
    Err(Error::Mismatch(what.to_owned()).into())
}

/// Positive weights w, cluster by cluster, such that $\arg\min_j w_j\eta_j$ is wrong about all classes alike: the weight of
/// each class against the last from a line search (E.74 for two classes, E.76 for more).
fn contrary_weights<T>(problem: &Problem<T>) -> Result<Vec<f64>, AskError<T>> {
    let (bases, k) = (problem.bases().len(), problem.classes());
    let mut weights = vec![1.0; bases * k];
    for class in 0..k - 1 {
        let mut best = vec![f64::INFINITY; bases];
        let ratios: Vec<f64> = (1..=GRID).map(|n| n as f64 / (GRID + 1) as f64).collect();
        let rules = ratios.iter().map(|&ratio| between(bases, k, class, ratio));
        let rules = rules.collect::<Result<Vec<_>, Error>>()?;
        let moments = (problem.training)(&rules).map_err(AskError::Population)?;
        for (ratio, moments) in ratios.into_iter().zip(moments) {
            for cluster in 0..bases {
                let right = (0..k).map(|i| moments.first(cluster)[i * k + i]).fold(0.0, f64::max);
                if right < best[cluster] {
                    best[cluster] = right;
                    weights[cluster * k + class] = ratio / (1.0 - ratio);
                }
            }
        }
    }
    Ok(weights)
}

/// Predicts `class` where $\zeta\eta_{class} < (1-\zeta)\eta_{last}$ and the last class elsewhere, never another.
fn between(bases: usize, k: usize, class: usize, ratio: f64) -> Result<PlugIn, Error> {
    let last = k - 1;
    // Scores of the two are at least -1; a reward of -2 whatever the truth keeps the others out.
    let entry = |n: usize| match (n / k % k, n % k) {
        (i, j) if i == class && j == class => -ratio,
        (i, j) if i == last && j == last => -(1.0 - ratio),
        (_, j) if j == class || j == last => 0.0,
        _ => -2.0,
    };
    PlugIn::new(k, Form::General, (0..bases * k * k).map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::optimize::FrankWolfe;
    use crate::error::Result;
    use crate::metric::Metric;
    use crate::population::{Basis, Column, Rows, Scores};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Rows of two clusters whose model is calibrated.
    fn columns(classes: usize) -> (Vec<Vec<f64>>, Vec<u8>, Vec<bool>) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut probabilities = vec![Vec::new(); classes];
        let (mut truth, mut cluster) = (Vec::new(), Vec::new());
        for _ in 0..2000 {
            let odds: Vec<f64> = (0..classes).map(|_| random.random_range(0.0_f64..4.0).exp()).collect();
            let total: f64 = odds.iter().sum();
            let mut left: f64 = random.random_range(0.0..total);
            let class = odds.iter().position(|odds| {
                left -= odds;
                left < 0.0
            });
            truth.push(class.unwrap_or(0) as u8);
            cluster.push(random.random_range(0.0..1.0) < 0.4);
            probabilities.iter_mut().zip(odds).for_each(|(column, odds)| column.push(odds / total));
        }
        (probabilities, truth, cluster)
    }

    #[test]
    fn the_probes_have_one_large_entry_and_small_others() -> Result<()> {
        for classes in [2, 3] {
            let (probabilities, truth, cluster) = columns(classes);
            let other: Vec<bool> = cluster.iter().map(|c| !c).collect();
            let scores = Scores::new(probabilities.iter().map(Vec::as_slice).collect())?;
            let scores = scores.with_column("in", Column::Flags(&cluster))?;
            let rows = Rows::new(scores.with_column("out", Column::Flags(&other))?, &truth)?;
            let problem = Problem::new(&rows, &rows, vec![Basis::column("in"), Basis::column("out")])?;
            let constraints = Constraints::new(&problem)?;
            for (n, rule) in constraints.rules().enumerate() {
                let entry = |m: usize| rule.training.first(m / classes)[m % classes * (classes + 1)];
                let largest_other = (0..2 * classes).filter(|&m| m != n).map(entry).fold(0.0, f64::max);
                assert!(entry(n) > 2.0 * largest_other, "{n}: {} {largest_other}", entry(n));
            }
            let fixed = FrankWolfe::default().general(false);
            let metric = Metric::g_mean(classes)?;
            let value = |plan: FrankWolfe| {
                let outcome = plan.run(&problem, &mut metric.clone()).unwrap();
                let labels = outcome.classifier.predict(rows.scores()).unwrap();
                metric.of(&rows.confusions(&labels).unwrap()).unwrap()
            };
            let (with, without) = (value(fixed.clone().constraint_probes()), value(fixed));
            assert!((with - without).abs() < 0.01, "{with} {without}");
        }
        Ok(())
    }

    #[test]
    fn overlapping_bases_are_refused() -> Result<()> {
        let (probabilities, truth, cluster) = columns(2);
        let scores = Scores::new(probabilities.iter().map(Vec::as_slice).collect())?;
        let rows = Rows::new(scores.with_column("in", Column::Flags(&cluster))?, &truth)?;
        let problem = Problem::new(&rows, &rows, vec![Basis::All, Basis::column("in")])?;
        let wrong = FrankWolfe::default().constraint_probes().check(&problem).unwrap_err().to_string();
        assert!(wrong.starts_with("the bases overlap"), "{wrong}");
        Ok(())
    }
}
