//! What participants of a study see, as functions of a study and a participant's state. Nothing here knows of requests.
//!
//! * [`page`] has a struct per page, rendered by a template.
//! * [`picture`] draws a pair of systems, [`sentence`] says in words how they differ, [`language`] has the words.
//! * [`assets`] are the style, the script and the icon that pages name.
#![forbid(unsafe_code)]

pub mod assets;
pub mod language;
mod markdown;
pub mod page;
pub mod picture;
pub mod sentence;
