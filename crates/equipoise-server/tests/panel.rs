//! What people of a panel see: each way it can end has its page, its code and its address.

mod web;

use axum::http::{StatusCode, header};
use equipoise_study::study::Panel;
use web::{Browser, Got, Web, declined_items, web_of};

const PID: &str = "5f3a9c0b";

fn panel(more: &str) -> Panel {
    let text = format!(
        "{}\n[panel]\nid = \"PROLIFIC_PID\"\nkeep = [\"STUDY_ID\"]\n{more}\n\
         [panel.done]\ncode = \"CDONE\"\nurl = \"https://panel.example/done?cc={{code}}\"\n\
         [panel.screened]\ncode = \"CSCREEN\"\nurl = \"https://panel.example/screened?cc={{code}}\"\n\
         [panel.withdrew]\ncode = \"CLEFT\"\nurl = \"https://panel.example/left?cc={{code}}\"\n\
         [panel.full]\nurl = \"https://panel.example/full\"\n[panel.closed]\nurl = \"https://panel.example/closed\"\n",
        equipoise_study::template::find("binary-cancer").unwrap().text
    );
    equipoise_study::Study::parse(&text).unwrap().panel.unwrap()
}

fn web(more: &str) -> Web {
    let panel = panel(more);
    web_of(|study| study.panel = Some(panel))
}

async fn join(web: &Web, id: &str) -> Got {
    web.get(&format!("/join?PROLIFIC_PID={id}&STUDY_ID=s1&other=x"), "").await
}

/// The browser of somebody who was let in.
async fn enter<'a>(web: &'a Web, id: &str) -> Browser<'a> {
    let joined = join(web, id).await;
    assert_eq!(joined.status, StatusCode::OK, "{}", joined.body);
    assert!(!joined.body.contains(id), "who it is is in the page");
    let cookies = joined.headers.get_all(header::SET_COOKIE).iter();
    let cookies: Vec<&str> = cookies.map(|set| set.to_str().unwrap()).collect();
    assert!(cookies.iter().all(|set| set.contains("HttpOnly; SameSite=Strict")), "{cookies:?}");
    let cookie: Vec<&str> = cookies.iter().map(|set| set.split(';').next().unwrap()).collect();
    let to = joined.body.split_once("url=").unwrap().1.split('"').next().unwrap().to_owned();
    let mut browser = Browser { web, cookie: cookie.join("; "), page: String::new() };
    browser.look(&to).await;
    browser
}

/// To the last page.
async fn finish(browser: &mut Browser<'_>) {
    browser.prepare().await;
    while browser.page.contains("action=\"/answer\"") {
        browser.answer("a").await;
    }
    browser.finish().await;
}

fn ends(page: &str, title: &str, code: Option<&str>, url: &str) {
    assert!(page.contains(&format!("<h1>{title}</h1>")), "{title} in {page}");
    if let Some(code) = code {
        assert!(page.contains(&format!("<code class=\"receipt\">{code}</code>")), "{code} in {page}");
    }
    assert!(page.contains(&format!("href=\"{url}\" rel=\"noreferrer\"")), "{url} in {page}");
    assert!(!page.contains(PID), "who it is is in the page");
}

#[tokio::test]
async fn whoever_is_done_takes_a_code_along_and_is_told_when_they_come_again() {
    let web = web("");
    let mut browser = enter(&web, PID).await;
    finish(&mut browser).await;
    let url = "https://panel.example/done?cc=CDONE";
    assert!(browser.page.contains("Your receipt"), "{}", browser.page);
    assert!(browser.page.contains("<code class=\"receipt\">CDONE</code>") && browser.page.contains(url));
    // On another device, later.
    let again = enter(&web, PID).await;
    ends(&again.page, "You have already taken part", Some("CDONE"), url);
    assert!(again.page.contains("href=\"/\""));
    // Somebody with a link of their own is not sent to the panel.
    let mut other = web.browser(0).await;
    finish(&mut other).await;
    assert!(other.page.contains("Your receipt") && !other.page.contains("CDONE"), "{}", other.page);
    let session = equipoise_study::session_of(&web.service.panel_token(PID).unwrap());
    let known = web.service.contacts().get(&session).unwrap().unwrap();
    assert_eq!((known["PROLIFIC_PID"].as_str(), known["STUDY_ID"].as_str(), known.len()), (PID, "s1", 2));
    let log = web.service.writer().with(|store| equipoise_log::rows(store)).unwrap();
    assert!(log.iter().all(|row| !row.payload.as_ref().unwrap().body.contains(PID)), "in the log");
}

#[tokio::test]
async fn whoever_withdraws_or_does_not_agree_takes_another_code_along() {
    let web = web("");
    let url = "https://panel.example/left?cc=CLEFT";
    let mut browser = enter(&web, PID).await;
    browser.submit("/language", &[("language", "en")]).await;
    browser.submit("/consent", &[("decision", "decline")]).await;
    ends(&browser.page, "You are not taking part", Some("CLEFT"), url);
    browser.look("/").await;
    browser.agree().await;
    browser.look("/withdraw").await;
    assert_eq!(browser.submit("/withdraw", &[]).await, StatusCode::SEE_OTHER);
    ends(&browser.page, "Your answers are deleted", Some("CLEFT"), url);
    let again = enter(&web, PID).await;
    ends(&again.page, "Your answers are deleted", Some("CLEFT"), url);
    // Not to whoever has a link of their own.
    let mut other = web.browser(0).await;
    other.look("/withdraw").await;
    other.submit("/withdraw", &[]).await;
    assert!(other.page.contains("Your answers are deleted") && !other.page.contains("CLEFT"));
}

#[tokio::test]
async fn whoever_is_not_looked_for_is_screened_out() {
    let web = web("[[panel.require]]\nitem = \"age\"\none_of = [\"65+\"]\n");
    let mut browser = enter(&web, PID).await;
    browser.agree().await;
    let items = declined_items(&browser.page);
    let mut fields: Vec<(&str, &str)> = items.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    fields.push(("position", "before"));
    assert_eq!(browser.submit("/questionnaire", &fields).await, StatusCode::SEE_OTHER);
    let url = "https://panel.example/screened?cc=CSCREEN";
    ends(&browser.page, "This study is for other people", Some("CSCREEN"), url);
    let again = enter(&web, PID).await;
    ends(&again.page, "This study is for other people", Some("CSCREEN"), url);
}

#[tokio::test]
async fn who_cannot_come_in_is_told_why_at_an_address_without_their_name() {
    let full = web("quota = 1");
    enter(&full, "one").await;
    let closed = web("closes = \"2000-01-01T00:00Z\"");
    let early = web("opens = \"9999-01-01T00:00Z\"");
    for (web, to, title, url) in [
        (&full, "/join/full", "All places are taken", "https://panel.example/full"),
        (&closed, "/join/closed", "This study has ended", "https://panel.example/closed"),
        (&early, "/join/closed", "This study has not begun", "https://panel.example/closed"),
    ] {
        let turned = join(web, PID).await;
        assert_eq!(
            (turned.status, turned.headers[header::LOCATION].to_str().unwrap()),
            (StatusCode::SEE_OTHER, to)
        );
        assert!(turned.headers.get(header::SET_COOKIE).is_none());
        ends(&web.get(to, "").await.body, title, None, url);
    }
    assert_eq!(full.get("/join/nothing", "").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_address_without_a_name_or_with_a_wrong_one_opens_nothing() {
    let web = web("");
    let before = web.service.writer().with(|store| equipoise_log::rows(store)).unwrap().len();
    for query in
        ["", "?other=1", "?PROLIFIC_PID=", "?PROLIFIC_PID=a%0db", "?PROLIFIC_PID={{%25PROLIFIC_PID%25}}"]
    {
        let got = web.get(&format!("/join{query}"), "").await;
        assert_eq!(got.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(got.body.contains("Please start from your panel"), "{query}");
    }
    assert_eq!(web.service.writer().with(|store| equipoise_log::rows(store)).unwrap().len(), before);
    // A study without a panel has no such address.
    let without = web_of(|_| {});
    assert_eq!(join(&without, PID).await.status, StatusCode::NOT_FOUND);
    assert_eq!(without.get("/join/full", "").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn nobody_agrees_in_the_name_of_somebody_else() {
    let web = web("");
    let mut browser = enter(&web, PID).await;
    browser.cookie = browser.cookie.replace(PID, "somebody-else");
    browser.agree().await;
    let session = equipoise_study::session_of(&web.service.panel_token(PID).unwrap());
    assert_eq!(web.service.contacts().get(&session).unwrap(), None);
    // Known again when they come from the panel.
    enter(&web, PID).await;
    assert_eq!(web.service.contacts().get(&session).unwrap().unwrap()["PROLIFIC_PID"], PID);
}

#[tokio::test]
async fn nobody_comes_in_before_the_study_is_locked() {
    let web = web("");
    let settings = equipoise_server::participant::Settings { origin: "http://study.test".to_owned() };
    let state = equipoise_server::participant::Participants::new(web.service.clone(), settings).not_begun();
    let draft = Web { app: equipoise_server::participant::app(state), ..web };
    let before = draft.service.writer().with(|store| store.head()).unwrap();
    let joined = join(&draft, PID).await;
    assert_eq!(joined.headers[header::LOCATION], "/join/closed");
    ends(
        &draft.get("/join/closed", "").await.body,
        "This study has not begun",
        None,
        "https://panel.example/closed",
    );
    assert_eq!(draft.service.writer().with(|store| store.head()).unwrap(), before, "somebody got a place");
}
