//! Does the model check raise the alarm when it should, and only then?

use equipoise::elicit::SignKnowledge;
use equipoise::engine::check::{Check, probe};
use equipoise::engine::people::Expert;
use equipoise::engine::{Adaptive, Answers, Noise};
use equipoise::metric::random;
use equipoise::space::{Space, Sphere};
use equipoise::{Answered, Interview, Measure, Metric, Oracle, Preference, Step};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const ANSWERS: Answers = Answers::Flip { probability: 0.05 };
const PROBES: usize = 16;

fn ball() -> Sphere {
    Sphere::new(Measure::OffDiagonalRates, 2, 0.2).unwrap()
}

/// An adaptive linear elicitation of the metric, then probes, with 5 % of wrong answers.
fn transcript(metric: Metric, seed: u64) -> Vec<Answered> {
    let plan = Adaptive::linear(ball(), 0.1).unwrap().answers(ANSWERS).unwrap().budget(15).unwrap();
    let mut expert = Expert::new(metric, 1.0, Noise { slope: f64::INFINITY, lapse: 0.05 }, seed);
    let mut interview = Interview::new(plan);
    while let Step::Ask(query) = interview.step().unwrap() {
        let Ok(answer) = expert.prefer(&query);
        interview.answer(answer).unwrap();
    }
    let mut transcript = interview.transcript().to_vec();
    for _ in 0..PROBES {
        let query = probe(&ball(), ANSWERS, &transcript, seed);
        let Ok(answer) = expert.prefer(&query);
        transcript.push(Answered { query, preference: answer.preference, shown: None });
    }
    transcript
}

/// How often the check says "not linear".
fn alarms(runs: u64, make: impl Fn(&mut Xoshiro256PlusPlus) -> Metric) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(77);
    let alarm = |seed: u64| {
        !Check::linear(&ball(), ANSWERS, SignKnowledge::Monotone, &transcript(make(&mut random), seed))
            .is_linear()
    };
    (0..runs).map(alarm).filter(|alarm| *alarm).count() as f64 / runs as f64
}

fn linear(random: &mut Xoshiro256PlusPlus) -> Metric {
    random::linear(ball().view(), random)
}

/// Curvature twice as strong as slope, in units of the ball.
fn quadratic(random: &mut Xoshiro256PlusPlus) -> Metric {
    let features = Adaptive::quadratic(ball(), 0.1).unwrap().features();
    let mut weights = random::normals(features.dimension(), random);
    weights[2..].iter_mut().for_each(|w| *w *= 2.0);
    features.metric(&weights)
}

#[test]
fn linear_experts_are_left_in_peace_and_curved_ones_found() {
    let (false_alarms, power) = (alarms(100, linear), alarms(60, quadratic));
    println!("false alarms {false_alarms}, power {power}");
    // Three standard deviations above 5 % for a hundred.
    assert!(false_alarms <= 0.11, "{false_alarms}");
    assert!(power >= 0.5, "{power}");
}

#[test]
#[ignore = "a minute: measures the rates more finely"]
fn rates_of_the_model_check() {
    let (false_alarms, power) = (alarms(1000, linear), alarms(400, quadratic));
    println!("1,000 linear experts: false alarms {false_alarms}; 400 quadratic experts: power {power}");
    assert!(false_alarms <= 0.05);
}

#[test]
fn a_wrong_answer_among_right_ones_is_listed() {
    let plan = Adaptive::linear(ball(), 0.02).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let metric = linear(&mut random);
    let mut expert = Expert::new(metric, 1.0, Noise { slope: f64::INFINITY, lapse: 0.0 }, 0);
    let mut interview = Interview::new(plan);
    while let Step::Ask(query) = interview.step().unwrap() {
        let Ok(answer) = expert.prefer(&query);
        interview.answer(answer).unwrap();
    }
    let mut transcript = interview.transcript().to_vec();
    let check = Check::linear(&ball(), ANSWERS, SignKnowledge::Monotone, &transcript);
    assert!(check.findings().is_empty(), "{check:?}");
    // The clearest comparison of all, answered the wrong way round.
    let worst = equipoise::Query::new(vec![0.45, 0.45], vec![0.55, 0.55]);
    transcript.push(Answered { query: worst, preference: Preference::Second, shown: None });
    let check = Check::linear(&ball(), ANSWERS, SignKnowledge::Monotone, &transcript);
    assert_eq!(check.surprising[0].0, transcript.len() - 1);
    let number = transcript.len().to_string();
    assert!(check.findings().iter().any(|finding| finding.to_string().ends_with(&number)));
}
