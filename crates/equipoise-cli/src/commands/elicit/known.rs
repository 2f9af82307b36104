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
        AnyPlan::AdaptiveRatio(plan) => {
            let mut posterior = plan.start();
            transcript.iter().for_each(|answered| posterior.take(&answered.query, &answer(answered)));
            let [low, high] = [0.025, 0.975].map(|share| two_digits(posterior.quantile(share)));
            Some(format!("Your cost ratio so far: {low} to {high} (95 %)."))
        }
        AnyPlan::Adaptive(plan) => {
            let mut session = plan.start();
            for answered in transcript {
                if plan.is_checking(&session) {
                    let sentence = "The last questions check whether fixed weights explain your answers.";
                    return Some(sentence.to_owned());
                }
                session.take(&answered.query, &answer(answered));
            }
            let angle = session.radius().to_degrees().min(180.0);
            Some(format!("Your weights are known to within {} degrees (95 %).", two_digits(angle)))
        }
        AnyPlan::BinaryLinear(_) => {
            let agreeing = Agreeing::with(transcript).map(|agreeing| agreeing.to_string());
            let agreeing = agreeing.unwrap_or_else(|| "none agrees with all answers".to_owned());
            Some(format!("Your cost ratio so far: {agreeing}."))
        }
        _ => None,
    }
}
