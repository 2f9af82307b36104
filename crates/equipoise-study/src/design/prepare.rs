//! From a study file and its data to the plan behind its questions.

use super::pairs::{Engine, READABLE};
use super::{Fit, Scores};
use crate::error::{Error, Result};
use crate::shown::Frame;
use crate::study::{Better, Family, QuerySpace, Smooth, Study};
use crate::tables::{Tables, Wanted};
use equipoise::ask::NoiseModel;
use equipoise::decide::threshold::rewards;
use equipoise::engine::{Adaptive, Stop};
use equipoise::metric::{Named, Transform};
use equipoise::population::{AskError, Confusions as _, Logistic, Population as _, PostShift, Rule, Score};
use equipoise::space::{Binary, GroupSphere, Polygon, Space as _, Sphere};
use equipoise::{GroupShares, Measure, Point};
use equipoise_choice::{self as choice, Front};
use equipoise_data::{Groups, ModelConfusions, Sample, Table, binary_space, operating_point, space_for};
use std::path::Path;

/// Two classes: the threshold that follows is to cost at most this much more than the best one, unless the study says more.
const REGRET: f64 = 0.025;

/// Candidates: the best is to be so certain, unless little can be regretted.
const CERTAIN: f64 = 0.9;

/// On a ball, where nothing is to be decided between: the angle that holds the weights with 95 % certainty.
const ANGLE: f64 = 0.25;

/// An engine with all that goes with it.
pub(super) struct Prepared {
    pub(super) engine: Engine,
    pub(super) plan: Adaptive,
    pub(super) frame: Frame,
    pub(super) fit: Option<Fit>,
    pub(super) scores: Option<Scores>,
    /// How much more than the best one the rule that follows may be expected to cost at the end.
    pub(super) regret: Option<f64>,
    /// Candidates with attributes, as their table has them.
    pub(super) front: Option<Front>,
}

pub(super) fn prepare(study: &Study, directory: &Path, tables: &dyn Tables) -> Result<Prepared> {
    let law = |(engine, plan, frame): (Engine, Adaptive, Frame)| Prepared {
        engine,
        plan,
        frame,
        fit: None,
        scores: None,
        front: None,
        regret: two_class_regret(study)
            .filter(|_| study.task.classes.len() == 2 && study.task.groups.is_empty()),
    };
    match &study.space {
        QuerySpace::Logistic { slope, offset } => {
            two_classes(study, Binary::from_law(Logistic::with_offset(*slope, *offset)?)).map(law)
        }
        QuerySpace::Pool { file } => {
            let pool = tables.models(&directory.join(file))?;
            two_classes(study, pool_space(study, &pool)?).map(law)
        }
        QuerySpace::Table { file, truth, score, group, smooth, around } => {
            let named =
                Wanted { truth: truth.clone(), score: score.clone(), group: group.clone(), positive: None };
            let path = directory.join(file);
            let mut table = tables.table(&path, &named)?;
            if class_places(study, table.classes())? == [1, 0] {
                // Of two classes the second of the study is the positive one, whatever the table was guessed to mean.
                let positive = Some(study.task.classes[1].id.clone());
                table = tables.table(&path, &Wanted { positive, ..named })?;
            }
            let sample = Sample::new(in_order(study, &table)?)?;
            let around = around.as_deref().unwrap_or("model");
            if sample.classes() == 2 && study.family != Family::GroupFair {
                return thresholds(study, &sample, *smooth);
            }
            let fits = study.family == Family::Linear || sample.groups() == 2;
            if around == "coin" || study.family == Family::Quadratic || !fits {
                return on_a_ball(study, &sample).map(law);
            }
            around_rule(study, &sample, around).map(law)
        }
        QuerySpace::Attributes { file, name } => {
            attributes(study, &directory.join(file), name.as_deref(), tables)
        }
        QuerySpace::Ball { radius, class_shares } => ball(study, *radius, class_shares).map(law),
        QuerySpace::GroupBall { radius, class_shares, group_shares } => {
            let space = GroupSphere::new(*radius, GroupShares::new(group_shares.clone())?)?;
            if let Some(caveat) = space.of_one_group().caveat() {
                return Err(Error::Missing(format!("space.{caveat}")));
            }
            let (view, centre) = (space.view(), space.centre());
            let plan = Adaptive::group_fair(space, study.stop.angle.unwrap_or(ANGLE))?;
            weights(study, plan, Frame::new(view, class_shares.clone()), centre, *radius).map(law)
        }
    }
}

/// Candidates of any kind: the columns that the task names are what they have.
fn attributes(study: &Study, file: &Path, name: Option<&str>, tables: &dyn Tables) -> Result<Prepared> {
    let columns = tables.texts(file)?;
    let named = &study.task.attributes;
    let of = |better: Better| -> Vec<String> {
        named.iter().filter(|has| has.better == better).map(|has| has.id.clone()).collect()
    };
    let scale: Vec<(String, Transform)> =
        named.iter().filter_map(|has| Some((has.id.clone(), has.scale?))).collect();
    let (minimize, maximize) = (of(Better::Less), of(Better::More));
    let wanted = choice::Wanted {
        name,
        minimize: &minimize,
        maximize: &maximize,
        ignore: &[],
        scale: &scale,
        all: false,
        only_real: false,
        option: |option, column| match option {
            "name" => "name = \"COL\" of space".to_owned(),
            _ => format!("leave \"{column}\" out of task.attributes"),
        },
    };
    let refused = |error: choice::Refused| Error::Missing(format!("space.file: {error}"));
    let header: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    wanted.columns(&header).map_err(refused)?;
    // Names first, then what the task names, in its order; whatever else the table has is nobody's business.
    let is_named = |column: &str| named.iter().any(|has| has.id == column);
    let names = columns.iter().filter(|(column, _)| match name {
        Some(name) => column == name,
        None => !is_named(column),
    });
    let has = named.iter().filter_map(|has| columns.iter().find(|(column, _)| *column == has.id));
    let taken: Vec<(String, Vec<String>)> = names.take(1).chain(has).cloned().collect();
    let front = Front::new(&taken, &wanted).map_err(refused)?;
    let candidates = front.candidates.clone().map_err(|only| {
        Error::Missing(format!(
            "space.file: {only} is at least as good as every other candidate in everything: there is nothing to ask"
        ))
    })?;
    let constant = named.iter().find(|has| !candidates.attributes().iter().any(|a| a.name == has.id));
    if let Some(constant) = constant {
        let what = format!(
            "space.file: \"{}\" is the same for every candidate, expected numbers that differ; leave it out of task.attributes",
            constant.id
        );
        return Err(Error::Missing(what));
    }
    let shares = named.iter().zip(candidates.attributes());
    if let Some((has, attribute)) =
        shares.into_iter().find(|(has, a)| has.out_of.is_some() && (a.range[0] < 0.0 || a.range[1] > 1.0))
    {
        let [low, high] = attribute.range;
        let what = format!(
            "space.file: \"{}\" goes from {low} to {high}, expected shares from 0 to 1, which out_of counts; leave out_of out",
            has.id
        );
        return Err(Error::Missing(what));
    }
    let mut plan = Adaptive::choice(candidates.clone()).probes(0)?.budget(study.stop.cap)?.seed(study.seed);
    if let Some(at_most) = study.stop.regret {
        plan = plan.stop(vec![Stop::Decision { level: CERTAIN }, Stop::Regret { at_most }])?;
    }
    let frame = Frame::of_candidates(plan.view(), candidates);
    let front = Some(front);
    Ok(Prepared { engine: Engine::Choice, plan, frame, fit: None, scores: None, regret: None, front })
}

/// The table with classes and groups in the study's order.
fn in_order(study: &Study, table: &Table) -> Result<Table> {
    let places = class_places(study, table.classes())?;
    let place_of =
        |places: &[usize], code: usize| places.iter().position(|place| *place == code).unwrap_or(0);
    let truth = table.truth().iter().map(|code| place_of(&places, usize::from(*code)) as u8).collect();
    let probabilities = places.iter().map(|place| table.probabilities(*place).to_vec()).collect();
    let classes = study.task.classes.iter().map(|class| class.id.clone()).collect();
    let mut made = Table::new(classes, truth, probabilities)?.data;
    if let Some(weights) = table.weights() {
        made = made.with_weights(weights.to_vec())?;
    }
    if study.family != Family::GroupFair {
        return Ok(made);
    }
    let ids: Vec<String> = study.task.groups.iter().map(|group| group.id.clone()).collect();
    let Some(groups) = table.groups() else {
        let what = "the table has no groups, expected a column of them; space.group names it".to_owned();
        return Err(Error::Missing(what));
    };
    let places: Option<Vec<usize>> =
        ids.iter().map(|id| groups.names().iter().position(|name| name == id)).collect();
    let Some(places) = places.filter(|places| places.len() == groups.names().len()) else {
        let (found, expected) = (groups.names().join(", "), ids.join(", "));
        let what = format!("the table has the groups {found}, expected those of task.groups: {expected}");
        return Err(Error::Missing(what));
    };
    let codes = groups.codes().iter().map(|code| place_of(&places, usize::from(*code)) as u16).collect();
    Ok(made.with_groups(Groups::new(ids, codes)?)?)
}

/// Two classes: every threshold on the table.
fn thresholds(study: &Study, sample: &Sample<Table>, smooth: Smooth) -> Result<Prepared> {
    let hull = binary_space(sample).map_err(equipoise::Error::from)?;
    let fitted = equipoise_data::Smooth::fit(sample).map_err(equipoise::Error::from)?;
    let vertices = hull.hull().map(|hull| hull.vertices().to_vec()).unwrap_or_default();
    let fit = Fit { distance: fitted.distance(), outside: fitted.outside(), corners: vertices.len() };
    let space = match smooth {
        Smooth::Hull | Smooth::None => hull,
        Smooth::Logistic => fitted.pulled()?,
    };
    let (mut engine, plan, frame) = two_classes(study, space)?;
    if let (Smooth::None, Engine::Ratio { corners, .. }) = (smooth, &mut engine) {
        *corners = Some(vertices);
    }
    let Ok(profile) = sample.score_profile(Score::Class(1));
    let reliability = equipoise_data::Reliability::new(&profile, 10);
    let scores = Some(Scores::new(profile, reliability));
    Ok(Prepared { engine, plan, frame, fit: Some(fit), scores, regret: two_class_regret(study), front: None })
}

/// More classes, or two groups: what lies around a rule that somebody has.
fn around_rule(study: &Study, sample: &Sample<Table>, around: &str) -> Result<(Engine, Adaptive, Frame)> {
    let priors = sample.prevalence().class_priors().to_vec();
    let rule: Rule = match around {
        "model" => Rule::most_likely(priors.len())?,
        "balanced" => {
            PostShift::diagonal(&priors.iter().map(|prior| 1.0 / prior).collect::<Vec<_>>())?.into()
        }
        word => {
            let Some(named) = Named::parse(word) else {
                let what = format!(
                    "space.around is \"{word}\", expected model, balanced, coin, or a metric such as accuracy"
                );
                return Err(Error::Missing(what));
            };
            let rule = named.metric(sample.prevalence()).and_then(|metric| rewards(&metric, &priors));
            rule.map_err(|e| Error::Missing(format!("space.around is \"{word}\": {e}")))?.into()
        }
    };
    let grouped = study.family == Family::GroupFair;
    let space = operating_point(sample, &rule, grouped).map_err(|error| match error {
        AskError::Input(error) => {
            Error::Missing(format!("{error}; space.around = \"coin\" asks about others"))
        }
        AskError::Population(never) => match never {},
    })?;
    let (view, shares) = (space.view(), space.prevalence().cloned());
    let mut plan = Adaptive::around(space)?.probes(0)?.budget(study.stop.cap)?.seed(study.seed);
    let mut frame = Frame::new(view, priors);
    if let Some(shares) = shares {
        frame = frame.with_groups(shares);
    }
    // A study that says which angle is to hold the weights is asked until then; the schedule looks at the angle.
    match (study.stop.regret, study.stop.angle) {
        (Some(at_most), _) => plan = plan.stop(vec![Stop::Regret { at_most }])?,
        (None, Some(_)) => plan = plan.stop(vec![])?,
        (None, None) => {}
    }
    Ok((Engine::Around, plan, frame))
}

/// A ball around the toss of a coin that fits inside what the table allows.
fn on_a_ball(study: &Study, sample: &Sample<Table>) -> Result<(Engine, Adaptive, Frame)> {
    let priors = sample.prevalence().class_priors().to_vec();
    let grouped = study.family == Family::GroupFair;
    let found = space_for(sample, if grouped { "group_fair" } else { "quadratic" })
        .map_err(equipoise::Error::from)?;
    match found {
        equipoise::space::AnySpace::GroupSphere(space) => {
            let (view, centre, radius) = (space.view(), space.centre(), space.of_one_group().radius());
            let plan = Adaptive::group_fair(space, study.stop.angle.unwrap_or(ANGLE))?;
            let frame = Frame::new(view, priors).with_groups(sample.prevalence().group_shares());
            weights(study, plan, frame, centre, radius)
        }
        equipoise::space::AnySpace::Sphere(space) => ball(study, space.radius(), &priors),
        _ => Err(Error::Missing("the table has no ball of error rates to ask about".to_owned())),
    }
}

/// Where a table has each class of the study. Two classes may also be called 0 and 1, or false and true.
fn class_places(study: &Study, classes: &[String]) -> Result<Vec<usize>> {
    let ids: Vec<&str> = study.task.classes.iter().map(|class| class.id.as_str()).collect();
    let places: Option<Vec<usize>> =
        ids.iter().map(|id| classes.iter().position(|class| class == id)).collect();
    match places {
        Some(places) if classes.len() == ids.len() => Ok(places),
        _ if ids.len() == 2 && [["0", "1"], ["false", "true"]].iter().any(|plain| classes == plain) => {
            Ok(vec![0, 1])
        }
        _ => {
            let plain = if ids.len() == 2 { ", or 0 and 1" } else { "" };
            let (found, expected) = (classes.join(", "), ids.join(", "));
            let what = format!(
                "the table has the classes {found}, expected those of task.classes: {expected}{plain}"
            );
            Err(Error::Missing(what))
        }
    }
}

/// The goal of a study of two classes, unless it says how wide the interval may be instead.
fn two_class_regret(study: &Study) -> Option<f64> {
    study.stop.regret.or(study.stop.width.is_none().then_some(REGRET))
}

fn two_classes(study: &Study, space: Binary) -> Result<(Engine, Adaptive, Frame)> {
    let mut stops = vec![Stop::Information { floor: study.stop.information }];
    // A study has checks of its own in the place of probes.
    let mut plan = Adaptive::ratio(space.clone()).probes(0)?.budget(study.stop.cap)?;
    if let Some(width) = study.stop.width {
        plan = plan.width(width)?;
    }
    // A study that says how wide the interval may be is asked until then.
    if let Some(at_most) = two_class_regret(study) {
        stops.push(Stop::Regret { at_most });
    }
    let plan = plan.stop(stops)?;
    let positive = space.positive_prior();
    let frame = Frame::new(space.view(), vec![1.0 - positive, positive]);
    Ok((Engine::Ratio { space, corners: None }, plan, frame))
}

fn ball(study: &Study, radius: f64, class_shares: &[f64]) -> Result<(Engine, Adaptive, Frame)> {
    let space = Sphere::new(Measure::OffDiagonalRates, class_shares.len(), radius)?;
    if let Some(caveat) = space.caveat() {
        return Err(Error::Missing(format!("space.{caveat}")));
    }
    let (view, centre) = (space.view(), space.centre());
    let angle = study.stop.angle.unwrap_or(ANGLE);
    let plan = match study.family {
        Family::Quadratic => Adaptive::quadratic(space, angle)?,
        _ => Adaptive::linear(space, angle)?,
    };
    // A question that differs in many kinds of mistake cannot be read (UX-09).
    let plan = plan.rows_that_differ(READABLE)?;
    weights(study, plan, Frame::new(view, class_shares.to_vec()), centre, radius)
}

fn weights(
    study: &Study,
    plan: Adaptive,
    frame: Frame,
    centre: Point,
    radius: f64,
) -> Result<(Engine, Adaptive, Frame)> {
    let plan = plan.answers(NoiseModel::Unknown)?.budget(study.stop.cap)?.seed(study.seed);
    Ok((Engine::Weights { centre, radius }, plan, frame))
}

/// What the models of a pool, the constant answers, and draws between them reach.
fn pool_space(study: &Study, pool: &[ModelConfusions]) -> Result<Binary> {
    let Some(first) = pool.first() else {
        return Err(Error::Missing("the pool has no model, expected at least one".to_owned()));
    };
    let place = |class: usize| {
        let id = &study.task.classes[class].id;
        first.classes().iter().position(|name| name == id).ok_or_else(|| {
            Error::Missing(format!("the pool has no class \"{id}\"; it has {}", first.classes().join(", ")))
        })
    };
    let (negative, positive) = (place(0)?, place(1)?);
    let prior = first.confusions()?.overall().class_priors()[positive];
    let mut corners = vec![[0.0, 1.0 - prior], [prior, 0.0]];
    for model in pool {
        let overall = model.confusions()?.overall();
        let found = overall.class_priors()[positive];
        if (found - prior).abs() > 1e-6 {
            let what = format!(
                "model {} was counted on other people than {}: {found} of them are positive, not {prior}",
                model.name(),
                first.name()
            );
            return Err(Error::Missing(what));
        }
        corners.push([overall.get(positive, positive), overall.get(negative, negative)]);
    }
    // A classifier turned around is one too.
    let turned: Vec<[f64; 2]> = corners.iter().map(|[p, n]| [prior - p, 1.0 - prior - n]).collect();
    corners.extend(turned);
    Ok(Binary::from_hull(prior, Polygon::hull(corners)?)?)
}
