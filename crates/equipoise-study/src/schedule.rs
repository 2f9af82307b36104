//! Which comparison comes next: elicitation and checks interleaved, so that nothing about a question but its content
//! tells which it is (UX-01), and sides balanced in blocks (UX-15).
//!
//! Everything drawn here depends on the participant's seed and on how many comparisons are answered, never on how they
//! came to be answered. So taking an answer back and giving it again leads to the same next comparison.

use crate::belief::Belief;
use crate::design::Design;
use crate::event::{Asked, Invited, Purpose, Side};
use crate::forecast::{Forecast, Imagining};
use crate::groups::Shares;
use crate::participant::{Heard, Question};
use crate::shown::{Dominance, Shown};
use equipoise::Query;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest as _, Sha256};

/// Over how many comparisons sides are balanced.
const BLOCK: usize = 4;

/// There is nothing to repeat at first; after that, repeats come so many times as often as others that are due, or they
/// would come late on the whole.
const REPEATS_EARLIER: f64 = 1.5;

/// Fewer answers than this support no metric (RP-11), however narrow an interval they leave.
pub const FEWEST: usize = 8;

/// Draws for one purpose at one place, from the participant's seed.
pub(crate) fn draws(seed: u64, purpose: &str, place: usize) -> Xoshiro256PlusPlus {
    let mut hash = Sha256::new();
    hash.update(seed.to_be_bytes());
    hash.update((place as u64).to_be_bytes());
    hash.update(purpose.as_bytes());
    Xoshiro256PlusPlus::from_seed(hash.finalize().into())
}

/// The side that has fewer missed cases in a comparison, counted from 0.
pub(crate) fn side(seed: u64, place: usize) -> Side {
    let mut block = [Side::A, Side::A, Side::B, Side::B];
    block.shuffle(&mut draws(seed, "sides", place / BLOCK));
    block[place % BLOCK]
}

/// The next comparison after `answered`; `None` when all is asked.
pub(crate) fn next(
    design: &Design,
    invited: &Invited,
    answered: &[Question],
    heard: &Heard,
    imagining: &Imagining,
) -> Option<Asked> {
    let schedule = Schedule { design, invited, answered, place: answered.len() };
    // The first that can be shown stays the first as long as it can: what was shown only becomes more.
    let found = heard.telling.get_or_init(|| schedule.telling(&heard.belief));
    let telling = match found {
        Some((query, shown)) if schedule.was_asked(query) || schedule.was_shown(shown) => {
            schedule.telling(&heard.belief)
        }
        found => found.clone(),
    };
    let forecast = match telling {
        Some(_) => Forecast::of(design, invited, answered, &heard.belief, imagining),
        None => Forecast::over(),
    };
    let due = schedule.due();
    let (purpose, query, shown) = schedule.choose(telling, &forecast, due)?;
    let left = Some(forecast.left(due.all(), answered.last()));
    Some(Asked { left, imagined: forecast.imagined, ..schedule.asked(purpose, query, shown) })
}

/// Whether the questions that elicit are over, and by which rule.
pub(crate) fn stopped(design: &Design, answered: &[Question], belief: &Belief) -> Option<Stopped> {
    let (study, asked) = (design.study(), count(answered, |purpose| purpose == Purpose::Elicitation));
    if asked >= study.stop.cap {
        return Some(Stopped::Cap);
    }
    if asked < FEWEST {
        return None;
    }
    let held = study.stop.angle.is_some_and(|angle| design.is_around() && belief.width().value() <= angle);
    // Also where the answers set one end of an interval only: what follows is then known, the ratio as "at least so many".
    let settled = |goal: f64| belief.regret().is_some_and(|regret| regret.expected <= goal);
    if design.regret_at_most().is_some_and(settled) {
        return Some(Stopped::Settled);
    }
    match design.adaptive().ended(belief.as_ref()) {
        Some("regret" | "decision") => Some(Stopped::Settled),
        Some("budget") => Some(Stopped::Cap),
        Some(_) => Some(Stopped::Narrow),
        None => held.then_some(Stopped::Narrow),
    }
}

/// Why the questions that elicit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The interval is narrow enough.
    Narrow,
    /// The rule that follows is expected to be good enough: more answers would hardly better it.
    Settled,
    /// The most questions were asked.
    Cap,
    /// No question tells enough any more.
    NothingLeft,
}

pub(crate) fn count(answered: &[Question], wanted: impl Fn(Purpose) -> bool) -> usize {
    answered.iter().filter(|question| wanted(question.asked.purpose)).count()
}

struct Schedule<'a> {
    design: &'a Design,
    invited: &'a Invited,
    answered: &'a [Question],
    place: usize,
}

/// Checks that are still to come.
#[derive(Debug, Clone, Copy)]
struct Due {
    evaluation: usize,
    dominated: usize,
    repeats: usize,
}

impl Due {
    fn all(self) -> usize {
        self.evaluation + self.dominated + self.repeats
    }
}

impl Schedule<'_> {
    /// Draws among what is left, each kind as often as there are still to come of it: so none comes early or late.
    ///
    /// How many questions still elicit is not known, only imagined. So what is imagined decides where checks go, and with
    /// them what they tell of the person's noise: the same answers with other places of checks end in slightly another
    /// interval.
    fn choose(
        &self,
        telling: Option<(Query, Shown)>,
        forecast: &Forecast,
        due: Due,
    ) -> Option<(Purpose, Query, Shown)> {
        let elicitation = forecast.weight();
        let mut originals = self.originals(Some(self.side()));
        if telling.is_none() && due.evaluation + due.dominated == 0 && originals.is_empty() {
            // Nothing else is left: better a repeat on the wrong side of the balance than none.
            originals = self.originals(None);
        }
        let repeats = if originals.is_empty() { 0.0 } else { REPEATS_EARLIER * due.repeats as f64 };
        let [evaluation, dominated] = [due.evaluation, due.dominated].map(|count| count as f64);
        let total = elicitation + evaluation + dominated + repeats;
        if total <= 0.0 {
            return None;
        }
        let mut draws = self.draws("purpose");
        let drawn = total * draws.random::<f64>();
        let check = if drawn < elicitation {
            None
        } else if drawn < elicitation + evaluation {
            let number = self.design.study().checks.evaluation - due.evaluation;
            let pair = self.design.evaluation(number, &mut self.draws("evaluation"));
            pair.map(|(query, shown)| (Purpose::Evaluation, query, shown))
        } else if drawn < elicitation + evaluation + dominated {
            let pair = self.design.dominated(&mut self.draws("dominated"));
            pair.map(|(query, shown)| (Purpose::Dominated, query, shown))
        } else {
            let original = &originals[draws.random_range(0..originals.len())].asked;
            let straight = if original.swapped { original.shown.swapped() } else { original.shown.clone() };
            Some((Purpose::Repeat { of: original.number }, original.query.clone(), straight))
        };
        // A space that has no such pair gets an elicitation question in its place.
        check.or_else(|| telling.map(|(query, shown)| (Purpose::Elicitation, query, shown)))
    }

    /// Which checks are still to come.
    fn due(&self) -> Due {
        let checks = &self.design.study().checks;
        let due =
            |most: usize, wanted: fn(Purpose) -> bool| most.saturating_sub(count(self.answered, wanted));
        Due {
            evaluation: due(checks.evaluation, |purpose| purpose == Purpose::Evaluation),
            dominated: due(checks.dominated, |purpose| purpose == Purpose::Dominated),
            repeats: due(checks.repeats, |purpose| matches!(purpose, Purpose::Repeat { .. })),
        }
    }

    /// The next question that elicits, if one is worth asking.
    fn telling(&self, belief: &Belief) -> Option<(Query, Shown)> {
        if stopped(self.design, self.answered, belief).is_some() {
            return None;
        }
        // A candidate is named once it was held against another one that is there.
        let confirming = self.design.adaptive().confirming(belief.as_ref());
        if let Some(found) = confirming.and_then(|query| self.presentable(query)) {
            return Some(found);
        }
        let floor = Some(self.design.study().stop.information);
        // The best may be a pair that cannot be put to people; then the next best.
        let found = self.design.adaptive().telling(belief.as_ref(), floor, |query| self.presentable(query));
        let tells = |found: &(Query, Shown)| {
            let shown = self.design.frame().query(&found.1);
            floor.is_none_or(|floor| belief.bits(&shown) >= floor)
        };
        let further = || {
            let pairs = self.design.further(belief).into_iter();
            pairs.filter_map(|query| self.presentable(query)).find(tells)
        };
        found.ok().or_else(further)
    }

    /// The pair as it would be shown, if it can be: new, readable, and not better throughout, which would be a check (UX-08).
    fn presentable(&self, query: Query) -> Option<(Query, Shown)> {
        let query = self.design.permitted(query)?;
        if self.was_asked(&query) {
            return None;
        }
        let shown = self.design.show(&query);
        let reads = match self.design.is_strict() {
            true => self.design.frame().is_readable(&query, &shown),
            false => self.design.dominance(&shown) == Dominance::Neither,
        };
        // Two that read alike are the same question.
        (reads && !self.was_shown(&shown)).then_some((query, shown))
    }

    fn was_asked(&self, query: &Query) -> bool {
        self.answered.iter().any(|question| question.asked.query.is_close(query, 1e-9))
    }

    fn was_shown(&self, shown: &Shown) -> bool {
        let turned = shown.swapped();
        self.answered.iter().any(|question| question.asked.shown == *shown || question.asked.shown == turned)
    }

    /// Comparisons that can be repeated here: long enough ago, not repeated yet, and such that swapping the sides puts
    /// fewer missed cases on the side whose turn it is.
    fn originals(&self, side: Option<Side>) -> Vec<&Question> {
        let repeated = |number: usize| {
            self.answered.iter().any(|question| question.asked.purpose == Purpose::Repeat { of: number })
        };
        let old = self.place.saturating_sub(self.design.study().checks.apart);
        let fits = |question: &&Question| {
            let Asked { number, purpose, fewer_missed, .. } = question.asked;
            matches!(purpose, Purpose::Elicitation | Purpose::Evaluation)
                && side.is_none_or(|side| fewer_missed == side.other())
                && !repeated(number)
        };
        self.answered[..old].iter().filter(fits).collect()
    }

    fn side(&self) -> Side {
        side(self.invited.seed, self.place)
    }

    fn draws(&self, purpose: &str) -> Xoshiro256PlusPlus {
        draws(self.invited.seed, purpose, self.place)
    }

    /// Puts a pair on its sides.
    fn asked(&self, purpose: Purpose, query: Query, straight: Shown) -> Asked {
        let side = match purpose {
            // The sides of a repeat are the other way round, come what may.
            Purpose::Repeat { of } => self.answered[of - 1].asked.fewer_missed.other(),
            _ => self.side(),
        };
        let first_misses_fewer = straight.a_misses_fewer().unwrap_or(true);
        let swapped = first_misses_fewer != (side == Side::A);
        let family = Shares::of(self.design.study()).map(|shares| shares.differs(&straight));
        Asked {
            number: self.place + 1,
            purpose,
            query,
            swapped,
            shown: if swapped { straight.swapped() } else { straight },
            fewer_missed: side,
            missed_first: self.draws("sentence").random(),
            variant: self.invited.variant,
            family,
            left: None,
            imagined: vec![],
        }
    }
}
