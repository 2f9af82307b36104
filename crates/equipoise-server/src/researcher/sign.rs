//! Signing in and out, and what is open to everybody.

use super::Shared;
use super::accounts::{self, Account, DEVICE_MS, Error};
use super::call::{Call, Outcome, Visitor, go};
use super::frame::{Frame, capital};
use super::limit::From;
use super::route::{Access, Route, routes};
use super::tokens::Token;
use crate::text::{cookie, encoded, hex, random, same};
use crate::{assets, guard};
use askama::Template;
use axum::Json;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{AppendHeaders, Html, IntoResponse as _, Response};
use equipoise_pages::page::render;
use equipoise_study::event::{Action, Admin};
use sha2::{Digest as _, Sha256};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Who is signed in.
pub const COOKIE: &str = "equipoise-desk";
/// The same, with its name over TLS: one that browsers give to this host only, and that no other can set.
const SESSION: [&str; 2] = [COOKIE, "__Host-equipoise-desk"];
/// Which browser it is; lets nobody in.
const DEVICE: [&str; 2] = ["equipoise-desk-device", "__Host-equipoise-desk-device"];
/// Before anybody is signed in: what the form of the sign-in page belongs to.
const VISIT: [&str; 2] = ["equipoise-desk-visit", "__Host-equipoise-desk-visit"];

/// Somebody who is signed in, or a script of theirs.
#[derive(Debug, Clone)]
pub struct Signed {
    /// Who.
    pub account: Account,
    /// The token they sent, if it is a script.
    pub script: Option<Token>,
    token: String,
}

impl Signed {
    /// Whoever the request's cookie says.
    pub fn from_cookie(
        shared: &Shared,
        headers: &HeaderMap,
        person: bool,
    ) -> Result<Option<Self>, accounts::Error> {
        let Some(token) = kept(shared, headers, SESSION) else { return Ok(None) };
        let account = shared.accounts.session(token, shared.clock.now(), person)?;
        Ok(account.map(|account| Self { account, script: None, token: token.to_owned() }))
    }

    /// Whoever the token of a script belongs to. Nothing of this comes from a cookie, so no page can send it for somebody.
    pub fn from_token(shared: &Shared, sent: &str) -> Result<Option<Self>, accounts::Error> {
        let found = shared.accounts.token(sent, shared.clock.now())?;
        Ok(found.map(|token| Self {
            account: token.account.clone(),
            script: Some(token),
            token: sent.to_owned(),
        }))
    }

    /// What forms carry: nobody without the cookie can compute it.
    pub fn csrf(&self) -> String {
        csrf(&self.token)
    }

    /// A name for the session that does not let anybody in.
    pub fn id(&self) -> String {
        hex(&Sha256::digest(self.token.as_bytes())[..8])
    }
}

fn csrf(secret: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(b"equipoise researcher form 1\n");
    hash.update(secret.as_bytes());
    hex(&hash.finalize()[..16])
}

/// What follows `Bearer` in a request's `Authorization`; nothing if it has none. Other words there are a proxy's business.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get_all(header::AUTHORIZATION).into_iter().find_map(|value| {
        // What is not text is a token nobody has.
        let text = std::str::from_utf8(value.as_bytes()).unwrap_or("Bearer ");
        let (scheme, sent) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        scheme.eq_ignore_ascii_case("bearer").then_some(sent.trim())
    })
}

/// Whether a form was made for whoever sends it.
pub fn owns(shared: &Shared, headers: &HeaderMap, signed: Option<&Signed>, sent: &str) -> bool {
    let own = match signed {
        Some(signed) => Some(signed.csrf()),
        None => kept(shared, headers, VISIT).map(csrf),
    };
    own.is_some_and(|own| same(own.as_bytes(), sent.as_bytes()))
}

/// The value of a cookie, by the name it must have.
fn kept<'a>(shared: &Shared, headers: &'a HeaderMap, [plain, secure]: [&str; 2]) -> Option<&'a str> {
    cookie(headers, if shared.is_secure() { secure } else { plain })
}

fn set(shared: &Shared, [plain, secure]: [&str; 2], value: &str, seconds: Option<i64>) -> String {
    let (name, only) = if shared.is_secure() { (secure, "; Secure") } else { (plain, "") };
    let lasts = seconds.map_or(String::new(), |seconds| format!("; Max-Age={seconds}"));
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{lasts}{only}")
}

#[derive(Template)]
#[template(path = "researcher/sign_in.html")]
struct SignIn {
    frame: Frame,
    name: String,
    problem: Option<String>,
    /// Where to go on.
    to: String,
}

/// An address as it may be gone on to after signing in: a page of ours, and nothing that a browser takes for another host.
fn ours(to: &str) -> Option<&str> {
    let plain = to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let path = to.split(['?', '#']).next().unwrap_or_default();
    let fits = |pattern: &str| {
        let (mut wanted, mut found) = (pattern.split('/'), path.split('/'));
        loop {
            match (wanted.next(), found.next()) {
                (None, None) => return true,
                (Some(wanted), Some(found)) if wanted == found => {}
                (Some(wanted), Some(found)) if wanted.starts_with('{') && !found.is_empty() => {}
                _ => return false,
            }
        }
    };
    let page =
        |route: &Route| route.method == Method::GET && route.access() != Access::Anyone && fits(route.path);
    let own = plain && to.len() <= 500 && to.starts_with('/') && !to.starts_with("//");
    (own && routes().iter().any(page)).then_some(to)
}

/// The sign-in page for somebody who asked for another.
pub fn asking_for(uri: &Uri) -> String {
    // What was saved or locked a moment before is not said again.
    let query = uri.query().filter(|_| !uri.path().starts_with("/design"));
    let to = query.map_or_else(|| uri.path().to_owned(), |query| format!("{}?{query}", uri.path()));
    match ours(&to) {
        Some(to) if to != "/" => format!("/sign-in?to={}", encoded(to)),
        _ => "/sign-in".to_owned(),
    }
}

/// Where a visitor goes on.
fn onwards<'a>(visitor: &'a Visitor<'_>) -> &'a str {
    let sent = [visitor.sent.form.get("to"), visitor.sent.query.get("to")];
    sent.into_iter().find_map(ours).unwrap_or("/")
}

/// The sign-in page.
pub fn form(visitor: &Visitor<'_>) -> Response {
    if visitor.signed.is_some() {
        return go(onwards(visitor));
    }
    show(visitor, StatusCode::OK, "", None)
}

fn show(visitor: &Visitor<'_>, status: StatusCode, name: &str, problem: Option<String>) -> Response {
    let shared = visitor.shared;
    let visit = kept(shared, &visitor.sent.headers, VISIT).map(str::to_owned);
    let Some(visit) = visit.filter(|visit| visit.len() == 32).or_else(random::<16>) else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let mut frame = Frame::new(shared, None, "");
    frame.csrf = csrf(&visit);
    let page = SignIn { frame, name: name.to_owned(), problem, to: onwards(visitor).to_owned() };
    let cookie = set(shared, VISIT, &visit, None);
    (status, AppendHeaders([(header::SET_COOKIE, cookie)]), Html(render(&page))).into_response()
}

/// Checks name and password; a new session each time.
pub fn sign_in(visitor: &Visitor<'_>) -> Response {
    let form = &visitor.sent.form;
    let (name, password) = (form.get("name").trim(), form.get("password"));
    let device = kept(visitor.shared, &visitor.sent.headers, DEVICE);
    match admit(visitor, name, password, device) {
        Ok(Ok(account)) => {
            begin(visitor, &account, device).unwrap_or_else(|error| failed(visitor, name, &error.to_string()))
        }
        Ok(Err((status, sentence))) => show(visitor, status, name, Some(sentence)),
        Err(error) => failed(visitor, name, &error.to_string()),
    }
}

fn failed(visitor: &Visitor<'_>, name: &str, sentence: &str) -> Response {
    show(visitor, StatusCode::SERVICE_UNAVAILABLE, name, Some(capital(&format!("{sentence}."))))
}

type Refused = (StatusCode, String);

/// The account, or why not: wrong, or too often.
fn admit(
    visitor: &Visitor<'_>,
    name: &str,
    password: &str,
    device: Option<&str>,
) -> Result<Result<Account, Refused>, Error> {
    let shared = visitor.shared;
    // Before all limits: whoever has the machine is not kept out by somebody who guesses.
    if let Some(account) = shared.accounts.spend_code(name, password, shared.clock.now())? {
        return Ok(Ok(account));
    }
    let known = match device {
        Some(device) if shared.accounts.knows_device(name, device)? => Some(device),
        _ => None,
    };
    let from = match known {
        Some(device) => From::known(device),
        None => From::network(visitor.sent.address),
    };
    let limit = || shared.limit.lock().unwrap_or_else(PoisonError::into_inner);
    let mut failed = None;
    let allowed = limit().allow_of(name, &from, Instant::now(), |of_one, of_all| {
        shared.accounts.take_try(name, of_one, of_all).unwrap_or_else(|error| {
            failed = Some(error);
            None
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    if let Err(wait) = allowed {
        let seconds = wait.as_secs().max(1);
        let what = format!("Too many attempts. Try again in {seconds} s.");
        return Ok(Err((StatusCode::TOO_MANY_REQUESTS, what)));
    }
    // One visitor at a time; whoever is known waits for one password to be checked at most.
    let _place = match known {
        Some(_) => None,
        None => match waited(|| shared.visitors.try_acquire().ok()) {
            Some(place) => Some(place),
            None => {
                let what = "Somebody else is signing in. Try again in a moment.".to_owned();
                return Ok(Err((StatusCode::TOO_MANY_REQUESTS, what)));
            }
        },
    };
    match shared.accounts.check(name, password)? {
        Some(account) => {
            limit().succeeded(name, &from);
            Ok(Ok(account))
        }
        None => {
            limit().failed(name, &from, Instant::now());
            Ok(Err((StatusCode::FORBIDDEN, "Name or password is wrong.".to_owned())))
        }
    }
}

/// Tries for two seconds: a password takes a tenth of one.
fn waited<T>(mut tried: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..100 {
        if let Some(found) = tried() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

fn begin(visitor: &Visitor<'_>, account: &Account, device: Option<&str>) -> Result<Response, Error> {
    let shared = visitor.shared;
    let now = shared.clock.now();
    // Whatever session the browser had is over: nobody goes on with one they were given.
    if let Some(old) = kept(shared, &visitor.sent.headers, SESSION) {
        shared.accounts.end(old)?;
    }
    let known = device.filter(|device| device.len() == 32);
    let device = shared.accounts.remember_device(&account.name, known, now)?;
    let token = shared.accounts.begin(&account.name, now)?;
    // Who signed in is worth a line; that it cannot be written now keeps nobody from finding out why.
    let _ = shared.service.note(Admin::new(account.name.clone(), Action::SignedIn));
    let cookies = [
        set(shared, SESSION, &token, None),
        set(shared, DEVICE, &device, Some(DEVICE_MS / 1000)),
        set(shared, VISIT, "", Some(0)),
    ];
    let set = AppendHeaders(cookies.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok((set, go(onwards(visitor))).into_response())
}

/// Ends the session.
pub fn sign_out(call: &Call<'_>) -> Outcome {
    call.shared.accounts.end(&call.signed.token)?;
    let cookie = set(call.shared, SESSION, "", Some(0));
    Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), go("/sign-in")).into_response())
}

/// Green while the log can be written.
pub fn health(visitor: &Visitor<'_>) -> Response {
    let state = visitor.shared.health.now(&visitor.shared.service);
    match state.failing {
        None => Json(serde_json::json!({ "status": "ok", "free_bytes": state.free })).into_response(),
        Some(failing) => {
            let mut response = (
                StatusCode::SERVICE_UNAVAILABLE,
                Json(serde_json::json!({ "status": "failing", "code": failing.code() })),
            )
                .into_response();
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
            response
        }
    }
}

/// Style, script and icon.
pub fn asset(visitor: &Visitor<'_>) -> Response {
    match assets::find_for_researchers(visitor.sent.uri.path()) {
        Some(asset) => {
            let named = [(header::CONTENT_TYPE, asset.media_type), (header::CACHE_CONTROL, guard::FOR_EVER)];
            (named, asset.text).into_response()
        }
        None => {
            let sentence = ["There is no such file", "It may have been replaced; reload the page."];
            Frame::message(visitor.shared, visitor.signed.as_ref(), StatusCode::NOT_FOUND, sentence)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_ours_are_gone_on_to() {
        for to in ["/", "/design/edit", "/participants/7", "/participants?sort=flags", "/design#x"] {
            assert_eq!(ours(to), Some(to));
        }
        for to in [
            "",
            "//evil",
            "/\\evil",
            "\\\\evil",
            "https://evil.test",
            "https:",
            "javascript:alert(1)",
            "evil",
            "/evil",
            "/sign-in",
            "/sign-out",
            "/assets/x.css",
            "/health",
            "/design/",
            "/design/edit/..",
            "/design\nx",
            "/\t/evil",
            "/participants/",
            "/%2F/evil",
            "/design/check",
            "/?x=\u{e9}",
        ] {
            assert_eq!(ours(to), None, "{to}");
        }
        let asked = |path: &str| asking_for(&path.parse().unwrap());
        assert_eq!(asked("/"), "/sign-in");
        assert_eq!(asked("/participants?a=b&c=d"), "/sign-in?to=/participants%3Fa%3Db%26c%3Dd");
        assert_eq!(asked("/design/edit?saved=file"), "/sign-in?to=/design/edit");
        assert_eq!(asked("//evil"), "/sign-in");
    }
}
