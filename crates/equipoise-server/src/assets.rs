//! Style, script and icon, inside the binary. Their addresses carry a hash of their contents, so a browser may keep
//! them for ever and still gets new ones after an upgrade.

use crate::text::hex;
use sha2::{Digest as _, Sha256};
use std::sync::LazyLock;

/// A file of the pages.
#[derive(Debug)]
pub struct Asset {
    name: &'static str,
    extension: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Its contents.
    pub text: &'static str,
    path: LazyLock<String>,
}

macro_rules! asset {
    ($(#[$doc:meta])* $constant:ident, $name:literal, $extension:literal, $media_type:literal) => {
        $(#[$doc])*
        pub static $constant: Asset = Asset {
            name: $name,
            extension: $extension,
            media_type: $media_type,
            text: include_str!(concat!("../assets/", $name, ".", $extension)),
            path: LazyLock::new(|| $constant.hashed_path()),
        };
    };
}

asset!(
    /// How pages look.
    STYLE, "style", "css", "text/css; charset=utf-8"
);
asset!(
    /// What pages do beyond forms.
    SCRIPT, "script", "js", "text/javascript; charset=utf-8"
);
asset!(
    /// The picture in the browser's tab.
    ICON, "icon", "svg", "image/svg+xml"
);

impl Asset {
    /// Where pages find it.
    pub fn path(&self) -> &str {
        &self.path
    }

    fn hashed_path(&self) -> String {
        let hash = Sha256::digest(self.text.as_bytes());
        format!("/assets/{}-{}.{}", self.name, hex(&hash[..6]), self.extension)
    }
}

asset!(
    /// How researchers' pages look beyond that.
    RESEARCHER_STYLE, "researcher", "css", "text/css; charset=utf-8"
);
asset!(
    /// What researchers' pages do beyond forms: refresh.
    RESEARCHER_SCRIPT, "researcher", "js", "text/javascript; charset=utf-8"
);

/// How a report looks inside a page of researchers.
pub static REPORT_STYLE: Asset = Asset {
    name: "report",
    extension: "css",
    media_type: "text/css; charset=utf-8",
    text: equipoise_report::STYLE_INSIDE,
    path: LazyLock::new(|| REPORT_STYLE.hashed_path()),
};

asset!(
    /// How the pages of a table look beyond that.
    OPEN_STYLE, "open", "css", "text/css; charset=utf-8"
);
asset!(
    /// What the pages of a table do beyond forms: dropped files, keys.
    OPEN_SCRIPT, "open", "js", "text/javascript; charset=utf-8"
);

/// The asset of a table's pages at an address.
pub fn find_for_tables(path: &str) -> Option<&'static Asset> {
    let all = [&STYLE, &ICON, &RESEARCHER_STYLE, &OPEN_STYLE, &OPEN_SCRIPT];
    all.into_iter().find(|asset| asset.path() == path)
}

/// The asset of the participants' pages at an address.
pub fn find(path: &str) -> Option<&'static Asset> {
    [&STYLE, &SCRIPT, &ICON].into_iter().find(|asset| asset.path() == path)
}

/// The asset of the researchers' pages at an address.
pub fn find_for_researchers(path: &str) -> Option<&'static Asset> {
    let all = [&STYLE, &ICON, &RESEARCHER_STYLE, &RESEARCHER_SCRIPT, &REPORT_STYLE];
    all.into_iter().find(|asset| asset.path() == path)
}
