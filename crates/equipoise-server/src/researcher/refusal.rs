//! What scripts are told that may not read something: one JSON object, as RFC 6750 has it.

use super::tokens::Scope;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

/// Why a script may not read something.
#[derive(Debug, Clone, Copy)]
pub enum Refused {
    /// There is no such token: it never was, has expired or was revoked. Which of them is nobody's business.
    Unknown,
    /// The token is for other things.
    Scope(Scope),
    /// No token opens this page.
    Page,
    /// No token sends a form.
    Form,
}

/// A refusal.
pub fn script(why: Refused) -> Response {
    let (status, code, sentence) = match why {
        Refused::Unknown => (
            StatusCode::UNAUTHORIZED,
            "invalid_token",
            "the token is unknown, has expired or was revoked".to_owned(),
        ),
        Refused::Scope(scope) => (
            StatusCode::FORBIDDEN,
            "insufficient_scope",
            format!("the token does not allow this, expected one with the scope {}", scope.word()),
        ),
        Refused::Page => (
            StatusCode::FORBIDDEN,
            "insufficient_scope",
            "no token opens this page; scripts read /api/live, /api/people and /export/FILE".to_owned(),
        ),
        Refused::Form => (
            StatusCode::FORBIDDEN,
            "insufficient_scope",
            "a token changes nothing; sign in for that".to_owned(),
        ),
    };
    let mut response = error(status, &sentence);
    // All three values are plain text of ours.
    if let Ok(value) = HeaderValue::from_str(&format!("Bearer realm=\"equipoise\", error=\"{code}\"")) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

/// A sentence for a program.
pub fn error(status: StatusCode, sentence: &str) -> Response {
    (status, Json(serde_json::json!({ "format": equipoise::FORMAT, "error": sentence }))).into_response()
}
