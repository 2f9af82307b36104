//! What a request comes to, and how it is said to a browser or to the script.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use equipoise_log::{Receipt, Why};
use equipoise_pages::page::{Frame, Message, render};
use equipoise_study::{Error, Refusal};

/// What a request comes to.
#[derive(Debug)]
pub enum Reply {
    /// A page.
    Page(StatusCode, String),
    /// A picture to keep.
    Picture(String),
    /// Something was recorded: go to this address.
    Go(String),
    /// Something was recorded, and the script wants to see what follows.
    Recorded {
        /// The receipt, if there is one.
        receipt: Option<Receipt>,
        /// What follows.
        page: String,
    },
    /// Recorded, and nothing to show.
    Noted,
    /// The link opens a place: set this cookie, and go on to this address.
    Joined(String, &'static str),
    /// The log can be written.
    Healthy,
    /// Too many are waiting.
    Overloaded,
    /// One person or address asks for too much.
    TooMany,
    /// The log could not be used.
    Unavailable(StatusCode),
    /// A bug.
    Failed,
}

impl Reply {
    /// Somebody without a link, or with one that opens nothing.
    pub fn no_link(frame: Frame) -> Self {
        Self::Page(StatusCode::FORBIDDEN, render(&Message::no_link(frame)))
    }

    /// A form that is out of date or not ours.
    pub fn stale(status: StatusCode, frame: Frame) -> Self {
        Self::Page(status, render(&Message::stale(frame)))
    }

    /// What an error means for the person.
    pub fn from_error(error: &Error) -> Self {
        match error {
            Error::Log(_) | Error::Contacts(_) => Self::Unavailable(match error.why() {
                Some(Why::Full) => StatusCode::INSUFFICIENT_STORAGE,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            }),
            Error::Refused(Refusal::TooMuch) => Self::TooMany,
            // Somebody else's request came first; the browser asks again and sees where it is.
            Error::Refused(Refusal::NotNow(_)) => Self::Go("/".to_owned()),
            _ => Self::Failed,
        }
    }

    /// As a response; `frame` is for sentences about the server.
    pub fn respond(self, json: bool, frame: Option<Frame>) -> Response {
        let failed = |status: StatusCode| {
            let page = frame.map_or(String::new(), |frame| render(&Message::failed(frame)));
            let mut response = (status, Html(page)).into_response();
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
            response
        };
        match self {
            Self::Page(status, page) if json => {
                (status, Json(serde_json::json!({ "receipt": null, "page": page }))).into_response()
            }
            Self::Page(status, page) => (status, Html(page)).into_response(),
            Self::Picture(drawn) => {
                let kept = [
                    (header::CONTENT_TYPE, "image/svg+xml"),
                    (header::CONTENT_DISPOSITION, "attachment; filename=\"result.svg\""),
                ];
                (kept, drawn).into_response()
            }
            Self::Go(to) if json => {
                Json(serde_json::json!({ "receipt": null, "page": "", "to": to })).into_response()
            }
            Self::Go(to) => Redirect::to(&to).into_response(),
            Self::Recorded { receipt, page } => {
                let receipt = receipt.map(|receipt| receipt.to_string());
                Json(serde_json::json!({ "receipt": receipt, "page": page })).into_response()
            }
            Self::Noted | Self::Joined(..) | Self::Healthy => StatusCode::NO_CONTENT.into_response(),
            Self::TooMany => failed(StatusCode::TOO_MANY_REQUESTS),
            Self::Overloaded => failed(StatusCode::SERVICE_UNAVAILABLE),
            Self::Unavailable(status) => failed(status),
            Self::Failed => failed(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}
