//! The router for participants: every step of a study as a page and a form.
//!
//! There is one address for where somebody is, `/`: the log decides what is on it. Forms post to an address of their
//! own and come back to `/` (post, redirect, get); the script asks for JSON instead and gets the receipt and the next
//! page in one reply. So going back, reloading, opening the link on another device and double clicks all end in the same
//! place.

#[cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]
mod forms;
mod panel;
mod reply;
mod steps;
#[cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]
mod visitor;

use crate::budget::Budgets;
use crate::form::Fields;
use crate::health::Health;
use crate::preview::Previews;
use crate::{assets, guard};
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use equipoise_pages::language::Language;
use equipoise_pages::page as pages;
use equipoise_pages::page::{Frame, Joining, Message, render};
use equipoise_study::{Refusal, Service, Study};
use reply::Reply;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use visitor::{Panel, Visitor, kept};

/// Requests that may wait for the disk at once; beyond, people are asked to try again in a moment.
const WAITING: usize = 1_000;
const SLOWEST: Duration = Duration::from_secs(30);
/// Requests a minute of one address: a class of some hundred behind one router.
const OF_AN_ADDRESS: f64 = 12_000.0;
/// Requests a minute of one participant, on all devices.
const OF_A_SESSION: f64 = 600.0;
/// Addresses and participants that are remembered.
const REMEMBERED: usize = 20_000;

/// The link that opens a place in a study: `origin` is scheme, host and port.
pub fn link(origin: &str, token: &str) -> String {
    format!("{}/s/{token}", origin.trim_end_matches('/'))
}

/// The address a panel sends everybody to, as Prolific writes parameters: `{{%NAME%}}`.
pub fn panel_address(origin: &str, study: &Study) -> Option<String> {
    let parameters = study.panel.as_ref()?.parameters();
    let parts: Vec<String> = parameters.map(|name| format!("{name}={{{{%{name}%}}}}")).collect();
    Some(format!("{}/join?{}", origin.trim_end_matches('/'), parts.join("&")))
}

/// How the study is reached.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Scheme, host and port people type, such as `https://study.example.org`.
    pub origin: String,
}

impl Settings {
    /// Whether people come over TLS; cookies then stay with it.
    fn is_secure(&self) -> bool {
        self.origin.starts_with("https://")
    }
}

/// What the handlers share.
#[derive(Debug, Clone)]
pub struct Participants {
    service: Arc<Service>,
    settings: Arc<Settings>,
    waiting: Arc<Semaphore>,
    health: Arc<Health>,
    /// Requests of each address, and of each participant.
    addresses: Arc<Mutex<Budgets<IpAddr>>>,
    sessions: Arc<Mutex<Budgets<String>>>,
    previews: Option<Arc<Previews>>,
    /// Whether this is about a preview.
    previewing: bool,
    /// Whether the study is not locked yet: nobody but previews takes part.
    draft: bool,
}

impl Participants {
    /// Pages for the participants of a study.
    pub fn new(service: Arc<Service>, settings: Settings) -> Self {
        let now = Instant::now();
        Self {
            service,
            settings: Arc::new(settings),
            waiting: Arc::new(Semaphore::new(WAITING)),
            health: Arc::new(Health::new(None)),
            addresses: Arc::new(Mutex::new(Budgets::new(OF_AN_ADDRESS, REMEMBERED, now))),
            sessions: Arc::new(Mutex::new(Budgets::new(OF_A_SESSION, REMEMBERED, now))),
            previews: None,
            previewing: false,
            draft: false,
        }
    }

    /// With how the server is, where others find that out as well.
    #[must_use]
    pub(crate) fn with_health(self, health: Arc<Health>) -> Self {
        Self { health, ..self }
    }

    /// With previews that researchers open.
    #[must_use]
    pub fn with_previews(self, previews: Arc<Previews>) -> Self {
        Self { previews: Some(previews), ..self }
    }

    /// Of a study that is not locked yet: nobody takes part, whom a panel sends neither.
    #[must_use]
    pub fn not_begun(self) -> Self {
        Self { draft: true, ..self }
    }

    /// The study a token belongs to: a preview of it, or the study itself.
    fn of(&self, token: &str) -> Self {
        match self.previews.as_ref().and_then(|previews| previews.of(token)) {
            Some(service) => Self { service, previewing: true, ..self.clone() },
            None => self.clone(),
        }
    }

    /// Whether an address may ask for something now. This machine may: whoever comes through a proxy that does not say
    /// for whom shares it with everybody.
    fn may_ask(&self, address: Option<IpAddr>) -> bool {
        let outside = address.filter(|address| !address.is_loopback());
        outside.is_none_or(|address| lock(&self.addresses).take(address, Instant::now()).is_ok())
    }

    /// The session a token opens, unless it is used more often than a person could.
    fn session(&self, token: &str) -> equipoise_study::Result<Option<String>> {
        let Some(session) = self.service.open(token)? else { return Ok(None) };
        match lock(&self.sessions).take(session.clone(), Instant::now()) {
            Ok(()) => Ok(Some(session)),
            Err(_) => Err(Refusal::TooMuch.into()),
        }
    }

    /// The link of somebody who was invited.
    pub fn link(&self, token: &str) -> String {
        link(&self.settings.origin, token)
    }

    /// The address a panel sends everybody to, with `{{%NAME%}}` where it puts a parameter; nothing without a panel.
    pub fn panel_address(&self) -> Option<String> {
        panel_address(&self.settings.origin, self.study())
    }

    /// Makes places, and the links that open them.
    pub fn invite(&self, count: usize) -> equipoise_study::Result<Vec<String>> {
        Ok(self.service.invite(count)?.iter().map(|invitation| self.link(&invitation.token)).collect())
    }

    fn study(&self) -> &Study {
        self.service.design().study()
    }

    /// The languages of the study that the pages have.
    fn languages(&self) -> Vec<Language> {
        let all: Vec<Language> =
            self.study().languages.iter().filter_map(|tag| Language::from_tag(tag)).collect();
        if all.is_empty() { vec![Language::English] } else { all }
    }

    /// What the browser asks for, or the study's first language.
    fn accepted(&self, headers: &HeaderMap) -> Language {
        let offered = self.languages();
        let header = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        header.and_then(|header| Language::accepted(header, &offered)).unwrap_or(offered[0])
    }

    /// Runs what may wait for the disk where waiting holds nobody up.
    async fn blocking(&self, work: impl FnOnce(&Self) -> Reply + Send + 'static) -> Reply {
        let Ok(place) = self.waiting.clone().try_acquire_owned() else { return Reply::Overloaded };
        let state = self.clone();
        let work = move || {
            // Until the work ends, not until somebody stops waiting for it.
            let _place = place;
            work(&state)
        };
        // A panic in one request is that request's failure alone.
        tokio::task::spawn_blocking(work).await.unwrap_or(Reply::Failed)
    }

    /// What a panel passed along, as the browser keeps it.
    fn panel(&self, headers: &HeaderMap) -> Panel {
        Panel::from_cookie(headers, &kept(self.study()), self.settings.is_secure())
    }

    fn outside(&self, headers: &HeaderMap) -> Frame {
        Frame::outside(self.study(), self.accepted(headers))
    }
}

/// A route of participants: its methods, and whether it needs a link's cookie.
#[derive(Debug)]
pub struct Route {
    /// With `{name}` for a part that varies.
    pub path: &'static str,
    /// Whether it shows something.
    pub get: bool,
    /// Whether it takes a form.
    pub post: bool,
    /// Whether only holders of a link get an answer.
    pub needs_link: bool,
    answer: fn() -> MethodRouter<Participants>,
}

/// What everybody may see.
const fn open(path: &'static str, answer: fn() -> MethodRouter<Participants>) -> Route {
    Route { path, get: true, post: false, needs_link: false, answer }
}

/// A page for holders of a link.
const fn page(path: &'static str, answer: fn() -> MethodRouter<Participants>) -> Route {
    Route { path, get: true, post: false, needs_link: true, answer }
}

/// A form for holders of a link.
const fn form(path: &'static str) -> Route {
    Route { path, get: false, post: true, needs_link: true, answer: || post(submit) }
}

/// Both.
const fn page_and_form(path: &'static str, answer: fn() -> MethodRouter<Participants>) -> Route {
    Route { path, get: true, post: true, needs_link: true, answer }
}

static ROUTES: &[Route] = &[
    page("/", || get(current)),
    open("/s/{token}", || get(join)),
    open("/join", || get(panel::join)),
    open("/join/{end}", || get(panel::turned_away)),
    page_and_form("/language", || get(choose_language).post(submit)),
    page("/pause", || get(pause)),
    page("/device", || get(device)),
    page("/result.svg", || get(picture)),
    page_and_form("/withdraw", || get(withdraw).post(submit)),
    form("/consent"),
    form("/questionnaire"),
    form("/stated"),
    form("/consequences"),
    form("/learn"),
    form("/practice"),
    form("/answer"),
    form("/undo"),
    form("/finish"),
    form("/lease"),
    form("/note"),
    open("/health", || get(health)),
    open("/assets/{name}", || get(asset)),
];

/// Every route of participants and what it needs, in one table: the router is made from it.
pub fn routes() -> &'static [Route] {
    ROUTES
}

/// The routes of participants. They hold no handle on anything of the researchers.
pub fn app(state: Participants) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, (route.answer)());
    }
    let router = router.fallback(missing).method_not_allowed_fallback(missing);
    let limits = state.clone();
    let router = router.layer(from_fn(move |request: Request, next: Next| {
        let may = limits.may_ask(guard::address(request.extensions(), request.headers()));
        let refused = (!may).then(|| Reply::TooMany.respond(false, Some(limits.outside(request.headers()))));
        async move {
            match refused {
                Some(refused) => refused,
                None => next.run(request).await,
            }
        }
    }));
    guard::guarded(router, SLOWEST).with_state(state)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where somebody is.
async fn current(
    State(state): State<Participants>,
    Query(asked): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let (outside, language) = (state.outside(&headers), state.accepted(&headers));
    let Some(visitor) = Visitor::from_cookie(&headers, state.settings.is_secure()) else {
        return Reply::no_link(outside).respond(false, None);
    };
    let panel = state.panel(&headers);
    let state = state.of(visitor.token());
    let reply = state.blocking(move |state| steps::current(state, &visitor, language, &asked, &panel)).await;
    reply.respond(false, Some(outside))
}

/// A link: sets the cookie and goes on to `/`, so that the token leaves the address. Not by a redirect: the browser
/// would count that as still coming from where the link was clicked, and withhold a strict cookie.
async fn join(
    State(state): State<Participants>,
    Path(token): Path<String>,
    Query(came): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let (outside, language) = (state.outside(&headers), state.accepted(&headers));
    let known = Visitor::from_cookie(&headers, state.settings.is_secure());
    let secure = state.settings.is_secure();
    let panel = Panel::new(&came, &kept(state.study()));
    let state = state.of(&token);
    let reply = state
        .blocking(move |state| match steps::join(state, &token, known) {
            Ok(Some(visitor)) => Reply::Joined(visitor.to_cookie(secure), "/"),
            Ok(None) => Reply::no_link(Frame::outside(state.study(), language)),
            Err(error) => Reply::from_error(&error),
        })
        .await;
    joined(reply, &panel, secure, outside)
}

/// Sets the cookies of whoever was let in.
fn joined(reply: Reply, panel: &Panel, secure: bool, outside: Frame) -> Response {
    match reply {
        Reply::Joined(cookie, to) => {
            let page = render(&Joining { language: outside.language, study: outside.study, to });
            let cookies = std::iter::once(cookie).chain(panel.to_cookie(secure));
            let set = AppendHeaders(cookies.map(|cookie| (header::SET_COOKIE, cookie)));
            (set, axum::response::Html(page)).into_response()
        }
        reply => reply.respond(false, Some(outside)),
    }
}

/// Whatever a form sends.
async fn submit(
    State(state): State<Participants>,
    uri: Uri,
    headers: HeaderMap,
    form: Result<axum::Form<Vec<(String, String)>>, axum::extract::rejection::FormRejection>,
) -> Response {
    let outside = state.outside(&headers);
    let json = wants_json(&headers);
    let Some(visitor) = Visitor::from_cookie(&headers, state.settings.is_secure()) else {
        return Reply::no_link(outside).respond(json, None);
    };
    let fields = match form {
        Ok(axum::Form(fields)) => Fields::new(fields),
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            return Reply::Page(rejection.status(), render(&Message::too_large(outside))).respond(json, None);
        }
        Err(_) => return Reply::stale(StatusCode::UNSUPPORTED_MEDIA_TYPE, outside).respond(json, None),
    };
    if !guard::comes_from_us(&headers) || !visitor.owns(fields.get("csrf")) {
        return Reply::stale(StatusCode::FORBIDDEN, outside).respond(json, None);
    }
    let (path, language) = (uri.path().to_owned(), state.accepted(&headers));
    let panel = state.panel(&headers);
    let state = state.of(visitor.token());
    let reply = state
        .blocking(move |state| steps::submit(state, &visitor, &path, &fields, language, panel, json))
        .await;
    reply.respond(json, Some(outside))
}

fn wants_json(headers: &HeaderMap) -> bool {
    headers.get(header::ACCEPT).is_some_and(|value| value.as_bytes().starts_with(b"application/json"))
}

/// A page that only needs to know who is there.
async fn simple(
    state: Participants,
    headers: HeaderMap,
    page: impl FnOnce(Frame, &Visitor) -> String + Send + 'static,
) -> Response {
    let (outside, language) = (state.outside(&headers), state.accepted(&headers));
    let Some(visitor) = Visitor::from_cookie(&headers, state.settings.is_secure()) else {
        return Reply::no_link(outside).respond(false, None);
    };
    let state = state.of(visitor.token());
    let reply = state
        .blocking(move |state| match steps::frame(state, &visitor, language) {
            Ok(Some(frame)) => Reply::Page(StatusCode::OK, page(frame, &visitor)),
            Ok(None) => Reply::no_link(Frame::outside(state.study(), language)),
            Err(error) => Reply::from_error(&error),
        })
        .await;
    reply.respond(false, Some(outside))
}

async fn pause(State(state): State<Participants>, headers: HeaderMap) -> Response {
    simple(state, headers, |frame, _| render(&Message::pause(frame))).await
}

async fn withdraw(State(state): State<Participants>, headers: HeaderMap) -> Response {
    simple(state, headers, |frame, _| render(&Message::withdraw(frame))).await
}

async fn choose_language(State(state): State<Participants>, headers: HeaderMap) -> Response {
    let choices = state.languages();
    simple(state, headers, |frame, _| render(&pages::LanguagePage { frame, choices })).await
}

async fn device(State(state): State<Participants>, headers: HeaderMap) -> Response {
    let links = state.clone();
    simple(state, headers, move |frame, visitor| {
        render(&pages::Device::new(frame, links.link(visitor.token())))
    })
    .await
}

async fn picture(State(state): State<Participants>, headers: HeaderMap) -> Response {
    let (outside, language) = (state.outside(&headers), state.accepted(&headers));
    let Some(visitor) = Visitor::from_cookie(&headers, state.settings.is_secure()) else {
        return Reply::no_link(outside).respond(false, None);
    };
    let reply = state
        .blocking(move |state| match steps::picture(state, &visitor, language) {
            Ok(Some(reply)) => reply,
            Ok(None) => Reply::no_link(Frame::outside(state.study(), language)),
            Err(error) => Reply::from_error(&error),
        })
        .await;
    reply.respond(false, Some(outside))
}

/// Green while the log can be written.
async fn health(State(state): State<Participants>) -> Response {
    let reply = state
        .blocking(|state| match state.health.now(&state.service).failing {
            None => Reply::Healthy,
            Some(_) => Reply::Failed,
        })
        .await;
    match reply {
        // How many rows there are would tell everybody how far the study is.
        Reply::Healthy => Json(serde_json::json!({ "status": "ok" })).into_response(),
        _ => (StatusCode::SERVICE_UNAVAILABLE, Json(serde_json::json!({ "status": "failing" })))
            .into_response(),
    }
}

async fn asset(State(state): State<Participants>, uri: Uri, headers: HeaderMap) -> Response {
    match assets::find(uri.path()) {
        Some(asset) => {
            let named = [(header::CONTENT_TYPE, asset.media_type), (header::CACHE_CONTROL, guard::FOR_EVER)];
            (named, asset.text).into_response()
        }
        None => missing(State(state), headers).await,
    }
}

async fn missing(State(state): State<Participants>, headers: HeaderMap) -> Response {
    Reply::Page(StatusCode::NOT_FOUND, render(&Message::missing(state.outside(&headers))))
        .respond(false, None)
}
