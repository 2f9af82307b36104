//! `equipoise bench human`: recorded choices of real people, the first of which are to predict the others.
//!
//! What somebody said gives a belief, as in `choose`; it is asked how likely their other choices are. People are taken as the
//! stated population has them, or as others were whose choices were recorded. Beside it stand a logit of all, a logit of each
//! person, and a constant.

use super::{Settings, conclude};
use crate::args::{Bench, Global};
use crate::fault::Fault;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::{Context as _, Result};
use equipoise::metric::{Attribute, Direction, Transform};
use equipoise::space::Candidates;
use equipoise::testing::recorded::{Believed, Chosen, Prior, learn};
use equipoise::{Query, stream};
use equipoise_data::read;
use rand::SeedableRng as _;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// People are parted into so many; what each part is like is learnt from the others.
const PARTS: usize = 5;
/// Splits by chance are drawn so many times: one of them is off by as much as models differ.
const DRAWN: usize = 5;
/// Bins of predictions, and how many choices make one worth looking at.
const BINS: usize = 10;
const ENOUGH: usize = 100;
/// The largest distance between said and seen in such a bin.
const RELIABLE: f64 = 0.05;
/// What weights of a logit are drawn to zero by: of all people, and of one.
const RIDGES: [f64; 2] = [1e-3, 1.0];
/// An answer is never quite impossible, also to a logit.
const LEAST: f64 = 1e-4;

/// Which answers are known, and which are predicted.
#[derive(Debug, Clone, Copy)]
enum Split {
    /// A share of each person's, by chance.
    Share(f64),
    /// So many of each, by chance.
    Some(usize),
    /// The first share.
    FirstShare(f64),
    /// The first so many.
    First(usize),
}

const SPLITS: [(&str, Split); 4] = [
    ("70 % by chance", Split::Share(0.7)),
    ("8 by chance", Split::Some(8)),
    ("first 70 %", Split::FirstShare(0.7)),
    ("first 8", Split::First(8)),
];

/// How many go by ratios.
const NOISES: [(&str, f64); 3] = [("unknown", 0.5), ("relative", 1.0), ("absolute", 0.0)];

/// The largest log-loss, by file, split and prior, of unknown noise.
const GOALS: [(&str, &str, &str, f64); 2] =
    [("train_choices", "70 % by chance", "learned", 0.413), ("train_choices", "first 8", "learned", 0.45)];

/// What people chose.
struct Recorded {
    name: &'static str,
    space: Candidates,
    /// The same with numbers as they are, where the scale was guessed to be another.
    plain: Candidates,
    /// Of each person, in their order: choices in which neither is worse throughout.
    people: Vec<Vec<Chosen>>,
    /// Choices in which one was, and how often it was refused.
    dominated: [usize; 2],
}

/// A way to predict.
#[derive(Debug, Serialize)]
struct Row {
    data: &'static str,
    known: &'static str,
    model: String,
    prior: &'static str,
    choices: usize,
    log_loss: f64,
    accuracy: f64,
    /// The largest distance between said and seen in bins with enough choices.
    unreliable: f64,
    /// Choices, what was said, what was seen.
    bins: Vec<(usize, f64, f64)>,
    goal: Option<f64>,
    holds: bool,
}

/// Runs the bench.
pub fn run(args: &Bench, settings: &Settings, global: &Global) -> Result<ExitCode> {
    let directory = args.data.as_deref().ok_or_else(|| {
        Fault::usage("bench human replays recorded choices; name the directory of the files with --data DIR")
    })?;
    let mut rows = vec![];
    let all = [train(directory)?, electricity(directory, settings.seed)?];
    let wanted = |recorded: &Recorded, model: &str| {
        let name = format!("{}, {model}", recorded.name);
        args.task.as_deref().is_none_or(|task| name.contains(task))
    };
    for recorded in &all {
        for (known, split) in SPLITS.into_iter().filter(|_| wanted(recorded, "logit")) {
            rows.extend(rivals(recorded, known, split, settings));
        }
        for (model, by_ratio) in NOISES.into_iter().filter(|(model, _)| wanted(recorded, model)) {
            rows.extend(engine(recorded, model, by_ratio, settings));
        }
    }
    let holds = rows.iter().all(|row| row.holds);
    let people: usize = all.iter().map(|recorded| recorded.people.len()).sum();
    let mut out = std::io::stdout().lock();
    conclude(&rows, holds, &[("people", people)], settings, global, &mut out, |rows, settings, out| {
        print(&all, rows, settings, out)
    })
}

/// One comparison of two journeys a row.
fn train(directory: &Path) -> Result<Recorded> {
    let path = directory.join("train_choices.csv.gz");
    let names = ["price", "time", "change", "comfort"];
    let columns: Vec<String> =
        ["1", "2"].iter().flat_map(|end| names.map(|name| format!("{name}{end}"))).collect();
    let numbers = read::numbers(&path, &columns)?.data;
    let texts = read::texts(&path, &["id", "choice"])?;
    let attributes = names.iter().enumerate().map(|(n, name)| {
        let both = [&numbers[n][..], &numbers[n + names.len()]].concat();
        Attribute::guessed(name, Direction::Minimize, &both)
    });
    let space = ends(attributes.collect::<equipoise::Result<_>>()?, &numbers)?;
    let point = |row: usize, end: usize| -> Vec<f64> {
        (0..names.len()).map(|n| numbers[n + end * names.len()][row]).collect()
    };
    let choices = (0..texts[0].len()).map(|row| {
        (texts[0][row].clone(), (Query::new(point(row, 0), point(row, 1)), texts[1][row] == "choice1"))
    });
    Ok(Recorded::new("train_choices", space, choices.collect()))
}

/// One alternative of four a row: the chosen one is held against another that was not, drawn by chance, which tells what a logit
/// of four would (McFadden's sampling of alternatives).
fn electricity(directory: &Path, seed: u64) -> Result<Recorded> {
    let path = directory.join("electricity_choices.csv.gz");
    let names = ["pf", "cl", "loc", "wk", "tod", "seas"];
    let numbers = read::numbers(&path, &names)?.data;
    let texts = read::texts(&path, &["id", "chid", "choice"])?;
    let better = |name: &str| match name {
        "loc" | "wk" => Direction::Maximize,
        _ => Direction::Minimize,
    };
    let attributes =
        names.iter().zip(&numbers).map(|(name, column)| Attribute::guessed(name, better(name), column));
    let space = ends(attributes.collect::<equipoise::Result<_>>()?, &numbers)?;
    // In the order of the file, which is theirs.
    let mut situations: Vec<Vec<usize>> = vec![];
    for row in 0..texts[0].len() {
        match situations.last_mut() {
            Some(rows) if texts[1][rows[0]] == texts[1][row] => rows.push(row),
            _ => situations.push(vec![row]),
        }
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let point = |row: usize| -> Vec<f64> { numbers.iter().map(|column| column[row]).collect() };
    let choices = situations.iter().enumerate().filter_map(|(n, rows)| {
        let (chosen, others): (Vec<usize>, Vec<usize>) =
            rows.iter().partition(|row| texts[2][**row].eq_ignore_ascii_case("true"));
        let (chosen, other) = (*chosen.first()?, *others.choose(&mut random)?);
        let first = n % 2 == 0;
        let [a, b] = if first { [chosen, other] } else { [other, chosen] };
        Some((texts[0][chosen].clone(), (Query::new(point(a), point(b)), first)))
    });
    Ok(Recorded::new("electricity_choices", space, choices.collect()))
}

/// A space whose ranges are those of the attributes; who is in it does not matter for what is believed of weights.
fn ends(attributes: Vec<Attribute>, columns: &[Vec<f64>]) -> Result<Candidates> {
    let d = attributes.len();
    let end = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
        let of = |n: usize| columns.iter().skip(n).step_by(d).flatten().copied().reduce(pick);
        (0..d).map(|n| of(n).unwrap_or_default()).collect()
    };
    let ends = vec![("least".to_owned(), end(f64::min)), ("most".to_owned(), end(f64::max))];
    Candidates::new(attributes, ends).context("the attributes of recorded choices")
}

impl Recorded {
    fn new(name: &'static str, space: Candidates, choices: Vec<(String, Chosen)>) -> Self {
        let mut people: BTreeMap<String, Vec<Chosen>> = BTreeMap::new();
        let mut dominated = [0, 0];
        for (who, choice) in choices {
            let gains = gains(&space, &choice.0);
            let (better, worse) = (gains.iter().any(|x| *x > 0.0), gains.iter().any(|x| *x < 0.0));
            match better && worse {
                true => people.entry(who).or_default().push(choice),
                false if better || worse => {
                    dominated[0] += 1;
                    dominated[1] += usize::from(choice.1 == better);
                }
                false => {}
            }
        }
        let as_it_is = |a: &Attribute| Attribute { transform: Transform::Linear, ..a.clone() };
        let attributes: Vec<Attribute> = space.attributes().iter().map(as_it_is).collect();
        let members = space.members().iter().map(|m| (m.name.clone(), m.point.clone())).collect();
        let plain = Candidates::new(attributes, members).unwrap_or_else(|_| space.clone());
        Self { name, space, plain, people: people.into_values().collect(), dominated }
    }

    /// Of each person, what is known and what is to be predicted.
    fn parted(&self, split: Split, seed: u64) -> Vec<(Vec<Chosen>, Vec<Chosen>)> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let part = |choices: &Vec<Chosen>| {
            let mut choices = choices.clone();
            if matches!(split, Split::Share(_) | Split::Some(_)) {
                choices.shuffle(&mut random);
            }
            let known = match split {
                Split::Share(share) | Split::FirstShare(share) => {
                    (share * choices.len() as f64).round() as usize
                }
                Split::Some(count) | Split::First(count) => count.min(choices.len()),
            };
            let rest = choices.split_off(known);
            (choices, rest)
        };
        self.people.iter().map(part).collect()
    }

    /// How often a split is drawn.
    fn drawn(split: Split) -> usize {
        if matches!(split, Split::Share(_) | Split::Some(_)) { DRAWN } else { 1 }
    }
}

/// By how much the first of two points is better in each attribute, as shares of the ranges.
fn gains(space: &Candidates, query: &Query) -> Vec<f64> {
    let pairs = query.first.iter().zip(&query.second);
    space.attributes().iter().zip(pairs).map(|(a, (x, y))| a.worth(*x) - a.worth(*y)).collect()
}

/// What the engine says, with people as stated and as learnt.
fn engine(recorded: &Recorded, model: &str, by_ratio: f64, settings: &Settings) -> Vec<Row> {
    let stated = Prior::people().by_ratio(by_ratio);
    // Which scale numbers count on is learnt from the others, too.
    let learned: Vec<(&Candidates, Prior)> = (0..PARTS)
        .into_par_iter()
        .map(|part| {
            let others: Vec<Vec<Chosen>> = recorded
                .people
                .iter()
                .enumerate()
                .filter(|(n, _)| n % PARTS != part)
                .map(|(_, c)| c.clone())
                .collect();
            let of = |space| {
                let (prior, likely) =
                    learn(space, stated.clone(), &others, stream(settings.seed, part as u64));
                (likely, space, prior)
            };
            let (guessed, plain) = (of(&recorded.space), of(&recorded.plain));
            let (_, space, prior) = if plain.0 > guessed.0 { plain } else { guessed };
            (space, prior)
        })
        .collect();
    let mut rows = vec![];
    for (prior, learned) in [("stated", None), ("learned", Some(&learned))] {
        for (known, split) in SPLITS {
            let mut said = vec![];
            for draw in 0..Recorded::drawn(split) {
                let parted = recorded.parted(split, stream(settings.seed, 100 + draw as u64));
                let predicted = parted.par_iter().enumerate().map(|(n, (known, rest))| {
                    let (space, prior) = match learned {
                        Some(learned) => (learned[n % PARTS].0, &learned[n % PARTS].1),
                        None => (&recorded.space, &stated),
                    };
                    let mut belief = Believed::new(space, prior, stream(settings.seed, 1000 + n as u64));
                    known.iter().for_each(|choice| belief.hear(choice));
                    let chance = |(query, first): &Chosen| (belief.chance_of_first(query), *first);
                    rest.iter().map(chance).collect::<Vec<_>>()
                });
                said.extend(predicted.flatten().collect::<Vec<_>>());
            }
            rows.push(Row::new(recorded, known, format!("{model} noise"), prior, &said));
        }
    }
    rows
}

/// What others would say: a logit of all, one of each, and a constant.
fn rivals(recorded: &Recorded, known: &'static str, split: Split, settings: &Settings) -> Vec<Row> {
    let mut said: [Vec<(f64, bool)>; 3] = Default::default();
    for draw in 0..Recorded::drawn(split) {
        let parted = recorded.parted(split, stream(settings.seed, 100 + draw as u64));
        let row = |(query, first): &Chosen| (gains(&recorded.space, query), *first);
        let heard: Vec<(Vec<f64>, bool)> =
            parted.iter().flat_map(|(known, _)| known.iter().map(row)).collect();
        let pooled = logit(&heard, RIDGES[0]);
        let share = heard.iter().filter(|(_, first)| *first).count() as f64 / heard.len().max(1) as f64;
        for (known, rest) in &parted {
            let own = logit(&known.iter().map(row).collect::<Vec<_>>(), RIDGES[1]);
            for choice in rest {
                let (x, first) = row(choice);
                said[0].push((chance(&pooled, &x), first));
                said[1].push((chance(&own, &x), first));
                said[2].push((share, first));
            }
        }
    }
    let names = ["logit of all", "logit of each", "constant"];
    names
        .iter()
        .zip(&said)
        .map(|(name, said)| Row::new(recorded, known, (*name).to_owned(), "", said))
        .collect()
}

fn chance(weights: &[f64], x: &[f64]) -> f64 {
    let t: f64 = weights.iter().zip(x).map(|(w, x)| w * x).sum();
    1.0 / (1.0 + (-t).exp())
}

/// Weights of a logistic regression without a constant, by Newton's method.
fn logit(rows: &[(Vec<f64>, bool)], ridge: f64) -> Vec<f64> {
    let Some(d) = rows.first().map(|(x, _)| x.len()) else { return vec![] };
    let mut weights = vec![0.0; d];
    for _ in 0..30 {
        let mut gradient: Vec<f64> = weights.iter().map(|w| -ridge * w).collect();
        let mut curvature: Vec<Vec<f64>> =
            (0..d).map(|i| (0..d).map(|j| if i == j { ridge } else { 0.0 }).collect()).collect();
        for (x, first) in rows {
            let p = chance(&weights, x);
            for i in 0..d {
                gradient[i] += x[i] * (f64::from(u8::from(*first)) - p);
                for j in 0..d {
                    curvature[i][j] += p * (1.0 - p) * x[i] * x[j];
                }
            }
        }
        let step = solved(curvature, gradient);
        weights.iter_mut().zip(step).for_each(|(w, s)| *w += s.clamp(-5.0, 5.0));
    }
    weights
}

/// The solution of a positive definite system, by elimination.
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let d = right.len();
    for n in 0..d {
        for below in n + 1..d {
            let factor = matrix[below][n] / matrix[n][n];
            for j in n..d {
                let above = matrix[n][j];
                matrix[below][j] -= factor * above;
            }
            right[below] -= factor * right[n];
        }
    }
    for n in (0..d).rev() {
        let known: f64 = (n + 1..d).map(|j| matrix[n][j] * right[j]).sum();
        right[n] = (right[n] - known) / matrix[n][n];
    }
    right
}

impl Row {
    fn new(
        recorded: &Recorded,
        known: &'static str,
        model: String,
        prior: &'static str,
        said: &[(f64, bool)],
    ) -> Self {
        let count = said.len() as f64;
        let loss = |(p, first): &(f64, bool)| -(if *first { *p } else { 1.0 - p }).max(LEAST).ln();
        let log_loss = said.iter().map(loss).sum::<f64>() / count;
        let accuracy = said.iter().filter(|(p, first)| (*p > 0.5) == *first).count() as f64 / count;
        let mut sums = vec![(0, 0.0, 0.0); BINS];
        for (p, first) in said {
            let bin = &mut sums[((p * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + p, bin.2 + f64::from(u8::from(*first)));
        }
        let mean = |(n, said, seen): (usize, f64, f64)| (n, said / n as f64, seen / n as f64);
        let bins: Vec<_> = sums.into_iter().filter(|bin| bin.0 > 0).map(mean).collect();
        let far = bins.iter().filter(|bin| bin.0 >= ENOUGH).map(|(_, said, seen)| (said - seen).abs());
        let unreliable = far.fold(0.0, f64::max);
        let is_goal = |goal: &&(&str, &str, &str, f64)| {
            model == "unknown noise" && (goal.0, goal.1, goal.2) == (recorded.name, known, prior)
        };
        let goal = GOALS.iter().find(is_goal).map(|goal| goal.3);
        let holds = goal.is_none_or(|most| log_loss <= most && unreliable <= RELIABLE);
        let data = recorded.name;
        let choices = said.len();
        Self { data, known, model, prior, choices, log_loss, accuracy, unreliable, bins, goal, holds }
    }
}

fn print(all: &[Recorded], rows: &[Row], settings: &Settings, out: &mut impl Write) -> Result<()> {
    let terminal = Terminal::detect();
    writeln!(out, "Choices about trains and electricity, not about classifiers. Seed {}.", settings.seed)?;
    for recorded in all {
        let [dominated, right] = recorded.dominated;
        let choices: usize = recorded.people.iter().map(Vec::len).sum();
        writeln!(
            out,
            "\n{}: {} people, {choices} choices; in {dominated} more one was worse throughout, and {right} times refused.",
            recorded.name,
            recorded.people.len()
        )?;
        let heads = ["known", "model", "people are", "choices", "log-loss", "goal", "accuracy", "worst bin"];
        let mut table = Table::new(terminal, heads);
        for row in rows.iter().filter(|row| row.data == recorded.name) {
            let met = if row.holds { "holds" } else { "missed" };
            table.row([
                row.known.to_owned(),
                row.model.clone(),
                row.prior.to_owned(),
                row.choices.to_string(),
                format!("{:.3}", row.log_loss),
                row.goal.map_or(String::new(), |goal| format!("{goal:.3} {met}")),
                format!("{:.3}", row.accuracy),
                format!("{:.3}", row.unreliable),
            ]);
        }
        write!(out, "{table}")?;
    }
    for row in rows.iter().filter(|row| row.goal.is_some()) {
        writeln!(out, "\n{}, {} known, {}, people as {}:", row.data, row.known, row.model, row.prior)?;
        let mut table = Table::new(terminal, ["choices", "said", "seen"]);
        for (count, said, seen) in &row.bins {
            table.row([count.to_string(), format!("{said:.3}"), format!("{seen:.3}")]);
        }
        write!(out, "{table}")?;
    }
    Ok(())
}
