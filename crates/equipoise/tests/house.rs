//! Each module uses only the ones above it in the list, so that the crate can be read from the top.

use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom of the house to the top. A line may use its own and the earlier ones.
const FLOORS: [&[&str]; 11] = [
    &["error", "document", "linalg", "quadrature", "seed"],
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
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or("");
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

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expanded(path: &str) -> Vec<String> {
    match (path.split_once('{'), path.split_once('}')) {
        (Some((before, _)), Some((inside, after))) => {
            let list = &inside[before.len() + 1..];
            list.split(',').map(|part| format!("{before}{part}{after}")).collect()
        }
        _ => vec![path.to_owned()],
    }
}

/// What looks like a file or a folder among the words in backticks of a line.
fn paths(line: &str) -> impl Iterator<Item = String> + '_ {
    let quoted = line.split('`').skip(1).step_by(2);
    let path = |word: &&str| {
        !word.contains(' ') && !word.contains('<') && (word.ends_with('/') || word.ends_with(".rs"))
    };
    quoted.filter(path).flat_map(expanded)
}

/// In a section whose heading names a folder, paths are inside it; elsewhere they are inside `crates`.
#[test]
fn the_architecture_page_names_files_that_exist() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(project.join("ARCHITECTURE.md")).unwrap();
    let (mut inside, mut missing, mut found) = (project.join("crates"), vec![], 0);
    for line in page.lines() {
        if line.starts_with("## ") {
            let root = line.split('`').nth(1).filter(|root| root.starts_with("crates/"));
            inside = project.join(root.unwrap_or("crates"));
        }
        if line.starts_with("| ") {
            for path in paths(line) {
                found += 1;
                let own = inside.join(&path);
                let sibling = paths(line).next().map(|first| inside.join(first).join(&path));
                if !own.exists() && !sibling.is_some_and(|path| path.exists()) {
                    missing.push(path);
                }
            }
        }
    }
    assert!(found > 60, "only {found} paths were looked at");
    assert!(missing.is_empty(), "the page names what is not there: {}", missing.join(", "));
}
