//! A panel's part, played over real HTTP against the real binary: it sends people to one address and reads what they bring back.

use equipoise_cohort::{Client, Part, Person, come_in};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PANEL: &str = r#"
[panel]
id = "PROLIFIC_PID"
keep = ["STUDY_ID", "SESSION_ID"]

[panel.done]
code = "C0DONE"
url = "https://app.prolific.com/submissions/complete?cc={code}"

[panel.withdrew]
code = "C0LEFT"
url = "https://app.prolific.com/submissions/complete?cc={code}"

[panel.full]
url = "https://app.prolific.com/submissions/complete?cc=C0FULL"

[panel.closed]
url = "https://panel.example.org/closed"
"#;

/// What Prolific calls people; found nowhere but in what was sent, and sealed.
const IDS: [&str; 3] = ["5f3a9c0b1d2e4f6a7b8c9d01", "60aa11bb22cc33dd44ee55f2", "61ff00ee11dd22cc33bb44a3"];

fn equipoise() -> Command {
    Command::new(env!("CARGO_BIN_EXE_equipoise"))
}

/// A study in a directory of its own, with these settings of its panel.
fn study(name: &str, settings: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    let path = directory.to_str().expect("UTF-8");
    assert!(equipoise().args(["study", "new", path]).output().expect("the binary runs").status.success());
    let file = directory.join("study.toml");
    let text = std::fs::read_to_string(&file).expect("a study file");
    let panel = PANEL.replace("[panel]\n", &format!("[panel]\n{settings}\n"));
    std::fs::write(&file, text + &panel).expect("a study file");
    let locked = equipoise().args(["study", "lock", path]).output().expect("the binary runs");
    assert!(locked.status.success(), "{}", String::from_utf8_lossy(&locked.stderr));
    directory
}

/// A server, until it is dropped.
struct Server {
    process: Child,
    address: SocketAddr,
    join: String,
}

impl Server {
    fn start(directory: &Path) -> Self {
        let mut process = equipoise()
            .args(["study", "serve", directory.to_str().unwrap(), "--listen", "127.0.0.1:0", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let (mut reader, mut text) = (BufReader::new(process.stdout.take().unwrap()), String::new());
        let document: Value = loop {
            assert!(reader.read_line(&mut text).expect("output") > 0, "no document in {text:?}");
            if let Ok(document) = serde_json::from_str(&text) {
                break document;
            }
        };
        let address = document["address"].as_str().unwrap().parse().unwrap();
        Self { process, address, join: document["join"].as_str().unwrap_or_default().to_owned() }
    }

    /// What a browser of somebody whom the panel sends asks for first.
    fn path(&self, id: &str) -> String {
        let path = self.join.split_once("/join").expect("the address of the panel").1;
        format!("/join{}", path)
            .replace("{{%PROLIFIC_PID%}}", id)
            .replace("{{%STUDY_ID%}}", "study-1")
            .replace("{{%SESSION_ID%}}", "session-1")
    }

    /// Ends it; what it said meanwhile.
    fn stop(mut self) -> String {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        let mut said = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

fn sessions(directory: &Path) -> usize {
    let store = equipoise_log::SqliteStore::open_copy(directory.join("log.sqlite")).unwrap();
    equipoise_log::Reader::sessions(&store).unwrap().len()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn person(seed: u64) -> Person {
    Person::new(6.0, 20.0, Duration::ZERO, seed)
}

/// The code on a page, and where it leads.
fn brought_back(page: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let between = |before: &str, after: &str| -> BTreeSet<String> {
        let parts = page.split(before).skip(1);
        parts.map(|part| part.split(after).next().unwrap().to_owned()).collect()
    };
    (between("<code class=\"receipt\">", "<"), between("href=\"https://", "\""))
}

#[test]
fn two_people_of_a_panel_have_two_places_and_one_who_comes_twice_has_one() {
    let directory = study("panel-two", "");
    let server = Server::start(&directory);
    assert!(server.join.ends_with(
        "/join?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    ));
    runtime().block_on(async {
        for (n, id) in IDS[..2].iter().enumerate() {
            let mut part = Part::default();
            come_in(server.address, &server.path(id), &mut person(n as u64), &mut part).await.unwrap();
            assert!(part.finished && part.answers.len() > 5, "{}", part.page);
            let (codes, urls) = brought_back(&part.page);
            assert!(codes.contains("C0DONE"), "{}", part.page);
            assert!(urls.contains("app.prolific.com/submissions/complete?cc=C0DONE"), "{urls:?}");
            assert!(!part.page.contains(id), "who it is is in the page");
        }
        // One of them again, from another device: the same place, the same code.
        let mut client = Client::connect(server.address).await.unwrap();
        let joined = client.get(&server.path(IDS[0])).await.unwrap();
        assert!(joined.body.contains("url=/?again=yes"), "{}", joined.body);
        let again = client.get("/?again=yes").await.unwrap();
        assert!(again.body.contains("You have already taken part"), "{}", again.body);
        assert!(brought_back(&again.body).0.contains("C0DONE"));
        // And whoever has begun goes on where they were.
        for _ in 0..2 {
            let mut client = Client::connect(server.address).await.unwrap();
            assert_eq!(client.get(&server.path(IDS[2])).await.unwrap().status.as_u16(), 200);
        }
    });
    let said = server.stop();
    assert_eq!(sessions(&directory), 3);
    assert!(IDS.iter().all(|id| !said.contains(id)), "in what the server prints: {said}");
    for file in std::fs::read_dir(&directory).unwrap().flatten() {
        let bytes = std::fs::read(file.path()).unwrap();
        let inside = |id: &&str| bytes.windows(id.len()).any(|part| part == id.as_bytes());
        assert!(!IDS.iter().any(inside), "in the clear in {:?}", file.path());
    }
    let path = directory.to_str().unwrap();
    for export in [&["export", path, "--as", "csv"][..], &["export", path, "--as", "json-lines"]] {
        let output = equipoise().arg("study").args(export).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.len() > 1_000 && IDS.iter().all(|id| !text.contains(id)), "in the export");
    }
    let contacts = equipoise().args(["study", "contacts", path, "--json"]).output().unwrap();
    let contacts = String::from_utf8(contacts.stdout).unwrap();
    assert!(IDS[..2].iter().all(|id| contacts.contains(id)), "{contacts}");
    assert!(!contacts.contains(IDS[2]), "known before they agreed: {contacts}");
}

#[test]
fn the_third_of_two_is_told_that_it_is_full_and_makes_room_by_nothing() {
    let directory = study("panel-quota", "quota = 2");
    let server = Server::start(&directory);
    runtime().block_on(async {
        // Each five times at once.
        let mut asked = vec![];
        for n in 0..15 {
            let (address, path) = (server.address, server.path(IDS[n % 3]));
            asked.push(tokio::spawn(async move {
                let mut client = Client::connect(address).await.unwrap();
                (n % 3, client.get(&path).await.unwrap())
            }));
        }
        let (mut open, mut full) = (BTreeSet::new(), BTreeSet::new());
        for asked in asked {
            let (who, response) = asked.await.unwrap();
            match response.location.as_deref() {
                None => open.insert(who),
                Some("/join/full") => full.insert(who),
                Some(other) => panic!("{other}"),
            };
        }
        assert_eq!((open.len(), full.len()), (2, 1), "two came in, and the third never did");
        let mut client = Client::connect(server.address).await.unwrap();
        let page = client.get("/join/full").await.unwrap().body;
        assert!(page.contains("All places are taken"), "{page}");
        let (_, urls) = brought_back(&page);
        assert!(urls.contains("app.prolific.com/submissions/complete?cc=C0FULL"), "{urls:?}");
        // One of the two withdraws: a code of its own, and the third comes in.
        let left = IDS[*open.iter().next().unwrap()];
        let third = IDS[*full.iter().next().unwrap()];
        let mut client = Client::connect(server.address).await.unwrap();
        client.get(&server.path(left)).await.unwrap();
        let page = client.get("/withdraw").await.unwrap().body;
        let field = |name: &str| {
            let rest = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap().1;
            rest.split('"').next().unwrap().to_owned()
        };
        let reply =
            client.post("/withdraw", &[("csrf", &field("csrf")), ("key", &field("key"))]).await.unwrap();
        let reply: Value = serde_json::from_str(&reply.body).unwrap();
        let (codes, urls) = brought_back(reply["page"].as_str().unwrap());
        assert!(codes.contains("C0LEFT"), "{reply}");
        assert!(urls.contains("app.prolific.com/submissions/complete?cc=C0LEFT"), "{urls:?}");
        let mut client = Client::connect(server.address).await.unwrap();
        let came = client.get(&server.path(third)).await.unwrap();
        assert_eq!((came.status.as_u16(), came.location), (200, None), "{}", came.body);
    });
    server.stop();
}

#[test]
fn before_it_opens_and_after_it_closes_there_is_a_page() {
    for (name, settings, title) in [
        ("panel-early", "opens = \"2999-01-01T00:00:00Z\"", "This study has not begun"),
        ("panel-over", "closes = \"2020-01-01T00:00:00Z\"", "This study has ended"),
    ] {
        let directory = study(name, settings);
        let server = Server::start(&directory);
        runtime().block_on(async {
            let mut client = Client::connect(server.address).await.unwrap();
            let sent = client.get(&server.path(IDS[0])).await.unwrap();
            assert_eq!(sent.location.as_deref(), Some("/join/closed"));
            let page = client.get("/join/closed").await.unwrap().body;
            assert!(page.contains(title), "{page}");
            assert!(brought_back(&page).1.contains("panel.example.org/closed"), "{page}");
        });
        server.stop();
        assert_eq!(sessions(&directory), 0);
    }
}

#[test]
fn a_study_file_with_a_wrong_panel_is_told_in_a_sentence() {
    let directory = study("panel-check", "");
    let path = directory.to_str().unwrap();
    let check = || {
        let output = equipoise().args(["study", "check", path]).output().unwrap();
        (
            String::from_utf8(output.stderr).unwrap(),
            String::from_utf8(output.stdout).unwrap(),
            output.status.code(),
        )
    };
    let file = directory.join("study.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("[panel]\n", "[panel]\ncloses = \"soon\"\n")).unwrap();
    let (said, _, code) = check();
    let sentence = "panel.closes is \"soon\", expected a time such as \"2026-11-20T09:00:00Z\"";
    assert!(said.contains(sentence) && said.contains("line ") && said.lines().count() == 1, "{said}");
    assert_eq!(code, Some(2));
    std::fs::write(
        &file,
        text.replace(
            "code = \"C0DONE\"\nurl = \"https://app.prolific.com/submissions/complete?cc={code}\"",
            "",
        ),
    )
    .unwrap();
    let (_, notes, _) = check();
    assert!(
        notes.contains("panel.done has neither code nor url: the panel cannot tell who is done"),
        "{notes}"
    );
}
