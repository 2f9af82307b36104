//! A ball inside the achievable set, with a certificate (Appendices B.4.1 and C.1.1).

use super::Achievable;
use super::ray::{Ray, cast};
use crate::error::Result;
use crate::linalg::{dot, norm};
use crate::population::{AskError, Confusions, PostShift};
use crate::rates::{GroupConfusions, off_diagonal_pairs};
use crate::view::Point;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

impl<P: Confusions + ?Sized> Achievable<'_, P> {
    /// The largest steps $\ell_j$ from the centre $o$ along each coordinate that stay achievable, a row per group
    /// (Algorithms B.1 and C.1, line 4).
    ///
    /// Swapping the predicted labels $i$ and $j$ maps $o + t e_{ij}$ to $o - t e_{ij}$: a step back is as long as
    /// one ahead. Swapping $j$ and $j'$ maps $o + t e_{ij}$ to $o + t e_{ij'}$: it is as long for every wrong
    /// label of a class.
    pub fn steps(&self) -> Result<Vec<Vec<f64>>, P::Err> {
        let rays = self.class_rays()?;
        Ok(rays.iter().enumerate().map(|(group, rays)| self.steps_of(rays, group)).collect())
    }

    /// The radius of a ball around the centre in which every point is achievable, for every group.
    ///
    /// The hull of all $o \pm \ell_j e_j$ is achievable, and the largest ball inside it has radius
    ///
    /// $$ \rho = \Bigl(\sum_j \ell_j^{-2}\Bigr)^{-1/2} $$
    ///
    /// (Lemmas B.2 and C.1). It is 0 when the set is flat: two classes that always look alike are enough.
    ///
    /// ```
    /// use equipoise::{Measure, population::Softmax, space::{Achievable, Sphere}};
    /// let law = Softmax::new(vec![1.0, 3.0, 5.0])?;
    /// let set = Achievable::new(&law, Measure::OffDiagonalRates)?;
    /// let (Ok(radius), Ok(bound)) = (set.radius(), set.radius_bound(8, 7)); // a law always answers
    /// let ball = Sphere::new(Measure::OffDiagonalRates, 3, radius)?; // every question can be asked
    /// assert!(ball.radius() > 0.0695 && ball.radius() < bound);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn radius(&self) -> Result<f64, P::Err> {
        Ok(self.radii()?.into_iter().fold(f64::INFINITY, f64::min))
    }

    /// The same radius for each group by itself.
    pub fn radii(&self) -> Result<Vec<f64>, P::Err> {
        let radius = |(group, rays): (usize, &Vec<Ray>)| {
            let steps = self.steps_of(rays, group);
            // The corners of the hull are mixtures only up to `miss`, at most sqrt(3/2) times as much in rates.
            // Corners moved by so much leave a ball smaller by no more.
            let miss = rays.iter().map(Ray::miss).fold(1e-14, f64::max);
            (steps.iter().map(|step| step.powi(-2)).sum::<f64>().powf(-0.5) - 2.0 * miss).max(0.0)
        };
        Ok(self.class_rays()?.iter().enumerate().map(radius).collect())
    }

    /// A radius that no ball of achievable points around the centre exceeds.
    ///
    /// The largest has radius $\min_{|u|=1} h(u) - \langle u, o \rangle$, the distance of the nearest supporting
    /// plane. From each of `starts` random directions (at least one), a ray goes to the boundary, the next along
    /// the normal it meets there, and so on: the planes come nearer until they touch a ball. The nearest plane of
    /// all is an upper bound; whether a nearer one exists is not known.
    pub fn radius_bound(&self, starts: usize, seed: u64) -> Result<f64, P::Err> {
        let planes = self.nearest_planes(starts, seed)?;
        Ok(planes.into_iter().map(|(_, distance)| distance).fold(f64::INFINITY, f64::min))
    }

    /// For each group the normal of the nearest supporting plane that [`Achievable::radius_bound`] meets, of length 1,
    /// and its distance from the centre.
    ///
    /// Over a large table the search is dear, and over a part of its rows it finds nearly the same normals. Their planes
    /// over all rows ([`Achievable::clearance`]) then bound the radius just as well, for a pass each.
    pub fn nearest_planes(&self, starts: usize, seed: u64) -> Result<Vec<(Vec<f64>, f64)>, P::Err> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut anywhere = || StandardNormal.sample_iter(&mut random).take(self.errors()).collect();
        let nearest = |group: usize| {
            let starts: Vec<Vec<f64>> = (0..starts.max(1)).map(|_| anywhere()).collect();
            self.nearest_plane(starts, group)
        };
        (0..self.groups()).map(nearest).collect()
    }

    /// How far from the centre the supporting plane with this normal is, in one group.
    pub fn clearance(&self, normal: &[f64], group: usize) -> Result<f64, AskError<P::Err>> {
        let beyond = self.support(normal, group)? - dot(normal, &self.centre_of(group));
        Ok((beyond / norm(normal)).max(0.0))
    }

    /// The nearest plane met by following normals.
    fn nearest_plane(&self, mut directions: Vec<Vec<f64>>, group: usize) -> Result<(Vec<f64>, f64), P::Err> {
        let (mut nearest, mut before) = ((vec![], f64::INFINITY), f64::INFINITY);
        // A handful of turns is usual.
        for _ in 0..50 {
            let ray = |along| Ray::new(self.centre_of(group), along, 1e-8);
            let mut rays: Vec<Ray> = directions.into_iter().map(ray).collect();
            cast(&mut rays, |asked| {
                let batch: Vec<&[f64]> = asked.iter().map(|(_, weights)| &weights[..]).collect();
                self.best_points(&batch, group)
            })?;
            for ray in &rays {
                if ray.clearance() < nearest.1 {
                    nearest = (ray.normal().to_vec(), ray.clearance());
                }
            }
            let total: f64 = rays.iter().map(Ray::clearance).sum();
            if total >= (1.0 - 1e-6) * before {
                break;
            }
            before = total;
            directions = rays.iter().map(|ray| ray.normal().to_vec()).collect();
        }
        Ok((nearest.0, nearest.1.max(0.0)))
    }

    fn steps_of(&self, rays: &[Ray], group: usize) -> Vec<f64> {
        let step = |(truth, _): (usize, usize)| rays[truth].length() * self.scale(truth, group);
        off_diagonal_pairs(rays.len()).map(step).collect()
    }

    /// For each group and class the ray along the rate of mistaking it for another, all cast together.
    ///
    /// A classifier on the ray stays on it when the labels that are neither the class nor its rival are shuffled,
    /// so it may as well shuffle them itself: only the rates of these two labels matter, $2k$ numbers
    /// ([`Contrast`]) instead of $k^2 - k$.
    fn class_rays(&self) -> Result<Vec<Vec<Ray>>, P::Err> {
        let k = self.priors[0].len();
        let contrast = |n: usize| Contrast { truth: n % k, rival: (n + 1) % k, priors: &self.priors[n / k] };
        let ray = |n: usize| Ray::new(contrast(n).centre(), contrast(n).along(), 1e-13);
        let mut rays: Vec<Ray> = (0..self.groups() * k).map(ray).collect();
        cast(&mut rays, |asked| {
            let rules: Vec<PostShift> = asked.iter().map(|(n, weights)| contrast(*n).rule(weights)).collect();
            let confusions = self.population.shifted(&rules)?;
            let point = |((n, weights), confusions): (&(usize, Vec<f64>), &GroupConfusions)| {
                let point = contrast(*n).point(|i, j| self.rate(confusions, i, j, n / k));
                contrast(*n).or_constant(weights, point)
            };
            Ok(asked.iter().zip(&confusions).map(point).collect())
        })?;
        Ok(rays.chunks(k).map(<[Ray]>::to_vec).collect())
    }
}

/// How a class is told from one rival, other labels being all alike: coordinates
/// $(R_{ai} + R_{aj})_a$ and $(R_{aj} - R_{ai})_a$ for the class $i$ and the rival $j$.
struct Contrast<'a> {
    truth: usize,
    rival: usize,
    priors: &'a [f64],
}

impl Contrast<'_> {
    /// The uniformly random classifier.
    fn centre(&self) -> Point {
        let k = self.priors.len();
        [vec![2.0 / k as f64; k], vec![0.0; k]].concat()
    }

    /// One more of the class taken for the rival is one fewer taken for itself.
    fn along(&self) -> Vec<f64> {
        let mut along = vec![0.0; 2 * self.priors.len()];
        along[self.priors.len() + self.truth] = 2.0;
        along
    }

    /// The rule that is best for weights on the coordinates.
    fn rule(&self, weights: &[f64]) -> PostShift {
        let k = self.priors.len();
        let (sums, differences) = weights.split_at(k);
        let mut rewards = vec![0.0; k * k];
        for a in 0..k {
            rewards[a * k + self.truth] = (sums[a] - differences[a]) / self.priors[a];
            rewards[a * k + self.rival] = (sums[a] + differences[a]) / self.priors[a];
        }
        PostShift::new(k, rewards).expect("unit weights over positive priors")
    }

    /// A point, or that of always predicting one class if it is better: over small tables it may be.
    fn or_constant(&self, weights: &[f64], point: Point) -> Point {
        let constant = |class: usize| self.point(|_, j| if j == class { 1.0 } else { 0.0 });
        let constants = (0..self.priors.len()).map(constant);
        let better = |a: Point, b: Point| if dot(weights, &b) > dot(weights, &a) + 1e-12 { b } else { a };
        constants.fold(point, better)
    }

    /// The coordinates of a classifier with these rates.
    fn point(&self, rate: impl Fn(usize, usize) -> f64) -> Point {
        let classes = 0..self.priors.len();
        let sums = classes.clone().map(|a| rate(a, self.truth) + rate(a, self.rival));
        let differences = classes.map(|a| rate(a, self.rival) - rate(a, self.truth));
        sums.chain(differences).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::plus;
    use crate::population::{Logistic, Softmax};
    use crate::space::Space;
    use crate::view::Measure;

    /// The printed digits of a certified radius are rounded down, those of an upper bound up.
    #[track_caller]
    fn check(measure: Measure, radius: f64, bound: f64) {
        let law = Softmax::new(vec![1.0, 3.0, 5.0]).unwrap();
        let set = Achievable::new(&law, measure).unwrap();
        let (Ok(least), Ok(most)) = (set.radius(), set.radius_bound(16, 1));
        let found = (least, most);
        assert!((radius..radius + 1e-4).contains(&found.0), "{found:?}");
        assert!((bound - 1e-4..bound).contains(&found.1), "{found:?}");
    }

    #[test]
    fn the_law_of_the_papers_has_a_small_ball_of_joint_probabilities() {
        check(Measure::OffDiagonal, 0.0202, 0.0239);
    }

    #[test]
    fn the_law_of_the_papers_has_a_larger_ball_of_rates() {
        check(Measure::OffDiagonalRates, 0.0695, 0.0917);
    }

    #[test]
    fn steps_of_two_classes_end_where_the_curve_does() -> Result<()> {
        let law = Logistic::with_offset(4.0, 0.7)?;
        let [negative, positive] = [0, 1].map(|class| law.prevalence().class_priors()[class]);
        // The rule that accepts above a cut misses half the positives, and accepts as many negatives as can be.
        let (mut low, mut high) = (-1.0, 1.0);
        for _ in 0..60 {
            let cut = 0.5 * (low + high);
            if law.at_cut(cut)[0] < 0.5 * positive { low = cut } else { high = cut }
        }
        let expected = law.at_cut(low)[1] / negative - 0.5;
        let Ok(found) = Achievable::new(&law, Measure::OffDiagonalRates)?.steps().map(|steps| steps[0][0]);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        Ok(())
    }

    /// Rays through all $k^2 - k$ coordinates, with no use of symmetry.
    #[track_caller]
    fn referee(slopes: &[f64], measure: Measure) {
        let law = Softmax::new(slopes.to_vec()).unwrap();
        let set = Achievable::new(&law, measure).unwrap();
        let Ok(steps) = set.steps().map(|mut steps| steps.remove(0));
        let axis =
            |n: usize, sign: f64| (0..steps.len()).map(move |m| if m == n { sign } else { 0.0 }).collect();
        let ray = |n: usize| [1.0, -1.0].map(|sign| Ray::new(set.centre(), axis(n, sign), 1e-13));
        let mut rays: Vec<Ray> = (0..steps.len()).flat_map(ray).collect();
        let Ok(()) = cast(&mut rays, |asked| {
            Ok::<_, std::convert::Infallible>(asked.iter().map(|(_, weights)| set.best(weights)).collect())
        });
        for (n, ray) in rays.iter().enumerate() {
            let step = steps[n / 2];
            assert!((ray.length() - step).abs() < 1e-9, "{slopes:?} {n}: {} {step}", ray.length());
            assert!(set.contains(&plus(&set.centre(), step, &axis(n / 2, 1.0)), 1e-9));
        }
    }

    #[test]
    fn a_step_is_as_long_back_as_ahead_and_for_every_wrong_label() {
        referee(&[5.0, 0.0], Measure::OffDiagonalRates);
        referee(&[1.0, 3.0, 5.0], Measure::OffDiagonal);
        referee(&[1.0, 3.0, 6.0, 10.0], Measure::OffDiagonalRates);
    }

    #[test]
    fn the_nearest_plane_is_as_far_as_the_bound_says() -> Result<()> {
        let law = Softmax::new(vec![1.0, 3.0, 5.0])?;
        let set = Achievable::new(&law, Measure::OffDiagonalRates)?;
        let Ok((normal, distance)) = set.nearest_planes(4, 2).map(|mut planes| planes.remove(0));
        assert_eq!(Ok(distance), set.radius_bound(4, 2));
        assert!((norm(&normal) - 1.0).abs() < 1e-12 && (set.clearance(&normal, 0)? - distance).abs() < 1e-9);
        let twice: Vec<f64> = normal.iter().map(|x| 2.0 * x).collect();
        assert!((set.clearance(&twice, 0)? - distance).abs() < 1e-9);
        assert_eq!(set.radii().map(|radii| radii[0]), set.radius());
        Ok(())
    }

    #[test]
    fn classes_that_look_alike_leave_no_room_for_a_ball() -> Result<()> {
        let law = Softmax::new(vec![1.0, 1.0, 5.0])?;
        assert_eq!(Achievable::new(&law, Measure::OffDiagonalRates)?.radius(), Ok(0.0));
        Ok(())
    }
}
