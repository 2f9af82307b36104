//! A corpus of broken tables: every message names the right file, row and column.
//!
//! Text files are in `corpus/`, binary ones are made here. `corpus/expected.txt` has a line for each case,
//! the file and how it is read, and below it the message. To take over changed messages, look at the
//! difference and run `UPDATE_EXPECTED=1 cargo test -p equipoise-data --features arrow --test corpus`.

mod common;

use common::{Layout, Values, gzip, parquet, scratch};
use equipoise_data::{Columns, read};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const EXPECTED: &str = "tests/corpus/expected.txt";

/// One case: which file, how it is read, what is said.
#[derive(Debug, Clone)]
struct Case {
    file: String,
    call: String,
    message: String,
}

fn cases() -> Vec<Case> {
    let text = fs::read_to_string(EXPECTED).unwrap();
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("    "), line.split_once(" | ")) {
            (Some(message), _) => cases.last_mut().unwrap().message = message.to_owned(),
            (None, Some((file, call))) => {
                cases.push(Case { file: file.to_owned(), call: call.to_owned(), message: String::new() });
            }
            (None, None) => panic!("neither a case nor a message: {line}"),
        }
    }
    cases
}

/// Whether a case is about a build with or without the feature `arrow`.
fn applies(case: &Case) -> bool {
    match case.call.split(' ').find_map(|word| word.strip_prefix('@')) {
        Some("arrow") => cfg!(feature = "arrow"),
        Some("default") => !cfg!(feature = "arrow"),
        _ => true,
    }
}

/// Reads the file of a case and gives the message, with the directory left out.
fn said(case: &Case, made: &Path) -> String {
    let kept = Path::new("tests/corpus").join(&case.file);
    let path = if kept.exists() { kept } else { made.join(&case.file) };
    let mut columns = Columns::guess();
    for option in case.call.split(' ') {
        columns = match option.split_once('=') {
            Some(("truth", name)) => columns.truth(name),
            Some(("scores", names)) => columns.scores(names.split(',')),
            Some(("groups", names)) => columns.groups(names.split(',')),
            Some(("weight", name)) => columns.weight(name),
            Some(("positive", name)) => columns.positive(name),
            _ => columns,
        };
    }
    let error = match case.call.starts_with("confusions") {
        true => read::confusions(&path).err(),
        false => read::table(&path, &columns).err(),
    };
    let said = error.map_or("no error".to_owned(), |error| error.to_string());
    said.replace(&path.display().to_string(), &case.file)
}

/// Files that are not text, or not UTF-8.
fn made() -> PathBuf {
    let directory = scratch("corpus");
    let write = |name: &str, bytes: &[u8]| fs::write(directory.join(name), bytes).unwrap();
    let good = b"y,p_0,p_1\n1,0.3,0.7\n0,0.6,0.4\n".as_slice();
    let long: String = (0..5000).map(|n| format!("{},0.{:03}\n", n % 2, n * 7919 % 997)).collect();

    let zipped = gzip(format!("y,p\n{long}").as_bytes());
    write("breaks_off.csv.gz", &zipped[..zipped.len() / 2]);
    write("breaks_off_at_once.csv.gz", &zipped[..12]);
    let mut wrong_sum = gzip(good);
    let checksum = wrong_sum.len() - 8;
    wrong_sum[checksum] ^= 0xff;
    write("wrong_checksum.csv.gz", &wrong_sum);
    write("empty.csv.gz", &gzip(b""));
    write("not_compressed.csv.gz", good);
    write("bad_cell.csv.gz", &gzip(b"y,p\n1,0.7\n0,x\n"));
    write("breaks_off.jsonl.gz", &gzip(b"{\"y\": 1, \"p\": 0.7}\n{\"y\": 0, \"p\":"));
    write("binary.csv", b"y,p\n1,0.7\n\0\x01\x02,0.4\n");
    write("workbook.csv", b"PK\x03\x04\x14\0\x06\0");
    write("image.jsonl", b"\x89PNG\r\n\x1a\n\0\0");
    write("array.npy", b"\x93NUMPY\x01\0v\0");
    write("utf_16.csv", b"\xff\xfey\0,\0p\0\n\0");
    write("latin_1_label.csv", b"y,p\nja,0.7\nn\xe9,0.4\n");
    write("latin_1_group.csv", b"y,p,group\n1,0.7,S\xfcd\n0,0.4,Nord\n");
    write("latin_1_header.csv", b"y,p,gr\xf6\xdfe\n1,0.7,3\n0,0.4,4\n");
    write("latin_1_number.csv", b"y,p\n1,0\xb77\n0,0.4\n");
    write("latin_1.jsonl", b"{\"y\": \"ja\", \"p\": 0.7}\n{\"y\": \"n\xe9\", \"p\": 0.4}\n");
    let labels: String = (0..300).map(|n| format!("{n},0.5\n")).collect();
    write("too_many_classes.csv", format!("id,p\n{labels}").as_bytes());
    let labels: String = (0..66_000).map(|n| format!("{n},0.5\n")).collect();
    write("far_too_many_classes.csv", format!("id,p\n{labels}").as_bytes());
    write("many_bad_cells.csv", format!("y,p\n{long}0,x\n{long}1,x\n0,x\n").as_bytes());
    fs::create_dir_all(directory.join("directory.csv")).unwrap();

    write("text.parquet", good);
    write("text.arrow", good);
    write_parquet_files(&write);
    #[cfg(feature = "arrow")]
    write_arrow_files(&write);
    #[cfg(not(feature = "arrow"))]
    write("feature.arrow", b"ARROW1\0\0");
    directory
}

/// Four rows of three columns, with one column replaced.
fn columns_with(name: &'static str, values: Values) -> Vec<(&'static str, Values)> {
    let mut columns = vec![
        ("y", Values::ints(&[0, 1, 1, 0])),
        ("p_0", Values::doubles(&[0.75, 0.25, 0.5, 1.0])),
        ("p_1", Values::doubles(&[0.25, 0.75, 0.5, 0.0])),
    ];
    match columns.iter_mut().find(|column| column.0 == name) {
        Some(column) => column.1 = values,
        None => columns.push((name, values)),
    }
    columns
}

fn broken_columns() -> Vec<(&'static str, Vec<(&'static str, Values)>)> {
    let doubles = Values::doubles;
    vec![
        ("null_probability", columns_with("p_1", Values::Double(vec![Some(0.25), None, None, Some(0.0)]))),
        ("null_truth", columns_with("y", Values::Int(vec![Some(0), Some(1), None, Some(0)]))),
        (
            "null_group",
            columns_with("group", Values::Text(vec![Some("F".into()), Some("M".into()), None, None])),
        ),
        ("nan_probability", columns_with("p_0", doubles(&[0.75, 0.25, f64::NAN, 1.0]))),
        ("nan_truth", columns_with("y", doubles(&[0.0, 1.0, 1.0, f64::NAN]))),
        ("probability_above_one", columns_with("p_1", doubles(&[0.25, 0.75, 0.5, 1.5]))),
        (
            "single_precision_above_one",
            columns_with("p_1", Values::Float(vec![Some(0.25), Some(0.75), Some(1.01), Some(0.0)])),
        ),
        ("text_as_probability", columns_with("p_1", Values::texts(&["0.25", "0.75", "0.5", "0"]))),
        ("boolean_as_probability", columns_with("p_1", Values::Boolean(vec![Some(false); 4]))),
        ("list_as_probability", columns_with("p_1", Values::List(vec![Some(0.5); 4]))),
        ("date_as_truth", columns_with("y", Values::Date(vec![Some(19_000); 4]))),
        ("fraction_as_truth", columns_with("y", doubles(&[0.0, 1.0, 0.5, 0.5]))),
        ("sum_too_low", columns_with("p_1", doubles(&[0.25, 0.7, 0.5, 0.0]))),
        ("class_without_column", columns_with("y", Values::texts(&["0", "1", "one", "0"]))),
        ("negative_weight", columns_with("weight", Values::Long(vec![Some(1), Some(1), Some(-1), Some(-1)]))),
        ("no_rows", vec![("y", Values::ints(&[])), ("p_0", doubles(&[])), ("p_1", doubles(&[]))]),
    ]
}

fn write_parquet_files(write: &impl Fn(&str, &[u8])) {
    for (name, columns) in broken_columns() {
        // Three rows to a group: the bad row may be the first of the second group.
        let layout = Layout { rows_per_group: 3, ..Layout::default() };
        write(&format!("{name}.parquet"), &parquet(&columns, layout));
    }
    let good = parquet(&columns_with("p_1", Values::doubles(&[0.25, 0.75, 0.5, 0.0])), Layout::default());
    write("breaks_off.parquet", &good[..good.len() - 20]);
    write("only_the_start.parquet", &good[..4]);
    write("parquet.parquet.gz", &gzip(&good));
    // Page headers and values of the first column follow the first four bytes.
    let mut scrambled = good.clone();
    scrambled[4..24].iter_mut().for_each(|byte| *byte = !*byte);
    write("scrambled_pages.parquet", &scrambled);
    let end = good.len();
    let mut scrambled = good;
    scrambled[end - 60..end - 10].iter_mut().for_each(|byte| *byte = !*byte);
    write("scrambled_footer.parquet", &scrambled);
}

#[cfg(feature = "arrow")]
fn write_arrow_files(write: &impl Fn(&str, &[u8])) {
    use common::arrow::{batches, file, stream};
    for (name, columns) in broken_columns().into_iter().filter(|(name, _)| *name != "no_rows") {
        write(&format!("{name}.arrow"), &file(&batches(&columns, 3), None));
    }
    let good = batches(&columns_with("p_1", Values::doubles(&[0.25, 0.75, 0.5, 0.0])), 3);
    let whole = file(&good, None);
    write("breaks_off.arrow", &whole[..whole.len() - 20]);
    let whole = stream(&good);
    write("breaks_off.arrows", &whole[..whole.len() - 60]);
    write("arrow.arrow.gz", &gzip(&whole));
}

#[test]
fn every_broken_table_is_refused_in_the_expected_words() {
    let (cases, made) = (cases(), made());
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        return update(cases, &made);
    }
    let mut wrong = Vec::new();
    for case in cases.iter().filter(|case| applies(case)) {
        let said = said(case, &made);
        if said != case.message {
            wrong.push(format!("{}\n  expected: {}\n      said: {said}", case.file, case.message));
        }
    }
    assert!(wrong.is_empty(), "{} of {} messages differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn update(cases: Vec<Case>, made: &Path) {
    let mut text = String::new();
    for line in fs::read_to_string(EXPECTED).unwrap().lines().filter(|line| !line.starts_with("    ")) {
        text.push_str(line);
        text.push('\n');
        let Some(case) = cases.iter().find(|case| format!("{} | {}", case.file, case.call) == line) else {
            continue;
        };
        let message = if applies(case) { said(case, made) } else { case.message.clone() };
        text.push_str(&format!("    {message}\n"));
    }
    fs::write(EXPECTED, text).unwrap();
}

#[test]
fn the_corpus_and_the_expectations_are_complete() {
    let cases = cases();
    assert!(cases.len() >= 60);
    let named: BTreeSet<&str> = cases.iter().map(|case| case.file.as_str()).collect();
    for entry in fs::read_dir("tests/corpus").unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known =
            [".gitattributes", "expected.txt"].contains(&name.as_str()) || named.contains(name.as_str());
        assert!(known, "{name} has no expected message");
    }
}

#[test]
fn every_message_is_one_sentence_that_names_the_file_first() {
    for case in cases() {
        let Case { file, message, .. } = case;
        assert!(message.starts_with(&file), "{message}");
        assert!(message.contains(": found ") && message.contains(", expected "), "{message}");
        assert!(!message.ends_with('.') && !message.contains('\n'), "{message}");
    }
}

#[test]
fn damaged_binary_files_never_panic_through() {
    let directory = scratch("damaged");
    let whole = parquet(&columns_with("group", Values::texts(&["F", "M", "M", "F"])), Layout::default());
    #[allow(unused_mut)]
    let mut files = vec![("file.parquet", whole)];
    #[cfg(feature = "arrow")]
    {
        let batches = common::arrow::batches(&columns_with("group", Values::texts(&["F", "M", "M", "F"])), 3);
        files.push(("file.arrow", common::arrow::file(&batches, None)));
        files.push(("lz4.arrow", common::arrow::file(&batches, Some(arrow_ipc::CompressionType::LZ4_FRAME))));
        files.push(("zstd.arrow", common::arrow::file(&batches, Some(arrow_ipc::CompressionType::ZSTD))));
        files.push(("stream.arrows", common::arrow::stream(&batches)));
    }
    for (name, whole) in files {
        let path = directory.join(name);
        let check = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            // Whatever comes of it is fine; it must come back.
            let _ = read::table(&path, &Columns::guess());
        };
        (0..whole.len()).step_by(7).for_each(|length| check(&whole[..length]));
        for position in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[position] ^= 0xff;
            check(&bytes);
        }
    }
}
