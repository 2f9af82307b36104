//! What must hold between the parts of a study file, with the line that breaks it.

use super::{Candidates, Family, QuerySpace, Stop, Study};
use crate::error::{Error, Result};
use crate::lines::Lines;
use crate::numbers::short;
use crate::shown::TOTALS;
use crate::text::Text;

/// Says what is wrong with a field, on its line, unless it is fine.
pub(super) type Need<'a> = dyn Fn(bool, &str, String) -> Result<()> + 'a;

fn word(family: Family) -> &'static str {
    match family {
        Family::Linear => "linear",
        Family::Quadratic => "quadratic",
        Family::GroupFair => "group_fair",
    }
}

impl Study {
    /// Says what is wrong, if anything is.
    pub(super) fn check(&self, lines: &Lines) -> Result<()> {
        let need = |fine: bool, path: &str, what: String| match fine {
            true => Ok(()),
            false => Err(Error::study(lines.line(path), what)),
        };
        // Sentences that begin with the field.
        let field = |fine: bool, path: &str, what: String| need(fine, path, format!("{path} {what}"));
        field(self.format == 1, "format", format!("is {}, expected 1", self.format))?;
        field(self.version > 0, "version", "is 0, expected a whole number from 1 on".to_owned())?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let named = !self.name.is_empty() && self.name.chars().all(plain);
        field(named, "name", format!("is \"{}\", expected letters, digits and hyphens", self.name))?;
        field(!self.languages.is_empty(), "languages", "is empty, expected at least one".to_owned())?;
        field(!self.variants.is_empty(), "variants", "is empty, expected at least one".to_owned())?;
        let k = self.task.classes.len();
        match self.is_choice() {
            true => self.check_choice(&need, &field)?,
            false => {
                field((2..=12).contains(&k), "task.classes", format!("has {k} entries, expected 2 to 12"))?
            }
        }
        let without = self.is_choice() || self.task.attributes.is_empty();
        let what = "has entries, which go with a space of kind \"attributes\"; expected none";
        field(without, "task.attributes", what.to_owned())?;
        for (n, class) in self.task.classes.iter().enumerate() {
            let what = format!("the class \"{}\" is there twice", class.id);
            need(self.class(&class.id) == Some(n), &format!("task.classes.{n}.id"), what)?;
        }
        let known = |place: String, id: &str| {
            let ids: Vec<&str> = self.task.classes.iter().map(|class| class.id.as_str()).collect();
            field(
                self.class(id).is_some(),
                &place,
                format!("is \"{id}\", expected one of {}", ids.join(", ")),
            )
        };
        for (n, mistake) in self.task.mistakes.iter().enumerate() {
            known(format!("task.mistakes.{n}.truth"), &mistake.truth)?;
            known(format!("task.mistakes.{n}.predicted"), &mistake.predicted)?;
            let path = format!("task.mistakes.{n}.predicted");
            field(
                mistake.truth != mistake.predicted,
                &path,
                "is its truth, expected another class".to_owned(),
            )?;
        }
        for (n, card) in self.consequences.iter().enumerate() {
            known(format!("consequences.{n}.truth"), &card.truth)?;
            known(format!("consequences.{n}.predicted"), &card.predicted)?;
        }
        let both = k != 2 || (self.mistake(0, 1).is_some() && self.mistake(1, 0).is_some());
        let what = "task.mistakes names not both mistakes of two classes, expected both";
        need(both, "task", what.to_owned())?;
        self.check_numbers(&need, &field)?;
        self.check_pictures(&need, &field)?;
        self.check_panel(&need, &field)
    }

    /// Candidates with attributes: nothing of the file is about classes.
    fn check_choice(&self, need: &Need<'_>, field: &Need<'_>) -> Result<()> {
        let attributes = &self.task.attributes;
        let what = format!("has {} entries, expected 2 to 12", attributes.len());
        field((2..=12).contains(&attributes.len()), "task.attributes", what)?;
        for (n, attribute) in attributes.iter().enumerate() {
            let once = attributes.iter().position(|other| other.id == attribute.id) == Some(n);
            let what = format!("the attribute \"{}\" is there twice", attribute.id);
            need(once, &format!("task.attributes.{n}.id"), what)?;
            let said = |text: &Text| text.all().all(|words| !words.trim().is_empty());
            let empty = "is empty, expected words that people read";
            field(said(&attribute.name), &format!("task.attributes.{n}.name"), empty.to_owned())?;
            let unit = attribute.unit.as_ref().is_none_or(said);
            let empty = "is empty, expected what it is counted in; leave it out where it is a plain number";
            field(unit, &format!("task.attributes.{n}.unit"), empty.to_owned())?;
            let out_of = attribute.out_of.unwrap_or(1);
            let what = format!("is {out_of}, expected a whole number from 1 to 1000000");
            field((1..=1_000_000).contains(&out_of), &format!("task.attributes.{n}.out_of"), what)?;
        }
        let about_classes = [
            ("task.classes", self.task.classes.is_empty()),
            ("task.groups", self.task.groups.is_empty()),
            ("task.mistakes", self.task.mistakes.is_empty()),
            ("consequences", self.consequences.is_empty()),
            ("picture", self.picture.is_empty()),
            ("practice", self.practice.is_empty()),
            ("stated_cost", self.stated_cost.is_none()),
            ("candidates", self.candidates.is_none()),
        ];
        for (path, fine) in about_classes {
            let what = "is about classes, which candidates with attributes do not have; expected none";
            field(fine, path, what.to_owned())?;
        }
        let what = format!("is \"{}\", expected \"linear\", which attributes have", word(self.family));
        field(self.family == Family::Linear, "family", what)?;
        let Stop { width, angle, .. } = self.stop;
        let fine = width.is_none() && angle.is_none();
        let what = "has a width or an angle; attributes end by regret, expected regret and cap only";
        field(fine, "stop", what.to_owned())
    }

    fn check_numbers(&self, need: &Need<'_>, field: &Need<'_>) -> Result<()> {
        let Stop { regret, width, angle, cap, information } = self.stop;
        let days = |days: Option<u32>| days.map_or(1.0, f64::from);
        for (path, value, least, most) in [
            ("stop.regret", regret.unwrap_or(0.1), 0.001, 0.9),
            ("stop.width", width.unwrap_or(2.0), 1.05, 100.0),
            ("stop.angle", angle.unwrap_or(0.1), 0.01, 1.0),
            ("stop.cap", cap as f64, 1.0, 400.0),
            ("stop.information", information, 0.0, 1.0),
            ("exclusion.too_fast_share", self.exclusion.too_fast_share, 0.0, 1.0),
            ("checks.dominated", self.checks.dominated as f64, 0.0, 20.0),
            ("checks.repeats", self.checks.repeats as f64, 0.0, 20.0),
            ("checks.apart", self.checks.apart as f64, 1.0, 20.0),
            ("checks.evaluation", self.checks.evaluation as f64, 0.0, 100.0),
            ("retention.contact_days", days(self.retention.contact_days), 1.0, 36_500.0),
            ("retention.answers_days", days(self.retention.answers_days), 1.0, 36_500.0),
        ] {
            let what = format!("is {}, expected a number in [{least}, {most}]", short(value));
            field((least..=most).contains(&value), path, what)?;
        }
        let k = self.task.classes.len();
        let shares = |path: &str, shares: &[f64]| {
            let what = format!("has {} entries, expected one for each of {k} classes", shares.len());
            field(shares.len() == k, path, what)?;
            let sum: f64 = shares.iter().sum();
            let fine = shares.iter().all(|share| *share > 0.0) && (sum - 1.0).abs() <= 1e-6;
            field(fine, path, format!("sums to {sum}, expected numbers above 0 that sum to 1"))
        };
        if let QuerySpace::Logistic { slope, offset } = self.space {
            for (path, value) in [("space.slope", slope), ("space.offset", offset)] {
                field(value.is_finite(), path, format!("is {value}, expected a finite number"))?;
            }
        }
        match &self.space {
            QuerySpace::Logistic { .. } | QuerySpace::Pool { .. } => {
                let what = format!("this space has 2 classes, but task.classes has {k}");
                need(k == 2, "space.kind", what)?;
            }
            QuerySpace::Ball { class_shares, .. } => shares("space.class_shares", class_shares)?,
            QuerySpace::GroupBall { class_shares, group_shares, .. } => {
                shares("space.class_shares", class_shares)?;
                let (rows, groups) = (group_shares.len(), self.task.groups.len());
                let what = format!("has {rows} rows, expected one for each of {groups} groups");
                field(rows == groups, "space.group_shares", what)?;
            }
            QuerySpace::Table { .. } | QuerySpace::Attributes { .. } => {}
        }
        if let Some(Candidates { file, predictions, .. }) = &self.candidates {
            let found = if file.is_some() { "both file and predictions" } else { "no file" };
            let what = format!("has {found}, expected either file or predictions");
            field(file.is_some() == predictions.is_empty(), "candidates", what)?;
        }
        let fair = self.family == Family::GroupFair;
        let fits = match &self.space {
            QuerySpace::GroupBall { .. } => fair,
            QuerySpace::Table { .. } => true,
            _ => !fair,
        };
        let what = "family \"group_fair\" needs a space of kind \"table\" or \"group_ball\", and a \"group_ball\" needs that \
                    family";
        need(fits, "family", what.to_owned())?;
        let found = self.task.groups.len();
        let what = format!(
            "family \"group_fair\" compares groups, but task.groups has {found}, expected at least 2"
        );
        need(!fair || found >= 2, "task.groups", what)
    }

    fn check_pictures(&self, need: &Need<'_>, field: &Need<'_>) -> Result<()> {
        let cells = self.task.classes.len().saturating_pow(2).saturating_mul(self.task.groups.len().max(1));
        let fits = |path: &str, found: &[u64]| {
            field(found.len() == cells, path, format!("has {} cells, expected {cells}", found.len()))
        };
        // Numbers of a file may be anything.
        let sum = |people: &[u64]| people.iter().fold(0, |a: u64, b| a.saturating_add(*b));
        let of_classes = |cells: &[u64]| -> Vec<u64> {
            let rows = cells.chunks(self.task.classes.len());
            rows.map(sum).collect()
        };
        // Both systems of a picture are about the same people: as many of each class, in each group.
        let alike = |path: &str, one: &[u64], other: &[u64]| {
            let [one, other] = [one, other].map(of_classes);
            let list = |people: &[u64]| people.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            let [found, expected] = [list(&other), list(&one)];
            let what =
                format!("shows {found} people of the classes, expected {expected} as the other system does");
            field(one == other, path, what)
        };
        // People are shown out of a round number (G2): everybody, or, with groups, each class of each group.
        let round = |path: &str, cells: &[u64]| {
            let people = of_classes(cells);
            let whole = if self.task.groups.is_empty() { vec![sum(&people)] } else { people };
            match whole.iter().find(|people| !TOTALS.contains(people)) {
                None => Ok(()),
                Some(people) => field(false, path, format!("sums to {people}, expected 100, 1000 or 10000")),
            }
        };
        for (n, question) in self.picture.iter().enumerate() {
            let (found, most) = (question.correct, question.options.len());
            let what = format!("is {found}, expected less than {most}, the options");
            field(found < most, &format!("picture.{n}.correct"), what)?;
            for (s, system) in question.systems.iter().enumerate() {
                let path = format!("picture.{n}.systems.{s}");
                fits(&path, system)?;
                round(&path, system)?;
                alike(&path, question.systems.first().unwrap_or(system), system)?;
            }
        }
        for (n, practice) in self.practice.iter().enumerate() {
            let [a, b] = ["a", "b"].map(|system| format!("practice.{n}.{system}"));
            fits(&a, &practice.a)?;
            fits(&b, &practice.b)?;
            round(&a, &practice.a)?;
            alike(&b, &practice.a, &practice.b)?;
        }
        for (n, item) in self.questionnaire.iter().enumerate() {
            let once = self.questionnaire.iter().position(|other| other.id == item.id) == Some(n);
            let what = format!("the item \"{}\" is there twice", item.id);
            need(once, &format!("questionnaire.{n}.id"), what)?;
        }
        Ok(())
    }
}
