//! Which module may name which.

use super::paths::Seen;
use super::{Rule, SourceFile, Violation};

/// Modules that may name a module of their own floor: (who, whom, why).
const SIDEWAYS: &[(&str, &str, &str)] = &[
    ("text", "model", "the algorithms speak of paths and offsets in the shared words"),
    ("toolchain", "device", "what was built reaches the board through the loader at its port"),
    ("toolchain", "sandbox", "firmware for this machine runs behind walls"),
    ("cli", "app", "the command line starts the mode that the arguments ask for"),
];

/// Parts of modules that everyone above F0 may name: (module, part, why).
const OPEN: &[(&str, &str, &str)] =
    &[("config", "assets", "reading the data files that ship inside the program")];

/// The only modules a module may name, where that is less than every lower floor.
const NARROWED: &[(&str, &[&str])] = &[("ui", &["model", "text", "view", "config"])];

/// The floor of every top module.
pub struct Floors(Vec<(String, usize)>);

impl Floors {
    /// Reads lines such as ``//! - F1 [`journal`], [`config`]: …`` and their continuations.
    pub fn from_docs(text: &str) -> Self {
        let mut floors = Vec::new();
        let mut floor = None;
        for line in text.lines().filter_map(|line| line.strip_prefix("//!")) {
            let line = line.trim();
            let names = if let Some(rest) = line.strip_prefix("- F") {
                let (digits, names) = rest.split_once(' ').unwrap_or((rest, ""));
                floor = digits.parse::<usize>().ok();
                names
            } else if line.is_empty() {
                floor = None;
                continue;
            } else {
                line
            };
            let Some(floor) = floor else { continue };
            let names = names.split(':').next().unwrap_or_default();
            floors.extend(
                names
                    .split("[`")
                    .skip(1)
                    .filter_map(|name| name.split_once("`]"))
                    .map(|(name, _)| (name.to_owned(), floor)),
            );
        }
        Self(floors)
    }

    /// The floor of a top module.
    pub fn of(&self, module: &str) -> Option<usize> {
        self.0.iter().find(|(name, _)| name == module).map(|(_, floor)| *floor)
    }
}

/// Finds names of modules that are not below the file's own.
pub fn check(file: &SourceFile, seen: &Seen, floors: &Floors) -> Vec<Violation> {
    let module = file.module();
    let own = match module.first() {
        Some(own) => own.as_str(),
        // The program's `main` stands where the command line does; `lib.rs` and `base.rs` only
        // declare.
        None if file.path == "main.rs" => "cli",
        None => return Vec::new(),
    };
    let Some(own_floor) = floors.of(own) else {
        return vec![file.broken(Rule::Floor, 1, format!("{own} has no floor in src/lib.rs"))];
    };
    let within_crate = seen.paths.iter().filter(|path| path.segments[0] == "crate");
    let named = within_crate.filter_map(|path| {
        let target = path.segments.get(1)?;
        let part = path.segments.get(2).map_or("", String::as_str);
        let why = refusal(own, own_floor, target, part, floors)?;
        let text = path.segments.join("::");
        Some(file.broken(Rule::Floor, path.line, format!("{own} names {text}: {why}")))
    });
    named.collect()
}

fn refusal(
    own: &str,
    own_floor: usize,
    target: &str,
    part: &str,
    floors: &Floors,
) -> Option<String> {
    if own == target || SIDEWAYS.iter().any(|(who, whom, _)| *who == own && *whom == target) {
        return None;
    }
    if own_floor > 0 && OPEN.iter().any(|(module, open, _)| *module == target && *open == part) {
        return None;
    }
    let Some(floor) = floors.of(target) else {
        return Some(format!("{target} has no floor"));
    };
    if floor >= own_floor {
        return Some(format!("F{floor} is not below F{own_floor}"));
    }
    let narrowed = NARROWED.iter().find(|(who, _)| *who == own)?.1;
    (!narrowed.contains(&target)).then(|| format!("{own} may name {} only", narrowed.join(", ")))
}
