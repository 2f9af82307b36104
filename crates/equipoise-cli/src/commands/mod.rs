//! One module for each command.

pub mod bench;
mod bench_people;
pub mod demo;
pub mod reproduce;
pub mod simulate;
