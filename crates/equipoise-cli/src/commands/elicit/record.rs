//! The file that keeps an interview: which table and space it is about, the plan, and the answers so far.

use super::task::Task;
use crate::fault::Fault;
use crate::sides::Sides;
use crate::{files, fingerprint, prompt};
use anyhow::{Context as _, Result};
use equipoise::ask::Finding;
use equipoise::population::Population as _;
use equipoise::{Answer, Answered, AnyPlan, Interview, Oracle, Plan as _, Query, Step};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// A saved interview.
pub struct Saved {
    /// The plan and the answers.
    pub interview: Interview<AnyPlan>,
    /// The short name of its space.
    pub space: String,
    /// The classifier that questions are asked around, in the words of the command line.
    pub around: Option<String>,
    /// Which classifier of a question stands on which side.
    pub sides: Sides,
    /// Answers that belong to another end of the questions: checks that came after fewer, or questions beyond it.
    pub set_aside: Vec<Answered>,
    /// How many probes a plan had whose answers were checked by them and end sooner now.
    pub checked: Option<usize>,
}

impl Saved {
    /// Reads what [`write`] wrote.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&files::read(path)?).with_context(|| files::name(path))
    }

    fn parse(text: &str) -> Result<Self> {
        let mut document: Value =
            serde_json::from_str(text).map_err(|e| Fault::input_output(format!("not valid JSON: {e}")))?;
        let mut take = |field: &str| document.as_object_mut().and_then(|fields| fields.remove(field));
        let space = take("space").and_then(|space| Some(space.as_str()?.to_owned()));
        take("table");
        let around = take("around").and_then(|around| Some(around.as_str()?.to_owned()));
        let sides = take("sides").and_then(|seed| seed.as_u64()).map_or(Sides::as_asked(), Sides::seeded);
        let set_aside = take("set_aside").map_or(Ok(vec![]), serde_json::from_value);
        let set_aside = set_aside.map_err(|e| Fault::input_output(format!("set_aside: {e}")))?;
        let checked = take("checked").and_then(|probes| Some(probes.as_u64()? as usize));
        let interview = Interview::from_json(&document.to_string())?;
        let space =
            space.ok_or_else(|| Fault::input_output("space is missing, expected the name of a space"))?;
        Ok(Self { interview, space, around, sides, set_aside, checked })
    }

    /// How many probes the answers were checked by, at their end or at one before, if these had nothing to object.
    pub fn checked(&self) -> Result<Option<usize>> {
        if self.checked.is_some() {
            return Ok(self.checked);
        }
        let Step::Done(outcome) = self.interview.step()? else { return Ok(None) };
        let objects = |finding: &Finding| {
            matches!(
                finding,
                Finding::LikeChance { .. } | Finding::ProbesObject { .. } | Finding::NotLinear { .. }
            )
        };
        let plan = serde_json::to_value(self.interview.plan())?;
        let probes = plan["probes"].as_u64().map(|probes| probes as usize);
        Ok(probes.filter(|probes| *probes > 0 && !outcome.findings.iter().any(objects)))
    }

    /// The answers that belong to a plan, which may end later or sooner than the one they were given to, and those that do
    /// not, in order.
    pub fn belonging_to(&self, plan: &AnyPlan) -> Result<(Vec<Answered>, Vec<Answered>)> {
        // What does not belong to its own plan is a broken record.
        self.interview.step()?;
        let transcript = self.interview.transcript();
        if plan == self.interview.plan() {
            return Ok((transcript.to_vec(), self.set_aside.clone()));
        }
        let all: Vec<Answered> = transcript.iter().chain(&self.set_aside).cloned().collect();
        let (kept, aside) = all.split_at(that_belong(&all, plan));
        Ok((kept.to_vec(), aside.to_vec()))
    }
}

/// How many of the answers, from the first on, are to questions that a plan asks.
pub fn that_belong(answers: &[Answered], plan: &AnyPlan) -> usize {
    let mut fits = Fits { all: answers, count: 0 };
    let _ = plan.run(&mut fits);
    fits.count
}

/// Counts the recorded answers that a plan asks for.
struct Fits<'a> {
    all: &'a [Answered],
    count: usize,
}

impl Oracle for Fits<'_> {
    type Err = ();

    fn prefer(&mut self, query: &Query) -> Result<Answer, ()> {
        let answered = self.all.get(self.count).ok_or(())?;
        let answer = answered.answer_to(self.count + 1, query).map_err(|_| ())?;
        self.count += 1;
        Ok(answer)
    }
}

/// The whole record as text.
fn text(task: &Task, transcript: &[Answered]) -> Result<String> {
    let (rows, groups) = (task.sample.totals()?.overall().rows, task.sample.group_names());
    let mut document = Map::new();
    document.insert("format".to_owned(), json!(equipoise::FORMAT));
    let about = json!({
        "name": task.table,
        "rows": rows,
        "classes": task.sample.class_names(),
        "groups": (!groups.is_empty()).then_some(groups),
    });
    document.insert("table".to_owned(), about);
    document.insert("space".to_owned(), json!(task.space));
    if let Some(around) = &task.around {
        document.insert("around".to_owned(), json!(around));
    }
    if let Some(seed) = task.sides.seed() {
        document.insert("sides".to_owned(), json!(seed));
    }
    document.insert("plan".to_owned(), task.plan_document());
    document.insert("transcript".to_owned(), serde_json::to_value(transcript)?);
    if let Some(probes) = task.checked {
        document.insert("checked".to_owned(), json!(probes));
    }
    if !task.set_aside.is_empty() {
        document.insert("set_aside".to_owned(), serde_json::to_value(&task.set_aside)?);
    }
    Ok(serde_json::to_string(&document)? + "\n")
}

/// Keeps the answers.
pub fn write(path: &Path, task: &Task, transcript: &[Answered]) -> Result<()> {
    files::write(path, &text(task, transcript)?)
}

/// The short name of a transcript, for the metric that came from it.
pub fn fingerprint(task: &Task, transcript: &[Answered]) -> Result<String> {
    Ok(fingerprint::of(&text(task, transcript)?))
}

/// A new interview may take the place of none, of an empty one, or of one that has come to its end.
pub fn refuse_to_lose_answers(path: &Path) -> Result<()> {
    prompt::refuse_to_lose_answers(path, |text| Ok(Saved::parse(text)?.interview))
}

/// Where the metric of a table is written: where somebody says, or `metric.json`, or beside it where that is another table's.
pub fn place_of_metric(said: Option<&Path>, table: &Path) -> Result<PathBuf> {
    let usual = PathBuf::from("metric.json");
    let place = match said {
        Some(said) => said.to_owned(),
        None if refuse_to_lose_metric(&usual, table).is_ok() => usual,
        None => PathBuf::from(crate::commands::models::stem(table) + ".metric.json"),
    };
    refuse_to_lose_metric(&place, table).map(|()| place)
}

/// A metric may take the place of none, or of one that was elicited with the same table before.
pub fn refuse_to_lose_metric(path: &Path, table: &Path) -> Result<()> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
    let provenance =
        serde_json::from_str::<Value>(&text).map_or(Value::Null, |old| old["provenance"].clone());
    let what = match provenance["table"].as_str() {
        _ if !provenance["transcript"].is_string() => "is no metric that was elicited".to_owned(),
        Some(other) if Path::new(other).file_name() != table.file_name() => {
            format!("was elicited with {other}, not with {}", files::name(table))
        }
        _ => return Ok(()),
    };
    let name = files::name(path);
    Err(Fault::usage(format!("{name} is there already and {what}; --out FILE names another")).into())
}
