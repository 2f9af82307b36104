//! What is known in the middle of an interview.

use crate::ratio::{Agreeing, two_digits};
use equipoise::Answered;
use equipoise::AnyPlan;

/// What the answers so far say, in a sentence; `None` where a search has nothing to say before its end.
pub fn so_far(plan: &AnyPlan, transcript: &[Answered]) -> Option<String> {
    let answer = |answered: &Answered| equipoise::Answer {
        preference: answered.preference,
        shown: answered.shown.clone(),
    };
    match plan {
        AnyPlan::Adaptive(plan) if plan.kind() != "linear_fractional" => {
            let mut belief = plan.start();
            for answered in transcript {
                if plan.is_checking(&*belief) {
                    let sentence = "The last questions check whether fixed weights explain your answers.";
                    return Some(sentence.to_owned());
                }
                belief.take(&answered.query, &answer(answered));
            }
            Some(match (belief.quantile(0.025), belief.quantile(0.975)) {
                (Some(low), Some(high)) => {
                    format!("Your cost ratio so far: {} to {} (95 %).", two_digits(low), two_digits(high))
                }
                _ => {
                    let angle = belief.width().value().to_degrees().min(180.0);
                    format!("Your weights are known to within {} degrees (95 %).", two_digits(angle))
                }
            })
        }
        AnyPlan::BinaryLinear(_) => {
            let agreeing = Agreeing::with(transcript).map(|agreeing| agreeing.to_string());
            let agreeing = agreeing.unwrap_or_else(|| "none agrees with all answers".to_owned());
            Some(format!("Your cost ratio so far: {agreeing}."))
        }
        _ => None,
    }
}
