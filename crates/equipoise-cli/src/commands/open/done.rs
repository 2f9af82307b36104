//! What came out of the answers: as the page shows it, as files, and the models in its order.

use super::asked::{Asked, free};
use super::session::Place;
use crate::args::{Form, Global, Judged};
use crate::commands::elicit::record;
use crate::commands::elicit::report::{About, Report};
use crate::commands::models::{Models, stem};
use crate::commands::{rank, scorer, threshold};
use crate::files;
use crate::page::{Format, Page};
use crate::tables::{Streaming, TableColumns};
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::{Metric, Outcome};
use equipoise_data::{Note, Sample, Table};
use equipoise_plot::escape;
use equipoise_server::open as view;
use std::path::{Path, PathBuf};

/// Draws of the metric that the Python scorer knows, as many as the command writes.
const SCORER_DRAWS: usize = 1_000;

/// Sentences that the page tells in a place of their own.
const ELSEWHERE: [&str; 4] = ["Rule", "Missing", "Metric", "Answers"];

/// What came out.
pub struct Done {
    sentence: Option<String>,
    gravity: Option<(String, String)>,
    rule: Option<String>,
    rule_table: Option<String>,
    entries: Vec<(&'static str, String)>,
    short_of: Option<String>,
    can_go_on: bool,
    thresholds: Option<String>,
    curve: Option<String>,
    ranking: Option<String>,
    metric: Option<(Metric, PathBuf)>,
}

impl Done {
    /// Writes the metric beside the answers, and finds out what follows from it.
    pub fn new(
        asked: &Asked,
        place: &Place,
        notes: &[Note],
        outcome: Outcome,
        seed: Option<u64>,
    ) -> Result<Self> {
        let may_be_taken = |path: &Path| record::refuse_to_lose_metric(path, Path::new(&place.name)).is_ok();
        let out = free(&place.folder().join("metric.json"), may_be_taken);
        let about = About {
            task: &asked.task,
            asker: &asked.asker,
            transcript: asked.interview.transcript(),
            hidden: None,
            notes,
            metric_file: out.display().to_string(),
            transcript_file: asked.save.display().to_string(),
        };
        let report = Report::new(about, outcome)?;
        let terminal = Terminal::detect();
        let (mut thresholds, mut curve) = (None, None);
        if let Some(metric) = report.metric() {
            files::write(&out, &(serde_json::to_string_pretty(metric)? + "\n"))?;
            match threshold::on_page(&asked.task.sample, metric, seed.unwrap_or(1)) {
                Ok((text, picture)) => (thresholds, curve) = (Some(text), picture),
                // A metric of gaps between groups, for one, has no rule of thresholds.
                Err(error) => thresholds = Some(format!("<p>{}</p>", escape(&format!("{error:#}")))),
            }
        }
        let all = report.entries();
        let named = |wanted: &str| all.iter().find(|(name, _)| *name == wanted).map(|(_, text)| text.clone());
        let goal = report.goal();
        Ok(Self {
            sentence: report.sentence().map(str::to_owned),
            gravity: report.gravity().filter(|_| report.sentence().is_none()).map(|gravity| {
                let counted = gravity.counted.as_ref().map(|text| format!("<p>{}</p>", escape(text)));
                (gravity.heading(), gravity.table(terminal).html() + &counted.unwrap_or_default())
            }),
            rule: named("Rule"),
            rule_table: report.rule().and_then(|rule| rule.table(terminal)).map(|table| table.html()),
            entries: all.iter().filter(|(name, _)| !ELSEWHERE.contains(name)).cloned().collect(),
            // Without a metric there is no rule that could cost more.
            short_of: goal.short_of.clone().filter(|_| report.metric().is_some()),
            can_go_on: goal.missing.as_ref().is_some_and(|missing| missing.contains("--resume")),
            thresholds,
            curve,
            ranking: None,
            metric: report.metric().map(|metric| (metric.clone(), out)),
        })
    }

    /// Puts models in the order of the metric; the first is the table's own.
    pub fn rank(
        &mut self,
        models: &[(String, Sample<Table>)],
        own: (&Place, &Sample<Table>),
        global: &Global,
    ) -> Result<()> {
        let Some((_, file)) = self.metric.as_ref().filter(|_| !models.is_empty()) else { return Ok(()) };
        let level = equipoise::decide::rank::LEVEL;
        let judged = Judged {
            metric: file.display().to_string(),
            threshold: None,
            model_columns: None,
            draws: None,
            level,
            form: Form::default(),
            columns: TableColumns::default(),
            streaming: Streaming::default(),
        };
        let mut tables = vec![(stem(&own.0.path), own.1.clone())];
        tables.extend(models.iter().cloned());
        // Notes are for whoever reads a terminal.
        let silent = Global { json: true, quiet: true, format: None, seed: global.seed };
        let models = Models::of_tables(tables, &judged, &silent)?;
        self.ranking = Some(rank::on_page(&models, level)?);
        Ok(())
    }

    /// What the page shows; `columns` may be other models of the same table.
    pub fn view(&self, place: &Place, columns: Vec<String>) -> view::Outcome {
        let mut all = vec![
            ("metric.json", "the metric, for every other command"),
            ("scorer.py", "the metric as one Python file without dependencies"),
            ("report.html", "this page as one file"),
        ];
        if self.metric.is_none() {
            all.clear();
        }
        all.push(("interview.json", "the answers, to go on with or to check"));
        view::Outcome {
            name: place.name.clone(),
            sentence: self.sentence.clone(),
            gravity: self.gravity.clone(),
            rule: self.rule.clone(),
            rule_table: self.rule_table.clone(),
            entries: self.entries.clone(),
            short_of: self.short_of.clone(),
            can_go_on: self.can_go_on,
            thresholds: self.thresholds.clone(),
            curve: self.curve.as_ref().map(|_| {
                "Decision curve: what is gained by acting on the probabilities, always and never, against the threshold".to_owned()
            }),
            ranking: self.ranking.clone(),
            columns: if self.metric.is_some() { columns } else { vec![] },
            files: all,
            folder: place.folder().display().to_string(),
            private: place.sent,
        }
    }

    /// What can be downloaded, by name.
    pub fn file(&self, name: &str, place: &Place, seed: Option<u64>) -> Result<Option<view::File>> {
        let file = |media_type: &'static str, text: String| {
            Some(view::File { media_type, content: text.into_bytes() })
        };
        Ok(match (name, &self.metric) {
            ("metric.json", Some((metric, _))) => {
                file("application/json", serde_json::to_string_pretty(metric)? + "\n")
            }
            ("scorer.py", Some((metric, _))) => {
                file("text/x-python", scorer::source(metric, SCORER_DRAWS, seed).0)
            }
            ("report.html", Some(_)) => file("text/html; charset=utf-8", self.report(place)?),
            ("curve.svg", _) => self.curve.clone().and_then(|curve| file("image/svg+xml", curve)),
            _ => None,
        })
    }

    /// Everything that is said, as one page.
    fn report(&self, place: &Place) -> Result<String> {
        let mut out = vec![];
        let mut page = Page::new(Format::Html, &format!("The metric found with {}", place.name), &mut out)?;
        if let Some(sentence) = &self.sentence {
            page.strong(sentence)?;
        }
        if let Some((heading, table)) = &self.gravity {
            page.strong(heading)?;
            page.raw(table)?;
        }
        if let Some(rule) = &self.rule {
            page.entry(0, "Rule", rule)?;
        }
        for text in self.rule_table.iter().chain(&self.ranking).chain(&self.thresholds).chain(&self.curve) {
            page.raw(text)?;
        }
        for (name, text) in &self.entries {
            page.entry(0, name, text)?;
        }
        if let Some(short_of) = &self.short_of {
            page.entry(0, "Missing", short_of)?;
        }
        page.end()?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}
