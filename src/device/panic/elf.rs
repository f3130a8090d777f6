//! One program: its functions and lines by address.
//!
//! Owns the debug information of one ELF file, read once. Must not know panics.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use addr2line::gimli::{Dwarf, EndianReader, RunTimeEndian, SectionId};
use addr2line::{Context, FunctionName};
use gimli::DebugFrame;
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};
use sha2::{Digest, Sha256};

use super::unwind::Registers;
use crate::model::{PanicFrame, UserError};

/// How debug information is read: shared, and counted, so that the program owns what it reads.
pub(super) type Reader = EndianReader<RunTimeEndian, Arc<[u8]>>;

/// Functions inlined into one another that are told.
const MAX_INLINED: usize = 16;

/// A symbol.
#[derive(Debug)]
struct Symbol {
    start: u64,
    size: u64,
    name: String,
}

/// The kind of processor a program is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processor {
    /// ESP32, ESP32-S2, ESP32-S3.
    Xtensa,
    /// ESP32-C and -H and -P families.
    RiscV,
    /// This computer's, for the virtual board.
    Host,
}

/// A program whose addresses can be looked up.
pub struct Program {
    path: PathBuf,
    /// Hexadecimal SHA-256 of the file.
    sha256: String,
    processor: Processor,
    /// Reads units when they are first needed.
    context: Mutex<Context<Reader>>,
    frames: DebugFrame<Reader>,
    symbols: Vec<Symbol>,
    /// Where code lies.
    code: Vec<std::ops::Range<u64>>,
    /// Whether the file holds the hash the board prints; the virtual board's is written into it.
    content: Arc<[u8]>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Program {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// When it cannot be read or is no program with code in it.
    pub fn open(path: &Path) -> Result<Self, UserError> {
        let failed = |why: String| {
            let what = format!("cannot look up addresses in {}", path.display());
            UserError::new(what, why, "build the project again")
        };
        let content = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let content: Arc<[u8]> = content.into();
        let file = object::File::parse(&*content).map_err(|error| failed(error.to_string()))?;
        let processor = match file.architecture() {
            Architecture::Xtensa => Processor::Xtensa,
            Architecture::Riscv32 => Processor::RiscV,
            Architecture::X86_64 | Architecture::Aarch64 => Processor::Host,
            other => return Err(failed(format!("it is for another processor ({other:?})"))),
        };
        let endian =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let dwarf = Dwarf::load(|id| Ok(section(&file, id, endian)))
            .map_err(|error: gimli::Error| failed(error.to_string()))?;
        let context = Context::from_dwarf(dwarf).map_err(|error| failed(error.to_string()))?;
        let context = Mutex::new(context);
        let mut frames = DebugFrame::from(section(&file, SectionId::DebugFrame, endian));
        frames.set_address_size(if file.is_64() { 8 } else { 4 });
        let symbols = symbols(&file);
        let code = code(&file);
        if code.is_empty() {
            return Err(failed("there is no code in it".to_owned()));
        }
        let sha256 = hex(&Sha256::digest(&content));
        let path = path.to_owned();
        Ok(Self { path, sha256, processor, context, frames, symbols, code, content })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which processor it is for.
    #[must_use]
    pub const fn processor(&self) -> Processor {
        self.processor
    }

    /// Whether it is the program whose hash begins with `prefix`. The virtual board's program
    /// carries the hash it prints.
    #[must_use]
    pub fn has_hash(&self, prefix: &str) -> bool {
        self.sha256.starts_with(prefix)
            || (self.processor == Processor::Host
                && memchr::memmem::find(&self.content, prefix.as_bytes()).is_some())
    }

    /// Whether an address lies in its code.
    #[must_use]
    pub fn is_code(&self, pc: u64) -> bool {
        self.code.iter().any(|range| range.contains(&pc))
    }

    /// The functions at an address, the innermost first; one frame without a function when
    /// nothing is known of it.
    #[must_use]
    pub fn frames(&self, pc: u64) -> Vec<PanicFrame> {
        let unknown = PanicFrame { pc, function: None, file: None, line: None, inlined: false };
        if !self.is_code(pc) {
            return vec![unknown];
        }
        let mut found = Vec::new();
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(mut frames) = context.find_frames(pc).skip_all_loads() {
            while let Ok(Some(frame)) = frames.next() {
                let place = frame.location.as_ref();
                found.push(PanicFrame {
                    pc,
                    function: frame.function.map(name_of),
                    file: place.and_then(|place| place.file).map(str::to_owned),
                    line: place.and_then(|place| place.line).filter(|line| *line > 0),
                    inlined: true,
                });
                if found.len() >= MAX_INLINED {
                    break;
                }
            }
        }
        if let Some(outermost) = found.last_mut() {
            outermost.inlined = false;
            if outermost.function.is_none() {
                outermost.function = self.symbol(pc);
            }
            return found;
        }
        vec![PanicFrame { function: self.symbol(pc), ..unknown }]
    }

    /// Follows the stack from registers and memory, for processors that leave that to the host.
    /// Returns the addresses of the calls, innermost first.
    #[must_use]
    pub fn unwind(&self, registers: &Registers, memory: &dyn Fn(u64) -> Option<u32>) -> Vec<u64> {
        super::unwind::unwind(&self.frames, registers, memory, &|pc| self.is_code(pc))
    }

    fn symbol(&self, pc: u64) -> Option<String> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= pc);
        let symbol = self.symbols.get(after.checked_sub(1)?)?;
        // Assembler functions state no size.
        let is_inside = symbol.size == 0 || pc < symbol.start + symbol.size;
        is_inside.then(|| symbol.name.clone())
    }
}

fn section(file: &object::File<'_>, id: SectionId, endian: RunTimeEndian) -> Reader {
    let data = file.section_by_name(id.name()).and_then(|section| section.data().ok());
    EndianReader::new(Arc::from(data.unwrap_or_default()), endian)
}

fn symbols(file: &object::File<'_>) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.address() > 0)
        .filter_map(|symbol| {
            let name = demangle(symbol.name().ok()?);
            Some(Symbol { start: symbol.address(), size: symbol.size(), name })
        })
        .collect();
    symbols.sort_by_key(|symbol| symbol.start);
    symbols
}

fn code(file: &object::File<'_>) -> Vec<std::ops::Range<u64>> {
    file.sections()
        .filter(|section| {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return false };
            let wanted = object::elf::SHF_EXECINSTR | object::elf::SHF_ALLOC;
            sh_flags.contains(wanted) && section.size() > 0
        })
        .map(|section| section.address()..section.address() + section.size())
        .collect()
}

fn name_of(name: FunctionName<Reader>) -> String {
    name.demangle().map_or_else(|_| "?".to_owned(), std::borrow::Cow::into_owned)
}

fn demangle(name: &str) -> String {
    addr2line::demangle_auto(name.into(), None).into_owned()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
