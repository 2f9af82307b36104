//! What is new in a log, row by row: whose it is, and how far somebody is whose first row is among it.

use super::watch::{Line, Seen, Times};
use equipoise_log::{COMMON_SESSION, Reader, Row, TOMBSTONE};
use equipoise_study::event::{Action, Event};
use equipoise_study::{Design, Error, Participant, Result};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// So many are followed at the same time, some tens of kilobytes each; of the others the log is read again.
const FOLLOWED: usize = 2_000;

/// Rows since a study was last seen.
pub(super) struct New<'a> {
    seen: &'a Seen,
    next: Seen,
    sessions: Vec<String>,
    places: HashMap<String, usize>,
    /// Whose rows are new: up to which of their events, and when.
    changed: BTreeMap<usize, (u64, Times)>,
    erased: Vec<(String, i64)>,
    /// Only how far people are is asked: they are followed through the rows, which is faster than to read each by themselves.
    followed: Option<Followed<'a>>,
}

/// People whose first row is new.
struct Followed<'a> {
    design: &'a Arc<Design>,
    /// Invitations nobody has opened: a row each, since thousands of people are often invited at once.
    invited: HashMap<usize, Row>,
    on_their_way: HashMap<usize, Participant>,
    /// Of whoever is done there is nothing more to come, as a rule; they need not be kept.
    done: HashMap<usize, Line>,
}

/// Somebody about whom there is something new.
pub(super) struct Changed {
    pub(super) session: String,
    pub(super) seq: u64,
    pub(super) times: Times,
    /// How far they are, where that is known by now.
    pub(super) line: Option<Line>,
}

impl<'a> New<'a> {
    /// Nothing yet. With a study people are followed: how far they are is all that is asked.
    pub(super) fn since(seen: &'a Seen, counted: Option<&'a Arc<Design>>) -> Self {
        let sessions: Vec<String> = seen.people.iter().map(|line| line.session.clone()).collect();
        let places = sessions.iter().enumerate().map(|(place, session)| (session.clone(), place)).collect();
        let followed = counted.map(Followed::nobody);
        let (changed, erased) = (BTreeMap::new(), vec![]);
        Self { seen, next: seen.clone(), sessions, places, changed, erased, followed }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.next.rows == self.seen.rows
    }

    fn known(&self, place: usize) -> Times {
        let line = self.seen.people.get(place);
        line.map_or_else(Times::default, |line| Times {
            came: line.came_at,
            done: line.done_at,
            last: line.last_at,
        })
    }

    /// Takes the next row.
    pub(super) fn take(&mut self, row: Row) -> Result<()> {
        let event = match row.session == COMMON_SESSION && row.key != TOMBSTONE {
            true => Event::in_row(&row)?,
            false => None,
        };
        self.next.rows = row.position;
        if !matches!(event, Some(Event::Admin(_))) {
            self.next.data = row.position;
        }
        match event {
            _ if row.key == TOMBSTONE => self.erased.push((row.session, row.at)),
            _ if row.session != COMMON_SESSION => return self.take_of_somebody(&row),
            Some(Event::Erased { session }) => self.erased.push((session, row.at)),
            Some(Event::Admin(admin)) => {
                if let Action::Blinded { blinded } = admin.action {
                    self.next.blinded = blinded;
                }
                self.next.actions.push((row.at, admin));
            }
            Some(Event::Locked { version, hash }) => self.next.locked.push((row.at, version, hash)),
            _ => {}
        }
        Ok(())
    }

    fn take_of_somebody(&mut self, row: &Row) -> Result<()> {
        if row.seq == 1 && !self.places.contains_key(&row.session) {
            self.places.insert(row.session.clone(), self.sessions.len());
            self.sessions.push(row.session.clone());
        }
        // Whoever was erased since they were last seen has another name by now.
        let Some(place) = self.places.get(&row.session).copied() else { return Ok(()) };
        let body = row.payload.as_ref().map_or("", |payload| payload.body.as_str());
        let completed = body.contains("\"completed\"") && Event::in_row(row)? == Some(Event::Completed);
        let known = self.known(place);
        let (until, times) = self.changed.entry(place).or_insert((0, known));
        *until = row.seq;
        times.last = row.at;
        // The first row is the invitation, which they know nothing of.
        times.came = times.came.or((row.seq > 1).then_some(row.at));
        times.done = times.done.or(completed.then_some(row.at));
        match &mut self.followed {
            Some(followed) => followed.take(place, row, *times),
            None => Ok(()),
        }
    }

    /// Finds out who was erased meanwhile: their rows have another name since, their place among all others stays. The names that
    /// nobody has any more.
    pub(super) fn without_erased(&mut self, log: &dyn Reader) -> Result<Vec<String>> {
        let mut gone = vec![];
        if self.erased.is_empty() {
            return Ok(gone);
        }
        for (place, name) in log.sessions()?.into_iter().take(self.seen.people.len()).enumerate() {
            if self.sessions[place] != name {
                gone.push(std::mem::replace(&mut self.sessions[place], name));
                self.read_again(place, self.known(place));
            }
        }
        for (session, at) in std::mem::take(&mut self.erased) {
            if let Some(place) = self.sessions.iter().position(|known| *known == session) {
                self.read_again(place, Times { last: at, ..self.known(place) });
            }
            gone.push(session);
        }
        Ok(gone)
    }

    fn read_again(&mut self, place: usize, times: Times) {
        self.changed.insert(place, (0, times));
        if let Some(followed) = &mut self.followed {
            followed.forget(place);
        }
    }

    /// The study with everything but the people, and everybody about whom there is something new.
    pub(super) fn changed(self) -> (Seen, impl Iterator<Item = Result<(usize, Changed)>>) {
        let Self { next, mut sessions, mut followed, changed, .. } = self;
        let told = changed.into_iter().map(move |(place, (seq, times))| {
            let session = std::mem::take(&mut sessions[place]);
            let line = followed.as_mut().map_or(Ok(None), |followed| followed.line(place, times))?;
            Ok((place, Changed { session, seq, times, line }))
        });
        (next, told)
    }
}

impl<'a> Followed<'a> {
    fn nobody(design: &'a Arc<Design>) -> Self {
        Self { design, invited: HashMap::new(), on_their_way: HashMap::new(), done: HashMap::new() }
    }

    fn take(&mut self, place: usize, row: &Row, times: Times) -> Result<()> {
        if row.seq == 1 {
            self.invited.insert(place, row.clone());
            return Ok(());
        }
        if let Some(invitation) = self.invited.remove(&place)
            && self.on_their_way.len() < FOLLOWED
        {
            self.on_their_way.insert(place, self.who_was_invited(&invitation)?);
        }
        // Somebody who was done is not any more.
        self.done.remove(&place);
        let Some(participant) = self.on_their_way.get_mut(&place) else { return Ok::<_, Error>(()) };
        participant.take(row)?;
        if participant.completed() {
            self.done.insert(place, Line::of(participant, times, true));
            self.on_their_way.remove(&place);
        }
        Ok(())
    }

    fn who_was_invited(&self, invitation: &Row) -> Result<Participant> {
        let mut participant = Participant::new(self.design.clone(), &invitation.session);
        participant.take(invitation)?;
        Ok(participant)
    }

    fn forget(&mut self, place: usize) {
        self.invited.remove(&place);
        self.on_their_way.remove(&place);
        self.done.remove(&place);
    }

    fn line(&mut self, place: usize, times: Times) -> Result<Option<Line>> {
        if let Some(done) = self.done.remove(&place) {
            return Ok(Some(done));
        }
        let somebody = match self.invited.remove(&place) {
            Some(invitation) => Some(self.who_was_invited(&invitation)?),
            None => self.on_their_way.remove(&place),
        };
        Ok(somebody.map(|participant| Line::of(&participant, times, true)))
    }
}
