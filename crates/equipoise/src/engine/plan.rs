//! What an adaptive plan is: what it elicits, what it assumes, what it asks next, and when it has enough.

use super::aim::{Aim, Points};
use super::belief::around::Around;
use super::belief::choice::{self, Choice};
use super::belief::cloud::Cloud;
use super::belief::gaussian::Gaussian;
use super::belief::grid::Grid;
use super::belief::log_weights::LogWeights;
use super::belief::{Belief, Width};
use super::check;
use super::doubt::{self, Doubt};
use super::features::Features;
use super::question::Reach;
use super::stop::Stop;
use crate::ask::{Answer, Finding, NoiseModel, Query};
use crate::error::{Error, Result, check as expect, refuse};
use crate::search::SignKnowledge;
use crate::space::{AnySpace, Binary, Candidates, GroupSphere, OperatingPoint, Pool, Space, Sphere};
use crate::view::View;
use std::sync::Arc;

/// Around an operating point the rule that follows is to cost at most this much more than the best one, as a share.
const AROUND: f64 = 0.082;

/// Of more kinds of error than this it may cost more: a person's patience is the limit.
const FEW_KINDS: usize = 6;
const AROUND_MANY: f64 = 0.105;

/// The threshold of two classes is to cost at most this much more than the best one.
const THRESHOLD: f64 = 0.025;

/// What people are asked: at most so many questions, the last few of which are probes.
const MOST_FOR_PEOPLE: usize = 30;
pub(super) const PROBES_FOR_PEOPLE: usize = 3;

/// The rule that ends the questions when nothing that may be asked tells anything.
pub(super) const NOTHING_LEFT: &str = "nothing left to ask";

/// And those when what may be asked tells too little.
pub(super) const IDLE: &str = "information";
pub(super) const IDLE_OF_A_RATIO: &str = "information floor";

/// What is elicited, and where.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Subject {
    /// The cost ratio of two classes.
    Ratio(Binary),
    /// A fraction on a ball.
    Fraction(Sphere),
    /// The weights of features, on a ball, a common ball of groups, or a pool.
    Weights(AnySpace, Features),
    /// The weights of attributes, among candidates.
    Choice(Candidates),
}

/// Elicits a metric with as few questions as information allows.
///
/// It keeps a [`Belief`], asks what splits it best, and stops when the belief is narrow enough, when another [`Stop`] applies,
/// or after `budget` questions; the result says which.
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
    pub(super) subject: Subject,
    pub(super) answers: Option<NoiseModel>,
    pub(super) signs: SignKnowledge,
    pub(super) narrow: Width,
    pub(super) stops: Vec<Stop>,
    pub(super) budget: usize,
    pub(super) rows_that_differ: Option<usize>,
    /// Boxed, or plans of all kinds would be as large.
    pub(super) risks: Option<Box<[f64; 2]>>,
    pub(super) probes: usize,
    pub(super) seed: u64,
}

impl Adaptive {
    /// A two-class cost ratio from pairs of classifiers that somebody would build, until the threshold that follows is expected
    /// to cost at most 2.5 % more than the best one, or the ends of the 95 % interval differ by a factor of at most 1.6; at most
    /// 30 questions, the last few of which are probes, none that tells less than .01 bit, nothing assumed of the person.
    ///
    /// Where the noise is [told](Self::answers) pairs come from the whole boundary and the width decides, without probes.
    ///
    /// ```
    /// use equipoise::{Metric, Plan, engine::Adaptive, ask::Simulated, population::Logistic, space::Binary};
    /// let hidden = r#"{"format":1,"kind":"linear","measure":"binary","sense":"utility","weights":[6,1]}"#;
    /// let plan = Adaptive::ratio(Binary::from_law(Logistic::with_offset(21.0, 6.3)?));
    /// let Ok(outcome) = plan.run(&mut Simulated::new(Metric::from_json(hidden)?));
    /// assert!((outcome.metric.cost_ratio().unwrap() / 6.0).ln().abs() < 0.2);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn ratio(space: Binary) -> Self {
        let plan = Self::new(Subject::Ratio(space), SignKnowledge::Monotone, Width::Factor(1.6));
        let stops = vec![Stop::Regret { at_most: THRESHOLD }, Stop::Information { floor: 0.01 }];
        Self { stops, budget: MOST_FOR_PEOPLE, probes: PROBES_FOR_PEOPLE, ..plan }
    }

    /// A linear-fractional metric on a ball, up to what comparisons can tell: the pencil of its level sets, to an angle of
    /// `tolerance` with 95 % certainty in units of the ball.
    ///
    /// ```
    /// use equipoise::{Measure, Plan, engine::Adaptive, testing::random, ask::Simulated};
    /// use equipoise::space::{Space, Sphere};
    /// use rand::SeedableRng;
    /// let ball = Sphere::new(Measure::DiagonalRates, 3, 0.2)?;
    /// let hidden = random::linear_fractional(ball.view(), &mut rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1));
    /// let plan = Adaptive::fractional(ball, 0.05)?;
    /// let Ok(outcome) = plan.run(&mut Simulated::new(hidden.clone()));
    /// assert!(outcome.metric.difference(&hidden).unwrap().angle < 0.1); // after some 20 questions
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn fractional(space: Sphere, tolerance: f64) -> Result<Self> {
        let ok = (1e-4..=1.0).contains(&tolerance);
        expect::number("tolerance", tolerance, ok, "a number in [1e-4, 1]")?;
        Ok(Self::new(Subject::Fraction(space), SignKnowledge::Unknown, Width::Angle(tolerance)))
    }

    /// A linear metric on a ball, to an angle of `tolerance` with 95 % certainty.
    pub fn linear(space: Sphere, tolerance: f64) -> Result<Self> {
        let features = Features::linear(space.view(), space.centre(), space.radius());
        Self::weights(AnySpace::Sphere(space), features, tolerance)
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
        let features = Features::linear(space.view(), space.centre(), space.radius());
        Self::weights(AnySpace::Pool(space), features, tolerance)?.stop(vec![Stop::SETTLED])
    }

    /// A linear metric, or with groups a group-fair one, from trades of two kinds of error around a real classifier: what a
    /// person is asked. Ends when the rule that follows is expected to cost at most 8.2 % more than the best one for them (10.5 %
    /// with more than six kinds), after 30 questions at most, the last few of which are probes; nothing is assumed of the
    /// person.
    ///
    /// ```
    /// use equipoise::{Measure, Metric, Plan, Sense, engine::Adaptive, ask::{NoiseModel, Simulated}, population::Softmax};
    /// use equipoise::space::{Achievable, OperatingPoint, Space};
    /// let law = Softmax::new(vec![1.0, 3.0, 5.0])?;
    /// let set = Achievable::new(&law, Measure::OffDiagonalRates)?;
    /// let space = OperatingPoint::around(&set, &set.extreme(&[-1.0; 6], 0)?.1)?;
    /// let hidden = Metric::linear(space.view(), Sense::Cost, vec![1.0, 2.0, 1.0, 1.0, 3.0, 1.0])?;
    /// let mut person = Simulated::with_noise(hidden, NoiseModel::Relative { slope: 3.0, lapse: 0.015 }, 1)?;
    /// let Ok(outcome) = Adaptive::around(space)?.run(&mut person);
    /// assert!(outcome.findings.iter().any(|finding| finding.to_string().contains("more than the best")));
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn around(space: OperatingPoint) -> Result<Self> {
        let (view, radius) = (space.view(), space.radius());
        // Gaps are differences of rates themselves: nothing is taken off.
        let origin = vec![0.0; view.dimension()];
        let features = match space.prevalence() {
            Some(shares) => Features::group_fair(view, origin, radius, shares.clone()),
            None => Features::linear(view, origin, radius),
        };
        let many = features.dimension() > FEW_KINDS;
        let plan = Self::weights(AnySpace::OperatingPoint(space), features, 1e-6)?;
        let stops = vec![Stop::Regret { at_most: if many { AROUND_MANY } else { AROUND } }];
        let (answers, probes) = (Some(NoiseModel::Unknown), PROBES_FOR_PEOPLE);
        Ok(Self { answers, stops, budget: MOST_FOR_PEOPLE, probes, ..plan })
    }

    /// A polynomial metric on a ball.
    pub fn polynomial(space: Sphere, degree: usize, tolerance: f64) -> Result<Self> {
        expect::number("degree", degree as f64, (1..=6).contains(&degree), "a whole number from 1 to 6")?;
        let q = space.view().dimension();
        let weights = (1..=degree).fold(1.0, |count, n| count * (q + n) as f64 / n as f64) - 1.0;
        let few = "at most 500 (fewer classes or degrees)";
        expect::number("the number of unknown coefficients", weights, weights <= 500.0, few)?;
        let features = Features::polynomial(space.view(), space.centre(), space.radius(), degree);
        Self::weights(AnySpace::Sphere(space), features, tolerance)
    }

    /// A quadratic metric on a ball.
    pub fn quadratic(space: Sphere, tolerance: f64) -> Result<Self> {
        let features = Features::quadratic(space.view(), space.centre(), space.radius());
        Self::weights(AnySpace::Sphere(space), features, tolerance)
    }

    /// A group-fair metric on the common ball.
    pub fn group_fair(space: GroupSphere, tolerance: f64) -> Result<Self> {
        let shares = space.prevalence().clone();
        let features = Features::group_fair(space.view(), space.centre(), space.radius(), shares);
        Self::weights(AnySpace::GroupSphere(space), features, tolerance)
    }

    /// A group-fair quadratic metric on the common ball.
    pub fn group_fair_quadratic(space: GroupSphere, tolerance: f64) -> Result<Self> {
        let shares = space.prevalence().clone();
        let features = Features::group_fair_quadratic(space.view(), space.centre(), space.radius(), shares);
        Self::weights(AnySpace::GroupSphere(space), features, tolerance)
    }

    fn weights(space: AnySpace, features: Features, tolerance: f64) -> Result<Self> {
        let ok = (1e-6..=1.0).contains(&tolerance);
        expect::number("tolerance", tolerance, ok, "a number in [1e-6, 1]")?;
        let signs =
            if features.known_signs().is_some() { SignKnowledge::Monotone } else { SignKnowledge::Unknown };
        Ok(Self::new(Subject::Weights(space, features), signs, Width::Angle(tolerance)))
    }

    pub(super) fn new(subject: Subject, signs: SignKnowledge, narrow: Width) -> Self {
        let (stops, budget, rows_that_differ, risks) = (vec![], 10_000, None, None);
        let answers = (!matches!(subject, Subject::Ratio(_))).then_some(NoiseModel::Exact);
        Self { subject, answers, signs, narrow, stops, budget, rows_that_differ, risks, probes: 0, seed: 0 }
    }

    /// How answers are believed to come about: by default exact, and unknown for a ratio. Differences of a fraction are those
    /// of the one whose gradient at the centre has length 1.
    ///
    /// A known noise is a simulation's. What is asked of people then needs no probes, and a ratio ends by its width.
    pub fn answers(self, answers: NoiseModel) -> Result<Self> {
        let mut plan = Self { answers: Some(answers.believable()?), ..self };
        if answers != NoiseModel::Unknown && plan.is_for_people() {
            plan.probes = 0;
            let by_width = plan.is_ratio();
            plan.stops.retain(|stop| !(by_width && *stop == Stop::Regret { at_most: THRESHOLD }));
        }
        Ok(plan)
    }

    /// Whether it asks somebody of whom nothing is known, in ways that people can answer.
    pub(super) fn asks_people(&self) -> bool {
        self.noise() == NoiseModel::Unknown && self.is_for_people()
    }

    /// Whether its questions are such that people can answer them.
    fn is_for_people(&self) -> bool {
        self.is_ratio() || self.operating_point().is_some() || self.candidates().is_some()
    }

    /// Errors may be liked: nothing is known of the signs of a linear or group-fair metric.
    pub fn of_unknown_signs(self) -> Self {
        Self { signs: SignKnowledge::Unknown, ..self }
    }

    /// How it believes answers to come about.
    pub fn noise(&self) -> NoiseModel {
        self.answers.unwrap_or(NoiseModel::Unknown)
    }

    /// How wide the belief may be at the end; angles are compared with caution.
    pub fn narrow(&self) -> Width {
        self.narrow
    }

    /// What it takes for known of the signs.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn known_signs(&self) -> SignKnowledge {
        self.signs
    }

    /// At most this many questions.
    pub fn budget(self, questions: usize) -> Result<Self> {
        let (most, expected) = match self.is_ratio() {
            true => (10_000, "a whole number from 1 to 10000"),
            false => (1_000_000, "a whole number from 1 to 1000000"),
        };
        expect::number("budget", questions as f64, (1..=most).contains(&questions), expected)?;
        // Of a few questions to a person, probes are a part.
        let probes = if self.asks_people() { self.probes.min(questions / 4) } else { self.probes };
        Self { budget: questions, probes, ..self }.with_room_for_questions()
    }

    /// After the questions, this many more that tell whether a linear metric explains the answers; the budget counts them.
    ///
    /// They are about pairs off the middle of the ball, on which a linear and a quadratic metric differ most. The estimate
    /// stays what the questions made of it; the findings [`NotLinear`](crate::ask::Finding::NotLinear) and
    /// [`Contradicted`](crate::ask::Finding::Contradicted) are what the check adds. For linear metrics on a ball of at most 12
    /// coordinates, and for what is asked of people: two classes and trades around a classifier, with noise unknown. Of those
    /// a few more are asked where they leave doubt, and [`ProbesObject`](crate::ask::Finding::ProbesObject) and
    /// [`LikeChance`](crate::ask::Finding::LikeChance) say what they came to.
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
        if probes > 0 && !self.asks_people() {
            let Some(space) = self.linear_ball() else {
                let what = "probes is given, which works for linear metrics on a ball, and of two classes or around a \
                            classifier for answers whose noise is unknown"
                    .to_owned();
                return Err(Error::Mismatch(what));
            };
            let found = check::coefficients(space.view().dimension());
            refuse!(
                found > check::MOST_COEFFICIENTS,
                "probes compares with a quadratic metric, which has {found} coefficients here, expected at most {} \
                     (fewer classes)",
                check::MOST_COEFFICIENTS
            );
        }
        Self { probes, ..self }.with_room_for_questions()
    }

    /// Probes come out of the budget, so they must leave something of it.
    fn with_room_for_questions(self) -> Result<Self> {
        expect::number("probes", self.probes as f64, self.probes < self.budget, "fewer than the budget")?;
        Ok(self)
    }

    /// A ratio: by which factor the ends of the interval may differ.
    pub fn width(self, width: f64) -> Result<Self> {
        expect::number("width", width, (1.05..=100.0).contains(&width), "a number in [1.05, 100]")?;
        match self.narrow {
            Width::Factor(_) => Ok(Self { narrow: Width::Factor(width), ..self }),
            Width::Angle(_) => {
                Err(Error::Mismatch("width is given, which works for a two-class ratio only".to_owned()))
            }
        }
    }

    /// Rules that end it besides its width and its budget, in place of those it has.
    pub fn stop(self, stops: Vec<Stop>) -> Result<Self> {
        let stops = stops.into_iter().map(Stop::checked).collect::<Result<Vec<_>>>()?;
        let any = |wanted: fn(&Stop) -> bool| stops.iter().any(wanted);
        refuse!(
            any(|stop| matches!(stop, Stop::Decision { .. })) && self.names().is_none(),
            "stop is \"decision\", which needs a pool space: there is nothing to decide on a ball"
        );
        refuse!(
            any(|stop| matches!(stop, Stop::Threshold { .. })) && !self.is_ratio(),
            "decision is given, which works for the threshold of a two-class ratio only"
        );
        Ok(Self { stops, ..self })
    }

    /// The two points of a question differ in at most this many coordinates, so that people can see all that differs.
    pub fn rows_that_differ(self, rows: usize) -> Result<Self> {
        expect::at_least("rows_that_differ", rows, 2, "at least 2")?;
        match self.features() {
            Some(features) if features.shares().is_none() => {
                Ok(Self { rows_that_differ: Some(rows), ..self })
            }
            _ => {
                let what = "rows_that_differ is given, which works without groups only".to_owned();
                Err(Error::Mismatch(what))
            }
        }
    }

    /// A ratio, asked case by case instead of classifier by classifier: whether to act on a case of some risk between these two.
    ///
    /// ```
    /// use equipoise::{Metric, Plan, engine::Adaptive, ask::Simulated, population::Logistic, space::Binary};
    /// let hidden = r#"{"format":1,"kind":"linear","measure":"binary","sense":"utility","weights":[6,1]}"#;
    /// let plan = Adaptive::ratio(Binary::from_law(Logistic::with_offset(21.0, 6.3)?)).about_cases([0.01, 0.95])?;
    /// let Ok(outcome) = plan.run(&mut Simulated::new(Metric::from_json(hidden)?));
    /// assert!((outcome.metric.cost_ratio().unwrap() / 6.0).ln().abs() < 0.3);
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn about_cases(self, risks: [f64; 2]) -> Result<Self> {
        refuse!(!self.is_ratio(), "risks is given, which works for a two-class ratio only");
        let [least, most] = risks;
        refuse!(
            !(least > 0.0 && least < most && most < 1.0),
            "risks is [{least}, {most}], expected two numbers strictly between 0 and 1, the smaller one first"
        );
        Ok(Self { risks: Some(Box::new(risks)), ..self })
    }

    /// The risks between which single cases are asked about, if they are.
    pub fn risks(&self) -> Option<[f64; 2]> {
        self.risks.as_deref().copied()
    }

    /// The seed of candidate questions.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The word for the family in documents.
    pub fn kind(&self) -> &'static str {
        match &self.subject {
            Subject::Ratio(_) => "linear",
            Subject::Fraction(_) => "linear_fractional",
            Subject::Weights(_, features) => features.kind(),
            Subject::Choice(_) => "attributes",
        }
    }

    /// Whether it elicits the cost ratio of two classes.
    pub fn is_ratio(&self) -> bool {
        matches!(self.subject, Subject::Ratio(_))
    }

    /// What the points of its questions are.
    pub fn view(&self) -> View {
        match &self.subject {
            Subject::Ratio(space) => space.view(),
            Subject::Fraction(space) => space.view(),
            Subject::Weights(_, features) => features.view(),
            Subject::Choice(space) => space.view(),
        }
    }

    /// The feature map of a family that is linear in its weights.
    pub fn features(&self) -> Option<&Features> {
        match &self.subject {
            Subject::Weights(_, features) => Some(features),
            _ => None,
        }
    }

    /// The radius of the space: of two classes, of the largest disc inside it. Differences are told in it.
    pub fn unit(&self) -> f64 {
        match &self.subject {
            Subject::Ratio(space) => crate::search::inscribed_radius(space),
            Subject::Fraction(space) => space.radius(),
            Subject::Weights(_, features) => features.radius(),
            Subject::Choice(_) => choice::UNIT,
        }
    }

    pub(super) fn linear_ball(&self) -> Option<&Sphere> {
        match &self.subject {
            Subject::Weights(AnySpace::Sphere(space), features) if features.is_linear() => Some(space),
            _ => None,
        }
    }

    /// The classifier that it asks around, if it does.
    pub fn operating_point(&self) -> Option<&OperatingPoint> {
        match &self.subject {
            Subject::Weights(AnySpace::OperatingPoint(space), _) => Some(space),
            _ => None,
        }
    }

    pub(super) fn pool_members(&self) -> Option<&Pool> {
        match &self.subject {
            Subject::Weights(AnySpace::Pool(pool), _) => Some(pool),
            _ => None,
        }
    }

    /// Whether a question may show this point.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn may_ask_about(&self, point: &[f64]) -> bool {
        match &self.subject {
            // Of cases of a risk all are found, or all that are well are cleared.
            Subject::Ratio(_) if self.risks.is_some() => {
                let shares = point.iter().filter(|x| **x > 0.0 && **x < 1.0);
                point.contains(&0.0) && shares.count() == 1
            }
            Subject::Ratio(space) => space.contains(point, 1e-6),
            Subject::Fraction(space) => space.contains(point, 1e-9),
            Subject::Weights(AnySpace::Pool(pool), features) => {
                let x = features.relative(point);
                let near = |y: &[f64]| x.iter().zip(features.relative(y)).all(|(a, b)| (a - b).abs() <= 1e-9);
                pool.members().iter().any(|member| near(&member.point))
            }
            Subject::Weights(AnySpace::OperatingPoint(space), _) => space.contains(point, 1e-9),
            Subject::Choice(space) => {
                space.kinds_of(point).iter().all(|kind| (-1e-9..=1.0 + 1e-9).contains(kind))
            }
            Subject::Weights(_, features) => {
                let x = features.relative(point);
                let parts = x.chunks(x.len() / features.view().groups());
                parts.map(crate::linalg::norm).all(|length| length <= 1.0 + 1e-9)
            }
        }
    }

    /// What is believed before the first question.
    pub fn start(&self) -> Box<dyn Belief> {
        let noise = self.noise();
        match &self.subject {
            Subject::Ratio(space) => Box::new(match self.risks() {
                Some(risks) => Grid::of_cases(space.clone(), noise, risks),
                None => Grid::new(space.clone(), noise),
            }),
            Subject::Fraction(space) => {
                Box::new(Cloud::new(space.clone(), noise, self.narrow.value(), self.seed))
            }
            Subject::Weights(AnySpace::OperatingPoint(space), features) => {
                let setting = Around::new(space.clone(), features.clone());
                Box::new(LogWeights::new(Arc::new(setting), noise, self.seed))
            }
            Subject::Choice(space) => {
                Box::new(LogWeights::new(Arc::new(Choice::new(space.clone())), noise, self.seed))
            }
            Subject::Weights(_, features) => {
                let signs = match self.signs {
                    SignKnowledge::Monotone => features.known_signs(),
                    SignKnowledge::Unknown => None,
                };
                let reach = self.reach(&signs);
                let belief = Gaussian::new(features.clone(), reach, noise, signs, self.narrow.value());
                Box::new(belief.with_rows_that_differ(self.rows_that_differ))
            }
        }
    }

    fn reach(&self, signs: &Option<Vec<f64>>) -> Reach {
        let Some(pool) = self.pool_members() else { return Reach::Ball };
        let points = pool.members().iter().map(|member| member.point.clone()).collect();
        let settles = self.stops.iter().any(|stop| matches!(stop, Stop::Decision { .. }));
        let aim = if settles { Aim::Decision } else { Aim::Weights };
        Reach::Points(Points { points, signs: signs.clone(), aim })
    }

    /// The most questions, probes left out: a few more than these where people are asked, so that a slip does not decide at the end
    /// of what is allowed.
    pub(super) fn questions_at_most(&self) -> usize {
        let room = if self.asks_people() && self.probes > 0 { doubt::ROOM.min(self.budget / 8) } else { 0 };
        (self.budget - self.probes).saturating_sub(room).max(1)
    }

    /// How wide a belief is to be taken for: angles with caution.
    pub(super) fn taken_for(&self, width: Width) -> Width {
        match width {
            Width::Angle(radius) => Width::Angle(radius * self.noise().caution()),
            factor => factor,
        }
    }

    /// The rule that says that enough is known for a width, if one does; `settled` tells how likely a threshold is within a
    /// tolerance.
    pub(super) fn enough(&self, width: Width, settled: impl Fn(f64) -> Option<f64>) -> Option<&'static str> {
        if self.taken_for(width).value() <= self.narrow.value() {
            return Some(if self.is_ratio() { "width" } else { "radius" });
        }
        let applies = |stop: &&Stop| match stop {
            Stop::Threshold { tolerance, certainty } => settled(*tolerance).is_some_and(|p| p >= *certainty),
            _ => false,
        };
        self.stops.iter().find(applies).map(Stop::rule)
    }

    /// The rule that ends it before a question is chosen, if one does: those first that cost nothing to find out.
    pub fn ended(&self, belief: &dyn Belief) -> Option<&'static str> {
        let width = if has_both_ends(belief) { belief.width() } else { Width::Factor(f64::INFINITY) };
        let enough = self.enough(width, |tolerance| belief.threshold_settled(tolerance));
        let asked = belief.answered().len();
        let over = (asked >= self.questions_at_most()).then_some("budget");
        let decided =
            || self.decided(belief).filter(|_| self.candidates().is_none() || belief.unconfirmed().is_none());
        enough.or(over).or_else(decided)
    }

    /// The rule that says that what follows from a belief is known well enough, if one does.
    fn decided(&self, belief: &dyn Belief) -> Option<&'static str> {
        // Of candidates: before as many answers as attributes, what is known is what people hold and not what this one does.
        let asked = belief.answered().len();
        let heard = self.candidates().is_none_or(|space| asked >= space.view().dimension());
        let decided = |stop: &&Stop| match stop {
            Stop::Decision { level } => belief.decision(self.seed).is_some_and(|d| d.probability >= *level),
            Stop::Regret { at_most } => {
                has_both_ends(belief) && belief.regret().is_some_and(|regret| regret.expected <= *at_most)
            }
            _ => false,
        };
        self.stops.iter().filter(|_| heard).find(decided).map(Stop::rule)
    }

    /// What the rule that follows may be regretted at the end, if there is such a rule.
    pub(super) fn regret_at_most(&self) -> Option<f64> {
        let at_most = |stop: &Stop| match stop {
            Stop::Regret { at_most } => Some(*at_most),
            _ => None,
        };
        self.stops.iter().find_map(at_most)
    }

    /// The fewest bits that a question is to tell, if there is such a rule.
    pub(super) fn floor(&self) -> Option<f64> {
        let floor = |stop: &Stop| match stop {
            Stop::Information { floor } => Some(*floor),
            _ => None,
        };
        self.stops.iter().filter_map(floor).reduce(f64::max)
    }

    /// What to ask now, or the rule that ends the questions.
    pub fn next(&self, belief: &dyn Belief) -> Result<Query, &'static str> {
        match self.ended(belief) {
            Some(rule) => Err(rule),
            None => match self.confirming(belief) {
                Some(query) => Ok(query),
                None => self.telling(belief, self.floor(), Some),
            },
        }
    }

    /// The candidate that would be named now against one that exists: where many attributes go together, trades of two of them
    /// say little of all of them against one, and what is left is what people hold who were never asked.
    pub fn confirming(&self, belief: &dyn Belief) -> Option<Query> {
        self.candidates().and(self.decided(belief)).and_then(|_| belief.unconfirmed())
    }

    /// The most telling question that `fit` makes something of, whether or not enough is known; for whoever cannot ask every
    /// question. None that tells less than `floor` bits.
    pub fn telling<T>(
        &self,
        belief: &dyn Belief,
        floor: Option<f64>,
        fit: impl FnMut(Query) -> Option<T>,
    ) -> Result<T, &'static str> {
        let mut tells_little = false;
        let worth = |query: &Query| {
            tells_little = floor.is_some_and(|floor| belief.bits(query) < floor);
            !tells_little
        };
        let found = belief.questions(self.seed).take_while(worth).find_map(fit);
        let idle = if self.is_ratio() { IDLE_OF_A_RATIO } else { IDLE };
        found.ok_or(if tells_little { idle } else { NOTHING_LEFT })
    }

    /// Whether the questions have come to their end and only probes are left.
    pub fn is_checking(&self, belief: &dyn Belief) -> bool {
        self.probes > 0 && self.next(belief).is_err()
    }

    /// What is to be doubted after a belief that has come to its end, by a few more answers of whoever is asked one by one.
    ///
    /// ```
    /// use equipoise::{Preference, engine::Adaptive, population::Logistic, space::Binary};
    /// let plan = Adaptive::ratio(Binary::from_law(Logistic::with_offset(21.0, 6.3)?));
    /// let mut belief = plan.start();
    /// while let Ok(query) = plan.next(belief.as_ref()) {
    ///     belief.take(&query, &Preference::First.into()); // without looking
    /// }
    /// let doubts = plan.doubts(belief.as_ref(), |_| Preference::First.into());
    /// assert!(doubts[0].to_string().contains("mostly choosing the same side"));
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn doubts(&self, belief: &dyn Belief, mut ask: impl FnMut(&Query) -> Answer) -> Vec<Finding> {
        let mut doubt = self.doubt(belief);
        while let Some(query) = doubt.probe() {
            doubt.hear(&query, &ask(&query));
        }
        doubt.findings()
    }

    /// The probes after a belief that has come to its end.
    pub(super) fn doubt(&self, belief: &dyn Belief) -> Doubt {
        let probes = if self.asks_people() { self.probes } else { 0 };
        let most = self.budget.saturating_sub(belief.answered().len()).max(probes);
        let doubt = Doubt::new(belief, [probes, most], self.seed);
        match self.candidates() {
            Some(candidates) => doubt.among(candidates.clone(), self.noise()),
            None => doubt,
        }
    }
}

/// Whether the answers bound a ratio on both sides: where they do not, its interval is as narrow as those ratios that are thought
/// possible make it, and so is what follows from it.
fn has_both_ends(belief: &dyn Belief) -> bool {
    belief.ratio_ends().is_none_or(|ends| ends.iter().all(Option::is_some))
}
