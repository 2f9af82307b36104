//! Direct search over the weights of the classes by the values of the metric on the validation rows: for what slopes do not see,
//! such as the smallest of several recalls.

use super::oracle::{Cause, Failure, Guide as _, Judge, Probing};
use super::problem::Problem;
use crate::population::{Basis, Classifier, Form, PlugIn, Values, evaluate};

/// How far the corners of the first simplex are from the start, in logarithms of weights; those of later ones are nearer.
const STEPS: [f64; 4] = [0.8, 0.3, 0.1, 0.03];
/// A weight is searched on ever finer cuts of the rows, so many at a time.
const CUTS: usize = 24;

/// The best of the model, of the model corrected for how common the classes are, and of what is found from the better of them, by at
/// most so many values of the metric: one weight per class, for each part if `parts` cut the rows, for all rows otherwise.
///
/// With two classes thresholds that differ on the rows are tried, coarse steps first, part after part until none has a better
/// one; with more a simplex walks (Nelder and Mead 1965), which needs no slopes and follows ridges.
pub fn direct_search<J: Judge, T>(
    problem: &Problem<T>,
    judge: &mut Probing<J>,
    most: usize,
    parts: &[Basis],
) -> Result<Classifier, Failure<J::Err>> {
    let rows = problem.validation();
    let k = rows.classes();
    let values = evaluate(parts, rows.scores()).unwrap_or_default();
    let is_partition = (0..rows.len()).all(|row| {
        let values = values.iter().map(|values| values.at(row));
        values.clone().all(|v| v == 0.0 || v == 1.0) && values.sum::<f64>() == 1.0
    });
    let (parts, values) = match is_partition {
        true => (parts.to_vec(), values),
        false => (vec![Basis::All], vec![Values::One]),
    };
    let mut starts = vec![vec![0.0; parts.len() * k]];
    let mut left = most;
    if parts.len() > 1 {
        // Rules of the parts begin at the best rule for all of them.
        let asked = judge.queries();
        let common = direct_search(problem, judge, most / 3, &[])?;
        let logs: Vec<f64> = common.rules()[0].1.weights().iter().map(|weight| weight.ln()).collect();
        starts = vec![logs.repeat(parts.len())];
        left -= judge.queries() - asked;
    } else {
        let mut mass = vec![0.0; k];
        rows.truth().iter().zip(0..).for_each(|(&class, row)| mass[usize::from(class)] += rows.weight(row));
        starts.push(mass.iter().map(|mass| -(mass / rows.total()).ln()).collect());
    }
    let mut search = Search { problem, judge, values, left, best: (f64::NEG_INFINITY, starts[0].clone()) };
    for start in starts {
        search.attempt(&start)?;
    }
    if k == 2 {
        search.cuts()?;
    } else {
        for step in STEPS {
            search.simplex(step)?;
        }
    }
    let rule = rule(k, &search.best.1);
    Ok(Classifier::new(parts, vec![(1.0, rule)]))
}

fn rule(k: usize, logs: &[f64]) -> PlugIn {
    let weights = logs.iter().map(|log| log.clamp(-300.0, 300.0).exp()).collect();
    PlugIn::new(k, Form::Diagonal, weights).expect("finite weights")
}

struct Search<'a, J, T> {
    problem: &'a Problem<'a, T>,
    judge: &'a mut Probing<J>,
    values: Vec<Values<'a>>,
    /// How many values may be asked for.
    left: usize,
    /// The best value, and the logarithms of the weights there, part by part.
    best: (f64, Vec<f64>),
}

impl<J: Judge, T> Search<'_, J, T> {
    /// The value of a rule; minus infinity where there is none or nobody may be asked any more.
    fn attempt(&mut self, logs: &[f64]) -> Result<f64, Failure<J::Err>> {
        if self.left == 0 {
            return Ok(f64::NEG_INFINITY);
        }
        let rows = self.problem.validation();
        let labels = rule(rows.classes(), logs).predict(rows.scores(), &self.values);
        self.left -= 1;
        let value = match self.judge.value(&self.problem.predictions(&labels), "direct search") {
            // Precision where nothing is predicted, say: not a rule to choose, but no reason to stop.
            Err(Failure { cause: Cause::NoNumber(_), .. }) => f64::NEG_INFINITY,
            value => value?,
        };
        if value > self.best.0 {
            self.best = (value, logs.to_vec());
        }
        Ok(value)
    }

    /// Two classes: one part after the other, thresholds that differ on its rows, first far apart, then all around the best; until
    /// no part has a better one.
    fn cuts(&mut self) -> Result<(), Failure<J::Err>> {
        let rows = self.problem.validation();
        let ladders: Vec<Vec<f64>> = (0..self.values.len())
            .map(|part| {
                let members = (0..rows.len()).filter(|&row| self.values[part].at(row) > 0.0);
                // Class 1 is predicted where its weight over that of class 0 exceeds the odds against it.
                let odds = |row| (rows.scores().probability(0, row) / rows.scores().probability(1, row)).ln();
                let mut odds: Vec<f64> = members.map(odds).filter(|odds| odds.is_finite()).collect();
                odds.sort_by(f64::total_cmp);
                odds.dedup();
                let between = odds.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
                let ends = odds.first().zip(odds.last()).map(|(low, high)| [low - 1.0, high + 1.0]);
                let [low, high] = ends.unwrap_or_default();
                std::iter::once(low).chain(between).chain([high]).collect()
            })
            .collect();
        loop {
            let before = self.best.0;
            for (part, ladder) in ladders.iter().enumerate() {
                let (mut low, mut high) = (0, ladder.len() - 1);
                loop {
                    let stride = ((high - low) / CUTS).max(1);
                    let mut top = (f64::NEG_INFINITY, low);
                    for n in (low..=high).step_by(stride) {
                        let mut logs = self.best.1.clone();
                        (logs[2 * part], logs[2 * part + 1]) = (0.0, ladder[n]);
                        let value = self.attempt(&logs)?;
                        if value > top.0 {
                            top = (value, n);
                        }
                    }
                    if stride == 1 || self.left == 0 {
                        break;
                    }
                    (low, high) = (top.1.saturating_sub(stride), (top.1 + stride).min(ladder.len() - 1));
                }
            }
            if self.left == 0 || self.best.0 == before {
                return Ok(());
            }
        }
    }

    /// More classes: a simplex that moves away from its worst corner (Nelder and Mead 1965), from the best rule so far.
    ///
    /// The last class of every part keeps its weight: a common factor changes nothing.
    fn simplex(&mut self, step: f64) -> Result<(), Failure<J::Err>> {
        let (start, k) = (self.best.1.clone(), self.problem.classes());
        let free: Vec<usize> = (0..start.len()).filter(|n| n % k != k - 1).collect();
        let mut corners = vec![(self.best.0, start.clone())];
        for &n in &free {
            let mut corner = start.clone();
            corner[n] += step;
            corners.push((self.attempt(&corner)?, corner));
        }
        let size = |corners: &[(f64, Vec<f64>)]| {
            let far = |(_, corner): &(f64, Vec<f64>)| {
                corner.iter().zip(&corners[0].1).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            corners.iter().map(far).fold(0.0, f64::max)
        };
        // Values jump from row to row, so the simplex is small enough when the next one is as large.
        while self.left > 0 && size(&corners) > 0.3 * step {
            corners.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            let (worst, last) = corners.pop().expect("a corner per weight and one more");
            let mean =
                |n: usize| corners.iter().map(|(_, corner)| corner[n]).sum::<f64>() / corners.len() as f64;
            let centre: Vec<f64> = (0..last.len()).map(mean).collect();
            let away =
                |by: f64| -> Vec<f64> { centre.iter().zip(&last).map(|(c, l)| c + by * (c - l)).collect() };
            let reflected = (self.attempt(&away(1.0))?, away(1.0));
            let second = corners[corners.len() - 1].0;
            let next = if reflected.0 > corners[0].0 {
                let further = (self.attempt(&away(2.0))?, away(2.0));
                if further.0 > reflected.0 { further } else { reflected }
            } else if reflected.0 > second {
                reflected
            } else {
                let by = if reflected.0 > worst { 0.5 } else { -0.5 };
                (self.attempt(&away(by))?, away(by))
            };
            if next.0 > worst {
                corners.push(next);
                continue;
            }
            // Nothing helps on this side: the corners move half way to the best.
            corners.push((worst, last));
            let best = corners[0].1.clone();
            for corner in &mut corners[1..] {
                corner.1.iter_mut().zip(&best).for_each(|(x, b)| *x = f64::midpoint(*x, *b));
                corner.0 = self.attempt(&corner.1)?;
            }
        }
        Ok(())
    }
}
