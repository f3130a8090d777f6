//! Panics in the words of an answer.

use serde_json::{Value, json};

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
            if let Some(core) = trace.core {
                reported["core"] = json!(core);
            }
            if trace.is_corrupted {
                reported["corrupted"] = json!(true);
            }
            reported
        })
        .collect();
    let mut reported = json!({ "kind": report.kind, "message": report.message });
    if let Some(task) = &report.task {
        reported["task"] = json!(task);
    }
    if let Some(core) = report.core {
        reported["core"] = json!(core);
    }
    if !report.details.is_empty() {
        reported["details"] = json!(report.details);
    }
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
    if !report.notes.is_empty() {
        reported["notes"] = json!(report.notes);
    }
    reported
}

fn frame(frame: &PanicFrame) -> Value {
    let mut reported = json!({ "pc": hex(frame.pc) });
    if let Some(function) = &frame.function {
        reported["function"] = json!(function);
    }
    if let Some(file) = &frame.file {
        reported["file"] = json!(file);
    }
    if let Some(line) = frame.line {
        reported["line"] = json!(line);
    }
    if frame.inlined {
        reported["inlined"] = json!(true);
    }
    reported
}

fn hex(value: u64) -> Value {
    json!(format!("0x{value:08x}"))
}
