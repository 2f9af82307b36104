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
}

/// The fields that a study file has. One that is not there is not offered: its place in the file is for people to choose.
pub fn fields(text: &str) -> Result<Vec<Field>> {
    let lines = Lines::of(text)?;
    let main = lines.plain("languages.0");
    let mut all = vec![];
    for (path, name) in FIELDS {
        if let Some(value) = lines.plain(path) {
            all.push(Field { path: path.to_owned(), name, language: None, first: true, value });
        }
        for language in lines.keys(path) {
            let (path, first) = (format!("{path}.{language}"), main.as_ref() == Some(&language));
            if let Some(value) = lines.plain(&path) {
                all.push(Field { path, name, language: Some(language), first, value });
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
        if *value == field.value {
            continue;
        }
        let lines = Lines::of(&text)?;
        if let Some(span) = lines.span(&field.path) {
            let number = value.parse::<u32>().ok().filter(|_| !lines.is_text(&field.path));
            // What is no number becomes a text, and the check says what was expected.
            let written =
                number.map_or_else(|| toml::Value::from(value.as_str()).to_string(), |n| n.to_string());
            text.replace_range(span, &written);
        }
    }
    Ok(text)
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
}
