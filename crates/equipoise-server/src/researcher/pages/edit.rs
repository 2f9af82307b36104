//! Changing a study before it is locked: its texts, its file, its tables, and the lock itself.

use crate::form::Fields;
use crate::researcher::Shared;
use crate::researcher::call::{Call, Outcome, Problem, go, page as show};
use crate::researcher::draft::Draft;
use crate::researcher::frame::{Frame, capital};
use crate::researcher::sign::Signed;
use crate::text::encoded;
use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use equipoise_study::directory::{Checked, Directory, LARGEST, STUDY, fingerprint};
use equipoise_study::event::Action;
use equipoise_study::fields::{fields, named, with_both};
use equipoise_study::{Error, Study};
use std::sync::Arc;

#[derive(Template)]
#[template(path = "researcher/edit.html")]
struct Page {
    frame: Frame,
    /// What was done, or why it was not.
    status: Option<String>,
    problem: Option<String>,
    /// What was typed and is not saved.
    unsaved: Option<String>,
    fields: Vec<Input>,
    /// Whether there are texts in other languages than the first, and whether they are unfolded.
    others: bool,
    unfolded: bool,
    text: String,
    /// What the file was when it was opened.
    seen: String,
    checked: Checked,
    /// Tables the study names.
    tables: Vec<String>,
}

/// A field of the form.
struct Input {
    path: String,
    name: &'static str,
    language: Option<String>,
    first: bool,
    value: String,
    /// Whether that is not what the file has.
    typed: bool,
    /// What is wrong with it.
    wrong: Option<String>,
}

/// What was typed into the page: all of it, whichever button was pressed.
struct Typed {
    text: String,
    values: Vec<(String, String)>,
    seen: String,
}

/// A text as browsers send it, as files have it.
fn plain(sent: &str) -> String {
    sent.replace("\r\n", "\n")
}

impl Typed {
    /// What a form has; the file as it is where it has nothing.
    fn of(form: &Fields, file: &str) -> Self {
        let values = form.beginning("field:").map(|(path, value)| (path.to_owned(), plain(value))).collect();
        let seen = form.all("seen").next().map_or_else(|| fingerprint(file.as_bytes()), str::to_owned);
        Self { text: form.all("text").next().map_or_else(|| file.to_owned(), plain), values, seen }
    }

    /// What of it the file does not have.
    fn unsaved(&self, file: &str) -> Vec<String> {
        let changed = |(path, value): &(String, String)| {
            let all = fields(file).unwrap_or_default();
            all.iter().find(|field| field.path == *path).is_some_and(|field| field.differs(value))
        };
        let text = (self.text != plain(file)).then(|| format!("the text of {STUDY}"));
        let values = self.values.iter().filter(|value| changed(value));
        text.into_iter()
            .chain(values.filter_map(|(path, _)| named(path)).map(|name| format!("\"{name}\"")))
            .collect()
    }

    /// What is wrong with numbers in the fields.
    fn wrong(&self, file: &str) -> Option<String> {
        let all = fields(file).unwrap_or_default();
        all.iter().find_map(|field| {
            let (_, value) = self.values.iter().find(|(path, _)| *path == field.path)?;
            field.wrong(value)
        })
    }
}

/// What `check` says, alone: for the script.
#[derive(Template)]
#[template(path = "researcher/findings.html")]
struct Findings {
    checked: Checked,
}

/// What was typed, where the page it was typed into cannot be shown.
#[derive(Template)]
#[template(path = "researcher/kept.html")]
struct Kept<'a> {
    frame: Frame,
    title: &'a str,
    sentence: &'a str,
    text: Option<String>,
    /// Path, name and value of every field.
    values: Vec<(String, String, String)>,
    seen: String,
    /// Whether whoever typed it can go on, once they are signed in.
    signed_out: bool,
}

/// A page that says one thing, with all that was typed: nothing of it is lost, and nothing of it is done.
pub fn kept(
    shared: &Shared,
    signed: Option<&Signed>,
    form: &Fields,
    status: StatusCode,
    [title, sentence]: [&str; 2],
) -> Response {
    let text = form.all("text").next().map(plain);
    let value = |(path, value): (&str, &str)| Some((path.to_owned(), named(path)?, plain(value)));
    let values: Vec<_> = form.beginning("field:").filter_map(value).collect();
    if text.is_none() && values.is_empty() {
        return Frame::message(shared, signed, status, [title, sentence]);
    }
    let page = Kept {
        frame: Frame::new(shared, signed, "/design"),
        title,
        sentence,
        text,
        values,
        seen: form.get("seen").to_owned(),
        signed_out: signed.is_none(),
    };
    (status, show(&page)).into_response()
}

/// The draft; where it cannot be changed any more, a page with all that was typed.
fn opened<'a>(call: &'a Call<'_>) -> Result<Result<&'a Draft, Response>, Problem> {
    match Draft::open(call) {
        Ok(draft) => Ok(Ok(draft)),
        Err(Problem::Closed(why)) => {
            let told = ["Nothing was changed", why];
            let signed = Some(&call.signed);
            Ok(Err(kept(call.shared, signed, &call.sent.form, StatusCode::CONFLICT, told)))
        }
        Err(problem) => Err(problem),
    }
}

/// The page.
pub fn page(call: &Call<'_>) -> Outcome {
    let draft = Draft::open(call)?;
    let (text, query) = (draft.files.text()?, &call.sent.query);
    let mut status = match query.get("saved") {
        "file" => Some(format!("Saved. A copy of the file before is beside it, as {STUDY}.before.")),
        "same" => Some(format!("Nothing was typed that {STUDY} does not have already.")),
        "table" => {
            let (name, copied) = (query.get("name"), query.get("copy") == "yes");
            stored(draft, name, copied.then(|| format!("{name}.before")))
        }
        _ => None,
    };
    if query.get("chosen") == "yes"
        && let Some(status) = &mut status
    {
        status.push_str(" The file that was chosen was not uploaded; choose it again for that.");
    }
    let typed = Typed::of(&Fields::new(vec![]), &text);
    content(call, draft, &typed, false, status.ok_or(None)).map(|page| show(&page))
}

/// What is said of a table that was stored.
fn stored(draft: &Draft, name: &str, copy: Option<String>) -> Option<String> {
    let holds = draft.files.holds(name).ok()?;
    let before = copy.map_or_else(
        || " There was none of this name before.".to_owned(),
        |copy| format!(" The one that was there is kept as {copy}."),
    );
    Some(format!("The table is stored as {name}: {holds}.{before}"))
}

/// The page with all that was typed, which need not be what the file has, and what was done, or why it was not.
fn content(
    call: &Call<'_>,
    draft: &Draft,
    typed: &Typed,
    rehearse: bool,
    told: Result<String, Option<String>>,
) -> Result<Page, Problem> {
    let names = |study: Study| study.data_files().iter().map(|file| file.display().to_string()).collect();
    let file = draft.files.text()?;
    let mut tables: Vec<String> = Study::parse(&file).map_or(vec![], names);
    tables.dedup();
    let (status, mut problem) = match told {
        Ok(status) => (Some(status), None),
        Err(problem) => (None, problem),
    };
    let checked = match with_both(&file, &typed.text, &typed.values) {
        Ok(text) => draft.files.check(&text, rehearse),
        Err(why) => {
            problem = problem.or_else(|| Some(capital(&format!("{why}."))));
            draft.files.check(&typed.text, rehearse)
        }
    };
    let input = |field: equipoise_study::fields::Field| {
        let sent = typed.values.iter().find(|(path, _)| *path == field.path).map(|(_, value)| value.clone());
        let value = sent.unwrap_or_else(|| plain(&field.value));
        // Sentences about a field begin with its place in the file, which nobody sees here.
        let said = checked.found.iter().filter(|(_, lint)| lint.error).find_map(|(_, lint)| {
            let rest = lint.what.strip_prefix(&field.path)?.strip_prefix(' ')?;
            Some(format!("\"{}\" {rest}", field.name))
        });
        Input {
            typed: field.differs(&value),
            wrong: field.wrong(&value).or(said).map(|what| format!("{what}.")),
            path: field.path,
            name: field.name,
            language: field.language,
            first: field.first,
            value,
        }
    };
    let fields: Vec<Input> = fields(&file).unwrap_or_default().into_iter().map(input).collect();
    let unsaved = typed.unsaved(&file);
    Ok(Page {
        frame: call.frame("/design/edit"),
        status,
        problem,
        unsaved: (!unsaved.is_empty()).then(|| unsaved.join(", ")),
        others: fields.iter().any(|field| !field.first),
        unfolded: fields.iter().any(|field| !field.first && (field.typed || field.wrong.is_some())),
        fields,
        text: typed.text.clone(),
        seen: typed.seen.clone(),
        checked,
        tables,
    })
}

/// The same, where nothing was changed.
fn refused(call: &Call<'_>, draft: &Draft, typed: &Typed, status: StatusCode, why: &str) -> Outcome {
    let page = content(call, draft, typed, false, Err(Some(capital(&format!("{why}.")))))?;
    Ok((status, show(&page)).into_response())
}

/// Says what there is to say of a text while it is typed.
pub fn check(call: &Call<'_>) -> Outcome {
    let draft = Draft::open(call)?;
    let file = draft.files.text()?;
    let typed = Typed::of(&call.sent.form, &file);
    let text = with_both(&file, &typed.text, &typed.values).unwrap_or(typed.text);
    Ok(show(&Findings { checked: draft.files.check(&text, false) }))
}

/// Shows a form again that was made before its sender signed in anew: nothing of it is done, and nothing that was typed is lost.
pub fn stale(call: &Call<'_>) -> Outcome {
    let form = &call.sent.form;
    match Draft::open(call) {
        Ok(draft) => {
            let why = "nothing is saved yet: this page was opened before you signed in; what you typed is below, save it again";
            let typed = Typed::of(form, &draft.files.text()?);
            refused(call, draft, &typed, StatusCode::FORBIDDEN, why)
        }
        Err(_) => {
            Ok(kept(call.shared, Some(&call.signed), form, StatusCode::FORBIDDEN, crate::researcher::STALE))
        }
    }
}

/// Checks what was typed, or puts it in the place of the file that is there.
pub fn save(call: &Call<'_>) -> Outcome {
    let draft = match opened(call)? {
        Ok(draft) => draft,
        Err(closed) => return Ok(closed),
    };
    let typed = Typed::of(&call.sent.form, &draft.files.text()?);
    match call.sent.form.get("do") {
        "check" => content(call, draft, &typed, true, Err(None)).map(|page| show(&page)),
        _ => replace(call, draft, typed),
    }
}

/// Replaces the study file, unless `check` finds an error, or the file is another by now.
fn replace(call: &Call<'_>, draft: &Draft, mut typed: Typed) -> Outcome {
    let _one = draft.files.alone();
    let file = draft.files.text()?;
    let unfit = StatusCode::UNPROCESSABLE_ENTITY;
    if typed.text.len() as u64 > LARGEST {
        let why = format!(
            "the text has more than {} MB, which no study file may have; nothing was saved",
            LARGEST >> 20
        );
        typed.text = file;
        return refused(call, draft, &typed, StatusCode::PAYLOAD_TOO_LARGE, &why);
    }
    let overtaken = fingerprint(file.as_bytes()) != typed.seen;
    if !overtaken && let Some(wrong) = typed.wrong(&file) {
        return refused(call, draft, &typed, unfit, &format!("nothing was saved: {wrong}"));
    }
    let text = match with_both(&file, &typed.text, &typed.values) {
        Ok(text) => text,
        // Said by `save` below, whatever the text is.
        Err(_) if overtaken => typed.text.clone(),
        Err(why) => return refused(call, draft, &typed, unfit, &format!("nothing was saved: {why}")),
    };
    let chosen = call.sent.files.iter().any(|part| part.file.as_deref().is_some_and(|name| !name.is_empty()));
    let done =
        |what: &str| go(&format!("/design/edit?saved={what}{}", if chosen { "&chosen=yes" } else { "" }));
    if !overtaken && text == file {
        return Ok(done("same"));
    }
    let checked = draft.files.check(&text, false);
    let design = match checked.design {
        Some(design) if !checked.found.iter().any(|(_, lint)| lint.error) => design,
        _ => {
            let why = "nothing was saved: the check finds an error, which is said below";
            return refused(call, draft, &typed, unfit, why);
        }
    };
    let note = || call.note(Action::Edited { file: STUDY.to_owned() });
    match draft.files.save(&text, &typed.seen, note) {
        Err(Error::Overtaken(why)) => refused(call, draft, &typed, StatusCode::CONFLICT, &why),
        Err(error) => Err(error.into()),
        Ok(()) => {
            draft.serve(draft.service(Arc::new(design)), false)?;
            Ok(done("file"))
        }
    }
}

/// Puts a table beside the study: in the place of one it names, or under its own name.
pub fn table(call: &Call<'_>) -> Outcome {
    let draft = match opened(call)? {
        Ok(draft) => draft,
        Err(closed) => return Ok(closed),
    };
    let _one = draft.files.alone();
    let text = draft.files.text()?;
    let typed = Typed::of(&call.sent.form, &text);
    let refuse = |why: &str| {
        let why = format!("nothing was changed: {why}");
        refused(call, draft, &typed, StatusCode::UNPROCESSABLE_ENTITY, &why)
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
        Ok(copy) => {
            draft.serve(draft.service(Arc::new(draft.files.design()?)), false)?;
            if typed.unsaved(&text).is_empty() {
                let copied = if copy.is_some() { "&copy=yes" } else { "" };
                return Ok(go(&format!("/design/edit?saved=table&name={}{copied}", encoded(name))));
            }
            let told = stored(draft, name, copy).ok_or(None);
            content(call, draft, &typed, false, told).map(|page| show(&page))
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
