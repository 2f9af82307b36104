//! Studies with people over the web.
//!
//! * [`participant`] is the router for participants: every step a page and a form, state in the study's log.
//! * [`page`], [`picture`], [`sentence`] and [`language`] are what participants see, as functions of a study and a
//!   participant's state; they know nothing of requests.
//! * [`serve`] listens, and stops in good order.
//! * [`cohort`] are simulated people who answer over HTTP, for tests and measurements.
//!
//! Pages are HTML from the server; one small script adds keys, response times and an outbox. No page asks anything of
//! another server. The researchers' side is a router of its own on a port of its own and shares no handler with this one.
#![forbid(unsafe_code)]

pub mod assets;
pub mod cohort;
pub mod language;
mod markdown;
pub mod page;
pub mod participant;
pub mod picture;
pub mod sentence;
pub mod serve;
