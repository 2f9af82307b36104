//! The end: what came out, what follows from it, and the receipt.

use super::axis::{Axis, Mark};
use super::{Ending, Frame};
use crate::language::{Language, fill};
use crate::picture::attributes;
use crate::sentence::{self, Mistakes, capital};
use askama::Template;
use equipoise_report::{Best, BestMistake, ExchangeRate, GapPrice, Own, Refused, SETTLED, Share, own};
use equipoise_study::event::{Choice, Purpose, When};
use equipoise_study::exchange::{Amount, Exchange};
use equipoise_study::study::{Better, Has};
use equipoise_study::{FEWEST, Participant, Stated, Study, exchange};

/// The last page.
#[derive(Debug, Template)]
#[template(path = "result.html")]
pub struct ResultPage {
    frame: Frame,
    told: Option<Told>,
    /// Said where there is nothing to tell.
    untold: String,
    consistency: Option<String>,
    receipt: String,
    completion: Option<String>,
    ending: Option<Ending>,
}

/// What somebody's answers say, in words and on an axis.
#[derive(Debug)]
pub struct Told {
    /// The answer.
    sentence: String,
    interval: Option<String>,
    axis: Option<Axis>,
    /// What closing gaps is worth, a sentence each.
    gaps: Vec<String>,
    /// What follows, in a sentence.
    follows: Option<String>,
    /// What follows, where a sentence would be too long: what, and how many.
    best: Vec<(String, String)>,
    /// What those are counted in.
    out_of: String,
    /// What they are called.
    best_title: &'static str,
}

impl ResultPage {
    /// What a participant's answers say, if the study shows it, and what they take back to a panel.
    pub fn new(frame: Frame, participant: &Participant, receipt: String, ending: Option<Ending>) -> Self {
        let (words, study) = (frame.words(), participant.design().study());
        let (told, untold) = match study.completion.show_result {
            true => match Told::new(participant, frame.language) {
                Ok(told) => (Some(told), String::new()),
                Err(why) => (None, why),
            },
            false => (None, words.no_result.to_owned()),
        };
        let consistency = told.as_ref().and_then(|_| consistency(&frame, participant));
        let completion = study.completion.url.clone();
        Self { frame, told, untold, consistency, receipt, completion, ending }
    }
}

impl Told {
    /// What there is to tell, or why there is nothing.
    pub fn new(participant: &Participant, language: Language) -> Result<Self, String> {
        let study = participant.design().study();
        match own(participant) {
            Own::Refused(why) => Err(refused(why, language)),
            Own::Choice { name, probability, shares } => {
                Ok(Self::of_choice(study, &name, probability, &shares, language))
            }
            Own::Ratio { ratio, best } => Ok(Self::of_ratio(participant, ratio, best.as_ref(), language)),
            Own::Weights { rates, gaps, best } => {
                Self::of_weights(study, &rates, &gaps, best.as_ref(), language)
                    .ok_or_else(|| language.words().unsettled.to_owned())
            }
        }
    }

    /// Which candidate suits somebody, and what weighs for them, most first.
    fn of_choice(study: &Study, name: &str, probability: f64, shares: &[Share], language: Language) -> Self {
        let (words, numbers) = (language.words(), language.numbers());
        let sentence = if probability >= SETTLED { words.chosen } else { words.chosen_open };
        let written = numbers.localized(&format!("{probability:.2}"));
        let whole = |share: f64| format!("{:.0}", 100.0 * share);
        let row = |(n, (has, share)): (usize, (&Has, &Share))| {
            let [low, high] = study.ranges.get(n).copied().unwrap_or_default();
            let [from, to] = if has.better == Better::Less { [high, low] } else { [low, high] };
            let [from, to] = [from, to].map(|x| attributes::number(has, x, language));
            let unit = attributes::unit(study, has, language).unwrap_or_default();
            let what = format!("{} ({from} → {to} {unit}", has.name.r#in(language.tag()));
            let interval = share.interval.map_or(String::new(), |[low, high]| {
                format!(" ({}–{}{})", whole(low), whole(high), numbers.percent)
            });
            (
                share.share,
                (what.trim_end().to_owned() + ")", whole(share.share) + numbers.percent + &interval),
            )
        };
        let mut rows: Vec<(f64, (String, String))> =
            study.task.attributes.iter().zip(shares).enumerate().map(row).collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        Self {
            sentence: fill(sentence, &[("name", name), ("probability", &written)]),
            interval: None,
            axis: None,
            gaps: vec![],
            follows: None,
            best: rows.into_iter().map(|(_, row)| row).collect(),
            out_of: String::new(),
            best_title: words.chosen_weighs,
        }
    }

    fn of_ratio(participant: &Participant, ratio: [f64; 3], best: Option<&Best>, language: Language) -> Self {
        let (words, study) = (language.words(), participant.design().study());
        let [middle, low, high] = ratio;
        let (sentence, interval) = sentence::exchange(study, [low, middle, high], language);
        let settled = matches!(Exchange::within(middle, [low, high]).amount, Amount::About(..));
        let [missed, alarms] = [Mistakes::of(study, 1, 0, language), Mistakes::of(study, 0, 1, language)];
        let mut marks = vec![found(ratio, settled, language)];
        for (label, when) in [(words.stated_before, When::Before), (words.own_last, When::After)] {
            marks.extend(participant.stated(when).and_then(|stated| guess(label, stated, language)));
        }
        let title = fill(words.axis_ratio, &[("many", &alarms.many), ("one", &missed.one)]);
        let follows = best.filter(|_| settled).map(|best| {
            let each = |mistake: &BestMistake| {
                let count = mistake.many.round() as u64;
                let [truth, predicted] = mistake.kind;
                let name = Mistakes::of(study, truth, predicted, language);
                format!("{} {}", language.numbers().count(count), name.counted(language, count))
            };
            let list = sentence::list(language, &best.mistakes.iter().map(each).collect::<Vec<_>>());
            let values = [
                ("count", &*language.numbers().count(1_000)),
                ("people", study.task.people.r#in(language.tag())),
                ("list", &list),
            ];
            fill(words.best_system, &values)
        });
        Self {
            sentence,
            interval,
            axis: Some(Axis::new(title, marks)),
            gaps: vec![],
            follows,
            best: vec![],
            out_of: String::new(),
            best_title: words.best_title,
        }
    }

    fn of_weights(
        study: &Study,
        rates: &[ExchangeRate],
        gaps: &[GapPrice],
        best: Option<&Best>,
        language: Language,
    ) -> Option<Self> {
        let words = language.words();
        let first = rates.first()?;
        let name = |[truth, predicted]: [usize; 2]| Mistakes::of(study, truth, predicted, language);
        let (dearest, unit) = (name(first.kind), name(first.unit_kind));
        // Where the unit is the dearest itself, it is told in what comes next.
        let (one, many, [amount, low, high]) = match (first.rate, first.interval) {
            (rate, interval) if rate >= 1.0 => {
                let [low, high] = interval.unwrap_or([rate; 2]);
                (&dearest.one, &unit.many, [rate, low, high])
            }
            (rate, interval) => {
                let [low, high] = interval.unwrap_or([rate; 2]);
                (&unit.one, &dearest.many, [1.0 / rate, 1.0 / high, 1.0 / low])
            }
        };
        let sentence = fill(
            words.weights_lead,
            &[("one", one), ("amount", &language.numbers().two_digits(amount)), ("many", many)],
        );
        let mut marks: Vec<Mark> =
            rates.iter().map(|rate| worth(&name(rate.kind).one, rate, language)).collect();
        let place = marks.iter().position(|mark| mark.at.is_some_and(|at| at < 1.0)).unwrap_or(marks.len());
        let itself = Mark {
            label: capital(&unit.one),
            value: words.unit.to_owned(),
            range: None,
            at: Some(1.0),
            ends: None,
            found: false,
        };
        marks.insert(place, itself);
        let grouped = best.is_some_and(|best| best.mistakes.iter().any(|mistake| mistake.gap.is_some()));
        Some(Self {
            sentence,
            interval: first.interval.map(|_| ends(words.interval, [low, high], language)),
            axis: Some(Axis::new(fill(words.axis_weights, &[("many", &unit.many)]), marks)),
            gaps: gaps.iter().map(|gap| gap_worth(study, gap, language)).collect(),
            follows: None,
            best: best.map_or(vec![], |best| follows(study, best, language)),
            out_of: match grouped {
                true => String::new(),
                false => fill(
                    words.out_of,
                    &[
                        ("count", &*language.numbers().count(1_000)),
                        ("people", study.task.people.r#in(language.tag())),
                    ],
                ),
            },
            best_title: words.best_title,
        })
    }

    /// The interval, unless it stands beside its mark on the axis.
    fn interval(&self) -> Option<&String> {
        let beside = |interval: &&String| {
            self.axis.iter().flat_map(|axis| &axis.marks).any(|mark| mark.range.as_ref() == Some(*interval))
        };
        self.interval.as_ref().filter(|interval| !beside(interval))
    }

    /// The same as a picture in a file of its own, which needs no style sheet.
    pub fn picture(&self, study: &str, receipt: &str, language: Language) -> String {
        super::keep::picture(self, study, receipt, language)
    }

    /// The paragraphs of the picture: the answer, then what is below the axis.
    pub(super) fn paragraphs(&self) -> (Vec<String>, Vec<String>) {
        let above = std::iter::once(self.sentence.clone()).chain(self.interval().cloned()).collect();
        let mut below: Vec<String> = self.gaps.iter().chain(&self.follows).cloned().collect();
        if !self.best.is_empty() {
            let head = match self.out_of.as_str() {
                "" => self.best_title.to_owned(),
                out_of => format!("{} ({out_of})", self.best_title),
            };
            below.push(head);
            below.extend(self.best.iter().map(|(what, count)| format!("{what}: {count}")));
        }
        (above, below)
    }

    pub(super) fn axis(&self) -> Option<&Axis> {
        self.axis.as_ref()
    }
}

/// The ratio on its axis; only the ends where nothing is settled.
fn found([middle, low, high]: [f64; 3], settled: bool, language: Language) -> Mark {
    let (words, numbers) = (language.words(), language.numbers());
    let set = [exchange::set(low), exchange::set(high)];
    let [least, most] = set.map(|end| end.map(|end| numbers.two_digits(end)));
    let value = match (settled, &least, &most) {
        (true, ..) => numbers.two_digits(middle),
        (_, Some(least), None) => format!("{} {least}", words.stated_low),
        (_, None, Some(most)) => format!("{} {most}", words.stated_high),
        _ => String::new(),
    };
    let range = match (least, most) {
        (Some(low), Some(high)) => Some(fill(words.interval, &[("low", &low), ("high", &high)])),
        _ => None,
    };
    let label = words.own_answers.to_owned();
    Mark { label, value, range, at: settled.then_some(middle), ends: Some(set), found: true }
}

/// What somebody stated; nothing where they could not say.
fn guess(label: &str, stated: Stated, language: Language) -> Option<Mark> {
    let (words, numbers) = (language.words(), language.numbers());
    let ratio = stated.ratio?;
    let end = |word: &str, end: Option<f64>| end.map(|end| format!("{word} {}", numbers.two_digits(end)));
    let ends: Vec<String> = [end(words.stated_low, stated.low), end(words.stated_high, stated.high)]
        .into_iter()
        .flatten()
        .collect();
    Some(Mark {
        label: label.to_owned(),
        value: numbers.two_digits(ratio),
        range: (!ends.is_empty()).then(|| ends.join(", ")),
        at: Some(ratio),
        ends: Some([stated.low.or(Some(ratio)), stated.high.or(Some(ratio))]),
        found: false,
    })
}

/// What one mistake is worth, on the axis.
fn worth(one: &str, rate: &ExchangeRate, language: Language) -> Mark {
    let numbers = language.numbers();
    let written = |value: f64| if value < 0.01 { "0".to_owned() } else { numbers.two_digits(value) };
    let range = rate.interval.map(|range| {
        let [low, high] = range.map(written);
        fill(language.words().interval, &[("low", &low), ("high", &high)])
    });
    Mark {
        label: capital(one),
        value: written(rate.rate),
        range,
        at: Some(rate.rate),
        ends: rate.interval.map(|ends| ends.map(Some)),
        found: true,
    }
}

fn ends(sentence: &str, range: [f64; 2], language: Language) -> String {
    let [low, high] = range.map(|end| language.numbers().two_digits(end));
    fill(sentence, &[("low", &low), ("high", &high)])
}

fn gap_worth(study: &Study, gap: &GapPrice, language: Language) -> String {
    let (words, numbers, tag) = (language.words(), language.numbers(), language.tag());
    let mistakes = Mistakes::of(study, gap.kind[0], gap.kind[1], language).many;
    let group = |n: usize| study.task.groups.get(n).map_or("", |group| group.name.r#in(tag));
    let sentence = fill(
        words.gap_worth,
        &[
            ("mistakes", &mistakes),
            ("group", group(gap.between[0])),
            ("other", group(gap.between[1])),
            ("amount", &numbers.two_digits(gap.more_per_thousand)),
            ("whole", &numbers.count(1_000)),
            ("people", study.task.people.r#in(tag)),
        ],
    );
    match gap.interval {
        Some(range) => {
            format!("{} ({}).", sentence.trim_end_matches('.'), ends(words.interval, range, language))
        }
        None => sentence,
    }
}

/// What the best system does, a line each.
fn follows(study: &Study, best: &Best, language: Language) -> Vec<(String, String)> {
    let (words, numbers) = (language.words(), language.numbers());
    let mut lines = vec![];
    for mistake in &best.mistakes {
        let [truth, predicted] = mistake.kind;
        let many = Mistakes::of(study, truth, predicted, language).many;
        let Some(gap) = mistake.gap else {
            lines.push((capital(&many), numbers.count(mistake.many.round() as u64)));
            continue;
        };
        let class = study.task.classes[truth].truth.r#in(language.tag());
        let what = fill(words.per_hundred, &[("mistakes", &many), ("class", class)]);
        lines.push((capital(&what), numbers.count(mistake.many.round() as u64)));
        let points = gap.round() as u64;
        let told = fill(words.points.at(language, points), &[("count", &numbers.count(points))]);
        lines.push((words.gap_plain.to_owned(), told));
    }
    lines
}

/// Why nothing is told, to the person it is about.
fn refused(why: Refused, language: Language) -> String {
    let (words, numbers) = (language.words(), language.numbers());
    let count = |count: usize| numbers.count(count as u64);
    let why = match why {
        Refused::TooFew { answers } => {
            fill(words.refused_few, &[("count", &count(answers)), ("needed", &count(FEWEST))])
        }
        Refused::Checks { failed, of } => {
            fill(words.refused_checks, &[("count", &count(failed)), ("total", &count(of))])
        }
        Refused::Sides(_) => words.refused_sides.to_owned(),
        Refused::Chance(_) | Refused::HalfWrong { .. } => words.refused_chance.to_owned(),
        Refused::TooWide => words.refused_wide.to_owned(),
    };
    fill(words.refused, &[("why", &why)])
}

/// How often a repeated question got the answer it got the first time; sides were swapped.
fn consistency(frame: &Frame, participant: &Participant) -> Option<String> {
    let questions = participant.questions();
    let answers = |number: usize| {
        let question = questions.iter().find(|question| question.asked.number == number)?;
        Some(question.asked.preference(question.answer.as_ref()?.choice))
    };
    let (mut same, mut total) = (0, 0);
    for question in questions {
        let (Purpose::Repeat { of }, Some(answer)) = (question.asked.purpose, &question.answer) else {
            continue;
        };
        let Some(first) = answers(of) else { continue };
        total += 1;
        same += u64::from(question.asked.preference(answer.choice) == first);
    }
    let numbers = frame.language.numbers();
    let sentence = frame.language.words().consistency.at(frame.language, total);
    (total > 0).then(|| fill(sentence, &[("same", &numbers.count(same)), ("total", &numbers.count(total))]))
}

/// A choice in words.
pub fn choice_name(frame: &Frame, participant: &Participant, choice: Choice) -> String {
    let study = participant.design().study();
    match choice {
        Choice::A => sentence::system(study, "A", frame.language),
        Choice::B => sentence::system(study, "B", frame.language),
        Choice::CannotTell => frame.language.words().cannot_tell.to_owned(),
    }
}
