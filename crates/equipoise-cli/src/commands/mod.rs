//! One module for each command.

pub mod bench;
mod bench_people;
mod bench_sessions;
pub mod demo;
pub mod plan;
pub mod reproduce;
pub mod simulate;
