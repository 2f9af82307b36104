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
fn a_table_is_planned_as_elicit_asks_about_it() {
    let place = place("plan_two");
    let run = ["plan", "val.csv", "--experts", "20", "--seed", "5", "--json"];
    let run = place.run(&run);
    // With twenty people the coverage may by chance be a finding; the document is printed all the same.
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.err);
    let found: serde_json::Value = serde_json::from_str(&run.out).expect("one JSON document");
    let kinds: Vec<&str> =
        found["people"].as_array().unwrap().iter().map(|row| row["person"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["standard", "blunt", "absolute"]);
    for row in found["people"].as_array().unwrap() {
        let questions = row["questions"]["median"].as_f64().unwrap();
        assert!((3.0..=35.0).contains(&questions), "{row}");
        assert_eq!(row["minutes"]["median"].as_f64().unwrap(), (questions / 3.0).ceil());
        assert!(row["regret"]["mean"].as_f64().unwrap() >= 0.0 && row["bound_holds"].is_number(), "{row}");
    }
    assert_eq!(run.code == Some(1), !found["findings"].as_array().unwrap().is_empty());
    // The same plan as that of an interview with the same options.
    let always = "while read -r line; do echo first; done";
    place.run(&["elicit", "val.csv", "--oracle-command", always, "--save", "asked.json", "--seed", "5"]);
    let record: serde_json::Value = serde_json::from_str(&place.read("asked.json")).unwrap();
    let mut asked = record["plan"].clone();
    asked.as_object_mut().unwrap().remove("space");
    assert_eq!(found["plan"], asked);
    // The same seed gives the same people.
    let again = ["plan", "val.csv", "--experts", "20", "--seed", "5", "--json"];
    assert_eq!(place.run(&again).out, run.out);
}

#[test]
fn options_of_elicit_plan_the_same_questions() {
    let place = place("plan_three");
    let run = |more: &[&str]| {
        let run = [&["plan", "three.csv", "--experts", "2", "--seed", "5", "--json"][..], more].concat();
        let run = place.run(&run);
        assert!(matches!(run.code, Some(0 | 1)), "{}", run.err);
        serde_json::from_str::<serde_json::Value>(&run.out).expect("one JSON document")
    };
    let found = run(&["--no-group", "--noise", "standard", "--budget", "8"]);
    assert_eq!((&found["plan"]["kind"], &found["plan"]["budget"]), (&"linear".into(), &8.into()));
    assert!(found["people"][0]["regret"]["mean"].is_number(), "{found}");
    let found = run(&["--group", "side", "--family", "group_fair", "--noise", "blunt", "--regret", "0.6"]);
    assert_eq!(found["plan"]["kind"], "group_fair");
    let found = run(&["--no-group", "--family", "quadratic", "--noise", "none"]);
    assert_eq!(found["people"][0]["questions"]["median"], 30.0);
    assert!(found["people"][0]["angle"]["median"].is_number(), "{found}");
    refused(
        place.run(&["plan", "ball.json", "--regret", "0.1"]),
        2,
        "--regret is for tables; ball.json says itself how it asks",
    );
}

/// Where the best rule makes no mistakes there is nothing to regret, and nothing that less could be paid than.
#[test]
fn nobody_regrets_less_than_nothing() {
    let place = Place::new("plan_perfect");
    let two: String = (0..120).map(|n| format!("{},{}\n", n % 2, [0.1, 0.9][n % 2])).collect();
    place.write("two.csv", &format!("y,p\n{two}"));
    let [a, b, c] = ["a,.8,.1,.1\n", "b,.1,.8,.1\n", "c,.1,.1,.8\n"].map(|row| row.repeat(30));
    place.write("three.csv", &format!("y,p_a,p_b,p_c\n{a}{b}{c}"));
    for table in ["two.csv", "three.csv"] {
        let run = ["plan", table, "--experts", "3", "--seed", "5", "--noise", "standard", "--json"];
        let run = place.run(&run);
        assert!(matches!(run.code, Some(0 | 1)), "{table}: {}", run.err);
        let found: serde_json::Value = serde_json::from_str(&run.out).expect("one JSON document");
        for field in ["mean", "p90"] {
            let regret = found["people"][0]["regret"][field].as_f64().expect("a number");
            assert!((0.0..1.0).contains(&regret), "{table}: {}", found["people"][0]["regret"]);
        }
    }
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
    let noise = "--noise is \"loud\", expected logistic:SLOPE,lapse:SHARE, relative:SLOPE,lapse:SHARE, flip:SHARE or none (for \
                 tables also standard, blunt or absolute)";
    refused(place.run(&["plan", "ball.json", "--noise", "loud"]), 2, noise);
    for (file, code) in [("torn.json", 3), ("missing.json", 3), ("missing.csv", 3), ("odd.json", 2)] {
        let run = place.run(&["plan", file]);
        assert_eq!(run.code, Some(code), "{file}: {}", run.err);
        assert!(run.err.contains(file) && !run.err.contains("panicked"), "{file}: {}", run.err);
    }
}
