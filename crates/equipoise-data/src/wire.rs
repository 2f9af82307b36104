//! Tables between two processes: what one has read, in a form the other needs no reader of somebody else's for.
//!
//! A line of JSON says what follows; the columns follow as they are in memory, little end first. Whoever takes this checks it
//! as if it were a file: the other process may have been made to say anything.

use crate::confusions::ModelConfusions;
use crate::error::{Error, Kind, Result};
use crate::table::{Groups, Table};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// What is in the columns that follow.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    rows: usize,
    classes: Vec<String>,
    groups: Option<Vec<String>>,
    weights: bool,
}

/// Writes classes, probabilities, groups and weights of a table; what only the optimiser uses is left out.
pub fn write_table(table: &Table, out: &mut impl Write) -> io::Result<()> {
    let head = Head {
        rows: table.rows(),
        classes: table.classes().to_vec(),
        groups: table.groups().map(|groups| groups.names().to_vec()),
        weights: table.weights().is_some(),
    };
    serde_json::to_writer(&mut *out, &head)?;
    out.write_all(b"\n")?;
    out.write_all(table.truth())?;
    for class in 0..table.classes().len() {
        write_numbers(table.probabilities(class), out)?;
    }
    for code in table.groups().map_or(&[][..], Groups::codes) {
        out.write_all(&code.to_le_bytes())?;
    }
    write_numbers(table.weights().unwrap_or_default(), out)?;
    out.flush()
}

fn write_numbers(values: &[f64], out: &mut impl Write) -> io::Result<()> {
    values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

/// The table that was written, bit by bit, or why it is none.
pub fn read_table(bytes: &[u8]) -> Result<Table> {
    let end = bytes.iter().position(|&byte| byte == b'\n').ok_or_else(|| cut("no line"))?;
    let (head, rest) = bytes.split_at(end);
    let head: Head = serde_json::from_slice(head).map_err(|error| cut(&error.to_string()))?;
    let mut rest = rest.get(1..).unwrap_or_default();
    let truth = take(&mut rest, head.rows, 1)?.to_vec();
    let probabilities =
        head.classes.iter().map(|_| take_numbers(&mut rest, head.rows)).collect::<Result<Vec<_>>>()?;
    let codes = match &head.groups {
        Some(_) => take(&mut rest, head.rows, 2)?
            .as_chunks::<2>()
            .0
            .iter()
            .map(|code| u16::from_le_bytes(*code))
            .collect(),
        None => vec![],
    };
    let weights = if head.weights { Some(take_numbers(&mut rest, head.rows)?) } else { None };
    if !rest.is_empty() {
        return Err(cut("more than was announced"));
    }
    let mut table = Table::new(head.classes, truth, probabilities)?.data;
    if let Some(names) = head.groups {
        table = table.with_groups(Groups::new(names, codes)?)?;
    }
    match weights {
        Some(weights) => table.with_weights(weights),
        None => Ok(table),
    }
}

/// Writes models that are known by their counts.
pub fn write_models(models: &[ModelConfusions], out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, models)?;
    out.flush()
}

/// The models that were written, or why they are none.
pub fn read_models(bytes: &[u8]) -> Result<Vec<ModelConfusions>> {
    let models: Vec<ModelConfusions> =
        serde_json::from_slice(bytes).map_err(|error| cut(&error.to_string()))?;
    for model in &models {
        let cells = model.classes.len().checked_pow(2).and_then(|k| k.checked_mul(model.groups.len().max(1)));
        let bad = |count: &f64| !(count.is_finite() && *count >= 0.0);
        if cells != Some(model.counts.len()) || model.counts.is_empty() || model.counts.iter().any(bad) {
            return Err(cut("counts that do not fit their classes"));
        }
    }
    Ok(models)
}

/// The next column of so many cells of so many bytes.
fn take<'a>(rest: &mut &'a [u8], rows: usize, wide: usize) -> Result<&'a [u8]> {
    let (column, after) = rows
        .checked_mul(wide)
        .and_then(|length| rest.split_at_checked(length))
        .ok_or_else(|| cut("less than was announced"))?;
    *rest = after;
    Ok(column)
}

fn take_numbers(rest: &mut &[u8], rows: usize) -> Result<Vec<f64>> {
    Ok(take(rest, rows, 8)?.as_chunks::<8>().0.iter().map(|value| f64::from_le_bytes(*value)).collect())
}

fn cut(what: &str) -> Error {
    Error::new(Kind::Format, format!("a reader that said something else ({what})"), "a table")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let classes = vec!["a".to_owned(), "b\n\"".to_owned()];
        let first = vec![0.1, 0.2 + 1e-15, 1.0 / 3.0];
        let second = first.iter().map(|p| 1.0 - p).collect();
        let groups = Groups::new(vec!["x".into(), "y".into()], vec![1, 0, 1]).unwrap();
        let table = Table::new(classes, vec![0, 1, 1], vec![first, second]).unwrap().data;
        table.with_groups(groups).unwrap().with_weights(vec![0.5, 1e300, 3.0]).unwrap()
    }

    #[test]
    fn a_table_arrives_bit_by_bit() {
        let plain =
            Table::new(vec!["a".into(), "b".into()], vec![0, 1], vec![vec![0.5, 0.25], vec![0.5, 0.75]]);
        for table in [table(), plain.unwrap().data] {
            let mut said = vec![];
            write_table(&table, &mut said).unwrap();
            assert_eq!(read_table(&said).unwrap(), table);
        }
    }

    #[test]
    fn whatever_else_is_said_is_no_table_and_no_panic() {
        let mut said = vec![];
        write_table(&table(), &mut said).unwrap();
        for length in 0..said.len() {
            assert!(read_table(&said[..length]).is_err(), "{length} of {} bytes", said.len());
        }
        let text =
            String::from_utf8_lossy(&said[..said.iter().position(|&b| b == b'\n').unwrap()]).into_owned();
        for rows in ["2", "4", "18446744073709551615", "-1"] {
            let mut other = text.replace("\"rows\":3", &format!("\"rows\":{rows}")).into_bytes();
            other.extend_from_slice(&said[text.len()..]);
            assert!(read_table(&other).is_err(), "{rows} rows");
        }
        said.push(0);
        assert!(read_table(&said).is_err());
    }

    #[test]
    fn models_arrive_with_counts_that_fit() {
        let counts = vec![1.0, 2.0, 0.1 + 0.2, 4.0];
        let classes = vec!["a".to_owned(), "b".to_owned()];
        let model = ModelConfusions { name: "m".into(), classes, groups: vec![], counts };
        let mut said = vec![];
        write_models(std::slice::from_ref(&model), &mut said).unwrap();
        assert_eq!(read_models(&said).unwrap(), std::slice::from_ref(&model));
        for counts in [vec![], vec![1.0; 3], vec![1.0; 8], vec![1.0, -1.0, 1.0, 1.0]] {
            said.clear();
            write_models(&[ModelConfusions { counts, ..model.clone() }], &mut said).unwrap();
            assert!(read_models(&said).is_err());
        }
    }
}
