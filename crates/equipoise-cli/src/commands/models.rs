//! Models to judge: tables of predictions or confusion matrices, with draws of what another sample could say.

use crate::args::{Global, Judged};
use crate::fault::Fault;
use crate::{files, metrics, tables};
use anyhow::{Context as _, Result};
use equipoise::decide::nearest::{self, Agreement};
use equipoise::decide::rank::Candidate;
use equipoise::metric::Family;
use equipoise::population::{Confusions as _, Population as _, Rule};
use equipoise::rates::Prevalence;
use equipoise::{GroupConfusions, Metric};
use equipoise_data::{Kind, ModelConfusions, Note, Sample, Table, read};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::{Path, PathBuf};

/// Rows looked at by all resamples together, before resamples are saved.
const MOST_WORK: usize = 200_000_000;

/// Classifiers that a nearest metric is looked up with.
const POOL: usize = 200;

/// A pool of models says something about metrics from this size on.
const SMALLEST_POOL: usize = 10;

/// Models, the metric that judges them, and the draws of both.
pub struct Models {
    /// The models, with draws of their confusion matrices.
    pub candidates: Vec<Candidate>,
    /// The metric.
    pub metric: Metric,
    /// Draws of the metric; none if it is certain.
    pub metric_draws: Vec<Metric>,
    /// What was guessed, changed or found.
    pub notes: Vec<Note>,
    /// The class names.
    pub classes: Vec<String>,
    /// How common they are in the first model's rows.
    pub prevalence: Prevalence,
    /// The rows behind the first model, where there are any.
    population: Option<Sample<Table>>,
    seed: u64,
}

/// What is known of one model.
enum Source {
    /// Its rows, and how it decides: the most likely class, or the positive one from a threshold on.
    Table(Box<Sample<Table>>, Rule),
    Counts(ModelConfusions),
}

struct Named {
    name: String,
    source: Source,
}

impl Models {
    /// Reads models and the metric, and draws from both.
    pub fn read(paths: &[PathBuf], judged: &Judged, global: &Global) -> Result<Self> {
        let (mut models, mut notes) = (vec![], vec![]);
        for path in paths {
            read_file(path, judged, &mut models, &mut notes)?;
        }
        rename_twins(&mut models, paths);
        same_classes_and_groups(&models)?;
        let seed = global.seed.unwrap_or(0);
        let matrices = models.iter().map(Named::confusions).collect::<Result<Vec<_>>>()?;
        let prevalence = matrices[0].prevalence();
        let classes = models[0].classes().to_vec();
        let metric = metrics::metric(&judged.metric, &classes, &prevalence)?;

        let mut candidates = vec![];
        let draws = judged.draws.map_or_else(|| usual_draws(&models), |draws| draws as usize);
        for (n, (model, matrix)) in models.iter().zip(&matrices).enumerate() {
            // Draws of the same rows share their random numbers; others must not.
            let first_alike = models.iter().position(|other| model.has_rows_of(other)).unwrap_or(n);
            let drawn = model.draws(draws, seed.wrapping_add(first_alike as u64))?;
            candidates.push((model.name.clone(), matrix.clone(), drawn));
        }
        if matches!(metric.family(), Family::LinearFractional(_)) {
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
        let lost = leave_out_undefined(&metric, &mut candidates);
        if lost > 0 {
            let what = format!("{lost} of {draws} resamples lost a class and were left out");
            notes.push(Note::Finding(what));
        }
        let different = models.iter().any(|model| !model.has_rows_of(&models[0]));
        if different && models.iter().all(|model| matches!(model.source, Source::Table(..))) {
            notes.push(Note::Finding(
                "the models have different rows and are compared as independent samples".to_owned(),
            ));
        }
        say_once(&mut notes);
        tables::say(&notes, global);
        let metric_draws =
            metric.draws(draws, &mut Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x6d65_7472_6963));
        let candidates = candidates
            .into_iter()
            .map(|(name, matrix, draws)| Candidate::new(name, matrix).with_draws(draws));
        let population = models.into_iter().next().and_then(|model| match model.source {
            Source::Table(rows, _) => Some(*rows),
            Source::Counts(_) => None,
        });
        Ok(Self {
            candidates: candidates.collect(),
            metric,
            metric_draws,
            notes,
            classes,
            prevalence,
            population,
            seed,
        })
    }

    /// Named metrics that order classifiers alike: those the first table allows, or the models if they are many.
    pub fn nearest(&self) -> Vec<Agreement> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let pool = match &self.population {
            Some(population) => nearest::achievable(population, POOL, &mut random).ok(),
            None if self.candidates.len() >= SMALLEST_POOL => {
                Some(self.candidates.iter().map(|model| model.confusions().clone()).collect())
            }
            None => None,
        };
        // A metric that is the same for all, or has no value for some, has no neighbours.
        pool.and_then(|pool| nearest::nearest(&self.metric, &pool).ok()).unwrap_or_default()
    }
}

impl Named {
    fn classes(&self) -> &[String] {
        match &self.source {
            Source::Table(rows, _) => rows.table().classes(),
            Source::Counts(model) => model.classes(),
        }
    }

    fn groups(&self) -> &[String] {
        match &self.source {
            Source::Table(rows, _) => rows.table().groups().map_or(&[], |groups| groups.names()),
            Source::Counts(model) => model.groups(),
        }
    }

    fn confusions(&self) -> Result<GroupConfusions> {
        Ok(match &self.source {
            Source::Table(rows, rule) => {
                let Ok(mut found) = rows.confusions(std::slice::from_ref(rule));
                found.remove(0)
            }
            Source::Counts(model) => model.confusions()?,
        })
    }

    fn draws(&self, draws: usize, seed: u64) -> Result<Vec<GroupConfusions>> {
        Ok(match &self.source {
            Source::Table(rows, rule) => {
                let Ok(drawn) = rows.resampled(std::slice::from_ref(rule), seed, draws);
                drawn.into_iter().flatten().collect()
            }
            Source::Counts(model) => model.bootstrap(draws, seed)?,
        })
    }

    /// Whether both were measured on the same rows, as far as tables show.
    fn has_rows_of(&self, other: &Self) -> bool {
        match (&self.source, &other.source) {
            (Source::Table(a, _), Source::Table(b, _)) => {
                let (a, b) = (a.table(), b.table());
                a.truth() == b.truth() && a.groups() == b.groups() && a.weights() == b.weights()
            }
            (Source::Counts(a), Source::Counts(b)) => std::ptr::eq(a, b),
            _ => false,
        }
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

fn read_file(path: &Path, judged: &Judged, models: &mut Vec<Named>, notes: &mut Vec<Note>) -> Result<()> {
    match read::confusions(path) {
        Ok(reading) => {
            if judged.threshold.is_some() {
                let what = format!(
                    "--threshold is for predictions, but {} has confusion matrices",
                    files::name(path)
                );
                return Err(Fault::usage(what).into());
            }
            notes.extend(reading.notes);
            let named = |model: ModelConfusions| Named {
                name: model.name().to_owned(),
                source: Source::Counts(model),
            };
            models.extend(reading.data.into_iter().map(named));
        }
        // A table of predictions has no columns `model` and `estimate`.
        Err(error) if error.kind == Kind::Column && !error.found.contains("\"count\"") => {
            let reading =
                read::table(path, &judged.columns.columns()).map_err(|error| judged.columns.blame(error))?;
            notes.extend(reading.notes);
            let rows = Box::new(Sample::new(reading.data)?);
            let rule = rule(rows.classes(), judged.threshold).with_context(|| files::name(path))?;
            models.push(Named { name: stem(path), source: Source::Table(rows, rule) });
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// How the class probabilities decide.
fn rule(classes: usize, threshold: Option<f64>) -> Result<Rule> {
    match threshold {
        Some(_) if classes != 2 => {
            Err(Fault::usage(format!("--threshold is for 2 classes, but there are {classes}")).into())
        }
        Some(threshold) => Ok(Rule::Threshold(vec![threshold])),
        None => Ok(Rule::most_likely(classes)?),
    }
}

/// The name of a file without what says how it is stored.
pub fn stem(path: &Path) -> String {
    let name = path.file_name().map_or_else(|| files::name(path), |name| name.to_string_lossy().into_owned());
    let bare = name.strip_suffix(".gz").unwrap_or(&name);
    match bare.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => bare.to_owned(),
    }
}

/// Models of the same name are told apart by the file they come from, or failing that by a number.
fn rename_twins(models: &mut [Named], paths: &[PathBuf]) {
    let twice = |models: &[Named], n: usize| {
        models.iter().enumerate().any(|(m, other)| m != n && other.name == models[n].name)
    };
    if models.len() == paths.len() {
        let twins: Vec<usize> = (0..models.len()).filter(|&n| twice(models, n)).collect();
        twins.into_iter().for_each(|n| models[n].name = files::name(&paths[n]));
    }
    for n in 1..models.len() {
        if models[..n].iter().any(|other| other.name == models[n].name) {
            models[n].name = format!("{} ({})", models[n].name, n + 1);
        }
    }
}

fn same_classes_and_groups(models: &[Named]) -> Result<()> {
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    for model in &models[1..] {
        for (what, found, expected) in [
            ("classes", model.classes(), models[0].classes()),
            ("groups", model.groups(), models[0].groups()),
        ] {
            if found != expected {
                let (name, first) = (&model.name, &models[0].name);
                let what = format!(
                    "model {name} has the {what} {}, but model {first} has {}",
                    list(found),
                    list(expected)
                );
                return Err(Fault::usage(what).into());
            }
        }
    }
    Ok(())
}

/// Enough resamples for steady intervals, fewer where each takes long.
fn usual_draws(models: &[Named]) -> usize {
    let rows = |model: &Named| match &model.source {
        Source::Table(rows, _) => rows.table().rows(),
        Source::Counts(_) => 1,
    };
    let work: usize = models.iter().map(rows).sum();
    (MOST_WORK / work.max(1)).clamp(100, 1000)
}

fn alike(a: &GroupConfusions, b: &GroupConfusions) -> bool {
    let priors = [a, b].map(|matrix| matrix.overall().class_priors());
    priors[0].iter().zip(&priors[1]).all(|(a, b)| (a - b).abs() < 1e-9)
}

/// Gives every draw the class sizes that were measured.
///
/// A fraction such as F1 has the class priors among its constants, so that false alarms are what is left of a class.
/// In a draw with other priors they would not be.
fn hold_class_sizes(candidates: &mut [(String, GroupConfusions, Vec<GroupConfusions>)]) {
    for (_, matrix, draws) in candidates {
        let k = matrix.classes();
        let size = |of: &GroupConfusions, g: usize, i: usize| (0..k).map(|j| of.get(g, i, j)).sum::<f64>();
        for draw in draws.iter_mut() {
            let entry = |g: usize, n: usize| {
                let (wanted, found) = (size(matrix, g, n / k), size(draw, g, n / k));
                if found > 0.0 { draw.get(g, n / k, n % k) * wanted / found } else { f64::NAN }
            };
            let groups = (0..draw.groups()).map(|g| (0..k * k).map(|n| entry(g, n)).collect()).collect();
            // A draw without one of the classes stays as it is.
            if let Ok(held) = GroupConfusions::new(k, groups) {
                *draw = held;
            }
        }
    }
}

/// Leaves out the resamples in which some model has no value, for all models; returns how many.
fn leave_out_undefined(
    metric: &Metric,
    candidates: &mut [(String, GroupConfusions, Vec<GroupConfusions>)],
) -> usize {
    let draws = candidates.first().map_or(0, |candidate| candidate.2.len());
    let defined = |matrix: &GroupConfusions| metric.of(matrix).is_ok_and(f64::is_finite);
    let keep: Vec<bool> =
        (0..draws).map(|n| candidates.iter().all(|candidate| defined(&candidate.2[n]))).collect();
    for (_, _, draws) in candidates {
        let mut kept = keep.iter();
        draws.retain(|_| kept.next().copied().unwrap_or(true));
    }
    keep.iter().filter(|&&keep| !keep).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_after_their_files() {
        let names = ["a/forest.csv", "forest.csv.gz", "x.parquet", ".hidden", "v1.2.jsonl", "plain"];
        let stems = names.map(|name| stem(Path::new(name)));
        assert_eq!(stems, ["forest", "forest", "x", ".hidden", "v1.2", "plain"]);
    }
}
