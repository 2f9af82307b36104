//! The whole study to try out: for researchers, on the participants' pages, in a log that is thrown away.
//!
//! A preview uses no place and leaves no row. Its links are known here alone, so that nobody else's request is looked up in it.

use equipoise_log::{MemoryStore, Writer};
use equipoise_study::seams::{SystemClock, SystemRandom};
use equipoise_study::{Design, Result, Service};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// So many can be open; of more, those that were opened first are gone.
const MOST: usize = 20;

/// Previews that are open.
#[derive(Debug)]
pub struct Previews {
    service: Arc<Service>,
    tokens: Mutex<VecDeque<String>>,
}

impl Previews {
    /// Of a study.
    pub fn new(design: Arc<Design>) -> Self {
        let writer = Writer::start(MemoryStore::new());
        let service = Arc::new(Service::new(design, writer, SystemClock, SystemRandom));
        Self { service, tokens: Mutex::default() }
    }

    /// Opens one: the token of its link.
    pub fn open(&self) -> Result<String> {
        let token = self.service.invite(1)?.remove(0).token;
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.push_back(token.clone());
        if tokens.len() > MOST
            && let Some(old) = tokens.pop_front()
        {
            self.service.erase(&equipoise_study::session_of(&old))?;
        }
        Ok(token)
    }

    /// The study a token belongs to, if it is a preview's.
    pub fn of(&self, token: &str) -> Option<Arc<Service>> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.iter().any(|known| known == token).then(|| self.service.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_study::{Study, template};

    #[test]
    fn few_are_open_and_the_oldest_goes() {
        let study = Study::parse(template::find("binary-cancer").unwrap().text).unwrap();
        let design = Design::new(study, std::path::Path::new("../equipoise-study/src/templates")).unwrap();
        let previews = Previews::new(Arc::new(design));
        let tokens: Vec<String> = (0..=MOST).map(|_| previews.open().unwrap()).collect();
        assert!(previews.of(&tokens[0]).is_none() && previews.of("x").is_none());
        assert!(tokens[1..].iter().all(|token| previews.of(token).is_some()));
    }
}
