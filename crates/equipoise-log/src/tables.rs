//! Small tables beside a log, such as those of accounts: the same statements, in a file or in a database.
//!
//! Statements are fixed texts with `?1`, `?2` and so on for values, in the SQL that SQLite and PostgreSQL share.

use crate::error::Result;
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, Value as Held, ValueRef};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// None.
    Null,
    /// A number or a time.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl<const N: usize> From<[u8; N]> for Value {
    fn from(value: [u8; N]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Held::Null),
            Self::Int(value) => ToSqlOutput::Owned(Held::Integer(*value)),
            Self::Text(value) => ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes())),
            Self::Bytes(value) => ToSqlOutput::Borrowed(ValueRef::Blob(value)),
        })
    }
}

/// What a statement found, by column.
#[derive(Debug, Clone)]
pub struct Found(Vec<Value>);

impl Found {
    /// A number; 0 for what is none.
    pub fn int(&self, column: usize) -> i64 {
        self.maybe_int(column).unwrap_or(0)
    }

    /// A number, if it is one.
    pub fn maybe_int(&self, column: usize) -> Option<i64> {
        match self.0.get(column) {
            Some(Value::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// A text; empty for what is none.
    pub fn text(&self, column: usize) -> String {
        match self.0.get(column) {
            Some(Value::Text(value)) => value.clone(),
            _ => String::new(),
        }
    }

    /// Bytes; none for what is something else.
    pub fn bytes(&self, column: usize) -> Vec<u8> {
        match self.0.get(column) {
            Some(Value::Bytes(value)) => value.clone(),
            _ => vec![],
        }
    }

    /// So many bytes; zeros for what is something else.
    pub fn hash<const N: usize>(&self, column: usize) -> [u8; N] {
        self.bytes(column).try_into().unwrap_or([0; N])
    }
}

/// Tables in a file or in a database.
pub struct Tables(Place);

enum Place {
    File(Mutex<Connection>),
    #[cfg(feature = "postgres")]
    Database(Mutex<crate::postgres::Link>),
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tables")
    }
}

impl Tables {
    /// Tables of a file that is open.
    pub fn of(connection: Connection) -> Self {
        Self(Place::File(Mutex::new(connection)))
    }

    /// Tables of a study that is in a database, brought up to date.
    #[cfg(feature = "postgres")]
    pub fn open(database: &crate::Database) -> Result<Self> {
        let link = crate::PostgresStore::open(database)?.into_link();
        Ok(Self(Place::Database(Mutex::new(link))))
    }

    /// Whether several servers use them.
    pub fn is_shared(&self) -> bool {
        self.file().is_none()
    }

    /// Changes something: how many rows.
    pub fn execute(&self, sql: &'static str, values: &[Value]) -> Result<usize> {
        match &self.0 {
            Place::File(connection) => {
                Ok(lock(connection).prepare_cached(sql)?.execute(rusqlite::params_from_iter(values))?)
            }
            #[cfg(feature = "postgres")]
            Place::Database(link) => beside::execute(&lock(link), sql, values),
        }
    }

    /// Looks for something: all rows.
    pub fn query(&self, sql: &'static str, values: &[Value]) -> Result<Vec<Found>> {
        match &self.0 {
            Place::File(connection) => {
                let connection = lock(connection);
                let mut statement = connection.prepare_cached(sql)?;
                let columns = statement.column_count();
                let found = statement.query_map(rusqlite::params_from_iter(values), |row| {
                    (0..columns).map(|column| Ok(held(row.get_ref(column)?))).collect::<rusqlite::Result<_>>()
                })?;
                Ok(found.map(|row| row.map(Found)).collect::<rusqlite::Result<_>>()?)
            }
            #[cfg(feature = "postgres")]
            Place::Database(link) => beside::query(&lock(link), sql, values),
        }
    }

    /// Looks for something: the first row.
    pub fn first(&self, sql: &'static str, values: &[Value]) -> Result<Option<Found>> {
        Ok(self.query(sql, values)?.into_iter().next())
    }

    /// Makes sure that no file holds what was deleted from the table of contact data; `false` if somebody is in the way.
    pub fn settle_contacts(&self) -> Result<bool> {
        match &self.0 {
            Place::File(connection) => Ok(crate::fold_in(&lock(connection))?),
            #[cfg(feature = "postgres")]
            Place::Database(link) => beside::settle(&lock(link)),
        }
    }

    /// The file, if they are in one.
    pub fn file(&self) -> Option<MutexGuard<'_, Connection>> {
        match &self.0 {
            Place::File(connection) => Some(lock(connection)),
            #[cfg(feature = "postgres")]
            Place::Database(_) => None,
        }
    }
}

fn held(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Text(value) => Value::Text(String::from_utf8_lossy(value).into_owned()),
        ValueRef::Blob(value) => Value::Bytes(value.to_vec()),
        ValueRef::Null | ValueRef::Real(_) => Value::Null,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(feature = "postgres")]
mod beside {
    use super::{Found, Value};
    use crate::error::Result;
    use crate::postgres::{BESIDE, Link};
    use postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

    impl ToSql for Value {
        fn to_sql(
            &self,
            kind: &Type,
            out: &mut BytesMut,
        ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
            match self {
                Self::Null => Ok(IsNull::Yes),
                Self::Int(value) => value.to_sql(kind, out),
                Self::Text(value) => value.to_sql(kind, out),
                Self::Bytes(value) => value.to_sql(kind, out),
            }
        }

        fn accepts(kind: &Type) -> bool {
            [Type::INT8, Type::TEXT, Type::BYTEA].contains(kind)
        }

        to_sql_checked!();
    }

    fn found(row: &postgres::Row) -> Result<Found> {
        let value = |place: usize, kind: &Type| -> Result<Value> {
            Ok(match *kind {
                Type::TEXT => row.try_get::<_, Option<String>>(place)?.map_or(Value::Null, Value::Text),
                Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(place)?.map_or(Value::Null, Value::Bytes),
                _ => row.try_get::<_, Option<i64>>(place)?.map_or(Value::Null, Value::Int),
            })
        };
        let columns = row.columns().iter().enumerate();
        Ok(Found(columns.map(|(place, column)| value(place, column.type_())).collect::<Result<_>>()?))
    }

    /// A statement as PostgreSQL writes it. There are as many as there are statements, and each is made once.
    fn own(sql: &'static str) -> &'static str {
        use std::collections::HashMap;
        use std::sync::{LazyLock, Mutex};
        static OWN: LazyLock<Mutex<HashMap<&'static str, &'static str>>> = LazyLock::new(Mutex::default);
        super::lock(&OWN).entry(sql).or_insert_with(|| sql.replace('?', "$").leak())
    }

    /// With nobody else changing one of the tables meanwhile, as in a file.
    pub(super) fn execute(link: &Link, sql: &'static str, values: &[Value]) -> Result<usize> {
        let values = values.to_vec();
        link.call(move |session| {
            let transaction = session.begin(BESIDE)?;
            let all: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
            match session.execute(own(sql), &all) {
                Ok(changed) => session.commit(&transaction).map(|()| changed as usize),
                Err(error) => {
                    let _ = session.batch("ROLLBACK");
                    Err(error)
                }
            }
        })
    }

    pub(super) fn query(link: &Link, sql: &'static str, values: &[Value]) -> Result<Vec<Found>> {
        let values = values.to_vec();
        link.read(move |session| {
            let all: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
            session.query(own(sql), &all)?.iter().map(found).collect()
        })
    }

    pub(super) fn settle(link: &Link) -> Result<bool> {
        link.read(|session| session.vacuum(&["contact", "contact_key"]))
    }
}
