//! Deleting what a participant sent, so that the chain stays whole and a restored backup forgets it too.

use crate::error::{Error, Result};
use crate::event::Event;
use crate::log::{Draft, Hash, Hold, Row, STUDY_SESSION, SqliteStore, Store, Verified, added, verify};
use crate::seams::{Clock, Random};
use crate::service::body;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Deletes a session's events and writes down that this was done.
pub(crate) fn erase(
    store: &mut dyn Store,
    session: &str,
    at: i64,
    salt: Hash,
    record: &Event,
) -> Result<Row> {
    if session == STUDY_SESSION || store.session(session)?.is_empty() {
        return Err(Error::Missing("there is no such participant".to_owned()));
    }
    let row = erase_here(store, session, at, salt, record)?;
    for path in store.kept()? {
        let held = erase_aside(&path, session, at, salt);
        held.map_err(|e| Error::Storage(format!("erased, but not in {}: {e}", path.display())))?;
    }
    Ok(row)
}

fn erase_here(store: &mut dyn Store, session: &str, at: i64, salt: Hash, record: &Event) -> Result<Row> {
    let seq = store.session(STUDY_SESSION)?.len() as u64 + 1;
    let key = format!("erased-{seq}");
    let draft = Draft { session: STUDY_SESSION.to_owned(), seq, key, at, salt, body: body(record) };
    store.erase(session, draft)
}

/// Erases somebody in a log that was set aside; says whether there was anything of theirs in it.
pub fn erase_aside(log: &Path, session: &str, at: i64, salt: Hash) -> Result<bool> {
    let mut store = SqliteStore::open_apart(log)?;
    let held = store.session(session)?.iter().any(|row| row.payload.is_some());
    if held {
        erase_here(&mut store, session, at, salt, &Event::Erased { session: session.to_owned() })?;
    }
    store.into_one_file()?;
    Ok(held)
}

/// Whom a number stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Numbered {
    /// The participant of this session.
    Session(String),
    /// Somebody who was erased.
    Erased,
    /// Nobody yet.
    Nobody,
}

/// Whom a number stands for in a log.
pub fn numbered(store: &dyn Store, number: u64) -> Result<Numbered> {
    let sessions = store.sessions()?;
    for session in &sessions {
        if let Some(Event::Invited(invited)) =
            store.session(session)?.first().map(Row::event).transpose()?.flatten()
            && invited.number == number
        {
            return Ok(Numbered::Session(session.clone()));
        }
    }
    // The number went with the invitation, but numbers follow the order of invitations.
    let place = number.checked_sub(1).and_then(|place| sessions.get(place as usize));
    Ok(if place.is_some() { Numbered::Erased } else { Numbered::Nobody })
}

/// Sessions that were erased.
pub fn erased(store: &dyn Store) -> Result<BTreeSet<String>> {
    let mut sessions = BTreeSet::new();
    for row in store.session(STUDY_SESSION)? {
        if let Some(Event::Erased { session }) = row.event()? {
            sessions.insert(session);
        }
    }
    Ok(sessions)
}

/// Logs that were set aside beside a log, by a restore or by a newer release. Nothing reads them but erasures.
pub fn kept(log: &Path) -> Result<Vec<PathBuf>> {
    let unread = |e: std::io::Error| Error::Storage(format!("cannot look beside {}: {e}", log.display()));
    let Some(name) = log.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Ok(vec![]);
    };
    let directory = log.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut found = vec![];
    for entry in std::fs::read_dir(directory.unwrap_or(Path::new("."))).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let other = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // SQLite's own files and locks go with the log they are named after.
        let ending = other.strip_prefix(&name).unwrap_or_default();
        let aside = ending.starts_with(".replaced") || ending.starts_with(".before-");
        if aside && ![".lock", "-wal", "-shm", "-journal", ".part"].iter().any(|own| ending.ends_with(own)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// What a restore did.
#[derive(Debug)]
pub struct Restored {
    /// The log as it is now.
    pub verified: Verified,
    /// How many people were erased again.
    pub again: usize,
    /// Where the log is that was there before.
    pub kept: Option<PathBuf>,
}

/// Puts a backup in the place of a log, after checking it, and erases again whoever was erased since it was made.
///
/// `study` are hashes the study is known by; a backup that holds none of them, nor begins as the log does, is another
/// study's. The log that was there is kept beside it with `.replaced-1` added to its name, or the next number. Nobody
/// else may have the log open.
pub fn restore(
    backup: &Path,
    to: &Path,
    study: &[String],
    clock: &dyn Clock,
    random: &dyn Random,
) -> Result<Restored> {
    let _alone = Hold::alone(to)?;
    let copy = SqliteStore::open_copy(backup)?;
    verify(&copy)?;
    let unread = |e: Error| {
        let what = format!(
            "{} cannot be read, so nobody knows who was erased since the backup; move it away if nobody was: {e}",
            to.display()
        );
        Error::Storage(what)
    };
    let current = match to.exists() {
        true => Some(SqliteStore::open_apart(to).map_err(unread)?),
        false => None,
    };
    let mut gone = BTreeSet::new();
    let mut known: BTreeSet<String> = study.iter().cloned().collect();
    if let Some(current) = &current {
        gone = erased(current).map_err(unread)?;
        known.extend(studies(current).map_err(unread)?);
    }
    let theirs = studies(&copy)?;
    let begins_alike = match &current {
        Some(current) => first(current)? == first(&copy)?,
        None => false,
    };
    if !begins_alike && !theirs.is_empty() && theirs.is_disjoint(&known) {
        let what = format!("{} is a backup of another study, expected one of this study", backup.display());
        return Err(Error::Another(what));
    }
    // All is done beside the log; until the last step it stays what it was.
    let beside = added(to, ".restoring");
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(added(&beside, ending));
    }
    copy.backup(&beside)?;
    let mut store = SqliteStore::open_apart(&beside)?;
    let already = erased(&store)?;
    let mut again = 0;
    for session in gone.difference(&already) {
        // Whoever was invited after the backup is not in it.
        if !store.session(session)?.is_empty() {
            let mut salt = [0; 32];
            random.fill(&mut salt)?;
            let record = Event::Erased { session: session.clone() };
            erase(&mut store, session, clock.now(), salt, &record)?;
            again += 1;
        }
    }
    let verified = verify(&store)?;
    store.into_one_file()?;
    let kept = match current {
        Some(current) => {
            current.into_one_file()?;
            Some(set_aside(to)?)
        }
        None => None,
    };
    std::fs::rename(&beside, to)
        .map_err(|e| Error::Storage(format!("cannot put the backup at {}: {e}", to.display())))?;
    Ok(Restored { verified, again, kept })
}

/// Gives a log a second name that nothing has yet.
fn set_aside(log: &Path) -> Result<PathBuf> {
    for number in 1_u32.. {
        let aside = added(log, &format!(".replaced-{number}"));
        if aside.exists() {
            continue;
        }
        // With two names for a moment there is always a log; not every file system can.
        match std::fs::hard_link(log, &aside).or_else(|_| std::fs::rename(log, &aside)) {
            Ok(()) => return Ok(aside),
            Err(e) => return Err(Error::Storage(format!("cannot move {} aside: {e}", log.display()))),
        }
    }
    Err(Error::Storage("no name is left for the log that was there".to_owned()))
}

/// Hashes of the studies a log was locked for and invited to.
fn studies(store: &dyn Store) -> Result<BTreeSet<String>> {
    let mut hashes = BTreeSet::new();
    store.each(&mut |row| {
        match row.event()? {
            Some(Event::Locked { hash, .. }) => drop(hashes.insert(hash)),
            Some(Event::Invited(invited)) => drop(hashes.insert(invited.study)),
            _ => {}
        }
        Ok(())
    })?;
    Ok(hashes)
}

/// The seal of the first row: salted, so no two logs have the same.
fn first(store: &dyn Store) -> Result<Option<Hash>> {
    let mut seal = None;
    store.each(&mut |row| {
        seal.get_or_insert(row.hash);
        Ok(())
    })?;
    Ok(seal)
}
