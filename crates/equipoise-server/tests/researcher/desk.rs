//! A study that is not locked: editing it, its tables, and locking it; and the report as a page.

use super::*;
use equipoise_server::researcher::draft::{Draft, Remake};
use equipoise_study::directory::{Directory, STUDY, fingerprint};
use equipoise_study::tables::Here;
use std::path::PathBuf;
use std::sync::Mutex;

/// A study in a directory, and its researchers' pages as they are now.
struct Desk {
    directory: PathBuf,
    files: Directory,
    writer: Writer,
    accounts: Arc<Accounts>,
    now: Mutex<(Router, Arc<Service>, bool)>,
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn desk(name: &str) -> Arc<Desk> {
    let directory = std::env::temp_dir().join(format!("equipoise-desk-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let cancer = template::find("binary-cancer").unwrap();
    std::fs::write(directory.join(STUDY), cancer.text).unwrap();
    std::fs::write(directory.join(cancer.table.0), cancer.table.1).unwrap();
    let files = Directory::new(directory.clone(), Here);
    let accounts = Accounts::in_memory().unwrap();
    for role in Role::ALL {
        accounts.add(role.word(), role, PASSWORD, 0).unwrap();
    }
    let (writer, accounts) = (Writer::start(MemoryStore::new()), Arc::new(accounts));
    let service = service(&writer, Arc::new(files.design().unwrap()));
    let now = Mutex::new((Router::new(), Arc::new(service), false));
    let desk = Arc::new(Desk { directory, files, writer, accounts, now });
    let design = desk.files.design().unwrap();
    desk.serve(self::service(&desk.writer, Arc::new(design)), false);
    desk
}

fn service(writer: &Writer, design: Arc<Design>) -> Service {
    Service::new(design, writer.clone(), SystemClock, equipoise_study::seams::SystemRandom)
}

impl Desk {
    fn serve(self: &Arc<Self>, service: Service, locked: bool) {
        let settings = Settings {
            origin: "http://researchers.test".to_owned(),
            participants: "http://study.test".to_owned(),
            log: None,
        };
        let service = Arc::new(service);
        let mut state = Researchers::new(service.clone(), self.accounts.clone(), settings).unwrap();
        if !locked {
            let (writer, desk) = (self.writer.clone(), Arc::downgrade(self));
            let remake = Remake::new(move |design| self::service(&writer, design));
            let renew = Box::new(move |service, locked| {
                desk.upgrade().unwrap().serve(service, locked);
                Ok(())
            });
            state = state.with_draft(Draft::new(self.files.clone(), remake, renew));
        }
        *self.now.lock().unwrap() = (app(state), service, locked);
    }

    fn app(&self) -> Router {
        self.now.lock().unwrap().0.clone()
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.directory.join(STUDY)).unwrap()
    }

    async fn sign_in(&self, name: &str) -> Browser {
        sign_in(&self.app(), name).await
    }

    async fn get(&self, browser: &Browser, path: &str) -> Got {
        get(&self.app(), path, &browser.cookie).await
    }

    /// Sends a form as a browser sends one with files.
    async fn post(
        &self,
        browser: &Browser,
        path: &str,
        fields: &[(&str, &str)],
        file: Option<(&str, &[u8])>,
    ) -> Got {
        let mut fields = fields.to_vec();
        fields.push(("csrf", &browser.csrf));
        send(&self.app(), with_files(path, &browser.cookie, &fields, file)).await
    }

    /// Saves a text as somebody who opened the page now.
    async fn save(&self, browser: &Browser, text: &str) -> Got {
        let seen = self.get(browser, "/design/edit").await.field("seen");
        self.post(browser, "/design/edit", &[("text", text), ("seen", &seen), ("do", "save")], None).await
    }

    async fn upload(&self, browser: &Browser, place: &str, name: &str, content: &[u8]) -> Got {
        self.post(browser, "/design/table", &[("as", place)], Some((name, content))).await
    }

    /// Names of all files.
    fn names(&self) -> Vec<String> {
        let all = std::fs::read_dir(&self.directory).unwrap();
        let mut names: Vec<String> =
            all.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn with_files(
    path: &str,
    cookie: &str,
    fields: &[(&str, &str)],
    file: Option<(&str, &[u8])>,
) -> Request<Body> {
    let mut body = vec![];
    for (name, value) in fields {
        let part = format!("--x7\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend([part.as_bytes(), value.as_bytes(), b"\r\n"].concat());
    }
    if let Some((name, content)) = file {
        let part =
            format!("--x7\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        body.extend([part.as_bytes(), content, b"\r\n"].concat());
    }
    body.extend(b"--x7--\r\n");
    Request::post(path)
        .header(header::COOKIE, cookie)
        .header(header::CONTENT_TYPE, "multipart/form-data; boundary=x7")
        .header(header::HOST, "researchers.test")
        .header(header::ORIGIN, "http://researchers.test")
        .body(Body::from(body))
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_edits_a_draft_and_what_is_saved_is_served() {
    let desk = desk("edited");
    let owner = desk.sign_in("owner").await;
    let page = desk.get(&owner, "/design/edit").await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let before = desk.text();
    // Browsers send lines that end in two characters.
    let text = before.replace("Screening for cancer", "Screening, edited");
    let saved = desk.save(&owner, &text.replace('\n', "\r\n")).await;
    assert_eq!(
        (saved.status, saved.to()),
        (StatusCode::SEE_OTHER, "/design/edit?saved=file"),
        "{}",
        saved.body
    );
    assert_eq!(desk.text(), text, "to the last byte");
    assert_eq!(std::fs::read_to_string(desk.directory.join("study.toml.before")).unwrap(), before);
    assert!(desk.get(&owner, saved.to()).await.body.contains("Saved. A copy of the file before"));
    assert!(desk.get(&owner, "/").await.body.contains("Screening, edited"), "what was saved is not served");
    // The fields people change most.
    let seen = desk.get(&owner, "/design/edit").await.field("seen");
    let fields = [
        ("seen", seen.as_str()),
        ("field:stop.cap", "12"),
        ("field:title.en", "A \"title\"\r\nof two lines"),
    ];
    let saved = desk.post(&owner, "/design/edit", &fields, None).await;
    assert_eq!(saved.to(), "/design/edit?saved=file", "{}", saved.body);
    assert!(desk.text().contains("cap = 12      # or this many"), "a comment is gone");
    let study = Study::parse(&desk.text()).unwrap();
    assert_eq!((study.stop.cap, study.title.r#in("en")), (12, "A \"title\"\nof two lines"));
    let audit = desk.get(&owner, "/settings/audit").await.body;
    assert_eq!(audit.matches("<td>owner</td><td>changed study.toml</td>").count(), 2, "{audit}");
    assert_eq!(desk.names(), ["cancer.csv", "study.toml", "study.toml.before", "study.toml.before-1"]);
    // Saving what is there already makes no copy of it.
    assert_eq!(desk.save_as_is(&owner).await.to(), "/design/edit?saved=same");
    assert_eq!(desk.names().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_check_says_is_said_with_its_line_and_nothing_wrong_is_saved() {
    let desk = desk("checked");
    let owner = desk.sign_in("owner").await;
    let before = desk.text();
    let line = |text: &str, what: &str| 1 + text.lines().position(|line| line.starts_with(what)).unwrap();
    let broken = before.replace("cap = 20", "cap = \"many\"");
    let unknown = before.replace("seed = ", "sead = ");
    let worded = before.replace("predicted as high risk", "labelled as high risk");
    let outside = before.replace("file = \"cancer.csv\"", "file = \"../../../../etc/passwd\"");
    let absolute = before.replace("file = \"cancer.csv\"", "file = \"/etc/passwd\"");
    let own = before.replace("file = \"cancer.csv\"", "file = \"contacts.key\"");
    std::fs::write(desk.directory.join("contacts.key"), "unseals everything").unwrap();
    let missing = before.replace("file = \"cancer.csv\"", "file = \"other.csv\"");
    for (text, said) in [
        (&broken, format!("line {}: ", line(&before, "cap = 20"))),
        (&unknown, format!("line {}: ", line(&before, "seed = "))),
        (&worded, "error G6</strong>".to_owned()),
        (&outside, "is outside the study&#39;s directory".to_owned()),
        (&absolute, "is outside the study&#39;s directory".to_owned()),
        (&own, "is a file of the study&#39;s own".to_owned()),
        (&missing, "cannot read".to_owned()),
        (&String::new(), "line 1: ".to_owned()),
    ] {
        let checked = desk.post(&owner, "/design/check", &[("text", text)], None).await;
        assert_eq!(checked.status, StatusCode::OK);
        assert!(checked.body.contains(&said), "{said} in {}", checked.body);
        assert!(checked.body.contains("<strong>error "), "{}", checked.body);
        let refused = desk.save(&owner, text).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.body);
        assert!(
            refused.body.contains("Nothing was saved") && refused.body.contains(&said),
            "{}",
            refused.body
        );
        for part in ["root:", "unseals"] {
            assert!(!refused.body.contains(part), "a part of another file");
        }
        assert_eq!(desk.text(), before);
    }
    assert_eq!(desk.names(), ["cancer.csv", "contacts.key", "study.toml"]);
    // The button says all that the command says, of what was typed; notes have their line.
    let sent = [("text", before.as_str()), ("seen", "x"), ("do", "check")];
    let checked = desk.post(&owner, "/design/edit", &sent, None).await;
    assert_eq!(checked.status, StatusCode::OK);
    let design = desk.files.design().unwrap();
    design.length();
    let lints = equipoise_study::lint::lint(&design);
    let escaped = |text: &str| text.replace('&', "&#38;").replace('"', "&#34;").replace('\'', "&#39;");
    for lint in &lints {
        assert!(checked.body.contains(&escaped(&lint.what)), "{} in {}", lint.what, checked.body);
    }
    for sentence in equipoise_study::lint::told(&design, &lints) {
        assert!(checked.body.contains(&escaped(&sentence)), "{sentence} in {}", checked.body);
    }
    let contact = format!("note contact, line {}: consent.contact", line(&before, "contact = "));
    assert!(checked.body.contains(&contact), "{contact} in {}", checked.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_somebody_else_changed_is_not_overwritten() {
    let desk = desk("overtaken");
    let owner = desk.sign_in("owner").await;
    let seen = desk.get(&owner, "/design/edit").await.field("seen");
    assert_eq!(seen, fingerprint(desk.text().as_bytes()));
    let elsewhere = desk.text().replace("Screening for cancer", "By an editor");
    std::fs::write(desk.directory.join(STUDY), &elsewhere).unwrap();
    let mine = elsewhere.replace("By an editor", "By a page");
    let late = desk.post(&owner, "/design/edit", &[("text", &mine), ("seen", &seen)], None).await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.body);
    assert!(late.body.contains("has changed on the disk since this page was opened"), "{}", late.body);
    assert!(late.body.contains("By a page"), "what was typed is gone");
    let fields = [("seen", seen.as_str()), ("field:title.en", "By fields")];
    let late = desk.post(&owner, "/design/edit", &fields, None).await;
    assert!(
        late.status == StatusCode::CONFLICT && late.body.contains("value=\"By fields\""),
        "{}",
        late.body
    );
    assert!(late.body.contains("<strong>The file study.toml has changed"), "{}", late.body);
    assert_eq!(desk.text(), elsewhere);
    assert_eq!(desk.names(), ["cancer.csv", "study.toml"], "a copy of nothing");
    assert_eq!(desk.save(&owner, &mine).await.to(), "/design/edit?saved=file");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_owners_change_a_draft_and_only_from_its_pages() {
    let desk = desk("roles");
    let owner = desk.sign_in("owner").await;
    let others = [desk.sign_in("viewer").await, desk.sign_in("analyst").await];
    let before = desk.text();
    let text = before.replace("Screening for cancer", "By another");
    let seen = fingerprint(before.as_bytes());
    let hash = desk.files.design().unwrap().hash().to_owned();
    let fields = [("text", text.as_str()), ("seen", &seen), ("hash", &hash)];
    let paths = ["/design/edit", "/design/check", "/design/table", "/design/lock"];
    for other in &others {
        for path in paths {
            assert_eq!(desk.post(other, path, &fields, None).await.status, StatusCode::FORBIDDEN, "{path}");
        }
        for path in ["/design/edit", "/design/lock"] {
            assert_eq!(desk.get(other, path).await.status, StatusCode::FORBIDDEN, "{path}");
        }
        let page = desk.get(other, "/design").await.body;
        assert!(page.contains("An owner can edit and lock it") && !page.contains("/design/edit"), "{page}");
    }
    for path in &paths[..3] {
        let forged = Browser { csrf: "0".repeat(32), ..owner.clone() };
        assert_eq!(desk.post(&forged, path, &fields, None).await.status, StatusCode::FORBIDDEN, "{path}");
        let mut elsewhere =
            with_files(path, &owner.cookie, &[("csrf", &owner.csrf), fields[0], fields[1]], None);
        elsewhere.headers_mut().insert(header::ORIGIN, "https://evil.test".parse().unwrap());
        assert_eq!(send(&desk.app(), elsewhere).await.status, StatusCode::FORBIDDEN, "{path}");
        let nobody = with_files(path, "", &[("csrf", &owner.csrf)], None);
        assert_eq!(send(&desk.app(), nobody).await.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    // A form with files is taken where one is expected, and nowhere else.
    let files = with_files("/design/lock", &owner.cookie, &[("csrf", &owner.csrf)], None);
    assert_eq!(send(&desk.app(), files).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    // Bytes that are no text, and no form at all.
    let latin = with_files("/design/edit", &owner.cookie, &[("csrf", &owner.csrf), ("text", "caf~")], None);
    let (parts, body) = latin.into_parts();
    let mut bytes = body.collect().await.unwrap().to_bytes().to_vec();
    let place = bytes.iter().rposition(|byte| *byte == b'~').unwrap();
    bytes[place] = 0xe9;
    let latin = send(&desk.app(), Request::from_parts(parts, Body::from(bytes))).await;
    assert_eq!(latin.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(latin.body.contains("This is not UTF-8 text"), "{}", latin.body);
    let large = "#".repeat(5 << 20);
    let refused = desk.save(&owner, &large).await;
    assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(refused.body.contains("more than 4 MB"), "the text is too large, and that is not said");
    assert_eq!(desk.text(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_read_before_they_replace_anything() {
    let desk = desk("tables");
    let owner = desk.sign_in("owner").await;
    let table = desk.directory.join("cancer.csv");
    let before = std::fs::read(&table).unwrap();
    // Every second row.
    let fewer: String = std::str::from_utf8(&before)
        .unwrap()
        .lines()
        .enumerate()
        .filter(|(n, _)| *n == 0 || n % 2 == 1)
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    std::fs::write(desk.directory.join("notes.csv"), "private").unwrap();
    std::fs::write(desk.directory.join("log.sqlite"), "the log").unwrap();
    std::fs::create_dir(desk.directory.join("folder.csv")).unwrap();
    let names = desk.names();
    for (place, name, content, said) in [
        ("cancer.csv", "a.csv", &b"y,p\n1,0.5\n0,seven\n"[..], "seven"),
        ("cancer.csv", "a.csv", b"", "cancer.csv"),
        ("cancer.csv", "a.csv", b"PAR1 and then nothing", "cancer.csv"),
        ("cancer.csv", "a.csv", b"\xff\xfe\x00,\xe9\n", "cancer.csv"),
        ("cancer.csv", "a.csv", b"a,b\n1,2\n", "cancer.csv"),
        ("", "new.csv", b"\xff\xfe\x00,\xe9\n", "new.csv"),
        ("", "study.toml", b"format = 1\n", "is no name for a table"),
        ("", "log.sqlite", b"y,p\n1,0.5\n", "is no name for a table"),
        ("", "study.lock", b"{}", "is no name for a table"),
        ("", "log.sqlite.csv", b"y,p\n1,0.5\n", "is no name for a table"),
        ("", "folder.csv", b"y,p\n1,0.5\n", "there is something else called folder.csv"),
        ("", "a b.csv", b"y,p\n1,0.5\n", "is no name for a table"),
        ("", "", b"y,p\n1,0.5\n", "no file was chosen"),
        ("../evil.csv", "a.csv", b"y,p\n1,0.5\n", "is no name for a table"),
        ("/tmp/evil.csv", "a.csv", b"y,p\n1,0.5\n", "is no name for a table"),
        ("study.toml", "a.csv", b"format = 1\n", "is no name for a table"),
    ] {
        let refused = desk.upload(&owner, place, name, content).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{place} {name}: {}", refused.body);
        let problem = refused.body.split("role=\"alert\"><p><strong>").nth(1).expect("a sentence");
        let sentence = problem.split("</strong>").next().unwrap();
        assert!(sentence.contains(said) && sentence.ends_with('.'), "{place} {name}: {sentence}");
        let there = desk.directory.display().to_string();
        assert!(!sentence.contains(".new-") && !sentence.contains(&there), "{sentence}");
        assert_eq!(desk.names(), names, "{place} {name}");
    }
    assert_eq!(std::fs::read(&table).unwrap(), before);
    let hash = desk.files.design().unwrap().hash().to_owned();
    let put = desk.upload(&owner, "cancer.csv", "C:\\fakepath\\whatever.csv", fewer.as_bytes()).await;
    assert_eq!(put.to(), "/design/edit?saved=table&name=cancer.csv&copy=yes", "{}", put.body);
    let told = desk.get(&owner, put.to()).await.body;
    let rows = equipoise_study::numbers::grouped(fewer.lines().count() as u64 - 1);
    assert!(told.contains(&format!("The table is stored as cancer.csv: {rows} rows, of which ")), "{told}");
    let ill = fewer.lines().skip(1).filter(|line| line.starts_with("cancer")).count();
    let share = format!("{:.1} % ", 100.0 * ill as f64 / (fewer.lines().count() - 1) as f64);
    assert!(told.contains(&share), "{share} in {told}");
    assert!(told.contains("The one that was there is kept as cancer.csv.before."), "{told}");
    assert_eq!(std::fs::read_to_string(&table).unwrap(), fewer);
    assert_eq!(std::fs::read(desk.directory.join("cancer.csv.before")).unwrap(), before);
    let served = desk.now.lock().unwrap().1.design().hash().to_owned();
    assert!(served != hash && served == desk.files.design().unwrap().hash(), "the table is not served");
    let new = desk.upload(&owner, "", "models.csv", b"model,latency\na,3\n").await;
    assert_eq!(new.to(), "/design/edit?saved=table&name=models.csv", "{}", new.body);
    let told = desk.get(&owner, new.to()).await.body;
    let said = "models.csv: 1 row, with the columns &#34;model&#34;, &#34;latency&#34;. There was none of this name before.";
    assert!(told.contains(said), "{told}");
    // One that the study does not name is replaced, too, and a copy stays.
    let again = desk.upload(&owner, "", "../notes.csv", b"model,latency\na,4\n").await;
    assert_eq!(again.to(), "/design/edit?saved=table&name=notes.csv&copy=yes", "{}", again.body);
    assert_eq!(std::fs::read(desk.directory.join("notes.csv.before")).unwrap(), b"private");
    let audit = desk.get(&owner, "/settings/audit").await.body;
    assert_eq!(audit.matches("<td>owner</td><td>changed cancer.csv</td>").count(), 1, "{audit}");
    // One that is larger than forms may be is taken to its end, and refused.
    let large = vec![b'1'; (64 << 20) + 1];
    let refused = desk.upload(&owner, "cancer.csv", "large.csv", &large).await;
    assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(refused.body.contains("at most 64 MB"), "{}", refused.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_with_which_the_study_cannot_be_run_is_refused() {
    let desk = desk("impossible");
    let owner = desk.sign_in("owner").await;
    let table = desk.directory.join("cancer.csv");
    let before = std::fs::read(&table).unwrap();
    let mut said = 0;
    // All alike, the wrong way round, hardly any, hardly anybody of a class.
    for rows in [
        "cancer,0.5\nno cancer,0.5\n".repeat(50),
        "cancer,0.1\nno cancer,0.9\n".repeat(50),
        "cancer,0.5\nno cancer,0.5\n".to_owned(),
        "cancer,0.6\nno cancer,0.4\ncancer,0.3\n".to_owned(),
        format!("{}cancer,0.2\n", "no cancer,0.1\nno cancer,0.3\n".repeat(20_000)),
    ] {
        let content = format!("y,p\n{rows}");
        // What the check would say of it.
        std::fs::write(&table, &content).unwrap();
        let fails = desk.files.check(&desk.text(), false);
        std::fs::write(&table, &before).unwrap();
        let error = fails.found.iter().find(|(_, lint)| lint.error).map(|(_, lint)| lint.clone());
        let Some(error) = error else { continue };
        let refused = desk.upload(&owner, "cancer.csv", "a.csv", content.as_bytes()).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{error:?}: {}", refused.body);
        if error.rule != "file" {
            said += 1;
            assert!(refused.body.contains(&error.what.replace('"', "&#34;")), "{error:?}: {}", refused.body);
        }
        assert_eq!(std::fs::read(&table).unwrap(), before);
        assert_eq!(desk.names(), ["cancer.csv", "study.toml"]);
    }
    assert!(said > 0, "no table of these is readable and of no use");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_file_and_the_last_ones_are_kept() {
    let desk = desk("copies");
    let owner = desk.sign_in("owner").await;
    let first = desk.text();
    let copy = |name: &str| std::fs::read_to_string(desk.directory.join(name)).unwrap();
    for n in 1..=25 {
        let text = first.replace("Screening for cancer", &format!("Version {n}"));
        let seen = fingerprint(desk.text().as_bytes());
        desk.files.save(&text, &seen, || Ok(())).unwrap();
    }
    assert!(copy("study.toml.before").contains("Version 24"));
    assert_eq!(copy("study.toml.before-1"), first, "the file as it was at first is gone");
    assert!(copy("study.toml.before-24").contains("Version 23"));
    let copies = desk.names().into_iter().filter(|name| name.starts_with("study.toml.before-")).count();
    assert_eq!(copies, 20);
    assert!(!desk.names().contains(&"study.toml.before-5".to_owned()));
    assert_eq!(desk.get(&owner, "/design/edit").await.status, StatusCode::OK);
}

/// What a textarea or a field of a page has.
fn typed_in(page: &str, name: &str) -> String {
    let area =
        page.split_once(&format!("name=\"{name}\"")).unwrap_or_else(|| panic!("no {name} in {page}")).1;
    let inside = match area.split_once('>').unwrap() {
        (tag, _) if tag.contains("value=\"") => {
            tag.split_once("value=\"").unwrap().1.split_once('"').unwrap().0
        }
        (_, rest) => rest.strip_prefix('\n').unwrap().split_once("</textarea>").unwrap().0,
    };
    inside
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#38;", "&")
}

#[tokio::test(flavor = "multi_thread")]
async fn whichever_button_is_pressed_nothing_that_was_typed_is_lost() {
    let desk = desk("typed");
    let owner = desk.sign_in("owner").await;
    let before = desk.text();
    let page = desk.get(&owner, "/design/edit").await;
    assert_eq!(
        page.body.matches("<form method=\"post\" action=\"/design/").count(),
        1,
        "one form has it all"
    );
    assert!(!page.body.contains("id=\"unsaved\"") && !page.body.contains("data-unsaved"), "{}", page.body);
    let seen = page.field("seen");
    let text = before.replace("seed = 20261116", "seed = 7");
    let sent = |pressed: &'static str| {
        [
            ("text", text.clone()),
            ("seen", seen.clone()),
            ("field:stop.cap", " 11 ".to_owned()),
            ("field:title.en", "A <b>new</b> title".to_owned()),
            ("do", pressed.to_owned()),
        ]
    };
    let post = |path: &'static str, pressed: &'static str, file: Option<(&'static str, Vec<u8>)>| {
        let (desk, owner, fields) = (desk.clone(), owner.clone(), sent(pressed));
        async move {
            let fields: Vec<(&str, &str)> =
                fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let file = file.as_ref().map(|(name, content)| (*name, content.as_slice()));
            desk.post(&owner, path, &fields, file).await
        }
    };
    let table = std::fs::read(desk.directory.join("cancer.csv")).unwrap();
    for (path, pressed, file, status) in [
        ("/design/edit", "check", None, StatusCode::OK),
        ("/design/table", "", Some(("a.csv", table)), StatusCode::OK),
        (
            "/design/table",
            "",
            Some(("a.csv", b"\xff\xfe\x00,\xe9\n".to_vec())),
            StatusCode::UNPROCESSABLE_ENTITY,
        ),
        ("/design/table", "", None, StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        let shown = post(path, pressed, file).await;
        assert_eq!(shown.status, status, "{}", shown.body);
        assert_eq!(typed_in(&shown.body, "text"), text);
        assert_eq!(typed_in(&shown.body, "field:stop.cap"), " 11 ");
        assert_eq!(typed_in(&shown.body, "field:title.en"), "A <b>new</b> title");
        assert!(!shown.body.contains("<b>new"), "not escaped");
        let told = "Not saved yet: the text of study.toml, ";
        assert!(shown.body.contains(told) && shown.body.contains("data-unsaved"), "{}", shown.body);
        assert!(shown.body.contains("&#34;Most questions, checks not counted&#34;"), "{}", shown.body);
        assert_eq!(shown.field("seen"), seen);
        assert_eq!(desk.text(), before);
    }
    // Saved is all of it together.
    let saved = post("/design/edit", "save", Some(("chosen.csv", b"a\n".to_vec()))).await;
    assert_eq!(saved.to(), "/design/edit?saved=file&chosen=yes", "{}", saved.body);
    assert!(desk.get(&owner, saved.to()).await.body.contains("was not uploaded"));
    let study = Study::parse(&desk.text()).unwrap();
    assert_eq!((study.seed, study.stop.cap, study.title.r#in("en")), (7, 11, "A <b>new</b> title"));
    // Unless the two contradict each other: then nothing is, and both are shown.
    let before = desk.text();
    let seen = fingerprint(before.as_bytes());
    let text = before.replace("cap = 11", "cap = 12");
    let fields = [("text", text.as_str()), ("seen", &seen), ("field:stop.cap", "13"), ("do", "save")];
    let clash = desk.post(&owner, "/design/edit", &fields, None).await;
    assert_eq!(clash.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        clash.body.contains("was changed in its field and, in another way, in the text"),
        "{}",
        clash.body
    );
    assert_eq!(
        (typed_in(&clash.body, "text"), typed_in(&clash.body, "field:stop.cap")),
        (text, "13".to_owned())
    );
    assert_eq!(desk.text(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_field_is_said_at_the_field() {
    let desk = desk("numbers");
    let owner = desk.sign_in("owner").await;
    let before = desk.text();
    for (value, said) in [
        ("abc", "&#34;Most questions, checks not counted&#34; is &#34;abc&#34;, expected a whole number."),
        ("4.5", "&#34;Most questions, checks not counted&#34; is &#34;4.5&#34;, expected a whole number."),
        ("", "&#34;Most questions, checks not counted&#34; is &#34;&#34;, expected a whole number."),
        ("900", "&#34;Most questions, checks not counted&#34; is 900, expected a number in [1, 400]."),
    ] {
        let seen = fingerprint(before.as_bytes());
        let fields = [("seen", seen.as_str()), ("field:stop.cap", value), ("do", "save")];
        let refused = desk.post(&owner, "/design/edit", &fields, None).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.body);
        let field =
            refused.body.split_once("name=\"field:stop.cap\"").unwrap().1.split_once("</p>").unwrap().0;
        assert!(field.contains(said) && field.contains("aria-invalid"), "{value}: {field}");
        assert_eq!(typed_in(&refused.body, "field:stop.cap"), value);
        assert_eq!(desk.text(), before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_signed_out_meanwhile_keeps_what_they_typed() {
    let desk = desk("signed-out");
    let owner = desk.sign_in("owner").await;
    let before = desk.text();
    let seen = fingerprint(before.as_bytes());
    let text = before.replace("Screening for cancer", "Typed </textarea><script>alert(1)</script>");
    let fields = [
        ("text", text.as_str()),
        ("seen", &seen),
        ("field:stop.cap", "11"),
        ("csrf", &owner.csrf),
        ("do", "save"),
    ];
    send(&desk.app(), form("/sign-out", &owner.cookie, &[("csrf", &owner.csrf)])).await;
    for path in ["/design/edit", "/design/table"] {
        let kept = send(&desk.app(), with_files(path, &owner.cookie, &fields, None)).await;
        assert_eq!(kept.status, StatusCode::UNAUTHORIZED);
        assert!(
            kept.body.contains("You are signed out") && kept.body.contains("which is not saved"),
            "{}",
            kept.body
        );
        assert_eq!(
            (typed_in(&kept.body, "text"), typed_in(&kept.body, "field:stop.cap")),
            (text.clone(), "11".into())
        );
        assert!(
            !kept.body.contains("<script>alert") && kept.body.contains("/sign-in?to=/design/edit"),
            "{}",
            kept.body
        );
        assert_eq!(kept.field("seen"), seen);
        // Not for another site's form, and not for a file of any size.
        let mut elsewhere = with_files(path, &owner.cookie, &fields, None);
        elsewhere.headers_mut().insert(header::ORIGIN, "https://evil.test".parse().unwrap());
        let elsewhere = send(&desk.app(), elsewhere).await;
        assert!(elsewhere.status == StatusCode::UNAUTHORIZED && !elsewhere.body.contains("Typed"));
        let large = vec![b'1'; 9 << 20];
        let large = send(&desk.app(), with_files(path, "", &fields, Some(("a.csv", &large)))).await;
        assert!(large.status == StatusCode::UNAUTHORIZED && !large.body.contains("Typed"));
    }
    let other = send(&desk.app(), with_files("/design/check", &owner.cookie, &fields, None)).await;
    assert!(other.status == StatusCode::UNAUTHORIZED && !other.body.contains("Typed"));
    // Signed in again, the form of before saves nothing, and comes back with what was typed and as one that does.
    let owner = desk.sign_in("owner").await;
    let text = before.replace("Screening for cancer", "Typed before");
    let fields =
        [("text", text.as_str()), ("seen", &seen), ("field:stop.cap", "11"), ("csrf", ""), ("do", "save")];
    let stale = send(&desk.app(), with_files("/design/edit", &owner.cookie, &fields, None)).await;
    assert_eq!(stale.status, StatusCode::FORBIDDEN, "{}", stale.body);
    assert_eq!(
        (typed_in(&stale.body, "text"), typed_in(&stale.body, "field:stop.cap")),
        (text.clone(), "11".into())
    );
    assert_eq!(desk.text(), before);
    assert_eq!((stale.field("csrf"), stale.field("seen")), (owner.csrf.clone(), seen.clone()));
    let saved = desk.post(&owner, "/design/edit", &[fields[0], fields[1], fields[2]], None).await;
    assert_eq!(saved.to(), "/design/edit?saved=file", "{}", saved.body);
    assert!(desk.text().contains("Typed before") && desk.text().contains("cap = 11 "));
    // Whoever may not edit any more keeps it, too.
    let viewer = desk.sign_in("viewer").await;
    let refused = desk.post(&viewer, "/design/edit", &[("text", "My words")], None).await;
    assert!(refused.status == StatusCode::FORBIDDEN && refused.body.contains("My words"), "{}", refused.body);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_link_out_of_the_directory_is_not_written_through() {
    let desk = desk("linked");
    let owner = desk.sign_in("owner").await;
    let outside = desk.directory.with_extension("outside");
    std::fs::write(&outside, "mine").unwrap();
    let table = desk.directory.join("cancer.csv");
    let content = std::fs::read(&table).unwrap();
    std::fs::remove_file(&table).unwrap();
    std::os::unix::fs::symlink(&outside, &table).unwrap();
    let refused = desk.upload(&owner, "cancer.csv", "a.csv", &content).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("is outside the study&#39;s directory"), "{}", refused.body);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "mine");
    std::fs::remove_file(&outside).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_locked_on_its_page_and_then_closed() {
    let desk = desk("locked");
    let owner = desk.sign_in("owner").await;
    // Nobody takes part before.
    assert!(desk.get(&owner, "/participants/links").await.body.contains("The study is not locked yet"));
    let early = [("csrf", owner.csrf.as_str()), ("count", "1"), ("key", "k1")];
    let early = send(&desk.app(), form("/participants/links", &owner.cookie, &early)).await;
    assert_eq!(early.status, StatusCode::CONFLICT, "{}", early.body);
    let lock = |hash: String| {
        let (desk, owner) = (desk.clone(), owner.clone());
        async move {
            let fields = [("csrf", owner.csrf.as_str()), ("hash", hash.as_str()), ("key", "k")];
            send(&desk.app(), form("/design/lock", &owner.cookie, &fields)).await
        }
    };
    // An error keeps it open, and so does a change since the page was opened.
    let (before, page) = (desk.text(), desk.get(&owner, "/design/lock").await);
    let hash = page.field("hash");
    assert!(
        page.body.contains(&format!("<code>{hash}</code>"))
            && page.body.contains("nothing of it can be changed")
    );
    std::fs::write(desk.directory.join(STUDY), before.replace("cap = 20", "cap = 19")).unwrap();
    let late = lock(hash.clone()).await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.body);
    assert!(
        late.body.contains("has changed since this page was opened; nothing was locked"),
        "{}",
        late.body
    );
    let worded = before.replace("predicted as high risk", "labelled as high risk");
    std::fs::write(desk.directory.join(STUDY), &worded).unwrap();
    let unfit = desk.get(&owner, "/design/lock").await;
    assert!(unfit.body.contains("cannot be locked like this") && !unfit.body.contains("name=\"hash\""));
    let unfit = lock(desk.files.design().unwrap().hash().to_owned()).await;
    assert_eq!(unfit.status, StatusCode::CONFLICT);
    assert!(unfit.body.contains("The study should not be run like this"), "{}", unfit.body);
    assert_eq!(desk.names(), ["cancer.csv", "study.toml"]);
    std::fs::write(desk.directory.join(STUDY), &before).unwrap();
    let locked = lock(hash.clone()).await;
    assert_eq!(locked.to(), "/design?locked=yes", "{}", locked.body);
    assert_eq!(desk.files.lock().unwrap().map(|lock| (lock.version, lock.hash)), Some((1, hash.clone())));
    assert!(desk.now.lock().unwrap().2, "it is still served as a draft");
    let logged = equipoise_study::audit::locks(&*desk.writer.reader().unwrap()).unwrap();
    assert_eq!(logged, [(1, hash.clone())]);
    let page = desk.get(&owner, "/design?locked=yes").await.body;
    assert!(page.contains("The study is locked now") && page.contains(&hash), "{page}");
    // Everything is closed, and links can be made.
    let seen = fingerprint(before.as_bytes());
    let text = before.replace("Screening", "Changed");
    for (path, fields) in [
        ("/design/edit", vec![("text", text.as_str()), ("seen", &seen)]),
        ("/design/edit", vec![("seen", &seen), ("field:title.en", "Changed title")]),
        ("/design/check", vec![("text", text.as_str())]),
        ("/design/table", vec![("as", "cancer.csv"), ("text", text.as_str())]),
    ] {
        let closed = desk.post(&owner, path, &fields, Some(("a.csv", b"y,p\n1,0.5\n"))).await;
        assert_eq!(closed.status, StatusCode::CONFLICT, "{path}");
        assert!(closed.body.contains("The study is locked, so its file"), "{path}: {}", closed.body);
        let kept = closed.body.contains("Changed") && closed.body.contains("which is not saved");
        assert!(kept || path == "/design/check", "what was typed is gone: {}", closed.body);
    }
    assert_eq!(lock(hash).await.status, StatusCode::CONFLICT);
    assert_eq!(desk.get(&owner, "/design/edit").await.status, StatusCode::CONFLICT);
    assert_eq!(desk.text(), before);
    let made = [("csrf", owner.csrf.as_str()), ("count", "1"), ("key", "k2")];
    assert_eq!(
        send(&desk.app(), form("/participants/links", &owner.cookie, &made)).await.status,
        StatusCode::OK
    );
    let audit = desk.get(&owner, "/settings/audit").await.body;
    assert_eq!(audit.matches("<td>owner</td><td>locked version 1</td>").count(), 1, "{audit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_that_a_command_locked_meanwhile_is_closed_and_served() {
    let desk = desk("commanded");
    let owner = desk.sign_in("owner").await;
    desk.files.fix(&service(&desk.writer, Arc::new(desk.files.design().unwrap()))).unwrap();
    assert_eq!(desk.save_as_is(&owner).await.status, StatusCode::CONFLICT);
    assert!(desk.now.lock().unwrap().2, "people cannot take part");
    // Not if it was changed after that.
    let desk = self::desk("changed");
    let owner = desk.sign_in("owner").await;
    desk.files.fix(&service(&desk.writer, Arc::new(desk.files.design().unwrap()))).unwrap();
    std::fs::write(desk.directory.join(STUDY), desk.text().replace("cap = 20", "cap = 19")).unwrap();
    assert_eq!(desk.save_as_is(&owner).await.status, StatusCode::CONFLICT);
    assert!(!desk.now.lock().unwrap().2, "people take part in what was not locked");
    // And one in which somebody has a place, whoever gave it to them.
    let desk = self::desk("begun");
    let owner = desk.sign_in("owner").await;
    desk.now.lock().unwrap().1.invite(1).unwrap();
    let begun = desk.save_as_is(&owner).await;
    assert_eq!(begun.status, StatusCode::CONFLICT);
    assert!(begun.body.contains("People have places in this study already"), "{}", begun.body);
}

impl Desk {
    async fn save_as_is(&self, browser: &Browser) -> Got {
        let text = self.text();
        let seen = fingerprint(text.as_bytes());
        let fields = [("text", text.as_str()), ("seen", &seen)];
        self.post(browser, "/design/edit", &fields, None).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_cannot_be_written_down_is_not_made() {
    let web = web();
    let desk = desk("noted");
    let owner = desk.sign_in("owner").await;
    let before = desk.text();
    let text = before.replace("Screening for cancer", "Unnoted");
    let refused = desk.files.save(&text, &fingerprint(before.as_bytes()), || {
        web.broken.store(true, Ordering::SeqCst);
        let admin = equipoise_study::event::Admin::new(
            "owner",
            equipoise_study::event::Action::Edited { file: STUDY.to_owned() },
        );
        web.service.note(admin).map(drop)
    });
    assert!(refused.is_err());
    assert_eq!(desk.text(), before);
    assert_eq!(desk.get(&owner, "/design/edit").await.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_is_a_page_and_a_file_of_the_same_words() {
    let web = web();
    take_part(&web, "somebody-");
    let [analyst, viewer] = [web.sign_in("analyst").await, web.sign_in("viewer").await];
    let made = |path: &'static str| {
        let (app, cookie) = (web.app.clone(), analyst.cookie.clone());
        async move {
            // In a debug build on a busy machine it takes longer than a request waits.
            for _ in 0..60 {
                let got = get(&app, path, &cookie).await;
                if got.status != StatusCode::SERVICE_UNAVAILABLE {
                    assert_eq!(got.status, StatusCode::OK, "{path}");
                    return got.body;
                }
            }
            panic!("{path} is not ready");
        }
    };
    let (page, file) = (made("/results/report").await, made("/export/report.html").await);
    let inner = |text: &str, from: &str, to: &str| {
        text.split_once(from).unwrap().1.rsplit_once(to).unwrap().0.trim().to_owned()
    };
    assert_eq!(
        inner(&page, "<div class=\"report\">", "</div>\n\n</main>"),
        inner(&file, "<main>", "</main>")
    );
    assert!(!page.contains("<details open") && !page.contains(" open>"), "the appendix is unfolded");
    let whole = made("/results/report?appendix=yes").await;
    assert!(whole.contains("<details class='rows-of' open>"), "the appendix is folded");
    let why = made("/results/report?why=yes").await;
    assert!(why.contains("The answers that mattered most"), "{why}");
    // Nobody is addressed who is not meant.
    let words = inner(&whole, "<div class=\"report\">", "</div>\n\n</main>").to_lowercase();
    let words = words.split(|c: char| !c.is_alphanumeric());
    assert_eq!(words.filter(|word| ["you", "your", "yours"].contains(word)).count(), 0);
    assert_eq!(get(&web.app, "/results/report", &viewer.cookie).await.status, StatusCode::FORBIDDEN);
    let style = page.split_once("href=\"/assets/report-").unwrap().1.split_once('"').unwrap().0;
    let style = get(&web.app, &format!("/assets/report-{style}"), "").await;
    assert_eq!(style.headers[header::CONTENT_TYPE], "text/css; charset=utf-8");
    let audit = get(&web.app, "/settings/audit", &analyst.cookie).await.body;
    assert_eq!(audit.matches("<td>analyst</td><td>looked at report</td>").count(), 1, "{audit}");
    // Not while results are hidden.
    let owner = web.sign_in("owner").await;
    web.post(&owner, "/settings/blinded", &[("blinded", "yes")]).await;
    let hidden = get(&web.app, "/results/report", &analyst.cookie).await;
    assert!(
        hidden.status == StatusCode::CONFLICT && hidden.body.contains("Results are hidden"),
        "{}",
        hidden.body
    );
}
