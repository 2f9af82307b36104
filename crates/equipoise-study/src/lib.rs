#![forbid(unsafe_code)]
//! Studies with people: the study file, the log of what happened, and what follows from it.
//!
//! There is no server here and no page. A server does four things with a [`Service`]:
//!
//! 1. [`Service::invite`] makes places; each [`Invitation`] has a token for a link, which is stored nowhere.
//! 2. [`Service::open`] turns a token into a session.
//! 3. [`Service::look`] shows a [`Participant`]: the next [`Step`], the comparison on the screen
//!    ([`Participant::pending`]), language, progress. A comparison is in the log before it is seen.
//! 4. [`Service::record`] takes an [`Event`] from a device with a key that makes sending it twice harmless, and returns a
//!    [`Receipt`](equipoise_log::Receipt) when it is synced. Refusals ([`Refusal`]) are not errors of the server.
//!
//! ```
//! use equipoise_log::{MemoryStore, Writer};
//! use equipoise_study::{seams::{TestClock, TestRandom}, template, *};
//! use std::{path::Path, sync::Arc};
//!
//! let study = Study::parse(template::find("binary-cancer").unwrap().text)?;
//! let design = Arc::new(Design::new(study, Path::new("src/templates"))?);
//! let service = Service::new(design, Writer::start(MemoryStore::new()), TestClock::default(), TestRandom::new(1));
//! let invitation = service.invite(1)?.remove(0);
//! let session = service.open(&invitation.token)?.unwrap();
//! assert_eq!(service.look(&session, Participant::step)?, Step::Language);
//! let event = Event::LanguageChosen { language: "en".to_owned() };
//! let recorded = service.record(&session, "phone", "key-1", &event)?;
//! assert_eq!(service.record(&session, "phone", "key-1", &event)?.receipt(), recorded.receipt());
//! assert_eq!(service.look(&session, Participant::step)?, Step::Consent);
//! # Ok::<(), Error>(())
//! ```
//!
//! What is where: [`study`] the file, [`design`](Design) the file with its data and engine, [`event`] what can happen,
//! [`equipoise_log`] where it is kept, [`Participant`] the fold of one person's events, [`shown`] whole numbers on the screen,
//! [`seams`] clock and randomness, [`contacts`] who somebody is, which is not in the log.

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
pub mod apart;
pub mod audit;
mod belief;
mod cache;
pub mod candidates;
pub mod contacts;
mod design;
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
pub mod directory;
mod error;
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
pub mod event;
mod everybody;
pub mod exchange;
pub mod export;
pub mod fields;
mod forecast;
mod forecaster;
pub mod groups;
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
mod inside;
mod integrity;
mod invitation;
pub mod length;
mod lines;
pub mod lint;
pub mod numbers;
mod participant;
pub mod people;
mod progress;
pub mod retention;
mod schedule;
pub mod seams;
mod service;
mod shape;
pub mod shown;
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
pub mod study;
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
pub mod tables;
pub mod template;
mod text;
pub mod timing;

pub use belief::{Belief, ratio_metric};
pub use design::{Design, Fit, Scores};
pub use error::{Error, Result};
pub use event::Event;
pub use everybody::{Everybody, People};
pub use integrity::{Numbered, erase_aside, numbered, repair, restore, restore_into, verify, verify_of};
pub use invitation::{Invitation, session_of};
pub use participant::{ATTEMPTS, Participant, Question, Refusal, Stated, Step, as_planned, take};
pub use progress::{Known, progress};
pub use schedule::{FEWEST, Stopped};
pub use service::{Entered, Recorded, Service, Tidied};
pub use study::Study;
pub use text::Text;
