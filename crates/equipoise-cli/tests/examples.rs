//! Every example simulation recovers the metric it hides.

use equipoise::testing::Simulation;
use std::path::Path;

/// The largest angle, in radians, between what each file hides and what comes out.
const BOUNDS: [(&str, f64); 36] = [
    ("group_fair_adaptive", 0.01),
    ("group_fair_antipodal", 0.005),
    ("group_fair_paper", 0.003),
    ("group_fair_quadratic_antipodal", 0.001),
    ("group_fair_quadratic_paper", 0.005),
    ("logistic_linear", 0.006),
    // It stops when the ratio is known to a factor of 1.6, so the angle is coarse.
    ("logistic_linear_adaptive", 0.04),
    ("logistic_linear_antipodal", 0.0005),
    ("logistic_linear_decreasing", 0.006),
    ("logistic_linear_fractional_closed_form", 0.005),
    // The papers' grid has a step of .01 in the numerator.
    ("logistic_linear_fractional_grid", 0.05),
    ("logistic_linear_fractional_known_ratio", 0.005),
    ("logistic_linear_three_questions", 0.007),
    ("polynomial_antipodal", 0.005),
    ("polynomial_paper", 0.005),
    // It stops when the best model is known, whatever else the weights may be.
    ("pool_linear_adaptive", 0.1),
    ("quadratic_antipodal", 0.02),
    ("quadratic_formula", 0.015),
    ("quadratic_paper", 0.01),
    ("quadratic_trade_off_antipodal", 0.001),
    // The printed search takes the metric as linear in a small ball, which biases it.
    ("quadratic_trade_off_paper", 0.005),
    ("softmax_diagonal_linear", 0.01),
    ("softmax_diagonal_linear_fractional", 0.005),
    ("softmax_diagonal_monotone", 0.001),
    ("sphere_linear_adaptive", 0.01),
    // One answer in twenty is wrong; certified to .01 nineteen times in twenty, and for this seed.
    ("sphere_linear_adaptive_flips", 0.01),
    ("sphere_linear_antipodal", 0.002),
    ("sphere_linear_backward", 0.002),
    // It stops at .01 in units of the ball; the angle here is in units of the rates, of which the ball's radius is a fifth.
    ("sphere_linear_fractional_adaptive", 0.05),
    ("sphere_linear_fractional_antipodal", 0.0001),
    ("sphere_linear_fractional_paper", 0.01),
    // Answers are coin tosses where values differ by less than .001.
    ("sphere_linear_noisy", 0.01),
    ("sphere_linear_paper", 0.01),
    ("sphere_linear_unknown_signs", 0.002),
    ("trade_off_antipodal", 0.001),
    ("trade_off_paper", 0.001),
];

fn directory() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/simulations")
}

#[test]
fn every_file_recovers_its_hidden_metric() {
    for (name, bound) in BOUNDS {
        let text = std::fs::read_to_string(directory().join(name).with_extension("json")).expect(name);
        let report = Simulation::from_json(&text).expect(name).run();
        let angle = report.error.as_ref().expect(name).angle;
        assert!(report.identifiable, "{name}: {:?}", report.notes);
        assert!(angle <= bound, "{name}: an error of {angle}, expected at most {bound}");
    }
}

#[test]
fn every_file_has_a_bound() {
    let files =
        std::fs::read_dir(directory()).expect("the examples").map(|entry| entry.expect("a file").path());
    let mut found: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    found.sort();
    assert_eq!(found, BOUNDS.map(|(name, _)| name));
}
