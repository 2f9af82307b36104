//! Listening, and stopping in good order.

use crate::participant::{self, Participants, Settings};
use crate::researcher::accounts::Accounts;
use crate::researcher::{self, Researchers};
use equipoise_study::Service;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// Threads for requests. What waits for the disk or computes has threads of its own.
const THREADS: usize = 2;
/// Threads that may wait for the disk or compute at the same time. More would only take the processors from each other.
const WORKERS: usize = 64;

/// What is past its time is deleted this often.
const HOUR: Duration = Duration::from_secs(3600);

/// Where to listen, and under which name.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address to listen on; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Scheme, host and port people type, if a proxy stands before us.
    pub origin: Option<String>,
}

impl Options {
    async fn bind(&self) -> io::Result<(TcpListener, SocketAddr, String)> {
        let wrong = |e: io::Error| io::Error::new(e.kind(), format!("cannot listen on {}: {e}", self.listen));
        let listener = TcpListener::bind(self.listen).await.map_err(wrong)?;
        let address = listener.local_addr()?;
        Ok((listener, address, self.origin.clone().unwrap_or_else(|| format!("http://{address}"))))
    }
}

/// The researchers' side.
#[derive(Debug)]
pub struct Researching {
    /// Where to listen: a port of its own.
    pub options: Options,
    /// Who may sign in.
    pub accounts: Accounts,
    /// The file of the log.
    pub log: Option<PathBuf>,
}

/// What is served once requests are taken.
#[derive(Debug)]
pub struct Serving<'a> {
    /// Makes participants' links.
    pub participants: &'a Participants,
    /// Where participants come in.
    pub address: SocketAddr,
    /// What researchers type, and where that is.
    pub researchers: Option<(String, SocketAddr)>,
}

/// Serves a study until asked to stop: by Ctrl-C, or as services are stopped.
///
/// `ready` is called when requests are taken. What has begun when the stop comes is finished.
pub fn study(
    service: Service,
    options: &Options,
    researching: Option<Researching>,
    ready: impl FnOnce(&Serving<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(WORKERS)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (listener, address, origin) = options.bind().await?;
        let service = Arc::new(service);
        let mut second = None;
        if let Some(Researching { options, accounts, log }) = researching {
            let (listener, address, own) = options.bind().await?;
            let settings = researcher::Settings { origin: own.clone(), participants: origin.clone(), log };
            let state = Researchers::new(service.clone(), accounts, settings).map_err(io::Error::other)?;
            second = Some((listener, state, own, address));
        }
        if !service.design().study().retention.is_none() {
            tokio::spawn(retain(service.clone()));
        }
        let state = Participants::new(service, Settings { origin });
        let researchers = second.as_ref().map(|(_, _, origin, address)| (origin.clone(), *address));
        ready(&Serving { participants: &state, address, researchers })?;
        let first =
            async { axum::serve(listener, participant::app(state)).with_graceful_shutdown(stop()).await };
        let Some((listener, state, ..)) = second else { return first.await };
        let app = researcher::app(state).into_make_service_with_connect_info::<SocketAddr>();
        let second = async { axum::serve(listener, app).with_graceful_shutdown(stop()).await };
        tokio::try_join!(first, second).map(drop)
    })
}

/// Deletes what is past its time, now and every hour.
///
/// The time goes on from when the server was started, as its own clock counts: a machine whose clock is set wrong
/// meanwhile deletes nothing early.
async fn retain(service: Arc<Service>) {
    let (started, begun) = (service.now(), Instant::now());
    loop {
        let service = service.clone();
        let now = started.saturating_add(i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX));
        match tokio::task::spawn_blocking(move || {
            service.finish_withdrawals().and_then(|_| service.retain(now))
        })
        .await
        {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => eprintln!("warning: what is past its time could not be deleted: {error}"),
            Err(_) => eprintln!("warning: what is past its time could not be deleted"),
        }
        tokio::time::sleep(HOUR).await;
    }
}

async fn stop() {
    let interrupt = async { drop(tokio::signal::ctrl_c().await) };
    #[cfg(unix)]
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
