//! What is behind the pages: one table at a time, from its file to the models in the order of its metric.

use super::asked::Asked;
use super::done::Done;
use super::loaded::{Loaded, columns_of};
use crate::args::{Global, Open};
use crate::commands::elicit::task::CAP;
use crate::commands::elicit::usual_place;
use crate::commands::models::stem;
use crate::fault::Fault;
use crate::files;
use crate::tables::TableColumns;
use anyhow::{Context as _, Result};
use equipoise::Step;
use equipoise_data::{Sample, Table, read};
use equipoise_server::open::{Action, File, Page, Sent, View, Work};
use equipoise_study::apart::Apart;
use equipoise_study::tables::Opened;
use std::path::{Path, PathBuf};

/// Questions before the result is shown, with two classes: those who want to know more go on.
const DOZEN: usize = 12;

/// Where a table is.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its file.
    pub path: PathBuf,
    /// The name of the file.
    pub name: String,
    /// Whether it was sent to the page and lies in a folder of ours.
    pub sent: bool,
}

impl Place {
    fn named(path: &Path) -> Self {
        let name =
            path.file_name().map_or_else(|| files::name(path), |name| name.to_string_lossy().into_owned());
        Self { path: path.to_owned(), name, sent: false }
    }

    /// Beside the table, where everything is saved.
    pub fn folder(&self) -> PathBuf {
        match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// Where the answers are kept.
    pub fn answers(&self) -> PathBuf {
        self.folder().join(usual_place(&self.path))
    }
}

/// One run of the command.
pub struct Session {
    global: Global,
    budget: Option<usize>,
    /// What was typed, for the tables of the page.
    typed: TableColumns,
    /// Reads what comes from elsewhere.
    apart: Apart,
    /// Where that is put.
    private: PathBuf,
    /// How many files were, so that each has a folder of its own.
    sent: usize,
    problem: Option<String>,
    loaded: Option<Loaded>,
    asked: Option<Asked>,
    done: Option<Done>,
    models: Vec<(String, Sample<Table>)>,
}

impl Session {
    /// A session without a table.
    pub fn new(args: &Open, global: &Global, private: &Path) -> Result<Self> {
        Ok(Self {
            global: global.clone(),
            budget: args.budget.map(usize::from),
            typed: args.columns.clone(),
            apart: Apart::new(std::env::current_exe().context("where this program is")?),
            private: private.to_owned(),
            sent: 0,
            problem: None,
            loaded: None,
            asked: None,
            done: None,
            models: vec![],
        })
    }

    /// Begins with a table that was named on the command line. One without columns is refused there and then; what is wrong
    /// with columns can be mended on the page.
    pub fn begin_with(&mut self, table: &Path, columns: &TableColumns) -> Result<()> {
        match self.load(Place::named(table), columns.clone()) {
            Err(error) if self.loaded.as_ref().is_none_or(|loaded| loaded.header.is_empty()) => Err(error),
            Err(error) => {
                self.problem = Some(self.told(&error));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Reads a table and leaves everything of the one before behind.
    fn load(&mut self, place: Place, columns: TableColumns) -> Result<()> {
        let opened = self.opened(&place, &columns)?;
        let (loaded, wrong) = Loaded::new(place, columns, opened, self.global.seed.unwrap_or(1));
        self.close();
        // A file that is no table at all has nothing to correct.
        self.loaded = Some(loaded).filter(|loaded| wrong.is_none() || !loaded.header.is_empty());
        wrong.map_or(Ok(()), Err)
    }

    fn opened(&self, place: &Place, columns: &TableColumns) -> Result<Opened> {
        match place.sent {
            true => Ok(self.apart.opened(&place.path, &columns.columns())?),
            false => Ok(Opened::here(&place.path, &columns.columns())),
        }
    }

    /// Puts a file into a folder of its own, which nobody else can look into.
    fn keep(&mut self, Sent { name, content }: Sent) -> Result<Place> {
        self.sent += 1;
        let folder = self.private.join(self.sent.to_string());
        std::fs::create_dir(&folder).context("a folder for the file")?;
        let path = folder.join(&name);
        files::write_private(&path, &content)?;
        Ok(Place { path, name, sent: true })
    }

    fn close(&mut self) {
        (self.loaded, self.asked, self.done) = (None, None, None);
        self.models.clear();
    }

    /// How many questions there are at most.
    fn most(&self, loaded: &Loaded) -> usize {
        let classes = loaded.rows.as_ref().map_or(2, |rows| rows.sample.table().classes().len());
        self.budget.unwrap_or(if classes == 2 { DOZEN } else { CAP })
    }

    fn try_act(&mut self, action: Action) -> Result<()> {
        match action {
            Action::File(sent) => {
                let (place, typed) = (self.keep(sent)?, self.typed.clone());
                self.load(place, typed)
            }
            Action::Path(path) if path.is_empty() => {
                Err(Fault::usage("no file was chosen, expected a table of predictions or its path").into())
            }
            Action::Path(path) => self.load(Place::named(Path::new(&path)), self.typed.clone()),
            Action::Columns(wished) => {
                let Some(loaded) = &self.loaded else { return Ok(()) };
                let (place, columns) = (loaded.place.clone(), columns_of(wished, &loaded.columns));
                self.load(place, columns)
            }
            Action::Begin { groups } => self.begin(groups),
            Action::Answer(number, choice) => {
                self.asked.as_mut().map_or(Ok(()), |asked| asked.answer(number, choice))?;
                self.finish()
            }
            Action::Undo(number) => {
                self.asked.as_mut().map_or(Ok(()), |asked| asked.undo(number))?;
                self.finish()
            }
            Action::More => {
                let (Some(loaded), Some(asked)) = (&self.loaded, &self.asked) else { return Ok(()) };
                self.asked = Some(asked.more(&loaded.place, &loaded.columns)?);
                self.finish()
            }
            Action::Models(sent, path, columns) => self.rank(sent, &path, columns),
            Action::Close => {
                self.close();
                Ok(())
            }
        }
    }

    fn begin(&mut self, groups: bool) -> Result<()> {
        let Some(loaded) = &self.loaded else { return Ok(()) };
        let Some(rows) = loaded.rows.as_ref().filter(|_| self.asked.is_none()) else { return Ok(()) };
        let wanted = (groups.then_some("group_fair"), self.most(loaded));
        let asked = Asked::begin(&loaded.place, &loaded.columns, &rows.sample, wanted, self.global.seed)?;
        self.asked = Some(asked);
        self.finish()
    }

    /// Finds out what came out, if the questions have come to their end; forgets it if they have not.
    fn finish(&mut self) -> Result<()> {
        let (Some(loaded), Some(asked)) = (&self.loaded, &self.asked) else { return Ok(()) };
        let Step::Done(outcome) = asked.step()? else {
            self.done = None;
            return Ok(());
        };
        if self.done.is_none() {
            let notes = loaded.rows.as_ref().map_or(&[][..], |rows| &rows.notes);
            let mut done = Done::new(asked, &loaded.place, notes, outcome, self.global.seed)?;
            done.rank(&self.models, (&loaded.place, asked.task.sample.in_memory()?), &self.global)?;
            self.done = Some(done);
        }
        Ok(())
    }

    fn rank(&mut self, sent: Vec<Sent>, path: &str, names: Vec<String>) -> Result<()> {
        let Some(loaded) = &self.loaded else { return Ok(()) };
        let (place, columns) = (loaded.place.clone(), loaded.columns.clone());
        let mut places = vec![];
        for sent in sent {
            places.push(self.keep(sent)?);
        }
        if !path.is_empty() {
            let found = read::files(path).map_err(|error| columns.blame(error))?;
            places.extend(found.iter().map(|path| Place::named(path)));
        }
        let mut models = self.models.clone();
        let mut add = |name: String, rows: Sample<Table>| {
            // The newest of a name is the one that is meant.
            models.retain(|(other, _)| *other != name);
            models.push((name, rows));
        };
        for place in &places {
            add(stem(&place.path), self.model(place, &columns)?);
        }
        for name in names {
            let scored = TableColumns { scores: Some(vec![name.clone()]), ..columns.clone() };
            let rows = self.model(&place, &scored)?;
            add(name, rows);
        }
        if places.is_empty() && models.len() == self.models.len() {
            return Err(Fault::usage(
                "no model was chosen, expected files of predictions, their path, or columns",
            )
            .into());
        }
        let (Some(loaded), Some(asked), Some(done)) = (&self.loaded, &self.asked, &mut self.done) else {
            return Ok(());
        };
        done.rank(&models, (&loaded.place, asked.task.sample.in_memory()?), &self.global)?;
        self.models = models;
        Ok(())
    }

    /// The rows of a model.
    fn model(&self, place: &Place, columns: &TableColumns) -> Result<Sample<Table>> {
        let Opened { reading, .. } = self.opened(place, columns)?;
        let named =
            |error: equipoise_data::Error| if place.sent { error.file(place.name.clone()) } else { error };
        Ok(columns.made_of(reading.map_err(named), &place.path)?.data)
    }

    /// An error in the words of the page: nobody knows the private folder files are put into.
    fn told(&self, error: &anyhow::Error) -> String {
        let mut told = format!("{error:#}");
        for folder in (1..=self.sent).rev() {
            let folder = self.private.join(folder.to_string()).join("");
            told = told.replace(&folder.display().to_string(), "");
        }
        told
    }
}

impl Work for Session {
    fn view(&mut self) -> View {
        let problem = self.problem.clone();
        let question = self.asked.as_ref().map(|asked| (asked, asked.step()));
        let page = match (&self.loaded, question, &self.done) {
            (Some(_), Some((asked, Ok(Step::Ask(query)))), _) => Page::Question(Box::new(asked.view(&query))),
            (Some(loaded), Some(_), Some(done)) => {
                Page::Outcome(Box::new(done.view(&loaded.place, loaded.other_columns())))
            }
            (Some(loaded), ..) => {
                Page::Table(Box::new(loaded.view(&loaded.place.answers(), self.most(loaded))))
            }
            (None, ..) => Page::Start,
        };
        View { problem, page }
    }

    fn act(&mut self, action: Action) {
        self.problem = self.try_act(action).err().map(|error| self.told(&error));
    }

    fn file(&mut self, name: &str) -> Option<File> {
        let loaded = self.loaded.as_ref()?;
        let svg = |text: &String| File { media_type: "image/svg+xml", content: text.clone().into_bytes() };
        match name {
            "achievable.svg" => loaded.rows.as_ref().map(|rows| svg(&rows.picture)),
            "interview.json" => {
                let content = std::fs::read(&self.asked.as_ref()?.save).ok()?;
                Some(File { media_type: "application/json", content })
            }
            _ => self.done.as_ref()?.file(name, &loaded.place, self.global.seed).ok().flatten(),
        }
    }
}
