//! Forms with files, as browsers send them (RFC 7578), read from memory.

use axum::body::{Body, HttpBody as _};
use std::future::poll_fn;
use std::pin::Pin;

/// The most that is taken of a form with files: what is larger is read by its path.
pub const LARGEST: usize = 64 << 20;

/// The longest name of a file that is kept.
const LONGEST_NAME: usize = 120;

/// A field or a file of a form.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// The field.
    pub field: String,
    /// The name of the file, without directories; nothing for a plain field.
    pub file: Option<String>,
    /// What was sent.
    pub content: Vec<u8>,
}

/// All of a body, or `None` if it is larger than may be. It is taken to its end all the same: a browser that is still sending
/// would not read what it is told.
pub async fn whole(body: Body) -> Option<Vec<u8>> {
    within(body, LARGEST).await
}

/// The same, if it is not larger than this.
pub async fn within(mut body: Body, largest: usize) -> Option<Vec<u8>> {
    let (mut kept, mut fits) = (vec![], true);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(frame) = frame else { return None };
        let Ok(data) = frame.into_data() else { continue };
        fits = fits && kept.len().saturating_add(data.len()) <= largest;
        if fits {
            kept.extend_from_slice(&data);
        } else {
            kept = vec![];
        }
    }
    fits.then_some(kept)
}

/// The parts of a form; `None` if it is not one.
pub fn parts(content_type: &str, body: &[u8]) -> Option<Vec<Part>> {
    let boundary = parameter(content_type.strip_prefix("multipart/form-data")?, "boundary")?;
    let (first, between) = (format!("--{boundary}"), format!("\r\n--{boundary}"));
    let mut rest = body.strip_prefix(b"\r\n").unwrap_or(body).strip_prefix(first.as_bytes())?;
    let mut parts = vec![];
    while !rest.starts_with(b"--") {
        rest = rest.strip_prefix(b"\r\n")?;
        let head = find(rest, b"\r\n\r\n")?;
        let head_text = String::from_utf8_lossy(rest.get(..head)?).into_owned();
        let content = rest.get(head.checked_add(4)?..)?;
        let end = find(content, between.as_bytes())?;
        let disposition = head_text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-disposition").then(|| value.to_owned())
        })?;
        parts.push(Part {
            field: parameter(&disposition, "name")?,
            file: parameter(&disposition, "filename").map(|name| plain(&name)),
            content: content.get(..end)?.to_vec(),
        });
        rest = content.get(end.checked_add(between.len())?..)?;
    }
    Some(parts)
}

/// Where some bytes begin.
fn find(all: &[u8], wanted: &[u8]) -> Option<usize> {
    let (first, mut from) = (*wanted.first()?, 0_usize);
    loop {
        let rest = all.get(from..)?;
        from = from.checked_add(rest.iter().position(|byte| *byte == first)?)?;
        if all.get(from..)?.starts_with(wanted) {
            return Some(from);
        }
        from = from.checked_add(1)?;
    }
}

/// The value of `name=value` or `name="value"` after a semicolon.
fn parameter(header: &str, wanted: &str) -> Option<String> {
    let mut rest = header;
    while let Some((_, after)) = rest.split_once(';') {
        let (name, after) = after.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find(';').unwrap_or(after.len())),
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value.trim().to_owned()).filter(|value| !value.is_empty() || wanted == "filename");
        }
        rest = after;
    }
    None
}

/// A name that is one of a file and leads nowhere else.
fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|c| !c.is_control()).collect();
    // The end says what kind of file it is.
    let skip = kept.chars().count().saturating_sub(LONGEST_NAME);
    let kept: String = kept.chars().skip(skip).collect();
    match kept.trim_start_matches('.').trim() {
        "" => String::new(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_harness::fuzz::{Corpus, run};
    use equipoise_harness::{seed, times};

    const TYPE: &str = "multipart/form-data; boundary=----x7";
    const FORM: &str = "------x7\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nabc\r\n------x7\r\n\
        Content-Disposition: form-data; name=\"file\"; filename=\"C:\\\\a\\..\\val.csv\"\r\nContent-Type: text/csv\r\n\r\n\
        y,p\r\n1,0.5\r\n\r\n------x7--\r\n";

    #[test]
    fn fields_and_files_are_told_apart_and_kept_to_the_byte() {
        let parts = parts(TYPE, FORM.as_bytes()).unwrap();
        let part = |field: &str, file: Option<&str>, content: &str| Part {
            field: field.to_owned(),
            file: file.map(str::to_owned),
            content: content.as_bytes().to_vec(),
        };
        assert_eq!(parts, [part("csrf", None, "abc"), part("file", Some("val.csv"), "y,p\r\n1,0.5\r\n")]);
    }

    #[test]
    fn names_lead_nowhere() {
        for (sent, kept) in [
            ("val.csv", "val.csv"),
            ("../../etc/passwd", "passwd"),
            ("..", ""),
            (".bashrc", "bashrc"),
            ("a/", ""),
            ("x\ny.csv", "xy.csv"),
        ] {
            assert_eq!(plain(sent), kept, "{sent}");
        }
        assert_eq!(plain(&format!("{}.parquet", "x".repeat(500))).len(), LONGEST_NAME);
    }

    #[test]
    fn fuzz_forms_with_files() {
        let corpus = Corpus::new(vec![FORM.as_bytes().to_vec()]);
        let tried = run("forms with files", &corpus, seed(), times("EQUIPOISE_FUZZ", 10_000), |input| {
            parts(TYPE, input).is_some()
        });
        assert!(tried.taken > 0);
    }
}
