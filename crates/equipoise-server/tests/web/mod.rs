//! A browser without a screen, for tests of what participants are sent.
#![allow(dead_code, reason = "each test uses a part")]

mod guarded;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use equipoise_log::{MemoryStore, Store, Writer, rows};
use equipoise_server::participant::{Participants, Settings, app};
use equipoise_study::event::{Answered, Choice};
use equipoise_study::seams::{SystemClock, TestRandom};
use equipoise_study::{Design, Event, Service, Study, template};
use http_body_util::BodyExt as _;
use std::path::Path;
use std::sync::Arc;
use tower::ServiceExt as _;

/// A study on the web with some invitations.
pub struct Web {
    pub app: Router,
    pub service: Arc<Service>,
    pub tokens: Vec<String>,
}

pub fn web() -> Web {
    web_of(|_| {})
}

pub fn web_of(change: impl FnOnce(&mut Study)) -> Web {
    web_on(MemoryStore::new(), change)
}

/// Of another template.
pub fn web_from(name: &str) -> Web {
    serving(MemoryStore::new(), Study::parse(template::find(name).unwrap().text).unwrap())
}

pub fn web_on(store: impl Store + 'static, change: impl FnOnce(&mut Study)) -> Web {
    let mut study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
    change(&mut study);
    serving(store, study)
}

fn serving(store: impl Store + 'static, study: Study) -> Web {
    let design = Arc::new(Design::new(study, Path::new("../equipoise-study/src/templates")).unwrap());
    let service = Service::new(design, Writer::start(store), SystemClock, TestRandom::new(3));
    let tokens = service.invite(3).unwrap().into_iter().map(|invitation| invitation.token).collect();
    let service = Arc::new(service);
    let settings = Settings { origin: "http://study.test".to_owned() };
    Web { app: app(Participants::new(service.clone(), settings)), service, tokens }
}

pub struct Got {
    pub status: StatusCode,
    pub headers: axum::http::HeaderMap,
    pub body: String,
}

impl Got {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{} {}", self.status, self.body))
    }
}

/// A browser: a cookie, and the form of the last page.
pub struct Browser<'a> {
    pub web: &'a Web,
    pub cookie: String,
    pub page: String,
}

impl Web {
    pub async fn send(&self, request: Request<Body>) -> Got {
        let what = format!("{} {}", request.method(), request.uri());
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body = String::from_utf8(body.to_vec()).unwrap();
        guarded::guarded(&what, &headers, &body);
        Got { status, headers, body }
    }

    pub async fn get(&self, path: &str, cookie: &str) -> Got {
        self.send(Request::get(path).header(header::COOKIE, cookie).body(Body::empty()).unwrap()).await
    }

    pub async fn browser(&self, person: usize) -> Browser<'_> {
        let joined = self.get(&format!("/s/{}", self.tokens[person]), "").await;
        assert_eq!(joined.status, StatusCode::OK);
        assert!(!joined.body.contains(&self.tokens[person]), "the token is in the page it was to leave");
        let set = joined.headers[header::SET_COOKIE].to_str().unwrap();
        assert!(set.contains("HttpOnly; SameSite=Strict"), "{set}");
        let mut browser =
            Browser { web: self, cookie: set.split(';').next().unwrap().to_owned(), page: String::new() };
        browser.look("/").await;
        browser
    }

    pub fn session(&self, person: usize) -> String {
        self.service.open(&self.tokens[person]).unwrap().unwrap()
    }

    /// All answers in the log: (question, choice).
    pub fn answers(&self) -> Vec<(u64, Choice)> {
        let rows = self.service.writer().with(|store| rows(store)).unwrap();
        rows.iter()
            .filter_map(|row| match Event::in_row(row).unwrap() {
                Some(Event::Answered(Answered { asked, choice, .. })) => Some((asked, choice)),
                _ => None,
            })
            .collect()
    }
}

impl Browser<'_> {
    pub async fn look(&mut self, path: &str) -> StatusCode {
        let got = self.web.get(path, &self.cookie).await;
        self.page = got.body;
        got.status
    }

    pub fn field(&self, name: &str) -> String {
        let before = format!("name=\"{name}\" value=\"");
        let rest = self.page.split_once(&before).unwrap_or_else(|| panic!("no {name} in {}", self.page)).1;
        rest.split_once('"').unwrap().0.to_owned()
    }

    pub fn title(&self) -> &str {
        self.page.split_once("<title>").unwrap().1.split_once(" ·").unwrap().0
    }

    pub async fn post(&self, path: &str, fields: &[(&str, &str)], accept: &str) -> Got {
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+"))).collect();
        let request = Request::post(path)
            .header(header::COOKIE, &self.cookie)
            .header(header::ACCEPT, accept)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(body.join("&")))
            .unwrap();
        self.web.send(request).await
    }

    /// Sends the page's form with more fields, as a browser without a script; follows the redirect.
    pub async fn submit(&mut self, path: &str, more: &[(&str, &str)]) -> StatusCode {
        let (csrf, key) = (self.field("csrf"), self.field("key"));
        let mut fields = vec![("csrf", csrf.as_str()), ("key", key.as_str())];
        fields.extend(more);
        let got = self.post(path, &fields, "text/html").await;
        if got.status == StatusCode::SEE_OTHER {
            let to = got.headers[header::LOCATION].to_str().unwrap().to_owned();
            self.look(&to).await;
        } else {
            self.page = got.body;
        }
        got.status
    }

    pub async fn agree(&mut self) {
        if self.page.contains("action=\"/language\"") {
            self.submit("/language", &[("language", "en")]).await;
        }
        let text = self.field("text");
        assert_eq!(
            self.submit("/consent", &[("decision", "agree"), ("agree", "yes"), ("text", &text)]).await,
            StatusCode::SEE_OTHER
        );
    }

    /// Answers no item of the questionnaire that is on the screen.
    pub async fn decline(&mut self) -> StatusCode {
        let (position, items) = (self.field("position"), declined_items(&self.page));
        let mut fields: Vec<(&str, &str)> = items.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        fields.push(("position", &position));
        self.submit("/questionnaire", &fields).await
    }

    /// Everything after the last comparison: nothing more is said.
    pub async fn finish(&mut self) {
        for _ in 0..10 {
            if self.page.contains("action=\"/stated\"") {
                self.submit("/stated", &[("when", "after"), ("say", "nothing")]).await;
            } else if self.page.contains("action=\"/questionnaire\"") {
                self.decline().await;
            } else if self.page.contains("action=\"/finish\"") {
                self.submit("/finish", &[]).await;
            }
        }
    }

    /// Everything before the first comparison.
    pub async fn prepare(&mut self) {
        self.agree().await;
        for _ in 0..60 {
            let has = |what: &str| self.page.contains(what);
            let status = if has("action=\"/questionnaire\"") {
                self.decline().await
            } else if has("action=\"/stated\"") {
                let when = self.field("when");
                self.submit("/stated", &[("when", &when), ("say", "number"), ("ratio", "10")]).await
            } else if has("action=\"/consequences\"") {
                self.submit("/consequences", &[]).await
            } else if has("name=\"seen\"") {
                self.submit("/learn", &[("seen", "yes")]).await
            } else if has("action=\"/learn\"") {
                let question = self.field("question");
                self.submit("/learn", &[("question", &question), ("option", "0")]).await
            } else if has("action=\"/practice\"") {
                let query = self.field("query");
                self.submit("/practice", &[("query", &query), ("choice", "b")]).await
            } else {
                break;
            };
            assert_eq!(status, StatusCode::SEE_OTHER, "{}", self.page);
        }
        assert!(self.page.contains("action=\"/answer\""), "{}", self.page);
    }

    /// Answers the comparison on the page.
    pub async fn answer(&mut self, choice: &str) -> StatusCode {
        let query = self.field("query");
        self.submit("/answer", &[("query", &query), ("choice", choice)]).await
    }
}

/// The first option, the least number, or rather not to say.
pub fn declined_items(page: &str) -> Vec<(String, String)> {
    let mut items: Vec<(String, String)> = vec![];
    for part in page.split("name=\"item.").skip(1) {
        let (id, rest) = part.split_once('"').unwrap();
        let tag = rest.split('>').next().unwrap();
        let value = tag.split_once("value=\"").map_or("", |(_, rest)| rest.split('"').next().unwrap());
        let value = if value.is_empty() { "30" } else { value };
        if !items.iter().any(|(name, _)| *name == format!("item.{id}")) {
            items.push((format!("item.{id}"), value.to_owned()));
        }
    }
    items
}
