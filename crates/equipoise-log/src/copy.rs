//! A log of any store as a file that every release can read: what `backup` makes.

use crate::error::{Error, Result};
use crate::files::{self, added};
use crate::sqlite::SqliteStore;
use crate::store::{Reader, Store as _};
use std::path::Path;

/// Copies all rows, as of one moment, into a new SQLite file. It is there completely or not at all.
pub(crate) fn to_file(log: &dyn Reader, to: &Path) -> Result<()> {
    if to.exists() {
        return Err(Error::Missing(format!("{} is there already", to.display())));
    }
    let part = added(to, ".part");
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(added(&part, ending));
    }
    let mut file = SqliteStore::begin_apart(&part)?;
    let mut copied = Ok(());
    file.transact(&mut |table| {
        let mut spent = None;
        let read = log.each_after(0, &mut |row| {
            // Names of the same moment as the rows.
            if spent.is_none() {
                spent = Some(log.spent());
            }
            copied = table.insert(&row);
            copied.is_ok()
        });
        copied = std::mem::replace(&mut copied, Ok(())).and(read).and_then(|()| {
            spent.transpose()?.unwrap_or_default().iter().try_for_each(|session| table.spend(session))
        });
        copied.is_ok()
    })?;
    copied?;
    file.into_one_file()?;
    let io = |e: std::io::Error| Error::with_file(format!("cannot write {}", to.display()), &e);
    files::sync(&part).map_err(io)?;
    std::fs::rename(&part, to).map_err(io)?;
    files::sync_name(to);
    Ok(())
}
