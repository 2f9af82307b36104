//! What `equipoise demo --json` prints.

use super::published::Published;
use super::{Session, ends, recovered};
use crate::ratio;
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
    published: Option<Published>,
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

/// How many false alarms a missed cancer is worth, with the ends of its 95 % interval. A missing bound means that the answers set none.
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
        let ends = ends(&outcome.metric);
        Self {
            format: 1,
            law: Law { space: &session.space, positive_prior: session.space.positive_prior() },
            hidden,
            metric: &outcome.metric,
            ratio: Ratio {
                hidden: hidden.and_then(ratio::of),
                recovered: recovered(&outcome.metric),
                low: ends.map(|[low, _]| low),
                high: ends.map(|[_, high]| high).filter(|high| high.is_finite()),
            },
            queries: transcript.len(),
            published: hidden.map(|hidden| Published::of(&session.space, hidden)),
            identifiable: outcome.identifiable(),
            notes: outcome.findings.iter().map(ToString::to_string).collect(),
            svg: picture.map(|path| path.display().to_string()),
            transcript,
        }
    }
}
