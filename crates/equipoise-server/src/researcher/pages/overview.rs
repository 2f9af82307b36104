//! The study as it happens: how far it is, what is known of everybody, and who is answering.

use super::course::{Course, course};
use super::{FEWEST, LANGUAGE, counted, exchange, interval};
use crate::researcher::accounts::Role;
use crate::researcher::call::{Call, Outcome, Problem, page as show};
use crate::researcher::chart;
use crate::researcher::frame::{Frame, when};
use crate::researcher::watch::{Line, Seen, density};
use askama::Template;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use equipoise_pages::picture;
use equipoise_study::event::Asked;
use equipoise_study::numbers::two_digits;
use equipoise_study::{Design, Known, Participant, Step, Study, progress};
use std::sync::{Arc, PoisonError};

/// People in the list of those who are answering: those who were heard of last.
const MOST: usize = 30;
/// People on the chart of everybody, which is sent anew with every answer.
const DRAWN: usize = 200;

#[derive(Template)]
#[template(path = "researcher/overview.html")]
struct Page {
    frame: Frame,
    /// Rows of the log this page has seen; the script asks for more.
    rows: u64,
    /// The address of this page with what was chosen.
    again: String,
    /// "cancer, version 2, locked 2026-11-16".
    what: String,
    course: Course,
    at_it: String,
    blinded: bool,
    /// What everybody holds, in a sentence.
    headline: Option<String>,
    aggregate: Option<Aggregate>,
    /// Why there is no aggregate.
    too_few: Option<String>,
    everybody: Option<Everybody>,
    one: Option<Arc<One>>,
    hash: String,
    participants: String,
    /// Whether people are simulated: then nothing here is a result.
    simulated: bool,
    nobody: bool,
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
    /// Number and ratio of each on the chart.
    drawn: Vec<(String, String)>,
    /// Who is answering now.
    lines: Vec<Row>,
    held_words: &'static str,
    left_out: usize,
    /// Who were heard of too long ago to be on the chart.
    not_drawn: usize,
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
    /// More classes or groups: what everything is worth.
    worths: Vec<(String, String)>,
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
    let simulated = call.simulated()?;
    let known = match &simulated {
        Some(found) => Some(found.seen.clone()),
        None => call.shared.watch.soon()?,
    };
    let seen = match &known {
        Some(seen) => seen.clone(),
        None => call.counted()?,
    };
    // Whoever is shown less than there is asks again.
    let rows = if known.is_some() { seen.rows } else { 0 };
    if rows > 0 && call.sent.query.number::<u64>("seen") == Some(rows) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let analyst = call.account().role >= Role::Analyst;
    let chosen = match analyst && known.is_some() {
        true => chosen(call, &seen)?,
        false => None,
    };
    let number = chosen.as_ref().and_then(|line| line.person.number);
    // What cannot be written down is not shown (RS-07): then only how far it is, which tells nothing of anybody's answers.
    let written = simulated.is_some() || call.look("overview", number).is_ok();
    let (one_by_one, chosen) = (analyst && written, chosen.filter(|_| written));
    // Whoever may see people one by one is not kept from seeing two of them together.
    let fewest = if one_by_one { 2 } else { FEWEST };
    let aggregate = if seen.blinded || !written { None } else { aggregate(&seen, fewest) };
    let (study, design) = (call.study(), call.shared.service.design());
    let headline = mixture(&seen, fewest).filter(|_| !seen.blinded && written).map(|(people, curve)| {
        let people = counted(people, "person", "people");
        let left_out = match seen.count(|line| line.counts() && !line.speaks()) {
            0 => String::new(),
            some => format!(
                " {} left out: {}.",
                counted(some, "other is", "others are"),
                "no metric follows from their answers, or the study's rule excludes them"
            ),
        };
        format!(
            "To somebody drawn from these {people}, {}.{left_out}",
            exchange(study, middle_and_ends(&curve))
        )
    });
    let locked = seen.locked.iter().find(|(_, _, locked)| locked == design.hash());
    let locked = locked.map_or(String::new(), |(at, ..)| format!(", locked {}", when(*at)));
    Ok(show(&Page {
        frame: call.frame("/"),
        rows,
        // Who was not asked for may be somebody else the next time.
        again: match call.sent.query.get("person") {
            "" => "/?".to_owned(),
            asked => format!("/?person={}&", asked.parse::<u64>().unwrap_or_default()),
        },
        what: format!("{}, version {}{locked}", study.name, study.version),
        course: course(&seen, analyst),
        at_it: match seen.count(at_it) {
            0 => "Nobody is answering now.".to_owned(),
            some => format!("{} at it now.", counted(some, "person is", "people are")),
        },
        blinded: seen.blinded,
        too_few: match known {
            _ if !written => {
                Some("Looking at results is written down first, and that cannot be done now.".to_owned())
            }
            None => Some("What the answers say is being worked out.".to_owned()),
            Some(_) => too_few(&seen, aggregate.is_some(), design, fewest),
        },
        headline,
        aggregate,
        everybody: one_by_one.then(|| everybody(&seen, number, held_words(design))),
        one: match (chosen, &simulated) {
            (Some(line), Some(found)) => {
                let person = found.person(number.unwrap_or(0)).ok_or(Problem::Missing)?;
                Some(Arc::new(one(call, &line, person, false)))
            }
            (Some(line), None) => Some(drawn(call, &line, &seen)?),
            (None, _) => None,
        },
        simulated: simulated.is_some(),
        nobody: seen.people.is_empty(),
        hash: design.hash().to_owned(),
        participants: call.shared.settings.participants.clone(),
    }))
}

/// Why not all are shown together.
fn too_few(seen: &Seen, shown: bool, design: &Design, fewest: usize) -> Option<String> {
    match (shown, seen.blinded) {
        (true, _) => None,
        (false, true) => {
            Some("Results are hidden: the study is blinded. Only how far it is can be seen.".to_owned())
        }
        (false, false) if design.binary().is_none() => Some(match design.is_choice() {
            true => "What each attribute weighs for all together is among the results.".to_owned(),
            false => "What each kind of mistake is worth to all together is among the results.".to_owned(),
        }),
        (false, false) => Some(format!(
            "All together are shown from {fewest} people on; so far {} answered.",
            match seen.count(Line::counts) {
                0 => "nobody has".to_owned(),
                1 => "one has".to_owned(),
                more => format!("{more} have"),
            }
        )),
    }
}

/// Who was asked for; otherwise who was heard of last, of those who are at it if there are any.
fn chosen(call: &Call<'_>, seen: &Seen) -> Result<Option<Arc<Line>>, Problem> {
    match call.sent.query.get("person") {
        "" => {
            let known = seen.people.iter().filter(|line| line.counts());
            Ok(known.max_by_key(|line| (at_it(line), line.last_at)).cloned())
        }
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
        seen.people.iter().filter(|line| line.speaks() && !line.density.is_empty()).collect();
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
    let mut lines: Vec<&Arc<Line>> = seen.people.iter().filter(|line| line.counts() && at_it(line)).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.last_at));
    let left_out = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    let mut all: Vec<&Arc<Line>> = seen.people.iter().filter(|line| line.counts()).collect();
    all.sort_by_key(|line| std::cmp::Reverse(line.last_at));
    let not_drawn = all.len().saturating_sub(DRAWN);
    let mut drawn: Vec<(String, [f64; 3])> = all
        .iter()
        .take(DRAWN)
        .filter_map(|line| Some((line.person.number?.to_string(), line.person.ratio?)))
        .collect();
    drawn.sort_by(|(_, a), (_, b)| a[0].total_cmp(&b[0]));
    let shown = !seen.blinded && !drawn.is_empty();
    Everybody {
        chart: shown.then(|| chart::crowd(&drawn)),
        drawn: match shown {
            true => drawn.iter().map(|(number, ratio)| (number.clone(), interval(*ratio))).collect(),
            false => vec![],
        },
        lines: lines
            .iter()
            .map(|line| Row {
                number: line.person.number.unwrap_or(0),
                step: line.person.step.clone(),
                answers: line.person.answers,
                known: held(line, seen.blinded),
                flags: line.person.flags.join("; "),
                chosen: line.person.number == chosen,
            })
            .collect(),
        held_words,
        left_out,
        not_drawn,
    }
}

/// How wide an interval is: its upper end as a multiple of the lower.
pub fn factor([_, low, high]: [f64; 3]) -> f64 {
    high / low
}

/// What somebody holds: the ratio, or of several weights what weighs most.
pub fn held(line: &Line, blinded: bool) -> String {
    match (line.person.ratio, blinded) {
        (Some(ratio), _) => known(ratio, blinded),
        (None, true) if line.person.answers > 0 && line.refused.is_none() => "hidden".to_owned(),
        (None, _) => line.worth.clone(),
    }
}

/// What [`held`] tells, as the head of a column.
pub fn held_words(design: &Design) -> &'static str {
    match design.binary() {
        Some(_) => "Cost ratio, 95\u{a0}% interval",
        None => "What weighs most, 95\u{a0}% interval",
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
    // A copy, so that nobody waits for the charts.
    let participant = call.shared.service.peek(&line.session, Participant::clone)?;
    let one = Arc::new(one(call, line, &participant, seen.blinded));
    *kept = Some((seen.rows, line.session.clone(), seen.blinded, one.clone()));
    Ok(one)
}

fn one(call: &Call<'_>, line: &Line, participant: &Participant, blinded: bool) -> One {
    let (study, belief) = (call.study(), participant.belief());
    let history = progress(participant);
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
    One {
        number: line.person.number.unwrap_or(0),
        sentence: match (line.person.ratio, blinded) {
            _ if line.refused.is_some() => {
                format!("No metric is reported: {}.", line.refused.as_deref().unwrap_or_default())
            }
            (Some(ratio), true) => format!("The cost ratio is {}.", known(ratio, true)),
            (Some(ratio), false) => format!("To this person, {}.", exchange(study, ratio)),
            (None, _) if widths.is_empty() => "No comparison that elicits has been answered.".to_owned(),
            (None, true) => "Results are hidden: the study is blinded.".to_owned(),
            (None, false) => format!("To this person, {}.", line.worth),
        },
        worths: match blinded || widths.is_empty() || line.refused.is_some() {
            true => vec![],
            false => worths(participant),
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
        next: if blinded { None } else { next(participant, study) },
        flags: line.person.flags.clone(),
    }
}

/// What every kind of mistake and every gap is worth to somebody; nothing of two classes, whose ratio says it all.
pub fn worths(participant: &Participant) -> Vec<(String, String)> {
    if participant.design().binary().is_some() {
        return vec![];
    }
    let found = equipoise_report::worths(participant.design(), &participant.belief().metric());
    found.iter().map(|worth| (worth.what.clone(), worth.told())).collect()
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
