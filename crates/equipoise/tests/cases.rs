//! Two classes asked case by case: people who waver and slip are found as often as the interval says.

use equipoise::ask::{Finding, NoiseModel, Simulated};
use equipoise::engine::Adaptive;
use equipoise::population::Logistic;
use equipoise::space::{Binary, Space as _};
use equipoise::{Metric, Plan as _, Sense};

fn plan() -> Adaptive {
    let space = Binary::from_law(Logistic::with_offset(21.0, 6.3).unwrap());
    Adaptive::ratio(space).about_cases([0.005, 0.98]).unwrap()
}

#[test]
fn people_who_waver_are_found_within_their_interval() {
    let plan = plan();
    let (mut held, mut asked) = (0, vec![]);
    let people = 60;
    for n in 0..people {
        // Ratios from 1 : 2 to 20 : 1.
        let ratio = 0.5 * 40_f64.powf((n as f64 + 0.5) / people as f64);
        let hidden = Metric::linear(plan.view(), Sense::Utility, vec![ratio, 1.0]).unwrap();
        let noise = NoiseModel::Relative { slope: 3.0, lapse: 0.015 };
        let mut person = Simulated::with_noise(hidden, noise, 7 + n).unwrap();
        let Ok(outcome) = plan.run(&mut person);
        for finding in &outcome.findings {
            match finding {
                Finding::RatioInterval { low, high, .. } => {
                    held += usize::from((*low..=*high).contains(&ratio));
                }
                Finding::RatioBeyond { at_least, at_most, .. } => {
                    let above = at_least.is_none_or(|low| low <= ratio);
                    held += usize::from(above && at_most.is_none_or(|high| ratio <= high));
                }
                Finding::Stopped { questions, .. } => asked.push(*questions),
                _ => {}
            }
        }
    }
    asked.sort_unstable();
    println!("{held} of {people} held, {} questions in the middle", asked[asked.len() / 2]);
    assert!(held >= 52, "{held} of {people}");
    assert!(asked[asked.len() / 2] <= 20 && asked[asked.len() - 1] <= 30, "{asked:?}");
}

#[test]
fn a_plan_about_cases_reads_back_as_it_was_written_and_says_what_it_is_not_for() {
    let text = serde_json::to_string(&equipoise::AnyPlan::Adaptive(plan())).unwrap();
    assert!(text.contains(r#""risks":[0.005,0.98]"#), "{text}");
    let read: equipoise::AnyPlan = serde_json::from_str(&text).unwrap();
    assert_eq!(read, equipoise::AnyPlan::Adaptive(plan()));
    let wrong = serde_json::from_str::<equipoise::AnyPlan>(&text.replace("[0.005,0.98]", "[0.9,0.1]"));
    assert!(
        wrong.unwrap_err().to_string().contains("risks is [0.9, 0.1], expected two numbers strictly between")
    );
    let ball = equipoise::space::Sphere::new(equipoise::Measure::OffDiagonalRates, 3, 0.2).unwrap();
    assert_eq!(ball.view().dimension(), 6);
    let wrong = Adaptive::linear(ball, 0.1).unwrap().about_cases([0.1, 0.9]).unwrap_err();
    assert!(wrong.to_string().contains("works for a two-class ratio only"), "{wrong}");
}
