//! `serve`, `demo --web` and `bench server`, with the real binary.

use equipoise_server::cohort::Client;
use serde_json::Value;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn equipoise() -> Command {
    Command::new(env!("CARGO_BIN_EXE_equipoise"))
}

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a directory for the test");
    path
}

/// The sentence and the exit code.
fn fails(directory: &Path, arguments: &[&str]) -> (String, i32) {
    let output = equipoise().args(arguments).current_dir(directory).output().expect("the binary runs");
    (String::from_utf8(output.stderr).expect("UTF-8"), output.status.code().expect("a code"))
}

/// The first JSON document of a process that goes on.
fn document(reader: &mut impl std::io::BufRead) -> Value {
    let mut text = String::new();
    while reader.read_line(&mut text).expect("output") > 0 {
        if let Ok(document) = serde_json::from_str(&text) {
            return document;
        }
    }
    panic!("no document in {text:?}");
}

#[test]
fn what_cannot_be_served_is_said_in_a_sentence() {
    let directory = place("serve-refused");
    assert!(equipoise().args(["new", "cancer"]).current_dir(&directory).output().unwrap().status.success());
    assert_eq!(
        fails(&directory, &["serve", "cancer"]),
        ("error: the study is not locked yet; do it with: equipoise lock\n".to_owned(), 2)
    );
    let (sentence, code) = fails(&directory, &["serve", "nowhere"]);
    assert!(code == 3 && sentence.starts_with("error: cannot read nowhere"), "{code} {sentence}");
    assert!(
        equipoise()
            .args(["lock", "--study", "cancer"])
            .current_dir(&directory)
            .output()
            .unwrap()
            .status
            .success()
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (sentence, code) = fails(&directory, &["serve", "cancer", "--listen", &address]);
    assert!(
        code == 3 && sentence.starts_with(&format!("error: cannot listen on {address}")),
        "{code} {sentence}"
    );
}

#[cfg(unix)]
#[test]
fn the_demo_serves_a_study_and_leaves_nothing_behind() {
    let temporary = place("serve-demo");
    let mut demo = equipoise()
        .args(["demo", "--web", "--json"])
        .env("TMPDIR", &temporary)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut output = BufReader::new(demo.stdout.take().unwrap());
    let link = document(&mut output)["link"].as_str().unwrap().to_owned();
    let (address, path) = link.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let page = runtime.block_on(async {
        let mut client = Client::connect(address.parse().unwrap()).await?;
        client.get(&format!("/{path}")).await?;
        client.get("/").await
    });
    assert!(page.unwrap().body.contains("Choose your language"));
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 1);
    let stop = Command::new("kill").args(["-TERM", &demo.id().to_string()]).status().unwrap();
    assert!(stop.success() && demo.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn the_bench_counts_answers_and_none_fails() {
    let mut bench = equipoise();
    bench.args(["bench", "server", "--participants", "5", "--think", "0.05", "--seconds", "1", "--json"]);
    let output = bench.output().expect("the binary runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(document["errors"].as_array().unwrap().len(), 0, "{document}");
    assert!(document["answers"].as_u64().unwrap() > 10, "{document}");
}

#[cfg(unix)]
#[test]
fn nothing_that_people_send_is_in_what_the_server_says() {
    let temporary = place("serve-canaries");
    let mut demo = equipoise()
        .args(["demo", "--web", "--json"])
        .env("TMPDIR", &temporary)
        .env("RUST_LOG", "trace")
        .env("RUST_BACKTRACE", "full")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut output = BufReader::new(demo.stdout.take().unwrap());
    let link = document(&mut output)["link"].as_str().unwrap().to_owned();
    let (address, path) = link.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut sent = 0;
    runtime.block_on(async {
        let mut client = Client::connect(address.parse().unwrap()).await.unwrap();
        client.get(&format!("/{path}?PROLIFIC_PID=canary-0000")).await.unwrap();
        let page = client.get("/").await.unwrap().body;
        let csrf = page.split_once("name=\"csrf\" value=\"").unwrap().1.split('"').next().unwrap().to_owned();
        let paths = [
            "/language",
            "/consent",
            "/questionnaire",
            "/stated",
            "/learn",
            "/practice",
            "/answer",
            "/undo",
            "/note",
            "/withdraw/x",
        ];
        for round in 0..50 {
            for path in paths {
                sent += 1;
                let canary = format!("canary-{sent:04}-{round}");
                let fields = [
                    ("csrf", csrf.as_str()),
                    ("key", canary.as_str()),
                    ("language", &canary),
                    ("text", &canary),
                    ("query", &canary),
                    ("item.how", &canary),
                    ("ratio", &canary),
                    ("choice", &canary),
                ];
                client.post(path, &fields).await.unwrap();
                client.get(&format!("/{canary}?mail={canary}@example.org")).await.unwrap();
            }
        }
    });
    Command::new("kill").args(["-TERM", &demo.id().to_string()]).status().unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut output, &mut said).unwrap();
    std::io::Read::read_to_string(&mut demo.stderr.take().unwrap(), &mut said).unwrap();
    demo.wait().unwrap();
    let token = path.strip_prefix("s/").unwrap();
    assert!(!said.contains("canary-") && !said.contains(token), "{said}");
    println!("{sent} canaries were sent, none is in {} bytes of output", said.len());
}
