//! How many screens there are before the first question, in every template.

mod web;

use axum::http::StatusCode;
use equipoise_study::{Study, template};
use web::{Browser, web_from};

/// So many screens may come before the first question,
const MOST: usize = 8;
/// and so many of them may be about consequences, how to read the picture, and practice.
const MOST_OF_LEARNING: usize = 5;

#[tokio::test]
async fn few_screens_come_before_the_first_question_in_every_template() {
    for template in template::TEMPLATES {
        let study = Study::parse(template.text).unwrap();
        let web = web_from(template.name);
        let mut browser = web.browser(0).await;
        let mut seen: Vec<String> = vec![];
        while !browser.page.contains("action=\"/answer\"") {
            seen.push(browser.title().to_owned());
            assert!(seen.len() <= MOST, "{}: {seen:?}", template.name);
            assert!(twice(&browser.page).is_none(), "{}: {:?}", template.name, twice(&browser.page));
            proceed(&mut browser, &study).await;
        }
        let learning = seen.iter().filter(|title| {
            title.starts_with("Practice")
                || ["What the mistakes mean", "What the numbers mean", "How to read the picture"]
                    .contains(&title.as_str())
        });
        let learning = learning.count();
        println!(
            "{}: {} screens before the first question, {learning} of them to learn: {seen:?}",
            template.name,
            seen.len()
        );
        assert!((1..=MOST_OF_LEARNING).contains(&learning), "{}: {seen:?}", template.name);
        let practised = !study.practice.is_empty();
        assert_eq!(browser.page.contains("Now it counts"), practised, "whether practice is over");
    }
}

/// Does what the page asks for, as it is meant.
async fn proceed(browser: &mut Browser<'_>, study: &Study) {
    let has = |what: &str| browser.page.contains(what);
    let status = if has("action=\"/language\"") {
        browser.submit("/language", &[("language", "en")]).await
    } else if has("action=\"/consent\"") {
        browser.agree().await;
        StatusCode::SEE_OTHER
    } else if has("action=\"/questionnaire\"") {
        browser.decline().await
    } else if has("action=\"/stated\"") {
        browser.submit("/stated", &[("when", "before"), ("say", "nothing")]).await
    } else if has("action=\"/consequences\"") {
        browser.submit("/consequences", &[]).await
    } else if has("action=\"/learn\"") {
        let question = browser.field("question");
        let right = study.picture[question.parse::<usize>().unwrap()].correct.to_string();
        browser.submit("/learn", &[("question", &question), ("option", &right)]).await
    } else {
        let query = browser.field("query");
        browser.submit("/practice", &[("query", &query), ("choice", "b")]).await
    };
    assert_eq!(status, StatusCode::SEE_OTHER, "{}", browser.page);
}

/// A sentence that stands twice on a page, outside of tables: those say again what is drawn.
fn twice(page: &str) -> Option<String> {
    let main = page.split_once("<main").unwrap().1.split_once("</main>").unwrap().0;
    let mut sentences: Vec<String> = vec![];
    let begins = ["<p>", "<p ", "<h1", "<h2", "<legend", "<li>"];
    for part in begins.iter().flat_map(|begin| main.split(begin).skip(1)) {
        let text =
            part.split_once('>').map_or(part, |(tag, rest)| if tag.contains('<') { part } else { rest });
        let text = text.split("</").next().unwrap();
        for sentence in text.split(['.', ':']).map(str::trim).filter(|sentence| sentence.len() > 20) {
            if sentences.iter().any(|known| known == sentence) {
                return Some(sentence.to_owned());
            }
            sentences.push(sentence.to_owned());
        }
    }
    None
}
