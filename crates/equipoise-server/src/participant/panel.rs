//! People whom a panel sends: one address for everybody, and a page for each way it can end.

use super::reply::Reply;
use super::visitor::{Panel, Visitor, kept};
use super::{Participants, joined, missing};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use equipoise_pages::page::{Ending, Frame, Message, render};
use equipoise_study::{Entered, Participant, Result};
use std::collections::BTreeMap;

/// The address for everybody. Whoever is let in goes on to `/`, whoever is not to a page of its own: who it is leaves the address
/// either way.
pub async fn join(
    State(state): State<Participants>,
    Query(came): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let Some(settings) = state.study().panel.clone() else { return missing(State(state), headers).await };
    let (outside, secure) = (state.outside(&headers), state.settings.is_secure());
    let panel = Panel::new(&came, &kept(state.study()));
    let Some(id) = panel.0.get(&settings.id).cloned() else {
        let page = render(&Message::nameless(outside));
        return Reply::Page(StatusCode::BAD_REQUEST, page).respond(false, None);
    };
    let known = Visitor::from_cookie(&headers, secure);
    let passed = panel.clone();
    let reply = state
        .blocking(move |state| match enter(state, &id, known, &passed) {
            Ok(reply) => reply.unwrap_or(Reply::Failed),
            Err(error) => Reply::from_error(&error),
        })
        .await;
    joined(reply, &panel, secure, outside)
}

fn enter(state: &Participants, id: &str, known: Option<Visitor>, panel: &Panel) -> Result<Option<Reply>> {
    if state.draft {
        return Ok(Some(Reply::Go("/join/closed".to_owned())));
    }
    let (token, to) = match state.service.enter(id)? {
        Entered::Open(token) => (token, "/"),
        Entered::Done(token) => (token, "/?again=yes"),
        Entered::Full => return Ok(Some(Reply::Go("/join/full".to_owned()))),
        Entered::Early | Entered::Over => return Ok(Some(Reply::Go("/join/closed".to_owned()))),
    };
    state.service.know(&token, &panel.0)?;
    let visitor = super::steps::join(state, &token, known)?;
    Ok(visitor.map(|visitor| Reply::Joined(visitor.to_cookie(state.settings.is_secure()), to)))
}

/// Whoever cannot come in: all places are taken, or it is not the time.
pub async fn turned_away(
    State(state): State<Participants>,
    Path(end): Path<String>,
    headers: HeaderMap,
) -> Response {
    let frame = state.outside(&headers);
    let Some(panel) = &state.study().panel else { return missing(State(state.clone()), headers).await };
    let now = state.service.now();
    let message = match end.as_str() {
        "full" => Message::full(frame, (&panel.full).into()),
        "closed" if state.draft || panel.is_early(now) => Message::early(frame, (&panel.closed).into()),
        "closed" if panel.is_over(now) => Message::over(frame, (&panel.closed).into()),
        "closed" => Message::nameless(frame),
        _ => return missing(State(state.clone()), headers).await,
    };
    Reply::Page(StatusCode::OK, render(&message)).respond(false, None)
}

/// What a browser passes along belongs to whoever it says: the token follows from the name.
fn is_own(state: &Participants, visitor: &Visitor, panel: &Panel) -> bool {
    let id = state.study().panel.as_ref().and_then(|settings| panel.0.get(&settings.id));
    id.is_some_and(|id| state.service.panel_token(id).is_ok_and(|token| token == visitor.token()))
}

/// What somebody takes along who has answered everything.
pub fn done(participant: &Participant) -> Option<Ending> {
    let panel = participant.design().study().panel.as_ref().filter(|_| participant.came_by_panel());
    panel.map(|panel| (&panel.done).into())
}

/// The page of somebody who comes again after the end.
pub fn again(participant: &Participant, frame: &Frame) -> Option<Message> {
    let panel = participant.design().study().panel.as_ref().filter(|_| participant.came_by_panel())?;
    Some(Message::again(frame.clone(), panel.already.as_ref().unwrap_or(&panel.done).into()))
}

/// What a panel passed along of somebody who agrees; nothing if it is somebody else's: nobody agrees in another's name.
pub fn passed(state: &Participants, visitor: &Visitor, panel: &Panel) -> BTreeMap<String, String> {
    let named = state.study().panel.as_ref().is_some_and(|settings| panel.0.contains_key(&settings.id));
    if named && !is_own(state, visitor, panel) { BTreeMap::new() } else { panel.0.clone() }
}

/// What somebody takes along who does not want to take part, or not any more. Of whoever was erased nothing is known but what
/// their browser says.
fn withdrew(state: &Participants, visitor: &Visitor, panel: &Panel, sent: bool) -> Option<Ending> {
    let settings = state.study().panel.as_ref()?;
    (sent || is_own(state, visitor, panel)).then(|| (&settings.withdrew).into())
}

/// The page of somebody who does not agree.
pub fn declined(
    state: &Participants,
    visitor: &Visitor,
    panel: &Panel,
    participant: &Participant,
    frame: Frame,
) -> Message {
    Message::declined(frame).ending(withdrew(state, visitor, panel, participant.came_by_panel()))
}

/// The page of somebody who has left.
pub fn withdrawn(state: &Participants, visitor: &Visitor, panel: &Panel, frame: Frame) -> Message {
    let end = withdrew(state, visitor, panel, false);
    Message::withdrawn(frame, state.service.is_settled()).ending(end)
}

/// What somebody takes along who is not whom the panel was asked for.
pub fn screened(state: &Participants) -> Ending {
    state.study().panel.as_ref().map_or_else(Ending::default, |panel| (&panel.screened).into())
}
