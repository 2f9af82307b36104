//! `equipoise elicit`: the metric somebody holds, from comparisons of classifiers that a table allows.

pub mod answerer;
pub mod asker;
mod case;
pub mod cells;
mod decisions;
pub mod goal;
pub mod gravity;
pub mod known;
pub mod length;
mod line;
mod process;
pub mod question;
pub mod record;
pub mod reference;
pub mod report;
mod rule;
pub mod task;
pub mod trade;

use crate::args::{Elicit, Global};
use crate::fault::{FINDING, Fault};
use crate::progress::Progress;
use crate::prompt::{self, End, Presented, counted};
use crate::render::letter;
use crate::terminal::Terminal;
use crate::{files, json, metrics};
use answerer::Expert;
use anyhow::{Context as _, Result};
use asker::Asker;
pub use asker::words_of;
use equipoise::AnyPlan;
use equipoise::engine::Adaptive;
use equipoise::population::Confusions as _;
use equipoise::{Answered, Interview, Metric, Outcome, Preference, Query};
use equipoise_data::{Note, Reading};
use length::Length;
use process::Process;
use record::Saved;
use report::{About, Report};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use task::{Task, Who};

/// What shells call the end by a Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Runs the command.
pub fn run(args: &Elicit, global: &Global) -> Result<ExitCode> {
    if args.from_decisions {
        return decisions::run(args, global);
    }
    let Reading { data: sample, notes } =
        reference::read(&args.columns, &args.table, &args.streaming, global)?;
    let save = args.save.clone().or_else(|| args.resume.clone()).unwrap_or_else(|| usual_place(&args.table));
    let place = (args.table.as_path(), &args.columns);
    // Of five classes and more this takes a while.
    let looking = Progress::spinner("Looking what can be traded for what", global.shows_progress());
    let (task, transcript) = match &args.resume {
        Some(path) => Task::resumed(&args.asking, place, sample, &Saved::read(path)?, path)?,
        None => {
            record::refuse_to_lose_answers(&save)?;
            let who = match (&args.oracle, &args.noise) {
                (None, _) => Who::Real,
                (Some(_), Some(noise)) if noise.kind != "none" => Who::Erring,
                (Some(_), _) => Who::Faithful,
            };
            (Task::new(&args.asking, place, sample, who, global.seed)?, vec![])
        }
    };
    let out = record::place_of_metric(args.out.as_deref(), &args.table)?;
    if !task.set_aside.is_empty() && !global.quiet && !global.json {
        let aside = counted(task.set_aside.len());
        eprintln!("note: {aside} kept aside: with another end, other questions come in their place");
    }
    let asker = Asker::new(&task);
    drop(looking);
    let terminal = Terminal::detect();
    let answers = Arc::new(AtomicUsize::new(transcript.len()));
    let (task, asker, notes, save, out) = (&task, &asker, &notes[..], &save, &out);
    let session = Session { args, global, task, asker, notes, save, out, terminal, answers };
    match (&args.oracle, &args.oracle_command) {
        (Some(hidden), _) => session.simulate(hidden, transcript),
        (_, Some(command)) => session.ask_program(command, transcript),
        _ => session.ask_person(transcript),
    }
}

/// `val.csv` has its answers in `val.interview.json`, where the command runs.
pub fn usual_place(table: &Path) -> PathBuf {
    PathBuf::from(super::models::stem(table) + ".interview.json")
}

/// One run of the command.
struct Session<'a> {
    args: &'a Elicit,
    global: &'a Global,
    task: &'a Task,
    asker: &'a Asker,
    notes: &'a [Note],
    save: &'a Path,
    out: &'a Path,
    terminal: Terminal,
    /// How many answers are saved, for whoever is told at a Ctrl-C.
    answers: Arc<AtomicUsize>,
}

impl Session<'_> {
    fn simulate(&self, hidden: &str, mut transcript: Vec<Answered>) -> Result<ExitCode> {
        let sample = &self.task.sample;
        let hidden = metrics::metric(hidden, sample.class_names(), sample.prevalence())
            .context("the metric of --oracle")?;
        let seed = self.global.seed.unwrap_or(0);
        let most = self.task.number("budget").map_or(0, |budget| budget as usize);
        let progress = Progress::new("asking", most, self.global.shows_progress());
        let mut expert = Expert::new(self.task, hidden.clone(), self.args.noise.as_ref(), seed, progress)?;
        let outcome = answerer::run(self.task, &mut transcript, &mut expert, None)?;
        drop(expert);
        record::write(self.save, self.task, &transcript)?;
        self.finish(outcome, &transcript, Some(hidden), &mut std::io::stdout().lock())
    }

    fn ask_program(&self, command: &str, mut transcript: Vec<Answered>) -> Result<ExitCode> {
        record::write(self.save, self.task, &transcript)?;
        let mut process = Process::start(command, self.args.answer_within, self.asker)?;
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
        let length = self.asker.length(&transcript);
        let answered = transcript.len();
        let mut interview = Interview::with_transcript(self.task.plan.clone(), transcript);
        // Questions are for the person; with --json standard output is for the program that reads it.
        let mut out: Box<dyn Write> =
            if self.global.json { Box::new(std::io::stderr()) } else { Box::new(std::io::stdout()) };
        if !self.global.quiet {
            self.introduce(answered, length, &mut out)?;
        }
        self.tell_at_interrupt()?;
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
                writeln!(out, "To go on: {}", self.to_go_on())?;
                return Ok(ExitCode::SUCCESS);
            }
        };
        prompt::Host::save(self, &interview)?;
        let transcript = interview.transcript().to_vec();
        self.finish(outcome, &transcript, None, &mut out)
    }

    /// The command that goes on with the saved answers.
    fn to_go_on(&self) -> String {
        let (table, columns) = (files::name(&self.args.table), self.args.columns.typed());
        let saved = self.save.display();
        // Where the table is takes more words, some of them secret.
        match self.args.streaming.is_asked_for() {
            true => format!("the same command with --resume {saved}"),
            false => format!("equipoise elicit {table}{columns} --resume {saved}"),
        }
    }

    /// Whoever presses Ctrl-C is told what `q` tells: every answer is saved as it is given.
    fn tell_at_interrupt(&self) -> Result<()> {
        let (answers, saved, to_go_on) =
            (self.answers.clone(), self.save.display().to_string(), self.to_go_on());
        equipoise_server::serve::at_interrupt(move || {
            match answers.load(Ordering::SeqCst) {
                0 => eprintln!("\nNothing was answered yet."),
                given => eprintln!("\nSaved {} in {saved}.\nTo go on: {to_go_on}", counted(given)),
            }
            std::process::exit(INTERRUPTED);
        })
        .context("waiting for Ctrl-C")
    }

    fn introduce(&self, answered: usize, length: Option<Length>, out: &mut dyn Write) -> std::io::Result<()> {
        let task = match self.task.adaptive().and_then(Adaptive::risks) {
            Some(_) => format!(
                "You will see cases, each with its risk of being {}, as the predictions in {} have them. There is no right answer: \
                 say whether you would act on such a case.",
                self.asker.words.class(1),
                self.task.table
            ),
            None => format!(
                "You will see pairs of classifiers that the predictions in {} allow, for the classes {}. There is no right \
             answer: choose the one you would rather have.",
                self.task.table,
                self.task.sample.class_names().join(", ")
            ),
        };
        let keys = "Type 1 for A, 2 for B, ? if you can't tell, u to undo, q to save and quit, then Enter.";
        writeln!(out, "{}\n{}", self.terminal.paragraph(&task), self.terminal.paragraph(keys))?;
        if let Some(length) = length {
            writeln!(out, "{}", length.sentence())?;
        }
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
            asker: self.asker,
            transcript,
            hidden,
            notes: self.notes,
            metric_file: self.out.display().to_string(),
            transcript_file: self.save.display().to_string(),
        };
        let report = Report::new(about, outcome)?;
        if let Some(metric) = report.metric() {
            files::write(self.out, &(serde_json::to_string_pretty(metric)? + "\n"))?;
        }
        if self.global.json {
            json::write(&report, &mut std::io::stdout().lock())?;
        } else {
            report.write(self.global.quiet, self.terminal, out)?;
        }
        Ok(if report.needs_attention() { ExitCode::from(FINDING) } else { ExitCode::SUCCESS })
    }
}

impl prompt::Host<AnyPlan> for Session<'_> {
    fn show(
        &self,
        interview: &Interview<AnyPlan>,
        query: &Query,
        out: &mut dyn Write,
    ) -> std::io::Result<Presented> {
        let asked = interview.transcript();
        let (shown, presented) = self.asker.present(asked, query);
        let length = self.asker.length(asked);
        self.asker.words.write(asked.len() + 1, length, &shown, self.terminal, out)?;
        Ok(presented)
    }

    fn answered(&self, interview: &Interview<AnyPlan>, out: &mut dyn Write) -> std::io::Result<()> {
        let transcript = interview.transcript();
        if self.task.adaptive().is_none()
            && transcript.last().is_some_and(|last| last.preference == Preference::CannotTell)
        {
            let side = self.task.sides.of(transcript.len()).preference(Preference::Second);
            writeln!(out, "Noted. The search goes on as if you had chosen {}.", letter(side))?;
        }
        // Only whoever asks is told, because what is known so far sways the next answer.
        if let Some(sentence) = self.asker.known.so_far(transcript).filter(|_| self.args.watch) {
            writeln!(out, "{sentence}")?;
        }
        writeln!(out)
    }

    fn save(&self, interview: &Interview<AnyPlan>) -> Result<()> {
        record::write(self.save, self.task, interview.transcript())?;
        self.answers.store(interview.transcript().len(), Ordering::SeqCst);
        Ok(())
    }
}
