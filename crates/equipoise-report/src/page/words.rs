//! What takes more than a template to tell.

use crate::group::{Estimate, Experts, Member, Together};
use crate::{Curve, ExchangeRate, PersonReport, Sensitivity, Slope, StatedAgainstElicited, rates};
use equipoise_study::candidates::Models;
use equipoise_study::numbers::two_digits;
use equipoise_study::study::Exclusion;
use equipoise_study::{Design, Stopped};

/// Said in place of single people.
pub const HIDDEN: &str =
    "People are not shown one by one, because they are fewer than 5 and this report is passed on.";

/// Two digits.
pub fn two(value: &f64) -> String {
    two_digits(*value)
}

/// What something is worth, in units of something else.
pub fn worth(rate: &f64) -> String {
    rates::worth(*rate)
}

/// A share in per cent.
pub fn percent(share: &f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// The ends of an interval.
pub fn range(estimate: &Estimate) -> String {
    format!("{} to {}", two_digits(estimate.low), two_digits(estimate.high))
}

/// A time in the middle.
pub fn middle(ms: &Option<u64>) -> String {
    ms.map_or("none".to_owned(), |ms| format!("{} s", two_digits(ms as f64 / 1000.0)))
}

/// A participant by number.
pub fn participant(person: &PersonReport) -> String {
    format!("Participant {}", person.participant)
}

/// What is said of somebody whose name stands before it.
pub fn said_of(person: &PersonReport) -> String {
    let (said, name) = (person.sentence.as_str(), participant(person));
    match said.strip_prefix(&name) {
        Some(rest) => rest.to_owned(),
        None => format!(": {}", said.strip_prefix(&format!("To {}, ", name.to_lowercase())).unwrap_or(said)),
    }
}

/// What rates are counted in.
pub fn in_units(rate: &ExchangeRate) -> String {
    format!("in units of {}", rate.unit)
}

/// What was stated against what was elicited.
pub fn stated(both: &StatedAgainstElicited) -> String {
    format!("{} The elicited ratio is {} times the stated one.", both.sentence, two_digits(both.factor))
}

/// Whether there are weights to list.
pub fn has_weights(person: &PersonReport) -> bool {
    !person.weights.is_empty() && !is_refused(person)
}

/// Whether no metric is reported.
pub fn is_refused(person: &PersonReport) -> bool {
    person.refusal.is_some()
}

/// The rules that end the questions, besides the most there may be.
pub fn ended_when(design: &Design) -> String {
    let stop = &design.study().stop;
    let two = design.binary().is_some();
    let mut rules = vec![];
    if let Some(width) = stop.width.filter(|_| two) {
        rules.push(format!("the ends of the 95 % interval differ by a factor of at most {width}"));
    }
    if let Some(angle) = stop.angle.filter(|_| !two) {
        rules.push(format!("the weights are known to within {angle} radians with 95 % certainty"));
    }
    match stop.regret {
        Some(regret) => {
            let share = 100.0 * regret;
            rules.push(match design.is_choice() {
                true => format!(
                    "the best candidate is best with probability 0.9, or is expected to fall short of the best by at most \
                     {share} % of what lies between best and worst"
                ),
                false => format!(
                    "the rule that follows is expected to cost at most {share} % more than the best one"
                ),
            });
        }
        None if rules.is_empty() => rules.push("the rule that follows is good enough".to_owned()),
        None => {}
    }
    rules.join(", or ")
}

/// What there is to choose from.
pub fn one(design: &Design) -> &'static str {
    crate::models::called(design)
}

/// The head of the column of their names.
pub fn one_of(design: &Design) -> &'static str {
    if design.is_choice() { "Candidate" } else { "Model" }
}

/// All of them.
pub fn likeliest_first(design: &Design) -> &'static str {
    if design.is_choice() { "Candidates, likeliest best first" } else { "Models, likeliest best first" }
}

/// What probabilities of being best depend on.
pub fn given(design: &Design) -> &'static str {
    match design.is_choice() {
        true => {
            "Given what people want, which is uncertain. Dashed: from here on a candidate is called the best."
        }
        false => {
            "Given what people want, which is uncertain, and what models do, which was measured on a sample. Dashed: from here \
             on a model is called the best."
        }
    }
}

/// Headings of what models have besides their predictions.
pub fn carried_heads(models: &Models) -> Vec<&str> {
    std::iter::once("Model").chain(models.carried().iter().map(|column| column.name.as_str())).collect()
}

/// About so many of a list: enough to read.
pub fn thinned<T>(all: Vec<T>, about: usize) -> impl Iterator<Item = T> {
    let step = (all.len() / about).max(1);
    all.into_iter().step_by(step)
}

/// Weights and their intervals in per cent of what all weigh together.
pub fn shares(weights: &[Estimate]) -> Vec<[f64; 3]> {
    let all: f64 = weights.iter().map(|weight| weight.estimate).sum();
    let of = |weight: &Estimate| {
        [weight.estimate, weight.low, weight.high].map(|x| 100.0 * (x / all).clamp(0.0, 1.0))
    };
    weights.iter().map(of).collect()
}

/// The typical ratio, and how far people differ from it.
pub fn typical(experts: &Experts, spread: &Estimate) -> String {
    let Some(ratio) = experts.ratio else { return String::new() };
    let [factor, low, high] = [spread.estimate, spread.low, spread.high].map(|log| two_digits(log.exp()));
    format!(
        "The typical cost ratio of {} people is {} (95 % interval {}). People differ: about two thirds of them lie within a \
         factor of {factor} of it (95 % interval {low} to {high}).",
        experts.people,
        two_digits(ratio.estimate),
        range(&ratio)
    )
}

/// Why the questions ended.
pub fn ended(stopped: &Option<Stopped>) -> &'static str {
    match stopped {
        Some(Stopped::Narrow) => "The questions ended because the estimate was sure enough.",
        Some(Stopped::Settled) => {
            "The questions ended because the rule that follows was good enough to choose by."
        }
        Some(Stopped::Cap) => {
            "The questions ended because the most that the study allows were asked, not because the estimate was sure enough."
        }
        Some(Stopped::NothingLeft) => "The questions ended because none would have told enough.",
        None => "The questions had not ended yet.",
    }
}

/// Whether close choices took longer.
pub fn slope(slope: &Slope) -> String {
    let said = match (slope.high < 0.0, slope.low > 0.0) {
        (true, _) => "Close choices took longer, as they should.",
        (_, true) => "Clear choices took longer than close ones, which is unusual.",
        _ => "Whether close choices took longer cannot be told.",
    };
    let [factor, low, high] = [slope.slope, slope.low, slope.high].map(|change| two_digits(change.exp()));
    format!(
        "{said} From the closest to the clearest choice the time changes by a factor of {factor} (95 % interval {low}-{high})."
    )
}

/// How many clusters there are, and where.
pub fn clusters(experts: &Experts) -> String {
    let all = &experts.clusters;
    if all.len() == 1 {
        return "There is no strong evidence of more than one camp.".to_owned();
    }
    let told = all.iter().map(|cluster| match experts.ratio {
        Some(_) => format!("around {} ({:.0} %)", two_digits(cluster.middle), 100.0 * cluster.share),
        None => format!("{:.0} % of people", 100.0 * cluster.share),
    });
    format!("People fall into {} camps: {}.", all.len(), told.collect::<Vec<_>>().join(", "))
}

/// Somebody's ratio by their own answers, and in the light of the others.
pub fn ratios(member: &Member) -> [Option<Estimate>; 2] {
    [member.raw, member.shrunk]
}

/// What a direction of the map is made of mostly.
pub fn direction(direction: &[f64], names: &[&str]) -> String {
    let mut order: Vec<usize> = (0..direction.len().min(names.len())).collect();
    order.sort_by(|a, b| direction[*b].abs().total_cmp(&direction[*a].abs()));
    let part = |n: &usize| {
        format!("{} the {}", if direction[*n] > 0.0 { "more for" } else { "less for" }, names[*n])
    };
    order.iter().take(2).map(part).collect::<Vec<_>>().join(", ")
}

/// Headings of the decision curve's numbers.
pub fn curve_heads(curves: &[Curve]) -> Vec<&str> {
    std::iter::once("Threshold").chain(curves.iter().map(|curve| curve.name.as_str())).collect()
}

/// Headings of the rules; those of several weights judge by no ratio.
pub fn rule_heads(by_ratio: &bool) -> Vec<&'static str> {
    let mut heads = vec!["Rule", "Judges by a ratio of", "Chooses", "Largest regret of anybody"];
    if !by_ratio {
        heads.remove(1);
    }
    heads
}

/// Whose models those are.
pub fn who_prefers(together: &Together) -> String {
    format!("Who prefers which {}", together.one)
}

/// The heads of who prefers which.
pub fn preferred_heads(together: &Together) -> Vec<String> {
    vec![capital(together.one), "People".to_owned(), "Expected, uncertainty allowed for".to_owned()]
}

/// The text as the start of a heading.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Headings of the answers under other choices.
pub fn variation_heads(found: &Sensitivity) -> Vec<String> {
    let first = &found.variations[0];
    let ratio = first.ratio.iter().map(|_| "Cost ratio".to_owned());
    let numbers = ratio.chain(found.numbers.iter().map(|number| capital(number)));
    let mut heads = vec!["Choice".to_owned(), "People".to_owned()];
    heads.extend(numbers.flat_map(|number| [number, "95 % interval".to_owned()]));
    if first.top.is_some() {
        heads.extend(["Best", "P(best)"].map(str::to_owned));
    }
    heads
}

/// The exclusion rule in a sentence, without the parts that are off and so name nobody.
pub fn exclusion(rule: &Exclusion) -> String {
    let mut parts = vec![];
    if rule.dominated_failed > 0 {
        parts.push(format!("failed {} or more checks with a better system", rule.dominated_failed));
    }
    if rule.repeats_alike_below > 0 {
        parts.push(format!("answered fewer than {} repeats alike", rule.repeats_alike_below));
    }
    if rule.too_fast_share < 1.0 {
        let share = percent(&rule.too_fast_share);
        parts.push(format!("answered more than {share} of the questions within 300 ms"));
    }
    match parts.as_slice() {
        [] => "The study has no exclusion rule.".to_owned(),
        parts => format!(
            "The exclusion rule, fixed before the first answer, names whoever {}.",
            parts.join(", or ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_is_off_is_not_told() {
        let off = Exclusion { dominated_failed: 0, repeats_alike_below: 0, too_fast_share: 1.0 };
        assert_eq!(exclusion(&off), "The study has no exclusion rule.");
        let one = Exclusion { dominated_failed: 2, ..off.clone() };
        assert_eq!(
            exclusion(&one),
            "The exclusion rule, fixed before the first answer, names whoever failed 2 or more checks with a better system."
        );
        let all = Exclusion { repeats_alike_below: 3, too_fast_share: 0.1, ..one };
        assert!(
            exclusion(&all).ends_with(
                "system, or answered fewer than 3 repeats alike, or answered more than 10 % of the questions within 300 ms."
            )
        );
    }
}
