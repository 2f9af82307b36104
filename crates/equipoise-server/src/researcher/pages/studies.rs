//! The first page: the study that is served, and how far it is.

use crate::researcher::call::{Call, Outcome, page as show};
use crate::researcher::frame::{Frame, when};
use askama::Template;
use equipoise_study::numbers::grouped;

#[derive(Template)]
#[template(path = "researcher/studies.html")]
struct Studies {
    frame: Frame,
    name: String,
    version: u64,
    hash: String,
    locked: Option<String>,
    facts: Vec<(&'static str, String)>,
    blinded: bool,
    participants: String,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    let seen = call.counted()?;
    let (study, hash) = (call.study(), call.shared.service.design().hash());
    let count = |number: usize| grouped(number as u64);
    let facts = vec![
        ("invited", count(seen.people.len())),
        ("agreed to take part", count(seen.count(|line| line.consented))),
        ("at it now", count(seen.count(|line| line.consented && !line.completed && !line.gone))),
        ("done", count(seen.count(|line| line.completed && !line.gone))),
        ("withdrew or were erased", count(seen.count(|line| line.gone))),
        ("comparisons answered", count(seen.answers())),
        ("of another version", count(seen.count(|line| !line.current && !line.gone))),
    ];
    let locked = seen.locked.iter().find(|(_, _, locked)| locked == hash).map(|(at, _, _)| when(*at));
    Ok(show(&Studies {
        frame: call.frame("/"),
        name: study.name.clone(),
        version: study.version,
        hash: hash.to_owned(),
        locked,
        facts,
        blinded: seen.blinded,
        participants: call.shared.settings.participants.clone(),
    }))
}
