//! An acknowledged answer survives a crash: a process that writes is killed again and again.
//!
//! 20 kills by default; EQUIPOISE_KILLS=200 runs them all.

use equipoise_log::{Reader as _, SqliteStore, rows, verify};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The example is built with the tests and lies beside them.
fn example() -> Option<std::path::PathBuf> {
    let tests = std::env::current_exe().ok()?;
    let name = format!("append{}", std::env::consts::EXE_SUFFIX);
    Some(tests.parent()?.parent()?.join("examples").join(name)).filter(|path| path.is_file())
}

#[test]
fn acknowledged_answers_survive_kills() {
    let Some(example) = example() else {
        println!("acknowledged_answers_survive_kills skipped: the example `append` is not built");
        return;
    };
    let kills: usize = std::env::var("EQUIPOISE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let directory = std::env::temp_dir().join(format!("equipoise-log-crash-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("log.sqlite");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut acknowledged: Vec<String> = vec![];
    let mut slowest = Duration::ZERO;
    for _ in 0..kills {
        let mut child = Command::new(&example).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
        let started = std::time::Instant::now();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        if let Some(first) = lines.next() {
            slowest = slowest.max(started.elapsed());
            acknowledged.push(first.unwrap());
        }
        std::thread::sleep(Duration::from_micros(random.random_range(0..60_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        // What was printed whole before the kill was acknowledged.
        acknowledged.extend(lines.map_while(Result::ok).filter(|line| line.ends_with('.')));
    }
    let store = SqliteStore::open_existing(&path).unwrap();
    let verified = verify(&store, &mut |_, sealed| Ok(sealed)).unwrap();
    let all = rows(&store).unwrap();
    let mut lost = 0;
    for line in &acknowledged {
        let receipt = line.trim_end_matches('.');
        let (position, _) = receipt.split_once('-').unwrap();
        let row = &all[position.parse::<usize>().unwrap() - 1];
        lost += usize::from(row.receipt().to_string() != receipt);
    }
    println!(
        "{kills} kills, {} acknowledged, {} rows, {lost} lost, slowest restart {slowest:?}",
        acknowledged.len(),
        verified.rows
    );
    assert_eq!(lost, 0);
    assert!(acknowledged.len() >= kills, "the process must get to write something");
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    assert_eq!(store.head().unwrap().position, verified.rows);
    std::fs::remove_dir_all(&directory).unwrap();
}
