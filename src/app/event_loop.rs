//! The loop between terminal, journal and engine.
//!
//! Drains what has happened, draws at most once per frame, and sleeps until something happens.
//! Owns no fact: what is drawn comes from the feed, what is decided goes to the engine.

use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::task::Poll;
use std::time::{Duration, Instant};

use crossterm::event::{Event as TerminalEvent, EventStream};
use futures::StreamExt;
use tokio::sync::mpsc;

use super::copies::Chores;
use super::editor;
use super::feed::Feed;
use super::frames::{FRAME, FRAME_AFTER_INPUT, Frames};
use super::machine::Machine;
use super::passage_files;
use super::signals::{Signal, Signals};
use super::terminal::{self, Screen};
use super::themes::Themes;
use super::timeline::FeedChange;
use crate::engine::BreakOff;
use crate::model::{Intent, SerialCommand, TimelineCommand, UserError};
use crate::text;
use crate::ui::{BROKE_OFF, FilePlace, OutsideEdit, PassagePlace, ThemeChoice, Ui, UiCommand};
use crate::view::RunState;

/// Terminal events handled before the next frame; a paste of any length stays interruptible.
const EVENTS_A_ROUND: usize = 256;

/// How the person left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// By the quit command.
    Quit,
    /// The process was told to end.
    Signalled(Signal),
    /// The terminal went away.
    TerminalLost,
}

/// What the person's own editor is opened on.
#[derive(Debug)]
pub enum Outside {
    /// A proposed text.
    Text(OutsideEdit),
    /// A file of the project.
    File(FilePlace),
    /// The file of a passage of the documentation.
    Source(PassagePlace),
}

/// One screen on one session.
pub struct Session<'a> {
    pub screen: &'a mut Screen,
    /// What is drawn.
    pub ui: &'a mut Ui,
    /// Where records come from.
    pub feed: &'a mut Feed,
    /// Where the person's wishes go; `None` for a replay.
    pub intents: Option<mpsc::Sender<Intent>>,
    /// Tells when the run breaks off; `None` where none goes on.
    pub break_off: Option<BreakOff>,
    /// How things may look.
    pub themes: &'a mut Themes,
    /// Where the person's wishes for serial ports go; `None` for a replay.
    pub serial: Option<mpsc::Sender<SerialCommand>>,
    /// When the screen changes by itself; set anew before every wait.
    pub ui_due: Option<Instant>,
    /// What waits to be opened in the person's own editor.
    pub outside: Option<Outside>,
    /// What is done besides, for the person alone.
    pub chores: Chores,
    /// Where the documents of the person are.
    pub machine: &'a Machine,
}

impl Session<'_> {
    /// Runs until the person leaves.
    ///
    /// # Errors
    /// When the journal cannot be read or signals cannot be watched.
    pub async fn run(mut self) -> Result<Left, UserError> {
        let mut events = EventStream::new();
        let mut signals = Signals::watch()?;
        let mut frames = Frames::default();
        let mut is_cold = true;
        self.begin();
        loop {
            let now = Instant::now();
            let progress = self.advance(now, &mut frames)?;
            if frames.due(now) {
                if self.draw().is_err() {
                    return Ok(Left::TerminalLost);
                }
                frames.drawn(Instant::now());
                // The first proposal need not wait for it, nor the first frame.
                if std::mem::take(&mut is_cold) {
                    drop(tokio::task::spawn_blocking(text::warm_up));
                }
            }
            if self.tell_terminal().is_err() {
                return Ok(Left::TerminalLost);
            }
            let woken = self.wait(&mut events, &mut signals, &frames, progress).await?;
            match woken {
                LoopWake::News => {}
                LoopWake::Themes => self.reload_theme(&mut frames),
                LoopWake::Timer => {
                    if let Some(left) = self.on_timer(&mut frames)? {
                        return Ok(left);
                    }
                }
                LoopWake::BrokenOff(why) => self.break_off(why, &mut frames)?,
                LoopWake::Signal(signal) => {
                    if let Some(left) = self.on_signal(signal)? {
                        return Ok(left);
                    }
                    frames.ask(Duration::ZERO);
                }
                LoopWake::Chore(done) => {
                    self.ui.tell_result(done, Instant::now());
                    frames.ask(FRAME_AFTER_INPUT);
                }
                LoopWake::Terminal(Some(Ok(first))) => {
                    frames.ask(FRAME_AFTER_INPUT);
                    if let Some(left) = self.take_events(first, &mut events).await? {
                        return Ok(left);
                    }
                }
                LoopWake::Terminal(Some(Err(error))) if is_woken(&error) => {}
                LoopWake::Terminal(Some(Err(_)) | None) => return Ok(Left::TerminalLost),
            }
            let Some(opened) = self.open_outside(events)? else { return Ok(Left::TerminalLost) };
            events = opened;
        }
    }

    /// Takes over what was recorded meanwhile.
    fn advance(&mut self, now: Instant, frames: &mut Frames) -> Result<FeedChange, UserError> {
        let waiting = self.feed.view().review.waiting.len();
        let progress = self.feed.advance(now)?;
        if progress != FeedChange::Unchanged {
            self.sync(now);
            // What calls the person does not wait for its turn.
            let is_call = self.feed.view().review.waiting.len() > waiting;
            frames.ask(if is_call { FRAME_AFTER_INPUT } else { FRAME });
        }
        Ok(progress)
    }

    /// What is there already is shown before anything new comes.
    fn begin(&mut self) {
        if let Feed::Replay(replay) = &*self.feed {
            self.ui.set_marks(replay.marks());
        }
        self.sync(Instant::now());
    }

    /// Shows all that was recorded before the run stopped unexpectedly, and that it did.
    fn break_off(&mut self, why: UserError, frames: &mut Frames) -> Result<(), UserError> {
        let now = Instant::now();
        while self.feed.advance(now)? == FeedChange::ChangedAndMore {}
        self.feed.break_off(why);
        self.sync(now);
        frames.ask(FRAME_AFTER_INPUT);
        Ok(())
    }

    /// Brings up to date what moves by itself, and lets a deciding key take effect that nothing
    /// followed: events that wait are dealt with first.
    fn on_timer(&mut self, frames: &mut Frames) -> Result<Option<Left>, UserError> {
        let now = Instant::now();
        if self.ui_due.is_none_or(|due| due > now) {
            return Ok(None);
        }
        let commands = self.ui.settle(self.feed.view(), now);
        if let Some(left) = self.obey_all(commands)? {
            return Ok(Some(left));
        }
        self.sync(now);
        frames.ask(FRAME);
        Ok(None)
    }

    async fn wait(
        &mut self,
        events: &mut EventStream,
        signals: &mut Signals,
        frames: &Frames,
        progress: FeedChange,
    ) -> Result<LoopWake, UserError> {
        let now = Instant::now();
        self.ui_due = self.ui.next_wake(self.feed.view(), now);
        let wakes = [
            frames.next(),
            self.ui_due,
            self.feed.wait()?.map(|wait| now + wait),
            (progress == FeedChange::ChangedAndMore).then_some(now),
        ];
        let wake = wakes.into_iter().flatten().min();
        let timer = async {
            match wake {
                Some(wake) => tokio::time::sleep_until(wake.into()).await,
                None => std::future::pending().await,
            }
        };
        Ok(tokio::select! {
            biased;
            signal = signals.next() => LoopWake::Signal(signal),
            event = events.next() => LoopWake::Terminal(event),
            done = self.chores.next_done() => LoopWake::Chore(done),
            why = broken_off(&mut self.break_off) => LoopWake::BrokenOff(why),
            () = timer => LoopWake::Timer,
            () = self.feed.changed() => LoopWake::News,
            () = self.themes.changed() => LoopWake::Themes,
        })
    }

    async fn take_events(
        &mut self,
        first: TerminalEvent,
        events: &mut EventStream,
    ) -> Result<Option<Left>, UserError> {
        let mut next = Some(first);
        for more in (0..=EVENTS_A_ROUND).rev() {
            let Some(event) = next.take() else { break };
            let commands = self.ui.on_event(&event, self.feed.view(), Instant::now());
            if let Some(left) = self.obey_all(commands)? {
                return Ok(Some(left));
            }
            if more == 0 {
                break;
            }
            match at_once(events).await {
                Poll::Ready(Some(Ok(event))) => next = Some(event),
                Poll::Ready(Some(Err(error))) if is_woken(&error) => {}
                Poll::Ready(Some(Err(_)) | None) => return Ok(Some(Left::TerminalLost)),
                Poll::Pending => {}
            }
        }
        Ok(None)
    }

    fn sync(&mut self, now: Instant) {
        self.ui.sync(self.feed.view(), self.feed.timeline().as_ref(), now);
    }

    fn play(&mut self, command: TimelineCommand) -> Result<(), UserError> {
        let (before, now) = (self.feed.timeline(), Instant::now());
        if let Feed::Replay(timeline) = &mut *self.feed {
            timeline.command(command, now)?;
        }
        self.sync(now);
        if before == self.feed.timeline() {
            self.ui.tell_unmoved(command, now);
        }
        Ok(())
    }

    fn obey_all(&mut self, commands: Vec<UiCommand>) -> Result<Option<Left>, UserError> {
        for command in commands {
            if let Some(left) = self.obey(command)? {
                return Ok(Some(left));
            }
        }
        Ok(None)
    }

    fn obey(&mut self, command: UiCommand) -> Result<Option<Left>, UserError> {
        match command {
            UiCommand::Intent(intent) => self.send(intent),
            UiCommand::Serial(command) => self.send_serial(command),
            UiCommand::Timeline(command) => self.play(command)?,
            // Done by the loop, which has to let go of the keyboard first.
            UiCommand::EditOutside(edit) => self.outside = Some(Outside::Text(edit)),
            UiCommand::Edit(place) => self.outside = Some(Outside::File(place)),
            UiCommand::EditSource(place) => self.outside = Some(Outside::Source(place)),
            UiCommand::Quit => return Ok(Some(Left::Quit)),
            UiCommand::ShowTheme(name) => self.show_theme(&name, ThemeChoice::No),
            UiCommand::KeepTheme(name) => self.show_theme(&name, ThemeChoice::Yes),
            UiCommand::Copy(text) => return Ok(lost(self.screen.copy(&text))),
            UiCommand::Suspend => return Ok(lost(self.screen.suspend())),
            UiCommand::Redraw => return Ok(lost(self.screen.repaint())),
            UiCommand::Remember(message) => self.chores.remember(message),
            UiCommand::Save { what, to } => self.chores.save(what, &to),
        }
        Ok(None)
    }

    fn show_theme(&mut self, name: &str, chosen: ThemeChoice) {
        match self.themes.load(name) {
            Ok(theme) => self.ui.set_theme(theme, name, chosen),
            Err(error) => {
                let words = format!("{}: {}", error.what, error.why);
                self.ui.refuse(&words, Instant::now());
            }
        }
    }

    /// A theme with a mistake in it is not taken; the screen keeps the one it has.
    fn reload_theme(&mut self, frames: &mut Frames) {
        let name = self.ui.theme_name().to_owned();
        self.ui.set_theme_names(self.themes.names());
        self.show_theme(&name, ThemeChoice::No);
        self.sync(Instant::now());
        frames.ask(FRAME);
    }

    /// What the terminal is told besides what it shows.
    fn tell_terminal(&mut self) -> io::Result<()> {
        if let Some(call) = self.ui.take_call() {
            self.screen.call(&call)?;
        }
        if self.screen.wants_title() {
            self.screen.set_title(&self.ui.terminal_title(self.feed.view()))?;
        }
        Ok(())
    }

    fn send(&mut self, intent: Intent) {
        let refused = match &self.intents {
            Some(intents) => match intents.try_send(intent) {
                Ok(()) => return,
                Err(mpsc::error::TrySendError::Full(_)) => {
                    "the run is busy and did not accept that; try again"
                }
                Err(mpsc::error::TrySendError::Closed(_)) => match self.feed.view().head.state {
                    RunState::BrokenOff(_) => BROKE_OFF,
                    _ => "the run is over",
                },
            },
            None => "no run is active here; nothing can be decided or sent",
        };
        self.ui.refuse(refused, Instant::now());
    }

    fn send_serial(&mut self, command: SerialCommand) {
        let refused = match &self.serial {
            Some(serial) => match serial.try_send(command) {
                Ok(()) => return,
                Err(_) => "the port is busy and did not accept that; try again",
            },
            None => "this is a replay; no board is connected to it",
        };
        self.ui.refuse(refused, Instant::now());
    }

    fn on_signal(&mut self, signal: Signal) -> Result<Option<Left>, UserError> {
        let kept = match signal {
            Signal::Continue => self.screen.retake(),
            Signal::Suspend => self.screen.suspend(),
            Signal::Resize => {
                self.resize()?;
                Ok(())
            }
            Signal::Terminate | Signal::Hangup | Signal::Interrupt => {
                return Ok(Some(Left::Signalled(signal)));
            }
        };
        Ok(lost(kept))
    }

    /// Opens what waits for the person's own editor, if anything does. `None` when the terminal is
    /// gone afterwards.
    fn open_outside(&mut self, events: EventStream) -> Result<Option<EventStream>, UserError> {
        let Some(outside) = self.outside.take() else { return Ok(Some(events)) };
        // The editor reads the keys while it runs, nobody else. A new stream waits for the old
        // one, so that has to go first.
        drop(events);
        let done = match &outside {
            Outside::Text(edit) => self.edit_text(edit)?,
            Outside::File(place) => self.edit_file(place)?,
            Outside::Source(place) => self.edit_source(place)?,
        };
        Ok(done.is_ok().then(EventStream::new))
    }

    /// Gives the terminal to the person's own editor until it ends.
    fn edit_text(&mut self, edit: &OutsideEdit) -> Result<io::Result<()>, UserError> {
        let result = match self.screen.lend(|| editor::edit_text(edit)) {
            Ok(result) => result,
            Err(error) => return Ok(Err(error)),
        };
        // What happened meanwhile comes first: the proposal may be another one by now.
        let now = Instant::now();
        self.feed.advance(now)?;
        self.resize()?;
        self.sync(now);
        let commands = self.ui.edited(edit, result, self.feed.view(), now);
        for command in commands {
            self.obey(command)?;
        }
        Ok(Ok(()))
    }

    /// Lets the person edit a file of the project; the run goes on meanwhile.
    fn edit_file(&mut self, place: &FilePlace) -> Result<io::Result<()>, UserError> {
        let Some(start) = &self.feed.view().head.start else { return Ok(Ok(())) };
        let file = Path::new(&start.project).join(place.path.as_str());
        self.edit(&file, place.line)
    }

    /// Opens the file of a passage in the person's own editor; the run goes on meanwhile.
    fn edit_source(&mut self, place: &PassagePlace) -> Result<io::Result<()>, UserError> {
        let Some(start) = &self.feed.view().head.start else { return Ok(Ok(())) };
        match passage_files::find(self.machine, Path::new(&start.project), place) {
            Ok((file, line)) => self.edit(&file, line),
            Err(error) => {
                self.ui.tell_result(Err(error), Instant::now());
                Ok(Ok(()))
            }
        }
    }

    /// Gives the terminal to the person's own editor until it ends.
    fn edit(&mut self, file: &Path, line: Option<u32>) -> Result<io::Result<()>, UserError> {
        match self.screen.lend(|| editor::edit_file(file, line)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.ui.tell_result(Err(error), Instant::now()),
            Err(error) => return Ok(Err(error)),
        }
        // The terminal may have another size now.
        self.resize()?;
        Ok(Ok(()))
    }

    fn resize(&mut self) -> Result<(), UserError> {
        let size = terminal::size()?;
        let event = TerminalEvent::Resize(size.width, size.height);
        // A change of size asks for nothing.
        let _ = self.ui.on_event(&event, self.feed.view(), Instant::now());
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let view = self.feed.view();
        let ui = &*self.ui;
        self.screen.draw(|frame| ui.draw(frame, view))
    }
}

/// The terminal is gone when nothing can be done with it.
fn lost(done: io::Result<()>) -> Option<Left> {
    done.err().map(|_| Left::TerminalLost)
}

/// Whether a wait for keys was only called off, as it is when a stream before this one ended.
fn is_woken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Interrupted
}

/// The next event if it is there already. The stream remembers who asked last and wakes nobody
/// else, so this must ask in the name of the task that goes on to wait for it.
async fn at_once(events: &mut EventStream) -> Poll<Option<io::Result<TerminalEvent>>> {
    poll_fn(|context| Poll::Ready(events.poll_next_unpin(context))).await
}

async fn broken_off(break_off: &mut Option<BreakOff>) -> UserError {
    match break_off {
        Some(break_off) => break_off.error().await,
        None => std::future::pending().await,
    }
}

/// What ended a wait.
enum LoopWake {
    /// The run stopped unexpectedly.
    BrokenOff(UserError),
    /// There are new records.
    News,
    /// A theme's file has changed.
    Themes,
    /// A frame is due, or something on screen moves by itself.
    Timer,
    /// A signal came.
    Signal(Signal),
    /// Something that was done besides is done, or has failed.
    Chore(Result<String, UserError>),
    /// The terminal says something, or is gone.
    Terminal(Option<io::Result<TerminalEvent>>),
}
