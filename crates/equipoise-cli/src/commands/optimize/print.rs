//! What `equipoise optimize` prints.

use super::{Report, Values};
use crate::args::Global;
use crate::page::Page;
use crate::table::Table as Printed;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::population::Classifier;
use std::io::Write;

/// Width of the column of names.
const INDENT: usize = 12;
/// From this many classes on weights are too many to print.
const MOST_CLASSES: usize = 6;

/// Prints what was found.
pub(super) fn write_text(
    report: &Report,
    classifier: &Classifier,
    unknowns: usize,
    written: &str,
    with_test: bool,
    global: &Global,
    out: &mut dyn Write,
) -> Result<()> {
    let mut page = Page::new(global.form(), "What was optimised", out)?;
    let page = &mut page;
    let terminal = page.terminal;
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
    let cells = |name: &str, values: &Values| {
        let mut cells = vec![name.replace('_', " "), number(values.train), number(values.validation)];
        cells.extend(with_test.then(|| number(values.test)));
        cells
    };
    let metric = report.better.map_or("metric".to_owned(), |better| format!("metric, {better}"));
    let mut headings = vec![metric.as_str(), "train", "validation"];
    headings.extend(with_test.then_some("test"));
    let mut table = Printed::new(terminal, headings);
    table.row(cells("model as it is", &report.before));
    for (name, values) in &report.baselines {
        let of = |table: &str| values.get(table).and_then(serde_json::Value::as_f64);
        let values = Values { train: of("train"), validation: of("validation"), test: of("test") };
        table.row(cells(name, &values));
    }
    table.row(cells(&format!("optimised ({})", report.method), &report.value));
    page.table(&table)?;
    page.gap()?;
    if !global.quiet {
        write_weights(classifier, terminal, page)?;
    }
    page.entry(INDENT, "Queries", &report.queries.to_string())?;
    page.entry(INDENT, "Rank", &format!("{} of {unknowns} weights", report.rank))?;
    let classifier = format!("{written}; equipoise apply TABLE --classifier {written} uses it");
    page.entry(INDENT, "Classifier", &classifier)?;
    for note in &report.notes {
        page.entry(INDENT, "Note", note)?;
    }
    Ok(())
}

/// What a probability of each class counts for, basis by basis.
fn write_weights(classifier: &Classifier, terminal: Terminal, out: &mut Page) -> Result<()> {
    // A bare number would read like one of the weights.
    let called = |name: &String| match name.parse::<f64>() {
        Ok(_) => format!("class {name}"),
        Err(_) => name.clone(),
    };
    let names: Vec<String> = classifier.class_names().unwrap_or_default().iter().map(called).collect();
    let (k, weights) = (names.len(), classifier.mean_weights());
    if weights.iter().all(|&w| w == 0.0) {
        out.paragraph("Every class counts as the model has it.")?;
        return Ok(out.gap()?);
    }
    let general = weights.len() == classifier.bases().len() * k * k;
    if k > MOST_CLASSES {
        out.paragraph(&format!("The weights of {k} classes are in the classifier's file."))?;
        return Ok(out.gap()?);
    }
    let text = match general {
        false => {
            "What a probability of each class counts for, up to a common factor; a row's weights are the sum over its bases:"
        }
        true => {
            "What a probability of a class (left) adds to predicting each class, up to a common factor; a row's weights are \
             the sum over its bases:"
        }
    };
    out.paragraph(text)?;
    out.gap()?;
    let mut headings = vec!["basis".to_owned()];
    headings.extend(general.then(|| "probability of".to_owned()));
    headings.extend(names.iter().map(|name| if general { format!("to {name}") } else { name.clone() }));
    let mut table = Printed::new(terminal, headings);
    for (n, row) in weights.chunks(k).enumerate() {
        let basis = if general { n / k } else { n };
        let mut cells = vec![classifier.bases()[basis].name(&names)];
        cells.extend(general.then(|| names[n % k].clone()));
        cells.extend(row.iter().map(|w| format!("{w:.3}")));
        table.row(cells);
    }
    out.table(&table)?;
    Ok(out.gap()?)
}
