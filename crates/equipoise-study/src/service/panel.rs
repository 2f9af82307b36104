//! People whom a panel sends to one address: a place for each, no more places than there may be.
//!
//! A place belongs to whoever the panel knows by a name. The token that opens it is made of that name and the key of the contact
//! data, so that the same person comes to the same place from any device, and the log alone tells nobody whose it is.

use super::{Service, lock};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::invitation::{self, Invitation};
use crate::participant::{Participant, Refusal, Step};
use crate::study::{Panel, Position, Study};
use equipoise_log::{Appended, Group, Reader, Store, Transaction, each_after, transact};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What becomes of somebody whom a panel sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entered {
    /// They may come in, or go on: with this token.
    Open(String),
    /// They have answered everything, earlier.
    Done(String),
    /// There is no place left.
    Full,
    /// It has not begun.
    Early,
    /// It is over.
    Over,
}

/// Places that people of a panel hold, as far as the log was read.
#[derive(Debug, Default)]
pub(super) struct Places {
    read: u64,
    held: BTreeMap<String, Held>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    since: i64,
    agreed: bool,
}

impl Places {
    /// Reads on from where it was.
    fn read_on(&mut self, study: &Study, log: &dyn Reader) -> Result<()> {
        each_after(log, self.read, |row| {
            self.read = row.position;
            let body = row.payload.as_ref().map_or("", |payload| payload.body.as_str());
            // Most rows need not be read to see that they are something else.
            if !["\"invited\"", "\"consent_given\"", "\"questionnaire_answered\""]
                .iter()
                .any(|e| body.contains(e))
            {
                return Ok(());
            }
            match Event::in_row(&row)? {
                Some(Event::Invited(invited)) if invited.panel => {
                    self.held.insert(row.session, Held { since: row.at, agreed: false });
                }
                Some(Event::ConsentGiven { .. }) => {
                    self.held.entry(row.session).and_modify(|held| held.agreed = true);
                }
                Some(Event::QuestionnaireAnswered { position: Position::Before, answers })
                    if study.panel.as_ref().is_some_and(|panel| panel.screens_out(study, &answers)) =>
                {
                    self.held.remove(&row.session);
                }
                _ => {}
            }
            Ok::<_, Error>(())
        })
    }

    /// How many there are but for somebody's own: of those who have not agreed, only if they came lately.
    fn taken(&self, own: &str, lately: i64) -> u64 {
        let counts = |held: &Held| held.agreed || held.since > lately;
        self.held.iter().filter(|(session, held)| *session != own && counts(held)).count() as u64
    }
}

impl Service {
    /// Lets somebody in whom a panel knows by this name: to the place they have, or to a new one.
    pub fn enter(&self, name: &str) -> Result<Entered> {
        let panel = self.panel()?;
        let token = self.panel_token(name)?;
        let now = self.clock.now();
        if let Some(session) = self.open(&token)? {
            let (step, waits) = self.peek(&session, |person| (person.step(), !person.consented()))?;
            return match step {
                Step::Result => Ok(Entered::Done(token)),
                Step::Screened | Step::Withdrawn => Ok(Entered::Open(token)),
                // A place that nobody agreed to take is nobody's after a while.
                _ if waits && self.has_lapsed(&session, panel, now)? => {
                    if panel.is_over(now) {
                        return Ok(Entered::Over);
                    }
                    let room = self.with_room(panel, session, |_| Ok(()))?;
                    Ok(room.map_or(Entered::Full, |()| Entered::Open(token)))
                }
                _ => Ok(Entered::Open(token)),
            };
        }
        if panel.is_early(now) {
            return Ok(Entered::Early);
        }
        if panel.is_over(now) {
            return Ok(Entered::Over);
        }
        let (design, drawn) = (self.design.clone(), self.drawn(&token)?);
        let session = drawn.session.clone();
        let make = move |log: &mut Transaction<'_>| {
            let mut begun = log.begun()?;
            super::place::make(log, &design, drawn, &mut begun, true)
        };
        Ok(match self.with_room(panel, session, make)? {
            Some(Invitation { token, .. }) => Entered::Open(token),
            None => Entered::Full,
        })
    }

    /// The token of whoever a panel knows by this name.
    pub fn panel_token(&self, name: &str) -> Result<String> {
        self.contacts.token(name)
    }

    /// How many places of the panel are taken.
    pub fn panel_taken(&self) -> Result<u64> {
        let panel = self.panel()?;
        let (places, study, lately) = (self.places.clone(), self.design.clone(), self.lately(panel));
        let log = self.writer.reader()?;
        let mut places = lock(&places);
        places.read_on(study.study(), &*log)?;
        let gone = log.spent()?;
        places.held.retain(|session, _| !gone.contains(session));
        Ok(places.taken("", lately))
    }

    /// Keeps what a panel passed along of somebody who agreed on another device, where it was not known.
    pub fn know(&self, token: &str, contact: &crate::contacts::Contact) -> Result<()> {
        let session = invitation::session_of(token);
        let agreed =
            self.peek(&session, |person| person.consented() && !person.erased() && !person.withdrawn())?;
        if agreed
            && self.contacts.get(&session)?.is_none_or(|known| contact.keys().any(|k| !known.contains_key(k)))
        {
            self.contacts.add(&session, contact)?;
        }
        Ok(())
    }

    /// Appends what somebody sent, unless it is a consent to a place that was given to somebody else meanwhile.
    pub(super) fn append_in_place(
        &self,
        person: &Participant,
        event: &Event,
        group: Group,
    ) -> Result<Appended> {
        let Some(panel) = self.design.study().panel.as_ref().filter(|_| person.came_by_panel()) else {
            return Ok(self.writer.append(group)?);
        };
        let now = self.clock.now();
        let late =
            matches!(event, Event::ConsentGiven { .. }) && self.has_lapsed(person.session(), panel, now)?;
        if !late {
            return Ok(self.writer.append(group)?);
        }
        let session = group.session.clone();
        self.with_room(panel, session, move |log| Ok(log.append(&group)?))?
            .ok_or_else(|| Refusal::Full.into())
    }

    fn panel(&self) -> Result<&Panel> {
        let none = || Error::Missing("the study file has no panel".to_owned());
        self.design.study().panel.as_ref().ok_or_else(none)
    }

    /// Who came before this and has not agreed has lost the place.
    fn lately(&self, panel: &Panel) -> i64 {
        self.clock.now().saturating_sub(panel.hold_ms())
    }

    fn has_lapsed(&self, session: &str, panel: &Panel, now: i64) -> Result<bool> {
        let came = self.read(|log| Ok(log.session(session)?.first().map(|row| row.at)))?;
        Ok(came.is_some_and(|at| at <= now.saturating_sub(panel.hold_ms())))
    }

    /// Does something in one transaction if there is room for a session; `None` if there is not.
    ///
    /// Counting and writing are one: rows that others write between are read, and counted again.
    fn with_room<T: Send + 'static>(
        &self,
        panel: &Panel,
        session: String,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let (places, design, lately) = (self.places.clone(), self.design.clone(), self.lately(panel));
        let quota = panel.quota.unwrap_or(u64::MAX);
        self.writer.with(move |store: &mut dyn Store| {
            let mut work = Some(work);
            loop {
                let mut places = lock(&places);
                places.read_on(design.study(), store)?;
                if places.taken(&session, lately) >= quota {
                    // Those who have left are told by their names alone.
                    let gone = store.spent()?;
                    places.held.retain(|session, _| !gone.contains(session));
                }
                if places.taken(&session, lately) >= quota {
                    return Ok(None);
                }
                let read = places.read;
                drop(places);
                let done = transact(store, |log| match log.head()?.position == read {
                    true => work.take().map(|work| work(log)).transpose(),
                    false => Ok::<_, Error>(None),
                })?;
                if done.is_some() {
                    return Ok(done);
                }
            }
        })
    }
}

/// Shared by the thread that writes and those who look.
pub(super) type Shared = Arc<Mutex<Places>>;
