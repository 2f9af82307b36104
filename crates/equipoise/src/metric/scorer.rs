//! A metric as one Python file that needs nothing else.
//!
//! `scorer.py` beside this file evaluates any metric document. What [`Metric::to_python`] writes is that file with the
//! metric, its draws and its sizes filled in.

use super::Metric;
use serde_json::{Map, Value};

const TEMPLATE: &str = include_str!("scorer.py");

impl Metric {
    /// A Python file with functions that score predictions by this metric: `score`, which gives an interval too, and
    /// `scorer`, which scikit-learn takes.
    ///
    /// The interval allows for the sample and, if `draws` are given, for what is not known of the metric; see
    /// [`Metric::draws`].
    ///
    /// ```
    /// use equipoise::Metric;
    /// let text = r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,6]}"#;
    /// let file = Metric::from_json(text)?.to_python(&[]);
    /// assert!(file.contains("\"weights\": [1.0, 6.0]"));
    /// # Ok::<(), equipoise::Error>(())
    /// ```
    pub fn to_python(&self, draws: &[Metric]) -> String {
        let metric = self.coefficients_only();
        // A draw differs from the metric in some fields only.
        let draw = |draw: &Metric| {
            let fields = draw.coefficients_only().into_iter();
            Value::Object(fields.filter(|(name, value)| metric.get(name) != Some(value)).collect())
        };
        let lines: Vec<String> =
            draws.iter().map(|metric| format!("    {},\n", literal(&draw(metric)))).collect();
        let draws = if lines.is_empty() { "[]".to_owned() } else { format!("[\n{}]", lines.concat()) };
        // Whole lines are replaced, since strings have no line breaks: no name of a class is taken for a place to fill.
        let fill = |text: String, name: &str, empty: &str, full: &str| {
            text.replacen(&format!("\n{name} = {empty}\n"), &format!("\n{name} = {full}\n"), 1)
        };
        let text = fill(TEMPLATE.to_owned(), "METRIC", "{}", &literal(&Value::Object(metric.clone())));
        let text = fill(text, "DRAWS", "[]", &draws);
        let text = fill(text, "CLASS_COUNT", "2", &self.view().classes().to_string());
        fill(text, "GROUP_COUNT", "1", &self.view().groups().to_string())
    }

    /// The document without what is believed of the metric.
    fn coefficients_only(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else { return Map::new() };
        fields.retain(|name, _| !matches!(name.as_str(), "posterior" | "interval" | "provenance"));
        fields
    }
}

/// A document as Python writes it.
fn literal(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        // Escapes of JSON strings are escapes of Python strings.
        Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(parts) => format!("[{}]", joined(parts.iter().map(literal).collect())),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                format!("{}: {}", Value::from(name.as_str()), literal(value))
            };
            format!("{{{}}}", joined(fields.iter().map(field).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_classes_stay_strings() {
        let text = r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost",
                       "classes":["a\"\"\"\\","DRAWS = []"],"weights":[1,6]}"#;
        let file = Metric::from_json(text).unwrap().to_python(&[]);
        assert!(file.contains(r#""classes": ["a\"\"\"\\", "DRAWS = []"]"#), "{}", &file[..1200]);
        assert!(file.contains("\nDRAWS = []\n"));
    }

    #[test]
    fn draws_have_the_fields_that_differ() {
        let text = r#"{"format":1,"kind":"linear","measure":"off_diagonal","sense":"cost","weights":[1,6],
                       "interval":{"low":4,"high":9,"level":0.95}}"#;
        let metric = Metric::from_json(text).unwrap();
        let draw = metric.with_coefficients(&[1.0, 7.0]).unwrap();
        let file = metric.to_python(&[draw]);
        assert!(file.contains("DRAWS = [\n    {\"weights\": [1.0, 7.0]},\n]\n"));
        assert!(!file.contains("interval\":"));
    }
}
