//! How long an interview is, as far as anybody can tell.

use std::convert::Infallible;
use std::fmt;

use equipoise::ask::Counting;
use equipoise::{Answered, AnyPlan, Oracle, Plan as _, Preference, Query};

/// What reading and answering a question takes, in seconds.
pub const SECONDS: f64 = 20.0;

/// How many questions there are in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// About so many, as the answers usually go on.
    About(usize),
    /// At most so many: nobody can tell how soon enough is known.
    AtMost(usize),
}

impl Length {
    /// The number.
    pub fn questions(self) -> usize {
        let (Length::About(questions) | Length::AtMost(questions)) = self;
        questions
    }

    /// The same, but no shorter than what has been asked already.
    pub fn at_least(self, asked: usize) -> Self {
        match self {
            Length::About(questions) => Length::About(questions.max(asked)),
            Length::AtMost(questions) => Length::AtMost(questions.max(asked)),
        }
    }

    /// How long that takes a person.
    pub fn minutes(self) -> f64 {
        minutes(self.questions() as f64)
    }

    /// A sentence before the first question.
    pub fn sentence(self) -> String {
        let word = if matches!(self, Length::About(_)) { "about" } else { "at most" };
        let (questions, minutes) = (self.questions(), self.minutes());
        let [s, m] = [questions, minutes as usize].map(|n| if n == 1 { "" } else { "s" });
        format!("There are {word} {questions} question{s}, which take some {minutes:.0} minute{m}.")
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Length::About(questions) => write!(f, "of about {questions}"),
            Length::AtMost(questions) => write!(f, "of at most {questions}"),
        }
    }
}

/// How long a person takes for some questions.
pub fn minutes(questions: f64) -> f64 {
    (questions * SECONDS / 60.0).ceil()
}

/// How many questions a search asks that does not look at what it knows: the same for everybody, or nearly.
pub fn of_search(plan: &AnyPlan, transcript: &[Answered]) -> usize {
    let mut someone = Counting::new(GoesOn { transcript, next: 0 });
    let Ok(_) = plan.run(&mut someone);
    someone.asked()
}

/// Whoever gave some answers, and after them always the same one.
struct GoesOn<'a> {
    transcript: &'a [Answered],
    next: usize,
}

impl Oracle for GoesOn<'_> {
    type Err = Infallible;

    fn prefer(&mut self, _: &Query) -> Result<equipoise::Answer, Infallible> {
        let given = self.transcript.get(self.next).map(|answered| answered.preference);
        self.next += 1;
        Ok(given.unwrap_or(Preference::First).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_reads_as_a_sentence() {
        assert_eq!(Length::About(12).sentence(), "There are about 12 questions, which take some 4 minutes.");
        assert_eq!(Length::AtMost(1).sentence(), "There are at most 1 question, which take some 1 minute.");
        assert_eq!(Length::About(3).at_least(5).to_string(), "of about 5");
    }
}
