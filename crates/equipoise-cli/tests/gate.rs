//! `equipoise gate`, and attributes of models in `rank`, through the real binary.

mod place;

use place::{Place, Run};
use serde_json::{Value, json};

/// Numbers that look like chance and are always the same.
struct Random(u64);

impl Random {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }
}

/// Predictions of two models for the same rows: the first sees as much of the truth as told, the second the other much; both are
/// calibrated.
fn predictions(rows: usize, seed: u64, strengths: [f64; 2]) -> [String; 2] {
    let mut random = Random(seed);
    let mut tables = ["y,p\n".to_owned(), "y,p\n".to_owned()];
    for _ in 0..rows {
        let ill = random.share() < 0.5;
        let shared = random.normal();
        for (table, strength) in tables.iter_mut().zip(strengths) {
            let seen = if ill { strength } else { -strength } + 0.8 * shared + 0.6 * random.normal();
            let risk = 1.0 / (1.0 + (-2.0 * strength * seen).exp());
            *table += &format!("{},{risk:.5}\n", if ill { "ill" } else { "well" });
        }
    }
    tables
}

fn place_with(name: &str, strengths: [f64; 2]) -> Place {
    let place = Place::new(name);
    let [old, new] = predictions(800, 7, strengths);
    place.write("old.csv", &old);
    place.write("new.csv", &new);
    place
}

const LINE: &str = "gate --champion old.csv --challenger new.csv --positive ill --metric 3:1";

fn gate(place: &Place, more: &str) -> Run {
    place.line(&format!("{LINE}{more}"))
}

#[test]
fn better_passes_worse_fails_and_itself_is_undecided() {
    let place = place_with("gate_verdicts", [0.9, 1.4]);
    let found = gate(&place, " --json").document(0);
    assert_eq!((&found["verdict"], &found["paired"]), (&json!("pass"), &json!(true)));
    assert!(found["probability"].as_f64().unwrap() >= 0.95);
    let gain = &found["gain"];
    assert!(
        gain["value"].as_f64().unwrap() > 0.0 && gain["interval"]["low"].as_f64().unwrap() > 0.0,
        "{gain}"
    );
    assert_eq!(found["champion"]["threshold"], 0.25);
    assert_eq!(found["challenger"]["per_1000"]["mistakes"].as_array().unwrap().len(), 2);

    let turned = "gate --champion new.csv --challenger old.csv --positive ill --metric 3:1";
    let worse = place.line(&format!("{turned} --json")).document(1);
    assert_eq!(worse["verdict"], "fail");
    let [one, other] = [&found, &worse].map(|found| found["probability"].as_f64().unwrap());
    assert!((one + other - 1.0).abs() < 1e-9, "{one} {other}");
    // So much worse is fine.
    assert_eq!(place.line(&format!("{turned} --json --margin 1")).document(0)["verdict"], "pass");

    let itself = place
        .line("gate --champion old.csv --challenger old.csv --positive ill --metric f1 --json")
        .document(4);
    assert_eq!((&itself["verdict"], &itself["probability"]), (&json!("undecided"), &json!(0.5)));
}

#[test]
fn a_summary_for_a_pull_request_is_short_and_says_what_was_compared() {
    let place = place_with("gate_markdown", [0.9, 1.4]);
    let text = gate(&place, " --format markdown").text_of(0);
    assert!(text.starts_with("**Pass: new is better than old with probability "), "{text}");
    assert!(text.contains("| champion | old | ") && text.contains("| challenger | new | "), "{text}");
    assert!(text.contains("| in 1,000 cases | well taken for ill | ill missed |"), "{text}");
    assert!(text.contains("old.csv and new.csv have the same 800 rows, drawn again 1,000 times"), "{text}");
    assert!(text.lines().count() < 16, "{text}");
    let plain = gate(&place, "").text(0);
    assert!(plain.starts_with("Pass: new is better than old with probability "), "{plain}");
    let quiet = gate(&place, " --quiet").text(0);
    assert!(!quiet.contains("drawn again"), "{quiet}");
}

#[test]
fn other_rows_are_drawn_by_themselves_and_said_to_be() {
    let place = place_with("gate_unpaired", [1.0, 1.1]);
    let paired = gate(&place, " --json").document_of();
    // The same rows in another order are other rows, as far as anybody can tell.
    let text = place.read("new.csv");
    let (head, rows) = text.split_once('\n').unwrap();
    let turned: Vec<&str> = rows.lines().rev().collect();
    place.write("new.csv", &format!("{head}\n{}\n", turned.join("\n")));
    let unpaired = gate(&place, " --json").document_of();
    assert_eq!((&paired["paired"], &unpaired["paired"]), (&json!(true), &json!(false)));
    let width = |found: &Value| {
        let interval = &found["gain"]["interval"];
        interval["high"].as_f64().unwrap() - interval["low"].as_f64().unwrap()
    };
    assert!(width(&unpaired) > 1.2 * width(&paired), "{} {}", width(&unpaired), width(&paired));
    let said = gate(&place, "");
    assert!(said.err.contains("the models have different rows and are compared as independent samples"));
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("have different rows, drawn again 1,000 times for each by itself"), "{words}");
}

/// Which of two is better may hang on the metric alone.
#[test]
fn what_the_answers_left_open_leaves_the_gate_open() {
    let place = Place::new("gate_metric");
    let row = |truth: &str, risk: f64, count: usize| format!("{truth},{risk}\n").repeat(count);
    let table = |missed: usize, alarms: usize| {
        let parts = [row("ill", 0.1, missed), row("ill", 0.9, 2000 - missed), row("well", 0.9, alarms)];
        "y,p\n".to_owned() + &parts.concat() + &row("well", 0.1, 2000 - alarms)
    };
    place.write("old.csv", &table(400, 200));
    place.write("new.csv", &table(200, 800));
    let metric = |interval: &str| {
        format!(
            r#"{{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,3]{interval}}}"#
        )
    };
    // At 3 : 1 both are as good. Far above, the new one is better; the middle is not the whole story.
    let line =
        "gate --champion old.csv --challenger new.csv --positive ill --threshold 0.5 --metric m.json --json";
    place.write("m.json", &metric(r#","interval":{"low":1.5,"high":6,"level":0.95}"#));
    let open = place.line(line).document(4);
    assert!((0.2..0.8).contains(&open["probability"].as_f64().unwrap()), "{}", open["probability"]);
    assert!(open["statement"].as_str().unwrap().contains("Most of the doubt is in the metric"), "{open}");
    assert_eq!(open["metric_draws"], 1000);
    // An interval without an upper end has nothing to draw from, which is said.
    place.write("m.json", &metric(r#","interval":{"low":1.5,"high":null,"level":0.95}"#));
    let certain = place.line(line).document(4);
    assert_eq!(certain["metric_draws"], 0);
    assert!(certain["notes"].to_string().contains("has one end only"), "{}", certain["notes"]);
    place.write("m.json", &metric("").replace("[1,3]", "[1,6]"));
    assert_eq!(place.line(line).document(0)["verdict"], "pass");
}

/// Weights of recall and latency, as `choose` writes them.
fn choice(weights: [f64; 2]) -> String {
    json!({
        "format": 1, "kind": "attributes", "weights": weights,
        "attributes": [
            {"name": "recall:ill", "direction": "maximize", "transform": "linear", "range": [0.5, 1.0]},
            {"name": "latency_ms", "unit": "ms", "direction": "minimize", "transform": "log", "range": [10, 100]},
        ],
    })
    .to_string()
}

#[test]
fn attributes_are_given_or_measured_and_decide_together() {
    let place = place_with("gate_attributes", [0.9, 1.4]);
    place.write("models.json", r#"{"champion":{"latency_ms":20},"new":{"latency_ms":80}}"#);
    place.write("m.json", &choice([10.0, 1.0]));
    let line = "gate --champion old.csv --challenger new.csv --positive ill --metric m.json --attributes models.json";
    let found = place.line(&format!("{line} --json")).document(0);
    assert_eq!(found["attributes"][0]["name"], "recall:ill");
    assert_eq!(found["attributes"][1]["values"], json!([20.0, 80.0]));
    let recall = found["attributes"][0]["values"][1].as_f64().unwrap();
    // As shares of all weights.
    let worth = (10.0 * (recall - 0.5) / 0.5 + (100.0_f64 / 80.0).log10()) / 11.0;
    assert!((found["challenger"]["value"].as_f64().unwrap() - worth).abs() < 1e-9);
    // To whoever minds the latency it is worse.
    place.write("m.json", &choice([0.1, 1.0]));
    let text = place.line(line).text(1);
    assert!(text.contains("latency_ms") && text.contains("Fail: new is worse than old"), "{text}");
    // The same from a table, whose models `rank` knows by their names.
    place.write("models.csv", "model,latency_ms,size_mb\nold,20,1.5\nnew,80,3\nother,1,1\n");
    let rank = "rank old.csv new.csv --positive ill --attributes models.csv --json";
    let ranked = place.line(&format!("{rank} --metric m.json")).document(0);
    assert_eq!(ranked["ranking"]["standings"][0]["name"], "old");
    // A metric of errors does not count them, and shows them.
    let ranked = place.line(&format!("{rank} --metric 3:1")).document(0);
    assert_eq!(ranked["ranking"]["standings"][0]["name"], "new");
    assert_eq!(ranked["attributes"][1], json!({"name": "size_mb", "values": [1.5, 3.0]}));
    assert!(
        ranked["notes"].to_string().contains("attributes are shown and do not count"),
        "{}",
        ranked["notes"]
    );
    // Beyond what was asked about, weights are a guess.
    place.write("models.json", r#"{"champion":{"latency_ms":20},"challenger":{"latency_ms":800}}"#);
    let beyond = place.line(line);
    assert!(
        beyond.err.contains("latency_ms of new is 800, beyond the range from 10 to 100"),
        "{}",
        beyond.err
    );
}

#[test]
fn attributes_that_cannot_be_used_are_said_in_a_sentence() {
    let place = place_with("gate_attributes_bad", [0.9, 1.4]);
    place.write("m.json", &choice([1.0, 1.0]));
    let line = "gate --champion old.csv --challenger new.csv --positive ill --metric m.json";
    let file = |text: &str| {
        place.write("models.json", text);
        place.line(&format!("{line} --attributes models.json"))
    };
    let missing = "the metric weighs latency_ms, but --attributes names no file that has it";
    place.line(line).says(2, missing);
    file(r#"{"old":{"price":1},"new":{"price":2}}"#)
        .says(2, "but models.json does not have it for any of the models");
    file(r#"{"old":{"latency_ms":1},"new":{"price":2}}"#)
        .says(2, "models.json has no latency_ms of new, but of another model");
    file(r#"{"old":{"latency_ms":20}}"#).says(2, "models.json says nothing of challenger or new, found old");
    file(r#"{"old":{"latency_ms":"fast"},"new":{"latency_ms":2}}"#)
        .says(3, "latency_ms of old is \"fast\", expected a finite number");
    file(r#"{"old":{"latency_ms":null},"new":{"latency_ms":2}}"#).says(3, "latency_ms of old is null");
    file(r#"{"old":{"latency_ms":-2},"new":{"latency_ms":2}}"#).says(2, "expected a number above 0");
    file("[1]").says(3, "models.json: found no object, expected an object of models");
    file(r#"{"old":3}"#).says(3, "models.json: found 3 for old");
    file("{").says(3, "models.json: not valid JSON");
    place.write("models.csv", "model,latency_ms\nold,NaN\nnew,2\n");
    place.line(&format!("{line} --attributes models.csv")).says(3, "latency_ms of old is \"NaN\"");
    place.write("models.csv", "model,latency_ms\nold,3\nold,2\n");
    place.line(&format!("{line} --attributes models.csv")).says(3, "found old in two rows");
    place.line(&format!("{line} --attributes none.json")).says(3, "cannot read none.json");
    place.write("m.json", &choice([1.0, 1.0]).replace("recall:ill", "recall:sick"));
    file(r#"{"old":{"latency_ms":1},"new":{"latency_ms":2}}"#)
        .says(2, "\"recall:sick\": class is \"sick\", expected one of well, ill");
    place.line(&format!("{line} --threshold best")).says(2, "recall:sick");
    place.line("score old.csv --metric m.json").says(2, "the metric is about attributes of candidates");
}

#[test]
fn inputs_that_cannot_be_compared_are_said_in_a_sentence() {
    let place = place_with("gate_bad", [0.9, 1.4]);
    place.line("gate --champion old.csv --challenger none.csv --metric 3:1").says(3, "none.csv");
    place.line("gate --champion old.csv --challenger new.csv --metric none.json").says(3, "none.json");
    place.line("gate --champion old.csv --challenger new.csv --metric nonsense").says(2, "no known name");
    place
        .line("gate --champion old.csv --challenger new.csv --truth z --metric 3:1")
        .says(2, "no column \"z\"");
    gate(&place, " --margin -1").says(2, "expected a number of at least 0");
    gate(&place, " --level 0.3").says(2, "level is 0.3, expected at least 0.5");
    gate(&place, " --models a,b").says(2, "--models names columns of one file, but there are 2 files");
    for (table, code, sentence) in [
        ("y,q\nill,0.5\nwell,0.2\n", 3, "--scores names them"),
        ("y,p\nill,high\nwell,0.2\n", 3, "high"),
        ("y,p\nill,NaN\nwell,0.2\n", 3, "--drop-missing"),
        ("y,p\nill,0.4\nill,0.2\n", 3, "ill"),
        ("y,p\nsick,0.4\nwell,0.2\n", 2, "no class \"ill\""),
    ] {
        place.write("new.csv", table);
        gate(&place, "").says(code, sentence);
    }
    place.write("new.csv", "y,p\nsick,0.4\nwell,0.2\n");
    let other = place.line("gate --champion old.csv --challenger new.csv --metric 3:1");
    other.says(2, "model new has the classes sick, well, but model old has ill, well");
    let three = r#"{"format":1,"kind":"linear","measure":"diagonal","sense":"utility","weights":[1,1,1]}"#;
    place.write("m.json", three);
    place.line("gate --champion old.csv --challenger old.csv --metric m.json").says(2, "3 classes");
    place.write(
        "pool.csv",
        "model,truth,estimate,count\na,ill,ill,5\na,well,well,5\nb,ill,ill,4\nb,ill,well,1\nb,well,well,5\n",
    );
    place
        .line("gate --champion pool.csv --challenger pool.csv --metric f1")
        .says(2, "expected one in each file");
}

trait Says {
    fn says(self, code: i32, part: &str);
    fn text_of(self, code: i32) -> String;
    fn document_of(self) -> Value;
}

impl Says for Run {
    /// Ends with this code and one sentence that has this part.
    #[track_caller]
    fn says(self, code: i32, part: &str) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        assert!(self.err.contains(part) && !self.err.contains("panicked"), "{}", self.err);
        assert!(self.out.is_empty(), "{}", self.out);
    }

    /// What was printed, however wide.
    #[track_caller]
    fn text_of(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self.out
    }

    /// The document, however it ended.
    #[track_caller]
    fn document_of(self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("{}", self.err))
    }
}
