//! One answer of one participant again: what was on the screen, what was chosen, and what was known afterwards.

use super::{LANGUAGE, interval};
use equipoise_pages::picture;
use equipoise_study::event::Choice;
use equipoise_study::{Participant, progress};

/// An answer as it was given.
pub struct Replay {
    /// Its number, and how many there are.
    pub number: usize,
    /// The last one.
    pub last: usize,
    /// The one before, and the one after.
    pub before: Option<usize>,
    pub after: Option<usize>,
    pub why: &'static str,
    pub difference: String,
    pub picture: String,
    pub choice: &'static str,
    /// What was known after it, of two classes.
    pub known: Option<String>,
}

/// The answer to a question; the first, if none is asked for. Nothing of somebody who has answered none.
pub fn replay(participant: &Participant, asked_for: Option<usize>) -> Option<Replay> {
    let study = participant.design().study();
    let answered: Vec<_> =
        participant.questions().iter().filter(|question| question.answer.is_some()).collect();
    let place = answered.iter().position(|question| Some(question.asked.number) == asked_for).unwrap_or(0);
    let question = answered.get(place)?;
    let asked = &question.asked;
    let at = |place: Option<usize>| place.and_then(|place| answered.get(place)).map(|q| q.asked.number);
    // What is known changes with questions that elicit; after a check it is what it was.
    let until = progress(participant).into_iter().take_while(|known| known.question <= asked.number).last();
    Some(Replay {
        number: asked.number,
        last: answered.last()?.asked.number,
        before: at(place.checked_sub(1)),
        after: at(Some(place + 1)),
        why: asked.purpose.word(),
        difference: picture::difference(study, &asked.shown, asked.missed_first, LANGUAGE),
        picture: picture::pair(study, &asked.shown, asked.variant, LANGUAGE),
        choice: match question.answer.as_ref()?.choice {
            Choice::A => "A",
            Choice::B => "B",
            Choice::CannotTell => "can\u{2019}t tell",
        },
        known: until.and_then(|known| known.ratio).map(interval),
    })
}
