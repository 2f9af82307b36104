//! The papers' tables, through the real binary.

use serde_json::Value;
use std::process::{Command, Output};

fn reproduce(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .arg("reproduce")
        .args(arguments)
        .current_dir(std::env::temp_dir())
        .output()
        .expect("the binary runs")
}

fn document(arguments: &[&str]) -> Value {
    let output = reproduce(&[arguments, &["--json", "--no-svg"]].concat());
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

#[test]
fn the_exact_tables_hold() {
    let found = document(&["a1", "a2", "b1", "b2", "b4", "b5", "8.4"]);
    for experiment in found["experiments"].as_array().unwrap() {
        let checks = experiment["checks"].as_array().unwrap();
        assert!(!checks.is_empty());
        for check in checks {
            assert_eq!(check["holds"], true, "{}: {check}", experiment["id"]);
        }
    }
    assert_eq!(found["experiments"].as_array().unwrap().len(), 7);
    assert_eq!(found["holds"], true);
}

#[test]
fn the_random_experiments_hold_for_any_seed() {
    // Means over 100 metrics are checked where they are quick; the rest is run with a few.
    let seed =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string();
    for (arguments, experiments) in
        [(vec!["b3", "6.6"], 2), (vec!["5.3", "6.3", "6.4", "6.5", "--metrics", "3"], 4)]
    {
        let found = document(&[arguments.as_slice(), &["--seed", &seed]].concat());
        let list = found["experiments"].as_array().unwrap();
        assert_eq!(list.len(), experiments);
        for experiment in list {
            let cells = experiment["tables"].to_string();
            assert!(!cells.contains("NaN") && !cells.contains("inf"), "seed {seed}: {cells}");
        }
    }
}

#[test]
fn names_are_forgiving_and_mistakes_are_named() {
    assert_eq!(document(&["Table A.1"])["experiments"][0]["id"], "a1");
    assert_eq!(document(&["fig8.4"])["experiments"][0]["id"], "8.4");
    let wrong = reproduce(&["a9"]);
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(said.starts_with("error: \"a9\" is not an experiment, expected one of a1, a2"), "{said}");
    let list = String::from_utf8(reproduce(&[]).stdout).unwrap();
    assert!(list.contains("8.4  Table 8.4: ten simulated subjects"));
}

#[test]
fn text_fits_a_hundred_columns_and_plots_are_written() {
    let directory = std::env::temp_dir().join(format!("equipoise-reproduce-{}", std::process::id()));
    let output = reproduce(&["a2", "b2", "b3", "8.4", "--svg", directory.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    let plot = std::fs::read_to_string(directory.join("b3.svg")).unwrap();
    assert!(plot.starts_with("<svg") && plot.contains("recovery on tiny spheres"));
    std::fs::remove_dir_all(directory).unwrap();
}
