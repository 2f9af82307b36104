//! `serve`, `demo --web` and `bench server`, with the real binary.

use equipoise_cohort::Client;
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

fn new_study(directory: &Path) {
    let made = equipoise().args(["study", "new", "cancer"]).current_dir(directory).output().unwrap();
    assert!(made.status.success());
}

#[test]
fn what_cannot_be_served_is_said_in_a_sentence() {
    let directory = place("serve-refused");
    new_study(&directory);
    assert_eq!(
        fails(&directory, &["study", "serve", "cancer"]),
        ("error: the study is not locked yet; do it with: equipoise study lock cancer\n".to_owned(), 2)
    );
    // Nobody is invited to a study that is not locked, and nobody could sign in to change it.
    let opened = ["study", "serve", "cancer", "--researchers", "127.0.0.1:0"];
    let (sentence, code) = fails(&directory, &[&opened[..], &["--invite", "1"]].concat());
    assert!(code == 2 && sentence.starts_with("error: the study is not locked yet"), "{code} {sentence}");
    let (sentence, code) = fails(&directory, &opened);
    assert!(code == 2 && sentence.starts_with("error: nobody could sign in"), "{code} {sentence}");
    let (sentence, code) = fails(&directory, &["study", "serve", "nowhere"]);
    assert!(code == 3 && sentence.starts_with("error: cannot read nowhere"), "{code} {sentence}");
    assert!(
        equipoise()
            .args(["study", "lock", "cancer"])
            .current_dir(&directory)
            .output()
            .unwrap()
            .status
            .success()
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (sentence, code) =
        fails(&directory, &["study", "serve", "cancer", "--listen", &address, "--invite", "3"]);
    assert!(
        code == 3 && sentence.starts_with(&format!("error: cannot listen on {address}")),
        "{code} {sentence}"
    );
    let store = equipoise_log::SqliteStore::open_copy(directory.join("cancer/log.sqlite")).unwrap();
    assert!(equipoise_log::Reader::sessions(&store).unwrap().is_empty(), "nobody was told these links");
}

#[test]
fn a_study_is_served_once_and_only_from_a_log_that_agrees_with_itself() {
    let directory = place("serve-once");
    for arguments in [&["study", "new", "s"][..], &["study", "lock", "s"]] {
        assert!(equipoise().args(arguments).current_dir(&directory).output().unwrap().status.success());
    }
    let serve = ["study", "serve", "s", "--listen", "127.0.0.1:0", "--invite", "1"];
    let mut server = equipoise()
        .args(serve)
        .arg("--json")
        .current_dir(&directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    document(&mut BufReader::new(server.stdout.take().unwrap()));
    let second = fails(&directory, &serve);
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(
        second,
        ("error: the study is being served already by another process; stop that one first\n".to_owned(), 2)
    );
    let log = rusqlite::Connection::open(directory.join("s/log.sqlite")).unwrap();
    log.execute("UPDATE payload SET body = replace(body, '\"number\":1', '\"number\":7')", []).unwrap();
    drop(log);
    let (sentence, code) = fails(&directory, &serve);
    assert!(code == 4 && sentence.contains("has another event than it was sealed with"), "{code} {sentence}");
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(directory.join(format!("s/log.sqlite{ending}")));
    }
    let (sentence, code) = fails(&directory, &serve);
    assert!(code == 3 && sentence.contains("log.sqlite is gone, but there was one"), "{code} {sentence}");
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
    bench.args(["bench", "server", "--participants", "5", "--think", "0.05", "--seconds", "2", "--json"]);
    let output = bench.output().expect("the binary runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(document["errors"].as_array().unwrap().len(), 0, "{document}");
    // How many is a matter of the machine and of what else it does; that they were answered is not.
    assert!(document["answers"].as_u64().unwrap() > 0, "{document}");
}

/// Runs a command with a line on its standard input: what it printed, the sentence if it failed, and the code.
fn told(directory: &Path, arguments: &[&str], line: &str) -> (String, String, i32) {
    use std::io::Write as _;
    let mut child = equipoise()
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // A command that refuses does not wait for a password.
    let _ = writeln!(child.stdin.take().unwrap(), "{line}");
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code().expect("a code"))
}

#[test]
fn accounts_are_made_listed_changed_and_taken_away() {
    let directory = place("accounts");
    new_study(&directory);
    let run = |arguments: &[&str], line: &str| told(&directory, arguments, line);
    let refused = |arguments: &[&str], line: &str| {
        let (out, sentence, code) = run(arguments, line);
        assert!(out.is_empty(), "{out}");
        (sentence, code)
    };
    assert_eq!(
        refused(&["study", "account", "add", "cancer", "ana", "--role", "viewer"], "three small boats"),
        ("error: the first account has to be an owner: --role owner\n".to_owned(), 2)
    );
    assert_eq!(
        refused(&["study", "account", "add", "cancer", "ana", "--role", "owner"], "short"),
        (
            "error: the password has 5 characters, expected at least 12; a few words in a row are fine\n"
                .to_owned(),
            2
        )
    );
    let (sentence, code) =
        refused(&["study", "account", "add", "nowhere", "ana", "--role", "owner"], "three small boats");
    assert!(code == 3 && sentence.contains("there is no study"), "{code} {sentence}");
    let (said, _, code) =
        run(&["study", "account", "add", "cancer", "ana", "--role", "owner"], "three small boats");
    assert_eq!((said.as_str(), code), ("ana can sign in, as an owner.\n", 0));
    run(&["study", "account", "add", "cancer", "ben", "--role", "viewer"], "three small boats");
    let (said, _, _) = run(&["study", "account", "role", "cancer", "ben", "analyst"], "");
    assert_eq!(said, "ben is an analyst now, and signed out everywhere.\n");
    let (said, _, _) = run(&["study", "account", "password", "cancer", "ben"], "four small boats");
    assert_eq!(said, "ben has a new password, and is signed out everywhere.\n");
    let (list, _, _) = run(&["study", "account", "list", "cancer", "--json"], "");
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["accounts"][1], serde_json::json!({"name": "ben", "role": "analyst", "sessions": 0}));
    assert_eq!(run(&["study", "account", "remove", "cancer", "ben"], "").0, "ben has no account any more.\n");
    assert_eq!(
        refused(&["study", "account", "remove", "cancer", "ana"], ""),
        ("error: \"ana\" is the only owner; make another one first\n".to_owned(), 2)
    );
}

#[cfg(unix)]
#[test]
fn researchers_sign_in_on_a_port_of_their_own() {
    let directory = place("researchers");
    let run = |arguments: &[&str]| {
        assert!(equipoise().args(arguments).current_dir(&directory).output().unwrap().status.success());
    };
    run(&["study", "new", "cancer"]);
    run(&["study", "lock", "cancer"]);
    let free = ["study", "serve", "cancer", "--listen", "127.0.0.1:0", "--researchers"];
    let (sentence, code) = fails(&directory, &[&free[..], &["127.0.0.1:0"]].concat());
    assert!(
        code == 2 && sentence.contains("equipoise study account add cancer NAME --role owner"),
        "{code} {sentence}"
    );
    told(&directory, &["study", "account", "add", "cancer", "ana", "--role", "owner"], "three small boats");
    let (sentence, code) = fails(&directory, &[&free[..], &["0.0.0.0:0"]].concat());
    assert!(code == 2 && sentence.contains("can be reached from elsewhere"), "{code} {sentence}");
    let mut server = equipoise()
        .args([&free[..], &["127.0.0.1:0", "--json"]].concat())
        .current_dir(&directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let document = document(&mut BufReader::new(server.stdout.take().unwrap()));
    let at = |link: &str| -> std::net::SocketAddr { link.trim_start_matches("http://").parse().unwrap() };
    let (researchers, study) =
        (at(document["researchers"].as_str().unwrap()), at(document["address"].as_str().unwrap()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let get = |address: std::net::SocketAddr, path: &'static str| {
        runtime.block_on(async { Client::connect(address).await?.get(path).await }).unwrap()
    };
    assert!(get(researchers, "/sign-in").body.contains("Sign in"));
    assert_eq!(get(researchers, "/live").status.as_u16(), 303);
    assert_eq!(get(study, "/live").status.as_u16(), 404);
    let health: Value = serde_json::from_str(&get(researchers, "/health").body).unwrap();
    assert_eq!(health["status"], "ok");
    // Whoever is taken away on the command line is out at once; here: the account made while the server runs can sign in.
    let (said, _, _) = told(
        &directory,
        &["study", "account", "add", "cancer", "ben", "--role", "analyst"],
        "three small boats",
    );
    assert_eq!(said, "ben can sign in, as an analyst.\n");
    let stop = Command::new("kill").args(["-TERM", &server.id().to_string()]).status().unwrap();
    assert!(stop.success() && server.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_server_that_can_save_nothing_says_so_once_and_when_that_is_over() {
    let directory = place("serve-gone");
    new_study(&directory);
    assert!(
        equipoise().args(["study", "lock", "cancer"]).current_dir(&directory).status().unwrap().success()
    );
    let mut server = equipoise()
        .args(["study", "serve", "cancer", "--listen", "127.0.0.1:0", "--invite", "1", "--json"])
        .current_dir(&directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let told = document(&mut BufReader::new(server.stdout.take().unwrap()));
    let link = told["links"][0].as_str().unwrap().strip_prefix("http://").unwrap();
    let (address, path) = link.split_once('/').unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (log, aside) = (directory.join("cancer/log.sqlite"), directory.join("cancer/elsewhere"));
    runtime.block_on(async {
        let mut client = Client::connect(address.parse().unwrap()).await.unwrap();
        client.get(&format!("/{path}")).await.unwrap();
        let page = client.get("/").await.unwrap().body;
        let field = |name: &str| {
            let rest = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap().1;
            rest.split('"').next().unwrap().to_owned()
        };
        let (csrf, key) = (field("csrf"), field("key"));
        let fields = [("csrf", csrf.as_str()), ("key", &key), ("language", "en")];
        std::fs::rename(&log, &aside).unwrap();
        for _ in 0..30 {
            assert_eq!(client.post("/language", &fields).await.unwrap().status.as_u16(), 503);
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        std::fs::rename(&aside, &log).unwrap();
        assert_eq!(client.post("/language", &fields).await.unwrap().status.as_u16(), 200);
        // It is looked at every other second.
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    });
    Command::new("kill").args(["-TERM", &server.id().to_string()]).status().unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut server.stderr.take().unwrap(), &mut said).unwrap();
    assert!(server.wait().unwrap().success());
    let expected = "warning: no answer can be saved: the log was deleted or replaced while it is served; stop the server, put \
                    the log back and start again (log_gone); what was acknowledged is kept\n\
                    equipoise: answers are saved again\n";
    assert_eq!(said, expected);
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
    let told = document(&mut output);
    let link = told["link"].as_str().unwrap().to_owned();
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
    // The researchers' side: tokens, names and passwords that nobody has.
    let researchers = told["researchers"]["link"].as_str().unwrap().strip_prefix("http://").unwrap();
    for round in 0..20 {
        use std::io::{Read as _, Write as _};
        sent += 2;
        let body = format!("csrf=canary-{sent:04}&name=canary-{round}&password=canary-{sent:04}-password");
        for (line, rest) in [
            (format!("GET /api/live?mail=canary-{sent:04}@example.org"), String::new()),
            ("POST /sign-in".to_owned(), body),
        ] {
            let mut stream = std::net::TcpStream::connect(researchers).unwrap();
            let length = rest.len();
            let kind = "Content-Type: application/x-www-form-urlencoded";
            let who = format!(
                "Authorization: Bearer eqp_canary-{sent:04}\r\nCookie: equipoise-desk=canary-{sent:04}"
            );
            write!(
                stream,
                "{line} HTTP/1.1\r\nHost: {researchers}\r\n{who}\r\n{kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{rest}"
            )
            .unwrap();
            let mut got = String::new();
            stream.read_to_string(&mut got).unwrap();
            assert!(got.starts_with("HTTP/1.1 40"), "{got}");
        }
    }
    Command::new("kill").args(["-TERM", &demo.id().to_string()]).status().unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut output, &mut said).unwrap();
    std::io::Read::read_to_string(&mut demo.stderr.take().unwrap(), &mut said).unwrap();
    demo.wait().unwrap();
    let token = path.strip_prefix("s/").unwrap();
    assert!(!said.contains("canary-") && !said.contains(token), "{said}");
    println!("{sent} canaries were sent, none is in {} bytes of output", said.len());
}

#[cfg(not(feature = "postgres"))]
#[test]
fn a_program_without_postgresql_says_which_one_has_it() {
    let directory = place("without-postgresql");
    fails(&directory, &["study", "new", "s", "--template", "binary-cancer"]);
    for verb in [&["lock"][..], &["watch"], &["account", "list"], &["retain"]] {
        let database = ["s", "--database", "postgres://equipoise@127.0.0.1/study"];
        let (told, code) = fails(&directory, &[&["study"], verb, &database].concat());
        assert!(code == 2 && told.contains("built without PostgreSQL"), "{verb:?}: {told}");
        assert!(told.contains("--features postgres"), "{told}");
    }
    assert!(!directory.join("s/log.sqlite").exists(), "something was begun in a file");
}
