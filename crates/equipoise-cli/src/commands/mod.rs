//! One module for each command.

pub mod account;
pub mod apply;
mod attributes;
pub mod bench;
mod candidates;
pub mod choose;
#[cfg(feature = "cluster")]
pub mod cluster;
mod decided;
pub mod demo;
mod details;
pub mod elicit;
pub mod gate;
pub mod inspect;
pub mod manual;
pub mod metrics;
mod models;
pub mod open;
pub mod optimize;
pub mod plan;
pub mod rank;
mod redrawn;
mod regret;
pub mod reproduce;
pub mod score;
pub mod scorer;
pub mod serve;
pub mod simulate;
pub mod study;
pub mod threshold;
