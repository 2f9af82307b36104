//! What holds for every response, and for every request that changes something.

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request};
use axum::http::uri::Authority;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::timeout::TimeoutLayer;

/// A form is a few hundred bytes; the longest text of a questionnaire is some thousand.
const LARGEST_BODY: usize = 64 * 1024;

/// For files whose address changes with their contents.
pub const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// Nothing from anywhere but here, no inline script or style, and no page of ours inside another's.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types equipoise";

/// A router whose requests are small and end in time, whose panics stay with their request, and whose responses all have
/// our headers.
pub fn guarded<S: Clone + Send + Sync + 'static>(router: Router<S>, slowest: Duration) -> Router<S> {
    router
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, slowest))
        .layer(CatchPanicLayer::new())
        .layer(CompressionLayer::new())
        .layer(from_fn(headers))
}

/// Panics are told by their place alone from now on: their words may be those of somebody who answers (S-12).
pub fn tell_panics_by_their_place() {
    std::panic::set_hook(Box::new(|panic| {
        let place =
            panic.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        eprintln!("error: a request ended in a panic{place}, which is a defect; everything else goes on");
    }));
}

/// Adds the headers of every response, errors included.
async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let always = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::STRICT_TRANSPORT_SECURITY, "max-age=63072000"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        // Also where a request took too long, which no page says.
        let again = HeaderValue::from_static("2");
        response.headers_mut().entry(header::RETRY_AFTER).or_insert(again);
    }
    response
}

/// Whether a form was sent by a page of this host, as far as the browser tells. Whoever says nothing has to know the
/// form's token all the same.
pub fn comes_from_us(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    if let Some(site) = text(HeaderName::from_static("sec-fetch-site")) {
        return site == "same-origin" || site == "none";
    }
    match text(header::ORIGIN) {
        // A page that sends no referrer sends no origin either, even to itself.
        None | Some("null") => true,
        // Behind a proxy the scheme may differ; the host may not.
        Some(origin) => {
            let host = origin.split_once("://").map_or("", |(_, host)| host);
            text(header::HOST).is_some_and(|own| own.eq_ignore_ascii_case(host))
        }
    }
}

/// Whether a request was meant for us: it names this machine itself, or the host of the origin people were told. Anything
/// else is a name of somebody else's that leads here, behind which a page of theirs could read ours (DNS rebinding).
/// Browsers always say which host they mean; a program that does not is no danger.
pub fn is_for(headers: &HeaderMap, uri: &Uri, origin: &str) -> bool {
    let named = headers.get(header::HOST).map(|value| value.to_str().unwrap_or("?"));
    let Some(named) = named.or_else(|| uri.authority().map(Authority::as_str)) else { return true };
    let named = host(named);
    let own = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    let address: Option<IpAddr> = named.trim_matches(['[', ']']).parse().ok();
    named.eq_ignore_ascii_case(host(own))
        || named.eq_ignore_ascii_case("localhost")
        || address.is_some_and(|address| address.is_loopback())
}

/// The address of whoever asks: behind a proxy on this machine, the one the proxy added last.
pub fn address(extensions: &Extensions, headers: &HeaderMap) -> Option<IpAddr> {
    let address = extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let forwarded = headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
    let last = forwarded.and_then(|list| list.rsplit(',').next()?.trim().parse().ok());
    match address {
        Some(address) if address.is_loopback() => last.or(Some(address)),
        other => other,
    }
}

/// A host and port without the port.
fn host(named: &str) -> &str {
    match named.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_ours_are_for_us() {
        let meant = |named: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(named));
            is_for(&headers, &Uri::from_static("/"), "https://researchers.study.org:8443")
        };
        for ours in [
            "localhost",
            "LOCALHOST:8081",
            "127.0.0.1:8081",
            "[::1]:8081",
            "researchers.study.org",
            "Researchers.Study.org:1",
        ] {
            assert!(meant(ours), "{ours}");
        }
        for other in
            ["evil.example", "evil.example:8081", "localhost.evil.example", "study.org", "10.0.0.1", "", "::"]
        {
            assert!(!meant(other), "{other}");
        }
        assert!(is_for(&HeaderMap::new(), &Uri::from_static("/"), "http://127.0.0.1:8081"));
        let foreign = Uri::from_static("http://evil.example/");
        assert!(!is_for(&HeaderMap::new(), &foreign, "http://127.0.0.1:8081"));
    }

    #[tokio::test]
    async fn what_takes_too_long_is_to_be_asked_again() {
        use axum::body::Body;
        use axum::routing::get;
        use tower::ServiceExt as _;
        let slow = || tokio::time::sleep(Duration::from_secs(60));
        let app: Router = guarded(Router::new().route("/", get(slow)), Duration::from_millis(20));
        let reply = app.oneshot(Request::get("/").body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(reply.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(reply.headers()[header::RETRY_AFTER], "2");
    }

    const INSIDE: &str = "EQUIPOISE_INSIDE_A_PANIC";

    /// Runs in a process of its own: what to do about panics is one thing for a whole process.
    #[tokio::test]
    async fn a_request_that_panics() {
        use axum::body::Body;
        use axum::routing::get;
        use tower::ServiceExt as _;
        if std::env::var_os(INSIDE).is_none() {
            return;
        }
        tell_panics_by_their_place();
        let breaks = |uri: Uri| async move {
            assert_eq!(uri.query(), None, "what {} said", uri.query().unwrap_or_default());
            "fine"
        };
        let app: Router = guarded(Router::new().route("/", get(breaks)), Duration::from_secs(5));
        let asked = |uri: &str| app.clone().oneshot(Request::get(uri).body(Body::empty()).unwrap());
        let broken = asked("/?mail=canary").await.unwrap();
        assert_eq!(broken.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(broken.headers()[header::CONTENT_SECURITY_POLICY], CONTENT_SECURITY_POLICY);
        assert_eq!(broken.headers()[header::CACHE_CONTROL], "no-store");
        assert_eq!(asked("/").await.unwrap().status(), StatusCode::OK);
    }

    #[test]
    fn a_panic_says_where_and_nothing_of_the_request() {
        let inside = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["guard::tests::a_request_that_panics", "--exact", "--nocapture"])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&inside.stdout), String::from_utf8_lossy(&inside.stderr));
        assert!(inside.status.success() && said.contains("1 passed"), "{said}");
        assert!(said.contains("a request ended in a panic at") && said.contains("guard.rs:"), "{said}");
        assert!(!said.contains("canary"), "{said}");
    }

    fn sent(pairs: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        comes_from_us(&headers)
    }

    #[test]
    fn posts_from_elsewhere_are_seen() {
        assert!(sent(&[
            ("host", "study.org"),
            ("origin", "https://study.org"),
            ("sec-fetch-site", "same-origin")
        ]));
        assert!(sent(&[("host", "study.org")]));
        assert!(sent(&[("host", "study.org"), ("origin", "null"), ("sec-fetch-site", "same-origin")]));
        assert!(!sent(&[("host", "study.org"), ("origin", "null"), ("sec-fetch-site", "cross-site")]));
        assert!(!sent(&[("host", "study.org"), ("origin", "https://evil.org")]));
        assert!(!sent(&[("host", "study.org"), ("sec-fetch-site", "cross-site")]));
        assert!(!sent(&[("host", "study.org"), ("sec-fetch-site", "same-site")]));
    }
}
