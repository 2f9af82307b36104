//! Who somebody is: apart from the log, in a file of its own, sealed with a key of its own.
//!
//! The log knows people by number. What would tell who they are (a label or address the owner gives with an invitation,
//! the identity a panel passes along) is in `contacts.sqlite`, sealed with XChaCha20-Poly1305 under the key in
//! `contacts.key`. Neither is part of backups, exports or reports. A row names the session it belongs to, so that it can be
//! deleted without the key; what it says can be read with the key only, and only as that session's.
//!
//! Both files are begun when there is something to keep: a study without contact data has neither. Of a study in a database,
//! rows and key are in tables of that: several servers must come to the same places for the same people.

use crate::error::{Error, Result};
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use equipoise_log::{Found, Tables, Trouble, Why, files, hex, settled};
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What there is to say about who somebody is: by name, such as `PROLIFIC_PID`.
pub type Contact = BTreeMap<String, String>;

/// The name of what an owner writes beside an invitation.
pub const LABEL: &str = "contact";
/// The name of the token of somebody's link, where the owner wanted it kept.
const LINK: &str = "link";
/// The most characters of a label.
pub const LONGEST_LABEL: usize = 200;

/// The file of sealed rows.
pub const FILE: &str = "contacts.sqlite";
/// The file of the key.
pub const KEY_FILE: &str = "contacts.key";

/// Rows are filled up to a multiple of this, so that their lengths tell nothing.
const BLOCK: usize = 256;
const FORMAT: i64 = 1;
const TABLE: &str = "CREATE TABLE IF NOT EXISTS contact (
    session TEXT PRIMARY KEY,
    nonce   BLOB NOT NULL CHECK (length(nonce) = 24),
    sealed  BLOB NOT NULL
) STRICT;";

/// Contact data of a study.
pub struct Contacts {
    place: Place,
    opened: Mutex<Option<Opened>>,
}

/// Where they are.
enum Place {
    /// Gone with the process.
    Memory,
    /// In files of a directory.
    Directory(PathBuf),
    /// In tables of a database.
    #[cfg(feature = "postgres")]
    Database(Arc<Tables>),
}

struct Opened {
    tables: Arc<Tables>,
    cipher: XChaCha20Poly1305,
    key: [u8; 32],
}

impl std::fmt::Debug for Contacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Contacts")
    }
}

impl Contacts {
    /// Contact data that are gone with the process: for tests, and for studies that are thrown away.
    pub fn in_memory() -> Self {
        Self { place: Place::Memory, opened: Mutex::default() }
    }

    /// Contact data in a study's directory. Begins no file and looks at none.
    pub fn beside(directory: &Path) -> Self {
        Self { place: Place::Directory(directory.to_owned()), opened: Mutex::default() }
    }

    /// Contact data of a study in a database.
    #[cfg(feature = "postgres")]
    pub fn in_database(database: &equipoise_log::Database) -> Result<Self> {
        let tables = Arc::new(Tables::open(database).map_err(wrong)?);
        Ok(Self { place: Place::Database(tables), opened: Mutex::default() })
    }

    /// Whether what there is can be used: refuses files that others can read, and one without its key.
    pub fn check(&self) -> Result<()> {
        self.open(false).map(drop)
    }

    /// Whether there is anything, or ever was.
    pub fn exist(&self) -> bool {
        match &self.place {
            Place::Directory(directory) => directory.join(FILE).exists(),
            Place::Memory => self.lock().is_some(),
            // What cannot be found out is found out by whoever looks for more.
            #[cfg(feature = "postgres")]
            Place::Database(_) => self.open(false).map_or(true, |opened| opened.is_some()),
        }
    }

    /// The token of whoever a panel knows by this name: the same whenever they come, and without the key nobody can tell whose it
    /// is. Begins the files.
    pub fn token(&self, name: &str) -> Result<String> {
        let opened = self.open(true)?;
        let Some(Opened { key, .. }) = &*opened else { return Err(said("there is no place for them")) };
        // The name by its hash: whatever its length, what is hashed with the key has one.
        let name =
            Sha256::new().chain_update(b"equipoise panel 1\n").chain_update(name.as_bytes()).finalize();
        let token = Sha256::new().chain_update(key).chain_update(name).finalize();
        Ok(hex::encode(token.get(..16).unwrap_or_default()))
    }

    /// Adds to what is known of a session. Returns what was known before.
    pub fn add(&self, session: &str, more: &Contact) -> Result<Option<Contact>> {
        let before = self.whole(session)?;
        let mut all = before.clone().unwrap_or_default();
        all.extend(more.clone());
        self.set(session, Some(&all))?;
        Ok(before)
    }

    /// Keeps the token of somebody's link, so that the link can be shown again.
    pub fn keep_link(&self, session: &str, token: &str) -> Result<()> {
        self.add(session, &[(LINK.to_owned(), token.to_owned())].into()).map(drop)
    }

    /// Tokens of links that were kept, by session.
    pub fn links(&self) -> Result<BTreeMap<String, String>> {
        let all = self.everything()?.into_iter();
        Ok(all.filter_map(|(session, mut contact)| Some((session, contact.remove(LINK)?))).collect())
    }

    /// Keeps this of a session and nothing else.
    pub fn set(&self, session: &str, contact: Option<&Contact>) -> Result<()> {
        let Some(contact) = contact else { return self.remove(session).map(drop) };
        let opened = self.open(true)?;
        let Some(Opened { tables, cipher, .. }) = &*opened else {
            return Err(said("there is no place for them"));
        };
        let mut nonce = [0; 24];
        getrandom::fill(&mut nonce).map_err(|e| said(format!("no random numbers: {e}")))?;
        let sealed = cipher
            .encrypt(&XNonce::from(nonce), Payload { msg: &padded(contact), aad: &bound(session) })
            .map_err(|_| said("a row could not be sealed"))?;
        tables
            .execute(
                "INSERT INTO contact (session, nonce, sealed) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (session) DO UPDATE SET nonce = excluded.nonce, sealed = excluded.sealed",
                &[session.into(), nonce.into(), sealed.into()],
            )
            .map_err(wrong)?;
        Ok(())
    }

    /// Who somebody is: what is known of a session, without its link.
    pub fn get(&self, session: &str) -> Result<Option<Contact>> {
        Ok(self.whole(session)?.and_then(told))
    }

    fn whole(&self, session: &str) -> Result<Option<Contact>> {
        let opened = self.open(false)?;
        let Some(opened) = &*opened else { return Ok(None) };
        let found = opened
            .tables
            .first("SELECT session, nonce, sealed FROM contact WHERE session = ?1", &[session.into()])
            .map_err(wrong)?;
        found.map(|row| opened.unseal(&row)).transpose()
    }

    /// Who everybody is, by session, without their links.
    pub fn all(&self) -> Result<BTreeMap<String, Contact>> {
        let all = self.everything()?.into_iter();
        Ok(all.filter_map(|(session, contact)| Some((session, told(contact)?))).collect())
    }

    fn everything(&self) -> Result<BTreeMap<String, Contact>> {
        let opened = self.open(false)?;
        let Some(opened) = &*opened else { return Ok(BTreeMap::new()) };
        let rows = opened.tables.query("SELECT session, nonce, sealed FROM contact", &[]).map_err(wrong)?;
        rows.iter().map(|row| Ok((row.text(0), opened.unseal(row)?))).collect()
    }

    /// Of whom something is known. Needs no key.
    pub fn sessions(&self) -> Result<BTreeSet<String>> {
        let all = self.without_key(|tables| tables.query("SELECT session FROM contact", &[]))?;
        Ok(all.unwrap_or_default().iter().map(|row| row.text(0)).collect())
    }

    /// Deletes what is known of a session for good. Needs no key.
    pub fn remove(&self, session: &str) -> Result<bool> {
        self.remove_all(&BTreeSet::from([session.to_owned()])).map(|removed| removed > 0)
    }

    /// Deletes what is known of some sessions for good: how many there were.
    pub fn remove_all(&self, sessions: &BTreeSet<String>) -> Result<usize> {
        let delete = |tables: &Tables| {
            let mut removed = 0;
            for session in sessions {
                removed +=
                    tables.execute("DELETE FROM contact WHERE session = ?1", &[session.as_str().into()])?;
            }
            Ok(removed)
        };
        let removed = self.without_key(delete)?.unwrap_or(0);
        if removed > 0 {
            self.settle()?;
        }
        Ok(removed)
    }

    /// Waits until no file holds what was deleted.
    fn settle(&self) -> Result<()> {
        settled(|| Ok::<_, Error>(self.without_key(Tables::settle_contacts)?.unwrap_or(true)))
    }

    /// Does something with the tables that takes no key; nothing if there are none.
    fn without_key<T>(&self, f: impl FnOnce(&Tables) -> equipoise_log::Result<T>) -> Result<Option<T>> {
        if let Some(Opened { tables, .. }) = &*self.lock() {
            return f(tables).map(Some).map_err(wrong);
        }
        match &self.place {
            Place::Directory(directory) if directory.join(FILE).exists() => {
                f(&connect(&directory.join(FILE))?).map(Some).map_err(wrong)
            }
            #[cfg(feature = "postgres")]
            Place::Database(tables) => f(tables).map(Some).map_err(wrong),
            Place::Memory | Place::Directory(_) => Ok(None),
        }
    }

    /// Deletes everything and the key: whatever copies of the file there are say nothing any more. How many rows there were.
    pub fn forget(&self) -> Result<u64> {
        let count = self.without_key(|tables| tables.first("SELECT count(*) FROM contact", &[]))?.flatten();
        let rows = count.map_or(0, |count| count.int(0).unsigned_abs());
        *self.lock() = None;
        #[cfg(feature = "postgres")]
        if let Place::Database(tables) = &self.place {
            tables.execute("DELETE FROM contact_key", &[]).map_err(wrong)?;
            tables.execute("DELETE FROM contact", &[]).map_err(wrong)?;
            self.settle()?;
        }
        let Place::Directory(directory) = &self.place else { return Ok(rows) };
        // The key goes first: without it the rest is noise.
        for file in [KEY_FILE.to_owned(), FILE.to_owned(), format!("{FILE}-wal"), format!("{FILE}-shm")] {
            match std::fs::remove_file(directory.join(&file)) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::Contacts(Trouble::with_file(format!("{file} cannot be deleted"), &e)));
                }
                _ => {}
            }
        }
        Ok(rows)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Opened>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        // Another process may have forgotten everything: what is written to a deleted file is lost.
        match &self.place {
            Place::Memory => {}
            Place::Directory(directory) if directory.join(FILE).exists() => {}
            Place::Directory(_) => *opened = None,
            // Another server may have begun others since.
            #[cfg(feature = "postgres")]
            Place::Database(_) => *opened = None,
        }
        opened
    }

    /// What is open. `begin` makes the files if they are not there.
    fn open(&self, begin: bool) -> Result<MutexGuard<'_, Option<Opened>>> {
        let mut opened = self.lock();
        if opened.is_some() {
            return Ok(opened);
        }
        *opened = match &self.place {
            Place::Memory if begin => {
                let tables = prepared(Connection::open_in_memory().map_err(of_file)?)?;
                Some(Opened::new(Arc::new(tables), random_key()?))
            }
            Place::Directory(directory) if begin || directory.join(FILE).exists() => {
                let path = directory.join(FILE);
                let key = key(&directory.join(KEY_FILE), path.exists())?;
                files::open(&path).map_err(Error::Contacts)?;
                Some(Opened::new(Arc::new(connect(&path)?), key))
            }
            #[cfg(feature = "postgres")]
            Place::Database(tables) => kept_key(tables, begin)?.map(|key| Opened::new(tables.clone(), key)),
            Place::Memory | Place::Directory(_) => None,
        };
        Ok(opened)
    }
}

/// The key in a database; of several servers that begin one at the same moment, the first one's is everybody's.
#[cfg(feature = "postgres")]
fn kept_key(tables: &Tables, begin: bool) -> Result<Option<[u8; 32]>> {
    let kept = || {
        let found = tables.first("SELECT key FROM contact_key", &[]).map_err(wrong)?;
        Ok::<_, Error>(found.map(|found| found.hash(0)))
    };
    let found = kept()?;
    if found.is_some() || !begin {
        return Ok(found);
    }
    let begin = "INSERT INTO contact_key (\"only\", key) VALUES (1, ?1) ON CONFLICT DO NOTHING";
    tables.execute(begin, &[random_key()?.into()]).map_err(wrong)?;
    kept()
}

impl Opened {
    fn new(tables: Arc<Tables>, key: [u8; 32]) -> Self {
        Self { tables, cipher: XChaCha20Poly1305::new(&key.into()), key }
    }

    /// What a row says: whose it is, with which nonce, and what.
    fn unseal(&self, row: &Found) -> Result<Contact> {
        let (session, nonce, sealed) = (row.text(0), row.hash(1), row.bytes(2));
        let closed = || said(format!("{KEY_FILE} is not the key of {FILE}, or a row was changed"));
        let payload = Payload { msg: &sealed, aad: &bound(&session) };
        let plain = self.cipher.decrypt(&XNonce::from(nonce), payload).map_err(|_| closed())?;
        serde_json::from_slice(&plain).map_err(|_| closed())
    }
}

/// What tells who somebody is; nothing if a link is all that was kept.
fn told(mut contact: Contact) -> Option<Contact> {
    contact.remove(LINK);
    (!contact.is_empty()).then_some(contact)
}

/// What ties a row to its session: put beside another one it does not open.
fn bound(session: &str) -> Vec<u8> {
    [b"equipoise contact 1\n", session.as_bytes()].concat()
}

/// As JSON, with spaces after it.
fn padded(contact: &Contact) -> Vec<u8> {
    let mut text = serde_json::to_vec(contact).expect("a map of texts is plain data");
    text.resize(text.len().next_multiple_of(BLOCK), b' ');
    text
}

fn connect(path: &Path) -> Result<Tables> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    prepared(Connection::open_with_flags(path, flags).map_err(of_file)?)
}

fn prepared(connection: Connection) -> Result<Tables> {
    connection.busy_timeout(Duration::from_secs(10)).map_err(of_file)?;
    let batch = format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; {TABLE} \
         PRAGMA user_version = {FORMAT};"
    );
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(of_file)?;
    if found > FORMAT {
        let what =
            format!("{FILE} was written by a newer release (format {found}; this release knows {FORMAT})");
        return Err(said(what));
    }
    connection.execute_batch(&batch).map_err(of_file)?;
    Ok(Tables::of(connection))
}

fn of_file(error: rusqlite::Error) -> Error {
    Error::Contacts(error.into())
}

fn wrong(error: equipoise_log::Error) -> Error {
    match error {
        equipoise_log::Error::Storage(trouble) => Error::Contacts(trouble),
        other => said(other.to_string()),
    }
}

fn said(what: impl Into<String>) -> Error {
    Error::Contacts(Trouble::new(Why::Other, what))
}

fn random_key() -> Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|e| said(format!("no random numbers: {e}")))?;
    Ok(key)
}

/// The key: the one in the file, or a new one if nothing is sealed yet.
fn key(path: &Path, needed: bool) -> Result<[u8; 32]> {
    let name = path.display();
    if needed && !path.exists() {
        let what =
            format!("{FILE} is there without its key; put {name} back, or delete {FILE} to begin anew");
        return Err(said(what));
    }
    let io = |e: std::io::Error| Error::Contacts(Trouble::with_file(&name, &e));
    let mut file = files::open(path).map_err(Error::Contacts)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(io)?;
    if text.is_empty() && !needed {
        let key = random_key()?;
        writeln!(file, "{}", hex::encode(&key)).and_then(|()| file.sync_all()).map_err(io)?;
        return Ok(key);
    }
    let key = hex::decode(text.trim()).and_then(|key| <[u8; 32]>::try_from(key).ok());
    key.ok_or_else(|| said(format!("{name} is not a key, expected 64 hexadecimal digits")))
}

/// Whether a text can be a label; otherwise a sentence.
pub fn check_label(label: &str) -> Result<(), String> {
    let length = label.chars().count();
    if !(1..=LONGEST_LABEL).contains(&length) {
        return Err(format!("it has {length} characters, expected 1 to {LONGEST_LABEL}"));
    }
    match label.chars().find(|c| c.is_control()) {
        Some(c) => Err(format!("it has the control character {:?}", c)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("equipoise-contacts-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn contact(value: &str) -> Contact {
        [("PROLIFIC_PID".to_owned(), value.to_owned())].into()
    }

    fn bytes(directory: &Path) -> Vec<u8> {
        let files = std::fs::read_dir(directory).unwrap().flatten();
        files.flat_map(|file| std::fs::read(file.path()).unwrap()).collect()
    }

    #[test]
    fn contact_data_are_kept_sealed_and_removed_for_good() {
        let directory = directory("kept");
        let contacts = Contacts::beside(&directory);
        assert_eq!((contacts.get("s1").unwrap(), contacts.remove("s1").unwrap()), (None, false));
        assert_eq!(
            std::fs::read_dir(&directory).unwrap().count(),
            0,
            "no file before there is something to keep"
        );
        contacts.add("s1", &contact("canary-1")).unwrap();
        let before = contacts.add("s1", &[(LABEL.to_owned(), "canary-2".to_owned())].into()).unwrap();
        assert_eq!(before, Some(contact("canary-1")));
        contacts.add("s2", &contact("canary-3")).unwrap();
        drop(contacts);
        let contacts = Contacts::beside(&directory);
        assert_eq!(contacts.get("s1").unwrap().unwrap()[LABEL], "canary-2");
        assert_eq!(contacts.all().unwrap().len(), 2);
        let whole = bytes(&directory);
        assert!(
            !whole.windows(7).any(|window| window == b"canary-"),
            "a file holds contact data in the clear"
        );
        assert!(contacts.remove("s1").unwrap());
        assert_eq!(contacts.get("s1").unwrap(), None);
        assert_eq!(contacts.forget().unwrap(), 1);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
        assert_eq!(contacts.get("s2").unwrap(), None);
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn without_its_key_nothing_is_read_but_everything_can_be_deleted() {
        let directory = directory("key");
        Contacts::beside(&directory).add("s1", &contact("x")).unwrap();
        let key_file = directory.join(KEY_FILE);
        let key = std::fs::read_to_string(&key_file).unwrap();
        assert_eq!(key.trim().len(), 64);
        let sentence = || Contacts::beside(&directory).get("s1").unwrap_err().to_string();
        for (text, expected) in [
            ("0".repeat(64), "is not the key of contacts.sqlite"),
            ("hello".to_owned(), "is not a key, expected 64 hexadecimal digits"),
            (String::new(), "is not a key, expected 64 hexadecimal digits"),
        ] {
            std::fs::write(&key_file, text).unwrap();
            assert!(sentence().contains(expected), "{}", sentence());
        }
        std::fs::remove_file(&key_file).unwrap();
        assert!(sentence().contains("is there without its key"), "{}", sentence());
        assert!(!key_file.exists(), "a new key would open nothing");
        let keyless = Contacts::beside(&directory);
        assert!(keyless.check().is_err() && keyless.sessions().unwrap().contains("s1"));
        assert!(keyless.remove("s1").unwrap());
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_another_process_forgot_is_begun_anew() {
        let directory = directory("anew");
        let server = Contacts::beside(&directory);
        server.add("s1", &contact("x")).unwrap();
        assert_eq!(Contacts::beside(&directory).forget().unwrap(), 1);
        assert_eq!(server.get("s1").unwrap(), None);
        server.add("s2", &contact("y")).unwrap();
        assert_eq!(Contacts::beside(&directory).get("s2").unwrap(), Some(contact("y")));
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_row_opens_beside_its_own_session_only() {
        let contacts = Contacts::in_memory();
        contacts.add("s1", &contact("one")).unwrap();
        contacts.add("s2", &contact("two")).unwrap();
        let swap = "UPDATE contact SET (nonce, sealed) = (SELECT nonce, sealed FROM contact WHERE session = 's1') \
                    WHERE session = 's2'";
        contacts.lock().as_ref().unwrap().tables.execute(swap, &[]).unwrap();
        assert_eq!(contacts.get("s1").unwrap(), Some(contact("one")));
        assert!(contacts.get("s2").unwrap_err().to_string().contains("a row was changed"));
    }

    #[test]
    fn lengths_tell_nothing() {
        assert_eq!(padded(&contact("a")).len(), padded(&contact(&"b".repeat(100))).len());
    }

    #[cfg(unix)]
    #[test]
    fn the_files_are_their_owners_and_refused_otherwise() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = directory("mode");
        Contacts::beside(&directory).add("s1", &contact("x")).unwrap();
        for file in [FILE, KEY_FILE] {
            let path = directory.join(file);
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
            let sentence = Contacts::beside(&directory).check().unwrap_err().to_string();
            assert!(sentence.contains("others can read") && sentence.contains("chmod 600"), "{sentence}");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn labels_are_short_and_on_one_line() {
        assert!(check_label("Ana <ana@example.org>").is_ok());
        assert!(
            check_label("").is_err()
                && check_label(&"x".repeat(201)).is_err()
                && check_label("a\u{7}").is_err()
        );
    }
}
