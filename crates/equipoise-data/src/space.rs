//! Which of the classifiers a table allows are asked about.

use crate::boundary::Boundary;
use equipoise::population::Rule;
use equipoise::population::{AskError, Population};
use equipoise::space::{
    Achievable, AnySpace, Binary, Diagonal, GroupSphere, OperatingPoint, Polygon, Space as _, Sphere,
};
use equipoise::{Error, Measure, Result};

/// Below this radius no two classifiers of the ball can be told apart among a million cases.
const SMALLEST_RADIUS: f64 = 1e-5;

/// Nor two of classes that no threshold tells apart by this much (Youden's index).
const LEAST_YOUDEN: f64 = 0.01;

/// The classifiers that questions about a family of metrics are taken from: thresholds, faces of the diagonals, a certified
/// ball of error rates, or one common to all groups.
///
/// ```
/// use equipoise::space::AnySpace;
/// use equipoise_data::{Sample, Table, space_for};
/// let classes = vec!["no".to_owned(), "yes".to_owned()];
/// let yes = vec![0.1, 0.3, 0.6, 0.8];
/// let no = yes.iter().map(|p| 1.0 - p).collect();
/// let sample = Sample::new(Table::new(classes, vec![0, 0, 1, 1], vec![no, yes])?.data)?;
/// assert!(matches!(space_for(&sample, "linear")?, AnySpace::Binary(_)));
/// assert!(matches!(space_for(&sample, "quadratic")?, AnySpace::Sphere(_)));
/// assert!(space_for(&sample, "group_fair").is_err()); // there are no groups
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn space_for<P: Population>(population: &P, family: &str) -> Result<AnySpace, AskError<P::Err>> {
    let k = population.classes();
    let radius = |measure: Measure, place: &str| {
        let radius = Achievable::new(population, measure)?.radius().map_err(AskError::Population)?;
        Ok::<_, AskError<P::Err>>(some_room(radius, place)?)
    };
    if family.starts_with("group_fair") || family.ends_with("trade_off") {
        if population.groups() < 2 {
            return Err(Error::Mismatch("there are no groups to compare".to_owned()).into());
        }
        let radius = radius(Measure::GroupRates, " in every group")?;
        return Ok(AnySpace::GroupSphere(GroupSphere::new(radius, population.prevalence().group_shares())?));
    }
    if family.starts_with("diagonal") {
        return Ok(AnySpace::Diagonal(diagonal_space(population)?));
    }
    if k == 2 && family.starts_with("linear") {
        return Ok(AnySpace::Binary(told_apart(binary_space(population)?)?));
    }
    let radius = radius(Measure::OffDiagonalRates, "")?;
    Ok(AnySpace::Sphere(Sphere::new(Measure::OffDiagonalRates, k, radius)?))
}

/// Two classes of which some threshold tells at least one case in a hundred apart: of others nothing could be asked.
fn told_apart(space: Binary) -> Result<Binary> {
    let prior = space.positive_prior();
    let best = space.best(&[1.0 / prior, 1.0 / (1.0 - prior)]);
    let youden = best[0] / prior + best[1] / (1.0 - prior) - 1.0;
    if youden < LEAST_YOUDEN {
        let what = "no threshold tells the classes apart by as much as 1 case in 100: these scores are too few or too alike to ask about; \
                    another column of scores helps, or another model";
        return Err(Error::Mismatch(what.to_owned()));
    }
    Ok(space)
}

/// The classifiers around a rule that somebody has, for questions in which two kinds of error are traded; `groups` tells groups
/// apart.
pub fn operating_point<P: Population>(
    population: &P,
    rule: &Rule,
    groups: bool,
) -> Result<OperatingPoint, AskError<P::Err>> {
    let measure = if groups { Measure::GroupRates } else { Measure::OffDiagonalRates };
    let set = Achievable::new(population, measure)?;
    let found = population.confusions(std::slice::from_ref(rule)).map_err(AskError::Population)?;
    OperatingPoint::around(&set, &set.errors_of(&found[0]))
}

/// What is achievable with two classes, as (true positive, true negative): the hull of all thresholds.
///
/// The positive class is the last one.
pub fn binary_space<P: Population>(population: &P) -> Result<Binary, AskError<P::Err>> {
    Ok(between(population, &Boundary::of(population, 0, 1).map_err(AskError::Population)?)?)
}

/// The same, where the boundary is known.
pub(crate) fn between<P: Population>(population: &P, boundary: &Boundary) -> Result<Binary> {
    if population.classes() != 2 {
        let what = format!("the table has {} classes, expected 2", population.classes());
        return Err(Error::Mismatch(what));
    }
    let hull = boundary.hull()?;
    let swapped = hull.vertices().iter().map(|&[negative, positive]| [positive, negative]);
    Binary::from_hull(population.prevalence().class_priors()[1], Polygon::hull(swapped.collect())?)
}

/// What is achievable by predicting class 0 and one other, for every other: the faces of the diagonals.
pub fn diagonal_space<P: Population>(population: &P) -> Result<Diagonal, AskError<P::Err>> {
    let face = |class: usize| Ok(Boundary::of(population, 0, class).map_err(AskError::Population)?.hull()?);
    let faces = (1..population.classes()).map(face).collect::<Result<_, AskError<P::Err>>>()?;
    Ok(Diagonal::from_faces(population.prevalence().class_priors().to_vec(), faces)?)
}

fn some_room(radius: f64, where_: &str) -> Result<f64> {
    if radius > SMALLEST_RADIUS {
        return Ok(radius);
    }
    Err(Error::Mismatch(format!(
        "the predictions do not tell the classes apart{where_}: there is no ball of error rates to ask about (its radius \
         is {radius:.1e})"
    )))
}
