//! TEMP
fn main() {}
