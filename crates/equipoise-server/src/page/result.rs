//! The end: what came out, and the receipt.

use super::{Ending, Frame};
use crate::language::fill;
use crate::sentence;
use askama::Template;
use equipoise_study::Participant;
use equipoise_study::event::{Choice, Purpose};

/// The last page.
#[derive(Debug, Template)]
#[template(path = "result.html")]
pub struct ResultPage {
    frame: Frame,
    sentence: Option<String>,
    interval: Option<String>,
    /// That the answers are not enough for a number, where the report refuses one.
    unsettled: bool,
    consistency: Option<String>,
    receipt: String,
    completion: Option<String>,
    ending: Option<Ending>,
}

impl ResultPage {
    /// What a participant's answers say, if the study shows it, and what they take back to a panel.
    pub fn new(frame: Frame, participant: &Participant, receipt: String, ending: Option<Ending>) -> Self {
        let study = participant.design().study();
        let belief = participant.belief();
        // No number where the report has none.
        let unsettled = study.completion.show_result && equipoise_report::refused(participant).is_some();
        let quantiles = [0.025, 0.5, 0.975].map(|share| belief.quantile(share));
        let told = match quantiles {
            [Some(low), Some(middle), Some(high)] if study.completion.show_result && !unsettled => {
                let (sentence, interval) = sentence::exchange(study, [low, middle, high], frame.language);
                Some((sentence, interval))
            }
            _ => None,
        };
        let (sentence, interval) =
            told.map_or((None, None), |(sentence, interval)| (Some(sentence), interval));
        let consistency = consistency(&frame, participant);
        let completion = study.completion.url.clone();
        Self { frame, sentence, interval, unsettled, consistency, receipt, completion, ending }
    }
}

/// How often a repeated question got the answer it got the first time; sides were swapped.
fn consistency(frame: &Frame, participant: &Participant) -> Option<String> {
    let questions = participant.questions();
    let answers = |number: usize| {
        let question = questions.iter().find(|question| question.asked.number == number)?;
        Some(question.asked.preference(question.answer.as_ref()?.choice))
    };
    let (mut same, mut total) = (0, 0);
    for question in questions {
        let (Purpose::Repeat { of }, Some(answer)) = (question.asked.purpose, &question.answer) else {
            continue;
        };
        let Some(first) = answers(of) else { continue };
        total += 1;
        same += u64::from(question.asked.preference(answer.choice) == first);
    }
    let numbers = frame.language.numbers();
    let sentence = frame.language.words().consistency.at(frame.language, total);
    (total > 0).then(|| fill(sentence, &[("same", &numbers.count(same)), ("total", &numbers.count(total))]))
}

/// A choice in words.
pub fn choice_name(frame: &Frame, participant: &Participant, choice: Choice) -> String {
    let study = participant.design().study();
    match choice {
        Choice::A => sentence::system(study, "A", frame.language),
        Choice::B => sentence::system(study, "B", frame.language),
        Choice::CannotTell => frame.language.words().cannot_tell.to_owned(),
    }
}
