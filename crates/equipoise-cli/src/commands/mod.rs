//! One module for each command.

pub mod apply;
pub mod bench;
pub mod demo;
pub mod optimize;
pub mod reproduce;
pub mod simulate;
