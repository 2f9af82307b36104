//! What a metric document says about its own certainty: read, checked, written back and drawn from.

mod common;

use equipoise::Metric;
use equipoise::metric::{Family, Posterior};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// One random metric per plan: every family.
fn metrics() -> Vec<Metric> {
    let mut random = random(5);
    common::all_plans(0.1).iter().map(|plan| common::random_metric(plan, &mut random)).collect()
}

/// A posterior around the metric's own coefficients.
fn around(metric: &Metric, deviation: f64) -> Posterior {
    let mean = metric.coefficients();
    let entry = |i: usize, j: usize| if i == j { deviation * deviation } else { 0.0 };
    let covariance = (0..mean.len()).map(|i| (0..mean.len()).map(|j| entry(i, j)).collect()).collect();
    Posterior::new(mean, covariance).unwrap()
}

#[test]
fn coefficients_determine_the_values_of_every_family() {
    let mut random = random(6);
    for metric in metrics() {
        let coefficients = metric.coefficients();
        let again = metric.with_coefficients(&coefficients).unwrap();
        for (a, b) in again.coefficients().iter().zip(&coefficients) {
            assert!((a - b).abs() < 1e-12, "{}", metric.to_json());
        }
        let other: Vec<f64> = coefficients.iter().map(|c| 3.0 * c).collect();
        let tripled = metric.with_coefficients(&other).unwrap();
        let point: Vec<f64> = equipoise::testing::random::sizes(metric.view().dimension(), &mut random);
        let point: Vec<f64> = point.iter().map(|x| 0.1 * x).collect();
        let factor = if matches!(metric.family(), Family::LinearFractional(_)) { 1.0 } else { 3.0 };
        let value = metric.value(&point);
        assert!((again.value(&point) - value).abs() < 1e-12 * (1.0 + value.abs()));
        assert!((tripled.value(&point) - factor * value).abs() < 1e-11 * (1.0 + value.abs()));
    }
}

#[test]
fn beliefs_read_back_as_they_were_written() {
    for metric in metrics() {
        let posterior = around(&metric, 0.07).with_known_signs();
        let metric = metric.with_posterior(posterior).unwrap();
        let provenance = serde_json::from_str(r#"{"log":"ab12","nested":{"z":1,"a":[null,2.5]}}"#).unwrap();
        let metric = metric.with_provenance(provenance);
        let text = metric.to_json();
        assert_eq!(Metric::from_json(&text).unwrap(), metric, "{text}");
        assert!(text.contains(r#""provenance":{"log":"ab12","nested":{"z":1,"a":[null,2.5]}}"#), "{text}");
        assert_eq!(Metric::from_json(&text).unwrap().to_json(), text);
    }
    let linear = r#"{"format":1,"measure":"binary","sense":"utility","classes":2,"kind":"linear","weights":[6.0,1.0],"interval":{"low":4.8,"high":null,"level":0.95}}"#;
    let metric = Metric::from_json(linear).unwrap();
    let interval = metric.interval().unwrap();
    assert_eq!((interval.low(), interval.high(), interval.level()), (4.8, None, 0.95));
    assert_eq!(metric.to_json(), linear);
}

#[test]
fn a_metric_without_belief_is_written_as_before() {
    for metric in metrics() {
        let text = metric.to_json();
        assert!(!text.contains("posterior") && !text.contains("interval") && !text.contains("provenance"));
        assert!(metric.draws(3, &mut random(1)).is_empty());
    }
}

#[test]
fn draws_have_the_moments_of_the_posterior() {
    let mean = vec![3.0, -1.0, 2.0];
    let covariance = vec![vec![0.5, 0.2, 0.0], vec![0.2, 0.3, -0.1], vec![0.0, -0.1, 0.2]];
    let posterior = Posterior::new(mean.clone(), covariance.clone()).unwrap();
    let count = 40_000;
    let draws = posterior.draws(count, &mut random(2));
    let average = |of: &dyn Fn(&Vec<f64>) -> f64| draws.iter().map(of).sum::<f64>() / count as f64;
    for i in 0..3 {
        assert!((average(&|d| d[i]) - mean[i]).abs() < 0.02);
        for j in 0..3 {
            let found = average(&|d| (d[i] - mean[i]) * (d[j] - mean[j]));
            assert!((found - covariance[i][j]).abs() < 0.02, "({i}, {j}): {found}");
        }
    }
}

#[test]
fn draws_keep_the_size_and_the_known_signs() {
    let size = |c: &[f64]| c.iter().map(|x| x * x).sum::<f64>().sqrt();
    for metric in metrics() {
        let metric = metric.clone().with_posterior(around(&metric, 0.3).with_known_signs()).unwrap();
        let own = metric.coefficients();
        for draw in metric.draws(50, &mut random(3)) {
            let drawn = draw.coefficients();
            assert!((size(&drawn) - size(&own)).abs() < 1e-9 * size(&own));
            assert!(
                own.iter().zip(&drawn).all(|(a, b)| a * b >= 0.0 || b.abs() < 1e-15),
                "{own:?} {drawn:?}"
            );
            assert!(draw.posterior().is_none() && draw.view() == metric.view());
        }
    }
}

#[test]
fn costs_of_a_group_fair_draw_are_never_negative() {
    let fair = metrics().into_iter().filter(|m| matches!(m.family(), Family::GroupFair(_)));
    for metric in fair {
        // Wide enough that nearly every plain draw has a negative cost.
        let metric = metric.clone().with_posterior(around(&metric, 5.0)).unwrap();
        let draws = metric.draws(30, &mut random(4));
        assert!(draws.iter().all(|draw| draw.coefficients().iter().all(|&c| c >= 0.0)));
    }
}

#[test]
fn an_interval_alone_gives_draws_that_fill_it() {
    for measure in ["binary", "diagonal", "off_diagonal_rates"] {
        let (sense, weights) = match measure {
            "binary" => ("utility", "[6,1]"),
            "diagonal" => ("utility", "[1,6]"),
            _ => ("cost", "[1,6]"),
        };
        let text = format!(
            r#"{{"format":1,"kind":"linear","measure":"{measure}","sense":"{sense}","weights":{weights},
                "interval":{{"low":4.5,"high":9.5,"level":0.8}}}}"#
        );
        let metric = Metric::from_json(&text).unwrap();
        let draws = metric.draws(20_000, &mut random(5));
        let share = |in_it: &dyn Fn(f64) -> bool| {
            draws.iter().filter(|d| in_it(d.weight_ratio().unwrap())).count() as f64 / draws.len() as f64
        };
        assert!((share(&|r| r < 4.5) - 0.1).abs() < 0.01, "{measure}");
        assert!((share(&|r| r < 6.0) - 0.5).abs() < 0.01, "{measure}");
        assert!((share(&|r| r > 9.5) - 0.1).abs() < 0.01, "{measure}");
        let open = Metric::from_json(&text.replace("9.5", "null")).unwrap();
        assert!(open.draws(5, &mut random(5)).is_empty());
    }
}

#[test]
fn the_same_seed_gives_the_same_draws() {
    let metric = metrics().remove(0);
    let metric = metric.clone().with_posterior(around(&metric, 0.2)).unwrap();
    assert_eq!(metric.draws(5, &mut random(9)), metric.draws(5, &mut random(9)));
    assert_ne!(metric.draws(5, &mut random(9)), metric.draws(5, &mut random(8)));
}

#[test]
fn the_normal_form_scales_the_posterior_along() {
    for metric in metrics() {
        let tripled: Vec<f64> = metric.coefficients().iter().map(|c| 3.0 * c).collect();
        let metric = metric.with_coefficients(&tripled).unwrap();
        let metric = metric.clone().with_posterior(around(&metric, 0.3)).unwrap();
        let normal = metric.normal_form();
        let (own, mean) = (normal.coefficients(), normal.posterior().unwrap().mean());
        assert!(own.iter().zip(mean).all(|(a, b)| (a - b).abs() < 1e-12), "{}", metric.to_json());
    }
}

#[track_caller]
fn says(fields: &str, expected: &str) {
    let head = r#""format":1,"kind":"linear","measure":"off_diagonal_rates","sense":"cost","weights":[1,6]"#;
    let found = Metric::from_json(&format!("{{{head},{fields}}}")).unwrap_err().to_string();
    assert_eq!(found, expected);
}

#[test]
fn wrong_beliefs_get_one_clear_sentence() {
    says(r#""posterior":{"mean":[1],"covariance":[[1]]}"#, "posterior.mean has 1 entry, expected 2");
    says(
        r#""posterior":{"mean":[1,2],"covariance":[[1,0]]}"#,
        "posterior.covariance has 1 entry, expected 2",
    );
    says(
        r#""posterior":{"mean":[1,2],"covariance":[[1,0],[1,1]]}"#,
        "posterior.covariance[1][0] is 1, expected the value of its mirror entry (a symmetric matrix)",
    );
    says(
        r#""posterior":{"mean":[1,2],"covariance":[[1,0],[0,-1]]}"#,
        "the smallest eigenvalue of posterior.covariance is -1, expected at least 0 (a positive semidefinite matrix)",
    );
    says(
        r#""posterior":{"mean":[1,2],"cov":[[1,0],[0,1]]}"#,
        "posterior.cov is not a field here, expected one of mean, covariance, signs",
    );
    says(r#""posterior":{"mean":[1,2]}"#, "posterior.covariance is missing");
    says(
        r#""interval":{"low":3,"high":2,"level":0.95}"#,
        "interval.high is 2, expected a finite number of at least interval.low",
    );
    says(
        r#""interval":{"low":3,"high":4,"level":95}"#,
        "interval.level is 95, expected a number strictly between 0 and 1",
    );
    says(r#""provenance":7"#, "provenance is 7, expected a map");
    says(r#""posteriors":{}"#, "posteriors is not a field here, expected weights");
    let three = r#"{"format":1,"kind":"linear","measure":"diagonal","sense":"utility","weights":[1,6,2],
                    "interval":{"low":1,"high":2,"level":0.9}}"#;
    assert_eq!(
        Metric::from_json(three).unwrap_err().to_string(),
        "interval is given for a linear metric of 3 classes, expected a linear one of 2 classes"
    );
    let none = r#"{"format":1,"kind":"g_mean","measure":"diagonal_rates","sense":"utility","classes":2,
                   "posterior":{"mean":[1],"covariance":[[1]]}}"#;
    assert_eq!(
        Metric::from_json(none).unwrap_err().to_string(),
        "posterior is given, but a metric of kind g_mean has no coefficients"
    );
}
