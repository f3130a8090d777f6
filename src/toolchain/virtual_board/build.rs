//! Runs the compiler over a plan: incremental, two steps at a time, with ninja's lines.
//!
//! Owns the project's `build/` folder and the compiler's processes. Writes nowhere else.

#![expect(clippy::disallowed_methods, reason = "a build writes below build/ and runs the compiler")]

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use process_wrap::tokio::CommandWrap;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use super::kit::Kit;
use super::plan::{Plan, Unit};
use crate::model::ContentHash;
use crate::toolchain::BuildSink;
use crate::toolchain::process::Group;
use crate::toolchain::syntax::Line;

/// Compilers that run at the same time.
const PARALLEL: usize = 2;

/// Bytes of one compiler's output that are kept; a header of errors without end is cut.
const MAX_OUTPUT: usize = 1 << 20;

/// What every source is compiled with: ESP-IDF's dialect and warnings, code that a panic can be
/// traced in, and fixed addresses so that program counters are those of the file.
const FLAGS: &[&str] = &[
    "-std=gnu17",
    "-g",
    "-O1",
    "-fno-omit-frame-pointer",
    "-fno-pie",
    "-fno-common",
    "-ffunction-sections",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Wno-sign-compare",
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-DESP_PLATFORM=1",
    "-D_GNU_SOURCE",
];

/// What every C++ source is compiled with: as C, in the dialect and with the leniency of the
/// Arduino core.
const CXX_FLAGS: &[&str] = &[
    "-std=gnu++20",
    "-g",
    "-O1",
    "-fno-omit-frame-pointer",
    "-fno-pie",
    "-ffunction-sections",
    "-fno-rtti",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Wno-sign-compare",
    "-Wno-missing-field-initializers",
    "-Wno-volatile",
    "-DESP_PLATFORM=1",
    "-D_GNU_SOURCE",
];

/// Where the firmware keeps its own hash, until the hash is known: a text that occurs nowhere else.
const ID_SLOT: &str = "firmhand-build-id-slot----------";

/// One process of the build and what it makes.
#[derive(Debug, Clone)]
pub struct Step {
    /// Ninja's words for it.
    title: String,
    /// Which compiler.
    compiler: PathBuf,
    /// Arguments of the compiler.
    args: Vec<String>,
    /// What it makes, absolute.
    output: PathBuf,
    /// What it reads beyond what its dependency file names, absolute.
    inputs: Vec<PathBuf>,
}

/// Everything one build works with.
pub struct Job<'a> {
    /// Absolute path of the project.
    pub root: &'a Path,
    /// The compiler of C.
    pub compiler: &'a Path,
    /// The compiler of C++; that of C where there is no C++ to compile.
    pub cxx: &'a Path,
    /// Headers and runtime.
    pub kit: &'a Kit,
    /// What to compile.
    pub plan: &'a Plan,
}

/// Why a build stopped.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The project has errors; they were printed.
    #[error("a step failed")]
    Failed,
    /// A file below `build/` or the compiler could not be used.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The cause.
        source: io::Error,
    },
}

fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> StepError {
    let what = what.into();
    move |source| StepError::Io { what, source }
}

/// Where the firmware of a project lies.
#[must_use]
pub fn firmware(root: &Path, name: &str) -> PathBuf {
    root.join("build").join(format!("{name}.elf"))
}

impl Job<'_> {
    /// Brings the firmware up to date.
    ///
    /// # Errors
    /// See [`StepError`]. Dropping the future ends every compiler at once.
    pub async fn run(&self, sink: &dyn BuildSink) -> Result<(), StepError> {
        self.unpack()?;
        let steps = self.steps();
        let link = self.link(&steps);
        let stale: VecDeque<&Step> = steps.iter().filter(|step| step.is_stale()).collect();
        if stale.is_empty() && !link.is_stale() {
            sink.output(b"ninja: no work to do.\n");
            return Ok(());
        }
        let total = u32::try_from(stale.len() + 1).unwrap_or(u32::MAX);
        self.compile(stale, total, sink).await?;
        let printed = self.perform(&link).await?;
        report(sink, total, total, &link.title, &printed);
        sink.progress(total, total);
        if !printed.ok {
            return Err(fail(sink));
        }
        stamp(&link.output)
    }

    async fn compile(
        &self,
        mut open: VecDeque<&Step>,
        total: u32,
        sink: &dyn BuildSink,
    ) -> Result<(), StepError> {
        let mut running = FuturesUnordered::new();
        let (mut done, mut failed) = (0, false);
        sink.progress(0, total);
        loop {
            while running.len() < PARALLEL
                && !failed
                && let Some(step) = open.pop_front()
            {
                running.push(async move { (step, self.perform(step).await) });
            }
            let Some((step, printed)) = running.next().await else { break };
            let printed = printed?;
            done += 1;
            report(sink, done, total, &step.title, &printed);
            sink.progress(done, total);
            failed |= !printed.ok;
        }
        if failed { Err(fail(sink)) } else { Ok(()) }
    }

    /// Puts the kit's files below `build/virtual`, once for each version of the kit.
    fn unpack(&self) -> Result<(), StepError> {
        let build = self.root.join("build");
        if fs::symlink_metadata(&build).is_ok_and(|found| !found.is_dir()) {
            let what = "build/ is not a folder (a link is not followed)";
            return Err(io_error(what)(io::ErrorKind::NotADirectory.into()));
        }
        let folder = self.kit_folder();
        if !folder.join(".complete").exists() {
            for (path, content) in &self.kit.files {
                write(&folder.join(path), content)?;
            }
            write(&folder.join(".complete"), b"")?;
        }
        // The runtime prints the name when the board starts.
        let name = format!(
            "const char vb_project_name[] = \"{}\";\nconst char vb_build_id[] = \"{ID_SLOT}\";\n",
            self.plan.name
        );
        refresh(&self.named_source(), name.as_bytes())?;
        let own: Vec<String> = ["sdkconfig.defaults", "sdkconfig"]
            .iter()
            .filter_map(|name| fs::read_to_string(self.root.join(name)).ok())
            .collect();
        if let Some(joined) = &self.plan.joined {
            refresh(&self.root.join(&joined.path), joined.text.as_bytes())?;
        }
        let header = self.kit.config_header(&own);
        refresh(&build.join("config").join("sdkconfig.h"), header.as_bytes())
    }

    /// The C source that holds the project's name.
    fn named_source(&self) -> PathBuf {
        self.root.join("build").join("config").join("project_name.c")
    }

    fn kit_folder(&self) -> PathBuf {
        self.root.join("build").join("virtual").join(self.kit.hash.short())
    }

    fn steps(&self) -> Vec<Step> {
        let kit = self.kit_folder();
        let mut all_kit: Vec<PathBuf> = vec![kit.join("runtime")];
        all_kit.extend(self.kit.components.keys().map(|name| include(&kit, name)));
        let runtime = self.kit.runtime_sources().map(|source| {
            let stem = source.trim_start_matches("runtime/");
            let object = kit.join("obj").join(format!("{stem}.o"));
            let title = format!("virtual/{stem}.o");
            self.step(title, &kit.join(source), object, &all_kit, &[])
        });
        let own = self.plan.units.iter().map(|unit| {
            let object = self.object(unit);
            let path = self.root.join("build").join(object.replace("../", "__/"));
            let source = self.root.join(&unit.source);
            self.step(object, &source, path, &self.includes(unit, &kit), &unit.options)
        });
        let core = self.core_steps(&kit, &all_kit);
        let source = self.named_source();
        let title = "config/project_name.c.o".to_owned();
        let named = self.step(title, &source, with_suffix(&source, ".o"), &[], &[]);
        runtime.chain(core).chain([named]).chain(own).collect()
    }

    /// The Arduino core and its libraries, for a sketch.
    fn core_steps(&self, kit: &Path, all_kit: &[PathBuf]) -> Vec<Step> {
        if self.plan.joined.is_none() {
            return Vec::new();
        }
        let mut includes = all_kit.to_vec();
        includes.extend(self.kit.arduino_folders().into_iter().map(|folder| kit.join(folder)));
        let steps = self.kit.arduino_sources().map(|source| {
            let object = kit.join("obj").join(format!("{source}.o"));
            self.step(format!("{source}.o"), &kit.join(source), object, &includes, &[])
        });
        steps.collect()
    }

    /// Where a source of the project is compiled to, below `build`.
    fn object(&self, unit: &Unit) -> String {
        if self.plan.joined.is_some() {
            return format!("sketch/{}.o", unit.name);
        }
        let Unit { component, name, .. } = unit;
        format!("esp-idf/{component}/CMakeFiles/__idf_{component}.dir/{name}.o")
    }

    fn includes(&self, unit: &Unit, kit: &Path) -> Vec<PathBuf> {
        let mut includes = unit.includes.clone();
        includes.extend(unit.kit_components.iter().map(|name| include(kit, name)));
        if self.plan.joined.is_some() {
            includes.extend(self.kit.arduino_folders().into_iter().map(|folder| kit.join(folder)));
        }
        includes.push(kit.join("unsupported"));
        includes
    }

    /// `object`: how the lines of the build call what is made.
    fn step(
        &self,
        object: String,
        source: &Path,
        output: PathBuf,
        includes: &[PathBuf],
        options: &[String],
    ) -> Step {
        let word = if is_cxx(source) { "CXX" } else { "C" };
        let title = format!("Building {word} object {object}");
        let (compiler, mut args) = self.options(source, includes, options);
        args.extend([
            "-MMD".into(),
            "-MF".into(),
            with_suffix(&output, ".d").display().to_string(),
        ]);
        args.extend(["-o".into(), output.display().to_string()]);
        args.extend(["-c".into(), source.display().to_string()]);
        Step { title, compiler, args, output, inputs: vec![source.to_owned()] }
    }

    /// The compiler of a source, and all it is told but what to read and to make.
    fn options(
        &self,
        source: &Path,
        includes: &[PathBuf],
        options: &[String],
    ) -> (PathBuf, Vec<String>) {
        let (flags, compiler) = match is_cxx(source) {
            true => (CXX_FLAGS, self.cxx),
            false => (FLAGS, self.compiler),
        };
        let mut args: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        args.extend_from_slice(options);
        args.push(format!("-fmacro-prefix-map={}/=./", self.root.display()));
        args.push(format!("-I{}", self.root.join("build").join("config").display()));
        args.extend(includes.iter().map(|dir| format!("-I{}", dir.display())));
        (compiler.to_owned(), args)
    }

    /// How the project's own sources are compiled; `None` before the first build, which brings the
    /// headers.
    pub fn lines(&self) -> Option<Vec<Line>> {
        let kit = self.kit_folder();
        if !kit.join(".complete").exists() {
            return None;
        }
        let lines = self.plan.units.iter().map(|unit| {
            let (source, includes) = (self.root.join(&unit.source), self.includes(unit, &kit));
            let (compiler, options) = self.options(&source, &includes, &unit.options);
            Line { source: unit.source.clone(), compiler, options }
        });
        Some(lines.collect())
    }

    fn link(&self, steps: &[Step]) -> Step {
        let output = firmware(self.root, &self.plan.name);
        let inputs: Vec<PathBuf> = steps.iter().map(|step| step.output.clone()).collect();
        let mut args: Vec<String> = ["-no-pie", "-rdynamic", "-pthread", "-Wl,--gc-sections", "-o"]
            .iter()
            .map(|&flag| flag.to_owned())
            .collect();
        args.push(output.display().to_string());
        args.extend(inputs.iter().map(|object| object.display().to_string()));
        args.push("-lm".to_owned());
        let has_cxx = self.plan.has_cxx();
        let (compiler, word) = if has_cxx { (self.cxx, "CXX") } else { (self.compiler, "C") };
        let title = format!("Linking {word} executable {}.elf", self.plan.name);
        Step { title, compiler: compiler.to_owned(), args, output, inputs }
    }

    async fn perform(&self, step: &Step) -> Result<Printed, StepError> {
        if let Some(folder) = step.output.parent() {
            fs::create_dir_all(folder).map_err(io_error(format!("make {}", folder.display())))?;
        }
        let mark = with_suffix(&step.output, ".cmd");
        // Without its mark an output that a cut-off compiler left behind is made again.
        let _ = fs::remove_file(&mark);
        let mut command = Command::new(&step.compiler);
        command
            .args(&step.args)
            .current_dir(self.root.join("build"))
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "TMPDIR"))
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        // A compiler starts others, which have to end with it.
        let mut group = Group::spawn(CommandWrap::from(command))
            .map_err(io_error(format!("run {}", step.compiler.display())))?;
        let mut output = Vec::new();
        let mut cut = false;
        if let Some(mut stderr) = group.child.stderr().take() {
            let mut chunk = vec![0; 16 * 1024];
            loop {
                let read = stderr.read(&mut chunk).await.map_err(io_error("read the compiler"))?;
                if read == 0 {
                    break;
                }
                let room = MAX_OUTPUT.saturating_sub(output.len());
                cut |= read > room;
                output.extend_from_slice(&chunk[..read.min(room)]);
            }
        }
        let status = group.child.wait().await.map_err(io_error("wait for the compiler"))?;
        if cut {
            output.extend_from_slice(b"\n[the compiler's output is cut here at 1 MiB]\n");
        }
        if status.success() {
            write(&mark, step.signature().as_bytes())?;
        }
        let command = format!("{} {}", step.compiler.display(), step.args.join(" "));
        Ok(Printed { ok: status.success(), output, command })
    }
}

struct Printed {
    ok: bool,
    output: Vec<u8>,
    command: String,
}

impl Step {
    /// Whether it has to be performed again.
    fn is_stale(&self) -> bool {
        let mark = fs::read_to_string(with_suffix(&self.output, ".cmd"));
        let made = modified(&self.output);
        let (Ok(mark), Some(made)) = (mark, made) else { return true };
        let dependencies = fs::read_to_string(with_suffix(&self.output, ".d")).unwrap_or_default();
        let named = depended_on(&dependencies);
        mark != self.signature()
            || self.inputs.iter().cloned().chain(named).any(|input| {
                // A dependency that is gone has to be missed by the compiler, not by us. Clocks
                // of files tick slowly: what is as old as the output may be newer than it.
                modified(&input).is_none_or(|changed| changed >= made)
            })
    }

    fn signature(&self) -> String {
        let all = format!("{} {}", self.compiler.display(), self.args.join("\0"));
        ContentHash::of(all.as_bytes()).to_string()
    }
}

/// Writes the firmware's hash into its slot, as ESP-IDF does, so that a panic can name the file.
fn stamp(path: &Path) -> Result<(), StepError> {
    let what = || format!("stamp {}", path.display());
    let mut image = fs::read(path).map_err(io_error(what()))?;
    let id = ContentHash::of(&image).to_string();
    let slot = memchr::memmem::find(&image, ID_SLOT.as_bytes());
    let slot = slot.and_then(|at| image.get_mut(at..at + ID_SLOT.len()));
    let (Some(slot), Some(id)) = (slot, id.get(..ID_SLOT.len())) else {
        return Err(io_error(what())(io::ErrorKind::InvalidData.into()));
    };
    slot.copy_from_slice(id.as_bytes());
    fs::write(path, image).map_err(io_error(what()))
}

fn report(sink: &dyn BuildSink, done: u32, total: u32, title: &str, printed: &Printed) {
    let mut text = format!("[{done}/{total}] {title}\n").into_bytes();
    if !printed.ok {
        let object = title.rsplit(' ').next().unwrap_or(title);
        text.extend_from_slice(format!("FAILED: {object}\n{}\n", printed.command).as_bytes());
    }
    text.extend_from_slice(&printed.output);
    sink.output(&text);
}

fn fail(sink: &dyn BuildSink) -> StepError {
    sink.output(b"ninja: build stopped: subcommand failed.\n");
    StepError::Failed
}

/// The files that a make-style dependency file names after its target.
fn depended_on(text: &str) -> Vec<PathBuf> {
    let Some((_, names)) = text.split_once(": ") else { return Vec::new() };
    let joined = names.replace("\\\n", " ").replace("\\ ", "\0");
    joined.split_whitespace().map(|name| PathBuf::from(name.replace('\0', " "))).collect()
}

/// Whether a source is C++, by its name.
pub(super) fn is_cxx(source: &Path) -> bool {
    let ending = source.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("cpp" | "cc" | "cxx"))
}

fn include(kit: &Path, component: &str) -> PathBuf {
    kit.join("components").join(component).join("include")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// Writes a file only when it would change, so that what depends on it stays fresh.
fn refresh(path: &Path, content: &[u8]) -> Result<(), StepError> {
    if fs::read(path).is_ok_and(|found| found == content) {
        return Ok(());
    }
    write(path, content)
}

fn write(path: &Path, content: &[u8]) -> Result<(), StepError> {
    let what = || format!("write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io_error(what()))?;
    }
    fs::write(path, content).map_err(io_error(what()))
}
