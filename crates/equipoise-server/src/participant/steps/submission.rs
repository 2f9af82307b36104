//! A form on its way into the log.

use super::super::reply::Reply;
use super::super::visitor::{Panel, Visitor};
use super::super::{Participants, forms, panel};
use super::{frame_for, page_at, session, take_lease};
use crate::form::Fields;
use axum::http::StatusCode;
use equipoise_pages::language::Language;
use equipoise_pages::page::{self, Frame, Message, Questionnaire, StatedCost, Tried, render};
use equipoise_study::event::{Answered, Choice, Event, When};
use equipoise_study::study::{Exercise, Position};
use equipoise_study::{Error, Participant, Recorded, Refusal, Result, Step};

/// A year, in milliseconds: no browser has shown a page for longer.
const LONGEST_MS: u64 = 365 * 24 * 3_600_000;

/// Does what a form asks for.
pub fn submit(
    state: &Participants,
    visitor: &Visitor,
    path: &str,
    fields: &Fields,
    accepted: Language,
    panel: Panel,
    json: bool,
) -> Reply {
    let session = match session(state, visitor) {
        Ok(Some(session)) => session,
        Ok(None) => return Reply::no_link(Frame::outside(state.study(), accepted)),
        Err(error) => return Reply::from_error(&error),
    };
    let frame =
        match state.service.look(&session, |participant| frame_for(state, participant, visitor, accepted)) {
            Ok(frame) => frame,
            Err(error) => return Reply::from_error(&error),
        };
    let submission = Submission { state, session: &session, visitor, fields, frame, accepted, panel, json };
    match submission.handle(path) {
        Ok(reply) => reply,
        Err(Error::Refused(refusal)) => submission.refused(&refusal),
        Err(error) => Reply::from_error(&error),
    }
}

/// A form on its way into the log.
struct Submission<'a> {
    state: &'a Participants,
    session: &'a str,
    visitor: &'a Visitor,
    fields: &'a Fields,
    frame: Frame,
    accepted: Language,
    panel: Panel,
    json: bool,
}

impl Submission<'_> {
    fn handle(&self, path: &str) -> Result<Reply> {
        let fields = self.fields;
        match path {
            "/language" => {
                let language = fields.get("language").to_owned();
                self.record(&Event::LanguageChosen { language }, "/")
            }
            "/consent" => self.consent(),
            "/questionnaire" => self.questionnaire(),
            "/stated" => self.stated(),
            "/consequences" => self.record(&Event::ConsequencesRead, "/"),
            "/learn" => self.learn(),
            "/practice" => self.practice(),
            "/answer" => self.answer(),
            "/undo" => self.undo(),
            "/finish" => self.record(&Event::Completed, "/"),
            "/lease" => {
                let recorded = take_lease(self.state, self.session, self.visitor)?;
                self.done(&recorded, "/")
            }
            "/note" => self.note(),
            "/withdraw" => {
                self.write(&Event::Withdrawn)?;
                self.go("/")
            }
            _ => self.stale(),
        }
    }

    fn write(&self, event: &Event) -> Result<Recorded> {
        let key = self.fields.key().ok_or_else(|| Refusal::Unfit("the form has no key".to_owned()))?;
        let recorded = self.state.service.record(self.session, self.visitor.device(), &key, event)?;
        // A key stands for one thing. Were it found on another, this event would not be in the log.
        match &recorded {
            Recorded::Known(_, stored)
                if std::mem::discriminant(&**stored) != std::mem::discriminant(event) =>
            {
                Err(Refusal::NotNow("the key was used for something else".to_owned()).into())
            }
            _ => Ok(recorded),
        }
    }

    fn record(&self, event: &Event, then: &str) -> Result<Reply> {
        let recorded = self.write(event)?;
        self.done(&recorded, then)
    }

    /// Records what is sent once. With the same in it, sending it again is harmless; with something else, people are told what stands.
    fn record_once(&self, event: &Event, is_same: impl Fn(&Event) -> bool) -> Result<Reply> {
        let recorded = self.write(event)?;
        match &recorded {
            Recorded::Known(_, stored) if !is_same(stored) => {
                Ok(Reply::Page(StatusCode::CONFLICT, render(&Message::kept(self.frame.clone()))))
            }
            _ => self.done(&recorded, "/"),
        }
    }

    fn done(&self, recorded: &Recorded, then: &str) -> Result<Reply> {
        match self.json {
            true => Ok(Reply::Recorded { receipt: Some(recorded.receipt()), page: self.page(then)? }),
            false => Ok(Reply::Go(then.to_owned())),
        }
    }

    /// On to an address without having recorded anything.
    fn go(&self, to: &str) -> Result<Reply> {
        match self.json {
            true => Ok(Reply::Recorded { receipt: None, page: self.page(to)? }),
            false => Ok(Reply::Go(to.to_owned())),
        }
    }

    /// The page at an address such as `/?tried=undone`.
    fn page(&self, address: &str) -> Result<String> {
        let query = address.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let asked = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        page_at(self.state, self.session, self.visitor, self.accepted, &asked, &self.panel)
    }

    fn consent(&self) -> Result<Reply> {
        if self.fields.get("decision") != "agree" {
            return self.go("/?declined=yes");
        }
        if self.fields.get("agree") != "yes" {
            let page = self.state.service.look(self.session, |participant| {
                render(&page::Consent::of(self.frame.clone(), participant, true))
            })?;
            return Ok(Reply::Page(StatusCode::UNPROCESSABLE_ENTITY, page));
        }
        let (text, device) = (self.fields.get("text").to_owned(), self.visitor.device().to_owned());
        let external = panel::passed(self.state, self.visitor, &self.panel);
        self.record(&Event::ConsentGiven { text, device, external }, "/")
    }

    fn questionnaire(&self) -> Result<Reply> {
        let position = match self.fields.get("position") {
            "before" => Position::Before,
            "task" => Position::Task,
            "after" => Position::After,
            _ => return self.stale(),
        };
        let read = |language| forms::questionnaire(self.fields, self.state.study(), position, language);
        match read(self.frame.language) {
            // Options are kept as they were read, which may have been in another language.
            Ok(event) => self.record_once(&event, |stored| {
                self.state
                    .languages()
                    .into_iter()
                    .any(|language| read(language).is_ok_and(|sent| sent == *stored))
            }),
            Err(items) => {
                let page = Questionnaire::with(self.frame.clone(), position, items);
                Ok(Reply::Page(StatusCode::UNPROCESSABLE_ENTITY, render(&page)))
            }
        }
    }

    fn stated(&self) -> Result<Reply> {
        let when = match self.fields.get("when") {
            "before" => When::Before,
            "after" => When::After,
            _ => return self.stale(),
        };
        match forms::stated(self.fields, when, self.frame.language) {
            Ok(event) => self.record_once(&event, |stored| *stored == event),
            Err((typed, problem)) => {
                let page =
                    StatedCost::new(self.frame.clone(), self.state.study(), when, typed, vec![problem]);
                Ok(Reply::Page(StatusCode::UNPROCESSABLE_ENTITY, render(&page)))
            }
        }
    }

    fn learn(&self) -> Result<Reply> {
        if self.fields.get("seen") == "yes" {
            return self.go("/");
        }
        let Some(question) = self.fields.number::<usize>("question") else { return self.stale() };
        let Some(option) = self.fields.number::<usize>("option") else { return self.go("/?learned=nothing") };
        let recorded = self.write(&Event::PictureAnswered { question, option })?;
        let next = self.state.service.look(self.session, Participant::step)?;
        match next {
            // Wrong for the first time: the same question again.
            Step::Picture { question: same, .. } if same == question => self.done(&recorded, "/"),
            // Right: there is nothing to explain.
            _ if self.state.study().picture.get(question).is_some_and(|asked| asked.correct == option) => {
                self.done(&recorded, "/")
            }
            _ => self.done(&recorded, &format!("/?learned={question}&option={option}")),
        }
    }

    fn practice(&self) -> Result<Reply> {
        let (Some(choice), Some((index, tried))) = (self.fields.choice(), self.tried()) else {
            return self.stale();
        };
        let exercise = self.state.study().practice.get(index).map(|practice| practice.exercise);
        if exercise == Some(Exercise::Undo) && tried == Tried::Nothing {
            return self.go("/?tried=answered");
        }
        self.record(&Event::PracticeDone { number: index, choice }, "/")
    }

    /// Which practice comparison the form is about, and how far its exercise has come.
    fn tried(&self) -> Option<(usize, Tried)> {
        let (index, tried) = self.fields.get("query").split_once('.')?;
        Some((index.parse().ok()?, Tried::from_word(tried)))
    }

    fn answer(&self) -> Result<Reply> {
        let (Some(choice), Some(asked)) = (self.fields.choice(), self.fields.number("query")) else {
            return self.stale();
        };
        let event = Event::Answered(Answered {
            asked,
            choice,
            // A page that was open for longer was not looked at.
            response_ms: self.fields.number("response_ms").map(|ms: u64| ms.min(LONGEST_MS)),
            hidden_ms: self.fields.number("hidden_ms").map_or(0, |ms: u64| ms.min(LONGEST_MS)),
            rates: self.fields.get("view") == "rates",
            pressed_left: match self.fields.get("left") {
                "yes" => Some(true),
                "no" => Some(false),
                _ => None,
            },
        });
        let recorded = self.write(&event)?;
        // The same answer again gets the same receipt; another one is told what stands.
        if let Recorded::Known(_, stored) = &recorded
            && let Event::Answered(Answered { choice: kept, .. }) = **stored
            && kept != choice
        {
            return self.conflict(kept);
        }
        self.done(&recorded, "/")
    }

    fn conflict(&self, kept: Choice) -> Result<Reply> {
        let page = self.state.service.look(self.session, |participant| {
            let name = page::choice_name(&self.frame, participant, kept);
            render(&Message::conflict(self.frame.clone(), &name))
        })?;
        Ok(Reply::Page(StatusCode::CONFLICT, page))
    }

    fn undo(&self) -> Result<Reply> {
        if self.tried().is_some() {
            return self.go("/?tried=undone");
        }
        let asked = self.state.service.look(self.session, |participant| {
            // Only what this page knew of is taken back: a second press of an old page changes nothing.
            let on_screen = participant.pending().map(|question| question.seq);
            let known = self.fields.number::<u64>("query");
            (on_screen == known).then(|| participant.last_answered().map(|question| question.seq)).flatten()
        })?;
        match asked {
            Some(asked) => self.record(&Event::Retracted { asked }, "/"),
            None => self.go("/"),
        }
    }

    /// How the page is used; not an answer, so nothing is shown for it.
    fn note(&self) -> Result<Reply> {
        let event = match self.fields.get("what") {
            "rates" => Event::RatesToggled { rates: self.fields.get("value") == "true" },
            "card" => Event::CardOpened { card: 0 },
            _ => return self.stale(),
        };
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|e| Error::storage(format!("no random numbers: {e}")))?;
        let key = format!("web-note-{:016x}", u64::from_be_bytes(bytes));
        self.state.service.record(self.session, self.visitor.device(), &key, &event)?;
        Ok(Reply::Noted)
    }

    fn stale(&self) -> Result<Reply> {
        Ok(Reply::stale(StatusCode::CONFLICT, self.frame.clone()))
    }

    /// What a refusal means for the person.
    fn refused(&self, refusal: &Refusal) -> Reply {
        let frame = self.frame.clone();
        match refusal {
            Refusal::ContinuedElsewhere => {
                Reply::Page(StatusCode::CONFLICT, render(&Message::elsewhere(frame)))
            }
            Refusal::TooMuch => Reply::TooMany,
            Refusal::Left => {
                let page = panel::withdrawn(self.state, self.visitor, &self.panel, frame);
                Reply::Page(StatusCode::GONE, render(&page))
            }
            Refusal::Full => Reply::Go("/join/full".to_owned()),
            Refusal::Unfit(_) => Reply::stale(StatusCode::UNPROCESSABLE_ENTITY, frame),
            _ => Reply::stale(StatusCode::CONFLICT, frame),
        }
    }
}
