//! Somebody who holds a link and wants to hurt the others, for measurements: what that costs them.

use crate::Client;
use crate::reading::between;
use crate::turns::Turns;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Connections they have open at once.
const CONNECTIONS: usize = 8;
/// How long they wait for their turn.
const WAITING: Duration = Duration::from_millis(50);
/// As much as a form may hold, nearly.
const LONG: usize = 60_000;

/// What somebody hostile has sent, and how much of it was refused.
#[derive(Debug)]
pub struct Attack {
    /// When they are at it.
    pub turns: Turns,
    /// Requests.
    pub sent: AtomicUsize,
    /// Of them, how many came to nothing.
    pub refused: AtomicUsize,
}

/// Lets the holder of a link send whatever costs most, over some connections and without a pause, by turns, until the process ends;
/// runs on a thread of its own.
pub fn attack(address: SocketAddr, token: String) -> io::Result<Arc<Attack>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let attack = Arc::new(Attack { turns: Turns::begin(), sent: 0.into(), refused: 0.into() });
    let shared = attack.clone();
    std::thread::spawn(move || {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..CONNECTIONS)
                .map(|_| {
                    let (token, attack) = (token.clone(), shared.clone());
                    tokio::spawn(async move {
                        // Whoever is cut off comes again.
                        loop {
                            let _ = hurt(address, &token, &attack).await;
                            tokio::time::sleep(WAITING).await;
                        }
                    })
                })
                .collect();
            for task in tasks {
                let _ = task.await;
            }
        });
    });
    Ok(attack)
}

async fn hurt(address: SocketAddr, token: &str, attack: &Attack) -> io::Result<()> {
    let mut client = Client::connect(address).await?;
    client.get(&format!("/s/{token}")).await?;
    let page = client.get("/").await?.body;
    let csrf = between(&page, "name=\"csrf\" value=\"", "\"").unwrap_or_default().to_owned();
    let long = "x".repeat(LONG);
    let forms = [
        ("/language", vec![("csrf", csrf.as_str()), ("key", "k"), ("language", "en")]),
        ("/note", vec![("csrf", &csrf), ("what", "rates"), ("value", "true"), ("more", &long)]),
        ("/lease", vec![("csrf", &csrf)]),
        ("/consent", vec![("csrf", &csrf), ("agree", "yes"), ("decision", "agree"), ("text", &long)]),
    ];
    for (path, fields) in forms.iter().cycle() {
        while !attack.turns.on(Instant::now()) {
            tokio::time::sleep(WAITING).await;
        }
        attack.sent.fetch_add(1, Ordering::Relaxed);
        let reply = client.post(path, fields).await?;
        if !reply.status.is_success() {
            attack.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}
