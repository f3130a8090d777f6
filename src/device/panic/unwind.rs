//! Follows a RISC-V stack with the program's call frame information.
//!
//! Owns the walk alone: registers and memory come from what the board printed.

use std::sync::Arc;

use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EndianReader, Register, RegisterRule, RunTimeEndian,
    UnwindContext, UnwindSection,
};

/// How debug information is read: shared, and counted, so that the program owns what it reads.
pub(super) type DwarfReader = EndianReader<RunTimeEndian, Arc<[u8]>>;

/// Frames that are followed.
const MAX_FRAMES: usize = 64;

/// `ra`
const RA: u16 = 1;
/// `sp`
const SP: u16 = 2;

/// The processor's registers by DWARF number, and where it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registers {
    /// The instruction that failed.
    pub pc: u64,
    /// `x0` to `x31`; `None` when not known.
    pub x: [Option<u64>; 32],
}

/// Names of `x0` to `x31` in a register dump.
const NAMES: [&str; 32] = [
    "ZERO", "RA", "SP", "GP", "TP", "T0", "T1", "T2", "S0/FP", "S1", "A0", "A1", "A2", "A3", "A4",
    "A5", "A6", "A7", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "T3", "T4",
    "T5", "T6",
];

impl Registers {
    /// From a register dump, read by name. `None` when it is not a RISC-V one.
    pub fn read(value: impl Fn(&str) -> Option<u64>) -> Option<Self> {
        let pc = value("MEPC")?;
        Some(Self { pc, x: NAMES.map(&value) })
    }

    fn get(&self, register: Register) -> Option<u64> {
        self.x.get(usize::from(register.0)).copied().flatten()
    }
}

/// Follows the stack; returns the addresses of the calls, innermost first.
pub(super) fn unwind(
    section: &DebugFrame<DwarfReader>,
    start: &Registers,
    memory: &dyn Fn(u64) -> Option<u32>,
    is_code: &dyn Fn(u64) -> bool,
) -> Vec<u64> {
    let mut pcs = vec![start.pc];
    let mut now = start.clone();
    // A call to nowhere: the caller knows where it wanted to return to.
    if !is_code(now.pc) {
        match now.x[usize::from(RA)].filter(|ra| is_code(*ra)) {
            Some(ra) => {
                now.pc = ra.saturating_sub(1);
                pcs.push(now.pc);
            }
            None => return pcs,
        }
    }
    let mut context = UnwindContext::new();
    while pcs.len() < MAX_FRAMES {
        let Some(next) = step(section, &mut context, &now, memory) else { break };
        let is_progress = next.x[usize::from(SP)] > now.x[usize::from(SP)];
        if !is_code(next.pc) || (!is_progress && pcs.len() > 1) {
            break;
        }
        // A return address belongs to the call before it.
        now = Registers { pc: next.pc.saturating_sub(1), ..next };
        pcs.push(now.pc);
    }
    pcs
}

/// The registers of the caller.
fn step(
    section: &DebugFrame<DwarfReader>,
    context: &mut UnwindContext<usize>,
    now: &Registers,
    memory: &dyn Fn(u64) -> Option<u32>,
) -> Option<Registers> {
    let bases = BaseAddresses::default();
    let row = section
        .unwind_info_for_address(&bases, context, now.pc, DebugFrame::cie_from_offset)
        .ok()?;
    let cfa = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            now.get(*register)?.checked_add_signed(*offset)?
        }
        CfaRule::Expression(_) => return None,
    };
    let mut caller = now.clone();
    for number in 1..32u16 {
        let saved = match row.register(Register(number)) {
            Some(RegisterRule::Offset(offset)) => {
                memory(cfa.checked_add_signed(offset)?).map(u64::from)
            }
            Some(RegisterRule::ValOffset(offset)) => cfa.checked_add_signed(offset),
            Some(RegisterRule::Register(other)) => now.get(other),
            Some(_) | None => continue,
        };
        if let Some(slot) = caller.x.get_mut(usize::from(number)) {
            *slot = saved;
        }
    }
    caller.x[usize::from(SP)] = Some(cfa);
    caller.pc = caller.x[usize::from(RA)]?;
    Some(caller)
}
