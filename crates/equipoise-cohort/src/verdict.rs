//! What comes out for a whole cohort, against what its people hold.

use crate::{Part, Person, take_part};
use equipoise_report::{Agreement, person};
use equipoise_server::participant::{Participants, Settings, app};
use equipoise_study::{Service, Stopped};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Cost ratios of the people: evenly on a logarithmic scale. The thesis' subjects were between 1.8 and 31 (Table 8.4).
const RATIOS: [f64; 2] = [1.5, 24.0];

/// People answering at the same time.
const AT_ONCE: usize = 16;

/// How many evaluation answers a metric predicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Fidelity {
    /// So many.
    pub agree: usize,
    /// Of so many.
    pub of: usize,
}

impl Fidelity {
    fn add(&mut self, found: Option<Agreement>) {
        if let Some(found) = found {
            self.agree += found.agree;
            self.of += found.of;
        }
    }

    /// M as a share.
    pub fn share(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.agree as f64 / self.of as f64 }
    }
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// How many took part.
    pub people: usize,
    /// How many got to the end.
    pub finished: usize,
    /// Whose interval holds the ratio they answered by.
    pub covered: usize,
    /// Whose interval became narrow enough.
    pub narrow: usize,
    /// Comparisons that elicit, sorted; whoever never became narrow took more than all of them.
    pub comparisons: Vec<usize>,
    /// The mean distance of estimate and truth, as a factor.
    pub off: f64,
    /// The elicited metric's M.
    pub elicited: Fidelity,
    /// On the same answers as `stated`: those of people who stated a cost.
    pub elicited_of_stating: Fidelity,
    /// M of the cost stated before.
    pub stated: Fidelity,
    /// M of "fewest missed".
    pub fewest_missed: Fidelity,
    /// Answers that were acknowledged.
    pub acknowledged: usize,
}

impl Verdict {
    /// Comparisons until the interval was narrow enough, for the one in the middle; nothing if half never got there.
    pub fn median(&self) -> Option<usize> {
        (2 * self.narrow > self.people).then(|| self.comparisons[self.people / 2])
    }

    /// The share of intervals that cover.
    pub fn coverage(&self) -> f64 {
        self.covered as f64 / self.people.max(1) as f64
    }
}

/// Lets so many people take part in a two-class study over HTTP, with logistic noise of a slope in units of the query
/// ball, and compares what comes out with what they hold.
pub fn hold(service: &Arc<Service>, people: usize, slope: f64, seed: u64) -> io::Result<Verdict> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let ball = service.design().ball();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let invitations = service.invite(people).map_err(io::Error::other)?;
    let crowd: Vec<(f64, u64, String, String)> = (0..)
        .zip(invitations)
        .map(|(place, invitation)| {
            let share = (f64::from(place) + random.random::<f64>()) / people as f64;
            let ratio = RATIOS[0] * (RATIOS[1] / RATIOS[0]).powf(share);
            (ratio, random.random(), invitation.token, invitation.session)
        })
        .collect();
    let parts = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = Participants::new(service.clone(), Settings { origin: format!("http://{address}") });
        tokio::spawn(async { axum::serve(listener, app(state)).await });
        let places = Arc::new(tokio::sync::Semaphore::new(AT_ONCE));
        let mut tasks = vec![];
        for (ratio, seed, token, session) in crowd {
            let places = places.clone();
            tasks.push(tokio::spawn(async move {
                let _place = places.acquire_owned().await.map_err(io::Error::other)?;
                let mut person = Person::new(ratio, slope, Duration::ZERO, seed).ball(ball);
                let mut part = Part::default();
                take_part(address, &token, &mut person, &mut part).await?;
                io::Result::Ok((ratio, session, part))
            }));
        }
        let mut parts = vec![];
        for task in tasks {
            parts.push(task.await.map_err(io::Error::other)??);
        }
        io::Result::Ok(parts)
    })?;
    judge(service, &parts).map_err(io::Error::other)
}

fn judge(service: &Service, parts: &[(f64, String, Part)]) -> equipoise_study::Result<Verdict> {
    let none = Fidelity::default();
    let mut verdict = Verdict {
        people: parts.len(),
        finished: parts.iter().filter(|(.., part)| part.finished).count(),
        covered: 0,
        narrow: 0,
        comparisons: vec![],
        off: 0.0,
        elicited: none,
        elicited_of_stating: none,
        stated: none,
        fewest_missed: none,
        acknowledged: parts.iter().map(|(.., part)| part.answers.len()).sum(),
    };
    for (ratio, session, _) in parts {
        let (found, [low, middle, high]) = service.look(session, |participant| {
            let ends = [0.025, 0.5, 0.975].map(|share| participant.belief().quantile(share).unwrap_or(1.0));
            (person(participant, false), ends)
        })?;
        // The most that are asked are an end like the others: a short study means to come to it.
        let narrow = found.stopped.is_some_and(|stopped| stopped != Stopped::NothingLeft);
        verdict.covered += usize::from((low..=high).contains(ratio));
        verdict.narrow += usize::from(narrow);
        verdict.comparisons.push(if narrow { found.answers } else { usize::MAX });
        verdict.off += (middle / ratio).ln().abs() / parts.len() as f64;
        verdict.elicited.add(found.fidelity.shares.elicited);
        if found.fidelity.shares.stated.is_some() {
            verdict.elicited_of_stating.add(found.fidelity.shares.elicited);
        }
        verdict.stated.add(found.fidelity.shares.stated);
        verdict.fewest_missed.add(found.fidelity.shares.fewest_missed);
    }
    verdict.off = verdict.off.exp();
    verdict.comparisons.sort_unstable();
    Ok(verdict)
}
