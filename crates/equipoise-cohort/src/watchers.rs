//! Simulated researchers who watch, for measurements: what it costs participants.

use crate::Client;
use crate::reading::between;
use crate::turns::Turns;
use equipoise_server::researcher::COOKIE;
use equipoise_server::researcher::accounts::{Accounts, Error, Role};
use hyper::StatusCode;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// As often as the script of the page asks.
const EVERY: Duration = Duration::from_secs(1);

/// Makes an account for them and signs it in: what their cookie says.
pub fn admit(accounts: &Accounts, now: i64) -> Result<String, Error> {
    accounts.add("watcher", Role::Owner, "somebody who only looks", now)?;
    accounts.begin("watcher", now)
}

/// How often watchers looked, and how many gave up.
#[derive(Debug)]
pub struct Watched {
    /// When they look.
    pub turns: Turns,
    /// Requests that were answered.
    pub looks: AtomicUsize,
    /// Watchers that were refused or cut off.
    pub failed: AtomicUsize,
}

/// Lets so many look at the live page, by turns, until the process ends; runs on a thread of its own.
pub fn watch(address: SocketAddr, token: &str, count: usize) -> io::Result<Arc<Watched>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let watched = Arc::new(Watched { turns: Turns::begin(), looks: 0.into(), failed: 0.into() });
    let (shared, token) = (watched.clone(), token.to_owned());
    std::thread::spawn(move || {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..count)
                .map(|place| {
                    let (token, watched) = (token.clone(), shared.clone());
                    tokio::spawn(async move {
                        // Not all in the same moment.
                        tokio::time::sleep(EVERY.mul_f64(place as f64 / count as f64)).await;
                        if look(address, &token, &watched).await.is_err() {
                            watched.failed.fetch_add(1, Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            for task in tasks {
                let _ = task.await;
            }
        });
    });
    Ok(watched)
}

/// Asks what is new, as the page does.
async fn look(address: SocketAddr, token: &str, watched: &Watched) -> io::Result<()> {
    let mut client = Client::with_cookie(address, format!("{COOKIE}={token}")).await?;
    let mut seen = 0;
    loop {
        if !watched.turns.on(Instant::now()) {
            tokio::time::sleep(EVERY).await;
            continue;
        }
        let response = client.get(&format!("/?seen={seen}")).await?;
        match response.status {
            StatusCode::OK => seen = rows(&response.body).unwrap_or(seen),
            StatusCode::NO_CONTENT => {}
            other => return Err(io::Error::other(format!("the live page was answered with {other}"))),
        }
        watched.looks.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(EVERY).await;
    }
}

fn rows(page: &str) -> Option<u64> {
    between(page, "data-seen=\"", "\"")?.parse().ok()
}
