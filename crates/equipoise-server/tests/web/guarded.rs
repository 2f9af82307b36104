//! What holds for every response (S-07).

use axum::http::{HeaderMap, header};

/// Fails unless a response has the policy and all headers, and a page of it no script or style of its own.
pub fn guarded(what: &str, headers: &HeaderMap, body: &str) {
    let text = |name: &str| headers.get(name).map_or("", |value| value.to_str().unwrap());
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                  form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                  trusted-types equipoise";
    assert_eq!(text("content-security-policy"), policy, "{what}");
    assert_eq!(text("x-content-type-options"), "nosniff", "{what}");
    assert_eq!(text("referrer-policy"), "no-referrer", "{what}");
    assert!(text("strict-transport-security").starts_with("max-age="), "{what}");
    let kept = text("cache-control");
    assert!(["no-store", "public, max-age=31536000, immutable"].contains(&kept), "{what}: {kept}");
    // A report that is kept as a file has a policy in itself.
    if !text("content-type").starts_with("text/html") || headers.contains_key(header::CONTENT_DISPOSITION) {
        return;
    }
    let ours = |tag: &str| tag.split('>').next().is_some_and(|tag| tag.contains(" src=\"/"));
    assert!(body.split("<script").skip(1).all(ours), "{what}: a script of the page's own");
    for tag in body.split('<').skip(1).filter_map(|tag| tag.split('>').next()) {
        // What people wrote may stand between quotes, or between tags, and is nothing but text there.
        let outside: String = tag.split('"').step_by(2).collect();
        for inline in [" style=", " onclick=", " onload=", " onerror="] {
            assert!(!outside.contains(inline), "{what}: {tag}");
        }
        assert!(!tag.starts_with("style") && !tag.contains("=\"javascript:"), "{what}: {tag}");
    }
}
