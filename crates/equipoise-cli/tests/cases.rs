//! `equipoise elicit --ask cases` through the real binary.

mod place;

use place::{Place, Run};
use serde_json::Value;

/// Calibrated risks of 400 cases from 1 % to 97 %.
fn table() -> String {
    let risk = |n: usize| 0.01 + 0.96 * (n as f64 * 0.618_034).fract();
    let ill = |n: usize| (n as f64 * 0.754_877_7).fract() < risk(n);
    let row = |n: usize| format!("{},{:.4}\n", if ill(n) { "ill" } else { "well" }, risk(n));
    "y,p\n".to_owned() + &(1..=400).map(row).collect::<String>()
}

const LINE: &str = "elicit val.csv --positive ill --ask cases";

fn place_with_table(name: &str) -> Place {
    let place = Place::new(name);
    place.write("val.csv", &table());
    place
}

/// The risk of a recorded question, and whether the answer was to act.
fn asked(record: &Value) -> Vec<(f64, bool)> {
    let answered = |one: &Value| {
        let share = |side: &str| one["query"][side][0].as_f64().unwrap();
        let acts_first = share("first") > 0.0;
        (share("first").max(share("second")), (one["preference"] == "first") == acts_first)
    };
    record["transcript"].as_array().unwrap().iter().map(answered).collect()
}

#[test]
fn an_expert_of_six_to_one_is_found_case_by_case() {
    let place = place_with_table("cases_oracle");
    let found = place.line(&format!("{LINE} --oracle 6:1 --seed 1 --json")).document(0);
    let ratio = |field: &str| found["ratio"][field].as_f64().unwrap();
    assert!(ratio("low") <= 6.0 && ratio("high") >= 6.0, "{}", found["ratio"]);
    assert!(found["regret"]["expected"].as_f64().unwrap() <= 0.025, "{}", found["regret"]);
    assert!(found["questions"].as_u64().unwrap() <= 30 && found["hidden"]["inside"] == true);
    assert!(found["rule"]["sentence"].as_str().unwrap().starts_with("predict ill from a probability of "));
    let record: Value = serde_json::from_str(&place.read("val.interview.json")).unwrap();
    let cases = asked(&record);
    // An expert who never errs acts from 1 : 7 on; no case comes twice, and all are among the table's.
    assert!(cases.iter().all(|(risk, acts)| (*risk > 1.0 / 7.0) == *acts), "{cases:?}");
    assert!(cases.iter().all(|(risk, _)| (0.01..0.98).contains(risk)), "{cases:?}");
    let mut risks: Vec<i64> = cases.iter().map(|(risk, _)| (1e6 * risk).round() as i64).collect();
    risks.sort_unstable();
    risks.dedup();
    assert_eq!(risks.len(), cases.len(), "{cases:?}");
    let metric: Value = serde_json::from_str(&place.read("metric.json")).unwrap();
    assert_eq!(metric["interval"]["level"], 0.95);
    assert_eq!(place.line("score val.csv --positive ill --metric metric.json").code, Some(0));
}

#[test]
fn a_person_says_what_they_would_do_and_goes_on_later() {
    let place = place_with_table("cases_person");
    let words: Vec<&str> = LINE.split(' ').chain(["--seed", "3"]).collect();
    let run = place.run_with(&words, "1\n2\nu\n1\nq\n");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let flat = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("You will see cases, each with its risk of being ill"), "{flat}");
    assert!(flat.contains("A case with a risk of ") && flat.contains("% of being ill."), "{flat}");
    assert!(flat.contains("Act on it as if it were ill (1, A), or not (2, B)?"), "{flat}");
    assert!(run.out.contains("Question 1 of about "), "{}", run.out);
    assert!(run.out.contains("Saved 2 answers in val.interview.json."), "{}", run.out);
    // Typing 1 is always to act.
    let record: Value = serde_json::from_str(&place.read("val.interview.json")).unwrap();
    assert!(asked(&record).iter().all(|(_, acts)| *acts), "{record}");
    let resume = ["elicit", "val.csv", "--positive", "ill", "--resume", "val.interview.json"];
    let run = place.run_with(&resume, &"2\n1\n".repeat(20));
    assert!(run.out.contains("Going on after 2 answers."), "{}{}", run.out, run.err);
    assert!(run.out.contains("A case with a risk of ") && run.out.contains("Recovered"), "{}", run.out);
}

/// A program that acts from 20 % on.
#[test]
fn a_program_reads_the_risk() {
    let place = place_with_table("cases_program");
    place.write(
        "ask.sh",
        "while read -r line; do
printf '%s\\n' \"$line\" >> asked.txt
risk=$(printf '%s' \"$line\" | sed 's/.*\"risk\":\\([0-9.]*\\).*/\\1/')
awk -v r=\"$risk\" 'BEGIN { print (r >= 0.2) ? \"first\" : \"second\" }'
done
",
    );
    let words: Vec<&str> = LINE.split(' ').chain(["--oracle-command", "sh ask.sh", "--json"]).collect();
    let run = place.run(&words);
    let found: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    let ratio = found["ratio"]["value"].as_f64().unwrap();
    assert!((ratio / 4.0).ln().abs() < 0.4, "{found}");
    let first: Value = serde_json::from_str(place.read("asked.txt").lines().next().unwrap()).unwrap();
    assert_eq!((&first["format"], &first["question"]), (&1.into(), &1.into()));
    // Of so many cases all that are ill are found by acting, and all others are false alarms.
    let (risk, out_of) = (first["risk"].as_f64().unwrap(), first["out_of"].as_f64().unwrap());
    let count = |side: &str, truth: &str, estimate: &str| -> f64 {
        let cells = first[side].as_array().unwrap();
        let cell = cells.iter().find(|cell| cell["truth"] == truth && cell["estimate"] == estimate).unwrap();
        cell["count"].as_f64().unwrap()
    };
    assert!((count("first", "ill", "ill") - risk * out_of).abs() < 1.0, "{first}");
    assert_eq!((count("first", "well", "well"), count("second", "ill", "ill")), (0.0, 0.0));
}

#[test]
fn what_has_no_single_risk_is_said_in_a_sentence() {
    let place = place_with_table("cases_bad");
    says(
        place.line(&format!("{LINE} --family quadratic --oracle 6:1")),
        2,
        "--ask cases is for the linear metric",
    );
    says(
        place.line(&format!("{LINE} --method antipodal --oracle 6:1")),
        2,
        "--ask cases is for the linear metric",
    );
    says(place.line("elicit val.csv --ask thoughts"), 2, "pairs, cases");
    says(place.line("elicit val.csv --ask cases --resume x.json"), 2, "cannot be used with");
    says(place.line("elicit none.csv --ask cases"), 3, "none.csv");
    let row = |n: usize| {
        format!(
            "{},{}\n",
            if n.is_multiple_of(3) { "ill" } else { "well" },
            u8::from(n % 6 == 1 || n.is_multiple_of(3))
        )
    };
    let hard: String = (0..60).map(row).collect();
    place.write("hard.csv", &format!("y,p\n{hard}"));
    says(
        place.line("elicit hard.csv --ask cases --oracle 6:1"),
        2,
        "its probabilities are all alike, or 0 and 1",
    );
    let three = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tables/triage.csv");
    says(place.run(&["elicit", three, "--ask", "cases"]), 2, "more classes have no one risk");
}

#[track_caller]
fn says(run: Run, code: i32, part: &str) {
    assert_eq!(run.code, Some(code), "{}{}", run.out, run.err);
    assert!(run.err.contains(part) && !run.err.contains("panicked"), "{}", run.err);
    assert!(run.out.is_empty(), "{}", run.out);
}
