//! Numbers that `score` and `threshold` print, against what NumPy finds on the same rows.
//!
//! `tests/numpy` has samples of three tables and, in JSON, what `experiments/numpy_check.py --write` computed for them.

mod place;

use place::Place;
use serde_json::Value;
use std::path::Path;

/// How far apart two documents of numbers are; infinitely if they have other shapes.
fn apart(found: &Value, expected: &Value) -> f64 {
    match (found, expected) {
        (Value::Number(a), Value::Number(b)) => (a.as_f64().unwrap() - b.as_f64().unwrap()).abs(),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).map(|(a, b)| apart(a, b)).fold(0.0, f64::max)
        }
        (Value::Object(_), Value::Object(b)) => {
            b.iter().map(|(key, b)| apart(&found[key], b)).fold(0.0, f64::max)
        }
        _ => f64::INFINITY,
    }
}

#[test]
fn every_number_is_the_one_numpy_finds() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/numpy");
    let place = Place::new("numpy");
    let mut numbers = 0;
    for table in ["adult_sex", "default", "wine"] {
        std::fs::copy(from.join(format!("{table}.csv")), place.0.join(format!("{table}.csv"))).expect(table);
        let text = std::fs::read_to_string(from.join(format!("{table}.json"))).expect(table);
        let asked: Vec<Value> = serde_json::from_str(&text).expect("a list");
        for case in asked {
            let mut words: Vec<&str> =
                case["words"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
            words.push("--json");
            let run = place.run(&words);
            assert_eq!(run.code, Some(0), "{words:?}: {}", run.err);
            let found: Value = serde_json::from_str(&run.out).expect("JSON");
            let at = |name: &str| match (words[0], name) {
                ("score", _) => &found["models"][0][name],
                (_, "best") => &found["best"]["value"],
                (_, "threshold") => &found["best"]["cut"]["threshold"],
                (_, "interval") => &found["uncertain"]["interval"],
                (_, "gain") => &found["gain"]["interval"],
                (_, "better") => &found["gain"]["better"],
                (_, name) => &found[name],
            };
            for (name, expected) in case["expected"].as_object().unwrap() {
                let apart = apart(at(name), expected);
                assert!(apart <= 1e-9, "{words:?}, {name}: {} instead of {expected}", at(name));
                numbers += 1;
            }
        }
    }
    assert!(numbers > 80, "{numbers}");
}
