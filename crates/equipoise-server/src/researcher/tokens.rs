//! Tokens for scripts: what each may read, until when, and whose it is.
//!
//! A token is told once; its SHA-256 is kept. It may do what its scopes say, and never more than the account it belongs to:
//! an account that is taken away, or may do less, takes its tokens along.

use super::accounts::{Account, Accounts, Error, Result, Role, TOUCH_MS, account, digest};
use crate::text::{random, same};
use equipoise_log::Found;

/// What every token begins with, so that scanners for leaked secrets find it.
pub const PREFIX: &str = "eqp_";
/// The longest a token lasts, in days.
pub const LONGEST_DAYS: u32 = 365;
/// A day.
const DAY_MS: i64 = 24 * 3_600_000;
/// As many as a study has at most: all are compared at every request.
const MOST: i64 = 100;

/// What a token may read. There is no scope that changes anything, and none for who somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// How far the study is, and what all hold together.
    ReadAggregate,
    /// People by number: how far each is, and what is known of each.
    ReadAnswers,
    /// The report, and the tables of answers.
    Export,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ReadAggregate, Self::ReadAnswers, Self::Export];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::ReadAggregate => "read:aggregate",
            Self::ReadAnswers => "read:answers",
            Self::Export => "export",
        }
    }

    /// From its word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }

    /// What it lets a script read, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::ReadAggregate => "how far the study is, and what all hold together",
            Self::ReadAnswers => "people by number, and what is known of each",
            Self::Export => "the report and the tables of answers",
        }
    }

    /// The least role that could read it in a browser.
    pub fn least(self) -> Role {
        match self {
            Self::ReadAggregate => Role::Viewer,
            Self::ReadAnswers | Self::Export => Role::Analyst,
        }
    }
}

/// Scopes as text: in the order of [`Scope::ALL`], parted by spaces.
pub fn words(scopes: &[Scope]) -> String {
    let all = Scope::ALL.into_iter().filter(|scope| scopes.contains(scope));
    all.map(Scope::word).collect::<Vec<_>>().join(" ")
}

/// A token with what there is to say about it, but not the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is called: stays in the audit log.
    pub name: String,
    /// Whose it is.
    pub account: Account,
    /// What it may read.
    pub scopes: Vec<Scope>,
    /// Milliseconds since 1970.
    pub made_at: i64,
    /// From here on it opens nothing.
    pub expires_at: i64,
    /// When it was last used, to the minute.
    pub used_at: Option<i64>,
}

impl Token {
    /// Whether a script with it may read what this scope is for.
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) && self.account.role >= scope.least()
    }
}

/// What a token is to be.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// What to call it.
    pub name: &'a str,
    /// Whose it is.
    pub account: &'a str,
    /// What it may read.
    pub scopes: &'a [Scope],
    /// For how many days.
    pub days: u32,
}

impl Accounts {
    /// Makes a token and tells it, which happens once.
    pub fn add_token(&self, wanted: &Wanted<'_>, now: i64) -> Result<String> {
        let Wanted { name, account, scopes, days } = *wanted;
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte);
        if !(1..=40).contains(&name.len()) || !name.bytes().all(plain) {
            let what = "expected up to 40 lower-case letters, digits, hyphens, points or underscores";
            return Err(Error::Refused(format!("\"{name}\" cannot be the name of a token, {what}")));
        }
        if !(1..=LONGEST_DAYS).contains(&days) {
            let what = format!("a token cannot last {days} days, expected 1 to {LONGEST_DAYS}");
            return Err(Error::Refused(what));
        }
        if scopes.is_empty() {
            let all = Scope::ALL.map(Scope::word).join(", ");
            return Err(Error::Refused(format!("the token may read nothing, expected one or more of {all}")));
        }
        let Some(owner) = self.account(account)? else {
            return Err(Error::Refused(format!("there is no account \"{account}\"")));
        };
        if let Some(scope) = scopes.iter().find(|scope| scope.least() > owner.role) {
            let (word, role) = (scope.word(), owner.role.word());
            return Err(Error::Refused(format!("{account} is {role} and may not give a token {word}")));
        }
        let secret = random::<20>().ok_or_else(|| Error::Storage("no random numbers".to_owned()))?;
        let token = format!("{PREFIX}{secret}");
        let there = self.tables().first("SELECT count(*) FROM token", &[])?.map_or(0, |row| row.int(0));
        if there >= MOST {
            let what = format!("there are {there} tokens, expected fewer than {MOST}; revoke some first");
            return Err(Error::Refused(what));
        }
        let expires_at = now.saturating_add(i64::from(days).saturating_mul(DAY_MS));
        let (hash, scopes) = (digest(&token), words(scopes));
        let added = self.tables().execute(
            "INSERT INTO token (name, account, hash, scopes, made_at, expires_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            &[
                name.into(),
                account.into(),
                hash.into(),
                scopes.as_str().into(),
                now.into(),
                expires_at.into(),
            ],
        )?;
        match added {
            0 => Err(Error::Refused(format!("there is a token \"{name}\" already"))),
            _ => Ok(token),
        }
    }

    /// All tokens, by name.
    pub fn tokens(&self) -> Result<Vec<Token>> {
        Ok(self.hashed()?.into_iter().map(|(token, _)| token).collect())
    }

    /// Takes a token away; it opens nothing from here on.
    pub fn revoke_token(&self, name: &str) -> Result<()> {
        match self.tables().execute("DELETE FROM token WHERE name = ?1", &[name.into()])? {
            0 => Err(Error::Refused(format!("there is no token \"{name}\""))),
            _ => Ok(()),
        }
    }

    /// What somebody sent as a token, if it is one that has not expired.
    pub fn token(&self, sent: &str, now: i64) -> Result<Option<Token>> {
        if !sent.starts_with(PREFIX) {
            return Ok(None);
        }
        let sent = digest(sent);
        // Every one is compared, as hashes: how long it takes says nothing about how much agrees, or with which.
        let mut found = None;
        for (token, hash) in self.hashed()? {
            if same(&hash, &sent) {
                found = Some(token);
            }
        }
        let Some(token) = found.filter(|token| now < token.expires_at) else { return Ok(None) };
        if token.used_at.is_none_or(|used| now.saturating_sub(used).saturating_abs() > TOUCH_MS) {
            self.tables().execute(
                "UPDATE token SET used_at = ?2 WHERE name = ?1",
                &[token.name.as_str().into(), now.into()],
            )?;
        }
        Ok(Some(token))
    }

    fn hashed(&self) -> Result<Vec<(Token, [u8; 32])>> {
        let all = self.tables().query(
            "SELECT account.name, role, token.name, scopes, token.made_at, expires_at, used_at, token.hash \
             FROM token JOIN account ON account.name = token.account ORDER BY token.name",
            &[],
        )?;
        Ok(all.iter().map(|row| (read(row), row.hash(7))).collect())
    }
}

fn read(row: &Found) -> Token {
    Token {
        account: account(row),
        name: row.text(2),
        // A word nobody knows allows nothing.
        scopes: row.text(3).split(' ').filter_map(Scope::from_word).collect(),
        made_at: row.int(4),
        expires_at: row.int(5),
        used_at: row.maybe_int(6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accounts() -> Accounts {
        let accounts = Accounts::in_memory().unwrap();
        accounts.add("ana", Role::Owner, "three small boats", 0).unwrap();
        accounts.add("ben", Role::Analyst, "three small boats", 0).unwrap();
        accounts
    }

    fn wanted<'a>(name: &'a str, account: &'a str, scopes: &'a [Scope]) -> Wanted<'a> {
        Wanted { name, account, scopes, days: 30 }
    }

    #[test]
    fn a_token_is_told_once_and_only_its_hash_is_kept() {
        let accounts = accounts();
        let token = accounts.add_token(&wanted("nightly", "ben", &[Scope::Export]), 0).unwrap();
        assert!(token.starts_with("eqp_") && token.len() == 44, "{token}");
        let secret = &token[PREFIX.len()..];
        let copy = std::env::temp_dir().join(format!("equipoise-told-once-{}", std::process::id()));
        let _ = std::fs::remove_file(&copy);
        accounts.tables().execute("VACUUM INTO ?1", &[copy.to_str().unwrap().into()]).unwrap();
        let whole = std::fs::read(&copy).unwrap();
        std::fs::remove_file(&copy).unwrap();
        let holds = |what: &[u8]| whole.windows(what.len()).any(|window| window == what);
        assert!(!holds(secret.as_bytes()), "the file holds the token");
        assert!(holds(&digest(&token)), "the file must hold its hash");
        let bytes: Vec<u8> = secret
            .as_bytes()
            .chunks(2)
            .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
            .collect();
        assert!(!holds(&bytes), "the file holds the token's bytes");
        assert_eq!(accounts.token(&token, 1).unwrap().unwrap().name, "nightly");
    }

    #[test]
    fn tokens_end_by_time_by_hand_and_with_what_they_rest_on() {
        let accounts = accounts();
        let all = [Scope::ReadAggregate, Scope::Export];
        let token = accounts.add_token(&wanted("a", "ben", &all), 5).unwrap();
        let found = |now: i64| accounts.token(&token, now).unwrap();
        assert!(found(5 + 30 * DAY_MS - 1).is_some());
        assert!(found(5 + 30 * DAY_MS).is_none(), "it outlived its day");
        assert!(found(6).unwrap().allows(Scope::Export) && !found(6).unwrap().allows(Scope::ReadAnswers));
        // Whoever may do less can give no more.
        accounts.set_role("ben", Role::Viewer).unwrap();
        assert!(found(7).unwrap().allows(Scope::ReadAggregate) && !found(7).unwrap().allows(Scope::Export));
        accounts.remove("ben").unwrap();
        assert!(found(8).is_none(), "it outlived its account");
        let token = accounts.add_token(&wanted("b", "ana", &all), 0).unwrap();
        accounts.revoke_token("b").unwrap();
        assert!(accounts.token(&token, 1).unwrap().is_none());
        assert_eq!(accounts.revoke_token("b").unwrap_err().to_string(), "there is no token \"b\"");
    }

    #[test]
    fn what_is_no_token_opens_nothing() {
        let accounts = accounts();
        let token = accounts.add_token(&wanted("a", "ana", &[Scope::Export]), 0).unwrap();
        let long = "eqp_".repeat(10_000);
        for sent in [
            "",
            "eqp_",
            &token[4..],
            &token[..43],
            &format!("{token}0"),
            &token.to_uppercase(),
            "eqp_ü",
            &long,
        ] {
            assert!(accounts.token(sent, 1).unwrap().is_none(), "{sent:.50}");
        }
    }

    #[test]
    fn what_cannot_be_a_token_is_refused_in_a_sentence() {
        let accounts = accounts();
        accounts.set_role("ben", Role::Viewer).unwrap();
        accounts.add_token(&wanted("a", "ana", &[Scope::Export]), 0).unwrap();
        let refused = |wanted: Wanted<'_>| accounts.add_token(&wanted, 0).unwrap_err().to_string();
        let export = [Scope::Export];
        assert_eq!(refused(wanted("a", "ana", &export)), "there is a token \"a\" already");
        assert_eq!(refused(wanted("b", "eva", &export)), "there is no account \"eva\"");
        assert_eq!(refused(wanted("b", "ben", &export)), "ben is viewer and may not give a token export");
        assert!(refused(wanted("b", "ana", &[])).contains("may read nothing"));
        assert!(refused(wanted("B b", "ana", &export)).contains("cannot be the name of a token"));
        for days in [0, 366, u32::MAX] {
            assert!(refused(Wanted { days, ..wanted("b", "ana", &export) }).contains("expected 1 to 365"));
        }
    }

    #[test]
    fn a_file_from_before_there_were_tokens_is_brought_up_to_date() {
        let path = std::env::temp_dir().join(format!("equipoise-tokens-{}", std::process::id()));
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", path.display()));
        }
        {
            let accounts = Accounts::open(&path).unwrap();
            accounts.add("ana", Role::Owner, "three small boats", 0).unwrap();
            accounts
                .tables()
                .file()
                .unwrap()
                .execute_batch("DROP TABLE code; DROP TABLE token; PRAGMA user_version = 1;")
                .unwrap();
        }
        let accounts = Accounts::open(&path).unwrap();
        let token = accounts.add_token(&wanted("a", "ana", &[Scope::Export]), 0).unwrap();
        assert!(accounts.token(&token, 1).unwrap().is_some());
        drop(accounts);
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", path.display()));
        }
    }
}
