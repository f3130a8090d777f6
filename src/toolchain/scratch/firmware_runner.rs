//! Tests of firmware logic that uses ESP-IDF: compiled with the headers of the virtual board and linked
//! to its runtime, so that tasks, queues, timers, logs and settings are there.
//!
//! Owns what is added to such a test program. Must not know frameworks of tests.

use super::c_program::{Compiled, c_compiler};
use super::c_sources::SourceSet;
use super::run_env::RunEnv;
use crate::model::UserError;
use crate::toolchain::Kit;

/// Folder of the board's files, below what the run needs from this program.
const BOARD: &str = "board";

/// The board's runtime, compiled once for all test programs of a run.
const RUNTIME: &str = "board.o";

/// Bytes of a configuration that are read.
const LIMIT: u64 = 1 << 20;

/// Where a test program begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// A runner is made for its test functions.
    Made,
    /// In its own `main`.
    Main,
    /// In its own `app_main`.
    AppMain,
}

/// A test does not restart the board: it has failed when it tries.
pub const RESTART: &str = "void vb_reboot(int reason)\n{\n    (void)reason;\n    \
    fputs(\"the firmware restarts the board here\\n\", stdout);\n    fflush(stdout);\n    _exit(70);\n}\n";

/// The board as far as one run of tests has brought it.
#[derive(Debug, Default)]
pub struct TestBoard<'a> {
    kit: Option<&'a Kit>,
    is_ready: bool,
}

impl<'a> TestBoard<'a> {
    /// One that nothing was compiled for yet; without a kit nothing ever is.
    #[must_use]
    pub const fn new(kit: Option<&'a Kit>) -> Self {
        Self { kit, is_ready: false }
    }

    /// The headers among those that a program includes for which it needs the board.
    #[must_use]
    pub fn headers_of(&self, sources: &SourceSet) -> Vec<String> {
        let Some(kit) = self.kit else { return Vec::new() };
        sources.foreign.iter().filter(|header| is_of_board(kit, header)).cloned().collect()
    }

    /// What the compiler is told beside the sources, for a program that begins so; or what it had to say
    /// of the board itself.
    ///
    /// # Errors
    /// When there is no compiler or no sandbox.
    pub async fn args(
        &mut self,
        env: &mut RunEnv<'_>,
        beginning: Beginning,
    ) -> Result<Result<Vec<String>, Compiled>, UserError> {
        let Some(kit) = self.kit else { return Ok(Ok(Vec::new())) };
        if !self.is_ready {
            unpack(env, kit)?;
            if let Some(failed) = compile_runtime(env, kit).await? {
                return Ok(Err(failed));
            }
            self.is_ready = true;
        }
        let mut args = options(env, kit);
        let (renamed, start) = match beginning {
            Beginning::Made => (None, None),
            Beginning::Main => (
                Some("-Dmain=firmhand_tests"),
                Some(
                    "int firmhand_tests();\nstatic char name[] = \"tests\";\nstatic char *words[] = { name, 0 };\n\
                      void app_main(void)\n{\n    exit(firmhand_tests(1, words));\n}\n",
                ),
            ),
            Beginning::AppMain => (
                Some("-Dapp_main=firmhand_tests"),
                Some(
                    "void firmhand_tests(void);\nvoid app_main(void)\n{\n    firmhand_tests();\n    exit(0);\n}\n",
                ),
            ),
        };
        args.extend(renamed.map(str::to_owned));
        if let Some(start) = start {
            let name = format!(
                "{BOARD}/start_{}.c",
                if renamed == Some("-Dmain=firmhand_tests") { "main" } else { "app" }
            );
            let text = format!(
                "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#undef main\n#undef app_main\n{start}{RESTART}"
            );
            env.scratch.put_support(&name, &text)?;
            args.push(env.scratch.support().join(name).display().to_string());
        }
        args.push(env.scratch.results().join(RUNTIME).display().to_string());
        args.extend(["-no-pie", "-rdynamic", "-pthread", "-Wl,--gc-sections"].map(str::to_owned));
        Ok(Ok(args))
    }
}

fn is_of_board(kit: &Kit, header: &str) -> bool {
    header == "sdkconfig.h"
        || kit.provider(header).is_some()
        || kit.files.contains_key(&format!("unsupported/{header}"))
}

fn unpack(env: &RunEnv<'_>, kit: &Kit) -> Result<(), UserError> {
    for (path, content) in &kit.files {
        if !path.starts_with("arduino/") {
            let text = String::from_utf8_lossy(content);
            env.scratch.put_support(&format!("{BOARD}/{path}"), &text)?;
        }
    }
    let own: Vec<String> = ["sdkconfig.defaults", "sdkconfig"]
        .iter()
        .filter_map(|name| env.scratch.text(name, LIMIT))
        .collect();
    env.scratch.put_support(&format!("{BOARD}/config/sdkconfig.h"), &kit.config_header(&own))?;
    let name = "const char vb_project_name[] = \"tests\";\nconst char vb_build_id[] = \"\";\n";
    env.scratch.put_support(&format!("{BOARD}/config/project_name.c"), name)
}

/// How sources that use the board are compiled.
fn options(env: &RunEnv<'_>, kit: &Kit) -> Vec<String> {
    let board = env.scratch.support().join(BOARD);
    let mut folders = vec![board.join("config"), board.join("unsupported")];
    folders.extend(
        kit.components.keys().map(|name| board.join("components").join(name).join("include")),
    );
    let folders = folders.into_iter().map(|folder| format!("-I{}", folder.display()));
    ["-DESP_PLATFORM=1", "-fno-pie", "-fno-omit-frame-pointer"]
        .map(str::to_owned)
        .into_iter()
        .chain(folders)
        .collect()
}

/// Compiles the runtime to one file; what the compiler had to say if it cannot.
async fn compile_runtime(env: &mut RunEnv<'_>, kit: &Kit) -> Result<Option<Compiled>, UserError> {
    let board = env.scratch.support().join(BOARD);
    let mut args = options(env, kit);
    args.extend(
        ["-std=gnu17", "-g", "-O1", "-w", "-D_GNU_SOURCE", "-r", "-nostdlib"].map(str::to_owned),
    );
    args.push(format!("-I{}", board.join("runtime").display()));
    args.extend(kit.runtime_sources().map(|source| board.join(source).display().to_string()));
    args.push(board.join("config/project_name.c").display().to_string());
    args.extend(["-o".to_owned(), env.scratch.results().join(RUNTIME).display().to_string()]);
    let command = env.program(c_compiler()?, args);
    let captured = env.compile(command).await?;
    Ok((!captured.is_well()).then(|| Compiled::Failed(captured.into())))
}
