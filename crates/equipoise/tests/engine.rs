//! The adaptive engine against the information floor, on small samples; `equipoise bench queries` runs the full grid.

use equipoise::ask::{Counting, NoiseModel, Simulated};
use equipoise::engine::Adaptive;
use equipoise::population::Logistic;
use equipoise::space::{Binary, GroupSphere, Space, Sphere};
use equipoise::testing::random;
use equipoise::{Measure, Metric, Outcome, Plan, Sense};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Shares and medians of a few runs vary with the seed, so the seed does not.
fn fixed() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(17)
}

fn run(
    plan: &impl Plan<Output = Outcome>,
    metric: &Metric,
    noise: NoiseModel,
    seed: u64,
) -> (Outcome, usize) {
    let mut oracle = Counting::new(Simulated::with_noise(metric.clone(), noise, seed).unwrap());
    let Ok(outcome) = plan.run(&mut oracle);
    (outcome, oracle.asked())
}

/// Median questions, and the share of runs that ended within the tolerance.
fn trial(
    runs: u64,
    tolerance: f64,
    noise: NoiseModel,
    make: impl Fn(&mut Xoshiro256PlusPlus) -> (Adaptive, Metric),
) -> (usize, f64) {
    let mut random = fixed();
    let (mut counts, mut within) = (vec![], 0);
    for n in 0..runs {
        let (plan, metric) = make(&mut random);
        let (outcome, asked) = run(&plan, &metric, noise, n);
        let features = plan.features().unwrap();
        let (found, truth) = (features.weights(&outcome.metric).unwrap(), features.weights(&metric).unwrap());
        let gap: f64 = found.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        within += usize::from(2.0 * (0.5 * gap).asin() <= tolerance);
        counts.push(asked);
    }
    counts.sort_unstable();
    (counts[counts.len() / 2], within as f64 / runs as f64)
}

#[test]
fn linear_metrics_take_a_tenth_of_the_papers_questions() {
    // Floors at .01: 29.8 (q = 6) and 64.2 (q = 12) bits; the papers' search takes 320 and 704.
    for (classes, bound) in [(3, 37), (4, 78)] {
        let ball = Sphere::new(Measure::OffDiagonalRates, classes, 0.1).unwrap();
        let (median, within) = trial(20, 0.01, NoiseModel::Exact, |rng| {
            (Adaptive::linear(ball.clone(), 0.01).unwrap(), random::linear(ball.view(), rng))
        });
        assert!(median <= bound && within >= 0.85, "{classes} classes: {median} questions, {within} within");
    }
}

#[test]
fn asking_about_unknown_noise_spares_most_questions() {
    // Questions of even odds alone take about 140 until blunt people can be ruled out.
    let ball = Sphere::new(Measure::DiagonalRates, 4, 0.1).unwrap();
    let (median, within) = trial(30, 0.1, NoiseModel::Flip { probability: 0.05 }, |rng| {
        let plan = Adaptive::linear(ball.clone(), 0.1).unwrap().answers(NoiseModel::Unknown).unwrap();
        (plan, random::linear(ball.view(), rng))
    });
    assert!(median <= 60 && within >= 0.85, "{median} questions, {within} within");
}

#[test]
fn quadratic_and_group_fair_metrics_sit_near_the_floor() {
    // Floors at .01: 29 bits for q = 2, 64.2 for three classes and two groups, 41.3 for two classes and three groups.
    let ball = Sphere::new(Measure::OffDiagonalRates, 2, 0.2).unwrap();
    let (median, within) = trial(12, 0.01, NoiseModel::Exact, |rng| {
        // Weights without a preferred direction in units of the ball, as the floor assumes.
        let plan = Adaptive::quadratic(ball.clone(), 0.01).unwrap();
        let weights = random::normals(plan.features().unwrap().dimension(), rng);
        let metric = plan.features().unwrap().metric(&weights);
        (plan, metric)
    });
    assert!(median <= 40 && within >= 0.8, "quadratic: {median} questions, {within} within");
    for (classes, groups, bound) in [(3, 2, 82), (2, 3, 56), (2, 4, 98)] {
        let (median, within) = trial(8, 0.01, NoiseModel::Exact, |rng| {
            let shares = random::shares(classes, groups, rng);
            let plan = Adaptive::group_fair(GroupSphere::new(0.2, shares.clone()).unwrap(), 0.01).unwrap();
            (plan, random::group_fair(&shares, rng.random_range(0.3..0.7), rng))
        });
        assert!(
            median <= bound && within >= 0.7,
            "({classes},{groups}): {median} questions, {within} within"
        );
    }
}

#[test]
fn five_percent_of_wrong_answers_are_survived() {
    // Floor at .01 over the channel's capacity: 29.8 / (1 - H(.05)) = 41.7.
    let ball = Sphere::new(Measure::OffDiagonalRates, 3, 0.2).unwrap();
    let (median, within) = trial(40, 0.01, NoiseModel::Flip { probability: 0.05 }, |rng| {
        let plan = Adaptive::linear(ball.clone(), 0.01).unwrap();
        (plan.answers(NoiseModel::Flip { probability: 0.05 }).unwrap(), random::linear(ball.view(), rng))
    });
    assert!(median <= 60 && within >= 0.85, "{median} questions, {within} within");
}

#[test]
fn cost_ratios_come_with_an_interval_that_holds() {
    let space = Binary::from_law(Logistic::with_offset(21.0, 6.3).unwrap());
    let plan = Adaptive::ratio(space.clone());
    let mut random = fixed();
    let (mut inside, mut open, mut counts) = (0, 0, vec![]);
    for seed in 0..60 {
        let ratio: f64 = random.random_range(-1.0_f64..3.0).exp();
        // Slope 20 in units of the largest disc inside the achievable set, whose radius is .175.
        let unit = (ratio * ratio + 1.0).sqrt();
        let weights = vec![ratio / unit, 1.0 / unit];
        let metric = Metric::linear(space.view(), Sense::Utility, weights).unwrap();
        let (outcome, asked) =
            run(&plan, &metric, NoiseModel::Absolute { slope: 20.0 / 0.175, lapse: 0.0 }, seed);
        let interval = outcome.findings.iter().find_map(|finding| match finding {
            equipoise::ask::Finding::RatioInterval { low, high, .. } => Some((*low, *high)),
            // Of whoever ends before an end is set, it is not made up.
            equipoise::ask::Finding::RatioBeyond { at_least, at_most, .. } => {
                open += 1;
                Some((at_least.unwrap_or(0.0), at_most.unwrap_or(f64::INFINITY)))
            }
            _ => None,
        });
        let (low, high) = interval.expect("always given");
        inside += usize::from(low <= ratio && ratio <= high);
        counts.push(asked);
    }
    counts.sort_unstable();
    assert!(inside >= 52, "{inside} of 60 inside");
    assert!(open <= 2, "{open} of 60 have an end that the answers do not set");
    assert!(counts[30] <= 25, "median {}", counts[30]);
}

#[test]
fn the_posterior_travels_with_the_metric_and_holds_the_truth() {
    let ball = Sphere::new(Measure::OffDiagonalRates, 3, 0.2).unwrap();
    let mut random = fixed();
    let (mut inside, mut all) = (0, 0);
    for seed in 0..20 {
        let metric = random::linear(ball.view(), &mut random);
        let plan = Adaptive::linear(ball.clone(), 0.05).unwrap();
        let (outcome, _) = run(&plan, &metric, NoiseModel::Exact, seed);
        let again = Metric::from_json(&outcome.metric.to_json()).unwrap();
        assert_eq!(again, outcome.metric);
        let posterior = outcome.metric.posterior().expect("the engine always has one");
        for (i, truth) in metric.normal_form().coefficients().into_iter().enumerate() {
            let deviation = posterior.covariance()[i][i].sqrt();
            inside += u32::from((posterior.mean()[i] - truth).abs() <= 2.0 * deviation);
            all += 1;
        }
        let draws = outcome.metric.draws(200, &mut random);
        let near = draws.iter().filter(|draw| draw.difference(&metric).unwrap().angle < 0.15).count();
        assert!(near > 180, "{near} of 200 draws are near");
    }
    assert!(f64::from(inside) / f64::from(all) > 0.85, "{inside} of {all}");
}
