//! How far a ray from inside a convex set stays in it.
//!
//! Every extreme point bounds the ray by the plane through it; Wolfe's search from the current bound finds the
//! next plane, until the bound itself is a mixture. Van den Bergen's ray cast against general convex objects
//! (2004), in any dimension.

use super::mixture::Search;
use crate::linalg::{direction, dot, plus};
use crate::view::Point;

/// Turns without progress, per coordinate, after which a ray goes no further.
const PATIENCE: usize = 5;

/// A ray being cast: it asks for extreme points and is told them, so that many can share a pass over data.
#[derive(Debug, Clone)]
pub(super) struct Ray {
    start: Point,
    along: Vec<f64>,
    tolerance: f64,
    length: f64,
    normal: Vec<f64>,
    search: Option<Search>,
}

impl Ray {
    /// From `start`, a point of the set; done when a mixture is within `tolerance` of the far end.
    pub fn new(start: Point, along: Vec<f64>, tolerance: f64) -> Self {
        Self { start, normal: along.clone(), along, tolerance, length: f64::INFINITY, search: None }
    }

    /// The direction whose extreme point is wanted next; `None` when done.
    pub fn ask(&self) -> Option<Vec<f64>> {
        match &self.search {
            None => direction(&self.along),
            Some(search) => search.ask(self.tolerance, PATIENCE),
        }
    }

    /// Takes in the extreme point in a direction.
    pub fn tell(&mut self, direction: Vec<f64>, part: Point) {
        let slope = dot(&direction, &self.along);
        let bound = dot(&direction, &plus(&part, -1.0, &self.start)) / slope;
        if slope > 0.0 && bound < self.length {
            (self.length, self.normal) = (bound, direction.clone());
        }
        let target = plus(&self.start, self.length, &self.along);
        match &mut self.search {
            None => self.search = Some(Search::new(direction, part, &target)),
            Some(search) => search.tell(direction, part, &target),
        }
    }

    /// Steps of `along` to the nearest plane found: no fewer than stay inside.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The unit normal of that plane.
    pub fn normal(&self) -> &[f64] {
        &self.normal
    }

    /// The distance of that plane from the start.
    pub fn clearance(&self) -> f64 {
        self.length * dot(&self.normal, &self.along)
    }

    /// How far the end of the ray is from a mixture of the extreme points.
    pub fn miss(&self) -> f64 {
        self.search.as_ref().map_or(f64::INFINITY, |search| search.mixture.distance)
    }
}

/// Casts rays together: `best` answers a batch of (ray, direction) with the extreme points.
pub(super) fn cast<E>(
    rays: &mut [Ray],
    best: impl Fn(&[(usize, Vec<f64>)]) -> Result<Vec<Point>, E>,
) -> Result<(), E> {
    loop {
        let ask = |(n, ray): (usize, &Ray)| ray.ask().map(|direction| (n, direction));
        let asked: Vec<_> = rays.iter().enumerate().filter_map(ask).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let parts = best(&asked)?;
        for ((n, direction), part) in asked.into_iter().zip(parts) {
            rays[n].tell(direction, part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::norm;

    #[test]
    fn rays_end_on_the_surface_of_an_ellipsoid() {
        // The extreme point of {x : |x / axes| <= 1} in direction u is axes^2 u / |axes u|.
        let axes = [1.0, 0.3, 0.01, 2.0];
        let extreme = |u: &[f64]| {
            let stretched: Vec<f64> = u.iter().zip(axes).map(|(u, a)| u * a).collect();
            stretched.iter().zip(axes).map(|(s, a)| s * a / norm(&stretched)).collect::<Vec<_>>()
        };
        let start = vec![0.0; 4];
        let along = [[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0], [-3.0, 1.0, 0.0, 0.2]];
        let mut rays: Vec<Ray> = along.iter().map(|a| Ray::new(start.clone(), a.to_vec(), 1e-13)).collect();
        let Ok(()) = cast(&mut rays, |asked| {
            Ok::<_, std::convert::Infallible>(asked.iter().map(|(_, u)| extreme(u)).collect())
        });
        for (ray, along) in rays.iter().zip(along) {
            let expected = 1.0 / norm(&along.iter().zip(axes).map(|(d, a)| d / a).collect::<Vec<_>>());
            assert!((ray.length() - expected).abs() < 1e-11 * expected, "{} {expected}", ray.length());
            assert!(ray.miss() <= 1e-12 && ray.clearance() <= ray.length() * norm(&along) + 1e-15);
        }
    }
}
