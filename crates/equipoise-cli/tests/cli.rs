//! The real binary: what it prints, where, and the exit code it ends in.

mod place;

use place::Place;
use std::path::Path;
use std::process::Stdio;

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/simulations")
        .join(name)
        .with_extension("json")
        .display()
        .to_string()
}

mod help {
    use super::*;

    #[test]
    fn every_command_explains_itself() {
        let place = Place::new("help");
        insta::assert_snapshot!("help", place.run(&["--help"]).ok());
        insta::assert_snapshot!("help_demo", place.run(&["demo", "--help"]).ok());
        insta::assert_snapshot!("help_simulate", place.run(&["simulate", "--help"]).ok());
    }

    #[test]
    fn without_a_command_help_is_printed() {
        let place = Place::new("no_command");
        assert_eq!(place.run(&[]).ok(), place.run(&["--help"]).ok());
    }

    #[test]
    fn unknown_commands_and_options_are_usage_errors() {
        let place = Place::new("usage");
        for arguments in [
            &["dmo"][..],
            &["demo", "--rato", "3"],
            &["demo", "--ratio", "0"],
            &["demo", "--ratio", "-3"],
            &["demo", "--ratio", "NaN"],
            &["demo", "--ask", "--ratio", "3"],
            &["demo", "--resume", "x.json"],
            &["demo", "--seed", "-1"],
            &["simulate"],
            &["simulate", "x.json", "--repeat", "0"],
            &["simulate", "x.json", "--svg", "x.svg"],
        ] {
            let run = place.run(arguments);
            assert_eq!(run.code, Some(2), "{arguments:?}");
            assert!(run.err.starts_with("error: ") && run.out.is_empty(), "{arguments:?}: {}", run.err);
        }
    }
}

mod demo {
    use super::*;

    #[test]
    fn the_simulated_expert_is_found_out() {
        let place = Place::new("demo");
        insta::assert_snapshot!("demo", place.run(&["demo"]).ok());
        let picture = place.read("equipoise-demo.svg");
        for part in
            ["<title>", "<desc>", "viewBox", "prefers-color-scheme:dark", "people with cancer who are found"]
        {
            assert!(picture.contains(part), "{part}");
        }
    }

    #[test]
    fn all_questions_can_be_shown_in_full() {
        let text = Place::new("demo_all").run(&["demo", "--all", "--no-svg"]).ok();
        let asked = text.matches("System A").count();
        assert!((8..=20).contains(&asked), "{asked}");
        assert_eq!(text.matches(", out of 1,000 people").count(), asked, "one number of people throughout");
    }

    #[test]
    fn other_experts_are_inside_their_intervals() {
        let place = Place::new("demo_ratios");
        for ratio in [0.1, 0.5, 1.0, 3.0, 10.0, 30.0] {
            let run = place.run(&["demo", "--json", "--no-svg", "--ratio", &ratio.to_string()]);
            let document: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
            let end = |name: &str| document["ratio"][name].as_f64();
            let (low, high) = (end("low").unwrap_or(0.0), end("high").unwrap_or(f64::INFINITY));
            assert!(low <= ratio && ratio <= high, "{ratio}: {}", document["ratio"]);
            let two_ends = end("low").is_some_and(|low| low > 0.0) && end("high").is_some();
            assert_eq!(run.code == Some(0), two_ends, "{ratio}: {}", document["ratio"]);
        }
    }

    #[test]
    fn ratios_beyond_what_can_be_told_have_one_end_and_exit_code_1() {
        let place = Place::new("demo_extreme");
        let last = |ratio| {
            let run = place.run(&["demo", "--quiet", "--no-svg", "--ratio", ratio]);
            assert_eq!(run.code, Some(1), "{}", run.out);
            run.out.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let text = last("1e9");
        assert!(text.starts_with("Recovered you accept at least "), "{text}");
        assert!(
            text.contains("to avoid one missed cancer; your answers do not set an upper limit"),
            "{text}"
        );
        let text = last("1e-9");
        assert!(text.contains("to avoid one false alarm; your answers do not set an upper limit"), "{text}");
    }

    #[test]
    fn a_picture_is_written_where_asked_or_not_at_all() {
        let place = Place::new("demo_svg");
        place.run(&["demo", "--quiet", "--no-svg"]).ok();
        assert!(!place.has("equipoise-demo.svg"));
        place.run(&["demo", "--quiet", "--svg", "other.svg"]).ok();
        assert!(place.has("other.svg") && !place.has("equipoise-demo.svg"));
        let run = place.run(&["demo", "--quiet", "--svg", "missing/other.svg"]);
        assert_eq!(run.code, Some(3));
        assert_eq!(run.err, "error: cannot write missing/other.svg: no such file or directory\n");
    }

    #[test]
    fn json_has_everything() {
        let document = Place::new("demo_json").run(&["demo", "--json"]).json();
        assert_eq!(document["format"], 1);
        assert_eq!(document["law"]["slope"], 21.0);
        assert_eq!(document["hidden"]["weights"], serde_json::json!([6.0, 1.0]));
        assert_eq!(document["metric"]["classes"], serde_json::json!(["no cancer", "cancer"]));
        assert_eq!(document["queries"], document["transcript"].as_array().expect("a list").len());
        assert!(document["transcript"][0]["shown"].is_object());
        assert_eq!(document["svg"], "equipoise-demo.svg");
        assert_eq!(document["published"]["three_per_halving"]["queries"], 18);
    }

    #[test]
    fn a_reader_who_leaves_early_is_no_error() {
        let place = Place::new("demo_pipe");
        for arguments in [&["demo", "--all"][..], &["demo", "--json"], &["--help"]] {
            let mut child = place
                .command(arguments)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the binary starts");
            drop(child.stdout.take());
            let output = child.wait_with_output().expect("the binary ends");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
            assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        }
    }
}

mod ask {
    use super::*;

    const SAVED: &str = "equipoise-demo.interview.json";

    fn preferences(document: &str) -> Vec<String> {
        let document: serde_json::Value = serde_json::from_str(document).expect("JSON");
        let answers = document["transcript"].as_array().expect("a list").iter();
        answers.map(|answered| answered["preference"].as_str().expect("a word").to_owned()).collect()
    }

    #[test]
    fn answers_undo_rubbish_and_the_end_of_input() {
        let place = Place::new("ask");
        let text = place.run_with(&["demo", "--ask"], "1\nyes please\n2\nu\n?\n").ok();
        insta::assert_snapshot!("ask", text);
        assert_eq!(preferences(&place.read(SAVED)), ["first", "cannot_tell"]);
        assert!(!place.has("equipoise-demo.svg"), "there is nothing to show yet");
    }

    #[test]
    fn nothing_typed_saves_an_empty_interview() {
        let place = Place::new("ask_nothing");
        let text = place.run_with(&["demo", "--ask", "--quiet"], "").ok();
        assert!(text.ends_with("Saved 0 answers in equipoise-demo.interview.json.\nTo go on: equipoise demo --ask --resume equipoise-demo.interview.json\n"), "{text}");
        assert!(preferences(&place.read(SAVED)).is_empty());
    }

    #[test]
    fn an_interview_goes_on_where_it_stopped() {
        let place = Place::new("ask_resume");
        // Whoever answers like the simulated expert ends where the simulated expert did.
        let document = place.run(&["demo", "--json", "--no-svg"]).json();
        let answers = document["transcript"].as_array().expect("a list").iter();
        let keys: Vec<&str> =
            answers.map(|answered| if answered["preference"] == "first" { "a\n" } else { "b\n" }).collect();
        let (before, after) = keys.split_at(7);
        place.run_with(&["demo", "--ask"], &(before.concat() + "q\n")).ok();
        assert_eq!(preferences(&place.read(SAVED)).len(), 7);
        let text = place.run_with(&["demo", "--ask", "--resume", SAVED], &after.concat()).ok();
        assert!(text.contains("Going on after 7 answers.") && text.contains("Question 8 of about"), "{text}");
        let about = document["ratio"]["recovered"].as_f64().expect("a number");
        let sentence = format!("you accept about {about:.1} false alarms to avoid one missed cancer");
        assert!(text.contains(&sentence), "{text}");
        assert!(!text.contains("so far"), "what is known would sway the next answer: {text}");
        assert_eq!(preferences(&place.read(SAVED)).len(), keys.len());
        assert!(place.has("equipoise-demo.svg"));
        // A finished interview has nothing more to ask, also for a program.
        let again = place.run(&["demo", "--ask", "--quiet", "--json", "--resume", SAVED]).document(0);
        assert_eq!(again["metric"], document["metric"]);
    }

    #[test]
    fn answers_can_be_kept_elsewhere() {
        let place = Place::new("ask_save");
        place.run_with(&["demo", "--ask", "--save", "mine.json"], "1\n").ok();
        place.run_with(&["demo", "--ask", "--resume", "mine.json", "--save", "next.json"], "2\n").ok();
        assert_eq!(preferences(&place.read("mine.json")), ["first"]);
        assert_eq!(preferences(&place.read("next.json")), ["first", "second"]);
        assert!(!place.has(SAVED));
        let run = place.run_with(&["demo", "--ask", "--save", "missing/mine.json"], "1\n");
        assert_eq!(run.code, Some(3));
        assert_eq!(run.err, "error: cannot write missing/mine.json: no such file or directory\n");
    }

    #[test]
    fn a_new_interview_does_not_overwrite_an_unfinished_one() {
        let place = Place::new("ask_overwrite");
        place.run_with(&["demo", "--ask"], "1\n2\n").ok();
        let run = place.run_with(&["demo", "--ask"], "1\n");
        let sentence = format!(
            "error: {SAVED} holds 2 answers; go on with --resume {SAVED}, or keep new ones with --save FILE\n"
        );
        assert_eq!((run.code, run.err), (Some(2), sentence));
        assert_eq!(preferences(&place.read(SAVED)), ["first", "second"]);
        place.write("notes.json", "mine");
        let run = place.run_with(&["demo", "--ask", "--save", "notes.json"], "1\n");
        assert_eq!((run.code, place.read("notes.json").as_str()), (Some(2), "mine"));
        // One that has come to its end, or never began, may go.
        // Whoever does not look is told so.
        let blind = place.run_with(&["demo", "--ask", "--resume", SAVED], &"1\n".repeat(45));
        assert_eq!(blind.code, Some(1), "{}", blind.out);
        assert!(blind.out.contains("no metric: these answers look like chance"), "{}", blind.out);
        place.run_with(&["demo", "--ask"], "u\n").ok();
        place.run_with(&["demo", "--ask"], "1\n").ok();
        assert_eq!(preferences(&place.read(SAVED)), ["first"]);
    }

    #[test]
    fn a_file_that_is_no_interview_of_the_demo_is_refused() {
        let place = Place::new("ask_refuse");
        place.run_with(&["demo", "--ask"], "1\n").ok();
        let saved = place.read(SAVED);
        let refused = |text: String| {
            place.write("other.json", &text);
            let run = place.run(&["demo", "--ask", "--resume", "other.json"]);
            (run.code, run.err)
        };
        let other_plan = refused(saved.replace("\"width\":1.6", "\"width\":1.7"));
        let sentence = "error: other.json: plan is not the one the demo asks, so it cannot go on\n";
        assert_eq!(other_plan, (Some(2), sentence.to_owned()));
        let mut moved: serde_json::Value = serde_json::from_str(&saved).expect("JSON");
        moved["transcript"][0]["query"]["first"][0] = serde_json::json!(0.123);
        let (code, sentence) = refused(moved.to_string());
        assert_eq!(code, Some(4));
        assert!(
            sentence
                .starts_with("error: other.json: answer 1 of the transcript was given to another question")
        );
        assert_eq!(refused(saved[..50].to_owned()).0, Some(3));
        assert_eq!(refused(saved.replace("\"first\",\"shown\"", "\"third\",\"shown\"")).0, Some(2));
        assert_eq!(
            refused("{}".to_owned()),
            (Some(3), "error: other.json: format is missing, expected 1\n".to_owned())
        );
    }
}

mod simulate {
    use super::*;

    #[test]
    fn reports_read_well() {
        let place = Place::new("simulate");
        for name in
            ["sphere_linear_paper", "logistic_linear_fractional_grid", "group_fair_quadratic_antipodal"]
        {
            insta::assert_snapshot!(name, place.run(&["simulate", &example(name)]).ok());
        }
        let repeated =
            place.run(&["simulate", "--repeat", "50", "--svg", "e.svg", &example("sphere_linear_noisy")]);
        insta::assert_snapshot!("repeat", repeated.ok());
        assert!(place.read("e.svg").contains("Errors of 50 simulated linear elicitations"));
    }

    #[test]
    fn json_is_the_documented_report() {
        let place = Place::new("simulate_json");
        let report = place.run(&["simulate", "--json", &example("logistic_linear")]).json();
        assert_eq!(report["format"], 1);
        assert_eq!(report["queries"], 32);
        assert_eq!(report["identifiable"], true);
        assert_eq!(report["notes"], serde_json::json!([]));
        assert!(report["error"]["angle"].as_f64().expect("a number") < 0.01);
        assert!(report["metric"]["weights"].is_array());
    }

    #[test]
    fn seeds_decide_what_is_random() {
        let place = Place::new("simulate_seed");
        let run = |seed: &str| {
            place.run(&["simulate", "--json", "--seed", seed, &example("sphere_linear_noisy")]).ok()
        };
        assert_eq!(run("1"), run("1"));
        assert_ne!(run("1"), run("2"));
    }

    #[test]
    fn standard_input_is_a_file_too() {
        let place = Place::new("simulate_stdin");
        let text = std::fs::read_to_string(example("trade_off_paper")).expect("an example");
        let piped = place.run_with(&["simulate", "-"], &text).ok();
        assert_eq!(piped, place.run(&["simulate", &example("trade_off_paper")]).ok());
    }

    #[test]
    fn a_metric_that_is_not_singled_out_is_a_finding() {
        // Whoever wants class 0 only has no use for the other weight.
        let place = Place::new("simulate_finding");
        let text = std::fs::read_to_string(example("softmax_diagonal_linear")).expect("an example");
        let run = place.run_with(&["simulate", "-"], &text.replace("0.21, 0.59, 0.2", "0.98, 0.01, 0.01"));
        assert_eq!((run.code, run.err.as_str()), (Some(1), ""));
        assert!(
            run.out.contains("Identifiable  no") && run.out.contains("Note          class 1"),
            "{}",
            run.out
        );
    }
}

mod bad_input {
    use super::*;

    const GOOD: &str = r#"{"format":1,
        "space":{"kind":"sphere","measure":"off_diagonal_rates","classes":2,"radius":0.2},
        "oracle":{"metric":{"kind":"linear","measure":"off_diagonal_rates","sense":"cost","weights":[1,6]},
                  "noise":{"kind":"none"}},
        "plan":{"kind":"linear","method":"paper","tolerance":0.01},
        "seed":7}"#;

    /// Changes one thing in a good document; says what is printed and the exit code.
    #[track_caller]
    fn check(from: &str, to: &str, code: i32, sentence: &str) {
        assert!(GOOD.contains(from), "{from}");
        says(&GOOD.replacen(from, to, 1), code, &format!("standard input: {sentence}"));
    }

    #[track_caller]
    fn says(document: &str, code: i32, sentence: &str) {
        let place = Place(Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned());
        let run = place.run_with(&["simulate", "-"], document);
        assert_eq!(run.err, format!("error: {sentence}\n"), "{document}");
        assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{document}");
        for word in ["panicked", "backtrace"] {
            assert!(!run.err.contains(word));
        }
    }

    #[test]
    fn the_document_itself_is_good() {
        Place::new("good").run_with(&["simulate", "-"], GOOD).ok();
    }

    #[test]
    fn numbers_out_of_range_name_the_field_and_the_range() {
        check("0.2", "-0.2", 2, "space.radius is -0.2, expected a number greater than 0");
        check(
            "0.2",
            "5",
            2,
            "space.radius is 5, expected at most 1/k for k classes (1/k^2 for joint probabilities), so that no \
             entry of a point is negative",
        );
        check("0.01", "0", 2, "plan.tolerance is 0, expected a number in [1e-12, 1]");
        check("0.01", "-1", 2, "plan.tolerance is -1, expected a number in [1e-12, 1]");
        check(":2,", ":1,", 2, "space.classes is 1, expected a whole number from 2 to 1000");
        check(
            ":2,",
            ":1000000000000000,",
            2,
            "space.classes is 1000000000000000, expected a whole number from 2 to 1000",
        );
        check("0.01", "0.01,\"cycles\":0", 2, "plan.cycles is 0, expected a whole number from 1 to 100");
        check("0.01", "0.01,\"queries_per_halving\":5", 2, "plan.queries_per_halving is 5, expected 3 or 4");
        let flip = "\"kind\":\"flip\",\"probability\":0.9";
        check("\"kind\":\"none\"", flip, 2, "oracle.noise.probability is 0.9, expected a number in [0, 0.5]");
    }

    #[test]
    fn weights_are_checked() {
        check("[1,6]", "[0,0]", 2, "oracle.metric.weights is all zero, expected at least one non-zero entry");
        check("[1,6]", "[]", 2, "oracle.metric.weights is all zero, expected at least one non-zero entry");
        check(
            "[1,6]",
            "[1,6,3]",
            2,
            "oracle.metric: the number of weights is 3, expected k * k - k for k classes: 2, 6, 12, 20 and so on",
        );
        check("[1,6]", "[1,6],\"classes\":3", 2, "oracle.metric.weights has 2 entries, expected 6");
        check("[1,6]", "[1,NaN]", 3, "not valid JSON: expected value at line 3 column 104");
        check("[1,6]", "[1,1e999]", 3, "not valid JSON: number out of range at line 3 column 108");
        check("[1,6]", "[1,null]", 2, "oracle.metric.weights[1] is null, expected a number");
        check("[1,6]", "[1,\"six\"]", 2, "oracle.metric.weights[1] is \"six\", expected a number");
        check("[1,6]", "6", 2, "oracle.metric.weights is 6, expected a list");
    }

    #[test]
    fn words_that_name_nothing_get_the_ones_that_do() {
        check(
            "\"sphere\"",
            "\"cube\"",
            2,
            "space.kind is \"cube\", expected one of logistic, hull, softmax, faces, sphere, group_sphere, operating_point, pool, attributes",
        );
        check(
            "\"kind\":\"linear\",\"method\"",
            "\"kind\":\"lineer\",\"method\"",
            2,
            "plan.kind is \"lineer\", expected one of linear, linear_fractional, diagonal_linear, \
             diagonal_linear_fractional, diagonal_monotone, group_fair, trade_off, quadratic, group_fair_quadratic, \
             quadratic_trade_off, polynomial",
        );
        check(
            "\"paper\"",
            "\"guess\"",
            2,
            "plan.method is \"guess\", expected one of paper, antipodal, adaptive",
        );
        check("\"cost\"", "\"price\"", 2, "oracle.metric.sense is \"price\", expected one of utility, cost");
        check(
            "\"kind\":\"none\"",
            "\"kind\":\"loud\"",
            2,
            "oracle.noise.kind is \"loud\", expected one of none, band, adversarial_band, logistic, flip, relative",
        );
    }

    #[test]
    fn fields_that_are_unknown_missing_or_of_another_type_are_named() {
        check("\"tolerance\"", "\"tolerence\"", 2, "plan.tolerence is not a field here");
        check("\"weights\"", "\"wieghts\"", 2, "oracle.metric.wieghts is not a field here, expected weights");
        check("\"seed\"", "\"sede\"", 2, "sede is not a field here");
        check("\"plan\"", "\"plam\"", 2, "plan is missing, expected an object");
        check(",\"radius\":0.2", "", 2, "space.radius is missing");
        check(":2,", ":\"two\",", 2, "space.classes is \"two\", expected a whole number of at least 0");
        check(":7", ":-1", 2, "seed is -1, expected a whole number of at least 0");
        says("[]", 2, "standard input: the document is a list of 0, expected an object");
    }

    #[test]
    fn parts_that_do_not_fit_are_told_apart() {
        check(
            "\"kind\":\"linear\",\"measure\":\"off_diagonal_rates\"",
            "\"kind\":\"linear\",\"measure\":\"diagonal_rates\"",
            2,
            "the plan's space has measure \"off_diagonal_rates\" with 2 classes, but oracle.metric has measure \
             \"diagonal_rates\" with 2 classes",
        );
        check(
            "\"kind\":\"linear\",\"method\"",
            "\"kind\":\"group_fair\",\"method\"",
            2,
            "plan.kind is \"group_fair\", which does not work on a sphere space; it needs a group_sphere space",
        );
    }

    #[test]
    fn other_formats_and_broken_text_are_input_errors() {
        check("\"format\":1", "\"format\":2", 3, "format is 2, expected 1");
        check("\"format\":1,", "", 3, "format is missing, expected 1");
        says(&GOOD[..60], 3, "standard input: not valid JSON: the text ends too early, at line 2 column 47");
        says("", 3, "standard input is empty, expected a JSON document");
        says(" \n", 3, "standard input is empty, expected a JSON document");
        says("hello", 3, "standard input: not valid JSON: expected value at line 1 column 1");
        says(
            &"[".repeat(100_000),
            3,
            "standard input: not valid JSON: recursion limit exceeded at line 1 column 128",
        );
    }

    #[test]
    fn files_that_cannot_be_read_are_input_errors() {
        let place = Place::new("files");
        std::fs::create_dir(place.0.join("folder")).expect("a folder");
        std::fs::write(place.0.join("binary"), [0xff, 0xfe, 0x00]).expect("a file");
        place.write("empty.json", "");
        for (name, sentence) in [
            ("missing.json", "cannot read missing.json: no such file or directory"),
            ("folder", "cannot read folder: it is a directory"),
            ("binary", "cannot read binary: it is not UTF-8 text"),
            ("empty.json", "empty.json is empty, expected a JSON document"),
        ] {
            let run = place.run(&["simulate", name]);
            assert_eq!((run.code, run.err), (Some(3), format!("error: {sentence}\n")));
        }
    }
}

/// The README's first command is `cargo run`, which refuses to choose between programs.
#[test]
fn cargo_run_has_one_program_to_choose_from() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let listed = manifest.split("default-members = [").nth(1).unwrap().split(']').next().unwrap();
    let has_program = |member: &&str| {
        let own = std::fs::read_to_string(root.join(member).join("Cargo.toml")).unwrap();
        own.contains("[[bin]]") || root.join(member).join("src/main.rs").exists()
    };
    let programs: Vec<&str> = listed.split('"').skip(1).step_by(2).filter(has_program).collect();
    assert_eq!(programs, ["crates/equipoise-cli"]);
}
