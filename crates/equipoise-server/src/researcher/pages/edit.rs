//! Changing a study before it is locked: its texts, its file, its tables, and the lock itself.

use crate::researcher::call::{Call, Outcome, Problem, go, page as show};
use crate::researcher::draft::Draft;
use crate::researcher::frame::{Frame, capital};
use askama::Template;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use equipoise_study::directory::{Checked, Directory, LARGEST, STUDY, fingerprint};
use equipoise_study::event::Action;
use equipoise_study::fields::{Field, fields, with_fields};
use equipoise_study::{Error, Study};
use std::sync::Arc;

#[derive(Template)]
#[template(path = "researcher/edit.html")]
struct Page {
    frame: Frame,
    /// What was done, or why it was not.
    status: Option<String>,
    problem: Option<String>,
    fields: Vec<Field>,
    /// Whether there are texts in other languages than the first.
    others: bool,
    text: String,
    /// Whether that is not what the file has.
    typed: bool,
    /// What the file was when it was opened.
    seen: String,
    checked: Checked,
    /// Tables the study names.
    tables: Vec<String>,
}

/// What `check` says, alone: for the script.
#[derive(Template)]
#[template(path = "researcher/findings.html")]
struct Findings {
    checked: Checked,
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    let draft = Draft::open(call)?;
    let text = draft.files.text()?;
    let status = match call.sent.query.get("saved") {
        "file" => Some("Saved. A copy of the file before is beside it, as study.toml.before.".to_owned()),
        "table" => Some("The table is in its place; a copy of one that was there is beside it.".to_owned()),
        _ => None,
    };
    let seen = fingerprint(text.as_bytes());
    content(call, draft, (text, seen), false, status.ok_or(None)).map(|page| show(&page))
}

/// The page with a text that need not be the file's, and what was done, or why it was not.
fn content(
    call: &Call<'_>,
    draft: &Draft,
    (text, seen): (String, String),
    rehearse: bool,
    told: Result<String, Option<String>>,
) -> Result<Page, Problem> {
    let named = |study: Study| study.data_files().iter().map(|file| file.display().to_string()).collect();
    let (file, fields) = (draft.files.text()?, fields(&text).unwrap_or_default());
    let mut tables: Vec<String> = Study::parse(&file).map_or(vec![], named);
    tables.dedup();
    let (status, problem) = match told {
        Ok(status) => (Some(status), None),
        Err(problem) => (None, problem),
    };
    Ok(Page {
        frame: call.frame("/design/edit"),
        status,
        problem,
        others: fields.iter().any(|field| !field.first),
        fields,
        typed: text != file,
        checked: draft.files.check(&text, rehearse),
        text,
        seen,
        tables,
    })
}

/// The same, where nothing was changed.
fn refused(call: &Call<'_>, draft: &Draft, sent: (String, String), status: StatusCode, why: &str) -> Outcome {
    let page = content(call, draft, sent, false, Err(Some(capital(&format!("{why}.")))))?;
    Ok((status, show(&page)).into_response())
}

/// A text as browsers send it, as files have it.
fn sent(call: &Call<'_>, field: &str) -> String {
    call.sent.form.get(field).replace("\r\n", "\n")
}

/// Says what there is to say of a text while it is typed.
pub fn check(call: &Call<'_>) -> Outcome {
    let draft = Draft::open(call)?;
    Ok(show(&Findings { checked: draft.files.check(&sent(call, "text"), false) }))
}

/// Checks the file that was sent, or puts it in the place of the one that is there.
pub fn save(call: &Call<'_>) -> Outcome {
    let draft = Draft::open(call)?;
    let sent = (sent(call, "text"), call.sent.form.get("seen").to_owned());
    match call.sent.form.get("do") {
        "check" => content(call, draft, sent, true, Err(None)).map(|page| show(&page)),
        _ => replace(call, draft, sent),
    }
}

/// The same for the fields that people change most.
pub fn save_fields(call: &Call<'_>) -> Outcome {
    let draft = Draft::open(call)?;
    let (text, seen) = (draft.files.text()?, call.sent.form.get("seen").to_owned());
    let field = |field: Field| {
        let name = format!("field:{}", field.path);
        let value = call.sent.form.all(&name).next()?;
        Some((field.path, value.replace("\r\n", "\n")))
    };
    let values: Vec<(String, String)> = fields(&text)?.into_iter().filter_map(field).collect();
    replace(call, draft, (with_fields(&text, &values)?, seen))
}

/// Replaces the study file, unless `check` finds an error, or the file is another by now.
fn replace(call: &Call<'_>, draft: &Draft, (text, seen): (String, String)) -> Outcome {
    let _one = draft.files.alone();
    if text.len() as u64 > LARGEST {
        let why = format!(
            "the text has more than {} MB, which no study file may have; nothing was saved",
            LARGEST >> 20
        );
        return refused(call, draft, (draft.files.text()?, seen), StatusCode::PAYLOAD_TOO_LARGE, &why);
    }
    let checked = draft.files.check(&text, false);
    let design = match checked.design {
        Some(design) if !checked.found.iter().any(|(_, lint)| lint.error) => design,
        _ => {
            let why = "nothing was saved: the check finds an error, which is said below";
            return refused(call, draft, (text, seen), StatusCode::UNPROCESSABLE_ENTITY, why);
        }
    };
    let note = || call.note(Action::Edited { file: STUDY.to_owned() });
    match draft.files.save(&text, &seen, note) {
        Err(Error::Overtaken(why)) => refused(call, draft, (text, seen), StatusCode::CONFLICT, &why),
        Err(error) => Err(error.into()),
        Ok(()) => {
            draft.serve(draft.service(Arc::new(design)), false)?;
            Ok(go("/design/edit?saved=file"))
        }
    }
}

/// Puts a table beside the study: in the place of one it names, or under its own name.
pub fn table(call: &Call<'_>) -> Outcome {
    let draft = Draft::open(call)?;
    let _one = draft.files.alone();
    let text = draft.files.text()?;
    let seen = fingerprint(text.as_bytes());
    let refuse = |why: &str| {
        let why = format!("nothing was changed: {why}");
        refused(call, draft, (text.clone(), seen.clone()), StatusCode::UNPROCESSABLE_ENTITY, &why)
    };
    let file = call.sent.files.iter().find(|part| part.field == "file");
    let Some((file, own)) =
        file.and_then(|part| Some((part, part.file.as_deref()?))).filter(|(_, own)| !own.is_empty())
    else {
        return refuse("no file was chosen");
    };
    let name = match call.sent.form.get("as") {
        "" => own,
        named => named,
    };
    let note = || call.note(Action::Edited { file: name.to_owned() });
    match draft.files.put(name, &file.content, note) {
        Err(Error::Log(error)) => Err(Error::Log(error).into()),
        Err(error) => refuse(&error.to_string()),
        Ok(()) => {
            draft.serve(draft.service(Arc::new(draft.files.design()?)), false)?;
            Ok(go("/design/edit?saved=table"))
        }
    }
}

#[derive(Template)]
#[template(path = "researcher/lock.html")]
struct LockPage {
    frame: Frame,
    version: u64,
    hash: Option<String>,
    checked: Checked,
}

/// What locking means, and what would be locked.
pub fn before_lock(call: &Call<'_>) -> Outcome {
    let draft = Draft::open(call)?;
    let checked = draft.files.check(&draft.files.text()?, false);
    let design = checked.design.as_ref();
    Ok(show(&LockPage {
        frame: call.frame("/design/lock"),
        version: design.map_or(0, |design| design.study().version),
        hash: design.filter(|_| !checked.fails()).map(|design| design.hash().to_owned()),
        checked,
    }))
}

/// Locks the study, if it is the one that was shown.
pub fn lock(call: &Call<'_>) -> Outcome {
    let draft = Draft::open(call)?;
    let _one = draft.files.alone();
    let design = Arc::new(draft.files.design()?);
    if design.hash() != call.sent.form.get("hash") {
        let what = "the study has changed since this page was opened; nothing was locked. Look at it again";
        return Err(Error::Overtaken(what.to_owned()).into());
    }
    let service = draft.service(design.clone());
    draft.files.may_lock(&design, Directory::logged(&service)?)?;
    call.note(Action::Locked { version: design.study().version })?;
    draft.files.fix(&service)?;
    draft.serve(service, true)?;
    Ok(go("/design?locked=yes"))
}
