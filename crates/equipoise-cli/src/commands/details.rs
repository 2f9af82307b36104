//! What a model does, beside what it is worth: its confusion matrix, what happens in 1,000 cases, and every group by itself.

use super::models::Models;
use super::score::{number, range};
use crate::counts::grouped;
use crate::metrics;
use crate::page::Page;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::Result;
use equipoise::metric::Family;
use equipoise::rates::off_diagonal_pairs;
use equipoise::{GroupConfusions, Measure, Metric, Sense, Spread};
use serde::Serialize;

/// Confusion matrices of more models, or of more classes, are left to `--json`.
const MOST_MATRICES: usize = 3;
const MOST_CLASSES: usize = 10;
/// Kinds of mistakes that a line of text has room for.
const MOST_KINDS: usize = 6;
/// Groups in a table; `--json` has all.
const MOST_GROUPS: usize = 30;

/// What `--json` has of a model besides its value.
#[derive(Debug, Serialize)]
pub struct Details {
    /// Rows, or their weight, by true and predicted class, in the order of the classes.
    pub confusion: Vec<Vec<f64>>,
    /// What happens in 1,000 cases.
    pub per_1000: Thousand,
    /// Every group by itself; empty without groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
}

/// What happens in 1,000 cases like those of the table.
#[derive(Debug, Serialize)]
pub struct Thousand {
    pub mistakes: Vec<Mistake>,
    /// What the mistakes cost together, if the metric prices them: counted in false alarms for two classes, in the metric's unit
    /// for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Count>,
}

/// A kind of mistake.
#[derive(Debug, Serialize)]
pub struct Mistake {
    pub truth: String,
    pub estimate: String,
    #[serde(flatten)]
    pub count: Count,
}

/// A number of cases, and where it lies if the rows are drawn again.
#[derive(Debug, Serialize)]
pub struct Count {
    pub count: f64,
    pub interval: Option<Spread>,
}

/// A group by itself.
#[derive(Debug, Serialize)]
pub struct Group {
    pub name: String,
    /// The share of all rows, by weight.
    pub share: f64,
    /// The metric within the group; missing where it has no value there, or is about several groups.
    pub value: Option<f64>,
    pub interval: Option<Spread>,
    /// The share of each class that is found; missing where there is no row of it.
    pub recalls: Vec<Option<f64>>,
}

impl Details {
    /// Those of model number n under a metric that was typed like this.
    pub fn of(models: &Models, n: usize, typed: &str, level: f64) -> Result<Self> {
        let (model, size) = (&models.candidates[n], models.sizes[n]);
        let (overall, k) = (model.confusions().overall(), models.classes.len());
        let drawn: Vec<_> = model.draws().iter().map(GroupConfusions::overall).collect();
        let count = |of: &dyn Fn(&equipoise::Confusion) -> f64| Count {
            count: 1000.0 * of(&overall),
            interval: Spread::of(&drawn.iter().map(|it| 1000.0 * of(it)).collect::<Vec<_>>(), level),
        };
        let mistake = |(i, j): (usize, usize)| Mistake {
            truth: models.classes[i].clone(),
            estimate: models.classes[j].clone(),
            count: count(&|matrix| matrix.get(i, j)),
        };
        let cost = cost_of(models, n, level);
        let confusion = (0..k).map(|i| (0..k).map(|j| whole(size * overall.get(i, j))).collect()).collect();
        let per_1000 = Thousand { mistakes: off_diagonal_pairs(k).map(mistake).collect(), cost };
        let group = |(g, name): (usize, &String)| -> Result<Group> {
            let (share, alone) = alone(model.confusions(), g);
            let about_one = models.metric.view().measure() != Measure::GroupRates;
            let value = |matrix: Option<GroupConfusions>| {
                let matrix = matrix.filter(|_| about_one)?;
                let metric = metrics::metric(typed, &models.classes, &matrix.prevalence()).ok()?;
                let metric = metric.for_prevalence(&matrix.prevalence()).ok()?;
                metric.of(&matrix).ok().filter(|value| value.is_finite())
            };
            let recall = |class: usize| {
                let row: f64 = (0..k).map(|j| model.confusions().get(g, class, j)).sum();
                (row > 0.0).then(|| model.confusions().get(g, class, class) / row)
            };
            let draws = if about_one { model.draws() } else { &[] };
            let draws: Vec<f64> = draws.iter().filter_map(|draw| value(self::alone(draw, g).1)).collect();
            Ok(Group {
                name: name.clone(),
                share,
                value: value(alone),
                interval: Spread::of(&draws, level),
                recalls: (0..k).map(recall).collect(),
            })
        };
        let groups = models.groups.iter().enumerate().map(group).collect::<Result<_>>()?;
        Ok(Self { confusion, per_1000, groups })
    }
}

/// A number of rows that was a share of them: whole, but for the last digits.
fn whole(rows: f64) -> f64 {
    let near = rows.round();
    if (rows - near).abs() <= 1e-9 * near.max(1.0) { near } else { rows }
}

/// The share of a group, and the group as if it were everybody.
fn alone(matrix: &GroupConfusions, group: usize) -> (f64, Option<GroupConfusions>) {
    let k = matrix.classes();
    let cells = || (0..k * k).map(|n| matrix.get(group, n / k, n % k));
    let share: f64 = cells().sum();
    let whole = (share > 0.0).then(|| cells().map(|cell| cell / share).collect());
    (share, whole.and_then(|cells| GroupConfusions::new(k, vec![cells]).ok()))
}

/// What each kind of mistake costs, in false alarms for two classes; `None` if the metric has no price for a single case.
fn prices(metric: &Metric) -> Option<Vec<f64>> {
    if let Some(ratio) = metric.cost_ratio() {
        // Pairs of classes in order: a false alarm, then a missed case.
        return Some(vec![1.0, ratio]);
    }
    let joint = metric.view().measure() == Measure::OffDiagonal && metric.sense() == Sense::Cost;
    match metric.family() {
        Family::Linear(linear) if joint => Some(linear.weights().to_vec()),
        _ => None,
    }
}

/// What happens in 1,000 cases, a line per model.
pub fn per_thousand(models: &Models, details: &[Details], terminal: Terminal) -> Table {
    let kinds = &details[0].per_1000.mistakes;
    let shown = kinds.len() <= MOST_KINDS;
    let mut headings = vec!["in 1,000 cases".to_owned()];
    match &models.classes[..] {
        [negative, positive] => {
            headings.extend([format!("{negative} taken for {positive}"), format!("{positive} missed")]);
        }
        _ if shown => {
            headings.extend(kinds.iter().map(|kind| format!("{} taken for {}", kind.truth, kind.estimate)));
        }
        _ => headings.push("wrong".to_owned()),
    }
    let priced = details[0].per_1000.cost.is_some();
    let unit = if models.classes.len() == 2 { "as costly as so many false alarms" } else { "cost" };
    headings.extend(priced.then(|| unit.to_owned()));
    let mut table = Table::new(terminal, headings);
    for (model, details) in models.candidates.iter().zip(details) {
        let mut row = vec![model.name().to_owned()];
        let thousand = &details.per_1000;
        if shown {
            row.extend(thousand.mistakes.iter().map(|kind| cases(&kind.count)));
        } else {
            row.push(tenths(thousand.mistakes.iter().map(|kind| kind.count.count).sum()));
        }
        row.extend(thousand.cost.as_ref().map(cases));
        table.row(row);
    }
    table
}

/// What the mistakes of model number n cost in 1,000 cases, if the metric prices them.
pub fn cost_of(models: &Models, n: usize, level: f64) -> Option<Count> {
    let prices = prices(&models.metric)?;
    let cost = |matrix: &GroupConfusions| {
        let overall = matrix.overall();
        let pairs = off_diagonal_pairs(models.classes.len()).zip(&prices);
        1000.0 * pairs.map(|((i, j), price)| price * overall.get(i, j)).sum::<f64>()
    };
    let model = &models.candidates[n];
    let drawn: Vec<f64> = model.draws().iter().map(cost).collect();
    Some(Count { count: cost(model.confusions()), interval: Spread::of(&drawn, level) })
}

/// "31 (26 to 37)".
pub fn cases(count: &Count) -> String {
    match count.interval {
        Some(Spread { low, high }) => {
            format!("{} ({} to {})", tenths(count.count), tenths(low), tenths(high))
        }
        None => tenths(count.count),
    }
}

/// Whole numbers, small ones with a decimal.
fn tenths(value: f64) -> String {
    if value.abs() < 10.0 { format!("{value:.1}") } else { grouped(value.round() as u64) }
}

/// Confusion matrices and groups.
pub fn write_details(models: &Models, details: &[Details], interval: &str, page: &mut Page) -> Result<()> {
    if details.len() <= MOST_MATRICES && models.classes.len() <= MOST_CLASSES {
        for (model, details) in models.candidates.iter().zip(details) {
            let mut headings = vec![format!("{}: truth", model.name())];
            headings.extend(models.classes.iter().map(|class| format!("predicted {class}")));
            let mut table = Table::new(page.terminal, headings);
            for (class, row) in models.classes.iter().zip(&details.confusion) {
                let count = |value: &f64| match value.fract() == 0.0 {
                    true => grouped(*value as u64),
                    false => format!("{value:.1}"),
                };
                table.row(std::iter::once(class.clone()).chain(row.iter().map(count)));
            }
            page.gap()?;
            page.table(&table)?;
        }
    }
    if models.groups.len() < 2 {
        return Ok(());
    }
    for (model, details) in models.candidates.iter().zip(details).take(MOST_MATRICES) {
        let mut headings = vec![
            format!("{}: group", model.name()),
            "share".to_owned(),
            "value".to_owned(),
            interval.to_owned(),
        ];
        headings.extend(models.classes.iter().take(4).map(|class| format!("{class} found")));
        let mut table = Table::new(page.terminal, headings);
        for group in details.groups.iter().take(MOST_GROUPS) {
            let share = |share: f64| format!("{:.1} %", 100.0 * share);
            let mut row = vec![group.name.clone(), share(group.share)];
            row.push(group.value.map_or("-".to_owned(), number));
            row.push(range(group.interval));
            row.extend(group.recalls.iter().take(4).map(|recall| recall.map_or("-".to_owned(), share)));
            table.row(row);
        }
        page.gap()?;
        page.table(&table)?;
    }
    Ok(())
}
