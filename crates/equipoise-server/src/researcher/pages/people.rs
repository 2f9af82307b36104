//! Participants by number. Who they are is for owners, where anybody told us at all.

use super::course::{minutes, spoken};
use super::overview::{at_it, done, flagged, held, held_words, known, worths};
use super::replay::{Replay, replay};
use super::{LANGUAGE, counted, exchange};
use crate::researcher::accounts::Role;
use crate::researcher::call::{Call, Outcome, Problem, page as show};
use crate::researcher::frame::{Frame, when};
use crate::researcher::watch::Line;
use askama::Template;
use equipoise_pages::sentence;
use equipoise_report::{Agreement, Shares};
use equipoise_study::event::{Choice, ItemAnswer, When};
use equipoise_study::numbers::{grouped, two_digits};
use equipoise_study::people::Conduct;

use equipoise_study::study::Position;
use equipoise_study::{Participant, Question, Stopped, Study};
use std::sync::Arc;

/// Who can be shown: the word in the address, what it means, and who that is.
type Filter = (&'static str, &'static str, fn(&Line) -> bool);

const SHOWN: [Filter; 6] = [
    ("", "everybody", |_| true),
    ("waiting", "not agreed yet", |line| !line.consented && !line.gone),
    ("now", "at it", |line| at_it(line) && line.person.step != "screened out"),
    ("done", "done", done),
    ("flagged", "with something to look at", flagged),
    ("gone", "left or screened out", |line| line.gone || line.person.step == "screened out"),
];

/// A way to sort: the word in the address, and the key.
type Sort = (&'static str, &'static str, fn(&Line) -> f64);

/// Columns that can be sorted by, in the order of the table.
const SORTED: [Sort; 5] = [
    ("number", "Participant", |line| line.person.number.map_or(f64::MAX, |number| number as f64)),
    ("step", "At", |line| stage(line)),
    ("answers", "Answers", |line| line.person.answers as f64),
    ("minutes", "Took", |line| minutes(line).unwrap_or(f64::MAX)),
    ("last", "Last heard of", |line| if line.opened { line.last_at as f64 } else { 0.0 }),
];

/// How far somebody is, as a number.
fn stage(line: &Line) -> f64 {
    let came_as_far = [line.opened, line.consented, line.person.answers > 0, line.completed, line.gone];
    came_as_far.iter().filter(|came| **came).count() as f64
}

#[derive(Template)]
#[template(path = "researcher/people.html")]
struct Page {
    frame: Frame,
    blinded: bool,
    /// What can be shown: word, meaning, and whether it is.
    filters: Vec<(&'static str, String, bool)>,
    /// Columns: what sorts by it, its name, and how it is sorted now.
    columns: Vec<Column>,
    held_words: &'static str,
    lines: Vec<Row>,
    all: String,
    /// Whether what people hold is not known yet.
    working_out: bool,
    /// Whether people are simulated: then nothing here is a result.
    simulated: bool,
}

struct Column {
    name: &'static str,
    /// Where a press leads.
    to: String,
    /// "ascending", "descending" or nothing.
    sorted: &'static str,
}

struct Row {
    number: Option<u64>,
    step: String,
    answers: usize,
    took: String,
    known: String,
    flags: Vec<&'static str>,
    excluded: bool,
    last: String,
}

/// Everybody.
pub fn page(call: &Call<'_>) -> Outcome {
    let simulated = call.simulated()?;
    let (watched, counted_so_far) = match &simulated {
        Some(found) => (Some(found.seen.clone()), None),
        None => {
            call.look("participants", None)?;
            // Before the rest is begun: whoever asks while that is worked out waits for some of it.
            let counted = call.counted()?;
            (call.shared.watch.soon()?, Some(counted))
        }
    };
    let working_out = watched.is_none();
    let seen = watched.or(counted_so_far).map_or_else(|| call.counted(), Ok)?;
    let query = &call.sent.query;
    let (show_word, _, wanted) =
        SHOWN.iter().find(|(word, ..)| *word == query.get("show")).unwrap_or(&SHOWN[0]);
    let (sort, _, key) = SORTED.iter().find(|(word, ..)| *word == query.get("sort")).unwrap_or(&SORTED[0]);
    let down = query.get("order") == "down";
    let mut lines: Vec<&Arc<Line>> = seen.people.iter().filter(|line| wanted(line)).collect();
    lines.sort_by(|a, b| key(a).total_cmp(&key(b)));
    if down {
        lines.reverse();
    }
    let column = |(word, name, _): &Sort| Column {
        name,
        sorted: match (word == sort, down) {
            (true, true) => "descending",
            (true, false) => "ascending",
            (false, _) => "",
        },
        to: format!(
            "/participants?show={show_word}&sort={word}&order={}{}",
            if word == sort && !down { "down" } else { "up" },
            if simulated.is_some() { "&people=simulated" } else { "" }
        ),
    };
    let filter = |(word, meaning, wanted): &Filter| {
        let meaning = format!("{meaning} ({})", grouped(seen.count(wanted) as u64));
        (*word, meaning, word == show_word)
    };
    Ok(show(&Page {
        frame: call.frame("/participants"),
        blinded: seen.blinded,
        filters: SHOWN.iter().map(filter).collect(),
        columns: SORTED.iter().map(column).collect(),
        held_words: held_words(call.shared.service.design()),
        all: counted(lines.len(), "participant", "participants"),
        working_out,
        simulated: simulated.is_some(),
        lines: lines
            .iter()
            .map(|line| Row {
                number: line.person.number,
                step: line.person.step.clone(),
                answers: line.person.answers,
                took: minutes(line).map_or(String::new(), spoken),
                known: held(line, seen.blinded),
                flags: line.person.flags.clone(),
                excluded: line.excluded,
                // The invitation is in the log, too, but nobody was heard of by it.
                last: if line.opened { when(line.last_at) } else { "never".to_owned() },
            })
            .collect(),
    }))
}

#[derive(Template)]
#[template(path = "researcher/person.html")]
struct PersonPage {
    frame: Frame,
    number: u64,
    blinded: bool,
    sentence: String,
    facts: Vec<(&'static str, String)>,
    fidelity: Vec<(&'static str, String)>,
    flags: Vec<&'static str>,
    excluded: bool,
    items: Vec<(String, String)>,
    /// Who they are: what the owner wrote with the invitation, and what a panel passed along; owners only.
    contact: Option<Vec<(String, String)>>,
    answers: Vec<Answer>,
    /// More classes or groups: what everything is worth.
    worths: Vec<(String, String)>,
    took: Option<String>,
    replay: Option<Replay>,
    /// Whether it is somebody who is simulated.
    simulated: bool,
}

struct Answer {
    number: usize,
    why: &'static str,
    difference: String,
    choice: String,
    seconds: String,
    at: String,
}

/// One participant.
pub fn person(call: &Call<'_>) -> Outcome {
    let number =
        call.sent.path.get("number").and_then(|number| number.parse().ok()).ok_or(Problem::Missing)?;
    let simulated = call.simulated()?;
    let watched = match &simulated {
        Some(found) => Some(found.seen.clone()),
        None => call.shared.watch.soon()?,
    };
    let working_out = watched.is_none();
    let seen = watched.map_or_else(|| call.counted(), Ok)?;
    let line = seen.person(number).ok_or(Problem::Missing)?;
    let participant = match &simulated {
        Some(found) => found.person(number).cloned().ok_or(Problem::Missing)?,
        None => {
            call.look("participants", Some(number))?;
            call.shared.service.peek(&line.session, Participant::clone)?
        }
    };
    // Of everybody it takes a while, of one it does not.
    let line = if working_out { &Arc::new(line.worked_out(&participant)) } else { line };
    let (study, blinded) = (call.study(), seen.blinded);
    let found = equipoise_report::person(&participant, false);
    let sentence = match (&found.refusal, line.person.ratio, blinded) {
        (_, Some(ratio), true) => format!("The cost ratio is {}.", known(ratio, true)),
        (Some(refusal), ..) => format!("No metric is reported: {refusal}."),
        (None, Some(ratio), false) => format!("To this person, {}.", exchange(study, ratio)),
        (None, None, true) => "Results are hidden: the study is blinded.".to_owned(),
        (None, None, false) => format!("To this person, {}.", line.worth),
    };
    // Who somebody is, for owners. Nobody else's request gets as far as the file it is in.
    let contact = match call.account().role {
        Role::Owner if simulated.is_none() => {
            let mut known = participant.external().clone();
            known.extend(call.shared.service.contacts().get(&line.session)?.unwrap_or_default());
            Some(known.into_iter().collect())
        }
        _ => None,
    };
    Ok(show(&PersonPage {
        frame: call.frame("/participants"),
        number,
        blinded,
        simulated: simulated.is_some(),
        sentence,
        facts: facts(&participant, &found.conduct, found.stopped, blinded),
        fidelity: if blinded { vec![] } else { fidelity(&found.fidelity.shares) },
        worths: if blinded || found.refusal.is_some() { vec![] } else { worths(&participant) },
        took: minutes(line).map(spoken),
        replay: match blinded {
            true => None,
            false => replay(&participant, call.sent.query.number("question")),
        },
        flags: line.person.flags.clone(),
        excluded: line.excluded,
        items: items(&participant, study, blinded),
        contact,
        answers: participant
            .questions()
            .iter()
            .filter_map(|question| answer(study, question, blinded))
            .collect(),
    }))
}

fn facts(
    participant: &Participant,
    conduct: &Conduct,
    stopped: Option<Stopped>,
    blinded: bool,
) -> Vec<(&'static str, String)> {
    let stated = |when: When| {
        let stated = participant.stated(when)?;
        Some(stated.ratio.map_or("can't say".to_owned(), two_digits))
    };
    let mut facts = vec![
        (
            "Questions ended because",
            match stopped {
                Some(Stopped::Narrow) => "the interval is narrow enough".to_owned(),
                Some(Stopped::Settled) => "the rule that follows is good enough".to_owned(),
                Some(Stopped::Cap) => "the most questions were asked".to_owned(),
                Some(Stopped::NothingLeft) => "no question tells enough any more".to_owned(),
                None => "they go on".to_owned(),
            },
        ),
        ("Better system chosen in checks", conduct.dominated.to_string()),
        ("Repeats answered alike", conduct.repeats.to_string()),
        ("\"I can't tell\"", conduct.cannot_tell.to_string()),
        ("Chose A", conduct.chose_a.to_string()),
        ("Answers within 300 ms", conduct.too_fast.to_string()),
        ("Answers faster than reading takes", conduct.unread.to_string()),
        ("Times that the server's clock disputes", conduct.disputed.to_string()),
        ("Answers after more than five minutes", conduct.too_slow.to_string()),
        ("Answers taken back", conduct.retracted.to_string()),
    ];
    if let Some(median) = conduct.median_ms {
        facts.push(("Middle response time", format!("{:.1} s", median as f64 / 1000.0)));
    }
    if !blinded {
        let told = [("Stated cost before", stated(When::Before)), ("Stated cost after", stated(When::After))];
        facts.extend(told.into_iter().filter_map(|(words, stated)| Some((words, stated?))));
    }
    facts
}

fn fidelity(shares: &Shares) -> Vec<(&'static str, String)> {
    let of = |words: &'static str, agreement: Option<Agreement>| {
        let agreement = agreement?;
        Some((words, format!("{} of {}", agreement.agree, agreement.of)))
    };
    [
        of("by the metric that was found", shares.elicited),
        of("by the stated cost", shares.stated),
        of("by fewest missed", shares.fewest_missed),
        of("by fewest mistakes", shares.fewest_mistakes),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Answers to the questionnaire, with their questions.
fn items(participant: &Participant, study: &Study, blinded: bool) -> Vec<(String, String)> {
    let mut all = vec![];
    for position in [Position::Before, Position::Task, Position::After] {
        // What people say about the task may tell which mistake they think worse.
        if blinded && position == Position::Task {
            continue;
        }
        let Some(answers) = participant.answers(position) else { continue };
        for item in study.items(position) {
            let words = match answers.get(&item.id) {
                None => "no answer".to_owned(),
                Some(ItemAnswer::Declined(())) => "rather not say".to_owned(),
                Some(ItemAnswer::Number(number)) => number.to_string(),
                Some(ItemAnswer::Text(text)) => text.clone(),
                Some(ItemAnswer::Several(several)) => several.join(", "),
            };
            all.push((item.question.r#in("en").to_owned(), words));
        }
    }
    all
}

fn answer(study: &Study, question: &Question, blinded: bool) -> Option<Answer> {
    let answer = question.answer.as_ref()?;
    let choice = match (answer.choice, blinded) {
        (_, true) => "hidden".to_owned(),
        (Choice::A, _) => sentence::system(study, "A", LANGUAGE),
        (Choice::B, _) => sentence::system(study, "B", LANGUAGE),
        (Choice::CannotTell, _) => "can't tell".to_owned(),
    };
    let asked = &question.asked;
    Some(Answer {
        number: asked.number,
        why: asked.purpose.word(),
        // What is asked follows what is believed.
        difference: match blinded {
            true => "hidden".to_owned(),
            false => equipoise_pages::picture::difference(study, &asked.shown, asked.missed_first, LANGUAGE),
        },
        choice,
        seconds: answer.response_ms.map_or(String::new(), |ms| format!("{:.1}", ms as f64 / 1000.0)),
        at: question.answered_at.map_or(String::new(), when),
    })
}
