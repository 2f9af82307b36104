//! The rows during a transaction.

use super::link::Link;
use super::seal::{self, Said, Secret};
use super::{head, is_spent, number, secret, session, stored};
use crate::chain::Head;
use crate::error::{Error, Result};
use crate::store::Table;
use crate::transaction::Last;
use crate::{COMMON_SESSION, Payload, Row};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// A line of the table of sessions, by its number there, and the secret of what is written under it.
type Line = (i64, Secret);

/// The log while nobody else writes it.
pub(super) struct Open<'a> {
    link: &'a Link,
    /// As far as it is known: nobody else changes it.
    head: Cell<Option<Head>>,
    lines: RefCell<HashMap<String, Line>>,
}

impl<'a> Open<'a> {
    pub(super) fn new(link: &'a Link) -> Self {
        Self { link, head: Cell::new(None), lines: RefCell::default() }
    }

    /// The line under which a session's rows are written, if it has one.
    fn line(&self, name: &str) -> Result<Option<Line>> {
        if let Some(line) = self.lines.borrow().get(name) {
            return Ok(Some(*line));
        }
        let own = name.to_owned();
        let line = self.link.call(move |session| {
            let found = session.query(
                "SELECT id, secret FROM log_session WHERE name = $1 AND secret IS NOT NULL",
                &[&own],
            )?;
            let Some(row) = found.first() else { return Ok(None) };
            secret(row, 1)?.map(|secret| Ok((row.try_get(0)?, secret))).transpose()
        })?;
        if let Some(line) = line {
            self.lines.borrow_mut().insert(name.to_owned(), line);
        }
        Ok(line)
    }

    /// The same; begins one if there is none.
    fn line_or_new(&self, name: &str) -> Result<Line> {
        if let Some(line) = self.line(name)? {
            return Ok(line);
        }
        let (own, secret) = (name.to_owned(), seal::random::<32>()?);
        let id = self.link.call(move |session| {
            new_line(session.query(
                "INSERT INTO log_session (name, secret) VALUES ($1, $2) RETURNING id",
                &[&own, &&secret[..]],
            )?)
        })?;
        self.lines.borrow_mut().insert(name.to_owned(), (id, secret));
        Ok((id, secret))
    }

    /// The line of rows of a session that were erased.
    fn blank_line(&self, name: &str) -> Result<i64> {
        let name = name.to_owned();
        self.link.call(move |session| {
            let found =
                session.query("SELECT id FROM log_session WHERE name = $1 AND secret IS NULL", &[&name])?;
            match found.is_empty() {
                false => new_line(found),
                true => new_line(
                    session.query("INSERT INTO log_session (name) VALUES ($1) RETURNING id", &[&name])?,
                ),
            }
        })
    }
}

fn new_line(found: Vec<postgres::Row>) -> Result<i64> {
    let row = found.first().ok_or_else(|| Error::storage("the database answered with nothing"))?;
    Ok(row.try_get(0)?)
}

impl Table for Open<'_> {
    fn head(&self) -> Result<Head> {
        if let Some(head) = self.head.get() {
            return Ok(head);
        }
        let head = self.link.call(head)?;
        self.head.set(Some(head));
        Ok(head)
    }

    fn session(&self, name: &str) -> Result<Vec<Row>> {
        let name = name.to_owned();
        self.link.call(move |link| session(link, &name))
    }

    fn begun(&self) -> Result<u64> {
        self.link.call(|session| {
            let found = session.query(
                "SELECT count(*) FROM event e JOIN log_session s ON s.id = e.session WHERE e.seq = 1 AND s.name <> $1",
                &[&COMMON_SESSION],
            )?;
            number(new_line(found)?)
        })
    }

    fn keyed(&self, name: &str, key: &str) -> Result<Option<Row>> {
        let Some((id, secret)) = self.line(name)? else { return Ok(None) };
        let (name, mark) = (name.to_owned(), seal::mark(&secret, key));
        self.link.call(move |link| {
            let found =
                link.query("SELECT seq FROM event WHERE session = $1 AND mark = $2", &[&id, &&mark[..]])?;
            let Some(row) = found.first() else { return Ok(None) };
            let seq = number(row.try_get(0)?)?;
            Ok(session(link, &name)?.into_iter().find(|row| row.seq == seq))
        })
    }

    fn last(&self, name: &str) -> Result<Last> {
        let name = name.to_owned();
        self.link.call(move |session| {
            let found = session.query(
                "SELECT max(e.seq), bool_or(e.seq = 1 AND s.secret IS NULL) \
                 FROM log_session s JOIN event e ON e.session = s.id WHERE s.name = $1",
                &[&name],
            )?;
            let row = found.first().ok_or_else(|| Error::storage("the database answered with nothing"))?;
            match row.try_get::<_, Option<i64>>(0)? {
                Some(seq) => {
                    Ok(Last { seq: number(seq)?, erased: row.try_get::<_, Option<bool>>(1)? == Some(true) })
                }
                None => Ok(Last { seq: 0, erased: is_spent(session, &name)? }),
            }
        })
    }

    fn insert(&mut self, row: &Row) -> Result<()> {
        let (position, seq) = (stored(row.position)?, stored(row.seq)?);
        let (id, mark, sealed) = match Said::of(row) {
            Some(said) => {
                let (id, secret) = self.line_or_new(&row.session)?;
                let sealed = seal::seal(&secret, row.position, &said)?;
                (id, Some(seal::mark(&secret, &row.key).to_vec()), Some(sealed))
            }
            None if row.at == 0 && row.key == row.seq.to_string() => {
                (self.blank_line(&row.session)?, None, None)
            }
            None => {
                let what =
                    format!("row {} was erased by an older release, which left its time", row.position);
                return Err(Error::storage(format!("{what}; such a log can be in a file only")));
            }
        };
        let [commitment, previous, hash] = [row.commitment, row.previous, row.hash];
        self.link.call(move |session| {
            session.execute(
                "INSERT INTO event (position, session, seq, mark, commitment, previous, hash, sealed) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                &[&position, &id, &seq, &mark, &&commitment[..], &&previous[..], &&hash[..], &sealed],
            )?;
            session.written = Some((position, hash));
            Ok(())
        })?;
        self.head.set(Some(Head { position: row.position, hash }));
        Ok(())
    }

    fn forget(&mut self, name: &str, new: &str) -> Result<()> {
        self.lines.borrow_mut().clear();
        let (name, new) = (name.to_owned(), new.to_owned());
        self.link.call(move |session| {
            session
                .execute("UPDATE log_session SET name = $2, secret = NULL WHERE name = $1", &[&name, &new])
                .map(drop)
        })
    }

    fn spend(&mut self, name: &str) -> Result<()> {
        let name = name.to_owned();
        self.link.call(move |session| {
            session
                .execute("INSERT INTO spent (session) VALUES ($1) ON CONFLICT DO NOTHING", &[&name])
                .map(drop)
        })
    }

    fn replace(&mut self, position: u64, payload: &Payload) -> Result<()> {
        let (place, payload) = (stored(position)?, payload.clone());
        self.link.call(move |session| {
            let found = session.query(
                "SELECT e.sealed, s.secret FROM event e JOIN log_session s ON s.id = e.session \
                 WHERE e.position = $1 AND e.sealed IS NOT NULL AND s.secret IS NOT NULL",
                &[&place],
            )?;
            let Some(row) = found.first() else { return Ok(()) };
            let Some(secret) = secret(row, 1)? else { return Ok(()) };
            let said = Said { payload, ..seal::open(&secret, position, row.try_get(0)?)? };
            let sealed = seal::seal(&secret, position, &said)?;
            session.execute("UPDATE event SET sealed = $2 WHERE position = $1", &[&place, &sealed]).map(drop)
        })
    }
}
