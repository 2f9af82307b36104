//! Whether an answer can have followed from reading, and whether the time a browser tells can be true.

use crate::event::Answered;
use crate::shown::Shown;

/// What looking at a comparison takes at least, whatever differs: to find it and to press a button.
const LOOK_MS: u64 = 400;

/// What reading a number takes at least: a glance.
const NUMBER_MS: u64 = 200;

/// By how much the browser's time may exceed the server's: clocks are rounded, and pages are drawn a little before they are
/// taken for drawn.
const SLACK_MS: u64 = 1_000;

/// At most so many rows are counted: whoever sees two of many rows may decide by them.
const ROWS: usize = 2;

/// Below this nobody has read the numbers that differ.
pub fn needed_ms(shown: &Shown) -> u64 {
    // With groups a rate differs in every group, and is read once.
    let rows = shown.differing().div_ceil(shown.groups.max(1)).clamp(1, ROWS);
    LOOK_MS + 2 * NUMBER_MS * rows as u64
}

/// Whether a browser claims more time than the server saw go by between writing the comparison down and hearing the answer.
pub fn is_disputed(answer: &Answered, elapsed_ms: Option<u64>) -> bool {
    let claimed = answer.response_ms.map(|ms| ms.saturating_add(answer.hidden_ms));
    matches!((claimed, elapsed_ms), (Some(claimed), Some(elapsed)) if claimed > elapsed.saturating_add(SLACK_MS))
}

/// How long somebody looked: what the browser says, at most what the server saw.
pub fn looked_ms(answer: &Answered, elapsed_ms: Option<u64>) -> Option<u64> {
    match (answer.response_ms, elapsed_ms) {
        (Some(said), Some(seen)) => Some(said.min(seen)),
        (said, seen) => said.or(seen),
    }
}

/// Whether an answer came faster than reading takes.
pub fn is_unread(shown: &Shown, answer: &Answered, elapsed_ms: Option<u64>) -> bool {
    looked_ms(answer, elapsed_ms).is_some_and(|ms| ms < needed_ms(shown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Choice;

    fn answer(response_ms: Option<u64>, hidden_ms: u64) -> Answered {
        Answered { asked: 1, choice: Choice::A, response_ms, hidden_ms, rates: false, pressed_left: None }
    }

    #[test]
    fn whoever_answers_faster_than_reading_takes_has_not_read() {
        let shown = Shown {
            people: 100,
            classes: 2,
            groups: 1,
            a: vec![50, 15, 5, 30],
            b: vec![57, 8, 9, 26],
            values: None,
        };
        assert_eq!(needed_ms(&shown), 1_200);
        assert!(is_unread(&shown, &answer(Some(900), 0), Some(5_000)));
        assert!(!is_unread(&shown, &answer(Some(1_300), 0), Some(5_000)));
        // Without a script the server's clock is all there is; a browser that claims more than it is not believed.
        assert!(
            is_unread(&shown, &answer(None, 0), Some(700))
                && !is_unread(&shown, &answer(None, 0), Some(2_000))
        );
        assert!(is_unread(&shown, &answer(Some(8_000), 0), Some(700)));
        assert!(!is_unread(&shown, &answer(None, 0), None));
    }

    #[test]
    fn a_browser_that_claims_more_time_than_went_by_is_disputed() {
        assert!(!is_disputed(&answer(Some(5_000), 0), Some(4_500)));
        assert!(is_disputed(&answer(Some(5_000), 0), Some(3_000)));
        assert!(is_disputed(&answer(Some(1_000), 60_000), Some(3_000)));
        assert!(!is_disputed(&answer(None, 0), Some(1)) && !is_disputed(&answer(Some(9), 0), None));
    }
}
