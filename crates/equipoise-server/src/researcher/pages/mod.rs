//! The pages of researchers: a handler, a struct and a template each.

pub mod api;
pub mod audit;
mod course;
pub mod design;
pub mod edit;
pub mod export;
pub mod group;
pub mod links;
pub mod models;
pub mod moved;
pub mod overview;
pub mod people;
mod replay;
pub mod results;
pub mod settings;

use equipoise_pages::language::Language;
use equipoise_pages::sentence::Mistakes;
use equipoise_study::Study;
use equipoise_study::exchange::{Amount, Exchange};
use equipoise_study::numbers::two_digits;

/// Fewer people than this are shown to viewers as a count only (RS-12).
pub const FEWEST: usize = equipoise_report::group::FEWEST_SHOWN;

/// The language of these pages.
const LANGUAGE: Language = Language::English;

/// "6.1 (4.8 to 7.9)": middle, and ends of the 95 % interval.
pub fn interval([middle, low, high]: [f64; 3]) -> String {
    format!("{} ({} to {})", two_digits(middle), two_digits(low), two_digits(high))
}

/// "a missed cancer costs about 6.1 false alarms (95 % interval 4.8 to 7.9)"; told from the dearer mistake.
pub fn exchange(study: &Study, [middle, low, high]: [f64; 3]) -> String {
    let (missed, alarms) = (Mistakes::of(study, 1, 0, LANGUAGE), Mistakes::of(study, 0, 1, LANGUAGE));
    let exchange = Exchange::within(middle, [low, high]);
    let [dear, cheap] = exchange.dearer_first(&missed, &alarms);
    let ends =
        |[low, high]: [f64; 2]| format!("(95\u{a0}% interval {} to {})", two_digits(low), two_digits(high));
    match exchange.amount {
        Amount::Unsettled => {
            let [missed, alarm, ends] = [&missed.one, &alarms.one, &ends([low, high])];
            format!("it is not settled whether a {missed} or a {alarm} is worse {ends}")
        }
        Amount::AtLeast(low) => {
            format!("one {} is worth at least {} {}", dear.one, two_digits(low), cheap.many)
        }
        Amount::About(about, range) => {
            let about = format!("one {} is worth about {} {}", dear.one, two_digits(about), cheap.many);
            range.map_or(about.clone(), |range| format!("{about} {}", ends(range)))
        }
    }
}

/// "one", "two people" and so on: a count with its noun.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", equipoise_study::numbers::grouped(count as u64), if count == 1 { one } else { many })
}
