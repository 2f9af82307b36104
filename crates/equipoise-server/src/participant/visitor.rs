//! Who is there: a cookie with the token of the link and a name for the device.

use crate::text::{cookie, hex, random, same};
use axum::http::HeaderMap;
use equipoise_study::Study;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

const COOKIE: &str = "equipoise";
/// Over TLS: a name that browsers give to this host and path only.
const SECURE_COOKIE: &str = "__Host-equipoise";
/// Half a year; a study seldom lasts longer.
const LASTS: u64 = 180 * 24 * 3600;

/// Somebody with a link, on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    token: String,
    device: String,
}

impl Visitor {
    /// Somebody with this token, on a device that had no name yet.
    pub fn new(token: &str) -> Option<Self> {
        Self::parse(&format!("{token}.{}", random::<8>()?))
    }

    /// Whoever the request's cookie says. Over TLS that is the one nobody else could have set: not another host of the
    /// same domain, nor somebody on the network.
    pub fn from_cookie(headers: &HeaderMap, secure: bool) -> Option<Self> {
        Self::parse(cookie(headers, if secure { SECURE_COOKIE } else { COOKIE })?)
    }

    fn parse(value: &str) -> Option<Self> {
        let (token, device) = value.split_once('.')?;
        let hexadecimal = |text: &str, length: usize| {
            text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        (hexadecimal(token, 32) && hexadecimal(device, 16))
            .then(|| Self { token: token.to_owned(), device: device.to_owned() })
    }

    /// The header that sets the cookie.
    pub fn to_cookie(&self, secure: bool) -> String {
        let (name, only) = if secure { (SECURE_COOKIE, "; Secure") } else { (COOKIE, "") };
        let Self { token, device } = self;
        format!("{name}={token}.{device}; Path=/; Max-Age={LASTS}; HttpOnly; SameSite=Strict{only}")
    }

    /// What the link ends in.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The name of the device.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// What forms carry to show that they come from a page of ours: nobody else can compute it.
    pub fn csrf(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(b"equipoise form 1\n");
        hash.update(self.token.as_bytes());
        hash.update(self.device.as_bytes());
        hex(hash.finalize().get(..16).unwrap_or_default())
    }

    /// Whether a form was made for this visitor.
    pub fn owns(&self, csrf: &str) -> bool {
        same(self.csrf().as_bytes(), csrf.as_bytes())
    }
}

/// The parameters of a link that a study keeps.
pub fn kept(study: &Study) -> Vec<String> {
    let panel = study.panel.iter().flat_map(|panel| panel.parameters());
    study.completion.parameters.iter().chain(panel).cloned().collect()
}

/// What a panel passes along in the link, such as `PROLIFIC_PID`. Nothing is stored before consent, so the browser keeps it
/// until then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Panel(pub BTreeMap<String, String>);

const PANEL_COOKIE: &str = "equipoise-panel";
const SECURE_PANEL_COOKIE: &str = "__Host-equipoise-panel";

impl Panel {
    /// The parameters the study asks for, of those that came.
    pub fn new(came: &BTreeMap<String, String>, wanted: &[String]) -> Self {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        let fits = |text: &str| (1..=128).contains(&text.len()) && text.bytes().all(plain);
        let known = came.iter().filter(|(name, value)| wanted.contains(name) && fits(name) && fits(value));
        Self(known.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// What an earlier visit to the link left in the browser.
    pub fn from_cookie(headers: &HeaderMap, wanted: &[String], secure: bool) -> Self {
        let kept = cookie(headers, if secure { SECURE_PANEL_COOKIE } else { PANEL_COOKIE }).unwrap_or("");
        let came = kept.split('&').filter_map(|pair| pair.split_once('='));
        Self::new(&came.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(), wanted)
    }

    /// The header that sets the cookie; nothing if nothing came.
    pub fn to_cookie(&self, secure: bool) -> Option<String> {
        let pairs: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (name, only) = if secure { (SECURE_PANEL_COOKIE, "; Secure") } else { (PANEL_COOKIE, "") };
        (!pairs.is_empty())
            .then(|| format!("{name}={}; Path=/; HttpOnly; SameSite=Strict{only}", pairs.join("&")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderValue, header};

    const TOKEN: &str = "00112233445566778899aabbccddeeff";

    fn read(cookie: &str, secure: bool) -> Option<Visitor> {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_str(cookie).unwrap());
        Visitor::from_cookie(&headers, secure)
    }

    #[test]
    fn a_cookie_reads_back() {
        let visitor = Visitor::new(TOKEN).unwrap();
        for secure in [false, true] {
            let set = visitor.to_cookie(secure);
            assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
            assert_eq!(set.contains("Secure"), secure);
            let sent = set.split(';').next().unwrap();
            assert_eq!(read(&format!("other=1; {sent}"), secure), Some(visitor.clone()));
            assert_eq!(
                read(&format!("other=1; {sent}"), !secure),
                None,
                "over TLS the other name is anybody's"
            );
        }
    }

    #[test]
    fn nonsense_is_nobody() {
        for cookie in
            ["", "equipoise=", "equipoise=x.y", "equipoise=0011.2233", "equipoise=../../etc/passwd.0"]
        {
            assert_eq!(read(cookie, false), None, "{cookie}");
        }
        assert_eq!(Visitor::new("no-token"), None);
    }

    #[test]
    fn forms_belong_to_one_visitor_on_one_device() {
        let [one, other] = [Visitor::new(TOKEN).unwrap(), Visitor::new(TOKEN).unwrap()];
        assert!(one.owns(&one.csrf()) && !one.owns(&other.csrf()) && !one.owns(""));
    }

    #[test]
    fn a_panel_passes_along_what_the_study_asks_for_and_nothing_else() {
        let came = [("PROLIFIC_PID", "5f3a"), ("STUDY_ID", "a b; Path=/"), ("admin", "1")];
        let came = came.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let wanted = ["PROLIFIC_PID".to_owned(), "STUDY_ID".to_owned()];
        let panel = Panel::new(&came, &wanted);
        assert_eq!(panel.0.keys().collect::<Vec<_>>(), ["PROLIFIC_PID"]);
        let mut headers = HeaderMap::new();
        for secure in [false, true] {
            let set = panel.to_cookie(secure).unwrap();
            headers.insert(header::COOKIE, HeaderValue::from_str(set.split(';').next().unwrap()).unwrap());
            assert_eq!(Panel::from_cookie(&headers, &wanted, secure), panel);
        }
        assert_eq!(Panel::default().to_cookie(true), None);
    }
}
