//! How the text of a row is sealed with the secret of its session: XChaCha20-Poly1305.

use crate::error::{Error, Result};
use crate::{Damage, Hash, Payload, Row};
use chacha20poly1305::aead::{Aead as _, Payload as Message};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use sha2::{Digest as _, Sha256};

const NONCE: usize = 24;

/// What opens the rows of a session.
pub(super) type Secret = [u8; 32];

/// What a row says besides its place: what an erasure takes.
pub(super) struct Said {
    pub(super) key: String,
    pub(super) at: i64,
    pub(super) payload: Payload,
}

/// Numbers nobody can guess.
pub(super) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| Error::storage(format!("no random numbers: {e}")))?;
    Ok(bytes)
}

/// What stands for a key in a session: tells nothing without the secret.
pub(super) fn mark(secret: &Secret, key: &str) -> Hash {
    Sha256::new().chain_update(b"equipoise key 1\n").chain_update(secret).chain_update(key).finalize().into()
}

/// What ties a sealed text to its place: put beside another row it does not open.
fn bound(position: u64) -> Vec<u8> {
    [&b"equipoise row 1\n"[..], &position.to_be_bytes()].concat()
}

/// Seals what a row says: a nonce, then the sealed text.
pub(super) fn seal(secret: &Secret, position: u64, said: &Said) -> Result<Vec<u8>> {
    let nonce = random::<NONCE>()?;
    let length = u32::try_from(said.key.len()).map_err(|_| Error::storage("a key is too long"))?;
    let plain = [
        &said.at.to_be_bytes()[..],
        &length.to_be_bytes(),
        said.key.as_bytes(),
        &said.payload.salt,
        said.payload.body.as_bytes(),
    ]
    .concat();
    let sealed = XChaCha20Poly1305::new(&(*secret).into())
        .encrypt(&XNonce::from(nonce), Message { msg: &plain, aad: &bound(position) })
        .map_err(|_| Error::storage("a row could not be sealed"))?;
    Ok([&nonce[..], &sealed].concat())
}

/// What a sealed row says.
pub(super) fn open(secret: &Secret, position: u64, sealed: &[u8]) -> Result<Said> {
    let opened = || {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        let message = Message { msg: sealed, aad: &bound(position) };
        let plain = XChaCha20Poly1305::new(&(*secret).into()).decrypt(&XNonce::from(*nonce), message).ok()?;
        let (at, rest) = plain.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (key, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        let (salt, body) = rest.split_first_chunk::<32>()?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let payload = Payload { salt: *salt, body: text(body)? };
        Some(Said { key: text(key)?, at: i64::from_be_bytes(*at), payload })
    };
    opened().ok_or_else(|| {
        Error::Damaged(Damage::at(position, "was changed: it does not open with the secret of its session"))
    })
}

impl Said {
    /// What a row says; `None` for one that was erased.
    pub(super) fn of(row: &Row) -> Option<Self> {
        let payload = row.payload.clone()?;
        Some(Self { key: row.key.clone(), at: row.at, payload })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_in_its_place_and_nowhere_else() {
        let payload = Payload { salt: [3; 32], body: "canary".to_owned() };
        let said = Said { key: "k".to_owned(), at: -5, payload };
        let sealed = seal(&[7; 32], 12, &said).unwrap();
        assert!(!sealed.windows(6).any(|window| window == b"canary"));
        let opened = open(&[7; 32], 12, &sealed).unwrap();
        assert_eq!((opened.key, opened.at, opened.payload), (said.key, said.at, said.payload));
        let mut changed = sealed.clone();
        *changed.last_mut().unwrap() ^= 1;
        for (secret, place, sealed) in
            [([8; 32], 12, &sealed), ([7; 32], 13, &sealed), ([7; 32], 12, &changed), ([7; 32], 12, &vec![])]
        {
            assert!(
                matches!(open(&secret, place, sealed), Err(Error::Damaged(damage)) if damage.position == place)
            );
        }
    }
}
