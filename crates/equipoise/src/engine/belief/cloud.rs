//! Fractions on a ball: a cloud of pencils, up to what comparisons can tell.

use super::models;
use super::particles::Particles;
use super::pencil::{Pencil, wedge};
use super::sites::Sites;
use super::{Belief, Width};
use crate::ask::{Answer, Answered, Finding, NoiseModel, Preference, Query};
use crate::engine::normal::entropy;
use crate::engine::probit::{Probit, Said};
use crate::engine::question::best_direction;
use crate::linalg::{direction, dot, norm, normals, plus, scaled, zeros};
use crate::metric::Metric;
use crate::seed::stream;
use crate::space::{Space, Sphere};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random middles of questions tried besides the fixed ones.
const RANDOM_MIDDLES: usize = 20;

/// What to widen the radius of the cloud by: a few hundred members, copied and stirred, lie a little closer together than the
/// posterior they stand for.
const CAUTION: f64 = 1.1;

/// What is believed of a linear-fractional metric.
#[derive(Debug, Clone)]
pub struct Cloud {
    space: Sphere,
    probit: Probit,
    hesitates: bool,
    cloud: Particles,
    answered: Vec<Answered>,
}

impl Cloud {
    /// Before the first question; the angle wanted, and the seed of the cloud.
    ///
    /// Nothing is estimated of unknown noise, which is taken to be the most usual.
    pub fn new(space: Sphere, noise: NoiseModel, resolution: f64, seed: u64) -> Self {
        let probit = match noise {
            NoiseModel::Unknown => models::all().next().map(models::reading).expect("several models"),
            known => Probit::of(known, resolution),
        };
        let cloud = Particles::new(space.view().dimension(), seed);
        Self { space, probit, hesitates: false, cloud, answered: vec![] }
    }

    /// The most telling question now; `seed` varies the candidates.
    ///
    /// Around a middle c the comparison of c + d with c - d is linear in d, so for every middle the best d solves a
    /// generalised eigenproblem for a Gaussian like the cloud. The best of all middles is chosen by the cloud itself: by
    /// how far apart the two answers would leave its averages.
    fn best(&self, seed: u64) -> Option<Query> {
        let members: Vec<Vec<f64>> = self.cloud.members().iter().map(Pencil::wedge).collect();
        let gaussian = moments(&members);
        let mean = direction(gaussian.mean()).unwrap_or_else(|| members[0].clone());
        let candidates = self.middles(seed).into_iter().filter_map(|middle| {
            let half = best_direction(&steps(&middle), &gaussian, &mean, self.probit.variance)?;
            let half = scaled(&half, room(&middle, &half));
            let w = wedge(&extended(&half, 0.0), &extended(&middle, 1.0));
            (norm(&half) > 1e-6).then(|| (self.parting(&w, &members), middle, half))
        });
        let (_, middle, half) = candidates.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let [first, second] = [1.0, -1.0]
            .map(|sign| plus(&self.space.centre(), self.space.radius(), &plus(&middle, sign, &half)));
        Some(Query::new(first, second))
    }

    /// The centre, both ends of every axis, and some points at random.
    fn middles(&self, seed: u64) -> Vec<Vec<f64>> {
        let q = self.space.view().dimension();
        let mut middles = vec![vec![0.0; q]];
        for j in 0..q {
            for sign in [0.9, -0.9] {
                let mut middle = vec![0.0; q];
                middle[j] = sign;
                middles.push(middle);
            }
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(stream(seed, self.answered.len() as u64));
        for _ in 0..RANDOM_MIDDLES {
            let towards = normals(q, &mut random);
            let length = 0.95 * random.random::<f64>().powf(1.0 / q as f64) / norm(&towards).max(1e-12);
            middles.push(scaled(&towards, length));
        }
        middles
    }

    /// How likely the first of two points is preferred, to every member.
    fn chances_of_first(&self, query: &Query) -> Vec<f64> {
        let [first, second] = [&query.first, &query.second].map(|point| self.relative(point));
        let probit = self.probit.decided();
        let chance = |member: &Pencil| probit.chance(Said::Positive, member.ahead(&first, &second), 0.0);
        self.cloud.members().iter().map(chance).collect()
    }

    /// A point in units of the ball, and the constant 1.
    fn relative(&self, point: &[f64]) -> Vec<f64> {
        extended(&scaled(&plus(point, -1.0, &self.space.centre()), 1.0 / self.space.radius()), 1.0)
    }

    /// By how much an answer is expected to narrow the cloud: $p(1-p)\,|m_1 - m_2|^2$ for the chance p of the first
    /// answer and the averages $m_1, m_2$ after either.
    fn parting(&self, w: &[f64], members: &[Vec<f64>]) -> f64 {
        let probit = self.probit.decided();
        let (mut chance, mut first) = (0.0, vec![0.0; w.len()]);
        let mut all = vec![0.0; w.len()];
        let share = 1.0 / members.len() as f64;
        for member in members {
            let likely = probit.chance(Said::Positive, dot(w, member), 0.0);
            chance += share * likely;
            for ((f, a), m) in first.iter_mut().zip(&mut all).zip(member) {
                *f += share * likely * m;
                *a += share * m;
            }
        }
        if chance <= 1e-12 || chance >= 1.0 - 1e-12 {
            return 0.0;
        }
        // first / p - (all - first) / (1 - p) = (first - p all) / (p (1 - p)).
        let apart = plus(&first, -chance, &all);
        dot(&apart, &apart) / (chance * (1.0 - chance))
    }
}

impl Belief for Cloud {
    fn answered(&self) -> &[Answered] {
        &self.answered
    }

    fn take(&mut self, query: &Query, answer: &Answer) {
        let shown = answer.shown.as_ref().unwrap_or(query);
        let (first, second) = (self.relative(&shown.first), self.relative(&shown.second));
        self.hesitates |= answer.preference == Preference::CannotTell;
        let probit = if self.hesitates { self.probit } else { self.probit.decided() };
        self.answered.push(Answered::new(query, answer));
        match answer.preference {
            Preference::First => self.cloud.take(first, second, probit, Said::Positive),
            Preference::Second => self.cloud.take(second, first, probit, Said::Positive),
            Preference::CannotTell => self.cloud.take(first, second, probit, Said::Within),
        }
    }

    // One model of the noise is all there is.
    fn take_check(&mut self, _query: &Query, _answer: &Answer) {}

    fn questions(&self, seed: u64) -> Box<dyn Iterator<Item = Query> + '_> {
        Box::new(self.best(seed).into_iter())
    }

    fn bits(&self, query: &Query) -> f64 {
        let chances = self.chances_of_first(query);
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / chances.len() as f64;
        entropy(mean(&mut chances.iter().copied())) - mean(&mut chances.iter().map(|chance| entropy(*chance)))
    }

    fn chance_of_first(&self, query: &Query) -> f64 {
        let chances = self.chances_of_first(query);
        chances.iter().sum::<f64>() / chances.len() as f64
    }

    fn width(&self) -> Width {
        Width::Angle(CAUTION * self.cloud.radius(0.95))
    }

    fn metric(&self) -> Metric {
        let pencil = self.cloud.middle();
        let (metric, coefficients) = (pencil.metric(&self.space), pencil.coefficients(&self.space));
        // The same factor for all members as for the estimate, so that the spread is in the units of the document.
        let found = metric.coefficients();
        let factor = dot(&found, &coefficients) / dot(&coefficients, &coefficients);
        let members = self.cloud.members();
        let mut covariance = zeros(found.len());
        for member in members {
            let away = plus(&found, -factor, &member.coefficients(&self.space));
            for i in 0..found.len() {
                for j in 0..=i {
                    covariance[i][j] += away[i] * away[j] / members.len() as f64;
                    covariance[j][i] = covariance[i][j];
                }
            }
        }
        let posterior = crate::metric::Posterior::new(found, covariance);
        posterior.and_then(|p| metric.clone().with_posterior(p)).unwrap_or(metric)
    }

    fn findings(&self) -> Vec<Finding> {
        let gauge = "the flattest denominator over the ball, 1 at its centre".to_owned();
        vec![Finding::FractionalGauge { gauge }]
    }

    fn boxed(&self) -> Box<dyn Belief> {
        Box::new(self.clone())
    }
}

fn extended(x: &[f64], last: f64) -> Vec<f64> {
    x.iter().copied().chain([last]).collect()
}

/// What a unit step along each coordinate, around a middle, changes.
fn steps(middle: &[f64]) -> Vec<Vec<f64>> {
    let middle = extended(middle, 1.0);
    let step = |i: usize| {
        let mut axis = vec![0.0; middle.len()];
        axis[i] = 1.0;
        wedge(&axis, &middle)
    };
    (0..middle.len() - 1).map(step).collect()
}

/// How far one may go from `middle` in both directions along `half` within the unit ball.
fn room(middle: &[f64], half: &[f64]) -> f64 {
    let (cc, cd, dd) = (dot(middle, middle), dot(middle, half).abs(), dot(half, half));
    (-cd + (cd * cd + dd * (1.0 - cc).max(0.0)).sqrt()) / dd.max(1e-300)
}

/// Mean and covariance of the members.
fn moments(members: &[Vec<f64>]) -> Sites {
    let d = members[0].len();
    let share = 1.0 / members.len() as f64;
    let mean = members.iter().fold(vec![0.0; d], |sum, member| plus(&sum, share, member));
    let mut covariance = zeros(d);
    for member in members {
        let away = plus(member, -1.0, &mean);
        for (row, x) in covariance.iter_mut().zip(&away) {
            let factor = share * x;
            row.iter_mut().zip(&away).for_each(|(c, a)| *c += factor * a);
        }
    }
    Sites::from_moments(mean, covariance)
}
