//! `equipoise bench sessions`: respondents that try to break the adaptive plans.

use super::{Settings, conclude};
use crate::args::Global;
use crate::progress::Progress;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::AnyPlan;
use equipoise::testing::adversary::Adversary;
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// Small plans of every adaptive kind: a name and a document.
const PLANS: [(&str, &str); 15] = [
    (
        "linear, exact",
        r#"{"kind":"linear","tolerance":0.02,"budget":20,
            "space":{"kind":"sphere","measure":"diagonal_rates","classes":2,"radius":0.2}}"#,
    ),
    (
        "linear, flips",
        r#"{"kind":"linear","tolerance":0.02,"budget":16,"answers":{"kind":"flip","probability":0.05},
            "space":{"kind":"sphere","measure":"diagonal_rates","classes":3,"radius":0.2}}"#,
    ),
    (
        "linear, any signs",
        r#"{"kind":"linear","tolerance":0.02,"budget":16,"signs":"unknown",
            "answers":{"kind":"logistic","slope":20},
            "space":{"kind":"sphere","measure":"diagonal_rates","classes":3,"radius":0.2}}"#,
    ),
    (
        "linear, unknown noise",
        r#"{"kind":"linear","tolerance":0.1,"budget":12,"answers":{"kind":"unknown"},
            "space":{"kind":"sphere","measure":"diagonal_rates","classes":2,"radius":0.2}}"#,
    ),
    (
        "quadratic",
        r#"{"kind":"quadratic","tolerance":0.05,"budget":8,
            "space":{"kind":"sphere","measure":"diagonal_rates","classes":2,"radius":0.2}}"#,
    ),
    (
        "group fair",
        r#"{"kind":"group_fair","tolerance":0.05,"budget":12,
            "space":{"kind":"group_sphere","classes":2,"radius":0.2,"prevalence":[[0.3,0.6],[0.7,0.4]]}}"#,
    ),
    (
        "polynomial",
        r#"{"kind":"polynomial","degree":3,"tolerance":0.05,"budget":6,
            "space":{"kind":"sphere","measure":"diagonal_rates","classes":2,"radius":0.2}}"#,
    ),
    (
        "group fair, quadratic",
        r#"{"kind":"group_fair_quadratic","tolerance":0.05,"budget":6,"answers":{"kind":"unknown"},
            "space":{"kind":"group_sphere","classes":2,"radius":0.2,"prevalence":[[0.3,0.6],[0.7,0.4]]}}"#,
    ),
    (
        "linear, with probes",
        r#"{"kind":"linear","tolerance":0.1,"budget":12,"probes":4,"answers":{"kind":"flip","probability":0.05},
            "space":{"kind":"sphere","measure":"diagonal_rates","classes":2,"radius":0.2}}"#,
    ),
    (
        "fraction, exact",
        r#"{"kind":"linear_fractional","tolerance":0.05,"budget":5,
            "space":{"kind":"sphere","measure":"diagonal_rates","classes":2,"radius":0.2}}"#,
    ),
    (
        "fraction, flips",
        r#"{"kind":"linear_fractional","tolerance":0.05,"budget":4,"answers":{"kind":"flip","probability":0.05},
            "space":{"kind":"sphere","measure":"diagonal_rates","classes":3,"radius":0.2}}"#,
    ),
    (
        "pool, exact",
        r#"{"kind":"linear","tolerance":0.05,"budget":12,
            "space":{"kind":"pool","measure":"off_diagonal_rates","classes":2,"points":[
                {"name":"a","point":[0.30,0.02]},{"name":"b","point":[0.20,0.05]},{"name":"c","point":[0.12,0.12]},
                {"name":"d","point":[0.05,0.30]},{"name":"worse than c","point":[0.15,0.15]}]}}"#,
    ),
    (
        "pool, flips, any signs",
        r#"{"kind":"linear","tolerance":0.05,"budget":20,"signs":"unknown",
            "answers":{"kind":"flip","probability":0.1},
            "space":{"kind":"pool","measure":"off_diagonal_rates","classes":2,"points":[
                {"name":"a","point":[0.30,0.02]},{"name":"b","point":[0.20,0.05]},{"name":"c","point":[0.12,0.12]},
                {"name":"d","point":[0.05,0.30]},{"name":"e","point":[0.16,0.08]},{"name":"f","point":[0.08,0.2]}]}}"#,
    ),
    (
        "cost ratio, unknown noise",
        r#"{"kind":"linear","budget":5,"space":{"kind":"logistic","slope":5,"offset":0.4}}"#,
    ),
    (
        "cost ratio, exact",
        r#"{"kind":"linear","budget":12,"answers":{"kind":"exact"},
            "space":{"kind":"hull","positive_prior":0.4,"vertices":[[0,0.6],[0.2,0.55],[0.3,0.5],[0.4,0],[0.1,0.1]]}}"#,
    ),
];

/// One plan with one adversary.
#[derive(Serialize)]
struct Row {
    plan: &'static str,
    adversary: String,
    sessions: usize,
    answers: usize,
    /// Sessions that broke, and how the first of them did.
    broken: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<String>,
}

/// Runs about `count` sessions, spread evenly over plans and adversaries.
pub(super) fn run(
    count: usize,
    settings: &Settings,
    global: &Global,
    out: &mut impl Write,
) -> Result<ExitCode> {
    let each = count.div_ceil(PLANS.len() * Adversary::ALL.len());
    let progress = Progress::new("enduring", PLANS.len() * Adversary::ALL.len(), settings.progress);
    let mut rows = vec![];
    for (name, document) in PLANS {
        let plan: AnyPlan = serde_json::from_str(&document.replacen('{', r#"{"method":"adaptive","#, 1))?;
        for adversary in Adversary::ALL {
            let session = |n: usize| adversary.endure(&plan, settings.seed.wrapping_add(n as u64));
            let ends: Vec<_> = (0..each).into_par_iter().map(session).collect();
            rows.push(Row {
                plan: name,
                adversary: format!("{adversary:?}").to_lowercase(),
                sessions: each,
                answers: ends.iter().filter_map(|end| end.as_ref().ok()).sum(),
                broken: ends.iter().filter(|end| end.is_err()).count(),
                first: ends.iter().find_map(|end| end.as_ref().err().cloned()),
            });
            progress.step();
        }
    }
    drop(progress);
    let holds = rows.iter().all(|row| row.broken == 0);
    conclude(&rows, holds, &[], settings, global, out, print)
}

fn print(rows: &[Row], settings: &Settings, out: &mut impl Write) -> Result<()> {
    let terminal = Terminal::detect();
    let total: usize = rows.iter().map(|row| row.sessions).sum();
    let title = format!("{total} sessions with adversaries (seed {})", settings.seed);
    writeln!(out, "{}\n", terminal.bold(&title))?;
    let mut table = Table::new(terminal, ["plan", "sessions", "answers", "broken", "how"]);
    for (name, _) in PLANS {
        let of_plan: Vec<&Row> = rows.iter().filter(|row| row.plan == name).collect();
        let sum = |of: fn(&Row) -> usize| of_plan.iter().map(|row| of(row)).sum::<usize>().to_string();
        let how = of_plan
            .iter()
            .find_map(|row| row.first.as_ref().map(|what| format!("{}: {what}", row.adversary)));
        table.row([
            name.to_owned(),
            sum(|row| row.sessions),
            sum(|row| row.answers),
            sum(|row| row.broken),
            how.unwrap_or_default(),
        ]);
    }
    writeln!(out, "{table}")?;
    let note = "A session is broken if it does not end, if a question is not a number, not feasible or asked before (sides swapped or not), or if \
                the result is not a number. The adversaries: always first, always second, alternating, contrary to the \
                posterior, keeping it as wide as possible, mostly undecided, and taking answers back.";
    writeln!(out, "{}", terminal.paragraph(note))?;
    Ok(())
}
