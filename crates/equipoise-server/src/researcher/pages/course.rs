//! How the study goes: how far everybody came, when they came, and how long they took.

use super::{FEWEST, counted};
use crate::researcher::chart;
use crate::researcher::watch::{Line, Seen};
use equipoise_study::numbers::{grouped, when};
use std::collections::BTreeMap;

/// Milliseconds of a day, and of a minute.
const DAY: i64 = 86_400_000;
const MINUTE: f64 = 60_000.0;

/// The course of a study.
pub struct Course {
    /// From invited to done.
    pub funnel: Vec<Stage>,
    /// Those who are somewhere else.
    pub beside: Vec<(&'static str, String)>,
    /// How many came and were done over time.
    pub arrivals: Option<Arrivals>,
    /// How long those who are done took.
    pub durations: Option<Durations>,
}

/// A stage, how many came as far, and which share of those invited.
pub struct Stage {
    /// What it is.
    pub name: &'static str,
    /// How many.
    pub count: String,
    /// Per cent of the first stage, for the bar.
    pub percent: usize,
}

/// When people came.
pub struct Arrivals {
    /// Drawn.
    pub chart: String,
    /// Day, how many came, how many were done.
    pub days: Vec<(String, usize, usize)>,
}

/// How long it took.
pub struct Durations {
    /// Drawn.
    pub chart: String,
    /// In words.
    pub sentence: String,
}

/// Of everybody, as they are now. Times of few people are for those who may see them one by one.
pub fn course(seen: &Seen, one_by_one: bool) -> Course {
    let all = seen.people.len();
    let stage = |name: &'static str, count: usize| Stage {
        name,
        count: grouped(count as u64),
        percent: (100 * count).checked_div(all).unwrap_or(0),
    };
    let stays = |line: &Line| !line.gone;
    let funnel = vec![
        stage("have a place", all),
        stage("opened it", seen.count(|line| stays(line) && line.opened)),
        stage("agreed to take part", seen.count(|line| stays(line) && line.consented)),
        stage("answered a comparison", seen.count(|line| stays(line) && line.person.answers > 0)),
        stage("are done", seen.count(|line| stays(line) && line.completed)),
    ];
    let mut beside = vec![];
    for (name, count) in [
        ("screened out", seen.count(|line| line.person.step == "screened out")),
        ("withdrew or were erased", seen.count(|line| line.gone)),
        ("of another version", seen.count(|line| stays(line) && !line.current)),
        ("with something to look at", seen.count(|line| !line.person.flags.is_empty())),
    ] {
        if count > 0 {
            beside.push((name, grouped(count as u64)));
        }
    }
    beside.push(("comparisons answered", grouped(seen.answers() as u64)));
    let timed = |of: fn(&Line) -> bool| one_by_one || seen.count(of) >= FEWEST;
    Course {
        funnel,
        beside,
        arrivals: arrivals(seen).filter(|_| timed(|line| line.came_at.is_some())),
        durations: durations(seen).filter(|_| timed(|line| line.done_at.is_some())),
    }
}

fn arrivals(seen: &Seen) -> Option<Arrivals> {
    let times = |of: fn(&Line) -> Option<i64>| -> Vec<i64> {
        let mut times: Vec<i64> = seen.people.iter().filter_map(|line| of(line)).collect();
        times.sort_unstable();
        times
    };
    let (came, done) = (times(|line| line.came_at), times(|line| line.done_at));
    let (first, last) = (*came.first()?, came.iter().chain(&done).max().copied()?);
    let mut days: BTreeMap<i64, (usize, usize)> = BTreeMap::new();
    for at in &came {
        days.entry(at.div_euclid(DAY)).or_default().0 += 1;
    }
    for at in &done {
        days.entry(at.div_euclid(DAY)).or_default().1 += 1;
    }
    let day = |day: i64| when(day.saturating_mul(DAY)).split(' ').next().unwrap_or_default().to_owned();
    Some(Arrivals {
        chart: chart::arrivals(&came, &done, first, last),
        days: days.into_iter().map(|(at, (came, done))| (day(at), came, done)).collect(),
    })
}

/// How long somebody has taken who is done, in minutes: from opening the link to the end, pauses included.
pub fn minutes(line: &Line) -> Option<f64> {
    let (came, done) = (line.came_at?, line.done_at?);
    Some((done.saturating_sub(came)) as f64 / MINUTE)
}

fn durations(seen: &Seen) -> Option<Durations> {
    let mut all: Vec<f64> = seen.people.iter().filter_map(|line| minutes(line)).collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all.get((share * (all.len().saturating_sub(1)) as f64).round() as usize).copied();
    let (low, middle, high) = (at(0.25)?, at(0.5)?, at(0.75)?);
    let sentence = match all.len() {
        1 => format!("The one who is done took {}.", spoken(middle)),
        several if spoken(low) == spoken(high) => format!(
            "Of {}, whoever is in the middle took {}.",
            counted(several, "person who is done", "people who are done"),
            spoken(middle)
        ),
        several => format!(
            "Of {}, half took {} to {}; whoever is in the middle took {}.",
            counted(several, "person who is done", "people who are done"),
            bare(low),
            spoken(high),
            spoken(middle)
        ),
    };
    Some(Durations { chart: chart::durations(&all), sentence })
}

/// Minutes as people say them.
pub fn spoken(minutes: f64) -> String {
    match minutes {
        m if m < 1.0 => "less than a minute".to_owned(),
        m if m < 1.5 => "a minute".to_owned(),
        m if m < 120.0 => format!("{m:.0} minutes"),
        m if m < 2880.0 => format!("{:.0} hours", m / 60.0),
        m => format!("{:.0} days", m / 1440.0),
    }
}

/// The number alone where the unit of [`spoken`] is minutes.
fn bare(minutes: f64) -> String {
    if (1.0..120.0).contains(&minutes) { format!("{minutes:.0}") } else { spoken(minutes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_said_as_people_say_them() {
        let told = [0.2, 1.2, 8.6, 600.0, 4_000.0].map(spoken);
        assert_eq!(told, ["less than a minute", "a minute", "9 minutes", "10 hours", "3 days"]);
    }

    #[test]
    fn nobody_came_and_nothing_is_drawn() {
        let course = course(&Seen::default(), true);
        assert!(course.arrivals.is_none() && course.durations.is_none());
        assert!(course.funnel.iter().all(|stage| stage.count == "0" && stage.percent == 0));
    }
}
