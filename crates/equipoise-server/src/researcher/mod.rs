//! The router for researchers: accounts, live results, links, export, audit. It has a port of its own and shares no
//! handler with the participants' router.
//!
//! Every route is a line of one table ([`routes`]): method, path, and who may use it. The router is made from the table,
//! and the one function that answers requests (`dispatch`) checks session, role and form before a handler is called. So
//! there is no route that nobody decided about, and no handler that could forget to check.

pub mod accounts;
mod call;
mod chart;
mod common;
pub mod draft;
mod frame;
mod job;
mod limit;
mod news;
mod pages;
pub mod password;
mod refusal;
mod route;
mod sample;
mod sign;
mod stream;
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
pub mod tokens;
mod watch;

pub use route::{Access, Route, routes};
pub use sign::COOKIE;

use crate::form::Fields;
use crate::guard;
use crate::health::Health;
use crate::multipart::{self, Part};
use crate::preview::Previews;
use accounts::Accounts;
use axum::Router;
use axum::extract::{FromRequest as _, RawPathParams, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{MethodFilter, on};
use call::{Call, Outcome, Sent, Visitor};
use draft::Draft;
use equipoise_study::lint::Lint;
use equipoise_study::seams::{Clock, SystemClock};
use equipoise_study::{Service, Study};
use frame::Frame;
use limit::Limit;
use refusal::Refused;
use route::Handler;
use sign::Signed;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use watch::Watch;

/// Researchers' pages that are made at the same time; the rest waits, so that participants do not.
const WORKING: usize = 2;
/// What is read of somebody who may not send it, to show them what they typed: tens of kilobytes, or a table with it.
const TYPED: usize = 8 << 20;
/// How many of them at once.
const TYPING: usize = 2;
const SLOWEST: Duration = Duration::from_secs(60);

/// How researchers and participants reach the study.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Scheme, host and port researchers type.
    pub origin: String,
    /// Scheme, host and port of participants' links.
    pub participants: String,
    /// The file of the log, to be read beside the thread that writes it.
    pub log: Option<PathBuf>,
}

/// What the handlers share.
#[derive(Debug, Clone)]
pub struct Researchers(Arc<Shared>);

struct Shared {
    service: Arc<Service>,
    accounts: Arc<Accounts>,
    settings: Settings,
    clock: Box<dyn Clock>,
    watch: Arc<Watch>,
    health: Arc<Health>,
    limit: Mutex<Limit>,
    /// Visitors whose password is being checked: one, so that somebody who is known waits for one at most.
    visitors: Semaphore,
    /// Who has been written down as looking at what, and when.
    sittings: Mutex<HashMap<(String, String), Instant>>,
    /// Forms that must not be sent twice, and were sent.
    spent: Mutex<Vec<String>>,
    working: Arc<Semaphore>,
    /// Forms that are read of people who may not send them.
    typing: Semaphore,
    /// The report that is being made, and the one that was made last.
    report: Arc<job::Job>,
    /// What everybody holds together, as long as nobody has answered since.
    together: Mutex<pages::group::Kept>,
    /// The participant that was drawn last on the overview.
    drawn: Mutex<pages::overview::Kept>,
    /// What there is to say about the design, which does not change while it is served.
    lints: OnceLock<Vec<Lint>>,
    /// Previews on the participants' pages, where those have them.
    previews: OnceLock<Arc<Previews>>,
    /// What may be changed, while the study is not locked.
    draft: OnceLock<Draft>,
    /// People who are simulated.
    sample: Arc<sample::Sample>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("study", &self.study().name).finish_non_exhaustive()
    }
}

impl Shared {
    fn study(&self) -> &Study {
        self.service.design().study()
    }

    /// Whether researchers come over TLS; cookies then stay with it.
    fn is_secure(&self) -> bool {
        self.settings.origin.starts_with("https://")
    }
}

impl Researchers {
    /// Pages for those who have accounts.
    pub fn new(
        service: Arc<Service>,
        accounts: impl Into<Arc<Accounts>>,
        settings: Settings,
    ) -> equipoise_study::Result<Self> {
        Self::with_clock(service, accounts, settings, SystemClock)
    }

    /// The same by another clock, for tests.
    pub fn with_clock(
        service: Arc<Service>,
        accounts: impl Into<Arc<Accounts>>,
        settings: Settings,
        clock: impl Clock + 'static,
    ) -> equipoise_study::Result<Self> {
        let directory = settings.log.as_ref().and_then(|log| {
            let directory = log.parent()?;
            Some(if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory.to_owned() })
        });
        Ok(Self(Arc::new(Shared {
            watch: Arc::new(Watch::new(service.clone())?),
            health: Arc::new(Health::new(directory)),
            service,
            accounts: accounts.into(),
            settings,
            clock: Box::new(clock),
            limit: Mutex::new(Limit::new(Instant::now())),
            visitors: Semaphore::new(1),
            sittings: Mutex::default(),
            spent: Mutex::default(),
            working: Arc::new(Semaphore::new(WORKING)),
            typing: Semaphore::new(TYPING),
            report: Arc::default(),
            together: Mutex::default(),
            drawn: Mutex::default(),
            lints: OnceLock::new(),
            previews: OnceLock::new(),
            draft: OnceLock::new(),
            sample: Arc::default(),
        })))
    }

    /// How the server is.
    pub(crate) fn health(&self) -> Arc<Health> {
        self.0.health.clone()
    }

    /// With previews on the participants' pages.
    #[must_use]
    pub fn with_previews(self, previews: Arc<Previews>) -> Self {
        self.0.previews.get_or_init(|| previews);
        self
    }

    /// Of a study that is not locked, and may be changed.
    #[must_use]
    pub fn with_draft(self, draft: Draft) -> Self {
        self.0.draft.get_or_init(|| draft);
        self
    }

    /// The accounts.
    pub fn accounts(&self) -> &Accounts {
        &self.0.accounts
    }
}

/// The routes of researchers. They hold no handle on anything of the participants' router.
pub fn app(state: Researchers) -> Router {
    let mut router = Router::new();
    for route in routes() {
        let filter = MethodFilter::try_from(route.method.clone()).expect("the table has GET and POST only");
        let answer = move |State(state): State<Researchers>, params: RawPathParams, request: Request| {
            dispatch(route, state, params, request)
        };
        router = router.route(route.path, on(filter, answer));
    }
    let settings = state.clone();
    let router = router.fallback(missing).method_not_allowed_fallback(wrong_method).layer(from_fn(
        move |request: Request, next: Next| {
            let known = guard::is_for(request.headers(), request.uri(), &settings.0.settings.origin);
            let elsewhere = (!known)
                .then(|| Frame::message(&settings.0, None, StatusCode::MISDIRECTED_REQUEST, ANOTHER_HOST));
            async move {
                match elsewhere {
                    Some(message) => message,
                    None => next.run(request).await,
                }
            }
        },
    ));
    guard::guarded(router, SLOWEST).with_state(state)
}

/// Answers every request: first who asks, then whether they may, then whether the form is ours, and only then the handler.
async fn dispatch(
    route: &'static Route,
    state: Researchers,
    params: RawPathParams,
    request: Request,
) -> Response {
    let headers = request.headers().clone();
    let address = guard::address(request.extensions(), &headers);
    let (post, uri) = (request.method() == Method::POST, request.uri().clone());
    let path = params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let query = Fields::new(
        axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&uri).map_or(vec![], |query| query.0),
    );
    // Before the body: whoever may not send it need not be read.
    let bearer = sign::bearer(&headers).map(str::to_owned);
    if post && bearer.is_some() {
        return refusal::script(Refused::Form);
    }
    let shared = state.0.clone();
    let signed = {
        let headers = headers.clone();
        let person = query.get("seen").is_empty();
        let bearer = bearer.clone();
        let found = tokio::task::spawn_blocking(move || match bearer {
            // Cookies of a request with a token are not looked at.
            Some(sent) => Signed::from_token(&shared, &sent),
            None => Signed::from_cookie(&shared, &headers, person),
        });
        match found.await {
            Ok(Ok(signed)) => signed,
            _ => return unavailable(&state.0),
        }
    };
    match (route.access(), &signed) {
        (Access::Anyone, _) => {}
        (_, None) if bearer.is_some() => return refusal::script(Refused::Unknown),
        (_, None) if post && route.kept.is_some() => {
            return keep(&state.0, None, request, StatusCode::UNAUTHORIZED, SIGNED_OUT_TYPING).await;
        }
        (_, None) if post => return Frame::message(&state.0, None, StatusCode::UNAUTHORIZED, SIGNED_OUT),
        (_, None) => return Redirect::to(&sign::asking_for(&uri)).into_response(),
        (access, Some(Signed { script: Some(token), .. })) => match access {
            Access::Scripts(scope) if token.allows(scope) => {}
            Access::Scripts(scope) => return refusal::script(Refused::Scope(scope)),
            _ => return refusal::script(Refused::Page),
        },
        (access, Some(person)) if access.role().is_some_and(|least| person.account.role < least) => {
            if post && route.kept.is_some() {
                return keep(&state.0, Some(person), request, StatusCode::FORBIDDEN, NOT_YOURS).await;
            }
            return Frame::message(&state.0, signed.as_ref(), StatusCode::FORBIDDEN, NOT_YOURS);
        }
        _ => {}
    }
    let say = |status, sentence| Frame::message(&state.0, signed.as_ref(), status, sentence);
    let (form, files) = match post {
        false => (Fields::new(vec![]), vec![]),
        true if !guard::comes_from_us(&headers) => return say(StatusCode::FORBIDDEN, STALE),
        true => match read(route.large.then_some(multipart::LARGEST), &headers, request).await {
            Ok(read) => read,
            Err((status, sentence)) => return say(status, sentence),
        },
    };
    let stale = post && !sign::owns(&state.0, &headers, signed.as_ref(), form.get("csrf"));
    let kept = route.kept.filter(|_| stale);
    if stale && kept.is_none() {
        return say(StatusCode::FORBIDDEN, STALE);
    }
    let sent = Sent { path, query, form, files, address, headers, uri };
    work(route, kept, state, sent, signed).await
}

/// Shows what was typed to somebody who may not send it, if it comes from a page of ours and is no larger than what people type.
async fn keep(
    shared: &Shared,
    signed: Option<&Signed>,
    request: Request,
    status: StatusCode,
    sentence: [&str; 2],
) -> Response {
    let headers = request.headers().clone();
    if guard::comes_from_us(&headers)
        && let Ok(_place) = shared.typing.try_acquire()
        && let Ok((form, _)) = read(Some(TYPED), &headers, request).await
    {
        return pages::edit::kept(shared, signed, &form, status, sentence);
    }
    Frame::message(shared, signed, status, sentence)
}

/// The fields and files of a form; otherwise what to say about it. `largest` is what a form with files may have.
async fn read(
    largest: Option<usize>,
    headers: &HeaderMap,
    request: Request,
) -> Result<(Fields, Vec<Part>), (StatusCode, [&'static str; 2])> {
    let stale = (StatusCode::UNSUPPORTED_MEDIA_TYPE, STALE);
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let Some(largest) = largest.filter(|_| kind.starts_with("multipart/")) else {
        let form = axum::Form::<Vec<(String, String)>>::from_request(request, &()).await;
        return form.map(|axum::Form(fields)| (Fields::new(fields), vec![])).map_err(|_| stale);
    };
    let body = multipart::within(request.into_body(), largest).await;
    let body = body.ok_or((StatusCode::PAYLOAD_TOO_LARGE, TOO_LARGE))?;
    let parts = multipart::parts(kind, &body).ok_or(stale)?;
    let (files, fields): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(|part| part.file.is_some());
    let text = |part: Part| String::from_utf8(part.content).map(|text| (part.field, text));
    let fields: Result<Vec<_>, _> = fields.into_iter().map(text).collect();
    let fields = fields.map_err(|_| (StatusCode::UNPROCESSABLE_ENTITY, NOT_TEXT))?;
    Ok((Fields::new(fields), files))
}

/// Runs a handler, or what takes its place, where waiting for the disk holds nobody up, and not more of them at once than participants can bear.
async fn work(
    route: &'static Route,
    instead: Option<fn(&Call<'_>) -> Outcome>,
    state: Researchers,
    sent: Sent,
    signed: Option<Signed>,
) -> Response {
    // Signing in has limits of its own.
    let place = match &route.handler {
        Handler::Anyone(_) => None,
        Handler::AtLeast(..) | Handler::Scripts(..) => state.0.working.clone().acquire_owned().await.ok(),
    };
    let shared = state.0.clone();
    let answer = move || match (&route.handler, signed) {
        (Handler::Anyone(handler), signed) => {
            // To whom it matters who somebody is, a script is nobody.
            let signed = signed.filter(|signed| signed.script.is_none());
            handler(&Visitor { shared: &shared, sent, signed })
        }
        (Handler::AtLeast(_, handler) | Handler::Scripts(_, handler), Some(signed)) => {
            let call = Call { shared: &shared, sent, signed };
            instead.unwrap_or(*handler)(&call).unwrap_or_else(|problem| problem.respond(&call))
        }
        (Handler::AtLeast(..) | Handler::Scripts(..), None) => StatusCode::UNAUTHORIZED.into_response(),
    };
    let done = tokio::task::spawn_blocking(move || {
        // Until the work ends: whoever asks again and again without waiting gets no further place.
        let _place = place;
        answer()
    });
    // A panic in one request is that request's failure alone.
    done.await.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

const ANOTHER_HOST: [&str; 2] = [
    "This is not the address of the study",
    "Use the address that the server printed; if researchers come by another name, start it with --researchers-origin.",
];
const SIGNED_OUT: [&str; 2] = ["You are signed out", "Sign in again and repeat what you did."];
const SIGNED_OUT_TYPING: [&str; 2] =
    ["You are signed out", "Nothing was saved. What you typed is below: sign in, then go on with it."];
const NOT_YOURS: [&str; 2] = [
    "Not for your role",
    "Your account may not see or do this. An owner of the study can change that in Settings.",
];
const TOO_LARGE: [&str; 2] = [
    "This is too large",
    "A form takes at most 64 MB. Nothing was changed; copy a larger table into the study's directory.",
];
const NOT_TEXT: [&str; 2] = ["This is not UTF-8 text", "Nothing was changed."];
const STALE: [&str; 2] =
    ["This form is out of date", "Nothing was changed. Go back, reload the page, and try again."];

async fn missing(State(state): State<Researchers>, headers: HeaderMap) -> Response {
    if sign::bearer(&headers).is_some() {
        return refusal::error(StatusCode::NOT_FOUND, "there is no such page");
    }
    let shared = state.0.clone();
    let found = tokio::task::spawn_blocking(move || Signed::from_cookie(&shared, &headers, true)).await;
    let signed = found.ok().and_then(Result::ok).flatten();
    let sentence = ["There is no such page", "The address may be mistyped; the pages are listed at the top."];
    Frame::message(&state.0, signed.as_ref(), StatusCode::NOT_FOUND, sentence)
}

async fn wrong_method(State(state): State<Researchers>) -> Response {
    let sentence = ["This cannot be done here", "The page takes no request of this kind."];
    Frame::message(&state.0, None, StatusCode::METHOD_NOT_ALLOWED, sentence)
}

fn unavailable(shared: &Shared) -> Response {
    let sentence = [
        "The accounts cannot be read",
        "Look at the disk of the server and at the file accounts.sqlite, or at the database.",
    ];
    let mut response = Frame::message(shared, None, StatusCode::SERVICE_UNAVAILABLE, sentence);
    response.headers_mut().insert(header::RETRY_AFTER, axum::http::HeaderValue::from_static("2"));
    response
}
