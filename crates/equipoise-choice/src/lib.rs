//! Candidates to choose from: what a table says of them, how questions about them are said, and what came out.
//!
//! Commands and the Python package read candidates by the same rules, which are here.
#![forbid(unsafe_code)]

mod chosen;
mod front;
mod words;

pub use chosen::{Best, Chosen, Dominated, Ranked, Weight, ranked};
pub use front::{Front, Refused, Wanted, points};
pub use words::{Said, Words};
