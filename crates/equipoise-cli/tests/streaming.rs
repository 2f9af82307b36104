//! Folders of Parquet that are streamed print what they print from memory, through the real binary.

mod place;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use place::Place;
use std::path::Path;
use std::sync::Arc;

/// An example table as a folder of three Parquet files; two classes have one column of probabilities, so that the other is what
/// is missing to 1.
fn folder(name: &str, table: &str) -> Place {
    let place = Place::new(name);
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tables").join(table);
    let text = std::fs::read_to_string(from).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let kept: Vec<usize> = (0..header.len()).filter(|&n| header[n] != "p_benign").collect();
    let is_number = |n: usize| header[n].starts_with("p_");
    let field = |&n: &usize| match is_number(n) {
        true => format!("required double {};", header[n]),
        false => format!("required binary {} (UTF8);", header[n]),
    };
    let schema = format!("message table {{ {} }}", kept.iter().map(field).collect::<String>());
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    std::fs::create_dir_all(place.0.join("parts")).unwrap();
    for (part, rows) in rows.chunks(rows.len() / 3 + 1).enumerate() {
        let file = std::fs::File::create(place.0.join(format!("parts/{part}.parquet"))).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema.clone(), Default::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for &n in &kept {
            let mut column = group.next_column().unwrap().unwrap();
            if is_number(n) {
                let values: Vec<f64> = rows.iter().map(|row| row[n].parse().unwrap()).collect();
                column.typed::<DoubleType>().write_batch(&values, None, None).unwrap();
            } else {
                let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(row[n])).collect();
                column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
            }
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
    }
    place
}

/// The same output from memory and streamed, and streamed says that it was.
#[track_caller]
fn same(place: &Place, line: &str, code: i32) {
    let memory = place.line(line);
    let streamed = place.line(&format!("{line} --stream"));
    assert_eq!((streamed.code, memory.code), (Some(code), Some(code)), "{line}: {}", streamed.err);
    assert_eq!(streamed.out, memory.out, "{line}");
    assert!(streamed.err.contains(" in 3 pieces, of which only counts are kept"), "{}", streamed.err);
    let without = |said: &str| {
        said.lines().filter(|line| !line.starts_with("streamed: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without(&streamed.err), without(&memory.err), "{line}");
}

#[test]
fn two_classes_print_the_same() {
    let place = folder("stream_two", "screening.csv");
    same(&place, "inspect parts --positive malignant", 1);
    let pictures = place.read("equipoise-inspect.svg");
    same(&place, "threshold parts --metric 6:1 --positive malignant", 0);
    same(
        &place,
        "threshold parts --metric f1 --positive malignant --per-group --require recall:malignant>=0.9",
        0,
    );
    same(&place, "score parts --metric 6:1 --positive malignant", 0);
    same(&place, "score parts --metric f2 --positive malignant --threshold best", 0);
    assert_eq!(place.read("equipoise-inspect.svg"), pictures);
}

#[test]
fn somebody_is_asked_the_same() {
    let place = folder("stream_elicit", "screening.csv");
    for (line, save) in [("--oracle 6:1", "a.json"), ("--oracle 6:1 --ask cases", "b.json")] {
        same(&place, &format!("elicit parts {line} --positive malignant --save {save} --out metric.json"), 0);
        let answers = place.read(save);
        std::fs::remove_file(place.0.join(save)).unwrap();
        let memory =
            place.line(&format!("elicit parts {line} --positive malignant --save {save} --out metric.json"));
        assert_eq!((memory.code, place.read(save)), (Some(0), answers));
    }
}

#[test]
fn more_classes_print_the_same() {
    let place = folder("stream_three", "triage.csv");
    same(&place, "inspect parts", 1);
    same(&place, "score parts --metric accuracy", 0);
    place.write("costs.csv", "truth,home,intensive,ward\nhome,0,1,1\nintensive,9,0,3\nward,3,1,0\n");
    same(&place, "threshold parts --metric costs.csv", 0);
    same(&place, "threshold parts --metric accuracy --require recall:intensive>=0.9", 0);
}

#[test]
fn somebody_is_asked_the_same_about_more_classes() {
    let place = folder("stream_elicit_three", "triage.csv");
    place.write("costs.csv", "truth,home,intensive,ward\nhome,0,1,1\nintensive,9,0,3\nward,3,1,0\n");
    let line =
        "elicit parts --oracle costs.csv --around model --budget 6 --no-group --out metric.json --save";
    let (memory, streamed) =
        (place.line(&format!("{line} a.json")), place.line(&format!("{line} b.json --stream")));
    assert!(matches!(memory.code, Some(0 | 1)), "{}", memory.err);
    assert_eq!((streamed.code, streamed.out.replace("b.json", "a.json")), (memory.code, memory.out));
    assert_eq!(place.read("b.json"), place.read("a.json"));
    assert!(streamed.err.contains("only counts are kept"), "{}", streamed.err);
}

#[test]
fn classifiers_are_optimised_on_counts() {
    let two = (folder("stream_optimize_two", "screening.csv"), "p_malignant --positive malignant");
    let three = (folder("stream_optimize_three", "triage.csv"), "p_home,p_intensive,p_ward");
    for (place, scores) in [two, three] {
        for metric in ["g_mean", "macro_f --basis argmax", "f1 --known"] {
            let usual =
                "optimize --train parts --validation parts/1.parquet --test parts --truth y --no-group";
            let line = format!("{usual} --scores {scores} --metric {metric} --classifier");
            let memory = place.line(&format!("{line} a.json"));
            let streamed = place.line(&format!("{line} b.json --stream"));
            if metric.contains("argmax") && scores.contains("ward") {
                assert_eq!(streamed.code, Some(3), "{}", streamed.err);
                assert!(streamed.err.contains("bases on rows that are only counted"), "{}", streamed.err);
                continue;
            }
            if metric.starts_with("f1") && scores.contains("ward") {
                continue;
            }
            assert_eq!(memory.code, Some(0), "{}", memory.err);
            assert_eq!((streamed.code, streamed.out.replace("b.json", "a.json")), (Some(0), memory.out));
            assert_eq!(place.read("b.json"), place.read("a.json"));
            assert!(streamed.err.contains("only counts are kept"), "{}", streamed.err);
        }
        let line = "optimize --train parts --validation parts --truth y --scores p_home --basis age --metric f1 --stream";
        let said = place.line(line);
        assert_eq!((said.code, said.err.lines().count()), (Some(2), 1), "{}", said.err);
        assert!(said.err.contains("leave age out"), "{}", said.err);
    }
}

#[test]
fn models_of_the_same_rows_stay_paired() {
    let place = folder("stream_rank", "screening.csv");
    let rank =
        "rank parts/0.parquet parts/0.parquet parts/1.parquet --metric 6:1 --positive malignant --no-group";
    let (memory, streamed) = (place.line(rank), place.line(&format!("{rank} --stream")));
    assert_eq!(streamed.out, memory.out);
    assert_eq!(streamed.code, memory.code);
    assert!(streamed.err.contains("only counts are kept"), "{}", streamed.err);
}

#[test]
fn models_that_are_columns_of_a_folder_are_ranked_on_all_of_its_rows() {
    let place = folder("stream_models", "triage.csv");
    for files in ["parts", "parts/*.parquet"] {
        let line = format!("rank {files} --models p --metric accuracy");
        let (memory, streamed) = (place.line(&line), place.line(&format!("{line} --stream")));
        assert_eq!((memory.code, streamed.code), (Some(0), Some(0)), "{}", streamed.err);
        assert_eq!(streamed.out, memory.out);
        assert!(streamed.err.contains(" in 3 pieces"), "{}", streamed.err);
    }
}

#[test]
fn a_column_that_is_not_there_is_named() {
    let place = folder("stream_wrong", "screening.csv");
    let (memory, streamed) =
        (place.line("inspect parts --truth outcome"), place.line("inspect parts --truth outcome --stream"));
    assert_eq!((streamed.code, &streamed.err), (memory.code, &memory.err));
    assert!(streamed.err.contains("outcome"), "{}", streamed.err);
}

/// Places that are not compiled in are recognised, and what helps is said.
#[test]
fn a_build_without_object_stores_and_databases_says_so() {
    let place = Place::new("stream_elsewhere");
    if !cfg!(feature = "object-store") {
        for command in ["inspect", "score --metric f1", "elicit"] {
            let said = place.line(&format!("{command} s3://bucket/folder"));
            assert_eq!(said.code, Some(3), "{}", said.err);
            assert!(
                said.err.contains("this build has no object stores; build with --features object-store"),
                "{}",
                said.err
            );
        }
    }
    if !cfg!(feature = "cluster") {
        for line in ["inspect parts --cluster 127.0.0.1:50050", "cluster executor 127.0.0.1:50050 --tasks 1"]
        {
            let said = place.line(line);
            assert_eq!(said.code, Some(2), "{}", said.err);
            assert!(
                said.err.contains("this build has no clusters; build with --features cluster"),
                "{}",
                said.err
            );
        }
    }
    if !cfg!(feature = "adbc") {
        let said = place.line("inspect predictions --adbc adbc_driver_sqlite --uri predictions.sqlite");
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains("this build has no databases; build with --features adbc"), "{}", said.err);
    }
}
