//! All there is about one participant, for them (GDPR, articles 15 and 20).

use crate::contacts::Contact;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::numbers::when;
use crate::participant::Participant;
use equipoise_log::Row;
use serde::Serialize;
use serde_json::Value;

/// All there is about a participant.
#[derive(Debug, Serialize)]
pub struct Person {
    /// The version of the document, 1.
    pub format: u64,
    /// The study's name.
    pub study: String,
    /// What participants read at the top.
    pub title: String,
    /// The version of the study they were invited to.
    pub version: u64,
    /// What exports call them.
    pub participant: u64,
    /// The text they agreed to, in their language, if it is still the one of the study.
    pub agreed_to: Option<String>,
    /// Who they are, if that is known.
    pub contact: Contact,
    /// Every event of theirs, as the log has it.
    pub events: Vec<Happened>,
}

/// Something that happened.
#[derive(Debug, Serialize)]
pub struct Happened {
    /// Its number among the participant's events.
    pub seq: u64,
    /// When it was written, in universal time.
    pub at: String,
    /// What it was sent with.
    pub key: String,
    /// What proves that it is in the log.
    pub receipt: String,
    /// The event.
    pub event: Value,
}

/// All there is about a participant: the rows of their session, and what is known of who they are.
pub fn person(participant: &Participant, rows: &[Row], contact: &Contact) -> Result<Person> {
    let Some(invited) = participant.invited().filter(|_| !participant.erased()) else {
        return Err(Error::Missing("the participant was erased: there is nothing left".to_owned()));
    };
    let mut agreed = None;
    let mut events = vec![];
    for row in rows {
        if let Some(Event::ConsentGiven { text, .. }) = Event::in_row(row)? {
            agreed = Some(text);
        }
        let body = row.payload.as_ref().map_or("null", |payload| &payload.body);
        events.push(Happened {
            seq: row.seq,
            at: when(row.at),
            key: row.key.clone(),
            receipt: row.receipt().to_string(),
            event: serde_json::from_str(body)
                .map_err(|e| Error::Missing(format!("event {} cannot be read: {e}", row.seq)))?,
        });
    }
    let (study, language) = (participant.design().study(), participant.language());
    let mut known = participant.external().clone();
    known.extend(contact.clone());
    Ok(Person {
        format: equipoise::FORMAT,
        study: study.name.clone(),
        title: study.title.r#in(language).to_owned(),
        version: invited.version,
        participant: invited.number,
        agreed_to: agreed
            .filter(|hash| *hash == participant.consent_hash())
            .map(|_| study.consent.text.r#in(language).to_owned()),
        contact: known,
        events,
    })
}
