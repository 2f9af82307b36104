//! Every route of participants, without a socket: what it answers, what it refuses, and what it never leaves out.

mod web;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use equipoise_log::{Head, MemoryStore, Reader, Row, Store, Table};
use equipoise_study::Refusal;
use equipoise_study::event::{Answered, Choice, Event};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use web::{Browser, web, web_of, web_on};

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
    browser.finish().await;
    assert!(browser.page.contains("class=\"receipt\""), "{}", browser.page);
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
    // Opening the link changes nothing: programs that look at the links in a mail do so, too.
    let mut laptop = web.browser(0).await;
    assert_eq!(laptop.title(), "Continued elsewhere");
    assert_eq!(phone.answer("a").await, StatusCode::SEE_OTHER);
    assert_eq!(laptop.submit("/lease", &[]).await, StatusCode::SEE_OTHER);
    assert_eq!(phone.answer("a").await, StatusCode::CONFLICT);
    assert_eq!(phone.title(), "Continued elsewhere");
    assert_eq!(laptop.answer("a").await, StatusCode::SEE_OTHER);
    phone.look("/").await;
    assert_eq!(phone.submit("/lease", &[]).await, StatusCode::SEE_OTHER);
    assert_eq!(phone.answer("b").await, StatusCode::SEE_OTHER);
    laptop.look("/").await;
    assert_eq!(laptop.title(), "Continued elsewhere");
    assert_eq!(web.answers().len(), 3);
}

#[tokio::test]
async fn one_link_cannot_fill_the_disk_and_its_holder_can_still_finish() {
    let web = web();
    let mut person = web.browser(0).await;
    person.prepare().await;
    let session = web.session(0);
    let rows = || web.service.writer().session(&session).unwrap();
    let before = rows().len();
    let csrf = person.field("csrf");
    // What a page sends along, as fast as somebody can: most of it is refused for now.
    let mut refused = 0;
    for _ in 0..700 {
        let note = person.post("/note", &[("csrf", &csrf), ("what", "rates"), ("value", "true")], "").await;
        refused += usize::from(note.status == StatusCode::TOO_MANY_REQUESTS);
    }
    assert!((50..700).contains(&refused), "{refused}");
    assert!(rows().len() < before + 660, "{}", rows().len());
    // And for ever after so many, however slowly they come.
    let toggled = Event::RatesToggled { rates: true };
    let device = web.service.look(&session, |p| p.device().unwrap().to_owned()).unwrap();
    let taken = (0..2_000)
        .take_while(|n| web.service.record(&session, &device, &format!("slow-{n}"), &toggled).is_ok());
    assert!(taken.count() < 1_000);
    for event in [
        Event::LanguageChosen { language: "en".to_owned() },
        Event::DeviceTaken { device: "another".to_owned() },
        Event::CardOpened { card: 0 },
    ] {
        let refused = web.service.record(&session, &device, "more", &event).unwrap_err();
        assert!(matches!(refused, equipoise_study::Error::Refused(Refusal::TooMuch)), "{refused}");
    }
    let bytes: usize = rows()
        .iter()
        .map(|row| 300 + row.key.len() + row.payload.as_ref().map_or(0, |payload| payload.body.len()))
        .sum();
    assert!(bytes < 1_000_000, "{bytes}");
    // Answers are taken all the same.
    let asked = web.service.look(&session, |p| p.pending().unwrap().seq).unwrap();
    let answered = Answered {
        asked,
        choice: Choice::A,
        response_ms: None,
        hidden_ms: 0,
        rates: false,
        pressed_left: None,
    };
    web.service.record(&session, &device, "answer", &Event::Answered(answered)).unwrap();
}

#[tokio::test]
async fn an_address_that_asks_without_end_is_told_to_wait_and_others_are_not() {
    let web = web();
    let ask = |address: [u8; 4]| {
        let mut request = Request::get("/health").body(Body::empty()).unwrap();
        let from = std::net::SocketAddr::from((address, 5_000));
        request.extensions_mut().insert(axum::extract::ConnectInfo(from));
        web.send(request)
    };
    let mut last = StatusCode::OK;
    for _ in 0..13_000 {
        last = ask([192, 0, 2, 1]).await.status;
        if last != StatusCode::OK {
            break;
        }
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(ask([192, 0, 2, 2]).await.status, StatusCode::OK);
    assert_eq!(ask([127, 0, 0, 1]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn times_that_no_browser_sends_do_not_become_negative() {
    let web = web();
    let mut person = web.browser(0).await;
    person.prepare().await;
    let query = person.field("query");
    let most = u64::MAX.to_string();
    let fields = [("query", query.as_str()), ("choice", "a"), ("hidden_ms", &most), ("response_ms", &most)];
    assert_eq!(person.submit("/answer", &fields).await, StatusCode::SEE_OTHER);
    let table = web.service.writer().with(|store| equipoise_study::export::answers(store)).unwrap();
    assert!(!table.csv().contains(",-1,"), "{}", table.csv());
    let year = (365_u64 * 86_400_000).to_string();
    assert!(table.csv().contains(&year), "{}", table.csv());
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
async fn whoever_is_erased_by_a_command_beside_the_server_sees_so_on_the_next_page() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    browser.answer("a").await;
    // Of this the service knows nothing.
    let session = web.session(0);
    let tombstone = equipoise_log::Entry {
        key: equipoise_log::TOMBSTONE.to_owned(),
        at: 1,
        salt: [7; 32],
        body: Event::Erased { session: String::new() }.body(),
    };
    let erase = move |store: &mut dyn Store| equipoise_log::erase(store, &session, None, &tombstone);
    web.service.writer().with(erase).unwrap();
    for path in ["/", "/pause", "/device", "/result.svg"] {
        browser.look(path).await;
        assert!(!browser.page.contains("action=\"/answer\""), "{path}");
    }
    browser.look("/").await;
    assert_eq!(browser.title(), "Your answers are deleted");
    let other = web.browser(0).await;
    assert_eq!(other.title(), "Your answers are deleted", "a device that was not there before");
}

/// A log whose files somebody reads, as long as that is so.
struct Read(MemoryStore, Arc<AtomicBool>);

impl Reader for Read {
    fn session(&self, session: &str) -> equipoise_log::Result<Vec<Row>> {
        self.0.session(session)
    }
    fn sessions(&self) -> equipoise_log::Result<Vec<String>> {
        self.0.sessions()
    }
    fn each_after(&self, position: u64, look: &mut dyn FnMut(Row) -> bool) -> equipoise_log::Result<()> {
        self.0.each_after(position, look)
    }
    fn head(&self) -> equipoise_log::Result<Head> {
        self.0.head()
    }
    fn spent(&self) -> equipoise_log::Result<BTreeSet<String>> {
        self.0.spent()
    }
}

impl Store for Read {
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Table) -> bool) -> equipoise_log::Result<()> {
        self.0.transact(work)
    }
    fn opener(&self) -> equipoise_log::Opener {
        self.0.opener()
    }
    fn settle(&mut self) -> equipoise_log::Result<bool> {
        Ok(!self.1.load(Ordering::SeqCst))
    }
}

#[tokio::test]
async fn what_is_not_quite_deleted_is_not_said_to_be() {
    let read = Arc::new(AtomicBool::new(true));
    let web = web_on(Read(MemoryStore::new(), read.clone()), |_| {});
    let mut browser = web.browser(0).await;
    browser.agree().await;
    browser.look("/withdraw").await;
    assert_eq!(browser.submit("/withdraw", &[]).await, StatusCode::SEE_OTHER);
    assert_eq!(browser.title(), "Your answers are being deleted");
    read.store(false, Ordering::SeqCst);
    web.service.settle().unwrap();
    browser.look("/").await;
    assert_eq!(browser.title(), "Your answers are deleted");
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
    // What is wrong leads to the field, and is said there again.
    assert!(browser.page.contains("<a href=\"#age\">") && browser.page.contains("id=\"age\""));
    assert!(browser.page.contains("id=\"age-problem\""), "{}", browser.page);
    // Rather not to say is one of the answers, and is taken as one.
    assert!(browser.page.contains("type=\"radio\" name=\"item.age\" value=\"decline\""), "{}", browser.page);
    let mut fields: Vec<(&str, &str)> =
        ["item.age", "item.gender", "item.education"].map(|name| (name, "decline")).to_vec();
    fields.extend([("item.machine_learning", "3"), ("item.health_care", "decline"), ("position", "before")]);
    // Only where the study says that a question is sensitive.
    assert_eq!(browser.submit("/questionnaire", &fields).await, StatusCode::UNPROCESSABLE_ENTITY);
    fields[4] = ("item.health_care", "2");
    assert_eq!(browser.submit("/questionnaire", &fields).await, StatusCode::SEE_OTHER);
    assert_eq!(browser.title(), "Your first guess");
}

#[tokio::test]
async fn what_was_changed_after_it_was_sent_is_not_said_to_be_saved() {
    let web = web();
    for (person, language, sentence) in [
        (0, "en", "What you sent first is kept; what you changed afterwards was not saved."),
        (1, "de", "Was Sie zuerst gesendet haben, ist aufbewahrt"),
    ] {
        let mut browser = web.browser(person).await;
        browser.submit("/language", &[("language", language)]).await;
        browser.agree().await;
        let (csrf, key) = (browser.field("csrf"), browser.field("key"));
        let mut fields = vec![
            ("csrf", csrf.as_str()),
            ("key", &key),
            ("position", "before"),
            ("item.age", "decline"),
            ("item.gender", "decline"),
            ("item.education", "decline"),
            ("item.machine_learning", "3"),
            ("item.health_care", "2"),
        ];
        assert_eq!(browser.post("/questionnaire", &fields, "text/html").await.status, StatusCode::SEE_OTHER);
        // The same once more is nothing new, in whichever language its options are read by now.
        assert_eq!(browser.post("/questionnaire", &fields, "text/html").await.status, StatusCode::SEE_OTHER);
        fields[7] = ("item.health_care", "3");
        let told = browser.post("/questionnaire", &fields, "text/html").await;
        assert_eq!(told.status, StatusCode::CONFLICT);
        assert!(told.body.contains(sentence), "{}", told.body);
        browser.look("/").await;
        let (csrf, key) = (browser.field("csrf"), browser.field("key"));
        let stated = |ratio| [("csrf", csrf.as_str()), ("key", &key), ("when", "before"), ("ratio", ratio)];
        for again in ["6.1", "6.1", "6,1"] {
            let sent = browser.post("/stated", &stated(again), "text/html").await;
            assert_eq!(sent.status, StatusCode::SEE_OTHER, "{again}");
        }
        let told = browser.post("/stated", &stated("7"), "text/html").await;
        assert_eq!(told.status, StatusCode::CONFLICT);
        assert!(told.body.contains(sentence), "{}", told.body);
        let nothing = [("csrf", csrf.as_str()), ("key", &key), ("when", "before"), ("say", "nothing")];
        assert_eq!(browser.post("/stated", &nothing, "application/json").await.status, StatusCode::CONFLICT);
    }
}

#[tokio::test]
async fn a_text_that_is_too_long_is_neither_cut_nor_said_to_be_kept() {
    use equipoise_study::study::{Item, ItemKind, Position};
    let web = web_of(|study| {
        study.questionnaire = vec![Item {
            id: "why".to_owned(),
            position: Position::Before,
            kind: ItemKind::Text { most: 10 },
            question: "Why?".into(),
            sensitive: false,
        }];
    });
    let mut browser = web.browser(0).await;
    browser.agree().await;
    let page = browser.page.clone();
    let send = |text: &'static str| [("position", "before"), ("item.why", text)];
    assert_eq!(
        browser.submit("/questionnaire", &send("12345678901")).await,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert!(browser.page.contains("Write at most 10 characters; there are 11."), "{}", browser.page);
    assert!(browser.page.contains(">12345678901</textarea>"), "what was typed stays");
    // Far more than any form of ours has.
    browser.page = page;
    let long: &'static str = "x".repeat(100_000).leak();
    assert_eq!(browser.submit("/questionnaire", &send(long)).await, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(browser.page.contains("was not saved") && !browser.page.contains("are kept"), "{}", browser.page);
    // A browser counts the end of a line as one character.
    browser.look("/").await;
    assert_eq!(browser.submit("/questionnaire", &send("1234%0D%0A56789")).await, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn nobody_is_offered_to_withdraw_what_is_not_there_or_to_pause_what_is_over() {
    let web = web();
    let mut browser = web.browser(0).await;
    let ways =
        |page: &str| ["/pause", "/device", "/withdraw"].map(|way| page.contains(&format!("href=\"{way}\"")));
    assert_eq!(ways(&browser.page), [false; 3], "before anything is stored: {}", browser.page);
    browser.submit("/language", &[("language", "en")]).await;
    assert_eq!(ways(&browser.page), [false; 3], "before consent");
    browser.prepare().await;
    assert_eq!(ways(&browser.page), [true; 3], "at a comparison");
    browser.look("/withdraw").await;
    let [safe, deletes] = ["No, go on", "Yes, delete"].map(|text| {
        let before = &browser.page[..browser.page.find(text).unwrap()];
        before[before.rfind("class=\"").unwrap()..].to_owned()
    });
    assert!(safe.contains("main") && !deletes.contains("main"), "{safe} {deletes}");
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
    let style = web.get(equipoise_pages::assets::STYLE.path(), "").await;
    let script = web.get(equipoise_pages::assets::SCRIPT.path(), "").await;
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
async fn the_consent_that_is_shown_is_the_one_whose_hash_is_kept() {
    use equipoise_study::Text;
    use sha2::Digest as _;
    let texts = [("en", "An English text."), ("nl", "Een Nederlandse tekst.")];
    let texts: std::collections::BTreeMap<String, String> =
        texts.iter().map(|(tag, text)| ((*tag).to_owned(), (*text).to_owned())).collect();
    let web = web_of(|study| {
        study.languages = vec!["nl".to_owned()];
        study.consent.text = Text::ByLanguage(texts);
    });
    let mut browser = web.browser(0).await;
    assert!(browser.page.contains("Een Nederlandse tekst.") && browser.page.contains("lang=\"nl\""));
    let hash = equipoise_log::hex::encode(&sha2::Sha256::digest("Een Nederlandse tekst."));
    assert_eq!(browser.field("text"), hash);
    browser.submit("/consent", &[("decision", "agree"), ("text", &hash)]).await;
    assert!(browser.page.contains("Een Nederlandse tekst."), "with the box not ticked: {}", browser.page);
    browser.agree().await;
    let kept = web.service.look(&web.session(0), |person| person.consent_hash()).unwrap();
    assert_eq!(kept, hash);
    // A study like this is not called ready.
    let lints = equipoise_study::lint::lint(web.service.design());
    let sentence = "languages has \"nl\", in which the pages have no words, expected some of en, de, es, fr";
    assert!(lints.iter().any(|lint| lint.error && lint.what == sentence), "{lints:?}");
}

#[tokio::test]
async fn the_last_page_has_no_number_that_the_report_refuses() {
    let web = web();
    let mut browser = web.browser(0).await;
    browser.prepare().await;
    // Always the same side: the report refuses a metric.
    while browser.page.contains("action=\"/answer\"") {
        browser.answer("a").await;
    }
    browser.finish().await;
    let refused = web.service.look(&web.session(0), equipoise_report::refused).unwrap();
    assert!(refused.is_some(), "the report takes anything");
    assert!(browser.page.contains("no result follows from them"), "{}", browser.page);
    assert!(
        !browser.page.contains("interval") && !browser.page.contains("class=\"answer\""),
        "{}",
        browser.page
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

/// Who asks, in the matrix below.
const CREDENTIALS: [&str; 9] = [
    "nobody",
    "rubbish",
    "an unknown link",
    "before consent",
    "comparing",
    "comparing, with somebody else's form",
    "comparing, on another device",
    "withdrawn",
    "a researcher",
];

#[tokio::test]
async fn every_route_answers_every_method_and_credential_as_its_line_in_the_table_says() {
    let web = web();
    let fresh = web.browser(0).await;
    let mut comparing = web.browser(1).await;
    comparing.prepare().await;
    let mut gone = web.browser(2).await;
    gone.look("/withdraw").await;
    gone.submit("/withdraw", &[]).await;
    let second = web.browser(1).await.cookie;
    let others = fresh.field("csrf");
    let own = comparing.field("csrf");
    let unknown = format!("equipoise={}.{}", "0".repeat(32), "0".repeat(16));
    let rows = || web.service.writer().with(|store| equipoise_log::rows(store)).unwrap().len();
    let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"];
    let (mut cells, mut forged) = (0, 0);
    for route in equipoise_server::participant::routes() {
        let path = route.path.replace("{token}", &web.tokens[1]).replace("{name}", "none.css");
        for method in methods {
            for who in CREDENTIALS {
                let (cookie, csrf) = match who {
                    "nobody" => (String::new(), String::new()),
                    "rubbish" => ("equipoise=\u{1}".replace('\u{1}', "%01.x"), own.clone()),
                    "an unknown link" => (unknown.clone(), own.clone()),
                    "before consent" => (fresh.cookie.clone(), String::new()),
                    "comparing" => (comparing.cookie.clone(), String::new()),
                    "comparing, with somebody else's form" => (comparing.cookie.clone(), others.clone()),
                    "comparing, on another device" => (second.clone(), own.clone()),
                    "withdrawn" => (gone.cookie.clone(), String::new()),
                    _ => ("equipoise-researcher=0123456789abcdef".to_owned(), own.clone()),
                };
                // Nobody here has the right form, so nothing may change.
                let before = rows();
                let request = Request::builder()
                    .method(method)
                    .uri(&path)
                    .header(header::COOKIE, &cookie)
                    .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .body(Body::from(format!(
                        "csrf={csrf}&key=k&choice=a&query=1&what=rates&decision=agree&agree=yes"
                    )))
                    .unwrap();
                // The headers of every response are checked where it is sent.
                let got = web.send(request).await;
                let told = format!("{method} {path}, {who}: {}", got.status);
                cells += 1;
                assert!(got.status.as_u16() < 500, "{told}");
                assert_eq!(rows(), before, "{told}: something was written");
                let known = matches!(who, "before consent" | "comparing" | "withdrawn")
                    || who.starts_with("comparing");
                match method {
                    "GET" | "HEAD" if route.get && (known || !route.needs_link) => {
                        // No file of this name, and no panel in this study.
                        let none = path.starts_with("/assets") || path.starts_with("/join");
                        assert_eq!(got.status == StatusCode::NOT_FOUND, none, "{told}");
                    }
                    "GET" | "HEAD" if route.get => assert_eq!(got.status, StatusCode::FORBIDDEN, "{told}"),
                    "POST" if route.post => {
                        forged += 1;
                        assert_eq!(got.status, StatusCode::FORBIDDEN, "{told}");
                    }
                    _ => assert_eq!(got.status, StatusCode::NOT_FOUND, "{told}"),
                }
                let own = who == "before consent";
                assert!(own || !got.body.contains(&web.tokens[0]), "{told}: another's link");
            }
        }
    }
    println!(
        "{cells} cells of {} routes, {} methods and {} credentials, {forged} forgeries refused, 0 server errors",
        equipoise_server::participant::routes().len(),
        methods.len(),
        CREDENTIALS.len()
    );
    println!("policy and headers on all of {cells} responses, no script or style inside a page");
}

#[tokio::test]
async fn guessing_links_finds_nothing_and_tells_nothing() {
    let web = web();
    let mut took: [Vec<std::time::Duration>; 2] = Default::default();
    // Half share their first half with a real link: nothing is told by how long it takes to refuse them.
    for n in 0..2_000_u128 {
        let near = n % 2 == 1;
        let token = match near {
            true => format!("{}{:016x}", &web.tokens[0][..16], n),
            false => format!("{:032x}", n << 64 | n),
        };
        let begun = std::time::Instant::now();
        let got = web.get(&format!("/s/{token}"), "").await;
        took[usize::from(near)].push(begun.elapsed());
        assert_eq!(got.status, StatusCode::FORBIDDEN, "{token}");
    }
    let [far, near] = took.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    let apart = far.abs_diff(near);
    println!("2000 guesses of links: 0 hits, medians {far:?} and {near:?}, {apart:?} apart");
    assert!(apart < std::time::Duration::from_millis(1), "{apart:?}");
}
