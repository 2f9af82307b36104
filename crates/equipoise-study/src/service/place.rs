//! A place in a study: who comes when, and how comparisons are drawn for them.

use crate::design::Design;
use crate::error::Result;
use crate::event::{Event, Invited};
use crate::invitation::Invitation;
use crate::participant::Refusal;
use crate::schedule;
use equipoise_log::{Entry, Group, Transaction};
use rand::seq::SliceRandom as _;

/// A place that is to be made.
pub(super) struct Drawn {
    pub token: String,
    pub session: String,
    pub salt: [u8; 32],
    pub seed: u64,
    pub at: i64,
}

/// Makes a place, unless there is one: numbers follow the order of invitations, which the store alone knows.
pub(super) fn make(
    log: &mut Transaction<'_>,
    design: &Design,
    place: Drawn,
    begun: &mut u64,
    panel: bool,
) -> Result<Invitation> {
    let Drawn { token, session, salt, seed, at } = place;
    let number = match log.session(&session)?.first().map(Event::in_row).transpose()? {
        Some(Some(Event::Invited(invited))) => invited.number,
        Some(_) => return Err(Refusal::Left.into()),
        None if log.is_erased(&session)? => return Err(Refusal::Left.into()),
        None => {
            *begun += 1;
            let number = *begun;
            let (version, study) = (design.study().version, design.hash().to_owned());
            let variant = variant(design, number);
            let event = Event::Invited(Invited { study, version, number, variant, seed, panel });
            let entry = Entry { key: "invited".to_owned(), at, salt, body: event.body() };
            log.append(&Group { session: session.clone(), after: Some(0), entries: vec![entry] })?;
            number
        }
    };
    Ok(Invitation { number, session, token })
}

/// The variant of a participant: within each block of invitations every variant comes up once.
fn variant(design: &Design, number: u64) -> crate::study::Variant {
    let mut block = design.study().variants.clone();
    let (place, size) = (number.saturating_sub(1) as usize, block.len());
    block.shuffle(&mut schedule::draws(design.study().seed, "variants", place / size));
    block[place % size]
}
