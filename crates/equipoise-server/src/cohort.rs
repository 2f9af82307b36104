//! Simulated people who take part over HTTP, for tests and measurements.
//!
//! They read the pages as people do: the numbers they compare are the numbers on the screen. So whatever a page gets
//! wrong, the metric found from their answers gets wrong too.

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, CONTENT_TYPE, COOKIE, HOST, SET_COOKIE};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// Half the width of the ball that evaluation questions of the thesis are drawn from; the noise's slope is in its units.
const BALL: f64 = 0.1;

/// A step that is repeated this often without getting on is a bug in a page.
const PATIENCE: usize = 400;

/// Somebody with an opinion.
#[derive(Debug, Clone)]
pub struct Person {
    /// How many false alarms a missed case is worth to them.
    pub ratio: f64,
    /// How sharply they tell: the slope of the logistic curve, in units of the query ball. Infinite never errs.
    pub slope: f64,
    /// How long they look at a comparison, on average.
    pub think: Duration,
    random: Xoshiro256PlusPlus,
}

impl Person {
    /// Somebody; `seed` decides where noise strikes.
    pub fn new(ratio: f64, slope: f64, think: Duration, seed: u64) -> Self {
        Self { ratio, slope, think, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// A or B, from the mistakes on the screen: (missed cases, false alarms) out of so many people.
    fn choose(&mut self, [a, b]: [[u64; 2]; 2], people: u64) -> &'static str {
        let length = self.ratio.hypot(1.0);
        let cost = |[missed, alarms]: [u64; 2]| {
            (self.ratio * missed as f64 + alarms as f64) / length / people as f64
        };
        let better = (cost(b) - cost(a)) / BALL;
        let share =
            if self.slope.is_finite() { 1.0 / (1.0 + (-self.slope * better).exp()) } else { better.signum() };
        if self.random.random::<f64>() < share { "a" } else { "b" }
    }

    /// A time to think: exponential around the mean, and never endless.
    fn thinking(&mut self) -> Duration {
        let draw: f64 = self.random.random();
        self.think.mul_f64((-(1.0 - draw).ln()).min(5.0))
    }
}

/// An answer the server has acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledged {
    /// The number of the question in the log.
    pub query: u64,
    /// What was chosen.
    pub choice: String,
    /// The proof.
    pub receipt: String,
}

/// How it went.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// All answers to comparisons.
    pub answers: Vec<Acknowledged>,
    /// From sending an answer to having read the reply.
    pub waits: Vec<Duration>,
    /// The last page.
    pub page: String,
    /// Whether it came to the end.
    pub finished: bool,
}

/// A reply.
#[derive(Debug)]
pub struct Response {
    /// Its status.
    pub status: StatusCode,
    /// Its body as text.
    pub body: String,
}

/// A connection to a server, with its cookie: as much of a browser as the simulation needs.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    sender: SendRequest<Full<Bytes>>,
    cookie: Option<String>,
}

impl Client {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        Ok(Self { address, sender: open(address).await?, cookie: None })
    }

    /// Asks for a page.
    pub async fn get(&mut self, path: &str) -> io::Result<Response> {
        self.send(Method::GET, path, String::new(), "text/html").await
    }

    /// Sends a form as the script does, asking for JSON.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> io::Result<Response> {
        let pairs = fields.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        self.send(Method::POST, path, pairs.collect::<Vec<_>>().join("&"), "application/json").await
    }

    async fn send(&mut self, method: Method, path: &str, body: String, accept: &str) -> io::Result<Response> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.address.to_string())
            .header(ACCEPT, accept)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(cookie) = &self.cookie {
            request = request.header(COOKIE, cookie);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(io::Error::other)?;
        self.sender.ready().await.map_err(io::Error::other)?;
        let response = self.sender.send_request(request).await.map_err(io::Error::other)?;
        let status = response.status();
        if let Some(set) = response.headers().get(SET_COOKIE).and_then(|value| value.to_str().ok()) {
            self.cookie = set.split(';').next().map(str::to_owned);
        }
        let body = response.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
        Ok(Response { status, body: String::from_utf8_lossy(&body).into_owned() })
    }
}

async fn open(address: SocketAddr) -> io::Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// Takes part in a two-class study from the link to the end, or until the connection breaks: then `part` holds what was
/// acknowledged so far.
pub async fn take_part(
    address: SocketAddr,
    token: &str,
    person: &mut Person,
    part: &mut Part,
) -> io::Result<()> {
    let mut client = start(address, token, part).await?;
    for _ in 0..PATIENCE {
        match step(&mut client, person, part).await? {
            Step::On => {}
            Step::End => {
                part.finished = true;
                return Ok(());
            }
        }
    }
    Err(io::Error::other(format!("stuck at: {}", title(&part.page))))
}

/// What many people at once met with.
#[derive(Debug, Clone)]
pub struct Load {
    /// From sending an answer to having read the reply, sorted.
    pub waits: Vec<Duration>,
    /// For how long answers were counted.
    pub counted: Duration,
    /// What went wrong, a sentence each.
    pub errors: Vec<String>,
    /// How many came to the end of the study meanwhile.
    pub finished: usize,
}

impl Load {
    /// The wait that a share of answers did not exceed.
    pub fn quantile(&self, share: f64) -> Duration {
        let place = (share * self.waits.len() as f64).ceil() as usize;
        self.waits.get(place.saturating_sub(1)).copied().unwrap_or_default()
    }
}

/// Lets many take part at once. They arrive over the time `arrive`; answers count from then on, for the time `count`.
pub fn load(
    address: SocketAddr,
    tokens: Vec<String>,
    think: Duration,
    arrive: Duration,
    count: Duration,
) -> io::Result<Load> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let begin = tokio::time::Instant::now() + arrive;
        let people = tokens.len().max(1) as u32;
        let tasks: Vec<_> = (0..)
            .zip(tokens)
            .map(|(place, token)| {
                tokio::spawn(async move {
                    tokio::time::sleep(arrive * place / people).await;
                    // Ratios from 1.5 to 24.
                    let ratio = 1.5 * 16_f64.powf(f64::from(place) / f64::from(people));
                    let mut person = Person::new(ratio, 20.0, think, place.into());
                    let (mut early, mut part) = (Part::default(), Part::default());
                    let result = tokio::time::timeout_at(begin + count, async {
                        let mut client = start(address, &token, &mut early).await?;
                        while tokio::time::Instant::now() < begin {
                            if let Step::End = step(&mut client, &mut person, &mut early).await? {
                                return Ok(true);
                            }
                        }
                        part.page = std::mem::take(&mut early.page);
                        loop {
                            if let Step::End = step(&mut client, &mut person, &mut part).await? {
                                return Ok(true);
                            }
                        }
                    });
                    let result: io::Result<bool> = result.await.unwrap_or(Ok(false));
                    (result, part.waits)
                })
            })
            .collect();
        let mut load = Load { waits: vec![], counted: count, errors: vec![], finished: 0 };
        for task in tasks {
            let (result, waits) = task.await.map_err(io::Error::other)?;
            load.waits.extend(waits);
            match result {
                Ok(finished) => load.finished += usize::from(finished),
                Err(error) => load.errors.push(error.to_string()),
            }
        }
        load.waits.sort_unstable();
        Ok(load)
    })
}

/// Opens the link and the first page.
async fn start(address: SocketAddr, token: &str, part: &mut Part) -> io::Result<Client> {
    let mut client = Client::connect(address).await?;
    client.get(&format!("/s/{token}")).await?;
    part.page = client.get("/").await?.body;
    Ok(client)
}

enum Step {
    On,
    End,
}

/// Does what the page asks for.
async fn step(client: &mut Client, person: &mut Person, part: &mut Part) -> io::Result<Step> {
    let page = std::mem::take(&mut part.page);
    let Some(action) = action(&page) else {
        if page.contains("href=\"/?begin=yes\"") {
            part.page = client.get("/?begin=yes").await?.body;
            return Ok(Step::On);
        }
        part.page = page;
        return Ok(Step::End);
    };
    let field =
        |name: &str| between(&page, &format!("name=\"{name}\" value=\""), "\"").unwrap_or("").to_owned();
    let (csrf, key) = (field("csrf"), field("key"));
    let mut fields = vec![("csrf", csrf.as_str()), ("key", key.as_str())];
    let query = field("query");
    let others: Vec<(&str, String)> =
        ["text", "position", "when", "question"].map(|name| (name, field(name))).to_vec();
    for (name, value) in &others {
        fields.push((name, value));
    }
    let items = items(&page);
    let mut choice = "";
    match action.as_str() {
        "/language" => fields.push(("language", "en")),
        "/consent" => fields.extend([("agree", "yes"), ("decision", "agree")]),
        "/questionnaire" => fields.extend(items.iter().map(|(name, value)| (name.as_str(), value.as_str()))),
        "/stated" => fields.push(("say", "nothing")),
        "/learn" if page.contains("name=\"seen\"") => fields.push(("seen", "yes")),
        "/learn" => fields.push(("option", "0")),
        "/practice" => fields.extend([("query", query.as_str()), ("choice", "a")]),
        "/answer" => {
            tokio::time::sleep(person.thinking()).await;
            let (mistakes, people) =
                numbers(&page).ok_or_else(|| io::Error::other("a comparison without numbers"))?;
            choice = person.choose(mistakes, people);
            fields.extend([("query", query.as_str()), ("choice", choice), ("response_ms", "2000")]);
        }
        _ => {}
    }
    let sent = Instant::now();
    let reply = client.post(&action, &fields).await?;
    if action == "/answer" {
        part.waits.push(sent.elapsed());
    }
    if reply.status != StatusCode::OK {
        return Err(io::Error::other(format!("{action} was answered with {}", reply.status)));
    }
    let reply: serde_json::Value = serde_json::from_str(&reply.body).map_err(io::Error::other)?;
    if action == "/answer" {
        let receipt = reply["receipt"].as_str().unwrap_or_default().to_owned();
        let query = query.parse().map_err(io::Error::other)?;
        part.answers.push(Acknowledged { query, choice: choice.to_owned(), receipt });
    }
    part.page = reply["page"].as_str().unwrap_or_default().to_owned();
    Ok(Step::On)
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

fn title(page: &str) -> &str {
    between(page, "<title>", "</title>").unwrap_or("a page without a title")
}

/// Where the page's form goes; nothing if it has none but the one that withdraws.
fn action(page: &str) -> Option<String> {
    let (_, main) = page.split_once("<main")?;
    between(main, "action=\"", "\"").map(str::to_owned)
}

/// An answer to every item of a questionnaire: the first option, or the least number.
fn items(page: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = vec![];
    for part in page.split("name=\"item.").skip(1) {
        let Some((id, rest)) = part.split_once('"') else { continue };
        let name = format!("item.{id}");
        if all.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let value = match between(rest.split('>').next().unwrap_or(""), "value=\"", "\"") {
            Some("") | None => "30".to_owned(),
            Some(option) => option.to_owned(),
        };
        all.push((name, value));
    }
    all
}

/// The mistakes of both systems, and how many people they are out of, as the flow charts show them.
fn numbers(page: &str) -> Option<([[u64; 2]; 2], u64)> {
    let counts: Vec<u64> = page
        .split("class=\"as-count\">")
        .skip(1)
        .filter_map(|part| part.split('<').next()?.replace(',', "").parse().ok())
        .collect();
    match counts[..] {
        [found, missed_a, cleared, alarms_a, _, missed_b, _, alarms_b] => {
            Some(([[missed_a, alarms_a], [missed_b, alarms_b]], found + missed_a + cleared + alarms_a))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_without_noise_prefers_what_costs_less() {
        let mut person = Person::new(6.0, f64::INFINITY, Duration::ZERO, 1);
        assert_eq!(person.choose([[10, 20], [9, 25]], 1_000), "b");
        assert_eq!(person.choose([[10, 20], [9, 27]], 1_000), "a");
    }

    #[test]
    fn noise_is_worst_where_the_systems_are_alike() {
        let mut person = Person::new(6.0, 20.0, Duration::ZERO, 1);
        let mut chosen = |pair| (0..2_000).filter(|_| person.choose(pair, 1_000) == "a").count();
        assert!((900..1_100).contains(&chosen([[10, 20], [9, 26]])));
        assert!(chosen([[10, 20], [60, 20]]) > 1_980);
    }

    #[test]
    fn forms_are_written_so_that_any_text_survives() {
        assert_eq!(encoded("a b&c=é"), "a%20b%26c%3D%C3%A9");
    }
}
