//! A table that is read piece by piece answers like one in memory, to the last bit, and says the same about itself.

mod common;

use common::{Layout, Values, parquet, scratch};
use equipoise::population::{Confusions, Population, PostShift, Rule, Score};
use equipoise_data::read::{self, Elsewhere, Piece, Streamed, Tally};
use equipoise_data::{Columns, Error, Note, Sample, Table, space_for};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::{Path, PathBuf};

struct Shape {
    classes: usize,
    rows: usize,
    files: usize,
    /// Digits of the scores.
    digits: i32,
}

/// A folder of Parquet files with two columns of groups, whose names do not come in their order.
fn folder(name: &str, shape: &Shape) -> PathBuf {
    let place = scratch(name);
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let names = ["home", "ward", "intensive"];
    let unit = 10_f64.powi(shape.digits);
    for file in 0..shape.files {
        let (mut truth, mut sex, mut age, mut weight) = (vec![], vec![], vec![], vec![]);
        let mut scores = vec![vec![]; shape.classes];
        for row in 0..shape.rows / shape.files {
            // The first file has no row of the last class, and the second no woman.
            let class = random.random_range(0..if file == 0 { shape.classes - 1 } else { shape.classes });
            let class = if row == 0 { 0 } else { class };
            truth.push(if shape.classes == 2 { ["no", "yes"][class] } else { names[class] });
            sex.push(if file != 1 && random.random::<f64>() < 0.5 { "w" } else { "m" });
            age.push(["young", "old", "NA"][random.random_range(0..3)]);
            weight.push(random.random::<f64>());
            let mut sizes: Vec<f64> = (0..shape.classes)
                .map(|n| random.random::<f64>() + if n == class { 0.7 } else { 0.0 })
                .collect();
            let sum: f64 = sizes.iter().sum();
            sizes.iter_mut().for_each(|size| *size = (*size / sum * unit).round() / unit);
            scores.iter_mut().zip(sizes).for_each(|(column, size)| column.push(size));
        }
        let mut columns = vec![("y", Values::texts(&truth))];
        match shape.classes {
            2 => columns.push(("score", Values::doubles(&scores[1]))),
            _ => columns.extend(names.iter().zip(&scores).map(|(&name, column)| {
                (
                    ["p_home", "p_ward", "p_intensive"][names.iter().position(|n| *n == name).unwrap()],
                    Values::doubles(column),
                )
            })),
        }
        columns.extend([
            ("sex", Values::texts(&sex)),
            ("age", Values::texts(&age)),
            ("w", Values::doubles(&weight)),
        ]);
        let bytes = parquet(&columns, Layout { rows_per_group: 700, ..Layout::default() });
        std::fs::write(place.join(format!("part-{file}.parquet")), bytes).unwrap();
    }
    place
}

fn both(path: &Path, columns: &Columns) -> (Sample<Table>, Streamed) {
    let memory = read::table(path, columns).unwrap();
    let streamed = read::stream(path, columns).unwrap().unwrap();
    let mut notes = streamed.notes;
    let Note::Choice(said) = notes.remove(1) else { panic!("a choice") };
    assert!(said.starts_with("streamed: ") && said.ends_with(" of which only counts are kept"), "{said}");
    assert_eq!(notes, memory.notes);
    assert_eq!(streamed.data.class_names(), memory.data.classes());
    assert_eq!(streamed.data.group_names(), memory.data.groups().map_or(&[][..], |groups| groups.names()));
    (Sample::new(memory.data).unwrap(), streamed.data)
}

/// Three that share the pieces, take them from the back, and are merged in an order of their own.
struct Three;

impl Elsewhere for Three {
    fn ask(&self, question: &str, pieces: &[Piece]) -> Result<Vec<u8>, Error> {
        let mut all = Tally::new(question)?;
        for part in [1, 2, 0] {
            let mut tally = Tally::new(question)?;
            pieces.iter().skip(part).step_by(3).rev().for_each(|piece| tally.read(piece));
            all.merge(&tally.state())?;
        }
        Ok(all.state())
    }
}

fn elsewhere(path: &Path, columns: &Columns) -> Streamed {
    read::elsewhere(path, columns, Box::new(Three)).unwrap().unwrap().data
}

/// Everything that is asked, as text with every digit.
fn all<P: Population<Err: std::fmt::Debug>>(population: &P) -> Vec<String> {
    let k = population.classes();
    let mut said =
        vec![format!("{:?}", population.totals().unwrap()), format!("{:?}", population.prevalence())];
    for class in 0..k {
        said.push(format!("{:?}", population.score_profile(Score::Class(class)).unwrap()));
    }
    said.push(format!("{:?}", population.score_profile(Score::Share(k - 1, 0)).unwrap()));
    let weights: Vec<f64> = (0..k).map(|class| 1.0 + 0.37 * class as f64).collect();
    let mut rules = vec![Rule::most_likely(k).unwrap(), PostShift::diagonal(&weights).unwrap().into()];
    rules.extend((k == 2).then(|| Rule::Threshold(vec![0.4])));
    said.push(format!("{:?}", population.confusions(&rules).unwrap()));
    said.push(format!("{:?}", population.resampled(&rules, 9, 6).unwrap()));
    let part = population.sample(500, 3).unwrap();
    let Ok(totals) = part.totals();
    said.push(format!("{totals:?} {:?}", part.confusions(&rules)));
    for family in ["linear", "group_fair"] {
        said.push(
            space_for(population, family).map_or_else(|_| "none".to_owned(), |space| format!("{space:?}")),
        );
    }
    said
}

#[track_caller]
fn same(memory: &[String], streamed: &[String]) {
    assert_eq!(memory.len(), streamed.len());
    for (n, (memory, streamed)) in memory.iter().zip(streamed).enumerate() {
        assert_eq!(
            memory.chars().take(2_000).collect::<String>(),
            streamed.chars().take(2_000).collect::<String>(),
            "{n}"
        );
        assert!(memory == streamed, "answer {n} differs after its beginning");
    }
}

#[test]
fn pieces_answer_like_rows_in_memory() {
    let columns = Columns::guess().groups(["sex", "age"]).without_weight();
    for (name, classes, digits) in [("two", 2, 3), ("three", 3, 9)] {
        let shape = Shape { classes, rows: 6_000, files: 3, digits };
        let path = folder(&format!("stream-{name}"), &shape);
        let (memory, streamed) = both(&path, &columns);
        same(&all(&memory), &all(&streamed));
        let elsewhere = elsewhere(&path, &columns);
        same(&all(&memory), &all(&elsewhere));
        assert_eq!(streamed.fingerprint(), elsewhere.fingerprint());
        let (memory, streamed) = both(&path.join("part-*.parquet"), &columns);
        same(&all(&memory)[..1], &all(&streamed)[..1]);
        assert!(!streamed.is_hard());
        assert_eq!(streamed.fingerprint(), memory.table().fingerprint(0));
    }
}

#[test]
fn weighted_pieces_agree_to_rounding() {
    let shape = Shape { classes: 2, rows: 3_000, files: 2, digits: 2 };
    let path = folder("stream-weighted", &shape);
    let columns = Columns::guess().groups(["sex"]).weight("w");
    let (memory, streamed) = both(&path, &columns);
    assert!(streamed.totals().unwrap().weighted);
    assert_eq!(memory.totals().unwrap(), streamed.totals().unwrap());
    assert_eq!(
        memory.score_profile(Score::Class(1)).unwrap(),
        streamed.score_profile(Score::Class(1)).unwrap()
    );
    let rules = [Rule::Threshold(vec![0.4])];
    let (Ok(one), other) = (memory.confusions(&rules), streamed.confusions(&rules).unwrap());
    for n in 0..8 {
        let [a, b] = [&one[0], &other[0]].map(|matrix| matrix.get(n / 4, n / 2 % 2, n % 2));
        assert!((a - b).abs() <= 1e-12 * a.abs(), "{a} {b}");
    }
    assert_eq!(memory.resampled(&rules, 2, 5).unwrap(), streamed.resampled(&rules, 2, 5).unwrap());
    let other = elsewhere(&path, &columns).confusions(&rules).unwrap();
    for n in 0..8 {
        let [a, b] = [&one[0], &other[0]].map(|matrix| matrix.get(n / 4, n / 2 % 2, n % 2));
        assert!((a - b).abs() <= 1e-12 * a.abs(), "{a} {b}");
    }
}

#[test]
fn one_large_file_comes_in_several_pieces() {
    let rows = (1 << 20) + 5_000;
    let truth: Vec<i32> = (0..rows).map(|row| i32::from(row * 7 % 11 > 6)).collect();
    let scores: Vec<f64> = (0..rows).map(|row| f64::from(row * 7 % 11) / 11.0).collect();
    let place = scratch("stream-large");
    let bytes = parquet(
        &[("y", Values::ints(&truth)), ("score", Values::doubles(&scores))],
        Layout { rows_per_group: 200_000, ..Layout::default() },
    );
    let path = place.join("large.parquet");
    std::fs::write(&path, bytes).unwrap();
    let said = read::stream(&path, &Columns::guess()).unwrap().unwrap().notes[1].to_string();
    assert_eq!(said, format!("streamed: {rows} rows in 2 pieces, of which only counts are kept"));
    let (memory, streamed) = both(&path, &Columns::guess());
    same(&all(&memory), &all(&streamed));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn what_is_wrong_is_said_as_of_a_table_in_memory() {
    let place = scratch("stream-wrong");
    let good = [("y", Values::ints(&[0, 1, 0])), ("score", Values::doubles(&[0.1, 0.7, 0.2]))];
    let holes = [("y", Values::ints(&[0, 1])), ("score", Values::Double(vec![Some(0.5), None]))];
    let third = [("y", Values::ints(&[0, 2])), ("score", Values::doubles(&[0.5, 0.6]))];
    let one = [("y", Values::ints(&[1, 1])), ("score", Values::doubles(&[0.5, 0.6]))];
    for (name, second) in [("holes", &holes), ("third", &third)] {
        let folder = place.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.parquet"), parquet(&good, Layout::default())).unwrap();
        std::fs::write(folder.join("b.parquet"), parquet(second, Layout::default())).unwrap();
        let said = |error: equipoise_data::Error| error.to_string();
        let memory = read::table(&folder, &Columns::guess()).map(|_| ()).map_err(said);
        let streamed = read::stream(&folder, &Columns::guess()).map(|_| ()).map_err(said);
        let counted = read::elsewhere(&folder, &Columns::guess(), Box::new(Three)).map(|_| ()).map_err(said);
        assert_eq!(counted.unwrap_err(), streamed.as_ref().unwrap_err().as_str());
        assert_eq!(memory.unwrap_err(), streamed.unwrap_err());
    }
    let alone = place.join("alone.parquet");
    std::fs::write(&alone, parquet(&one, Layout::default())).unwrap();
    let error = read::stream(&alone, &Columns::guess()).map(|_| ()).unwrap_err().to_string();
    assert_eq!(error, read::table(&alone, &Columns::guess()).unwrap_err().to_string());
    let none = [("y", Values::ints(&[])), ("score", Values::doubles(&[]))];
    let nobody = place.join("none.parquet");
    std::fs::write(&nobody, parquet(&none, Layout::default())).unwrap();
    let named = Columns::guess().truth("y").scores(["score"]);
    for columns in [Columns::guess(), named] {
        let error = read::table(&nobody, &columns).unwrap_err().to_string();
        if let Err(streamed) = read::stream(&nobody, &columns).map(|read| assert!(read.is_none())) {
            assert_eq!(streamed.to_string(), error);
        }
        assert!(error.contains("found no rows"), "{error}");
    }
    // Others than Parquet, and what is recognised by its values, is read as a whole.
    let text = place.join("a.csv");
    std::fs::write(&text, "y,score\n0,0.1\n1,0.9\n").unwrap();
    assert!(read::stream(&text, &Columns::guess()).unwrap().is_none());
    assert!(read::stream(&alone, &Columns::guess().drop_missing()).unwrap().is_none());
}

/// Somebody who leaves pieces out, or counts them twice.
struct Careless(fn(&[Piece]) -> Vec<Piece>);

impl Elsewhere for Careless {
    fn ask(&self, question: &str, pieces: &[Piece]) -> Result<Vec<u8>, Error> {
        let mut tally = Tally::new(question)?;
        self.0(pieces).iter().for_each(|piece| tally.read(piece));
        Ok(tally.state())
    }
}

#[test]
fn a_piece_that_was_not_counted_once_is_an_error() {
    let path = folder("stream-careless", &Shape { classes: 2, rows: 3_000, files: 3, digits: 2 });
    let said = |careless| {
        let place = Box::new(Careless(careless));
        read::elsewhere(&path, &Columns::guess(), place).map(|_| ()).unwrap_err().to_string()
    };
    let told = |rows: &str| {
        format!("{}: found {rows} counted, expected 3000 in 3: the answer is not used", path.display())
    };
    assert_eq!(said(|pieces| pieces[1..].to_vec()), told("2000 rows in 2 pieces"));
    assert_eq!(said(|pieces| [pieces, &pieces[..1]].concat()), told("4000 rows in 4 pieces"));
    // As many rows, but not the same ones.
    assert_eq!(said(|pieces| [&pieces[1..], &pieces[1..2]].concat()), told("3000 rows in 3 pieces"));
    let gone = said(|pieces| {
        pieces
            .iter()
            .map(|piece| Piece { file: piece.file.with_extension("gone"), ..piece.clone() })
            .collect()
    });
    assert!(gone.contains("part-0.gone: found a file that an executor cannot read ("), "{gone}");
    assert!(gone.ends_with("expected the same files under the same paths on every machine"), "{gone}");
    let other = said(|pieces| pieces.iter().map(|piece| Piece { rows: 7, ..piece.clone() }).collect());
    assert!(
        other.ends_with(
            "found other rows than where the command runs, expected the same files on every machine"
        ),
        "{other}"
    );
}
