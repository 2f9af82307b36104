//! One module for each command.

pub mod bench;
mod bench_fractional;
mod bench_pools;
pub mod demo;
pub mod elicit;
pub mod inspect;
mod models;
pub mod rank;
pub mod reproduce;
pub mod score;
pub mod simulate;
pub mod threshold;
