//! What forms send.

/// The fields of a form.
#[derive(Debug)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// As they were sent.
    pub fn new(fields: Vec<(String, String)>) -> Self {
        Self(fields)
    }

    /// A field's first value; nothing if it was not sent.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// All values of a field.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Fields whose names begin so, each with the rest of its name.
    pub fn beginning<'a>(&'a self, with: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(field, value)| Some((field.strip_prefix(with)?, value.as_str())))
    }

    /// What makes sending the form twice harmless. The prefix keeps it apart from the keys of the study's own events.
    pub fn key(&self) -> Option<String> {
        let key = self.get("key");
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        ((1..=64).contains(&key.len()) && key.bytes().all(plain)).then(|| format!("web-{key}"))
    }

    /// A whole number; nothing if it is missing or not one.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name).parse().ok()
    }
}
