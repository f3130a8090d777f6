//! Finds keys and passwords that stand in a text as literals.
//!
//! Owns how each kind of file holds them: sources with their constants, split texts and arrays,
//! configurations, and comments. Says where and of what kind, and never repeats a secret. Must not
//! judge: what a finding means is the caller's.

mod code;
mod plain;
mod secret;
mod values;

use std::collections::BTreeMap;
use std::ops::Range;

pub use secret::Secret;
use secret::known;
pub use values::{NameSays, is_sequence, is_stand_in, name_says};

use super::c_tokens::Style;

/// How a file holds literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LiteralForm {
    Code(Style),
    /// `NAME=value`, `name: value`.
    Settings,
    Kconfig,
    /// Words for people.
    Prose,
}

fn form_of(path: &str) -> LiteralForm {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.starts_with("Kconfig") {
        return LiteralForm::Kconfig;
    }
    let end = name.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    match end.as_str() {
        "c" | "h" | "cpp" | "hpp" | "cc" | "hh" | "cxx" | "hxx" | "ino" | "rs" | "js" | "ts"
        | "inc" | "tpp" | "ipp" => LiteralForm::Code(Style::C),
        "py" => LiteralForm::Code(Style::Python),
        "md" | "rst" | "html" | "htm" | "css" | "svg" => LiteralForm::Prose,
        _ => LiteralForm::Settings,
    }
}

/// All secrets in the text of a file, by their place.
#[must_use]
pub fn secrets(path: &str, text: &str) -> Vec<Secret> {
    let mut found = known(text);
    match form_of(path) {
        LiteralForm::Code(style) => {
            found.extend(code::find(text, style));
            found.extend(plain::comments(text, style));
        }
        LiteralForm::Settings => found.extend(plain::settings(text)),
        LiteralForm::Kconfig => found.extend(plain::kconfig(text)),
        LiteralForm::Prose => found.extend(plain::prose(text)),
    }
    let public = public_parts(text);
    found.retain(|secret| {
        secret.is_sure || !public.iter().any(|part| part.contains(&secret.range.start))
    });
    once_a_line(text, found)
}

/// Certificates and public keys in PEM, which look random and are for everybody.
fn public_parts(text: &str) -> Vec<Range<usize>> {
    const BEGIN: &str = "-----BEGIN ";
    let mut parts = Vec::new();
    for (start, _) in text.match_indices(BEGIN) {
        let rest = text.get(start + BEGIN.len()..).unwrap_or_default();
        let Some((label, _)) = rest.split_once("-----") else { continue };
        let is_public = label.ends_with("CERTIFICATE") || label.ends_with("PUBLIC KEY");
        let end = format!("-----END {label}");
        if let Some(length) =
            text.get(start..).and_then(|part| part.find(&end)).filter(|_| is_public)
        {
            parts.push(start..start + length);
        }
    }
    parts
}

/// The surest secret of each line, in the order of lines.
fn once_a_line(text: &str, found: Vec<Secret>) -> Vec<Secret> {
    if found.is_empty() {
        return found;
    }
    let mut starts = vec![0];
    starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
    let mut lines: BTreeMap<usize, Secret> = BTreeMap::new();
    for secret in found {
        let line = starts.partition_point(|start| *start <= secret.range.start);
        match lines.get(&line) {
            Some(known) if known.is_sure || !secret.is_sure => {}
            _ => {
                lines.insert(line, secret);
            }
        }
    }
    lines.into_values().collect()
}

#[cfg(test)]
mod tests;
