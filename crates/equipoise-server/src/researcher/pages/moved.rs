//! Addresses of ten pages that were, for bookmarks: each leads to where its part is now.

use crate::researcher::call::{Call, Outcome};
use axum::response::{IntoResponse as _, Redirect};

/// What was where.
pub const MOVED: [(&str, &str); 8] = [
    ("/live", "/"),
    ("/people", "/participants"),
    ("/people/{number}", "/participants/{number}"),
    ("/links", "/participants/links"),
    ("/group", "/results"),
    ("/models", "/results"),
    ("/export", "/results/files"),
    ("/audit", "/settings/audit"),
];

/// To the new address, with what was asked for.
pub fn on(call: &Call<'_>) -> Outcome {
    let path = call.sent.uri.path();
    let number = path.strip_prefix("/people/").filter(|_| call.sent.path.contains_key("number"));
    let to = match number {
        Some(number) => format!("/participants/{}", number.parse::<u64>().unwrap_or_default()),
        None => {
            let known = MOVED.iter().find(|(old, _)| *old == path);
            known.map_or("/", |(_, new)| *new).to_owned()
        }
    };
    let query = call.sent.uri.query().map_or(String::new(), |query| format!("?{query}"));
    Ok(Redirect::permanent(&format!("{to}{query}")).into_response())
}
