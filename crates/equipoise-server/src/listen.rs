//! Taking connections: not too many, none that is slow for ever, and all of them ended soon after the server is told to.

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower::Service as _;

/// How many connections there may be, and how slow.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// At once; whoever comes then waits. Below the 1,024 files a process may usually have open.
    pub connections: usize,
    /// At once from one address: a class behind one router, and still not all of them. This machine, where a proxy may
    /// be, has no such limit.
    pub of_one_address: usize,
    /// The head of a request is there within this time, and a connection idle for longer is closed.
    pub headers: Duration,
    /// No connection is kept for longer; browsers open another.
    pub longest: Duration,
    /// What has begun when the server stops has this time to end.
    pub deadline: Duration,
    /// Whoever is told that it is too much hears it this late: a connection of theirs then costs the others next to nothing.
    pub too_many: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 900,
            of_one_address: 600,
            headers: Duration::from_secs(60),
            longest: Duration::from_secs(3600),
            deadline: Duration::from_secs(10),
            too_many: Duration::from_secs(1),
        }
    }
}

/// Answers requests until `stop` says so, and a little longer where something has begun.
pub async fn serve(listener: TcpListener, app: Router, limits: Limits, mut stop: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let seats = Arc::new(Seats::default());
    let mut open = JoinSet::new();
    let mut stopped = stop.clone();
    let accept = async {
        loop {
            let Ok(place) = places.clone().acquire_owned().await else { return };
            let Ok((stream, peer)) = listener.accept().await else {
                // Out of files, most likely: some will be closed.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            while open.try_join_next().is_some() {}
            // Whoever has too many is closed at once, so that others come in.
            let Some(seat) = Seat::take(&seats, peer.ip(), limits.of_one_address) else { continue };
            let (app, stop) = (app.clone(), stop.clone());
            open.spawn(async move {
                let _held = (place, seat);
                connection(stream, peer, app, limits, stop).await;
            });
        }
    };
    tokio::select! {
        () = accept => {}
        _ = stopped.wait_for(|stop| *stop) => {}
    }
    let _ = stop.wait_for(|stop| *stop).await;
    drop(listener);
    let _ = tokio::time::timeout(limits.deadline, async { while open.join_next().await.is_some() {} }).await;
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let reply = app.clone().call(request.map(Body::new));
        async move {
            let reply = reply.await;
            if reply.as_ref().is_ok_and(|reply| reply.status() == StatusCode::TOO_MANY_REQUESTS) {
                tokio::time::sleep(limits.too_many).await;
            }
            reply
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.headers);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), answer));
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stop.wait_for(|stop| *stop) => {}
        () = tokio::time::sleep(limits.longest) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(limits.deadline, connection).await;
}

/// How many connections each address has.
#[derive(Debug, Default)]
struct Seats(Mutex<HashMap<IpAddr, usize>>);

impl Seats {
    fn all(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection of an address, until it is dropped.
struct Seat(Arc<Seats>, IpAddr);

impl Seat {
    fn take(seats: &Arc<Seats>, address: IpAddr, most: usize) -> Option<Self> {
        let mut all = seats.all();
        let taken = all.entry(address).or_insert(0);
        if *taken >= most && !address.is_loopback() {
            return None;
        }
        *taken += 1;
        Some(Self(seats.clone(), address))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut all = self.0.all();
        if let Some(taken) = all.get_mut(&self.1) {
            *taken -= 1;
            if *taken == 0 {
                all.remove(&self.1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::time::Instant;

    fn slow() -> Limits {
        Limits {
            connections: 20,
            of_one_address: 3,
            headers: Duration::from_millis(300),
            longest: Duration::from_secs(60),
            deadline: Duration::from_millis(500),
            too_many: Duration::from_millis(400),
        }
    }

    /// A server in a thread of its own: where it is, how to stop it, and what ends with it.
    fn started(limits: Limits) -> (SocketAddr, watch::Sender<bool>, std::thread::JoinHandle<()>) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, told) = watch::channel(false);
        let app = Router::new()
            .route("/", axum::routing::get(|| async { "here" }))
            .route("/often", axum::routing::get(|| async { StatusCode::TOO_MANY_REQUESTS }))
            .route("/form", axum::routing::post(|body: String| async move { body }));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                serve(TcpListener::from_std(listener).unwrap(), app, limits, told).await;
            });
        });
        (address, stop, thread)
    }

    fn sent(address: SocketAddr, text: &str) -> std::net::TcpStream {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    #[test]
    fn slow_heads_are_closed_and_others_come_in_meanwhile() {
        let (address, _stop, _) = started(slow());
        // As many as there may be: half a head each, and no more.
        let mut halves: Vec<_> = (0..20).map(|_| sent(address, "GET / HTTP/1.1\r\nHost:")).collect();
        let begun = Instant::now();
        let mut reply = String::new();
        sent(address, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            .read_to_string(&mut reply)
            .unwrap();
        assert!(reply.ends_with("here"), "{reply}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        for half in &mut halves {
            let mut rest = vec![];
            half.read_to_end(&mut rest).expect("closed within the time for a head");
        }
    }

    #[test]
    fn whoever_asks_too_often_waits_and_nobody_else_does() {
        let (address, _stop, _) = started(slow());
        let took = |path: &str| {
            let (begun, mut reply) = (Instant::now(), String::new());
            sent(address, &format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"))
                .read_to_string(&mut reply)
                .unwrap();
            (begun.elapsed(), reply)
        };
        let often = std::thread::scope(|scope| {
            let often = scope.spawn(|| took("/often"));
            let (wait, reply) = took("/");
            assert!(reply.ends_with("here") && wait < slow().too_many / 2, "{wait:?} {reply}");
            often.join().unwrap()
        });
        assert!(often.1.contains(" 429 ") && often.0 >= slow().too_many, "{often:?}");
    }

    #[test]
    fn a_request_that_never_ends_does_not_keep_the_server_from_ending() {
        let (address, stop, thread) = started(slow());
        let _half = sent(address, "POST /form HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf");
        std::thread::sleep(Duration::from_millis(100));
        let begun = Instant::now();
        stop.send(true).unwrap();
        thread.join().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    }

    #[test]
    fn one_address_does_not_take_all_places() {
        let seats = Arc::new(Seats::default());
        let outside: IpAddr = [192, 0, 2, 1].into();
        let mut held: Vec<Seat> = (0..3).filter_map(|_| Seat::take(&seats, outside, 3)).collect();
        assert!(Seat::take(&seats, outside, 3).is_none());
        assert!(Seat::take(&seats, [192, 0, 2, 2].into(), 3).is_some());
        held.pop();
        assert!(Seat::take(&seats, outside, 3).is_some());
        drop(held);
        assert!(seats.all().is_empty());
        let proxy: Vec<_> = (0..9).map(|_| Seat::take(&seats, [127, 0, 0, 1].into(), 3)).collect();
        assert!(proxy.iter().all(Option::is_some), "people behind a proxy on this machine share its address");
    }
}
