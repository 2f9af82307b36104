//! Databases through ADBC: drivers are shared libraries that the user has, and answers come as Arrow batches.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "rows are counted in the batches that hold them"
)]

use super::database::{Answers, Value};
use super::statements::Dialect;
use crate::error::{Error, Kind, Result, quoted};
use adbc_core::options::{AdbcVersion, OptionDatabase};
use adbc_core::{Connection as _, Database as _, Driver as _, LOAD_FLAG_DEFAULT, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedDriver};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatchReader};
use arrow_schema::DataType;
use std::sync::{Mutex, PoisonError};

/// Where DuckDB's library begins, which is not where others do.
const DUCKDB: &[u8] = b"duckdb_adbc_init";

/// A connection to a database.
pub struct Adbc {
    connection: Mutex<ManagedConnection>,
    dialect: Dialect,
}

impl Adbc {
    /// Loads a driver, by the path of its library or manifest or by a name that the driver manager finds, and connects.
    pub fn connect(driver: &str, uri: &str) -> Result<Self> {
        let load =
            |entry| ManagedDriver::load_from_name(driver, entry, AdbcVersion::V110, LOAD_FLAG_DEFAULT, None);
        let (mut loaded, place) = match load(None) {
            Ok(loaded) => (loaded, OptionDatabase::Uri),
            Err(error) => match load(Some(DUCKDB)) {
                Ok(loaded) => (loaded, OptionDatabase::Other("path".to_owned())),
                Err(_) => return Err(no_driver(driver, &error)),
            },
        };
        let opened = loaded.new_database_with_opts([(place, uri.into())]).and_then(|it| it.new_connection());
        let unreached = |error: adbc_core::error::Error| {
            // What drivers say may repeat the address, with a password in it.
            let said = first_line(&error).replace(uri, "the address");
            Error::new(
                Kind::Unreadable,
                format!("a database that cannot be reached ({said})"),
                "one that can",
            )
        };
        let connection = opened.map_err(unreached)?;
        let mut found = Self { connection: Mutex::new(connection), dialect: Dialect::STANDARD };
        // Asked for what only they understand, databases tell which they are.
        if found.answer("SELECT sqlite_version() AS v", 1).is_ok() {
            found.dialect = Dialect::SQLITE;
        } else if found.answer("SELECT 1 AS `v`", 1).is_ok() {
            found.dialect = Dialect::BACKTICKS;
        } else {
            // PostgreSQL hands text over as the database has it, unless it is asked for another encoding; others do not know this.
            let _ = found.answer("SELECT set_config('client_encoding', 'UTF8', false) AS v", 1);
        }
        Ok(found)
    }

    fn run<T>(
        &self,
        statement: &str,
        take: impl FnOnce(Box<dyn RecordBatchReader + Send>) -> Result<T>,
    ) -> Result<T> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = |error: adbc_core::error::Error| {
            let found = format!("a database that does not answer ({})", first_line(&error));
            Error::new(Kind::Unreadable, found, "a table that can be counted")
        };
        let mut made = connection.new_statement().map_err(refused)?;
        made.set_sql_query(statement).map_err(refused)?;
        let answer = made.execute().map_err(refused)?;
        // The statement lives until its answer has been read.
        let taken = take(answer);
        drop(made);
        taken
    }
}

fn no_driver(driver: &str, error: &adbc_core::error::Error) -> Error {
    let found = format!("no driver {} ({})", quoted(driver), first_line(error));
    let expected = "the path of a driver's shared library, or its name where the system finds it";
    Error::new(Kind::Unreadable, found, expected).file("--adbc")
}

fn first_line(error: &adbc_core::error::Error) -> String {
    let said: String = error.message.lines().next().unwrap_or_default().chars().take(200).collect();
    if said.is_empty() { format!("{:?}", error.status) } else { said }
}

impl Answers for Adbc {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn columns(&self, statement: &str) -> Result<Vec<String>> {
        self.run(statement, |answer| {
            Ok(answer.schema().fields().iter().map(|field| field.name().clone()).collect())
        })
    }

    fn answer(&self, statement: &str, most: usize) -> Result<Vec<Vec<Value>>> {
        self.run(statement, |answer| {
            let mut rows = vec![];
            for batch in answer {
                let batch = batch.map_err(|error| {
                    let said = error.to_string();
                    let found =
                        format!("an answer that breaks off ({})", said.lines().next().unwrap_or_default());
                    Error::new(Kind::Unreadable, found, "a whole one")
                })?;
                if rows.len() + batch.num_rows() > most {
                    let found = format!("an answer of more than {most} counts");
                    let expected = "a table that does not change while it is counted";
                    return Err(Error::new(Kind::Mismatch, found, expected));
                }
                for row in 0..batch.num_rows() {
                    let cells = batch.columns().iter().map(|column| value(column, row));
                    rows.push(cells.collect::<Result<Vec<_>>>()?);
                }
            }
            Ok(rows)
        })
    }
}

/// A cell of a batch.
fn value(column: &dyn Array, row: usize) -> Result<Value> {
    if column.is_null(row) {
        return Ok(Value::Missing);
    }
    macro_rules! number {
        ($kind:ty, $value:ident) => {
            Value::$value(column.as_primitive::<$kind>().value(row).into())
        };
    }
    Ok(match column.data_type() {
        DataType::Boolean => Value::Boolean(column.as_boolean().value(row)),
        DataType::Int8 => number!(Int8Type, Integer),
        DataType::Int16 => number!(Int16Type, Integer),
        DataType::Int32 => number!(Int32Type, Integer),
        DataType::Int64 => number!(Int64Type, Integer),
        DataType::UInt8 => number!(UInt8Type, Integer),
        DataType::UInt16 => number!(UInt16Type, Integer),
        DataType::UInt32 => number!(UInt32Type, Integer),
        DataType::UInt64 => {
            let value = column.as_primitive::<UInt64Type>().value(row);
            i64::try_from(value).map_or(Value::Number(value as f64), Value::Integer)
        }
        DataType::Float32 => number!(Float32Type, Number),
        DataType::Float64 => number!(Float64Type, Number),
        DataType::Decimal128(_, scale) => {
            let value = column.as_primitive::<Decimal128Type>().value(row);
            match (i64::try_from(value), scale) {
                (Ok(value), 0) => Value::Integer(value),
                _ => Value::Number(value as f64 / 10_f64.powi(i32::from(*scale))),
            }
        }
        DataType::Utf8 => Value::Text(column.as_string::<i32>().value(row).to_owned()),
        DataType::LargeUtf8 => Value::Text(column.as_string::<i64>().value(row).to_owned()),
        DataType::Utf8View => Value::Text(column.as_string_view().value(row).to_owned()),
        DataType::Null => Value::Missing,
        DataType::Dictionary(..) => {
            let column = column.as_any_dictionary();
            let key = column.normalized_keys().get(row).copied().unwrap_or_default();
            return value(column.values(), key);
        }
        other => {
            let expected = "text, numbers, true or false";
            return Err(Error::new(Kind::NotALabel, format!("cells of type {other}"), expected));
        }
    })
}
