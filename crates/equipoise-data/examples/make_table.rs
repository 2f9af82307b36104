//! cargo run --release -p equipoise-data --example make_table -- triage 10000000 triage.parquet [SEED]
//!
//! Makes up a table of predictions: `screening` (benign or malignant) or `triage` (home, ward or intensive), as CSV or
//! Parquet by the name of the file. Nobody's data: the rows are drawn from the law below.
//!
//! A patient has a severity, standard normal. Every class has a logit that is linear in it, the label is drawn from
//! their softmax, and the predicted probabilities are that softmax for patients of the first group. In the second
//! group, which is sicker by 0.4, the model is too sure of itself: its logits are 1.4 times as large.

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;

type Anything = Box<dyn std::error::Error>;

/// Classes with the slope and the offset of their logits, and the names of the groups.
struct Law {
    classes: &'static [(&'static str, f64, f64)],
    groups: [&'static str; 2],
}

const SCREENING: Law =
    Law { classes: &[("benign", 0.0, 0.0), ("malignant", 2.6, -1.8)], groups: ["north", "south"] };
const TRIAGE: Law = Law {
    classes: &[("home", 0.0, 0.6), ("intensive", 3.4, -3.0), ("ward", 1.9, 0.0)],
    groups: ["adult", "child"],
};

struct Row {
    truth: usize,
    group: usize,
    probabilities: Vec<f64>,
}

impl Law {
    fn row(&self, random: &mut Xoshiro256PlusPlus) -> Row {
        let group = usize::from(random.random::<f64>() < 0.3);
        let normal: f64 = StandardNormal.sample(random);
        let severity = normal + 0.4 * group as f64;
        let logits: Vec<f64> =
            self.classes.iter().map(|(_, slope, offset)| slope * severity + offset).collect();
        let mut left = random.random::<f64>();
        let drawn = softmax(&logits, 1.0).iter().position(|p| {
            left -= p;
            left <= 0.0
        });
        let sureness = if group == 1 { 1.4 } else { 1.0 };
        Row { truth: drawn.unwrap_or(0), group, probabilities: softmax(&logits, sureness) }
    }
}

fn softmax(logits: &[f64], sureness: f64) -> Vec<f64> {
    let parts: Vec<f64> = logits.iter().map(|logit| (sureness * logit).exp()).collect();
    let total: f64 = parts.iter().sum();
    parts.iter().map(|part| part / total).collect()
}

fn main() -> Result<(), Anything> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [law, rows, path, rest @ ..] = &arguments[..] else {
        return Err("expected: screening|triage ROWS FILE.csv|FILE.parquet [SEED]".into());
    };
    let law = match law.as_str() {
        "screening" => &SCREENING,
        "triage" => &TRIAGE,
        other => return Err(format!("the law is \"{other}\", expected screening or triage").into()),
    };
    let seed = rest.first().map_or(Ok(1), |seed| seed.parse())?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let rows = rows.parse()?;
    if path.ends_with(".parquet") {
        write_parquet(law, rows, path, &mut random)
    } else {
        write_csv(law, rows, path, &mut random)
    }
}

/// Four decimals; the last probability is what is left, so that a row sums to 1.
fn write_csv(law: &Law, rows: usize, path: &str, random: &mut Xoshiro256PlusPlus) -> Result<(), Anything> {
    let mut file = BufWriter::new(File::create(path)?);
    let names: Vec<String> = law.classes.iter().map(|(name, ..)| format!("p_{name}")).collect();
    writeln!(file, "y,{},group", names.join(","))?;
    for _ in 0..rows {
        let row = law.row(random);
        let mut left = 10_000;
        let last = row.probabilities.len() - 1;
        let rounded = row.probabilities.iter().enumerate().map(|(n, p)| {
            let part = if n == last { left } else { ((p * 10_000.0).round() as i64).min(left) };
            left -= part;
            format!("{:.4}", part as f64 / 10_000.0)
        });
        let rounded: Vec<String> = rounded.collect();
        writeln!(file, "{},{},{}", law.classes[row.truth].0, rounded.join(","), law.groups[row.group])?;
    }
    Ok(file.flush()?)
}

fn write_parquet(
    law: &Law,
    rows: usize,
    path: &str,
    random: &mut Xoshiro256PlusPlus,
) -> Result<(), Anything> {
    const ROW_GROUP: usize = 1 << 18;
    let fields: String = law.classes.iter().map(|(name, ..)| format!("required double p_{name}; ")).collect();
    let schema =
        format!("message table {{ required binary y (UTF8); {fields}required binary group (UTF8); }}");
    let properties = Arc::new(WriterProperties::builder().build());
    let file = BufWriter::new(File::create(path)?);
    let mut writer = SerializedFileWriter::new(file, Arc::new(parse_message_type(&schema)?), properties)?;
    let mut written = 0;
    while written < rows {
        let part: Vec<Row> = (0..ROW_GROUP.min(rows - written)).map(|_| law.row(random)).collect();
        written += part.len();
        let mut group = writer.next_row_group()?;
        let mut next = 0;
        while let Some(mut column) = group.next_column()? {
            if next == 0 || next == law.classes.len() + 1 {
                let name =
                    |row: &Row| if next == 0 { law.classes[row.truth].0 } else { law.groups[row.group] };
                let texts: Vec<ByteArray> = part.iter().map(|row| ByteArray::from(name(row))).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
            } else {
                let numbers: Vec<f64> = part.iter().map(|row| row.probabilities[next - 1]).collect();
                column.typed::<DoubleType>().write_batch(&numbers, None, None)?;
            }
            column.close()?;
            next += 1;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}
