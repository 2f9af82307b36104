//! Promises about the log: nothing can be changed unseen, what is erased is gone, and the chain stays whole.

mod common;

use common::{Simulant, service, service_on, walk};
use equipoise_log::{
    Appended, Entry, Group, MemoryStore, Reader as _, Row, SqliteStore, TOMBSTONE, Writer, erased, rows,
    verify_receipt,
};
use equipoise_study::event::Event;
use equipoise_study::seams::{SystemClock, SystemRandom, TestRandom};
use equipoise_study::{Error, people, restore, verify};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::PathBuf;

/// A directory of its own for each test.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("equipoise-study-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn some_rows() -> Vec<Row> {
    let service = service("binary-cancer", 1);
    for (n, invitation) in service.invite(3).unwrap().into_iter().enumerate() {
        walk(&service, &invitation.session, &mut Simulant::new(4.0, 20.0, n as u64), 5);
    }
    service.lock().unwrap();
    service.writer().with(|store| rows(store)).unwrap()
}

#[test]
fn any_changed_removed_swapped_or_added_row_is_found() {
    let good = some_rows();
    let sound = MemoryStore::from_rows(good.clone());
    assert_eq!(verify(&sound).unwrap().rows, good.len() as u64);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let tries = 10_000;
    for n in 0..tries {
        let mut rows = good.clone();
        // The last row may be cut off unseen: that takes a receipt to find.
        let at = random.random_range(0..rows.len() - 1);
        match n % 10 {
            0 => drop(rows.remove(at)),
            1 => rows.swap(at, at + 1),
            2 => {
                let copy = rows[at].clone();
                rows.insert(at, copy);
            }
            3 => {
                rows[at].payload.as_mut().unwrap().salt[random.random_range(0..32)] ^=
                    1 << random.random_range(0..8)
            }
            4 => rows[at].payload.as_mut().unwrap().body.push(' '),
            5 => rows[at].commitment[random.random_range(0..32)] ^= 1,
            6 => rows[at].at += 1,
            7 => rows[at].hash[random.random_range(0..32)] ^= 1,
            8 => rows[at].payload = None,
            _ => rows[at].key.push('x'),
        }
        let found = verify(&MemoryStore::from_rows(rows));
        let Err(Error::Damaged(damage)) = found else { panic!("mutation {} at {at} went unseen", n % 10) };
        // Rows are counted from 1; a row that is missing, doubled or moved shows at its neighbour.
        let place = at as u64 + 1;
        assert!((place..=place + 1).contains(&damage.position), "mutation {} at {place}: {damage:?}", n % 10);
    }
}

#[test]
fn receipts_are_found_and_a_cut_tail_is_seen_against_them() {
    let good = some_rows();
    let receipts: Vec<String> = good.iter().map(|row| row.receipt().to_string()).collect();
    let store = MemoryStore::from_rows(good.clone());
    for receipt in &receipts {
        verify_receipt(&store, receipt).unwrap();
    }
    let cut = MemoryStore::from_rows(good[..good.len() - 3].to_vec());
    verify(&cut).unwrap();
    let wrong = verify_receipt(&cut, receipts.last().unwrap()).unwrap_err();
    assert!(wrong.to_string().contains("was cut"), "{wrong}");
    assert!(matches!(verify_receipt(&store, "12-zz"), Err(equipoise_log::Error::Missing(_))));
    assert!(matches!(verify_receipt(&store, "1-0000000000000000"), Err(equipoise_log::Error::Damaged(_))));
}

#[test]
fn what_is_erased_is_gone_from_the_files_and_the_chain_stays_whole() {
    let directory = directory("erase");
    let path = directory.join("log.sqlite");
    let service = service_on("binary-cancer", SqliteStore::open(&path).unwrap(), 8);
    let invitations = service.invite(4).unwrap();
    for (n, invitation) in invitations.iter().enumerate() {
        walk(&service, &invitation.session, &mut Simulant::new(4.0, 20.0, n as u64), 3);
        let canary = Event::LanguageChosen { language: "en".to_owned() };
        service.record(&invitation.session, common::DEVICE, &format!("k{n}"), &canary).unwrap();
    }
    // A text nobody else could have written, in the body of an event.
    let canary = "canary-6f1d2c";
    let session = invitations[1].session.clone();
    let place = session.clone();
    service
        .writer()
        .append(group(
            &place,
            "canary",
            format!("{{\"event\":\"language_chosen\",\"language\":\"{canary}\"}}"),
        ))
        .unwrap();
    let backup = directory.join("before.sqlite");
    SqliteStore::open_existing(&path).unwrap().backup(&backup).unwrap();
    let holds = || {
        let files = std::fs::read_dir(&directory).unwrap().flatten().map(|entry| entry.path());
        let logs = files.filter(|file| file.file_name().unwrap().to_string_lossy().starts_with("log.sqlite"));
        logs.filter(|file| {
            let bytes = std::fs::read(file).unwrap();
            bytes.windows(canary.len()).any(|window| window == canary.as_bytes())
        })
        .count()
    };
    assert!(holds() > 0, "the canary must be there before it can be gone");
    service.forget(&session);
    service.erase(&session).unwrap();
    assert_eq!(holds(), 0);
    let design = service.design().clone();
    drop(service);
    let store = SqliteStore::open_existing(&path).unwrap();
    let verified = verify(&store).unwrap();
    assert_eq!((verified.sessions, verified.erased), (4, 1));
    let all = people::participants(&design, &store).unwrap();
    assert_eq!(all.iter().filter(|person| person.erased()).count(), 1);
    drop(store);
    // A backup from before brings the data back for a moment; restoring it erases them again.
    let restored = restore(&backup, &path, &[], &SystemClock, &SystemRandom).unwrap();
    assert_eq!((restored.again, restored.verified.erased), (1, 1));
    let store = SqliteStore::open_existing(&path).unwrap();
    assert!(store.spent().unwrap().iter().eq([&session]));
    assert!(store.session(&session).unwrap().is_empty());
    let names = erased(&store).unwrap();
    let held = |row: &&Row| row.payload.is_some() && row.key != TOMBSTONE && names.contains(&row.session);
    assert_eq!(rows(&store).unwrap().iter().filter(held).count(), 0);
    std::fs::remove_dir_all(&directory).unwrap();
}

fn group(session: &str, key: &str, body: String) -> Group {
    let entries = vec![Entry { key: key.to_owned(), at: 0, salt: [7; 32], body }];
    Group { session: session.to_owned(), after: None, entries }
}

#[test]
fn no_canary_of_anybody_erased_is_left_anywhere() {
    use equipoise_study::event::ItemAnswer;
    use equipoise_study::study::Position;
    let directory = directory("canaries");
    let path = directory.join("log.sqlite");
    let service = service_on("binary-cancer", SqliteStore::open(&path).unwrap(), 18);
    let (people, each) = (40, 20);
    let canary = |person: usize, n: usize| {
        format!("canary-{:08x}", 0x9E37_79B9_u32.wrapping_mul((person * each + n) as u32 + 1))
    };
    let invitations = service.invite(people).unwrap();
    for (person, invitation) in invitations.iter().enumerate() {
        let mut simulant = Simulant::new(4.0, 20.0, person as u64);
        loop {
            let step = service.look(&invitation.session, |p| p.step()).unwrap();
            if step == equipoise_study::Step::Questionnaire(Position::Before) {
                break;
            }
            let event = service.look(&invitation.session, |p| simulant.next(p)).unwrap().unwrap();
            service.record(&invitation.session, common::DEVICE, &format!("k{step:?}"), &event).unwrap();
        }
        // Twenty texts at once, in an event of twenty answers.
        let answers = (0..each).map(|n| (canary(person, n), ItemAnswer::Text(canary(person, n)))).collect();
        let event = Event::QuestionnaireAnswered { position: Position::Before, answers };
        let (place, body) = (invitation.session.clone(), serde_json::to_string(&event).unwrap());
        service.writer().append(group(&place, "canaries", body)).unwrap();
        service.forget(&invitation.session);
    }
    let found = || {
        // The write-ahead file may go while we look.
        let files = std::fs::read_dir(&directory).unwrap().flatten();
        let all: Vec<u8> = files.filter_map(|entry| std::fs::read(entry.path()).ok()).flatten().collect();
        all.windows(7).filter(|window| window == b"canary-").count()
    };
    assert!(found() >= people * each, "the canaries must be there before they can be gone");
    for invitation in &invitations {
        service.erase(&invitation.session).unwrap();
    }
    let exported = service.writer().with(|store| {
        Ok::<_, Error>(
            equipoise_study::export::questionnaire(store)?.json_lines()
                + &equipoise_study::export::answers(store)?.csv(),
        )
    });
    assert!(!exported.unwrap().contains("canary-"));
    drop(service);
    println!("{} canaries of {people} people were erased, {} are left", people * each, found());
    assert_eq!(found(), 0);
    assert_eq!(verify(&SqliteStore::open_existing(&path).unwrap()).unwrap().erased, people);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn tokens_are_even_bits_and_never_the_same() {
    let random = SystemRandom;
    let (tokens, mut counts) = (100_000_usize, [0_u64; 256]);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..tokens {
        let mut bytes = [0; 16];
        equipoise_study::seams::Random::fill(&random, &mut bytes).unwrap();
        bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        assert!(seen.insert(bytes), "the same 128 bits twice");
    }
    let expected = tokens as f64 * 16.0 / 256.0;
    let squares: f64 = counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
    println!("chi-square of {tokens} tokens' bytes: {squares:.0} with 255 degrees of freedom");
    // 400 is exceeded by chance less than once in ten million runs.
    assert!(squares < 400.0, "{squares}");
}

#[test]
fn many_threads_share_a_log_and_nothing_is_lost() {
    let directory = directory("threads");
    let path = directory.join("log.sqlite");
    let writer = Writer::start(SqliteStore::open(&path).unwrap());
    let (threads, each) = (8, 40);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let writer = writer.clone();
            scope.spawn(move || {
                for seq in 1..=each {
                    let done = writer
                        .append(group(&format!("s{thread}"), &format!("k{seq}"), "{}".to_owned()))
                        .unwrap();
                    assert!(matches!(done, Appended::New(_)));
                }
            });
        }
    });
    let verified = verify(&SqliteStore::open_existing(&path).unwrap()).unwrap();
    assert_eq!(verified.rows, threads * each);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn tokens_open_their_session_only() {
    let service = service("binary-cancer", 9);
    let random = TestRandom::new(77);
    let invitations = service.invite(20).unwrap();
    for invitation in &invitations {
        assert_eq!(invitation.token.len(), 32);
        assert_eq!(service.open(&invitation.token).unwrap().as_deref(), Some(invitation.session.as_str()));
        assert!(service.open(&invitation.session).unwrap().is_none());
    }
    let mut guess = [0; 16];
    equipoise_study::seams::Random::fill(&random, &mut guess).unwrap();
    let guess: String = guess.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(service.open(&guess).unwrap().is_none());
    // A panel's participant who comes back gets the same place.
    let first = service.invite_token("panel-token".to_owned()).unwrap();
    assert_eq!(service.invite_token("panel-token".to_owned()).unwrap(), first);
}

#[test]
fn a_restored_log_has_the_rows_of_the_backup_and_nothing_else_of_it() {
    let directory = directory("foreign");
    let (path, backup) = (directory.join("log.sqlite"), directory.join("backup.sqlite"));
    let service = service_on("binary-cancer", SqliteStore::open(&path).unwrap(), 3);
    service.invite(2).unwrap();
    SqliteStore::open_existing(&path).unwrap().backup(&backup).unwrap();
    drop(service);
    let foreign = "CREATE TRIGGER lose AFTER INSERT ON event BEGIN DELETE FROM payload; END;";
    rusqlite::Connection::open(&backup).unwrap().execute_batch(foreign).unwrap();
    restore(&backup, &path, &[], &SystemClock, &SystemRandom).unwrap();
    let service = service_on("binary-cancer", SqliteStore::open(&path).unwrap(), 4);
    service.invite(1).unwrap();
    let all = service.writer().with(|store| rows(store)).unwrap();
    assert_eq!(all.iter().filter(|row| row.payload.is_some()).count(), 3);
    drop(service);
    std::fs::remove_dir_all(&directory).unwrap();
}
