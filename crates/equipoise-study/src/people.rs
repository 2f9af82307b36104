//! All participants of a log, and what there is to say about how each of them answered.

use crate::belief::Belief;
use crate::design::Design;
use crate::error::{Error, Result};
use crate::event::{Choice, Event, Purpose, Side};
use crate::numbers::sign_test;
use crate::participant::{Participant, Question};
use crate::schedule::FEWEST;
use crate::shown::Dominance;
use crate::timing;
use equipoise::engine::Width;
use equipoise_log::{COMMON_SESSION, Reader, each};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// Below this an answer cannot have followed from reading (UX-22).
pub const TOO_FAST_MS: u64 = 300;
/// Flags of whoever went by the sides.
const SIDES: [&str; 2] = ["chose one side far more often than the other", "chose the sides in turn"];
/// Above this somebody was probably away.
pub const TOO_SLOW_MS: u64 = 300_000;

/// Every participant, in the order of invitations, from one pass over the log. Rows go as they are read: what people are by
/// them is a part of their size.
pub fn participants(design: &Arc<Design>, log: &dyn Reader) -> Result<Vec<Participant>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut people: Vec<Participant> = vec![];
    each(log, |row| {
        if row.session == COMMON_SESSION {
            return Ok(());
        }
        let place = *places.entry(row.session.clone()).or_insert_with(|| {
            people.push(Participant::new(design.clone(), &row.session));
            people.len() - 1
        });
        people[place].take(&row)
    })?;
    Ok(people)
}

/// The session of every participant, by number, without those who were erased. Nobody's answers are looked at.
pub fn numbers(log: &dyn Reader) -> Result<BTreeMap<u64, String>> {
    let mut sessions = BTreeMap::new();
    each(log, |row| {
        if row.seq == 1
            && row.session != COMMON_SESSION
            && let Some(Event::Invited(invited)) = Event::in_row(&row)?
        {
            sessions.insert(invited.number, row.session);
        }
        Ok::<_, Error>(())
    })?;
    Ok(sessions)
}

/// A participant by number; `None` if nobody has it, or has it any more.
pub fn participant(design: &Arc<Design>, log: &dyn Reader, number: u64) -> Result<Option<Participant>> {
    let Some(session) = numbers(log)?.remove(&number) else { return Ok(None) };
    Participant::fold(design.clone(), &session, &log.session(&session)?).map(Some)
}

/// How somebody answered. Flags are for people to look at; they exclude nobody.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conduct {
    /// Dominated checks with an answer, and those in which the better system was chosen.
    pub dominated: Passed,
    /// Repeats with an answer, and those answered alike.
    pub repeats: Passed,
    /// "I can't tell", of all answers.
    pub cannot_tell: Passed,
    /// Choices of A, of all choices.
    pub chose_a: Passed,
    /// Answers faster than 300 ms, of those with a time.
    pub too_fast: Passed,
    /// Answers faster than reading what differs takes, of those with a time.
    pub unread: Passed,
    /// Answers for which the browser told more time than the server saw go by, of those with both.
    pub disputed: Passed,
    /// Answers slower than five minutes, of those with a time.
    pub too_slow: Passed,
    /// The middle response time.
    pub median_ms: Option<u64>,
    /// How often an answer was taken back.
    pub retracted: usize,
    /// What to look at.
    pub flags: Vec<&'static str>,
    /// Whether the study's exclusion rule, which was fixed before, names this participant.
    pub excluded: bool,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Passed {
    /// So many.
    pub count: usize,
    /// Of so many.
    pub of: usize,
}

impl Passed {
    fn of<'a>(items: impl Iterator<Item = &'a Question>, mut counts: impl FnMut(&Question) -> bool) -> Self {
        items.fold(Self::default(), |Self { count, of }, item| Self {
            count: count + usize::from(counts(item)),
            of: of + 1,
        })
    }

    /// The share; 0 of none.
    pub fn share(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.count as f64 / self.of as f64 }
    }
}

impl fmt::Display for Passed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} of {}", self.count, self.of)
    }
}

impl Conduct {
    /// Looks at all answers that stand.
    pub fn of(participant: &Participant) -> Self {
        let design = participant.design();
        let rule = &design.study().exclusion;
        let questions = participant.questions();
        let answered = || questions.iter().filter(|question| question.answer.is_some());
        let choice = |question: &Question| question.answer.as_ref().map(|answer| answer.choice);
        let time = |question: &Question| question.answer.as_ref().and_then(|answer| answer.response_ms);
        let looked = |q: &Question| q.answer.as_ref().and_then(|a| timing::looked_ms(a, q.elapsed_ms()));
        let timed = || answered().filter(|question| time(question).is_some());
        let dominated =
            Passed::of(answered().filter(|q| q.asked.purpose == Purpose::Dominated), |q| match choice(q) {
                Some(Choice::A) => design.dominance(&q.asked.shown) == Dominance::A,
                Some(Choice::B) => design.dominance(&q.asked.shown) == Dominance::B,
                _ => false,
            });
        let repeats =
            Passed::of(answered().filter(|q| matches!(q.asked.purpose, Purpose::Repeat { .. })), |q| {
                let Purpose::Repeat { of } = q.asked.purpose else { return false };
                let first =
                    questions.get(of - 1).and_then(|first| Some(first.asked.preference(choice(first)?)));
                choice(q).map(|choice| q.asked.preference(choice)) == first
            });
        let cannot_tell = Passed::of(answered(), |q| choice(q) == Some(Choice::CannotTell));
        let chose_a = Passed::of(answered().filter(|q| choice(q) != Some(Choice::CannotTell)), |q| {
            choice(q) == Some(Choice::A)
        });
        let too_fast = Passed::of(timed(), |q| time(q).is_some_and(|ms| ms < TOO_FAST_MS));
        let unread = Passed::of(answered().filter(|q| looked(q).is_some()), |q| {
            q.answer.as_ref().is_some_and(|answer| timing::is_unread(&q.asked.shown, answer, q.elapsed_ms()))
        });
        let disputed = Passed::of(timed().filter(|q| q.elapsed_ms().is_some()), |q| {
            q.answer.as_ref().is_some_and(|answer| timing::is_disputed(answer, q.elapsed_ms()))
        });
        let too_slow = Passed::of(timed(), |q| time(q).is_some_and(|ms| ms > TOO_SLOW_MS));
        let mut times: Vec<u64> = answered().filter_map(time).collect();
        times.sort_unstable();
        let median_ms = times.get(times.len() / 2).copied();
        let failed = dominated.of - dominated.count;
        let mut flags = vec![];
        let mut flag = |raised: bool, what: &'static str| {
            if raised {
                flags.push(what);
            }
        };
        flag(failed >= 2, "failed two or more checks with a better system");
        flag(repeats.of >= 4 && repeats.count * 2 < repeats.of, "answered most repeats differently");
        flag(
            cannot_tell.of >= 10 && cannot_tell.share() > 0.3,
            "the display may be too fine: often \"can't tell\"",
        );
        let (a, b) = (chose_a.count, chose_a.of - chose_a.count);
        flag(chose_a.of >= 10 && sign_test(a, b) < 0.005, SIDES[0]);
        flag(chose_a.of >= 10 && alternates(questions) < 0.005, SIDES[1]);
        flag(too_fast.count >= 3, "answered several comparisons within 300 ms");
        let often = |passed: Passed| passed.count >= 3 && passed.share() > 0.2;
        flag(often(unread), "answered many comparisons faster than they can be read");
        flag(often(disputed), "the browser told more time than went by");
        let excluded = (rule.dominated_failed > 0 && failed >= rule.dominated_failed)
            || (repeats.of > 0 && repeats.count < rule.repeats_alike_below)
            || too_fast.share() > rule.too_fast_share;
        let retracted = participant.retracted();
        Self {
            dominated,
            repeats,
            cannot_tell,
            chose_a,
            too_fast,
            unread,
            disputed,
            too_slow,
            median_ms,
            retracted,
            flags,
            excluded,
        }
    }
}

/// How likely chance changes sides as regularly as somebody did: the exact test of turns against stays. Whoever stays more often
/// than not does not take turns.
fn alternates(questions: &[Question]) -> f64 {
    let choices: Vec<Choice> = questions.iter().filter_map(|q| Some(q.answer.as_ref()?.choice)).collect();
    let turns = choices.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let stays = choices.len().saturating_sub(1) - turns;
    if turns > stays { sign_test(turns, stays) } else { 1.0 }
}

/// Why the sides that were chosen have nothing to do with what was on them, if that is so: systems are put on sides at random.
pub fn by_side(participant: &Participant) -> Option<&'static str> {
    let flags = Conduct::of(participant).flags;
    SIDES.into_iter().find(|what| flags.contains(what))
}

/// A study at a glance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The study's name.
    pub study: String,
    /// Its version.
    pub version: u64,
    /// Its hash.
    pub hash: String,
    /// Places made.
    pub invited: usize,
    /// Of them, who agreed to take part.
    pub consented: usize,
    /// Who has finished.
    pub completed: usize,
    /// Who has left.
    pub withdrawn: usize,
    /// Whose data were erased.
    pub erased: usize,
    /// Answers to comparisons that stand.
    pub answers: usize,
    /// Everybody, in the order of invitations.
    pub people: Vec<Person>,
}

/// One participant at a glance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Person {
    /// Counted from 1; nothing after an erasure.
    pub number: Option<u64>,
    /// Where they are.
    pub step: String,
    /// Comparisons answered.
    pub answers: usize,
    /// Two classes: the cost ratio with its 95 % interval.
    pub ratio: Option<[f64; 3]>,
    /// More classes or groups: the angle that holds the weights with 95 % certainty.
    pub angle: Option<f64>,
    /// Candidates with attributes: which one would be named now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
    /// What to look at.
    pub flags: Vec<&'static str>,
}

/// A candidate that would be named.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// Its name.
    pub name: String,
    /// How likely it is the best.
    pub probability: f64,
}

/// Draws of what somebody holds, as many as reports take.
const DRAWS: usize = 1000;

/// Candidates with attributes: the one that is likeliest the best by somebody's answers, as the report has it.
pub fn best(person: &Participant) -> Option<Best> {
    let models = person.design().models().filter(|_| person.design().is_choice())?;
    // Nobody is named by answers that the report would not take.
    let Conduct { dominated, excluded, .. } = Conduct::of(person);
    if answers(person) < FEWEST
        || excluded
        || dominated.of - dominated.count >= 2
        || by_side(person).is_some()
    {
        return None;
    }
    let mut votes = vec![0_usize; models.names().len()];
    for draw in person.belief().draws(DRAWS) {
        let likings = models.likings(&draw);
        let top = (0..likings.len()).max_by(|a, b| likings[*a].total_cmp(&likings[*b]))?;
        votes[top] += 1;
    }
    let top = (0..votes.len()).max_by_key(|n| votes[*n])?;
    Some(Best { name: models.names()[top].clone(), probability: votes[top] as f64 / DRAWS as f64 })
}

impl Person {
    /// Where a participant is, and what is known of them.
    pub fn of(person: &Participant) -> Self {
        let mut known = Self::at_a_glance(person);
        if known.answers > 0 {
            known.ratio = ratio(person.belief());
            known.best = best(person);
            known.angle = match person.belief().width() {
                Width::Angle(angle) if known.best.is_none() => Some(angle),
                _ => None,
            };
        }
        known
    }

    /// Where a participant is. What their answers say takes a hundred times as long.
    pub fn at_a_glance(person: &Participant) -> Self {
        Self {
            number: person.invited().map(|invited| invited.number),
            step: if person.erased() { "erased".to_owned() } else { word(person) },
            answers: answers(person),
            ratio: None,
            angle: None,
            best: None,
            flags: Conduct::of(person).flags,
        }
    }
}

fn answers(person: &Participant) -> usize {
    person.questions().iter().filter(|question| question.answer.is_some()).count()
}

/// A study at a glance; `known` says of whom more is to be told than how far they are, which takes its time.
pub fn summary(
    design: &Arc<Design>,
    people: &[Participant],
    known: impl Fn(&Participant) -> bool,
) -> Summary {
    let told =
        |person: &Participant| if known(person) { Person::of(person) } else { Person::at_a_glance(person) };
    let count = |wanted: fn(&Participant) -> bool| people.iter().filter(|person| wanted(person)).count();
    Summary {
        study: design.study().name.clone(),
        version: design.study().version,
        hash: design.hash().to_owned(),
        invited: people.len(),
        consented: count(Participant::consented),
        completed: count(Participant::completed),
        withdrawn: count(Participant::withdrawn),
        erased: count(Participant::erased),
        answers: people.iter().map(answers).sum(),
        people: people.iter().map(told).collect(),
    }
}

/// Two classes: estimate and ends of the 95 % interval of the cost ratio.
pub fn ratio(belief: &Belief) -> Option<[f64; 3]> {
    let quantile = |share| belief.quantile(share);
    Some([quantile(0.5)?, quantile(0.025)?, quantile(0.975)?])
}

fn word(person: &Participant) -> String {
    use crate::participant::Step;
    match person.step() {
        Step::Language | Step::Consent if person.events() == 1 => "not opened",
        Step::Language => "language",
        Step::Consent => "consent",
        Step::Questionnaire(_) => "questionnaire",
        Step::StatedCost(_) => "stated cost",
        Step::Consequences => "consequences",
        Step::Picture { .. } => "learning the picture",
        Step::Practice(_) => "practice",
        Step::Compare => "comparing",
        Step::Finish | Step::Result => "done",
        Step::Screened => "screened out",
        Step::Withdrawn => "withdrawn",
    }
    .to_owned()
}

/// Whether an answer chose the side with fewer missed cases; `None` for "can't tell".
pub fn chose_fewer_missed(question: &Question) -> Option<bool> {
    let side = match question.answer.as_ref()?.choice {
        Choice::A => Side::A,
        Choice::B => Side::B,
        Choice::CannotTell => return None,
    };
    Some(side == question.asked.fewer_missed)
}
