//! Programs that answer in place of a person, and the record of what they said.

use super::record;
use super::task::{Task, parameter};
use crate::args::Worded;
use crate::fault::Fault;
use crate::progress::Progress;
use anyhow::Result;
use equipoise::ask::{NoiseModel, Oracle, Simulated};
use equipoise::engine::Adaptive;
use equipoise::population::Confusions as _;
use equipoise::rates::{Confusion, Prevalence, Rates};
use equipoise::{
    Answer, Answered, Divergence, GroupConfusions, Measure, Metric, Outcome, Plan as _, Query, View,
};
use std::path::Path;

/// Whoever answers without a keyboard.
pub trait Answerer {
    /// The answer to a question after others.
    fn answer(&mut self, asked: &[Answered], query: &Query) -> Result<Answer>;
}

/// Runs the plan of a task: recorded answers first, then those of the answerer, which are kept in `save` one by one.
pub fn run(
    task: &Task,
    transcript: &mut Vec<Answered>,
    answerer: &mut dyn Answerer,
    save: Option<&Path>,
) -> Result<Outcome> {
    let recorded = transcript.len();
    let mut recorder = Recorder { task, transcript, next: 0, answerer, save };
    let outcome = task.plan.run(&mut recorder)?;
    let asked = recorder.next;
    if asked < recorded {
        // The plan ended with answers left over: it is not the plan that asked for them.
        let recorded = transcript[asked].query.clone();
        return Err(Divergence { number: asked + 1, recorded, planned: Query::new(vec![], vec![]) }.into());
    }
    Ok(outcome)
}

struct Recorder<'a> {
    task: &'a Task,
    transcript: &'a mut Vec<Answered>,
    next: usize,
    answerer: &'a mut dyn Answerer,
    save: Option<&'a Path>,
}

impl Oracle for Recorder<'_> {
    type Err = anyhow::Error;

    fn prefer(&mut self, query: &Query) -> Result<Answer> {
        self.next += 1;
        if let Some(answered) = self.transcript.get(self.next - 1) {
            return Ok(answered.answer_to(self.next, query)?);
        }
        let answer = self.answerer.answer(self.transcript, query)?;
        let Answer { preference, shown } = answer.clone();
        self.transcript.push(Answered { query: query.clone(), preference, shown });
        if let Some(path) = self.save {
            record::write(path, self.task, self.transcript)?;
        }
        Ok(answer)
    }
}

/// A simulated expert with a metric over any entries of the confusion matrix.
pub struct Expert {
    simulated: Simulated,
    /// Long elicitations say how far they are.
    progress: Progress,
    asked: View,
    prevalence: Prevalence,
    about_cases: bool,
}

impl Expert {
    /// An expert who can answer the questions of a task.
    pub fn new(
        task: &Task,
        hidden: Metric,
        noise: Option<&Worded>,
        seed: u64,
        progress: Progress,
    ) -> Result<Self> {
        let asked = task.plan.view();
        if hidden.view().groups() > asked.groups() {
            let kind = task.plan.kind();
            let what = format!(
                "the hidden metric compares groups, but questions of family {kind} do not tell them apart"
            );
            return Err(Fault::usage(what).into());
        }
        let noise = noise.map_or(Ok(NoiseModel::Exact), to_noise)?;
        let prevalence = task.sample.prevalence().clone();
        let about_cases = task.adaptive().and_then(Adaptive::risks).is_some();
        let simulated = Simulated::with_noise(hidden, noise, seed)?;
        Ok(Self { simulated, progress, asked, prevalence, about_cases })
    }
}

impl Answerer for Expert {
    fn answer(&mut self, _: &[Answered], query: &Query) -> Result<Answer> {
        self.progress.step();
        let view = *self.simulated.metric().view();
        // All cases of a question about one case have its risk.
        let of_case = match self.about_cases {
            true => {
                let risk = query.first[0].max(query.second[0]);
                Some(Prevalence::new(vec![1.0 - risk, risk])?)
            }
            false => None,
        };
        let prevalence = of_case.as_ref().unwrap_or(&self.prevalence);
        let seen = |point: &[f64]| -> Result<Vec<f64>> {
            if view == self.asked {
                return Ok(point.to_vec());
            }
            Ok(view.of(&confusions(point, &self.asked, prevalence)?)?)
        };
        let query = Query::new(seen(&query.first)?, seen(&query.second)?);
        let Ok(answer) = self.simulated.prefer(&query);
        Ok(answer)
    }
}

/// The confusion matrix behind a point of a plan's questions.
fn confusions(point: &[f64], view: &View, prevalence: &Prevalence) -> Result<GroupConfusions> {
    let (k, priors, shares) = (view.classes(), prevalence.class_priors(), prevalence.group_shares());
    let joint = |group: Option<usize>, errors: &[f64]| -> Result<Vec<f64>> {
        let rates = Rates::from_off_diagonal(k, errors)?;
        let prior = |i: usize| priors[i] * group.map_or(1.0, |g| shares.get(g, i));
        Ok((0..k * k).map(|n| rates.get(n / k, n % k) * prior(n / k)).collect())
    };
    let groups = match view.measure() {
        Measure::Binary => {
            let matrix = Confusion::from_binary(point[0], point[1], priors[1])?;
            vec![(0..4).map(|n| matrix.get(n / 2, n % 2)).collect()]
        }
        Measure::OffDiagonalRates => vec![joint(None, point)?],
        Measure::GroupRates => {
            let parts = point.chunks(k * k - k).enumerate();
            parts.map(|(g, errors)| joint(Some(g), errors)).collect::<Result<_>>()?
        }
        other => {
            let what =
                format!("questions about {} can be answered by metrics about the same only", other.name());
            return Err(Fault::usage(what).into());
        }
    };
    Ok(GroupConfusions::new(k, groups)?)
}

pub fn to_noise(worded: &Worded) -> Result<NoiseModel> {
    let Worded { kind, number } = worded;
    let needed = || {
        let what = format!("--noise {kind} needs a number, as in {kind}:N (the {})", parameter(kind));
        number.ok_or_else(|| Fault::usage(what))
    };
    let noise = match kind.as_str() {
        "none" => NoiseModel::Exact,
        "flip" => NoiseModel::Flip { probability: needed()? },
        "logistic" => NoiseModel::Absolute { slope: needed()?, lapse: 0.0 },
        "relative" => NoiseModel::Relative { slope: needed()?, lapse: 0.0 },
        "band" => NoiseModel::Band { width: needed()? },
        other => {
            let what =
                format!("--noise is \"{other}\", expected none, flip:P, band:W, logistic:S or relative:S");
            return Err(Fault::usage(what).into());
        }
    };
    Ok(noise.checked()?)
}
