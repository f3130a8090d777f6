//! Panics in the words of an answer.

use serde_json::{Value, json};

use super::answer;

use crate::model::{ElfMatch, PanicFrame, PanicReport};

/// Registers in one answer, at most: the ones that say most come first in every dump.
const MAX_REGISTERS: usize = 40;

/// Frames of one trace, at most.
const MAX_FRAMES: usize = 40;

/// What a model is told of a panic.
#[must_use]
pub(super) fn json_of(report: &PanicReport) -> Value {
    let traces: Vec<Value> = report
        .traces
        .iter()
        .map(|trace| {
            let frames: Vec<Value> = trace.frames.iter().take(MAX_FRAMES).map(frame).collect();
            let mut reported = json!({ "frames": frames });
            answer::set(&mut reported, "core", trace.core);
            answer::set(&mut reported, "corrupted", trace.is_corrupted.then_some(true));
            reported
        })
        .collect();
    let mut reported = json!({ "kind": report.kind, "message": report.message });
    answer::set(&mut reported, "task", report.task.as_ref());
    answer::set(&mut reported, "core", report.core);
    answer::set(&mut reported, "details", answer::filled(&report.details));
    reported["traces"] = json!(traces);
    let registers = report.registers.iter().take(MAX_REGISTERS);
    let registers: serde_json::Map<String, Value> =
        registers.map(|register| (register.name.clone(), hex(register.value))).collect();
    if !registers.is_empty() {
        reported["registers"] = Value::Object(registers);
    }
    if let Some(elf) = &report.elf {
        reported["program"] = json!(elf.file);
        reported["program_runs_on_board"] = match elf.matches {
            ElfMatch::Same => json!(true),
            ElfMatch::Different => json!(false),
            ElfMatch::Unknown => Value::Null,
        };
    }
    answer::set(&mut reported, "notes", answer::filled(&report.notes));
    reported
}

fn frame(frame: &PanicFrame) -> Value {
    let mut reported = json!({ "pc": hex(frame.pc) });
    answer::set(&mut reported, "function", frame.function.as_ref());
    answer::set(&mut reported, "file", frame.file.as_ref());
    answer::set(&mut reported, "line", frame.line);
    answer::set(&mut reported, "inlined", frame.inlined.then_some(true));
    reported
}

fn hex(value: u64) -> Value {
    json!(format!("0x{value:08x}"))
}
