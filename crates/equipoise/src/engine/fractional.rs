//! Linear-fractional metrics on a ball, elicited adaptively.

use super::ask::best_direction;
use super::models;
use super::particles::Cloud;
use super::pencil::{Pencil, wedge};
use super::posterior::Posterior;
use super::probit::{Probit, Said};
use crate::ask::{Answer, Finding, NoiseModel, Oracle, Outcome, Plan, Preference, Query, keep, recall};
use crate::document::{self, Object};
use crate::error::{Result, check};
use crate::linalg::{direction, dot, norm, plus, scaled};
use crate::metric::Metric;
use crate::space::{Space, Sphere};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// Random middles of questions tried besides the fixed ones.
const RANDOM_MIDDLES: usize = 20;

/// What to widen the radius of the cloud by: a few hundred members, copied and stirred, lie a little closer together than the
/// posterior they stand for.
const CAUTION: f64 = 1.1;

/// Elicits a linear-fractional metric from a ball, up to what comparisons can tell: the pencil of its level sets, to an
/// angle of `tolerance` with 95 % certainty in units of the ball.
///
/// ```
/// use equipoise::{Measure, Plan, engine::AdaptiveFractional, testing::random, ask::Simulated};
/// use equipoise::space::{Space, Sphere};
/// use rand::SeedableRng;
/// let ball = Sphere::new(Measure::DiagonalRates, 3, 0.2)?;
/// let hidden = random::linear_fractional(ball.view(), &mut rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1));
/// let plan = AdaptiveFractional::new(ball, 0.05)?;
/// let Ok(outcome) = plan.run(&mut Simulated::new(hidden.clone()));
/// assert!(outcome.metric.difference(&hidden).unwrap().angle < 0.1); // after some 20 questions
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AdaptiveFractional {
    pub(crate) space: Sphere,
    method: &'static str,
    tolerance: f64,
    #[serde(serialize_with = "as_answers")]
    answers: NoiseModel,
    budget: usize,
    seed: u64,
}

impl AdaptiveFractional {
    /// To an angle of `tolerance`, every answer right, at most 10000 questions.
    pub fn new(space: Sphere, tolerance: f64) -> Result<Self> {
        let ok = (1e-4..=1.0).contains(&tolerance);
        check::number("tolerance", tolerance, ok, "a number in [1e-4, 1]")?;
        Ok(Self { space, method: "adaptive", tolerance, answers: NoiseModel::Exact, budget: 10_000, seed: 0 })
    }

    /// How answers are believed to come about; differences of a logistic model are those of the fraction whose
    /// gradient at the centre has length 1.
    pub fn answers(self, answers: NoiseModel) -> Result<Self> {
        Ok(Self { answers: answers.believable()?, ..self })
    }

    /// At most this many questions.
    pub fn budget(self, questions: usize) -> Result<Self> {
        let ok = (1..=1_000_000).contains(&questions);
        check::number("budget", questions as f64, ok, "a whole number from 1 to 1000000")?;
        Ok(Self { budget: questions, ..self })
    }

    /// The seed of the cloud and of candidate questions.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    pub(crate) fn read(mut object: Object, space: Sphere) -> Result<Self> {
        let place = object.place();
        object.kind("kind", &["linear_fractional"])?;
        object.kind("method", &["adaptive"])?;
        let tolerance = object.optional("tolerance")?.unwrap_or(0.01);
        let mut plan = document::at(&place, Self::new(space, tolerance))?;
        plan.answers = NoiseModel::read_answers(&mut object)?.unwrap_or(plan.answers);
        if let Some(budget) = object.optional("budget")? {
            plan = document::at(&place, plan.budget(budget))?;
        }
        plan.seed = object.optional("seed")?.unwrap_or(plan.seed);
        object.finish()?;
        Ok(plan)
    }

    /// The state before the first question.
    pub fn start(&self) -> FractionalSession {
        let coordinates = self.space.view().dimension();
        FractionalSession {
            space: self.space.clone(),
            probit: fractional_reading(self.answers, self.tolerance),
            hesitates: false,
            cloud: Cloud::new(coordinates, self.seed),
        }
    }
}

impl Plan for AdaptiveFractional {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> std::result::Result<Outcome, O::Err> {
        let mut session: FractionalSession = recall(oracle).unwrap_or_else(|| self.start());
        let (rule, radius) = loop {
            let radius = session.radius() * self.answers.caution();
            if radius <= self.tolerance {
                break ("radius", radius);
            }
            if session.asked() >= self.budget {
                break ("budget", radius);
            }
            let Some(query) = session.question(self.seed) else { break ("nothing left to ask", radius) };
            let answer = oracle.prefer(&query)?;
            session.take(&query, &answer);
            keep(oracle, &session);
        };
        let gauge = "the flattest denominator over the ball, 1 at its centre".to_owned();
        let findings = vec![
            Finding::Stopped { rule: rule.to_owned(), questions: session.asked(), radius },
            Finding::FractionalGauge { gauge },
        ];
        Ok(Outcome { metric: session.metric(), findings })
    }
}

/// The state of an adaptive elicitation of a fraction after some answers.
#[derive(Debug, Clone)]
pub struct FractionalSession {
    space: Sphere,
    probit: Probit,
    hesitates: bool,
    cloud: Cloud,
}

impl FractionalSession {
    /// How many answers have been taken in.
    pub fn asked(&self) -> usize {
        self.cloud.asked()
    }

    /// The angle between pencils, in units of the ball, that holds the truth with probability .95.
    pub fn radius(&self) -> f64 {
        CAUTION * self.cloud.radius(0.95)
    }

    /// The best estimate.
    pub fn pencil(&self) -> Pencil {
        self.cloud.middle()
    }

    /// The metric the estimate stands for in the gauge of the ball, with its posterior.
    pub fn metric(&self) -> Metric {
        let pencil = self.pencil();
        let (metric, coefficients) = (pencil.metric(&self.space), pencil.coefficients(&self.space));
        // The same factor for all members as for the estimate, so that the spread is in the units of the document.
        let found = metric.coefficients();
        let factor = dot(&found, &coefficients) / dot(&coefficients, &coefficients);
        let members = self.cloud.members();
        let mut covariance = vec![vec![0.0; found.len()]; found.len()];
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

    /// The most telling question now; `seed` varies the candidates.
    ///
    /// Around a middle c the comparison of c + d with c - d is linear in d, so for every middle the best d solves a
    /// generalised eigenproblem for a Gaussian like the cloud. The best of all middles is chosen by the cloud itself: by
    /// how far apart the two answers would leave its averages.
    pub fn question(&self, seed: u64) -> Option<Query> {
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
        let turn = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(self.asked() as u64 + 1);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(turn));
        for _ in 0..RANDOM_MIDDLES {
            let towards: Vec<f64> = (0..q).map(|_| StandardNormal.sample(&mut random)).collect();
            let length = 0.95 * random.random::<f64>().powf(1.0 / q as f64) / norm(&towards).max(1e-12);
            middles.push(scaled(&towards, length));
        }
        middles
    }

    /// How likely the first of two points is preferred, after the answers so far.
    pub fn chance_of_first(&self, query: &Query) -> f64 {
        let [first, second] = [&query.first, &query.second].map(|point| self.relative(point));
        let probit = self.probit.decided();
        let chance = |member: &Pencil| probit.chance(Said::Positive, member.ahead(&first, &second), 0.0);
        let members = self.cloud.members();
        members.iter().map(chance).sum::<f64>() / members.len() as f64
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

    /// Takes an answer in. The pair as it was shown is what the answer is about.
    pub fn take(&mut self, query: &Query, answer: &Answer) {
        let shown = answer.shown.as_ref().unwrap_or(query);
        let (first, second) = (self.relative(&shown.first), self.relative(&shown.second));
        self.hesitates |= answer.preference == Preference::CannotTell;
        let probit = if self.hesitates { self.probit } else { self.probit.decided() };
        match answer.preference {
            Preference::First => self.cloud.take(first, second, probit, Said::Positive),
            Preference::Second => self.cloud.take(second, first, probit, Said::Positive),
            Preference::CannotTell => self.cloud.take(first, second, probit, Said::Within),
        }
    }
}

/// How answers are read; nothing is estimated of unknown noise, which is taken to be the most usual.
fn fractional_reading(answers: NoiseModel, resolution: f64) -> Probit {
    match answers {
        NoiseModel::Unknown => models::all().next().map(models::reading).expect("several models"),
        known => Probit::of(known, resolution),
    }
}

fn as_answers<S: serde::Serializer>(
    answers: &NoiseModel,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    answers.to_answers().serialize(serializer)
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
fn moments(members: &[Vec<f64>]) -> Posterior {
    let d = members[0].len();
    let share = 1.0 / members.len() as f64;
    let mean = members.iter().fold(vec![0.0; d], |sum, member| plus(&sum, share, member));
    let mut covariance = vec![0.0; d * d];
    for member in members {
        let away = plus(member, -1.0, &mean);
        for i in 0..d {
            let factor = share * away[i];
            covariance[i * d..][..d].iter_mut().zip(&away).for_each(|(c, a)| *c += factor * a);
        }
    }
    Posterior::from_moments(mean, covariance)
}
