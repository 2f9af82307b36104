//! Figures 5.4, 6.7 and 6.8: pools of real classifiers, ranked by a hidden metric, by the elicited one and by others.
//!
//! The papers assume a ball. Here it is certified: every question is about classifiers made of those in the pool.

use super::{Report, Settings, Table, five_numbers, mean, quantile};
use anyhow::Result;
use equipoise::ask::{Counting, Simulated};
use equipoise::decide::agreement::{kendall_tau, ndcg};
use equipoise::metric::{Fair, Family, Matrix, Pair};
use equipoise::population::Confusions as _;
use equipoise::search::{GroupFair, GroupFairQuadratic, Quadratic, SlopeSearch, TradeOff};
use equipoise::space::{Achievable, GroupSphere, Space as _, Sphere};
use equipoise::testing::random;
use equipoise::{GroupShares, Measure, Metric, Outcome, Plan, Point, Sense};
use equipoise_data::{ModelConfusions, Pool};
use equipoise_plot::Plot;
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The papers' tolerance, and one that is fine enough for a ball as small as the certified ones.
const COARSE: f64 = 1e-3;
const FINE: f64 = 1e-6;
/// What the elicited metric must reach on every pool.
const TAU: f64 = 0.99;

fn antipodal(tolerance: f64) -> SlopeSearch {
    SlopeSearch::antipodal(tolerance).expect("a fair tolerance")
}

/// A pool that is ready to be asked about.
struct Contest {
    name: &'static str,
    pool: Pool,
    points: Vec<Point>,
    /// Of the certified ball.
    radius: f64,
}

impl Contest {
    fn new(name: &'static str, models: &[ModelConfusions], measure: Measure) -> Result<Self> {
        let pool = Pool::new(models)?;
        let set = Achievable::new(&pool, measure)?;
        let point = |model: &ModelConfusions| Ok(set.view().of(&model.confusions()?)?);
        let points = models.iter().map(point).collect::<Result<_>>()?;
        let Ok(radius) = set.radius();
        Ok(Self { name, points, radius, pool })
    }

    fn shares(&self) -> GroupShares {
        self.pool.prevalence().group_shares()
    }

    fn group_ball(&self) -> Result<GroupSphere> {
        Ok(GroupSphere::new(self.radius, self.shares())?)
    }

    /// How well each metric ranks the pool, by NDCG and Kendall's tau, if the hidden one is right.
    fn judge(&self, hidden: &Metric, metrics: &[Metric]) -> Vec<[f64; 2]> {
        let scores =
            |metric: &Metric| self.points.iter().map(|point| metric.liking(point)).collect::<Vec<_>>();
        let truth = scores(hidden);
        let agreement = |metric: &Metric| {
            let found = scores(metric);
            // A metric to which all models are equal agrees with nobody.
            let tau = kendall_tau(&truth, &found).expect("finite scores").unwrap_or(0.0);
            [ndcg(&truth, &found).expect("finite scores"), tau]
        };
        metrics.iter().map(agreement).collect()
    }
}

/// Elicits with both tolerances: the fine metric, the coarse one, and how many questions the fine one took.
fn elicit<P: Plan<Output = Outcome>>(plans: &[P; 2], hidden: &Metric) -> (Metric, Metric, u64) {
    let [fine, coarse] = plans.each_ref().map(|plan| {
        let mut oracle = Counting::new(Simulated::new(hidden.clone()));
        let Ok(outcome) = plan.run(&mut oracle);
        (outcome.metric, oracle.asked() as u64)
    });
    (fine.0, coarse.0, fine.1)
}

/// What became of one hidden metric: how each competitor ranks, and how many questions were asked.
type Trial = (Vec<[f64; 2]>, u64);

/// The tables, checks and pictures of a figure, pool by pool.
struct Figure {
    report: Report,
    table: Table,
    names: Vec<&'static str>,
    /// For each competitor a box of taus per pool.
    boxes: Vec<Vec<(String, [f64; 5])>>,
    /// Mean (NDCG, tau) by pool and competitor.
    means: Vec<Vec<[f64; 2]>>,
    /// Means over few metrics scatter too much to say who is better.
    compares: bool,
}

impl Figure {
    /// Competitors besides the elicited metric, which comes first, and its coarse version, which comes second.
    fn new(settings: &Settings, others: &[&'static str]) -> Self {
        let title = format!("Agreement with the hidden metric, over {} random ones", settings.metrics);
        let header = ["pool", "ranked by", "NDCG", "tau", "least tau", "paper"];
        let names: Vec<&'static str> = [&["elicited", "elicited, 1e-3"], others].concat();
        let boxes = vec![vec![]; names.len()];
        let (report, table, compares) =
            (Report::default(), Table::new(&title, &header), settings.metrics >= 100);
        Self { report, table, names, boxes, means: vec![], compares }
    }

    fn add(&mut self, contest: &Contest, trials: &[Trial]) {
        let mut means = vec![];
        for (n, name) in self.names.iter().enumerate() {
            let column = |part: usize| trials.iter().map(|(found, _)| found[n][part]).collect::<Vec<_>>();
            let (gains, taus) = (column(0), column(1));
            self.table.row(&[
                if n == 0 { contest.name.to_owned() } else { String::new() },
                (*name).to_owned(),
                format!("{:.4}", mean(&gains)),
                format!("{:.4}", mean(&taus)),
                format!("{:.4}", quantile(&taus, 0.0)),
                if n == 0 { "1".to_owned() } else { String::new() },
            ]);
            self.boxes[n].push((contest.name.to_owned(), five_numbers(&taus)));
            means.push([mean(&gains), mean(&taus)]);
        }
        let (name, tau) = (contest.name, means[0][1]);
        self.report.check(
            format!("{name}: the elicited metric reaches a mean tau of at least {TAU}"),
            format!("{tau:.4}"),
            tau >= TAU,
        );
        let rival = means[2..].iter().map(|mean| mean[1]).fold(f64::NEG_INFINITY, f64::max);
        if self.compares {
            self.report.check(
                format!("{name}: and ranks better than every other metric"),
                format!("the best of them has {rival:.4}"),
                tau > rival,
            );
        }
        let asked = mean(&trials.iter().map(|trial| trial.1 as f64).collect::<Vec<_>>());
        self.report.remarks.push(format!(
            "{name}: {} models, certified radius {:.4}, {asked:.0} questions.",
            contest.points.len(),
            contest.radius
        ));
        self.means.push(means);
    }

    /// On how many pools one competitor has a larger mean tau than another.
    fn wins(&self, winner: &str, loser: &str) -> usize {
        let place = |name: &str| self.names.iter().position(|n| *n == name).expect("a competitor");
        let (winner, loser) = (place(winner), place(loser));
        self.means.iter().filter(|means| means[winner][1] > means[loser][1]).count()
    }

    /// The report, with a picture of some of the competitors.
    fn finish(mut self, id: &str, drawn: &[&str], about: &str) -> Report {
        self.report.tables.push(self.table);
        self.report.remarks.push(format!(
            "Antipodal search with tolerance {FINE:e} in the certified ball; \"1e-3\": with the papers' tolerance of \
             {COARSE:e}. The paper draws bars without numbers; in its text the elicited metric has the highest possible \
             values. {about}"
        ));
        let mut plot =
            Plot::new(format!("Figure {id}: agreement with the hidden metric"), "pool", "Kendall's tau");
        for (name, boxes) in self.names.iter().zip(&self.boxes).filter(|(name, _)| drawn.contains(name)) {
            plot = plot.boxes(*name, boxes);
        }
        self.report.plots.push((format!("{id}.svg"), plot.to_svg()));
        self.report
    }
}

pub fn figure_5_4(settings: &Settings) -> Result<Report> {
    let others = [
        "all equal",
        "all in order",
        "a, B equal",
        "a, B in order",
        "a equal",
        "a in order",
        "a alone",
        "B alone",
    ];
    let mut figure = Figure::new(settings, &others);
    for (name, file) in
        [("default", "default"), ("adult", "adult_race"), ("wine", "wine"), ("crime", "crime")]
    {
        let contest = Contest::new(name, &settings.data.pool(file)?, Measure::GroupRates)?;
        let (ball, shares) = (contest.group_ball()?, contest.shares());
        let plan = GroupFair::new(ball.clone(), FINE)?;
        let plans = [FINE, COARSE].map(|tolerance| plan.clone().search(antipodal(tolerance)));
        let trials = settings.each(name, settings.metrics, |rng| {
            let hidden = random::group_fair(&shares, rng.random_range(0.1..0.9), rng);
            let (fine, coarse, asked) = elicit(&plans, &hidden);
            let others = defaults(&hidden, &fine, &ball, rng);
            (contest.judge(&hidden, &[vec![fine, coarse], others].concat()), asked)
        });
        figure.add(&contest, &trials);
    }
    let better = figure.wins("all in order", "all equal");
    let about = format!(
        "\"In order\": random weights in the order of the true ones (Table 5.2's w); they beat equal ones (all three parts) on \
         {better} of 4 pools, in the paper on all but default. Where only a part is set, B is the elicited one and lambda \
         is found by Algorithm 5.2 with the given a and B. \"a alone\" is lambda = 0, \"B alone\" lambda = 1."
    );
    let drawn = ["elicited", "all equal", "all in order", "a in order", "a alone", "B alone"];
    Ok(figure.finish("5.4", &drawn, &about))
}

/// The metrics of Table 5.2, in its order.
fn defaults(
    hidden: &Metric,
    elicited: &Metric,
    ball: &GroupSphere,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<Metric> {
    let (Family::GroupFair(truth), Family::GroupFair(found)) = (hidden.family(), elicited.family()) else {
        unreachable!("group-fair metrics")
    };
    let q = truth.performance().len();
    let weights: Vec<f64> = truth.fairness().iter().flat_map(|pair| pair.violation.clone()).collect();
    let pairs = |flat: Vec<f64>| -> Vec<Pair<Vec<f64>>> {
        let pair = |(old, weights): (&Pair<Vec<f64>>, &[f64])| Pair {
            groups: old.groups,
            violation: weights.to_vec(),
        };
        truth.fairness().iter().zip(flat.chunks(q)).map(pair).collect()
    };
    let equal = (vec![1.0; q], pairs(vec![1.0; weights.len()]));
    let ordered = (in_order(truth.performance(), rng), pairs(in_order(&weights, rng)));
    let side = if truth.trade_off() < 0.5 { 0.0..0.5 } else { 0.5..1.0 };
    let shares = truth.prevalence();
    let set = |a: &[f64], b: &[Pair<Vec<f64>>], trade_off: f64| {
        let fair = Fair::new(a.to_vec(), b.to_vec(), 0.5, shares.clone()).expect("parts of a metric");
        fair_metric(Family::GroupFair(fair.with_trade_off(trade_off)), shares)
    };
    let balanced = |a: &[f64], b: &[Pair<Vec<f64>>]| {
        let Family::GroupFair(parts) = set(a, b, 0.5).family().clone() else { unreachable!("as made") };
        let plan = TradeOff::new(ball.clone(), parts.performance().to_vec(), parts.fairness().to_vec(), FINE);
        let Ok(outcome) =
            plan.expect("parts that fit the ball").antipodal().run(&mut Simulated::new(hidden.clone()));
        outcome.metric
    };
    vec![
        set(&equal.0, &equal.1, 0.5),
        set(&ordered.0, &ordered.1, rng.random_range(side)),
        balanced(&equal.0, &equal.1),
        balanced(&ordered.0, &ordered.1),
        balanced(&equal.0, found.fairness()),
        balanced(&ordered.0, found.fairness()),
        set(truth.performance(), truth.fairness(), 0.0),
        set(truth.performance(), truth.fairness(), 1.0),
    ]
}

/// Random weights, the largest where the true ones are largest, and so on.
fn in_order(truth: &[f64], rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut drawn = random::sizes(truth.len(), rng);
    drawn.sort_by(f64::total_cmp);
    let mut places: Vec<usize> = (0..truth.len()).collect();
    places.sort_by(|&a, &b| truth[a].total_cmp(&truth[b]));
    let mut weights = vec![0.0; truth.len()];
    places.iter().zip(drawn).for_each(|(&place, weight)| weights[place] = weight);
    weights
}

/// A metric with parts of unit size, so that the trade-off means what it does in the definition.
fn fair_metric(family: Family, shares: &GroupShares) -> Metric {
    let view =
        equipoise::View::new(Measure::GroupRates, shares.classes(), shares.groups()).expect("two groups");
    Metric::new(view, Sense::Cost, family).expect("parts that fit the view")
}

pub fn figure_6_7(settings: &Settings) -> Result<Report> {
    let mut figure = Figure::new(settings, &["linear part", "accuracy"]);
    for (name, file) in
        [("default", "default"), ("adult", "adult_race"), ("wine", "wine"), ("covtype", "covtype")]
    {
        // Without the classifiers trained for fairness: the paper's 80, twenty of each kind.
        let models = settings.data.pool(file)?;
        let plain = models.iter().filter(|model| !model.name().starts_with("reweighed"));
        let models: Vec<ModelConfusions> = plain.map(ModelConfusions::overall).collect();
        let contest = Contest::new(name, &models, Measure::OffDiagonalRates)?;
        let ball = Sphere::new(Measure::OffDiagonalRates, contest.pool.classes(), contest.radius)?;
        let (view, plan) = (ball.view(), Quadratic::new(ball, FINE)?);
        let plans = [FINE, COARSE].map(|tolerance| plan.clone().search(antipodal(tolerance)));
        let trials = settings.each(name, settings.metrics, |rng| {
            let hidden = random::quadratic(view, rng);
            let (fine, coarse, asked) = elicit(&plans, &hidden);
            let Family::Quadratic(parts) = hidden.family() else { unreachable!("a quadratic metric") };
            let linear =
                |weights: Vec<f64>| Metric::linear(view, Sense::Cost, weights).expect("not all zero");
            let others = vec![linear(parts.linear().to_vec()), linear(vec![1.0; view.dimension()])];
            (contest.judge(&hidden, &[vec![fine, coarse], others].concat()), asked)
        });
        figure.add(&contest, &trials);
    }
    let better = figure.wins("linear part", "accuracy");
    let about = format!(
        "The true linear part beats accuracy on {better} of 4 pools (in the paper \"in general\"). Wine stands in for SensIT, \
         which we do not have."
    );
    Ok(figure.finish("6.7", &["elicited", "linear part", "accuracy"], &about))
}

pub fn figure_6_8(settings: &Settings) -> Result<Report> {
    let mut figure = Figure::new(settings, &["linear, no fairness", "accuracy, equal odds"]);
    for (name, file) in [("default", "default"), ("adult", "adult_sex")] {
        let contest = Contest::new(name, &settings.data.pool(file)?, Measure::GroupRates)?;
        let shares = contest.shares();
        let plan = GroupFairQuadratic::new(contest.group_ball()?, FINE)?;
        let plans = [FINE, COARSE].map(|tolerance| plan.clone().search(antipodal(tolerance)));
        let trials = settings.each(name, settings.metrics, |rng| {
            let hidden = random::group_fair_quadratic(&shares, rng.random_range(0.1..0.9), rng);
            let (fine, coarse, asked) = elicit(&plans, &hidden);
            let others = unfair_and_equal(&hidden);
            (contest.judge(&hidden, &[vec![fine, coarse], others].concat()), asked)
        });
        figure.add(&contest, &trials);
    }
    let about =
        "Equal odds: all errors and all squared differences between the groups weigh the same, lambda = .5.";
    Ok(figure.finish("6.8", &["elicited", "linear, no fairness", "accuracy, equal odds"], about))
}

/// The true performance without fairness, and equal weights for everything.
fn unfair_and_equal(hidden: &Metric) -> Vec<Metric> {
    let Family::GroupFairQuadratic(truth) = hidden.family() else { unreachable!("as drawn") };
    let q = truth.performance().len();
    let unit = |i: usize| (0..q).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
    let identity: Vec<Vec<f64>> = (0..q).map(unit).collect();
    let same = |pair: &Pair<Matrix>| Pair { groups: pair.groups, violation: identity.clone() };
    let squares: Vec<_> = truth.fairness().iter().map(same).collect();
    let made = |a: Vec<f64>, trade_off: f64| {
        let fair = Fair::new(a, squares.clone(), 0.5, truth.prevalence().clone()).expect("parts of a metric");
        fair_metric(Family::GroupFairQuadratic(fair.with_trade_off(trade_off)), truth.prevalence())
    };
    vec![made(truth.performance().to_vec(), 0.0), made(vec![1.0; q], 0.5)]
}
