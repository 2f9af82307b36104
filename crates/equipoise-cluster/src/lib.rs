#![forbid(unsafe_code)]
//! Tables counted on a cluster of machines.
//!
//! A cluster is a scheduler and executors, all of them this program. What a command asks of a table is one aggregate over its pieces
//! (`equipoise_data::read::elsewhere`): executors read pieces with the reader and count them with the kernel that one machine uses, and
//! only sums travel. The engine (Ballista) spreads the pieces, and merges the sums; a pass is begun again when an executor is lost.
//!
//! All of it is behind the feature `ballista`, without which the crate is empty.

#[cfg(feature = "ballista")]
mod aggregate;
#[cfg(feature = "ballista")]
mod client;
#[cfg(feature = "ballista")]
mod executor;
#[cfg(feature = "ballista")]
mod passes;
#[cfg(feature = "ballista")]
mod scheduler;
#[cfg(feature = "ballista")]
mod wire;

#[cfg(feature = "ballista")]
pub use {
    client::{Cluster, Watch},
    executor::{Executor, executor},
    scheduler::scheduler,
    wire::Tls,
};
