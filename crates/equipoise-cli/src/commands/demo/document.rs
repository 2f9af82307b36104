//! What `equipoise demo --json` prints.

use super::{Antipodal, Session, recovered};
use crate::ratio::{self, Agreeing};
use equipoise::space::Binary;
use equipoise::{Answered, Metric, Outcome};
use serde::Serialize;
use std::path::Path;

/// A whole run: what was hidden, what was asked, what came out.
#[derive(Serialize)]
pub struct Document<'a> {
    format: u64,
    law: Law<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<&'a Metric>,
    metric: &'a Metric,
    ratio: Ratio,
    queries: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    antipodal: Option<Antipodal>,
    identifiable: bool,
    notes: Vec<String>,
    svg: Option<String>,
    transcript: &'a [Answered],
}

#[derive(Serialize)]
struct Law<'a> {
    #[serde(flatten)]
    space: &'a Binary,
    positive_prior: f64,
}

/// How many false alarms a missed cancer is worth. A missing bound means that the answers set none.
#[derive(Serialize)]
struct Ratio {
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<f64>,
    recovered: f64,
    low: Option<f64>,
    high: Option<f64>,
}

impl<'a> Document<'a> {
    /// `hidden` is missing when a person answered, `picture` when none was wanted.
    pub fn new(
        session: &'a Session,
        outcome: &'a Outcome,
        transcript: &'a [Answered],
        hidden: Option<&'a Metric>,
        picture: Option<&Path>,
    ) -> Self {
        let agreeing = Agreeing::with(transcript);
        Self {
            format: 1,
            law: Law { space: &session.space, positive_prior: session.space.positive_prior() },
            hidden,
            metric: &outcome.metric,
            ratio: Ratio {
                hidden: hidden.and_then(ratio::of),
                recovered: recovered(outcome),
                low: agreeing.map(|range| range.low),
                high: agreeing.map(|range| range.high).filter(|high| high.is_finite()),
            },
            queries: transcript.len(),
            antipodal: hidden.map(|hidden| session.antipodal(hidden)),
            identifiable: outcome.identifiable(),
            notes: outcome.findings.iter().map(ToString::to_string).collect(),
            svg: picture.map(|path| path.display().to_string()),
            transcript,
        }
    }
}
