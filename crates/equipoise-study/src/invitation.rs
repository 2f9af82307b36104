//! Links: a random token for whoever holds it, and a session that cannot be turned back into it.

use crate::error::Result;
use crate::seams::Random;
use equipoise_log::hex;
use sha2::{Digest as _, Sha256};

/// A place in the study and the token that opens it. The token is told once and stored nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// What exports call the participant: counted from 1.
    pub number: u64,
    /// What the log calls the participant.
    pub session: String,
    /// 128 random bits in hexadecimal: what a link ends in.
    pub token: String,
}

/// 128 random bits, as a link carries them.
pub fn token(random: &dyn Random) -> Result<String> {
    let mut bytes = [0; 16];
    random.fill(&mut bytes)?;
    Ok(hex::encode(&bytes))
}

/// The session a token opens: its SHA-256. Nothing leads from a session back to its token.
pub fn session_of(token: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(b"equipoise link 1\n");
    hash.update(token.as_bytes());
    hex::encode(&hash.finalize())
}
