//! Listening, and stopping in good order.

use crate::health::Health;
use crate::listen::{self, Limits};
use crate::open::{self, TablePages, Work};
use crate::participant::{self, Participants, Settings};
use crate::preview::Previews;
use crate::researcher::accounts::Accounts;
use crate::researcher::draft::{Draft, Remake, Renew};
use crate::researcher::{self, Researchers};
use axum::Router;
use axum::extract::Request;
use equipoise_study::Service;
use equipoise_study::directory::Directory;
use equipoise_study::numbers::when;
use equipoise_study::retention::Due;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::watch;
use tower::Service as _;

/// Threads for requests. What waits for the disk or computes has threads of its own.
const THREADS: usize = 2;
/// Threads that may wait for the disk or compute at the same time. More would only take the processors from each other.
const WORKERS: usize = 64;

/// Threads of researchers' pages. They yield to those of participants by so much, as `nice` counts.
const RESEARCHERS: usize = 1;
const YIELDING: i32 = 10;

/// What is past its time is deleted this often.
const HOUR: Duration = Duration::from_secs(3600);
/// What is not quite erased is tried again this often.
const MINUTE: Duration = Duration::from_secs(60);
/// Whether answers are saved is looked at this often.
const SECOND: Duration = Duration::from_secs(1);
/// What still computes at the end has this long.
const LAST: Duration = Duration::from_secs(2);

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
    /// The files of a study that is not locked yet, and how a service is made of them when they have changed.
    pub draft: Option<(Directory, Remake)>,
}

/// A router that may be replaced while it is served.
#[derive(Clone, Default)]
struct Current(Arc<RwLock<Router>>);

impl Current {
    fn replace(&self, router: Router) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = router;
    }

    /// Answers with the router of the moment.
    fn router(&self) -> Router {
        let current = self.clone();
        Router::new().fallback(move |request: Request| {
            let mut router = current.0.read().unwrap_or_else(PoisonError::into_inner).clone();
            async move { router.call(request).await }
        })
    }
}

/// Both sides of a study. Those of a draft are made anew whenever its files have changed.
struct Sides {
    origin: String,
    /// Who may sign in, and how they reach it; nothing where researchers' pages are closed.
    desk: Option<(Arc<Accounts>, researcher::Settings)>,
    draft: Option<(Directory, Remake)>,
    participants: Current,
    researchers: Current,
    /// Where deleting goes on, whoever's request began it.
    lasting: Handle,
}

impl Sides {
    /// Serves a study from now on.
    fn serve(self: &Arc<Self>, service: Service, locked: bool) -> equipoise_study::Result<Participants> {
        // Nobody waits for what is imagined of them.
        let service = Arc::new(service.forecasting_meanwhile());
        let previews = Arc::new(Previews::new(service.design().clone()));
        let mut health = Arc::new(Health::new(None));
        if let Some((accounts, settings)) = &self.desk {
            // How long it takes people is for the researchers' pages, which may be looked at in a while.
            let design = service.design().clone();
            std::thread::spawn(move || design.length().minutes);
            let mut state = Researchers::new(service.clone(), accounts.clone(), settings.clone())?
                .with_previews(previews.clone());
            if let (false, Some((files, remake))) = (locked, &self.draft) {
                // They end with the server, not with each other.
                let sides = Arc::downgrade(self);
                let renew: Renew = Box::new(move |service, locked| match sides.upgrade() {
                    Some(sides) => sides.serve(service, locked).map(drop),
                    None => Ok(()),
                });
                state = state.with_draft(Draft::new(files.clone(), remake.clone(), renew));
            }
            health = state.health();
            self.researchers.replace(researcher::app(state));
        }
        if locked {
            self.lasting.spawn(retain(service.clone()));
            self.lasting.spawn(settle(service.clone()));
            self.lasting.spawn(tell(service.clone(), health.clone()));
        }
        let settings = Settings { origin: self.origin.clone() };
        let mut state = Participants::new(service, settings).with_previews(previews).with_health(health);
        if !locked {
            state = state.not_begun();
        }
        self.participants.replace(participant::app(state.clone()));
        Ok(state)
    }
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
    crate::guard::tell_panics_by_their_place();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(WORKERS)
        .enable_all()
        .build()?;
    let aside = researching.as_ref().map(|_| yielding()).transpose()?;
    let served = runtime.block_on(async {
        let (listener, address, origin) = options.bind().await?;
        let (mut second, mut desk, mut draft) = (None, None, None);
        if let (Some(Researching { options, accounts, log, draft: files }), Some(aside)) =
            (researching, &aside)
        {
            // What a listener accepts is woken where it was bound.
            let bound = aside.spawn(async move { options.bind().await });
            let (listener, address, own) = bound.await.map_err(io::Error::other)??;
            let settings = researcher::Settings { origin: own.clone(), participants: origin.clone(), log };
            (second, draft) = (Some((listener, own, address)), files);
            desk = Some((Arc::new(accounts), settings));
        }
        let locked = draft.is_none();
        let sides = Arc::new(Sides {
            origin,
            desk,
            draft,
            participants: Current::default(),
            researchers: Current::default(),
            lasting: Handle::current(),
        });
        let state = sides.serve(service, locked).map_err(io::Error::other)?;
        let researchers = second.as_ref().map(|(_, origin, address)| (origin.clone(), *address));
        ready(&Serving { participants: &state, address, researchers })?;
        drop(state);
        let (tell, told) = watch::channel(false);
        tokio::spawn(async move {
            stop().await;
            let _ = tell.send(true);
        });
        let limits = Limits::default();
        let first = listen::serve(listener, sides.participants.router(), limits, told.clone());
        match (second, &aside) {
            (Some((listener, ..)), Some(aside)) => {
                let second = aside.spawn(listen::serve(listener, sides.researchers.router(), limits, told));
                let _ = tokio::join!(first, second);
            }
            _ => first.await,
        }
        Ok(())
    });
    // What computes for somebody who has gone is not waited for; what was acknowledged is on the disk.
    if let Some(aside) = aside {
        aside.shutdown_timeout(LAST);
    }
    runtime.shutdown_timeout(LAST);
    served
}

/// Threads for researchers' pages, which the system lets run when participants' have nothing to do: watching a study draws,
/// packs and reckons in bursts of which a participant would notice every one.
fn yielding() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(RESEARCHERS)
        .max_blocking_threads(WORKERS)
        .enable_all()
        .on_thread_start(|| {
            // Of one thread on Linux only; elsewhere it would be the whole program's.
            #[cfg(target_os = "linux")]
            let _ = rustix::process::nice(YIELDING);
        })
        .build()
}

/// Serves the pages of a table on this computer until asked to stop; `ready` is told the link that opens them.
pub fn table(
    port: u16,
    work: impl Work + 'static,
    ready: impl FnOnce(&str) -> io::Result<()>,
) -> io::Result<()> {
    crate::guard::tell_panics_by_their_place();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let served = runtime.block_on(async {
        let options = Options { listen: ([127, 0, 0, 1], port).into(), origin: None };
        let (listener, address, origin) = options.bind().await?;
        let state = TablePages::new(work, origin, address.port())?;
        ready(&state.link())?;
        let (tell, told) = watch::channel(false);
        tokio::spawn(async move {
            stop().await;
            let _ = tell.send(true);
        });
        let limits = Limits { deadline: LAST, ..Limits::default() };
        listen::serve(listener, open::app(state), limits, told).await;
        Ok(())
    });
    runtime.shutdown_timeout(LAST);
    served
}

/// Finishes withdrawals and deletes what is past its time, now and every hour, and says so.
///
/// The time goes on from when the server was started, as its own clock counts: a machine whose clock is set wrong
/// meanwhile deletes nothing early.
async fn retain(service: Arc<Service>) {
    let (started, begun) = (service.now(), Instant::now());
    let mut doubted = false;
    loop {
        let service = service.clone();
        let now = started.saturating_add(i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX));
        let work = move || {
            // Of several servers one does it; if that one ends, another does it the next time.
            if !service.leads()? {
                return Ok(Due::default());
            }
            service.finish_withdrawals()?;
            service.retain(now, "server", false)
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(Due { doubt: Some(sure), .. })) if !doubted => {
                doubted = true;
                eprintln!(
                    "warning: the clock says {}, the log has seen nothing after {}: nothing is deleted by itself; if the \
                     clock is right, say so with: equipoise study retain DIR --yes",
                    when(now),
                    when(sure)
                );
            }
            Ok(Ok(due)) if due.doubt.is_none() && due.is_any() => eprintln!(
                "equipoise: deleted what was past its time: the contact data of {} participants, all of {} participants",
                due.contacts.len(),
                due.people.len()
            ),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => eprintln!("warning: what is past its time could not be deleted: {error}"),
            Err(_) => eprintln!("warning: what is past its time could not be deleted"),
        }
        tokio::time::sleep(HOUR).await;
    }
}

/// Says when nothing can be saved, and when that is over. As long as all goes well nothing is tried for that.
async fn tell(service: Arc<Service>, health: Arc<Health>) {
    loop {
        if health.is_in_doubt(&service) {
            let (service, health) = (service.clone(), health.clone());
            // It says so itself, whoever asks.
            let _ = tokio::task::spawn_blocking(move || health.now(&service)).await;
        }
        tokio::time::sleep(SECOND).await;
    }
}

/// Ends erasures that somebody who read the log was in the way of: at the start those of before, then every minute.
async fn settle(service: Arc<Service>) {
    let mut begun = false;
    loop {
        let unsettled = service.writer().clone();
        let unsettled = move || unsettled.with(|store| Ok::<_, equipoise_log::Error>(store.is_unsettled()));
        let unsettled = matches!(tokio::task::spawn_blocking(unsettled).await, Ok(Ok(true)));
        if !begun || unsettled || !service.is_settled() {
            let service = service.clone();
            // What cannot be done now is tried again, also if it was a command that began it.
            begun |= matches!(tokio::task::spawn_blocking(move || service.settle()).await, Ok(Ok(())));
        }
        tokio::time::sleep(MINUTE).await;
    }
}

/// Lets a thread wait for Ctrl-C, for whoever has something to say before the program ends. It is heard from here on, however late the
/// thread begins.
pub fn at_interrupt(say: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut pressed = Box::pin(tokio::signal::ctrl_c());
    // Asked once, it takes the signal from the system.
    let first = std::future::poll_fn(|context| Poll::Ready(pressed.as_mut().poll(context)));
    if let Poll::Ready(failed) = runtime.block_on(first) {
        return failed;
    }
    std::thread::spawn(move || {
        if runtime.block_on(pressed).is_ok() {
            say();
        }
    });
    Ok(())
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
