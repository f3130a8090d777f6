//! A real toolchain at work on a project: builds, looks at files before they are saved, runs what
//! was built on this machine.

use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use firmhand::model::{BuildId, Diagnostic, ProjectPath, Timestamp};
use firmhand::toolchain::syntax::{NewText, SyntaxJob};
use firmhand::toolchain::{BuildJob, BuildReport, BuildSink, FlashOrder, Toolchain};
use tokio_util::sync::CancellationToken;

/// How far a build is: (steps done, steps in all).
pub type Progress = Option<(u32, u32)>;

/// What a build prints, and how far it was last.
#[derive(Default)]
pub struct Log(Mutex<(Vec<u8>, Progress)>);

impl Log {
    /// What it has printed so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap().0).into_owned()
    }
}

impl BuildSink for Log {
    fn output(&self, bytes: &[u8]) {
        self.0.lock().unwrap().0.extend_from_slice(bytes);
    }

    fn progress(&self, done: u32, total: u32) {
        assert!(done <= total);
        self.0.lock().unwrap().1 = Some((done, total));
    }
}

/// A build that has ended.
pub struct Built {
    pub report: BuildReport,
    pub log: String,
    pub progress: Progress,
    /// What was to be run, as the person is told.
    pub command: String,
    pub time: Duration,
}

/// A build of the project, and what it prints.
pub fn job(project: &Path, board: Option<&str>) -> (BuildJob, Arc<Log>) {
    let log = Arc::new(Log::default());
    let job = BuildJob {
        project: project.to_owned(),
        board: board.map(str::to_owned),
        sink: Arc::clone(&log) as Arc<dyn BuildSink>,
        timeout: Duration::from_secs(600),
        cancel: CancellationToken::new(),
    };
    (job, log)
}

pub async fn build(toolchain: &dyn Toolchain, project: &Path, board: Option<&str>) -> Built {
    let command = toolchain.command(project);
    let (job, log) = job(project, board);
    let began = Instant::now();
    let report = toolchain.build(job).await;
    let time = began.elapsed();
    let progress = log.0.lock().unwrap().1;
    Built { report, log: log.text(), progress, command, time }
}

/// What the compiler says of a file of the project before it is saved.
pub async fn check(
    toolchain: &dyn Toolchain,
    project: &Path,
    path: &str,
    text: &str,
) -> Option<Vec<Diagnostic>> {
    let path = ProjectPath::new(path).unwrap();
    let file = NewText { path, content: text.as_bytes().to_vec() };
    let limit = Duration::from_secs(60);
    let runner = Some(crate::sandbox_runner());
    let job = SyntaxJob { project: project.to_owned(), files: [file].into(), limit, runner };
    toolchain.check_syntax(job).await.remove(0)
}

/// Writes a file of the project.
pub fn write(project: &Path, path: &str, text: &str) {
    let path = project.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Runs what was built for this machine, and listens until it says that.
pub async fn run_until(toolchain: &dyn Toolchain, project: &Path, words: &'static str) {
    let plan = toolchain.plan_flash(project, BuildId(1), Timestamp(0)).unwrap();
    assert!(plan.board.simulated && plan.board.label == "host process", "{:?}", plan.board);
    let order = FlashOrder {
        project: project.to_owned(),
        plan,
        progress: Arc::new(|_, _| {}),
        notice: Arc::new(|notice| panic!("{notice:?}")),
        cancel: CancellationToken::new(),
    };
    let board = toolchain.flash(order).await.unwrap();
    let said = tokio::task::spawn_blocking(move || {
        let mut port = std::fs::File::open(board.port).unwrap();
        let (mut all, mut buffer) = (Vec::new(), [0; 256]);
        while !String::from_utf8_lossy(&all).contains(words) {
            let count = port.read(&mut buffer).unwrap();
            all.extend_from_slice(&buffer[..count]);
        }
    });
    tokio::time::timeout(Duration::from_secs(10), said).await.unwrap().unwrap();
}
