//! The router for participants: every step of a study as a page and a form.
//!
//! There is one address for where somebody is, `/`: the log decides what is on it. Forms post to an address of their
//! own and come back to `/` (post, redirect, get); the script asks for JSON instead and gets the receipt and the next
//! page in one reply. So going back, reloading, opening the link on another device and double clicks all end in the same
//! place.

mod forms;
mod reply;
mod steps;
mod visitor;

use crate::form::Fields;
use crate::language::Language;
use crate::page::{Frame, Joining, Message, render};
use crate::{assets, guard, page};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use equipoise_study::{Service, Study};
use reply::Reply;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use visitor::{Panel, Visitor};

/// Requests that may wait for the disk at once; beyond, people are asked to try again in a moment.
const WAITING: usize = 1_000;
const SLOWEST: Duration = Duration::from_secs(30);

/// The link that opens a place in a study: `origin` is scheme, host and port.
pub fn link(origin: &str, token: &str) -> String {
    format!("{}/s/{token}", origin.trim_end_matches('/'))
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
}

impl Participants {
    /// Pages for the participants of a study.
    pub fn new(service: Arc<Service>, settings: Settings) -> Self {
        Self { service, settings: Arc::new(settings), waiting: Arc::new(Semaphore::new(WAITING)) }
    }

    /// The link of somebody who was invited.
    pub fn link(&self, token: &str) -> String {
        link(&self.settings.origin, token)
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
        let Ok(_place) = self.waiting.clone().try_acquire_owned() else { return Reply::Overloaded };
        let state = self.clone();
        // A panic in one request is that request's failure alone.
        tokio::task::spawn_blocking(move || work(&state)).await.unwrap_or(Reply::Failed)
    }

    fn outside(&self, headers: &HeaderMap) -> Frame {
        Frame::outside(self.study(), self.accepted(headers))
    }
}

/// The routes of participants. They hold no handle on anything of the researchers.
pub fn app(state: Participants) -> Router {
    let router = Router::new()
        .route("/", get(current))
        .route("/s/{token}", get(join))
        .route("/language", get(choose_language).post(submit))
        .route("/pause", get(pause))
        .route("/device", get(device))
        .route("/withdraw", get(withdraw).post(submit))
        .route("/consent", post(submit))
        .route("/questionnaire", post(submit))
        .route("/stated", post(submit))
        .route("/consequences", post(submit))
        .route("/learn", post(submit))
        .route("/practice", post(submit))
        .route("/answer", post(submit))
        .route("/undo", post(submit))
        .route("/finish", post(submit))
        .route("/lease", post(submit))
        .route("/note", post(submit))
        .route("/health", get(health))
        .route("/assets/{name}", get(asset))
        .fallback(missing)
        .method_not_allowed_fallback(missing);
    guard::guarded(router, SLOWEST).with_state(state)
}

/// Where somebody is.
async fn current(
    State(state): State<Participants>,
    Query(asked): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let (outside, language) = (state.outside(&headers), state.accepted(&headers));
    let Some(visitor) = Visitor::from_cookie(&headers) else {
        return Reply::no_link(outside).respond(false, None);
    };
    let reply = state.blocking(move |state| steps::current(state, &visitor, language, &asked)).await;
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
    let known = Visitor::from_cookie(&headers);
    let secure = state.settings.is_secure();
    let panel = Panel::new(&came, &state.study().completion.parameters);
    let reply = state
        .blocking(move |state| match steps::join(state, &token, known) {
            Ok(Some(visitor)) => Reply::Joined(visitor.to_cookie(secure)),
            Ok(None) => Reply::no_link(Frame::outside(state.study(), language)),
            Err(error) => Reply::from_error(&error),
        })
        .await;
    match reply {
        Reply::Joined(cookie) => {
            let page = render(&Joining { language, study: outside.study });
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
    let Some(visitor) = Visitor::from_cookie(&headers) else {
        return Reply::no_link(outside).respond(json, None);
    };
    let Ok(axum::Form(fields)) = form else {
        return Reply::stale(StatusCode::UNSUPPORTED_MEDIA_TYPE, outside).respond(json, None);
    };
    let fields = Fields::new(fields);
    if !guard::comes_from_us(&headers) || !visitor.owns(fields.get("csrf")) {
        return Reply::stale(StatusCode::FORBIDDEN, outside).respond(json, None);
    }
    let (path, language) = (uri.path().to_owned(), state.accepted(&headers));
    let panel = Panel::from_cookie(&headers, &state.study().completion.parameters);
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
    let Some(visitor) = Visitor::from_cookie(&headers) else {
        return Reply::no_link(outside).respond(false, None);
    };
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
    simple(state, headers, |frame, _| render(&page::LanguagePage { frame, choices })).await
}

async fn device(State(state): State<Participants>, headers: HeaderMap) -> Response {
    let links = state.clone();
    simple(state, headers, move |frame, visitor| {
        render(&page::Device::new(frame, links.link(visitor.token())))
    })
    .await
}

/// Green while the log can be read.
async fn health(State(state): State<Participants>) -> Response {
    let reply = state
        .blocking(|state| match state.service.writer().with(|store| store.head()) {
            Ok(_) => Reply::Healthy,
            Err(error) => Reply::from_error(&error.into()),
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
