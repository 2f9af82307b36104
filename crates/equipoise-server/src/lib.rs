//! Studies with people over the web.
//!
//! * [`participant`] is the router for participants: every step a page and a form, state in the study's log. What its
//!   pages say and draw is in [`equipoise_pages`], which knows nothing of requests.
//! * [`researcher`] is the router for researchers, on a port of its own: accounts, live results, links, export, audit.
//! * [`open`] is the router for one table on one's own computer: what was read, questions, what came out.
//! * [`preview`] is the whole study to try out, in a log that is thrown away.
//! * [`serve`] listens, and stops in good order; connections and requests have limits (`listen`, `budget`).
//!
//! Pages are HTML from the server; one small script adds keys, response times and an outbox. No page asks anything of
//! another server. The routers share no handler: what they have in common are headers (`guard`) and pictures.
#![forbid(unsafe_code)]

mod assets;
mod budget;
#[cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]
mod form;
#[cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]
mod guard;
mod health;
mod listen;
#[cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]
mod multipart;
pub mod open;
pub mod participant;
pub mod preview;
pub mod researcher;
pub mod serve;
mod text;
