//! Pictures in files: SVG as it is, or a PNG of it where the name asks for one.

use crate::fault::Fault;
use crate::files::{self, Temporary};
use anyhow::Result;
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs that make a PNG of an SVG, with the words that name both files.
const CONVERTERS: [(&str, &[&str]); 4] = [
    ("rsvg-convert", &["--zoom", "2", "--output", "OUT", "IN"]),
    ("inkscape", &["--export-type=png", "--export-dpi=192", "--export-filename", "OUT", "IN"]),
    ("magick", &["-density", "192", "IN", "OUT"]),
    ("convert", &["-density", "192", "IN", "OUT"]),
];

/// What a PNG begins with.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Writes a picture that was drawn as SVG.
pub fn write(path: &Path, svg: &str) -> Result<()> {
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
        return files::write(path, svg);
    }
    let place = Temporary::new("picture")?;
    let [from, to] = ["picture.svg", "picture.png"].map(|name| place.path().join(name));
    files::write(&from, svg)?;
    for (program, words) in CONVERTERS {
        let word = |word: &&str| match *word {
            "IN" => from.clone().into_os_string(),
            "OUT" => to.clone().into_os_string(),
            word => word.into(),
        };
        let made = Command::new(program)
            .args(words.iter().map(word))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        // A program that is not there, or is another of the same name, is passed by.
        if let (Ok(status), Ok(png)) = (made, std::fs::read(&to))
            && status.success()
            && png.starts_with(SIGNATURE)
        {
            return files::write_bytes(path, &png);
        }
    }
    let sentence = format!(
        "cannot write {}: a PNG is made of the SVG by rsvg-convert, inkscape or ImageMagick, and none of them is there; name a \
         file that ends with .svg instead",
        files::name(path)
    );
    Err(Fault::input_output(sentence).into())
}
