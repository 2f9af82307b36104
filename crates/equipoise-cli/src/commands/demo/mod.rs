//! `equipoise demo`: a metric recovered from comparisons, by a simulated expert or the person at the keyboard.

mod ask;
mod document;
mod picture;
mod published;
mod web;

use crate::args::{Demo, Global};
use crate::counts::{Counts, DIFFERENT, Pair, grouped, people_for};
use crate::fault::FINDING;
use crate::prompt::Presented;
use crate::ratio::{self, two_digits};
use crate::render::{Noun, SIDE_BY_SIDE, Wording, letter};
use crate::sides::Sides;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{files, json};
use anyhow::Result;
use document::Document;
use equipoise::ask::{Finding, Simulated};
use equipoise::engine::Adaptive;
use equipoise::population::Logistic;
use equipoise::space::{Binary, Space as _};
use equipoise::{Answer, Answered, AnyPlan, Interview, Metric, Oracle as _, Outcome, Query, Sense, Step};
use published::Published;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use super::elicit::goal::regret_in_words;
use super::elicit::known::Known;
use super::elicit::length::Length;

/// Where the text of "Recovered", "Questions" and the like begins.
const INDENT: usize = 11;

/// How many questions are shown in full unless all are asked for.
const IN_FULL: usize = 3;

/// Runs the command.
pub fn run(args: &Demo, global: &Global) -> Result<ExitCode> {
    if args.web {
        return web::run(args, global);
    }
    let space = screening();
    let plan = Adaptive::ratio(space.clone());
    let people = people_for(&plan, space.positive_prior());
    let plan = AnyPlan::Adaptive(plan);
    let demo = Session { space, plan, people, terminal: Terminal::detect(), args, global };
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

fn with_class_names(outcome: Outcome) -> equipoise::Result<Outcome> {
    let metric = outcome.metric.with_class_names(class_names())?;
    Ok(Outcome { metric, ..outcome })
}

/// How many false alarms a missed cancer is worth, as a plan found it.
fn recovered(metric: &Metric) -> f64 {
    ratio::of(metric).expect("the plan elicits a two-class linear metric")
}

/// The ends of the interval, the upper one infinite if there is none.
fn ends(metric: &Metric) -> Option<[f64; 2]> {
    metric.interval().map(|interval| [interval.low(), interval.high().unwrap_or(f64::INFINITY)])
}

/// One run of the demo.
struct Session<'a> {
    space: Binary,
    plan: AnyPlan,
    /// How many people all questions are about.
    people: u64,
    terminal: Terminal,
    args: &'a Demo,
    global: &'a Global,
}

impl Session<'_> {
    /// A question as it is shown.
    fn present(&self, asked: &[Answered], query: &Query) -> (Pair, Presented) {
        let turn = Sides::as_asked().of(asked.len() + 1);
        let prior = self.space.positive_prior();
        let fewest = asked.iter().map(|answered| &answered.query).chain([query]);
        let people = fewest.map(|query| Pair::fewest(query, prior, DIFFERENT)).fold(self.people, u64::max);
        let pair = Pair::among(&turn.pair(query), prior, people);
        let shown = Some(turn.pair(&pair.to_query()));
        (pair, Presented { turn, shown })
    }

    fn simulate(&self) -> Result<ExitCode> {
        let hidden = Metric::linear(self.space.view(), Sense::Utility, vec![self.args.ratio, 1.0])?
            .with_class_names(class_names())?;
        let mut expert = Simulated::new(hidden.clone());
        let mut interview = Interview::new(self.plan.clone());
        let outcome = loop {
            match interview.step()? {
                Step::Ask(query) => {
                    let (_, presented) = self.present(interview.transcript(), &query);
                    // The expert looks at what is shown, as anybody would.
                    let Ok(answer) = expert.prefer(presented.shown.as_ref().unwrap_or(&query));
                    interview.answer(Answer { shown: presented.shown, ..answer })?;
                }
                Step::Done(outcome) => break with_class_names(outcome)?,
            }
        };
        let mut out = std::io::stdout().lock();
        let transcript = interview.transcript();
        let picture = self.write_picture(transcript, &outcome)?;
        if self.global.json {
            let document = Document::new(self, &outcome, transcript, Some(&hidden), picture);
            json::write(&document, &mut out)?;
            return Ok(code(&outcome));
        }
        if !self.global.quiet {
            self.introduce_expert(&mut out)?;
            self.write_transcript(transcript, &mut out)?;
        }
        self.write_result(&outcome, transcript, Some(&hidden), &mut out)?;
        self.point_to_picture(picture, &mut out)?;
        if !self.global.quiet {
            self.write_what_next(&mut out)?;
        }
        Ok(code(&outcome))
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

    /// "Cost ratio so far: 1.7 to 90 (95 %)."
    fn so_far(&self, known: &Known, transcript: &[Answered]) -> String {
        known
            .interval(transcript)
            .map_or(String::new(), |[low, high]| format!("{} to {}", two_digits(low), two_digits(high)))
    }

    fn write_transcript(&self, transcript: &[Answered], out: &mut dyn Write) -> std::io::Result<()> {
        let in_full = if self.args.all { transcript.len() } else { IN_FULL.min(transcript.len()) };
        let known = Known::new(&self.plan);
        for n in 0..in_full {
            let (asked, answered) = (&transcript[..n], &transcript[n]);
            let (pair, presented) = self.present(asked, &answered.query);
            let length = known.about(asked).map(Length::About);
            self.write_question(n + 1, length, &pair, out)?;
            let choice = letter(presented.turn.preference(answered.preference));
            let so_far = self.so_far(&known, &transcript[..=n]);
            let choice = self.terminal.bold(choice);
            writeln!(out, "  The expert prefers {choice}. Cost ratio so far: {so_far} (95 %).\n")?;
        }
        if in_full == transcript.len() {
            return Ok(());
        }
        let mut table = if self.terminal.width < SIDE_BY_SIDE {
            Table::new(self.terminal, ["no.", "difference", "answer", "ratio so far"])
        } else {
            let headings = ["no.", "A: missed", "false alarms", "B: missed", "false alarms"];
            Table::new(self.terminal, headings.into_iter().chain(["answer", "ratio so far"]))
        };
        for (n, answered) in transcript.iter().enumerate().skip(in_full) {
            let (pair, presented) = self.present(&transcript[..n], &answered.query);
            let mut row = vec![(n + 1).to_string()];
            if self.terminal.width < SIDE_BY_SIDE {
                row.push(wording().difference(&pair));
            } else {
                for counts in [pair.first, pair.second] {
                    row.extend([counts.missed(), counts.false_alarms()].map(grouped));
                }
            }
            let choice = letter(presented.turn.preference(answered.preference)).to_owned();
            row.extend([choice, self.so_far(&known, &transcript[..=n])]);
            table.row(row);
        }
        writeln!(out, "{table}")
    }

    /// A question as flow charts.
    fn write_question(
        &self,
        number: usize,
        length: Option<Length>,
        pair: &Pair,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let length = length.map_or(String::new(), |length| format!(" {}", length.at_least(number)));
        let heading =
            format!("Question {number}{length}, out of {} {}", grouped(pair.people), wording().people);
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
        let ratio = recovered(&outcome.metric);
        let chance = outcome.findings.iter().find(|finding| matches!(finding, Finding::LikeChance { .. }));
        if let Some(chance) = chance {
            let text = format!("no metric: {chance}");
            return write!(out, "{}", self.terminal.entry(INDENT, "Recovered", &text));
        }
        let sentence = wording().exchange(ratio, ends(&outcome.metric));
        let answer = self.terminal.entry(INDENT, "Recovered", &sentence);
        writeln!(out, "{}", self.terminal.bold(answer.trim_end()))?;
        if self.global.quiet {
            return Ok(());
        }
        let mut entry = |name: &str, text: &str| write!(out, "{}", self.terminal.entry(INDENT, name, text));
        if hidden.is_some() {
            let given = as_typed(self.args.ratio);
            entry("Hidden", &format!("{given} (what the simulated expert was given)"))?;
        }
        let best = Counts::new(&self.space.extreme([ratio, 1.0]), self.space.positive_prior(), 1_000);
        let (risk, mistakes) = (two_digits(100.0 / (1.0 + ratio)), wording().mistakes(&best));
        entry("Rule", &format!("predict cancer from a risk of {risk} % on: {mistakes} of 1,000 people"))?;
        for finding in &outcome.findings {
            if let Finding::Regret { expected, bound } = *finding {
                entry("Regret", &regret_in_words(expected, bound))?;
            }
        }
        entry("Questions", &transcript.len().to_string())?;
        for finding in &outcome.findings {
            if finding.is_ambiguity() || matches!(finding, Finding::Contradicted { .. }) {
                entry("Note", &finding.to_string())?;
            }
        }
        if let Some(hidden) = hidden {
            entry("Published", &Published::of(&self.space, hidden).to_string())?;
        }
        Ok(())
    }

    /// What to do now.
    fn write_what_next(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(
            out,
            "\nNow you: equipoise demo --ask\n\nWith your own predictions, a file with the true class and the predicted \
             probability of every case:\n  equipoise inspect val.csv                            what they allow\n  \
             equipoise elicit val.csv                             your metric, from about as many questions\n  \
             equipoise threshold val.csv --metric metric.json     where to cut the probability"
        )
    }

    fn write_picture(&self, transcript: &[Answered], outcome: &Outcome) -> Result<Option<&Path>> {
        if self.args.no_svg {
            return Ok(None);
        }
        let ratio = recovered(&outcome.metric);
        files::write(&self.args.svg, &picture::of(&self.space, transcript, ratio))?;
        Ok(Some(&self.args.svg))
    }

    fn point_to_picture(&self, path: Option<&Path>, out: &mut dyn Write) -> std::io::Result<()> {
        match path {
            Some(path) if !self.global.quiet => writeln!(out, "Picture    {}", path.display()),
            _ => Ok(()),
        }
    }
}

/// 1 where the answers do not single out a ratio.
fn code(outcome: &Outcome) -> ExitCode {
    if outcome.identifiable() { ExitCode::SUCCESS } else { ExitCode::from(FINDING) }
}

/// A ratio as it was typed, where that is short.
fn as_typed(ratio: f64) -> String {
    let typed = ratio.to_string();
    if typed.len() <= 6 { typed } else { two_digits(ratio) }
}
