//! One module for each command.

pub mod bench;
pub mod demo;
pub mod reproduce;
pub mod simulate;
pub mod study;
