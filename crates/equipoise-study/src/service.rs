//! Where a study is conducted: events come in, are checked, written, and acknowledged.
//!
//! This is all a server needs: [`Service::invite`], [`Service::open`], [`Service::look`] and [`Service::record`]. It keeps the state
//! of participants it has met in memory; the log is the truth, and what is in memory can be dropped at any time.

mod panel;
mod place;
mod servers;

pub use panel::Entered;

use crate::audit;
use crate::cache::Cache;
use crate::contacts::{Contact, Contacts, LABEL};
use crate::design::Design;
use crate::error::{Error, Result};
use crate::event::{Action, Admin, Event};
use crate::forecaster::Forecaster;
use crate::integrity::tombstone;
use crate::invitation::{self, Invitation};
use crate::participant::{Participant, Refusal, Step};
use crate::retention::{self, Due};
use crate::seams::{Clock, Random};
use equipoise_log::{
    Appended, COMMON_SESSION, Entry, Group, Payload, Reader, Receipt, Row, Why, Writer, each, erased, hex,
    settled, transact,
};
use place::{Drawn, make};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What became of an event that was sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Recorded {
    /// It is in the log, synced.
    New(Receipt),
    /// An event with this key was there already: this one, which may differ from what was sent. Same receipt as then.
    Known(Receipt, Box<Event>),
}

impl Recorded {
    /// The receipt.
    pub fn receipt(&self) -> Receipt {
        match self {
            Recorded::New(receipt) | Recorded::Known(receipt, _) => *receipt,
        }
    }
}

/// So many places are made in one transaction.
const TOGETHER: usize = 1000;

/// A study in progress.
pub struct Service {
    design: Arc<Design>,
    /// Beside the thread that writes: those who look hold up nobody who answers. Closed before the writer, which tidies up
    /// after itself only if it is the last.
    reader: Mutex<Option<Box<dyn Reader + Send>>>,
    writer: Writer,
    clock: Box<dyn Clock>,
    random: Arc<dyn Random>,
    cache: Mutex<Cache>,
    contacts: Contacts,
    /// Whether a file may still hold what was erased.
    unsettled: AtomicBool,
    forecaster: Option<Forecaster>,
    /// Who holds a place that a panel was given.
    places: panel::Shared,
}

/// What was put in order about contact data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tidied {
    /// People whose contact data were moved out of the log.
    pub moved: usize,
    /// People who were erased and whose contact data had come back, with a copy of the file.
    pub removed: usize,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("study", &self.design.study().name).finish_non_exhaustive()
    }
}

impl Service {
    /// Conducts a study, writing to a log.
    pub fn new(
        design: Arc<Design>,
        writer: Writer,
        clock: impl Clock + 'static,
        random: impl Random + 'static,
    ) -> Self {
        let (clock, random) = (Box::new(clock), Arc::new(random));
        let contacts = Contacts::in_memory();
        let (reader, cache, unsettled) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        let places = panel::Shared::default();
        Self { design, writer, clock, random, reader, cache, contacts, unsettled, forecaster: None, places }
    }

    /// With contact data that stay: without, they are gone with the process. Either way they are not in the log.
    #[must_use]
    pub fn with_contacts(self, contacts: Contacts) -> Self {
        Self { contacts, ..self }
    }

    /// With a thread that imagines how many comparisons are left while people think about one: that takes longer than
    /// anybody should wait for the next. For servers; elsewhere the same answers lead to the same comparisons.
    #[must_use]
    pub fn forecasting_meanwhile(self) -> Self {
        Self { forecaster: Some(Forecaster::start(self.design.clone())), ..self }
    }

    /// Who somebody is: for owners alone.
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// Now, by the study's clock.
    pub fn now(&self) -> i64 {
        self.clock.now()
    }

    /// The study.
    pub fn design(&self) -> &Arc<Design> {
        &self.design
    }

    /// The log's writing thread.
    pub fn writer(&self) -> &Writer {
        &self.writer
    }

    /// Writes down that the study is locked as it is now; once per version.
    pub fn lock(&self) -> Result<Receipt> {
        let (version, hash) = (self.design.study().version, self.design.hash().to_owned());
        let key = format!("lock-{version}");
        self.study_event(&key, &Event::Locked { version, hash })
    }

    /// Makes places for some more participants. Variants are balanced among them in blocks.
    pub fn invite(&self, count: usize) -> Result<Vec<Invitation>> {
        let tokens = (0..count).map(|_| invitation::token(&*self.random)).collect::<Result<Vec<_>>>()?;
        let mut invitations = vec![];
        for some in tokens.chunks(TOGETHER) {
            invitations.extend(self.invite_tokens(some)?);
        }
        Ok(invitations)
    }

    /// Makes a place for each of some people; who each is goes to the contact data.
    pub fn invite_people(&self, labels: &[String]) -> Result<Vec<Invitation>> {
        let invitations = self.invite(labels.len())?;
        for (invitation, label) in invitations.iter().zip(labels) {
            self.contacts.add(&invitation.session, &[(LABEL.to_owned(), label.clone())].into())?;
        }
        Ok(invitations)
    }

    /// Makes a place for whoever holds a token; does nothing if there is one.
    pub fn invite_token(&self, token: String) -> Result<Invitation> {
        Ok(self.invite_tokens(&[token])?.remove(0))
    }

    /// Makes places in one transaction.
    fn invite_tokens(&self, tokens: &[String]) -> Result<Vec<Invitation>> {
        let places = tokens.iter().map(|token| self.drawn(token)).collect::<Result<Vec<_>>>()?;
        let design = self.design.clone();
        self.writer.with(move |store| {
            transact(store, |log| {
                let mut begun = log.begun()?;
                let mut make = |place| make(log, &design, place, &mut begun, false);
                places.into_iter().map(&mut make).collect()
            })
        })
    }

    /// All that is drawn for a place.
    fn drawn(&self, token: &str) -> Result<Drawn> {
        let (session, at) = (invitation::session_of(token), self.clock.now());
        Ok(Drawn { token: token.to_owned(), session, salt: self.salt()?, seed: self.draw()?, at })
    }

    /// The session a token opens; `None` if there is no such place.
    pub fn open(&self, token: &str) -> Result<Option<String>> {
        let session = invitation::session_of(token);
        self.notice_erasure(&session)?;
        if self.cache().has(&session) {
            return Ok(Some(session));
        }
        let known = self.read(|log| Ok(!log.session(&session)?.is_empty() || log.is_spent(&session)?))?;
        Ok(known.then_some(session))
    }

    /// Looks at a participant's state. If a comparison is next, it has been written to the log before it is seen here.
    pub fn look<T>(&self, session: &str, f: impl FnOnce(&Participant) -> T) -> Result<T> {
        let mut f = Some(f);
        self.again_after_others(|| self.look_once(session, &mut f))
    }

    fn look_once<T>(&self, session: &str, f: &mut Option<impl FnOnce(&Participant) -> T>) -> Result<T> {
        let place = self.participant(session)?;
        let mut participant = lock(&place);
        if participant.step() == Step::Compare && participant.pending().is_none() {
            let mut next = participant.clone();
            let mut entries = vec![];
            self.ask(&mut next, &mut entries)?;
            let after = Some(participant.events());
            match self.writer.append(Group { session: session.to_owned(), after, entries }) {
                Ok(Appended::New(_)) => {
                    *participant = next;
                    self.imagine(&place, &participant);
                }
                failed => {
                    self.forget(session);
                    failed?;
                    return Err(equipoise_log::Error::Conflict.into());
                }
            }
        }
        let f = f.take().ok_or_else(|| Error::storage("somebody was looked at twice"))?;
        Ok(f(&participant))
    }

    /// Looks at a participant's state without asking anything: for those who watch.
    pub fn peek<T>(&self, session: &str, f: impl FnOnce(&Participant) -> T) -> Result<T> {
        self.notice_erasure(session)?;
        let participant = self.participant(session)?;
        let participant = lock(&participant);
        Ok(f(&participant))
    }

    /// Takes an event from a participant's device: checks it, writes it, and returns when it is synced.
    ///
    /// `key` makes sending it again harmless: the first one stands, and its receipt is returned. The comparison that
    /// follows from an answer is written together with it.
    pub fn record(&self, session: &str, device: &str, key: &str, event: &Event) -> Result<Recorded> {
        self.again_after_others(|| self.record_once(session, device, key, event))
    }

    fn record_once(&self, session: &str, device: &str, key: &str, event: &Event) -> Result<Recorded> {
        let place = self.participant(session)?;
        let mut participant = lock(&place);
        // A key that is known needs no permission: it asks for the receipt again.
        if let Some(row) = self.known(session, key, &participant, device, event)? {
            return known(&row);
        }
        if *event == Event::Withdrawn {
            return self.withdraw(session, key).map(Recorded::New);
        }
        let mut next = participant.clone();
        let mut entries = vec![];
        let (event, contact) = apart(event);
        self.apply(&mut next, &mut entries, key.to_owned(), &event)?;
        if next.step() == Step::Compare && next.pending().is_none() {
            self.ask(&mut next, &mut entries)?;
        }
        // First, so that whoever agreed is known; if the consent cannot be written, it was not kept.
        let before = contact.map(|contact| self.contacts.add(session, &contact)).transpose()?;
        let after = Some(participant.events());
        let group = Group { session: session.to_owned(), after, entries };
        match self.append_in_place(&participant, &event, group) {
            Ok(Appended::New(rows)) => {
                *participant = next;
                self.imagine(&place, &participant);
                Ok(Recorded::New(rows[0].receipt()))
            }
            Ok(Appended::Known(row)) => known(&row),
            // The log has moved on without this process knowing, or whether it has is not known: read it again.
            Err(error) => {
                self.forget(session);
                // Unless it was this consent that another server has taken meanwhile.
                let taken = || self.participant(session).is_ok_and(|place| lock(&place).consented());
                if let Some(before) = before
                    && !taken()
                {
                    self.contacts.set(session, before.as_ref())?;
                }
                Err(error)
            }
        }
    }

    /// The row with this key, looked for only where the event would be refused or a key could be known.
    fn known(
        &self,
        session: &str,
        key: &str,
        participant: &Participant,
        device: &str,
        event: &Event,
    ) -> Result<Option<Row>> {
        let Err(refusal) = participant.allows(device, event) else { return Ok(None) };
        let rows = self.read(|log| Ok(log.session(session)?))?;
        match rows.into_iter().find(|row| row.key == key) {
            Some(row) => Ok(Some(row)),
            None => Err(refusal.into()),
        }
    }

    /// Ends somebody's part and deletes all of theirs, in one transaction.
    fn withdraw(&self, session: &str, key: &str) -> Result<Receipt> {
        let left = Event::Withdrawn.to_entry(key, self.clock.now(), &*self.random)?;
        let receipt = self.end(session, Some(left))?;
        // Whoever reads may be in the way of the last step; it is done later then, and not said to be done before.
        match self.settle() {
            Err(error) if error.why() != Some(Why::Busy) => Err(error),
            _ => Ok(receipt),
        }
    }

    /// Deletes all that a participant ever sent, and who they are; the chain stays whole.
    pub fn erase(&self, session: &str) -> Result<Receipt> {
        let receipt = self.end(session, None)?;
        self.settle()?;
        Ok(receipt)
    }

    /// Deletes all of somebody's, also a last event that is written first; [`Service::settle`] is left to do.
    fn end(&self, session: &str, last: Option<Entry>) -> Result<Receipt> {
        let (tombstone, place) = (tombstone(&*self.clock, &*self.random)?, session.to_owned());
        let row = self.writer.with(move |store| equipoise_log::erase(store, &place, last, &tombstone))?;
        self.forget(session);
        // After the answers: contact data that cannot be read keep nobody from being erased.
        self.contacts.remove(session)?;
        Ok(row.receipt())
    }

    /// Waits until no file holds what was erased, while others go on writing.
    pub fn settle(&self) -> Result<()> {
        self.unsettled.store(true, Ordering::SeqCst);
        settled(|| self.writer.with(|store| store.settle()))?;
        self.unsettled.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Whether no file holds what was erased, as far as is known.
    pub fn is_settled(&self) -> bool {
        !self.unsettled.load(Ordering::SeqCst)
    }

    /// Ends what older releases left undone: people who withdrew and were not erased. How many there were.
    pub fn finish_withdrawals(&self) -> Result<usize> {
        let mut left = vec![];
        each(&*self.writer.reader()?, |row| {
            let payload = row.payload.as_ref().filter(|payload| payload.body.contains("\"withdrawn\""));
            if payload.is_some() && Event::in_row(&row)? == Some(Event::Withdrawn) {
                left.push(row.session);
            }
            Ok::<_, Error>(())
        })?;
        for session in &left {
            self.end(session, None)?;
        }
        if !left.is_empty() {
            self.settle()?;
        }
        Ok(left.len())
    }

    /// Puts contact data in order: moves out of the log what older releases wrote there, and deletes again what a copied
    /// file brought back of people who were erased. Reads the whole log.
    pub fn tidy_contacts(&self) -> Result<Tidied> {
        let log = self.writer.reader()?;
        let (held, gone) = (holding(&*log)?, erased(&*log)?);
        let moved = held.len();
        for (position, session, event) in held {
            let (event, contact) = apart(&event);
            if let Some(contact) = contact {
                self.contacts.add(&session, &contact)?;
            }
            let payload = Payload { salt: self.salt()?, body: event.body() };
            let commitment = hex::encode(&payload.commitment());
            let record = Event::ContactMoved { position, commitment };
            let record =
                record.to_entry(format!("contact-moved-at-{position}"), self.clock.now(), &*self.random)?;
            let group = Group { session: COMMON_SESSION.to_owned(), after: None, entries: vec![record] };
            self.writer.with(move |store| {
                transact(store, |log| {
                    log.replace(position, &payload)?;
                    log.append(&group)
                })
            })?;
            self.forget(&session);
        }
        if moved > 0 {
            self.settle()?;
        }
        Ok(Tidied { moved, removed: self.contacts.remove_all(&gone)? })
    }

    /// Who is past the time the study keeps data for.
    pub fn due(&self, now: i64) -> Result<Due> {
        let rule = self.design.study().retention;
        if rule.is_none() {
            return Ok(Due::default());
        }
        let mut due = retention::due(rule, &*self.writer.reader()?, now)?;
        let known = self.contacts.sessions()?;
        due.contacts.retain(|session| known.contains(session));
        Ok(due)
    }

    /// Deletes what is past its time: contact data of some, all of others. `who` is written down with what was deleted,
    /// before it is.
    ///
    /// A clock far beyond what the log has seen may be wrong: then nothing is deleted ([`Due::doubt`]) unless `sure`.
    pub fn retain(&self, now: i64, who: &str, sure: bool) -> Result<Due> {
        let due = self.due(now)?;
        if due.doubt.is_some() && !sure {
            return Ok(due);
        }
        if due.worth_a_row || (sure && due.doubt.is_some()) {
            let (contacts, people) = (due.contacts.len() as u64, due.people.len() as u64);
            let event = Event::Admin(Admin::new(who, Action::Retained { contacts, people }));
            self.study_event_at(&format!("admin-{:013x}", self.draw()?), &event, now)?;
        }
        self.contacts.remove_all(&due.contacts)?;
        for session in &due.people {
            self.end(session, None)?;
        }
        if !due.people.is_empty() {
            self.settle()?;
        }
        Ok(due)
    }

    /// Writes down what a researcher did.
    pub fn note(&self, admin: Admin) -> Result<Receipt> {
        self.study_event(&format!("admin-{:013x}", self.draw()?), &Event::Admin(admin))
    }

    /// Writes down something about the study as a whole; does nothing if the key is known.
    fn study_event(&self, key: &str, event: &Event) -> Result<Receipt> {
        self.study_event_at(key, event, self.clock.now())
    }

    fn study_event_at(&self, key: &str, event: &Event, at: i64) -> Result<Receipt> {
        let (random, key, event) = (self.random.clone(), key.to_owned(), event.clone());
        let row = self.writer.with(move |store| audit::write(store, &key, &event, at, &*random))?;
        Ok(row.receipt())
    }

    fn ask(&self, participant: &mut Participant, entries: &mut Vec<Entry>) -> Result<()> {
        let Some(asked) = participant.next_question().cloned() else { return Ok(()) };
        let key = format!("asked-{}", participant.events() + 1);
        self.apply(participant, entries, key, &Event::Asked(asked))
    }

    /// Applies an event to a copy of the state and adds it to what is to be written.
    fn apply(
        &self,
        to: &mut Participant,
        entries: &mut Vec<Entry>,
        key: String,
        event: &Event,
    ) -> Result<()> {
        let entry = event.to_entry(key, self.clock.now(), &*self.random)?;
        to.apply(entry.at, event)?;
        entries.push(entry);
        Ok(())
    }

    fn participant(&self, session: &str) -> Result<Arc<Mutex<Participant>>> {
        let found = self.cache().get(session);
        if let Some(found) = found {
            if !self.writer.is_shared() || self.is_as_kept(&found)? {
                return Ok(found);
            }
            self.forget(session);
        }
        let (rows, gone) = self.read(|log| {
            let rows = log.session(session)?;
            let gone = rows.is_empty() && log.is_spent(session)?;
            Ok((rows, gone))
        })?;
        let mut participant = match (rows.is_empty(), gone) {
            (false, _) => Participant::fold(self.design.clone(), session, &rows)?,
            (true, true) => Participant::erased_one(self.design.clone(), session),
            (true, false) => return Err(Error::Missing("there is no such participant".to_owned())),
        };
        if self.forecaster.is_some() {
            participant.forecast_meanwhile();
        }
        Ok(self.cache().keep(participant))
    }

    /// Lets somebody's future be imagined, if it is time.
    fn imagine(&self, place: &Arc<Mutex<Participant>>, participant: &Participant) {
        if let (Some(forecaster), Some(_)) = (&self.forecaster, participant.to_imagine()) {
            forecaster.imagine(place);
        }
    }

    /// Reads the log beside the thread that writes it, as it is now.
    fn read<T>(&self, look: impl FnOnce(&dyn Reader) -> Result<T>) -> Result<T> {
        let mut reader = lock(&self.reader);
        let reader = match &mut *reader {
            Some(reader) => reader,
            none => none.insert(self.writer.reader()?),
        };
        look(&**reader)
    }

    /// The last row of a participant: what their receipt is for.
    pub fn last_row(&self, session: &str) -> Result<Option<Receipt>> {
        self.read(|log| Ok(log.session(session)?.last().map(Row::receipt)))
    }

    /// Drops what is in memory of a participant; the next look reads the log.
    pub fn forget(&self, session: &str) {
        self.cache().forget(session);
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Cache> {
        lock(&self.cache)
    }

    fn salt(&self) -> Result<[u8; 32]> {
        let mut salt = [0; 32];
        self.random.fill(&mut salt)?;
        Ok(salt)
    }

    fn draw(&self) -> Result<u64> {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes)?;
        // JSON readers elsewhere keep 53 bits of a number.
        Ok(u64::from_be_bytes(bytes) >> 11)
    }
}

/// An event as the log keeps it, and what it says about who somebody is.
fn apart(event: &Event) -> (Cow<'_, Event>, Option<Contact>) {
    match event {
        Event::ConsentGiven { text, device, external } if !external.is_empty() => {
            let (text, device) = (text.clone(), device.clone());
            let bare = Event::ConsentGiven { text, device, external: Contact::new() };
            (Cow::Owned(bare), Some(external.clone()))
        }
        other => (Cow::Borrowed(other), None),
    }
}

/// Consents that hold contact data: where, whose, and what.
fn holding(log: &dyn Reader) -> Result<Vec<(u64, String, Event)>> {
    let mut held = vec![];
    each(log, |row| {
        // Most rows need not be read to see that they are something else.
        if row.payload.as_ref().is_some_and(|payload| payload.body.contains("\"external\""))
            && let Some(event @ Event::ConsentGiven { .. }) = Event::in_row(&row)?
            && apart(&event).1.is_some()
        {
            held.push((row.position, row.session, event));
        }
        Ok::<_, Error>(())
    })?;
    Ok(held)
}

fn known(row: &Row) -> Result<Recorded> {
    let event = Event::in_row(row)?.ok_or(Refusal::Left)?;
    Ok(Recorded::Known(row.receipt(), Box::new(event)))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What a panicking thread held is replaced as a whole or not at all.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
