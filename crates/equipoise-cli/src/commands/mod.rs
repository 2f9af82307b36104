//! One module for each command.

pub mod account;
pub mod apply;
pub mod bench;
pub mod demo;
pub mod elicit;
pub mod inspect;
mod models;
pub mod optimize;
pub mod plan;
pub mod rank;
pub mod reproduce;
pub mod score;
pub mod scorer;
pub mod serve;
pub mod simulate;
pub mod study;
pub mod threshold;
