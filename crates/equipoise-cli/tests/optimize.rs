//! `equipoise optimize` and `equipoise apply`: the real binary on small tables.

mod place;

use place::{Place, Run};

/// A directory with three tables: the model underrates class 1, and in rows of `old` more than elsewhere.
fn tables(name: &str) -> Place {
    let place = Place::new(&format!("optimize_{name}"));
    place.write("train.csv", &table(1500, 1));
    place.write("val.csv", &table(600, 2));
    place.write("test.csv", &table(900, 3));
    place
}

fn optimize(place: &Place, more: &[&str]) -> Run {
    let usual = "optimize --train train.csv --validation val.csv --truth y --scores p0,p1";
    place.run(&usual.split(' ').chain(more.iter().copied()).collect::<Vec<_>>())
}

/// Rows from a small generator, the same wherever the tests run.
fn table(rows: u64, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let mut text = String::from("y,p0,p1,old,young,sex\n");
    for _ in 0..rows {
        let (p, old, sex) = (next(), next() < 0.5, if next() < 0.5 { "F" } else { "M" });
        let truth = next() < p;
        let said = if old { p * p * p } else { p * p };
        let (truth, old, young) = (u8::from(truth), u8::from(old), u8::from(!old));
        text += &format!("{truth},{:.6},{said:.6},{old},{young},{sex}\n", 1.0 - said);
    }
    text
}

fn number(document: &serde_json::Value, path: &str) -> f64 {
    document
        .pointer(path)
        .and_then(serde_json::Value::as_f64)
        .unwrap_or_else(|| panic!("{path} in {document}"))
}

#[test]
fn values_before_and_after_are_in_the_document() {
    let place = tables("document");
    for more in [&["--known"][..], &[], &["--basis", "old"], &["--form", "general", "--basis", "argmax"]] {
        let usual = ["--test", "test.csv", "--metric", "g_mean", "--json"];
        let document = optimize(&place, &[&usual[..], more].concat()).document(0);
        let keys: Vec<&String> = document.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["value", "before", "method", "baselines", "queries", "rank", "notes"]);
        for table in ["train", "validation", "test"] {
            let (after, before) = (
                number(&document, &format!("/value/{table}")),
                number(&document, &format!("/before/{table}")),
            );
            assert!(after > before + 0.02, "{table}: {after} after {before}");
        }
        // What is written is the best of all on the validation rows.
        let (best, all) =
            (number(&document, "/value/validation"), document["baselines"].as_object().unwrap());
        assert!(all.len() == 4 && !all.contains_key(document["method"].as_str().unwrap()), "{document}");
        assert!(all.values().all(|values| number(values, "/validation") <= best), "{document}");
        assert!(number(&document, "/rank") >= 2.0);
        assert_eq!(number(&document, "/queries") > 0.0, more != ["--known"]);
    }
}

#[test]
fn apply_predicts_what_was_optimised() {
    let place = tables("apply");
    let arguments =
        ["--test", "test.csv", "--metric", "accuracy", "--basis", "old", "--no-baselines", "--json"];
    let found = optimize(&place, &arguments).document(0);
    let applied = place.run(&["apply", "test.csv", "--classifier", "classifier.json"]);
    assert_eq!((applied.code, applied.err.as_str()), (Some(0), ""));
    let truth: Vec<String> =
        place.read("test.csv").lines().skip(1).map(|line| line[..1].to_owned()).collect();
    let predicted: Vec<&str> = applied.out.lines().collect();
    assert_eq!(predicted[0], "prediction");
    let right = predicted[1..].iter().zip(&truth).filter(|(a, b)| **a == b.as_str()).count();
    let accuracy = right as f64 / truth.len() as f64;
    assert!((accuracy - number(&found, "/value/test")).abs() < 1e-12);
    let document = place.run(&["apply", "test.csv", "--output", "out.csv", "--json"]).document(0);
    assert_eq!(number(&document, "/rows"), 900.0);
    assert_eq!(place.read("out.csv"), applied.out);
    let missing = place.run(&["apply", "test.csv", "--classifier", "nothing.json"]);
    assert_eq!(missing.code, Some(3));
    place.write("other.csv", "p0,p1\n0.5,0.5\n");
    let wrong = place.run(&["apply", "other.csv"]);
    assert!(wrong.err.contains("no column \"old\""), "{}", wrong.err);
}

/// What the columns are was forgotten: logits and percentages could not be applied to, and those between 0 and 1 were taken for
/// probabilities without a word.
#[test]
fn apply_reads_the_scale_that_was_optimised() {
    let place = Place::new("optimize_scale");
    let mut random = place::Numbers::new(5);
    let rows: Vec<(bool, f64)> = (0..400)
        .map(|_| {
            let p = random.next();
            (random.next() < p * p, (100.0 * p).round().clamp(1.0, 99.0) / 100.0)
        })
        .collect();
    let write = |name: &str, number: &dyn Fn(f64) -> f64| {
        let line = |&(truth, p): &(bool, f64)| format!("{},{}\n", u8::from(truth), number(p));
        place.write(name, &format!("y,p\n{}", rows.iter().map(line).collect::<String>()));
    };
    write("probability.csv", &|p| p);
    write("percent.csv", &|p| (100.0 * p).round());
    write("logit.csv", &|p| (p / (1.0 - p)).ln());
    let mut applied = Vec::new();
    for scale in ["probability", "percent", "logit"] {
        let table =
            format!("--train {scale}.csv --validation {scale}.csv --truth y --scores p --scores-are {scale}");
        let run = place.line(&format!("optimize {table} --metric g_mean --classifier {scale}.json"));
        assert_eq!(run.code, Some(0), "{}", run.err);
        applied.push(place.line(&format!("apply {scale}.csv --classifier {scale}.json")).text(0));
    }
    assert!(applied[0].contains("\n1\n") && applied[0].contains("\n0\n"), "{}", applied[0]);
    assert_eq!(applied[1], applied[0]);
    assert_eq!(applied[2], applied[0]);
    assert!(!place.read("probability.json").contains("scores_are"));
    // Whoever has another table now says so, and is told how.
    let run = place.line("apply percent.csv --classifier probability.json");
    assert!(run.err.contains("row 1") && run.err.contains("--scores-are percent reads them"), "{}", run.err);
    let other = place.line("apply percent.csv --classifier probability.json --scores-are percent");
    assert_eq!(other.text(0), applied[0]);
    place.write("odd.json", &place.read("logit.json").replace("\"logit\"", "\"bits\""));
    let run = place.line("apply logit.csv --classifier odd.json");
    assert!(
        run.err.contains("scores_are is bits, expected one of probability, percent, logit"),
        "{}",
        run.err
    );
}

#[test]
fn text_says_values_weights_queries_and_where_the_classifier_is() {
    let place = tables("text");
    let run = optimize(&place, &["--test", "test.csv", "--metric", "g_mean", "--basis", "old"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    for word in [
        "model as it is",
        "optimised",
        "plug in",
        "cyclic",
        "all rows",
        "old",
        "Queries",
        "Rank",
        "classifier.json",
    ] {
        assert!(run.out.contains(word), "{word}:\n{}", run.out);
    }
    assert!(run.out.lines().all(|line| line.chars().count() <= 100), "{}", run.out);
}

#[test]
fn group_g_mean_is_of_all_recalls_of_the_groups() {
    let place = tables("groups");
    // The training table need not know the groups.
    let without: String = place
        .read("train.csv")
        .lines()
        .map(|line| format!("{}\n", &line[..line.rfind(',').unwrap()]))
        .collect();
    place.write("train.csv", &without);
    let arguments = ["--test", "test.csv", "--metric", "group_g_mean", "--group", "sex", "--json"];
    for more in [&[][..], &["--per-group"]] {
        let document = optimize(&place, &[&arguments[..], more].concat()).document(0);
        assert!(document.pointer("/value/train").expect("a field").is_null());
        assert!(number(&document, "/value/test") > number(&document, "/before/test") + 0.02);
        let single = number(&document, "/baselines/cyclic/validation");
        assert!(number(&document, "/value/validation") >= single, "{document}");
        // Whoever does not ask for rules by groups gets a classifier that does without them.
        assert_eq!(place.read("classifier.json").contains("\"sex\""), !more.is_empty());
        // By hand, from predictions.
        let applied = place.run(&["apply", "test.csv"]).out;
        let mut cells = std::collections::BTreeMap::<(String, String), (f64, f64)>::new();
        for (line, predicted) in place.read("test.csv").lines().zip(applied.lines()).skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let cell = cells.entry((fields[5].to_owned(), fields[0].to_owned())).or_default();
            cell.0 += f64::from(u8::from(fields[0] == predicted));
            cell.1 += 1.0;
        }
        let product: f64 = cells.values().map(|(right, all)| right / all).product();
        assert!((product.powf(0.25) - number(&document, "/value/test")).abs() < 1e-12);
    }
}

#[test]
fn few_validation_rows_leave_bases_out_unless_told_otherwise() {
    let place = tables("few");
    place.write("val.csv", &table(150, 9));
    let arguments = ["--metric", "g_mean", "--basis", "old,argmax", "--json"];
    let notes = |run: Run| run.document(0)["notes"].to_string();
    assert!(notes(optimize(&place, &arguments)).contains("cross-validation"));
    let kept = notes(optimize(&place, &[&arguments[..], &["--select", "never"]].concat()));
    assert!(!kept.contains("cross-validation") && kept.contains("150 validation rows are few"), "{kept}");
}

#[test]
fn wrong_requests_are_one_sentence() {
    let place = tables("wrong");
    let says = |more: &[&str], code: i32, sentence: &str| {
        let run = optimize(&place, more);
        assert_eq!(run.code, Some(code), "{}", run.err);
        assert!(run.err.contains(sentence), "{}", run.err);
    };
    says(&["--metric", "niceness"], 2, "niceness");
    says(&["--metric", "g_mean", "--basis", "odl"], 3, "did you mean old?");
    says(&["--metric", "g_mean", "--basis", "kmeans:x"], 2, "expected a number of clusters");
    says(&["--metric", "g_mean", "--basis", "old", "--probes", "constraints"], 2, "the bases overlap");
    says(&["--metric", "g_mean", "--metric-command", "true"], 2, "cannot be used with");
    says(&[], 2, "--metric");
    let without = ["optimize", "--train", "train.csv", "--validation", "val.csv", "--metric", "f1"];
    assert_eq!(place.run(&without).code, Some(2));
}

#[test]
fn probes_may_satisfy_constraints_on_a_partition() {
    let place = tables("constraints");
    let arguments = ["--test", "test.csv", "--metric", "g_mean", "--basis", "old,young", "--json"];
    let document = optimize(&place, &[&arguments[..], &["--probes", "constraints"]].concat()).document(0);
    assert!(number(&document, "/value/test") > number(&document, "/before/test") + 0.02);
}

#[cfg(unix)]
mod metric_command {
    use super::*;

    /// The mean probability given to the right class, by awk: the truth is the first field of the validation table.
    const GOOD: &str = "tail -n +2 val.csv | cut -d, -f1 > truth.txt; tr -d '[]' | paste -d, truth.txt - | \
                        awk -F, '{ s[$1] += $($1 + 2); n[$1] += 1 } END { print sqrt(s[0] / n[0] * s[1] / n[1]) }' OFMT=%.12g";

    fn fail(name: &str, command: &str, more: &[&str], sentence: &str) {
        let place = tables(name);
        place.write("count", "");
        let arguments = ["--metric-command", command, "--iterations", "3", "--json"];
        let run = optimize(&place, &[&arguments[..], more].concat());
        // The document is printed, the classifier so far is kept, and the error names the call.
        let document = run.document(3);
        assert!(document["notes"].to_string().contains("stopped early"), "{document}");
        assert!(run.err.contains(sentence) && run.err.contains("call "), "{}", run.err);
        assert!(run.err.contains("classifier so far is in classifier.json"), "{}", run.err);
        let applied = place.run(&["apply", "test.csv"]);
        assert_eq!(applied.out.lines().count(), 901);
    }

    #[test]
    fn a_program_that_prints_without_end_is_stopped() {
        fail(
            "flood",
            "cat > /dev/null; yes 0.5",
            &[],
            "printed more than 1048576 bytes, expected one number",
        );
    }

    #[test]
    fn a_program_can_be_the_metric() {
        let place = tables("program");
        let run =
            optimize(&place, &["--metric-command", GOOD, "--iterations", "3", "--no-baselines", "--json"]);
        let document = run.document(0);
        let known =
            optimize(&place, &["--metric", "g_mean", "--iterations", "3", "--no-baselines", "--json"])
                .document(0);
        let (found, expected) = (number(&document, "/value/validation"), number(&known, "/value/validation"));
        assert!((found - expected).abs() < 0.01, "{found} {expected}");
        assert!(document.pointer("/value/train").expect("a field").is_null());
        // 3 iterations of 1 + 2 probes, the comparison with the model, and the two values that are reported.
        assert_eq!(number(&document, "/queries"), 3.0 * 3.0 + 2.0 + 2.0);
    }

    #[test]
    fn a_program_may_take_labels() {
        let place = tables("labels");
        let arguments =
            ["--metric-command", GOOD, "--labels", "hard", "--iterations", "1", "--no-baselines", "--json"];
        let document = optimize(&place, &arguments).document(0);
        assert!(number(&document, "/value/validation") >= number(&document, "/before/validation"));
    }

    #[test]
    fn one_that_crashes_is_named_with_its_last_words() {
        fail("crash", "cat > /dev/null; echo no licence >&2; exit 7", &[], "exit status: 7: no licence");
    }

    #[test]
    fn one_that_crashes_later_keeps_what_was_found() {
        let command = format!("echo >> count; if [ $(wc -l < count) -gt 5 ]; then exit 9; fi; {GOOD}");
        fail("later", &command, &[], "iteration 2, call 6");
    }

    #[test]
    fn a_failure_costs_no_earlier_result() {
        let place = tables("earlier");
        place.write("classifier.json", "an earlier result");
        let run = optimize(&place, &["--metric-command", "exit 7", "--iterations", "3"]);
        assert_eq!(run.code, Some(3));
        assert!(run.err.contains("classifier so far is in classifier-2.json"), "{}", run.err);
        assert_eq!(place.read("classifier.json"), "an earlier result");
    }

    #[test]
    fn one_that_hangs_is_stopped() {
        fail("hang", "sleep 600", &["--time-limit", "0.3"], "took longer than 0.3 s");
    }

    #[test]
    fn one_that_prints_rubbish_is_quoted() {
        fail("rubbish", "cat > /dev/null; echo very good", &[], "printed \"very good\", expected one number");
        fail("silence", "cat > /dev/null", &[], "printed nothing, expected one number");
    }

    #[test]
    fn one_that_prints_no_number_is_refused() {
        fail("nan", "cat > /dev/null; echo NaN", &[], "the metric is NaN, expected a finite number");
    }
}
