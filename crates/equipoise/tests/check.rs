//! Does the model check raise the alarm when it should, and only then?

use equipoise::AnyPlan;
use equipoise::ask::Finding;
use equipoise::ask::NoiseModel;
use equipoise::engine::Adaptive;
use equipoise::population::Logistic;
use equipoise::space::{Binary, Space, Sphere};
use equipoise::testing::people::Expert;
use equipoise::testing::random;
use equipoise::{Answer, Measure, Metric, Oracle, Outcome, Plan, Preference, Query, Sense};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::convert::Infallible;

const FLIPS: NoiseModel = NoiseModel::Flip { probability: 0.05 };
const CARELESS: NoiseModel = NoiseModel::Flip { probability: 0.05 };

/// Rates of a few runs vary with the seed, so the seed does not.
const SEED: u64 = 17;

fn ball(classes: usize) -> Sphere {
    Sphere::new(Measure::OffDiagonalRates, classes, 0.2).unwrap()
}

/// Questions to .1 rad, then probes.
fn plan(classes: usize, answers: NoiseModel, probes: usize) -> Adaptive {
    let plan = Adaptive::linear(ball(classes), 0.1).unwrap().answers(answers).unwrap();
    plan.budget(150).unwrap().probes(probes).unwrap()
}

fn is_not_linear(finding: &Finding) -> bool {
    matches!(finding, Finding::NotLinear { .. })
}

fn listed(outcome: &Outcome) -> &[usize] {
    let answers = outcome.findings.iter().find_map(|finding| match finding {
        Finding::Contradicted { answers } => Some(&answers[..]),
        _ => None,
    });
    answers.unwrap_or_default()
}

/// How often the plan finds that linear does not explain the answers of such experts.
fn alarms(
    plan: &Adaptive,
    runs: u64,
    noise: NoiseModel,
    make: impl Fn(&mut Xoshiro256PlusPlus) -> Metric,
) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut alarm = |n: &u64| {
        let mut expert = Expert::new(make(&mut random), 0.2, noise, SEED + n);
        let Ok(outcome) = plan.run(&mut expert);
        outcome.findings.iter().any(is_not_linear)
    };
    (0..runs).filter(|n| alarm(n)).count() as f64 / runs as f64
}

/// A linear metric with weights of length 1, so that its noise is in units of the ball.
fn linear(classes: usize) -> impl Fn(&mut Xoshiro256PlusPlus) -> Metric {
    move |random| {
        let weights = random::sizes(ball(classes).view().dimension(), random);
        let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        let weights = weights.iter().map(|w| w / length).collect();
        Metric::linear(ball(classes).view(), Sense::Cost, weights).unwrap()
    }
}

/// All coefficients alike in units of the ball, so that curvature matters as much as slope.
fn quadratic(classes: usize) -> impl Fn(&mut Xoshiro256PlusPlus) -> Metric {
    move |random| {
        let plan = Adaptive::quadratic(ball(classes), 0.1).unwrap();
        let features = plan.features().unwrap();
        features.metric(&random::normals(features.dimension(), random))
    }
}

#[test]
#[ignore = "minutes: the rates of the check more finely"]
fn rates_of_the_model_check() {
    for (classes, probes) in [(2, 6), (2, 10), (3, 6), (3, 10)] {
        for (name, answers, noise) in [
            ("exact", NoiseModel::Exact, NoiseModel::Exact),
            ("5 % wrong", FLIPS, CARELESS),
            (
                "slope 20",
                NoiseModel::Absolute { slope: 20.0, lapse: 0.0 },
                NoiseModel::Absolute { slope: 20.0, lapse: 0.0 },
            ),
            ("unknown, slope 20", NoiseModel::Unknown, NoiseModel::Absolute { slope: 20.0, lapse: 0.0 }),
            ("unknown, 5 %", NoiseModel::Unknown, CARELESS),
        ] {
            let plan = plan(classes, answers, probes);
            let wrong = alarms(&plan, 200, noise, linear(classes));
            let found = alarms(&plan, 100, noise, quadratic(classes));
            println!("{classes} classes, {probes} probes, {name}: false alarms {wrong:.3}, power {found:.2}");
            assert!(wrong <= 0.05, "{wrong}");
        }
    }
}

#[test]
fn linear_experts_are_left_in_peace() {
    let found = alarms(&plan(2, FLIPS, 16), 200, CARELESS, linear(2));
    println!("false alarms {found}");
    assert!(found <= 0.05, "{found}");
}

#[test]
fn curved_experts_are_found_out() {
    let found = alarms(&plan(2, FLIPS, 16), 60, CARELESS, quadratic(2));
    println!("power {found}");
    assert!(found >= 0.8, "{found}");
}

/// Holds a linear metric and is right every time but once: at the first clear question from the second on.
struct Lapsing {
    metric: Metric,
    unit: f64,
    clear: f64,
    asked: usize,
    lapsed: Option<usize>,
}

impl Lapsing {
    fn new(metric: Metric, unit: f64, clear: f64) -> Self {
        Self { metric, unit, clear, asked: 0, lapsed: None }
    }
}

impl Oracle for Lapsing {
    type Err = Infallible;

    fn prefer(&mut self, query: &Query) -> Result<Answer, Infallible> {
        let ahead = (self.metric.liking(&query.first) - self.metric.liking(&query.second)) / self.unit;
        let right = if ahead > 0.0 { Preference::First } else { Preference::Second };
        self.asked += 1;
        let lapse = self.asked >= 2 && self.lapsed.is_none() && ahead.abs() > self.clear;
        if lapse {
            self.lapsed = Some(self.asked);
        }
        Ok(if lapse { right.reversed() } else { right }.into())
    }
}

/// How many of those who lapsed have it listed, and how many other answers are, per expert.
fn lapses_listed<P: Plan<Output = Outcome>>(plan: &P, experts: Vec<Lapsing>) -> [f64; 2] {
    let (mut lapses, mut found, mut others) = (0, 0, 0);
    for mut expert in experts {
        let Ok(outcome) = plan.run(&mut expert);
        // Somebody who was only asked close calls had no occasion.
        let Some(lapse) = expert.lapsed else { continue };
        lapses += 1;
        found += usize::from(listed(&outcome).contains(&lapse));
        others += listed(&outcome).iter().filter(|answer| **answer != lapse).count();
    }
    println!("{lapses} lapses, {found} listed, and {others} other answers");
    [found, others].map(|count| count as f64 / lapses as f64)
}

#[test]
fn one_lapse_among_right_answers_is_listed() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let experts = (0..40).map(|_| Lapsing::new(linear(2)(&mut random), 0.2, 0.2)).collect();
    let [found, others] = lapses_listed(&plan(2, FLIPS, 6), experts);
    assert!(found >= 0.85 && others <= 0.2);
}

#[test]
fn a_lapse_about_a_cost_ratio_is_listed() {
    let space = Binary::from_law(Logistic::with_offset(21.0, 6.3).unwrap());
    let plan = Adaptive::ratio(space.clone());
    let unit = plan.unit();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut expert = || {
        let (sin, cos) = random.random_range(-1.0..1.0_f64).exp().atan().sin_cos();
        Lapsing::new(Metric::linear(space.view(), Sense::Utility, vec![cos, sin]).unwrap(), unit, 0.1)
    };
    let [found, others] = lapses_listed(&plan, (0..20).map(|_| expert()).collect());
    assert!(found >= 0.85 && others <= 0.2);
}

#[test]
fn probes_that_cannot_be_asked_are_refused_with_a_reason() {
    let read = |text: &str| serde_json::from_str::<AnyPlan>(text).unwrap_err().to_string();
    let plan = |kind: &str, more: &str, classes: usize| {
        let space =
            format!(r#"{{"kind":"sphere","measure":"off_diagonal_rates","classes":{classes},"radius":0.1}}"#);
        read(&format!(r#"{{"kind":"{kind}","method":"adaptive",{more},"space":{space}}}"#))
    };
    assert!(
        plan("linear", r#""probes":6"#, 5).contains("which has 230 coefficients here, expected at most 100")
    );
    assert!(plan("quadratic", r#""probes":6"#, 2).contains("which works for linear metrics on a ball"));
    assert!(
        plan("linear", r#""probes":6,"budget":6"#, 2).contains("probes is 6, expected fewer than the budget")
    );
}
