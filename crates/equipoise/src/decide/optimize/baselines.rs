//! What one would try first: searches over a few weights on the validation rows, and undoing label noise.

use super::oracle::{Failure, Judge, Probing};
use super::problem::Problem;
use crate::error::{Result as Checked, check};
use crate::linalg::Singular;
use crate::metric::Metric;
use crate::population::{Basis, Classifier, Form, PlugIn, Profile, Rows, evaluate, largest};

/// Rounds of coordinate ascent at most.
const ROUNDS: usize = 10;

/// Transition matrices this close to singular are inverted in the directions they determine.
const CUT_OFF: f64 = 1e-6;

/// The model's most likely classes.
pub fn most_likely(classes: usize) -> Classifier {
    Classifier::new(vec![Basis::All], vec![(1.0, PlugIn::most_likely(classes, 1))])
}

/// The plug-in with coordinate-wise search (Appendix E.6): one weight per class, each tuned against the last class alone.
///
/// `candidates` values of every weight are tried.
pub fn plug_in_search<J: Judge, T>(
    problem: &Problem<T>,
    judge: &mut Probing<J>,
    candidates: usize,
) -> Result<Classifier, Failure<J::Err>> {
    let (rows, k) = (problem.validation(), problem.classes());
    let last = k - 1;
    let mut weights = vec![1.0; k];
    for class in 0..last {
        let eta = |class: usize, row: usize| rows.scores().probability(class, row);
        let ratio = |row: usize| eta(last, row) / eta(class, row);
        let mut best = f64::NEG_INFINITY;
        for weight in cuts((0..rows.len()).map(ratio), candidates) {
            // (E.72): one of the two classes for every row.
            let label = |row: usize| [class, last][largest([weight * eta(class, row), eta(last, row)])] as u8;
            let labels: Vec<u8> = (0..rows.len()).map(label).collect();
            let value = judge.value(&problem.predictions(&labels), "plug-in search")?;
            if value > best {
                (best, weights[class]) = (value, weight);
            }
        }
    }
    let rule = PlugIn::new(k, Form::Diagonal, weights).expect("one finite weight per class");
    Ok(Classifier::new(vec![Basis::All], vec![(1.0, rule)]))
}

/// The best threshold of two classes on the validation rows, or the best threshold for each of the groups that `parts` name in
/// their order: every one is tried, so none does better there.
pub fn best_thresholds<T>(problem: &Problem<T>, metric: &Metric, parts: Vec<Basis>) -> Checked<Classifier> {
    let rows = problem.validation();
    check::number("classes of a threshold", rows.classes() as f64, rows.classes() == 2, "2")?;
    let codes: Vec<u16> = (0..rows.len()).map(|row| rows.group(row) as u16).collect();
    let groups = (rows.groups() > 1).then_some((&codes[..], rows.groups()));
    let profile = Profile::from_rows(rows.scores().positive(), rows.truth(), rows.weights(), groups)?;
    let cuts = match parts.is_empty() {
        true => profile.best(metric, &[])?.found().map(|best| vec![best.cut]),
        false => profile.best_per_group(metric, &[])?.found().map(|best| best.cuts),
    };
    let weights = cuts.into_iter().flatten().flat_map(|cut| match (cut.above, cut.up_to) {
        (None, _) => [-1.0, 1.0],
        (_, None) => [1.0, 0.0],
        // A rule accepts beyond its threshold, not from it on.
        (Some(above), Some(up_to)) => {
            let at = if cut.threshold < up_to { cut.threshold } else { above };
            [at, 1.0 - at]
        }
    });
    let parts = if parts.is_empty() { vec![Basis::All] } else { parts };
    let weights: Vec<f64> = weights.collect();
    check::length("thresholds", weights.len() / 2, parts.len())?;
    Ok(Classifier::new(parts, vec![(1.0, PlugIn::new(2, Form::Diagonal, weights)?)]))
}

/// Cyclic coordinate ascent on the full argmax: one weight at a time, every class in play, until nothing improves.
///
/// Much better than [`plug_in_search`] for more than two classes.
pub fn cyclic_search<J: Judge, T>(
    problem: &Problem<T>,
    judge: &mut Probing<J>,
    candidates: usize,
) -> Result<Classifier, Failure<J::Err>> {
    ascend(problem, judge, candidates, vec![Basis::All])
}

/// The same with weights of their own for every part of the rows: a threshold per group, for two classes.
///
/// `parts` are hard bases that cut the rows, such as one column of 0 and 1 per group.
pub fn group_thresholds<J: Judge, T>(
    problem: &Problem<T>,
    judge: &mut Probing<J>,
    candidates: usize,
    parts: Vec<Basis>,
) -> crate::Result<Result<Classifier, Failure<J::Err>>> {
    evaluate(&parts, problem.validation().scores())?;
    Ok(ascend(problem, judge, candidates, parts))
}

fn ascend<J: Judge, T>(
    problem: &Problem<T>,
    judge: &mut Probing<J>,
    candidates: usize,
    parts: Vec<Basis>,
) -> Result<Classifier, Failure<J::Err>> {
    let (rows, k) = (problem.validation(), problem.classes());
    let values = evaluate(&parts, rows.scores()).expect("checked by the caller");
    let mut weights = vec![1.0; parts.len() * k];
    let rule = |weights: &[f64]| PlugIn::new(k, Form::Diagonal, weights.to_vec()).expect("finite weights");
    let value = |weights: &[f64], judge: &mut Probing<J>| {
        let labels = rule(weights).predict(rows.scores(), &values);
        judge.value(&problem.predictions(&labels), "coordinate search")
    };
    let mut best = value(&weights, judge)?;
    for _ in 0..ROUNDS {
        let before = best;
        // Of two classes one weight says it all.
        for coordinate in (0..weights.len()).filter(|coordinate| k > 2 || coordinate % k == 1) {
            let (part, class) = (coordinate / k, coordinate % k);
            let others = |row: usize| {
                let score = |j: usize| weights[part * k + j] * rows.scores().probability(j, row);
                let largest = (0..k).filter(|&j| j != class).map(score).fold(0.0, f64::max);
                largest / rows.scores().probability(class, row)
            };
            let members = (0..rows.len()).filter(|&row| values[part].at(row) > 0.0).map(others);
            let mut chosen = weights[coordinate];
            for weight in cuts(members, candidates) {
                weights[coordinate] = weight;
                let found = value(&weights, judge)?;
                if found > best {
                    (best, chosen) = (found, weight);
                }
            }
            weights[coordinate] = chosen;
        }
        if best <= before {
            break;
        }
    }
    Ok(Classifier::new(parts, vec![(1.0, rule(&weights))]))
}

/// Values between which rows change sides: at most `count`, evenly over the rows.
fn cuts(ratios: impl Iterator<Item = f64>, count: usize) -> Vec<f64> {
    let mut ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect();
    ratios.sort_by(f64::total_cmp);
    ratios.dedup();
    let Some((&low, &high)) = ratios.first().zip(ratios.last()) else { return vec![1.0] };
    let middle = ratios.windows(2).map(|pair| (pair[0] * pair[1]).sqrt());
    let all: Vec<f64> = [low / 2.0].into_iter().chain(middle).chain([high * 2.0]).collect();
    let count = count.clamp(1, all.len());
    (0..count).map(|n| all[n * (all.len() - 1) / (count - 1).max(1)]).collect()
}

/// Undoes label noise that depends on the class alone: $\arg\max_j (\eta T^{-1})_j$, where row i of T is the mean prediction
/// of the model for validation rows of class i.
pub fn transition_matrix(validation: &Rows) -> Classifier {
    let k = validation.classes();
    let mut transition = vec![vec![0.0; k]; k];
    let mut mass = vec![0.0; k];
    for (row, &truth) in validation.truth().iter().enumerate() {
        let (truth, weight) = (usize::from(truth), validation.weight(row));
        mass[truth] += weight;
        (0..k).for_each(|j| transition[truth][j] += weight * validation.scores().probability(j, row));
    }
    transition.iter_mut().zip(mass).for_each(|(row, mass)| row.iter_mut().for_each(|t| *t /= mass));
    let decomposed = Singular::of(&transition, k);
    let mut rewards = vec![0.0; k * k];
    for j in 0..k {
        let mut unit = vec![0.0; k];
        unit[j] = 1.0;
        // Column j of the inverse.
        decomposed.solve(&unit, CUT_OFF).into_iter().enumerate().for_each(|(i, w)| rewards[i * k + j] = w);
    }
    let rule = PlugIn::new(k, Form::General, rewards).unwrap_or_else(|_| PlugIn::most_likely(k, 1));
    Classifier::new(vec![Basis::All], vec![(1.0, rule)])
}
