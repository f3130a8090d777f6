//! What a run depends on, looked at: compiler and ESP-IDF, terminal, data folder.
//!
//! Owns the looking; changes nothing.

use std::path::Path;

use crate::model::{Health, HealthLine, SandboxLevel, UserError};
use crate::sandbox::Protection;
use crate::toolchain::build_sandbox::without_walls;
use crate::toolchain::{
    ArduinoToolchain, BuildSandbox, BuildWalls, IdfToolchain, PlatformioToolchain,
};
use crate::ui::Depth;

/// One line for each thing, without those of the models.
#[must_use]
pub fn look(data: &Path, env: impl Fn(&str) -> Option<String>) -> Vec<HealthLine> {
    let none = "the virtual board needs none";
    let own = "only its own projects need it";
    vec![
        toolchain(("ESP-IDF", "idf.py"), IdfToolchain::find(), none),
        toolchain(("Arduino", "arduino-cli"), ArduinoToolchain::find(), none),
        toolchain(("PlatformIO", "pio"), PlatformioToolchain::find(), own),
        compiler(&env),
        terminal(&env),
        folder(data),
    ]
}

/// What stands around programs that agents wrote.
#[must_use]
pub fn sandbox(protection: &Protection) -> HealthLine {
    let (health, words) = match protection.level {
        SandboxLevel::Namespaces if protection.missing.is_empty() => (Health::Good, ""),
        SandboxLevel::Namespaces | SandboxLevel::Landlock => (Health::Limited, ""),
        SandboxLevel::None => (Health::Broken, "; nothing that an agent wrote is run"),
    };
    let missing: Vec<&str> = protection.missing.iter().map(|one| one.what.as_str()).collect();
    let missing = match missing.is_empty() {
        true => String::new(),
        false => format!("; missing: {}", missing.join(", ")),
    };
    let fixes: Vec<&str> = protection.missing.iter().map(|one| one.fix.as_str()).collect();
    let words = format!("{}{words}{missing}", protection.walls());
    HealthLine::new("sandbox", "agents' programs", health, words).fix(fixes.join(" "))
}

/// What stands around builds that run what a project brings.
#[must_use]
pub fn builds(sandbox: &BuildSandbox) -> HealthLine {
    let Some(missing) = without_walls(sandbox) else {
        let words =
            "they write to the project's build folder and their caches, and see none of your keys";
        return HealthLine::new("sandbox", "builds", Health::Good, words);
    };
    let fix = match sandbox.walls {
        BuildWalls::On => {
            "Allow user namespaces on this machine; until then trust only projects that you know."
        }
        BuildWalls::Off => "Set `builds = \"on\"` below `[sandbox]` in your config.toml.",
    };
    let words = format!("they run with all your rights; missing: {missing}");
    HealthLine::new("sandbox", "builds", Health::Limited, words).fix(fix)
}

/// Runs the `export.sh` of an installed ESP-IDF and corrects the line about it when that fails; takes
/// seconds.
pub async fn check_export(found: &mut [HealthLine]) {
    let Some(line) = found.iter_mut().find(|line| line.subject == "ESP-IDF") else { return };
    if let Ok(idf) = IdfToolchain::find()
        && let Err(error) = idf.check().await
    {
        let words = format!("{}: {}", error.what, error.why);
        *line = HealthLine::new("toolchain", "ESP-IDF", Health::Broken, words).fix(error.fix);
    }
}

/// Whether a toolchain is there; `absent` says what goes on without it.
fn toolchain<T>(
    (name, program): (&'static str, &str),
    found: Result<T, UserError>,
    absent: &str,
) -> HealthLine {
    match found {
        Ok(_) => {
            HealthLine::new("toolchain", name, Health::Good, format!("{program} is installed"))
        }
        Err(error) => {
            let words = format!("{}; {absent}", error.why);
            HealthLine::new("toolchain", name, Health::Absent, words).fix(error.fix)
        }
    }
}

/// The virtual board compiles with the system's own compiler.
fn compiler(env: &impl Fn(&str) -> Option<String>) -> HealthLine {
    let path = env("PATH").unwrap_or_default();
    let found = ["cc", "gcc", "clang"].into_iter().find_map(|name| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    });
    match found {
        Some(file) => {
            let words = format!(
                "{} builds for the virtual board; its firmware runs in the sandbox on this computer",
                file.display()
            );
            HealthLine::new("toolchain", "compiler", Health::Good, words)
        }
        None => HealthLine::new(
            "toolchain",
            "compiler",
            Health::Broken,
            "no C compiler is found; the virtual board cannot build",
        )
        .fix("Install gcc or clang, e.g. the package build-essential."),
    }
}

fn terminal(env: &impl Fn(&str) -> Option<String>) -> HealthLine {
    let (health, words) = match Depth::detect(env) {
        Depth::True => (Health::Good, "all colours"),
        Depth::Indexed => (Health::Good, "256 colours"),
        Depth::Basic => (Health::Limited, "16 colours"),
        Depth::None => (Health::Limited, "no colours, because of NO_COLOR or TERM"),
    };
    let finding = HealthLine::new("terminal", "terminal", health, words);
    match health {
        Health::Good => finding,
        _ => finding.fix("If it can do more, set COLORTERM=truecolor."),
    }
}

fn folder(data: &Path) -> HealthLine {
    // The folder is made when it is first written to; until then the one around it tells.
    let there = data.ancestors().find(|folder| folder.exists()).unwrap_or(data);
    let is_writable =
        there.is_dir() && rustix::fs::access(there, rustix::fs::Access::WRITE_OK).is_ok();
    let shown = data.display();
    if is_writable {
        let words = format!("sessions are kept in {shown}");
        return HealthLine::new("data", "data", Health::Good, words);
    }
    HealthLine::new("data", "data", Health::Broken, format!("{shown} cannot be written"))
        .fix("Make it writable, or name another folder in FIRMHAND_DATA_DIR.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Missing;

    #[test]
    fn what_is_missing_is_told_with_its_fix() {
        let data = tempfile::tempdir().unwrap();
        let all =
            Protection { level: SandboxLevel::Namespaces, has_landlock: true, missing: Vec::new() };
        let mut findings = look(&data.path().join("not/there/yet"), |_| None);
        findings.push(sandbox(&all));
        assert_eq!(findings.len(), 7);
        for finding in &findings {
            assert_eq!(finding.health == Health::Good, finding.fix.is_empty(), "{finding:?}");
        }
        assert_eq!(findings[3].health, Health::Broken, "no PATH, no compiler");
        assert_eq!(findings[5].health, Health::Good);
        let file = data.path().join("file");
        std::fs::write(&file, "no folder").unwrap();
        let missing = vec![Missing { what: "Landlock".into(), fix: "Use a newer Linux.".into() }];
        let none = Protection { level: SandboxLevel::None, has_landlock: false, missing };
        let findings = look(&file.join("data"), |_| None);
        assert_eq!(findings[5].health, Health::Broken);
        let line = sandbox(&none);
        assert_eq!(line.health, Health::Broken);
        assert!(line.detail.contains("Landlock") && line.fix.contains("newer"));
    }
}
