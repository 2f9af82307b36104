//! `equipoise choose`: which of some candidates somebody would rather have, by what they have.

pub mod read;
mod report;
mod words;

use super::elicit::answerer::to_noise;
use super::elicit::known::Known;
use super::elicit::length::Length;
use crate::args::{Choose, Global};
use crate::fault::{FINDING, Fault};
use crate::program::Program;
use crate::prompt::{self, End, Presented, counted};
use crate::sides::Sides;
use crate::terminal::Terminal;
use crate::{files, fingerprint, json};
use anyhow::{Context as _, Result};
use equipoise::ask::{NoiseModel, Simulated};
use equipoise::engine::{Adaptive, Stop};
use equipoise::metric::{Attribute, Family};
use equipoise::space::Candidates;
use equipoise::{Answer, Answered, AnyPlan, Interview, Metric, Oracle, Outcome, Query, Step};
use equipoise_choice::{Chosen, Words};
use read::Front;
use report::Report;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Draws of what is believed.
const DRAWS: usize = 1000;

/// Runs the command.
pub fn run(args: &Choose, global: &Global) -> Result<ExitCode> {
    let front = read::front(args)?;
    let table = files::name(&args.table);
    let candidates = match &front.candidates {
        Ok(candidates) => candidates.clone(),
        Err(only) => {
            let report = Report::new(table, Chosen::without_questions(only, &front));
            return finish(&report, None, global, &mut std::io::stdout().lock());
        }
    };
    let usual = || PathBuf::from(super::models::stem(&args.table) + ".choice.json");
    let save = args.save.clone().or_else(|| args.resume.clone()).unwrap_or_else(usual);
    let out = super::elicit::record::place_of_metric(args.out.as_deref(), &args.table)?;
    if save == out {
        let what = format!("--save and --out both name {}, expected a file for each", save.display());
        return Err(Fault::usage(what).into());
    }
    let hidden = args.oracle.as_ref().map(|text| weights(text, candidates.attributes())).transpose()?;
    let plan = AnyPlan::Adaptive(plan(args, candidates.clone())?);
    let (sides, transcript) = match &args.resume {
        Some(path) => resumed(path, &plan)?,
        None => {
            prompt::refuse_to_lose_answers(&save, |text| Ok(parse(text)?.1))?;
            let seed = global.seed.unwrap_or_else(super::bench::fresh_seed);
            (Sides::seeded(seed), vec![])
        }
    };
    let words = Words::new(&candidates);
    let interview = Interview::with_transcript(plan.clone(), transcript);
    let session = Session {
        args,
        global,
        front: &front,
        candidates: &candidates,
        known: Known::new(&plan),
        words,
        sides,
        save: &save,
        out: &out,
        terminal: Terminal::detect(),
    };
    match (hidden, &args.oracle_command) {
        (Some(hidden), _) => session.simulate(hidden, interview),
        (_, Some(command)) => session.ask_program(command, interview),
        _ => session.ask_person(interview),
    }
}

fn plan(args: &Choose, candidates: Candidates) -> Result<Adaptive> {
    let mut plan = Adaptive::choice(candidates);
    if let Some(at_most) = args.regret {
        plan = plan.stop(vec![Stop::Decision { level: 0.9 }, Stop::Regret { at_most }])?;
    }
    if let Some(budget) = args.budget {
        plan = plan.budget(budget as usize)?;
    }
    Ok(plan)
}

/// The weights of a simulated person: a document, or `COL=2,COL=1`; a column that is not named weighs nothing.
fn weights(text: &str, attributes: &[Attribute]) -> Result<Metric> {
    if Path::new(text).exists() {
        let metric = Metric::from_json(&files::read(Path::new(text))?).context("the metric of --oracle")?;
        let Family::Attributes(family) = metric.family() else {
            let what = format!(
                "the metric of --oracle is of kind \"{}\", expected \"attributes\"",
                metric.family().kind()
            );
            return Err(Fault::usage(what).into());
        };
        let names = |list: &[Attribute]| list.iter().map(|a| a.name.clone()).collect::<Vec<_>>();
        if names(family.attributes()) != names(attributes) {
            let what = format!(
                "the metric of --oracle is about {}, expected {}",
                names(family.attributes()).join(", "),
                names(attributes).join(", ")
            );
            return Err(Fault::usage(what).into());
        }
        return Ok(metric);
    }
    let mut weights = vec![0.0; attributes.len()];
    for part in text.split(',') {
        let wrong = || {
            Fault::usage(format!(
                "--oracle has \"{part}\", expected a file or weights such as latency_ms=2,recall=1"
            ))
        };
        let (name, number) = part.split_once('=').ok_or_else(wrong)?;
        let place = attributes.iter().position(|a| a.name == name.trim()).ok_or_else(|| {
            let known: Vec<&str> = attributes.iter().map(|a| a.name.as_str()).collect();
            Fault::usage(format!("--oracle names \"{}\", expected one of {}", name.trim(), known.join(", ")))
        })?;
        weights[place] =
            number.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w >= 0.0).ok_or_else(wrong)?;
    }
    Metric::attributes(attributes.to_vec(), weights).context("the weights of --oracle")
}

/// A saved choice: its sides, and the plan with the answers.
fn parse(text: &str) -> Result<(Sides, Interview<AnyPlan>)> {
    let mut document: Value =
        serde_json::from_str(text).map_err(|e| Fault::input_output(format!("not valid JSON: {e}")))?;
    let mut taken = |field: &str| document.as_object_mut().and_then(|fields| fields.remove(field));
    let sides = taken("sides").and_then(|seed| seed.as_u64());
    // What the Python package keeps of the table, which is read again here.
    taken("front");
    Ok((sides.map_or(Sides::as_asked(), Sides::seeded), Interview::from_json(&document.to_string())?))
}

fn resumed(path: &Path, plan: &AnyPlan) -> Result<(Sides, Vec<Answered>)> {
    let (sides, interview) = parse(&files::read(path)?).with_context(|| files::name(path))?;
    // Another end is allowed.
    let without_end = |plan: &AnyPlan| -> Result<Value> {
        let mut document = serde_json::to_value(plan)?;
        for end in ["budget", "stop", "probes"] {
            document[end] = Value::Null;
        }
        Ok(document)
    };
    if without_end(interview.plan())? != without_end(plan)? {
        let what = format!(
            "{}: these answers were given to other candidates, or with other options about them, than those of this command",
            files::name(path)
        );
        return Err(Fault::integrity(what).into());
    }
    interview.step().with_context(|| files::name(path))?;
    if interview.plan() == plan {
        return Ok((sides, interview.transcript().to_vec()));
    }
    // What checked the answers at the end is asked again at the new one.
    let kept = super::elicit::record::that_belong(interview.transcript(), plan);
    Ok((sides, interview.transcript()[..kept].to_vec()))
}

fn finish(report: &Report, words: Option<&Words>, global: &Global, out: &mut dyn Write) -> Result<ExitCode> {
    if global.json {
        json::write(report, &mut std::io::stdout().lock())?;
    } else {
        report.write(words, global.quiet, Terminal::detect(), out)?;
    }
    Ok(if report.chosen.enough { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

/// One run of the command.
struct Session<'a> {
    args: &'a Choose,
    global: &'a Global,
    front: &'a Front,
    candidates: &'a Candidates,
    known: Known<'a>,
    words: Words<'a>,
    sides: Sides,
    save: &'a Path,
    out: &'a Path,
    terminal: Terminal,
}

impl Session<'_> {
    fn simulate(&self, hidden: Metric, mut interview: Interview<AnyPlan>) -> Result<ExitCode> {
        let noise = self.args.noise.as_ref().map_or(Ok(NoiseModel::Exact), to_noise)?;
        let mut person = Simulated::with_noise(hidden, noise, self.global.seed.unwrap_or(0))?;
        let outcome = loop {
            match interview.step()? {
                Step::Done(outcome) => break outcome,
                Step::Ask(query) => {
                    let Ok(answer) = person.prefer(&query);
                    interview.answer(answer)?;
                }
            }
        };
        self.keep(&interview)?;
        self.conclude(&outcome, &interview, &mut std::io::stdout().lock())
    }

    fn ask_program(&self, command: &str, mut interview: Interview<AnyPlan>) -> Result<ExitCode> {
        self.keep(&interview)?;
        let mut program = Program::start(command, self.args.answer_within)?;
        let outcome = loop {
            match interview.step()? {
                Step::Done(outcome) => break outcome,
                Step::Ask(query) => {
                    let (question, turn) = self.turned(&interview, &query);
                    let length = self.length(interview.transcript());
                    let line =
                        words::line(self.candidates, &self.words, question, length, &turn.pair(&query));
                    let side = program
                        .ask(question, &line)
                        .map_err(|error| self.kept(error, interview.transcript()))?;
                    interview.answer(Answer::from(turn.preference(side)))?;
                    self.keep(&interview)?;
                }
            }
        };
        drop(program);
        self.conclude(&outcome, &interview, &mut std::io::stdout().lock())
    }

    /// What the program did wrong can be tried again.
    fn kept(&self, error: anyhow::Error, transcript: &[Answered]) -> anyhow::Error {
        if !error.is::<Fault>() || transcript.is_empty() {
            return error;
        }
        let (kept, saved) = (counted(transcript.len()), self.save.display());
        Fault::input_output(format!("{error}; {kept} kept in {saved}, go on with --resume {saved}")).into()
    }

    fn ask_person(&self, mut interview: Interview<AnyPlan>) -> Result<ExitCode> {
        // Questions are for the person; with --json standard output is for the program that reads it.
        let mut out: Box<dyn Write> =
            if self.global.json { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) };
        if !self.global.quiet {
            self.introduce(&interview, &mut out)?;
        }
        let end = prompt::interview(&mut interview, self, &mut std::io::stdin().lock(), &mut out)
            .with_context(|| format!("the answers in {}", self.save.display()))?;
        match end {
            End::Done(outcome) => {
                self.keep(&interview)?;
                self.conclude(&outcome, &interview, &mut out)
            }
            End::Stopped => {
                let (questions, saved) = (interview.transcript().len(), self.save.display().to_string());
                if self.global.json {
                    let document = serde_json::json!({
                        "format": equipoise::FORMAT, "done": false, "questions": questions, "transcript_file": saved,
                    });
                    json::write(&document, &mut std::io::stdout().lock())?;
                }
                writeln!(out, "Saved {} in {saved}.", counted(questions))?;
                writeln!(out, "To go on: the same command with --resume {saved}")?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }

    fn introduce(&self, interview: &Interview<AnyPlan>, out: &mut dyn Write) -> std::io::Result<()> {
        let labels: Vec<&str> = self.words.said.iter().map(|said| said.label.as_str()).collect();
        let task = format!(
            "{} candidates of {} are left to choose from, by {}. There is no right answer: choose what you would rather have.",
            self.candidates.members().len(),
            files::name(&self.args.table),
            labels.join(", ")
        );
        let keys = "Type 1 for A, 2 for B, ? if you can't tell, u to undo, q to save and quit, then Enter.";
        writeln!(out, "{}\n{}", self.terminal.paragraph(&task), self.terminal.paragraph(keys))?;
        if let Some(length) = self.length(interview.transcript()) {
            writeln!(out, "{}", length.sentence())?;
        }
        if !interview.transcript().is_empty() {
            writeln!(out, "Going on after {}.", counted(interview.transcript().len()))?;
        }
        writeln!(out)
    }

    fn length(&self, transcript: &[Answered]) -> Option<Length> {
        self.known.about(transcript).map(|questions| Length::About(questions + PROBES))
    }

    fn turned(&self, interview: &Interview<AnyPlan>, _: &Query) -> (usize, crate::sides::Turn) {
        let question = interview.transcript().len() + 1;
        (question, self.sides.of(question))
    }

    fn text(&self, interview: &Interview<AnyPlan>) -> Result<String> {
        let mut document: Map<String, Value> = serde_json::from_str(&interview.to_json())?;
        if let Some(seed) = self.sides.seed() {
            document.insert("sides".to_owned(), seed.into());
        }
        Ok(serde_json::to_string(&document)? + "\n")
    }

    fn keep(&self, interview: &Interview<AnyPlan>) -> Result<()> {
        files::write(self.save, &self.text(interview)?)
    }

    /// Writes the metric and says what came out.
    fn conclude(
        &self,
        outcome: &Outcome,
        interview: &Interview<AnyPlan>,
        out: &mut dyn Write,
    ) -> Result<ExitCode> {
        let transcript = interview.transcript();
        let draws = self.known.draws(transcript, DRAWS).unwrap_or_default();
        let table = files::name(&self.args.table);
        let chosen = Chosen::new(self.front, self.candidates, outcome, &draws, transcript.len());
        let mut report = Report::new(table.clone(), chosen);
        let mut from = Map::new();
        from.insert("made_by".to_owned(), concat!("equipoise ", env!("CARGO_PKG_VERSION")).into());
        from.insert("table".to_owned(), table.into());
        from.insert("candidates".to_owned(), self.candidates.members().len().into());
        from.insert("transcript".to_owned(), fingerprint::of(&self.text(interview)?).into());
        from.insert("questions".to_owned(), transcript.len().into());
        let metric = outcome.metric.clone().with_provenance(from);
        files::write(self.out, &(serde_json::to_string_pretty(&metric)? + "\n"))?;
        report.metric_file = Some(self.out.display().to_string());
        report.transcript_file = Some(self.save.display().to_string());
        finish(&report, Some(&self.words), self.global, out)
    }
}

/// Questions at the end that check.
const PROBES: usize = 3;

impl prompt::Host<AnyPlan> for Session<'_> {
    fn show(
        &self,
        interview: &Interview<AnyPlan>,
        query: &Query,
        out: &mut dyn Write,
    ) -> std::io::Result<Presented> {
        let (question, turn) = self.turned(interview, query);
        let length = self.length(interview.transcript());
        words::write(&self.words, question, length, &turn.pair(query), out)?;
        Ok(Presented { turn, shown: None })
    }

    fn answered(&self, _: &Interview<AnyPlan>, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out)
    }

    fn save(&self, interview: &Interview<AnyPlan>) -> Result<()> {
        self.keep(interview)
    }
}
