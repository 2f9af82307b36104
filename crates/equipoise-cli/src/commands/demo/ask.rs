//! `equipoise demo --ask`: the person at the keyboard answers, now or another day.

use super::document::Document;
use super::{Session, agreeing, plan, with_class_names, wording};
use crate::fault::Fault;
use crate::prompt::{self, End, counted};
use crate::{files, json};
use anyhow::{Context as _, Result};
use equipoise::AnyPlan;
use equipoise::{Interview, Preference, Query};
use std::cell::Cell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where answers are kept unless told otherwise.
const SAVE: &str = "equipoise-demo.interview.json";

/// Runs the interview.
pub fn run(session: &Session) -> Result<ExitCode> {
    let plan = AnyPlan::BinaryLinear(plan(&session.space));
    let args = session.args;
    let save = args.save.clone().or_else(|| args.resume.clone()).unwrap_or_else(|| PathBuf::from(SAVE));
    let mut interview = match &args.resume {
        Some(path) => resume(path, &plan)?,
        None => {
            prompt::refuse_to_lose_answers(&save, |text| Ok(Interview::<AnyPlan>::from_json(text)?))?;
            Interview::new(plan)
        }
    };
    let host = Keyboard { session, save: &save, people: Cell::new(None) };
    // Questions are for the person; with --json standard output is for the program that reads it.
    let mut out: Box<dyn Write> =
        if session.global.json { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) };
    if !session.global.quiet {
        introduce(session, interview.transcript().len(), &mut out)?;
    }
    let end = prompt::interview(&mut interview, &host, &mut std::io::stdin().lock(), &mut out)?;
    let saved = save.display();
    let outcome = match end {
        End::Done(outcome) => with_class_names(*outcome)?,
        End::Stopped => {
            writeln!(out, "Saved {} in {saved}.", counted(interview.transcript().len()))?;
            writeln!(out, "To go on: equipoise demo --ask --resume {saved}")?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let picture = session.write_picture(interview.transcript(), &outcome)?;
    if session.global.json {
        let document = Document::new(session, &outcome, interview.transcript(), None, picture);
        json::write(&document, &mut std::io::stdout().lock())?;
        return Ok(ExitCode::SUCCESS);
    }
    session.write_result(&outcome, interview.transcript(), None, &mut out)?;
    writeln!(out, "Answers    {saved}")?;
    session.point_to_picture(picture, &mut out)?;
    Ok(ExitCode::SUCCESS)
}

/// A saved interview of this very plan.
fn resume(path: &Path, plan: &AnyPlan) -> Result<Interview<AnyPlan>> {
    let interview: Interview<AnyPlan> =
        Interview::from_json(&files::read(path)?).with_context(|| files::name(path))?;
    if interview.plan() != plan {
        let what = format!("{}: plan is not the one the demo asks, so it cannot go on", files::name(path));
        return Err(Fault::usage(what).into());
    }
    interview.step().with_context(|| files::name(path))?;
    Ok(interview)
}

fn introduce(session: &Session, answered: usize, out: &mut dyn Write) -> std::io::Result<()> {
    let terminal = session.terminal;
    writeln!(out, "{}\n", terminal.bold("How many false alarms is one missed cancer worth to you?"))?;
    let task = "A screening test predicts who has cancer. Whoever is predicted to have it is called in for a biopsy; \
                whoever is not goes home. A missed cancer is treated later, often too late; a false alarm means \
                worry and a needle for nothing. You will see pairs of systems. There is no right answer: choose \
                the one you would rather have.";
    let keys = "Type 1 for A, 2 for B, ? if you can't tell, u to undo, q to save and quit, then Enter.";
    writeln!(out, "{}\n{}", terminal.paragraph(task), terminal.paragraph(keys))?;
    if answered > 0 {
        writeln!(out, "Going on after {}.", counted(answered))?;
    }
    writeln!(out)
}

/// What surrounds each question when a person answers.
struct Keyboard<'a> {
    session: &'a Session<'a>,
    save: &'a Path,
    /// How many people the last question was about.
    people: Cell<Option<u64>>,
}

impl prompt::Host<AnyPlan> for Keyboard<'_> {
    fn show(&self, number: usize, query: &Query, out: &mut dyn Write) -> std::io::Result<Option<Query>> {
        let pair = self.session.pair(query);
        self.session.write_question(number, &pair, self.people.replace(Some(pair.people)), out)?;
        writeln!(out, "  {}", wording().question)?;
        Ok(Some(pair.to_query()))
    }

    fn answered(&self, interview: &Interview<AnyPlan>, out: &mut dyn Write) -> std::io::Result<()> {
        let transcript = interview.transcript();
        if transcript.last().is_some_and(|last| last.preference == Preference::CannotTell) {
            writeln!(out, "Noted. The search goes on as if you had chosen B.")?;
        }
        writeln!(out, "Your cost ratio so far: {}.\n", agreeing(transcript))
    }

    fn save(&self, interview: &Interview<AnyPlan>) -> Result<()> {
        files::write(self.save, &(interview.to_json() + "\n"))
    }
}
