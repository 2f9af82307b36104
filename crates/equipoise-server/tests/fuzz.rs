//! What arrives over HTTP, with inputs that were good once: nothing panics, nothing is a server error, and no text is
//! taken for SQL, a path or a template (S-04). 10,000 inputs each; `EQUIPOISE_FUZZ=1000000` is the promise.

mod web;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, StatusCode, header};
use equipoise_harness::fuzz::{Corpus, run};
use equipoise_harness::{Scratch, seed, times};
use equipoise_log::{MemoryStore, SqliteStore, verify};
use equipoise_server::researcher::accounts::{Accounts, Role};
use equipoise_server::researcher::{self, Researchers};
use std::path::Path;
use tower::ServiceExt as _;
use web::{Web, web_on};

const FORM: &str = "application/x-www-form-urlencoded";

fn corpus(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../equipoise-harness/corpus").join(name);
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// So that any bytes are part of an address or a form.
fn encoded(bytes: &[u8]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"=&._-".contains(&byte);
    bytes.iter().map(|&b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn researchers(web: &Web) -> (Router, Researchers) {
    let accounts = Accounts::in_memory().unwrap();
    accounts.add("owner", Role::Owner, "three small boats", 0).unwrap();
    let settings = researcher::Settings {
        origin: "http://researchers.test".to_owned(),
        participants: "http://study.test".to_owned(),
        log: None,
    };
    let researchers = Researchers::new(web.service.clone(), accounts, settings).unwrap();
    (researcher::app(researchers.clone()), researchers)
}

/// What a side answers; a server error is what is looked for.
async fn status(app: &Router, request: Request<Body>) -> StatusCode {
    let told = format!("{} {} {:?}", request.method(), request.uri(), request.headers());
    let got = app.clone().oneshot(request).await.unwrap();
    assert!(!got.status().is_server_error(), "{}: {told}", got.status());
    assert!(got.headers().contains_key(header::CONTENT_SECURITY_POLICY), "{told}");
    got.status()
}

fn fuzzed(name: &str, good: Vec<String>, mut takes: impl FnMut(&[u8]) -> bool) {
    let good = good.into_iter().map(String::into_bytes).collect();
    let tried = run(name, &Corpus::new(good), seed(), times("EQUIPOISE_FUZZ", 10_000), &mut takes);
    println!(
        "{name}: {} inputs, {} taken, 0 panics, slowest {:.1} ms; seed {}",
        tried.inputs,
        tried.taken,
        tried.slowest.as_secs_f64() * 1e3,
        seed()
    );
    assert!(tried.taken > 0, "{name}: nothing was ever taken, so nothing was tried");
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn cookies() {
    let runtime = runtime();
    let _inside = runtime.enter();
    let web = web_on(MemoryStore::new(), |_| {});
    let (desk, _) = researchers(&web);
    let mut good = corpus("cookies.txt");
    good.push(runtime.block_on(web.browser(0)).cookie);
    fuzzed("cookies", good, |input| {
        let Ok(cookie) = HeaderValue::from_bytes(input) else { return false };
        let request =
            || Request::get("/").header(header::COOKIE, cookie.clone()).body(Body::empty()).unwrap();
        runtime.block_on(status(&desk, request()));
        runtime.block_on(status(&web.app, request())) == StatusCode::OK
    });
}

#[test]
fn forms_and_answers() {
    let runtime = runtime();
    let _inside = runtime.enter();
    let web = web_on(MemoryStore::new(), |_| {});
    let mut browser = runtime.block_on(web.browser(0));
    runtime.block_on(browser.prepare());
    let (cookie, csrf) = (browser.cookie.clone(), browser.field("csrf"));
    let posts: Vec<&str> = equipoise_server::participant::routes()
        .iter()
        // Whoever has left sends nothing any more.
        .filter(|route| route.post && !route.path.contains('{') && !route.path.contains("withdraw"))
        .map(|route| route.path)
        .collect();
    let mut number = 0;
    fuzzed("forms", corpus("forms.txt"), |input| {
        number += 1;
        let request = Request::post(posts[number % posts.len()])
            .header(header::COOKIE, &cookie)
            .header(header::CONTENT_TYPE, FORM)
            .body(Body::from([format!("csrf={csrf}&").as_bytes(), input].concat()))
            .unwrap();
        let got = runtime.block_on(status(&web.app, request));
        got.is_success() || got.is_redirection()
    });
}

#[test]
fn links_and_tokens() {
    let runtime = runtime();
    let _inside = runtime.enter();
    let web = web_on(MemoryStore::new(), |_| {});
    let (desk, _) = researchers(&web);
    let mut good = corpus("tokens.txt");
    good.push(web.tokens[0].clone());
    fuzzed("tokens", good, |input| {
        let bearer = [b"Bearer ", input].concat();
        if let Ok(bearer) = HeaderValue::from_bytes(&bearer) {
            let request =
                Request::get("/api/live").header(header::AUTHORIZATION, bearer).body(Body::empty()).unwrap();
            assert_eq!(runtime.block_on(status(&desk, request)), StatusCode::UNAUTHORIZED);
        }
        let request = Request::get(format!("/s/{}", encoded(input))).body(Body::empty()).unwrap();
        runtime.block_on(status(&web.app, request)) == StatusCode::OK
    });
}

/// The tables and triggers of a log.
fn schema(path: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut found =
        connection.prepare("SELECT name || coalesce(sql, '') FROM sqlite_master ORDER BY 1").unwrap();
    found.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn no_text_is_taken_for_anything_else() {
    let runtime = runtime();
    let _inside = runtime.enter();
    let scratch = Scratch::new("injections");
    let path = scratch.file("log.sqlite");
    let web = web_on(SqliteStore::open(&path).unwrap(), |_| {});
    let (desk, researchers) = researchers(&web);
    let mut browser = runtime.block_on(web.browser(0));
    runtime.block_on(browser.prepare());
    let (cookie, csrf) = (browser.cookie.clone(), browser.field("csrf"));
    let before = schema(&path);
    let fields = ["key", "query", "choice", "text", "language", "item.how", "ratio", "option", "response_ms"];
    let mut tried = 0;
    for text in corpus("injections.txt") {
        let word = encoded(text.as_bytes()).replace('&', "%26").replace('=', "%3D");
        let get =
            |uri: String| Request::get(uri).header(header::COOKIE, &cookie).body(Body::empty()).unwrap();
        let post = |uri: &str, body: String| {
            let request =
                Request::post(uri).header(header::COOKIE, &cookie).header(header::CONTENT_TYPE, FORM);
            request.body(Body::from(body)).unwrap()
        };
        let mut ask = |app: &Router, request| {
            tried += 1;
            runtime.block_on(status(app, request))
        };
        for uri in
            [format!("/s/{word}"), format!("/assets/{word}"), format!("/?tried={word}"), format!("/{word}")]
        {
            ask(&web.app, get(uri));
        }
        for uri in [
            format!("/participants/{word}"),
            format!("/participants?sort={word}"),
            format!("/results?ratio={word}"),
            format!("/settings/audit?after={word}"),
            format!("/export/{word}"),
            format!("/assets/{word}"),
            format!("/{word}"),
        ] {
            assert_ne!(ask(&desk, get(uri)), StatusCode::OK, "{text}");
        }
        for route in equipoise_server::participant::routes().iter().filter(|route| route.post) {
            if route.path.contains('{') || route.path.contains("withdraw") {
                continue;
            }
            let body: String = fields.iter().map(|field| format!("&{field}={word}")).collect();
            ask(&web.app, post(route.path, format!("csrf={csrf}{body}")));
        }
        let sign_in = post("/sign-in", format!("csrf={word}&name={word}&password={word}"));
        assert!(ask(&desk, sign_in).is_client_error(), "{text} signed in");
        assert!(researchers.accounts().account(&text).unwrap().is_none(), "{text} is an account");
    }
    assert_eq!(schema(&path), before);
    assert_eq!(researchers.accounts().list().unwrap().len(), 1);
    let rows =
        web.service.writer().with(|store| verify(store, &mut |_, sealed| Ok(sealed)).map(|seen| seen.rows));
    println!("{tried} injections, 0 findings; {} rows verified", rows.unwrap());
}
