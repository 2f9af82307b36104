//! Listening, and stopping in good order.

use crate::participant::{self, Participants, Settings};
use equipoise_study::Desk;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Threads for requests. What waits for the disk or computes has threads of its own.
const THREADS: usize = 2;
/// Threads that may wait for the disk or compute at the same time. More would only take the processors from each other.
const WORKERS: usize = 64;

/// Where to listen, and under which name.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address to listen on; port 0 takes any free one.
    pub listen: SocketAddr,
    /// Scheme, host and port people type, if a proxy stands before us.
    pub origin: Option<String>,
}

/// Serves a study's participants until asked to stop: by Ctrl-C, or as services are stopped.
///
/// `ready` is called when requests are taken, with the way links are made and the address. What has begun when the
/// stop comes is finished.
pub fn participants(
    desk: Desk,
    options: &Options,
    ready: impl FnOnce(&Participants, SocketAddr) -> io::Result<()>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(WORKERS)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let origin = options.origin.clone().unwrap_or_else(|| format!("http://{address}"));
        let state = Participants::new(Arc::new(desk), Settings { origin });
        ready(&state, address)?;
        axum::serve(listener, participant::app(state)).with_graceful_shutdown(stop()).await
    })
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
