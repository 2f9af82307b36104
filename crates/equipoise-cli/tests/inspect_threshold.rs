//! `inspect` and `threshold` on small tables, through the real binary.

mod place;

use place::Place;
use serde_json::Value;
use std::path::Path;

/// A directory of its own for each test, with the example tables in it.
fn tables(name: &str) -> Place {
    let place = Place::new(name);
    for table in ["screening.csv", "triage.csv"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tables").join(table);
        std::fs::copy(from, place.0.join(table)).expect(table);
    }
    place
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

mod inspect {
    use super::*;

    #[test]
    fn two_classes_are_described() {
        let place = tables("inspect_two");
        let run = place.line("inspect screening.csv");
        assert!(run.err.contains("truth column: y (guessed)"), "{}", run.err);
        insta::assert_snapshot!("inspect_screening", run.text(1));
        let picture = place.read("equipoise-inspect.svg");
        for part in [
            "<desc>",
            "share of malignant found",
            "never malignant",
            "certainly achievable",
            "smooth boundary",
        ] {
            assert!(picture.contains(part), "{part}");
        }
    }

    #[test]
    fn three_classes_are_described_in_pairs() {
        let place = tables("inspect_three");
        insta::assert_snapshot!("inspect_triage", place.line("inspect triage.csv --svg pairs.svg").text(1));
        let picture = place.read("pairs.svg");
        for part in ["home or ward", "home or intensive", "intensive or ward", "always ward"] {
            assert!(picture.contains(part), "{part}");
        }
    }

    #[test]
    fn the_document_has_everything() {
        let place = tables("inspect_json");
        let found = place.line("inspect screening.csv --json --no-svg").document(1);
        assert!(!place.0.join("equipoise-inspect.svg").exists());
        assert_eq!((&found["format"], &found["rows"]), (&1.into(), &400.into()));
        let shares: f64 =
            found["classes"].as_array().unwrap().iter().map(|class| number(&class["share"])).sum();
        assert!((shares - 1.0).abs() < 1e-12);
        let bins = found["classes"][1]["calibration"]["bins"].as_array().unwrap();
        let error: f64 = bins
            .iter()
            .map(|bin| number(&bin["share"]) * (number(&bin["predicted"]) - number(&bin["observed"])).abs())
            .sum();
        assert!((error - number(&found["classes"][1]["calibration"]["error"])).abs() < 1e-12);
        let (ball, common) = (&found["ball"], &found["common_ball"]);
        assert!(number(&ball["radius"]) <= number(&ball["bound"]));
        // What every group reaches, each one does: the common radius is the smallest.
        let groups = found["groups"].as_array().unwrap();
        let least = groups.iter().map(|group| number(&group["radius"])).fold(f64::INFINITY, f64::min);
        assert_eq!(least, number(&common["radius"]));
        assert!(number(&found["smooth"]["rmse"]) < 0.05 && number(&found["smooth"]["outside"]) >= 0.0);
        assert!(found["notes"].as_array().unwrap().len() > 2 && found["warnings"].is_array());
    }

    #[test]
    fn a_clean_table_has_no_warnings() {
        let place = tables("inspect_clean");
        // The law 1 / (1 + exp(5 x)) on a grid, with every row twice: as often of each class as it says.
        let grid: Vec<f64> =
            (0..=400).map(|n| 1.0 / (1.0 + (5.0 * (f64::from(n) / 200.0 - 1.0)).exp())).collect();
        let mut table = "y,p_no,p_yes,weight\n".to_owned();
        for p in &grid {
            table += &format!("yes,{},{p},{p}\nno,{},{p},{}\n", 1.0 - p, 1.0 - p, 1.0 - p);
        }
        place.write("clean.csv", &table);
        let found = place.line("inspect clean.csv --weight weight --json --no-svg").document(0);
        assert_eq!(found["warnings"], serde_json::json!([]));
        assert!(number(&found["classes"][0]["calibration"]["error"]) < 1e-9);
        assert!((number(&found["smooth"]["slope"]) - 5.0).abs() < 0.1);
        // Twice the area under the curve, minus 1: how much likelier a pair is in order than not.
        let (mut ahead, mut all) = (0.0, 0.0);
        for yes in &grid {
            for no in &grid {
                let weight = yes * (1.0 - no);
                ahead += weight * f64::from(i8::from(yes > no) - i8::from(yes < no));
                all += weight;
            }
        }
        assert!((number(&found["pairs"][0]["separation"]) - ahead / all).abs() < 1e-9);
    }

    #[test]
    fn bad_calibration_and_missing_classes_are_warned_about() {
        let place = tables("inspect_bad");
        let mut table = "y,p_no,p_yes,group\n".to_owned();
        for n in 0..900 {
            let (class, group) = (if n % 9 < 3 { "yes" } else { "no" }, if n % 9 < 8 { "a" } else { "b" });
            let p = if n % 9 < 3 { 0.95 } else { 0.45 + 0.01 * f64::from(n % 9) };
            table += &format!("{class},{},{p},{group}\n", 1.0 - p);
        }
        place.write("bad.csv", &table);
        let found = place.line("inspect bad.csv --json --no-svg").document(1);
        let warnings: Vec<&str> =
            found["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap()).collect();
        for part in ["group b has no row of class yes", "the probabilities of yes are off by"] {
            assert!(warnings.iter().any(|warning| warning.contains(part)), "{part}: {warnings:?}");
        }
        assert_eq!(found["common_ball"]["reason"], "a group has no row of a class");
        assert!(place.line("inspect bad.csv --no-svg").text(1).contains("none is common to the groups"));
    }

    #[test]
    fn what_cannot_be_read_is_said_in_a_sentence() {
        let place = tables("inspect_wrong");
        place
            .line("inspect nowhere.csv")
            .fails(3, "nowhere.csv: found no such file, expected a readable file");
        let wrong = place.line("inspect screening.csv --truth outcome");
        assert_eq!(wrong.code, Some(2));
        assert!(wrong.err.contains("screening.csv") && wrong.err.contains("outcome"), "{}", wrong.err);
        assert_eq!(wrong.err.lines().count(), 1, "{}", wrong.err);
        let wrong = place.line("inspect screening.csv --svg nowhere/x.svg --quiet");
        wrong.fails(3, "cannot write nowhere/x.svg: no such file or directory");
        assert_eq!(place.line("inspect").code, Some(2));
    }
}

mod threshold {
    use super::*;

    const METRIC: &str = r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,7],
        "classes":["benign","malignant"],"interval":{"low":5,"high":10,"level":0.9}}"#;

    #[test]
    fn both_thresholds_are_put_side_by_side() {
        let place = tables("threshold_two");
        place.write("metric.json", METRIC);
        let run = place.line("threshold screening.csv --metric metric.json");
        insta::assert_snapshot!("threshold_screening", run.text(0));
        let picture = place.read("equipoise-threshold.svg");
        for part in ["net benefit", "the metric&#39;s threshold", "% interval"] {
            assert!(picture.contains(part), "{part}");
        }
    }

    #[test]
    fn groups_get_thresholds_of_their_own() {
        let place = tables("threshold_groups");
        let run = place.line("threshold screening.csv --metric 7:1 --per-group --no-svg");
        insta::assert_snapshot!("threshold_per_group", run.text(0));
        let found =
            place.line("threshold screening.csv --metric 7:1 --per-group --no-svg --json").document(0);
        let (alone, common) = (&found["per_group"]["best"], &found["best"]);
        assert!(number(&alone["value"]) >= number(&common["value"]), "a utility, and more freedom");
        assert_eq!(found["per_group"]["uncertain"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn many_classes_get_a_matrix() {
        let place = tables("threshold_many");
        let line = "threshold triage.csv --metric balanced_accuracy --require recall:intensive>=0.8";
        insta::assert_snapshot!("threshold_triage", place.line(line).text(0));
        let found = place.line(&format!("{line} --json")).document(0);
        assert_eq!(found["weights"].as_array().unwrap().len(), 3);
        let tuned = &found["rules"][2];
        assert!(tuned["requirements"][0]["met"] == true && number(&tuned["requirements"][0]["value"]) >= 0.8);
        assert!(found["decision"].as_str().unwrap().starts_with("Predict the class with the largest"));
    }

    /// Probabilities that say nothing about the classes: a rule tuned on a few rows fits their noise and helps on no others.
    #[test]
    fn a_rule_that_fits_noise_is_not_advised() {
        let place = tables("threshold_noise");
        let mut state = 5_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        let mut text = String::from("y,p_a,p_b,p_c\n");
        for row in 0..60 {
            let parts = [next() + 0.01, next() + 0.01, next() + 0.01];
            let shares = parts.map(|part| part / parts.iter().sum::<f64>());
            text += &format!("{},{},{},{}\n", ["a", "b", "c"][row % 3], shares[0], shares[1], shares[2]);
        }
        place.write("noise.csv", &text);
        let found = place.line("threshold noise.csv --metric accuracy --json").document(0);
        let (bayes, tuned) = (&found["rules"][1], &found["rules"][2]);
        assert!(number(&tuned["value"]) > number(&bayes["value"]) + 0.04, "tuning fits these rows");
        assert!(number(&found["gain"]["low"]) <= 0.0, "{}", found["gain"]);
        assert!(number(&found["tuned"]["confirmed_by"]) > 600.0);
        let said = place.line("threshold noise.csv --metric accuracy").text(0);
        assert!(said.contains("the Bayes rule: tried on rows it was not tuned on"), "{said}");
    }

    #[test]
    fn requirements_are_met_or_explained() {
        let place = tables("threshold_require");
        let line = "threshold screening.csv --metric 2:1 --no-svg --require recall:malignant>=0.95";
        let found = place.line(&format!("{line} --json")).document(0);
        assert!(number(&found["requirements"][0]["measured"]) >= 0.95);
        assert_eq!(found["choice"]["threshold"], "measured");
        let both = format!("{line} --require fpr:malignant<=0.05");
        insta::assert_snapshot!("threshold_infeasible", place.line(&both).text(1));
        let found = place.line(&format!("{both} --json")).document(1);
        assert_eq!(found["best"]["outcome"], "infeasible");
        assert!(
            found["best"]["requirements"].as_array().unwrap().iter().all(|reach| reach["enough"] == true)
        );
        let one =
            place.line("threshold triage.csv --metric accuracy --require accuracy>=0.99 --json").document(1);
        assert_eq!(one["tuned"]["outcome"], "infeasible");
        assert!(number(&one["tuned"]["requirements"][0]["best"]) < 1.0);
    }

    /// Tables with ties, weights and groups; every threshold is tried row by row.
    #[test]
    fn no_threshold_of_random_tables_is_better() {
        let place = tables("threshold_referee");
        for seed in 1..=6_u64 {
            let mut state = seed;
            let mut next = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % below
            };
            let mut rows = vec![(20, false, 1.0), (30, true, 1.0)];
            for _ in 0..60 {
                let score = next(41);
                rows.push((score, next(40) < score, next(5) as f64 * 0.25));
            }
            let mut table = "y,score,weight\n".to_owned();
            for (score, yes, weight) in &rows {
                table += &format!("{},{},{weight}\n", u8::from(*yes), *score as f64 / 40.0);
            }
            place.write("random.csv", &table);
            let total: f64 = rows.iter().map(|row| row.2).sum();
            // (false alarms, misses, hits) of a threshold.
            let counts = |threshold: f64| {
                rows.iter().fold([0.0; 3], |[fp, miss, hit], &(score, yes, weight)| {
                    let w = weight / total;
                    match (yes, score as f64 / 40.0 >= threshold) {
                        (false, true) => [fp + w, miss, hit],
                        (true, false) => [fp, miss + w, hit],
                        (true, true) => [fp, miss, hit + w],
                        _ => [fp, miss, hit],
                    }
                })
            };
            for metric in ["f1", "accuracy"] {
                let value = |[fp, miss, hit]: [f64; 3]| match metric {
                    "f1" => 2.0 * hit / (2.0 * hit + fp + miss),
                    _ => 1.0 - fp - miss,
                };
                let line = format!(
                    "threshold random.csv --weight weight --metric {metric} --no-svg --json --draws 10"
                );
                let best = &place.line(&line).document(0)["best"];
                let found = number(&best["value"]);
                assert!((value(counts(number(&best["cut"]["threshold"]))) - found).abs() < 1e-12);
                for n in 0..=41 {
                    let other = value(counts(f64::from(n) / 40.0 - 1e-9));
                    assert!(!other.is_finite() || found >= other - 1e-12, "{seed} {metric}: {found} {other}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_done_is_said_in_a_sentence() {
        let place = tables("threshold_wrong");
        place.write("other.json", &METRIC.replace("benign", "no").replace("malignant", "yes"));
        place.write("plain.csv", "y,p_no,p_yes\nno,0.7,0.3\nyes,0.4,0.6\n");
        let cases = [
            (
                "screening.csv --metric other.json",
                "the metric is about the classes no, yes, but the data have benign, malignant",
            ),
            (
                "screening.csv --metric 7:1 --require recall:malign>=0.9",
                "requirement \"recall:malign>=0.9\": class is \"malign\", expected one of benign, malignant",
            ),
            (
                "screening.csv --metric 7:1 --require recall:malignant",
                "requirement \"recall:malignant\": there is no >= or <=, expected something like recall:malignant>=0.9",
            ),
            (
                "triage.csv --metric f1",
                "f1 is for 2 classes, but the data have 3; macro_f, balanced_accuracy, mcc and cost matrices are for any number",
            ),
            (
                "triage.csv --metric g_mean",
                "g_mean has no reward matrix for 3 classes; `equipoise optimize` maximises it, and `score --threshold best` \
                 searches a rule",
            ),
            ("triage.csv --metric accuracy --per-group", "--per-group needs 2 classes, but the table has 3"),
            (
                "plain.csv --metric accuracy --per-group",
                "--per-group needs at least 2 groups; --group names their column",
            ),
            (
                "plain.csv --metric equalised_odds",
                "equalised_odds compares groups, but the data have none; --group names their column",
            ),
        ];
        for (line, sentence) in cases {
            place.line(&format!("threshold {line} --quiet")).fails(2, sentence);
        }
        let unknown = place.line("threshold screening.csv --metric f1score --quiet");
        assert_eq!(unknown.code, Some(2));
        assert!(
            unknown.err.starts_with("error: \"f1score\" is no metric file and no known name"),
            "{}",
            unknown.err
        );
        place
            .line("threshold screening.csv --metric gone.json --quiet")
            .fails(3, "cannot read gone.json: no such file or directory");
        for line in ["--metric", "", "--metric f1 --level 1", "--metric f1 --draws 3"] {
            assert_eq!(
                place.line(format!("threshold screening.csv {line}").trim_end()).code,
                Some(2),
                "{line}"
            );
        }
    }
}
