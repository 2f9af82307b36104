#![cfg(feature = "ballista")]
//! Tables counted on a cluster of machines.
//!
//! A cluster is a scheduler and executors, all of them this program. What a command asks of a table ([`equipoise_data::read::elsewhere`])
//! is one aggregate over its pieces: executors read pieces with the reader and count them with the kernel that one machine uses, and
//! only sums travel. The engine (Ballista) spreads the pieces, merges the sums, and does again what a lost executor did.

mod aggregate;
mod client;
mod executor;
mod scheduler;
mod wire;

pub use client::Cluster;
pub use executor::{Executor, executor};
pub use scheduler::scheduler;
pub use wire::Tls;
