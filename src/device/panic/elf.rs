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

use super::unwind::{DwarfReader, Registers};
use crate::files;
use crate::model::{PanicFrame, UserError};

/// Functions inlined into one another that are told.
const MAX_INLINED: usize = 16;

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
    context: Mutex<Context<DwarfReader>>,
    frames: DebugFrame<DwarfReader>,
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
        let content = files::read(path, files::PROGRAM);
        Self::parse(path, content.map_err(|error| failed(path, error.to_string()))?)
    }

    /// Takes the content of an ELF file that lies at `path`.
    ///
    /// # Errors
    /// When it is no program with code in it.
    pub fn parse(path: &Path, content: Vec<u8>) -> Result<Self, UserError> {
        let failed = |why: String| failed(path, why);
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
        let is_inside = symbol.size == 0 || pc - symbol.start < symbol.size;
        is_inside.then(|| symbol.name.clone())
    }
}

fn failed(path: &Path, why: String) -> UserError {
    let what = format!("Cannot look up addresses in {}", path.display());
    UserError::new(what, why, "Build the project again.")
}

fn section(file: &object::File<'_>, id: SectionId, endian: RunTimeEndian) -> DwarfReader {
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
        .map(|section| section.address()..section.address().saturating_add(section.size()))
        .collect()
}

fn name_of(name: FunctionName<DwarfReader>) -> String {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REAL: [&[u8]; 2] = [
        include_bytes!("../../../tests/panic/crash-rv32.elf"),
        include_bytes!("../../../tests/panic/crash-xtensa.elf"),
    ];

    /// Asks for everything that a program can tell.
    fn look_up(content: Vec<u8>, pcs: &[u64]) -> bool {
        let Ok(program) = Program::parse(Path::new("a.elf"), content) else { return false };
        for pc in pcs {
            let _ = (program.frames(*pc), program.is_code(*pc), program.has_hash("00"));
            let registers = Registers { pc: *pc, x: [Some(*pc); 32] };
            let _ = program.unwind(&registers, &|address| Some(address as u32));
        }
        true
    }

    /// A program of 64 bits: its code at `start`, and one function of `size` bytes in it.
    fn program(start: u64, code: u64, size: u64) -> Vec<u8> {
        let mut out = b"\x7fELF\x02\x01\x01".to_vec();
        out.resize(16, 0);
        let words = |out: &mut Vec<u8>, words: &[(u64, usize)]| {
            words.iter().for_each(|(word, bytes)| out.extend(&word.to_le_bytes()[..*bytes]));
        };
        // Type, machine, version, entry, segments, sections at 64; sizes and counts.
        words(&mut out, &[(2, 2), (62, 2), (1, 4), (start, 8), (0, 8), (64, 8), (0, 4), (64, 2)]);
        words(&mut out, &[(0, 2), (0, 2), (64, 2), (4, 2), (3, 2)]);
        let names = 64 + 4 * 64;
        let symbols = names + 8;
        let section = |out: &mut Vec<u8>, name, kind, flags, addr, at, bytes, link, each| {
            words(out, &[(name, 4), (kind, 4), (flags, 8), (addr, 8), (at, 8), (bytes, 8)]);
            words(out, &[(link, 4), (1, 4), (1, 8), (each, 8)]);
        };
        section(&mut out, 0, 0, 0, 0, 0, 0, 0, 0);
        section(&mut out, 1, 8, 6, start, 0, code, 0, 0);
        section(&mut out, 1, 2, 0, 0, symbols, 48, 3, 24);
        section(&mut out, 1, 3, 0, 0, names, 8, 0, 0);
        out.extend(b"\0name\0\0\0");
        words(&mut out, &[(0, 8), (0, 8), (0, 8)]);
        // A global function in section 1.
        words(&mut out, &[(1, 4), (0x12, 1), (0, 1), (1, 2), (start, 8), (size, 8)]);
        out
    }

    #[test]
    fn sizes_beyond_the_end_of_all_addresses_do_not_overflow() {
        let name = |start, code, size, pc| {
            let program = Program::parse(Path::new("a"), program(start, code, size)).unwrap();
            program.frames(pc)[0].function.clone()
        };
        assert_eq!(name(0x1000, 0x100, 0x10, 0x100f).as_deref(), Some("name"));
        assert_eq!(name(0x1000, 0x100, 0x10, 0x1010), None);
        let high = u64::MAX - 0x100;
        assert_eq!(name(high, u64::MAX, u64::MAX, high + 1).as_deref(), Some("name"));
        assert!(look_up(program(high, u64::MAX, u64::MAX), &[0, 1, high, u64::MAX - 1, u64::MAX]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn no_damaged_program_is_the_end(
            which in 0..2usize,
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..9u8), 0..12),
            head in proptest::collection::vec((0..64usize, any::<u8>()), 0..3),
            cut in proptest::option::weighted(0.2, any::<prop::sample::Index>()),
            pcs in proptest::collection::vec(any::<u64>(), 0..4),
        ) {
            let mut content = REAL[which].to_vec();
            if let Some(cut) = cut {
                content.truncate(cut.index(content.len()));
            }
            for (place, byte, bytes) in damage {
                if !content.is_empty() {
                    let at = place.index(content.len());
                    let end = content.len().min(at + usize::from(bytes));
                    content[at..end].fill(byte);
                }
            }
            for (at, byte) in head {
                content.get_mut(at).into_iter().for_each(|slot| *slot = byte);
            }
            let mut pcs = pcs;
            pcs.extend([0, 1, 0x4200_0000, 0x4200_0010, 0x400d_0000, u64::from(u32::MAX), u64::MAX]);
            look_up(content, &pcs);
        }
    }
}
