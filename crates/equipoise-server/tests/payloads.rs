//! Texts that try to become markup, in every field of a study and in every form: on no page do they (S-08). And every kind
//! of comparison is marked up alike (UX-01).

mod web;

use axum::http::StatusCode;
use equipoise_study::event::Purpose;
use equipoise_study::study::{Item, ItemKind, Position};
use equipoise_study::{Study, Text};
use web::{Browser, web_of};

const PAYLOADS: [&str; 24] = [
    "<script>alert(1)</script>",
    "\"><script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "' autofocus onfocus='alert(1)",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</main><iframe src=javascript:alert(1)>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<ScRiPt>alert(1)</ScRiPt>",
    "<img src=x:alert(1) onerror=eval(src)>",
    "<<script>script>alert(1)<</script>/script>",
    "<!--<script>-->alert(1)",
    "<style>*{background:url(//x)}</style>",
    "<base href=//x>",
    "<meta http-equiv=refresh content=0;url=//x>",
    "<form action=//x><button>go",
    "<details open ontoggle=alert(1)>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "**<b onclick=alert(1)>bold</b>**",
    "- <li onclick=alert(1)>",
    "\u{2028}<script>alert(1)</script>",
    "<x a='>' onclick=alert(1)>",
];

/// Every text people read, replaced.
fn poison(study: &mut Study, payload: &str) {
    let bad = || Text::from(payload);
    (study.title, study.languages) = (bad(), vec!["en".to_owned()]);
    let task = &mut study.task;
    (task.question, task.introduction, task.people, task.system) = (bad(), bad(), bad(), bad());
    for class in &mut task.classes {
        (class.truth, class.predicted) = (bad(), bad());
    }
    for mistake in &mut task.mistakes {
        (mistake.one, mistake.many, mistake.short) = (bad(), bad(), bad());
    }
    (study.consent.text, study.consent.contact) = (bad(), payload.to_owned());
    if let Some(stated) = &mut study.stated_cost {
        stated.question = Text::from(&*format!("{payload} ___ {payload}"));
    }
    for card in &mut study.consequences {
        (card.kind, card.text, card.source) = (bad(), bad(), payload.to_owned());
    }
    for question in &mut study.picture {
        (question.question, question.explanation) = (bad(), bad());
        question.options.iter_mut().for_each(|option| *option = bad());
    }
    let item = |id: &str, kind: ItemKind| Item {
        id: id.to_owned(),
        position: Position::Before,
        kind,
        question: bad(),
        sensitive: false,
    };
    study.questionnaire = vec![
        item("single", ItemKind::Single { options: vec![bad(), bad()] }),
        item("scale", ItemKind::Scale { steps: 3, low: bad(), high: bad() }),
        item("number", ItemKind::Number { least: 1.0, most: 99.0 }),
        item("text", ItemKind::Text { most: 500 }),
    ];
    (study.stop.cap, study.checks.evaluation, study.checks.repeats, study.checks.dominated) = (1, 1, 0, 1);
}

fn clean(browser: &Browser<'_>, payload: &str, pages: &mut usize) {
    *pages += 1;
    // Bold and lists are markup a study may have; what is around the stars must still be written out.
    let raw = payload.trim_matches('*').trim_start_matches("- ");
    assert!(!browser.page.contains(raw), "{payload:?} is on a page as it is:\n{}", browser.page);
    assert!(!browser.page.to_lowercase().contains("<script>"), "{payload:?} made a script");
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}

#[tokio::test]
async fn no_text_becomes_markup_on_any_page() {
    let mut pages = 0;
    for payload in PAYLOADS {
        let web = web_of(|study| poison(study, payload));
        let mut browser = web.browser(0).await;
        clean(&browser, payload, &mut pages);
        for path in ["/pause", "/withdraw", "/device", "/language", "/nowhere"] {
            browser.look(path).await;
            clean(&browser, payload, &mut pages);
        }
        browser.look("/").await;
        browser.agree().await;
        // What is typed comes back on the page that says what is wrong with it.
        let typed = encoded(payload);
        let status = browser
            .submit(
                "/questionnaire",
                &[("position", "before"), ("item.text", &typed), ("item.number", &typed)],
            )
            .await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        clean(&browser, payload, &mut pages);
        let said = [
            ("position", "before"),
            ("item.text", typed.as_str()),
            ("item.number", "3"),
            ("item.single", "1"),
            ("item.scale", "2"),
        ];
        assert_eq!(browser.submit("/questionnaire", &said).await, StatusCode::SEE_OTHER);
        clean(&browser, payload, &mut pages);
        let wrong =
            [("when", "before"), ("say", "number"), ("ratio", typed.as_str()), ("low", typed.as_str())];
        assert_eq!(browser.submit("/stated", &wrong).await, StatusCode::UNPROCESSABLE_ENTITY);
        clean(&browser, payload, &mut pages);
        for _ in 0..40 {
            let has = |what: &str| browser.page.contains(what);
            let (action, fields): (&str, Vec<(&str, String)>) = if has("action=\"/stated\"") {
                ("/stated", vec![("when", browser.field("when")), ("say", "nothing".to_owned())])
            } else if has("action=\"/consequences\"") {
                ("/consequences", vec![])
            } else if has("name=\"seen\"") {
                ("/learn", vec![("seen", "yes".to_owned())])
            } else if has("action=\"/learn\"") {
                ("/learn", vec![("question", browser.field("question")), ("option", "1".to_owned())])
            } else if has("action=\"/practice\"") {
                ("/practice", vec![("query", browser.field("query")), ("choice", "b".to_owned())])
            } else if has("action=\"/answer\"") {
                ("/answer", vec![("query", browser.field("query")), ("choice", "a".to_owned())])
            } else if has("action=\"/finish\"") {
                ("/finish", vec![])
            } else {
                break;
            };
            let fields: Vec<(&str, &str)> =
                fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            browser.submit(action, &fields).await;
            clean(&browser, payload, &mut pages);
        }
        assert!(browser.page.contains("class=\"receipt\""), "{payload:?}: {}", browser.page);
    }
    println!("{} payloads in every text and field, {pages} pages, none became markup", PAYLOADS.len());
}

/// What is left of a page without its numbers: digits, drawings, the sentence about the numbers, and names made from them.
fn skeleton(page: &str) -> String {
    let mut text = page.to_owned();
    for (open, close) in [
        ("<svg", "</svg>"),
        ("id=\"difference\">", "</p>"),
        ("<title>", "</title>"),
        ("id=\"left\">", "</span>"),
    ] {
        while let Some(start) = text.find(open) {
            let end = text[start..].find(close).map_or(text.len(), |end| start + end + close.len());
            text.replace_range(start..end, "");
        }
    }
    // What changes when the total does.
    let text = text.replace("<strong>out of", "out of").replace("people</strong>", "people");
    text.chars().filter(|letter| !letter.is_ascii_digit() && !matches!(letter, ',' | '.')).collect()
}

#[tokio::test]
async fn every_kind_of_comparison_is_marked_up_alike() {
    let web = web_of(|study| (study.stop.cap, study.checks.evaluation) = (8, 8));
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    let session = web.session(0);
    let mut skeletons: Vec<(Purpose, String)> = vec![];
    while browser.page.contains("action=\"/answer\"") {
        let purpose = web.service.look(&session, |p| p.pending().unwrap().asked.purpose).unwrap();
        skeletons.push((purpose, skeleton(&browser.page)));
        browser.answer("a").await;
    }
    // The first three have no "mistakes only" yet, and the first has nothing to undo: that is place, not purpose.
    let alike = &skeletons[3..];
    let kinds: std::collections::BTreeSet<&str> = alike.iter().map(|(purpose, _)| purpose.word()).collect();
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    for (purpose, page) in alike {
        assert_eq!(*page, alike[0].1, "{purpose:?} can be told by its markup");
    }
    println!("{} comparisons of 4 kinds have the same markup", alike.len());
}
