//! Which rows of the log a number was computed from (RP-13).

use equipoise_study::event::{Purpose, When};
use equipoise_study::{Participant, Question};
use serde::{Serialize, Serializer};

/// Events of the log: the number of the participant, and of the event among theirs, as exports name them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows(pub Vec<(u64, u64)>);

impl Rows {
    /// The answers of a participant that are wanted.
    pub(crate) fn of(participant: &Participant, wanted: impl Fn(&Question) -> bool) -> Self {
        let number = participant.invited().map_or(0, |invited| invited.number);
        let answers = participant.questions().iter().filter(|question| wanted(question));
        Self(answers.filter_map(|question| Some((number, question.answer_seq?))).collect())
    }

    /// The answers with a purpose.
    pub(crate) fn with_purpose(participant: &Participant, wanted: impl Fn(Purpose) -> bool) -> Self {
        Self::of(participant, |question| wanted(question.asked.purpose))
    }

    /// What was stated.
    pub(crate) fn stated(participant: &Participant) -> Self {
        let number = participant.invited().map_or(0, |invited| invited.number);
        let seqs = [When::Before, When::After].into_iter().filter_map(|when| participant.stated_seq(when));
        Self(seqs.map(|seq| (number, seq)).collect())
    }

    /// All of several.
    pub(crate) fn all<'a>(parts: impl Iterator<Item = &'a Rows>) -> Self {
        Self(parts.flat_map(|part| part.0.iter().copied()).collect())
    }

    /// In words: "participant 3: 17, 21; participant 4: 12".
    pub fn text(&self) -> String {
        let mut people: Vec<(u64, Vec<String>)> = vec![];
        for (participant, seq) in &self.0 {
            match people.last_mut() {
                Some((last, seqs)) if last == participant => seqs.push(seq.to_string()),
                _ => people.push((*participant, vec![seq.to_string()])),
            }
        }
        let words = people.iter().map(|(person, seqs)| format!("participant {person}: {}", seqs.join(", ")));
        words.collect::<Vec<_>>().join("; ")
    }
}

impl Serialize for Rows {
    /// As "participant:event".
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(participant, seq)| format!("{participant}:{seq}")))
    }
}
