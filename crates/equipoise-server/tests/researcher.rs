//! The researchers' side without a socket: every route against every credential, every form against every forgery, and
//! what pages show to whom.

#[path = "researcher/desk.rs"]
mod desk;
#[path = "web/guarded.rs"]
mod guarded;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use equipoise_cohort as cohort;
use equipoise_log::testing::{Fault, Faulty};
use equipoise_log::{MemoryStore, Store, Writer, rows};
use equipoise_server::participant;
use equipoise_server::preview::Previews;
use equipoise_server::researcher::accounts::{Accounts, Role};
use equipoise_server::researcher::tokens::{Scope, Wanted};
use equipoise_server::researcher::{Access, Researchers, Settings, app, routes};
use equipoise_study::event::{Answered, Choice};
use equipoise_study::people::Conduct;
use equipoise_study::seams::{SystemClock, TestRandom};
use equipoise_study::study::Candidates;
use equipoise_study::{Design, Event, Question, Service, Step, Study, template};
use guarded::guarded;
use http_body_util::BodyExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tower::ServiceExt as _;

const PASSWORD: &str = "three small boats";
const PEOPLE: usize = 3;

/// A study with both sides, somebody of every role, and participants who have begun.
struct Web {
    app: Router,
    researchers: Researchers,
    participants: Router,
    service: Arc<Service>,
    tokens: Vec<String>,
    broken: Arc<AtomicBool>,
}

fn web() -> Web {
    web_of("binary-cancer")
}

fn web_of(template: &str) -> Web {
    web_with(template, Path::new("../equipoise-study/src/templates"), |_| {})
}

fn web_with(template: &str, directory: &Path, change: impl FnOnce(&mut Study)) -> Web {
    let mut study = Study::parse(template::find(template).unwrap().text).unwrap();
    study.completion.parameters = vec!["PROLIFIC_PID".to_owned()];
    change(&mut study);
    let design = Arc::new(Design::new(study, directory).unwrap());
    let broken = Arc::new(AtomicBool::new(false));
    let full = broken.clone();
    let store = Faulty::new(MemoryStore::new(), move |_: &mut MemoryStore| {
        full.load(Ordering::SeqCst).then(Fault::full)
    });
    let service = Arc::new(Service::new(design, Writer::start(store), SystemClock, TestRandom::new(3)));
    let tokens = service.invite(PEOPLE).unwrap().into_iter().map(|invitation| invitation.token).collect();
    let accounts = Accounts::in_memory().unwrap();
    for role in Role::ALL {
        accounts.add(role.word(), role, PASSWORD, 0).unwrap();
    }
    let settings = Settings {
        origin: "http://researchers.test".to_owned(),
        participants: "http://study.test".to_owned(),
        log: None,
    };
    let previews = Arc::new(Previews::new(service.design().clone()));
    let researchers = Researchers::new(service.clone(), accounts, settings).unwrap();
    let researchers = researchers.with_previews(previews.clone());
    let app = app(researchers.clone());
    let settings = participant::Settings { origin: "http://study.test".to_owned() };
    let participants = participant::Participants::new(service.clone(), settings).with_previews(previews);
    let participants = participant::app(participants);
    Web { app, researchers, participants, service, tokens, broken }
}

struct Got {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Got {
    fn to(&self) -> &str {
        self.headers.get(header::LOCATION).map_or("", |to| to.to_str().unwrap())
    }

    /// The cookies this response sets, as the next request carries them.
    fn cookies(&self) -> String {
        let all = self.headers.get_all(header::SET_COOKIE).into_iter();
        all.map(|set| set.to_str().unwrap().split(';').next().unwrap())
            .filter(|pair| !pair.ends_with('='))
            .collect::<Vec<_>>()
            .join("; ")
    }

    fn field(&self, name: &str) -> String {
        let before = format!("name=\"{name}\" value=\"");
        let rest = self.body.split_once(&before).unwrap_or_else(|| panic!("no {name} in {}", self.body)).1;
        rest.split_once('"').unwrap().0.to_owned()
    }
}

async fn send(app: &Router, request: Request<Body>) -> Got {
    let what = format!("{} {}", request.method(), request.uri());
    let response = app.clone().oneshot(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8_lossy(&body).into_owned();
    guarded(&what, &headers, &body);
    Got { status, headers, body }
}

async fn get(app: &Router, path: &str, cookie: &str) -> Got {
    send(app, Request::get(path).header(header::COOKIE, cookie).body(Body::empty()).unwrap()).await
}

fn form(path: &str, cookie: &str, fields: &[(&str, &str)]) -> Request<Body> {
    let body: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+"))).collect();
    Request::post(path)
        .header(header::COOKIE, cookie)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(header::HOST, "researchers.test")
        .header(header::ORIGIN, "http://researchers.test")
        .body(Body::from(body.join("&")))
        .unwrap()
}

/// A browser that is signed in: its cookies, and what its forms carry.
#[derive(Clone)]
struct Browser {
    cookie: String,
    csrf: String,
}

async fn sign_in(app: &Router, name: &str) -> Browser {
    let page = get(app, "/sign-in", "").await;
    let (visit, csrf) = (page.cookies(), page.field("csrf"));
    let fields = [("csrf", csrf.as_str()), ("name", name), ("password", PASSWORD)];
    let done = send(app, form("/sign-in", &visit, &fields)).await;
    assert_eq!((done.status, done.to()), (StatusCode::SEE_OTHER, "/"), "{}", done.body);
    let cookie = done.cookies();
    let csrf = get(app, "/settings", &cookie).await.field("csrf");
    Browser { cookie, csrf }
}

impl Web {
    async fn sign_in(&self, name: &str) -> Browser {
        sign_in(&self.app, name).await
    }

    /// A token that was made at a time.
    fn token(&self, name: &str, account: &str, scopes: &[Scope], at: i64) -> String {
        self.researchers.accounts().add_token(&Wanted { name, account, scopes, days: 1 }, at).unwrap()
    }

    async fn post(&self, browser: &Browser, path: &str, more: &[(&str, &str)]) -> Got {
        let mut fields = vec![("csrf", browser.csrf.as_str())];
        fields.extend(more);
        send(&self.app, form(path, &browser.cookie, &fields)).await
    }

    /// The cookie of a participant who has opened their link.
    async fn participant(&self, number: usize) -> String {
        get(&self.participants, &format!("/s/{}", self.tokens[number]), "").await.cookies()
    }
}

/// Now, in milliseconds since 1970.
fn now() -> i64 {
    equipoise_study::seams::Clock::now(&SystemClock)
}

/// A request of a script.
fn script(path: &str, token: &str) -> Request<Body> {
    Request::get(path).header(header::AUTHORIZATION, format!("Bearer {token}")).body(Body::empty()).unwrap()
}

/// Who asks in the matrix.
enum Credential {
    /// Cookies, and the role of whoever they belong to.
    Cookies(Browser, Option<Role>),
    /// A token, what it allows if it is one, and the cookies that are sent along.
    Token(String, Option<Vec<Scope>>, Browser),
}

/// What the table says about a credential.
fn expected(access: Option<Access>, method: &Method, who: &Credential) -> Cell {
    let (post, Some(access)) = (*method == Method::POST, access) else { return Cell::NoSuchMethod };
    match (access, who) {
        // A token sends no form, whatever it allows and whoever's cookies are with it.
        (_, Credential::Token(..)) if post => Cell::Forbidden,
        // Without a visit to the page first, its form is nobody's.
        (Access::Anyone, Credential::Cookies(_, None)) if post => Cell::Forbidden,
        (Access::Anyone, _) => Cell::Allowed,
        (_, Credential::Cookies(_, None) | Credential::Token(_, None, _)) => Cell::SignIn,
        (Access::AtLeast(least), Credential::Cookies(_, Some(role))) if *role >= least => Cell::Allowed,
        (Access::Scripts(scope), Credential::Cookies(_, Some(role))) if *role >= scope.least() => {
            Cell::Allowed
        }
        (Access::Scripts(scope), Credential::Token(_, Some(scopes), _)) if scopes.contains(&scope) => {
            Cell::Allowed
        }
        _ => Cell::Forbidden,
    }
}

/// What a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Allowed,
    SignIn,
    Forbidden,
    NoSuchMethod,
}

fn cell(got: &Got) -> Cell {
    match got.status {
        StatusCode::SEE_OTHER
            if got.to().split('?').next() == Some("/sign-in")
                && !got.headers.contains_key(header::SET_COOKIE) =>
        {
            Cell::SignIn
        }
        StatusCode::UNAUTHORIZED => Cell::SignIn,
        StatusCode::FORBIDDEN => Cell::Forbidden,
        StatusCode::METHOD_NOT_ALLOWED => Cell::NoSuchMethod,
        _ => Cell::Allowed,
    }
}

/// An address of a route.
fn address(path: &str) -> String {
    path.replace("{number}", "1").replace("{file}", "answers.csv").replace("{name}", "x.css")
}

const METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_every_credential_as_its_line_in_the_table_says() {
    let web = web();
    let [viewer, analyst, owner] =
        [web.sign_in("viewer").await, web.sign_in("analyst").await, web.sign_in("owner").await];
    let revoked = web.sign_in("owner").await;
    assert_eq!(web.post(&revoked, "/sign-out", &[]).await.to(), "/sign-in");
    let nobody = Browser { cookie: String::new(), csrf: String::new() };
    let outsider = |cookie: String| Browser { cookie, csrf: owner.csrf.clone() };
    let token = |name: &str, account: &str, scopes: &[Scope]| web.token(name, account, scopes, now());
    let accounts = web.researchers.accounts();
    let gone = token("gone", "owner", &Scope::ALL);
    accounts.revoke_token("gone").unwrap();
    let expired = web.token("old", "owner", &Scope::ALL, now() - 86_400_001);
    // An analyst made it, who has become a viewer since.
    accounts.add("eva", Role::Analyst, PASSWORD, 0).unwrap();
    let lowered = token("lowered", "eva", &Scope::ALL);
    accounts.set_role("eva", Role::Viewer).unwrap();
    // The account it belonged to is no more.
    accounts.add("ben", Role::Owner, PASSWORD, 0).unwrap();
    let orphan = token("orphan", "ben", &Scope::ALL);
    accounts.remove("ben").unwrap();
    let cookies = |browser: Browser, role: Option<Role>| Credential::Cookies(browser, role);
    let bearer = |token: String, scopes: Option<&[Scope]>| {
        Credential::Token(token, scopes.map(<[Scope]>::to_vec), nobody.clone())
    };
    let mut credentials = vec![
        ("none", cookies(nobody.clone(), None)),
        ("participant", cookies(outsider(web.participant(0).await), None)),
        ("other participant", cookies(outsider(web.participant(1).await), None)),
        ("revoked", cookies(revoked, None)),
        ("viewer", cookies(viewer, Some(Role::Viewer))),
        ("analyst", cookies(analyst, Some(Role::Analyst))),
        ("owner", cookies(owner.clone(), Some(Role::Owner))),
        ("token of all scopes", bearer(token("all", "owner", &Scope::ALL), Some(&Scope::ALL))),
        (
            "token of a viewer",
            bearer(token("v", "viewer", &[Scope::ReadAggregate]), Some(&[Scope::ReadAggregate])),
        ),
        ("token of one who may do less now", bearer(lowered, Some(&[Scope::ReadAggregate]))),
        ("expired token", bearer(expired.clone(), None)),
        ("revoked token", bearer(gone.clone(), None)),
        ("token of an account that is gone", bearer(orphan, None)),
        ("token nobody made", bearer(format!("eqp_{}", "0".repeat(40)), None)),
        ("no token at all", bearer(String::new(), None)),
        ("session as a token", bearer(owner.cookie.split_once('=').unwrap().1[..32].to_owned(), None)),
        // Cookies that come along neither open more nor help a token that opens nothing.
        (
            "token and an owner's cookies",
            Credential::Token(
                token("both", "owner", &[Scope::Export]),
                Some(vec![Scope::Export]),
                owner.clone(),
            ),
        ),
        ("revoked token and an owner's cookies", Credential::Token(gone, None, owner.clone())),
    ];
    for scope in Scope::ALL {
        let name = scope.word().replace(':', "-");
        credentials.push((scope.word(), bearer(token(&name, "analyst", &[scope]), Some(&[scope]))));
    }
    let mut paths: Vec<&str> = routes().iter().map(|route| route.path).collect();
    paths.sort_unstable();
    paths.dedup();
    let (mut cells, mut wrong) = (0, vec![]);
    for path in paths {
        for method in METHODS {
            // A page answers HEAD, too.
            let asked = if method == Method::HEAD { Method::GET } else { method.clone() };
            let declared = routes().iter().find(|route| route.path == path && route.method == asked);
            for (name, who) in &credentials {
                let (browser, token) = match who {
                    Credential::Cookies(browser, _) => (browser, None),
                    Credential::Token(token, _, browser) => (browser, Some(token)),
                };
                let signed_in = matches!(who, Credential::Cookies(_, Some(_)));
                // These end the session they are sent with.
                if signed_in && ["/sign-out", "/settings/sessions"].contains(&path) && method == Method::POST
                {
                    continue;
                }
                let expected = expected(declared.map(|route| route.access()), &method, who);
                let mut request = form(&address(path), &browser.cookie, &[("csrf", browser.csrf.as_str())]);
                *request.method_mut() = method.clone();
                if let Some(token) = token {
                    let value = format!("Bearer {token}").parse().unwrap();
                    request.headers_mut().insert(header::AUTHORIZATION, value);
                }
                let got = send(&web.app, request).await;
                cells += 1;
                // Signing in without a password is wrong, not forbidden to anybody in particular.
                let tried = path == "/sign-in" && method == Method::POST && signed_in;
                if !tried && cell(&got) != expected {
                    wrong.push(format!("{method} {path} as {name}: {} instead of {expected:?}", got.status));
                }
                if token.is_some() && got.headers.contains_key(header::SET_COOKIE) && path != "/sign-in" {
                    wrong.push(format!("{method} {path} as {name} sets a cookie"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cells} cells:\n{}", wrong.len(), wrong.join("\n"));
    println!("{cells} cells of {} routes and {} credentials", routes().len(), credentials.len());
    println!("policy and headers on all of {cells} responses, no script or style inside a page");
    for route in routes().iter().filter(|route| matches!(route.access(), Access::Scripts(_))) {
        assert_eq!(route.method, Method::GET, "{} lets scripts change something", route.path);
    }
    // The two that end their own session, one after the other.
    for (path, name) in [("/sign-out", "viewer"), ("/settings/sessions", "viewer")] {
        let browser = web.sign_in(name).await;
        assert_eq!(web.post(&browser, path, &[]).await.status, StatusCode::SEE_OTHER, "{path}");
        assert_eq!(cell(&get(&web.app, "/", &browser.cookie).await), Cell::SignIn, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_read_with_a_token_and_each_use_is_written_down() {
    let web = web();
    take_part(&web, "panel-identity-");
    let [owner, viewer] = [web.sign_in("owner").await, web.sign_in("viewer").await];
    let make = |browser: &Browser, fields: &[(&'static str, &'static str)]| {
        let (web, browser, fields) = (&web, browser.clone(), fields.to_vec());
        async move { web.post(&browser, "/settings/tokens", &fields).await }
    };
    let all = [("scope", "read:aggregate"), ("scope", "read:answers"), ("scope", "export")];
    let named = |name: &'static str, days: &'static str| [("token", name), ("days", days)];
    for (fields, sentence) in [
        ([&named("nightly", "0")[..], &all].concat(), "a token cannot last 0 days"),
        ([&named("nightly", "soon")[..], &all].concat(), "the form does not say for how many days"),
        (named("nightly", "30").to_vec(), "the token may read nothing"),
        ([&named("", "30")[..], &all].concat(), "cannot be the name of a token"),
        ([&named("nightly", "30")[..], &[("scope", "write")]].concat(), "a scope that is not there"),
    ] {
        let got = make(&owner, &fields).await;
        assert_eq!(got.status, StatusCode::UNPROCESSABLE_ENTITY, "{sentence}");
        assert!(got.body.to_lowercase().contains(sentence), "{sentence} in {}", got.body);
    }
    let more = make(&viewer, &[&named("more", "30")[..], &all].concat()).await;
    assert!(more.body.contains("Viewer is viewer and may not give a token"), "{}", more.body);
    let page = make(&owner, &[&named("nightly", "30")[..], &all].concat()).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let token = page.body.split_once("<code class=\"receipt\">").unwrap().1.split('<').next().unwrap();
    assert!(token.starts_with("eqp_") && token.len() == 44, "{token}");
    let settings = get(&web.app, "/settings", &owner.cookie).await.body;
    assert!(settings.contains("nightly") && !settings.contains(token), "it is shown once");
    assert!(!get(&web.app, "/settings", &viewer.cookie).await.body.contains("nightly"), "it is not theirs");
    let read = |path: &'static str| send(&web.app, script(path, token));
    let live: serde_json::Value = serde_json::from_str(&read("/api/live").await.body).unwrap();
    assert_eq!((&live["done"], &live["invited"]), (&PEOPLE.into(), &PEOPLE.into()), "{live}");
    assert!(live["ratio"].is_null(), "three are too few to be shown together: {live}");
    let people: serde_json::Value = serde_json::from_str(&read("/api/people").await.body).unwrap();
    assert_eq!(people["people"][1]["participant"], 2, "{people}");
    assert!(people["people"][1]["ratio"][0].as_f64().unwrap() > 1.0, "{people}");
    for path in ["/export/report.json", "/export/answers.csv", "/export/questionnaire.jsonl", "/api/people"] {
        let got = read(path).await;
        assert_eq!(got.status, StatusCode::OK, "{path} {}", got.body);
        assert!(
            !got.body.contains("panel-identity") && !got.headers.contains_key(header::SET_COOKIE),
            "{path}"
        );
    }
    for path in ["/export/contacts.csv", "/export/answers", "/api/contacts"] {
        let missing = read(path).await;
        assert_eq!(missing.status, StatusCode::NOT_FOUND, "{path}");
        assert!(serde_json::from_str::<serde_json::Value>(&missing.body).is_ok(), "{}", missing.body);
    }
    for (sent, status) in
        [("Bearer", 401), ("bearer  ", 401), ("Basic YTpi", 303), ("Bearer eqp_\u{e9}", 401)]
    {
        let mut request = script("/api/live", "");
        let value = axum::http::HeaderValue::from_bytes(sent.as_bytes()).unwrap();
        request.headers_mut().insert(header::AUTHORIZATION, value);
        let got = send(&web.app, request).await;
        assert_eq!(got.status.as_u16(), status, "{sent}");
        assert_eq!(got.headers.contains_key(header::WWW_AUTHENTICATE), status == 401, "{sent}");
    }
    // Blinding holds for scripts, too.
    web.post(&owner, "/settings/blinded", &[("blinded", "yes")]).await;
    assert_eq!(read("/export/report.json").await.status, StatusCode::CONFLICT);
    let people: serde_json::Value = serde_json::from_str(&read("/api/people").await.body).unwrap();
    assert!(people["people"][0]["ratio"].is_null() && people["people"][0]["width"].is_number(), "{people}");
    // Nobody takes away what is somebody else's.
    let not_theirs = web.post(&viewer, "/settings/tokens/revoke", &[("token", "nightly")]).await;
    assert_eq!(not_theirs.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(read("/api/live").await.status, StatusCode::OK);
    let revoked = web.post(&owner, "/settings/tokens/revoke", &[("token", "nightly")]).await;
    assert_eq!(revoked.to(), "/settings?done=revoked");
    assert_eq!(read("/api/live").await.status, StatusCode::UNAUTHORIZED);
    let audit = get(&web.app, "/settings/audit", &owner.cookie).await.body;
    for line in [
        "<td>owner</td><td>made the token nightly of owner for read:aggregate read:answers export, good for 30 days</td>",
        "<td>owner, token nightly</td><td>looked at api/live</td>",
        "<td>owner, token nightly</td><td>looked at api/people</td>",
        "<td>owner, token nightly</td><td>exported answers.csv</td>",
        "<td>owner</td><td>revoked the token nightly</td>",
    ] {
        assert_eq!(audit.matches(line).count(), 1, "{line} in {audit}");
    }
    assert!(!audit.contains(token));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_form_is_taken_that_is_not_ours() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let visit = get(&web.app, "/sign-in", "").await;
    let visitor = Browser { cookie: visit.cookies(), csrf: visit.field("csrf") };
    let mut refused = 0;
    for route in routes().iter().filter(|route| route.method == Method::POST) {
        let browser = if route.path == "/sign-in" { &visitor } else { &owner };
        let before = web.service.writer().with(|store| store.head()).unwrap();
        let fields =
            [("csrf", browser.csrf.as_str()), ("name", "owner"), ("password", PASSWORD), ("count", "1")];
        let post = |fields: &[(&str, &str)]| form(route.path, &browser.cookie, fields);
        let mut elsewhere = post(&fields);
        elsewhere.headers_mut().insert(header::ORIGIN, "https://evil.test".parse().unwrap());
        let mut cross_site = post(&fields);
        cross_site.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
        let mut same_site = post(&fields);
        same_site.headers_mut().insert("sec-fetch-site", "same-site".parse().unwrap());
        let mut plain = post(&fields);
        plain.headers_mut().insert(header::CONTENT_TYPE, "text/plain".parse().unwrap());
        let mut json = post(&fields);
        json.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
        let other = Browser { csrf: visitor.csrf.clone(), ..owner.clone() };
        let wrong = if route.path == "/sign-in" { owner.csrf.as_str() } else { other.csrf.as_str() };
        for (why, request, expected) in [
            ("no token", post(&fields[1..]), StatusCode::FORBIDDEN),
            ("a wrong token", post(&[("csrf", "00112233445566778899aabbccddeeff")]), StatusCode::FORBIDDEN),
            ("another's token", post(&[("csrf", wrong)]), StatusCode::FORBIDDEN),
            ("another origin", elsewhere, StatusCode::FORBIDDEN),
            ("another site", cross_site, StatusCode::FORBIDDEN),
            ("a neighbouring site", same_site, StatusCode::FORBIDDEN),
            ("plain text", plain, StatusCode::UNSUPPORTED_MEDIA_TYPE),
            ("JSON", json, StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ] {
            let got = send(&web.app, request).await;
            assert_eq!(got.status, expected, "{} with {why}", route.path);
            assert!(!got.headers.contains_key(header::SET_COOKIE), "{} with {why}", route.path);
            refused += 1;
        }
        let after = web.service.writer().with(|store| store.head()).unwrap();
        assert_eq!(before, after, "{} was done all the same", route.path);
        assert_eq!(get(&web.app, "/", &owner.cookie).await.status, StatusCode::OK, "{}", route.path);
    }
    println!("{refused} forgeries refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_host_s_name_for_this_machine_is_refused() {
    let web = web();
    let asked = async |host: &str, path: &str| {
        let request = Request::get(path).header(header::HOST, host).body(Body::empty()).unwrap();
        send(&web.app, request).await
    };
    for host in ["researchers.test", "localhost:8081", "127.0.0.1:8081", "[::1]:8081"] {
        assert_eq!(asked(host, "/sign-in").await.status, StatusCode::OK, "{host}");
    }
    for path in ["/sign-in", "/", "/health", "/assets/style.css", "/nowhere"] {
        let got = asked("evil.example", path).await;
        assert_eq!(got.status, StatusCode::MISDIRECTED_REQUEST, "{path}");
        assert!(!got.headers.contains_key(header::SET_COOKIE) && !got.body.contains("csrf"), "{path}");
    }
    // A page of theirs that leads here cannot sign in, whatever it says about where it comes from.
    let visit = get(&web.app, "/sign-in", "").await;
    let csrf = visit.field("csrf");
    let fields = [("csrf", csrf.as_str()), ("name", "owner"), ("password", PASSWORD)];
    let mut request = form("/sign-in", &visit.cookies(), &fields);
    request.headers_mut().insert(header::HOST, "evil.example".parse().unwrap());
    request.headers_mut().insert(header::ORIGIN, "http://evil.example".parse().unwrap());
    assert_eq!(send(&web.app, request).await.status, StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test(flavor = "multi_thread")]
async fn people_who_never_came_were_never_heard_of_and_the_group_has_only_members() {
    let web = web();
    let owner = web.sign_in("owner").await;
    // Two answer like one who holds a ratio of 6; the third always prefers the worse, which the rule names.
    for token in &web.tokens[..2] {
        answer(&web.service, &web.service.open(token).unwrap().unwrap(), usize::MAX, "");
    }
    // Pages may be half a second behind.
    tokio::time::sleep(Duration::from_millis(600)).await;
    let people = get(&web.app, "/participants", &owner.cookie).await.body;
    assert_eq!(people.matches("<td class=\"when\">never</td>").count(), PEOPLE - 2, "{people}");
    let session = web.service.open(&web.tokens[2]).unwrap().unwrap();
    answer_by(&web.service, &session, usize::MAX, "", |question| {
        let choice = match answered(question).choice {
            Choice::A => Choice::B,
            _ => Choice::A,
        };
        Answered { choice, ..answered(question) }
    });
    let excluded = web.service.look(&session, |p| Conduct::of(p).excluded).unwrap();
    assert!(excluded, "whoever prefers the worse fails the checks");
    tokio::time::sleep(Duration::from_millis(600)).await;
    let group = get(&web.app, "/results", &owner.cookie).await.body;
    assert!(group.contains("2 people with a metric.") && !group.contains("exclusion rule names"), "{group}");
    // Whoever may see people one by one may see them together, too.
    let live = get(&web.app, "/", &owner.cookie).await.body;
    assert!(live.contains("All together") && !live.contains("shown from"), "{live}");
    // The cut is told once.
    let models = get(&web.app, "/results", &owner.cookie).await.body;
    assert_eq!(models.matches("Cut at").count(), 1, "{models}");
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_router_knows_the_pages_of_the_other() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let person = web.participant(0).await;
    for route in routes() {
        // Both have a health page, assets and a first page; those are each router's own.
        if ["/", "/health", "/assets/{name}"].contains(&route.path) {
            continue;
        }
        for cookie in [&owner.cookie, &person] {
            let mut request = form(&address(route.path), cookie, &[("csrf", owner.csrf.as_str())]);
            *request.method_mut() = route.method.clone();
            let got = send(&web.participants, request).await;
            assert_eq!(got.status, StatusCode::NOT_FOUND, "{} {} for participants", route.method, route.path);
        }
    }
    // A researcher's cookie is nobody to participants.
    assert_eq!(get(&web.participants, "/", &owner.cookie).await.status, StatusCode::FORBIDDEN);
    let theirs = [
        "/s/00112233445566778899aabbccddeeff",
        "/language",
        "/pause",
        "/device",
        "/withdraw",
        "/consent",
        "/answer",
        "/undo",
        "/finish",
        "/lease",
        "/note",
    ];
    for path in theirs {
        assert_eq!(get(&web.app, path, &owner.cookie).await.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(get(&web.app, path, &person).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_in_makes_a_new_session_and_guesses_are_slow() {
    let web = web();
    let page = get(&web.app, "/sign-in", "").await;
    let (visit, csrf) = (page.cookies(), page.field("csrf"));
    let sign_in = |name: &'static str, password: &'static str, cookie: String| {
        let (app, csrf) = (web.app.clone(), csrf.clone());
        async move {
            let fields = [("csrf", csrf.as_str()), ("name", name), ("password", password)];
            send(&app, form("/sign-in", &cookie, &fields)).await
        }
    };
    // Whatever session somebody brings along is not the one they get.
    let planted = format!("{visit}; equipoise-desk=00112233445566778899aabbccddeeff");
    let done = sign_in("owner", PASSWORD, planted).await;
    let set =
        done.headers.get_all(header::SET_COOKIE).iter().map(|set| set.to_str().unwrap()).collect::<Vec<_>>();
    let session = set.iter().find(|set| set.starts_with("equipoise-desk=")).unwrap();
    assert!(
        session.contains("; Path=/; HttpOnly; SameSite=Strict") && !session.contains("00112233"),
        "{session}"
    );
    assert!(!session.contains("Max-Age"), "it ends with the browser");
    let known = done.cookies();
    // Wrong in the same words, whether there is such an account or not.
    let wrong = sign_in("owner", "three small ships", visit.clone()).await;
    let nobody = sign_in("nobody", "three small ships", visit.clone()).await;
    assert_eq!([wrong.status, nobody.status], [StatusCode::FORBIDDEN; 2]);
    assert_eq!(wrong.body.replace("value=\"owner\"", "value=\"nobody\""), nobody.body);
    let mut slowed = 0;
    for _ in 0..12 {
        slowed += u32::from(
            sign_in("owner", "three small ships", visit.clone()).await.status
                == StatusCode::TOO_MANY_REQUESTS,
        );
    }
    assert!(slowed >= 6, "{slowed} of 12 guesses were slowed down");
    // The browser that has signed in before is not kept waiting by them.
    let device = known.split("; ").find(|pair| pair.contains("device")).unwrap();
    let begun = Instant::now();
    let owner = sign_in("owner", PASSWORD, format!("{visit}; {device}")).await;
    assert_eq!(owner.status, StatusCode::SEE_OTHER, "{}", owner.body);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_in_goes_on_to_the_page_that_was_asked_for_and_to_no_other_host() {
    let web = web();
    let asked = get(&web.app, "/participants?sort=flags", "").await;
    assert_eq!(
        (asked.status, asked.to()),
        (StatusCode::SEE_OTHER, "/sign-in?to=/participants%3Fsort%3Dflags")
    );
    let page = get(&web.app, asked.to(), "").await;
    let (visit, csrf, to) = (page.cookies(), page.field("csrf"), page.field("to"));
    assert_eq!(to, "/participants?sort=flags");
    let sign_in = |to: &str, password: &str| {
        let to = to.replace('?', "%3F").replace('=', "%3D").replace('\\', "%5C");
        let fields = [("csrf", csrf.as_str()), ("name", "owner"), ("password", password), ("to", &to)];
        let (app, request) = (web.app.clone(), form("/sign-in", &visit, &fields));
        async move { send(&app, request).await }
    };
    // A wrong password does not forget it.
    assert_eq!(sign_in(&to, "wrong").await.field("to"), to);
    let done = sign_in(&to, PASSWORD).await;
    assert_eq!((done.status, done.to()), (StatusCode::SEE_OTHER, to.as_str()), "{}", done.body);
    for evil in
        ["//evil", "/\\evil", "\\\\evil", "https:", "https://evil.test/", "/sign-out", "/nowhere", "evil"]
    {
        let done = sign_in(evil, PASSWORD).await;
        assert_eq!((done.status, done.to()), (StatusCode::SEE_OTHER, "/"), "{evil}");
        let address = format!("/sign-in?to={}", evil.replace('\\', "%5C"));
        assert!(!get(&web.app, &address, "").await.body.contains("name=\"to\""), "{evil}");
        assert_eq!(get(&web.app, &address, &done.cookies()).await.to(), "/", "{evil}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_tls_cookies_stay_with_it() {
    let web = web();
    let accounts = Accounts::in_memory().unwrap();
    accounts.add("ana", Role::Owner, PASSWORD, 0).unwrap();
    let settings = Settings {
        origin: "https://researchers.test".to_owned(),
        participants: "https://study.example.org".to_owned(),
        log: None,
    };
    let app = app(Researchers::new(web.service.clone(), accounts, settings).unwrap());
    let page = get(&app, "/sign-in", "").await;
    let fields = [("csrf", &*page.field("csrf")), ("name", "ana"), ("password", PASSWORD)];
    let mut request = form("/sign-in", &page.cookies(), &fields);
    request.headers_mut().insert(header::ORIGIN, "https://researchers.test".parse().unwrap());
    let done = send(&app, request).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER);
    for set in page.headers.get_all(header::SET_COOKIE).iter().chain(done.headers.get_all(header::SET_COOKIE))
    {
        let set = set.to_str().unwrap();
        assert!(set.starts_with("__Host-") && set.ends_with("; Secure") && set.contains("Path=/"), "{set}");
    }
    assert_eq!(get(&app, "/", &done.cookies()).await.status, StatusCode::OK);
}

/// Lets everybody take part to the end; a panel has told who they are.
fn take_part(web: &Web, external: &str) {
    for (place, token) in web.tokens.iter().enumerate() {
        let session = web.service.open(token).unwrap().unwrap();
        answer(&web.service, &session, usize::MAX, &format!("{external}{place}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_sees_what_their_role_allows_and_looking_is_written_down() {
    let web = web();
    take_part(&web, "panel-identity-");
    let [viewer, analyst, owner] =
        [web.sign_in("viewer").await, web.sign_in("analyst").await, web.sign_in("owner").await];
    let person = get(&web.app, "/participants/1", &owner.cookie).await;
    assert!(
        person.body.contains("PROLIFIC_PID") && person.body.contains("panel-identity-0"),
        "{}",
        person.body
    );
    // Whoever has the whole log cannot tell either: it is not in there (S-14).
    let log = web.service.writer().with(|store| rows(store)).unwrap();
    assert!(log.iter().any(|row| row.payload.as_ref().unwrap().body.contains("consent_given")));
    for row in &log {
        let body = &row.payload.as_ref().unwrap().body;
        assert!(!body.contains("panel-identity") && !body.contains("PROLIFIC_PID"), "{body}");
    }
    let pages = [
        "/",
        "/design",
        "/",
        "/?person=2",
        "/participants",
        "/participants/1",
        "/results",
        "/results",
        "/results/files",
        "/export/answers.csv",
        "/export/answers.jsonl",
        "/export/report.html",
        "/export/report.json",
        "/settings/audit",
        "/settings",
    ];
    for path in pages {
        let got = get(&web.app, path, &analyst.cookie).await;
        assert_eq!(got.status, StatusCode::OK, "{path} {}", got.body);
        for secret in ["PROLIFIC_PID", "panel-identity"] {
            assert!(!got.body.contains(secret), "{path} tells an analyst who somebody is");
        }
    }
    // Three people are too few to be shown to a viewer, one by one or together.
    let live = get(&web.app, "/?person=1", &viewer.cookie).await;
    assert_eq!(live.status, StatusCode::OK);
    assert!(!live.body.contains("Participant 1") && !live.body.contains("class='chart"), "{}", live.body);
    assert!(live.body.contains("shown from 5 people on"), "{}", live.body);
    // Who looked at what, once for a sitting.
    for _ in 0..3 {
        get(&web.app, "/participants/1", &analyst.cookie).await;
    }
    let audit = get(&web.app, "/settings/audit", &owner.cookie).await.body;
    for line in [
        "<td>analyst</td><td>looked at overview, participant 2</td>",
        "<td>analyst</td><td>looked at participants</td>",
        "<td>analyst</td><td>looked at participants, participant 1</td>",
        "<td>analyst</td><td>exported answers.csv</td>",
        "<td>viewer</td><td>looked at overview</td>",
        "<td>owner</td><td>signed in</td>",
    ] {
        assert_eq!(audit.matches(line).count(), 1, "{line} in {audit}");
    }
    let checked = web.post(&owner, "/settings/audit", &[]).await;
    assert!(checked.body.contains("The log agrees with itself"), "{}", checked.body);
    let cut = web.post(&owner, "/settings/audit", &[("receipt", "99999-9f86d081884c7d65")]).await;
    assert_eq!(cut.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(cut.body.contains("the log was cut after the receipt was given"), "{}", cut.body);
}

/// Lets somebody answer so many comparisons without pages: of two classes as one who holds a ratio of 6, otherwise always A.
fn answer(service: &Service, session: &str, answers: usize, external: &str) {
    answer_by(service, session, answers, external, answered);
}

/// The same with another opinion.
fn answer_by(
    service: &Service,
    session: &str,
    answers: usize,
    external: &str,
    opinion: impl Fn(&Question) -> Answered,
) {
    let mut given = 0;
    for event in 0.. {
        let next = service.look(session, |p| {
            Some(match p.step() {
                Step::Language => Event::LanguageChosen { language: "en".to_owned() },
                Step::Consent => Event::ConsentGiven {
                    text: p.consent_hash(),
                    device: "d".to_owned(),
                    external: [("PROLIFIC_PID".to_owned(), external.to_owned())].into(),
                },
                Step::Questionnaire(position) => {
                    Event::QuestionnaireAnswered { position, answers: Default::default() }
                }
                Step::StatedCost(when) => Event::StatedCost { when, ratio: None, low: None, high: None },
                Step::Consequences => Event::ConsequencesRead,
                Step::Picture { question, .. } => Event::PictureAnswered { question, option: 0 },
                Step::Practice(number) => Event::PracticeDone { number, choice: Choice::A },
                Step::Compare if given < answers => Event::Answered(opinion(p.pending()?)),
                Step::Finish => Event::Completed,
                _ => return None,
            })
        });
        let Some(next) = next.unwrap() else { return };
        given += usize::from(matches!(next, Event::Answered(_)));
        service.record(session, "d", &format!("key-{event}-{given}"), &next).unwrap();
    }
}

fn answered(question: &Question) -> Answered {
    let shown = &question.asked.shown;
    let cost = |cells: &[u64]| match (shown.classes, shown.groups) {
        (2, 1) => 6 * cells[2] + cells[1],
        _ => 0,
    };
    Answered {
        asked: question.seq,
        choice: if cost(&shown.a) <= cost(&shown.b) { Choice::A } else { Choice::B },
        response_ms: Some(900),
        hidden_ms: 0,
        rates: false,
        pressed_left: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn studies_of_other_kinds_have_all_pages_too() {
    for template in ["multiclass-triage", "group-fair-hiring"] {
        let web = web_of(template);
        let owner = web.sign_in("owner").await;
        let pages = [
            "/",
            "/design",
            "/",
            "/participants",
            "/results",
            "/results",
            "/export/answers.csv",
            "/settings/audit",
        ];
        for answers in [0, 14] {
            for token in &web.tokens {
                answer(&web.service, &web.service.open(token).unwrap().unwrap(), answers, "");
            }
            for path in pages {
                let got = get(&web.app, path, &owner.cookie).await;
                assert_eq!(got.status, StatusCode::OK, "{template} {path} {}", got.body);
                assert!(!got.body.contains("NaN"), "{template} {path}");
            }
        }
        let person = get(&web.app, "/participants/1", &owner.cookie).await;
        assert_eq!(person.status, StatusCode::OK, "{template} {}", person.body);
        let live = get(&web.app, "/?person=1", &owner.cookie).await.body;
        // Weights in words wherever two classes have a ratio, and never an angle.
        let verb = if template == "group-fair-hiring" { "is worth" } else { "is as bad as" };
        assert!(live.contains("To this person, ") && live.contains(verb), "{template} {live}");
        assert!(live.contains("What it is worth to participant") && live.contains("class='chart"), "{live}");
        let people = get(&web.app, "/participants", &owner.cookie).await.body;
        assert!(people.contains("What weighs most") && people.contains(verb), "{people}");
        assert!(!people.contains("Cost ratio"), "{people}");
        for path in ["/", "/participants", "/participants/1", "/results", "/design"] {
            let page = get(&web.app, path, &owner.cookie).await.body;
            assert!(!page.to_lowercase().contains("an angle of 0"), "{template} {path}: {page}");
        }
        let group = get(&web.app, "/results", &owner.cookie).await.body;
        assert!(
            group.contains("first direction") || group.contains("Fewer than two people"),
            "{template} {group}"
        );
        assert!(
            group.contains("What it is worth to a typical member") || group.contains("Fewer than two people"),
            "{template} {group}"
        );
    }
}

/// The models of a table on the page, best first, from a place in the page on.
fn ranked(page: &str, after: &str) -> Vec<String> {
    let table = page.split_once(after).unwrap_or_else(|| panic!("no {after} in {page}")).1;
    let body = table.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    body.split("<th scope=\"row\">").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_if_ranks_models_anew_and_says_that_it_is_hypothetical() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("what-if");
    std::fs::create_dir_all(&directory).unwrap();
    // One misses 30 and alarms 20 of 1,000; the other misses 5 and alarms 150: even at a ratio of 5.2.
    let records = "model,truth,estimate,count\n\
        bold,no cancer,no cancer,630\nbold,no cancer,cancer,20\nbold,cancer,cancer,320\nbold,cancer,no cancer,30\n\
        careful,no cancer,no cancer,500\ncareful,no cancer,cancer,150\ncareful,cancer,cancer,345\ncareful,cancer,no cancer,5\n";
    std::fs::write(directory.join("models.csv"), records).unwrap();
    let (name, table) = template::find("binary-cancer").unwrap().table;
    std::fs::write(directory.join(name), table).unwrap();
    let web = web_with("binary-cancer", &directory, |study| {
        study.candidates =
            Some(Candidates { file: Some("models.csv".into()), predictions: vec![], attributes: None });
    });
    take_part(&web, "x");
    let analyst = web.sign_in("analyst").await;
    let page = |path: &'static str| get(&web.app, path, &analyst.cookie);
    let plain = page("/results").await.body;
    assert!(!plain.contains("not a result") && plain.contains("By a typical member of the group"), "{plain}");
    let [low, high] = [page("/results?ratio=2").await.body, page("/results?ratio=20").await.body];
    assert_eq!(ranked(&low, "not a result"), ["bold", "careful"]);
    assert_eq!(ranked(&high, "not a result"), ["careful", "bold"]);
    for (body, threshold) in [(&low, "Cut at 0.333"), (&high, "Cut at 0.048")] {
        assert!(body.contains("hypothetical") && body.contains(threshold), "{body}");
    }
    // What people hold does not move with what somebody types.
    let of_group = |body: &str| {
        let from = body.split_once("id=\"by-group\"").unwrap().1;
        from.split("</section>").next().unwrap().to_owned()
    };
    // The slider and the field lead to the same page, without a script.
    let slid = page("/results?at=130").await.body;
    assert_eq!(ranked(&slid, "not a result"), ["careful", "bold"]);
    assert!(slid.contains("If one missed cancer were worth 20 false alarms"), "{slid}");
    assert!(
        slid.contains("value=\"130\"") && plain.contains("class=\"line s1\""),
        "no lines of costs: {plain}"
    );
    assert_eq!(of_group(&low), of_group(&plain));
    let wrong = page("/results?ratio=many").await.body;
    assert!(wrong.contains("Expected a number from 0.001 to 1,000."), "{wrong}");
    let group = page("/results").await.body;
    assert!(group.contains("minimax regret") && group.contains("prefer different models"), "{group}");
}

#[tokio::test(flavor = "multi_thread")]
async fn blinding_hides_which_way_results_point_and_is_written_down() {
    let web = web();
    take_part(&web, "x");
    let owner = web.sign_in("owner").await;
    let open = get(&web.app, "/?person=1", &owner.cookie).await.body;
    assert!(open.contains("one missed cancer is worth about") && open.contains("<svg"), "{open}");
    assert_eq!(
        web.post(&owner, "/settings/blinded", &[("blinded", "yes")]).await.to(),
        "/settings?done=blinded"
    );
    for path in ["/?person=1", "/participants", "/participants/1", "/results", "/results"] {
        let page = get(&web.app, path, &owner.cookie).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(page.body.contains("blinded"), "{path} does not say so");
        for telling in ["is worth about", "Cost ratio: how likely", "fewer missed cancers", "Planned next"] {
            assert!(!page.body.contains(telling), "{path} shows \"{telling}\"");
        }
    }
    let narrow = get(&web.app, "/participants", &owner.cookie).await.body;
    assert!(narrow.contains("known to a factor of"), "{narrow}");
    assert_eq!(get(&web.app, "/export/answers.csv", &owner.cookie).await.status, StatusCode::CONFLICT);
    web.post(&owner, "/settings/blinded", &[("blinded", "no")]).await;
    assert_eq!(get(&web.app, "/export/answers.csv", &owner.cookie).await.status, StatusCode::OK);
    let audit = get(&web.app, "/settings/audit", &owner.cookie).await.body;
    assert!(
        audit.contains("hid results from researchers")
            && audit.contains("showed results to researchers again")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_made_shown_once_and_open_the_study() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let page = get(&web.app, "/participants/links", &owner.cookie).await;
    assert!(page.body.contains("?PROLIFIC_PID={{%PROLIFIC_PID%}}"), "{}", page.body);
    let key = page.field("key");
    let wrong = web.post(&owner, "/participants/links", &[("key", &key), ("count", "501")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let made =
        web.post(&owner, "/participants/links", &[("key", &key), ("count", "2"), ("as", "page")]).await;
    let links: Vec<&str> = made.body.split("http://study.test/s/").skip(1).map(|rest| &rest[..32]).collect();
    assert_eq!(links.len(), 2, "{}", made.body);
    for token in &links {
        assert_eq!(get(&web.participants, &format!("/s/{token}"), "").await.status, StatusCode::OK);
    }
    let again =
        web.post(&owner, "/participants/links", &[("key", &key), ("count", "2"), ("as", "page")]).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(!get(&web.app, "/participants/links", &owner.cookie).await.body.contains(links[0]));
    let key = get(&web.app, "/participants/links", &owner.cookie).await.field("key");
    let csv = web.post(&owner, "/participants/links", &[("key", &key), ("count", "3"), ("as", "csv")]).await;
    assert_eq!(csv.headers[header::CONTENT_DISPOSITION], "attachment; filename=\"links.csv\"");
    let lines: Vec<&str> = csv.body.lines().collect();
    assert_eq!((lines.len(), lines[0]), (4, "participant,link"));
    assert!(lines[1].starts_with("6,http://study.test/s/"), "{}", lines[1]);
    let audit = get(&web.app, "/settings/audit", &owner.cookie).await.body;
    assert!(audit.contains("made 2 links, for participant 4 and those after"), "{audit}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_is_kept_can_be_shown_again_and_that_is_written_down() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let key = get(&web.app, "/participants/links", &owner.cookie).await.field("key");
    let fields = [("key", key.as_str()), ("count", "1"), ("as", "page"), ("keep", "yes")];
    let made = web.post(&owner, "/participants/links", &fields).await;
    let token = made.body.split("http://study.test/s/").nth(1).unwrap()[..32].to_owned();
    let page = get(&web.app, "/participants/links", &owner.cookie).await;
    assert!(!page.body.contains(&token), "it is shown to whoever asks for it");
    let [kept, other] = ["4", "1"].map(|number| format!("name=\"participant\" value=\"{number}\""));
    assert!(page.body.contains(&kept) && !page.body.contains(&other), "{}", page.body);
    let shown = web.post(&owner, "/participants/links/show", &[("participant", "4")]).await;
    assert!(
        shown.body.contains(&token) && shown.body.contains("The link of participant 4"),
        "{}",
        shown.body
    );
    assert_eq!(
        web.post(&owner, "/participants/links/show", &[("participant", "1")]).await.status,
        StatusCode::NOT_FOUND
    );
    let audit = get(&web.app, "/settings/audit", &owner.cookie).await.body;
    assert!(audit.contains("had the link of participant 4 shown"), "{audit}");
    // It tells nobody who somebody is, and goes with them.
    let session = web.service.open(&token).unwrap().unwrap();
    assert_eq!(web.service.contacts().get(&session).unwrap(), None);
    web.service.erase(&session).unwrap();
    assert!(web.service.contacts().links().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_told_of_whoever_was_erased_by_a_command_beside_the_server() {
    let web = web();
    let session = web.service.open(&web.tokens[0]).unwrap().unwrap();
    answer(&web.service, &session, 12, "");
    let analyst = web.sign_in("analyst").await;
    let page = get(&web.app, "/participants/1", &analyst.cookie).await;
    assert_eq!(page.status, StatusCode::OK);
    let report = get(&web.app, "/export/report.html", &analyst.cookie).await;
    assert_eq!(report.status, StatusCode::OK, "{}", report.body);
    let tombstone = equipoise_log::Entry {
        key: equipoise_log::TOMBSTONE.to_owned(),
        at: 1,
        salt: [7; 32],
        body: Event::Erased { session: String::new() }.body(),
    };
    let erase = move |store: &mut dyn Store| equipoise_log::erase(store, &session, None, &tombstone);
    web.service.writer().with(erase).unwrap();
    // Whoever watches is told within half a second; what is made for it is not worth more to others.
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(get(&web.app, "/participants/1", &analyst.cookie).await.status, StatusCode::NOT_FOUND);
    let live = get(&web.app, "/api/people", &analyst.cookie).await.body;
    assert!(!live.contains("\"participant\":1,"), "{live}");
    let after = get(&web.app, "/export/report.html", &analyst.cookie).await;
    assert_eq!(after.status, StatusCode::OK);
    assert!(after.body != report.body, "the report of before has them in it");
}

#[tokio::test(flavor = "multi_thread")]
async fn owners_manage_accounts_and_sessions_end_at_once() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let add = |name: &'static str, role: &'static str, password: &'static str| {
        let (web, owner) = (&web, owner.clone());
        async move {
            web.post(&owner, "/accounts", &[("name", name), ("role", role), ("password", password)]).await
        }
    };
    let short = add("eva", "viewer", "short").await;
    assert_eq!(short.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(short.body.contains("The password has 5 characters, expected at least 12"), "{}", short.body);
    assert_eq!(add("eva", "king", PASSWORD).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(add("eva", "viewer", PASSWORD).await.to(), "/settings?done=account");
    assert_eq!(add("eva", "viewer", PASSWORD).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    let eva = web.sign_in("eva").await;
    assert_eq!(get(&web.app, "/participants", &eva.cookie).await.status, StatusCode::FORBIDDEN);
    web.post(&owner, "/accounts/role", &[("name", "eva"), ("role", "analyst")]).await;
    assert_eq!(
        cell(&get(&web.app, "/participants", &eva.cookie).await),
        Cell::SignIn,
        "the old role went on"
    );
    let eva = web.sign_in("eva").await;
    assert_eq!(get(&web.app, "/participants", &eva.cookie).await.status, StatusCode::OK);
    web.post(&owner, "/accounts/sessions", &[("name", "eva")]).await;
    assert_eq!(cell(&get(&web.app, "/participants", &eva.cookie).await), Cell::SignIn);
    let eva = web.sign_in("eva").await;
    let wrong = web.post(&eva, "/settings/password", &[("old", "x"), ("new", "four small boats")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    web.post(&eva, "/settings/password", &[("old", PASSWORD), ("new", "four small boats")]).await;
    assert_eq!(cell(&get(&web.app, "/participants", &eva.cookie).await), Cell::SignIn);
    web.post(&owner, "/accounts/password", &[("name", "eva"), ("password", PASSWORD)]).await;
    let eva = web.sign_in("eva").await;
    web.post(&owner, "/accounts/remove", &[("name", "eva")]).await;
    assert_eq!(cell(&get(&web.app, "/participants", &eva.cookie).await), Cell::SignIn);
    let only = web.post(&owner, "/accounts/remove", &[("name", "owner")]).await;
    assert!(only.body.contains("is the only owner"), "{}", only.body);
    let audit = get(&web.app, "/settings/audit", &owner.cookie).await.body;
    for line in [
        "made the account eva, viewer",
        "made eva analyst",
        "signed eva out everywhere",
        "took the account eva away",
    ] {
        assert!(audit.contains(line), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_five_places_and_old_addresses_lead_there() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let page = get(&web.app, "/", &owner.cookie).await.body;
    let menu = page.split_once("aria-label=\"Places\"").unwrap().1.split("</nav>").next().unwrap();
    let names: Vec<&str> = menu.split("\">").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    assert_eq!(names, ["Overview", "Participants", "Results", "Design", "Settings"]);
    for (old, new) in [
        ("/live?person=1", "/?person=1"),
        ("/people?show=flagged", "/participants?show=flagged"),
        ("/people/2", "/participants/2"),
        ("/links", "/participants/links"),
        ("/group?without=excluded", "/results?without=excluded"),
        ("/models?ratio=20", "/results?ratio=20"),
        ("/export", "/results/files"),
        ("/audit", "/settings/audit"),
    ] {
        let got = get(&web.app, old, &owner.cookie).await;
        assert_eq!((got.status, got.to()), (StatusCode::PERMANENT_REDIRECT, new), "{old}");
        assert!(get(&web.app, new, &owner.cookie).await.status.as_u16() < 300, "{new}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_overview_tells_how_far_everybody_is_and_how_long_they_took() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let session = |place: usize| web.service.open(&web.tokens[place]).unwrap().unwrap();
    answer(&web.service, &session(0), usize::MAX, "x");
    answer(&web.service, &session(1), 3, "y");
    let page = get(&web.app, "/", &owner.cookie).await.body;
    let stage = |name: &str| {
        let row = page.split_once(&format!("<th scope=\"row\">{name}</th><td>")).unwrap().1;
        row.split('<').next().unwrap().to_owned()
    };
    let found =
        ["have a place", "opened it", "agreed to take part", "answered a comparison", "are done"].map(stage);
    assert_eq!(found, ["3", "2", "2", "2", "1"]);
    assert!(page.contains("The one who is done took less than a minute."), "{page}");
    assert!(page.contains("1 person is at it now."), "{page}");
    assert!(
        page.contains("To somebody drawn from these 2 people, ") && page.contains("chart wide"),
        "{page}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_no_metric_in_the_report_has_none_on_any_page() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let session = |place: usize| web.service.open(&web.tokens[place]).unwrap().unwrap();
    answer(&web.service, &session(0), usize::MAX, "x");
    answer(&web.service, &session(1), usize::MAX, "y");
    // Without looking.
    answer_by(&web.service, &session(2), usize::MAX, "z", |question| Answered {
        choice: Choice::A,
        ..answered(question)
    });
    let page = get(&web.app, "/", &owner.cookie).await.body;
    assert!(page.contains("To somebody drawn from these 2 people, "), "{page}");
    assert!(page.contains("1 other is left out: no metric follows"), "{page}");
    let page = get(&web.app, "/participants", &owner.cookie).await.body;
    assert_eq!(page.matches("no metric").count(), 1, "{page}");
    let page = get(&web.app, "/participants/3", &owner.cookie).await.body;
    assert!(page.contains("No metric is reported"), "{page}");
    assert!(page.contains("chose one side far more often") && !page.contains("in turn"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_uses_no_place_and_leaves_nothing() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let before = get(&web.app, "/", &owner.cookie).await.body;
    let rows = || web.service.writer().with(|store| equipoise_log::rows(store)).unwrap().len();
    let written = rows();
    let opened = web.post(&owner, "/design/preview", &[]).await;
    let token = opened.body.split("http://study.test/s/").nth(1).unwrap()[..32].to_owned();
    assert!(web.service.open(&token).unwrap().is_none(), "it is a place of the study");
    let joined = get(&web.participants, &format!("/s/{token}"), "").await;
    let cookie = joined.cookies();
    let page = get(&web.participants, "/", &cookie).await.body;
    assert!(page.contains("Preview: nothing is kept"), "{page}");
    // Through a form, too.
    let field = |name: &str| {
        let rest = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap().1;
        rest.split('"').next().unwrap().to_owned()
    };
    let fields = [("csrf", field("csrf")), ("key", field("key")), ("language", "de".to_owned())];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let sent = send(&web.participants, form("/language", &cookie, &fields)).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER);
    let consent = get(&web.participants, "/", &cookie).await.body;
    assert!(consent.contains("Vorschau: nichts wird gespeichert") && consent.contains("action=\"/consent\""));
    assert_eq!(rows(), written, "something was written");
    let stage = |page: &str| {
        page.split_once("have a place</th><td>").unwrap().1.split('<').next().unwrap().to_owned()
    };
    assert_eq!(stage(&before), stage(&get(&web.app, "/", &owner.cookie).await.body));
}

#[tokio::test(flavor = "multi_thread")]
async fn simulated_people_fill_the_results_and_are_said_to_be_simulated() {
    for template in ["binary-cancer", "multiclass-triage", "group-fair-hiring"] {
        let web = web_of(template);
        let viewer = web.sign_in("viewer").await;
        let rows = || web.service.writer().with(|store| equipoise_log::rows(store)).unwrap().len();
        let written = rows();
        let page = loop {
            let got = get(&web.app, "/results?people=simulated", &viewer.cookie).await;
            if got.status != StatusCode::ACCEPTED {
                break got.body;
            }
            assert_eq!(got.headers[header::REFRESH], "2");
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        };
        assert!(
            page.contains("20 simulated people, kept apart: nothing on this page is a result."),
            "{page}"
        );
        assert!(page.contains("To a typical member of the group, "), "{template} {page}");
        assert!(!page.contains("NaN") && !page.contains("href=\"/participants/1\""), "{template} {page}");
        // The other places, with links that stay among them.
        let analyst = web.sign_in("analyst").await;
        let written = rows().max(written);
        for path in [
            "/?people=simulated",
            "/participants?people=simulated&sort=minutes",
            "/participants/7?people=simulated",
        ] {
            let got = get(&web.app, path, &analyst.cookie).await;
            assert_eq!(got.status, StatusCode::OK, "{path}");
            assert!(got.body.contains("nothing on this page is a result"), "{template} {path} {}", got.body);
            assert!(
                !got.body.contains("NaN") && !got.body.contains("href=\"/participants/7\""),
                "{path} {}",
                got.body
            );
            assert!(!got.body.contains("id=\"live\""), "{path} is refreshed");
        }
        let overview = get(&web.app, "/?people=simulated", &analyst.cookie).await.body;
        assert!(
            overview.contains("are done</th><td>20</td>") && overview.contains("Of 20 people who are done"),
            "{overview}"
        );
        let people = get(&web.app, "/participants?people=simulated", &analyst.cookie).await.body;
        assert_eq!(people.matches("?people=simulated\">").count() - 3, 20, "{people}");
        let one = get(&web.app, "/?people=simulated", &viewer.cookie).await.body;
        assert!(!one.contains("One by one</h2>"), "a viewer sees people one by one");
        assert_eq!(
            get(&web.app, "/participants/21?people=simulated", &analyst.cookie).await.status,
            StatusCode::NOT_FOUND
        );
        assert_eq!(rows(), written, "something was written");
        let results = get(&web.app, "/results", &viewer.cookie).await.body;
        assert!(!results.contains("simulated") && results.contains("Fewer than two people"), "{results}");
        let overview = get(&web.app, "/", &analyst.cookie).await.body;
        assert!(overview.contains("are done</th><td>0</td>"), "{overview}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn participants_are_sorted_filtered_and_replayed() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let session = |place: usize| web.service.open(&web.tokens[place]).unwrap().unwrap();
    answer(&web.service, &session(0), 3, "x");
    answer(&web.service, &session(1), usize::MAX, "y");
    let numbers = |page: &str| -> Vec<String> {
        let rows =
            page.split_once("<tbody>").unwrap().1.split("<th scope=\"row\"><a href=\"/participants/").skip(1);
        rows.map(|row| row.split('"').next().unwrap().to_owned()).collect()
    };
    for (query, expected) in [
        ("", vec!["1", "2", "3"]),
        ("?sort=answers&order=down", vec!["2", "1", "3"]),
        ("?sort=answers", vec!["3", "1", "2"]),
        ("?sort=number&order=down", vec!["3", "2", "1"]),
        ("?show=done", vec!["2"]),
        ("?show=now", vec!["1"]),
        ("?show=waiting", vec!["3"]),
    ] {
        let page = get(&web.app, &format!("/participants{query}"), &owner.cookie).await.body;
        assert_eq!(numbers(&page), expected, "{query}");
    }
    let sorted = get(&web.app, "/participants?sort=answers&order=down", &owner.cookie).await.body;
    assert!(sorted.contains("aria-sort=\"descending\""), "{sorted}");
    let replay = get(&web.app, "/participants/1?question=2", &owner.cookie).await.body;
    assert!(replay.contains("Question 2 of 3, as it was answered"), "{replay}");
    assert!(replay.contains("question=1#replay") && replay.contains("question=3#replay"), "{replay}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_live_page_follows_whoever_answers_unless_somebody_was_asked_for() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let session = |place: usize| web.service.open(&web.tokens[place]).unwrap().unwrap();
    answer(&web.service, &session(0), 3, "x");
    let first = get(&web.app, "/", &owner.cookie).await.body;
    assert!(first.contains("<h2 id=\"one\">Participant 1</h2>"), "{first}");
    let again = first.split_once("data-again=\"").unwrap().1.split('"').next().unwrap().to_owned();
    std::thread::sleep(std::time::Duration::from_millis(600));
    answer(&web.service, &session(1), 3, "y");
    let later = get(&web.app, &format!("{again}seen=1"), &owner.cookie).await.body;
    assert!(later.contains("<h2 id=\"one\">Participant 2</h2>"), "it stays with participant 1: {again}");
    let asked = get(&web.app, "/?person=1", &owner.cookie).await.body;
    assert!(
        asked.contains("data-again=\"/?person=1&amp;\"") || asked.contains("data-again=\"/?person=1&#38;\""),
        "{asked}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_card_is_empty_and_one_participant_is_not_all_of_them() {
    let web = web_with("multiclass-triage", Path::new("../equipoise-study/src/templates"), |study| {
        study.candidates = None
    });
    let owner = web.sign_in("owner").await;
    for token in &web.tokens {
        answer(&web.service, &web.service.open(token).unwrap().unwrap(), 40, "x");
    }
    for path in ["/", "/", "/results", "/results", "/design", "/participants"] {
        let page = get(&web.app, path, &owner.cookie).await.body;
        for part in page.split("<section").skip(1) {
            let inside = part.split("</section>").next().unwrap();
            let after = inside.split_once("</h2>").map_or(inside, |(_, after)| after);
            assert!(!after.trim().is_empty(), "an empty card on {path}: {inside}");
        }
    }
    let page = get(&web.app, "/participants", &owner.cookie).await.body;
    assert!(page.contains("<p>3 participants. ") && !page.contains("All 3"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_on_the_live_page_within_two_seconds() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = web.participants.clone();
    tokio::spawn(async { axum::serve(listener, app).await });
    let token = web.tokens[0].clone();
    let answering = tokio::spawn(async move {
        let mut person = cohort::Person::new(6.0, 20.0, Duration::from_millis(60), 1);
        let mut part = cohort::Part::default();
        cohort::take_part(address, &token, &mut person, &mut part).await.map(|()| part)
    });
    let session = web.service.open(&web.tokens[0]).unwrap().unwrap();
    let answered = || {
        web.service
            .peek(&session, |p| p.questions().iter().filter(|question| question.answer.is_some()).count())
            .unwrap()
    };
    // As the script does: asks what is new, again and again; counts how old an answer was when it was first seen.
    let (mut seen, mut shown, mut slowest) = (0, 0, Duration::ZERO);
    let mut acknowledged: Vec<Instant> = vec![];
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) && shown < 15 {
        while acknowledged.len() < answered() {
            acknowledged.push(Instant::now());
        }
        let page = get(&web.app, &format!("/?person=1&seen={seen}"), &owner.cookie).await;
        if page.status == StatusCode::OK {
            let part = page.body.split_once("data-seen=\"").unwrap().1;
            seen = part.split_once('"').unwrap().0.parse::<u64>().unwrap();
            let count = part.split_once("<dt>comparisons answered</dt><dd>").unwrap().1;
            let count: usize = count.split_once('<').unwrap().0.parse().unwrap();
            for at in acknowledged.iter().take(count).skip(shown) {
                slowest = slowest.max(at.elapsed());
            }
            shown = shown.max(count);
        } else {
            assert_eq!(page.status, StatusCode::NO_CONTENT);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    answering.abort();
    assert!(shown >= 15, "{shown} answers were seen");
    println!("the slowest of {shown} answers was on the page after {slowest:?}");
    // The page asks once a second: with that second, two at most.
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_cannot_be_written_is_red_within_five_seconds_and_said_on_every_page() {
    let web = web();
    let owner = web.sign_in("owner").await;
    let health = || get(&web.app, "/health", "");
    assert_eq!(health().await.status, StatusCode::OK);
    web.broken.store(true, Ordering::SeqCst);
    let begun = Instant::now();
    while health().await.status == StatusCode::OK {
        assert!(begun.elapsed() < Duration::from_secs(5), "still green");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let red = health().await;
    assert_eq!(red.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(red.body, "{\"status\":\"failing\",\"code\":\"disk_full\"}");
    assert!(red.headers.contains_key(header::RETRY_AFTER));
    for path in ["/", "/design", "/settings/audit", "/settings", "/participants/links", "/results/files"] {
        let page = get(&web.app, path, &owner.cookie).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(page.body.contains("The disk is full: no answer can be written."), "{path}");
    }
    // Looking is written down before anything is shown.
    let live = get(&web.app, "/participants", &owner.cookie).await;
    assert_eq!(live.status, StatusCode::INSUFFICIENT_STORAGE, "{}", live.body);
    web.broken.store(false, Ordering::SeqCst);
    let begun = Instant::now();
    while health().await.status != StatusCode::OK {
        assert!(begun.elapsed() < Duration::from_secs(10), "still red");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(get(&web.app, "/participants", &owner.cookie).await.status, StatusCode::OK);
}
