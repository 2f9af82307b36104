//! The decision curve, with the threshold probability that the metric stands for.

use super::two::CurvePoint;
use equipoise::decide::threshold::Bayes;
use equipoise::population::Profile;
use equipoise_plot::Plot;

/// Net benefit of the scores, of accepting everybody and of accepting nobody, and where the metric's threshold lies.
pub fn of(curve: &[CurvePoint], bayes: Option<&Bayes>, positive: &str, profile: &Profile) -> String {
    let line = |of: fn(&CurvePoint) -> f64| curve.iter().map(|p| (p.threshold, of(p))).collect::<Vec<_>>();
    let top = 1.08 * profile.positive_prior();
    let bottom = -0.25 * profile.positive_prior();
    let mut plot = Plot::new(
        format!("What it gains to act on the probability of {positive}"),
        "threshold probability: act from here on",
        "net benefit, true positives per row",
    )
    .line("by the probabilities", &line(|p| p.net_benefit))
    .line(format!("always {positive}"), &line(|p| p.treat_all))
    .line(format!("never {positive}"), &line(|p| p.treat_none));
    let mut description = format!(
        "Decision curve: net benefit against the threshold probability for acting by the probability of {positive}, always, \
         and never."
    );
    if let Some(bayes) = bayes {
        let at = bayes.threshold;
        if let Some(interval) = bayes.interval {
            let (low, high) = (interval.low, interval.high);
            let band = [(low, bottom), (high, bottom), (high, top), (low, top)];
            plot = plot.area(format!("its {:.0} % interval", 100.0 * bayes.level), &band);
            description += &format!(" The interval from {low:.3} to {high:.3} is shaded.");
        }
        plot = plot.dashed(format!("the metric's threshold, {at:.3}"), &[(at, bottom), (at, top)]);
        let here = curve.iter().find(|point| point.threshold == at);
        if let Some(here) = here {
            description += &format!(
                " At the metric's threshold probability, {at:.3}, the net benefit is {:.4}; always gives {:.4}, never 0.",
                here.net_benefit, here.treat_all
            );
        }
    }
    plot.describe(description).view((0.0, bottom), (1.0, top)).to_svg()
}
