//! Models to judge: tables of predictions or confusion matrices, with draws of what another sample could say.

mod source;

pub use source::stem;

use super::attributes::{self, Carrying, Column, Data};
use super::candidates;
use super::decided::{Decided, decide};
use super::redrawn::{alike, has_priors, hold_class_sizes, leave_out_undefined};
use crate::args::{Global, Judged};
use crate::progress::Progress;
use crate::rows::Rows;
use crate::{metrics, tables};
use anyhow::Result;
use equipoise::decide::nearest::{self, Agreement};
use equipoise::decide::rank::{Attributed, Candidate};
use equipoise::decide::threshold::RARE;
use equipoise::metric::{Attribute, Family};
use equipoise::population::{Confusions as _, Population as _, Rule};
use equipoise::rates::Prevalence;
use equipoise::{GroupConfusions, Metric};
use equipoise_data::read::Database;
use equipoise_data::{Note, Sample, Table};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use source::{Named, Source, read_columns, read_file, rename_twins, same_classes_and_groups};
use std::path::PathBuf;

/// Rows looked at by all resamples together, before resamples are saved.
const MOST_WORK: usize = 200_000_000;

/// Classifiers that a nearest metric is looked up with, and rows that are enough to know them.
const POOL: usize = 200;
const POOL_ROWS: usize = 200_000;

/// A pool of models says something about metrics from this size on.
const SMALLEST_POOL: usize = 10;

/// Models, the metric that judges them, and the draws of both.
pub struct Models {
    /// The models, with draws of their confusion matrices.
    pub candidates: Vec<Candidate>,
    /// The metric.
    pub metric: Metric,
    /// The same as it is applied: one of attributes has weights that sum to 1.
    pub judge: Metric,
    /// Draws of the metric; none if it is certain.
    pub metric_draws: Vec<Metric>,
    /// What was guessed, changed or found.
    pub notes: Vec<Note>,
    /// The class names.
    pub classes: Vec<String>,
    /// The group names; none without groups.
    pub groups: Vec<String>,
    /// How each model decides; nothing where only its counts are known.
    pub decided: Vec<Option<Decided>>,
    /// What the rows of each model weigh together; how many there are, without weights.
    pub sizes: Vec<f64>,
    /// How common they are in the first model's rows.
    pub prevalence: Prevalence,
    /// Whether all were measured on the same rows, which are drawn again together.
    pub paired: bool,
    /// What the models have beside their predictions, or what a metric of attributes weighs.
    pub attributes: Vec<Column>,
    /// The rows behind the first model, where there are any.
    pub(super) population: Option<Rows>,
    pub(super) seed: u64,
}

impl Models {
    /// Reads models and the metric, and draws from both.
    pub fn read(paths: &[PathBuf], judged: &Judged, carrying: Carrying, global: &Global) -> Result<Self> {
        if judged.streaming.adbc.is_none()
            && let Some(candidates) = candidates::read(paths, judged, carrying, global)?
        {
            return Ok(candidates);
        }
        let (mut models, mut notes) = (vec![], vec![]);
        match &judged.model_columns {
            Some(names) => read_columns(paths, names, judged, global, &mut models, &mut notes)?,
            None => {
                for path in paths {
                    read_file(path, judged, global, &mut models, &mut notes)?;
                }
                rename_twins(&mut models, paths);
            }
        }
        Self::of(models, notes, judged, carrying, global)
    }

    /// Models whose rows have been read already, each with its name.
    pub fn of_tables(tables: Vec<(String, Sample<Table>)>, judged: &Judged, global: &Global) -> Result<Self> {
        let mut models = vec![];
        for (name, rows) in tables {
            let rule = Rule::most_likely(rows.classes())?;
            models.push(Named { name, source: Source::Table(Box::new(rows.into()), rule) });
        }
        rename_twins(&mut models, &[]);
        Self::of(models, vec![], judged, Carrying::NONE, global)
    }

    fn of(
        mut models: Vec<Named>,
        mut notes: Vec<Note>,
        judged: &Judged,
        carrying: Carrying,
        global: &Global,
    ) -> Result<Self> {
        same_classes_and_groups(&models)?;
        let seed = global.seed.unwrap_or(0);
        let prevalence = models[0].prevalence()?;
        let (classes, groups) = (models[0].classes().to_vec(), models[0].groups().to_vec());
        let metric = match carrying.allowed {
            true => metrics::any(&judged.metric, &classes, &prevalence)?,
            false => metrics::metric(&judged.metric, &classes, &prevalence)?,
        };
        let names = models.iter().map(|model| model.name.as_str()).collect();
        let data = Data { models: names, classes: &classes, groups: &groups, prevalence: &prevalence };
        let attributes::Attributes { mut counted, mut shown, notes: about } =
            attributes::find(&metric, carrying, &data)?;
        notes.extend(about);
        let mut decided = vec![];
        for model in &mut models {
            decided.push(match &mut model.source {
                Source::Table(rows, rule) => {
                    let (found, how) = decide(rows, &metric, judged.threshold, &judged.metric)?;
                    notes.push(Note::Choice(format!("{} decides by {}", model.name, how.words())));
                    notes.extend(how.finding.clone().map(Note::Finding));
                    *rule = found;
                    Some(how)
                }
                Source::Counts(_) => None,
            });
        }
        for model in &models {
            if let Some(note) = few_rows(model, &classes)? {
                notes.push(note);
                break;
            }
        }
        let matrices = models.iter().map(Named::confusions).collect::<Result<Vec<_>>>()?;
        let sizes = models.iter().map(Named::size).collect::<Result<Vec<f64>>>()?;

        let mut candidates = vec![];
        let draws = match judged.draws {
            Some(draws) => draws as usize,
            None => usual_draws(&models)?,
        };
        let mut together = drawn_together(&models, draws, seed)?;
        notes.extend(models.iter().find_map(|model| match &model.source {
            Source::Table(rows, _) => rows.how_drawn(together.is_some()),
            Source::Counts(_) => None,
        }));
        let progress = Progress::new("drawing the rows again", models.len(), global.shows_progress());
        for (n, (model, matrix)) in models.iter().zip(&matrices).enumerate() {
            // Draws of the same rows share their random numbers; others must not.
            let first_alike = models.iter().position(|other| model.has_rows_of(other)).unwrap_or(n);
            let drawn = match &mut together {
                Some(all) => std::mem::take(&mut all[n]),
                None => model.draws(draws, seed.wrapping_add(first_alike as u64))?,
            };
            candidates.push((model.name.clone(), matrix.clone(), drawn));
            progress.step();
        }
        drop(progress);
        let measured = counted.iter().flatten().filter_map(|attribute| match attribute {
            Attributed::Value(metric) => Some(&**metric),
            _ => None,
        });
        let with_priors = has_priors(&metric) || measured.into_iter().any(has_priors);
        if with_priors {
            hold_class_sizes(&mut candidates);
            let unlike = matrices.iter().any(|matrix| !alike(matrix, &matrices[0]));
            if unlike {
                let first = &models[0].name;
                let what = format!(
                    "the models have rows with different class shares; the metric uses those of {first}"
                );
                notes.push(Note::Finding(what));
            }
        }
        counted.resize(candidates.len(), vec![]);
        let mut candidates: Vec<Candidate> = (candidates.into_iter().zip(counted).zip(&sizes))
            .map(|(((name, matrix, draws), attributes), size)| {
                Candidate::new(name, matrix).with_draws(draws).with_attributes(attributes, *size)
            })
            .collect();
        if let Family::Attributes(family) = metric.family() {
            shown = weighed(family.attributes(), &candidates)?;
        }
        let lost = leave_out_undefined(&metric, &mut candidates);
        if lost > 0 {
            let what = format!("{lost} of {draws} resamples lost a class and were left out");
            notes.push(Note::Finding(what));
        }
        let paired = together.is_some() || models.iter().all(|model| model.has_rows_of(&models[0]));
        if !paired && models.iter().all(|model| matches!(model.source, Source::Table(..))) {
            let in_database = models
                .iter()
                .any(|model| matches!(&model.source, Source::Table(rows, ..) if rows.is_in_database()));
            let what = match in_database {
                true => {
                    "rows of a database have no numbers, so the models are compared as independent samples"
                }
                false => "the models have different rows and are compared as independent samples",
            };
            notes.push(Note::Finding(what.to_owned()));
        }
        let metric_draws = metric.draws(draws, &mut metric_random(seed));
        let metric_draws = metric_draws.iter().map(candidates::in_shares).collect::<Result<Vec<_>>>()?;
        if metric_draws.is_empty() && metric.interval().is_some() {
            let what = "the interval of the metric has one end only, so nothing is drawn from it and the metric counts as certain";
            notes.push(Note::Finding(what.to_owned()));
        }
        say_once(&mut notes);
        tables::say(&notes, global);
        let population = models.into_iter().next().and_then(|model| match model.source {
            Source::Table(rows, _) => Some(*rows),
            Source::Counts(_) => None,
        });
        Ok(Self {
            candidates,
            judge: candidates::in_shares(&metric)?,
            metric,
            metric_draws,
            notes,
            classes,
            groups,
            decided,
            sizes,
            prevalence,
            paired,
            attributes: shown,
            population,
            seed,
        })
    }

    /// Whether these are rows of a table of anything, without predictions.
    pub fn are_of_anything(&self) -> bool {
        self.classes.is_empty()
    }

    /// What they are called.
    pub fn word(&self) -> &'static str {
        if self.are_of_anything() { "candidate" } else { "model" }
    }

    /// Named metrics that order classifiers alike: those the first table allows, or the models if they are many.
    pub fn nearest(&self) -> Vec<Agreement> {
        if self.are_of_anything() {
            return vec![];
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let pool = match &self.population {
            // Labels allow three classifiers and what lies between them: an order of those says nothing about names.
            Some(population) if population.is_hard() => None,
            Some(population) => match population.totals().map(|totals| totals.overall().rows) {
                Ok(rows) if rows as usize > POOL_ROWS => {
                    let part = population.sample(POOL_ROWS, self.seed).ok();
                    part.and_then(|part| nearest::achievable(&part, POOL, &mut random).ok())
                }
                _ => nearest::achievable(population, POOL, &mut random).ok(),
            },
            None if self.candidates.len() >= SMALLEST_POOL => {
                Some(self.candidates.iter().map(|model| model.confusions().clone()).collect())
            }
            None => None,
        };
        // A metric that is the same for all, or has no value for some, has no neighbours.
        pool.and_then(|pool| nearest::nearest(&self.metric, &pool).ok()).unwrap_or_default()
    }
}

/// The random numbers of draws of the metric, apart from those of the rows.
pub fn metric_random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x6d65_7472_6963)
}

/// What to say of a model measured on few rows of a class.
fn few_rows(model: &Named, classes: &[String]) -> Result<Option<Note>> {
    let fewest = match &model.source {
        Source::Table(rows, _) => {
            let totals = rows.totals()?;
            let of_class = |class| totals.of_class(class).rows;
            (0..classes.len())
                .min_by_key(|&class| of_class(class))
                .map(|class| (class, of_class(class) as f64))
        }
        Source::Counts(model) => {
            let sizes = model.confusions()?.overall().class_priors();
            let fewest = (0..classes.len()).min_by(|&a, &b| sizes[a].total_cmp(&sizes[b]));
            fewest.map(|class| (class, sizes[class] * model.total()))
        }
    };
    Ok(fewest.filter(|(_, rows)| *rows < RARE as f64).map(|(class, rows)| {
        Note::Finding(format!(
            "only {rows:.0} rows of {}: a rate measured on them is uncertain by about {:.2}",
            classes[class],
            1.0 / rows.max(1.0).sqrt()
        ))
    }))
}

/// Draws by model and draw, where all are columns of one table in a database, whose rows have no numbers to draw them by.
fn drawn_together(models: &[Named], draws: usize, seed: u64) -> Result<Option<Vec<Vec<GroupConfusions>>>> {
    fn of_database(model: &Named) -> Option<(&Database, &Rule)> {
        match &model.source {
            Source::Table(rows, rule) => match &**rows {
                Rows::Database(rows) => Some((rows, rule)),
                _ => None,
            },
            Source::Counts(_) => None,
        }
    }
    match models.iter().map(of_database).collect::<Option<Vec<_>>>() {
        Some(models) if models.len() > 1 => Ok(Database::resampled_together(&models, seed, draws)?),
        _ => Ok(None),
    }
}

/// Files of the same kind say the same about their columns.
fn say_once(notes: &mut Vec<Note>) {
    let mut said: Vec<Note> = vec![];
    notes.retain(|note| {
        let new = !said.contains(note);
        if new {
            said.push(note.clone());
        }
        new
    });
}

/// Enough resamples for steady intervals, fewer where each takes long.
fn usual_draws(models: &[Named]) -> Result<usize> {
    let mut work = 0;
    for model in models {
        work += match &model.source {
            Source::Table(rows, _) => rows.totals()?.overall().rows as usize,
            Source::Counts(_) => 1,
        };
    }
    Ok((MOST_WORK / work.max(1)).clamp(100, 1000))
}

/// What a metric of attributes weighs, as it is measured or given.
fn weighed(attributes: &[Attribute], candidates: &[Candidate]) -> Result<Vec<Column>> {
    let values = candidates
        .iter()
        .map(|model| model.attributes(model.confusions()))
        .collect::<equipoise::Result<Vec<_>>>()?;
    let column = |(n, attribute): (usize, &Attribute)| Column {
        name: attribute.name.clone(),
        values: values.iter().map(|own| Some(own[n])).collect(),
    };
    Ok(attributes.iter().enumerate().map(column).collect())
}
