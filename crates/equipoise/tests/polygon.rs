//! The two-class and diagonal procedures on polygons, as they come from data.

use equipoise::AnyPlan;
use equipoise::ask::Simulated;
use equipoise::population::{Confusions as _, Logistic, Softmax};
use equipoise::search::{BinaryFractional, BinaryLinear, DiagonalLinear};
use equipoise::space::{AnySpace, Binary, Diagonal, Polygon, Space};
use equipoise::{Metric, Plan, View};
use serde_json::{Value, json};

/// The law's boundary as a polygon with many corners.
fn hull_of(law: &Logistic, corners: usize) -> Binary {
    let priors = law.prevalence().class_priors();
    let cut = |n: usize| law.at_cut(-1.0 + 2.0 * n as f64 / corners as f64);
    let upper: Vec<[f64; 2]> = (0..=corners).map(cut).collect();
    let lower = upper.iter().map(|[tp, tn]| [priors[1] - tp, priors[0] - tn]);
    Binary::from_hull(priors[1], Polygon::hull(lower.chain(upper.iter().copied()).collect()).unwrap())
        .unwrap()
}

fn faces_of(law: &Softmax, corners: usize) -> Diagonal {
    let face = |class: usize| {
        let turn = |n: usize| std::f64::consts::TAU * n as f64 / corners as f64;
        let point = |n: usize| law.restricted_extreme(0, class, [turn(n).cos(), turn(n).sin()]);
        Polygon::hull((0..corners).map(point).collect()).unwrap()
    };
    let priors = law.prevalence().class_priors();
    Diagonal::from_faces(priors.to_vec(), (1..priors.len()).map(face).collect()).unwrap()
}

fn metric(document: Value) -> Metric {
    Metric::from_json(&document.to_string()).unwrap()
}

#[test]
fn a_fine_polygon_gives_the_metric_its_law_gives() {
    let law = Logistic::with_offset(5.0, 0.4).unwrap();
    for angle in [0.3_f64, 0.7, 1.2] {
        let weights = json!([angle.cos(), angle.sin()]);
        let hidden = metric(
            json!({"format":1,"kind":"linear","measure":"binary","sense":"utility","weights":weights}),
        );
        let plan = BinaryLinear::new(hull_of(&law, 4000), 0.005).unwrap();
        for plan in [plan.clone(), plan.antipodal()] {
            let Ok(found) = plan.run(&mut Simulated::new(hidden.clone()));
            assert!(found.metric.difference(&hidden).unwrap().angle < 0.005, "{angle}");
        }
    }
}

#[test]
fn fractions_are_found_on_a_polygon() {
    let law = Logistic::new(5.0).unwrap();
    let plan = BinaryFractional::new(hull_of(&law, 4000), 0.002).unwrap();
    let hidden = metric(json!({"format":1,"kind":"linear_fractional","measure":"binary","sense":"utility",
        "numerator":[0.8,0.2],"denominator":[0.3,-0.1],"denominator_offset":0.6}));
    let Ok(found) = plan.run(&mut Simulated::new(hidden.clone()));
    let found = serde_json::to_value(&found.metric).unwrap();
    let [p, q] = [0, 1].map(|n| found["numerator"][n].as_f64().unwrap());
    let share = p / (p + q);
    assert!((share - 0.8).abs() < 0.02, "{share}");
}

#[test]
fn weights_of_classes_are_found_on_faces() {
    let law = Softmax::new(vec![0.0, 4.0, 8.0]).unwrap();
    let space = faces_of(&law, 20_000);
    let hidden = metric(json!({"format":1,"kind":"linear","measure":"diagonal","sense":"utility",
        "classes":["a","b","c"],"weights":[0.3,0.5,0.2]}));
    let Ok(found) = DiagonalLinear::new(space, 0.005).unwrap().run(&mut Simulated::new(hidden.clone()));
    let difference = found.metric.difference(&hidden).unwrap();
    assert!(difference.max_abs < 0.01, "{difference:?}");
}

#[test]
fn corners_at_the_ends_are_reported_as_ranges() {
    let triangle = Polygon::hull(vec![[0.0, 0.5], [0.4, 0.45], [0.5, 0.0], [0.1, 0.05]]).unwrap();
    let plan = BinaryLinear::new(Binary::from_hull(0.5, triangle).unwrap(), 0.01).unwrap();
    let hidden = metric(
        json!({"format":1,"kind":"linear","measure":"binary","sense":"utility","weights":[1.0, 0.02]}),
    );
    let Ok(found) = plan.run(&mut Simulated::new(hidden));
    assert!(!found.findings.is_empty());
}

#[test]
fn polygons_are_stored_and_read_back_to_the_bit() {
    let spaces = [
        serde_json::to_value(hull_of(&Logistic::new(5.0).unwrap(), 100)).unwrap(),
        serde_json::to_value(faces_of(&Softmax::new(vec![1.0, 3.0, 5.0]).unwrap(), 100)).unwrap(),
    ];
    for (space, kind) in spaces.iter().zip(["linear", "diagonal_linear"]) {
        let document = json!({"kind":kind,"tolerance":0.1,"space":space});
        let plan: AnyPlan = serde_json::from_str(&document.to_string()).unwrap();
        let stored = serde_json::to_value(&plan).unwrap();
        assert_eq!(&stored["space"], space);
        assert_eq!(serde_json::from_value::<AnyPlan>(stored).unwrap(), plan);
    }
    assert_eq!(spaces[0]["kind"], "hull");
    assert_eq!(spaces[1]["kind"], "faces");
}

#[test]
fn wrong_polygons_are_named() {
    let says = |kind: &str, space: Value| {
        let document = json!({"kind":kind,"space":space});
        serde_json::from_value::<AnyPlan>(document).unwrap_err().to_string()
    };
    let hull = |vertices: Value| json!({"kind":"hull","positive_prior":0.4,"vertices":vertices});
    assert_eq!(
        says("linear", hull(json!([[0.0, 0.6], [0.5, 0.0]]))),
        "plan.space: entry 0 of the vertex [0.5, 0] is 0.5, expected at least 0, at most the prior"
    );
    assert_eq!(
        says("linear", hull(json!([[0.0, 0.6], [0.2, 0.5]]))),
        "plan.space: vertices leave out a classifier that always predicts the same class"
    );
    assert_eq!(says("linear", hull(json!([]))), "plan.space.vertices is 0, expected at least 1");
    let face = json!([[0.5, 0.0], [0.0, 0.2]]);
    let faces = json!({"kind":"faces","class_priors":[0.5,0.2,0.3],"faces":[face, face, face]});
    assert_eq!(says("diagonal_linear", faces), "plan.space.faces has 3 entries, expected 2");
    let faces =
        json!({"kind":"faces","class_priors":[0.5,0.2,0.3],"faces":[[[0.5,0],[0,0.2]],[[0.5,0],[0,0.3]]]});
    assert_eq!(
        says("diagonal_monotone", faces),
        "plan: a monotone metric needs classifiers that predict every class, \
         and the space has only those that predict two"
    );
}

#[test]
fn a_space_of_faces_contains_what_its_faces_reach() {
    let law = Softmax::new(vec![0.0, 4.0, 8.0]).unwrap();
    let space = faces_of(&law, 1000);
    assert_eq!(space.view(), View::new(equipoise::Measure::Diagonal, 3, 1).unwrap());
    assert!(space.contains(&space.centre(), 1e-9));
    let best = space.best(&[1.0, 0.2, 1.0]);
    assert!(space.contains(&best, 1e-9));
    let beyond: Vec<f64> = best.iter().map(|d| 1.01 * d).collect();
    assert!(!space.contains(&beyond, 1e-6));
    assert_eq!(AnySpace::Diagonal(space).kind(), "faces");
}
