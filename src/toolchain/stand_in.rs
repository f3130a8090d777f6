//! For tests: a program that stands in for a toolchain's own, and a place to build in.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{BuildJob, BuildReport, BuildSink, FlashOrder, Toolchain};
use crate::model::FlashPlan;

/// Keeps what a build prints.
#[derive(Default)]
struct Paper(Mutex<Vec<u8>>);

impl BuildSink for Paper {
    fn output(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
    }

    fn progress(&self, done: u32, total: u32) {
        assert!(done <= total);
    }
}

/// A folder with a project in it and a stand-in beside it, which notes its arguments in `calls`.
pub struct StandInProject {
    folder: tempfile::TempDir,
    project: PathBuf,
}

/// Tells what `esptool` tells, for each of the words that is an image.
pub const ESPTOOL: &str = "for word; do case $word in *.bin)\n\
    echo 'Writing at 0x00010000... (100 %)'\necho 'Hash of data verified.';; esac; done";

impl StandInProject {
    /// One with these files of the project, whose folder has that name.
    pub fn new(project: &str, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { project: folder.path().join(project), folder };
        std::fs::create_dir_all(&place.project).unwrap();
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    /// A path beside the project.
    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// The project's folder.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.project.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Makes `commands` of the shell the program of that name, in the place of one that is there.
    pub fn program(&self, name: &str, commands: &str) -> PathBuf {
        let path = self.path(name);
        let calls = self.path("calls");
        let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\n{commands}\n", calls.display());
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// What the programs were called with, a line each.
    pub fn calls(&self) -> String {
        std::fs::read_to_string(self.path("calls")).unwrap()
    }

    /// A build of the project, and how it is cancelled.
    pub fn job(&self, board: Option<&str>) -> (BuildJob, CancellationToken) {
        let (job, _) = self.noted(board);
        let cancel = job.cancel.clone();
        (job, cancel)
    }

    fn noted(&self, board: Option<&str>) -> (BuildJob, Arc<Paper>) {
        let sink = Arc::new(Paper::default());
        let job = BuildJob {
            project: self.project.clone(),
            board: board.map(str::to_owned),
            sink: Arc::clone(&sink) as Arc<dyn BuildSink>,
            timeout: Duration::from_secs(60),
            cancel: CancellationToken::new(),
        };
        (job, sink)
    }

    /// Builds the project, and returns what was printed too.
    pub async fn build(
        &self,
        toolchain: &dyn Toolchain,
        board: Option<&str>,
    ) -> (BuildReport, String) {
        let (job, sink) = self.noted(board);
        let report = toolchain.build(job).await;
        let log = sink.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (report, String::from_utf8(log).unwrap())
    }

    /// An order to write these images, about which there is nothing to notice.
    pub fn order(&self, plan: &FlashPlan) -> FlashOrder {
        FlashOrder {
            project: self.project.clone(),
            plan: plan.clone(),
            progress: Arc::new(|done, total| assert!(done <= total)),
            notice: Arc::new(|notice| panic!("{notice:?}")),
            cancel: CancellationToken::new(),
        }
    }
}
