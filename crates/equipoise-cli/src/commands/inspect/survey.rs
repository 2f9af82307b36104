//! The numbers behind `inspect`: who is in the table, whether its probabilities mean what they say, what is achievable.

use anyhow::Result;
use equipoise::Measure;
use equipoise::decide::threshold::RARE;
use equipoise::population::{Confusions as _, Population, Rule, Score, Total, Totals};
use equipoise::space::{Achievable, Polygon};
use equipoise_data::{Bin, Boundary, Reliability, Smooth};
use serde::Serialize;

/// Bins of a reliability curve.
const BINS: usize = 10;
/// Pairs of classes looked at: those most often mistaken for each other.
const MOST_PAIRS: usize = 15;
/// Random starts of the search for the nearest supporting plane.
const STARTS: usize = 6;
/// Rows that search sees; the plane it finds is then measured over all rows.
const SEARCH_ROWS: usize = 50_000;
/// With more classes the search has too many dimensions to be quick.
const SEARCH_CLASSES: usize = 6;

/// Cost ratios that somebody might hold.
const PLAUSIBLE: [f64; 2] = [0.01, 100.0];

/// Everything `inspect` finds out, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Survey {
    pub rows: usize,
    /// Whether rows have weights; shares are then of the weight.
    pub weighted: bool,
    pub classes: Vec<Class>,
    /// Empty without groups.
    pub groups: Vec<Group>,
    /// By how often they are mistaken for each other, most often first.
    pub pairs: Vec<Pair>,
    /// How many pairs there are in all.
    pub pairs_in_all: usize,
    /// The ball for everybody together.
    pub ball: Ball,
    /// The ball common to all groups, or why there is none.
    pub common_ball: Option<Common>,
    /// Two classes only.
    pub smooth: Option<Smoothing>,
}

#[derive(Debug, Serialize)]
pub struct Class {
    pub name: String,
    pub rows: usize,
    pub share: f64,
    pub calibration: Calibration,
}

/// How far the predicted probabilities of a class are from what was seen.
#[derive(Debug, Serialize)]
pub struct Calibration {
    /// The expected calibration error.
    pub error: f64,
    /// What it would be, about, if the probabilities were right and only the labels random.
    pub by_chance: f64,
    pub bins: Vec<Bin>,
}

impl Calibration {
    /// Whether the error is worth a warning: more than 0.05, and more than twice what chance explains.
    pub fn is_bad(&self) -> bool {
        self.error > 0.05 && self.error > 2.0 * self.by_chance
    }
}

#[derive(Debug, Serialize)]
pub struct Group {
    pub name: String,
    pub rows: usize,
    pub share: f64,
    /// Rows of every class, in the order of the classes.
    pub class_rows: Vec<usize>,
    /// The share of every class within the group.
    pub class_shares: Vec<f64>,
    /// The certified radius in this group by itself; absent if a class is.
    pub radius: Option<f64>,
    pub radius_bound: Option<f64>,
}

/// What thresholds between two classes reach.
#[derive(Debug, Serialize)]
pub struct Pair {
    /// The class that counts as negative here, and the positive one.
    pub classes: [String; 2],
    /// The area of the region in rates: 0 if the classes cannot be told apart, 1 if perfectly. For the hull of all
    /// thresholds it is twice the area under its ROC curve, minus 1.
    pub separation: f64,
    /// The corners, as recalls of the positive and of the negative class, counter-clockwise.
    pub corners: Vec<[f64; 2]>,
    /// Corners of the upper boundary: the thresholds that are best for some cost ratio.
    pub thresholds: usize,
    /// The least and the largest cost ratio (a missed positive over a false alarm) at which two thresholds are worth the
    /// same: answers tell ratios apart in between.
    pub ratios: Option<[f64; 2]>,
    /// The threshold that is best for the widest range of ratios within 1:100 and 100:1, "never" and "always" apart.
    pub widest_corner: Option<[f64; 2]>,
    /// The longest straight stretch of the upper boundary.
    pub longest_face: Face,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Face {
    /// Its length in rates.
    pub length: f64,
    /// The cost ratio for which everything on it is worth the same.
    pub ratio: f64,
}

/// A ball of rates around the coin toss.
#[derive(Debug, Clone, Serialize)]
pub struct Ball {
    /// Every point within it is achievable: the largest ball in the hull of steps along the axes.
    pub radius: f64,
    /// No ball around the same centre is larger; absent with more than six classes.
    pub bound: Option<f64>,
    /// Random starts of the search behind the bound.
    pub starts: usize,
    /// Rows that search saw; none where nothing was searched.
    pub search_rows: usize,
}

/// The ball common to all groups.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Common {
    Ball(Ball),
    Reason { reason: String },
}

/// The law of Section 8.1.1 fitted to the boundary.
#[derive(Debug, Serialize)]
pub struct Smoothing {
    pub slope: f64,
    pub offset: f64,
    /// The root of the mean squared distance between table and law.
    pub rmse: f64,
    /// How far the law's boundary leaves the hull of the table.
    pub outside: f64,
    /// Its boundary, as recalls of the positive and of the negative class.
    #[serde(skip)]
    pub boundary: Vec<[f64; 2]>,
}

/// Where the nearest supporting plane is searched.
enum Searched<P: Population> {
    /// In some of the rows.
    Part(P::Part),
    /// In all of them, whoever has them.
    All,
    Nowhere,
}

impl Survey {
    /// `classes` and `groups` are the names of those the population has; without groups there are no names.
    pub fn of<P>(population: &P, classes: &[String], groups: &[String], seed: u64) -> Result<Self>
    where
        P: Population<Err: std::error::Error + Send + Sync + 'static>,
    {
        let part = population.sample(SEARCH_ROWS, seed)?;
        Self::searched(population, &Searched::Part(part), classes, groups, seed)
    }

    /// The same of a population that gives counts but no rows: few are searched where they are. A search takes dozens of statements,
    /// each of which reads all rows, so there is no upper bound where they are many.
    pub fn by_statements<P>(population: &P, classes: &[String], groups: &[String], seed: u64) -> Result<Self>
    where
        P: Population<Err: std::error::Error + Send + Sync + 'static>,
    {
        let few = population.totals()?.overall().rows <= SEARCH_ROWS as u64;
        let search = if few { Searched::All } else { Searched::Nowhere };
        Self::searched(population, &search, classes, groups, seed)
    }

    fn searched<P>(
        population: &P,
        search: &Searched<P>,
        classes: &[String],
        groups: &[String],
        seed: u64,
    ) -> Result<Self>
    where
        P: Population<Err: std::error::Error + Send + Sync + 'static>,
    {
        let totals = population.totals()?;
        let (ball, ..) = ball(population, search, Measure::OffDiagonalRates, seed)?;
        let mut groups = self::groups(&totals, groups);
        let mut common_ball = None;
        if groups.len() > 1 {
            let lacking = groups.iter().any(|group| group.class_shares.contains(&0.0));
            common_ball = Some(if lacking {
                Common::Reason { reason: "a group has no row of a class".to_owned() }
            } else {
                let (ball, radii, bounds) = self::ball(population, search, Measure::GroupRates, seed)?;
                for (n, group) in groups.iter_mut().enumerate() {
                    (group.radius, group.radius_bound) = (Some(radii[n]), bounds.get(n).copied());
                }
                Common::Ball(ball)
            });
        }
        let k = classes.len();
        Ok(Self {
            rows: totals.overall().rows as usize,
            weighted: totals.weighted,
            pairs: pairs(population, classes)?,
            classes: self::classes(population, &totals, classes)?,
            groups,
            pairs_in_all: k * (k - 1) / 2,
            ball,
            common_ball,
            smooth: (k == 2).then(|| smoothing(population)).transpose()?,
        })
    }

    /// What to beware of, one sentence each, besides what the reader found.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        warnings.extend(self.rare());
        for class in self.classes.iter().filter(|class| class.calibration.is_bad()) {
            let Calibration { error, by_chance, .. } = &class.calibration;
            warnings.push(format!(
                "the probabilities of {} are off by {error:.3} on average ({by_chance:.3} would be chance); Bayes \
                 thresholds suppose that they are right",
                class.name
            ));
        }
        for pair in &self.pairs {
            warnings.extend(pair.warnings());
        }
        let flat = |radius: f64| radius < 0.01;
        if flat(self.ball.radius) {
            warnings.push(format!(
                "the certified radius is {:.4}: in some direction hardly anything is achievable, so questions \
                 from a ball would compare classifiers that look alike",
                self.ball.radius
            ));
        }
        if let Some(Common::Ball(common)) = &self.common_ball
            && flat(common.radius)
            && !flat(self.ball.radius)
        {
            warnings
                .push(format!("the radius common to all groups is {:.4}, next to nothing", common.radius));
        }
        if let Some(smooth) = &self.smooth
            && smooth.outside > 0.01
        {
            warnings.push(format!(
                "the smooth boundary promises up to {:.3} more than the table allows; use the hull",
                smooth.outside
            ));
        }
        warnings
    }

    /// Classes with few rows, overall or within a group, in one sentence.
    fn rare(&self) -> Option<String> {
        const MOST: usize = 6;
        let mut cells: Vec<(usize, String)> = Vec::new();
        for class in &self.classes {
            cells.push((class.rows, class.name.clone()));
        }
        for group in &self.groups {
            for (class, &rows) in self.classes.iter().zip(&group.class_rows) {
                cells.push((rows, format!("{} in group {}", class.name, group.name)));
            }
        }
        cells.retain(|&(rows, _)| (1..RARE).contains(&rows));
        cells.sort();
        let fewest = cells.first()?.0;
        let names: Vec<String> =
            cells.iter().take(MOST).map(|(rows, name)| format!("{name} ({rows})")).collect();
        let more = match cells.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "fewer than {RARE} rows of {}{more}; a rate measured on {fewest} is uncertain by about {:.2}",
            names.join(", "),
            1.0 / (fewest as f64).sqrt()
        ))
    }
}

/// The certified radius and the bound, the smallest over all groups, and those of each group.
fn ball<P>(
    population: &P,
    search: &Searched<P>,
    measure: Measure,
    seed: u64,
) -> Result<(Ball, Vec<f64>, Vec<f64>)>
where
    P: Population<Err: std::error::Error + Send + Sync + 'static>,
{
    let set = Achievable::new(population, measure)?;
    let radii = set.radii()?;
    let mut bounds = Vec::new();
    if population.classes() <= SEARCH_CLASSES {
        let planes = match search {
            Searched::Part(part) => {
                let Ok(planes) = Achievable::new(part, measure)?.nearest_planes(STARTS, seed);
                planes
            }
            Searched::All => set.nearest_planes(STARTS, seed)?,
            Searched::Nowhere => vec![],
        };
        for (group, (normal, _)) in planes.iter().enumerate() {
            // On the rows of a table a rule may be a little worse than theory says: a plane is then too near.
            bounds.push(set.clearance(normal, group)?.max(radii[group]));
        }
    }
    let least = |values: &[f64]| values.iter().copied().reduce(f64::min);
    let ball = Ball {
        radius: least(&radii).unwrap_or(0.0),
        bound: least(&bounds),
        starts: STARTS,
        search_rows: match search {
            Searched::Part(part) => part.totals().map_or(0, |totals| totals.overall().rows as usize),
            Searched::All => population.totals()?.overall().rows as usize,
            Searched::Nowhere => 0,
        },
    };
    Ok((ball, radii, bounds))
}

fn classes<P>(population: &P, totals: &Totals, names: &[String]) -> Result<Vec<Class>>
where
    P: Population<Err: std::error::Error + Send + Sync + 'static>,
{
    let effective = totals.overall().effective_rows();
    let class = |n: usize| -> Result<Class> {
        let curve = Reliability::new(&population.score_profile(Score::Class(n))?, BINS);
        // The mean distance of a share among m rows from its probability p is about sqrt(2 p (1 - p) / (pi m)).
        let chance = |bin: &Bin| {
            let p = bin.predicted.clamp(0.0, 1.0);
            let rows = (bin.share * effective).max(1.0);
            bin.share * (2.0 * p * (1.0 - p) / (std::f64::consts::PI * rows)).sqrt()
        };
        Ok(Class {
            name: names[n].clone(),
            rows: totals.of_class(n).rows as usize,
            share: population.prevalence().class_priors()[n],
            calibration: Calibration {
                error: curve.error(),
                by_chance: curve.bins.iter().map(chance).sum(),
                bins: curve.bins,
            },
        })
    };
    (0..names.len()).map(class).collect()
}

fn groups(totals: &Totals, names: &[String]) -> Vec<Group> {
    let group = |n: usize| {
        let all = totals.of_group(n);
        let share = |part: &Total| if all.weight > 0.0 { part.weight / all.weight } else { 0.0 };
        Group {
            name: names[n].clone(),
            rows: all.rows as usize,
            share: all.weight / totals.overall().weight,
            class_rows: totals.cells[n].iter().map(|cell| cell.rows as usize).collect(),
            class_shares: totals.cells[n].iter().map(share).collect(),
            radius: None,
            radius_bound: None,
        }
    };
    (0..names.len()).map(group).collect()
}

/// The pairs of classes most often mistaken for each other, and what thresholds between them reach.
fn pairs<P>(population: &P, names: &[String]) -> Result<Vec<Pair>>
where
    P: Population<Err: std::error::Error + Send + Sync + 'static>,
{
    let k = population.classes();
    let found = population.confusions(&[Rule::most_likely(k)?])?;
    let confusion = found[0].overall();
    let priors = population.prevalence().class_priors();
    let mistaken = |a: usize, b: usize| confusion.get(a, b) / priors[a] + confusion.get(b, a) / priors[b];
    let mut order: Vec<(usize, usize)> = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))).collect();
    order.sort_by(|&(a, b), &(c, d)| mistaken(c, d).total_cmp(&mistaken(a, b)));
    order.truncate(MOST_PAIRS);
    let pair = |&(a, b): &(usize, usize)| {
        let hull = Boundary::of(population, a, b)?.hull()?;
        let names = [a, b].map(|class| names[class].clone());
        Ok(Pair::new(names, [priors[a], priors[b]], &hull))
    };
    order.iter().map(pair).collect()
}

impl Pair {
    /// From the hull of (correct negatives, correct positives) and the priors of both.
    fn new(classes: [String; 2], [negative, positive]: [f64; 2], hull: &Polygon) -> Self {
        let rates = |&[a, b]: &[f64; 2]| [b / positive, a / negative];
        let mut corners: Vec<[f64; 2]> = hull.vertices().iter().map(rates).collect();
        // Swapping the axes turned the corners the other way round.
        corners.reverse();
        let upper = upper(&corners);
        // A step along the boundary finds more positives and clears fewer negatives; it pays from this ratio on.
        let ratio = |a: [f64; 2], b: [f64; 2]| (a[1] - b[1]) * negative / ((b[0] - a[0]) * positive);
        let ratios: Vec<f64> = upper.windows(2).map(|ends| ratio(ends[0], ends[1])).collect();
        let faces = upper.windows(2).zip(&ratios).map(|(ends, &ratio)| Face {
            length: (ends[1][0] - ends[0][0]).hypot(ends[1][1] - ends[0][1]),
            ratio,
        });
        // Where only one kind of error changes, nothing is traded.
        let is_traded = |ratio: f64| ratio > 0.0 && ratio.is_finite();
        let longest = faces.filter(|face| is_traded(face.ratio)).max_by(|a, b| a.length.total_cmp(&b.length));
        let traded: Vec<f64> = ratios.into_iter().filter(|&ratio| is_traded(ratio)).collect();
        let within = |ratio: f64| ratio.clamp(PLAUSIBLE[0], PLAUSIBLE[1]);
        let inner = traded.windows(2).map(|ends| [within(ends[0]), within(ends[1])]);
        let factor = |range: &[f64; 2]| range[1] / range[0];
        Self {
            classes,
            separation: area(&corners),
            thresholds: upper.len(),
            ratios: traded.first().zip(traded.last()).map(|(&low, &high)| [low, high]),
            widest_corner: inner.max_by(|a, b| factor(a).total_cmp(&factor(b))),
            longest_face: longest.unwrap_or(Face { length: 0.0, ratio: 1.0 }),
            corners,
        }
    }

    /// The upper boundary, from "never" to "always".
    pub fn upper(&self) -> Vec<[f64; 2]> {
        upper(&self.corners)
    }

    fn warnings(&self) -> Vec<String> {
        let [negative, positive] = &self.classes;
        let mut warnings = Vec::new();
        if self.separation < 0.05 {
            warnings.push(format!(
                "{negative} and {positive} can hardly be told apart (separation {:.3}), so hardly any question about \
                 them has two different answers to choose from",
                self.separation
            ));
            return warnings;
        }
        let Face { length, ratio } = self.longest_face;
        if length > 0.25 && (PLAUSIBLE[0]..=PLAUSIBLE[1]).contains(&ratio) {
            warnings.push(format!(
                "the boundary between {negative} and {positive} has a straight face of length {length:.2}: at a cost ratio of \
                 {} all of it is worth the same, and only draws between its ends are on it",
                crate::ratio::two_digits(ratio)
            ));
        }
        if let Some([low, high]) = self.widest_corner
            && high > 3.0 * low
        {
            let [low, high] = [low, high].map(crate::ratio::two_digits);
            warnings.push(format!(
                "one threshold between {negative} and {positive} is best for every cost ratio from {low} to {high}: no \
                 comparison of thresholds can narrow that range down"
            ));
        }
        warnings
    }
}

/// The part of a polygon's corners that goes from (0, 1) to (1, 0) above the diagonal.
fn upper(corners: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut upper: Vec<[f64; 2]> = corners.iter().copied().filter(|[x, y]| x + y >= 1.0 - 1e-12).collect();
    upper.sort_by(|a, b| a[0].total_cmp(&b[0]).then(b[1].total_cmp(&a[1])));
    upper
}

/// The area of a polygon, its corners in order.
fn area(corners: &[[f64; 2]]) -> f64 {
    let twice: f64 = (0..corners.len())
        .map(|n| (corners[n], corners[(n + 1) % corners.len()]))
        .map(|(a, b)| a[0] * b[1] - a[1] * b[0])
        .sum();
    0.5 * twice.abs()
}

fn smoothing<P>(population: &P) -> Result<Smoothing>
where
    P: Population<Err: std::error::Error + Send + Sync + 'static>,
{
    let smooth = Smooth::fit(population)?;
    let law = smooth.law();
    let priors = law.prevalence().class_priors();
    let at = |n: usize| {
        let [positive, negative] = law.at_cut(n as f64 / 200.0 - 1.0);
        [positive / priors[1], negative / priors[0]]
    };
    Ok(Smoothing {
        slope: law.slope(),
        offset: law.offset(),
        rmse: smooth.distance(),
        outside: smooth.outside(),
        boundary: (0..=400).map(at).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(corners: Vec<[f64; 2]>) -> Pair {
        Pair::new(["no", "yes"].map(str::to_owned), [0.8, 0.2], &Polygon::hull(corners).unwrap())
    }

    #[test]
    fn a_square_is_perfect_separation() {
        let perfect = pair(vec![[0.0, 0.0], [0.8, 0.0], [0.8, 0.2], [0.0, 0.2]]);
        assert!((perfect.separation - 1.0).abs() < 1e-12);
        assert_eq!(perfect.upper(), [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]);
    }

    #[test]
    fn ratios_are_those_at_which_neighbouring_thresholds_are_worth_the_same() {
        // Half of the positives for a tenth of all rows: 0.1 found for 0.1 false alarms; the rest costs 0.7 for 0.1.
        let found = pair(vec![[0.0, 0.2], [0.8, 0.0], [0.7, 0.1], [0.1, 0.1]]);
        let [low, high] = found.ratios.unwrap();
        assert!((low - 1.0).abs() < 1e-9 && (high - 7.0).abs() < 1e-9, "{low} {high}");
        assert_eq!(found.thresholds, 3);
        assert_eq!(found.widest_corner, found.ratios);
        assert!((found.longest_face.ratio - 7.0).abs() < 1e-9);
        let says = found.warnings();
        assert!(says[1].contains("from 1.0 to 7.0"), "{says:?}");
    }

    #[test]
    fn classes_that_look_alike_are_said_to() {
        let flat = pair(vec![[0.0, 0.2], [0.8, 0.0]]);
        assert_eq!((flat.separation, flat.widest_corner), (0.0, None));
        assert!(flat.warnings()[0].starts_with("no and yes can hardly be told apart"));
    }
}
