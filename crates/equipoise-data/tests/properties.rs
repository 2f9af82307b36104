//! What holds for every table, not only for those we thought of.

mod common;

use common::{Layout, Values, gzip, parquet, scratch};
use equipoise_data::{Columns, read};
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch("properties").join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Names with everything that CSV has to quote.
fn name() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => any::<char>(),
        4 => prop::sample::select(vec!['"', ',', ';', '\t', '\n', '\r', ' ', '\'']),
        2 => prop::char::range('a', 'f'),
    ];
    // Letters at the ends keep the name from being trimmed or read as a number.
    let inside = prop::collection::vec(character.prop_filter("means binary", |&c| c != '\0'), 0..6);
    inside.prop_map(|inside| format!("g{}g", inside.into_iter().collect::<String>()))
}

/// A number in [0, 1] and one of the ways to write it.
fn written_number() -> impl Strategy<Value = (f64, String)> {
    let value =
        prop_oneof![0.0..=1.0, Just(0.0), Just(1.0), Just(5e-324), Just(f64::MIN_POSITIVE), Just(0.1 + 0.2)];
    (value, 0..7_u8, 0..20_usize).prop_map(|(value, style, digits)| {
        let text = match style {
            0 => format!("{value}"),
            1 => format!("{value:e}"),
            2 => format!("{value:E}"),
            3 => format!("+{value}"),
            4 => format!("  {value} "),
            5 => format!("{value:.digits$}"),
            _ => format!("{value}").trim_start_matches('0').to_owned(),
        };
        let text = if text.is_empty() { "0".to_owned() } else { text };
        (text.trim().parse().unwrap(), text)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quoted_names_come_back_as_they_were(
        names in prop::collection::vec(name(), 2..20),
        delimiter in prop::sample::select(vec![b',', b';', b'\t']),
        crlf in any::<bool>(),
        zipped in any::<bool>(),
    ) {
        let end = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).terminator(end).from_writer(Vec::new());
        writer.write_record(["y", "group", "p"]).unwrap();
        for (row, name) in names.iter().enumerate() {
            writer.write_record([["no", "yes"][row % 2], name, "0.5"]).unwrap();
        }
        let bytes = writer.into_inner().unwrap();
        let path = write("quoted.csv", &if zipped { gzip(&bytes) } else { bytes });
        let table = read::table(path, &Columns::guess()).unwrap().data;
        let groups = table.groups().unwrap();
        for (row, name) in names.iter().enumerate() {
            prop_assert_eq!(&groups.names()[usize::from(groups.codes()[row])], name);
        }
    }

    #[test]
    fn a_bad_cell_is_on_the_line_it_is_on(
        names in prop::collection::vec(name(), 2..20),
        blank_lines in prop::collection::vec(0..3_usize, 20),
        crlf in any::<bool>(),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let mut text = format!("y,group,p{end}");
        for (row, name) in names.iter().enumerate() {
            text += &end.repeat(blank_lines[row]);
            let bad = row + 1 == names.len();
            if bad {
                // A line ends with a return, a newline, or both; inside quotes as well.
                let lines = text.replace("\r\n", "\n").matches(['\n', '\r']).count();
                text += &format!("1,\"{}\",x{end}", name.replace('"', "\"\""));
                let error = read::table(write("bad_cell.csv", text.as_bytes()), &Columns::guess()).unwrap_err();
                prop_assert_eq!(error.place.row, Some(row as u64 + 1));
                prop_assert_eq!(error.place.line, Some(lines as u64 + 1));
                prop_assert_eq!(error.place.column.as_deref(), Some("p"));
            } else {
                text += &format!("{},\"{}\",0.5{end}", row % 2, name.replace('"', "\"\""));
            }
        }
    }

    #[test]
    fn numbers_are_read_to_the_last_bit(numbers in prop::collection::vec(written_number(), 2..30)) {
        let mut text = "y,p\n".to_owned();
        numbers.iter().enumerate().for_each(|(row, (_, number))| text += &format!("{},{number}\n", row % 2));
        let table = read::table(write("numbers.csv", text.as_bytes()), &Columns::guess()).unwrap().data;
        for (read, (value, _)) in table.probabilities(1).iter().zip(&numbers) {
            prop_assert_eq!(read.to_bits(), value.to_bits());
        }
    }

    #[test]
    fn csv_json_and_parquet_agree(rows in prop::collection::vec((0..3_i32, 0.0..1.0_f64, 0.0..1.0_f64), 1..40)) {
        // One row of each class to begin with.
        let rows = [vec![(0, 0.5, 0.5), (1, 0.5, 0.5), (2, 0.5, 0.5)], rows].concat();
        let probabilities = |a: f64, b: f64| [a * b, a * (1.0 - b), 1.0 - a];
        let (mut csv, mut json) = ("y,p_0,p_1,p_2\n".to_owned(), String::new());
        for &(y, a, b) in &rows {
            let [p0, p1, p2] = probabilities(a, b);
            csv += &format!("{y},{p0},{p1},{p2}\n");
            json += &format!("{{\"y\":{y},\"p_0\":{p0},\"p_1\":{p1},\"p_2\":{p2}}}\n");
        }
        let truth: Vec<i32> = rows.iter().map(|&(y, _, _)| y).collect();
        let mut columns = vec![("y", Values::ints(&truth))];
        for (class, name) in ["p_0", "p_1", "p_2"].into_iter().enumerate() {
            let values: Vec<f64> = rows.iter().map(|&(_, a, b)| probabilities(a, b)[class]).collect();
            columns.push((name, Values::doubles(&values)));
        }
        let bytes = parquet(&columns, Layout { rows_per_group: 11, ..Layout::default() });
        let from_csv = read::table(write("agree.csv", csv.as_bytes()), &Columns::guess()).unwrap();
        let from_json = read::table(write("agree.jsonl", json.as_bytes()), &Columns::guess()).unwrap();
        let from_parquet = read::table(write("agree.parquet", &bytes), &Columns::guess()).unwrap();
        prop_assert_eq!(&from_csv.data, &from_json.data);
        prop_assert_eq!(&from_csv.data, &from_parquet.data);
        prop_assert_eq!(&from_csv.notes[1..], &from_parquet.notes[1..]);
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        start in prop::sample::select(vec!["", "y,p\n", "y,p\n1,0.5\n", "{\"y\":1,\"p\":0.5}\n", "{\"y\":", "PAR1", "ARROW1"]),
        name in prop::sample::select(vec!["any.csv", "any.jsonl", "any.parquet", "any"]),
        zipped in any::<bool>(),
    ) {
        let bytes = [start.as_bytes(), &bytes].concat();
        let path = write(name, &if zipped { gzip(&bytes) } else { bytes });
        if let Err(error) = read::table(&path, &Columns::guess()) {
            prop_assert!(error.to_string().starts_with(&path.display().to_string()));
        }
        let _ = read::confusions(&path);
    }

    #[test]
    fn damaged_parquet_is_read_or_refused(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let columns = [
            ("y", Values::texts(&["no", "yes", "no", "yes"])),
            ("p", Values::doubles(&[0.1, 0.7, 0.2, 0.9])),
            ("group", Values::Boolean(vec![Some(true), Some(false), Some(false), Some(true)])),
        ];
        let mut bytes = parquet(&columns, Layout { rows_per_group: 2, ..Layout::default() });
        for (place, value) in damage {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let _ = read::table(write("damaged.parquet", &bytes), &Columns::guess());
    }
}
