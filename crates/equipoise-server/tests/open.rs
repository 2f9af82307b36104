//! The pages of a table, without a socket and without a table: who may do what, and what every reply has.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use equipoise_server::open::{
    Action, Branch, Choice, File, Flow, Page, Question, Systems, TablePages, View, Work, app,
};
use http_body_util::BodyExt as _;
use std::sync::{Arc, Mutex};
use tower::ServiceExt as _;

/// Writes down what it is asked for, and always asks the same question.
struct Recorder(Arc<Mutex<Vec<String>>>);

impl Work for Recorder {
    fn view(&mut self) -> View {
        let branch = |name: &str| Branch {
            name: name.to_owned(),
            right: ("found".to_owned(), 7),
            wrong: ("missed".to_owned(), 3),
        };
        let flow = || Flow { branches: [branch("ill <b>"), branch("well")] };
        let question = Question {
            number: 1,
            of: "of about 12".to_owned(),
            done: 0,
            out_of: "Out of 20 cases".to_owned(),
            difference: "A and B make the same mistakes.".to_owned(),
            gaps: vec![],
            systems: Systems::Flows(Box::new([flow(), flow()])),
            can_undo: false,
        };
        View {
            problem: Some("found <i>, expected none".to_owned()),
            page: Page::Question(Box::new(question)),
        }
    }

    fn act(&mut self, action: Action) {
        let told = match action {
            Action::File(sent) => format!("file {} {}", sent.name, sent.content.len()),
            Action::Answer(number, Choice::B) => format!("answer {number} b"),
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(told);
    }

    fn file(&mut self, name: &str) -> Option<File> {
        (name == "metric.json").then(|| File { media_type: "application/json", content: b"{}".to_vec() })
    }
}

/// The pages with what was done on them, and the keys of whoever started them and of the expert.
struct Web {
    app: axum::Router,
    acts: Arc<Mutex<Vec<String>>>,
    link: String,
}

fn web() -> Web {
    let acts = Arc::new(Mutex::new(vec![]));
    let state = TablePages::new(Recorder(acts.clone()), "http://127.0.0.1:4000".to_owned(), 4000).unwrap();
    let link = state.link();
    Web { app: app(state), acts, link }
}

struct Reply {
    status: StatusCode,
    headers: axum::http::HeaderMap,
    text: String,
}

impl Web {
    async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let reply = self.app.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        let (parts, body) = reply.into_parts();
        let text = String::from_utf8_lossy(&body.collect().await.unwrap().to_bytes()).into_owned();
        assert!(
            parts.headers[header::CONTENT_SECURITY_POLICY]
                .to_str()
                .unwrap()
                .starts_with("default-src 'none'")
        );
        Reply { status: parts.status, headers: parts.headers, text }
    }

    async fn get(&self, path: &str, cookie: &str) -> Reply {
        self.ask(Method::GET, path, &[("cookie", cookie)], vec![]).await
    }

    async fn post(&self, path: &str, cookie: &str, fields: &str) -> StatusCode {
        let kind = "application/x-www-form-urlencoded";
        let headers = [("cookie", cookie), ("content-type", kind)];
        self.ask(Method::POST, path, &headers, fields.into()).await.status
    }

    /// The cookie of the link, and what its forms carry.
    async fn joined(&self) -> (String, String) {
        let joined = self.get(self.link.strip_prefix("http://127.0.0.1:4000").unwrap(), "").await;
        let cookie = joined.headers[header::SET_COOKIE].to_str().unwrap();
        assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let page = self.get("/", &cookie).await.text;
        let csrf = page.split_once("name=\"csrf\" value=\"").unwrap().1.split('"').next().unwrap();
        (cookie, csrf.to_owned())
    }
}

#[tokio::test]
async fn nothing_is_told_without_the_link() {
    let web = web();
    for path in ["/", "/k/00000000000000000000000000000000", "/download/metric.json", "/picture/curve.svg"] {
        assert_eq!(
            web.get(path, "equipoise-4000=00000000000000000000000000000000").await.status,
            403,
            "{path}"
        );
    }
    for path in ["/file", "/models", "/path", "/columns", "/begin", "/answer", "/undo", "/more", "/close"] {
        assert_eq!(web.post(path, "", "question=1&choice=b").await, 403, "{path}");
    }
    assert!(web.acts.lock().unwrap().is_empty());
}

#[tokio::test]
async fn another_host_is_not_us() {
    let web = web();
    let (cookie, _) = web.joined().await;
    let headers = [("cookie", cookie.as_str()), ("host", "evil.example:4000")];
    let reply = web.ask(Method::GET, "/", &headers, vec![]).await;
    assert_eq!(reply.status, StatusCode::MISDIRECTED_REQUEST);
    assert!(!reply.text.contains("System A"), "{}", reply.text);
}

#[tokio::test]
async fn forms_of_other_pages_change_nothing() {
    let web = web();
    let (cookie, csrf) = web.joined().await;
    assert_eq!(web.post("/answer", &cookie, "question=1&choice=b").await, 403);
    assert_eq!(web.post("/answer", &cookie, "question=1&choice=b&csrf=00").await, 403);
    let form = format!("question=1&choice=b&csrf={csrf}");
    let elsewhere = [
        ("cookie", cookie.as_str()),
        ("content-type", "application/x-www-form-urlencoded"),
        ("sec-fetch-site", "cross-site"),
    ];
    assert_eq!(web.ask(Method::POST, "/answer", &elsewhere, form.clone().into()).await.status, 403);
    assert_eq!(web.post("/answer", &cookie, &format!("question=x&choice=b&csrf={csrf}")).await, 422);
    assert!(web.acts.lock().unwrap().is_empty());
    assert_eq!(web.post("/answer", &cookie, &form).await, StatusCode::SEE_OTHER);
    assert_eq!(*web.acts.lock().unwrap(), ["answer 1 b"]);
}

#[tokio::test]
async fn a_file_arrives_as_it_was_sent_with_the_key_of_the_form() {
    let web = web();
    let (cookie, csrf) = web.joined().await;
    let form = |csrf: &str| {
        format!(
            "--x\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{csrf}\r\n--x\r\nContent-Disposition: form-data; \
             name=\"file\"; filename=\"../val.csv\"\r\n\r\ny,p\n1,0.5\n\r\n--x--\r\n"
        )
    };
    let headers = [("cookie", cookie.as_str()), ("content-type", "multipart/form-data; boundary=x")];
    let refused = web.ask(Method::POST, "/file", &headers, form("00").into()).await;
    assert_eq!(refused.status, 403);
    let taken = web.ask(Method::POST, "/file", &headers, form(&csrf).into()).await;
    assert_eq!(taken.status, StatusCode::SEE_OTHER);
    assert_eq!(*web.acts.lock().unwrap(), ["file val.csv 10"]);
}

#[tokio::test]
async fn what_comes_from_a_table_is_text_on_the_page() {
    let web = web();
    let (cookie, _) = web.joined().await;
    let page = web.get("/", &cookie).await.text;
    assert!(!page.contains("ill <b>") && !page.contains("found <i>"), "{page}");
    assert!(page.contains("Question 1</strong> of about 12"), "{page}");
    let file = web.get("/download/metric.json", &cookie).await;
    assert_eq!(file.headers[header::CONTENT_DISPOSITION], "attachment; filename=\"metric.json\"");
    assert_eq!(web.get("/download/passwd", &cookie).await.status, 404);
}
