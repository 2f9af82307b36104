//! A short name for a document, so that two can be told apart without keeping both.

use serde_json::Value;
use std::fmt::Write as _;

/// The name of a text: FNV-1a of 128 bits. It tells accidents apart; it is no proof against forgery.
pub fn of(text: &str) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("fnv1a-{hash:032x}")
}

/// The name of a document whose numbers may differ in their last digits: nine count.
pub fn of_document(document: &Value) -> String {
    let mut text = String::new();
    write(document, &mut text);
    of(&text)
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => {
            let _ = write!(text, "{:.8e};", number.as_f64().unwrap_or(0.0));
        }
        Value::Array(items) => {
            text.push('[');
            items.iter().for_each(|item| write(item, text));
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            for (field, item) in fields {
                let _ = write!(text, "{field:?}:");
                write(item, text);
            }
            text.push('}');
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn known_texts_have_their_published_hashes() {
        assert_eq!(of(""), "fnv1a-6c62272e07bb014262b821756295c58d");
        assert_eq!(of("a"), "fnv1a-d228cb696f1a8caf78912b704e4a8964");
    }

    #[test]
    fn documents_differ_by_more_than_their_last_digits() {
        let name =
            |radius: f64, kind: &str| of_document(&json!({"radius": radius, "kind": kind, "rows": [1, 2]}));
        assert_eq!(name(0.1, "sphere"), name(0.1 + 1e-14, "sphere"));
        assert_ne!(name(0.1, "sphere"), name(0.100_001, "sphere"));
        assert_ne!(name(0.1, "sphere"), name(0.1, "hull"));
        assert_ne!(of_document(&json!([[1], 2])), of_document(&json!([1, [2]])));
    }
}
