//! Links for participants: made here, shown once, kept nowhere.

use super::counted;
use crate::participant::link;
use crate::researcher::call::{Call, Outcome, page as show};
use crate::researcher::frame::Frame;
use askama::Template;
use axum::http::header;
use axum::response::IntoResponse as _;
use equipoise_study::event::Action;

/// At most so many at once; more are made on the command line.
const MOST: usize = 500;

#[derive(Template)]
#[template(path = "researcher/links.html")]
struct Page {
    frame: Frame,
    most: usize,
    problem: Option<String>,
    /// Number and link of each that was just made.
    made: Vec<(u64, String)>,
    heading: String,
    unopened: String,
    completion: Option<String>,
    parameters: Vec<String>,
    /// What a panel adds to every link.
    suffix: String,
}

fn content(
    call: &Call<'_>,
    problem: Option<String>,
    made: Vec<(u64, String)>,
) -> Result<Page, super::super::call::Problem> {
    let seen = call.counted()?;
    let completion = &call.study().completion;
    let parameters = completion.parameters.clone();
    let parts: Vec<String> = parameters.iter().map(|name| format!("{name}={{{{%{name}%}}}}")).collect();
    Ok(Page {
        frame: call.frame("/links"),
        most: MOST,
        problem,
        heading: counted(made.len(), "new link", "new links"),
        made,
        unopened: counted(seen.count(|line| line.person.step == "not opened"), "link", "links"),
        completion: completion.url.clone(),
        suffix: if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) },
        parameters,
    })
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    Ok(show(&content(call, None, vec![])?))
}

/// Makes places. The links are in this response and nowhere else.
pub fn make(call: &Call<'_>) -> Outcome {
    let form = &call.sent.form;
    let Some(count) = form.number::<usize>("count").filter(|count| (1..=MOST).contains(count)) else {
        let problem = format!("Expected a whole number from 1 to {MOST}.");
        let page = content(call, Some(problem), vec![])?;
        return Ok((axum::http::StatusCode::UNPROCESSABLE_ENTITY, show(&page)).into_response());
    };
    call.spend()?;
    let invitations = call.shared.service.invite(count)?;
    let first = invitations.first().map_or(0, |invitation| invitation.number);
    call.note(Action::MadeLinks { first, count: count as u64 })?;
    call.shared.watch.at_once()?;
    let origin = &call.shared.settings.participants;
    let made: Vec<(u64, String)> =
        invitations.iter().map(|made| (made.number, link(origin, &made.token))).collect();
    if form.get("as") == "csv" {
        let rows: String = made.iter().map(|(number, link)| format!("{number},{link}\n")).collect();
        let named = [
            (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
            (header::CONTENT_DISPOSITION, "attachment; filename=\"links.csv\""),
        ];
        return Ok((named, format!("participant,link\n{rows}")).into_response());
    }
    Ok(show(&content(call, None, made)?))
}
