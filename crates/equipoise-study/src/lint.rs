//! Whether a study is a good one: the thesis' guidelines G1 to G9, and whether its questions can be asked at all.

use crate::design::Design;
use crate::schedule;
use crate::shown::Dominance;
use crate::study::{ItemKind, QuerySpace, Study, Variant};
use crate::text::Text;
use serde::Serialize;

/// Something to say about a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lint {
    /// The guideline or rule, as `allow` names it: "G6", "languages", "feasible".
    pub rule: &'static str,
    /// Whether the study should not be run like this.
    pub error: bool,
    /// What was found, where, and what to do.
    pub what: String,
}

/// Seconds a comparison takes, for the estimate of minutes.
const SECONDS: usize = 12;

/// Pairs of each kind that are tried.
const PAIRS: usize = 400;

/// Looks at everything; what the study allows is left out.
pub fn lint(design: &Design) -> Vec<Lint> {
    let mut lints = Lints { study: design.study(), found: vec![] };
    lints.wording();
    lints.languages();
    lints.consequences();
    lints.practice();
    lints.contact();
    lints.feasible(design);
    lints.found.retain(|lint| !design.study().allow.iter().any(|allowed| allowed == lint.rule));
    lints.found
}

/// About how many minutes a participant needs, and how many comparisons.
pub fn length(design: &Design) -> (usize, usize) {
    let study = design.study();
    let checks = study.checks.evaluation + study.checks.repeats + study.checks.dominated;
    let comparisons = design.expected() + checks;
    let reading = 60 + 30 * study.picture.len() + 20 * study.practice.len() + 15 * study.questionnaire.len();
    ((comparisons * SECONDS + reading).div_ceil(60), comparisons)
}

struct Lints<'a> {
    study: &'a Study,
    found: Vec<Lint>,
}

impl Lints<'_> {
    fn say(&mut self, rule: &'static str, error: bool, what: impl Into<String>) {
        self.found.push(Lint { rule, error, what: what.into() });
    }

    /// G6: a person is predicted to be something; a label is the truth to those who know the word.
    fn wording(&mut self) {
        let wrong: Vec<String> = texts(self.study)
            .into_iter()
            .flat_map(|(place, text)| {
                text.all().map(move |text| (place.clone(), text.to_lowercase())).collect::<Vec<_>>()
            })
            .filter(|(_, text)| text.contains("labelled") || text.contains("labeled"))
            .map(|(place, _)| place)
            .collect();
        for place in wrong {
            self.say("G6", true, format!("{place} says \"labelled\", expected \"predicted as\""));
        }
    }

    fn languages(&mut self) {
        for (place, text) in texts(self.study) {
            let missing: Vec<&str> = self
                .study
                .languages
                .iter()
                .map(String::as_str)
                .filter(|language| !text.has(language))
                .collect();
            if !missing.is_empty() {
                self.say("languages", true, format!("{place} is not there in {}", missing.join(", ")));
            }
        }
    }

    /// G7 and G9.
    fn consequences(&mut self) {
        let study = self.study;
        if study.stated_cost.is_none() && study.task.classes.len() == 2 && study.task.groups.is_empty() {
            self.say(
                "G7",
                false,
                "no stated_cost: the report cannot compare the metric with what people say",
            );
        }
        if study.consequences.is_empty() {
            self.say("G9", false, "no consequences: people may not know what a mistake means");
        }
        let words = |truth: &str, predicted: &str| -> usize {
            let cards =
                study.consequences.iter().filter(|card| card.truth == truth && card.predicted == predicted);
            cards.map(|card| card.text.r#in(&study.languages[0]).split_whitespace().count()).sum()
        };
        let mut counts: Vec<(usize, &str, &str)> = vec![];
        for card in &study.consequences {
            if !counts
                .iter()
                .any(|(_, truth, predicted)| *truth == card.truth && *predicted == card.predicted)
            {
                counts.push((words(&card.truth, &card.predicted), &card.truth, &card.predicted));
            }
        }
        let (least, most) = (counts.iter().min(), counts.iter().max());
        if let (Some(least), Some(most)) = (least, most)
            && 10 * (most.0 - least.0) > 3 * most.0
        {
            let of = |(words, truth, predicted): &(usize, &str, &str)| {
                format!("\"{truth}\" taken for \"{predicted}\" has {words} words")
            };
            self.say("G9", false, format!("{}, {}: expected within 30 %", of(most), of(least)));
        }
        for (n, card) in study.consequences.iter().enumerate() {
            if card.source.trim().is_empty() {
                self.say("G9", false, format!("consequences.{n}.source names nobody, expected who says so"));
            }
        }
    }

    /// Templates come with an address that belongs to nobody.
    fn contact(&mut self) {
        let contact = &self.study.consent.contact;
        let nobody = ["example.org", "example.com", "example.net"].iter().any(|name| contact.ends_with(name));
        if nobody || contact.trim().is_empty() {
            let what = format!("consent.contact is \"{contact}\", expected an address that somebody reads");
            self.say("contact", false, what);
        }
    }

    fn practice(&mut self) {
        if self.study.practice.is_empty() {
            self.say("practice", false, "no practice comparisons: the first real ones will be practice");
        }
        if self.study.picture.is_empty() {
            self.say("picture", false, "no picture questions: nobody checks that the picture is understood");
        }
        if self.study.variants != [Variant::Flow] && self.study.variants.len() == 1 {
            self.say("G4", false, "the only variant is not the flow chart, which people read best");
        }
        match &self.study.completion.url {
            Some(url) if !url.starts_with("https://") => {
                self.say("completion", true, format!("completion.url is \"{url}\", expected https://"));
            }
            _ => {}
        }
    }

    /// G1 and G2: pairs of every kind exist, read as what they are, and out of how many.
    fn feasible(&mut self, design: &Design) {
        let mut random = schedule::draws(self.study.seed, "lint", 0);
        let (mut evaluation, mut dominated) = (0, 0);
        for n in 0..PAIRS {
            evaluation += usize::from(design.evaluation(n, &mut random).is_some());
            dominated += usize::from(design.dominated(&mut random).is_some());
        }
        for (found, wanted, what) in [
            (evaluation, self.study.checks.evaluation, "evaluation questions"),
            (dominated, self.study.checks.dominated, "dominated checks"),
        ] {
            if wanted > 0 && found < PAIRS {
                let what = format!("{what} could be made in {found} of {PAIRS} tries, expected all");
                self.say("feasible", true, what);
            }
        }
        match design.belief().questions(self.study.seed).next() {
            None => self.say("feasible", true, "there is no first question to ask: the space is too small"),
            Some(query) => {
                let shown = design.frame().show(&query);
                if shown.dominance() != Dominance::Neither {
                    self.say("G2", true, "the first question reads as one system being better throughout");
                }
                if shown.people > 10_000 {
                    let what =
                        format!("the first question needs numbers out of {}, expected 10,000", shown.people);
                    self.say("G2", false, what);
                }
            }
        }
        if let QuerySpace::Ball { .. } | QuerySpace::GroupBall { .. } = self.study.space {
            let what = "the space is a ball around chance, not what your classifiers reach; a table would be";
            self.say("G1", false, what);
        }
        let (minutes, comparisons) = length(design);
        if minutes > 20 {
            let what = format!("about {comparisons} comparisons and {minutes} minutes, expected at most 20");
            self.say("length", false, what);
        }
    }
}

/// Every text participants read, with its place.
fn texts(study: &Study) -> Vec<(String, &Text)> {
    let mut all = vec![
        ("title".to_owned(), &study.title),
        ("task.question".to_owned(), &study.task.question),
        ("task.introduction".to_owned(), &study.task.introduction),
        ("task.people".to_owned(), &study.task.people),
        ("task.system".to_owned(), &study.task.system),
        ("consent.text".to_owned(), &study.consent.text),
    ];
    for (n, class) in study.task.classes.iter().enumerate() {
        all.push((format!("task.classes.{n}.truth"), &class.truth));
        all.push((format!("task.classes.{n}.predicted"), &class.predicted));
    }
    for (n, group) in study.task.groups.iter().enumerate() {
        all.push((format!("task.groups.{n}.name"), &group.name));
    }
    for (n, mistake) in study.task.mistakes.iter().enumerate() {
        all.push((format!("task.mistakes.{n}.one"), &mistake.one));
        all.push((format!("task.mistakes.{n}.many"), &mistake.many));
        all.push((format!("task.mistakes.{n}.short"), &mistake.short));
    }
    if let Some(stated) = &study.stated_cost {
        all.push(("stated_cost.question".to_owned(), &stated.question));
    }
    for (n, card) in study.consequences.iter().enumerate() {
        all.push((format!("consequences.{n}.kind"), &card.kind));
        all.push((format!("consequences.{n}.text"), &card.text));
    }
    for (n, question) in study.picture.iter().enumerate() {
        all.push((format!("picture.{n}.question"), &question.question));
        all.push((format!("picture.{n}.explanation"), &question.explanation));
        all.extend(question.options.iter().map(|option| (format!("picture.{n}.options"), option)));
    }
    for (n, item) in study.questionnaire.iter().enumerate() {
        all.push((format!("questionnaire.{n}.question"), &item.question));
        match &item.kind {
            ItemKind::Single { options } | ItemKind::Multiple { options } => {
                all.extend(options.iter().map(|option| (format!("questionnaire.{n}.options"), option)));
            }
            ItemKind::Scale { low, high, .. } => {
                all.push((format!("questionnaire.{n}.low"), low));
                all.push((format!("questionnaire.{n}.high"), high));
            }
            ItemKind::Number { .. } | ItemKind::Text { .. } => {}
        }
    }
    all
}
