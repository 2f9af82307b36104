//! Two classes: where to cut.

use super::{INDENT, Task, percent, picture};
use crate::args::Global;
use crate::fault::FINDING;
use crate::page::Page;
use crate::progress::Progress;
use crate::table::Table;
use crate::terminal::Terminal;
use crate::{files, json, metrics};
use anyhow::Result;
use equipoise::decide::threshold::{Advice, Bayes, Bootstrap, Chosen, GroupAdvice, Optimum, Requirement};
use equipoise::population::Profile;
use equipoise::{GroupConfusions, Spread};
use equipoise_data::{Note, on_all_cores};
use serde::Serialize;
use std::process::ExitCode;

/// The whole document of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    format: u64,
    table: &'a str,
    metric: &'a equipoise::Metric,
    classes: &'a [String],
    groups: &'a [String],
    level: f64,
    draws: usize,
    #[serde(flatten)]
    advice: &'a Advice,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_group: Option<&'a GroupAdvice>,
    requirements: Vec<Kept>,
    decision_curve: &'a [CurvePoint],
    notes: &'a [Note],
    #[serde(skip_serializing_if = "Option::is_none")]
    svg: Option<String>,
}

/// What a requirement comes to at each threshold.
#[derive(Serialize)]
struct Kept {
    requirement: String,
    bayes: Option<f64>,
    measured: Option<f64>,
    per_group: Option<f64>,
}

/// What was found out about where to cut.
struct Found<'a> {
    advice: Advice,
    per_group: Option<GroupAdvice>,
    curve: Vec<CurvePoint>,
    profile: &'a Profile,
    at_bayes: Option<GroupConfusions>,
}

impl<'a> Found<'a> {
    fn of(task: &Task, profile: &'a Profile) -> Result<Self> {
        let doubt = Bootstrap {
            metric_draws: &task.metric_draws,
            resamples: task.draws,
            seed: task.seed,
            level: task.level,
            run: on_all_cores,
            ..Bootstrap::default()
        };
        // The search for groups is one thread's work for much of its time, so the other rule is found beside it.
        let (advice, per_group) = rayon::join(
            || profile.advise(&task.metric, &task.requirements, doubt),
            || task.per_group.then(|| profile.advise_per_group(&task.metric, &task.requirements, doubt)),
        );
        let (advice, per_group) = (advice?, per_group.transpose()?);
        let curve = curve(profile, advice.bayes.as_ref().ok())?;
        let at_bayes = advice.bayes.as_ref().ok().map(|b| profile.confusions_at(b.threshold)).transpose()?;
        Ok(Self { advice, per_group, curve, profile, at_bayes })
    }

    fn picture(&self, task: &Task) -> String {
        let positive = &task.classes[1];
        picture::of(&self.curve, self.advice.bayes.as_ref().ok(), positive, self.profile)
    }

    fn rules(&self) -> Rules<'_> {
        Rules { bayes: self.at_bayes.clone(), advice: &self.advice, per_group: self.per_group.as_ref() }
    }
}

/// What is printed as a part of a page, and the decision curve.
pub fn on_page(task: &Task, profile: &Profile) -> Result<(String, Option<String>)> {
    let found = Found::of(task, profile)?;
    let rules = found.rules();
    let text = Page::part("Thresholds", |page| {
        Text { task, rules: &rules, terminal: page.terminal }.write(&[], true, page)
    })?;
    Ok((text, Some(found.picture(task))))
}

pub fn run(task: &Task, profile: &Profile, global: &Global) -> Result<ExitCode> {
    let progress = Progress::spinner("trying thresholds", global.shows_progress());
    let found = Found::of(task, profile)?;
    drop(progress);
    if let Some(path) = task.svg {
        crate::picture::write(path, &found.picture(task))?;
    }
    let rules = found.rules();
    let requirements = task.requirements.iter().map(|r| rules.keep(r)).collect::<Result<Vec<_>>>()?;
    let Found { advice, per_group, curve, .. } = &found;
    let mut out = std::io::stdout().lock();
    if global.json {
        let document = Document {
            format: 1,
            table: &task.table,
            metric: &task.metric,
            classes: task.classes,
            groups: task.groups,
            level: task.level,
            draws: task.draws,
            advice,
            per_group: per_group.as_ref(),
            requirements,
            decision_curve: curve,
            notes: &task.notes,
            svg: task.svg.map(files::name),
        };
        json::write(&document, &mut out)?;
    } else {
        let mut page = Page::new(global.form(), &task.title(), &mut out)?;
        let text = Text { task, rules: &rules, terminal: page.terminal };
        text.write(&requirements, global.quiet, &mut page)?;
        page.end()?;
    }
    Ok(if rules.is_feasible() { ExitCode::SUCCESS } else { ExitCode::from(FINDING) })
}

/// The net benefits at one threshold probability: of acting from it on, always and never.
#[derive(Serialize)]
pub struct CurvePoint {
    pub threshold: f64,
    pub net_benefit: f64,
    pub treat_all: f64,
    pub treat_none: f64,
}

/// The decision curve in steps of a hundredth, and at the Bayes threshold.
fn curve(profile: &Profile, bayes: Option<&Bayes>) -> Result<Vec<CurvePoint>> {
    let mut thresholds: Vec<f64> = (0..100).map(|n| f64::from(n) / 100.0).collect();
    thresholds.extend(bayes.map(|bayes| bayes.threshold).filter(|at| (0.0..1.0).contains(at)));
    thresholds.sort_by(f64::total_cmp);
    thresholds.dedup();
    let curve = thresholds.iter().zip(profile.decision_curve(&thresholds)?);
    let point = |(&threshold, [net_benefit, treat_all]): (&f64, [f64; 2])| CurvePoint {
        threshold,
        net_benefit,
        treat_all,
        treat_none: 0.0,
    };
    Ok(curve.map(point).collect())
}

/// The rules found, with their confusion matrices.
struct Rules<'a> {
    bayes: Option<GroupConfusions>,
    advice: &'a Advice,
    per_group: Option<&'a GroupAdvice>,
}

impl Rules<'_> {
    fn measured(&self) -> Option<&GroupConfusions> {
        match &self.advice.best {
            Optimum::Found(best) => Some(&best.confusions),
            Optimum::Infeasible(_) => None,
        }
    }

    fn grouped(&self) -> Option<&GroupConfusions> {
        match &self.per_group?.best {
            Optimum::Found(best) => Some(&best.confusions),
            Optimum::Infeasible(_) => None,
        }
    }

    /// Whether what was asked for, one threshold or one per group, exists.
    fn is_feasible(&self) -> bool {
        match self.per_group {
            Some(_) => self.grouped().is_some(),
            None => self.measured().is_some(),
        }
    }

    fn keep(&self, requirement: &Requirement) -> Result<Kept> {
        let value =
            |matrix: Option<&GroupConfusions>| matrix.map_or(Ok(None), |matrix| requirement.value_of(matrix));
        Ok(Kept {
            requirement: requirement.to_string(),
            bayes: value(self.bayes.as_ref())?,
            measured: value(self.measured())?,
            per_group: value(self.grouped())?,
        })
    }
}

/// What is printed for people.
struct Text<'a> {
    task: &'a Task<'a>,
    rules: &'a Rules<'a>,
    terminal: Terminal,
}

impl Text<'_> {
    fn write(&self, requirements: &[Kept], quiet: bool, out: &mut Page) -> Result<()> {
        let advice = self.rules.advice;
        if !quiet {
            out.entry(INDENT, "Metric", &self.task.metric_in_words())?;
            let [_, positive] = self.classes();
            let rule = format!("predict {positive} where its probability is at least the threshold");
            out.entry(INDENT, "Rule", &rule)?;
            out.gap()?;
        }
        self.write_rules(out)?;
        if let Some(per_group) = self.rules.per_group {
            self.write_groups(per_group, out)?;
        }
        if !requirements.is_empty() {
            self.write_requirements(requirements, out)?;
        }
        out.gap()?;
        if let Err(reason) = &advice.bayes {
            out.entry(INDENT, "No Bayes", &reason.to_string())?;
        }
        match (self.rules.per_group, &advice.best) {
            (None, Optimum::Infeasible(why)) => out.entry(INDENT, "Infeasible", &why.to_string())?,
            (Some(GroupAdvice { best: Optimum::Infeasible(why), .. }), _) => {
                out.entry(INDENT, "Infeasible", &why.to_string())?;
            }
            _ => {}
        }
        let choice = match self.rules.per_group {
            Some(groups) => groups.choice.as_ref(),
            None => advice.choice.as_ref(),
        };
        if let Some(choice) = choice {
            let which = match (choice.threshold, self.rules.per_group.is_some()) {
                (Chosen::Bayes, _) => "the Bayes threshold",
                (Chosen::Measured, false) => "the measured threshold",
                (Chosen::Measured, true) => "the thresholds of the groups",
            };
            out.entry(INDENT, "Use", &format!("{which}: {}", choice.because))?;
        }
        for warning in &advice.guard.warnings {
            out.entry(INDENT, "Warning", warning)?;
        }
        if let Some(path) = self.task.svg {
            out.entry(INDENT, "Picture", &path.display().to_string())?;
        }
        Ok(())
    }

    fn classes(&self) -> &[String; 2] {
        self.task.classes.try_into().expect("two classes")
    }

    fn write_rules(&self, out: &mut Page) -> Result<()> {
        let [negative, positive] = self.classes();
        let mut table = Table::new(
            self.terminal,
            [
                "".to_owned(),
                "threshold".to_owned(),
                self.task.level_in_words(),
                format!("metric, {}", metrics::better(&self.task.metric)),
                format!("{positive} found"),
                format!("{negative} found"),
                format!("predicted {positive}"),
            ],
        );
        let advice = self.rules.advice;
        if let (Ok(bayes), Some(matrix), Some(value)) = (&advice.bayes, &self.rules.bayes, advice.bayes_value)
        {
            let start = ["Bayes".to_owned(), threshold(bayes.threshold), interval(bayes.interval)];
            table.row(start.into_iter().chain(rates(matrix, value)));
        }
        if let Optimum::Found(best) = &advice.best {
            let spread = advice.uncertain.map(|uncertain| uncertain.interval);
            let start = ["measured".to_owned(), threshold(best.cut.threshold), interval(spread)];
            table.row(start.into_iter().chain(rates(&best.confusions, best.value)));
        }
        if let Some(GroupAdvice { best: Optimum::Found(best), .. }) = self.rules.per_group {
            let start = ["per group".to_owned(), "-".to_owned(), "-".to_owned()];
            table.row(start.into_iter().chain(rates(&best.confusions, best.value)));
        }
        Ok(out.table(&table)?)
    }

    fn write_groups(&self, advice: &GroupAdvice, out: &mut Page) -> Result<()> {
        let Optimum::Found(best) = &advice.best else { return Ok(()) };
        let [negative, positive] = self.classes();
        let names = self.task.groups;
        let headings = [
            "group".to_owned(),
            "threshold".to_owned(),
            self.task.level_in_words(),
            format!("{positive} found"),
            format!("{negative} found"),
        ];
        let mut table = Table::new(self.terminal, headings);
        for (n, (name, cut)) in names.iter().zip(&best.cuts).enumerate() {
            let spread = advice.uncertain.as_ref().and_then(|all| all.get(n)).map(|u| u.interval);
            let recall = |class: usize| {
                let [wrong, right] =
                    [1 - class, class].map(|estimate| best.confusions.get(n, class, estimate));
                if wrong + right > 0.0 { percent(right / (wrong + right)) } else { "-".to_owned() }
            };
            table.row([name.clone(), threshold(cut.threshold), interval(spread), recall(1), recall(0)]);
        }
        out.gap()?;
        out.table(&table)?;
        if !best.exact {
            out.paragraph("found by search: no change in a single group does better")?;
        }
        Ok(())
    }

    fn write_requirements(&self, requirements: &[Kept], out: &mut Page) -> Result<()> {
        let mut headings = vec!["requirement", "Bayes", "measured"];
        headings.extend(self.rules.per_group.map(|_| "per group"));
        let mut table = Table::new(self.terminal, headings);
        for (kept, requirement) in requirements.iter().zip(&self.task.requirements) {
            let cell = |value: Option<f64>| match value {
                Some(value) if requirement.is_met(value) => format!("{value:.3}"),
                Some(value) => format!("{value:.3} (missed)"),
                None => "-".to_owned(),
            };
            let mut row = vec![kept.requirement.clone(), cell(kept.bayes), cell(kept.measured)];
            row.extend(self.rules.per_group.map(|_| cell(kept.per_group)));
            table.row(row);
        }
        out.gap()?;
        Ok(out.table(&table)?)
    }
}

fn threshold(value: f64) -> String {
    format!("{value:.3}")
}

fn interval(spread: Option<Spread>) -> String {
    spread.map_or("-".to_owned(), |Spread { low, high }| format!("{low:.3} to {high:.3}"))
}

/// The metric, both recalls, and how often the positive class is predicted.
fn rates(matrix: &GroupConfusions, value: f64) -> [String; 4] {
    let all = matrix.overall();
    let recall = |class: usize| all.get(class, class) / (all.get(class, 0) + all.get(class, 1));
    [format!("{value:.4}"), percent(recall(1)), percent(recall(0)), percent(all.get(0, 1) + all.get(1, 1))]
}
