//! Study files: templates are good, and whatever is wrong has its line.

use equipoise_study::{Design, Study, lint, template};
use std::path::Path;

#[test]
fn templates_can_be_run_and_differ_only_where_they_should() {
    for template in template::TEMPLATES {
        let study = Study::parse(template.text).unwrap_or_else(|e| panic!("{}: {e}", template.name));
        let design = Design::new(study, Path::new("src/templates")).unwrap();
        let errors: Vec<_> = lint::lint(&design).into_iter().filter(|lint| lint.error).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", template.name);
    }
}

#[test]
fn lints_find_what_the_guidelines_warn_of() {
    let text = template::find("binary-cancer").unwrap().text;
    let found = |text: &str| {
        let design = Design::new(Study::parse(text).unwrap(), Path::new("src/templates")).unwrap();
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
    assert_ne!(hash(text), hash(&text.replacen("regret = 0.04 ", "regret = 0.03 ", 1)));
}

#[test]
fn a_file_that_says_how_wide_an_interval_may_be_keeps_the_hash_it_had() {
    // As the release before this one computed it, whose templates these were.
    let study = Study::parse(include_str!("fixtures/law.toml")).unwrap();
    assert_eq!(study.hash(&[]), "1a8662b20b1a7550053dac22716e0c11d34527ef18afc3bfdebe77eb69cbe6d6");
}

#[test]
fn a_consent_that_promises_another_length_is_found() {
    let text = template::find("binary-cancer").unwrap().text;
    let found = |text: &str| {
        let design = Design::new(Study::parse(text).unwrap(), Path::new("src/templates")).unwrap();
        design.length();
        let lints = lint::lint(&design).into_iter().filter(|lint| lint.rule == "length");
        lints.map(|lint| lint.what).collect::<Vec<_>>()
    };
    assert!(found(text).is_empty(), "{:?}", found(text));
    let long = found(&text.replace("It takes about 8 minutes.", "It takes about forty-five or 45 minutes."));
    assert!(
        long.len() == 1 && long[0].starts_with("consent.text.en promises 45 minutes, expected about "),
        "{long:?}"
    );
    let silent = found(&text.replace("Das dauert etwa 8 Minuten.", "Das dauert eine Weile."));
    assert!(
        silent.len() == 1 && silent[0].starts_with("consent.text.de does not say how long"),
        "{silent:?}"
    );
}

#[test]
fn the_classifier_questions_are_asked_around_is_named_in_the_file() {
    let text = template::find("multiclass-triage").unwrap().text;
    let design = |word: &str| {
        let text = text.replacen("around = \"model\"", &format!("around = \"{word}\""), 1);
        Design::new(Study::parse(&text).unwrap(), Path::new("src/templates"))
    };
    for word in ["model", "balanced", "accuracy"] {
        assert!(design(word).unwrap().is_around(), "{word}");
    }
    assert!(!design("coin").unwrap().is_around(), "the ball, by choice");
    let unknown = design("nothing").unwrap_err().to_string();
    assert!(
        unknown.contains("space.around is \"nothing\", expected model, balanced, coin, or a metric"),
        "{unknown}"
    );
    // Groups that the table has under other names are told.
    let text =
        template::find("group-fair-hiring").unwrap().text.replacen("id = \"women\"", "id = \"ladies\"", 1);
    let grouped = Design::new(Study::parse(&text).unwrap(), Path::new("src/templates"));
    let said = grouped.map(|_| ()).unwrap_err().to_string();
    assert!(
        said.contains("the table has the groups men, women, expected those of task.groups: ladies, men"),
        "{said}"
    );
}
