//! `equipoise bench people`: simulated people are asked what `elicit` asks about real tables, and decide by what comes out.

use super::{Settings, conclude, each, quantile};
use crate::args::{Bench, Global};
use crate::fault::Fault;
use crate::files;
use crate::table::Table;
use crate::terminal::Terminal;
use anyhow::{Context as _, Result};
use equipoise::ask::{NoiseModel, Simulated};
use equipoise::engine::{Adaptive, Belief, Stop};
use equipoise::population::{Confusions as _, Rule};
use equipoise::space::{Achievable, Binary, Space as _};
use equipoise::testing::people;
use equipoise::{Measure, Metric, Oracle as _, Query, Sense};
use equipoise_data::{Columns, Sample, binary_space, operating_point, read};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// The tables of the repository, and what is to hold for the standard person: questions, mean regret, its 90 % quantile.
const TABLES: [(&str, Option<[f64; 3]>); 6] = [
    ("examples/tables/screening.csv", Some([10.0, 0.02, 0.04])),
    ("examples/tables/triage.csv", Some([15.0, 0.045, 0.11])),
    ("experiments/predictions/vehicle_100.csv", Some([20.0, 0.08, 0.19])),
    ("experiments/predictions/adult_sex.csv.gz:group", Some([20.0, 0.08, f64::INFINITY])),
    ("experiments/predictions/wine.csv.gz", None),
    ("experiments/predictions/covtype.csv.gz", Some([30.0, f64::INFINITY, f64::INFINITY])),
];

/// The 95 % bound of the regret and the 95 % intervals of weights are to hold this often.
const COVERAGE: [f64; 2] = [0.93, 0.99];

/// How somebody errs: by the ratio of what is gained to what is lost, or by slips alone.
const PEOPLE: [(&str, NoiseModel); 7] = [
    ("standard", NoiseModel::Relative { slope: 3.0, lapse: 0.015 }),
    ("blunt", NoiseModel::Relative { slope: 2.0, lapse: 0.025 }),
    ("5 % flips", NoiseModel::Flip { probability: 0.05 }),
    ("10 % flips", NoiseModel::Flip { probability: 0.10 }),
    ("15 % flips", NoiseModel::Flip { probability: 0.15 }),
    ("20 % flips", NoiseModel::Flip { probability: 0.20 }),
    // Nobody: a coin.
    (COIN, NoiseModel::Flip { probability: 0.5 }),
];

/// Who holds nothing.
const COIN: &str = "coin";

/// Of those who hold something, at most so many may be refused; of coins, at least so many are to be.
const REFUSED: [f64; 2] = [0.05, 0.8];

/// One cell.
#[derive(Debug, Serialize)]
struct Row {
    table: String,
    person: &'static str,
    weights: usize,
    people: usize,
    questions: f64,
    questions_p90: f64,
    regret: f64,
    regret_p90: f64,
    /// How often the regret was within its bound, and weights within their intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_holds: Option<f64>,
    weights_hold: f64,
    /// Shares of the systems shown that nobody would build, by accuracy (or Youden's index) and by the person's own weights;
    /// the latter among people who like the classifier better than any constant answer.
    degenerate: f64,
    disliked: f64,
    /// Questions whose systems differ in other than two rows, or probes in other than three.
    other_rows: usize,
    /// Probes asked, on average, and the share of people who were told that their answers look like chance, or that a metric
    /// does not explain them.
    probes: f64,
    refused: f64,
    /// The share whose ratio the answers bound on one side only.
    one_sided: f64,
    milliseconds: f64,
    goal: String,
    holds: bool,
}

/// What one person came to.
struct Session {
    asked: f64,
    regret: f64,
    bound: Option<f64>,
    weights_held: f64,
    shown: usize,
    degenerate: usize,
    /// Shown to somebody who likes the classifier better than any constant answer, and worse than that.
    judged: usize,
    disliked: usize,
    other_rows: usize,
    probes: usize,
    refused: bool,
    one_sided: bool,
    milliseconds: f64,
}

/// Runs the cells and prints them.
pub(super) fn run(args: &Bench, settings: &Settings, global: &Global) -> Result<ExitCode> {
    let named: Vec<(String, Option<[f64; 3]>)> = match args.tables.is_empty() {
        false => args.tables.iter().map(|table| (table.clone(), None)).collect(),
        true => TABLES.iter().map(|(table, goal)| ((*table).to_owned(), *goal)).collect(),
    };
    let mut rows = vec![];
    for (name, goal) in named {
        let wanted: Vec<_> =
            PEOPLE.iter().filter(|(who, _)| settings.wants(&format!("{name}, {who}"))).collect();
        if wanted.is_empty() {
            continue;
        }
        let table = Asked::read(&name)?.ending_at(args.regret)?;
        for (who, noise) in wanted {
            rows.push(table.cell(&name, who, *noise, goal, settings));
        }
    }
    let holds = rows.iter().all(|row| row.holds);
    let sizes = [("people", settings.metrics)];
    conclude(&rows, holds, &sizes, settings, global, &mut std::io::stdout().lock(), print)
}

/// A table that is asked about.
enum Asked {
    Two(Binary, Adaptive, f64),
    More(Box<Sample<equipoise_data::Table>>, Adaptive),
}

impl Asked {
    /// A file, and after a colon the column of its groups.
    fn read(name: &str) -> Result<Self> {
        let (file, group) = match name.rsplit_once(':') {
            Some((file, group)) => (file, Some(group)),
            None => (name, None),
        };
        if !Path::new(file).exists() {
            let what = format!(
                "{file} is not there: run in the root of the repository, or name tables with --table"
            );
            return Err(Fault::input_output(what).into());
        }
        let columns = group.map_or(Columns::guess(), |group| Columns::guess().groups([group]));
        let sample = Sample::new(read::table(Path::new(file), &columns)?.data)
            .context(files::name(Path::new(file)))?;
        if sample.classes() == 2 && group.is_none() {
            let space = binary_space(&sample)?;
            let plan = Adaptive::ratio(space.clone());
            return Ok(Self::Two(space, plan, sample.prevalence().class_priors()[1]));
        }
        let rule = Rule::most_likely(sample.classes())?;
        let plan = Adaptive::around(operating_point(&sample, &rule, group.is_some())?)?;
        Ok(Self::More(Box::new(sample), plan))
    }

    /// The same, with questions that end at another regret.
    fn ending_at(self, regret: Option<f64>) -> Result<Self> {
        let Some(at_most) = regret else { return Ok(self) };
        let ending = |plan: Adaptive| plan.stop(vec![Stop::Regret { at_most }]);
        Ok(match self {
            Self::Two(space, plan, prior) => Self::Two(space, ending(plan)?, prior),
            Self::More(sample, plan) => Self::More(sample, ending(plan)?),
        })
    }

    fn plan(&self) -> &Adaptive {
        match self {
            Self::Two(_, plan, _) | Self::More(_, plan) => plan,
        }
    }

    fn weights(&self) -> usize {
        match self {
            Self::Two(..) => 2,
            Self::More(_, plan) => plan.operating_point().map_or(0, |space| space.dimension()),
        }
    }

    fn cell(
        &self,
        table: &str,
        who: &'static str,
        noise: NoiseModel,
        goal: Option<[f64; 3]>,
        settings: &Settings,
    ) -> Row {
        let sessions = each(settings, &format!("{table}, {who}"), |_, rng| self.session(noise, rng));
        let of = |value: fn(&Session) -> f64| sessions.iter().map(value).collect::<Vec<f64>>();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let shown: usize = sessions.iter().map(|session| session.shown).sum();
        let total = |value: fn(&Session) -> usize| sessions.iter().map(value).sum::<usize>() as f64;
        let bounds: Vec<f64> = (sessions.iter())
            .filter_map(|session| Some(f64::from(u8::from(session.regret <= session.bound? + 1e-12))))
            .collect();
        let (asked, regrets) = (of(|s| s.asked), of(|s| s.regret));
        let bound_holds = (!bounds.is_empty()).then(|| mean(&bounds));
        let (questions, regret) = (quantile(&asked, 0.5), mean(&regrets));
        let (regret_p90, weights_hold) = (quantile(&regrets, 0.9), mean(&of(|s| s.weights_held)));
        let least = if who == "20 % flips" { 0.9 } else { COVERAGE[0] };
        let covers = |share: f64| share >= least && (who.contains('2') || share <= COVERAGE[1] + 0.005);
        let refused = mean(&of(|s| f64::from(u8::from(s.refused))));
        let goal = goal.filter(|_| who == "standard");
        let reached =
            goal.is_none_or(|[most, mean, p90]| questions <= most && regret <= mean && regret_p90 <= p90);
        let text = goal.map_or("coverage".to_owned(), |[most, mean, p90]| {
            let limit = |x: f64| if x.is_finite() { format!("{x}") } else { "-".to_owned() };
            format!("{most}, {}, {}", limit(mean), limit(p90))
        });
        Row {
            table: Path::new(table)
                .file_name()
                .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            person: who,
            weights: self.weights(),
            people: sessions.len(),
            questions,
            questions_p90: quantile(&asked, 0.9),
            regret,
            regret_p90,
            bound_holds,
            weights_hold,
            degenerate: total(|s| s.degenerate) / shown as f64,
            disliked: total(|s| s.disliked) / total(|s| s.judged).max(1.0),
            other_rows: sessions.iter().map(|s| s.other_rows).sum(),
            probes: mean(&of(|s| s.probes as f64)),
            refused,
            one_sided: mean(&of(|s| f64::from(u8::from(s.one_sided)))),
            milliseconds: quantile(&of(|s| s.milliseconds), 0.5),
            goal: text,
            holds: match who {
                COIN => refused >= REFUSED[1],
                _ => {
                    let held = covers(weights_hold) && bound_holds.is_none_or(covers);
                    reached && held && (refused <= REFUSED[0] || who.contains("flips"))
                }
            },
        }
    }

    fn session(&self, noise: NoiseModel, rng: &mut Xoshiro256PlusPlus) -> Session {
        let costs: Vec<f64> =
            StandardNormal.sample_iter(&mut *rng).take(self.weights()).map(f64::abs).collect();
        let hidden = match self {
            Self::Two(space, ..) => {
                Metric::linear(space.view(), Sense::Utility, vec![costs[1], costs[0]]).expect("two weights")
            }
            Self::More(_, plan) => people::metric_of(plan, &costs).expect("a linear family"),
        };
        let seed = rand::RngExt::random(rng);
        let mut person = Simulated::with_noise(hidden, noise, seed).expect("a fair noise");
        let (plan, mut belief) = (self.plan(), self.plan().start());
        let mut session = Session {
            asked: 0.0,
            regret: 0.0,
            bound: None,
            weights_held: 0.0,
            shown: 0,
            degenerate: 0,
            judged: 0,
            disliked: 0,
            other_rows: 0,
            probes: 0,
            refused: false,
            one_sided: false,
            milliseconds: 0.0,
        };
        let begun = std::time::Instant::now();
        while let Ok(query) = plan.next(belief.as_ref()) {
            let Ok(answer) = person.prefer(&query);
            belief.take(&query, &answer);
            self.look_at(&query, 2, &costs, &mut session);
            session.asked += 1.0;
        }
        let doubts = plan.doubts(belief.as_ref(), |query| {
            let Ok(answer) = person.prefer(query);
            self.look_at(query, 3, &costs, &mut session);
            session.probes += 1;
            answer
        });
        session.milliseconds =
            1000.0 * begun.elapsed().as_secs_f64() / (session.asked + session.probes as f64);
        session.refused = !doubts.is_empty();
        session.one_sided = belief.ratio_ends().is_some_and(|ends| ends.contains(&None));
        session.bound = belief.regret().map(|regret| regret.bound);
        session.regret = self.regret(belief.as_ref(), &costs);
        session.weights_held = self.weights_held(belief.as_ref(), &costs);
        session
    }

    /// Counts what nobody would build.
    fn look_at(&self, query: &Query, rows: usize, costs: &[f64], session: &mut Session) {
        for point in [&query.first, &query.second] {
            session.shown += 1;
            match self {
                Self::Two(space, _, prior) => {
                    let youden = |p: [f64; 2]| p[0] / prior + p[1] / (1.0 - prior) - 1.0;
                    let best = space.best(&[1.0 / prior, 1.0 / (1.0 - prior)]);
                    let half = 0.5 * youden([best[0], best[1]]);
                    session.degenerate += usize::from(youden([point[0], point[1]]) < half - 1e-9);
                }
                Self::More(sample, plan) => {
                    let Some(space) = plan.operating_point() else { continue };
                    let (kinds, k) = (space.kinds_of(point), sample.classes());
                    let priors = sample.prevalence().class_priors();
                    let error: f64 = (0..k * (k - 1)).map(|n| priors[n / (k - 1)] * kinds[n]).sum();
                    let most = priors.iter().copied().fold(0.0, f64::max);
                    session.degenerate += usize::from(error > 1.0 - most + 1e-9);
                    let cost = |kinds: &[f64]| kinds.iter().zip(costs).map(|(x, w)| x * w).sum::<f64>();
                    let pairs: Vec<(usize, usize)> = equipoise::rates::off_diagonal_pairs(k).collect();
                    let always = |class: usize| {
                        pairs.iter().map(|(_, j)| f64::from(u8::from(*j == class))).collect::<Vec<f64>>()
                    };
                    let constant = (0..k).map(|class| cost(&always(class))).fold(f64::INFINITY, f64::min);
                    // To some people always answering one class is the best there is.
                    if cost(&space.kinds_of(&space.centre())) <= constant {
                        session.judged += 1;
                        session.disliked += usize::from(cost(&kinds) > constant + 1e-9);
                    }
                }
            }
        }
        if let Some(space) = self.plan().operating_point() {
            let [first, second] = [&query.first, &query.second].map(|point| space.kinds_of(point));
            let differ = first.iter().zip(&second).filter(|(a, b)| (*a - *b).abs() > 1e-9).count();
            session.other_rows += usize::from(differ != rows);
        }
    }

    /// How much more the rule that follows costs the person than the best one.
    fn regret(&self, belief: &dyn Belief, costs: &[f64]) -> f64 {
        let found = belief.metric();
        match self {
            Self::Two(space, _, prior) => {
                let ratio = found.cost_ratio().unwrap_or(1.0);
                let cost = |p: &[f64]| costs[1] * (prior - p[0]) + costs[0] * (1.0 - prior - p[1]);
                let least = cost(&space.best(&[costs[1], costs[0]]));
                (cost(&space.best(&[ratio, 1.0])) - least) / least.max(1e-9)
            }
            Self::More(sample, plan) => {
                let (Some(space), estimate) = (plan.operating_point(), found.coefficients()) else {
                    return f64::NAN;
                };
                // Without groups the best rule for any weights is known exactly; with them the listed ones stand for all.
                let set =
                    Achievable::new(sample.as_ref(), Measure::OffDiagonalRates).expect("every class occurs");
                let best = |weights: &[f64]| {
                    let against: Vec<f64> = weights.iter().map(|w| -w).collect();
                    set.extreme(&against, 0).map(|(_, point)| point).ok()
                };
                let more: Vec<Vec<f64>> = match space.prevalence() {
                    None => [best(&estimate), best(costs)].into_iter().flatten().collect(),
                    Some(_) => vec![],
                };
                space.regret(&estimate, costs, &more)
            }
        }
    }

    /// The share of weights within their 95 % intervals: as shares of their sum, or the cost ratio.
    fn weights_held(&self, belief: &dyn Belief, costs: &[f64]) -> f64 {
        let inside = |low: f64, truth: f64, high: f64| f64::from(u8::from(low <= truth && truth <= high));
        if let Some([low, high]) = belief.ratio_ends() {
            return inside(low.unwrap_or(0.0), costs[1] / costs[0], high.unwrap_or(f64::INFINITY));
        }
        let shares = |weights: &[f64]| {
            let sum: f64 = weights.iter().sum();
            weights.iter().map(|w| w / sum).collect::<Vec<f64>>()
        };
        let drawn: Vec<Vec<f64>> =
            belief.draws(1000).iter().map(|metric| shares(&metric.coefficients())).collect();
        let truth = shares(costs);
        let held = |n: usize| {
            let of: Vec<f64> = drawn.iter().map(|draw| draw[n]).collect();
            inside(quantile(&of, 0.025), truth[n], quantile(&of, 0.975))
        };
        (0..truth.len()).map(held).sum::<f64>() / truth.len() as f64
    }
}

fn print(rows: &[Row], settings: &Settings, out: &mut impl std::io::Write) -> Result<()> {
    let terminal = Terminal::detect();
    let title = format!(
        "What simulated people are asked about real tables, and what they would regret: {} people per cell (seed {})",
        settings.metrics, settings.seed
    );
    writeln!(out, "{}\n", terminal.bold(&title))?;
    let headings = [
        "table",
        "person",
        "weights",
        "questions",
        "p90",
        "regret",
        "p90",
        "bound holds",
        "weights hold",
        "degenerate",
        "disliked",
        "one-sided",
        "probes",
        "refused",
        "ms",
        "goal",
        "",
    ];
    let mut table = Table::new(terminal, headings);
    for row in rows {
        table.row([
            row.table.clone(),
            row.person.to_owned(),
            row.weights.to_string(),
            format!("{:.0}", row.questions),
            format!("{:.0}", row.questions_p90),
            format!("{:.4}", row.regret),
            format!("{:.3}", row.regret_p90),
            row.bound_holds.map_or("-".to_owned(), |share| format!("{share:.3}")),
            format!("{:.3}", row.weights_hold),
            format!("{:.3}", row.degenerate),
            format!("{:.3}", row.disliked),
            format!("{:.3}", row.one_sided),
            format!("{:.1}", row.probes),
            format!("{:.3}", row.refused),
            format!("{:.0}", row.milliseconds),
            row.goal.clone(),
            (if row.holds { "ok" } else { "MISSED" }).to_owned(),
        ]);
    }
    write!(out, "{table}")?;
    let note = "regret: how much more the rule that follows costs the person than the best one for them, as a share. bound, \
                weights: how often the 95 % bound of the regret and the 95 % intervals of weights hold. degenerate: the share \
                of systems shown that are worse than always answering one class (two classes: below half of the best Youden \
                index). disliked: worse than that by the person's own weights, among people who like the classifier better than any \
                constant answer. one-sided: people whose cost ratio the answers bound on one side only. probes: asked after the \
                questions. refused: people who are told that their answers look like chance or that a metric does not explain \
                them. goal: questions, mean regret, its 90 % quantile.";
    writeln!(out, "\n{}", terminal.paragraph(note))?;
    Ok(())
}
