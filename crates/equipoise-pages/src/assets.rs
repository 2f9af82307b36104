//! Style, script and icon, inside the binary. Their addresses carry a hash of their contents, so a browser may keep
//! them for ever and still gets new ones after an upgrade.

use equipoise_log::hex;
use sha2::{Digest as _, Sha256};
use std::sync::OnceLock;

/// A file of the pages.
#[derive(Debug)]
pub struct Asset {
    name: &'static str,
    extension: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Its contents.
    pub text: &'static str,
    path: OnceLock<String>,
}

/// How pages look.
pub static STYLE: Asset = Asset::style("style", include_str!("../assets/style.css"));
/// What pages do beyond forms.
pub static SCRIPT: Asset = Asset::script("script", include_str!("../assets/script.js"));
/// The picture in the browser's tab.
pub static ICON: Asset = Asset::new("icon", "svg", "image/svg+xml", include_str!("../assets/icon.svg"));

impl Asset {
    const fn new(
        name: &'static str,
        extension: &'static str,
        media_type: &'static str,
        text: &'static str,
    ) -> Self {
        Self { name, extension, media_type, text, path: OnceLock::new() }
    }

    /// How pages look.
    pub const fn style(name: &'static str, text: &'static str) -> Self {
        Self::new(name, "css", "text/css; charset=utf-8", text)
    }

    /// What pages do.
    pub const fn script(name: &'static str, text: &'static str) -> Self {
        Self::new(name, "js", "text/javascript; charset=utf-8", text)
    }

    /// Where pages find it.
    pub fn path(&self) -> &str {
        self.path.get_or_init(|| {
            let hash = Sha256::digest(self.text.as_bytes());
            format!("/assets/{}-{}.{}", self.name, hex::encode(&hash[..6]), self.extension)
        })
    }
}
