//! What came out: what people hold together, where they differ, and what follows for the models.

use super::{group, models};
use crate::researcher::call::{Call, Outcome, page as show};
use crate::researcher::frame::Frame;
use askama::Template;

#[derive(Template)]
#[template(path = "researcher/results.html")]
struct Page {
    frame: Frame,
    blinded: bool,
    group: group::Shown,
    models: models::Shown,
    /// Whether the files may be had.
    files: bool,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    call.look("results", None)?;
    let seen = call.seen()?;
    let without_excluded = call.sent.query.get("without") == "excluded";
    let together = group::together(call.shared, &seen, without_excluded)?;
    let found = together.as_deref();
    Ok(show(&Page {
        frame: call.frame("/results"),
        blinded: seen.blinded,
        group: group::shown(call, &seen, found, without_excluded),
        models: models::shown(call, &seen, found),
        files: call.account().role >= crate::researcher::accounts::Role::Analyst,
    }))
}
