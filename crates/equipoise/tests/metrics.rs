//! Metrics: gradients, normal forms and documents, for every family and every named member.

mod common;

use equipoise::metric::{Family, Named};
use equipoise::{GroupShares, Metric, Prevalence};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn named() -> Vec<Metric> {
    let shares = GroupShares::new(vec![vec![0.3, 0.6], vec![0.5, 0.1], vec![0.2, 0.3]]).unwrap();
    let prevalence = Prevalence::with_groups(vec![0.6, 0.4], shares.clone()).unwrap();
    let made = [
        Metric::accuracy(3),
        Metric::weighted_accuracy(vec![1.0, 6.0]),
        Metric::balanced_accuracy(4),
        Metric::f_beta(2.0, 0.3),
        Metric::jaccard(),
        Metric::g_mean(3),
        Metric::group_g_mean(3, 2),
        Metric::macro_f(&[0.2, 0.5, 0.3]),
        Metric::q_mean(3),
        Metric::distribution_matching(&[0.2, 0.5, 0.3], &[0.3, 0.3, 0.4]),
        Metric::equal_opportunity(&shares),
        Metric::equalised_odds(&shares),
        Metric::error_rate_balance(&shares),
        Metric::demographic_parity(1, &prevalence),
    ];
    let three = Prevalence::new(vec![0.2, 0.5, 0.3]).unwrap();
    let of = |word: &str| Named::parse(word).unwrap().metric(&three);
    let more = ["mcc", "kappa", "error_rate", "balanced_error"].map(of);
    made.into_iter().chain(more).map(Result::unwrap).collect()
}

fn metrics() -> Vec<Metric> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    let random_ones = common::all_plans(0.1);
    let mut metrics = named();
    metrics.extend(random_ones.iter().map(|plan| common::random_metric(plan, &mut random)));
    metrics
}

fn random_point(metric: &Metric, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    (0..metric.view().dimension()).map(|_| random.random_range(0.05..0.4)).collect()
}

#[test]
fn gradients_are_those_of_the_values() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    for metric in metrics() {
        let point = random_point(&metric, &mut random);
        for (i, slope) in metric.gradient(&point).into_iter().enumerate() {
            let moved = |by: f64| {
                let mut moved = point.clone();
                moved[i] += by;
                metric.value(&moved)
            };
            let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!((slope - difference).abs() < 1e-6 * (1.0 + slope.abs()), "{}", metric.to_json());
        }
    }
}

#[test]
fn normal_forms_order_points_alike_and_stay_put() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for metric in metrics() {
        let normal = metric.normal_form();
        let again = normal.normal_form();
        if let Some(difference) = normal.difference(&again) {
            assert!(difference.l2 < 1e-12);
        }
        for _ in 0..50 {
            let (a, b) = (random_point(&metric, &mut random), random_point(&metric, &mut random));
            let (before, after) = (metric.value(&a) - metric.value(&b), normal.value(&a) - normal.value(&b));
            assert!(before.abs() < 1e-9 || before.signum() == after.signum(), "{}", metric.to_json());
        }
    }
}

#[test]
fn documents_read_back_as_they_were_written() {
    for metric in metrics() {
        let text = metric.to_json();
        assert_eq!(Metric::from_json(&text).unwrap(), metric, "{text}");
    }
}

#[test]
fn a_metric_is_at_no_distance_from_its_multiples() {
    for metric in metrics() {
        let Some(difference) = metric.difference(&metric) else {
            let closed = matches!(
                metric.family(),
                Family::MacroF(_)
                    | Family::Kappa(_)
                    | Family::Mcc(_)
                    | Family::GeometricMean(_)
                    | Family::DemographicParity(_)
                    | Family::Attributes(_)
            );
            assert!(closed, "{}", metric.to_json());
            continue;
        };
        assert!(difference.angle < 1e-7 && difference.l2 == 0.0 && difference.max_abs == 0.0);
    }
}

#[track_caller]
fn says(document: &str, expected: &str) {
    let found = Metric::from_json(document).unwrap_err().to_string();
    assert_eq!(found, expected);
}

#[test]
fn wrong_documents_get_one_clear_sentence() {
    says("{", "not valid JSON: the text ends too early, at line 1 column 1");
    says("[1]", "the document is a list of 1, expected an object");
    says(r#"{"kind":"linear"}"#, "format is missing, expected 1");
    says(r#"{"format":2,"kind":"linear"}"#, "format is 2, expected 1");
    let kinds = "linear, linear_fractional, quadratic, polynomial, group_fair, group_fair_quadratic, macro_f, kappa, mcc, g_mean, demographic_parity, attributes";
    says(r#"{"format":1,"kind":"cubic"}"#, &format!("kind is \"cubic\", expected one of {kinds}"));
    let head = r#""format":1,"kind":"linear","measure":"off_diagonal_rates","sense":"cost""#;
    says(&format!(r#"{{{head}}}"#), "weights is missing");
    says(
        &format!(r#"{{{head},"weights":[0,0]}}"#),
        "weights is all zero, expected at least one non-zero entry",
    );
    says(
        &format!(r#"{{{head},"weights":[1,2,3]}}"#),
        "the number of weights is 3, expected k * k - k for k classes: 2, 6, 12, 20 and so on",
    );
    says(&format!(r#"{{{head},"classes":3,"weights":[1,2]}}"#), "weights has 2 entries, expected 6");
    says(
        &format!(r#"{{{head},"weights":[1,2],"wieghts":3}}"#),
        "wieghts is not a field here, expected weights",
    );
    says(
        &format!(r#"{{{head},"weights":[1,1e999]}}"#),
        "not valid JSON: number out of range at line 1 column 92",
    );
}
