//! Whether everything that people read is there, in words that say what is meant.

use super::{Lints, PAGES};
use crate::study::{ItemKind, Study};
use crate::text::Text;

impl Lints<'_> {
    /// G6: a person is predicted to be something; a label is the truth to those who know the word.
    pub(super) fn wording(&mut self) {
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

    pub(super) fn languages(&mut self) {
        for language in &self.study.languages {
            if !PAGES.contains(&language.as_str()) {
                let known: Vec<&str> = PAGES.into_iter().filter(|tag| *tag != "en-XA").collect();
                let known = known.join(", ");
                let what = format!(
                    "languages has \"{language}\", in which the pages have no words, expected some of {known}"
                );
                self.say("languages", true, what);
            }
        }
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

    /// Every text that people read has words in it, in every language they can choose.
    pub(super) fn said(&mut self) {
        let empty = |(place, text): (String, &Text)| match text {
            Text::Plain(words) => words.trim().is_empty().then_some(place),
            Text::ByLanguage(texts) => {
                let found = texts.iter().find(|(tag, words)| {
                    words.trim().is_empty() && self.study.languages.iter().any(|language| language == *tag)
                });
                found.map(|(tag, _)| format!("{place}.{tag}"))
            }
        };
        let places: Vec<String> = texts(self.study).into_iter().filter_map(empty).collect();
        for place in places {
            self.say("empty", true, format!("{place} is empty, expected words that people read"));
        }
        let without: Vec<String> = self
            .study
            .stated_cost
            .iter()
            .flat_map(|stated| match &stated.question {
                Text::Plain(words) => vec![("stated_cost.question".to_owned(), words)],
                Text::ByLanguage(texts) => {
                    texts.iter().map(|(tag, words)| (format!("stated_cost.question.{tag}"), words)).collect()
                }
            })
            .filter(|(_, words)| !words.trim().is_empty() && !words.contains("___"))
            .map(|(place, _)| place)
            .collect();
        for place in without {
            let what = format!("{place} has no ___, expected it where people write their number");
            self.say("stated_cost", true, what);
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
    for (n, has) in study.task.attributes.iter().enumerate() {
        all.push((format!("task.attributes.{n}.name"), &has.name));
        all.extend(has.unit.as_ref().map(|unit| (format!("task.attributes.{n}.unit"), unit)));
        let explanation = has.explanation.as_ref();
        all.extend(explanation.map(|text| (format!("task.attributes.{n}.explanation"), text)));
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
