//! The vector of one question, made once for all who need it.
//!
//! Owns who waits for it, and for how long.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::endpoint::Embedder;
use crate::text::contain::contained;

type Made = Result<Vec<f32>, String>;

/// The vector of one question, made while others wait for it.
pub struct QuestionVector<'a> {
    embedder: &'a dyn Embedder,
    made: Mutex<Option<Made>>,
    is_made: Condvar,
}

impl<'a> QuestionVector<'a> {
    /// Not made yet: who asks for it waits until [`Self::make`] is done.
    pub const fn of(embedder: &'a dyn Embedder) -> Self {
        Self { embedder, made: Mutex::new(None), is_made: Condvar::new() }
    }

    /// Makes it, whatever comes of that.
    pub fn make(&self, question: &str) {
        let made = contained(|| self.embedder.embed_question(question));
        self.set(made.unwrap_or_else(|| Err("asking it stopped unexpectedly".to_owned())));
    }

    /// There is none, for that reason.
    pub fn fail(&self, why: &str) {
        self.set(Err(why.to_owned()));
    }

    fn set(&self, made: Made) {
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
        self.is_made.notify_all();
    }

    /// The vector, if it is there within that time.
    pub fn within(&self, most: Duration) -> Option<Vec<f32>> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.is_made.wait_timeout_while(made, most, |made| made.is_none());
        let (made, _) = waited.unwrap_or_else(PoisonError::into_inner);
        made.as_ref()?.as_ref().ok().cloned()
    }
}

impl Embedder for QuestionVector<'_> {
    fn model(&self) -> &str {
        self.embedder.model()
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        self.embedder.embed(texts)
    }

    /// The vector of the one question, whatever is asked here.
    fn embed_question(&self, _: &str) -> Made {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.is_made.wait_while(made, |made| made.is_none());
        let made = waited.unwrap_or_else(PoisonError::into_inner);
        made.clone().unwrap_or_else(|| Err("it was not made".to_owned()))
    }
}
