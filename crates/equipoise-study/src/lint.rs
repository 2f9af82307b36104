//! Whether a study is a good one: the thesis' guidelines G1 to G9, and whether its questions can be asked at all.

mod length;
mod texts;

use crate::design::Design;
use crate::length::Length;
use crate::schedule;
use crate::shown::{Dominance, Shown};
use crate::study::{End, Exercise, ItemKind, Study, Variant};
use crate::text::Text;
use equipoise::population::{Cell, Profile};
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

/// The languages the pages have words in: another one's texts would stand among English ones.
pub const PAGES: [&str; 5] = ["en", "de", "es", "fr", "en-XA"];

/// How many steps a scale may have: with one there is nothing to choose, and people do not tell more than eleven apart.
const STEPS: std::ops::RangeInclusive<usize> = 2..=11;

/// Pairs of each kind that are tried.
const PAIRS: usize = 400;
/// Fewer rows than this are few.
const FEW: u64 = 100;
/// How many standard errors from one half are no accident.
const SURE: f64 = 3.0;

/// Looks at everything; what the study allows is left out. What is promised of its length is looked at once that
/// [is known](Design::length), which takes seconds.
pub fn lint(design: &Design) -> Vec<Lint> {
    let mut lints = Lints { study: design.study(), found: vec![] };
    lints.wording();
    lints.languages();
    lints.said();
    lints.answerable();
    lints.rules();
    lints.consequences();
    lints.practice();
    lints.contact();
    lints.panel();
    lints.better(design);
    lints.feasible(design);
    lints.scores(design);
    lints.found.retain(|lint| !design.study().allow.iter().any(|allowed| allowed == lint.rule));
    lints.found
}

/// What `check` says after its findings: how a table fits, and whether the study can be run.
pub fn told(design: &Design, found: &[Lint]) -> Vec<String> {
    let fit = design.fit().map(|fit| {
        format!(
            "The table's boundary has {} corners. A logistic law is {:.3} away from it on average (root mean square), and \
             leaves what the table allows by at most {:.3}; with smooth = \"logistic\" it is pulled inside.",
            fit.corners, fit.distance, fit.outside
        )
    });
    let ready =
        if found.iter().any(|lint| lint.error) { "should not be run like this" } else { "can be run" };
    let Length { comparisons, screens, minutes, comparisons_p90, minutes_p90 } = design.length();
    let length = format!(
        "The study {ready}: about {comparisons} comparisons, {screens} screens and {minutes} minutes per participant, as rehearsed \
         (nine in ten: at most {comparisons_p90} comparisons and {minutes_p90} minutes)."
    );
    fit.into_iter().chain([length]).collect()
}

struct Lints<'a> {
    study: &'a Study,
    found: Vec<Lint>,
}

impl Lints<'_> {
    fn say(&mut self, rule: &'static str, error: bool, what: impl Into<String>) {
        self.found.push(Lint { rule, error, what: what.into() });
    }

    /// Every question can be answered.
    fn answerable(&mut self) {
        let study = self.study;
        for (n, question) in study.picture.iter().enumerate() {
            self.options(&format!("picture.{n}.options"), &question.options);
        }
        for (n, item) in study.questionnaire.iter().enumerate() {
            match &item.kind {
                ItemKind::Single { options } | ItemKind::Multiple { options } => {
                    self.options(&format!("questionnaire.{n}.options"), options);
                }
                ItemKind::Scale { steps, .. } if !STEPS.contains(steps) => {
                    let [least, most] = [STEPS.start(), STEPS.end()];
                    let what = format!("questionnaire.{n}.steps is {steps}, expected {least} to {most}");
                    self.say("scale", true, what);
                }
                ItemKind::Number { least, most } if least > most => {
                    let what = format!(
                        "questionnaire.{n}.least is {least}, which is more than {most}, the most; no number fits"
                    );
                    self.say("number", true, what);
                }
                ItemKind::Text { most: 0 } => {
                    let what = format!("questionnaire.{n}.most is 0 characters, expected room for an answer");
                    self.say("text", true, what);
                }
                _ => {}
            }
        }
    }

    /// At least two options, and no two that read alike.
    fn options(&mut self, place: &str, options: &[Text]) {
        if options.len() < 2 {
            let found = if options.is_empty() { "no option" } else { "one option only" };
            self.say("options", true, format!("{place} has {found}, expected at least two"));
            return;
        }
        let twice = self.study.languages.iter().find_map(|language| {
            let mut seen: Vec<&str> = vec![];
            options.iter().map(|option| option.r#in(language).trim()).find(|words| {
                let again = !words.is_empty() && seen.contains(words);
                seen.push(*words);
                again
            })
        });
        if let Some(words) = twice {
            let what = format!("{place} has \"{words}\" twice, expected options that differ");
            self.say("options", true, what);
        }
    }

    /// Rules that can leave somebody out, and not everybody.
    fn rules(&mut self) {
        let (rule, checks) = (&self.study.exclusion, &self.study.checks);
        // Without checks the usual rule says nothing, and nobody wrote it.
        let usual = checks.dominated == 0 && *rule == crate::study::Exclusion::default();
        if rule.dominated_failed > checks.dominated && !usual {
            let what = format!(
                "exclusion.dominated_failed is {}, but checks.dominated asks {}, so it never excludes anybody",
                rule.dominated_failed, checks.dominated
            );
            self.say("exclusion", false, what);
        }
        if checks.repeats > 0 && rule.repeats_alike_below > checks.repeats {
            let what = format!(
                "exclusion.repeats_alike_below is {}, but checks.repeats asks {}, so it excludes everybody",
                rule.repeats_alike_below, checks.repeats
            );
            self.say("exclusion", true, what);
        }
    }

    /// Where one system is to be better in every way, one is.
    fn better(&mut self, design: &Design) {
        let study = self.study;
        for (n, practice) in study.practice.iter().enumerate() {
            if practice.exercise != Exercise::Dominated {
                continue;
            }
            let shown = Shown {
                people: practice.a.iter().fold(0, |sum: u64, cell| sum.saturating_add(*cell)),
                classes: study.task.classes.len(),
                groups: study.task.groups.len().max(1),
                a: practice.a.clone(),
                b: practice.b.clone(),
                values: None,
            };
            let one = |found: Dominance| matches!(found, Dominance::A | Dominance::B);
            // With groups by what is read of them, which is how many there are of a mistake and how far groups are apart.
            let what = match design.dominance(&shown) {
                found if one(found) || one(design.frame().dominance(&shown)) => continue,
                Dominance::A | Dominance::B => continue,
                Dominance::Neither => "each system makes fewer mistakes of some kind",
                Dominance::Same => "both systems make the same mistakes",
            };
            let what = format!(
                "practice.{n}.exercise is \"dominated\", but {what}, expected one that is better throughout"
            );
            self.say("dominated", true, what);
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
        if study.is_choice() {
            for (n, has) in
                study.task.attributes.iter().enumerate().filter(|(_, has)| has.explanation.is_none())
            {
                let what = format!(
                    "task.attributes.{n} has no explanation: people may not know what \"{}\" means",
                    has.id
                );
                self.say("G9", false, what);
            }
        } else if study.consequences.is_empty() {
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
        } else if !is_reachable(contact) {
            let what = format!(
                "consent.contact is \"{contact}\", expected an e-mail address, a telephone number or a web address in it"
            );
            self.say("contact", false, what);
        }
    }

    fn practice(&mut self) {
        if self.study.practice.is_empty() && !self.study.is_choice() {
            self.say("practice", false, "no practice comparisons: the first real ones will be practice");
        }
        if self.study.picture.is_empty() && !self.study.is_choice() {
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

    /// A panel learns from a code or an address how it ended for somebody.
    fn panel(&mut self) {
        let Some(panel) = &self.study.panel else { return };
        let silent = |end: &End| end.code.is_none() && end.url.is_none();
        if silent(&panel.done) {
            self.say(
                "panel",
                false,
                "panel.done has neither code nor url: the panel cannot tell who is done",
            );
        }
        if !panel.require.is_empty() && silent(&panel.screened) {
            let what = "panel.screened has neither code nor url, but panel.require screens people out";
            self.say("panel", false, what);
        }
        if panel.quota.is_some() && silent(&panel.full) {
            let what = "panel.full has no url: whoever comes when all places are taken is sent nowhere";
            self.say("panel", false, what);
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
                let shown = design.show(&query);
                if design.dominance(&shown) != Dominance::Neither {
                    self.say("G2", true, "the first question reads as one system being better throughout");
                }
            }
        }
        if !design.tells_chances() {
            let what = "the space is a ball around chance, not what your classifiers reach; a table would be";
            self.say("G1", false, what);
        }
        self.length(design);
    }

    /// G1: of two classes, the table's scores are those of the positive class, and tell something.
    fn scores(&mut self, design: &Design) {
        let (Some(scores), [_, positive]) = (design.scores(), self.study.task.classes.as_slice()) else {
            return;
        };
        let (id, rows) = (&positive.id, scores.profile.rows());
        if rows < FEW {
            self.say(
                "table",
                false,
                format!("the table has {rows} rows, and {FEW} are few: what is shown may be chance"),
            );
        }
        let Some((area, error)) = area(&scores.profile) else { return };
        if area + SURE * error < 0.5 {
            let what = format!(
                "in the table, cases of {id} have lower probabilities of {id} than others (area under the ROC curve {area:.3}): the \
                 probabilities are those of the other class, or the classes are the wrong way round"
            );
            self.say("table", true, what);
        } else if area - SURE * error < 0.5 {
            let what = format!(
                "the table's probabilities tell cases apart no better than chance (area under the ROC curve {area:.3})"
            );
            self.say("table", false, what);
        }
    }
}

/// The area under the ROC curve and its standard error where scores tell nothing; none where a class has no rows.
fn area(profile: &Profile) -> Option<(f64, f64)> {
    let (mut above, mut ahead, mut masses, mut counts) = (0.0, 0.0, [0.0; 2], [0.0; 2]);
    // From the highest score on: how much of the positive class lies above each of the other, ties counted half.
    for run in profile.cells().chunk_by(|a, b| a.score == b.score) {
        let mass =
            |class: bool| run.iter().filter(|cell| cell.positive == class).map(Cell::mass).sum::<f64>();
        let (negative, positive) = (mass(false), mass(true));
        ahead += negative * (above + 0.5 * positive);
        above += positive;
        masses = [masses[0] + negative, masses[1] + positive];
        run.iter().for_each(|cell| counts[usize::from(cell.positive)] += f64::from(cell.rows));
    }
    let [negative, positive]: [f64; 2] = counts;
    let error = ((negative + positive + 1.0) / (12.0 * negative * positive)).sqrt();
    (negative > 0.0 && positive > 0.0).then(|| (ahead / (masses[0] * masses[1]), error))
}

/// Whether a text has an e-mail address, a web address or a telephone number in it, as far as one can see.
fn is_reachable(text: &str) -> bool {
    let mail = |word: &str| {
        let ends = word.trim_matches(|c: char| !c.is_alphanumeric()).split_once('@');
        ends.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
    };
    let web = |word: &str| {
        let word = word.to_lowercase();
        word.contains("://") || word.contains("www.")
    };
    let digits = text.chars().filter(char::is_ascii_digit).count();
    digits >= 5 || text.split_whitespace().any(|word| mail(word) || web(word))
}
