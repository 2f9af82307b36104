//! The errors that classifiers over a population can make, and the classifier behind each point.

use super::Space;
use super::mixture::{Mixture, all_within};
use crate::error::{Error, Result, check, refuse};
use crate::linalg::{direction, dot, norm};
use crate::population::{AskError, Confusions, PostShift, Randomised};
use crate::rates::{GroupConfusions, off_diagonal_pairs};
use crate::view::{Measure, Point, View};
use std::convert::Infallible;

/// The set of all off-diagonal rates, or joint probabilities, that classifiers over a population reach
/// (Propositions 4.3 and 5.1).
///
/// It is convex, and every boundary point belongs to a post-shift rule, so asking the population for the
/// confusion matrices of such rules is enough to know it. Of a population in groups it is either the errors of
/// everybody together, or those of each group side by side ([`Measure::GroupRates`]).
///
/// Over a table the probabilities are estimates, and the rule that would be best if they were true need not be best on
/// its rows. What is said to be achievable then still is, with its classifier; the set found may be a little too
/// small, and an upper bound such as [`Achievable::radius_bound`] is one for this smaller set.
///
/// ```
/// use equipoise::{Measure, population::Softmax, space::Achievable};
/// let law = Softmax::new(vec![1.0, 3.0, 5.0])?;
/// let set = Achievable::new(&law, Measure::OffDiagonalRates)?;
/// let errors = [0.3, 0.3, 0.3, 0.4, 0.35, 0.3];
/// let classifier = set.mixture(&errors, 1e-9)?.expect("close to tossing a coin");
/// assert!(classifier.rules().len() <= 7);
/// assert!((classifier.confusions(&law)?.rates(0)?.get(1, 2) - 0.4).abs() < 1e-9);
/// assert!(set.mixture(&[0.0; 6], 1e-9)?.is_none()); // nobody makes no errors
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug)]
pub struct Achievable<'a, P: Confusions + ?Sized> {
    pub(super) population: &'a P,
    pub(super) view: View,
    /// $P(G=g, Y=i)$, or $P(Y=i)$ where groups are not told apart.
    pub(super) priors: Vec<Vec<f64>>,
}

impl<'a, P: Confusions + ?Sized> Achievable<'a, P> {
    /// The set of a population, for a measure that lists errors. Every class must occur, in every group if
    /// they are told apart.
    pub fn new(population: &'a P, measure: Measure) -> Result<Self> {
        refuse!(!measure.lists_errors(), "measure is \"{}\", expected one that lists errors", measure.name());
        let prevalence = population.prevalence();
        let classes = prevalence.class_priors();
        let (groups, priors) = if measure == Measure::GroupRates {
            let shares = prevalence.group_shares();
            let prior = |g: usize| (0..classes.len()).map(|i| classes[i] * shares.get(g, i)).collect();
            (shares.groups(), (0..shares.groups()).map(prior).collect())
        } else {
            (1, vec![classes.to_vec()])
        };
        let view = View::new(measure, classes.len(), groups)?;
        every_class_occurs(&priors)?;
        Ok(Self { population, view, priors })
    }

    /// The rule that makes the weighted sum of one group's errors largest, and its errors.
    ///
    /// For weights $u$ on the rates $R_{ij} = C_{ij} / \zeta_i$ it is
    ///
    /// $$ \arg\max_j \sum_{i \ne j} \frac{u_{ij}}{\zeta_i}\,\eta_i(x), $$
    ///
    /// with the class priors of the group; weights on joint probabilities are not divided.
    pub fn extreme(&self, weights: &[f64], group: usize) -> Result<(PostShift, Point), AskError<P::Err>> {
        self.check(weights, group)?;
        let points = self.points(&[self.rule(weights, group)], group).map_err(AskError::Population)?;
        let point = points.into_iter().next().expect("a point for the rule");
        let (known_as, point) = self.or_constant(weights, point, group);
        Ok((self.rule(&known_as, group), point))
    }

    /// The support function $h(u) = \max_r \langle u, r \rangle$ over one group's errors.
    pub fn support(&self, weights: &[f64], group: usize) -> Result<f64, AskError<P::Err>> {
        Ok(dot(weights, &self.extreme(weights, group)?.1))
    }

    /// The errors of a classifier, in every group that is told apart.
    pub fn errors_of(&self, confusions: &GroupConfusions) -> Point {
        (0..self.groups()).flat_map(|group| self.point(confusions, group)).collect()
    }

    /// The classifier behind a point of the whole view: a draw between at most dimension + 1 rules whose errors
    /// are within `tolerance` of it, in every group. `None` when no classifier makes them.
    ///
    /// Rounding leaves about 1e-11 between a smooth boundary and the mixtures found: 1e-9 is a good tolerance.
    pub fn mixture(&self, point: &[f64], tolerance: f64) -> Result<Option<Randomised>, AskError<P::Err>> {
        check::length("point", point.len(), self.view.dimension())?;
        check::all_finite("point", point)?;
        check::tolerance("tolerance", tolerance)?;
        let found = self.mixtures(point, tolerance).map_err(AskError::Population)?;
        Ok(found.map(|groups| self.draw_together(&groups)).transpose()?)
    }

    fn mixtures(&self, point: &[f64], tolerance: f64) -> Result<Option<Vec<Mixture>>, P::Err> {
        let targets: Vec<&[f64]> = point.chunks(self.errors()).collect();
        all_within(&targets, tolerance, |directions| self.best_of_each(directions))
    }

    /// One draw for all groups: the unit interval is cut where any group's mixture changes its rule.
    fn draw_together(&self, groups: &[Mixture]) -> Result<Randomised> {
        let (mut shares, mut rules) = (vec![], vec![]);
        let mut at = vec![0; groups.len()];
        let mut left: Vec<f64> = groups.iter().map(|mixture| mixture.shares[0]).collect();
        while at.iter().zip(groups).all(|(&n, mixture)| n < mixture.shares.len()) {
            let share = left.iter().copied().fold(f64::INFINITY, f64::min);
            let rewards = (0..groups.len()).map(|g| self.rewards(&groups[g].directions[at[g]], g));
            rules.push(PostShift::per_group(self.view.classes(), rewards.collect())?);
            shares.push(share);
            for g in 0..groups.len() {
                left[g] -= share;
                if left[g] <= 0.0 {
                    at[g] += 1;
                    left[g] = groups[g].shares.get(at[g]).copied().unwrap_or(0.0);
                }
            }
        }
        Randomised::new(shares, rules)
    }

    /// $q = k^2 - k$, the errors of one group.
    pub(super) fn errors(&self) -> usize {
        self.view.classes() * (self.view.classes() - 1)
    }

    /// Number of groups told apart.
    pub(super) fn groups(&self) -> usize {
        self.view.groups()
    }

    /// What a rate is multiplied by to become a coordinate.
    pub(super) fn scale(&self, truth: usize, group: usize) -> f64 {
        if self.view.measure() == Measure::OffDiagonal { self.priors[group][truth] } else { 1.0 }
    }

    /// The errors of the uniformly random classifier in one group.
    pub(super) fn centre_of(&self, group: usize) -> Point {
        let k = self.view.classes();
        off_diagonal_pairs(k).map(|(i, _)| self.scale(i, group) / k as f64).collect()
    }

    /// The rule of [`Achievable::extreme`], which serves every group but is best for one.
    fn rule(&self, weights: &[f64], group: usize) -> PostShift {
        PostShift::new(self.view.classes(), self.rewards(weights, group))
            .expect("unit weights over positive priors")
    }

    /// The best errors in one group, for a batch of weights.
    pub(super) fn best_points(&self, batch: &[&[f64]], group: usize) -> Result<Vec<Point>, P::Err> {
        let rules: Vec<PostShift> = batch.iter().map(|weights| self.rule(weights, group)).collect();
        let points = self.points(&rules, group)?.into_iter().zip(batch);
        Ok(points.map(|(point, weights)| self.or_constant(weights, point, group).1).collect())
    }

    /// The errors of rules in one group.
    fn points(&self, rules: &[PostShift], group: usize) -> Result<Vec<Point>, P::Err> {
        let found = self.population.shifted(rules)?;
        Ok(found.iter().map(|confusions| self.point(confusions, group)).collect())
    }

    /// The errors of a classifier in one group.
    fn point(&self, confusions: &GroupConfusions, group: usize) -> Point {
        let error = |(i, j)| self.rate(confusions, i, j, group) * self.scale(i, group);
        off_diagonal_pairs(self.view.classes()).map(error).collect()
    }

    /// $P(h=j \mid Y=i)$ within a group, or of everybody.
    pub(super) fn rate(
        &self,
        confusions: &GroupConfusions,
        truth: usize,
        estimate: usize,
        group: usize,
    ) -> f64 {
        let joint = if self.view.measure() == Measure::GroupRates {
            confusions.get(group, truth, estimate)
        } else {
            (0..confusions.groups()).map(|g| confusions.get(g, truth, estimate)).sum()
        };
        joint / self.priors[group][truth]
    }

    /// The best errors of every group, for weights on each group's errors, with the weights of their rules.
    fn best_of_each(&self, weights: &[Vec<f64>]) -> Result<Vec<(Vec<f64>, Point)>, P::Err> {
        let rewards = weights.iter().enumerate().map(|(group, weights)| self.rewards(weights, group));
        let rule = PostShift::per_group(self.view.classes(), rewards.collect())
            .expect("unit weights over positive priors");
        let confusions = self.population.shifted(&[rule])?;
        let best = |(group, weights): (usize, &Vec<f64>)| {
            self.or_constant(weights, self.point(&confusions[0], group), group)
        };
        Ok(weights.iter().enumerate().map(best).collect())
    }

    /// The point of a rule, or of always predicting one class if that is better, with weights of the rule.
    ///
    /// Where probabilities are far from the truth, as in small tables, the rule may be worse than a constant. The
    /// centre is a draw between constants, so with them it is never outside the set found.
    fn or_constant(&self, weights: &[f64], point: Point, group: usize) -> (Vec<f64>, Point) {
        let k = self.view.classes();
        let constants = (0..k).map(|class| (always(k, class), self.constant(class, group)));
        let start = (weights.to_vec(), point);
        constants.fold(start, |best, constant| {
            // Equal up to rounding is not better.
            let ahead = dot(weights, &constant.1) - dot(weights, &best.1);
            if ahead > 1e-12 * norm(weights) { constant } else { best }
        })
    }

    /// The errors of always predicting one class.
    pub(super) fn constant(&self, class: usize, group: usize) -> Point {
        let error = |(i, j)| if j == class { self.scale(i, group) } else { 0.0 };
        off_diagonal_pairs(self.view.classes()).map(error).collect()
    }

    /// The reward matrix behind weights on one group's errors; the scale of the weights does not matter.
    fn rewards(&self, weights: &[f64], group: usize) -> Vec<f64> {
        let k = self.view.classes();
        let mut rewards = vec![0.0; k * k];
        if let Some(unit) = direction(weights) {
            for ((i, j), weight) in off_diagonal_pairs(k).zip(unit) {
                rewards[i * k + j] = weight * self.scale(i, group) / self.priors[group][i];
            }
        }
        rewards
    }

    fn check(&self, weights: &[f64], group: usize) -> Result<()> {
        check::length("weights", weights.len(), self.errors())?;
        check::all_finite("weights", weights)?;
        check::number("group", group as f64, group < self.groups(), "less than the number of groups")?;
        Ok(())
    }
}

/// Weights on errors whose rule always predicts one class: it alone is rewarded.
fn always(classes: usize, class: usize) -> Vec<f64> {
    off_diagonal_pairs(classes).map(|(_, j)| if j == class { 1.0 } else { -1.0 }).collect()
}

fn every_class_occurs(priors: &[Vec<f64>]) -> Result<()> {
    for (group, priors) in priors.iter().enumerate() {
        if let Some(class) = priors.iter().position(|&prior| prior <= 0.0) {
            let what = format!("class {class} never occurs in group {group}, so it has no rates there");
            return Err(Error::Mismatch(what));
        }
    }
    Ok(())
}

/// A set that answers at once is a space like any other.
impl<P: Confusions<Err = Infallible> + ?Sized> Space for Achievable<'_, P> {
    fn view(&self) -> View {
        self.view
    }

    fn centre(&self) -> Point {
        (0..self.groups()).flat_map(|group| self.centre_of(group)).collect()
    }

    fn best(&self, weights: &[f64]) -> Point {
        // Weights that say nothing are answered like those of a ball.
        if weights.len() != self.view.dimension() || direction(weights).is_none() {
            return self.centre();
        }
        let groups: Vec<Vec<f64>> = weights.chunks(self.errors()).map(<[f64]>::to_vec).collect();
        let Ok(best) = self.best_of_each(&groups);
        best.into_iter().flat_map(|(_, point)| point).collect()
    }

    fn contains(&self, point: &[f64], tolerance: f64) -> bool {
        point.len() == self.view.dimension()
            && point.iter().all(|x| x.is_finite())
            && matches!(self.mixtures(point, tolerance), Ok(Some(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::{Logistic, Softmax};

    #[test]
    fn the_best_rule_for_the_cost_of_all_errors_is_the_most_likely_class() -> Result<()> {
        let law = Softmax::new(vec![1.0, 3.0, 5.0])?;
        let set = Achievable::new(&law, Measure::OffDiagonal)?;
        let (rule, errors) = set.extreme(&[-1.0; 6], 0)?;
        assert_eq!(rule.predict(&[0.2, 0.5, 0.3], 0), 1);
        let Ok(found) = law.confusions(&[PostShift::diagonal(&[1.0; 3])?]);
        let most_likely = &found[0];
        for (found, expected) in errors.iter().zip(most_likely.overall().off_diagonal()) {
            assert!((found - expected).abs() < 1e-12);
        }
        assert!((set.support(&[-1.0; 6], 0)? + errors.iter().sum::<f64>()).abs() < 1e-15);
        Ok(())
    }

    #[test]
    fn boundary_points_are_found_and_points_just_beyond_are_not() -> Result<()> {
        let law = Logistic::new(5.0)?;
        let set = Achievable::new(&law, Measure::OffDiagonalRates)?;
        let (rule, edge) = set.extreme(&[-1.0, -2.0], 0)?;
        let found = set.mixture(&edge, 1e-11)?.expect("it is on the boundary");
        assert!(found.rules().len() <= 3);
        let Ok(expected) = law.confusions(&[rule]);
        let expected = expected[0].rates(0)?;
        let found = found.confusions(&law)?.rates(0)?;
        assert!((found.get(0, 1) - expected.get(0, 1)).abs() < 1e-11);
        assert!(!set.contains(&[edge[0] - 1e-9, edge[1]], 1e-10));
        assert!(set.contains(&[edge[0] + 1e-9, edge[1]], 1e-10));
        Ok(())
    }

    #[test]
    fn wrong_questions_are_named() -> Result<()> {
        let says = |e: Error| e.to_string();
        let law = Logistic::new(5.0)?;
        let wrong = says(Achievable::new(&law, Measure::Diagonal).unwrap_err());
        assert_eq!(wrong, "measure is \"diagonal\", expected one that lists errors");
        let wrong = says(Achievable::new(&law, Measure::GroupRates).unwrap_err());
        assert_eq!(wrong, "groups is 1, expected at least 2");
        let wrong = says(every_class_occurs(&[vec![0.3, 0.2], vec![0.5, 0.0]]).unwrap_err());
        assert_eq!(wrong, "class 1 never occurs in group 1, so it has no rates there");
        let set = Achievable::new(&law, Measure::OffDiagonalRates)?;
        let wrong = says(set.mixture(&[0.5; 3], 1e-9).unwrap_err().into());
        assert_eq!(wrong, "point has 3 entries, expected 2");
        let wrong = says(set.extreme(&[0.5, f64::NAN], 0).unwrap_err().into());
        assert_eq!(wrong, "weights[1] is NaN, expected a finite number");
        let wrong = says(set.extreme(&[0.5, 0.5], 1).unwrap_err().into());
        assert_eq!(wrong, "group is 1, expected less than the number of groups");
        assert_eq!(set.best(&[f64::NAN, 1.0]), set.centre());
        assert!(!set.contains(&[f64::NAN, 1.0], 1.0) && !set.contains(&[], 1.0));
        Ok(())
    }
}
