//! `equipoise open`, with the real binary and no browser.

use equipoise_cohort::Client;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

const SCREENING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/tables/screening.csv");

fn equipoise() -> Command {
    Command::new(env!("CARGO_BIN_EXE_equipoise"))
}

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join("tmp")).expect("a directory for the test");
    path
}

/// The command in a directory, with whoever opened its link.
struct Opened {
    process: Child,
    client: Client,
    runtime: tokio::runtime::Runtime,
    page: String,
}

impl Opened {
    fn new(directory: &Path, words: &[&str]) -> Self {
        let mut process = equipoise()
            .args(["open", "--no-browser", "--json"])
            .args(words)
            .current_dir(directory)
            .env("TMPDIR", directory.join("tmp"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut output = BufReader::new(process.stdout.take().expect("piped"));
        let mut text = String::new();
        let link = loop {
            assert!(output.read_line(&mut text).expect("output") > 0, "no link in {text:?}");
            if let Ok(document) = serde_json::from_str::<Value>(&text) {
                break document["link"].as_str().expect("a link").to_owned();
            }
        };
        let (address, path) = link.strip_prefix("http://").expect("HTTP").split_once('/').expect("a path");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let client = runtime.block_on(async {
            let mut client = Client::connect(address.parse().expect("an address")).await?;
            client.get(&format!("/{path}")).await?;
            std::io::Result::Ok(client)
        });
        let mut opened =
            Self { process, client: client.expect("a connection"), runtime, page: String::new() };
        opened.look();
        opened
    }

    fn look(&mut self) {
        self.page = self.runtime.block_on(self.client.get("/")).expect("a page").body;
    }

    fn send(&mut self, path: &str, fields: &[(&str, &str)]) {
        let csrf = between(&self.page, "name=\"csrf\" value=\"", "\"").expect("a form").to_owned();
        let fields: Vec<(&str, &str)> = fields.iter().copied().chain([("csrf", csrf.as_str())]).collect();
        self.runtime.block_on(self.client.post(path, &fields)).expect("a reply");
        self.look();
    }

    /// Answers like somebody who holds 6 : 1, from the numbers on the page; how many questions there were.
    fn answer_all(&mut self) -> usize {
        let mut questions = 0;
        while self.page.contains("action=\"/answer\"") {
            questions += 1;
            assert!(questions < 60, "no end");
            let counts: Vec<f64> = self
                .page
                .split("end mistake")
                .skip(1)
                .map(|end| between(end, "as-count\">", "<").unwrap().replace(',', "").parse().unwrap())
                .collect();
            let [missed_a, alarms_a, missed_b, alarms_b] = counts[..] else { panic!("{counts:?}") };
            let choice = if 6.0 * missed_a + alarms_a <= 6.0 * missed_b + alarms_b { "a" } else { "b" };
            let number = questions.to_string();
            self.send("/answer", &[("question", &number), ("choice", choice)]);
        }
        questions
    }

    #[cfg(unix)]
    fn end(mut self) {
        let stop = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(stop.success() && self.process.wait().unwrap().success());
    }

    #[cfg(not(unix))]
    fn end(mut self) {
        self.process.kill().unwrap();
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?.1.split(after).next()
}

#[test]
fn a_file_that_is_no_table_is_refused_in_the_terminal() {
    let directory = place("open-refused");
    std::fs::write(directory.join("empty.csv"), "").unwrap();
    for (file, said) in [("missing.csv", "missing.csv"), ("empty.csv", "empty.csv")] {
        let output =
            equipoise().args(["open", "--no-browser", file]).current_dir(&directory).output().unwrap();
        let sentence = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{sentence}");
        assert!(
            sentence.starts_with(&format!("error: {said}")) && sentence.lines().count() == 1,
            "{sentence}"
        );
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_dozen_answers_end_in_a_metric_beside_the_table() {
    let directory = place("open-answers");
    std::fs::copy(SCREENING, directory.join("val.csv")).unwrap();
    std::fs::write(directory.join("metric.json"), "{\"mine\": true}").unwrap();
    let mut opened = Opened::new(&directory, &["val.csv", "--seed", "3"]);
    assert!(
        opened.page.contains("What was read") && opened.page.contains("Guessed: malignant"),
        "{}",
        opened.page
    );
    opened.send("/begin", &[]);
    // An answer that is sent twice counts once.
    let first = between(&opened.page, "id=\"difference\">", "<").unwrap().to_owned();
    opened.send("/answer", &[("question", "1"), ("choice", "a")]);
    opened.send("/answer", &[("question", "1"), ("choice", "a")]);
    assert!(opened.page.contains("Question 2<"), "{}", opened.page);
    opened.send("/undo", &[("question", "2")]);
    assert_eq!(between(&opened.page, "id=\"difference\">", "<"), Some(first.as_str()));
    let questions = opened.answer_all();
    assert!(questions <= 12, "{questions} questions");
    assert!(opened.page.contains("false alarms to avoid one missed malignant case"), "{}", opened.page);
    // Somebody else's file is left alone.
    assert_eq!(std::fs::read_to_string(directory.join("metric.json")).unwrap(), "{\"mine\": true}");
    let metric = std::fs::read_to_string(directory.join("metric-2.json")).unwrap();
    let metric: Value = serde_json::from_str(&metric).unwrap();
    assert_eq!(metric["provenance"]["questions"], questions, "{metric}");
    assert!(directory.join("val.interview.json").is_file());
    opened.end();
    // Whoever opens the table again begins anew, because those questions have come to their end.
    let again = Opened::new(&directory, &["val.csv"]);
    assert!(again.page.contains(">Ask me<"), "{}", again.page);
    again.end();
    assert_eq!(std::fs::read_dir(directory.join("tmp")).unwrap().count(), 0, "something is left behind");
}

#[test]
fn answers_that_were_begun_are_gone_on_with() {
    let directory = place("open-resume");
    std::fs::copy(SCREENING, directory.join("val.csv")).unwrap();
    let mut opened = Opened::new(&directory, &["val.csv"]);
    opened.send("/begin", &[]);
    opened.send("/answer", &[("question", "1"), ("choice", "b")]);
    let second = between(&opened.page, "id=\"difference\">", "<").unwrap().to_owned();
    opened.end();
    let mut again = Opened::new(&directory, &["val.csv"]);
    assert!(again.page.contains("Go on after 1 answer<"), "{}", again.page);
    again.send("/begin", &[]);
    assert_eq!(between(&again.page, "id=\"difference\">", "<"), Some(second.as_str()));
    again.end();
}

#[test]
fn gaps_between_two_groups_are_asked_about_too() {
    let directory = place("open-groups");
    std::fs::copy(SCREENING, directory.join("val.csv")).unwrap();
    let mut opened = Opened::new(&directory, &["val.csv"]);
    assert!(opened.page.contains("gaps between north and south"), "{}", opened.page);
    opened.send("/begin", &[("about", "groups")]);
    assert!(opened.page.contains("gap between north and south"), "{}", opened.page);
    opened.end();
}

#[test]
fn what_is_wrong_with_a_table_is_said_as_in_the_terminal() {
    let directory = place("open-broken");
    std::fs::write(directory.join("broken.csv"), "y,p\nill,0.4\nwell,1.7\nill,0.9\n").unwrap();
    let told =
        equipoise().args(["inspect", "broken.csv", "--no-svg"]).current_dir(&directory).output().unwrap();
    let told = String::from_utf8(told.stderr).unwrap().trim().replace("error: ", "");
    let mut opened = Opened::new(&directory, &[]);
    opened.send("/path", &[("path", "broken.csv")]);
    let said = between(&opened.page, "role=\"alert\"><p>", "</p>").unwrap();
    assert_eq!(said, told);
    opened.end();
}

/// Makes up a table of so many rows.
fn make_parquet(path: &Path, rows: usize) {
    let schema =
        "message rows { required binary y (UTF8); required double p_benign; required double p_malignant; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let part = 500_000;
    for _ in 0..rows / part {
        let scores: Vec<f64> = (0..part).map(|_| uniform()).collect();
        let truth: Vec<ByteArray> =
            scores.iter().map(|p| if uniform() < *p { "malignant" } else { "benign" }.into()).collect();
        let other: Vec<f64> = scores.iter().map(|p| 1.0 - p).collect();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&truth, None, None).unwrap();
        column.close().unwrap();
        for values in [&other, &scores] {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<DoubleType>().write_batch(values, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// Five million rows by their path: from the command to the page that shows what they allow.
#[test]
#[ignore = "makes and reads five million rows"]
fn a_large_table_by_its_path_is_seen_soon() {
    let directory = place("open-large");
    make_parquet(&directory.join("large.parquet"), 5_000_000);
    let begun = Instant::now();
    let opened = Opened::new(&directory, &["large.parquet"]);
    let took = begun.elapsed().as_secs_f64();
    println!("5,000,000 rows of Parquet by path: the page after {took:.1} s");
    assert!(opened.page.contains("5,000,000") && opened.page.contains("What was read"), "{}", opened.page);
    let most = if cfg!(debug_assertions) { 90.0 } else { 15.0 };
    assert!(took < most, "{took:.1} s, expected at most {most} s");
    opened.end();
}
