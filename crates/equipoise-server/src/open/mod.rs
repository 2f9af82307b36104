//! The router for one table on one's own computer: `equipoise open`.
//!
//! It listens to this machine alone. The link holds a token, which becomes a cookie; a second link is for an expert who answers
//! and sees nothing else. Every form carries a value that only our pages know. What is behind the pages is a [`Work`]: this
//! module reads requests and draws, and knows nothing of tables.

mod pages;
mod view;

pub use crate::multipart::LARGEST;
pub use view::{
    Action, Branch, Choice, File, Flow, Kind, Outcome, Page, Question, Sent, Survey, Systems, Table, View,
    Wished, Work,
};

use crate::form::Fields;
use crate::multipart::Part;
use crate::text::{cookie, hex, random, same};
use crate::{assets, guard, multipart};
use axum::Router;
use axum::extract::{FromRequest as _, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use pages::Frame;
use sha2::{Digest as _, Sha256};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Reading a large table takes as long as it takes.
const SLOWEST: Duration = Duration::from_secs(900);

/// Who is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    /// Whoever started the command.
    Owner,
    /// Somebody who answers.
    Expert,
}

/// What the handlers share.
#[derive(Clone)]
pub struct TablePages(Arc<Shared>);

struct Shared {
    work: Mutex<Box<dyn Work>>,
    origin: String,
    /// Two of these pages may be open at once, on two ports of one host, which share their cookies.
    cookie: String,
    owner: String,
    expert: String,
}

impl std::fmt::Debug for TablePages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TablePages").field("origin", &self.0.origin).finish_non_exhaustive()
    }
}

impl TablePages {
    /// Pages over some work, which people reach at an origin.
    pub fn new(work: impl Work + 'static, origin: String, port: u16) -> io::Result<Self> {
        let token = || random::<16>().ok_or_else(|| io::Error::other("the system has no random numbers"));
        let (owner, expert, work) = (token()?, token()?, Mutex::new(Box::new(work) as Box<dyn Work>));
        Ok(Self(Arc::new(Shared { work, origin, cookie: format!("equipoise-{port}"), owner, expert })))
    }

    /// The link that opens them.
    pub fn link(&self) -> String {
        format!("{}/k/{}", self.0.origin, self.0.owner)
    }

    /// The link that opens the questions alone.
    fn expert_link(&self) -> String {
        format!("{}/k/{}", self.0.origin, self.0.expert)
    }

    fn who(&self, token: &str) -> Option<Who> {
        let shared = &self.0;
        let known = [(&shared.owner, Who::Owner), (&shared.expert, Who::Expert)];
        known.into_iter().find(|(own, _)| same(own.as_bytes(), token.as_bytes())).map(|(_, who)| who)
    }

    /// Who a request comes from, with the value that their forms carry.
    fn visitor(&self, headers: &HeaderMap) -> Option<(Who, String)> {
        let token = cookie(headers, &self.0.cookie)?;
        let who = self.who(token)?;
        let hash = Sha256::new().chain_update(b"equipoise open form 1\n").chain_update(token).finalize();
        Some((who, hex(hash.get(..16).unwrap_or_default())))
    }

    fn work(&self) -> MutexGuard<'_, Box<dyn Work>> {
        self.0.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that takes its time where that holds nobody up.
    async fn blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut dyn Work) -> T + Send + 'static,
    ) -> Result<T, Response> {
        let state = self.clone();
        let done = tokio::task::spawn_blocking(move || job(state.work().as_mut())).await;
        done.map_err(|_| message(StatusCode::INTERNAL_SERVER_ERROR, FAILED))
    }
}

/// The routes of a table's pages.
pub fn app(state: TablePages) -> Router {
    let router = Router::new()
        .route("/", get(current))
        .route("/k/{token}", get(join))
        .route("/file", post(upload))
        .route("/models", post(upload))
        .route("/path", post(form))
        .route("/columns", post(form))
        .route("/begin", post(form))
        .route("/answer", post(form))
        .route("/undo", post(form))
        .route("/more", post(form))
        .route("/close", post(form))
        .route("/download/{name}", get(download))
        .route("/picture/{name}", get(picture))
        .route("/assets/{name}", get(asset))
        .fallback(missing)
        .method_not_allowed_fallback(missing);
    let meant = state.clone();
    let router = router.layer(from_fn(move |request: Request, next: Next| {
        let ours = guard::is_for(request.headers(), request.uri(), &meant.0.origin);
        async move {
            if ours {
                next.run(request).await
            } else {
                message(StatusCode::MISDIRECTED_REQUEST, ANOTHER_HOST)
            }
        }
    }));
    guard::guarded(router, SLOWEST).with_state(state)
}

const NO_LINK: [&str; 2] = [
    "This page needs its link",
    "Open the link that `equipoise open` printed; it holds the key to this page.",
];
const ANOTHER_HOST: [&str; 2] =
    ["This is not the address of the page", "Open the link that `equipoise open` printed, as it is."];
const STALE: [&str; 2] =
    ["This form is out of date", "Nothing was changed. Go back, reload the page, and try again."];
const NOT_YOURS: [&str; 2] = ["This link is for the questions alone", "Whoever gave it to you has the rest."];
const MISSING: [&str; 2] = ["There is no such page", "The address may be mistyped."];
const FAILED: [&str; 2] =
    ["That went wrong", "This is a defect. Everything that was saved is still there: reload the page."];

fn message(status: StatusCode, words: [&str; 2]) -> Response {
    (status, Html(pages::message(words))).into_response()
}

/// Sets the cookie and goes on to `/`, so that the token leaves the address; not by a redirect, on which browsers would
/// withhold a strict cookie if the link was clicked elsewhere.
async fn join(State(state): State<TablePages>, Path(token): Path<String>) -> Response {
    if state.who(&token).is_none() {
        return message(StatusCode::FORBIDDEN, NO_LINK);
    }
    let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", state.0.cookie);
    ([(header::SET_COOKIE, cookie)], Html(pages::joining())).into_response()
}

/// Where somebody is.
async fn current(State(state): State<TablePages>, headers: HeaderMap) -> Response {
    let Some((who, csrf)) = state.visitor(&headers) else { return message(StatusCode::FORBIDDEN, NO_LINK) };
    match state.blocking(|work| work.view()).await {
        Ok(view) => {
            let frame =
                Frame { csrf, owner: who == Who::Owner, expert: state.expert_link(), problem: view.problem };
            Html(pages::page(frame, view.page)).into_response()
        }
        Err(failed) => failed,
    }
}

/// A form of a few fields.
async fn form(State(state): State<TablePages>, uri: Uri, headers: HeaderMap, request: Request) -> Response {
    let Some((who, csrf)) = state.visitor(&headers) else { return message(StatusCode::FORBIDDEN, NO_LINK) };
    let Ok(axum::Form(fields)) = axum::Form::<Vec<(String, String)>>::from_request(request, &()).await else {
        return message(StatusCode::UNSUPPORTED_MEDIA_TYPE, STALE);
    };
    let fields = Fields::new(fields);
    if !guard::comes_from_us(&headers) || !same(csrf.as_bytes(), fields.get("csrf").as_bytes()) {
        return message(StatusCode::FORBIDDEN, STALE);
    }
    let Some(action) = action(uri.path(), &fields) else {
        return message(StatusCode::UNPROCESSABLE_ENTITY, STALE);
    };
    if who == Who::Expert && !matches!(action, Action::Answer(..) | Action::Undo(_)) {
        return message(StatusCode::FORBIDDEN, NOT_YOURS);
    }
    act(&state, action).await
}

async fn act(state: &TablePages, action: Action) -> Response {
    match state.blocking(|work| work.act(action)).await {
        Ok(()) => Redirect::to("/").into_response(),
        Err(failed) => failed,
    }
}

/// What the fields of a form ask for.
fn action(path: &str, fields: &Fields) -> Option<Action> {
    let text = |name: &str| fields.get(name).trim().to_owned();
    Some(match path {
        "/path" => Action::Path(text("path")),
        "/columns" => Action::Columns(Wished {
            truth: fields.get("truth").to_owned(),
            scores: fields.all("scores").map(str::to_owned).collect(),
            positive: fields.get("positive").to_owned(),
            group: fields.get("group").to_owned(),
            scale: fields.get("scale").to_owned(),
            drop_missing: !fields.get("drop_missing").is_empty(),
        }),
        "/begin" => Action::Begin { groups: fields.get("about") == "groups" },
        "/answer" => {
            let choice = match fields.get("choice") {
                "a" => Choice::A,
                "b" => Choice::B,
                "cannot_tell" => Choice::CannotTell,
                _ => return None,
            };
            Action::Answer(fields.number("question")?, choice)
        }
        "/undo" => Action::Undo(fields.number("question")?),
        "/more" => Action::More,
        "/close" => Action::Close,
        _ => return None,
    })
}

/// A form with files: a table, or other models.
async fn upload(State(state): State<TablePages>, uri: Uri, headers: HeaderMap, request: Request) -> Response {
    let csrf = match state.visitor(&headers) {
        None => return message(StatusCode::FORBIDDEN, NO_LINK),
        Some((Who::Expert, _)) => return message(StatusCode::FORBIDDEN, NOT_YOURS),
        Some((Who::Owner, csrf)) => csrf,
    };
    if !guard::comes_from_us(&headers) {
        return message(StatusCode::FORBIDDEN, STALE);
    }
    let Some(body) = multipart::whole(request.into_body()).await else {
        return message(StatusCode::PAYLOAD_TOO_LARGE, pages::TOO_LARGE);
    };
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let Some(parts) = content_type.and_then(|kind| multipart::parts(kind, &body)) else {
        return message(StatusCode::UNSUPPORTED_MEDIA_TYPE, STALE);
    };
    if !parts.iter().any(|part| part.field == "csrf" && same(csrf.as_bytes(), &part.content)) {
        return message(StatusCode::FORBIDDEN, STALE);
    }
    act(&state, of_parts(uri.path(), parts)).await
}

/// What a form with files asks for.
fn of_parts(path: &str, parts: Vec<Part>) -> Action {
    let (mut files, mut place, mut columns) = (vec![], String::new(), vec![]);
    for Part { field, file, content } in parts {
        match (field.as_str(), file) {
            // A file input that nothing was chosen for sends a file without a name.
            ("file", Some(name)) if !name.is_empty() => files.push(Sent { name, content }),
            ("path", None) => place = String::from_utf8_lossy(&content).trim().to_owned(),
            ("column", None) => columns.push(String::from_utf8_lossy(&content).into_owned()),
            _ => {}
        }
    }
    match path {
        "/models" => Action::Models(files, place, columns),
        _ => match files.pop() {
            Some(file) => Action::File(file),
            None => Action::Path(place),
        },
    }
}

async fn download(State(state): State<TablePages>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    let attached = format!("attachment; filename=\"{}\"", name.replace(['"', '\\', '\r', '\n'], ""));
    let mut response = file(&state, name, &headers).await;
    if let (true, Ok(attached)) = (response.status().is_success(), attached.parse()) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, attached);
    }
    response
}

async fn picture(State(state): State<TablePages>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    match name.ends_with(".svg") {
        true => file(&state, name, &headers).await,
        false => message(StatusCode::NOT_FOUND, MISSING),
    }
}

async fn file(state: &TablePages, name: String, headers: &HeaderMap) -> Response {
    match state.visitor(headers) {
        Some((Who::Owner, _)) => {}
        Some((Who::Expert, _)) => return message(StatusCode::FORBIDDEN, NOT_YOURS),
        None => return message(StatusCode::FORBIDDEN, NO_LINK),
    }
    match state.blocking(move |work| work.file(&name)).await {
        Ok(Some(File { media_type, content })) => {
            ([(header::CONTENT_TYPE, media_type)], content).into_response()
        }
        Ok(None) => message(StatusCode::NOT_FOUND, MISSING),
        Err(failed) => failed,
    }
}

async fn asset(uri: Uri) -> Response {
    match assets::find_for_tables(uri.path()) {
        Some(asset) => {
            let named = [(header::CONTENT_TYPE, asset.media_type), (header::CACHE_CONTROL, guard::FOR_EVER)];
            (named, asset.text).into_response()
        }
        None => message(StatusCode::NOT_FOUND, MISSING),
    }
}

async fn missing() -> Response {
    message(StatusCode::NOT_FOUND, MISSING)
}
