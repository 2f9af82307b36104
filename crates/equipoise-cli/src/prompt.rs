//! Asking a person at the keyboard, one line at a time.

use crate::fault::Fault;
use crate::files;
use crate::sides::Turn;
use anyhow::Result;
use equipoise::{Answer, Interview, Outcome, Plan, Preference, Query, Step};
use std::io::{BufRead, Write};
use std::path::Path;

/// What was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    Prefer(Preference),
    Undo,
    Quit,
    /// Nothing more will come.
    End,
}

/// How an interview ended.
#[derive(Debug)]
pub enum End {
    /// All questions are answered.
    Done(Box<Outcome>),
    /// The person stopped, or standard input did; the answers so far are saved.
    Stopped,
}

/// A question as it was shown.
#[derive(Debug, Clone)]
pub struct Presented {
    /// Which way round.
    pub turn: Turn,
    /// The pair as it was shown, with the sides of the plan.
    pub shown: Option<Query>,
}

impl Presented {
    /// What somebody who chose a side answered.
    pub fn answer(self, side: Preference) -> Answer {
        Answer { preference: self.turn.preference(side), shown: self.shown }
    }
}

/// What the caller of [`interview`] does around each question.
pub trait Host<P> {
    /// Writes the question after an interview's answers so far, and returns what else belongs to the answer.
    fn show(
        &self,
        interview: &Interview<P>,
        query: &Query,
        output: &mut dyn Write,
    ) -> std::io::Result<Presented>;

    /// Writes what is known after an answer.
    fn answered(&self, interview: &Interview<P>, output: &mut dyn Write) -> std::io::Result<()>;

    /// Keeps the interview.
    fn save(&self, interview: &Interview<P>) -> Result<()>;
}

/// Asks until the plan is done or the person stops; saved after every answer.
pub fn interview<P: Plan<Output = Outcome>>(
    interview: &mut Interview<P>,
    host: &impl Host<P>,
    input: &mut impl BufRead,
    output: &mut dyn Write,
) -> Result<End> {
    loop {
        let query = match interview.step()? {
            Step::Done(outcome) => {
                if !interview.transcript().is_empty() && wants_back(input, output)? {
                    interview.undo();
                    host.save(interview)?;
                    writeln!(output, "Took the last answer back.")?;
                    continue;
                }
                return Ok(End::Done(Box::new(outcome)));
            }
            Step::Ask(query) => query,
        };
        let presented = host.show(interview, &query, output)?;
        loop {
            match ask(input, output)? {
                Reply::Prefer(side) => {
                    interview.answer(presented.answer(side))?;
                    host.save(interview)?;
                    host.answered(interview, output)?;
                }
                Reply::Undo if interview.undo().is_some() => {
                    host.save(interview)?;
                    writeln!(output, "Took the last answer back.")?;
                }
                Reply::Undo => {
                    writeln!(output, "There is no answer to take back yet.")?;
                    continue;
                }
                Reply::Quit => {
                    host.save(interview)?;
                    return Ok(End::Stopped);
                }
                Reply::End => {
                    writeln!(output)?;
                    host.save(interview)?;
                    return Ok(End::Stopped);
                }
            }
            break;
        }
    }
}

/// After the last question: whether the last answer is taken back. Everything else leads to the result.
fn wants_back(input: &mut impl BufRead, output: &mut dyn Write) -> std::io::Result<bool> {
    write!(output, "That was the last question. [Enter for the result, u to undo] ")?;
    output.flush()?;
    let mut line = vec![];
    if input.read_until(b'\n', &mut line)? == 0 {
        writeln!(output)?;
    }
    let back = String::from_utf8_lossy(&line).trim().eq_ignore_ascii_case("u");
    if !back {
        writeln!(output)?;
    }
    Ok(back)
}

/// Prompts until a line can be understood.
fn ask(input: &mut impl BufRead, output: &mut dyn Write) -> std::io::Result<Reply> {
    loop {
        write!(output, "A or B? [1/2, ? can't tell, u undo, q quit] ")?;
        output.flush()?;
        let mut line = vec![];
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(Reply::End);
        }
        let line = String::from_utf8_lossy(&line).trim().to_lowercase();
        return Ok(match line.as_str() {
            "1" | "a" => Reply::Prefer(Preference::First),
            "2" | "b" => Reply::Prefer(Preference::Second),
            "?" | "0" => Reply::Prefer(Preference::CannotTell),
            "u" => Reply::Undo,
            "q" => Reply::Quit,
            other => {
                let typed: String = other.chars().filter(|c| !c.is_control()).take(20).collect();
                writeln!(output, "\"{typed}\" is not an answer: type 1, 2, ?, u or q.")?;
                continue;
            }
        });
    }
}

/// A new interview may take the place of none, of an empty one, or of one that has come to its end.
pub fn refuse_to_lose_answers<P: Plan<Output = Outcome>>(
    path: &Path,
    read: impl FnOnce(&str) -> Result<Interview<P>>,
) -> Result<()> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
    let name = files::name(path);
    let Ok(interview) = read(&text) else {
        let what = format!("{name} is there already and is not an interview; --save FILE names another");
        return Err(Fault::usage(what).into());
    };
    if interview.transcript().is_empty() || matches!(interview.step(), Ok(Step::Done(_))) {
        return Ok(());
    }
    let answers = counted(interview.transcript().len());
    let what =
        format!("{name} holds {answers}; go on with --resume {name}, or keep new ones with --save FILE");
    Err(Fault::usage(what).into())
}

/// "1 answer", "7 answers".
pub fn counted(answers: usize) -> String {
    format!("{answers} {}", if answers == 1 { "answer" } else { "answers" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sides::Sides;
    use equipoise::{population::Logistic, search, space::Binary};
    use std::cell::RefCell;

    /// Shows the number of the question, and keeps how many answers were saved when.
    #[derive(Default)]
    struct Silent {
        saved: RefCell<Vec<usize>>,
    }

    impl<P: Plan> Host<P> for Silent {
        fn show(
            &self,
            interview: &Interview<P>,
            _: &Query,
            output: &mut dyn Write,
        ) -> std::io::Result<Presented> {
            writeln!(output, "Question {}", interview.transcript().len() + 1)?;
            Ok(Presented { turn: Sides::as_asked().of(1), shown: None })
        }

        fn answered(&self, _: &Interview<P>, _: &mut dyn Write) -> std::io::Result<()> {
            Ok(())
        }

        fn save(&self, interview: &Interview<P>) -> Result<()> {
            self.saved.borrow_mut().push(interview.transcript().len());
            Ok(())
        }
    }

    struct Run {
        preferences: Vec<Preference>,
        output: String,
        saved: Vec<usize>,
        done: bool,
    }

    fn run(typed: &[u8]) -> Run {
        let space = Binary::from_law(Logistic::new(5.0).unwrap());
        let plan = search::BinaryLinear::new(space, 0.5).unwrap();
        let mut asked = Interview::new(plan);
        let (host, mut output) = (Silent::default(), vec![]);
        let end = interview(&mut asked, &host, &mut &*typed, &mut output).unwrap();
        Run {
            preferences: asked.transcript().iter().map(|answered| answered.preference).collect(),
            output: String::from_utf8(output).unwrap(),
            saved: host.saved.into_inner(),
            done: matches!(end, End::Done(_)),
        }
    }

    #[test]
    fn every_key_does_what_it_says() {
        use Preference::{CannotTell, First, Second};
        let run = run(b"1\n2\na\nB\n?\n0\n 1 \r\nq\n");
        assert_eq!(run.preferences, [First, Second, First, Second, CannotTell, CannotTell, First]);
        assert_eq!(run.saved, [1, 2, 3, 4, 5, 6, 7, 7]);
        assert!(!run.done);
    }

    #[test]
    fn undo_takes_back_one_answer_at_a_time() {
        let run = run(b"u\n1\n2\nu\nu\nu\n2\n");
        assert_eq!(run.preferences, [Preference::Second]);
        assert_eq!(run.output.matches("There is no answer to take back yet.").count(), 2);
        assert_eq!(run.output.matches("Took the last answer back.").count(), 2);
        assert!(run.output.contains("Question 3") && run.output.ends_with("\n"));
    }

    #[test]
    fn rubbish_is_asked_again_in_one_sentence() {
        let run = run(b"yes\n\n\x1b[2J\xff\xfe\n11\n1\n");
        assert_eq!(run.preferences, [Preference::First]);
        assert!(run.output.contains("\"yes\" is not an answer: type 1, 2, ?, u or q.\n"));
        assert!(run.output.contains("\"\" is not an answer"));
        assert!(!run.output.contains('\x1b'));
    }

    #[test]
    fn the_end_of_input_saves_and_stops() {
        let run = run(b"1");
        assert_eq!(run.preferences, [Preference::First]);
        assert_eq!(run.saved, [1, 1]);
    }

    #[test]
    fn the_last_answer_ends_the_interview_and_can_be_taken_back() {
        assert!(run(&b"2\n".repeat(8)).done);
        let all = run(&b"2\n".repeat(100)).preferences.len();
        let mut typed = b"2\n".repeat(all);
        typed.extend_from_slice(b"u\n1\n\n");
        let run = run(&typed);
        assert!(run.done);
        assert_eq!(run.preferences.len(), all);
        assert_eq!(run.preferences[all - 1], Preference::First);
        assert_eq!(run.output.matches("That was the last question.").count(), 2);
    }
}
