//! A request that may be answered: who sent it and what, with what every handler needs.

use super::Shared;
use super::accounts::{self, Account};
use super::frame::Frame;
use super::job::Running;
use super::refusal;
use super::sample::Found;
use super::sign::Signed;
use super::watch::Seen;
use crate::form::Fields;
use crate::multipart::Part;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use equipoise_log::Why;
use equipoise_study::event::{Action, Admin};
use equipoise_study::numbers::grouped;
use equipoise_study::{Error, Study};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Looking at a page again within this time is the same sitting: one line in the audit log.
const SITTING: Duration = Duration::from_secs(600);
/// Forms that are remembered as sent.
const SPENT: usize = 1_000;

/// What was sent.
pub struct Sent {
    /// Parts of the path that vary.
    pub path: HashMap<String, String>,
    /// What follows the question mark.
    pub query: Fields,
    /// The form; empty unless it is a POST.
    pub form: Fields,
    /// Files that came with it.
    pub files: Vec<Part>,
    /// From where.
    pub address: Option<IpAddr>,
    /// With which headers.
    pub headers: HeaderMap,
    /// To where.
    pub uri: Uri,
}

/// A request to a route that is open to all.
pub struct Visitor<'a> {
    /// What the handlers share.
    pub shared: &'a Shared,
    /// What was sent.
    pub sent: Sent,
    /// Whoever it is, if they are signed in.
    pub signed: Option<Signed>,
}

/// A request by somebody who may make it.
pub struct Call<'a> {
    /// What the handlers share.
    pub shared: &'a Shared,
    /// What was sent.
    pub sent: Sent,
    /// Who sent it.
    pub signed: Signed,
}

/// Why a request cannot be answered.
#[derive(Debug)]
pub enum Problem {
    /// The log could not be used, or there is something wrong with it.
    Study(Error),
    /// The accounts could not be used, or do not allow it.
    Accounts(accounts::Error),
    /// There is no such participant or file.
    Missing,
    /// The form was sent before.
    Spent,
    /// Results are hidden for now.
    Blinded,
    /// The report is being made, and not ready.
    Making(Running),
    /// Simulated people are answering.
    Simulating,
    /// What the answers say is being worked out.
    WorkingOut,
    /// The study is not one that this can be done to, for this reason.
    Closed(&'static str),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Study(error)
    }
}

impl From<accounts::Error> for Problem {
    fn from(error: accounts::Error) -> Self {
        Self::Accounts(error)
    }
}

/// What a handler comes to.
pub type Outcome = Result<Response, Problem>;

impl Call<'_> {
    /// Who sent it.
    pub fn account(&self) -> &Account {
        &self.signed.account
    }

    /// The study.
    pub fn study(&self) -> &Study {
        self.shared.study()
    }

    /// The study as it is now.
    pub fn seen(&self) -> Result<Arc<Seen>, Error> {
        self.shared.watch.now()
    }

    /// The same where that takes no while; otherwise it is worked out for whoever asks again.
    pub fn known(&self) -> Result<Arc<Seen>, Problem> {
        self.shared.watch.soon()?.ok_or(Problem::WorkingOut)
    }

    /// How far everybody is, which needs nobody's answers to be worked out.
    pub fn counted(&self) -> Result<Arc<Seen>, Error> {
        self.shared.watch.counted()
    }

    /// Simulated people, where a page is asked for with them: there is nothing of anybody in it, so nobody's look is written down.
    pub fn simulated(&self) -> Result<Option<Arc<Found>>, Problem> {
        if self.sent.query.get("people") != "simulated" {
            return Ok(None);
        }
        let found = self.shared.sample.found(self.shared.service.design(), self.now());
        found.map(Some).ok_or(Problem::Simulating)
    }

    /// What surrounds a page.
    pub fn frame(&self, page: &'static str) -> Frame {
        Frame::new(self.shared, Some(&self.signed), page)
    }

    /// Writes down that somebody looks at results; returns when that is on disk. Without it nothing is shown (RS-07).
    pub fn look(&self, page: &str, participant: Option<u64>) -> Result<(), Error> {
        let what = participant.map_or_else(|| page.to_owned(), |number| format!("{page}/{number}"));
        let sitting = (self.signed.id(), what);
        let now = Instant::now();
        let mut sittings = self.shared.sittings.lock().unwrap_or_else(PoisonError::into_inner);
        sittings.retain(|_, begun| now.duration_since(*begun) < SITTING);
        if sittings.contains_key(&sitting) {
            return Ok(());
        }
        self.note(Action::Looked { page: page.to_owned(), participant })?;
        sittings.insert(sitting, now);
        Ok(())
    }

    /// Writes down what was done.
    pub fn note(&self, action: Action) -> Result<(), Error> {
        let token = self.signed.script.as_ref().map(|token| token.name.clone());
        self.shared.service.note(Admin { token, ..Admin::new(self.account().name.clone(), action) }).map(drop)
    }

    /// Refuses a form that was sent before: what it did cannot be shown again.
    pub fn spend(&self) -> Result<(), Problem> {
        let key = self.sent.form.key().ok_or(Problem::Spent)?;
        match self.shared.accounts.spend_form(&key, self.now())? {
            Some(true) => return Ok(()),
            Some(false) => return Err(Problem::Spent),
            None => {}
        }
        let mut spent = self.shared.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.contains(&key) {
            return Err(Problem::Spent);
        }
        if spent.len() >= SPENT {
            spent.remove(0);
        }
        spent.push(key);
        Ok(())
    }

    /// Now, in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        self.shared.clock.now()
    }
}

impl Problem {
    /// As a page; to a script, as a JSON object.
    pub fn respond(self, call: &Call<'_>) -> Response {
        let say = |status: StatusCode, sentence: [&str; 2]| match call.signed.script {
            Some(_) => refusal::error(status, &sentence.join(". ")),
            None => Frame::message(call.shared, Some(&call.signed), status, sentence),
        };
        match self {
            Self::Missing => say(
                StatusCode::NOT_FOUND,
                ["There is no such page", "The address may be mistyped; the pages are listed at the top."],
            ),
            Self::Spent => say(
                StatusCode::CONFLICT,
                [
                    "This was done already",
                    "It is shown once and not kept. Open the page again to do it anew.",
                ],
            ),
            Self::Simulating | Self::WorkingOut => {
                let told = match self {
                    Self::Simulating => [
                        "Simulated people are answering",
                        "This takes up to half a minute; the page asks again by itself.",
                    ],
                    _ => [
                        "What the answers say is being worked out",
                        "Of a thousand people this takes a while after a start; the page asks again by itself.",
                    ],
                };
                let mut response = say(StatusCode::ACCEPTED, told);
                response.headers_mut().insert(header::REFRESH, HeaderValue::from_static("2"));
                response
            }
            Self::Closed(why) => say(StatusCode::CONFLICT, ["Nothing was changed", why]),
            Self::Study(
                error @ (Error::Changed { .. } | Error::Unfit(_) | Error::Overtaken(_) | Error::Study { .. }),
            ) => say(
                StatusCode::CONFLICT,
                ["Nothing was changed", &super::frame::capital(&format!("{error}."))],
            ),
            Self::Blinded => say(
                StatusCode::CONFLICT,
                [
                    "Results are hidden",
                    "The study is blinded. An owner can end that in Settings; it is written to the audit log.",
                ],
            ),
            Self::Making(running) => {
                let mut response = match call.signed.script {
                    Some(_) => {
                        say(StatusCode::SERVICE_UNAVAILABLE, ["The report is being made", &far(&running)])
                    }
                    None => Making::respond(call, far(&running)),
                };
                // The page asks again by itself, as scripts should.
                for name in [header::RETRY_AFTER, header::REFRESH] {
                    response.headers_mut().insert(name, HeaderValue::from_static("2"));
                }
                response
            }
            Self::Accounts(accounts::Error::Refused(sentence)) => say(
                StatusCode::UNPROCESSABLE_ENTITY,
                ["Nothing was changed", &super::frame::capital(&format!("{sentence}."))],
            ),
            Self::Accounts(accounts::Error::Storage(_)) => super::unavailable(call.shared),
            Self::Study(Error::Damaged(damage)) => say(
                StatusCode::INTERNAL_SERVER_ERROR,
                ["The log does not agree with itself", &format!("{damage}. See: equipoise study verify DIR")],
            ),
            Self::Study(Error::Log(error)) => {
                let status = match error.why() {
                    Some(Why::Full) => StatusCode::INSUFFICIENT_STORAGE,
                    _ => StatusCode::SERVICE_UNAVAILABLE,
                };
                let mut response = say(
                    status,
                    [
                        "The log cannot be written",
                        "Looking at results is written down first, so nothing is shown until it can be. What was acknowledged is kept.",
                    ],
                );
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
                response
            }
            Self::Study(error) => {
                say(StatusCode::INTERNAL_SERVER_ERROR, ["This did not work", &error.to_string()])
            }
        }
    }
}

/// How far a report is.
fn far(running: &Running) -> String {
    let (progress, seconds) = (running.progress, running.since.elapsed().as_secs());
    let done = match progress.done < progress.of {
        true => {
            format!("{} of {} people are done", grouped(progress.done as u64), grouped(progress.of as u64))
        }
        false if progress.of > 0 => "everybody is done and put together with the others".to_owned(),
        false => "the log is being read".to_owned(),
    };
    format!(
        "{seconds} s so far: {done}. It goes on as long as somebody asks for it, and is kept when it is ready."
    )
}

/// What is shown while a report is being made.
#[derive(askama::Template)]
#[template(path = "researcher/making.html")]
struct Making {
    frame: Frame,
    sentence: String,
}

impl Making {
    fn respond(call: &Call<'_>, sentence: String) -> Response {
        (StatusCode::SERVICE_UNAVAILABLE, page(&Self { frame: call.frame("/results/files"), sentence }))
            .into_response()
    }
}

/// A page.
pub fn page(page: &impl askama::Template) -> Response {
    Html(equipoise_pages::page::render(page)).into_response()
}

/// On to an address, after something was done.
pub fn go(to: &str) -> Response {
    Redirect::to(to).into_response()
}
