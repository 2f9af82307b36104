//! Ready-made studies to begin from.

/// A template.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    /// What `new --template` calls it.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The study file.
    pub text: &'static str,
    /// The table beside it: name and contents. `scripts/template-tables` makes them.
    pub table: (&'static str, &'static str),
    /// What the table is, in a line.
    pub table_about: &'static str,
}

const PREDICTIONS: &str = "the predictions its questions come from, of people who were drawn by chance";
const CANDIDATES: &str = "the candidates its questions are about, which are made up";

/// All templates.
pub const TEMPLATES: [Template; 4] = [
    Template {
        name: "binary-cancer",
        about: "two classes: missed cancers against false alarms, as in chapter 8 of the thesis",
        text: include_str!("templates/binary-cancer.toml"),
        table: ("cancer.csv", include_str!("templates/cancer.csv")),
        table_about: PREDICTIONS,
    },
    Template {
        name: "multiclass-triage",
        about: "three classes: an emergency department's triage",
        text: include_str!("templates/multiclass-triage.toml"),
        table: ("triage.csv", include_str!("templates/triage.csv")),
        table_about: PREDICTIONS,
    },
    Template {
        name: "group-fair-hiring",
        about: "two classes and two groups: mistakes of a hiring filter, and the gaps between women and men",
        text: include_str!("templates/group-fair-hiring.toml"),
        table: ("hiring.csv", include_str!("templates/hiring.csv")),
        table_about: PREDICTIONS,
    },
    Template {
        name: "choose-program",
        about: "candidates with attributes: which program, by what it misses, how long it takes and what it costs",
        text: include_str!("templates/choose-program.toml"),
        table: ("programs.csv", include_str!("templates/programs.csv")),
        table_about: CANDIDATES,
    },
];

/// The template with a name.
pub fn find(name: &str) -> Option<Template> {
    TEMPLATES.into_iter().find(|template| template.name == name)
}
