//! What people try first, through the real binary: ordinary files, several models, other forms, settings.

mod place;

use place::{Numbers, Place, two_classes};
use serde_json::Value;
use std::process::{Command, Stdio};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Two models of the same rows: one says the probability, the other a third of it.
fn two_models(place: &Place, name: &str, rows: usize) {
    let mut random = Numbers::new(11);
    let mut text = "id,y,good,shy,sex\n".to_owned();
    for row in 0..rows {
        let p = random.next();
        let truth = if random.next() < p { "ill" } else { "healthy" };
        let sex = if row % 3 == 0 { "F" } else { "M" };
        text += &format!("case {row},{truth},{p:.4},{:.4},{sex}\n", p / 3.0);
    }
    place.write(name, &text);
}

mod classes {
    use super::*;

    #[test]
    fn a_reversed_positive_class_comes_with_the_option_that_mends_it() {
        let place = Place::new("everyday_reversed");
        let turned: String = two_classes(400, 0.0)
            .lines()
            .map(|line| match line.split_once(',') {
                Some((truth, score)) => match score.parse::<f64>() {
                    Ok(score) => format!("{truth},{:.4}\n", 1.0 - score),
                    Err(_) => format!("{line}\n"),
                },
                None => String::new(),
            })
            .collect();
        place.write("turned.csv", &turned);
        let option = "name benign as the positive class (--positive benign)";
        let inspected = place.line("inspect turned.csv --json --no-svg").document(1);
        let warnings = inspected["warnings"].to_string();
        assert!(warnings.contains(option), "{warnings}");
        for line in [
            "threshold turned.csv --metric 7:1 --no-svg --draws 20",
            "score turned.csv --metric 7:1 --draws 20",
            "elicit turned.csv --oracle 7:1 --out metric.json",
        ] {
            let run = place.line(line);
            assert!(run.err.contains(option), "{line}: {}", run.err);
        }
        let mended = place.line("threshold turned.csv --metric 7:1 --no-svg --draws 20 --positive benign");
        assert!(!mended.err.contains("--positive"), "{}", mended.err);
    }

    #[test]
    fn tables_say_which_way_is_better() {
        let place = Place::new("everyday_better");
        place.write("val.csv", &two_classes(400, 0.1));
        for (metric, better) in [("f1", "larger is better"), ("error_rate", "smaller is better")] {
            for command in ["threshold --no-svg", "score", "rank"] {
                let line = format!("{command} val.csv --metric {metric} --draws 20");
                let out = place.line(&line).out;
                let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
                let said = better.split(' ').all(|word| flat.contains(word));
                assert!(
                    said && flat.matches(better.split(' ').next().unwrap()).count() >= 1,
                    "{line}: {out}"
                );
            }
        }
        let help = place.line("score --help").out;
        assert!(help.contains("of a benefit") && help.contains("of a cost"), "{help}");
    }

    #[test]
    fn labels_have_no_nearest_metric() {
        let place = Place::new("everyday_labels");
        let mut random = Numbers::new(3);
        let rows: String = (0..300)
            .map(|_| {
                let (y, wrong) = (random.next() < 0.4, random.next() < 0.2);
                format!("{},{}\n", u8::from(y), u8::from(y != wrong))
            })
            .collect();
        place.write("hard.csv", &format!("y,score\n{rows}"));
        let out = place.line("score hard.csv --metric f2 --draws 20").text(0);
        assert!(!out.contains("orders classifiers"), "{out}");
        // Nor when they are asked about: three classifiers are ordered the same way by nearly every metric.
        let out = place.line("elicit hard.csv --oracle 6:1 --out metric.json").text(0);
        assert!(!out.contains("orders classifiers"), "{out}");
    }

    #[test]
    fn the_metric_of_one_table_is_not_replaced_by_that_of_another() {
        let place = Place::new("everyday_replaced");
        for name in ["a.csv", "b.csv"] {
            place.write(name, &two_classes(300, 0.1));
        }
        place.line("elicit a.csv --oracle 6:1").text(0);
        let before = place.read("metric.json");
        let out = place.line("elicit b.csv --oracle 3:1").text(0);
        assert!(out.contains("b.metric.json") && place.has("b.metric.json"), "{out}");
        assert_eq!(place.read("metric.json"), before);
        let said = "metric.json is there already and was elicited with a.csv, not with b.csv; --out FILE names another";
        let run = place.line("elicit b.csv --oracle 3:1 --save again.json --out metric.json");
        assert!(run.code == Some(2) && run.err.contains(said), "{}", run.err);
        // With the same table it is elicited anew.
        place.line("elicit a.csv --oracle 3:1 --save anew.json").text(0);
    }

    #[test]
    fn a_negative_ratio_has_its_sentence_however_it_is_written() {
        let place = Place::new("everyday_negative");
        place.write("val.csv", &two_classes(100, 0.1));
        for command in [
            "score val.csv",
            "rank val.csv",
            "threshold val.csv",
            "optimize --train val.csv --validation val.csv --truth y --scores score",
        ] {
            for metric in ["--metric -7:1", "--metric=-7:1"] {
                let run = place.line(&format!("{command} {metric}"));
                assert_eq!(run.code, Some(2), "{command} {metric}: {}", run.err);
                assert!(
                    run.err.contains("-7, expected a number greater than 0"),
                    "{command} {metric}: {}",
                    run.err
                );
            }
        }
    }
}

mod models {
    use super::*;

    /// The value of a model by hand: class 1 from a threshold on.
    fn by_hand(text: &str, column: usize, at: f64, value: impl Fn([[f64; 2]; 2]) -> f64) -> f64 {
        let (mut counts, mut rows) = ([[0.0; 2]; 2], 0.0);
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let score: f64 = cells[column].parse().unwrap();
            counts[usize::from(cells[1] == "ill")][usize::from(score >= at)] += 1.0;
            rows += 1.0;
        }
        value(counts.map(|row| row.map(|count| count / rows)))
    }

    #[test]
    fn each_model_is_used_at_the_metrics_own_threshold() {
        let place = Place::new("everyday_thresholds");
        two_models(&place, "val.csv", 900);
        let text = place.read("val.csv");
        let cost = |c: [[f64; 2]; 2]| 4.0 * c[1][1] + c[0][0];
        let rank = |more: &str| {
            let line =
                format!("rank val.csv --models good,shy --positive ill --metric 4:1 --draws 30 --json{more}");
            let run = place.line(&line);
            assert!(run.code == Some(0) || run.code == Some(1), "{}", run.err);
            serde_json::from_str::<Value>(&run.out).unwrap()
        };
        let value = |document: &Value, name: &str| {
            let standings = document["ranking"]["standings"].as_array().unwrap();
            number(&standings.iter().find(|model| model["name"] == name).unwrap()["score"]["value"])
        };
        let bayes = rank("");
        for (name, column) in [("good", 2), ("shy", 3)] {
            assert!((value(&bayes, name) - by_hand(&text, column, 0.2, cost)).abs() < 1e-12, "{name}");
        }
        assert_eq!(
            (&bayes["decided"][0]["rule"], number(&bayes["decided"][0]["threshold"])),
            (&"bayes".into(), 0.2)
        );
        let half = rank(" --threshold 0.5");
        assert!((value(&half, "good") - by_hand(&text, 2, 0.5, cost)).abs() < 1e-12);
        assert_eq!(value(&half, "shy"), by_hand(&text, 3, 0.5, cost));
        // A monotone transform of the same scores is as good at its own best threshold, but for rounding to four digits.
        let best = rank(" --threshold best");
        assert!((value(&best, "good") - value(&best, "shy")).abs() < 0.01);
        assert!(value(&best, "good") >= value(&bayes, "good"));
        assert!(best["notes"].to_string().contains("which flatters it"));
        // F1 has no Bayes threshold of its own; it has one for probabilities that are right.
        let score = place
            .line("score val.csv --models good --positive ill --metric f1 --draws 30 --json")
            .document(0);
        let at = number(&score["models"][0]["threshold"]);
        let f1 = |c: [[f64; 2]; 2]| 2.0 * c[1][1] / (2.0 * c[1][1] + c[1][0] + c[0][1]);
        assert!((0.25..0.42).contains(&at), "{at}");
        assert!((number(&score["models"][0]["value"]) - by_hand(&text, 2, at, f1)).abs() < 1e-12);
    }

    #[test]
    fn models_are_columns_of_one_file() {
        let place = Place::new("everyday_columns");
        place.write("three.csv", "y,rf_high,rf_low,rf_mid,lr_low,lr_mid,lr_high\nlow,.1,.7,.2,.2,.7,.1\nhigh,.8,.1,.1,.1,.1,.8\nmid,.2,.3,.5,.3,.5,.2\n");
        let document = place.line("rank three.csv --models rf,lr --metric accuracy --draws 10 --json");
        let document: Value = serde_json::from_str(&document.out).unwrap();
        let value = |n: usize| number(&document["ranking"]["standings"][n]["score"]["value"]);
        assert_eq!(document["ranking"]["standings"][0]["name"], "rf");
        assert!((value(0) - 1.0).abs() < 1e-12 && (value(1) - 2.0 / 3.0).abs() < 1e-12);
        let run = place.line("rank three.csv --models rf,xg --metric accuracy");
        assert!(run.err.contains("no column is called xg or begins with xg_"), "{}", run.err);
        assert_eq!(run.code, Some(2));
    }

    #[test]
    fn score_has_the_matrix_the_thousand_and_the_groups() {
        let place = Place::new("everyday_details");
        two_models(&place, "val.csv", 600);
        let line = "score val.csv --scores good --positive ill --group sex --metric 4:1 --draws 40";
        let document = place.line(&format!("{line} --json")).document(0);
        let model = &document["models"][0];
        let count = |i: usize, j: usize| number(&model["confusion"][i][j]);
        assert_eq!(count(0, 0) + count(0, 1) + count(1, 0) + count(1, 1), 600.0);
        // Counts of rows are whole, however many there are: shares of them are not, to the last digit.
        for rows in [997, 1_201, 1_999] {
            two_models(&place, "odd.csv", rows);
            let line = line.replace("val.csv", "odd.csv");
            let odd = place.line(&format!("{line} --json")).document(0);
            let cells = (0..4).map(|n| number(&odd["models"][0]["confusion"][n / 2][n % 2]));
            assert!(cells.clone().all(|cell| cell.fract() == 0.0), "{:?}", cells.collect::<Vec<_>>());
        }
        let value = (4.0 * count(1, 1) + count(0, 0)) / 600.0;
        assert!((number(&model["value"]) - value).abs() < 1e-12);
        let thousand = &model["per_1000"];
        let cost = 1000.0 * (4.0 * count(1, 0) + count(0, 1)) / 600.0;
        assert!((number(&thousand["cost"]["count"]) - cost).abs() < 1e-9);
        let interval = &thousand["cost"]["interval"];
        assert!(number(&interval["low"]) <= cost && cost <= number(&interval["high"]), "{thousand}");
        let groups = model["groups"].as_array().unwrap();
        assert_eq!(groups.len(), 2);
        let all: f64 = groups.iter().map(|group| number(&group["share"]) * number(&group["value"])).sum();
        assert!((all - value).abs() < 1e-9, "a utility of all is that of the groups by their shares");
        let out = place.line(line).text(0);
        for part in ["in 1,000 cases", "ill missed", "predicted ill", "group", "F", "M"] {
            assert!(out.contains(part), "{part}: {out}");
        }
    }

    /// 7 of 50 rows are a share of .14, which times 50 is 7.000000000000001: it was printed as 7.0 beside 43.
    #[test]
    fn rows_are_counted_in_whole_numbers() {
        let place = Place::new("everyday_whole");
        let line = |n: usize| if n < 7 { "1,0.9\n" } else { "0,0.2\n" };
        place.write("fifty.csv", &format!("y,p\n{}", (0..50).map(line).collect::<String>()));
        let out = place.line("score fifty.csv --metric accuracy --draws 20").text(0);
        let cells: Vec<&str> = out.lines().filter_map(|line| line.trim().strip_prefix("1 ")).collect();
        assert_eq!(cells[0].split_whitespace().collect::<Vec<_>>(), ["0", "7"], "{out}");
    }

    #[test]
    fn cost_matrices_and_new_names_are_metrics() {
        let place = Place::new("everyday_costs");
        two_models(&place, "val.csv", 300);
        place.write("costs.csv", "truth,ill,healthy\nill,0,4\nhealthy,1,0\n");
        let value = |metric: &str| {
            let line = [
                "score",
                "val.csv",
                "--scores",
                "good",
                "--positive",
                "ill",
                "--json",
                "--draws",
                "10",
                "--threshold",
                "0.2",
                "--metric",
                metric,
            ];
            number(&place.run(&line).document(0)["models"][0]["value"])
        };
        assert!((value("costs.csv") - value("0 1; 4 0")).abs() < 1e-15);
        assert!((value("error_rate") + value("accuracy") - 1.0).abs() < 1e-12);
        assert!((value("balanced_error") + value("balanced_accuracy") - 1.0).abs() < 1e-12);
        assert!(value("kappa") > 0.0 && value("mcc") >= value("kappa") - 1e-9);
        let listed = place.line("metrics --json").document(0);
        for entry in listed.as_array().unwrap().iter().filter(|entry| entry["needs_groups"] == false) {
            value(entry["name"].as_str().unwrap());
        }
        let run = place.line("score val.csv --scores good --metric acuracy");
        assert!(run.err.contains("did you mean accuracy?"), "{}", run.err);
        let run = place.line("score val.csv --scores good --metric equalised_odds");
        assert!(run.err.contains("--group names their column"), "{}", run.err);
    }
}

mod files {
    use super::*;

    #[test]
    fn the_option_that_helps_is_named() {
        let place = Place::new("everyday_options");
        for (name, text, option) in [
            ("truth.csv", "outcome_at_30_days,p\n1,.5\n0,.4\n", "--truth names it"),
            ("scores.csv", "y,age\n1,50\n0,40\n", "--scores names them"),
            ("two.csv", "y,score,prob\n1,.5,.4\n0,.4,.3\n", "--scores names the right ones"),
            ("percent.csv", "y,p\n1,80\n0,30\n", "--scores-are percent reads them"),
            ("logit.csv", "y,score\n1,2.5\n0,-1.5\n", "--scores-are logit reads them"),
            ("gaps.csv", "y,p\n1,.8\n0,\n0,.2\n", "--drop-missing leaves such rows out"),
        ] {
            place.write(name, text);
            let run = place.run(&["inspect", name, "--no-svg"]);
            assert!(
                run.code == Some(3) && run.err.lines().last().unwrap_or_default().contains(option),
                "{name}: {}",
                run.err
            );
        }
        for line in [
            "inspect percent.csv --scores-are percent",
            "inspect logit.csv --scores-are logit",
            "inspect gaps.csv --drop-missing",
        ] {
            let run = place.line(&format!("{line} --no-svg --json"));
            assert!(run.code == Some(0) || run.code == Some(1), "{line}: {}", run.err);
        }
        let run = place.line("inspect gaps.csv --drop-missing --no-svg");
        assert!(run.err.contains("1 of 3 rows without a value left out"), "{}", run.err);
    }

    #[test]
    fn pipes_are_read_once() {
        let place = Place::new("everyday_pipes");
        let table = two_classes(300, 0.1);
        place.write("val.csv", &table);
        let whole =
            place.run(&["score", "val.csv", "--metric", "7:1", "--draws", "20", "--json"]).document(0);
        let piped =
            place.run_with(&["score", "-", "--metric", "7:1", "--draws", "20", "--json"], &table).document(0);
        assert_eq!(whole["models"][0]["value"], piped["models"][0]["value"]);
        let threshold = place
            .run_with(&["threshold", "-", "--metric", "7:1", "--no-svg", "--json", "--draws", "20"], &table);
        assert_eq!(threshold.code, Some(0), "{}", threshold.err);
        let shell =
            format!("cat val.csv | {} inspect /dev/stdin --no-svg --json", env!("CARGO_BIN_EXE_equipoise"));
        if cfg!(unix) {
            let run = Command::new("sh")
                .args(["-c", &shell])
                .current_dir(&place.0)
                .stderr(Stdio::null())
                .output()
                .unwrap();
            let document: Value = serde_json::from_slice(&run.stdout).expect("JSON");
            assert_eq!(document["rows"], 300);
        }
        let wrong = place.run_with(&["inspect", "-", "--no-svg"], "y,p\n1,2\n0,.5\n");
        assert!(wrong.err.contains("standard input, row 1 (line 2)"), "{}", wrong.err);
    }

    #[test]
    fn a_folder_is_a_table_or_a_model_per_file() {
        let place = Place::new("everyday_folder");
        std::fs::create_dir_all(place.0.join("parts")).unwrap();
        place.write("parts/a.csv", &two_classes(200, 0.0));
        place.write("parts/b.csv", &two_classes(200, 0.3));
        let document = place.line("inspect parts --no-svg --json");
        let document: Value = serde_json::from_str(&document.out).unwrap();
        assert_eq!(document["rows"], 400);
        let ranked = place.run(&["rank", "parts/*.csv", "--metric", "7:1", "--draws", "20", "--json"]);
        let ranked: Value = serde_json::from_str(&ranked.out).unwrap();
        assert_eq!(ranked["ranking"]["standings"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn apply_keeps_ids() {
        let place = Place::new("everyday_ids");
        two_models(&place, "val.csv", 300);
        let line = "optimize --train val.csv --validation val.csv --truth y --scores good --positive ill --metric 4:1 --json";
        place.line(line).document(0);
        let run = place.line("apply val.csv");
        assert_eq!(run.err, "kept column: id (guessed)\n");
        let lines: Vec<&str> = run.out.lines().collect();
        assert_eq!((lines[0], lines.len()), ("id,prediction", 301));
        assert!(lines[1].starts_with("case 0,"));
        let run = place.line("apply val.csv --keep sex,id");
        assert!(run.out.starts_with("sex,id,prediction\nF,case 0,"), "{}", &run.out[..60]);
    }
}

mod forms {
    use super::*;

    #[test]
    fn tables_come_as_markdown_html_and_csv() {
        let place = Place::new("everyday_forms");
        place.write("val.csv", &two_classes(400, 0.1));
        for command in [
            "inspect val.csv --no-svg",
            "threshold val.csv --metric 7:1 --no-svg --draws 20",
            "score val.csv --metric f1 --draws 20",
            "rank val.csv --metric f1 --draws 20",
            "metrics",
        ] {
            let of = |form: &str| place.line(&format!("{command} --format {form}")).out;
            assert!(of("markdown").contains("| --- "), "{command}");
            let html = of("html");
            assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"), "{command}");
            assert_eq!(html.matches("<table>").count(), html.matches("</table>").count());
            // Every table has as many fields in each line as in its first.
            for table in of("csv").split("\n\n") {
                let fields = |line: &str| {
                    let mut quoted = false;
                    line.chars()
                        .filter(|&c| {
                            quoted ^= c == '"';
                            c == ',' && !quoted
                        })
                        .count()
                };
                let lines: Vec<usize> = table.trim().lines().map(fields).collect();
                assert!(lines.windows(2).all(|pair| pair[0] == pair[1]), "{command}: {table}");
            }
            assert_eq!(of("json"), place.line(&format!("{command} --json")).out);
        }
        let run = place.line("demo --format html");
        assert_eq!(run.code, Some(2), "{}", run.err);
    }

    #[test]
    fn settings_of_the_directory_need_not_be_typed() {
        let place = Place::new("everyday_settings");
        two_models(&place, "val.csv", 300);
        place.write(
            "equipoise.toml",
            "truth = \"y\"\nscores = [\"good\"]\npositive = \"ill\"\n[score]\nmetric = \"4:1\"\ndraws = 20\n",
        );
        let document = place.line("score val.csv --json").document(0);
        assert_eq!(number(&document["models"][0]["threshold"]), 0.2);
        assert_eq!(document["resamples"], 20);
        let other = place.line("score val.csv --json --metric 1:1").document(0);
        assert_eq!(number(&other["models"][0]["threshold"]), 0.5);
        place.write("equipoise.toml", "thruth = \"y\"\n");
        place.line("score val.csv").fails(2, "equipoise.toml: no command has an option --thruth");
        place.write("equipoise.toml", "truth = \n");
        assert_eq!(place.line("score val.csv").code, Some(2));
    }

    #[test]
    fn shells_and_man_know_the_commands() {
        let place = Place::new("everyday_manual");
        for shell in ["bash", "zsh", "fish"] {
            let script = place.run(&["completions", shell]).ok_wide();
            assert!(script.contains("equipoise") && script.contains("threshold"), "{shell}");
        }
        place.run(&["man", "pages"]).ok_wide();
        let page = place.read("pages/equipoise-threshold.1");
        assert!(page.contains("equipoise") && page.contains("require"), "{page}");
        assert!(place.has("pages/equipoise.1"));
    }
}

mod preferences {
    use super::*;

    /// A program that compares two sets of predictions by their G-mean, and counts how often it was asked.
    const COMPARE: &str = r#"
import json, sys
truth = [line.split(",")[1] == "ill" for line in open("val.csv").read().splitlines()[1:]]
def g_mean(rows):
    found = [0.0, 0.0]; size = [0.0, 0.0]
    for y, row in zip(truth, rows):
        size[y] += 1; found[y] += row[1] if y else row[0]
    return (found[0] / size[0] * found[1] / size[1]) ** 0.5
pairs = [json.loads(line) for line in sys.stdin]
first, second = (g_mean([pair[n] for pair in pairs]) for n in (0, 1))
open("asked", "a").write("x")
print("first" if first > second else "second" if second > first else "equal")
"#;

    #[test]
    fn whoever_only_compares_gets_what_a_number_would_give() {
        let place = Place::new("everyday_preference");
        two_models(&place, "val.csv", 600);
        if Command::new("python3").arg("--version").output().is_err() {
            println!("skipped: python3 is not installed");
            return;
        }
        place.write("compare.py", COMPARE);
        let usual =
            "optimize --train val.csv --validation val.csv --truth y --scores shy --positive ill --json";
        let words = |more: &[&str]| {
            usual.split(' ').map(str::to_owned).chain(more.iter().map(|&w| w.to_owned())).collect::<Vec<_>>()
        };
        let run = |more: &[&str]| {
            let words = words(more);
            place.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let found = run(&["--preference-command", "python3 compare.py", "--time-limit", "900"]).document(0);
        assert_eq!(number(&found["queries"]) as usize, place.read("asked").len());
        assert!(number(&found["queries"]) <= 400.0, "{found}");
        let value = |place: &Place| {
            let applied = place.line("apply val.csv --keep y").out;
            let (mut right, mut size) = ([0.0; 2], [0.0; 2]);
            for line in applied.lines().skip(1) {
                let (truth, predicted) = line.split_once(',').unwrap();
                size[usize::from(truth == "ill")] += 1.0;
                right[usize::from(truth == "ill")] += f64::from(u8::from(truth == predicted));
            }
            (right[0] / size[0] * right[1] / size[1]).sqrt()
        };
        let compared = value(&place);
        let known = number(&run(&["--metric", "g_mean"]).document(0)["value"]["validation"]);
        assert!(compared > known - 0.01, "{compared} {known}");
    }

    #[test]
    fn whatever_the_program_does_wrong_is_said_and_nothing_is_written() {
        let place = Place::new("everyday_preference_wrong");
        two_models(&place, "val.csv", 60);
        let usual = [
            "optimize",
            "--train",
            "val.csv",
            "--validation",
            "val.csv",
            "--truth",
            "y",
            "--scores",
            "good",
            "--positive",
            "ill",
        ];
        for (command, sentence) in [
            ("exit 3", "the preference command ended with exit status: 3"),
            (
                "cat >/dev/null; echo maybe",
                "the preference command printed \"maybe\", expected first, second or equal",
            ),
            ("cat >/dev/null", "the preference command printed nothing, expected first, second or equal"),
            ("sleep 20", "the preference command took longer than 0.3 s and was stopped"),
            ("yes first", "the preference command"),
        ] {
            let run =
                place.run(&[&usual[..], &["--preference-command", command, "--time-limit", "0.3"]].concat());
            assert_eq!(run.code, Some(3), "{command}: {}", run.err);
            let last = run.err.lines().last().unwrap_or_default();
            assert!(last.contains(sentence) && last.ends_with("nothing was written"), "{command}: {last}");
            assert!(!place.has("classifier.json"));
        }
    }
}

mod pictures {
    use super::*;

    #[test]
    fn a_png_is_one_or_the_program_that_would_make_it_is_named() {
        let place = Place::new("everyday_png");
        place.write("val.csv", &two_classes(300, 0.1));
        let run = place.line("threshold val.csv --metric 7:1 --draws 20 --svg curve.png");
        match run.code {
            Some(0) => assert!(std::fs::read(place.0.join("curve.png")).unwrap().starts_with(b"\x89PNG")),
            _ => {
                assert_eq!(run.code, Some(3), "{}", run.err);
                assert!(
                    run.err.contains("rsvg-convert, inkscape or ImageMagick") && !place.has("curve.png"),
                    "{}",
                    run.err
                );
            }
        }
    }
}
