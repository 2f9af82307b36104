//! Why no metric is reported for somebody: one rule for the report and for the page that the person sees.

use crate::chance::{self, CLEARLY};
use crate::fidelity::fidelity;
use crate::rows::Rows;
use equipoise_study::event::Purpose;
use equipoise_study::people::{Conduct, by_side, ratio};
use equipoise_study::{FEWEST, Participant, Stopped};
use std::fmt;

/// An interval wider than this factor when the most questions were asked supports no metric (RP-11), where an interval is what
/// was asked for. Where the rule that follows is, a wide interval may well lead to one rule.
const WIDEST: f64 = 3.0;

/// Why no metric is reported. What is displayed is for researchers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refused {
    /// Fewer answers than are needed.
    TooFew {
        /// That elicit.
        answers: usize,
    },
    /// Checks in which the better system was not chosen.
    Checks {
        /// So many.
        failed: usize,
        /// Of so many.
        of: usize,
    },
    /// The sides decided, in this way.
    Sides(&'static str),
    /// By this factor the answers are likelier from somebody with a preference than from a coin.
    Chance(f64),
    /// No more answers that check agree with the others than a coin would give.
    HalfWrong {
        /// So many.
        right: usize,
        /// Of so many.
        of: usize,
    },
    /// The interval is too wide for what was asked.
    TooWide,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { answers } => write!(f, "{answers} answers are too few, {FEWEST} are needed"),
            Self::Checks { failed, of } => {
                write!(f, "{failed} of {of} checks with a better system were failed")
            }
            Self::Sides(how) => {
                write!(f, "the participant {how}, though systems were put on sides at random")
            }
            Self::Chance(factor) => f.write_str(&chance::sentence(*factor)),
            Self::HalfWrong { right, of } => {
                write!(
                    f,
                    "{right} of {of} answers that check agree with the others, no more than a coin would"
                )
            }
            Self::TooWide => f.write_str("the answers contradict each other too much for an interval"),
        }
    }
}

/// Why no metric is reported for a participant, if none is; costs less than the whole report.
pub fn refused(participant: &Participant) -> Option<Refused> {
    let answers = Rows::with_purpose(participant, |purpose| purpose == Purpose::Elicitation).0.len();
    if answers < FEWEST {
        return Some(Refused::TooFew { answers });
    }
    let conduct = Conduct::of(participant);
    let (of, failed) = (conduct.dominated.of, conduct.dominated.of - conduct.dominated.count);
    if failed >= 2 {
        return Some(Refused::Checks { failed, of });
    }
    if let Some(how) = by_side(participant) {
        return Some(Refused::Sides(how));
    }
    // Whoever tosses coins passes the checks often enough, and the population knows no coins: it finds a ratio in anything.
    if let Some(factor) = participant.against_chance() {
        if factor < CLEARLY {
            return Some(Refused::Chance(factor));
        }
    } else if let Some(found) = half_wrong(participant, &conduct) {
        return Some(found);
    }
    match ratio(participant.belief()) {
        Some([_, low, high])
            if participant.stopped() == Some(Stopped::Cap)
                && high / low > WIDEST
                && participant.design().study().stop.width.is_some() =>
        {
            Some(Refused::TooWide)
        }
        _ => None,
    }
}

/// Where it is not known how likely an answer is: whether half of all that was kept apart of the estimate is wrong, as it is
/// if somebody tosses coins.
fn half_wrong(participant: &Participant, conduct: &Conduct) -> Option<Refused> {
    let predicted = fidelity(participant, &participant.belief().metric(), None).shares.elicited;
    let kept = [conduct.dominated, conduct.repeats].map(|passed| (passed.count, passed.of));
    let kept = kept.into_iter().chain(predicted.map(|share| (share.agree, share.of)));
    let (right, of) = kept.fold((0, 0), |(right, of), (count, all)| (right + count, of + all));
    (of >= FEWEST && 2 * right <= of).then_some(Refused::HalfWrong { right, of })
}
