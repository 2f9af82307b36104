//! Each module uses only the ones above it in the list, so that the crate can be read from the top.

use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom of the house to the top. A line may use its own and the earlier ones.
const FLOORS: [&[&str]; 11] = [
    &["error", "document", "linalg", "quadrature"],
    &["rates", "view"],
    &["metric"],
    &["population"],
    &["space"],
    &["ask"],
    &["search"],
    &["engine"],
    &["any_plan"],
    &["decide"],
    &["testing"],
];

fn sources(place: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(sources(&path)),
            false => found.push(path),
        }
    }
    found
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// Modules that a line of code names as `crate::module`.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split("crate::").skip(1);
    parts.map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or(""))
}

/// The lines that break the order, among those outside comments and unit tests.
fn breaches(module: &str, text: &str) -> Vec<String> {
    let own = floor(module).unwrap_or_else(|| panic!("{module} has no place in the order: add it to FLOORS"));
    let code = text.split("#[cfg(test)]").next().unwrap_or("");
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let upward = |name: &&str| floor(name).is_some_and(|above| above > own);
    lines.filter(|line| named(line).any(|name| upward(&name))).map(str::to_owned).collect()
}

#[test]
fn no_module_uses_one_that_comes_after_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut broken = vec![];
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = first.trim_end_matches(".rs");
        if module != "lib" {
            let found = breaches(module, &fs::read_to_string(&path).unwrap());
            broken.extend(found.into_iter().map(|line| format!("{}: {}", inside.display(), line.trim())));
        }
    }
    assert!(broken.is_empty(), "these lines use a module that comes later:\n{}", broken.join("\n"));
}

#[test]
fn a_line_that_breaks_the_order_is_named() {
    let text = "use crate::metric::Metric;\nuse crate::engine::Adaptive;\n// crate::engine\n";
    assert_eq!(breaches("ask", text), ["use crate::engine::Adaptive;"]);
    assert_eq!(breaches("decide", text), Vec::<String>::new());
}
