//! A pool: a finite list of classifiers to choose from, by their points.

use super::{Achievable, Space};
use crate::document::{Object, make};
use crate::error::{Error, Result, check, refuse};
use crate::linalg::{dot, norm, normals, plus};
use crate::population::{AskError, Confusions};
use crate::view::{Measure, Point, View};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// A classifier of a pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// What people call it.
    pub name: String,
    /// Its entries of the confusion matrix, as the pool's measure lists them.
    pub point: Point,
}

/// Classifiers that exist: candidate models, or boundary classifiers of a population. Nothing between them can be asked
/// about.
///
/// ```
/// use equipoise::{Measure, space::Pool};
/// let pool = Pool::new(Measure::OffDiagonalRates, 2, vec![
///     ("cautious".to_owned(), vec![0.3, 0.05]),
///     ("bold".to_owned(), vec![0.1, 0.2]),
/// ])?;
/// assert_eq!(pool.members()[1].name, "bold");
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename = "pool")]
pub struct Pool {
    measure: Measure,
    classes: usize,
    points: Vec<Member>,
}

impl Pool {
    /// At least two classifiers with names of their own and points in [0, 1], not all alike.
    pub fn new(measure: Measure, classes: usize, members: Vec<(String, Point)>) -> Result<Self> {
        refuse!(measure == Measure::GroupRates, "measure is \"group_rates\", expected one without groups");
        let view = View::new(measure, classes, 1)?;
        check::at_least("the number of points", members.len(), 2, "at least 2")?;
        let points: Vec<Member> = members.into_iter().map(|(name, point)| Member { name, point }).collect();
        for (n, member) in points.iter().enumerate() {
            let field = format!("points[{n}].point");
            check::length(&field, member.point.len(), view.dimension())?;
            for (i, value) in member.point.iter().enumerate() {
                check::unit(&format!("{field}[{i}]"), *value)?;
            }
            refuse!(
                points[..n].iter().any(|other| other.name == member.name),
                "points[{n}].name is \"{}\", which another point has",
                member.name
            );
        }
        if points.iter().all(|member| member.point == points[0].point) {
            return Err(Error::Mismatch(
                "all points are the same, expected at least two to choose from".into(),
            ));
        }
        Ok(Self { measure, classes, points })
    }

    /// Boundary classifiers of a population without groups: each the best one for some weights, drawn at random among
    /// those that dislike every error. Fewer than `count` where several weights lead to the same classifier.
    ///
    /// ```
    /// use equipoise::{Measure, population::Softmax, space::{Achievable, Pool}};
    /// let law = Softmax::new(vec![1.0, 3.0, 5.0])?;
    /// let pool = Pool::boundary(&Achievable::new(&law, Measure::OffDiagonalRates)?, 40, 1)?;
    /// assert!(pool.members().len() > 20);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn boundary<P: Confusions + ?Sized>(
        set: &Achievable<'_, P>,
        count: usize,
        seed: u64,
    ) -> Result<Self, AskError<P::Err>> {
        let view = set.view;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut weights =
            || -> Vec<f64> { normals(view.dimension(), &mut random).iter().map(|w| -w.abs()).collect() };
        let drawn: Vec<Vec<f64>> = (0..count).map(|_| weights()).collect();
        let batch: Vec<&[f64]> = drawn.iter().map(Vec::as_slice).collect();
        let mut points: Vec<Point> = vec![];
        for point in set.best_points(&batch, 0).map_err(AskError::Population)? {
            // Rounding may leave a boundary point a digit outside the unit interval.
            let point: Point = point.iter().map(|x| x.clamp(0.0, 1.0)).collect();
            if points.iter().all(|other| norm(&plus(other, -1.0, &point)) > 1e-9) {
                points.push(point);
            }
        }
        let named = points.into_iter().enumerate().map(|(n, point)| (format!("boundary {}", n + 1), point));
        Ok(Self::new(view.measure(), view.classes(), named.collect())?)
    }

    /// The classifiers.
    pub fn members(&self) -> &[Member] {
        &self.points
    }

    /// The largest distance of a classifier from the centre.
    pub fn radius(&self) -> f64 {
        let centre = self.centre();
        self.points.iter().map(|member| norm(&plus(&member.point, -1.0, &centre))).fold(0.0, f64::max)
    }

    pub(super) fn read(object: Object) -> Result<Self> {
        make!(object, { measure: Measure, classes: usize, points: Vec<Member> } => {
            let members = points.into_iter().map(|member| (member.name, member.point)).collect();
            Self::new(measure, classes, members)
        })
    }
}

impl Space for Pool {
    fn view(&self) -> View {
        View::new(self.measure, self.classes, 1).expect("checked when made")
    }

    /// The mean of all points; no classifier need be there.
    fn centre(&self) -> Point {
        let share = 1.0 / self.points.len() as f64;
        let zero = vec![0.0; self.view().dimension()];
        self.points.iter().fold(zero, |sum, member| plus(&sum, share, &member.point))
    }

    fn best(&self, weights: &[f64]) -> Point {
        let value = |member: &&Member| dot(weights, &member.point);
        let best = self.points.iter().max_by(|a, b| value(a).total_cmp(&value(b)));
        best.expect("at least two").point.clone()
    }

    /// Whether it is the point of a member.
    fn contains(&self, point: &[f64], tolerance: f64) -> bool {
        point.len() == self.view().dimension()
            && self.points.iter().any(|member| norm(&plus(&member.point, -1.0, point)) <= tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(members: &[(&str, &[f64])]) -> String {
        let members = members.iter().map(|(name, point)| ((*name).to_owned(), point.to_vec())).collect();
        Pool::new(Measure::OffDiagonalRates, 2, members).unwrap_err().to_string()
    }

    #[test]
    fn pools_that_leave_no_choice_are_refused() {
        assert!(says(&[("a", &[0.1, 0.2])]).contains("at least 2"));
        assert!(says(&[("a", &[0.1, 0.2]), ("a", &[0.2, 0.1])]).contains("which another point has"));
        assert!(says(&[("a", &[0.1, 0.2]), ("b", &[0.1, 0.2])]).contains("all points are the same"));
        assert!(says(&[("a", &[0.1, 0.2]), ("b", &[0.1, 1.2])]).contains("points[1].point[1]"));
        assert!(says(&[("a", &[0.1, 0.2]), ("b", &[0.1])]).contains("points[1].point"));
    }

    #[test]
    fn only_members_are_in_a_pool() {
        let members = vec![("a".to_owned(), vec![0.1, 0.3]), ("b".to_owned(), vec![0.3, 0.1])];
        let pool = Pool::new(Measure::OffDiagonalRates, 2, members).unwrap();
        assert!(pool.contains(&[0.1, 0.3], 1e-12) && !pool.contains(&pool.centre(), 1e-12));
        assert_eq!(pool.best(&[-5.0, -1.0]), [0.1, 0.3]);
    }
}
