//! The `equipoise` command.

mod progress;
mod svg;
mod table;
mod terminal;

fn main() {}
