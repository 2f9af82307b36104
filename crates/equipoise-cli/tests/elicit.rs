//! `equipoise elicit` on small tables: people at the keyboard, programs and simulated experts.

mod place;

use place::{Numbers, Place, refused, said, three_classes, two_classes};
use serde_json::{Value, json};

const SAVED: &str = "val.interview.json";

/// A missed case is worth six false alarms; reads the counts off the question with what every system has.
const SIX_TO_ONE: &str = r#"while read -r line; do
printf '%s\n' "$line" | awk '{ split($0, c, /"count":/); a = c[3] + 6 * c[4]; b = c[7] + 6 * c[8];
print (a < b) ? "first" : (a > b) ? "{\"answer\": \"second\"}" : "tie" }'; done"#;

fn place(name: &str) -> Place {
    let place = Place::new(name);
    place.write("val.csv", &two_classes(600, 0.0));
    place.write("three.csv", &three_classes(900));
    place
}

/// Every kind of error is as bad, as shares of a class.
const EVEN: &str =
    r#"{"format":1,"kind":"linear","measure":"off_diagonal_rates","sense":"cost","weights":[1,1,1,1,1,1]}"#;

/// Three classes, one of them rare.
fn rare_vans() -> String {
    let text = three_classes(2_400);
    let rare = |(n, line): &(usize, &str)| !line.starts_with("van") || n % 12 == 0;
    text.lines().enumerate().filter(rare).map(|(_, line)| line.to_owned() + "\n").collect()
}

/// Three classes whose probabilities are off: those of one of them are far too small.
fn buses_held_for_unlikely() -> String {
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [bus, car, van] = [1, 2, 3].map(|n| cells[n].parse::<f64>().expect("a number"));
        let total = 0.05 * bus + car + van;
        let [bus, car] = [0.05 * bus / total, car / total].map(|p| (1e4 * p).round() / 1e4);
        format!("{},{bus:.4},{car:.4},{:.4},{}\n", cells[0], (1.0 - bus - car).max(0.0), cells[4])
    };
    let text = three_classes(900);
    let mut lines = text.lines();
    let header = lines.next().expect("a header").to_owned() + "\n";
    header + &lines.map(line).collect::<String>()
}

fn preferences(place: &Place, file: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(&place.read(file)).expect("JSON");
    let answers = document["transcript"].as_array().expect("a list").iter();
    answers.map(|answered| answered["preference"].as_str().expect("a word").to_owned()).collect()
}

mod expert {
    use super::*;

    #[test]
    fn a_hidden_ratio_is_inside_its_interval() {
        let place = place("elicit_ratio");
        for ratio in ["0.4:1", "1:1", "3:1", "6:1", "12:1"] {
            let found = place.run(&["elicit", "val.csv", "--json", "--oracle", ratio]).json();
            assert_eq!(found["hidden"]["inside"], true, "{ratio}: {}", found["ratio"]);
            // Questions end at .025 by the corners of the table; the threshold that is told may be regretted a little more.
            assert!(found["regret"]["expected"].as_f64().unwrap() <= 0.035, "{ratio}: {}", found["regret"]);
            assert!(found["questions"].as_u64().unwrap() <= 35);
            assert_eq!(found["questions"].as_u64().unwrap() as usize, preferences(&place, SAVED).len());
        }
    }

    /// Whoever says how narrow the interval is to be gets that, and not what ends the questions otherwise.
    #[test]
    fn a_width_that_is_asked_for_is_what_ends_the_questions() {
        let place = place("elicit_width");
        let asked = |more: &[&str]| {
            let command =
                [&["elicit", "val.csv", "--json", "--oracle", "6:1", "--budget", "60"], more].concat();
            let found = place.run(&command).json();
            let [low, high] = ["low", "high"].map(|end| found["ratio"][end].as_f64().unwrap());
            (found["questions"].as_u64().unwrap(), high / low)
        };
        let (usual, narrow) = (asked(&[]), asked(&["--width", "1.6"]));
        assert!(narrow.0 > usual.0 && narrow.1 <= 1.6 && usual.1 > 1.6, "{usual:?} {narrow:?}");
    }

    /// The regret is that of the best rule of the table: where probabilities are off, that is the rule which is told.
    #[test]
    fn the_rule_is_one_that_fits_the_table_where_probabilities_do_not() {
        let place = Place::new("elicit_uncalibrated");
        let row = |n: u32, score: f64| {
            let ill = f64::from(n * 7919 % 997) / 997.0 < f64::from(n % 600) / 600.0;
            format!("{},{score:.6}\n", if ill { "ill" } else { "well" })
        };
        let share = |n: u32| f64::from(n % 600) / 600.0;
        let good: String = (0..1200).map(|n| row(n, share(n))).collect();
        let low: String = (0..1200).map(|n| row(n, share(n).powi(5))).collect();
        place.write("good.csv", &format!("y,p\n{good}"));
        place.write("low.csv", &format!("y,p\n{low}"));
        let said = |table: &str| {
            let found =
                place.run(&["elicit", table, "--positive", "ill", "--json", "--oracle", "1:1"]).json();
            found["rule"]["sentence"].as_str().unwrap().to_owned()
        };
        let (good, low) = (said("good.csv"), said("low.csv"));
        assert!(
            good.contains("from a probability of 4") || good.contains("from a probability of 5"),
            "{good}"
        );
        assert!(!good.contains("calibrated"), "{good}");
        assert!(
            low.contains("; the probabilities are not calibrated: the threshold that would follow"),
            "{low}"
        );
    }

    /// Risks of which three in a hundred are ill: the boundary of such a table has few corners.
    fn rarely_ill(rows: usize) -> (String, Vec<f64>) {
        let (mut random, mut text, mut risks) = (Numbers::new(11), "y,p\n".to_owned(), vec![]);
        for _ in 0..rows {
            let risk = (1e4 * 0.15 * random.next().powi(4)).round() / 1e4;
            let truth = if random.next() < risk { "ill" } else { "well" };
            text += &format!("{truth},{risk:.4}\n");
            risks.push(risk);
        }
        (text, risks)
    }

    /// Whoever holds a ratio at either end of the interval regrets the threshold that is told. The 5 % beyond the ends regret it more, so
    /// a bound for 95 % is not below what is regretted at both.
    #[test]
    fn the_regret_is_that_of_the_threshold_that_is_told() {
        let place = Place::new("elicit_rare_two");
        let (text, risks) = rarely_ill(3000);
        place.write("rare.csv", &text);
        let cost = |threshold_of: f64, ratio: f64| -> f64 {
            let from = 1.0 / (1.0 + threshold_of);
            risks.iter().map(|risk| if *risk < from { ratio * risk } else { 1.0 - risk }).sum()
        };
        let mut held = 0;
        for seed in 1..=6 {
            let run = [
                "elicit",
                "rare.csv",
                "--positive",
                "ill",
                "--oracle",
                "20:1",
                "--noise",
                "relative:3",
                "--json",
            ];
            let metric = format!("{seed}.json");
            let last =
                ["--seed", &seed.to_string(), "--out", &metric, "--save", &format!("{seed}.saved.json")]
                    .map(str::to_owned);
            let words: Vec<&str> = run.into_iter().chain(last.iter().map(String::as_str)).collect();
            let run = place.run(&words);
            let found: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
            let ratio = |name: &str| found["ratio"][name].as_f64();
            let (Some(told), Some(low), Some(high)) = (ratio("value"), ratio("low"), ratio("high")) else {
                continue;
            };
            if found["rule"]["sentence"].as_str().is_none_or(|rule| rule.contains("calibrated")) {
                continue;
            }
            let regrets = [low, high].map(|held| cost(told, held) / cost(held, held) - 1.0);
            let bound = found["regret"]["bound"].as_f64().unwrap();
            assert!(bound >= found["regret"]["expected"].as_f64().unwrap());
            assert!(bound >= 0.95 * regrets[0].min(regrets[1]), "seed {seed}: {bound}, {regrets:?}");
            held += 1;
        }
        assert!(held >= 2, "of {held} the rule and both ends are known");
    }

    #[test]
    fn one_interview_has_one_number_of_cases_also_where_a_class_is_rare() {
        let place = Place::new("elicit_one_size");
        place.write("rare.csv", &rarely_ill(3000).0);
        let twenty = SIX_TO_ONE
            .replace("6 *", "20 *")
            .replace("line; do\n", "line; do\nprintf '%s\\n' \"$line\" >> asked.txt\n");
        for seed in ["1", "2", "3"] {
            let saved = format!("{seed}.json");
            let run = ["elicit", "rare.csv", "--positive", "ill", "--seed", seed, "--save", &saved, "--json"];
            let run = place.run(&[&run[..], &["--oracle-command", &twenty]].concat());
            assert!(matches!(run.code, Some(0 | 1)), "{}", run.err);
            let asked = place.read("asked.txt");
            let sizes: std::collections::BTreeSet<u64> = (asked.lines())
                .map(|line| {
                    let asked: Value = serde_json::from_str(line).expect("JSON");
                    let cells = asked["first"].as_array().unwrap();
                    cells.iter().map(|cell| cell["count"].as_u64().unwrap()).sum()
                })
                .collect();
            assert_eq!(sizes.len(), 1, "seed {seed}: {sizes:?}");
            place.write("asked.txt", "");
        }
    }

    #[test]
    fn scores_that_tell_nothing_apart_are_refused() {
        let place = Place::new("elicit_useless");
        let rows: String = (0..100).map(|n| if n % 3 == 0 { "ill,0.3\n" } else { "well,0.3\n" }).collect();
        place.write("flat.csv", &format!("y,p\n{rows}"));
        refused(
            place.run(&["elicit", "flat.csv", "--positive", "ill"]),
            2,
            "flat.csv: no threshold tells the classes apart by as much as 1 case in 100: these scores are too few or too alike to \
             ask about; another column of scores helps, or another model",
        );
    }

    /// With rare classes a single case weighs more than one of the questions, which have as many of every class.
    #[test]
    fn the_result_says_which_cases_it_counts() {
        let place = Place::new("elicit_unit");
        place.write("rare.csv", &rare_vans());
        place.write("even.json", EVEN);
        let run = ["elicit", "rare.csv", "--no-group", "--oracle", "even.json"];
        let found = place.run(&[&run[..], &["--json", "--save", "a.json"]].concat()).json();
        let gravity = &found["gravity"];
        assert_eq!(gravity["unit"], "case");
        assert!(gravity["gravest"].as_str().unwrap().starts_with("van "), "{gravity}");
        for other in gravity["others"].as_array().unwrap() {
            let [times, as_asked] = ["times", "as_asked"].map(|field| other[field].as_f64().unwrap());
            assert!((0.7..1.4).contains(&as_asked), "{other}");
            let rare = other["name"].as_str().unwrap().starts_with("van ");
            assert!(if rare { times < 2.0 } else { times > 5.0 }, "{other}");
        }
        let text = said(place.run(&run), 0).split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "so many 95 % interval as asked of these",
            "These are single cases, as common as each class is in rare.csv. The questions counted as many cases of every class",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    /// Of more classes too: the regret is that of the best rule of the table, which is not the one that follows where probabilities
    /// are off.
    #[test]
    fn the_rule_of_three_classes_is_the_one_whose_regret_is_told() {
        let place = Place::new("elicit_uncalibrated_three");
        place.write("good.csv", &three_classes(900));
        place.write("off.csv", &buses_held_for_unlikely());
        place.write("even.json", EVEN);
        let told = |table: &str, save: &str| {
            let run = ["elicit", table, "--no-group", "--json", "--around", "model", "--oracle", "even.json"];
            let run = place.run(&[&run[..], &["--save", save]].concat());
            let found: Value = serde_json::from_str(&run.out).expect("JSON");
            let weights: Vec<f64> =
                found["metric"]["weights"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect();
            let cost = |rates: &[f64]| rates.iter().zip(&weights).map(|(rate, w)| rate * w).sum::<f64>();
            let matrix = found["rule"]["per_1000"].as_array().unwrap();
            let rates: Vec<f64> = (0..9)
                .filter(|n| n / 3 != n % 3)
                .map(|n| matrix[n / 3][n % 3].as_f64().unwrap() / 1_000.0)
                .collect();
            let record: Value = serde_json::from_str(&place.read(save)).expect("JSON");
            let rules = record["plan"]["space"]["rules"].as_array().unwrap().iter();
            let rules = rules.map(|rule| serde_json::from_value::<Vec<f64>>(rule.clone()).unwrap());
            let least = rules.map(|rule| cost(&rule)).fold(f64::INFINITY, f64::min);
            (cost(&rates) / least, found["rule"].clone())
        };
        let (dearer, rule) = told("off.csv", "off.json");
        assert!(dearer < 1.02, "{dearer}: {rule}");
        let sentence = rule["sentence"].as_str().unwrap();
        assert!(sentence.starts_with("predict the class with the largest sum (bus: "), "{sentence}");
        assert!(
            sentence.contains(". The probabilities are not calibrated: the rule that would follow"),
            "{sentence}"
        );
        assert_eq!(rule["rewards"].as_array().unwrap().len(), 3);
        let (dearer, rule) = told("good.csv", "good.json");
        assert!(dearer < 1.1, "{dearer}: {rule}");
        assert!(!rule["sentence"].as_str().unwrap().contains("calibrated"), "{rule}");
    }

    /// As `--width` of two classes: whoever says how closely weights are to be known gets that.
    #[test]
    fn a_tolerance_around_a_classifier_is_what_ends_the_questions() {
        let place = place("elicit_tolerance");
        let asked = |more: &[&str]| {
            let run = ["elicit", "three.csv", "--no-group", "--json", "--around", "model", "--budget", "90"];
            let run = place.run(&[&run[..], &["--oracle", "accuracy", "--probes", "0"], more].concat());
            let found: Value = serde_json::from_str(&run.out).expect("JSON");
            (found["questions"].as_u64().unwrap(), found["ended"].as_str().unwrap().to_owned())
        };
        let (usual, close) = (asked(&[]), asked(&["--tolerance", "0.35"]));
        assert_eq!(usual.1, "the rule that follows is good enough");
        assert_eq!(close.1, "the weights are known closely enough");
        assert!(close.0 > usual.0, "{usual:?} {close:?}");
        // Where both are said, the first that is reached ends it.
        let both = asked(&["--tolerance", "0.01", "--regret", "0.082"]);
        assert_eq!(both, usual);
        // Short of it, what is missing is an angle.
        let run = ["elicit", "three.csv", "--no-group", "--json", "--around", "model", "--budget", "12"];
        let run = place.run(&[&run[..], &["--oracle", "accuracy", "--tolerance", "0.01"]].concat());
        let missing = run.document(1)["goal"]["missing"].as_str().unwrap().to_owned();
        assert!(missing.starts_with("the weights are known to within "), "{missing}");
    }

    #[test]
    fn the_result_reads_well() {
        let place = place("elicit_text");
        insta::assert_snapshot!("two_classes", said(place.run(&["elicit", "val.csv", "--oracle", "6:1"]), 0));
        let three = ["elicit", "three.csv", "--no-group", "--oracle", "accuracy", "--tolerance", "0.1"];
        insta::assert_snapshot!("three_classes", said(place.run(&three), 0));
    }

    #[test]
    fn the_metric_says_where_it_comes_from_and_can_be_used() {
        let place = place("elicit_metric");
        place.run(&["elicit", "val.csv", "--json", "--oracle", "6:1", "--out", "mine.json"]).json();
        let metric: Value = serde_json::from_str(&place.read("mine.json")).expect("JSON");
        assert_eq!(metric["classes"], json!(["benign", "malignant"]));
        assert!(metric["interval"]["low"].as_f64().unwrap() < 6.0);
        let record: Value = serde_json::from_str(&place.read(SAVED)).expect("JSON");
        assert_eq!(metric["provenance"]["space"], record["space"]);
        assert_eq!(metric["provenance"]["table"], "val.csv");
        assert_eq!(record["table"]["rows"], 600);
        let score = place.run(&["score", "val.csv", "--json", "--metric", "mine.json"]).json();
        assert!(score["models"][0]["metric"]["low"].is_number(), "its interval is allowed for");
    }

    #[test]
    fn noise_is_seeded() {
        let place = place("elicit_noise");
        let run = |seed: &str, file: &str| {
            let noisy =
                ["elicit", "val.csv", "--json", "--oracle", "6:1", "--noise", "logistic:30", "--seed", seed];
            place.run(&[&noisy[..], &["--save", file]].concat()).json();
            preferences(&place, file)
        };
        assert_eq!(run("1", "a.json"), run("1", "b.json"));
        assert_ne!(run("1", "c.json"), run("5", "d.json"));
    }

    #[test]
    fn weights_of_three_classes_come_within_the_tolerance() {
        let place = place("elicit_three");
        place.write(
            "hidden.json",
            r#"{"format":1,"kind":"linear","measure":"off_diagonal_rates","sense":"cost","weights":[1,3,1,1,6,4]}"#,
        );
        let run = ["elicit", "three.csv", "--no-group", "--json", "--oracle", "hidden.json"];
        let found = place.run(&run).json();
        assert!(found["hidden"]["angle"].as_f64().unwrap() < 0.05, "{}", found["hidden"]);
        assert!(found["space"]["radius"].as_f64().unwrap() > 0.02);
        assert!(
            found["weights"].as_array().unwrap().iter().all(|weight| weight["interval"]["low"].is_number())
        );
        assert!(found["weights"][0]["name"] == "bus predicted as car");
    }

    #[test]
    fn an_expert_whose_metric_is_curved_is_told_so() {
        let place = place("elicit_curved");
        // Around the middle of all rates, where each is a third, curvature counts for more than slope.
        let row = |n: usize| (0..6).map(|i| if i == n { "1" } else { "0" }).collect::<Vec<_>>().join(",");
        let matrix = (0..6).map(|n| format!("[{}]", row(n))).collect::<Vec<_>>().join(",");
        let hidden = format!(
            r#"{{"format":1,"kind":"quadratic","measure":"off_diagonal_rates","classes":3,"sense":"cost",
                "linear":[-0.32,-0.31,-0.33,-0.32,-0.3,-0.32],"quadratic":[{matrix}]}}"#
        );
        place.write("curved.json", &hidden);
        let run = ["elicit", "three.csv", "--no-group", "--oracle", "curved.json", "--probes", "16"];
        let text = said(place.run(&run), 1).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("linear does not explain these answers"), "{text}");
        assert!(text.contains("--family quadratic"), "{text}");
        // Without probes nobody can tell.
        let text = said(place.run(&run[..5]), 0).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!text.contains("linear does not explain"), "{text}");
    }

    #[test]
    fn a_slip_of_the_finger_is_listed_by_its_number() {
        let place = place("elicit_slip");
        // Six to one, but the second answer the wrong way round.
        let slip = SIX_TO_ONE.replace("(a < b)", "(NR == 2 ? a > b : a < b)");
        let slip = slip.replace("while read -r line; do\n", "n=0\nwhile read -r line; do n=$((n+1))\n");
        let slip = slip.replace("awk '{", "awk -v NR_=$n '{").replace("NR == 2", "NR_ == 2");
        let slip = slip.replace("(a > b) ?", "(NR_ == 2 ? a < b : a > b) ?");
        let text = said(place.run(&["elicit", "val.csv", "--oracle-command", &slip]), 0);
        assert!(text.contains("answer 2 contradicts the other answers"), "{text}");
        let text = said(place.run(&["elicit", "val.csv", "--oracle-command", SIX_TO_ONE]), 0);
        assert!(!text.contains("contradict"), "{text}");
    }

    #[test]
    fn every_family_finds_the_order_of_its_expert() {
        let place = place("elicit_families");
        let fair = r#"{"format":1,"kind":"KIND","measure":"group_rates","sense":"cost","performance":[1,2],
            "fairness":[{"groups":[0,1],WEIGHTS}],"trade_off":0.4,"prevalence":[[0.5,0.5],[0.5,0.5]]}"#;
        let grouped = two_classes(900, 0.0).lines().enumerate().fold(String::new(), |text, (row, line)| {
            let side = match row {
                0 => "group",
                row if row % 2 == 0 => "left",
                _ => "right",
            };
            text + line + "," + side + "\n"
        });
        place.write("grouped.csv", &grouped);
        place.write("fair.json", &fair.replace("KIND", "group_fair").replace("WEIGHTS", "\"weights\":[2,1]"));
        let squares =
            fair.replace("KIND", "group_fair_quadratic").replace("WEIGHTS", "\"matrix\":[[4,1],[1,3]]");
        place.write("squares.json", &squares);
        for (family, oracle) in [
            ("linear_fractional", "f2"),
            ("quadratic", "q_mean"),
            ("polynomial", "q_mean"),
            ("group_fair", "fair.json"),
            ("group_fair_quadratic", "squares.json"),
        ] {
            let table = if family.starts_with("group") { "grouped.csv" } else { "val.csv" };
            let run = place.run(&["elicit", table, "--json", "--family", family, "--oracle", oracle]);
            // Fractions carry a gauge, and their worst classifier lies on a flat end: a finding.
            assert!(
                run.code == Some(0) || (family == "linear_fractional" && run.code == Some(1)),
                "{}",
                run.err
            );
            let found: Value = serde_json::from_str(&run.out).expect("JSON");
            let tau = found["hidden"]["kendall_tau"].as_f64().unwrap();
            assert!(tau > 0.95, "{family}: {tau} {}", found["metric"]);
            assert_eq!(found["family"], family);
        }
    }

    #[test]
    fn methods_can_be_chosen() {
        let place = place("elicit_methods");
        for (method, most) in [("adaptive", 60), ("antipodal", 12), ("paper", 40)] {
            let run = ["elicit", "val.csv", "--json", "--oracle", "3:1", "--method", method];
            // The paper's search ends at a corner of the hull, which is best for a range of ratios: a finding.
            let run = place.run(&run);
            assert_eq!(run.code, Some(if method == "paper" { 1 } else { 0 }), "{}", run.err);
            let found: Value = serde_json::from_str(&run.out).expect("JSON");
            assert_eq!(found["method"], method);
            assert!(found["questions"].as_u64().unwrap() <= most, "{method}: {}", found["questions"]);
            let ratio = found["ratio"]["value"].as_f64().unwrap();
            assert!((ratio / 3.0).ln().abs() < 0.35, "{method}: {ratio}");
        }
    }
}

mod person {
    use super::*;

    #[test]
    fn answers_undo_rubbish_and_quitting() {
        let place = place("elicit_ask");
        let text = said(place.run_with(&["elicit", "val.csv"], "1\nyes\n2\nu\n?\nq\n"), 0);
        insta::assert_snapshot!("ask", text);
        assert_eq!(preferences(&place, SAVED), ["first", "cannot_tell"]);
        assert!(!place.has("metric.json"));
    }

    #[test]
    fn questions_about_groups_name_the_gaps() {
        let place = place("elicit_ask_groups");
        let run = ["elicit", "three.csv", "--family", "group_fair", "--group", "side"];
        insta::assert_snapshot!("ask_groups", said(place.run_with(&run, "2\n"), 0));
        let record: Value = serde_json::from_str(&place.read("three.interview.json")).expect("JSON");
        let shown = &record["transcript"][0]["shown"]["first"];
        assert_eq!(shown.as_array().expect("the pair as it was shown").len(), 12);
    }

    #[test]
    fn an_interview_goes_on_where_it_stopped() {
        let place = place("elicit_resume");
        // Answers by what was shown: six to one.
        let run = ["elicit", "val.csv", "--json", "--oracle-command", SIX_TO_ONE, "--save", "all.json"];
        let whole = place.run(&run).json();
        let keys: Vec<&str> = preferences(&place, "all.json")
            .iter()
            .map(|preference| match preference.as_str() {
                "first" => "1\n",
                "second" => "b\n",
                _ => "?\n",
            })
            .collect();
        let (before, after) = keys.split_at(4);
        let text = said(place.run_with(&["elicit", "val.csv"], &(before.concat() + "q\n")), 0);
        assert!(
            text.ends_with(
                "Saved 4 answers in val.interview.json.\nTo go on: equipoise elicit val.csv --resume val.interview.json\n"
            ),
            "{text}"
        );
        let text = said(place.run_with(&["elicit", "val.csv", "--resume", SAVED], &after.concat()), 0);
        assert!(text.contains("Going on after 4 answers.") && text.contains("Question 5 of about"), "{text}");
        assert!(
            text.contains(whole["sentence"].as_str().expect("a sentence").split(" (").next().unwrap()),
            "{text}"
        );
        // A finished interview has nothing more to ask, also for a program.
        let again = place.run(&["elicit", "val.csv", "--quiet", "--json", "--resume", SAVED]).document(0);
        assert_eq!(again["metric"]["weights"], whole["metric"]["weights"]);
        assert_eq!(again["done"], true);
    }

    #[test]
    fn questions_around_the_model_change_two_numbers_and_can_go_on_later() {
        let place = place("elicit_around");
        let always = "while read -r line; do echo first; done";
        let run =
            ["elicit", "three.csv", "--json", "--oracle-command", always, "--regret", "0.5", "--probes", "0"];
        let early = place.run(&run).document(0);
        assert_eq!(early["space"]["kind"], "operating_point");
        assert!(early["ended"].as_str().unwrap().contains("good enough"), "{early}");
        let asked = early["questions"].as_u64().unwrap();
        // Another end asks on from the same answers.
        let more = asked + 2;
        let budget = more.to_string();
        let run = [
            "elicit",
            "three.csv",
            "--json",
            "--oracle-command",
            always,
            "--resume",
            "three.interview.json",
            "--regret",
            "0.001",
            "--budget",
            &budget,
        ];
        // As many as allowed, and less is known than wanted.
        let later = place.run(&run).document(1);
        assert_eq!(later["questions"].as_u64().unwrap(), more);
        let record: Value = serde_json::from_str(&place.read("three.interview.json")).expect("JSON");
        assert_eq!(record["around"], "model");
        for answered in record["transcript"].as_array().unwrap() {
            let side = |name: &str| answered["shown"][name].as_array().unwrap().clone();
            let differ = side("first").iter().zip(side("second")).filter(|(a, b)| **a != *b).count();
            assert_eq!(differ, 2, "{answered}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_ctrl_c_says_how_to_go_on() {
        use std::io::{Read as _, Write as _};
        use std::process::Stdio;
        let place = place("elicit_interrupt");
        for (typed, shown, says) in [
            ("", 1, "Nothing was answered yet.\n"),
            (
                "1\n2\n",
                3,
                "Saved 2 answers in val.interview.json.\nTo go on: equipoise elicit val.csv --resume val.interview.json\n",
            ),
        ] {
            let mut child = place
                .command(&["elicit", "val.csv"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the binary starts");
            let mut keys = child.stdin.take().expect("piped");
            keys.write_all(typed.as_bytes()).expect("it listens");
            let (mut out, mut text) = (child.stdout.take().expect("piped"), vec![]);
            while String::from_utf8_lossy(&text).matches("A or B?").count() < shown {
                let mut part = [0; 512];
                let read = out.read(&mut part).expect("it talks");
                assert!(read > 0, "{}", String::from_utf8_lossy(&text));
                text.extend(&part[..read]);
            }
            let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(kill.expect("kill runs").success());
            assert_eq!(child.wait().expect("it ends").code(), Some(130));
            let mut said = String::new();
            child.stderr.take().expect("piped").read_to_string(&mut said).expect("UTF-8");
            assert!(said.ends_with(says), "{said}");
        }
    }

    #[test]
    fn stopping_is_told_to_programs_too() {
        let place = place("elicit_stop_json");
        let stopped = place.run_with(&["elicit", "val.csv", "--json", "--quiet"], "1\n");
        let document: Value = serde_json::from_str(&stopped.out).expect("JSON");
        assert_eq!(document, json!({"format": 1, "done": false, "questions": 1, "transcript_file": SAVED}));
        assert!(stopped.err.contains("Question 1 of about "), "{}", stopped.err);
    }

    #[test]
    fn other_tables_and_broken_records_are_refused() {
        let place = place("elicit_refuse");
        said(place.run_with(&["elicit", "val.csv"], "1\n2\n"), 0);
        place.write("other.csv", &two_classes(500, 0.0));
        let run = place.run(&["elicit", "other.csv", "--resume", SAVED]);
        assert_eq!(run.code, Some(4));
        let start = "error: the answers in val.interview.json are about other classifiers than other.csv allows (space fnv1a-";
        let end = "): the table or its columns differ";
        let last = run.err.lines().last().unwrap();
        assert!(last.starts_with(start) && last.ends_with(end), "{last}");

        let saved = place.read(SAVED);
        let resume = |text: &str| {
            place.write("broken.json", text);
            place.run(&["elicit", "val.csv", "--resume", "broken.json"])
        };
        refused(resume("{\"format\":1}"), 2, "broken.json: plan is missing, expected an object");
        refused(resume("[]"), 2, "broken.json: the document is a list of 0, expected an object");
        assert_eq!(resume(&saved[..60]).code, Some(3));
        let without = saved.replacen("\"space\":\"fnv1a", "\"spice\":\"fnv1a", 1);
        assert_eq!(resume(&without).code, Some(2));
        let mut document: Value = serde_json::from_str(&saved).expect("JSON");
        document["transcript"][1]["query"]["first"][0] = json!(0.123);
        let run = resume(&document.to_string());
        assert_eq!(run.code, Some(4));
        assert!(run.err.contains("answer 2 of the transcript was given to another question"), "{}", run.err);
        let mut document: Value = serde_json::from_str(&saved).expect("JSON");
        document["transcript"][1]["shown"]["first"].as_array_mut().expect("what was shown").push(json!(0.1));
        let sentence =
            "broken.json: transcript[1].shown has another number of entries than transcript[1].query";
        refused(resume(&document.to_string()), 2, sentence);
    }

    #[test]
    fn nothing_of_value_is_overwritten() {
        let place = place("elicit_overwrite");
        said(place.run_with(&["elicit", "val.csv"], "1\n"), 0);
        let sentence =
            format!("{SAVED} holds 1 answer; go on with --resume {SAVED}, or keep new ones with --save FILE");
        refused(place.run(&["elicit", "val.csv"]), 2, &sentence);
        place.write("notes.json", "mine");
        let sentence = "notes.json is there already and is not an interview; --save FILE names another";
        refused(place.run(&["elicit", "val.csv", "--save", "notes.json"]), 2, sentence);
        let sentence =
            "notes.json is there already and is no metric that was elicited; --out FILE names another";
        refused(place.run(&["elicit", "val.csv", "--save", "x.json", "--out", "notes.json"]), 2, sentence);
        assert_eq!(place.read("notes.json"), "mine");
        // What `elicit` made before may go.
        for _ in 0..2 {
            place.run(&["elicit", "val.csv", "--json", "--oracle", "2:1", "--save", "done.json"]).json();
        }
    }
}

mod asking {
    use super::*;

    /// Answers as the program says, with the sides and sizes that it saw.
    fn seen(place: &Place, run: &[&str]) -> Vec<Value> {
        let command = "while read -r line; do printf '%s\\n' \"$line\" >> seen.jsonl; echo first; done";
        let _ = std::fs::remove_file(place.0.join("seen.jsonl"));
        place.run(&[run, &["--oracle-command", command]].concat());
        place.read("seen.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    #[test]
    fn one_number_of_cases_from_the_first_question_to_the_last() {
        let place = place("elicit_sizes");
        for table in [&["elicit", "val.csv", "--budget", "12"][..], &["elicit", "three.csv", "--no-group"]] {
            let lines = seen(&place, table);
            let sizes: Vec<u64> = lines.iter().map(|line| line["out_of"].as_u64().unwrap()).collect();
            assert!(sizes.len() > 5 && sizes.iter().all(|size| *size == sizes[0]), "{table:?}: {sizes:?}");
            assert!([100, 1_000, 10_000].contains(&sizes[0]), "{sizes:?}");
            for line in &lines {
                let side = |name: &str| line[name].as_array().unwrap().clone();
                let errors = side("first").into_iter().zip(side("second"));
                let errors = errors.filter(|(a, _)| a["truth"] != a["estimate"]);
                let count = |cell: &Value| cell["count"].as_i64().unwrap();
                let apart: Vec<u64> = errors.map(|(a, b)| count(&a).abs_diff(count(&b))).collect();
                assert!(apart.iter().all(|apart| *apart == 0 || *apart >= 3), "{line}");
            }
        }
    }

    #[test]
    fn sides_are_by_chance_and_stay_as_they_were() {
        let place = place("elicit_sides");
        let run = ["elicit", "val.csv", "--budget", "12", "--save", "a.json"];
        let more_alarms = |line: &Value| {
            let alarms = |side: &str| line[side][1]["count"].as_u64().unwrap();
            alarms("first") > alarms("second")
        };
        let turned: Vec<bool> = seen(&place, &run).iter().map(more_alarms).collect();
        assert!(turned.contains(&true) && turned.contains(&false), "{turned:?}");
        // Searches ask the same kind of classifier first; on the screen it stands on either side.
        let search = ["elicit", "val.csv", "--method", "antipodal", "--save", "b.json"];
        let turned: Vec<bool> = seen(&place, &search).iter().map(more_alarms).collect();
        assert!(turned.contains(&true) && turned.contains(&false), "{turned:?}");
        // Undo shows the same question on the same sides.
        let text = said(
            place.run_with(
                &["elicit", "val.csv", "--method", "antipodal", "--save", "c.json"],
                "1\nu\n1\nq\n",
            ),
            0,
        );
        let shown: Vec<&str> = text.split("Question 1 ").skip(1).map(|part| &part[..200]).collect();
        assert_eq!(shown.len(), 2);
        assert_eq!(shown[0], shown[1]);
        let record: Value = serde_json::from_str(&place.read("c.json")).expect("JSON");
        assert_eq!(record["sides"], 0);
    }

    #[test]
    fn another_seed_has_other_sides() {
        let place = place("elicit_seeded_sides");
        let sides = |seed: &str| -> Vec<bool> {
            let run = ["elicit", "val.csv", "--budget", "12", "--save", "a.json", "--seed", seed];
            let alarms = |line: &Value, side: &str| line[side][1]["count"].as_u64().unwrap();
            seen(&place, &run).iter().map(|line| alarms(line, "first") > alarms(line, "second")).collect()
        };
        assert_eq!(sides("3"), sides("3"));
        // Whatever the answers lead to, the first pair is the same, on either side.
        let first: Vec<bool> = (0..8).map(|seed| sides(&seed.to_string())[0]).collect();
        assert!(first.contains(&true) && first.contains(&false), "{first:?}");
    }

    #[test]
    fn nothing_is_told_of_the_answers_unless_asked() {
        let place = place("elicit_watch");
        let run =
            |more: &[&str]| said(place.run_with(&[&["elicit", "val.csv"][..], more].concat(), "1\n2\n"), 0);
        let text = run(&["--save", "a.json"]);
        assert!(!text.contains("so far"), "{text}");
        assert!(text.contains("There are about ") && text.contains("minutes."), "{text}");
        assert_eq!(run(&["--save", "b.json", "--watch"]).matches("Your cost ratio so far").count(), 2);
    }

    #[test]
    fn other_families_end_at_the_cap_with_a_sentence() {
        let place = place("elicit_cap");
        let always = "while read -r line; do echo first; done";
        for family in ["quadratic", "polynomial"] {
            let save = format!("{family}.json");
            let run = ["elicit", "val.csv", "--family", family, "--save", &save, "--oracle-command", always];
            let text = said(place.run(&run), 1).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains("Questions 30; no more were allowed"), "{text}");
            assert!(text.contains("Missing the weights are known to within"), "{text}");
            assert!(text.contains(&format!("`--resume {save} --budget 45` asks on")), "{text}");
        }
        // A search that cannot end early looks as closely as the cap allows.
        let run =
            ["elicit", "val.csv", "--family", "linear_fractional", "--json", "--oracle-command", always];
        let run = place.run(&run);
        let found: Value = serde_json::from_str(&run.out).expect("JSON");
        assert!(found["questions"].as_u64().unwrap() <= 30, "{}", found["questions"]);
    }

    #[test]
    fn what_is_assumed_of_answers_is_said() {
        let place = place("elicit_noise_said");
        let json = |more: &[&str]| {
            let run = place.run(&[&["elicit", "three.csv", "--no-group", "--json"][..], more].concat());
            serde_json::from_str::<Value>(&run.out).expect("JSON")
        };
        let ball = ["--oracle", "accuracy", "--tolerance", "0.2"];
        assert_eq!(json(&ball)["noise"]["assumed"]["kind"], "none");
        let noisy = [&ball[..], &["--noise", "flip:0.05", "--budget", "60"]].concat();
        assert_eq!(json(&noisy)["noise"]["assumed"]["kind"], "unknown", "somebody who errs is not exact");
        let chosen = [&noisy[..], &["--answers", "exact"]].concat();
        assert_eq!(json(&chosen)["noise"]["assumed"]["kind"], "none");
        // What people are asked is asked of a simulated expert as of anybody: two classes, and around a classifier.
        let two = |more: &[&str]| {
            let run = place.run(&[&["elicit", "val.csv", "--json", "--oracle", "6:1"][..], more].concat());
            run.document(0)["noise"].clone()
        };
        assert_eq!(two(&[])["assumed"]["kind"], "unknown");
        assert!(two(&[])["sentence"].as_str().unwrap().starts_with("nothing: how surely you tell"));
        assert_eq!(two(&["--answers", "exact"])["assumed"]["kind"], "none");
        let around = ["--oracle", "accuracy", "--around", "model"];
        assert_eq!(json(&around)["noise"]["assumed"]["kind"], "unknown");
        assert_eq!(
            json(&[&around[..], &["--answers", "exact"]].concat())["noise"]["assumed"]["kind"],
            "none"
        );
        let always = "while read -r line; do echo first; done";
        let found = json(&["--oracle-command", always, "--family", "quadratic"]);
        assert_eq!(found["noise"]["assumed"]["kind"], "unknown");
        assert_eq!((&found["goal"]["met"], &found["needs_attention"]), (&json!(false), &json!(true)));
    }

    #[test]
    fn whoever_does_not_look_gets_no_metric() {
        let place = place("elicit_blind");
        let always = "while read -r line; do echo first; done";
        for table in [&["elicit", "val.csv"][..], &["elicit", "three.csv", "--no-group"]] {
            let run = [table, &["--oracle-command", always, "--out", "blind.json"]].concat();
            let text = said(place.run(&run), 1);
            assert!(text.contains("no metric: these answers look like chance"), "{text}");
            assert!(!place.has("blind.json"));
        }
    }

    #[test]
    fn a_ratio_beyond_the_table_has_one_end() {
        let place = place("elicit_one_sided");
        let run = place.run(&["elicit", "val.csv", "--json", "--oracle", "1000:1"]);
        let found = run.document(1);
        assert_eq!(found["ratio"]["high"], Value::Null, "{}", found["ratio"]);
        assert!(
            found["sentence"].as_str().unwrap().starts_with("you accept at least "),
            "{}",
            found["sentence"]
        );
        let regret = found["regret"]["sentence"].as_str().unwrap();
        assert!(regret.contains("; more if your ratio is far above "), "{regret}");
    }

    /// What was wanted was reached, so that nothing is gained by wanting less.
    #[test]
    fn a_goal_that_was_met_is_not_said_to_be_missed() {
        let place = place("elicit_goal");
        let found = place.run(&["elicit", "val.csv", "--json", "--oracle", "1000:1"]).document(1);
        assert!(found["regret"]["expected"].as_f64().unwrap() <= 0.025, "{}", found["regret"]);
        assert_eq!(found["goal"]["met"], false);
        let missing = found["goal"]["missing"].as_str().unwrap();
        assert!(missing.starts_with("the answers leave one end of the interval open"), "{missing}");
        assert!(!missing.contains("--regret") && !missing.contains("settles for less"), "{missing}");
    }

    /// The most questions that are allowed are the most that are asked, whatever has to be checked at their end.
    #[test]
    fn no_more_questions_than_allowed_are_asked_probes_and_all() {
        let place = place("elicit_most");
        let coin = |seed: usize| {
            format!(
                "x={}; while read -r line; do x=$(( (x * 1103515245 + 12345) % 2147483648 )); \
                 if [ $((x / 65536 % 2)) = 0 ]; then echo first; else echo second; fi; done",
                7919 * (seed + 1)
            )
        };
        let tables =
            [("val.csv", "14", 12), ("val.csv", "30", 6), ("three.csv", "9", 4), ("three.csv", "30", 4)];
        let mut to_the_end = 0;
        for (table, budget, people) in tables {
            for seed in 0..people {
                let command = coin(seed);
                let run =
                    ["elicit", table, "--no-group", "--json", "--budget", budget, "--save", "coin.json"];
                let run = place.run(&[&run[..], &["--oracle-command", &command]].concat());
                let found: Value = serde_json::from_str(&run.out).expect("JSON");
                let (asked, most) = (found["questions"].as_u64().unwrap(), budget.parse::<u64>().unwrap());
                assert!(asked <= most, "{table}: {asked} of {most}");
                to_the_end += usize::from(asked == most);
            }
        }
        assert!(to_the_end > 0, "nobody came to the end of what was allowed");
    }

    /// Probes are questions too: whoever wants less than is known already is asked nothing.
    #[test]
    fn a_sooner_end_of_answers_that_were_checked_asks_nothing() {
        let place = place("elicit_sooner");
        let six = ["elicit", "val.csv", "--json", "--oracle-command", SIX_TO_ONE, "--save", "done.json"];
        let whole = place.run(&six).document(0)["questions"].as_u64().unwrap();
        let nobody = "read -r line; exit 1";
        let resume = ["elicit", "val.csv", "--json", "--resume", "done.json", "--oracle-command", nobody];
        let sooner = place.run(&[&resume[..], &["--regret", "0.3"]].concat()).document(0);
        assert!(sooner["questions"].as_u64().unwrap() < whole, "{sooner}");
        // The same again, and everything comes back with the first end: probes as well.
        let again = place.run(&resume).document(0);
        assert_eq!(again["questions"], sooner["questions"]);
        let back = place.run(&[&resume[..], &["--regret", "0.025"]].concat()).document(0);
        assert_eq!(back["questions"].as_u64().unwrap(), whole);
        // Whose answers were doubted is asked again.
        let turns = "while read -r line; do echo first; read -r line; echo second; done";
        place.run(&["elicit", "val.csv", "--oracle-command", turns, "--save", "blind.json"]);
        let resume = ["elicit", "val.csv", "--resume", "blind.json", "--regret", "0.9"];
        let run = place.run(&[&resume[..], &["--oracle-command", nobody]].concat());
        assert_eq!(run.code, Some(3), "{}{}", run.out, run.err);
    }

    #[test]
    fn a_finished_interview_is_taken_back_and_goes_on_with_another_end() {
        let place = place("elicit_finished");
        let six = ["elicit", "val.csv", "--json", "--oracle-command", SIX_TO_ONE, "--save", "done.json"];
        let early = place.run(&[&six[..], &["--regret", "0.3", "--probes", "0"]].concat()).document(0);
        let asked = early["questions"].as_u64().unwrap() as usize;
        // Taken back: one question is asked again, and the same end is reached.
        let back = ["elicit", "val.csv", "--resume", "done.json", "--save", "back.json"];
        let text = said(place.run_with(&back, "u\n?\nq\n"), 0);
        assert!(text.contains("That was the last question.") && text.contains("Took the last answer back."));
        assert!(text.contains(&format!("Question {asked} of about")), "{text}");
        // Another end asks on.
        let on = ["elicit", "val.csv", "--json", "--oracle-command", SIX_TO_ONE, "--resume", "done.json"];
        let later = place.run(&[&on[..], &["--regret", "0.02"]].concat()).document(0);
        assert!(later["questions"].as_u64().unwrap() as usize > asked, "{later}");
        // And a sooner one keeps what lies beyond it.
        let sooner = place.run(&[&on[..], &["--regret", "0.3"]].concat()).document(0);
        assert_eq!(sooner["questions"].as_u64().unwrap() as usize, asked);
        let record: Value = serde_json::from_str(&place.read("done.json")).expect("JSON");
        let aside = record["set_aside"].as_array().expect("what lies beyond is kept").len();
        assert_eq!(aside + asked, later["questions"].as_u64().unwrap() as usize);
    }

    #[test]
    fn tables_that_are_too_small_are_refused_in_a_sentence() {
        let place = place("elicit_small");
        place.write("small.csv", "y,score\n0,.2\n1,.8\n0,.6\n1,.4\n");
        refused(
            place.run(&["elicit", "small.csv"]),
            2,
            "small.csv has 2 rows of class 0, expected at least 5 of every class to ask somebody about: more rows help",
        );
        place.write("gap.csv", "y,p_a,p_b,p_c\na,.6,.2,.2\nb,.2,.6,.2\n");
        for command in ["elicit", "plan"] {
            let run = place.run(&[command, "gap.csv"]);
            assert_eq!(run.code, Some(2), "{}", run.err);
            assert!(run.err.contains("found no row of class c"), "{}", run.err);
        }
        let run = place.run(&["elicit", "three.csv", "--no-group", "--around", "val.csv"]);
        refused(run, 2, "--around: val.csv has the classes benign, malignant, expected bus, car, van");
        // Whoever knows the truth makes errors that these predictions do not allow.
        let mut truth = String::from("y,p_bus,p_car,p_van\n");
        for class in ["bus,1,0,0\n", "car,0,1,0\n", "van,0,0,1\n"] {
            truth += &class.repeat(20);
        }
        place.write("truth.csv", &truth);
        // A table allows what it does itself, also where its probabilities are off.
        place.write("off.csv", &buses_held_for_unlikely());
        let always = "while read -r line; do echo first; done";
        let around = |what: &str| {
            let run =
                ["elicit", "off.csv", "--no-group", "--oracle-command", always, "--save", "around.json"];
            let run = place.run(&[&run[..], &["--around", what]].concat());
            assert!(matches!(run.code, Some(0 | 1)), "{what}: {}", run.err);
            serde_json::from_str::<Value>(&place.read("around.json")).expect("JSON")["space"].clone()
        };
        assert_eq!(around("off.csv"), around("model"));
        let run = place.run(&["elicit", "three.csv", "--no-group", "--around", "truth.csv"]);
        refused(
            run,
            2,
            "--around: no classifier of these predictions makes the errors of the one in truth.csv; --around model asks \
             around their own",
        );
    }
}

mod program {
    use super::*;

    #[test]
    fn a_script_answers() {
        let place = place("elicit_command");
        let found = place.run(&["elicit", "val.csv", "--json", "--oracle-command", SIX_TO_ONE]).json();
        let [low, high] = ["low", "high"].map(|end| found["ratio"][end].as_f64().unwrap());
        assert!(low < 6.0 && 6.0 < high, "{low} {high}");
        assert!(preferences(&place, SAVED).contains(&"second".to_owned()));
    }

    #[test]
    fn a_question_is_one_line_with_everything() {
        let place = place("elicit_line");
        let command = "read -r line; printf '%s\\n' \"$line\" > seen.json; echo first";
        let run = ["elicit", "three.csv", "--no-group", "--oracle-command", command];
        refused(
            place.run(&run),
            3,
            "question 2: the oracle command ended before it answered; 1 answer kept in three.interview.json, go on with \
             --resume three.interview.json",
        );
        let line: Value = serde_json::from_str(&place.read("seen.json")).expect("JSON");
        assert_eq!((&line["question"], &line["of"]), (&json!(1), &json!("each class")));
        let out_of = line["out_of"].as_u64().unwrap();
        for side in ["first", "second"] {
            let records = line[side].as_array().unwrap();
            assert_eq!(records.len(), 9);
            for class in ["bus", "car", "van"] {
                let of_class = records.iter().filter(|record| record["truth"] == class);
                assert_eq!(of_class.map(|record| record["count"].as_u64().unwrap()).sum::<u64>(), out_of);
            }
            let record = &records[0];
            let share = record["count"].as_f64().unwrap() / out_of as f64;
            assert_eq!(record["share_of_class"].as_f64().unwrap(), share);
        }
        assert!(line["difference"].as_str().unwrap().ends_with("; all else is the same."));
        assert!((5..=35).contains(&line["of_about"].as_u64().unwrap()), "{line}");
    }

    #[test]
    fn whatever_a_program_does_wrong_names_the_question_and_keeps_the_answers() {
        let place = place("elicit_wrong");
        let kept = "; 2 answers kept in val.interview.json, go on with --resume val.interview.json";
        let two = "read x; echo first; read x; echo second; read x; ";
        for (rest, what) in [
            ("exit 7", "ended with exit status 7 before it answered"),
            ("exit 0", "ended before it answered"),
            ("kill -TERM $$", "ended with signal 15 (SIGTERM) before it answered"),
            ("echo maybe; cat > /dev/null", "printed \"maybe\", expected first, second or tie"),
            ("echo; cat > /dev/null", "printed \"\", expected first, second or tie"),
            (
                "echo '{\"answer\": 1}'; cat > /dev/null",
                "printed \"{\"answer\": 1}\", expected first, second or tie",
            ),
            ("sleep 60", "gave no answer within 1.5 s"),
        ] {
            let command = format!("{two}{rest}");
            let fresh = ["elicit", "val.csv", "--answer-within", "1.5", "--oracle-command", &command];
            let start = std::time::Instant::now();
            refused(place.run(&fresh), 3, &format!("question 3: the oracle command {what}{kept}"));
            assert!(start.elapsed().as_secs() < 30, "{rest} kept us waiting");
            assert_eq!(preferences(&place, SAVED), ["first", "second"]);
            std::fs::remove_file(place.0.join(SAVED)).expect("it is there");
        }
        let run = place.run(&["elicit", "val.csv", "--oracle-command", "no-such-program-here"]);
        refused(run, 3, "question 1: the oracle command ended with exit status 127 before it answered");
    }

    /// It used to fill the memory: 858 MB in 2.4 s.
    #[test]
    fn a_program_that_prints_without_being_asked_is_ended() {
        let place = place("elicit_flood");
        let start = std::time::Instant::now();
        let run = place.run(&["elicit", "val.csv", "--oracle-command", "yes first"]);
        assert_eq!(run.code, Some(3), "{}", run.err);
        let what = "the oracle command printed \"first\" before it was asked, expected one line per question";
        assert!(run.err.contains(what), "{}", run.err);
        assert!(start.elapsed().as_secs() < 30);
    }

    #[test]
    fn another_program_goes_on_after_a_crash() {
        let place = place("elicit_go_on");
        let crash = "read x; echo first; exit 1";
        assert_eq!(place.run(&["elicit", "val.csv", "--oracle-command", crash]).code, Some(3));
        let run = ["elicit", "val.csv", "--json", "--resume", SAVED, "--oracle-command", SIX_TO_ONE];
        let found = place.run(&run).json();
        assert_eq!(found["questions"].as_u64().unwrap() as usize, preferences(&place, SAVED).len());
        assert_eq!(preferences(&place, SAVED)[0], "first");
    }
}

mod usage {
    use super::*;

    #[test]
    fn what_cannot_be_done_is_said_in_a_sentence() {
        let place = place("elicit_usage");
        let check = |arguments: &[&str], sentence: &str| {
            refused(place.run(&[&["elicit", "val.csv", "--oracle", "6:1"], arguments].concat()), 2, sentence);
        };
        check(&["--family", "group_fair"], "val.csv has no groups to compare; --group COLUMN names them");
        check(
            &["--tolerance", "0.1"],
            "--tolerance is not for an adaptive cost ratio; --width says how narrow its interval has to be",
        );
        check(
            &["--width", "2", "--method", "antipodal"],
            "--width is for an adaptive cost ratio of two classes; --tolerance says how close the weights have to be",
        );
        check(&["--width", "0.2"], "--width is 0.2, expected a number in [1.05, 100]");
        check(
            &["--family", "quadratic", "--tolerance", "7"],
            "--tolerance is 7, expected a number in [1e-6, 1]",
        );
        check(
            &["--method", "paper", "--answers", "exact"],
            "--answers is for the adaptive method, but this one is paper",
        );
        check(
            &["--method", "paper", "--budget", "9"],
            "--budget is for the adaptive method, but this one is paper",
        );
        check(
            &["--probes", "4", "--family", "quadratic"],
            "--probes is for adaptive linear metrics, and group-fair ones around a classifier",
        );
        check(&["--noise", "flip"], "--noise flip needs a number, as in flip:N (the probability)");
        check(
            &["--noise", "hum:2"],
            "--noise is \"hum\", expected none, flip:P, band:W, logistic:S or relative:S",
        );
        check(&["--noise", "flip:0.7"], "probability is 0.7, expected a number in [0, 0.5]");
        let wrong = place.run(&["elicit", "val.csv", "--oracle", "niceness"]);
        assert_eq!(wrong.code, Some(2));
        assert!(
            wrong.err.contains("error: the metric of --oracle: \"niceness\" is no metric file"),
            "{}",
            wrong.err
        );
        let grouped = ["elicit", "three.csv", "--group", "side", "--oracle", "equalised_odds"];
        refused(
            place.run(&grouped),
            2,
            "the hidden metric compares groups, but questions of family linear do not tell them apart",
        );
        let flat = "a,0.3,0.3,0.4\nb,0.3,0.3,0.4\nc,0.3,0.3,0.4\n".repeat(6);
        place.write("flat.csv", &format!("y,p_a,p_b,p_c\n{flat}"));
        refused(
            place.run(&["elicit", "flat.csv"]),
            2,
            "flat.csv: no kind of error can be traded for another by as much as 1 in 100 with all else equal: these \
             predictions are too few or too alike to ask about around this classifier; more rows help, another classifier \
             (--around balanced), or --around coin, which asks about a ball of error rates",
        );
        refused(
            place.run(&["elicit", "val.csv", "--around", "model"]),
            2,
            "--around is for linear metrics of more than two classes and group-fair ones of two groups: this table has two \
             classes, whose thresholds are compared as they are; leave --around out",
        );
        refused(
            place.run(&["elicit", "flat.csv", "--around", "coin"]),
            2,
            "flat.csv: the predictions do not tell the classes apart: there is no ball of error rates to ask about (its \
             radius is 0.0e0)",
        );
        assert_eq!(place.run(&["elicit", "missing.csv"]).code, Some(3));
        for arguments in [
            &["elicit"][..],
            &["elicit", "val.csv", "--family", "nice"],
            &["elicit", "val.csv", "--answers", "flip:often"],
            &["elicit", "val.csv", "--noise", "flip:0.1"],
            &["elicit", "val.csv", "--answer-within", "1"],
            &["elicit", "val.csv", "--resume", "x.json", "--family", "linear"],
            &["elicit", "val.csv", "--oracle", "6:1", "--oracle-command", "cat"],
        ] {
            assert_eq!(place.run(arguments).code, Some(2), "{arguments:?}");
        }
    }

    #[test]
    fn help_explains_the_command() {
        let place = Place::new("elicit_help");
        insta::assert_snapshot!("help_elicit", place.run(&["elicit", "--help"]).ok());
    }
}
