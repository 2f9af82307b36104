//! Puts a metric to work: ranks two models, names the metric nearest to it, sets a threshold.
//!
//! `cargo run -p equipoise --example use_a_metric`

use equipoise::decide::threshold::{Bootstrap, Requirement};
use equipoise::population::Profile;
use equipoise::{GroupConfusions, Metric, decide::nearest, decide::rank};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const METRIC: &str = r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost",
    "classes":["benign","malignant"],"weights":[1,6.1],"interval":{"low":4.8,"high":7.9,"level":0.95}}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let metric = Metric::from_json(METRIC)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let draws = metric.draws(1000, &mut random);

    // Two models, scored on the same 2000 patients; the second is sharper.
    let patients: Vec<(u8, f64)> = (0..2000)
        .map(|_| {
            let risk: f64 = random.random::<f64>().powi(2);
            (u8::from(random.random::<f64>() < risk), risk)
        })
        .collect();
    let truth: Vec<u8> = patients.iter().map(|p| p.0).collect();
    let mut blurred = |by: f64| -> Vec<f64> {
        patients.iter().map(|p| (p.1 + by * (random.random::<f64>() - 0.5)).clamp(0.0, 1.0)).collect()
    };
    let scores = [blurred(0.5), blurred(0.2)];

    // Every resampling counts each patient a random number of times, the same for both models.
    let resamples: Vec<Vec<f64>> = (0..200)
        .map(|_| {
            let mut counts = vec![0.0; truth.len()];
            (0..truth.len()).for_each(|_| counts[random.random_range(0..truth.len())] += 1.0);
            counts
        })
        .collect();
    let mut models = Vec::new();
    for (name, scores) in ["blurred", "sharp"].iter().zip(&scores) {
        let at = |weights: Option<&Vec<f64>>| -> equipoise::Result<GroupConfusions> {
            Profile::from_rows(scores, &truth, weights.map(Vec::as_slice), None)?.confusions_at(0.15)
        };
        let drawn = resamples.iter().map(|weights| at(Some(weights))).collect::<Result<_, _>>()?;
        models.push(rank::Candidate::new(*name, at(None)?).with_draws(drawn));
    }
    let ranking = rank::rank(&models, &metric, &draws, rank::LEVEL)?;
    println!("{}", ranking.statement());

    let classes = ["benign", "malignant"].map(str::to_owned);
    let sample = Profile::from_rows(&scores[1], &truth, None, None)?;
    let pool: Vec<GroupConfusions> =
        (0..=50).map(|n| sample.confusions_at(f64::from(n) / 50.0)).collect::<Result<_, _>>()?;
    println!("{}", nearest::sentence(&nearest::nearest(&metric, &pool)?));

    let needed = [Requirement::parse("recall:malignant>=0.9", &classes, &[])?];
    let doubt = Bootstrap { metric_draws: &draws, resamples: 200, ..Bootstrap::default() };
    let advice = sample.advise(&metric, &needed, doubt)?;
    println!("{}", advice.bayes?.sentence("malignant"));
    if let (Some(best), Some(uncertain)) = (advice.best.found(), advice.uncertain) {
        let interval = uncertain.interval;
        println!("Measured: {:.3} ({:.3} to {:.3}).", best.cut.threshold, interval.low, interval.high);
    }
    Ok(())
}
