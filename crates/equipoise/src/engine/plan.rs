//! The engine as a plan: ask the most telling question until enough is known.

use super::ask::Reach;
use super::check::{self, FamilyCheck};
use super::features::Features;
use super::pairs::{Aim, Points};
use super::session::Session;
use super::stop::Stop;
use crate::ask::{Answer, Answered, Finding, NoiseModel, Oracle, Outcome, Plan, Query, keep, recall};
use crate::document::{self, Object};
use crate::error::{Error, Result, check as expect};
use crate::search::SignKnowledge;
use crate::space::{GroupSphere, Pool, Space, Sphere};
use crate::view::View;
use serde::Serialize;

/// The rule that ends the questions when nothing that may be asked tells anything.
const NOTHING_LEFT: &str = "nothing left to ask";

/// Which family is elicited, and where.
#[derive(Debug, Clone, PartialEq)]
enum Subject {
    Linear(Sphere),
    Pool(Pool),
    Quadratic(Sphere),
    Polynomial(Sphere, usize),
    GroupFair(GroupSphere),
    GroupFairQuadratic(GroupSphere),
}

/// Elicits a metric that is linear in its weights with as few questions as information allows.
///
/// ```
/// use equipoise::{Measure, Metric, Plan, Sense, engine::Adaptive, ask::Simulated, space::{Space, Sphere}};
/// let ball = Sphere::new(Measure::OffDiagonalRates, 3, 0.2)?;
/// let hidden = Metric::linear(ball.view(), Sense::Cost, vec![1.0, 2.0, 1.0, 4.0, 8.0, 1.0])?;
/// let plan = Adaptive::linear(ball, 0.01)?;
/// let Ok(outcome) = plan.run(&mut Simulated::new(hidden.clone()));
/// assert!(outcome.metric.difference(&hidden).unwrap().angle < 0.01); // after some 35 questions, not 320
/// # Ok::<(), equipoise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Adaptive {
    subject: Subject,
    answers: NoiseModel,
    signs: SignKnowledge,
    tolerance: f64,
    budget: usize,
    stops: Vec<Stop>,
    rows_that_differ: Option<usize>,
    probes: usize,
    seed: u64,
}

/// Where a run is: asking, or checking what the answers came to.
#[derive(Debug, Clone)]
pub(crate) struct Inquiry {
    pub session: Session,
    /// The rule that ended the questions, and whoever hears the probes after it.
    check: Option<(&'static str, FamilyCheck)>,
    probed: usize,
}

impl Adaptive {
    /// A linear metric on a ball, to an angle of `tolerance` with 95 % certainty.
    pub fn linear(space: Sphere, tolerance: f64) -> Result<Self> {
        Self::new(Subject::Linear(space), SignKnowledge::Monotone, tolerance)
    }

    /// A linear metric from pairs of a pool; ends when the best of the pool is known with 95 % certainty.
    ///
    /// ```
    /// use equipoise::{Measure, Metric, Plan, Sense, engine::Adaptive, ask::Simulated, space::{Pool, Space}};
    /// let models = [("a", [0.30, 0.02]), ("b", [0.20, 0.05]), ("c", [0.12, 0.12]), ("d", [0.05, 0.30])];
    /// let models = models.map(|(name, point)| (name.to_owned(), point.to_vec()));
    /// let pool = Pool::new(Measure::OffDiagonalRates, 2, models.to_vec())?;
    /// let hidden = Metric::linear(pool.view(), Sense::Cost, vec![1.0, 2.0])?;
    /// let Ok(outcome) = Adaptive::pool(pool, 0.01)?.run(&mut Simulated::new(hidden));
    /// let found: Vec<String> = outcome.findings.iter().map(|finding| finding.to_string()).collect();
    /// assert!(found[1].starts_with("the best of the pool is \"b\""));
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn pool(space: Pool, tolerance: f64) -> Result<Self> {
        let plan = Self::new(Subject::Pool(space), SignKnowledge::Monotone, tolerance)?;
        plan.stop(vec![Stop::SETTLED])
    }

    /// A polynomial metric on a ball.
    pub fn polynomial(space: Sphere, degree: usize, tolerance: f64) -> Result<Self> {
        expect::number("degree", degree as f64, (1..=6).contains(&degree), "a whole number from 1 to 6")?;
        let q = space.view().dimension();
        let weights = (1..=degree).fold(1.0, |count, n| count * (q + n) as f64 / n as f64) - 1.0;
        let few = "at most 500 (fewer classes or degrees)";
        expect::number("the number of unknown coefficients", weights, weights <= 500.0, few)?;
        Self::new(Subject::Polynomial(space, degree), SignKnowledge::Unknown, tolerance)
    }

    /// A quadratic metric on a ball.
    pub fn quadratic(space: Sphere, tolerance: f64) -> Result<Self> {
        Self::new(Subject::Quadratic(space), SignKnowledge::Unknown, tolerance)
    }

    /// A group-fair metric on the common ball.
    pub fn group_fair(space: GroupSphere, tolerance: f64) -> Result<Self> {
        Self::new(Subject::GroupFair(space), SignKnowledge::Monotone, tolerance)
    }

    /// A group-fair quadratic metric on the common ball.
    pub fn group_fair_quadratic(space: GroupSphere, tolerance: f64) -> Result<Self> {
        Self::new(Subject::GroupFairQuadratic(space), SignKnowledge::Unknown, tolerance)
    }

    fn new(subject: Subject, signs: SignKnowledge, tolerance: f64) -> Result<Self> {
        let ok = (1e-6..=1.0).contains(&tolerance);
        expect::number("tolerance", tolerance, ok, "a number in [1e-6, 1]")?;
        Ok(Self {
            subject,
            answers: NoiseModel::Exact,
            signs,
            tolerance,
            budget: 10_000,
            stops: vec![],
            rows_that_differ: None,
            probes: 0,
            seed: 0,
        })
    }

    /// How answers are believed to come about.
    pub fn answers(self, answers: NoiseModel) -> Result<Self> {
        Ok(Self { answers: answers.believable()?, ..self })
    }

    /// What is known of the signs; used for linear and group-fair metrics.
    pub fn signs(self, signs: SignKnowledge) -> Self {
        Self { signs, ..self }
    }

    /// How it believes answers to come about.
    pub fn believed_answers(&self) -> NoiseModel {
        self.answers
    }

    /// What it takes for known of the signs.
    pub fn known_signs(&self) -> SignKnowledge {
        self.signs
    }

    /// At most this many questions.
    pub fn budget(self, questions: usize) -> Result<Self> {
        let ok = (1..=1_000_000).contains(&questions);
        expect::number("budget", questions as f64, ok, "a whole number from 1 to 1000000")?;
        Self { budget: questions, ..self }.with_room_for_questions()
    }

    /// After the questions, this many more that tell whether a linear metric explains the answers; the budget counts them.
    ///
    /// They are about pairs off the middle of the ball, on which a linear and a quadratic metric differ most. The estimate
    /// stays what the questions made of it; the findings [`NotLinear`](Finding::NotLinear) and
    /// [`Contradicted`](Finding::Contradicted) are what the check adds. For linear metrics on a ball of at most 12
    /// coordinates.
    ///
    /// ```
    /// use equipoise::{Measure, Metric, Plan, engine::Adaptive, ask::Simulated, space::Sphere};
    /// let ball = Sphere::new(Measure::OffDiagonalRates, 2, 0.2)?;
    /// // Mistakes of one kind weigh the more, the more there are of them.
    /// let text = r#"{"format":1,"kind":"quadratic","measure":"off_diagonal_rates","classes":2,"sense":"cost",
    ///                "linear":[-0.3,-0.4],"quadratic":[[1,0],[0,0.9]]}"#;
    /// let plan = Adaptive::linear(ball, 0.02)?.probes(16)?;
    /// let Ok(outcome) = plan.run(&mut Simulated::new(Metric::from_json(text)?));
    /// let said = outcome.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    /// assert!(said.contains("linear does not explain these answers"), "{said}");
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn probes(self, probes: usize) -> Result<Self> {
        if probes > 0 {
            let Subject::Linear(space) = &self.subject else {
                let what = "probes is given, which works for linear metrics on a ball only".to_owned();
                return Err(Error::Mismatch(what));
            };
            let found = check::coefficients(space.view().dimension());
            if found > check::MOST_COEFFICIENTS {
                let what = format!(
                    "probes compares with a quadratic metric, which has {found} coefficients here, expected at most {} \
                     (fewer classes)",
                    check::MOST_COEFFICIENTS
                );
                return Err(Error::Mismatch(what));
            }
        }
        Self { probes, ..self }.with_room_for_questions()
    }

    /// Probes come out of the budget, so they must leave something of it.
    fn with_room_for_questions(self) -> Result<Self> {
        expect::number("probes", self.probes as f64, self.probes < self.budget, "fewer than the budget")?;
        Ok(self)
    }

    /// Other rules that end it, besides tolerance and budget.
    pub fn stop(self, stops: Vec<Stop>) -> Result<Self> {
        let stops = stops.into_iter().map(Stop::checked).collect::<Result<Vec<_>>>()?;
        let settles = stops.iter().any(|stop| matches!(stop, Stop::Decision { .. }));
        if settles && !matches!(self.subject, Subject::Pool(_)) {
            let what = "stop is \"decision\", which needs a pool space: there is nothing to decide on a ball";
            return Err(Error::Mismatch(what.to_owned()));
        }
        Ok(Self { stops, ..self })
    }

    /// The two points of a question differ in at most this many coordinates, so that people can see all that differs.
    pub fn rows_that_differ(self, rows: usize) -> Result<Self> {
        expect::at_least("rows_that_differ", rows, 2, "at least 2")?;
        if matches!(self.subject, Subject::GroupFair(_) | Subject::GroupFairQuadratic(_)) {
            let what = "rows_that_differ is given, which works without groups only".to_owned();
            return Err(Error::Mismatch(what));
        }
        Ok(Self { rows_that_differ: Some(rows), ..self })
    }

    /// The seed of candidate questions.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The word for the family in documents.
    pub fn kind(&self) -> &'static str {
        match self.subject {
            Subject::Linear(_) | Subject::Pool(_) => "linear",
            Subject::Polynomial(..) => "polynomial",
            Subject::Quadratic(_) => "quadratic",
            Subject::GroupFair(_) => "group_fair",
            Subject::GroupFairQuadratic(_) => "group_fair_quadratic",
        }
    }

    /// What the points of its questions are.
    pub fn view(&self) -> View {
        self.features().view()
    }

    /// Whether a question may show this point, to within `tolerance` in units of the space.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn may_ask_about(&self, point: &[f64], tolerance: f64) -> bool {
        let features = self.features();
        let x = features.relative(point);
        let near = |y: &[f64]| x.iter().zip(features.relative(y)).all(|(a, b)| (a - b).abs() <= tolerance);
        match &self.subject {
            Subject::Pool(pool) => pool.members().iter().any(|member| near(&member.point)),
            _ => {
                let groups = features.view().groups();
                x.chunks(x.len() / groups).all(|part| crate::linalg::norm(part) <= 1.0 + tolerance)
            }
        }
    }

    /// The feature map of its family.
    pub fn features(&self) -> Features {
        match &self.subject {
            Subject::Linear(space) => Features::linear(space.view(), space.centre(), space.radius()),
            Subject::Pool(space) => Features::linear(space.view(), space.centre(), space.radius()),
            Subject::Quadratic(space) => Features::quadratic(space.view(), space.centre(), space.radius()),
            Subject::Polynomial(space, degree) => {
                Features::polynomial(space.view(), space.centre(), space.radius(), *degree)
            }
            Subject::GroupFair(space) => {
                Features::group_fair(space.view(), space.centre(), space.radius(), space.prevalence().clone())
            }
            Subject::GroupFairQuadratic(space) => {
                let shares = space.prevalence().clone();
                Features::group_fair_quadratic(space.view(), space.centre(), space.radius(), shares)
            }
        }
    }

    /// The state before the first question.
    pub fn start(&self) -> Session {
        let features = self.features();
        let signs = match self.signs {
            SignKnowledge::Monotone => features.known_signs(),
            SignKnowledge::Unknown => None,
        };
        let reach = self.reach(&signs);
        let session = Session::start(features, reach, self.answers, signs, self.tolerance);
        session.with_rows_that_differ(self.rows_that_differ)
    }

    fn reach(&self, signs: &Option<Vec<f64>>) -> Reach {
        let Subject::Pool(pool) = &self.subject else { return Reach::Ball };
        let points = pool.members().iter().map(|member| member.point.clone()).collect();
        let settles = self.stops.iter().any(|stop| matches!(stop, Stop::Decision { .. }));
        let aim = if settles { Aim::Decision } else { Aim::Weights };
        Reach::Points(Points { points, signs: signs.clone(), aim })
    }

    /// The rule that ends it before a question is chosen, if one does.
    fn ended(&self, session: &Session) -> Option<&'static str> {
        if session.radius() * self.answers.caution() <= self.tolerance {
            return Some("radius");
        }
        if session.asked() >= self.budget - self.probes {
            return Some("budget");
        }
        let settled = |stop: &&Stop| match stop {
            Stop::Decision { level } => session.decision(self.seed).is_some_and(|d| d.probability >= *level),
            Stop::Information { .. } => false,
        };
        self.stops.iter().find(settled).map(Stop::rule)
    }

    /// What to ask now, or the rule that ends the questions.
    pub fn next(&self, session: &Session) -> std::result::Result<Query, &'static str> {
        if let Some(rule) = self.ended(session) {
            return Err(rule);
        }
        let query = session.question(self.seed).ok_or(NOTHING_LEFT)?;
        let floors = self.stops.iter().filter(|stop| matches!(stop, Stop::Information { .. }));
        let bits = if floors.clone().next().is_some() { session.expected_bits(&query) } else { 1.0 };
        let mut idle = floors.filter(|stop| matches!(stop, Stop::Information { floor } if bits < *floor));
        idle.next().map_or(Ok(query), |stop| Err(stop.rule()))
    }

    /// Whether the questions have come to their end and only probes are left.
    pub fn is_checking(&self, session: &Session) -> bool {
        self.probes > 0 && self.next(session).is_err()
    }

    /// Whoever hears the probes of a session that has ended.
    fn family_check(&self, session: &Session) -> Option<FamilyCheck> {
        let Subject::Linear(space) = &self.subject else { return None };
        let hears =
            || FamilyCheck::new(space, self.answers, session.noise(), self.signs, &session.transcript());
        (self.probes > 0).then(hears)
    }

    pub(crate) fn read(mut object: Object, space: crate::space::AnySpace) -> Result<Self> {
        use crate::space::AnySpace;
        let place = object.place();
        let kinds = ["linear", "quadratic", "polynomial", "group_fair", "group_fair_quadratic"];
        let kind = object.kind("kind", &kinds)?;
        let tolerance = object.optional("tolerance")?.unwrap_or(0.01);
        let made = match (kind.as_str(), space) {
            ("linear", AnySpace::Sphere(space)) => Self::linear(space, tolerance),
            ("linear", AnySpace::Pool(space)) => Self::pool(space, tolerance),
            ("quadratic", AnySpace::Sphere(space)) => Self::quadratic(space, tolerance),
            ("polynomial", AnySpace::Sphere(space)) => {
                Self::polynomial(space, object.optional("degree")?.unwrap_or(3), tolerance)
            }
            ("group_fair", AnySpace::GroupSphere(space)) => Self::group_fair(space, tolerance),
            ("group_fair_quadratic", AnySpace::GroupSphere(space)) => {
                Self::group_fair_quadratic(space, tolerance)
            }
            (kind, space) => Err(Error::Mismatch(format!(
                "kind is \"{kind}\", which the adaptive method cannot elicit on a {} space",
                space.kind()
            ))),
        };
        let mut plan = document::at(&place, made)?;
        object.kind("method", &["adaptive"])?;
        plan.answers = NoiseModel::read_answers(&mut object)?.unwrap_or(plan.answers);
        plan.signs = object.optional("signs")?.unwrap_or(plan.signs);
        if let Some(budget) = object.optional("budget")? {
            plan = document::at(&place, plan.budget(budget))?;
        }
        if let Some(stops) = Stop::read(&mut object)? {
            plan = document::at(&place, plan.stop(stops))?;
        }
        if let Some(rows) = object.optional("rows_that_differ")? {
            plan = document::at(&place, plan.rows_that_differ(rows))?;
        }
        if let Some(probes) = object.optional("probes")? {
            plan = document::at(&place, plan.probes(probes))?;
        }
        plan.seed = object.optional("seed")?.unwrap_or(plan.seed);
        object.finish()?;
        Ok(plan)
    }
}

impl Plan for Adaptive {
    type Output = Outcome;

    fn run<O: Oracle>(&self, oracle: &mut O) -> std::result::Result<Outcome, O::Err> {
        let begin = || Inquiry { session: self.start(), check: None, probed: 0 };
        let mut inquiry: Inquiry = recall(oracle).unwrap_or_else(begin);
        let rule = loop {
            if let Some((rule, _)) = inquiry.check {
                break rule;
            }
            match self.next(&inquiry.session) {
                Ok(query) => {
                    let answer = oracle.prefer(&query)?;
                    inquiry.session.take(&query, &answer);
                    keep(oracle, &inquiry);
                }
                Err(rule) => {
                    inquiry.check = self.family_check(&inquiry.session).map(|check| (rule, check));
                    break rule;
                }
            }
        };
        while inquiry.probed < self.probes {
            let Some((_, check)) = &mut inquiry.check else { break };
            let query = check.probe(self.rows_that_differ, self.seed);
            let Answer { preference, shown } = oracle.prefer(&query)?;
            check.hear(&Answered { query, preference, shown });
            inquiry.probed += 1;
            keep(oracle, &inquiry);
        }
        Ok(self.outcome(&inquiry, rule))
    }
}

impl Adaptive {
    fn outcome(&self, inquiry: &Inquiry, rule: &str) -> Outcome {
        let session = &inquiry.session;
        let (questions, radius) =
            (session.asked() + inquiry.probed, session.radius() * self.answers.caution());
        let mut findings = vec![Finding::Stopped { rule: rule.to_owned(), questions, radius }];
        if let (Subject::Pool(pool), Some(decision)) = (&self.subject, session.decision(self.seed)) {
            let name = pool.members()[decision.best].name.clone();
            findings.push(Finding::BestOfPool { name, probability: decision.probability });
            let level = |stop: &Stop| match stop {
                Stop::Decision { level } => Some(*level),
                Stop::Information { .. } => None,
            };
            if let (NOTHING_LEFT, Some(level)) = (rule, self.stops.iter().find_map(level)) {
                findings.push(Finding::PairsUsedUp { pairs: session.asked(), level });
            }
        }
        if let Some((_, check)) = &inquiry.check {
            findings.extend(check.verdict().findings());
        }
        Outcome { metric: session.metric(), findings }
    }
}

impl Serialize for Adaptive {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'a, T> {
            space: &'a T,
            method: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            degree: Option<usize>,
            tolerance: f64,
            answers: serde_json::Value,
            signs: SignKnowledge,
            budget: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            stop: Option<&'a [Stop]>,
            #[serde(skip_serializing_if = "Option::is_none")]
            rows_that_differ: Option<usize>,
            #[serde(skip_serializing_if = "Option::is_none")]
            probes: Option<usize>,
            seed: u64,
        }
        fn write<T: Serialize, S: serde::Serializer>(
            plan: &Adaptive,
            space: &T,
            serializer: S,
        ) -> std::result::Result<S::Ok, S::Error> {
            let Adaptive { signs, tolerance, budget, rows_that_differ, seed, .. } = *plan;
            let degree = match plan.subject {
                Subject::Polynomial(_, degree) => Some(degree),
                _ => None,
            };
            // A pool without rules is not the same as a pool with the usual one.
            let named = matches!(plan.subject, Subject::Pool(_)) || !plan.stops.is_empty();
            let (method, stop) = ("adaptive", named.then_some(&plan.stops[..]));
            Document {
                space,
                method,
                degree,
                tolerance,
                answers: plan.answers.to_answers(),
                signs,
                budget,
                stop,
                rows_that_differ,
                probes: (plan.probes > 0).then_some(plan.probes),
                seed,
            }
            .serialize(serializer)
        }
        match &self.subject {
            Subject::Linear(space) | Subject::Quadratic(space) | Subject::Polynomial(space, _) => {
                write(self, space, serializer)
            }
            Subject::Pool(space) => write(self, space, serializer),
            Subject::GroupFair(space) | Subject::GroupFairQuadratic(space) => write(self, space, serializer),
        }
    }
}
