//! The same data give the same table, whatever format, layout and types they come in.

mod common;

use common::{Layout, Values, gzip, parquet, scratch};
use equipoise_data::{Columns, Note, Reading, Table, read};
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use std::fs;
use std::path::{Path, PathBuf};

const ROWS: usize = 2500;

/// A small linear congruence, enough for test data.
fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    }
}

/// Three classes, two group columns with awkward names, weights. Probabilities sum to 1 exactly.
struct Data {
    truth: Vec<i32>,
    probabilities: [Vec<f64>; 3],
    sex: Vec<&'static str>,
    region: Vec<&'static str>,
    weight: Vec<f64>,
}

fn data() -> Data {
    let mut next = numbers(7);
    let mut data = Data {
        truth: vec![],
        probabilities: [vec![], vec![], vec![]],
        sex: vec![],
        region: vec![],
        weight: vec![],
    };
    for _ in 0..ROWS {
        let first = next(1025);
        let second = next(1025 - first);
        let counts = [first, second, 1024 - first - second];
        counts
            .iter()
            .zip(&mut data.probabilities)
            .for_each(|(&count, column)| column.push(count as f64 / 1024.0));
        data.truth.push(next(3) as i32);
        data.sex.push(["F", "M"][next(2) as usize]);
        data.region.push(["north, or \"up\"", "süd", "über\nall"][next(3) as usize]);
        data.weight.push(next(1000) as f64 / 64.0);
    }
    data
}

impl Data {
    fn csv(&self, delimiter: u8, line_end: csv::Terminator) -> Vec<u8> {
        let mut writer =
            csv::WriterBuilder::new().delimiter(delimiter).terminator(line_end).from_writer(Vec::new());
        writer.write_record(["id", "y", "p_2", "p_0", "p_1", "sex", "region", "weight"]).unwrap();
        for row in 0..ROWS {
            let [p0, p1, p2] = [0, 1, 2].map(|class| self.probabilities[class][row].to_string());
            let (truth, weight) = (self.truth[row].to_string(), self.weight[row].to_string());
            let (sex, region) = (self.sex[row], self.region[row]);
            writer.write_record([&row.to_string(), &truth, &p2, &p0, &p1, sex, region, &weight]).unwrap();
        }
        writer.into_inner().unwrap()
    }

    fn json_lines(&self) -> Vec<u8> {
        let object = |row: usize| {
            let [p0, p1, p2] = [0, 1, 2].map(|class| self.probabilities[class][row]);
            let object = serde_json::json!({
                "note": {"nested": [row, null]}, "weight": self.weight[row], "sex": self.sex[row],
                "p_1": p1, "region": self.region[row], "p_0": p0, "y": self.truth[row], "p_2": p2,
            });
            object.to_string() + "\n"
        };
        (0..ROWS).map(object).collect::<String>().into_bytes()
    }

    fn columns(&self, truth: Values) -> Vec<(&'static str, Values)> {
        vec![
            ("id", Values::Long((0..ROWS as i64).map(Some).collect())),
            ("p_1", Values::doubles(&self.probabilities[1])),
            ("p_0", Values::doubles(&self.probabilities[0])),
            ("p_2", Values::doubles(&self.probabilities[2])),
            ("sex", Values::texts(&self.sex)),
            ("region", Values::texts(&self.region)),
            ("y", truth),
            ("weight", Values::doubles(&self.weight)),
        ]
    }

    fn truth_as_ints(&self) -> Values {
        Values::ints(&self.truth)
    }

    /// What every format must give.
    fn check(&self, table: &Table) {
        assert_eq!(table.classes(), ["0", "1", "2"]);
        assert!(table.truth().iter().zip(&self.truth).all(|(&code, &truth)| i32::from(code) == truth));
        for class in 0..3 {
            assert_eq!(table.probabilities(class), self.probabilities[class]);
        }
        let groups = table.groups().unwrap();
        assert_eq!(groups.names().len(), 6);
        for (row, &code) in groups.codes().iter().enumerate() {
            let name = format!("{} & {}", self.sex[row], self.region[row]);
            assert_eq!(groups.names()[usize::from(code)], name);
        }
        assert_eq!(table.weights().unwrap(), self.weight);
    }
}

fn columns() -> Columns {
    Columns::guess().groups(["sex", "region"]).weight("weight")
}

fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch("formats").join(name);
    fs::write(&path, bytes).unwrap();
    path
}

#[track_caller]
fn check(data: &Data, path: &Path, format: &str) {
    let reading = read::table(path, &columns()).unwrap_or_else(|error| panic!("{error}"));
    data.check(&reading.data);
    assert_eq!(reading.notes[0], Note::Choice(format!("format: {format}")));
    assert_eq!(reading.findings().count(), 0);
}

#[test]
fn text_formats_agree() {
    let data = data();
    let (newline, both) = (csv::Terminator::Any(b'\n'), csv::Terminator::CRLF);
    let comma = data.csv(b',', newline);
    check(&data, &write("a.csv", &comma), "CSV with a comma between fields");
    check(&data, &write("a.CSV.GZ", &gzip(&comma)), "CSV with a comma between fields, gzip");
    check(&data, &write("crlf.csv", &data.csv(b',', both)), "CSV with a comma between fields");
    check(&data, &write("semicolon.txt", &data.csv(b';', newline)), "CSV with a semicolon between fields");
    check(&data, &write("a.tsv.gz", &gzip(&data.csv(b'\t', both))), "CSV with a tab between fields, gzip");
    let marked = [b"\xef\xbb\xbf".as_slice(), &comma].concat();
    check(&data, &write("marked.csv", &marked), "CSV with a comma between fields");
    // Two gzip files one after the other are one gzip file.
    let (start, end) = comma.split_at(comma.len() / 2);
    let joined = [gzip(start), gzip(end)].concat();
    check(&data, &write("joined.csv.gz", &joined), "CSV with a comma between fields, gzip");
    check(&data, &write("a.jsonl", &data.json_lines()), "JSON Lines");
    check(&data, &write("a.ndjson.gz", &gzip(&data.json_lines())), "JSON Lines, gzip");
    let although = "JSON Lines (by its content, although the name says CSV)";
    check(&data, &write("json.csv", &data.json_lines()), although);
    check(&data, &write("no_extension", &comma), "CSV with a comma between fields");
}

#[test]
fn parquet_layouts_agree() {
    let data = data();
    let plain = WriterProperties::builder;
    let layouts = [
        ("one_group", 10_000, false, plain().build()),
        ("many_groups", 7, false, plain().build()),
        ("required", 1000, true, plain().build()),
        ("one_row_groups", 1, true, plain().build()),
        ("no_dictionary", 999, false, plain().set_dictionary_enabled(false).build()),
        ("snappy", 800, false, plain().set_compression(Compression::SNAPPY).build()),
        ("zstd", 800, true, plain().set_compression(Compression::ZSTD(ZstdLevel::default())).build()),
        ("lz4", 800, false, plain().set_compression(Compression::LZ4_RAW).build()),
        ("gzip", 800, true, plain().set_compression(Compression::GZIP(GzipLevel::default())).build()),
        ("version_2", 800, false, plain().set_writer_version(WriterVersion::PARQUET_2_0).build()),
        (
            "small_pages",
            2000,
            false,
            plain().set_data_page_row_count_limit(10).set_write_batch_size(10).build(),
        ),
        (
            "split_bytes",
            800,
            true,
            plain().set_dictionary_enabled(false).set_encoding(Encoding::PLAIN).build(),
        ),
    ];
    for (name, rows_per_group, required, properties) in layouts {
        let layout = Layout { rows_per_group, required, properties };
        let bytes = parquet(&data.columns(data.truth_as_ints()), layout);
        check(&data, &write(&format!("{name}.parquet"), &bytes), "Parquet");
    }
    let bytes = parquet(&data.columns(data.truth_as_ints()), Layout::default());
    check(&data, &write("parquet.csv", &bytes), "Parquet (by its content, although the name says CSV)");
}

#[test]
fn labels_of_any_type_name_the_same_classes() {
    let data = data();
    let truth = || data.truth.iter().copied();
    let types = [
        ("int", data.truth_as_ints()),
        ("long", Values::Long(truth().map(|y| Some(y.into())).collect())),
        ("float", Values::Float(truth().map(|y| Some(y as f32)).collect())),
        ("double", Values::Double(truth().map(|y| Some(y.into())).collect())),
        ("text", Values::Text(truth().map(|y| Some(y.to_string())).collect())),
        ("text_with_point", Values::Text(truth().map(|y| Some(format!(" {y}.0"))).collect())),
        ("decimal", Values::Decimal(truth().map(|y| Some(1000 * y)).collect())),
    ];
    for (name, values) in types {
        let bytes = parquet(&data.columns(values), Layout::default());
        check(&data, &write(&format!("{name}_labels.parquet"), &bytes), "Parquet");
    }
}

#[cfg(feature = "arrow")]
#[test]
fn arrow_layouts_agree() {
    use arrow_ipc::CompressionType;
    use common::arrow::{batches, file, stream};
    let data = data();
    let small = batches(&data.columns(data.truth_as_ints()), 100);
    check(&data, &write("a.arrow", &file(&small, None)), "Arrow");
    check(&data, &write("lz4.feather", &file(&small, Some(CompressionType::LZ4_FRAME))), "Arrow");
    check(&data, &write("zstd.ipc", &file(&small, Some(CompressionType::ZSTD))), "Arrow");
    check(&data, &write("a.arrows", &stream(&small)), "Arrow stream");
    let one = batches(&data.columns(data.truth_as_ints()), ROWS);
    check(&data, &write("one_batch.arrow", &file(&one, None)), "Arrow");
}

#[cfg(feature = "arrow")]
#[test]
fn record_batches_give_the_same_table_as_their_file() {
    use arrow_array::types::Int8Type;
    use arrow_array::{
        ArrayRef, DictionaryArray, LargeStringArray, RecordBatch, RecordBatchIterator, StringViewArray,
    };
    use arrow_schema::Field;
    use std::ops::Range;
    use std::sync::Arc;
    let data = data();
    let batches = common::arrow::batches(&data.columns(data.truth_as_ints()), 100);
    let reader = RecordBatchIterator::new(batches.clone().into_iter().map(Ok), batches[0].schema());
    data.check(&read::table_from_batches(reader, &columns()).unwrap().data);

    // The other ways of writing text.
    for large in [false, true] {
        let regions = |range: Range<usize>| -> ArrayRef {
            let regions = data.region[range].iter().copied();
            match large {
                true => Arc::new(LargeStringArray::from_iter_values(regions)),
                false => Arc::new(StringViewArray::from_iter_values(regions)),
            }
        };
        let retyped = |(n, batch): (usize, &RecordBatch)| {
            let range = 100 * n..100 * n + batch.num_rows();
            let sexes: DictionaryArray<Int8Type> = data.sex[range.clone()].iter().copied().collect();
            let schema = batch.schema();
            let column = |(field, column): (&Arc<Field>, &ArrayRef)| match field.name().as_str() {
                "sex" => ("sex".to_owned(), Arc::new(sexes.clone()) as ArrayRef),
                "region" => ("region".to_owned(), regions(range.clone())),
                name => (name.to_owned(), column.clone()),
            };
            RecordBatch::try_from_iter(schema.fields().iter().zip(batch.columns()).map(column)).unwrap()
        };
        let retyped: Vec<RecordBatch> = batches.iter().enumerate().map(retyped).collect();
        let reader = RecordBatchIterator::new(retyped.clone().into_iter().map(Ok), retyped[0].schema());
        data.check(&read::table_from_batches(reader, &columns()).unwrap().data);
        // A stream may change its dictionary from batch to batch, a file may not.
        check(&data, &write("retyped.arrows", &common::arrow::stream(&retyped)), "Arrow stream");
    }
}

/// Reads text as a CSV file.
fn read_text(name: &str, text: &str, columns: &Columns) -> Reading<Table> {
    read::table(write(name, text.as_bytes()), columns).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn notes<T>(reading: &Reading<T>, expected: &[&str]) {
    let said: Vec<String> = reading.notes[1..].iter().map(Note::to_string).collect();
    assert_eq!(said, expected);
}

#[test]
fn one_score_is_the_probability_of_the_last_class() {
    let text = "label,score\nbenign,0.25\nmalignant,0.75\nbenign,0.5\n";
    let reading = read_text("score.csv", text, &Columns::guess());
    notes(
        &reading,
        &[
            "truth column: label (guessed)",
            "probability column: score (guessed)",
            "positive class: malignant (guessed, the last of benign and malignant)",
        ],
    );
    assert_eq!(reading.data.classes(), ["benign", "malignant"]);
    assert_eq!(reading.data.probabilities(1), [0.25, 0.75, 0.5]);
    assert_eq!(reading.data.probabilities(0), [0.75, 0.25, 0.5]);

    let named = Columns::guess().truth("label").scores(["score"]).positive("benign");
    let reading = read_text("score.csv", text, &named);
    notes(&reading, &[]);
    assert_eq!(reading.data.classes(), ["malignant", "benign"]);
    assert_eq!(reading.data.truth(), [1, 0, 1]);
    assert_eq!(reading.data.probabilities(1), [0.25, 0.75, 0.5]);

    let text = "y,p_benign\nbenign,0.25\nmalignant,0.75\n";
    let reading = read_text("named_score.csv", text, &Columns::guess());
    assert_eq!(reading.notes[3].to_string(), "positive class: benign (guessed from column p_benign)");
    assert_eq!(reading.data.classes(), ["malignant", "benign"]);
    assert_eq!(reading.data.probabilities(1), [0.25, 0.75]);
}

#[test]
fn classes_are_in_order_whatever_the_order_of_columns() {
    let text = "y,p_10,p_9\n10,0.75,0.25\n9,0.5,0.5\n";
    let reading = read_text("order.csv", text, &Columns::guess());
    assert_eq!(reading.data.classes(), ["9", "10"]);
    assert_eq!(reading.data.probabilities(1), [0.75, 0.5]);
    let reading = read_text("order.csv", text, &Columns::guess().positive("9"));
    assert_eq!(reading.data.classes(), ["10", "9"]);
    assert_eq!(reading.data.probabilities(1), [0.25, 0.5]);
    let text = "y,p_True,p_False\nTRUE,0.75,0.25\nfalse,0.5,0.5\n";
    let reading = read_text("booleans.csv", text, &Columns::guess());
    assert_eq!(reading.data.classes(), ["false", "true"]);
    assert_eq!(reading.data.probabilities(1), [0.75, 0.5]);
}

#[test]
fn columns_named_for_no_class_belong_to_the_classes_in_order() {
    let text = "y,s1,s2\nno,0.75,0.25\nyes,0.5,0.5\n";
    let reading = read_text("positions.csv", text, &Columns::guess().truth("y").scores(["s1", "s2"]));
    notes(
        &reading,
        &[
            "classes of the probability columns: s1 is no, s2 is yes (guessed from their order)",
            "positive class: yes (guessed, the last of no and yes)",
        ],
    );
    assert_eq!(reading.data.probabilities(0), [0.75, 0.5]);
    let text = "y,yes,no\nno,0.25,0.75\nyes,0.5,0.5\n";
    let reading = read_text("bare_names.csv", text, &Columns::guess().scores(["yes", "no"]));
    assert_eq!(reading.data.probabilities(0), [0.75, 0.5]);
}

#[test]
fn changes_and_findings_are_said() {
    let text = "y,p_a,p_b,group\na,0.7504,0.25,F\nb,0.5,0.5,F\nb,-0.0000001,1.0,NA\na,0.5,0.5,F\n";
    let reading = read_text("changes.csv", text, &Columns::guess());
    notes(
        &reading,
        &[
            "truth column: y (guessed)",
            "probability columns: p_a, p_b (guessed)",
            "group column: group (guessed)",
            "positive class: b (guessed, the last of a and b)",
            "1 probability outside [0, 1] by at most 1.0e-7 moved to the nearest bound",
            "the probabilities of 1 row missed a sum of 1 by at most 4.0e-4 and were rescaled",
            "1 row with \"NA\" in column group, taken as a group of that name",
            "group NA has no row of class a, so its rates for that class are undefined",
        ],
    );
    assert_eq!(reading.findings().count(), 2);
    assert_eq!(reading.data.probabilities(0)[2], 0.0);
    assert!((reading.data.probabilities(0)[0] - 0.7504 / 1.0004).abs() < 1e-15);
}

#[test]
fn a_missing_word_that_is_a_class_has_a_column() {
    let text = "y,p_NA,p_EU\nNA,0.75,0.25\nEU,0.5,0.5\n";
    let reading = read_text("continents.csv", text, &Columns::guess());
    assert_eq!(reading.data.classes(), ["EU", "NA"]);
}

#[test]
fn long_records_are_the_same_in_every_format() {
    let text = "model,group,truth,estimate,count\n\
                svm,F,0,0,10\nsvm,F,0,1,2\nsvm,F,1,1,7.5\nsvm,M,1,1,3\nsvm,M,0,0,4\n\
                1.0,F,0,0,12\n1.0,F,1,1,7.5\n1.0,M,0,0,4\n1.0,M,1,0,3\n";
    let reading = read::confusions(write("records.csv", text.as_bytes())).unwrap();
    notes(&reading, &["7 of 16 cells are not in the file and count 0"]);
    let models = &reading.data;
    assert_eq!(models.iter().map(|model| model.name()).collect::<Vec<_>>(), ["svm", "1.0"]);
    assert_eq!(models[0].classes(), ["0", "1"]);
    assert_eq!(models[0].groups(), ["F", "M"]);
    assert_eq!(models[0].count(0, 0, 1), 2.0);
    assert_eq!(models[0].of_class(0, 1), 7.5);
    assert_eq!(models[1].count(1, 1, 0), 3.0);
    let confusions = models[0].confusions().unwrap();
    assert_eq!(confusions.get(1, 1, 1), 3.0 / 26.5);

    let mut json = String::new();
    let mut columns: [Vec<String>; 4] = Default::default();
    let mut counts = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [model, group, truth, estimate, count] = fields[..] else { panic!() };
        json += &format!(
            "{{\"model\":\"{model}\",\"group\":\"{group}\",\"truth\":{truth},\"estimate\":{estimate}.0,\"count\":{count}}}\n"
        );
        columns
            .iter_mut()
            .zip([model, group, truth, estimate])
            .for_each(|(column, value)| column.push(value.into()));
        counts.push(count.parse::<f64>().unwrap());
    }
    assert_eq!(read::confusions(write("records.jsonl", json.as_bytes())).unwrap().data, *models);
    let names = ["model", "group", "truth", "estimate"];
    let mut columns: Vec<(&str, Values)> =
        names.into_iter().zip(columns.iter().map(|column| Values::texts(column))).collect();
    columns.push(("count", Values::doubles(&counts)));
    let bytes = parquet(&columns, Layout { rows_per_group: 2, ..Layout::default() });
    assert_eq!(read::confusions(write("records.parquet", &bytes)).unwrap().data, *models);
}

#[test]
fn long_records_without_groups_have_one_population() {
    let text = "model,truth,estimate,count\nm,a,a,3\nm,b,a,4\nn,a,a,3\nn,b,b,5\nn,c,c,0\nm,c,a,0\n";
    let reading = read::confusions(write("no_groups.csv", text.as_bytes())).unwrap();
    notes(
        &reading,
        &[
            "12 of 18 cells are not in the file and count 0",
            "model m has no count for class c, so its rates there are undefined",
            "models m and n have counts of 4 and 5 for class b, so they were not counted on the same rows",
        ],
    );
    assert!(reading.data[0].groups().is_empty());
    assert_eq!(reading.data[0].confusions().unwrap().groups(), 1);
    assert_eq!(reading.data[0].total(), 7.0);
}

/// Wrong in silence before: `rf_low, rf_medium, rf_high` went to high, low, medium, the classes in order.
#[test]
fn columns_belong_to_the_class_they_are_named_for_wherever_it_stands() {
    let text = "y,rf_low,rf_medium,rf_high\nlow,.6,.3,.1\nmedium,.2,.5,.3\nhigh,.1,.2,.7\n";
    let path = write("affixes.csv", text.as_bytes());
    let columns = Columns::guess().scores(["rf_low", "rf_medium", "rf_high"]);
    let table = read::table(&path, &columns).unwrap().data;
    assert_eq!(table.classes(), ["high", "low", "medium"]);
    assert_eq!([0, 1, 2].map(|class| table.probabilities(class)[0]), [0.1, 0.6, 0.3]);
}

#[test]
fn columns_called_like_the_classes_are_found() {
    for (name, text, said) in [
        ("digits.csv", "y,0,1\n0,.8,.2\n1,.3,.7\n", "0, 1"),
        ("words.csv", "y,yes,no\nno,.2,.8\nyes,.7,.3\n", "no, yes"),
    ] {
        let reading = read::table(write(name, text.as_bytes()), &Columns::guess()).unwrap();
        let wanted = format!("probability columns: {said} (guessed, called like the classes)");
        assert!(reading.notes.iter().any(|note| note.to_string() == wanted), "{:?}", reading.notes);
        assert_eq!(reading.data.probabilities(1), [0.2, 0.7]);
    }
}

#[test]
fn a_column_called_weight_is_used_only_if_it_is_named() {
    let path = write("weight.csv", b"y,p,weight\n0,.8,70\n1,.3,81\n");
    let reading = read::table(&path, &Columns::guess()).unwrap();
    assert!(reading.data.weights().is_none());
    let said = "every row counts once: column weight is not taken for row weights unless it is named as such";
    assert!(reading.notes.iter().any(|note| note.to_string() == said), "{:?}", reading.notes);
    let named = read::table(&path, &Columns::guess().weight("weight")).unwrap().data;
    assert_eq!(named.weights(), Some(&[70.0, 81.0][..]));
}
