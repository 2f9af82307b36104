//! Who may look at a study, and who is signed in: one SQLite file beside the study's log, or tables of the database it is in.
//!
//! Tokens are stored as hashes and passwords as Argon2id, so that they let nobody in. The file belongs to its owner
//! alone; one that others can read is refused.

use super::password::{self, Kept, Strength};
use crate::text::random;
use equipoise_log::{Found, Tables};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Signed out after so many milliseconds without a request by a person.
pub const IDLE_MS: i64 = 3_600_000;
/// Signed out after so many milliseconds in any case.
pub const TOTAL_MS: i64 = 24 * IDLE_MS;
/// A browser is known for half a year.
pub const DEVICE_MS: i64 = 180 * 24 * IDLE_MS;
/// A code that lets somebody in once is good for this long.
pub const CODE_MS: i64 = IDLE_MS / 4;
/// A session's last request is written down at most this often.
pub(super) const TOUCH_MS: i64 = 60_000;

/// How the file came to be what it is, step by step; `user_version` counts the steps taken.
const MIGRATIONS: [&str; 3] =
    [include_str!("accounts.sql"), include_str!("tokens.sql"), include_str!("codes.sql")];

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something that was asked for is not possible; the sentence says why.
    #[error("{0}")]
    Refused(String),
    /// The file could not be used.
    #[error("the accounts could not be used: {0}")]
    Storage(String),
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error.to_string())
    }
}

impl From<equipoise_log::Error> for Error {
    fn from(error: equipoise_log::Error) -> Self {
        match error {
            equipoise_log::Error::Storage(trouble) => Self::Storage(trouble.sentence),
            other => Self::Storage(other.to_string()),
        }
    }
}

/// Shorthand.
pub type Result<T> = std::result::Result<T, Error>;

/// What an account may do. Later ones may do all that earlier ones may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Sees aggregates only.
    Viewer,
    /// Sees people by number, exports, and the audit; no contact data, no links, no accounts.
    Analyst,
    /// Everything.
    Owner,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Analyst, Self::Owner];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Analyst => "analyst",
            Self::Owner => "owner",
        }
    }

    /// From its word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// Somebody who may sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The name, which the log keeps with what was done.
    pub name: String,
    /// What they may do.
    pub role: Role,
}

/// An account with what there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The account.
    pub account: Account,
    /// Milliseconds since 1970.
    pub made_at: i64,
    /// Browsers that are signed in.
    pub sessions: u64,
}

/// The accounts of a study.
pub struct Accounts {
    tables: Tables,
    strength: Strength,
    /// Held while a password is hashed: one at a time.
    hashing: Mutex<()>,
}

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Accounts")
    }
}

impl Accounts {
    /// Opens the file, or begins one that only its owner can read; then measures how much work a password can be.
    pub fn open(path: &Path) -> Result<Self> {
        equipoise_log::files::open(path).map_err(|trouble| Error::Storage(trouble.to_string()))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::prepared(Connection::open_with_flags(path, flags)?, Strength::tuned)
    }

    /// Those of a study in a database, which several servers share.
    #[cfg(feature = "postgres")]
    pub fn in_database(database: &equipoise_log::Database) -> Result<Self> {
        Self::tuned(Tables::open(database)?, Strength::tuned)
    }

    /// In memory, with the least strength: for tests.
    pub fn in_memory() -> Result<Self> {
        Self::prepared(Connection::open_in_memory()?, || Strength::LEAST)
    }

    fn prepared(mut connection: Connection, tune: impl FnOnce() -> Strength) -> Result<Self> {
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON;",
        )?;
        let version = |connection: &Connection| {
            connection.query_row("PRAGMA user_version", [], |row| row.get::<_, usize>(0))
        };
        let found = version(&connection)?;
        if found > MIGRATIONS.len() {
            let expected = MIGRATIONS.len();
            let what = format!("they were written by a newer release (format {found}, expected {expected})");
            return Err(Error::Storage(what));
        }
        for (step, statements) in MIGRATIONS.iter().enumerate().skip(found) {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have been faster.
            if version(&transaction)? == step {
                transaction.execute_batch(statements)?;
                transaction.pragma_update(None, "user_version", step + 1)?;
            }
            transaction.commit()?;
        }
        Self::tuned(Tables::of(connection), tune)
    }

    /// Whoever comes first measures how much work a password can be, for all.
    fn tuned(tables: Tables, tune: impl FnOnce() -> Strength) -> Result<Self> {
        let known = || tables.first("SELECT memory, passes FROM strength", &[]);
        let found = match known()? {
            Some(found) => found,
            None => {
                let Strength { memory, passes } = tune();
                tables.execute(
                    "INSERT INTO strength (\"only\", memory, passes) VALUES (1, ?1, ?2) ON CONFLICT DO NOTHING",
                    &[memory.into(), passes.into()],
                )?;
                known()?
                    .ok_or_else(|| Error::Storage("they do not say how much work a password is".to_owned()))?
            }
        };
        Ok(Self { strength: strength(&found, 0), tables, hashing: Mutex::new(()) })
    }

    /// Everybody, by name.
    pub fn list(&self) -> Result<Vec<Listed>> {
        let all = self.tables.query(
            "SELECT name, role, made_at, (SELECT count(*) FROM session WHERE account = name) FROM account ORDER BY name",
            &[],
        )?;
        let listed = |row: &Found| Listed {
            account: account(row),
            made_at: row.int(2),
            sessions: row.int(3).unsigned_abs(),
        };
        Ok(all.iter().map(listed).collect())
    }

    /// Makes an account.
    pub fn add(&self, name: &str, role: Role, password: &str, now: i64) -> Result<()> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte);
        if !(1..=40).contains(&name.len()) || !name.bytes().all(plain) {
            let what = "expected up to 40 lower-case letters, digits, hyphens, points or underscores";
            return Err(Error::Refused(format!("\"{name}\" cannot be the name of an account, {what}")));
        }
        password::check(name, password)?;
        let Kept { strength, salt, hash } = self.hash(password)?;
        let Strength { memory, passes } = strength;
        let added = self.tables.execute(
            "INSERT INTO account (name, role, memory, passes, salt, hash, made_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
            &[
                name.into(),
                role.word().into(),
                memory.into(),
                passes.into(),
                salt.into(),
                hash.into(),
                now.into(),
            ],
        )?;
        match added {
            0 => Err(Error::Refused(format!("there is an account \"{name}\" already"))),
            _ => Ok(()),
        }
    }

    /// Changes what an account may do. It is signed out everywhere.
    pub fn set_role(&self, name: &str, role: Role) -> Result<()> {
        let changed = self.tables.execute(
            "UPDATE account SET role = ?2 WHERE name = ?1 AND (?2 = 'owner' OR role <> 'owner' OR \
             (SELECT count(*) FROM account WHERE role = 'owner') > 1)",
            &[name.into(), role.word().into()],
        )?;
        self.found(name, changed)?;
        self.end_sessions(name)
    }

    /// Gives an account another password. It is signed out everywhere.
    pub fn set_password(&self, name: &str, password: &str) -> Result<()> {
        password::check(name, password)?;
        let changed = self.keep_password(name, password)?;
        self.found(name, changed)?;
        self.end_all(name)
    }

    fn keep_password(&self, name: &str, password: &str) -> Result<usize> {
        let Kept { strength, salt, hash } = self.hash(password)?;
        let Strength { memory, passes } = strength;
        Ok(self.tables.execute(
            "UPDATE account SET memory = ?2, passes = ?3, salt = ?4, hash = ?5 WHERE name = ?1",
            &[name.into(), memory.into(), passes.into(), salt.into(), hash.into()],
        )?)
    }

    /// Takes an account away, and signs it out.
    pub fn remove(&self, name: &str) -> Result<()> {
        // In one statement: of two owners who take each other away at the same moment, one stays.
        let removed = self.tables.execute(
            "DELETE FROM account WHERE name = ?1 AND \
             (role <> 'owner' OR (SELECT count(*) FROM account WHERE role = 'owner') > 1)",
            &[name.into()],
        )?;
        self.found(name, removed)
    }

    /// Why nothing was changed: nobody would be left to make accounts, or there is no such account.
    fn found(&self, name: &str, changed: usize) -> Result<()> {
        match (changed, self.account(name)?) {
            (0, Some(_)) => {
                Err(Error::Refused(format!("\"{name}\" is the only owner; make another one first")))
            }
            (0, None) => Err(Error::Refused(format!("there is no account \"{name}\""))),
            _ => Ok(()),
        }
    }

    /// An account by name.
    pub fn account(&self, name: &str) -> Result<Option<Account>> {
        let found = self.tables.first("SELECT name, role FROM account WHERE name = ?1", &[name.into()])?;
        Ok(found.as_ref().map(account))
    }

    /// The account whose name and password these are. Takes as long for a name that is not there.
    pub fn check(&self, name: &str, password: &str) -> Result<Option<Account>> {
        let found = self.tables.first(
            "SELECT name, role, memory, passes, salt, hash FROM account WHERE name = ?1",
            &[name.into()],
        )?;
        let Some(found) = found else {
            self.hash(password)?;
            return Ok(None);
        };
        let (account, kept) = (
            account(&found),
            Kept { strength: strength(&found, 2), salt: found.hash(4), hash: found.hash(5) },
        );
        let right = {
            let _one = lock(&self.hashing);
            kept.is(password)
        };
        if right && kept.strength != self.strength {
            self.keep_password(name, password)?;
        }
        Ok(right.then_some(account))
    }

    /// A code that lets an account in once, instead of its password: for an owner whom somebody's guesses keep out. It is
    /// stored nowhere.
    pub fn make_code(&self, name: &str, now: i64) -> Result<String> {
        self.found(name, usize::from(self.account(name)?.is_some()))?;
        let code = token()?;
        self.tables.execute(
            "INSERT INTO code (hash, account, until) VALUES (?1, ?2, ?3)",
            &[digest(&code).into(), name.into(), now.saturating_add(CODE_MS).into()],
        )?;
        Ok(code)
    }

    /// The account a code lets in; it does so no more. Costs next to nothing, and nobody guesses 128 bits.
    pub fn spend_code(&self, name: &str, code: &str, now: i64) -> Result<Option<Account>> {
        let spent = self.tables.execute(
            "DELETE FROM code WHERE hash = ?1 AND account = ?2 AND until >= ?3",
            &[digest(code.trim()).into(), name.into(), now.into()],
        )?;
        if spent == 0 { Ok(None) } else { self.account(name) }
    }

    /// Signs an account in: the token for its cookie, which is stored nowhere.
    pub fn begin(&self, name: &str, now: i64) -> Result<String> {
        let token = token()?;
        self.tables.execute(
            "DELETE FROM session WHERE begun_at < ?1 OR seen_at < ?2",
            &[now.saturating_sub(TOTAL_MS).into(), now.saturating_sub(IDLE_MS).into()],
        )?;
        self.tables.execute(
            "INSERT INTO session (token, account, begun_at, seen_at) VALUES (?1, ?2, ?3, ?3)",
            &[digest(&token).into(), name.into(), now.into()],
        )?;
        Ok(token)
    }

    /// Who a session's token belongs to. `person` says that the request is one's own doing, not a page's refreshing.
    pub fn session(&self, token: &str, now: i64, person: bool) -> Result<Option<Account>> {
        let found = self.tables.first(
            "SELECT name, role, begun_at, seen_at FROM session JOIN account ON name = account WHERE token = ?1",
            &[digest(token).into()],
        )?;
        let Some(found) = found else { return Ok(None) };
        let (account, begun, seen) = (account(&found), found.int(2), found.int(3));
        // A clock that was set back makes nobody older.
        if now.saturating_sub(begun) > TOTAL_MS || now.saturating_sub(seen) > IDLE_MS {
            self.end(token)?;
            return Ok(None);
        }
        if person && (now - seen).abs() > TOUCH_MS {
            self.tables.execute(
                "UPDATE session SET seen_at = ?2 WHERE token = ?1",
                &[digest(token).into(), now.into()],
            )?;
        }
        Ok(Some(account))
    }

    /// Signs one browser out.
    pub fn end(&self, token: &str) -> Result<()> {
        self.tables.execute("DELETE FROM session WHERE token = ?1", &[digest(token).into()])?;
        Ok(())
    }

    /// Signs an account out everywhere; its tokens for scripts end, too.
    pub fn end_all(&self, name: &str) -> Result<()> {
        self.tables.execute("DELETE FROM token WHERE account = ?1", &[name.into()])?;
        self.end_sessions(name)
    }

    fn end_sessions(&self, name: &str) -> Result<()> {
        self.tables.execute("DELETE FROM session WHERE account = ?1", &[name.into()])?;
        Ok(())
    }

    /// Remembers that an account has signed in from a browser: the token for its cookie.
    pub fn remember_device(&self, name: &str, known: Option<&str>, now: i64) -> Result<String> {
        let token = known.map_or_else(token, |known| Ok(known.to_owned()))?;
        self.tables
            .execute("DELETE FROM device WHERE seen_at < ?1", &[now.saturating_sub(DEVICE_MS).into()])?;
        self.tables.execute(
            "INSERT INTO device (token, account, seen_at) VALUES (?1, ?2, ?3) \
             ON CONFLICT (token, account) DO UPDATE SET seen_at = excluded.seen_at",
            &[digest(&token).into(), name.into(), now.into()],
        )?;
        Ok(token)
    }

    /// Whether an account has signed in from a browser before.
    pub fn knows_device(&self, name: &str, token: &str) -> Result<bool> {
        let known = self.tables.first(
            "SELECT count(*) FROM device WHERE token = ?1 AND account = ?2",
            &[digest(token).into(), name.into()],
        )?;
        Ok(known.is_some_and(|known| known.int(0) > 0))
    }

    fn hash(&self, password: &str) -> Result<Kept> {
        let _one = lock(&self.hashing);
        Kept::new(password, self.strength)
    }

    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn account(row: &Found) -> Account {
    // The table allows no other word; should one be there all the same, it may do least.
    Account { name: row.text(0), role: Role::from_word(&row.text(1)).unwrap_or(Role::Viewer) }
}

/// From two columns.
fn strength(row: &Found, column: usize) -> Strength {
    let number = |column: usize| u32::try_from(row.int(column)).unwrap_or(0);
    Strength { memory: number(column), passes: number(column + 1) }
}

/// 128 random bits.
fn token() -> Result<String> {
    random::<16>().ok_or_else(|| Error::Storage("no random numbers".to_owned()))
}

pub(super) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{Scope, Wanted};
    use super::*;

    const PASSWORD: &str = "three small boats";

    fn accounts() -> Accounts {
        let accounts = Accounts::in_memory().unwrap();
        accounts.add("ana", Role::Owner, PASSWORD, 0).unwrap();
        accounts
    }

    #[test]
    fn sessions_end_when_idle_and_after_a_day() {
        let accounts = accounts();
        let who = |token: &str, now: i64, person: bool| {
            accounts.session(token, now, person).unwrap().map(|account| account.name)
        };
        let token = accounts.begin("ana", 0).unwrap();
        assert_eq!(who(&token, IDLE_MS, true).as_deref(), Some("ana"));
        assert_eq!(who(&token, 2 * IDLE_MS, true).as_deref(), Some("ana"));
        // Pages that refresh themselves keep nobody signed in.
        assert_eq!(who(&token, 3 * IDLE_MS, false).as_deref(), Some("ana"));
        assert_eq!(who(&token, 3 * IDLE_MS + 1, true), None);
        assert_eq!(who(&token, 0, true), None, "it came back");
        let token = accounts.begin("ana", 0).unwrap();
        for hour in 1..=24 {
            assert!(who(&token, hour * IDLE_MS, true).is_some(), "{hour}");
        }
        assert_eq!(who(&token, TOTAL_MS + 1, true), None);
        // A clock that jumps back ends nothing early.
        let token = accounts.begin("ana", 10 * TOTAL_MS).unwrap();
        assert!(who(&token, 0, true).is_some());
    }

    #[test]
    fn sessions_are_ended_with_what_they_rest_on() {
        let accounts = accounts();
        accounts.add("ben", Role::Analyst, PASSWORD, 0).unwrap();
        let signed_in = |token: &str| accounts.session(token, 1, true).unwrap().is_some();
        let tokens: Vec<String> = (0..5).map(|_| accounts.begin("ben", 0).unwrap()).collect();
        accounts.end(&tokens[0]).unwrap();
        assert!(!signed_in(&tokens[0]) && signed_in(&tokens[1]));
        accounts.end_all("ben").unwrap();
        assert!(!signed_in(&tokens[1]));
        let token = accounts.begin("ben", 0).unwrap();
        let scopes = &[Scope::Export][..];
        let wanted = Wanted { name: "script", account: "ben", scopes, days: 30 };
        let script = accounts.add_token(&wanted, 0).unwrap();
        assert!(accounts.token(&script, 1).unwrap().is_some());
        accounts.set_password("ben", "four small boats").unwrap();
        assert!(!signed_in(&token));
        assert!(
            accounts.token(&script, 1).unwrap().is_none(),
            "a token outlives the password it was made with"
        );
        let token = accounts.begin("ben", 0).unwrap();
        accounts.set_role("ben", Role::Viewer).unwrap();
        assert!(!signed_in(&token));
        let token = accounts.begin("ben", 0).unwrap();
        accounts.remove("ben").unwrap();
        assert!(!signed_in(&token));
    }

    #[test]
    fn a_code_lets_its_account_in_once_and_for_a_quarter_of_an_hour() {
        let accounts = accounts();
        accounts.add("ben", Role::Analyst, PASSWORD, 0).unwrap();
        let spend =
            |name: &str, code: &str, now: i64| accounts.spend_code(name, code, now).unwrap().is_some();
        let code = accounts.make_code("ana", 0).unwrap();
        assert!(!spend("ben", &code, 1) && !spend("ana", PASSWORD, 1) && !spend("ana", "", 1));
        assert!(spend("ana", &code, 1) && !spend("ana", &code, 1));
        let late = accounts.make_code("ana", 0).unwrap();
        assert!(!spend("ana", &late, CODE_MS + 1));
        assert!(accounts.make_code("nobody", 0).is_err());
    }

    #[test]
    fn there_is_always_an_owner() {
        let accounts = accounts();
        let only = "\"ana\" is the only owner; make another one first";
        assert_eq!(accounts.remove("ana").unwrap_err().to_string(), only);
        assert_eq!(accounts.set_role("ana", Role::Analyst).unwrap_err().to_string(), only);
        assert_eq!(accounts.remove("ben").unwrap_err().to_string(), "there is no account \"ben\"");
        assert!(accounts.add("ana", Role::Viewer, PASSWORD, 0).unwrap_err().to_string().contains("already"));
        assert!(
            accounts.add("A na", Role::Viewer, PASSWORD, 0).unwrap_err().to_string().contains("cannot be")
        );
        accounts.add("ben", Role::Owner, PASSWORD, 0).unwrap();
        accounts.remove("ana").unwrap();
    }

    #[test]
    fn two_owners_who_take_each_other_away_at_once_leave_one() {
        let path = std::env::temp_dir().join(format!("equipoise-owners-{}", std::process::id()));
        let open = || Accounts::open(&path).unwrap();
        for _ in 0..5 {
            let [one, other] = [open(), open()];
            let _ = one.add("ana", Role::Owner, PASSWORD, 0);
            let _ = one.add("ben", Role::Owner, PASSWORD, 0);
            let start = std::sync::Barrier::new(2);
            std::thread::scope(|scope| {
                for (accounts, whom) in [(&one, "ben"), (&other, "ana")] {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        let _ = accounts.remove(whom);
                    });
                }
            });
            assert_eq!(one.list().unwrap().len(), 1);
        }
        for file in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{file}", path.display()));
        }
    }

    #[test]
    fn a_weaker_hash_is_made_anew_at_the_next_sign_in() {
        let mut accounts = accounts();
        let passes = |accounts: &Accounts| {
            accounts.tables.first("SELECT passes FROM account", &[]).unwrap().unwrap().int(0)
        };
        assert_eq!(passes(&accounts), 2);
        accounts.strength.passes = 3;
        assert_eq!(accounts.check("ana", "wrong password").unwrap(), None);
        assert_eq!(passes(&accounts), 2);
        assert!(accounts.check("ana", PASSWORD).unwrap().is_some());
        assert_eq!(passes(&accounts), 3);
        assert!(accounts.check("ana", PASSWORD).unwrap().is_some());
        assert_eq!(accounts.check("nobody", PASSWORD).unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let path = std::env::temp_dir().join(format!("equipoise-accounts-{}", std::process::id()));
        drop(Accounts::open(&path).unwrap());
        let mode =
            |mode: u32| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        mode(0o640);
        let sentence = Accounts::open(&path).unwrap_err().to_string();
        for file in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{file}", path.display()));
        }
        assert!(sentence.contains("others can read") && sentence.contains("chmod 600"), "{sentence}");
    }
}
