//! What came out: what people hold together, where they differ, and what follows for the models.

use super::{group, models};
use crate::researcher::accounts::Role;
use crate::researcher::call::{Call, Outcome, page as show};
use crate::researcher::frame::Frame;
use askama::Template;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "researcher/results.html")]
struct Page {
    frame: Frame,
    blinded: bool,
    group: group::Shown,
    models: models::Shown,
    /// Whether the files may be had.
    files: bool,
    /// Whether people are simulated: then nothing here is a result.
    simulated: bool,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    let simulated = call.simulated()?;
    let without_excluded = call.sent.query.get("without") == "excluded";
    let (seen, together) = match &simulated {
        // Nobody has a page of their own here who is not in the log.
        Some(found) => (Arc::default(), found.together.clone()),
        None => {
            call.look("results", None)?;
            let seen = call.known()?;
            let together = group::together(call.shared, &seen, without_excluded)?;
            (seen, together)
        }
    };
    let found = together.as_deref();
    Ok(show(&Page {
        frame: call.frame("/results"),
        blinded: seen.blinded,
        group: group::shown(call, &seen, found, without_excluded),
        models: models::shown(call, &seen, found),
        files: simulated.is_none() && call.account().role >= Role::Analyst,
        simulated: simulated.is_some(),
    }))
}
