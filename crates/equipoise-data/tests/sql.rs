//! A table that stays in a database, here one of SQLite in memory, answers like one that was read, to the last bit.

use equipoise::population::{Confusions as _, Population as _, PostShift, Profile, Rule, Score};
use equipoise::rates::GroupConfusions;
use equipoise_data::read::{Answers, Database, Dialect, Value, columns_in_database};
use equipoise_data::{Columns, Error, Note, Sample, Table, read, space_for};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::sync::Mutex;

/// A database of the test's own; statements are kept, and may be followed by another one that changes something.
struct Sqlite {
    connection: Mutex<Connection>,
    meddles: Option<(&'static str, &'static str)>,
}

impl Sqlite {
    fn new(script: &str) -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(script).unwrap();
        Self { connection: Mutex::new(connection), meddles: None }
    }
}

fn told(error: rusqlite::Error) -> Error {
    Error::new(equipoise_data::Kind::Unreadable, error.to_string(), "a statement")
}

impl Answers for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::SQLITE
    }

    fn columns(&self, statement: &str) -> equipoise_data::Result<Vec<String>> {
        let connection = self.connection.lock().unwrap();
        let found = connection.prepare(statement).map_err(told)?;
        Ok(found.column_names().map(str::to_owned).collect())
    }

    fn answer(&self, statement: &str, most: usize) -> equipoise_data::Result<Vec<Vec<Value>>> {
        let connection = self.connection.lock().unwrap();
        let mut made = connection.prepare(statement).map_err(told)?;
        let width = made.column_count();
        let mut rows = made.query([]).map_err(told)?;
        let mut found = vec![];
        while let Some(row) = rows.next().map_err(told)? {
            let cell = |n: usize| match row.get_ref(n).unwrap() {
                ValueRef::Null => Value::Missing,
                ValueRef::Integer(value) => Value::Integer(value),
                ValueRef::Real(value) => Value::Number(value),
                ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
                ValueRef::Blob(_) => panic!("a blob"),
            };
            found.push((0..width).map(cell).collect::<Vec<_>>());
        }
        assert!(found.len() <= most, "{} rows of at most {most}: {statement}", found.len());
        if let Some((after, change)) = self.meddles
            && statement.contains(after)
        {
            connection.execute_batch(change).unwrap();
        }
        Ok(found)
    }
}

/// The same rows as a file and as a table, with two columns of groups.
fn both(name: &str, classes: usize, rows: usize, digits: i32) -> (std::path::PathBuf, Sqlite) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let names = ["home", "intensive", "ward"];
    let unit = 10_f64.powi(digits);
    let scores: Vec<String> = match classes {
        2 => vec!["score".to_owned()],
        _ => names.iter().map(|name| format!("p_{name}")).collect(),
    };
    let mut csv = format!("y,{},sex,age,w\n", scores.join(","));
    let mut sql = format!(
        "CREATE TABLE t (y TEXT, {}, sex TEXT, age INTEGER, w REAL);",
        scores.iter().map(|name| format!("{name} REAL")).collect::<Vec<_>>().join(", ")
    );
    for _ in 0..rows {
        let class = random.random_range(0..classes);
        let truth = if classes == 2 { ["no", "yes"][class] } else { names[class] };
        let mut sizes: Vec<f64> =
            (0..classes).map(|n| random.random::<f64>() + if n == class { 0.6 } else { 0.0 }).collect();
        let sum: f64 = sizes.iter().sum();
        sizes.iter_mut().for_each(|size| *size = (*size / sum * unit).round() / unit);
        let written = if classes == 2 { vec![sizes[1]] } else { sizes };
        let written = written.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(",");
        let (sex, age) = (["w", "m"][random.random_range(0..2)], [30, 7][random.random_range(0..2)]);
        let weight = f64::from(random.random_range(1..9)) / 7.0;
        csv += &format!("{truth},{written},{sex},{age},{weight:?}\n");
        sql += &format!("INSERT INTO t VALUES ('{truth}',{written},'{sex}',{age},{weight:?});");
    }
    let place = std::env::temp_dir().join(format!("equipoise-sql-{name}-{}.csv", std::process::id()));
    std::fs::write(&place, csv).unwrap();
    (place, Sqlite::new(&format!("BEGIN;{sql}COMMIT;")))
}

fn columns(weighted: bool) -> Columns {
    let columns = Columns::guess().groups(["sex", "age"]);
    if weighted { columns.weight("w") } else { columns.without_weight() }
}

fn pair(name: &str, classes: usize, rows: usize, digits: i32, weighted: bool) -> (Sample<Table>, Database) {
    let (file, database) = both(name, classes, rows, digits);
    let memory = read::table(&file, &columns(weighted)).unwrap();
    std::fs::remove_file(file).unwrap();
    let counted = Database::count(Box::new(database), "t", &columns(weighted)).unwrap();
    assert!(
        counted
            .notes
            .contains(&Note::Choice(format!("in a database: {rows} rows, of which only counts are fetched")))
    );
    let (memory, counted) = (Sample::new(memory.data).unwrap(), counted.data);
    assert_eq!(counted.class_names(), memory.table().classes());
    assert_eq!(counted.group_names(), memory.table().groups().unwrap().names());
    (memory, counted)
}

#[test]
fn two_classes_come_to_the_same_bits() {
    let (memory, counted) = pair("two", 2, 3_000, 3, false);
    let (Ok(totals), Ok(profile)) = (memory.totals(), memory.score_profile(Score::Class(1)));
    assert_eq!(
        (counted.totals().unwrap(), counted.score_profile(Score::Class(1)).unwrap()),
        (totals, profile)
    );
    let rules = [
        Rule::Threshold(vec![0.3]),
        Rule::Threshold(vec![0.1, 0.2, 0.5, 1.0]),
        Rule::PostShift(PostShift::new(2, vec![1.0, 0.0, -2.5, 1.7]).unwrap()),
    ];
    let Ok(found) = memory.confusions(&rules);
    assert_eq!(counted.confusions(&rules).unwrap(), found);
    let space = |document| serde_json::to_string(&document).unwrap();
    assert_eq!(space(space_for(&counted, "linear").unwrap()), space(space_for(&memory, "linear").unwrap()));
}

#[test]
fn three_classes_come_to_the_same_bits() {
    let (memory, counted) = pair("three", 3, 1_500, 4, false);
    let Ok(totals) = memory.totals();
    assert_eq!(counted.totals().unwrap(), totals);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut matrix = || (0..9).map(|_| random.random::<f64>() * 3.0 - 1.0).collect::<Vec<f64>>();
    let mut rules: Vec<Rule> =
        (0..10).map(|_| Rule::PostShift(PostShift::new(3, matrix()).unwrap())).collect();
    rules.push(Rule::PostShift(PostShift::per_group(3, (0..4).map(|_| matrix()).collect()).unwrap()));
    rules.push(Rule::most_likely(3).unwrap());
    let Ok(found) = memory.confusions(&rules);
    assert_eq!(counted.confusions(&rules).unwrap(), found);
    for score in [Score::Class(2), Score::Share(0, 2)] {
        let Ok(found) = memory.score_profile(score);
        assert_eq!(counted.score_profile(score).unwrap(), found);
    }
    // Draws scatter as those of rows do.
    let rule = &rules[11..];
    let spread = |draws: Vec<Vec<equipoise::GroupConfusions>>| {
        let values: Vec<f64> = draws.iter().map(|draw| draw[0].get(0, 1, 1)).collect();
        let mean = values.iter().sum::<f64>() / 500.0;
        (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 500.0).sqrt())
    };
    let Ok(expected) = memory.resampled(rule, 3, 500);
    let ((mean, wide), (own, own_wide)) =
        (spread(expected), spread(counted.resampled(rule, 3, 500).unwrap()));
    assert!((mean - own).abs() < 4.0 * wide / 500_f64.sqrt(), "{mean} {own}");
    assert!((own_wide / wide - 1.0).abs() < 0.2, "{wide} {own_wide}");
}

#[test]
fn models_of_one_table_are_drawn_together() {
    for classes in [2, 3] {
        let (memory, counted) = pair("together", classes, 1_200, 4, false);
        let (file, database) = both("again", classes, 1_200, 4);
        std::fs::remove_file(file).unwrap();
        let other = Database::count(Box::new(database), "t", &columns(false)).unwrap().data;
        let rule = Rule::most_likely(classes).unwrap();
        let at = if classes == 2 { Rule::Threshold(vec![0.25]) } else { rule.clone() };
        let models = [(&counted, &rule), (&other, &rule), (&other, &at)];
        let drawn = Database::resampled_together(&models, 1, 400).unwrap().unwrap();
        assert_eq!(drawn[0], drawn[1]);
        let Ok(measured) = memory.confusions(std::slice::from_ref(&at));
        let mean = drawn[2].iter().map(|draw| draw.get(2, 1, 1)).sum::<f64>() / 400.0;
        assert!((mean - measured[0].get(2, 1, 1)).abs() < 0.003, "{mean} {:?}", measured[0]);
        // Of a class as many are there whatever is decided.
        for (one, two) in drawn[0].iter().zip(&drawn[2]) {
            let rows = |of: &equipoise::GroupConfusions| (0..classes).map(|j| of.get(1, 0, j)).sum::<f64>();
            assert!((rows(one) - rows(two)).abs() < 1e-12);
        }
    }
}

#[test]
fn weighted_rows_agree_to_rounding() {
    for classes in [2, 3] {
        let (memory, counted) = pair("weighted", classes, 900, 4, true);
        let rules = [Rule::most_likely(classes).unwrap()];
        let Ok(found) = memory.confusions(&rules);
        let own = counted.confusions(&rules).unwrap();
        for (group, row, column) in [(0, 0, 0), (1, 1, 0), (3, 1, 1)] {
            let (a, b) = (found[0].get(group, row, column), own[0].get(group, row, column));
            assert!((a - b).abs() <= 1e-12 * a.abs(), "{a} {b}");
        }
    }
}

/// Rows of one score are counted together, and still vary as they do one by one when they are drawn again.
#[test]
fn weighted_rows_vary_as_they_do_in_memory() {
    for digits in [1, 4] {
        let (memory, counted) = pair("vary", 2, 900, digits, true);
        let Ok(here) = memory.score_profile(Score::Class(1));
        let there = counted.score_profile(Score::Class(1)).unwrap();
        let power = |profile: &Profile, positive: bool, of: i32| -> f64 {
            let cells = profile.cells().iter().filter(|cell| cell.positive == positive);
            cells.map(|cell| f64::from(cell.rows) * cell.weight.powi(of)).sum()
        };
        for (positive, of) in [(false, 0), (true, 0), (false, 1), (true, 1), (false, 2), (true, 2)] {
            let (here, there) = (power(&here, positive, of), power(&there, positive, of));
            assert!((here - there).abs() <= 1e-12 * here, "{digits} {positive} {of}: {here} {there}");
        }
        let rules = [Rule::Threshold(vec![0.5])];
        let (Ok(here), there) =
            (memory.resampled(&rules, 3, 1_000), counted.resampled(&rules, 3, 1_000).unwrap());
        let spread = |draws: &[Vec<GroupConfusions>]| {
            let values: Vec<f64> = draws.iter().map(|draw| draw[0].overall().get(1, 1)).collect();
            let mean = values.iter().sum::<f64>() / 1_000.0;
            (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 1_000.0).sqrt()
        };
        let ratio = spread(&there) / spread(&here);
        // As if they all weighed the same it would be 0.89.
        assert!((0.94..1.06).contains(&ratio), "{digits}: {ratio}");
    }
}

#[test]
fn too_many_scores_are_counted_in_parts() {
    let (memory, counted) = pair("parts", 2, 70_000, 16, false);
    let profile = counted.score_profile(Score::Class(1)).unwrap();
    let Ok(exact) = memory.score_profile(Score::Class(1));
    assert!(profile.is_bucketed() && !exact.is_bucketed() && exact.rows() == profile.rows());
}

fn refused(script: &str, columns: &Columns) -> String {
    match Database::count(Box::new(Sqlite::new(script)), "t", columns) {
        Ok(_) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_cannot_be_counted_is_refused_with_what_helps() {
    let rows = |rows: &str| format!("CREATE TABLE t (y, p); INSERT INTO t VALUES {rows};");
    let columns = Columns::guess().truth("y").scores(["p"]);
    let said = |values: &str| refused(&rows(values), &columns);
    assert_eq!(
        said("(1, 0.5), (0, NULL), (NULL, 0.1)"),
        "table t, column y: found no value in 1 of 3 rows, expected one in every row"
    );
    assert_eq!(
        said("(1, 0.5), (0, 'much')"),
        "table t, column p: found no value in 1 of 2 rows, expected one in every row"
    );
    assert_eq!(
        said("(1, 50), (0, 20)"),
        "table t, column p: found numbers from 20 to 50, outside [0, 1] in 2 of 2 rows, expected a probability in [0, 1]; \
         percentages are divided by 100.0 in a view, and that is asked"
    );
    assert_eq!(said("(1, 0.5), (1, 0.6)"), "table t, column y: found only class 1, expected two classes");
    assert_eq!(
        refused("CREATE TABLE t (y, p);", &columns),
        "table t: found no rows, expected at least one row"
    );
    assert!(refused("CREATE TABLE u (y, p);", &columns).contains("no such table: t"));
    let odd = refused(&rows("(1, 0.5)"), &Columns::guess().truth("z").scores(["p"]));
    assert!(odd.starts_with("table t: found no column \"z\", expected one of the columns y, p"), "{odd}");
}

#[test]
fn rows_without_a_value_are_left_out_if_that_is_wanted() {
    let script = "CREATE TABLE t (y, p); INSERT INTO t VALUES (1, 0.5), (0, 0.2), (0, NULL), (NULL, 0.1);";
    let columns = Columns::guess().truth("y").scores(["p"]).drop_missing();
    let reading = Database::count(Box::new(Sqlite::new(script)), "t", &columns).unwrap();
    assert_eq!(reading.data.totals().unwrap().overall().rows, 2);
    assert!(reading.notes.contains(&Note::Change("2 of 4 rows without a value left out".to_owned())));
}

/// As tables are that were imported from a file without saying what its columns are.
#[test]
fn numbers_that_are_stored_as_text_are_read_and_other_text_is_missing() {
    let rows = |odd: &str| {
        format!(
            "CREATE TABLE t (y, p TEXT); INSERT INTO t VALUES (1, '0.75'), (0, '1e-05'), (1, '.5'), (0, '{odd}');"
        )
    };
    let columns = Columns::guess().truth("y").scores(["p"]);
    let counted = Database::count(Box::new(Sqlite::new(&rows("0.25"))), "t", &columns).unwrap().data;
    let scores: Vec<f64> =
        counted.score_profile(Score::Class(1)).unwrap().cells().iter().map(|cell| cell.score).collect();
    assert_eq!(scores, [0.75, 0.5, 0.25, 1e-5]);
    for odd in ["much", "", "1-2", "0.1.2", "1e", "0.5 or so", "e5", "."] {
        assert_eq!(
            refused(&rows(odd), &columns),
            "table t, column p: found no value in 1 of 4 rows, expected one in every row",
            "{odd}"
        );
    }
}

/// Spaces around a label do not make it another one, as in a file.
#[test]
fn labels_with_spaces_around_them_are_the_same_label() {
    let script = |label: &str, group: &str| {
        format!(
            "CREATE TABLE t (y, p, q, g); INSERT INTO t VALUES ('a', 0.5, 0.1, 'f'), ('b', 0.5, 0.7, 'm'), \
             ('{label}', 0.5, 0.3, '{group}'), ('b', 0.2, 0.2, 'f'), ('a', 0.9, 0.8, 'm');"
        )
    };
    let counted = |label: &str, group: &str, score: &str| {
        let columns = Columns::guess().truth("y").scores([score]).groups(["g"]);
        Database::count(Box::new(Sqlite::new(&script(label, group))), "t", &columns).unwrap().data
    };
    let (padded, plain) = ([counted("a ", " f", "p"), counted("a ", " f", "q")], counted("a", "f", "p"));
    assert_eq!(padded[0].totals().unwrap(), plain.totals().unwrap());
    assert_eq!(
        padded[0].score_profile(Score::Class(1)).unwrap(),
        plain.score_profile(Score::Class(1)).unwrap()
    );
    let rule = Rule::Threshold(vec![0.5]);
    let models: Vec<(&Database, &Rule)> = padded.iter().map(|model| (model, &rule)).collect();
    assert!(Database::resampled_together(&models, 1, 10).unwrap().is_some());
}

#[test]
fn a_table_that_changes_while_it_is_counted_is_refused() {
    let script = "CREATE TABLE t (y, p); INSERT INTO t VALUES (1, 0.5), (0, 0.2);";
    for (after, more) in [("AS classes", "2, 0.1"), ("AS classes", "0, 0.1"), ("SELECT DISTINCT", "0, 0.1")] {
        let mut database = Sqlite::new(script);
        let change = format!("INSERT INTO t VALUES ({more});");
        database.meddles = Some((after, change.leak()));
        let columns = Columns::guess().truth("y").scores(["p"]);
        let said = Database::count(Box::new(database), "t", &columns).map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            said,
            "table t: found 3 rows after 2 before, expected a table that does not change while it is counted"
        );
    }
}

#[test]
fn names_may_be_anything_and_lie_in_a_schema() {
    let script = "CREATE TABLE \"x\"\"; DROP TABLE t; --\" (\"y \"\"1\", \"p;\"); \
                  INSERT INTO \"x\"\"; DROP TABLE t; --\" VALUES (1, 0.5), (0, 0.25);";
    let database = Sqlite::new(script);
    let name = "main.x\"; DROP TABLE t; --";
    assert_eq!(columns_in_database(&database, name).unwrap(), ["y \"1", "p;"]);
    let columns = Columns::guess().truth("y \"1").scores(["p;"]);
    let reading = Database::count(Box::new(database), name, &columns).unwrap();
    assert_eq!(reading.data.totals().unwrap().overall().rows, 2);
}
