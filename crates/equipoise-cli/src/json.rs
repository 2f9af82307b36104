//! One JSON document on an output, as `--json` promises.

use serde::Serialize;
use std::io::Write;

/// Writes a document and a line end. A reader who has gone away stays an I/O error, so that it can be told from a fault.
pub fn write(document: &impl Serialize, out: &mut impl Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document).map_err(std::io::Error::from)?;
    writeln!(out)
}
