//! Reading and comparing off the thread that draws.
//!
//! Owns the threads. First comes the comparison, then its colours; what is small comes at once.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use crate::model::{BlobSource, Change, Facts, UserError};

use super::body::{self, ColourJob, Colours, ReviewBody};

/// Contents up to this size are compared at once, in bytes.
const SMALL: u64 = 64 * 1024;
/// Contents up to this size are coloured at once too.
const TINY: u64 = 8 * 1024;

/// What the thread sends.
enum News {
    Body(Result<ReviewBody, UserError>),
    Colours(Colours),
}

/// A body, or what is there instead.
#[derive(Debug)]
enum BodyState {
    Reading,
    Ready(Rc<ReviewBody>),
    Failed(UserError),
}

/// The content of one proposal, as far as it was read.
#[derive(Debug)]
pub struct Load {
    state: BodyState,
    colours: Option<Rc<Colours>>,
    news: Option<Receiver<News>>,
}

impl Load {
    /// Begins to read what `change` is about.
    #[must_use]
    pub fn begin(change: &Change, facts: &Facts, blobs: &Arc<dyn BlobSource>) -> Self {
        let size = body::size(change);
        if size > SMALL {
            let (change, facts) = (change.clone(), facts.clone());
            let blobs = Arc::clone(blobs);
            let news = aside(move |send| {
                let job = match body::load(&change, &facts, blobs.as_ref()) {
                    Ok((body, job)) => send.send(News::Body(Ok(body))).ok().and(job),
                    Err(error) => {
                        let _ = send.send(News::Body(Err(error)));
                        None
                    }
                };
                colour(job, &send);
            });
            return Self { state: BodyState::Reading, colours: None, news: Some(news) };
        }
        match body::load(change, facts, blobs.as_ref()) {
            Err(error) => Self { state: BodyState::Failed(error), colours: None, news: None },
            Ok((body, job)) => {
                let state = BodyState::Ready(Rc::new(body));
                if size <= TINY && !job.as_ref().is_some_and(ColourJob::is_slow) {
                    let colours = job.map(|job| Rc::new(job.run()));
                    return Self { state, colours, news: None };
                }
                let news = aside(move |send| colour(job, &send));
                Self { state, colours: None, news: Some(news) }
            }
        }
    }

    /// Takes over what the thread has done. Whether something new is there.
    pub fn poll(&mut self) -> bool {
        let mut is_new = false;
        while let Some(news) = &self.news {
            match news.try_recv() {
                Ok(News::Body(Ok(body))) => self.state = BodyState::Ready(Rc::new(body)),
                Ok(News::Body(Err(error))) => self.state = BodyState::Failed(error),
                Ok(News::Colours(colours)) => self.colours = Some(Rc::new(colours)),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.news = None;
                    if matches!(self.state, BodyState::Reading) {
                        self.state = BodyState::Failed(UserError::new(
                            "Cannot show the change",
                            "comparing the two versions failed",
                            "Reject it, or look at the file itself.",
                        ));
                    }
                }
            }
            is_new = true;
        }
        is_new
    }

    /// Whether a thread is at work on it.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        self.news.is_some()
    }

    /// Whether there is nothing to show yet.
    #[must_use]
    pub const fn is_reading(&self) -> bool {
        matches!(self.state, BodyState::Reading)
    }

    /// Why it cannot be shown.
    #[must_use]
    pub const fn error(&self) -> Option<&UserError> {
        match &self.state {
            BodyState::Failed(error) => Some(error),
            BodyState::Reading | BodyState::Ready(_) => None,
        }
    }

    /// What it would do, once it is read.
    #[must_use]
    pub const fn body(&self) -> Option<&Rc<ReviewBody>> {
        match &self.state {
            BodyState::Ready(body) => Some(body),
            BodyState::Reading | BodyState::Failed(_) => None,
        }
    }

    /// Its colours, once they are known.
    #[must_use]
    pub fn colours(&self) -> Option<&Colours> {
        self.colours.as_deref()
    }
}

fn aside(work: impl FnOnce(Sender<News>) + Send + 'static) -> Receiver<News> {
    let (send, receive) = channel();
    std::thread::spawn(move || work(send));
    receive
}

fn colour(job: Option<ColourJob>, send: &Sender<News>) {
    if let Some(job) = job {
        // Nobody waits any more when the person went on to another proposal.
        let _ = send.send(News::Colours(job.run()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::model::{BlobRef, ContentHash, ProjectPath};

    struct Contents(Vec<Vec<u8>>);

    impl BlobSource for Contents {
        fn blob(&self, hash: &ContentHash) -> Result<Arc<[u8]>, UserError> {
            let found = self.0.iter().find(|bytes| ContentHash::of(bytes) == *hash);
            let missing = || UserError::new("missing", "blob", "");
            found.map(|bytes| bytes.as_slice().into()).ok_or_else(missing)
        }
    }

    fn begin(text: &[u8], is_kept: bool) -> Load {
        begin_at("a.c", text, is_kept)
    }

    fn begin_at(path: &str, text: &[u8], is_kept: bool) -> Load {
        let content = BlobRef { hash: ContentHash::of(text), bytes: text.len() as u64 };
        let path = ProjectPath::new(path).unwrap();
        let kept = if is_kept { vec![text.to_vec()] } else { Vec::new() };
        let blobs: Arc<dyn BlobSource> = Arc::new(Contents(kept));
        let change = Change::Save { path, base: None, content };
        Load::begin(&change, &Facts::default(), &blobs)
    }

    fn finish(load: &mut Load) {
        let start = Instant::now();
        while load.is_busy() && start.elapsed() < Duration::from_secs(60) {
            load.poll();
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_large_change_is_read_aside_and_coloured_after_it_is_there() {
        let mut load = begin("int a_line_of_source;\n".repeat(5_000).as_bytes(), true);
        assert!(load.is_reading() && load.body().is_none());
        finish(&mut load);
        assert_eq!(load.body().unwrap().added, 5_000);
        assert!(load.colours().is_some());
        let middle = begin("int a_line_of_source;\n".repeat(1_000).as_bytes(), true);
        assert!(!middle.is_reading() && middle.is_busy());
        let small = begin(b"int a;\n", true);
        assert!(!small.is_busy() && small.colours().is_some());
    }

    #[test]
    fn a_configuration_is_shown_before_its_colours() {
        let text = b"# why\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_N=240\nCONFIG_S=\"x\"\n";
        let mut load = begin_at("sdkconfig", text, true);
        assert!(load.body().is_some() && load.colours().is_none() && load.is_busy());
        finish(&mut load);
        let body = load.body().unwrap();
        let lines = body.lines.iter().map(|line| {
            let pieces = line.pieces(load.colours());
            let pieces = pieces.iter().map(|piece| format!("{}:{:?}", piece.text, piece.ink));
            pieces.collect::<Vec<_>>().join(" ")
        });
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r##"
        # why:Syntax(Comment)
        CONFIG_A:Syntax(Property) =:Syntax(Operator) y:Syntax(Constant)
        # :Syntax(Comment) CONFIG_B:Syntax(Property)  :Syntax(Comment) is not set:Syntax(Constant)
        CONFIG_N:Syntax(Property) =:Syntax(Operator) 240:Syntax(Number)
        CONFIG_S:Syntax(Property) =:Syntax(Operator) "x":Syntax(String)
        "##);
    }

    #[test]
    fn a_missing_content_says_so() {
        assert_eq!(begin(b"gone", false).error().unwrap().why, "blob");
        let mut large = begin(&vec![b'x'; 100_000], false);
        finish(&mut large);
        assert_eq!(large.error().unwrap().why, "blob");
    }
}
