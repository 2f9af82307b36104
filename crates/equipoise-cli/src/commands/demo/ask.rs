//! `equipoise demo --ask`: the person at the keyboard answers, now or another day.

use super::document::Document;
use super::{Session, code, with_class_names, wording};
use crate::commands::elicit::known::Known;
use crate::commands::elicit::length::Length;
use crate::fault::Fault;
use crate::prompt::{self, End, Presented, counted};
use crate::{files, json};
use anyhow::{Context as _, Result};
use equipoise::AnyPlan;
use equipoise::{Interview, Query};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where answers are kept unless told otherwise.
const SAVE: &str = "equipoise-demo.interview.json";

/// Runs the interview.
pub fn run(session: &Session) -> Result<ExitCode> {
    let plan = session.plan.clone();
    let args = session.args;
    let save = args.save.clone().or_else(|| args.resume.clone()).unwrap_or_else(|| PathBuf::from(SAVE));
    let mut interview = match &args.resume {
        Some(path) => resume(path, &plan)?,
        None => {
            prompt::refuse_to_lose_answers(&save, |text| Ok(Interview::<AnyPlan>::from_json(text)?))?;
            Interview::new(plan)
        }
    };
    let host = Keyboard { session, save: &save, known: Known::new(&session.plan) };
    // Questions are for the person; with --json standard output is for the program that reads it.
    let mut out: Box<dyn Write> =
        if session.global.json { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) };
    if !session.global.quiet {
        let length = host.known.about(interview.transcript()).map(Length::About);
        introduce(session, interview.transcript().len(), length, &mut out)?;
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
        return Ok(code(&outcome));
    }
    session.write_result(&outcome, interview.transcript(), None, &mut out)?;
    writeln!(out, "Answers    {saved}")?;
    session.point_to_picture(picture, &mut out)?;
    Ok(code(&outcome))
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

fn introduce(
    session: &Session,
    answered: usize,
    length: Option<Length>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let terminal = session.terminal;
    writeln!(out, "{}\n", terminal.bold("How many false alarms is one missed cancer worth to you?"))?;
    let task = "A screening test predicts who has cancer. Whoever is predicted to have it is called in for a biopsy; \
                whoever is not goes home. A missed cancer is treated later, often too late; a false alarm means \
                worry and a needle for nothing. You will see pairs of systems. There is no right answer: choose \
                the one you would rather have.";
    let keys = "Type 1 for A, 2 for B, ? if you can't tell, u to undo, q to save and quit, then Enter.";
    writeln!(out, "{}\n{}", terminal.paragraph(task), terminal.paragraph(keys))?;
    if let Some(length) = length {
        writeln!(out, "{}", length.sentence())?;
    }
    if answered > 0 {
        writeln!(out, "Going on after {}.", counted(answered))?;
    }
    writeln!(out)
}

/// What surrounds each question when a person answers.
struct Keyboard<'a> {
    session: &'a Session<'a>,
    save: &'a Path,
    /// What the answers so far say.
    known: Known<'a>,
}

impl prompt::Host<AnyPlan> for Keyboard<'_> {
    fn show(
        &self,
        interview: &Interview<AnyPlan>,
        query: &Query,
        out: &mut dyn Write,
    ) -> std::io::Result<Presented> {
        let asked = interview.transcript();
        let (pair, presented) = self.session.present(asked, query);
        let length = self.known.about(asked).map(Length::About);
        self.session.write_question(asked.len() + 1, length, &pair, out)?;
        writeln!(out, "  {}", wording().question)?;
        Ok(presented)
    }

    fn answered(&self, interview: &Interview<AnyPlan>, out: &mut dyn Write) -> std::io::Result<()> {
        let sentence = self.known.so_far(interview.transcript());
        if let Some(sentence) = sentence.filter(|_| self.session.args.watch) {
            writeln!(out, "{sentence}")?;
        }
        writeln!(out)
    }

    fn save(&self, interview: &Interview<AnyPlan>) -> Result<()> {
        files::write(self.save, &(interview.to_json() + "\n"))
    }
}
