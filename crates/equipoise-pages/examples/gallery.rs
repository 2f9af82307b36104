//! Every page in every state, as files: `cargo run -p equipoise-pages --example gallery -- DIR`
//!
//! Open `DIR/index.html` through any static server; `e2e/gallery.mjs` does, takes pictures, and checks accessibility.

use equipoise_log::{MemoryStore, Writer};
use equipoise_pages::assets;
use equipoise_pages::language::Language;
use equipoise_pages::page::{
    Comparison, Consent, Consequences, Device, Ending, Field, Frame, LanguagePage, Learn, LearnState,
    Message, Questionnaire, ResultPage, StatedCost, Tried, Typed, render,
};
use equipoise_study::event::{Answered, Choice, When};
use equipoise_study::seams::{TestClock, TestRandom};
use equipoise_study::study::{Direction, Position, Variant};
use equipoise_study::{Design, Event, Participant, Question, Service, Step, Study, template};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the tables of the templates are.
const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../equipoise-study/src/templates");

fn main() -> Result<(), Box<dyn Error>> {
    let Some(directory) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err("where to? cargo run -p equipoise-pages --example gallery -- DIR".into());
    };
    let mut gallery = Gallery { directory, names: vec![] };
    std::fs::create_dir_all(gallery.directory.join("assets"))?;
    for asset in [&assets::STYLE, &assets::SCRIPT, &assets::ICON] {
        std::fs::write(gallery.directory.join(asset.path().trim_start_matches('/')), asset.text)?;
    }
    for language in
        [Language::English, Language::German, Language::Spanish, Language::French, Language::Pseudo]
    {
        gallery.binary(language)?;
    }
    gallery.variants()?;
    gallery.larger("multiclass-triage", "multiclass")?;
    gallery.larger("group-fair-hiring", "groups")?;
    gallery.larger("choose-program", "attributes")?;
    let names = std::mem::take(&mut gallery.names);
    std::fs::write(gallery.directory.join("pages.json"), serde_json::to_string(&names)?)?;
    println!("{} pages in {}", names.len(), gallery.directory.display());
    Ok(())
}

struct Gallery {
    directory: PathBuf,
    names: Vec<String>,
}

impl Gallery {
    fn put(&mut self, name: String, page: String) -> std::io::Result<()> {
        std::fs::write(self.directory.join(&name).with_extension("html"), page)?;
        self.names.push(name);
        Ok(())
    }

    fn binary(&mut self, language: Language) -> Result<(), Box<dyn Error>> {
        let tag = language.tag();
        let sample = Sample::new("binary-cancer", |_| {})?;
        let study = sample.service.design().study();
        let frame = sample.frame(language);
        let words = language.words();
        let typed = || Typed { ratio: "ten".to_owned(), low: String::new(), high: String::new() };
        let mut put = |name: &str, page: String| self.put(format!("{tag}-{name}"), page);
        put(
            "language",
            render(&LanguagePage {
                frame: Frame { stored: false, goes_on: false, ..frame() },
                choices: Language::OFFERED.to_vec(),
            }),
        )?;
        let unknown = || Frame { stored: false, goes_on: false, ..frame() };
        put("consent", render(&Consent::new(unknown(), study, "0".repeat(64), false)))?;
        put("consent-missing", render(&Consent::new(unknown(), study, "0".repeat(64), true)))?;
        for (name, position) in
            [("before", Position::Before), ("task", Position::Task), ("after", Position::After)]
        {
            if study.items(position).next().is_some() {
                put(&format!("questionnaire-{name}"), render(&Questionnaire::new(frame(), study, position)))?;
            }
        }
        let mut wrong: Vec<Field> =
            study.items(Position::Before).map(|item| Field::empty(item, language)).collect();
        for field in wrong.iter_mut().step_by(3) {
            field.problem = Some(words.choose_one.to_owned());
        }
        put("questionnaire-wrong", render(&Questionnaire::with(frame(), Position::Before, wrong)))?;
        put("stated", render(&StatedCost::new(frame(), study, When::Before, Typed::default(), vec![])))?;
        let problems = vec![words.stated_missing.to_owned()];
        put("stated-wrong", render(&StatedCost::new(frame(), study, When::After, typed(), problems)))?;
        put("consequences", render(&Consequences::new(frame(), study)))?;
        for index in 0..study.picture.len() {
            put(
                &format!("learn-{index}"),
                render(&Learn::new(frame(), study, index, LearnState::Open, false)),
            )?;
        }
        for (name, state) in
            [("again", LearnState::Again), ("right", LearnState::Right), ("worked", LearnState::Worked)]
        {
            put(&format!("learn-{name}"), render(&Learn::new(frame(), study, 0, state, false)))?;
        }
        for index in 0..study.practice.len() {
            let page = sample
                .look(|participant| Comparison::practice(frame(), participant, index, Tried::Nothing))?;
            put(&format!("practice-{index}"), render(&page))?;
        }
        put("comparison-first", sample.comparison(&frame, Some((9, 16)))?)?;
        sample.answer(4)?;
        put("comparison", sample.comparison(&frame, Some((5, 9)))?)?;
        put("finish", render(&Message::finish(frame())))?;
        let receipt = "57-9f86d081884c7d65".to_owned();
        sample.answer(40)?;
        put(
            "result",
            sample.look(|participant| {
                render(&ResultPage::new(ended(frame()), participant, receipt.clone(), None))
            })?,
        )?;
        let careless = Sample::new("binary-cancer", |_| {})?;
        careless.press(40)?;
        put(
            "result-refused",
            careless.look(|participant| {
                render(&ResultPage::new(ended(frame()), participant, receipt.clone(), None))
            })?,
        )?;
        let end = |code: Option<&str>| Ending {
            code: code.map(str::to_owned),
            url: Some("https://app.prolific.com/submissions/complete?cc=C1A2B3".to_owned()),
        };
        let done = Some(end(Some("C1A2B3")));
        put(
            "panel-done",
            sample
                .look(|participant| render(&ResultPage::new(frame(), participant, receipt.clone(), done)))?,
        )?;
        put("panel-again", render(&Message::again(frame(), end(Some("C1A2B3")))))?;
        put("panel-screened", render(&Message::screened(frame(), end(Some("C4D5E6")))))?;
        put("panel-withdrawn", render(&Message::withdrawn(frame(), true).ending(Some(end(Some("C7F8A9"))))))?;
        put("panel-full", render(&Message::full(frame(), end(None))))?;
        put("panel-early", render(&Message::early(frame(), end(None))))?;
        put("panel-over", render(&Message::over(frame(), end(None))))?;
        put("panel-nameless", render(&Message::nameless(frame())))?;
        put("declined", render(&Message::declined(frame())))?;
        put("pause", render(&Message::pause(frame())))?;
        put("withdraw", render(&Message::withdraw(frame())))?;
        put("withdrawn", render(&Message::withdrawn(frame(), true)))?;
        put("withdrawing", render(&Message::withdrawn(frame(), false)))?;
        put("elsewhere", render(&Message::elsewhere(frame())))?;
        put("conflict", render(&Message::conflict(frame(), "System A")))?;
        put("kept", render(&Message::kept(frame())))?;
        put("too-large", render(&Message::too_large(frame())))?;
        put("stale", render(&Message::stale(frame())))?;
        put("no-link", render(&Message::no_link(frame())))?;
        put("missing", render(&Message::missing(frame())))?;
        put("failed", render(&Message::failed(frame())))?;
        let link = "https://study.example.org/s/00112233445566778899aabbccddeeff".to_owned();
        put("device", render(&Device::new(frame(), link)))?;
        Ok(())
    }

    fn variants(&mut self) -> Result<(), Box<dyn Error>> {
        let variants =
            [("bars", Variant::FlowBar), ("errors-only", Variant::ErrorsOnly), ("icons", Variant::Icons)];
        for (name, variant) in variants {
            let sample = Sample::new("binary-cancer", |study| study.variants = vec![variant])?;
            sample.answer(2)?;
            let page = sample.comparison(&sample.frame(Language::English), Some((9, 14)))?;
            self.put(format!("en-variant-{name}"), page)?;
        }
        let sample = Sample::new("binary-cancer", |study| study.direction = Direction::PredictionFirst)?;
        sample.answer(1)?;
        let page = sample.comparison(&sample.frame(Language::English), None)?;
        self.put("en-prediction-first".to_owned(), page)?;
        Ok(())
    }

    fn larger(&mut self, template: &str, name: &str) -> Result<(), Box<dyn Error>> {
        let sample = Sample::new(template, |_| {})?;
        let study = sample.service.design().study();
        let frame = sample.frame(Language::English);
        self.put(format!("en-{name}-consequences"), render(&Consequences::new(frame(), study)))?;
        for index in 0..study.picture.len() {
            let page = render(&Learn::new(frame(), study, index, LearnState::Open, false));
            self.put(format!("en-{name}-learn-{index}"), page)?;
        }
        for index in 0..study.practice.len() {
            let page = sample
                .look(|participant| Comparison::practice(frame(), participant, index, Tried::Nothing))?;
            self.put(format!("en-{name}-practice-{index}"), render(&page))?;
        }
        for answers in [0, 3] {
            sample.answer(answers)?;
            let page = sample.comparison(&frame, Some((20, 40)))?;
            self.put(format!("en-{name}-comparison-{answers}"), page)?;
        }
        sample.answer(80)?;
        let receipt = "57-9f86d081884c7d65".to_owned();
        let page = sample
            .look(|participant| render(&ResultPage::new(ended(frame()), participant, receipt, None)))?;
        self.put(format!("en-{name}-result"), page)?;
        Ok(())
    }
}

/// What surrounds the last page: there is nothing to pause any more.
fn ended(frame: Frame) -> Frame {
    Frame { goes_on: false, ..frame }
}

/// A study in memory with one participant.
struct Sample {
    service: Service,
    session: String,
}

const DEVICE: &str = "sample";

impl Sample {
    fn new(name: &str, change: impl FnOnce(&mut Study)) -> Result<Self, Box<dyn Error>> {
        let mut study = Study::parse(template::find(name).ok_or("no such template")?.text)?;
        change(&mut study);
        let design = Arc::new(Design::new(study, Path::new(TABLES))?);
        let service =
            Service::new(design, Writer::start(MemoryStore::new()), TestClock::default(), TestRandom::new(7));
        let session = service.invite(1)?.remove(0).session;
        let sample = Self { service, session };
        sample.prepare()?;
        Ok(sample)
    }

    fn frame(&self, language: Language) -> impl Fn() -> Frame {
        let outside = Frame::outside(self.service.design().study(), language);
        move || Frame {
            inside: true,
            stored: true,
            goes_on: true,
            csrf: "0".repeat(32),
            key: "sample".to_owned(),
            ..outside.clone()
        }
    }

    fn look<T>(&self, f: impl FnOnce(&Participant) -> T) -> equipoise_study::Result<T> {
        self.service.look(&self.session, f)
    }

    fn record(&self, event: &Event) -> equipoise_study::Result<()> {
        let key = format!("sample-{}", self.look(Participant::events)?);
        self.service.record(&self.session, DEVICE, &key, event).map(drop)
    }

    /// Up to the first comparison.
    fn prepare(&self) -> Result<(), Box<dyn Error>> {
        loop {
            let event = match self.look(Participant::step)? {
                Step::Language => Event::LanguageChosen { language: "en".to_owned() },
                Step::Consent => Event::ConsentGiven {
                    text: self.look(Participant::consent_hash)?,
                    device: DEVICE.to_owned(),
                    external: Default::default(),
                },
                Step::Questionnaire(position) => {
                    Event::QuestionnaireAnswered { position, answers: Default::default() }
                }
                Step::StatedCost(when) => {
                    Event::StatedCost { when, ratio: Some(10.0), low: None, high: None }
                }
                Step::Consequences => Event::ConsequencesRead,
                Step::Picture { question, .. } => {
                    let option = self.service.design().study().picture[question].correct;
                    Event::PictureAnswered { question, option }
                }
                Step::Practice(number) => Event::PracticeDone { number, choice: Choice::A },
                _ => return Ok(()),
            };
            self.record(&event)?;
        }
    }

    /// Answers some comparisons like somebody to whom a missed case is six false alarms.
    fn answer(&self, count: usize) -> Result<(), Box<dyn Error>> {
        let ranges = self.service.design().study().ranges.clone();
        self.choose(count, |question| {
            let shown = &question.asked.shown;
            if let Some([a, b]) = &shown.values {
                let share = |(x, [low, high]): (&f64, &[f64; 2])| (x - low) / (high - low);
                let cost = |values: &[f64]| values.iter().zip(&ranges).map(share).sum::<f64>();
                return if cost(a) < cost(b) { Choice::A } else { Choice::B };
            }
            let cost = |cells: &[u64]| match shown.classes {
                2 if shown.groups == 1 => 6 * cells[2] + cells[1],
                _ => shown.mistakes().map(|(g, t, p)| cells[shown.cell(g, t, p)]).sum(),
            };
            if cost(&shown.a) < cost(&shown.b) { Choice::A } else { Choice::B }
        })
    }

    /// Answers some comparisons without looking.
    fn press(&self, count: usize) -> Result<(), Box<dyn Error>> {
        self.choose(count, |_| Choice::A)
    }

    fn choose(&self, count: usize, choose: impl Fn(&Question) -> Choice) -> Result<(), Box<dyn Error>> {
        for _ in 0..count {
            let Some((asked, choice)) = self.look(|participant| {
                let question = participant.pending()?;
                Some((question.seq, choose(question)))
            })?
            else {
                return Ok(());
            };
            self.record(&Event::Answered(Answered {
                asked,
                choice,
                response_ms: Some(4_000),
                hidden_ms: 0,
                rates: false,
                pressed_left: None,
            }))?;
        }
        Ok(())
    }

    fn comparison(
        &self,
        frame: &impl Fn() -> Frame,
        left: Option<(usize, usize)>,
    ) -> Result<String, Box<dyn Error>> {
        let page = self.look(|participant| {
            let question = participant.pending()?;
            Some(render(&Comparison::asked(frame(), participant, question, left)))
        })?;
        page.ok_or_else(|| "no comparison is left".into())
    }
}
