//! The study as it happens: what is known of everybody, and of one participant in detail.

use super::{FEWEST, LANGUAGE, counted, exchange, interval};
use crate::picture;
use crate::researcher::accounts::Role;
use crate::researcher::call::{Call, Outcome, Problem, page as show};
use crate::researcher::chart;
use crate::researcher::frame::Frame;
use crate::researcher::watch::{Line, Seen, density};
use askama::Template;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use equipoise_study::event::Asked;
use equipoise_study::numbers::{grouped, two_digits};
use equipoise_study::people::Person;
use equipoise_study::{Design, Known, Participant, Step, Study, progress};
use std::sync::{Arc, PoisonError};

/// People on the chart of everybody: those who were heard of last.
const MOST: usize = 30;

#[derive(Template)]
#[template(path = "researcher/live.html")]
struct Page {
    frame: Frame,
    /// Rows of the log this page has seen; the script asks for more.
    rows: u64,
    /// The address of this page with what was chosen.
    again: String,
    counts: Vec<(&'static str, String)>,
    blinded: bool,
    aggregate: Option<Aggregate>,
    /// Why there is no aggregate.
    too_few: Option<String>,
    everybody: Option<Everybody>,
    one: Option<Arc<One>>,
}

/// All together, without anybody being told apart.
struct Aggregate {
    chart: String,
    quantiles: Vec<(&'static str, String)>,
    people: String,
}

/// Everybody, one by one.
struct Everybody {
    chart: Option<String>,
    lines: Vec<Row>,
    held_words: &'static str,
    left_out: usize,
}

struct Row {
    number: u64,
    step: String,
    answers: usize,
    known: String,
    flags: String,
    chosen: bool,
}

/// One participant as drawn last: from how many rows, whose, and whether hidden.
pub type Kept = Option<(u64, String, bool, Arc<One>)>;

/// One participant.
pub struct One {
    number: u64,
    sentence: String,
    /// The posterior; nothing where results are hidden or there are more than two classes.
    density: Option<(String, Vec<(&'static str, String)>)>,
    narrowing: Option<String>,
    steps: Vec<(usize, String)>,
    width_words: &'static str,
    next: Option<Next>,
    flags: Vec<&'static str>,
}

/// The comparison on the screen, or the one to come.
struct Next {
    heading: String,
    why: &'static str,
    difference: String,
    picture: String,
}

/// The page; to the script, nothing if nothing has happened.
pub fn page(call: &Call<'_>) -> Outcome {
    let seen = call.seen()?;
    if call.sent.query.number::<u64>("seen") == Some(seen.rows) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let one_by_one = call.account().role >= Role::Analyst;
    let chosen = match one_by_one {
        true => chosen(call, &seen)?,
        false => None,
    };
    call.look("live", chosen.as_ref().and_then(|line| line.person.number))?;
    let number = chosen.as_ref().and_then(|line| line.person.number);
    // Whoever may see people one by one is not kept from seeing two of them together.
    let fewest = if one_by_one { 2 } else { FEWEST };
    let aggregate = if seen.blinded { None } else { aggregate(&seen, fewest) };
    let counted_people = seen.count(Line::counts);
    let two = call.shared.service.design().binary().is_some();
    let too_few = match (&aggregate, seen.blinded) {
        (None, true) => {
            Some("Results are hidden: the study is blinded. Only how far it is can be seen.".to_owned())
        }
        (None, false) if !two => {
            Some("The study has no single ratio to draw; see the group page.".to_owned())
        }
        (None, false) => Some(format!(
            "All together are shown from {fewest} people on; so far {} answered.",
            match counted_people {
                0 => "nobody has".to_owned(),
                1 => "one has".to_owned(),
                more => format!("{more} have"),
            }
        )),
        _ => None,
    };
    Ok(show(&Page {
        frame: call.frame("/live"),
        rows: seen.rows,
        again: number.map_or("/live?".to_owned(), |number| format!("/live?person={number}&")),
        counts: vec![
            ("at it now", grouped(seen.count(at_it) as u64)),
            ("done", grouped(seen.count(done) as u64)),
            ("comparisons answered", grouped(seen.answers() as u64)),
            ("with something to look at", grouped(seen.count(flagged) as u64)),
        ],
        blinded: seen.blinded,
        too_few,
        aggregate,
        everybody: one_by_one.then(|| everybody(&seen, number, held_words(call.shared.service.design()))),
        one: chosen.map(|line| drawn(call, &line, &seen)).transpose()?,
    }))
}

/// Who was asked for; otherwise who was heard of last.
fn chosen(call: &Call<'_>, seen: &Seen) -> Result<Option<Arc<Line>>, Problem> {
    match call.sent.query.get("person") {
        "" => Ok(seen.people.iter().filter(|line| line.counts()).max_by_key(|line| line.last_at).cloned()),
        number => {
            let number = number.parse().map_err(|_| Problem::Missing)?;
            seen.person(number).cloned().map(Some).ok_or(Problem::Missing)
        }
    }
}

/// Whether somebody is taking part now.
pub fn at_it(line: &Line) -> bool {
    line.consented && !line.completed && !line.gone
}

/// Whether somebody has finished.
pub fn done(line: &Line) -> bool {
    line.completed && !line.gone
}

/// Whether there is something to look at.
pub fn flagged(line: &Line) -> bool {
    !line.person.flags.is_empty()
}

/// A density over logarithms of ratios: places and heights.
type Curve = Vec<(f64, f64)>;

/// The mean of everybody's posterior, and of how many: what one would believe of somebody drawn from among them.
fn mixture(seen: &Seen, fewest: usize) -> Option<(usize, Curve)> {
    let people: Vec<&Arc<Line>> =
        seen.people.iter().filter(|line| line.counts() && !line.density.is_empty()).collect();
    if people.len() < fewest {
        return None;
    }
    let mut mean: Curve = people[0].density.iter().map(|(log, _)| (*log, 0.0)).collect();
    for line in &people {
        for (sum, (_, density)) in mean.iter_mut().zip(&line.density) {
            sum.1 += density / people.len() as f64;
        }
    }
    Some((people.len(), mean))
}

fn middle_and_ends(curve: &Curve) -> [f64; 3] {
    [0.5, 0.025, 0.975].map(|share| quantile(curve, share))
}

/// How many people, and their ratio with its 95 % interval; nothing of too few.
pub fn together(seen: &Seen) -> Option<(usize, [f64; 3])> {
    mixture(seen, FEWEST).map(|(people, curve)| (people, middle_and_ends(&curve)))
}

fn aggregate(seen: &Seen, fewest: usize) -> Option<Aggregate> {
    let (people, mean) = mixture(seen, fewest)?;
    Some(Aggregate {
        chart: chart::density(&mean, middle_and_ends(&mean)),
        quantiles: quantiles(|share| quantile(&mean, share)),
        people: counted(people, "person", "people"),
    })
}

/// The ratio below which a share of a density over logarithms lies.
fn quantile(curve: &[(f64, f64)], share: f64) -> f64 {
    let total: f64 = curve.iter().map(|(_, density)| density).sum();
    let mut below = 0.0;
    for (log, density) in curve {
        below += density / total;
        if below >= share {
            return log.exp();
        }
    }
    curve.last().map_or(1.0, |(log, _)| log.exp())
}

fn quantiles(quantile: impl Fn(f64) -> f64) -> Vec<(&'static str, String)> {
    [
        ("2.5\u{a0}%", 0.025),
        ("25\u{a0}%", 0.25),
        ("50\u{a0}%", 0.5),
        ("75\u{a0}%", 0.75),
        ("97.5\u{a0}%", 0.975),
    ]
    .into_iter()
    .map(|(words, share)| (words, two_digits(quantile(share))))
    .collect()
}

fn everybody(seen: &Seen, chosen: Option<u64>, held_words: &'static str) -> Everybody {
    let mut lines: Vec<&Arc<Line>> = seen.people.iter().filter(|line| line.counts()).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.last_at));
    let left_out = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    lines.sort_by_key(|line| line.person.number);
    let drawn: Vec<(String, [f64; 3])> =
        lines.iter().filter_map(|line| Some((line.person.number?.to_string(), line.person.ratio?))).collect();
    Everybody {
        chart: (!seen.blinded && !drawn.is_empty()).then(|| chart::people(&drawn)),
        lines: lines
            .iter()
            .map(|line| Row {
                number: line.person.number.unwrap_or(0),
                step: line.person.step.clone(),
                answers: line.person.answers,
                known: held(&line.person, seen.blinded),
                flags: line.person.flags.join("; "),
                chosen: line.person.number == chosen,
            })
            .collect(),
        held_words,
        left_out,
    }
}

/// How wide an interval is: its upper end as a multiple of the lower.
pub fn factor([_, low, high]: [f64; 3]) -> f64 {
    high / low
}

/// What is known of a person: the ratio, or of several weights how closely they are known.
pub fn held(person: &Person, blinded: bool) -> String {
    match (person.ratio, person.angle) {
        (Some(ratio), _) => known(ratio, blinded),
        (None, Some(angle)) => two_digits(angle),
        (None, None) => String::new(),
    }
}

/// What [`held`] tells, as the head of a column.
pub fn held_words(design: &Design) -> &'static str {
    match design.binary() {
        Some(_) => "Cost ratio, 95\u{a0}% interval",
        None => "Angle that holds the weights (95\u{a0}%)",
    }
}

/// An interval, or, where results are hidden, how wide it is.
pub fn known(ratio: [f64; 3], blinded: bool) -> String {
    match blinded {
        true => format!("known to a factor of {}", two_digits(factor(ratio))),
        false => interval(ratio),
    }
}

/// One participant; drawn once for all who look at the same moment.
fn drawn(call: &Call<'_>, line: &Line, seen: &Seen) -> Result<Arc<One>, Problem> {
    let mut kept = call.shared.drawn.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((rows, session, blinded, one)) = &*kept
        && (*rows, session, *blinded) == (seen.rows, &line.session, seen.blinded)
    {
        return Ok(one.clone());
    }
    let one = Arc::new(one(call, line, seen.blinded)?);
    *kept = Some((seen.rows, line.session.clone(), seen.blinded, one.clone()));
    Ok(one)
}

fn one(call: &Call<'_>, line: &Line, blinded: bool) -> Result<One, Problem> {
    // A copy, so that nobody waits for the charts.
    let participant = call.shared.service.peek(&line.session, Participant::clone)?;
    let (study, belief) = (call.study(), participant.belief());
    let history = progress(&participant);
    let quantile = |share: f64| belief.quantile(share).unwrap_or(1.0);
    let density = match (belief.density(), line.person.ratio) {
        (Some(masses), Some(ratio)) if !blinded => {
            Some((chart::density(&density(&masses), ratio), quantiles(quantile)))
        }
        _ => None,
    };
    let ratios: Vec<(usize, [f64; 3])> =
        history.iter().filter_map(|known| Some((known.question, known.ratio?))).collect();
    let widths: Vec<(usize, f64)> = history.iter().map(|known| (known.question, width(known))).collect();
    let goal =
        if call.shared.service.design().binary().is_some() { study.stop.width } else { study.stop.angle };
    let narrowing = match (history.is_empty(), blinded || ratios.is_empty()) {
        (true, _) => None,
        (false, true) => Some(chart::widths(&widths, goal)),
        (false, false) => Some(chart::narrowing(&ratios)),
    };
    Ok(One {
        number: line.person.number.unwrap_or(0),
        sentence: match (line.person.ratio, blinded) {
            (Some(ratio), true) => format!("The cost ratio is {}.", known(ratio, true)),
            (Some(ratio), false) => format!("To this person, {}.", exchange(study, ratio)),
            // By the same number as the stop rule: checks narrow it, too, after the last answer that elicits.
            (None, _) if widths.is_empty() => "No comparison that elicits has been answered.".to_owned(),
            (None, _) => {
                let angle = two_digits(belief.width().value());
                format!("An angle of {angle} holds the weights with 95\u{a0}% certainty.")
            }
        },
        density,
        steps: history
            .iter()
            .map(|step| {
                let words = match step.ratio {
                    Some(ratio) => known(ratio, blinded),
                    None => two_digits(width(step)),
                };
                (step.question, words)
            })
            .collect(),
        width_words: if ratios.is_empty() { "angle" } else { "cost ratio" },
        narrowing,
        // What is asked follows what is believed, so it is hidden, too.
        next: if blinded { None } else { next(&participant, study) },
        flags: line.person.flags.clone(),
    })
}

fn width(known: &Known) -> f64 {
    known.width.value()
}

/// What the participant is comparing, or will be.
fn next(participant: &Participant, study: &Study) -> Option<Next> {
    if !matches!(participant.step(), Step::Compare) {
        return None;
    }
    let (heading, asked): (&str, &Asked) = match participant.pending() {
        Some(question) => ("On the screen now", &question.asked),
        None => ("Planned next", participant.next_question()?),
    };
    Some(Next {
        heading: format!("{heading}: question {}", asked.number),
        why: asked.purpose.word(),
        difference: picture::difference(study, &asked.shown, asked.missed_first, LANGUAGE),
        picture: picture::pair(study, &asked.shown, asked.variant, LANGUAGE),
    })
}
