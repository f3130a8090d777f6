//! All settings in force: default < the person's file < the project's file < environment < flags.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::files;
use crate::model::{Budget, UserError};

use super::dirs::Dirs;
use super::layer::Layer;
use super::models::{Models, budget_words};
use super::notify::Notify;
use super::origin::{Origin, Sourced};
use super::policy::Policy;
use super::sandbox::SandboxUse;
use super::search::SearchUse;
use super::source::{ConfigSource, LayerKind};
use super::spanned::word;

/// Environment variable that names the theme.
pub const THEME_VAR: &str = "FIRMHAND_THEME";

/// Environment variable that names the keymap.
pub const KEYMAP_VAR: &str = "FIRMHAND_KEYMAP";

/// All settings in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Name of the theme, a file in `themes/`.
    pub theme: Sourced<String>,
    /// Name of the keymap, a file in `keymaps/`.
    pub keymap: Sourced<String>,
    /// What the terminal is asked for besides showing text.
    pub terminal: TerminalUse,
    /// Bounds on runs.
    pub limits: RunLimits,
    /// How much raw output is kept.
    pub logs: LogKeeping,
    /// The sandbox of builds.
    pub sandbox: SandboxUse,
    /// Models that take part in the search of documents.
    pub search: SearchUse,
    /// Models, and what may be spent on them.
    pub models: Models,
    /// Rules that decide for the person.
    pub policy: Policy,
}

/// What the terminal is asked for besides showing text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalUse {
    /// Whether the mouse belongs to the program.
    pub mouse: Sourced<bool>,
    /// Whether the terminal's title tells what waits.
    pub title: Sourced<bool>,
    /// How a person who looks elsewhere is called.
    pub notify: Sourced<Notify>,
}

/// Bounds on runs; `None` leaves it to the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLimits {
    /// A build is ended after this long.
    pub build_seconds: Sourced<u32>,
    /// Any other tool call is ended after this long, the person's thinking not counted.
    pub tool_seconds: Sourced<Option<u32>>,
    /// How long an agent listens to a serial port unless it says otherwise.
    pub monitor_seconds: Sourced<u32>,
    /// Attempts of a phase.
    pub max_attempts: Sourced<Option<u32>>,
    /// Turns of a session after which the person is asked.
    pub max_turns: Sourced<Option<u32>>,
}

/// How much of each raw log is kept: of every serial port and every build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogKeeping {
    /// MiB on disk; the oldest output beyond them is given up.
    pub keep_mib: Sourced<u32>,
    /// MiB of one of a log's files, and so of what is given up at once. At most half of what is
    /// kept counts.
    pub segment_mib: Sourced<u32>,
}

/// What the command line and the environment say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// `--theme`.
    pub theme: Option<String>,
    /// `--keymap`.
    pub keymap: Option<String>,
    /// `--policy`: a file with `[[policy]]` rules.
    pub policy_file: Option<PathBuf>,
    /// What the session may use, with the flag that says so.
    pub session_budget: Option<(&'static str, Budget)>,
    /// Limits of `--limit` that are not budgets.
    pub limits: LimitOverrides,
    /// `--temperature`.
    pub temperature: Option<f64>,
    /// [`THEME_VAR`] and [`KEYMAP_VAR`].
    pub env: EnvOverrides,
}

/// Limits that the command line sets; `None` leaves them as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitOverrides {
    pub max_attempts: Option<u32>,
    pub build_seconds: Option<u32>,
    pub tool_seconds: Option<u32>,
    pub monitor_seconds: Option<u32>,
}

/// What the environment says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnvOverrides {
    /// [`THEME_VAR`].
    pub theme: Option<String>,
    /// [`KEYMAP_VAR`].
    pub keymap: Option<String>,
}

impl EnvOverrides {
    /// Takes the variables from `env`; empty ones and those that are not UTF-8 do not count.
    pub fn read(env: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name: &str| {
            env(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty())
        };
        Self { theme: text(THEME_VAR), keymap: text(KEYMAP_VAR) }
    }
}

/// One line of `firmhand config`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingRow {
    /// Name as in the file, e.g. `limits.build_seconds`.
    pub key: String,
    /// Value in force.
    pub value: String,
    /// Where it came from.
    pub origin: Origin,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Sourced::default("dark".to_owned()),
            keymap: Sourced::default("default".to_owned()),
            terminal: TerminalUse {
                mouse: Sourced::default(true),
                title: Sourced::default(false),
                notify: Sourced::default(Notify::Auto),
            },
            limits: RunLimits {
                build_seconds: Sourced::default(1200),
                tool_seconds: Sourced::default(None),
                monitor_seconds: Sourced::default(10),
                max_attempts: Sourced::default(None),
                max_turns: Sourced::default(None),
            },
            logs: LogKeeping { keep_mib: Sourced::default(256), segment_mib: Sourced::default(16) },
            sandbox: SandboxUse::default(),
            search: SearchUse::default(),
            models: Models::default(),
            policy: Policy::default(),
        }
    }
}

impl Settings {
    /// Reads all layers. Configuration files that do not exist do not count; a policy file that a
    /// flag names must exist.
    ///
    /// # Errors
    /// When a file cannot be read or holds something unknown or senseless; names file and line.
    pub fn load(
        dirs: &Dirs,
        project: Option<&Path>,
        overrides: &Overrides,
    ) -> Result<Self, UserError> {
        let mut settings = Self::default();
        let mut rules = Vec::new();
        let user = dirs.config.join("config.toml");
        let own = project.map(|project| project.join(".firmhand").join("config.toml"));
        let files = [
            (LayerKind::PolicyFile, overrides.policy_file.as_deref()),
            (LayerKind::User, Some(user.as_path())),
            (LayerKind::Project, own.as_deref()),
        ];
        for (kind, file) in files {
            let Some(file) = file else { continue };
            let Some(text) = read(kind, file)? else { continue };
            let source = ConfigSource { kind, file, text: &text };
            let layer = Layer::parse(&source)?;
            rules.extend(layer.rules(&source)?);
            settings.take(&source, &layer)?;
        }
        settings.policy = Policy::new(rules);
        settings.take_overrides(overrides);
        Ok(settings)
    }

    /// Every setting with its origin, then every rule in order of precedence.
    #[must_use]
    pub fn rows(&self) -> Vec<SettingRow> {
        fn row<T>(key: &str, sourced: &Sourced<T>, value: String) -> SettingRow {
            SettingRow { key: key.to_owned(), value, origin: sourced.origin.clone() }
        }
        fn plain(key: &str, sourced: &Sourced<impl Display>) -> SettingRow {
            row(key, sourced, sourced.value.to_string())
        }
        fn named(key: &str, sourced: &Sourced<impl Serialize>) -> SettingRow {
            row(key, sourced, word(&sourced.value))
        }
        fn optional(key: &str, sourced: &Sourced<Option<u32>>) -> SettingRow {
            let value = sourced.value.map_or("set by the team".to_owned(), |n| n.to_string());
            row(key, sourced, value)
        }
        let limits = &self.limits;
        let mut rows = vec![
            plain("ui.theme", &self.theme),
            plain("ui.keymap", &self.keymap),
            plain("ui.mouse", &self.terminal.mouse),
            plain("ui.title", &self.terminal.title),
            named("ui.notify", &self.terminal.notify),
            plain("limits.build_seconds", &limits.build_seconds),
            optional("limits.tool_seconds", &limits.tool_seconds),
            plain("limits.monitor_seconds", &limits.monitor_seconds),
            optional("limits.max_attempts", &limits.max_attempts),
            optional("limits.max_turns", &limits.max_turns),
            plain("logs.keep_mib", &self.logs.keep_mib),
            plain("logs.segment_mib", &self.logs.segment_mib),
            named("sandbox.builds", &self.sandbox.builds),
            row("sandbox.writable", &self.sandbox.writable, paths(&self.sandbox.writable.value)),
        ];
        let of_search = self.search.rows().into_iter();
        rows.extend(of_search.map(|(key, value, origin)| SettingRow { key, value, origin }));
        let models = &self.models;
        let profile = models.profile.value.clone().unwrap_or_else(|| "as found".to_owned());
        rows.push(row("models.profile", &models.profile, profile));
        rows.extend(models.profiles.iter().map(|(name, entry)| {
            let model = entry.says.model.as_deref().unwrap_or("its default model");
            SettingRow {
                key: format!("profiles.{name}"),
                value: format!("{model} ({})", entry.says.provider),
                origin: entry.origin.clone(),
            }
        }));
        let budgets =
            [("session", &models.session), ("phase", &models.phase), ("turn", &models.turn)];
        rows.extend(budgets.map(|(name, budget)| {
            row(&format!("budget.{name}"), budget, budget_words(&budget.value))
        }));
        rows.extend(self.policy.rules().iter().enumerate().map(|(place, rule)| SettingRow {
            key: format!("policy.{}", place + 1),
            value: rule.words(),
            origin: rule.origin.clone(),
        }));
        rows
    }

    fn take(&mut self, source: &ConfigSource<'_>, layer: &Layer) -> Result<(), UserError> {
        source.set(&layer.ui.theme, &mut self.theme);
        source.set(&layer.ui.keymap, &mut self.keymap);
        source.set(&layer.ui.mouse, &mut self.terminal.mouse);
        source.set(&layer.ui.title, &mut self.terminal.title);
        source.set(&layer.ui.notify, &mut self.terminal.notify);
        self.sandbox.take(source, &layer.sandbox)?;
        self.search.take(source, &layer.search)?;
        self.models.take(source, &layer.models, &layer.profiles, &layer.budget)?;
        let (given, limits) = (&layer.limits, &mut self.limits);
        source.set_positive(&given.build_seconds, &mut limits.build_seconds)?;
        source.set_positive(&given.monitor_seconds, &mut limits.monitor_seconds)?;
        source.set_positive(&layer.logs.keep_mib, &mut self.logs.keep_mib)?;
        source.set_positive(&layer.logs.segment_mib, &mut self.logs.segment_mib)?;
        source.set_positive(&given.max_attempts, &mut limits.max_attempts)?;
        source.set_positive(&given.max_turns, &mut limits.max_turns)?;
        source.set_positive(&given.tool_seconds, &mut limits.tool_seconds)?;
        Ok(())
    }

    /// Takes limits that were set for one session.
    pub fn take_limits(&mut self, given: LimitOverrides) {
        let (limits, origin) = (&mut self.limits, Origin::Flag("--limit"));
        limits.max_attempts.set(given.max_attempts, &origin);
        limits.tool_seconds.set(given.tool_seconds, &origin);
        limits.build_seconds.set(given.build_seconds, &origin);
        limits.monitor_seconds.set(given.monitor_seconds, &origin);
    }

    fn take_overrides(&mut self, overrides: &Overrides) {
        self.take_limits(overrides.limits);
        self.models.temperature = overrides.temperature;
        self.theme.set(overrides.env.theme.clone(), &Origin::Env(THEME_VAR));
        self.keymap.set(overrides.env.keymap.clone(), &Origin::Env(KEYMAP_VAR));
        self.theme.set(overrides.theme.clone(), &Origin::Flag("--theme"));
        self.keymap.set(overrides.keymap.clone(), &Origin::Flag("--keymap"));
        if let Some((flag, budget)) = overrides.session_budget {
            let session = &mut self.models.session;
            session.origin = Origin::Flag(flag);
            session.value = budget.or(session.value);
        }
    }
}

/// Paths in one line.
fn paths(all: &[PathBuf]) -> String {
    let all: Vec<String> = all.iter().map(|path| path.display().to_string()).collect();
    if all.is_empty() { "nothing more".to_owned() } else { all.join(", ") }
}

fn read(kind: LayerKind, file: &Path) -> Result<Option<String>, UserError> {
    match files::read_text(file, files::SETTINGS) {
        Ok(text) => Ok(Some(text)),
        Err(error)
            if kind != LayerKind::PolicyFile
                && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => {
            let what = format!("Cannot read {}", file.display());
            Err(UserError::from_cause(what, &error).fix("Check that it is there and readable."))
        }
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
