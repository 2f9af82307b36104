//! Candidates from a table in a file.

use crate::args::{Among, Choose};
use crate::fault::Fault;
use crate::files;
use anyhow::{Context as _, Result};
use equipoise::metric::Transform;
pub use equipoise_choice::Front;
use equipoise_choice::{Refused, Wanted};
use equipoise_data::read;
use std::path::Path;

fn scales(args: &Choose) -> Result<Vec<(String, Transform)>> {
    let scale = |part: &'static str| {
        Fault::usage(format!("--scale {part}, expected COL=linear, COL=log or COL=logit"))
    };
    let mut found = vec![];
    for part in &args.scale {
        let (name, word) = part.split_once('=').ok_or_else(|| scale("names no scale"))?;
        let transform = match word {
            "linear" => Transform::Linear,
            "log" => Transform::Log,
            "logit" => Transform::Logit,
            _ => return Err(scale("names a scale that there is not").into()),
        };
        found.push((name.to_owned(), transform));
    }
    Ok(found)
}

/// What `equipoise choose TABLE` is told, and nothing else.
pub fn plainly(table: &Path) -> Choose {
    Choose { table: table.to_owned(), ..Choose::default() }
}

/// Reads the table.
pub fn front(args: &Choose) -> Result<Front> {
    let file = files::name(&args.table);
    let scale = scales(args)?;
    let wanted = Wanted {
        name: args.name.as_deref(),
        minimize: &args.minimize,
        maximize: &args.maximize,
        ignore: &args.ignore,
        scale: &scale,
        all: args.among == Among::All,
        only_real: args.only_real,
        option: |option, column| format!("--{option} {}", files::word(Path::new(column))),
    };
    let header = read::header(&args.table)?;
    let names = wanted.columns(&header).map_err(fault).with_context(|| file.clone())?;
    let texts = read::texts(&args.table, &names)?;
    let columns: Vec<(String, Vec<String>)> = names.into_iter().cloned().zip(texts).collect();
    Front::new(&columns, &wanted).map_err(fault).with_context(|| file)
}

/// What is wrong with a table, by the exit code it ends in.
fn fault(refused: Refused) -> anyhow::Error {
    match refused {
        Refused::Wanted(what) => Fault::usage(what).into(),
        Refused::Table(what) => Fault::input_output(what).into(),
        Refused::Candidates(error) => error.into(),
    }
}
