//! Studies in a PostgreSQL database: `--database`.

#[cfg(feature = "postgres")]
pub use with::*;
#[cfg(not(feature = "postgres"))]
pub use without::*;

#[cfg(feature = "postgres")]
mod with {
    use crate::fault::Fault;
    use anyhow::Result;
    use equipoise_log::{Database, Error, PostgresStore, Store};
    use equipoise_server::researcher::accounts::Accounts;
    use equipoise_study::contacts::Contacts;

    fn at(url: &str) -> Result<Database> {
        Database::parse(url).map_err(|error| Fault::usage(format!("--database: {error}")).into())
    }

    /// The log, begun if it is not there.
    pub fn open(url: &str) -> Result<Box<dyn Store>> {
        Ok(Box::new(PostgresStore::open(&at(url)?)?))
    }

    /// The log for a server, who says what the database does not promise.
    pub fn to_serve(url: &str) -> Result<Box<dyn Store>> {
        let store = PostgresStore::open(&at(url)?)?;
        if store.forgets()? {
            eprintln!(
                "warning: the database is set to fsync = off: what it acknowledges may be lost with the power; set it to on"
            );
        }
        Ok(Box::new(store))
    }

    /// The log, which must be there.
    pub fn existing(url: &str) -> Result<Box<dyn Store>> {
        Ok(Box::new(PostgresStore::open_existing(&at(url)?)?))
    }

    /// The log, if there is one.
    pub fn begun(url: &str) -> Result<Option<Box<dyn Store>>> {
        match PostgresStore::open_existing(&at(url)?) {
            Err(Error::Missing(_)) => Ok(None),
            opened => Ok(Some(Box::new(opened?))),
        }
    }

    /// Who may look at the study.
    pub fn accounts(url: &str) -> Result<Accounts> {
        Ok(Accounts::in_database(&at(url)?)?)
    }

    /// Who people are.
    pub fn contacts(url: &str) -> Result<Contacts> {
        Ok(Contacts::in_database(&at(url)?)?)
    }
}

#[cfg(not(feature = "postgres"))]
mod without {
    use crate::fault::Fault;
    use anyhow::Result;
    use equipoise_log::Store;
    use equipoise_server::researcher::accounts::Accounts;
    use equipoise_study::contacts::Contacts;

    fn cannot<T>() -> Result<T> {
        let what = "--database: this program was built without PostgreSQL; build one that has it with: cargo build --release \
                    --package equipoise-cli --features postgres";
        Err(Fault::usage(what).into())
    }

    pub fn open(_: &str) -> Result<Box<dyn Store>> {
        cannot()
    }

    pub fn to_serve(_: &str) -> Result<Box<dyn Store>> {
        cannot()
    }

    pub fn existing(_: &str) -> Result<Box<dyn Store>> {
        cannot()
    }

    pub fn begun(_: &str) -> Result<Option<Box<dyn Store>>> {
        cannot()
    }

    pub fn accounts(_: &str) -> Result<Accounts> {
        cannot()
    }

    pub fn contacts(_: &str) -> Result<Contacts> {
        cannot()
    }
}
