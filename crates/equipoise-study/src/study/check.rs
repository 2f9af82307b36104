//! What must hold between the parts of a study file, with the line that breaks it.

use super::{Candidates, Family, QuerySpace, Stop, Study};
use crate::error::{Error, Result};
use crate::lines::Lines;
use crate::shown::TOTALS;

impl Study {
    pub(super) fn check(&self, lines: &Lines) -> Result<()> {
        let wrong = |path: &str, what: String| Error::study(lines.line(path), what);
        if self.format != 1 {
            return Err(wrong("format", format!("format is {}, expected 1", self.format)));
        }
        if self.version == 0 {
            return Err(wrong("version", "version is 0, expected a whole number from 1 on".to_owned()));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            let what = format!("name is \"{}\", expected letters, digits and hyphens", self.name);
            return Err(wrong("name", what));
        }
        if self.languages.is_empty() {
            return Err(wrong("languages", "languages is empty, expected at least one".to_owned()));
        }
        if self.variants.is_empty() {
            return Err(wrong("variants", "variants is empty, expected at least one".to_owned()));
        }
        let k = self.task.classes.len();
        if !(2..=12).contains(&k) {
            return Err(wrong("task.classes", format!("task.classes has {k} entries, expected 2 to 12")));
        }
        for (n, class) in self.task.classes.iter().enumerate() {
            if self.class(&class.id) != Some(n) {
                let path = format!("task.classes.{n}.id");
                return Err(wrong(&path, format!("the class \"{}\" is there twice", class.id)));
            }
        }
        let known = |place: String, id: &str| match self.class(id) {
            Some(_) => Ok(()),
            None => {
                let ids: Vec<&str> = self.task.classes.iter().map(|class| class.id.as_str()).collect();
                let what = format!("{place} is \"{id}\", expected one of {}", ids.join(", "));
                Err(wrong(&place, what))
            }
        };
        for (n, mistake) in self.task.mistakes.iter().enumerate() {
            known(format!("task.mistakes.{n}.truth"), &mistake.truth)?;
            known(format!("task.mistakes.{n}.predicted"), &mistake.predicted)?;
            if mistake.truth == mistake.predicted {
                let path = format!("task.mistakes.{n}.predicted");
                return Err(wrong(&path, format!("{path} is its truth, expected another class")));
            }
        }
        for (n, card) in self.consequences.iter().enumerate() {
            known(format!("consequences.{n}.truth"), &card.truth)?;
            known(format!("consequences.{n}.predicted"), &card.predicted)?;
        }
        if k == 2 && (self.mistake(0, 1).is_none() || self.mistake(1, 0).is_none()) {
            let what = "task.mistakes names not both mistakes of two classes, expected both".to_owned();
            return Err(wrong("task", what));
        }
        self.check_numbers(&wrong)?;
        self.check_pictures(&wrong)
    }

    fn check_numbers(&self, wrong: &dyn Fn(&str, String) -> Error) -> Result<()> {
        let Stop { width, angle, cap, information } = self.stop;
        let limits = [
            ("stop.width", width, 1.05, 100.0),
            ("stop.angle", angle, 0.01, 1.0),
            ("stop.cap", cap as f64, 1.0, 400.0),
            ("stop.information", information, 0.0, 1.0),
            ("exclusion.too_fast_share", self.exclusion.too_fast_share, 0.0, 1.0),
            ("checks.dominated", self.checks.dominated as f64, 0.0, 20.0),
            ("checks.repeats", self.checks.repeats as f64, 0.0, 20.0),
            ("checks.apart", self.checks.apart as f64, 1.0, 20.0),
            ("checks.evaluation", self.checks.evaluation as f64, 0.0, 100.0),
        ];
        let days = |days: Option<u32>| days.map_or(1.0, f64::from);
        let kept = [
            ("retention.contact_days", days(self.retention.contact_days), 1.0, 36_500.0),
            ("retention.answers_days", days(self.retention.answers_days), 1.0, 36_500.0),
        ];
        for (path, value, least, most) in limits.into_iter().chain(kept) {
            if !(least..=most).contains(&value) {
                return Err(wrong(
                    path,
                    format!(
                        "{path} is {}, expected a number in [{least}, {most}]",
                        crate::numbers::short(value)
                    ),
                ));
            }
        }
        let k = self.task.classes.len();
        let shares = |path: &str, shares: &[f64]| {
            if shares.len() != k {
                let what =
                    format!("{path} has {} entries, expected one for each of {k} classes", shares.len());
                return Err(wrong(path, what));
            }
            let sum: f64 = shares.iter().sum();
            if !shares.iter().all(|share| *share > 0.0) || (sum - 1.0).abs() > 1e-6 {
                let what = format!("{path} sums to {sum}, expected numbers above 0 that sum to 1");
                return Err(wrong(path, what));
            }
            Ok(())
        };
        let groups = self.task.groups.len();
        if let QuerySpace::Logistic { slope, offset } = self.space {
            for (path, value) in [("space.slope", slope), ("space.offset", offset)] {
                if !value.is_finite() {
                    return Err(wrong(path, format!("{path} is {value}, expected a finite number")));
                }
            }
        }
        match &self.space {
            QuerySpace::Logistic { .. } | QuerySpace::Pool { .. } if k != 2 => {
                let what = format!("this space has 2 classes, but task.classes has {k}");
                return Err(wrong("space.kind", what));
            }
            QuerySpace::Ball { class_shares, .. } => shares("space.class_shares", class_shares)?,
            QuerySpace::GroupBall { class_shares, group_shares, .. } => {
                shares("space.class_shares", class_shares)?;
                if group_shares.len() != groups {
                    let what = format!(
                        "space.group_shares has {} rows, expected one for each of {groups} groups",
                        group_shares.len()
                    );
                    return Err(wrong("space.group_shares", what));
                }
            }
            _ => {}
        }
        if let Some(Candidates { file, predictions }) = &self.candidates
            && file.is_some() != predictions.is_empty()
        {
            let found = if file.is_some() { "both file and predictions" } else { "no file" };
            let what = format!("candidates has {found}, expected either file or predictions");
            return Err(wrong("candidates", what));
        }
        let grouped = matches!(self.space, QuerySpace::GroupBall { .. });
        if grouped != (self.family == Family::GroupFair) {
            let what = "family \"group_fair\" and a space of kind \"group_ball\" need each other".to_owned();
            return Err(wrong("family", what));
        }
        Ok(())
    }

    fn check_pictures(&self, wrong: &dyn Fn(&str, String) -> Error) -> Result<()> {
        let cells = self.task.classes.len().pow(2) * self.task.groups.len().max(1);
        let fits = |path: String, found: &[u64]| match found.len() == cells {
            true => Ok(()),
            false => Err(wrong(&path, format!("{path} has {} cells, expected {cells}", found.len()))),
        };
        // Both systems of a picture are about the same people: as many of each class, in each group.
        let of_classes = |cells: &[u64]| -> Vec<u64> {
            cells
                .chunks(self.task.classes.len())
                .map(|row| row.iter().fold(0, |a: u64, b| a.saturating_add(*b)))
                .collect()
        };
        let alike = |path: String, one: &[u64], other: &[u64]| match of_classes(one) == of_classes(other) {
            true => Ok(()),
            false => {
                let list = |cells: &[u64]| {
                    of_classes(cells).iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
                };
                let what = format!(
                    "{path} shows {} people of the classes, expected {} as the other system does",
                    list(other),
                    list(one)
                );
                Err(wrong(&path, what))
            }
        };
        // People are shown out of a round number (G2): everybody, or, with groups, each class of each group.
        let round = |path: &str, cells: &[u64]| {
            let whole = if self.task.groups.is_empty() {
                vec![of_classes(cells).iter().sum()]
            } else {
                of_classes(cells)
            };
            match whole.iter().find(|people| !TOTALS.contains(people)) {
                None => Ok(()),
                Some(people) => {
                    Err(wrong(path, format!("{path} sums to {people}, expected 100, 1000 or 10000")))
                }
            }
        };
        for (n, question) in self.picture.iter().enumerate() {
            if question.correct >= question.options.len() {
                let path = format!("picture.{n}.correct");
                let (found, most) = (question.correct, question.options.len());
                return Err(wrong(
                    &path,
                    format!("{path} is {found}, expected less than {most}, the options"),
                ));
            }
            for (s, system) in question.systems.iter().enumerate() {
                let path = format!("picture.{n}.systems.{s}");
                fits(path.clone(), system)?;
                round(&path, system)?;
                alike(path, &question.systems[0], system)?;
            }
        }
        for (n, practice) in self.practice.iter().enumerate() {
            fits(format!("practice.{n}.a"), &practice.a)?;
            fits(format!("practice.{n}.b"), &practice.b)?;
            round(&format!("practice.{n}.a"), &practice.a)?;
            alike(format!("practice.{n}.b"), &practice.a, &practice.b)?;
        }
        for (n, item) in self.questionnaire.iter().enumerate() {
            if self.questionnaire.iter().position(|other| other.id == item.id) != Some(n) {
                let path = format!("questionnaire.{n}.id");
                return Err(wrong(&path, format!("the item \"{}\" is there twice", item.id)));
            }
        }
        Ok(())
    }
}
