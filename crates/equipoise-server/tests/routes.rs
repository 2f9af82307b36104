//! Every route of participants, without a socket: what it answers, what it refuses, and what it never leaves out.

mod web;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use equipoise_study::event::Choice;
use web::{Browser, declined_items, web, web_of};

#[tokio::test]
async fn a_whole_study_without_a_script_ends_in_a_receipt() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    let mut questions = 0;
    while browser.page.contains("action=\"/answer\"") {
        assert!(questions < 120, "no end");
        for purpose in ["elicit", "evaluat", "repeat", "dominat"] {
            assert!(!browser.page.to_lowercase().contains(purpose), "the page tells why it asks: {purpose}");
        }
        assert_eq!(browser.answer(if questions % 3 == 0 { "a" } else { "b" }).await, StatusCode::SEE_OTHER);
        questions += 1;
    }
    let mut steps = 0;
    while !browser.page.contains("class=\"receipt\"") {
        assert!(steps < 10, "{}", browser.page);
        steps += 1;
        if browser.page.contains("action=\"/stated\"") {
            browser.submit("/stated", &[("when", "after"), ("say", "nothing")]).await;
        } else if browser.page.contains("action=\"/questionnaire\"") {
            let position = browser.field("position");
            let items = declined_items(&browser.page);
            let mut fields: Vec<(&str, &str)> = items.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            fields.push(("position", &position));
            browser.submit("/questionnaire", &fields).await;
        } else {
            browser.submit("/finish", &[]).await;
        }
    }
    let receipt =
        browser.page.split_once("class=\"receipt\">").unwrap().1.split('<').next().unwrap().to_owned();
    web.service
        .writer()
        .with(move |store| equipoise_log::verify_receipt(store, &receipt).map(drop))
        .expect("the receipt is of a row of the log");
    assert_eq!(web.answers().len(), questions);
}

#[tokio::test]
async fn a_double_click_is_one_answer_with_one_receipt() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    let (csrf, key, query) = (browser.field("csrf"), browser.field("key"), browser.field("query"));
    let fields = |choice| vec![("csrf", csrf.as_str()), ("key", &key), ("query", &query), ("choice", choice)];
    let first = browser.post("/answer", &fields("a"), "application/json").await.json();
    assert!(first["receipt"].is_string() && first["page"].as_str().unwrap().contains("action=\"/answer\""));
    for _ in 0..20 {
        let again = browser.post("/answer", &fields("a"), "application/json").await;
        assert_eq!(
            (again.status, again.json()["receipt"].clone()),
            (StatusCode::OK, first["receipt"].clone())
        );
    }
    let other = browser.post("/answer", &fields("b"), "text/html").await;
    assert_eq!(other.status, StatusCode::CONFLICT);
    assert!(other.body.contains("Your answer was: System A"), "{}", other.body);
    assert_eq!(web.answers(), [(query.parse().unwrap(), Choice::A)]);
}

#[tokio::test]
async fn many_presses_at_the_same_moment_are_one_answer() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    let (csrf, key, query) = (browser.field("csrf"), browser.field("key"), browser.field("query"));
    let fields = [("csrf", csrf.as_str()), ("key", &key), ("query", &query), ("choice", "b")];
    let presses = (0..50).map(|_| browser.post("/answer", &fields, "application/json"));
    let replies = futures_join(presses).await;
    let receipts: Vec<_> = replies.iter().map(|got| got.json()["receipt"].clone()).collect();
    assert!(receipts.iter().all(|receipt| receipt.is_string() && *receipt == receipts[0]), "{receipts:?}");
    assert_eq!(web.answers().len(), 1);
}

/// All of them at once.
async fn futures_join<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut pending: Vec<_> = all.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut done = true;
        for (future, output) in &mut pending {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(ready) => *output = Some(ready),
                    std::task::Poll::Pending => done = false,
                }
            }
        }
        if done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    pending.into_iter().filter_map(|(_, output)| output).collect()
}

#[tokio::test]
async fn undo_goes_back_to_the_same_question_and_is_harmless_twice() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    let question = |browser: &Browser<'_>| {
        browser
            .page
            .split_once("class=\"systems\"")
            .unwrap()
            .1
            .split("</form>")
            .next()
            .unwrap()
            .split("<form")
            .next()
            .unwrap()
            .to_owned()
    };
    let before = question(&browser);
    browser.answer("a").await;
    let undo = browser.page.split_once("id=\"undo\"").unwrap().1;
    let key = undo.split_once("name=\"key\" value=\"").unwrap().1.split('"').next().unwrap().to_owned();
    let (csrf, query) = (browser.field("csrf"), browser.field("query"));
    let fields = [("csrf", csrf.as_str()), ("key", &key), ("query", &query)];
    assert_eq!(browser.post("/undo", &fields, "text/html").await.status, StatusCode::SEE_OTHER);
    browser.post("/undo", &fields, "text/html").await;
    browser.look("/").await;
    assert_eq!(question(&browser), before);
    assert_eq!(web.service.look(&web.session(0), |participant| participant.retracted()).unwrap(), 1);
    assert_eq!(browser.answer("b").await, StatusCode::SEE_OTHER);
    assert_eq!(web.answers().len(), 2, "the first answer stays in the log, taken back");
}

#[tokio::test]
async fn forms_without_the_right_token_change_nothing() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    let (csrf, key, query) = (browser.field("csrf"), browser.field("key"), browser.field("query"));
    let other = web.browser(1).await.field("csrf");
    let routes = [
        "/language",
        "/consent",
        "/questionnaire",
        "/stated",
        "/consequences",
        "/learn",
        "/practice",
        "/answer",
        "/undo",
        "/finish",
        "/lease",
        "/note",
        "/withdraw",
    ];
    let count = || web.service.look(&web.session(0), |participant| participant.events()).unwrap();
    let events = count();
    for route in routes {
        for wrong in ["", "00000000000000000000000000000000", &other] {
            let fields =
                [("csrf", wrong), ("key", &key), ("query", &query), ("choice", "a"), ("what", "rates")];
            assert_eq!(
                browser.post(route, &fields, "text/html").await.status,
                StatusCode::FORBIDDEN,
                "{route}"
            );
        }
        let body = format!("csrf={csrf}&key={key}&query={query}&choice=a");
        let elsewhere = [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
        for (name, value) in elsewhere {
            let request = Request::post(route)
                .header(header::COOKIE, &browser.cookie)
                .header(header::HOST, "study.test")
                .header(name, value)
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(Body::from(body.clone()))
                .unwrap();
            assert_eq!(web.send(request).await.status, StatusCode::FORBIDDEN, "{route} {name}");
        }
        let plain = Request::post(route)
            .header(header::COOKIE, &browser.cookie)
            .header(header::CONTENT_TYPE, "text/plain")
            .body(Body::from(body.clone()))
            .unwrap();
        assert_eq!(web.send(plain).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{route}");
        let nobody = Request::post(route)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(body))
            .unwrap();
        assert_eq!(web.send(nobody).await.status, StatusCode::FORBIDDEN, "{route}");
    }
    assert_eq!(count(), events);
}

#[tokio::test]
async fn every_address_answers_everybody_with_a_page() {
    let web = web();
    let inside = web.browser(0).await.cookie;
    let unknown = format!("equipoise={}.{}", "0".repeat(32), "0".repeat(16));
    let paths = [
        "/",
        "/language",
        "/pause",
        "/device",
        "/withdraw",
        "/consent",
        "/answer",
        "/health",
        "/nowhere",
        "/s/00112233445566778899aabbccddeeff",
        "/s/x",
        "/assets/none.css",
        "/admin",
        "/../etc/passwd",
    ];
    for path in paths {
        for cookie in ["", "equipoise=rubbish", &unknown, &inside] {
            for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
                let request = Request::builder()
                    .method(method.clone())
                    .uri(path)
                    .header(header::COOKIE, cookie)
                    .body(Body::empty())
                    .unwrap();
                let got = web.send(request).await;
                assert!(got.status.as_u16() < 500, "{method} {path}: {}", got.status);
                let page = path == "/health" && method == Method::GET || got.body.contains("<main");
                assert!(page, "{method} {path} {}: {}", got.status, got.body);
                if method != Method::GET {
                    assert_eq!(got.status, StatusCode::NOT_FOUND, "{method} {path}");
                }
            }
        }
    }
    assert_eq!(web.get("/health", "").await.body, "{\"status\":\"ok\"}", "it says no more to everybody");
    let [known, expired] = ["/s/00112233445566778899aabbccddeeff", "/s/ffeeddccbbaa99887766554433221100"];
    let [known, expired] = [web.get(known, "").await, web.get(expired, "").await];
    assert_eq!((known.status, known.body.len()), (StatusCode::FORBIDDEN, expired.body.len()));
}

#[tokio::test]
async fn the_newest_device_writes_and_the_older_can_take_it_back() {
    let web = web();
    let mut phone = web.browser(0).await;
    phone.prepare().await;
    let mut laptop = web.browser(0).await;
    assert_eq!(phone.answer("a").await, StatusCode::CONFLICT);
    assert_eq!(phone.title(), "Continued elsewhere");
    laptop.look("/?begin=yes").await;
    assert_eq!(laptop.answer("a").await, StatusCode::SEE_OTHER);
    phone.look("/").await;
    assert_eq!(phone.submit("/lease", &[]).await, StatusCode::SEE_OTHER);
    assert_eq!(phone.answer("b").await, StatusCode::SEE_OTHER);
    laptop.look("/").await;
    assert_eq!(laptop.title(), "Continued elsewhere");
    assert_eq!(web.answers().len(), 2);
}

#[tokio::test]
async fn withdrawing_deletes_everything_and_closes_the_link() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    browser.answer("a").await;
    browser.look("/withdraw").await;
    assert_eq!(browser.submit("/withdraw", &[]).await, StatusCode::SEE_OTHER);
    assert_eq!(browser.title(), "Your answers are deleted");
    assert_eq!(web.answers().len(), 0);
    web.service.writer().with(|store| equipoise_study::verify(store)).expect("the chain is whole");
}

#[tokio::test]
async fn what_is_typed_wrong_is_named_and_kept() {
    let web = web();
    let mut browser = web.browser(0).await;
    if browser.page.contains("action=\"/language\"") {
        browser.submit("/language", &[("language", "en")]).await;
    }
    let text = browser.field("text");
    let status = browser.submit("/consent", &[("decision", "agree"), ("text", &text)]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(browser.page.contains("Tick the box if you agree"));
    browser.agree().await;
    assert_eq!(
        browser.submit("/questionnaire", &[("position", "before")]).await,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert!(browser.page.contains("role=\"alert\""));
}

#[tokio::test]
async fn the_language_can_be_changed_and_the_question_stays() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    let numbers = |page: &str| {
        page.split("class=\"as-count\">")
            .skip(1)
            .map(|part| part.split('<').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let before = numbers(&browser.page);
    browser.look("/language").await;
    if !browser.page.contains("value=\"de\"") {
        return; // The template offers one language only.
    }
    browser.submit("/language", &[("language", "de")]).await;
    browser.look("/?begin=yes").await;
    assert!(browser.page.contains("<html lang=\"de\""));
    assert_eq!(numbers(&browser.page), before);
}

#[tokio::test]
async fn an_answer_after_a_change_of_language_counts() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    browser.answer("a").await;
    browser.look("/language").await;
    browser.submit("/language", &[("language", "fr")]).await;
    assert!(browser.page.contains("<html lang=\"fr\""));
    let query: u64 = browser.field("query").parse().unwrap();
    assert_eq!(browser.answer("b").await, StatusCode::SEE_OTHER);
    assert_eq!(web.answers().last(), Some(&(query, Choice::B)));
    // A key that stands for something else is refused, not acknowledged.
    let (csrf, key) = (browser.field("csrf"), browser.field("key"));
    let taken = [("csrf", csrf.as_str()), ("key", key.as_str()), ("language", "de")];
    browser.post("/language", &taken, "application/json").await;
    let before = web.answers().len();
    let query = browser.field("query");
    let fields = [("csrf", csrf.as_str()), ("key", key.as_str()), ("query", query.as_str()), ("choice", "a")];
    let got = browser.post("/answer", &fields, "application/json").await;
    assert!(
        got.status == StatusCode::CONFLICT && got.json()["receipt"].is_null(),
        "{} {}",
        got.status,
        got.body
    );
    assert_eq!(web.answers().len(), before);
}

#[tokio::test]
async fn no_page_is_heavy_and_none_asks_another_server() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    let style = web.get(equipoise_server::assets::STYLE.path(), "").await;
    let script = web.get(equipoise_server::assets::SCRIPT.path(), "").await;
    assert!(style.headers[header::CACHE_CONTROL].to_str().unwrap().contains("immutable"));
    let bytes = style.body.len() + script.body.len() + browser.page.len();
    // 60 kB compressed is the promise; it holds even uncompressed.
    println!("style, script and a comparison: {bytes} bytes uncompressed");
    assert!(bytes < 60_000, "{bytes} bytes");
    for text in [&style.body, &script.body, &browser.page] {
        let other = text.replace("http://www.w3.org/2000/svg", "");
        assert!(!other.contains("http://") && !other.contains("https://"), "{other}");
    }
    assert!(
        !browser.page.contains(" style=\"") && !browser.page.contains(" onclick"),
        "inline style or script"
    );
}

#[tokio::test]
async fn what_a_panel_passes_along_is_kept_after_consent_and_not_in_the_log() {
    let web = web_of(|study| study.completion.parameters = vec!["PROLIFIC_PID".to_owned()]);
    let path = format!("/s/{}?PROLIFIC_PID=5f3a&other=1", web.tokens[0]);
    let joined = web.get(&path, "").await;
    let cookies = joined.headers.get_all(header::SET_COOKIE).iter();
    let cookie: Vec<&str> = cookies.map(|set| set.to_str().unwrap().split(';').next().unwrap()).collect();
    let mut browser = Browser { web: &web, cookie: cookie.join("; "), page: String::new() };
    browser.look("/").await;
    let known = || web.service.contacts().get(&web.session(0)).unwrap();
    assert_eq!(known(), None, "nothing is kept before consent");
    browser.agree().await;
    assert_eq!(
        known().unwrap().into_iter().collect::<Vec<_>>(),
        [("PROLIFIC_PID".to_owned(), "5f3a".to_owned())]
    );
    let log = web.service.writer().with(|store| equipoise_log::rows(store)).unwrap();
    assert!(log.iter().all(|row| !row.payload.as_ref().unwrap().body.contains("5f3a")));
    // Whoever withdraws takes it along.
    browser.look("/withdraw").await;
    assert_eq!(browser.submit("/withdraw", &[]).await, StatusCode::SEE_OTHER);
    assert_eq!(known(), None);
}
