//! `equipoise metrics`: every metric that has a name.

use crate::args::Global;
use crate::json;
use crate::page::Page;
use crate::table::Table;
use anyhow::Result;
use equipoise::Sense;
use equipoise::metric::Named;
use equipoise::rates::{GroupShares, Prevalence};
use serde::Serialize;
use std::process::ExitCode;

/// A metric as `--json` lists it.
#[derive(Serialize)]
struct Entry {
    name: String,
    other_names: Vec<String>,
    formula: &'static str,
    sense: Sense,
    two_classes_only: bool,
    needs_groups: bool,
}

/// Runs the command.
pub fn run(global: &Global) -> Result<ExitCode> {
    let entries = entries()?;
    let mut out = std::io::stdout().lock();
    if global.json {
        json::write(&entries, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Page::new(global.form(), "Metrics with a name", &mut out)?;
    let mut table = Table::new(page.terminal, ["name", "better", "needs", "formula"]);
    for entry in &entries {
        let needs = match (entry.two_classes_only, entry.needs_groups) {
            (true, true) => "2 classes, groups",
            (true, false) => "2 classes",
            (false, true) => "groups",
            (false, false) => "",
        };
        let better = if entry.sense == Sense::Utility { "larger" } else { "smaller" };
        table.row([entry.name.as_str(), better, needs, entry.formula]);
    }
    page.table(&table)?;
    if !global.quiet {
        page.gap()?;
        page.paragraph(
            "A cost ratio, 7:1 or 2.5:1, is what a missed positive costs over a false alarm; f0.5, f2 and so on are F-measures. \
             --metric also takes a cost matrix and a metric document; `equipoise metrics --help` shows how.",
        )?;
    }
    page.end()?;
    Ok(ExitCode::SUCCESS)
}

fn entries() -> Result<Vec<Entry>> {
    // Any data with two classes and two groups will do to ask for the direction.
    let shares = GroupShares::new(vec![vec![0.5, 0.5], vec![0.5, 0.5]])?;
    let prevalence = Prevalence::with_groups(vec![0.5, 0.5], shares)?;
    let entry = |named: Named| {
        let mut names = named.names();
        let [two_classes_only, needs_groups] = named.needs();
        let sense = named.metric(&prevalence)?.sense();
        let name = names.remove(0);
        Ok(Entry {
            name,
            other_names: names,
            formula: named.formula(),
            sense,
            two_classes_only,
            needs_groups,
        })
    };
    Named::all().into_iter().map(entry).collect()
}
