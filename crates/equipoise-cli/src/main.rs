//! The `equipoise` command.

mod svg;

fn main() {}
