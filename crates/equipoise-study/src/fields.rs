//! What people change most in a study file, as fields of a form: texts and numbers are replaced where they stand, and all else,
//! comments included, stays as it was written.

use crate::error::Result;
use crate::lines::Lines;

/// The fields: where they are in the file, and what they are called.
const FIELDS: [(&str, &str); 6] = [
    ("title", "Title"),
    ("task.question", "The question"),
    ("task.introduction", "Introduction"),
    ("stop.cap", "Most questions, checks not counted"),
    ("consent.text", "What people agree to"),
    ("consent.contact", "Whom they can write to"),
];

/// A field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Where it is in the file: `consent.text.en`.
    pub path: String,
    /// What it is called.
    pub name: &'static str,
    /// The language, of a text that has several.
    pub language: Option<String>,
    /// Whether it is in the language that comes first, or in none.
    pub first: bool,
    /// What is there.
    pub value: String,
    /// Whether that is a whole number.
    pub number: bool,
}

impl Field {
    /// What somebody typed, as the field has it: numbers without the spaces around them.
    fn read<'a>(&self, typed: &'a str) -> &'a str {
        if self.number { typed.trim() } else { typed }
    }

    /// Whether something else was typed.
    pub fn differs(&self, typed: &str) -> bool {
        self.read(typed) != self.value.replace("\r\n", "\n")
    }

    /// What is wrong with a number that was typed.
    pub fn wrong(&self, typed: &str) -> Option<String> {
        let fine = !self.number || self.read(typed).parse::<u32>().is_ok();
        (!fine).then(|| format!("\"{}\" is \"{}\", expected a whole number", self.name, self.read(typed)))
    }
}

/// What a field is called, by its place in the file; the language stands behind it.
pub fn named(path: &str) -> Option<String> {
    FIELDS.iter().find_map(|(place, name)| match path.strip_prefix(place)? {
        "" => Some((*name).to_owned()),
        rest => rest.strip_prefix('.').map(|language| format!("{name} ({language})")),
    })
}

/// The fields that a study file has. One that is not there is not offered: its place in the file is for people to choose.
pub fn fields(text: &str) -> Result<Vec<Field>> {
    let lines = Lines::of(text)?;
    let main = lines.plain("languages.0");
    let mut all = vec![];
    for (path, name) in FIELDS {
        if let Some(value) = lines.plain(path) {
            let number = !lines.is_text(path);
            all.push(Field { path: path.to_owned(), name, language: None, first: true, value, number });
        }
        for language in lines.keys(path) {
            let (path, first) = (format!("{path}.{language}"), main.as_ref() == Some(&language));
            if let Some(value) = lines.plain(&path) {
                let number = !lines.is_text(&path);
                all.push(Field { path, name, language: Some(language), first, value, number });
            }
        }
    }
    // By language, so that whoever writes one has it together.
    let group = |field: &Field| (!field.first).then(|| field.language.clone());
    all.sort_by_key(|field| (group(field), place(field)));
    Ok(all)
}

/// Where a field stands among all.
fn place(field: &Field) -> Option<usize> {
    FIELDS.iter().position(|(_, name)| *name == field.name)
}

/// The file with other values in its fields; paths that are no field are left alone.
pub fn with_fields(text: &str, values: &[(String, String)]) -> Result<String> {
    let mut text = text.to_owned();
    for field in fields(&text)? {
        let Some((_, value)) = values.iter().find(|(path, _)| *path == field.path) else { continue };
        if !field.differs(value) {
            continue;
        }
        let value = field.read(value);
        let lines = Lines::of(&text)?;
        if let Some(span) = lines.span(&field.path) {
            let number = value.parse::<u32>().ok().filter(|_| field.number);
            // What is no number becomes a text, and the check says what was expected.
            let written = number.map_or_else(|| toml::Value::from(value).to_string(), |n| n.to_string());
            text.replace_range(span, &written);
        }
    }
    Ok(text)
}

/// The file as it would be with both what was typed into it and what was typed into its fields; otherwise why it cannot have both.
pub fn with_both(
    file: &str,
    typed: &str,
    values: &[(String, String)],
) -> std::result::Result<String, String> {
    let value = |field: &Field| values.iter().find(|(path, _)| *path == field.path).map(|(_, value)| value);
    let mut changed: Vec<(Field, &String)> = vec![];
    for field in fields(file).unwrap_or_default() {
        if let Some(value) = value(&field).filter(|value| field.differs(value)) {
            changed.push((field, value));
        }
    }
    // Browsers send lines as they please.
    let typed = if typed == file.replace("\r\n", "\n") { file } else { typed };
    if changed.is_empty() {
        return Ok(typed.to_owned());
    }
    let there = fields(typed).map_err(|_| {
        "the text of study.toml has an error, so what stands in the fields cannot be put into it".to_owned()
    })?;
    let mut wanted = vec![];
    for (field, value) in changed {
        match there.iter().find(|other| other.path == field.path) {
            Some(other) if !other.differs(value) => {}
            Some(other) if other.value == field.value => wanted.push((field.path, value.clone())),
            _ => {
                let name = named(&field.path).unwrap_or_default();
                return Err(format!(
                    "\"{name}\" was changed in its field and, in another way, in the text of study.toml; keep one of them"
                ));
            }
        }
    }
    with_fields(typed, &wanted).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Study, template};

    #[test]
    fn every_template_has_fields_and_writing_them_back_changes_nothing() {
        for template in &template::TEMPLATES {
            let found = fields(template.text).unwrap();
            for name in ["title", "stop.cap", "consent.contact"] {
                assert!(
                    found.iter().any(|field| field.path.starts_with(name)),
                    "{name} of {}",
                    template.name
                );
            }
            let same: Vec<(String, String)> =
                found.into_iter().map(|field| (field.path, field.value)).collect();
            assert_eq!(with_fields(template.text, &same).unwrap(), template.text);
        }
    }

    #[test]
    fn a_value_is_replaced_where_it_stands_and_comments_stay() {
        let text = template::find("binary-cancer").unwrap().text;
        let put =
            |path: &str, value: &str| with_fields(text, &[(path.to_owned(), value.to_owned())]).unwrap();
        let fewer = put("stop.cap", "12");
        assert!(fewer.contains("cap = 12      # or this many questions"), "{fewer}");
        assert_eq!(fewer.len(), text.len());
        for nasty in
            ["\"quoted\" \\ and 'so'", "two\nlines", "\"\"\"", "'''\n\\", "Ünï # not a comment", "12", ""]
        {
            for path in ["title.en", "consent.contact", "consent.text.de"] {
                let changed = put(path, nasty);
                let found = fields(&changed).unwrap();
                let value = &found.iter().find(|field| field.path == path).unwrap().value;
                assert_eq!(value, nasty, "{path}");
            }
        }
        assert_eq!(Study::parse(&put("title.en", "A new title")).unwrap().title.r#in("en"), "A new title");
        let wrong = Study::parse(&put("stop.cap", "many")).unwrap_err().to_string();
        assert!(wrong.starts_with("line ") && wrong.contains("many"), "{wrong}");
        assert_eq!(put("name", "another"), text, "what is no field is not written");
        assert!(fields("title = ").is_err());
    }

    #[test]
    fn what_was_typed_in_the_file_and_in_its_fields_is_put_together() {
        let text = template::find("binary-cancer").unwrap().text;
        let both = |typed: &str, path: &str, value: &str| {
            with_both(text, typed, &[(path.to_owned(), value.to_owned())])
        };
        let edited = text.replace("seed = 20261116", "seed = 7");
        let merged = both(&edited, "stop.cap", " 12 ").unwrap();
        assert!(merged.contains("seed = 7") && merged.contains("cap = 12      # or"), "{merged}");
        assert_eq!(both(&edited, "stop.cap", "20").unwrap(), edited, "the field is as it was");
        assert_eq!(both(text, "stop.cap", "20").unwrap(), text);
        let fewer = text.replace("cap = 20", "cap = 12");
        assert_eq!(both(&fewer, "stop.cap", "20").unwrap(), fewer, "the text alone was changed");
        assert_eq!(both(&fewer, "stop.cap", "12").unwrap(), fewer, "both say the same");
        let clash = both(&fewer, "stop.cap", "13").unwrap_err();
        assert!(clash.starts_with("\"Most questions, checks not counted\" was changed"), "{clash}");
        assert!(both("title = ", "stop.cap", "13").unwrap_err().contains("has an error"));
        assert_eq!(both("title = ", "stop.cap", "20").unwrap(), "title = ");
        let dos = text.replace('\n', "\r\n");
        assert_eq!(with_both(&dos, text, &[]).unwrap(), dos, "only the ends of lines differ");
        let cap = fields(text).unwrap().into_iter().find(|field| field.path == "stop.cap").unwrap();
        assert!(cap.wrong("abc").unwrap().contains("is \"abc\", expected a whole number"));
        assert_eq!((cap.wrong(" 7\t"), cap.differs(" 20 ")), (None, false));
        assert_eq!(named("consent.text.de").as_deref(), Some("What people agree to (de)"));
        assert_eq!(named("titles"), None);
    }
}
