//! Which style, script and icon the pages of a router have, and those of researchers and of a table.

pub(crate) use equipoise_pages::assets::{Asset, ICON, SCRIPT, STYLE};

/// How researchers' pages look beyond what all pages do.
pub static RESEARCHER_STYLE: Asset = Asset::style("researcher", include_str!("../assets/researcher.css"));
/// What researchers' pages do beyond forms: refresh.
pub static RESEARCHER_SCRIPT: Asset = Asset::script("researcher", include_str!("../assets/researcher.js"));
/// How a report looks inside a page of researchers.
pub static REPORT_STYLE: Asset = Asset::style("report", equipoise_report::STYLE_INSIDE);
/// How the pages of a table look beyond that.
pub static OPEN_STYLE: Asset = Asset::style("open", include_str!("../assets/open.css"));
/// What the pages of a table do beyond forms: dropped files, keys.
pub static OPEN_SCRIPT: Asset = Asset::script("open", include_str!("../assets/open.js"));

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
