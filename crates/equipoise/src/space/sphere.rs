//! Balls of rates inside the feasible set: one for everybody, or one common to all groups.

use super::Space;
use crate::document::{Object, make};
use crate::error::{Error, Result, check, refuse};
use crate::linalg::{direction, norm, plus};
use crate::rates::{GroupShares, Rates};
use crate::view::{Measure, Point, View};
use serde::Serialize;

/// A ball around the point of the uniformly random classifier (Assumption 4.2).
///
/// Over a ball the best point for a linear metric is centre + radius * direction, so slopes can be searched
/// for by comparisons.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename = "sphere")]
pub struct Sphere {
    measure: Measure,
    classes: usize,
    radius: f64,
}

impl Sphere {
    /// A ball of error rates, recalls, or joint probabilities under equal class priors.
    pub fn new(measure: Measure, classes: usize, radius: f64) -> Result<Self> {
        refuse!(
            measure == Measure::GroupRates,
            "measure is \"group_rates\", expected one without groups (use a group_sphere)"
        );
        let view = View::new(measure, classes, 1)?;
        check::positive("radius", radius)?;
        let centre = centre_entry(&view);
        let ok = radius <= centre + 1e-12;
        check::number(
            "radius",
            radius,
            ok,
            "at most 1/k for k classes (1/k^2 for joint probabilities), so that no entry of a point is negative",
        )?;
        Ok(Self { measure, classes, radius })
    }

    /// Half the width.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// A sentence about the radius if some of the ball lies outside what any classifier can reach, however
    /// good the data: error rates of one class that sum to more than 1.
    pub fn caveat(&self) -> Option<String> {
        let reachable = match self.measure {
            Measure::OffDiagonalRates => largest_radius(self.classes),
            Measure::OffDiagonal => largest_radius(self.classes) / self.classes as f64,
            _ => return None,
        };
        (self.radius > reachable + 1e-12).then(|| over(self.radius, self.classes, reachable))
    }

    pub(super) fn read(object: Object) -> Result<Self> {
        make!(object, { measure: Option<Measure>, classes: usize, radius: f64 } => {
            Self::new(measure.unwrap_or(Measure::OffDiagonalRates), classes, radius)
        })
    }
}

/// Rates of the uniformly random classifier are 1/k; joint probabilities under equal priors 1/k^2.
fn centre_entry(view: &View) -> f64 {
    let k = view.classes() as f64;
    match view.measure() {
        Measure::Binary | Measure::Diagonal | Measure::OffDiagonal => 1.0 / (k * k),
        _ => 1.0 / k,
    }
}

/// The largest ball of error rates around 1/k in which every class's errors sum to at most 1.
fn largest_radius(classes: usize) -> f64 {
    let k = classes as f64;
    1.0 / (k * (k - 1.0).sqrt())
}

fn over(radius: f64, classes: usize, reachable: f64) -> String {
    format!(
        "radius {radius} is more than any classifier can offer: with {classes} classes the errors of one class \
         exceed 1 beyond radius {reachable:.4}"
    )
}

impl Space for Sphere {
    fn view(&self) -> View {
        View::new(self.measure, self.classes, 1).expect("checked when made")
    }

    fn centre(&self) -> Point {
        vec![centre_entry(&self.view()); self.view().dimension()]
    }

    fn best(&self, weights: &[f64]) -> Point {
        match direction(weights) {
            Some(unit) => plus(&self.centre(), self.radius, &unit),
            None => self.centre(),
        }
    }

    fn contains(&self, point: &[f64], tolerance: f64) -> bool {
        point.len() == self.view().dimension()
            && norm(&plus(point, -1.0, &self.centre())) <= self.radius + tolerance
    }
}

/// A ball of error rates that every group can reach, and the groups' shares (Remark 5.2).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename = "group_sphere")]
pub struct GroupSphere {
    classes: usize,
    radius: f64,
    prevalence: GroupShares,
}

impl GroupSphere {
    /// The common ball; at least two groups.
    pub fn new(radius: f64, prevalence: GroupShares) -> Result<Self> {
        let classes = prevalence.classes();
        check::at_least("groups in prevalence", prevalence.groups(), 2, "at least 2")?;
        Sphere::new(Measure::OffDiagonalRates, classes, radius)?;
        Ok(Self { classes, radius, prevalence })
    }

    /// Half the width.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// $t^g_i = P(G=g \mid Y=i)$.
    pub fn prevalence(&self) -> &GroupShares {
        &self.prevalence
    }

    /// The ball of one group.
    pub fn of_one_group(&self) -> Sphere {
        Sphere { measure: Measure::OffDiagonalRates, classes: self.classes, radius: self.radius }
    }

    pub(super) fn read(object: Object) -> Result<Self> {
        make!(object, { classes: Option<usize>, radius: f64, prevalence: GroupShares } => {
            let expected = prevalence.classes();
            match classes {
                Some(found) if found != expected => Err(Error::Mismatch(format!(
                    "classes is {found}, but prevalence lists {expected} classes per group"
                ))),
                _ => Self::new(radius, prevalence),
            }
        })
    }
}

impl Space for GroupSphere {
    fn view(&self) -> View {
        View::new(Measure::GroupRates, self.classes, self.prevalence.groups()).expect("checked when made")
    }

    fn centre(&self) -> Point {
        Rates::uniform(self.classes).off_diagonal().repeat(self.prevalence.groups())
    }

    fn best(&self, weights: &[f64]) -> Point {
        let q = self.classes * self.classes - self.classes;
        weights.chunks(q).flat_map(|part| self.of_one_group().best(part)).collect()
    }

    fn contains(&self, point: &[f64], tolerance: f64) -> bool {
        let q = self.classes * self.classes - self.classes;
        point.len() == self.view().dimension()
            && point.chunks(q).all(|part| self.of_one_group().contains(part, tolerance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_point_of_a_ball_is_along_the_weights() -> Result<()> {
        let ball = Sphere::new(Measure::OffDiagonalRates, 3, 0.2)?;
        let best = ball.best(&[0.0, 0.0, 3.0, 0.0, 4.0, 0.0]);
        assert!((best[2] - (1.0 / 3.0 + 0.12)).abs() < 1e-15);
        assert!(ball.contains(&best, 1e-12) && !ball.contains(&best, -1e-3));
        assert!(ball.caveat().is_none());
        assert!(Sphere::new(Measure::OffDiagonalRates, 5, 0.2)?.caveat().is_some());
        Ok(())
    }

    #[test]
    fn impossible_balls_are_refused() {
        let says = |r: Result<Sphere>| r.unwrap_err().to_string();
        let wrong = says(Sphere::new(Measure::OffDiagonalRates, 3, -0.1));
        assert_eq!(wrong, "radius is -0.1, expected a number greater than 0");
        let wrong = says(Sphere::new(Measure::OffDiagonalRates, 3, 0.4));
        assert!(wrong.starts_with("radius is 0.4, expected at most"), "{wrong}");
    }
}
