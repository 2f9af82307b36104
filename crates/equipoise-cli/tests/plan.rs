//! `equipoise plan`: experts simulated ahead, from tables, spaces, plans and simulations.

mod place;

use place::{Place, refused, said, three_classes, two_classes};

const BALL: &str = r#"{"kind":"sphere","measure":"off_diagonal_rates","classes":2,"radius":0.2}"#;
const LAW: &str = r#"{"kind":"logistic","slope":5,"offset":0.4}"#;

fn place(name: &str) -> Place {
    let place = Place::new(name);
    place.write("val.csv", &two_classes(300, 0.0));
    place.write("three.csv", &three_classes(600));
    place.write("ball.json", BALL);
    place.write("law.json", LAW);
    place
}

#[test]
fn a_table_of_two_classes_is_planned_for_its_cost_ratio() {
    let place = place("plan_two");
    let run = ["plan", "val.csv", "--experts", "40", "--seed", "5", "--noise", "logistic:40", "--json"];
    let run = place.run(&run);
    // With forty experts the coverage may by chance be a finding; the document is printed all the same.
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.err);
    let found: serde_json::Value = serde_json::from_str(&run.out).expect("one JSON document");
    assert_eq!(found["experts"], 40);
    assert_eq!(found["noise"], "logistic:40");
    assert_eq!(found["plan"]["method"], "adaptive");
    assert!((0.8..=1.0).contains(&found["coverage"].as_f64().unwrap()), "{found}");
    let questions = found["questions"]["median"].as_f64().unwrap();
    assert!((3.0..=40.0).contains(&questions), "{questions}");
    assert_eq!(run.code == Some(1), !found["findings"].as_array().unwrap().is_empty());
    // The same seed gives the same experts.
    let again = ["plan", "val.csv", "--experts", "40", "--seed", "5", "--noise", "logistic:40", "--json"];
    assert_eq!(place.run(&again).out, run.out);
}

#[test]
fn a_table_of_three_classes_is_planned_for_its_weights() {
    let place = place("plan_three");
    let run = ["plan", "three.csv", "--no-group", "--experts", "4", "--seed", "5", "--noise", "none"];
    let text = said(place.run(&run), 0);
    assert!(text.contains("angle between found and true weights, radians"), "{text}");
    assert!(text.contains("Ended by"), "{text}");
}

#[test]
fn spaces_plans_and_simulations_are_read() {
    let place = place("plan_documents");
    let plan = format!(r#"{{"kind":"linear","method":"adaptive","tolerance":0.1,"space":{BALL}}}"#);
    place.write("plan.json", &plan);
    let simulation = format!(
        r#"{{"format":1,"space":{BALL},"oracle":{{"metric":{{"kind":"linear","measure":"off_diagonal_rates",
            "sense":"cost","weights":[1,2]}}}},"plan":{{"kind":"linear","method":"adaptive","tolerance":0.1}},"seed":3}}"#
    );
    place.write("simulation.json", &simulation);
    for file in ["ball.json", "plan.json", "simulation.json"] {
        let run = ["plan", file, "--experts", "30", "--seed", "2", "--noise", "none", "--json"];
        let found = place.run(&run).json();
        assert!(found["coverage"].as_f64().unwrap() >= 0.93, "{file}: {found}");
        assert!(found["error"]["p90"].as_f64().unwrap() <= 0.1, "{file}: {found}");
    }
}

#[test]
fn too_many_sessions_at_the_cap_come_with_advice() {
    let place = place("plan_capped");
    place
        .write("short.json", &format!(r#"{{"kind":"linear","method":"adaptive","budget":6,"space":{LAW}}}"#));
    let text = said(place.run(&["plan", "short.json", "--experts", "40", "--seed", "2"]), 1);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "asked as many questions as allowed",
        "with a cost ratio beyond",
        "(`budget`)",
        "(`width`)",
        "(`decision`)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let ball =
        format!(r#"{{"kind":"linear","method":"adaptive","tolerance":0.01,"budget":4,"space":{BALL}}}"#);
    place.write("ball_short.json", &ball);
    let text = said(place.run(&["plan", "ball_short.json", "--experts", "20", "--seed", "2"]), 1);
    assert!(text.contains("`tolerance`"), "{text}");
}

#[test]
fn bad_input_gets_a_sentence() {
    let place = place("plan_wrong");
    place.write("torn.json", "{");
    place.write("list.json", "[1]");
    place.write("old.json", r#"{"format":7,"kind":"linear"}"#);
    place.write("search.json", &format!(r#"{{"kind":"linear","method":"antipodal","space":{BALL}}}"#));
    place.write("odd.json", r#"{"kind":"cube"}"#);
    let fraction = format!(r#"{{"kind":"linear_fractional","method":"adaptive","space":{BALL}}}"#);
    place.write("fraction.json", &fraction);
    refused(place.run(&["plan", "list.json"]), 3, "list.json is not a JSON object");
    refused(place.run(&["plan", "old.json"]), 3, "old.json: format is 7, expected 1");
    let only = "the plan's method is not \"adaptive\", the only one with an interval to check";
    refused(place.run(&["plan", "search.json"]), 2, only);
    let elsewhere =
        "fractions are not simulated ahead; `equipoise bench queries --task fractional` measures them";
    refused(place.run(&["plan", "fraction.json"]), 2, elsewhere);
    let noise = "--noise is \"loud\", expected logistic:SLOPE,lapse:SHARE or flip:SHARE or none";
    refused(place.run(&["plan", "ball.json", "--noise", "loud"]), 2, noise);
    for (file, code) in [("torn.json", 3), ("missing.json", 3), ("missing.csv", 3), ("odd.json", 2)] {
        let run = place.run(&["plan", file]);
        assert_eq!(run.code, Some(code), "{file}: {}", run.err);
        assert!(run.err.contains(file) && !run.err.contains("panicked"), "{file}: {}", run.err);
    }
}
