//! Encryption on the way to a database: always with a certificate that is verified, or none at all.

use crate::error::{Error, Result};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// What an address says of encryption.
pub(super) struct Encryption {
    /// The address without these words, which the client does not know in full.
    pub(super) address: String,
    /// How to encrypt; `None` where that is not asked for.
    pub(super) connector: Option<MakeRustlsConnect>,
}

impl Encryption {
    /// Reads `sslmode` and `sslrootcert`. A mode that encrypts verifies as well, also `require`: whoever answers in the database's
    /// place could read what is encrypted for them.
    pub(super) fn of(address: &str) -> Result<Self> {
        let Some((place, words)) = address.split_once('?') else {
            return Ok(Self { address: address.to_owned(), connector: None });
        };
        let (mut mode, mut roots, mut others) = (None, None, vec![]);
        for word in words.split('&') {
            match word.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => roots = Some(decoded(value)),
                _ => others.push(word),
            }
        }
        let encrypt = match mode {
            None | Some("disable" | "allow" | "prefer") => false,
            Some("require" | "verify-full") => true,
            Some(other) => {
                let expected = "expected verify-full or require, which verify the certificate, or disable";
                return Err(Error::Missing(format!("sslmode is {other}, {expected}")));
            }
        };
        if roots.is_some() && !encrypt {
            let what =
                "sslrootcert is for a connection that is encrypted, expected sslmode=verify-full as well";
            return Err(Error::Missing(what.to_owned()));
        }
        let address =
            if others.is_empty() { place.to_owned() } else { format!("{place}?{}", others.join("&")) };
        let connector = if encrypt { Some(connector(roots.as_deref())?) } else { None };
        Ok(Self { address, connector })
    }
}

/// With the certificates of a file, or those that the system trusts.
fn connector(file: Option<&str>) -> Result<MakeRustlsConnect> {
    let wrong = |what: String| Error::Missing(what);
    let certificates: Vec<CertificateDer<'static>> = match file {
        Some(file) if file != "system" => {
            let read = CertificateDer::pem_file_iter(file)
                .and_then(|all| all.collect::<std::result::Result<_, _>>());
            read.map_err(|error| {
                wrong(format!("sslrootcert {file} cannot be read ({error}), expected certificates as PEM"))
            })?
        }
        _ => rustls_native_certs::load_native_certs().certs,
    };
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(certificates);
    if added == 0 {
        let place = file.map_or_else(|| "this system".to_owned(), |file| format!("sslrootcert {file}"));
        return Err(wrong(format!(
            "{place} has no certificate to verify a database by, expected one as PEM"
        )));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::storage(format!("no encryption can be had: {error}")))?;
    Ok(MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth()))
}

/// A value of an address without its percent signs.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (vec![], text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        match code.filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_about_encryption_are_taken_out_of_an_address() {
        let of = |address: &str| Encryption::of(address).map(|it| (it.address, it.connector.is_some()));
        let plain = ("postgres://a@b/c".to_owned(), false);
        assert_eq!(of("postgres://a@b/c").unwrap(), plain);
        assert_eq!(of("postgres://a@b/c?sslmode=disable").unwrap(), plain);
        let other = of("postgres://a@b/c?hostaddr=127.0.0.1&sslmode=prefer").unwrap();
        assert_eq!(other, ("postgres://a@b/c?hostaddr=127.0.0.1".to_owned(), false));
        let said = |address: &str| of(address).unwrap_err().to_string();
        assert!(said("postgres://a@b/c?sslmode=maybe").starts_with("sslmode is maybe, expected verify-full"));
        assert!(said("postgres://a@b/c?sslrootcert=x.pem").contains("expected sslmode=verify-full as well"));
        let missing = said("postgres://a@b/c?sslmode=require&sslrootcert=no%2Fsuch.pem");
        assert!(missing.starts_with("sslrootcert no/such.pem cannot be read ("), "{missing}");
    }

    #[test]
    fn percent_signs_are_decoded() {
        assert_eq!(decoded("%2Fa%20b%zz%4"), "/a b%zz%4");
    }
}
