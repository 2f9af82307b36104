//! Study files: templates are good, and whatever is wrong has its line.

use equipoise_study::{Design, Study, lint, template};
use std::path::Path;

#[test]
fn templates_can_be_run_and_differ_only_where_they_should() {
    for template in template::TEMPLATES {
        let study = Study::parse(template.text).unwrap_or_else(|e| panic!("{}: {e}", template.name));
        let design = Design::new(study, Path::new(".")).unwrap();
        let errors: Vec<_> = lint::lint(&design).into_iter().filter(|lint| lint.error).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", template.name);
    }
}

#[test]
fn lints_find_what_the_guidelines_warn_of() {
    let text = template::find("binary-cancer").unwrap().text;
    let found = |text: &str| {
        let design = Design::new(Study::parse(text).unwrap(), Path::new(".")).unwrap();
        lint::lint(&design).into_iter().map(|lint| lint.rule).collect::<Vec<_>>()
    };
    assert!(found(&text.replace("predicted as low risk", "labelled as low risk")).contains(&"G6"));
    let allowed = text.replace("predicted as low risk", "labelled as low risk").replacen(
        "seed =",
        "allow = [\"G6\"]\nseed =",
        1,
    );
    assert!(!found(&allowed).contains(&"G6"));
    assert!(
        found(&text.replacen("languages = [\"en\"", "languages = [\"it\", \"en\"", 1)).contains(&"languages")
    );
    let long =
        text.replace("A healthy person worries for weeks", &format!("A {} person", "very ".repeat(30)));
    assert!(found(&long).contains(&"G9"));
    assert!(found(text).contains(&"contact"));
    assert!(!found(&text.replace("study@example.org", "study@clinic.test")).contains(&"contact"));
}

#[test]
fn the_hash_is_of_what_the_file_means() {
    let text = template::find("binary-cancer").unwrap().text;
    let hash = |text: &str| Study::parse(text).unwrap().hash(&[]);
    assert_eq!(hash(text), hash(&format!("# a comment\n{text}")));
    assert_ne!(hash(text), hash(&text.replacen("width = 1.6 ", "width = 1.7 ", 1)));
}
