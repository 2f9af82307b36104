//! How people come in: links for one person each, and one address for everybody a panel sends.

use super::counted;
use crate::participant::{link, panel_address};
use crate::researcher::call::{Call, Outcome, Problem, page as show};
use crate::researcher::frame::{Frame, when};
use askama::Template;
use axum::http::header;
use axum::response::IntoResponse as _;
use equipoise_study::event::Action;
use equipoise_study::numbers::{grouped, moment};
use equipoise_study::study::{End, Panel};

/// At most so many at once; more are made on the command line.
const MOST: usize = 500;

#[derive(Template)]
#[template(path = "researcher/links.html")]
struct Page {
    frame: Frame,
    most: usize,
    problem: Option<String>,
    /// Number and link of each that was just made, or is shown again.
    made: Vec<(u64, String)>,
    kept: bool,
    heading: String,
    unopened: String,
    completion: Option<String>,
    parameters: Vec<String>,
    /// What a panel adds to every link.
    suffix: String,
    panel: Option<Entry>,
    places: Vec<Place>,
}

/// The address for everybody.
struct Entry {
    address: String,
    facts: Vec<(&'static str, String)>,
    ends: Vec<Way>,
}

/// A way it can end.
struct Way {
    name: &'static str,
    code: String,
    url: String,
}

/// A place and how far whoever has it is.
struct Place {
    number: u64,
    state: String,
    /// Whether the link can be shown again.
    kept: bool,
}

/// What was just made, or is shown again.
#[derive(Default)]
struct Shown {
    links: Vec<(u64, String)>,
    heading: String,
    kept: bool,
}

fn content(call: &Call<'_>, problem: Option<String>, shown: Shown) -> Result<Page, Problem> {
    let seen = call.counted()?;
    let completion = &call.study().completion;
    let parameters = completion.parameters.clone();
    let parts: Vec<String> = parameters.iter().map(|name| format!("{name}={{{{%{name}%}}}}")).collect();
    let kept = call.shared.service.contacts().links()?;
    let place = |line: &std::sync::Arc<crate::researcher::watch::Line>| {
        let waits = !line.completed && !line.gone;
        Some(Place {
            number: line.person.number?,
            state: line.person.step.clone(),
            kept: waits && kept.contains_key(&line.session),
        })
    };
    Ok(Page {
        frame: call.frame("/participants/links"),
        most: MOST,
        problem,
        heading: shown.heading,
        kept: shown.kept,
        made: shown.links,
        unopened: counted(seen.count(|line| line.person.step == "not opened"), "link", "links"),
        completion: completion.url.clone(),
        suffix: if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) },
        parameters,
        panel: call.study().panel.as_ref().map(|panel| entry(call, panel)).transpose()?,
        places: seen.people.iter().filter_map(place).collect(),
    })
}

fn entry(call: &Call<'_>, panel: &Panel) -> Result<Entry, Problem> {
    let (service, now) = (&call.shared.service, call.shared.service.now());
    let taken = service.panel_taken()?;
    let at = |text: &Option<String>| text.as_deref().and_then(moment).map(when);
    let state = match (panel.is_early(now), panel.is_over(now), panel.quota) {
        (true, ..) => "not open yet",
        (_, true, _) => "closed",
        (.., Some(quota)) if taken >= quota => "full",
        _ => "open",
    };
    let places = match panel.quota {
        Some(quota) => format!("{} of {}", grouped(taken), grouped(quota)),
        None => grouped(taken),
    };
    let mut facts = vec![("Now", state.to_owned()), ("Places taken", places)];
    facts.extend(at(&panel.opens).map(|at| ("Opens", at)));
    facts.extend(at(&panel.closes).map(|at| ("Closes", at)));
    let way = |name: &'static str, end: &End| Way {
        name,
        code: end.code.clone().unwrap_or_default(),
        url: end.address().unwrap_or_default(),
    };
    let ends = vec![
        way("done", &panel.done),
        way("done already", panel.already.as_ref().unwrap_or(&panel.done)),
        way("screened out", &panel.screened),
        way("withdrew, or did not agree", &panel.withdrew),
        way("all places taken", &panel.full),
        way("not open", &panel.closed),
    ];
    let address = panel_address(&call.shared.settings.participants, call.study()).unwrap_or_default();
    Ok(Entry { address, facts, ends })
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    Ok(show(&content(call, None, Shown::default())?))
}

/// Makes places. The links are in this response, and with the contact data if that is wanted; nowhere else.
pub fn make(call: &Call<'_>) -> Outcome {
    if call.shared.draft.get().is_some() {
        return Err(Problem::Closed(
            "The study is not locked yet, so nobody can take part. Lock it first, in Design.",
        ));
    }
    let form = &call.sent.form;
    let Some(count) = form.number::<usize>("count").filter(|count| (1..=MOST).contains(count)) else {
        let problem = format!("Expected a whole number from 1 to {MOST}.");
        let page = content(call, Some(problem), Shown::default())?;
        return Ok((axum::http::StatusCode::UNPROCESSABLE_ENTITY, show(&page)).into_response());
    };
    call.spend()?;
    let invitations = call.shared.service.invite(count)?;
    let first = invitations.first().map_or(0, |invitation| invitation.number);
    call.note(Action::MadeLinks { first, count: count as u64 })?;
    let kept = form.get("keep") == "yes";
    if kept {
        for made in &invitations {
            call.shared.service.contacts().keep_link(&made.session, &made.token)?;
        }
    }
    call.shared.watch.at_once()?;
    let origin = &call.shared.settings.participants;
    let links: Vec<(u64, String)> =
        invitations.iter().map(|made| (made.number, link(origin, &made.token))).collect();
    if form.get("as") == "csv" {
        let rows: String = links.iter().map(|(number, link)| format!("{number},{link}\n")).collect();
        let named = [
            (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
            (header::CONTENT_DISPOSITION, "attachment; filename=\"links.csv\""),
        ];
        return Ok((named, format!("participant,link\n{rows}")).into_response());
    }
    let heading = counted(links.len(), "new link", "new links");
    Ok(show(&content(call, None, Shown { links, heading, kept })?))
}

/// Shows a link that was kept, for somebody who has lost it.
pub fn again(call: &Call<'_>) -> Outcome {
    let number = call.sent.form.number::<u64>("participant").ok_or(Problem::Missing)?;
    let seen = call.counted()?;
    let line = seen.person(number).ok_or(Problem::Missing)?;
    let links = call.shared.service.contacts().links()?;
    let token = links.get(&line.session).ok_or(Problem::Missing)?;
    call.note(Action::LinkShown { participant: number })?;
    let links = vec![(number, link(&call.shared.settings.participants, token))];
    let heading = format!("The link of participant {number}");
    Ok(show(&content(call, None, Shown { links, heading, kept: true })?))
}
