//! One module for each command.

pub mod bench;
mod bench_fractional;
mod bench_pools;
pub mod demo;
pub mod reproduce;
pub mod simulate;
