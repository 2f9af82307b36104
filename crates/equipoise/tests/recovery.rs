//! What a plan recovers from a faithful oracle, on metrics nobody tuned for.
//!
//! What is drawn follows from `EQUIPOISE_SEED`.

mod common;

use common::random_metric;
use equipoise::AnyPlan;
use equipoise::ask::Finding;
use equipoise::ask::{Counting, Simulated};
use equipoise::metric::Family;
use equipoise::population::{Logistic, Softmax};
use equipoise::search::{self, Halving, SlopeSearch};
use equipoise::space::{Binary, Diagonal, GroupSphere, Space, Sphere};
use equipoise::testing::random::{self as random_of, normals, sizes};
use equipoise::{Measure, Metric, Outcome, Plan, Sense};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Runs what holds for whatever is drawn.
fn seeded(case: impl Fn(&mut Xoshiro256PlusPlus)) {
    case(&mut Xoshiro256PlusPlus::seed_from_u64(random_of::seed()));
}

fn run<P: Plan<Output = Outcome>>(plan: &P, metric: &Metric) -> (Outcome, usize) {
    let mut oracle = Counting::new(Simulated::new(metric.clone()));
    let Ok(outcome) = plan.run(&mut oracle);
    (outcome, oracle.asked())
}

#[track_caller]
fn angle_within<P: Plan<Output = Outcome>>(plan: &P, metric: &Metric, bound: f64) -> Outcome {
    let (outcome, _) = run(plan, metric);
    let found = outcome.metric.difference(metric).expect("the same family").angle;
    assert!(found <= bound, "{found} rad is more than {bound} for {}", metric.to_json());
    outcome
}

fn antipodal(tolerance: f64) -> SlopeSearch {
    SlopeSearch::antipodal(tolerance).unwrap()
}

#[test]
fn binary_linear_metrics_within_tolerance() {
    seeded(|random| {
        for _ in 0..20 {
            let law = Logistic::with_offset(random.random_range(3.0..12.0), random.random_range(-1.0..1.0));
            let space = Binary::from_law(law.unwrap());
            let angle: f64 = random.random_range(0.15..1.42);
            let weights = vec![angle.cos(), angle.sin()];
            let up = Metric::linear(space.view(), Sense::Utility, weights.clone()).unwrap();
            let down = Metric::linear(space.view(), Sense::Cost, weights).unwrap();
            let plan = search::BinaryLinear::new(space, 1e-3).unwrap();
            angle_within(&plan, &up, 1e-3);
            angle_within(&plan.clone().queries_per_halving(Halving::Three), &up, 1e-3);
            angle_within(&plan.clone().of_unknown_direction(), &down, 1e-3);
            let one_each = plan.clone().antipodal();
            angle_within(&one_each, &up, 1e-3);
            assert_eq!(run(&one_each, &up).1, 11);
            let halved = plan.halving_the_weight();
            angle_within(&halved, &up, 2e-3);
        }
    });
}

#[test]
fn a_metric_beyond_the_last_threshold_is_a_range() {
    let space = Binary::from_law(Logistic::new(5.0).unwrap());
    let plan = search::BinaryLinear::new(space.clone(), 1e-3).unwrap();
    for (weights, expected) in [(vec![1.0, 0.001], 0.0), (vec![0.001, 1.0], std::f64::consts::FRAC_PI_2)] {
        let metric = Metric::linear(space.view(), Sense::Utility, weights).unwrap();
        let (outcome, _) = run(&plan, &metric);
        let [Finding::FlatBoundary { low, high }] = outcome.findings[..] else { panic!("{outcome:?}") };
        assert!(low <= expected && expected <= high);
        // The last threshold is eta = 1 / (1 + e^5): a slope of about that many radians from the axis.
        assert!((high - low - (-5.0_f64).exp()).abs() < 2e-3);
        assert!(!outcome.identifiable());
    }
}

#[test]
fn fractional_pencils_from_two_tangents() {
    seeded(|random| {
        let space = Binary::from_law(Logistic::new(5.0).unwrap());
        for _ in 0..10 {
            // Assumption 3.2: bounded and increasing.
            let p = random.random_range(0.2..0.8);
            let numerator = vec![p, 1.0 - p];
            let denominator: Vec<f64> = numerator.iter().map(|p| p - random.random_range(0.1..0.9)).collect();
            let prior = space.positive_prior();
            let offset = (p - denominator[0]) * prior + (1.0 - p - denominator[1]) * (1.0 - prior);
            let parts = [numerator, denominator];
            let metric = Metric::linear_fractional(space.view(), Sense::Utility, parts, offset).unwrap();
            let plan = search::BinaryFractional::new(space.clone(), 1e-4).unwrap();
            let outcome = angle_within(&plan, &metric, 5e-3);
            assert!(outcome.findings.iter().any(|f| matches!(f, Finding::FractionalGauge { .. })));
        }
    });
}

#[test]
fn f1_and_jaccard_cannot_be_told_apart() {
    let (f1, jaccard) = (Metric::f_beta(1.0, 0.4).unwrap(), Metric::jaccard().unwrap());
    assert!(f1.difference(&jaccard).unwrap().angle < 1e-12);
    let space = Binary::from_law(Logistic::with_offset(5.0, 1.0).unwrap());
    let plan = search::BinaryFractional::new(space, 1e-3).unwrap();
    assert_eq!(run(&plan, &f1), run(&plan, &jaccard));
}

#[test]
fn diagonal_metrics_up_to_ten_classes() {
    seeded(|random| {
        for k in [2, 3, 4, 6, 10] {
            let space = Diagonal::from_law(Softmax::new((0..k).map(|i| 4.0 * i as f64).collect()).unwrap());
            let weights: Vec<f64> = (0..k).map(|_| random.random_range(0.5..1.5)).collect();
            let metric = Metric::weighted_accuracy(weights).unwrap();
            let plan = search::DiagonalLinear::new(space.clone(), 1e-4).unwrap();
            let outcome = angle_within(&plan, &metric, 1e-3);
            assert!(outcome.identifiable(), "{k}: {:?}", outcome.findings);
            let mut denominator = vec![0.0; k];
            denominator.iter_mut().for_each(|b| *b = random.random_range(-0.5..0.0));
            let numerator = (0..k).map(|_| random.random_range(0.5..1.0)).collect();
            let parts = [numerator, denominator];
            let metric = Metric::linear_fractional(space.view(), Sense::Utility, parts, 1.0).unwrap();
            let plan = search::DiagonalFractional::new(space, 1e-5).unwrap();
            angle_within(&plan, &metric, 0.02);
        }
    });
}

#[test]
fn a_flat_face_is_reported_with_its_range() {
    // eta_0 / eta_1 lies in [e^-2, e^2]: any weight ratio beyond e^2 looks alike.
    let space = Diagonal::from_law(Softmax::new(vec![1.0, 3.0]).unwrap());
    for (weights, low, high) in
        [(vec![0.05, 0.95], 2.0_f64.exp(), None), (vec![0.95, 0.05], 0.0, Some((-2.0_f64).exp()))]
    {
        let metric = Metric::weighted_accuracy(weights).unwrap();
        let (outcome, _) = run(&search::DiagonalLinear::new(space.clone(), 0.01).unwrap(), &metric);
        let [Finding::FlatFace { class: 1, low: found_low, high: found_high }] = outcome.findings[..] else {
            panic!("{outcome:?}")
        };
        assert!((found_low - low).abs() < 1e-6 * (1.0 + low));
        match (found_high, high) {
            (None, None) => {}
            (Some(found), Some(high)) => assert!((found - high).abs() < 0.02, "{found}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_best_classifier_of_a_geometric_mean_and_its_weights() {
    // A slow referee: the best of many weightings.
    let space = Diagonal::from_law(Softmax::new(vec![1.0, 3.0, 6.0]).unwrap());
    let priors = space.class_priors().to_vec();
    let g_mean = |d: &[f64]| d.iter().zip(&priors).map(|(d, z)| d / z).product::<f64>();
    let oracle = |query: &equipoise::Query| match g_mean(&query.first) > g_mean(&query.second) {
        true => equipoise::Preference::First,
        false => equipoise::Preference::Second,
    };
    let plan = search::MonotoneDiagonal::new(space.clone(), 1e-4).unwrap().cycles(6).unwrap();
    let Ok(outcome) = plan.run(&mut { oracle });
    let Family::Linear(found) = outcome.metric.family() else { panic!() };
    let value = g_mean(&space.best(found.weights()));
    let mut best: f64 = 0.0;
    for i in 1..100 {
        for j in 1..100 {
            let (x, y) = (f64::from(i) / 100.0, f64::from(j) / 100.0);
            best = best.max(g_mean(&space.best(&[1.0, x / (1.0 - x), y / (1.0 - y)])));
        }
    }
    assert!(value >= best - 1e-6, "{value} {best} {:?} {:?}", found.weights(), space.best(found.weights()));
    // At the optimum the weights are the gradient: 1 / d_i up to a factor.
    let d = space.best(found.weights());
    let ratios: Vec<f64> = (0..3).map(|i| found.weights()[i] * d[i]).collect();
    assert!(ratios.iter().all(|r| (r / ratios[0] - 1.0).abs() < 0.02), "{ratios:?}");
    assert_eq!(outcome.findings, [Finding::Local]);
}

#[test]
fn linear_metrics_on_balls_up_to_ten_classes() {
    seeded(|random| {
        for (k, radius) in [(2, 0.2), (3, 0.2), (5, 0.1), (10, 0.05)] {
            let ball = Sphere::new(Measure::OffDiagonalRates, k, radius).unwrap();
            let q = ball.centre().len();
            let metric = Metric::linear(ball.view(), Sense::Cost, sizes(q, random)).unwrap();
            let plan = search::Linear::new(ball.clone(), 1e-4).unwrap();
            let backward = SlopeSearch::backward(1, Halving::Three, 1e-4).unwrap();
            let bound = 1e-4 * (q as f64).sqrt();
            angle_within(&plan.clone().search(backward), &metric, bound);
            angle_within(&plan.clone().search(antipodal(1e-4)), &metric, bound);
            let mixed = Metric::linear(ball.view(), Sense::Cost, normals(q, random)).unwrap();
            let unknown = plan.search(antipodal(1e-4)).of_unknown_signs();
            angle_within(&unknown, &mixed, bound);
        }
    });
}

#[test]
fn fractions_on_balls() {
    seeded(|random| {
        let ball = Sphere::new(Measure::OffDiagonalRates, 3, 0.2).unwrap();
        for _ in 0..5 {
            let denominator = sizes(6, random).iter().map(|b| -0.2 * b).collect();
            let parts = [sizes(6, random), denominator];
            let metric = Metric::linear_fractional(ball.view(), Sense::Cost, parts, 1.5).unwrap();
            let plan = search::LinearFractional::new(ball.clone(), 1e-5).unwrap();
            angle_within(&plan.clone().search(antipodal(1e-6)), &metric, 1e-3);
            let many = SlopeSearch::backward(12, Halving::Three, 1e-6).unwrap();
            let outcome = angle_within(&plan.search(many), &metric, 1e-2);
            // Order agreement on random pairs, whatever the gauge.
            let point = |random: &mut Xoshiro256PlusPlus| {
                let step = normals(6, random);
                ball.centre().iter().zip(step).map(|(c, s)| c + 0.05 * s).collect::<Vec<f64>>()
            };
            let agree = (0..400).filter(|_| {
                let (a, b) = (point(random), point(random));
                (metric.value(&a) > metric.value(&b)) == (outcome.metric.value(&a) > outcome.metric.value(&b))
            });
            assert!(agree.count() >= 395);
        }
    });
}

#[test]
fn group_fair_metrics_for_any_number_of_groups_with_unequal_shares() {
    seeded(|random| {
        for (k, m) in [(2, 2), (3, 2), (2, 3), (3, 4), (2, 5), (2, 6)] {
            let shares = random_of::shares(k, m, random);
            let space = GroupSphere::new(0.2, shares.clone()).unwrap();
            let metric = random_of::group_fair(&shares, 0.4, random);
            let plan = search::GroupFair::new(space.clone(), 1e-6).unwrap().search(antipodal(1e-6));
            let outcome = angle_within(&plan, &metric, 1e-3);
            let normal = metric.normal_form();
            let (Family::GroupFair(found), Family::GroupFair(truth)) =
                (outcome.metric.family(), normal.family())
            else {
                panic!()
            };
            assert!((found.trade_off() - truth.trade_off()).abs() < 1e-3);
            // The trade-off alone, from the true weights, by both searches.
            let alone =
                search::TradeOff::new(space, truth.performance().to_vec(), truth.fairness().to_vec(), 1e-4)
                    .unwrap();
            for plan in [alone.clone(), alone.antipodal()] {
                let (outcome, _) = run(&plan, &metric);
                let Family::GroupFair(found) = outcome.metric.family() else { panic!() };
                assert!((found.trade_off() - truth.trade_off()).abs() < 2e-4, "{k} {m}");
            }
        }
    });
}

#[test]
fn quadratic_metrics_and_their_group_fair_kin() {
    seeded(|random| {
        for k in [2, 3] {
            let ball = Sphere::new(Measure::OffDiagonalRates, k, 0.2).unwrap();
            let plan = search::Quadratic::new(ball, 1e-6).unwrap().search(antipodal(1e-7));
            let metric = random_metric(&AnyPlan::Quadratic(plan.clone()), random);
            angle_within(&plan, &metric, 1e-3);
        }
        for (k, m) in [(2, 2), (2, 3), (2, 4), (3, 2)] {
            let shares = random_of::shares(k, m, random);
            let space = GroupSphere::new(0.2, shares.clone()).unwrap();
            let metric = random_of::group_fair_quadratic(&shares, 0.5, random);
            let plan = search::GroupFairQuadratic::new(space.clone(), 1e-6).unwrap().search(antipodal(1e-8));
            angle_within(&plan, &metric, 5e-3);
            let Family::GroupFairQuadratic(truth) = metric.family() else { panic!() };
            let alone = search::QuadraticTradeOff::new(
                space,
                truth.performance().to_vec(),
                truth.fairness().to_vec(),
                1e-4,
            )
            .unwrap();
            let (outcome, _) = run(&alone.clone().antipodal(), &metric);
            let Family::GroupFairQuadratic(found) = outcome.metric.family() else { panic!() };
            assert!((found.trade_off() - 0.5).abs() < 2e-4);
            let (outcome, _) = run(&alone.inner_radius(1e-4).unwrap(), &metric);
            let Family::GroupFairQuadratic(found) = outcome.metric.family() else { panic!() };
            assert!((found.trade_off() - 0.5).abs() < 0.02);
        }
    });
}

#[test]
fn polynomials_of_degree_two_and_three() {
    seeded(|random| {
        for (k, degree) in [(2, 2), (2, 3), (3, 2)] {
            let ball = Sphere::new(Measure::OffDiagonalRates, k, 0.2).unwrap();
            let metric = random_of::polynomial(ball.view(), degree, random);
            let plan = search::Polynomial::new(ball, degree, 1e-9).unwrap().inner_radius(1e-3).unwrap();
            angle_within(&plan, &metric, 0.02);
        }
    });
}

#[test]
fn parallel_weights_hide_the_trade_off() {
    let shares = equipoise::GroupShares::equal(2, 2);
    let space = GroupSphere::new(0.2, shares.clone()).unwrap();
    let weights = vec![0.6, 0.8];
    let pair = equipoise::metric::Pair { groups: [0, 1], violation: weights.clone() };
    let plan = search::TradeOff::new(space, weights, vec![pair], 1e-3).unwrap();
    let metric = random_of::group_fair(&shares, 0.5, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    let (outcome, asked) = run(&plan, &metric);
    assert_eq!((outcome.findings, asked), (vec![Finding::ParallelTradeOff], 0));
}
