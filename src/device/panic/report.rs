//! Makes a report of a panic: addresses become functions and lines.
//!
//! Owns the search for the program that runs on the board, and keeps what was read of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde_json::Value;

use super::elf::{Processor, Program};
use super::raw::{RawPanic, RawTrace};
use super::unwind::Registers;
use crate::files;
use crate::model::{ElfMatch, PanicElf, PanicFrame, PanicKind, PanicReport, PanicTrace};

/// Programs looked at in one project.
const MAX_CANDIDATES: usize = 16;

/// A program with the time its file was written.
type Loaded = (Arc<Program>, SystemTime);

/// The programs a project was built into.
#[derive(Debug, Default)]
pub struct Programs {
    /// Folder of the project.
    project: Option<PathBuf>,
    /// A program that was named by the person.
    named: Option<PathBuf>,
    /// Programs that were read, most recently used last.
    loaded: Mutex<Vec<Loaded>>,
}

impl Programs {
    /// Those below a project's folder.
    #[must_use]
    pub fn of_project(project: &Path) -> Self {
        Self { project: Some(project.to_owned()), ..Self::default() }
    }

    /// One that the person named, and those below the project's folder.
    #[must_use]
    pub fn named(elf: Option<&Path>, project: Option<&Path>) -> Self {
        Self {
            project: project.map(Path::to_owned),
            named: elf.map(Path::to_owned),
            loaded: Mutex::default(),
        }
    }

    /// Looks a panic up. Reads files: call it where that may take its time.
    #[must_use]
    pub fn report(&self, raw: &RawPanic) -> PanicReport {
        let mut notes = Vec::new();
        let found = self.find(raw.sha256.as_deref(), &mut notes);
        let program = found.as_ref().map(|(program, _)| &**program);
        if let (Some(program), Some((_, ElfMatch::Different))) = (program, &found) {
            notes.push(format!(
                "the board runs a different program than {}: functions and lines may be wrong; build \
                 and flash again",
                self.shown(program.path())
            ));
        }
        let mut traces = traces_of(raw, program);
        for frame in traces.iter_mut().flat_map(|trace| &mut trace.frames) {
            if let Some(file) = &frame.file {
                frame.file = Some(self.shown(Path::new(file)));
            }
        }
        if traces.is_empty() && raw.kind != PanicKind::Brownout && raw.kind != PanicKind::BootLoop {
            notes.push("the board printed no address to look up".to_owned());
        }
        PanicReport {
            kind: raw.kind,
            message: raw.message.clone(),
            task: raw.task.clone(),
            core: raw.core,
            details: raw.details.clone(),
            registers: raw.registers.clone(),
            traces,
            elf: found
                .map(|(program, matches)| PanicElf { file: self.shown(program.path()), matches }),
            notes,
        }
    }

    /// The program with that hash; else the newest one.
    fn find(&self, sha: Option<&str>, notes: &mut Vec<String>) -> Option<(Arc<Program>, ElfMatch)> {
        let mut first = None;
        let candidates = self.candidates();
        if candidates.is_empty() && (self.project.is_some() || self.named.is_some()) {
            notes.push("there is no built program (.elf) to look addresses up in".to_owned());
        }
        for path in candidates {
            match self.load(&path) {
                Ok(program) => {
                    if sha.is_some_and(|sha| program.has_hash(sha)) {
                        return Some((program, ElfMatch::Same));
                    }
                    first = first.or(Some(program));
                }
                Err(why) => notes.push(why),
            }
        }
        let matches = if sha.is_some() { ElfMatch::Different } else { ElfMatch::Unknown };
        first.map(|program| (program, matches))
    }

    fn load(&self, path: &Path) -> Result<Arc<Program>, String> {
        let written = std::fs::metadata(path).and_then(|file| file.modified());
        let written = written.map_err(|error| format!("{}: {error}", self.shown(path)))?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|(program, at)| program.path() != path || *at == written);
        if let Some((program, _)) = loaded.iter().find(|(program, _)| program.path() == path) {
            return Ok(Arc::clone(program));
        }
        let program =
            Program::open(path).map_err(|e| format!("{}: {}", self.shown(path), e.why))?;
        let program = Arc::new(program);
        if loaded.len() >= MAX_CANDIDATES {
            loaded.remove(0);
        }
        loaded.push((Arc::clone(&program), written));
        Ok(program)
    }

    /// ELF files, the most likely first: the one that was named, the one the build describes, then
    /// the newest.
    fn candidates(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = self.named.iter().cloned().collect();
        let Some(project) = &self.project else { return found };
        let build = project.join("build");
        found.extend(described(&build).filter(|path| path.is_file()));
        let mut others: Vec<(SystemTime, PathBuf)> = Vec::new();
        let mut folders = vec![build.clone()];
        folders.extend(below(&build).filter(|path| path.is_dir()));
        folders.extend(below(&project.join(".pio/build")).filter(|path| path.is_dir()));
        for path in folders.iter().flat_map(|folder| below(folder)) {
            if path.extension().is_some_and(|end| end == "elf")
                && let Ok(written) = path.metadata().and_then(|file| file.modified())
            {
                others.push((written, path));
            }
        }
        others.sort_by_key(|(written, _)| std::cmp::Reverse(*written));
        for (_, path) in others {
            if !found.contains(&path) && found.len() < MAX_CANDIDATES {
                found.push(path);
            }
        }
        found
    }

    /// A path as people know it: relative to the project where it lies in it.
    fn shown(&self, path: &Path) -> String {
        let inside = self.project.as_ref().and_then(|project| path.strip_prefix(project).ok());
        inside.unwrap_or(path).display().to_string()
    }
}

/// The program that ESP-IDF's build says it made.
fn described(build: &Path) -> impl Iterator<Item = PathBuf> {
    let text = files::read(&build.join("project_description.json"), files::BUILD_FACTS).ok();
    let json = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let name = json.and_then(|json| json.get("app_elf")?.as_str().map(str::to_owned));
    name.map(|name| build.join(name)).into_iter()
}

fn below(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn traces_of(raw: &RawPanic, program: Option<&Program>) -> Vec<PanicTrace> {
    let mut traces: Vec<RawTrace> = raw.traces.clone();
    if traces.is_empty() {
        traces.extend(followed(raw, program));
    }
    if traces.is_empty() {
        let pcs: Vec<u64> = ["PC", "MEPC"].iter().filter_map(|name| raw.register(name)).collect();
        let pcs = if pcs.is_empty() { raw.pcs.clone() } else { pcs };
        if !pcs.is_empty() {
            traces.push(RawTrace { core: raw.core, pcs, is_corrupted: false });
        }
    }
    let frames = |pcs: &[u64]| -> Vec<PanicFrame> {
        let unknown =
            |pc| PanicFrame { pc, function: None, file: None, line: None, inlined: false };
        pcs.iter()
            .flat_map(|pc| {
                program.map_or_else(|| vec![unknown(*pc)], |program| program.frames(*pc))
            })
            .collect()
    };
    traces
        .iter()
        .map(|trace| PanicTrace {
            core: trace.core,
            frames: frames(&trace.pcs),
            is_corrupted: trace.is_corrupted,
        })
        .collect()
}

/// The calls of a RISC-V panic, which prints its stack and leaves the rest to the host.
fn followed(raw: &RawPanic, program: Option<&Program>) -> Option<RawTrace> {
    let program = program.filter(|program| program.processor() == Processor::RiscV)?;
    let registers = Registers::read(|name| raw.register(name))?;
    let pcs = program.unwind(&registers, &|address| raw.stack.get(&address).copied());
    Some(RawTrace { core: raw.core, pcs, is_corrupted: false })
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
