//! What the tables are, and how they came to be so.

use super::link::{Database, Session};
use crate::error::{Error, Result};

/// How the tables came to be what they are, step by step; `format` has the number of the last step taken.
const MIGRATIONS: [&str; 1] = [include_str!("migrations/0001_study.sql")];

/// What the locks are called that a database keeps for us, as PostgreSQL wants it: two numbers. This is the first.
pub(crate) const LOCKS: i32 = 0x6571_7569;
/// Held by whoever writes the log.
pub(crate) const WRITING: i32 = 1;
/// Held by whoever brings the tables up to date.
const MIGRATING: i32 = 2;
/// Held by the one server that does what must be done once.
pub(crate) const LEADING: i32 = 3;
/// Held by whoever writes one of the small tables.
pub(crate) const BESIDE: i32 = 4;

/// Which step was the last; 0 where there are no tables.
fn version(session: &mut Session) -> Result<usize> {
    // Not by `to_regclass`, which within a transaction may not know what another one has just made.
    let there = session.query(
        "SELECT 1 FROM pg_class WHERE relname = 'format' AND relnamespace = current_schema()::regnamespace",
        &[],
    )?;
    if there.is_empty() {
        return Ok(0);
    }
    let found = session.query("SELECT max(version) FROM format", &[])?;
    let version: Option<i64> = found.first().map(|row| row.try_get(0)).transpose()?.flatten();
    Ok(version.and_then(|version| version.try_into().ok()).unwrap_or(0))
}

/// Brings the tables up to date; nobody else does so meanwhile.
pub(crate) fn migrate(session: &mut Session, database: &Database) -> Result<()> {
    if check(session, database)? == MIGRATIONS.len() {
        return Ok(());
    }
    let transaction = session.begin(MIGRATING)?;
    let mut steps = || {
        // Another process may have been faster.
        for (step, statements) in (1_i64..).zip(MIGRATIONS).skip(check(session, database)?) {
            session.batch(statements)?;
            session.execute("DELETE FROM format", &[])?;
            session.execute("INSERT INTO format (version) VALUES ($1)", &[&step])?;
        }
        Ok(())
    };
    match steps() {
        Ok(()) => session.commit(&transaction),
        Err(error) => {
            let _ = session.batch("ROLLBACK");
            Err(error)
        }
    }
}

/// Which step was the last; refuses tables of a newer release.
pub(crate) fn check(session: &mut Session, database: &Database) -> Result<usize> {
    let (found, known) = (version(session)?, MIGRATIONS.len());
    match found > known {
        false => Ok(found),
        true => {
            let what = format!(
                "{database} was written by a newer release (format {found}; this release knows {known})"
            );
            Err(Error::storage(what))
        }
    }
}
