//! Starts programs that agents wrote behind walls, and knows how strong the walls of this machine
//! are.
//!
//! Owns the connection to the process in front of the walls; closing it ends the run, whatever the
//! program does. Must not know what is run or why.

#![expect(
    clippy::disallowed_methods,
    reason = "programs of agents are started here and nowhere else"
)]

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::control::{Answer, Channel, SandboxFacts, SandboxOrder};
use super::probe::{self, Protection};
use super::walls::{COMMAND, Level, MachineView, RunEnd, RunReport, WallFailure, Walls};
use crate::model::UserError;

const START: &str = "start the process in front of the walls";

/// Whether the person lets programs of agents run where there are no walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// They typed the phrase for this project.
    Given,
    Missing,
}

/// Starts programs of agents.
#[derive(Debug, Clone)]
pub struct Runner {
    /// This program, which builds the walls.
    program: PathBuf,
    consent: Consent,
    protection: Arc<OnceLock<Protection>>,
    builds: Arc<OnceLock<Result<(), WallFailure>>>,
}

/// What a program reads from and writes to.
#[derive(Debug)]
pub struct Ends {
    pub input: OwnedFd,
    pub output: OwnedFd,
    pub errors: OwnedFd,
}

impl Runner {
    /// One that builds walls with `program`, which is this one.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            consent: Consent::Missing,
            protection: Arc::default(),
            builds: Arc::default(),
        }
    }

    /// One that builds walls with the program that runs, also when its file was replaced meanwhile.
    #[must_use]
    pub fn of_this_program() -> Self {
        let own = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().unwrap_or_default()
        };
        Self::new(own)
    }

    /// With what the person says for one project.
    #[must_use]
    pub fn with_consent(&self, consent: Consent) -> Self {
        Self { consent, ..self.clone() }
    }

    /// The walls of this machine, which are tried once.
    #[must_use]
    pub fn protection(&self) -> &Protection {
        self.protection.get_or_init(|| probe::probe(|level| self.try_level(level)))
    }

    /// Whether builds can run behind walls on this machine, which is tried once.
    ///
    /// # Errors
    /// What is in the way.
    pub fn builds(&self) -> Result<(), &WallFailure> {
        let tried = self
            .builds
            .get_or_init(|| self.try_walls(Level::Namespaces, probe::build_trial()).map(|_| ()));
        tried.as_ref().copied()
    }

    /// Starts a program behind the strongest walls there are.
    ///
    /// # Errors
    /// When there are none and the person has not agreed, when they cannot be built this time, or
    /// when the program cannot be started.
    pub fn start(&self, walls: &Walls, ends: Ends) -> Result<ConfinedRun, UserError> {
        let level = match walls.machine {
            Some(_) => Level::Namespaces,
            None => self.protection().level,
        };
        if level == Level::None && self.consent == Consent::Missing {
            return Err(self.protection().refusal());
        }
        let failed = |failure: WallFailure| {
            let what = format!("Cannot run {}", walls.program.display());
            let fix = "Run `firmhand doctor` to see what is missing.";
            UserError::new(what, failure.to_string(), fix)
        };
        let walls = real(walls).map_err(failed)?;
        let order = SandboxOrder { level, walls, is_trial: false };
        let (mut run, answer) = self.launch(&order, &ends).map_err(failed)?;
        let failure = match answer {
            Answer::Started => return Ok(run),
            Answer::Failed(failure) => failure,
            Answer::Tried(_) | Answer::Ended(_) => WallFailure::new("start it", "it ended at once"),
        };
        run.collect();
        Err(failed(failure))
    }

    fn try_level(&self, level: Level) -> Result<SandboxFacts, WallFailure> {
        self.try_walls(level, probe::trial())
    }

    fn try_walls(&self, level: Level, walls: Walls) -> Result<SandboxFacts, WallFailure> {
        let failed = || WallFailure::at(START);
        let (input, output) = io::pipe().map_err(failed())?;
        let errors = output.try_clone().map_err(failed())?;
        let ends = Ends { input: input.into(), output: output.into(), errors: errors.into() };
        let order = SandboxOrder { level, walls, is_trial: true };
        let (mut run, answer) = self.launch(&order, &ends)?;
        run.collect();
        match answer {
            Answer::Tried(facts) => Ok(facts),
            Answer::Failed(failure) => Err(failure),
            Answer::Started | Answer::Ended(_) => {
                Err(WallFailure::new(START, "an unexpected answer"))
            }
        }
    }

    fn launch(
        &self,
        order: &SandboxOrder,
        ends: &Ends,
    ) -> Result<(ConfinedRun, Answer), WallFailure> {
        let failed = || WallFailure::at(START);
        let (mine, its) = UnixStream::pair().map_err(failed())?;
        let child = Command::new(&self.program)
            .arg(COMMAND)
            .env_clear()
            .process_group(0)
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(its)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed())?;
        let lifeline = mine.try_clone().map_err(failed())?;
        let mut channel = Channel::new(mine);
        let borrowed = [ends.input.as_fd(), ends.output.as_fd(), ends.errors.as_fd()];
        let answer = channel.send(order, &borrowed).and_then(|()| channel.receive());
        let mut run =
            ConfinedRun { child: Some(child), lifeline, channel: Mutex::new(Some(channel)) };
        let failure = match answer {
            Ok(Some(answer)) => return Ok((run, answer)),
            Ok(None) => WallFailure::new(START, "it ended without an answer"),
            Err(error) => failed()(error),
        };
        run.collect();
        Err(failure)
    }
}

/// Links that are followed at most on the way to a program.
const MOST_LINKS: usize = 40;

/// The same walls with paths that no link leads elsewhere; a path to read that is a link itself is
/// kept beside what it leads to.
fn real(walls: &Walls) -> Result<Walls, WallFailure> {
    let follow = |path: &PathBuf| {
        std::fs::canonicalize(path)
            .map_err(|error| WallFailure::new(format!("find {}", path.display()), error))
    };
    let mut reads = Vec::new();
    for path in &walls.reads {
        let Ok(found) = std::fs::canonicalize(path) else { continue };
        let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        reads.extend(is_link.then(|| path.clone()));
        reads.push(found);
    }
    let (program, way) = named_program(&walls.program)
        .map_err(|error| WallFailure::new(format!("find {}", walls.program.display()), error))?;
    reads.extend(way);
    let machine = walls.machine.clone().map(|machine| MachineView {
        hidden: machine.hidden.iter().flat_map(hidden_names).collect(),
        temporary: std::fs::canonicalize(&machine.temporary).unwrap_or(machine.temporary),
    });
    Ok(Walls {
        machine,
        program,
        folder: follow(&walls.folder)?,
        writes: walls.writes.iter().map(follow).collect::<Result<_, _>>()?,
        reads,
        ..walls.clone()
    })
}

/// The names by which a path is hidden: what it leads to, also when it is a link; and its own in the
/// folder that is really around it, also when nothing is there yet.
fn hidden_names(path: &PathBuf) -> Vec<PathBuf> {
    let target = std::fs::canonicalize(path).ok();
    let around = path.parent().and_then(|around| std::fs::canonicalize(around).ok());
    let own = around.zip(path.file_name()).map(|(around, name)| around.join(name));
    let mut names: Vec<PathBuf> = own.into_iter().chain(target).collect();
    names.dedup();
    names
}

/// A program by the name that it was called by, for some do different things under different names;
/// and the links from there to its file, which has to be there too.
fn named_program(program: &Path) -> io::Result<(PathBuf, Vec<PathBuf>)> {
    let mut way = Vec::new();
    let mut next = program.to_owned();
    for _ in 0..MOST_LINKS {
        let (Some(folder), Some(name)) = (next.parent(), next.file_name()) else { break };
        let here = std::fs::canonicalize(folder)?.join(name);
        let is_link = std::fs::symlink_metadata(&here)?.is_symlink();
        next = match is_link {
            true => here.parent().unwrap_or(Path::new("/")).join(std::fs::read_link(&here)?),
            false => here.clone(),
        };
        way.push(here);
        if !is_link {
            let first = way.first().cloned().unwrap_or_default();
            return Ok((first, way));
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// A program that runs. Dropping it ends the program and all that it has started, soon.
#[derive(Debug)]
pub struct ConfinedRun {
    /// `None` when it has been waited for.
    child: Option<Child>,
    lifeline: UnixStream,
    channel: Mutex<Option<Channel>>,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Channel")
    }
}

/// Waits for the end of a run.
#[derive(Debug)]
pub struct Waiter(Option<Channel>);

impl ConfinedRun {
    /// Whoever waits for the end; there is one.
    pub fn waiter(&self) -> Waiter {
        Waiter(self.channel.lock().unwrap_or_else(PoisonError::into_inner).take())
    }

    /// Ends the program and all that it has started, and returns when that is done.
    pub fn stop(&mut self) {
        let _ = self.lifeline.shutdown(Shutdown::Both);
        self.collect();
    }

    fn collect(&mut self) {
        let _ = self.lifeline.shutdown(Shutdown::Write);
        if let Some(mut child) = self.child.take() {
            let _ = child.wait();
        }
    }
}

impl Drop for ConfinedRun {
    fn drop(&mut self) {
        let _ = self.lifeline.shutdown(Shutdown::Both);
        let Some(mut child) = self.child.take() else { return };
        if let Ok(None) = child.try_wait() {
            // It takes a moment, in which whoever drops it may have other things to do. Without a thread
            // it ends all the same, and is collected with this program.
            let _ = std::thread::Builder::new().spawn(move || child.wait());
        }
    }
}

impl Waiter {
    /// Waits until the program has ended, and everything it has started with it.
    #[must_use]
    pub fn wait(mut self) -> RunReport {
        let answer = self.0.as_mut().map(Channel::receive::<Answer>);
        match answer {
            Some(Ok(Some(Answer::Ended(report)))) => report,
            // The process in front of the walls was ended itself.
            _ => {
                let took = std::time::Duration::ZERO;
                RunReport { end: RunEnd::Stopped, wall: None, peak: 0, took }
            }
        }
    }
}
