//! Runs the compiler over a plan: incremental, two steps at a time, with ninja's lines.
//!
//! Owns the project's `build/` folder and the compiler's processes. Writes nowhere else.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use super::kit::Kit;
use super::plan::{CompilePlan, Unit, is_cxx};
use super::step::{BuildStep, Printed, StepError, below, io_error, refresh, with_suffix, write};
use crate::files;
use crate::model::ContentHash;
use crate::sandbox::Runner;
use crate::toolchain::BuildSink;
use crate::toolchain::output_folder::{self, Use};
use crate::toolchain::syntax::CompileLine;

/// Compilers that run at the same time.
const PARALLEL: usize = 2;

/// What every source is compiled with: ESP-IDF's dialect and warnings, code that a panic can be
/// traced in, and fixed addresses so that program counters are those of the file.
const FLAGS: &str = "-std=gnu17 -g -O1 -fno-omit-frame-pointer -fno-pie -fno-common \
    -ffunction-sections -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
    -Werror=implicit-function-declaration -Werror=incompatible-pointer-types \
    -Werror=int-conversion -DESP_PLATFORM=1 -D_GNU_SOURCE";

/// What every C++ source is compiled with: as C, in the dialect and with the leniency of the
/// Arduino core.
const CXX_FLAGS: &str = "-std=gnu++20 -g -O1 -fno-omit-frame-pointer -fno-pie -ffunction-sections \
    -fno-rtti -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
    -Wno-missing-field-initializers -Wno-volatile -DESP_PLATFORM=1 -D_GNU_SOURCE";

/// Where the firmware keeps its own hash, until the hash is known: a text that occurs nowhere else.
const ID_SLOT: &str = "firmhand-build-id-slot----------";

/// Everything one build works with.
pub struct HostBuild<'a> {
    /// Absolute path of the project.
    pub root: &'a Path,
    /// The compiler of C.
    pub compiler: &'a Path,
    /// The compiler of C++; that of C where there is no C++ to compile.
    pub cxx: &'a Path,
    /// Headers and runtime.
    pub kit: &'a Kit,
    /// What to compile.
    pub plan: &'a CompilePlan,
    /// Runs compilers in the sandbox; `None` where nothing is compiled.
    pub runner: Option<&'a Runner>,
}

/// Where the firmware of a project lies.
#[must_use]
pub fn firmware(root: &Path, name: &str) -> PathBuf {
    root.join("build").join(format!("{name}.elf"))
}

/// The chip that a project was built for last.
#[must_use]
pub fn chip(root: &Path) -> Option<String> {
    let text = files::read_text(&root.join("build/config/sdkconfig.h"), files::SOURCE).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("#define CONFIG_IDF_TARGET \""))?;
    Some(value.trim_end_matches('"').to_owned())
}

impl HostBuild<'_> {
    /// Brings the firmware up to date.
    ///
    /// # Errors
    /// See [`StepError`]. Dropping the future ends every compiler at once.
    pub async fn run(&self, sink: &dyn BuildSink) -> Result<(), StepError> {
        self.unpack()?;
        let steps = self.steps();
        let link = self.link(&steps);
        let stale: VecDeque<&BuildStep> = steps.iter().filter(|step| step.is_stale()).collect();
        if stale.is_empty() && !link.is_stale() {
            sink.output(b"ninja: no work to do.\n");
            return Ok(());
        }
        let total = u32::try_from(stale.len() + 1).unwrap_or(u32::MAX);
        self.compile(stale, total, sink).await?;
        let printed = link.perform(self.root, self.runner).await?;
        report(sink, total, total, &link.title, &printed);
        sink.progress(total, total);
        if !printed.ok {
            return Err(fail(sink));
        }
        stamp(self.root, &link.output)
    }

    async fn compile(
        &self,
        mut open: VecDeque<&BuildStep>,
        total: u32,
        sink: &dyn BuildSink,
    ) -> Result<(), StepError> {
        let (root, runner) = (self.root, self.runner);
        let mut running = FuturesUnordered::new();
        let (mut done, mut failed) = (0, false);
        sink.progress(0, total);
        loop {
            while running.len() < PARALLEL
                && !failed
                && let Some(step) = open.pop_front()
            {
                running.push(async move { (step, step.perform(root, runner).await) });
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
        if let Some(link) = output_folder::link_in(self.root, Path::new("build")) {
            let what = "the project's output folder is not used";
            return Err(io_error(what)(output_folder::is_a_link(&link)));
        }
        let build = self.build_folder();
        let folder = self.kit_folder();
        if !folder.join(".complete").exists() {
            for (path, content) in &self.kit.files {
                write(self.root, &folder.join(path), content)?;
            }
            write(self.root, &folder.join(".complete"), b"")?;
        }
        // The runtime prints the name when the board starts.
        let name = format!(
            "const char vb_project_name[] = \"{}\";\nconst char vb_build_id[] = \"{ID_SLOT}\";\n",
            self.plan.name
        );
        refresh(self.root, &self.named_source(), name.as_bytes())?;
        let own = self.configuration()?;
        if let Some(joined) = &self.plan.joined {
            refresh(self.root, &self.root.join(&joined.path), joined.text.as_bytes())?;
        }
        let header = self.kit.config_header(&own);
        refresh(self.root, &build.join("config").join("sdkconfig.h"), header.as_bytes())
    }

    /// What the project's own configuration says.
    fn configuration(&self) -> Result<Vec<String>, StepError> {
        let mut texts = Vec::new();
        for name in ["sdkconfig.defaults", "sdkconfig"] {
            match files::read_text(&self.root.join(name), files::SOURCE) {
                Ok(text) => texts.push(text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(io_error(format!("read {name}"))(error)),
            }
        }
        if let Some(chip) = &self.plan.chip {
            let upper = chip.to_uppercase();
            texts.push(format!(
                "# CONFIG_IDF_TARGET_ESP32 is not set\nCONFIG_IDF_TARGET_{upper}=y\n\
                 CONFIG_IDF_TARGET=\"{chip}\"\n"
            ));
        }
        Ok(texts)
    }

    /// The C source that holds the project's name.
    fn build_folder(&self) -> PathBuf {
        self.root.join("build")
    }

    fn named_source(&self) -> PathBuf {
        self.build_folder().join("config").join("project_name.c")
    }

    fn kit_folder(&self) -> PathBuf {
        self.build_folder().join("virtual").join(self.kit.hash.short())
    }

    fn steps(&self) -> Vec<BuildStep> {
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
            let path = self.build_folder().join(object.replace("../", "__/"));
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
    fn core_steps(&self, kit: &Path, all_kit: &[PathBuf]) -> Vec<BuildStep> {
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
    ) -> BuildStep {
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
        BuildStep { title, compiler, args, output, inputs: vec![source.to_owned()] }
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
        let mut args: Vec<String> = flags.split(' ').map(str::to_owned).collect();
        args.extend_from_slice(options);
        args.push(format!("-fmacro-prefix-map={}/=./", self.root.display()));
        args.push(format!("-I{}", self.build_folder().join("config").display()));
        args.extend(includes.iter().map(|dir| format!("-I{}", dir.display())));
        (compiler.to_owned(), args)
    }

    /// As [`Self::all_lines`]; `None` before the first build, which brings the headers.
    pub fn lines(&self) -> Option<Vec<CompileLine>> {
        let kit = self.kit_folder();
        kit.join(".complete").exists().then(|| self.all_lines())
    }

    /// How the project's own sources are compiled, also before the first build.
    pub fn all_lines(&self) -> Vec<CompileLine> {
        let kit = self.kit_folder();
        let lines = self.plan.units.iter().map(|unit| {
            let (source, includes) = (self.root.join(&unit.source), self.includes(unit, &kit));
            let (compiler, options) = self.options(&source, &includes, &unit.options);
            CompileLine { source: unit.source.clone(), compiler, options }
        });
        lines.collect()
    }

    /// The headers that the first build would bring, with paths relative to the project; none once
    /// it has. `None` when the configuration cannot be read.
    pub fn headers(&self) -> Option<Vec<(PathBuf, Vec<u8>)>> {
        let folder = self.kit_folder();
        let kit = folder.strip_prefix(self.root).ok()?;
        let mut headers = Vec::new();
        if !folder.join(".complete").exists() {
            let own = self
                .kit
                .files
                .iter()
                .filter(|(path, _)| path.ends_with(".h") || path.starts_with("unsupported/"));
            headers.extend(own.map(|(path, content)| (kit.join(path), content.to_vec())));
        }
        let settings = self.kit.config_header(&self.configuration().ok()?);
        headers.push((PathBuf::from("build/config/sdkconfig.h"), settings.into_bytes()));
        Some(headers)
    }

    fn link(&self, steps: &[BuildStep]) -> BuildStep {
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
        BuildStep { title, compiler: compiler.to_owned(), args, output, inputs }
    }
}

/// Writes the firmware's hash into its slot, as ESP-IDF does, so that a panic can name the file.
fn stamp(root: &Path, path: &Path) -> Result<(), StepError> {
    let what = || format!("stamp {}", path.display());
    let path = below(root, path).map_err(io_error(what()))?;
    let image = output_folder::read(root, path, files::PROGRAM);
    let mut image = image.map_err(io_error(what()))?;
    let id = ContentHash::of(&image).to_string();
    let slot = memchr::memmem::find(&image, ID_SLOT.as_bytes());
    let slot = slot.and_then(|at| image.get_mut(at..at + ID_SLOT.len()));
    let (Some(slot), Some(id)) = (slot, id.get(..ID_SLOT.len())) else {
        return Err(io_error(what())(io::ErrorKind::InvalidData.into()));
    };
    slot.copy_from_slice(id.as_bytes());
    output_folder::write(root, path, &image, Use::Program).map_err(io_error(what()))
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

fn include(kit: &Path, component: &str) -> PathBuf {
    kit.join("components").join(component).join("include")
}
