//! What simulated people read off a page.

pub(super) fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

pub(super) fn title(page: &str) -> &str {
    between(page, "<title>", "</title>").unwrap_or("a page without a title")
}

/// Where the page's form goes; nothing if it has none but the one that withdraws.
pub(super) fn action(page: &str) -> Option<String> {
    let (_, main) = page.split_once("<main")?;
    between(main, "action=\"", "\"").map(str::to_owned)
}

/// An answer to every item of a questionnaire: the first option, or the least number.
pub(super) fn items(page: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = vec![];
    for part in page.split("name=\"item.").skip(1) {
        let Some((id, rest)) = part.split_once('"') else { continue };
        let name = format!("item.{id}");
        if all.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let value = match between(rest.split('>').next().unwrap_or(""), "value=\"", "\"") {
            Some("") | None => "30".to_owned(),
            Some(option) => option.to_owned(),
        };
        all.push((name, value));
    }
    all
}

/// The mistakes of both systems, and how many people they are out of, as the flow charts show them.
pub(super) fn numbers(page: &str) -> Option<([[u64; 2]; 2], u64)> {
    let counts: Vec<u64> = page
        .split("class=\"as-count\">")
        .skip(1)
        .filter_map(|part| part.split('<').next()?.replace(',', "").parse().ok())
        .collect();
    match counts[..] {
        [found, missed_a, cleared, alarms_a, _, missed_b, _, alarms_b] => {
            Some(([[missed_a, alarms_a], [missed_b, alarms_b]], found + missed_a + cleared + alarms_a))
        }
        _ => None,
    }
}
