//! A study that many have taken already, for measurements of what is done with a long log: few take it, the others do as they
//! did. Their answers are real ones; that several people gave the same ones changes nothing about what it costs to read them.

use crate::Client;
use crate::rehearsal::{Who, events};
use equipoise_log::{Appended, Entry, Group, transact};
use equipoise_server::researcher::COOKIE;
use equipoise_study::event::Event;
use equipoise_study::seams::{Random as _, SystemRandom};
use equipoise_study::{Error, Result, Service};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// So many take the study themselves.
const MODELS: usize = 24;
/// So many are written in one transaction.
const TOGETHER: usize = 200;
/// Between two events of somebody, in milliseconds.
const PAUSE_MS: i64 = 12_000;

/// Makes places, and writes all that their holders ever did. Their tokens.
pub fn crowd(service: &Service, people: usize, seed: u64) -> Result<Vec<String>> {
    let models: Vec<Vec<Event>> = (0..MODELS.min(people) as u64)
        .map(|n| events(service.design(), Who::Anybody, seed.wrapping_add(n)))
        .collect::<Result<_>>()?;
    let invitations = service.invite(people)?;
    let from = service.now();
    for (block, some) in invitations.chunks(TOGETHER).enumerate() {
        let mut groups = vec![];
        for (n, invitation) in some.iter().enumerate() {
            let model = &models[(block * TOGETHER + n) % models.len()];
            let mut entries = vec![];
            for (step, event) in (1_i64..).zip(model) {
                let mut salt = [0; 32];
                SystemRandom.fill(&mut salt)?;
                let key = format!("crowd-{step}");
                entries.push(Entry { key, at: from + step * PAUSE_MS, salt, body: event.body() });
            }
            groups.push(Group { session: invitation.session.clone(), after: Some(1), entries });
        }
        service.writer().with(move |store| {
            transact(store, |log| {
                groups.iter().try_for_each(|group| match log.append(group)? {
                    Appended::New(_) => Ok(()),
                    Appended::Known(_) => Err(Error::storage("somebody of a crowd was there already")),
                })
            })
        })?;
    }
    Ok(invitations.into_iter().map(|invitation| invitation.token).collect())
}

/// Everybody opens their link and looks at the page they are at, some at the same time. How many were shown one.
pub fn visit(address: SocketAddr, tokens: &[String], at_once: usize) -> io::Result<usize> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let share = tokens.len().div_ceil(at_once.max(1)).max(1);
        let tasks: Vec<_> = tokens
            .chunks(share)
            .map(|some| {
                let some = some.to_vec();
                tokio::spawn(async move {
                    let mut shown = 0;
                    for token in some {
                        // Each on a device of their own.
                        let mut client = Client::patient(address, 5).await?;
                        client.get(&format!("/s/{token}")).await?;
                        shown += usize::from(client.get("/").await?.status.is_success());
                    }
                    io::Result::Ok(shown)
                })
            })
            .collect();
        let mut shown = 0;
        for task in tasks {
            shown += task.await.map_err(io::Error::other)??;
        }
        Ok(shown)
    })
}

/// A researchers' page, asked for again as long as it is being made. How long that took, and its text.
pub fn page(
    address: SocketAddr,
    token: &str,
    path: &str,
    patience: Duration,
) -> io::Result<(Duration, String)> {
    const AGAIN: Duration = Duration::from_millis(250);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let begun = Instant::now();
        loop {
            let mut client = Client::with_cookie(address, format!("{COOKIE}={token}")).await?;
            let reply = client.get(path).await?;
            match reply.status.as_u16() {
                200 => return Ok((begun.elapsed(), reply.body)),
                202 | 503 if begun.elapsed() < patience => tokio::time::sleep(AGAIN).await,
                other => return Err(io::Error::other(format!("{path} was answered with {other}"))),
            }
        }
    })
}
