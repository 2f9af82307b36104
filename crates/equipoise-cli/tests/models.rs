//! `equipoise score` and `equipoise rank` against counting by hand.

mod place;

use place::{Numbers, Place, refused, said, two_classes};
use serde_json::Value;

/// A ranking is a finding when it is not separable, so both codes are fine.
fn ranking(place: &Place, arguments: &[&str]) -> Value {
    let run = place.run(&[&["rank", "--json"], arguments].concat());
    assert!(run.code == Some(0) || run.code == Some(1), "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(document["separable"], run.code == Some(0));
    document
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// A random table: probabilities, decisions and weights, and its text.
struct Rows {
    classes: usize,
    truth: Vec<usize>,
    probabilities: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl Rows {
    fn random(classes: usize, count: usize, weighted: bool, labels: u64, seed: u64) -> Self {
        let (mut random, mut label) = (Numbers::new(seed), Numbers::new(labels));
        let mut rows = Self { classes, truth: vec![], probabilities: vec![], weights: vec![] };
        for row in 0..count {
            // Every class has rows.
            let any = (label.next() * classes as f64) as usize;
            rows.truth.push(if row < classes { row } else { any });
            rows.weights.push(if weighted { (label.next() * 40.0).round() / 8.0 + 0.125 } else { 1.0 });
            // Multiples of 1/64 are exact, and ties and thresholds are met.
            let mut left = 64.0;
            let mut parts: Vec<f64> = (1..classes)
                .map(|_| {
                    let part = (random.next() * left).floor();
                    left -= part;
                    part / 64.0
                })
                .collect();
            parts.push(left / 64.0);
            rows.probabilities.push(parts);
        }
        rows
    }

    fn text(&self) -> String {
        let names: Vec<String> = (0..self.classes).map(|class| format!("p_c{class}")).collect();
        let mut text = format!("y,weight,{}\n", names.join(","));
        for row in 0..self.truth.len() {
            let parts: Vec<String> = self.probabilities[row].iter().map(f64::to_string).collect();
            text += &format!("c{},{},{}\n", self.truth[row], self.weights[row], parts.join(","));
        }
        text
    }

    /// P(Y = i, h = j), one row at a time.
    fn confusion(&self, threshold: Option<f64>) -> Vec<Vec<f64>> {
        let mut counts = vec![vec![0.0; self.classes]; self.classes];
        for (row, parts) in self.probabilities.iter().enumerate() {
            let most = (0..self.classes)
                .fold(0, |best, class| if parts[class] > parts[best] { class } else { best });
            let decision = threshold.map_or(most, |threshold| usize::from(parts[1] >= threshold));
            counts[self.truth[row]][decision] += self.weights[row];
        }
        let total: f64 = self.weights.iter().sum();
        counts.iter().map(|row| row.iter().map(|count| count / total).collect()).collect()
    }
}

fn value_by_hand(metric: &str, c: &[Vec<f64>]) -> f64 {
    let k = c.len();
    let recall = |i: usize| c[i][i] / c[i].iter().sum::<f64>();
    match metric {
        "accuracy" => (0..k).map(|i| c[i][i]).sum(),
        "balanced_accuracy" => (0..k).map(recall).sum::<f64>() / k as f64,
        "q_mean" => (0..k).map(|i| (1.0 - recall(i)).powi(2)).sum::<f64>() / k as f64,
        "f2" => 5.0 * c[1][1] / (5.0 * c[1][1] + 4.0 * c[1][0] + c[0][1]),
        _ => 7.0 * c[1][1] + c[0][0],
    }
}

#[test]
fn a_metric_in_a_file_with_a_semicolon_in_its_name_is_that_file() {
    let place = Place::new("models_semicolon");
    place.write("val.csv", "y,p\n0,0.2\n1,0.7\n0,0.4\n1,0.9\n0,0.1\n1,0.8\n");
    let metric =
        r#"{"format":1,"kind":"linear","measure":"off_diagonal_rates","sense":"cost","weights":[1,6]}"#;
    place.write("a;b.json", metric);
    let run = place.run(&["score", "val.csv", "--metric", "a;b.json", "--quiet"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn values_and_orders_are_those_of_counting_by_hand() {
    let place = Place::new("models_by_hand");
    for case in 0..24_u64 {
        let classes = 2 + (case % 3) as usize;
        let rows =
            |seed| Rows::random(classes, 15 + 2 * case as usize, case % 2 == 1, case, 100 * case + seed);
        let tables = [rows(1), rows(2), rows(3)];
        let names = ["a.csv", "b.csv", "c.csv"];
        names.iter().zip(&tables).for_each(|(name, table)| place.write(name, &table.text()));
        let threshold = (classes == 2 && case % 4 == 0).then_some(0.25);
        let metrics = ["accuracy", "balanced_accuracy", "q_mean", "f2", "7:1"];
        for metric in &metrics[..if classes == 2 { 5 } else { 3 }] {
            let by_hand = tables.each_ref().map(|table| value_by_hand(metric, &table.confusion(threshold)));
            let mut arguments =
                vec!["a.csv", "b.csv", "c.csv", "--weight", "weight", "--metric", metric, "--draws", "30"];
            arguments.extend(["--threshold", if threshold.is_some() { "0.25" } else { "most-likely" }]);
            let document = ranking(&place, &arguments);
            let standings = document["ranking"]["standings"].as_array().expect("a list");
            let sum = |field: &str| standings.iter().map(|standing| number(&standing[field])).sum::<f64>();
            for standing in standings {
                let index = standing["index"].as_u64().unwrap() as usize;
                let value = number(&standing["score"]["value"]);
                assert!(
                    (value - by_hand[index]).abs() < 1e-12,
                    "{case} {metric}: {value} {}",
                    by_hand[index]
                );
                assert_eq!(standing["name"], ["a", "b", "c"][index]);
                let interval = &standing["score"]["interval"];
                assert!(number(&interval["low"]) <= number(&interval["high"]));
            }
            assert!(
                (sum("probability_best") - 1.0).abs() < 1e-12 && (sum("expected_rank") - 6.0).abs() < 1e-9
            );
            let sign = if *metric == "q_mean" { -1.0 } else { 1.0 };
            let expected: Vec<f64> =
                standings.iter().map(|s| sign * number(&s["score"]["expected"])).collect();
            assert!(expected.is_sorted_by(|a, b| a >= b), "{expected:?}");
            let alone = [&["score", "--json"], &arguments[..1], &arguments[3..]].concat();
            let score = place.run(&alone).json();
            assert!((number(&score["models"][0]["value"]) - by_hand[0]).abs() < 1e-12);
        }
    }
}

#[test]
fn confusion_matrices_and_their_tables_have_the_same_value() {
    let place = Place::new("models_records");
    let rows = Rows::random(3, 90, false, 5, 6);
    place.write("table.csv", &rows.text());
    let matrix = rows.confusion(None);
    let mut records = "model,truth,estimate,count\n".to_owned();
    for (i, row) in matrix.iter().enumerate() {
        for (j, share) in row.iter().enumerate() {
            records +=
                &format!("table,c{i},c{j},{}\nreverse,c{i},c{},{}\n", share * 90.0, 2 - j, share * 90.0);
        }
    }
    place.write("pool.csv", &records);
    let score = |file: &str| place.run(&["score", file, "--json", "--metric", "accuracy"]).json();
    let (table, pool) = (score("table.csv"), score("pool.csv"));
    assert!((number(&table["models"][0]["value"]) - number(&pool["models"][0]["value"])).abs() < 1e-12);
    assert_eq!(pool["models"][1]["name"], "reverse");
    let order = ranking(&place, &["pool.csv", "--metric", "accuracy"]);
    assert_eq!(order["ranking"]["standings"].as_array().unwrap().len(), 2);
}

fn three_models(name: &str) -> Place {
    let place = Place::new(name);
    place.write("forest.csv", &two_classes(600, 0.0));
    place.write("tree.csv", &two_classes(600, 0.6));
    place.write("twin.csv", &two_classes(600, 0.001));
    place.write(
        "metric.json",
        r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","classes":["benign","malignant"],
            "weights":[1,6.1],"interval":{"low":4.8,"high":7.9,"level":0.95}}"#,
    );
    place
}

#[test]
fn rankings_and_scores_read_well() {
    let place = three_models("models_text");
    let all = ["forest.csv", "tree.csv", "twin.csv"];
    let run = [&["rank"], &all[..], &["--metric", "metric.json", "--against", "f1"]].concat();
    let unsettled = said(place.run(&run), 1);
    insta::assert_snapshot!("rank", unsettled);
    assert!(unsettled.contains("Not separable at 95 %: "), "{unsettled}");
    let run = ["rank", "forest.csv", "tree.csv", "--metric", "metric.json", "--quiet", "--svg", "order.svg"];
    let settled = said(place.run(&run), 0);
    assert!(settled.ends_with("forest is best with probability 1.00.\n"), "{settled}");
    let picture = place.read("order.svg");
    assert!(picture.contains("forest") && picture.contains("95 % interval"), "{picture}");
    let run = ["score", "forest.csv", "--metric", "metric.json", "--threshold", "0.14"];
    insta::assert_snapshot!("score", said(place.run(&run), 0));
}

#[test]
fn intervals_allow_for_the_sample_and_for_the_metric() {
    let place = three_models("models_intervals");
    let score = |metric: &str| place.run(&["score", "forest.csv", "--json", "--metric", metric]).json();
    let document = score("metric.json");
    let score_of = &document["models"][0];
    let width = |part: &str| number(&score_of[part]["high"]) - number(&score_of[part]["low"]);
    assert!(width("interval") > width("sampling") && width("sampling") > 0.0 && width("metric") > 0.0);
    let certain = score("6.1:1");
    assert!(certain["models"][0]["metric"].is_null());
    assert_eq!(certain["metric_draws"], 0);
    // The same seed gives the same draws, another seed others.
    let seeded = |seed: &str| {
        place.run(&["score", "forest.csv", "--json", "--metric", "accuracy", "--seed", seed]).json()["models"]
            .clone()
    };
    assert_eq!(seeded("1"), seeded("1"));
    assert_ne!(seeded("1"), seeded("2"));
}

#[test]
fn a_ranking_is_judged_by_another() {
    let place = three_models("models_against");
    let all = ["forest.csv", "tree.csv", "twin.csv", "--metric", "accuracy", "--threshold", "most-likely"];
    let order = ranking(&place, &all);
    place.write("order.json", &order.to_string());
    let names: Vec<&str> = order["ranking"]["standings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|standing| standing["name"].as_str().unwrap())
        .collect();
    place.write("same.txt", &names.join("\n"));
    let reversed: Vec<&str> = names.iter().rev().copied().collect();
    place.write("reverse.txt", &reversed.join("\n"));
    let against =
        |reference: &str| ranking(&place, &[&all[..], &["--against", reference]].concat())["against"].clone();
    for same in ["order.json", "same.txt"] {
        assert_eq!(
            (number(&against(same)["kendall_tau"]), number(&against(same)["ndcg"])),
            (1.0, 1.0),
            "{same}"
        );
    }
    assert_eq!(number(&against("reverse.txt")["kendall_tau"]), -1.0);
    // Grades 4, 2, 0 of the worst, the middle and the best: gains 15, 3, 0 in places 3, 2, 1.
    let discount = |place: f64| 1.0 / (place + 1.0).log2();
    let expected = (3.0 * discount(2.0) + 15.0 * discount(3.0)) / (15.0 + 3.0 * discount(2.0));
    assert!((number(&against("reverse.txt")["ndcg"]) - expected).abs() < 1e-12);
    assert!(number(&against("balanced_accuracy")["kendall_tau"]) <= 1.0);

    let wrong = |text: &str, sentence: &str| {
        place.write("wrong.txt", text);
        refused(place.run(&[&["rank"], &all[..], &["--against", "wrong.txt"]].concat()), 2, sentence);
    };
    wrong("forest\ntree\n", "wrong.txt does not list the model twin");
    wrong("forest\ntree\nforest\ntwin\n", "wrong.txt lists the model forest twice");
    wrong("forest\noak\n", "wrong.txt lists the model oak, which is not among those to rank");
}

#[test]
fn models_that_cannot_be_compared_are_refused() {
    let place = three_models("models_wrong");
    place.write("other.csv", "y,score\nno,0.1\nyes,0.9\nno,0.4\n");
    let rank = |models: &[&str], more: &[&str]| place.run(&[&["rank"], models, more].concat());
    refused(
        rank(&["forest.csv", "other.csv"], &["--metric", "accuracy"]),
        2,
        "model other has the classes no, yes, but model forest has benign, malignant",
    );
    place.write("pool.csv", "model,truth,estimate,count\na,x,x,5\na,x,y,2\na,y,y,4\na,y,x,1\n");
    refused(
        rank(&["pool.csv"], &["--metric", "accuracy", "--threshold", "0.5"]),
        2,
        "--threshold is for predictions, but pool.csv has confusion matrices",
    );
    place.write("three.csv", &Rows::random(3, 20, false, 1, 1).text());
    refused(
        rank(&["three.csv"], &["--metric", "accuracy", "--threshold", "0.5"]),
        2,
        "--threshold with a number is for 2 classes, but there are 3",
    );
    refused(
        rank(&["other.csv"], &["--metric", "metric.json"]),
        2,
        "the metric is about the classes benign, malignant, but the data have no, yes",
    );
    refused(
        rank(&["three.csv"], &["--metric", "f1"]),
        2,
        "f1 is for 2 classes, but the data have 3; macro_f, balanced_accuracy, mcc and cost matrices are for any number",
    );
    place.write("short.csv", "model,truth,estimate,cuont\na,x,x,5\n");
    let run = rank(&["short.csv"], &["--metric", "accuracy"]);
    assert_eq!(run.code, Some(3));
    assert!(run.err.contains("no column \"count\""), "{}", run.err);
    assert_eq!(rank(&["missing.csv"], &["--metric", "f1"]).code, Some(3));
    assert_eq!(rank(&["forest.csv"], &["--metric", "missing.json"]).code, Some(3));
    assert_eq!(rank(&["forest.csv"], &["--metric", "niceness"]).code, Some(2));
    for arguments in [
        &["rank", "--metric", "f1"][..],
        &["rank", "forest.csv"],
        &["score", "forest.csv", "--metric", "f1", "--level", "1"],
        &["score", "forest.csv", "--metric", "f1", "--threshold", "2"],
        &["score", "forest.csv", "--metric", "f1", "--draws", "0"],
        &["score", "forest.csv", "tree.csv", "--metric", "f1"],
    ] {
        assert_eq!(place.run(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn resamples_that_lose_a_class_are_left_out_and_counted() {
    let place = Place::new("models_tiny");
    place.write("tiny.csv", "y,score\nno,0.1\nno,0.2\nyes,0.9\nno,0.4\n");
    let score = place.run(&["score", "tiny.csv", "--json", "--metric", "balanced_accuracy"]).json();
    let kept = score["resamples"].as_u64().unwrap();
    // The one "yes" is drawn with probability 1 - 1/e.
    assert!((550..700).contains(&kept), "{kept}");
    let said = score["notes"].to_string();
    assert!(
        said.contains(&format!("{} of 1000 resamples lost a class and were left out", 1000 - kept)),
        "{said}"
    );
}

#[test]
fn files_of_the_same_name_are_told_apart() {
    let place = three_models("models_names");
    std::fs::create_dir_all(place.0.join("old")).expect("a directory");
    place.write("old/forest.csv", &two_classes(600, 0.3));
    let order = ranking(&place, &["forest.csv", "old/forest.csv", "--metric", "accuracy"]);
    let mut names: Vec<String> = order["ranking"]["standings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|standing| standing["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["forest.csv", "old/forest.csv"]);
}

#[test]
fn help_explains_the_commands() {
    let place = Place::new("models_help");
    insta::assert_snapshot!("help_score", place.run(&["score", "--help"]).ok());
    insta::assert_snapshot!("help_rank", place.run(&["rank", "--help"]).ok());
}

#[test]
fn a_metric_is_written_as_a_python_file() {
    let place = Place::new("scorer");
    let text = r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,6],
                   "interval":{"low":4,"high":9,"level":0.95}}"#;
    place.write("metric.json", text);
    let said = place.run(&["scorer", "metric.json", "--output", "scorer.py", "--draws", "40"]).ok();
    assert_eq!(said, "scorer.py knows the metric with 40 draws of it.\n");
    let file = place.read("scorer.py");
    assert!(file.contains("\"weights\": [1.0, 6.0]") && file.matches("    {\"weights\":").count() == 40);
    // Lines of Python may be long.
    assert_eq!(place.run(&["scorer", "metric.json", "--draws", "40"]).out, file);
    place.write(
        "certain.json",
        r#"{"format":1,"kind":"g_mean","measure":"diagonal_rates","sense":"utility","classes":3}"#,
    );
    let said = place.run(&["scorer", "certain.json", "--output", "scorer.py"]).ok();
    assert!(said.starts_with("scorer.py takes the metric as certain"), "{said}");
    place.write("wrong.json", r#"{"format":1,"kind":"linear"}"#);
    let expected =
        "expected one of binary, diagonal, off_diagonal, diagonal_rates, off_diagonal_rates, group_rates";
    refused(place.run(&["scorer", "wrong.json"]), 2, &format!("wrong.json: measure is missing, {expected}"));
    refused(place.run(&["scorer", "nowhere.json"]), 3, "cannot read nowhere.json: no such file or directory");
}
