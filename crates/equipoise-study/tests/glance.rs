//! How far everybody is needs nobody's belief: it is known a moment after a start, however long the log is.

mod common;

use common::{Simulant, service, walk};
use equipoise_log::{Entry, Group, MemoryStore, rows, transact};
use equipoise_study::people;
use std::time::Instant;

#[test]
fn how_far_everybody_is_is_read_without_working_out_what_they_think() {
    let service = service("binary-cancer", 4);
    let invitations = service.invite(6).unwrap();
    for (n, invitation) in invitations.iter().enumerate() {
        walk(&service, &invitation.session, &mut Simulant::new(3.0 + n as f64, 20.0, n as u64), 60);
    }
    // The same people again and again, under other names.
    let few = service.writer().with(|store| rows(store)).unwrap();
    let mut log = MemoryStore::new();
    for copy in 0..20 {
        for row in few.iter().filter(|row| row.session != equipoise_log::COMMON_SESSION) {
            let payload = row.payload.clone().unwrap();
            let entry = Entry { key: row.key.clone(), at: row.at, salt: payload.salt, body: payload.body };
            let session = format!("{}-{copy}", row.session);
            let group = Group { session, after: None, entries: vec![entry] };
            transact(&mut log, |log| log.append(&group)).unwrap();
        }
    }
    let design = service.design().clone();
    let timed = |known: bool| {
        let begun = Instant::now();
        let everybody = people::participants(&design, &log).unwrap();
        let summary = people::summary(&design, &everybody, |_| known);
        (begun.elapsed(), summary)
    };
    let (glance, counted) = timed(false);
    let (long, whole) = timed(true);
    assert_eq!((counted.answers, counted.completed), (whole.answers, whole.completed));
    assert!(whole.people.iter().all(|person| person.ratio.is_some()));
    assert!(counted.people.iter().all(|person| person.ratio.is_none()));
    println!(
        "{} answers of {} people: how far they are in {glance:.0?}, what they hold in {long:.0?}",
        whole.answers,
        whole.people.len()
    );
    assert!(glance * 2 < long, "{glance:?} against {long:?}");
}
