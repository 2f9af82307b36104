//! Where a study is conducted: events come in, are checked, written, and acknowledged.
//!
//! This is all a server needs: [`Service::invite`], [`Service::open`], [`Service::look`] and [`Service::record`]. It keeps the state
//! of participants it has met in memory; the log is the truth, and what is in memory can be dropped at any time.

use crate::audit;
use crate::contacts::{Contact, Contacts, LABEL};
use crate::design::Design;
use crate::error::{Error, Result};
use crate::event::{Admin, Event, Invited};
use crate::invitation::{self, Invitation};
use crate::log::{Appended, Draft, Payload, Receipt, Row, STUDY_SESSION, Store, Writer};
use crate::participant::{Participant, Refusal, Step};
use crate::retention::{self, Due};
use crate::schedule;
use crate::seams::{Clock, Random};
use rand::seq::SliceRandom as _;
use std::borrow::Cow;
use std::collections::HashMap;
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

type Cache = HashMap<String, Arc<Mutex<Participant>>>;

/// A study in progress.
pub struct Service {
    design: Arc<Design>,
    writer: Writer,
    clock: Box<dyn Clock>,
    random: Arc<dyn Random>,
    cache: Mutex<Cache>,
    contacts: Contacts,
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
        Self { design, writer, clock, random, cache: Mutex::default(), contacts }
    }

    /// With contact data that stay: without, they are gone with the process. Either way they are not in the log.
    #[must_use]
    pub fn with_contacts(self, contacts: Contacts) -> Self {
        Self { contacts, ..self }
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
        tokens.into_iter().map(|token| self.invite_token(token)).collect()
    }

    /// Makes a place for each of some people; who each is goes to the contact data.
    pub fn invite_people(&self, labels: &[String]) -> Result<Vec<Invitation>> {
        let mut invitations = vec![];
        for label in labels {
            let invitation = self.invite_token(invitation::token(&*self.random)?)?;
            self.contacts.add(&invitation.session, &[(LABEL.to_owned(), label.clone())].into())?;
            invitations.push(invitation);
        }
        Ok(invitations)
    }

    /// Makes a place for whoever holds a token; does nothing if there is one. A panel's participants come this way, with
    /// a token made of their identity and a secret.
    pub fn invite_token(&self, token: String) -> Result<Invitation> {
        let session = invitation::session_of(&token);
        let (salt, seed) = (self.salt()?, self.draw()?);
        let (at, design) = (self.clock.now(), self.design.clone());
        let place = session.clone();
        let number = self.writer.with(move |store| {
            if let Some(row) = store.session(&place)?.first() {
                return match row.event()? {
                    Some(Event::Invited(invited)) => Ok(invited.number),
                    _ => Err(Refusal::Left.into()),
                };
            }
            // Numbers follow the order of invitations, which the store alone knows.
            let number = store.sessions()?.len() as u64 + 1;
            let (version, study) = (design.study().version, design.hash().to_owned());
            let variant = variant(&design, number);
            let event = Event::Invited(Invited { study, version, number, variant, seed });
            let draft =
                Draft { session: place, seq: 1, key: "invited".to_owned(), at, salt, body: body(&event) };
            store.append(&[vec![draft]])?;
            Ok(number)
        })?;
        Ok(Invitation { number, session, token })
    }

    /// The session a token opens; `None` if there is no such place.
    pub fn open(&self, token: &str) -> Result<Option<String>> {
        let session = invitation::session_of(token);
        let known = self.cache().contains_key(&session) || !self.writer.session(&session)?.is_empty();
        Ok(known.then_some(session))
    }

    /// Looks at a participant's state. If a comparison is next, it has been written to the log before it is seen here.
    pub fn look<T>(&self, session: &str, f: impl FnOnce(&Participant) -> T) -> Result<T> {
        let participant = self.participant(session)?;
        let mut participant = lock(&participant);
        if participant.step() == Step::Compare && participant.pending().is_none() {
            let mut next = participant.clone();
            let mut drafts = vec![];
            self.ask(&mut next, &mut drafts)?;
            match self.writer.append(drafts)? {
                Appended::New(_) => *participant = next,
                _ => {
                    self.forget(session);
                    drop(participant);
                    return Err(Refusal::NotNow("another request was faster, try again".to_owned()).into());
                }
            }
        }
        Ok(f(&participant))
    }

    /// Looks at a participant's state without asking anything: for those who watch.
    pub fn peek<T>(&self, session: &str, f: impl FnOnce(&Participant) -> T) -> Result<T> {
        let participant = self.participant(session)?;
        let participant = lock(&participant);
        Ok(f(&participant))
    }

    /// Takes an event from a participant's device: checks it, writes it, and returns when it is synced.
    ///
    /// `key` makes sending it again harmless: the first one stands, and its receipt is returned. The comparison that
    /// follows from an answer is written together with it.
    pub fn record(&self, session: &str, device: &str, key: &str, event: &Event) -> Result<Recorded> {
        let place = self.participant(session)?;
        let mut participant = lock(&place);
        // A key that is known needs no permission: it asks for the receipt again.
        if let Some(row) = self.known(session, key, &participant, device, event)? {
            return known(&row);
        }
        let mut next = participant.clone();
        let mut drafts = vec![];
        let (event, contact) = apart(event);
        self.draft(&mut next, &mut drafts, key.to_owned(), &event)?;
        if next.step() == Step::Compare && next.pending().is_none() {
            self.ask(&mut next, &mut drafts)?;
        }
        // First, so that whoever agreed is known; if the consent cannot be written, it was not kept.
        let before = contact.map(|contact| self.contacts.add(session, &contact)).transpose()?;
        let undo = || before.as_ref().map_or(Ok(()), |before| self.contacts.set(session, before.as_ref()));
        match self.writer.append(drafts) {
            Ok(Appended::New(rows)) => {
                *participant = next;
                Ok(Recorded::New(rows[0].receipt()))
            }
            Ok(Appended::Known(row)) => known(&row),
            // The log has moved on without this process knowing, or whether it has is not known: read it again.
            Ok(Appended::Taken(_)) => {
                self.forget(session);
                undo()?;
                Err(Refusal::NotNow("another request was faster, try again".to_owned()).into())
            }
            Err(error) => {
                self.forget(session);
                undo()?;
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
        let rows = self.writer.session(session)?;
        match rows.into_iter().find(|row| row.key == key) {
            Some(row) => Ok(Some(row)),
            None => Err(refusal.into()),
        }
    }

    /// Deletes all that a participant ever sent, and who they are; the chain stays whole.
    pub fn erase(&self, session: &str) -> Result<Receipt> {
        self.contacts.remove(session)?;
        let record = Event::Erased { session: session.to_owned() };
        let (salt, at, place) = (self.salt()?, self.clock.now(), session.to_owned());
        let row = self.writer.with(move |store| crate::erasure::erase(store, &place, at, salt, &record))?;
        self.forget(session);
        Ok(row.receipt())
    }

    /// Puts contact data in order: moves out of the log what older releases wrote there, and deletes again what a copied
    /// file brought back of people who were erased. Reads the whole log.
    pub fn tidy_contacts(&self) -> Result<Tidied> {
        let (held, gone) = self.writer.with(|store| Ok((holding(store)?, crate::erasure::erased(store)?)))?;
        let moved = held.len();
        for (position, session, event) in held {
            let (event, contact) = apart(&event);
            if let Some(contact) = contact {
                self.contacts.add(&session, &contact)?;
            }
            let payload = Payload { salt: self.salt()?, body: body(&event) };
            let commitment = crate::hex::encode(&payload.commitment());
            let record = body(&Event::ContactMoved { position, commitment });
            let (salt, at) = (self.salt()?, self.clock.now());
            self.writer.with(move |store| {
                let seq = store.session(STUDY_SESSION)?.len() as u64 + 1;
                let key = format!("contact-moved-{seq}");
                let draft = Draft { session: STUDY_SESSION.to_owned(), seq, key, at, salt, body: record };
                store.replace(position, payload, draft)
            })?;
            self.forget(&session);
        }
        Ok(Tidied { moved, removed: self.contacts.remove_all(&gone)? })
    }

    /// Who is past the time the study keeps data for.
    pub fn due(&self, now: i64) -> Result<Due> {
        let rule = self.design.study().retention;
        if rule.is_none() {
            return Ok(Due::default());
        }
        let mut due = self.writer.with(move |store| retention::due(rule, store, now))?;
        let known = self.contacts.sessions()?;
        due.contacts.retain(|session| known.contains(session));
        Ok(due)
    }

    /// Deletes what is past its time: contact data of some, all of others.
    pub fn retain(&self, now: i64) -> Result<Due> {
        let due = self.due(now)?;
        self.contacts.remove_all(&due.contacts)?;
        for session in &due.people {
            self.erase(session)?;
        }
        Ok(due)
    }

    /// Writes down what a researcher did.
    pub fn note(&self, admin: Admin) -> Result<Receipt> {
        self.study_event(&format!("admin-{:013x}", self.draw()?), &Event::Admin(admin))
    }

    /// Writes down something about the study as a whole; does nothing if the key is known.
    fn study_event(&self, key: &str, event: &Event) -> Result<Receipt> {
        let (random, at, key, event) = (self.random.clone(), self.clock.now(), key.to_owned(), event.clone());
        let row = self.writer.with(move |store| audit::write(store, &key, &event, at, &*random))?;
        Ok(row.receipt())
    }

    fn ask(&self, participant: &mut Participant, drafts: &mut Vec<Draft>) -> Result<()> {
        let Some(asked) = participant.next_question().cloned() else { return Ok(()) };
        let key = format!("asked-{}", participant.events() + 1);
        self.draft(participant, drafts, key, &Event::Asked(asked))
    }

    /// Applies an event to a copy of the state and drafts its row.
    fn draft(&self, to: &mut Participant, drafts: &mut Vec<Draft>, key: String, event: &Event) -> Result<()> {
        let (seq, at, salt) = (to.events() + 1, self.clock.now(), self.salt()?);
        to.apply(at, event)?;
        drafts.push(Draft { session: to.session().to_owned(), seq, key, at, salt, body: body(event) });
        Ok(())
    }

    fn participant(&self, session: &str) -> Result<Arc<Mutex<Participant>>> {
        if let Some(found) = self.cache().get(session) {
            return Ok(found.clone());
        }
        let rows = self.writer.session(session)?;
        if rows.is_empty() {
            return Err(Error::Missing("there is no such participant".to_owned()));
        }
        let participant = Participant::fold(self.design.clone(), session, &rows)?;
        Ok(self
            .cache()
            .entry(session.to_owned())
            .or_insert_with(|| Arc::new(Mutex::new(participant)))
            .clone())
    }

    /// Drops what is in memory of a participant; the next look reads the log.
    pub fn forget(&self, session: &str) {
        self.cache().remove(session);
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
fn holding(store: &dyn Store) -> Result<Vec<(u64, String, Event)>> {
    let mut held = vec![];
    store.each(&mut |row| {
        // Most rows need not be read to see that they are something else.
        if row.payload.as_ref().is_some_and(|payload| payload.body.contains("\"external\""))
            && let Some(event @ Event::ConsentGiven { .. }) = row.event()?
            && apart(&event).1.is_some()
        {
            held.push((row.position, row.session, event));
        }
        Ok(())
    })?;
    Ok(held)
}

/// The variant of a participant: within each block of invitations every variant comes up once.
fn variant(design: &Design, number: u64) -> crate::study::Variant {
    let mut block = design.study().variants.clone();
    let (place, size) = (number.saturating_sub(1) as usize, block.len());
    block.shuffle(&mut schedule::draws(design.study().seed, "variants", place / size));
    block[place % size]
}

fn known(row: &Row) -> Result<Recorded> {
    let event = row.event()?.ok_or(Refusal::Left)?;
    Ok(Recorded::Known(row.receipt(), Box::new(event)))
}

pub(crate) fn body(event: &Event) -> String {
    serde_json::to_string(event).expect("events are plain data")
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What a panicking thread held is replaced as a whole or not at all.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
