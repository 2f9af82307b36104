//! What came out: what people hold together, where they differ, and what follows for the models.

use super::{group, models};
use crate::researcher::accounts::Role;
use crate::researcher::call::{Call, Outcome, page as show};
use crate::researcher::frame::Frame;
use crate::researcher::sample::PEOPLE;
use crate::researcher::watch::Seen;
use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};

#[derive(Template)]
#[template(path = "researcher/results.html")]
struct Page {
    frame: Frame,
    blinded: bool,
    group: group::Shown,
    models: models::Shown,
    /// Whether the files may be had.
    files: bool,
    /// How many people are simulated, where these are: then nothing here is a result.
    simulated: Option<usize>,
}

/// What simulated people come to, on the same page: there is nothing of anybody in it, so nobody's look is written down.
fn simulated(call: &Call<'_>) -> Outcome {
    let Some(together) = call.shared.sample.found(call.shared.service.design()) else {
        let told = [
            "Simulated people are answering",
            "This takes up to half a minute; the page asks again by itself.",
        ];
        let mut response = Frame::message(call.shared, Some(&call.signed), StatusCode::ACCEPTED, told);
        response.headers_mut().insert(header::REFRESH, HeaderValue::from_static("2"));
        return Ok(response);
    };
    let (found, nobody) = (together.as_deref(), Seen::default());
    Ok(show(&Page {
        frame: call.frame("/results"),
        blinded: false,
        group: group::shown(call, &nobody, found, false),
        models: models::shown(call, &nobody, found),
        files: false,
        simulated: Some(PEOPLE),
    }))
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    if call.sent.query.get("people") == "simulated" {
        return simulated(call);
    }
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
        files: call.account().role >= Role::Analyst,
        simulated: None,
    }))
}
