//! Where to cut the scores (RP-09), and what deciding gains over not deciding.

use equipoise::decide::threshold::{Bayes, Bootstrap, Optimum, bayes, net_benefit};
use equipoise::{Metric, Spread};
use equipoise_study::{Design, Scores};
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// A larger mean distance between predicted and observed is poor calibration.
const POOR: f64 = 0.05;

/// A larger distance between the two thresholds is a difference.
const FAR: f64 = 0.05;

/// Where to cut.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThresholdReport {
    /// $c_{FP}/(c_{FP} + c_{FN})$, right for calibrated scores.
    pub theory: Bayes,
    /// The best one on the study's own table of scores, if it has one.
    pub measured: Option<Measured>,
    /// Which of the two to use.
    pub threshold: f64,
    /// That, with the reason, in a sentence.
    pub sentence: String,
    /// Net benefit against threshold probability: of the scores, of the models, of treating all and none. The same for everybody.
    #[serde(serialize_with = "inside")]
    pub curves: Arc<Vec<Curve>>,
}

/// The best threshold on a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Where.
    pub threshold: f64,
    /// Its 95 % interval.
    pub interval: Option<Spread>,
    /// How far predicted probabilities are from observed shares, on average.
    pub calibration_error: f64,
    /// What to beware of.
    pub warnings: Vec<String>,
}

/// A line of the decision curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// What decides.
    pub name: String,
    /// (threshold probability, net benefit in true positives per person).
    pub points: Vec<[f64; 2]>,
}

/// The threshold for a metric; `None` unless there are two classes.
pub fn threshold(design: &Design, metric: &Metric, draws: &[Metric]) -> Option<ThresholdReport> {
    let prior = design.binary()?.positive_prior();
    let theory = bayes(metric, prior, draws, 0.95).ok()?;
    let measured = design.scores().and_then(|scores| measured(scores, metric, draws));
    let (threshold, sentence) = recommended(&theory, measured.as_ref());
    Some(ThresholdReport { curves: Arc::new(curves(design)), theory, measured, threshold, sentence })
}

fn inside<S: Serializer>(curves: &Arc<Vec<Curve>>, serializer: S) -> Result<S::Ok, S::Error> {
    curves.as_slice().serialize(serializer)
}

fn measured(scores: &Scores, metric: &Metric, draws: &[Metric]) -> Option<Measured> {
    let redrawn = Some(scores.redrawn());
    let doubt = Bootstrap { metric_draws: draws, level: 0.95, redrawn, ..Bootstrap::default() };
    let advice = scores.profile.advise(metric, &[], doubt).ok()?;
    let Optimum::Found(best) = advice.best else { return None };
    Some(Measured {
        threshold: best.cut.threshold,
        interval: advice.uncertain.map(|uncertain| uncertain.interval),
        calibration_error: scores.reliability.error(),
        warnings: advice.guard.warnings,
    })
}

fn recommended(theory: &Bayes, measured: Option<&Measured>) -> (f64, String) {
    let Some(measured) = measured else {
        let why = "for calibrated scores; the study has no table of scores to check it on";
        return (theory.threshold, format!("Cut at {:.3}, {why}.", theory.threshold));
    };
    let (error, apart) = (measured.calibration_error, (measured.threshold - theory.threshold).abs());
    let unlike = format!("it is {apart:.2} from the threshold for calibrated scores");
    let poor = format!("predicted and observed shares differ by {error:.3} on average");
    let why = match (error > POOR, apart > FAR) {
        (true, true) => format!("the scores are poorly calibrated ({poor}) and {unlike}"),
        (true, false) => format!("the scores are poorly calibrated: {poor}"),
        (false, true) => unlike,
        (false, false) => {
            let text = format!(
                "Cut at {:.3}: the scores are calibrated ({poor}), and the best threshold on the table, {:.3}, is close.",
                theory.threshold, measured.threshold
            );
            return (theory.threshold, text);
        }
    };
    (
        measured.threshold,
        format!("Cut at {:.3}, the best threshold on the table, because {why}.", measured.threshold),
    )
}

fn curves(design: &Design) -> Vec<Curve> {
    // Treating everybody is judged on the people the others were judged on.
    let of_models = || design.models()?.measured().first()?.overall().class_priors().get(1).copied();
    let of_scores = design.scores().map(|scores| scores.profile.positive_prior());
    let of_study = || design.binary().map(|space| space.positive_prior());
    let prior = of_scores.or_else(of_models).or_else(of_study).unwrap_or(0.5);
    let at: Vec<f64> = (1..100).map(|n| f64::from(n) / 100.0).collect();
    let odds = |t: f64| t / (1.0 - t);
    let mut curves = vec![];
    let scored = design.scores().and_then(|scores| scores.profile.decision_curve(&at).ok());
    if let Some(points) = scored {
        let points = at.iter().zip(points).map(|(t, [net_benefit, _])| [*t, net_benefit]).collect();
        curves.push(Curve { name: "scores".to_owned(), points });
    }
    if let Some(models) = design.models() {
        for (name, matrix) in models.names().iter().zip(models.measured()) {
            let overall = matrix.overall();
            let point = |t: &f64| Some([*t, net_benefit(&overall, *t).ok()?]);
            curves.push(Curve { name: name.clone(), points: at.iter().filter_map(point).collect() });
        }
    }
    let all = |t: &f64| [*t, prior - (1.0 - prior) * odds(*t)];
    curves.push(Curve { name: "everybody".to_owned(), points: at.iter().map(all).collect() });
    curves.push(Curve { name: "nobody".to_owned(), points: at.iter().map(|t| [*t, 0.0]).collect() });
    curves
}
