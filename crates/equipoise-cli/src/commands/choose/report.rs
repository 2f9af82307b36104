//! What came out of a choice, for people and as one JSON document.

use crate::table::Table;
use crate::terminal::Terminal;
use equipoise::metric::{Direction, Transform};
use equipoise_choice::{Best, Chosen, Words};
use serde::Serialize;
use std::io::Write;

/// Candidates that are listed for people.
const LISTED: usize = 10;

/// The result.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    format: u64,
    done: bool,
    table: String,
    #[serde(flatten)]
    pub chosen: Chosen<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_file: Option<String>,
}

impl<'a> Report<'a> {
    /// Of a table.
    pub fn new(table: String, chosen: Chosen<'a>) -> Self {
        Self {
            format: equipoise::FORMAT,
            done: true,
            table,
            chosen,
            metric_file: None,
            transcript_file: None,
        }
    }

    /// Writes it for people.
    pub fn write(
        &self,
        words: Option<&Words>,
        quiet: bool,
        terminal: Terminal,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let Chosen { best: Best { name, probability, regret, regret_bound }, .. } = &self.chosen;
        if self.chosen.questions == 0 && self.chosen.ranking.is_empty() {
            let sentence = format!(
                "{name} is at least as good as every other candidate in everything: there is nothing to ask."
            );
            writeln!(out, "{}", terminal.bold(&terminal.paragraph(&sentence)))?;
        } else {
            let sentence = format!("Your best candidate: {name} (probability {probability:.2}).");
            writeln!(out, "{}", terminal.bold(&terminal.paragraph(&sentence)))?;
            let sentence = format!(
                "After {} questions it is expected to fall short of your best by {:.1} % of what lies between the best and the \
                 worst (with 95 % certainty by at most {:.1} %).",
                self.chosen.questions,
                100.0 * regret,
                100.0 * regret_bound
            );
            writeln!(out, "{}\n", terminal.paragraph(&sentence))?;
            let mut table = Table::new(terminal, ["candidate", "value", "95 %", "best with probability"]);
            for ranked in self.chosen.ranking.iter().take(LISTED) {
                table.row([
                    ranked.name.clone(),
                    format!("{:.3}", ranked.value),
                    format!("{:.3} to {:.3}", ranked.low, ranked.high),
                    format!("{:.2}", ranked.probability),
                ]);
            }
            write!(out, "{table}")?;
            if self.chosen.ranking.len() > LISTED {
                writeln!(out, "and {} more, see --json", self.chosen.ranking.len() - LISTED)?;
            }
            writeln!(out)?;
            let mut table = Table::new(terminal, ["attribute", "over the range shown", "weighs", "95 %"]);
            for (n, weight) in self.chosen.weights.iter().enumerate() {
                let end = |x: f64| {
                    words.and_then(|words| words.said.get(n)).map_or(x.to_string(), |said| said.number(x))
                };
                let [from, to] = match weight.direction {
                    Direction::Minimize => [weight.range[1], weight.range[0]],
                    Direction::Maximize => weight.range,
                };
                let scale = match weight.transform {
                    Transform::Linear => "",
                    Transform::Log => ", by ratio",
                    Transform::Logit => ", by odds",
                };
                let label = words
                    .and_then(|words| words.said.get(n))
                    .map_or(weight.attribute.clone(), |said| said.label.clone());
                table.row([
                    label,
                    format!("{} to {}{scale}", end(from), end(to)),
                    format!("{:.0} %", 100.0 * weight.weight),
                    format!("{:.0} to {:.0} %", 100.0 * weight.low, 100.0 * weight.high),
                ]);
            }
            write!(out, "{table}")?;
            let sentence = "A weight is that of the whole range of its attribute; other ranges would have given other weights.";
            writeln!(out, "{}", terminal.paragraph(sentence))?;
        }
        if !self.chosen.dominated.is_empty() {
            let listed: Vec<String> = self
                .chosen
                .dominated
                .iter()
                .take(LISTED)
                .map(|d| format!("{} (by {})", d.name, d.by))
                .collect();
            let more = self.chosen.dominated.len().saturating_sub(LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let sentence = format!("Nowhere better than another: {}{more}.", listed.join(", "));
            writeln!(out, "{}", terminal.paragraph(&sentence))?;
        }
        if !self.chosen.enough {
            let sentence =
                format!("Less is known than was wanted: the questions ended by {}.", self.chosen.stopped_by);
            writeln!(out, "{}", terminal.paragraph(&sentence))?;
        }
        for finding in &self.chosen.findings {
            writeln!(out, "{}", terminal.paragraph(&format!("note: {finding}")))?;
        }
        if !quiet {
            for note in self.chosen.notes {
                writeln!(out, "{}", terminal.paragraph(&format!("note: {note}")))?;
            }
            let files = [("Metric", &self.metric_file), ("Answers", &self.transcript_file)];
            for (what, file) in files {
                if let Some(file) = file {
                    writeln!(out, "{what}: {file}")?;
                }
            }
        }
        Ok(())
    }
}
