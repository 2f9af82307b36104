//! The steps of a study: which page is next, and what each form does.

use super::Participants;
use super::forms;
use super::panel;
use super::reply::Reply;
use super::visitor::{Panel, Visitor};
use crate::form::Fields;
use crate::language::Language;
use crate::page::{
    self, Comparison, Frame, Learn, LearnState, Message, Questionnaire, StatedCost, Tried, Typed, render,
};
use axum::http::StatusCode;
use equipoise_study::event::{Answered, Choice, Event, When};
use equipoise_study::study::{Exercise, Position};
use equipoise_study::{Error, Participant, Recorded, Refusal, Result, Step};
use std::collections::BTreeMap;

type Asked = BTreeMap<String, String>;

/// A year, in milliseconds: no browser has shown a page for longer.
const LONGEST_MS: u64 = 365 * 24 * 3_600_000;

/// Turns a token into a visitor; `None` if it opens nothing. Opening a link changes nothing in the study: programs that
/// look at the links in a mail open them, too.
pub fn join(state: &Participants, token: &str, known: Option<Visitor>) -> Result<Option<Visitor>> {
    let Some(visitor) = known.filter(|known| known.token() == token).or_else(|| Visitor::new(token)) else {
        return Ok(None);
    };
    Ok(state.session(token)?.map(|_| visitor))
}

fn take_lease(state: &Participants, session: &str, visitor: &Visitor) -> Result<Recorded> {
    let events = state.service.look(session, Participant::events)?;
    let device = visitor.device().to_owned();
    state.service.record(
        session,
        visitor.device(),
        &format!("web-lease-{events}"),
        &Event::DeviceTaken { device },
    )
}

/// The session of a visitor; `None` if the link opens nothing.
fn session(state: &Participants, visitor: &Visitor) -> Result<Option<String>> {
    state.session(visitor.token())
}

/// What surrounds a page for a visitor; `None` if the link opens nothing.
pub fn frame(state: &Participants, visitor: &Visitor, accepted: Language) -> Result<Option<Frame>> {
    let Some(session) = session(state, visitor)? else { return Ok(None) };
    // Pages beside the flow have a key of their own: with the key of the step they were opened from, changing the language
    // would pass for the answer to the comparison on the screen.
    state.service.look(&session, |participant| {
        let key = format!("aside-{}", participant.events());
        Some(Frame { key, ..frame_for(state, participant, visitor, accepted) })
    })
}

fn frame_for(
    state: &Participants,
    participant: &Participant,
    visitor: &Visitor,
    accepted: Language,
) -> Frame {
    let study = participant.design().study();
    // Until somebody has chosen, the browser's wish counts.
    let chosen = match participant.step() {
        Step::Language => accepted,
        _ => Language::from_tag(participant.language()).unwrap_or(accepted),
    };
    let (stored, ended) = (participant.consented(), participant.step() == Step::Result);
    Frame {
        csrf: visitor.csrf(),
        key: key(participant),
        inside: true,
        stored,
        goes_on: stored && !ended,
        preview: state.previewing,
        ..Frame::outside(study, chosen)
    }
}

/// The key of the page's form: the same for everybody who sees the same page, so that sending it twice, from two tabs
/// or after a lost reply, is one event.
fn key(participant: &Participant) -> String {
    match participant.step() {
        Step::Consent => "consent".to_owned(),
        Step::Questionnaire(position) => format!("questionnaire-{}", position_word(position)),
        Step::StatedCost(When::Before) => "stated-before".to_owned(),
        Step::StatedCost(When::After) => "stated-after".to_owned(),
        Step::Consequences => "consequences".to_owned(),
        Step::Picture { question, wrong } => format!("learn-{question}-{wrong}"),
        Step::Practice(index) => format!("practice-{index}"),
        Step::Compare => {
            // After an undo the same question may be answered anew.
            let asked = participant.pending().map_or(0, |question| question.seq);
            format!("answer-{asked}-{}", participant.retracted())
        }
        Step::Finish => "finish".to_owned(),
        Step::Language | Step::Result | Step::Screened | Step::Withdrawn => {
            format!("at-{}", participant.events())
        }
    }
}

fn position_word(position: Position) -> &'static str {
    match position {
        Position::Before => "before",
        Position::Task => "task",
        Position::After => "after",
    }
}

/// The page somebody is at.
pub fn current(
    state: &Participants,
    visitor: &Visitor,
    accepted: Language,
    asked: &Asked,
    panel: &Panel,
) -> Reply {
    let page = session(state, visitor).and_then(|session| match session {
        Some(session) => page_at(state, &session, visitor, accepted, asked, panel).map(Some),
        None => Ok(None),
    });
    match page {
        Ok(Some(page)) => Reply::Page(StatusCode::OK, page),
        Ok(None) => Reply::no_link(Frame::outside(state.study(), accepted)),
        Err(error) => Reply::from_error(&error),
    }
}

fn page_at(
    state: &Participants,
    session: &str,
    visitor: &Visitor,
    accepted: Language,
    asked: &Asked,
    panel: &Panel,
) -> Result<String> {
    let page = |participant: &Participant| draw(participant, visitor, accepted, asked, state, panel);
    // Two requests of one person at the same moment: the second sees what the first has done.
    let drawn = match state.service.look(session, page) {
        Err(Error::Refused(Refusal::NotNow(_))) => state.service.look(session, page)?,
        drawn => drawn?,
    };
    let frame = match drawn {
        Drawn::Page(page) => return Ok(page),
        Drawn::Result(frame) => frame,
    };
    let receipt = state.service.last_row(session)?.map_or(String::new(), |receipt| receipt.to_string());
    state.service.look(session, |participant| {
        render(&page::ResultPage::new(frame, participant, receipt, panel::done(participant)))
    })
}

/// The result as a picture to keep; whoever has none is sent on.
pub fn picture(state: &Participants, visitor: &Visitor, accepted: Language) -> Result<Option<Reply>> {
    let Some(session) = session(state, visitor)? else { return Ok(None) };
    let receipt = state.service.last_row(&session)?.map_or(String::new(), |receipt| receipt.to_string());
    let drawn = state.service.look(&session, |participant| {
        let (frame, study) = (frame_for(state, participant, visitor, accepted), participant.design().study());
        let shown = participant.step() == Step::Result && study.completion.show_result;
        let told = shown.then(|| page::Told::new(participant, frame.language).ok()).flatten()?;
        Some(told.picture(&frame.study, &receipt, frame.language))
    })?;
    Ok(Some(drawn.map_or(Reply::Go("/".to_owned()), Reply::Picture)))
}

enum Drawn {
    Page(String),
    /// The last page needs the receipt, which the log has.
    Result(Frame),
}

fn draw(
    participant: &Participant,
    visitor: &Visitor,
    accepted: Language,
    asked: &Asked,
    state: &Participants,
    panel: &Panel,
) -> Drawn {
    let study = participant.design().study();
    let frame = frame_for(state, participant, visitor, accepted);
    let elsewhere = participant.consented() && participant.device() != Some(visitor.device());
    let step = participant.step();
    if elsewhere && !matches!(step, Step::Withdrawn | Step::Screened | Step::Result) {
        return Drawn::Page(render(&Message::elsewhere(frame)));
    }
    let asked = |name: &str| asked.get(name).map_or("", String::as_str);
    // What there is to say about the last answer of the learning phase, before the next question.
    if let (Ok(question), Ok(option)) = (asked("learned").parse::<usize>(), asked("option").parse::<usize>())
        && let Some(answered) = study.picture.get(question)
        && !matches!(step, Step::Picture { question: now, .. } if now == question)
    {
        let learned = if answered.correct == option { LearnState::Right } else { LearnState::Worked };
        return Drawn::Page(render(&Learn::new(frame, study, question, learned, false)));
    }
    let page = match step {
        Step::Language => render(&page::LanguagePage { frame, choices: state.languages() }),
        Step::Consent => match asked("declined") {
            "yes" => render(&panel::declined(state, visitor, panel, participant, frame)),
            _ => render(&page::Consent::of(frame, participant, false)),
        },
        Step::Questionnaire(position) => render(&Questionnaire::new(frame, study, position)),
        Step::StatedCost(when) => render(&StatedCost::new(frame, study, when, Typed::default(), vec![])),
        Step::Consequences => render(&page::Consequences::new(frame, study)),
        Step::Picture { question, wrong } => {
            let learning = if wrong == 0 { LearnState::Open } else { LearnState::Again };
            render(&Learn::new(frame, study, question, learning, asked("learned") == "nothing"))
        }
        Step::Practice(index) => {
            render(&Comparison::practice(frame, participant, index, Tried::from_word(asked("tried"))))
        }
        Step::Compare => match participant.pending() {
            Some(question) => {
                render(&Comparison::asked(frame, participant, question, Some(following(participant))))
            }
            None => render(&Message::failed(frame)),
        },
        Step::Finish => render(&Message::finish(frame)),
        Step::Result => match panel::again(participant, &frame).filter(|_| asked("again") == "yes") {
            Some(message) => render(&message),
            None => return Drawn::Result(frame),
        },
        Step::Screened => render(&Message::screened(frame, panel::screened(state))),
        Step::Withdrawn => render(&panel::withdrawn(state, visitor, panel, frame)),
    };
    Drawn::Page(page)
}

/// The fewest and the most comparisons that are expected to follow the one on the screen.
fn following(participant: &Participant) -> (usize, usize) {
    let (low, high) = participant.left();
    (low.saturating_sub(1), high.saturating_sub(1))
}

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
        match forms::questionnaire(self.fields, self.state.study(), position, self.frame.language) {
            Ok(event) => self.record(&event, "/"),
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
            Ok(event) => self.record(&event, "/"),
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
