//! One module for each command.

pub mod bench;
pub mod demo;
pub mod load;
pub mod reproduce;
pub mod serve;
pub mod simulate;
pub mod study;
