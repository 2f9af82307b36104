#![forbid(unsafe_code)]
//! Simulated people who take part over HTTP, for tests and measurements; researchers who watch them ([`watchers`]),
//! and one who wants to hurt them ([`hostile`]).
//! [`rehearsal`] does without pages and clocks: what a study costs and finds, before anybody is invited.
//!
//! They read the pages as people do: the numbers they compare are the numbers on the screen. So whatever a page gets
//! wrong, the metric found from their answers gets wrong too.

mod client;
pub mod crowd;
pub mod hostile;
mod person;
mod reading;
pub mod rehearsal;
mod turns;
mod verdict;
pub mod watchers;

pub use client::{Client, Response};
pub use person::{Person, STATED};
pub use turns::Turns;
pub use verdict::{Fidelity, Verdict, hold};

use hyper::StatusCode;
use reading::{action, between, items, numbers, title};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// When each of these was sent.
    pub sent: Vec<Instant>,
    /// The last page.
    pub page: String,
    /// Whether it came to the end.
    pub finished: bool,
}

/// Takes part in a study from the link to the end, or until the connection breaks: then `part` holds what was
/// acknowledged so far.
pub async fn take_part(
    address: SocketAddr,
    token: &str,
    person: &mut Person,
    part: &mut Part,
) -> io::Result<()> {
    come_in(address, &format!("/s/{token}"), person, part).await
}

/// The same at several servers of one study: every request goes to another one than the last.
pub async fn take_part_among(
    servers: &[SocketAddr],
    token: &str,
    person: &mut Person,
    part: &mut Part,
) -> io::Result<()> {
    let mut client = Client::among(servers, person.tries());
    client.get(&format!("/s/{token}")).await?;
    part.page = client.get("/").await?.body;
    go_on(client, person, part).await
}

/// The same, from whatever address lets somebody in, such as that of a panel.
pub async fn come_in(
    address: SocketAddr,
    path: &str,
    person: &mut Person,
    part: &mut Part,
) -> io::Result<()> {
    let client = enter(address, path, person.tries(), part).await?;
    go_on(client, person, part).await
}

/// From the page somebody is at to the end.
async fn go_on(mut client: Client, person: &mut Person, part: &mut Part) -> io::Result<()> {
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
    /// When each answer was sent, and how long it took, in no order.
    pub sent: Vec<(Instant, Duration)>,
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
        quantile(&self.waits, share)
    }

    /// The same of those answers alone that were sent at such times, and how many these are.
    pub fn quantile_when(&self, share: f64, when: impl Fn(Instant) -> bool) -> (Duration, usize) {
        let some = self.sent.iter().filter(|(at, _)| when(*at));
        let mut waits: Vec<Duration> = some.map(|(_, wait)| *wait).collect();
        waits.sort_unstable();
        (quantile(&waits, share), waits.len())
    }
}

fn quantile(sorted: &[Duration], share: f64) -> Duration {
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or_default()
}

/// How many answer at once, and how.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// So many at once; when one of them is done, the holder of the next token comes.
    pub seats: usize,
    /// How long each thinks about a comparison, on average.
    pub think: Duration,
    /// They arrive over this time.
    pub arrive: Duration,
    /// Answers count from then on, for this time.
    pub count: Duration,
    /// All of them answer within a second, once in this time, instead of whenever they have thought.
    pub rounds: Option<Duration>,
}

/// Lets many take part at once. They arrive over the time `arrive`; answers count from then on, for the time `count`.
pub fn load(
    address: SocketAddr,
    tokens: Vec<String>,
    think: Duration,
    arrive: Duration,
    count: Duration,
) -> io::Result<Load> {
    let seats = tokens.len();
    demand(address, tokens, Demand { seats, think, arrive, count, rounds: None })
}

/// Lets many take part at once, and others after them.
pub fn demand(address: SocketAddr, mut tokens: Vec<String>, demand: Demand) -> io::Result<Load> {
    let Demand { seats, think, arrive, count, rounds } = demand;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let later = Arc::new(Mutex::new(tokens.split_off(seats.min(tokens.len()))));
    runtime.block_on(async {
        let begin = tokio::time::Instant::now() + arrive;
        let people = tokens.len().max(1) as u32;
        let tasks: Vec<_> = (0..)
            .zip(tokens)
            .map(|(place, first)| {
                let later = later.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(arrive * place / people).await;
                    // Ratios from 1.5 to 24.
                    let ratio = 1.5 * 16_f64.powf(f64::from(place) / f64::from(people));
                    let (mut early, mut part, mut finished) = (Part::default(), Part::default(), 0);
                    let seat = async {
                        let mut next = Some(first);
                        let mut seed = u64::from(place);
                        while let Some(token) = next {
                            let mut person = Person::new(ratio, 20.0, think, seed);
                            if let Some(every) = rounds {
                                person = person.together(begin, every);
                            }
                            if finished > 0 {
                                tokio::time::sleep(person.coming()).await;
                            }
                            let mut page = Part::default();
                            let mut client = start(address, &token, 1, &mut page).await?;
                            loop {
                                let counts = tokio::time::Instant::now() >= begin;
                                let kept = if counts { &mut part } else { &mut early };
                                kept.page = std::mem::take(&mut page.page);
                                let went = step(&mut client, &mut person, kept).await?;
                                page.page = std::mem::take(&mut kept.page);
                                // Whoever began to think before answers counted may have answered after.
                                if !counts && early.sent.last().is_some_and(|sent| *sent >= begin.into_std())
                                {
                                    part.sent.extend(early.sent.pop());
                                    part.waits.extend(early.waits.pop());
                                }
                                if let Step::End = went {
                                    break;
                                }
                            }
                            finished += 1;
                            seed += u64::from(people);
                            next = later.lock().unwrap_or_else(PoisonError::into_inner).pop();
                        }
                        Ok(())
                    };
                    let result: io::Result<()> =
                        tokio::time::timeout_at(begin + count, seat).await.unwrap_or(Ok(()));
                    (result, part, finished)
                })
            })
            .collect();
        let mut load = Load { waits: vec![], sent: vec![], counted: count, errors: vec![], finished: 0 };
        for task in tasks {
            let (result, part, finished) = task.await.map_err(io::Error::other)?;
            load.sent.extend(part.sent.into_iter().zip(part.waits.iter().copied()));
            load.waits.extend(part.waits);
            load.finished += finished;
            if let Err(error) = result {
                load.errors.push(error.to_string());
            }
        }
        load.waits.sort_unstable();
        Ok(load)
    })
}

/// So many come in at the same time before a flood: it is the answers that are measured, not the way there.
const ARRIVING: usize = 16;
/// After this a reply will not come any more: longer than a server takes to say that it cannot.
const NEVER: Duration = Duration::from_secs(40);
/// How long somebody waits who is asked to come again.
const AGAIN: Duration = Duration::from_secs(1);

/// Answers that are due, the oldest first. Nobody who waits for one holds anything that others need.
struct Due {
    times: Mutex<VecDeque<tokio::time::Instant>>,
    there: tokio::sync::Semaphore,
}

impl Due {
    fn new() -> Self {
        Self { times: Mutex::default(), there: tokio::sync::Semaphore::new(0) }
    }

    fn times(&self) -> MutexGuard<'_, VecDeque<tokio::time::Instant>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, at: tokio::time::Instant) {
        self.times().push_back(at);
        self.there.add_permits(1);
    }

    /// The next one, when there is one.
    async fn next(&self) -> io::Result<tokio::time::Instant> {
        loop {
            self.there.acquire().await.map_err(io::Error::other)?.forget();
            // What was given up is no longer there.
            let first = self.times().pop_front();
            if let Some(at) = first {
                return Ok(at);
            }
        }
    }

    fn give_up(&self) {
        self.times().clear();
    }
}

/// What became of each answer of a flood: how long it took from when it was due.
type Done = Arc<Mutex<Vec<io::Result<Duration>>>>;

fn told(done: &Done, what: io::Result<Duration>) {
    done.lock().unwrap_or_else(PoisonError::into_inner).push(what);
}

/// Sends so many answers a second, whether or not the server keeps up, for each of some rates in turn: what came of each.
/// Waits count from when an answer was due, so that a server that makes people wait does not look as if nobody had come.
pub fn flood(
    address: SocketAddr,
    tokens: Vec<String>,
    rates: &[f64],
    each: Duration,
) -> io::Result<Vec<Load>> {
    const TICK: Duration = Duration::from_millis(2);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let (due, done) = (Arc::new(Due::new()), Done::default());
        let [door, ready] = [ARRIVING, 0].map(|places| Arc::new(tokio::sync::Semaphore::new(places)));
        let people = tokens.len();
        for (place, token) in (0..).zip(tokens) {
            let (due, done, door, ready) = (due.clone(), done.clone(), door.clone(), ready.clone());
            tokio::spawn(async move {
                let mut person = Person::new(6.0, 20.0, Duration::ZERO, place);
                let mut part = Part::default();
                let arrived = {
                    let _inside = door.acquire().await;
                    let arriving = arrive(address, &token, &mut person, &mut part);
                    tokio::time::timeout(NEVER, arriving).await.unwrap_or_else(|_| Err(never()))
                };
                // Whoever did not get as far is not waited for, and counts as an error.
                ready.add_permits(1);
                let went = match arrived {
                    Ok(client) => {
                        answer_when_due(client, address, &token, &mut person, &mut part, &due, &done).await
                    }
                    Err(error) => Err(error),
                };
                if let Err(error) = went {
                    told(&done, Err(error));
                }
            });
        }
        let _all = ready.acquire_many(people as u32).await.map_err(io::Error::other)?;
        let mut loads = vec![];
        for rate in rates {
            let (begun, mut sent) = (tokio::time::Instant::now(), 0_u64);
            let mut tick = tokio::time::interval(TICK);
            while begun.elapsed() < each {
                tick.tick().await;
                let wanted = (begun.elapsed().as_secs_f64() * rate) as u64;
                for n in sent..wanted {
                    due.add(begun + Duration::from_secs_f64(n as f64 / rate));
                }
                sent = wanted;
            }
            let all = std::mem::take(&mut *done.lock().unwrap_or_else(PoisonError::into_inner));
            let mut load =
                Load { waits: vec![], sent: vec![], counted: begun.elapsed(), errors: vec![], finished: 0 };
            for one in all {
                match one {
                    Ok(wait) => load.waits.push(wait),
                    Err(error) => load.errors.push(error.to_string()),
                }
            }
            load.waits.sort_unstable();
            loads.push(load);
            // What was due and not sent by now is given up; the next rate begins with an empty queue.
            due.give_up();
            tokio::time::sleep(Duration::from_secs(1)).await;
            // Answers that came too late to count; what went wrong counts whenever it did.
            done.lock().unwrap_or_else(PoisonError::into_inner).retain(Result::is_err);
        }
        let late = std::mem::take(&mut *done.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(last) = loads.last_mut() {
            last.errors.extend(late.into_iter().filter_map(|one| Some(one.err()?.to_string())));
        }
        Ok(loads)
    })
}

fn never() -> io::Error {
    io::Error::other(format!("no reply within {} s", NEVER.as_secs()))
}

/// From the link to the first comparison.
async fn arrive(
    address: SocketAddr,
    token: &str,
    person: &mut Person,
    part: &mut Part,
) -> io::Result<Client> {
    let mut client = start(address, token, 1, part).await?;
    while action(&part.page).as_deref() != Some("/answer") {
        if let Step::End = step(&mut client, person, part).await? {
            return Err(io::Error::other("there is nothing to answer"));
        }
    }
    Ok(client)
}

/// Answers whenever an answer is due, and says what became of each. Whoever is asked to come again does, as the pages' script
/// does: with the same answer, after a moment.
async fn answer_when_due(
    mut client: Client,
    address: SocketAddr,
    token: &str,
    person: &mut Person,
    part: &mut Part,
    due: &Due,
    done: &Done,
) -> io::Result<()> {
    loop {
        if action(&part.page).as_deref() != Some("/answer") {
            return Err(io::Error::other("somebody was through before the end"));
        }
        let at = due.next().await?;
        let page = part.page.clone();
        let answering = tokio::time::timeout(NEVER, step(&mut client, person, part));
        match answering.await.unwrap_or_else(|_| Err(never())) {
            Ok(_) => told(done, Ok(at.elapsed())),
            Err(error) => {
                let again = asks_to_come_again(&error.to_string());
                told(done, Err(error));
                tokio::time::sleep(AGAIN).await;
                if again {
                    part.page = page;
                } else {
                    client = arrive(address, token, person, part).await?;
                }
            }
        }
    }
}

/// Whether somebody was turned away for the moment, rather than that something went wrong.
pub fn asks_to_come_again(error: &str) -> bool {
    error.ends_with(" 503 Service Unavailable") || error.ends_with(" 429 Too Many Requests")
}

/// Opens the link and the first page.
async fn start(address: SocketAddr, token: &str, tries: usize, part: &mut Part) -> io::Result<Client> {
    enter(address, &format!("/s/{token}"), tries, part).await
}

async fn enter(address: SocketAddr, path: &str, tries: usize, part: &mut Part) -> io::Result<Client> {
    let mut client = Client::patient(address, tries).await?;
    client.get(path).await?;
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
            choice = match numbers(&page) {
                Some((mistakes, people)) => person.choose(mistakes, people),
                None => person.guess(),
            };
            fields.extend([("query", query.as_str()), ("choice", choice), ("response_ms", "2000")]);
        }
        _ => {}
    }
    let sent = Instant::now();
    let reply = client.post(&action, &fields).await?;
    if action == "/answer" {
        part.waits.push(sent.elapsed());
        part.sent.push(sent);
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
