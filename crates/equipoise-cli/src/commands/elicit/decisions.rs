//! `equipoise elicit --from-decisions`: the cost ratio at which decisions that were made make sense.

use super::record;
use crate::args::{Elicit, Global};
use crate::counts::grouped;
use crate::fault::{FINDING, Fault};
use crate::ratio::two_digits;
use crate::table::Table;
use crate::tables::TableColumns;
use crate::terminal::Terminal;
use crate::{files, fingerprint, json, tables};
use anyhow::{Context as _, Result};
use equipoise::ask::NoiseModel;
use equipoise::engine::{Decisions, Tendency};
use equipoise::{FORMAT, Metric};
use equipoise_data::{Note, read};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::Write;
use std::process::ExitCode;

/// What columns of decisions are usually called.
const USUAL: [&str; 10] = [
    "decision",
    "decided",
    "action",
    "acted",
    "act",
    "treated",
    "treatment",
    "choice",
    "referred",
    "flagged",
];

/// Where the text of "Recovered" and the like begins.
const INDENT: usize = 11;
/// People in the table; `--json` has all.
const MOST_PEOPLE: usize = 30;
/// People differ where ratios of their own explain the decisions this much better than one for all.
const DIFFER: f64 = 10.0;

/// A ratio and what it comes to.
#[derive(Debug, Serialize)]
struct Found {
    decisions: usize,
    ratio: Ratio,
    /// The risk from which on whoever holds the ratio acts.
    threshold: f64,
    /// How many decisions are those of the threshold.
    agreeing: usize,
    /// Whether decisions have to do with the score: `follows`, `reversed` or `none`.
    tendency: &'static str,
    noise: NoiseModel,
}

#[derive(Debug, Serialize)]
struct Ratio {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    level: f64,
}

/// A person's.
#[derive(Debug, Serialize)]
struct Person {
    name: String,
    #[serde(flatten)]
    found: Found,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    format: u64,
    done: bool,
    table: String,
    /// What acting is called, and what not acting.
    act: &'a str,
    leave: &'a str,
    sentence: String,
    /// Missing where the decisions do not follow the score.
    metric: Option<Metric>,
    #[serde(flatten)]
    found: Found,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by: Vec<Person>,
    findings: Vec<String>,
    /// Whether the exit code is 1.
    needs_attention: bool,
    notes: &'a [Note],
    metric_file: Option<String>,
}

impl Found {
    fn of(found: &Decisions, decisions: usize) -> Self {
        let [low, high] = found.interval();
        Self {
            decisions,
            ratio: Ratio { value: found.ratio(), low, high, level: 0.95 },
            threshold: found.threshold(),
            agreeing: found.agreeing(),
            tendency: match found.tendency() {
                Tendency::Follows => "follows",
                Tendency::Reversed => "reversed",
                Tendency::None => "none",
            },
            noise: found.noise(),
        }
    }

    /// "4.5 to 10", "at least 4.5".
    fn interval(&self) -> String {
        match [self.ratio.low, self.ratio.high].map(|end| end.map(two_digits)) {
            [Some(low), Some(high)] => format!("{low} to {high}"),
            [Some(low), None] => format!("at least {low}"),
            [None, Some(high)] => format!("at most {high}"),
            [None, None] => "not bounded".to_owned(),
        }
    }

    /// The risk from which on somebody acts, with its ends.
    fn from(&self) -> String {
        let risk = |ratio: f64| format!("{} %", two_digits(100.0 / (1.0 + ratio)));
        match [self.ratio.high, self.ratio.low].map(|end| end.map(risk)) {
            [Some(low), Some(high)] => format!("{} ({low} to {high})", risk(self.ratio.value)),
            [None, Some(high)] => format!("at most {high}"),
            [Some(low), None] => format!("at least {low}"),
            [None, None] => "not known".to_owned(),
        }
    }

    fn sentence(&self) -> String {
        let [about, interval] = [two_digits(self.ratio.value), self.interval()];
        match (self.ratio.low, self.ratio.high) {
            (Some(_), Some(_)) => format!(
                "these decisions make sense to whoever accepts about {about} false alarms to avoid one missed case (95 % interval \
                 {interval})"
            ),
            (None, None) => {
                "these decisions do not say how many false alarms one missed case is worth".to_owned()
            }
            _ => format!(
                "these decisions make sense to whoever accepts {interval} false alarms to avoid one missed case; all scores lie to \
                 one side of the threshold, so nothing sets the other end"
            ),
        }
    }
}

/// Runs the command.
pub fn run(args: &Elicit, global: &Global) -> Result<ExitCode> {
    let columns = columns(args)?;
    let out = record::place_of_metric(args.out.as_deref(), &args.table)?;
    let file = files::name(&args.table);
    let reading = columns
        .read_quietly(&args.table, global)
        .with_context(|| "as a table of decisions, whose \"truth\" is what was decided".to_owned())?;
    let (table, mut notes) = (reading.data.table(), reading.notes);
    let [leave, act] = table.classes() else {
        let kinds = table.classes();
        let what =
            format!("{file}: found {} kinds of decision ({}), expected 2", kinds.len(), kinds.join(", "));
        return Err(Fault::usage(what).into());
    };
    notes.push(Note::Choice(format!(
        "acting is taken to be {act}, and not acting {leave} (--positive names the other)"
    )));
    tables::say(&notes, global);
    let risks = table.probabilities(1);
    let cases: Vec<(f64, bool)> =
        risks.iter().zip(table.truth()).map(|(&risk, &class)| (risk, class == 1)).collect();
    let all = Decisions::new(&cases)?;
    let mut findings = vec![];
    let by = match table.groups() {
        Some(people) => {
            let parts = people.names().iter().enumerate().map(|(n, name)| {
                let own = cases.iter().zip(people.codes()).filter(|(_, code)| usize::from(**code) == n);
                (name.clone(), own.map(|(case, _)| *case).collect::<Vec<_>>())
            });
            each(parts.collect(), &all, &mut findings)?
        }
        None => vec![],
    };
    let found = Found::of(&all, cases.len());
    let one_sided = found.ratio.low.is_none() || found.ratio.high.is_none();
    let withheld = match all.tendency() {
        Tendency::Follows => None,
        Tendency::Reversed => Some(format!(
            "the decisions run against the score: {act} where it is small. --positive {leave} takes {leave} for acting; or the score \
             is that of the other class"
        )),
        Tendency::None => Some(format!(
            "the decisions do not follow the score: one chance to act for all {} cases explains them as well",
            grouped(cases.len() as u64)
        )),
    };
    let sentence = withheld.as_ref().map_or_else(|| found.sentence(), |why| format!("no metric: {why}"));
    let metric = match &withheld {
        None => Some(all.metric()?.with_provenance(provenance(args, cases.len(), &cases))),
        Some(_) => None,
    };
    if let Some(metric) = &metric {
        files::write(&out, &(serde_json::to_string_pretty(metric)? + "\n"))?;
    }
    let report = Report {
        format: FORMAT,
        done: true,
        table: file,
        act,
        leave,
        sentence,
        metric_file: metric.as_ref().map(|_| out.display().to_string()),
        metric,
        found,
        by,
        findings,
        needs_attention: withheld.is_some() || one_sided,
        notes: &notes,
    };
    let mut out = std::io::stdout().lock();
    match global.json {
        true => json::write(&report, &mut out)?,
        false => report.write(global.quiet, Terminal::detect(), &mut out)?,
    }
    Ok(if report.needs_attention { ExitCode::from(FINDING) } else { ExitCode::SUCCESS })
}

/// A table of decisions is a table of predictions whose true class is the decision, and whose groups are the people.
fn columns(args: &Elicit) -> Result<TableColumns> {
    let (file, header) = (files::name(&args.table), read::header(&args.table)?);
    let called = |names: &[&str]| -> Vec<&str> {
        let is_one = |name: &&str| names.contains(&name.trim().to_lowercase().as_str());
        header.iter().map(String::as_str).filter(is_one).collect()
    };
    let decision = match (&args.decision, &called(&USUAL)[..]) {
        (Some(decision), _) => decision.clone(),
        (None, [one]) => (*one).to_owned(),
        (None, []) => {
            let what = format!(
                "{file}: no column has a name decisions usually have ({}), found {}; --decision names it",
                USUAL.join(", "),
                header.join(", ")
            );
            return Err(Fault::input_output(what).into());
        }
        (None, several) => {
            let names = several.join(" and ");
            let what = format!("{file}: {names} could each be the decisions; --decision names the right one");
            return Err(Fault::input_output(what).into());
        }
    };
    // Whoever decides calls a probability a risk.
    let risk = called(&["risk"]).first().map(|risk| vec![(*risk).to_owned()]);
    let group = args.by.clone().map(|by| vec![by]);
    Ok(TableColumns {
        truth: Some(decision),
        no_group: group.is_none(),
        group,
        no_weight: true,
        scores: args.columns.scores.clone().or(risk),
        ..args.columns.clone()
    })
}

/// Every person by themselves, those with most decisions first.
fn each(
    parts: Vec<(String, Vec<(f64, bool)>)>,
    all: &Decisions,
    findings: &mut Vec<String>,
) -> Result<Vec<Person>> {
    let (mut people, mut evidence, mut stray) = (vec![], 0.0, vec![]);
    for (name, cases) in parts.into_iter().filter(|(_, cases)| !cases.is_empty()) {
        let found = Decisions::new(&cases)?;
        evidence += found.evidence();
        if found.tendency() != Tendency::Follows {
            stray.push(name.clone());
        }
        people.push(Person { name, found: Found::of(&found, cases.len()) });
    }
    people.sort_by(|a, b| b.found.decisions.cmp(&a.found.decisions).then(a.name.cmp(&b.name)));
    if evidence - all.evidence() > DIFFER.ln() {
        findings.push(
            "people hold different ratios: one for all explains their decisions far less well, and is nobody's".to_owned(),
        );
    }
    if !stray.is_empty() {
        let (some, more) = stray.split_at(stray.len().min(5));
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        findings.push(format!("nothing says that these follow the score: {}{more}", some.join(", ")));
    }
    Ok(people)
}

/// Where the metric comes from.
fn provenance(args: &Elicit, decisions: usize, cases: &[(f64, bool)]) -> Map<String, Value> {
    let mut from = Map::new();
    let mut put = |field: &str, value: Value| from.insert(field.to_owned(), value);
    put("made_by", concat!("equipoise ", env!("CARGO_PKG_VERSION")).into());
    put("table", super::task::file_name(&args.table).into());
    put("method", "decisions".into());
    put("decisions", decisions.into());
    put("transcript", fingerprint::of(&format!("{cases:?}")).into());
    from
}

impl Report<'_> {
    /// Writes it for people.
    fn write(&self, quiet: bool, terminal: Terminal, out: &mut dyn Write) -> std::io::Result<()> {
        let entry = |name: &str, text: &str| terminal.entry(INDENT, name, text);
        writeln!(out, "{}", terminal.bold(entry("Recovered", &self.sentence).trim_end()))?;
        let found = &self.found;
        if self.metric.is_some() {
            let [agreeing, all] = [found.agreeing, found.decisions].map(|count| grouped(count as u64));
            let rule = format!(
                "{} from a score of {} on; {agreeing} of {all} decisions agree with that",
                self.act,
                found.from()
            );
            write!(out, "{}", entry("Rule", &rule))?;
        }
        if !self.by.is_empty() {
            let mut table = Table::new(
                terminal,
                ["by", "decisions", "cost ratio", "95 % interval", "acts from a score of"],
            );
            for Person { name, found } in self.by.iter().take(MOST_PEOPLE) {
                let (count, ratio) = (grouped(found.decisions as u64), two_digits(found.ratio.value));
                table.row([name.clone(), count, ratio, found.interval(), found.from()]);
            }
            writeln!(out, "\n{table}")?;
            if self.by.len() > MOST_PEOPLE {
                writeln!(out, "and {} more; --json prints all\n", self.by.len() - MOST_PEOPLE)?;
            }
        }
        for finding in &self.findings {
            write!(out, "{}", entry("Note", finding))?;
        }
        if quiet {
            return Ok(());
        }
        if let (NoiseModel::Relative { slope, lapse }, true) = (found.noise, self.metric.is_some()) {
            // What is told apart nine times in ten; a written rule tells everything apart.
            let apart = match (9.0_f64.ln() / slope).exp() {
                factor if factor < 1.05 => "the rest is as if by a written rule".to_owned(),
                factor => format!(
                    "odds that differ from the threshold's by a factor of {} are told apart nine times in ten",
                    two_digits(factor)
                ),
            };
            let noise = format!("about {} % slips; {apart}", two_digits(100.0 * lapse));
            write!(out, "{}", entry("Noise", &noise))?;
            let assumed = "the score is the risk as it was known when the decision was made";
            write!(out, "{}", entry("Assumed", assumed))?;
        }
        self.metric_file.as_ref().map_or(Ok(()), |file| write!(out, "{}", entry("Metric", file)))
    }
}
