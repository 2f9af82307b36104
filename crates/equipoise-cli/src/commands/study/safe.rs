//! `equipoise study backup` and `equipoise study restore`.

use super::{Place, shown};
use crate::args::Global;
use crate::json;
use anyhow::Result;
use clap::Args;
use equipoise_log::SqliteStore;
use equipoise_study::event::Action;
use equipoise_study::seams::{SystemClock, SystemRandom};
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Copy the log while the study goes on, and verify the copy
#[derive(Debug, Args)]
#[command(after_help = "\
The copy is one file, also of a log in a database.

Example:\n  equipoise study backup cancer cancer-monday.sqlite")]
pub struct Backup {
    #[command(flatten)]
    place: Place,
    /// The file to make
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Put a backup in the place of the log
#[derive(Debug, Args)]
#[command(after_help = "\
The backup is verified first, and must be one of this study. Whoever was erased since it was made is erased again. The log \
that was there is kept beside it as log.sqlite.replaced-1, or the next number; delete it when you are sure. Stop the \
server before. With --database the database must hold no log yet: so a study is moved there from a file, and whoever was erased \
since the backup was made has to be erased again.

Example:
  equipoise study restore cancer cancer-monday.sqlite")]
pub struct Restore {
    #[command(flatten)]
    place: Place,
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs `backup`.
pub fn backup(args: &Backup, global: &Global) -> Result<ExitCode> {
    args.place.output(&args.file)?;
    args.place.store()?.backup(&args.file)?;
    let verified = equipoise_study::verify(&SqliteStore::open_copy(&args.file)?)?;
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(
            &json!({"format": 1, "file": args.file, "rows": verified.rows, "head": verified.head}),
            &mut out,
        )?;
    } else {
        writeln!(out, "Wrote {}: {} rows, head {}.", shown(&args.file), verified.rows, verified.head)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs `restore`.
pub fn restore(args: &Restore, global: &Global) -> Result<ExitCode> {
    let place = &args.place;
    let mut study = vec![place.design()?.hash().to_owned()];
    study.extend(place.files()?.lock()?.map(|lock| lock.hash));
    let restored = match place.is_in_database() {
        true => {
            let mut store = place.begun_or_new()?;
            equipoise_study::restore_into(&args.file, &mut *store, &study, &SystemClock, &SystemRandom)?
        }
        false => equipoise_study::restore(&args.file, &place.log(), &study, &SystemClock, &SystemRandom)?,
    };
    place.note(&mut *place.store()?, Action::Restored { rows: restored.verified.rows })?;
    let (rows, head, again) = (restored.verified.rows, restored.verified.head, restored.again);
    let mut out = std::io::stdout().lock();
    if global.json {
        let kept = restored.kept;
        let document = json!({
            "format": 1, "rows": rows, "head": head, "erased_again": again, "not_in_backup": restored.lost, "kept": kept,
        });
        json::write(&document, &mut out)?;
    } else {
        writeln!(out, "Restored {rows} rows; {again} erased again.\nHead {head}")?;
        match &restored.kept {
            Some(kept) => {
                match restored.lost {
                    0 => {}
                    1 => writeln!(out, "1 row of the log that was there is not in the backup.")?,
                    lost => writeln!(out, "{lost} rows of the log that was there are not in the backup.")?,
                }
                writeln!(out, "The log that was there is kept as {}.", shown(kept))?;
            }
            // Who was erased since is known to the log that was there, and there was none.
            None => writeln!(
                out,
                "There was no log before: whoever was erased after the backup was made is in it again, and is to be erased again."
            )?,
        }
    }
    Ok(ExitCode::SUCCESS)
}
