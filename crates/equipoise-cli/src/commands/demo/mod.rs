//! `equipoise demo`: a metric recovered from comparisons, by a simulated expert or the person at the keyboard.

mod ask;
mod document;
mod picture;
mod web;

use crate::args::{Demo, Global};
use crate::counts::{Counts, Pair, grouped};
use crate::ratio::{self, Agreeing, two_digits};
use crate::render::{Noun, SIDE_BY_SIDE, Wording, letter};
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{files, json};
use anyhow::Result;
use document::Document;
use equipoise::ask::{Counting, Simulated};
use equipoise::population::Logistic;
use equipoise::search::{BinaryLinear, Halving, Interval};
use equipoise::space::{Binary, Space as _};
use equipoise::{Answer, Answered, Interview, Metric, Oracle as _, Outcome, Plan as _, Query, Sense, Step};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The weight of a false alarm, when both weights sum to 1, is found to within this. Around 6 : 1 it leaves about
/// 0.2 either way in the ratio, and questions that differ by whole people out of 10,000.
const TOLERANCE: f64 = 0.01;

/// Where the text of "Recovered", "Questions" and the like begins.
const INDENT: usize = 11;

/// How many questions are shown in full unless all are asked for.
const IN_FULL: usize = 3;

/// Runs the command.
pub fn run(args: &Demo, global: &Global) -> Result<ExitCode> {
    if args.web {
        return web::run(args, global);
    }
    let demo = Session { space: screening(), terminal: Terminal::detect(), args, global };
    if args.ask { ask::run(&demo) } else { demo.simulate() }
}

/// A cancer-screening law: 35 % of people have cancer, and a score tells how likely.
///
/// Slope and offset are rounded from logistic smoothings (thesis, Section 8.1.1) of ten random halves of the Breast
/// Cancer Wisconsin (Original) data, whose medians are 21.1 and 6.7.
fn screening() -> Binary {
    Binary::from_law(Logistic::with_offset(21.0, 6.3).expect("a proper law"))
}

/// The words of the task.
pub fn wording() -> Wording {
    Wording {
        question: "Which system should the clinic use?".to_owned(),
        people: "people".to_owned(),
        positive: "with cancer".to_owned(),
        negative: "without".to_owned(),
        found: "found".to_owned(),
        missed: "missed".to_owned(),
        cleared: "cleared".to_owned(),
        false_alarm: Noun::new("false alarm", "false alarms"),
        case: Noun::new("cancer", "cancers"),
    }
}

fn class_names() -> Vec<String> {
    ["no cancer", "cancer"].map(str::to_owned).to_vec()
}

/// The three-question search over the weight, as in the user study of chapter 8.
fn plan(space: &Binary) -> BinaryLinear {
    BinaryLinear::new(space.clone(), TOLERANCE)
        .expect("a proper tolerance")
        .queries_per_halving(Halving::Three)
        .halving_the_weight()
}

fn most_questions() -> usize {
    usize::from(u8::from(Halving::Three)) * Interval::new(0.0, 1.0).halvings(TOLERANCE)
}

fn with_class_names(outcome: Outcome) -> equipoise::Result<Outcome> {
    let metric = outcome.metric.with_class_names(class_names())?;
    Ok(Outcome { metric, ..outcome })
}

/// How many false alarms a missed cancer is worth, as the plan found it.
fn recovered(outcome: &Outcome) -> f64 {
    ratio::of(&outcome.metric).expect("the plan elicits a two-class linear metric")
}

/// What the search that asks one question per halving would have done.
#[derive(Serialize)]
struct Antipodal {
    queries: usize,
    ratio: f64,
}

/// One run of the demo.
struct Session<'a> {
    space: Binary,
    terminal: Terminal,
    args: &'a Demo,
    global: &'a Global,
}

impl Session<'_> {
    fn pair(&self, query: &Query) -> Pair {
        Pair::new(query, self.space.positive_prior())
    }

    fn simulate(&self) -> Result<ExitCode> {
        let hidden = Metric::linear(self.space.view(), Sense::Utility, vec![self.args.ratio, 1.0])?
            .with_class_names(class_names())?;
        let mut expert = Simulated::new(hidden.clone());
        let mut interview = Interview::new(plan(&self.space));
        let outcome = loop {
            match interview.step()? {
                Step::Ask(query) => {
                    let Ok(answer) = expert.prefer(&query);
                    let shown = Some(self.pair(&query).to_query());
                    interview.answer(Answer { shown, ..answer })?;
                }
                Step::Done(outcome) => break outcome,
            }
        };
        let outcome = with_class_names(outcome)?;
        let mut out = std::io::stdout().lock();
        let picture = self.write_picture(interview.transcript(), &outcome)?;
        if self.global.json {
            let document = Document::new(self, &outcome, interview.transcript(), Some(&hidden), picture);
            json::write(&document, &mut out)?;
            return Ok(ExitCode::SUCCESS);
        }
        if !self.global.quiet {
            self.introduce_expert(&mut out)?;
            self.write_transcript(interview.transcript(), &mut out)?;
        }
        self.write_result(&outcome, interview.transcript(), Some(&hidden), &mut out)?;
        self.point_to_picture(picture, &mut out)?;
        if !self.global.quiet {
            writeln!(out, "\nNow you: equipoise demo --ask")?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn introduce_expert(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{}\n", self.terminal.bold("How many false alarms is one missed cancer worth?"))?;
        let holds = as_typed(self.args.ratio);
        writeln!(
            out,
            "{}\n",
            self.terminal.paragraph(&format!(
                "A screening test predicts who has cancer; {:.0} of 100 people do. Set to miss fewer cancers, it \
                 raises more false alarms. A simulated expert, to whom a missed cancer is as bad as {holds} false \
                 alarms, is shown pairs of settings and says which is better. Equipoise sees the answers only.",
                100.0 * self.space.positive_prior()
            ))
        )
    }

    fn write_transcript(&self, transcript: &[Answered], out: &mut dyn Write) -> std::io::Result<()> {
        let in_full = if self.args.all { transcript.len() } else { IN_FULL.min(transcript.len()) };
        let mut people = None;
        for (n, answered) in transcript[..in_full].iter().enumerate() {
            let pair = self.pair(&answered.query);
            self.write_question(n + 1, &pair, people, out)?;
            let choice = letter(answered.preference);
            let so_far = agreeing(&transcript[..=n]);
            writeln!(
                out,
                "  The expert prefers {}. Cost ratio so far: {so_far}.\n",
                self.terminal.bold(choice)
            )?;
            people = Some(pair.people);
        }
        if in_full == transcript.len() {
            return Ok(());
        }
        let mut table = if self.terminal.width < SIDE_BY_SIDE {
            Table::new(self.terminal, ["no.", "difference", "answer", "ratio so far"])
        } else {
            let headings = ["no.", "out of", "A: missed", "false alarms", "B: missed", "false alarms"];
            Table::new(self.terminal, headings.into_iter().chain(["answer", "ratio so far"]))
        };
        for (n, answered) in transcript.iter().enumerate().skip(in_full) {
            let pair = self.pair(&answered.query);
            let mut row = vec![(n + 1).to_string()];
            if self.terminal.width < SIDE_BY_SIDE {
                let people = grouped(pair.people);
                row.push(format!("Of {people} {}, {}", wording().people, wording().difference(&pair)));
            } else {
                row.push(grouped(pair.people));
                for counts in [pair.first, pair.second] {
                    row.extend([counts.missed(), counts.false_alarms()].map(grouped));
                }
            }
            row.extend([letter(answered.preference).to_owned(), agreeing(&transcript[..=n])]);
            table.row(row);
        }
        writeln!(out, "{table}")
    }

    /// A question as flow charts. `before` is the number of people the one before was about.
    fn write_question(
        &self,
        number: usize,
        pair: &Pair,
        before: Option<u64>,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let now = if before.is_some_and(|before| before != pair.people) { "now " } else { "" };
        let (most, people) = (most_questions(), grouped(pair.people));
        let heading =
            format!("Question {number} of at most {most}, {now}out of {people} {}", wording().people);
        writeln!(out, "{}", self.terminal.bold(&heading))?;
        write!(out, "{}", wording().charts(pair, self.terminal))?;
        writeln!(out, "  {}", wording().difference(pair))
    }

    fn write_result(
        &self,
        outcome: &Outcome,
        transcript: &[Answered],
        hidden: Option<&Metric>,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let ratio = recovered(outcome);
        let agreeing = Agreeing::with(transcript);
        let is_supported = agreeing.is_some_and(|range| range.supports(ratio));
        let answer = self.terminal.entry(INDENT, "Recovered", &wording().exchange(ratio, agreeing));
        writeln!(out, "{}", self.terminal.bold(answer.trim_end()))?;
        let mut entry = |name: &str, text: &str| write!(out, "{}", self.terminal.entry(INDENT, name, text));
        if self.global.quiet {
            return Ok(());
        }
        match agreeing {
            Some(range) if is_supported => {
                entry("", &format!("every answer agrees with a ratio of {range}"))?
            }
            Some(_) => {}
            None => entry("", "no ratio agrees with every answer, so take this with care")?,
        }
        let asked = transcript.len().to_string();
        match hidden {
            Some(hidden) => {
                let given = as_typed(self.args.ratio);
                entry("Hidden", &format!("{given} (what the simulated expert was given)"))?;
                let Antipodal { queries, ratio } = self.antipodal(hidden);
                let ratio = two_digits(ratio);
                let other =
                    format!("the antipodal search, one per halving, asks {queries} and finds {ratio}");
                entry("Questions", &format!("{asked}; {other}"))?;
            }
            None => entry("Questions", &asked)?,
        }
        if is_supported {
            let best = Counts::new(&self.space.extreme([ratio, 1.0]), self.space.positive_prior(), 1_000);
            let (risk, mistakes) = (two_digits(100.0 / (1.0 + ratio)), wording().mistakes(&best));
            entry("Best", &format!("predict cancer from a risk of {risk} % on: {mistakes} of 1,000 people"))?;
        }
        Ok(())
    }

    fn antipodal(&self, hidden: &Metric) -> Antipodal {
        let mut expert = Counting::new(Simulated::new(hidden.clone()));
        let Ok(outcome) = plan(&self.space).antipodal().run(&mut expert);
        Antipodal { queries: expert.asked(), ratio: recovered(&outcome) }
    }

    fn write_picture(&self, transcript: &[Answered], outcome: &Outcome) -> Result<Option<&Path>> {
        if self.args.no_svg {
            return Ok(None);
        }
        files::write(&self.args.svg, &picture::of(&self.space, transcript, recovered(outcome)))?;
        Ok(Some(&self.args.svg))
    }

    fn point_to_picture(&self, path: Option<&Path>, out: &mut dyn Write) -> std::io::Result<()> {
        match path {
            Some(path) if !self.global.quiet => writeln!(out, "Picture    {}", path.display()),
            _ => Ok(()),
        }
    }
}

fn agreeing(transcript: &[Answered]) -> String {
    match Agreeing::with(transcript) {
        Some(agreeing) => agreeing.to_string(),
        None => "none agrees with all answers".to_owned(),
    }
}

/// A ratio as it was typed, where that is short.
fn as_typed(ratio: f64) -> String {
    let typed = ratio.to_string();
    if typed.len() <= 6 { typed } else { two_digits(ratio) }
}
