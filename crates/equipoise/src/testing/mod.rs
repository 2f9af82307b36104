//! What tests, benches and simulations share: random metrics, simulated people, hostile respondents, simulation files.

pub mod adversary;
pub mod people;
pub mod random;
pub mod recorded;
mod simulation;

pub use simulation::{Report, Simulation};
