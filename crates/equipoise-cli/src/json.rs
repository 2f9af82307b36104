//! One JSON document on an output, as `--json` promises.

use crate::terminal::visible;
use serde::Serialize;
use std::io::{IsTerminal, Write};

/// Writes a document and a line end. A reader who has gone away stays an I/O error, so that it can be told from a fault.
pub fn write(document: &impl Serialize, out: &mut impl Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document).map_err(std::io::Error::from)?;
    writeln!(out)
}

/// The same for one that holds what participants typed, of which a terminal is sent nothing that it would take for a command.
pub fn write_visible(document: &impl Serialize, out: &mut (impl Write + IsTerminal)) -> std::io::Result<()> {
    let mut bytes = vec![];
    write(document, &mut bytes)?;
    out.write_all(&if out.is_terminal() { visible(&bytes) } else { bytes })
}
