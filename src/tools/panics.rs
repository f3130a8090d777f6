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
            let mut told = json!({ "frames": frames });
            if let Some(core) = trace.core {
                told["core"] = json!(core);
            }
            if trace.is_corrupted {
                told["corrupted"] = json!(true);
            }
            told
        })
        .collect();
    let mut told = json!({ "kind": report.kind, "message": report.message });
    if let Some(task) = &report.task {
        told["task"] = json!(task);
    }
    if let Some(core) = report.core {
        told["core"] = json!(core);
    }
    if !report.details.is_empty() {
        told["details"] = json!(report.details);
    }
    told["traces"] = json!(traces);
    let registers = report.registers.iter().take(MAX_REGISTERS);
    let registers: serde_json::Map<String, Value> =
        registers.map(|register| (register.name.clone(), hex(register.value))).collect();
    if !registers.is_empty() {
        told["registers"] = Value::Object(registers);
    }
    if let Some(elf) = &report.elf {
        told["program"] = json!(elf.file);
        told["program_runs_on_board"] = match elf.matches {
            ElfMatch::Same => json!(true),
            ElfMatch::Different => json!(false),
            ElfMatch::Unknown => Value::Null,
        };
    }
    if !report.notes.is_empty() {
        told["notes"] = json!(report.notes);
    }
    told
}

fn frame(frame: &PanicFrame) -> Value {
    let mut told = json!({ "pc": hex(frame.pc) });
    if let Some(function) = &frame.function {
        told["function"] = json!(function);
    }
    if let Some(file) = &frame.file {
        told["file"] = json!(file);
    }
    if let Some(line) = frame.line {
        told["line"] = json!(line);
    }
    if frame.inlined {
        told["inlined"] = json!(true);
    }
    told
}

fn hex(value: u64) -> Value {
    json!(format!("0x{value:08x}"))
}
