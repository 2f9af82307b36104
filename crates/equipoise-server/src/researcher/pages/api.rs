//! What scripts read: numbers of the overview and of everybody, as JSON.

use super::overview;
use crate::researcher::call::{Call, Outcome};
use axum::Json;
use axum::response::IntoResponse as _;
use serde::Serialize;

/// How far the study is.
#[derive(Serialize)]
struct Live {
    format: u64,
    study: String,
    version: u64,
    /// Rows of the log that were taken in.
    rows: u64,
    blinded: bool,
    invited: usize,
    at_it_now: usize,
    done: usize,
    answers: usize,
    flagged: usize,
    /// What all hold together; nothing where results are hidden, or too few have answered.
    ratio: Option<Ratio>,
}

/// The cost ratio one would expect of somebody drawn from among all.
#[derive(Serialize)]
struct Ratio {
    people: usize,
    estimate: f64,
    low: f64,
    high: f64,
}

/// How far the study is, and what all hold together.
pub fn live(call: &Call<'_>) -> Outcome {
    call.look("api/live", None)?;
    let seen = call.seen()?;
    let ratio = if seen.blinded { None } else { overview::together(&seen) };
    let document = Live {
        format: equipoise::FORMAT,
        study: call.study().name.clone(),
        version: call.study().version,
        rows: seen.rows,
        blinded: seen.blinded,
        invited: seen.people.len(),
        at_it_now: seen.count(overview::at_it),
        done: seen.count(overview::done),
        answers: seen.answers(),
        flagged: seen.count(overview::flagged),
        ratio: ratio.map(|(people, [estimate, low, high])| Ratio { people, estimate, low, high }),
    };
    Ok(Json(document).into_response())
}

/// Everybody.
#[derive(Serialize)]
struct People {
    format: u64,
    study: String,
    version: u64,
    blinded: bool,
    people: Vec<Person>,
}

/// One participant, by number.
#[derive(Serialize)]
struct Person {
    participant: u64,
    step: String,
    answers: usize,
    /// The cost ratio with its 95 % interval; nothing where results are hidden or there are more than two classes.
    ratio: Option<[f64; 3]>,
    /// The upper end of the interval as a multiple of the lower.
    width: Option<f64>,
    flags: Vec<&'static str>,
    excluded: bool,
    last_at: i64,
}

/// People by number, and what is known of each.
pub fn people(call: &Call<'_>) -> Outcome {
    call.look("api/people", None)?;
    let seen = call.seen()?;
    let people = seen.people.iter().filter_map(|line| {
        Some(Person {
            participant: line.person.number?,
            step: line.person.step.clone(),
            answers: line.person.answers,
            ratio: line.person.ratio.filter(|_| !seen.blinded),
            width: line.person.ratio.map(overview::factor),
            flags: line.person.flags.clone(),
            excluded: line.excluded,
            last_at: line.last_at,
        })
    });
    let document = People {
        format: equipoise::FORMAT,
        study: call.study().name.clone(),
        version: call.study().version,
        blinded: seen.blinded,
        people: people.collect(),
    };
    Ok(Json(document).into_response())
}
