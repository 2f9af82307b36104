//! cargo run --release -p equipoise-data --features arrow --example read -- val.parquet [group column ...]
//!
//! Reads a table of predictions, guessing its columns, and says what it found.

use equipoise_data::{Columns, read};
use std::time::Instant;

fn main() -> Result<(), equipoise_data::Error> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("which file?");
        std::process::exit(2);
    };
    let groups: Vec<String> = arguments.collect();
    let columns = if groups.is_empty() { Columns::guess() } else { Columns::guess().groups(groups) };
    let start = Instant::now();
    let reading = match read::table(&path, &columns) {
        Ok(reading) => reading,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(3);
        }
    };
    for note in &reading.notes {
        println!("{note}");
    }
    let table = reading.data;
    println!("{} rows in {:.2} s", table.rows(), start.elapsed().as_secs_f64());
    for (group, totals) in table.totals().cells.into_iter().enumerate() {
        let group = table.groups().map_or("all", |groups| &groups.names()[group]);
        let totals: Vec<String> = table
            .classes()
            .iter()
            .zip(totals)
            .map(|(class, total)| format!("{class}: {}", total.weight))
            .collect();
        println!("{group}: {}", totals.join(", "));
    }
    Ok(())
}
