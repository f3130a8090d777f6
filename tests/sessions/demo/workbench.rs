//! A toolchain that only looks for the one mistake, for the ways the conversation can go that
//! need no compiler. The whole run with a compiler and a board is in `whole.rs`.

use std::path::Path;
use std::sync::Arc;

use firmhand::model::{
    BoardInfo, BuildId, BuildOutcome, ContentHash, Diagnostic, FlashImage, FlashPlan, Severity,
    Timestamp, UserError,
};
use firmhand::toolchain::{BuildJob, BuildReport, FlashOrder, Toolchain};
use futures::FutureExt;
use futures::future::BoxFuture;

/// How a [`Workbench`] builds.
#[derive(Clone, Copy)]
pub enum Compiler {
    /// It finds the missing include.
    Looks,
    /// There is none.
    Missing,
}

/// Builds by looking, has a board and cannot write it.
pub struct Workbench(pub Compiler);

impl Workbench {
    pub fn with(compiler: Compiler) -> Arc<dyn Toolchain> {
        Arc::new(Self(compiler))
    }
}

impl Toolchain for Workbench {
    fn label(&self) -> String {
        "workbench".to_owned()
    }

    fn command(&self, _project: &Path) -> String {
        "look".to_owned()
    }

    fn build(&self, job: BuildJob) -> BoxFuture<'_, BuildReport> {
        async move {
            let diagnostics = Vec::new();
            if let Compiler::Missing = self.0 {
                let error = UserError::new("Cannot build", "there is no `cc`", "Install one.");
                return BuildReport { outcome: BuildOutcome::NotRun(error), diagnostics };
            }
            let text = std::fs::read_to_string(job.project.join("main/src/i2c_scan.c")).unwrap();
            if text.contains("#include \"esp_log.h\"") {
                return BuildReport { outcome: BuildOutcome::Passed, diagnostics };
            }
            let diagnostics = vec![Diagnostic {
                file: Some("main/src/i2c_scan.c".to_owned()),
                line: Some(16),
                column: Some(5),
                severity: Severity::Error,
                message: "implicit declaration of function 'ESP_LOGI'".to_owned(),
                hint: String::new(),
            }];
            BuildReport { outcome: BuildOutcome::Failed, diagnostics }
        }
        .boxed()
    }

    fn plan_flash(&self, _: &Path, build: BuildId, at: Timestamp) -> Result<FlashPlan, UserError> {
        let board = BoardInfo {
            label: "workbench".to_owned(),
            chip: "esp32".to_owned(),
            port: "none".to_owned(),
            simulated: true,
        };
        let hash = ContentHash::of(b"image");
        let image = FlashImage {
            file: "build/i2c_scan.bin".to_owned(),
            offset: 0x10000,
            bytes: 5,
            hash,
            same: false,
        };
        Ok(FlashPlan::new(board, vec![image], build, at))
    }

    fn flash(&self, _: FlashOrder) -> BoxFuture<'_, Result<BoardInfo, UserError>> {
        let error =
            UserError::new("Cannot flash", "the board does not answer", "Press its button.");
        futures::future::ready(Err(error)).boxed()
    }
}
