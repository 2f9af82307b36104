# Short names for the commands of CONTRIBUTING.md; `just` lists them.

default:
    @just --list

# What CI runs: paths, format, lints, documentation, all tests
check:
    bash scripts/test

# All tests, documentation tests included
test *filter:
    cargo test --workspace --locked {{filter}}

# The documentation, in target/doc
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# The same with typeset formulas; the pages load KaTeX from a third party
doc-math:
    RUSTDOCFLAGS="-D warnings --html-in-header crates/equipoise/katex.html" cargo doc -p equipoise --no-deps --locked

# Benchmarks: one elicitation, one replay
bench *filter:
    cargo bench -p equipoise --bench elicit -- {{filter}}

# A table or figure of the papers: just reproduce a1; all of them without a name
reproduce id="--all":
    cargo run --release -- reproduce {{id}}

# The demonstration
demo *options:
    cargo run --release -- demo {{options}}
