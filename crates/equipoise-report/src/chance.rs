//! Whether the answers could be a coin's.
//!
//! Every answer is predicted from those before it by the model behind the estimate, which assumes somebody who mostly knows
//! what they prefer; a coin predicts each with one half. The factor between the two is the evidence against the coin
//! ([`Participant::against_chance`](equipoise_study::Participant::against_chance)). Whatever is asked, a coin reaches a factor
//! of k at most once in k times, and in fact far less often.

use equipoise_study::numbers::two_digits;

/// A factor below this does not clearly beat the coin. A larger one would refuse people who err much but do hold something.
pub(crate) const CLEARLY: f64 = 3.0;

/// That the answers look like chance, and by how little they do not.
pub(crate) fn sentence(factor: f64) -> String {
    let than = match factor < 1.0 {
        true => "they are likelier from a coin than from somebody with a preference".to_owned(),
        false => format!(
            "they are only {} times likelier from somebody with a preference than from a coin",
            two_digits(factor)
        ),
    };
    format!("these answers look like chance: {than}")
}
