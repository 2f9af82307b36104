//! What may be taken from a participant, and when.

use super::{Participant, Step};
use crate::event::{Event, ItemAnswer};
use crate::study::{ItemKind, Position};
use std::collections::BTreeMap;

/// From so many events on nothing is changed back: a whole session has some 200, and 1,000 are less than a megabyte.
const MOST_EVENTS: u64 = 1_000;

/// Why an event is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The study has gone on to another step.
    #[error("this is not the next step: {0}")]
    NotNow(String),
    /// Another device holds the lease.
    #[error("the study was continued on another device")]
    ContinuedElsewhere,
    /// The answer is to a comparison that is not on the screen any more.
    #[error("this comparison is not the current one")]
    AnotherComparison,
    /// The answer does not fit the question.
    #[error("{0}")]
    Unfit(String),
    /// More was changed and changed back than anybody would: nobody can fill the disk with one link.
    #[error("this participant has changed too much already")]
    TooMuch,
    /// All places of the panel are taken.
    #[error("all places are taken")]
    Full,
    /// The participant has left or was erased.
    #[error("this participant has left the study")]
    Left,
}

impl Participant {
    /// Whether an event may be taken now, from this device.
    pub fn allows(&self, device: &str, event: &Event) -> Result<(), Refusal> {
        if self.withdrawn || self.erased {
            return Err(Refusal::Left);
        }
        // Whoever holds the link may take the lease; only its holder may do anything else.
        let free = matches!(
            event,
            Event::LanguageChosen { .. }
                | Event::ConsentGiven { .. }
                | Event::DeviceTaken { .. }
                | Event::Withdrawn
        );
        if !free && self.device.as_deref() != Some(device) {
            return Err(Refusal::ContinuedElsewhere);
        }
        // What nobody needs to get to the end; all else comes once, or follows from these.
        let again = matches!(
            event,
            Event::LanguageChosen { .. }
                | Event::DeviceTaken { .. }
                | Event::CardOpened { .. }
                | Event::RatesToggled { .. }
                | Event::Retracted { .. }
        );
        if again && self.events >= MOST_EVENTS {
            return Err(Refusal::TooMuch);
        }
        let step = self.step();
        let now = |right: bool, what: &str| match right {
            true => Ok(()),
            false => Err(Refusal::NotNow(format!("{what} was sent at {step:?}"))),
        };
        match event {
            Event::Locked { .. }
            | Event::Erased { .. }
            | Event::ContactMoved { .. }
            | Event::Admin(_)
            | Event::Invited(_)
            | Event::Asked(_) => now(false, "an event of the study itself"),
            Event::LanguageChosen { language } => match self.design.study().languages.contains(language) {
                true => Ok(()),
                false => Err(Refusal::Unfit(format!("there is no language \"{language}\" in this study"))),
            },
            Event::ConsentGiven { text, .. } => {
                now(step == Step::Consent, "a consent")?;
                match *text == self.consent_hash() {
                    true => Ok(()),
                    false => Err(Refusal::Unfit("the consent is to another text".to_owned())),
                }
            }
            Event::DeviceTaken { .. } => now(self.consent.is_some(), "a change of device"),
            Event::Withdrawn => Ok(()),
            Event::CardOpened { card } => now(*card < self.design.study().cards(), "a card"),
            Event::RatesToggled { .. } => Ok(()),
            Event::QuestionnaireAnswered { position, answers } => {
                now(step == Step::Questionnaire(*position), "a questionnaire")?;
                self.fits(*position, answers)
            }
            Event::StatedCost { when, ratio, low, high } => {
                now(step == Step::StatedCost(*when), "a stated cost")?;
                let fine = |x: &Option<f64>| x.is_none_or(|x| x.is_finite() && x > 0.0);
                match [ratio, low, high].into_iter().all(fine) {
                    true => Ok(()),
                    false => Err(Refusal::Unfit("a stated cost is a number above 0".to_owned())),
                }
            }
            Event::ConsequencesRead => now(step == Step::Consequences, "the end of the cards"),
            Event::PictureAnswered { question, option } => {
                now(matches!(step, Step::Picture { question: n, .. } if n == *question), "a picture answer")?;
                match *option < self.design.study().picture[*question].options.len() {
                    true => Ok(()),
                    false => Err(Refusal::Unfit(format!("there is no option {option}"))),
                }
            }
            Event::PracticeDone { number, .. } => now(step == Step::Practice(*number), "a practice answer"),
            Event::Answered(answered) => match self.pending() {
                Some(question) if question.seq == answered.asked => Ok(()),
                _ => Err(Refusal::AnotherComparison),
            },
            Event::Retracted { asked } => match self.last_answered() {
                Some(question) if question.seq == *asked && self.may_undo() => Ok(()),
                _ => Err(Refusal::AnotherComparison),
            },
            Event::Completed => now(step == Step::Finish, "the end"),
        }
    }

    fn fits(&self, position: Position, answers: &BTreeMap<String, ItemAnswer>) -> Result<(), Refusal> {
        let study = self.design.study();
        let unfit = |what: String| Err(Refusal::Unfit(what));
        if let Some(id) = answers.keys().find(|id| !study.items(position).any(|item| item.id == **id)) {
            return unfit(format!("there is no item \"{id}\" here"));
        }
        for item in study.items(position) {
            let known =
                |options: &[crate::Text], word: &str| options.iter().any(|o| o.all().any(|t| t == word));
            let fine = match (answers.get(&item.id), &item.kind) {
                (None | Some(ItemAnswer::Declined(())), _) => true,
                (Some(ItemAnswer::Number(x)), ItemKind::Number { least, most }) => {
                    (*least..=*most).contains(x)
                }
                (Some(ItemAnswer::Number(x)), ItemKind::Scale { steps, .. }) => {
                    x.fract() == 0.0 && (1.0..=*steps as f64).contains(x)
                }
                (Some(ItemAnswer::Text(word)), ItemKind::Single { options }) => known(options, word),
                (Some(ItemAnswer::Several(words)), ItemKind::Multiple { options }) => {
                    words.iter().all(|word| known(options, word))
                }
                (Some(ItemAnswer::Text(text)), ItemKind::Text { most }) => text.chars().count() <= *most,
                _ => false,
            };
            if !fine {
                return unfit(format!("the answer to \"{}\" is not one that can be given", item.id));
            }
        }
        Ok(())
    }
}
