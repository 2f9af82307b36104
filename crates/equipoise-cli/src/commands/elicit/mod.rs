//! `equipoise elicit`: the metric somebody holds, from comparisons of classifiers that a table allows.

mod answerer;
mod known;
mod process;
mod question;
mod record;
mod report;
mod task;

use crate::args::{Elicit, Global};
use crate::fault::{FINDING, Fault};
use crate::prompt::{self, End, counted};
use crate::terminal::Terminal;
use crate::{files, json, metrics};
use answerer::Expert;
use anyhow::{Context as _, Result};
use equipoise::AnyPlan;
use equipoise::population::Confusions as _;
use equipoise::{Answered, Interview, Metric, Outcome, Preference, Query};
use equipoise_data::{Note, Reading};
use process::Process;
use question::Words;
use record::Saved;
use report::{About, Report};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use task::Task;

/// Runs the command.
pub fn run(args: &Elicit, global: &Global) -> Result<ExitCode> {
    let Reading { data: sample, notes } = args.columns.read(&args.table, global)?;
    let save = args.save.clone().or_else(|| args.resume.clone()).unwrap_or_else(|| usual_place(&args.table));
    let (task, transcript) = match &args.resume {
        Some(path) => {
            let Saved { interview, space } = Saved::read(path)?;
            let transcript = interview.transcript().to_vec();
            (Task::resumed(&args.table, sample, interview.plan().clone(), &space, path)?, transcript)
        }
        None => {
            record::refuse_to_lose_answers(&save)?;
            (Task::new(args, sample, global.seed)?, vec![])
        }
    };
    record::refuse_to_lose_metric(&args.out)?;
    let table = task.sample.table();
    let groups = table.groups().map_or(&[][..], |groups| groups.names());
    let prior = task.sample.prevalence().class_priors()[1];
    let words = Words::new(table.classes(), groups, task.plan.view(), prior);
    let session = Session {
        args,
        global,
        task: &task,
        words: &words,
        notes: &notes,
        save: &save,
        terminal: Terminal::detect(),
    };
    match (&args.oracle, &args.oracle_command) {
        (Some(hidden), _) => session.simulate(hidden, transcript),
        (_, Some(command)) => session.ask_program(command, transcript),
        _ => session.ask_person(transcript),
    }
}

/// `val.csv` has its answers in `val.interview.json`, where the command runs.
fn usual_place(table: &Path) -> PathBuf {
    PathBuf::from(super::models::stem(table) + ".interview.json")
}

/// One run of the command.
struct Session<'a> {
    args: &'a Elicit,
    global: &'a Global,
    task: &'a Task,
    words: &'a Words,
    notes: &'a [Note],
    save: &'a Path,
    terminal: Terminal,
}

impl Session<'_> {
    fn simulate(&self, hidden: &str, mut transcript: Vec<Answered>) -> Result<ExitCode> {
        let sample = &self.task.sample;
        let hidden = metrics::metric(hidden, sample.table().classes(), sample.prevalence())
            .context("the metric of --oracle")?;
        let seed = self.global.seed.unwrap_or(0);
        let mut expert = Expert::new(self.task, hidden.clone(), self.args.noise.as_ref(), seed)?;
        let outcome = answerer::run(self.task, &mut transcript, &mut expert, None)?;
        record::write(self.save, self.task, &transcript)?;
        self.finish(outcome, &transcript, Some(hidden), &mut std::io::stdout().lock())
    }

    fn ask_program(&self, command: &str, mut transcript: Vec<Answered>) -> Result<ExitCode> {
        record::write(self.save, self.task, &transcript)?;
        let mut process = Process::start(command, self.args.answer_within, self.words)?;
        let ran = answerer::run(self.task, &mut transcript, &mut process, Some(self.save));
        drop(process);
        let outcome = ran.map_err(|error| {
            // Only what the program did wrong can be tried again; a record that diverges cannot.
            if !error.is::<Fault>() || transcript.is_empty() {
                return error;
            }
            let (kept, saved) = (counted(transcript.len()), self.save.display());
            Fault::input_output(format!("{error}; {kept} kept in {saved}, go on with --resume {saved}"))
                .into()
        })?;
        self.finish(outcome, &transcript, None, &mut std::io::stdout().lock())
    }

    fn ask_person(&self, transcript: Vec<Answered>) -> Result<ExitCode> {
        let answered = transcript.len();
        let mut interview = Interview::with_transcript(self.task.plan.clone(), transcript);
        // Questions are for the person; with --json standard output is for the program that reads it.
        let mut out: Box<dyn Write> =
            if self.global.json { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) };
        if !self.global.quiet {
            self.introduce(answered, &mut out)?;
        }
        let end = prompt::interview(&mut interview, self, &mut std::io::stdin().lock(), &mut out)
            .with_context(|| format!("the answers in {}", self.save.display()))?;
        let outcome = match end {
            End::Done(outcome) => *outcome,
            End::Stopped => {
                let (questions, saved) = (interview.transcript().len(), self.save.display());
                if self.global.json {
                    let document = serde_json::json!({
                        "format": equipoise::FORMAT,
                        "done": false,
                        "questions": questions,
                        "transcript_file": saved.to_string(),
                    });
                    json::write(&document, &mut std::io::stdout().lock())?;
                }
                writeln!(out, "Saved {} in {saved}.", counted(questions))?;
                let (table, columns) = (files::name(&self.args.table), self.args.columns.typed());
                writeln!(out, "To go on: equipoise elicit {table}{columns} --resume {saved}")?;
                return Ok(ExitCode::SUCCESS);
            }
        };
        prompt::Host::save(self, &interview)?;
        let transcript = interview.transcript().to_vec();
        self.finish(outcome, &transcript, None, &mut out)
    }

    fn introduce(&self, answered: usize, out: &mut dyn Write) -> std::io::Result<()> {
        let table = self.task.sample.table();
        let task = format!(
            "You will see pairs of classifiers that the predictions in {} allow, for the classes {}. There is no right \
             answer: choose the one you would rather have.",
            self.task.table,
            table.classes().join(", ")
        );
        let keys = "Type 1 for A, 2 for B, ? if you can't tell, u to undo, q to save and quit, then Enter.";
        writeln!(out, "{}\n{}", self.terminal.paragraph(&task), self.terminal.paragraph(keys))?;
        if answered > 0 {
            writeln!(out, "Going on after {}.", counted(answered))?;
        }
        writeln!(out)
    }

    /// Writes the metric and says what came out.
    fn finish(
        &self,
        outcome: Outcome,
        transcript: &[Answered],
        hidden: Option<Metric>,
        out: &mut dyn Write,
    ) -> Result<ExitCode> {
        let about = About {
            task: self.task,
            words: self.words,
            transcript,
            hidden,
            notes: self.notes,
            metric_file: self.args.out.display().to_string(),
            transcript_file: self.save.display().to_string(),
        };
        let report = Report::new(about, outcome)?;
        files::write(&self.args.out, &(serde_json::to_string_pretty(report.metric())? + "\n"))?;
        if self.global.json {
            json::write(&report, &mut std::io::stdout().lock())?;
        } else {
            report.write(self.global.quiet, self.terminal, out)?;
        }
        Ok(if report.is_identifiable() { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
    }
}

impl prompt::Host<AnyPlan> for Session<'_> {
    fn show(&self, number: usize, query: &Query, out: &mut dyn Write) -> std::io::Result<Option<Query>> {
        let shown = self.words.shown(query);
        self.words.write(number, &shown, self.terminal, out)?;
        Ok(Some(shown.to_query()))
    }

    fn answered(&self, interview: &Interview<AnyPlan>, out: &mut dyn Write) -> std::io::Result<()> {
        let transcript = interview.transcript();
        let adaptive = self.task.setting("method").is_some_and(|method| method == "adaptive");
        if !adaptive && transcript.last().is_some_and(|last| last.preference == Preference::CannotTell) {
            writeln!(out, "Noted. The search goes on as if you had chosen B.")?;
        }
        if let Some(sentence) = known::so_far(&self.task.plan, transcript) {
            writeln!(out, "{sentence}")?;
        }
        writeln!(out)
    }

    fn save(&self, interview: &Interview<AnyPlan>) -> Result<()> {
        record::write(self.save, self.task, interview.transcript())
    }
}
