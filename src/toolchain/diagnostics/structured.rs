//! Findings that compilers print as JSON: GCC's own form, SARIF, and the answer of `arduino-cli`.

use serde_json::{Deserializer, Value};

use super::finding::{ToolPlace, diagnostic};
use super::paths::Paths;
use crate::model::{Diagnostic, Severity};

/// What was found in a value.
pub(super) struct Structured {
    pub(super) found: Vec<Diagnostic>,
    /// Text in it that is to be searched.
    pub(super) text: Option<String>,
    /// Bytes of it.
    pub(super) bytes: usize,
}

/// The value that `text` begins with, when it is one of findings.
pub(super) fn value(text: &str, paths: &Paths) -> Option<Structured> {
    let head: String = text.chars().take(400).filter(|c| !c.is_whitespace()).collect();
    let is_gcc = head.starts_with("[{\"") && head.contains("\":");
    let is_sarif =
        head.starts_with("{\"") && (head.contains("sarif") || head.contains("\"runs\":"));
    let is_arduino = head.starts_with("{\"") && head.contains("\"compiler_");
    if !(is_gcc || is_sarif || is_arduino) {
        return None;
    }
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let bytes = values.byte_offset();
    let mut answer = Structured { found: Vec::new(), text: None, bytes };
    if let Some(all) = value.as_array() {
        if !all.iter().all(|one| one.get("kind").is_some() && one.get("message").is_some()) {
            return None;
        }
        answer.found = all.iter().flat_map(|one| gcc(one, paths)).collect();
    } else if let Some(runs) = value.get("runs").and_then(Value::as_array) {
        let results = runs.iter().filter_map(|run| Some((run, run.get("results")?.as_array()?)));
        answer.found = results
            .flat_map(|(run, results)| results.iter().filter_map(|one| sarif(one, run, paths)))
            .collect();
    } else {
        let part = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let error = part("error");
        let error = if error.contains("exit status ") { "" } else { error };
        let mark = if error.is_empty() { "" } else { "Error: " };
        let text = [part("compiler_out"), part("compiler_err")].join("\n");
        answer.text = Some(format!("{text}\n{mark}{error}\n"));
    }
    Some(answer)
}

fn severity(name: &str) -> Severity {
    match name {
        "warning" => Severity::Warning,
        "note" | "none" => Severity::Note,
        _ => Severity::Error,
    }
}

/// The message as the compiler writes it in text.
fn with_option(message: &str, option: Option<&str>) -> String {
    match option.filter(|option| option.starts_with('-') && !message.ends_with(']')) {
        Some(option) => format!("{message} [{option}]"),
        None => message.to_owned(),
    }
}

/// A finding of GCC, with its notes.
fn gcc(one: &Value, paths: &Paths) -> Vec<Diagnostic> {
    let children = one.get("children").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let stated = one.get("message").and_then(Value::as_str).unwrap_or_default();
    let message = with_option(stated, one.get("option").and_then(Value::as_str));
    let severity = severity(one.get("kind").and_then(Value::as_str).unwrap_or_default());
    let own = |place: &ToolPlace| paths.is_own(&place.file);
    let here = gcc_place(one);
    let place = here.clone().filter(own);
    let place = place.or_else(|| children.iter().filter_map(gcc_place).find(own)).or(here);
    let mut all = vec![at(severity, &message, place, paths)];
    let notes = children.iter().filter(|note| gcc_place(note).as_ref().is_some_and(own));
    all.extend(notes.flat_map(|note| gcc(note, paths)));
    all
}

fn gcc_place(one: &Value) -> Option<ToolPlace> {
    let caret = one.get("locations")?.get(0)?.get("caret")?;
    let column = caret.get("byte-column").or_else(|| caret.get("column"));
    Some(ToolPlace {
        file: caret.get("file")?.as_str()?.to_owned(),
        line: small(caret.get("line")),
        column: small(column),
    })
}

fn small(value: Option<&Value>) -> Option<u32> {
    u32::try_from(value?.as_u64()?).ok()
}

/// A result of SARIF.
fn sarif(one: &Value, run: &Value, paths: &Paths) -> Option<Diagnostic> {
    let stated = one.get("message")?.get("text")?.as_str()?;
    let message = with_option(stated, one.get("ruleId").and_then(Value::as_str));
    let severity = severity(one.get("level").and_then(Value::as_str).unwrap_or("warning"));
    let places = |name: &str| -> Vec<ToolPlace> {
        let all = one.get(name).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(|place| sarif_place(place, run)).collect()
    };
    let (here, related) = (places("locations"), places("relatedLocations"));
    let own = |place: &&ToolPlace| paths.is_own(&place.file);
    let place = here.iter().chain(&related).find(own).or(here.first());
    Some(at(severity, &message, place.cloned(), paths))
}

fn sarif_place(place: &Value, run: &Value) -> Option<ToolPlace> {
    let physical = place.get("physicalLocation")?;
    let artifact = physical.get("artifactLocation")?;
    let uri = plain(artifact.get("uri")?.as_str()?);
    let base = artifact
        .get("uriBaseId")
        .and_then(Value::as_str)
        .and_then(|id| Some(plain(run.get("originalUriBaseIds")?.get(id)?.get("uri")?.as_str()?)));
    // Paths below the folder that the compiler runs in are relative to it.
    let file = match base {
        Some(base) if !uri.starts_with('/') => {
            std::path::Path::new(&base).join(uri).to_string_lossy().into_owned()
        }
        Some(_) | None => uri,
    };
    let region = physical.get("region");
    let part = |name: &str| small(region.and_then(|region| region.get(name)));
    Some(ToolPlace { file, line: part("startLine"), column: part("startColumn") })
}

/// The path of an address of a file.
fn plain(uri: &str) -> String {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned()
}

fn at(severity: Severity, message: &str, place: Option<ToolPlace>, paths: &Paths) -> Diagnostic {
    let place = place.map(|place| ToolPlace { file: paths.relative(&place.file), ..place });
    diagnostic(severity, message, place)
}
