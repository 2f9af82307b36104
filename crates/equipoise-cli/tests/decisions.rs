//! `equipoise elicit --from-decisions` through the real binary.

mod place;

use place::{Place, Run};

/// Decisions about risks that are spread evenly over their odds: from a threshold on, every `slip`-th wrongly.
fn decisions(rows: usize, threshold: f64, slip: usize) -> Vec<(f64, bool)> {
    let odds = |n: usize| 8.0 * ((n as f64 * 0.618_034).fract() - 0.6);
    let risk = |n: usize| 1.0 / (1.0 + f64::exp(-odds(n)));
    (1..=rows).map(|n| (risk(n), (risk(n) >= threshold) != (n % slip == 0))).collect()
}

fn table(cases: &[(f64, bool)], words: [&str; 2]) -> String {
    let row = |(risk, acted): &(f64, bool)| format!("{risk:.5},{}\n", words[usize::from(*acted)]);
    "risk,treated\n".to_owned() + &cases.iter().map(row).collect::<String>()
}

#[test]
fn a_threshold_is_read_off_decisions_as_a_metric_that_others_use() {
    let place = Place::new("decisions_read");
    // 1 : 7 is the threshold of 6 : 1; one decision in twenty is a slip.
    place.write("past.csv", &table(&decisions(300, 1.0 / 7.0, 20), ["no", "yes"]));
    let found = place.line("elicit --from-decisions past.csv --json").document(0);
    let ratio = |field: &str| found["ratio"][field].as_f64().unwrap();
    assert!(ratio("low") < 6.0 && ratio("high") > 6.0 && ratio("high") / ratio("low") < 2.0, "{found}");
    assert_eq!((&found["act"], &found["tendency"]), (&"yes".into(), &"follows".into()));
    assert_eq!(found["agreeing"], 285);
    let lapse = found["noise"]["lapse"].as_f64().unwrap();
    assert!((0.02..0.09).contains(&lapse), "{lapse}");
    // Risks do not need calling by their name where it is usual, nor percentages.
    let text = table(&decisions(300, 1.0 / 7.0, 20), ["no", "yes"]).replace("risk,", "score,");
    place.write("past.csv", &text);
    let text = place.line("elicit --from-decisions past.csv --out again.json").text(0);
    assert!(text.contains("Recovered  these decisions make sense to whoever accepts about "), "{text}");
    assert!(text.contains("285 of 300 decisions agree with that") && text.contains("slips"), "{text}");
    // The metric has the interval, and every command takes it.
    let metric: serde_json::Value = serde_json::from_str(&place.read("metric.json")).unwrap();
    assert_eq!(metric["interval"]["level"], 0.95);
    assert_eq!(metric["provenance"]["decisions"], 300);
    place.write("val.csv", "y,p\nill,0.9\nwell,0.1\nill,0.3\nwell,0.2\nill,0.6\nwell,0.5\n");
    for line in [
        "threshold val.csv --metric metric.json --no-svg",
        "rank val.csv --metric metric.json",
        "score val.csv --metric metric.json",
    ] {
        assert_eq!(place.line(&format!("{line} --positive ill")).code, Some(0), "{line}");
    }
}

#[test]
fn people_have_ratios_of_their_own_and_are_told_where_they_differ() {
    let place = Place::new("decisions_people");
    let of = |name: &str, threshold: f64| -> String {
        let row = |(risk, acted): &(f64, bool)| format!("{risk:.5},{},{name}\n", u8::from(*acted));
        decisions(150, threshold, 25).iter().map(row).collect()
    };
    place.write("past.csv", &("score,decision,doctor\n".to_owned() + &of("ana", 0.05) + &of("ben", 0.4)));
    let line = "elicit --from-decisions past.csv --by doctor";
    let found = place.line(&format!("{line} --json")).document(0);
    let ratio = |n: usize, field: &str| found["by"][n]["ratio"][field].as_f64().unwrap();
    assert_eq!((&found["by"][0]["name"], &found["by"][1]["name"]), (&"ana".into(), &"ben".into()));
    // 95 : 5 and 60 : 40.
    assert!(ratio(0, "low") < 19.0 && ratio(0, "high") > 19.0, "{found}");
    assert!(ratio(1, "low") < 1.5 && ratio(1, "high") > 1.5, "{found}");
    let pooled = found["ratio"]["value"].as_f64().unwrap();
    assert!(pooled > ratio(1, "value") && pooled < ratio(0, "value"), "{pooled}");
    assert!(found["findings"][0].as_str().unwrap().starts_with("people hold different ratios"), "{found}");
    let text = place.line(line).text(0);
    assert!(text.contains("ana") && text.contains("people hold different ratios"), "{text}");
    // Two who hold the same are not told apart.
    place.write("past.csv", &("score,decision,doctor\n".to_owned() + &of("ana", 0.2) + &of("ben", 0.2)));
    let found = place.line(&format!("{line} --json")).document(0);
    assert_eq!(found["findings"].as_array().unwrap().len(), 0, "{found}");
}

#[test]
fn decisions_that_do_not_follow_the_score_give_no_metric() {
    let place = Place::new("decisions_none");
    let cases = decisions(200, 0.2, 1000);
    let chance: Vec<(f64, bool)> =
        cases.iter().enumerate().map(|(n, (risk, _))| (*risk, n % 3 == 0)).collect();
    place.write("past.csv", &table(&chance, ["no", "yes"]));
    let run = place.line("elicit --from-decisions past.csv --scores risk --json");
    let found = run.document(1);
    assert_eq!((&found["tendency"], &found["metric"]), (&"none".into(), &serde_json::Value::Null));
    assert!(!place.has("metric.json"));
    let text = place.line("elicit --from-decisions past.csv --scores risk").text(1);
    assert!(text.contains("no metric: the decisions do not follow the score"), "{text}");
    // Words whose order says nothing: "treat" comes before "wait".
    place.write("past.csv", &table(&cases, ["wait", "treat"]));
    let text = place.line("elicit --from-decisions past.csv --scores risk").text(1);
    assert!(text.contains("run against the score") && text.contains("--positive treat"), "{text}");
    let found =
        place.line("elicit --from-decisions past.csv --scores risk --positive treat --json").document(0);
    assert!((found["ratio"]["value"].as_f64().unwrap() / 4.0).ln().abs() < 0.3, "{found}");
}

#[test]
fn risks_on_one_side_of_the_threshold_bound_it_on_that_side() {
    let place = Place::new("decisions_one_sided");
    // Everybody from 20 % on is treated, but for one slip; nobody below was ever seen.
    let cases: Vec<(f64, bool)> = (0..150).map(|n| (0.2 + 0.005 * f64::from(n), n != 100)).collect();
    place.write("past.csv", &table(&cases, ["no", "yes"]));
    let found = place.line("elicit --from-decisions past.csv --scores risk --json").document(1);
    // One slip among many does not say that they follow the score; whatever is said, no upper end is.
    assert_eq!(found["ratio"]["high"], serde_json::Value::Null, "{found}");
    assert_eq!(found["needs_attention"], true);
}

#[test]
fn tables_that_are_none_of_decisions_are_said_in_a_sentence() {
    let place = Place::new("decisions_bad");
    let line = "elicit --from-decisions past.csv --scores risk";
    let with = |text: &str, line: &str| {
        place.write("past.csv", text);
        place.line(line)
    };
    says(place.line("elicit --from-decisions none.csv"), 3, "none.csv");
    says(with("risk,what\n0.1,a\n0.9,b\n", line), 3, "no column has a name decisions usually have");
    says(
        with("risk,acted,decision\n0.1,a,b\n0.9,b,a\n", line),
        3,
        "acted and decision could each be the decisions",
    );
    says(with("risk,acted\n0.1,a\n0.9,b\n", &format!("{line} --decision x")), 2, "no column \"x\"");
    says(with("risk,acted\n0.1,a\n0.9,b\n", &format!("{line} --by x")), 2, "no column \"x\"");
    says(
        with("risk,acted\n0.1,a\n0.9,b\n", "elicit --from-decisions past.csv --scores x"),
        2,
        "no column \"x\"",
    );
    says(with("risk,acted\nhigh,a\n0.9,b\n", line), 3, "high");
    says(with("risk,acted\nNaN,a\n0.9,b\n", line), 3, "--drop-missing leaves such rows out");
    says(with("risk,acted\n14,a\n90,b\n", line), 3, "--scores-are percent");
    says(with("risk,acted\n0.1,a\n0.9,a\n", line), 3, "a");
    says(with("risk,acted\n0.1,a\n0.9,b\n0.5,c\n", line), 3, "c");
    says(with("risk,acted\n0.1,a\n0.9,b\n", &format!("{line} --positive c")), 2, "no class \"c\"");
    says(place.line("elicit past.csv --by doctor"), 2, "--from-decisions");
    says(place.line("elicit --from-decisions past.csv --oracle 6:1"), 2, "cannot be used with");
    place.write("metric.json", "{}");
    says(place.line(&format!("{line} --out metric.json")), 2, "--out FILE names another");
}

#[track_caller]
fn says(run: Run, code: i32, part: &str) {
    assert_eq!(run.code, Some(code), "{}{}", run.out, run.err);
    assert!(run.err.contains(part) && !run.err.contains("panicked"), "{}", run.err);
    assert!(run.out.is_empty(), "{}", run.out);
}
