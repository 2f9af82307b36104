//! A bad network, a full disk and many devices at once: everybody finishes, nothing is lost, nothing is there twice
//!

use equipoise_cohort::{Client, Part, Person, take_part};
use equipoise_log::testing::Faulty;
use equipoise_log::{MemoryStore, SqliteStore, Store, Writer, rows};
use equipoise_server::participant::{Participants, Settings, app};
use equipoise_study::event::Event;
use equipoise_study::seams::{SystemClock, TestRandom};
use equipoise_study::{Design, Service, Study, template};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// How many people, and how long nothing gets through in the middle of it, in milliseconds. What is promised is a thousand and
/// a minute: `EQUIPOISE_SESSIONS=1000 EQUIPOISE_OUTAGE_MS=60000`.
fn setting(name: &str, short: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(short)
}

/// A study that is short enough for many sessions.
fn service(store: impl Store + 'static) -> Arc<Service> {
    let mut study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
    (study.stop.cap, study.checks.evaluation) = (3, 6);
    let design = Arc::new(Design::new(study, Path::new("../equipoise-study/src/templates")).unwrap());
    Arc::new(Service::new(design, Writer::start(store), SystemClock, TestRandom::new(3)))
}

async fn serve(service: Arc<Service>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let state = Participants::new(service, Settings { origin: format!("http://{address}") });
    tokio::spawn(async { axum::serve(listener, app(state)).await });
    address
}

/// What the network did.
#[derive(Default)]
struct Mischief {
    dropped: AtomicUsize,
    reset: AtomicUsize,
    doubled: AtomicUsize,
    /// Nothing gets through for now.
    out: AtomicBool,
    cut: AtomicUsize,
}

/// A proxy in front of the server: of the requests one in five never arrives, one in twenty arrives and its reply does not,
/// one in fifty arrives twice, all are late by up to 20 ms and one in a hundred by up to a second; and for some time nothing
/// gets through at all.
async fn bad_network(server: SocketAddr, mischief: Arc<Mischief>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for connection in 0.. {
            let Ok((client, _)) = listener.accept().await else { return };
            let mischief = mischief.clone();
            tokio::spawn(async move {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(connection);
                let _ = relay(client, server, &mut random, &mischief).await;
            });
        }
    });
    address
}

/// One connection: a request is read whole, and something happens to it.
async fn relay(
    client: TcpStream,
    server: SocketAddr,
    random: &mut Xoshiro256PlusPlus,
    mischief: &Mischief,
) -> std::io::Result<()> {
    let upstream = TcpStream::connect(server).await?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let Some(request) = message(&client, &mut buffer).await? else { return Ok(()) };
        let late = if random.random_range(0..100) == 0 { 1_000 } else { 20 };
        tokio::time::sleep(Duration::from_millis(random.random_range(0..late))).await;
        if mischief.out.load(Ordering::Relaxed) {
            mischief.cut.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        let fate = random.random_range(0..100);
        if fate < 20 {
            mischief.dropped.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        if (25..27).contains(&fate) {
            mischief.doubled.fetch_add(1, Ordering::Relaxed);
            let other = TcpStream::connect(server).await?;
            write_all(&other, &request).await?;
            message(&other, &mut buffer).await?;
        }
        write_all(&upstream, &request).await?;
        let Some(reply) = message(&upstream, &mut buffer).await? else { return Ok(()) };
        if (20..25).contains(&fate) {
            // The server has committed; nobody hears of it.
            mischief.reset.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        write_all(&client, &reply).await?;
    }
}

async fn read(stream: &TcpStream, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        stream.readable().await?;
        match stream.try_read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            done => return done,
        }
    }
}

async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        stream.writable().await?;
        match stream.try_write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A whole message of HTTP/1.1 with a length, or one without a body.
async fn message(stream: &TcpStream, buffer: &mut [u8]) -> std::io::Result<Option<Vec<u8>>> {
    let mut message = vec![];
    loop {
        let count = read(stream, buffer).await?;
        if count == 0 {
            return Ok(None);
        }
        message.extend_from_slice(&buffer[..count]);
        let Some(end) = message.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&message[..end]).to_lowercase();
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        if message.len() >= end + 4 + length.unwrap_or(0) {
            return Ok(Some(message));
        }
    }
}

/// Answers by session, how often each question has one, and their receipts.
fn stored(service: &Service) -> BTreeMap<(String, u64), Vec<String>> {
    let mut answers: BTreeMap<(String, u64), Vec<String>> = BTreeMap::new();
    for row in service.writer().with(|store| rows(store)).unwrap() {
        if let Some(Event::Answered(answer)) = Event::in_row(&row).unwrap() {
            answers.entry((row.session.clone(), answer.asked)).or_default().push(row.receipt().to_string());
        }
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_network_loses_nothing() {
    let service = service(MemoryStore::new());
    let (server, mischief) = (serve(service.clone()).await, Arc::new(Mischief::default()));
    let address = bad_network(server, mischief.clone()).await;
    let [sessions, outage] = [setting("EQUIPOISE_SESSIONS", 40), setting("EQUIPOISE_OUTAGE_MS", 1_000)];
    let mut tasks = vec![];
    for (place, invitation) in service.invite(sessions).unwrap().into_iter().enumerate() {
        tasks.push(tokio::spawn(async move {
            // A try takes 20 ms at least: they go on for several times as long as nothing gets through.
            let mut person = Person::new(6.0, 20.0, Duration::ZERO, place as u64).trying(200 + outage / 4);
            let mut part = Part::default();
            let went = take_part(address, &invitation.token, &mut person, &mut part).await;
            (invitation.session, went, part)
        }));
    }
    // In the middle of it all.
    while mischief.dropped.load(Ordering::Relaxed) < 2 * sessions {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    mischief.out.store(true, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_millis(outage as u64)).await;
    mischief.out.store(false, Ordering::Relaxed);
    let back = std::time::Instant::now();
    let mut acknowledged = vec![];
    for task in tasks {
        let (session, went, part) = task.await.unwrap();
        went.unwrap_or_else(|error| panic!("{session} is stuck: {error}"));
        assert!(part.finished);
        acknowledged.extend(part.answers.into_iter().map(|a| ((session.clone(), a.query), a.receipt)));
    }
    let stored = stored(&service);
    assert!(stored.values().all(|receipts| receipts.len() == 1), "an answer is there twice");
    for (place, receipt) in &acknowledged {
        assert_eq!(stored.get(place).map(|receipts| &receipts[0]), Some(receipt), "{place:?} was lost");
    }
    service.writer().with(|store| equipoise_study::verify(store)).unwrap();
    let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    println!(
        "{sessions} of {sessions} sessions finish; {} requests dropped, {} replies lost, {} requests doubled, {} cut off in {outage} ms \
         without a network, after which all were done in {:.1?}; {} answers, 0 lost, 0 twice",
        of(&mischief.dropped),
        of(&mischief.reset),
        of(&mischief.doubled),
        of(&mischief.cut),
        back.elapsed(),
        acknowledged.len()
    );
    assert!(of(&mischief.cut) > sessions, "nobody noticed that there was no network");
    assert!(of(&mischief.dropped) > 50 && of(&mischief.reset) > 20 && of(&mischief.doubled) > 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_507_and_it_goes_on_when_there_is_room() {
    let directory = std::env::temp_dir().join(format!("equipoise-network-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let mut store = SqliteStore::open(directory.join("log.sqlite")).unwrap();
    let room = Arc::new(AtomicUsize::new(0));
    store.limit(40).unwrap();
    let service = service(Faulty::new(store, {
        // A disk that grows when somebody makes room.
        let room = room.clone();
        move |store: &mut SqliteStore| {
            let room = room.swap(0, Ordering::SeqCst);
            if room > 0 {
                store.limit(room as u32).unwrap();
            }
            None
        }
    }));
    let address = serve(service.clone()).await;
    let tokens: Vec<String> =
        service.invite(12).unwrap().into_iter().map(|invitation| invitation.token).collect();
    let mut full = 0;
    for (place, token) in tokens.iter().enumerate() {
        let mut person = Person::new(6.0, 20.0, Duration::ZERO, place as u64);
        let mut part = Part::default();
        let went = take_part(address, token, &mut person, &mut part).await;
        full += usize::from(went.is_err_and(|error| error.to_string().contains("507")));
    }
    assert!(full > 0, "160 kB hold everything");
    // Whoever watches the server is told.
    let mut client = Client::connect(address).await.unwrap();
    assert_eq!(client.get("/health").await.unwrap().status.as_u16(), 503);
    service.writer().with(|store| equipoise_study::verify(store)).unwrap();
    // Room again: everybody goes on where they were, without a restart.
    room.store(20_000, Ordering::SeqCst);
    for (place, token) in tokens.iter().enumerate() {
        let mut person = Person::new(6.0, 20.0, Duration::ZERO, place as u64);
        take_part(address, token, &mut person, &mut Part::default()).await.unwrap();
    }
    assert!(stored(&service).values().all(|receipts| receipts.len() == 1));
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    assert!(client.get("/health").await.unwrap().status.is_success(), "and that there is room again");
    println!("{full} people met a full disk, all finished once there was room");
    std::fs::remove_dir_all(directory).unwrap();
}
