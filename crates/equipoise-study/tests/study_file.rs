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

/// A study of candidates with attributes, and their table, each changed as told.
fn choice(
    name: &str,
    file: impl Fn(&str) -> String,
    table: impl Fn(&str) -> String,
) -> Result<Design, String> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("choice-{name}"));
    std::fs::create_dir_all(&directory).unwrap();
    let template = template::find("choose-program").unwrap();
    std::fs::write(directory.join(template.table.0), table(template.table.1)).unwrap();
    let study = Study::parse(&file(template.text)).map_err(|error| error.to_string())?;
    Design::new(study, &directory).map_err(|error| error.to_string())
}

#[test]
fn what_is_wrong_with_a_study_of_candidates_has_a_sentence() {
    let as_is = |text: &str| text.to_owned();
    let file = |name: &str, from: &str, to: &str| {
        let text = template::find("choose-program").unwrap().text;
        assert!(text.contains(from), "{from}");
        choice(name, |text| text.replacen(from, to, 1), as_is).map(drop).unwrap_err()
    };
    let table = |name: &str, change: fn(&str) -> String| choice(name, as_is, change).map(drop).unwrap_err();
    let price = "\n[[task.attributes]]\nid = \"price_eur\"";
    let cases = [
        (
            file("column", "id = \"missed\"", "id = \"misses\""),
            "there is no column \"misses\", expected one of program",
        ),
        (file("twice", "id = \"minutes\"", "id = \"missed\""), "the attribute \"missed\" is there twice"),
        (file("way", "better = \"less\"", "better = \"least\""), "found least, expected less or more"),
        (file("scale", "scale = \"linear\"", "scale = \"cubic\""), "cubic"),
        (file("name", "name = \"program\"", "name = \"who\""), "there is no column \"who\""),
        (
            file("family", "[task]", "family = \"quadratic\"\n\n[task]"),
            "family is \"quadratic\", expected \"linear\"",
        ),
        (file("angle", "regret = 0.02", "angle = 0.2"), "attributes end by regret"),
        (
            file("cost", "[completion]", "[stated_cost]\nquestion = \"as bad as ___\"\n\n[completion]"),
            "stated_cost is about classes",
        ),
        (file("out-of", "scale = \"linear\"", "out_of = 0"), "task.attributes.0.out_of is 0"),
        (file("unit", "unit = \"minutes\"", "unit = \" \""), "task.attributes.2.unit is empty"),
        (
            file("shares", "scale = \"linear\"", "out_of = 1000"),
            "\"missed\" goes from 21 to 41, expected shares from 0 to 1",
        ),
        (file("kind", "kind = \"attributes\"", "kind = \"table\""), "unknown field name"),
        (
            file(
                "group",
                price,
                "\n[[task.groups]]\nid = \"a\"\nname = \"a\"\n\n[[task.attributes]]\nid = \"price_eur\"",
            ),
            "task.groups is about classes",
        ),
        (
            table("text", |text| text.replacen("39,135", "many,135", 1)),
            "column \"missed\" is \"many\" in row 1, expected numbers",
        ),
        (
            table("empty", |text| text.replacen("39,135", ",135", 1)),
            "column \"missed\" has no number in row 1",
        ),
        (
            table("one", |text| text.lines().take(2).collect::<Vec<_>>().join("\n")),
            "the table has 1 candidates, expected at least 2",
        ),
        (
            table("best", |text| format!("{text}Best,1,1,0.1,0.1\n")),
            "Best is at least as good as every other candidate in everything",
        ),
        (
            table("alike", |text| {
                let row = |line: &str| format!("{},7", line.rsplit_once(',').unwrap().0);
                let head = "program,missed,false_alarms,minutes,price_eur".to_owned();
                std::iter::once(head).chain(text.lines().skip(1).map(row)).collect::<Vec<_>>().join("\n")
            }),
            "\"price_eur\" is the same for every candidate",
        ),
        (table("names", |text| text.replace("Moss", "Kelp")), "two candidates have the name \"Kelp\""),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "{found}\n  expected {expected}");
    }
}

#[test]
fn candidates_are_shown_in_the_order_of_the_file_and_the_dominated_are_told() {
    let design = choice("order", |text| text.to_owned(), |text| text.to_owned()).unwrap();
    let candidates = design.frame().candidates().unwrap();
    let names: Vec<&str> = candidates.attributes().iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(names, ["missed", "false_alarms", "minutes", "price_eur"]);
    let dominated: Vec<&str> =
        design.front().unwrap().dominated.iter().map(|(name, _)| name.as_str()).collect();
    assert!(dominated.contains(&"Oak") && dominated.contains(&"Pine"), "{dominated:?}");
    assert!(candidates.members().iter().all(|member| !dominated.contains(&member.name.as_str())));
    // The columns may stand in another order, and there may be others.
    let turned = choice(
        "turned",
        |text| text.to_owned(),
        |text| {
            let turn = |(n, line): (usize, &str)| {
                let cells: Vec<&str> = line.split(',').collect();
                let [name, missed, alarms, minutes, price] = cells[..] else { panic!("five columns") };
                let vendor = if n == 0 { "vendor" } else { "somebody" };
                format!("{price},{vendor},{minutes},{name},{missed},{alarms}")
            };
            text.lines().enumerate().map(turn).collect::<Vec<_>>().join("\n")
        },
    );
    assert_eq!(turned.unwrap().frame().candidates(), Some(candidates));
}

#[test]
fn studies_nobody_can_finish_or_that_mislead_people_are_found() {
    let text = template::find("binary-cancer").unwrap().text;
    let ages = "options = [\"18-24\", \"25-34\", \"35-44\", \"45-54\", \"55-64\", \"65+\"]";
    let found = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let study = Study::parse(&text.replacen(from, to, 1)).unwrap();
        let design = Design::new(study, Path::new("src/templates")).unwrap();
        lint::lint(&design)
    };
    for (from, to, error, said) in [
        (ages, "options = []", true, "questionnaire.0.options has no option, expected at least two"),
        (ages, "options = [\"18+\"]", true, "questionnaire.0.options has one option only"),
        (ages, "options = [\"18\", \"19\", \"18 \"]", true, "questionnaire.0.options has \"18\" twice"),
        ("en = \"woman\"", "en = \"man\"", true, "questionnaire.1.options has \"man\" twice"),
        (
            "\"5\", \"15\", \"30\", \"50\"",
            "\"5\", \"15\", \"15\"",
            true,
            "picture.0.options has \"15\" twice",
        ),
        ("\"5\", \"15\", \"30\", \"50\"", "\"5\"", true, "picture.0.options has one option only"),
        ("steps = 5", "steps = 1", true, "questionnaire.3.steps is 1, expected 2 to 11"),
        ("steps = 5", "steps = 12", true, "questionnaire.3.steps is 12, expected 2 to 11"),
        (
            "[completion]",
            "[[questionnaire]]\nid = \"n\"\nposition = \"after\"\nkind = \"number\"\nleast = 9\nmost = 3\nquestion = \"?\"\n[completion]",
            true,
            "questionnaire.12.least is 9, which is more than 3",
        ),
        ("en = \"Screening for cancer\"", "en = \" \"", true, "title.en is empty, expected words"),
        (
            "en = \"Which computer system should your doctor use?\"",
            "en = \"\"",
            true,
            "task.question.en is empty",
        ),
        ("en = \"How old are you?\"", "en = \"\"", true, "questionnaire.0.question.en is empty"),
        (
            "as bad as ___ false",
            "as bad as many false",
            true,
            "stated_cost.question.en has no ___, expected it",
        ),
        (
            "b = [58, 7, 4, 31]",
            "b = [58, 7, 14, 21]",
            true,
            "practice.0.exercise is \"dominated\", but each system makes fewer mistakes",
        ),
        (
            "b = [58, 7, 4, 31]",
            "b = [45, 20, 10, 25]",
            true,
            "practice.0.exercise is \"dominated\", but both systems make the same",
        ),
        (
            "dominated_failed = 2",
            "dominated_failed = 5",
            false,
            "exclusion.dominated_failed is 5, but checks.dominated asks 2, so it never excludes anybody",
        ),
        (
            "dominated_failed = 2",
            "repeats_alike_below = 3",
            true,
            "exclusion.repeats_alike_below is 3, but checks.repeats asks 2, so it excludes everybody",
        ),
        (
            "study@example.org",
            "Ask in room 12",
            false,
            "consent.contact is \"Ask in room 12\", expected an e-mail",
        ),
    ] {
        let lints = found(from, to);
        let told = lints.iter().find(|lint| lint.what.starts_with(said));
        assert_eq!(told.map(|lint| lint.error), Some(error), "{said}: {lints:?}");
    }
    let consent = text.split_once("[consent]").unwrap().1.split_once("[stated_cost]").unwrap().0;
    let lints = found(consent, "\ncontact = \"+49 30 1234567\"\ntext = \"\"\n\n");
    let errors: Vec<&str> = lints.iter().filter(|lint| lint.error).map(|lint| lint.what.as_str()).collect();
    assert_eq!(errors, ["consent.text is empty, expected words that people read"]);
    for contact in ["Ana, ana@clinic.test.", "0301 234 56", "www.clinic.test/study", "https://clinic.test"] {
        let lints = found("study@example.org", contact);
        assert!(lints.iter().all(|lint| lint.rule != "contact"), "{contact}");
    }
    // A right answer that is no option is said when the file is read.
    let outside = Study::parse(&text.replacen("correct = 0", "correct = 4", 1)).unwrap_err().to_string();
    assert!(outside.contains("picture.0.correct is 4, expected less than 4"), "{outside}");
    // Without checks the usual rule is none.
    let none = found("dominated = 2 ", "dominated = 0 ");
    assert!(none.iter().all(|lint| lint.rule != "exclusion"), "{none:?}");
}
