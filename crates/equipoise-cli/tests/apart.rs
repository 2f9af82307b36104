//! Files of a study that are made to hurt whoever reads them: each ends in a sentence, whatever it claims (S-09, A-02).

use equipoise_data::Columns;
use equipoise_study::apart::{Apart, Limits};
use equipoise_study::tables::{Here, Opened, Tables as _, Wanted};
use equipoise_study::{Study, template};
use flate2::{Compression, write::GzEncoder};
use parquet::basic::{Repetition, Type};
use parquet::data_type::{DoubleType, Int32Type};
use parquet::file::{properties::WriterProperties, writer::SerializedFileWriter};
use parquet::schema::types::Type as Schema;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

mod place;
use place::Place;

fn apart(megabytes: u64, seconds: u64) -> Apart {
    Apart::new(PathBuf::from(env!("CARGO_BIN_EXE_equipoise"))).limits(Limits { megabytes, seconds })
}

/// So many copies of a text, as gzip streams one after the other: a thousandth of what comes out.
fn zipped(head: &str, text: &str, copies: usize, times: usize) -> Vec<u8> {
    let gzip = |text: &[u8]| {
        let mut encoder = GzEncoder::new(vec![], Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let (mut made, part) = (gzip(head.as_bytes()), gzip(text.repeat(copies).as_bytes()));
    (0..times).for_each(|_| made.extend_from_slice(&part));
    made
}

/// Rows of zeros, which Parquet keeps in a few bytes however many they are.
fn zeros(rows: usize) -> Vec<u8> {
    let column = |name: &str, of| {
        Arc::new(
            Schema::primitive_type_builder(name, of).with_repetition(Repetition::REQUIRED).build().unwrap(),
        )
    };
    let fields = vec![column("y", Type::INT32), column("p", Type::DOUBLE)];
    let schema = Schema::group_type_builder("schema").with_fields(fields).build().unwrap();
    let settings = WriterProperties::builder().set_data_page_row_count_limit(rows).build();
    let mut made = vec![];
    let mut writer = SerializedFileWriter::new(&mut made, Arc::new(schema), Arc::new(settings)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&vec![0; rows], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(&vec![0.0; rows], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    made
}

#[test]
fn a_table_read_apart_is_the_table() {
    let place = Place::new("apart-same");
    for template in template::TEMPLATES {
        let file = place.0.join(template.table.0);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, template.table.1).unwrap();
        let here = Here.texts(&file).unwrap();
        assert_eq!(apart(512, 20).texts(&file).unwrap(), here, "{}", template.name);
        if Study::parse(template.text).unwrap().is_choice() {
            continue;
        }
        let here = Here.table(&file, &Wanted::default()).unwrap();
        assert_eq!(apart(512, 20).table(&file, &Wanted::default()).unwrap(), here, "{}", template.name);
    }
}

#[test]
fn a_table_somebody_opened_is_told_as_if_it_were_read_here() {
    let place = Place::new("apart-opened");
    let file = place.0.join("val.csv");
    let screening = std::fs::read_to_string("../../examples/tables/screening.csv").unwrap();
    for text in [screening.as_str(), "y,p\n0,2\n1,0.5\n", "a,b\n1,2\n", "", "PAR1PAR1"] {
        std::fs::write(&file, text).unwrap();
        for columns in [Columns::guess(), Columns::guess().truth("y").groups(["group"]).positive("benign")] {
            let (here, there) =
                (Opened::here(&file, &columns), apart(512, 20).opened(&file, &columns).unwrap());
            assert_eq!(there.header, here.header);
            assert_eq!(there.reading, here.reading);
        }
    }
}

#[test]
fn what_is_wrong_with_a_table_is_said_as_if_it_were_read_here() {
    let place = Place::new("apart-wrong");
    let file = place.0.join("wrong.csv");
    for text in ["", "y,p\n0,2\n1,0.5\n", "a,b\n1,2\n", "\0\0\0", "PAR1PAR1"] {
        std::fs::write(&file, text).unwrap();
        let here = Here.table(&file, &Wanted::default()).unwrap_err().to_string();
        assert_eq!(apart(512, 20).table(&file, &Wanted::default()).unwrap_err().to_string(), here);
    }
    let nothing = place.0.join("nothing.csv");
    let here = Here.models(&nothing).unwrap_err().to_string();
    assert_eq!(apart(512, 20).models(&nothing).unwrap_err().to_string(), here);
}

#[track_caller]
fn refused(limits: &Apart, file: &Path) -> String {
    let sentence = limits.table(file, &Wanted::default()).unwrap_err().to_string();
    // A reader that finds out by itself says so in its own words.
    let refused =
        ["is not readable", "more rows than memory can hold"].iter().any(|words| sentence.contains(words));
    assert!(refused, "{}: {sentence}", file.display());
    assert!(!sentence.contains('\n') && !sentence.contains("panicked"), "{sentence}");
    sentence
}

#[test]
fn what_takes_too_much_memory_is_not_readable() {
    let place = Place::new("apart-memory");
    let zeros = zeros(8_000_000);
    let bombs: [(&str, Vec<u8>); 4] = [
        ("zeros.parquet", zeros),
        ("rows.csv.gz", zipped("y,p\n", "0,0.5\n1,0.5\n", 100_000, 100)),
        ("line.csv.gz", zipped("y,p\n0,", "5", 1 << 20, 200)),
        ("objects.jsonl.gz", zipped("{\"y\":0,\"p\":0.5}\n{\"a\":\"", "5", 1 << 20, 200)),
    ];
    for (name, bytes) in &bombs {
        assert!(bytes.len() < 1 << 20, "{name} has {} bytes", bytes.len());
        let file = place.0.join(name);
        std::fs::write(&file, bytes).unwrap();
        refused(&apart(48, 60), &file);
    }
    println!("{} bombs of less than 1 MB, all refused", bombs.len());
}

#[cfg(unix)]
#[test]
fn what_never_ends_is_ended() {
    let place = Place::new("apart-time");
    let pipe = place.0.join("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Nobody ever writes to it.
    let sentence = refused(&apart(512, 1), &pipe);
    assert!(sentence.contains("or 1 s"), "{sentence}");
}

/// The whole command with the limits people meet: a study whose table is a bomb is no study, and nothing breaks.
#[test]
fn a_study_with_a_bomb_is_refused_in_a_sentence() {
    let place = Place::new("apart-study");
    let study = place.0.join("study");
    let equipoise = |words: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_equipoise")).args(words).current_dir(&place.0).output().unwrap()
    };
    assert!(equipoise(&["study", "new", "study"]).status.success());
    assert!(equipoise(&["study", "lock", "study"]).status.success());
    let cancer = template::find("binary-cancer").unwrap();
    // 1.2 GB of one line: more than any reader gets.
    std::fs::write(study.join(cancer.table.0), zipped("y,p\n0,", "5", 1 << 20, 1200)).unwrap();
    for words in [&["study", "check", "study"][..], &["study", "serve", "study", "--listen", "127.0.0.1:0"]] {
        let done = equipoise(words);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(3), "{words:?}: {said}");
        assert!(said.contains("is not readable"), "{said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_study_file_is_a_file_of_some_size() {
    let place = Place::new("apart-toml");
    place.run(&["study", "new", "study"]);
    let file = place.0.join("study/study.toml");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    let sentence = "study/study.toml is no study, expected a file of at most 4 MB";
    place.run(&["study", "check", "study"]).fails(3, sentence);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "#".repeat(5 << 20)).unwrap();
    place.run(&["study", "check", "study"]).fails(3, sentence);
}
