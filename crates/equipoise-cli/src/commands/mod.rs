//! One module for each command.

pub mod demo;
pub mod reproduce;
pub mod simulate;
