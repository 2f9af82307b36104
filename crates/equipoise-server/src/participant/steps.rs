//! The steps of a study: which page is next, and what each form does.

mod submission;

pub use submission::submit;

use super::Participants;
use super::panel;
use super::reply::Reply;
use super::visitor::{Panel, Visitor};
use axum::http::StatusCode;
use equipoise_pages::language::Language;
use equipoise_pages::page::{
    self, Comparison, Frame, Learn, LearnState, Message, Questionnaire, StatedCost, Tried, Typed, render,
};
use equipoise_study::event::{Event, When};
use equipoise_study::study::Position;
use equipoise_study::{Error, Participant, Recorded, Refusal, Result, Step};
use std::collections::BTreeMap;

type Asked = BTreeMap<String, String>;

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
