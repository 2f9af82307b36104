#![forbid(unsafe_code)]
//! Simulated people who take part over HTTP, for tests and measurements; and researchers who watch them ([`watchers`]).
//! [`rehearsal`] does without pages and clocks: what a study costs and finds, before anybody is invited.
//!
//! They read the pages as people do: the numbers they compare are the numbers on the screen. So whatever a page gets
//! wrong, the metric found from their answers gets wrong too.

mod client;
mod person;
mod reading;
pub mod rehearsal;
mod verdict;
pub mod watchers;

pub use client::{Client, Response};
pub use person::{Person, STATED};
pub use verdict::{Fidelity, Verdict, hold};

use hyper::StatusCode;
use reading::{action, between, items, numbers, title};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A step that is repeated this often without getting on is a bug in a page.
const PATIENCE: usize = 400;

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

/// Takes part in a two-class study from the link to the end, or until the connection breaks: then `part` holds what was
/// acknowledged so far.
pub async fn take_part(
    address: SocketAddr,
    token: &str,
    person: &mut Person,
    part: &mut Part,
) -> io::Result<()> {
    let mut client = start(address, token, person.tries(), part).await?;
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
                        let mut client = start(address, &token, 1, &mut early).await?;
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
async fn start(address: SocketAddr, token: &str, tries: usize, part: &mut Part) -> io::Result<Client> {
    let mut client = Client::patient(address, tries).await?;
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
    let (mut choice, stated);
    choice = "";
    match action.as_str() {
        "/language" => fields.push(("language", "en")),
        "/consent" => fields.extend([("agree", "yes"), ("decision", "agree")]),
        "/questionnaire" => fields.extend(items.iter().map(|(name, value)| (name.as_str(), value.as_str()))),
        "/stated" => match person.states() {
            Some(ratio) => {
                stated = ratio.to_string();
                fields.extend([("say", "number"), ("ratio", stated.as_str())]);
            }
            None => fields.push(("say", "nothing")),
        },
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
