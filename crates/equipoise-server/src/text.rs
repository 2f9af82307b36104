//! Small texts of HTTP that both routers read and write.

pub use equipoise_log::hex::encode as hex;

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};

/// So many random bytes of the operating system, as hexadecimal text; `None` if it has none.
pub fn random<const BYTES: usize>() -> Option<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).ok()?;
    Some(hex(&bytes))
}

/// A text as a value in the query of an address.
pub fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

/// The value of the first cookie of this name.
pub fn cookie<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

/// Whether two secrets are the same. Compared as hashes: how long it takes says nothing about how much agrees.
pub fn same(one: &[u8], other: &[u8]) -> bool {
    Sha256::digest(one) == Sha256::digest(other)
}
